//! Runs a program as a child process with everything bounded: time, memory, stack, size of output.
//!
//! The application around us may have any disposition of `SIGCHLD` and `SIGPIPE`, may have closed its standard streams
//! and may call `wait` in another thread. The end of the child is awaited through a process descriptor, while its streams are
//! served ([`super::streams`]); its status may be gone by then ([`Ending::Unknown`]), and whoever judges the result must look at
//! the output.

use std::ffi::CStr;
use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::time::{Duration, Instant};

use super::start::{self, Program, ResourceLimit, StartError, Started};
use super::streams::Streams;

/// What a child process may use.
#[derive(Clone, Copy, Debug)]
pub(super) struct Limits {
    /// Real time from start to end.
    pub wall: Duration,
    /// Address space, in bytes.
    pub address_space: u64,
    /// Size of its output, and of each file it writes, in bytes.
    pub output: u64,
    /// How much of the error stream is kept, in bytes.
    pub log: usize,
}

/// How a child process ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ending {
    /// By itself, with this status.
    Exited(i32),
    /// By this signal.
    Signalled(i32),
    /// It was killed because its time was over.
    TimedOut,
    /// It was killed because its output was too large.
    TooMuchOutput,
    /// Somebody else in this process took the status.
    Unknown,
}

/// What a child process left behind.
#[derive(Debug)]
pub(super) struct Outcome {
    /// How it ended.
    pub ending: Ending,
    /// Its standard output.
    pub stdout: Vec<u8>,
    /// The beginning of its error stream.
    pub stderr: Vec<u8>,
    /// What it was doing last, if it said so.
    pub stage: String,
}

/// How long a child whose time is over may take to say what it is at.
const LAST_WORDS: Duration = Duration::from_millis(200);

/// What a child is told to be called.
const NAME: &CStr = c"lockstep-compiler";

/// Bytes of the stack that a child gets, whatever this process has; less only if that is the hard limit. Parsers and LLVM's
/// passes go deep into deep programs.
pub(super) const STACK: u64 = 64 << 20;

/// Bytes of address space that a child may take.
pub(super) const ADDRESS_SPACE: u64 = 8 << 30;

/// Bytes of address space that a child gets at most: less if that is this process's hard limit.
pub(super) fn most_address_space() -> u64 {
    ADDRESS_SPACE.min(hard_limit(libc::RLIMIT_AS))
}

/// Runs a program that is an open file and has, or had, a path, with `stdin_bytes` as its standard input.
///
/// # Errors
/// The system call that failed, where it could not be started.
pub(super) fn run_program(
    program_file: BorrowedFd<'_>,
    path: &CStr,
    stdin_bytes: &[u8],
    process_limits: &Limits,
) -> Result<Outcome, StartError> {
    let kept_bytes = [usize::try_from(process_limits.output).unwrap_or(usize::MAX), process_limits.log];
    let (mut streams, process_ends) = Streams::open_streams(stdin_bytes, kept_bytes)?;
    // What fits is there when the process begins.
    streams.exchange()?;
    let program = Program {
        file: program_file,
        path,
        name: NAME,
        streams: &process_ends.each_ref().map(AsFd::as_fd),
        limits: &process_limits.resource_limits(),
    };
    let process = Running(start::start_program(&program)?);
    drop(process_ends);
    let ending = process.serve_to_end(&mut streams, process_limits)?;
    let stage = streams.progress.read_stage();
    Ok(Outcome { ending, stdout: streams.output.bytes, stderr: streams.errors.bytes, stage })
}

impl Limits {
    fn resource_limits(&self) -> [ResourceLimit; 5] {
        let seconds = self.wall.as_secs().saturating_add(1);
        let (stack_soft, stack_hard) = stack_limits();
        [
            (libc::RLIMIT_AS as i32, self.address_space, self.address_space),
            (libc::RLIMIT_CPU as i32, seconds, seconds),
            (libc::RLIMIT_FSIZE as i32, self.output, self.output),
            (libc::RLIMIT_CORE as i32, 0, 0),
            (libc::RLIMIT_STACK as i32, stack_soft, stack_hard),
        ]
    }
}

/// The limits of a child's stack, soft and hard, in bytes.
pub(super) fn stack_limits() -> (u64, u64) {
    let own_limit = hard_limit(libc::RLIMIT_STACK);
    // Not without a limit: what never ends is to end soon.
    (STACK.min(own_limit), own_limit)
}

/// How far this process may raise its limit of a resource.
fn hard_limit(resource: libc::__rlimit_resource_t) -> u64 {
    let mut limit = libc::rlimit { rlim_cur: libc::RLIM_INFINITY, rlim_max: libc::RLIM_INFINITY };
    // SAFETY: `limit` may be written. Should the call fail it stays as it is.
    unsafe { libc::getrlimit(resource, &mut limit) };
    limit.rlim_max
}

struct Running(Started);

impl Running {
    /// Serves the streams until the process ends by itself or breaks its limits.
    fn serve_to_end(mut self, streams: &mut Streams<'_>, process_limits: &Limits) -> Result<Ending, StartError> {
        let deadline = Instant::now() + process_limits.wall;
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                self.ask_for_last_words(streams);
                self.kill_and_reap();
                return Ok(Ending::TimedOut);
            }
            self.wait_a_while(streams, left);
            // Who has ended before the streams are looked at says nothing afterwards.
            let ending = self.poll_ending();
            let exchanged = streams.exchange();
            if ending.is_none() && (exchanged.is_err() || streams.output.is_too_much) {
                self.kill_and_reap();
            }
            exchanged?;
            if streams.output.is_too_much {
                return Ok(Ending::TooMuchOutput);
            }
            if let Some(ending) = ending {
                return Ok(ending);
            }
        }
    }

    /// Waits for news of the process or for as long as said; without a descriptor of it, for a moment.
    fn wait_a_while(&self, streams: &Streams<'_>, longest: Duration) {
        let longest = if self.0.descriptor.is_some() { longest } else { longest.min(Duration::from_millis(1)) };
        streams.wait_for_news(self.0.descriptor.as_ref().map(AsFd::as_fd), longest);
    }

    /// Ends the process and those that it has started.
    fn kill_and_reap(&mut self) {
        self.kill_group();
        // A killed process is gone in an instant, unless the kernel holds it; then it is left to the system.
        let patience = Instant::now() + Duration::from_secs(2);
        while self.poll_ending().is_none() && Instant::now() < patience {
            std::thread::sleep(Duration::from_micros(100));
        }
    }

    fn poll_ending(&mut self) -> Option<Ending> {
        let mut status = 0;
        // SAFETY: `status` may be written.
        match unsafe { libc::waitpid(self.0.pid, &mut status, libc::WNOHANG) } {
            0 => None,
            pid if pid == self.0.pid && libc::WIFEXITED(status) => Some(Ending::Exited(libc::WEXITSTATUS(status))),
            pid if pid == self.0.pid && libc::WIFSIGNALED(status) => Some(Ending::Signalled(libc::WTERMSIG(status))),
            _ if io::Error::last_os_error().kind() == io::ErrorKind::Interrupted => None,
            // ECHILD: SIGCHLD is ignored, or another thread waits for every child.
            _ => Some(Ending::Unknown),
        }
    }

    /// Tells the child that its time is over, and lets it say what it is at.
    fn ask_for_last_words(&mut self, streams: &mut Streams<'_>) {
        // SAFETY: a system call without pointers. The child has not been waited for, so the number is still its own.
        unsafe { libc::kill(self.0.pid, libc::SIGXCPU) };
        let deadline = Instant::now() + LAST_WORDS;
        while self.poll_ending().is_none() && Instant::now() < deadline {
            self.wait_a_while(streams, deadline.saturating_duration_since(Instant::now()));
            // What fails here was over anyway.
            let _ = streams.exchange();
        }
        let _ = streams.exchange();
    }

    fn kill_group(&self) {
        // SAFETY: system calls without pointers. The child has not been waited for, so the numbers are still its own. The second
        // one is in case the group could not be made.
        unsafe {
            libc::kill(-self.0.pid, libc::SIGKILL);
            libc::kill(self.0.pid, libc::SIGKILL);
        }
    }
}
