//! The project's commands.
//!
//! This crate must build on a machine that has only Rust and a C linker: it is
//! what installs LLVM and the rest, so it depends neither on LLVM nor on the
//! driver's crates. Whatever talks OpenCL loads the ICD loader at run time, in
//! a child process whose environment names the freshly built driver.

mod accuracy;
mod appsdk;
mod attack;
mod bench;
mod build;
mod cts;
mod cts_list;
mod cts_offline;
mod demo;
mod dpctl;
mod driver;
mod fuzz;
mod install;
mod metrics;
mod opencl;
mod package;
mod peers;
mod process;
mod progress;
mod relinkable;
mod rust_text;
mod same_code;
mod sanitizer;
mod setup;
mod stress;
mod suite;
mod test;
mod tidy;
mod walkthroughs;
mod workspace;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

/// The project's commands
#[derive(Parser)]
#[command(bin_name = "cargo xtask")]
struct CommandLine {
    #[command(subcommand)]
    task: Task,
}

#[derive(Subcommand)]
enum Task {
    /// Install what the build needs (says what, where it may not)
    Setup,
    /// Build the release driver and, beside it, the command lockstep and the compiler as one static executable
    Build(build::Options),
    /// Set up, build, show the device, render and check a picture
    Demo,
    /// The part of the demo that talks OpenCL, in the environment that leads the loader to our driver
    #[command(hide = true)]
    DemoRender(demo::RenderOptions),
    /// Set up, build, run every test and the tidy rules
    Test(test::Options),
    /// Check the architecture's rules
    Tidy,
    /// Print how the driver's source is written, in numbers, beside what they should be
    Metrics(metrics::Options),
    /// Apply the patches of docs/walkthroughs to a copy of the tree and run what they say
    Walkthroughs(walkthroughs::Options),
    /// Copy the driver, its compiler and the command lockstep, and register the driver with the ICD loader
    Install(install::Options),
    /// Make what users get: a wheel for pip, a package for Debian, a tarball, with their checksums
    Package(package::Options),
    /// Check where crates come from and under which licences they are (cargo-deny)
    Licences,
    /// Install the packages on systems without LLVM and clang, run programs, and remove them (as root, with debootstrap)
    PackageTest(package::trial::Options),
    /// Measure through the loader: without a name, what docs/performance.md shows
    Bench(bench::Options),
    /// List the kernels whose machine code differs from another build's
    ///
    /// Compiled are the kernels of the suite, of the conformance tests and of 500 generated programs.
    SameCode(same_code::Options),
    /// Compare the math functions with exact values and write docs/accuracy.md
    Accuracy(accuracy::Options),
    /// Compare random kernels in every configuration with the interpreter, or make random calls of the API
    Fuzz(fuzz::Options),
    /// Give the compiler sources that are as long and deep as they may be, and have applications do whatever they may
    Attack,
    /// Have threads share queues
    Stress(stress::Options),
    /// Run the AMD APP SDK 3.0 sample binaries
    Appsdk(appsdk::Options),
    /// Run a build of the Khronos conformance suite
    Cts(cts::Options),
    /// The compiler that programs of the Khronos suite call for SPIR-V
    #[command(hide = true)]
    OfflineCompiler(cts_offline::Options),
    /// Run the tests of dpctl, a client of SYCL's runtime, which it installs into target/tools
    Dpctl(dpctl::Options),
}

impl Task {
    fn run(self) -> anyhow::Result<()> {
        match self {
            Self::Setup => setup::run(),
            Self::Build(options) => driver::build_with_options(&options),
            Self::Demo => demo::run(),
            Self::DemoRender(options) => demo::render_picture(&options),
            Self::Test(options) => test::run(&options),
            Self::Tidy => tidy::run(),
            Self::Metrics(options) => metrics::run(&options),
            Self::Walkthroughs(options) => walkthroughs::run(&options),
            Self::Install(options) => install::run(&options),
            Self::Package(options) => package::make_packages(&options),
            Self::Licences => package::licences::check_crates(),
            Self::PackageTest(options) => package::trial::try_packages(&options),
            Self::Bench(options) => bench::run(&options),
            Self::SameCode(options) => same_code::run(&options),
            Self::Accuracy(options) => accuracy::run(&options),
            Self::Fuzz(options) => fuzz::run(&options),
            Self::Attack => attack::run(),
            Self::Stress(options) => stress::run(&options),
            Self::Appsdk(options) => appsdk::run(&options),
            Self::Cts(options) => cts::run(&options),
            Self::OfflineCompiler(options) => cts_offline::run(&options),
            Self::Dpctl(options) => dpctl::run(&options),
        }
    }
}

fn main() -> ExitCode {
    match CommandLine::parse().task.run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("xtask: {error:#}");
            ExitCode::FAILURE
        }
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    /// Reads a command's options as from the command line.
    pub fn parsed<O: clap::Args>(words: &[&str]) -> Result<O, clap::Error> {
        let command = O::augment_args(clap::Command::new("command").no_binary_name(true));
        command.try_get_matches_from(words).and_then(|matches| O::from_arg_matches(&matches))
    }

    #[test]
    fn the_command_line_makes_sense() {
        CommandLine::command().debug_assert();
    }

    #[test]
    fn commands_are_called_as_the_pages_call_them() {
        for line in [
            "setup",
            "build",
            "demo",
            "demo-render --picture x.png",
            "test",
            "test --package xtask -- tidy",
            "tidy",
            "metrics --json",
            "install --prefix /usr",
            "package",
            "package deb --without-relinkable",
            "package-test wheel tarball",
            "licences",
            "bench",
            "bench --gate --only dct",
            "bench compile_scaling --most 12500",
            "same-code HEAD --only suite",
            "accuracy --only sin,cos",
            "fuzz",
            "fuzz jumps --seeds 1..2",
            "fuzz api --sanitizer address",
            "stress --sanitizer thread",
            "appsdk /",
            "cts / --full --list basic",
            "cts / --compilation-mode spir-v basic/if",
            "offline-compiler --mode=spir-v --source=a.cl --output=a.spv --cl-device-info=i.txt -- -cl-std=CL3.0 -w",
            "dpctl",
            "dpctl --driver / -k device -x",
        ] {
            let words = std::iter::once("xtask").chain(line.split(' '));
            assert!(CommandLine::try_parse_from(words).is_ok(), "{line}");
        }
        for line in ["fuzzing", "demo now", "tidy --all", "package rpm"] {
            let words = std::iter::once("xtask").chain(line.split(' '));
            assert!(CommandLine::try_parse_from(words).is_err(), "{line}");
        }
    }
}
