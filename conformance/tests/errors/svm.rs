//! Shared virtual memory.

use std::ffi::c_void;
use std::ptr;

use lockstep_conformance::opencl_sys::*;

use super::table::{NO_EVENT, NONE, Row, at};
use super::world::{World, memory};

/// An address in the world's shared memory.
fn shared(w: &World, offset: usize) -> *mut c_void {
    w.shared.wrapping_byte_add(offset)
}

rows! { |w|
    d.clEnqueueSVMFree: bare (0, ptr::null_mut(), None, ptr::null_mut()) {
        CL_INVALID_VALUE "a list without a count": (0, &mut w.shared.clone(), None, ptr::null_mut());
        CL_INVALID_VALUE "a count without a list": (1, ptr::null_mut(), None, ptr::null_mut());
    }
    d.clEnqueueSVMMemcpy: bare_blocking (CL_TRUE, w.shared, shared(w, 128), 64) {
        CL_INVALID_VALUE "no target": (CL_TRUE, ptr::null_mut(), w.shared, 64);
        CL_INVALID_VALUE "no source": (CL_TRUE, w.shared, ptr::null(), 64);
        CL_MEM_COPY_OVERLAP "a range on itself": (CL_TRUE, w.shared, shared(w, 32), 64);
    }
    d.clEnqueueSVMMemFill: bare (w.shared, memory(), 4, 64) {
        CL_INVALID_VALUE "no target": (ptr::null_mut(), memory(), 4, 64);
        CL_INVALID_VALUE "a target within a pattern": (shared(w, 2), memory(), 4, 64);
        CL_INVALID_VALUE "no pattern": (w.shared, ptr::null(), 4, 64);
        CL_INVALID_VALUE "a pattern of no size": (w.shared, memory(), 0, 64);
        CL_INVALID_VALUE "a pattern of an odd size": (w.shared, memory(), 3, 63);
        CL_INVALID_VALUE "a pattern that is too large": (w.shared, memory(), 256, 256);
        CL_INVALID_VALUE "an end within a pattern": (w.shared, memory(), 4, 62);
    }
    d.clEnqueueSVMMap: bare_blocking (CL_TRUE, CL_MAP_READ, w.shared, 64) {
        CL_INVALID_VALUE "no address": (CL_TRUE, CL_MAP_READ, ptr::null_mut(), 64);
        CL_INVALID_VALUE "no size": (CL_TRUE, CL_MAP_READ, w.shared, 0);
        CL_INVALID_VALUE "unknown flags": (CL_TRUE, 1 << 20, w.shared, 64);
        CL_INVALID_VALUE "flags that exclude each other":
            (CL_TRUE, CL_MAP_WRITE | CL_MAP_WRITE_INVALIDATE_REGION, w.shared, 64);
    }
    d.clEnqueueSVMUnmap: bare (w.shared) {
        CL_INVALID_VALUE "no address": (ptr::null_mut());
    }
    d.clEnqueueSVMMigrateMem: bare (1, &w.shared.cast_const(), &64, 0) {
        CL_INVALID_VALUE "an empty list": (0, &w.shared.cast_const(), ptr::null(), 0);
        CL_INVALID_VALUE "no list": (1, ptr::null(), ptr::null(), 0);
        CL_INVALID_VALUE "unknown flags": (1, &w.shared.cast_const(), ptr::null(), 1 << 20);
        CL_INVALID_VALUE "more than the allocation": (1, &w.shared.cast_const(), &257, 0);
        CL_INVALID_VALUE "memory that is not shared": (1, &memory().cast_const(), &64, 0);
    }
    d.clSetKernelArgSVMPointer: code (w.kernel, 0, w.shared) {
        CL_INVALID_KERNEL "no kernel": (ptr::null_mut(), 0, w.shared);
        CL_INVALID_ARG_INDEX "an argument that is not there": (w.kernel, 1, w.shared);
        CL_INVALID_ARG_VALUE "a number for an argument": (w.all, 1, w.shared);
        CL_INVALID_ARG_VALUE "a local argument": (w.all, 2, w.shared);
    }
    d.clSetKernelExecInfo: code (w.kernel, CL_KERNEL_EXEC_INFO_SVM_PTRS, 8, at(&w.shared)) {
        CL_INVALID_KERNEL "no kernel": (ptr::null_mut(), CL_KERNEL_EXEC_INFO_SVM_PTRS, 8, at(&w.shared));
        CL_INVALID_VALUE "an unknown name": (w.kernel, 0x7FFF, 8, at(&w.shared));
        CL_INVALID_VALUE "no list": (w.kernel, CL_KERNEL_EXEC_INFO_SVM_PTRS, 8, ptr::null());
        CL_INVALID_VALUE "half a pointer": (w.kernel, CL_KERNEL_EXEC_INFO_SVM_PTRS, 4, at(&w.shared));
        CL_INVALID_VALUE "a truth value of no such size":
            (w.kernel, CL_KERNEL_EXEC_INFO_SVM_FINE_GRAIN_SYSTEM, 8, at(&w.shared));
    }
}
