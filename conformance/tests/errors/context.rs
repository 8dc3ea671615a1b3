//! Contexts and command queues.

use std::ffi::{c_char, c_void};
use std::ptr;

use lockstep_conformance::opencl_sys::*;

use super::table::{Row, at, created};
use super::world::memory;

extern "C" fn told(_: *const c_char, _: *const c_void, _: usize, _: *mut c_void) {}
extern "C" fn gone(_: cl_context, _: *mut c_void) {}

const PLATFORM: cl_context_properties = CL_CONTEXT_PLATFORM;
const BITS: cl_queue_properties = CL_QUEUE_PROPERTIES as cl_queue_properties;

rows! { |w|
    d.clCreateContext: new (ptr::null(), 1, &w.device, Some(told), memory()) {
        CL_INVALID_PLATFORM "no platform in the list":
            ([PLATFORM, 0, 0].as_ptr(), 1, &w.device, None, ptr::null_mut());
        CL_INVALID_PROPERTY "an unknown property": ([0x7FFF, 1, 0].as_ptr(), 1, &w.device, None, ptr::null_mut());
        CL_INVALID_PROPERTY "a property of no such value":
            ([CL_CONTEXT_INTEROP_USER_SYNC, 7, 0].as_ptr(), 1, &w.device, None, ptr::null_mut());
        CL_INVALID_PROPERTY "a property given twice":
            ([PLATFORM, w.platform as isize, PLATFORM, w.platform as isize, 0].as_ptr(), 1, &w.device, None, ptr::null_mut());
        CL_INVALID_VALUE "no list of devices": (ptr::null(), 1, ptr::null(), None, ptr::null_mut());
        CL_INVALID_VALUE "an empty list of devices": (ptr::null(), 0, &w.device, None, ptr::null_mut());
        CL_INVALID_VALUE "data for no function": (ptr::null(), 1, &w.device, None, memory());
        CL_INVALID_DEVICE "a device that is none": (ptr::null(), 2, [w.device, ptr::null_mut()].as_ptr(), None, ptr::null_mut());
    }
    d.clCreateContextFromType: new (ptr::null(), CL_DEVICE_TYPE_ALL, Some(told), memory()) {
        CL_INVALID_PLATFORM "no platform in the list":
            ([PLATFORM, 0, 0].as_ptr(), CL_DEVICE_TYPE_ALL, None, ptr::null_mut());
        CL_INVALID_PROPERTY "an unknown property":
            ([0x7FFF, 1, 0].as_ptr(), CL_DEVICE_TYPE_ALL, None, ptr::null_mut());
        CL_INVALID_PROPERTY "a property given twice":
            ([PLATFORM, w.platform as isize, PLATFORM, w.platform as isize, 0].as_ptr(), CL_DEVICE_TYPE_ALL, None, ptr::null_mut());
        CL_INVALID_VALUE "data for no function": (ptr::null(), CL_DEVICE_TYPE_ALL, None, memory());
        CL_INVALID_DEVICE_TYPE "an unknown type": (ptr::null(), 1 << 20, None, ptr::null_mut());
        CL_INVALID_DEVICE_TYPE "no type": (ptr::null(), 0, None, ptr::null_mut());
        CL_DEVICE_NOT_FOUND "a type that is not there": (ptr::null(), CL_DEVICE_TYPE_GPU, None, ptr::null_mut());
    }
    d.clRetainContext: code (w.context) { CL_INVALID_CONTEXT "no context": (ptr::null_mut()); }
    d.clReleaseContext: code (w.context) { CL_INVALID_CONTEXT "no context": (ptr::null_mut()); }
    d.clGetContextInfo: info (w.context => CL_CONTEXT_DEVICES) {
        CL_INVALID_CONTEXT "no context": (ptr::null_mut() => CL_CONTEXT_DEVICES);
    }
    d.clSetContextDestructorCallback: code (w.context, Some(gone), ptr::null_mut()) {
        CL_INVALID_CONTEXT "no context": (ptr::null_mut(), Some(gone), ptr::null_mut());
        CL_INVALID_VALUE "no function": (w.context, None, ptr::null_mut());
    }
    d.clCreateCommandQueueWithProperties: new (w.context, w.device, ptr::null()) {
        CL_INVALID_CONTEXT "no context": (ptr::null_mut(), w.device, ptr::null());
        CL_INVALID_DEVICE "no device": (w.context, ptr::null_mut(), ptr::null());
        CL_INVALID_DEVICE "a device of no such context": (w.context, w.stranger, ptr::null());
        CL_INVALID_VALUE "an unknown property": (w.context, w.device, [0x7FFF, 1, 0].as_ptr());
        CL_INVALID_VALUE "unknown bits": (w.context, w.device, [BITS, 1 << 20, 0].as_ptr());
        CL_INVALID_VALUE "a property given twice": (w.context, w.device, [BITS, 0, BITS, 0, 0].as_ptr());
        CL_INVALID_VALUE "an unknown priority":
            (w.context, w.device, [CL_QUEUE_PRIORITY_KHR, 1 << 20, 0].as_ptr());
        CL_INVALID_VALUE "an unknown throttle":
            (w.context, w.device, [CL_QUEUE_THROTTLE_KHR, 1 << 20, 0].as_ptr());
        CL_INVALID_VALUE "a device queue that is in order": (w.context, w.device, [BITS, CL_QUEUE_ON_DEVICE, 0].as_ptr());
        CL_INVALID_QUEUE_PROPERTIES "a device queue":
            (w.context, w.device, [BITS, CL_QUEUE_ON_DEVICE | CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE, 0].as_ptr());
    }
    queues.clCreateCommandQueueWithPropertiesKHR: new (w.context, w.device, ptr::null()) {
        CL_INVALID_CONTEXT "no context": (ptr::null_mut(), w.device, ptr::null());
        CL_INVALID_DEVICE "no device": (w.context, ptr::null_mut(), ptr::null());
        CL_INVALID_DEVICE "a device of no such context": (w.context, w.stranger, ptr::null());
        CL_INVALID_VALUE "an unknown property": (w.context, w.device, [0x7FFF, 1, 0].as_ptr());
        CL_INVALID_QUEUE_PROPERTIES "a device queue":
            (w.context, w.device, [BITS, CL_QUEUE_ON_DEVICE | CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE, 0].as_ptr());
    }
    d.clCreateCommandQueue: new (w.context, w.device, 0) {
        CL_INVALID_CONTEXT "no context": (ptr::null_mut(), w.device, 0);
        CL_INVALID_DEVICE "no device": (w.context, ptr::null_mut(), 0);
        CL_INVALID_DEVICE "a device of no such context": (w.context, w.stranger, 0);
        CL_INVALID_VALUE "unknown bits": (w.context, w.device, 1 << 20);
    }
    d.clSetDefaultDeviceCommandQueue: never () {
        CL_INVALID_CONTEXT "no context": (ptr::null_mut(), w.device, w.queue);
        CL_INVALID_DEVICE "no device": (w.context, ptr::null_mut(), w.queue);
        CL_INVALID_DEVICE "a device of no such context": (w.context, w.stranger, w.queue);
        CL_INVALID_OPERATION "a device without such queues": (w.context, w.device, w.queue);
    }
    d.clRetainCommandQueue: code (w.queue) { CL_INVALID_COMMAND_QUEUE "no queue": (ptr::null_mut()); }
    d.clReleaseCommandQueue: code (w.queue) { CL_INVALID_COMMAND_QUEUE "no queue": (ptr::null_mut()); }
    d.clGetCommandQueueInfo: info (w.queue => CL_QUEUE_CONTEXT) {
        CL_INVALID_COMMAND_QUEUE "no queue": (ptr::null_mut() => CL_QUEUE_CONTEXT);
        CL_INVALID_COMMAND_QUEUE "the size of a host queue": (w.queue => CL_QUEUE_SIZE);
    }
    d.clSetCommandQueueProperty: code (w.timeless, CL_QUEUE_PROFILING_ENABLE, CL_FALSE, ptr::null_mut()) {
        CL_INVALID_COMMAND_QUEUE "no queue": (ptr::null_mut(), CL_QUEUE_PROFILING_ENABLE, CL_FALSE, ptr::null_mut());
        CL_INVALID_VALUE "unknown bits": (w.timeless, 1 << 20, CL_TRUE, ptr::null_mut());
    }
    d.clFlush: code (w.queue) { CL_INVALID_COMMAND_QUEUE "no queue": (ptr::null_mut()); }
    d.clFinish: code (w.queue) { CL_INVALID_COMMAND_QUEUE "no queue": (ptr::null_mut()); }
}
