//! A process of the compiler with everything bounded: time, memory, stack, size of output. It does one job after the other.
//!
//! The application around us may have any disposition of `SIGCHLD` and `SIGPIPE`, may have closed its standard streams
//! and may call `wait` in another thread. The end of the child is awaited through a process descriptor, while its streams are
//! served ([`super::streams`]); its status may be gone by then ([`Ending::Unknown`]), and whoever judges the result must look at
//! the output.

use std::ffi::CStr;
use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::fstat;

use super::start::{self, Program, ResourceLimit, StartError, Started};
use super::streams::Streams;

/// What a child process may use.
#[derive(Clone, Copy, Debug)]
pub(super) struct Limits {
    /// Real time of a job.
    pub wall: Duration,
    /// Address space, in bytes.
    pub address_space: u64,
    /// Size of its output, and of each file it writes, in bytes.
    pub output: u64,
    /// How much of the error stream is kept, in bytes.
    pub log: usize,
}

/// How a job ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ending {
    /// With an answer. The process may take another job.
    Answered,
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

/// What came of a job.
#[derive(Debug)]
pub(super) struct Outcome {
    /// How it ended.
    pub ending: Ending,
    /// The answer's message; empty where there is none.
    pub answer: Vec<u8>,
    /// The beginning of what was said on the error stream.
    pub stderr: Vec<u8>,
    /// What the process was doing last, if it said so.
    pub stage: String,
    /// Bytes of address space that it had at most.
    pub address_space: u64,
}

/// How long a child may take to end when there are no more jobs.
const PARTING: Duration = Duration::from_secs(2);

/// How long a child whose time is over may take to say what it is at.
const LAST_WORDS: Duration = Duration::from_millis(200);

/// What a child is told to be called.
const NAME: &CStr = c"lockstep-compiler";

/// Bytes of the stack that a child gets, whatever this process has; less only if that is the hard limit. Parsers and LLVM's
/// passes go deep into deep programs.
pub(super) const STACK: u64 = 64 << 20;

/// Bytes of address space that a child may take.
pub(super) const ADDRESS_SPACE: u64 = 8 << 30;

/// Bytes of address space with which most programs can be compiled, however little memory there seems to be.
pub(super) const LEAST_ADDRESS_SPACE: u64 = 512 << 20;

/// Bytes of address space that the program's file takes, which are no memory of its own.
pub(super) const PROGRAM_SIZE: u64 = 128 << 20;

/// A child process that takes jobs. One that is dropped ends.
pub(super) struct Child {
    process: Running,
    streams: Streams,
    /// Which files its descriptors are.
    identities: Vec<Option<(u64, u64)>>,
    /// How long it has worked, all jobs together.
    pub busy: Duration,
    /// Bytes of address space that it has at most: less than its limit if that is this process's hard one.
    address_space: u64,
}

impl Child {
    /// Starts a program that is an open file and has, or had, a path.
    ///
    /// # Errors
    /// The system call that failed.
    pub fn start_program(
        program_file: BorrowedFd<'_>,
        path: &CStr,
        process_limits: &Limits,
    ) -> Result<Child, StartError> {
        let kept_bytes = [usize::try_from(process_limits.output).unwrap_or(usize::MAX), process_limits.log];
        let (streams, process_ends) = Streams::open_streams(kept_bytes)?;
        let program = Program {
            file: program_file,
            path,
            name: NAME,
            streams: &process_ends.each_ref().map(AsFd::as_fd),
            limits: &process_limits.resource_limits(),
        };
        let process = Running { started: start::start_program(&program)?, owner: std::process::id(), has_ended: false };
        let identities = identify_descriptors(&process, &streams);
        let address_space = process_limits.address_space.min(hard_limit(libc::RLIMIT_AS));
        Ok(Child { process, streams, identities, busy: Duration::ZERO, address_space })
    }

    /// Asks for a job and waits for what comes of it.
    ///
    /// # Errors
    /// The system call that failed, where the process could not be served.
    pub fn do_job(&mut self, request: Vec<u8>, process_limits: &Limits) -> Result<Outcome, StartError> {
        let begun = Instant::now();
        self.streams.begin_request(request);
        let (ending, answer) = self.process.serve_job(&mut self.streams, process_limits)?;
        self.busy += begun.elapsed();
        let stderr = std::mem::take(&mut self.streams.errors.bytes);
        let stage = self.streams.progress.read_stage();
        Ok(Outcome { ending, answer, stderr, stage, address_space: self.address_space })
    }

    /// Whether it is there, as far as this process knows.
    pub fn is_alive(&mut self) -> bool {
        self.process.poll_ending().is_none()
    }

    /// Whether its descriptors are what they were: an application may have closed them, and have other files under their numbers.
    pub fn is_intact(&self) -> bool {
        self.identities == identify_descriptors(&self.process, &self.streams)
    }

    /// Ends the process, and leaves the descriptors to the application that has others under their numbers.
    pub fn abandon_descriptors(mut self) {
        // Of one that is gone the number may be another's by now.
        if self.process.owner == std::process::id() && self.process.poll_ending().is_none() {
            self.process.kill_and_reap();
        }
        std::mem::forget(self);
    }
}

/// Which files the descriptors of a child are, by device and number; none of one that is closed.
fn identify_descriptors(process: &Running, streams: &Streams) -> Vec<Option<(u64, u64)>> {
    let identify = |descriptor: BorrowedFd<'_>| fstat(descriptor).ok().map(|file| (file.st_dev, file.st_ino));
    let ending = process.started.descriptor.as_ref().map(AsFd::as_fd);
    streams.descriptors().into_iter().chain(ending).map(identify).collect()
}

impl Drop for Child {
    fn drop(&mut self) {
        // A forked child has but copies of the streams.
        if self.process.has_ended || self.process.owner != std::process::id() {
            return;
        }
        self.streams.end_requests();
        let deadline = Instant::now() + PARTING;
        while self.process.poll_ending().is_none() {
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                self.process.kill_and_reap();
                break;
            }
            self.process.wait_for_end(left);
        }
    }
}

impl Limits {
    fn resource_limits(&self) -> [ResourceLimit; 5] {
        // A process gets no other job after as much time as one may take.
        let seconds = self.wall.as_secs().saturating_mul(2).saturating_add(1);
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
pub(super) fn hard_limit(resource: libc::__rlimit_resource_t) -> u64 {
    let mut limit = libc::rlimit { rlim_cur: libc::RLIM_INFINITY, rlim_max: libc::RLIM_INFINITY };
    // SAFETY: `limit` may be written. Should the call fail it stays as it is.
    unsafe { libc::getrlimit(resource, &mut limit) };
    limit.rlim_max
}

struct Running {
    started: Started,
    /// The process whose child it is.
    owner: u32,
    /// Whether it is known to be gone: its number may be another's.
    has_ended: bool,
}

impl Running {
    /// Serves the streams until there is an answer, or the process ends by itself or breaks its limits.
    fn serve_job(&mut self, streams: &mut Streams, process_limits: &Limits) -> Result<(Ending, Vec<u8>), StartError> {
        let deadline = Instant::now() + process_limits.wall;
        loop {
            // Who has ended before the streams are looked at says nothing afterwards.
            let ending = self.poll_ending();
            let exchanged = streams.exchange();
            if ending.is_none() && (exchanged.is_err() || streams.output.is_too_much) {
                self.kill_and_reap();
            }
            exchanged?;
            if streams.output.is_too_much {
                return Ok((Ending::TooMuchOutput, Vec::new()));
            }
            if let Some(answer) = streams.output.take_message() {
                // What it said before it answered.
                streams.exchange()?;
                return Ok((Ending::Answered, answer));
            }
            if let Some(ending) = ending {
                return Ok((ending, Vec::new()));
            }
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                self.ask_for_last_words(streams);
                self.kill_and_reap();
                return Ok((Ending::TimedOut, Vec::new()));
            }
            self.wait_a_while(streams, left);
        }
    }

    /// Waits for the end of the process or for as long as said; without a descriptor of it, for a moment.
    fn wait_for_end(&self, longest: Duration) {
        let mut entry = self.started.descriptor.as_ref().map(|descriptor| PollFd::new(descriptor, PollFlags::IN));
        let longest = if entry.is_some() { longest } else { Duration::from_micros(100) };
        let time = Timespec { tv_sec: longest.as_secs() as i64, tv_nsec: longest.subsec_nanos().into() };
        // Whoever waits looks again.
        let _ = poll(entry.as_mut_slice(), Some(&time));
    }

    /// Waits for news of the process or for as long as said; without a descriptor of it, for a moment.
    fn wait_a_while(&self, streams: &Streams, longest: Duration) {
        let longest = if self.started.descriptor.is_some() { longest } else { longest.min(Duration::from_millis(1)) };
        streams.wait_for_news(self.started.descriptor.as_ref().map(AsFd::as_fd), longest);
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
        if self.has_ended {
            return Some(Ending::Unknown);
        }
        let ending = self.ask_for_status();
        self.has_ended = ending.is_some();
        ending
    }

    fn ask_for_status(&self) -> Option<Ending> {
        let mut status = 0;
        // SAFETY: `status` may be written.
        match unsafe { libc::waitpid(self.started.pid, &mut status, libc::WNOHANG) } {
            0 => None,
            pid if pid == self.started.pid && libc::WIFEXITED(status) => {
                Some(Ending::Exited(libc::WEXITSTATUS(status)))
            }
            pid if pid == self.started.pid && libc::WIFSIGNALED(status) => {
                Some(Ending::Signalled(libc::WTERMSIG(status)))
            }
            _ if io::Error::last_os_error().kind() == io::ErrorKind::Interrupted => None,
            // ECHILD: SIGCHLD is ignored, or another thread waits for every child.
            _ => Some(Ending::Unknown),
        }
    }

    /// Tells the child that its time is over, and lets it say what it is at.
    fn ask_for_last_words(&mut self, streams: &mut Streams) {
        // SAFETY: a system call without pointers. The child has not been waited for, so the number is still its own.
        unsafe { libc::kill(self.started.pid, libc::SIGXCPU) };
        let deadline = Instant::now() + LAST_WORDS;
        while self.poll_ending().is_none() && Instant::now() < deadline {
            self.wait_a_while(streams, deadline.saturating_duration_since(Instant::now()));
            // What fails here was over anyway.
            let _ = streams.exchange();
        }
        let _ = streams.exchange();
    }

    fn kill_group(&self) {
        if self.has_ended {
            return;
        }
        // SAFETY: system calls without pointers. The child has not been waited for, so the numbers are still its own. The second
        // one is in case the group could not be made.
        unsafe {
            libc::kill(-self.started.pid, libc::SIGKILL);
            libc::kill(self.started.pid, libc::SIGKILL);
        }
    }
}
