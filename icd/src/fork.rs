//! What becomes of the driver in a forked child.
//!
//! A child has the memory of its parent but none of its threads: commands that the parent's threads were about to run
//! never end there, and a lock that one of them held is never let go of. So once there has been a queue, whatever would
//! run or wait for commands in a child is refused before it takes a lock. What only asks or releases still works, and a
//! process that forks before it makes its first queue may use the driver on both sides.

use std::sync::Once;
use std::sync::atomic::{AtomicBool, Ordering};

use lockstep_runtime::{Result, ensure};
use opencl_sys::CL_OUT_OF_RESOURCES;

/// Set in a child of a process with a queue.
static FORKED: AtomicBool = AtomicBool::new(false);

/// From now on children are forked from a process with a queue.
pub fn watch() {
    static WATCH: Once = Once::new();
    extern "C" fn in_child() {
        FORKED.store(true, Ordering::Relaxed);
    }
    // SAFETY: the handler does what one may do between fork and exec. Without memory for it children go unnoticed, which
    // is all that can be done about it.
    WATCH.call_once(|| _ = unsafe { libc::pthread_atfork(None, None, Some(in_child)) });
}

/// `CL_OUT_OF_RESOURCES` in a child that cannot run commands.
pub fn check() -> Result<()> {
    ensure!(
        !FORKED.load(Ordering::Relaxed),
        CL_OUT_OF_RESOURCES,
        "this process was forked from one that had command queues, and cannot run commands"
    );
    Ok(())
}
