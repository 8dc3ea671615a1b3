//! Child processes: run one to its end, or under a time limit.

use std::io::{Read, Seek, SeekFrom};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use rustix::process::{Pid, Signal, kill_process_group};
use wait_timeout::ChildExt;

/// Runs a command with our own input and output; anything but success is an error.
pub fn run(command: &mut Command) -> Result<()> {
    let status = command.status().with_context(|| format!("cannot start {}", shown(command)))?;
    if !status.success() {
        bail!("{} ended with {}", shown(command), described(status));
    }
    Ok(())
}

/// Runs a command quietly and gives its standard output, or nothing where the
/// program is missing or fails.
pub fn output_of(command: &mut Command) -> Option<String> {
    let output = command.stderr(Stdio::null()).output().ok()?;
    if !output.status.success() {
        return None;
    }
    String::from_utf8(output.stdout).ok()
}

/// How a limited child ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// It called `exit` with this code.
    Exited(i32),
    /// This signal killed it.
    Signalled(i32),
    /// It was still running at its time limit and was killed with its children.
    TimedOut,
}

/// What a limited child left behind.
pub struct Finished {
    /// How it ended.
    pub ending: Ending,
    /// Standard output and standard error, as they came.
    pub output: String,
    /// Wall-clock time.
    pub elapsed: Duration,
}

/// Runs a command in a process group of its own and kills the whole group when
/// it is still running after `limit`.
pub fn run_limited(command: &mut Command, limit: Duration) -> Result<Finished> {
    // A file, not a pipe: a grandchild that outlives the child would keep a
    // pipe open, and a full pipe would stop the child.
    let mut log = tempfile::tempfile().context("cannot make a temporary file")?;
    let start = Instant::now();
    let mut child = command
        .stdin(Stdio::null())
        .stdout(log.try_clone()?)
        .stderr(log.try_clone()?)
        .process_group(0)
        .spawn()
        .with_context(|| format!("cannot start {}", shown(command)))?;
    let group = Pid::from_child(&child);
    let status = child.wait_timeout(limit)?;
    let elapsed = start.elapsed();
    // Nothing a sample or test started may go on eating the machine's time. A group without members is no matter.
    let _ = kill_process_group(group, Signal::KILL);
    child.wait()?;
    let ending = status.map_or(Ending::TimedOut, ending_of);
    let mut bytes = Vec::new();
    log.seek(SeekFrom::Start(0))?;
    log.read_to_end(&mut bytes)?;
    Ok(Finished { ending, output: String::from_utf8_lossy(&bytes).into_owned(), elapsed })
}

fn ending_of(status: ExitStatus) -> Ending {
    match (status.code(), status.signal()) {
        (Some(code), _) => Ending::Exited(code),
        (None, Some(signal)) => Ending::Signalled(signal),
        (None, None) => Ending::Exited(-1),
    }
}

fn shown(command: &Command) -> String {
    let mut words = vec![command.get_program().to_string_lossy().into_owned()];
    words.extend(command.get_args().map(|a| a.to_string_lossy().into_owned()));
    format!("`{}`", words.join(" "))
}

fn described(status: ExitStatus) -> String {
    match ending_of(status) {
        Ending::Exited(code) => format!("exit code {code}"),
        Ending::Signalled(signal) => format!("signal {signal}"),
        Ending::TimedOut => "a time-out".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(script: &str) -> Command {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        command
    }

    #[test]
    fn output_and_exit_code_arrive() {
        let done = run_limited(&mut shell("echo out; echo err >&2; exit 3"), Duration::from_secs(20)).expect("sh runs");
        assert_eq!(done.ending, Ending::Exited(3));
        assert_eq!(done.output, "out\nerr\n");
    }

    #[test]
    fn a_signal_is_told_from_an_exit() {
        let done = run_limited(&mut shell("kill -SEGV $$"), Duration::from_secs(20)).expect("runs");
        assert_eq!(done.ending, Ending::Signalled(Signal::SEGV.as_raw()));
    }

    #[test]
    fn the_limit_kills_children_too() {
        // The grandchild would write after the limit if it lived on.
        let marker = std::env::temp_dir().join(format!("xtask-marker-{}", std::process::id()));
        let script = format!("(sleep 1; touch {}) & wait", marker.display());
        let done = run_limited(&mut shell(&script), Duration::from_millis(200)).expect("runs");
        assert_eq!(done.ending, Ending::TimedOut);
        std::thread::sleep(Duration::from_millis(1300));
        assert!(!marker.exists(), "the grandchild outlived its limit");
    }
}
