//! What is to be done before the process ends.

/// Has the C library call a function when the process ends, or before this library is unloaded. Where it cannot remember one
/// more function, this one is not called. The function must not panic.
pub fn call_at_exit(function: extern "C" fn()) {
    // SAFETY: the function may be called at any time, and is there as long as this library is loaded.
    let _ = unsafe { libc::atexit(function) };
}
