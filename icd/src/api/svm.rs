//! Shared virtual memory (OpenCL API, 5.6), which no device here supports: `CL_DEVICE_SVM_CAPABILITIES` is 0.

use std::ffi::c_void;

use opencl_sys::{cl_context, cl_svm_mem_flags, cl_uint};

/// `clSVMAlloc`: "[returns] a NULL value if the allocation fails", among others "if [...] no devices in context support
/// SVM".
pub extern "C" fn svm_alloc(
    _context: cl_context,
    _flags: cl_svm_mem_flags,
    _size: usize,
    _alignment: cl_uint,
) -> *mut c_void {
    std::ptr::null_mut()
}

/// `clSVMFree`: nothing was ever allocated, and "If svm_pointer is NULL or [...] no devices in context support SVM then
/// no action occurs".
pub extern "C" fn svm_free(_context: cl_context, _svm_pointer: *mut c_void) {}
