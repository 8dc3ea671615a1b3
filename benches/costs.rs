//! Measures what the constants of the cost model stand for, and says which are off (`cargo xtask bench costs`).

use std::process::ExitCode;
use std::time::Duration;

use clap::Parser;
use lockstep_benches::case::Case;
use lockstep_benches::command_line::{Rounds, end_with, serve_as_child};
use lockstep_benches::compare::{Clock, Configuration, Team};
use lockstep_benches::costs::model::{ask_model, host_registers};
use lockstep_benches::costs::rows::{ROWS, Row};
use lockstep_benches::costs::{clock_case, convert_time, find_row_cases};

/// How often each case is measured, if nothing else is said.
const ROUNDS: usize = 5;

/// How the driver runs gangs of as many work-items as the rows have.
const GANGS: &str = "unicf+LOCKSTEP_WIDTH=16";
/// How it runs work-items one after the other.
const WORK_ITEMS: &str = "scalar";

/// A constant is off that is more than a third away from what was measured.
const TOLERANCE: f64 = 1.0 / 3.0;

/// Differences up to here mean nothing: the model counts in whole numbers.
const LEAST_DIFFERENCE: f64 = 1.0;

/// Measure what the constants of the cost model stand for
#[derive(Parser)]
struct Options {
    /// Only rows whose names contain this; may be repeated
    #[arg(long, value_name = "NAME")]
    only: Vec<String>,
    #[command(flatten)]
    rounds: Rounds,
}

fn main() -> ExitCode {
    if serve_as_child() {
        return ExitCode::SUCCESS;
    }
    end_with("bench-costs", measure_rows(&Options::parse()))
}

/// The driver in both configurations.
struct Drivers {
    gangs: Team,
    work_items: Team,
    rounds: usize,
}

/// Prints the table; what could not be measured. That a constant is off is no error.
fn measure_rows(options: &Options) -> Result<Vec<String>, String> {
    let team = |configuration| Team::new(vec![Configuration::parse(configuration)], Clock::Event);
    let mut drivers = Drivers { gangs: team(GANGS), work_items: team(WORK_ITEMS), rounds: options.rounds.or(ROUNDS) };
    let registers = host_registers();
    println!("registers of {} bits\n| row | of a | model | measured | measured / model |", registers.bits());
    println!("| --- | --- | --: | --: | --: |");
    let (mut errors, mut off_count, mut row_count) = (Vec::new(), 0, 0);
    for (index, row) in ROWS.iter().enumerate() {
        if !options.only.is_empty() && !options.only.iter().any(|part| row.name.contains(part.as_str())) {
            continue;
        }
        match drivers.measure_row(index, row) {
            Ok(found) => {
                let model = ask_model(row, registers);
                let difference = (found - model).abs();
                let is_off = difference > TOLERANCE * model && difference > LEAST_DIFFERENCE;
                off_count += usize::from(is_off);
                row_count += 1;
                let mark = if is_off { " off" } else { "" };
                let Row { name, mode, .. } = row;
                println!(
                    "| {name} | {} | {model:.0} | {found:.1} | {:.2}{mark} |",
                    mode.describe_mode(),
                    found / model
                );
            }
            Err(error) => errors.push(format!("{}: {error}", row.name)),
        }
    }
    println!("{off_count} of {row_count} rows are off by more than a third");
    Ok(errors)
}

impl Drivers {
    /// What a row's operation takes, in the model's unit.
    fn measure_row(&mut self, index: usize, row: &Row) -> Result<f64, String> {
        let cases = find_row_cases(index);
        // The machine's clock changes with what else it does.
        let clock = self.run(clock_case(), false)?;
        let with = self.run(cases.with, row.mode.is_of_gang())?;
        let without = match cases.without {
            Some(case) => self.run(case, row.mode.is_of_gang())?,
            None => Duration::ZERO,
        };
        let nanoseconds = |time: Duration| time.as_nanos() as f64;
        let took = nanoseconds(with) - nanoseconds(without);
        Ok(convert_time(row.mode, row.per_step, took, nanoseconds(clock)))
    }

    /// The time that a tenth of the runs of a case fall below: nothing but other work on the machine makes a run longer.
    fn run(&mut self, case: &Case, in_gangs: bool) -> Result<Duration, String> {
        let team = if in_gangs { &mut self.gangs } else { &mut self.work_items };
        team.case(case, self.rounds).pop().expect("each team has one driver").map(|measured| measured.time.low)
    }
}
