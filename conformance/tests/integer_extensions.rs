//! Extensions of OpenCL C on integers and atomic operations on floating-point numbers, beside the host's own arithmetic.

use lockstep_conformance::loader::{cl, device, has_extension};
use lockstep_conformance::opencl_sys::*;
use lockstep_conformance::{Plain, Random, Setup, Svm, arguments, info, read, run};

fn ask<T: Plain>(name: cl_device_info) -> Vec<T> {
    info::array(|size, value, returned| (cl().clGetDeviceInfo)(device(), name, size, value, returned))
}

#[test]
fn dot_products_of_bytes() {
    if !has_extension("cl_khr_integer_dot_product") {
        return;
    }
    let both = CL_DEVICE_INTEGER_DOT_PRODUCT_INPUT_4x8BIT_KHR | CL_DEVICE_INTEGER_DOT_PRODUCT_INPUT_4x8BIT_PACKED_KHR;
    assert_eq!(ask::<u64>(CL_DEVICE_INTEGER_DOT_PRODUCT_CAPABILITIES_KHR), [both]);
    for name in [
        CL_DEVICE_INTEGER_DOT_PRODUCT_ACCELERATION_PROPERTIES_8BIT_KHR,
        CL_DEVICE_INTEGER_DOT_PRODUCT_ACCELERATION_PROPERTIES_4x8BIT_PACKED_KHR,
    ] {
        assert_eq!(ask::<u32>(name).len(), 6);
    }
    let setup = Setup::new();
    let source = "kernel void f(global const uint *a, global const uint *b, global const int *sums, global int *out) {
        size_t g = get_global_id(0);
        global int *o = out + 16 * g;
        char4 sa = as_char4(a[g]), sb = as_char4(b[g]);
        uchar4 ua = as_uchar4(a[g]), ub = as_uchar4(b[g]);
        int s = sums[g];
        o[0] = dot(sa, sb); o[1] = (int)dot(ua, ub); o[2] = dot(ua, sb); o[3] = dot(sa, ub);
        o[4] = dot_acc_sat(sa, sb, s); o[5] = (int)dot_acc_sat(ua, ub, (uint)s);
        o[6] = dot_acc_sat(ua, sb, s); o[7] = dot_acc_sat(sa, ub, s);
        o[8] = dot_4x8packed_ss_int(a[g], b[g]); o[9] = (int)dot_4x8packed_uu_uint(a[g], b[g]);
        o[10] = dot_4x8packed_us_int(a[g], b[g]); o[11] = dot_4x8packed_su_int(a[g], b[g]);
        o[12] = dot_acc_sat_4x8packed_ss_int(a[g], b[g], s);
        o[13] = (int)dot_acc_sat_4x8packed_uu_uint(a[g], b[g], (uint)s);
        o[14] = dot_acc_sat_4x8packed_us_int(a[g], b[g], s); o[15] = dot_acc_sat_4x8packed_su_int(a[g], b[g], s);
    }";
    let kernel = setup.context.build(source, "-cl-std=CL3.0").kernel("f");
    let mut random = Random::new(7);
    let count = 200;
    let mut words =
        |edges: [u32; 4]| -> Vec<u32> { edges.into_iter().chain((4..count).map(|_| random.bits() as u32)).collect() };
    let (a, b) = (words([0, u32::MAX, 0x8080_8080, 0x7f7f_7f7f]), words([1, u32::MAX, 0x8080_8080, 0x7f80_ff01]));
    let sums = words([i32::MAX as u32, u32::MAX, i32::MIN as u32, 0x7fff_ff00]);
    let out = setup.context.zeros::<i32>(16 * count);
    let (at, bt, st) = (setup.context.with_values(&a), setup.context.with_values(&b), setup.context.with_values(&sums));
    kernel.set_all(arguments![&at, &bt, &st, &out]);
    run(&setup.queue, &kernel, &[count], &[]);
    let part = |word: u32, index: usize, signed: bool| {
        let byte = word.to_le_bytes()[index];
        if signed { i64::from(byte as i8) } else { i64::from(byte) }
    };
    let mut wanted = Vec::new();
    for ((&a, &b), &sum) in a.iter().zip(&b).zip(&sums) {
        let kinds = [(true, true), (false, false), (false, true), (true, false)];
        let dots = kinds.map(|(x, y)| (0..4).map(|i| part(a, i, x) * part(b, i, y)).sum::<i64>());
        let plain = dots.map(|dot| dot as i32);
        let saturated = [0, 1, 2, 3].map(|kind| match kind {
            1 => (dots[1] + i64::from(sum)).min(u32::MAX.into()) as u32 as i32,
            _ => (dots[kind] + i64::from(sum as i32)).clamp(i32::MIN.into(), i32::MAX.into()) as i32,
        });
        wanted.extend([plain, saturated, plain, saturated].concat());
    }
    assert_eq!(read::<i32>(&setup.queue, &out), wanted);
}

#[test]
fn fields_of_bits() {
    if !has_extension("cl_khr_extended_bit_ops") {
        return;
    }
    let setup = Setup::new();
    let source =
        "kernel void f(global const uint *a, global const uint *b, global const uint2 *where, global uint *out) {
        size_t g = get_global_id(0);
        uint offset = where[g].x, count = where[g].y;
        global uint *o = out + 6 * g;
        o[0] = bitfield_insert(a[g], b[g], offset, count);
        o[1] = (uint)bitfield_extract_signed(a[g], offset, count);
        o[2] = bitfield_extract_unsigned(a[g], offset, count);
        o[3] = bit_reverse(a[g]);
        ushort2 halves = bit_reverse(as_ushort2(a[g]));
        o[4] = as_uint(halves);
        ulong2 wide = bitfield_extract_unsigned((ulong2)(a[g], ((ulong)a[g] << 32) | b[g]), offset + 16, count);
        o[5] = (uint)wide.x ^ (uint)(wide.y >> 3);
    }";
    let kernel = setup.context.build(source, "-cl-std=CL3.0").kernel("f");
    let mut random = Random::new(11);
    // Every field there is.
    let places: Vec<[u32; 2]> = (0..=32).flat_map(|offset| (0..=32 - offset).map(move |n| [offset, n])).collect();
    let places: Vec<_> = places.into_iter().filter(|place| place[0] < 32).collect();
    let mut words = || -> Vec<u32> { places.iter().map(|_| random.bits() as u32).collect() };
    let (a, b) = (words(), words());
    let out = setup.context.zeros::<u32>(6 * places.len());
    let (at, bt, wt) =
        (setup.context.with_values(&a), setup.context.with_values(&b), setup.context.with_values(&places));
    kernel.set_all(arguments![&at, &bt, &wt, &out]);
    run(&setup.queue, &kernel, &[places.len()], &[]);
    let mut wanted = Vec::new();
    for ((&a, &b), &[offset, count]) in a.iter().zip(&b).zip(&places) {
        let ones = |count: u32| (1_u128 << count) - 1;
        let field = |value: u64, offset: u32| (u128::from(value) >> offset & ones(count)) as u64;
        let inserted = u128::from(a) & !(ones(count) << offset) | (u128::from(b) & ones(count)) << offset;
        let unsigned = field(a.into(), offset) as u32;
        let negative = count > 0 && unsigned >> (count - 1) & 1 == 1;
        let signed = if negative { unsigned | !(ones(count) as u32) } else { unsigned };
        let halves = (a as u16).reverse_bits() as u32 | u32::from((a >> 16) as u16).reverse_bits() >> 16 << 16;
        let wide = [u64::from(a), u64::from(a) << 32 | u64::from(b)].map(|value| field(value, offset + 16));
        wanted.extend([
            inserted as u32,
            signed,
            unsigned,
            a.reverse_bits(),
            halves,
            wide[0] as u32 ^ (wide[1] >> 3) as u32,
        ]);
    }
    assert_eq!(read::<u32>(&setup.queue, &out), wanted);
}

#[test]
fn fields_of_narrow_types() {
    if !has_extension("cl_khr_extended_bit_ops") {
        return;
    }
    let setup = Setup::new();
    let source = "kernel void f(global const ushort *in, global const uint2 *where, global int *out) {
        size_t g = get_global_id(0);
        uint offset = where[g].x, count = where[g].y;
        global int *o = out + 7 * g;
        char c = as_char2(in[g]).x;
        short s = as_short(in[g]);
        o[0] = bitfield_extract_signed(c, offset / 2, count / 2);
        o[1] = bitfield_extract_signed(as_uchar(c), offset / 2, count / 2);
        o[2] = bitfield_extract_unsigned(c, offset / 2, count / 2);
        o[3] = bitfield_extract_signed(s, offset, count);
        o[4] = bitfield_extract_signed(in[g], offset, count);
        o[5] = bitfield_extract_unsigned(s, offset, count);
        o[6] = bitfield_extract_signed((short2)(0, s), offset, count).y;
    }";
    let kernel = setup.context.build(source, "-cl-std=CL3.0").kernel("f");
    let mut random = Random::new(3);
    let places: Vec<[u32; 2]> = (0..16).flat_map(|offset| (0..=16 - offset).map(move |n| [offset, n])).collect();
    let values: Vec<u16> = places.iter().map(|_| random.bits() as u16).collect();
    let out = setup.context.zeros::<i32>(7 * places.len());
    let (from, at) = (setup.context.with_values(&values), setup.context.with_values(&places));
    kernel.set_all(arguments![&from, &at, &out]);
    run(&setup.queue, &kernel, &[places.len()], &[]);
    let field = |value: u16, offset: u32, count: u32, signed: bool| {
        let bits = i32::from(value) >> offset & ((1 << count) - 1);
        let negative = signed && count > 0 && bits >> (count - 1) & 1 == 1;
        if negative { bits - (1 << count) } else { bits }
    };
    let mut wanted = Vec::new();
    for (&value, &[offset, count]) in values.iter().zip(&places) {
        let byte = |signed| field(value & 0xff, offset / 2, count / 2, signed);
        let short = |signed| field(value, offset, count, signed);
        wanted.extend([byte(true), byte(true), byte(false), short(true), short(true), short(false), short(true)]);
    }
    assert_eq!(read::<i32>(&setup.queue, &out), wanted);
}

/// Sums, smallest and largest value of floating-point numbers that all work-items add up and compare in one place.
fn float_atomics(ty: &str, suffix: &str) -> (String, &'static str) {
    let source = "kernel void f(global const T *in, volatile global atomic_T *all, global T *old) {
        local atomic_T here[3];
        size_t g = get_global_id(0);
        if (get_local_id(0) == 0) {
            atomic_store_explicit(&here[0], (T)0, memory_order_relaxed, memory_scope_work_group);
            atomic_store_explicit(&here[1], (T)1000, memory_order_relaxed, memory_scope_work_group);
            atomic_store_explicit(&here[2], (T)-1000, memory_order_relaxed, memory_scope_work_group);
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        T v = in[g];
        old[g] = atomic_fetch_add_explicit(all, v, memory_order_relaxed, memory_scope_device);
        if (g % 3 != 0) atomic_fetch_sub_explicit(all + 1, v, memory_order_seq_cst, memory_scope_device);
        atomic_fetch_min_explicit(all + 2, v, memory_order_relaxed);
        if (g & 1) atomic_fetch_max(all + 3, v);
        atomic_fetch_add_explicit(&here[0], v, memory_order_relaxed, memory_scope_work_group);
        atomic_fetch_min_explicit(&here[1], v, memory_order_acq_rel, memory_scope_work_group);
        atomic_fetch_max_explicit(&here[2], v, memory_order_relaxed, memory_scope_work_group);
        barrier(CLK_LOCAL_MEM_FENCE);
        if (get_local_id(0) == 0) {
            atomic_fetch_add(all + 4, atomic_load_explicit(&here[0], memory_order_relaxed, memory_scope_work_group));
            atomic_fetch_min(all + 5, atomic_load_explicit(&here[1], memory_order_relaxed, memory_scope_work_group));
            atomic_fetch_max(all + 6, atomic_load_explicit(&here[2], memory_order_relaxed, memory_scope_work_group));
            atomic_exchange_explicit(all + 7, (T)42, memory_order_relaxed, memory_scope_device);
        }
    }";
    let checks = ["add", "min_max"]
        .iter()
        .flat_map(|what| ["global", "local"].map(|space| format!("__opencl_c_ext_{suffix}_{space}_atomic_{what}")))
        .map(|name| format!("#ifndef {name}\n#error {name}\n#endif\n"))
        .collect::<String>();
    (
        checks
            + &source
                .replace("atomic_T", &format!("atomic_{ty}"))
                .replace("T ", &format!("{ty} "))
                .replace("(T)", &format!("({ty})")),
        "-cl-std=CL3.0",
    )
}

/// Runs the kernel on numbers whose sums are exact in any order, and returns what it left.
fn run_float_atomics<T: Plain + PartialEq + std::fmt::Debug>(
    ty: &str,
    suffix: &str,
    of: impl Fn(i32) -> T,
    to: impl Fn(T) -> f64,
) {
    let setup = Setup::new();
    let (source, options) = float_atomics(ty, suffix);
    let kernel = setup.context.build(&source, options).kernel("f");
    let mut random = Random::new(5);
    let count = 1024;
    let values: Vec<i32> = (0..count).map(|_| (random.bits() % 513) as i32 - 256).collect();
    let input = setup.context.with_values(&values.iter().map(|&value| of(value)).collect::<Vec<T>>());
    let all = Svm::<T>::new(&setup.context, CL_MEM_SVM_FINE_GRAIN_BUFFER, 8);
    all.write(2, &[of(1000), of(-1000), of(0), of(1000), of(-1000), of(0)]);
    let old = setup.context.zeros::<T>(count);
    kernel.set(0, &input);
    assert_eq!((cl().clSetKernelArgSVMPointer)(kernel.raw(), 1, all.at(0)), CL_SUCCESS);
    kernel.set(2, &old);
    run(&setup.queue, &kernel, &[count], &[64]);
    let sum: i32 = values.iter().sum();
    let minus: i32 = -(0..count).filter(|g| g % 3 != 0).map(|g| values[g]).sum::<i32>();
    let (least, most) = (*values.iter().min().unwrap_or(&0), *values.iter().max().unwrap_or(&0));
    let odd = values.iter().skip(1).step_by(2).max().copied().unwrap_or(0);
    let wanted = [sum, minus, least, odd, sum, least, most, 42];
    assert_eq!(all.values().into_iter().map(&to).collect::<Vec<_>>(), wanted.map(f64::from));
    // The old values are the sums on the way: each with its own number gives the next one.
    let old: Vec<f64> = read::<T>(&setup.queue, &old).into_iter().map(to).collect();
    let mut before = old.clone();
    let mut after: Vec<f64> = old.iter().zip(&values).map(|(old, value)| old + f64::from(*value)).collect();
    before.push(sum.into());
    after.push(0.0);
    before.sort_by(f64::total_cmp);
    after.sort_by(f64::total_cmp);
    assert!(before.iter().zip(&after).all(|(a, b)| a == b), "{ty}");
}

#[test]
fn atomic_operations_on_floats_and_doubles() {
    if !has_extension("cl_ext_float_atomics") {
        return;
    }
    // CL_DEVICE_{SINGLE,DOUBLE,HALF}_FP_ATOMIC_CAPABILITIES_EXT.
    assert_eq!([0x4231, 0x4232, 0x4233].map(|name| ask::<u64>(name)[0]), [0x7_0007, 0x7_0007, 0]);
    run_float_atomics::<f32>("float", "fp32", |value| value as f32, f64::from);
    run_float_atomics::<f64>("double", "fp64", f64::from, |value| value);
}
