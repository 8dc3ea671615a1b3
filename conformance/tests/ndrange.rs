//! NDRanges: work-item functions over one to three dimensions with offsets, chosen local sizes and uneven groups, and
//! the launches that are errors.

use std::ptr;

use lockstep_conformance::commands::{finish, try_launch};
use lockstep_conformance::loader::{cl, device};
use lockstep_conformance::opencl_sys::*;
use lockstep_conformance::{Buffer, Kernel, Random, Setup, expect, info, ok, read, run};

/// What each item writes: eight queries for each dimension, then the number of dimensions.
const IDS: &str = "
    kernel void ids(global ulong *out) {
        size_t flat = 0;
        for (int d = 2; d >= 0; --d)
            flat = flat * get_global_size(d) + get_global_id(d) - get_global_offset(d);
        global ulong *record = out + flat * 25;
        for (uint d = 0; d < 3; ++d) {
            *record++ = get_global_id(d);
            *record++ = get_local_id(d);
            *record++ = get_group_id(d);
            *record++ = get_local_size(d);
            *record++ = get_enqueued_local_size(d);
            *record++ = get_num_groups(d);
            *record++ = get_global_size(d);
            *record++ = get_global_offset(d);
        }
        *record = get_work_dim();
    }";

struct Ids {
    setup: Setup,
    kernel: Kernel,
}

impl Ids {
    fn new() -> Self {
        let setup = Setup::new();
        let kernel = setup.context.build(IDS, "-cl-std=CL3.0").kernel("ids");
        Ids { setup, kernel }
    }

    /// Runs over a range and compares every item with the specification's formulas. Without a local size, the driver's
    /// choice is taken from the answer and must be the same for all items.
    fn check(&self, offset: &[usize], global: &[usize], local: &[usize]) {
        let items: usize = global.iter().product();
        let out: Buffer = self.setup.context.zeros::<u64>(items * 25);
        self.kernel.set(0, &out);
        ok((cl().clEnqueueNDRangeKernel)(
            self.setup.queue.raw(),
            self.kernel.raw(),
            global.len() as cl_uint,
            if offset.is_empty() { ptr::null() } else { offset.as_ptr() },
            global.as_ptr(),
            if local.is_empty() { ptr::null() } else { local.as_ptr() },
            0,
            ptr::null(),
            ptr::null_mut(),
        ));
        let records: Vec<u64> = read(&self.setup.queue, &out);
        let at = |sizes: &[usize], d: usize, default: usize| sizes.get(d).copied().unwrap_or(default);
        for (item, record) in records.chunks_exact(25).enumerate() {
            let mut rest = item;
            for d in 0..3 {
                let got: Vec<usize> = record[8 * d..8 * d + 8].iter().map(|&value| value as usize).collect();
                let size = at(global, d, 1);
                let enqueued = if local.is_empty() { records[8 * d + 4] as usize } else { at(local, d, 1) };
                assert!(enqueued >= 1, "local size 0 was chosen");
                let (id, start) = (rest % size, at(offset, d, 0));
                rest /= size;
                let group = id / enqueued;
                let local_size = enqueued.min(size - group * enqueued);
                let groups = size.div_ceil(enqueued);
                let wanted = vec![start + id, id % enqueued, group, local_size, enqueued, groups, size, start];
                assert_eq!(got, wanted, "item {item}, dimension {d} of {global:?} by {local:?} from {offset:?}");
            }
            assert_eq!(record[24], global.len() as u64);
        }
    }
}

fn any_size() -> bool {
    let answer: cl_bool = info::value(|size, value, returned| {
        (cl().clGetDeviceInfo)(device(), CL_DEVICE_NON_UNIFORM_WORK_GROUP_SUPPORT, size, value, returned)
    });
    answer == CL_TRUE
}

#[test]
fn one_dimension() {
    let ids = Ids::new();
    for (global, local) in [(1, 1), (64, 64), (64, 16), (100, 10), (96, 1), (17, 17), (1024, 32)] {
        ids.check(&[], &[global], &[local]);
        ids.check(&[1000], &[global], &[local]);
    }
}

#[test]
fn two_dimensions() {
    let ids = Ids::new();
    ids.check(&[], &[16, 8], &[4, 4]);
    ids.check(&[3, 5], &[16, 8], &[16, 1]);
    ids.check(&[0, 70000], &[9, 15], &[3, 5]);
    ids.check(&[], &[1, 50], &[1, 10]);
}

#[test]
fn three_dimensions() {
    let ids = Ids::new();
    ids.check(&[], &[8, 4, 6], &[2, 2, 3]);
    ids.check(&[1, 2, 3], &[8, 4, 6], &[8, 1, 1]);
    ids.check(&[7, 0, 0], &[5, 7, 3], &[5, 7, 3]);
    ids.check(&[], &[1, 1, 40], &[1, 1, 8]);
}

#[test]
fn local_size_chosen_by_the_driver() {
    let ids = Ids::new();
    for global in [1, 2, 7, 64, 97, 1000, 4096] {
        ids.check(&[], &[global], &[]);
        ids.check(&[13], &[global], &[]);
    }
    ids.check(&[], &[31, 17], &[]);
    ids.check(&[2, 4, 8], &[6, 10, 14], &[]);
}

#[test]
fn offsets_beyond_32_bits() {
    let ids = Ids::new();
    ids.check(&[(1 << 33) + 5], &[64], &[16]);
    ids.check(&[0, 1 << 40], &[8, 8], &[8, 2]);
}

#[test]
fn groups_that_do_not_divide_the_range() {
    let ids = Ids::new();
    if !any_size() {
        // "CL_INVALID_WORK_GROUP_SIZE if ... the number of work-items is not evenly divisible".
        let out = ids.setup.context.zeros::<u64>(25 * 10);
        ids.kernel.set(0, &out);
        expect(try_launch(&ids.setup.queue, &ids.kernel, &[10], &[4]), CL_INVALID_WORK_GROUP_SIZE);
        return;
    }
    ids.check(&[], &[10], &[4]);
    ids.check(&[5], &[100], &[64]);
    ids.check(&[], &[3], &[8]);
    ids.check(&[1, 1], &[7, 11], &[4, 4]);
    ids.check(&[], &[5, 6, 7], &[2, 4, 3]);
    ids.check(&[], &[9, 4, 9], &[2, 2, 16]);
}

#[test]
fn random_ranges() {
    let ids = Ids::new();
    let mut random = Random::new(7);
    for _ in 0..40 {
        let dimensions = random.between(1, 3);
        let local: Vec<usize> = (0..dimensions).map(|_| random.between(1, 6)).collect();
        let global: Vec<usize> = local.iter().map(|local| local * random.between(1, 5)).collect();
        let offset: Vec<usize> = local.iter().map(|_| random.below(100)).collect();
        ids.check(&offset, &global, &local);
    }
}

#[test]
fn dimensions_out_of_range() {
    let setup = Setup::new();
    let source = "kernel void f(global ulong *out, uint d) {
        ulong values[] = {get_global_size(d), get_global_id(d), get_local_size(d), get_local_id(d), get_num_groups(d),
                          get_group_id(d), get_global_offset(d)};
        for (int i = 0; i < 7; ++i) out[i] = values[i];
    }";
    let kernel = setup.context.kernel(source, "f");
    let out = setup.context.zeros::<u64>(7);
    for dimension in [1_u32, 3, 77, u32::MAX] {
        kernel.set(0, &out);
        kernel.set(1, dimension);
        run(&setup.queue, &kernel, &[1], &[1]);
        assert_eq!(read::<u64>(&setup.queue, &out), [1, 0, 1, 0, 1, 0, 0], "dimension {dimension}");
    }
}

#[test]
fn empty_ranges() {
    let setup = Setup::new();
    let kernel = setup.context.kernel("kernel void f(global int *out) { out[0] = 1; }", "f");
    let out = setup.context.zeros::<i32>(1);
    kernel.set(0, &out);
    // Since OpenCL 2.1: "If any of the values ... are 0 ... the kernel command will trivially succeed".
    ok(try_launch(&setup.queue, &kernel, &[0], &[]));
    ok(try_launch(&setup.queue, &kernel, &[4, 0], &[]));
    finish(&setup.queue);
    assert_eq!(read::<i32>(&setup.queue, &out), [0]);
}

#[test]
fn bad_ranges() {
    let setup = Setup::new();
    let kernel = setup.context.kernel("kernel void f(global int *out) { out[0] = 1; }", "f");
    let out = setup.context.zeros::<i32>(1);
    kernel.set(0, &out);
    let launch = |dimensions: u32, offset: Option<&[usize]>, global: Option<&[usize]>, local: Option<&[usize]>| {
        let pointer = |sizes: Option<&[usize]>| sizes.map_or(ptr::null(), <[usize]>::as_ptr);
        (cl().clEnqueueNDRangeKernel)(
            setup.queue.raw(),
            kernel.raw(),
            dimensions,
            pointer(offset),
            pointer(global),
            pointer(local),
            0,
            ptr::null(),
            ptr::null_mut(),
        )
    };
    let four = [4_usize; 4];
    expect(launch(0, None, Some(&four), None), CL_INVALID_WORK_DIMENSION);
    expect(launch(4, None, Some(&four), None), CL_INVALID_WORK_DIMENSION);
    let most: usize = info::value(|size, value, returned| {
        (cl().clGetDeviceInfo)(device(), CL_DEVICE_MAX_WORK_GROUP_SIZE, size, value, returned)
    });
    let sizes: Vec<usize> = info::array(|size, value, returned| {
        (cl().clGetDeviceInfo)(device(), CL_DEVICE_MAX_WORK_ITEM_SIZES, size, value, returned)
    });
    // "CL_INVALID_WORK_GROUP_SIZE if ... the total number of work-items ... is greater than the maximum", and
    // "CL_INVALID_WORK_ITEM_SIZE if the number of work-items specified in any of local_work_size[] is greater than".
    let big = [most, 2];
    let code = launch(2, None, Some(&big), Some(&big));
    assert!(code == CL_INVALID_WORK_GROUP_SIZE || (sizes[1] < 2 && code == CL_INVALID_WORK_ITEM_SIZE));
    let wide = [sizes[2] + 1];
    let code = launch(3, None, Some(&[1, 1, wide[0]]), Some(&[1, 1, wide[0]]));
    assert!(code == CL_INVALID_WORK_ITEM_SIZE || (wide[0] > most && code == CL_INVALID_WORK_GROUP_SIZE));
    let code = launch(1, None, Some(&four), Some(&[0]));
    assert!(code == CL_INVALID_WORK_GROUP_SIZE || code == CL_INVALID_WORK_ITEM_SIZE);
    // "CL_INVALID_GLOBAL_OFFSET if the value specified in global_work_size + the corresponding values in
    // global_work_offset for any dimensions is greater than the maximum value representable by size_t".
    expect(launch(1, Some(&[usize::MAX - 1]), Some(&four), None), CL_INVALID_GLOBAL_OFFSET);
    finish(&setup.queue);
    assert_eq!(read::<i32>(&setup.queue, &out), [0], "a rejected launch ran");
}

#[test]
fn required_work_group_size() {
    let setup = Setup::new();
    let source = "kernel __attribute__((reqd_work_group_size(8, 2, 1))) void f(global uint *out) {
        out[get_global_id(1) * get_global_size(0) + get_global_id(0)] = get_local_size(0) * 100 + get_local_size(1);
    }";
    let kernel = setup.context.kernel(source, "f");
    let out = setup.context.zeros::<u32>(64);
    kernel.set(0, &out);
    assert_eq!(kernel.group_info::<[usize; 3]>(CL_KERNEL_COMPILE_WORK_GROUP_SIZE), [8, 2, 1]);
    expect(try_launch(&setup.queue, &kernel, &[16, 4], &[4, 4]), CL_INVALID_WORK_GROUP_SIZE);
    expect(try_launch(&setup.queue, &kernel, &[64], &[64]), CL_INVALID_WORK_GROUP_SIZE);
    run(&setup.queue, &kernel, &[16, 4], &[8, 2]);
    assert_eq!(read::<u32>(&setup.queue, &out), [802; 64]);
    // With no local size given, the required one is taken (OpenCL 2.0 and later; an error before).
    let code = try_launch(&setup.queue, &kernel, &[16, 4], &[]);
    assert!(code == CL_SUCCESS || code == CL_INVALID_WORK_GROUP_SIZE);
    finish(&setup.queue);
    assert_eq!(read::<u32>(&setup.queue, &out), [802; 64]);
}

#[test]
fn tasks() {
    let setup = Setup::new();
    let source = "kernel void f(global uint *out) { out[get_global_id(0)] = get_global_size(0) + get_work_dim(); }";
    let kernel = setup.context.kernel(source, "f");
    let out = setup.context.zeros::<u32>(2);
    kernel.set(0, &out);
    ok((cl().clEnqueueTask)(setup.queue.raw(), kernel.raw(), 0, ptr::null(), ptr::null_mut()));
    assert_eq!(read::<u32>(&setup.queue, &out), [2, 0]);
}

#[test]
fn many_items() {
    let setup = Setup::new();
    let kernel =
        setup.context.kernel("kernel void f(global uint *a) { size_t g = get_global_id(0); a[g] += g * 3; }", "f");
    let count = 1 << 20;
    let buffer = setup.context.with_values(&vec![7_u32; count]);
    kernel.set(0, &buffer);
    for _ in 0..3 {
        run(&setup.queue, &kernel, &[count], &[]);
    }
    let wanted: Vec<u32> = (0..count as u32).map(|g| 7 + 9 * g).collect();
    assert!(read::<u32>(&setup.queue, &buffer) == wanted);
}
