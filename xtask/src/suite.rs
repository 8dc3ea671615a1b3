//! Runs the programs of a foreign test suite, each in a process of its own under
//! a time limit, and compares how they end with what is expected.

use std::collections::BTreeMap;
use std::fmt;
use std::io::Write;
use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};
use serde::Deserialize;

use crate::process::{self, Finished};

/// How one test of a foreign suite ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// It checked its results and they are right.
    Passed,
    /// It ended well but checks nothing.
    Ran,
    /// It says itself that it does not apply to this device.
    Skipped,
    /// It found wrong results or an error.
    Failed,
    /// A signal ended it.
    Crashed,
    /// It did not end within its limit.
    TimedOut,
    /// A library it is linked with is not on this machine.
    CannotStart,
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Passed => "passed",
            Self::Ran => "ran",
            Self::Skipped => "skipped",
            Self::Failed => "FAILED",
            Self::Crashed => "CRASHED",
            Self::TimedOut => "TIMED OUT",
            Self::CannotStart => "cannot start",
        })
    }
}

/// A verdict and a few words on why.
#[derive(Debug, PartialEq, Eq)]
pub struct Judgement {
    /// The verdict.
    pub verdict: Verdict,
    /// Why, where it is not plain.
    pub note: String,
}

/// An entry of an expectations file.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Expectation {
    /// How the test ends, where that is not `passed`.
    pub expect: Option<Verdict>,
    /// Why it does not pass; required with `expect`.
    pub reason: Option<String>,
    /// Arguments in place of the usual ones.
    pub arguments: Option<Vec<String>>,
    /// Arguments that a shortened run has besides.
    #[serde(default)]
    pub shortening: Vec<String>,
    /// Variables of its environment beyond the usual ones.
    #[serde(default)]
    pub environment: BTreeMap<String, String>,
    /// Seconds in place of the usual limit.
    pub limit: Option<u64>,
    /// Whether the program is not told which test to run, as it has one and takes the name for something else.
    #[serde(default)]
    pub unnamed: bool,
}

/// Entries by test name.
pub type Expectations = BTreeMap<String, Expectation>;

impl Expectation {
    /// The verdict that is no surprise.
    pub fn verdict(&self) -> Verdict {
        self.expect.unwrap_or(Verdict::Passed)
    }

    /// Refuses an exception without a reason.
    pub fn check(&self, name: &str) -> Result<()> {
        let reasoned = self.reason.as_ref().is_some_and(|reason| !reason.trim().is_empty());
        if self.expect.is_some() && !reasoned {
            bail!("the exception for {name} gives no reason");
        }
        Ok(())
    }
}

/// One test to run.
pub struct Case<'a> {
    /// Its name in tables.
    pub name: String,
    /// The program with its arguments and environment.
    pub command: Command,
    /// How long it may take.
    pub limit: Duration,
    /// Where its output goes.
    pub log: PathBuf,
    /// What is expected of it.
    pub expectation: &'a Expectation,
}

/// How many surprises are repeated at the end of a run.
const SHOWN: usize = 30;

/// What a whole run came to.
#[derive(Default)]
pub struct Summary {
    counts: BTreeMap<Verdict, usize>,
    unexpected: Vec<String>,
    seconds: f64,
    /// The tests that ran.
    ran: Vec<String>,
}

impl Summary {
    /// Runs one test, prints its line of the table and counts it.
    pub fn run(&mut self, mut case: Case<'_>, judge: impl Fn(&Finished) -> Judgement) -> Result<()> {
        let finished = process::run_limited(&mut case.command, case.limit)?;
        if let Some(folder) = case.log.parent() {
            std::fs::create_dir_all(folder)?;
        }
        std::fs::write(&case.log, &finished.output).with_context(|| format!("cannot write {}", case.log.display()))?;
        let judgement = judge(&finished);
        let seconds = finished.elapsed.as_secs_f64();
        let expected = case.expectation.verdict();
        let mut note = judgement.note;
        if judgement.verdict != expected {
            note = format!("UNEXPECTED, not `{expected}`; {note}");
            self.unexpected.push(format!("{}: {}", case.name, judgement.verdict));
        } else if let Some(reason) = &case.expectation.reason {
            note.clone_from(reason);
        }
        let line = format!("{:<40} {:<12} {seconds:>7.1} s  {note}", case.name, judgement.verdict);
        println!("{}", line.trim_end());
        // A long run is watched through a pipe.
        std::io::stdout().flush().ok();
        *self.counts.entry(judgement.verdict).or_default() += 1;
        self.seconds += seconds;
        self.ran.push(case.name);
        Ok(())
    }

    /// Prints the totals; surprises are an error, and names that no test has.
    pub fn finish(self, suite: &str, request: &Request) -> Result<()> {
        let counts: Vec<String> = self
            .counts
            .iter()
            .map(|(verdict, count)| format!("{count} {}", verdict.to_string().to_lowercase()))
            .collect();
        println!(
            "{suite}: {} tests in {:.0} s: {}",
            self.counts.values().sum::<usize>(),
            self.seconds,
            counts.join(", ")
        );
        let count = self.unexpected.len();
        if count > 0 {
            let mut shown: Vec<&str> = self.unexpected.iter().take(SHOWN).map(String::as_str).collect();
            if count > SHOWN {
                shown.push("…");
            }
            bail!(
                "{count} unexpected (what passes unexpectedly needs its exception removed):\n  {}",
                shown.join("\n  ")
            );
        }
        let unknown = |wanted: &&String| !self.ran.iter().any(|name| name.starts_with(wanted.as_str()));
        let unknown: Vec<&String> = request.names.iter().filter(unknown).collect();
        ensure!(unknown.is_empty(), "no test is called {unknown:?}");
        ensure!(!self.ran.is_empty(), "there are no tests");
        println!("{suite}: everything as expected");
        Ok(())
    }
}

/// What both runners are told.
#[derive(Clone, clap::Args)]
pub struct Request {
    /// The suite's folder
    // Children run with the folder as their working directory.
    #[arg(value_name = "DIR", value_parser = |path: &str| std::fs::canonicalize(path))]
    pub directory: PathBuf,
    /// Test another driver: its library, its .icd file or the folder of that
    #[arg(long, value_name = "PATH")]
    pub vendors: Option<String>,
    /// Only tests whose names start with one of these
    #[arg(value_name = "NAME")]
    pub names: Vec<String>,
}

impl Request {
    /// Whether a test of this name is asked for.
    pub fn wants(&self, name: &str) -> bool {
        self.names.is_empty() || self.names.iter().any(|wanted| name.starts_with(wanted.as_str()))
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::tests::parsed;

    fn case<'a>(name: &str, script: &str, expectation: &'a Expectation) -> Case<'a> {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        Case {
            name: name.to_owned(),
            command,
            limit: Duration::from_secs(20),
            log: std::env::temp_dir().join(format!("xtask-suite-{}-{name}", std::process::id())),
            expectation,
        }
    }

    fn request(names: &[&str]) -> Request {
        let names = names.iter().map(|&name| name.to_owned()).collect();
        Request { directory: PathBuf::new(), vendors: None, names }
    }

    fn by_exit_code(finished: &Finished) -> Judgement {
        Judgement {
            verdict: match finished.ending {
                process::Ending::Exited(0) => Verdict::Passed,
                _ => Verdict::Failed,
            },
            note: String::new(),
        }
    }

    #[test]
    fn an_unexpected_pass_is_a_failure_of_the_run() {
        let broken =
            Expectation { expect: Some(Verdict::Failed), reason: Some("known".to_owned()), ..Expectation::default() };
        let mut summary = Summary::default();
        summary.run(case("a", "exit 1", &broken), by_exit_code).expect("runs");
        assert!(summary.unexpected.is_empty());
        summary.run(case("b", "exit 0", &broken), by_exit_code).expect("runs");
        assert_eq!(summary.unexpected, ["b: passed"]);
        assert!(summary.finish("suite", &request(&[])).is_err());
    }

    #[test]
    fn names_that_no_test_has_and_no_tests_are_failures() {
        let fine = Expectation::default();
        for (names, good) in [(&["d"][..], true), (&[], true), (&["d", "other"], false)] {
            let mut summary = Summary::default();
            let case = case("d/e", "exit 0", &fine);
            let log = case.log.clone();
            summary.run(case, by_exit_code).expect("runs");
            std::fs::remove_dir_all(log.parent().expect("a folder")).expect("removed");
            assert_eq!(summary.finish("suite", &request(names)).is_ok(), good, "{names:?}");
        }
        assert!(Summary::default().finish("suite", &request(&[])).is_err());
    }

    #[test]
    fn a_run_as_expected_succeeds_and_keeps_the_output() {
        let fine = Expectation::default();
        let mut summary = Summary::default();
        let case = case("c", "echo said", &fine);
        let log = case.log.clone();
        summary.run(case, by_exit_code).expect("runs");
        assert_eq!(std::fs::read_to_string(&log).expect("written"), "said\n");
        std::fs::remove_file(log).expect("removed");
        assert!(summary.finish("suite", &request(&[])).is_ok());
    }

    #[test]
    fn an_exception_needs_a_reason() {
        let entries: Expectations = toml::from_str("[a]\nexpect = \"timed-out\"\n[b]\nlimit = 9\n").expect("valid");
        assert!(entries["a"].check("a").is_err());
        assert!(entries["b"].check("b").is_ok());
        assert_eq!(entries["a"].verdict(), Verdict::TimedOut);
    }

    #[test]
    fn a_misspelt_key_is_refused() {
        assert!(toml::from_str::<Expectations>("[a]\nexpects = \"failed\"\n").is_err());
    }

    #[test]
    fn requests_are_read() {
        let request: Request = parsed(&["--vendors", "v", "/", "Bitonic"]).expect("valid");
        assert_eq!((request.vendors.as_deref(), request.directory.as_path()), (Some("v"), Path::new("/")));
        assert!(request.wants("BitonicSort") && !request.wants("Histogram"));
        for wrong in [&[][..], &["/", "--x"], &["/no such folder"]] {
            assert!(parsed::<Request>(wrong).is_err(), "{wrong:?}");
        }
    }
}
