//! Events (OpenCL API, 5.11 and 5.14).

use std::ffi::c_void;
use std::sync::Arc;

use lockstep_icd_macros::entry_point;
use lockstep_runtime::context::Context;
use lockstep_runtime::event::Event;
use lockstep_runtime::names::{CodeName, CommandName};
use lockstep_runtime::queue::Queue;
use lockstep_runtime::{Result, ensure, error};
use opencl_sys::{
    CL_COMMAND_USER, CL_COMPLETE, CL_EVENT_COMMAND_EXECUTION_STATUS, CL_EVENT_COMMAND_QUEUE, CL_EVENT_COMMAND_TYPE,
    CL_EVENT_CONTEXT, CL_EVENT_REFERENCE_COUNT, CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST, CL_INVALID_EVENT,
    CL_INVALID_VALUE, CL_PROFILING_COMMAND_COMPLETE, CL_PROFILING_COMMAND_END, CL_PROFILING_COMMAND_QUEUED,
    CL_PROFILING_COMMAND_START, CL_PROFILING_COMMAND_SUBMIT, CL_PROFILING_INFO_NOT_AVAILABLE, CL_RUNNING, CL_SUBMITTED,
    cl_context, cl_event, cl_event_info, cl_int, cl_profiling_info, cl_uint,
};

use crate::api::enqueue::check_events;
use crate::info::{self, Info};
use crate::user::UserData;
use crate::{fork, handle};

/// `clCreateUserEvent`: makes an event that the application ends.
#[entry_point(clCreateUserEvent)]
pub fn create_user_event(context: cl_context) -> Result<cl_event> {
    // "CL_INVALID_CONTEXT if context is not a valid context."
    handle::publish(Event::new_user_event(handle::get::<Context>(context)?))
}

/// `clSetUserEventStatus`: ends a user event, well or with an error.
#[entry_point(clSetUserEventStatus)]
pub fn set_user_event_status(event: cl_event, execution_status: cl_int) -> Result<()> {
    // "CL_INVALID_EVENT if event is not a valid user event object."
    let event = handle::get::<Event>(event)?;
    let kind = event.kind();
    ensure!(
        kind == CL_COMMAND_USER,
        CL_INVALID_EVENT,
        "the event is that of a {}, not a user event",
        CommandName(kind)
    );
    // "CL_INVALID_VALUE if the execution_status is not CL_COMPLETE or a negative integer value."
    ensure!(
        execution_status <= CL_COMPLETE,
        CL_INVALID_VALUE,
        "execution_status is {execution_status}; CL_COMPLETE or a negative value is allowed"
    );
    fork::check()?;
    event.set_user_status(execution_status)
}

/// `clWaitForEvents`: waits until all events of a list have ended.
#[entry_point(clWaitForEvents)]
pub unsafe fn wait_for_events(num_events: cl_uint, event_list: *const cl_event) -> Result<()> {
    // "CL_INVALID_VALUE if num_events is zero or event_list is NULL."
    ensure!(num_events > 0, CL_INVALID_VALUE, "num_events is 0");
    // "CL_INVALID_EVENT if event objects specified in event_list are not valid event objects."
    // SAFETY: the caller vouches for the array.
    let events = unsafe { handle::list::<Event>(num_events, event_list, CL_INVALID_VALUE)? };
    // "CL_INVALID_CONTEXT if events specified in event_list do not belong to the same context."
    check_events(&events, events[0].context())?;
    fork::check()?;
    // This thread executes what the first waits for; the others' queues get on meanwhile.
    let first = events[0].queue().map(Arc::as_ptr);
    for event in events.iter().filter(|event| event.queue().map(Arc::as_ptr) != first) {
        event.flush_queue();
    }
    events.iter().for_each(|event| event.wait_until_ended());
    check_success(&events)
}

/// "CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST if the execution status of any of the events in event_list is a negative
/// integer value."
pub fn check_success(events: &[Arc<Event>]) -> Result<()> {
    for (i, event) in events.iter().enumerate() {
        let (kind, status) = (CommandName(event.kind()), event.status());
        ensure!(
            status >= CL_COMPLETE,
            CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST,
            "event {i} of {}, {kind}, ended with {}",
            events.len(),
            CodeName(status)
        );
    }
    Ok(())
}

/// `clGetEventInfo`: answers questions about an event.
#[entry_point(clGetEventInfo)]
pub unsafe fn get_event_info(
    event: cl_event,
    param_name: cl_event_info,
    param_value_size: usize,
    param_value: *mut c_void,
    param_value_size_ret: *mut usize,
) -> Result<()> {
    // "CL_INVALID_EVENT if event is a not a valid event object."
    let event = handle::get::<Event>(event)?;
    // SAFETY: the caller vouches for the pointers.
    let info = unsafe { Info::new(param_value_size, param_value, param_value_size_ret) };
    match param_name {
        CL_EVENT_COMMAND_QUEUE => info.value(event.queue().map_or(std::ptr::null_mut(), handle::of::<Queue>)),
        CL_EVENT_CONTEXT => info.value(handle::of(event.context())),
        CL_EVENT_COMMAND_TYPE => info.value(event.kind()),
        CL_EVENT_COMMAND_EXECUTION_STATUS => {
            let status = event.status();
            // Who asks again and again would wait for ever for a command that nobody has flushed.
            if fork::check().is_ok() {
                event.flush_queue();
            }
            info.value(status)
        }
        CL_EVENT_REFERENCE_COUNT => info.value(handle::references(&event)),
        // "CL_INVALID_VALUE if param_name is not one of the supported values".
        _ => info::unknown(param_name),
    }
}

/// `clSetEventCallback`: registers what is called when an event reaches a status.
#[entry_point(clSetEventCallback)]
pub fn set_event_callback(
    event: cl_event,
    command_exec_callback_type: cl_int,
    pfn_notify: Option<unsafe extern "C" fn(cl_event, cl_int, *mut c_void)>,
    user_data: *mut c_void,
) -> Result<()> {
    // "CL_INVALID_EVENT if event is not a valid event object."
    let object = handle::get::<Event>(event)?;
    // "CL_INVALID_VALUE if pfn_event_notify is NULL or if command_exec_callback_type is not CL_SUBMITTED,
    // CL_RUNNING, or CL_COMPLETE."
    let Some(notify) = pfn_notify else { return Err(error!(CL_INVALID_VALUE, "pfn_notify is NULL")) };
    let known = [CL_SUBMITTED, CL_RUNNING, CL_COMPLETE].contains(&command_exec_callback_type);
    ensure!(
        known,
        CL_INVALID_VALUE,
        "command_exec_callback_type is {command_exec_callback_type}; CL_SUBMITTED, CL_RUNNING or CL_COMPLETE is allowed"
    );
    fork::check()?;
    let (handle, user_data, kept) = (UserData(event), UserData(user_data), object.clone());
    let callback = move |status| {
        // SAFETY: the application registered this function for this call, and its data with it.
        unsafe { notify(handle.get(), status, user_data.get()) };
        // "All callbacks registered for an event object must be called before the event object is destroyed."
        drop(kept);
    };
    object.on_status(command_exec_callback_type, Box::new(callback));
    // Who waits to be called makes no further call: the command must not wait for one.
    object.flush_queue();
    Ok(())
}

/// `clRetainEvent`: "CL_INVALID_EVENT if event is not a valid event object."
#[entry_point(clRetainEvent)]
pub fn retain_event(event: cl_event) -> Result<()> {
    handle::retain::<Event>(event)
}

/// `clReleaseEvent`: "CL_INVALID_EVENT if event is not a valid event object."
#[entry_point(clReleaseEvent)]
pub fn release_event(event: cl_event) -> Result<()> {
    handle::release::<Event>(event)
}

/// `clGetEventProfilingInfo`: tells when a command was queued, submitted, started and ended.
#[entry_point(clGetEventProfilingInfo)]
pub unsafe fn get_event_profiling_info(
    event: cl_event,
    param_name: cl_profiling_info,
    param_value_size: usize,
    param_value: *mut c_void,
    param_value_size_ret: *mut usize,
) -> Result<()> {
    // "CL_INVALID_EVENT if event is a not a valid event object."
    let event = handle::get::<Event>(event)?;
    // "CL_PROFILING_INFO_NOT_AVAILABLE if the CL_QUEUE_PROFILING_ENABLE flag is not set for the command-queue, if
    // the execution status of the command identified by event is not CL_COMPLETE or if event is a user event
    // object."
    let queue = event.queue().ok_or_else(|| error!(CL_PROFILING_INFO_NOT_AVAILABLE, "it is a user event"))?;
    ensure!(
        queue.records_times(),
        CL_PROFILING_INFO_NOT_AVAILABLE,
        "the command's queue was created without CL_QUEUE_PROFILING_ENABLE"
    );
    let status = event.status();
    let times = event.profiling_times().filter(|_| status == CL_COMPLETE);
    let [queued, submitted, started, ended] = times.ok_or_else(|| {
        let status = CodeName(status);
        error!(CL_PROFILING_INFO_NOT_AVAILABLE, "the command's execution status is {status}, not CL_COMPLETE")
    })?;
    // SAFETY: the caller vouches for the pointers.
    let info = unsafe { Info::new(param_value_size, param_value, param_value_size_ret) };
    match param_name {
        CL_PROFILING_COMMAND_QUEUED => info.value(queued),
        CL_PROFILING_COMMAND_SUBMIT => info.value(submitted),
        CL_PROFILING_COMMAND_START => info.value(started),
        // Commands have no children here that would complete later.
        CL_PROFILING_COMMAND_END | CL_PROFILING_COMMAND_COMPLETE => info.value(ended),
        // "CL_INVALID_VALUE if param_name is not one of the supported values".
        _ => info::unknown(param_name),
    }
}
