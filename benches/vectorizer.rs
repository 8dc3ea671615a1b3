//! The suite in several configurations of the driver, side by side: kernels, and the time to compile large ones.
//!
//! With `--gate PATH` it compares with a record of factors instead, `--record PATH` makes one.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Parser;
use lockstep_benches::cases;
use lockstep_benches::command_line::{Measurement, end_with, serve_as_child};
use lockstep_benches::compare::{Configuration, Team};
use lockstep_benches::gate::{self, Record};
use lockstep_benches::generated::GENERATED;
use lockstep_benches::report::Report;

/// The driver's configurations, from none of its analyses to all (Karrenberg & Hack 2012, Table 1).
const CONFIGURATIONS: &str = "scalar,naive,unival,boscc,unicf";
/// Rounds of the compile benchmark are long and vary little.
const COMPILE_ROUNDS: usize = 3;
/// How often each case is measured, if nothing else is said.
const ROUNDS: usize = 7;

fn main() -> ExitCode {
    if serve_as_child() {
        return ExitCode::SUCCESS;
    }
    end_with("bench-vectorizer", run(&Options::parse()))
}

/// Measure the suite in several configurations of the driver
#[derive(Parser)]
struct Options {
    /// The configurations, the first to compare with
    #[arg(
        long,
        value_name = "A,B",
        value_delimiter = ',',
        default_value = CONFIGURATIONS,
        value_parser = |text: &str| Ok::<_, String>(Configuration::parse(text)),
    )]
    configs: Vec<Configuration>,
    #[command(flatten)]
    measurement: Measurement,
    /// Compare with a record of factors
    #[arg(long, value_name = "PATH", conflicts_with = "record")]
    gate: Option<PathBuf>,
    /// Make a record of factors
    #[arg(long, value_name = "PATH")]
    record: Option<PathBuf>,
}

impl Options {
    fn rounds(&self) -> usize {
        self.measurement.rounds.or(ROUNDS)
    }
}

fn run(options: &Options) -> Result<Vec<String>, String> {
    match (&options.record, &options.gate) {
        (Some(path), _) => record(options, path),
        (None, Some(path)) => gate(options, path),
        (None, None) => compare(options),
    }
}

fn compare(options: &Options) -> Result<Vec<String>, String> {
    let mut team = Team::new(options.configs.clone(), options.measurement.clock);
    let mut report = Report::new(&options.configs);
    let cases: Vec<_> = cases::all().filter(|case| options.measurement.chosen.wants(case.name)).collect();
    let generated: Vec<_> =
        GENERATED.iter().filter(|generated| options.measurement.chosen.wants(generated.name)).collect();
    if cases.is_empty() && generated.is_empty() {
        return Err("no case is called so".to_owned());
    }
    if !cases.is_empty() {
        println!("{}", report.case_head());
    }
    for case in cases {
        let cells = team.case(case, options.rounds());
        println!("{}", report.case(case, cells));
        options.measurement.keep_numbers(&report.json())?;
    }
    if !generated.is_empty() {
        println!("\n{}", report.compiled_head());
    }
    for generated in generated {
        let cells = team.compile(*generated, options.rounds().min(COMPILE_ROUNDS));
        println!("{}", report.compiled(*generated, cells));
        options.measurement.keep_numbers(&report.json())?;
    }
    let paper = report.paper();
    if !paper.is_empty() {
        print!("\nunicf over unival\n{paper}");
    }
    Ok(report.errors)
}

fn record(options: &Options, path: &Path) -> Result<Vec<String>, String> {
    // Kernels that are not measured now keep what they have.
    let mut record = Record::parse(&std::fs::read_to_string(path).unwrap_or_default())?;
    let mut errors = Vec::new();
    for case in cases::all().filter(|case| options.measurement.chosen.wants(case.name)) {
        match gate::least(|| gate::measure(&mut gate::team(options.measurement.clock), case, options.rounds())) {
            Ok(factor) => {
                println!("{:<28} {factor:>6.2}x", case.name);
                record.put(gate::register_bits(), case.name, factor);
            }
            Err(error) => errors.push(format!("{}: {error}", case.name)),
        }
        std::fs::write(path, record.text()).map_err(|error| format!("cannot write {}: {error}", path.display()))?;
    }
    Ok(errors)
}

fn gate(options: &Options, path: &Path) -> Result<Vec<String>, String> {
    let text = std::fs::read_to_string(path).map_err(|error| format!("cannot read {}: {error}", path.display()))?;
    let record = Record::parse(&text)?;
    let mut errors = Vec::new();
    for case in cases::all().filter(|case| options.measurement.chosen.wants(case.name)) {
        let measure = || gate::measure(&mut gate::team(options.measurement.clock), case, options.rounds());
        match gate::judge(&record, case.name, measure) {
            Ok(line) => println!("{line}"),
            Err(error) => errors.push(error),
        }
    }
    Ok(errors)
}
