//! Devices (OpenCL API, 4.2 and 4.3).

use std::sync::Arc;

use lockstep_icd_macros::entry_point;
use lockstep_runtime::device::Device;
use lockstep_runtime::{Result, clock, ensure};
use opencl_sys::{
    CL_DEVICE_NOT_FOUND, CL_DEVICE_TYPE_ACCELERATOR, CL_DEVICE_TYPE_ALL, CL_DEVICE_TYPE_CPU, CL_DEVICE_TYPE_CUSTOM,
    CL_DEVICE_TYPE_DEFAULT, CL_DEVICE_TYPE_GPU, CL_INVALID_DEVICE_TYPE, CL_INVALID_VALUE, cl_device_id, cl_device_type,
    cl_platform_id, cl_uint, cl_ulong,
};

use crate::api::platform;
use crate::handle;

/// The devices of a type, of which the CPU is the default one.
///
/// "CL_INVALID_DEVICE_TYPE if device_type is not a valid value. CL_DEVICE_NOT_FOUND if no OpenCL devices that matched
/// device_type were found."
pub fn devices_of_type(platform: cl_platform_id, device_type: cl_device_type) -> Result<Vec<Arc<Device>>> {
    // "CL_INVALID_PLATFORM if platform is not a valid platform."
    let platform = platform::platform(platform)?;
    const KNOWN: cl_device_type = CL_DEVICE_TYPE_DEFAULT
        | CL_DEVICE_TYPE_CPU
        | CL_DEVICE_TYPE_GPU
        | CL_DEVICE_TYPE_ACCELERATOR
        | CL_DEVICE_TYPE_CUSTOM;
    let all = device_type == CL_DEVICE_TYPE_ALL;
    ensure!(
        all || (device_type != 0 && device_type & !KNOWN == 0),
        CL_INVALID_DEVICE_TYPE,
        "device_type is {device_type:#x}; bits of {KNOWN:#x} are allowed, or CL_DEVICE_TYPE_ALL"
    );
    ensure!(
        all || device_type & (CL_DEVICE_TYPE_DEFAULT | CL_DEVICE_TYPE_CPU) != 0,
        CL_DEVICE_NOT_FOUND,
        "no device is of type {device_type:#x}; there is one of CL_DEVICE_TYPE_CPU"
    );
    Ok(vec![platform.device().clone()])
}

/// `clGetDeviceIDs`: lists the platform's devices of a type.
#[entry_point(clGetDeviceIDs)]
pub unsafe fn get_device_ids(
    platform: cl_platform_id,
    device_type: cl_device_type,
    num_entries: cl_uint,
    devices: *mut cl_device_id,
    num_devices: *mut cl_uint,
) -> Result<()> {
    let found = devices_of_type(platform, device_type)?;
    // "CL_INVALID_VALUE if num_entries is equal to zero and devices is not NULL or if both num_devices and devices
    // are NULL."
    ensure!(devices.is_null() || num_entries > 0, CL_INVALID_VALUE, "num_entries is 0, and devices is not NULL");
    let asked = !devices.is_null() || !num_devices.is_null();
    ensure!(asked, CL_INVALID_VALUE, "devices and num_devices are both NULL");
    if !devices.is_null() {
        for (i, device) in found.iter().take(num_entries as usize).enumerate() {
            // SAFETY: not null, and fewer than `num_entries`.
            unsafe { devices.add(i).write(handle::of(device)) };
        }
    }
    if !num_devices.is_null() {
        // SAFETY: not null.
        unsafe { num_devices.write(found.len() as cl_uint) };
    }
    Ok(())
}

/// `clGetDeviceAndHostTimer`: both are the same clock.
#[entry_point(clGetDeviceAndHostTimer)]
pub unsafe fn get_device_and_host_timer(
    device: cl_device_id,
    device_timestamp: *mut cl_ulong,
    host_timestamp: *mut cl_ulong,
) -> Result<()> {
    // "CL_INVALID_DEVICE if device is not a valid device."
    handle::get::<Device>(device)?;
    // "CL_INVALID_VALUE if host_timestamp or device_timestamp is NULL."
    ensure!(!device_timestamp.is_null(), CL_INVALID_VALUE, "device_timestamp is NULL");
    ensure!(!host_timestamp.is_null(), CL_INVALID_VALUE, "host_timestamp is NULL");
    let now = clock::now_nanoseconds();
    // SAFETY: not null, so the caller vouches for them.
    unsafe {
        device_timestamp.write(now);
        host_timestamp.write(now);
    }
    Ok(())
}

/// `clGetHostTimer`: reads the host's clock, in nanoseconds.
#[entry_point(clGetHostTimer)]
pub unsafe fn get_host_timer(device: cl_device_id, host_timestamp: *mut cl_ulong) -> Result<()> {
    // "CL_INVALID_DEVICE if device is not a valid device."
    handle::get::<Device>(device)?;
    // "CL_INVALID_VALUE if host_timestamp is NULL."
    ensure!(!host_timestamp.is_null(), CL_INVALID_VALUE, "host_timestamp is NULL");
    // SAFETY: not null, so the caller vouches for it.
    unsafe { host_timestamp.write(clock::now_nanoseconds()) };
    Ok(())
}
