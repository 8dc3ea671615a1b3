//! Threads that make code for launches that wait for it: no more of them at once than there are processors to run on.

use std::collections::VecDeque;

use parking_lot::Mutex;

use crate::schedule;
use crate::workers::{self, Job};

static MAKERS: Mutex<Makers> = Mutex::new(Makers { jobs: VecDeque::new(), threads: 0 });

struct Makers {
    jobs: VecDeque<Job>,
    /// Threads at work, or about to be.
    threads: usize,
}

/// Has a thread do the job when those before it are done or under way.
pub fn spawn(job: Job) {
    let most = schedule::available_cpus();
    let mut makers = MAKERS.lock();
    makers.jobs.push_back(job);
    if makers.threads < most {
        makers.threads += 1;
        drop(makers);
        workers::spawn(Box::new(work));
    }
}

/// What a thread does.
fn work() {
    let next = || {
        let mut makers = MAKERS.lock();
        let job = makers.jobs.pop_front();
        makers.threads -= usize::from(job.is_none());
        job
    };
    while let Some(job) = next() {
        workers::run(job);
    }
}
