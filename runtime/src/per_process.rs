//! Values of which a forked child has its own.
//!
//! A lock that another thread of the parent held while it forked stays locked in the child for good, as that has none of the threads.
//! So what threads of the background share is made anew in a child, locks and all, and the parent's is left as it is.

use std::process;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};

use once_cell::race::OnceRef;

use crate::memory_cleared_on_fork::map_cleared_word;

/// A value for each process that asks for it.
pub(crate) struct PerProcess<T> {
    first: OnceLock<Box<Owned<T>>>,
}

/// A process's value, and that of a forked child behind it.
struct Owned<T> {
    process: u32,
    value: T,
    next: OnceLock<Box<Owned<T>>>,
}

impl<T> PerProcess<T> {
    pub(crate) const fn new() -> PerProcess<T> {
        PerProcess { first: OnceLock::new() }
    }

    /// This process's value, made when it is asked for first.
    pub(crate) fn get_or_make(&self, make: impl Fn() -> T) -> &T {
        self.find_of(find_process_id(), make)
    }

    fn find_of(&self, process: u32, make: impl Fn() -> T) -> &T {
        let mut place = &self.first;
        loop {
            let owned = place.get_or_init(|| Box::new(Owned { process, value: make(), next: OnceLock::new() }));
            if owned.process == process {
                return &owned.value;
            }
            place = &owned.next;
        }
    }
}

/// This process's number, without a call of the system where that clears a page of memory in children: entry points ask for it, and the
/// call takes 0.1 µs, of the 0.4 of a launch.
pub(crate) fn find_process_id() -> u32 {
    /// What stands for the word where the system clears none.
    static ASK_EACH_TIME: AtomicU32 = AtomicU32::new(0);
    // Nobody waits for another thread here, which a child may not have.
    static KNOWN_ID: OnceRef<'static, AtomicU32> = OnceRef::new();
    let known_id = KNOWN_ID.get_or_init(|| map_cleared_word().unwrap_or(&ASK_EACH_TIME));
    match known_id.load(Ordering::Relaxed) {
        0 => {
            let id = process::id();
            if !std::ptr::eq(known_id, &ASK_EACH_TIME) {
                known_id.store(id, Ordering::Relaxed);
            }
            id
        }
        id => id,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_process_has_its_own_value() {
        let made = AtomicU32::new(0);
        let values = PerProcess::new();
        let value_of = |process| *values.find_of(process, || made.fetch_add(1, Ordering::Relaxed));
        assert_eq!([7, 7, 8, 9, 8, 7].map(value_of), [0, 0, 1, 2, 1, 0]);
    }
}
