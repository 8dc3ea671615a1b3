//! Cargo commands that instrument what they compile: `--sanitizer address`, `--sanitizer thread`.
//!
//! They need a nightly toolchain: `rustup toolchain install nightly --component rust-src`. LLVM, clang and the ICD loader are
//! not instrumented; functions of the C library that they call on the driver's memory are looked at all the same.

use std::path::PathBuf;
use std::process::Command;

use clap::builder::{PossibleValuesParser, TypedValueParser};

use crate::workspace;

const TARGET: &str = "x86_64-unknown-linux-gnu";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sanitizer {
    /// What is read or written behind its end or after its end of life, and what is never freed.
    Address,
    /// What threads access without an order.
    Thread,
}

impl Sanitizer {
    /// Reads the name of the one sanitizer that a command knows.
    pub fn parser(self) -> impl TypedValueParser<Value = Self> {
        let name = match self {
            Self::Address => "address",
            Self::Thread => "thread",
        };
        PossibleValuesParser::new([name]).map(move |_| self)
    }

    /// The cargo of the nightly toolchain with a subcommand and its arguments.
    pub fn cargo(self, arguments: &[&str]) -> Command {
        let mut command = Command::new("rustup");
        command.args(["run", "nightly", "cargo"]).args(arguments).current_dir(workspace::root());
        command.args(["--target", TARGET, "--target-dir", self.folder()]);
        match self {
            Sanitizer::Address => {
                // The driver finds the sanitizer's functions in the program that loads it. With frame pointers, reports
                // tell how memory was come by.
                let flags = "-Zsanitizer=address -Cforce-frame-pointers=yes -Clink-arg=-Wl,--export-dynamic";
                command.env("RUSTFLAGS", flags);
                // The program's own handler says what it was doing. Nothing is left out: at the end, nothing is to be lost.
                command.env("ASAN_OPTIONS", "abort_on_error=1:detect_leaks=1");
            }
            Sanitizer::Thread => {
                // Everything must be instrumented, the standard library too, or what it orders looks like a race.
                command.arg("-Zbuild-std").env("RUSTFLAGS", "-Zsanitizer=thread");
                // A report is a failure at once.
                command.env("TSAN_OPTIONS", "halt_on_error=1");
            }
        }
        command
    }

    /// Where the commands' results are.
    pub fn results(self) -> PathBuf {
        workspace::root().join(self.folder())
    }

    /// A release build's results.
    pub fn release(self) -> PathBuf {
        self.results().join(TARGET).join("release")
    }

    fn folder(self) -> &'static str {
        match self {
            Sanitizer::Address => "target/sanitizer-address",
            Sanitizer::Thread => "target/sanitizer",
        }
    }
}
