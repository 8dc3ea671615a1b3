//! Launches (OpenCL API, 5.10).

use lockstep_icd_macros::entry_point;
use lockstep_runtime::kernel::Kernel;
use lockstep_runtime::launch::ndrange::{NdRange, Request, check_dimensions};
use lockstep_runtime::launch::{CheckedLaunch, Prepared};
use lockstep_runtime::program;
use lockstep_runtime::queue::Queue;
use lockstep_runtime::{Result, ensure, error};
use opencl_sys::{
    CL_COMMAND_NDRANGE_KERNEL, CL_COMMAND_TASK, CL_INVALID_GLOBAL_WORK_SIZE, CL_INVALID_PROGRAM_EXECUTABLE,
    CL_INVALID_VALUE, cl_command_queue, cl_command_type, cl_event, cl_kernel, cl_uint,
};
use std::sync::Arc;

use crate::api::buffer::check_context;
use crate::api::enqueue::{Completion, enqueue, wait_list};
use crate::handle;

/// One value per dimension, or none.
///
/// # Safety
/// `sizes` is null or points to `dimensions` values.
unsafe fn read_sizes<'a>(sizes: *const usize, dimensions: cl_uint) -> Option<&'a [usize]> {
    // SAFETY: not null, so the caller vouches for the count.
    (!sizes.is_null()).then(|| unsafe { std::slice::from_raw_parts(sizes, dimensions as usize) })
}

/// What a launch is called on.
///
/// "CL_INVALID_COMMAND_QUEUE if command_queue is not a valid host command-queue." "CL_INVALID_KERNEL if kernel is not a
/// valid kernel object."
fn queue_and_kernel(command_queue: cl_command_queue, kernel: cl_kernel) -> Result<(Arc<Queue>, Arc<Kernel>)> {
    Ok((handle::get::<Queue>(command_queue)?, handle::get::<Kernel>(kernel)?))
}

/// Whether the kernel can be launched on the queue.
pub fn check_fit(queue: &Queue, kernel: &Kernel) -> Result<()> {
    // "CL_INVALID_CONTEXT if context associated with command_queue and kernel are not the same".
    check_context(kernel.program().context(), queue.context(), format_args!("kernel '{}'", kernel.outline().name))?;
    // "CL_INVALID_PROGRAM_EXECUTABLE if there is no successfully built program executable available for device associated
    // with command_queue."
    let built = program::check_devices(kernel.program(), std::slice::from_ref(queue.device()));
    let other = |_| error!(CL_INVALID_PROGRAM_EXECUTABLE, "the kernel's program is not built for the queue's device");
    built.map_err(other)
}

/// The command of a launch.
///
/// # Safety
/// The pointers are as the specification says.
unsafe fn launch_command(
    kind: cl_command_type,
    (queue, kernel): (Arc<Queue>, Arc<Kernel>),
    request: &Request,
    (num_events, events): (cl_uint, *const cl_event),
    event: *mut cl_event,
) -> Result<()> {
    check_fit(&queue, &kernel)?;
    // SAFETY: the caller vouches for the list.
    let mut waits = unsafe { wait_list(queue.context(), num_events, events)? };
    let Prepared { work, code } = CheckedLaunch::new(kernel, request)?.prepare()?;
    waits.extend(code);
    // SAFETY: the caller vouches for `event`.
    unsafe { enqueue(&queue, kind, waits, work, Completion { blocking: false, event }) }
}

/// `clEnqueueNDRangeKernel`: enqueues a launch of a kernel over an NDRange.
#[entry_point(clEnqueueNDRangeKernel)]
pub unsafe fn enqueue_nd_range_kernel(
    command_queue: cl_command_queue,
    kernel: cl_kernel,
    work_dim: cl_uint,
    global_work_offset: *const usize,
    global_work_size: *const usize,
    local_work_size: *const usize,
    num_events_in_wait_list: cl_uint,
    event_wait_list: *const cl_event,
    event: *mut cl_event,
) -> Result<()> {
    // Checked before the arrays, whose length it is; with an invalid queue or kernel that error comes first.
    let on = queue_and_kernel(command_queue, kernel)?;
    check_dimensions(work_dim)?;
    // SAFETY: the caller vouches for the arrays, the list and `event`.
    unsafe {
        let request = Request {
            dimensions: work_dim,
            offset: read_sizes(global_work_offset, work_dim),
            global: read_sizes(global_work_size, work_dim),
            local: read_sizes(local_work_size, work_dim),
        };
        let list = (num_events_in_wait_list, event_wait_list);
        launch_command(CL_COMMAND_NDRANGE_KERNEL, on, &request, list, event)
    }
}

/// `clEnqueueTask`: a range of one work-item.
#[entry_point(clEnqueueTask)]
pub unsafe fn enqueue_task(
    command_queue: cl_command_queue,
    kernel: cl_kernel,
    num_events_in_wait_list: cl_uint,
    event_wait_list: *const cl_event,
    event: *mut cl_event,
) -> Result<()> {
    let request = Request { dimensions: 1, offset: None, global: Some(&[1]), local: Some(&[1]) };
    let list = (num_events_in_wait_list, event_wait_list);

    let on = queue_and_kernel(command_queue, kernel)?;
    // SAFETY: the caller vouches for the list and `event`.
    unsafe { launch_command(CL_COMMAND_TASK, on, &request, list, event) }
}

/// `clGetKernelSuggestedLocalWorkSizeKHR`: what a launch without a local size would use.
#[entry_point(clGetKernelSuggestedLocalWorkSize)]
pub unsafe fn get_kernel_suggested_local_work_size(
    command_queue: cl_command_queue,
    kernel: cl_kernel,
    work_dim: cl_uint,
    global_work_offset: *const usize,
    global_work_size: *const usize,
    suggested_local_work_size: *mut usize,
) -> Result<()> {
    let (queue, kernel) = queue_and_kernel(command_queue, kernel)?;
    check_fit(&queue, &kernel)?;
    // "CL_INVALID_KERNEL_ARGS if any kernel arguments for kernel have not been set".
    kernel.check_arguments()?;
    check_dimensions(work_dim)?;
    // SAFETY: the caller vouches for the arrays.
    let (offset, global) =
        unsafe { (read_sizes(global_work_offset, work_dim), read_sizes(global_work_size, work_dim)) };
    // "CL_INVALID_GLOBAL_WORK_SIZE if global_work_size is NULL or if any of the values specified in
    // global_work_size are 0."
    let sizes = global.ok_or_else(|| error!(CL_INVALID_GLOBAL_WORK_SIZE, "global_work_size is NULL"))?;
    let is_empty = sizes.contains(&0);
    ensure!(!is_empty, CL_INVALID_GLOBAL_WORK_SIZE, "global_work_size {sizes:?} has a dimension of 0");
    // "CL_INVALID_VALUE if suggested_local_work_size is NULL."
    ensure!(!suggested_local_work_size.is_null(), CL_INVALID_VALUE, "suggested_local_work_size is NULL");
    let request = Request { dimensions: work_dim, offset, global, local: None };
    let range = NdRange::new(&request, &kernel.launch_rules())?;
    for d in 0..work_dim as usize {
        // SAFETY: the caller vouches for `work_dim` places.
        unsafe { suggested_local_work_size.add(d).write(range.local[d] as usize) };
    }
    Ok(())
}
