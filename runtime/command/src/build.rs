//! `lockstep build`: an offline compiler, with the options and messages of the API.

use std::path::PathBuf;
use std::process::ExitCode;

use lockstep_runtime::context::Context;
use lockstep_runtime::platform::Platform;

use crate::program_file::{BuildArguments, build_file};

/// What the command is told.
#[derive(clap::Args)]
pub struct Arguments {
    /// A source in OpenCL C, LLVM bitcode that clang made of one for spir64, or a binary that is to be made anew
    file: PathBuf,
    /// The binary to write, for clCreateProgramWithBinary
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
    #[command(flatten)]
    build: BuildArguments,
    /// More build options, each a word
    #[arg(last = true, value_name = "OPTIONS")]
    words: Vec<String>,
}

/// Builds a program and writes its binary.
pub fn run_command(arguments: &Arguments) -> ExitCode {
    let context = Context::new(vec![Platform::get().device().clone()], Vec::new(), None);
    let options = arguments.build.text_with(&arguments.words);
    let program = match build_file(&arguments.file, &context, &options) {
        Ok(program) => program,
        Err(failure) => {
            failure.report(&arguments.file);
            return ExitCode::FAILURE;
        }
    };
    // Warnings.
    eprint!("{}", program.state().log);
    match std::fs::write(&arguments.output, program.binary()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("lockstep: {}: {error}", arguments.output.display());
            ExitCode::FAILURE
        }
    }
}
