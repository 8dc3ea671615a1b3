//! Events (OpenCL API, 5.11 and 5.14).

use std::ffi::c_void;
use std::sync::Arc;

use lockstep_icd_macros::entry_point;
use lockstep_runtime::context::Context;
use lockstep_runtime::event::Event;
use lockstep_runtime::queue::Queue;
use lockstep_runtime::{Error, Result, ensure};
use opencl_sys::{
    CL_COMMAND_USER, CL_COMPLETE, CL_EVENT_COMMAND_EXECUTION_STATUS, CL_EVENT_COMMAND_QUEUE, CL_EVENT_COMMAND_TYPE,
    CL_EVENT_CONTEXT, CL_EVENT_REFERENCE_COUNT, CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST, CL_INVALID_CONTEXT,
    CL_INVALID_EVENT, CL_INVALID_VALUE, CL_PROFILING_COMMAND_COMPLETE, CL_PROFILING_COMMAND_END,
    CL_PROFILING_COMMAND_QUEUED, CL_PROFILING_COMMAND_START, CL_PROFILING_COMMAND_SUBMIT,
    CL_PROFILING_INFO_NOT_AVAILABLE, CL_RUNNING, CL_SUBMITTED, cl_context, cl_event, cl_event_info, cl_int,
    cl_profiling_info, cl_uint,
};

use crate::info::Info;
use crate::user::UserData;
use crate::{fork, handle};

/// `clCreateUserEvent`.
#[entry_point]
pub fn create_user_event(context: cl_context) -> Result<cl_event> {
    // "CL_INVALID_CONTEXT if context is not a valid context."
    handle::publish(Event::user(handle::get::<Context>(context)?))
}

/// `clSetUserEventStatus`.
#[entry_point]
pub fn set_user_event_status(event: cl_event, execution_status: cl_int) -> Result<()> {
    // "CL_INVALID_EVENT if event is not a valid user event object."
    let event = handle::get::<Event>(event)?;
    ensure!(event.kind() == CL_COMMAND_USER, CL_INVALID_EVENT);
    // "CL_INVALID_VALUE if the execution_status is not CL_COMPLETE or a negative integer value."
    ensure!(execution_status <= CL_COMPLETE, CL_INVALID_VALUE);
    fork::check()?;
    event.set_user_status(execution_status)
}

/// `clWaitForEvents`.
#[entry_point]
pub unsafe fn wait_for_events(num_events: cl_uint, event_list: *const cl_event) -> Result<()> {
    // "CL_INVALID_VALUE if num_events is zero or event_list is NULL."
    ensure!(num_events > 0 && !event_list.is_null(), CL_INVALID_VALUE);
    // "CL_INVALID_EVENT if event objects specified in event_list are not valid event objects."
    // SAFETY: the caller vouches for the array.
    let events = unsafe { handle::list::<Event>(num_events, event_list, CL_INVALID_VALUE)? };
    // "CL_INVALID_CONTEXT if events specified in event_list do not belong to the same context."
    let same = |event: &Arc<Event>| Arc::ptr_eq(event.context(), events[0].context());
    ensure!(events.iter().all(same), CL_INVALID_CONTEXT);
    fork::check()?;
    // This thread executes what the first waits for; the others' queues get on meanwhile.
    let first = events[0].queue().map(Arc::as_ptr);
    for event in events.iter().filter(|event| event.queue().map(Arc::as_ptr) != first) {
        event.flush();
    }
    events.iter().for_each(|event| event.wait());
    // "CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST if the execution status of any of the events in event_list is a
    // negative integer value."
    let failed = events.iter().any(|event| event.status() < CL_COMPLETE);
    ensure!(!failed, CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST);
    Ok(())
}

/// `clGetEventInfo`.
#[entry_point]
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
                event.flush();
            }
            info.value(status)
        }
        CL_EVENT_REFERENCE_COUNT => info.value(handle::references(&event)),
        // "CL_INVALID_VALUE if param_name is not one of the supported values".
        _ => Err(Error::new(CL_INVALID_VALUE)),
    }
}

/// `clSetEventCallback`.
#[entry_point]
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
    let Some(notify) = pfn_notify else { return Err(Error::new(CL_INVALID_VALUE)) };
    let known = [CL_SUBMITTED, CL_RUNNING, CL_COMPLETE].contains(&command_exec_callback_type);
    ensure!(known, CL_INVALID_VALUE);
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
    object.flush();
    Ok(())
}

/// `clRetainEvent`: "CL_INVALID_EVENT if event is not a valid event object."
#[entry_point]
pub fn retain_event(event: cl_event) -> Result<()> {
    handle::retain::<Event>(event)
}

/// `clReleaseEvent`: "CL_INVALID_EVENT if event is not a valid event object."
#[entry_point]
pub fn release_event(event: cl_event) -> Result<()> {
    handle::release::<Event>(event)
}

/// `clGetEventProfilingInfo`.
#[entry_point]
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
    let profiled = event.queue().is_some_and(|queue| queue.profiles()) && event.status() == CL_COMPLETE;
    ensure!(profiled, CL_PROFILING_INFO_NOT_AVAILABLE);
    let [queued, submitted, started, ended] = event.times().ok_or(Error::new(CL_PROFILING_INFO_NOT_AVAILABLE))?;
    // SAFETY: the caller vouches for the pointers.
    let info = unsafe { Info::new(param_value_size, param_value, param_value_size_ret) };
    match param_name {
        CL_PROFILING_COMMAND_QUEUED => info.value(queued),
        CL_PROFILING_COMMAND_SUBMIT => info.value(submitted),
        CL_PROFILING_COMMAND_START => info.value(started),
        // Commands have no children here that would complete later.
        CL_PROFILING_COMMAND_END | CL_PROFILING_COMMAND_COMPLETE => info.value(ended),
        // "CL_INVALID_VALUE if param_name is not one of the supported values".
        _ => Err(Error::new(CL_INVALID_VALUE)),
    }
}
