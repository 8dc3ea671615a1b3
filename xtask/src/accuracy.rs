//! `accuracy`: compares the math functions with references of 120 bits and writes `docs/accuracy.md`.
//!
//! The work is done by a test of the conformance crate, which a test run gives a sample of arguments; here it is given
//! all floats, for hours, or as many as one likes.

use anyhow::Result;

use crate::driver::{self, VENDORS};
use crate::{process, setup, workspace};

/// What the command is told.
#[derive(Debug, PartialEq, Eq, clap::Args)]
pub struct Options {
    /// Only these functions: names, separated by commas
    #[arg(long, value_name = "NAME,...")]
    only: Option<String>,
    /// Every how many-th float
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..))]
    step: u64,
}

/// Runs the command.
pub fn run(options: &Options) -> Result<()> {
    setup::run()?;
    driver::build()?;
    let mut command = driver::cargo();
    command.args(["test", "--release", "--package", "lockstep-conformance", "--test", "accuracy", "--"]);
    // One after the other: each compares on all processors.
    command.args(["--nocapture", "--test-threads", "1"]);
    command.env(VENDORS, workspace::vendors());
    command.env("LOCKSTEP_TEST_STEP", options.step.to_string());
    command.env("LOCKSTEP_TEST_WRITE", workspace::root().join("docs/accuracy.md"));
    if let Some(only) = &options.only {
        command.env("LOCKSTEP_TEST_ONLY", only);
    }
    process::run(&mut command)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::parsed;

    #[test]
    fn options_are_read() {
        assert_eq!(parsed::<Options>(&[]).expect("valid"), Options { only: None, step: 1 });
        let both: Options = parsed(&["--only", "sin,cos", "--step", "17"]).expect("valid");
        assert_eq!(both, Options { only: Some("sin,cos".to_owned()), step: 17 });
        for wrong in [&["--step"][..], &["--step", "0"], &["--step", "few"], &["--all", "1"]] {
            assert!(parsed::<Options>(wrong).is_err(), "{wrong:?}");
        }
    }
}
