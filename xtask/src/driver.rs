//! Building the driver and leading the ICD loader to it.

use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result};

use crate::{build, workspace};

/// The environment variable by which ICD loaders are told where `.icd` files are.
pub const VENDORS: &str = "OCL_ICD_VENDORS";

/// A cargo command in the workspace's root, with the cargo that started us.
pub fn cargo() -> Command {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.current_dir(workspace::root());
    command
}

/// Such a command with a subcommand and its arguments.
pub fn cargo_with(arguments: &[&str]) -> Command {
    let mut command = cargo();
    command.args(arguments);
    command
}

/// Builds the release driver and writes the `.icd` file that names it.
pub fn build() -> Result<()> {
    build_with_options(&build::Options::default())
}

/// The same, and what else the options ask for.
pub fn build_with_options(options: &build::Options) -> Result<()> {
    build::build_products(options)?;
    let driver = workspace::driver();
    let directory = workspace::icd_directory();
    std::fs::create_dir_all(&directory).with_context(|| format!("cannot make {}", directory.display()))?;
    write_icd(&directory.join("lockstep.icd"), &driver)
}

/// Writes an `.icd` file: one line, the driver's absolute path.
pub fn write_icd(icd: &Path, driver: &Path) -> Result<()> {
    std::fs::write(icd, format!("{}\n", driver.display())).with_context(|| format!("cannot write {}", icd.display()))
}

/// What to put into `OCL_ICD_VENDORS` for a driver somebody names: a folder of
/// `.icd` files, one `.icd` file, or the driver's library itself.
pub fn vendors_for(path: &str) -> Result<String> {
    let absolute = std::fs::canonicalize(path).with_context(|| format!("no driver at {path}"))?;
    let shown = absolute.to_str().with_context(|| format!("{} is not valid text", absolute.display()))?;
    // ocl-icd takes a folder only when the path ends in a slash.
    Ok(if absolute.is_dir() { format!("{shown}/") } else { shown.to_owned() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_gets_its_slash_and_a_file_does_not() {
        let folder = vendors_for(env!("CARGO_MANIFEST_DIR")).expect("it exists");
        assert!(folder.ends_with("xtask/"), "{folder}");
        let file = vendors_for(concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml")).expect("exists");
        assert!(file.ends_with("xtask/Cargo.toml"), "{file}");
        assert!(vendors_for("/no/such/driver.so").is_err());
    }
}
