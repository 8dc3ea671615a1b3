//! Runs a program as a child process with everything bounded: time, memory, stack, size of output.
//!
//! The application around us may have any disposition of `SIGCHLD` and `SIGPIPE`, may have closed its standard streams
//! and may call `wait` in another thread. So the three streams of the child are anonymous memory files: nothing can
//! block on a full pipe, and no `SIGPIPE` can be raised. The end of the child is awaited through a process descriptor;
//! its status may be gone by then ([`Ending::Unknown`]), and whoever judges the result must look at the output.

use std::ffi::CStr;
use std::fs::File;
use std::io::{self, Write};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd};
use std::os::unix::fs::FileExt;
use std::time::{Duration, Instant};

use lockstep_protocol::job::ProgressRecord;

use super::start::{self, Program, ResourceLimit, StartError, Started};

/// What a child process may use.
#[derive(Clone, Copy, Debug)]
pub(super) struct Limits {
    /// Real time from start to end.
    pub wall: Duration,
    /// Address space, in bytes.
    pub address_space: u64,
    /// Size of each of its output streams and of each file it writes, in bytes.
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

/// The descriptors that a child gets under numbers of its own have higher numbers here.
const LOWEST_DESCRIPTOR: i32 = 16;

/// What a child is told to be called.
const NAME: &CStr = c"lockstep-compiler";

/// Bytes of the stack that a child gets, whatever this process has; less only if that is the hard limit. Parsers and LLVM's
/// passes go deep into deep programs.
pub(super) const STACK: u64 = 64 << 20;

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
    let stream_error = |error| StartError { call: "memfd_create", error };
    let mut stdin = memory_file(c"lockstep-in").map_err(stream_error)?;
    stdin.write_all(stdin_bytes).and_then(|()| io::Seek::rewind(&mut stdin)).map_err(stream_error)?;
    let stdout = memory_file(c"lockstep-out").map_err(stream_error)?;
    let stderr = memory_file(c"lockstep-err").map_err(stream_error)?;
    let progress = memory_file(c"lockstep-progress").map_err(stream_error)?;
    let program = Program {
        file: program_file,
        path,
        name: NAME,
        streams: &[stdin.as_fd(), stdout.as_fd(), stderr.as_fd(), progress.as_fd()],
        limits: &process_limits.resource_limits(),
    };
    let ending = Running(start::start_program(&program)?).wait_for_end(process_limits);
    let stdout = read_contents(&stdout, usize::MAX).map_err(stream_error)?;
    let stderr = read_contents(&stderr, process_limits.log).map_err(stream_error)?;
    let progress = read_contents(&progress, size_of::<ProgressRecord>()).map_err(stream_error)?;
    Ok(Outcome { ending, stdout, stderr, stage: ProgressRecord::read_text(&progress) })
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
    let mut own_limit = libc::rlimit { rlim_cur: libc::RLIM_INFINITY, rlim_max: libc::RLIM_INFINITY };
    // SAFETY: `own_limit` may be written. Should the call fail it stays as it is.
    unsafe { libc::getrlimit(libc::RLIMIT_STACK, &mut own_limit) };
    // Not without a limit: what never ends is to end soon.
    (STACK.min(own_limit.rlim_max), own_limit.rlim_max)
}

struct Running(Started);

impl Running {
    fn wait_for_end(mut self, process_limits: &Limits) -> Ending {
        let deadline = Instant::now() + process_limits.wall;
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                break;
            }
            wait_a_while(self.0.descriptor.as_ref(), left);
            if let Some(ending) = self.poll_ending() {
                return ending;
            }
        }
        self.ask_for_last_words();
        self.kill_group();
        // A killed process is gone in an instant, unless the kernel holds it; then it is left to the system.
        let patience = Instant::now() + Duration::from_secs(2);
        while self.poll_ending().is_none() && Instant::now() < patience {
            wait_a_while(self.0.descriptor.as_ref(), Duration::from_millis(100));
        }
        Ending::TimedOut
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
    fn ask_for_last_words(&mut self) {
        // SAFETY: a system call without pointers. The child has not been waited for, so the number is still its own.
        unsafe { libc::kill(self.0.pid, libc::SIGXCPU) };
        wait_a_while(self.0.descriptor.as_ref(), LAST_WORDS);
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

/// Waits until the child ends or for as long as said; without a descriptor, for a moment.
fn wait_a_while(descriptor: Option<&OwnedFd>, longest: Duration) {
    let Some(descriptor) = descriptor else {
        std::thread::sleep(longest.min(Duration::from_millis(1)));
        return;
    };
    let mut poll_entry = libc::pollfd { fd: descriptor.as_raw_fd(), events: libc::POLLIN, revents: 0 };
    let milliseconds = longest.as_millis().clamp(1, 60_000) as i32;
    // SAFETY: one valid `pollfd`. An interruption by a signal ends the wait early, and the caller asks again.
    unsafe { libc::poll(&mut poll_entry, 1, milliseconds) };
}

/// A file in memory, closed in children, and none of the descriptors that a child gets: an application that closed its own
/// streams would else have it collide with those.
fn memory_file(name: &CStr) -> io::Result<File> {
    // SAFETY: a terminated string; the kernel copies it.
    let descriptor = unsafe { libc::memfd_create(name.as_ptr(), libc::MFD_CLOEXEC) };
    if descriptor < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the kernel has just made this descriptor for us.
    let file = unsafe { File::from_raw_fd(descriptor) };
    if descriptor >= LOWEST_DESCRIPTOR {
        return Ok(file);
    }
    // SAFETY: a system call without pointers on a descriptor that is open.
    let raised = unsafe { libc::fcntl(descriptor, libc::F_DUPFD_CLOEXEC, LOWEST_DESCRIPTOR) };
    if raised < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: as above.
    Ok(unsafe { File::from_raw_fd(raised) })
}

/// The first bytes of a file, at most so many.
fn read_contents(file: &File, byte_limit: usize) -> io::Result<Vec<u8>> {
    let length = usize::try_from(file.metadata()?.len()).unwrap_or(usize::MAX);
    let mut bytes = vec![0; length.min(byte_limit)];
    file.read_exact_at(&mut bytes, 0)?;
    Ok(bytes)
}
