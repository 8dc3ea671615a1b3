//! Runs the work-groups of a launch on the cores: the only user of rayon.
//!
//! A team of threads serves every queue. A launch is a [`GroupWork`] and a number of linearised groups;
//! the calling thread takes part and claims chunks from a shared counter like everybody else, so a
//! launch makes progress even when the team is busy with others, or gone (a forked child). Chunks
//! shrink with what remains (guided self-scheduling), so that all finish together.
//!
//! The caller runs the first group alone and looks at the clock: a launch that would end before
//! another thread has woken up stays on the calling thread.
//!
//! Nothing here allocates in steady state: launches in flight are entries of a list that is reused.

use crate::options::options;
use parking_lot::{Condvar, Mutex};
use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

/// The work-groups of one launch.
pub trait GroupWork: Send + Sync {
    /// Runs these groups on the calling thread.
    fn run(&self, groups: Range<u64>);
}

/// Time a sleeping thread takes to be of use; less work than this is not shared.
const WAKE_COST: Duration = Duration::from_micros(8);
/// Spins before a waiting thread sleeps: some tens of microseconds, the gap between launches of a
/// busy in-order queue.
const SPINS: u32 = 2_000;

/// Runs all groups `0..groups` of `work` and returns when the last one has ended.
///
/// A panic inside `work` ends the launch and is reported as `Err`.
pub fn run(work: &Arc<dyn GroupWork>, groups: u64) -> Result<(), Panicked> {
    if groups == 0 {
        return Ok(());
    }
    if groups == 1 {
        return guarded(&**work, 0..1);
    }
    let team = team();
    let start = Instant::now();
    guarded(&**work, 0..1)?;
    let one = start.elapsed();
    let rest = groups - 1;
    let estimate = one.saturating_mul(rest.min(u64::from(u32::MAX)) as u32);
    if team.helpers == 0 || estimate < WAKE_COST {
        return guarded(&**work, 1..groups);
    }
    team.share(work, 1..groups)
}

/// Threads that run work-groups: what the device reports as compute units.
pub fn workers() -> usize {
    options().threads.unwrap_or_else(available_cpus)
}

/// Generated code or the runtime panicked while it ran a group.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Panicked;

/// CPUs this process may use: affinity mask and cgroup quota, which are files to read, so once.
fn available_cpus() -> usize {
    static CPUS: OnceLock<usize> = OnceLock::new();
    *CPUS.get_or_init(|| std::thread::available_parallelism().map_or(1, |n| n.get()))
}

fn guarded(work: &dyn GroupWork, groups: Range<u64>) -> Result<(), Panicked> {
    if groups.is_empty() {
        return Ok(());
    }
    std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| work.run(groups))).map_err(|_| Panicked)
}

/// A launch in flight. Jobs are reused: `work` is empty between launches.
struct Job {
    work: Mutex<Option<Arc<dyn GroupWork>>>,
    /// First group nobody has claimed.
    next: AtomicU64,
    end: AtomicU64,
    /// Helpers at work on this job; the team's lock is held for every change.
    active: AtomicUsize,
    panicked: AtomicBool,
}

impl Job {
    fn new() -> Job {
        Job {
            work: Mutex::new(None),
            next: AtomicU64::new(0),
            end: AtomicU64::new(0),
            active: AtomicUsize::new(0),
            panicked: AtomicBool::new(false),
        }
    }

    fn is_open(&self) -> bool {
        self.next.load(Ordering::Relaxed) < self.end.load(Ordering::Relaxed)
    }

    fn claim(&self, threads: u64) -> Option<Range<u64>> {
        let end = self.end.load(Ordering::Relaxed);
        let mut first = self.next.load(Ordering::Relaxed);
        loop {
            if first >= end {
                return None;
            }
            let size = ((end - first) / (2 * threads)).max(1);
            match self.next.compare_exchange_weak(first, first + size, Ordering::Relaxed, Ordering::Relaxed) {
                Ok(_) => return Some(first..first + size),
                Err(now) => first = now,
            }
        }
    }

    /// Runs chunks until none is left to claim.
    fn drain(&self, threads: u64) {
        let Some(work) = self.work.lock().clone() else {
            return;
        };
        while let Some(groups) = self.claim(threads) {
            if guarded(&*work, groups).is_err() {
                self.panicked.store(true, Ordering::Relaxed);
                self.next.store(self.end.load(Ordering::Relaxed), Ordering::Relaxed);
            }
        }
    }
}

/// Jobs kept for reuse.
const SPARE_JOBS: usize = 16;

struct Team {
    /// Threads beside the callers'.
    helpers: usize,
    board: Mutex<Board>,
    /// Counts launches, so that a spinning helper sees a new one without the lock.
    posted: AtomicU64,
    wake: Condvar,
    /// Signals that a helper has left a job.
    left: Condvar,
}

/// What the team's lock protects.
struct Board {
    open: Vec<Arc<Job>>,
    spare: Vec<Arc<Job>>,
    sleeping: usize,
}

fn team() -> &'static Team {
    static TEAM: OnceLock<&'static Team> = OnceLock::new();
    TEAM.get_or_init(|| {
        let wanted = workers().saturating_sub(1);
        let pool = (wanted > 0)
            .then(|| {
                rayon::ThreadPoolBuilder::new()
                    .num_threads(wanted)
                    .thread_name(|n| format!("lockstep-{n}"))
                    .build()
                    .ok()
            })
            .flatten();
        // The team lives as long as the process: unloading the driver under running threads is not
        // something an ICD loader does.
        let team: &'static Team = Box::leak(Box::new(Team {
            helpers: pool.as_ref().map_or(0, |_| wanted),
            board: Mutex::new(Board {
                open: Vec::with_capacity(SPARE_JOBS),
                spare: Vec::with_capacity(SPARE_JOBS),
                sleeping: 0,
            }),
            posted: AtomicU64::new(0),
            wake: Condvar::new(),
            left: Condvar::new(),
        }));
        if let Some(pool) = pool {
            pool.spawn_broadcast(move |_| team.serve());
            std::mem::forget(pool);
        }
        team
    })
}

impl Team {
    fn threads(&self) -> u64 {
        self.helpers as u64 + 1
    }

    /// Runs `groups` on the calling thread and every helper that is free.
    fn share(&self, work: &Arc<dyn GroupWork>, groups: Range<u64>) -> Result<(), Panicked> {
        let mut board = self.board.lock();
        let job = board.spare.pop().unwrap_or_else(|| Arc::new(Job::new()));
        *job.work.lock() = Some(work.clone());
        job.panicked.store(false, Ordering::Relaxed);
        job.next.store(groups.start, Ordering::Relaxed);
        job.end.store(groups.end, Ordering::Relaxed);
        board.open.push(job.clone());
        self.posted.fetch_add(1, Ordering::Release);
        let sleeping = board.sleeping > 0;
        drop(board);
        if sleeping {
            self.wake.notify_all();
        }
        job.drain(self.threads());

        // Nobody joins any more; wait for those who did.
        self.board.lock().open.retain(|other| !Arc::ptr_eq(other, &job));
        for _ in 0..SPINS {
            if job.active.load(Ordering::Acquire) == 0 {
                break;
            }
            std::hint::spin_loop();
        }
        let mut board = self.board.lock();
        while job.active.load(Ordering::Acquire) != 0 {
            self.left.wait(&mut board);
        }
        *job.work.lock() = None;
        let panicked = job.panicked.load(Ordering::Relaxed);
        if board.spare.len() < SPARE_JOBS {
            board.spare.push(job);
        }
        if panicked { Err(Panicked) } else { Ok(()) }
    }

    /// What every helper does all its life.
    fn serve(&self) {
        loop {
            let job = self.next_job();
            job.drain(self.threads());
            let _board = self.board.lock();
            job.active.fetch_sub(1, Ordering::Release);
            self.left.notify_all();
        }
    }

    /// Waits for a job with unclaimed groups and joins it: spins a while, then sleeps.
    fn next_job(&self) -> Arc<Job> {
        let mut spins = 0;
        loop {
            let mut board = self.board.lock();
            if let Some(job) = board.open.iter().find(|job| job.is_open()) {
                job.active.fetch_add(1, Ordering::Relaxed);
                return job.clone();
            }
            let seen = self.posted.load(Ordering::Acquire);
            if spins >= SPINS {
                board.sleeping += 1;
                self.wake.wait(&mut board);
                board.sleeping -= 1;
                spins = 0;
                continue;
            }
            drop(board);
            while self.posted.load(Ordering::Acquire) == seen && spins < SPINS {
                std::hint::spin_loop();
                spins += 1;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Count {
        runs: Vec<AtomicU64>,
        slow: bool,
    }

    impl GroupWork for Count {
        fn run(&self, groups: Range<u64>) {
            for group in groups {
                self.runs[group as usize].fetch_add(1, Ordering::Relaxed);
                if self.slow {
                    std::thread::sleep(Duration::from_micros(50));
                }
            }
        }
    }

    fn count(groups: u64, slow: bool) -> Arc<Count> {
        let runs = (0..groups).map(|_| AtomicU64::new(0)).collect();
        Arc::new(Count { runs, slow })
    }

    #[test]
    fn every_group_runs_once() {
        for (groups, slow) in [(0, false), (1, false), (2, true), (1000, false), (257, true)] {
            let work = count(groups, slow);
            let dynamic: Arc<dyn GroupWork> = work.clone();
            assert_eq!(run(&dynamic, groups), Ok(()));
            for (group, runs) in work.runs.iter().enumerate() {
                assert_eq!(runs.load(Ordering::Relaxed), 1, "group {group} of {groups}");
            }
        }
    }

    #[test]
    fn launches_from_many_threads_share_the_team() {
        std::thread::scope(|scope| {
            for _ in 0..6 {
                scope.spawn(|| {
                    for _ in 0..50 {
                        let work = count(40, true);
                        let dynamic: Arc<dyn GroupWork> = work.clone();
                        assert_eq!(run(&dynamic, 40), Ok(()));
                        assert!(work.runs.iter().all(|r| r.load(Ordering::Relaxed) == 1));
                    }
                });
            }
        });
    }

    #[test]
    fn work_is_let_go_when_the_launch_has_ended() {
        let work = count(300, true);
        let dynamic: Arc<dyn GroupWork> = work.clone();
        run(&dynamic, 300).unwrap();
        drop(dynamic);
        assert_eq!(Arc::strong_count(&work), 1);
    }

    struct Panics;

    impl GroupWork for Panics {
        fn run(&self, groups: Range<u64>) {
            std::thread::sleep(Duration::from_micros(50));
            assert!(!groups.contains(&77), "group 77");
        }
    }

    #[test]
    fn a_panic_is_reported_and_the_team_lives() {
        let work: Arc<dyn GroupWork> = Arc::new(Panics);
        assert_eq!(run(&work, 200), Err(Panicked));
        let work: Arc<dyn GroupWork> = count(100, true);
        assert_eq!(run(&work, 100), Ok(()));
    }
}
