//! Code that gives up: a work-item that makes its launch fail does not go on, nor does any other of the groups that its thread runs.
//!
//! Code that may give up runs on a stack of its own. To give up is to go back from that stack to whoever runs the code. What stands on the
//! stack is left as it is: frames of generated code, and of functions that it called, none of which owns anything then.
//!
//! Whoever waits for another work-item asks [`must_give_up`] in every round: the other one may have given up on another thread.

use std::cell::Cell;
use std::ptr;
use std::sync::atomic::{AtomicBool, Ordering};

use corosensei::stack::DefaultStack;
use corosensei::{Coroutine, CoroutineResult, Yielder};

use super::own_stack::{OutOfStack, keep_stack, take_stack};

/// Code that runs and may give up.
pub(super) struct Running {
    /// How to go back from its stack.
    yielder: *const Yielder<(), ()>,
    /// Whether its launch has failed.
    has_failed: *const AtomicBool,
}

thread_local! {
    /// The code that this thread runs, if it may give up.
    static RUNNING: Cell<*const Running> = const { Cell::new(ptr::null()) };
}

/// Tells who ran before that it runs again.
struct RestoreRunning(*const Running);

impl Drop for RestoreRunning {
    fn drop(&mut self) {
        RUNNING.set(self.0);
    }
}

/// Runs a body, whose frames take so many bytes, until it returns or gives up; not at all where the launch has failed, as `has_failed` tells.
///
/// # Errors
/// [`OutOfStack`] where the body did not run for want of memory.
pub fn run_until_given_up(frame_bytes: u64, has_failed: &AtomicBool, body: impl FnOnce()) -> Result<(), OutOfStack> {
    if has_failed.load(Ordering::Relaxed) {
        return Ok(());
    }
    let stack = take_stack(frame_bytes)?;
    let has_failed: *const AtomicBool = has_failed;
    let mut unstarted_body = Some(body);
    let (call_body, body_address) = erase_body(&mut unstarted_body);
    let _restore = RestoreRunning(RUNNING.get());
    let mut coroutine = Coroutine::with_stack(stack, move |yielder: &Yielder<(), ()>, ()| {
        let running = Running { yielder, has_failed };
        RUNNING.set(&running);
        // SAFETY: the body is on the stack of the caller, which waits here.
        unsafe { call_body(body_address) };
    });
    if let CoroutineResult::Yield(()) = coroutine.resume(()) {
        // SAFETY: nothing on the stack owns anything, as whoever gives up has promised.
        unsafe { coroutine.force_reset() };
    }
    keep_stack(coroutine.into_stack());
    Ok(())
}

/// A body without its type: a function that calls it, and its address. A coroutine may hold nothing that is borrowed.
fn erase_body<F: FnOnce()>(body: &mut Option<F>) -> (unsafe fn(*mut ()), *mut ()) {
    unsafe fn call_body<F: FnOnce()>(body_address: *mut ()) {
        // SAFETY: the address is that of the body, which nobody else uses.
        let body = unsafe { &mut *body_address.cast::<Option<F>>() };
        if let Some(body) = body.take() {
            body();
        }
    }
    (call_body::<F>, ptr::from_mut(body).cast())
}

/// The code that this thread runs, if it may give up; to tell one from another.
pub(super) fn current_code() -> *const Running {
    RUNNING.get()
}

/// Whether the launch has failed of the code that this thread runs.
pub(super) fn must_give_up() -> bool {
    // SAFETY: null, or on the stack of the code that runs, whose launch outlives it.
    unsafe { RUNNING.get().as_ref().is_some_and(|running| (*running.has_failed).load(Ordering::Relaxed)) }
}

/// Goes back to whoever runs the code. Returns only where the code may not give up.
///
/// # Safety
/// It is called on the stack that the code was begun on. No function between the caller and the code's beginning owns anything or has
/// borrowed anything that others wait for.
pub(super) unsafe fn leave_code() {
    // SAFETY: null, or on the stack of the code that runs.
    let yielder = unsafe { RUNNING.get().as_ref() }.map(|running| running.yielder);
    if let Some(yielder) = yielder {
        // SAFETY: the coroutine's own, which is the one that runs.
        unsafe { &*yielder }.suspend(());
    }
}

/// A stack and a coroutine on it that may be left as it is.
pub(super) fn recycle_stack(mut coroutine: Coroutine<(), (), (), DefaultStack>) -> DefaultStack {
    if !coroutine.done() {
        // SAFETY: it was suspended by code that gives up or waits, whose frames own nothing.
        unsafe { coroutine.force_reset() };
    }
    coroutine.into_stack()
}
