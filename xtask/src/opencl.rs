//! The few OpenCL calls the demonstration needs, over the loader opened at run
//! time. Every object is released when its owner is dropped.

use std::ffi::{CStr, CString, c_void};
use std::marker::PhantomData;
use std::ptr;

use anyhow::{Result, anyhow, bail};
use cl3::error_codes::ClError;
use cl3::types::{cl_command_queue, cl_context, cl_device_id, cl_kernel, cl_mem, cl_platform_id};
use cl3::{command_queue, context, device, kernel, memory, platform, program};

/// A device, with the platform it belongs to.
pub struct Device {
    platform: cl_platform_id,
    id: cl_device_id,
}

/// The first device of the first platform the loader finds.
pub fn first_device() -> Result<Device> {
    if !cl3::is_opencl_runtime_available() {
        bail!("cannot load libOpenCL.so.1 (Debian package ocl-icd-libopencl1)");
    }
    for platform in platform::get_platform_ids().map_err(failed("clGetPlatformIDs"))? {
        let ids = device::get_device_ids(platform, device::CL_DEVICE_TYPE_ALL).map_err(failed("clGetDeviceIDs"))?;
        if let Some(&id) = ids.first() {
            return Ok(Device { platform, id });
        }
    }
    bail!("the ICD loader finds no OpenCL device")
}

impl Device {
    /// CL_DEVICE_NAME.
    pub fn name(&self) -> Result<String> {
        self.text(device::CL_DEVICE_NAME)
    }

    /// CL_DEVICE_VERSION.
    pub fn version(&self) -> Result<String> {
        self.text(device::CL_DEVICE_VERSION)
    }

    /// CL_PLATFORM_NAME.
    pub fn platform_name(&self) -> Result<String> {
        let bytes = platform::get_platform_data(self.platform, platform::CL_PLATFORM_NAME)
            .map_err(failed("clGetPlatformInfo"))?;
        Ok(text_of(bytes))
    }

    fn text(&self, what: u32) -> Result<String> {
        let bytes = device::get_device_data(self.id, what).map_err(failed("clGetDeviceInfo"))?;
        Ok(text_of(bytes))
    }

    /// A context and an in-order queue on the device.
    pub fn session(&self) -> Result<Session> {
        let context = context::create_context(&[self.id], ptr::null(), None, ptr::null_mut())
            .map_err(failed("clCreateContext"))?;
        // SAFETY: context and device are alive, and belong together.
        let queue = unsafe { command_queue::create_command_queue(context, self.id, 0) };
        match queue {
            Ok(queue) => Ok(Session { device: self.id, context, queue }),
            Err(code) => {
                // SAFETY: ours, and not used again.
                let _ = unsafe { context::release_context(context) };
                Err(failed("clCreateCommandQueue")(code))
            }
        }
    }
}

/// A context and a queue.
pub struct Session {
    device: cl_device_id,
    context: cl_context,
    queue: cl_command_queue,
}

impl Session {
    /// Builds a program and takes one kernel from it; a failure brings the build log.
    pub fn kernel(&self, source: &str, options: &CStr, name: &CStr) -> Result<Kernel<'_>> {
        let built = program::create_program_with_source(self.context, &[source])
            .map_err(failed("clCreateProgramWithSource"))?;
        let made = program::build_program(built, &[self.device], options, None, ptr::null_mut())
            .map_err(|code| {
                let log = program::get_program_build_data(built, self.device, program::CL_PROGRAM_BUILD_LOG)
                    .map(text_of)
                    .unwrap_or_default();
                failed("clBuildProgram")(code).context(log)
            })
            .and_then(|()| kernel::create_kernel(built, name).map_err(failed("clCreateKernel")));
        // SAFETY: ours, and not used again; the kernel keeps what it needs.
        let released = unsafe { program::release_program(built) };
        let kernel = Kernel { handle: made?, session: PhantomData };
        released.map_err(failed("clReleaseProgram"))?;
        Ok(kernel)
    }

    /// A read-write buffer.
    pub fn buffer(&self, bytes: usize) -> Result<Buffer<'_>> {
        // SAFETY: no host pointer is given.
        let handle = unsafe { memory::create_buffer(self.context, memory::CL_MEM_READ_WRITE, bytes, ptr::null_mut()) }
            .map_err(failed("clCreateBuffer"))?;
        Ok(Buffer { handle, bytes, session: PhantomData })
    }

    /// Enqueues a kernel over a range; the driver chooses the work-groups.
    pub fn launch(&self, kernel: &Kernel<'_>, range: &[usize]) -> Result<()> {
        // SAFETY: the range has as many entries as said, and the other arrays are absent.
        let event = unsafe {
            command_queue::enqueue_nd_range_kernel(
                self.queue,
                kernel.handle,
                u32::try_from(range.len())?,
                ptr::null(),
                range.as_ptr(),
                ptr::null(),
                0,
                ptr::null(),
            )
        }
        .map_err(failed("clEnqueueNDRangeKernel"))?;
        // SAFETY: ours, and not used again.
        unsafe { cl3::event::release_event(event) }.map_err(failed("clReleaseEvent"))
    }

    /// Waits for everything enqueued.
    pub fn finish(&self) -> Result<()> {
        command_queue::finish(self.queue).map_err(failed("clFinish"))
    }

    /// Reads the start of a buffer.
    pub fn read(&self, buffer: &Buffer<'_>, into: &mut [u32]) -> Result<()> {
        let bytes = size_of_val(into);
        if bytes > buffer.bytes {
            bail!("reading {bytes} bytes of a buffer of {}", buffer.bytes);
        }
        // SAFETY: the target holds `bytes` bytes of a type any bits are valid for, and the
        // read is blocking.
        let event = unsafe {
            command_queue::enqueue_read_buffer(
                self.queue,
                buffer.handle,
                1,
                0,
                bytes,
                into.as_mut_ptr().cast::<c_void>(),
                0,
                ptr::null(),
            )
        }
        .map_err(failed("clEnqueueReadBuffer"))?;
        // SAFETY: ours, and not used again.
        unsafe { cl3::event::release_event(event) }.map_err(failed("clReleaseEvent"))
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        // SAFETY: ours, and not used again. Nothing can be done about a failure here.
        unsafe {
            let _ = command_queue::release_command_queue(self.queue);
            let _ = context::release_context(self.context);
        }
    }
}

/// A buffer of a session.
pub struct Buffer<'session> {
    handle: cl_mem,
    bytes: usize,
    session: PhantomData<&'session Session>,
}

impl Drop for Buffer<'_> {
    fn drop(&mut self) {
        // SAFETY: ours, and not used again.
        let _ = unsafe { memory::release_mem_object(self.handle) };
    }
}

/// A kernel of a session.
pub struct Kernel<'session> {
    handle: cl_kernel,
    session: PhantomData<&'session Session>,
}

impl Kernel<'_> {
    /// Sets an argument passed by value.
    pub fn set<T: Copy>(&self, index: u32, value: &T) -> Result<()> {
        // SAFETY: the size is that of the value pointed to.
        unsafe { kernel::set_kernel_arg(self.handle, index, size_of::<T>(), ptr::from_ref(value).cast::<c_void>()) }
            .map_err(failed("clSetKernelArg"))
    }

    /// Sets a buffer argument.
    pub fn set_buffer(&self, index: u32, buffer: &Buffer<'_>) -> Result<()> {
        self.set(index, &buffer.handle)
    }
}

impl Drop for Kernel<'_> {
    fn drop(&mut self) {
        // SAFETY: ours, and not used again.
        let _ = unsafe { kernel::release_kernel(self.handle) };
    }
}

fn failed(call: &'static str) -> impl Fn(i32) -> anyhow::Error {
    move |code| anyhow!("{call}: {} ({code})", ClError(code))
}

fn text_of(bytes: Vec<u8>) -> String {
    let bytes: Vec<u8> = bytes.into_iter().take_while(|&byte| byte != 0).collect();
    CString::new(bytes).map_or_else(|_| String::new(), |text| text.to_string_lossy().into_owned())
}
