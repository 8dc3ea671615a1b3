//! Pipes (OpenCL API, 5.4).

use std::ffi::c_void;
use std::sync::Arc;

use lockstep_icd_macros::entry_point;
use lockstep_runtime::context::Context;
use lockstep_runtime::memory::Memory;
use lockstep_runtime::pipe::{MAX_PACKET_SIZE, Pipe};
use lockstep_runtime::{Result, ensure, error};
use opencl_sys::{
    CL_INVALID_MEM_OBJECT, CL_INVALID_PIPE_SIZE, CL_INVALID_VALUE, CL_MEM_HOST_NO_ACCESS, CL_MEM_READ_WRITE,
    CL_PIPE_MAX_PACKETS, CL_PIPE_PACKET_SIZE, CL_PIPE_PROPERTIES, cl_context, cl_mem, cl_mem_flags, cl_pipe_info,
    cl_pipe_properties, cl_uint,
};

use crate::api::buffer::{kind_of, memory_in};
use crate::handle;
use crate::info::{self, Info};

/// `clCreatePipe`: makes a pipe of packets of one size.
#[entry_point(clCreatePipe)]
pub fn create_pipe(
    context: cl_context,
    flags: cl_mem_flags,
    packet_size: cl_uint,
    max_packets: cl_uint,
    properties: *const cl_pipe_properties,
) -> Result<cl_mem> {
    // "CL_INVALID_CONTEXT if context is not a valid context."
    let context = handle::get::<Context>(context)?;
    // "Only CL_MEM_READ_WRITE and CL_MEM_HOST_NO_ACCESS can be specified when creating a pipe object. If the value
    // specified for flags is 0, the default is used which is CL_MEM_READ_WRITE | CL_MEM_HOST_NO_ACCESS."
    let all = CL_MEM_READ_WRITE | CL_MEM_HOST_NO_ACCESS;
    ensure!(
        flags & !all == 0,
        CL_INVALID_VALUE,
        "flags are {flags:#x}; CL_MEM_READ_WRITE and CL_MEM_HOST_NO_ACCESS are allowed"
    );
    let flags = if flags == 0 { all } else { flags };
    // "CL_INVALID_VALUE if properties is not NULL."
    ensure!(properties.is_null(), CL_INVALID_VALUE, "properties is {properties:p}; NULL is allowed");
    // "CL_INVALID_PIPE_SIZE if pipe_packet_size is 0 or the pipe_packet_size exceeds CL_DEVICE_PIPE_MAX_PACKET_SIZE
    // value […] for all devices in context or if pipe_max_packets is 0."
    ensure!(
        (1..=MAX_PACKET_SIZE).contains(&packet_size),
        CL_INVALID_PIPE_SIZE,
        "packets of {packet_size} bytes; 1 to {MAX_PACKET_SIZE} are allowed"
    );
    ensure!(max_packets > 0, CL_INVALID_PIPE_SIZE, "a pipe for 0 packets");
    handle::publish(Memory::new_pipe(context, flags, Pipe { packet_size, max_packets })?)
}

/// `clGetPipeInfo`: answers questions about a pipe.
#[entry_point(clGetPipeInfo)]
pub unsafe fn get_pipe_info(
    pipe: cl_mem,
    param_name: cl_pipe_info,
    param_value_size: usize,
    param_value: *mut c_void,
    param_value_size_ret: *mut usize,
) -> Result<()> {
    // "CL_INVALID_MEM_OBJECT if pipe is a not a valid pipe object."
    let memory = handle::get::<Memory>(pipe)?;
    let pipe = pipe_of(pipe, &memory)?;
    // SAFETY: the caller vouches for the pointers.
    let info = unsafe { Info::new(param_value_size, param_value, param_value_size_ret) };
    match param_name {
        CL_PIPE_PACKET_SIZE => info.value(pipe.packet_size),
        CL_PIPE_MAX_PACKETS => info.value(pipe.max_packets),
        // None can be given.
        CL_PIPE_PROPERTIES => info.slice::<cl_pipe_properties>(&[]),
        // "CL_INVALID_VALUE if param_name is not one of the supported values".
        _ => info::unknown(param_name),
    }
}

/// A pipe to be used with a kernel of this context.
///
/// "CL_INVALID_MEM_OBJECT for an argument declared to be a memory object when the specified arg_value is not a valid
/// memory object."
pub fn pipe_in(context: &Arc<Context>, object: cl_mem) -> Result<Arc<Memory>> {
    let memory = memory_in(context, object)?;
    pipe_of(object, &memory)?;
    Ok(memory)
}

/// "CL_INVALID_MEM_OBJECT if pipe is a not a valid pipe object."
fn pipe_of(object: cl_mem, memory: &Memory) -> Result<Pipe> {
    memory.pipe().ok_or_else(|| error!(CL_INVALID_MEM_OBJECT, "{object:p} is {}, not a pipe", kind_of(memory)))
}
