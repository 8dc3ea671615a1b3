//! The suite from SPIR-V beside the suite from OpenCL C, on one driver.
//!
//! clang and LLVM's back end make the modules of the sources. A kernel whose source they do not translate has no factor.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Parser;
use lockstep_benches::command_line::{Chosen, Rounds, end_with, keep_json, serve_as_child};
use lockstep_benches::compare::{Clock, Configuration, Team};
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
    end_with("bench-intermediate_language", compare(&Options::parse()))
}

/// Measure the suite from SPIR-V beside the suite from OpenCL C
#[derive(Parser)]
struct Options {
    #[command(flatten)]
    chosen: Chosen,
    #[command(flatten)]
    rounds: Rounds,
    /// What to measure
    #[arg(long, value_enum, default_value_t = Clock::Event)]
    clock: Clock,
    /// Keep the numbers
    #[arg(long, value_name = "PATH")]
    json: Option<PathBuf>,
}

fn compare(options: &Options) -> Result<Vec<String>, String> {
    let source = Configuration { name: "OpenCL C".to_owned(), wanted: WANTED, ..Configuration::parse("default") };
    let compared = [source.with_modules(), source.clone()];
    // Whoever has the first turn measures slower than those that follow, so the first one does not count.
    let mut team = Team::new([&[source], &compared[..]].concat(), options.clock);
    let mut table = SideBySide::new(&compared);
    println!("{}", table.head());
    for case in suite::all().into_iter().filter(|case| options.chosen.wants(case.name)) {
        let cells = team.case(case, options.rounds.or(ROUNDS)).split_off(1);
        println!("{}", table.row(case, cells));
        keep_json(options.json.as_deref(), &table.json())?;
    }
    print!("\n{}", table.means());
    Ok(table.errors)
}
