//! What the process gets while others want it as well: processors and memory.

use std::ffi::c_int;

/// By how much the process is nicer than the application: where both want a processor, it gets a quarter.
const NICER: c_int = 5;

/// Lets others go first. Where that is refused, nothing changes.
pub fn give_way() {
    // SAFETY: a system call without pointers.
    unsafe { libc::nice(NICER) };
}

/// Should the machine or a control group run out of memory, this process ends, not the application. Where the system has no such
/// file, nothing changes.
pub fn end_first_for_memory() {
    let _ = std::fs::write("/proc/self/oom_score_adj", "1000");
}
