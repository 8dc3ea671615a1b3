//! The rectangular forms of reading, writing and copying buffers (OpenCL API, 5.2.2).

use std::ffi::c_void;
use std::sync::Arc;

use lockstep_icd_macros::entry_point;
use lockstep_runtime::context::Context;
use lockstep_runtime::memory::Memory;
use lockstep_runtime::memory_layout::{Layout, Region};
use lockstep_runtime::memory_transfer::{HostPointer, Place, Transfer};
use lockstep_runtime::queue::Queue;
use lockstep_runtime::{Result, ensure, error};
use opencl_sys::{
    CL_COMMAND_COPY_BUFFER_RECT, CL_COMMAND_READ_BUFFER_RECT, CL_COMMAND_WRITE_BUFFER_RECT, CL_FALSE, CL_INVALID_VALUE,
    CL_MEM_COPY_OVERLAP, cl_bool, cl_command_queue, cl_event, cl_mem, cl_uint,
};

use crate::api::buffer::buffer_in;
use crate::api::enqueue::Order;
use crate::api::transfer::{check_host_access, check_mutable, of_source, of_target};
use crate::handle;

/// Three numbers of the application, with the name of the parameter; "CL_INVALID_VALUE if buffer_origin, host_origin, or region is NULL."
///
/// # Safety
/// `values` is null or points to three elements.
pub unsafe fn read_three(name: &str, values: *const usize) -> Result<[usize; 3]> {
    ensure!(!values.is_null(), CL_INVALID_VALUE, "{name} is NULL");
    // SAFETY: not null, so the caller vouches for three elements.
    Ok(unsafe { values.cast::<[usize; 3]>().read_unaligned() })
}

/// "CL_INVALID_VALUE [...] if any region array element is zero."
///
/// # Safety
/// As for [`read_three`].
unsafe fn region_of(values: *const usize) -> Result<Region> {
    // SAFETY: the same contract.
    let region = unsafe { read_three("region", values)? };
    ensure!(!region.contains(&0), CL_INVALID_VALUE, "region {region:?} has a dimension of 0");
    Ok(region)
}

/// Where a box lies: the given pitches, or for 0 the tightest.
///
/// "CL_INVALID_VALUE [...] if buffer_row_pitch is not equal to zero and is less than region[0], if buffer_slice_pitch is
/// not equal to zero and is less than region[1] times buffer_row_pitch [or] is not a multiple of buffer_row_pitch."
fn box_layout(origin: [usize; 3], region: Region, row_pitch: usize, slice_pitch: usize) -> Result<Layout> {
    let too_large = || {
        let pitches = [row_pitch, slice_pitch];
        error!(CL_INVALID_VALUE, "region {region:?} at {origin:?} with pitches {pitches:?} is larger than any memory")
    };
    let given = slice_pitch;
    let row_pitch = if row_pitch == 0 { region[0] } else { row_pitch };
    let width = region[0];
    ensure!(row_pitch >= width, CL_INVALID_VALUE, "a row pitch of {row_pitch} bytes; rows of the region have {width}");
    let rows = region[1].checked_mul(row_pitch).ok_or_else(too_large)?;
    let slice_pitch = if slice_pitch == 0 { rows } else { slice_pitch };
    ensure!(slice_pitch >= rows, CL_INVALID_VALUE, "a slice pitch of {given} bytes; slices of the region have {rows}");
    ensure!(
        slice_pitch.is_multiple_of(row_pitch),
        CL_INVALID_VALUE,
        "a slice pitch of {given} bytes; multiples of the row pitch, {row_pitch}, are allowed"
    );
    // "The offset in bytes is computed as origin[2] * slice_pitch + origin[1] * row_pitch + origin[0]."
    let slices = origin[2].checked_mul(slice_pitch).ok_or_else(too_large)?;
    let rows = origin[1].checked_mul(row_pitch).ok_or_else(too_large)?;
    let offset = slices.checked_add(rows).and_then(|n| n.checked_add(origin[0])).ok_or_else(too_large)?;
    let layout = Layout { offset, row_pitch, slice_pitch };
    // What cannot be numbered is out of every bounds.
    layout.byte_span(region).ok_or_else(too_large)?;
    Ok(layout)
}

/// "CL_INVALID_VALUE [...] if the region [...] is out of bounds."
fn check_within(memory: &Memory, layout: Layout, region: Region) -> Result<()> {
    let Layout { offset, row_pitch, slice_pitch } = layout;
    ensure!(
        layout.byte_span(region).is_some_and(|span| span.end <= memory.size()),
        CL_INVALID_VALUE,
        "region {region:?} from byte {offset} on with pitches of {row_pitch} and {slice_pitch} bytes is outside of the \
         buffer, which has {}",
        memory.size()
    );
    Ok(())
}

/// What `clEnqueueReadBufferRect` and `clEnqueueWriteBufferRect` have in common.
struct HostRect {
    buffer: cl_mem,
    buffer_origin: *const usize,
    host_origin: *const usize,
    region: *const usize,
    buffer_pitches: [usize; 2],
    host_pitches: [usize; 2],
    ptr: *mut c_void,
}

impl HostRect {
    /// The command, checked.
    ///
    /// # Safety
    /// The pointers are as the specification says.
    unsafe fn check(self, context: &Arc<Context>, writes: bool) -> Result<Transfer> {
        // SAFETY: the caller vouches for the pointers.
        unsafe {
            let memory = buffer_in(context, self.buffer)?;
            let region = region_of(self.region)?;
            let [row, slice] = self.buffer_pitches;
            let inside = box_layout(read_three("buffer_origin", self.buffer_origin)?, region, row, slice)
                .map_err(|e| e.with_subject("buffer"))?;
            check_within(&memory, inside, region)?;
            let [row, slice] = self.host_pitches;
            let outside = box_layout(read_three("host_origin", self.host_origin)?, region, row, slice)
                .map_err(|e| e.with_subject("host"))?;
            // "CL_INVALID_VALUE [...] if ptr is NULL."
            ensure!(!self.ptr.is_null(), CL_INVALID_VALUE, "ptr is NULL");
            // "CL_INVALID_OPERATION if clEnqueueReadBufferRect is called on buffer which has been created with
            // CL_MEM_HOST_WRITE_ONLY or CL_MEM_HOST_NO_ACCESS", and likewise for writing.
            check_host_access(&memory, !writes, writes)?;
            let host = Place::in_host(HostPointer::new(self.ptr.cast()), outside);
            let buffer = Place::in_object(memory, inside);
            Ok(if writes {
                Transfer::copy(CL_COMMAND_WRITE_BUFFER_RECT, host, buffer, region)
            } else {
                Transfer::copy(CL_COMMAND_READ_BUFFER_RECT, buffer, host, region)
            })
        }
    }
}

/// `clEnqueueReadBufferRect`: copies a box of a buffer to a box on the host.
#[entry_point(clEnqueueReadBufferRect)]
pub unsafe fn enqueue_read_buffer_rect(
    command_queue: cl_command_queue,
    buffer: cl_mem,
    blocking_read: cl_bool,
    buffer_origin: *const usize,
    host_origin: *const usize,
    region: *const usize,
    buffer_row_pitch: usize,
    buffer_slice_pitch: usize,
    host_row_pitch: usize,
    host_slice_pitch: usize,
    ptr: *mut c_void,
    num_events_in_wait_list: cl_uint,
    event_wait_list: *const cl_event,
    event: *mut cl_event,
) -> Result<()> {
    let order = Order { count: num_events_in_wait_list, list: event_wait_list, event };
    let rect = HostRect {
        buffer,
        buffer_origin,
        host_origin,
        region,
        buffer_pitches: [buffer_row_pitch, buffer_slice_pitch],
        host_pitches: [host_row_pitch, host_slice_pitch],
        ptr,
    };
    // SAFETY: the same contract.
    unsafe {
        let queue = handle::get::<Queue>(command_queue)?;
        let read = rect.check(queue.context(), false)?;
        order.enqueue_transfer(&queue, blocking_read != CL_FALSE, read)
    }
}

/// `clEnqueueWriteBufferRect`: copies a box on the host to a box of a buffer.
#[entry_point(clEnqueueWriteBufferRect)]
pub unsafe fn enqueue_write_buffer_rect(
    command_queue: cl_command_queue,
    buffer: cl_mem,
    blocking_write: cl_bool,
    buffer_origin: *const usize,
    host_origin: *const usize,
    region: *const usize,
    buffer_row_pitch: usize,
    buffer_slice_pitch: usize,
    host_row_pitch: usize,
    host_slice_pitch: usize,
    ptr: *const c_void,
    num_events_in_wait_list: cl_uint,
    event_wait_list: *const cl_event,
    event: *mut cl_event,
) -> Result<()> {
    let order = Order { count: num_events_in_wait_list, list: event_wait_list, event };
    let rect = HostRect {
        buffer,
        buffer_origin,
        host_origin,
        region,
        buffer_pitches: [buffer_row_pitch, buffer_slice_pitch],
        host_pitches: [host_row_pitch, host_slice_pitch],
        ptr: ptr.cast_mut(),
    };
    // SAFETY: the same contract; the bytes at `ptr` are only read.
    unsafe {
        let queue = handle::get::<Queue>(command_queue)?;
        let write = rect.check(queue.context(), true)?;
        order.enqueue_transfer(&queue, blocking_write != CL_FALSE, write)
    }
}

/// The parameters that `clEnqueueCopyBufferRect` and `clCommandCopyBufferRectKHR` have in common.
pub struct RectCopy {
    /// `src_buffer`, which is read.
    pub src_buffer: cl_mem,
    /// `dst_buffer`, which is written.
    pub dst_buffer: cl_mem,
    /// `src_origin`: where the box begins in the source.
    pub src_origin: *const usize,
    /// `dst_origin`: where it begins in the destination.
    pub dst_origin: *const usize,
    /// `region`: its size in bytes, rows and slices.
    pub region: *const usize,
    /// `src_row_pitch` and `src_slice_pitch`, in bytes.
    pub src_pitches: [usize; 2],
    /// `dst_row_pitch` and `dst_slice_pitch`, in bytes.
    pub dst_pitches: [usize; 2],
}

impl RectCopy {
    /// The command, checked.
    ///
    /// # Safety
    /// The pointers are as the specification says.
    pub unsafe fn check(self, context: &Arc<Context>) -> Result<Transfer> {
        let source = buffer_in(context, self.src_buffer).map_err(of_source)?;
        let target = buffer_in(context, self.dst_buffer).map_err(of_target)?;
        // SAFETY: the caller vouches for the pointers.
        let (region, src_origin, dst_origin) = unsafe {
            (
                region_of(self.region)?,
                read_three("src_origin", self.src_origin)?,
                read_three("dst_origin", self.dst_origin)?,
            )
        };
        check_mutable(&target).map_err(of_target)?;
        let [row, slice] = self.src_pitches;
        let from = box_layout(src_origin, region, row, slice).map_err(of_source)?;
        let [row, slice] = self.dst_pitches;
        let to = box_layout(dst_origin, region, row, slice).map_err(of_target)?;
        check_within(&source, from, region).map_err(of_source)?;
        check_within(&target, to, region).map_err(of_target)?;
        // "CL_INVALID_VALUE [...] if src_buffer and dst_buffer are the same buffer object and src_row_pitch is not equal
        // to dst_row_pitch [or] src_slice_pitch is not equal to dst_slice_pitch."
        let same_pitches = from.row_pitch == to.row_pitch && from.slice_pitch == to.slice_pitch;
        ensure!(
            !Arc::ptr_eq(&source, &target) || same_pitches,
            CL_INVALID_VALUE,
            "src_buffer and dst_buffer are one buffer, and their pitches differ"
        );
        // "CL_MEM_COPY_OVERLAP if src_buffer and dst_buffer are the same buffer or sub-buffer object and the source and
        // destination regions overlap [or] are different sub-buffers of the same associated buffer object and they
        // overlap."
        let overlap = source.box_overlaps((from, region), &target, (to, region));
        ensure!(!overlap, CL_MEM_COPY_OVERLAP, "the two regions are in one buffer, and overlap");
        let (from, to) = (Place::in_object(source, from), Place::in_object(target, to));
        Ok(Transfer::copy(CL_COMMAND_COPY_BUFFER_RECT, from, to, region))
    }
}

/// `clEnqueueCopyBufferRect`: copies a box of a buffer to a box of another one.
#[entry_point(clEnqueueCopyBufferRect)]
pub unsafe fn enqueue_copy_buffer_rect(
    command_queue: cl_command_queue,
    src_buffer: cl_mem,
    dst_buffer: cl_mem,
    src_origin: *const usize,
    dst_origin: *const usize,
    region: *const usize,
    src_row_pitch: usize,
    src_slice_pitch: usize,
    dst_row_pitch: usize,
    dst_slice_pitch: usize,
    num_events_in_wait_list: cl_uint,
    event_wait_list: *const cl_event,
    event: *mut cl_event,
) -> Result<()> {
    let order = Order { count: num_events_in_wait_list, list: event_wait_list, event };
    let queue = handle::get::<Queue>(command_queue)?;
    let (src_pitches, dst_pitches) = ([src_row_pitch, src_slice_pitch], [dst_row_pitch, dst_slice_pitch]);
    let copy = RectCopy { src_buffer, dst_buffer, src_origin, dst_origin, region, src_pitches, dst_pitches };
    // SAFETY: the caller vouches for the pointers.
    unsafe { order.enqueue_transfer(&queue, false, copy.check(queue.context())?) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pitches_default_to_the_tightest_and_are_checked() {
        let tight = Layout { offset: 2 * 12 + 4 + 1, row_pitch: 4, slice_pitch: 12 };
        assert_eq!(box_layout([1, 1, 2], [4, 3, 2], 0, 0), Ok(tight));
        let table = [
            ([4, 3, 2], 3, 0, false),
            ([4, 3, 2], 4, 11, false),
            ([4, 3, 2], 5, 17, false),
            ([4, 3, 2], 5, 20, true),
            ([4, 3, 2], usize::MAX, 0, false),
            ([usize::MAX, 1, 1], 0, 0, false),
        ];
        for (region, row, slice, valid) in table {
            assert_eq!(box_layout([1, 0, 0], region, row, slice).is_ok(), valid, "{region:?} {row} {slice}");
        }
    }
}
