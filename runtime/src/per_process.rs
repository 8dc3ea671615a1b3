//! Values of which a forked child has its own.
//!
//! A lock that another thread of the parent held while it forked stays locked in the child for good, as that has none of the threads.
//! So what threads of the background share is made anew in a child, locks and all, and the parent's is left as it is.

use std::process;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};

use memmap2::MmapMut;

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
fn find_process_id() -> u32 {
    static KNOWN_ID: OnceLock<Option<&'static AtomicU32>> = OnceLock::new();
    let Some(known_id) = KNOWN_ID.get_or_init(make_cleared_word) else { return process::id() };
    match known_id.load(Ordering::Relaxed) {
        0 => {
            let id = process::id();
            known_id.store(id, Ordering::Relaxed);
            id
        }
        id => id,
    }
}

/// A word that is 0 again in every child; none: the system can't do that.
fn make_cleared_word() -> Option<&'static AtomicU32> {
    let mut page = MmapMut::map_anon(size_of::<AtomicU32>()).ok()?;
    // SAFETY: the page is ours.
    if unsafe { libc::madvise(page.as_mut_ptr().cast(), page.len(), libc::MADV_WIPEONFORK) } != 0 {
        return None;
    }
    let word = page.as_mut_ptr().cast::<u32>();
    std::mem::forget(page);
    // SAFETY: the page is mapped for good, begins with room for a word, and nobody else has its address.
    Some(unsafe { AtomicU32::from_ptr(word) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_forked_child_knows_its_own_number() {
        assert_eq!(find_process_id(), process::id());
        // SAFETY: the child only asks for its number, which takes no lock, and ends.
        let child = unsafe { libc::fork() };
        if child == 0 {
            let is_known = find_process_id() == process::id();
            // SAFETY: the child ends without a destructor of the parent's.
            unsafe { libc::_exit(if is_known { 0 } else { 1 }) };
        }
        let mut status = -1;
        // SAFETY: the place for the status is ours.
        assert_eq!(unsafe { libc::waitpid(child, &mut status, 0) }, child);
        assert_eq!(status, 0, "the child took another number for its own");
    }

    #[test]
    fn each_process_has_its_own_value() {
        let made = AtomicU32::new(0);
        let values = PerProcess::new();
        let value_of = |process| *values.find_of(process, || made.fetch_add(1, Ordering::Relaxed));
        assert_eq!([7, 7, 8, 9, 8, 7].map(value_of), [0, 0, 1, 2, 1, 0]);
    }
}
