//! `build`: the release driver and, beside it, the command `lockstep` and the compiler as one static executable.
//!
//! That executable needs no file of the system, so it runs wherever the kernel starts it: in containers without LLVM, after a
//! change of the root folder. Plain `cargo build` links LLVM and clang as shared libraries, which takes no archives.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Result, bail};

use crate::driver::{VENDORS, cargo_with};
use crate::progress::step;
use crate::{process, relinkable, workspace};

/// What rustc is told for the executable alone: everything it uses is compiled as for others. One that lies at a fixed address
/// starts in 2 ms; one that does not takes 5, for the 145,000 addresses in LLVM's tables.
const STATIC_FLAGS: [&str; 6] =
    ["-C", "target-feature=+crt-static", "-C", "relocation-model=static", "-C", "strip=symbols"];

/// What the command is told.
#[derive(Default, clap::Args)]
pub struct Options {
    /// Write everything that the compiler's executable is linked of to this file, a tar archive of half a gigabyte
    #[arg(long, value_name = "FILE")]
    relinkable: Option<PathBuf>,
}

/// Builds the driver, the command and the compiler, starts the compiler once, and has the command ask it what it is.
pub fn build_products(options: &Options) -> Result<()> {
    build_step(
        "build the driver and the command lockstep (release)",
        &mut driver_and_command(),
        &[&workspace::driver(), &workspace::command()],
    )?;
    let archive = options.relinkable.as_deref().map(std::path::absolute).transpose()?;
    let compiler = workspace::compiler();
    build_step("build the compiler (release, static)", &mut static_compiler(archive.as_deref()), &[&compiler])?;
    if let Some(archive) = &archive {
        relinkable::finish_archive(archive, &compiler, &[])?;
    }
    start_alone(&workspace::compiler())?;
    examine_products(&workspace::command(), &workspace::driver())
}

/// Has the command look whether the three belong together, as if the driver were registered.
pub fn examine_products(command: &Path, driver: &Path) -> Result<()> {
    let output = Command::new(command).arg("doctor").env(VENDORS, driver).output()?;
    match output.status.success() {
        true => Ok(()),
        false => bail!("what was built does not fit together:\n{}", String::from_utf8_lossy(&output.stdout)),
    }
}

/// Starts the executable with nothing around it. One that was linked half statically dies before its first line.
fn start_alone(executable: &Path) -> Result<()> {
    let status = Command::new(executable).env_clear().stdin(Stdio::null()).stdout(Stdio::null()).status();
    match status {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => bail!("{} does not run: {status}", executable.display()),
        Err(error) => bail!("{} does not start: {error}", executable.display()),
    }
}

fn driver_and_command() -> Command {
    cargo_with(&["build", "--release", "--package", "lockstep-icd", "--package", "lockstep-command"])
}

/// The command that links the executable, and writes what it is linked of to an archive.
pub fn static_compiler(archive: Option<&Path>) -> Command {
    let mut command = cargo_with(&["rustc", "--release", "--package", "lockstep-compiler-process"]);
    command.args(["--bin", "lockstep-compiler", "--features", "static", "--"]).args(STATIC_FLAGS);
    command.args(archive.into_iter().flat_map(relinkable::linker_flags));
    command
}

/// Runs a command that builds, as a step, and looks whether it left what it should.
pub fn build_step(title: &str, command: &mut Command, results: &[&Path]) -> Result<()> {
    let building = step(title);
    process::run(command)?;
    if let Some(missing) = results.iter().find(|result| !result.exists()) {
        bail!("the build left no {}", missing.display());
    }
    building.done();
    Ok(())
}
