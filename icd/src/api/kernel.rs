//! Kernel objects (OpenCL API, 5.9): creation, arguments, queries.

use std::ffi::{CStr, c_char, c_void};

use lockstep_icd_macros::entry_point;
use lockstep_runtime::device::Device;
use lockstep_runtime::kernel::{Kernel, Param, ParamKind, Space};
use lockstep_runtime::program::{self, Program};
use lockstep_runtime::sampler::Sampler;
use lockstep_runtime::{Error, Result, ensure};
use opencl_sys::{
    CL_INVALID_ARG_INDEX, CL_INVALID_ARG_VALUE, CL_INVALID_DEVICE, CL_INVALID_MEM_OBJECT, CL_INVALID_SAMPLER,
    CL_INVALID_VALUE, CL_KERNEL_ARG_ACCESS_NONE, CL_KERNEL_ARG_ACCESS_QUALIFIER, CL_KERNEL_ARG_ACCESS_READ_ONLY,
    CL_KERNEL_ARG_ACCESS_READ_WRITE, CL_KERNEL_ARG_ACCESS_WRITE_ONLY, CL_KERNEL_ARG_ADDRESS_CONSTANT,
    CL_KERNEL_ARG_ADDRESS_GLOBAL, CL_KERNEL_ARG_ADDRESS_LOCAL, CL_KERNEL_ARG_ADDRESS_PRIVATE,
    CL_KERNEL_ARG_ADDRESS_QUALIFIER, CL_KERNEL_ARG_INFO_NOT_AVAILABLE, CL_KERNEL_ARG_NAME, CL_KERNEL_ARG_TYPE_CONST,
    CL_KERNEL_ARG_TYPE_NAME, CL_KERNEL_ARG_TYPE_PIPE, CL_KERNEL_ARG_TYPE_QUALIFIER, CL_KERNEL_ARG_TYPE_RESTRICT,
    CL_KERNEL_ARG_TYPE_VOLATILE, CL_KERNEL_ATTRIBUTES, CL_KERNEL_COMPILE_NUM_SUB_GROUPS,
    CL_KERNEL_COMPILE_SUB_GROUP_SIZE_INTEL, CL_KERNEL_COMPILE_WORK_GROUP_SIZE, CL_KERNEL_CONTEXT,
    CL_KERNEL_FUNCTION_NAME, CL_KERNEL_LOCAL_MEM_SIZE, CL_KERNEL_LOCAL_SIZE_FOR_SUB_GROUP_COUNT,
    CL_KERNEL_MAX_NUM_SUB_GROUPS, CL_KERNEL_MAX_SUB_GROUP_SIZE_FOR_NDRANGE, CL_KERNEL_NUM_ARGS,
    CL_KERNEL_PREFERRED_WORK_GROUP_SIZE_MULTIPLE, CL_KERNEL_PRIVATE_MEM_SIZE, CL_KERNEL_PROGRAM,
    CL_KERNEL_REFERENCE_COUNT, CL_KERNEL_SPILL_MEM_SIZE_INTEL, CL_KERNEL_SUB_GROUP_COUNT_FOR_NDRANGE,
    CL_KERNEL_WORK_GROUP_SIZE, CL_MEM_READ_ONLY, CL_MEM_WRITE_ONLY, cl_device_id, cl_kernel, cl_kernel_arg_info,
    cl_kernel_info, cl_kernel_sub_group_info, cl_kernel_work_group_info, cl_mem, cl_mem_device_address_ext, cl_program,
    cl_sampler, cl_uint, cl_ulong,
};

use crate::api::buffer::{buffer_in, check_context};
use crate::api::image::image_in;
use crate::api::pipe::pipe_in;
use crate::handle;
use crate::info::{self, Info};

/// Work-items that make best use of the SIMD registers: CL_KERNEL_PREFERRED_WORK_GROUP_SIZE_MULTIPLE.
const PREFERRED_MULTIPLE: usize = 16;

/// `clCreateKernel`: makes an object of the kernel with this name.
#[entry_point(clCreateKernel)]
pub unsafe fn create_kernel(program: cl_program, kernel_name: *const c_char) -> Result<cl_kernel> {
    let program = handle::get::<Program>(program)?;
    // "CL_INVALID_VALUE if kernel_name is NULL."
    ensure!(!kernel_name.is_null(), CL_INVALID_VALUE, "kernel_name is NULL");
    // SAFETY: the caller vouches for the terminating null.
    let name = program::parse_name(unsafe { CStr::from_ptr(kernel_name) }.to_bytes())?;
    handle::publish(Kernel::new(&program, name)?)
}

/// `clCreateKernelsInProgram`: makes an object of every kernel of a program.
#[entry_point(clCreateKernelsInProgram)]
pub unsafe fn create_kernels_in_program(
    program: cl_program,
    num_kernels: cl_uint,
    kernels: *mut cl_kernel,
    num_kernels_ret: *mut cl_uint,
) -> Result<()> {
    let program = handle::get::<Program>(program)?;
    let count = program.executable()?.outline().kernels.len();
    if !kernels.is_null() {
        // "CL_INVALID_VALUE if kernels is not NULL and num_kernels is less than the number of kernels in program."
        ensure!(
            num_kernels as usize >= count,
            CL_INVALID_VALUE,
            "num_kernels is {num_kernels}; the program has {count} kernels"
        );
        for (index, kernel) in Kernel::all_of_program(&program)?.into_iter().enumerate() {
            let handle = handle::publish(kernel)?;
            // SAFETY: the caller vouches for `num_kernels` places, which are enough.
            unsafe { kernels.add(index).write(handle) };
        }
    }
    if !num_kernels_ret.is_null() {
        // SAFETY: not null, so the caller vouches for it.
        unsafe { num_kernels_ret.write(count as cl_uint) };
    }
    Ok(())
}

/// `clCloneKernel`: makes a kernel object with the same arguments.
#[entry_point(clCloneKernel)]
pub fn clone_kernel(source_kernel: cl_kernel) -> Result<cl_kernel> {
    handle::publish(handle::get::<Kernel>(source_kernel)?.clone_kernel())
}

/// `clRetainKernel`: "CL_INVALID_KERNEL if kernel is not a valid kernel object."
#[entry_point(clRetainKernel)]
pub fn retain_kernel(kernel: cl_kernel) -> Result<()> {
    handle::retain::<Kernel>(kernel)
}

/// `clReleaseKernel`: "CL_INVALID_KERNEL if kernel is not a valid kernel object."
#[entry_point(clReleaseKernel)]
pub fn release_kernel(kernel: cl_kernel) -> Result<()> {
    handle::release::<Kernel>(kernel)
}

/// `clSetKernelArg`: sets an argument of a kernel from `arg_size` bytes.
#[entry_point(clSetKernelArg)]
pub unsafe fn set_kernel_arg(
    kernel: cl_kernel,
    arg_index: cl_uint,
    arg_size: usize,
    arg_value: *const c_void,
) -> Result<()> {
    // SAFETY: the same contract.
    unsafe { set_argument(&*handle::get::<Kernel>(kernel)?, arg_index, arg_size, arg_value) }
}

/// Sets an argument of a kernel, which no handle may stand for.
///
/// # Safety
/// `arg_value` is null or points to `arg_size` bytes.
pub unsafe fn set_argument(
    kernel: &Kernel,
    arg_index: cl_uint,
    arg_size: usize,
    arg_value: *const c_void,
) -> Result<()> {
    let index = arg_index as usize;
    let named = |error: Error| error.with_subject(kernel.describe_argument(index));
    match kernel.param(index)?.kind {
        ParamKind::Value => {
            // "CL_INVALID_ARG_VALUE if arg_value specified is not a valid value."
            let argument = kernel.describe_argument(index);
            ensure!(!arg_value.is_null(), CL_INVALID_ARG_VALUE, "{argument} is a plain value; arg_value is NULL");
            // "CL_INVALID_ARG_SIZE if arg_size does not match the size of the data type for an argument that is not
            // a memory object".
            kernel.check_size(index, arg_size, kernel.param(index)?.size as usize)?;
            // SAFETY: the caller vouches for `arg_size` bytes.
            kernel.set_value(index, unsafe { std::slice::from_raw_parts(arg_value.cast(), arg_size) })
        }
        ParamKind::Pointer(_) => {
            // "[…] or if the argument is a memory object and arg_size != sizeof(cl_mem)".
            kernel.check_size(index, arg_size, size_of::<cl_mem>())?;
            let object = if arg_value.is_null() {
                std::ptr::null_mut()
            } else {
                // SAFETY: the caller vouches for `arg_size` bytes, which hold a handle.
                unsafe { arg_value.cast::<cl_mem>().read_unaligned() }
            };
            // "If the argument is a buffer object, the arg_value pointer can be NULL or point to a NULL value in
            // which case a NULL value will be used".
            // "CL_INVALID_MEM_OBJECT if arg_value […] does not point to a valid memory object"; "CL_INVALID_CONTEXT if
            // the context associated with kernel and an OpenCL object pointed to by arg_value are not the same".
            let context = kernel.program().context();
            if kernel.param(index)?.is_pipe() {
                return kernel.set_buffer(index, Some(&pipe_in(context, object).map_err(named)?));
            }
            let buffer = (!object.is_null()).then(|| buffer_in(context, object).map_err(named)).transpose()?;
            // "CL_INVALID_ARG_VALUE if arg_value is a memory object created with CL_MEM_IMMUTABLE_EXT and the argument" may be
            // written to.
            let is_immutable = buffer.as_ref().is_some_and(|buffer| buffer.is_immutable());
            ensure!(
                !is_immutable || kernel.param(index)?.is_only_read(),
                CL_INVALID_ARG_VALUE,
                "{} may be written to, and the buffer is immutable",
                kernel.describe_argument(index)
            );
            kernel.set_buffer(index, buffer.as_ref())
        }
        ParamKind::Local => {
            // "If the argument is declared with the local qualifier, the arg_value entry must be NULL."
            let argument = kernel.describe_argument(index);
            ensure!(
                arg_value.is_null(),
                CL_INVALID_ARG_VALUE,
                "{argument} is local memory; arg_value is {arg_value:p}, and NULL is allowed"
            );
            kernel.set_local(index, arg_size as u64)
        }
        ParamKind::Image => {
            kernel.check_size(index, arg_size, size_of::<cl_mem>())?;
            // "CL_INVALID_MEM_OBJECT if arg_value is NULL and it must point to a valid memory object [or] does not
            // point to a valid memory object".
            let argument = kernel.describe_argument(index);
            ensure!(!arg_value.is_null(), CL_INVALID_MEM_OBJECT, "{argument} is an image; arg_value is NULL");
            // SAFETY: the caller vouches for `arg_size` bytes, which hold a handle.
            let object = unsafe { arg_value.cast::<cl_mem>().read_unaligned() };
            let (memory, _) = image_in(kernel.program().context(), object).map_err(named)?;
            // "CL_INVALID_ARG_VALUE if the argument is an image declared with the read_only qualifier and arg_value
            // refers to an image object created with cl_mem_flags of CL_MEM_WRITE_ONLY, or if the image argument is
            // declared with the write_only qualifier and arg_value refers to an image object created with
            // cl_mem_flags of CL_MEM_READ_ONLY."
            let access = kernel.param(index)?.access.as_str();
            let forbidden = match access {
                "read_only" => CL_MEM_WRITE_ONLY,
                "write_only" => CL_MEM_READ_ONLY,
                _ => CL_MEM_READ_ONLY | CL_MEM_WRITE_ONLY,
            };
            ensure!(
                memory.flags() & forbidden == 0,
                CL_INVALID_ARG_VALUE,
                "{argument} is {access}; the image's flags are {:#x}",
                memory.flags()
            );
            kernel.set_image(index, &memory)
        }
        ParamKind::Sampler => {
            // "CL_INVALID_ARG_SIZE […] if arg_size != sizeof(cl_sampler) and the argument is a sampler."
            kernel.check_size(index, arg_size, size_of::<cl_sampler>())?;
            // "CL_INVALID_SAMPLER if the kernel argument is a sampler, but arg_value does not point to a valid sampler
            // object."
            let argument = kernel.describe_argument(index);
            ensure!(!arg_value.is_null(), CL_INVALID_SAMPLER, "{argument} is a sampler; arg_value is NULL");
            // SAFETY: the caller vouches for `arg_size` bytes, which hold a handle.
            let sampler = unsafe { arg_value.cast::<cl_sampler>().read_unaligned() };
            let sampler = handle::get::<Sampler>(sampler).map_err(named)?;
            check_context(&sampler.context, kernel.program().context(), "the sampler").map_err(named)?;
            kernel.set_sampler(index, &sampler)
        }
    }
}

/// `clSetKernelArgDevicePointerEXT`: "it's legal to pass invalid pointers".
#[entry_point(clSetKernelArgDevicePointerEXT)]
pub fn set_kernel_arg_device_pointer(
    kernel: cl_kernel,
    arg_index: cl_uint,
    arg_value: cl_mem_device_address_ext,
) -> Result<()> {
    let kernel = handle::get::<Kernel>(kernel)?;
    let index = arg_index as usize;
    // "CL_INVALID_ARG_INDEX if arg_index is not a valid argument index [or] corresponds to an argument that is not a
    // pointer to the global address space."
    ensure!(
        kernel.param(index)?.kind == ParamKind::Pointer(Space::Global),
        CL_INVALID_ARG_INDEX,
        "{} is not a pointer to global memory",
        kernel.describe_argument(index)
    );
    kernel.set_pointer(index, arg_value)
}

/// `clGetKernelInfo`: answers questions about a kernel.
#[entry_point(clGetKernelInfo)]
pub unsafe fn get_kernel_info(
    kernel: cl_kernel,
    param_name: cl_kernel_info,
    param_value_size: usize,
    param_value: *mut c_void,
    param_value_size_ret: *mut usize,
) -> Result<()> {
    let kernel = handle::get::<Kernel>(kernel)?;
    // SAFETY: the caller vouches for the pointers.
    let info = unsafe { Info::new(param_value_size, param_value, param_value_size_ret) };
    match param_name {
        CL_KERNEL_FUNCTION_NAME => info.string(&kernel.outline().name),
        CL_KERNEL_NUM_ARGS => info.value(kernel.outline().params.len() as cl_uint),
        CL_KERNEL_REFERENCE_COUNT => info.value(handle::references(&kernel)),
        CL_KERNEL_CONTEXT => info.value(handle::of(kernel.program().context())),
        CL_KERNEL_PROGRAM => info.value(handle::of(kernel.program())),
        // "For kernels not created from OpenCL C source and the clCreateProgramWithSource API call the string returned from
        // this query will be empty."
        CL_KERNEL_ATTRIBUTES if !kernel.program().is_from_sources() => info.string(""),
        CL_KERNEL_ATTRIBUTES => info.string(&kernel.outline().attrs.text),
        _ => info::unknown(param_name),
    }
}

/// `clGetKernelWorkGroupInfo`: tells how a kernel can run on a device.
#[entry_point(clGetKernelWorkGroupInfo)]
pub unsafe fn get_kernel_work_group_info(
    kernel: cl_kernel,
    device: cl_device_id,
    param_name: cl_kernel_work_group_info,
    param_value_size: usize,
    param_value: *mut c_void,
    param_value_size_ret: *mut usize,
) -> Result<()> {
    let kernel = handle::get::<Kernel>(kernel)?;
    check_device(&kernel, device)?;
    // SAFETY: the caller vouches for the pointers.
    let info = unsafe { Info::new(param_value_size, param_value, param_value_size_ret) };
    match param_name {
        CL_KERNEL_WORK_GROUP_SIZE => info.value(kernel.max_group_size()),
        CL_KERNEL_COMPILE_WORK_GROUP_SIZE => {
            let required = kernel.outline().attrs.reqd_work_group_size.unwrap_or_default();
            info.value(required.map(|n| n as usize))
        }
        CL_KERNEL_LOCAL_MEM_SIZE => info.value::<cl_ulong>(kernel.local_mem_size()),
        CL_KERNEL_PREFERRED_WORK_GROUP_SIZE_MULTIPLE => info.value(PREFERRED_MULTIPLE.max(kernel.sub_group_size())),
        CL_KERNEL_PRIVATE_MEM_SIZE => info.value::<cl_ulong>(kernel.private_mem_size()),
        // "Returns the amount of spill memory used by a kernel": registers are saved on the thread's stack, and no
        // memory of the device is set apart for them.
        CL_KERNEL_SPILL_MEM_SIZE_INTEL => info.value::<cl_ulong>(0),
        // CL_KERNEL_GLOBAL_WORK_SIZE: "CL_INVALID_VALUE […] if device is not a custom device and kernel is not a
        // built-in kernel".
        _ => info::unknown(param_name),
    }
}

/// "CL_INVALID_DEVICE if device is not in the list of devices associated with kernel or if device is NULL but there is
/// more than one device associated with kernel."
fn check_device(kernel: &Kernel, device: cl_device_id) -> Result<()> {
    if device.is_null() {
        let count = kernel.program().devices().len();
        ensure!(count == 1, CL_INVALID_DEVICE, "device is NULL, and the kernel's program is for {count} devices");
        return Ok(());
    }
    program::check_devices(kernel.program(), &[handle::get::<Device>(device)?])
}

/// `clGetKernelArgInfo`: answers questions about a parameter of a kernel.
#[entry_point(clGetKernelArgInfo)]
pub unsafe fn get_kernel_arg_info(
    kernel: cl_kernel,
    arg_index: cl_uint,
    param_name: cl_kernel_arg_info,
    param_value_size: usize,
    param_value: *mut c_void,
    param_value_size_ret: *mut usize,
) -> Result<()> {
    let kernel = handle::get::<Kernel>(kernel)?;
    let param = kernel.param(arg_index as usize)?;
    // "Kernel argument information is only available if the program object associated with kernel is created with
    // clCreateProgramWithSource". Binaries keep what is known of their sources.
    ensure!(
        kernel.program().intermediate_language().is_none(),
        CL_KERNEL_ARG_INFO_NOT_AVAILABLE,
        "the program was created with a SPIR-V module, not with OpenCL C"
    );
    // "CL_KERNEL_ARG_INFO_NOT_AVAILABLE if the argument information is not available for kernel."
    ensure!(
        !param.type_name.is_empty(),
        CL_KERNEL_ARG_INFO_NOT_AVAILABLE,
        "the program was made without information on arguments"
    );
    // SAFETY: the caller vouches for the pointers.
    let info = unsafe { Info::new(param_value_size, param_value, param_value_size_ret) };
    match param_name {
        CL_KERNEL_ARG_ADDRESS_QUALIFIER => info.value(address_qualifier(param)),
        CL_KERNEL_ARG_ACCESS_QUALIFIER => info.value(match param.access.as_str() {
            "read_only" => CL_KERNEL_ARG_ACCESS_READ_ONLY,
            "write_only" => CL_KERNEL_ARG_ACCESS_WRITE_ONLY,
            "read_write" => CL_KERNEL_ARG_ACCESS_READ_WRITE,
            _ => CL_KERNEL_ARG_ACCESS_NONE,
        }),
        CL_KERNEL_ARG_TYPE_NAME => info.string(&param.type_name),
        CL_KERNEL_ARG_TYPE_QUALIFIER => {
            let qualifiers = param.qualifiers.split_whitespace();
            info.value(qualifiers.fold(0_u64, |bits, qualifier| bits | u64::from(type_qualifier(qualifier))))
        }
        CL_KERNEL_ARG_NAME => info.string(&param.name),
        _ => info::unknown(param_name),
    }
}

fn type_qualifier(qualifier: &str) -> cl_uint {
    match qualifier {
        "const" => CL_KERNEL_ARG_TYPE_CONST,
        "restrict" => CL_KERNEL_ARG_TYPE_RESTRICT,
        "volatile" => CL_KERNEL_ARG_TYPE_VOLATILE,
        "pipe" => CL_KERNEL_ARG_TYPE_PIPE,
        _ => 0,
    }
}

fn address_qualifier(param: &Param) -> cl_uint {
    match param.kind {
        ParamKind::Value | ParamKind::Sampler => CL_KERNEL_ARG_ADDRESS_PRIVATE,
        ParamKind::Local => CL_KERNEL_ARG_ADDRESS_LOCAL,
        ParamKind::Pointer(Space::Constant) => CL_KERNEL_ARG_ADDRESS_CONSTANT,
        ParamKind::Pointer(_) | ParamKind::Image => CL_KERNEL_ARG_ADDRESS_GLOBAL,
    }
}

/// The sub-groups of work-groups of a size, at `size` work-items each.
fn sub_groups_of(local: &[usize], size: usize) -> usize {
    local.iter().fold(1, |all: usize, &items| all.saturating_mul(items)).div_ceil(size)
}

/// The words of an input value of so many bytes, of which there are one to `maximum`.
///
/// # Safety
/// `input_value` is null or so many bytes can be read from it.
unsafe fn read_input(input_value_size: usize, input_value: *const c_void, maximum: usize) -> Result<Vec<usize>> {
    let word = size_of::<usize>();
    let fits = input_value_size.is_multiple_of(word) && (1..=maximum).contains(&(input_value_size / word));
    ensure!(
        fits,
        CL_INVALID_VALUE,
        "input_value_size is {input_value_size}; 1 to {maximum} values of {word} bytes are allowed"
    );
    ensure!(!input_value.is_null(), CL_INVALID_VALUE, "input_value is NULL");
    let values = input_value.cast::<usize>();
    // SAFETY: the caller vouches that so many bytes can be read; nothing is asked of their alignment.
    Ok((0..input_value_size / word).map(|index| unsafe { values.add(index).read_unaligned() }).collect())
}

/// `clGetKernelSubGroupInfo`: sub-groups are gangs, and a kernel's gangs have a fixed number of lanes.
#[entry_point(clGetKernelSubGroupInfoKHR)]
pub unsafe fn get_kernel_sub_group_info(
    kernel: cl_kernel,
    device: cl_device_id,
    param_name: cl_kernel_sub_group_info,
    input_value_size: usize,
    input_value: *const c_void,
    param_value_size: usize,
    param_value: *mut c_void,
    param_value_size_ret: *mut usize,
) -> Result<()> {
    let kernel = handle::get::<Kernel>(kernel)?;
    check_device(&kernel, device)?;
    // "CL_INVALID_VALUE […] if param_name is CL_KERNEL_MAX_SUB_GROUP_SIZE_FOR_NDRANGE, […] and the size in bytes
    // specified by input_value_size is not valid or if input_value is NULL."
    // SAFETY: the caller vouches that so many bytes can be read.
    let input = |maximum: usize| unsafe { read_input(input_value_size, input_value, maximum) };
    // SAFETY: the caller vouches for the pointers.
    let info = unsafe { Info::new(param_value_size, param_value, param_value_size_ret) };
    let sub_group = kernel.sub_group_size();
    match param_name {
        CL_KERNEL_MAX_SUB_GROUP_SIZE_FOR_NDRANGE => {
            input(3)?;
            info.value(sub_group)
        }
        CL_KERNEL_SUB_GROUP_COUNT_FOR_NDRANGE => info.value(sub_groups_of(&input(3)?, sub_group)),
        CL_KERNEL_LOCAL_SIZE_FOR_SUB_GROUP_COUNT => {
            let count = input(1)?[0];
            let full = count.saturating_mul(sub_group);
            let sizes = match kernel.outline().attrs.reqd_work_group_size {
                Some(required) => {
                    Some(required.map(|n| n as usize)).filter(|size| sub_groups_of(size, sub_group) == count)
                }
                None => Some([full, 1, 1]).filter(|_| (1..=kernel.max_group_size()).contains(&full)),
            };
            // As many dimensions as the caller has room for. "If no work-group size will accommodate the requested
            // number of sub-groups […] all 0".
            let dimensions = if param_value.is_null() { 3 } else { param_value_size / size_of::<usize>() };
            info.slice(&sizes.unwrap_or_default()[..dimensions.clamp(1, 3)])
        }
        CL_KERNEL_MAX_NUM_SUB_GROUPS => info.value(sub_groups_of(&[kernel.max_group_size()], sub_group)),
        // No source can ask for a number of sub-groups.
        CL_KERNEL_COMPILE_NUM_SUB_GROUPS => info.value::<usize>(0),
        // "Returns the sub-group size specified [for] the kernel […]. If [it] is not specified […] 0".
        CL_KERNEL_COMPILE_SUB_GROUP_SIZE_INTEL => {
            info.value(kernel.outline().attrs.reqd_sub_group_size.unwrap_or(0) as usize)
        }
        _ => info::unknown(param_name),
    }
}
