//! The command as an executable, installed as `cargo xtask install` has it, beside a compiler that says what it is and nothing else.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use lockstep_protocol::job::{Answer, CompilerFacts, Product, write_message};
use lockstep_runtime::machine::processor_name;

/// A prefix with the command, a driver and a compiler; it goes away with the value.
struct Installation(tempfile::TempDir);

impl Installation {
    fn new() -> Installation {
        let installation = Installation(tempfile::tempdir().unwrap());
        let folders = ["bin", "lib/lockstep"].map(|name| installation.path(name));
        folders.iter().for_each(|folder| fs::create_dir_all(folder).unwrap());
        copy_program(Path::new(env!("CARGO_BIN_EXE_lockstep")), &installation.path("bin/lockstep"));
        // Something that can be loaded.
        fs::copy(own_library(), installation.driver()).unwrap();
        installation.write_compiler(true);
        installation
    }

    fn path(&self, name: &str) -> PathBuf {
        fs::canonicalize(self.0.path()).unwrap().join(name)
    }

    fn driver(&self) -> PathBuf {
        self.path("lib/lockstep/liblockstep.so")
    }

    fn compiler(&self) -> PathBuf {
        self.path("lib/lockstep/lockstep-compiler")
    }

    /// A compiler whose answer to every request is what it is.
    fn write_compiler(&self, is_confined: bool) {
        let facts = CompilerFacts {
            llvm: "LLVM 1.2.3".to_owned(),
            files_are_confined: is_confined,
            calls_are_confined: is_confined,
        };
        let answer = self.path("answer");
        fs::write(&answer, write_message(&Answer::Done(Product::Compiler(facts)))).unwrap();
        self.write_script(&format!("cat '{}'", answer.display()));
    }

    fn write_script(&self, script: &str) {
        let draft = self.path("script");
        fs::write(&draft, format!("#!/bin/sh\n{script}\n")).unwrap();
        fs::set_permissions(&draft, fs::Permissions::from_mode(0o755)).unwrap();
        copy_program(&draft, &self.compiler());
    }

    /// Runs the command with no variable set but these, and the one that registers the driver.
    fn run(&self, words: &[&str], switches: &[(&str, &Path)]) -> Output {
        let mut command = Command::new(self.path("bin/lockstep"));
        command.env_clear().env("PATH", "/usr/bin:/bin").env("HOME", self.0.path());
        command.env("OCL_ICD_VENDORS", self.driver());
        command.args(words).envs(switches.iter().copied()).output().unwrap()
    }

    /// What the command prints where it succeeds.
    #[track_caller]
    fn text(&self, words: &[&str], switches: &[(&str, &Path)]) -> String {
        let output = self.run(words, switches);
        assert!(output.status.success(), "{output:?}");
        printed(&output)
    }
}

/// A library of the system's.
fn own_library() -> PathBuf {
    let maps = fs::read_to_string("/proc/self/maps").unwrap();
    let path = maps.lines().filter_map(|line| Some(&line[line.find('/')?..])).find(|path| path.ends_with("/libc.so.6"));
    PathBuf::from(path.expect("tests use the C library"))
}

/// Copies a program in a process of its own. Written by this one, it would be open in children of other tests until they begin
/// their own programs, and what is open for writing does not run.
#[track_caller]
fn copy_program(from: &Path, to: &Path) {
    assert!(Command::new("cp").arg("--preserve=mode").arg(from).arg(to).status().unwrap().success());
}

fn printed(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

/// The line of doctor's about one thing.
#[track_caller]
fn line_about<'a>(text: &'a str, subject: &str) -> &'a str {
    let is_about = |line: &&str| line.split_whitespace().nth(1) == Some(subject);
    text.lines().find(is_about).unwrap_or_else(|| panic!("nothing about the {subject}: {text}"))
}

#[test]
fn the_version_has_commit_llvm_and_processor() {
    let installation = Installation::new();
    let text = installation.text(&["--version"], &[]);
    let commit = Command::new("git").args(["rev-parse", "--short", "HEAD"]).output();
    let commit = commit.ok().filter(|output| output.status.success());
    let commit = commit.map_or_else(|| "no commit".to_owned(), |output| printed(&output).trim().to_owned());
    let version = env!("CARGO_PKG_VERSION");
    assert_eq!(text, format!("lockstep {version} ({commit}, LLVM 1.2.3, {})\n", processor_name()));
    fs::remove_file(installation.compiler()).unwrap();
    assert!(installation.text(&["-V"], &[]).contains(", no compiler, "));
}

#[test]
fn all_is_well_with_an_installation() {
    let installation = Installation::new();
    let driver = installation.driver();
    let text = installation.text(&["doctor"], &[]);
    for subject in ["processor", "memory", "driver", "compiler", "sandbox", "cache", "registered"] {
        assert!(line_about(&text, subject).starts_with("ok "), "{text}");
    }
    assert!(line_about(&text, "processor").contains(&processor_name()), "{text}");
    assert!(line_about(&text, "driver").ends_with(driver.to_str().unwrap()), "{text}");
    let compiler = format!("{}, LLVM 1.2.3", installation.compiler().display());
    assert!(line_about(&text, "compiler").ends_with(&compiler), "{text}");
    let cache = installation.path(".cache/lockstep");
    assert!(line_about(&text, "cache").contains(&format!("{}, 0 entries", cache.display())), "{text}");
}

#[test]
fn findings_are_json_where_that_is_asked_for() {
    let installation = Installation::new();
    fs::remove_file(installation.compiler()).unwrap();
    let output = installation.run(&["doctor", "--json"], &[]);
    assert_eq!(output.status.code(), Some(1));
    let report: serde_json::Value = serde_json::from_str(&printed(&output)).unwrap();
    assert!(report["version"].as_str().unwrap().starts_with("lockstep "), "{report}");
    let state_of = |subject: &str| {
        let findings = report["findings"].as_array().unwrap();
        findings.iter().find(|finding| finding["subject"] == subject).unwrap()["state"].as_str().unwrap().to_owned()
    };
    assert_eq!([state_of("processor"), state_of("compiler"), state_of("driver")], ["ok", "broken", "ok"]);
}

#[test]
fn a_driver_that_nothing_names_or_loads_is_broken() {
    let installation = Installation::new();
    let driver = installation.driver();
    let elsewhere = [("OCL_ICD_VENDORS", installation.0.path())];
    let output = installation.run(&["doctor"], &elsewhere);
    assert_eq!(output.status.code(), Some(1));
    let line = line_about(&printed(&output), "registered").to_owned();
    assert!(line.starts_with("BROKEN ") && line.contains(driver.to_str().unwrap()), "{line}");
    fs::write(&driver, "text").unwrap();
    let line = line_about(&printed(&installation.run(&["doctor"], &[])), "driver").to_owned();
    assert!(line.starts_with("BROKEN ") && line.contains("cannot be loaded"), "{line}");
    fs::remove_file(&driver).unwrap();
    let line = line_about(&printed(&installation.run(&["doctor"], &[])), "driver").to_owned();
    assert!(line.starts_with("lacking ") && line.contains("is not there"), "{line}");
}

#[test]
fn what_lacks_is_said_and_no_failure() {
    let installation = Installation::new();
    installation.write_compiler(false);
    let text = installation.text(&["doctor"], &[("LOCKSTEP_CACHE", "off".as_ref())]);
    for subject in ["sandbox", "cache"] {
        assert!(line_about(&text, subject).starts_with("lacking "), "{text}");
    }
}

/// Has doctor look at a compiler that is none, and returns what it says of it.
#[track_caller]
fn words_about_broken(installation: &Installation, switches: &[(&str, &Path)]) -> String {
    let output = installation.run(&["doctor"], switches);
    let text = printed(&output);
    assert_eq!(output.status.code(), Some(1), "{text}");
    let line = line_about(&text, "compiler").to_owned();
    assert!(line.starts_with("BROKEN "), "{text}");
    line
}

#[test]
fn a_compiler_that_is_none_is_broken() {
    let installation = Installation::new();
    for (script, words) in [("echo something else", "no answer"), ("echo tired >&2; exit 3", "tired")] {
        installation.write_script(script);
        let line = words_about_broken(&installation, &[]);
        assert!(line.contains("is not the compiler of this driver") && line.contains(words), "{line}");
    }
    fs::remove_file(installation.compiler()).unwrap();
    let line = words_about_broken(&installation, &[]);
    assert!(line.contains(installation.compiler().to_str().unwrap()) && line.contains("No such file"), "{line}");
    installation.write_compiler(true);
    let line = words_about_broken(&installation, &[("LOCKSTEP_COMPILER", "/no/such/compiler".as_ref())]);
    assert!(line.contains("/no/such/compiler"), "{line}");
}

#[test]
fn entries_are_listed_and_cleared() {
    let installation = Installation::new();
    let folder = installation.path("entries");
    let cache = [("LOCKSTEP_CACHE", folder.as_path())];
    assert_eq!(installation.text(&["cache", "list"], &cache), format!("{}: 0 entries, 0.0 MiB\n", folder.display()));
    fs::create_dir(&folder).unwrap();
    fs::set_permissions(&folder, fs::Permissions::from_mode(0o700)).unwrap();
    let names = ["0123456789abcdef", "fedcba9876543210"].map(|part| part.repeat(4));
    for (name, bytes) in names.iter().zip([1 << 20, 3 << 20]) {
        fs::write(folder.join(name), vec![0; bytes]).unwrap();
    }
    fs::write(folder.join("of somebody else"), "text").unwrap();
    let text = installation.text(&["cache", "list"], &cache);
    assert!(names.iter().all(|name| text.lines().any(|line| line.starts_with(name))), "{text}");
    assert!(text.ends_with(&format!("{}: 2 entries, 4.0 MiB\n", folder.display())), "{text}");
    assert!(line_about(&installation.text(&["doctor"], &cache), "cache").contains("2 entries, 4.0 MiB"));
    let text = installation.text(&["cache", "clear"], &cache);
    assert_eq!(text, format!("{}: 2 entries, 4.0 MiB removed\n", folder.display()));
    let left: Vec<_> = fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(left, ["of somebody else"]);
    fs::set_permissions(&folder, fs::Permissions::from_mode(0o777)).unwrap();
    let output = installation.run(&["cache", "clear"], &cache);
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    let text = installation.text(&["doctor"], &cache);
    assert!(line_about(&text, "cache").contains("must be yours, writable by nobody else"), "{text}");
}

#[test]
fn other_words_are_refused() {
    let installation = Installation::new();
    for words in [&["heal"][..], &["cache"], &["cache", "burn"], &[]] {
        assert_eq!(installation.run(words, &[]).status.code(), Some(2), "{words:?}");
    }
}
