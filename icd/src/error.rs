//! From Rust results to OpenCL return values; no panic crosses the C boundary, and every error is told.

use std::any::Any;
use std::cell::Cell;
use std::ffi::c_void;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use crate::float_environment::DefaultFloats;
use crate::handle;
use lockstep_runtime::context::Context;
use lockstep_runtime::{Error, Result, error, executor, report};
use opencl_sys::{CL_OUT_OF_HOST_MEMORY, CL_SUCCESS, cl_int};

/// A call of an entry point, as far as its errors are concerned.
#[derive(Clone, Copy)]
pub struct Call<'a> {
    /// The entry point's name in C.
    pub name: &'static str,
    /// What it was called on, valid or not: the first object that belongs to a context says whom to tell.
    pub objects: &'a [*mut c_void],
}

impl Call<'_> {
    /// Tells of an error of this call.
    pub fn tell(self, error: &Error) {
        let context: Option<Arc<Context>> = self.objects.iter().find_map(|&object| handle::context_of(object));
        report::report_error(context.as_deref(), self.name, error);
    }

    /// Makes the call in the default floating-point environment. A panic becomes an error, and an error is told.
    pub fn make<T>(self, body: impl FnOnce() -> Result<T>) -> Result<T> {
        let within = INSIDE.replace(true);
        let _floats = (!within).then(DefaultFloats::enter);
        // Nothing of the driver's state is left half-changed visibly: locks do not poison and each object guards its own.
        let result = catch_unwind(AssertUnwindSafe(body)).unwrap_or_else(|panic| Err(of_panic(&*panic)));
        // All locks have been let go of.
        let result = result.inspect_err(|error| self.tell(error));
        if !within {
            // What the call left to threads that cannot be had. A call from within another may come with locks held.
            while executor::run_waiting_job() {}
            INSIDE.set(false);
        }
        result
    }

    /// Makes the call of an entry point that returns its status.
    ///
    /// A panic becomes `CL_OUT_OF_HOST_MEMORY`, the error every entry point may return "if there is a failure to allocate
    /// resources required by the OpenCL implementation on the host".
    pub fn status(self, body: impl FnOnce() -> Result<()>) -> cl_int {
        code(&self.make(body))
    }

    /// Makes the call of an entry point that returns an object (or a pointer) and its status through `errcode_ret`, which
    /// may be null.
    ///
    /// # Safety
    /// `errcode_ret` is null or points to a `cl_int` that may be written.
    pub unsafe fn object(self, errcode_ret: *mut cl_int, body: impl FnOnce() -> Result<*mut c_void>) -> *mut c_void {
        let made = self.make(body);
        if !errcode_ret.is_null() {
            // SAFETY: not null, so the caller vouches for it.
            unsafe { errcode_ret.write(code(&made)) };
        }
        made.unwrap_or(std::ptr::null_mut())
    }
}

thread_local! {
    /// Whether this thread is in an entry point.
    static INSIDE: Cell<bool> = const { Cell::new(false) };
}

/// The code of a result.
pub fn code<T>(result: &Result<T>) -> cl_int {
    result.as_ref().err().map_or(CL_SUCCESS, Error::code)
}

/// The error that a panic is to the application.
fn of_panic(panic: &(dyn Any + Send)) -> Error {
    let text = panic.downcast_ref::<&str>().copied().or_else(|| panic.downcast_ref::<String>().map(String::as_str));
    error!(CL_OUT_OF_HOST_MEMORY, "an error of the driver itself: {}", text.unwrap_or("a panic"))
}
