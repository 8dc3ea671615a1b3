//! Drivers side by side, as a program: what `bench-groups`, `bench-math` and their like have in common.
//!
//! A driver is named by what `OCL_ICD_VENDORS` has to be and other variables of its environment.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Parser;

use crate::case::Case;
use crate::command_line::{Compared, end_with, keep_json, serve_as_child};
use crate::compare::{Clock, Configuration, Team};
use crate::side_by_side::SideBySide;

/// What is run on the drivers.
pub struct Table {
    /// The program, in what it says.
    pub name: &'static str,
    /// The rows.
    pub cases: Vec<&'static Case>,
    /// Columns behind the drivers', made of the first driver's.
    pub more: fn(&Configuration) -> Vec<Configuration>,
    /// How many times as fast as each other driver the first is to be at least; below, a factor is marked.
    pub wanted: f64,
}

/// Serves as a child or runs the comparison, as the command line says.
pub fn run(table: Table) -> ExitCode {
    if serve_as_child() {
        return ExitCode::SUCCESS;
    }
    end_with(table.name, compare(table, Options::parse()))
}

/// How often each case is measured, if nothing else is said.
const ROUNDS: usize = 9;

/// Measure kernels on several drivers side by side
#[derive(Parser)]
struct Options {
    #[command(flatten)]
    compared: Compared,
    /// What to measure
    #[arg(long, value_enum, default_value_t = Clock::Wall)]
    clock: Clock,
    /// Keep the numbers
    #[arg(long, value_name = "PATH")]
    json: Option<PathBuf>,
}

fn compare(rows: Table, options: Options) -> Result<Vec<String>, String> {
    let Compared { mut drivers, chosen, rounds } = options.compared;
    drivers.iter_mut().for_each(|driver| driver.wanted = rows.wanted);
    drivers.extend((rows.more)(&drivers[0]));
    let mut team = Team::new(drivers.clone(), options.clock);
    let mut table = SideBySide::new(&drivers);
    println!("{}", table.head());
    for case in rows.cases.iter().filter(|case| chosen.wants(case.name)) {
        let cells = team.case(case, rounds.or(ROUNDS));
        println!("{}", table.row(case, cells));
        keep_json(options.json.as_deref(), &table.json())?;
    }
    print!("\n{}", table.means());
    Ok(table.errors)
}
