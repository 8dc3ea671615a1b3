//! The evidence: the papers' two tables as they are today, in one run. Our configurations side by side, one thread; those of the
//! paper with nothing else that could differ ([`isolated`]); then our driver beside others and the machine's limits, all threads.
//!
//! The page gets what follows from the numbers, and a chart beside it, for each width of registers its own. Of a run that is a
//! part, the rest of the numbers stays as it was.

mod chart;
mod isolated;
mod machine;
mod page;
mod papers;
mod record;

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use clap::{Parser, ValueEnum};
use indicatif::{ProgressBar, ProgressStyle};

use self::machine::Machine;
use self::record::{Evidence, Row, Table};
use crate::case::Case;
use crate::command_line::{Chosen, Rounds, end_with, serve_as_child};
use crate::compare::{Clock, Configuration, Team};
use crate::suite;

/// The driver's configurations, from none of its analyses to all (Karrenberg & Hack 2012, Table 1), and untouched.
const CONFIGURATIONS: [&str; 6] = ["scalar", "naive", "unival", "boscc", "unicf", "default"];
const ROUNDS: usize = 5;
/// The chart beside the page, with the width of the machine's registers behind it.
const CHART: &str = "performance";
/// Some drivers need more than this for one kernel; the others must not wait for them.
const PATIENCE: Duration = Duration::from_secs(40);

/// Serves as a child or makes the tables, as the command line says.
pub fn run() -> ExitCode {
    if serve_as_child() {
        return ExitCode::SUCCESS;
    }
    end_with("bench-evidence", Options::parse().answer())
}

/// Make the tables of the performance page
#[derive(Debug, Parser)]
struct Options {
    /// A driver with other variables of its environment, the first to compare with the others; repeated
    #[arg(long = "driver", value_name = "NAME=VENDORS+VARIABLE=VALUE+...", value_parser = Configuration::driver)]
    drivers: Vec<Configuration>,
    #[command(flatten)]
    chosen: Chosen,
    /// Measure one of the tables
    #[arg(long)]
    table: Option<TableName>,
    #[command(flatten)]
    rounds: Rounds,
    /// Where the numbers are kept
    #[arg(long, value_name = "PATH")]
    json: PathBuf,
    /// The page that gets the tables, and a chart beside it
    #[arg(long, value_name = "PATH")]
    page: Option<PathBuf>,
    /// Leave out what the numbers have
    #[arg(long)]
    resume: bool,
    /// Measure nothing
    #[arg(long)]
    write: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum TableName {
    /// Our configurations side by side, one thread
    Configurations,
    /// The paper's configurations at one layout and width and without passes that the paper does not have, one thread, with intervals
    Isolated,
    /// Our driver beside others and the machine's limits, all threads
    Drivers,
}

impl TableName {
    fn table(self, evidence: &mut Evidence) -> &mut Table {
        match self {
            Self::Configurations => &mut evidence.configurations,
            Self::Isolated => &mut evidence.isolated,
            Self::Drivers => &mut evidence.drivers,
        }
    }
}

/// What is measured for a table.
struct TablePlan {
    name: TableName,
    /// The first is the one that the others are compared with.
    columns: Vec<Configuration>,
    /// How many of the first columns are our driver.
    ours: usize,
    rows: Vec<&'static Case>,
    clock: Clock,
    rounds: usize,
}

impl Options {
    fn wants_table(&self, name: TableName) -> bool {
        self.table.is_none_or(|table| table == name)
    }

    /// Measures what is wanted and writes what follows; what went wrong with kernels.
    fn answer(&self) -> Result<Vec<String>, String> {
        let parts = self.resume || self.write || !self.chosen.are_all() || self.table.is_some();
        let mut evidence = if parts { Evidence::read(&self.json)? } else { Evidence::default() };
        let mut errors = Vec::new();
        if !self.write {
            println!("the machine's limits");
            evidence.machine = Machine::measure();
            println!("{}", page::machine(&evidence.machine));
            for name in [TableName::Configurations, TableName::Isolated, TableName::Drivers] {
                if self.wants_table(name) {
                    let plan = self.plan(name, &evidence.machine);
                    errors.extend(self.fill(&mut evidence, plan)?);
                }
            }
        }
        if let Some(path) = &self.page {
            let chart = format!("{CHART}-{}.svg", evidence.machine.register_bits);
            let text = std::fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))?;
            keep(path, &page::with_tables(&text, &evidence, &chart)?)?;
            keep(&path.with_file_name(chart), &chart::drawn(&evidence)?)?;
        }
        Ok(errors)
    }

    /// What a table has.
    fn plan(&self, name: TableName, machine: &Machine) -> TablePlan {
        let (columns, ours, rows, clock, rounds) = match name {
            TableName::Configurations => (
                CONFIGURATIONS.map(Configuration::parse).to_vec(),
                CONFIGURATIONS.len(),
                suite::alone(),
                Clock::Event,
                ROUNDS,
            ),
            TableName::Isolated => {
                let columns = isolated::list_columns(machine.register_bits);
                let ours = columns.len();
                (columns, ours, isolated::list_cases(), Clock::Event, isolated::ROUNDS)
            }
            TableName::Drivers => {
                let limit = Configuration::limits()[1].clone();
                (self.drivers.iter().cloned().chain([limit]).collect(), 1, suite::all(), Clock::Wall, ROUNDS)
            }
        };
        TablePlan { name, columns, ours, rows, clock, rounds: self.rounds.or(rounds) }
    }

    /// Measures a table's rows, each written down at once: a run that is stopped has not been for nothing. What went wrong
    /// in the first columns, which are ours; another driver's failures stand in the table.
    fn fill(&self, evidence: &mut Evidence, plan: TablePlan) -> Result<Vec<String>, String> {
        let TablePlan { name, columns, ours, rows, clock, rounds } = plan;
        let names: Vec<String> = columns.iter().map(|column| column.name.clone()).collect();
        let order: Vec<&str> = rows.iter().map(|case| case.name).collect();
        name.table(evidence).fit(&names)?;
        let has = |evidence: &mut Evidence, case: &Case| self.resume && name.table(evidence).has(case.name);
        let wanted: Vec<_> =
            rows.into_iter().filter(|case| self.chosen.wants(case.name) && !has(evidence, case)).collect();
        let bar = ProgressBar::new(wanted.len() as u64);
        if let Ok(style) = ProgressStyle::with_template("{wide_bar} {pos}/{len} {msg}, {eta} left") {
            bar.set_style(style);
        }
        let mut team = Team::new(columns, clock).patience(PATIENCE);
        let mut errors = Vec::new();
        println!("\n{}", page::line_of_names(&names));
        for case in wanted {
            bar.set_message(case.name);
            bar.tick();
            let row = Row::of(case.name, rounds, team.case(case, rounds));
            errors.extend(row.errors(&names[..ours]));
            bar.suspend(|| println!("{}", page::line(&row)));
            name.table(evidence).put(row, &order);
            evidence.write(&self.json)?;
            bar.inc(1);
        }
        bar.finish_and_clear();
        Ok(errors)
    }
}

fn keep(path: &Path, text: &str) -> Result<(), String> {
    std::fs::write(path, text).map_err(|error| format!("cannot write {}: {error}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(line: &str) -> Result<Options, clap::Error> {
        Options::try_parse_from(std::iter::once("bench-evidence").chain(line.split(' ')))
    }

    #[test]
    fn a_run_can_be_a_part() {
        let options = parsed("--json x --only dct --only nest --table drivers --rounds 2 --resume").expect("valid");
        assert!(options.chosen.wants("dct") && !options.chosen.wants("dct_large"));
        assert!(options.wants_table(TableName::Drivers) && !options.wants_table(TableName::Configurations));
        assert!(options.resume && options.rounds.or(ROUNDS) == 2);
        let all = parsed("--json x --driver a=b/").expect("valid");
        assert!(all.wants_table(TableName::Configurations) && all.rounds.or(ROUNDS) == ROUNDS);
    }

    #[test]
    fn wrong_words_are_refused() {
        for line in
            ["--only dct", "--json x --rounds 0", "--json x --table peers", "--json x --lines", "--json x --driver a"]
        {
            assert!(parsed(line).is_err(), "{line}");
        }
    }
}
