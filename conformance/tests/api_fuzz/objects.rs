//! Platforms, devices, contexts, queues, memory objects, samplers and events: made, asked, retained and released.

use std::ffi::{c_char, c_void};
use std::ptr;

use lockstep_conformance::opencl_sys::*;

use super::Op;
use super::world::*;

pub const OPS: &[Op] = &[
    ("clGetPlatformIDs", 1, get_platform_ids),
    ("clGetPlatformInfo", 2, |w| {
        // Null is the platform here.
        let (platform, question, size, answer) = (w.handle(Platform), w.question(0x900, 8), w.size(), w.answer());
        (w.d.clGetPlatformInfo)(platform, question, size, answer, &mut 0);
    }),
    ("clGetDeviceIDs", 2, get_device_ids),
    ("clGetDeviceInfo", 6, |w| {
        let groups = [(0x1000, 0x78), (0x4100, 0x60), (0x1070, 8), (0x10A9, 4), (0x12A9, 4), (0x2050, 4)];
        let (first, count) = w.any(&groups);
        ask(w, Device, w.d.clGetDeviceInfo, first, count);
    }),
    ("clCreateSubDevices", 2, create_sub_devices),
    ("clGetDeviceAndHostTimer", 1, |w| {
        let (device, mut times) = (w.handle(Device), [0, 0]);
        let [a, b] = &mut times;
        let a = if w.once_in(5) { ptr::null_mut() } else { a };
        let code = (w.d.clGetDeviceAndHostTimer)(device, a, b);
        w.judge(Device, device, code);
    }),
    ("clGetHostTimer", 1, |w| {
        let (device, mut time) = (w.handle(Device), 0);
        let time = if w.once_in(5) { ptr::null_mut() } else { &raw mut time };
        let code = (w.d.clGetHostTimer)(device, time);
        w.judge(Device, device, code);
    }),
    ("clGetExtensionFunctionAddress", 1, |w| {
        let name = extension_name(w);
        (w.d.clGetExtensionFunctionAddress)(name);
    }),
    ("clGetExtensionFunctionAddressForPlatform", 1, |w| {
        let (platform, name) = (w.handle(Platform), extension_name(w));
        (w.d.clGetExtensionFunctionAddressForPlatform)(platform, name);
    }),
    ("clCreateContext", 2, create_context),
    ("clCreateContextFromType", 1, |w| {
        let list = context_properties(w);
        let kind = w.bits(&[CL_DEVICE_TYPE_CPU, CL_DEVICE_TYPE_DEFAULT, CL_DEVICE_TYPE_ALL, CL_DEVICE_TYPE_GPU]);
        let notify = w.any(&[None, Some(context_notify as extern "C" fn(_, _, _, _))]);
        let data = w.data();
        let context = (w.d.clCreateContextFromType)(pointer(&list).cast(), kind, notify, data, w.code_at());
        w.made(Context, context);
    }),
    ("clGetContextInfo", 3, |w| ask(w, Context, w.d.clGetContextInfo, 0x1080, 6)),
    ("clSetContextDestructorCallback", 1, |w| {
        let context = w.handle(Context);
        let notify = w.any(&[None, Some(context_gone as extern "C" fn(_, _))]);
        let code = (w.d.clSetContextDestructorCallback)(context, notify, ptr::null_mut());
        w.judge(Context, context, code);
    }),
    ("clCreateCommandQueue", 2, |w| {
        let (context, device, bits) = (w.handle(Context), w.handle(Device), w.bits(QUEUE_BITS));
        let queue = (w.d.clCreateCommandQueue)(context, device, bits, w.code_at());
        w.made(Queue, queue);
    }),
    ("clCreateCommandQueueWithProperties", 2, |w| {
        let (context, device, list) = (w.handle(Context), w.handle(Device), queue_properties(w));
        let make = w.d.clCreateCommandQueueWithProperties;
        let queue = make(context, device, pointer(&list), w.code_at());
        w.made(Queue, queue);
    }),
    ("clCreateCommandQueueWithPropertiesKHR", 1, |w| {
        let (context, device, list) = (w.handle(Context), w.handle(Device), queue_properties(w));
        let make = w.x.queue.clCreateCommandQueueWithPropertiesKHR;
        let queue = make(context, device, pointer(&list), w.code_at());
        w.made(Queue, queue);
    }),
    ("clGetCommandQueueInfo", 3, |w| ask(w, Queue, w.d.clGetCommandQueueInfo, 0x1090, 10)),
    ("clSetCommandQueueProperty", 1, |w| {
        let (queue, bits) = (w.handle(Queue), w.bits(QUEUE_BITS));
        // It waits for what is in the queue.
        w.let_go();
        let code = (w.d.clSetCommandQueueProperty)(queue, bits, 1, &mut 0);
        w.judge(Queue, queue, code);
    }),
    ("clSetDefaultDeviceCommandQueue", 1, |w| {
        let (context, device, queue) = (w.handle(Context), w.handle(Device), w.handle(Queue));
        let code = (w.d.clSetDefaultDeviceCommandQueue)(context, device, queue);
        w.judge(Context, context, code);
    }),
    ("clCreateBuffer", 6, |w| {
        let (context, flags, size) = (w.handle(Context), w.bits(MEM_BITS), w.size());
        let host = if w.once_in(2) { ptr::null_mut() } else { w.shared_pointer() };
        let buffer = (w.d.clCreateBuffer)(context, flags, size, host, w.code_at());
        w.made(Mem, buffer);
    }),
    ("clCreateBufferWithProperties", 2, |w| {
        let (context, flags, size) = (w.handle(Context), w.bits(MEM_BITS), w.size());
        let list = w.properties(&[CL_MEM_DEVICE_PRIVATE_ADDRESS_EXT, 0], &[0, 1, 2]);
        let host = if w.once_in(2) { ptr::null_mut() } else { w.data() };
        let buffer = (w.d.clCreateBufferWithProperties)(context, pointer(&list), flags, size, host, w.code_at());
        w.made(Mem, buffer);
    }),
    ("clCreateSubBuffer", 4, |w| {
        let (buffer, flags) = (w.buffer(), w.bits(MEM_BITS));
        let origin = if w.once_in(2) { 128 * w.below(4) } else { w.size() };
        let region = cl_buffer_region { origin, size: w.size() };
        let what = w.number(&[CL_BUFFER_CREATE_TYPE_REGION]);
        let region = if w.once_in(20) { ptr::null() } else { &raw const region };
        let sub_buffer = (w.d.clCreateSubBuffer)(buffer, flags, what, region.cast(), w.code_at());
        w.made(Mem, sub_buffer);
    }),
    ("clGetMemObjectInfo", 4, |w| ask(w, Mem, w.d.clGetMemObjectInfo, 0x1100, 11)),
    ("clSetMemObjectDestructorCallback", 2, |w| {
        let object = w.handle(Mem);
        let notify = w.any(&[None, Some(mem_gone as extern "C" fn(_, _))]);
        let code = (w.d.clSetMemObjectDestructorCallback)(object, notify, ptr::null_mut());
        w.judge(Mem, object, code);
    }),
    ("clCreatePipe", 1, |w| {
        let (context, flags) = (w.handle(Context), w.bits(MEM_BITS));
        let (packet, count) = (w.size() as u32, w.size() as u32);
        let pipe = (w.d.clCreatePipe)(context, flags, packet, count, ptr::null(), w.code_at());
        w.made(Mem, pipe);
    }),
    ("clGetPipeInfo", 1, |w| ask(w, Mem, w.d.clGetPipeInfo, 0x1120, 4)),
    ("clCreateSampler", 1, |w| {
        let (context, normalized) = (w.handle(Context), w.number(&[0, 1]));
        let (addressing, filter) = (w.number(ADDRESSING), w.number(&[CL_FILTER_NEAREST, CL_FILTER_LINEAR]));
        let sampler = (w.d.clCreateSampler)(context, normalized, addressing, filter, w.code_at());
        w.made(Sampler, sampler);
    }),
    ("clCreateSamplerWithProperties", 2, |w| {
        let context = w.handle(Context);
        let names = [CL_SAMPLER_NORMALIZED_COORDS, CL_SAMPLER_ADDRESSING_MODE, CL_SAMPLER_FILTER_MODE].map(u64::from);
        let values = [0, 1, 0x1130, 0x1131, 0x1132, 0x1133, 0x1134, 0x1140, 0x1141];
        let list = w.properties(&names, &values);
        let sampler = (w.d.clCreateSamplerWithProperties)(context, pointer(&list), w.code_at());
        w.made(Sampler, sampler);
    }),
    ("clGetSamplerInfo", 2, |w| ask(w, Sampler, w.d.clGetSamplerInfo, 0x1150, 10)),
    ("clCreateUserEvent", 3, |w| {
        let context = w.handle(Context);
        let event = (w.d.clCreateUserEvent)(context, w.code_at());
        // Known as pending before it is known at all: what makes room for it may release it.
        if w.code == CL_SUCCESS {
            w.add_pending(event);
        }
        w.made(Event, event);
    }),
    ("clSetUserEventStatus", 3, |w| {
        let event = w.a_pending();
        let status = w.any(&[CL_COMPLETE, CL_COMPLETE, -1, i32::MIN, CL_RUNNING, CL_SUBMITTED, 77]);
        let code = (w.d.clSetUserEventStatus)(event, status);
        w.judge(Event, event, code);
        if code == CL_SUCCESS {
            w.no_longer_pending(event);
        }
    }),
    ("clGetEventInfo", 4, |w| ask(w, Event, w.d.clGetEventInfo, 0x11D0, 6)),
    ("clGetEventProfilingInfo", 2, |w| ask(w, Event, w.d.clGetEventProfilingInfo, 0x1280, 6)),
    ("clSetEventCallback", 2, |w| {
        let event = w.handle(Event);
        let kind = w.any(&[CL_COMPLETE, CL_RUNNING, CL_SUBMITTED, CL_QUEUED, -1]);
        let notify = w.any(&[None, Some(event_notify as extern "C" fn(_, _, _))]);
        let code = (w.d.clSetEventCallback)(event, kind, notify, ptr::null_mut());
        w.judge(Event, event, code);
    }),
    ("clWaitForEvents", 1, |w| {
        let (count, list) = w.wait_list();
        w.let_go();
        (w.d.clWaitForEvents)(count, pointer(&list));
    }),
    ("clFlush", 2, |w| {
        let queue = w.handle(Queue);
        let code = (w.d.clFlush)(queue);
        w.judge(Queue, queue, code);
    }),
    ("clFinish", 1, |w| {
        let queue = w.handle(Queue);
        w.let_go();
        let code = (w.d.clFinish)(queue);
        w.judge(Queue, queue, code);
    }),
    ("clUnloadCompiler", 1, |w| _ = (w.d.clUnloadCompiler)()),
    ("clUnloadPlatformCompiler", 1, |w| {
        let platform = w.handle(Platform);
        (w.d.clUnloadPlatformCompiler)(platform);
    }),
    ("clRetainDevice", 1, |w| retain(w, Device)),
    ("clRetainContext", 1, |w| retain(w, Context)),
    ("clRetainCommandQueue", 1, |w| retain(w, Queue)),
    ("clRetainMemObject", 1, |w| retain(w, Mem)),
    ("clRetainSampler", 1, |w| retain(w, Sampler)),
    ("clRetainProgram", 1, |w| retain(w, Program)),
    ("clRetainKernel", 1, |w| retain(w, Kernel)),
    ("clRetainEvent", 1, |w| retain(w, Event)),
    ("clRetainSemaphoreKHR", 1, |w| retain(w, Semaphore)),
    ("clRetainCommandBufferKHR", 1, |w| retain(w, Commands)),
    ("clReleaseDevice", 2, |w| release(w, Device)),
    ("clReleaseContext", 1, |w| release(w, Context)),
    ("clReleaseCommandQueue", 2, |w| release(w, Queue)),
    ("clReleaseMemObject", 4, |w| release(w, Mem)),
    ("clReleaseSampler", 2, |w| release(w, Sampler)),
    ("clReleaseProgram", 1, |w| release(w, Program)),
    ("clReleaseKernel", 2, |w| release(w, Kernel)),
    ("clReleaseEvent", 4, |w| release(w, Event)),
    ("clReleaseSemaphoreKHR", 1, |w| release(w, Semaphore)),
    ("clReleaseCommandBufferKHR", 1, |w| release(w, Commands)),
];

pub const MEM_BITS: &[u64] = &[
    CL_MEM_READ_WRITE,
    CL_MEM_READ_ONLY,
    CL_MEM_WRITE_ONLY,
    CL_MEM_USE_HOST_PTR,
    CL_MEM_ALLOC_HOST_PTR,
    CL_MEM_COPY_HOST_PTR,
    CL_MEM_COPY_HOST_PTR,
    CL_MEM_HOST_READ_ONLY,
    CL_MEM_HOST_WRITE_ONLY,
    CL_MEM_HOST_NO_ACCESS,
    CL_MEM_KERNEL_READ_AND_WRITE,
];
const QUEUE_BITS: &[u64] = &[CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE, CL_QUEUE_PROFILING_ENABLE, 0, CL_QUEUE_ON_DEVICE];
const ADDRESSING: &[u32] =
    &[CL_ADDRESS_NONE, CL_ADDRESS_CLAMP, CL_ADDRESS_CLAMP_TO_EDGE, CL_ADDRESS_REPEAT, CL_ADDRESS_MIRRORED_REPEAT];

type Ask = extern "C" fn(Handle, cl_uint, usize, *mut c_void, *mut usize) -> cl_int;

/// A question to an object.
pub fn ask(w: &mut World, kind: Kind, function: Ask, first: u32, count: usize) {
    let (handle, question, size, answer) = (w.handle(kind), w.question(first, count), w.size(), w.answer());
    let mut length = usize::MAX;
    let length_at = if w.once_in(4) { ptr::null_mut() } else { &raw mut length };
    let code = function(handle, question, size, answer, length_at);
    w.judge(kind, handle, code);
    if code == CL_SUCCESS && !length_at.is_null() && !answer.is_null() {
        assert!(length <= size, "an answer of {length} bytes to {question:#x} in {size}");
    }
}

fn retain(w: &mut World, kind: Kind) {
    let handle = w.handle(kind);
    w.retain(kind, handle);
}

fn release(w: &mut World, kind: Kind) {
    let handle = w.handle(kind);
    w.release(kind, handle);
}

fn extension_name(w: &mut World) -> *const c_char {
    let names = [c"clGetDeviceInfo", c"clSharedMemAllocINTEL", c"clCreateSemaphoreKHR", c"", c"cl"];
    if w.once_in(10) { ptr::null() } else { w.any(&names).as_ptr() }
}

fn get_platform_ids(w: &mut World) {
    let (mut list, mut count) = ([ptr::null_mut(); 4], 0);
    let entries = w.below(5) as u32;
    let list = if w.once_in(3) { ptr::null_mut() } else { list.as_mut_ptr() };
    let count = if w.once_in(3) { ptr::null_mut() } else { &raw mut count };
    (w.d.clGetPlatformIDs)(entries, list, count);
}

fn get_device_ids(w: &mut World) {
    let platform = w.handle(Platform);
    let kind = w.bits(&[CL_DEVICE_TYPE_CPU, CL_DEVICE_TYPE_DEFAULT, CL_DEVICE_TYPE_ALL, CL_DEVICE_TYPE_CUSTOM]);
    let (mut list, mut count) = ([ptr::null_mut(); 4], 0);
    let entries = w.below(5) as u32;
    let list = if w.once_in(3) { ptr::null_mut() } else { list.as_mut_ptr() };
    let count = if w.once_in(3) { ptr::null_mut() } else { &raw mut count };
    (w.d.clGetDeviceIDs)(platform, kind, entries, list, count);
}

fn create_sub_devices(w: &mut World) {
    let device = w.handle(Device);
    let mut list: Vec<isize> = vec![];
    match w.below(4) {
        0 => list.extend([CL_DEVICE_PARTITION_EQUALLY, w.size() as isize]),
        1 => {
            list.push(CL_DEVICE_PARTITION_BY_COUNTS);
            for _ in 0..w.below(4) {
                list.push(w.any(&[1, 1, 2, -1, isize::MAX]));
            }
            list.push(0);
        }
        2 => {
            let domains = [1, 2, 4, 8, 16, 32, 33];
            list.extend([CL_DEVICE_PARTITION_BY_AFFINITY_DOMAIN, w.any(&domains)]);
        }
        _ => list.extend(w.properties(&[0x1086, 0x1087, 0x1088], &[0, 1, 2]).into_iter().map(|word| word as isize)),
    }
    if list.last() != Some(&0) || list.len() == 2 {
        list.push(0);
    }
    let (mut devices, mut count) = ([ptr::null_mut(); 8], 0);
    let entries = w.below(9) as u32;
    let into = if w.once_in(5) { ptr::null_mut() } else { devices.as_mut_ptr() };
    let code = (w.d.clCreateSubDevices)(device, pointer(&list), entries, into, &mut count);
    w.judge(Device, device, code);
    for device in devices {
        assert!(code == CL_SUCCESS || device.is_null(), "sub-devices were made with an error");
        if !device.is_null() {
            w.add(Device, device);
        }
    }
}

fn context_properties(w: &mut World) -> Vec<u64> {
    let platform = w.live(Platform) as u64;
    let names = [CL_CONTEXT_PLATFORM as u64, CL_CONTEXT_PLATFORM as u64, CL_CONTEXT_INTEROP_USER_SYNC as u64, 0];
    w.properties(&names, &[platform, platform, 0, 1])
}

fn queue_properties(w: &mut World) -> Vec<u64> {
    let [bits, size] = [CL_QUEUE_PROPERTIES, CL_QUEUE_SIZE].map(u64::from);
    w.properties(&[bits, bits, size, CL_QUEUE_PRIORITY_KHR, CL_QUEUE_THROTTLE_KHR], &[0, 1, 2, 3, 4, 1 << 10])
}

fn create_context(w: &mut World) {
    let list = context_properties(w);
    let (count, devices) = w.handles(Device, 3);
    let notify = w.any(&[None, Some(context_notify as extern "C" fn(_, _, _, _))]);
    let data = w.data();
    let make = w.d.clCreateContext;
    let context = make(pointer(&list).cast(), count, pointer(&devices), notify, data, w.code_at());
    w.made(Context, context);
}

extern "C" fn context_notify(_: *const c_char, _: *const c_void, _: usize, _: *mut c_void) {}
extern "C" fn context_gone(_: cl_context, _: *mut c_void) {}
extern "C" fn mem_gone(_: cl_mem, _: *mut c_void) {}
extern "C" fn event_notify(_: cl_event, _: cl_int, _: *mut c_void) {}
