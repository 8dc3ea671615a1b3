//! Work that is shared among threads while its caller waits, as the compiling of many kernels is.
//!
//! The threads are gone when the call returns, so that none is in the midst of compiling when the process ends.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use crate::schedule;

/// Calls `work` once for every number below `count`, on as many threads as there are processors to run on.
pub fn spread(count: usize, work: impl Fn(usize) + Sync) {
    let next = AtomicUsize::new(0);
    let share = || {
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            if number >= count {
                return;
            }
            work(number);
        }
    };
    let processors = schedule::available_cpus();
    let helpers = processors.min(count).saturating_sub(1);
    thread::scope(|scope| {
        for _ in 0..helpers {
            let helper = thread::Builder::new().name("lockstep-compile".into());
            // What a thread would have done that the system refuses is done by the others.
            if helper.spawn_scoped(scope, share).is_err() {
                break;
            }
        }
        share();
    });
}

#[cfg(test)]
mod tests {
    use std::sync::Barrier;

    use super::*;

    #[test]
    fn each_number_is_worked_on_once() {
        for count in [0, 1, 2, 100] {
            let calls: Vec<AtomicUsize> = (0..count).map(|_| AtomicUsize::new(0)).collect();
            spread(count, |number| {
                calls[number].fetch_add(1, Ordering::Relaxed);
            });
            assert!(calls.iter().all(|calls| calls.load(Ordering::Relaxed) == 1), "{count}");
        }
    }

    #[test]
    fn all_processors_work() {
        let processors = schedule::available_cpus();
        // Each waits for all others.
        let all = Barrier::new(processors);
        spread(processors, |_| {
            all.wait();
        });
    }
}
