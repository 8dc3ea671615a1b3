//! Pipes, samplers and semaphores.

use std::ptr;

use lockstep_conformance::opencl_sys::*;

use super::table::{NO_EVENT, NONE, Row, at, created};

const TYPE: u64 = CL_SEMAPHORE_TYPE_KHR as u64;
const BINARY: u64 = CL_SEMAPHORE_TYPE_BINARY_KHR as u64;
const DEVICES: u64 = CL_SEMAPHORE_DEVICE_HANDLE_LIST_KHR as u64;
const COORDS: cl_sampler_properties = CL_SAMPLER_NORMALIZED_COORDS as cl_sampler_properties;
const MODE: cl_sampler_properties = CL_SAMPLER_ADDRESSING_MODE as cl_sampler_properties;
const FILTER: cl_sampler_properties = CL_SAMPLER_FILTER_MODE as cl_sampler_properties;
const REPEAT: cl_sampler_properties = CL_ADDRESS_REPEAT as cl_sampler_properties;

rows! { |w|
    d.clCreatePipe: new (w.context, 0, 4, 4, ptr::null()) {
        CL_INVALID_CONTEXT "no context": (ptr::null_mut(), 0, 4, 4, ptr::null());
        CL_INVALID_VALUE "memory that kernels only read": (w.context, CL_MEM_READ_ONLY, 4, 4, ptr::null());
        CL_INVALID_VALUE "memory of the host's": (w.context, CL_MEM_USE_HOST_PTR, 4, 4, ptr::null());
        CL_INVALID_VALUE "properties": (w.context, 0, 4, 4, [0].as_ptr());
        CL_INVALID_PIPE_SIZE "packets of no size": (w.context, 0, 0, 4, ptr::null());
        CL_INVALID_PIPE_SIZE "packets that are too large": (w.context, 0, 1 << 31, 4, ptr::null());
        CL_INVALID_PIPE_SIZE "no packets": (w.context, 0, 4, 0, ptr::null());
    }
    d.clGetPipeInfo: info (w.pipe => CL_PIPE_PACKET_SIZE) {
        CL_INVALID_MEM_OBJECT "no pipe": (ptr::null_mut() => CL_PIPE_PACKET_SIZE);
        CL_INVALID_MEM_OBJECT "a buffer": (w.buffer => CL_PIPE_PACKET_SIZE);
    }
    d.clCreateSampler: new (w.context, CL_TRUE, CL_ADDRESS_REPEAT, CL_FILTER_LINEAR) {
        CL_INVALID_CONTEXT "no context": (ptr::null_mut(), CL_TRUE, CL_ADDRESS_REPEAT, CL_FILTER_LINEAR);
        CL_INVALID_VALUE "coordinates of no such kind": (w.context, 7, CL_ADDRESS_CLAMP, CL_FILTER_LINEAR);
        CL_INVALID_VALUE "an unknown addressing mode": (w.context, CL_TRUE, 0x7FFF, CL_FILTER_LINEAR);
        CL_INVALID_VALUE "an unknown filter": (w.context, CL_TRUE, CL_ADDRESS_REPEAT, 0x7FFF);
        CL_INVALID_VALUE "repetition without normalized coordinates":
            (w.context, CL_FALSE, CL_ADDRESS_REPEAT, CL_FILTER_LINEAR);
        CL_INVALID_VALUE "mirrors without normalized coordinates":
            (w.context, CL_FALSE, CL_ADDRESS_MIRRORED_REPEAT, CL_FILTER_LINEAR);
    }
    d.clCreateSamplerWithProperties: new (w.context, ptr::null()) {
        CL_INVALID_CONTEXT "no context": (ptr::null_mut(), ptr::null());
        CL_INVALID_VALUE "an unknown property": (w.context, [0x7FFF, 1, 0].as_ptr());
        CL_INVALID_VALUE "coordinates of no such kind": (w.context, [COORDS, 7, 0].as_ptr());
        CL_INVALID_VALUE "an unknown addressing mode": (w.context, [MODE, 0x7FFF, 0].as_ptr());
        CL_INVALID_VALUE "an unknown filter": (w.context, [FILTER, 0x7FFF, 0].as_ptr());
        CL_INVALID_VALUE "a property given twice": (w.context, [COORDS, 0, COORDS, 0, 0].as_ptr());
        CL_INVALID_VALUE "repetition without normalized coordinates":
            (w.context, [COORDS, 0, MODE, REPEAT, 0].as_ptr());
    }
    d.clRetainSampler: code (w.sampler) { CL_INVALID_SAMPLER "no sampler": (ptr::null_mut()); }
    d.clReleaseSampler: code (w.sampler) { CL_INVALID_SAMPLER "no sampler": (ptr::null_mut()); }
    d.clGetSamplerInfo: info (w.sampler => CL_SAMPLER_CONTEXT) {
        CL_INVALID_SAMPLER "no sampler": (ptr::null_mut() => CL_SAMPLER_CONTEXT);
    }
    semaphores.clCreateSemaphoreWithPropertiesKHR: new (w.context, [TYPE, BINARY, 0].as_ptr()) {
        CL_INVALID_CONTEXT "no context": (ptr::null_mut(), [TYPE, BINARY, 0].as_ptr());
        CL_INVALID_PROPERTY "an unknown property": (w.context, [TYPE, BINARY, 0x7FFF, 1, 0].as_ptr());
        CL_INVALID_PROPERTY "an unknown type": (w.context, [TYPE, 7, 0].as_ptr());
        CL_INVALID_PROPERTY "a property given twice": (w.context, [TYPE, BINARY, TYPE, BINARY, 0].as_ptr());
        CL_INVALID_DEVICE "a device that is none": (w.context, [TYPE, BINARY, DEVICES, 1, 0, 0].as_ptr());
        CL_INVALID_DEVICE "no device in the list": (w.context, [TYPE, BINARY, DEVICES, 0, 0].as_ptr());
        CL_INVALID_DEVICE "two devices":
            (w.context, [TYPE, BINARY, DEVICES, w.device as u64, w.device as u64, 0, 0].as_ptr());
        CL_INVALID_DEVICE "a device of no such context":
            (w.context, [TYPE, BINARY, DEVICES, w.stranger as u64, 0, 0].as_ptr());
        CL_INVALID_VALUE "no properties": (w.context, ptr::null());
        CL_INVALID_VALUE "no type": (w.context, [DEVICES, w.device as u64, 0, 0].as_ptr());
    }
    semaphores.clEnqueueSignalSemaphoresKHR: blocking (1, &w.semaphore, ptr::null()) {
        CL_INVALID_VALUE "an empty list": (0, ptr::null(), ptr::null());
        CL_INVALID_SEMAPHORE_KHR "a semaphore that is none": (2, [w.semaphore, ptr::null_mut()].as_ptr(), ptr::null());
        CL_INVALID_CONTEXT "a semaphore of another context": (1, &w.other.semaphore, ptr::null());
    }
    semaphores.clEnqueueWaitSemaphoresKHR: blocking (1, &w.semaphore, ptr::null()) {
        CL_INVALID_VALUE "an empty list": (0, ptr::null(), ptr::null());
        CL_INVALID_SEMAPHORE_KHR "a semaphore that is none": (2, [w.semaphore, ptr::null_mut()].as_ptr(), ptr::null());
        CL_INVALID_CONTEXT "a semaphore of another context": (1, &w.other.semaphore, ptr::null());
    }
    semaphores.clGetSemaphoreInfoKHR: info (w.semaphore => CL_SEMAPHORE_CONTEXT_KHR) {
        CL_INVALID_SEMAPHORE_KHR "no semaphore": (ptr::null_mut() => CL_SEMAPHORE_CONTEXT_KHR);
    }
    semaphores.clGetSemaphoreHandleForTypeKHR: never () {
        CL_INVALID_SEMAPHORE_KHR "no semaphore": (ptr::null_mut(), w.device, 0x2055, 0, ptr::null_mut(), &mut 0);
        CL_INVALID_DEVICE "no device": (w.semaphore, ptr::null_mut(), 0x2055, 0, ptr::null_mut(), &mut 0);
        CL_INVALID_DEVICE "a device of no such context": (w.semaphore, w.stranger, 0x2055, 0, ptr::null_mut(), &mut 0);
        CL_INVALID_VALUE "a type that was not asked for": (w.semaphore, w.device, 0x2055, 0, ptr::null_mut(), &mut 0);
    }
    semaphores.clRetainSemaphoreKHR: code (w.semaphore) { CL_INVALID_SEMAPHORE_KHR "no semaphore": (ptr::null_mut()); }
    semaphores.clReleaseSemaphoreKHR: code (w.semaphore) { CL_INVALID_SEMAPHORE_KHR "no semaphore": (ptr::null_mut()); }
}
