//! `fuzz`: random kernels in every configuration against the interpreter, for as long as one likes.
//!
//! The work is done by a test of the compiler, which a test run gives few kernels; here it is told which, and
//! optimised. This crate may not depend on the compiler.

use anyhow::{Context, Result, bail};

use crate::driver;
use crate::{process, setup};

/// The seeds after those that a test run takes.
const SEEDS: &str = "2000..202000";

/// Runs the command: `fuzz [--seeds A..B] [--jobs N] [--machine-code-every N]`.
pub fn run(arguments: &[String]) -> Result<()> {
    let request = Request::parse(arguments)?;
    setup::run()?;
    let mut command = driver::cargo();
    command.args(["test", "--release", "--package", "lockstep-compiler", "--test", "fuzz", "--"]);
    command.args(["--nocapture", "random_kernels"]).env("LOCKSTEP_TEST_SEEDS", &request.seeds);
    command.env("LOCKSTEP_TEST_MACHINE_CODE", &request.machine_code_every);
    if let Some(jobs) = &request.jobs {
        command.env("LOCKSTEP_TEST_JOBS", jobs);
    }
    process::run(&mut command)
}

#[derive(Debug, PartialEq, Eq)]
struct Request {
    /// `A..B`.
    seeds: String,
    /// Threads; none: as many as there are processors.
    jobs: Option<String>,
    /// Of so many kernels, one becomes machine code, which takes ten times as long as all the interpreter does.
    machine_code_every: String,
}

impl Request {
    fn parse(arguments: &[String]) -> Result<Self> {
        let mut request = Self { seeds: SEEDS.to_owned(), jobs: None, machine_code_every: "1".to_owned() };
        let mut words = arguments.iter();
        while let Some(word) = words.next() {
            let value = words.next().with_context(|| format!("{word} needs a value"))?;
            match word.as_str() {
                "--seeds" => {
                    let (from, to) = value.split_once("..").context("seeds are given as FROM..TO")?;
                    let (from, to): (u64, u64) = (from.parse()?, to.parse()?);
                    if from >= to {
                        bail!("there are no seeds in {value}");
                    }
                    request.seeds.clone_from(value);
                }
                "--jobs" => request.jobs = Some(positive(word, value)?),
                "--machine-code-every" => request.machine_code_every = positive(word, value)?,
                other => bail!("fuzz does not know `{other}`"),
            }
        }
        Ok(request)
    }
}

fn positive(option: &str, value: &str) -> Result<String> {
    let _: std::num::NonZeroUsize = value.parse().with_context(|| format!("{option} {value}"))?;
    Ok(value.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(words: &[&str]) -> Result<Request> {
        Request::parse(&words.iter().map(|&word| word.to_owned()).collect::<Vec<_>>())
    }

    #[test]
    fn seeds_and_jobs() {
        let request = parsed(&["--seeds", "5..70", "--jobs", "2", "--machine-code-every", "9"]).expect("valid");
        let seeds = "5..70".to_owned();
        assert_eq!(request, Request { seeds, jobs: Some("2".to_owned()), machine_code_every: "9".to_owned() });
        assert_eq!(parsed(&[]).expect("valid").seeds, SEEDS);
    }

    #[test]
    fn what_makes_no_sense_is_refused() {
        for words in
            [["--seeds", "7..7"], ["--seeds", "9"], ["--jobs", "0"], ["--machine-code-every", "0"], ["--speed", "3"]]
        {
            assert!(parsed(&words).is_err(), "{words:?}");
        }
        assert!(parsed(&["--seeds"]).is_err());
    }
}
