//! The drivers that ours is compared with: found on the machine, or brought into `target/peers` and nowhere else.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};

use crate::progress::step;
use crate::{driver, process, workspace};

/// A driver, by what a benchmark has to be told about it.
#[derive(Debug, PartialEq, Eq)]
pub struct Peer {
    /// Its column's name.
    pub name: String,
    /// What `OCL_ICD_VENDORS` has to be.
    pub vendors: String,
    /// Where its libraries find others.
    pub libraries: Vec<PathBuf>,
}

/// Intel's runtime for CPUs: PyPI's packages.
const INTEL: [&str; 3] = ["intel-opencl-rt", "intel-cmplr-lib-rt", "intel-cmplr-lib-ur"];
/// PoCL and what it needs that a machine may not have: Debian's packages.
const POCL: [&str; 8] = [
    "libpocl2",
    "libpocl2-common",
    "libhwloc15",
    "libclang-cpp15",
    "libllvm15",
    "clang-15",
    "libclang-common-15-dev",
    "llvm-15-linker-tools",
];

/// All that can be had. What cannot is said, and is no error.
pub fn all() -> Vec<Peer> {
    [("intel", intel as fn() -> Result<Peer>), ("pocl", pocl)]
        .into_iter()
        .filter_map(|(name, find)| find().map_err(|error| println!("    {name} is left out: {error:#}")).ok())
        .collect()
}

/// A driver that somebody names: `NAME=PATH` or a path, of a library or of what the ICD loader takes.
pub fn named(text: &str) -> Result<Peer> {
    let (name, path) = text.split_once('=').unwrap_or((text, text));
    let name = Path::new(name).file_stem().map_or(name.into(), |stem| stem.to_string_lossy());
    Ok(Peer { name: name.into_owned(), vendors: driver::vendors_for(path)?, libraries: Vec::new() })
}

fn intel() -> Result<Peer> {
    let folder = folder("intel")?;
    let library = "libintelocl.so";
    if found(&folder, library).is_none() {
        let installing = step(format!("pip install {} (into {})", INTEL.join(" "), folder.display()));
        // With a prefix and not `--target`, which leaves out what packages put into a folder `lib`.
        let mut pip = Command::new("python3");
        pip.args(["-m", "pip", "install", "--quiet", "--ignore-installed", "--no-warn-script-location", "--prefix"]);
        process::run(pip.arg(&folder).args(INTEL).stderr(Stdio::null()))?;
        installing.done();
    }
    let library = found(&folder, library).with_context(|| format!("pip left no {library}"))?;
    // The library names its own folder as the place of the others. That folder has an ICD loader as well, which must not
    // come before the machine's.
    peer("intel", &library, Vec::new())
}

fn pocl() -> Result<Peer> {
    let library = "libpocl.so.2";
    if let Some(installed) = found(Path::new("/usr/lib/x86_64-linux-gnu"), library) {
        return peer("pocl", &installed, Vec::new());
    }
    let folder = folder("pocl")?;
    if found(&folder, library).is_none() {
        let bringing = step(format!("apt-get download {} (into {})", POCL.join(" "), folder.display()));
        let mut apt = Command::new("apt-get");
        process::run(apt.args(["-qq", "download"]).args(POCL).current_dir(&folder).stderr(Stdio::null()))?;
        let packages = std::fs::read_dir(&folder)?.filter_map(|entry| Some(entry.ok()?.path()));
        for package in packages.filter(|path| path.extension().is_some_and(|end| end == "deb")) {
            process::run(Command::new("dpkg").arg("-x").arg(&package).arg(&folder))?;
            std::fs::remove_file(&package)?;
        }
        bringing.done();
    }
    let library = found(&folder, library).with_context(|| format!("the packages have no {library}"))?;
    let libraries = ["usr/lib/x86_64-linux-gnu", "usr/lib/llvm-15/lib"].map(|path| folder.join(path));
    peer("pocl", &library, libraries.to_vec())
}

/// Writes the `.icd` file that names the library, in a folder of its own.
fn peer(name: &str, library: &Path, libraries: Vec<PathBuf>) -> Result<Peer> {
    let vendors = folder("vendors")?.join(name);
    std::fs::create_dir_all(&vendors).with_context(|| format!("cannot make {}", vendors.display()))?;
    driver::write_icd(&vendors.join(format!("{name}.icd")), library)?;
    Ok(Peer { name: name.to_owned(), vendors: format!("{}/", vendors.display()), libraries })
}

fn folder(name: &str) -> Result<PathBuf> {
    let folder = workspace::target().join("peers").join(name);
    std::fs::create_dir_all(&folder).with_context(|| format!("cannot make {}", folder.display()))?;
    Ok(folder)
}

/// A file of this name, anywhere under the folder.
fn found(folder: &Path, name: &str) -> Option<PathBuf> {
    let entries: Vec<PathBuf> = std::fs::read_dir(folder).ok()?.filter_map(|entry| Some(entry.ok()?.path())).collect();
    let here = entries.iter().find(|path| path.file_name().is_some_and(|file| file == name));
    // Links to folders may lead back.
    let folders = || entries.iter().filter(|path| path.is_dir() && !path.is_symlink());
    here.cloned().or_else(|| folders().find_map(|folder| found(folder, name)))
}

impl Peer {
    /// As `bench-groups --driver` takes it: the loader's folder, and more of the environment behind `+`.
    pub fn word(&self) -> Result<String> {
        let mut word = format!("{}={}", self.name, self.vendors);
        if !self.libraries.is_empty() {
            let paths: Option<Vec<&str>> = self.libraries.iter().map(|path| path.to_str()).collect();
            word += &format!("+LD_LIBRARY_PATH={}", paths.context("a path is not valid text")?.join(":"));
        }
        if word.matches('+').count() > usize::from(!self.libraries.is_empty()) {
            bail!("a + in {word} would be taken for the beginning of a variable");
        }
        Ok(word)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_driver_is_named_by_its_file_or_by_a_name() {
        let manifest = concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml");
        assert_eq!(named(manifest).expect("exists").name, "Cargo");
        let peer = named(&format!("other={manifest}")).expect("exists");
        assert_eq!(peer.word().expect("valid"), format!("other={}", peer.vendors));
        assert!(named("other=/no/such.so").is_err());
    }

    #[test]
    fn libraries_become_a_variable() {
        let libraries = ["/a", "/b/c"].map(PathBuf::from).to_vec();
        let peer = Peer { name: "other".into(), vendors: "/v/".into(), libraries };
        assert_eq!(peer.word().expect("valid"), "other=/v/+LD_LIBRARY_PATH=/a:/b/c");
        assert!(Peer { vendors: "/v+w/".into(), ..peer }.word().is_err());
    }

    #[test]
    fn files_are_found_in_folders_below() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR"));
        assert_eq!(found(root, "peers.rs"), Some(root.join("src/peers.rs")));
        assert_eq!(found(root, "no such file"), None);
    }
}
