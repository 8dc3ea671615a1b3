//! `cl_intel_unified_shared_memory`: allocations of the host, of a device and of both. All are the host's memory, which
//! every device shares.

use std::ffi::c_void;
use std::sync::Arc;

use lockstep_icd_macros::entry_point;
use lockstep_runtime::command::Work;
use lockstep_runtime::context::Context;
use lockstep_runtime::device::Device;
use lockstep_runtime::queue::Queue;
use lockstep_runtime::svm::{self, Kind};
use lockstep_runtime::{Error, Result, ensure};
use opencl_sys::{
    CL_COMMAND_MEMADVISE_INTEL, CL_COMMAND_MEMCPY_INTEL, CL_COMMAND_MEMFILL_INTEL, CL_COMMAND_MIGRATEMEM_INTEL,
    CL_DEVICE_CROSS_DEVICE_SHARED_MEM_CAPABILITIES_INTEL, CL_DEVICE_DEVICE_MEM_CAPABILITIES_INTEL,
    CL_DEVICE_HOST_MEM_CAPABILITIES_INTEL, CL_DEVICE_SHARED_SYSTEM_MEM_CAPABILITIES_INTEL,
    CL_DEVICE_SINGLE_DEVICE_SHARED_MEM_CAPABILITIES_INTEL, CL_MEM_ALLOC_BASE_PTR_INTEL, CL_MEM_ALLOC_DEVICE_INTEL,
    CL_MEM_ALLOC_FLAGS_INTEL, CL_MEM_ALLOC_INITIAL_PLACEMENT_DEVICE_INTEL, CL_MEM_ALLOC_INITIAL_PLACEMENT_HOST_INTEL,
    CL_MEM_ALLOC_SIZE_INTEL, CL_MEM_ALLOC_TYPE_INTEL, CL_MEM_ALLOC_WRITE_COMBINED_INTEL, CL_MEM_TYPE_DEVICE_INTEL,
    CL_MEM_TYPE_HOST_INTEL, CL_MEM_TYPE_SHARED_INTEL, CL_MEM_TYPE_UNKNOWN_INTEL, CL_UNIFIED_SHARED_MEMORY_ACCESS_INTEL,
    CL_UNIFIED_SHARED_MEMORY_ATOMIC_ACCESS_INTEL, CL_UNIFIED_SHARED_MEMORY_CONCURRENT_ACCESS_INTEL,
    CL_UNIFIED_SHARED_MEMORY_CONCURRENT_ATOMIC_ACCESS_INTEL, cl_device_unified_shared_memory_capabilities_intel,
    cl_mem_advice_intel, cl_mem_alloc_flags_intel, cl_mem_info_intel, cl_mem_properties_intel,
    cl_unified_shared_memory_type_intel,
};
use opencl_sys::{
    CL_FALSE, CL_INVALID_DEVICE, CL_INVALID_PROPERTY, CL_INVALID_VALUE, CL_MEM_OBJECT_ALLOCATION_FAILURE,
    CL_OUT_OF_RESOURCES, cl_bool, cl_command_queue, cl_context, cl_device_id, cl_device_info, cl_event, cl_int,
    cl_kernel, cl_mem_migration_flags, cl_uint,
};

use crate::api::enqueue::Order;
use crate::api::svm::{check_alignment, set_kernel_arg_svm_pointer};
use crate::api::svm_transfer::{self, check_migration};
use crate::info::{self, Info};
use crate::{handle, property_list};

/// What a device may do with each kind of memory, that of `malloc` included.
const ALL: cl_device_unified_shared_memory_capabilities_intel = CL_UNIFIED_SHARED_MEMORY_ACCESS_INTEL
    | CL_UNIFIED_SHARED_MEMORY_ATOMIC_ACCESS_INTEL
    | CL_UNIFIED_SHARED_MEMORY_CONCURRENT_ACCESS_INTEL
    | CL_UNIFIED_SHARED_MEMORY_CONCURRENT_ATOMIC_ACCESS_INTEL;

/// The device's answers.
pub fn of_device(name: cl_device_info, info: Info) -> Option<Result<()>> {
    Some(match name {
        CL_DEVICE_HOST_MEM_CAPABILITIES_INTEL
        | CL_DEVICE_DEVICE_MEM_CAPABILITIES_INTEL
        | CL_DEVICE_SINGLE_DEVICE_SHARED_MEM_CAPABILITIES_INTEL
        | CL_DEVICE_CROSS_DEVICE_SHARED_MEM_CAPABILITIES_INTEL
        | CL_DEVICE_SHARED_SYSTEM_MEM_CAPABILITIES_INTEL => info.value(ALL),
        _ => return None,
    })
}

/// `CL_MEM_ALLOC_FLAGS_INTEL` of a property list.
///
/// "CL_INVALID_PROPERTY if a memory property name in properties is not a supported property name, if the value specified
/// for a supported property name is not valid, or if the same property name is specified more than once."
///
/// # Safety
/// `properties` is null or points to a list that ends in 0.
unsafe fn flags(properties: *const cl_mem_properties_intel, shared: bool) -> Result<cl_mem_alloc_flags_intel> {
    let mut flags = 0;
    let take = |name, value| {
        if name != CL_MEM_ALLOC_FLAGS_INTEL {
            return property_list::unknown(CL_INVALID_PROPERTY, name);
        }
        flags = value;
        check_flags(flags, shared)
    };
    // SAFETY: the same contract.
    unsafe { property_list::read(properties, CL_INVALID_PROPERTY, take)? };
    Ok(flags)
}

/// "CL_INVALID_PROPERTY if either the CL_MEM_ALLOC_INITIAL_PLACEMENT_DEVICE_INTEL or
/// CL_MEM_ALLOC_INITIAL_PLACEMENT_HOST_INTEL flags are specified"; of shared allocations, if both are.
fn check_flags(flags: cl_mem_alloc_flags_intel, shared: bool) -> Result<()> {
    const PLACEMENT: cl_mem_alloc_flags_intel =
        CL_MEM_ALLOC_INITIAL_PLACEMENT_DEVICE_INTEL | CL_MEM_ALLOC_INITIAL_PLACEMENT_HOST_INTEL;
    let allowed = CL_MEM_ALLOC_WRITE_COMBINED_INTEL | if shared { PLACEMENT } else { 0 };
    ensure!(
        flags & !allowed == 0,
        CL_INVALID_PROPERTY,
        "CL_MEM_ALLOC_FLAGS_INTEL is {flags:#x}; {allowed:#x} are allowed"
    );
    ensure!(
        flags & PLACEMENT != PLACEMENT,
        CL_INVALID_PROPERTY,
        "CL_MEM_ALLOC_FLAGS_INTEL {flags:#x} places the memory both on the host and on the device"
    );
    Ok(())
}

/// "CL_INVALID_DEVICE if device is not a valid device or is not associated with context."
fn device_in(context: &Context, device: cl_device_id) -> Result<Arc<Device>> {
    let device = handle::get::<Device>(device)?;
    ensure!(context.has_device(&device), CL_INVALID_DEVICE, "the device is none of the context's");
    Ok(device)
}

/// Allocates memory of a kind.
///
/// # Safety
/// `properties` is null or points to a list that ends in 0.
unsafe fn allocate(
    context: &Arc<Context>,
    kind: Kind,
    properties: *const cl_mem_properties_intel,
    size: usize,
    alignment: cl_uint,
) -> Result<*mut c_void> {
    // "CL_INVALID_VALUE if alignment is not zero or a power of two [or] is greater than the size of the largest data type".
    check_alignment(alignment)?;
    // SAFETY: the same contract.
    let flags = unsafe { flags(properties, matches!(kind, Kind::Shared(_)))? };
    // "CL_OUT_OF_RESOURCES if there is a failure to allocate resources required by the OpenCL implementation on the device":
    // the extension has no error for memory alone.
    let refused = |error: Error| match error.code() {
        CL_MEM_OBJECT_ALLOCATION_FAILURE => error.with_code(CL_OUT_OF_RESOURCES),
        _ => error,
    };
    svm::allocate_shared(context, kind, flags, size).map(<*mut u8>::cast).map_err(refused)
}

/// `clHostMemAllocINTEL`: allocates memory that belongs to the host.
#[entry_point(clHostMemAllocINTEL)]
pub unsafe fn host_mem_alloc(
    context: cl_context,
    properties: *const cl_mem_properties_intel,
    size: usize,
    alignment: cl_uint,
) -> Result<*mut c_void> {
    let context = handle::get::<Context>(context)?;
    // SAFETY: the same contract.
    unsafe { allocate(&context, Kind::Host, properties, size, alignment) }
}

/// `clDeviceMemAllocINTEL`: allocates memory that belongs to a device.
#[entry_point(clDeviceMemAllocINTEL)]
pub unsafe fn device_mem_alloc(
    context: cl_context,
    device: cl_device_id,
    properties: *const cl_mem_properties_intel,
    size: usize,
    alignment: cl_uint,
) -> Result<*mut c_void> {
    let context = handle::get::<Context>(context)?;
    let kind = Kind::Device(device_in(&context, device)?);
    // SAFETY: the same contract.
    unsafe { allocate(&context, kind, properties, size, alignment) }
}

/// `clSharedMemAllocINTEL`: "If device is NULL then the allocation is not associated with any device."
#[entry_point(clSharedMemAllocINTEL)]
pub unsafe fn shared_mem_alloc(
    context: cl_context,
    device: cl_device_id,
    properties: *const cl_mem_properties_intel,
    size: usize,
    alignment: cl_uint,
) -> Result<*mut c_void> {
    let context = handle::get::<Context>(context)?;
    let device = (!device.is_null()).then(|| device_in(&context, device)).transpose()?;
    // SAFETY: the same contract.
    unsafe { allocate(&context, Kind::Shared(device), properties, size, alignment) }
}

/// Frees an allocation of a context.
fn free(context: &Arc<Context>, address: *mut c_void) -> Result<()> {
    // "CL_INVALID_VALUE if ptr is not a value returned by clHostMemAllocINTEL, clDeviceMemAllocINTEL,
    // clSharedMemAllocINTEL, or a NULL pointer."
    let freed = address.is_null() || svm::free_allocation(context, address as usize, |found| !found.is_svm());
    ensure!(freed, CL_INVALID_VALUE, "ptr {address:p} is not where unified shared memory of the context begins");
    Ok(())
}

/// `clMemFreeINTEL`: frees what one of these functions allocated.
#[entry_point(clMemFreeINTEL)]
pub fn mem_free(context: cl_context, ptr: *mut c_void) -> Result<()> {
    free(&handle::get::<Context>(context)?, ptr)
}

/// `clMemBlockingFreeINTEL`: waits "for previously enqueued commands to finish that may be using ptr", which may be any of
/// the context's.
#[entry_point(clMemBlockingFreeINTEL)]
pub fn mem_blocking_free(context: cl_context, ptr: *mut c_void) -> Result<()> {
    let context = handle::get::<Context>(context)?;
    crate::fork::check()?;
    context.finish_queues();
    free(&context, ptr)
}

/// `clGetMemAllocInfoINTEL`: answers questions about the allocation that an address is in.
#[entry_point(clGetMemAllocInfoINTEL)]
pub unsafe fn get_mem_alloc_info(
    context: cl_context,
    ptr: *const c_void,
    param_name: cl_mem_info_intel,
    param_value_size: usize,
    param_value: *mut c_void,
    param_value_size_ret: *mut usize,
) -> Result<()> {
    let context = handle::get::<Context>(context)?;
    let found =
        svm::find_allocation(ptr as usize).filter(|found| Arc::ptr_eq(found.context(), &context) && !found.is_svm());
    let found = found.as_ref();
    let kind = found.map(|found| found.kind());
    // SAFETY: the caller vouches for the pointers.
    let info = unsafe { Info::new(param_value_size, param_value, param_value_size_ret) };
    match param_name {
        CL_MEM_ALLOC_TYPE_INTEL => info.value::<cl_unified_shared_memory_type_intel>(match kind {
            Some(Kind::Host) => CL_MEM_TYPE_HOST_INTEL,
            Some(Kind::Device(_)) => CL_MEM_TYPE_DEVICE_INTEL,
            Some(Kind::Shared(_)) => CL_MEM_TYPE_SHARED_INTEL,
            Some(Kind::Svm) | None => CL_MEM_TYPE_UNKNOWN_INTEL,
        }),
        CL_MEM_ALLOC_BASE_PTR_INTEL => info.value(found.map_or(std::ptr::null_mut(), |found| found.start())),
        CL_MEM_ALLOC_SIZE_INTEL => info.value::<usize>(found.map_or(0, |found| found.size())),
        CL_MEM_ALLOC_DEVICE_INTEL => info.value(match kind {
            Some(Kind::Device(device) | Kind::Shared(Some(device))) => handle::of(device),
            _ => std::ptr::null_mut(),
        }),
        // The name of a property as well, which has another type.
        _ if cl_mem_properties_intel::from(param_name) == CL_MEM_ALLOC_FLAGS_INTEL => {
            info.value::<cl_mem_alloc_flags_intel>(found.map_or(0, |found| found.flags()))
        }
        // "CL_INVALID_VALUE if param_name is not a valid Unified Shared Memory allocation query."
        _ => info::unknown(param_name),
    }
}

/// `clSetKernelArgMemPointerINTEL`: sets an argument of a kernel to an address.
#[entry_point(clSetKernelArgMemPointerINTEL)]
pub fn set_kernel_arg_mem_pointer(kernel: cl_kernel, arg_index: cl_uint, arg_value: *const c_void) -> Result<()> {
    set_kernel_arg_svm_pointer(kernel, arg_index, arg_value)
}

/// `clEnqueueMemFillINTEL`: fills memory at an address with a pattern.
#[entry_point(clEnqueueMemFillINTEL)]
pub unsafe fn enqueue_mem_fill(
    command_queue: cl_command_queue,
    dst_ptr: *mut c_void,
    pattern: *const c_void,
    pattern_size: usize,
    size: usize,
    num_events_in_wait_list: cl_uint,
    event_wait_list: *const cl_event,
    event: *mut cl_event,
) -> Result<()> {
    let order = Order { count: num_events_in_wait_list, list: event_wait_list, event };
    let queue = handle::get::<Queue>(command_queue)?;
    // SAFETY: the same contract.
    unsafe {
        let fill = svm_transfer::check_fill(CL_COMMAND_MEMFILL_INTEL, dst_ptr, pattern, pattern_size, size)?;
        order.enqueue_transfer(&queue, false, fill)
    }
}

/// `clEnqueueMemsetINTEL`, of the extension's first versions: fills with a byte.
#[entry_point(clEnqueueMemsetINTEL)]
pub unsafe fn enqueue_memset(
    command_queue: cl_command_queue,
    dst_ptr: *mut c_void,
    value: cl_int,
    size: usize,
    num_events_in_wait_list: cl_uint,
    event_wait_list: *const cl_event,
    event: *mut cl_event,
) -> Result<()> {
    let order = Order { count: num_events_in_wait_list, list: event_wait_list, event };
    let queue = handle::get::<Queue>(command_queue)?;
    let byte = value as u8;
    // SAFETY: the same contract.
    unsafe {
        let pattern = (&raw const byte).cast();
        let fill = svm_transfer::check_fill(CL_COMMAND_MEMFILL_INTEL, dst_ptr, pattern, 1, size)?;
        order.enqueue_transfer(&queue, false, fill)
    }
}

/// `clEnqueueMemcpyINTEL`: copies bytes between any two addresses.
#[entry_point(clEnqueueMemcpyINTEL)]
pub unsafe fn enqueue_memcpy(
    command_queue: cl_command_queue,
    blocking: cl_bool,
    dst_ptr: *mut c_void,
    src_ptr: *const c_void,
    size: usize,
    num_events_in_wait_list: cl_uint,
    event_wait_list: *const cl_event,
    event: *mut cl_event,
) -> Result<()> {
    let order = Order { count: num_events_in_wait_list, list: event_wait_list, event };
    let queue = handle::get::<Queue>(command_queue)?;
    // SAFETY: the same contract.
    unsafe {
        let copy = svm_transfer::check_copy(CL_COMMAND_MEMCPY_INTEL, dst_ptr, src_ptr, size)?;
        order.enqueue_transfer(&queue, blocking != CL_FALSE, copy)
    }
}

/// `clEnqueueMigrateMemINTEL`: "a hint that may improve performance".
#[entry_point(clEnqueueMigrateMemINTEL)]
pub unsafe fn enqueue_migrate_mem(
    command_queue: cl_command_queue,
    _ptr: *const c_void,
    _size: usize,
    flags: cl_mem_migration_flags,
    num_events_in_wait_list: cl_uint,
    event_wait_list: *const cl_event,
    event: *mut cl_event,
) -> Result<()> {
    let order = Order { count: num_events_in_wait_list, list: event_wait_list, event };

    let queue = handle::get::<Queue>(command_queue)?;
    check_migration(flags)?;
    // SAFETY: the caller vouches for the list and for `event`.
    unsafe { order.enqueue(&queue, CL_COMMAND_MIGRATEMEM_INTEL, false, Work::Nothing) }
}

/// `clEnqueueMemAdviseINTEL`: "a performance hint only". The extension defines no advice but 0; what later ones define "will
/// be ignored".
#[entry_point(clEnqueueMemAdviseINTEL)]
pub unsafe fn enqueue_mem_advise(
    command_queue: cl_command_queue,
    _ptr: *const c_void,
    _size: usize,
    _advice: cl_mem_advice_intel,
    num_events_in_wait_list: cl_uint,
    event_wait_list: *const cl_event,
    event: *mut cl_event,
) -> Result<()> {
    let order = Order { count: num_events_in_wait_list, list: event_wait_list, event };

    let queue = handle::get::<Queue>(command_queue)?;
    // SAFETY: the caller vouches for the list and for `event`.
    unsafe { order.enqueue(&queue, CL_COMMAND_MEMADVISE_INTEL, false, Work::Nothing) }
}
