//! Pipes: packets of many types through single and reserved writes, of work-items and of groups, and every error.

use std::ptr;

use lockstep_conformance::loader::{cl, device};
use lockstep_conformance::objects::Context;
use lockstep_conformance::opencl_sys::*;
use lockstep_conformance::{Buffer, Kernel, Plain, Setup, arguments, expect, info, ok, read, run};

fn of_device<T: Plain>(name: cl_device_info) -> T {
    info::value(|size, value, returned| (cl().clGetDeviceInfo)(device(), name, size, value, returned))
}

fn has_pipes() -> bool {
    of_device::<cl_bool>(CL_DEVICE_PIPE_SUPPORT) == CL_TRUE
}

fn try_pipe(context: &Context, flags: cl_mem_flags, size: cl_uint, count: cl_uint) -> Result<Buffer, cl_int> {
    let mut code = 1;
    let pipe = (cl().clCreatePipe)(context.raw(), flags, size, count, ptr::null(), &mut code);
    if pipe.is_null() { Err(code) } else { Ok(Buffer::own(pipe)) }
}

fn pipe(context: &Context, size: usize, count: u32) -> Buffer {
    try_pipe(context, 0, size as cl_uint, count).unwrap()
}

/// The kernel `k` of a program in OpenCL C 3.0.
fn kernel(context: &Context, source: &str) -> Kernel {
    context.build(source, "-cl-std=CL3.0").kernel("k")
}

fn sorted(mut values: Vec<i32>) -> Vec<i32> {
    values.sort_unstable();
    values
}

/// Numbers go through a pipe in both directions of a ring, more often than it has places; what does not fit is refused.
#[test]
fn single_packets() {
    if !has_pipes() {
        return;
    }
    let setup = Setup::new();
    let program = setup.context.build(
        "kernel void give(write_only pipe int p, global int *codes, int base) {
            int i = get_global_id(0), value = base + i;
            codes[i] = write_pipe(p, &value);
        }
        kernel void take(read_only pipe int p, global int *codes, global int *out, global uint *left) {
            int i = get_global_id(0), value = -1;
            left[i] = get_pipe_max_packets(p);
            codes[i] = read_pipe(p, &value);
            out[i] = value;
        }
        kernel void count(read_only pipe int p, global uint *out) { *out = get_pipe_num_packets(p); }",
        "-cl-std=CL3.0",
    );
    let [give, take, count] = ["give", "take", "count"].map(|name| program.kernel(name));
    let pipe = pipe(&setup.context, 4, 100);
    let [codes, out, left, there] = [256, 256, 256, 1].map(|count| setup.context.zeros::<i32>(count));
    let waiting = || {
        count.set_all(arguments![&pipe, &there]);
        run(&setup.queue, &count, &[1], &[1]);
        read::<u32>(&setup.queue, &there)[0]
    };
    for round in 0..5 {
        give.set_all(arguments![&pipe, &codes, round * 1000]);
        run(&setup.queue, &give, &[256], &[64]);
        let refused = read::<i32>(&setup.queue, &codes).into_iter().filter(|&code| code < 0).count();
        assert_eq!((refused, waiting()), (156, 100));
        take.set_all(arguments![&pipe, &codes, &out, &left]);
        run(&setup.queue, &take, &[70], &[7]);
        assert_eq!(read::<u32>(&setup.queue, &left)[..70], [100; 70]);
        assert!(read::<i32>(&setup.queue, &codes)[..70].iter().all(|&code| code == 0));
        let first: Vec<i32> = read::<i32>(&setup.queue, &out)[..70].to_vec();
        assert_eq!(waiting(), 30);
        run(&setup.queue, &take, &[70], &[70]);
        let (codes, rest) = (read::<i32>(&setup.queue, &codes), read::<i32>(&setup.queue, &out));
        let second = (0..70).filter(|&i| codes[i] == 0).map(|i| rest[i]);
        let all = sorted(first.into_iter().chain(second).collect());
        assert_eq!(all.len(), 100);
        assert!(all.windows(2).all(|pair| pair[0] < pair[1]), "a packet came twice");
        assert!(all.iter().all(|value| (round * 1000..round * 1000 + 256).contains(value)));
        assert_eq!(waiting(), 0);
    }
}

/// Reservations of work-items, of groups and of sub-groups, for packets of several types.
#[test]
fn reservations() {
    if !has_pipes() {
        return;
    }
    let setup = Setup::new();
    let source = "
        typedef struct { char a; short b; char c; } odd;
        typedef struct { long4 a; int b; } large;
        T made(int i);
        int number(T value);
        #define RESERVED(WHO, COUNT, INDEX)                                                                  \\
            kernel void give_##WHO(write_only pipe T p, global int *in) {                                    \\
                int i = get_global_id(0);                                                                    \\
                reserve_id_t id = WHO##reserve_write_pipe(p, COUNT);                                         \\
                if (is_valid_reserve_id(id)) {                                                               \\
                    T value = made(in[i]);                                                                   \\
                    write_pipe(p, id, INDEX, &value);                                                        \\
                    WHO##commit_write_pipe(p, id);                                                           \\
                }                                                                                            \\
            }                                                                                                \\
            kernel void take_##WHO(read_only pipe T p, global int *out) {                                    \\
                int i = get_global_id(0);                                                                    \\
                reserve_id_t id = WHO##reserve_read_pipe(p, COUNT);                                          \\
                if (is_valid_reserve_id(id)) {                                                               \\
                    T value;                                                                                 \\
                    out[i] = read_pipe(p, id, INDEX, &value) ? -2 : number(value);                           \\
                    WHO##commit_read_pipe(p, id);                                                            \\
                } else out[i] = -1;                                                                          \\
            }
        RESERVED(, 1, 0)
        RESERVED(work_group_, get_local_size(0), get_local_id(0))
        RESERVED(sub_group_, get_sub_group_size(), get_sub_group_local_id())";
    let types = [
        ("char", 1, "T made(int i) { return i; } int number(T v) { return v & 127; }"),
        ("ushort", 2, "T made(int i) { return i; } int number(T v) { return v; }"),
        ("float", 4, "T made(int i) { return i; } int number(T v) { return v; }"),
        ("double", 8, "T made(int i) { return i; } int number(T v) { return v; }"),
        ("int8", 32, "T made(int i) { return i; } int number(T v) { return v.s7; }"),
        ("odd", 6, "T made(int i) { odd v = {1, i, 2}; return v; } int number(T v) { return v.b; }"),
        ("large", 64, "T made(int i) { large v = {i, i + 1}; return v; } int number(T v) { return v.a.w; }"),
    ];
    let inputs: Vec<i32> = (0..96).collect();
    for (name, size, functions) in types {
        let source = format!("{source}\n{functions}").replace("T made(int i);", "T made(int i); ");
        let program = setup.context.build(&source, &format!("-cl-std=CL3.0 -DT={name}"));
        let pipe = pipe(&setup.context, size, 96);
        let (input, out) = (setup.context.with_values(&inputs), setup.context.zeros::<i32>(96));
        for who in ["", "work_group_", "sub_group_"] {
            let [give, take] = ["give_", "take_"].map(|what| program.kernel(&format!("{what}{who}")));
            for local in [1, 3, 16, 32] {
                give.set_all(arguments![&pipe, &input]);
                run(&setup.queue, &give, &[96], &[local]);
                take.set_all(arguments![&pipe, &out]);
                run(&setup.queue, &take, &[96], &[local]);
                let found = sorted(read(&setup.queue, &out));
                assert_eq!(found, inputs, "{name}, {who}reserve, groups of {local}");
            }
        }
    }
}

/// A reservation takes all packets or none, and packets that are given back out of turn wait for those before them.
#[test]
fn reservations_out_of_turn() {
    if !has_pipes() {
        return;
    }
    let setup = Setup::new();
    let kernel = kernel(
        &setup.context,
        "kernel void k(write_only pipe int p, global uint *out) {
            int value = 5;
            out[0] = is_valid_reserve_id(reserve_write_pipe(p, 9));
            reserve_id_t a = reserve_write_pipe(p, 3), b = reserve_write_pipe(p, 5);
            out[1] = is_valid_reserve_id(a) && is_valid_reserve_id(b);
            out[2] = is_valid_reserve_id(reserve_write_pipe(p, 1));
            out[3] = write_pipe(p, &value) < 0;
            out[4] = write_pipe(p, a, 3, &value) < 0;
            out[5] = write_pipe(p, a, 2, &value) == 0;
            commit_write_pipe(p, b);
            out[6] = get_pipe_num_packets(p);
            commit_write_pipe(p, a);
            out[7] = get_pipe_num_packets(p);
            out[8] = is_valid_reserve_id(reserve_write_pipe(p, 0));
        }",
    );
    let (pipe, out) = (pipe(&setup.context, 4, 8), setup.context.zeros::<u32>(9));
    kernel.set_all(arguments![&pipe, &out]);
    run(&setup.queue, &kernel, &[1], &[1]);
    assert_eq!(read::<u32>(&setup.queue, &out), [0, 1, 0, 1, 1, 1, 0, 8, 0]);
}

#[test]
fn queries() {
    if !has_pipes() {
        return;
    }
    let setup = Setup::new();
    assert!(of_device::<cl_uint>(CL_DEVICE_MAX_PIPE_ARGS) >= 16);
    assert!(of_device::<cl_uint>(CL_DEVICE_PIPE_MAX_ACTIVE_RESERVATIONS) >= 1);
    assert!(of_device::<cl_uint>(CL_DEVICE_PIPE_MAX_PACKET_SIZE) >= 1024);
    let pipe = pipe(&setup.context, 12, 7);
    let ask = |name| info::value::<cl_uint>(|s, v, r| (cl().clGetPipeInfo)(pipe.raw(), name, s, v, r));
    assert_eq!((ask(CL_PIPE_PACKET_SIZE), ask(CL_PIPE_MAX_PACKETS)), (12, 7));
    let list: Vec<cl_pipe_properties> =
        info::array(|s, v, r| (cl().clGetPipeInfo)(pipe.raw(), CL_PIPE_PROPERTIES, s, v, r));
    assert!(list.is_empty());
    assert_eq!(pipe.info::<cl_mem_object_type>(CL_MEM_TYPE), CL_MEM_OBJECT_PIPE);
    assert_eq!(pipe.info::<cl_mem_flags>(CL_MEM_FLAGS), CL_MEM_READ_WRITE | CL_MEM_HOST_NO_ACCESS);
    let kernel = kernel(&setup.context, "kernel void k(read_only pipe int4 p) {}");
    // A bit field of 64 bits.
    let qualifiers: u64 =
        info::value(|s, v, r| (cl().clGetKernelArgInfo)(kernel.raw(), 0, CL_KERNEL_ARG_TYPE_QUALIFIER, s, v, r));
    assert_eq!(qualifiers, u64::from(CL_KERNEL_ARG_TYPE_PIPE));
}

/// A pipe is no buffer, and a buffer is no pipe.
#[test]
fn errors() {
    if !has_pipes() {
        return;
    }
    let setup = Setup::new();
    let context = &setup.context;
    let refused = |flags, size, count| try_pipe(context, flags, size, count).err();
    assert_eq!(refused(CL_MEM_READ_ONLY, 4, 4), Some(CL_INVALID_VALUE));
    assert_eq!(refused(CL_MEM_READ_WRITE | CL_MEM_HOST_READ_ONLY, 4, 4), Some(CL_INVALID_VALUE));
    assert_eq!(refused(0, 0, 4), Some(CL_INVALID_PIPE_SIZE));
    assert_eq!(refused(0, 4, 0), Some(CL_INVALID_PIPE_SIZE));
    let most = of_device::<cl_uint>(CL_DEVICE_PIPE_MAX_PACKET_SIZE);
    assert_eq!(refused(0, most.saturating_add(1), 4), Some(CL_INVALID_PIPE_SIZE));
    assert_eq!(refused(0, most, u32::MAX), Some(CL_MEM_OBJECT_ALLOCATION_FAILURE));
    let (list, mut code): ([cl_pipe_properties; 1], cl_int) = ([0], 1);
    assert!((cl().clCreatePipe)(context.raw(), 0, 4, 4, list.as_ptr(), &mut code).is_null());
    expect(code, CL_INVALID_VALUE);

    let (pipe, buffer) = (pipe(context, 4, 64), context.zeros::<u8>(1024));
    let unknown = (cl().clGetPipeInfo)(pipe.raw(), CL_MEM_SIZE, 0, ptr::null_mut(), ptr::null_mut());
    expect(unknown, CL_INVALID_VALUE);
    let of_buffer = (cl().clGetPipeInfo)(buffer.raw(), CL_PIPE_PACKET_SIZE, 0, ptr::null_mut(), ptr::null_mut());
    expect(of_buffer, CL_INVALID_MEM_OBJECT);
    let mut bytes = [0_u8; 4];
    let into = bytes.as_mut_ptr().cast();
    let queue = setup.queue.raw();
    let read = (cl().clEnqueueReadBuffer)(queue, pipe.raw(), 1, 0, 4, into, 0, ptr::null(), ptr::null_mut());
    expect(read, CL_INVALID_MEM_OBJECT);
    let region = cl_buffer_region { origin: 0, size: 4 };
    let create = CL_BUFFER_CREATE_TYPE_REGION;
    let part = (cl().clCreateSubBuffer)(pipe.raw(), 0, create, ptr::from_ref(&region).cast(), &mut code);
    assert!(part.is_null());
    expect(code, CL_INVALID_MEM_OBJECT);

    let kernel = kernel(context, "kernel void k(read_only pipe int p, global int *out) { read_pipe(p, out); }");
    expect(kernel.try_set(0, &buffer), CL_INVALID_MEM_OBJECT);
    expect(kernel.try_set(1, &pipe), CL_INVALID_MEM_OBJECT);
    expect((cl().clSetKernelArg)(kernel.raw(), 0, size_of::<cl_mem>(), ptr::null()), CL_INVALID_MEM_OBJECT);
    expect((cl().clSetKernelArgSVMPointer)(kernel.raw(), 0, into), CL_INVALID_ARG_VALUE);
    ok(kernel.try_set(0, &pipe));
}

/// A kernel whose packets have another size than the pipe's gets none, and breaks nothing.
#[test]
fn packets_of_another_size() {
    if !has_pipes() {
        return;
    }
    let setup = Setup::new();
    let kernel = kernel(
        &setup.context,
        "kernel void k(write_only pipe long p, global int *out) {
            long value = 1;
            out[0] = write_pipe(p, &value);
            out[1] = is_valid_reserve_id(reserve_write_pipe(p, 1));
        }",
    );
    let (pipe, out) = (pipe(&setup.context, 4, 8), setup.context.zeros::<i32>(2));
    kernel.set_all(arguments![&pipe, &out]);
    run(&setup.queue, &kernel, &[1], &[1]);
    assert!(read::<i32>(&setup.queue, &out)[0] < 0);
    assert_eq!(read::<i32>(&setup.queue, &out)[1], 0);
}
