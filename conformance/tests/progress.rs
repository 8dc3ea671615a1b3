//! Work-items that wait for others of their group without a barrier: sub-groups make progress independently of each other
//! (`cl_khr_subgroups`), and this driver lets work-items do so as well where a kernel knows nothing of sub-groups.

use lockstep_conformance::commands::{read, run};
use lockstep_conformance::loader::{cl, device, has_extension, is_lockstep};
use lockstep_conformance::opencl_sys::*;
use lockstep_conformance::{Setup, arguments, info};
use std::panic::resume_unwind;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

/// Runs what hangs where work-items wait in vain, and fails then.
fn in_time(work: fn()) {
    let (sender, done) = channel::<()>();
    let worker = thread::spawn(move || {
        // Dropped at the end of the work, however it ends.
        let _sender = sender;
        work();
    });
    let end = done.recv_timeout(Duration::from_secs(120));
    assert_eq!(end, Err(RecvTimeoutError::Disconnected), "work-items wait in vain");
    if let Err(failure) = worker.join() {
        resume_unwind(failure);
    }
}

/// Whether sub-groups make progress independently; here they have to.
fn sub_groups_do() -> bool {
    let name = CL_DEVICE_SUB_GROUP_INDEPENDENT_FORWARD_PROGRESS;
    let do_so: cl_bool =
        info::value(|size, value, returned| (cl().clGetDeviceInfo)(device(), name, size, value, returned));
    assert!(do_so == CL_TRUE || !has_extension("cl_khr_subgroups"), "the extension promises it");
    assert!(do_so == CL_TRUE || !is_lockstep());
    do_so == CL_TRUE
}

const LOCALS: &[&[usize]] = &[&[16], &[40], &[64], &[1000], &[16, 4, 2], &[5, 7, 3]];

/// Each sub-group waits for the next one, so that the last one to begin is the first to get on; each adds to what it finds.
const CHAIN: &str = "
    ATTRIBUTE kernel void chain(global const int *in, global int *out, global int *scratch) {
        local atomic_int passed[257];
        local int *plain = (local int *)passed;
        size_t item = get_local_linear_id();
        size_t items = get_local_size(0) * get_local_size(1) * get_local_size(2);
        for (size_t i = item; i < 257; i += items)
            atomic_init(passed + i, -1);
        int all = work_group_reduce_add(in[get_global_linear_id()]);
        size_t id = get_sub_group_id(), last = get_num_sub_groups() - 1;
        // Of private memory there is more than fits on a stack.
        int own[PRIVATE];
        for (int i = 0; i < PRIVATE; i++)
            own[i] = in[get_global_linear_id()] + i;
        int found = 1;
        if (id != last && sub_group_elect())
            while ((found = atomic_load_explicit(passed + id + 1, memory_order_acquire, memory_scope_work_group)) < 0)
                ;
        found = sub_group_broadcast(found, 0);
        int sum = sub_group_reduce_add(own[(get_sub_group_local_id() + found) % PRIVATE]);
        if (sub_group_elect())
            atomic_store_explicit(passed + id, (found + (sum & 1023)) & 0xffff, memory_order_release,
                                  memory_scope_work_group);
        barrier(CLK_LOCAL_MEM_FENCE);
        out[get_global_linear_id()] = plain[id] * 3 + all;
    }";

#[test]
fn sub_groups_wait_for_later_ones() {
    if !sub_groups_do() {
        return;
    }
    in_time(|| {
        let setup = Setup::new();
        let sizes = [8, 16, 32].map(Some).into_iter().filter(|_| has_extension("cl_intel_required_subgroup_size"));
        let cases = [1, 64, 3000].map(|private| (private, None)).into_iter().chain(sizes.map(|size| (64, size)));
        for (private, size) in cases {
            let attribute = size.map(|size| format!("__attribute__((intel_reqd_sub_group_size({size})))"));
            let options = format!("-cl-std=CL3.0 -DPRIVATE={private} -DATTRIBUTE={}", attribute.unwrap_or_default());
            let kernel = setup.context.build(CHAIN, &options).kernel("chain");
            for &local in LOCALS {
                let items: usize = local.iter().product();
                // The last group along x is not whole.
                let mut global: Vec<usize> = local.iter().map(|n| n * 2).collect();
                global[0] += local[0] / 2;
                let count: usize = global.iter().product();
                let input: Vec<i32> = (0..count as i32).map(|i| i * 7919 % 251).collect();
                let (data, out) = (setup.context.with_values(&input), setup.context.zeros::<i32>(count));
                let scratch = setup.context.zeros::<i32>(1);
                kernel.set_all(arguments![&data, &out, &scratch]);
                run(&setup.queue, &kernel, &global, local);
                let got: Vec<i32> = read(&setup.queue, &out);
                let wanted = chain(&input, &global, local, private, size.unwrap_or(16));
                assert_eq!(got, wanted, "{global:?} by {local:?}, {items} work-items, {private} private, {size:?}");
            }
        }
    });
}

/// What [`CHAIN`] is to give in sub-groups of `sub_group` work-items.
fn chain(input: &[i32], global: &[usize], local: &[usize], private: usize, sub_group: usize) -> Vec<i32> {
    let three = |sizes: &[usize]| -> [usize; 3] { std::array::from_fn(|d| sizes.get(d).copied().unwrap_or(1)) };
    let (range, size) = (three(global), three(local));
    let mut out = vec![0; input.len()];
    let groups: [usize; 3] = std::array::from_fn(|d| range[d].div_ceil(size[d]));
    for group in 0..groups.iter().product() {
        let id = [group % groups[0], group / groups[0] % groups[1], group / groups[0] / groups[1]];
        let first: [usize; 3] = std::array::from_fn(|d| id[d] * size[d]);
        let count: [usize; 3] = std::array::from_fn(|d| size[d].min(range[d] - first[d]));
        let places: Vec<usize> = (0..count.iter().product())
            .map(|i| [i % count[0], i / count[0] % count[1], i / count[0] / count[1]])
            .map(|at| {
                let [x, y, z] = std::array::from_fn(|d| first[d] + at[d]);
                x + range[0] * (y + range[1] * z)
            })
            .collect();
        let all: i32 = places.iter().map(|&at| input[at]).sum();
        let mut found = 1;
        for members in places.chunks(sub_group).rev() {
            let of_lane = |(lane, &at): (usize, &usize)| input[at] + ((lane + found as usize) % private) as i32;
            let sum: i32 = members.iter().enumerate().map(of_lane).sum();
            found = (found + (sum & 1023)) & 0xffff;
            members.iter().for_each(|&at| out[at] = found * 3 + all);
        }
    }
    out
}

/// One work-item waits for the next one of its group: by an atomic read, by a volatile one, by an exchange.
#[test]
fn work_items_wait_for_later_ones() {
    if !is_lockstep() {
        return;
    }
    in_time(|| {
        let setup = Setup::new();
        for wait in [
            "while (atomic_or(flags + g + 1, 0) == 0);",
            "while (((volatile global int *)flags)[g + 1] == 0);",
            "int seen = 0; do { if (atomic_cmpxchg(flags + g + 1, 0, 0)) seen = 1; else mem_fence(CLK_GLOBAL_MEM_FENCE); } while (!seen);",
        ] {
            let source = format!(
                "kernel void f(global int *flags, global int *out, int rounds) {{
                size_t g = get_global_id(0);
                int sum = 0;
                for (int round = 0; round < rounds; round++) {{
                    if (get_local_id(0) + 1 < get_local_size(0)) {{ {wait} }}
                    sum += flags[g + 1] * (round + 1);
                    mem_fence(CLK_GLOBAL_MEM_FENCE);
                    atomic_xchg(flags + g, (int)get_local_id(0) + 1);
                    barrier(CLK_GLOBAL_MEM_FENCE);
                    out[g] = sum;
                    flags[g] = 0;
                    barrier(CLK_GLOBAL_MEM_FENCE);
                }}
            }}"
            );
            let kernel = setup.context.build(&source, "").kernel("f");
            for (count, local) in [(1, 1), (64, 64), (1200, 300), (60, 20)] {
                let (flags, out) = (setup.context.zeros::<i32>(count + 1), setup.context.zeros::<i32>(count));
                kernel.set_all(arguments![&flags, &out, 3]);
                run(&setup.queue, &kernel, &[count], &[local]);
                let wanted: Vec<i32> =
                    (0..count).map(|g| if g % local + 1 < local { 6 * (g % local + 2) as i32 } else { 0 }).collect();
                // The last one of a group may see the first flag of the next group at any time.
                let got: Vec<i32> = read(&setup.queue, &out);
                for (g, (got, wanted)) in got.iter().zip(&wanted).enumerate().filter(|(g, _)| g % local + 1 < local) {
                    assert_eq!(got, wanted, "{wait}: item {g} of {count} by {local}");
                }
            }
        }
    });
}

/// What a group keeps once over a barrier, where those that get done and those that have not begun stand beside each other:
/// a count of rounds that every work-item has, and what was read of one place at different times.
#[test]
fn work_items_get_done_at_different_times() {
    if !is_lockstep() {
        return;
    }
    in_time(|| {
        let setup = Setup::new();
        let source = "
        kernel void rounds(global int *flags, global int *out, int rounds) {
            int l = get_local_id(0), n = get_local_size(0), sum = 0;
            for (int r = 1; r <= rounds; r++) {
                if (l + 1 < n && l % 4 != 1)
                    while (atomic_or(flags + l + 1, 0) < r)
                        ;
                sum += r;
                atomic_xchg(flags + l, r);
                barrier(CLK_GLOBAL_MEM_FENCE);
            }
            out[l] = sum;
        }
        kernel void turns(global int *turn, global int *place, global int *out) {
            int l = get_local_id(0);
            while (atomic_or(turn, 0) != l)
                ;
            int found = *place;
            *place = found + l + 1;
            mem_fence(CLK_GLOBAL_MEM_FENCE);
            atomic_xchg(turn, l + 1);
            barrier(CLK_GLOBAL_MEM_FENCE);
            out[l] = found;
        }";
        let program = setup.context.build(source, "");
        for count in [1, 16, 50, 256] {
            let (flags, out) = (setup.context.zeros::<i32>(count), setup.context.zeros::<i32>(count));
            let kernel = program.kernel("rounds");
            kernel.set_all(arguments![&flags, &out, 5]);
            run(&setup.queue, &kernel, &[count], &[count]);
            assert_eq!(read::<i32>(&setup.queue, &out), vec![15; count], "{count} work-items");

            let (turn, place) = (setup.context.zeros::<i32>(1), setup.context.zeros::<i32>(1));
            let kernel = program.kernel("turns");
            kernel.set_all(arguments![&turn, &place, &out]);
            run(&setup.queue, &kernel, &[count], &[count]);
            let sums: Vec<i32> = (0..count as i32).map(|l| l * (l + 1) / 2).collect();
            assert_eq!(read::<i32>(&setup.queue, &out), sums, "{count} work-items");
        }
    });
}

/// A lock that each work-item takes: those of a gang would wait for each other for ever.
#[test]
fn work_items_share_a_lock() {
    if !is_lockstep() {
        return;
    }
    in_time(|| {
        let setup = Setup::new();
        let source = "kernel void f(global int *lock, global volatile int *count, global int *order) {
            while (atomic_cmpxchg(lock, 0, 1) != 0);
            int n = *count;
            *count = n + 1;
            mem_fence(CLK_GLOBAL_MEM_FENCE);
            atomic_xchg(lock, 0);
            order[get_global_id(0)] = n;
        }";
        let kernel = setup.context.build(source, "").kernel("f");
        for (count, local) in [(4096, 64), (4096, 1), (5000, 1000)] {
            let (lock, taken) = (setup.context.zeros::<i32>(1), setup.context.zeros::<i32>(1));
            let order = setup.context.zeros::<i32>(count);
            kernel.set_all(arguments![&lock, &taken, &order]);
            run(&setup.queue, &kernel, &[count], &[local]);
            let mut order: Vec<i32> = read(&setup.queue, &order);
            order.sort_unstable();
            assert!(order.iter().copied().eq(0..count as i32), "{count} by {local}: each number once");
            assert_eq!(read::<i32>(&setup.queue, &taken), [count as i32]);
        }
    });
}

/// Who says that nobody waits gets the same answers.
#[test]
fn sub_groups_may_be_said_not_to_wait() {
    if !sub_groups_do() {
        return;
    }
    let setup = Setup::new();
    let source = "kernel void f(global atomic_int *sum, global int *out) {
            int most = sub_group_reduce_max((int)get_global_id(0));
            int old = atomic_load(sum);
            while (!atomic_compare_exchange_strong(sum, &old, old + most % 3))
                ;
            out[get_global_id(0)] = most;
        }";
    for options in ["-cl-std=CL3.0", "-cl-std=CL3.0 -cl-no-subgroup-ifp"] {
        let kernel = setup.context.build(source, options).kernel("f");
        let (sum, out) = (setup.context.zeros::<i32>(1), setup.context.zeros::<i32>(512));
        kernel.set_all(arguments![&sum, &out]);
        run(&setup.queue, &kernel, &[512], &[128]);
        let most: Vec<i32> = (0..512).map(|g| g / 16 * 16 + 15).collect();
        assert_eq!(read::<i32>(&setup.queue, &out), most, "{options}");
        assert_eq!(read::<i32>(&setup.queue, &sum), [most.iter().map(|m| m % 3).sum::<i32>()], "{options}");
    }
}
