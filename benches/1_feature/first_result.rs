//! Time to the first result: from `clCreateProgramWithSource` to the end of the first launch of every kernel, of programs that no
//! driver has seen before, on several drivers in turn; and the same in a second process, which finds on disk what the first one left.

use std::process::ExitCode;
use std::time::Duration;

use clap::Parser;
use lockstep_benches::Spread;
use lockstep_benches::command_line::{Compared, end_with, serve_as_child};
use lockstep_benches::compare::{Clock, Configuration, TIERS, Team};
use lockstep_benches::first_result::PROGRAMS;
use lockstep_benches::suite;
use lockstep_conformance::loader::CACHE;

/// Measure how long programs take to their first results, on several drivers side by side
#[derive(Parser)]
struct Options {
    #[command(flatten)]
    compared: Compared,
}

fn main() -> ExitCode {
    if serve_as_child() {
        return ExitCode::SUCCESS;
    }
    end_with("first_result", compare_drivers(&Options::parse().compared))
}

/// Medians of one program on one driver, in milliseconds.
#[derive(Clone, Copy, Debug, Default)]
struct Medians {
    build: f64,
    launches: f64,
}

impl Medians {
    fn total(self) -> f64 {
        self.build + self.launches
    }
}

/// The drivers' times, and what failed.
struct Comparison<'a> {
    options: &'a Compared,
    drivers: Vec<Configuration>,
    errors: Vec<String>,
}

fn compare_drivers(options: &Compared) -> Result<Vec<String>, String> {
    let mut drivers = options.drivers.clone();
    for driver in &mut drivers {
        // First results come from what an application gets.
        driver.environment.insert(0, (TIERS.to_owned(), "1".to_owned()));
    }
    let names: Vec<&str> = options.drivers.iter().map(|driver| driver.name.as_str()).collect();
    println!("milliseconds: build + first launches = total (share of the driver's)\n{:<28}{}", "", names.join("  "));
    let mut comparison = Comparison { options, drivers, errors: Vec::new() };
    comparison.print_first_process();
    comparison.print_second_process();
    Ok(comparison.errors)
}

impl Comparison<'_> {
    fn start_team(&self) -> Team {
        Team::new(self.drivers.clone(), Clock::Wall)
    }

    fn chosen_programs(&self) -> impl Iterator<Item = &'static str> + use<> {
        let chosen = self.options.chosen.clone();
        PROGRAMS.into_iter().filter(move |program| chosen.wants(program))
    }

    fn measure(&mut self, team: &mut Team, program: &str) -> Option<Vec<Medians>> {
        let measured = measure_program(team, program, self.options.rounds.or(5));
        measured.map_err(|error| self.errors.push(format!("{program}: {error}"))).ok()
    }

    /// Prints the rows of programs that nobody has built before.
    fn print_first_process(&mut self) {
        let mut team = self.start_team();
        for program in self.chosen_programs() {
            self.measure(&mut team, program).iter().for_each(|row| print_row(program, row));
        }
        let mut sums = vec![Medians::default(); self.drivers.len()];
        for case in suite::all().into_iter().filter(|case| self.options.chosen.wants(case.name)) {
            let Some(row) = self.measure(&mut team, case.name) else { continue };
            print_row(case.name, &row);
            for (sum, medians) in sums.iter_mut().zip(row) {
                sum.build += medians.build;
                sum.launches += medians.launches;
            }
        }
        print_row("programs of the suite", &sums);
    }

    /// Prints the rows of a process that finds on disk what another one left there.
    fn print_second_process(&mut self) {
        let cache = std::env::temp_dir().join(format!("lockstep-first-result-{}", std::process::id()));
        for driver in &mut self.drivers {
            driver.environment.push((CACHE.to_owned(), cache.display().to_string()));
        }
        let mut first_process = self.start_team();
        self.chosen_programs().for_each(|program| _ = self.measure(&mut first_process, program));
        drop(first_process);
        let mut second_process = self.start_team();
        for program in self.chosen_programs() {
            let row = self.measure(&mut second_process, program);
            row.iter().for_each(|row| print_row(&format!("{program}, second process"), row));
        }
        drop(second_process);
        // Other drivers make no such folder.
        let _ = std::fs::remove_dir_all(cache);
    }
}

fn print_row(heading: &str, row: &[Medians]) {
    println!("{heading:<28}{}", describe_row(row));
}

/// Asks all drivers in turn, as often as said.
fn measure_program(team: &mut Team, program: &str, rounds: usize) -> Result<Vec<Medians>, String> {
    let mut samples: Vec<[Vec<Duration>; 2]> = Vec::new();
    // The first round loads what a driver loads once.
    for round in 0..=rounds {
        let answers = team.ask_all(&format!("first {program} {round}"), "times");
        samples.resize_with(answers.len(), Default::default);
        for (sample, answer) in samples.iter_mut().zip(answers) {
            let nanoseconds: Vec<u64> = answer?.split(' ').filter_map(|word| word.parse().ok()).collect();
            let [build, launches] = nanoseconds[..] else { return Err("an answer without two times".to_owned()) };
            if round > 0 {
                sample[0].push(Duration::from_nanos(build));
                sample[1].push(Duration::from_nanos(launches));
            }
        }
    }
    let median = |times: Vec<Duration>| Spread::of(times).median.as_secs_f64() * 1e3;
    Ok(samples
        .into_iter()
        .map(|[build, launches]| Medians { build: median(build), launches: median(launches) })
        .collect())
}

/// One cell a driver; behind the others stands what part of theirs the first one takes.
fn describe_row(row: &[Medians]) -> String {
    let first = row.first().map_or(0.0, |medians| medians.total());
    let cells = row.iter().enumerate().map(|(index, medians)| {
        let share = if index == 0 { String::new() } else { format!(" ({:.2})", first / medians.total().max(1e-6)) };
        format!("{:.1} + {:.1} = {:.1}{share}", medians.build, medians.launches, medians.total())
    });
    cells.collect::<Vec<_>>().join("   ")
}
