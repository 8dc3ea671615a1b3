//! What the tables' calls are made on: an object of every kind and in every state that an error is about. They live until
//! the process ends.

use std::ffi::c_void;
use std::ptr;

use lockstep_conformance::entry_points::EntryPoints;
use lockstep_conformance::extension_functions::{
    CommandBuffers, CreateCommandQueue, DeviceAddress, IntermediateLanguage, MutableDispatch, Semaphores,
    SuggestedLocalWorkSize, UnifiedMemory,
};
use lockstep_conformance::loader::{device, driver, platform};
use lockstep_conformance::opencl_sys::*;
use lockstep_conformance::{Context, arguments, info, ok};

use super::table::at;

const SOURCE: &str = "
kernel void plain(global int *a) { a[get_global_id(0)] = 1; }
kernel void pair(global int *a) __attribute__((reqd_work_group_size(2, 1, 1))) { a[get_global_id(0)] = 1; }
kernel void all(global int *a, int b, local int *c, read_only image2d_t d, write_only image2d_t e, sampler_t f,
                read_only pipe int g) {
    if (b) a[0] = c[0];
}
";

/// RGBA of bytes.
pub const FORMAT: cl_image_format =
    cl_image_format { image_channel_order: CL_RGBA, image_channel_data_type: CL_UNSIGNED_INT8 };
/// A format that there is, and no image of it.
pub const UNSUPPORTED: cl_image_format =
    cl_image_format { image_channel_order: CL_sRGB, image_channel_data_type: CL_UNORM_INT8 };
/// An order and a type that do not go together.
pub const INVALID: cl_image_format = cl_image_format { image_channel_order: CL_RGB, image_channel_data_type: CL_FLOAT };

/// An image's type and sizes.
pub fn desc(image_type: cl_mem_object_type, sizes: [usize; 3]) -> cl_image_desc {
    cl_image_desc {
        image_type,
        image_width: sizes[0],
        image_height: sizes[1],
        image_depth: sizes[2],
        image_array_size: sizes[2],
        image_row_pitch: 0,
        image_slice_pitch: 0,
        num_mip_levels: 0,
        num_samples: 0,
        buffer: ptr::null_mut(),
    }
}

/// An image of 4 by 4.
pub const SQUARE: [usize; 3] = [4, 4, 1];

/// The beginning of 4 KiB that may be written.
pub fn memory() -> *mut c_void {
    static mut MEMORY: [u128; 256] = [0; 256];
    (&raw mut MEMORY).cast()
}

/// A SPIR-V module with one constant to specialise, of 32 bits and `SpecId` 5.
pub const MODULE: [u32; 24] = [
    0x0723_0203,
    0x0001_0000,
    0,
    10,
    0,
    // OpCapability Addresses and Kernel, OpMemoryModel Physical64 OpenCL.
    2 << 16 | 17,
    4,
    2 << 16 | 17,
    6,
    3 << 16 | 14,
    2,
    2,
    // %2 is decorated with SpecId 5, %1 is an integer of 32 bits, %2 one of them.
    4 << 16 | 71,
    2,
    1,
    5,
    4 << 16 | 21,
    1,
    32,
    0,
    4 << 16 | 50,
    1,
    2,
    7,
];

/// A program of [`MODULE`].
fn created_module(context: &Context) -> cl_program {
    let mut code = 1;
    let make = driver().clCreateProgramWithIL;
    let program = make(context.raw(), MODULE.as_ptr().cast(), size_of_val(&MODULE), &mut code);
    ok(code);
    program
}

/// Objects of another context.
pub struct Other {
    pub context: cl_context,
    pub queue: cl_command_queue,
    pub buffer: cl_mem,
    pub image: cl_mem,
    pub sampler: cl_sampler,
    pub program: cl_program,
    pub kernel: cl_kernel,
    pub event: cl_event,
    pub semaphore: cl_semaphore_khr,
}

pub struct World {
    pub d: &'static EntryPoints,
    pub usm: UnifiedMemory,
    pub recorder: CommandBuffers,
    pub mutable: MutableDispatch,
    pub queues: CreateCommandQueue,
    pub il: IntermediateLanguage,
    pub local_size: SuggestedLocalWorkSize,
    pub semaphores: Semaphores,
    pub address: DeviceAddress,
    pub platform: cl_platform_id,
    pub device: cl_device_id,
    /// Its compute units.
    pub units: isize,
    /// A device that is not in the context: a part of that which is, or none where it has one unit alone.
    pub stranger: cl_device_id,
    pub context: cl_context,
    /// In order, and it profiles.
    pub queue: cl_command_queue,
    /// Does not profile.
    pub timeless: cl_command_queue,
    /// Buffers of 64 bytes.
    pub buffer: cl_mem,
    pub target: cl_mem,
    /// One that the host may only read, only write, or neither.
    pub host_reads: cl_mem,
    pub host_writes: cl_mem,
    pub hidden: cl_mem,
    /// One that kernels only read, and one that they only write.
    pub read_only: cl_mem,
    pub write_only: cl_mem,
    /// Two parts of one buffer, of 512 bytes each, that share 256.
    pub parts: [cl_mem; 2],
    /// The address of a map of `buffer`.
    pub mapped: *mut c_void,
    /// Images of 4 by 4.
    pub image: cl_mem,
    pub picture: cl_mem,
    pub float_image: cl_mem,
    pub image_host_reads: cl_mem,
    pub image_host_writes: cl_mem,
    pub image_read_only: cl_mem,
    pub image_write_only: cl_mem,
    /// Of 4 by 4 by 4.
    pub volume: cl_mem,
    /// Of `target`'s bytes.
    pub line: cl_mem,
    pub pipe: cl_mem,
    pub sampler: cl_sampler,
    /// A program that is built, one that never is, one that does not build, one that is compiled, one that is too and
    /// does not link, one that is linked.
    pub program: cl_program,
    pub source: cl_program,
    /// Made of [`MODULE`].
    pub module: cl_program,
    pub broken: cl_program,
    pub compiled: cl_program,
    pub unresolved: cl_program,
    pub linked: cl_program,
    /// Sources that builds succeed with.
    pub fresh: [cl_program; 2],
    pub kernel: cl_kernel,
    /// A kernel without its argument, one that wants groups of two, one with arguments of every kind.
    pub unset: cl_kernel,
    pub pair: cl_kernel,
    pub all: cl_kernel,
    /// A user event that has ended, one that has failed, ones that have no status, and that of a command.
    pub event: cl_event,
    pub failed: cl_event,
    pub pending: [cl_event; 2],
    pub command: cl_event,
    pub untimed: cl_event,
    /// 256 bytes of shared virtual memory, and of the same for one device.
    pub shared: *mut c_void,
    pub usm_memory: *mut c_void,
    pub semaphore: cl_semaphore_khr,
    /// A command buffer that records, one that does not any more, one that has an incomplete command, and one whose
    /// launches may be changed, with such a launch.
    pub recording: cl_command_buffer_khr,
    pub finalized: cl_command_buffer_khr,
    pub incomplete: cl_command_buffer_khr,
    pub changeable: cl_command_buffer_khr,
    pub dispatch: cl_mutable_command_khr,
    /// A launch of `changeable` of which nothing may be changed.
    pub fixed: cl_mutable_command_khr,
    pub other: Other,
}

fn buffer(context: &Context, flags: cl_mem_flags, size: usize) -> cl_mem {
    context.try_buffer(flags, size, ptr::null_mut()).expect("a buffer").into_raw()
}

fn image(context: &Context, flags: cl_mem_flags, format: &cl_image_format, desc: &cl_image_desc) -> cl_mem {
    let mut code = 1;
    let image = (driver().clCreateImage)(context.raw(), flags, format, desc, ptr::null_mut(), &mut code);
    assert_eq!(code, CL_SUCCESS);
    image
}

fn square(context: &Context, flags: cl_mem_flags) -> cl_mem {
    image(context, flags, &FORMAT, &desc(CL_MEM_OBJECT_IMAGE2D, SQUARE))
}

fn sampler(context: &Context) -> cl_sampler {
    (driver().clCreateSampler)(context.raw(), CL_FALSE, CL_ADDRESS_NONE, CL_FILTER_NEAREST, ptr::null_mut())
}

fn event(context: &Context, status: cl_int) -> cl_event {
    let event = context.user_event();
    assert_eq!(event.set_status(status), CL_SUCCESS);
    event.into_raw()
}

fn units() -> isize {
    let units = info::value::<cl_uint>(|size, value, returned| {
        (driver().clGetDeviceInfo)(device(), CL_DEVICE_MAX_COMPUTE_UNITS, size, value, returned)
    });
    units as isize
}

/// A part of the device, where it has parts.
fn stranger() -> cl_device_id {
    let (mut part, mut count) = ([ptr::null_mut(); 256], 0);
    let list = [CL_DEVICE_PARTITION_EQUALLY, 1, 0];
    (driver().clCreateSubDevices)(device(), list.as_ptr(), 256, part.as_mut_ptr(), &mut count);
    part[0]
}

/// A program that is compiled and not linked.
fn compile(context: &Context, source: &str) -> cl_program {
    let program = context.source(source).into_raw();
    let (none, names) = (ptr::null(), ptr::null_mut());
    let compile = driver().clCompileProgram;
    let options = c"-cl-std=CL3.0".as_ptr();
    assert_eq!(compile(program, 0, ptr::null(), options, 0, none, names, None, ptr::null_mut()), CL_SUCCESS);
    program
}

fn link(context: &Context, input: cl_program) -> cl_program {
    let mut code = 1;
    let link = driver().clLinkProgram;
    let (context, data) = (context.raw(), ptr::null_mut());
    let program = link(context, 0, ptr::null(), ptr::null(), 1, &input, None, data, &mut code);
    assert_eq!(code, CL_SUCCESS);
    program
}

impl World {
    pub fn new() -> Self {
        let (d, context, there) = (driver(), Context::new(), Context::new());
        let queue = context.queue(CL_QUEUE_PROFILING_ENABLE);
        let timeless = context.queue(0);
        let program = context.build(SOURCE, "-cl-std=CL3.0");
        let foreign = there.build(SOURCE, "-cl-std=CL3.0");
        let (first, second) = (context.zeros::<u8>(64), there.zeros::<u8>(64));
        let (kernel, unset, pair) = (program.kernel("plain"), program.kernel("plain"), program.kernel("pair"));
        kernel.set_all(arguments![&first]);
        pair.set_all(arguments![&first]);
        let outside = foreign.kernel("plain");
        outside.set_all(arguments![&second]);
        let whole = buffer(&context, 0, 4096);
        let parts = [0, 256].map(|origin| {
            let region = cl_buffer_region { origin, size: 512 };
            (d.clCreateSubBuffer)(whole, 0, CL_BUFFER_CREATE_TYPE_REGION, at(&region), ptr::null_mut())
        });
        let target = buffer(&context, 0, 64);
        let line = cl_image_desc { buffer: target, ..desc(CL_MEM_OBJECT_IMAGE1D_BUFFER, [16, 1, 1]) };
        let map = d.clEnqueueMapBuffer;
        let (none, no_event) = (ptr::null(), ptr::null_mut());
        let mapped = map(queue.raw(), first.raw(), CL_TRUE, CL_MAP_READ, 0, 64, 0, none, no_event, ptr::null_mut());
        let marked = |queue: cl_command_queue| {
            let mut event = ptr::null_mut();
            assert_eq!((d.clEnqueueMarkerWithWaitList)(queue, 0, ptr::null(), &mut event), CL_SUCCESS);
            assert_eq!((d.clWaitForEvents)(1, &event), CL_SUCCESS);
            event
        };
        let semaphores = Semaphores::new();
        let kind = [u64::from(CL_SEMAPHORE_TYPE_KHR), u64::from(CL_SEMAPHORE_TYPE_BINARY_KHR), 0];
        let semaphore = |context: &Context| {
            (semaphores.clCreateSemaphoreWithPropertiesKHR)(context.raw(), kind.as_ptr(), ptr::null_mut())
        };
        let (own_semaphore, other_semaphore) = (semaphore(&context), semaphore(&there));
        let compiled = compile(&context, SOURCE);
        let usm = UnifiedMemory::new();
        let usm_memory = (usm.clHostMemAllocINTEL)(context.raw(), ptr::null(), 256, 0, ptr::null_mut());
        let mut world = World {
            d,
            usm,
            recorder: CommandBuffers::new(),
            mutable: MutableDispatch::new(),
            queues: CreateCommandQueue::new(),
            il: IntermediateLanguage::new(),
            local_size: SuggestedLocalWorkSize::new(),
            semaphores,
            address: DeviceAddress::new(),
            platform: platform(),
            device: device(),
            units: units(),
            stranger: stranger(),
            buffer: first.into_raw(),
            target,
            host_reads: buffer(&context, CL_MEM_HOST_READ_ONLY, 64),
            host_writes: buffer(&context, CL_MEM_HOST_WRITE_ONLY, 64),
            hidden: buffer(&context, CL_MEM_HOST_NO_ACCESS, 64),
            read_only: buffer(&context, CL_MEM_READ_ONLY, 64),
            write_only: buffer(&context, CL_MEM_WRITE_ONLY, 64),
            parts,
            mapped,
            image: square(&context, 0),
            picture: square(&context, 0),
            float_image: image(
                &context,
                0,
                &cl_image_format { image_channel_order: CL_RGBA, image_channel_data_type: CL_FLOAT },
                &desc(CL_MEM_OBJECT_IMAGE2D, SQUARE),
            ),
            image_host_reads: square(&context, CL_MEM_HOST_READ_ONLY),
            image_host_writes: square(&context, CL_MEM_HOST_WRITE_ONLY),
            image_read_only: square(&context, CL_MEM_READ_ONLY),
            image_write_only: square(&context, CL_MEM_WRITE_ONLY),
            volume: image(&context, 0, &FORMAT, &desc(CL_MEM_OBJECT_IMAGE3D, [4, 4, 4])),
            line: image(&context, 0, &FORMAT, &line),
            pipe: (d.clCreatePipe)(context.raw(), 0, 4, 4, ptr::null(), ptr::null_mut()),
            sampler: sampler(&context),
            all: program.kernel("all").into_raw(),
            program: program.into_raw(),
            source: context.source(SOURCE).into_raw(),
            module: created_module(&context),
            broken: context.source("kernel void f(").into_raw(),
            compiled,
            unresolved: compile(&context, "void g(void); kernel void f(void) { g(); }"),
            linked: link(&context, compiled),
            fresh: [0; 2].map(|_| context.source("kernel void f(void) {}").into_raw()),
            kernel: kernel.into_raw(),
            unset: unset.into_raw(),
            pair: pair.into_raw(),
            event: event(&context, CL_COMPLETE),
            failed: event(&context, -5),
            pending: [0; 2].map(|_| context.user_event().into_raw()),
            command: marked(queue.raw()),
            untimed: marked(timeless.raw()),
            shared: (d.clSVMAlloc)(context.raw(), CL_MEM_READ_WRITE, 256, 0),
            usm_memory,
            semaphore: own_semaphore,
            recording: ptr::null_mut(),
            finalized: ptr::null_mut(),
            incomplete: ptr::null_mut(),
            changeable: ptr::null_mut(),
            dispatch: ptr::null_mut(),
            fixed: ptr::null_mut(),
            queue: queue.into_raw(),
            timeless: timeless.into_raw(),
            other: Other {
                queue: there.queue(CL_QUEUE_PROFILING_ENABLE).into_raw(),
                buffer: second.into_raw(),
                image: square(&there, 0),
                sampler: sampler(&there),
                program: foreign.into_raw(),
                kernel: outside.into_raw(),
                event: event(&there, CL_COMPLETE),
                semaphore: other_semaphore,
                context: there.into_raw(),
            },
            context: context.into_raw(),
        };
        world.record();
        world
    }

    /// A launch is recorded with a property list.
    fn launch(&self, buffer: cl_command_buffer_khr, kernel: cl_kernel, list: &[u64]) -> cl_mutable_command_khr {
        let (launch, mut command) = (self.recorder.clCommandNDRangeKernelKHR, ptr::null_mut());
        let (none, points, point) = (ptr::null(), ptr::null(), ptr::null_mut());
        let queue = ptr::null_mut();
        let (list, global, local) = (list.as_ptr(), &4, &2);
        let code = launch(buffer, queue, list, kernel, 1, none, global, local, 0, points, point, &mut command);
        assert_eq!(code, CL_SUCCESS);
        command
    }

    fn record(&mut self) {
        let make = |list: &[u64]| {
            let mut code = 1;
            let buffer = (self.recorder.clCreateCommandBufferKHR)(1, &self.queue, list.as_ptr(), &mut code);
            assert_eq!(code, CL_SUCCESS);
            buffer
        };
        let mutable = [CL_COMMAND_BUFFER_FLAGS_KHR, CL_COMMAND_BUFFER_MUTABLE_KHR, 0];
        let (recording, finalized) = (make(&[0]), make(&[0]));
        let (incomplete, changeable) = (make(&mutable), make(&mutable));
        let arguments = [CL_MUTABLE_DISPATCH_UPDATABLE_FIELDS_KHR, CL_MUTABLE_DISPATCH_ARGUMENTS_KHR, 0];
        self.launch(incomplete, self.unset, &arguments);
        self.dispatch = self.launch(changeable, self.kernel, &[0]);
        self.fixed = self.launch(changeable, self.kernel, &[CL_MUTABLE_DISPATCH_UPDATABLE_FIELDS_KHR, 0, 0]);
        for buffer in [finalized, incomplete, changeable] {
            assert_eq!((self.recorder.clFinalizeCommandBufferKHR)(buffer), CL_SUCCESS);
        }
        (self.recording, self.finalized, self.incomplete, self.changeable) =
            (recording, finalized, incomplete, changeable);
    }
}
