//! `appsdk`: runs the AMD APP SDK 3.0 sample binaries, as their users would.
//!
//! A sample run with `-e` compares its results with a host implementation of its
//! own and prints `Passed`. Samples that do not apply to a device end with exit
//! code 2 or print `Expected Error`. What a sample needs beyond the usual, and
//! why one is expected not to pass, stands in `conformance/appsdk.toml`.

use std::fs::File;
use std::io::Read;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result, bail};

use crate::driver::{self, VENDORS};
use crate::process::{Ending, Finished};
use crate::suite::{Case, Expectation, Expectations, Judgement, Request, Summary, Verdict};
use crate::workspace;

/// Verify, print times, few words, and take the first platform whoever made it:
/// without `-p` some samples insist on AMD's.
const USUAL: [&str; 7] = ["-p", "0", "--device", "cpu", "-e", "-t", "-q"];
const LIMIT: Duration = Duration::from_secs(180);
/// The samples' exit code for "not on this device".
const NOT_APPLICABLE: i32 = 2;

/// What the command is told.
#[derive(clap::Args)]
pub struct Options {
    #[command(flatten)]
    request: Request,
}

/// Runs the command.
pub fn run(options: &Options) -> Result<()> {
    let request = &options.request;
    let expectations = expectations()?;
    let vendors = match &request.vendors {
        Some(path) => driver::vendors_for(path)?,
        None => {
            driver::build()?;
            workspace::vendors()
        }
    };
    let samples: Vec<String> = samples(&request.directory)?.into_iter().filter(|name| request.wants(name)).collect();
    if samples.is_empty() {
        bail!("no sample programs in {}", request.directory.display());
    }
    let logs = workspace::root().join("target/appsdk");
    let usual = Expectation::default();
    let mut summary = Summary::default();
    for name in samples {
        let expectation = expectations.get(&name).unwrap_or(&usual);
        let mut command = Command::new(request.directory.join(&name));
        match &expectation.arguments {
            Some(arguments) => command.args(arguments),
            None => command.args(USUAL),
        };
        command
            .current_dir(&request.directory)
            .env(VENDORS, &vendors)
            // One sample loads a library that lies beside it.
            .env("LD_LIBRARY_PATH", &request.directory)
            .envs(&expectation.environment);
        let case = Case {
            log: logs.join(format!("{name}.log")),
            name,
            command,
            limit: expectation.limit.map_or(LIMIT, Duration::from_secs),
            expectation,
        };
        summary.run(case, judge)?;
    }
    println!("outputs: {}", logs.display());
    summary.finish("appsdk", request)
}

fn expectations() -> Result<Expectations> {
    let path = workspace::root().join("conformance/appsdk.toml");
    let text = std::fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
    let entries: Expectations = toml::from_str(&text).with_context(|| format!("{} is malformed", path.display()))?;
    for (name, entry) in &entries {
        entry.check(name)?;
    }
    Ok(entries)
}

/// The programs in a folder: ELF files one may execute, without the libraries.
fn samples(directory: &Path) -> Result<Vec<String>> {
    let mut names = Vec::new();
    for entry in std::fs::read_dir(directory)? {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().into_owned();
        let metadata = entry.metadata()?;
        let executable = metadata.is_file() && metadata.permissions().mode() & 0o111 != 0;
        if executable && !name.contains(".so") && is_elf(&entry.path()) {
            names.push(name);
        }
    }
    names.sort();
    Ok(names)
}

fn is_elf(path: &Path) -> bool {
    let mut magic = [0u8; 4];
    File::open(path).and_then(|mut file| file.read_exact(&mut magic)).is_ok_and(|()| magic == *b"\x7fELF")
}

fn judge(finished: &Finished) -> Judgement {
    let lines = || finished.output.lines().map(str::trim);
    let first_with = |texts: &[&str]| {
        lines()
            .find(|line| texts.iter().any(|text| line.contains(text)))
            .map(|line| line.chars().take(110).collect::<String>())
    };
    let complaint = || first_with(&["error:", "Error", "Failed", "GPU not found"]).unwrap_or_default();
    let (verdict, note) = match finished.ending {
        Ending::TimedOut => (Verdict::TimedOut, String::new()),
        Ending::Signalled(signal) => (Verdict::Crashed, format!("signal {signal}; {}", complaint())),
        Ending::Exited(127) => match missing_library(&finished.output) {
            Some(library) => (Verdict::CannotStart, format!("missing {library}")),
            None => (Verdict::Failed, complaint()),
        },
        Ending::Exited(code) => {
            if let Some(line) = first_with(&["Expected Error"]) {
                (Verdict::Skipped, line)
            } else if code == NOT_APPLICABLE {
                (Verdict::Skipped, complaint())
            } else if code != 0 || lines().any(|line| line.starts_with("Failed")) {
                (Verdict::Failed, complaint())
            } else if first_with(&["Passed"]).is_some() {
                (Verdict::Passed, String::new())
            } else {
                (Verdict::Ran, String::new())
            }
        }
    };
    Judgement { verdict, note }
}

fn missing_library(output: &str) -> Option<&str> {
    let (_, rest) = output.split_once("error while loading shared libraries: ")?;
    rest.split(':').next()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn judged(ending: Ending, output: &str) -> Verdict {
        judge(&Finished { ending, output: output.to_owned(), elapsed: Duration::ZERO }).verdict
    }

    #[test]
    fn verdicts_follow_the_samples_customs() {
        use Verdict::{CannotStart, Crashed, Failed, Passed, Ran, Skipped, TimedOut};
        assert_eq!(judged(Ending::Exited(0), "Platform 0\nPassed!\n"), Passed);
        assert_eq!(judged(Ending::Exited(0), "Failed\nPassed!\n"), Failed);
        assert_eq!(judged(Ending::Exited(1), "Passed!\nError: x\n"), Failed);
        assert_eq!(judged(Ending::Exited(0), "output: 1 2 3\n"), Ran);
        assert_eq!(judged(Ending::Exited(2), "no such extension\n"), Skipped);
        assert_eq!(judged(Ending::Exited(0), "Expected Error: only a CPU\n"), Skipped);
        assert_eq!(judged(Ending::Signalled(11), ""), Crashed);
        assert_eq!(judged(Ending::TimedOut, "Passed!\n"), TimedOut);
        let loader = "./x: error while loading shared libraries: libGLEW.so: cannot open";
        assert_eq!(judged(Ending::Exited(127), loader), CannotStart);
        assert_eq!(missing_library(loader), Some("libGLEW.so"));
    }

    #[test]
    fn the_expectations_file_is_well_formed() {
        expectations().expect("conformance/appsdk.toml reads and gives reasons");
    }
}
