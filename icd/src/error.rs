//! From Rust results to OpenCL return values; no panic crosses the C boundary.

use std::cell::Cell;
use std::ffi::c_void;
use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::float_environment::DefaultFloats;
use lockstep_runtime::{Error, Result, workers};
use opencl_sys::{CL_OUT_OF_HOST_MEMORY, CL_SUCCESS, cl_int};

/// An entry point that returns its status.
///
/// A panic becomes `CL_OUT_OF_HOST_MEMORY`, the error every entry point may return "if there is a failure to allocate
/// resources required by the OpenCL implementation on the host".
pub fn entry(body: impl FnOnce() -> Result<()>) -> cl_int {
    match guarded(body) {
        Ok(()) => CL_SUCCESS,
        Err(e) => e.code(),
    }
}

/// An entry point that returns an object (or a pointer) and its status through `errcode_ret`, which may be null.
///
/// # Safety
/// `errcode_ret` is null or points to a `cl_int` that may be written.
pub unsafe fn entry_ret(errcode_ret: *mut cl_int, body: impl FnOnce() -> Result<*mut c_void>) -> *mut c_void {
    let (value, code) = match guarded(body) {
        Ok(value) => (value, CL_SUCCESS),
        Err(e) => (std::ptr::null_mut(), e.code()),
    };
    if !errcode_ret.is_null() {
        // SAFETY: not null, so the caller vouches for it.
        unsafe { errcode_ret.write(code) };
    }
    value
}

thread_local! {
    /// Whether this thread is in an entry point.
    static INSIDE: Cell<bool> = const { Cell::new(false) };
}

/// Runs `body` in the default floating-point environment; a panic becomes an error.
pub fn guarded<T>(body: impl FnOnce() -> Result<T>) -> Result<T> {
    let within = INSIDE.replace(true);
    let _floats = (!within).then(DefaultFloats::enter);
    // Nothing of the driver's state is left half-changed visibly: locks do not poison and each object guards its own.
    let result = catch_unwind(AssertUnwindSafe(body)).unwrap_or_else(|_| Err(Error::new(CL_OUT_OF_HOST_MEMORY)));
    if !within {
        // What the call left to threads that cannot be had. A call from within another may come with locks held.
        while workers::help() {}
        INSIDE.set(false);
    }
    result
}
