//! Tests that need a process of their own: for its output, its environment, or because it must not take others down.
//!
//! The test's executable is started again with only that test, which then runs the body instead of starting another.

use std::io::{Read, Write};
use std::process::{Command, Stdio};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

const MARK: &str = "LOCKSTEP_CONFORMANCE_CHILD";
const BEGIN: &str = "<<<begin>>>\n";
const END: &str = "<<<end>>>\n";

/// How long a child may take.
const LIMIT: Duration = Duration::from_secs(120);

/// What a child left behind.
pub struct Output {
    /// What it wrote to standard output while the body ran.
    pub stdout: String,
    /// Everything it wrote to standard error.
    pub stderr: String,
}

/// Runs `body` in a child process with `environment` added, and returns what it printed. `test` is the name of the
/// calling test function.
///
/// # Panics
/// When the child fails, is killed by a signal or does not end in time.
#[track_caller]
pub fn in_child(test: &str, environment: &[(&str, &str)], body: impl FnOnce()) -> Output {
    if std::env::var(MARK).is_ok_and(|name| name == test) {
        print!("{BEGIN}");
        flush();
        body();
        flush();
        print!("{END}");
        flush();
        std::process::exit(0);
    }
    let mut child = Command::new(std::env::current_exe().expect("the test knows its own executable"))
        .args([test, "--exact", "--nocapture", "--test-threads=1"])
        .env(MARK, test)
        .envs(environment.iter().copied())
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the test can start itself");
    let stdout = drain(child.stdout.take().expect("standard output is piped"));
    let stderr = drain(child.stderr.take().expect("standard error is piped"));
    let start = Instant::now();
    let status = loop {
        if let Some(status) = child.try_wait().expect("the child can be waited for") {
            break Some(status);
        }
        if start.elapsed() > LIMIT {
            let _ = child.kill();
            let _ = child.wait();
            break None;
        }
        std::thread::sleep(Duration::from_millis(5));
    };
    let stdout = stdout.join().expect("reading does not panic");
    let stderr = stderr.join().expect("reading does not panic");
    let Some(status) = status else {
        panic!("the child did not end within {LIMIT:?}\n{stdout}\n{stderr}");
    };
    assert!(status.success(), "the child failed: {status}\n{stdout}\n{stderr}");
    let body = stdout.split_once(BEGIN).and_then(|(_, rest)| rest.split_once(END)).map(|(body, _)| body.to_owned());
    let Some(body) = body else {
        panic!("the child did not run the test {test}\n{stdout}\n{stderr}");
    };
    Output { stdout: body, stderr }
}

/// Whether this process is one that [`in_child`] has started.
pub fn is_child() -> bool {
    std::env::var_os(MARK).is_some()
}

/// Reads a stream to its end in the background, so that the child never waits for room in the pipe.
fn drain(mut stream: impl Read + Send + 'static) -> JoinHandle<String> {
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        let _ = stream.read_to_end(&mut bytes);
        String::from_utf8_lossy(&bytes).into_owned()
    })
}

/// Lets this process have so many more bytes of address space than it has now.
pub fn limit_address_space(more: u64) {
    let pages = std::fs::read_to_string("/proc/self/statm").expect("the process describes itself");
    let pages: u64 = pages.split(' ').next().and_then(|pages| pages.parse().ok()).expect("a number of pages");
    let limit = pages * 4096 + more;
    let limit = libc::rlimit { rlim_cur: limit, rlim_max: limit };
    // SAFETY: the structure is live and complete.
    let code = unsafe { libc::setrlimit(libc::RLIMIT_AS, &limit) };
    assert_eq!(code, 0, "the limit cannot be set");
}

fn flush() {
    let _ = std::io::stdout().flush();
}
