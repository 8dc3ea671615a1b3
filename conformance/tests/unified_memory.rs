//! `cl_intel_unified_shared_memory` and `cl_ext_buffer_device_address`.

use std::ffi::c_void;
use std::ptr;

use lockstep_conformance::extension_functions::{DeviceAddress, UnifiedMemory};
use lockstep_conformance::loader::{cl, device, has_extension, is_lockstep};
use lockstep_conformance::objects::{Buffer, Context, Event};
use lockstep_conformance::opencl_sys::*;
use lockstep_conformance::{Plain, Setup, expect, info, ok, run};

const NONE: *const cl_event = ptr::null();
const NO_EVENT: *mut cl_event = ptr::null_mut();

fn unified() -> Option<UnifiedMemory> {
    has_extension("cl_intel_unified_shared_memory").then(UnifiedMemory::new)
}

fn of_device<T: Plain>(name: cl_device_info) -> T {
    info::value(|size, value, returned| (cl().clGetDeviceInfo)(device(), name, size, value, returned))
}

/// The values at an address.
fn values<T: Plain>(start: *const c_void, count: usize) -> Vec<T> {
    // SAFETY: the tests ask for what they have allocated.
    T::from_bytes(unsafe { std::slice::from_raw_parts(start.cast(), count * size_of::<T>()) })
}

#[test]
fn the_device_may_do_everything_with_every_kind() {
    if unified().is_none() {
        return;
    }
    let all = CL_UNIFIED_SHARED_MEMORY_ACCESS_INTEL
        | CL_UNIFIED_SHARED_MEMORY_ATOMIC_ACCESS_INTEL
        | CL_UNIFIED_SHARED_MEMORY_CONCURRENT_ACCESS_INTEL
        | CL_UNIFIED_SHARED_MEMORY_CONCURRENT_ATOMIC_ACCESS_INTEL;
    for name in [
        CL_DEVICE_HOST_MEM_CAPABILITIES_INTEL,
        CL_DEVICE_DEVICE_MEM_CAPABILITIES_INTEL,
        CL_DEVICE_SINGLE_DEVICE_SHARED_MEM_CAPABILITIES_INTEL,
        CL_DEVICE_CROSS_DEVICE_SHARED_MEM_CAPABILITIES_INTEL,
        CL_DEVICE_SHARED_SYSTEM_MEM_CAPABILITIES_INTEL,
    ] {
        let can: u64 = of_device(name);
        assert!(can == all || !is_lockstep(), "{name:#x}: {can:#x}");
    }
}

#[test]
fn allocations_tell_what_they_are() {
    let Some(f) = unified() else { return };
    let context = Context::new();
    let c = context.raw();
    let ask = |at: *const c_void, name: u32| {
        info::bytes(|size, value, returned| (f.clGetMemAllocInfoINTEL)(c, at, name, size, value, returned))
    };
    let flags = CL_MEM_ALLOC_FLAGS_INTEL as u32;
    let write_combined = [CL_MEM_ALLOC_FLAGS_INTEL, CL_MEM_ALLOC_WRITE_COMBINED_INTEL, 0];
    let placed = [CL_MEM_ALLOC_FLAGS_INTEL, CL_MEM_ALLOC_INITIAL_PLACEMENT_HOST_INTEL, 0];
    let (none, mut code) = (ptr::null(), 1);
    let host = (f.clHostMemAllocINTEL)(c, write_combined.as_ptr(), 100, 0, &mut code);
    ok(code);
    let own = (f.clDeviceMemAllocINTEL)(c, device(), none, 200, 64, &mut code);
    ok(code);
    let shared = (f.clSharedMemAllocINTEL)(c, device(), placed.as_ptr(), 300, 128, &mut code);
    ok(code);
    let anyones = (f.clSharedMemAllocINTEL)(c, ptr::null_mut(), [0].as_ptr(), 400, 1, ptr::null_mut());
    let here = device() as usize;
    let table = [
        (host, CL_MEM_TYPE_HOST_INTEL, 100_usize, 0, write_combined[1]),
        (own, CL_MEM_TYPE_DEVICE_INTEL, 200, here, 0),
        (shared, CL_MEM_TYPE_SHARED_INTEL, 300, here, placed[1]),
        (anyones, CL_MEM_TYPE_SHARED_INTEL, 400, 0, 0),
    ];
    for (start, kind, size, device, flag) in table {
        assert!(!start.is_null() && (start as usize).is_multiple_of(128));
        for inside in [0, 1, size - 1] {
            let at = start.wrapping_byte_add(inside);
            assert_eq!(u32::from_bytes(&ask(at, CL_MEM_ALLOC_TYPE_INTEL)), [kind]);
            assert_eq!(usize::from_bytes(&ask(at, CL_MEM_ALLOC_BASE_PTR_INTEL)), [start as usize]);
            assert_eq!(usize::from_bytes(&ask(at, CL_MEM_ALLOC_SIZE_INTEL)), [size]);
            assert_eq!(usize::from_bytes(&ask(at, CL_MEM_ALLOC_DEVICE_INTEL)), [device]);
            assert_eq!(u64::from_bytes(&ask(at, flags)), [flag]);
        }
    }
    // What is no such memory, and the memory of another context.
    let (local, other) = (0_u64, Context::new());
    let svm = (cl().clSVMAlloc)(c, CL_MEM_READ_WRITE, 64, 0);
    for at in [ptr::null(), (&raw const local).cast(), svm.cast_const()] {
        assert_eq!(u32::from_bytes(&ask(at, CL_MEM_ALLOC_TYPE_INTEL)), [CL_MEM_TYPE_UNKNOWN_INTEL]);
        assert_eq!(usize::from_bytes(&ask(at, CL_MEM_ALLOC_BASE_PTR_INTEL)), [0]);
        assert_eq!(usize::from_bytes(&ask(at, CL_MEM_ALLOC_SIZE_INTEL)), [0]);
        assert_eq!(usize::from_bytes(&ask(at, CL_MEM_ALLOC_DEVICE_INTEL)), [0]);
        assert_eq!(u64::from_bytes(&ask(at, flags)), [0]);
    }
    expect((f.clGetMemAllocInfoINTEL)(c, host, 0x1234, 0, ptr::null_mut(), ptr::null_mut()), CL_INVALID_VALUE);
    expect((f.clMemFreeINTEL)(other.raw(), host), CL_INVALID_VALUE);
    expect((f.clMemFreeINTEL)(c, host.wrapping_byte_add(1)), CL_INVALID_VALUE);
    expect((f.clMemFreeINTEL)(c, svm), CL_INVALID_VALUE);
    (cl().clSVMFree)(c, host);
    ok((f.clMemFreeINTEL)(c, ptr::null_mut()));
    ok((f.clMemBlockingFreeINTEL)(c, ptr::null_mut()));
    for (start, ..) in table {
        ok((f.clMemFreeINTEL)(c, start));
        expect((f.clMemFreeINTEL)(c, start), CL_INVALID_VALUE);
    }
    (cl().clSVMFree)(c, svm);
}

#[test]
fn wrong_allocations_have_their_codes() {
    let Some(f) = unified() else { return };
    let context = Context::new();
    let c = context.raw();
    let most: u64 = of_device(CL_DEVICE_MAX_MEM_ALLOC_SIZE);
    type Properties<'a> = &'a [u64];
    let all = |properties: Properties, size: usize, alignment: u32| {
        let list = if properties.is_empty() { ptr::null() } else { properties.as_ptr() };
        let mut codes = [1; 3];
        let start = [
            (f.clHostMemAllocINTEL)(c, list, size, alignment, &mut codes[0]),
            (f.clDeviceMemAllocINTEL)(c, device(), list, size, alignment, &mut codes[1]),
            (f.clSharedMemAllocINTEL)(c, device(), list, size, alignment, &mut codes[2]),
        ];
        for (start, code) in start.iter().zip(codes) {
            assert_eq!(start.is_null(), code != CL_SUCCESS);
            ok((f.clMemFreeINTEL)(c, *start));
        }
        codes
    };
    let flags = CL_MEM_ALLOC_FLAGS_INTEL;
    let (on_host, on_device) = (CL_MEM_ALLOC_INITIAL_PLACEMENT_HOST_INTEL, CL_MEM_ALLOC_INITIAL_PLACEMENT_DEVICE_INTEL);
    assert_eq!(all(&[], 0, 0), [CL_INVALID_BUFFER_SIZE; 3]);
    assert_eq!(all(&[], most as usize + 1, 0), [CL_INVALID_BUFFER_SIZE; 3]);
    assert_eq!(all(&[], 4, 3), [CL_INVALID_VALUE; 3]);
    assert_eq!(all(&[], 4, 256), [CL_INVALID_VALUE; 3]);
    assert_eq!(all(&[7, 7, 0], 4, 0), [CL_INVALID_PROPERTY; 3]);
    assert_eq!(all(&[flags, 1 << 10, 0], 4, 0), [CL_INVALID_PROPERTY; 3]);
    assert_eq!(all(&[flags, 1, flags, 1, 0], 4, 0), [CL_INVALID_PROPERTY; 3]);
    for placement in [on_host, on_device] {
        assert_eq!(all(&[flags, placement, 0], 4, 0), [CL_INVALID_PROPERTY, CL_INVALID_PROPERTY, CL_SUCCESS]);
    }
    assert_eq!(all(&[flags, on_host | on_device, 0], 4, 0), [CL_INVALID_PROPERTY; 3]);
    let mut code = 1;
    assert!((f.clDeviceMemAllocINTEL)(c, ptr::null_mut(), ptr::null(), 4, 0, &mut code).is_null());
    expect(code, CL_INVALID_DEVICE);
    for wrong in [ptr::null_mut(), device()] {
        assert!((f.clHostMemAllocINTEL)(wrong, ptr::null(), 4, 0, &mut code).is_null());
        expect(code, CL_INVALID_CONTEXT);
        expect((f.clMemFreeINTEL)(wrong, ptr::null_mut()), CL_INVALID_CONTEXT);
        expect((f.clMemBlockingFreeINTEL)(wrong, ptr::null_mut()), CL_INVALID_CONTEXT);
    }
}

#[test]
fn kernels_use_every_kind_directly_and_indirectly() {
    let Some(f) = unified() else { return };
    let setup = Setup::new();
    let c = setup.context.raw();
    let none = ptr::null();
    let host = (f.clHostMemAllocINTEL)(c, none, 400, 0, ptr::null_mut());
    let own = (f.clDeviceMemAllocINTEL)(c, device(), none, 400, 0, ptr::null_mut());
    let shared = (f.clSharedMemAllocINTEL)(c, device(), none, 400, 0, ptr::null_mut());
    let queue = setup.queue.raw();
    let one = 1_u32;
    ok((f.clEnqueueMemFillINTEL)(queue, host, (&raw const one).cast(), 4, 400, 0, NONE, NO_EVENT));
    ok((f.clEnqueueMemsetINTEL)(queue, own, 0x1FF, 400, 0, NONE, NO_EVENT));
    let list = [host, own];
    ok((f.clEnqueueMemcpyINTEL)(queue, CL_TRUE, shared, list.as_ptr().cast(), 16, 0, NONE, NO_EVENT));
    let program = setup.context.build(
        "kernel void f(global uint * global *addresses, global uint *to) {
            size_t g = get_global_id(0);
            global uint *a = addresses[0], *b = addresses[1];
            to[g] = a[g] + b[g] + (uint)g;
            a[g] = 5;
        }",
        "-cl-std=CL3.0",
    );
    let kernel = program.kernel("f");
    ok((f.clSetKernelArgMemPointerINTEL)(kernel.raw(), 0, shared));
    ok((f.clSetKernelArgMemPointerINTEL)(kernel.raw(), 1, shared.wrapping_byte_add(16)));
    expect((f.clSetKernelArgMemPointerINTEL)(kernel.raw(), 2, shared), CL_INVALID_ARG_INDEX);
    let (yes, tell) = (CL_TRUE, cl().clSetKernelExecInfo);
    for name in [
        CL_KERNEL_EXEC_INFO_INDIRECT_HOST_ACCESS_INTEL,
        CL_KERNEL_EXEC_INFO_INDIRECT_DEVICE_ACCESS_INTEL,
        CL_KERNEL_EXEC_INFO_INDIRECT_SHARED_ACCESS_INTEL,
    ] {
        ok(tell(kernel.raw(), name, 4, (&raw const yes).cast()));
        expect(tell(kernel.raw(), name, 8, list.as_ptr().cast()), CL_INVALID_VALUE);
    }
    ok(tell(kernel.raw(), CL_KERNEL_EXEC_INFO_USM_PTRS_INTEL, 16, list.as_ptr().cast()));
    run(&setup.queue, &kernel, &[90], &[]);
    assert_eq!(values::<u32>(shared.wrapping_byte_add(16), 90), (0..90).collect::<Vec<u32>>());
    assert_eq!(values::<u32>(host, 100), [vec![5; 90], vec![1; 10]].concat());
    for start in [host, own, shared] {
        ok((f.clMemFreeINTEL)(c, start));
    }
}

#[test]
fn commands_have_types_orders_and_codes() {
    let Some(f) = unified() else { return };
    let setup = Setup::new();
    let (c, queue) = (setup.context.raw(), setup.queue.raw());
    let start = (f.clSharedMemAllocINTEL)(c, device(), ptr::null(), 256, 0, ptr::null_mut());
    let half = start.wrapping_byte_add(128);
    let pattern = [3_u8; 16];
    let pattern = pattern.as_ptr().cast();
    type Enqueue<'a> = &'a dyn Fn(cl_uint, *const cl_event, *mut cl_event) -> cl_int;
    let table: [(cl_command_type, Enqueue); 5] = [
        (CL_COMMAND_MEMFILL_INTEL, &|n, l, e| (f.clEnqueueMemFillINTEL)(queue, start, pattern, 16, 128, n, l, e)),
        (CL_COMMAND_MEMCPY_INTEL, &|n, l, e| (f.clEnqueueMemcpyINTEL)(queue, CL_FALSE, half, start, 128, n, l, e)),
        (CL_COMMAND_MEMFILL_INTEL, &|n, l, e| (f.clEnqueueMemsetINTEL)(queue, start, 9, 1, n, l, e)),
        (CL_COMMAND_MIGRATEMEM_INTEL, &|n, l, e| (f.clEnqueueMigrateMemINTEL)(queue, start, 256, 0, n, l, e)),
        (CL_COMMAND_MEMADVISE_INTEL, &|n, l, e| (f.clEnqueueMemAdviseINTEL)(queue, start, 256, 0, n, l, e)),
    ];
    let gate = setup.context.user_event();
    for (kind, enqueue) in table {
        let mut event = ptr::null_mut();
        ok(enqueue(1, [gate.raw()].as_ptr(), &mut event));
        assert_eq!(Event::own(event).info::<cl_command_type>(CL_EVENT_COMMAND_TYPE), kind);
        expect(enqueue(1, ptr::null(), NO_EVENT), CL_INVALID_EVENT_WAIT_LIST);
        let other = Context::new().user_event();
        expect(enqueue(1, [other.raw()].as_ptr(), NO_EVENT), CL_INVALID_CONTEXT);
        ok((cl().clSetUserEventStatus)(other.raw(), CL_COMPLETE));
    }
    ok((cl().clFlush)(queue));
    assert_eq!(values::<u8>(start, 256), [0; 256]);
    ok((cl().clSetUserEventStatus)(gate.raw(), CL_COMPLETE));
    ok((cl().clFinish)(queue));
    assert_eq!(values::<u8>(start, 256), [vec![9], vec![3; 255]].concat());

    let null = ptr::null_mut::<c_void>();
    let fill = |to, pattern, unit, size| (f.clEnqueueMemFillINTEL)(queue, to, pattern, unit, size, 0, NONE, NO_EVENT);
    expect(fill(null, pattern, 4, 4), CL_INVALID_VALUE);
    expect(fill(start, ptr::null(), 4, 4), CL_INVALID_VALUE);
    expect(fill(start.wrapping_byte_add(2), pattern, 4, 4), CL_INVALID_VALUE);
    expect(fill(start, pattern, 3, 3), CL_INVALID_VALUE);
    expect(fill(start, pattern, 256, 256), CL_INVALID_VALUE);
    expect(fill(start, pattern, 4, 6), CL_INVALID_VALUE);
    let copy = |to, from| (f.clEnqueueMemcpyINTEL)(queue, CL_TRUE, to, from, 64, 0, NONE, NO_EVENT);
    expect(copy(null, start), CL_INVALID_VALUE);
    expect(copy(start, null), CL_INVALID_VALUE);
    expect(copy(start, start.wrapping_byte_add(63)), CL_MEM_COPY_OVERLAP);
    expect((f.clEnqueueMigrateMemINTEL)(queue, start, 4, 1 << 20, 0, NONE, NO_EVENT), CL_INVALID_VALUE);
    let wrong = start.cast();
    expect((f.clEnqueueMemAdviseINTEL)(wrong, start, 4, 0, 0, NONE, NO_EVENT), CL_INVALID_COMMAND_QUEUE);
    ok((f.clMemFreeINTEL)(c, start));
}

#[test]
fn a_blocking_free_waits_for_all_queues() {
    let Some(f) = unified() else { return };
    let setup = Setup::new();
    let other = setup.context.queue(CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE);
    let kernel = setup.context.kernel(
        "kernel void f(global uint *a, uint rounds) {
            uint x = a[get_global_id(0)];
            for (uint i = 0; i < rounds; ++i) x = x * 1664525u + 1013904223u;
            a[get_global_id(0)] = x;
        }",
        "f",
    );
    let c = setup.context.raw();
    let start = (f.clSharedMemAllocINTEL)(c, device(), ptr::null(), 4096, 0, ptr::null_mut());
    ok((f.clSetKernelArgMemPointerINTEL)(kernel.raw(), 0, start));
    kernel.set(1, 20_000_u32);
    let mut events = Vec::new();
    for queue in [&setup.queue, &other] {
        let (size, mut event) = (1024_usize, ptr::null_mut());
        let launch = cl().clEnqueueNDRangeKernel;
        ok(launch(queue.raw(), kernel.raw(), 1, ptr::null(), &size, ptr::null(), 0, NONE, &mut event));
        events.push(Event::own(event));
    }
    ok((f.clMemBlockingFreeINTEL)(c, start));
    assert!(events.iter().all(|event| event.status() == CL_COMPLETE));
}

#[test]
fn buffers_tell_the_address_that_kernels_see() {
    if !has_extension("cl_ext_buffer_device_address") {
        return;
    }
    let f = DeviceAddress::new();
    let setup = Setup::new();
    let create = |properties: &[cl_mem_properties], code: &mut cl_int| {
        let flags = CL_MEM_READ_WRITE;
        (cl().clCreateBufferWithProperties)(setup.context.raw(), properties.as_ptr(), flags, 256, ptr::null_mut(), code)
    };
    let name = CL_MEM_DEVICE_PRIVATE_ADDRESS_EXT;
    let mut code = 1;
    let buffer = Buffer::own(create(&[name, 1, 0], &mut code));
    ok(code);
    assert_eq!(buffer.info_array::<cl_mem_properties>(CL_MEM_PROPERTIES), [name, 1, 0]);
    let [address] = buffer.info_array::<u64>(CL_MEM_DEVICE_ADDRESS_EXT)[..] else { panic!("one device, one address") };
    let plain = Buffer::own(create(&[name, 0, 0], &mut code));
    ok(code);
    for other in [&plain, &setup.context.zeros::<u32>(4)] {
        let (size, value) = (8, [0_u64].as_mut_ptr().cast());
        let code = (cl().clGetMemObjectInfo)(other.raw(), CL_MEM_DEVICE_ADDRESS_EXT, size, value, ptr::null_mut());
        expect(code, CL_INVALID_OPERATION);
    }
    for wrong in [[name, 2, 0, 0, 0], [name, 1, name, 1, 0], [name + 7, 1, 0, 0, 0]] {
        assert!(create(&wrong, &mut code).is_null());
        expect(code, CL_INVALID_PROPERTY);
    }
    // A pointer made of the address, as an argument and inside of another buffer.
    let kernel = setup.context.kernel(
        "kernel void f(global uint *direct, global ulong *table, local uint *none, constant uint *fixed) {
            size_t g = get_global_id(0);
            direct[g] += 10;
            ((global uint *)table[0])[g] += 100;
        }",
        "f",
    );
    let table = setup.context.with_values(&[address]);
    ok((f.clSetKernelArgDevicePointerEXT)(kernel.raw(), 0, address + 128));
    kernel.set(1, &table);
    ok((cl().clSetKernelArg)(kernel.raw(), 2, 4, ptr::null()));
    kernel.set(3, &table);
    for wrong in [2, 3, 4] {
        expect((f.clSetKernelArgDevicePointerEXT)(kernel.raw(), wrong, address), CL_INVALID_ARG_INDEX);
    }
    expect((f.clSetKernelArgDevicePointerEXT)(buffer.raw(), 0, address), CL_INVALID_KERNEL);
    let list = [address];
    let tell = cl().clSetKernelExecInfo;
    ok(tell(kernel.raw(), CL_KERNEL_EXEC_INFO_DEVICE_PTRS_EXT, 8, list.as_ptr().cast()));
    expect(tell(kernel.raw(), CL_KERNEL_EXEC_INFO_DEVICE_PTRS_EXT, 7, list.as_ptr().cast()), CL_INVALID_VALUE);
    lockstep_conformance::write(&setup.queue, &buffer, &[0_u32; 64]);
    run(&setup.queue, &kernel, &[32], &[]);
    let wanted = [vec![100; 32], vec![10; 32]].concat();
    assert_eq!(lockstep_conformance::read::<u32>(&setup.queue, &buffer), wanted);
}
