//! Program queries (OpenCL API, 5.8.9).

use std::ffi::{c_uchar, c_void};

use lockstep_icd_macros::entry_point;
use lockstep_runtime::device::Device;
use lockstep_runtime::program::{self, BuildStatus, Code, Program};
use lockstep_runtime::{Result, ensure};
use opencl_sys::{
    CL_BUILD_ERROR, CL_BUILD_IN_PROGRESS, CL_BUILD_NONE, CL_BUILD_SUCCESS, CL_INVALID_VALUE, CL_PROGRAM_BINARIES,
    CL_PROGRAM_BINARY_SIZES, CL_PROGRAM_BINARY_TYPE, CL_PROGRAM_BINARY_TYPE_COMPILED_OBJECT,
    CL_PROGRAM_BINARY_TYPE_EXECUTABLE, CL_PROGRAM_BINARY_TYPE_LIBRARY, CL_PROGRAM_BINARY_TYPE_NONE,
    CL_PROGRAM_BUILD_GLOBAL_VARIABLE_TOTAL_SIZE, CL_PROGRAM_BUILD_LOG, CL_PROGRAM_BUILD_OPTIONS,
    CL_PROGRAM_BUILD_STATUS, CL_PROGRAM_CONTEXT, CL_PROGRAM_DEVICES, CL_PROGRAM_IL, CL_PROGRAM_KERNEL_NAMES,
    CL_PROGRAM_NUM_DEVICES, CL_PROGRAM_NUM_KERNELS, CL_PROGRAM_REFERENCE_COUNT, CL_PROGRAM_SCOPE_GLOBAL_CTORS_PRESENT,
    CL_PROGRAM_SCOPE_GLOBAL_DTORS_PRESENT, CL_PROGRAM_SOURCE, cl_device_id, cl_program, cl_program_build_info,
    cl_program_info, cl_uint,
};

use crate::handle;
use crate::info::{self, Info};

/// `clGetProgramInfo`: answers questions about a program.
#[entry_point(clGetProgramInfo)]
pub unsafe fn get_program_info(
    program: cl_program,
    param_name: cl_program_info,
    param_value_size: usize,
    param_value: *mut c_void,
    param_value_size_ret: *mut usize,
) -> Result<()> {
    let program = handle::get::<Program>(program)?;
    // SAFETY: the caller vouches for the pointers.
    let info = unsafe { Info::new(param_value_size, param_value, param_value_size_ret) };
    match param_name {
        CL_PROGRAM_REFERENCE_COUNT => info.value(handle::references(&program)),
        CL_PROGRAM_CONTEXT => info.value(handle::of(program.context())),
        CL_PROGRAM_NUM_DEVICES => info.value(program.devices().len() as cl_uint),
        CL_PROGRAM_DEVICES => info.slice(&program.devices().iter().map(handle::of).collect::<Vec<_>>()),
        CL_PROGRAM_SOURCE => info.string(program.source().unwrap_or_default()),
        CL_PROGRAM_IL => info.bytes(program.intermediate_language().unwrap_or_default()),
        CL_PROGRAM_BINARY_SIZES => {
            let size = program.binary().len();
            info.slice(&vec![size; program.devices().len()])
        }
        // SAFETY: the caller vouches for an array of pointers, each null or to memory of the size asked for with
        // CL_PROGRAM_BINARY_SIZES.
        CL_PROGRAM_BINARIES => unsafe { write_binaries(&program, param_value_size, param_value, param_value_size_ret) },
        // "CL_INVALID_PROGRAM_EXECUTABLE if param_name is CL_PROGRAM_NUM_KERNELS, CL_PROGRAM_KERNEL_NAMES, […] and a
        // successful program executable has not been built".
        CL_PROGRAM_NUM_KERNELS => info.value(program.executable()?.outline().kernels.len()),
        CL_PROGRAM_KERNEL_NAMES => {
            let executable = program.executable()?;
            let names: Vec<_> = executable.outline().kernels.iter().map(|kernel| kernel.name.as_str()).collect();
            info.string(&names.join(";"))
        }
        CL_PROGRAM_SCOPE_GLOBAL_CTORS_PRESENT | CL_PROGRAM_SCOPE_GLOBAL_DTORS_PRESENT => {
            program.executable()?;
            info.bool(false)
        }
        _ => info::unknown(param_name),
    }
}

/// CL_PROGRAM_BINARIES: the answer goes where the array's pointers lead.
///
/// # Safety
/// As for `clGetProgramInfo` with that query.
unsafe fn write_binaries(program: &Program, size: usize, value: *mut c_void, size_ret: *mut usize) -> Result<()> {
    let count = program.devices().len();
    let needed = count * size_of::<*mut c_uchar>();
    if !value.is_null() {
        ensure!(
            size >= needed,
            CL_INVALID_VALUE,
            "param_value_size is {size}; the pointers of {count} binaries take {needed} bytes"
        );
        let binary = program.binary();
        for index in 0..count {
            // SAFETY: the caller vouches for `count` pointers.
            let target = unsafe { value.cast::<*mut c_uchar>().add(index).read() };
            if !target.is_null() {
                // SAFETY: the caller vouches for room for the binary.
                unsafe { std::ptr::copy_nonoverlapping(binary.as_ptr(), target, binary.len()) };
            }
        }
    }
    if !size_ret.is_null() {
        // SAFETY: not null, so the caller vouches for it.
        unsafe { size_ret.write(needed) };
    }
    Ok(())
}

/// `clGetProgramBuildInfo`: answers questions about a program's last build.
#[entry_point(clGetProgramBuildInfo)]
pub unsafe fn get_program_build_info(
    program: cl_program,
    device: cl_device_id,
    param_name: cl_program_build_info,
    param_value_size: usize,
    param_value: *mut c_void,
    param_value_size_ret: *mut usize,
) -> Result<()> {
    let program = handle::get::<Program>(program)?;
    // "CL_INVALID_DEVICE if device is not in the list of devices associated with program."
    program::check_devices(&program, &[handle::get::<Device>(device)?])?;
    // SAFETY: the caller vouches for the pointers.
    let info = unsafe { Info::new(param_value_size, param_value, param_value_size_ret) };
    let state = program.state();
    match param_name {
        CL_PROGRAM_BUILD_STATUS => info.value(match state.status {
            BuildStatus::None => CL_BUILD_NONE,
            BuildStatus::Error => CL_BUILD_ERROR,
            BuildStatus::Success => CL_BUILD_SUCCESS,
            BuildStatus::InProgress => CL_BUILD_IN_PROGRESS,
        }),
        CL_PROGRAM_BUILD_OPTIONS => info.string(&state.options),
        CL_PROGRAM_BUILD_LOG => info.string(&state.log),
        CL_PROGRAM_BINARY_TYPE => info.value(match &state.code {
            Code::Object(object) if object.is_library => CL_PROGRAM_BINARY_TYPE_LIBRARY,
            Code::Object(_) => CL_PROGRAM_BINARY_TYPE_COMPILED_OBJECT,
            _ if program.holds_executable() => CL_PROGRAM_BINARY_TYPE_EXECUTABLE,
            _ => CL_PROGRAM_BINARY_TYPE_NONE,
        }),
        CL_PROGRAM_BUILD_GLOBAL_VARIABLE_TOTAL_SIZE => info.value(match &state.code {
            Code::Executable(executable) => executable.globals().total_size(),
            _ => 0,
        }),
        _ => info::unknown(param_name),
    }
}
