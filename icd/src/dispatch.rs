//! The one table of entry points.
//!
//! Its layout is that of `cl_icd_dispatch` in the ICD headers; a test compares it with the header's order of names. The
//! ICD loader calls through it by position, `clGetExtensionFunctionAddress*` by name. An entry point of a feature that is
//! not there answers with the specification's error ([`absent`]).

use std::ffi::{CStr, c_char, c_void};

use opencl_sys::cl_icd::cl_icd_dispatch;
use opencl_sys::{CL_INVALID_OPERATION, cl_platform_id};

use crate::absent::absent;
use crate::api::{context, device, device_info, kernel, platform, program, program_info, svm};

/// Defines the table and the look-up by name from one list.
macro_rules! entry_points {
    ($($name:ident: $entry:expr,)*) => {
        /// The table every handle points to.
        pub static DISPATCH: cl_icd_dispatch = cl_icd_dispatch { $($name: $entry),* };

        /// The entry point of a name.
        fn address(name: &str) -> Option<*mut c_void> {
            match name {
                $(stringify!($name) => DISPATCH.$name.map(|f| f as *mut c_void),)*
                "clIcdGetPlatformIDsKHR" => Some(platform::get_platform_ids as *mut c_void),
                _ => None,
            }
        }

        /// The names in the table's order.
        #[cfg(test)]
        const NAMES: &[&str] = &[$(stringify!($name)),*];
    };
}

entry_points! {
    clGetPlatformIDs: Some(platform::get_platform_ids),
    clGetPlatformInfo: Some(platform::get_platform_info),
    clGetDeviceIDs: Some(device::get_device_ids),
    clGetDeviceInfo: Some(device_info::get_device_info),
    clCreateContext: Some(context::create_context),
    clCreateContextFromType: Some(context::create_context_from_type),
    clRetainContext: Some(context::retain_context),
    clReleaseContext: Some(context::release_context),
    clGetContextInfo: Some(context::get_context_info),
    clCreateCommandQueue: absent::<CL_INVALID_OPERATION, _>(),
    clRetainCommandQueue: absent::<CL_INVALID_OPERATION, _>(),
    clReleaseCommandQueue: absent::<CL_INVALID_OPERATION, _>(),
    clGetCommandQueueInfo: absent::<CL_INVALID_OPERATION, _>(),
    clSetCommandQueueProperty: absent::<CL_INVALID_OPERATION, _>(),
    clCreateBuffer: absent::<CL_INVALID_OPERATION, _>(),
    clCreateImage2D: absent::<CL_INVALID_OPERATION, _>(),
    clCreateImage3D: absent::<CL_INVALID_OPERATION, _>(),
    clRetainMemObject: absent::<CL_INVALID_OPERATION, _>(),
    clReleaseMemObject: absent::<CL_INVALID_OPERATION, _>(),
    clGetSupportedImageFormats: absent::<CL_INVALID_OPERATION, _>(),
    clGetMemObjectInfo: absent::<CL_INVALID_OPERATION, _>(),
    clGetImageInfo: absent::<CL_INVALID_OPERATION, _>(),
    clCreateSampler: absent::<CL_INVALID_OPERATION, _>(),
    clRetainSampler: absent::<CL_INVALID_OPERATION, _>(),
    clReleaseSampler: absent::<CL_INVALID_OPERATION, _>(),
    clGetSamplerInfo: absent::<CL_INVALID_OPERATION, _>(),
    clCreateProgramWithSource: Some(program::create_program_with_source),
    clCreateProgramWithBinary: Some(program::create_program_with_binary),
    clRetainProgram: Some(program::retain_program),
    clReleaseProgram: Some(program::release_program),
    clBuildProgram: Some(program::build_program),
    clUnloadCompiler: Some(program::unload_compiler),
    clGetProgramInfo: Some(program_info::get_program_info),
    clGetProgramBuildInfo: Some(program_info::get_program_build_info),
    clCreateKernel: Some(kernel::create_kernel),
    clCreateKernelsInProgram: Some(kernel::create_kernels_in_program),
    clRetainKernel: Some(kernel::retain_kernel),
    clReleaseKernel: Some(kernel::release_kernel),
    clSetKernelArg: Some(kernel::set_kernel_arg),
    clGetKernelInfo: Some(kernel::get_kernel_info),
    clGetKernelWorkGroupInfo: Some(kernel::get_kernel_work_group_info),
    clWaitForEvents: absent::<CL_INVALID_OPERATION, _>(),
    clGetEventInfo: absent::<CL_INVALID_OPERATION, _>(),
    clRetainEvent: absent::<CL_INVALID_OPERATION, _>(),
    clReleaseEvent: absent::<CL_INVALID_OPERATION, _>(),
    clGetEventProfilingInfo: absent::<CL_INVALID_OPERATION, _>(),
    clFlush: absent::<CL_INVALID_OPERATION, _>(),
    clFinish: absent::<CL_INVALID_OPERATION, _>(),
    clEnqueueReadBuffer: absent::<CL_INVALID_OPERATION, _>(),
    clEnqueueWriteBuffer: absent::<CL_INVALID_OPERATION, _>(),
    clEnqueueCopyBuffer: absent::<CL_INVALID_OPERATION, _>(),
    clEnqueueReadImage: absent::<CL_INVALID_OPERATION, _>(),
    clEnqueueWriteImage: absent::<CL_INVALID_OPERATION, _>(),
    clEnqueueCopyImage: absent::<CL_INVALID_OPERATION, _>(),
    clEnqueueCopyImageToBuffer: absent::<CL_INVALID_OPERATION, _>(),
    clEnqueueCopyBufferToImage: absent::<CL_INVALID_OPERATION, _>(),
    clEnqueueMapBuffer: absent::<CL_INVALID_OPERATION, _>(),
    clEnqueueMapImage: absent::<CL_INVALID_OPERATION, _>(),
    clEnqueueUnmapMemObject: absent::<CL_INVALID_OPERATION, _>(),
    clEnqueueNDRangeKernel: absent::<CL_INVALID_OPERATION, _>(),
    clEnqueueTask: absent::<CL_INVALID_OPERATION, _>(),
    clEnqueueNativeKernel: absent::<CL_INVALID_OPERATION, _>(),
    clEnqueueMarker: absent::<CL_INVALID_OPERATION, _>(),
    clEnqueueWaitForEvents: absent::<CL_INVALID_OPERATION, _>(),
    clEnqueueBarrier: absent::<CL_INVALID_OPERATION, _>(),
    clGetExtensionFunctionAddress: Some(get_extension_function_address),
    clCreateFromGLBuffer: absent::<CL_INVALID_OPERATION, _>(),
    clCreateFromGLTexture2D: absent::<CL_INVALID_OPERATION, _>(),
    clCreateFromGLTexture3D: absent::<CL_INVALID_OPERATION, _>(),
    clCreateFromGLRenderbuffer: absent::<CL_INVALID_OPERATION, _>(),
    clGetGLObjectInfo: absent::<CL_INVALID_OPERATION, _>(),
    clGetGLTextureInfo: absent::<CL_INVALID_OPERATION, _>(),
    clEnqueueAcquireGLObjects: absent::<CL_INVALID_OPERATION, _>(),
    clEnqueueReleaseGLObjects: absent::<CL_INVALID_OPERATION, _>(),
    clGetGLContextInfoKHR: absent::<CL_INVALID_OPERATION, _>(),
    clGetDeviceIDsFromD3D10KHR: None,
    clCreateFromD3D10BufferKHR: None,
    clCreateFromD3D10Texture2DKHR: None,
    clCreateFromD3D10Texture3DKHR: None,
    clEnqueueAcquireD3D10ObjectsKHR: None,
    clEnqueueReleaseD3D10ObjectsKHR: None,
    clSetEventCallback: absent::<CL_INVALID_OPERATION, _>(),
    clCreateSubBuffer: absent::<CL_INVALID_OPERATION, _>(),
    clSetMemObjectDestructorCallback: absent::<CL_INVALID_OPERATION, _>(),
    clCreateUserEvent: absent::<CL_INVALID_OPERATION, _>(),
    clSetUserEventStatus: absent::<CL_INVALID_OPERATION, _>(),
    clEnqueueReadBufferRect: absent::<CL_INVALID_OPERATION, _>(),
    clEnqueueWriteBufferRect: absent::<CL_INVALID_OPERATION, _>(),
    clEnqueueCopyBufferRect: absent::<CL_INVALID_OPERATION, _>(),
    clCreateSubDevicesEXT: absent::<CL_INVALID_OPERATION, _>(),
    clRetainDeviceEXT: absent::<CL_INVALID_OPERATION, _>(),
    clReleaseDeviceEXT: absent::<CL_INVALID_OPERATION, _>(),
    clCreateEventFromGLsyncKHR: absent::<CL_INVALID_OPERATION, _>(),
    clCreateSubDevices: absent::<CL_INVALID_OPERATION, _>(),
    clRetainDevice: Some(device::retain_device),
    clReleaseDevice: Some(device::release_device),
    clCreateImage: absent::<CL_INVALID_OPERATION, _>(),
    clCreateProgramWithBuiltInKernels: Some(program::create_program_with_built_in_kernels),
    clCompileProgram: Some(program::compile_program),
    clLinkProgram: Some(program::link_program),
    clUnloadPlatformCompiler: Some(program::unload_platform_compiler),
    clGetKernelArgInfo: Some(kernel::get_kernel_arg_info),
    clEnqueueFillBuffer: absent::<CL_INVALID_OPERATION, _>(),
    clEnqueueFillImage: absent::<CL_INVALID_OPERATION, _>(),
    clEnqueueMigrateMemObjects: absent::<CL_INVALID_OPERATION, _>(),
    clEnqueueMarkerWithWaitList: absent::<CL_INVALID_OPERATION, _>(),
    clEnqueueBarrierWithWaitList: absent::<CL_INVALID_OPERATION, _>(),
    clGetExtensionFunctionAddressForPlatform: Some(get_extension_function_address_for_platform),
    clCreateFromGLTexture: absent::<CL_INVALID_OPERATION, _>(),
    clGetDeviceIDsFromD3D11KHR: None,
    clCreateFromD3D11BufferKHR: None,
    clCreateFromD3D11Texture2DKHR: None,
    clCreateFromD3D11Texture3DKHR: None,
    clCreateFromDX9MediaSurfaceKHR: None,
    clEnqueueAcquireD3D11ObjectsKHR: None,
    clEnqueueReleaseD3D11ObjectsKHR: None,
    clGetDeviceIDsFromDX9MediaAdapterKHR: None,
    clEnqueueAcquireDX9MediaSurfacesKHR: None,
    clEnqueueReleaseDX9MediaSurfacesKHR: None,
    clCreateFromEGLImageKHR: absent::<CL_INVALID_OPERATION, _>(),
    clEnqueueAcquireEGLObjectsKHR: absent::<CL_INVALID_OPERATION, _>(),
    clEnqueueReleaseEGLObjectsKHR: absent::<CL_INVALID_OPERATION, _>(),
    clCreateEventFromEGLSyncKHR: absent::<CL_INVALID_OPERATION, _>(),
    clCreateCommandQueueWithProperties: absent::<CL_INVALID_OPERATION, _>(),
    clCreatePipe: absent::<CL_INVALID_OPERATION, _>(),
    clGetPipeInfo: absent::<CL_INVALID_OPERATION, _>(),
    clSVMAlloc: Some(svm::svm_alloc),
    clSVMFree: Some(svm::svm_free),
    clEnqueueSVMFree: absent::<CL_INVALID_OPERATION, _>(),
    clEnqueueSVMMemcpy: absent::<CL_INVALID_OPERATION, _>(),
    clEnqueueSVMMemFill: absent::<CL_INVALID_OPERATION, _>(),
    clEnqueueSVMMap: absent::<CL_INVALID_OPERATION, _>(),
    clEnqueueSVMUnmap: absent::<CL_INVALID_OPERATION, _>(),
    clCreateSamplerWithProperties: absent::<CL_INVALID_OPERATION, _>(),
    clSetKernelArgSVMPointer: absent::<CL_INVALID_OPERATION, _>(),
    clSetKernelExecInfo: absent::<CL_INVALID_OPERATION, _>(),
    clGetKernelSubGroupInfoKHR: absent::<CL_INVALID_OPERATION, _>(),
    clCloneKernel: Some(kernel::clone_kernel),
    clCreateProgramWithIL: Some(program::create_program_with_il),
    clEnqueueSVMMigrateMem: absent::<CL_INVALID_OPERATION, _>(),
    clGetDeviceAndHostTimer: absent::<CL_INVALID_OPERATION, _>(),
    clGetHostTimer: absent::<CL_INVALID_OPERATION, _>(),
    clGetKernelSubGroupInfo: Some(kernel::get_kernel_sub_group_info),
    clSetDefaultDeviceCommandQueue: absent::<CL_INVALID_OPERATION, _>(),
    clSetProgramReleaseCallback: Some(program::set_program_release_callback),
    clSetProgramSpecializationConstant: Some(program::set_program_specialization_constant),
    clCreateBufferWithProperties: absent::<CL_INVALID_OPERATION, _>(),
    clCreateImageWithProperties: absent::<CL_INVALID_OPERATION, _>(),
    clSetContextDestructorCallback: Some(context::set_context_destructor_callback),
    clGetKernelSuggestedLocalWorkSize: absent::<CL_INVALID_OPERATION, _>(),
}

/// `clGetExtensionFunctionAddress`.
///
/// # Safety
/// `name` is null or points to a null-terminated string.
pub unsafe extern "C" fn get_extension_function_address(name: *const c_char) -> *mut c_void {
    if name.is_null() {
        return std::ptr::null_mut();
    }
    // SAFETY: not null, so the caller vouches for the string.
    let name = unsafe { CStr::from_ptr(name) };
    name.to_str().ok().and_then(address).unwrap_or(std::ptr::null_mut())
}

/// `clGetExtensionFunctionAddressForPlatform`: "Returns [...] NULL if the specified function does not exist [...] for the
/// specified platform" or the platform is none.
///
/// # Safety
/// `name` is null or points to a null-terminated string.
pub unsafe extern "C" fn get_extension_function_address_for_platform(
    platform: cl_platform_id,
    name: *const c_char,
) -> *mut c_void {
    match platform::platform(platform) {
        // SAFETY: the same contract.
        Ok(_) => unsafe { get_extension_function_address(name) },
        Err(_) => std::ptr::null_mut(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The order of the header's `struct _cl_icd_dispatch`, name by name.
    const HEADER: &str = include_str!("dispatch_order.txt");

    #[test]
    fn table_has_the_headers_order() {
        assert_eq!(NAMES, HEADER.lines().collect::<Vec<_>>());
        assert_eq!(size_of::<cl_icd_dispatch>(), NAMES.len() * size_of::<usize>());
    }

    #[test]
    fn every_name_but_direct3d_is_an_entry_point() {
        for name in NAMES {
            let windows = name.contains("D3D") || name.contains("DX9");
            assert_eq!(address(name).is_none(), windows, "{name}");
        }
        assert_eq!(address("clNoSuchFunction"), None);
    }
}
