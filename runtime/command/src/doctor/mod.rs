//! `lockstep doctor`: whether everything is in its place. Each line is `ok` or says what to do.

mod registration;
mod system;

use std::path::Path;
use std::process::ExitCode;

use lockstep_protocol::job::CompilerFacts;
use lockstep_runtime::cache::{list_entries, try_writing};
use lockstep_runtime::compiler_process;
use lockstep_runtime::options::{CachePlace, options};
use lockstep_runtime::platform::Platform;
use serde::Serialize;

use crate::cache::describe_total;
use crate::installation::driver_path;
use crate::probe::{Probe, probe_in_child};
use registration::{Environment, LoaderKind};

/// What was found of one thing.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
struct Finding {
    /// What was looked at.
    subject: &'static str,
    state: State,
    /// What was found, and what to do where it is not as it should be.
    words: String,
}

/// How it is with a thing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
enum State {
    /// Nothing is to be done; in JSON `ok`.
    #[serde(rename = "ok")]
    Fine,
    /// Applications run, but not as they could.
    Lacking,
    /// Applications cannot do what they want.
    Broken,
}

/// Looks at everything and prints it, a line each or as JSON; fails if something is broken.
pub fn report_findings(as_json: bool) -> ExitCode {
    let findings = examine_all();
    match as_json {
        true => println!("{}", serde_json::json!({ "version": crate::describe_version(), "findings": findings })),
        false => findings.iter().for_each(|finding| println!("{}", describe_finding(finding))),
    }
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
    // Drivers are loaded while the compiler is asked.
    let probe = std::thread::spawn(probe_in_child);
    let mut findings = system::examine_system();
    findings.extend(examine_compiler());
    findings.push(examine_cache());
    let driver = driver_path();
    let probe = probe.join().unwrap_or_else(|_| Err("looking at the drivers failed".to_owned()));
    let environment = Environment::of_this_process(kind_of_loader(probe.as_ref()));
    findings.extend(registration::examine_registrations(&driver, &environment, Path::new("/")));
    match probe {
        Ok(probe) => findings.extend(examine_probe(&driver, &probe)),
        Err(reason) => findings.push(Finding::broken("drivers", reason)),
    }
    findings
}

/// The loader that programs get, by what it calls itself.
fn kind_of_loader(probe: Result<&Probe, &String>) -> LoaderKind {
    match probe.map(|probe| &probe.loader) {
        Ok(Ok(loader)) if loader.version.contains("Khronos") => LoaderKind::Khronos,
        _ => LoaderKind::OclIcd,
    }
}

impl Finding {
    fn fine(subject: &'static str, words: String) -> Finding {
        Finding { subject, state: State::Fine, words }
    }

    fn lacking(subject: &'static str, words: String) -> Finding {
        Finding { subject, state: State::Lacking, words }
    }

    fn broken(subject: &'static str, words: String) -> Finding {
        Finding { subject, state: State::Broken, words }
    }
}

/// The compiler, and what it is kept from.
fn examine_compiler() -> Vec<Finding> {
    match compiler_process::describe_compiler() {
        Ok(facts) => {
            let path = compiler_process::executable_path().display();
            vec![Finding::fine("compiler", format!("{path}, {}", facts.llvm)), examine_sandbox(&facts)]
        }
        Err(reason) => vec![Finding::broken("compiler", reason)],
    }
}

/// The driver that belongs to this command, the ICD loader, and what that lists.
fn examine_probe(driver: &Path, probe: &Probe) -> Vec<Finding> {
    let loader = match &probe.loader {
        Ok(loader) => Finding::fine("loader", format!("{}, {}", loader.version, loader.path)),
        Err(reason) => Finding::lacking(
            "loader",
            format!(
                "{reason}: only programs that bring a loader along find drivers; apt-get install ocl-icd-libopencl1"
            ),
        ),
    };
    let mut findings = vec![examine_driver(driver, probe), loader];
    if probe.loader.is_ok() {
        findings.push(examine_platforms(probe, Platform::get().name()));
    }
    findings
}

fn examine_driver(driver: &Path, probe: &Probe) -> Finding {
    match &probe.driver_error {
        None => Finding::fine("driver", driver.display().to_string()),
        Some(_) if !driver.is_file() => {
            Finding::lacking("driver", format!("{} is not there: applications use another one", driver.display()))
        }
        Some(reason) => Finding::broken("driver", format!("{} cannot be loaded: {reason}", driver.display())),
    }
}

/// `own_name` is what this driver's platform is called.
fn examine_platforms(probe: &Probe, own_name: &str) -> Finding {
    let names: Vec<&str> = probe.platforms.iter().map(|platform| platform.name.as_str()).collect();
    let list = if names.is_empty() { "none".to_owned() } else { names.join(", ") };
    match names.contains(&own_name) {
        true => Finding::fine("platforms", format!("{list}; `lockstep devices` says more")),
        false => Finding::lacking("platforms", format!("{list}: {own_name} is not among those that the loader lists")),
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
        CachePlace::Folder(folder) => match try_writing(folder).and_then(|()| list_entries(folder)) {
            Ok(entries) => {
                let limit = options().cache_bytes >> 20;
                Finding::fine("cache", format!("{}, {} of {limit} MiB", folder.display(), describe_total(&entries)))
            }
            Err(error) => Finding::lacking(
                "cache",
                format!(
                    "{}: {error}; the folder must be yours, writable by nobody else, and have room: {NONE}",
                    folder.display()
                ),
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

    /// A machine with a loader that lists these platforms.
    fn probed(platforms: &[&str]) -> Probe {
        let describe = |name: &&str| crate::probe::PlatformFacts {
            name: (*name).to_owned(),
            vendor: String::new(),
            version: String::new(),
            devices: Vec::new(),
        };
        let loader =
            crate::probe::Loader { path: "/lib/libOpenCL.so.1".to_owned(), version: "ocl-icd 2.3.1".to_owned() };
        Probe { loader: Ok(loader), driver_error: None, platforms: platforms.iter().map(describe).collect() }
    }

    #[test]
    fn platforms_are_named_and_ours_is_missed() {
        let found = examine_platforms(&probed(&["Other", "Lockstep"]), "Lockstep");
        assert_eq!(found.state, State::Fine);
        assert!(found.words.starts_with("Other, Lockstep;"), "{}", found.words);
        assert_eq!(examine_platforms(&probed(&["Other"]), "Lockstep").state, State::Lacking);
        assert!(examine_platforms(&probed(&[]), "Lockstep").words.starts_with("none: "));
    }

    #[test]
    fn without_a_loader_it_is_said_what_to_install() {
        let mut probe = probed(&[]);
        probe.loader = Err("libOpenCL.so.1: cannot open".to_owned());
        let found = examine_probe(Path::new("/no/such/driver"), &probe);
        assert_eq!(found.len(), 2, "nothing about platforms");
        assert!(found[1].words.contains("apt-get install ocl-icd-libopencl1"));
    }

    #[test]
    fn a_driver_that_cannot_be_loaded_is_broken() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let mut probe = probed(&[]);
        probe.driver_error = Some("version `GLIBC_2.99' not found".to_owned());
        let found = examine_driver(file.path(), &probe);
        assert_eq!(found.state, State::Broken);
        assert!(found.words.ends_with("GLIBC_2.99' not found"));
        assert_eq!(examine_driver(Path::new("/no/such/driver"), &probe).state, State::Lacking);
    }

    #[test]
    fn lines_begin_with_how_it_is() {
        let broken = Finding { subject: "compiler", state: State::Broken, words: "it is not there".to_owned() };
        assert_eq!(describe_finding(&broken), "BROKEN   compiler   it is not there");
    }
}
