//! Kernels: creation, arguments, queries, launches.

use std::ffi::c_void;
use std::ptr;

use lockstep_conformance::opencl_sys::*;

use super::table::{NO_EVENT, NONE, Row, at, created};
use super::world::memory;

extern "C" fn native(_: *mut c_void) {}

rows! { |w|
    d.clCreateKernel: new (w.program, c"plain".as_ptr()) {
        CL_INVALID_PROGRAM "no program": (ptr::null_mut(), c"plain".as_ptr());
        CL_INVALID_PROGRAM_EXECUTABLE "a program that is not built": (w.source, c"plain".as_ptr());
        CL_INVALID_PROGRAM_EXECUTABLE "a program that is compiled alone": (w.compiled, c"plain".as_ptr());
        CL_INVALID_KERNEL_NAME "a name that is not there": (w.program, c"none".as_ptr());
        CL_INVALID_VALUE "no name": (w.program, ptr::null());
    }
    d.clCreateKernelsInProgram: code (w.program, 0, ptr::null_mut(), &mut 0) {
        CL_INVALID_PROGRAM "no program": (ptr::null_mut(), 0, ptr::null_mut(), &mut 0);
        CL_INVALID_PROGRAM_EXECUTABLE "a program that is not built": (w.source, 0, ptr::null_mut(), &mut 0);
        CL_INVALID_VALUE "less room than kernels": (w.program, 1, &mut ptr::null_mut(), &mut 0);
    }
    d.clRetainKernel: code (w.kernel) { CL_INVALID_KERNEL "no kernel": (ptr::null_mut()); }
    d.clReleaseKernel: code (w.kernel) { CL_INVALID_KERNEL "no kernel": (ptr::null_mut()); }
    d.clCloneKernel: new (w.kernel) { CL_INVALID_KERNEL "no kernel": (ptr::null_mut()); }
    d.clSetKernelArg: code (w.all, 0, 8, at(&w.buffer)) {
        CL_INVALID_KERNEL "no kernel": (ptr::null_mut(), 0, 8, at(&w.buffer));
        CL_INVALID_ARG_INDEX "an argument that is not there": (w.all, 7, 8, at(&w.buffer));
        CL_INVALID_CONTEXT "a buffer of another context": (w.all, 0, 8, at(&w.other.buffer));
        CL_INVALID_CONTEXT "an image of another context": (w.all, 3, 8, at(&w.other.image));
        CL_INVALID_CONTEXT "a sampler of another context": (w.all, 5, 8, at(&w.other.sampler));
        CL_INVALID_MEM_OBJECT "what is no buffer": (w.all, 0, 8, at(&w.queue));
        CL_INVALID_MEM_OBJECT "an image for a buffer": (w.all, 0, 8, at(&w.image));
        CL_INVALID_MEM_OBJECT "a buffer for an image": (w.all, 3, 8, at(&w.buffer));
        CL_INVALID_MEM_OBJECT "null for an image": (w.all, 3, 8, at(&ptr::null_mut::<c_void>()));
        CL_INVALID_MEM_OBJECT "no image": (w.all, 3, 8, ptr::null());
        CL_INVALID_MEM_OBJECT "a buffer for a pipe": (w.all, 6, 8, at(&w.buffer));
        CL_INVALID_MEM_OBJECT "no pipe": (w.all, 6, 8, ptr::null());
        CL_INVALID_SAMPLER "no sampler": (w.all, 5, 8, ptr::null());
        CL_INVALID_SAMPLER "what is no sampler": (w.all, 5, 8, at(&w.buffer));
        CL_INVALID_ARG_SIZE "a size that no buffer has": (w.all, 0, 4, at(&w.buffer));
        CL_INVALID_ARG_SIZE "a size that no image has": (w.all, 3, 4, at(&w.image));
        CL_INVALID_ARG_SIZE "a size that no sampler has": (w.all, 5, 4, at(&w.sampler));
        CL_INVALID_ARG_SIZE "a size that the value has not": (w.all, 1, 8, at(&0_u64));
        CL_INVALID_ARG_VALUE "no value": (w.all, 1, 4, ptr::null());
        CL_INVALID_ARG_VALUE "a value of local memory": (w.all, 2, 64, memory());
        CL_INVALID_ARG_VALUE "an image that kernels only write": (w.all, 3, 8, at(&w.image_write_only));
        CL_INVALID_ARG_VALUE "an image that kernels only read": (w.all, 4, 8, at(&w.image_read_only));
    }
    d.clGetKernelInfo: info (w.kernel => CL_KERNEL_NUM_ARGS) {
        CL_INVALID_KERNEL "no kernel": (ptr::null_mut() => CL_KERNEL_NUM_ARGS);
    }
    d.clGetKernelWorkGroupInfo: info (w.kernel, w.device => CL_KERNEL_WORK_GROUP_SIZE) {
        CL_INVALID_KERNEL "no kernel": (ptr::null_mut(), w.device => CL_KERNEL_WORK_GROUP_SIZE);
        CL_INVALID_DEVICE "what is no device": (w.kernel, w.queue.cast() => CL_KERNEL_WORK_GROUP_SIZE);
        CL_INVALID_VALUE "the global size of a kernel that is not built in": (w.kernel, w.device => CL_KERNEL_GLOBAL_WORK_SIZE);
    }
    d.clGetKernelSubGroupInfo: code
        (w.kernel, w.device, CL_KERNEL_SUB_GROUP_COUNT_FOR_NDRANGE, 8, at(&1_usize), 8, memory(), ptr::null_mut()) {
        CL_INVALID_KERNEL "no kernel":
            (ptr::null_mut(), w.device, CL_KERNEL_MAX_NUM_SUB_GROUPS, 0, ptr::null(), 8, memory(), ptr::null_mut());
        CL_INVALID_DEVICE "what is no device":
            (w.kernel, w.queue.cast(), CL_KERNEL_MAX_NUM_SUB_GROUPS, 0, ptr::null(), 8, memory(), ptr::null_mut());
        CL_INVALID_VALUE "an unknown name":
            (w.kernel, w.device, 0x7FFF, 0, ptr::null(), 8, memory(), ptr::null_mut());
        CL_INVALID_VALUE "no room for the answer":
            (w.kernel, w.device, CL_KERNEL_MAX_NUM_SUB_GROUPS, 0, ptr::null(), 7, memory(), ptr::null_mut());
        CL_INVALID_VALUE "no local size":
            (w.kernel, w.device, CL_KERNEL_SUB_GROUP_COUNT_FOR_NDRANGE, 8, ptr::null(), 8, memory(), ptr::null_mut());
        CL_INVALID_VALUE "half a local size":
            (w.kernel, w.device, CL_KERNEL_MAX_SUB_GROUP_SIZE_FOR_NDRANGE, 4, memory(), 8, memory(), ptr::null_mut());
        CL_INVALID_VALUE "two counts":
            (w.kernel, w.device, CL_KERNEL_LOCAL_SIZE_FOR_SUB_GROUP_COUNT, 16, memory(), 8, memory(), ptr::null_mut());
    }
    d.clGetKernelArgInfo: info (w.kernel, 0 => CL_KERNEL_ARG_NAME) {
        CL_INVALID_KERNEL "no kernel": (ptr::null_mut(), 0 => CL_KERNEL_ARG_NAME);
        CL_INVALID_ARG_INDEX "an argument that is not there": (w.kernel, 1 => CL_KERNEL_ARG_NAME);
    }
    local_size.clGetKernelSuggestedLocalWorkSizeKHR: code (w.queue, w.kernel, 1, ptr::null(), &4, &mut 0) {
        CL_INVALID_COMMAND_QUEUE "no queue": (ptr::null_mut(), w.kernel, 1, ptr::null(), &4, &mut 0);
        CL_INVALID_KERNEL "no kernel": (w.queue, ptr::null_mut(), 1, ptr::null(), &4, &mut 0);
        CL_INVALID_CONTEXT "a kernel of another context": (w.queue, w.other.kernel, 1, ptr::null(), &4, &mut 0);
        CL_INVALID_KERNEL_ARGS "a kernel without its argument": (w.queue, w.unset, 1, ptr::null(), &4, &mut 0);
        CL_INVALID_WORK_DIMENSION "no dimensions": (w.queue, w.kernel, 0, ptr::null(), &4, &mut 0);
        CL_INVALID_WORK_DIMENSION "four dimensions": (w.queue, w.kernel, 4, ptr::null(), [4; 4].as_ptr(), &mut 0);
        CL_INVALID_GLOBAL_OFFSET "an end that cannot be counted": (w.queue, w.kernel, 1, &(usize::MAX - 2), &4, &mut 0);
        CL_INVALID_GLOBAL_WORK_SIZE "no global size": (w.queue, w.kernel, 1, ptr::null(), ptr::null(), &mut 0);
        CL_INVALID_GLOBAL_WORK_SIZE "a global size of nothing": (w.queue, w.kernel, 1, ptr::null(), &0, &mut 0);
        CL_INVALID_VALUE "no place for the answer": (w.queue, w.kernel, 1, ptr::null(), &4, ptr::null_mut());
    }
    d.clEnqueueNDRangeKernel: command (w.kernel, 1, ptr::null(), &4, &2) {
        CL_INVALID_KERNEL "no kernel": (ptr::null_mut(), 1, ptr::null(), &4, &2);
        CL_INVALID_CONTEXT "a kernel of another context": (w.other.kernel, 1, ptr::null(), &4, &2);
        CL_INVALID_KERNEL_ARGS "a kernel without its argument": (w.unset, 1, ptr::null(), &4, &2);
        CL_INVALID_WORK_DIMENSION "no dimensions": (w.kernel, 0, ptr::null(), &4, &2);
        CL_INVALID_WORK_DIMENSION "four dimensions": (w.kernel, 4, ptr::null(), [4; 4].as_ptr(), [2; 4].as_ptr());
        CL_INVALID_GLOBAL_OFFSET "an end that cannot be counted": (w.kernel, 1, &(usize::MAX - 2), &4, &2);
        CL_INVALID_WORK_GROUP_SIZE "another group than the required": (w.pair, 1, ptr::null(), &4, &4);
        CL_INVALID_WORK_GROUP_SIZE "groups of none": (w.kernel, 1, ptr::null(), &4, &0);
        CL_INVALID_WORK_GROUP_SIZE "more than a group may have":
            (w.kernel, 3, ptr::null(), [1 << 20; 3].as_ptr(), [1 << 10; 3].as_ptr());
        CL_INVALID_WORK_ITEM_SIZE "more than a dimension may have": (w.kernel, 1, ptr::null(), &(1 << 40), &(1 << 40));
    }
    d.clEnqueueTask: command (w.kernel) {
        CL_INVALID_KERNEL "no kernel": (ptr::null_mut());
        CL_INVALID_CONTEXT "a kernel of another context": (w.other.kernel);
        CL_INVALID_KERNEL_ARGS "a kernel without its argument": (w.unset);
        CL_INVALID_WORK_GROUP_SIZE "a kernel that wants groups of two": (w.pair);
    }
    d.clEnqueueNativeKernel: bare (Some(native), ptr::null_mut(), 0, 0, ptr::null(), ptr::null()) {
        CL_INVALID_VALUE "no function": (None, ptr::null_mut(), 0, 0, ptr::null(), ptr::null());
        CL_INVALID_VALUE "a size without arguments": (Some(native), ptr::null_mut(), 8, 0, ptr::null(), ptr::null());
        CL_INVALID_VALUE "buffers without arguments":
            (Some(native), ptr::null_mut(), 0, 1, &w.buffer, &memory().cast_const());
        CL_INVALID_VALUE "arguments without a size": (Some(native), memory(), 0, 0, ptr::null(), ptr::null());
        CL_INVALID_VALUE "no list of buffers": (Some(native), memory(), 8, 1, ptr::null(), &memory().cast_const());
        CL_INVALID_VALUE "no list of places": (Some(native), memory(), 8, 1, &w.buffer, ptr::null());
        CL_INVALID_VALUE "buffers without a count": (Some(native), memory(), 8, 0, &w.buffer, ptr::null());
        CL_INVALID_VALUE "places without a count": (Some(native), memory(), 8, 0, ptr::null(), &memory().cast_const());
        CL_INVALID_MEM_OBJECT "an image": (Some(native), memory(), 8, 1, &w.image, &memory().cast_const());
        CL_INVALID_MEM_OBJECT "what is no buffer":
            (Some(native), memory(), 8, 1, &w.queue.cast(), &memory().cast_const());
    }
}
