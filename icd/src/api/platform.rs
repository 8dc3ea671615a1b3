//! Platform queries (OpenCL API, 4.1).

use std::ffi::c_void;

use lockstep_icd_macros::entry_point;
use lockstep_runtime::platform::{ICD_SUFFIX, Platform};
use lockstep_runtime::{Result, ensure, extensions};
use opencl_sys::{
    CL_INVALID_VALUE, CL_PLATFORM_EXTENSIONS, CL_PLATFORM_EXTENSIONS_WITH_VERSION, CL_PLATFORM_HOST_TIMER_RESOLUTION,
    CL_PLATFORM_ICD_SUFFIX_KHR, CL_PLATFORM_NAME, CL_PLATFORM_NUMERIC_VERSION, CL_PLATFORM_PROFILE,
    CL_PLATFORM_SEMAPHORE_TYPES_KHR, CL_PLATFORM_VENDOR, CL_PLATFORM_VERSION, CL_SEMAPHORE_TYPE_BINARY_KHR,
    cl_platform_id, cl_platform_info, cl_semaphore_type_khr, cl_uint,
};

use crate::handle;
use crate::info::{self, Info};

/// The platform's handle, made on first use.
pub fn platform_handle() -> Result<cl_platform_id> {
    use std::sync::OnceLock;
    static HANDLE: OnceLock<Result<usize>> = OnceLock::new();
    let handle = HANDLE.get_or_init(|| {
        let platform = Platform::get();
        handle::publish(platform.device().clone())?;
        Ok(handle::publish(platform.clone())? as usize)
    });
    handle.clone().map(|h| h as cl_platform_id)
}

/// The platform a handle names. "If platform is NULL, the behavior is implementation-defined": there is only one.
pub fn platform(handle: cl_platform_id) -> Result<&'static Platform> {
    if handle.is_null() {
        platform_handle()?;
    } else {
        handle::get::<Platform>(handle)?;
    }
    Ok(Platform::get())
}

/// `clGetPlatformIDs`: lists the one platform there is.
#[entry_point(clGetPlatformIDs)]
pub unsafe fn get_platform_ids(
    num_entries: cl_uint,
    platforms: *mut cl_platform_id,
    num_platforms: *mut cl_uint,
) -> Result<()> {
    // "CL_INVALID_VALUE if num_entries is equal to zero and platforms is not NULL or if both num_platforms and
    // platforms are NULL."
    ensure!(platforms.is_null() || num_entries > 0, CL_INVALID_VALUE, "num_entries is 0, and platforms is not NULL");
    let asked = !platforms.is_null() || !num_platforms.is_null();
    ensure!(asked, CL_INVALID_VALUE, "platforms and num_platforms are both NULL");
    let handle = platform_handle()?;
    if !platforms.is_null() {
        // SAFETY: not null, and there is room for `num_entries` > 0 elements.
        unsafe { platforms.write(handle) };
    }
    if !num_platforms.is_null() {
        // SAFETY: not null.
        unsafe { num_platforms.write(1) };
    }
    Ok(())
}

/// `clGetPlatformInfo`: answers questions about the platform.
#[entry_point(clGetPlatformInfo)]
pub unsafe fn get_platform_info(
    platform: cl_platform_id,
    param_name: cl_platform_info,
    param_value_size: usize,
    param_value: *mut c_void,
    param_value_size_ret: *mut usize,
) -> Result<()> {
    // "CL_INVALID_PLATFORM if platform is not a valid platform."
    let platform = self::platform(platform)?;
    // SAFETY: the caller vouches for the pointers.
    let info = unsafe { Info::new(param_value_size, param_value, param_value_size_ret) };
    match param_name {
        CL_PLATFORM_PROFILE => info.string("FULL_PROFILE"),
        CL_PLATFORM_VERSION => info.string(&platform.version()),
        CL_PLATFORM_NUMERIC_VERSION => info.value(platform.numeric_version()),
        CL_PLATFORM_NAME => info.string(platform.name()),
        CL_PLATFORM_VENDOR => info.string(platform.vendor()),
        CL_PLATFORM_ICD_SUFFIX_KHR => info.string(ICD_SUFFIX),
        CL_PLATFORM_EXTENSIONS => info.string(&extensions::platform_extensions()),
        CL_PLATFORM_EXTENSIONS_WITH_VERSION => info.slice(&extensions::of_platform()),
        // In nanoseconds; the host timer is the system's monotonic clock.
        CL_PLATFORM_HOST_TIMER_RESOLUTION => info.value(platform.host_timer_resolution()),
        CL_PLATFORM_SEMAPHORE_TYPES_KHR => info.value::<cl_semaphore_type_khr>(CL_SEMAPHORE_TYPE_BINARY_KHR),
        // "CL_INVALID_VALUE if param_name is not one of the supported values".
        _ => info::unknown(param_name),
    }
}
