//! What the benchmarks' programs have in common: options, and how they end.

use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{Args, Parser};
use serde_json::Value;

use crate::compare::{Clock, Configuration, WORKER};
use crate::{generated, suite, worker};

/// How often is measured.
#[derive(Clone, Debug, Args)]
pub struct Rounds {
    /// How often each case is measured
    #[arg(long, value_name = "N")]
    rounds: Option<NonZeroUsize>,
}

impl Rounds {
    /// The number, or this where none is given.
    pub fn or(&self, usual: usize) -> usize {
        self.rounds.map_or(usual, NonZeroUsize::get)
    }
}

/// Measure a driver through the ICD loader and print numbers
#[derive(Parser)]
struct OnlyRounds {
    #[command(flatten)]
    rounds: Rounds,
}

/// How often to measure, in a program that takes no other option.
pub fn read_rounds(usual: usize) -> usize {
    OnlyRounds::parse().rounds.or(usual)
}

/// Which cases are measured.
#[derive(Clone, Debug, Args)]
pub struct Chosen {
    /// Only the case of this name, or those whose names contain it; may be repeated
    #[arg(long, value_name = "NAME")]
    only: Vec<String>,
}

impl Chosen {
    /// Whether nothing is left out.
    pub fn are_all(&self) -> bool {
        self.only.is_empty()
    }

    /// Whether a case of this name is meant.
    pub fn wants(&self, name: &str) -> bool {
        let is_name = |part: &str| suite::find(part).is_some() || generated::find(part).is_some();
        let fits = |part: &String| if is_name(part) { name == part } else { name.contains(part.as_str()) };
        self.are_all() || self.only.iter().any(fits)
    }
}

/// What is measured of one driver, how, and where the numbers go.
#[derive(Clone, Debug, Args)]
pub struct Measurement {
    /// The cases of all that there are.
    #[command(flatten)]
    pub chosen: Chosen,
    /// How often each has its turn.
    #[command(flatten)]
    pub rounds: Rounds,
    /// What to measure
    #[arg(long, value_enum, default_value_t = Clock::Event)]
    pub clock: Clock,
    /// Keep the numbers
    #[arg(long, value_name = "PATH")]
    pub json: Option<PathBuf>,
}

impl Measurement {
    /// Keeps the numbers, if that is wanted.
    pub fn keep_numbers(&self, numbers: &Value) -> Result<(), String> {
        keep_json(self.json.as_deref(), numbers)
    }
}

/// Which drivers are compared, on what and how often.
#[derive(Clone, Debug, Args)]
pub struct Compared {
    /// A driver with other variables of its environment, the first to compare with the others; repeated
    #[arg(long = "driver", value_name = "NAME=VENDORS+VARIABLE=VALUE+...", required = true, value_parser = Configuration::driver)]
    pub drivers: Vec<Configuration>,
    /// The cases of all that there are.
    #[command(flatten)]
    pub chosen: Chosen,
    /// How often each has its turn.
    #[command(flatten)]
    pub rounds: Rounds,
}

/// Serves as a child of a comparison, where the command line says so; false where it does not.
pub fn serve_as_child() -> bool {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let is_child = words.first().is_some_and(|word| word == WORKER);
    if is_child {
        worker::serve(&words[1..]);
    }
    is_child
}

/// Says what went wrong: with kernels, or with the comparison itself.
pub fn end_with(program: &str, errors: Result<Vec<String>, String>) -> ExitCode {
    match errors {
        Ok(errors) if errors.is_empty() => ExitCode::SUCCESS,
        Ok(errors) => {
            errors.iter().for_each(|error| eprintln!("ERROR {error}"));
            ExitCode::FAILURE
        }
        Err(error) => {
            eprintln!("{program}: {error}");
            ExitCode::from(2)
        }
    }
}

/// Keeps numbers in a file, if there is to be one.
pub fn keep_json(path: Option<&Path>, numbers: &Value) -> Result<(), String> {
    let Some(path) = path else { return Ok(()) };
    std::fs::write(path, format!("{numbers:#}\n")).map_err(|error| format!("cannot write {}: {error}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_whole_name_means_one_case() {
        let chosen = |only: &[&str]| Chosen { only: only.iter().map(|&name| name.to_owned()).collect() };
        let both = chosen(&["dct", "nest"]);
        assert!(both.wants("dct") && both.wants("nest_1_1_k0") && !both.wants("dct_large"));
        assert!(chosen(&[]).wants("anything"));
    }

    #[test]
    fn numbers_kept_can_be_read() {
        let path = std::env::temp_dir().join(format!("lockstep-numbers-{}", std::process::id()));
        let numbers = serde_json::json!({ "a": [1, 2.5], "b": "\"\n" });
        keep_json(Some(&path), &numbers).expect("written");
        let text = std::fs::read_to_string(&path).expect("a file");
        std::fs::remove_file(&path).expect("removed");
        assert_eq!(serde_json::from_str::<Value>(&text).expect("JSON"), numbers);
        assert!(keep_json(Some(Path::new("/no/such/folder")), &numbers).is_err());
    }
}
