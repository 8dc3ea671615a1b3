//! Functions of extensions, as applications get them: by name, for the platform.

use std::ffi::{CString, c_char, c_void};

use libc::size_t;
use opencl_sys::*;

use crate::loader::{cl, platform};

/// The address of a function of an extension.
///
/// # Panics
/// When the platform has no such function.
fn address(name: &str) -> *const c_void {
    let text = CString::new(name).expect("a name without zeros");
    let function = (cl().clGetExtensionFunctionAddressForPlatform)(platform(), text.as_ptr());
    assert!(!function.is_null(), "{name} is missing");
    function
}

macro_rules! extensions {
    ($($(#[$doc:meta])* $table:ident { $($name:ident: ($($argument:ty),*) $(-> $result:ty)?;)* })*) => { $(
        $(#[$doc])*
        #[allow(non_snake_case, missing_docs)]
        pub struct $table {
            $(pub $name: extern "C" fn($($argument),*) $(-> $result)?,)*
        }

        impl $table {
            /// The functions' names.
            pub const NAMES: &[&str] = &[$(stringify!($name)),*];

            /// Looks the functions up.
            #[allow(clippy::new_without_default)]
            pub fn new() -> Self {
                $table {
                    $($name: {
                        let function = address(stringify!($name));
                        // SAFETY: not null, and the function of that name, whose signature the list below gives.
                        unsafe {
                            std::mem::transmute::<*const c_void, extern "C" fn($($argument),*) $(-> $result)?>(function)
                        }
                    },)*
                }
            }
        }
    )* };
}

extensions! {
    /// Variables of programs by their names.
    ProgramVariables {
        clGetDeviceGlobalVariablePointerINTEL:
            (cl_device_id, cl_program, *const c_char, *mut size_t, *mut *mut c_void) -> cl_int;
        clEnqueueReadGlobalVariableINTEL:
            (cl_command_queue, cl_program, *const c_char, cl_bool, size_t, size_t, *mut c_void, cl_uint, *const cl_event,
                *mut cl_event) -> cl_int;
        clEnqueueWriteGlobalVariableINTEL:
            (cl_command_queue, cl_program, *const c_char, cl_bool, size_t, size_t, *const c_void, cl_uint,
                *const cl_event, *mut cl_event) -> cl_int;
    }

    /// `cl_intel_unified_shared_memory`.
    UnifiedMemory {
        clHostMemAllocINTEL: (cl_context, *const cl_mem_properties_intel, size_t, cl_uint, *mut cl_int) -> *mut c_void;
        clDeviceMemAllocINTEL:
            (cl_context, cl_device_id, *const cl_mem_properties_intel, size_t, cl_uint, *mut cl_int) -> *mut c_void;
        clSharedMemAllocINTEL:
            (cl_context, cl_device_id, *const cl_mem_properties_intel, size_t, cl_uint, *mut cl_int) -> *mut c_void;
        clMemFreeINTEL: (cl_context, *mut c_void) -> cl_int;
        clMemBlockingFreeINTEL: (cl_context, *mut c_void) -> cl_int;
        clGetMemAllocInfoINTEL:
            (cl_context, *const c_void, cl_mem_info_intel, size_t, *mut c_void, *mut size_t) -> cl_int;
        clSetKernelArgMemPointerINTEL: (cl_kernel, cl_uint, *const c_void) -> cl_int;
        clEnqueueMemFillINTEL:
            (cl_command_queue, *mut c_void, *const c_void, size_t, size_t, cl_uint, *const cl_event, *mut cl_event) -> cl_int;
        clEnqueueMemsetINTEL:
            (cl_command_queue, *mut c_void, cl_int, size_t, cl_uint, *const cl_event, *mut cl_event) -> cl_int;
        clEnqueueMemcpyINTEL:
            (cl_command_queue, cl_bool, *mut c_void, *const c_void, size_t, cl_uint, *const cl_event, *mut cl_event) -> cl_int;
        clEnqueueMigrateMemINTEL:
            (cl_command_queue, *const c_void, size_t, cl_mem_migration_flags, cl_uint, *const cl_event, *mut cl_event) -> cl_int;
        clEnqueueMemAdviseINTEL:
            (cl_command_queue, *const c_void, size_t, cl_mem_advice_intel, cl_uint, *const cl_event, *mut cl_event) -> cl_int;
    }

    /// `cl_khr_command_buffer`.
    CommandBuffers {
        clCreateCommandBufferKHR: (cl_uint, *const cl_command_queue, *const u64, *mut cl_int) -> cl_command_buffer_khr;
        clFinalizeCommandBufferKHR: (cl_command_buffer_khr) -> cl_int;
        clRetainCommandBufferKHR: (cl_command_buffer_khr) -> cl_int;
        clReleaseCommandBufferKHR: (cl_command_buffer_khr) -> cl_int;
        clEnqueueCommandBufferKHR:
            (cl_uint, *mut cl_command_queue, cl_command_buffer_khr, cl_uint, *const cl_event, *mut cl_event) -> cl_int;
        clGetCommandBufferInfoKHR:
            (cl_command_buffer_khr, cl_command_buffer_info_khr, size_t, *mut c_void, *mut size_t) -> cl_int;
        clCommandBarrierWithWaitListKHR:
            (cl_command_buffer_khr, cl_command_queue, *const u64,
             cl_uint, *const cl_sync_point_khr, *mut cl_sync_point_khr, *mut cl_mutable_command_khr) -> cl_int;
        clCommandCopyBufferKHR:
            (cl_command_buffer_khr, cl_command_queue, *const u64, cl_mem, cl_mem, size_t, size_t, size_t,
             cl_uint, *const cl_sync_point_khr, *mut cl_sync_point_khr, *mut cl_mutable_command_khr) -> cl_int;
        clCommandCopyBufferRectKHR:
            (cl_command_buffer_khr, cl_command_queue, *const u64, cl_mem, cl_mem, *const size_t, *const size_t, *const size_t, size_t, size_t, size_t, size_t,
             cl_uint, *const cl_sync_point_khr, *mut cl_sync_point_khr, *mut cl_mutable_command_khr) -> cl_int;
        clCommandCopyBufferToImageKHR:
            (cl_command_buffer_khr, cl_command_queue, *const u64, cl_mem, cl_mem, size_t, *const size_t, *const size_t,
             cl_uint, *const cl_sync_point_khr, *mut cl_sync_point_khr, *mut cl_mutable_command_khr) -> cl_int;
        clCommandCopyImageKHR:
            (cl_command_buffer_khr, cl_command_queue, *const u64, cl_mem, cl_mem, *const size_t, *const size_t, *const size_t,
             cl_uint, *const cl_sync_point_khr, *mut cl_sync_point_khr, *mut cl_mutable_command_khr) -> cl_int;
        clCommandCopyImageToBufferKHR:
            (cl_command_buffer_khr, cl_command_queue, *const u64, cl_mem, cl_mem, *const size_t, *const size_t, size_t,
             cl_uint, *const cl_sync_point_khr, *mut cl_sync_point_khr, *mut cl_mutable_command_khr) -> cl_int;
        clCommandFillBufferKHR:
            (cl_command_buffer_khr, cl_command_queue, *const u64, cl_mem, *const c_void, size_t, size_t, size_t,
             cl_uint, *const cl_sync_point_khr, *mut cl_sync_point_khr, *mut cl_mutable_command_khr) -> cl_int;
        clCommandFillImageKHR:
            (cl_command_buffer_khr, cl_command_queue, *const u64, cl_mem, *const c_void, *const size_t, *const size_t,
             cl_uint, *const cl_sync_point_khr, *mut cl_sync_point_khr, *mut cl_mutable_command_khr) -> cl_int;
        clCommandSVMMemcpyKHR:
            (cl_command_buffer_khr, cl_command_queue, *const u64, *mut c_void, *const c_void, size_t,
             cl_uint, *const cl_sync_point_khr, *mut cl_sync_point_khr, *mut cl_mutable_command_khr) -> cl_int;
        clCommandSVMMemFillKHR:
            (cl_command_buffer_khr, cl_command_queue, *const u64, *mut c_void, *const c_void, size_t, size_t,
             cl_uint, *const cl_sync_point_khr, *mut cl_sync_point_khr, *mut cl_mutable_command_khr) -> cl_int;
        clCommandNDRangeKernelKHR:
            (cl_command_buffer_khr, cl_command_queue, *const u64, cl_kernel, cl_uint, *const size_t, *const size_t, *const size_t,
             cl_uint, *const cl_sync_point_khr, *mut cl_sync_point_khr, *mut cl_mutable_command_khr) -> cl_int;
    }

    /// `cl_khr_command_buffer_mutable_dispatch`.
    MutableDispatch {
        clUpdateMutableCommandsKHR:
            (cl_command_buffer_khr, cl_uint, *const cl_command_buffer_update_type_khr, *mut *const c_void) -> cl_int;
        clGetMutableCommandInfoKHR:
            (cl_mutable_command_khr, cl_mutable_command_info_khr, size_t, *mut c_void, *mut size_t) -> cl_int;
    }

    /// `cl_khr_create_command_queue`.
    CreateCommandQueue {
        clCreateCommandQueueWithPropertiesKHR:
            (cl_context, cl_device_id, *const cl_queue_properties, *mut cl_int) -> cl_command_queue;
    }

    /// `cl_khr_suggested_local_work_size`.
    SuggestedLocalWorkSize {
        clGetKernelSuggestedLocalWorkSizeKHR:
            (cl_command_queue, cl_kernel, cl_uint, *const size_t, *const size_t, *mut size_t) -> cl_int;
    }

    /// Of `cl_khr_il_program`: programs of SPIR-V.
    IntermediateLanguage {
        clCreateProgramWithILKHR: (cl_context, *const c_void, size_t, *mut cl_int) -> cl_program;
    }

    /// `cl_khr_semaphore`.
    Semaphores {
        clCreateSemaphoreWithPropertiesKHR:
            (cl_context, *const cl_semaphore_properties_khr, *mut cl_int) -> cl_semaphore_khr;
        clEnqueueWaitSemaphoresKHR:
            (cl_command_queue, cl_uint, *const cl_semaphore_khr, *const u64, cl_uint, *const cl_event, *mut cl_event) -> cl_int;
        clEnqueueSignalSemaphoresKHR:
            (cl_command_queue, cl_uint, *const cl_semaphore_khr, *const u64, cl_uint, *const cl_event, *mut cl_event) -> cl_int;
        clGetSemaphoreInfoKHR:
            (cl_semaphore_khr, cl_semaphore_info_khr, size_t, *mut c_void, *mut size_t) -> cl_int;
        clGetSemaphoreHandleForTypeKHR:
            (cl_semaphore_khr, cl_device_id, cl_uint, size_t, *mut c_void, *mut size_t) -> cl_int;
        clRetainSemaphoreKHR: (cl_semaphore_khr) -> cl_int;
        clReleaseSemaphoreKHR: (cl_semaphore_khr) -> cl_int;
    }

    /// `cl_ext_buffer_device_address`.
    DeviceAddress {
        clSetKernelArgDevicePointerEXT: (cl_kernel, cl_uint, cl_mem_device_address_ext) -> cl_int;
    }
}
