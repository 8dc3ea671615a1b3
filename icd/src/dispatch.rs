//! The one table of entry points.
//!
//! Its layout is that of `cl_icd_dispatch` in the ICD headers; a test compares it with the header's order of names. The
//! ICD loader calls through it by position, `clGetExtensionFunctionAddress*` by name. An entry point of a feature that is
//! not there answers with the specification's error ([`missing!`]).

use std::ffi::{CStr, c_char, c_void};

use lockstep_runtime::context::Context;
use lockstep_runtime::device::Device;
use lockstep_runtime::memory::Memory;
use lockstep_runtime::platform::Platform;
use lockstep_runtime::queue::Queue;
use opencl_sys::cl_egl::CL_INVALID_EGL_OBJECT_KHR;
use opencl_sys::cl_icd::cl_icd_dispatch;
use opencl_sys::{
    CL_INVALID_CONTEXT, CL_INVALID_GL_OBJECT, CL_INVALID_GL_SHAREGROUP_REFERENCE_KHR, CL_INVALID_OPERATION,
    CL_INVALID_VALUE, cl_int, cl_platform_id,
};

use crate::api::{
    buffer, command_buffer, command_buffer_record as record, context, device, device_info, event, image, image_create,
    image_transfer, kernel, marker, memory_object, mutable_dispatch, native, ndrange, pipe, platform, program,
    program_info, program_variables, queue, rect, sampler, semaphore, sub_device, svm, svm_transfer, transfer, usm,
};
use crate::handle;
use crate::unsupported::{Anything, Missing, absent_entry, missing};

/// Defines the table and the look-up by name from one list.
macro_rules! entry_points {
    ($($name:ident: $entry:expr,)*) => {
        /// The table every handle points to.
        pub static DISPATCH: cl_icd_dispatch = cl_icd_dispatch { $($name: $entry),* };

        /// The entry point of a name.
        fn address(name: &str) -> Option<*mut c_void> {
            match name {
                $(stringify!($name) => DISPATCH.$name.map(|f| f as *mut c_void),)*
                _ => extension(name),
            }
        }

        /// The names in the table's order.
        #[cfg(test)]
        const NAMES: &[&str] = &[$(stringify!($name)),*];
    };
}

entry_points! {
    clGetPlatformIDs: Some(platform::clGetPlatformIDs),
    clGetPlatformInfo: Some(platform::clGetPlatformInfo),
    clGetDeviceIDs: Some(device::clGetDeviceIDs),
    clGetDeviceInfo: Some(device_info::clGetDeviceInfo),
    clCreateContext: Some(context::clCreateContext),
    clCreateContextFromType: Some(context::clCreateContextFromType),
    clRetainContext: Some(context::clRetainContext),
    clReleaseContext: Some(context::clReleaseContext),
    clGetContextInfo: Some(context::clGetContextInfo),
    clCreateCommandQueue: Some(queue::clCreateCommandQueue),
    clRetainCommandQueue: Some(queue::clRetainCommandQueue),
    clReleaseCommandQueue: Some(queue::clReleaseCommandQueue),
    clGetCommandQueueInfo: Some(queue::clGetCommandQueueInfo),
    clSetCommandQueueProperty: Some(queue::clSetCommandQueueProperty),
    clCreateBuffer: Some(buffer::clCreateBuffer),
    clCreateImage2D: Some(image_create::clCreateImage2D),
    clCreateImage3D: Some(image_create::clCreateImage3D),
    clRetainMemObject: Some(memory_object::clRetainMemObject),
    clReleaseMemObject: Some(memory_object::clReleaseMemObject),
    clGetSupportedImageFormats: Some(image::clGetSupportedImageFormats),
    clGetMemObjectInfo: Some(memory_object::clGetMemObjectInfo),
    clGetImageInfo: Some(image::clGetImageInfo),
    clCreateSampler: Some(sampler::clCreateSampler),
    clRetainSampler: Some(sampler::clRetainSampler),
    clReleaseSampler: Some(sampler::clReleaseSampler),
    clGetSamplerInfo: Some(sampler::clGetSamplerInfo),
    clCreateProgramWithSource: Some(program::clCreateProgramWithSource),
    clCreateProgramWithBinary: Some(program::clCreateProgramWithBinary),
    clRetainProgram: Some(program::clRetainProgram),
    clReleaseProgram: Some(program::clReleaseProgram),
    clBuildProgram: Some(program::clBuildProgram),
    clUnloadCompiler: Some(program::clUnloadCompiler),
    clGetProgramInfo: Some(program_info::clGetProgramInfo),
    clGetProgramBuildInfo: Some(program_info::clGetProgramBuildInfo),
    clCreateKernel: Some(kernel::clCreateKernel),
    clCreateKernelsInProgram: Some(kernel::clCreateKernelsInProgram),
    clRetainKernel: Some(kernel::clRetainKernel),
    clReleaseKernel: Some(kernel::clReleaseKernel),
    clSetKernelArg: Some(kernel::clSetKernelArg),
    clGetKernelInfo: Some(kernel::clGetKernelInfo),
    clGetKernelWorkGroupInfo: Some(kernel::clGetKernelWorkGroupInfo),
    clWaitForEvents: Some(event::clWaitForEvents),
    clGetEventInfo: Some(event::clGetEventInfo),
    clRetainEvent: Some(event::clRetainEvent),
    clReleaseEvent: Some(event::clReleaseEvent),
    clGetEventProfilingInfo: Some(event::clGetEventProfilingInfo),
    clFlush: Some(queue::clFlush),
    clFinish: Some(queue::clFinish),
    clEnqueueReadBuffer: Some(transfer::clEnqueueReadBuffer),
    clEnqueueWriteBuffer: Some(transfer::clEnqueueWriteBuffer),
    clEnqueueCopyBuffer: Some(transfer::clEnqueueCopyBuffer),
    clEnqueueReadImage: Some(image_transfer::clEnqueueReadImage),
    clEnqueueWriteImage: Some(image_transfer::clEnqueueWriteImage),
    clEnqueueCopyImage: Some(image_transfer::clEnqueueCopyImage),
    clEnqueueCopyImageToBuffer: Some(image_transfer::clEnqueueCopyImageToBuffer),
    clEnqueueCopyBufferToImage: Some(image_transfer::clEnqueueCopyBufferToImage),
    clEnqueueMapBuffer: Some(transfer::clEnqueueMapBuffer),
    clEnqueueMapImage: Some(image_transfer::clEnqueueMapImage),
    clEnqueueUnmapMemObject: Some(memory_object::clEnqueueUnmapMemObject),
    clEnqueueNDRangeKernel: Some(ndrange::clEnqueueNDRangeKernel),
    clEnqueueTask: Some(ndrange::clEnqueueTask),
    clEnqueueNativeKernel: Some(native::clEnqueueNativeKernel),
    clEnqueueMarker: Some(marker::clEnqueueMarker),
    clEnqueueWaitForEvents: Some(marker::clEnqueueWaitForEvents),
    clEnqueueBarrier: Some(marker::clEnqueueBarrier),
    clGetExtensionFunctionAddress: Some(get_extension_function_address),
    clCreateFromGLBuffer: missing!(clCreateFromGLBuffer, Anything, CL_INVALID_CONTEXT, "contexts share nothing with OpenGL here"),
    clCreateFromGLTexture2D: missing!(clCreateFromGLTexture2D, Anything, CL_INVALID_CONTEXT, "contexts share nothing with OpenGL here"),
    clCreateFromGLTexture3D: missing!(clCreateFromGLTexture3D, Anything, CL_INVALID_CONTEXT, "contexts share nothing with OpenGL here"),
    clCreateFromGLRenderbuffer: missing!(clCreateFromGLRenderbuffer, Anything, CL_INVALID_CONTEXT, "contexts share nothing with OpenGL here"),
    clGetGLObjectInfo: missing!(clGetGLObjectInfo, Memory, CL_INVALID_GL_OBJECT, "contexts share nothing with OpenGL here"),
    clGetGLTextureInfo: missing!(clGetGLTextureInfo, Memory, CL_INVALID_GL_OBJECT, "contexts share nothing with OpenGL here"),
    clEnqueueAcquireGLObjects: missing!(clEnqueueAcquireGLObjects, Queue, CL_INVALID_CONTEXT, "contexts share nothing with OpenGL here"),
    clEnqueueReleaseGLObjects: missing!(clEnqueueReleaseGLObjects, Queue, CL_INVALID_CONTEXT, "contexts share nothing with OpenGL here"),
    clGetGLContextInfoKHR: missing!(clGetGLContextInfoKHR, Anything, CL_INVALID_GL_SHAREGROUP_REFERENCE_KHR, "contexts share nothing with OpenGL here"),
    clGetDeviceIDsFromD3D10KHR: None,
    clCreateFromD3D10BufferKHR: None,
    clCreateFromD3D10Texture2DKHR: None,
    clCreateFromD3D10Texture3DKHR: None,
    clEnqueueAcquireD3D10ObjectsKHR: None,
    clEnqueueReleaseD3D10ObjectsKHR: None,
    clSetEventCallback: Some(event::clSetEventCallback),
    clCreateSubBuffer: Some(buffer::clCreateSubBuffer),
    clSetMemObjectDestructorCallback: Some(memory_object::clSetMemObjectDestructorCallback),
    clCreateUserEvent: Some(event::clCreateUserEvent),
    clSetUserEventStatus: Some(event::clSetUserEventStatus),
    clEnqueueReadBufferRect: Some(rect::clEnqueueReadBufferRect),
    clEnqueueWriteBufferRect: Some(rect::clEnqueueWriteBufferRect),
    clEnqueueCopyBufferRect: Some(rect::clEnqueueCopyBufferRect),
    clCreateSubDevicesEXT: missing!(clCreateSubDevicesEXT, Device, CL_INVALID_VALUE, "clCreateSubDevices has taken its place"),
    clRetainDeviceEXT: Some(sub_device::clRetainDeviceEXT),
    clReleaseDeviceEXT: Some(sub_device::clReleaseDeviceEXT),
    clCreateEventFromGLsyncKHR: missing!(clCreateEventFromGLsyncKHR, Anything, CL_INVALID_CONTEXT, "contexts share nothing with OpenGL here"),
    clCreateSubDevices: Some(sub_device::clCreateSubDevices),
    clRetainDevice: Some(sub_device::clRetainDeviceEXT),
    clReleaseDevice: Some(sub_device::clReleaseDeviceEXT),
    clCreateImage: Some(image_create::clCreateImage),
    clCreateProgramWithBuiltInKernels: Some(program::clCreateProgramWithBuiltInKernels),
    clCompileProgram: Some(program::clCompileProgram),
    clLinkProgram: Some(program::clLinkProgram),
    clUnloadPlatformCompiler: Some(program::clUnloadPlatformCompiler),
    clGetKernelArgInfo: Some(kernel::clGetKernelArgInfo),
    clEnqueueFillBuffer: Some(transfer::clEnqueueFillBuffer),
    clEnqueueFillImage: Some(image_transfer::clEnqueueFillImage),
    clEnqueueMigrateMemObjects: Some(memory_object::clEnqueueMigrateMemObjects),
    clEnqueueMarkerWithWaitList: Some(marker::clEnqueueMarkerWithWaitList),
    clEnqueueBarrierWithWaitList: Some(marker::clEnqueueBarrierWithWaitList),
    clGetExtensionFunctionAddressForPlatform: Some(get_extension_function_address_for_platform),
    clCreateFromGLTexture: missing!(clCreateFromGLTexture, Anything, CL_INVALID_CONTEXT, "contexts share nothing with OpenGL here"),
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
    clCreateFromEGLImageKHR: missing!(clCreateFromEGLImageKHR, Context, CL_INVALID_OPERATION, "contexts share nothing with EGL here"),
    clEnqueueAcquireEGLObjectsKHR: missing!(clEnqueueAcquireEGLObjectsKHR, Queue, CL_INVALID_OPERATION, "contexts share nothing with EGL here"),
    clEnqueueReleaseEGLObjectsKHR: missing!(clEnqueueReleaseEGLObjectsKHR, Queue, CL_INVALID_OPERATION, "contexts share nothing with EGL here"),
    clCreateEventFromEGLSyncKHR: missing!(clCreateEventFromEGLSyncKHR, Context, CL_INVALID_EGL_OBJECT_KHR, "contexts share nothing with EGL here"),
    clCreateCommandQueueWithProperties: Some(queue::clCreateCommandQueueWithProperties),
    clCreatePipe: Some(pipe::clCreatePipe),
    clGetPipeInfo: Some(pipe::clGetPipeInfo),
    clSVMAlloc: Some(svm::clSVMAlloc),
    clSVMFree: Some(svm::clSVMFree),
    clEnqueueSVMFree: Some(svm_transfer::clEnqueueSVMFree),
    clEnqueueSVMMemcpy: Some(svm_transfer::clEnqueueSVMMemcpy),
    clEnqueueSVMMemFill: Some(svm_transfer::clEnqueueSVMMemFill),
    clEnqueueSVMMap: Some(svm_transfer::clEnqueueSVMMap),
    clEnqueueSVMUnmap: Some(svm_transfer::clEnqueueSVMUnmap),
    clCreateSamplerWithProperties: Some(sampler::clCreateSamplerWithProperties),
    clSetKernelArgSVMPointer: Some(svm::clSetKernelArgSVMPointer),
    clSetKernelExecInfo: Some(svm::clSetKernelExecInfo),
    clGetKernelSubGroupInfoKHR: Some(kernel::clGetKernelSubGroupInfoKHR),
    clCloneKernel: Some(kernel::clCloneKernel),
    clCreateProgramWithIL: Some(program::clCreateProgramWithIL),
    clEnqueueSVMMigrateMem: Some(svm_transfer::clEnqueueSVMMigrateMem),
    clGetDeviceAndHostTimer: Some(device::clGetDeviceAndHostTimer),
    clGetHostTimer: Some(device::clGetHostTimer),
    clGetKernelSubGroupInfo: Some(kernel::clGetKernelSubGroupInfoKHR),
    clSetDefaultDeviceCommandQueue: Some(queue::clSetDefaultDeviceCommandQueue),
    clSetProgramReleaseCallback: Some(program::clSetProgramReleaseCallback),
    clSetProgramSpecializationConstant: Some(program::clSetProgramSpecializationConstant),
    clCreateBufferWithProperties: Some(buffer::clCreateBufferWithProperties),
    clCreateImageWithProperties: Some(image_create::clCreateImageWithProperties),
    clSetContextDestructorCallback: Some(context::clSetContextDestructorCallback),
    clGetKernelSuggestedLocalWorkSize: Some(ndrange::clGetKernelSuggestedLocalWorkSize),
}

/// The functions of extensions, which are found by name alone.
fn extension(name: &str) -> Option<*mut c_void> {
    Some(match name {
        "clIcdGetPlatformIDsKHR" => platform::clGetPlatformIDs as *mut c_void,
        // cl_ext_buffer_device_address
        "clSetKernelArgDevicePointerEXT" => kernel::clSetKernelArgDevicePointerEXT as *mut c_void,
        // cl_khr_command_buffer
        "clCreateCommandBufferKHR" => command_buffer::clCreateCommandBufferKHR as *mut c_void,
        "clFinalizeCommandBufferKHR" => command_buffer::clFinalizeCommandBufferKHR as *mut c_void,
        "clRetainCommandBufferKHR" => command_buffer::clRetainCommandBufferKHR as *mut c_void,
        "clReleaseCommandBufferKHR" => command_buffer::clReleaseCommandBufferKHR as *mut c_void,
        "clEnqueueCommandBufferKHR" => command_buffer::clEnqueueCommandBufferKHR as *mut c_void,
        "clGetCommandBufferInfoKHR" => command_buffer::clGetCommandBufferInfoKHR as *mut c_void,
        "clCommandBarrierWithWaitListKHR" => record::clCommandBarrierWithWaitListKHR as *mut c_void,
        "clCommandCopyBufferKHR" => record::clCommandCopyBufferKHR as *mut c_void,
        "clCommandCopyBufferRectKHR" => record::clCommandCopyBufferRectKHR as *mut c_void,
        "clCommandCopyBufferToImageKHR" => record::clCommandCopyBufferToImageKHR as *mut c_void,
        "clCommandCopyImageKHR" => record::clCommandCopyImageKHR as *mut c_void,
        "clCommandCopyImageToBufferKHR" => record::clCommandCopyImageToBufferKHR as *mut c_void,
        "clCommandFillBufferKHR" => record::clCommandFillBufferKHR as *mut c_void,
        "clCommandFillImageKHR" => record::clCommandFillImageKHR as *mut c_void,
        "clCommandSVMMemcpyKHR" => record::clCommandSVMMemcpyKHR as *mut c_void,
        "clCommandSVMMemFillKHR" => record::clCommandSVMMemFillKHR as *mut c_void,
        "clCommandNDRangeKernelKHR" => record::clCommandNDRangeKernelKHR as *mut c_void,
        // cl_khr_command_buffer_mutable_dispatch
        "clUpdateMutableCommandsKHR" => mutable_dispatch::clUpdateMutableCommandsKHR as *mut c_void,
        "clGetMutableCommandInfoKHR" => mutable_dispatch::clGetMutableCommandInfoKHR as *mut c_void,
        // cl_khr_create_command_queue
        "clCreateCommandQueueWithPropertiesKHR" => queue::clCreateCommandQueueWithProperties as *mut c_void,
        // cl_khr_il_program
        "clCreateProgramWithILKHR" => program::clCreateProgramWithIL as *mut c_void,
        // cl_khr_semaphore
        "clCreateSemaphoreWithPropertiesKHR" => semaphore::clCreateSemaphoreWithPropertiesKHR as *mut c_void,
        "clEnqueueWaitSemaphoresKHR" => semaphore::clEnqueueWaitSemaphoresKHR as *mut c_void,
        "clEnqueueSignalSemaphoresKHR" => semaphore::clEnqueueSignalSemaphoresKHR as *mut c_void,
        "clGetSemaphoreInfoKHR" => semaphore::clGetSemaphoreInfoKHR as *mut c_void,
        "clGetSemaphoreHandleForTypeKHR" => semaphore::clGetSemaphoreHandleForTypeKHR as *mut c_void,
        "clRetainSemaphoreKHR" => semaphore::clRetainSemaphoreKHR as *mut c_void,
        "clReleaseSemaphoreKHR" => semaphore::clReleaseSemaphoreKHR as *mut c_void,
        // cl_khr_suggested_local_work_size
        "clGetKernelSuggestedLocalWorkSizeKHR" => ndrange::clGetKernelSuggestedLocalWorkSize as *mut c_void,
        // Variables of programs, for SYCL's runtime.
        "clGetDeviceGlobalVariablePointerINTEL" => {
            program_variables::clGetDeviceGlobalVariablePointerINTEL as *mut c_void
        }
        "clEnqueueReadGlobalVariableINTEL" => program_variables::clEnqueueReadGlobalVariableINTEL as *mut c_void,
        "clEnqueueWriteGlobalVariableINTEL" => program_variables::clEnqueueWriteGlobalVariableINTEL as *mut c_void,
        // cl_intel_unified_shared_memory
        "clHostMemAllocINTEL" => usm::clHostMemAllocINTEL as *mut c_void,
        "clDeviceMemAllocINTEL" => usm::clDeviceMemAllocINTEL as *mut c_void,
        "clSharedMemAllocINTEL" => usm::clSharedMemAllocINTEL as *mut c_void,
        "clMemFreeINTEL" => usm::clMemFreeINTEL as *mut c_void,
        "clMemBlockingFreeINTEL" => usm::clMemBlockingFreeINTEL as *mut c_void,
        "clGetMemAllocInfoINTEL" => usm::clGetMemAllocInfoINTEL as *mut c_void,
        "clSetKernelArgMemPointerINTEL" => usm::clSetKernelArgMemPointerINTEL as *mut c_void,
        "clEnqueueMemFillINTEL" => usm::clEnqueueMemFillINTEL as *mut c_void,
        "clEnqueueMemsetINTEL" => usm::clEnqueueMemsetINTEL as *mut c_void,
        "clEnqueueMemcpyINTEL" => usm::clEnqueueMemcpyINTEL as *mut c_void,
        "clEnqueueMigrateMemINTEL" => usm::clEnqueueMigrateMemINTEL as *mut c_void,
        "clEnqueueMemAdviseINTEL" => usm::clEnqueueMemAdviseINTEL as *mut c_void,
        _ => return None,
    })
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
    match handle::get::<Platform>(platform) {
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
