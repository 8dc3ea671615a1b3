//! Launches of one kernel that have little in common: offsets, local sizes, id ranges and arguments of every kind, one
//! after the other. Code that was made for one launch must not run another it is wrong for.

use std::ptr;

use lockstep_conformance::loader::{cl, device};
use lockstep_conformance::opencl_sys::*;
use lockstep_conformance::{Kernel, Setup, arguments, info, ok, read};

/// A range along x: offset, global size, local size (0: the driver chooses).
type Range = (usize, usize, usize);

const RANGES: &[Range] = &[
    (0, 64, 16),
    (0, 64, 64),
    (0, 96, 24),
    (0, 96, 48),
    (0, 7, 7),
    (0, 100, 0),
    (5, 64, 16),
    (16, 64, 32),
    (1000, 30, 10),
    // Ids as int: negative from the middle of a gang on; as uint: from zero again.
    ((1 << 31) - 64, 64, 16),
    ((1 << 31) - 40, 80, 16),
    ((1 << 32) - 24, 48, 16),
    (1 << 33, 64, 16),
    ((1 << 33) + 5, 48, 8),
    // Ids as long: negative from the middle of a gang on.
    ((1 << 63) - 20, 40, 8),
    ((1 << 63) - 16, 96, 32),
    (usize::MAX - 64, 64, 32),
];

/// Ranges of which the last group is smaller.
const UNEVEN: &[Range] = &[(0, 100, 16), (0, 50, 64), ((1 << 33) + 1, 37, 16), (3, 33, 32)];

fn ranges() -> Vec<Range> {
    let any_size: cl_bool = info::value(|size, value, returned| {
        (cl().clGetDeviceInfo)(device(), CL_DEVICE_NON_UNIFORM_WORK_GROUP_SUPPORT, size, value, returned)
    });
    let uneven = if any_size == CL_TRUE { UNEVEN } else { &[] };
    RANGES.iter().chain(uneven).copied().collect()
}

#[track_caller]
fn launch(setup: &Setup, kernel: &Kernel, offset: &[usize], global: &[usize], local: &[usize]) {
    ok((cl().clEnqueueNDRangeKernel)(
        setup.queue.raw(),
        kernel.raw(),
        global.len() as cl_uint,
        offset.as_ptr(),
        global.as_ptr(),
        if local.contains(&0) { ptr::null() } else { local.as_ptr() },
        0,
        ptr::null(),
        ptr::null_mut(),
    ));
}

/// What a work-item computes of its id, and of numbers that may be multiples of a gang's width.
const IDS: &str = "
    kernel void ids(global long *out, global const int *table, uint un, int n, ulong un64) {
        size_t id = get_global_id(0);
        size_t at = id - get_global_offset(0);
        int i = id;
        uint u = id;
        global long *record = out + at * 18;
        record[0] = i;
        record[1] = u;
        record[2] = i % 16;
        record[3] = i / 16;
        record[4] = i >> 4;
        record[5] = i & 15;
        record[6] = u % un;
        record[7] = u / un;
        record[8] = n > 0 ? i % n : i;
        record[9] = n > 0 ? i / n : i;
        record[10] = id % un64;
        record[11] = id / un64;
        record[12] = (long)id / 3;
        record[13] = i < n ? 1 : id < un64 ? 2 : 3;
        record[14] = table[(u + 3) % 256];
        record[15] = table[u % un % 256];
        record[16] = u + 1;
        record[17] = (long)(u - 1u) + get_local_size(0);
    }";

#[test]
fn ids_of_every_kind() {
    let setup = Setup::new();
    let kernel = setup.context.build(IDS, "-cl-std=CL3.0").kernel("ids");
    let table: Vec<i32> = (0..256).map(|n| n * 7 - 300).collect();
    let values = setup.context.with_values(&table);
    let numbers = [(16_u32, 32_i32, 64_u64), (48, 100, 24), (7, -16, 16), (1 << 20, 1 << 30, 3 << 40), (3, 0, 1)];
    let ranges = ranges();
    // Each range comes again when the driver has seen many others.
    for round in 0..2 {
        for (index, &(offset, global, local)) in ranges.iter().enumerate() {
            let (un, n, un64) = numbers[(index + round) % numbers.len()];
            let out = setup.context.zeros::<i64>(global * 18);
            kernel.set_all(arguments![&out, &values, un, n, un64]);
            launch(&setup, &kernel, &[offset], &[global], &[local]);
            let records: Vec<i64> = read(&setup.queue, &out);
            for (at, record) in records.chunks_exact(18).enumerate() {
                let id = (offset + at) as u64;
                let (i, u) = (id as i32, id as u32);
                let size = match local {
                    0 => record[17] - i64::from(u.wrapping_sub(1)),
                    _ => local.min(global - at / local * local) as i64,
                };
                let wanted = [
                    i.into(),
                    u.into(),
                    (i % 16).into(),
                    (i / 16).into(),
                    (i >> 4).into(),
                    (i & 15).into(),
                    (u % un).into(),
                    (u / un).into(),
                    if n > 0 { i % n } else { i }.into(),
                    if n > 0 { i / n } else { i }.into(),
                    (id % un64) as i64,
                    (id / un64) as i64,
                    id as i64 / 3,
                    if i < n { 1 } else { 3 - i64::from(id < un64) },
                    table[u.wrapping_add(3) as usize % 256].into(),
                    table[(u % un) as usize % 256].into(),
                    u.wrapping_add(1).into(),
                    i64::from(u.wrapping_sub(1)) + size,
                ];
                assert_eq!(record, wanted, "item {at} of {global} by {local} from {offset} with {un}, {n}, {un64}");
            }
        }
    }
}

#[test]
fn int_ids_as_indices() {
    let setup = Setup::new();
    let source = "kernel void copy(global int *out, global const int *in, uint first) {
        uint i = get_global_id(0);
        out[i - first] = (uint)in[i - first] + i;
    }";
    let kernel = setup.context.build(source, "-cl-std=CL3.0").kernel("copy");
    let values: Vec<i32> = (0..128).map(|n| n * n).collect();
    let input = setup.context.with_values(&values);
    for (offset, global, local) in ranges() {
        let out = setup.context.zeros::<i32>(global);
        kernel.set_all(arguments![&out, &input, offset as u32]);
        launch(&setup, &kernel, &[offset], &[global], &[local]);
        let wanted: Vec<i32> = (0..global).map(|at| values[at].wrapping_add((offset + at) as i32)).collect();
        assert_eq!(read::<i32>(&setup.queue, &out), wanted, "{global} by {local} from {offset}");
    }
}

#[test]
fn rows_of_a_matrix() {
    let setup = Setup::new();
    let source = "kernel void transpose(global int *out, global const int *in, int width, uint height) {
        int x = get_global_id(0);
        int y = get_global_id(1);
        uint c = x + y * height;
        if (x < width && y < height) out[x * height + y] = in[y * width + x] + in[max(y * width + x - 1, 0)];
        else out[width * height] = c;
    }";
    let kernel = setup.context.build(source, "").kernel("transpose");
    for (width, height, local) in
        [(64, 8, [16, 4]), (64, 8, [64, 1]), (48, 5, [8, 8]), (33, 7, [1, 1]), (16, 16, [4, 4]), (80, 3, [16, 2])]
    {
        let values: Vec<i32> = (0..width * height).map(|n| (n * n % 1000) as i32).collect();
        let input = setup.context.with_values(&values);
        let out = setup.context.zeros::<i32>(width * height + 1);
        kernel.set_all(arguments![&out, &input, width as i32, height as u32]);
        let global = [width.next_multiple_of(local[0]), height.next_multiple_of(local[1])];
        launch(&setup, &kernel, &[0, 0], &global, &local);
        let found: Vec<i32> = read(&setup.queue, &out);
        for (x, y) in (0..width).flat_map(|x| (0..height).map(move |y| (x, y))) {
            let at = y * width + x;
            let wanted = values[at] + values[at.saturating_sub(1)];
            assert_eq!(found[x * height + y], wanted, "{x}, {y} of {width} by {height} in {local:?}");
        }
    }
}

#[test]
fn every_work_item_runs_once_however_the_range_is_cut() {
    let setup = Setup::new();
    let source = "kernel void count(global int *out) {
        size_t at = 0;
        for (int d = 2; d >= 0; --d) at = at * get_global_size(d) + get_global_id(d) - get_global_offset(d);
        out[at] += 1 + get_global_id(0) + 3 * get_global_id(1) + 5 * get_global_id(2);
    }";
    let kernel = setup.context.build(source, "-cl-std=CL3.0").kernel("count");
    let globals =
        [[1, 1, 1], [1, 640, 1], [7, 60, 4], [16, 30, 2], [100, 12, 3], [1000, 4, 1], [2048, 2, 2], [1027, 1, 3]];
    for (global, offset) in globals.into_iter().flat_map(|global| [(global, [0; 3]), (global, [5, 0, 9])]) {
        let divisors = |d: usize| [1, 2, 4, 7, 20].into_iter().filter(move |n| global[d] % n == 0);
        for local in divisors(0).flat_map(|x| divisors(1).map(move |y| [x, y, 1])).chain([[0; 3]]) {
            let items: usize = global.iter().product();
            let out = setup.context.zeros::<i32>(items);
            kernel.set(0, &out);
            launch(&setup, &kernel, &offset, &global, &local);
            let found: Vec<i32> = read(&setup.queue, &out);
            for (at, found) in found.into_iter().enumerate() {
                let id = [at % global[0], at / global[0] % global[1], at / global[0] / global[1]];
                let [x, y, z] = std::array::from_fn(|d| (id[d] + offset[d]) as i32);
                assert_eq!(found, 1 + x + 3 * y + 5 * z, "{id:?} of {global:?} by {local:?} from {offset:?}");
            }
        }
    }
}

#[test]
fn groups_of_every_size_meet_at_barriers() {
    let setup = Setup::new();
    let source = "kernel void reverse(global uint *out, local uint *tmp) {
        size_t lid = get_local_id(0);
        size_t size = get_local_size(0);
        uint kept = get_global_id(0);
        tmp[lid] = kept;
        barrier(CLK_LOCAL_MEM_FENCE);
        uint other = tmp[size - 1 - lid];
        barrier(CLK_LOCAL_MEM_FENCE);
        tmp[lid] = other - kept;
        barrier(CLK_LOCAL_MEM_FENCE);
        out[get_group_id(0) * get_enqueued_local_size(0) + lid] = tmp[lid] + kept;
    }";
    let kernel = setup.context.build(source, "-cl-std=CL3.0").kernel("reverse");
    for (offset, global, local) in ranges().into_iter().filter(|&(.., local)| local > 0) {
        let out = setup.context.zeros::<i32>(global);
        kernel.set(0, &out);
        kernel.set(1, lockstep_conformance::objects::Argument::Local(local * 4));
        launch(&setup, &kernel, &[offset], &[global], &[local]);
        let wanted = (0..global).map(|at| {
            let group = at / local * local;
            let size = local.min(global - group);
            (offset + group + size - 1 - (at - group)) as i32
        });
        assert_eq!(read::<i32>(&setup.queue, &out), wanted.collect::<Vec<_>>(), "{global} by {local} from {offset}");
    }
}

#[test]
fn empty_launches_between_others() {
    let setup = Setup::new();
    let kernel = setup.context.kernel("kernel void f(global int *out) { out[get_global_id(0)] += 1; }", "f");
    let out = setup.context.zeros::<i32>(64);
    kernel.set(0, &out);
    for (global, local) in [(0, 16), (64, 16), (0, 16), (64, 32), (0, 0), (64, 16)] {
        launch(&setup, &kernel, &[0], &[global], &[local]);
    }
    assert_eq!(read::<i32>(&setup.queue, &out), [3; 64]);
}

/// Rows become columns, whatever the groups are, and where indices wrap.
#[test]
fn transposes() {
    let setup = Setup::new();
    let source = "
        kernel void by_uint(global const int *in, global int *out, uint width, uint height, uint add) {
            uint x = get_global_id(0), y = get_global_id(1);
            out[x * height + y + add] = in[y * width + x + add];
        }
        kernel void by_size(global const int *in, global int *out, uint width, uint height, uint add) {
            size_t x = get_global_id(0) - get_global_offset(0), y = get_global_id(1) - get_global_offset(1);
            out[x * height + y] = in[y * width + x] + add;
        }";
    let program = setup.context.build(source, "-cl-std=CL3.0");
    let locals: [&[usize]; 9] = [&[0], &[1, 1], &[8, 8], &[16, 16], &[32, 8], &[48, 1], &[1, 32], &[16, 4], &[96, 32]];
    for (width, height) in [(96_usize, 64_usize), (96, 96), (192, 32)] {
        let values: Vec<i32> = (0..width * height).map(|i| i as i32 * 7 - 300).collect();
        let turned = |add: i32| -> Vec<i32> {
            (0..width * height).map(|i| values[i % height * width + i / height].wrapping_add(add)).collect()
        };
        let values_in = setup.context.with_values(&values);
        for local in locals.into_iter().filter(|local| local[0] == 0 || width % local[0] == 0) {
            let sizes = (width as u32, height as u32);
            // The ids are as much too large as the numbers are too small: every index wraps, in one of the rows or columns
            // between two work-items.
            for start in [0, 5, (1 << 32) - 20] {
                let out = setup.context.zeros::<i32>(width * height);
                let before = 0_u32.wrapping_sub((start as u32).wrapping_mul(sizes.0.wrapping_add(1)));
                let kernel = program.kernel("by_uint");
                if start == 0 || width == height {
                    kernel.set_all(arguments![&values_in, &out, sizes.0, sizes.1, before]);
                    launch(&setup, &kernel, &[start, start], &[width, height], local);
                    assert_eq!(
                        read::<i32>(&setup.queue, &out),
                        turned(0),
                        "{width} x {height} by {local:?} from {start}"
                    );
                }
                let kernel = program.kernel("by_size");
                kernel.set_all(arguments![&values_in, &out, sizes.0, sizes.1, 9_u32]);
                launch(&setup, &kernel, &[start, start], &[width, height], local);
                assert_eq!(read::<i32>(&setup.queue, &out), turned(9), "{width} x {height} by {local:?} from {start}");
            }
        }
    }
}

/// Arguments with which ids are multiplied, by turns 1 and something else, of several types.
#[test]
fn steps_between_neighbours() {
    let source = "
        kernel void steps(global const uchar *in, global int *out, int step, uchar narrow, long wide) {
            size_t i = get_global_id(0);
            int sum = in[(int)i * step] * 3 + in[i * narrow + 1];
            for (int k = 0; k < 3; ++k) sum += in[i * wide + k * step];
            out[i * narrow] = sum + step * 1000;
        }";
    let setup = Setup::new();
    let kernel = setup.context.build(source, "-cl-std=CL3.0").kernel("steps");
    let (items, most) = (100, 5);
    let bytes: Vec<u8> = (0..items * most + 16).map(|n| (n * 37 % 251) as u8).collect();
    let input = setup.context.with_values(&bytes);
    let steps = [(1, 1, 1), (3, 1, 1), (1, 2, 1), (1, 1, 1), (5, 5, 5), (1, 1, 4), (0, 1, 1), (1, 1, 1), (3, 1, 2)];
    for (step, narrow, wide) in steps {
        let out = setup.context.zeros::<i32>(items * most);
        kernel.set_all(arguments![&input, &out, step as i32, narrow as u8, wide as i64]);
        launch(&setup, &kernel, &[0], &[items], &[20]);
        let mut wanted = vec![0; items * most];
        for i in 0..items {
            let at = |place: usize| i32::from(bytes[place]);
            let three: i32 = (0..3).map(|k| at(i * wide + k * step)).sum();
            wanted[i * narrow] = at(i * step) * 3 + at(i * narrow + 1) + three + step as i32 * 1000;
        }
        assert_eq!(read::<i32>(&setup.queue, &out), wanted, "{step} {narrow} {wide}");
    }
}
