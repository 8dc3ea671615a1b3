//! Lists the kernels whose machine code another build of the driver makes otherwise (`cargo xtask same-code`).

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Parser;

use lockstep_benches::compare::WORKER;
use lockstep_benches::same_code::jobs::Job;
use lockstep_benches::same_code::{Comparison, child};

/// Every kernel has the same code in both builds.
const SAME: u8 = 0;
/// Some kernel has not.
const DIFFERENT: u8 = 1;
/// The builds could not be compared.
const FAILED: u8 = 2;

fn main() -> ExitCode {
    if std::env::args().nth(1).is_some_and(|word| word == WORKER) {
        child::serve();
        return ExitCode::SUCCESS;
    }
    let found = match compare(&Options::parse()) {
        Ok(found) => found,
        Err(error) => {
            eprintln!("bench-same-code: {error}");
            return ExitCode::from(FAILED);
        }
    };
    found.errors.iter().for_each(|error| println!("ERROR {error}"));
    println!("{}", found.summary());
    match (found.errors.is_empty(), found.differing.is_empty()) {
        (true, true) => ExitCode::from(SAME),
        (true, false) => ExitCode::from(DIFFERENT),
        (false, _) => ExitCode::from(FAILED),
    }
}

/// Compare the machine code of two builds of the driver
#[derive(Parser)]
struct Options {
    /// What OCL_ICD_VENDORS has to be for this build
    #[arg(long, value_name = "VENDORS")]
    this: String,
    /// What OCL_ICD_VENDORS has to be for the other build
    #[arg(long, value_name = "VENDORS")]
    base: String,
    /// Where the programs are that the conformance tests build
    #[arg(long, value_name = "FOLDER")]
    programs: PathBuf,
    /// Where what is made goes
    #[arg(long, value_name = "FOLDER")]
    folder: PathBuf,
    /// Only kernels whose name contains this; may be repeated
    #[arg(long, value_name = "PART")]
    only: Vec<String>,
}

fn compare(options: &Options) -> Result<Comparison, String> {
    let jobs = Job::collect_all(&options.programs, &options.only)?;
    Comparison::of_builds([&options.this, &options.base], &jobs, &options.folder)
}
