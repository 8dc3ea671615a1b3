//! Lists the kernels whose machine code another build of the driver makes otherwise (`cargo xtask same-code`).
//!
//! `--this VENDORS` and `--base VENDORS` are what `OCL_ICD_VENDORS` has to be for the two builds, `--programs FOLDER` holds
//! the programs that the conformance tests build, `--folder FOLDER` receives what is made, `--only PART` (repeated) chooses.

use std::path::Path;
use std::process::ExitCode;

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
    let words: Vec<String> = std::env::args().skip(1).collect();
    if words.first().is_some_and(|word| word == WORKER) {
        child::serve();
        return ExitCode::SUCCESS;
    }
    let found = match compare(&words) {
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

fn compare(words: &[String]) -> Result<Comparison, String> {
    let [mut this, mut base, mut programs, mut folder] = [const { None }; 4];
    let mut only = Vec::new();
    let mut words = words.iter();
    while let Some(word) = words.next() {
        let value = words.next().ok_or_else(|| format!("{word} needs a value"))?;
        match word.as_str() {
            "--this" => this = Some(value),
            "--base" => base = Some(value),
            "--programs" => programs = Some(value),
            "--folder" => folder = Some(value),
            "--only" => only.push(value.clone()),
            _ => return Err(format!("does not know `{word} {value}`")),
        }
    }
    let (Some(this), Some(base), Some(programs), Some(folder)) = (this, base, programs, folder) else {
        return Err("--this, --base, --programs and --folder are needed; `cargo xtask same-code` knows".to_owned());
    };
    let jobs = Job::collect_all(Path::new(programs), &only)?;
    Comparison::of_builds([this, base], &jobs, Path::new(folder))
}
