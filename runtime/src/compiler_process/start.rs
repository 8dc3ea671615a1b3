//! Starts a program that is an open file, with bounds and streams of its own.
//!
//! The standard library starts programs by their path, which may mean something else by now: the application may have changed its root,
//! or a package may have replaced the file. And what must be done between fork and exec makes it copy the application's page tables.
//! Here the new process shares the application's memory until it becomes the program (`CLONE_VM`, `CLONE_VFORK`), as
//! `posix_spawn` has it, on a stack of its own. All signals are blocked until none of them is left to a handler of the application.

use std::ffi::{CStr, c_char, c_int, c_void};
use std::io;
use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd};
use std::ptr;

/// Bytes of the stack on which the process runs until it is the program: it makes a dozen system calls.
const STACK_BYTES: usize = 64 << 10;

/// The last of the kernel's signals.
const LAST_SIGNAL: c_int = 64;

/// A limit of the process: the resource, its soft and its hard value.
pub(super) type ResourceLimit = (c_int, u64, u64);

/// What is started, and how.
pub(super) struct Program<'a> {
    /// The file that is to be run, under a number that is none of the streams' in the process.
    pub file: BorrowedFd<'a>,
    /// Its path, by which scripts are run: who interprets one has to open it again.
    pub path: &'a CStr,
    /// What it is told to be called.
    pub name: &'a CStr,
    /// Its descriptors from 0 on: standard input, output and error, and what the program knows besides. None of them has one of these
    /// numbers here.
    pub streams: &'a [BorrowedFd<'a>],
    /// Limits that hold from its start.
    pub limits: &'a [ResourceLimit],
}

/// A process that was started.
#[derive(Debug)]
pub(super) struct Started {
    /// The number by which the system knows it.
    pub pid: libc::pid_t,
    /// A descriptor that becomes readable when it ends; none on kernels before 5.2.
    pub descriptor: Option<OwnedFd>,
}

/// Why a process could not be started: the system call that failed, and how.
#[derive(Debug, thiserror::Error)]
#[error("{call}: {error}")]
pub(super) struct StartError {
    /// The system call's name.
    pub call: &'static str,
    /// What the system said.
    pub error: io::Error,
}

impl StartError {
    /// There is no memory for what is needed on this side.
    pub(super) fn no_memory() -> StartError {
        StartError { call: "malloc", error: io::Error::from_raw_os_error(libc::ENOMEM) }
    }
}

/// What the new process works with, and what it leaves there if it does not become the program.
struct Shared<'a> {
    program: &'a Program<'a>,
    arguments: [*const c_char; 2],
    environment: [*const c_char; 1],
    failed_call: &'static str,
    error_number: c_int,
}

/// A piece of a stack, aligned as code expects a stack to be.
type StackPiece = u128;

/// Starts a program in a process group of its own, without an environment.
///
/// # Errors
/// The system call that failed.
pub(super) fn start_program(program: &Program<'_>) -> Result<Started, StartError> {
    // Never on this thread's stack, which may be as small.
    let mut stack: Vec<StackPiece> = Vec::new();
    stack.try_reserve_exact(STACK_BYTES / size_of::<StackPiece>()).map_err(|_| StartError::no_memory())?;
    stack.resize(STACK_BYTES / size_of::<StackPiece>(), 0);
    let mut shared = Shared {
        program,
        arguments: [program.name.as_ptr(), ptr::null()],
        environment: [ptr::null()],
        failed_call: "",
        error_number: 0,
    };
    let mut descriptor: c_int = -1;
    let _blocked = BlockedSignals::block_all();
    let mut pid = clone_process(&mut stack, &mut shared, libc::CLONE_PIDFD, &mut descriptor);
    if pid < 0 && last_error_number() == libc::EINVAL {
        descriptor = -1;
        pid = clone_process(&mut stack, &mut shared, 0, &mut descriptor);
    }
    if pid < 0 {
        return Err(StartError { call: "clone", error: io::Error::last_os_error() });
    }
    // SAFETY: the kernel has just made this descriptor for us.
    let descriptor = (descriptor >= 0).then(|| unsafe { OwnedFd::from_raw_fd(descriptor) });
    if shared.error_number != 0 {
        // SAFETY: the process is gone or about to be; nobody else may have waited for it, and if so that is harmless.
        unsafe { libc::waitpid(pid, ptr::null_mut(), 0) };
        let error = io::Error::from_raw_os_error(shared.error_number);
        return Err(StartError { call: shared.failed_call, error });
    }
    Ok(Started { pid, descriptor })
}

/// Makes the process and returns when it has become the program or given up. The answer is its number or negative.
fn clone_process(
    stack: &mut [StackPiece],
    shared: &mut Shared<'_>,
    flags: c_int,
    descriptor: &mut c_int,
) -> libc::pid_t {
    let stack_end = stack.as_mut_ptr_range().end;
    let flags = flags | libc::CLONE_VM | libc::CLONE_VFORK | libc::SIGCHLD;
    // SAFETY: stack, structure and descriptor live until the call returns, which is when the process no longer uses this
    // memory. `become_program` makes system calls and nothing that could find locks of this process held.
    unsafe {
        libc::clone(become_program, stack_end.cast(), flags, ptr::from_mut(shared).cast(), ptr::from_mut(descriptor))
    }
}

/// What the new process does. It never returns to the application's code.
extern "C" fn become_program(shared: *mut c_void) -> c_int {
    // SAFETY: `start_program` handed in the structure and waits.
    let shared = unsafe { &mut *shared.cast::<Shared<'_>>() };
    shared.failed_call = try_become_program(shared);
    shared.error_number = last_error_number();
    // SAFETY: ends this process without running anything of the application's.
    unsafe { libc::_exit(127) }
}

/// Becomes the program, or names the system call that failed.
fn try_become_program(shared: &Shared<'_>) -> &'static str {
    let program = shared.program;
    // SAFETY: system calls on this process alone, with structures that live here and texts that `start_program` keeps.
    unsafe {
        // Without a group of its own it is only harder to end.
        libc::setpgid(0, 0);
        // Every signal does what it usually does.
        (1..=LAST_SIGNAL).for_each(set_usual_action);
        let mut no_signals: libc::sigset_t = std::mem::zeroed();
        libc::sigemptyset(&mut no_signals);
        libc::sigprocmask(libc::SIG_SETMASK, &no_signals, ptr::null_mut());
        program.limits.iter().for_each(|&limit| set_limit(limit));
        for (number, stream) in (0..).zip(program.streams) {
            if libc::dup2(stream.as_raw_fd(), number) < 0 {
                return "dup2";
            }
        }
        // What the application left open for children of its own is none of the program's. Kernels before 5.11 cannot.
        let (first, last) = (program.streams.len() as u32, u32::MAX);
        libc::syscall(libc::SYS_close_range, first, last, libc::CLOSE_RANGE_CLOEXEC);
        libc::syscall(
            libc::SYS_execveat,
            program.file.as_raw_fd(),
            c"".as_ptr(),
            shared.arguments.as_ptr(),
            shared.environment.as_ptr(),
            libc::AT_EMPTY_PATH,
        );
        // A script, or a call that the kernel does not know or a filter forbids.
        if matches!(last_error_number(), libc::ENOENT | libc::ENOSYS | libc::EPERM) {
            libc::execve(program.path.as_ptr(), shared.arguments.as_ptr(), shared.environment.as_ptr());
            return "execve";
        }
    }
    "execveat"
}

/// Lets a signal do what it usually does, also one that the C library has for itself and whoever started the application has
/// had ignored. Of a number that cannot be set nothing is to be feared.
fn set_usual_action(signal: c_int) {
    // The kernel's structure of handler, flags, restorer and mask.
    let usual = [0_usize; 4];
    // SAFETY: a system call on this process alone; the structure lives until it returns.
    unsafe {
        libc::syscall(libc::SYS_rt_sigaction, signal, usual.as_ptr(), ptr::null_mut::<c_void>(), size_of::<u64>())
    };
}

/// Sets a limit of this process as far as it may be set: a hard one that is lower already stays.
fn set_limit((resource, soft, hard): ResourceLimit) {
    let resource = resource as libc::__rlimit_resource_t;
    let mut limit = libc::rlimit { rlim_cur: soft, rlim_max: hard };
    // SAFETY: system calls with a structure that lives here.
    unsafe {
        if libc::setrlimit(resource, &limit) != 0 && libc::getrlimit(resource, &mut limit) == 0 {
            limit.rlim_cur = soft.min(limit.rlim_max);
            libc::setrlimit(resource, &limit);
        }
    }
}

/// All signals of this thread are blocked while this lives. A process that it starts meanwhile begins so.
struct BlockedSignals(libc::sigset_t);

impl BlockedSignals {
    fn block_all() -> BlockedSignals {
        // SAFETY: both sets are valid memory of their type.
        unsafe {
            let (mut all, mut before) = (std::mem::zeroed(), std::mem::zeroed());
            libc::sigfillset(&mut all);
            libc::pthread_sigmask(libc::SIG_SETMASK, &all, &mut before);
            BlockedSignals(before)
        }
    }
}

impl Drop for BlockedSignals {
    fn drop(&mut self) {
        // SAFETY: the set that was there before.
        unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, &self.0, ptr::null_mut()) };
    }
}

/// The number of the last error of a system call.
fn last_error_number() -> c_int {
    // SAFETY: the address is that of this thread's variable.
    unsafe { *libc::__errno_location() }
}
