//! `lockstep doctor`: whether everything is in its place. Each line is `ok` or says what to do.

use std::process::ExitCode;

use lockstep_protocol::job::CompilerFacts;
use lockstep_runtime::cache::list_entries;
use lockstep_runtime::compiler_process;
use lockstep_runtime::machine::{processor_name, register_bits};
use lockstep_runtime::options::{CachePlace, options};

use crate::cache::describe_total;
use crate::installation::driver_path;

/// What was found of one thing.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Finding {
    /// What was looked at.
    subject: &'static str,
    state: State,
    /// What was found, and what to do where it is not as it should be.
    words: String,
}

/// How it is with a thing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Fine,
    /// Applications run, but not as they could.
    Lacking,
    /// Applications cannot do what they want.
    Broken,
}

/// Looks at everything; fails if something is broken.
pub fn report_findings() -> ExitCode {
    let findings = examine_all();
    findings.iter().for_each(|finding| println!("{}", describe_finding(finding)));
    let is_broken = findings.iter().any(|finding| finding.state == State::Broken);
    if is_broken { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}

fn describe_finding(finding: &Finding) -> String {
    let mark = match finding.state {
        State::Fine => "ok     ",
        State::Lacking => "lacking",
        State::Broken => "BROKEN ",
    };
    format!("{mark}  {:<10} {}", finding.subject, finding.words)
}

fn examine_all() -> Vec<Finding> {
    let processor = Finding::fine(
        "processor",
        format!("{}; registers of {} bits", processor_name(), register_bits(options().simd)),
    );
    let mut findings = vec![processor, examine_driver()];
    match compiler_process::describe_compiler() {
        Ok(facts) => {
            let path = compiler_process::executable_path().display();
            findings.push(Finding::fine("compiler", format!("{path}, {}", facts.llvm)));
            findings.push(examine_sandbox(&facts));
        }
        Err(reason) => findings.push(Finding { subject: "compiler", state: State::Broken, words: reason }),
    }
    findings.push(examine_cache());
    findings
}

impl Finding {
    fn fine(subject: &'static str, words: String) -> Finding {
        Finding { subject, state: State::Fine, words }
    }

    fn lacking(subject: &'static str, words: String) -> Finding {
        Finding { subject, state: State::Lacking, words }
    }
}

/// The driver that belongs to this command.
fn examine_driver() -> Finding {
    let path = driver_path();
    match path.is_file() {
        true => Finding::fine("driver", path.display().to_string()),
        false => Finding::lacking("driver", format!("{} is not there: applications use another one", path.display())),
    }
}

/// What keeps the compiler from what hostile sources might have it do.
fn examine_sandbox(facts: &CompilerFacts) -> Finding {
    let missing: Vec<&str> = [
        (
            facts.files_are_confined,
            "files are within its reach (no Landlock: Linux 5.13 or later, and not forbidden by a container)",
        ),
        (facts.calls_are_confined, "system calls are not refused (no seccomp)"),
    ]
    .into_iter()
    .filter_map(|(is_there, words)| (!is_there).then_some(words))
    .collect();
    match missing[..] {
        [] => Finding::fine("sandbox", "the compiler reads the program's folders and reaches nothing else".to_owned()),
        _ => Finding::lacking("sandbox", format!("the compiler works, but {}", missing.join(", and "))),
    }
}

fn examine_cache() -> Finding {
    const NONE: &str = "what is compiled is not kept for later processes";
    match &options().cache {
        CachePlace::Off => Finding::lacking("cache", format!("off (LOCKSTEP_CACHE): {NONE}")),
        CachePlace::Memory => {
            Finding::lacking("cache", format!("no folder (HOME, XDG_CACHE_HOME, LOCKSTEP_CACHE): {NONE}"))
        }
        CachePlace::Folder(folder) => match list_entries(folder) {
            Ok(entries) => {
                let limit = options().cache_bytes >> 20;
                Finding::fine("cache", format!("{}, {} of {limit} MiB", folder.display(), describe_total(&entries)))
            }
            Err(error) => Finding::lacking(
                "cache",
                format!("{}: {error}; the folder must be yours and writable by nobody else: {NONE}", folder.display()),
            ),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sandbox_names_what_it_lacks() {
        let facts = |files_are_confined, calls_are_confined| CompilerFacts {
            llvm: "LLVM".to_owned(),
            files_are_confined,
            calls_are_confined,
        };
        assert_eq!(examine_sandbox(&facts(true, true)).state, State::Fine);
        let neither = examine_sandbox(&facts(false, false));
        assert_eq!(neither.state, State::Lacking);
        assert!(neither.words.contains("Landlock") && neither.words.contains("seccomp"), "{}", neither.words);
        assert!(!examine_sandbox(&facts(true, false)).words.contains("Landlock"));
    }

    #[test]
    fn lines_begin_with_how_it_is() {
        let broken = Finding { subject: "compiler", state: State::Broken, words: "it is not there".to_owned() };
        assert_eq!(describe_finding(&broken), "BROKEN   compiler   it is not there");
    }
}
