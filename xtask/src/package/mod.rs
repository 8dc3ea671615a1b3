//! `package`: what users get. A wheel for Python, a package for Debian, a tarball; beside them their checksums, and what the
//! compiler can be linked anew of, as the licence of the C library inside asks for.
//!
//! Packages of a commit have the same bytes wherever they are made with the same tools and libraries.

mod deb;
#[cfg(test)]
mod install_script;
pub mod licences;
mod products;
mod tarball;
mod tools;
mod tree;
pub mod trial;
mod wheel;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};

use crate::progress::step;
use crate::{process, workspace};
use tools::PythonTools;

pub use products::Products;
pub use tarball::prepare_tar;
pub use tree::assemble_tree;

/// What to make.
#[derive(clap::Args)]
pub struct Options {
    /// Which packages
    #[arg(value_enum, default_value = "all")]
    kind: Kind,
    /// The folder to put them into
    #[arg(long, value_name = "DIR", default_value = "target/packages")]
    to: PathBuf,
    /// Leave out what the compiler can be linked anew of, which is large and takes a minute
    #[arg(long)]
    without_relinkable: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Kind {
    /// For pip: registers itself for pyopencl
    Wheel,
    /// For Debian 11 and later, and systems that are made of it
    Deb,
    /// For other systems, and without root
    Tarball,
    All,
}

/// Runs the command.
pub fn make_packages(options: &Options) -> Result<()> {
    let results = workspace::root().join(&options.to);
    fs::create_dir_all(&results).with_context(|| format!("cannot make {}", results.display()))?;
    let tools = PythonTools::find_or_install()?;
    let archive = (!options.without_relinkable).then(|| relinkable_archive(&results));
    let products = products::build_products(&tools, archive.as_deref())?;
    let tree = workspace::root().join(tree::FOLDER);
    assemble_tree(&tree, &products)?;
    let collecting = step("collect the licences of what is inside");
    licences::write_licences(&tree::documents_folder(&tree))?;
    tree::set_modes(&tree)?;
    collecting.done();
    let mut made = Vec::new();
    for kind in [Kind::Wheel, Kind::Deb, Kind::Tarball] {
        if options.kind == kind || options.kind == Kind::All {
            remove_packages(&results, kind)?;
            made.push(make_package(kind, &tree, &results, &tools)?);
        }
    }
    if let Some(archive) = archive {
        made.push(compress_archive(&archive)?);
    }
    write_checksums(&results, &made)
}

/// Removes packages of a kind that were made before, perhaps of another version.
fn remove_packages(results: &Path, kind: Kind) -> Result<()> {
    let end = match kind {
        Kind::Wheel => ".whl",
        Kind::Deb => ".deb",
        Kind::Tarball | Kind::All => "-linux-x86_64.tar.gz",
    };
    for entry in fs::read_dir(results).with_context(|| format!("cannot read {}", results.display()))? {
        let path = entry?.path();
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        if name.starts_with("lockstep") && name.ends_with(end) {
            fs::remove_file(&path).with_context(|| format!("cannot remove {}", path.display()))?;
        }
    }
    Ok(())
}

fn make_package(kind: Kind, tree: &Path, results: &Path, tools: &PythonTools) -> Result<PathBuf> {
    let (name, make): (_, &dyn Fn() -> Result<PathBuf>) = match kind {
        Kind::Wheel => ("wheel", &|| wheel::pack_wheel(tree, results, tools)),
        Kind::Deb => ("deb", &|| deb::pack_deb(results)),
        Kind::Tarball | Kind::All => ("tarball", &|| tarball::pack_tarball(tree, results)),
    };
    let making = step(format!("make the {name}"));
    let package = make()?;
    making.done();
    Ok(package)
}

fn relinkable_archive(results: &Path) -> PathBuf {
    results.join(format!("lockstep-compiler-{}-relinkable.tar", products::package_version()))
}

fn compress_archive(archive: &Path) -> Result<PathBuf> {
    let compressing = step(format!("compress {}", archive.display()));
    process::run(Command::new("xz").args(["--force", "--threads=2", "-1"]).arg(archive))?;
    compressing.done();
    Ok(archive.with_extension("tar.xz"))
}

/// Writes `SHA256SUMS`, as `sha256sum --check` reads it, and shows it with the sizes.
fn write_checksums(results: &Path, packages: &[PathBuf]) -> Result<()> {
    let names: Vec<_> = packages.iter().filter_map(|package| package.file_name()).collect();
    let sums = process::output_of(Command::new("sha256sum").args(&names).current_dir(results));
    let sums = sums.context("there is no sha256sum")?;
    let path = results.join("SHA256SUMS");
    fs::write(&path, &sums).with_context(|| format!("cannot write {}", path.display()))?;
    for (package, sum) in packages.iter().zip(sums.lines()) {
        println!("{:>6.1} MB  {sum}", fs::metadata(package)?.len() as f64 / 1e6);
    }
    println!("in {}", results.display());
    Ok(())
}
