//! How a job ended: with an answer, or why without one.

use std::path::Path;

use lockstep_protocol::job::{Answer, read_message};

use super::child::{self, Ending, Outcome};
use super::start::StartError;
use crate::cache::key::BUILD;
use crate::options::options;

/// Bytes of address space below which the death of a job is put down to their want.
const LITTLE_ADDRESS_SPACE: u64 = 2 << 30;

/// What clang, LLVM, Rust and the loader of libraries say on standard error before they give up for want of memory.
const WORDS_OF_WANT: [&str; 5] =
    ["out of memory", "bad_alloc", "memory allocation of", "failed to map segment", "Cannot allocate memory"];

/// Why a job has no answer.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum JobFailure {
    /// The compiler is not there, or is no part of this driver.
    #[error("{0}")]
    Missing(String),
    /// The process could not be started or served, for want of something or because it is forbidden.
    #[error("{0}")]
    NotStarted(String),
    /// There was not enough memory, for starting the process or for what it did.
    #[error("{0}")]
    OutOfMemory(String),
    /// The process died.
    #[error("{0}")]
    Died(String),
    /// It did not end in its time.
    #[error("{0}")]
    TimedOut(String),
}

/// The answer of a process of the compiler at this path, or why there is none.
///
/// # Errors
/// Whatever the process left in place of an answer.
pub(super) fn judge_outcome(outcome: &Outcome, path: &Path) -> Result<Answer, JobFailure> {
    let died = |how: String| Err(judge_death(outcome, &how));
    match outcome.ending {
        Ending::Answered => match read_message(&outcome.answer) {
            Some(Answer::OtherBuild(build)) => {
                Err(missing_compiler(path, &format!("it is of the build {build}, the driver of {BUILD}")))
            }
            Some(answer) => Ok(answer),
            None => died(format!("gave no answer ({})", path.display())),
        },
        Ending::Exited(0) | Ending::Unknown => died(format!("gave no answer ({})", path.display())),
        Ending::Exited(status) => died(format!("ended with status {status}")),
        Ending::TooMuchOutput | Ending::Signalled(libc::SIGXFSZ) => died("wrote too much".to_owned()),
        Ending::Signalled(libc::SIGXCPU) | Ending::TimedOut => {
            let seconds = options().build_timeout.as_secs_f64();
            let how = format!("did not end within {seconds} s and was stopped");
            Err(JobFailure::TimedOut(describe_death(outcome, &how)))
        }
        Ending::Signalled(signal) => died(format!("was ended by signal {signal}{}", describe_small_stack())),
    }
}

/// Why a process could not be started from this path.
pub(super) fn judge_start(path: &Path, error: &StartError) -> JobFailure {
    let words = || format!("the compiler ({}) could not be started: {error}", path.display());
    match (error.call, error.error.raw_os_error()) {
        ("open", Some(libc::ENOENT | libc::ENOTDIR | libc::EACCES))
        | ("execve" | "execveat", Some(libc::EACCES | libc::ENOEXEC)) => missing_compiler(path, &error.to_string()),
        (_, Some(libc::ENOMEM)) => JobFailure::OutOfMemory(words()),
        _ => JobFailure::NotStarted(words()),
    }
}

/// That the file at this path is not the compiler of this driver, and how that is known.
pub(super) fn missing_compiler(path: &Path, reason: &str) -> JobFailure {
    JobFailure::Missing(format!(
        "nothing can be compiled: {} is not the compiler of this driver ({reason}); it belongs beside the driver, or is named by LOCKSTEP_COMPILER",
        path.display()
    ))
}

fn judge_death(outcome: &Outcome, how: &str) -> JobFailure {
    let errors = String::from_utf8_lossy(&outcome.stderr);
    let address_space = outcome.address_space;
    let was_ended = matches!(outcome.ending, Ending::Signalled(_) | Ending::Unknown);
    let is_little = address_space < LITTLE_ADDRESS_SPACE;
    if (was_ended && is_little) || WORDS_OF_WANT.iter().any(|words| errors.contains(words)) {
        let limit = describe_memory_limit(address_space);
        let how = format!("had too little memory, at most {} MiB{limit}, and {how}", address_space >> 20);
        return JobFailure::OutOfMemory(describe_death(outcome, &how));
    }
    JobFailure::Died(describe_death(outcome, how))
}

/// Why a job had no more than so many bytes of address space, if it had less than usual.
fn describe_memory_limit(address_space: u64) -> &'static str {
    match address_space {
        child::ADDRESS_SPACE.. => "",
        _ if address_space == child::hard_limit(libc::RLIMIT_AS) => ", the limit of this process (ulimit -Hv)",
        _ => ", as the machine or the control group had little left",
    }
}

/// How lines begin that LLVM and Rust write whatever it was at.
const WORDS_WITHOUT_NEWS: [&str; 3] = ["PLEASE submit a bug report", "Stack dump:", "note: run with `RUST_BACKTRACE"];

/// How a job ended badly, what it was doing and what it said last.
fn describe_death(outcome: &Outcome, how: &str) -> String {
    let stage = if outcome.stage.is_empty() { String::new() } else { format!(" in {}", outcome.stage) };
    let errors = String::from_utf8_lossy(&outcome.stderr);
    let says_something =
        |line: &&str| !line.trim().is_empty() && !WORDS_WITHOUT_NEWS.iter().any(|words| line.starts_with(words));
    let last_line = errors.lines().rfind(says_something).unwrap_or_default();
    // LLVM numbers what it is at.
    let last_line = last_line.trim_start_matches(|letter: char| letter.is_ascii_digit() || letter == '.').trim_start();
    let last_words = if last_line.is_empty() { String::new() } else { format!(": {last_line}") };
    format!("the compiler {how}{stage}{last_words}")
}

/// What is to be said of the stack that a job had, if it was smaller than usual.
fn describe_small_stack() -> String {
    let (soft, _) = child::stack_limits();
    match soft < child::STACK {
        true => format!(", with a stack of at most {} KiB, the hard limit of this process (ulimit -Hs)", soft >> 10),
        false => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use std::io;

    use super::*;

    fn judge(ending: Ending, answer: &[u8], stderr: &[u8]) -> Result<Answer, JobFailure> {
        let (answer, stderr) = (answer.to_vec(), stderr.to_vec());
        let (stage, address_space) = ("clang".to_owned(), child::ADDRESS_SPACE);
        judge_outcome(&Outcome { ending, answer, stderr, stage, address_space }, "/some/compiler".as_ref())
    }

    #[test]
    fn deaths_for_want_of_memory_are_told_from_others() {
        let texts = [
            "LLVM ERROR: out of memory\nAllocation failed\nStack dump:\n",
            "terminate called after throwing an instance of 'std::bad_alloc'\n",
            "memory allocation of 99 bytes failed\n",
        ];
        for text in texts {
            let failure = judge(Ending::Signalled(libc::SIGABRT), b"", text.as_bytes());
            assert!(
                matches!(&failure, Err(JobFailure::OutOfMemory(words)) if words.contains("in clang")),
                "{failure:?}"
            );
        }
        let failure = judge(Ending::Signalled(libc::SIGABRT), b"", b"assertion failed\n");
        assert!(matches!(&failure, Err(JobFailure::Died(words)) if words.contains("assertion")), "{failure:?}");
        let failure = judge(Ending::Answered, b"rubbish", b"");
        assert!(matches!(&failure, Err(JobFailure::Died(words)) if words.contains("/some/compiler")), "{failure:?}");
    }

    #[test]
    fn the_last_words_are_those_that_say_something() {
        let words_after = |stderr: &[u8]| match judge(Ending::TimedOut, b"", stderr) {
            Err(JobFailure::TimedOut(words)) => words,
            other => panic!("{other:?}"),
        };
        let report =
            b"PLEASE submit a bug report to https://example.org and include the crash backtrace.\nStack dump:\n";
        assert_eq!(words_after(report), words_after(b""));
        let panic =
            b"thread 'main' panicked at a.rs:1:2:\nno such value\nnote: run with `RUST_BACKTRACE=1` to see more\n";
        assert!(words_after(panic).ends_with(": no such value"));
        let at_work = [report.as_slice(), b"0.\tRunning pass 'X86 DAG->DAG Instruction Selection'\n"].concat();
        assert!(words_after(&at_work).ends_with(": Running pass 'X86 DAG->DAG Instruction Selection'"));
    }

    #[test]
    fn what_keeps_a_process_from_starting_is_told_apart() {
        let judge = |call, number| {
            let error = StartError { call, error: io::Error::from_raw_os_error(number) };
            judge_start("/some/compiler".as_ref(), &error)
        };
        for (call, number) in [("open", libc::ENOENT), ("execveat", libc::ENOEXEC), ("execve", libc::EACCES)] {
            assert!(matches!(judge(call, number), JobFailure::Missing(_)), "{call} {number}");
        }
        for call in ["clone", "execveat", "socketpair"] {
            assert!(matches!(judge(call, libc::ENOMEM), JobFailure::OutOfMemory(_)), "{call}");
        }
        assert!(matches!(judge("clone", libc::EAGAIN), JobFailure::NotStarted(_)));
    }
}
