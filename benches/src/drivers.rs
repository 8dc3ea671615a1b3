//! Drivers side by side, as a program: what `bench-groups`, `bench-math` and their like have in common.
//!
//! `--driver NAME=VENDORS+NAME=VALUE+…` (repeated) names a driver by what `OCL_ICD_VENDORS` has to be and other variables
//! of its environment, the first to compare with the others; `--only NAME` (repeated) chooses all cases whose names
//! contain it; `--rounds N`; `--clock event|cpu|wall`; `--json PATH` keeps the numbers.

use std::process::ExitCode;

use crate::case::Case;
use crate::compare::{Clock, Configuration, Team, WORKER};
use crate::side_by_side::SideBySide;
use crate::worker;

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
    let words: Vec<String> = std::env::args().skip(1).collect();
    if words.first().is_some_and(|word| word == WORKER) {
        worker::serve(&words[1..]);
        return ExitCode::SUCCESS;
    }
    let name = table.name;
    match compare(table, &words) {
        Ok(errors) if errors.is_empty() => ExitCode::SUCCESS,
        Ok(errors) => {
            errors.iter().for_each(|error| eprintln!("ERROR {error}"));
            ExitCode::FAILURE
        }
        Err(error) => {
            eprintln!("{name}: {error}");
            ExitCode::from(2)
        }
    }
}

struct Request {
    drivers: Vec<Configuration>,
    only: Vec<String>,
    rounds: usize,
    clock: Clock,
    json: Option<String>,
}

impl Request {
    fn parse(words: &[String]) -> Result<Self, String> {
        let mut request = Self { drivers: Vec::new(), only: Vec::new(), rounds: 9, clock: Clock::Wall, json: None };
        let mut words = words.iter();
        while let Some(word) = words.next() {
            let value = words.next().ok_or_else(|| format!("{word} needs a value"))?;
            match (word.as_str(), value.as_str()) {
                ("--driver", text) => request.drivers.push(Configuration::driver(text)?),
                ("--only", part) => request.only.push(part.to_owned()),
                ("--rounds", number) => {
                    request.rounds =
                        number.parse().ok().filter(|&rounds| rounds > 0).ok_or("--rounds takes a number")?;
                }
                ("--clock", "event") => request.clock = Clock::Event,
                ("--clock", "cpu") => request.clock = Clock::Cpu,
                ("--clock", "wall") => request.clock = Clock::Wall,
                ("--json", path) => request.json = Some(path.to_owned()),
                _ => return Err(format!("does not know `{word} {value}`")),
            }
        }
        if request.drivers.is_empty() {
            return Err("which drivers? --driver NAME=VENDORS; `cargo xtask bench` knows".to_owned());
        }
        Ok(request)
    }

    fn wants(&self, name: &str) -> bool {
        self.only.is_empty() || self.only.iter().any(|part| name.contains(part))
    }
}

fn compare(rows: Table, words: &[String]) -> Result<Vec<String>, String> {
    let mut request = Request::parse(words)?;
    request.drivers.iter_mut().for_each(|driver| driver.wanted = rows.wanted);
    request.drivers.extend((rows.more)(&request.drivers[0]));
    let mut team = Team::new(request.drivers.clone(), request.clock);
    let mut table = SideBySide::new(&request.drivers);
    println!("{}", table.head());
    for case in rows.cases.iter().filter(|case| request.wants(case.name)) {
        let cells = team.case(case, request.rounds);
        println!("{}", table.row(case, cells));
        if let Some(path) = &request.json {
            std::fs::write(path, table.json()).map_err(|error| format!("cannot write {path}: {error}"))?;
        }
    }
    print!("\n{}", table.means());
    Ok(table.errors)
}
