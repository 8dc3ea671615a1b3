//! `dpctl`: runs the tests of dpctl, a client of SYCL's runtime for Python, on our driver.
//!
//! dpctl, pytest and the runtime come from PyPI into `target/tools/dpctl` and nowhere else. The runtime makes SPIR-V of its
//! own kernels and asks an OpenCL driver for everything that SYCL needs beside. Loaders differ in which variable leads them to a
//! driver, so both are set.

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::Command;

use anyhow::Result;

use crate::driver::{self, VENDORS};
use crate::progress::step;
use crate::{process, workspace};

/// What is installed, from PyPI. One of dpctl's tests builds an extension with Cython.
const PACKAGES: [&str; 4] = ["dpctl", "pytest", "cython", "setuptools"];

/// What the command is told.
#[derive(clap::Args)]
pub struct Options {
    /// Another driver's library, in the place of ours
    #[arg(long)]
    driver: Option<String>,
    /// What pytest is told in addition, such as `-k name`
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    arguments: Vec<OsString>,
}

/// Installs dpctl if it is not there, and runs its tests.
pub fn run(options: &Options) -> Result<()> {
    let (library, vendors) = match &options.driver {
        Some(path) => (PathBuf::from(path), driver::vendors_for(path)?),
        None => {
            driver::build()?;
            (workspace::driver(), workspace::vendors())
        }
    };
    let python = install_packages()?;
    let mut tests = Command::new(python);
    tests
        .args(["-m", "pytest", "--pyargs", "dpctl", "-q", "-p", "no:cacheprovider"])
        .args(&options.arguments)
        .env(VENDORS, vendors)
        .env("OCL_ICD_FILENAMES", &library)
        // With a selector the runtime takes other ways through its list of devices than users do.
        .env_remove("ONEAPI_DEVICE_SELECTOR");
    process::run(&mut tests)
}

/// The interpreter of the environment that has the packages.
fn install_packages() -> Result<PathBuf> {
    let folder = workspace::target().join("tools/dpctl");
    let python = folder.join("bin/python");
    if !folder.join("bin/pytest").is_file() {
        let installing = step(format!("pip install {} (into {})", PACKAGES.join(" "), folder.display()));
        process::run(Command::new("python3").args(["-m", "venv"]).arg(&folder))?;
        process::run(Command::new(&python).args(["-m", "pip", "install", "--quiet"]).args(PACKAGES))?;
        installing.done();
    }
    Ok(python)
}
