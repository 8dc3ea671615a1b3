//! Memory that forked children find cleared.

use std::sync::atomic::AtomicU32;

use memmap2::MmapMut;

/// A word that is 0, and 0 again in every child that is forked later. None where the system can't do that (Linux before 4.14).
pub(crate) fn map_cleared_word() -> Option<&'static AtomicU32> {
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
    use std::process;
    use std::sync::atomic::Ordering;

    use super::*;
    use crate::per_process::find_process_id;

    /// Whether something holds in a forked child.
    fn holds_in_child(holds: impl Fn() -> bool) -> bool {
        // SAFETY: the child only looks at words and asks for its number, which takes no lock.
        let child = unsafe { libc::fork() };
        if child == 0 {
            // SAFETY: the child ends without the parent's destructors.
            unsafe { libc::_exit(i32::from(!holds())) };
        }
        let mut status = -1;
        // SAFETY: the place for the status is ours.
        (unsafe { libc::waitpid(child, &mut status, 0) }) == child && status == 0
    }

    #[test]
    fn children_find_the_word_cleared() {
        let word = map_cleared_word().expect("Linux 4.14 and later do it");
        word.store(7, Ordering::Relaxed);
        assert!(holds_in_child(|| word.load(Ordering::Relaxed) == 0));
        assert_eq!(word.load(Ordering::Relaxed), 7, "the parent's stays");
    }

    #[test]
    fn children_know_their_own_number() {
        assert_eq!(find_process_id(), process::id());
        assert!(holds_in_child(|| find_process_id() == process::id()));
    }
}
