//! Command queues: creation and queries, order, markers and barriers, native kernels, and objects released while
//! commands use them.

use std::ffi::c_void;
use std::ptr;
use std::sync::atomic::{AtomicI32, Ordering};

use lockstep_conformance::commands::{finish, launch, marker};
use lockstep_conformance::loader::{cl, device};
use lockstep_conformance::opencl_sys::*;
use lockstep_conformance::{
    Buffer, Event, Kernel, Queue, Random, Setup, arguments, expect, info, is_lockstep, ok, read,
};

/// Adds to every element and returns the event.
#[track_caller]
fn add(queue: &Queue, kernel: &Kernel, buffer: &Buffer, by: i32, after: &[&Event]) -> Event {
    kernel.set_all(arguments![buffer, by]);
    launch(queue, kernel, &[64], &[], after)
}

/// `x = x * 3 + by`: what comes out tells the order.
const ADVANCE: &str =
    "kernel void advance(global int *a, int by) { size_t g = get_global_id(0); a[g] = a[g] * 3 + by; }";

fn steps(numbers: impl IntoIterator<Item = i32>) -> i32 {
    numbers.into_iter().fold(0, |x, by| x.wrapping_mul(3).wrapping_add(by))
}

const OUT_OF_ORDER: cl_command_queue_properties = CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE;

#[test]
fn queries() {
    let setup = Setup::new();
    let both = OUT_OF_ORDER | CL_QUEUE_PROFILING_ENABLE;
    let queue = setup.context.queue(both);
    assert_eq!(queue.info::<u64>(CL_QUEUE_PROPERTIES), both);
    assert_eq!(queue.info::<usize>(CL_QUEUE_CONTEXT), setup.context.raw() as usize);
    assert_eq!(queue.info::<usize>(CL_QUEUE_DEVICE), device() as usize);
    assert_eq!(queue.info::<u32>(CL_QUEUE_REFERENCE_COUNT), 1);
    assert_eq!(queue.info::<usize>(CL_QUEUE_DEVICE_DEFAULT), 0);
    assert_eq!(queue.info_array::<u64>(CL_QUEUE_PROPERTIES_ARRAY), [u64::from(CL_QUEUE_PROPERTIES), both, 0]);
    let get = |name| (cl().clGetCommandQueueInfo)(queue.raw(), name, 0, ptr::null_mut(), ptr::null_mut());
    // "CL_INVALID_COMMAND_QUEUE if command_queue ... is not a valid command-queue for param_name".
    expect(get(CL_QUEUE_SIZE), CL_INVALID_COMMAND_QUEUE);
    expect(get(0x10ff), CL_INVALID_VALUE);
}

#[test]
fn the_deprecated_way_of_creation() {
    let setup = Setup::new();
    let mut code = 1;
    let create = cl().clCreateCommandQueue;
    let queue = Queue::own(create(setup.context.raw(), device(), CL_QUEUE_PROFILING_ENABLE, &mut code));
    ok(code);
    assert_eq!(queue.info::<u64>(CL_QUEUE_PROPERTIES), CL_QUEUE_PROFILING_ENABLE);
    // "If command_queue was created using clCreateCommandQueue ... param_value_size_ret returns 0".
    assert!(queue.info_array::<u64>(CL_QUEUE_PROPERTIES_ARRAY).is_empty());
    assert!(create(setup.context.raw(), device(), 1 << 20, &mut code).is_null());
    expect(code, CL_INVALID_VALUE);
}

#[test]
fn bad_properties() {
    let setup = Setup::new();
    let create = |properties: &[cl_queue_properties]| {
        let mut code = 1;
        let queue =
            (cl().clCreateCommandQueueWithProperties)(setup.context.raw(), device(), properties.as_ptr(), &mut code);
        assert!(queue.is_null());
        code
    };
    let bits = CL_QUEUE_PROPERTIES as cl_queue_properties;
    expect(create(&[0x7777, 1, 0]), CL_INVALID_VALUE);
    expect(create(&[bits, 1 << 20, 0]), CL_INVALID_VALUE);
    // "CL_INVALID_QUEUE_PROPERTIES if values specified in properties are valid but are not supported by the device".
    let on_device = CL_QUEUE_ON_DEVICE | OUT_OF_ORDER;
    expect(create(&[bits, on_device, 0]), CL_INVALID_QUEUE_PROPERTIES);
    // "CL_QUEUE_ON_DEVICE_DEFAULT can only be used with CL_QUEUE_ON_DEVICE".
    let code = create(&[bits, CL_QUEUE_ON_DEVICE_DEFAULT, 0]);
    assert!(code == CL_INVALID_VALUE || code == CL_INVALID_QUEUE_PROPERTIES);
}

#[test]
fn in_order() {
    let setup = Setup::new();
    let kernel = setup.context.kernel(ADVANCE, "advance");
    let buffer = setup.context.zeros::<i32>(64);
    for by in 0..200 {
        add(&setup.queue, &kernel, &buffer, by, &[]);
    }
    assert_eq!(read::<i32>(&setup.queue, &buffer), [steps(0..200); 64]);
}

#[test]
fn out_of_order_by_events() {
    let setup = Setup::new();
    let queue = setup.context.queue(OUT_OF_ORDER);
    let kernel = setup.context.kernel(ADVANCE, "advance");
    let buffers: Vec<Buffer> = (0..8).map(|_| setup.context.zeros::<i32>(64)).collect();
    let mut last: Vec<Option<Event>> = vec![None; 8];
    for by in 0..50 {
        for (buffer, last) in buffers.iter().zip(&mut last) {
            let after: Vec<&Event> = last.iter().collect();
            *last = Some(add(&queue, &kernel, buffer, by, &after));
        }
    }
    finish(&queue);
    for buffer in &buffers {
        assert_eq!(read::<i32>(&queue, buffer), [steps(0..50); 64]);
    }
}

#[test]
fn out_of_order_commands_overtake() {
    let setup = Setup::new();
    let queue = setup.context.queue(OUT_OF_ORDER);
    let kernel = setup.context.kernel(ADVANCE, "advance");
    let buffer = setup.context.zeros::<i32>(64);
    let gate = setup.context.user_event();
    let held = add(&queue, &kernel, &buffer, 7, &[&gate]);
    let free = add(&queue, &kernel, &buffer, 5, &[]);
    // Would wait for ever if the queue kept the order.
    ok(free.wait());
    assert!(held.status() > CL_COMPLETE);
    ok(gate.set_status(CL_COMPLETE));
    finish(&queue);
    assert_eq!(read::<i32>(&queue, &buffer), [steps([5, 7]); 64]);
}

#[test]
fn barriers_separate() {
    let setup = Setup::new();
    let queue = setup.context.queue(OUT_OF_ORDER);
    let kernel = setup.context.kernel(ADVANCE, "advance");
    let buffer = setup.context.zeros::<i32>(64);
    for by in 0..100 {
        add(&queue, &kernel, &buffer, by, &[]);
        ok((cl().clEnqueueBarrierWithWaitList)(queue.raw(), 0, ptr::null(), ptr::null_mut()));
    }
    finish(&queue);
    assert_eq!(read::<i32>(&queue, &buffer), [steps(0..100); 64]);
}

#[test]
fn barriers_with_wait_list_hold_back_what_follows() {
    let setup = Setup::new();
    let queue = setup.context.queue(OUT_OF_ORDER);
    let kernel = setup.context.kernel(ADVANCE, "advance");
    let buffer = setup.context.zeros::<i32>(64);
    let gate = setup.context.user_event();
    let mut barrier = ptr::null_mut();
    ok((cl().clEnqueueBarrierWithWaitList)(queue.raw(), 1, &gate.raw(), &mut barrier));
    let barrier = Event::own(barrier);
    let after = add(&queue, &kernel, &buffer, 4, &[]);
    ok((cl().clFlush)(queue.raw()));
    std::thread::sleep(std::time::Duration::from_millis(20));
    assert!(barrier.status() > CL_COMPLETE && after.status() > CL_COMPLETE);
    ok(gate.set_status(CL_COMPLETE));
    ok(after.wait());
    assert_eq!(barrier.status(), CL_COMPLETE);
    assert_eq!(read::<i32>(&queue, &buffer), [4; 64]);
}

#[test]
fn markers_wait_for_what_came_before() {
    let setup = Setup::new();
    let queue = setup.context.queue(OUT_OF_ORDER);
    let kernel = setup.context.kernel(ADVANCE, "advance");
    let buffer = setup.context.zeros::<i32>(64);
    let gate = setup.context.user_event();
    let held = add(&queue, &kernel, &buffer, 1, &[&gate]);
    let all = marker(&queue, &[]);
    let none = marker(&queue, &[&setup_done(&setup)]);
    // A marker with a wait list waits for its list only, and markers hold nothing back.
    ok(none.wait());
    ok(add(&queue, &kernel, &setup.context.zeros::<i32>(64), 1, &[]).wait());
    assert!(all.status() > CL_COMPLETE && held.status() > CL_COMPLETE);
    ok(gate.set_status(CL_COMPLETE));
    ok(all.wait());
    assert_eq!(held.status(), CL_COMPLETE);
}

/// An event that has happened.
fn setup_done(setup: &Setup) -> Event {
    let event = setup.context.user_event();
    ok(event.set_status(CL_COMPLETE));
    event
}

#[test]
fn the_deprecated_markers_and_barriers() {
    let setup = Setup::new();
    let queue = setup.context.queue(OUT_OF_ORDER);
    let kernel = setup.context.kernel(ADVANCE, "advance");
    let buffer = setup.context.zeros::<i32>(64);
    let gate = setup.context.user_event();
    add(&queue, &kernel, &buffer, 1, &[&gate]);
    let mut event = ptr::null_mut();
    ok((cl().clEnqueueMarker)(queue.raw(), &mut event));
    let event = Event::own(event);
    ok((cl().clEnqueueWaitForEvents)(queue.raw(), 1, &event.raw()));
    add(&queue, &kernel, &buffer, 2, &[]);
    ok((cl().clEnqueueBarrier)(queue.raw()));
    add(&queue, &kernel, &buffer, 3, &[]);
    ok(gate.set_status(CL_COMPLETE));
    finish(&queue);
    assert_eq!(read::<i32>(&queue, &buffer), [steps([1, 2, 3]); 64]);
    expect((cl().clEnqueueMarker)(queue.raw(), ptr::null_mut()), CL_INVALID_VALUE);
    expect((cl().clEnqueueWaitForEvents)(queue.raw(), 0, ptr::null()), CL_INVALID_VALUE);
}

#[test]
fn random_graphs_of_commands() {
    let setup = Setup::new();
    let queues = [setup.context.queue(OUT_OF_ORDER), setup.context.queue(OUT_OF_ORDER), setup.context.queue(0)];
    let source = "kernel void mix(global const int *a, global const int *b, global int *c, int by) {
        size_t g = get_global_id(0);
        c[g] = a[g] * 3 + b[63 - g] + by;
    }";
    let kernel = setup.context.kernel(source, "mix");
    let mut random = Random::new(31);
    for _ in 0..10 {
        let mut model: Vec<Vec<i32>> = (0..6).map(|_| random.ints(64, 1000)).collect();
        let buffers: Vec<Buffer> = model.iter().map(|values| setup.context.with_values(values)).collect();
        // The events of the last write of each buffer and of the reads since.
        let mut writes: Vec<Option<Event>> = vec![None; 6];
        let mut reads: Vec<Vec<Event>> = vec![vec![]; 6];
        let gate = setup.context.user_event();
        for _ in 0..60 {
            let [a, b, c] = std::array::from_fn(|_| random.below(6));
            if a == c || b == c {
                continue;
            }
            let by = random.below(100) as i32;
            kernel.set_all(arguments![&buffers[a], &buffers[b], &buffers[c], by]);
            let after: Vec<&Event> =
                writes[a].iter().chain(&writes[b]).chain(&writes[c]).chain(&reads[c]).chain([&gate]).collect();
            let event = launch(&queues[random.below(3)], &kernel, &[64], &[], &after);
            model[c] =
                (0..64).map(|g| model[a][g].wrapping_mul(3).wrapping_add(model[b][63 - g]).wrapping_add(by)).collect();
            reads[a].push(event.clone());
            reads[b].push(event.clone());
            reads[c].clear();
            writes[c] = Some(event);
        }
        queues.iter().for_each(|queue| ok((cl().clFlush)(queue.raw())));
        ok(gate.set_status(CL_COMPLETE));
        queues.iter().for_each(finish);
        for (buffer, values) in buffers.iter().zip(&model) {
            assert_eq!(read::<i32>(&setup.queue, buffer), *values);
        }
    }
}

#[test]
fn queues_of_several_threads() {
    let setup = Setup::new();
    let program = setup.context.build(ADVANCE, "");
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                let (queue, kernel) = (setup.context.queue(0), program.kernel("advance"));
                let buffer = setup.context.zeros::<i32>(64);
                for by in 0..100 {
                    add(&queue, &kernel, &buffer, by, &[]);
                }
                assert_eq!(read::<i32>(&queue, &buffer), [steps(0..100); 64]);
            });
        }
    });
}

#[test]
fn one_queue_of_several_threads() {
    let setup = Setup::new();
    let program = setup.context.build("kernel void f(global int *a) { atomic_inc(a); }", "");
    let count = setup.context.zeros::<i32>(1);
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                let kernel = program.kernel("f");
                kernel.set(0, &count);
                for _ in 0..50 {
                    launch(&setup.queue, &kernel, &[10], &[], &[]);
                }
                finish(&setup.queue);
            });
        }
    });
    assert_eq!(read::<i32>(&setup.queue, &count), [2000]);
}

static NATIVE_SUM: AtomicI32 = AtomicI32::new(0);

/// The arguments of the native kernel: two buffers' addresses and a number.
type NativeArguments = [usize; 3];

extern "C" fn native(arguments: *mut c_void) {
    let arguments = lockstep_conformance::objects::native_arguments::<NativeArguments>(arguments);
    let values = lockstep_conformance::objects::native_memory::<i32>(arguments[0], 4);
    NATIVE_SUM.fetch_add(values.iter().sum::<i32>() + arguments[2] as i32, Ordering::SeqCst);
    if arguments[1] == 0 {
        NATIVE_SUM.fetch_add(10_000, Ordering::SeqCst);
    }
}

#[test]
fn native_kernels() {
    let supported = info::value::<u64>(|size, value, returned| {
        (cl().clGetDeviceInfo)(device(), CL_DEVICE_EXECUTION_CAPABILITIES, size, value, returned)
    }) & CL_EXEC_NATIVE_KERNEL;
    if supported == 0 {
        assert!(!is_lockstep());
        return;
    }
    let setup = Setup::new();
    let (buffer, other) = (setup.context.with_values(&[1_i32, 20, 300, 4000]), setup.context.zeros::<i32>(4));
    let mut arguments: NativeArguments = [0, 0, 5];
    let places = [(&raw const arguments[0]).cast::<c_void>(), (&raw const arguments[1]).cast::<c_void>()];
    let memory = [buffer.raw(), other.raw()];
    let enqueue = |function, size, count, memory: *const cl_mem, places: *const *const c_void, event| {
        let arguments = (&raw const arguments).cast_mut().cast();
        (cl().clEnqueueNativeKernel)(
            setup.queue.raw(),
            function,
            arguments,
            size,
            count,
            memory,
            places,
            0,
            ptr::null(),
            event,
        )
    };
    let mut event = ptr::null_mut();
    ok(enqueue(Some(native), 24, 2, memory.as_ptr(), places.as_ptr(), &mut event));
    let event = Event::own(event);
    ok(event.wait());
    assert_eq!(event.info::<u32>(CL_EVENT_COMMAND_TYPE), CL_COMMAND_NATIVE_KERNEL);
    assert_eq!(NATIVE_SUM.load(Ordering::SeqCst), 4326);
    let none = ptr::null_mut();
    expect(enqueue(None, 24, 2, memory.as_ptr(), places.as_ptr(), none), CL_INVALID_VALUE);
    // "CL_INVALID_VALUE if args is a NULL value and num_mem_objects > 0", "if num_mem_objects > 0 and mem_list or
    // args_mem_loc are NULL", "if num_mem_objects = 0 and mem_list or args_mem_loc are not NULL".
    expect(enqueue(Some(native), 24, 2, ptr::null(), places.as_ptr(), none), CL_INVALID_VALUE);
    expect(enqueue(Some(native), 24, 2, memory.as_ptr(), ptr::null(), none), CL_INVALID_VALUE);
    expect(enqueue(Some(native), 24, 0, memory.as_ptr(), places.as_ptr(), none), CL_INVALID_VALUE);
    expect(enqueue(Some(native), 0, 0, ptr::null(), ptr::null(), none), CL_INVALID_VALUE);
    let broken = [buffer.raw(), setup.queue.raw()];
    if is_lockstep() {
        expect(enqueue(Some(native), 24, 2, broken.as_ptr(), places.as_ptr(), none), CL_INVALID_MEM_OBJECT);
    }
    arguments[2] = 0;
    assert_eq!(arguments, [0, 0, 0], "the driver changed the application's copy of the arguments");
}

#[test]
fn objects_released_while_commands_use_them() {
    let setup = Setup::new();
    let result = setup.context.zeros::<i32>(64);
    let gate = setup.context.user_event();
    {
        let context = setup.context.clone();
        let queue = context.queue(0);
        let program = context.build(
            "kernel void f(global int *a, global int *b) { b[get_global_id(0)] = a[get_global_id(0)] + 1; }",
            "",
        );
        let kernel = program.kernel("f");
        let input = context.with_values(&(0..64).collect::<Vec<i32>>());
        kernel.set_all(arguments![&input, &result]);
        launch(&queue, &kernel, &[64], &[], &[&gate]);
        ok((cl().clFlush)(queue.raw()));
        // Kernel, program, input, queue and event are all released here, with the command still waiting.
    }
    ok(gate.set_status(CL_COMPLETE));
    let start = std::time::Instant::now();
    while read::<i32>(&setup.queue, &result)[63] != 64 {
        assert!(start.elapsed() < std::time::Duration::from_secs(20), "the command did not run");
        std::thread::sleep(std::time::Duration::from_millis(1));
    }
    assert_eq!(read::<i32>(&setup.queue, &result), (1..=64).collect::<Vec<i32>>());
}

#[test]
fn flush_and_finish_with_nothing_to_do() {
    let setup = Setup::new();
    ok((cl().clFlush)(setup.queue.raw()));
    finish(&setup.queue);
    let queue = setup.context.queue(OUT_OF_ORDER);
    ok((cl().clFlush)(queue.raw()));
    finish(&queue);
}

#[test]
fn releasing_a_queue_flushes_it() {
    let setup = Setup::new();
    let kernel = setup.context.kernel(ADVANCE, "advance");
    let buffer = setup.context.zeros::<i32>(64);
    let event = add(&setup.context.queue(0), &kernel, &buffer, 9, &[]);
    ok(event.wait());
    assert_eq!(read::<i32>(&setup.queue, &buffer), [9; 64]);
}

#[test]
fn reference_counts() {
    let setup = Setup::new();
    let queue = setup.context.queue(0);
    let other = queue.clone();
    assert_eq!(queue.info::<u32>(CL_QUEUE_REFERENCE_COUNT), 2);
    drop(queue);
    assert_eq!(other.info::<u32>(CL_QUEUE_REFERENCE_COUNT), 1);
    finish(&other);
}

#[test]
fn device_queues_are_not_supported() {
    let setup = Setup::new();
    let code = (cl().clSetDefaultDeviceCommandQueue)(setup.context.raw(), device(), setup.queue.raw());
    // "CL_INVALID_OPERATION if device does not support a replaceable default on-device queue", or the queue is none.
    assert!(code == CL_INVALID_OPERATION || code == CL_INVALID_COMMAND_QUEUE);
}
