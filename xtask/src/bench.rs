//! `bench`: runs a benchmark through the ICD loader, on this driver or another.

use std::process::Command;

use anyhow::{Context, Result, bail};

use crate::driver::{self, VENDORS};
use crate::peers::{self, Peer};
use crate::progress::step;
use crate::{process, setup, workspace};

const NAMES: [&str; 11] = [
    "build",
    "compile_growth",
    EVIDENCE,
    "forms",
    "groups",
    "host",
    "images",
    "launch",
    "math",
    "memory",
    "vectorizer",
];
/// What runs where no name is given: everything that the performance page shows.
const EVIDENCE: &str = "evidence";
/// Those that compare drivers.
const SIDE_BY_SIDE: [&str; 5] = [EVIDENCE, "forms", "groups", "images", "math"];
/// Those that keep their numbers, in `target/bench`.
const KEPT: [&str; 6] = [EVIDENCE, "forms", "groups", "images", "math", "vectorizer"];
/// The page whose tables [`EVIDENCE`] writes, with a chart beside it.
const PAGE: &str = "docs/performance.md";
/// The recorded factors that no kernel may fall behind.
const RECORD: &str = "benches/factors.txt";
/// Which platform the benchmarks take; theirs and the conformance tests' own variable.
const PLATFORM: &str = "LOCKSTEP_TEST_PLATFORM";

/// Words that are for the benchmark itself, each with a value.
const PASSED_ON: [&str; 5] = ["--rounds", "--only", "--most", "--configs", "--clock"];
/// Words for [`EVIDENCE`] alone: with a value, and without.
const TABLE: &str = "--table";
const OF_EVIDENCE: [&str; 2] = ["--resume", "--write"];

/// Runs the command. `bench` without a name makes the tables of the performance page: it measures the suite in our
/// configurations and beside other drivers, keeps the numbers in `target/bench/evidence.json`, and writes the page's
/// tables and chart from them. `--only NAME`, `--rounds N`, `--table configurations|drivers` and `--resume` run a part,
/// `--write` nothing.
///
/// `bench NAME [--vendors PATH --platform NAME] [--rounds N]`; for `vectorizer` also `--only NAME`,
/// `--configs A,B`, `--clock cpu`; for `forms`, `groups`, `images` and `math` also `--only NAME`, `--clock CLOCK`, and `--driver NAME=PATH` (repeated)
/// for columns beside those of the drivers that are found; for `compile_growth` also `--only SHAPE` and `--most INSTRUCTIONS`. `bench --gate` fails where a kernel of the suite has become
/// slower than is recorded; `bench --record` makes the record.
pub fn run(arguments: &[String]) -> Result<()> {
    let request = Request::parse(arguments)?;
    setup::run()?;
    let vendors = match &request.vendors {
        Some(path) => driver::vendors_for(path)?,
        None => {
            driver::build()?;
            workspace::vendors()
        }
    };
    let building = step("build the benchmarks (release)");
    process::run(driver::cargo().args(["build", "--release", "--package", "lockstep-benches"]))?;
    building.done();
    let program = workspace::target().join(format!("release/bench-{}", request.name));
    let mut command = Command::new(program);
    command.args(&request.rest).env(VENDORS, vendors);
    if request.compares_drivers() {
        command.arg("--driver").arg(format!("lockstep={}", workspace::vendors()));
        let named: Result<Vec<Peer>> = request.drivers.iter().map(|text| peers::named(text)).collect();
        for peer in peers::all().into_iter().chain(named?) {
            command.arg("--driver").arg(peer.word()?);
        }
    }
    if KEPT.contains(&request.name.as_str()) {
        let folder = workspace::target().join("bench");
        std::fs::create_dir_all(&folder).with_context(|| format!("cannot make {}", folder.display()))?;
        command.arg("--json").arg(folder.join(format!("{}.json", request.name)));
    }
    if request.name == EVIDENCE {
        command.arg("--page").arg(workspace::root().join(PAGE));
    }
    if let Some(platform) = &request.platform {
        command.env(PLATFORM, platform);
    }
    process::run(&mut command)
}

#[derive(Debug, Default, PartialEq, Eq)]
struct Request {
    name: String,
    vendors: Option<String>,
    platform: Option<String>,
    /// Further columns.
    drivers: Vec<String>,
    /// Words for the benchmark itself.
    rest: Vec<String>,
}

impl Request {
    fn compares_drivers(&self) -> bool {
        SIDE_BY_SIDE.contains(&self.name.as_str())
    }

    fn parse(arguments: &[String]) -> Result<Self> {
        let mut request = Self::default();
        let mut words = arguments.iter();
        while let Some(word) = words.next() {
            let mut value = || words.next().cloned().with_context(|| format!("{word} needs a value"));
            match word.as_str() {
                "--vendors" => request.vendors = Some(value()?),
                "--platform" => request.platform = Some(value()?),
                "--gate" | "--record" if request.name.is_empty() => {
                    "vectorizer".clone_into(&mut request.name);
                    let path = workspace::root().join(RECORD).display().to_string();
                    // Other work on the machine must not look like slower code.
                    request.rest.extend([word.clone(), path, "--clock".to_owned(), "cpu".to_owned()]);
                }
                "--driver" => request.drivers.push(value()?),
                word if PASSED_ON.contains(&word) => request.rest.extend([word.to_owned(), value()?]),
                TABLE => request.rest.extend([word.clone(), value()?]),
                word if OF_EVIDENCE.contains(&word) => request.rest.push(word.to_owned()),
                name if NAMES.contains(&name) && request.name.is_empty() => name.clone_into(&mut request.name),
                other => bail!("bench does not know `{other}`"),
            }
        }
        if request.name.is_empty() {
            EVIDENCE.clone_into(&mut request.name);
        }
        let for_evidence = |word: &String| word == TABLE || OF_EVIDENCE.contains(&word.as_str());
        if let Some(word) = request.rest.iter().find(|word| for_evidence(word) && request.name != EVIDENCE) {
            bail!("{word} is for bench without a name, not for {}", request.name);
        }
        if request.vendors.is_some() != request.platform.is_some() {
            bail!("another driver is named by --vendors PATH and --platform NAME together");
        }
        if request.compares_drivers() && request.vendors.is_some() {
            bail!("{} compares drivers: --driver NAME=PATH adds one", request.name);
        }
        if !request.compares_drivers() && !request.drivers.is_empty() {
            bail!("--driver is for {}", SIDE_BY_SIDE.join(" and "));
        }
        Ok(request)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(line: &str) -> Result<Request> {
        let words: Vec<String> = line.split(' ').map(str::to_owned).collect();
        Request::parse(&words)
    }

    #[test]
    fn another_driver_needs_its_platforms_name() {
        let request = parsed("launch --vendors v/ --platform Other --rounds 3").expect("valid");
        assert_eq!(request.name, "launch");
        assert_eq!(request.platform.as_deref(), Some("Other"));
        assert_eq!(request.rest, ["--rounds", "3"]);
        assert!(parsed("launch --vendors v/").is_err());
    }

    #[test]
    fn a_benchmarks_own_words_are_passed_on() {
        let request = parsed("vectorizer --only dct --configs scalar,unicf --clock cpu").expect("valid");
        assert_eq!(request.rest, ["--only", "dct", "--configs", "scalar,unicf", "--clock", "cpu"]);
        let request = parsed("compile_growth --only loops --most 12500").expect("valid");
        assert_eq!(request.rest, ["--only", "loops", "--most", "12500"]);
    }

    #[test]
    fn the_gate_runs_the_suite_against_its_record() {
        let request = parsed("--gate --only dct").expect("valid");
        assert_eq!(request.name, "vectorizer");
        assert!(request.rest[1].ends_with(RECORD));
        assert_eq!(request.rest[2..], ["--clock", "cpu", "--only", "dct"]);
    }

    #[test]
    fn drivers_side_by_side_are_for_groups_and_math() {
        assert_eq!(parsed("math --driver a=b.so --only sin").expect("valid").drivers, ["a=b.so"]);
        let request = parsed("groups --driver a=b.so --driver c.so").expect("valid");
        assert_eq!(request.drivers, ["a=b.so", "c.so"]);
        assert!(parsed("launch --driver a=b.so").is_err());
        assert!(parsed("groups --vendors v/ --platform Other").is_err());
    }

    #[test]
    fn no_name_means_the_tables_of_the_page() {
        let request = parsed("--only dct --resume --table drivers --driver a=b.so").expect("valid");
        assert_eq!(request.name, EVIDENCE);
        assert_eq!(request.rest, ["--only", "dct", "--resume", "--table", "drivers"]);
        assert_eq!(Request::parse(&[]).expect("valid").name, EVIDENCE);
        assert!(parsed("groups --resume").is_err());
    }

    #[test]
    fn unknown_words_are_refused() {
        assert!(parsed("lunch").is_err());
        assert!(parsed("--table").is_err());
        assert!(parsed("memory --rounds").is_err());
    }
}
