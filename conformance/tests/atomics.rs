//! Atomics: the functions of OpenCL 1.x and those of C11, on global and local memory, with items that contend.

use lockstep_conformance::loader::{cl, device, is_lockstep};
use lockstep_conformance::opencl_sys::*;
use lockstep_conformance::{Random, Setup, arguments, info, read, run};

const ITEMS: usize = 1 << 14;

/// Runs `kernel void f(global const int *in, global int *out)` over many items and returns the results.
#[track_caller]
fn results(source: &str, options: &str, input: &[i32], out: &[i32], local: &[usize]) -> Vec<i32> {
    let setup = Setup::new();
    let kernel = setup.context.build(source, options).kernel("f");
    let (from, to) = (setup.context.with_values(input), setup.context.with_values(out));
    kernel.set_all(arguments![&from, &to]);
    run(&setup.queue, &kernel, &[input.len()], local);
    read(&setup.queue, &to)
}

fn input() -> Vec<i32> {
    Random::new(21).ints(ITEMS, 1 << 20)
}

#[test]
fn every_function_of_1_1() {
    let source = "kernel void f(global const int *in, global int *out) {
        int v = in[get_global_id(0)];
        atomic_add(out + 0, v & 15);
        atomic_sub(out + 1, v & 15);
        atomic_inc(out + 2);
        atomic_dec(out + 3);
        atomic_min(out + 4, v);
        atomic_max(out + 5, v);
        atomic_and(out + 6, v | 0xff000000);
        atomic_or(out + 7, v);
        atomic_xor(out + 8, v);
        atomic_min((volatile global uint *)out + 9, (uint)-v);
        atomic_max((volatile global uint *)out + 10, (uint)-v);
        atom_add(out + 11, 1);
    }";
    let input = input();
    let got = results(source, "", &input, &[0, 0, 0, 0, i32::MAX, i32::MIN, -1, 0, 0, -1, 0, 0], &[]);
    let sum: i32 = input.iter().map(|v| v & 15).sum();
    let unsigned = input.iter().map(|v| v.wrapping_neg() as u32);
    let wanted = [
        sum,
        -sum,
        ITEMS as i32,
        -(ITEMS as i32),
        *input.iter().min().expect("items"),
        *input.iter().max().expect("items"),
        input.iter().fold(-1, |all, v| all & (v | 0xff00_0000_u32 as i32)),
        input.iter().fold(0, |all, v| all | v),
        input.iter().fold(0, |all, v| all ^ v),
        unsigned.clone().min().expect("items") as i32,
        unsigned.max().expect("items") as i32,
        ITEMS as i32,
    ];
    assert_eq!(got, wanted);
}

#[test]
fn old_values_are_all_different() {
    let source = "kernel void f(global const int *in, global int *out) {
        out[1 + atomic_inc(out)] = in[get_global_id(0)];
    }";
    let input: Vec<i32> = (0..ITEMS as i32).collect();
    let mut got = results(source, "", &input, &vec![0; ITEMS + 1], &[]);
    assert_eq!(got.remove(0), ITEMS as i32);
    got.sort_unstable();
    assert!(got == input, "a place was given twice");
}

#[test]
fn exchange_loses_nothing() {
    let source = "kernel void f(global const int *in, global int *out) {
        size_t g = get_global_id(0);
        out[1 + g] = atomic_xchg(out, (int)g + 1);
    }";
    let input = vec![0; ITEMS];
    let mut got = results(source, "", &input, &vec![0; ITEMS + 1], &[]);
    // What is in the cell at the end and what every item took out are all that was ever put in.
    got.sort_unstable();
    assert!(got == (0..=ITEMS as i32).collect::<Vec<_>>());
}

#[test]
fn float_exchange() {
    let source = "kernel void f(global const int *in, global int *out) {
        global float *cell = (global float *)out;
        cell[1 + get_global_id(0)] = atomic_xchg(cell, (float)in[get_global_id(0)]);
    }";
    let input: Vec<i32> = (1..=64).collect();
    let got = results(source, "", &input, &[0; 65], &[]);
    let mut got: Vec<f32> = got.iter().map(|bits| f32::from_bits(*bits as u32)).collect();
    got.sort_by(f32::total_cmp);
    assert_eq!(got, (0..=64).map(|i| i as f32).collect::<Vec<_>>());
}

#[test]
fn compare_exchange_loops() {
    let source = "kernel void f(global const int *in, global int *out) {
        int v = in[get_global_id(0)] & 7, old = out[0], seen;
        while ((seen = atomic_cmpxchg(out, old, old * 3 + 1)) != old) old = seen;
        float x = v;
        volatile global uint *cell = (volatile global uint *)out + 1;
        uint before, after = *cell;
        do {
            before = after;
            after = atomic_cmpxchg(cell, before, as_uint(as_float(before) + x));
        } while (after != before);
    }";
    let input = input();
    let got = results(source, "", &input, &[1, 0], &[]);
    let wanted = (0..ITEMS).fold(1_i32, |x, _| x.wrapping_mul(3).wrapping_add(1));
    let sum: i32 = input.iter().map(|v| v & 7).sum();
    assert_eq!(got[0], wanted);
    assert_eq!(f32::from_bits(got[1] as u32), sum as f32);
}

#[test]
fn histogram_in_global_memory() {
    let source = "kernel void f(global const int *in, global int *out) {
        int v = in[get_global_id(0)];
        if (v & 1) atomic_inc(&out[v & 63]);
        else if (v % 3 == 0) atomic_add(&out[64 + (v & 63)], v >> 10);
    }";
    let input = input();
    let mut wanted = vec![0; 128];
    for v in &input {
        if v & 1 == 1 {
            wanted[(v & 63) as usize] += 1;
        } else if v % 3 == 0 {
            wanted[64 + (v & 63) as usize] += v >> 10;
        }
    }
    assert_eq!(results(source, "", &input, &[0; 128], &[]), wanted);
}

#[test]
fn local_memory() {
    let source = "kernel void f(global const int *in, global int *out) {
        local int count[4], most;
        size_t l = get_local_id(0), group = get_group_id(0);
        if (l < 4) count[l] = 0;
        if (l == 4) most = -1;
        barrier(CLK_LOCAL_MEM_FENCE);
        int v = in[get_global_id(0)];
        atomic_add(&count[v & 3], v & 31);
        int place = atomic_max(&most, v);
        barrier(CLK_LOCAL_MEM_FENCE);
        if (l < 4) out[group * 5 + l] = count[l];
        if (l == 4) out[group * 5 + 4] = most + (place > most ? 1 : 0);
    }";
    let input = input();
    let wanted: Vec<i32> = input
        .chunks(64)
        .flat_map(|group| {
            let count = |bin| group.iter().filter(|v| **v & 3 == bin).map(|v| v & 31).sum::<i32>();
            [count(0), count(1), count(2), count(3), *group.iter().max().expect("items")]
        })
        .collect();
    assert_eq!(results(source, "", &input, &vec![0; ITEMS / 64 * 5], &[64]), wanted);
}

#[test]
fn wide_integers() {
    let extensions = info::text(|size, value, returned| {
        (cl().clGetDeviceInfo)(device(), CL_DEVICE_EXTENSIONS, size, value, returned)
    });
    if !extensions.contains("cl_khr_int64_extended_atomics") {
        assert!(!is_lockstep());
        return;
    }
    let source = "
        #pragma OPENCL EXTENSION cl_khr_int64_base_atomics : enable
        #pragma OPENCL EXTENSION cl_khr_int64_extended_atomics : enable
        kernel void f(global const int *in, global int *out) {
            long v = (long)in[get_global_id(0)] << 20;
            global long *cells = (global long *)out;
            atom_add(cells + 0, v);
            atom_min(cells + 1, v);
            atom_max(cells + 2, v);
            atom_xor(cells + 3, v);
            atom_inc(cells + 4);
            long old = cells[5], seen;
            while ((seen = atom_cmpxchg(cells + 5, old, old + v)) != old) old = seen;
        }";
    let input = input();
    let mut start = vec![0_i32; 12];
    start[2] = -1;
    start[3] = i32::MAX;
    let got = results(source, "", &input, &start, &[]);
    let got: Vec<i64> = got.chunks(2).map(|half| i64::from(half[0] as u32) | i64::from(half[1]) << 32).collect();
    let wide: Vec<i64> = input.iter().map(|v| i64::from(*v) << 20).collect();
    let sum: i64 = wide.iter().sum();
    let (least, most) = (wide.iter().min().expect("items"), wide.iter().max().expect("items"));
    assert_eq!(got, [sum, *least, *most, wide.iter().fold(0, |all, v| all ^ v), ITEMS as i64, sum]);
}

#[test]
fn functions_of_c11() {
    let features = info::bytes(|size, value, returned| {
        (cl().clGetDeviceInfo)(device(), CL_DEVICE_OPENCL_C_FEATURES, size, value, returned)
    });
    let feature = |name: &str| features.windows(name.len()).any(|window| window == name.as_bytes());
    // The short forms order as seq_cst with the device's scope, and take generic pointers.
    if !(feature("atomic_order_seq_cst") && feature("atomic_scope_device") && feature("generic_address_space")) {
        assert!(!is_lockstep());
        return;
    }
    let source = "kernel void f(global const int *in, global int *out) {
        volatile global atomic_int *cells = (volatile global atomic_int *)out;
        int v = in[get_global_id(0)];
        atomic_fetch_add(cells + 0, v & 15);
        atomic_fetch_sub_explicit(cells + 1, v & 15, memory_order_relaxed);
        atomic_fetch_or(cells + 2, v);
        atomic_fetch_xor_explicit(cells + 3, v, memory_order_acq_rel);
        atomic_fetch_and(cells + 4, v | 0xff000000);
        atomic_fetch_min(cells + 5, v);
        atomic_fetch_max_explicit(cells + 6, v, memory_order_relaxed, memory_scope_device);
        int expected = atomic_load(cells + 7);
        while (!atomic_compare_exchange_weak(cells + 7, &expected, expected * 5 + 3)) { }
        expected = atomic_load_explicit(cells + 8, memory_order_relaxed);
        while (!atomic_compare_exchange_strong_explicit(cells + 8, &expected, expected + 2, memory_order_acq_rel,
                                                        memory_order_relaxed, memory_scope_device)) { }
        if (get_global_id(0) == 5) {
            atomic_store(cells + 9, 77);
            atomic_init(cells + 10, 5);
            out[11] = atomic_exchange(cells + 10, 6);
        }
        volatile global atomic_flag *lock = (volatile global atomic_flag *)(out + 12);
        if (!atomic_flag_test_and_set(lock)) atomic_fetch_add(cells + 13, 1);
    }";
    let input = input();
    let got = results(source, "-cl-std=CL3.0", &input, &[0, 0, 0, 0, -1, i32::MAX, -1, 1, 0, 0, 0, 0, 0, 0], &[]);
    let sum: i32 = input.iter().map(|v| v & 15).sum();
    let wanted = [
        sum,
        -sum,
        input.iter().fold(0, |all, v| all | v),
        input.iter().fold(0, |all, v| all ^ v),
        input.iter().fold(-1, |all, v| all & (v | 0xff00_0000_u32 as i32)),
        *input.iter().min().expect("items"),
        *input.iter().max().expect("items"),
        (0..ITEMS).fold(1_i32, |x, _| x.wrapping_mul(5).wrapping_add(3)),
        2 * ITEMS as i32,
        77,
        6,
        5,
    ];
    assert_eq!(got[..12], wanted);
    assert_eq!(got[13], 1, "one item alone gets the flag");
}

#[test]
fn atomics_under_divergent_control_flow() {
    let source = "kernel void f(global const int *in, global int *out) {
        int v = in[get_global_id(0)] & 31;
        for (int i = 0; i < v; ++i) {
            if (i == 7) continue;
            if (atomic_add(out, 1) < 0) break;
            if (i > 20) { atomic_sub(out + 1, 2); break; }
        }
    }";
    let input = input();
    let mut wanted = [0, 0];
    for v in &input {
        for i in 0..v & 31 {
            if i != 7 {
                wanted[0] += 1;
            }
            if i > 20 {
                wanted[1] -= 2;
                break;
            }
        }
    }
    assert_eq!(results(source, "", &input, &[0, 0], &[]), wanted);
}
