//! `accuracy`: compares the math functions with references of 120 bits and writes `docs/accuracy.md`.
//!
//! The work is done by a test of the conformance crate, which a test run gives a sample of arguments; here it is given
//! all floats, for hours, or as many as one likes.

use anyhow::{Context, Result, bail};

use crate::driver::{self, VENDORS};
use crate::{process, setup, workspace};

/// Runs the command: `accuracy [--only NAME,...] [--step N]`.
pub fn run(arguments: &[String]) -> Result<()> {
    let request = Request::parse(arguments)?;
    setup::run()?;
    driver::build()?;
    let mut command = driver::cargo();
    command.args(["test", "--release", "--package", "lockstep-conformance", "--test", "accuracy", "--"]);
    // One after the other: each compares on all processors.
    command.args(["--nocapture", "--test-threads", "1"]);
    command.env(VENDORS, workspace::vendors());
    command.env("LOCKSTEP_TEST_STEP", request.step.to_string());
    command.env("LOCKSTEP_TEST_WRITE", workspace::root().join("docs/accuracy.md"));
    if let Some(only) = &request.only {
        command.env("LOCKSTEP_TEST_ONLY", only);
    }
    process::run(&mut command)
}

#[derive(Debug, PartialEq, Eq)]
struct Request {
    /// Names of functions, separated by commas; none: all.
    only: Option<String>,
    /// Every how many-th float.
    step: u64,
}

impl Request {
    fn parse(arguments: &[String]) -> Result<Self> {
        let mut request = Self { only: None, step: 1 };
        let mut words = arguments.iter();
        while let Some(word) = words.next() {
            let value = words.next().with_context(|| format!("{word} needs a value"))?;
            match word.as_str() {
                "--only" => request.only = Some(value.clone()),
                "--step" => request.step = value.parse().with_context(|| format!("{word} {value}"))?,
                other => bail!("accuracy does not know `{other}`"),
            }
        }
        if request.step == 0 {
            bail!("a step is 1 or more");
        }
        Ok(request)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_are_read() {
        let parsed = |words: &[&str]| Request::parse(&words.iter().map(|&word| word.to_owned()).collect::<Vec<_>>());
        assert_eq!(parsed(&[]).expect("valid"), Request { only: None, step: 1 });
        let both = parsed(&["--only", "sin,cos", "--step", "17"]).expect("valid");
        assert_eq!(both, Request { only: Some("sin,cos".to_owned()), step: 17 });
        for wrong in [&["--step"][..], &["--step", "0"], &["--step", "few"], &["--all", "1"]] {
            assert!(parsed(wrong).is_err(), "{wrong:?}");
        }
    }
}
