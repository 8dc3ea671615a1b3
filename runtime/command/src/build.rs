//! `lockstep build`: an offline compiler, with the options and messages of the API.

use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Output};

use lockstep_protocol::feature_level::FeatureLevel;
use lockstep_runtime::context::Context;
use lockstep_runtime::platform::Platform;
use lockstep_runtime::processor::choose_level;
use lockstep_runtime::program::binary::join_binaries;

use crate::program_file::{BuildArguments, ProgramFailure, build_file};

/// What the command is told.
#[derive(clap::Args)]
pub struct Arguments {
    /// A source in OpenCL C, a SPIR-V module, LLVM IR that clang made of one for spir64 (bitcode, or text in a file `.ll`), or a binary that is to be made anew
    file: PathBuf,
    /// The binary to write, for clCreateProgramWithBinary
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
    /// The processors to make code for: this one's kind, or any of a level; of several targets the driver takes the best that the
    /// machine has
    ///
    /// Code for levels below x86-64-v3 rounds products and sums one after the other, that for x86-64-v4 has closer estimates of roots and
    /// quotients. A processor that can do more than a level takes its program and makes code of its own of it, so that all
    /// launches give the same bits: name all levels whose processors are not to compile.
    #[arg(long, value_delimiter = ',', value_parser = parse_target, default_value = NATIVE,
          value_name = "native|x86-64|x86-64-v2|x86-64-v3|x86-64-v4")]
    target: Vec<Target>,
    #[command(flatten)]
    build: BuildArguments,
    /// More build options, each a word
    #[arg(last = true, value_name = "BUILD_OPTIONS")]
    words: Vec<String>,
}

/// The name of [`Target::Native`].
const NATIVE: &str = "native";

/// What processors code is made for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Target {
    /// Those of this one's kind.
    Native,
    /// Those with the features of a level.
    Level(FeatureLevel),
}

impl Target {
    fn option_word(self) -> &'static str {
        match self {
            Target::Native => NATIVE,
            Target::Level(level) => level.psabi_name(),
        }
    }
}

fn parse_target(name: &str) -> Result<Target, String> {
    let level = FeatureLevel::from_name(name).map(Target::Level);
    level.or_else(|| (name == NATIVE).then_some(Target::Native)).ok_or_else(|| {
        let levels = FeatureLevel::ALL.map(FeatureLevel::psabi_name);
        format!("targets are {NATIVE}, {}", levels.join(", "))
    })
}

/// Builds a program and writes its binary.
pub fn run_command(arguments: &Arguments) -> ExitCode {
    let options = arguments.build.text_with(&arguments.words);
    let mut targets: Vec<Target> = Vec::new();
    for target in &arguments.target {
        if !targets.contains(target) {
            targets.push(*target);
        }
    }
    let made = match targets[..] {
        [target] => build_for_target(&arguments.file, &options, target),
        _ => build_editions(&arguments.file, &options, &targets),
    };
    let (binary, build_log) = match made {
        Ok(made) => made,
        Err(failure) => {
            failure.print_failure(&arguments.file);
            return ExitCode::FAILURE;
        }
    };
    // Warnings.
    eprint!("{build_log}");
    match std::fs::write(&arguments.output, binary) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("lockstep: {}: {error}", arguments.output.display());
            ExitCode::FAILURE
        }
    }
}

/// The binary of a program for one target, and the log of its build.
fn build_for_target(source_path: &Path, options: &str, target: Target) -> Result<(Vec<u8>, String), ProgramFailure> {
    if let Target::Level(level) = target {
        choose_level(level);
    }
    let context = Context::new(vec![Platform::get().device().clone()], Vec::new(), None);
    let program = build_file(source_path, &context, options)?;
    Ok((program.binary(), program.state().log))
}

/// The binary of a program for several targets, and the log of one of the builds, which say the same. Each has a process of its own, as all
/// code of a process is for one target.
fn build_editions(source_path: &Path, options: &str, targets: &[Target]) -> Result<(Vec<u8>, String), ProgramFailure> {
    // A file's name may begin as an option does.
    let source_path = std::path::absolute(source_path)?;
    let folder = tempfile::tempdir()?;
    let edition_path = folder.path().join("program.bin");
    let mut binaries = Vec::new();
    let mut build_log = String::new();
    for target in targets {
        let ended = run_own_build(&source_path, &edition_path, options, *target)?;
        build_log = String::from_utf8_lossy(&ended.stderr).into_owned();
        if !ended.status.success() {
            return Err(ProgramFailure::Build(build_log));
        }
        binaries.push(std::fs::read(&edition_path)?);
    }
    let joined_binary = join_binaries(&binaries).map_err(|reason| ProgramFailure::File(reason.to_owned()))?;
    Ok((joined_binary, build_log))
}

/// Has another process of this command build a program for one target.
fn run_own_build(source_path: &Path, edition_path: &Path, options: &str, target: Target) -> io::Result<Output> {
    Command::new(std::env::current_exe()?)
        .args(["build", "--target", target.option_word(), "--options", options, "--output"])
        .args([edition_path, source_path])
        .output()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn targets_have_names() {
        for name in ["native", "x86-64", "x86-64-v4"] {
            assert_eq!(parse_target(name).map(Target::option_word), Ok(name));
        }
        assert!(parse_target("x86-64-v5").expect_err("there is none").ends_with("x86-64-v3, x86-64-v4"));
    }
}
