//! How much of the processors the process gets while others want them.

use std::ffi::c_int;

/// By how much the process is nicer than the application: where both want a processor, it gets a quarter.
const NICER: c_int = 5;

/// Lets others go first. Where that is refused, nothing changes.
pub fn give_way() {
    // SAFETY: a system call without pointers.
    unsafe { libc::nice(NICER) };
}
