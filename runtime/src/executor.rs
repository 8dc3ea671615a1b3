//! The driver's background threads: those that execute commands when no application thread waits for them, call back, build
//! programs and make code.
//!
//! All services share them. A thread is started when there is a job and nobody free to do it, and ends when it has had
//! nothing to do for a while. What differs between services is how many of their jobs may run at once ([`Service`]): jobs
//! that block on each other or on the application get a thread each, those that only compute get no more than there are
//! processors.
//!
//! This is not where work-groups run: `schedule` spreads a launch over the cores, from whichever thread executes the
//! command.
//!
//! Where the system refuses threads, jobs are done by those there are: application threads do them at the end of the call
//! that gave rise to them, and before they sleep in one ([`run_waiting_job`]). At the end of the process threads that wait are left
//! where they are. A forked child has none of them: there the executor begins anew, without the jobs of its parent.

use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use parking_lot::{Condvar, Mutex, MutexGuard};

use crate::little_memory::start_thread;
use crate::per_process::PerProcess;
use crate::schedule;

/// Something for another thread to do. It guards what it runs; a panic that slips through ends the job alone.
pub type Job = Box<dyn FnOnce() + Send>;

/// Bytes of a thread's stack, on which kernels run and the application's callbacks.
const STACK: usize = 16 << 20;

/// How long a thread stays without work.
const IDLE: Duration = Duration::from_secs(2);

/// Who has jobs. Those that come first get the next thread that is free.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Service {
    /// Executes the commands of a queue, or tells the application of their events: either may be kept by the
    /// application's code, and what it waits for may be another job of this kind. So all run at once.
    Commands,
    /// Builds a program and calls back. All run at once, for the same reason.
    Builds,
    /// Makes code: as many at once as there are processors to run on.
    Compilation,
    /// Makes better code of what runs already: one at a time, as the application needs the processors.
    Promotion,
    /// Waits for processes of the compiler to end: one job at a time, for all of them.
    Reaping,
}

const SERVICES: [Service; 5] =
    [Service::Commands, Service::Builds, Service::Compilation, Service::Promotion, Service::Reaping];

/// The system refuses a thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NoThread;

/// Runs a job on another thread, soon. Should the system refuse a thread, the job is for [`run_waiting_job`] and the threads there are.
pub fn spawn_job(service: Service, job: Job) {
    Executor::process_executor().spawn_job(service, job);
}

/// Runs a job on another thread, soon.
///
/// # Errors
/// [`NoThread`] if there is none to be had: then the job will not run.
pub fn try_spawn(service: Service, job: Job) -> Result<(), NoThread> {
    Executor::process_executor().try_spawn(service, job)
}

/// Does a job that no thread could be made for, if there is one. No lock may be held.
pub fn run_waiting_job() -> bool {
    Executor::process_executor().run_waiting_job()
}

/// Calls `perform` once for every number below `job_count`, on the calling thread and as many others as there are processors to
/// run on, and returns when the last call has ended.
pub fn share_numbers(job_count: usize, perform: impl Fn(usize) + Send + Sync + 'static) {
    Executor::process_executor().share_numbers(job_count, Arc::new(perform));
}

/// The jobs of all services, and how many of each run: who may run next, apart from the threads that do.
#[derive(Default)]
struct Lanes {
    lanes: [Lane; SERVICES.len()],
    /// How many jobs there have been.
    count: u64,
}

struct Lane {
    /// Jobs that have not begun, by their numbers.
    waiting: VecDeque<(u64, Job)>,
    running: usize,
    /// Jobs that may run at once.
    limit: usize,
}

impl Default for Lane {
    fn default() -> Self {
        Self { waiting: VecDeque::new(), running: 0, limit: usize::MAX }
    }
}

impl Lane {
    /// Jobs that may begin now.
    fn runnable_jobs(&self) -> usize {
        self.waiting.len().min(self.limit.saturating_sub(self.running))
    }
}

impl Lanes {
    fn with_processors(processors: usize) -> Self {
        let mut lanes = Self::default();
        lanes.lane_of(Service::Compilation).limit = processors;
        lanes.lane_of(Service::Promotion).limit = 1;
        lanes.lane_of(Service::Reaping).limit = 1;
        lanes
    }

    fn lane_of(&mut self, service: Service) -> &mut Lane {
        &mut self.lanes[service as usize]
    }

    /// Adds a job; its number.
    fn add_job(&mut self, service: Service, job: Job) -> u64 {
        let job_number = self.count;
        self.count += 1;
        self.lane_of(service).waiting.push_back((job_number, job));
        job_number
    }

    /// Takes back a job that has not begun; whether it has not.
    fn remove_job(&mut self, service: Service, job_number: u64) -> bool {
        let waiting = &mut self.lane_of(service).waiting;
        let position = waiting.iter().position(|(other, _)| *other == job_number);
        position.and_then(|position| waiting.remove(position)).is_some()
    }

    /// Jobs that may begin now.
    fn count_runnable(&self) -> usize {
        self.lanes.iter().map(Lane::runnable_jobs).sum()
    }

    fn is_empty(&self) -> bool {
        self.lanes.iter().all(|lane| lane.waiting.is_empty())
    }

    /// Takes the next job that may begin now, and counts it as running.
    fn take_job(&mut self) -> Option<(Service, Job)> {
        let service = SERVICES.into_iter().find(|&service| self.lane_of(service).runnable_jobs() > 0)?;
        let lane = self.lane_of(service);
        let (_, job) = lane.waiting.pop_front()?;
        lane.running += 1;
        Some((service, job))
    }

    /// A job of a service has ended.
    fn end_job(&mut self, service: Service) {
        self.lane_of(service).running -= 1;
    }
}

struct State {
    lanes: Lanes,
    /// Threads that wait for a job.
    idle: usize,
}

impl State {
    fn new(processors: usize) -> Self {
        Self { lanes: Lanes::with_processors(processors), idle: 0 }
    }
}

/// Threads and their jobs.
struct Executor {
    state: Mutex<State>,
    arrived: Condvar,
    /// Whether the system has refused a thread, and it may be that nobody takes up the jobs there are.
    refused: AtomicBool,
    /// Processors to run on.
    processors: usize,
}

impl Executor {
    fn new(processors: usize) -> Self {
        Self {
            state: Mutex::new(State::new(processors)),
            arrived: Condvar::new(),
            refused: AtomicBool::new(false),
            processors,
        }
    }

    /// That of the process. A forked child has none of its parent's threads, and does not what these were to do.
    fn process_executor() -> &'static Self {
        static EXECUTOR: PerProcess<Executor> = PerProcess::new();
        EXECUTOR.get_or_make(|| Executor::new(schedule::available_cpus()))
    }

    fn spawn_job(&'static self, service: Service, job: Job) {
        let mut executor_state = self.state.lock();
        executor_state.lanes.add_job(service, job);
        if !self.find_thread(executor_state) {
            let _state = self.state.lock();
            self.refused.store(true, Ordering::Relaxed);
        }
    }

    fn try_spawn(&'static self, service: Service, job: Job) -> Result<(), NoThread> {
        let mut executor_state = self.state.lock();
        let job_number = executor_state.lanes.add_job(service, job);
        // Without a thread for it, one that has become free may have begun with it meanwhile.
        if self.find_thread(executor_state) || !self.state.lock().lanes.remove_job(service, job_number) {
            return Ok(());
        }
        Err(NoThread)
    }

    /// Sees to it that a thread takes up the jobs that may run now. Whether there is one for each.
    fn find_thread(&'static self, executor_state: MutexGuard<'_, State>) -> bool {
        let runnable = executor_state.lanes.count_runnable();
        if runnable == 0 {
            // Who ends a job of the service takes up the next one.
            return true;
        }
        if executor_state.idle >= runnable {
            self.arrived.notify_one();
            return true;
        }
        drop(executor_state);
        let thread = std::thread::Builder::new().name("lockstep-worker".into());
        start_thread(thread, STACK, || self.serve_jobs()).is_ok()
    }

    fn run_waiting_job(&self) -> bool {
        if !self.refused.load(Ordering::Relaxed) {
            return false;
        }
        let mut executor_state = self.state.lock();
        let Some((service, job)) = executor_state.lanes.take_job() else {
            if executor_state.lanes.is_empty() {
                // The next job tries for a thread again.
                self.refused.store(false, Ordering::Relaxed);
            }
            return false;
        };
        drop(executor_state);
        run_guarded(job);
        self.state.lock().lanes.end_job(service);
        true
    }

    /// What a thread does.
    fn serve_jobs(&self) {
        let mut executor_state = self.state.lock();
        loop {
            if let Some((service, job)) = executor_state.lanes.take_job() {
                drop(executor_state);
                run_guarded(job);
                executor_state = self.state.lock();
                executor_state.lanes.end_job(service);
                continue;
            }
            executor_state.idle += 1;
            let expired = self.arrived.wait_for(&mut executor_state, IDLE).timed_out();
            executor_state.idle -= 1;
            if expired && executor_state.lanes.count_runnable() == 0 {
                return;
            }
        }
    }

    fn share_numbers(&'static self, job_count: usize, perform: Arc<dyn Fn(usize) + Send + Sync>) {
        let shared = Arc::new(SharedNumbers { count: job_count, ..SharedNumbers::default() });
        for _ in 1..self.processors.min(job_count) {
            let (shared, perform) = (shared.clone(), perform.clone());
            // What a thread would have done that the system refuses is done by the others.
            let helper = Box::new(move || shared.work_through(&*perform));
            if self.try_spawn(Service::Compilation, helper).is_err() {
                break;
            }
        }
        shared.work_through(&*perform);
        shared.wait_for_others();
    }
}

/// A panic ends the job alone: a thread less would go unnoticed.
fn run_guarded(job: Job) {
    let _ = catch_unwind(AssertUnwindSafe(job));
}

/// Numbers that several threads work through.
#[derive(Default)]
struct SharedNumbers {
    count: usize,
    next: AtomicUsize,
    /// How many are done with.
    done: Mutex<usize>,
    all_done: Condvar,
}

impl SharedNumbers {
    /// Does what nobody has begun with.
    fn work_through(&self, perform: &dyn Fn(usize)) {
        loop {
            let number = self.next.fetch_add(1, Ordering::Relaxed);
            if number >= self.count {
                return;
            }
            let _done = Done(self);
            perform(number);
        }
    }

    /// Waits for those who are at work.
    fn wait_for_others(&self) {
        let mut done_count = self.done.lock();
        while *done_count < self.count {
            self.all_done.wait(&mut done_count);
        }
    }
}

/// Counts a number as done with, also where its work panics.
struct Done<'a>(&'a SharedNumbers);

impl Drop for Done<'_> {
    fn drop(&mut self) {
        let mut done_count = self.0.done.lock();
        *done_count += 1;
        if *done_count == self.0.count {
            self.0.all_done.notify_all();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{Barrier, mpsc};

    use super::*;

    const SOON: Duration = Duration::from_secs(20);

    fn executor(processors: usize) -> &'static Executor {
        Box::leak(Box::new(Executor::new(processors)))
    }

    /// Adds a job to lanes that are asked about and not run.
    fn push(lanes: &mut Lanes, service: Service) {
        lanes.add_job(service, Box::new(|| ()));
    }

    #[test]
    fn a_service_runs_as_many_jobs_at_once_as_it_may() {
        let mut lanes = Lanes::with_processors(2);
        for _ in 0..4 {
            push(&mut lanes, Service::Compilation);
        }
        assert_eq!(lanes.count_runnable(), 2);
        for _ in 0..2 {
            assert_eq!(lanes.take_job().map(|(service, _)| service), Some(Service::Compilation));
        }
        assert!(lanes.take_job().is_none() && !lanes.is_empty());
        // Others are not kept by it.
        push(&mut lanes, Service::Commands);
        assert_eq!(lanes.take_job().map(|(service, _)| service), Some(Service::Commands));
        lanes.end_job(Service::Compilation);
        assert_eq!(lanes.count_runnable(), 1);
    }

    #[test]
    fn a_job_can_be_taken_back_until_it_begins() {
        let mut lanes = Lanes::with_processors(1);
        let [first, second] = [(); 2].map(|()| lanes.add_job(Service::Builds, Box::new(|| ())));
        assert!(lanes.take_job().is_some());
        assert!(!lanes.remove_job(Service::Builds, first) && lanes.remove_job(Service::Builds, second));
        assert!(lanes.is_empty());
    }

    #[test]
    fn commands_come_before_code() {
        let mut lanes = Lanes::with_processors(2);
        for service in [Service::Reaping, Service::Promotion, Service::Compilation, Service::Builds, Service::Commands]
        {
            push(&mut lanes, service);
        }
        let order: Vec<Service> = std::iter::from_fn(|| lanes.take_job()).map(|(service, _)| service).collect();
        assert_eq!(order, SERVICES);
    }

    #[test]
    fn blocked_jobs_do_not_keep_others_from_running() {
        let (to_first, first) = mpsc::channel();
        let (to_all, all) = mpsc::channel();
        // Each job but the last waits for the next one, so all must run at once.
        let mut next = to_first;
        for _ in 0..20 {
            let (sender, receiver) = mpsc::channel::<()>();
            let (forward, done) = (std::mem::replace(&mut next, sender), to_all.clone());
            spawn_job(
                Service::Commands,
                Box::new(move || {
                    receiver.recv_timeout(SOON).unwrap();
                    forward.send(()).unwrap();
                    done.send(()).unwrap();
                }),
            );
        }
        next.send(()).unwrap();
        first.recv_timeout(SOON).unwrap();
        for _ in 0..20 {
            all.recv_timeout(SOON).unwrap();
        }
    }

    #[test]
    fn no_more_jobs_that_compute_run_at_once_than_there_are_processors() {
        let executor = executor(3);
        let (running, most) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
        let (sender, ended) = mpsc::channel();
        for _ in 0..30 {
            let (running, most, sender) = (running.clone(), most.clone(), sender.clone());
            let job = move || {
                most.fetch_max(running.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
                std::thread::sleep(Duration::from_millis(1));
                running.fetch_sub(1, Ordering::SeqCst);
                sender.send(()).unwrap();
            };
            executor.spawn_job(Service::Compilation, Box::new(job));
        }
        (0..30).for_each(|_| ended.recv_timeout(SOON).unwrap());
        assert!(most.load(Ordering::SeqCst) <= 3, "{most:?}");
    }

    #[test]
    fn a_panic_ends_its_job_alone() {
        let executor = executor(1);
        let (sender, ended) = mpsc::channel();
        executor.spawn_job(Service::Compilation, Box::new(|| panic!("on purpose")));
        executor.try_spawn(Service::Compilation, Box::new(move || sender.send(()).unwrap())).unwrap();
        ended.recv_timeout(SOON).unwrap();
    }

    #[test]
    fn each_number_is_worked_on_once() {
        for job_count in [0, 1, 2, 100] {
            let calls: Arc<Vec<AtomicUsize>> = Arc::new((0..job_count).map(|_| AtomicUsize::new(0)).collect());
            let counted = calls.clone();
            share_numbers(job_count, move |number| {
                counted[number].fetch_add(1, Ordering::Relaxed);
            });
            assert!(calls.iter().all(|calls| calls.load(Ordering::Relaxed) == 1), "{job_count}");
        }
    }

    #[test]
    fn all_processors_share_numbers() {
        // Each waits for all others.
        let all = Barrier::new(5);
        executor(5).share_numbers(
            5,
            Arc::new(move |_| {
                all.wait();
            }),
        );
    }
}
