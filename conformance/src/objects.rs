//! Owners of OpenCL objects: each releases its object when dropped, and a clone retains it.

use std::ffi::{CString, c_void};
use std::ptr;

use opencl_sys::*;

use crate::codes::{code_name, expect, ok};
use crate::info;
use crate::kept_programs;
use crate::loader::{cl, device, platform};
use crate::plain::Plain;

macro_rules! object {
    ($(#[$doc:meta])* $name:ident: $handle:ty, $retain:ident, $release:ident, $info:ident) => {
        $(#[$doc])*
        pub struct $name($handle);

        // SAFETY: the OpenCL API is thread-safe but for `clSetKernelArg`, which the specification puts on the caller.
        unsafe impl Send for $name {}
        // SAFETY: as above.
        unsafe impl Sync for $name {}

        impl $name {
            /// Takes over one reference.
            pub fn own(handle: $handle) -> Self {
                assert!(!handle.is_null(), "a function succeeded and returned no object");
                $name(handle)
            }

            /// The handle.
            pub fn raw(&self) -> $handle {
                self.0
            }

            /// Gives the reference away without releasing it.
            pub fn into_raw(self) -> $handle {
                let handle = self.0;
                std::mem::forget(self);
                handle
            }

            /// One query's answer as a value.
            #[track_caller]
            pub fn info<T: Plain>(&self, name: cl_uint) -> T {
                info::value(|size, value, returned| (cl().$info)(self.0, name, size, value, returned))
            }

            /// One query's answer as an array.
            #[track_caller]
            pub fn info_array<T: Plain>(&self, name: cl_uint) -> Vec<T> {
                info::array(|size, value, returned| (cl().$info)(self.0, name, size, value, returned))
            }

            /// One query's answer as text.
            #[track_caller]
            pub fn info_text(&self, name: cl_uint) -> String {
                info::text(|size, value, returned| (cl().$info)(self.0, name, size, value, returned))
            }
        }

        impl Clone for $name {
            fn clone(&self) -> Self {
                ok((cl().$retain)(self.0));
                $name(self.0)
            }
        }

        impl Drop for $name {
            fn drop(&mut self) {
                let code = (cl().$release)(self.0);
                assert!(code == CL_SUCCESS || std::thread::panicking(), "release: {}", code_name(code));
            }
        }
    };
}

object!(
    /// A context.
    Context: cl_context, clRetainContext, clReleaseContext, clGetContextInfo
);
object!(
    /// A command queue.
    Queue: cl_command_queue, clRetainCommandQueue, clReleaseCommandQueue, clGetCommandQueueInfo
);
object!(
    /// A buffer or sub-buffer.
    Buffer: cl_mem, clRetainMemObject, clReleaseMemObject, clGetMemObjectInfo
);
object!(
    /// A program.
    Program: cl_program, clRetainProgram, clReleaseProgram, clGetProgramInfo
);
object!(
    /// A kernel.
    Kernel: cl_kernel, clRetainKernel, clReleaseKernel, clGetKernelInfo
);
object!(
    /// An event.
    Event: cl_event, clRetainEvent, clReleaseEvent, clGetEventInfo
);

/// What nearly every test begins with: a context with the device under test and an in-order queue.
pub struct Setup {
    /// The context.
    pub context: Context,
    /// An in-order queue.
    pub queue: Queue,
}

impl Setup {
    /// A new context and queue.
    #[allow(clippy::new_without_default)]
    pub fn new() -> Self {
        let context = Context::new();
        let queue = context.queue(0);
        Setup { context, queue }
    }

    /// The device under test.
    pub fn device(&self) -> cl_device_id {
        device()
    }
}

impl Context {
    /// A context with the device under test.
    #[track_caller]
    #[allow(clippy::new_without_default)]
    pub fn new() -> Self {
        let properties = [CL_CONTEXT_PLATFORM, platform() as cl_context_properties, 0];
        let mut code = 1;
        let context = (cl().clCreateContext)(properties.as_ptr(), 1, &device(), None, ptr::null_mut(), &mut code);
        ok(code);
        Context::own(context)
    }

    /// A queue with these `CL_QUEUE_*` bits.
    #[track_caller]
    pub fn queue(&self, bits: cl_command_queue_properties) -> Queue {
        let properties = [CL_QUEUE_PROPERTIES as cl_queue_properties, bits, 0];
        let mut code = 1;
        let queue = (cl().clCreateCommandQueueWithProperties)(self.raw(), device(), properties.as_ptr(), &mut code);
        ok(code);
        Queue::own(queue)
    }

    /// A buffer, or the error.
    pub fn try_buffer(&self, flags: cl_mem_flags, size: usize, host: *mut c_void) -> Result<Buffer, cl_int> {
        let mut code = 1;
        let buffer = (cl().clCreateBuffer)(self.raw(), flags, size, host, &mut code);
        if code == CL_SUCCESS {
            return Ok(Buffer::own(buffer));
        }
        assert!(buffer.is_null(), "a failing clCreateBuffer returned an object");
        Err(code)
    }

    /// A read-write buffer for so many values, all bytes zero.
    #[track_caller]
    pub fn zeros<T: Plain>(&self, count: usize) -> Buffer {
        self.with_values(&vec![0_u8; count * size_of::<T>()])
    }

    /// A read-write buffer with these values.
    #[track_caller]
    pub fn with_values<T: Plain>(&self, values: &[T]) -> Buffer {
        let host = values.as_ptr().cast_mut().cast();
        self.try_buffer(CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, size_of_val(values), host)
            .unwrap_or_else(|code| panic!("clCreateBuffer: {}", code_name(code)))
    }

    /// A program from source, not built.
    #[track_caller]
    pub fn source(&self, source: &str) -> Program {
        let (text, length) = (source.as_ptr().cast(), source.len());
        let mut code = 1;
        let program = (cl().clCreateProgramWithSource)(self.raw(), 1, &text, &length, &mut code);
        ok(code);
        Program::own(program)
    }

    /// A program from source, built.
    ///
    /// # Panics
    /// With the build log when it does not build.
    #[track_caller]
    pub fn build(&self, source: &str, options: &str) -> Program {
        let program = self.source(source);
        let code = program.build(options);
        assert!(code == CL_SUCCESS, "{}: {}", code_name(code), program.log());
        program
    }

    /// A program from a module in an intermediate language, not built.
    #[track_caller]
    pub fn create_with_module(&self, module: &[u8]) -> Program {
        let mut code = 1;
        let program = (cl().clCreateProgramWithIL)(self.raw(), module.as_ptr().cast(), module.len(), &mut code);
        ok(code);
        Program::own(program)
    }

    /// A program from a module in an intermediate language, built.
    ///
    /// # Panics
    /// With the build log when it does not build.
    #[track_caller]
    pub fn build_module(&self, module: &[u8]) -> Program {
        let program = self.create_with_module(module);
        let code = program.build("");
        assert!(code == CL_SUCCESS, "{}: {}", code_name(code), program.log());
        program
    }

    /// A program from a binary, not built; or the error and the binary's status.
    pub fn from_binary(&self, bytes: &[u8]) -> Result<Program, (cl_int, cl_int)> {
        let (mut status, mut code) = (1, 1);
        let (length, start) = (bytes.len(), bytes.as_ptr());
        let program =
            (cl().clCreateProgramWithBinary)(self.raw(), 1, &device(), &length, &start, &mut status, &mut code);
        if code == CL_SUCCESS {
            ok(status);
            return Ok(Program::own(program));
        }
        assert!(program.is_null(), "a failing clCreateProgramWithBinary returned an object");
        Err((code, status))
    }

    /// The kernel `name` of a program built from source.
    #[track_caller]
    pub fn kernel(&self, source: &str, name: &str) -> Kernel {
        self.build(source, "").kernel(name)
    }

    /// A user event.
    #[track_caller]
    pub fn user_event(&self) -> Event {
        let mut code = 1;
        let event = (cl().clCreateUserEvent)(self.raw(), &mut code);
        ok(code);
        Event::own(event)
    }
}

impl Program {
    /// Builds for all devices of the context and returns the code.
    pub fn build(&self, options: &str) -> cl_int {
        let text = CString::new(options).expect("options without zeros");
        let code = (cl().clBuildProgram)(self.raw(), 0, ptr::null(), text.as_ptr(), None, ptr::null_mut());
        if code == CL_SUCCESS {
            kept_programs::keep(self, options);
        }
        code
    }

    /// The program's binary for the device.
    #[track_caller]
    pub fn binary(&self) -> Vec<u8> {
        let size: usize = self.info(CL_PROGRAM_BINARY_SIZES);
        let mut bytes = vec![0_u8; size];
        let mut pointer = bytes.as_mut_ptr();
        let room = size_of::<*mut u8>();
        ok((cl().clGetProgramInfo)(self.raw(), CL_PROGRAM_BINARIES, room, (&raw mut pointer).cast(), ptr::null_mut()));
        bytes
    }

    /// The build log.
    #[track_caller]
    pub fn log(&self) -> String {
        self.build_text(CL_PROGRAM_BUILD_LOG)
    }

    /// One of the build's texts.
    #[track_caller]
    pub fn build_text(&self, name: cl_program_build_info) -> String {
        info::text(|size, value, returned| {
            (cl().clGetProgramBuildInfo)(self.raw(), device(), name, size, value, returned)
        })
    }

    /// One of the build's values.
    #[track_caller]
    pub fn build_info<T: Plain>(&self, name: cl_program_build_info) -> T {
        info::value(|size, value, returned| {
            (cl().clGetProgramBuildInfo)(self.raw(), device(), name, size, value, returned)
        })
    }

    /// A kernel of the program, or the error.
    pub fn try_kernel(&self, name: &str) -> Result<Kernel, cl_int> {
        let name = CString::new(name).expect("a name without zeros");
        let mut code = 1;
        let kernel = (cl().clCreateKernel)(self.raw(), name.as_ptr(), &mut code);
        if code == CL_SUCCESS { Ok(Kernel::own(kernel)) } else { Err(code) }
    }

    /// A kernel of the program.
    #[track_caller]
    pub fn kernel(&self, name: &str) -> Kernel {
        match self.try_kernel(name) {
            Ok(kernel) => kernel,
            Err(code) => panic!("clCreateKernel({name}): {}", code_name(code)),
        }
    }
}

/// One argument of a kernel.
pub enum Argument<'a> {
    /// A buffer.
    Buffer(&'a Buffer),
    /// A value, as its bytes.
    Bytes(Vec<u8>),
    /// So many bytes of local memory.
    Local(usize),
    /// A null pointer to global or constant memory.
    Null,
}

impl<'a> From<&'a Buffer> for Argument<'a> {
    fn from(buffer: &'a Buffer) -> Self {
        Argument::Buffer(buffer)
    }
}

impl<T: Plain> From<T> for Argument<'_> {
    fn from(value: T) -> Self {
        Argument::Bytes(T::to_bytes(&[value]).to_vec())
    }
}

impl Kernel {
    /// Sets one argument and returns the code.
    pub fn try_set<'a>(&self, index: usize, argument: impl Into<Argument<'a>>) -> cl_int {
        let index = index as cl_uint;
        match argument.into() {
            Argument::Buffer(buffer) => {
                (cl().clSetKernelArg)(self.raw(), index, size_of::<cl_mem>(), (&raw const buffer.0).cast())
            }
            Argument::Bytes(bytes) => (cl().clSetKernelArg)(self.raw(), index, bytes.len(), bytes.as_ptr().cast()),
            Argument::Local(size) => (cl().clSetKernelArg)(self.raw(), index, size, ptr::null()),
            Argument::Null => (cl().clSetKernelArg)(self.raw(), index, size_of::<cl_mem>(), ptr::null()),
        }
    }

    /// Sets one argument.
    #[track_caller]
    pub fn set<'a>(&self, index: usize, argument: impl Into<Argument<'a>>) {
        expect(self.try_set(index, argument), CL_SUCCESS);
    }

    /// Sets all arguments in order.
    #[track_caller]
    pub fn set_all(&self, arguments: Vec<Argument>) {
        for (index, argument) in arguments.into_iter().enumerate() {
            self.set(index, argument);
        }
    }

    /// One work-group query's answer as a value.
    #[track_caller]
    pub fn group_info<T: Plain>(&self, name: cl_kernel_work_group_info) -> T {
        info::value(|size, value, returned| {
            (cl().clGetKernelWorkGroupInfo)(self.raw(), device(), name, size, value, returned)
        })
    }
}

/// The arguments of a kernel in order: buffers by reference, values, `Argument::Local(size)`.
#[macro_export]
macro_rules! arguments {
    ($($argument:expr),* $(,)?) => { vec![$($crate::objects::Argument::from($argument)),*] };
}

impl Event {
    /// The command's execution status.
    #[track_caller]
    pub fn status(&self) -> cl_int {
        self.info(CL_EVENT_COMMAND_EXECUTION_STATUS)
    }

    /// Sets a user event's status and returns the code.
    pub fn set_status(&self, status: cl_int) -> cl_int {
        (cl().clSetUserEventStatus)(self.raw(), status)
    }

    /// Waits for the event and returns the code.
    pub fn wait(&self) -> cl_int {
        (cl().clWaitForEvents)(1, &self.0)
    }

    /// One of the four times, in nanoseconds.
    #[track_caller]
    pub fn time(&self, name: cl_profiling_info) -> u64 {
        info::value(|size, value, returned| (cl().clGetEventProfilingInfo)(self.raw(), name, size, value, returned))
    }
}

/// The arguments that a native kernel was called with.
pub fn native_arguments<T: Plain>(arguments: *mut c_void) -> T {
    // SAFETY: only native kernels call this, with the pointer to their copy of a `T`.
    unsafe { arguments.cast::<T>().read_unaligned() }
}

/// The values of a buffer whose address a native kernel was given.
pub fn native_memory<T: Plain>(address: usize, count: usize) -> Vec<T> {
    // SAFETY: only native kernels call this, with the address of a buffer of at least so many values.
    unsafe { std::slice::from_raw_parts(address as *const T, count) }.to_vec()
}

/// The bytes of mapped memory.
pub fn host_bytes(mapped: *mut c_void, count: usize) -> Vec<u8> {
    // SAFETY: tests call this with a map of at least so many bytes that they have not unmapped.
    unsafe { std::slice::from_raw_parts(mapped.cast::<u8>(), count) }.to_vec()
}

/// Writes bytes to mapped memory.
pub fn write_host_bytes(mapped: *mut c_void, bytes: &[u8]) {
    // SAFETY: as above, with a map for writing.
    unsafe { mapped.cast::<u8>().copy_from_nonoverlapping(bytes.as_ptr(), bytes.len()) }
}

/// The first word of the driver's objects, for forging one.
pub fn dispatch_word() -> usize {
    // SAFETY: cl_khr_icd: the first word of a platform can be read.
    unsafe { platform().cast::<usize>().read() }
}
