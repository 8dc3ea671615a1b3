//! An application that is killed while a job of the compiler runs.

use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use lockstep_conformance::stand_in::real_compiler;
use lockstep_conformance::{Setup, is_lockstep};

/// Set for the application that is to be killed.
const MARK: &str = "KILLED_APPLICATION";

/// A source that takes clang longer than anybody waits.
fn endless_source() -> String {
    let doubled = |number: i32| format!("#define A{number}(x) A{0}(x) A{0}(x)\n", number - 1);
    let macros: String = (1..40).map(doubled).collect();
    format!("#define A0(x) x x\n{macros}kernel void f() {{ A39(;) }}\n")
}

/// The processes that run this executable.
fn count_processes(executable: &Path) -> usize {
    let processes = std::fs::read_dir("/proc").expect("there is a list of processes").flatten();
    processes
        .filter(|process| std::fs::read_link(process.path().join("exe")).is_ok_and(|exe| exe == executable))
        .count()
}

/// Waits until so many processes run the executable.
#[track_caller]
fn wait_for_count(executable: &Path, count: usize) {
    let deadline = Instant::now() + Duration::from_secs(20);
    while count_processes(executable) != count {
        assert!(Instant::now() < deadline, "{} processes, not {count}", count_processes(executable));
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// A copy of the compiler that no other test runs; it goes away with the value.
struct OwnCompiler(PathBuf);

impl OwnCompiler {
    fn new() -> OwnCompiler {
        let folder = std::env::temp_dir().join(format!("lockstep-killed-{}", std::process::id()));
        std::fs::create_dir_all(&folder).expect("a folder");
        let path = folder.join("lockstep-compiler");
        std::fs::copy(real_compiler(), &path).expect("a copy");
        OwnCompiler(path)
    }
}

impl Drop for OwnCompiler {
    fn drop(&mut self) {
        if let Some(folder) = self.0.parent() {
            let _ = std::fs::remove_dir_all(folder);
        }
    }
}

#[test]
fn a_killed_application_leaves_no_compiler_running() {
    const TEST: &str = "endings::a_killed_application_leaves_no_compiler_running";
    if !is_lockstep() {
        return;
    }
    if std::env::var_os(MARK).is_some() {
        Setup::new().context.source(&endless_source()).build("");
        return;
    }
    let compiler = OwnCompiler::new();
    let mut application = Command::new(std::env::current_exe().expect("the test knows its own executable"))
        .args([TEST, "--exact", "--nocapture", "--test-threads=1"])
        .env(MARK, "1")
        .env("LOCKSTEP_COMPILER", &compiler.0)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("the test can start itself");
    wait_for_count(&compiler.0, 1);
    application.kill().expect("it runs");
    assert_eq!(application.wait().expect("it was started").signal(), Some(libc::SIGKILL));
    wait_for_count(&compiler.0, 0);
}
