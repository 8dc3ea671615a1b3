//! Command queues (OpenCL API, 5.1 and 5.15).

use std::ffi::c_void;
use std::sync::Arc;

use lockstep_icd_macros::entry_point;
use lockstep_runtime::context::Context;
use lockstep_runtime::device::Device;
use lockstep_runtime::names::CodeName;
use lockstep_runtime::queue::Queue;
use lockstep_runtime::{Result, ensure, error};
use opencl_sys::{
    CL_FALSE, CL_INVALID_COMMAND_QUEUE, CL_INVALID_DEVICE, CL_INVALID_OPERATION, CL_INVALID_QUEUE_PROPERTIES,
    CL_INVALID_VALUE, CL_QUEUE_CONTEXT, CL_QUEUE_DEVICE, CL_QUEUE_DEVICE_DEFAULT, CL_QUEUE_ON_DEVICE,
    CL_QUEUE_ON_DEVICE_DEFAULT, CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE, CL_QUEUE_PRIORITY_HIGH_KHR,
    CL_QUEUE_PRIORITY_KHR, CL_QUEUE_PRIORITY_LOW_KHR, CL_QUEUE_PRIORITY_MED_KHR, CL_QUEUE_PROFILING_ENABLE,
    CL_QUEUE_PROPERTIES, CL_QUEUE_PROPERTIES_ARRAY, CL_QUEUE_REFERENCE_COUNT, CL_QUEUE_SIZE,
    CL_QUEUE_THROTTLE_HIGH_KHR, CL_QUEUE_THROTTLE_KHR, CL_QUEUE_THROTTLE_LOW_KHR, CL_QUEUE_THROTTLE_MED_KHR, cl_bool,
    cl_command_queue, cl_command_queue_info, cl_command_queue_properties, cl_context, cl_device_id,
    cl_queue_properties, cl_uint,
};

use crate::info::{self, Info};
use crate::{fork, handle, property_list};

/// What a host queue can be.
const HOST: cl_command_queue_properties = CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE | CL_QUEUE_PROFILING_ENABLE;

/// "CL_INVALID_CONTEXT if context is not a valid context; CL_INVALID_DEVICE if device is not a valid device [or] is not
/// associated with context."
fn context_and_device(context: cl_context, device: cl_device_id) -> Result<(Arc<Context>, Arc<Device>)> {
    let context = handle::get::<Context>(context)?;
    let device = handle::get::<Device>(device)?;
    ensure!(context.has_device(&device), CL_INVALID_DEVICE, "the device is none of the context's");
    fork::check()?;
    fork::watch();
    Ok((context, device))
}

/// Checks the bits of `CL_QUEUE_PROPERTIES`.
///
/// "CL_INVALID_VALUE if values specified in properties are not valid; CL_INVALID_QUEUE_PROPERTIES if values specified in
/// properties are valid but are not supported by device."
fn check_bits(bits: cl_command_queue_properties) -> Result<()> {
    const KNOWN: cl_command_queue_properties = HOST | CL_QUEUE_ON_DEVICE | CL_QUEUE_ON_DEVICE_DEFAULT;
    let unknown = bits & !KNOWN;
    ensure!(unknown == 0, CL_INVALID_VALUE, "CL_QUEUE_PROPERTIES are {bits:#x}, of which {unknown:#x} are unknown");
    // "If CL_QUEUE_ON_DEVICE is set, CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE must also be set."
    let on_device = bits & CL_QUEUE_ON_DEVICE != 0;
    ensure!(
        !on_device || bits & CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE != 0,
        CL_INVALID_VALUE,
        "CL_QUEUE_PROPERTIES {bits:#x} have CL_QUEUE_ON_DEVICE without CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE"
    );
    // CL_QUEUE_ON_DEVICE_DEFAULT "can only be used with CL_QUEUE_ON_DEVICE".
    ensure!(
        on_device || bits & CL_QUEUE_ON_DEVICE_DEFAULT == 0,
        CL_INVALID_VALUE,
        "CL_QUEUE_PROPERTIES {bits:#x} have CL_QUEUE_ON_DEVICE_DEFAULT without CL_QUEUE_ON_DEVICE"
    );
    ensure!(!on_device, CL_INVALID_QUEUE_PROPERTIES, "the device has no queues of its own (CL_QUEUE_ON_DEVICE)");
    Ok(())
}

/// Only the properties of a host queue.
fn check_host_bits(bits: cl_command_queue_properties) -> Result<()> {
    let unknown = bits & !HOST;
    ensure!(unknown == 0, CL_INVALID_VALUE, "properties are {bits:#x}, of which {unknown:#x} are unknown");
    Ok(())
}

/// A hint is one of the values there are.
fn check_hint(name: &str, value: cl_queue_properties, known: [cl_uint; 3]) -> Result<()> {
    let [high, medium, low] = known;
    let is_known = known.iter().any(|&hint| cl_queue_properties::from(hint) == value);
    ensure!(is_known, CL_INVALID_VALUE, "{name} is {value:#x}; {low:#x}, {medium:#x} and {high:#x} are allowed");
    Ok(())
}

/// `clCreateCommandQueue`: makes a queue, as OpenCL 1.2 had it.
#[entry_point(clCreateCommandQueue)]
pub fn create_command_queue(
    context: cl_context,
    device: cl_device_id,
    properties: cl_command_queue_properties,
) -> Result<cl_command_queue> {
    let (context, device) = context_and_device(context, device)?;
    // "Only command-queue properties specified in this table can be used, otherwise the value specified in
    // properties is considered to be not valid": CL_INVALID_VALUE.
    check_host_bits(properties)?;
    handle::publish(Queue::new(context, device, properties, Vec::new()))
}

/// `clCreateCommandQueueWithProperties`: makes a queue that has a list of properties.
#[entry_point(clCreateCommandQueueWithProperties)]
pub unsafe fn create_command_queue_with_properties(
    context: cl_context,
    device: cl_device_id,
    properties: *const cl_queue_properties,
) -> Result<cl_command_queue> {
    let (context, device) = context_and_device(context, device)?;
    // SAFETY: the caller vouches for the list.
    let (bits, list) = unsafe { read_properties(properties)? };
    handle::publish(Queue::new(context, device, bits, list))
}

/// The bits of a property list, and the list with its terminating 0.
///
/// # Safety
/// `properties` is null or points to a list that ends in 0.
unsafe fn read_properties(
    properties: *const cl_queue_properties,
) -> Result<(cl_command_queue_properties, Vec<cl_queue_properties>)> {
    let mut bits = 0;
    let take = |name, value| take_property(name, value, &mut bits);
    // SAFETY: the same contract.
    let list = unsafe { property_list::read(properties, CL_INVALID_VALUE, take)? };
    Ok((bits, list))
}

/// Takes the bits of a property, or looks at a hint. "CL_INVALID_VALUE if values specified in properties are not valid."
fn take_property(
    name: cl_queue_properties,
    value: cl_queue_properties,
    bits: &mut cl_command_queue_properties,
) -> Result<()> {
    match name as i64 {
        property if property == i64::from(CL_QUEUE_PROPERTIES) => {
            *bits = value as cl_command_queue_properties;
            check_bits(*bits)
        }
        // Hints to take or leave: cl_khr_priority_hints and cl_khr_throttle_hints.
        property if property == CL_QUEUE_PRIORITY_KHR as i64 => {
            let known = [CL_QUEUE_PRIORITY_HIGH_KHR, CL_QUEUE_PRIORITY_MED_KHR, CL_QUEUE_PRIORITY_LOW_KHR];
            check_hint("CL_QUEUE_PRIORITY_KHR", value, known)
        }
        property if property == CL_QUEUE_THROTTLE_KHR as i64 => {
            let known = [CL_QUEUE_THROTTLE_HIGH_KHR, CL_QUEUE_THROTTLE_MED_KHR, CL_QUEUE_THROTTLE_LOW_KHR];
            check_hint("CL_QUEUE_THROTTLE_KHR", value, known)
        }
        // CL_QUEUE_SIZE "can only be specified if CL_QUEUE_ON_DEVICE is set in CL_QUEUE_PROPERTIES", which no
        // device here supports.
        _ => property_list::unknown(CL_INVALID_VALUE, name),
    }
}

/// `clSetDefaultDeviceCommandQueue`: "CL_INVALID_OPERATION if device does not support a replaceable default on-device
/// queue."
#[entry_point(clSetDefaultDeviceCommandQueue)]
pub fn set_default_device_command_queue(
    context: cl_context,
    device: cl_device_id,
    _command_queue: cl_command_queue,
) -> Result<()> {
    context_and_device(context, device)?;
    Err(error!(CL_INVALID_OPERATION, "the device has no queues of its own"))
}

/// `clRetainCommandQueue`: "CL_INVALID_COMMAND_QUEUE if command_queue is not a valid command-queue."
#[entry_point(clRetainCommandQueue)]
pub fn retain_command_queue(command_queue: cl_command_queue) -> Result<()> {
    handle::retain::<Queue>(command_queue)
}

/// `clReleaseCommandQueue`: "CL_INVALID_COMMAND_QUEUE if command_queue is not a valid command-queue."
#[entry_point(clReleaseCommandQueue)]
pub fn release_command_queue(command_queue: cl_command_queue) -> Result<()> {
    handle::release::<Queue>(command_queue)
}

/// `clGetCommandQueueInfo`: answers questions about a queue.
#[entry_point(clGetCommandQueueInfo)]
pub unsafe fn get_command_queue_info(
    command_queue: cl_command_queue,
    param_name: cl_command_queue_info,
    param_value_size: usize,
    param_value: *mut c_void,
    param_value_size_ret: *mut usize,
) -> Result<()> {
    // "CL_INVALID_COMMAND_QUEUE if command_queue is not a valid command-queue".
    let queue = handle::find_or_invalid::<Queue>(command_queue)?;
    // SAFETY: the caller vouches for the pointers.
    let info = unsafe { Info::new(param_value_size, param_value, param_value_size_ret) };
    match param_name {
        CL_QUEUE_CONTEXT => info.value(handle::of(queue.context())),
        CL_QUEUE_DEVICE => info.value(handle::of(queue.device())),
        CL_QUEUE_REFERENCE_COUNT => info.value(handle::references(&queue)),
        CL_QUEUE_PROPERTIES => info.value(queue.properties()),
        CL_QUEUE_PROPERTIES_ARRAY => info.slice(queue.property_list()),
        // There are no queues on the device.
        CL_QUEUE_DEVICE_DEFAULT => info.value(std::ptr::null_mut::<c_void>()),
        // "CL_INVALID_COMMAND_QUEUE if command_queue is not a valid command-queue for param_name."
        CL_QUEUE_SIZE => Err(error!(CL_INVALID_COMMAND_QUEUE, "CL_QUEUE_SIZE is that of a device's own queue")),
        // "CL_INVALID_VALUE if param_name is not one of the supported values".
        _ => info::unknown(param_name),
    }
}

/// `clSetCommandQueueProperty`, of OpenCL 1.0.
#[entry_point(clSetCommandQueueProperty)]
pub unsafe fn set_command_queue_property(
    command_queue: cl_command_queue,
    properties: cl_command_queue_properties,
    enable: cl_bool,
    old_properties: *mut cl_command_queue_properties,
) -> Result<()> {
    // "CL_INVALID_COMMAND_QUEUE if command_queue is not a valid command-queue."
    let queue = handle::get::<Queue>(command_queue)?;
    // "CL_INVALID_VALUE if values specified in properties are not valid."
    check_host_bits(properties)?;
    let old = queue.set_properties(properties, enable != CL_FALSE);
    if !old_properties.is_null() {
        // SAFETY: not null, so the caller vouches for it.
        unsafe { old_properties.write(old) };
    }
    Ok(())
}

/// `clFlush`: "CL_INVALID_COMMAND_QUEUE if command_queue is not a valid host command-queue."
#[entry_point(clFlush)]
pub fn flush(command_queue: cl_command_queue) -> Result<()> {
    handle::get::<Queue>(command_queue)?.flush();
    Ok(())
}

/// `clFinish`: "CL_INVALID_COMMAND_QUEUE if command_queue is not a valid host command-queue."
#[entry_point(clFinish)]
pub fn finish(command_queue: cl_command_queue) -> Result<()> {
    let queue = handle::get::<Queue>(command_queue)?;
    queue.finish();
    // "CL_OUT_OF_RESOURCES if there is a failure to allocate resources required by the OpenCL implementation on the
    // device", "CL_OUT_OF_HOST_MEMORY if [...] on the host": some command's, of which the application asked for no event.
    match queue.take_want() {
        None => Ok(()),
        Some(code) => Err(error!(code, "a command whose event nobody has ended with {}", CodeName(code))),
    }
}
