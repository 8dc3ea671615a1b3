//! What the driver tells applications beside codes: the messages that go to the callback of a context.

use std::ffi::{CStr, c_char, c_void};
use std::ptr;
use std::sync::Mutex;

use opencl_sys::CL_SUCCESS;

use crate::loader::{cl, device};
use crate::{Context, Setup, ok};

/// What a context was told.
#[derive(Default)]
pub struct Messages(Mutex<Vec<String>>);

impl Messages {
    /// What was told since this was last asked, a line each.
    pub fn take_all(&self) -> String {
        std::mem::take(&mut *self.0.lock().expect("no panic")).join("\n")
    }
}

extern "C" fn keep_message(message: *const c_char, _: *const c_void, _: usize, messages: *mut c_void) {
    // SAFETY: the driver hands a terminated string over for the time of the call, and what `listening_setup` leaked.
    let (message, messages) = unsafe { (CStr::from_ptr(message), &*messages.cast::<Messages>()) };
    messages.0.lock().expect("no panic").push(message.to_string_lossy().into_owned());
}

/// A context that keeps what it is told, and a queue. The messages live as long as the process: the driver may tell some late.
#[track_caller]
pub fn listening_setup() -> (Setup, &'static Messages) {
    let messages: &'static Messages = Box::leak(Box::default());
    let mut code = CL_SUCCESS;
    let user_data = ptr::from_ref(messages).cast_mut().cast();
    let raw = (cl().clCreateContext)(ptr::null(), 1, &device(), Some(keep_message), user_data, &mut code);
    ok(code);
    let context = Context::own(raw);
    let queue = context.queue(0);
    (Setup { context, queue }, messages)
}
