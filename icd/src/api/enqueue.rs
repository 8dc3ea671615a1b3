//! What all commands have in common: the wait list, the event, and waiting for a blocking one.
//!
//! An entry point that enqueues first checks what the command is, which gives a value of the runtime: a `Transfer`, a
//! `CheckedLaunch`, or the work itself. Then that is enqueued. The entry points that record make the same checks and keep
//! the value.

use std::sync::Arc;

use lockstep_runtime::command::{Command, Work};
use lockstep_runtime::context::Context;
use lockstep_runtime::event::Event;
use lockstep_runtime::memory_transfer::Transfer;
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

/// The event of a command that is about to be enqueued, if the application wants it.
///
/// # Safety
/// `event` is null or may be written.
pub unsafe fn publish_event(
    queue: &Arc<Queue>,
    kind: cl_command_type,
    event: *mut cl_event,
) -> Result<Option<Arc<Event>>> {
    if event.is_null() {
        return Ok(None);
    }
    let published = Event::of_command(queue, kind);
    let handle = handle::publish(published.clone())?;
    // SAFETY: not null, so the caller vouches for it.
    unsafe { event.write(handle) };
    Ok(Some(published))
}

/// The last three parameters of every enqueue function.
#[derive(Debug, Clone, Copy)]
pub struct Order {
    /// `num_events_in_wait_list`: how many events the command waits for.
    pub count: cl_uint,
    /// `event_wait_list`: the handles of these events.
    pub list: *const cl_event,
    /// `event`: where the command's own goes, or null.
    pub event: *mut cl_event,
}

impl Order {
    /// Enqueues a command behind the events of the list.
    ///
    /// # Safety
    /// The list and `event` are as the specification says.
    pub unsafe fn enqueue(self, queue: &Arc<Queue>, kind: cl_command_type, blocking: bool, work: Work) -> Result<()> {
        // SAFETY: the same contract.
        unsafe {
            let waits = wait_list(queue.context(), self.count, self.list)?;
            enqueue(queue, kind, waits, work, Completion { blocking, event: self.event })
        }
    }

    /// Enqueues a transfer behind the events of the list.
    ///
    /// # Safety
    /// As for [`Order::enqueue`].
    pub unsafe fn enqueue_transfer(self, queue: &Arc<Queue>, blocking: bool, transfer: Transfer) -> Result<()> {
        // SAFETY: the same contract.
        unsafe { self.enqueue(queue, transfer.kind, blocking, Work::Shared(Arc::new(transfer))) }
    }
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
    let Completion { blocking, event: event_out } = completion;
    // SAFETY: the same contract.
    let event = match unsafe { publish_event(queue, kind, event_out)? } {
        None if blocking => Some(Event::of_command(queue, kind)),
        published => published,
    };
    queue.enqueue_command(Command { kind, waits, work, event: event.clone(), whole: None });
    let Some(event) = event.filter(|_| blocking) else { return Ok(()) };
    event.wait_until_ended();
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
