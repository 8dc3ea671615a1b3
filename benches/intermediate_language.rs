//! The suite from SPIR-V beside the suite from OpenCL C, on one driver.
//!
//! clang and LLVM's back end make the modules of the sources. A kernel whose source they do not translate has no factor.

use std::process::ExitCode;

use clap::Parser;
use lockstep_benches::command_line::{Measurement, end_with, serve_as_child};
use lockstep_benches::compare::{Configuration, Team};
use lockstep_benches::side_by_side::SideBySide;
use lockstep_benches::suite;

/// How often each case is measured, if nothing else is said.
const ROUNDS: usize = 9;
/// How fast a kernel of a module is to be at least, where its source is as fast as one.
const WANTED: f64 = 0.97;

fn main() -> ExitCode {
    if serve_as_child() {
        return ExitCode::SUCCESS;
    }
    end_with("bench-intermediate_language", compare_languages(&Options::parse().measurement))
}

/// Measure the suite from SPIR-V beside the suite from OpenCL C
#[derive(Parser)]
struct Options {
    #[command(flatten)]
    measurement: Measurement,
}

fn compare_languages(measurement: &Measurement) -> Result<Vec<String>, String> {
    let source = Configuration { name: "OpenCL C".to_owned(), wanted: WANTED, ..Configuration::parse("default") };
    let compared = [source.with_modules(), source];
    let mut team = Team::new(compared.to_vec(), measurement.clock);
    let mut table = SideBySide::new(&compared);
    println!("{}", table.head());
    for case in suite::all().into_iter().filter(|case| measurement.chosen.wants(case.name)) {
        let cells = team.case(case, measurement.rounds.or(ROUNDS));
        println!("{}", table.row(case, cells));
        measurement.keep_numbers(&table.json())?;
    }
    print!("\n{}", table.means());
    Ok(table.errors)
}
