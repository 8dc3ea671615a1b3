//! The commands that a command buffer can have (`cl_khr_command_buffer`), each checked as its like that is enqueued.

use std::ffi::c_void;
use std::sync::Arc;

use lockstep_icd_macros::entry_point;
use lockstep_runtime::api_handle::Retained;
use lockstep_runtime::command_buffer::{CommandBuffer, RecordedCommand};
use lockstep_runtime::context::Context;
use lockstep_runtime::memory_transfer::Transfer;
use lockstep_runtime::{Result, ensure};
use opencl_sys::{
    CL_COMMAND_SVM_MEMCPY, CL_COMMAND_SVM_MEMFILL, CL_INVALID_COMMAND_QUEUE, CL_INVALID_SYNC_POINT_WAIT_LIST_KHR,
    CL_INVALID_VALUE, cl_command_buffer_khr, cl_command_queue, cl_kernel, cl_mem, cl_mutable_command_khr,
    cl_sync_point_khr, cl_uint,
};

use crate::api::mutable_dispatch::{LaunchCall, check_launch};
use crate::api::rect::RectCopy;
use crate::api::{image_transfer, svm_transfer, transfer};
use crate::{fork, handle, property_list};

/// What a command is recorded with, whatever it is.
#[derive(Clone, Copy)]
struct Recording {
    /// `command_buffer`: where the command goes.
    buffer: cl_command_buffer_khr,
    /// `command_queue`, which has to be null.
    queue: cl_command_queue,
    /// `properties`: a list that ends in 0, or null.
    properties: *const u64,
    /// `num_sync_points_in_wait_list`: how many commands it waits for.
    count: cl_uint,
    /// `sync_point_wait_list`: the sync points of these commands.
    list: *const cl_sync_point_khr,
    /// `sync_point`: where its own goes, or null.
    sync_point: *mut cl_sync_point_khr,
    /// `mutable_handle`: where the handle of a launch goes, or null.
    handle: *mut cl_mutable_command_khr,
}

impl Recording {
    /// Records a transfer, which `check` finds right in the context of the buffer.
    ///
    /// # Safety
    /// The pointers are as the extension says.
    unsafe fn record_transfer(self, check: impl FnOnce(&Arc<Context>) -> Result<Transfer>) -> Result<()> {
        // SAFETY: the same contract.
        unsafe {
            let (buffer, waits) = self.check_common()?;
            self.check_immutable()?;
            let transfer = check(buffer.context())?;
            self.record_checked(&buffer, waits, RecordedCommand::Transfer(Arc::new(transfer)))
        }
    }

    /// Records a barrier.
    ///
    /// # Safety
    /// The pointers are as the extension says.
    unsafe fn record_barrier(self) -> Result<()> {
        // SAFETY: the same contract.
        unsafe {
            let (buffer, waits) = self.check_common()?;
            self.check_immutable()?;
            self.record_checked(&buffer, waits, RecordedCommand::Barrier)
        }
    }

    /// Records a launch, which may be changed later.
    ///
    /// # Safety
    /// The pointers are as the extension says.
    unsafe fn record_launch(self, call: LaunchCall) -> Result<()> {
        // SAFETY: the same contract.
        unsafe {
            let (buffer, waits) = self.check_common()?;
            let launch = check_launch(&buffer, self.properties, call)?;
            let handle = handle::publish(launch.clone())?;
            let launch = Retained::take_over(launch, |launch| &launch.api);
            self.record_checked(&buffer, waits, RecordedCommand::Launch(launch))?;
            if !self.handle.is_null() {
                self.handle.write(handle);
            }
            Ok(())
        }
    }

    /// Checks what all commands have; the buffer, and the sync points that the command waits for.
    ///
    /// # Safety
    /// The list is as the extension says.
    unsafe fn check_common(&self) -> Result<(Arc<CommandBuffer>, Vec<cl_sync_point_khr>)> {
        let buffer = handle::get::<CommandBuffer>(self.buffer)?;
        fork::check()?;
        // "CL_INVALID_COMMAND_QUEUE if […] command_queue is not NULL."
        ensure!(self.queue.is_null(), CL_INVALID_COMMAND_QUEUE, "command_queue is {:p}; NULL is allowed", self.queue);
        // "CL_INVALID_SYNC_POINT_WAIT_LIST_KHR if sync_point_wait_list is NULL and num_sync_points_in_wait_list is > 0, or
        // sync_point_wait_list is not NULL and num_sync_points_in_wait_list is 0".
        handle::check_list(self.count, "sync point", self.list, CL_INVALID_SYNC_POINT_WAIT_LIST_KHR)?;
        // SAFETY: the caller vouches for the list.
        let waits: Vec<_> = (0..self.count as usize).map(|i| unsafe { self.list.add(i).read() }).collect();
        buffer.check_recording(&waits)?;
        Ok((buffer, waits))
    }

    /// "CL_INVALID_VALUE if values specified in properties are not valid. […] if mutable_handle is not NULL."
    ///
    /// # Safety
    /// `properties` is null or points to a list that ends in 0.
    unsafe fn check_immutable(&self) -> Result<()> {
        // SAFETY: not null, so the caller vouches for a list that ends in 0.
        let property = if self.properties.is_null() { 0 } else { unsafe { self.properties.read() } };
        if property != 0 {
            return property_list::unknown(CL_INVALID_VALUE, property);
        }
        let handle = self.handle;
        ensure!(handle.is_null(), CL_INVALID_VALUE, "mutable_handle is {handle:p}; NULL is allowed for this command");
        Ok(())
    }

    /// Records a command that has been checked.
    ///
    /// # Safety
    /// `sync_point` is null or may be written.
    unsafe fn record_checked(
        &self,
        buffer: &CommandBuffer,
        waits: Vec<cl_sync_point_khr>,
        command: RecordedCommand,
    ) -> Result<()> {
        let number = buffer.record_command(waits, command)?;
        if !self.sync_point.is_null() {
            // SAFETY: not null, so the caller vouches for it.
            unsafe { self.sync_point.write(number) };
        }
        Ok(())
    }
}

/// Defines an entry point that records a transfer: its name in C and here, the parameters between the properties and the
/// sync points, and the check that makes a transfer of them in the context of the buffer. The check relies on the
/// function's contract for what it reads.
macro_rules! recorded {
    ($(#[$doc:meta])* $c_name:ident, $name:ident, ($($param:ident: $ty:ty),*), $check:expr) => {
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
            unsafe { recording.record_transfer($check) }
        }
    };
}

/// `clCommandBarrierWithWaitListKHR`: of the commands of the buffer alone.
#[entry_point(clCommandBarrierWithWaitListKHR)]
pub unsafe fn command_barrier(
    command_buffer: cl_command_buffer_khr,
    command_queue: cl_command_queue,
    properties: *const u64,
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
    unsafe { recording.record_barrier() }
}

recorded!(
    /// `clCommandCopyBufferKHR`.
    clCommandCopyBufferKHR, command_copy_buffer,
    (src_buffer: cl_mem, dst_buffer: cl_mem, src_offset: usize, dst_offset: usize, size: usize),
    |context| transfer::check_copy_buffer(context, src_buffer, dst_buffer, src_offset, dst_offset, size)
);

recorded!(
    /// `clCommandCopyBufferRectKHR`.
    clCommandCopyBufferRectKHR, command_copy_buffer_rect,
    (
        src_buffer: cl_mem, dst_buffer: cl_mem, src_origin: *const usize, dst_origin: *const usize,
        region: *const usize, src_row_pitch: usize, src_slice_pitch: usize, dst_row_pitch: usize,
        dst_slice_pitch: usize
    ),
    |context| {
        let (src_pitches, dst_pitches) = ([src_row_pitch, src_slice_pitch], [dst_row_pitch, dst_slice_pitch]);
        let copy = RectCopy { src_buffer, dst_buffer, src_origin, dst_origin, region, src_pitches, dst_pitches };
        copy.check(context)
    }
);

recorded!(
    /// `clCommandCopyBufferToImageKHR`.
    clCommandCopyBufferToImageKHR, command_copy_buffer_to_image,
    (src_buffer: cl_mem, dst_image: cl_mem, src_offset: usize, dst_origin: *const usize, region: *const usize),
    |context| {
        image_transfer::check_copy_buffer_to_image(context, src_buffer, dst_image, src_offset, dst_origin, region)
    }
);

recorded!(
    /// `clCommandCopyImageKHR`.
    clCommandCopyImageKHR, command_copy_image,
    (
        src_image: cl_mem, dst_image: cl_mem, src_origin: *const usize, dst_origin: *const usize,
        region: *const usize
    ),
    |context| image_transfer::check_copy_image(context, src_image, dst_image, src_origin, dst_origin, region)
);

recorded!(
    /// `clCommandCopyImageToBufferKHR`.
    clCommandCopyImageToBufferKHR, command_copy_image_to_buffer,
    (src_image: cl_mem, dst_buffer: cl_mem, src_origin: *const usize, region: *const usize, dst_offset: usize),
    |context| {
        image_transfer::check_copy_image_to_buffer(context, src_image, dst_buffer, src_origin, region, dst_offset)
    }
);

recorded!(
    /// `clCommandFillBufferKHR`.
    clCommandFillBufferKHR, command_fill_buffer,
    (buffer: cl_mem, pattern: *const c_void, pattern_size: usize, offset: usize, size: usize),
    |context| transfer::check_fill_buffer(context, buffer, pattern, pattern_size, offset, size)
);

recorded!(
    /// `clCommandFillImageKHR`.
    clCommandFillImageKHR, command_fill_image,
    (image: cl_mem, fill_color: *const c_void, origin: *const usize, region: *const usize),
    |context| image_transfer::check_fill_image(context, image, fill_color, origin, region)
);

recorded!(
    /// `clCommandSVMMemcpyKHR`.
    clCommandSVMMemcpyKHR, command_svm_memcpy,
    (dst_ptr: *mut c_void, src_ptr: *const c_void, size: usize),
    |_| svm_transfer::check_copy(CL_COMMAND_SVM_MEMCPY, dst_ptr, src_ptr, size)
);

recorded!(
    /// `clCommandSVMMemFillKHR`.
    clCommandSVMMemFillKHR, command_svm_mem_fill,
    (svm_ptr: *mut c_void, pattern: *const c_void, pattern_size: usize, size: usize),
    |_| svm_transfer::check_fill(CL_COMMAND_SVM_MEMFILL, svm_ptr, pattern, pattern_size, size)
);

/// `clCommandNDRangeKernelKHR`: records a launch of a kernel.
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
    let call = LaunchCall { kernel, dimensions: work_dim, offset, global, local };
    // SAFETY: the same contract.
    unsafe { recording.record_launch(call) }
}
