//! The symbols the library exports for OpenCL, and the only ones: what an ICD loader looks up by name. Beside them there are those
//! that debuggers look up (`runtime/src/execute/gdb_interface.rs`).
//!
//! Whatever an application calls first comes through here, or through what one of these gave it; so these say which table
//! handles lead to.
//!
//! The dispatch table never points here: an application linked with a loader has symbols of these names of its own,
//! which only the way the library is linked (`icd/build.rs`) keeps the dynamic linker from preferring.

use std::ffi::{c_char, c_void};

use opencl_sys::{cl_int, cl_platform_id, cl_platform_info, cl_uint};

use crate::api::platform;
use crate::{dispatch, handle};

/// `cl_khr_icd`.
///
/// # Safety
/// As the extension says of its parameters.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clIcdGetPlatformIDsKHR(
    num_entries: cl_uint,
    platforms: *mut cl_platform_id,
    num_platforms: *mut cl_uint,
) -> cl_int {
    handle::set_table(&dispatch::DISPATCH);
    // SAFETY: the same contract.
    unsafe { platform::clGetPlatformIDs(num_entries, platforms, num_platforms) }
}

/// `cl_khr_icd` asks for this symbol besides the table's entry.
///
/// # Safety
/// As the specification says of its parameters.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clGetPlatformInfo(
    platform: cl_platform_id,
    param_name: cl_platform_info,
    param_value_size: usize,
    param_value: *mut c_void,
    param_value_size_ret: *mut usize,
) -> cl_int {
    // SAFETY: the same contract.
    unsafe { platform::clGetPlatformInfo(platform, param_name, param_value_size, param_value, param_value_size_ret) }
}

/// `cl_khr_icd`.
///
/// # Safety
/// `name` is null or points to a null-terminated string.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clGetExtensionFunctionAddress(name: *const c_char) -> *mut c_void {
    handle::set_table(&dispatch::DISPATCH);
    // SAFETY: the same contract.
    unsafe { dispatch::get_extension_function_address(name) }
}
