//! The entry points of OpenCL 3.0, each with its place in the ICD's dispatch table.
//!
//! One list serves both ways of reaching a driver: by symbol name through the ICD loader, as applications do, and by
//! place in the dispatch table that the first word of every object points to. The second way hands the driver
//! arguments that the loader itself would fall over (stale or garbage handles).
//!
//! The functions are typed as safe: a driver must answer every argument it can check with an error code, and the
//! tests that hand over pointers hand over live ones. What they still get wrong shows as a failing test.

use std::ffi::{c_char, c_void};

use libc::size_t;
use opencl_sys::*;

/// `pfn_notify` of `clCreateContext`.
pub type ContextNotify = Option<extern "C" fn(*const c_char, *const c_void, size_t, *mut c_void)>;
/// `pfn_notify` of the functions that build, compile and link.
pub type ProgramNotify = Option<extern "C" fn(cl_program, *mut c_void)>;
/// `pfn_notify` of `clSetEventCallback`.
pub type EventNotify = Option<extern "C" fn(cl_event, cl_int, *mut c_void)>;
/// `pfn_notify` of `clSetMemObjectDestructorCallback`.
pub type MemNotify = Option<extern "C" fn(cl_mem, *mut c_void)>;
/// `pfn_notify` of `clSetContextDestructorCallback`.
pub type ContextDestroyed = Option<extern "C" fn(cl_context, *mut c_void)>;
/// `pfn_free_func` of `clEnqueueSVMFree`.
pub type SvmFree = Option<extern "C" fn(cl_command_queue, cl_uint, *mut *mut c_void, *mut c_void)>;
/// `user_func` of `clEnqueueNativeKernel`.
pub type NativeKernel = Option<extern "C" fn(*mut c_void)>;

macro_rules! entry_points {
    ($($name:ident @ $place:literal: ($($argument:ty),*) $(-> $result:ty)?;)*) => {
        /// The functions of one implementation of OpenCL 3.0: the loader's or a driver's own.
        #[allow(non_snake_case)]
        pub struct EntryPoints {
            $(
                #[doc = concat!("Number ", stringify!($place), " of the dispatch table.")]
                pub $name: extern "C" fn($($argument),*) $(-> $result)?,
            )*
        }

        /// Every entry point's name and its place in the dispatch table.
        pub const ENTRY_POINTS: &[(&str, usize)] = &[$((stringify!($name), $place)),*];

        impl EntryPoints {
            /// Fills the table; `find` gets each function's name and place.
            ///
            /// # Panics
            /// When `find` knows no such function.
            ///
            /// # Safety
            /// What `find` returns must be the OpenCL function of that name.
            pub(crate) unsafe fn collect(find: impl Fn(&'static str, usize) -> *const c_void) -> Self {
                let get = |name, place| {
                    let function = find(name, place);
                    assert!(!function.is_null(), "{name} is missing");
                    function
                };
                EntryPoints {
                    $($name: {
                        let function = get(stringify!($name), $place);
                        // SAFETY: not null, and by this function's contract the OpenCL function of that name, whose
                        // signature the list below gives.
                        unsafe {
                            std::mem::transmute::<*const c_void, extern "C" fn($($argument),*) $(-> $result)?>(function)
                        }
                    },)*
                }
            }
        }
    };
}

entry_points! {
    clGetPlatformIDs @ 0: (cl_uint, *mut cl_platform_id, *mut cl_uint) -> cl_int;
    clGetPlatformInfo @ 1: (cl_platform_id, cl_platform_info, size_t, *mut c_void, *mut size_t) -> cl_int;
    clGetDeviceIDs @ 2: (cl_platform_id, cl_device_type, cl_uint, *mut cl_device_id, *mut cl_uint) -> cl_int;
    clGetDeviceInfo @ 3: (cl_device_id, cl_device_info, size_t, *mut c_void, *mut size_t) -> cl_int;
    clCreateContext @ 4: (*const cl_context_properties, cl_uint, *const cl_device_id, ContextNotify, *mut c_void, *mut cl_int) -> cl_context;
    clCreateContextFromType @ 5: (*const cl_context_properties, cl_device_type, ContextNotify, *mut c_void, *mut cl_int) -> cl_context;
    clRetainContext @ 6: (cl_context) -> cl_int;
    clReleaseContext @ 7: (cl_context) -> cl_int;
    clGetContextInfo @ 8: (cl_context, cl_context_info, size_t, *mut c_void, *mut size_t) -> cl_int;
    clCreateCommandQueue @ 9: (cl_context, cl_device_id, cl_command_queue_properties, *mut cl_int) -> cl_command_queue;
    clRetainCommandQueue @ 10: (cl_command_queue) -> cl_int;
    clReleaseCommandQueue @ 11: (cl_command_queue) -> cl_int;
    clGetCommandQueueInfo @ 12: (cl_command_queue, cl_command_queue_info, size_t, *mut c_void, *mut size_t) -> cl_int;
    clSetCommandQueueProperty @ 13: (cl_command_queue, cl_command_queue_properties, cl_bool, *mut cl_command_queue_properties) -> cl_int;
    clCreateBuffer @ 14: (cl_context, cl_mem_flags, size_t, *mut c_void, *mut cl_int) -> cl_mem;
    clCreateImage2D @ 15: (cl_context, cl_mem_flags, *const cl_image_format, size_t, size_t, size_t, *mut c_void, *mut cl_int) -> cl_mem;
    clCreateImage3D @ 16: (cl_context, cl_mem_flags, *const cl_image_format, size_t, size_t, size_t, size_t, size_t, *mut c_void, *mut cl_int) -> cl_mem;
    clRetainMemObject @ 17: (cl_mem) -> cl_int;
    clReleaseMemObject @ 18: (cl_mem) -> cl_int;
    clGetSupportedImageFormats @ 19: (cl_context, cl_mem_flags, cl_mem_object_type, cl_uint, *mut cl_image_format, *mut cl_uint) -> cl_int;
    clGetMemObjectInfo @ 20: (cl_mem, cl_mem_info, size_t, *mut c_void, *mut size_t) -> cl_int;
    clGetImageInfo @ 21: (cl_mem, cl_image_info, size_t, *mut c_void, *mut size_t) -> cl_int;
    clCreateSampler @ 22: (cl_context, cl_bool, cl_addressing_mode, cl_filter_mode, *mut cl_int) -> cl_sampler;
    clRetainSampler @ 23: (cl_sampler) -> cl_int;
    clReleaseSampler @ 24: (cl_sampler) -> cl_int;
    clGetSamplerInfo @ 25: (cl_sampler, cl_sampler_info, size_t, *mut c_void, *mut size_t) -> cl_int;
    clCreateProgramWithSource @ 26: (cl_context, cl_uint, *const *const c_char, *const size_t, *mut cl_int) -> cl_program;
    clCreateProgramWithBinary @ 27: (cl_context, cl_uint, *const cl_device_id, *const size_t, *const *const u8, *mut cl_int, *mut cl_int) -> cl_program;
    clRetainProgram @ 28: (cl_program) -> cl_int;
    clReleaseProgram @ 29: (cl_program) -> cl_int;
    clBuildProgram @ 30: (cl_program, cl_uint, *const cl_device_id, *const c_char, ProgramNotify, *mut c_void) -> cl_int;
    clUnloadCompiler @ 31: () -> cl_int;
    clGetProgramInfo @ 32: (cl_program, cl_program_info, size_t, *mut c_void, *mut size_t) -> cl_int;
    clGetProgramBuildInfo @ 33: (cl_program, cl_device_id, cl_program_build_info, size_t, *mut c_void, *mut size_t) -> cl_int;
    clCreateKernel @ 34: (cl_program, *const c_char, *mut cl_int) -> cl_kernel;
    clCreateKernelsInProgram @ 35: (cl_program, cl_uint, *mut cl_kernel, *mut cl_uint) -> cl_int;
    clRetainKernel @ 36: (cl_kernel) -> cl_int;
    clReleaseKernel @ 37: (cl_kernel) -> cl_int;
    clSetKernelArg @ 38: (cl_kernel, cl_uint, size_t, *const c_void) -> cl_int;
    clGetKernelInfo @ 39: (cl_kernel, cl_kernel_info, size_t, *mut c_void, *mut size_t) -> cl_int;
    clGetKernelWorkGroupInfo @ 40: (cl_kernel, cl_device_id, cl_kernel_work_group_info, size_t, *mut c_void, *mut size_t) -> cl_int;
    clWaitForEvents @ 41: (cl_uint, *const cl_event) -> cl_int;
    clGetEventInfo @ 42: (cl_event, cl_event_info, size_t, *mut c_void, *mut size_t) -> cl_int;
    clRetainEvent @ 43: (cl_event) -> cl_int;
    clReleaseEvent @ 44: (cl_event) -> cl_int;
    clGetEventProfilingInfo @ 45: (cl_event, cl_profiling_info, size_t, *mut c_void, *mut size_t) -> cl_int;
    clFlush @ 46: (cl_command_queue) -> cl_int;
    clFinish @ 47: (cl_command_queue) -> cl_int;
    clEnqueueReadBuffer @ 48: (cl_command_queue, cl_mem, cl_bool, size_t, size_t, *mut c_void, cl_uint, *const cl_event, *mut cl_event) -> cl_int;
    clEnqueueWriteBuffer @ 49: (cl_command_queue, cl_mem, cl_bool, size_t, size_t, *const c_void, cl_uint, *const cl_event, *mut cl_event) -> cl_int;
    clEnqueueCopyBuffer @ 50: (cl_command_queue, cl_mem, cl_mem, size_t, size_t, size_t, cl_uint, *const cl_event, *mut cl_event) -> cl_int;
    clEnqueueReadImage @ 51: (cl_command_queue, cl_mem, cl_bool, *const size_t, *const size_t, size_t, size_t, *mut c_void, cl_uint, *const cl_event, *mut cl_event) -> cl_int;
    clEnqueueWriteImage @ 52: (cl_command_queue, cl_mem, cl_bool, *const size_t, *const size_t, size_t, size_t, *const c_void, cl_uint, *const cl_event, *mut cl_event) -> cl_int;
    clEnqueueCopyImage @ 53: (cl_command_queue, cl_mem, cl_mem, *const size_t, *const size_t, *const size_t, cl_uint, *const cl_event, *mut cl_event) -> cl_int;
    clEnqueueCopyImageToBuffer @ 54: (cl_command_queue, cl_mem, cl_mem, *const size_t, *const size_t, size_t, cl_uint, *const cl_event, *mut cl_event) -> cl_int;
    clEnqueueCopyBufferToImage @ 55: (cl_command_queue, cl_mem, cl_mem, size_t, *const size_t, *const size_t, cl_uint, *const cl_event, *mut cl_event) -> cl_int;
    clEnqueueMapBuffer @ 56: (cl_command_queue, cl_mem, cl_bool, cl_map_flags, size_t, size_t, cl_uint, *const cl_event, *mut cl_event, *mut cl_int) -> *mut c_void;
    clEnqueueMapImage @ 57: (cl_command_queue, cl_mem, cl_bool, cl_map_flags, *const size_t, *const size_t, *mut size_t, *mut size_t, cl_uint, *const cl_event, *mut cl_event, *mut cl_int) -> *mut c_void;
    clEnqueueUnmapMemObject @ 58: (cl_command_queue, cl_mem, *mut c_void, cl_uint, *const cl_event, *mut cl_event) -> cl_int;
    clEnqueueNDRangeKernel @ 59: (cl_command_queue, cl_kernel, cl_uint, *const size_t, *const size_t, *const size_t, cl_uint, *const cl_event, *mut cl_event) -> cl_int;
    clEnqueueTask @ 60: (cl_command_queue, cl_kernel, cl_uint, *const cl_event, *mut cl_event) -> cl_int;
    clEnqueueNativeKernel @ 61: (cl_command_queue, NativeKernel, *mut c_void, size_t, cl_uint, *const cl_mem, *const *const c_void, cl_uint, *const cl_event, *mut cl_event) -> cl_int;
    clEnqueueMarker @ 62: (cl_command_queue, *mut cl_event) -> cl_int;
    clEnqueueWaitForEvents @ 63: (cl_command_queue, cl_uint, *const cl_event) -> cl_int;
    clEnqueueBarrier @ 64: (cl_command_queue) -> cl_int;
    clGetExtensionFunctionAddress @ 65: (*const c_char) -> *mut c_void;
    clSetEventCallback @ 81: (cl_event, cl_int, EventNotify, *mut c_void) -> cl_int;
    clCreateSubBuffer @ 82: (cl_mem, cl_mem_flags, cl_buffer_create_type, *const c_void, *mut cl_int) -> cl_mem;
    clSetMemObjectDestructorCallback @ 83: (cl_mem, MemNotify, *mut c_void) -> cl_int;
    clCreateUserEvent @ 84: (cl_context, *mut cl_int) -> cl_event;
    clSetUserEventStatus @ 85: (cl_event, cl_int) -> cl_int;
    clEnqueueReadBufferRect @ 86: (cl_command_queue, cl_mem, cl_bool, *const size_t, *const size_t, *const size_t, size_t, size_t, size_t, size_t, *mut c_void, cl_uint, *const cl_event, *mut cl_event) -> cl_int;
    clEnqueueWriteBufferRect @ 87: (cl_command_queue, cl_mem, cl_bool, *const size_t, *const size_t, *const size_t, size_t, size_t, size_t, size_t, *const c_void, cl_uint, *const cl_event, *mut cl_event) -> cl_int;
    clEnqueueCopyBufferRect @ 88: (cl_command_queue, cl_mem, cl_mem, *const size_t, *const size_t, *const size_t, size_t, size_t, size_t, size_t, cl_uint, *const cl_event, *mut cl_event) -> cl_int;
    clCreateSubDevices @ 93: (cl_device_id, *const cl_device_partition_property, cl_uint, *mut cl_device_id, *mut cl_uint) -> cl_int;
    clRetainDevice @ 94: (cl_device_id) -> cl_int;
    clReleaseDevice @ 95: (cl_device_id) -> cl_int;
    clCreateImage @ 96: (cl_context, cl_mem_flags, *const cl_image_format, *const cl_image_desc, *mut c_void, *mut cl_int) -> cl_mem;
    clCreateProgramWithBuiltInKernels @ 97: (cl_context, cl_uint, *const cl_device_id, *const c_char, *mut cl_int) -> cl_program;
    clCompileProgram @ 98: (cl_program, cl_uint, *const cl_device_id, *const c_char, cl_uint, *const cl_program, *const *const c_char, ProgramNotify, *mut c_void) -> cl_int;
    clLinkProgram @ 99: (cl_context, cl_uint, *const cl_device_id, *const c_char, cl_uint, *const cl_program, ProgramNotify, *mut c_void, *mut cl_int) -> cl_program;
    clUnloadPlatformCompiler @ 100: (cl_platform_id) -> cl_int;
    clGetKernelArgInfo @ 101: (cl_kernel, cl_uint, cl_kernel_arg_info, size_t, *mut c_void, *mut size_t) -> cl_int;
    clEnqueueFillBuffer @ 102: (cl_command_queue, cl_mem, *const c_void, size_t, size_t, size_t, cl_uint, *const cl_event, *mut cl_event) -> cl_int;
    clEnqueueFillImage @ 103: (cl_command_queue, cl_mem, *const c_void, *const size_t, *const size_t, cl_uint, *const cl_event, *mut cl_event) -> cl_int;
    clEnqueueMigrateMemObjects @ 104: (cl_command_queue, cl_uint, *const cl_mem, cl_mem_migration_flags, cl_uint, *const cl_event, *mut cl_event) -> cl_int;
    clEnqueueMarkerWithWaitList @ 105: (cl_command_queue, cl_uint, *const cl_event, *mut cl_event) -> cl_int;
    clEnqueueBarrierWithWaitList @ 106: (cl_command_queue, cl_uint, *const cl_event, *mut cl_event) -> cl_int;
    clGetExtensionFunctionAddressForPlatform @ 107: (cl_platform_id, *const c_char) -> *mut c_void;
    clCreateCommandQueueWithProperties @ 123: (cl_context, cl_device_id, *const cl_queue_properties, *mut cl_int) -> cl_command_queue;
    clCreatePipe @ 124: (cl_context, cl_mem_flags, cl_uint, cl_uint, *const cl_pipe_properties, *mut cl_int) -> cl_mem;
    clGetPipeInfo @ 125: (cl_mem, cl_pipe_info, size_t, *mut c_void, *mut size_t) -> cl_int;
    clSVMAlloc @ 126: (cl_context, cl_svm_mem_flags, size_t, cl_uint) -> *mut c_void;
    clSVMFree @ 127: (cl_context, *mut c_void);
    clEnqueueSVMFree @ 128: (cl_command_queue, cl_uint, *mut *mut c_void, SvmFree, *mut c_void, cl_uint, *const cl_event, *mut cl_event) -> cl_int;
    clEnqueueSVMMemcpy @ 129: (cl_command_queue, cl_bool, *mut c_void, *const c_void, size_t, cl_uint, *const cl_event, *mut cl_event) -> cl_int;
    clEnqueueSVMMemFill @ 130: (cl_command_queue, *mut c_void, *const c_void, size_t, size_t, cl_uint, *const cl_event, *mut cl_event) -> cl_int;
    clEnqueueSVMMap @ 131: (cl_command_queue, cl_bool, cl_map_flags, *mut c_void, size_t, cl_uint, *const cl_event, *mut cl_event) -> cl_int;
    clEnqueueSVMUnmap @ 132: (cl_command_queue, *mut c_void, cl_uint, *const cl_event, *mut cl_event) -> cl_int;
    clCreateSamplerWithProperties @ 133: (cl_context, *const cl_sampler_properties, *mut cl_int) -> cl_sampler;
    clSetKernelArgSVMPointer @ 134: (cl_kernel, cl_uint, *const c_void) -> cl_int;
    clSetKernelExecInfo @ 135: (cl_kernel, cl_kernel_exec_info, size_t, *const c_void) -> cl_int;
    clCloneKernel @ 137: (cl_kernel, *mut cl_int) -> cl_kernel;
    clCreateProgramWithIL @ 138: (cl_context, *const c_void, size_t, *mut cl_int) -> cl_program;
    clEnqueueSVMMigrateMem @ 139: (cl_command_queue, cl_uint, *const *const c_void, *const size_t, cl_mem_migration_flags, cl_uint, *const cl_event, *mut cl_event) -> cl_int;
    clGetDeviceAndHostTimer @ 140: (cl_device_id, *mut cl_ulong, *mut cl_ulong) -> cl_int;
    clGetHostTimer @ 141: (cl_device_id, *mut cl_ulong) -> cl_int;
    clGetKernelSubGroupInfo @ 142: (cl_kernel, cl_device_id, cl_kernel_sub_group_info, size_t, *const c_void, size_t, *mut c_void, *mut size_t) -> cl_int;
    clSetDefaultDeviceCommandQueue @ 143: (cl_context, cl_device_id, cl_command_queue) -> cl_int;
    clSetProgramReleaseCallback @ 144: (cl_program, ProgramNotify, *mut c_void) -> cl_int;
    clSetProgramSpecializationConstant @ 145: (cl_program, cl_uint, size_t, *const c_void) -> cl_int;
    clCreateBufferWithProperties @ 146: (cl_context, *const cl_mem_properties, cl_mem_flags, size_t, *mut c_void, *mut cl_int) -> cl_mem;
    clCreateImageWithProperties @ 147: (cl_context, *const cl_mem_properties, cl_mem_flags, *const cl_image_format, *const cl_image_desc, *mut c_void, *mut cl_int) -> cl_mem;
    clSetContextDestructorCallback @ 148: (cl_context, ContextDestroyed, *mut c_void) -> cl_int;
}
