//! `bench`: runs a benchmark through the ICD loader, on this driver or another.

use std::ffi::{OsStr, OsString};
use std::num::NonZeroUsize;
use std::process::Command;

use anyhow::{Context, Result};
use clap::{Args, Subcommand, ValueEnum};

use crate::driver::{self, VENDORS};
use crate::peers::{self, Peer};
use crate::progress::step;
use crate::{process, setup, workspace};

/// The page whose tables the benchmark without a name writes, with a chart beside it.
const PAGE: &str = "docs/performance.md";
/// The recorded factors that no kernel may fall behind.
const RECORD: &str = "benches/factors.txt";
/// What the benchmarks can measure: the launches' events, processor time, the time that an application waits.
const CLOCKS: [&str; 3] = ["event", "cpu", "wall"];
/// The crate of the benchmarks that measure drivers.
const OF_DRIVERS: &str = "lockstep-benches";
/// That of the one which measures the compiler's analysis and needs no driver.
const WITHOUT_DRIVER: &str = "lockstep-precision";
/// Which platform the benchmarks take; theirs and the conformance tests' own variable.
const PLATFORM: &str = "LOCKSTEP_TEST_PLATFORM";

/// What the command is told. Without a name it makes the tables of the performance page: it measures the suite in our
/// configurations and beside other drivers, keeps the numbers in `target/bench/evidence.json`, and writes the page's
/// tables and chart from them.
#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub struct Options {
    #[command(subcommand)]
    benchmark: Option<Benchmark>,
    #[command(flatten)]
    evidence: Evidence,
}

#[derive(Debug, Subcommand)]
enum Benchmark {
    /// How long programs take to build and to launch first
    Build(OneDriver),
    /// What the driver's choice of width, layout and passes loses to the best one, for each kernel of the suite
    Choices(Choices),
    /// How compile time grows with the size of kernels of several shapes and of long sources, and which stage is to blame
    #[command(name = "compile_scaling")]
    CompileScaling(Growth),
    /// What the constants of the cost model stand for, and which are off
    Costs(Costs),
    /// How long programs take from their source to their first results, beside other drivers
    #[command(name = "first-result")]
    FirstResult(SideBySide),
    /// The native_ and half_ forms beside the plain functions, and other drivers
    Forms(SideBySide),
    /// Kernels with work-groups beside other drivers
    Groups(SideBySide),
    /// What calls cost that do no work on the device
    Host(OneDriver),
    /// Kernels on images beside other drivers
    Images(SideBySide),
    /// The suite from SPIR-V beside the suite from OpenCL C
    IntermediateLanguage(OneSuite),
    /// What launches cost
    Launch(OneDriver),
    /// Throughput of the math functions beside other drivers
    Math(SideBySide),
    /// What buffers cost
    Memory(OneDriver),
    /// How precise the divergence analysis is, beside those of two papers and what lanes do
    Precision(Precision),
    /// The suite of kernels in several configurations of the driver
    Vectorizer(Vectorizer),
}

#[derive(Debug, Args)]
struct Evidence {
    #[command(flatten)]
    cases: Cases,
    /// Measure one of the tables
    #[arg(long)]
    table: Option<Table>,
    /// Go on where a run was stopped
    #[arg(long)]
    resume: bool,
    /// Measure nothing, write the tables and the chart
    #[arg(long)]
    write: bool,
    #[command(flatten)]
    columns: Columns,
    /// Fail where a kernel has become slower than recorded
    #[arg(long, conflicts_with_all = ["record", "table", "resume", "write", "drivers"])]
    gate: bool,
    /// Record how fast the kernels are, for --gate
    #[arg(long, conflicts_with_all = ["table", "resume", "write", "drivers"])]
    record: bool,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Table {
    /// Kernels of one file in our configurations
    Configurations,
    /// The paper's configurations at one layout and width and without passes that the paper does not have
    Isolated,
    /// The suite beside other drivers
    Drivers,
}

#[derive(Debug, Args)]
struct Cases {
    /// Only the case of this name, or those whose names contain it; may be repeated
    #[arg(long, value_name = "NAME")]
    only: Vec<String>,
    #[command(flatten)]
    rounds: Rounds,
}

#[derive(Debug, Args)]
struct Rounds {
    /// How often each case is measured
    #[arg(long, value_name = "N")]
    rounds: Option<NonZeroUsize>,
}

#[derive(Debug, Args)]
struct Columns {
    /// A driver besides Intel's runtime and PoCL, which are installed into target/peers; may be repeated
    #[arg(long = "driver", value_name = "NAME=PATH")]
    drivers: Vec<String>,
}

#[derive(Debug, Args)]
struct OneDriver {
    #[command(flatten)]
    driver: AnotherDriver,
    #[command(flatten)]
    rounds: Rounds,
}

#[derive(Debug, Args)]
struct AnotherDriver {
    /// Measure another driver: its library, its .icd file or the folder of that
    #[arg(long, value_name = "PATH", requires = "platform")]
    vendors: Option<String>,
    /// The name of its platform
    #[arg(long, value_name = "NAME", requires = "vendors")]
    platform: Option<String>,
}

#[derive(Debug, Args)]
struct Growth {
    #[command(flatten)]
    driver: AnotherDriver,
    /// Only this shape
    #[arg(long, value_name = "SHAPE")]
    only: Option<String>,
    #[command(flatten)]
    rounds: Rounds,
    /// Only kernels of up to so many instructions
    #[arg(long, value_name = "INSTRUCTIONS")]
    most: Option<NonZeroUsize>,
}

#[derive(Debug, Args)]
struct Costs {
    /// Only rows whose names contain this; may be repeated
    #[arg(long, value_name = "NAME")]
    only: Vec<String>,
    #[command(flatten)]
    rounds: Rounds,
}

#[derive(Debug, Args)]
struct Precision {
    /// Only the case of this name, or those whose names contain it; may be repeated
    #[arg(long, value_name = "NAME")]
    only: Vec<String>,
    /// Name the branches that are false positives
    #[arg(long)]
    list: bool,
}

#[derive(Debug, Args)]
struct Vectorizer {
    #[command(flatten)]
    driver: AnotherDriver,
    #[command(flatten)]
    cases: Cases,
    /// The configurations, the first to compare with
    #[arg(long, value_name = "A,B")]
    configs: Option<String>,
    /// What to measure; cpu for a machine that others use
    #[arg(long, value_parser = CLOCKS)]
    clock: Option<String>,
}

#[derive(Debug, Args)]
struct Choices {
    #[command(flatten)]
    cases: Cases,
    /// What to measure; cpu for a machine that others use
    #[arg(long, value_parser = CLOCKS)]
    clock: Option<String>,
}

#[derive(Debug, Args)]
struct OneSuite {
    #[command(flatten)]
    driver: AnotherDriver,
    #[command(flatten)]
    cases: Cases,
    /// What to measure; cpu for a machine that others use
    #[arg(long, value_parser = CLOCKS)]
    clock: Option<String>,
}

#[derive(Debug, Args)]
struct SideBySide {
    #[command(flatten)]
    cases: Cases,
    #[command(flatten)]
    columns: Columns,
    /// What to measure; cpu for a machine that others use
    #[arg(long, value_parser = CLOCKS)]
    clock: Option<String>,
}

/// Runs the command.
pub fn run(options: &Options) -> Result<()> {
    let plan = Plan::of(options)?;
    setup::run()?;
    let vendors = match &plan.vendors {
        Some(path) => Some(driver::vendors_for(path)?),
        None if plan.package == WITHOUT_DRIVER => None,
        None => {
            driver::build()?;
            Some(workspace::vendors())
        }
    };
    let building = step("build the benchmarks (release)");
    process::run(driver::cargo().args(["build", "--release", "--package", plan.package]))?;
    building.done();
    let mut command = Command::new(workspace::target().join(format!("release/bench-{}", plan.program)));
    command.args(&plan.words).envs(vendors.map(|vendors| (VENDORS, vendors)));
    if let Some(drivers) = &plan.drivers {
        command.arg("--driver").arg(format!("lockstep={}", workspace::vendors()));
        let named: Result<Vec<Peer>> = drivers.iter().map(|text| peers::named(text)).collect();
        for peer in peers::all().into_iter().chain(named?) {
            command.arg("--driver").arg(peer.word()?);
        }
    }
    if let Some(platform) = &plan.platform {
        command.env(PLATFORM, platform);
    }
    process::run(&mut command)
}

/// How a benchmark is run.
#[derive(Debug, Default)]
struct Plan {
    /// The crate that it is in.
    package: &'static str,
    /// The program's name behind `bench-`.
    program: &'static str,
    /// What it is told.
    words: Vec<OsString>,
    /// What the loader is to find in our driver's place.
    vendors: Option<String>,
    /// The platform of that driver.
    platform: Option<String>,
    /// The columns that are named, where it compares drivers.
    drivers: Option<Vec<String>>,
}

impl Plan {
    fn of(options: &Options) -> Result<Self> {
        match &options.benchmark {
            None => Self::of_suite(&options.evidence),
            Some(Benchmark::Build(one)) => Ok(Self::of_one_driver("build", one)),
            Some(Benchmark::Choices(choices)) => {
                let plan = Self::new("choices").cases(&choices.cases);
                plan.option("--clock", choices.clock.as_ref()).keeping_numbers()
            }
            Some(Benchmark::CompileScaling(growth)) => {
                let plan = Self::new("compile_scaling").on(&growth.driver).rounds(&growth.rounds);
                Ok(plan.option("--only", growth.only.as_ref()).option("--most", growth.most.map(text)))
            }
            Some(Benchmark::Costs(costs)) => {
                let plan = Self::new("costs").rounds(&costs.rounds);
                Ok(costs.only.iter().fold(plan, |plan, name| plan.option("--only", Some(name))))
            }
            Some(Benchmark::FirstResult(columns)) => Ok(Self::of_drivers("first_result", columns)),
            Some(Benchmark::Forms(columns)) => Self::of_columns("forms", columns),
            Some(Benchmark::Groups(columns)) => Self::of_columns("groups", columns),
            Some(Benchmark::Host(one)) => Ok(Self::of_one_driver("host", one)),
            Some(Benchmark::Images(columns)) => Self::of_columns("images", columns),
            Some(Benchmark::IntermediateLanguage(suite)) => {
                let plan = Self::new("intermediate_language").on(&suite.driver).cases(&suite.cases);
                plan.option("--clock", suite.clock.as_ref()).keeping_numbers()
            }
            Some(Benchmark::Launch(one)) => Ok(Self::of_one_driver("launch", one)),
            Some(Benchmark::Math(columns)) => Self::of_columns("math", columns),
            Some(Benchmark::Memory(one)) => Ok(Self::of_one_driver("memory", one)),
            Some(Benchmark::Precision(precision)) => Ok(Self::of_precision(precision)),
            Some(Benchmark::Vectorizer(vectorizer)) => {
                let plan = Self::new("vectorizer").on(&vectorizer.driver).cases(&vectorizer.cases);
                let plan = plan.option("--configs", vectorizer.configs.as_ref());
                plan.option("--clock", vectorizer.clock.as_ref()).keeping_numbers()
            }
        }
    }

    fn of_suite(evidence: &Evidence) -> Result<Self> {
        if evidence.gate || evidence.record {
            let what = if evidence.gate { "--gate" } else { "--record" };
            let plan = Self::new("vectorizer").option(what, Some(workspace::root().join(RECORD)));
            // Other work on the machine must not look like slower code.
            return plan.option("--clock", Some("cpu")).cases(&evidence.cases).keeping_numbers();
        }
        let table = evidence.table.and_then(|table| table.to_possible_value());
        let mut plan = Self::new("evidence").cases(&evidence.cases);
        plan = plan.option("--table", table.map(|value| value.get_name().to_owned()));
        plan.words.extend(evidence.resume.then(|| "--resume".into()));
        plan.words.extend(evidence.write.then(|| "--write".into()));
        plan.drivers = Some(evidence.columns.drivers.clone());
        plan.option("--page", Some(workspace::root().join(PAGE))).keeping_numbers()
    }

    fn of_precision(precision: &Precision) -> Self {
        let plan = Self { package: WITHOUT_DRIVER, ..Self::new("precision") };
        let mut plan = precision.only.iter().fold(plan, |plan, name| plan.option("--only", Some(name)));
        plan.words.extend(precision.list.then(|| "--list".into()));
        plan
    }

    fn of_one_driver(program: &'static str, one: &OneDriver) -> Self {
        Self::new(program).on(&one.driver).rounds(&one.rounds)
    }

    /// Drivers side by side, without numbers that are kept.
    fn of_drivers(program: &'static str, columns: &SideBySide) -> Self {
        Self { drivers: Some(columns.columns.drivers.clone()), ..Self::new(program).cases(&columns.cases) }
    }

    fn of_columns(program: &'static str, columns: &SideBySide) -> Result<Self> {
        let mut plan = Self::new(program).cases(&columns.cases).option("--clock", columns.clock.as_ref());
        plan.drivers = Some(columns.columns.drivers.clone());
        plan.keeping_numbers()
    }

    fn new(program: &'static str) -> Self {
        Self { package: OF_DRIVERS, program, ..Self::default() }
    }

    fn option(mut self, name: &str, value: Option<impl AsRef<OsStr>>) -> Self {
        self.words.extend(value.iter().flat_map(|value| [name.into(), value.as_ref().to_owned()]));
        self
    }

    fn on(mut self, driver: &AnotherDriver) -> Self {
        self.vendors.clone_from(&driver.vendors);
        self.platform.clone_from(&driver.platform);
        self
    }

    fn rounds(self, rounds: &Rounds) -> Self {
        self.option("--rounds", rounds.rounds.map(text))
    }

    fn cases(self, cases: &Cases) -> Self {
        let plan = self.rounds(&cases.rounds);
        cases.only.iter().fold(plan, |plan, name| plan.option("--only", Some(name)))
    }

    /// Has the numbers kept in `target/bench`.
    fn keeping_numbers(self) -> Result<Self> {
        let folder = workspace::target().join("bench");
        std::fs::create_dir_all(&folder).with_context(|| format!("cannot make {}", folder.display()))?;
        let path = folder.join(format!("{}.json", self.program));
        Ok(self.option("--json", Some(path)))
    }
}

fn text(number: NonZeroUsize) -> String {
    number.to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::parsed;

    fn planned(line: &str) -> Result<Plan> {
        Plan::of(&parsed(&line.split_whitespace().collect::<Vec<_>>())?)
    }

    /// What a benchmark is told, without where it keeps its numbers.
    fn told(line: &str) -> String {
        let words: Vec<String> =
            planned(line).expect("valid").words.iter().map(|word| word.to_string_lossy().into_owned()).collect();
        let line = words.join(" ");
        line.split(" --json").next().unwrap_or_default().to_owned()
    }

    #[test]
    fn another_driver_needs_its_platforms_name() {
        let plan = planned("launch --vendors v/ --platform Other --rounds 3").expect("valid");
        assert_eq!(
            (plan.program, plan.vendors.as_deref(), plan.platform.as_deref()),
            ("launch", Some("v/"), Some("Other"))
        );
        assert_eq!(plan.words, ["--rounds", "3"]);
        assert!(planned("launch --vendors v/").is_err());
        assert!(planned("launch --platform Other").is_err());
    }

    #[test]
    fn a_benchmarks_own_words_are_passed_on() {
        assert_eq!(told("choices --only dct --clock cpu --rounds 3"), "--rounds 3 --only dct --clock cpu");
        assert_eq!(
            told("vectorizer --only dct --configs scalar,unicf --clock cpu --only nest"),
            "--only dct --only nest --configs scalar,unicf --clock cpu"
        );
        assert_eq!(told("costs --only gather --only root --rounds 3"), "--rounds 3 --only gather --only root");
        assert_eq!(told("intermediate-language --only dct --clock cpu"), "--only dct --clock cpu");
        assert_eq!(told("compile_scaling --only loops --most 12500"), "--only loops --most 12500");
    }

    #[test]
    fn the_gate_runs_the_suite_against_its_record() {
        let plan = planned("--gate --only dct").expect("valid");
        assert_eq!((plan.program, plan.drivers), ("vectorizer", None));
        assert!(plan.words[1].to_string_lossy().ends_with(RECORD));
        assert_eq!(plan.words[2..6], ["--clock", "cpu", "--only", "dct"]);
        assert!(planned("--gate --record").is_err());
        assert!(planned("--gate --driver a=b.so").is_err());
    }

    #[test]
    fn precision_is_measured_without_a_driver() {
        assert_eq!(told("precision --list --only dct --only nest"), "--only dct --only nest --list");
        let package = |line| planned(line).expect("valid").package;
        assert_eq!([package("precision"), package("math")], ["lockstep-precision", "lockstep-benches"]);
        assert!(planned("precision --vendors v/ --platform Other").is_err());
    }

    #[test]
    fn drivers_side_by_side_are_for_what_compares_drivers() {
        let drivers = |line| planned(line).expect("valid").drivers;
        assert_eq!(drivers("math --driver a=b.so --only sin"), Some(vec!["a=b.so".to_owned()]));
        assert_eq!(drivers("groups --driver a=b.so --driver c.so").map(|drivers| drivers.len()), Some(2));
        assert_eq!(drivers("launch"), None);
        assert!(planned("launch --driver a=b.so").is_err());
        assert!(planned("groups --vendors v/ --platform Other").is_err());
    }

    #[test]
    fn no_name_means_the_tables_of_the_page() {
        let line = told("--only dct --resume --table drivers --driver a=b.so");
        assert!(line.starts_with("--only dct --table drivers --resume --page "), "{line}");
        assert!(line.ends_with(PAGE), "{line}");
        assert_eq!(planned("").expect("valid").program, "evidence");
        assert!(planned("groups --resume").is_err());
    }

    #[test]
    fn unknown_words_are_refused() {
        for line in ["lunch", "--table", "--table peers", "memory --rounds", "memory --rounds 0", "math --clock sun"] {
            assert!(planned(line).is_err(), "{line}");
        }
    }
}
