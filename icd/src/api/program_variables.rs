//! Variables of programs in global memory, which the host finds by name: `clGetDeviceGlobalVariablePointerINTEL` and the transfers that
//! go with it. They are in no published extension; SYCL's runtime looks the functions up, with these parameters, for its
//! `device_global`.

use std::ffi::{CStr, c_char, c_void};
use std::sync::Arc;

use lockstep_icd_macros::entry_point;
use lockstep_runtime::device::Device;
use lockstep_runtime::memory_layout::Layout;
use lockstep_runtime::memory_transfer::{HostPointer, Place, Transfer};
use lockstep_runtime::program::variable::ProgramVariable;
use lockstep_runtime::program::{self, Program};
use lockstep_runtime::queue::Queue;
use lockstep_runtime::{Result, ensure};
use opencl_sys::{
    CL_COMMAND_MEMCPY_INTEL, CL_FALSE, CL_INVALID_DEVICE, CL_INVALID_VALUE, cl_bool, cl_command_queue, cl_device_id,
    cl_event, cl_program, cl_uint,
};

use crate::api::buffer::check_context;
use crate::api::enqueue::Order;
use crate::handle;

/// A variable of a program that has been built.
///
/// # Safety
/// `name` is null or points to a null-terminated string.
unsafe fn find_variable(program: &Program, name: *const c_char) -> Result<ProgramVariable> {
    ensure!(!name.is_null(), CL_INVALID_VALUE, "the variable's name is NULL");
    // SAFETY: not null, so the caller vouches for the string.
    let name = program::parse_name(unsafe { CStr::from_ptr(name) }.to_bytes())?;
    ProgramVariable::find_by_name(program.executable()?, name)
}

/// `clGetDeviceGlobalVariablePointerINTEL`: where a variable is, for the host and for kernels, and how many bytes it has.
#[entry_point(clGetDeviceGlobalVariablePointerINTEL)]
pub unsafe fn get_device_global_variable_pointer(
    device: cl_device_id,
    program: cl_program,
    global_variable_name: *const c_char,
    global_variable_size_ret: *mut usize,
    global_variable_pointer_ret: *mut *mut c_void,
) -> Result<()> {
    let device = handle::get::<Device>(device)?;
    let program = handle::get::<Program>(program)?;
    ensure!(
        program.devices().iter().any(|own| Arc::ptr_eq(own, &device)),
        CL_INVALID_DEVICE,
        "the program is not for this device"
    );
    // SAFETY: the caller vouches for the name.
    let variable = unsafe { find_variable(&program, global_variable_name)? };
    ensure!(!global_variable_pointer_ret.is_null(), CL_INVALID_VALUE, "global_variable_pointer_ret is NULL");
    // SAFETY: not null, so the caller vouches for both.
    unsafe {
        global_variable_pointer_ret.write(variable.first_byte().cast());
        if !global_variable_size_ret.is_null() {
            global_variable_size_ret.write(variable.byte_size());
        }
    }
    Ok(())
}

/// The bytes of a variable that are transferred, and the application's.
struct CheckedTransfer {
    variable: Place,
    host: Place,
}

/// Checks the bytes of a variable that a command reads or writes.
///
/// # Safety
/// `name` is null or points to a null-terminated string; `host` is as the command needs it.
unsafe fn check_transfer(
    queue: &Queue,
    program: cl_program,
    name: *const c_char,
    bytes: [usize; 2],
    host: *const c_void,
) -> Result<CheckedTransfer> {
    let program = handle::get::<Program>(program)?;
    check_context(program.context(), queue.context(), "the program")?;
    // SAFETY: the caller vouches for the name.
    let variable = unsafe { find_variable(&program, name)? };
    let [size, offset] = bytes;
    let byte_size = variable.byte_size();
    ensure!(
        offset.checked_add(size).is_some_and(|end| end <= byte_size),
        CL_INVALID_VALUE,
        "{size} bytes at offset {offset} are not within the variable's {byte_size}"
    );
    ensure!(!host.is_null(), CL_INVALID_VALUE, "the address of the host's bytes is NULL");
    // SAFETY: the caller vouches for the pointer.
    let host = unsafe { HostPointer::new(host.cast_mut().cast()) };
    Ok(CheckedTransfer {
        variable: Place::in_variable(variable, Layout::of_bytes(offset)),
        host: Place::in_host(host, Layout::of_bytes(0)),
    })
}

/// `clEnqueueReadGlobalVariableINTEL`: copies bytes of a variable to the host.
#[entry_point(clEnqueueReadGlobalVariableINTEL)]
pub unsafe fn enqueue_read_global_variable(
    command_queue: cl_command_queue,
    program: cl_program,
    name: *const c_char,
    blocking_read: cl_bool,
    size: usize,
    offset: usize,
    ptr: *mut c_void,
    num_events_in_wait_list: cl_uint,
    event_wait_list: *const cl_event,
    event: *mut cl_event,
) -> Result<()> {
    let order = Order { count: num_events_in_wait_list, list: event_wait_list, event };
    let queue = handle::get::<Queue>(command_queue)?;
    // SAFETY: the same contract.
    unsafe {
        let CheckedTransfer { variable, host } = check_transfer(&queue, program, name, [size, offset], ptr)?;
        let copy = Transfer::copy(CL_COMMAND_MEMCPY_INTEL, variable, host, [size, 1, 1]);
        order.enqueue_transfer(&queue, blocking_read != CL_FALSE, copy)
    }
}

/// `clEnqueueWriteGlobalVariableINTEL`: copies bytes of the host to a variable.
#[entry_point(clEnqueueWriteGlobalVariableINTEL)]
pub unsafe fn enqueue_write_global_variable(
    command_queue: cl_command_queue,
    program: cl_program,
    name: *const c_char,
    blocking_write: cl_bool,
    size: usize,
    offset: usize,
    ptr: *const c_void,
    num_events_in_wait_list: cl_uint,
    event_wait_list: *const cl_event,
    event: *mut cl_event,
) -> Result<()> {
    let order = Order { count: num_events_in_wait_list, list: event_wait_list, event };
    let queue = handle::get::<Queue>(command_queue)?;
    // SAFETY: the same contract.
    unsafe {
        let CheckedTransfer { variable, host } = check_transfer(&queue, program, name, [size, offset], ptr)?;
        let copy = Transfer::copy(CL_COMMAND_MEMCPY_INTEL, host, variable, [size, 1, 1]);
        order.enqueue_transfer(&queue, blocking_write != CL_FALSE, copy)
    }
}
