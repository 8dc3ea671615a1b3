//! `stress`: the runtime's stress test for a minute or as long as one likes, if wanted under ThreadSanitizer.
//!
//! The test's work is plain Rust, and so is what runs it: LLVM, which is not instrumented, is linked but takes no part.

use std::process::Command;

use anyhow::{Context, Result, bail};

use crate::{driver, process, setup, workspace};

/// Runs the command: `stress [--seconds N] [--sanitizer thread]`.
pub fn run(arguments: &[String]) -> Result<()> {
    let request = Request::parse(arguments)?;
    setup::run()?;
    let mut command = if request.sanitizer { sanitized() } else { driver::cargo() };
    command.args(["test", "--release", "--package", "lockstep-runtime", "--test", "stress"]);
    if request.sanitizer {
        // Everything must be instrumented, the standard library too, or what it orders looks like a race.
        command.args(["-Zbuild-std", "--target", "x86_64-unknown-linux-gnu", "--target-dir", "target/sanitizer"]);
    }
    command.args(["--", "--nocapture"]).env("LOCKSTEP_TEST_SECONDS", request.seconds.to_string());
    process::run(&mut command)
}

/// The cargo of a nightly toolchain: `rustup toolchain install nightly --component rust-src`.
fn sanitized() -> Command {
    let mut command = Command::new("rustup");
    command.args(["run", "nightly", "cargo"]).current_dir(workspace::root());
    command.env("RUSTFLAGS", "-Zsanitizer=thread");
    // A report is a failure at once.
    command.env("TSAN_OPTIONS", "halt_on_error=1");
    command
}

#[derive(Debug, PartialEq, Eq)]
struct Request {
    seconds: u64,
    sanitizer: bool,
}

impl Request {
    fn parse(arguments: &[String]) -> Result<Self> {
        let mut request = Self { seconds: 60, sanitizer: false };
        let mut words = arguments.iter();
        while let Some(word) = words.next() {
            let value = words.next().with_context(|| format!("{word} needs a value"))?;
            match (word.as_str(), value.as_str()) {
                ("--seconds", _) => request.seconds = value.parse().with_context(|| format!("{word} {value}"))?,
                ("--sanitizer", "thread") => request.sanitizer = true,
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
        assert_eq!(parsed(&[]).expect("valid"), Request { seconds: 60, sanitizer: false });
        let both = parsed(&["--sanitizer", "thread", "--seconds", "5"]).expect("valid");
        assert_eq!(both, Request { seconds: 5, sanitizer: true });
        for wrong in [&["--seconds"][..], &["--seconds", "many"], &["--sanitizer", "memory"], &["--minutes", "1"]] {
            assert!(parsed(wrong).is_err(), "{wrong:?}");
        }
    }
}
