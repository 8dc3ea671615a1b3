//! `build --relinkable FILE`: all that the compiler's executable is linked of, so that whoever has it can link it anew with another
//! C library, as the licence of the one inside asks for ([docs/licences.md](../../docs/licences.md)).
//!
//! The linker writes the archive itself (`--reproduce`): its inputs, and the command that makes the executable of them. Whether they do
//! is tried in an empty folder.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};

use crate::process;
use crate::progress::step;

/// What rustc is told so that the linker writes the archive.
pub fn linker_flags(archive: &Path) -> [String; 2] {
    ["-C".to_owned(), format!("link-arg=-Wl,--reproduce={}", archive.display())]
}

/// Links what is in the archive, and compares the result with the executable.
pub fn try_linking(archive: &Path, executable: &Path) -> Result<()> {
    let linking = step(format!("link {} anew", archive.display()));
    let folder = tempfile::tempdir().context("cannot make a temporary folder")?;
    process::run(Command::new("tar").arg("-xf").arg(archive).arg("-C").arg(folder.path()))?;
    let inputs = only_entry(folder.path())?;
    process::run(Command::new(linker()?).arg("@response.txt").current_dir(&inputs))?;
    let result = output_file(&inputs)?;
    let read = |path: &Path| std::fs::read(path).with_context(|| format!("cannot read {}", path.display()));
    if read(&result)? != read(executable)? {
        bail!("{} links to another executable", archive.display());
    }
    linking.done();
    Ok(())
}

/// The linker that rustc brings along.
fn linker() -> Result<PathBuf> {
    let sysroot =
        process::output_of(Command::new("rustc").args(["--print", "sysroot"])).context("there is no rustc")?;
    Ok(Path::new(sysroot.trim()).join("lib/rustlib/x86_64-unknown-linux-gnu/bin/gcc-ld/ld.lld"))
}

fn only_entry(folder: &Path) -> Result<PathBuf> {
    let entry = std::fs::read_dir(folder)?.next().context("the archive is empty")??;
    Ok(entry.path())
}

/// What the command in the archive writes to.
fn output_file(inputs: &Path) -> Result<PathBuf> {
    let command = std::fs::read_to_string(inputs.join("response.txt")).context("the archive has no command")?;
    let name = command.lines().find_map(|line| line.strip_prefix("-o ")).context("the command names no result")?;
    Ok(inputs.join(name.trim_matches('"')))
}
