//! Commands on shared virtual memory (OpenCL API, 5.6), and on unified shared memory (`cl_intel_unified_shared_memory`),
//! which differ in what kind of command their events say they are.

use std::ffi::c_void;
use std::sync::Arc;

use lockstep_icd_macros::entry_point;
use lockstep_runtime::command::Work;
use lockstep_runtime::memory_layout::{Layout, ranges_overlap};
use lockstep_runtime::memory_transfer::{HostPointer, Place, Transfer};
use lockstep_runtime::queue::Queue;
use lockstep_runtime::svm::{self, Shared};
use lockstep_runtime::{Result, ensure};
use opencl_sys::{
    CL_COMMAND_SVM_FREE, CL_COMMAND_SVM_MAP, CL_COMMAND_SVM_MEMCPY, CL_COMMAND_SVM_MEMFILL, CL_COMMAND_SVM_MIGRATE_MEM,
    CL_COMMAND_SVM_UNMAP, CL_FALSE, CL_INVALID_VALUE, CL_MEM_COPY_OVERLAP, CL_MIGRATE_MEM_OBJECT_CONTENT_UNDEFINED,
    CL_MIGRATE_MEM_OBJECT_HOST, cl_bool, cl_command_queue, cl_command_type, cl_event, cl_map_flags,
    cl_mem_migration_flags, cl_uint,
};

use crate::api::enqueue::Order;
use crate::api::transfer::{check_map_flags, check_pattern};
use crate::handle;
use crate::user::UserData;

/// The function of `clEnqueueSVMFree`.
type FreeFunction = unsafe extern "C" fn(cl_command_queue, cl_uint, *mut *mut c_void, *mut c_void);

/// `clEnqueueSVMFree`: enqueues that shared memory is freed.
#[entry_point(clEnqueueSVMFree)]
pub unsafe fn enqueue_svm_free(
    command_queue: cl_command_queue,
    num_svm_pointers: cl_uint,
    svm_pointers: *mut *mut c_void,
    pfn_free_func: Option<FreeFunction>,
    user_data: *mut c_void,
    num_events_in_wait_list: cl_uint,
    event_wait_list: *const cl_event,
    event: *mut cl_event,
) -> Result<()> {
    let order = Order { count: num_events_in_wait_list, list: event_wait_list, event };
    // SAFETY: the caller vouches for the pointers.
    unsafe {
        let queue = handle::get::<Queue>(command_queue)?;
        // "CL_INVALID_VALUE if num_svm_pointers is 0 and svm_pointers is non-NULL, or if svm_pointers is NULL and
        // num_svm_pointers is not 0."
        handle::check_list(num_svm_pointers, "pointer", svm_pointers, CL_INVALID_VALUE)?;
        let mut pointers: Vec<UserData> =
            (0..num_svm_pointers as usize).map(|i| UserData(svm_pointers.add(i).read())).collect();
        let context = queue.context().clone();
        let (command_queue, user_data) = (UserData(command_queue), UserData(user_data));
        let work = Work::once(move || {
            if let Some(free) = pfn_free_func {
                let list: *mut UserData = pointers.as_mut_ptr();
                // The application's function gets the list as the copy that it may change.
                free(command_queue.get(), num_svm_pointers, list.cast(), user_data.get());
            } else {
                for pointer in &pointers {
                    svm::free_allocation(&context, pointer.get() as usize, Shared::is_svm);
                }
            }
            Ok(())
        });
        order.enqueue(&queue, CL_COMMAND_SVM_FREE, false, work)
    }
}

/// A copy between two addresses, checked.
///
/// # Safety
/// The pointers are as the specification says.
pub unsafe fn check_copy(kind: cl_command_type, to: *mut c_void, from: *const c_void, size: usize) -> Result<Transfer> {
    // "CL_INVALID_VALUE if dst_ptr is NULL [or] src_ptr is NULL".
    ensure!(!to.is_null(), CL_INVALID_VALUE, "dst_ptr is NULL");
    ensure!(!from.is_null(), CL_INVALID_VALUE, "src_ptr is NULL");
    // "CL_MEM_COPY_OVERLAP if the values specified for dst_ptr, src_ptr and size result in an overlapping copy".
    let bytes = |start: usize| start..start.saturating_add(size);
    ensure!(
        !ranges_overlap(&bytes(to as usize), &bytes(from as usize)),
        CL_MEM_COPY_OVERLAP,
        "{size} bytes at src_ptr {from:p} and at dst_ptr {to:p} overlap"
    );
    // SAFETY: the caller vouches for the pointers; what is at `from` is only read.
    let (from, to) = unsafe { (HostPointer::new(from.cast_mut().cast()), HostPointer::new(to.cast())) };
    let row = Layout::of_bytes(0);
    Ok(Transfer::copy(kind, Place::in_host(from, row), Place::in_host(to, row), [size, 1, 1]))
}

/// `clEnqueueSVMMemcpy`: copies bytes between any two addresses.
#[entry_point(clEnqueueSVMMemcpy)]
pub unsafe fn enqueue_svm_memcpy(
    command_queue: cl_command_queue,
    blocking_copy: cl_bool,
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
        let copy = check_copy(CL_COMMAND_SVM_MEMCPY, dst_ptr, src_ptr, size)?;
        order.enqueue_transfer(&queue, blocking_copy != CL_FALSE, copy)
    }
}

/// Filling memory with a pattern, checked.
///
/// # Safety
/// The pointers are as the specification says.
pub unsafe fn check_fill(
    kind: cl_command_type,
    to: *mut c_void,
    pattern: *const c_void,
    pattern_size: usize,
    size: usize,
) -> Result<Transfer> {
    // "CL_INVALID_VALUE if svm_ptr is NULL, if svm_ptr is not aligned to pattern_size bytes, if pattern is NULL, if
    // pattern_size is zero, is not a power of two [or] is greater than 128, if size is not a multiple of pattern_size".
    ensure!(!to.is_null(), CL_INVALID_VALUE, "the pointer to fill from on is NULL");
    check_pattern(pattern, pattern_size)?;
    ensure!(
        (to as usize).is_multiple_of(pattern_size) && size.is_multiple_of(pattern_size),
        CL_INVALID_VALUE,
        "{size} bytes from {to:p} on are not multiples of the pattern's {pattern_size}"
    );
    // SAFETY: the caller vouches for the pointers.
    let (to, pattern) =
        unsafe { (HostPointer::new(to.cast()), std::slice::from_raw_parts(pattern.cast::<u8>(), pattern_size)) };
    Ok(Transfer::fill(kind, Place::in_host(to, Layout::of_bytes(0)), [size, 1, 1], pattern))
}

/// `clEnqueueSVMMemFill`: fills shared memory with a pattern.
#[entry_point(clEnqueueSVMMemFill)]
pub unsafe fn enqueue_svm_mem_fill(
    command_queue: cl_command_queue,
    svm_ptr: *mut c_void,
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
        let fill = check_fill(CL_COMMAND_SVM_MEMFILL, svm_ptr, pattern, pattern_size, size)?;
        order.enqueue_transfer(&queue, false, fill)
    }
}

/// `clEnqueueSVMMap`: the host sees the memory at all times, so the command only has its place in the order.
#[entry_point(clEnqueueSVMMap)]
pub unsafe fn enqueue_svm_map(
    command_queue: cl_command_queue,
    blocking_map: cl_bool,
    flags: cl_map_flags,
    svm_ptr: *mut c_void,
    size: usize,
    num_events_in_wait_list: cl_uint,
    event_wait_list: *const cl_event,
    event: *mut cl_event,
) -> Result<()> {
    let order = Order { count: num_events_in_wait_list, list: event_wait_list, event };

    let queue = handle::get::<Queue>(command_queue)?;
    // "CL_INVALID_VALUE if svm_ptr is NULL, if size is zero [or] if values specified in map_flags are not valid".
    ensure!(!svm_ptr.is_null(), CL_INVALID_VALUE, "svm_ptr is NULL");
    ensure!(size > 0, CL_INVALID_VALUE, "size is 0");
    check_map_flags(flags)?;
    // SAFETY: the caller vouches for the list and for `event`.
    unsafe { order.enqueue(&queue, CL_COMMAND_SVM_MAP, blocking_map != CL_FALSE, Work::Nothing) }
}

/// `clEnqueueSVMUnmap`: ends a mapping of shared memory.
#[entry_point(clEnqueueSVMUnmap)]
pub unsafe fn enqueue_svm_unmap(
    command_queue: cl_command_queue,
    svm_ptr: *mut c_void,
    num_events_in_wait_list: cl_uint,
    event_wait_list: *const cl_event,
    event: *mut cl_event,
) -> Result<()> {
    let order = Order { count: num_events_in_wait_list, list: event_wait_list, event };

    let queue = handle::get::<Queue>(command_queue)?;
    // "CL_INVALID_VALUE if svm_ptr is NULL".
    ensure!(!svm_ptr.is_null(), CL_INVALID_VALUE, "svm_ptr is NULL");
    // SAFETY: the caller vouches for the list and for `event`.
    unsafe { order.enqueue(&queue, CL_COMMAND_SVM_UNMAP, false, Work::Nothing) }
}

/// "[…] if flags is not zero and is not a valid combination of the values described in the Memory migration Flags table".
pub fn check_migration(flags: cl_mem_migration_flags) -> Result<()> {
    const KNOWN: cl_mem_migration_flags = CL_MIGRATE_MEM_OBJECT_HOST | CL_MIGRATE_MEM_OBJECT_CONTENT_UNDEFINED;
    let unknown = flags & !KNOWN;
    ensure!(unknown == 0, CL_INVALID_VALUE, "flags are {flags:#x}, of which {unknown:#x} are unknown");
    Ok(())
}

/// `clEnqueueSVMMigrateMem`: all devices have the memory where it is.
#[entry_point(clEnqueueSVMMigrateMem)]
pub unsafe fn enqueue_svm_migrate_mem(
    command_queue: cl_command_queue,
    num_svm_pointers: cl_uint,
    svm_pointers: *mut *const c_void,
    sizes: *const usize,
    flags: cl_mem_migration_flags,
    num_events_in_wait_list: cl_uint,
    event_wait_list: *const cl_event,
    event: *mut cl_event,
) -> Result<()> {
    let order = Order { count: num_events_in_wait_list, list: event_wait_list, event };
    // SAFETY: the caller vouches for the pointers.
    unsafe {
        let queue = handle::get::<Queue>(command_queue)?;
        // "CL_INVALID_VALUE if num_svm_pointers is zero [or] if svm_pointers is NULL".
        ensure!(num_svm_pointers > 0, CL_INVALID_VALUE, "num_svm_pointers is 0");
        handle::check_list(num_svm_pointers, "pointer", svm_pointers, CL_INVALID_VALUE)?;
        check_migration(flags)?;
        for i in 0..num_svm_pointers as usize {
            let address = svm_pointers.add(i).read() as usize;
            let size = if sizes.is_null() { 0 } else { sizes.add(i).read() };
            // "CL_INVALID_VALUE […] if sizes[i] is non-zero and the memory range described by svm_pointers[i] and sizes[i]
            // is not contained within an SVM allocation returned by clSVMAlloc".
            let found = svm::find_allocation(address).filter(|found| Arc::ptr_eq(found.context(), queue.context()));
            ensure!(
                found.is_some_and(|found| found.is_svm() && found.contains_range(address, size)),
                CL_INVALID_VALUE,
                "{size} bytes at svm_pointers[{i}] {address:#x} are not shared virtual memory of the context"
            );
        }
        order.enqueue(&queue, CL_COMMAND_SVM_MIGRATE_MEM, false, Work::Nothing)
    }
}
