//! Unified shared memory (`cl_intel_unified_shared_memory`) and addresses of buffers (`cl_ext_buffer_device_address`).

use std::ffi::c_void;
use std::ptr;

use lockstep_conformance::opencl_sys::*;

use super::table::{NO_EVENT, NONE, Row, at, created};
use super::world::{World, memory};

const FLAGS: cl_mem_properties_intel = CL_MEM_ALLOC_FLAGS_INTEL;
const ON_HOST: cl_mem_properties_intel = CL_MEM_ALLOC_INITIAL_PLACEMENT_HOST_INTEL;
const ON_DEVICE: cl_mem_properties_intel = CL_MEM_ALLOC_INITIAL_PLACEMENT_DEVICE_INTEL;

/// An address in the world's memory.
fn part(w: &World, offset: usize) -> *mut c_void {
    w.usm_memory.wrapping_byte_add(offset)
}

rows! { |w|
    usm.clHostMemAllocINTEL: new (w.context, ptr::null(), 64, 16) {
        CL_INVALID_CONTEXT "no context": (ptr::null_mut(), ptr::null(), 64, 0);
        CL_INVALID_VALUE "an odd alignment": (w.context, ptr::null(), 64, 3);
        CL_INVALID_VALUE "too large an alignment": (w.context, ptr::null(), 64, 1 << 20);
        CL_INVALID_PROPERTY "an unknown property": (w.context, [0x7FFF, 1, 0].as_ptr(), 64, 0);
        CL_INVALID_PROPERTY "unknown flags": (w.context, [FLAGS, 1 << 40, 0].as_ptr(), 64, 0);
        CL_INVALID_PROPERTY "a property given twice": (w.context, [FLAGS, 0, FLAGS, 0, 0].as_ptr(), 64, 0);
        CL_INVALID_PROPERTY "a placement": (w.context, [FLAGS, ON_DEVICE, 0].as_ptr(), 64, 0);
        CL_INVALID_BUFFER_SIZE "no size": (w.context, ptr::null(), 0, 0);
        CL_INVALID_BUFFER_SIZE "too large a size": (w.context, ptr::null(), usize::MAX, 0);
    }
    usm.clDeviceMemAllocINTEL: new (w.context, w.device, ptr::null(), 64, 16) {
        CL_INVALID_CONTEXT "no context": (ptr::null_mut(), w.device, ptr::null(), 64, 0);
        CL_INVALID_DEVICE "no device": (w.context, ptr::null_mut(), ptr::null(), 64, 0);
        CL_INVALID_DEVICE "a device of no such context": (w.context, w.stranger, ptr::null(), 64, 0);
        CL_INVALID_VALUE "an odd alignment": (w.context, w.device, ptr::null(), 64, 3);
        CL_INVALID_VALUE "too large an alignment": (w.context, w.device, ptr::null(), 64, 1 << 20);
        CL_INVALID_PROPERTY "an unknown property": (w.context, w.device, [0x7FFF, 1, 0].as_ptr(), 64, 0);
        CL_INVALID_PROPERTY "a placement": (w.context, w.device, [FLAGS, ON_HOST, 0].as_ptr(), 64, 0);
        CL_INVALID_BUFFER_SIZE "no size": (w.context, w.device, ptr::null(), 0, 0);
        CL_INVALID_BUFFER_SIZE "too large a size": (w.context, w.device, ptr::null(), usize::MAX, 0);
    }
    usm.clSharedMemAllocINTEL: new (w.context, ptr::null_mut(), [FLAGS, ON_HOST, 0].as_ptr(), 64, 16) {
        CL_INVALID_CONTEXT "no context": (ptr::null_mut(), w.device, ptr::null(), 64, 0);
        CL_INVALID_DEVICE "a device that is none": (w.context, w.queue.cast(), ptr::null(), 64, 0);
        CL_INVALID_VALUE "an odd alignment": (w.context, w.device, ptr::null(), 64, 3);
        CL_INVALID_VALUE "too large an alignment": (w.context, w.device, ptr::null(), 64, 1 << 20);
        CL_INVALID_PROPERTY "an unknown property": (w.context, w.device, [0x7FFF, 1, 0].as_ptr(), 64, 0);
        CL_INVALID_PROPERTY "two placements": (w.context, w.device, [FLAGS, ON_HOST | ON_DEVICE, 0].as_ptr(), 64, 0);
        CL_INVALID_BUFFER_SIZE "no size": (w.context, w.device, ptr::null(), 0, 0);
        CL_INVALID_BUFFER_SIZE "too large a size": (w.context, w.device, ptr::null(), usize::MAX, 0);
    }
    usm.clMemFreeINTEL: code (w.context, ptr::null_mut()) {
        CL_INVALID_CONTEXT "no context": (ptr::null_mut(), w.usm_memory);
        CL_INVALID_VALUE "memory that was not allocated": (w.context, memory());
        CL_INVALID_VALUE "the middle of an allocation": (w.context, part(w, 16));
        CL_INVALID_VALUE "shared virtual memory": (w.context, w.shared);
    }
    usm.clMemBlockingFreeINTEL: code (w.context, ptr::null_mut()) {
        CL_INVALID_CONTEXT "no context": (ptr::null_mut(), w.usm_memory);
        CL_INVALID_VALUE "memory that was not allocated": (w.context, memory());
        CL_INVALID_VALUE "memory of another context": (w.other.context, w.usm_memory);
    }
    usm.clGetMemAllocInfoINTEL: info (w.context, w.usm_memory => CL_MEM_ALLOC_SIZE_INTEL) {
        CL_INVALID_CONTEXT "no context": (ptr::null_mut(), w.usm_memory => CL_MEM_ALLOC_SIZE_INTEL);
    }
    usm.clSetKernelArgMemPointerINTEL: code (w.kernel, 0, w.usm_memory) {
        CL_INVALID_KERNEL "no kernel": (ptr::null_mut(), 0, w.usm_memory);
        CL_INVALID_ARG_INDEX "an argument that is not there": (w.kernel, 1, w.usm_memory);
        CL_INVALID_ARG_VALUE "a number for an argument": (w.all, 1, w.usm_memory);
    }
    usm.clEnqueueMemFillINTEL: bare (w.usm_memory, memory(), 4, 64) {
        CL_INVALID_VALUE "no target": (ptr::null_mut(), memory(), 4, 64);
        CL_INVALID_VALUE "a target within a pattern": (part(w, 2), memory(), 4, 64);
        CL_INVALID_VALUE "no pattern": (w.usm_memory, ptr::null(), 4, 64);
        CL_INVALID_VALUE "a pattern of an odd size": (w.usm_memory, memory(), 3, 63);
        CL_INVALID_VALUE "a pattern that is too large": (w.usm_memory, memory(), 256, 256);
        CL_INVALID_VALUE "an end within a pattern": (w.usm_memory, memory(), 4, 62);
    }
    usm.clEnqueueMemsetINTEL: bare (w.usm_memory, 7, 64) {
        CL_INVALID_VALUE "no target": (ptr::null_mut(), 7, 64);
    }
    usm.clEnqueueMemcpyINTEL: bare_blocking (CL_TRUE, w.usm_memory, part(w, 128), 64) {
        CL_INVALID_VALUE "no target": (CL_TRUE, ptr::null_mut(), w.usm_memory, 64);
        CL_INVALID_VALUE "no source": (CL_TRUE, w.usm_memory, ptr::null(), 64);
        CL_MEM_COPY_OVERLAP "a range on itself": (CL_TRUE, w.usm_memory, part(w, 32), 64);
    }
    usm.clEnqueueMigrateMemINTEL: bare (w.usm_memory, 64, 0) {
        CL_INVALID_VALUE "unknown flags": (w.usm_memory, 64, 1 << 20);
    }
    usm.clEnqueueMemAdviseINTEL: bare (w.usm_memory, 64, 0) {}
    address.clSetKernelArgDevicePointerEXT: code (w.kernel, 0, w.usm_memory as cl_mem_device_address_ext) {
        CL_INVALID_KERNEL "no kernel": (ptr::null_mut(), 0, 0);
        CL_INVALID_ARG_INDEX "an argument that is not there": (w.kernel, 1, 0);
        CL_INVALID_ARG_INDEX "a number for an argument": (w.all, 1, 0);
        CL_INVALID_ARG_INDEX "a local argument": (w.all, 2, 0);
    }
}
