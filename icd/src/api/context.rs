//! Contexts (OpenCL API, 4.4).

use std::ffi::{CString, c_char, c_void};
use std::sync::Arc;

use lockstep_icd_macros::entry_point;
use lockstep_runtime::context::{Context, ErrorCallback};
use lockstep_runtime::device::Device;
use lockstep_runtime::{Result, ensure, error};
use opencl_sys::{
    CL_CONTEXT_DEVICES, CL_CONTEXT_INTEROP_USER_SYNC, CL_CONTEXT_NUM_DEVICES, CL_CONTEXT_PLATFORM,
    CL_CONTEXT_PROPERTIES, CL_CONTEXT_REFERENCE_COUNT, CL_FALSE, CL_INVALID_PLATFORM, CL_INVALID_PROPERTY,
    CL_INVALID_VALUE, CL_TRUE, cl_context, cl_context_info, cl_context_properties, cl_device_id, cl_device_type,
    cl_platform_id, cl_uint,
};

use crate::api::{device, platform};
use crate::info::{self, Info};
use crate::user::UserData;
use crate::{handle, property_list};

/// `pfn_notify` of a context.
type Notify = Option<unsafe extern "C" fn(*const c_char, *const c_void, usize, *mut c_void)>;

/// Checks a context's property list; returns it with its terminating 0, and the platform it names.
///
/// # Safety
/// `properties` is null or points to a list that ends in 0.
unsafe fn read_properties(
    properties: *const cl_context_properties,
) -> Result<(Vec<cl_context_properties>, cl_platform_id)> {
    let mut platform = std::ptr::null_mut();
    let take = |name, value| take_property(name, value, &mut platform);
    // SAFETY: the same contract.
    let list = unsafe { property_list::read(properties, CL_INVALID_PROPERTY, take)? };
    Ok((list, platform))
}

/// Checks a property, and takes the platform.
///
/// "CL_INVALID_PROPERTY if context property name in properties is not a supported property name, if the value specified
/// for a supported property name is not valid, or if the same property name is specified more than once."
fn take_property(
    name: cl_context_properties,
    value: cl_context_properties,
    platform: &mut cl_platform_id,
) -> Result<()> {
    match name {
        CL_CONTEXT_PLATFORM => {
            // "CL_INVALID_PLATFORM [...] if platform value specified in properties is not a valid platform."
            *platform = value as cl_platform_id;
            ensure!(!platform.is_null(), CL_INVALID_PLATFORM, "CL_CONTEXT_PLATFORM is NULL");
            platform::platform(*platform).map(drop)
        }
        CL_CONTEXT_INTEROP_USER_SYNC if value == CL_FALSE as isize || value == CL_TRUE as isize => Ok(()),
        CL_CONTEXT_INTEROP_USER_SYNC => {
            let (name, allowed) = ("CL_CONTEXT_INTEROP_USER_SYNC", "CL_TRUE or CL_FALSE");
            property_list::wrong_value(CL_INVALID_PROPERTY, name, value, allowed)
        }
        _ => property_list::unknown(CL_INVALID_PROPERTY, name),
    }
}

/// "CL_INVALID_VALUE if pfn_notify is NULL but user_data is not NULL."
pub fn check_callback(is_there: bool, user_data: *mut c_void) -> Result<()> {
    ensure!(
        is_there || user_data.is_null(),
        CL_INVALID_VALUE,
        "pfn_notify is NULL, and user_data, which is for it, is {user_data:p}"
    );
    Ok(())
}

/// `pfn_notify` as the runtime calls it.
fn error_callback(notify: Notify, user_data: *mut c_void) -> Result<Option<ErrorCallback>> {
    check_callback(notify.is_some(), user_data)?;
    let user_data = UserData(user_data);
    let Some(notify) = notify else { return Ok(None) };
    Ok(Some(Box::new(move |message| {
        let Ok(text) = CString::new(message) else { return };
        // SAFETY: the application registered this function for this call, and its data with it.
        unsafe { notify(text.as_ptr(), std::ptr::null(), 0, user_data.get()) };
    })))
}

/// `clCreateContext`: makes a context of the devices that are listed.
#[entry_point(clCreateContext)]
pub unsafe fn create_context(
    properties: *const cl_context_properties,
    num_devices: cl_uint,
    devices: *const cl_device_id,
    pfn_notify: Notify,
    user_data: *mut c_void,
) -> Result<cl_context> {
    // SAFETY: the caller vouches for the list.
    let (properties, _) = unsafe { read_properties(properties)? };
    let on_error = error_callback(pfn_notify, user_data)?;
    // "CL_INVALID_VALUE if devices is NULL [or] num_devices is equal to zero. CL_INVALID_DEVICE if any device in
    // devices is not a valid device."
    ensure!(num_devices > 0, CL_INVALID_VALUE, "num_devices is 0");
    // SAFETY: the caller vouches for the array.
    let given = unsafe { handle::list::<Device>(num_devices, devices, CL_INVALID_VALUE)? };
    // "Duplicate devices specified in devices are ignored."
    let mut devices: Vec<Arc<Device>> = Vec::with_capacity(given.len());
    for device in given {
        if !devices.iter().any(|d| Arc::ptr_eq(d, &device)) {
            devices.push(device);
        }
    }
    handle::publish(Context::new(devices, properties, on_error))
}

/// `clCreateContextFromType`: makes a context of the devices of a type.
#[entry_point(clCreateContextFromType)]
pub unsafe fn create_context_from_type(
    properties: *const cl_context_properties,
    device_type: cl_device_type,
    pfn_notify: Notify,
    user_data: *mut c_void,
) -> Result<cl_context> {
    // SAFETY: the caller vouches for the list.
    let (properties, platform) = unsafe { read_properties(properties)? };
    let on_error = error_callback(pfn_notify, user_data)?;
    let devices = device::devices_of_type(platform, device_type)?;
    handle::publish(Context::new(devices, properties, on_error))
}

/// `clRetainContext`: "CL_INVALID_CONTEXT if context is not a valid OpenCL context."
#[entry_point(clRetainContext)]
pub fn retain_context(context: cl_context) -> Result<()> {
    handle::retain::<Context>(context)
}

/// `clReleaseContext`: "CL_INVALID_CONTEXT if context is not a valid OpenCL context."
#[entry_point(clReleaseContext)]
pub fn release_context(context: cl_context) -> Result<()> {
    handle::release::<Context>(context)
}

/// `clSetContextDestructorCallback`: registers what is called when a context is destroyed.
#[entry_point(clSetContextDestructorCallback)]
pub fn set_context_destructor_callback(
    context: cl_context,
    pfn_notify: Option<unsafe extern "C" fn(cl_context, *mut c_void)>,
    user_data: *mut c_void,
) -> Result<()> {
    // "CL_INVALID_CONTEXT if context is not a valid context."
    let object = handle::get::<Context>(context)?;
    // "CL_INVALID_VALUE if pfn_notify is NULL."
    let Some(notify) = pfn_notify else { return Err(error!(CL_INVALID_VALUE, "pfn_notify is NULL")) };
    let (context, user_data) = (UserData(context), UserData(user_data));
    // SAFETY: the application registered this function for this call, and its data with it.
    object.on_destruction(Box::new(move || unsafe { notify(context.get(), user_data.get()) }));
    Ok(())
}

/// `clGetContextInfo`: answers questions about a context.
#[entry_point(clGetContextInfo)]
pub unsafe fn get_context_info(
    context: cl_context,
    param_name: cl_context_info,
    param_value_size: usize,
    param_value: *mut c_void,
    param_value_size_ret: *mut usize,
) -> Result<()> {
    // "CL_INVALID_CONTEXT if context is not a valid context."
    let context = handle::get::<Context>(context)?;
    // SAFETY: the caller vouches for the pointers.
    let info = unsafe { Info::new(param_value_size, param_value, param_value_size_ret) };
    match param_name {
        CL_CONTEXT_REFERENCE_COUNT => info.value(handle::references(&context)),
        CL_CONTEXT_NUM_DEVICES => info.value(context.devices().len() as cl_uint),
        CL_CONTEXT_DEVICES => info.slice(&context.devices().iter().map(handle::of).collect::<Vec<_>>()),
        CL_CONTEXT_PROPERTIES => info.slice(context.properties()),
        // "CL_INVALID_VALUE if param_name is not one of the supported values".
        _ => info::unknown(param_name),
    }
}
