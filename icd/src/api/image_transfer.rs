//! Reading, writing, copying, filling and mapping images, and copies between images and buffers (OpenCL API, 5.3.4 to
//! 5.3.7).

use std::ffi::c_void;
use std::sync::Arc;

use lockstep_icd_macros::entry_point;
use lockstep_runtime::context::Context;
use lockstep_runtime::image::Image;
use lockstep_runtime::memory::Memory;
use lockstep_runtime::memory_layout::{Layout, Region};
use lockstep_runtime::memory_transfer::{HostPointer, Place, Transfer};
use lockstep_runtime::queue::Queue;
use lockstep_runtime::{Result, ensure};
use opencl_sys::{
    CL_COMMAND_COPY_BUFFER_TO_IMAGE, CL_COMMAND_COPY_IMAGE, CL_COMMAND_COPY_IMAGE_TO_BUFFER, CL_COMMAND_FILL_IMAGE,
    CL_COMMAND_MAP_IMAGE, CL_COMMAND_READ_IMAGE, CL_COMMAND_WRITE_IMAGE, CL_FALSE, CL_IMAGE_FORMAT_MISMATCH,
    CL_INVALID_MEM_OBJECT, CL_INVALID_VALUE, CL_MAP_READ, CL_MEM_COPY_OVERLAP, CL_MEM_OBJECT_IMAGE1D_BUFFER, cl_bool,
    cl_command_queue, cl_event, cl_map_flags, cl_mem, cl_uint,
};

use crate::api::buffer::buffer_in;
use crate::api::enqueue::{Completion, Order, enqueue, wait_list};
use crate::api::image::image_in;
use crate::api::memory_object::hold_until_done;
use crate::api::rect::read_three;
use crate::api::transfer::{check_host_access, check_map_flags, check_mutable, of_source, of_target};
use crate::handle;

/// A box of an image as the application names it: where it lies, and its size in bytes, rows and slices.
///
/// # Safety
/// The pointers are null or lead to three elements.
unsafe fn transfer_box(image: &Image, origin: *const usize, region: *const usize) -> Result<(Layout, Region)> {
    // SAFETY: the same contract.
    unsafe { image.box_layout(read_three("the origin", origin)?, read_three("region", region)?) }
}

/// What `clEnqueueReadImage` and `clEnqueueWriteImage` have in common.
struct HostBox {
    image: cl_mem,
    origin: *const usize,
    region: *const usize,
    pitches: [usize; 2],
    ptr: *mut c_void,
}

impl HostBox {
    /// The command, checked.
    ///
    /// # Safety
    /// The pointers are as the specification says.
    unsafe fn check(self, context: &Arc<Context>, writes: bool) -> Result<Transfer> {
        // SAFETY: the caller vouches for the pointers.
        unsafe {
            let (memory, image) = image_in(context, self.image)?;
            let (inside, bytes) = transfer_box(&image, self.origin, self.region)?;
            // "CL_INVALID_VALUE [...] if ptr is NULL".
            ensure!(!self.ptr.is_null(), CL_INVALID_VALUE, "ptr is NULL");
            let outside = image.host_layout(read_three("region", self.region)?, self.pitches[0], self.pitches[1])?;
            // "CL_INVALID_OPERATION if clEnqueueReadImage is called on image which has been created with
            // CL_MEM_HOST_WRITE_ONLY or CL_MEM_HOST_NO_ACCESS", and likewise for writing.
            check_host_access(&memory, !writes, writes)?;
            let host = Place::in_host(HostPointer::new(self.ptr.cast()), outside);
            let own = Place::in_object(memory, inside);
            Ok(if writes {
                Transfer::copy(CL_COMMAND_WRITE_IMAGE, host, own, bytes)
            } else {
                Transfer::copy(CL_COMMAND_READ_IMAGE, own, host, bytes)
            })
        }
    }
}

/// `clEnqueueReadImage`: copies a box of an image to the host.
#[entry_point(clEnqueueReadImage)]
pub unsafe fn enqueue_read_image(
    command_queue: cl_command_queue,
    image: cl_mem,
    blocking_read: cl_bool,
    origin: *const usize,
    region: *const usize,
    row_pitch: usize,
    slice_pitch: usize,
    ptr: *mut c_void,
    num_events_in_wait_list: cl_uint,
    event_wait_list: *const cl_event,
    event: *mut cl_event,
) -> Result<()> {
    let order = Order { count: num_events_in_wait_list, list: event_wait_list, event };
    // "CL_INVALID_COMMAND_QUEUE if command_queue is not a valid host command-queue".
    let queue = handle::get::<Queue>(command_queue)?;
    let read = HostBox { image, origin, region, pitches: [row_pitch, slice_pitch], ptr };
    // SAFETY: the same contract.
    unsafe { order.enqueue_transfer(&queue, blocking_read != CL_FALSE, read.check(queue.context(), false)?) }
}

/// `clEnqueueWriteImage`: copies a box of an image from the host.
#[entry_point(clEnqueueWriteImage)]
pub unsafe fn enqueue_write_image(
    command_queue: cl_command_queue,
    image: cl_mem,
    blocking_write: cl_bool,
    origin: *const usize,
    region: *const usize,
    input_row_pitch: usize,
    input_slice_pitch: usize,
    ptr: *const c_void,
    num_events_in_wait_list: cl_uint,
    event_wait_list: *const cl_event,
    event: *mut cl_event,
) -> Result<()> {
    let order = Order { count: num_events_in_wait_list, list: event_wait_list, event };
    let queue = handle::get::<Queue>(command_queue)?;
    let pitches = [input_row_pitch, input_slice_pitch];
    let write = HostBox { image, origin, region, pitches, ptr: ptr.cast_mut() };
    // SAFETY: the same contract; the bytes at `ptr` are only read.
    unsafe { order.enqueue_transfer(&queue, blocking_write != CL_FALSE, write.check(queue.context(), true)?) }
}

/// Filling an image with a color, checked.
///
/// # Safety
/// The pointers are as the specification says.
pub unsafe fn check_fill_image(
    context: &Arc<Context>,
    image: cl_mem,
    fill_color: *const c_void,
    origin: *const usize,
    region: *const usize,
) -> Result<Transfer> {
    let (memory, image) = image_in(context, image)?;
    // "CL_INVALID_VALUE if fill_color is NULL".
    ensure!(!fill_color.is_null(), CL_INVALID_VALUE, "fill_color is NULL");
    // SAFETY: the caller vouches for the pointers.
    let (layout, bytes) = unsafe { transfer_box(&image, origin, region)? };
    // "The fill color is a single floating-point value if the channel order is CL_DEPTH. Otherwise, the fill color
    // is a four component RGBA [...] color value".
    let color = match image.format.order {
        // SAFETY: not null, so the caller vouches for one number.
        opencl_sys::CL_DEPTH => [unsafe { fill_color.cast::<u32>().read_unaligned() }, 0, 0, 0],
        // SAFETY: not null, so the caller vouches for four numbers.
        _ => unsafe { fill_color.cast::<[u32; 4]>().read_unaligned() },
    };
    check_mutable(&memory)?;
    let to = Place::in_object(memory, layout);
    Ok(Transfer::fill(CL_COMMAND_FILL_IMAGE, to, bytes, &image.format.encode_color(color)))
}

/// `clEnqueueFillImage`: fills a box of an image with one colour.
#[entry_point(clEnqueueFillImage)]
pub unsafe fn enqueue_fill_image(
    command_queue: cl_command_queue,
    image: cl_mem,
    fill_color: *const c_void,
    origin: *const usize,
    region: *const usize,
    num_events_in_wait_list: cl_uint,
    event_wait_list: *const cl_event,
    event: *mut cl_event,
) -> Result<()> {
    let order = Order { count: num_events_in_wait_list, list: event_wait_list, event };
    let queue = handle::get::<Queue>(command_queue)?;
    // SAFETY: the caller vouches for the pointers.
    unsafe {
        let fill = check_fill_image(queue.context(), image, fill_color, origin, region)?;
        order.enqueue_transfer(&queue, false, fill)
    }
}

/// A copy between images, checked.
///
/// # Safety
/// The pointers are as the specification says.
pub unsafe fn check_copy_image(
    context: &Arc<Context>,
    src_image: cl_mem,
    dst_image: cl_mem,
    src_origin: *const usize,
    dst_origin: *const usize,
    region: *const usize,
) -> Result<Transfer> {
    let (source, source_image) = image_in(context, src_image).map_err(of_source)?;
    let (target, target_image) = image_in(context, dst_image).map_err(of_target)?;
    check_mutable(&target).map_err(of_target)?;
    // "CL_IMAGE_FORMAT_MISMATCH if src_image and dst_image do not use the same image format".
    let formats = [source_image.format, target_image.format].map(|format| (format.order, format.data_type));
    let [(order, data_type), (other_order, other_type)] = formats;
    ensure!(
        formats[0] == formats[1],
        CL_IMAGE_FORMAT_MISMATCH,
        "src_image has channel order {order:#x} and data type {data_type:#x}, dst_image {other_order:#x} and \
         {other_type:#x}"
    );
    // SAFETY: the caller vouches for the pointers.
    let (from, bytes) = unsafe { transfer_box(&source_image, src_origin, region).map_err(of_source)? };
    // SAFETY: as above.
    let (to, target_bytes) = unsafe { transfer_box(&target_image, dst_origin, region).map_err(of_target)? };
    // "CL_MEM_COPY_OVERLAP if src_image and dst_image are the same image object and the source and destination regions
    // overlap".
    let overlap = source.box_overlaps((from, bytes), &target, (to, target_bytes));
    ensure!(!overlap, CL_MEM_COPY_OVERLAP, "the two regions are in one image, and overlap");
    let (from, to) = (Place::in_object(source, from), Place::in_object(target, to));
    Ok(Transfer::copy(CL_COMMAND_COPY_IMAGE, from, to, bytes))
}

/// `clEnqueueCopyImage`: copies a box of an image to another one.
#[entry_point(clEnqueueCopyImage)]
pub unsafe fn enqueue_copy_image(
    command_queue: cl_command_queue,
    src_image: cl_mem,
    dst_image: cl_mem,
    src_origin: *const usize,
    dst_origin: *const usize,
    region: *const usize,
    num_events_in_wait_list: cl_uint,
    event_wait_list: *const cl_event,
    event: *mut cl_event,
) -> Result<()> {
    let order = Order { count: num_events_in_wait_list, list: event_wait_list, event };
    let queue = handle::get::<Queue>(command_queue)?;
    // SAFETY: the caller vouches for the pointers.
    unsafe {
        let copy = check_copy_image(queue.context(), src_image, dst_image, src_origin, dst_origin, region)?;
        order.enqueue_transfer(&queue, false, copy)
    }
}

/// Where a box lies in a buffer, tightly.
///
/// "CL_INVALID_VALUE [...] if the region specified by dst_offset and dst_cb [...] refer to a region outside dst_buffer",
/// and likewise for the source.
fn in_buffer(size: usize, offset: usize, bytes: Region) -> Result<Layout> {
    let slice_pitch = bytes[0] * bytes[1];
    let all = slice_pitch * bytes[2];
    let fits = offset.checked_add(all).is_some_and(|end| end <= size);
    ensure!(fits, CL_INVALID_VALUE, "{all} bytes from {offset} on are outside of the buffer, which has {size}");
    Ok(Layout { offset, row_pitch: bytes[0], slice_pitch })
}

/// Whether an object is a 1D image of the buffer's bytes.
fn is_line_of(memory: &Memory, buffer: &Arc<Memory>) -> bool {
    let is_line = memory.image().is_some_and(|image| image.kind == CL_MEM_OBJECT_IMAGE1D_BUFFER);
    is_line && memory.associated().is_some_and(|of| Arc::ptr_eq(of, buffer))
}

/// A copy of an image into a buffer, checked.
///
/// # Safety
/// The pointers are as the specification says.
pub unsafe fn check_copy_image_to_buffer(
    context: &Arc<Context>,
    src_image: cl_mem,
    dst_buffer: cl_mem,
    src_origin: *const usize,
    region: *const usize,
    dst_offset: usize,
) -> Result<Transfer> {
    let (source, image) = image_in(context, src_image).map_err(of_source)?;
    let target = buffer_in(context, dst_buffer).map_err(of_target)?;
    check_mutable(&target).map_err(of_target)?;
    // "CL_INVALID_MEM_OBJECT […] if src_image is a 1D image buffer object created from dst_buffer".
    ensure!(!is_line_of(&source, &target), CL_INVALID_MEM_OBJECT, "src_image is made of dst_buffer");
    // SAFETY: the caller vouches for the pointers.
    let (from, bytes) = unsafe { transfer_box(&image, src_origin, region)? };
    let to = in_buffer(target.size(), dst_offset, bytes)?;
    let (from, to) = (Place::in_object(source, from), Place::in_object(target, to));
    Ok(Transfer::copy(CL_COMMAND_COPY_IMAGE_TO_BUFFER, from, to, bytes))
}

/// `clEnqueueCopyImageToBuffer`: copies a box of an image to a buffer, without gaps.
#[entry_point(clEnqueueCopyImageToBuffer)]
pub unsafe fn enqueue_copy_image_to_buffer(
    command_queue: cl_command_queue,
    src_image: cl_mem,
    dst_buffer: cl_mem,
    src_origin: *const usize,
    region: *const usize,
    dst_offset: usize,
    num_events_in_wait_list: cl_uint,
    event_wait_list: *const cl_event,
    event: *mut cl_event,
) -> Result<()> {
    let order = Order { count: num_events_in_wait_list, list: event_wait_list, event };
    let queue = handle::get::<Queue>(command_queue)?;
    // SAFETY: the caller vouches for the pointers.
    unsafe {
        let copy = check_copy_image_to_buffer(queue.context(), src_image, dst_buffer, src_origin, region, dst_offset)?;
        order.enqueue_transfer(&queue, false, copy)
    }
}

/// A copy of a buffer into an image, checked.
///
/// # Safety
/// The pointers are as the specification says.
pub unsafe fn check_copy_buffer_to_image(
    context: &Arc<Context>,
    src_buffer: cl_mem,
    dst_image: cl_mem,
    src_offset: usize,
    dst_origin: *const usize,
    region: *const usize,
) -> Result<Transfer> {
    let source = buffer_in(context, src_buffer).map_err(of_source)?;
    let (target, image) = image_in(context, dst_image).map_err(of_target)?;
    check_mutable(&target).map_err(of_target)?;
    // "CL_INVALID_MEM_OBJECT […] if dst_image is a 1D image buffer object created from src_buffer".
    ensure!(!is_line_of(&target, &source), CL_INVALID_MEM_OBJECT, "dst_image is made of src_buffer");
    // SAFETY: the caller vouches for the pointers.
    let (to, bytes) = unsafe { transfer_box(&image, dst_origin, region)? };
    let from = in_buffer(source.size(), src_offset, bytes)?;
    let (from, to) = (Place::in_object(source, from), Place::in_object(target, to));
    Ok(Transfer::copy(CL_COMMAND_COPY_BUFFER_TO_IMAGE, from, to, bytes))
}

/// `clEnqueueCopyBufferToImage`: copies bytes of a buffer to a box of an image.
#[entry_point(clEnqueueCopyBufferToImage)]
pub unsafe fn enqueue_copy_buffer_to_image(
    command_queue: cl_command_queue,
    src_buffer: cl_mem,
    dst_image: cl_mem,
    src_offset: usize,
    dst_origin: *const usize,
    region: *const usize,
    num_events_in_wait_list: cl_uint,
    event_wait_list: *const cl_event,
    event: *mut cl_event,
) -> Result<()> {
    let order = Order { count: num_events_in_wait_list, list: event_wait_list, event };
    let queue = handle::get::<Queue>(command_queue)?;
    // SAFETY: the caller vouches for the pointers.
    unsafe {
        let copy = check_copy_buffer_to_image(queue.context(), src_buffer, dst_image, src_offset, dst_origin, region)?;
        order.enqueue_transfer(&queue, false, copy)
    }
}

/// `clEnqueueMapImage`: maps a box of an image.
#[entry_point(clEnqueueMapImage)]
pub unsafe fn enqueue_map_image(
    command_queue: cl_command_queue,
    image: cl_mem,
    blocking_map: cl_bool,
    map_flags: cl_map_flags,
    origin: *const usize,
    region: *const usize,
    image_row_pitch: *mut usize,
    image_slice_pitch: *mut usize,
    num_events_in_wait_list: cl_uint,
    event_wait_list: *const cl_event,
    event: *mut cl_event,
) -> Result<*mut c_void> {
    let queue = handle::get::<Queue>(command_queue)?;
    let (memory, image) = image_in(queue.context(), image)?;
    // SAFETY: the caller vouches for the pointers.
    let (layout, bytes) = unsafe { transfer_box(&image, origin, region)? };
    check_map_flags(map_flags)?;
    // "CL_INVALID_OPERATION if image has been created with CL_MEM_HOST_WRITE_ONLY or CL_MEM_HOST_NO_ACCESS and
    // CL_MAP_READ is set in map_flags [or] with CL_MEM_HOST_READ_ONLY or CL_MEM_HOST_NO_ACCESS and CL_MAP_WRITE or
    // CL_MAP_WRITE_INVALIDATE_REGION is set".
    check_host_access(&memory, map_flags & CL_MAP_READ != 0, map_flags & !CL_MAP_READ != 0)?;
    // "CL_INVALID_VALUE if image_row_pitch is NULL"; "if image is a 3D image, 1D or 2D image array object and
    // image_slice_pitch is NULL".
    ensure!(!image_row_pitch.is_null(), CL_INVALID_VALUE, "image_row_pitch is NULL");
    ensure!(
        !image.has_slices() || !image_slice_pitch.is_null(),
        CL_INVALID_VALUE,
        "image_slice_pitch is NULL, and the image has slices"
    );
    // SAFETY: the caller vouches for the list.
    let waits = unsafe { wait_list(queue.context(), num_events_in_wait_list, event_wait_list)? };
    let pointer = memory.map_box(map_flags, layout, bytes)?;
    let work = hold_until_done(vec![memory.clone()]);
    let completion = Completion { blocking: blocking_map != CL_FALSE, event };
    // SAFETY: the caller vouches for `event`.
    let enqueued = unsafe { enqueue(&queue, CL_COMMAND_MAP_IMAGE, waits, work, completion) };
    enqueued.or_else(|error| {
        memory.unmap_pointer(pointer)?;
        Err(error)
    })?;
    // SAFETY: the caller vouches for both, and the first is not null.
    unsafe {
        image_row_pitch.write(image.row_pitch);
        if !image_slice_pitch.is_null() {
            // "For a 1D and 2D image, zero is returned if this argument is not NULL."
            image_slice_pitch.write(if image.has_slices() { image.slice_pitch } else { 0 });
        }
    }
    Ok(pointer.cast())
}
