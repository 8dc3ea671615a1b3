//! `test`: sets up, builds the driver, and runs every test of the workspace and
//! the tidy rules.
//!
//! The tests run in cargo's test profile, whose debug assertions switch on the
//! checks between passes; the driver that the conformance tests load is the
//! release build, which is what users get.

use std::process::Command;

use anyhow::{Result, bail};

use crate::driver::VENDORS;
use crate::progress::step;
use crate::{driver, process, setup, tidy, workspace};

/// What the command is told.
#[derive(clap::Args)]
pub struct Options {
    /// What `cargo test` is told
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    words: Vec<String>,
}

/// Runs the command.
pub fn run(options: &Options) -> Result<()> {
    let words = &options.words;
    setup::run()?;
    let tidying = step("tidy");
    tidy::run()?;
    tidying.done();
    driver::build()?;

    let build = step("build the tests");
    process::run(tests().arg("--no-run").args(words))?;
    build.done();

    let running = step("run the tests");
    // Every crate's tests, also after a failure: one run shows all that is wrong.
    let result = process::run(tests().arg("--no-fail-fast").args(words));
    if let Err(error) = result {
        bail!("tests failed ({error:#})");
    }
    running.done();
    println!("test: all passed");
    Ok(())
}

fn tests() -> Command {
    let mut command = driver::cargo();
    command.args(["test", "--workspace", "--quiet"]).env(VENDORS, workspace::vendors());
    command
}
