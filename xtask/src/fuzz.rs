//! `fuzz`: random kernels in every configuration against the interpreter, random OpenCL C with jumps against the generator's
//! own program, damaged SPIR-V modules, and random calls of the API, for as long as one likes.
//!
//! The work is done by tests of the compiler and of the conformance crate, which a test run gives little; here they are
//! told what, and optimised. This crate may not depend on the compiler.

use std::num::NonZeroUsize;
use std::ops::Range;

use anyhow::{Context, Result, ensure};

use crate::sanitizer::Sanitizer;
use crate::{driver, process, setup, workspace};

/// The seeds after those that a test run takes.
const SEEDS: Range<u64> = 2000..202_000;

/// The same of kernels with jumps.
const JUMP_SEEDS: Range<u64> = 1000..101_000;

/// Calls made from one seed.
const EPISODE: u64 = 50_000;

/// What the command is told.
#[derive(clap::Args)]
#[command(args_conflicts_with_subcommands = true)]
pub struct Options {
    #[command(subcommand)]
    kind: Option<Kind>,
    #[command(flatten)]
    kernels: Kernels,
}

#[derive(clap::Subcommand)]
enum Kind {
    /// Compare random OpenCL C with gotos, switches and loops in every configuration with the generator's own program
    Jumps(Kernels),
    /// Compare random kernels as without a subcommand, all of which call functions that stay functions
    Functions(Kernels),
    /// Make random calls of the API with good and bad arguments
    Api(Calls),
    /// Damage SPIR-V modules, and read them or make programs of them
    Spirv(Modules),
}

#[derive(Debug, PartialEq, Eq, clap::Args)]
struct Kernels {
    /// What the kernels are made from; if not told otherwise, 200,000 seeds (jumps: 100,000) that no test run takes
    #[arg(long, value_name = "A..B", value_parser = parse_seeds)]
    seeds: Option<Range<u64>>,
    /// Threads; if not told otherwise, as many as there are processors
    #[arg(long, value_name = "N")]
    jobs: Option<NonZeroUsize>,
    /// Of so many kernels, one becomes machine code, which takes ten times as long as all the interpreter does
    #[arg(long, value_name = "N", default_value = "1")]
    machine_code_every: NonZeroUsize,
}

#[derive(Debug, PartialEq, Eq, clap::Args)]
struct Calls {
    /// How many
    #[arg(long, value_name = "N", default_value_t = 10_000_000, value_parser = clap::value_parser!(u64).range(1..))]
    calls: u64,
    /// The first seed
    #[arg(long, value_name = "SEED", default_value_t = 0)]
    from: u64,
    /// Instrument the driver, with a nightly toolchain
    #[arg(long, value_parser = Sanitizer::parser(Sanitizer::Address))]
    sanitizer: Option<Sanitizer>,
}

#[derive(Debug, PartialEq, Eq, clap::Args)]
struct Modules {
    /// How many are read
    #[arg(long, value_name = "N", default_value_t = 10_000_000, value_parser = clap::value_parser!(u64).range(1..))]
    mutations: u64,
    /// How many more are compiled to machine code
    #[arg(long, value_name = "N", default_value_t = 100_000, value_parser = clap::value_parser!(u64).range(1..))]
    programs: u64,
}

/// Runs the command.
pub fn run(options: &Options) -> Result<()> {
    match &options.kind {
        None => fuzz_compiler("random_kernels", &options.kernels, SEEDS),
        Some(Kind::Jumps(kernels)) => fuzz_compiler("jumps_do_what_the_program_says", kernels, JUMP_SEEDS),
        Some(Kind::Functions(kernels)) => fuzz_compiler("kernels_that_call_functions", kernels, SEEDS),
        Some(Kind::Api(calls)) => fuzz_api(calls),
        Some(Kind::Spirv(modules)) => fuzz_modules(modules),
    }
}

/// Runs one of the compiler's fuzzing tests, optimised.
fn fuzz_compiler(test: &str, kernels: &Kernels, usual_seeds: Range<u64>) -> Result<()> {
    setup::run()?;
    let mut command = driver::cargo();
    command.args(["test", "--release", "--package", "lockstep-compiler", "--test", "fuzz", "--"]);
    command
        .args(["--nocapture", test])
        .env("LOCKSTEP_TEST_SEEDS", format!("{:?}", kernels.seeds.as_ref().unwrap_or(&usual_seeds)));
    command.env("LOCKSTEP_TEST_MACHINE_CODE", kernels.machine_code_every.to_string());
    if let Some(jobs) = kernels.jobs {
        command.env("LOCKSTEP_TEST_JOBS", jobs.to_string());
    }
    process::run(&mut command)
}

/// Damages SPIR-V modules, optimised. One test after the other: they measure the memory of their process.
fn fuzz_modules(modules: &Modules) -> Result<()> {
    setup::run()?;
    let mut command = driver::cargo();
    command.args(["test", "--release", "--package", "lockstep-compiler", "--test", "spirv_mutations", "--"]);
    command.args(["--nocapture", "--test-threads", "1", "damaged_modules"]);
    command.env("LOCKSTEP_TEST_MUTATIONS", modules.mutations.to_string());
    process::run(command.env("LOCKSTEP_TEST_PROGRAMS", modules.programs.to_string()))
}

/// Makes random calls of the API.
fn fuzz_api(request: &Calls) -> Result<()> {
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

/// Reads `A..B`.
fn parse_seeds(text: &str) -> Result<Range<u64>> {
    let (from, to) = text.split_once("..").context("seeds are given as FROM..TO")?;
    let (from, to): (u64, u64) = (from.parse()?, to.parse()?);
    ensure!(from < to, "there are no seeds in {text}");
    Ok(from..to)
}

#[cfg(test)]
mod tests {
    use super::*;

    use crate::tests::parsed;

    #[test]
    fn seeds_and_jobs() {
        let every: Kernels = parsed(&["--seeds", "5..70", "--jobs", "2", "--machine-code-every", "9"]).expect("valid");
        let number = NonZeroUsize::new;
        let machine_code_every = number(9).expect("not zero");
        assert_eq!(every, Kernels { seeds: Some(5..70), jobs: number(2), machine_code_every });
        let none: Kernels = parsed(&[]).expect("valid");
        assert_eq!((none.seeds, none.machine_code_every), (None, NonZeroUsize::MIN));
    }

    #[test]
    fn kinds_have_options_of_their_own() {
        let jumps: Options = parsed(&["jumps", "--seeds", "1..2"]).expect("valid");
        assert!(matches!(jumps.kind, Some(Kind::Jumps(Kernels { seeds: Some(_), .. }))));
        let functions: Options = parsed(&["functions", "--jobs", "1"]).expect("valid");
        assert!(matches!(functions.kind, Some(Kind::Functions(Kernels { seeds: None, .. }))));
        assert!(parsed::<Options>(&["--seeds", "1..2", "jumps"]).is_err());
        assert!(parsed::<Options>(&["api", "--seeds", "1..2"]).is_err());
    }

    #[test]
    fn calls_of_the_api() {
        assert_eq!(parsed::<Calls>(&[]).expect("valid"), Calls { calls: 10_000_000, from: 0, sanitizer: None });
        let all: Calls = parsed(&["--calls", "70", "--from", "3", "--sanitizer", "address"]).expect("valid");
        assert_eq!(all, Calls { calls: 70, from: 3, sanitizer: Some(Sanitizer::Address) });
        for wrong in [&["--calls", "0"][..], &["--calls"], &["--sanitizer", "thread"], &["--seeds", "1..2"]] {
            assert!(parsed::<Calls>(wrong).is_err(), "{wrong:?}");
        }
    }

    #[test]
    fn damaged_modules() {
        let options: Options = parsed(&["spirv", "--mutations", "7", "--programs", "3"]).expect("valid");
        assert!(matches!(options.kind, Some(Kind::Spirv(Modules { mutations: 7, programs: 3 }))));
        assert_eq!(parsed::<Modules>(&[]).expect("valid"), Modules { mutations: 10_000_000, programs: 100_000 });
        assert!(parsed::<Modules>(&["--mutations", "0"]).is_err());
    }

    #[test]
    fn what_makes_no_sense_is_refused() {
        for words in
            [["--seeds", "7..7"], ["--seeds", "9"], ["--jobs", "0"], ["--machine-code-every", "0"], ["--speed", "3"]]
        {
            assert!(parsed::<Kernels>(&words).is_err(), "{words:?}");
        }
        assert!(parsed::<Kernels>(&["--seeds"]).is_err());
    }
}
