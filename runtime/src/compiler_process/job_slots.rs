//! Jobs take slots, so that there are no more of them at a time than there are processors and memory for.
//!
//! A process has a slot for each processor that it may use. All processes of a user on a machine, or in a container, together have one
//! for each processor there: a job of any process takes one of these as well, by a lock on a byte of a file that they share, which goes
//! with the process that holds it. Both are fewer where memory is little. Jobs for which nobody waits have slots of their own, half as
//! many, so that they keep nobody waiting.
//!
//! In a process a job waits for a slot as long as it takes, for those that have one end in their time. Other processes are trusted with
//! less: after a while a job goes ahead without a slot of theirs. Where the file cannot be shared, each process counts for itself.

use std::collections::BTreeSet;
use std::fs::File;
use std::os::fd::{AsFd, AsRawFd};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use parking_lot::{Condvar, Mutex, MutexGuard};
use rustix::fs::{OFlags, fstat};

use crate::machine;
use crate::own_file::open_own_file;
use crate::per_process::PerProcess;
use crate::schedule::available_cpus;

/// Memory that is reckoned with for a job, in bytes. Most take a tenth of it; those for which this is not enough are rare.
const JOB_MEMORY: u64 = 512 << 20;

/// How long a job waits for slots that other processes hold.
const PATIENCE: Duration = Duration::from_secs(10);

/// How long a job waits before it asks again whether another process has given up a slot: the first time, and the longest.
const RETRIES: [Duration; 2] = [Duration::from_micros(500), Duration::from_millis(16)];

/// Who waits for a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Urgency {
    /// The application, in a call or by a command.
    Awaited,
    /// Nobody, as there is code that will do until then.
    Background,
}

/// How many jobs may be done at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Capacity {
    /// By this process.
    own: usize,
    /// By all processes of the user.
    shared: usize,
}

/// The right to do a job, until it is dropped.
#[derive(Debug)]
pub(super) struct JobSlot {
    urgency: Urgency,
    /// The number of the shared slot, or of the place in this process alone.
    number: usize,
    /// Whether it is a slot that all processes count; not where others kept theirs for too long.
    is_shared: bool,
    /// The process that took it: a forked child has but a copy.
    owner: u32,
}

/// The slots that this process has taken.
#[derive(Default)]
struct Taken {
    awaited: BTreeSet<usize>,
    background: BTreeSet<usize>,
    file: Option<SlotFile>,
}

#[derive(Default)]
struct Slots {
    taken: Mutex<Taken>,
    given_up: Condvar,
}

/// A forked child does not have the jobs of its parent.
fn slots() -> &'static Slots {
    static SLOTS: PerProcess<Slots> = PerProcess::new();
    SLOTS.get_or_make(Slots::default)
}

/// Waits until a job may be done.
pub(super) fn take_slot(urgency: Urgency) -> JobSlot {
    let capacity = Capacity::of_machine().for_urgency(urgency);
    let slots = slots();
    let mut taken = slots.taken.lock();
    while taken.of_urgency(urgency).len() >= capacity.own {
        slots.given_up.wait(&mut taken);
    }
    // From here on only others are waited for, with the place in this process taken.
    let place = taken.take_place(urgency, capacity);
    let deadline = Instant::now() + PATIENCE;
    let mut retry = RETRIES[0];
    loop {
        if let Some(number) = taken.lock_shared(urgency, capacity.shared) {
            taken.of_urgency(urgency).remove(&place);
            taken.of_urgency(urgency).insert(number);
            return JobSlot { urgency, number, is_shared: true, owner: std::process::id() };
        }
        if Instant::now() >= deadline {
            return JobSlot { urgency, number: place, is_shared: false, owner: std::process::id() };
        }
        MutexGuard::unlocked(&mut taken, || std::thread::sleep(retry));
        retry = (retry * 2).min(RETRIES[1]);
    }
}

impl Drop for JobSlot {
    fn drop(&mut self) {
        if self.owner != std::process::id() {
            return;
        }
        let slots = slots();
        let mut taken = slots.taken.lock();
        taken.of_urgency(self.urgency).remove(&self.number);
        if self.is_shared {
            taken.unlock_shared(self.urgency, self.number);
        }
        drop(taken);
        slots.given_up.notify_all();
    }
}

impl Taken {
    fn of_urgency(&mut self, urgency: Urgency) -> &mut BTreeSet<usize> {
        match urgency {
            Urgency::Awaited => &mut self.awaited,
            Urgency::Background => &mut self.background,
        }
    }

    /// Counts a job that has no shared slot yet, by a number that is none of one.
    fn take_place(&mut self, urgency: Urgency, capacity: Capacity) -> usize {
        let taken = self.of_urgency(urgency);
        let place = (capacity.shared..).find(|place| !taken.contains(place)).expect("there are finitely many jobs");
        taken.insert(place);
        place
    }

    /// A shared slot that was free and is this process's now, out of `count`. Without a file all are free that this process does
    /// not have.
    fn lock_shared(&mut self, urgency: Urgency, count: usize) -> Option<usize> {
        if self.file.as_ref().is_none_or(|file| !file.is_intact()) {
            if let Some(lost) = self.file.take() {
                lost.abandon();
            }
            self.file = SlotFile::open_shared();
        }
        let taken = self.of_urgency(urgency).clone();
        let mut free = (0..count).filter(|number| !taken.contains(number));
        match &self.file {
            Some(file) => free.find(|&number| file.try_lock(byte_of(urgency, number))),
            None => free.next(),
        }
    }

    fn unlock_shared(&self, urgency: Urgency, number: usize) {
        if let Some(file) = self.file.as_ref().filter(|file| file.is_intact()) {
            file.unlock(byte_of(urgency, number));
        }
    }
}

/// The byte of the file that stands for a slot: those of jobs in the background have odd numbers.
fn byte_of(urgency: Urgency, number: usize) -> i64 {
    2 * number as i64 + i64::from(urgency == Urgency::Background)
}

impl Capacity {
    fn of_machine() -> Capacity {
        static CAPACITY: OnceLock<Capacity> = OnceLock::new();
        *CAPACITY.get_or_init(|| {
            let processors = online_processors().min(machine::granted_processors());
            Capacity::of(available_cpus(), processors, machine::usable_memory())
        })
    }

    /// What processors that this process may use, those there are, and bytes of memory allow for.
    fn of(usable_processors: usize, processors: usize, memory: u64) -> Capacity {
        let fitting = usize::try_from(memory / JOB_MEMORY).unwrap_or(usize::MAX).max(1);
        let shared = processors.max(usable_processors).min(fitting);
        Capacity { own: usable_processors.min(shared), shared }
    }

    fn for_urgency(self, urgency: Urgency) -> Capacity {
        let half = |count: usize| count.div_ceil(2);
        match urgency {
            Urgency::Awaited => self,
            Urgency::Background => Capacity { own: half(self.own), shared: half(self.shared) },
        }
    }
}

/// Processors that the system runs, whether this process may use them or not.
fn online_processors() -> usize {
    // SAFETY: a call without pointers.
    let count = unsafe { libc::sysconf(libc::_SC_NPROCESSORS_ONLN) };
    usize::try_from(count).unwrap_or(1).max(1)
}

/// The file whose bytes are locked. Locks are those of POSIX: they belong to the process, and a forked child has none of them.
struct SlotFile {
    file: File,
    identity: (u64, u64),
}

impl SlotFile {
    /// The file of this user, where semaphores lie that processes share.
    fn open_shared() -> Option<SlotFile> {
        let user = rustix::process::geteuid().as_raw();
        SlotFile::open_at(&PathBuf::from(format!("/dev/shm/lockstep-jobs-{user}")))
    }

    fn open_at(path: &Path) -> Option<SlotFile> {
        let file = open_own_file(path, OFlags::RDWR).ok()?;
        let status = fstat(&file).ok()?;
        Some(SlotFile { file, identity: (status.st_dev, status.st_ino) })
    }

    /// Whether the descriptor still is the file's: an application may have closed it, and have another file under its number.
    fn is_intact(&self) -> bool {
        fstat(self.file.as_fd()).is_ok_and(|status| (status.st_dev, status.st_ino) == self.identity)
    }

    /// Leaves the descriptor to the application.
    fn abandon(self) {
        std::mem::forget(self.file);
    }

    /// Locks a byte unless another process has. What cannot be locked for another reason is not counted.
    fn try_lock(&self, byte: i64) -> bool {
        match self.set_lock(byte, libc::F_WRLCK) {
            Ok(()) => true,
            Err(error) => !matches!(error.raw_os_error(), Some(libc::EAGAIN | libc::EACCES)),
        }
    }

    fn unlock(&self, byte: i64) {
        // What cannot be unlocked ends with the process.
        let _ = self.set_lock(byte, libc::F_UNLCK);
    }

    fn set_lock(&self, byte: i64, kind: libc::c_int) -> std::io::Result<()> {
        let range = libc::flock {
            l_type: kind as libc::c_short,
            l_whence: libc::SEEK_SET as libc::c_short,
            l_start: byte,
            l_len: 1,
            l_pid: 0,
        };
        // SAFETY: the descriptor is open and the structure lives until the call returns.
        match unsafe { libc::fcntl(self.file.as_raw_fd(), libc::F_SETLK, &range) } {
            -1 => Err(std::io::Error::last_os_error()),
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GIB: u64 = 1 << 30;

    #[test]
    fn processors_and_memory_bound_the_jobs() {
        let capacity = |own, shared| Capacity { own, shared };
        assert_eq!(Capacity::of(8, 8, 64 * GIB), capacity(8, 8));
        // A process that is bound to one processor of many.
        assert_eq!(Capacity::of(1, 64, 64 * GIB), capacity(1, 64));
        assert_eq!(Capacity::of(16, 16, 2 * GIB), capacity(4, 4));
        assert_eq!(Capacity::of(16, 16, GIB / 8), capacity(1, 1));
        assert_eq!(capacity(8, 64).for_urgency(Urgency::Background), capacity(4, 32));
        assert_eq!(capacity(1, 1).for_urgency(Urgency::Background), capacity(1, 1));
    }

    #[test]
    fn slots_of_jobs_that_somebody_waits_for_are_no_others() {
        let bytes = |urgency| (0..100).map(|number| byte_of(urgency, number)).collect::<BTreeSet<_>>();
        assert!(bytes(Urgency::Awaited).is_disjoint(&bytes(Urgency::Background)));
    }

    #[test]
    fn a_slot_counts_until_it_is_dropped() {
        let capacity = Capacity::of_machine().for_urgency(Urgency::Background);
        let held: Vec<JobSlot> = (0..capacity.own).map(|_| take_slot(Urgency::Background)).collect();
        let waiting = std::thread::spawn(|| {
            let _slot = take_slot(Urgency::Background);
            Instant::now()
        });
        std::thread::sleep(Duration::from_millis(50));
        let given_up = Instant::now();
        drop(held);
        let taken = waiting.join().expect("the slot was taken");
        assert!(taken >= given_up);
    }
}
