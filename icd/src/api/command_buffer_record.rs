//! The commands that a command buffer can have (`cl_khr_command_buffer`).

use std::ffi::c_void;

use lockstep_icd_macros::entry_point;
use lockstep_runtime::Result;
use lockstep_runtime::command::Work;
use lockstep_runtime::memory::Memory;
use lockstep_runtime::queue::Queue;
use opencl_sys::{
    CL_COMMAND_COMMAND_BUFFER_KHR, CL_DEPTH, CL_FALSE, cl_command_buffer_khr, cl_command_queue, cl_event, cl_kernel,
    cl_mem, cl_mutable_command_khr, cl_sync_point_khr, cl_uint,
};

use crate::api::command_buffer::{Call, HeldMemory, Recording};
use crate::api::enqueue::{Completion, enqueue, wait_list};
use crate::api::mutable_dispatch::Launch;
use crate::api::rect::three;
use crate::api::transfer::check_pattern;
use crate::api::{image_transfer, rect, svm_transfer, transfer};
use crate::handle;
use crate::user::UserData;

/// Defines an entry point that records a command: its name in C and here, the parameters between the properties and the sync points, and what makes
/// the call of them. That relies on the function's contract for what it reads, on its own copies of arrays and patterns
/// when it is called later, and on the command buffer for the list and the event it is called with.
macro_rules! recorded {
    ($(#[$doc:meta])* $c_name:ident, $name:ident, $barrier:literal, ($($param:ident: $ty:ty),*), $call:expr) => {
        $(#[$doc])*
        #[entry_point($c_name)]
        pub unsafe fn $name(
            command_buffer: cl_command_buffer_khr,
            command_queue: cl_command_queue,
            properties: *const u64,
            $($param: $ty,)*
            num_sync_points_in_wait_list: cl_uint,
            sync_point_wait_list: *const cl_sync_point_khr,
            sync_point: *mut cl_sync_point_khr,
            mutable_handle: *mut cl_mutable_command_khr,
        ) -> Result<()> {
            let recording = Recording {
                buffer: command_buffer,
                queue: command_queue,
                properties,
                count: num_sync_points_in_wait_list,
                list: sync_point_wait_list,
                sync_point,
                handle: mutable_handle,
            };
            // SAFETY: the same contract.
            unsafe { recording.record($barrier, || -> Result<Call> { $call }) }
        }
    };
}

/// Enqueues a command that does nothing behind the events of a list. It is no marker and no barrier, as without a list
/// these wait for what else is in the queue.
///
/// # Safety
/// The list has as many events, and the event may be written or is null.
unsafe fn nothing(queue: cl_command_queue, count: cl_uint, list: *const cl_event, event: *mut cl_event) -> Result<()> {
    let queue = handle::get::<Queue>(queue)?;
    // SAFETY: the same contract.
    unsafe {
        let waits = wait_list(queue.context(), count, list)?;
        enqueue(&queue, CL_COMMAND_COMMAND_BUFFER_KHR, waits, Work::Nothing, Completion { blocking: false, event })
    }
}

recorded!(
    /// `clCommandBarrierWithWaitListKHR`: of the commands of the buffer alone.
    clCommandBarrierWithWaitListKHR, command_barrier, true, (), {
        Ok(Box::new(|queue, count, list, event| nothing(queue, count, list, event)))
    }
);

recorded!(
    /// `clCommandCopyBufferKHR`.
    clCommandCopyBufferKHR, command_copy_buffer, false,
    (src_buffer: cl_mem, dst_buffer: cl_mem, src_offset: usize, dst_offset: usize, size: usize), {
        let (from, to) = (HeldMemory::retain(src_buffer)?, HeldMemory::retain(dst_buffer)?);
        Ok(Box::new(move |queue, count, list, event| {
            let (from, to) = (from.get(), to.get());
            transfer::enqueue_copy_buffer(queue, from, to, src_offset, dst_offset, size, count, list, event)
        }))
    }
);

recorded!(
    /// `clCommandCopyBufferRectKHR`.
    clCommandCopyBufferRectKHR, command_copy_buffer_rect, false,
    (
        src_buffer: cl_mem, dst_buffer: cl_mem, src_origin: *const usize, dst_origin: *const usize,
        region: *const usize, src_row_pitch: usize, src_slice_pitch: usize, dst_row_pitch: usize,
        dst_slice_pitch: usize
    ), {
        let (from, to) = (HeldMemory::retain(src_buffer)?, HeldMemory::retain(dst_buffer)?);
        let (start, target) = (three("src_origin", src_origin)?, three("dst_origin", dst_origin)?);
        let region = three("region", region)?;
        Ok(Box::new(move |queue, count, list, event| {
                rect::enqueue_copy_buffer_rect(
                    queue, from.get(), to.get(), start.as_ptr(), target.as_ptr(), region.as_ptr(), src_row_pitch,
                    src_slice_pitch, dst_row_pitch, dst_slice_pitch, count, list, event,
                )
        }))
    }
);

recorded!(
    /// `clCommandCopyBufferToImageKHR`.
    clCommandCopyBufferToImageKHR, command_copy_buffer_to_image, false,
    (src_buffer: cl_mem, dst_image: cl_mem, src_offset: usize, dst_origin: *const usize, region: *const usize), {
        let (from, to) = (HeldMemory::retain(src_buffer)?, HeldMemory::retain(dst_image)?);
        let (target, region) = (three("dst_origin", dst_origin)?, three("region", region)?);
        Ok(Box::new(move |queue, count, list, event| {
                image_transfer::enqueue_copy_buffer_to_image(
                    queue, from.get(), to.get(), src_offset, target.as_ptr(), region.as_ptr(), count, list, event,
                )
        }))
    }
);

recorded!(
    /// `clCommandCopyImageKHR`.
    clCommandCopyImageKHR, command_copy_image, false,
    (
        src_image: cl_mem, dst_image: cl_mem, src_origin: *const usize, dst_origin: *const usize,
        region: *const usize
    ), {
        let (from, to) = (HeldMemory::retain(src_image)?, HeldMemory::retain(dst_image)?);
        let (start, target) = (three("src_origin", src_origin)?, three("dst_origin", dst_origin)?);
        let region = three("region", region)?;
        Ok(Box::new(move |queue, count, list, event| {
                image_transfer::enqueue_copy_image(
                    queue, from.get(), to.get(), start.as_ptr(), target.as_ptr(), region.as_ptr(), count, list, event,
                )
        }))
    }
);

recorded!(
    /// `clCommandCopyImageToBufferKHR`.
    clCommandCopyImageToBufferKHR, command_copy_image_to_buffer, false,
    (src_image: cl_mem, dst_buffer: cl_mem, src_origin: *const usize, region: *const usize, dst_offset: usize), {
        let (from, to) = (HeldMemory::retain(src_image)?, HeldMemory::retain(dst_buffer)?);
        let (start, region) = (three("src_origin", src_origin)?, three("region", region)?);
        Ok(Box::new(move |queue, count, list, event| {
                image_transfer::enqueue_copy_image_to_buffer(
                    queue, from.get(), to.get(), start.as_ptr(), region.as_ptr(), dst_offset, count, list, event,
                )
        }))
    }
);

/// The bytes of a pattern, in units that align them for every type.
///
/// "CL_INVALID_VALUE if pattern is NULL or if pattern_size is 0 or if pattern_size is not one of { 1, 2, 4, 8, 16, 32, 64,
/// 128 }."
///
/// # Safety
/// `pattern` is null or points to `size` bytes.
unsafe fn pattern_bytes(pattern: *const c_void, size: usize) -> Result<[u128; 8]> {
    let mut bytes = [0_u128; 8];
    check_pattern(pattern, size)?;
    // SAFETY: the caller vouches for `size` bytes, and there is room for them.
    unsafe { std::ptr::copy_nonoverlapping(pattern.cast::<u8>(), bytes.as_mut_ptr().cast::<u8>(), size) };
    Ok(bytes)
}

recorded!(
    /// `clCommandFillBufferKHR`.
    clCommandFillBufferKHR, command_fill_buffer, false,
    (buffer: cl_mem, pattern: *const c_void, pattern_size: usize, offset: usize, size: usize), {
        let (to, bytes) = (HeldMemory::retain(buffer)?, pattern_bytes(pattern, pattern_size)?);
        Ok(Box::new(move |queue, count, list, event| {
            let (to, pattern) = (to.get(), bytes.as_ptr().cast());
            transfer::enqueue_fill_buffer(queue, to, pattern, pattern_size, offset, size, count, list, event)
        }))
    }
);

recorded!(
    /// `clCommandFillImageKHR`.
    clCommandFillImageKHR, command_fill_image, false,
    (image: cl_mem, fill_color: *const c_void, origin: *const usize, region: *const usize), {
        // "CL_INVALID_VALUE if fill_color is NULL." A depth image has one number, others have four.
        let to = HeldMemory::retain(image)?;
        let is_depth = handle::get::<Memory>(image)?
            .image()
            .is_some_and(|image| image.format.order == CL_DEPTH);
        let bytes = pattern_bytes(fill_color, if is_depth { 4 } else { 16 })?;
        let (start, region) = (three("origin", origin)?, three("region", region)?);
        Ok(Box::new(move |queue, count, list, event| {
                image_transfer::enqueue_fill_image(
                    queue, to.get(), bytes.as_ptr().cast(), start.as_ptr(), region.as_ptr(), count, list, event,
                )
        }))
    }
);

recorded!(
    /// `clCommandSVMMemcpyKHR`.
    clCommandSVMMemcpyKHR, command_svm_memcpy, false,
    (dst_ptr: *mut c_void, src_ptr: *const c_void, size: usize), {
        let (to, from) = (UserData(dst_ptr), UserData(src_ptr.cast_mut()));
        Ok(Box::new(move |queue, count, list, event| {
            let (to, from) = (to.get(), from.get());
            svm_transfer::enqueue_svm_memcpy(queue, CL_FALSE, to, from, size, count, list, event)
        }))
    }
);

recorded!(
    /// `clCommandSVMMemFillKHR`.
    clCommandSVMMemFillKHR, command_svm_mem_fill, false,
    (svm_ptr: *mut c_void, pattern: *const c_void, pattern_size: usize, size: usize), {
        let (to, bytes) = (UserData(svm_ptr), pattern_bytes(pattern, pattern_size)?);
        Ok(Box::new(move |queue, count, list, event| {
            let (to, pattern) = (to.get(), bytes.as_ptr().cast());
            svm_transfer::enqueue_svm_mem_fill(queue, to, pattern, pattern_size, size, count, list, event)
        }))
    }
);

/// `clCommandNDRangeKernelKHR`.
#[entry_point(clCommandNDRangeKernelKHR)]
pub unsafe fn command_nd_range_kernel(
    command_buffer: cl_command_buffer_khr,
    command_queue: cl_command_queue,
    properties: *const u64,
    kernel: cl_kernel,
    work_dim: cl_uint,
    global_work_offset: *const usize,
    global_work_size: *const usize,
    local_work_size: *const usize,
    num_sync_points_in_wait_list: cl_uint,
    sync_point_wait_list: *const cl_sync_point_khr,
    sync_point: *mut cl_sync_point_khr,
    mutable_handle: *mut cl_mutable_command_khr,
) -> Result<()> {
    let recording = Recording {
        buffer: command_buffer,
        queue: command_queue,
        properties,
        count: num_sync_points_in_wait_list,
        list: sync_point_wait_list,
        sync_point,
        handle: mutable_handle,
    };
    let (offset, global, local) = (global_work_offset, global_work_size, local_work_size);
    let launch = Launch { kernel, dimensions: work_dim, offset, global, local };
    // SAFETY: the same contract.
    unsafe { recording.record_launch(launch) }
}
