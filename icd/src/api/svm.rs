//! Shared virtual memory (OpenCL API, 5.6): allocations and what kernels are told of them. Every kind there is: a kernel
//! runs in the application's address space, on the same caches.

use std::ffi::c_void;
use std::mem::size_of;

use lockstep_icd_macros::entry_point;
use lockstep_runtime::context::Context;
use lockstep_runtime::kernel::Kernel;
use lockstep_runtime::svm::{self, Kind, Shared};
use lockstep_runtime::{Result, ensure, error};
use opencl_sys::{
    CL_DEVICE_SVM_ATOMICS, CL_DEVICE_SVM_COARSE_GRAIN_BUFFER, CL_DEVICE_SVM_FINE_GRAIN_BUFFER,
    CL_DEVICE_SVM_FINE_GRAIN_SYSTEM, CL_INVALID_VALUE, CL_KERNEL_EXEC_INFO_SVM_FINE_GRAIN_SYSTEM,
    CL_KERNEL_EXEC_INFO_SVM_PTRS, CL_MEM_SVM_ATOMICS, CL_MEM_SVM_FINE_GRAIN_BUFFER, cl_bool, cl_context,
    cl_device_svm_capabilities, cl_kernel, cl_kernel_exec_info, cl_svm_mem_flags, cl_uint,
};
use opencl_sys::{
    CL_KERNEL_EXEC_INFO_DEVICE_PTRS_EXT, CL_KERNEL_EXEC_INFO_INDIRECT_DEVICE_ACCESS_INTEL,
    CL_KERNEL_EXEC_INFO_INDIRECT_HOST_ACCESS_INTEL, CL_KERNEL_EXEC_INFO_INDIRECT_SHARED_ACCESS_INTEL,
    CL_KERNEL_EXEC_INFO_USM_PTRS_INTEL,
};

use crate::api::buffer::{KERNEL, check_kernel_flags};
use crate::error::Call;
use crate::handle;

/// What shared memory can do (`CL_DEVICE_SVM_CAPABILITIES`).
pub const CAPABILITIES: cl_device_svm_capabilities = CL_DEVICE_SVM_COARSE_GRAIN_BUFFER
    | CL_DEVICE_SVM_FINE_GRAIN_BUFFER
    | CL_DEVICE_SVM_FINE_GRAIN_SYSTEM
    | CL_DEVICE_SVM_ATOMICS;

/// "[The] largest data type supported by the OpenCL device [...] is long16."
const LARGEST_TYPE: cl_uint = 128;

/// "It must be a power of two up to the largest data type supported by the OpenCL device [or] 0."
pub fn check_alignment(alignment: cl_uint) -> Result<()> {
    ensure!(
        alignment == 0 || alignment.is_power_of_two() && alignment <= LARGEST_TYPE,
        CL_INVALID_VALUE,
        "alignment is {alignment}; 0 or a power of two up to {LARGEST_TYPE} is allowed"
    );
    Ok(())
}

/// "Values specified in flags do not follow rules described for supported values in the SVM Memory Flags table."
fn check_flags(flags: cl_svm_mem_flags) -> Result<()> {
    let unknown = flags & !(KERNEL | CL_MEM_SVM_FINE_GRAIN_BUFFER | CL_MEM_SVM_ATOMICS);
    ensure!(unknown == 0, CL_INVALID_VALUE, "flags are {flags:#x}, of which {unknown:#x} are unknown");
    check_kernel_flags(flags)?;
    // "flags does not contain CL_MEM_SVM_FINE_GRAIN_BUFFER but does contain CL_MEM_SVM_ATOMICS."
    let atomics_alone = flags & (CL_MEM_SVM_ATOMICS | CL_MEM_SVM_FINE_GRAIN_BUFFER) == CL_MEM_SVM_ATOMICS;
    ensure!(
        !atomics_alone,
        CL_INVALID_VALUE,
        "flags {flags:#x} have CL_MEM_SVM_ATOMICS without CL_MEM_SVM_FINE_GRAIN_BUFFER"
    );
    Ok(())
}

/// `clSVMAlloc`: "like malloc, it returns a NULL pointer value" when it fails, and has no error code.
#[allow(non_snake_case)]
pub extern "C" fn clSVMAlloc(
    context: cl_context,
    flags: cl_svm_mem_flags,
    size: usize,
    alignment: cl_uint,
) -> *mut c_void {
    let allocated = Call { name: "clSVMAlloc", objects: &[context] }.make(|| {
        let context = handle::get::<Context>(context)?;
        check_flags(flags)?;
        check_alignment(alignment)?;
        svm::allocate_shared(&context, Kind::Svm, flags, size)
    });
    allocated.map_or(std::ptr::null_mut(), |start| start.cast())
}

/// `clSVMFree`: "If a NULL pointer is passed in svm_pointer, no action occurs." Nor does one for what is none of the
/// context's allocations.
#[allow(non_snake_case)]
pub extern "C" fn clSVMFree(context: cl_context, svm_pointer: *mut c_void) {
    // There is no code to return.
    let _ = Call { name: "clSVMFree", objects: &[context] }.make(|| {
        let context = handle::get::<Context>(context)?;
        svm::free_allocation(&context, svm_pointer as usize, Shared::is_svm);
        Ok(())
    });
}

/// `clSetKernelArgSVMPointer`. With fine-grain system sharing every pointer may be one;
/// whether the kernel follows it is its business.
#[entry_point(clSetKernelArgSVMPointer)]
pub fn set_kernel_arg_svm_pointer(kernel: cl_kernel, arg_index: cl_uint, arg_value: *const c_void) -> Result<()> {
    // "CL_INVALID_KERNEL if kernel is not a valid kernel object. CL_INVALID_ARG_INDEX if arg_index is not a valid
    // argument index." CL_INVALID_ARG_VALUE: "The SVM pointer can only be used for arguments that are declared to be
    // a pointer to global or constant memory."
    handle::get::<Kernel>(kernel)?.set_pointer(arg_index as usize, arg_value as u64)
}

/// `clSetKernelExecInfo`. What kernels may reach needs no telling here, so what is right is forgotten.
#[entry_point(clSetKernelExecInfo)]
pub fn set_kernel_exec_info(
    kernel: cl_kernel,
    param_name: cl_kernel_exec_info,
    param_value_size: usize,
    param_value: *const c_void,
) -> Result<()> {
    handle::get::<Kernel>(kernel)?;
    check_exec_info(param_name, param_value_size, param_value)
}

/// Checks what a kernel is told.
pub fn check_exec_info(
    param_name: cl_kernel_exec_info,
    param_value_size: usize,
    param_value: *const c_void,
) -> Result<()> {
    // "CL_INVALID_VALUE if param_name is not valid, if param_value is NULL and param_value_size is greater than zero,
    // or if the size specified by param_value_size is not valid."
    ensure!(
        !param_value.is_null() || param_value_size == 0,
        CL_INVALID_VALUE,
        "param_value is NULL, and param_value_size is {param_value_size}"
    );
    let (fits, wanted) = match param_name {
        CL_KERNEL_EXEC_INFO_SVM_PTRS | CL_KERNEL_EXEC_INFO_USM_PTRS_INTEL | CL_KERNEL_EXEC_INFO_DEVICE_PTRS_EXT => {
            (param_value_size.is_multiple_of(size_of::<*const c_void>()), "a multiple of a pointer's size")
        }
        CL_KERNEL_EXEC_INFO_SVM_FINE_GRAIN_SYSTEM
        | CL_KERNEL_EXEC_INFO_INDIRECT_HOST_ACCESS_INTEL
        | CL_KERNEL_EXEC_INFO_INDIRECT_DEVICE_ACCESS_INTEL
        | CL_KERNEL_EXEC_INFO_INDIRECT_SHARED_ACCESS_INTEL => {
            (param_value_size == size_of::<cl_bool>(), "the size of a cl_bool")
        }
        _ => return Err(error!(CL_INVALID_VALUE, "param_name {param_name:#x} is nothing that a kernel can be told")),
    };
    ensure!(fits, CL_INVALID_VALUE, "param_value_size is {param_value_size}; {wanted} is allowed");
    Ok(())
}

#[cfg(test)]
mod tests {
    use opencl_sys::{CL_MEM_COPY_HOST_PTR, CL_MEM_READ_ONLY, CL_MEM_READ_WRITE, CL_MEM_WRITE_ONLY};

    use super::*;

    #[test]
    fn flags_and_alignments() {
        for right in [0, CL_MEM_READ_ONLY | CL_MEM_SVM_FINE_GRAIN_BUFFER | CL_MEM_SVM_ATOMICS, CL_MEM_WRITE_ONLY] {
            assert_eq!(check_flags(right), Ok(()), "{right:#x}");
        }
        let wrong =
            [CL_MEM_SVM_ATOMICS, CL_MEM_READ_ONLY | CL_MEM_READ_WRITE, CL_MEM_COPY_HOST_PTR, CL_MEM_SVM_ATOMICS << 1];
        for wrong in wrong {
            assert!(check_flags(wrong).is_err(), "{wrong:#x}");
        }
        assert!([0, 1, 2, 64, 128].iter().all(|&alignment| check_alignment(alignment).is_ok()));
        assert!([3, 96, 256, 1 << 31].iter().all(|&alignment| check_alignment(alignment).is_err()));
    }
}
