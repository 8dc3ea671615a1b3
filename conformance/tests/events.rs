//! Events: user events, wait lists within and across queues, callbacks, errors that travel, profiling.

use std::ffi::c_void;
use std::ptr;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use lockstep_conformance::commands::{finish, handles, launch, list, marker};
use lockstep_conformance::loader::cl;
use lockstep_conformance::opencl_sys::*;
use lockstep_conformance::{Buffer, Event, Kernel, Queue, Setup, arguments, expect, is_lockstep, ok, read};

/// A kernel that appends its number to a list, so that the order of commands can be seen.
const APPEND: &str = "kernel void append(global int *list, int number) { list[0] += 1; list[list[0]] = number; }";

struct Log {
    setup: Setup,
    list: Buffer,
    kernel: Kernel,
}

impl Log {
    fn new() -> Self {
        let setup = Setup::new();
        let kernel = setup.context.kernel(APPEND, "append");
        let list = setup.context.zeros::<i32>(256);
        Log { setup, list, kernel }
    }

    #[track_caller]
    fn append(&self, queue: &Queue, number: i32, after: &[&Event]) -> Event {
        self.kernel.set_all(arguments![&self.list, number]);
        launch(queue, &self.kernel, &[1], &[1], after)
    }

    fn numbers(&self) -> Vec<i32> {
        let list = read::<i32>(&self.setup.queue, &self.list);
        list[1..=list[0] as usize].to_vec()
    }
}

/// Waits until a condition holds, for things that happen in other threads.
#[track_caller]
fn eventually(what: &str, condition: impl Fn() -> bool) {
    let start = Instant::now();
    while !condition() {
        assert!(start.elapsed() < Duration::from_secs(20), "{what} did not happen");
        std::thread::sleep(Duration::from_millis(1));
    }
}

#[test]
fn queries() {
    let log = Log::new();
    let event = log.append(&log.setup.queue, 1, &[]);
    ok(event.wait());
    assert_eq!(event.status(), CL_COMPLETE);
    assert_eq!(event.info::<usize>(CL_EVENT_COMMAND_QUEUE), log.setup.queue.raw() as usize);
    assert_eq!(event.info::<usize>(CL_EVENT_CONTEXT), log.setup.context.raw() as usize);
    assert_eq!(event.info::<u32>(CL_EVENT_COMMAND_TYPE), CL_COMMAND_NDRANGE_KERNEL);
    if is_lockstep() {
        // Only a hint, says the specification: other drivers count their own uses too.
        assert_eq!(event.info::<u32>(CL_EVENT_REFERENCE_COUNT), 1);
        let other = event.clone();
        assert_eq!(event.info::<u32>(CL_EVENT_REFERENCE_COUNT), 2);
        drop(other);
    }
    expect((cl().clGetEventInfo)(event.raw(), 0x11ff, 0, ptr::null_mut(), ptr::null_mut()), CL_INVALID_VALUE);
}

#[test]
fn command_types() {
    let setup = Setup::new();
    let (a, b) = (setup.context.zeros::<u8>(64), setup.context.zeros::<u8>(64));
    let mut host = [0_u8; 64];
    let queue = setup.queue.raw();
    let (none, host) = (ptr::null(), host.as_mut_ptr().cast::<c_void>());
    let kind = |command: &dyn Fn(*mut cl_event) -> cl_int| {
        let mut event = ptr::null_mut();
        ok(command(&mut event));
        let event = Event::own(event);
        ok(event.wait());
        event.info::<u32>(CL_EVENT_COMMAND_TYPE)
    };
    let (a, b) = (a.raw(), b.raw());
    let zero = [0_usize; 3];
    let zero = zero.as_ptr();
    let region = [4_usize, 4, 1];
    let region = region.as_ptr();
    let cl = cl();
    assert_eq!(
        kind(&|e| (cl.clEnqueueReadBuffer)(queue, a, CL_FALSE, 0, 64, host, 0, none, e)),
        CL_COMMAND_READ_BUFFER
    );
    assert_eq!(
        kind(&|e| (cl.clEnqueueWriteBuffer)(queue, a, CL_FALSE, 0, 64, host, 0, none, e)),
        CL_COMMAND_WRITE_BUFFER
    );
    assert_eq!(kind(&|e| (cl.clEnqueueCopyBuffer)(queue, a, b, 0, 0, 64, 0, none, e)), CL_COMMAND_COPY_BUFFER);
    assert_eq!(kind(&|e| (cl.clEnqueueFillBuffer)(queue, a, host, 4, 0, 64, 0, none, e)), CL_COMMAND_FILL_BUFFER);
    assert_eq!(
        kind(&|e| (cl.clEnqueueReadBufferRect)(queue, a, CL_FALSE, zero, zero, region, 0, 0, 0, 0, host, 0, none, e)),
        CL_COMMAND_READ_BUFFER_RECT
    );
    assert_eq!(
        kind(&|e| (cl.clEnqueueWriteBufferRect)(queue, a, CL_FALSE, zero, zero, region, 0, 0, 0, 0, host, 0, none, e)),
        CL_COMMAND_WRITE_BUFFER_RECT
    );
    assert_eq!(
        kind(&|e| (cl.clEnqueueCopyBufferRect)(queue, a, b, zero, zero, region, 0, 0, 0, 0, 0, none, e)),
        CL_COMMAND_COPY_BUFFER_RECT
    );
    assert_eq!(kind(&|e| (cl.clEnqueueMarkerWithWaitList)(queue, 0, none, e)), CL_COMMAND_MARKER);
    assert_eq!(kind(&|e| (cl.clEnqueueBarrierWithWaitList)(queue, 0, none, e)), CL_COMMAND_BARRIER);
    assert_eq!(kind(&|e| (cl.clEnqueueMigrateMemObjects)(queue, 1, &a, 0, 0, none, e)), CL_COMMAND_MIGRATE_MEM_OBJECTS);
    let mapped = std::cell::Cell::new(ptr::null_mut());
    let map = |e| {
        let mut code = 1;
        mapped.set((cl.clEnqueueMapBuffer)(queue, a, CL_FALSE, CL_MAP_READ, 0, 64, 0, none, e, &mut code));
        code
    };
    assert_eq!(kind(&map), CL_COMMAND_MAP_BUFFER);
    assert_eq!(
        kind(&|e| (cl.clEnqueueUnmapMemObject)(queue, a, mapped.get(), 0, none, e)),
        CL_COMMAND_UNMAP_MEM_OBJECT
    );
    assert_eq!(setup.context.user_event().info::<u32>(CL_EVENT_COMMAND_TYPE), CL_COMMAND_USER);
}

#[test]
fn user_events_hold_commands_back() {
    let log = Log::new();
    let gate = log.setup.context.user_event();
    assert_eq!(gate.status(), CL_SUBMITTED);
    assert_eq!(gate.info::<usize>(CL_EVENT_COMMAND_QUEUE), 0);
    let event = log.append(&log.setup.queue, 5, &[&gate]);
    ok((cl().clFlush)(log.setup.queue.raw()));
    std::thread::sleep(Duration::from_millis(20));
    assert!(event.status() > CL_COMPLETE, "the command did not wait");
    ok(gate.set_status(CL_COMPLETE));
    ok(event.wait());
    assert_eq!(log.numbers(), [5]);
    // "CL_INVALID_OPERATION if the execution_status for event has already been changed by a previous call".
    expect(gate.set_status(CL_COMPLETE), CL_INVALID_OPERATION);
    expect(gate.set_status(-5), CL_INVALID_OPERATION);
}

#[test]
fn user_event_errors() {
    let setup = Setup::new();
    let gate = setup.context.user_event();
    // "CL_INVALID_VALUE if the execution_status is not CL_COMPLETE or a negative integer value".
    for status in [CL_RUNNING, CL_SUBMITTED, CL_QUEUED, 77] {
        expect(gate.set_status(status), CL_INVALID_VALUE);
    }
    let command = marker(&setup.queue, &[]);
    expect(command.set_status(CL_COMPLETE), CL_INVALID_EVENT);
    ok(gate.set_status(CL_COMPLETE));
    ok(gate.wait());
}

#[test]
fn failed_user_events_fail_what_waits() {
    let log = Log::new();
    let gate = log.setup.context.user_event();
    let first = log.append(&log.setup.queue, 1, &[&gate]);
    let other = log.setup.context.queue(0);
    let second = log.append(&other, 2, &[&first]);
    let unrelated = log.append(&log.setup.context.queue(0), 3, &[]);
    ok((cl().clFlush)(log.setup.queue.raw()));
    ok((cl().clFlush)(other.raw()));
    ok(unrelated.wait());
    ok(gate.set_status(-42));
    expect(gate.wait(), CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST);
    expect(first.wait(), CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST);
    expect(second.wait(), CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST);
    assert_eq!(gate.status(), -42);
    assert!(first.status() < 0 && second.status() < 0);
    // Neither command ran, and the queues go on.
    let fresh = log.setup.context.queue(0);
    ok(log.append(&fresh, 4, &[]).wait());
    let list = read::<i32>(&fresh, &log.list);
    assert_eq!(list[1..=list[0] as usize], [3, 4]);
}

#[test]
fn blocking_reads_report_failed_events() {
    let setup = Setup::new();
    let buffer = setup.context.zeros::<u8>(16);
    let gate = setup.context.user_event();
    ok(gate.set_status(-1));
    let mut host = [7_u8; 16];
    let code = (cl().clEnqueueReadBuffer)(
        setup.queue.raw(),
        buffer.raw(),
        CL_TRUE,
        0,
        16,
        host.as_mut_ptr().cast(),
        1,
        &gate.raw(),
        ptr::null_mut(),
    );
    expect(code, CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST);
    assert_eq!(host, [7; 16]);
}

#[test]
fn waiting_for_several_events() {
    let log = Log::new();
    let queues: Vec<Queue> = (0..4).map(|_| log.setup.context.queue(0)).collect();
    let mut events: Vec<Event> = vec![];
    for number in 0..40 {
        let after: Vec<&Event> = events.last().into_iter().collect();
        let event = log.append(&queues[number as usize % 4], number, &after);
        events.push(event);
    }
    queues.iter().for_each(|queue| ok((cl().clFlush)(queue.raw())));
    let all = handles(&events.iter().collect::<Vec<_>>());
    ok((cl().clWaitForEvents)(all.len() as cl_uint, all.as_ptr()));
    assert!(events.iter().all(|event| event.status() == CL_COMPLETE));
    assert_eq!(log.numbers(), (0..40).collect::<Vec<i32>>());
}

#[test]
fn wait_list_errors() {
    let setup = Setup::new();
    let wait = cl().clWaitForEvents;
    let event = marker(&setup.queue, &[]);
    // "CL_INVALID_VALUE if num_events is zero or event_list is NULL".
    expect(wait(0, ptr::null()), CL_INVALID_VALUE);
    expect(wait(0, &event.raw()), CL_INVALID_VALUE);
    expect(wait(1, ptr::null()), CL_INVALID_VALUE);
    let elsewhere = Setup::new();
    let foreign = marker(&elsewhere.queue, &[]);
    // "CL_INVALID_CONTEXT if events specified in event_list do not belong to the same context".
    let mixed = [event.raw(), foreign.raw()];
    expect(wait(2, mixed.as_ptr()), CL_INVALID_CONTEXT);
    let enqueue = |count, events| (cl().clEnqueueMarkerWithWaitList)(setup.queue.raw(), count, events, ptr::null_mut());
    expect(enqueue(1, ptr::null()), CL_INVALID_EVENT_WAIT_LIST);
    expect(enqueue(0, &event.raw()), CL_INVALID_EVENT_WAIT_LIST);
    // "CL_INVALID_CONTEXT if the context associated with command_queue and events in event_wait_list are not the same".
    expect(enqueue(1, &foreign.raw()), CL_INVALID_CONTEXT);
}

static CALLS: Mutex<Vec<(usize, cl_int)>> = Mutex::new(Vec::new());

extern "C" fn record(_: cl_event, status: cl_int, user_data: *mut c_void) {
    CALLS.lock().expect("no panic").push((user_data as usize, status));
}

fn calls(number: usize) -> Vec<cl_int> {
    CALLS.lock().expect("no panic").iter().filter(|call| call.0 == number).map(|call| call.1).collect()
}

fn callback(event: &Event, status: cl_int, number: usize) -> cl_int {
    (cl().clSetEventCallback)(event.raw(), status, Some(record), number as *mut c_void)
}

#[test]
fn callbacks_for_every_status() {
    let log = Log::new();
    let gate = log.setup.context.user_event();
    let event = log.append(&log.setup.queue, 1, &[&gate]);
    ok(callback(&event, CL_SUBMITTED, 11));
    ok(callback(&event, CL_RUNNING, 12));
    ok(callback(&event, CL_COMPLETE, 13));
    ok(callback(&event, CL_COMPLETE, 13));
    ok((cl().clFlush)(log.setup.queue.raw()));
    std::thread::sleep(Duration::from_millis(10));
    assert!(calls(12).is_empty() && calls(13).is_empty(), "called too early");
    ok(gate.set_status(CL_COMPLETE));
    eventually("all callbacks", || calls(11).len() == 1 && calls(12).len() == 1 && calls(13).len() == 2);
    assert_eq!((calls(11), calls(12), calls(13)), (vec![CL_SUBMITTED], vec![CL_RUNNING], vec![CL_COMPLETE; 2]));
    // A callback for what has already happened is called at once.
    ok(callback(&event, CL_COMPLETE, 14));
    eventually("a late callback", || calls(14) == [CL_COMPLETE]);
}

#[test]
fn callbacks_report_failures() {
    let log = Log::new();
    let gate = log.setup.context.user_event();
    let event = log.append(&log.setup.queue, 1, &[&gate]);
    ok(callback(&event, CL_COMPLETE, 21));
    ok(callback(&gate, CL_COMPLETE, 22));
    ok((cl().clFlush)(log.setup.queue.raw()));
    ok(gate.set_status(-9));
    eventually("both callbacks", || calls(21).len() == 1 && calls(22) == [-9]);
    assert!(calls(21)[0] < 0);
}

#[test]
fn callback_errors() {
    let setup = Setup::new();
    let event = marker(&setup.queue, &[]);
    let set = cl().clSetEventCallback;
    expect(set(event.raw(), CL_COMPLETE, None, ptr::null_mut()), CL_INVALID_VALUE);
    expect(set(event.raw(), CL_QUEUED, Some(record), ptr::null_mut()), CL_INVALID_VALUE);
    expect(set(event.raw(), 9, Some(record), ptr::null_mut()), CL_INVALID_VALUE);
    finish(&setup.queue);
}

static ENQUEUED_FROM_CALLBACK: AtomicBool = AtomicBool::new(false);
static QUEUE_OF_CALLBACK: Mutex<usize> = Mutex::new(0);

extern "C" fn enqueue_more(_: cl_event, _: cl_int, _: *mut c_void) {
    let queue = *QUEUE_OF_CALLBACK.lock().expect("no panic") as cl_command_queue;
    let code = (cl().clEnqueueMarkerWithWaitList)(queue, 0, ptr::null(), ptr::null_mut());
    let flushed = (cl().clFlush)(queue);
    ENQUEUED_FROM_CALLBACK.store(code == CL_SUCCESS && flushed == CL_SUCCESS, Ordering::SeqCst);
}

#[test]
fn callbacks_may_enqueue() {
    let setup = Setup::new();
    *QUEUE_OF_CALLBACK.lock().expect("no panic") = setup.queue.raw() as usize;
    let gate = setup.context.user_event();
    let event = marker(&setup.queue, &[&gate]);
    ok((cl().clSetEventCallback)(event.raw(), CL_COMPLETE, Some(enqueue_more), ptr::null_mut()));
    ok((cl().clFlush)(setup.queue.raw()));
    ok(gate.set_status(CL_COMPLETE));
    eventually("the callback", || ENQUEUED_FROM_CALLBACK.load(Ordering::SeqCst));
    finish(&setup.queue);
}

#[test]
fn profiling_times_are_in_order() {
    let setup = Setup::new();
    let queue = setup.context.queue(CL_QUEUE_PROFILING_ENABLE);
    let source = "kernel void f(global float *a) {
        float x = a[get_global_id(0)];
        for (int i = 0; i < 1000; ++i) x = x * 0.5f + 1.0f;
        a[get_global_id(0)] = x;
    }";
    let kernel = setup.context.kernel(source, "f");
    let buffer = setup.context.zeros::<f32>(4096);
    kernel.set(0, &buffer);
    let mut last_end = 0;
    for _ in 0..5 {
        let event = launch(&queue, &kernel, &[4096], &[], &[]);
        ok(event.wait());
        let times: Vec<u64> = [
            CL_PROFILING_COMMAND_QUEUED,
            CL_PROFILING_COMMAND_SUBMIT,
            CL_PROFILING_COMMAND_START,
            CL_PROFILING_COMMAND_END,
            CL_PROFILING_COMMAND_COMPLETE,
        ]
        .map(|name| event.time(name))
        .to_vec();
        assert!(times.is_sorted(), "{times:?}");
        assert!(times[0] > 0 && times[3] > times[2], "the kernel took no time: {times:?}");
        assert!(times[2] >= last_end, "an in-order queue overlapped two commands");
        last_end = times[3];
    }
}

#[test]
fn profiling_errors() {
    let setup = Setup::new();
    let profiled = setup.context.queue(CL_QUEUE_PROFILING_ENABLE);
    let get = |event: &Event, name| {
        let mut time = 0_u64;
        (cl().clGetEventProfilingInfo)(event.raw(), name, 8, (&raw mut time).cast(), ptr::null_mut())
    };
    let plain = marker(&setup.queue, &[]);
    finish(&setup.queue);
    // "CL_PROFILING_INFO_NOT_AVAILABLE if the CL_QUEUE_PROFILING_ENABLE flag is not set for the command-queue, if the
    // execution status of the command identified by event is not CL_COMPLETE or if event is a user event object".
    expect(get(&plain, CL_PROFILING_COMMAND_START), CL_PROFILING_INFO_NOT_AVAILABLE);
    let gate = setup.context.user_event();
    expect(get(&gate, CL_PROFILING_COMMAND_START), CL_PROFILING_INFO_NOT_AVAILABLE);
    let waiting = marker(&profiled, &[&gate]);
    expect(get(&waiting, CL_PROFILING_COMMAND_END), CL_PROFILING_INFO_NOT_AVAILABLE);
    ok(gate.set_status(CL_COMPLETE));
    finish(&profiled);
    ok(get(&waiting, CL_PROFILING_COMMAND_END));
    expect(get(&waiting, 0x12ff), CL_INVALID_VALUE);
}

#[test]
fn events_outlive_queue_and_context() {
    let log = Log::new();
    let event = log.append(&log.setup.queue, 1, &[]);
    finish(&log.setup.queue);
    drop(log);
    assert_eq!(event.status(), CL_COMPLETE);
    ok(event.wait());
}

#[test]
fn a_long_chain_of_events() {
    let log = Log::new();
    let out_of_order = log.setup.context.queue(CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE);
    let gate = log.setup.context.user_event();
    let mut last = gate.clone();
    for _ in 0..2000 {
        last = marker(&out_of_order, &[&last]);
    }
    ok((cl().clFlush)(out_of_order.raw()));
    ok(gate.set_status(CL_COMPLETE));
    ok(last.wait());
    finish(&out_of_order);
}

#[test]
fn a_wide_wait_list() {
    let log = Log::new();
    let out_of_order = log.setup.context.queue(CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE);
    let gates: Vec<Event> = (0..100).map(|_| log.setup.context.user_event()).collect();
    let all = handles(&gates.iter().collect::<Vec<_>>());
    let mut event = ptr::null_mut();
    ok((cl().clEnqueueBarrierWithWaitList)(out_of_order.raw(), 100, list(&all), &mut event));
    let event = Event::own(event);
    ok((cl().clFlush)(out_of_order.raw()));
    for gate in &gates {
        assert!(event.status() > CL_COMPLETE);
        ok(gate.set_status(CL_COMPLETE));
    }
    ok(event.wait());
}
