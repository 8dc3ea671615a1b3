//! Kernel arguments in all forms, and the errors of setting them.

use std::ptr;

use lockstep_conformance::commands::try_launch;
use lockstep_conformance::loader::cl;
use lockstep_conformance::objects::Argument;
use lockstep_conformance::opencl_sys::*;
use lockstep_conformance::{Buffer, Setup, arguments, expect, is_lockstep, ok, read, run};

#[test]
fn scalars_of_each_type() {
    let setup = Setup::new();
    let source =
        "kernel void f(global double *out, char c, uchar uc, short s, ushort us, int i, uint ui, long l, ulong ul,
                                 float x, double y, size_t_like n) {
        out[0] = c; out[1] = uc; out[2] = s; out[3] = us; out[4] = i; out[5] = ui; out[6] = l; out[7] = ul;
        out[8] = x; out[9] = y; out[10] = n;
    }";
    let source = format!("typedef ulong size_t_like;\n{source}");
    let kernel = setup.context.kernel(&source, "f");
    let out = setup.context.zeros::<f64>(11);
    kernel.set_all(arguments![
        &out,
        -5_i8,
        250_u8,
        -30000_i16,
        60000_u16,
        i32::MIN,
        u32::MAX,
        -(1_i64 << 40),
        1_u64 << 50,
        0.25_f32,
        -1e300_f64,
        12345_usize
    ]);
    run(&setup.queue, &kernel, &[1], &[1]);
    let wanted = [
        -5.0,
        250.0,
        -30000.0,
        60000.0,
        f64::from(i32::MIN),
        f64::from(u32::MAX),
        -((1_i64 << 40) as f64),
        (1_u64 << 50) as f64,
        0.25,
        -1e300,
        12345.0,
    ];
    assert_eq!(read::<f64>(&setup.queue, &out), wanted);
}

#[test]
fn vectors_of_each_width() {
    let setup = Setup::new();
    let source =
        "kernel void f(global float *out, float2 a, float3 b, float4 c, float8 d, float16 e, char3 g, long2 h) {
        int n = 0;
        out[n++] = a.x; out[n++] = a.y;
        out[n++] = b.x; out[n++] = b.y; out[n++] = b.z;
        vstore4(c, 0, out + n); n += 4;
        vstore8(d, 0, out + n); n += 8;
        vstore16(e, 0, out + n); n += 16;
        out[n++] = g.x; out[n++] = g.y; out[n++] = g.z;
        out[n++] = h.x; out[n++] = h.y;
    }";
    let kernel = setup.context.kernel(source, "f");
    let out = setup.context.zeros::<f32>(38);
    let ramp = |start: usize| move |i: usize| (start + i) as f32;
    kernel.set_all(arguments![
        &out,
        std::array::from_fn::<f32, 2, _>(ramp(0)),
        // A vector of three has the size of one of four.
        std::array::from_fn::<f32, 4, _>(ramp(2)),
        std::array::from_fn::<f32, 4, _>(ramp(5)),
        std::array::from_fn::<f32, 8, _>(ramp(9)),
        std::array::from_fn::<f32, 16, _>(ramp(17)),
        [33_i8, 34, 35, 99],
        [36_i64, 37],
    ]);
    run(&setup.queue, &kernel, &[1], &[1]);
    assert_eq!(read::<f32>(&setup.queue, &out), (0..38).map(|i| i as f32).collect::<Vec<_>>());
}

#[test]
fn vectors_of_every_element() {
    let setup = Setup::new();
    for (element, size) in [("char", 1), ("ushort", 2), ("int", 4), ("ulong", 8), ("double", 8)] {
        for (width, room) in [(2, 2), (3, 4), (4, 4), (8, 8), (16, 16)] {
            let source = format!(
                "kernel void f(global {element} *out, {element}{width} v, int after) {{
                    vstore{width}(v, 0, out);
                    if (after != 77) out[0] = 0;
                }}"
            );
            let kernel = setup.context.kernel(&source, "f");
            let bytes: Vec<u8> = (1..=(size * room) as u8).map(|byte| byte % 7 * 16 + byte).collect();
            let out = setup.context.zeros::<u8>(size * 16);
            kernel.set(0, &out);
            let code = (cl().clSetKernelArg)(kernel.raw(), 1, bytes.len() - 1, bytes.as_ptr().cast());
            expect(code, CL_INVALID_ARG_SIZE);
            kernel.set_all(vec![Argument::from(&out), Argument::Bytes(bytes.clone()), Argument::from(77_i32)]);
            run(&setup.queue, &kernel, &[1], &[1]);
            let got = read::<u8>(&setup.queue, &out);
            assert_eq!(got[..size * width], bytes[..size * width], "{element}{width}");
        }
    }
}

#[test]
fn structs_by_value() {
    let setup = Setup::new();
    let source = "
        typedef struct { char kind; int values[3]; double weight; short tail; } Inner;
        typedef struct { Inner inner; float4 vector; uchar last; } Outer;
        kernel void f(global double *out, Inner a, int between, Outer b) {
            size_t g = get_global_id(0);
            out[0] = a.kind; out[1] = a.values[g % 3 + 1]; out[2] = a.weight; out[3] = a.tail;
            out[4] = between;
            out[5] = b.inner.values[2]; out[6] = b.vector.w; out[7] = b.last;
            a.values[0] = 5;
            out[8] = a.values[0];
        }";
    let kernel = setup.context.kernel(source, "f");
    let out = setup.context.zeros::<f64>(9);
    let mut inner = [0_u8; 32];
    inner[0] = -3_i8 as u8;
    for (at, value) in [(4, 10_i32), (8, 20), (12, 30)] {
        inner[at..at + 4].copy_from_slice(&value.to_ne_bytes());
    }
    inner[16..24].copy_from_slice(&2.5_f64.to_ne_bytes());
    inner[24..26].copy_from_slice(&(-7_i16).to_ne_bytes());
    let mut outer = [0_u8; 64];
    outer[..32].copy_from_slice(&inner);
    outer[44..48].copy_from_slice(&6.5_f32.to_ne_bytes());
    outer[48] = 200;
    kernel.set_all(arguments![&out, inner, 42_i32, outer]);
    run(&setup.queue, &kernel, &[1], &[1]);
    assert_eq!(read::<f64>(&setup.queue, &out), [-3.0, 20.0, 2.5, -7.0, 42.0, 30.0, 6.5, 200.0, 5.0]);
    expect(kernel.try_set(1, [0_u8; 28]), CL_INVALID_ARG_SIZE);
}

#[test]
fn constant_pointers() {
    let setup = Setup::new();
    let source = "kernel void f(constant int *table, constant float4 *more, global float *out) {
        size_t g = get_global_id(0);
        out[g] = table[g & 7] + more[g & 1].z;
    }";
    let kernel = setup.context.kernel(source, "f");
    let table: Vec<i32> = (0..8).map(|i| i * i).collect();
    let more: Vec<f32> = (0..8).map(|i| i as f32 * 0.5).collect();
    let out = setup.context.zeros::<f32>(64);
    let buffers = [setup.context.with_values(&table), setup.context.with_values(&more)];
    kernel.set_all(arguments![&buffers[0], &buffers[1], &out]);
    run(&setup.queue, &kernel, &[64], &[8]);
    let wanted: Vec<f32> = (0..64).map(|g| table[g & 7] as f32 + more[4 * (g & 1) + 2]).collect();
    assert_eq!(read::<f32>(&setup.queue, &out), wanted);
}

#[test]
fn null_buffers() {
    let setup = Setup::new();
    let source = "kernel void f(global int *a, constant int *b, global int *out) {
        out[0] = a == 0; out[1] = b == 0;
    }";
    let kernel = setup.context.kernel(source, "f");
    let out = setup.context.with_values(&[-1_i32, -1]);
    let buffer = setup.context.zeros::<i32>(1);
    kernel.set(2, &out);
    // "If the argument is a buffer object, the arg_value pointer can be NULL or point to a NULL value".
    kernel.set(0, Argument::Null);
    kernel.set(1, Argument::Bytes(vec![0; 8]));
    run(&setup.queue, &kernel, &[1], &[1]);
    assert_eq!(read::<i32>(&setup.queue, &out), [1, 1]);
    kernel.set(0, &buffer);
    kernel.set(1, &buffer);
    run(&setup.queue, &kernel, &[1], &[1]);
    assert_eq!(read::<i32>(&setup.queue, &out), [0, 0]);
}

#[test]
fn several_local_arguments_do_not_overlap() {
    let setup = Setup::new();
    let source = "kernel void f(local char *a, local double *b, local int *c, local float4 *d, global int *out) {
        size_t l = get_local_id(0), n = get_local_size(0);
        a[l] = l; b[l] = l * 0.5; c[l] = l * 3; d[l] = (float4)(l, l + 1, l + 2, l + 3);
        barrier(CLK_LOCAL_MEM_FENCE);
        size_t r = n - 1 - l;
        bool aligned = ((size_t)b & 7) == 0 && ((size_t)c & 3) == 0 && ((size_t)d & 15) == 0;
        out[get_global_id(0)] = a[r] + (int)(b[r] * 2.0) + c[r] + (int)d[r].w + (aligned ? 0 : 1000000);
    }";
    let kernel = setup.context.kernel(source, "f");
    let out = setup.context.zeros::<i32>(64);
    let local = Argument::Local;
    kernel.set_all(vec![local(19), local(19 * 8), local(19 * 4), local(19 * 16), Argument::from(&out)]);
    run(&setup.queue, &kernel, &[57], &[19]);
    let wanted: Vec<i32> = (0..57).map(|g| 18 - g % 19).map(|r| r + r + 3 * r + r + 3).collect();
    assert_eq!(read::<i32>(&setup.queue, &out)[..57], wanted);
}

#[test]
fn arguments_are_taken_at_enqueue() {
    let setup = Setup::new();
    let kernel = setup.context.kernel("kernel void f(global int *out, int at, int value) { out[at] = value; }", "f");
    let out = setup.context.zeros::<i32>(100);
    kernel.set(0, &out);
    for at in 0..100 {
        kernel.set(1, at);
        kernel.set(2, at * at);
        ok(try_launch(&setup.queue, &kernel, &[1], &[1]));
    }
    assert_eq!(read::<i32>(&setup.queue, &out), (0..100).map(|at| at * at).collect::<Vec<i32>>());
}

#[test]
fn arguments_stay_set_between_launches() {
    let setup = Setup::new();
    let kernel = setup.context.kernel("kernel void f(global int *a, int by) { a[get_global_id(0)] += by; }", "f");
    let buffer = setup.context.zeros::<i32>(8);
    kernel.set_all(arguments![&buffer, 3]);
    for _ in 0..5 {
        run(&setup.queue, &kernel, &[8], &[]);
    }
    assert_eq!(read::<i32>(&setup.queue, &buffer), [15; 8]);
}

#[test]
fn sub_buffers_as_arguments() {
    let setup = Setup::new();
    let kernel =
        setup.context.kernel("kernel void f(global int *a) { a[get_global_id(0)] = get_global_id(0) + 1; }", "f");
    let buffer = setup.context.zeros::<i32>(1024);
    let region = cl_buffer_region { origin: 2048, size: 64 };
    let mut code = 1;
    let sub = (cl().clCreateSubBuffer)(
        buffer.raw(),
        CL_MEM_READ_WRITE,
        CL_BUFFER_CREATE_TYPE_REGION,
        (&raw const region).cast(),
        &mut code,
    );
    ok(code);
    let sub = Buffer::own(sub);
    kernel.set(0, &sub);
    run(&setup.queue, &kernel, &[16], &[]);
    let got = read::<i32>(&setup.queue, &buffer);
    for (at, value) in got.iter().enumerate() {
        let wanted = if (512..528).contains(&at) { at as i32 - 511 } else { 0 };
        assert_eq!(*value, wanted, "element {at}");
    }
}

#[test]
fn errors_of_setting_arguments() {
    let setup = Setup::new();
    let source = "typedef struct { int a, b, c; } S;
        kernel void f(global int *a, int b, local int *c, float4 d, S e, constant int *k) { a[0] = b + c[0] + d.x + e.a + k[0]; }";
    let kernel = setup.context.kernel(source, "f");
    let buffer = setup.context.zeros::<i32>(16);
    expect(kernel.try_set(6, 1), CL_INVALID_ARG_INDEX);
    expect(kernel.try_set(u32::MAX as usize, 1), CL_INVALID_ARG_INDEX);
    // A value: its exact size, and not null.
    for size in [0, 1, 3, 5, 8] {
        expect(kernel.try_set(1, Argument::Bytes(vec![0; size])), CL_INVALID_ARG_SIZE);
    }
    expect((cl().clSetKernelArg)(kernel.raw(), 1, 4, ptr::null()), CL_INVALID_ARG_VALUE);
    expect(kernel.try_set(3, [0.0_f32; 3]), CL_INVALID_ARG_SIZE);
    expect(kernel.try_set(4, [0_i32; 2]), CL_INVALID_ARG_SIZE);
    // Local memory: "CL_INVALID_ARG_VALUE if ... arg_value specified is ... not NULL for an argument declared with the
    // __local qualifier"; before OpenCL 3.1 "CL_INVALID_ARG_SIZE if arg_size is zero and the argument is declared with __local".
    expect(kernel.try_set(2, 16_i32), CL_INVALID_ARG_VALUE);
    expect(kernel.try_set(2, Argument::Local(0)), if is_lockstep() { CL_SUCCESS } else { CL_INVALID_ARG_SIZE });
    // A buffer: the size of a handle, and a memory object.
    expect(kernel.try_set(0, Argument::Bytes(vec![0; 4])), CL_INVALID_ARG_SIZE);
    expect(kernel.try_set(5, Argument::Bytes(vec![0; 16])), CL_INVALID_ARG_SIZE);
    expect(kernel.try_set(0, setup.context.raw() as usize), CL_INVALID_MEM_OBJECT);
    kernel.set_all(vec![Argument::from(&buffer), Argument::from(1), Argument::Local(64)]);
    kernel.set(3, [0.0_f32; 4]);
    kernel.set(5, &buffer);
    // "CL_INVALID_KERNEL_ARGS if the kernel argument values have not been specified".
    expect(try_launch(&setup.queue, &kernel, &[1], &[1]), CL_INVALID_KERNEL_ARGS);
    kernel.set(4, [7_i32, 0, 0]);
    ok(try_launch(&setup.queue, &kernel, &[1], &[1]));
    lockstep_conformance::commands::finish(&setup.queue);
}

#[test]
fn a_failed_set_keeps_the_old_value() {
    let setup = Setup::new();
    let kernel = setup.context.kernel("kernel void f(global int *a, int v) { a[0] = v; }", "f");
    let buffer = setup.context.zeros::<i32>(1);
    kernel.set_all(arguments![&buffer, 11]);
    expect(kernel.try_set(1, 5_u8), CL_INVALID_ARG_SIZE);
    run(&setup.queue, &kernel, &[1], &[1]);
    assert_eq!(read::<i32>(&setup.queue, &buffer), [11]);
}

#[test]
fn too_much_local_memory() {
    let setup = Setup::new();
    let kernel = setup.context.kernel("kernel void f(local int *a, global int *out) { a[0] = 1; out[0] = a[0]; }", "f");
    let out = setup.context.zeros::<i32>(1);
    kernel.set(1, &out);
    let code = kernel.try_set(0, Argument::Local(1 << 40));
    if code == CL_SUCCESS {
        // "CL_OUT_OF_RESOURCES if there is a failure to queue the execution instance ... because of insufficient
        // resources needed to execute the kernel".
        expect(try_launch(&setup.queue, &kernel, &[1], &[1]), CL_OUT_OF_RESOURCES);
    } else {
        // OpenCL 3.0 also lets clSetKernelArg check: "CL_MAX_SIZE_RESTRICTION_EXCEEDED if the size in bytes of the
        // memory object ... exceeds a maximum size restriction".
        assert!(code == CL_MAX_SIZE_RESTRICTION_EXCEEDED || code == CL_OUT_OF_RESOURCES || code == CL_INVALID_ARG_SIZE);
    }
}

#[test]
fn cloned_kernels_have_their_own_arguments() {
    let setup = Setup::new();
    let kernel = setup.context.kernel("kernel void f(global int *a, int v) { a[get_global_id(0)] = v; }", "f");
    let (first, second) = (setup.context.zeros::<i32>(4), setup.context.zeros::<i32>(4));
    kernel.set_all(arguments![&first, 1]);
    let mut code = 1;
    let clone = (cl().clCloneKernel)(kernel.raw(), &mut code);
    ok(code);
    let clone = lockstep_conformance::Kernel::own(clone);
    kernel.set(1, 2);
    clone.set(0, &second);
    run(&setup.queue, &kernel, &[4], &[]);
    run(&setup.queue, &clone, &[4], &[]);
    assert_eq!(read::<i32>(&setup.queue, &first), [2; 4]);
    assert_eq!(read::<i32>(&setup.queue, &second), [1; 4], "the clone keeps what was set before it was made");
}

#[test]
fn local_memory_of_no_bytes() {
    if !is_lockstep() {
        return;
    }
    let setup = Setup::new();
    let source = "kernel void f(global int *out, local int *none, local int *some, int count) {
            size_t l = get_local_id(0);
            if (l < count) none[l] = 1;
            some[l] = (int)l + 5;
            barrier(CLK_LOCAL_MEM_FENCE);
            out[get_global_id(0)] = some[get_local_size(0) - 1 - l];
        }";
    let kernel = setup.context.kernel(source, "f");
    let out = setup.context.zeros::<i32>(8);
    kernel.set_all(vec![Argument::from(&out), Argument::Local(0), Argument::Local(16), Argument::from(0)]);
    run(&setup.queue, &kernel, &[8], &[4]);
    assert_eq!(read::<i32>(&setup.queue, &out), [8, 7, 6, 5, 8, 7, 6, 5]);
}
