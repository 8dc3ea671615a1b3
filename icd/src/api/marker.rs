//! Markers, barriers and waiting for events (OpenCL API, 5.12).

use lockstep_icd_macros::entry_point;
use lockstep_runtime::command::Work;
use lockstep_runtime::event::Event;
use lockstep_runtime::queue::Queue;
use lockstep_runtime::{Result, ensure};
use opencl_sys::{
    CL_COMMAND_BARRIER, CL_COMMAND_MARKER, CL_INVALID_EVENT, CL_INVALID_VALUE, cl_command_queue, cl_command_type,
    cl_event, cl_uint,
};

use crate::api::enqueue::{Completion, check_events, enqueue, wait_list};
use crate::handle::{self, Object};

/// A marker or a barrier behind the events of a list, or behind all earlier commands without one.
///
/// # Safety
/// The pointers are as the specification says.
unsafe fn ordering_command(
    command_queue: cl_command_queue,
    kind: cl_command_type,
    num_events: cl_uint,
    events: *const cl_event,
    event: *mut cl_event,
) -> Result<()> {
    // "CL_INVALID_COMMAND_QUEUE if command_queue is not a valid host command-queue."
    let queue = handle::get::<Queue>(command_queue)?;
    // SAFETY: the caller vouches for the list and for `event`.
    unsafe {
        let waits = wait_list(queue.context(), num_events, events)?;
        enqueue(&queue, kind, waits, Work::Nothing, Completion { blocking: false, event })
    }
}

/// `clEnqueueMarkerWithWaitList`: enqueues a command that ends when those it waits for have ended.
#[entry_point(clEnqueueMarkerWithWaitList)]
pub unsafe fn enqueue_marker_with_wait_list(
    command_queue: cl_command_queue,
    num_events_in_wait_list: cl_uint,
    event_wait_list: *const cl_event,
    event: *mut cl_event,
) -> Result<()> {
    // SAFETY: the same contract.
    unsafe { ordering_command(command_queue, CL_COMMAND_MARKER, num_events_in_wait_list, event_wait_list, event) }
}

/// `clEnqueueBarrierWithWaitList`: enqueues a command that later ones wait for.
#[entry_point(clEnqueueBarrierWithWaitList)]
pub unsafe fn enqueue_barrier_with_wait_list(
    command_queue: cl_command_queue,
    num_events_in_wait_list: cl_uint,
    event_wait_list: *const cl_event,
    event: *mut cl_event,
) -> Result<()> {
    // SAFETY: the same contract.
    unsafe { ordering_command(command_queue, CL_COMMAND_BARRIER, num_events_in_wait_list, event_wait_list, event) }
}

/// `clEnqueueMarker`, of OpenCL 1.0: "CL_INVALID_VALUE if event is NULL."
#[entry_point(clEnqueueMarker)]
pub unsafe fn enqueue_marker(command_queue: cl_command_queue, event: *mut cl_event) -> Result<()> {
    handle::get::<Queue>(command_queue)?;
    ensure!(!event.is_null(), CL_INVALID_VALUE, "event is NULL");
    // SAFETY: an empty list, and the caller vouches for `event`.
    unsafe { ordering_command(command_queue, CL_COMMAND_MARKER, 0, std::ptr::null(), event) }
}

/// `clEnqueueBarrier`, of OpenCL 1.0.
#[entry_point(clEnqueueBarrier)]
pub fn enqueue_barrier(command_queue: cl_command_queue) -> Result<()> {
    // SAFETY: an empty list and no event.
    unsafe { ordering_command(command_queue, CL_COMMAND_BARRIER, 0, std::ptr::null(), std::ptr::null_mut()) }
}

/// `clEnqueueWaitForEvents`, of OpenCL 1.0: a barrier behind the events.
#[entry_point(clEnqueueWaitForEvents)]
pub unsafe fn enqueue_wait_for_events(
    command_queue: cl_command_queue,
    num_events: cl_uint,
    event_list: *const cl_event,
) -> Result<()> {
    // "CL_INVALID_COMMAND_QUEUE if command_queue is not a valid host command-queue."
    let queue = handle::get::<Queue>(command_queue)?;
    // "CL_INVALID_VALUE if num_events is zero or event_list is NULL."
    ensure!(num_events > 0, CL_INVALID_VALUE, "num_events is 0");
    handle::check_list(num_events, Event::NAME, event_list, CL_INVALID_VALUE)?;
    // "CL_INVALID_EVENT if event objects specified in event_list are not valid events."
    // SAFETY: the caller vouches for the array.
    let waits = unsafe { handle::list::<Event>(num_events, event_list, CL_INVALID_VALUE) };
    let waits = waits.map_err(|error| error.with_code(CL_INVALID_EVENT))?;
    // "CL_INVALID_CONTEXT if context associated with command_queue and events in event_list are not the same."
    check_events(&waits, queue.context())?;
    let unseen = Completion { blocking: false, event: std::ptr::null_mut() };
    // SAFETY: no event is written.
    unsafe { enqueue(&queue, CL_COMMAND_BARRIER, waits, Work::Nothing, unseen) }
}
