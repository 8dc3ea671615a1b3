//! Threads that drain queues when no application thread waits for them.
//!
//! There are as many as have something to do at once: a job that blocks (a native kernel, a callback) never keeps another
//! from running. A thread that has had nothing to do for a while ends. This is not where work-groups run: `schedule`
//! spreads a launch over the cores, from whichever thread executes the command.
//!
//! Where the system refuses threads, jobs are done by those there are: application threads do them at the end of the call
//! that gave rise to them, and before they sleep in one.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use parking_lot::{Condvar, Mutex};

/// Something for another thread to do.
pub type Job = Box<dyn FnOnce() + Send>;

/// Bytes of the stack of a thread that may compile: LLVM's passes go deep into long kernels.
pub const STACK: usize = 16 << 20;

/// How long a thread stays without work.
const IDLE: Duration = Duration::from_secs(2);

static WORKERS: Workers =
    Workers { state: Mutex::new(State { jobs: VecDeque::new(), idle: 0 }), arrived: Condvar::new() };

struct Workers {
    state: Mutex<State>,
    arrived: Condvar,
}

struct State {
    jobs: VecDeque<Job>,
    /// Threads that wait for a job.
    idle: usize,
}

/// Whether the system has refused a thread, and it may be that nobody takes up the jobs there are.
static REFUSED: AtomicBool = AtomicBool::new(false);

/// Does a job that no thread could be made for, if there is one. No lock may be held.
pub fn help() -> bool {
    if !REFUSED.load(Ordering::Relaxed) {
        return false;
    }
    let mut state = WORKERS.state.lock();
    let Some(job) = state.jobs.pop_front() else {
        // The next job tries for a thread again.
        REFUSED.store(false, Ordering::Relaxed);
        return false;
    };
    drop(state);
    run(job);
    true
}

/// Runs a job on another thread, soon. Should the system refuse a thread, the job is for [`help`] and the threads there
/// are.
pub fn spawn(job: Job) {
    let mut state = WORKERS.state.lock();
    state.jobs.push_back(job);
    if state.idle >= state.jobs.len() {
        WORKERS.arrived.notify_one();
        return;
    }
    drop(state);
    let thread = std::thread::Builder::new().name("lockstep-queue".into()).stack_size(STACK);
    if thread.spawn(serve).is_err() {
        let _state = WORKERS.state.lock();
        REFUSED.store(true, Ordering::Relaxed);
    }
}

/// A job guards what it runs; this is for what slipped through, as a thread less would go unnoticed.
pub fn run(job: Job) {
    let _ = std::panic::catch_unwind(std::panic::AssertUnwindSafe(job));
}

/// What a worker does.
fn serve() {
    let mut state = WORKERS.state.lock();
    loop {
        if let Some(job) = state.jobs.pop_front() {
            drop(state);
            run(job);
            state = WORKERS.state.lock();
            continue;
        }
        state.idle += 1;
        let expired = WORKERS.arrived.wait_for(&mut state, IDLE).timed_out();
        state.idle -= 1;
        if expired && state.jobs.is_empty() {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use super::*;

    #[test]
    fn blocked_jobs_do_not_keep_others_from_running() {
        let (to_first, first) = mpsc::channel();
        let (to_all, all) = mpsc::channel();
        // Each job but the last waits for the next one, so all must run at once.
        let mut next = to_first;
        for _ in 0..20 {
            let (sender, receiver) = mpsc::channel::<()>();
            let (forward, done) = (std::mem::replace(&mut next, sender), to_all.clone());
            spawn(Box::new(move || {
                receiver.recv_timeout(Duration::from_secs(20)).unwrap();
                forward.send(()).unwrap();
                done.send(()).unwrap();
            }));
        }
        next.send(()).unwrap();
        first.recv_timeout(Duration::from_secs(20)).unwrap();
        for _ in 0..20 {
            all.recv_timeout(Duration::from_secs(20)).unwrap();
        }
    }
}
