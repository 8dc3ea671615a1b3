//! Native kernels: functions of the application as commands (OpenCL API, 5.10, `clEnqueueNativeKernel`).

use std::ffi::c_void;
use std::mem::size_of;
use std::sync::Arc;

use lockstep_icd_macros::entry_point;
use lockstep_runtime::command::Work;
use lockstep_runtime::memory::Memory;
use lockstep_runtime::memory_transfer::NativeCall;
use lockstep_runtime::queue::Queue;
use lockstep_runtime::{Result, ensure, error};
use opencl_sys::{CL_COMMAND_NATIVE_KERNEL, CL_INVALID_VALUE, cl_command_queue, cl_event, cl_mem, cl_uint};

use crate::api::buffer::buffer_in;
use crate::api::enqueue::{Completion, enqueue, wait_list};
use crate::handle::{self, Object};

/// `clEnqueueNativeKernel`: enqueues a call of a function of the application.
#[entry_point(clEnqueueNativeKernel)]
pub unsafe fn enqueue_native_kernel(
    command_queue: cl_command_queue,
    user_func: Option<unsafe extern "C" fn(*mut c_void)>,
    args: *mut c_void,
    cb_args: usize,
    num_mem_objects: cl_uint,
    mem_list: *const cl_mem,
    args_mem_loc: *mut *const c_void,
    num_events_in_wait_list: cl_uint,
    event_wait_list: *const cl_event,
    event: *mut cl_event,
) -> Result<()> {
    // SAFETY: the caller vouches for the pointers.
    unsafe {
        let queue = handle::get::<Queue>(command_queue)?;
        // "CL_INVALID_VALUE if user_func is NULL."
        let function = user_func.ok_or_else(|| error!(CL_INVALID_VALUE, "user_func is NULL"))?;
        // "CL_INVALID_VALUE if args is a NULL value and cb_args > 0, or if args is a NULL value and num_mem_objects > 0."
        ensure!(
            !args.is_null() || (cb_args == 0 && num_mem_objects == 0),
            CL_INVALID_VALUE,
            "args is NULL, cb_args {cb_args} and num_mem_objects {num_mem_objects}; both have to be 0"
        );
        // "CL_INVALID_VALUE if args is not NULL and cb_args is 0."
        ensure!(args.is_null() || cb_args > 0, CL_INVALID_VALUE, "args is not NULL, and cb_args is 0");
        // "CL_INVALID_VALUE if num_mem_objects > 0 and mem_list or args_mem_loc are NULL. CL_INVALID_VALUE if
        // num_mem_objects = 0 and mem_list or args_mem_loc are not NULL."
        handle::check_list(num_mem_objects, Memory::NAME, mem_list, CL_INVALID_VALUE)?;
        handle::check_list(num_mem_objects, "memory object's place", args_mem_loc, CL_INVALID_VALUE)?;

        let mut arguments = vec![0_u128; cb_args.div_ceil(size_of::<u128>())].into_boxed_slice();
        let copy = arguments.as_mut_ptr().cast::<u8>();
        if cb_args > 0 {
            std::ptr::copy_nonoverlapping(args.cast::<u8>(), copy, cb_args);
        }
        let mut memory = Vec::with_capacity(num_mem_objects as usize);
        for i in 0..num_mem_objects as usize {
            let offset = argument_place(args, cb_args, args_mem_loc.add(i).read())?;
            let object = mem_list.add(i).read();
            // "CL_INVALID_MEM_OBJECT if one or more memory objects specified in mem_list are not valid"; NULL is one of
            // the values it may hold.
            let get = || {
                let buffer = buffer_in(queue.context(), object);
                buffer.map_err(|error| error.with_subject(format_args!("memory object {i} of {num_mem_objects}")))
            };
            let buffer = (!object.is_null()).then(get).transpose()?;
            let address = buffer.as_ref().map_or(std::ptr::null_mut(), |buffer| buffer.start());
            copy.add(offset).cast::<*mut u8>().write_unaligned(address);
            memory.extend(buffer);
        }
        let waits = wait_list(queue.context(), num_events_in_wait_list, event_wait_list)?;
        let call = NativeCall::new(function, arguments, memory);
        let completion = Completion { blocking: false, event };
        enqueue(&queue, CL_COMMAND_NATIVE_KERNEL, waits, Work::Shared(Arc::new(call)), completion)
    }
}

/// Where in the arguments a buffer's address goes. A place outside of them could not be copied with them.
fn argument_place(args: *const c_void, cb_args: usize, location: *const c_void) -> Result<usize> {
    let offset = (location as usize).wrapping_sub(args as usize);
    let fits = offset.checked_add(size_of::<cl_mem>()).is_some_and(|end| end <= cb_args);
    ensure!(
        fits,
        CL_INVALID_VALUE,
        "the place of a memory object, {location:p}, is outside of the {cb_args} bytes at args {args:p}"
    );
    Ok(offset)
}
