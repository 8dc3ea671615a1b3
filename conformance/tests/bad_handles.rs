//! Null, stale, wrong-type and foreign handles for every entry point that takes a handle: the specification's error for
//! each, and never a crash.
//!
//! The calls go straight to the driver: the ICD loader itself follows the first word of what it is given.

use std::ffi::c_void;
use std::ptr;

use lockstep_conformance::entry_points::{ENTRY_POINTS, EntryPoints};
use lockstep_conformance::loader::{device, driver, is_lockstep, platform};
use lockstep_conformance::objects::dispatch_word;
use lockstep_conformance::opencl_sys::*;
use lockstep_conformance::{Buffer, Context, Event, Kernel, Program, Queue, arguments, code_name};

type Handle = *mut c_void;

#[derive(Clone, Copy, Debug, PartialEq)]
enum Kind {
    Platform,
    Device,
    Context,
    Queue,
    Mem,
    Program,
    Kernel,
    Event,
    Sampler,
}

/// Live objects of every kind, and handles of such objects that are gone.
struct World {
    context: Context,
    queue: Queue,
    buffer: Buffer,
    other: Buffer,
    program: Program,
    kernel: Kernel,
    event: Event,
    gone: [(Kind, Handle); 6],
}

const SOURCE: &str = "kernel void f(global int *a) { a[0] = 1; }";

impl World {
    fn new() -> Self {
        let context = Context::new();
        let queue = context.queue(CL_QUEUE_PROFILING_ENABLE);
        let (buffer, other) = (context.zeros::<u8>(64), context.zeros::<u8>(64));
        let program = context.build(SOURCE, "");
        let kernel = program.kernel("f");
        kernel.set_all(arguments![&buffer]);
        let event = context.user_event();
        let done = event.set_status(CL_COMPLETE);
        assert_eq!(done, CL_SUCCESS);
        let gone_program = context.build(SOURCE, "");
        let gone = [
            (Kind::Context, Context::new().raw().cast()),
            (Kind::Queue, context.queue(0).raw().cast()),
            (Kind::Mem, context.zeros::<u8>(8).raw().cast()),
            (Kind::Kernel, program.kernel("f").raw().cast()),
            (Kind::Event, context.user_event().raw().cast()),
            (Kind::Program, gone_program.raw().cast()),
        ];
        drop(gone_program);
        World { context, queue, buffer, other, program, kernel, event, gone }
    }

    fn live(&self) -> [(Kind, Handle); 8] {
        [
            (Kind::Platform, platform().cast()),
            (Kind::Device, device().cast()),
            (Kind::Context, self.context.raw().cast()),
            (Kind::Queue, self.queue.raw().cast()),
            (Kind::Mem, self.buffer.raw().cast()),
            (Kind::Program, self.program.raw().cast()),
            (Kind::Kernel, self.kernel.raw().cast()),
            (Kind::Event, self.event.raw().cast()),
        ]
    }

    /// Everything that is not a valid handle of the kind, with a description.
    fn bad(&self, kind: Kind) -> Vec<(String, Handle)> {
        // Readable memory: zeros, and an object of our own making that even has the right first word.
        static GARBAGE: [u64; 32] = [0; 32];
        let forged: &'static [usize; 32] = Box::leak(Box::new([dispatch_word(); 32]));
        let mut bad = vec![
            ("null".to_owned(), ptr::null_mut()),
            ("garbage".to_owned(), GARBAGE.as_ptr().cast_mut().cast()),
            ("a forged object".to_owned(), forged.as_ptr().cast_mut().cast()),
            ("an address of nothing".to_owned(), ptr::without_provenance_mut(0x10)),
            ("an odd address".to_owned(), ptr::without_provenance_mut(usize::MAX)),
        ];
        for (other, handle) in self.live() {
            if other == kind {
                bad.push((format!("the inside of a live {kind:?}"), handle.wrapping_byte_add(8)));
                bad.push((format!("the outside of a live {kind:?}"), handle.wrapping_byte_sub(1)));
            } else {
                bad.push((format!("a {other:?}"), handle));
            }
        }
        for (other, handle) in self.gone {
            bad.push((format!("a released {other:?}"), handle));
        }
        bad
    }
}

type Call = fn(&EntryPoints, &World, Handle) -> cl_int;

/// A function's name, the kind of handle it takes at the place in question, the error for a bad one, and the call.
type Row = (&'static str, Kind, cl_int, Call);

/// The code of a function that returns an object, which must be none.
fn created<T>(call: impl FnOnce(*mut cl_int) -> *mut T) -> cl_int {
    let mut code = 1;
    let object = call(&mut code);
    assert!(object.is_null() || code == CL_SUCCESS, "an object was returned with an error");
    code
}

const NONE: *const cl_event = ptr::null();
const NO_EVENT: *mut cl_event = ptr::null_mut();
const ZERO: [usize; 3] = [0; 3];
const REGION: [usize; 3] = [4, 4, 1];
static mut MEMORY: [u64; 8] = [0; 8];

fn memory() -> *mut c_void {
    (&raw mut MEMORY).cast()
}

extern "C" fn nothing(_: *mut c_void) {}
extern "C" fn event_notify(_: cl_event, _: cl_int, _: *mut c_void) {}
extern "C" fn mem_notify(_: cl_mem, _: *mut c_void) {}
extern "C" fn context_notify(_: cl_context, _: *mut c_void) {}
extern "C" fn program_notify(_: cl_program, _: *mut c_void) {}

const FORMAT: cl_image_format =
    cl_image_format { image_channel_order: CL_RGBA, image_channel_data_type: CL_UNSIGNED_INT8 };

/// A query of nothing but the size.
macro_rules! info {
    ($kind:ident, $code:ident, $function:ident, $name:expr) => {
        (stringify!($function), Kind::$kind, $code, |d, _, h| {
            let mut size = 0;
            (d.$function)(h.cast(), $name, 0, ptr::null_mut(), &mut size)
        })
    };
}

/// A function of the handle alone.
macro_rules! alone {
    ($kind:ident, $code:ident, $function:ident) => {
        (stringify!($function), Kind::$kind, $code, |d, _, h| (d.$function)(h.cast()))
    };
}

const fn row(name: &'static str, kind: Kind, code: cl_int, call: Call) -> Row {
    (name, kind, code, call)
}

const INVALID_LIST: cl_int = CL_INVALID_EVENT_WAIT_LIST;

const OBJECTS: &[Row] = &[
    info!(Device, CL_INVALID_DEVICE, clGetDeviceInfo, CL_DEVICE_NAME),
    info!(Context, CL_INVALID_CONTEXT, clGetContextInfo, CL_CONTEXT_NUM_DEVICES),
    info!(Queue, CL_INVALID_COMMAND_QUEUE, clGetCommandQueueInfo, CL_QUEUE_CONTEXT),
    info!(Mem, CL_INVALID_MEM_OBJECT, clGetMemObjectInfo, CL_MEM_SIZE),
    info!(Mem, CL_INVALID_MEM_OBJECT, clGetImageInfo, CL_IMAGE_WIDTH),
    info!(Mem, CL_INVALID_MEM_OBJECT, clGetPipeInfo, CL_PIPE_PACKET_SIZE),
    info!(Program, CL_INVALID_PROGRAM, clGetProgramInfo, CL_PROGRAM_NUM_DEVICES),
    info!(Kernel, CL_INVALID_KERNEL, clGetKernelInfo, CL_KERNEL_NUM_ARGS),
    info!(Event, CL_INVALID_EVENT, clGetEventInfo, CL_EVENT_COMMAND_TYPE),
    info!(Event, CL_INVALID_EVENT, clGetEventProfilingInfo, CL_PROFILING_COMMAND_START),
    info!(Sampler, CL_INVALID_SAMPLER, clGetSamplerInfo, CL_SAMPLER_REFERENCE_COUNT),
    alone!(Device, CL_INVALID_DEVICE, clRetainDevice),
    alone!(Device, CL_INVALID_DEVICE, clReleaseDevice),
    alone!(Context, CL_INVALID_CONTEXT, clRetainContext),
    alone!(Context, CL_INVALID_CONTEXT, clReleaseContext),
    alone!(Queue, CL_INVALID_COMMAND_QUEUE, clRetainCommandQueue),
    alone!(Queue, CL_INVALID_COMMAND_QUEUE, clReleaseCommandQueue),
    alone!(Queue, CL_INVALID_COMMAND_QUEUE, clFlush),
    alone!(Queue, CL_INVALID_COMMAND_QUEUE, clFinish),
    alone!(Queue, CL_INVALID_COMMAND_QUEUE, clEnqueueBarrier),
    alone!(Mem, CL_INVALID_MEM_OBJECT, clRetainMemObject),
    alone!(Mem, CL_INVALID_MEM_OBJECT, clReleaseMemObject),
    alone!(Program, CL_INVALID_PROGRAM, clRetainProgram),
    alone!(Program, CL_INVALID_PROGRAM, clReleaseProgram),
    alone!(Kernel, CL_INVALID_KERNEL, clRetainKernel),
    alone!(Kernel, CL_INVALID_KERNEL, clReleaseKernel),
    alone!(Event, CL_INVALID_EVENT, clRetainEvent),
    alone!(Event, CL_INVALID_EVENT, clReleaseEvent),
    alone!(Sampler, CL_INVALID_SAMPLER, clRetainSampler),
    alone!(Sampler, CL_INVALID_SAMPLER, clReleaseSampler),
    alone!(Platform, CL_INVALID_PLATFORM, clUnloadPlatformCompiler),
    row("clSetUserEventStatus", Kind::Event, CL_INVALID_EVENT, |d, _, h| {
        (d.clSetUserEventStatus)(h.cast(), CL_COMPLETE)
    }),
    row("clSetEventCallback", Kind::Event, CL_INVALID_EVENT, |d, _, h| {
        (d.clSetEventCallback)(h.cast(), CL_COMPLETE, Some(event_notify), ptr::null_mut())
    }),
    row("clSetMemObjectDestructorCallback", Kind::Mem, CL_INVALID_MEM_OBJECT, |d, _, h| {
        (d.clSetMemObjectDestructorCallback)(h.cast(), Some(mem_notify), ptr::null_mut())
    }),
    row("clSetContextDestructorCallback", Kind::Context, CL_INVALID_CONTEXT, |d, _, h| {
        (d.clSetContextDestructorCallback)(h.cast(), Some(context_notify), ptr::null_mut())
    }),
    row("clSetProgramReleaseCallback", Kind::Program, CL_INVALID_PROGRAM, |d, _, h| {
        (d.clSetProgramReleaseCallback)(h.cast(), Some(program_notify), ptr::null_mut())
    }),
    row("clSetProgramSpecializationConstant", Kind::Program, CL_INVALID_PROGRAM, |d, _, h| {
        (d.clSetProgramSpecializationConstant)(h.cast(), 0, 4, memory())
    }),
    row("clSetCommandQueueProperty", Kind::Queue, CL_INVALID_COMMAND_QUEUE, |d, _, h| {
        (d.clSetCommandQueueProperty)(h.cast(), CL_QUEUE_PROFILING_ENABLE, CL_TRUE, ptr::null_mut())
    }),
    row("clWaitForEvents", Kind::Event, CL_INVALID_EVENT, |d, _, h| (d.clWaitForEvents)(1, &h.cast())),
    row("clWaitForEvents, second", Kind::Event, CL_INVALID_EVENT, |d, w, h| {
        (d.clWaitForEvents)(2, [w.event.raw(), h.cast()].as_ptr())
    }),
    row("clCreateSubDevices", Kind::Device, CL_INVALID_DEVICE, |d, _, h| {
        let properties = [CL_DEVICE_PARTITION_EQUALLY, 1, 0];
        (d.clCreateSubDevices)(h.cast(), properties.as_ptr(), 0, ptr::null_mut(), &mut 0)
    }),
    row("clGetDeviceAndHostTimer", Kind::Device, CL_INVALID_DEVICE, |d, _, h| {
        (d.clGetDeviceAndHostTimer)(h.cast(), &mut 0, &mut 0)
    }),
    row("clGetHostTimer", Kind::Device, CL_INVALID_DEVICE, |d, _, h| (d.clGetHostTimer)(h.cast(), &mut 0)),
    row("clSetDefaultDeviceCommandQueue", Kind::Context, CL_INVALID_CONTEXT, |d, w, h| {
        (d.clSetDefaultDeviceCommandQueue)(h.cast(), device(), w.queue.raw())
    }),
    row("clGetSupportedImageFormats", Kind::Context, CL_INVALID_CONTEXT, |d, _, h| {
        (d.clGetSupportedImageFormats)(h.cast(), CL_MEM_READ_ONLY, CL_MEM_OBJECT_IMAGE2D, 0, ptr::null_mut(), &mut 0)
    }),
    row("clGetProgramBuildInfo", Kind::Program, CL_INVALID_PROGRAM, |d, _, h| {
        (d.clGetProgramBuildInfo)(h.cast(), device(), CL_PROGRAM_BUILD_STATUS, 0, ptr::null_mut(), &mut 0)
    }),
    row("clGetProgramBuildInfo, device", Kind::Device, CL_INVALID_DEVICE, |d, w, h| {
        (d.clGetProgramBuildInfo)(w.program.raw(), h.cast(), CL_PROGRAM_BUILD_STATUS, 0, ptr::null_mut(), &mut 0)
    }),
    row("clBuildProgram", Kind::Program, CL_INVALID_PROGRAM, |d, _, h| {
        (d.clBuildProgram)(h.cast(), 0, ptr::null(), ptr::null(), None, ptr::null_mut())
    }),
    row("clBuildProgram, device", Kind::Device, CL_INVALID_DEVICE, |d, w, h| {
        let fresh = w.context.source(SOURCE);
        (d.clBuildProgram)(fresh.raw(), 1, &h.cast(), ptr::null(), None, ptr::null_mut())
    }),
    row("clCompileProgram", Kind::Program, CL_INVALID_PROGRAM, |d, _, h| {
        let (list, names) = (ptr::null(), ptr::null());
        (d.clCompileProgram)(h.cast(), 0, ptr::null(), ptr::null(), 0, list, names, None, ptr::null_mut())
    }),
    row("clCompileProgram, header", Kind::Program, CL_INVALID_PROGRAM, |d, w, h| {
        let (fresh, name) = (w.context.source(SOURCE), c"a.h".as_ptr());
        (d.clCompileProgram)(fresh.raw(), 0, ptr::null(), ptr::null(), 1, &h.cast(), &name, None, ptr::null_mut())
    }),
    row("clLinkProgram", Kind::Context, CL_INVALID_CONTEXT, |d, w, h| {
        let program = w.program.raw();
        created(|code| {
            (d.clLinkProgram)(h.cast(), 0, ptr::null(), ptr::null(), 1, &program, None, ptr::null_mut(), code)
        })
    }),
    row("clLinkProgram, input", Kind::Program, CL_INVALID_PROGRAM, |d, w, h| {
        let context = w.context.raw();
        created(|code| {
            (d.clLinkProgram)(context, 0, ptr::null(), ptr::null(), 1, &h.cast(), None, ptr::null_mut(), code)
        })
    }),
    row("clGetKernelArgInfo", Kind::Kernel, CL_INVALID_KERNEL, |d, _, h| {
        (d.clGetKernelArgInfo)(h.cast(), 0, CL_KERNEL_ARG_NAME, 0, ptr::null_mut(), &mut 0)
    }),
    row("clGetKernelWorkGroupInfo", Kind::Kernel, CL_INVALID_KERNEL, |d, _, h| {
        (d.clGetKernelWorkGroupInfo)(h.cast(), device(), CL_KERNEL_WORK_GROUP_SIZE, 0, ptr::null_mut(), &mut 0)
    }),
    row("clGetKernelSubGroupInfo", Kind::Kernel, CL_INVALID_KERNEL, |d, _, h| {
        let name = CL_KERNEL_MAX_NUM_SUB_GROUPS;
        (d.clGetKernelSubGroupInfo)(h.cast(), device(), name, 0, ptr::null(), 0, ptr::null_mut(), &mut 0)
    }),
    row("clSetKernelArg", Kind::Kernel, CL_INVALID_KERNEL, |d, w, h| {
        let buffer = w.buffer.raw();
        (d.clSetKernelArg)(h.cast(), 0, 8, (&raw const buffer).cast())
    }),
    row("clSetKernelArgSVMPointer", Kind::Kernel, CL_INVALID_KERNEL, |d, _, h| {
        (d.clSetKernelArgSVMPointer)(h.cast(), 0, ptr::null())
    }),
    row("clSetKernelExecInfo", Kind::Kernel, CL_INVALID_KERNEL, |d, _, h| {
        (d.clSetKernelExecInfo)(h.cast(), CL_KERNEL_EXEC_INFO_SVM_PTRS, 8, memory())
    }),
];

const CREATION: &[Row] = &[
    row("clCreateContext", Kind::Device, CL_INVALID_DEVICE, |d, _, h| {
        created(|code| (d.clCreateContext)(ptr::null(), 1, &h.cast(), None, ptr::null_mut(), code))
    }),
    row("clCreateContext, platform", Kind::Platform, CL_INVALID_PLATFORM, |d, _, h| {
        let properties = [CL_CONTEXT_PLATFORM, h as cl_context_properties, 0];
        created(|code| (d.clCreateContext)(properties.as_ptr(), 1, &device(), None, ptr::null_mut(), code))
    }),
    row("clCreateContextFromType", Kind::Platform, CL_INVALID_PLATFORM, |d, _, h| {
        let properties = [CL_CONTEXT_PLATFORM, h as cl_context_properties, 0];
        created(|code| {
            (d.clCreateContextFromType)(properties.as_ptr(), CL_DEVICE_TYPE_ALL, None, ptr::null_mut(), code)
        })
    }),
    row("clCreateCommandQueue", Kind::Context, CL_INVALID_CONTEXT, |d, _, h| {
        created(|code| (d.clCreateCommandQueue)(h.cast(), device(), 0, code))
    }),
    row("clCreateCommandQueue, device", Kind::Device, CL_INVALID_DEVICE, |d, w, h| {
        created(|code| (d.clCreateCommandQueue)(w.context.raw(), h.cast(), 0, code))
    }),
    row("clCreateCommandQueueWithProperties", Kind::Context, CL_INVALID_CONTEXT, |d, _, h| {
        created(|code| (d.clCreateCommandQueueWithProperties)(h.cast(), device(), ptr::null(), code))
    }),
    row("clCreateCommandQueueWithProperties, device", Kind::Device, CL_INVALID_DEVICE, |d, w, h| {
        created(|code| (d.clCreateCommandQueueWithProperties)(w.context.raw(), h.cast(), ptr::null(), code))
    }),
    row("clCreateBuffer", Kind::Context, CL_INVALID_CONTEXT, |d, _, h| {
        created(|code| (d.clCreateBuffer)(h.cast(), 0, 8, ptr::null_mut(), code))
    }),
    row("clCreateBufferWithProperties", Kind::Context, CL_INVALID_CONTEXT, |d, _, h| {
        created(|code| (d.clCreateBufferWithProperties)(h.cast(), ptr::null(), 0, 8, ptr::null_mut(), code))
    }),
    row("clCreateSubBuffer", Kind::Mem, CL_INVALID_MEM_OBJECT, |d, _, h| {
        let region = cl_buffer_region { origin: 0, size: 4 };
        let kind = CL_BUFFER_CREATE_TYPE_REGION;
        created(|code| (d.clCreateSubBuffer)(h.cast(), 0, kind, (&raw const region).cast(), code))
    }),
    row("clCreateImage2D", Kind::Context, CL_INVALID_CONTEXT, |d, _, h| {
        created(|code| (d.clCreateImage2D)(h.cast(), 0, &FORMAT, 4, 4, 0, ptr::null_mut(), code))
    }),
    row("clCreateImage3D", Kind::Context, CL_INVALID_CONTEXT, |d, _, h| {
        created(|code| (d.clCreateImage3D)(h.cast(), 0, &FORMAT, 4, 4, 4, 0, 0, ptr::null_mut(), code))
    }),
    row("clCreateImage", Kind::Context, CL_INVALID_CONTEXT, |d, _, h| {
        created(|code| (d.clCreateImage)(h.cast(), 0, &FORMAT, memory().cast(), ptr::null_mut(), code))
    }),
    row("clCreateImageWithProperties", Kind::Context, CL_INVALID_CONTEXT, |d, _, h| {
        let create = d.clCreateImageWithProperties;
        created(|code| create(h.cast(), ptr::null(), 0, &FORMAT, memory().cast(), ptr::null_mut(), code))
    }),
    row("clCreatePipe", Kind::Context, CL_INVALID_CONTEXT, |d, _, h| {
        created(|code| (d.clCreatePipe)(h.cast(), 0, 4, 4, ptr::null(), code))
    }),
    row("clCreateSampler", Kind::Context, CL_INVALID_CONTEXT, |d, _, h| {
        created(|code| (d.clCreateSampler)(h.cast(), CL_FALSE, CL_ADDRESS_NONE, CL_FILTER_NEAREST, code))
    }),
    row("clCreateSamplerWithProperties", Kind::Context, CL_INVALID_CONTEXT, |d, _, h| {
        created(|code| (d.clCreateSamplerWithProperties)(h.cast(), ptr::null(), code))
    }),
    row("clCreateProgramWithSource", Kind::Context, CL_INVALID_CONTEXT, |d, _, h| {
        let text = c"kernel void f(void) {}".as_ptr();
        created(|code| (d.clCreateProgramWithSource)(h.cast(), 1, &text, ptr::null(), code))
    }),
    row("clCreateProgramWithIL", Kind::Context, CL_INVALID_CONTEXT, |d, _, h| {
        created(|code| (d.clCreateProgramWithIL)(h.cast(), memory(), 64, code))
    }),
    row("clCreateProgramWithBinary", Kind::Context, CL_INVALID_CONTEXT, |d, _, h| {
        let bytes = b"x".as_ptr();
        created(|code| (d.clCreateProgramWithBinary)(h.cast(), 1, &device(), &1, &bytes, ptr::null_mut(), code))
    }),
    row("clCreateProgramWithBinary, device", Kind::Device, CL_INVALID_DEVICE, |d, w, h| {
        let (context, bytes) = (w.context.raw(), b"x".as_ptr());
        created(|code| (d.clCreateProgramWithBinary)(context, 1, &h.cast(), &1, &bytes, ptr::null_mut(), code))
    }),
    row("clCreateProgramWithBuiltInKernels", Kind::Context, CL_INVALID_CONTEXT, |d, _, h| {
        created(|code| (d.clCreateProgramWithBuiltInKernels)(h.cast(), 1, &device(), c"f".as_ptr(), code))
    }),
    row("clCreateProgramWithBuiltInKernels, device", Kind::Device, CL_INVALID_DEVICE, |d, w, h| {
        let create = d.clCreateProgramWithBuiltInKernels;
        created(|code| create(w.context.raw(), 1, &h.cast(), c"f".as_ptr(), code))
    }),
    row("clCreateKernel", Kind::Program, CL_INVALID_PROGRAM, |d, _, h| {
        created(|code| (d.clCreateKernel)(h.cast(), c"f".as_ptr(), code))
    }),
    row("clCreateKernelsInProgram", Kind::Program, CL_INVALID_PROGRAM, |d, _, h| {
        (d.clCreateKernelsInProgram)(h.cast(), 0, ptr::null_mut(), &mut 0)
    }),
    row("clCloneKernel", Kind::Kernel, CL_INVALID_KERNEL, |d, _, h| created(|code| (d.clCloneKernel)(h.cast(), code))),
    row("clCreateUserEvent", Kind::Context, CL_INVALID_CONTEXT, |d, _, h| {
        created(|code| (d.clCreateUserEvent)(h.cast(), code))
    }),
    row("clSVMAlloc", Kind::Context, 0, |d, _, h| {
        assert!((d.clSVMAlloc)(h.cast(), CL_MEM_READ_WRITE, 64, 0).is_null());
        0
    }),
    row("clSVMFree", Kind::Context, 0, |d, _, h| {
        (d.clSVMFree)(h.cast(), ptr::null_mut());
        0
    }),
];

/// Three rows for an enqueue: a bad queue, a bad event in the wait list, and a list that is none.
macro_rules! enqueue {
    ($name:literal, |$d:ident, $w:ident, $q:ident, $n:ident, $list:ident| $call:expr) => {
        [
            row($name, Kind::Queue, CL_INVALID_COMMAND_QUEUE, |$d, $w, h| {
                let ($q, $n, $list) = (h.cast(), 0, NONE);
                let _ = &$w;
                $call
            }),
            row(concat!($name, ", wait list"), Kind::Event, INVALID_LIST, |$d, $w, h| {
                let ($q, $n, event) = ($w.queue.raw(), 1, h.cast());
                let $list: *const cl_event = &event;
                $call
            }),
            row(concat!($name, ", second in the list"), Kind::Event, INVALID_LIST, |$d, $w, h| {
                let ($q, $n, events) = ($w.queue.raw(), 2, [$w.event.raw(), h.cast()]);
                let $list: *const cl_event = events.as_ptr();
                $call
            }),
        ]
    };
}

const ENQUEUE: &[[Row; 3]] = &[
    enqueue!("clEnqueueReadBuffer", |d, w, q, n, list| {
        (d.clEnqueueReadBuffer)(q, w.buffer.raw(), CL_TRUE, 0, 8, memory(), n, list, NO_EVENT)
    }),
    enqueue!("clEnqueueWriteBuffer", |d, w, q, n, list| {
        (d.clEnqueueWriteBuffer)(q, w.buffer.raw(), CL_TRUE, 0, 8, memory(), n, list, NO_EVENT)
    }),
    enqueue!("clEnqueueCopyBuffer", |d, w, q, n, list| {
        (d.clEnqueueCopyBuffer)(q, w.buffer.raw(), w.other.raw(), 0, 0, 8, n, list, NO_EVENT)
    }),
    enqueue!("clEnqueueFillBuffer", |d, w, q, n, list| {
        (d.clEnqueueFillBuffer)(q, w.buffer.raw(), memory(), 4, 0, 8, n, list, NO_EVENT)
    }),
    enqueue!("clEnqueueReadBufferRect", |d, w, q, n, list| {
        let (zero, region) = (ZERO.as_ptr(), REGION.as_ptr());
        let read = d.clEnqueueReadBufferRect;
        read(q, w.buffer.raw(), CL_TRUE, zero, zero, region, 0, 0, 0, 0, memory(), n, list, NO_EVENT)
    }),
    enqueue!("clEnqueueWriteBufferRect", |d, w, q, n, list| {
        let (zero, region) = (ZERO.as_ptr(), REGION.as_ptr());
        let write = d.clEnqueueWriteBufferRect;
        write(q, w.buffer.raw(), CL_TRUE, zero, zero, region, 0, 0, 0, 0, memory(), n, list, NO_EVENT)
    }),
    enqueue!("clEnqueueCopyBufferRect", |d, w, q, n, list| {
        let (zero, region) = (ZERO.as_ptr(), REGION.as_ptr());
        let copy = d.clEnqueueCopyBufferRect;
        copy(q, w.buffer.raw(), w.other.raw(), zero, zero, region, 0, 0, 0, 0, n, list, NO_EVENT)
    }),
    enqueue!("clEnqueueMapBuffer", |d, w, q, n, list| {
        created(|code| (d.clEnqueueMapBuffer)(q, w.buffer.raw(), CL_TRUE, CL_MAP_READ, 0, 8, n, list, NO_EVENT, code))
    }),
    enqueue!("clEnqueueMigrateMemObjects", |d, w, q, n, list| {
        (d.clEnqueueMigrateMemObjects)(q, 1, &w.buffer.raw(), 0, n, list, NO_EVENT)
    }),
    enqueue!("clEnqueueNDRangeKernel", |d, w, q, n, list| {
        (d.clEnqueueNDRangeKernel)(q, w.kernel.raw(), 1, ptr::null(), REGION.as_ptr(), ptr::null(), n, list, NO_EVENT)
    }),
    enqueue!("clEnqueueTask", |d, w, q, n, list| (d.clEnqueueTask)(q, w.kernel.raw(), n, list, NO_EVENT)),
    enqueue!("clEnqueueNativeKernel", |d, _w, q, n, list| {
        let (args, mems, places) = (ptr::null_mut(), ptr::null(), ptr::null());
        (d.clEnqueueNativeKernel)(q, Some(nothing), args, 0, 0, mems, places, n, list, NO_EVENT)
    }),
    enqueue!("clEnqueueMarkerWithWaitList", |d, _w, q, n, list| {
        (d.clEnqueueMarkerWithWaitList)(q, n, list, NO_EVENT)
    }),
    enqueue!("clEnqueueBarrierWithWaitList", |d, _w, q, n, list| {
        (d.clEnqueueBarrierWithWaitList)(q, n, list, NO_EVENT)
    }),
];

const ENQUEUE_OBJECTS: &[Row] = &[
    row("clEnqueueMarker", Kind::Queue, CL_INVALID_COMMAND_QUEUE, |d, _, h| {
        let mut event = ptr::null_mut();
        (d.clEnqueueMarker)(h.cast(), &mut event)
    }),
    row("clEnqueueWaitForEvents", Kind::Queue, CL_INVALID_COMMAND_QUEUE, |d, w, h| {
        (d.clEnqueueWaitForEvents)(h.cast(), 1, &w.event.raw())
    }),
    row("clEnqueueWaitForEvents, event", Kind::Event, CL_INVALID_EVENT, |d, w, h| {
        (d.clEnqueueWaitForEvents)(w.queue.raw(), 1, &h.cast())
    }),
    row("clEnqueueUnmapMemObject", Kind::Queue, CL_INVALID_COMMAND_QUEUE, |d, w, h| {
        (d.clEnqueueUnmapMemObject)(h.cast(), w.buffer.raw(), memory(), 0, NONE, NO_EVENT)
    }),
    row("clEnqueueUnmapMemObject, buffer", Kind::Mem, CL_INVALID_MEM_OBJECT, |d, w, h| {
        (d.clEnqueueUnmapMemObject)(w.queue.raw(), h.cast(), memory(), 0, NONE, NO_EVENT)
    }),
    row("clEnqueueReadBuffer, buffer", Kind::Mem, CL_INVALID_MEM_OBJECT, |d, w, h| {
        (d.clEnqueueReadBuffer)(w.queue.raw(), h.cast(), CL_TRUE, 0, 8, memory(), 0, NONE, NO_EVENT)
    }),
    row("clEnqueueWriteBuffer, buffer", Kind::Mem, CL_INVALID_MEM_OBJECT, |d, w, h| {
        (d.clEnqueueWriteBuffer)(w.queue.raw(), h.cast(), CL_TRUE, 0, 8, memory(), 0, NONE, NO_EVENT)
    }),
    row("clEnqueueCopyBuffer, source", Kind::Mem, CL_INVALID_MEM_OBJECT, |d, w, h| {
        (d.clEnqueueCopyBuffer)(w.queue.raw(), h.cast(), w.other.raw(), 0, 0, 8, 0, NONE, NO_EVENT)
    }),
    row("clEnqueueCopyBuffer, target", Kind::Mem, CL_INVALID_MEM_OBJECT, |d, w, h| {
        (d.clEnqueueCopyBuffer)(w.queue.raw(), w.buffer.raw(), h.cast(), 0, 0, 8, 0, NONE, NO_EVENT)
    }),
    row("clEnqueueFillBuffer, buffer", Kind::Mem, CL_INVALID_MEM_OBJECT, |d, w, h| {
        (d.clEnqueueFillBuffer)(w.queue.raw(), h.cast(), memory(), 4, 0, 8, 0, NONE, NO_EVENT)
    }),
    row("clEnqueueReadBufferRect, buffer", Kind::Mem, CL_INVALID_MEM_OBJECT, |d, w, h| {
        let (q, zero, region) = (w.queue.raw(), ZERO.as_ptr(), REGION.as_ptr());
        let read = d.clEnqueueReadBufferRect;
        read(q, h.cast(), CL_TRUE, zero, zero, region, 0, 0, 0, 0, memory(), 0, NONE, NO_EVENT)
    }),
    row("clEnqueueWriteBufferRect, buffer", Kind::Mem, CL_INVALID_MEM_OBJECT, |d, w, h| {
        let (q, zero, region) = (w.queue.raw(), ZERO.as_ptr(), REGION.as_ptr());
        let write = d.clEnqueueWriteBufferRect;
        write(q, h.cast(), CL_TRUE, zero, zero, region, 0, 0, 0, 0, memory(), 0, NONE, NO_EVENT)
    }),
    row("clEnqueueCopyBufferRect, source", Kind::Mem, CL_INVALID_MEM_OBJECT, |d, w, h| {
        let (q, zero, region) = (w.queue.raw(), ZERO.as_ptr(), REGION.as_ptr());
        (d.clEnqueueCopyBufferRect)(q, h.cast(), w.other.raw(), zero, zero, region, 0, 0, 0, 0, 0, NONE, NO_EVENT)
    }),
    row("clEnqueueCopyBufferRect, target", Kind::Mem, CL_INVALID_MEM_OBJECT, |d, w, h| {
        let (q, zero, region) = (w.queue.raw(), ZERO.as_ptr(), REGION.as_ptr());
        (d.clEnqueueCopyBufferRect)(q, w.buffer.raw(), h.cast(), zero, zero, region, 0, 0, 0, 0, 0, NONE, NO_EVENT)
    }),
    row("clEnqueueMapBuffer, buffer", Kind::Mem, CL_INVALID_MEM_OBJECT, |d, w, h| {
        let q = w.queue.raw();
        created(|code| (d.clEnqueueMapBuffer)(q, h.cast(), CL_TRUE, CL_MAP_READ, 0, 8, 0, NONE, NO_EVENT, code))
    }),
    row("clEnqueueMigrateMemObjects, buffer", Kind::Mem, CL_INVALID_MEM_OBJECT, |d, w, h| {
        (d.clEnqueueMigrateMemObjects)(w.queue.raw(), 2, [w.buffer.raw(), h.cast()].as_ptr(), 0, 0, NONE, NO_EVENT)
    }),
    row("clEnqueueNDRangeKernel, kernel", Kind::Kernel, CL_INVALID_KERNEL, |d, w, h| {
        let (q, size) = (w.queue.raw(), REGION.as_ptr());
        (d.clEnqueueNDRangeKernel)(q, h.cast(), 1, ptr::null(), size, ptr::null(), 0, NONE, NO_EVENT)
    }),
    row("clEnqueueTask, kernel", Kind::Kernel, CL_INVALID_KERNEL, |d, w, h| {
        (d.clEnqueueTask)(w.queue.raw(), h.cast(), 0, NONE, NO_EVENT)
    }),
];

/// Images and shared virtual memory: only the queue can be judged, whatever the rest is.
const ABSENT: &[Row] = &[
    row("clEnqueueReadImage", Kind::Queue, CL_INVALID_COMMAND_QUEUE, |d, w, h| {
        let (zero, region) = (ZERO.as_ptr(), REGION.as_ptr());
        (d.clEnqueueReadImage)(h.cast(), w.buffer.raw(), CL_TRUE, zero, region, 0, 0, memory(), 0, NONE, NO_EVENT)
    }),
    row("clEnqueueWriteImage", Kind::Queue, CL_INVALID_COMMAND_QUEUE, |d, w, h| {
        let (zero, region) = (ZERO.as_ptr(), REGION.as_ptr());
        (d.clEnqueueWriteImage)(h.cast(), w.buffer.raw(), CL_TRUE, zero, region, 0, 0, memory(), 0, NONE, NO_EVENT)
    }),
    row("clEnqueueFillImage", Kind::Queue, CL_INVALID_COMMAND_QUEUE, |d, w, h| {
        let (zero, region) = (ZERO.as_ptr(), REGION.as_ptr());
        (d.clEnqueueFillImage)(h.cast(), w.buffer.raw(), memory(), zero, region, 0, NONE, NO_EVENT)
    }),
    row("clEnqueueCopyImage", Kind::Queue, CL_INVALID_COMMAND_QUEUE, |d, w, h| {
        let (zero, region) = (ZERO.as_ptr(), REGION.as_ptr());
        (d.clEnqueueCopyImage)(h.cast(), w.buffer.raw(), w.other.raw(), zero, zero, region, 0, NONE, NO_EVENT)
    }),
    row("clEnqueueCopyImageToBuffer", Kind::Queue, CL_INVALID_COMMAND_QUEUE, |d, w, h| {
        let (zero, region) = (ZERO.as_ptr(), REGION.as_ptr());
        (d.clEnqueueCopyImageToBuffer)(h.cast(), w.buffer.raw(), w.other.raw(), zero, region, 0, 0, NONE, NO_EVENT)
    }),
    row("clEnqueueCopyBufferToImage", Kind::Queue, CL_INVALID_COMMAND_QUEUE, |d, w, h| {
        let (zero, region) = (ZERO.as_ptr(), REGION.as_ptr());
        (d.clEnqueueCopyBufferToImage)(h.cast(), w.buffer.raw(), w.other.raw(), 0, zero, region, 0, NONE, NO_EVENT)
    }),
    row("clEnqueueMapImage", Kind::Queue, CL_INVALID_COMMAND_QUEUE, |d, w, h| {
        let (zero, region, image) = (ZERO.as_ptr(), REGION.as_ptr(), w.buffer.raw());
        let (row, slice) = (&mut 0, &mut 0);
        let map = d.clEnqueueMapImage;
        created(|code| map(h.cast(), image, CL_TRUE, CL_MAP_READ, zero, region, row, slice, 0, NONE, NO_EVENT, code))
    }),
    row("clEnqueueSVMFree", Kind::Queue, CL_INVALID_COMMAND_QUEUE, |d, _, h| {
        (d.clEnqueueSVMFree)(h.cast(), 1, memory().cast(), None, ptr::null_mut(), 0, NONE, NO_EVENT)
    }),
    row("clEnqueueSVMMemcpy", Kind::Queue, CL_INVALID_COMMAND_QUEUE, |d, _, h| {
        (d.clEnqueueSVMMemcpy)(h.cast(), CL_TRUE, memory(), memory(), 8, 0, NONE, NO_EVENT)
    }),
    row("clEnqueueSVMMemFill", Kind::Queue, CL_INVALID_COMMAND_QUEUE, |d, _, h| {
        (d.clEnqueueSVMMemFill)(h.cast(), memory(), memory(), 4, 8, 0, NONE, NO_EVENT)
    }),
    row("clEnqueueSVMMap", Kind::Queue, CL_INVALID_COMMAND_QUEUE, |d, _, h| {
        (d.clEnqueueSVMMap)(h.cast(), CL_TRUE, CL_MAP_READ, memory(), 8, 0, NONE, NO_EVENT)
    }),
    row("clEnqueueSVMUnmap", Kind::Queue, CL_INVALID_COMMAND_QUEUE, |d, _, h| {
        (d.clEnqueueSVMUnmap)(h.cast(), memory(), 0, NONE, NO_EVENT)
    }),
    row("clEnqueueSVMMigrateMem", Kind::Queue, CL_INVALID_COMMAND_QUEUE, |d, _, h| {
        (d.clEnqueueSVMMigrateMem)(h.cast(), 1, memory().cast(), ptr::null(), 0, 0, NONE, NO_EVENT)
    }),
];

/// Entry points that take no handle, or where any handle will do.
const NO_HANDLE: &[&str] = &[
    "clGetPlatformIDs",
    "clUnloadCompiler",
    "clGetExtensionFunctionAddress",
    // Null is a platform here, at the driver's choice; a bad one has a test of its own.
    "clGetPlatformInfo",
    "clGetDeviceIDs",
    "clGetExtensionFunctionAddressForPlatform",
];

fn rows() -> impl Iterator<Item = Row> {
    [OBJECTS, CREATION, ENQUEUE_OBJECTS, ABSENT].into_iter().flatten().chain(ENQUEUE.iter().flatten()).copied()
}

#[test]
fn every_entry_point_has_a_row() {
    let named: Vec<&str> = rows().map(|row| row.0.split(',').next().unwrap_or(row.0)).collect();
    let missing: Vec<&str> = ENTRY_POINTS
        .iter()
        .map(|entry| entry.0)
        .filter(|name| !named.contains(name) && !NO_HANDLE.contains(name))
        .collect();
    assert!(missing.is_empty(), "{missing:?}");
}

#[test]
fn bad_handles() {
    if !is_lockstep() {
        // The specification does not ask drivers to survive this; this driver's own promise is under test.
        return;
    }
    let world = World::new();
    let mut wrong = vec![];
    for (name, kind, code, call) in rows() {
        for (what, handle) in world.bad(kind) {
            let got = call(driver(), &world, handle);
            // A queue or an event belongs to a context, so a released context's code may come first.
            if got != code {
                wrong.push(format!("{name} with {what}: {} instead of {}", code_name(got), code_name(code)));
            }
        }
    }
    assert!(wrong.is_empty(), "{} wrong answers:\n{}", wrong.len(), wrong.join("\n"));
    // Everything is still whole.
    assert_eq!((driver().clFinish)(world.queue.raw()), CL_SUCCESS);
    for (kind, _) in world.live() {
        let count = match kind {
            Kind::Context => world.context.info::<u32>(CL_CONTEXT_REFERENCE_COUNT),
            Kind::Queue => world.queue.info::<u32>(CL_QUEUE_REFERENCE_COUNT),
            Kind::Mem => world.buffer.info::<u32>(CL_MEM_REFERENCE_COUNT),
            Kind::Program => world.program.info::<u32>(CL_PROGRAM_REFERENCE_COUNT),
            Kind::Kernel => world.kernel.info::<u32>(CL_KERNEL_REFERENCE_COUNT),
            Kind::Event => world.event.info::<u32>(CL_EVENT_REFERENCE_COUNT),
            _ => 1,
        };
        assert_eq!(count, 1, "{kind:?}");
    }
}

#[test]
fn bad_platforms() {
    if !is_lockstep() {
        return;
    }
    let world = World::new();
    for (what, handle) in world.bad(Kind::Platform) {
        if handle.is_null() {
            continue;
        }
        let info = (driver().clGetPlatformInfo)(handle.cast(), CL_PLATFORM_NAME, 0, ptr::null_mut(), &mut 0);
        assert_eq!(info, CL_INVALID_PLATFORM, "clGetPlatformInfo with {what}: {}", code_name(info));
        let list = (driver().clGetDeviceIDs)(handle.cast(), CL_DEVICE_TYPE_ALL, 0, ptr::null_mut(), &mut 0);
        assert_eq!(list, CL_INVALID_PLATFORM, "clGetDeviceIDs with {what}: {}", code_name(list));
        let name = c"clGetPlatformInfo".as_ptr();
        assert!((driver().clGetExtensionFunctionAddressForPlatform)(handle.cast(), name).is_null());
    }
}

#[test]
fn objects_of_another_context() {
    let (here, there) = (World::new(), World::new());
    let d = driver();
    let q = here.queue.raw();
    let wrong_context = |name: &str, code: cl_int| {
        assert_eq!(code, CL_INVALID_CONTEXT, "{name}: {}", code_name(code));
    };
    let (zero, region) = (ZERO.as_ptr(), REGION.as_ptr());
    let foreign = there.buffer.raw();
    let own = here.buffer.raw();
    wrong_context("read", (d.clEnqueueReadBuffer)(q, foreign, CL_TRUE, 0, 8, memory(), 0, NONE, NO_EVENT));
    wrong_context("write", (d.clEnqueueWriteBuffer)(q, foreign, CL_TRUE, 0, 8, memory(), 0, NONE, NO_EVENT));
    wrong_context("fill", (d.clEnqueueFillBuffer)(q, foreign, memory(), 4, 0, 8, 0, NONE, NO_EVENT));
    wrong_context("copy from", (d.clEnqueueCopyBuffer)(q, foreign, own, 0, 0, 8, 0, NONE, NO_EVENT));
    wrong_context("copy to", (d.clEnqueueCopyBuffer)(q, own, foreign, 0, 0, 8, 0, NONE, NO_EVENT));
    let copy = d.clEnqueueCopyBufferRect;
    wrong_context("copy box", copy(q, own, foreign, zero, zero, region, 0, 0, 0, 0, 0, NONE, NO_EVENT));
    let map = |code| (d.clEnqueueMapBuffer)(q, foreign, CL_TRUE, CL_MAP_READ, 0, 8, 0, NONE, NO_EVENT, code);
    wrong_context("map", created(map));
    wrong_context("unmap", (d.clEnqueueUnmapMemObject)(q, foreign, memory(), 0, NONE, NO_EVENT));
    wrong_context("migrate", (d.clEnqueueMigrateMemObjects)(q, 1, &foreign, 0, 0, NONE, NO_EVENT));
    let kernel = there.kernel.raw();
    let launch = d.clEnqueueNDRangeKernel;
    wrong_context("launch", launch(q, kernel, 1, ptr::null(), region, ptr::null(), 0, NONE, NO_EVENT));
    wrong_context("task", (d.clEnqueueTask)(q, kernel, 0, NONE, NO_EVENT));
    let event = there.event.raw();
    wrong_context("wait list", (d.clEnqueueMarkerWithWaitList)(q, 1, &event, NO_EVENT));
    wrong_context("wait for", (d.clEnqueueWaitForEvents)(q, 1, &event));
    let program = there.program.raw();
    let none = ptr::null();
    let link =
        |code| (d.clLinkProgram)(here.context.raw(), 0, none, ptr::null(), 1, &program, None, ptr::null_mut(), code);
    let code = created(link);
    assert!(code == CL_INVALID_CONTEXT || code == CL_INVALID_OPERATION, "link: {}", code_name(code));
    // A kernel's buffers are of the kernel's context.
    let code = here.kernel.try_set(0, &there.buffer);
    if code == CL_SUCCESS {
        wrong_context("argument", launch(q, here.kernel.raw(), 1, ptr::null(), region, ptr::null(), 0, NONE, NO_EVENT));
    } else {
        // "CL_INVALID_CONTEXT if the context associated with kernel and an OpenCL object pointed to by arg_value are not
        // the same", which older versions did not tell from CL_INVALID_MEM_OBJECT.
        assert!(code == CL_INVALID_CONTEXT || code == CL_INVALID_MEM_OBJECT, "{}", code_name(code));
    }
}
