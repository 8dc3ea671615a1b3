//! `attack`: sources that attack the compiler by their size and depth, at full length, and applications that do to their process
//! whatever they may, on the release driver.
//!
//! The work is done by tests of the conformance crate, which a test run gives short sources.

use anyhow::Result;

use crate::driver::VENDORS;
use crate::{driver, process, setup, workspace};

/// Runs the command.
pub fn run() -> Result<()> {
    setup::run()?;
    driver::build()?;
    let mut command = driver::cargo_with(&["test", "--package", "lockstep-conformance", "--test", "attacks"]);
    command.args(["--test", "hostile_applications", "--no-fail-fast", "--", "--nocapture"]);
    process::run(command.env(VENDORS, workspace::vendors()).env("LOCKSTEP_TEST_ATTACK", "full"))
}
