//! `cl_khr_command_buffer`: every command, enqueued many times and on both kinds of queue, queries and errors.

use std::ffi::{c_char, c_void};
use std::ptr;
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use lockstep_conformance::commands::{finish, marker};
use lockstep_conformance::extension_functions::CommandBuffers;
use lockstep_conformance::loader::{cl, device, has_extension};
use lockstep_conformance::objects::{Argument, Buffer, Context, Event, Kernel, Queue};
use lockstep_conformance::opencl_sys::*;
use lockstep_conformance::{Plain, Setup, Svm, arguments, expect, info, ok, read, write};

const NO_HANDLE: *mut cl_mutable_command_khr = ptr::null_mut();

struct Recorder {
    f: CommandBuffers,
    raw: cl_command_buffer_khr,
}

impl Drop for Recorder {
    fn drop(&mut self) {
        ok((self.f.clReleaseCommandBufferKHR)(self.raw));
    }
}

impl Recorder {
    fn new(queue: &Queue) -> Option<Self> {
        if !has_extension("cl_khr_command_buffer") {
            return None;
        }
        let f = CommandBuffers::new();
        let mut code = 1;
        let raw = (f.clCreateCommandBufferKHR)(1, &queue.raw(), ptr::null(), &mut code);
        ok(code);
        Some(Recorder { f, raw })
    }

    fn launch(&self, kernel: &Kernel, global: usize, after: &[cl_sync_point_khr]) -> cl_sync_point_khr {
        let (null, mut point) = (ptr::null_mut(), 77);
        let list = if after.is_empty() { ptr::null() } else { after.as_ptr() };
        let (record, count) = (self.f.clCommandNDRangeKernelKHR, after.len() as cl_uint);
        let (none, size) = (ptr::null(), [global]);
        ok(record(
            self.raw,
            null,
            ptr::null(),
            kernel.raw(),
            1,
            none,
            size.as_ptr(),
            none,
            count,
            list,
            &mut point,
            NO_HANDLE,
        ));
        point
    }

    fn fill(&self, buffer: &Buffer, value: u32, bytes: usize) -> cl_sync_point_khr {
        let (null, mut point) = (ptr::null_mut(), 77);
        let record = self.f.clCommandFillBufferKHR;
        let pattern = (&raw const value).cast();
        ok(record(
            self.raw,
            null,
            ptr::null(),
            buffer.raw(),
            pattern,
            4,
            0,
            bytes,
            0,
            ptr::null(),
            &mut point,
            NO_HANDLE,
        ));
        point
    }

    fn barrier(&self) {
        let record = self.f.clCommandBarrierWithWaitListKHR;
        ok(record(self.raw, ptr::null_mut(), ptr::null(), 0, ptr::null(), ptr::null_mut(), NO_HANDLE));
    }

    fn finalize(&self) {
        ok((self.f.clFinalizeCommandBufferKHR)(self.raw));
    }

    fn enqueue(&self, queue: Option<&Queue>, after: &[cl_event]) -> Event {
        let mut queues: Vec<_> = queue.iter().map(|queue| queue.raw()).collect();
        let pointer = if queues.is_empty() { ptr::null_mut() } else { queues.as_mut_ptr() };
        let list = if after.is_empty() { ptr::null() } else { after.as_ptr() };
        let mut event = ptr::null_mut();
        let enqueue = self.f.clEnqueueCommandBufferKHR;
        ok(enqueue(queues.len() as cl_uint, pointer, self.raw, after.len() as cl_uint, list, &mut event));
        Event::own(event)
    }

    fn ask<T: Plain>(&self, name: cl_command_buffer_info_khr) -> Vec<T> {
        let ask = self.f.clGetCommandBufferInfoKHR;
        info::array(|size, value, returned| ask(self.raw, name, size, value, returned))
    }
}

fn of_device(name: cl_device_info) -> u64 {
    info::value(|size, value, returned| (cl().clGetDeviceInfo)(device(), name, size, value, returned))
}

#[test]
fn queries() {
    let setup = Setup::new();
    let Some(buffer) = Recorder::new(&setup.queue) else { return };
    assert_eq!(of_device(CL_DEVICE_COMMAND_BUFFER_REQUIRED_QUEUE_PROPERTIES_KHR), 0);
    let supported = of_device(CL_DEVICE_COMMAND_BUFFER_SUPPORTED_QUEUE_PROPERTIES_KHR);
    assert_eq!(supported, CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE | CL_QUEUE_PROFILING_ENABLE);
    let printf = CL_COMMAND_BUFFER_CAPABILITY_KERNEL_PRINTF_KHR;
    assert_ne!(of_device(CL_DEVICE_COMMAND_BUFFER_CAPABILITIES_KHR) & printf, 0);
    assert_eq!(buffer.ask::<u32>(CL_COMMAND_BUFFER_NUM_QUEUES_KHR), [1]);
    assert_eq!(buffer.ask::<usize>(CL_COMMAND_BUFFER_QUEUES_KHR), [setup.queue.raw() as usize]);
    assert_eq!(buffer.ask::<usize>(CL_COMMAND_BUFFER_CONTEXT_KHR), [setup.context.raw() as usize]);
    assert!(buffer.ask::<u64>(CL_COMMAND_BUFFER_PROPERTIES_ARRAY_KHR).is_empty());
    assert_eq!(buffer.ask::<u32>(CL_COMMAND_BUFFER_REFERENCE_COUNT_KHR), [1]);
    ok((buffer.f.clRetainCommandBufferKHR)(buffer.raw));
    assert_eq!(buffer.ask::<u32>(CL_COMMAND_BUFFER_REFERENCE_COUNT_KHR), [2]);
    ok((buffer.f.clReleaseCommandBufferKHR)(buffer.raw));
    assert_eq!(buffer.ask::<u32>(CL_COMMAND_BUFFER_STATE_KHR), [CL_COMMAND_BUFFER_STATE_RECORDING_KHR]);
    buffer.finalize();
    assert_eq!(buffer.ask::<u32>(CL_COMMAND_BUFFER_STATE_KHR), [CL_COMMAND_BUFFER_STATE_EXECUTABLE_KHR]);
    expect((buffer.f.clFinalizeCommandBufferKHR)(buffer.raw), CL_INVALID_OPERATION);
    let code = (buffer.f.clGetCommandBufferInfoKHR)(buffer.raw, 0x1234, 0, ptr::null_mut(), ptr::null_mut());
    expect(code, CL_INVALID_VALUE);
}

const SOURCE: &str =
    "kernel void step(global uint *a, uint add) { size_t g = get_global_id(0); a[g] = a[g] * 3 + add; }
    kernel void sum(global const uint *a, global const uint *b, global uint *c) {
        size_t g = get_global_id(0);
        c[g] += a[g] + 10 * b[g];
    }";

#[test]
fn one_recording_is_enqueued_many_times() {
    for bits in [0, CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE] {
        let context = Context::new();
        let queue = context.queue(bits);
        let Some(buffer) = Recorder::new(&queue) else { return };
        let program = context.build(SOURCE, "");
        let (step, sum) = (program.kernel("step"), program.kernel("sum"));
        let [a, b, c] = [(); 3].map(|()| context.zeros::<u32>(300));
        // Two chains that meet.
        let first = buffer.fill(&a, 2, 1200);
        let second = buffer.fill(&b, 5, 1200);
        step.set_all(arguments![&a, 1_u32]);
        let first = buffer.launch(&step, 300, &[first]);
        // What is set after recording is for later recordings.
        step.set_all(arguments![&b, 4_u32]);
        let second = buffer.launch(&step, 300, &[second]);
        step.set_all(arguments![&c, 1000_u32]);
        sum.set_all(arguments![&a, &b, &c]);
        let third = buffer.launch(&sum, 300, &[first, second]);
        assert!(first < second && second < third);
        buffer.finalize();
        // The recording is what keeps the objects.
        let events: Vec<_> = {
            drop((step, sum, program));
            let gate = context.user_event();
            let first = buffer.enqueue(None, &[gate.raw()]);
            let mut events = vec![first];
            for _ in 0..3 {
                let after = [events[events.len() - 1].raw()];
                events.push(buffer.enqueue(None, &after));
            }
            assert!(events.iter().all(|event| event.status() > CL_COMPLETE));
            ok((cl().clSetUserEventStatus)(gate.raw(), CL_COMPLETE));
            events
        };
        finish(&queue);
        assert!(events.iter().all(|event| event.status() == CL_COMPLETE));
        assert_eq!(events[0].info::<cl_command_type>(CL_EVENT_COMMAND_TYPE), CL_COMMAND_COMMAND_BUFFER_KHR);
        assert_eq!(read::<u32>(&queue, &c), vec![4 * (7 + 10 * 19); 300]);
    }
}

#[test]
fn barriers_order_what_has_no_sync_points() {
    let context = Context::new();
    let queue = context.queue(CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE);
    let Some(buffer) = Recorder::new(&queue) else { return };
    let step = context.build(SOURCE, "").kernel("step");
    let a = context.zeros::<u32>(5000);
    buffer.fill(&a, 1, 20_000);
    for add in [1_u32, 2, 3] {
        buffer.barrier();
        step.set_all(arguments![&a, add]);
        buffer.launch(&step, 5000, &[]);
    }
    buffer.finalize();
    for _ in 0..3 {
        let event = buffer.enqueue(None, &[]);
        ok((cl().clWaitForEvents)(1, &event.raw()));
        assert_eq!(read::<u32>(&queue, &a), vec![((3 + 1) * 3 + 2) * 3 + 3; 5000]);
    }
}

#[test]
fn the_order_of_the_recording_holds_on_a_queue_without_one() {
    let context = Context::new();
    let (ordered, free) = (context.queue(0), context.queue(CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE));
    let Some(buffer) = Recorder::new(&ordered) else { return };
    let step = context.build(SOURCE, "").kernel("step");
    let a = context.zeros::<u32>(5000);
    buffer.fill(&a, 1, 20_000);
    for add in 0..12_u32 {
        step.set_all(arguments![&a, add]);
        buffer.launch(&step, 5000, &[]);
    }
    buffer.finalize();
    let wanted = (0..12).fold(1_u32, |value, add| value * 3 + add);
    for _ in 0..10 {
        ok(buffer.enqueue(Some(&free), &[]).wait());
        assert_eq!(read::<u32>(&free, &a), vec![wanted; 5000]);
    }
}

#[test]
fn a_barrier_is_for_the_commands_of_the_recording_alone() {
    let context = Context::new();
    let queue = context.queue(CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE);
    let Some(buffer) = Recorder::new(&queue) else { return };
    let step = context.build(SOURCE, "").kernel("step");
    let (a, other) = (context.zeros::<u32>(300), context.with_values(&[7_u32; 16]));
    buffer.barrier();
    buffer.fill(&a, 1, 1200);
    buffer.barrier();
    step.set_all(arguments![&a, 5_u32]);
    buffer.launch(&step, 300, &[]);
    buffer.finalize();
    // A read that has nothing to do with it must not wait for the gate.
    let gate = context.user_event();
    let event = buffer.enqueue(None, &[gate.raw()]);
    assert_eq!(read::<u32>(&queue, &other), [7; 16]);
    assert!(event.status() > CL_COMPLETE);
    // Nor does the recording wait for what is before it.
    let late = context.user_event();
    let before = marker(&queue, &[&late]);
    ok(gate.set_status(CL_COMPLETE));
    ok(buffer.enqueue(None, &[event.raw()]).wait());
    assert!(before.status() > CL_COMPLETE);
    ok(late.set_status(CL_COMPLETE));
    assert_eq!(read::<u32>(&queue, &a), [8; 300]);
}

/// The buffer that the callback asks about, and how often it was called.
static ASKED: AtomicUsize = AtomicUsize::new(0);
static CALLS: AtomicUsize = AtomicUsize::new(0);

extern "C" fn ask_for_state(_: *const c_char, _: *const c_void, _: usize, _: *mut c_void) {
    CALLS.fetch_add(1, Ordering::Relaxed);
    let buffer = ASKED.load(Ordering::Relaxed) as cl_command_buffer_khr;
    let mut state: cl_command_buffer_state_khr = 0;
    let (size, into) = (size_of_val(&state), (&raw mut state).cast());
    ok((CommandBuffers::new().clGetCommandBufferInfoKHR)(
        buffer,
        CL_COMMAND_BUFFER_STATE_KHR,
        size,
        into,
        ptr::null_mut(),
    ));
}

#[test]
fn the_callback_for_errors_may_ask_about_the_recording() {
    if !has_extension("cl_khr_command_buffer") {
        return;
    }
    let mut code = 1;
    let notify = Some(ask_for_state as _);
    let context = (cl().clCreateContext)(ptr::null(), 1, &device(), notify, ptr::null_mut(), &mut code);
    ok(code);
    let context = Context::own(context);
    let queue = context.queue(0);
    let Some(buffer) = Recorder::new(&queue) else { return };
    ASKED.store(buffer.raw as usize, Ordering::Relaxed);
    let kernel = context.kernel("kernel void f(local int *a, global int *b) { b[0] = a[0]; }", "f");
    let out = context.zeros::<i32>(1);
    let too_much = of_device(CL_DEVICE_LOCAL_MEM_SIZE) as usize + 1;
    kernel.set_all(arguments![Argument::Local(too_much), &out]);
    // The launch fails with a message, in a recording and outside of one; either way nothing is locked any more.
    let (record, none, size) = (buffer.f.clCommandNDRangeKernelKHR, ptr::null(), [1_usize]);
    let (null, point, points) = (ptr::null_mut(), ptr::null_mut(), ptr::null());
    let list = ptr::null();
    let kernel = kernel.raw();
    let code = record(buffer.raw, null, list, kernel, 1, none, size.as_ptr(), none, 0, points, point, NO_HANDLE);
    expect(code, CL_OUT_OF_RESOURCES);
    assert_eq!(CALLS.load(Ordering::Relaxed), 1);
    let (size, waits, event) = (size.as_ptr(), ptr::null(), ptr::null_mut());
    let code = (cl().clEnqueueNDRangeKernel)(queue.raw(), kernel, 1, none, size, none, 0, waits, event);
    expect(code, CL_OUT_OF_RESOURCES);
    assert_eq!(CALLS.load(Ordering::Relaxed), 2);
}

#[test]
fn what_a_released_recording_holds_is_let_go_of_like_by_the_application() {
    let setup = Setup::new();
    let Some(buffer) = Recorder::new(&setup.queue) else { return };
    let a = setup.context.zeros::<u32>(300);
    let step = setup.context.build(SOURCE, "").kernel("step");
    step.set_all(arguments![&a, 5_u32]);
    buffer.launch(&step, 300, &[]);
    assert_eq!(step.info::<u32>(CL_KERNEL_REFERENCE_COUNT), 2);
    buffer.finalize();
    let Setup { context, queue } = setup;
    drop(queue);
    let event = buffer.enqueue(None, &[]);
    drop(buffer);
    // Nobody waits, and still it ends: with the last reference of the queue goes what clReleaseCommandQueue does.
    let begin = Instant::now();
    while event.status() > CL_COMPLETE {
        assert!(begin.elapsed() < Duration::from_secs(60), "it never ends");
        std::thread::sleep(Duration::from_millis(1));
    }
    assert_eq!(step.info::<u32>(CL_KERNEL_REFERENCE_COUNT), 1);
    assert_eq!(read::<u32>(&context.queue(0), &a), [5; 300]);
}

#[test]
fn every_transfer() {
    let setup = Setup::new();
    let Some(buffer) = Recorder::new(&setup.queue) else { return };
    let (f, raw, null) = (&buffer.f, buffer.raw, ptr::null_mut::<c_void>());
    let none = ptr::null();
    let [a, b, c] = [(); 3].map(|()| setup.context.zeros::<u32>(64));
    write(&setup.queue, &a, &(0..64_u32).collect::<Vec<_>>());
    let format = cl_image_format { image_channel_order: CL_R, image_channel_data_type: CL_UNSIGNED_INT32 };
    let image = || {
        // SAFETY: all zero is no pitch, no parent, no mipmaps.
        let mut about: cl_image_desc = unsafe { std::mem::zeroed() };
        (about.image_type, about.image_width, about.image_height) = (CL_MEM_OBJECT_IMAGE2D, 8, 8);
        let mut code = 1;
        let made = (cl().clCreateImage)(setup.context.raw(), CL_MEM_READ_WRITE, &format, &about, null, &mut code);
        ok(code);
        Buffer::own(made)
    };
    let (from, to) = (image(), image());
    let (zero, whole) = ([0_usize; 3], [8_usize, 8, 1]);
    let (corner, part) = ([2_usize, 3, 0], [4_usize, 2, 1]);
    let p: *mut cl_sync_point_khr = ptr::null_mut();
    let np = ptr::null::<u64>();
    // Buffer to buffer, from 4 bytes on and as a rectangle of 16 by 2 bytes.
    ok((f.clCommandCopyBufferKHR)(raw, null, np, a.raw(), b.raw(), 4, 0, 128, 0, none, p, NO_HANDLE));
    let (origin, target, region) = ([0_usize, 1, 0], [8_usize, 2, 0], [16_usize, 2, 1]);
    ok((f.clCommandCopyBufferRectKHR)(
        raw,
        null,
        np,
        a.raw(),
        b.raw(),
        origin.as_ptr(),
        target.as_ptr(),
        region.as_ptr(),
        64,
        0,
        64,
        0,
        0,
        none,
        p,
        NO_HANDLE,
    ));
    // Through both images, of which one is filled in part.
    ok((f.clCommandCopyBufferToImageKHR)(
        raw,
        null,
        np,
        a.raw(),
        from.raw(),
        0,
        zero.as_ptr(),
        whole.as_ptr(),
        0,
        none,
        p,
        NO_HANDLE,
    ));
    ok((f.clCommandCopyImageKHR)(
        raw,
        null,
        np,
        from.raw(),
        to.raw(),
        zero.as_ptr(),
        zero.as_ptr(),
        whole.as_ptr(),
        0,
        none,
        p,
        NO_HANDLE,
    ));
    let colour = [9_u32, 0, 0, 0];
    ok((f.clCommandFillImageKHR)(
        raw,
        null,
        np,
        to.raw(),
        colour.as_ptr().cast(),
        corner.as_ptr(),
        part.as_ptr(),
        0,
        none,
        p,
        NO_HANDLE,
    ));
    ok((f.clCommandCopyImageToBufferKHR)(
        raw,
        null,
        np,
        to.raw(),
        c.raw(),
        zero.as_ptr(),
        whole.as_ptr(),
        0,
        0,
        none,
        p,
        NO_HANDLE,
    ));
    let memory = Svm::<u32>::new(&setup.context, CL_MEM_READ_WRITE, 16);
    memory.write(0, &[1, 2, 3, 4]);
    let pattern = [7_u32, 8];
    let copied = (memory.at(4), memory.at(0));
    ok((f.clCommandSVMMemcpyKHR)(raw, null, np, copied.0, copied.1, 16, 0, none, p, NO_HANDLE));
    let filled = pattern.as_ptr().cast();
    ok((f.clCommandSVMMemFillKHR)(raw, null, np, memory.at(8), filled, 8, 32, 0, none, p, NO_HANDLE));
    buffer.finalize();
    assert_eq!(read::<u32>(&setup.queue, &b), [0; 64], "recording does nothing");
    let event = buffer.enqueue(Some(&setup.queue), &[]);
    finish(&setup.queue);
    assert_eq!(event.status(), CL_COMPLETE);
    let mut wanted: Vec<u32> = (1..=32).chain([0; 32]).collect();
    for row in 0..2 {
        for x in 0..4 {
            wanted[(2 + row) * 16 + 2 + x] = ((1 + row) * 16 + x) as u32;
        }
    }
    assert_eq!(read::<u32>(&setup.queue, &b), wanted);
    let inside = |i: u32| (2..6).contains(&(i % 8)) && (3..5).contains(&(i / 8));
    assert_eq!(read::<u32>(&setup.queue, &c), (0..64).map(|i| if inside(i) { 9 } else { i }).collect::<Vec<_>>());
    assert_eq!(memory.values(), [1, 2, 3, 4, 1, 2, 3, 4, 7, 8, 7, 8, 7, 8, 7, 8]);
}

#[test]
fn a_failing_wait_fails_the_whole() {
    let setup = Setup::new();
    let Some(buffer) = Recorder::new(&setup.queue) else { return };
    let a = setup.context.zeros::<u32>(16);
    buffer.fill(&a, 5, 32);
    buffer.fill(&a, 6, 64);
    buffer.finalize();
    let fails = setup.context.user_event();
    let event = buffer.enqueue(None, &[fails.raw()]);
    ok((cl().clSetUserEventStatus)(fails.raw(), -9));
    finish(&setup.queue);
    assert_eq!(event.status(), CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST);
    assert_eq!(read::<u32>(&setup.queue, &a), [0; 16]);
}

#[test]
fn the_times_of_the_whole_are_those_of_all_its_commands() {
    let setup = Setup::new();
    for order in [0, CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE] {
        let queue = setup.context.queue(CL_QUEUE_PROFILING_ENABLE | order);
        let Some(recorder) = Recorder::new(&queue) else { return };
        // The first command begins before the time that the host takes, and ends after it.
        let source = "kernel void meet(global atomic_uint *shared) {
            atomic_store_explicit(shared, 1u, memory_order_release, memory_scope_all_svm_devices);
            while (atomic_load_explicit(shared + 1, memory_order_acquire, memory_scope_all_svm_devices) == 0);
        }";
        let kernel = setup.context.build(source, "-cl-std=CL3.0").kernel("meet");
        let flags = CL_MEM_READ_WRITE | CL_MEM_SVM_FINE_GRAIN_BUFFER | CL_MEM_SVM_ATOMICS;
        let shared = Svm::<u32>::new(&setup.context, flags, 2);
        ok((cl().clSetKernelArgSVMPointer)(kernel.raw(), 0, shared.at(0)));
        recorder.launch(&kernel, 1, &[]);
        recorder.barrier();
        recorder.fill(&setup.context.zeros::<u32>(4), 7, 16);
        recorder.finalize();
        let time = || {
            let mut now = 0;
            ok((cl().clGetHostTimer)(device(), &mut now));
            now
        };
        let before = time();
        let event = recorder.enqueue(None, &[]);
        ok((cl().clFlush)(queue.raw()));
        // SAFETY: the memory outlives both, and everyone uses atomic operations on it.
        let [begun, may_end] = [0, 1].map(|index| unsafe { AtomicU32::from_ptr(shared.at(index).cast()) });
        while begun.load(Ordering::Acquire) == 0 {
            std::hint::spin_loop();
        }
        let during = time();
        may_end.store(1, Ordering::Release);
        ok(event.wait());
        let [queued, submitted, started, ended] = [
            CL_PROFILING_COMMAND_QUEUED,
            CL_PROFILING_COMMAND_SUBMIT,
            CL_PROFILING_COMMAND_START,
            CL_PROFILING_COMMAND_END,
        ]
        .map(|name| event.time(name));
        let times = [before, queued, submitted, started, during, ended, time()];
        assert!(times.is_sorted(), "{times:?}");
    }
}

#[test]
fn every_wrong_argument_has_its_code() {
    let setup = Setup::new();
    let Some(buffer) = Recorder::new(&setup.queue) else { return };
    let (f, raw, null) = (&buffer.f, buffer.raw, ptr::null_mut::<c_void>());
    let other = Setup::new();
    let create = |count, queues: *const cl_command_queue, properties: &[u64]| {
        let (list, mut code) = (if properties.is_empty() { ptr::null() } else { properties.as_ptr() }, 1);
        let made = (f.clCreateCommandBufferKHR)(count, queues, list, &mut code);
        assert_eq!(made.is_null(), code != CL_SUCCESS);
        if code == CL_SUCCESS {
            ok((f.clReleaseCommandBufferKHR)(made));
        }
        code
    };
    let queue = setup.queue.raw();
    let flags = CL_COMMAND_BUFFER_FLAGS_KHR;
    expect(create(0, &queue, &[]), CL_INVALID_VALUE);
    expect(create(2, [queue, queue].as_ptr(), &[]), CL_INVALID_VALUE);
    expect(create(1, ptr::null(), &[]), CL_INVALID_VALUE);
    expect(create(1, &null, &[]), CL_INVALID_COMMAND_QUEUE);
    expect(create(1, &queue, &[flags, 1 << 20, 0]), CL_INVALID_VALUE);
    expect(create(1, &queue, &[flags, 0, flags, 0, 0]), CL_INVALID_VALUE);
    expect(create(1, &queue, &[0x1234, 0, 0]), CL_INVALID_VALUE);
    ok(create(1, &queue, &[flags, 0, 0]));
    ok(create(1, &queue, &[0]));

    let (a, foreign) = (setup.context.zeros::<u32>(16), other.context.zeros::<u32>(16));
    type Lists<'a> = (cl_uint, &'a [u32]);
    let fill = |raw, queue, properties: &[u64], to: &Buffer, unit, (count, list): Lists, handle| {
        let points = if list.is_empty() { ptr::null() } else { list.as_ptr() };
        let properties = if properties.is_empty() { ptr::null() } else { properties.as_ptr() };
        let (value, record) = ([1_u32; 8], f.clCommandFillBufferKHR);
        let pattern = value.as_ptr().cast();
        record(raw, queue, properties, to.raw(), pattern, unit, 0, 64, count, points, ptr::null_mut(), handle)
    };
    let none: Lists = (0, &[]);
    for wrong in [null, queue] {
        expect(fill(wrong, null, &[], &a, 4, none, NO_HANDLE), CL_INVALID_COMMAND_BUFFER_KHR);
        expect((f.clFinalizeCommandBufferKHR)(wrong), CL_INVALID_COMMAND_BUFFER_KHR);
        expect((f.clRetainCommandBufferKHR)(wrong), CL_INVALID_COMMAND_BUFFER_KHR);
        expect((f.clReleaseCommandBufferKHR)(wrong), CL_INVALID_COMMAND_BUFFER_KHR);
    }
    expect(fill(raw, queue, &[], &a, 4, none, NO_HANDLE), CL_INVALID_COMMAND_QUEUE);
    expect(fill(raw, null, &[0x1234, 1, 0], &a, 4, none, NO_HANDLE), CL_INVALID_VALUE);
    expect(fill(raw, null, &[], &a, 3, none, NO_HANDLE), CL_INVALID_VALUE);
    expect(fill(raw, null, &[], &foreign, 4, none, NO_HANDLE), CL_INVALID_CONTEXT);
    expect(fill(raw, null, &[], &a, 4, (1, &[]), NO_HANDLE), CL_INVALID_SYNC_POINT_WAIT_LIST_KHR);
    expect(fill(raw, null, &[], &a, 4, (0, &[0]), NO_HANDLE), CL_INVALID_SYNC_POINT_WAIT_LIST_KHR);
    expect(fill(raw, null, &[], &a, 4, (1, &[0]), NO_HANDLE), CL_INVALID_SYNC_POINT_WAIT_LIST_KHR);
    expect(fill(raw, null, &[], &a, 4, none, &mut ptr::null_mut()), CL_INVALID_VALUE);
    // A kernel must have its arguments, and a range.
    let step = setup.context.build(SOURCE, "").kernel("step");
    let launch = |kernel: cl_kernel, dimensions, size: *const usize| {
        let (record, none) = (f.clCommandNDRangeKernelKHR, ptr::null());
        let (points, point) = (ptr::null(), ptr::null_mut());
        record(raw, null, ptr::null(), kernel, dimensions, none, size, none, 0, points, point, NO_HANDLE)
    };
    expect(launch(step.raw(), 1, &16), CL_INVALID_KERNEL_ARGS);
    step.set_all(arguments![&a, 1_u32]);
    expect(launch(null, 1, &16), CL_INVALID_KERNEL);
    expect(launch(step.raw(), 0, &16), CL_INVALID_WORK_DIMENSION);
    expect(launch(step.raw(), 4, &16), CL_INVALID_WORK_DIMENSION);
    ok(launch(step.raw(), 1, &16));
    let enqueue = |count, queues: *mut cl_command_queue, raw, (number, list): (cl_uint, &[cl_event])| {
        let events = if list.is_empty() { ptr::null() } else { list.as_ptr() };
        (f.clEnqueueCommandBufferKHR)(count, queues, raw, number, events, ptr::null_mut())
    };
    expect(enqueue(0, ptr::null_mut(), raw, (0, &[])), CL_INVALID_OPERATION);
    buffer.finalize();
    expect(fill(raw, null, &[], &a, 4, none, NO_HANDLE), CL_INVALID_OPERATION);
    expect(enqueue(1, ptr::null_mut(), raw, (0, &[])), CL_INVALID_VALUE);
    expect(enqueue(0, &mut setup.queue.raw(), raw, (0, &[])), CL_INVALID_VALUE);
    expect(enqueue(2, [queue; 2].as_mut_ptr(), raw, (0, &[])), CL_INVALID_VALUE);
    expect(enqueue(1, [null].as_mut_ptr(), raw, (0, &[])), CL_INVALID_COMMAND_QUEUE);
    expect(enqueue(1, [other.queue.raw()].as_mut_ptr(), raw, (0, &[])), CL_INVALID_CONTEXT);
    expect(enqueue(0, ptr::null_mut(), null, (0, &[])), CL_INVALID_COMMAND_BUFFER_KHR);
    expect(enqueue(0, ptr::null_mut(), raw, (1, &[])), CL_INVALID_EVENT_WAIT_LIST);
    expect(enqueue(0, ptr::null_mut(), raw, (1, &[null])), CL_INVALID_EVENT_WAIT_LIST);
    let event = other.context.user_event();
    expect(enqueue(0, ptr::null_mut(), raw, (1, &[event.raw()])), CL_INVALID_CONTEXT);
    ok((cl().clSetUserEventStatus)(event.raw(), CL_COMPLETE));
    // Nothing of all this was recorded or enqueued but the one launch.
    finish(&setup.queue);
    assert_eq!(read::<u32>(&setup.queue, &a), [0; 16]);
    buffer.enqueue(None, &[]);
    assert_eq!(read::<u32>(&setup.queue, &a), [1; 16]);
}
