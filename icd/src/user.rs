//! What the application gives the driver to hand back: a pointer that may cross threads.

use std::ffi::c_void;

/// A pointer of the application, passed back to its callback untouched.
#[derive(Debug, Clone, Copy)]
#[repr(transparent)]
pub struct UserData(pub *mut c_void);

// SAFETY: the driver never follows the pointer, and the specification says that callbacks come on any thread, "It is the
// application's responsibility to ensure that the callback function is thread-safe."
unsafe impl Send for UserData {}
// SAFETY: as above.
unsafe impl Sync for UserData {}

impl UserData {
    /// The pointer. (A method, so that closures capture the whole and not the bare field.)
    pub fn get(&self) -> *mut c_void {
        self.0
    }
}
