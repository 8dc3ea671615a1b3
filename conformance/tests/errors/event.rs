//! Events, markers and barriers.

use std::ffi::c_void;
use std::ptr;

use lockstep_conformance::opencl_sys::*;

use super::table::{NO_EVENT, NONE, Row, at, created};

extern "C" fn notify(_: cl_event, _: cl_int, _: *mut c_void) {}

rows! { |w|
    d.clCreateUserEvent: new (w.context) { CL_INVALID_CONTEXT "no context": (ptr::null_mut()); }
    d.clSetUserEventStatus: code (w.pending[0], CL_COMPLETE) {
        CL_INVALID_EVENT "no event": (ptr::null_mut(), CL_COMPLETE);
        CL_INVALID_EVENT "a command's event": (w.command, CL_COMPLETE);
        CL_INVALID_VALUE "a status that says it runs": (w.pending[1], CL_RUNNING);
        CL_INVALID_VALUE "an unknown status": (w.pending[1], 7);
        CL_INVALID_OPERATION "an event that has ended": (w.event, CL_COMPLETE);
        CL_INVALID_OPERATION "an event that has failed": (w.failed, -6);
    }
    d.clWaitForEvents: code (2, [w.event, w.command].as_ptr()) {
        CL_INVALID_VALUE "an empty list": (0, &w.event);
        CL_INVALID_VALUE "no list": (1, ptr::null());
        CL_INVALID_EVENT "an event that is none": (2, [w.event, ptr::null_mut()].as_ptr());
        CL_INVALID_CONTEXT "events of two contexts": (2, [w.event, w.other.event].as_ptr());
        CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST "a failed event": (2, [w.event, w.failed].as_ptr());
    }
    d.clGetEventInfo: info (w.event => CL_EVENT_CONTEXT) {
        CL_INVALID_EVENT "no event": (ptr::null_mut() => CL_EVENT_CONTEXT);
    }
    d.clSetEventCallback: code (w.pending[1], CL_COMPLETE, Some(notify), ptr::null_mut()) {
        CL_INVALID_EVENT "no event": (ptr::null_mut(), CL_COMPLETE, Some(notify), ptr::null_mut());
        CL_INVALID_VALUE "no function": (w.pending[1], CL_COMPLETE, None, ptr::null_mut());
        CL_INVALID_VALUE "the status that it begins with": (w.pending[1], CL_QUEUED, Some(notify), ptr::null_mut());
        CL_INVALID_VALUE "an error for a status": (w.pending[1], -1, Some(notify), ptr::null_mut());
    }
    d.clRetainEvent: code (w.event) { CL_INVALID_EVENT "no event": (ptr::null_mut()); }
    d.clReleaseEvent: code (w.event) { CL_INVALID_EVENT "no event": (ptr::null_mut()); }
    d.clGetEventProfilingInfo: info (w.command => CL_PROFILING_COMMAND_END) {
        CL_INVALID_EVENT "no event": (ptr::null_mut() => CL_PROFILING_COMMAND_END);
        CL_PROFILING_INFO_NOT_AVAILABLE "a queue that does not profile": (w.untimed => CL_PROFILING_COMMAND_END);
        CL_PROFILING_INFO_NOT_AVAILABLE "a user event": (w.event => CL_PROFILING_COMMAND_END);
    }
    d.clEnqueueMarkerWithWaitList: bare () {}
    d.clEnqueueBarrierWithWaitList: bare () {}
    d.clEnqueueMarker: code (w.queue, &mut ptr::null_mut()) {
        CL_INVALID_COMMAND_QUEUE "no queue": (ptr::null_mut(), &mut ptr::null_mut());
        CL_INVALID_VALUE "no place for the event": (w.queue, ptr::null_mut());
    }
    d.clEnqueueWaitForEvents: code (w.queue, 1, &w.event) {
        CL_INVALID_COMMAND_QUEUE "no queue": (ptr::null_mut(), 1, &w.event);
        CL_INVALID_VALUE "an empty list": (w.queue, 0, &w.event);
        CL_INVALID_VALUE "no list": (w.queue, 1, ptr::null());
        CL_INVALID_EVENT "an event that is none": (w.queue, 2, [w.event, ptr::null_mut()].as_ptr());
        CL_INVALID_CONTEXT "an event of another context": (w.queue, 1, &w.other.event);
    }
    d.clEnqueueBarrier: code (w.queue) { CL_INVALID_COMMAND_QUEUE "no queue": (ptr::null_mut()); }
}
