//! The threads that run work-groups.
//!
//! A team of threads serves every queue of a device. A launch is a [`GroupWork`] and a number of linearised groups;
//! the calling thread takes part and claims chunks from a shared counter like everybody else, so a
//! launch makes progress even when the team is busy with others.
//!
//! The threads of a sub-device's team are bound to its processors. The calling thread is not, so it leaves all groups to
//! them and waits.
//!
//! Nothing here allocates in steady state: launches in flight are entries of a list that is reused.

use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::thread::Builder;
use std::time::Instant;

use parking_lot::{Condvar, Mutex};
use rustix::thread::CpuSet;

use super::crew::{Action, Crew, OpenLaunch};
use super::plan::{self, Division, Plan};
use super::{GroupWork, Panicked};
use crate::little_memory::start_thread;
use crate::machine;

/// Bytes of a thread's stack, on which kernels run.
const STACK: usize = 2 << 20;

/// Spins before a waiting thread sleeps: some tens of microseconds, the gap between launches of a
/// busy in-order queue.
const SPINS: u32 = 2_000;

fn run_guarded(group_work: &dyn GroupWork, group_range: Range<u64>) -> Result<(), Panicked> {
    if group_range.is_empty() {
        return Ok(());
    }
    std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| group_work.run(group_range))).map_err(|_| Panicked)
}

/// A launch in flight. Jobs are reused: `work` is empty between launches.
struct Job {
    work: Mutex<Option<Arc<dyn GroupWork>>>,
    /// First group nobody has claimed.
    next: AtomicU64,
    end: AtomicU64,
    /// Threads that may work on this job, the caller included if it helps.
    threads: AtomicU64,
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
            threads: AtomicU64::new(1),
            active: AtomicUsize::new(0),
            panicked: AtomicBool::new(false),
        }
    }

    /// Makes the job one for these groups of a launch, on so many threads.
    fn prepare_job(&self, group_work: &Arc<dyn GroupWork>, group_range: Range<u64>, threads: usize) {
        *self.work.lock() = Some(group_work.clone());
        self.panicked.store(false, Ordering::Relaxed);
        self.next.store(group_range.start, Ordering::Relaxed);
        self.end.store(group_range.end, Ordering::Relaxed);
        self.threads.store(threads as u64, Ordering::Relaxed);
    }

    fn is_open(&self) -> bool {
        self.next.load(Ordering::Relaxed) < self.end.load(Ordering::Relaxed)
    }

    /// Whether all groups have been claimed and every helper has left; nobody joins then.
    fn has_ended(&self) -> bool {
        !self.is_open() && self.active.load(Ordering::Acquire) == 0
    }

    fn claim_chunk(&self, threads: u64) -> Option<Range<u64>> {
        let end_group = self.end.load(Ordering::Relaxed);
        let mut first_group = self.next.load(Ordering::Relaxed);
        loop {
            if first_group >= end_group {
                return None;
            }
            let chunk_size = plan::chunk_size(end_group - first_group, threads);
            match self.next.compare_exchange_weak(
                first_group,
                first_group + chunk_size,
                Ordering::Relaxed,
                Ordering::Relaxed,
            ) {
                Ok(_) => return Some(first_group..first_group + chunk_size),
                Err(now) => first_group = now,
            }
        }
    }

    /// Runs chunks until none is left to claim.
    fn run_chunks(&self) {
        let threads = self.threads.load(Ordering::Relaxed);
        let Some(group_work) = self.work.lock().clone() else {
            return;
        };
        while let Some(group_range) = self.claim_chunk(threads) {
            if run_guarded(&*group_work, group_range).is_err() {
                self.panicked.store(true, Ordering::Relaxed);
                self.next.store(self.end.load(Ordering::Relaxed), Ordering::Relaxed);
            }
        }
    }
}

/// Jobs kept for reuse.
const SPARE_JOBS: usize = 16;

/// The threads that run a device's work-groups.
pub struct Team {
    shared: Arc<Shared>,
    /// Whether the calling thread runs groups, too.
    caller_helps: bool,
    /// Threads beside the callers' that can be of use to one launch.
    useful: usize,
}

struct Shared {
    board: Mutex<Board>,
    /// Counts launches, so that a spinning helper sees a new one without the lock.
    posted: AtomicU64,
    wake: Condvar,
    /// Signals that a helper has left a job.
    left: Condvar,
}

/// What the team's lock protects.
struct Board {
    crew: Crew<Arc<Job>>,
    spare: Vec<Arc<Job>>,
}

impl OpenLaunch for Arc<Job> {
    fn has_groups(&self) -> bool {
        self.is_open()
    }
}

impl Team {
    /// A team of so many threads, the caller of [`Team::run_groups`] included.
    pub fn new(threads: usize) -> Team {
        // More than one for each processor would only take turns with the others.
        let useful = machine::allowed_processors().saturating_sub(1).max(1);
        Team::start_team(threads.saturating_sub(1), useful, true, None)
    }

    /// A team of threads of its own that run on these processors only, one for each.
    pub fn bound_to(processors: &[usize]) -> Team {
        let mut set = CpuSet::new();
        for &processor in processors.iter().filter(|&&processor| processor < CpuSet::MAX_CPU) {
            set.set(processor);
        }
        Team::start_team(processors.len(), processors.len(), false, Some(set))
    }

    fn start_team(helpers: usize, useful: usize, caller_helps: bool, processors: Option<CpuSet>) -> Team {
        let shared = Arc::new(Shared {
            board: Mutex::new(Board { crew: Crew::with_capacity(SPARE_JOBS), spare: Vec::with_capacity(SPARE_JOBS) }),
            posted: AtomicU64::new(0),
            wake: Condvar::new(),
            left: Condvar::new(),
        });
        let pool = (helpers > 0).then(|| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(helpers);
            pool.thread_name(|thread_index| format!("lockstep-{thread_index}")).spawn_handler(start_helper).build().ok()
        });
        let Some(pool) = pool.flatten() else {
            return Team { shared, caller_helps: true, useful: 0 };
        };
        let serving = shared.clone();
        // The pool's threads do nothing else until the team is closed, and end then: the pool is let go of right away.
        pool.spawn_broadcast(move |_| {
            bind_thread(processors.as_ref());
            serving.serve_jobs();
        });
        Team { shared, caller_helps, useful: useful.min(helpers) }
    }

    /// Runs all groups `0..group_count` of `group_work` and returns when the last one has ended.
    ///
    /// A panic inside `group_work` ends the launch and is reported as `Err`.
    pub fn run_groups(&self, group_work: &Arc<dyn GroupWork>, group_count: u64) -> Result<(), Panicked> {
        let took_long = group_count > 1 && group_work.took_long();
        let launch_plan =
            Plan { groups: group_count, helpers: self.useful, caller_helps: self.caller_helps, took_long };
        match launch_plan.divide_groups() {
            Division::Alone => run_guarded(&**group_work, 0..group_count),
            Division::FirstAlone => self.run_after_first(group_work, &launch_plan),
            Division::Shared { seats } if self.caller_helps => {
                let start = Instant::now();
                self.shared.share_groups(group_work, 0..group_count, seats, true)?;
                group_work.note_long(launch_plan.groups_took_long(start.elapsed(), seats));
                Ok(())
            }
            Division::Shared { seats } => self.shared.share_groups(group_work, 0..group_count, seats, false),
        }
    }

    /// Runs the first group on the calling thread, and the others as the time for it tells.
    fn run_after_first(&self, group_work: &Arc<dyn GroupWork>, launch_plan: &Plan) -> Result<(), Panicked> {
        let start = Instant::now();
        run_guarded(&**group_work, 0..1)?;
        let first_duration = start.elapsed();
        group_work.note_long(plan::is_long(first_duration));
        match launch_plan.divide_rest(first_duration) {
            Division::Shared { seats } => self.shared.share_groups(group_work, 1..launch_plan.groups, seats, true),
            Division::Alone | Division::FirstAlone => run_guarded(&**group_work, 1..launch_plan.groups),
        }
    }
}

/// Starts a thread of a team.
fn start_helper(helper: rayon::ThreadBuilder) -> std::io::Result<()> {
    let thread = helper.name().map_or_else(Builder::new, |name| Builder::new().name(name.to_owned()));
    start_thread(thread, STACK, || helper.run()).map(drop)
}

/// Binds the calling thread to processors, if there are any to bind it to.
fn bind_thread(processors: Option<&CpuSet>) {
    if let Some(processors) = processors {
        // A processor that has gone since leaves the thread where the system wants it.
        let _ = rustix::thread::sched_setaffinity(None, processors);
    }
}

impl Drop for Team {
    fn drop(&mut self) {
        self.shared.board.lock().crew.close();
        self.shared.posted.fetch_add(1, Ordering::Release);
        self.shared.wake.notify_all();
    }
}

impl std::fmt::Debug for Team {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Team").field("useful", &self.useful).finish_non_exhaustive()
    }
}

impl Shared {
    /// Runs `group_range` on so many helpers if they are free, and on the calling thread if that helps.
    fn share_groups(
        &self,
        group_work: &Arc<dyn GroupWork>,
        group_range: Range<u64>,
        seats: usize,
        caller_helps: bool,
    ) -> Result<(), Panicked> {
        let mut board = self.board.lock();
        let shared_job = board.spare.pop().unwrap_or_else(|| Arc::new(Job::new()));
        shared_job.prepare_job(group_work, group_range, seats + usize::from(caller_helps));
        let wake = board.crew.post_launch(shared_job.clone(), seats);
        self.posted.fetch_add(1, Ordering::Release);
        drop(board);
        self.wake_helpers(wake);
        if caller_helps {
            shared_job.run_chunks();
        }

        // Wait for those who are at work; nobody joins once all is claimed.
        for _ in 0..SPINS {
            if shared_job.has_ended() {
                break;
            }
            std::hint::spin_loop();
        }
        let mut board = self.board.lock();
        while !shared_job.has_ended() {
            self.left.wait(&mut board);
        }
        board.crew.remove_launch(|other| Arc::ptr_eq(other, &shared_job));
        *shared_job.work.lock() = None;
        let panicked = shared_job.panicked.load(Ordering::Relaxed);
        if board.spare.len() < SPARE_JOBS {
            board.spare.push(shared_job);
        }
        if panicked { Err(Panicked) } else { Ok(()) }
    }

    /// Wakes so many sleeping helpers.
    fn wake_helpers(&self, helpers: usize) {
        for _ in 0..helpers {
            self.wake.notify_one();
        }
    }

    /// What every helper does all its life.
    fn serve_jobs(&self) {
        while let Some(shared_job) = self.next_job() {
            shared_job.run_chunks();
            let _board = self.board.lock();
            if shared_job.active.fetch_sub(1, Ordering::Release) == 1 {
                self.left.notify_all();
            }
        }
    }

    /// Waits for a job with unclaimed groups and a free seat and joins it: looks for a while, then sleeps. None when the
    /// team is closed.
    fn next_job(&self) -> Option<Arc<Job>> {
        let mut spin_count = 0;
        let mut board = self.board.lock();
        loop {
            match board.crew.next_action(spin_count >= SPINS) {
                Action::Join { launch: shared_job, wake } => {
                    shared_job.active.fetch_add(1, Ordering::Relaxed);
                    drop(board);
                    self.wake_helpers(wake);
                    return Some(shared_job);
                }
                Action::End => return None,
                Action::Sleep => {
                    self.wake.wait(&mut board);
                    board.crew.has_woken();
                    spin_count = 0;
                }
                Action::Look => {
                    let seen_posts = self.posted.load(Ordering::Acquire);
                    drop(board);
                    spin_count = self.spin_until_posted(seen_posts, spin_count);
                    board = self.board.lock();
                    board.crew.has_looked();
                }
            }
        }
    }

    /// Spins until another launch than those that were seen is there, or long enough: the spins so far.
    fn spin_until_posted(&self, seen_posts: u64, mut spin_count: u32) -> u32 {
        while self.posted.load(Ordering::Acquire) == seen_posts && spin_count < SPINS {
            std::hint::spin_loop();
            spin_count += 1;
        }
        spin_count
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;
    use std::sync::OnceLock;
    use std::time::Duration;

    use super::*;

    struct Count {
        runs: Vec<AtomicU64>,
        slow: bool,
    }

    impl GroupWork for Count {
        fn run(&self, group_range: Range<u64>) {
            for group in group_range {
                self.runs[group as usize].fetch_add(1, Ordering::Relaxed);
                if self.slow {
                    std::thread::sleep(Duration::from_micros(50));
                }
            }
        }
    }

    /// Two groups that each wait for the other to begin, but not for ever.
    #[derive(Default)]
    struct Together {
        begun: AtomicU64,
        met: AtomicU64,
        long: AtomicBool,
    }

    impl GroupWork for Together {
        fn run(&self, group_range: Range<u64>) {
            for _ in group_range {
                self.begun.fetch_add(1, Ordering::SeqCst);
                let start = Instant::now();
                while self.begun.load(Ordering::SeqCst) < 2 && start.elapsed() < Duration::from_millis(200) {
                    std::thread::yield_now();
                }
                self.met.fetch_add(u64::from(self.begun.load(Ordering::SeqCst) == 2), Ordering::SeqCst);
            }
        }

        fn took_long(&self) -> bool {
            self.long.load(Ordering::Relaxed)
        }

        fn note_long(&self, took_long: bool) {
            self.long.store(took_long, Ordering::Relaxed);
        }
    }

    /// The first launch learns that groups take long: its second group begins when the first has given up.
    #[test]
    fn a_few_long_groups_begin_together_from_the_second_launch_on() {
        let team = Team::new(2);
        let work = Arc::new(Together::default());
        let dynamic: Arc<dyn GroupWork> = work.clone();
        let met = || {
            work.begun.store(0, Ordering::SeqCst);
            work.met.store(0, Ordering::SeqCst);
            assert!(team.run_groups(&dynamic, 2).is_ok());
            work.met.load(Ordering::SeqCst)
        };
        assert_eq!((met(), met()), (1, 2));
    }

    fn team() -> &'static Team {
        static TEAM: OnceLock<Team> = OnceLock::new();
        TEAM.get_or_init(|| Team::new(3))
    }

    fn run(group_work: &Arc<dyn GroupWork>, group_count: u64) -> Result<(), Panicked> {
        team().run_groups(group_work, group_count)
    }

    fn count(group_count: u64, slow: bool) -> Arc<Count> {
        let runs = (0..group_count).map(|_| AtomicU64::new(0)).collect();
        Arc::new(Count { runs, slow })
    }

    #[test]
    fn every_group_runs_once() {
        for (group_count, slow) in [(0, false), (1, false), (2, true), (1000, false), (257, true)] {
            let work = count(group_count, slow);
            let dynamic: Arc<dyn GroupWork> = work.clone();
            assert_eq!(run(&dynamic, group_count), Ok(()));
            for (group, runs) in work.runs.iter().enumerate() {
                assert_eq!(runs.load(Ordering::Relaxed), 1, "group {group} of {group_count}");
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
        fn run(&self, group_range: Range<u64>) {
            std::thread::sleep(Duration::from_micros(50));
            assert!(!group_range.contains(&77), "group 77");
        }
    }

    #[test]
    fn a_panic_is_reported_and_the_team_lives() {
        let group_work: Arc<dyn GroupWork> = Arc::new(Panics);
        assert_eq!(run(&group_work, 200), Err(Panicked));
        let group_work: Arc<dyn GroupWork> = count(100, true);
        assert_eq!(run(&group_work, 100), Ok(()));
    }

    /// Notes where its groups ran.
    #[derive(Default)]
    struct Where {
        threads: Mutex<Vec<(std::thread::ThreadId, Vec<usize>)>>,
    }

    impl GroupWork for Where {
        fn run(&self, group_range: Range<u64>) {
            let set = rustix::thread::sched_getaffinity(None).unwrap();
            let processors = (0..CpuSet::MAX_CPU).filter(|&processor| set.is_set(processor)).collect();
            self.threads.lock().push((std::thread::current().id(), processors));
            std::thread::sleep(Duration::from_micros(50) * (group_range.end - group_range.start) as u32);
        }
    }

    #[test]
    fn threads_of_a_bound_team_stay_on_their_processors() {
        let set = rustix::thread::sched_getaffinity(None).unwrap();
        let last = (0..CpuSet::MAX_CPU).rfind(|&processor| set.is_set(processor)).unwrap();
        let team = Team::bound_to(&[last, last]);
        let work = Arc::new(Where::default());
        let dynamic: Arc<dyn GroupWork> = work.clone();
        for group_count in [1, 100] {
            assert_eq!(team.run_groups(&dynamic, group_count), Ok(()));
        }
        let threads = std::mem::take(&mut *work.threads.lock());
        assert!(threads.len() > 1);
        for (thread, processors) in threads {
            assert_ne!(thread, std::thread::current().id());
            assert_eq!(processors, [last]);
        }
        assert_eq!(rustix::thread::sched_getaffinity(None).unwrap(), set, "the caller is where it was");
    }

    /// Groups that wait until so many threads have one, but not for ever.
    struct Gathering {
        wanted: usize,
        threads: Mutex<HashSet<std::thread::ThreadId>>,
    }

    impl Gathering {
        fn of(wanted: usize) -> Arc<Gathering> {
            Arc::new(Gathering { wanted, threads: Mutex::default() })
        }
    }

    impl GroupWork for Gathering {
        fn run(&self, _: Range<u64>) {
            self.threads.lock().insert(std::thread::current().id());
            let start = Instant::now();
            while self.threads.lock().len() < self.wanted && start.elapsed() < Duration::from_secs(20) {
                std::thread::sleep(Duration::from_micros(100));
            }
        }

        fn took_long(&self) -> bool {
            true
        }
    }

    #[test]
    fn those_who_are_woken_wake_the_others() {
        let team = Team::start_team(16, 16, true, None);
        for wanted in [17, 2, 9, 17] {
            let work = Gathering::of(wanted);
            let dynamic: Arc<dyn GroupWork> = work.clone();
            assert_eq!(team.run_groups(&dynamic, wanted as u64), Ok(()));
            assert_eq!(work.threads.lock().len(), wanted);
        }
    }

    #[test]
    fn several_launches_at_once_all_get_their_helpers() {
        let team = Team::start_team(12, 12, true, None);
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for _ in 0..20 {
                        let work = Gathering::of(4);
                        let dynamic: Arc<dyn GroupWork> = work.clone();
                        assert_eq!(team.run_groups(&dynamic, 4), Ok(()));
                        assert_eq!(work.threads.lock().len(), 4);
                    }
                });
            }
        });
    }

    #[test]
    fn no_more_threads_join_than_are_of_use() {
        let team = Team::start_team(16, 3, true, None);
        for _ in 0..20 {
            let work = Arc::new(Where::default());
            let dynamic: Arc<dyn GroupWork> = work.clone();
            assert_eq!(team.run_groups(&dynamic, 1000), Ok(()));
            let threads: HashSet<_> = work.threads.lock().iter().map(|(thread, _)| *thread).collect();
            assert!(threads.len() <= 4, "{threads:?}");
        }
        let census = team.shared.board.lock().crew.take_census();
        assert!(census.sleeping + census.coming <= 16, "{census:?}");
    }

    #[test]
    fn threads_end_with_their_team() {
        let team = Team::bound_to(&[0, 0, 0]);
        let work = count(100, true);
        let dynamic: Arc<dyn GroupWork> = work.clone();
        team.run_groups(&dynamic, 100).unwrap();
        assert!(work.runs.iter().all(|r| r.load(Ordering::Relaxed) == 1));
        let shared = Arc::downgrade(&team.shared);
        drop(team);
        let start = Instant::now();
        while shared.upgrade().is_some() {
            assert!(start.elapsed() < Duration::from_secs(20), "a thread still serves");
            std::thread::sleep(Duration::from_millis(1));
        }
    }
}
