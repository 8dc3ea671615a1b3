//! The evidence: the papers' two tables as they are today, in one run. Our configurations side by side, one thread; then our
//! driver beside others and the machine's limits, all threads.
//!
//! `--driver NAME=VENDORS+…` (repeated) names a driver, the first to compare with the others; `--json PATH` keeps the numbers,
//! `--page PATH` gets what follows from them, and a chart beside it, for each width of registers its own. `--rounds N`,
//! `--only NAME` (repeated; exact, or all whose names contain it) and `--table configurations|drivers` make a run shorter.
//! `--resume` leaves out what the JSON has; with `--only` and `--table` as well the rest of it stays. `--write` measures
//! nothing.

mod chart;
mod machine;
mod page;
mod papers;
mod record;

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};

use self::machine::Machine;
use self::record::{Evidence, Row, Table};
use crate::case::Case;
use crate::compare::{Clock, Configuration, Team, WORKER};
use crate::{suite, worker};

/// The driver's configurations, from none of its analyses to all (Karrenberg & Hack 2012, Table 1), and untouched.
const CONFIGURATIONS: [&str; 6] = ["scalar", "naive", "unival", "boscc", "unicf", "default"];
const ROUNDS: usize = 5;
/// The chart beside the page, with the width of the machine's registers behind it.
const CHART: &str = "performance";
/// Some drivers need more than this for one kernel; the others must not wait for them.
const PATIENCE: Duration = Duration::from_secs(40);

/// Serves as a child or makes the tables, as the command line says.
pub fn run() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    if words.first().is_some_and(|word| word == WORKER) {
        worker::serve(&words[1..]);
        return ExitCode::SUCCESS;
    }
    match Request::parse(&words).and_then(|request| request.answer()) {
        Ok(errors) if errors.is_empty() => ExitCode::SUCCESS,
        Ok(errors) => {
            errors.iter().for_each(|error| eprintln!("ERROR {error}"));
            ExitCode::FAILURE
        }
        Err(error) => {
            eprintln!("bench-evidence: {error}");
            ExitCode::from(2)
        }
    }
}

#[derive(Debug, Default, PartialEq)]
struct Request {
    drivers: Vec<Configuration>,
    only: Vec<String>,
    /// One table alone.
    table: Option<String>,
    rounds: usize,
    json: PathBuf,
    page: Option<PathBuf>,
    resume: bool,
    write: bool,
}

impl Request {
    fn parse(words: &[String]) -> Result<Self, String> {
        let mut request = Self { rounds: ROUNDS, ..Self::default() };
        let mut words = words.iter();
        while let Some(word) = words.next() {
            let mut value = || words.next().ok_or_else(|| format!("{word} needs a value"));
            match word.as_str() {
                "--driver" => request.drivers.push(Configuration::driver(value()?)?),
                "--only" => request.only.push(value()?.clone()),
                "--table" => request.table = Some(value()?.clone()),
                "--rounds" => {
                    let rounds = value()?.parse().ok().filter(|&rounds| rounds > 0);
                    request.rounds = rounds.ok_or("--rounds takes a number")?;
                }
                "--json" => request.json = value()?.into(),
                "--page" => request.page = Some(value()?.into()),
                "--resume" => request.resume = true,
                "--write" => request.write = true,
                _ => return Err(format!("does not know `{word}`")),
            }
        }
        if request.json.as_os_str().is_empty() {
            return Err("where do the numbers go? --json PATH; `cargo xtask bench` knows".to_owned());
        }
        if request.table.as_ref().is_some_and(|name| !["configurations", "drivers"].contains(&name.as_str())) {
            return Err("--table takes configurations or drivers".to_owned());
        }
        Ok(request)
    }

    fn wants(&self, name: &str) -> bool {
        let matches =
            |part: &String| if suite::find(part).is_some() { name == part } else { name.contains(part.as_str()) };
        self.only.is_empty() || self.only.iter().any(matches)
    }

    fn wants_table(&self, name: &str) -> bool {
        self.table.as_ref().is_none_or(|table| table == name)
    }

    /// Measures what is wanted and writes what follows; what went wrong with kernels.
    fn answer(&self) -> Result<Vec<String>, String> {
        let parts = self.resume || self.write || !self.only.is_empty() || self.table.is_some();
        let mut evidence = if parts { Evidence::read(&self.json)? } else { Evidence::default() };
        let mut errors = Vec::new();
        if !self.write {
            println!("the machine's limits");
            evidence.machine = Machine::measure();
            println!("{}", page::machine(&evidence.machine));
            if self.wants_table("configurations") {
                let columns = CONFIGURATIONS.map(Configuration::parse).to_vec();
                let ours = columns.len();
                let rows = suite::alone();
                errors.extend(self.fill(
                    &mut evidence,
                    |evidence| &mut evidence.configurations,
                    columns,
                    ours,
                    rows,
                    Clock::Event,
                )?);
            }
            if self.wants_table("drivers") {
                let mut columns = self.drivers.clone();
                columns.push(Configuration::limits()[1].clone());
                let rows = suite::all();
                errors.extend(self.fill(
                    &mut evidence,
                    |evidence| &mut evidence.drivers,
                    columns,
                    1,
                    rows,
                    Clock::Wall,
                )?);
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

    /// Measures a table's rows, each written down at once: a run that is stopped has not been for nothing. What went wrong
    /// in the first `ours` columns; another driver's failures stand in the table.
    fn fill(
        &self,
        evidence: &mut Evidence,
        table: impl Fn(&mut Evidence) -> &mut Table,
        columns: Vec<Configuration>,
        ours: usize,
        rows: Vec<&'static Case>,
        clock: Clock,
    ) -> Result<Vec<String>, String> {
        let names: Vec<String> = columns.iter().map(|column| column.name.clone()).collect();
        let order: Vec<&str> = rows.iter().map(|case| case.name).collect();
        table(evidence).fit(&names)?;
        let has = |evidence: &mut Evidence, case: &Case| self.resume && table(evidence).has(case.name);
        let wanted: Vec<_> = rows.into_iter().filter(|case| self.wants(case.name) && !has(evidence, case)).collect();
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
            let row = Row::of(case.name, self.rounds, team.case(case, self.rounds));
            errors.extend(row.errors(&names[..ours]));
            bar.suspend(|| println!("{}", page::line(&row)));
            table(evidence).put(row, &order);
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

    fn parsed(line: &str) -> Result<Request, String> {
        let words: Vec<String> = line.split(' ').map(str::to_owned).collect();
        Request::parse(&words)
    }

    #[test]
    fn a_run_can_be_a_part() {
        let request = parsed("--json x --only dct --only nest --table drivers --rounds 2 --resume").expect("valid");
        assert!(request.wants("dct") && request.wants("nest_1_1_k0") && !request.wants("dct_large"));
        assert!(request.wants_table("drivers") && !request.wants_table("configurations"));
        assert!(request.resume && request.rounds == 2);
        assert!(parsed("--json x").expect("valid").wants("anything"));
    }

    #[test]
    fn wrong_words_are_refused() {
        assert!(parsed("--only dct").is_err());
        assert!(parsed("--json x --rounds 0").is_err());
        assert!(parsed("--json x --table peers").is_err());
        assert!(parsed("--json x --lines").is_err());
    }
}
