//! Runs a program as a child process with everything bounded: time, memory, size of output.
//!
//! The application around us may have any disposition of `SIGCHLD` and `SIGPIPE`, may have closed its standard streams
//! and may call `wait` in another thread. So the three streams of the child are anonymous memory files: nothing can
//! block on a full pipe, and no `SIGPIPE` can be raised. The end of the child is awaited through a process descriptor;
//! its status may be gone by then ([`Ending::Unknown`]), and whoever judges the result must look at the output.

use std::ffi::{CStr, OsString};
use std::fs::File;
use std::io::{self, Write};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::os::unix::fs::FileExt;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// What a child process may use.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
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
pub(crate) enum Ending {
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
pub(crate) struct Outcome {
    /// How it ended.
    pub ending: Ending,
    /// Its standard output.
    pub stdout: Vec<u8>,
    /// The beginning of its error stream.
    pub stderr: Vec<u8>,
    /// Whether the error stream was longer than what is kept.
    pub stderr_cut: bool,
    /// How large its stack could become, in bytes.
    pub stack: u64,
}

/// Bytes of the stack that a child gets, as is usual, whatever this process has; less only if that is the hard limit.
pub(crate) const STACK: u64 = 8 << 20;

/// Runs `program` with `stdin_bytes` as its standard input.
pub(crate) fn run_program(
    program: &Path,
    arguments: &[OsString],
    stdin_bytes: &[u8],
    process_limits: &Limits,
) -> io::Result<Outcome> {
    let mut stdin = memory_file(c"lockstep-in")?;
    stdin.write_all(stdin_bytes)?;
    io::Seek::rewind(&mut stdin)?;
    let stdout = memory_file(c"lockstep-out")?;
    let stderr = memory_file(c"lockstep-err")?;

    // An empty environment: neither the language of messages nor search paths shall depend on the application.
    let mut command = Command::new(program);
    command
        .args(arguments)
        .env_clear()
        .env("LC_ALL", "C")
        .env("PATH", "/usr/local/bin:/usr/bin:/bin")
        .stdin(Stdio::from(stdin))
        .stdout(Stdio::from(stdout.try_clone()?))
        .stderr(Stdio::from(stderr.try_clone()?))
        .process_group(0);
    let stack = stack_limit();
    if stack.raised {
        // SAFETY: between fork and exec the closure makes one system call, on a structure of its own.
        unsafe { command.pre_exec(move || stack.apply_limits()) };
    }
    let child = command.spawn()?;
    let ending = Running { child }.wait_for_end(process_limits);
    let (stdout, _) = read_contents(&stdout, usize::MAX)?;
    let (stderr, stderr_cut) = read_contents(&stderr, process_limits.log)?;
    Ok(Outcome { ending, stdout, stderr, stderr_cut, stack: stack.soft })
}

/// The limits of a child's stack, in bytes.
#[derive(Clone, Copy, Debug)]
struct StackLimit {
    soft: u64,
    hard: u64,
    /// Whether the first one is larger than this process's own. Only then is it set, because a child that does something
    /// before it becomes another program cannot be started in the fast way (`vfork`).
    raised: bool,
}

/// The limits for a child: this process's own, but for a soft one that is too small.
fn stack_limit() -> StackLimit {
    let mut own_limit = libc::rlimit { rlim_cur: libc::RLIM_INFINITY, rlim_max: libc::RLIM_INFINITY };
    // SAFETY: `own_limit` may be written. Should the call fail it stays as it is.
    unsafe { libc::getrlimit(libc::RLIMIT_STACK, &mut own_limit) };
    let soft_limit = own_limit.rlim_cur.max(own_limit.rlim_max.min(STACK));
    StackLimit { soft: soft_limit, hard: own_limit.rlim_max, raised: soft_limit > own_limit.rlim_cur }
}

impl StackLimit {
    /// Sets the limits of the calling process.
    fn apply_limits(self) -> io::Result<()> {
        let limit = libc::rlimit { rlim_cur: self.soft, rlim_max: self.hard };
        // SAFETY: `limit` outlives the call.
        match unsafe { libc::setrlimit(libc::RLIMIT_STACK, &limit) } {
            0 => Ok(()),
            _ => Err(io::Error::last_os_error()),
        }
    }
}

struct Running {
    child: Child,
}

impl Running {
    fn wait_for_end(mut self, process_limits: &Limits) -> Ending {
        let deadline = Instant::now() + process_limits.wall;
        self.limit_child(process_limits);
        let descriptor = self.open_descriptor();
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                break;
            }
            wait_a_while(descriptor.as_ref(), left);
            if let Some(ending) = self.poll_ending() {
                return ending;
            }
        }
        self.kill_group();
        // A killed process is gone in an instant, unless the kernel holds it; then it is left to the system.
        let patience = Instant::now() + Duration::from_secs(2);
        while self.poll_ending().is_none() && Instant::now() < patience {
            wait_a_while(descriptor.as_ref(), Duration::from_millis(100));
        }
        Ending::TimedOut
    }

    fn poll_ending(&mut self) -> Option<Ending> {
        match self.child.try_wait() {
            Ok(None) => None,
            Ok(Some(status)) => Some(match (status.code(), status.signal()) {
                (Some(code), _) => Ending::Exited(code),
                (None, Some(signal)) => Ending::Signalled(signal),
                (None, None) => Ending::Unknown,
            }),
            // ECHILD: SIGCHLD is ignored, or another thread waits for every child.
            Err(_) => Some(Ending::Unknown),
        }
    }

    /// Limits the child from outside, so that the fast way of starting it (`vfork`) stays open.
    fn limit_child(&self, process_limits: &Limits) {
        let seconds = process_limits.wall.as_secs().saturating_add(1);
        for (resource, value) in [
            (libc::RLIMIT_AS, process_limits.address_space),
            (libc::RLIMIT_CPU, seconds),
            (libc::RLIMIT_FSIZE, process_limits.output),
            (libc::RLIMIT_CORE, 0),
        ] {
            let resource_limit = libc::rlimit { rlim_cur: value, rlim_max: value };
            // SAFETY: `resource_limit` outlives the call and the old limit is not asked for. The child has not been waited for,
            // so the number is its own. It fails if the child is gone or the hard limit is lower; both are harmless.
            unsafe { libc::prlimit(self.pid(), resource, &resource_limit, std::ptr::null_mut()) };
        }
    }

    /// A descriptor that becomes readable when the child ends; none on kernels before 5.3.
    fn open_descriptor(&self) -> Option<OwnedFd> {
        // SAFETY: a system call without pointers.
        let descriptor = unsafe { libc::syscall(libc::SYS_pidfd_open, self.pid(), 0) };
        // SAFETY: the kernel has just made this descriptor for us.
        (descriptor >= 0).then(|| unsafe { OwnedFd::from_raw_fd(descriptor as i32) })
    }

    fn kill_group(&mut self) {
        // SAFETY: a system call without pointers. The child has not been waited for, so the group is still its own.
        unsafe { libc::kill(-self.pid(), libc::SIGKILL) };
        // In case the group could not be made. It fails if the child is gone, which is what we want.
        let _ = self.child.kill();
    }

    fn pid(&self) -> libc::pid_t {
        self.child.id() as libc::pid_t
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

/// A file in memory, closed in children, and never one of the descriptors 0 to 2.
fn memory_file(name: &CStr) -> io::Result<File> {
    // SAFETY: a terminated string; the kernel copies it.
    let descriptor = unsafe { libc::memfd_create(name.as_ptr(), libc::MFD_CLOEXEC) };
    if descriptor < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the kernel has just made this descriptor for us.
    let file = unsafe { File::from_raw_fd(descriptor) };
    if descriptor > libc::STDERR_FILENO {
        return Ok(file);
    }
    // An application that closed its own streams: in the child the number would collide with those of the streams.
    // `try_clone` takes the lowest free descriptor from 3 on.
    file.try_clone()
}

fn read_contents(file: &File, byte_limit: usize) -> io::Result<(Vec<u8>, bool)> {
    let length = usize::try_from(file.metadata()?.len()).unwrap_or(usize::MAX);
    let mut bytes = vec![0; length.min(byte_limit)];
    file.read_exact_at(&mut bytes, 0)?;
    Ok((bytes, length > byte_limit))
}
