//! The driver, the command and the compiler as they are passed on.
//!
//! They are what `cargo xtask build` makes, but for three things. Their bytes do not depend on where they are built. They have no
//! debug information. The driver and the command run with glibc 2.17 (2012) or later, which takes a linker that knows which
//! symbols that one had; the compiler is linked statically and needs none.

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};

use crate::build::{build_step, static_compiler};
use crate::package::tools::PythonTools;
use crate::package::tree::write_file;
use crate::relinkable::{RenamedFolder, rust_folder};
use crate::{process, relinkable, workspace};

/// The system that the driver and the command are for, with its oldest glibc as zigbuild takes it.
const TARGET: &str = "x86_64-unknown-linux-gnu.2.17";
/// The folder that cargo makes for it.
const TARGET_FOLDER: &str = "x86_64-unknown-linux-gnu/release";

/// Where the three files are.
pub struct Products {
    /// The path of the shared library that loaders open.
    pub driver: PathBuf,
    /// The path of the executable that users run.
    pub command: PathBuf,
    /// The path of the static executable that the driver starts.
    pub compiler: PathBuf,
}

/// Builds the three.
///
/// With an archive's name, what the compiler is linked of is written there as well, and tried.
pub fn build_products(tools: &PythonTools, archive: Option<&Path>) -> Result<Products> {
    let folder = workspace::target().join("package/build");
    let shared = folder.join(TARGET_FOLDER);
    let products = Products {
        driver: shared.join("liblockstep.so"),
        command: shared.join("lockstep"),
        compiler: folder.join("release/lockstep-compiler"),
    };
    let mut driver_and_command = tools.zigbuild_command();
    driver_and_command.args([
        "--release",
        "--package",
        "lockstep-icd",
        "--package",
        "lockstep-command",
        "--target",
        TARGET,
    ]);
    make_reproducible(&mut driver_and_command, &folder)?;
    build_step(
        "build the driver and the command for glibc 2.17",
        &mut driver_and_command,
        &[&products.driver, &products.command],
    )?;
    let mut compiler = static_compiler(archive);
    make_reproducible(&mut compiler, &folder)?;
    build_step("build the compiler (static)", &mut compiler, &[&products.compiler])?;
    if let Some(archive) = archive {
        relinkable::finish_archive(archive, &products.compiler, &machine_folders(&folder)?)?;
    }
    Ok(products)
}

/// The folders of this machine that a build into a folder knows of. Of several that a path lies in, the last one counts.
fn machine_folders(folder: &Path) -> Result<[RenamedFolder; 4]> {
    let crates = std::env::var_os("CARGO_HOME").map(PathBuf::from);
    let crates = crates.or_else(|| Some(std::env::home_dir()?.join(".cargo")));
    let crates = crates.context("neither CARGO_HOME nor HOME is set")?;
    Ok([
        RenamedFolder { path: workspace::root().to_owned(), name: "lockstep" },
        RenamedFolder { path: crates, name: "cargo" },
        RenamedFolder { path: rust_folder()?, name: "rust" },
        RenamedFolder { path: folder.to_owned(), name: "build" },
    ])
}

/// Has a cargo command build in a folder of its own, without debug information and without any path of this machine.
fn make_reproducible(command: &mut Command, folder: &Path) -> Result<()> {
    let folders = machine_folders(folder)?;
    let map =
        |option: &str| folders.each_ref().map(|folder| format!("{option}={}=/{}", folder.path.display(), folder.name));
    // Cargo names files by the flags that it is told, so these must not be among them.
    let wrapper = write_rustc_wrapper(folder, &map("--remap-path-prefix"))?;
    command.env("RUSTC_WRAPPER", wrapper).env("CARGO_ENCODED_RUSTFLAGS", "");
    // Paths may have spaces in them.
    let quoted = map("-ffile-prefix-map").map(|flag| format!("\"{flag}\""));
    command.env("CXXFLAGS", quoted.join(" ")).env("CC_SHELL_ESCAPED_FLAGS", "1");
    command.env("CARGO_PROFILE_RELEASE_STRIP", "symbols").env("CARGO_INCREMENTAL", "0").env("CARGO_TARGET_DIR", folder);
    Ok(())
}

/// Writes a script that calls rustc with some flags more.
fn write_rustc_wrapper(folder: &Path, flags: &[String]) -> Result<PathBuf> {
    let quoted: Vec<String> = flags.iter().map(|flag| format!("'{}'", flag.replace('\'', r"'\''"))).collect();
    let script = format!("#!/bin/sh\nexec \"$@\" {}\n", quoted.join(" "));
    let path = folder.join("rustc.sh");
    // Cargo builds everything anew after a change of the script's time.
    if std::fs::read_to_string(&path).ok().as_ref() != Some(&script) {
        write_file(&path, &script)?;
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755))?;
    }
    Ok(path)
}

/// The version of the packages: that of the workspace.
pub fn package_version() -> &'static str {
    env!("CARGO_PKG_VERSION")
}

/// The time that files in packages have, in seconds since 1970: that of the last commit, so that it is the same everywhere.
pub fn commit_time() -> Result<u64> {
    let mut log = Command::new("git");
    let time = process::output_of(log.current_dir(workspace::root()).args(["log", "-1", "--format=%ct"]));
    let time = time.or_else(|| std::env::var("SOURCE_DATE_EPOCH").ok());
    let time = time.context("there is neither a repository nor SOURCE_DATE_EPOCH to take the files' time from")?;
    time.trim().parse().with_context(|| format!("{time} is not a time in seconds"))
}
