//! `fuzz`: random kernels in every configuration against the interpreter, random OpenCL C with jumps against the generator's
//! own program, and random calls of the API, for as long as one likes.
//!
//! The work is done by tests of the compiler and of the conformance crate, which a test run gives little; here they are
//! told what, and optimised. This crate may not depend on the compiler.

use anyhow::{Context, Result, bail};

use crate::sanitizer::Sanitizer;
use crate::{driver, process, setup, workspace};

/// The seeds after those that a test run takes.
const SEEDS: &str = "2000..202000";

/// The same of kernels with jumps.
const JUMP_SEEDS: &str = "1000..101000";

/// Calls made from one seed.
const EPISODE: u64 = 50_000;

/// Runs the command: `fuzz [jumps] [--seeds A..B] [--jobs N] [--machine-code-every N]`, or `fuzz api [--calls N] [--from SEED]
/// [--sanitizer address]`.
pub fn run(arguments: &[String]) -> Result<()> {
    match arguments.split_first() {
        Some((first, rest)) if first == "api" => api(&Calls::parse(rest)?),
        Some((first, rest)) if first == "jumps" => {
            fuzz_compiler("jumps_do_what_the_program_says", &Request::parse(rest, JUMP_SEEDS)?)
        }
        _ => fuzz_compiler("random_kernels", &Request::parse(arguments, SEEDS)?),
    }
}

/// Runs one of the compiler's fuzzing tests, optimised.
fn fuzz_compiler(test: &str, request: &Request) -> Result<()> {
    setup::run()?;
    let mut command = driver::cargo();
    command.args(["test", "--release", "--package", "lockstep-compiler", "--test", "fuzz", "--"]);
    command.args(["--nocapture", test]).env("LOCKSTEP_TEST_SEEDS", &request.seeds);
    command.env("LOCKSTEP_TEST_MACHINE_CODE", &request.machine_code_every);
    if let Some(jobs) = &request.jobs {
        command.env("LOCKSTEP_TEST_JOBS", jobs);
    }
    process::run(&mut command)
}

/// Random calls of the API.
fn api(request: &Calls) -> Result<()> {
    setup::run()?;
    let test = ["test", "--release", "--package", "lockstep-conformance", "--test", "api_fuzz"];
    let (vendors, mut command) = match request.sanitizer {
        Some(sanitizer) => {
            process::run(&mut sanitizer.cargo(&["build", "--release", "--package", "lockstep-icd"]))?;
            let folder = sanitizer.results().join("icd");
            std::fs::create_dir_all(&folder).with_context(|| format!("cannot make {}", folder.display()))?;
            driver::write_icd(&folder.join("lockstep.icd"), &sanitizer.release().join("liblockstep.so"))?;
            (folder, sanitizer.cargo(&test))
        }
        None => {
            driver::build()?;
            (workspace::icd_directory(), driver::cargo_with(&test))
        }
    };
    let episodes = request.calls.div_ceil(EPISODE);
    command.args(["--", "--nocapture", "random_calls"]).env(driver::VENDORS, format!("{}/", vendors.display()));
    command.env("LOCKSTEP_TEST_SEEDS", format!("{}..{}", request.from, request.from + episodes));
    command.env("LOCKSTEP_TEST_CALLS", request.calls.min(EPISODE).to_string());
    process::run(&mut command)
}

#[derive(Debug, PartialEq, Eq)]
struct Calls {
    calls: u64,
    /// The first seed.
    from: u64,
    sanitizer: Option<Sanitizer>,
}

impl Calls {
    fn parse(arguments: &[String]) -> Result<Self> {
        let mut request = Self { calls: 10_000_000, from: 0, sanitizer: None };
        let mut words = arguments.iter();
        while let Some(word) = words.next() {
            let value = words.next().with_context(|| format!("{word} needs a value"))?;
            match (word.as_str(), value.as_str()) {
                ("--calls", _) => request.calls = positive(word, value)?.parse()?,
                ("--from", _) => request.from = value.parse().with_context(|| format!("{word} {value}"))?,
                ("--sanitizer", "address") => request.sanitizer = Some(Sanitizer::Address),
                _ => bail!("fuzz api does not know `{word} {value}`"),
            }
        }
        Ok(request)
    }
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
    fn parse(arguments: &[String], seeds: &str) -> Result<Self> {
        let mut request = Self { seeds: seeds.to_owned(), jobs: None, machine_code_every: "1".to_owned() };
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
        Request::parse(&words.iter().map(|&word| word.to_owned()).collect::<Vec<_>>(), SEEDS)
    }

    #[test]
    fn seeds_and_jobs() {
        let request = parsed(&["--seeds", "5..70", "--jobs", "2", "--machine-code-every", "9"]).expect("valid");
        let seeds = "5..70".to_owned();
        assert_eq!(request, Request { seeds, jobs: Some("2".to_owned()), machine_code_every: "9".to_owned() });
        assert_eq!(parsed(&[]).expect("valid").seeds, SEEDS);
    }

    #[test]
    fn calls_of_the_api() {
        let parsed = |words: &[&str]| Calls::parse(&words.iter().map(|&word| word.to_owned()).collect::<Vec<_>>());
        assert_eq!(parsed(&[]).expect("valid"), Calls { calls: 10_000_000, from: 0, sanitizer: None });
        let all = parsed(&["--calls", "70", "--from", "3", "--sanitizer", "address"]).expect("valid");
        assert_eq!(all, Calls { calls: 70, from: 3, sanitizer: Some(Sanitizer::Address) });
        for wrong in [&["--calls", "0"][..], &["--calls"], &["--sanitizer", "thread"], &["--seeds", "1..2"]] {
            assert!(parsed(wrong).is_err(), "{wrong:?}");
        }
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
