//! `build --relinkable FILE`: all that the compiler's executable is linked of, so that whoever has it can link it anew with another
//! C library, as the licence of the one inside asks for ([docs/licences.md](../../docs/licences.md)).
//!
//! The linker writes the archive itself (`--reproduce`): its inputs, and the command that makes the executable of them. Whether they do
//! is tried in an empty folder. There are the folders of the machine that builds in it, under names that are the same on all machines.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};

use crate::package::prepare_tar;
use crate::progress::step;
use crate::{process, workspace};

/// Where the archive has the linker's command.
const RESPONSE_FILE: &str = "response.txt";

/// What rustc is told so that the linker writes the archive.
pub fn linker_flags(archive: &Path) -> [String; 2] {
    // Cargo names what it builds by its flags, which are to be the same wherever the workspace lies; rustc runs in the workspace.
    let archive = archive.strip_prefix(workspace::root()).unwrap_or(archive);
    ["-C".to_owned(), format!("link-arg=-Wl,--reproduce={}", archive.display())]
}

/// A folder of the machine that builds, and what it is called in the archive.
pub struct RenamedFolder {
    pub path: PathBuf,
    pub name: &'static str,
}

/// Links what is in the archive, compares the result with the executable, and packs the archive again: with the same bytes wherever the
/// executable was built, if the folders that differ are among those to be renamed. One that lies in another comes after it.
pub fn finish_archive(archive: &Path, executable: &Path, folders: &[RenamedFolder]) -> Result<()> {
    let linking = step(format!("link {} anew", archive.display()));
    let folder = tempfile::tempdir().context("cannot make a temporary folder")?;
    process::run(Command::new("tar").arg("-xf").arg(archive).arg("-C").arg(folder.path()))?;
    let inputs = only_entry(folder.path())?;
    rename_folders(&inputs, folders)?;
    process::run(Command::new(linker()?).arg(format!("@{RESPONSE_FILE}")).current_dir(&inputs))?;
    let result = output_file(&inputs)?;
    let read = |path: &Path| std::fs::read(path).with_context(|| format!("cannot read {}", path.display()));
    if read(&result)? != read(executable)? {
        bail!("{} links to another executable", archive.display());
    }
    std::fs::remove_file(&result).with_context(|| format!("cannot remove {}", result.display()))?;
    let name = archive.file_stem().and_then(|name| name.to_str()).context("the archive's name is not valid text")?;
    process::run(&mut prepare_tar(&inputs, name, archive)?)?;
    linking.done();
    Ok(())
}

/// Gives the folders of an unpacked archive their other names, in the linker's command as well.
fn rename_folders(inputs: &Path, folders: &[RenamedFolder]) -> Result<()> {
    let response_file = inputs.join(RESPONSE_FILE);
    let mut command = std::fs::read_to_string(&response_file).context("the archive has no command")?;
    let temporary = temporary_folder(&command)?.map(|path| RenamedFolder { path, name: "rustc" });
    for folder in folders.iter().chain(&temporary).rev() {
        // The archive has what lies at `/a/b` at `a/b`.
        let path = folder.path.strip_prefix("/").context("a folder without its whole path")?;
        let renamed = inputs.join(folder.name);
        if inputs.join(path).exists() {
            std::fs::rename(inputs.join(path), &renamed)
                .with_context(|| format!("the archive has two folders {}", renamed.display()))?;
            remove_empty_parents(inputs, path);
        }
        let path = path.to_str().context("a folder's name is not valid text")?;
        command = command.replace(&format!("{path}/"), &format!("{}/", folder.name));
    }
    // GCC names its own plugin for optimization at link time, with a temporary file, to any linker; lld does not use it.
    let command: String = command.split_inclusive('\n').filter(|line| !line.starts_with("-plugin")).collect();
    std::fs::write(&response_file, command).with_context(|| format!("cannot write {}", response_file.display()))
}

/// The folder that rustc makes for one call of the linker, under another name each time: that of the list of symbols.
fn temporary_folder(command: &str) -> Result<Option<PathBuf>> {
    let symbols =
        command.split_ascii_whitespace().map(|word| word.trim_matches('"')).find(|word| word.ends_with("/symbols.o"));
    Ok(symbols.and_then(|path| Path::new("/").join(path).parent().map(Path::to_owned)))
}

/// Removes the folders around one that was renamed, as far as nothing else is in them.
fn remove_empty_parents(inputs: &Path, path: &Path) {
    for parent in path.ancestors().skip(1).take_while(|parent| !parent.as_os_str().is_empty()) {
        if std::fs::remove_dir(inputs.join(parent)).is_err() {
            return;
        }
    }
}

/// The linker that rustc brings along.
fn linker() -> Result<PathBuf> {
    Ok(rust_folder()?.join("lib/rustlib/x86_64-unknown-linux-gnu/bin/gcc-ld/ld.lld"))
}

/// Where rustc has its libraries and tools.
pub fn rust_folder() -> Result<PathBuf> {
    let answer = process::output_of(Command::new("rustc").args(["--print", "sysroot"])).context("there is no rustc")?;
    Ok(PathBuf::from(answer.trim()))
}

fn only_entry(folder: &Path) -> Result<PathBuf> {
    let entry = std::fs::read_dir(folder)?.next().context("the archive is empty")??;
    Ok(entry.path())
}

/// What the command in the archive writes to.
fn output_file(inputs: &Path) -> Result<PathBuf> {
    let command = std::fs::read_to_string(inputs.join(RESPONSE_FILE)).context("the archive has no command")?;
    let name = command.lines().find_map(|line| line.strip_prefix("-o ")).context("the command names no result")?;
    Ok(inputs.join(name.trim_matches('"')))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_have_the_same_names_wherever_they_were() {
        let unpacked = |root: &str, temporary: &str| {
            let folder = tempfile::tempdir().expect("a folder");
            let objects = [format!("{root}/target/a.o"), format!("{root}/kernels/b.o"), "usr/lib/c.a".to_owned()];
            let objects = objects.into_iter().chain([format!("tmp/{temporary}/symbols.o")]);
            let mut command = format!("-plugin-opt=-fresolution=/tmp/{temporary}.res\n-o lockstep-compiler\n");
            for object in objects {
                let path = folder.path().join(&object);
                std::fs::create_dir_all(path.parent().expect("a folder")).expect("it can be made");
                std::fs::write(path, "").expect("it can be written");
                command.push_str(&format!("{object}\n"));
            }
            std::fs::write(folder.path().join(RESPONSE_FILE), command).expect("it can be written");
            let renamed = |path: String, name| RenamedFolder { path: Path::new("/").join(path), name };
            let folders = [renamed(root.to_owned(), "lockstep"), renamed(format!("{root}/target"), "build")];
            rename_folders(folder.path(), &folders).expect("they can be renamed");
            folder
        };
        let wanted = ["build/a.o", "lockstep/kernels/b.o", "usr/lib/c.a", "rustc/symbols.o"];
        for folder in [unpacked("home/me/lockstep", "rustcA1b2"), unpacked("work", "rustcC3d4")] {
            let command = std::fs::read_to_string(folder.path().join(RESPONSE_FILE)).expect("it is there");
            assert_eq!(command, format!("-o lockstep-compiler\n{}\n", wanted.join("\n")));
            assert!(wanted.iter().all(|path| folder.path().join(path).exists()), "{command}");
            let mut entries: Vec<_> = std::fs::read_dir(folder.path())
                .expect("it is there")
                .map(|entry| entry.expect("one").file_name())
                .collect();
            entries.sort();
            assert_eq!(entries, ["build", "lockstep", RESPONSE_FILE, "rustc", "usr"]);
        }
    }
}
