//! `cts`: runs a build of the Khronos OpenCL conformance suite.
//!
//! Every sub-test of every program gets a process of its own, so that a crash or
//! a hang costs one sub-test. The usual run is the suite's shortened ("wimpy")
//! mode; `--full` runs everything. `--list` runs each program as often and with the
//! arguments that the suite's own list has for it. With `--compilation-mode spir-v` the programs
//! translate what they build to SPIR-V before the driver gets it. What is expected not to pass
//! stands with its reason in `conformance/expected.toml`, and what differs with SPIR-V in
//! `conformance/expected_spirv.toml`.

use std::collections::BTreeMap;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result, bail};

use crate::driver::{self, VENDORS};
use crate::process::{self, Ending, Finished};
use crate::suite::{Case, Expectation, Expectations, Judgement, Request, Summary, Verdict};
use crate::{cts_list, cts_offline, workspace};

const LIMIT: Duration = Duration::from_secs(600);
const FULL_LIMIT: Duration = Duration::from_secs(3600);
/// Entries by program (`basic`, …), then by a pattern for sub-tests.
type Programs = BTreeMap<String, Expectations>;

/// What the command is told.
#[derive(clap::Args)]
pub struct Options {
    #[command(flatten)]
    request: Request,
    /// Run everything, not the suite's shortened mode
    #[arg(long)]
    full: bool,
    /// Run each program as often and with the arguments that the suite's own list has for it
    #[arg(long)]
    list: bool,
    /// What the driver gets of the programs' kernels
    #[arg(long, value_enum, default_value_t)]
    compilation_mode: CompilationMode,
}

/// The form in which the driver gets kernels; the names are the suite's own.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
enum CompilationMode {
    /// OpenCL C
    #[default]
    Online,
    /// What clang and LLVM's back end make of it
    #[value(name = "spir-v")]
    SpirV,
}

/// Runs the command. Names are `PROGRAM` or `PROGRAM/SUBTEST` prefixes.
pub fn run(options: &Options) -> Result<()> {
    let (mut request, full) = (options.request.clone(), options.full);
    let list = if options.list { cts_list::read(&request.directory)? } else { Vec::new() };
    let expectations = expectations(options.compilation_mode)?;
    let vendors = match &request.vendors {
        Some(path) => driver::vendors_for(path)?,
        None => {
            driver::build()?;
            workspace::vendors()
        }
    };
    let mut programs = Vec::new();
    find_programs(&request.directory, &mut programs)?;
    programs.sort();
    if programs.is_empty() {
        bail!("no programs named test_… below {}", request.directory.display());
    }
    for name in &mut request.names {
        *name = by_program(name, &programs);
    }
    let built: Vec<PathBuf> =
        programs.iter().filter_map(|path| path.strip_prefix(&request.directory).ok()).map(PathBuf::from).collect();
    let missing = cts_list::not_built(&list, &built);
    if !missing.is_empty() {
        println!("on the list, but not built: {}", missing.join(", "));
    }
    let mut unknown = request.names.clone();
    let logs = workspace::root().join(match options.compilation_mode {
        CompilationMode::Online => "target/cts",
        CompilationMode::SpirV => "target/cts/spir-v",
    });
    let mut summary = Summary::default();
    for path in programs {
        let program = short_name(&path);
        let wanted_below = request.names.iter().any(|name| name.starts_with(&format!("{program}/")));
        if !request.wants(&program) && !wanted_below {
            continue;
        }
        let entries: Vec<&Expectations> = expectations.iter().filter_map(|file| file.get(&program)).collect();
        let mode_arguments = match options.compilation_mode {
            CompilationMode::Online => Vec::new(),
            CompilationMode::SpirV => cts_offline::prepare_module_folder(&logs.join(&program).join("modules"))?,
        };
        let known = subtests(&path, &vendors)?;
        let listed_as = path.strip_prefix(&request.directory).unwrap_or(&path).to_string_lossy();
        for line in cts_list::runs_of(&listed_as, &list) {
            let (chosen, arguments) = line.chosen(&known);
            for subtest in chosen {
                let run = [&[subtest], &arguments[..]].concat().join(" ");
                let name = format!("{program}/{run}");
                if !request.wants(&name) {
                    continue;
                }
                unknown.retain(|wanted| !name.starts_with(wanted.as_str()));
                let expectation = expectation_for(&entries, subtest, &run);
                let mode_arguments = mode_arguments.iter().map(String::as_str);
                let further_arguments: Vec<&str> = arguments.iter().copied().chain(mode_arguments).collect();
                let case = Case {
                    command: command(&path, subtest, &expectation, &further_arguments, &vendors, full),
                    limit: match (full, expectation.limit) {
                        (true, _) => FULL_LIMIT,
                        (false, limit) => limit.map_or(LIMIT, Duration::from_secs),
                    },
                    log: logs.join(&program).join(format!("{run}.log")),
                    name,
                    expectation: &expectation,
                };
                summary.run(case, |finished| judge(finished, subtest))?;
            }
        }
    }
    println!("outputs: {}", logs.display());
    if !unknown.is_empty() {
        bail!("the suite as it is built has no test called {}", unknown.join(", "));
    }
    summary.finish("cts", &request)
}

fn command(
    path: &Path,
    subtest: &str,
    expectation: &Expectation,
    further_arguments: &[&str],
    vendors: &str,
    full: bool,
) -> Command {
    let mut command = Command::new(path);
    if !expectation.unnamed {
        command.arg(subtest);
    }
    if !full {
        command.arg("--wimpy");
    }
    command.args(expectation.arguments.iter().flatten()).args(further_arguments);
    // Programs look for arguments of their own from the last one on.
    if !full {
        command.args(&expectation.shortening);
    }
    // Some programs read files that lie beside them.
    if let Some(folder) = path.parent() {
        command.current_dir(folder);
    }
    command.env(VENDORS, vendors);
    command
}

/// What is expected of a sub-test or of it with certain arguments: each key from the most exact entry of the last file
/// that has it.
fn expectation_for(files: &[&Expectations], subtest: &str, run: &str) -> Expectation {
    let mut fitting: Vec<(usize, &String, &Expectation)> = Vec::new();
    for (file, entries) in files.iter().enumerate() {
        let of_file = entries.iter().filter(|(pattern, _)| fits(pattern, subtest) || fits(pattern, run));
        fitting.extend(of_file.map(|(pattern, entry)| (file, pattern, entry)));
    }
    // The longer a pattern, the more exact; a name without stars is the most exact.
    fitting.sort_by_key(|(file, pattern, _)| (*file, !pattern.contains('*'), pattern.len()));
    let mut expectation = Expectation::default();
    for (_, _, entry) in fitting {
        if entry.expect.is_some() {
            expectation.expect = entry.expect;
            expectation.reason.clone_from(&entry.reason);
        }
        if entry.arguments.is_some() {
            expectation.arguments.clone_from(&entry.arguments);
        }
        if !entry.shortening.is_empty() {
            expectation.shortening.clone_from(&entry.shortening);
        }
        expectation.limit = entry.limit.or(expectation.limit);
        expectation.unnamed |= entry.unnamed;
    }
    expectation
}

/// Whether a name fits a pattern, in which `*` stands for any text.
fn fits(pattern: &str, name: &str) -> bool {
    match pattern.split_once('*') {
        None => pattern == name,
        Some((start, rest)) => name
            .strip_prefix(start)
            .is_some_and(|tail| (0..=tail.len()).any(|at| tail.is_char_boundary(at) && fits(rest, &tail[at..]))),
    }
}

/// The expectations' files: the one for all modes, and then that of the mode.
fn expectations(mode: CompilationMode) -> Result<Vec<Programs>> {
    let names: &[&str] = match mode {
        CompilationMode::Online => &["expected.toml"],
        CompilationMode::SpirV => &["expected.toml", "expected_spirv.toml"],
    };
    names.iter().map(|name| read_expectations(&workspace::root().join("conformance").join(name))).collect()
}

fn read_expectations(path: &Path) -> Result<Programs> {
    let text = std::fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
    let programs: Programs = toml::from_str(&text).with_context(|| format!("{} is malformed", path.display()))?;
    for (program, entries) in &programs {
        for (subtest, entry) in entries {
            entry.check(&format!("{program}/{subtest}"))?;
        }
    }
    Ok(programs)
}

fn find_programs(folder: &Path, found: &mut Vec<PathBuf>) -> Result<()> {
    for entry in std::fs::read_dir(folder)? {
        let entry = entry?;
        let kind = entry.file_type()?;
        let name = entry.file_name().to_string_lossy().into_owned();
        if kind.is_dir() {
            if name != "CMakeFiles" {
                find_programs(&entry.path(), found)?;
            }
        } else if kind.is_file()
            && name.starts_with("test_")
            && !name.contains('.')
            && entry.metadata()?.permissions().mode() & 0o111 != 0
        {
            found.push(entry.path());
        }
    }
    Ok(())
}

/// A name by the program's folder (`math_brute_force/…`) as one by the program (`bruteforce/…`), where the folder has one.
fn by_program(name: &str, programs: &[PathBuf]) -> String {
    let (first, rest) = name.find('/').map_or((name, ""), |at| name.split_at(at));
    let mut inside = programs.iter().filter(|path| {
        let folder = path.parent().and_then(Path::file_name);
        folder.is_some_and(|folder| folder == first)
    });
    match (inside.next(), inside.next()) {
        (Some(only), None) => short_name(only) + rest,
        _ => name.to_owned(),
    }
}

fn short_name(path: &Path) -> String {
    let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    name.strip_prefix("test_").unwrap_or(&name).to_owned()
}

/// The names of a program's sub-tests: `--list` prints them one a line, indented.
fn subtests(path: &Path, vendors: &str) -> Result<Vec<String>> {
    let listing = process::output_of(Command::new(path).arg("--list").env(VENDORS, vendors))
        .with_context(|| format!("{} does not list its tests", path.display()))?;
    Ok(names_in(&listing))
}

fn names_in(listing: &str) -> Vec<String> {
    listing
        .lines()
        .filter_map(|line| line.strip_prefix('\t'))
        .map(|name| name.trim().to_owned())
        .filter(|name| !name.is_empty())
        .collect()
}

fn judge(finished: &Finished, subtest: &str) -> Judgement {
    let complaint = || {
        finished
            .output
            .lines()
            .map(str::trim)
            .find(|line| line.contains("ERROR") || line.contains("FAILED") || line.contains("rror:"))
            .map(|line| line.chars().take(110).collect())
            .unwrap_or_default()
    };
    let (verdict, note) = match finished.ending {
        Ending::TimedOut => (Verdict::TimedOut, String::new()),
        Ending::Signalled(signal) => (Verdict::Crashed, format!("signal {signal}; {}", complaint())),
        Ending::Exited(0) if finished.output.contains(&format!("{subtest} passed")) => (Verdict::Passed, String::new()),
        Ending::Exited(0) => (Verdict::Skipped, String::new()),
        Ending::Exited(127) => (Verdict::CannotStart, complaint()),
        Ending::Exited(_) => (Verdict::Failed, complaint()),
    };
    Judgement { verdict, note }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn listings_are_read() {
        assert_eq!(names_in("Test names:\n\tone\n\ttwo \n\nother\n"), ["one", "two"]);
    }

    #[test]
    fn a_program_goes_by_its_folder_too() {
        let programs = ["math_brute_force/test_bruteforce", "basic/test_basic", "images/test_a", "images/test_b"];
        let programs = programs.map(|path| Path::new("/suite").join(path));
        for (name, expected) in [
            ("math_brute_force", "bruteforce"),
            ("math_brute_force/sin", "bruteforce/sin"),
            ("bruteforce/sin", "bruteforce/sin"),
            ("basic", "basic"),
            ("images", "images"),
            ("nothing/x", "nothing/x"),
        ] {
            assert_eq!(by_program(name, &programs), expected);
        }
    }

    #[test]
    fn a_silent_success_is_not_a_pass() {
        let finished = |ending, output: &str| Finished { ending, output: output.to_owned(), elapsed: Duration::ZERO };
        let verdict = |ending, output| judge(&finished(ending, output), "if").verdict;
        assert_eq!(verdict(Ending::Exited(0), "if...\nif passed\n"), Verdict::Passed);
        assert_eq!(verdict(Ending::Exited(0), "if test not supported\n"), Verdict::Skipped);
        assert_eq!(verdict(Ending::Exited(1), "if FAILED\n"), Verdict::Failed);
        assert_eq!(verdict(Ending::Signalled(6), ""), Verdict::Crashed);
    }

    #[test]
    fn a_subtests_own_entry_wins() {
        let entries: Expectations = toml::from_str(
            "[\"*\"]\nexpect = \"skipped\"\nreason = \"no images\"\nlimit = 7\n\
             [one]\nexpect = \"failed\"\nreason = \"known\"\n",
        )
        .expect("valid");
        let one = expectation_for(&[&entries], "one", "one");
        assert_eq!((one.verdict(), one.limit), (Verdict::Failed, Some(7)));
        assert_eq!(expectation_for(&[&entries], "two", "two").verdict(), Verdict::Skipped);
        assert_eq!(expectation_for(&[&entries], "one", "one small").verdict(), Verdict::Failed);
        assert_eq!(expectation_for(&[], "two", "two").verdict(), Verdict::Passed);
        assert!(fits("*image*", "read_image_2d") && fits("a*b*c", "abbc") && fits("*", ""));
        assert!(!fits("*image", "images") && !fits("a*b*c", "acb"));
    }

    #[test]
    fn a_modes_own_entry_wins_over_a_more_exact_one_of_all_modes() {
        let read = |text: &str| toml::from_str::<Expectations>(text).expect("valid");
        let all = read("[one]\nexpect = \"failed\"\nreason = \"known\"\nlimit = 7\n");
        let of_mode = read("[\"o*\"]\nexpect = \"skipped\"\nreason = \"not of this mode\"\n");
        let one = expectation_for(&[&all, &of_mode], "one", "one");
        assert_eq!((one.verdict(), one.limit), (Verdict::Skipped, Some(7)));
        assert_eq!(one.reason.as_deref(), Some("not of this mode"));
    }

    #[test]
    fn a_shortened_run_has_arguments_of_its_own() {
        let entries: Expectations = toml::from_str("[\"*\"]\nshortening = [\"-few\"]\n").expect("valid");
        let words = |full| {
            let expectation = expectation_for(&[&entries], "one", "one");
            let command = command(Path::new("/bin/test"), "one", &expectation, &["-mode"], "", full);
            command.get_args().map(|word| word.to_string_lossy().into_owned()).collect::<Vec<_>>()
        };
        assert_eq!(words(false), ["one", "--wimpy", "-mode", "-few"]);
        assert_eq!(words(true), ["one", "-mode"]);
    }

    #[test]
    fn a_program_need_not_be_told_its_only_test() {
        let entries: Expectations = toml::from_str("[one]\nunnamed = true\n").expect("valid");
        let words = |subtest| {
            let expectation = expectation_for(&[&entries], subtest, subtest);
            let command = command(Path::new("/bin/test"), subtest, &expectation, &[], "", false);
            command.get_args().map(|word| word.to_string_lossy().into_owned()).collect::<Vec<_>>()
        };
        assert_eq!(words("one"), ["--wimpy"]);
        assert_eq!(words("two"), ["two", "--wimpy"]);
    }

    #[test]
    fn the_expectations_files_are_well_formed() {
        expectations(CompilationMode::SpirV).expect("the files in conformance/ read and give reasons");
    }
}
