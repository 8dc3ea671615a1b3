//! Shared virtual memory: allocations, kernels that follow addresses of the host, commands on it, buffers over it, and
//! atomic operations of host and kernel at the same time.

use std::ffi::c_void;
use std::ptr;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::mpsc;
use std::time::Duration;

use lockstep_conformance::loader::{cl, device, is_lockstep};
use lockstep_conformance::objects::{Buffer, Context, Event, Kernel, Queue};
use lockstep_conformance::opencl_sys::*;
use lockstep_conformance::{Setup, Svm, arguments, expect, info, ok, read, run};

const NONE: *const cl_event = ptr::null();
const NO_EVENT: *mut cl_event = ptr::null_mut();

fn capabilities() -> cl_device_svm_capabilities {
    info::value(|size, value, returned| {
        (cl().clGetDeviceInfo)(device(), CL_DEVICE_SVM_CAPABILITIES, size, value, returned)
    })
}

/// Whether the device has all of this; this driver's has.
fn has(wanted: cl_device_svm_capabilities) -> bool {
    let there = capabilities() & wanted == wanted;
    assert!(there || !is_lockstep());
    there
}

#[track_caller]
fn set_pointer(kernel: &Kernel, index: cl_uint, address: *const c_void) {
    ok((cl().clSetKernelArgSVMPointer)(kernel.raw(), index, address));
}

fn finish(queue: &Queue) {
    ok((cl().clFinish)(queue.raw()));
}

#[test]
fn allocations_are_aligned_and_what_is_wrong_is_refused() {
    if !has(CL_DEVICE_SVM_COARSE_GRAIN_BUFFER | CL_DEVICE_SVM_FINE_GRAIN_BUFFER | CL_DEVICE_SVM_ATOMICS) {
        return;
    }
    let context = Context::new();
    let alloc = |flags, size, alignment| (cl().clSVMAlloc)(context.raw(), flags, size, alignment);
    let fine = CL_MEM_READ_WRITE | CL_MEM_SVM_FINE_GRAIN_BUFFER;
    for flags in [0, CL_MEM_READ_ONLY, CL_MEM_WRITE_ONLY, CL_MEM_READ_WRITE, fine, fine | CL_MEM_SVM_ATOMICS] {
        for alignment in [0_u32, 1, 2, 4, 8, 16, 32, 64, 128] {
            let start = alloc(flags, 3, alignment);
            assert!(!start.is_null(), "flags {flags:#x}, alignment {alignment}");
            assert_eq!(start as usize % if alignment == 0 { 128 } else { alignment as usize }, 0);
            (cl().clSVMFree)(context.raw(), start);
        }
    }
    let most: u64 = info::value(|size, value, returned| {
        (cl().clGetDeviceInfo)(device(), CL_DEVICE_MAX_MEM_ALLOC_SIZE, size, value, returned)
    });
    let wrong = [
        (CL_MEM_READ_WRITE, 0, 0),
        (CL_MEM_READ_WRITE, most as usize + 1, 0),
        (CL_MEM_READ_WRITE, 8, 3),
        (CL_MEM_READ_WRITE, 8, 1 << 20),
        (CL_MEM_SVM_ATOMICS, 8, 0),
        (CL_MEM_READ_WRITE | CL_MEM_READ_ONLY, 8, 0),
        (CL_MEM_READ_WRITE | CL_MEM_USE_HOST_PTR, 8, 0),
        (1 << 40, 8, 0),
    ];
    for (flags, size, alignment) in wrong {
        assert!(alloc(flags, size, alignment).is_null(), "flags {flags:#x}, size {size}, alignment {alignment}");
    }
    // "If a NULL pointer is passed in svm_pointer, no action occurs."
    (cl().clSVMFree)(context.raw(), ptr::null_mut());
}

#[test]
fn memory_outlives_the_applications_last_reference_to_its_context() {
    if !has(CL_DEVICE_SVM_FINE_GRAIN_BUFFER) {
        return;
    }
    let context = Context::new();
    let memory = Svm::<u32>::new(&context, CL_MEM_SVM_FINE_GRAIN_BUFFER, 4);
    drop(context);
    memory.write(0, &[1, 2, 3, 4]);
    assert_eq!(memory.values(), [1, 2, 3, 4]);
}

#[test]
fn pointers_of_a_kernel_may_lead_to_the_same_bytes() {
    if !has(CL_DEVICE_SVM_COARSE_GRAIN_BUFFER) {
        return;
    }
    let setup = Setup::new();
    // What is written through one argument is read through the others, in the order of the program.
    let source = "kernel void f(global int *a, global int *b, global const int *c, global int *sum) {
        int g = (int)get_global_id(0), s = 0;
        for (int i = 0; i < 5; ++i) {
            a[g] = g + i;
            s += b[g];
            b[g] = 10 * i;
            s += c[g] * 100;
        }
        sum[g] = s + a[g];
    }";
    let kernel = setup.context.kernel(source, "f");
    let memory = Svm::<i32>::new(&setup.context, CL_MEM_READ_WRITE, 1000);
    let sum = setup.context.zeros::<i32>(100);
    // Pointers into one allocation, not to its beginning.
    for index in 0..3 {
        set_pointer(&kernel, index, memory.at(77));
    }
    kernel.set(3, &sum);
    run(&setup.queue, &kernel, &[100], &[]);
    let wanted: Vec<i32> = (0..100).map(|g| (0..5).map(|i| g + i + 1000 * i).sum::<i32>() + 40).collect();
    assert_eq!(read::<i32>(&setup.queue, &sum), wanted);
    let mut bytes = vec![0; 1000];
    bytes[77..177].fill(40);
    assert_eq!(memory.values(), bytes);
}

#[test]
fn arguments_overlap_by_a_part() {
    if !has(CL_DEVICE_SVM_COARSE_GRAIN_BUFFER) {
        return;
    }
    let setup = Setup::new();
    // One work-item moves values along the memory, so each step reads what the last one wrote.
    let source = "kernel void f(global int *to, global const int *from, int n) {
        for (int i = 0; i < n; ++i)
            to[i] = from[i] + 1;
    }";
    let kernel = setup.context.kernel(source, "f");
    let memory = Svm::<i32>::new(&setup.context, CL_MEM_READ_WRITE, 257);
    set_pointer(&kernel, 0, memory.at(1));
    set_pointer(&kernel, 1, memory.at(0));
    kernel.set(2, 256_i32);
    run(&setup.queue, &kernel, &[1], &[]);
    assert_eq!(memory.values(), (0..257).collect::<Vec<_>>());
}

/// A list's element: the next one's address, and a value.
type Node = [u64; 2];

#[test]
fn kernels_follow_and_make_lists_of_addresses() {
    if !has(CL_DEVICE_SVM_COARSE_GRAIN_BUFFER) {
        return;
    }
    let setup = Setup::new();
    let source = "typedef struct node { global struct node *next; ulong value; } node;
    kernel void make(global node *nodes, uint lists, uint length) {
        uint g = (uint)get_global_id(0);
        global node *n = nodes + g;
        for (uint i = 0; i < length; ++i) {
            n->value = g * 1000 + i;
            n->next = i + 1 < length ? n + lists : 0;
            n = n->next;
        }
    }
    kernel void change(global node *nodes, global ulong *lengths) {
        uint g = (uint)get_global_id(0);
        ulong length = 0;
        for (global node *n = nodes + g; n; n = n->next) {
            n->value = n->value * 2 + 1;
            length++;
        }
        lengths[g] = length;
    }";
    let program = setup.context.build(source, "");
    let (make, change) = (program.kernel("make"), program.kernel("change"));
    let (lists, length) = (37_usize, 11_usize);
    let nodes = Svm::<Node>::new(&setup.context, CL_MEM_READ_WRITE, lists * length);
    set_pointer(&make, 0, nodes.at(0));
    make.set(1, lists as u32);
    make.set(2, length as u32);
    run(&setup.queue, &make, &[lists], &[]);
    // The host follows the kernel's addresses.
    let values = nodes.values();
    for list in 0..lists {
        let (mut at, mut seen) = (nodes.at(list) as u64, Vec::new());
        while at != 0 {
            let [next, value] = values[(at as usize - nodes.at(0) as usize) / size_of::<Node>()];
            seen.push(value);
            at = next;
        }
        assert_eq!(seen, (0..length as u64).map(|i| list as u64 * 1000 + i).collect::<Vec<_>>());
    }
    // The kernel follows the host's: every list but the first goes on with the one before it.
    for list in 1..lists {
        let end = list + (length - 1) * lists;
        nodes.write(end, &[[nodes.at(list - 1) as u64, values[end][1]]]);
    }
    let lengths = setup.context.zeros::<u64>(lists);
    set_pointer(&change, 0, nodes.at(lists - 1));
    change.set(1, &lengths);
    run(&setup.queue, &change, &[1], &[]);
    assert_eq!(read::<u64>(&setup.queue, &lengths)[0], (lists * length) as u64);
    let changed: Vec<u64> = nodes.values().iter().map(|node| node[1]).collect();
    assert_eq!(changed, values.iter().map(|node| node[1] * 2 + 1).collect::<Vec<_>>());
}

#[test]
fn addresses_in_structures_and_between_allocations() {
    if !has(CL_DEVICE_SVM_FINE_GRAIN_BUFFER) {
        return;
    }
    let setup = Setup::new();
    let source = "typedef struct { global float *x; global float *y; float a; int n; } saxpy;
    kernel void f(global const saxpy *jobs) {
        saxpy job = jobs[get_global_id(1)];
        int g = (int)get_global_id(0);
        if (g < job.n) job.y[g] += job.a * job.x[g];
    }";
    let kernel = setup.context.kernel(source, "f");
    let flags = CL_MEM_READ_WRITE | CL_MEM_SVM_FINE_GRAIN_BUFFER;
    let x = Svm::<f32>::new(&setup.context, flags, 64);
    let y: Vec<_> = (0..3).map(|_| Svm::<f32>::new(&setup.context, flags, 64)).collect();
    x.write(0, &(0..64).map(|i| i as f32).collect::<Vec<_>>());
    let jobs = Svm::<[u64; 3]>::new(&setup.context, flags, 3);
    for (number, y) in y.iter().enumerate() {
        let a = f32::to_bits(number as f32 + 0.5);
        jobs.write(number, &[[x.at(0) as u64, y.at(0) as u64, u64::from(a) | (20 * number as u64) << 32]]);
    }
    set_pointer(&kernel, 0, jobs.at(0));
    let others: Vec<_> = y.iter().map(|y| y.at(0)).chain([x.at(0)]).collect();
    let size = size_of_val(&others[..]);
    ok((cl().clSetKernelExecInfo)(kernel.raw(), CL_KERNEL_EXEC_INFO_SVM_PTRS, size, others.as_ptr().cast()));
    run(&setup.queue, &kernel, &[64, 3], &[]);
    for (number, y) in y.iter().enumerate() {
        let value = |i| if i < 20 * number { (number as f32 + 0.5) * i as f32 } else { 0.0 };
        assert_eq!(y.values(), (0..64).map(value).collect::<Vec<_>>());
    }
}

#[test]
fn memory_of_the_system_is_shared() {
    if !has(CL_DEVICE_SVM_FINE_GRAIN_SYSTEM) {
        return;
    }
    let setup = Setup::new();
    let program = setup.context.build(
        "kernel void f(global int *own, global int * global *other) {
            size_t g = get_global_id(0);
            own[g] = *other[g] * 2;
            *other[g] = -1;
        }",
        "-cl-std=CL3.0",
    );
    let kernel = program.kernel("f");
    let mut boxes: Vec<Box<i32>> = (0..50).map(Box::new).collect();
    let mut addresses: Vec<*mut i32> = boxes.iter_mut().map(|value| ptr::from_mut(&mut **value)).collect();
    let mut own = vec![0; 50];
    set_pointer(&kernel, 0, own.as_mut_ptr().cast());
    set_pointer(&kernel, 1, addresses.as_mut_ptr().cast());
    let yes = CL_TRUE;
    let name = CL_KERNEL_EXEC_INFO_SVM_FINE_GRAIN_SYSTEM;
    ok((cl().clSetKernelExecInfo)(kernel.raw(), name, size_of::<cl_bool>(), (&raw const yes).cast()));
    run(&setup.queue, &kernel, &[50], &[]);
    assert_eq!(own, (0..50).map(|i| i * 2).collect::<Vec<_>>());
    assert!(boxes.iter().all(|value| **value == -1));
}

/// Flags and counters that the host and kernels change at the same time.
fn atomic(memory: &Svm<u32>, index: usize) -> &AtomicU32 {
    // SAFETY: the memory lives as long as the borrow, and while it is shared everyone uses atomic operations.
    unsafe { AtomicU32::from_ptr(memory.at(index).cast()) }
}

#[test]
fn host_and_kernel_speak_while_it_runs() {
    if !has(CL_DEVICE_SVM_FINE_GRAIN_BUFFER | CL_DEVICE_SVM_ATOMICS) {
        return;
    }
    let setup = Setup::new();
    let source = "kernel void f(global atomic_uint *shared, global uint *answers) {
        atomic_fetch_add_explicit(shared, 1u, memory_order_relaxed, memory_scope_all_svm_devices);
        uint order;
        do
            order = atomic_load_explicit(shared + 1, memory_order_acquire, memory_scope_all_svm_devices);
        while (order == 0);
        answers[get_global_id(0)] = order + ((global uint *)shared)[2];
        atomic_fetch_add_explicit(shared + 3, 1u, memory_order_release, memory_scope_all_svm_devices);
    }";
    let kernel = setup.context.build(source, "-cl-std=CL3.0").kernel("f");
    let flags = CL_MEM_READ_WRITE | CL_MEM_SVM_FINE_GRAIN_BUFFER | CL_MEM_SVM_ATOMICS;
    let (shared, answers) = (Svm::<u32>::new(&setup.context, flags, 4), Svm::<u32>::new(&setup.context, flags, 8));
    set_pointer(&kernel, 0, shared.at(0));
    set_pointer(&kernel, 1, answers.at(0));
    let (size, queue) = (8_usize, setup.queue.raw());
    ok((cl().clEnqueueNDRangeKernel)(queue, kernel.raw(), 1, ptr::null(), &size, &size, 0, NONE, NO_EVENT));
    ok((cl().clFlush)(queue));
    // The kernel has begun, and cannot end before it is told.
    while atomic(&shared, 0).load(Ordering::Acquire) == 0 {
        std::hint::spin_loop();
    }
    assert_eq!(atomic(&shared, 3).load(Ordering::Acquire), 0);
    atomic(&shared, 2).store(30, Ordering::Relaxed);
    atomic(&shared, 1).store(12, Ordering::Release);
    while atomic(&shared, 3).load(Ordering::Acquire) < 8 {
        std::hint::spin_loop();
    }
    assert_eq!(answers.values(), [42; 8]);
    finish(&setup.queue);
}

/// Enqueues a command behind events and gives its own.
type Enqueue = Box<dyn Fn(cl_uint, *const cl_event, *mut cl_event) -> cl_int>;

#[test]
fn copies_fills_maps_and_migrations() {
    if !has(CL_DEVICE_SVM_COARSE_GRAIN_BUFFER) {
        return;
    }
    let setup = Setup::new();
    let queue = setup.queue.raw();
    let memory = Svm::<u32>::new(&setup.context, CL_MEM_READ_WRITE, 64);
    let mut events = Vec::new();
    let mut commands: Vec<(&str, cl_command_type, Enqueue)> = Vec::new();
    let pattern = [7_u32, 9];
    let host: Vec<u32> = (100..116).collect();
    let (first, second, from) = (memory.at(0), memory.at(32), host.as_ptr().cast::<c_void>());
    commands.push((
        "fill",
        CL_COMMAND_SVM_MEMFILL,
        Box::new(move |n, list, event| {
            (cl().clEnqueueSVMMemFill)(queue, first, pattern.as_ptr().cast(), 8, 128, n, list, event)
        }),
    ));
    commands.push((
        "copy",
        CL_COMMAND_SVM_MEMCPY,
        Box::new(move |n, list, event| (cl().clEnqueueSVMMemcpy)(queue, CL_FALSE, second, from, 64, n, list, event)),
    ));
    commands.push((
        "map",
        CL_COMMAND_SVM_MAP,
        Box::new(move |n, list, event| {
            (cl().clEnqueueSVMMap)(queue, CL_FALSE, CL_MAP_READ | CL_MAP_WRITE, first, 256, n, list, event)
        }),
    ));
    commands.push((
        "unmap",
        CL_COMMAND_SVM_UNMAP,
        Box::new(move |n, list, event| (cl().clEnqueueSVMUnmap)(queue, first, n, list, event)),
    ));
    commands.push((
        "migrate",
        CL_COMMAND_SVM_MIGRATE_MEM,
        Box::new(move |n, list, event| {
            let (pointers, sizes) = ([first.cast_const(), second], [128_usize, 0]);
            let flags = CL_MIGRATE_MEM_OBJECT_HOST;
            (cl().clEnqueueSVMMigrateMem)(queue, 2, pointers.as_ptr(), sizes.as_ptr(), flags, n, list, event)
        }),
    ));
    let gate = setup.context.user_event();
    let mut before = gate.clone();
    for (name, kind, enqueue) in &commands {
        let (list, mut event) = ([before.raw()], ptr::null_mut());
        ok(enqueue(1, list.as_ptr(), &mut event));
        let event = Event::own(event);
        assert_eq!(event.info::<cl_command_type>(CL_EVENT_COMMAND_TYPE), *kind, "{name}");
        before = event.clone();
        events.push(event);
        // What is wrong with the wait list is said.
        expect(enqueue(1, ptr::null(), NO_EVENT), CL_INVALID_EVENT_WAIT_LIST);
        expect(enqueue(0, list.as_ptr(), NO_EVENT), CL_INVALID_EVENT_WAIT_LIST);
        let other = Context::new().user_event();
        expect(enqueue(1, [other.raw()].as_ptr(), NO_EVENT), CL_INVALID_CONTEXT);
        ok((cl().clSetUserEventStatus)(other.raw(), CL_COMPLETE));
    }
    ok((cl().clFlush)(queue));
    assert_eq!(memory.values(), [0; 64], "nothing runs before the gate opens");
    ok((cl().clSetUserEventStatus)(gate.raw(), CL_COMPLETE));
    finish(&setup.queue);
    assert!(events.iter().all(|event| event.status() == CL_COMPLETE));
    let wanted: Vec<u32> = [7, 9].into_iter().cycle().take(32).chain(100..116).chain([0; 16]).collect();
    assert_eq!(memory.values(), wanted);
    // Out of the memory, at once.
    let mut out = [0_u32; 4];
    ok((cl().clEnqueueSVMMemcpy)(queue, CL_TRUE, out.as_mut_ptr().cast(), memory.at(32), 16, 0, NONE, NO_EVENT));
    assert_eq!(out, [100, 101, 102, 103]);
    ok((cl().clEnqueueSVMMap)(queue, CL_TRUE, CL_MAP_WRITE_INVALIDATE_REGION, first, 4, 0, NONE, NO_EVENT));
    ok((cl().clEnqueueSVMUnmap)(queue, first, 0, NONE, NO_EVENT));
}

#[test]
fn blocking_commands_say_when_what_they_wait_for_failed() {
    if !has(CL_DEVICE_SVM_COARSE_GRAIN_BUFFER) {
        return;
    }
    let setup = Setup::new();
    let memory = Svm::<u32>::new(&setup.context, CL_MEM_READ_WRITE, 8);
    let failed = setup.context.user_event();
    ok((cl().clSetUserEventStatus)(failed.raw(), -5));
    let (queue, list) = (setup.queue.raw(), [failed.raw()]);
    let code = (cl().clEnqueueSVMMemcpy)(queue, CL_TRUE, memory.at(0), memory.at(4), 8, 1, list.as_ptr(), NO_EVENT);
    expect(code, CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST);
    let code = (cl().clEnqueueSVMMap)(queue, CL_TRUE, CL_MAP_READ, memory.at(0), 8, 1, list.as_ptr(), NO_EVENT);
    expect(code, CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST);
}

#[test]
fn every_wrong_argument_has_its_code() {
    if !has(CL_DEVICE_SVM_COARSE_GRAIN_BUFFER) {
        return;
    }
    let setup = Setup::new();
    let (d, queue) = (cl(), setup.queue.raw());
    let memory = Svm::<u8>::new(&setup.context, CL_MEM_READ_WRITE, 256);
    let (start, null) = (memory.at(0), ptr::null_mut::<c_void>());
    let bad = |name: &str, code: cl_int| assert_eq!(code, CL_INVALID_VALUE, "{name}");
    let copy = |to, from, size| (d.clEnqueueSVMMemcpy)(queue, CL_TRUE, to, from, size, 0, NONE, NO_EVENT);
    bad("copy to null", copy(null, start, 4));
    bad("copy from null", copy(start, null, 4));
    for (to, from) in [(0, 0), (0, 15), (15, 0)] {
        expect(copy(memory.at(to), memory.at(from), 16), CL_MEM_COPY_OVERLAP);
    }
    ok(copy(memory.at(0), memory.at(16), 16));
    let fill = |to, pattern, unit, size| (d.clEnqueueSVMMemFill)(queue, to, pattern, unit, size, 0, NONE, NO_EVENT);
    bad("fill null", fill(null, start, 4, 4));
    bad("fill with null", fill(start, null, 4, 4));
    bad("pattern of no bytes", fill(start, start, 0, 4));
    bad("pattern of three bytes", fill(start, start, 3, 6));
    bad("pattern of 256 bytes", fill(start, start, 256, 256));
    bad("half a pattern", fill(start, start, 4, 6));
    bad("fill a place out of line", fill(memory.at(2), start, 4, 4));
    let map = |at, size, flags| (d.clEnqueueSVMMap)(queue, CL_TRUE, flags, at, size, 0, NONE, NO_EVENT);
    bad("map null", map(null, 4, CL_MAP_READ));
    bad("map nothing", map(start, 0, CL_MAP_READ));
    bad("map flags", map(start, 4, 1 << 20));
    bad("unmap null", (d.clEnqueueSVMUnmap)(queue, null, 0, NONE, NO_EVENT));
    let migrate = |list: &[*const c_void], sizes: &[usize], flags| {
        let sizes = if sizes.is_empty() { ptr::null() } else { sizes.as_ptr() };
        let pointers = if list.is_empty() { ptr::null() } else { list.as_ptr() };
        (d.clEnqueueSVMMigrateMem)(queue, list.len() as cl_uint, pointers, sizes, flags, 0, NONE, NO_EVENT)
    };
    bad("migrate nothing", migrate(&[], &[], 0));
    bad("migration flags", migrate(&[start], &[], 1 << 20));
    bad("migrate too much", migrate(&[start, memory.at(1)], &[256, 256], 0));
    ok(migrate(&[start, memory.at(1)], &[256, 255], CL_MIGRATE_MEM_OBJECT_CONTENT_UNDEFINED));
    let free = |count, list| (d.clEnqueueSVMFree)(queue, count, list, None, ptr::null_mut(), 0, NONE, NO_EVENT);
    bad("free no list", free(1, ptr::null_mut()));
    bad("free none of a list", free(0, [start].as_mut_ptr()));

    let kernel = setup.context.kernel("kernel void f(global int *a, local int *b, int c, constant int *d) { }", "f");
    let argument = |index, at: *mut c_void| (d.clSetKernelArgSVMPointer)(kernel.raw(), index, at);
    ok(argument(0, start));
    ok(argument(0, null));
    ok(argument(3, start));
    expect(argument(1, start), CL_INVALID_ARG_VALUE);
    expect(argument(2, start), CL_INVALID_ARG_VALUE);
    expect(argument(4, start), CL_INVALID_ARG_INDEX);
    let tell = |name, size, value: *const c_void| (d.clSetKernelExecInfo)(kernel.raw(), name, size, value);
    let (list, yes) = ([start], CL_TRUE);
    ok(tell(CL_KERNEL_EXEC_INFO_SVM_PTRS, 8, list.as_ptr().cast()));
    ok(tell(CL_KERNEL_EXEC_INFO_SVM_PTRS, 0, ptr::null()));
    bad("no list", tell(CL_KERNEL_EXEC_INFO_SVM_PTRS, 8, ptr::null()));
    bad("half a pointer", tell(CL_KERNEL_EXEC_INFO_SVM_PTRS, 4, list.as_ptr().cast()));
    bad("a long truth", tell(CL_KERNEL_EXEC_INFO_SVM_FINE_GRAIN_SYSTEM, 8, list.as_ptr().cast()));
    bad("no name", tell(0x1234, 4, (&raw const yes).cast()));
}

extern "C" fn freed(queue: cl_command_queue, count: cl_uint, list: *mut *mut c_void, data: *mut c_void) {
    // SAFETY: the driver hands over the list it was given, and the sender that the test keeps alive.
    let (pointers, told) = unsafe {
        (std::slice::from_raw_parts(list, count as usize), &*data.cast::<mpsc::Sender<(usize, Vec<usize>)>>())
    };
    let _ = told.send((queue as usize, pointers.iter().map(|&pointer| pointer as usize).collect()));
}

#[test]
fn freeing_is_a_command() {
    if !has(CL_DEVICE_SVM_COARSE_GRAIN_BUFFER) {
        return;
    }
    let setup = Setup::new();
    let queue = setup.queue.raw();
    let gate = setup.context.user_event();
    let (kept, gone) = (Svm::<u32>::new(&setup.context, 0, 4), Svm::<u32>::new(&setup.context, 0, 4));
    let (sender, receiver) = mpsc::channel::<(usize, Vec<usize>)>();
    let mut pointers = [kept.at(0), gone.at(0)];
    let (data, after) = ((&raw const sender).cast_mut().cast(), [gate.raw()]);
    let mut event = ptr::null_mut();
    let free = cl().clEnqueueSVMFree;
    ok(free(queue, 2, pointers.as_mut_ptr(), Some(freed), data, 1, after.as_ptr(), &mut event));
    // "The memory associated with svm_pointers can be reused [...] after the function returns."
    let wanted = pointers.map(|pointer| pointer as usize).to_vec();
    pointers = [ptr::null_mut(); 2];
    assert!(pointers[0].is_null() && receiver.try_recv().is_err());
    ok((cl().clSetUserEventStatus)(gate.raw(), CL_COMPLETE));
    finish(&setup.queue);
    let event = Event::own(event);
    assert_eq!(event.info::<cl_command_type>(CL_EVENT_COMMAND_TYPE), CL_COMMAND_SVM_FREE);
    let told = receiver.recv_timeout(Duration::from_secs(60)).expect("the function is called");
    assert_eq!(told, (queue as usize, wanted));
    // Without a function the driver frees; the application's function above freed nothing.
    ok(free(queue, 1, [gone.leak()].as_mut_ptr(), None, ptr::null_mut(), 0, NONE, NO_EVENT));
    finish(&setup.queue);
    kept.write(0, &[1, 2, 3, 4]);
    assert_eq!(kept.values(), [1, 2, 3, 4]);
}

#[test]
fn buffers_over_shared_memory() {
    if !has(CL_DEVICE_SVM_COARSE_GRAIN_BUFFER) {
        return;
    }
    let setup = Setup::new();
    let memory = Svm::<u32>::new(&setup.context, CL_MEM_READ_WRITE, 256);
    memory.write(0, &(0..256).collect::<Vec<_>>());
    let flags = CL_MEM_READ_WRITE | CL_MEM_USE_HOST_PTR;
    let whole = setup.context.try_buffer(flags, 1024, memory.at(0)).expect("a buffer");
    let middle = setup.context.try_buffer(flags, 256, memory.at(64)).expect("a buffer");
    let region = cl_buffer_region { origin: 512, size: 256 };
    let mut code = 1;
    let create = cl().clCreateSubBuffer;
    let part = create(whole.raw(), 0, CL_BUFFER_CREATE_TYPE_REGION, (&raw const region).cast(), &mut code);
    ok(code);
    let part = Buffer::own(part);
    for buffer in [&whole, &middle, &part] {
        assert_eq!(buffer.info::<cl_bool>(CL_MEM_USES_SVM_POINTER), CL_TRUE);
    }
    assert_eq!(setup.context.zeros::<u32>(4).info::<cl_bool>(CL_MEM_USES_SVM_POINTER), CL_FALSE);
    let copied = setup.context.try_buffer(CL_MEM_COPY_HOST_PTR, 1024, memory.at(0)).expect("a buffer");
    assert_eq!(copied.info::<cl_bool>(CL_MEM_USES_SVM_POINTER), CL_FALSE);
    for (start, size) in [(0, 1025), (64, 769), (0, 2048)] {
        let made = setup.context.try_buffer(flags, size, memory.at(start));
        assert_eq!(made.err(), Some(CL_INVALID_BUFFER_SIZE), "more than is there behind value {start}");
    }
    // The kernel sees the same addresses through all of them.
    let kernel = setup.context.kernel(
        "kernel void f(global uint *whole, global uint *middle, global uint *part, global uint *own, global ulong *at) {
            size_t g = get_global_id(0);
            whole[g] += 1000;
            middle[g] += 2000;
            part[g] += 4000;
            if (g == 0) { at[0] = whole == own; at[1] = middle - own; at[2] = part - own; at[3] = (ulong)own; }
        }",
        "f",
    );
    let at = setup.context.zeros::<u64>(4);
    kernel.set_all(arguments![&whole, &middle, &part]);
    set_pointer(&kernel, 3, memory.at(0));
    kernel.set(4, &at);
    run(&setup.queue, &kernel, &[64], &[]);
    assert_eq!(read::<u64>(&setup.queue, &at), [1, 64, 128, memory.at(0) as u64]);
    let wanted: Vec<u32> = (0..256).map(|i| i + [1000, 2000, 4000, 0][i as usize / 64]).collect();
    assert_eq!(memory.values(), wanted);
    assert_eq!(read::<u32>(&setup.queue, &whole), wanted);
}

#[test]
fn a_clone_has_the_pointers_of_its_original() {
    if !has(CL_DEVICE_SVM_COARSE_GRAIN_BUFFER) {
        return;
    }
    let setup = Setup::new();
    let kernel = setup.context.kernel("kernel void f(global int *a, int b) { a[get_global_id(0)] += b; }", "f");
    let (first, second) = (Svm::<i32>::new(&setup.context, 0, 8), Svm::<i32>::new(&setup.context, 0, 8));
    set_pointer(&kernel, 0, first.at(0));
    kernel.set(1, 5_i32);
    let list = [second.at(0)];
    ok((cl().clSetKernelExecInfo)(kernel.raw(), CL_KERNEL_EXEC_INFO_SVM_PTRS, 8, list.as_ptr().cast()));
    let mut code = 1;
    let copy = Kernel::own((cl().clCloneKernel)(kernel.raw(), &mut code));
    ok(code);
    set_pointer(&kernel, 0, second.at(0));
    run(&setup.queue, &copy, &[8], &[]);
    run(&setup.queue, &kernel, &[8], &[]);
    run(&setup.queue, &copy, &[8], &[]);
    assert_eq!((first.values(), second.values()), (vec![10; 8], vec![5; 8]));
}
