//! The limits that the device reports are real, and running out of something is an error and no crash.

use lockstep_conformance::child::{in_child, limit_address_space};
use lockstep_conformance::commands::{finish, launch, try_launch};
use lockstep_conformance::loader::{cl, device, is_lockstep};
use lockstep_conformance::objects::Argument;
use lockstep_conformance::opencl_sys::*;
use lockstep_conformance::{Buffer, Plain, Setup, arguments, code_name, expect, info, ok, read, run};

#[track_caller]
fn limit<T: Plain>(name: cl_device_info) -> T {
    info::value(|size, value, returned| (cl().clGetDeviceInfo)(device(), name, size, value, returned))
}

const REVERSE: &str = "kernel void f(global int *out, local int *tmp) {
    size_t l = get_local_id(0), n = get_local_size(0), g = get_global_id(0);
    int a[16];
    for (int i = 0; i < 16; ++i) a[i] = (int)g + i;
    tmp[l] = a[g & 15];
    barrier(CLK_LOCAL_MEM_FENCE);
    a[tmp[n - 1 - l] & 15] += tmp[n - 1 - l];
    barrier(CLK_LOCAL_MEM_FENCE);
    int sum = 0;
    for (int i = 0; i < 16; ++i) sum += a[i];
    out[g] = sum;
}";

fn reversed(g: usize, n: usize) -> i32 {
    let shown = |g: usize| (g + (g & 15)) as i32;
    let other = g / n * n + n - 1 - g % n;
    16 * g as i32 + 120 + shown(other)
}

#[test]
fn the_largest_group() {
    let setup = Setup::new();
    let kernel = setup.context.kernel(REVERSE, "f");
    let most: usize = kernel.group_info(CL_KERNEL_WORK_GROUP_SIZE);
    let sizes: Vec<usize> = info::array(|size, value, returned| {
        (cl().clGetDeviceInfo)(device(), CL_DEVICE_MAX_WORK_ITEM_SIZES, size, value, returned)
    });
    for n in [1, most / 2, most.min(sizes[0])] {
        let out = setup.context.zeros::<i32>(2 * n);
        kernel.set_all(vec![Argument::from(&out), Argument::Local(n * 4)]);
        run(&setup.queue, &kernel, &[2 * n], &[n]);
        let wanted: Vec<i32> = (0..2 * n).map(|g| reversed(g, n)).collect();
        assert!(read::<i32>(&setup.queue, &out) == wanted, "groups of {n}");
    }
}

#[test]
fn all_local_memory() {
    let setup = Setup::new();
    let source = "kernel void f(local uint *tmp, uint count, global uint *out) {
        for (uint i = get_local_id(0); i < count; i += get_local_size(0)) tmp[i] = i * 7;
        barrier(CLK_LOCAL_MEM_FENCE);
        uint sum = 0;
        for (uint i = get_local_id(0); i < count; i += get_local_size(0)) sum += tmp[count - 1 - i];
        atomic_add(out, sum);
    }";
    let kernel = setup.context.kernel(source, "f");
    let bytes = limit::<u64>(CL_DEVICE_LOCAL_MEM_SIZE) as usize;
    let out = setup.context.zeros::<u32>(1);
    let count = (bytes / 4) as u32;
    kernel.set_all(vec![Argument::Local(bytes), Argument::from(count), Argument::from(&out)]);
    run(&setup.queue, &kernel, &[64], &[16]);
    let sum = (0..count).fold(0_u32, |sum, i| sum.wrapping_add(i.wrapping_mul(7)));
    assert_eq!(read::<u32>(&setup.queue, &out), [sum.wrapping_mul(4)]);
}

#[test]
fn more_local_memory_than_can_be_counted() {
    let setup = Setup::new();
    let source = "kernel void f(local int *a, local int *b) { a[get_local_id(0)] = b[0]; }";
    let kernel = setup.context.kernel(source, "f");
    for sizes in [[usize::MAX, 4], [4, usize::MAX], [usize::MAX - 200, 400], [usize::MAX / 2 + 1; 2]] {
        kernel.set_all(sizes.map(Argument::Local).into());
        expect(try_launch(&setup.queue, &kernel, &[1], &[]), CL_OUT_OF_RESOURCES);
    }
    kernel.set_all(vec![Argument::Local(4), Argument::Local(4)]);
    run(&setup.queue, &kernel, &[1], &[]);
}

#[test]
fn large_private_arrays() {
    let setup = Setup::new();
    let source = "kernel void f(global int *out, local int *tmp) {
        int a[4096];
        size_t l = get_local_id(0), g = get_global_id(0);
        for (int i = 0; i < 4096; ++i) a[i] = i ^ (int)g;
        tmp[l] = a[4095 - l];
        barrier(CLK_LOCAL_MEM_FENCE);
        out[g] = a[tmp[l] & 4095] + tmp[0];
    }";
    let kernel = setup.context.kernel(source, "f");
    let n = kernel.group_info::<usize>(CL_KERNEL_WORK_GROUP_SIZE).min(256);
    let out = setup.context.zeros::<i32>(4 * n);
    kernel.set_all(vec![Argument::from(&out), Argument::Local(n * 4)]);
    run(&setup.queue, &kernel, &[4 * n], &[n]);
    let wanted: Vec<i32> = (0..4 * n)
        .map(|g| {
            let shown = |g: usize| (4095 - g % n) ^ g;
            ((shown(g) & 4095) ^ g) as i32 + shown(g / n * n) as i32
        })
        .collect();
    assert_eq!(read::<i32>(&setup.queue, &out), wanted);
    assert!(!is_lockstep() || kernel.group_info::<u64>(CL_KERNEL_PRIVATE_MEM_SIZE) >= 16384);
}

#[test]
fn the_largest_parameters() {
    let setup = Setup::new();
    let most: usize = limit(CL_DEVICE_MAX_PARAMETER_SIZE);
    // A pointer, and the rest in two structs.
    let half = (most - 8) / 2 / 8 * 8;
    let source = format!(
        "typedef struct {{ uchar bytes[{half}]; }} S;
        kernel void f(global uint *out, S a, S b) {{
            uint sum = 0;
            for (int i = 0; i < {half}; ++i) sum += a.bytes[i] * 3 + b.bytes[i] * i;
            out[get_global_id(0)] = sum;
        }}"
    );
    let kernel = setup.context.kernel(&source, "f");
    let out = setup.context.zeros::<u32>(4);
    let bytes: Vec<u8> = (0..half).map(|i| (i * 31 % 251) as u8).collect();
    let other: Vec<u8> = bytes.iter().rev().copied().collect();
    let sum = (0..half as u32).zip(bytes.iter().zip(&other)).fold(0_u32, |sum, (i, (a, b))| {
        sum.wrapping_add(u32::from(*a) * 3).wrapping_add(u32::from(*b).wrapping_mul(i))
    });
    kernel.set_all(vec![Argument::from(&out), Argument::Bytes(bytes), Argument::Bytes(other)]);
    run(&setup.queue, &kernel, &[4], &[]);
    assert_eq!(read::<u32>(&setup.queue, &out), [sum; 4]);
}

#[test]
fn the_largest_buffer() {
    let setup = Setup::new();
    // Memory that is not touched costs nothing: only the last elements are.
    let size = limit::<u64>(CL_DEVICE_MAX_MEM_ALLOC_SIZE) as usize / 4 * 4;
    let buffer = match setup.context.try_buffer(CL_MEM_READ_WRITE, size, std::ptr::null_mut()) {
        Ok(buffer) => buffer,
        // The machine's own limit may be lower at this moment.
        Err(code) => return assert_eq!(code, CL_MEM_OBJECT_ALLOCATION_FAILURE, "{}", code_name(code)),
    };
    let source = "kernel void f(global int *a, ulong last) { a[last - get_global_id(0)] = get_global_id(0) + 5; }";
    let kernel = setup.context.kernel(source, "f");
    kernel.set_all(arguments![&buffer, size as u64 / 4 - 1]);
    run(&setup.queue, &kernel, &[4], &[]);
    let mut last = [0_i32; 4];
    ok((cl().clEnqueueReadBuffer)(
        setup.queue.raw(),
        buffer.raw(),
        CL_TRUE,
        size - 16,
        16,
        last.as_mut_ptr().cast(),
        0,
        std::ptr::null(),
        std::ptr::null_mut(),
    ));
    assert_eq!(last, [8, 7, 6, 5]);
}

#[test]
fn out_of_memory() {
    if !is_lockstep() {
        return;
    }
    let output = in_child("out_of_memory", &[], || {
        let setup = Setup::new();
        let kernel = setup.context.kernel("kernel void f(global int *a) { a[0] += 1; }", "f");
        let kept = setup.context.zeros::<i32>(16);
        limit_address_space(256 << 20);
        let mut buffers: Vec<Buffer> = vec![];
        let code = loop {
            let host = vec![1_u8; 16 << 20];
            match setup.context.try_buffer(CL_MEM_COPY_HOST_PTR, host.len(), host.as_ptr().cast_mut().cast()) {
                Ok(buffer) => buffers.push(buffer),
                Err(code) => break code,
            }
            assert!(buffers.len() < 1000, "the limit does not bind");
        };
        println!("{}", code_name(code));
        // What there is still works, and memory comes back.
        drop(buffers);
        kernel.set(0, &kept);
        run(&setup.queue, &kernel, &[1], &[1]);
        assert_eq!(read::<i32>(&setup.queue, &kept)[0], 1);
        drop(setup.context.zeros::<u8>(16 << 20));
    });
    assert_eq!(output.stdout, "CL_MEM_OBJECT_ALLOCATION_FAILURE\n");
}

#[test]
fn scratch_memory_that_the_system_refuses() {
    if !is_lockstep() {
        return;
    }
    // One variant for all sizes, so that nothing is compiled where memory is scarce.
    let environment = [("LOCKSTEP_SPECIALIZE", "0"), ("LOCKSTEP_THREADS", "1")];
    let output = in_child("scratch_memory_that_the_system_refuses", &environment, || {
        let setup = Setup::new();
        let source = "kernel void f(global uint *a) {
            uint kept[4096];
            uint g = get_global_id(0);
            for (uint i = 0; i < 4096; ++i) kept[i] = i * 3 + g;
            barrier(CLK_GLOBAL_MEM_FENCE);
            a[g] = kept[g * 7 & 4095];
        }";
        let kernel = setup.context.kernel(source, "f");
        let buffer = setup.context.zeros::<u32>(4096);
        kernel.set(0, &buffer);
        run(&setup.queue, &kernel, &[1], &[1]);
        limit_address_space(16 << 20);
        let most = kernel.group_info::<usize>(CL_KERNEL_WORK_GROUP_SIZE);
        assert!(most * 4096 * 4 > 32 << 20, "{most} work-items are no problem");
        let event = launch(&setup.queue, &kernel, &[most], &[most], &[]);
        expect(event.wait(), CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST);
        println!("{}", code_name(event.status()));
        // Small groups still run.
        run(&setup.queue, &kernel, &[64], &[1]);
        println!("{}", read::<u32>(&setup.queue, &buffer)[1]);
    });
    assert_eq!(output.stdout, "CL_OUT_OF_RESOURCES\n22\n");
}

#[test]
fn leaving_while_commands_run() {
    let output = in_child("leaving_while_commands_run", &[], || {
        let setup = Setup::new();
        let source = "kernel void f(global uint *a) {
            uint x = get_global_id(0);
            for (int i = 0; i < 100000; ++i) x = x * 1664525 + 1013904223;
            a[get_global_id(0) & 1023] = x;
        }";
        let kernel = setup.context.kernel(source, "f");
        let buffer = setup.context.zeros::<u32>(1024);
        kernel.set(0, &buffer);
        let gate = setup.context.user_event();
        for _ in 0..10 {
            ok(try_launch(&setup.queue, &kernel, &[1 << 14], &[]));
        }
        let waiting = launch(&setup.queue, &kernel, &[64], &[], &[&gate]);
        ok((cl().clFlush)(setup.queue.raw()));
        println!("leaving");
        // The process ends with all of these alive, one command running and one waiting for ever.
        std::mem::forget((setup, kernel, buffer, gate, waiting));
    });
    assert_eq!(output.stdout, "leaving\n");
}

#[test]
fn many_objects() {
    let setup = Setup::new();
    let buffers: Vec<Buffer> = (0..20_000).map(|i| setup.context.with_values(&[i])).collect();
    for at in [0_usize, 777, 19_999] {
        assert_eq!(read::<i32>(&setup.queue, &buffers[at]), [at as i32]);
    }
    finish(&setup.queue);
}
