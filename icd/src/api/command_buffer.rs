//! Command buffers (`cl_khr_command_buffer`): what they are made of, their states, and enqueuing them. What is recorded is in
//! `command_buffer_record`.

use std::ffi::c_void;
use std::sync::Arc;

use lockstep_icd_macros::entry_point;
use lockstep_runtime::command_buffer::CommandBuffer;
use lockstep_runtime::queue::Queue;
use lockstep_runtime::{Result, ensure};
use opencl_sys::{
    CL_COMMAND_BUFFER_CONTEXT_KHR, CL_COMMAND_BUFFER_FLAGS_KHR, CL_COMMAND_BUFFER_MUTABLE_KHR,
    CL_COMMAND_BUFFER_NUM_QUEUES_KHR, CL_COMMAND_BUFFER_PROPERTIES_ARRAY_KHR, CL_COMMAND_BUFFER_QUEUES_KHR,
    CL_COMMAND_BUFFER_REFERENCE_COUNT_KHR, CL_COMMAND_BUFFER_SIMULTANEOUS_USE_KHR,
    CL_COMMAND_BUFFER_STATE_EXECUTABLE_KHR, CL_COMMAND_BUFFER_STATE_FINALIZED_KHR, CL_COMMAND_BUFFER_STATE_KHR,
    CL_COMMAND_BUFFER_STATE_RECORDING_KHR, CL_COMMAND_COMMAND_BUFFER_KHR, CL_INVALID_DEVICE, CL_INVALID_VALUE,
    CL_MUTABLE_DISPATCH_ASSERT_NO_ADDITIONAL_WORK_GROUPS_KHR, cl_command_buffer_info_khr, cl_command_buffer_khr,
    cl_command_buffer_properties_khr, cl_command_buffer_state_khr, cl_command_queue, cl_event, cl_uint,
};

use crate::api::buffer::check_context;
use crate::api::enqueue::{publish_event, wait_list};
use crate::handle::{self, Object};
use crate::info::{self, Info};
use crate::{fork, property_list};

/// The number of OpenCL's own headers; that of opencl-sys 0.6.5 is another.
const CL_COMMAND_BUFFER_MUTABLE_DISPATCH_ASSERTS_KHR: cl_command_buffer_properties_khr = 0x12B7;

/// `clCreateCommandBufferKHR`: makes an empty command buffer for one queue.
#[entry_point(clCreateCommandBufferKHR)]
pub unsafe fn create_command_buffer(
    num_queues: cl_uint,
    queues: *const cl_command_queue,
    properties: *const cl_command_buffer_properties_khr,
) -> Result<cl_command_buffer_khr> {
    // SAFETY: the caller vouches for the lists.
    unsafe {
        // "CL_INVALID_VALUE […] if […] num_queues is not one. CL_INVALID_VALUE if queues is NULL."
        ensure!(num_queues == 1, CL_INVALID_VALUE, "num_queues is {num_queues}; 1 is allowed");
        ensure!(!queues.is_null(), CL_INVALID_VALUE, "queues is NULL");
        // "CL_INVALID_COMMAND_QUEUE if any command-queue in queues is not a valid command-queue."
        let queue = handle::get::<Queue>(queues.read())?;
        handle::publish(CommandBuffer::new(queue, read_properties(properties)?)?)
    }
}

/// A property list with its terminating 0.
///
/// "CL_INVALID_VALUE if values specified in properties are not valid, or if the same property name is specified more than
/// once."
///
/// # Safety
/// `properties` is null or points to a list that ends in 0.
unsafe fn read_properties(
    properties: *const cl_command_buffer_properties_khr,
) -> Result<Vec<cl_command_buffer_properties_khr>> {
    // SAFETY: the same contract.
    unsafe { property_list::read(properties, CL_INVALID_VALUE, check_property) }
}

fn check_property(name: cl_command_buffer_properties_khr, value: cl_command_buffer_properties_khr) -> Result<()> {
    let known = match name {
        CL_COMMAND_BUFFER_FLAGS_KHR => CL_COMMAND_BUFFER_SIMULTANEOUS_USE_KHR | CL_COMMAND_BUFFER_MUTABLE_KHR,
        CL_COMMAND_BUFFER_MUTABLE_DISPATCH_ASSERTS_KHR => CL_MUTABLE_DISPATCH_ASSERT_NO_ADDITIONAL_WORK_GROUPS_KHR,
        _ => return property_list::unknown(CL_INVALID_VALUE, name),
    };
    let unknown = value & !known;
    ensure!(unknown == 0, CL_INVALID_VALUE, "property {name:#x} is {value:#x}, of which {unknown:#x} are unknown");
    Ok(())
}

/// `clFinalizeCommandBufferKHR`: "CL_INVALID_OPERATION if command_buffer is not in the Recording state."
#[entry_point(clFinalizeCommandBufferKHR)]
pub fn finalize_command_buffer(command_buffer: cl_command_buffer_khr) -> Result<()> {
    handle::get::<CommandBuffer>(command_buffer)?.end_recording()
}

/// `clRetainCommandBufferKHR`: "CL_INVALID_COMMAND_BUFFER_KHR if command_buffer is not a valid command-buffer."
#[entry_point(clRetainCommandBufferKHR)]
pub fn retain_command_buffer(command_buffer: cl_command_buffer_khr) -> Result<()> {
    handle::retain::<CommandBuffer>(command_buffer)
}

/// `clReleaseCommandBufferKHR`: "CL_INVALID_COMMAND_BUFFER_KHR if command_buffer is not a valid command-buffer."
#[entry_point(clReleaseCommandBufferKHR)]
pub fn release_command_buffer(command_buffer: cl_command_buffer_khr) -> Result<()> {
    handle::release::<CommandBuffer>(command_buffer)
}

/// `clEnqueueCommandBufferKHR`: enqueues the commands that a buffer has recorded.
#[entry_point(clEnqueueCommandBufferKHR)]
pub unsafe fn enqueue_command_buffer(
    num_queues: cl_uint,
    queues: *mut cl_command_queue,
    command_buffer: cl_command_buffer_khr,
    num_events_in_wait_list: cl_uint,
    event_wait_list: *const cl_event,
    event: *mut cl_event,
) -> Result<()> {
    // SAFETY: the caller vouches for the lists and for `event`.
    unsafe {
        let buffer = handle::get::<CommandBuffer>(command_buffer)?;
        // "CL_INVALID_VALUE if queues is NULL and num_queues is > 0, or queues is not NULL and num_queues is 0." "[…] if
        // num_queues is > 0 and not the same value as num_queues set on command_buffer creation."
        handle::check_list(num_queues, Queue::NAME, queues, CL_INVALID_VALUE)?;
        ensure!(num_queues <= 1, CL_INVALID_VALUE, "num_queues is {num_queues}; the command buffer was made for 1");
        let queue = if queues.is_null() { buffer.queue().clone() } else { handle::get::<Queue>(queues.read())? };
        fork::check()?;
        // "CL_INVALID_DEVICE if any element of queues does not have the same device as the command-queue set on
        // command_buffer creation at the same list index. CL_INVALID_CONTEXT […] the same context".
        check_context(queue.context(), buffer.context(), "the command queue")?;
        let same_device = Arc::ptr_eq(queue.device(), buffer.queue().device());
        ensure!(same_device, CL_INVALID_DEVICE, "the command buffer's queue was one of another device");
        let waits = wait_list(queue.context(), num_events_in_wait_list, event_wait_list)?;
        let run = buffer.prepare_run()?;
        let whole = publish_event(&queue, CL_COMMAND_COMMAND_BUFFER_KHR, event)?;
        run.enqueue_commands(&queue, waits, whole);
        Ok(())
    }
}

/// `clGetCommandBufferInfoKHR`: answers questions about a command buffer.
#[entry_point(clGetCommandBufferInfoKHR)]
pub unsafe fn get_command_buffer_info(
    command_buffer: cl_command_buffer_khr,
    param_name: cl_command_buffer_info_khr,
    param_value_size: usize,
    param_value: *mut c_void,
    param_value_size_ret: *mut usize,
) -> Result<()> {
    let buffer = handle::get::<CommandBuffer>(command_buffer)?;
    // SAFETY: the caller vouches for the pointers.
    let info = unsafe { Info::new(param_value_size, param_value, param_value_size_ret) };
    match param_name {
        CL_COMMAND_BUFFER_NUM_QUEUES_KHR => info.value::<cl_uint>(1),
        CL_COMMAND_BUFFER_QUEUES_KHR => info.value(handle::of(buffer.queue())),
        CL_COMMAND_BUFFER_REFERENCE_COUNT_KHR => info.value(handle::references(&buffer)),
        CL_COMMAND_BUFFER_STATE_KHR => info.value::<cl_command_buffer_state_khr>(match buffer.is_finalized() {
            true if buffer.is_executable() => CL_COMMAND_BUFFER_STATE_EXECUTABLE_KHR,
            true => CL_COMMAND_BUFFER_STATE_FINALIZED_KHR,
            false => CL_COMMAND_BUFFER_STATE_RECORDING_KHR,
        }),
        CL_COMMAND_BUFFER_PROPERTIES_ARRAY_KHR => info.slice(buffer.properties()),
        CL_COMMAND_BUFFER_CONTEXT_KHR => info.value(handle::of(buffer.context())),
        _ => info::unknown(param_name),
    }
}
