//! The platforms and devices that the ICD loader lists.

use cl3::types::{cl_device_id, cl_platform_id};
use cl3::{device, platform};

use super::{DeviceFacts, PlatformFacts};

/// All of them, in the loader's order. What a driver does not tell stays empty.
pub fn list_platforms() -> Vec<PlatformFacts> {
    platform::get_platform_ids().unwrap_or_default().into_iter().map(describe_platform).collect()
}

fn describe_platform(id: cl_platform_id) -> PlatformFacts {
    let text = |what| platform::get_platform_data(id, what).map(text_of).unwrap_or_default();
    let devices = device::get_device_ids(id, device::CL_DEVICE_TYPE_ALL).unwrap_or_default();
    PlatformFacts {
        name: text(platform::CL_PLATFORM_NAME),
        vendor: text(platform::CL_PLATFORM_VENDOR),
        version: text(platform::CL_PLATFORM_VERSION),
        devices: devices.into_iter().map(describe_device).collect(),
    }
}

fn describe_device(id: cl_device_id) -> DeviceFacts {
    let text = |what| device::get_device_data(id, what).map(text_of).unwrap_or_default();
    DeviceFacts {
        name: text(device::CL_DEVICE_NAME),
        version: text(device::CL_DEVICE_VERSION),
        driver_version: text(device::CL_DRIVER_VERSION),
        compute_units: number_of(id, device::CL_DEVICE_MAX_COMPUTE_UNITS, u32::from_ne_bytes),
        memory: number_of(id, device::CL_DEVICE_GLOBAL_MEM_SIZE, u64::from_ne_bytes),
        local_memory: number_of(id, device::CL_DEVICE_LOCAL_MEM_SIZE, u64::from_ne_bytes),
        group_size: number_of(id, device::CL_DEVICE_MAX_WORK_GROUP_SIZE, usize::from_ne_bytes),
        extensions: text(device::CL_DEVICE_EXTENSIONS).split_whitespace().map(str::to_owned).collect(),
    }
}

/// A number that the device tells; 0 where it does not.
fn number_of<const BYTES: usize, T: Default>(id: cl_device_id, what: u32, read: fn([u8; BYTES]) -> T) -> T {
    let data = device::get_device_data(id, what).ok();
    data.and_then(|data| data.try_into().ok()).map(read).unwrap_or_default()
}

/// A text without the 0 at its end.
fn text_of(bytes: Vec<u8>) -> String {
    String::from_utf8_lossy(&bytes).trim_end_matches('\0').trim().to_owned()
}
