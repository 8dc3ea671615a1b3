//! The suite in several configurations of the driver, side by side: kernels, and the time to compile large ones.
//!
//! `--configs A,B` names the configurations, the first to compare with; `--only NAME` (repeated) chooses a case, or
//! all whose names contain it; `--rounds N`; `--clock cpu` for a machine that others use; `--json PATH` keeps the numbers.
//! `--gate PATH` compares with a record of factors instead, `--record PATH` makes one.

use std::process::ExitCode;

use lockstep_benches::cases;
use lockstep_benches::compare::{Clock, Configuration, Team, WORKER};
use lockstep_benches::gate::{self, Record};
use lockstep_benches::generated::{self, GENERATED};
use lockstep_benches::report::Report;
use lockstep_benches::worker;

/// The driver's configurations, from none of its analyses to all (Karrenberg & Hack 2012, Table 1).
const CONFIGURATIONS: &str = "scalar,naive,unival,boscc,unicf";
/// Rounds of the compile benchmark are long and vary little.
const COMPILE_ROUNDS: usize = 3;

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    if words.first().is_some_and(|word| word == WORKER) {
        worker::serve(&words[1..]);
        return ExitCode::SUCCESS;
    }
    match compare(&words) {
        Ok(errors) if errors.is_empty() => ExitCode::SUCCESS,
        Ok(errors) => {
            errors.iter().for_each(|error| eprintln!("ERROR {error}"));
            ExitCode::FAILURE
        }
        Err(error) => {
            eprintln!("bench-vectorizer: {error}");
            ExitCode::from(2)
        }
    }
}

struct Request {
    configurations: Vec<Configuration>,
    only: Vec<String>,
    rounds: usize,
    clock: Clock,
    json: Option<String>,
    /// A record to compare with.
    gate: Option<String>,
    /// A record to make.
    record: Option<String>,
}

impl Request {
    fn parse(words: &[String]) -> Result<Self, String> {
        let list = |text: &str| text.split(',').map(Configuration::parse).collect();
        let mut request = Self {
            configurations: list(CONFIGURATIONS),
            only: Vec::new(),
            rounds: 7,
            clock: Clock::Event,
            json: None,
            gate: None,
            record: None,
        };
        let mut words = words.iter();
        while let Some(word) = words.next() {
            let value = words.next().ok_or_else(|| format!("{word} needs a value"))?;
            match word.as_str() {
                "--configs" => request.configurations = list(value),
                "--only" => request.only.push(value.clone()),
                "--rounds" => {
                    request.rounds =
                        value.parse().ok().filter(|&rounds| rounds > 0).ok_or("--rounds takes a number")?;
                }
                "--clock" if value == "cpu" => request.clock = Clock::Cpu,
                "--clock" if value == "event" => request.clock = Clock::Event,
                "--json" => request.json = Some(value.clone()),
                "--gate" => request.gate = Some(value.clone()),
                "--record" => request.record = Some(value.clone()),
                _ => return Err(format!("does not know `{word} {value}`")),
            }
        }
        Ok(request)
    }

    /// Writes what is known so far: a long run that is stopped has not been for nothing.
    fn keep(&self, report: &Report) -> Result<(), String> {
        let Some(path) = &self.json else { return Ok(()) };
        std::fs::write(path, report.json()).map_err(|error| format!("cannot write {path}: {error}"))
    }

    fn wants(&self, name: &str) -> bool {
        self.only.is_empty()
            || self.only.iter().any(|part| if is_name(part) { name == part } else { name.contains(part) })
    }
}

fn is_name(text: &str) -> bool {
    cases::find(text).is_some() || generated::find(text).is_some()
}

fn compare(words: &[String]) -> Result<Vec<String>, String> {
    let request = Request::parse(words)?;
    if let Some(path) = &request.record {
        return record(&request, path);
    }
    if let Some(path) = &request.gate {
        return gate(&request, path);
    }
    let mut team = Team::new(request.configurations.clone(), request.clock);
    let mut report = Report::new(&request.configurations);
    let cases: Vec<_> = cases::all().filter(|case| request.wants(case.name)).collect();
    let generated: Vec<_> = GENERATED.iter().filter(|generated| request.wants(generated.name)).collect();
    if cases.is_empty() && generated.is_empty() {
        return Err(format!("no case is called so: {}", request.only.join(", ")));
    }
    if !cases.is_empty() {
        println!("{}", report.case_head());
    }
    for case in cases {
        let cells = team.case(case, request.rounds);
        println!("{}", report.case(case, cells));
        request.keep(&report)?;
    }
    if !generated.is_empty() {
        println!("\n{}", report.compiled_head());
    }
    for generated in generated {
        let cells = team.compile(*generated, request.rounds.min(COMPILE_ROUNDS));
        println!("{}", report.compiled(*generated, cells));
        request.keep(&report)?;
    }
    let paper = report.paper();
    if !paper.is_empty() {
        print!("\nunicf over unival\n{paper}");
    }
    Ok(report.errors)
}

fn record(request: &Request, path: &str) -> Result<Vec<String>, String> {
    // Kernels that are not measured now keep what they have.
    let mut record = Record::parse(&std::fs::read_to_string(path).unwrap_or_default())?;
    let mut errors = Vec::new();
    for case in cases::all().filter(|case| request.wants(case.name)) {
        match gate::least(|| gate::measure(&mut gate::team(request.clock), case, request.rounds)) {
            Ok(factor) => {
                println!("{:<28} {factor:>6.2}x", case.name);
                record.put(gate::register_bits(), case.name, factor);
            }
            Err(error) => errors.push(format!("{}: {error}", case.name)),
        }
        std::fs::write(path, record.text()).map_err(|error| format!("cannot write {path}: {error}"))?;
    }
    Ok(errors)
}

fn gate(request: &Request, path: &str) -> Result<Vec<String>, String> {
    let text = std::fs::read_to_string(path).map_err(|error| format!("cannot read {path}: {error}"))?;
    let record = Record::parse(&text)?;
    let mut errors = Vec::new();
    for case in cases::all().filter(|case| request.wants(case.name)) {
        let measure = || gate::measure(&mut gate::team(request.clock), case, request.rounds);
        match gate::judge(&record, case.name, measure) {
            Ok(line) => println!("{line}"),
            Err(error) => errors.push(error),
        }
    }
    Ok(errors)
}
