//! How precise the divergence analysis is (`cargo xtask bench precision`): what it says of the kernels of the suite beside what the lanes
//! of gangs of 16 do in the interpreter, and beside what the analyses of two papers say.
//!
//! Each kernel runs with the inputs of its cases, at most 2^10 work-items of them, in full groups and in a range that is no multiple of
//! 16. A branch of which an analysis says that lanes may part there, and they never did, is a false positive. Then each kernel runs with
//! other inputs, made of those: which of the false positives are none, because another input parts the lanes.

mod inputs;
mod profiles;
mod subjects;
mod table;

use std::process::ExitCode;

use clap::Parser;
use lockstep_benches::case::Case;
use lockstep_benches::suite;

use crate::profiles::Profiles;
use crate::subjects::Suite;

/// Compare what the divergence analysis says of the suite's kernels with what lanes do
#[derive(Parser)]
struct Options {
    /// Only the case of this name, or those whose names contain it; may be repeated
    #[arg(long, value_name = "NAME")]
    only: Vec<String>,
    /// Name the branches that are false positives
    #[arg(long)]
    list: bool,
}

fn main() -> ExitCode {
    match compare_analyses(&Options::parse()) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("bench-precision: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Prints the table; whether the driver's own analysis made no mistake.
fn compare_analyses(options: &Options) -> Result<bool, String> {
    let suite = Suite::of_cases(&chosen_cases(&options.only))?;
    let profiles = Profiles::of_suite(&suite)?;
    table::print_table(&suite, &profiles);
    if options.list {
        table::list_false_positives(&suite, &profiles);
    }
    let mistakes = table::find_mistakes(&suite, &profiles);
    mistakes.iter().for_each(|mistake| println!("MISTAKE {mistake}"));
    Ok(mistakes.is_empty())
}

/// The cases of the suite whose names contain one of these parts. Those of large data launch the same kernels as others.
fn chosen_cases(only: &[String]) -> Vec<&'static Case> {
    let is_chosen = |case: &&Case| only.is_empty() || only.iter().any(|part| case.name.contains(part.as_str()));
    suite::all().into_iter().filter(|case| !case.name.ends_with("_large")).filter(is_chosen).collect()
}
