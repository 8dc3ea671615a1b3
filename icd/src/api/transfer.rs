//! Reading, writing, copying, filling and mapping buffers (OpenCL API, 5.2.2 to 5.2.4).

use std::ffi::c_void;
use std::sync::Arc;

use lockstep_icd_macros::entry_point;
use lockstep_runtime::context::Context;
use lockstep_runtime::memory::Memory;
use lockstep_runtime::memory_layout::{Layout, ranges_overlap};
use lockstep_runtime::memory_transfer::{HostPointer, Place, Transfer};
use lockstep_runtime::queue::Queue;
use lockstep_runtime::{Error, Result, ensure};
use opencl_sys::{
    CL_COMMAND_COPY_BUFFER, CL_COMMAND_FILL_BUFFER, CL_COMMAND_MAP_BUFFER, CL_COMMAND_READ_BUFFER,
    CL_COMMAND_WRITE_BUFFER, CL_FALSE, CL_INVALID_OPERATION, CL_INVALID_VALUE, CL_MAP_READ, CL_MAP_WRITE,
    CL_MAP_WRITE_INVALIDATE_REGION, CL_MEM_COPY_OVERLAP, cl_bool, cl_command_queue, cl_event, cl_map_flags, cl_mem,
    cl_uint,
};

use crate::api::buffer::{buffer_in, check_bounds};
use crate::api::enqueue::{Completion, Order, enqueue, wait_list};
use crate::api::memory_object::hold_until_done;
use crate::handle;

/// The bytes of a buffer that the host reads or writes, checked, and where the host has them.
///
/// "CL_INVALID_VALUE if the region being read or written specified by offset and size is out of bounds [or] if ptr is
/// NULL."
///
/// # Safety
/// `ptr` is as the specification says.
unsafe fn check_host_region(
    context: &Arc<Context>,
    buffer: cl_mem,
    offset: usize,
    size: usize,
    ptr: *const c_void,
) -> Result<(Arc<Memory>, Place)> {
    let memory = buffer_in(context, buffer)?;
    check_bounds(&memory, "the buffer", offset, size)?;
    ensure!(!ptr.is_null(), CL_INVALID_VALUE, "ptr is NULL");
    // SAFETY: the caller vouches for the pointer.
    let host = unsafe { HostPointer::new(ptr.cast_mut().cast()) };
    Ok((memory, Place::in_host(host, Layout::of_bytes(0))))
}

/// `clEnqueueReadBuffer`: copies bytes of a buffer to the host.
#[entry_point(clEnqueueReadBuffer)]
pub unsafe fn enqueue_read_buffer(
    command_queue: cl_command_queue,
    buffer: cl_mem,
    blocking_read: cl_bool,
    offset: usize,
    size: usize,
    ptr: *mut c_void,
    num_events_in_wait_list: cl_uint,
    event_wait_list: *const cl_event,
    event: *mut cl_event,
) -> Result<()> {
    let order = Order { count: num_events_in_wait_list, list: event_wait_list, event };
    // SAFETY: the caller vouches for the pointers.
    unsafe {
        let queue = handle::get::<Queue>(command_queue)?;
        let (memory, host) = check_host_region(queue.context(), buffer, offset, size, ptr)?;
        // "CL_INVALID_OPERATION if clEnqueueReadBuffer is called on buffer which has been created with
        // CL_MEM_HOST_WRITE_ONLY or CL_MEM_HOST_NO_ACCESS".
        check_host_access(&memory, true, false)?;
        let from = Place::in_object(memory, Layout::of_bytes(offset));
        let read = Transfer::copy(CL_COMMAND_READ_BUFFER, from, host, [size, 1, 1]);
        order.enqueue_transfer(&queue, blocking_read != CL_FALSE, read)
    }
}

/// `clEnqueueWriteBuffer`: copies bytes from the host to a buffer.
#[entry_point(clEnqueueWriteBuffer)]
pub unsafe fn enqueue_write_buffer(
    command_queue: cl_command_queue,
    buffer: cl_mem,
    blocking_write: cl_bool,
    offset: usize,
    size: usize,
    ptr: *const c_void,
    num_events_in_wait_list: cl_uint,
    event_wait_list: *const cl_event,
    event: *mut cl_event,
) -> Result<()> {
    let order = Order { count: num_events_in_wait_list, list: event_wait_list, event };
    // SAFETY: the caller vouches for the pointers; the bytes at `ptr` are only read.
    unsafe {
        let queue = handle::get::<Queue>(command_queue)?;
        let (memory, host) = check_host_region(queue.context(), buffer, offset, size, ptr)?;
        // "CL_INVALID_OPERATION [...] if clEnqueueWriteBuffer is called on buffer which has been created with
        // CL_MEM_HOST_READ_ONLY or CL_MEM_HOST_NO_ACCESS".
        check_host_access(&memory, false, true)?;
        let to = Place::in_object(memory, Layout::of_bytes(offset));
        let write = Transfer::copy(CL_COMMAND_WRITE_BUFFER, host, to, [size, 1, 1]);
        order.enqueue_transfer(&queue, blocking_write != CL_FALSE, write)
    }
}

/// "CL_INVALID_OPERATION if" the host reads what "has been created with CL_MEM_HOST_WRITE_ONLY or CL_MEM_HOST_NO_ACCESS", or
/// writes what has been with CL_MEM_HOST_READ_ONLY or CL_MEM_HOST_NO_ACCESS.
pub fn check_host_access(memory: &Memory, reads: bool, writes: bool) -> Result<()> {
    let flags = memory.flags();
    let may_read = memory.host_may_read() || !reads;
    ensure!(may_read, CL_INVALID_OPERATION, "the host may not read an object with flags {flags:#x}");
    let may_write = memory.host_may_write() || !writes;
    ensure!(may_write, CL_INVALID_OPERATION, "the host may not write to an object with flags {flags:#x}");
    Ok(())
}

/// "CL_INVALID_OPERATION if" what a command writes to "is created with CL_MEM_IMMUTABLE_EXT flag."
pub fn check_mutable(memory: &Memory) -> Result<()> {
    ensure!(!memory.is_immutable(), CL_INVALID_OPERATION, "the object that is written to is immutable");
    Ok(())
}

/// "CL_INVALID_VALUE […] if pattern is NULL, if pattern_size is zero, is not a power of two [or] is greater than 128".
pub fn check_pattern(pattern: *const c_void, pattern_size: usize) -> Result<()> {
    ensure!(!pattern.is_null(), CL_INVALID_VALUE, "pattern is NULL");
    ensure!(
        pattern_size.is_power_of_two() && pattern_size <= 128,
        CL_INVALID_VALUE,
        "pattern_size is {pattern_size}; a power of two up to 128 is allowed"
    );
    Ok(())
}

/// An error of what a copy reads.
pub fn of_source(error: Error) -> Error {
    error.with_subject("source")
}

/// An error of what a copy writes to.
pub fn of_target(error: Error) -> Error {
    error.with_subject("destination")
}

/// A copy between buffers, checked.
pub fn check_copy_buffer(
    context: &Arc<Context>,
    src_buffer: cl_mem,
    dst_buffer: cl_mem,
    src_offset: usize,
    dst_offset: usize,
    size: usize,
) -> Result<Transfer> {
    let source = buffer_in(context, src_buffer).map_err(of_source)?;
    let target = buffer_in(context, dst_buffer).map_err(of_target)?;
    check_mutable(&target).map_err(of_target)?;
    // "CL_INVALID_VALUE if the region specified by src_offset and size is out of bounds of src_buffer", and likewise for
    // the other.
    check_bounds(&source, "src_buffer", src_offset, size)?;
    check_bounds(&target, "dst_buffer", dst_offset, size)?;
    // "CL_MEM_COPY_OVERLAP if src_buffer and dst_buffer are the same buffer or sub-buffer object and the source and
    // destination regions overlap [or] are different sub-buffers of the same associated buffer object and they overlap."
    if let Some((source_origin, target_origin)) = source.shared_offsets(&target) {
        let (from, to) = (source_origin + src_offset, target_origin + dst_offset);
        ensure!(
            !ranges_overlap(&(from..from + size), &(to..to + size)),
            CL_MEM_COPY_OVERLAP,
            "{size} bytes from {from} and from {to} on in one buffer overlap"
        );
    }
    let from = Place::in_object(source, Layout::of_bytes(src_offset));
    let to = Place::in_object(target, Layout::of_bytes(dst_offset));
    Ok(Transfer::copy(CL_COMMAND_COPY_BUFFER, from, to, [size, 1, 1]))
}

/// `clEnqueueCopyBuffer`: copies bytes between two buffers.
#[entry_point(clEnqueueCopyBuffer)]
pub unsafe fn enqueue_copy_buffer(
    command_queue: cl_command_queue,
    src_buffer: cl_mem,
    dst_buffer: cl_mem,
    src_offset: usize,
    dst_offset: usize,
    size: usize,
    num_events_in_wait_list: cl_uint,
    event_wait_list: *const cl_event,
    event: *mut cl_event,
) -> Result<()> {
    let order = Order { count: num_events_in_wait_list, list: event_wait_list, event };
    let queue = handle::get::<Queue>(command_queue)?;
    let copy = check_copy_buffer(queue.context(), src_buffer, dst_buffer, src_offset, dst_offset, size)?;
    // SAFETY: the caller vouches for the list and for `event`.
    unsafe { order.enqueue_transfer(&queue, false, copy) }
}

/// Filling a buffer with a pattern, checked.
///
/// # Safety
/// `pattern` is null or points to `pattern_size` bytes.
pub unsafe fn check_fill_buffer(
    context: &Arc<Context>,
    buffer: cl_mem,
    pattern: *const c_void,
    pattern_size: usize,
    offset: usize,
    size: usize,
) -> Result<Transfer> {
    let memory = buffer_in(context, buffer)?;
    check_mutable(&memory)?;
    // "CL_INVALID_VALUE if the region being filled specified by offset and size is out of bounds, if pattern is NULL,
    // if pattern_size is zero, is not a power of two [or] is greater than 128, if offset is not a multiple of
    // pattern_size [or] if size is not a multiple of pattern_size."
    check_bounds(&memory, "the buffer", offset, size)?;
    check_pattern(pattern, pattern_size)?;
    ensure!(
        offset.is_multiple_of(pattern_size) && size.is_multiple_of(pattern_size),
        CL_INVALID_VALUE,
        "offset {offset} and size {size} are not multiples of the pattern's {pattern_size} bytes"
    );
    // SAFETY: not null, so the caller vouches for the bytes.
    let pattern = unsafe { std::slice::from_raw_parts(pattern.cast::<u8>(), pattern_size) };
    let to = Place::in_object(memory, Layout::of_bytes(offset));
    Ok(Transfer::fill(CL_COMMAND_FILL_BUFFER, to, [size, 1, 1], pattern))
}

/// `clEnqueueFillBuffer`: fills bytes of a buffer with a pattern.
#[entry_point(clEnqueueFillBuffer)]
pub unsafe fn enqueue_fill_buffer(
    command_queue: cl_command_queue,
    buffer: cl_mem,
    pattern: *const c_void,
    pattern_size: usize,
    offset: usize,
    size: usize,
    num_events_in_wait_list: cl_uint,
    event_wait_list: *const cl_event,
    event: *mut cl_event,
) -> Result<()> {
    let order = Order { count: num_events_in_wait_list, list: event_wait_list, event };
    let queue = handle::get::<Queue>(command_queue)?;
    // SAFETY: the caller vouches for the pointers.
    unsafe {
        let fill = check_fill_buffer(queue.context(), buffer, pattern, pattern_size, offset, size)?;
        order.enqueue_transfer(&queue, false, fill)
    }
}

/// `clEnqueueMapBuffer`: maps bytes of a buffer.
#[entry_point(clEnqueueMapBuffer)]
pub unsafe fn enqueue_map_buffer(
    command_queue: cl_command_queue,
    buffer: cl_mem,
    blocking_map: cl_bool,
    map_flags: cl_map_flags,
    offset: usize,
    size: usize,
    num_events_in_wait_list: cl_uint,
    event_wait_list: *const cl_event,
    event: *mut cl_event,
) -> Result<*mut c_void> {
    let queue = handle::get::<Queue>(command_queue)?;
    let memory = buffer_in(queue.context(), buffer)?;
    // "CL_INVALID_VALUE if the region being mapped specified by offset and size is out of bounds, if size is zero
    // [or] if values specified in map_flags are not valid."
    ensure!(size > 0, CL_INVALID_VALUE, "size is 0");
    check_bounds(&memory, "the buffer", offset, size)?;
    check_map_flags(map_flags)?;
    // SAFETY: the caller vouches for the list.
    let waits = unsafe { wait_list(queue.context(), num_events_in_wait_list, event_wait_list)? };
    // "CL_INVALID_OPERATION if buffer was created with CL_MEM_HOST_WRITE_ONLY or CL_MEM_HOST_NO_ACCESS and
    // CL_MAP_READ is set in map_flags [or] with CL_MEM_HOST_READ_ONLY or CL_MEM_HOST_NO_ACCESS and CL_MAP_WRITE or
    // CL_MAP_WRITE_INVALIDATE_REGION is set".
    check_host_access(&memory, map_flags & CL_MAP_READ != 0, map_flags & !CL_MAP_READ != 0)?;
    let pointer = memory.map_region(map_flags, offset, size)?;
    let work = hold_until_done(vec![memory.clone()]);
    let completion = Completion { blocking: blocking_map != CL_FALSE, event };
    // SAFETY: the caller vouches for `event`.
    let enqueued = unsafe { enqueue(&queue, CL_COMMAND_MAP_BUFFER, waits, work, completion) };
    enqueued.or_else(|error| {
        memory.unmap_pointer(pointer)?;
        Err(error)
    })?;
    Ok(pointer.cast())
}

/// "CL_MAP_READ or CL_MAP_WRITE and CL_MAP_WRITE_INVALIDATE_REGION are mutually exclusive."
pub fn check_map_flags(flags: cl_map_flags) -> Result<()> {
    const EITHER: cl_map_flags = CL_MAP_READ | CL_MAP_WRITE;
    let unknown = flags & !(EITHER | CL_MAP_WRITE_INVALIDATE_REGION);
    ensure!(unknown == 0, CL_INVALID_VALUE, "map_flags are {flags:#x}, of which {unknown:#x} are unknown");
    ensure!(
        flags & CL_MAP_WRITE_INVALIDATE_REGION == 0 || flags & EITHER == 0,
        CL_INVALID_VALUE,
        "map_flags {flags:#x} have CL_MAP_WRITE_INVALIDATE_REGION with CL_MAP_READ or CL_MAP_WRITE"
    );
    Ok(())
}
