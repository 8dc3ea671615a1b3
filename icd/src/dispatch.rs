//! The one table of entry points.
//!
//! Its layout is that of `cl_icd_dispatch` in the ICD headers; a test compares it with the header's order of names. The
//! ICD loader calls through it by position, `clGetExtensionFunctionAddress*` by name. An entry point of a feature that is
//! not there answers with the specification's error ([`absent`]).

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
    CL_INVALID_VALUE, cl_platform_id,
};

use crate::absent::{Anything, absent};
use crate::api::{
    buffer, command_buffer, command_buffer_record as record, context, device, device_info, event, image, image_create,
    image_transfer, kernel, marker, memory_object, mutable_dispatch, native, ndrange, pipe, platform, program,
    program_info, queue, rect, sampler, semaphore, sub_device, svm, svm_transfer, transfer, usm,
};
use crate::handle;

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
    clGetPlatformIDs: Some(platform::get_platform_ids),
    clGetPlatformInfo: Some(platform::get_platform_info),
    clGetDeviceIDs: Some(device::get_device_ids),
    clGetDeviceInfo: Some(device_info::get_device_info),
    clCreateContext: Some(context::create_context),
    clCreateContextFromType: Some(context::create_context_from_type),
    clRetainContext: Some(context::retain_context),
    clReleaseContext: Some(context::release_context),
    clGetContextInfo: Some(context::get_context_info),
    clCreateCommandQueue: Some(queue::create_command_queue),
    clRetainCommandQueue: Some(queue::retain_command_queue),
    clReleaseCommandQueue: Some(queue::release_command_queue),
    clGetCommandQueueInfo: Some(queue::get_command_queue_info),
    clSetCommandQueueProperty: Some(queue::set_command_queue_property),
    clCreateBuffer: Some(buffer::create_buffer),
    clCreateImage2D: Some(image_create::create_image_2d),
    clCreateImage3D: Some(image_create::create_image_3d),
    clRetainMemObject: Some(memory_object::retain_mem_object),
    clReleaseMemObject: Some(memory_object::release_mem_object),
    clGetSupportedImageFormats: Some(image::get_supported_image_formats),
    clGetMemObjectInfo: Some(memory_object::get_mem_object_info),
    clGetImageInfo: Some(image::get_image_info),
    clCreateSampler: Some(sampler::create_sampler),
    clRetainSampler: Some(sampler::retain_sampler),
    clReleaseSampler: Some(sampler::release_sampler),
    clGetSamplerInfo: Some(sampler::get_sampler_info),
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
    clWaitForEvents: Some(event::wait_for_events),
    clGetEventInfo: Some(event::get_event_info),
    clRetainEvent: Some(event::retain_event),
    clReleaseEvent: Some(event::release_event),
    clGetEventProfilingInfo: Some(event::get_event_profiling_info),
    clFlush: Some(queue::flush),
    clFinish: Some(queue::finish),
    clEnqueueReadBuffer: Some(transfer::enqueue_read_buffer),
    clEnqueueWriteBuffer: Some(transfer::enqueue_write_buffer),
    clEnqueueCopyBuffer: Some(transfer::enqueue_copy_buffer),
    clEnqueueReadImage: Some(image_transfer::enqueue_read_image),
    clEnqueueWriteImage: Some(image_transfer::enqueue_write_image),
    clEnqueueCopyImage: Some(image_transfer::enqueue_copy_image),
    clEnqueueCopyImageToBuffer: Some(image_transfer::enqueue_copy_image_to_buffer),
    clEnqueueCopyBufferToImage: Some(image_transfer::enqueue_copy_buffer_to_image),
    clEnqueueMapBuffer: Some(transfer::enqueue_map_buffer),
    clEnqueueMapImage: Some(image_transfer::enqueue_map_image),
    clEnqueueUnmapMemObject: Some(memory_object::enqueue_unmap_mem_object),
    clEnqueueNDRangeKernel: Some(ndrange::enqueue_nd_range_kernel),
    clEnqueueTask: Some(ndrange::enqueue_task),
    clEnqueueNativeKernel: Some(native::enqueue_native_kernel),
    clEnqueueMarker: Some(marker::enqueue_marker),
    clEnqueueWaitForEvents: Some(marker::enqueue_wait_for_events),
    clEnqueueBarrier: Some(marker::enqueue_barrier),
    clGetExtensionFunctionAddress: Some(get_extension_function_address),
    clCreateFromGLBuffer: absent::<Anything, CL_INVALID_CONTEXT, _>(),
    clCreateFromGLTexture2D: absent::<Anything, CL_INVALID_CONTEXT, _>(),
    clCreateFromGLTexture3D: absent::<Anything, CL_INVALID_CONTEXT, _>(),
    clCreateFromGLRenderbuffer: absent::<Anything, CL_INVALID_CONTEXT, _>(),
    clGetGLObjectInfo: absent::<Memory, CL_INVALID_GL_OBJECT, _>(),
    clGetGLTextureInfo: absent::<Memory, CL_INVALID_GL_OBJECT, _>(),
    clEnqueueAcquireGLObjects: absent::<Queue, CL_INVALID_CONTEXT, _>(),
    clEnqueueReleaseGLObjects: absent::<Queue, CL_INVALID_CONTEXT, _>(),
    clGetGLContextInfoKHR: absent::<Anything, CL_INVALID_GL_SHAREGROUP_REFERENCE_KHR, _>(),
    clGetDeviceIDsFromD3D10KHR: None,
    clCreateFromD3D10BufferKHR: None,
    clCreateFromD3D10Texture2DKHR: None,
    clCreateFromD3D10Texture3DKHR: None,
    clEnqueueAcquireD3D10ObjectsKHR: None,
    clEnqueueReleaseD3D10ObjectsKHR: None,
    clSetEventCallback: Some(event::set_event_callback),
    clCreateSubBuffer: Some(buffer::create_sub_buffer),
    clSetMemObjectDestructorCallback: Some(memory_object::set_mem_object_destructor_callback),
    clCreateUserEvent: Some(event::create_user_event),
    clSetUserEventStatus: Some(event::set_user_event_status),
    clEnqueueReadBufferRect: Some(rect::enqueue_read_buffer_rect),
    clEnqueueWriteBufferRect: Some(rect::enqueue_write_buffer_rect),
    clEnqueueCopyBufferRect: Some(rect::enqueue_copy_buffer_rect),
    clCreateSubDevicesEXT: absent::<Device, CL_INVALID_VALUE, _>(),
    clRetainDeviceEXT: Some(sub_device::retain_device),
    clReleaseDeviceEXT: Some(sub_device::release_device),
    clCreateEventFromGLsyncKHR: absent::<Anything, CL_INVALID_CONTEXT, _>(),
    clCreateSubDevices: Some(sub_device::create_sub_devices),
    clRetainDevice: Some(sub_device::retain_device),
    clReleaseDevice: Some(sub_device::release_device),
    clCreateImage: Some(image_create::create_image),
    clCreateProgramWithBuiltInKernels: Some(program::create_program_with_built_in_kernels),
    clCompileProgram: Some(program::compile_program),
    clLinkProgram: Some(program::link_program),
    clUnloadPlatformCompiler: Some(program::unload_platform_compiler),
    clGetKernelArgInfo: Some(kernel::get_kernel_arg_info),
    clEnqueueFillBuffer: Some(transfer::enqueue_fill_buffer),
    clEnqueueFillImage: Some(image_transfer::enqueue_fill_image),
    clEnqueueMigrateMemObjects: Some(memory_object::enqueue_migrate_mem_objects),
    clEnqueueMarkerWithWaitList: Some(marker::enqueue_marker_with_wait_list),
    clEnqueueBarrierWithWaitList: Some(marker::enqueue_barrier_with_wait_list),
    clGetExtensionFunctionAddressForPlatform: Some(get_extension_function_address_for_platform),
    clCreateFromGLTexture: absent::<Anything, CL_INVALID_CONTEXT, _>(),
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
    clCreateFromEGLImageKHR: absent::<Context, CL_INVALID_OPERATION, _>(),
    clEnqueueAcquireEGLObjectsKHR: absent::<Queue, CL_INVALID_OPERATION, _>(),
    clEnqueueReleaseEGLObjectsKHR: absent::<Queue, CL_INVALID_OPERATION, _>(),
    clCreateEventFromEGLSyncKHR: absent::<Context, CL_INVALID_EGL_OBJECT_KHR, _>(),
    clCreateCommandQueueWithProperties: Some(queue::create_command_queue_with_properties),
    clCreatePipe: Some(pipe::create_pipe),
    clGetPipeInfo: Some(pipe::get_pipe_info),
    clSVMAlloc: Some(svm::svm_alloc),
    clSVMFree: Some(svm::svm_free),
    clEnqueueSVMFree: Some(svm_transfer::enqueue_svm_free),
    clEnqueueSVMMemcpy: Some(svm_transfer::enqueue_svm_memcpy),
    clEnqueueSVMMemFill: Some(svm_transfer::enqueue_svm_mem_fill),
    clEnqueueSVMMap: Some(svm_transfer::enqueue_svm_map),
    clEnqueueSVMUnmap: Some(svm_transfer::enqueue_svm_unmap),
    clCreateSamplerWithProperties: Some(sampler::create_sampler_with_properties),
    clSetKernelArgSVMPointer: Some(svm::set_kernel_arg_svm_pointer),
    clSetKernelExecInfo: Some(svm::set_kernel_exec_info),
    clGetKernelSubGroupInfoKHR: Some(kernel::get_kernel_sub_group_info),
    clCloneKernel: Some(kernel::clone_kernel),
    clCreateProgramWithIL: Some(program::create_program_with_il),
    clEnqueueSVMMigrateMem: Some(svm_transfer::enqueue_svm_migrate_mem),
    clGetDeviceAndHostTimer: Some(device::get_device_and_host_timer),
    clGetHostTimer: Some(device::get_host_timer),
    clGetKernelSubGroupInfo: Some(kernel::get_kernel_sub_group_info),
    clSetDefaultDeviceCommandQueue: Some(queue::set_default_device_command_queue),
    clSetProgramReleaseCallback: Some(program::set_program_release_callback),
    clSetProgramSpecializationConstant: Some(program::set_program_specialization_constant),
    clCreateBufferWithProperties: Some(buffer::create_buffer_with_properties),
    clCreateImageWithProperties: Some(image_create::create_image_with_properties),
    clSetContextDestructorCallback: Some(context::set_context_destructor_callback),
    clGetKernelSuggestedLocalWorkSize: Some(ndrange::get_kernel_suggested_local_work_size),
}

/// The functions of extensions, which are found by name alone.
fn extension(name: &str) -> Option<*mut c_void> {
    Some(match name {
        "clIcdGetPlatformIDsKHR" => platform::get_platform_ids as *mut c_void,
        // cl_ext_buffer_device_address
        "clSetKernelArgDevicePointerEXT" => kernel::set_kernel_arg_device_pointer as *mut c_void,
        // cl_khr_command_buffer
        "clCreateCommandBufferKHR" => command_buffer::create_command_buffer as *mut c_void,
        "clFinalizeCommandBufferKHR" => command_buffer::finalize_command_buffer as *mut c_void,
        "clRetainCommandBufferKHR" => command_buffer::retain_command_buffer as *mut c_void,
        "clReleaseCommandBufferKHR" => command_buffer::release_command_buffer as *mut c_void,
        "clEnqueueCommandBufferKHR" => command_buffer::enqueue_command_buffer as *mut c_void,
        "clGetCommandBufferInfoKHR" => command_buffer::get_command_buffer_info as *mut c_void,
        "clCommandBarrierWithWaitListKHR" => record::command_barrier as *mut c_void,
        "clCommandCopyBufferKHR" => record::command_copy_buffer as *mut c_void,
        "clCommandCopyBufferRectKHR" => record::command_copy_buffer_rect as *mut c_void,
        "clCommandCopyBufferToImageKHR" => record::command_copy_buffer_to_image as *mut c_void,
        "clCommandCopyImageKHR" => record::command_copy_image as *mut c_void,
        "clCommandCopyImageToBufferKHR" => record::command_copy_image_to_buffer as *mut c_void,
        "clCommandFillBufferKHR" => record::command_fill_buffer as *mut c_void,
        "clCommandFillImageKHR" => record::command_fill_image as *mut c_void,
        "clCommandSVMMemcpyKHR" => record::command_svm_memcpy as *mut c_void,
        "clCommandSVMMemFillKHR" => record::command_svm_mem_fill as *mut c_void,
        "clCommandNDRangeKernelKHR" => record::command_nd_range_kernel as *mut c_void,
        // cl_khr_command_buffer_mutable_dispatch
        "clUpdateMutableCommandsKHR" => mutable_dispatch::update_mutable_commands as *mut c_void,
        "clGetMutableCommandInfoKHR" => mutable_dispatch::get_mutable_command_info as *mut c_void,
        // cl_khr_create_command_queue
        "clCreateCommandQueueWithPropertiesKHR" => queue::create_command_queue_with_properties as *mut c_void,
        // cl_khr_semaphore
        "clCreateSemaphoreWithPropertiesKHR" => semaphore::create_semaphore_with_properties as *mut c_void,
        "clEnqueueWaitSemaphoresKHR" => semaphore::enqueue_wait_semaphores as *mut c_void,
        "clEnqueueSignalSemaphoresKHR" => semaphore::enqueue_signal_semaphores as *mut c_void,
        "clGetSemaphoreInfoKHR" => semaphore::get_semaphore_info as *mut c_void,
        "clGetSemaphoreHandleForTypeKHR" => semaphore::get_semaphore_handle_for_type as *mut c_void,
        "clRetainSemaphoreKHR" => semaphore::retain_semaphore as *mut c_void,
        "clReleaseSemaphoreKHR" => semaphore::release_semaphore as *mut c_void,
        // cl_khr_suggested_local_work_size
        "clGetKernelSuggestedLocalWorkSizeKHR" => ndrange::get_kernel_suggested_local_work_size as *mut c_void,
        // cl_intel_unified_shared_memory
        "clHostMemAllocINTEL" => usm::host_mem_alloc as *mut c_void,
        "clDeviceMemAllocINTEL" => usm::device_mem_alloc as *mut c_void,
        "clSharedMemAllocINTEL" => usm::shared_mem_alloc as *mut c_void,
        "clMemFreeINTEL" => usm::mem_free as *mut c_void,
        "clMemBlockingFreeINTEL" => usm::mem_blocking_free as *mut c_void,
        "clGetMemAllocInfoINTEL" => usm::get_mem_alloc_info as *mut c_void,
        "clSetKernelArgMemPointerINTEL" => svm::set_kernel_arg_svm_pointer as *mut c_void,
        "clEnqueueMemFillINTEL" => usm::enqueue_mem_fill as *mut c_void,
        "clEnqueueMemsetINTEL" => usm::enqueue_memset as *mut c_void,
        "clEnqueueMemcpyINTEL" => usm::enqueue_memcpy as *mut c_void,
        "clEnqueueMigrateMemINTEL" => usm::enqueue_migrate_mem as *mut c_void,
        "clEnqueueMemAdviseINTEL" => usm::enqueue_mem_advise as *mut c_void,
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
