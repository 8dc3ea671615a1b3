//! `stress`: the runtime's stress test for a minute or as long as one likes, if wanted under ThreadSanitizer.
//!
//! The test's work is plain Rust, and so is what runs it: LLVM, which is not instrumented, is linked but takes no part.

use anyhow::Result;

use crate::sanitizer::Sanitizer;
use crate::{driver, process, setup};

/// What the command is told.
#[derive(Debug, PartialEq, Eq, clap::Args)]
pub struct Options {
    /// How long
    #[arg(long, value_name = "N", default_value_t = 60)]
    seconds: u64,
    /// Instrument the runtime, with a nightly toolchain that has rust-src
    #[arg(long, value_parser = Sanitizer::parser(Sanitizer::Thread))]
    sanitizer: Option<Sanitizer>,
}

/// Runs the command.
pub fn run(options: &Options) -> Result<()> {
    setup::run()?;
    let test = ["test", "--release", "--package", "lockstep-runtime", "--test", "stress"];
    let mut command = match options.sanitizer {
        Some(sanitizer) => sanitizer.cargo(&test),
        None => driver::cargo_with(&test),
    };
    command.args(["--", "--nocapture"]).env("LOCKSTEP_TEST_SECONDS", options.seconds.to_string());
    process::run(&mut command)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::parsed;

    #[test]
    fn options_are_read() {
        assert_eq!(parsed::<Options>(&[]).expect("valid"), Options { seconds: 60, sanitizer: None });
        let both: Options = parsed(&["--sanitizer", "thread", "--seconds", "5"]).expect("valid");
        assert_eq!(both, Options { seconds: 5, sanitizer: Some(Sanitizer::Thread) });
        for wrong in [&["--seconds"][..], &["--seconds", "many"], &["--sanitizer", "memory"], &["--minutes", "1"]] {
            assert!(parsed::<Options>(wrong).is_err(), "{wrong:?}");
        }
    }
}
