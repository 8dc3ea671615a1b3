//! Semaphores (`cl_khr_semaphore`).

use std::ffi::c_void;
use std::sync::Arc;

use lockstep_icd_macros::entry_point;
use lockstep_runtime::command::{Command, Work};
use lockstep_runtime::context::Context;
use lockstep_runtime::device::Device;
use lockstep_runtime::event::Event;
use lockstep_runtime::queue::Queue;
use lockstep_runtime::semaphore::{self, Semaphore};
use lockstep_runtime::{Result, ensure, error};
use opencl_sys::{
    CL_COMMAND_SEMAPHORE_SIGNAL_KHR, CL_COMMAND_SEMAPHORE_WAIT_KHR, CL_INVALID_COMMAND_QUEUE, CL_INVALID_DEVICE,
    CL_INVALID_PROPERTY, CL_INVALID_VALUE, CL_SEMAPHORE_CONTEXT_KHR, CL_SEMAPHORE_DEVICE_HANDLE_LIST_KHR,
    CL_SEMAPHORE_PAYLOAD_KHR, CL_SEMAPHORE_PROPERTIES_KHR, CL_SEMAPHORE_REFERENCE_COUNT_KHR,
    CL_SEMAPHORE_TYPE_BINARY_KHR, CL_SEMAPHORE_TYPE_KHR, cl_command_queue, cl_context, cl_device_id, cl_event,
    cl_external_semaphore_handle_type_khr, cl_semaphore_info_khr, cl_semaphore_khr, cl_semaphore_payload_khr,
    cl_semaphore_properties_khr, cl_semaphore_type_khr, cl_uint,
};

use crate::api::buffer::check_context;
use crate::api::enqueue::{Completion, enqueue, wait_list};
use crate::api::event::check_success;
use crate::info::{self, Info};
use crate::{handle, property_list};

/// Reads a property list: the list with its terminating 0, and the devices it names.
///
/// # Safety
/// `properties` points to a list that ends in 0.
unsafe fn read_properties(
    context: &Context,
    properties: *const cl_semaphore_properties_khr,
) -> Result<(Vec<cl_semaphore_properties_khr>, Option<Arc<Device>>)> {
    let (mut list, mut device, mut has_type) = (Vec::new(), None, false);
    // SAFETY: the list has not ended yet where it is read.
    let next = |list: &mut Vec<_>| unsafe {
        let value = properties.add(list.len()).read();
        list.push(value);
        value
    };
    loop {
        match next(&mut list) {
            0 => break,
            // "CL_INVALID_PROPERTY if a property name in sema_props is not a supported property name, if the value
            // specified for a supported property name is not valid, or if the same property name is specified more than
            // once."
            name if name == u64::from(CL_SEMAPHORE_TYPE_KHR) => {
                let value = next(&mut list);
                ensure!(!has_type, CL_INVALID_PROPERTY, "CL_SEMAPHORE_TYPE_KHR is given twice");
                if value != u64::from(CL_SEMAPHORE_TYPE_BINARY_KHR) {
                    let (name, allowed) = ("CL_SEMAPHORE_TYPE_KHR", "CL_SEMAPHORE_TYPE_BINARY_KHR");
                    return property_list::wrong_value(CL_INVALID_PROPERTY, name, value, allowed);
                }
                has_type = true;
            }
            name if name == u64::from(CL_SEMAPHORE_DEVICE_HANDLE_LIST_KHR) => {
                let is_new = device.is_none();
                ensure!(is_new, CL_INVALID_PROPERTY, "CL_SEMAPHORE_DEVICE_HANDLE_LIST_KHR is given twice");
                // "CL_INVALID_DEVICE if CL_SEMAPHORE_DEVICE_HANDLE_LIST_KHR […] does not identify exactly one valid
                // device; or if a device […] is not one of the devices within context."
                let found = handle::get::<Device>(next(&mut list) as *mut c_void)?;
                let what = "CL_SEMAPHORE_DEVICE_HANDLE_LIST_KHR";
                ensure!(
                    context.has_device(&found),
                    CL_INVALID_DEVICE,
                    "{what} has a device that is none of the context's"
                );
                ensure!(next(&mut list) == 0, CL_INVALID_DEVICE, "{what} has more than one device");
                device = Some(found);
            }
            name => return property_list::unknown(CL_INVALID_PROPERTY, name),
        }
    }
    // "CL_INVALID_VALUE […] if sema_props do not specify <property, value> pairs for minimum set of properties".
    ensure!(has_type, CL_INVALID_VALUE, "sema_props are without CL_SEMAPHORE_TYPE_KHR");
    // "[…] if context is a multiple device context and sema_props does not specify
    // CL_SEMAPHORE_DEVICE_HANDLE_LIST_KHR."
    let count = context.devices().len();
    ensure!(
        device.is_some() || count == 1,
        CL_INVALID_PROPERTY,
        "sema_props are without CL_SEMAPHORE_DEVICE_HANDLE_LIST_KHR, and the context has {count} devices"
    );
    Ok((list, device))
}

/// `clCreateSemaphoreWithPropertiesKHR`: makes a semaphore of a list of properties.
#[entry_point(clCreateSemaphoreWithPropertiesKHR)]
pub unsafe fn create_semaphore_with_properties(
    context: cl_context,
    sema_props: *const cl_semaphore_properties_khr,
) -> Result<cl_semaphore_khr> {
    let context = handle::get::<Context>(context)?;
    // "CL_INVALID_VALUE if sema_props is NULL".
    ensure!(!sema_props.is_null(), CL_INVALID_VALUE, "sema_props is NULL");
    // SAFETY: not null, so the caller vouches for the list.
    let (list, device) = unsafe { read_properties(&context, sema_props)? };
    let devices = device.map_or_else(|| context.devices().to_vec(), |device| vec![device]);
    handle::publish(Semaphore::new(context, devices, list))
}

/// What both commands are called on.
struct Called {
    queue: Arc<Queue>,
    semaphores: Vec<Arc<Semaphore>>,
    waits: Vec<Arc<Event>>,
}

impl Called {
    /// Checks what both commands check.
    ///
    /// # Safety
    /// The pointers are as the extension says.
    unsafe fn new(
        command_queue: cl_command_queue,
        (num_sema_objects, sema_objects): (cl_uint, *const cl_semaphore_khr),
        (num_events, events): (cl_uint, *const cl_event),
    ) -> Result<Self> {
        let queue = handle::get::<Queue>(command_queue)?;
        // "CL_INVALID_VALUE if num_sema_objects is 0."
        ensure!(num_sema_objects > 0, CL_INVALID_VALUE, "num_sema_objects is 0");
        // "CL_INVALID_SEMAPHORE_KHR if any of the semaphore objects specified by sema_objects is not valid."
        // SAFETY: the caller vouches for the list.
        let semaphores = unsafe { handle::list::<Semaphore>(num_sema_objects, sema_objects, CL_INVALID_VALUE)? };
        for (i, semaphore) in semaphores.iter().enumerate() {
            // "CL_INVALID_CONTEXT if the context associated with command_queue and any of the semaphore objects in
            // sema_objects are not the same".
            let what = format_args!("semaphore {i} of {num_sema_objects}");
            check_context(semaphore.context(), queue.context(), what)?;
            // "CL_INVALID_COMMAND_QUEUE […] if the device associated with command_queue is not same as one of the devices
            // specified by CL_SEMAPHORE_DEVICE_HANDLE_LIST_KHR".
            let knows = semaphore.devices().iter().any(|device| Arc::ptr_eq(device, queue.device()));
            ensure!(knows, CL_INVALID_COMMAND_QUEUE, "{what} was made for other devices than the queue's");
        }
        // SAFETY: the caller vouches for the list.
        let waits = unsafe { wait_list(queue.context(), num_events, events)? };
        // "CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST if the execution status of any of the events in event_wait_list is
        // a negative integer value."
        check_success(&waits)?;
        Ok(Self { queue, semaphores, waits })
    }
}

/// `clEnqueueWaitSemaphoresKHR`. Binary semaphores have no payload values to wait for.
#[entry_point(clEnqueueWaitSemaphoresKHR)]
pub unsafe fn enqueue_wait_semaphores(
    command_queue: cl_command_queue,
    num_sema_objects: cl_uint,
    sema_objects: *const cl_semaphore_khr,
    _sema_payload_list: *const cl_semaphore_payload_khr,
    num_events_in_wait_list: cl_uint,
    event_wait_list: *const cl_event,
    event: *mut cl_event,
) -> Result<()> {
    let list = (num_events_in_wait_list, event_wait_list);
    // SAFETY: the same contract.
    unsafe {
        let Called { queue, semaphores, waits } = Called::new(command_queue, (num_sema_objects, sema_objects), list)?;
        let (work, events) = semaphore::arrival_work(semaphores);
        queue.enqueue_command(Command { kind: CL_COMMAND_SEMAPHORE_WAIT_KHR, waits, work, ..Command::default() });
        let completion = Completion { blocking: false, event };
        enqueue(&queue, CL_COMMAND_SEMAPHORE_WAIT_KHR, events, Work::Nothing, completion)
    }
}

/// `clEnqueueSignalSemaphoresKHR`: enqueues a command that signals semaphores.
#[entry_point(clEnqueueSignalSemaphoresKHR)]
pub unsafe fn enqueue_signal_semaphores(
    command_queue: cl_command_queue,
    num_sema_objects: cl_uint,
    sema_objects: *const cl_semaphore_khr,
    _sema_payload_list: *const cl_semaphore_payload_khr,
    num_events_in_wait_list: cl_uint,
    event_wait_list: *const cl_event,
    event: *mut cl_event,
) -> Result<()> {
    let list = (num_events_in_wait_list, event_wait_list);
    // SAFETY: the same contract.
    unsafe {
        let Called { queue, semaphores, waits } = Called::new(command_queue, (num_sema_objects, sema_objects), list)?;
        let completion = Completion { blocking: false, event };
        enqueue(&queue, CL_COMMAND_SEMAPHORE_SIGNAL_KHR, waits, semaphore::signal_work(semaphores), completion)?;
        // Another queue may be waited for that waits for this one, which nothing but the semaphore tells.
        queue.flush();
        Ok(())
    }
}

/// `clGetSemaphoreInfoKHR`: answers questions about a semaphore.
#[entry_point(clGetSemaphoreInfoKHR)]
pub unsafe fn get_semaphore_info(
    sema_object: cl_semaphore_khr,
    param_name: cl_semaphore_info_khr,
    param_value_size: usize,
    param_value: *mut c_void,
    param_value_size_ret: *mut usize,
) -> Result<()> {
    let semaphore = handle::get::<Semaphore>(sema_object)?;
    // SAFETY: the caller vouches for the pointers.
    let info = unsafe { Info::new(param_value_size, param_value, param_value_size_ret) };
    match param_name {
        CL_SEMAPHORE_CONTEXT_KHR => info.value(handle::of(semaphore.context())),
        CL_SEMAPHORE_REFERENCE_COUNT_KHR => info.value(handle::references(&semaphore)),
        CL_SEMAPHORE_PROPERTIES_KHR => info.slice(semaphore.properties()),
        CL_SEMAPHORE_PAYLOAD_KHR => info.value(semaphore.payload()),
        CL_SEMAPHORE_TYPE_KHR => info.value::<cl_semaphore_type_khr>(CL_SEMAPHORE_TYPE_BINARY_KHR),
        CL_SEMAPHORE_DEVICE_HANDLE_LIST_KHR => {
            info.slice(&semaphore.devices().iter().map(handle::of).collect::<Vec<_>>())
        }
        // "CL_INVALID_VALUE if param_name is not one of the attribute defined in the Semaphore Queries table".
        _ => info::unknown(param_name),
    }
}

/// `clGetSemaphoreHandleForTypeKHR`, of `cl_khr_external_semaphore`, which applications look up with the rest.
///
/// "CL_INVALID_VALUE if the requested external semaphore handle type was not specified when sema_object was created": none
/// can be.
#[entry_point(clGetSemaphoreHandleForTypeKHR)]
pub fn get_semaphore_handle_for_type(
    sema_object: cl_semaphore_khr,
    device: cl_device_id,
    handle_type: cl_external_semaphore_handle_type_khr,
    _handle_size: usize,
    _handle_ptr: *mut c_void,
    _handle_size_ret: *mut usize,
) -> Result<()> {
    let semaphore = handle::get::<Semaphore>(sema_object)?;
    // "CL_INVALID_DEVICE if device is not a valid device [or] if sema_object can not be shared with device."
    let device = handle::get::<Device>(device)?;
    let knows = semaphore.devices().iter().any(|known| Arc::ptr_eq(known, &device));
    ensure!(knows, CL_INVALID_DEVICE, "the semaphore was made for other devices");
    Err(error!(
        CL_INVALID_VALUE,
        "handle_type is {handle_type:#x}, and the semaphore was created for no type of handles"
    ))
}

/// `clRetainSemaphoreKHR`: takes one more reference to a semaphore.
#[entry_point(clRetainSemaphoreKHR)]
pub fn retain_semaphore(sema_object: cl_semaphore_khr) -> Result<()> {
    handle::retain::<Semaphore>(sema_object)
}

/// `clReleaseSemaphoreKHR`: gives a reference to a semaphore back.
#[entry_point(clReleaseSemaphoreKHR)]
pub fn release_semaphore(sema_object: cl_semaphore_khr) -> Result<()> {
    handle::release::<Semaphore>(sema_object)
}
