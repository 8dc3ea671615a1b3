//! What all commands have in common: the wait list, the event, and waiting for a blocking one.

use std::cell::Cell;
use std::sync::Arc;

use lockstep_runtime::command::{Command, Work};
use lockstep_runtime::context::Context;
use lockstep_runtime::event::Event;
use lockstep_runtime::queue::Queue;
use lockstep_runtime::{Result, ensure};
use opencl_sys::{CL_COMPLETE, CL_INVALID_EVENT_WAIT_LIST, cl_command_type, cl_event, cl_uint};

use crate::api::buffer::check_context;
use crate::handle;

/// The events of a wait list.
///
/// "CL_INVALID_EVENT_WAIT_LIST if event_wait_list is NULL and num_events_in_wait_list is greater than zero, if
/// event_wait_list is not NULL and num_events_in_wait_list is zero, [or] if event objects in event_wait_list are not
/// valid events." "CL_INVALID_CONTEXT [...] if the context associated with command_queue and events in event_wait_list
/// are not the same."
///
/// # Safety
/// `list` is null or points to `count` handles.
pub unsafe fn wait_list(context: &Arc<Context>, count: cl_uint, list: *const cl_event) -> Result<Vec<Arc<Event>>> {
    // SAFETY: the caller vouches for the list.
    let events = unsafe { handle::list::<Event>(count, list, CL_INVALID_EVENT_WAIT_LIST) };
    let events = events.map_err(|error| error.with_code(CL_INVALID_EVENT_WAIT_LIST))?;
    check_events(&events, context)?;
    Ok(events)
}

/// "CL_INVALID_CONTEXT if the context associated with command_queue and events in event_wait_list are not the same."
pub fn check_events(events: &[Arc<Event>], context: &Arc<Context>) -> Result<()> {
    for (i, event) in events.iter().enumerate() {
        check_context(event.context(), context, format_args!("event {i} of {}", events.len()))?;
    }
    Ok(())
}

/// Whether and where a command is waited for.
#[derive(Debug, Clone, Copy)]
pub struct Completion {
    /// Return only when the command has ended.
    pub blocking: bool,
    /// Where the application wants the event, or null.
    pub event: *mut cl_event,
}

thread_local! {
    /// Whether this thread's calls only check.
    static CHECKING: Cell<bool> = const { Cell::new(false) };
}

/// Calls a function that enqueues, which then checks its arguments and does no more.
pub fn check_only<T>(call: impl FnOnce() -> T) -> T {
    /// Puts back what held before, even where the call panics.
    struct Before(bool);
    impl Drop for Before {
        fn drop(&mut self) {
            CHECKING.set(self.0);
        }
    }
    let _before = Before(CHECKING.replace(true));
    call()
}

/// Enqueues a command.
///
/// A blocking command that fails returns its error, for instance "CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST if the
/// read and write operations are blocking and the execution status of any of the events in event_wait_list is a
/// negative integer value."
///
/// # Safety
/// `completion.event` is null or may be written.
pub unsafe fn enqueue(
    queue: &Arc<Queue>,
    kind: cl_command_type,
    waits: Vec<Arc<Event>>,
    work: Work,
    completion: Completion,
) -> Result<()> {
    if CHECKING.get() {
        return Ok(());
    }
    let Completion { blocking, event: event_out } = completion;
    let event = (blocking || !event_out.is_null()).then(|| Event::of_command(queue, kind));
    if let Some(event) = &event
        && !event_out.is_null()
    {
        let handle = handle::publish(event.clone())?;
        // SAFETY: not null, so the caller vouches for it.
        unsafe { event_out.write(handle) };
    }
    queue.enqueue(Command { kind, waits, work, event: event.clone() });
    let Some(event) = event.filter(|_| blocking) else { return Ok(()) };
    event.wait();
    let status = event.status();
    if status < CL_COMPLETE && !event_out.is_null() {
        // "If [...] the enqueue is unsuccessful, no event will be created".
        handle::release::<Event>(handle::of(&event))?;
        // SAFETY: as above.
        unsafe { event_out.write(std::ptr::null_mut()) };
    }
    ensure!(status >= CL_COMPLETE, status, "the command was to be waited for, and failed");
    Ok(())
}
