//! The driver, the command and the compiler as they are passed on.
//!
//! They are what `cargo xtask build` makes, but for three things. Their bytes do not depend on where they are built. They have no
//! debug information. The driver and the command run with glibc 2.17 (2012) or later, which takes a linker that knows which
//! symbols that one had; the compiler is linked statically and needs none.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};

use crate::build::{build_step, static_compiler};
use crate::package::tools::PythonTools;
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
        relinkable::try_linking(archive, &products.compiler)?;
    }
    Ok(products)
}

/// Has a cargo command build in a folder of its own, without debug information and without any path of this machine.
fn make_reproducible(command: &mut Command, folder: &Path) -> Result<()> {
    let crates = std::env::var_os("CARGO_HOME").map(PathBuf::from);
    let crates = crates.or_else(|| Some(std::env::home_dir()?.join(".cargo")));
    let crates = crates.context("neither CARGO_HOME nor HOME is set")?;
    // Of several that fit, the last one counts.
    let places = [(workspace::root(), "/lockstep"), (&crates, "/cargo"), (folder, "/build")];
    let map = |option: &str| places.map(|(place, name)| format!("{option}={}={name}", place.display()));
    // Paths may have spaces in them.
    command.env("CARGO_ENCODED_RUSTFLAGS", map("--remap-path-prefix").join("\x1f"));
    let quoted = map("-ffile-prefix-map").map(|flag| format!("\"{flag}\""));
    command.env("CXXFLAGS", quoted.join(" ")).env("CC_SHELL_ESCAPED_FLAGS", "1");
    command.env("CARGO_PROFILE_RELEASE_STRIP", "symbols").env("CARGO_INCREMENTAL", "0").env("CARGO_TARGET_DIR", folder);
    Ok(())
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
