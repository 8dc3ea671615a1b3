//! Work-group collective functions at sizes that fill rows of vectors and that do not, in one to three dimensions and in
//! smaller groups at the end of a range, compared with what the host makes of each group's values.

use lockstep_conformance::loader::{cl, device, has_extension};
use lockstep_conformance::opencl_sys::*;
use lockstep_conformance::{Random, Setup, info, is_lockstep, read, run};

/// Results of each work-item.
const RESULTS: usize = 15;

const SOURCE: &str = "
    #pragma OPENCL EXTENSION cl_khr_fp16 : enable
    kernel void collect(global const int *in, global WIDE *out, uint x, uint y, uint z) {
        size_t g = get_global_linear_id(), k = 0;
        T v = (T)in[g] * (T)SCALE;
        out += g * RESULTS;
        out[k++] = (WIDE)work_group_reduce_add(v);
        out[k++] = (WIDE)work_group_reduce_min(v);
        out[k++] = (WIDE)work_group_reduce_max(v);
        out[k++] = (WIDE)work_group_scan_inclusive_add(v);
        out[k++] = (WIDE)work_group_scan_inclusive_min(v);
        out[k++] = (WIDE)work_group_scan_inclusive_max(v);
        out[k++] = (WIDE)work_group_scan_exclusive_add(v);
        out[k++] = (WIDE)work_group_scan_exclusive_min(v);
        out[k++] = (WIDE)work_group_scan_exclusive_max(v);
        // Items of smaller groups at the end have all ids below those given.
        size_t bx = min((size_t)x, get_local_size(0) - 1), by = min((size_t)y, get_local_size(1) - 1);
        size_t bz = min((size_t)z, get_local_size(2) - 1);
        switch (get_work_dim()) {
        case 1: out[k++] = (WIDE)work_group_broadcast(v, bx); break;
        case 2: out[k++] = (WIDE)work_group_broadcast(v, bx, by); break;
        default: out[k++] = (WIDE)work_group_broadcast(v, bx, by, bz);
        }
        out[k++] = (WIDE)(work_group_all(in[g] < LIMIT - 1) != 0);
        out[k++] = (WIDE)(work_group_any(in[g] == LIMIT - 1) != 0);
        // Under control flow that is the same for the group.
        if (work_group_any(in[g] == 0))
            v = work_group_scan_inclusive_max(v);
        out[k++] = (WIDE)v;
        for (int i = 0; work_group_reduce_max(v) != work_group_reduce_min(v) && i < 3; ++i)
            v = work_group_reduce_max(v) - work_group_scan_inclusive_max(in[g] > i ? v : (T)0);
        out[k++] = (WIDE)v;
        // One after the other without anything between.
        out[k++] = (WIDE)work_group_scan_inclusive_add(work_group_scan_exclusive_max(max((T)in[g], (T)1)) > (T)1 ? (T)1 : (T)0);
    }";

/// Numbers as a kernel computes with them.
#[derive(Clone, Copy)]
struct Element {
    name: &'static str,
    /// The type of results.
    wide: &'static str,
    /// Input values are below it.
    limit: i32,
    /// What they are multiplied by.
    scale: i64,
    /// The identities of minimum and maximum, as the results' type has them.
    ends: [f64; 2],
}

const fn signed(name: &'static str, scale: i64, ends: [i64; 2]) -> Element {
    Element { name, wide: "long", limit: 100, scale, ends: [ends[0] as f64, ends[1] as f64] }
}

const fn unsigned(name: &'static str, scale: i64, end: u64) -> Element {
    Element { name, wide: "ulong", limit: 100, scale, ends: [end as f64, 0.0] }
}

const fn float(name: &'static str, limit: i32) -> Element {
    Element { name, wide: "double", limit, scale: 1, ends: [f64::INFINITY, f64::NEG_INFINITY] }
}

const ELEMENTS: [Element; 7] = [
    signed("int", 3, [i32::MAX as i64, i32::MIN as i64]),
    unsigned("uint", 3, u32::MAX as u64),
    // Sums stay below 2^53, and do not fit into half of the bits.
    signed("long", 1 << 33, [i64::MAX, i64::MIN]),
    unsigned("ulong", 1 << 33, u64::MAX),
    // The sums of a group are exact.
    float("half", 2),
    float("float", 100),
    float("double", 100),
];

const LOCALS: &[&[usize]] = &[
    &[1],
    &[3],
    &[7],
    &[8],
    &[16],
    &[17],
    &[64],
    &[100],
    &[256],
    &[1024],
    &[8, 8],
    &[3, 5],
    &[1, 17],
    &[17, 1],
    &[7, 16],
    &[25, 4],
    &[1, 256],
    &[32, 32],
    &[1, 1, 1],
    &[3, 3, 3],
    &[7, 5, 3],
    &[4, 2, 8],
    &[1, 8, 32],
    &[16, 4, 16],
];

/// What the values up to each one are together, or those before it.
fn scan(values: &[f64], inclusive: bool, first: f64, op: fn(f64, f64) -> f64) -> Vec<f64> {
    let mut sum = first;
    let next = |&value: &f64| {
        let before = sum;
        sum = op(sum, value);
        if inclusive { sum } else { before }
    };
    values.iter().map(next).collect()
}

/// What the kernel writes for each work-item of a group with these values, in order.
fn reference(element: Element, values: &[i32], broadcast: usize) -> Vec<[f64; RESULTS]> {
    let Element { limit, scale, ends: [low, high], .. } = element;
    let v: Vec<f64> = values.iter().map(|&v| f64::from(v) * scale as f64).collect();
    let add = |a, b| a + b;
    let largest = |v: &[f64]| v.iter().copied().fold(high, f64::max);
    let smallest = |v: &[f64]| v.iter().copied().fold(low, f64::min);
    let scans = [true, false].map(|inclusive| {
        [scan(&v, inclusive, 0.0, add), scan(&v, inclusive, low, f64::min), scan(&v, inclusive, high, f64::max)]
    });
    let chosen = if values.contains(&0) { scan(&v, true, high, f64::max) } else { v.clone() };
    let mut looped = chosen.clone();
    for i in 0..3 {
        let top = largest(&looped);
        if top == smallest(&looped) {
            break;
        }
        let masked: Vec<f64> = looped.iter().zip(values).map(|(&v, &raw)| if raw > i { v } else { 0.0 }).collect();
        looped = scan(&masked, true, high, f64::max).iter().map(|before| top - before).collect();
    }
    let at_least_one: Vec<f64> = values.iter().map(|&v| f64::from(v.max(1))).collect();
    let above: Vec<f64> =
        scan(&at_least_one, false, high, f64::max).iter().map(|&v| f64::from(u8::from(v > 1.0))).collect();
    let chained = scan(&above, true, 0.0, add);
    let flag = |holds| f64::from(u8::from(holds));
    let (all, any) = (flag(values.iter().all(|&v| v < limit - 1)), flag(values.contains(&(limit - 1))));
    let results = |i: usize| {
        let mut results = vec![v.iter().sum(), smallest(&v), largest(&v)];
        results.extend(scans.iter().flatten().map(|scan| scan[i]));
        results.extend([v[broadcast], all, any, chosen[i], looped[i], chained[i]]);
        results.try_into().expect("as many results as the kernel has")
    };
    (0..v.len()).map(results).collect()
}

fn three(sizes: &[usize], missing: usize) -> [usize; 3] {
    std::array::from_fn(|d| sizes.get(d).copied().unwrap_or(missing))
}

/// Runs the kernel for a type at a local size over whole groups and, if the device takes them, smaller ones.
fn check(element: Element, more: &str, locals: &[&[usize]]) {
    let setup = Setup::new();
    let feature: cl_bool = info::value(|size, value, returned| {
        (cl().clGetDeviceInfo)(device(), CL_DEVICE_WORK_GROUP_COLLECTIVE_FUNCTIONS_SUPPORT, size, value, returned)
    });
    if feature != CL_TRUE {
        assert!(!is_lockstep(), "the functions are there");
        return;
    }
    let any_size: cl_bool = info::value(|size, value, returned| {
        (cl().clGetDeviceInfo)(device(), CL_DEVICE_NON_UNIFORM_WORK_GROUP_SUPPORT, size, value, returned)
    });
    let Element { name, wide, limit, scale, .. } = element;
    let options = format!("-DT={name} -DWIDE={wide} -DLIMIT={limit} -DSCALE={scale}L -DRESULTS={RESULTS} {more}");
    let kernel = setup.context.build(SOURCE, &options).kernel("collect");
    let mut random = Random::new(7);
    for &local in locals {
        let size = three(local, 1);
        let uneven: Vec<usize> = local.iter().map(|n| n * 2 + n.div_ceil(3)).collect();
        let even: Vec<usize> = local.iter().enumerate().map(|(d, n)| if d == 0 { n * 3 } else { n * 2 }).collect();
        for global in if any_size == CL_TRUE { vec![even, uneven] } else { vec![even] } {
            let range = three(&global, 1);
            let input = random.ints(range.iter().product(), limit);
            let chosen = local.iter().map(|&n| random.ints(1, n as i32)[0] as usize).collect::<Vec<_>>();
            let chosen = three(&chosen, 0);
            let results = range.iter().product::<usize>() * RESULTS;
            let (from, to) = (setup.context.with_values(&input), setup.context.zeros::<u64>(results));
            kernel.set(0, &from);
            kernel.set(1, &to);
            (0..3).for_each(|d| kernel.set(2 + d, chosen[d] as u32));
            run(&setup.queue, &kernel, &global, local);
            let got: Vec<f64> = match wide {
                "long" => read::<i64>(&setup.queue, &to).iter().map(|&v| v as f64).collect(),
                "ulong" => read::<u64>(&setup.queue, &to).iter().map(|&v| v as f64).collect(),
                _ => read(&setup.queue, &to),
            };
            for first in firsts(range, size) {
                let own: [usize; 3] = std::array::from_fn(|d| size[d].min(range[d] - first[d]));
                let numbers = (0..own.iter().product()).map(|i| [i % own[0], i / own[0] % own[1], i / own[0] / own[1]]);
                let places: Vec<usize> = numbers
                    .map(|[x, y, z]| ((first[2] + z) * range[1] + first[1] + y) * range[0] + first[0] + x)
                    .collect();
                let values: Vec<i32> = places.iter().map(|&at| input[at]).collect();
                let [x, y, z]: [usize; 3] = std::array::from_fn(|d| chosen[d].min(own[d] - 1));
                let wanted = reference(element, &values, (z * own[1] + y) * own[0] + x);
                for (number, (&at, wanted)) in places.iter().zip(&wanted).enumerate() {
                    let got = &got[at * RESULTS..][..RESULTS];
                    assert!(
                        got == wanted,
                        "{name}, {global:?} by {local:?}, group at {first:?}, item {number}: {got:?} instead of {wanted:?}"
                    );
                }
            }
        }
    }
}

/// The first work-item of each group.
fn firsts(range: [usize; 3], size: [usize; 3]) -> Vec<[usize; 3]> {
    let mut firsts = vec![];
    for z in (0..range[2]).step_by(size[2]) {
        for y in (0..range[1]).step_by(size[1]) {
            firsts.extend((0..range[0]).step_by(size[0]).map(|x| [x, y, z]));
        }
    }
    firsts
}

macro_rules! types {
    ($($test:ident: $index:expr;)*) => {
        $(#[test]
        fn $test() {
            check(ELEMENTS[$index], "-cl-std=CL3.0", LOCALS);
        })*
    };
}

types! {
    of_int: 0;
    of_uint: 1;
    of_long: 2;
    of_ulong: 3;
    of_half: 4;
    of_float: 5;
    of_double: 6;
}

/// Without LLVM's clean-up the functions are there as well, and OpenCL C 2.0 has them by itself.
#[test]
fn without_optimization_and_in_older_programs() {
    let few: &[&[usize]] = &[&[1], &[16], &[17], &[7, 16], &[7, 5, 3]];
    check(ELEMENTS[0], "-cl-std=CL3.0 -cl-opt-disable", few);
    check(ELEMENTS[5], "-cl-std=CL3.0 -cl-opt-disable", few);
    check(ELEMENTS[0], "-cl-std=CL2.0", few);
}

/// What cl_khr_work_group_uniform_arithmetic adds, of numbers that are odd so that no product is zero. Floats multiply powers of two.
const UNIFORM_ARITHMETIC: &str = "
    #pragma OPENCL EXTENSION cl_khr_fp16 : enable
    #define ALL(OP, x)                                                                                               \\
        out[k++] = (long)work_group_reduce_##OP(x); out[k++] = (long)work_group_scan_inclusive_##OP(x);                \\
        out[k++] = (long)work_group_scan_exclusive_##OP(x);
    kernel void collect(global const long *in, global long *out) {
        size_t g = get_global_id(0), k = 0;
        out += g * 21;
        ALL(mul, IS_FLOAT ? (T)(in[g] & 1 ? 1 : 2) : (T)in[g])
    #if !IS_FLOAT
        ALL(and, (T)in[g]) ALL(or, (T)in[g]) ALL(xor, (T)in[g])
    #endif
        k = 12;
        ALL(logical_and, (int)(in[g] & 14)) ALL(logical_or, (int)(in[g] & 16)) ALL(logical_xor, (int)(in[g] & 6))
    }";

/// A reduction of all values and both scans, for the work-item with this id; the identity stands before the first value.
fn collect_three(values: &[i64], id: usize, identity: i64, combine: fn(i64, i64) -> i64) -> [i64; 3] {
    let fold = |values: &[i64]| values.iter().fold(identity, |all, &value| combine(all, value));
    [fold(values), fold(&values[..=id]), fold(&values[..id])]
}

#[test]
fn products_and_bits_are_combined_as_well() {
    if !has_extension("cl_khr_work_group_uniform_arithmetic") {
        assert!(!is_lockstep(), "the extension is there");
        return;
    }
    let setup = Setup::new();
    let as_int: fn(i64) -> i64 = |value| i64::from(value as i32);
    let as_uint: fn(i64) -> i64 = |value| i64::from(value as u32);
    let unchanged: fn(i64) -> i64 = |value| value;
    let integers = [("int", as_int), ("uint", as_uint), ("long", unchanged), ("ulong", unchanged)];
    let floats = ["half", "float", "double"].map(|name| (name, unchanged));
    for ((name, narrow), is_float) in
        integers.map(|form| (form, false)).into_iter().chain(floats.map(|form| (form, true)))
    {
        let options = format!("-cl-std=CL3.0 -DT={name} -DIS_FLOAT={}", i32::from(is_float));
        let kernel = setup.context.build(UNIFORM_ARITHMETIC, &options).kernel("collect");
        for local in [1, 3, 8, 17, 64, 256] {
            // Few values are even, so that a half does not overflow.
            let mut random = Random::new(local as u64);
            let words = random.ints(2 * local, i32::MAX);
            let number =
                |word: &i32| i64::from(*word) << 23 ^ i64::from(*word) | i64::from(!is_float || word % 32 != 0);
            let values: Vec<i64> = words.iter().map(number).collect();
            let (from, to) = (setup.context.with_values(&values), setup.context.zeros::<i64>(2 * local * 21));
            kernel.set(0, &from);
            kernel.set(1, &to);
            run(&setup.queue, &kernel, &[2 * local], &[local]);
            for (item, got) in read::<i64>(&setup.queue, &to).chunks(21).enumerate() {
                let (own, id) = (&values[item / local * local..][..local], item % local);
                let factors: Vec<i64> = own
                    .iter()
                    .map(|value| {
                        if !is_float {
                            *value
                        } else if value & 1 == 1 {
                            1
                        } else {
                            2
                        }
                    })
                    .collect();
                let mut wanted = collect_three(&factors, id, 1, i64::wrapping_mul).map(narrow).to_vec();
                if !is_float {
                    let bits = [(-1, (|a, b| a & b) as fn(i64, i64) -> i64), (0, |a, b| a | b), (0, |a, b| a ^ b)];
                    wanted.extend(
                        bits.iter().flat_map(|(first, combine)| collect_three(own, id, *first, *combine).map(narrow)),
                    );
                }
                wanted.resize(12, 0);
                let truth = |mask: i64| own.iter().map(|value| i64::from(value & mask != 0)).collect::<Vec<_>>();
                wanted.extend(collect_three(&truth(14), id, 1, |a, b| a & b));
                wanted.extend(collect_three(&truth(16), id, 0, |a, b| a | b));
                wanted.extend(collect_three(&truth(6), id, 0, |a, b| a ^ b));
                assert_eq!(got, wanted, "{name}, groups of {local}, work-item {item}");
            }
        }
    }
}
