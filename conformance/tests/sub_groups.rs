//! Sub-groups: what the host is told of them, what work-items are told, and the collective functions, compared with what
//! the work-items' own answers say about who is in which sub-group, in kernels that leave their size to the driver and in
//! kernels that ask for one.

use std::collections::BTreeMap;
use std::ptr;

use lockstep_conformance::loader::{cl, device, has_extension};
use lockstep_conformance::opencl_sys::*;
use lockstep_conformance::{Kernel, Random, Setup, expect, info, is_lockstep, ok, read, run};

const LOCALS: &[&[usize]] =
    &[&[1], &[7], &[16], &[17], &[64], &[100], &[1024], &[8, 8], &[3, 5], &[16, 4, 2], &[5, 1, 3]];

/// Local sizes of kernels that ask for a size of their sub-groups.
const LOCALS_OF_SIZES: &[&[usize]] = &[&[7], &[17], &[64], &[100], &[8, 8], &[3, 5], &[32, 3], &[16, 4, 2]];

/// The size of sub-groups that a kernel asks for; none where it leaves that to the driver.
type Asked = Option<usize>;

/// Results of each work-item: its place first.
const RESULTS: usize = 19;

const SOURCE: &str = "
    #pragma OPENCL EXTENSION cl_khr_fp16 : enable
    ATTRIBUTE kernel void collect(global const int *in, global long *out, uint from) {
        size_t g = get_global_linear_id(), k = 0;
        T v = (T)in[g];
        out += g * RESULTS;
        out[k++] = get_sub_group_id();
        out[k++] = get_sub_group_local_id();
        out[k++] = get_sub_group_size();
        out[k++] = get_max_sub_group_size();
        out[k++] = get_num_sub_groups();
        out[k++] = get_enqueued_num_sub_groups();
        out[k++] = (long)sub_group_reduce_add(v);
        out[k++] = (long)sub_group_reduce_min(v);
        out[k++] = (long)sub_group_reduce_max(v);
        out[k++] = (long)sub_group_scan_inclusive_add(v);
        out[k++] = (long)sub_group_scan_inclusive_min(v);
        out[k++] = (long)sub_group_scan_inclusive_max(v);
        out[k++] = (long)sub_group_scan_exclusive_add(v);
        // The first one has the identity, whatever that is in the type.
        T low = sub_group_scan_exclusive_min(v), high = sub_group_scan_exclusive_max(v);
        bool first = get_sub_group_local_id() == 0;
        out[k++] = first ? 0 : (long)low;
        out[k++] = first ? 0 : (long)high;
        out[k++] = (long)sub_group_broadcast(v, from % get_sub_group_size());
        out[k++] = (sub_group_all(in[g] > 0) != 0) + 2 * (sub_group_any(in[g] > 3) != 0);
        // A barrier of the sub-group lets its work-items see what the others wrote.
        local int written[2048];
        local int *own = written + get_sub_group_id() * get_max_sub_group_size();
        own[get_sub_group_local_id()] = in[g];
        sub_group_barrier(CLK_LOCAL_MEM_FENCE);
        out[k++] = own[(get_sub_group_local_id() + 1) % get_sub_group_size()];
        if (sub_group_any(in[g] == 2))
            v = sub_group_scan_inclusive_max(v);
        out[k++] = (long)v;
    }
    kernel void vectors(global const short *in, global short *out, uint from) {
        size_t g = get_global_id(0);
        uint id = from % get_sub_group_size();
        vstore2(sub_group_broadcast(vload2(g, in), id), g, out);
        vstore3(sub_group_broadcast(vload3(g, in), id), g, out + 2 * get_global_size(0));
        vstore16(sub_group_broadcast(vload16(g, in), id), g, out + 5 * get_global_size(0));
    }";

fn device_value<T: lockstep_conformance::Plain>(name: cl_uint) -> T {
    info::value(|size, value, returned| (cl().clGetDeviceInfo)(device(), name, size, value, returned))
}

/// Whether there are sub-groups; here there have to be.
fn there_are() -> bool {
    let there = device_value::<cl_uint>(CL_DEVICE_MAX_NUM_SUB_GROUPS) != 0;
    assert!(there || !is_lockstep(), "sub-groups are there");
    there
}

#[track_caller]
fn sizes(kernel: &Kernel, name: cl_uint, input: &[usize], results: usize) -> Vec<usize> {
    let mut values = vec![usize::MAX; results];
    let mut returned = 0;
    ok((cl().clGetKernelSubGroupInfo)(
        kernel.raw(),
        device(),
        name,
        size_of_val(input),
        if input.is_empty() { ptr::null() } else { input.as_ptr().cast() },
        8 * results,
        values.as_mut_ptr().cast(),
        &mut returned,
    ));
    assert_eq!(returned, 8 * results);
    values
}

/// The options that give kernels their attribute.
fn attribute(asked: Asked) -> String {
    let attribute = |size| format!("-DATTRIBUTE=__attribute__((intel_reqd_sub_group_size({size})))");
    asked.map_or("-DATTRIBUTE=".to_string(), attribute)
}

/// Whether kernels can ask for a size; here they have to.
fn sizes_can_be_asked_for() -> bool {
    let can = has_extension("cl_intel_required_subgroup_size");
    assert!(can || !is_lockstep(), "the extension is there");
    can
}

fn check(ty: &str) {
    if there_are() {
        check_size(ty, None, LOCALS);
    }
    for size in [8, 16, 32].into_iter().filter(|_| sizes_can_be_asked_for()) {
        check_size(ty, Some(size), LOCALS_OF_SIZES);
    }
}

fn check_size(ty: &str, asked: Asked, locals: &[&[usize]]) {
    let setup = Setup::new();
    let options = format!("-cl-std=CL3.0 -DT={ty} -DRESULTS={RESULTS} {}", attribute(asked));
    let kernel = setup.context.build(SOURCE, &options).kernel("collect");
    assert!(!is_lockstep() || sizes(&kernel, CL_KERNEL_COMPILE_SUB_GROUP_SIZE_INTEL, &[], 1) == [asked.unwrap_or(0)]);
    let mut random = Random::new(11);
    for &local in locals {
        let uneven = local.iter().map(|n| n * 2 + n.div_ceil(3)).collect::<Vec<_>>();
        let even = local.iter().map(|n| n * 2).collect();
        for global in [even, uneven] {
            let three = |sizes: &[usize]| -> [usize; 3] { std::array::from_fn(|d| sizes.get(d).copied().unwrap_or(1)) };
            let (range, size) = (three(&global), three(local));
            let count = range.iter().product();
            // So few and small that the sums of a group are exact in every type.
            let input: Vec<i32> = random.ints(count, 40).iter().map(|&v| if v < 5 { v } else { 0 }).collect();
            let input: Vec<i32> = input.iter().enumerate().map(|(i, &v)| if i % 16 < 3 { v } else { 0 }).collect();
            let from = random.ints(1, 2000)[0] as u32;
            let (data, to) = (setup.context.with_values(&input), setup.context.zeros::<i64>(count * RESULTS));
            kernel.set(0, &data);
            kernel.set(1, &to);
            kernel.set(2, from);
            run(&setup.queue, &kernel, &global, local);
            let got: Vec<i64> = read(&setup.queue, &to);
            let what = format!("{ty}, {global:?} by {local:?}, sub-groups of {asked:?}");
            let [most] = sizes(&kernel, CL_KERNEL_MAX_SUB_GROUP_SIZE_FOR_NDRANGE, local, 1)[..] else { unreachable!() };
            let [groups] = sizes(&kernel, CL_KERNEL_SUB_GROUP_COUNT_FOR_NDRANGE, local, 1)[..] else { unreachable!() };
            assert!(asked.is_none_or(|asked| asked == most), "{what}: {most} work-items");
            assert_eq!(groups, local.iter().product::<usize>().div_ceil(most), "{what}");
            // The work-items of each sub-group by their places in it.
            let mut members: BTreeMap<([usize; 3], i64), BTreeMap<i64, usize>> = BTreeMap::new();
            for (at, own) in got.chunks(RESULTS).enumerate() {
                let id = [at % range[0], at / range[0] % range[1], at / range[0] / range[1]];
                let group = std::array::from_fn(|d| id[d] / size[d]);
                let whole = (0..3).all(|d| (group[d] + 1) * size[d] <= range[d]);
                assert_eq!((own[3], own[5]), (most as i64, groups as i64), "{what}: what the host is told");
                assert!(own[0] < own[4] && own[1] < own[2] && own[2] <= own[3], "{what}: {own:?}");
                assert!(!whole || own[4] == own[5], "{what}: {own:?} in a whole group");
                let other = members.entry((group, own[0])).or_default().insert(own[1], at);
                assert_eq!(other, None, "{what}: two work-items at one place");
            }
            for items in members.values() {
                let places: Vec<usize> = items.values().copied().collect();
                let v: Vec<i64> = places.iter().map(|&at| i64::from(input[at])).collect();
                let chosen = v[from as usize % v.len()];
                let flags = i64::from(v.iter().all(|v| *v > 0)) + 2 * i64::from(v.iter().any(|v| *v > 3));
                let scans = v.contains(&2);
                let full = v.len() == most || got[places[0] * RESULTS] == got[places[0] * RESULTS + 4] - 1;
                assert!(asked.is_none() || full, "{what}: all sub-groups but the last one are full");
                for (i, &at) in places.iter().enumerate() {
                    let own = &got[at * RESULTS..][..RESULTS];
                    assert_eq!(own[2], v.len() as i64, "{what}: the size");
                    let (before, with) = (&v[..i], &v[..=i]);
                    let least = |v: &[i64]| v.iter().copied().min().unwrap_or(0);
                    let most = |v: &[i64]| v.iter().copied().max().unwrap_or(0);
                    let sum = |v: &[i64]| v.iter().sum::<i64>();
                    let last = if scans { most(with) } else { v[i] };
                    let wanted = [
                        [sum(&v), least(&v), most(&v)],
                        [sum(with), least(with), most(with)],
                        [sum(before), least(before), most(before)],
                        [chosen, flags, v[(i + 1) % v.len()]],
                    ];
                    assert_eq!(own[6..18], *wanted.as_flattened(), "{what}, item {at}");
                    assert_eq!(own[18], last, "{what}, item {at}");
                }
            }
        }
    }
}

macro_rules! types {
    ($($test:ident: $ty:expr;)*) => {
        $(#[test]
        fn $test() {
            check($ty);
        })*
    };
}

types! {
    of_char: "char";
    of_ushort: "ushort";
    of_int: "int";
    of_ulong: "ulong";
    of_half: "half";
    of_float: "float";
    of_double: "double";
}

#[test]
fn vectors_are_broadcast() {
    if !there_are() {
        return;
    }
    let setup = Setup::new();
    let options = format!("-cl-std=CL3.0 -DT=int -DRESULTS={RESULTS} {}", attribute(None));
    let kernel = setup.context.build(SOURCE, &options).kernel("vectors");
    let count = 34;
    let input: Vec<i16> = (0..count * 16).map(|i| (i * 37 % 4001) as i16).collect();
    let (data, to) = (setup.context.with_values(&input), setup.context.zeros::<i16>(count * 21));
    kernel.set(0, &data);
    kernel.set(1, &to);
    kernel.set(2, 0_u32);
    run(&setup.queue, &kernel, &[count], &[17]);
    let got: Vec<i16> = read(&setup.queue, &to);
    let [size] = sizes(&kernel, CL_KERNEL_MAX_SUB_GROUP_SIZE_FOR_NDRANGE, &[17], 1)[..] else { unreachable!() };
    let mut begin = 0;
    for width in [2, 3, 16] {
        for item in 0..count {
            // Sub-groups of one-dimensional groups follow each other.
            let first = item / 17 * 17 + item % 17 / size * size;
            let found = &got[begin + item * width..][..width];
            assert_eq!(found, &input[first * width..][..width], "item {item}, {width} elements");
        }
        begin += count * width;
    }
}

#[test]
fn queries() {
    if !there_are() {
        return;
    }
    let setup = Setup::new();
    let program = setup.context.build(
        "kernel void any(void) { } kernel __attribute__((reqd_work_group_size(8, 4, 2))) void fixed(void) { }",
        "-cl-std=CL3.0",
    );
    let (any, fixed) = (program.kernel("any"), program.kernel("fixed"));
    let at_most = device_value::<cl_uint>(CL_DEVICE_MAX_NUM_SUB_GROUPS) as usize;
    let [most] = sizes(&any, CL_KERNEL_MAX_NUM_SUB_GROUPS, &[], 1)[..] else { unreachable!() };
    assert!((1..=at_most).contains(&most));
    assert_eq!(sizes(&any, CL_KERNEL_COMPILE_NUM_SUB_GROUPS, &[], 1), [0]);
    for count in [1, most] {
        let local = sizes(&any, CL_KERNEL_LOCAL_SIZE_FOR_SUB_GROUP_COUNT, &[count], 3);
        assert_eq!(sizes(&any, CL_KERNEL_SUB_GROUP_COUNT_FOR_NDRANGE, &local, 1), [count], "{local:?}");
        let line = sizes(&any, CL_KERNEL_LOCAL_SIZE_FOR_SUB_GROUP_COUNT, &[count], 1);
        assert_eq!(line[0], local.iter().product::<usize>());
    }
    assert_eq!(sizes(&any, CL_KERNEL_LOCAL_SIZE_FOR_SUB_GROUP_COUNT, &[at_most + 1], 3), [0, 0, 0]);
    let [count] = sizes(&fixed, CL_KERNEL_SUB_GROUP_COUNT_FOR_NDRANGE, &[8, 4, 2], 1)[..] else { unreachable!() };
    assert_eq!(sizes(&fixed, CL_KERNEL_LOCAL_SIZE_FOR_SUB_GROUP_COUNT, &[count], 3), [8, 4, 2]);

    let ask = |name: cl_uint, size: usize, input: *const usize, room: usize| {
        let mut values = [0_usize; 4];
        let to = values.as_mut_ptr().cast();
        (cl().clGetKernelSubGroupInfo)(any.raw(), device(), name, size, input.cast(), room, to, ptr::null_mut())
    };
    let input = [4_usize, 4, 4, 4];
    // "CL_INVALID_VALUE if param_name is not valid", if the size of the input is not valid or it is null, or if there is no
    // room for the answer.
    expect(ask(0x7777, 8, input.as_ptr(), 8), CL_INVALID_VALUE);
    for name in [CL_KERNEL_MAX_SUB_GROUP_SIZE_FOR_NDRANGE, CL_KERNEL_SUB_GROUP_COUNT_FOR_NDRANGE] {
        for (size, at) in [(0, input.as_ptr()), (7, input.as_ptr()), (32, input.as_ptr()), (8, ptr::null())] {
            expect(ask(name, size, at, 8), CL_INVALID_VALUE);
        }
        expect(ask(name, 8, input.as_ptr(), 7), CL_INVALID_VALUE);
    }
    expect(ask(CL_KERNEL_LOCAL_SIZE_FOR_SUB_GROUP_COUNT, 16, input.as_ptr(), 8), CL_INVALID_VALUE);
    expect(ask(CL_KERNEL_LOCAL_SIZE_FOR_SUB_GROUP_COUNT, 8, ptr::null(), 8), CL_INVALID_VALUE);
}

#[test]
fn sizes_are_told() {
    if !sizes_can_be_asked_for() {
        return;
    }
    let offered: Vec<usize> = info::array(|size, value, returned| {
        (cl().clGetDeviceInfo)(device(), CL_DEVICE_SUB_GROUP_SIZES_INTEL, size, value, returned)
    });
    assert!(!is_lockstep() || offered == [8, 16, 32]);
    let setup = Setup::new();
    for &size in &offered {
        let source = format!(
            "#ifndef cl_intel_required_subgroup_size
             #error the macro is not defined
             #endif
             #pragma OPENCL EXTENSION cl_intel_required_subgroup_size : enable
             kernel __attribute__((intel_reqd_sub_group_size({size}))) void f(global uint *out) {{
                 out[get_global_id(0)] = get_max_sub_group_size() << 8 | get_sub_group_size();
             }}
             kernel __attribute__((intel_reqd_sub_group_size({size}), reqd_work_group_size(64, 1, 1))) void g(void) {{ }}"
        );
        for options in ["", "-cl-std=CL1.0", "-cl-std=CL3.0", "-cl-opt-disable"] {
            let program = setup.context.build(&source, options);
            assert_eq!(program.log(), "", "{options}");
            let (f, g) = (program.kernel("f"), program.kernel("g"));
            let text = f.info_text(CL_KERNEL_ATTRIBUTES);
            assert_eq!(text, format!("intel_reqd_sub_group_size({size})"));
            assert_eq!(sizes(&f, CL_KERNEL_COMPILE_SUB_GROUP_SIZE_INTEL, &[], 1), [size]);
            assert_eq!(f.group_info::<cl_ulong>(CL_KERNEL_SPILL_MEM_SIZE_INTEL), 0);
            assert!(f.group_info::<usize>(CL_KERNEL_PREFERRED_WORK_GROUP_SIZE_MULTIPLE).is_multiple_of(size));
            assert_eq!(sizes(&f, CL_KERNEL_MAX_SUB_GROUP_SIZE_FOR_NDRANGE, &[64, 2], 1), [size]);
            assert_eq!(sizes(&f, CL_KERNEL_SUB_GROUP_COUNT_FOR_NDRANGE, &[100, 2], 1), [200_usize.div_ceil(size)]);
            assert_eq!(sizes(&f, CL_KERNEL_LOCAL_SIZE_FOR_SUB_GROUP_COUNT, &[3], 3), [3 * size, 1, 1]);
            assert_eq!(sizes(&g, CL_KERNEL_LOCAL_SIZE_FOR_SUB_GROUP_COUNT, &[64 / size], 3), [64, 1, 1]);
            let at_most = device_value::<cl_uint>(CL_DEVICE_MAX_NUM_SUB_GROUPS) as usize;
            let [most] = sizes(&f, CL_KERNEL_MAX_NUM_SUB_GROUPS, &[], 1)[..] else { unreachable!() };
            assert!((1..=at_most).contains(&most));
            let to = setup.context.zeros::<u32>(40);
            f.set(0, &to);
            run(&setup.queue, &f, &[40], &[40]);
            let expected = (0..40).map(|item| (size << 8 | size.min(40 - item / size * size)) as u32);
            assert_eq!(read::<u32>(&setup.queue, &to), expected.collect::<Vec<_>>(), "{options}");
        }
    }
}

#[test]
fn other_sizes_are_refused() {
    if !sizes_can_be_asked_for() || !is_lockstep() {
        return;
    }
    let setup = Setup::new();
    for size in [1, 4, 15, 64] {
        let source = format!("kernel __attribute__((intel_reqd_sub_group_size({size}))) void odd(void) {{ }}");
        let program = setup.context.source(&source);
        expect(program.build(""), CL_BUILD_PROGRAM_FAILURE);
        let log = program.log();
        assert!(log.contains("odd") && log.contains("8, 16 or 32"), "{log}");
    }
}

/// A binary keeps the size, with and without code in it.
#[test]
fn binaries_keep_sizes() {
    if !sizes_can_be_asked_for() {
        return;
    }
    let setup = Setup::new();
    let source = "kernel __attribute__((intel_reqd_sub_group_size(32))) void f(global uint *out) {
                      out[get_global_id(0)] = sub_group_reduce_add(1u);
                  }";
    let program = setup.context.build(source, "");
    let again = setup.context.from_binary(&program.binary()).unwrap_or_else(|error| panic!("{error:?}"));
    ok(again.build(""));
    let kernel = again.kernel("f");
    assert_eq!(sizes(&kernel, CL_KERNEL_COMPILE_SUB_GROUP_SIZE_INTEL, &[], 1), [32]);
    let to = setup.context.zeros::<u32>(96);
    kernel.set(0, &to);
    run(&setup.queue, &kernel, &[96], &[48]);
    let whole = [[32; 32].as_slice(), &[16; 16]].concat();
    assert_eq!(read::<u32>(&setup.queue, &to), [whole.clone(), whole].concat());
}
