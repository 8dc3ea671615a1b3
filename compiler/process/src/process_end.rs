//! The end of the process, once the answer is written.

/// Ends the process without taking LLVM's tables apart, which takes longer than many a job.
pub fn end_process(status: i32) -> ! {
    // SAFETY: nothing is left to be written, and nobody else runs in this process.
    unsafe { libc::_exit(status) }
}
