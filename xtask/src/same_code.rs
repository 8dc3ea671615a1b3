//! `same-code`: lists the kernels whose machine code another build of the driver makes otherwise.
//!
//! The kernels are those of the benchmarks' suite, those that the conformance tests build, and 500 generated ones. The
//! other build is a library, or a commit, which is checked out and built in `target/same-code/checkout`.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};

use crate::progress::step;
use crate::{driver, process, setup, workspace};

/// The folder of programs, as the conformance tests know it.
const PROGRAMS: &str = "LOCKSTEP_TEST_PROGRAMS";

/// What the command is told.
#[derive(Debug, PartialEq, Eq, clap::Args)]
pub struct Options {
    /// The other build: a commit, or the path of a liblockstep.so
    base: String,
    /// Only kernels whose name contains this, as `suite`, `suite dct`, `generated`, `program`; may be repeated
    #[arg(long, value_name = "PART")]
    only: Vec<String>,
}

/// Runs the command. It fails where code differs.
pub fn run(options: &Options) -> Result<()> {
    setup::run()?;
    driver::build()?;
    let folder = workspace::target().join("same-code");
    let base = match Base::named(&options.base) {
        Base::Library(path) => path,
        Base::Commit(commit) => build_commit(&commit, &folder.join("checkout"))?,
    };
    let building = step("build the comparison (release)");
    let arguments = ["build", "--release", "--package", "lockstep-benches", "--bin", "bench-same-code"];
    process::run(&mut driver::cargo_with(&arguments))?;
    building.done();
    let programs = folder.join("programs");
    if options.wants_programs() {
        collect_programs(&programs)?;
    }
    std::fs::create_dir_all(&programs).with_context(|| format!("cannot make {}", programs.display()))?;
    let mut command = Command::new(workspace::target().join("release/bench-same-code"));
    command.args(["--this", &workspace::vendors(), "--base", &driver::vendors_for(&base.display().to_string())?]);
    command.arg("--programs").arg(&programs).arg("--folder").arg(&folder);
    for part in &options.only {
        command.args(["--only", part]);
    }
    let comparing = step(format!("compare with {}", options.base));
    let status = command.status().context("cannot start the comparison")?;
    if !status.success() {
        bail!("not all code is the same; what differs is in {}", folder.join("differing").display());
    }
    comparing.done();
    Ok(())
}

/// What to compare with.
#[derive(Debug, PartialEq, Eq)]
enum Base {
    /// A driver that was built.
    Library(PathBuf),
    /// A commit of this repository.
    Commit(String),
}

impl Base {
    /// A file that is there is a library; anything else is to name a commit.
    fn named(text: &str) -> Self {
        let path = Path::new(text);
        if path.is_file() { Self::Library(path.to_owned()) } else { Self::Commit(text.to_owned()) }
    }
}

/// Checks a commit out and builds its driver. The folder stays, so that the next build is short.
fn build_commit(name: &str, checkout: &Path) -> Result<PathBuf> {
    let mut resolve = git(workspace::root());
    resolve.args(["rev-parse", "--verify", "--quiet", "--end-of-options"]).arg(format!("{name}^{{commit}}"));
    let commit = process::output_of(&mut resolve).with_context(|| format!("{name} is neither a file nor a commit"))?;
    let commit = commit.trim();
    let building = step(format!("build the driver of {commit} (release)"));
    if checkout.join(".git").exists() {
        process::run(git(checkout).args(["checkout", "--quiet", "--force", "--detach", commit]))?;
    } else {
        let mut add = git(workspace::root());
        // The folder may have been removed while git still knows of it.
        process::run(add.args(["worktree", "add", "--quiet", "--force", "--detach"]).arg(checkout).arg(commit))?;
    }
    let target = checkout.join("target");
    let mut cargo = driver::cargo_with(&["build", "--release", "--package", "lockstep-icd"]);
    process::run(cargo.current_dir(checkout).env("CARGO_TARGET_DIR", &target))?;
    building.done();
    Ok(target.join("release/liblockstep.so"))
}

fn git(folder: &Path) -> Command {
    let mut command = Command::new("git");
    command.arg("-C").arg(folder);
    command
}

/// Runs the conformance tests on the driver of this workspace to have the programs that they build.
fn collect_programs(folder: &Path) -> Result<()> {
    let collecting = step("run the conformance tests for their programs");
    // Programs of tests that are gone are not to be compared.
    let _ = std::fs::remove_dir_all(folder);
    std::fs::create_dir_all(folder).with_context(|| format!("cannot make {}", folder.display()))?;
    let mut tests = driver::cargo_with(&["test", "--package", "lockstep-conformance", "--quiet", "--no-fail-fast"]);
    let tests = tests.env(driver::VENDORS, workspace::vendors()).env(PROGRAMS, folder);
    let output = tests.output().context("cannot start the conformance tests")?;
    if std::fs::read_dir(folder)?.next().is_none() {
        bail!("the conformance tests built no program:\n{}", String::from_utf8_lossy(&output.stderr));
    }
    if !output.status.success() {
        // Whether the driver is right is another command's question.
        println!("    some conformance tests fail; their programs may be missing (see `cargo xtask test`)");
    }
    collecting.done();
    Ok(())
}

impl Options {
    /// Whether any of the conformance tests' programs may be meant: to have them takes minutes.
    fn wants_programs(&self) -> bool {
        let is_another = |part: &String| ["suite", "generated"].iter().any(|kind| part.starts_with(kind));
        !self.only.iter().all(is_another) || self.only.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::parsed;

    #[test]
    fn one_build_and_parts_of_names_are_read() {
        let options: Options = parsed(&["HEAD~1", "--only", "suite", "--only", "jumps"]).expect("valid");
        assert_eq!(options, Options { base: "HEAD~1".to_owned(), only: vec!["suite".to_owned(), "jumps".to_owned()] });
        for wrong in [&[][..], &["--only", "suite"], &["a", "b"], &["a", "--only"], &["a", "--rounds"]] {
            assert!(parsed::<Options>(wrong).is_err(), "{wrong:?}");
        }
    }

    #[test]
    fn the_conformance_tests_run_only_for_their_programs() {
        for (words, wanted) in [
            (&["a"][..], true),
            (&["a", "--only", "suite"], false),
            (&["a", "--only", "suite dct", "--only", "generated"], false),
            (&["a", "--only", "suite", "--only", "program"], true),
        ] {
            assert_eq!(parsed::<Options>(words).expect("valid").wants_programs(), wanted, "{words:?}");
        }
    }

    #[test]
    fn a_file_is_a_library_and_the_rest_commits() {
        let file = concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml");
        assert_eq!(Base::named(file), Base::Library(PathBuf::from(file)));
        assert_eq!(Base::named("HEAD"), Base::Commit("HEAD".to_owned()));
    }

    #[test]
    fn what_is_no_commit_is_refused_before_anything_is_built() {
        let error = build_commit("no such commit", Path::new("/nonexistent")).expect_err("there is none");
        assert_eq!(error.to_string(), "no such commit is neither a file nor a commit");
    }
}
