//! `stress`: the runtime's stress test for a minute or as long as one likes, if wanted under ThreadSanitizer.
//!
//! The test's work is plain Rust, and so is what runs it: LLVM, which is not instrumented, is linked but takes no part.

use anyhow::{Context, Result, bail};

use crate::sanitizer::Sanitizer;
use crate::{driver, process, setup};

/// Runs the command: `stress [--seconds N] [--sanitizer thread]`.
pub fn run(arguments: &[String]) -> Result<()> {
    let request = Request::parse(arguments)?;
    setup::run()?;
    let test = ["test", "--release", "--package", "lockstep-runtime", "--test", "stress"];
    let mut command = match request.sanitizer {
        Some(sanitizer) => sanitizer.cargo(&test),
        None => driver::cargo_with(&test),
    };
    command.args(["--", "--nocapture"]).env("LOCKSTEP_TEST_SECONDS", request.seconds.to_string());
    process::run(&mut command)
}

#[derive(Debug, PartialEq, Eq)]
struct Request {
    seconds: u64,
    sanitizer: Option<Sanitizer>,
}

impl Request {
    fn parse(arguments: &[String]) -> Result<Self> {
        let mut request = Self { seconds: 60, sanitizer: None };
        let mut words = arguments.iter();
        while let Some(word) = words.next() {
            let value = words.next().with_context(|| format!("{word} needs a value"))?;
            match (word.as_str(), value.as_str()) {
                ("--seconds", _) => request.seconds = value.parse().with_context(|| format!("{word} {value}"))?,
                ("--sanitizer", "thread") => request.sanitizer = Some(Sanitizer::Thread),
                _ => bail!("stress does not know `{word} {value}`"),
            }
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
        assert_eq!(parsed(&[]).expect("valid"), Request { seconds: 60, sanitizer: None });
        let both = parsed(&["--sanitizer", "thread", "--seconds", "5"]).expect("valid");
        assert_eq!(both, Request { seconds: 5, sanitizer: Some(Sanitizer::Thread) });
        for wrong in [&["--seconds"][..], &["--seconds", "many"], &["--sanitizer", "memory"], &["--minutes", "1"]] {
            assert!(parsed(wrong).is_err(), "{wrong:?}");
        }
    }
}
