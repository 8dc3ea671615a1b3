//! Loops that no lane is in end, whatever their conditions say.

use crate::build::{Launch, agree, build, ints};
use lockstep_ir::interp::{Arg, NdRange};

/// A kernel's name and body, its `m` by work-items and its `n`.
type Case = (&'static str, &'static str, fn(i32) -> i32, i32);

/// Runs kernels whose bodies have `m[i]`, `out[i]` and `n` for work-item `i`, for some numbers of work-items.
fn end(cases: &[Case]) {
    let kernel = |&(name, body, ..): &Case| {
        format!(
            "kernel void {name}(global const int *m, global int *out, volatile global int *flag, int n) {{
                 int i = get_global_id(0);
                 {body}
             }}\n"
        )
    };
    let module = build(&cases.iter().map(kernel).collect::<String>());
    for &(name, _, m, n) in cases {
        let launch = |(size, local): (i32, u64)| Launch {
            range: NdRange::new(&[size as u64], &[local]),
            args: vec![Arg::Buffer(0), Arg::Buffer(1), Arg::Buffer(2), Arg::i32(n)],
            buffers: vec![ints((0..size).map(m)), ints((0..size).map(|_| -1)), ints([3])],
        };
        agree(&module, name, &[(1, 1), (5, 5), (16, 16), (21, 7), (37, 37)].map(launch));
    }
}

fn none(_: i32) -> i32 {
    0
}

fn some(i: i32) -> i32 {
    i * i % 5
}

#[test]
fn endless_under_a_condition_that_no_lane_meets() {
    end(&[
        ("plain", "if (m[i]) { while (1) out[i]++; } out[i] = i;", none, 0),
        ("counting", "if (m[i]) { int k = 0; while (1) { flag[0] = k; k++; } } out[i] = i;", none, 0),
        ("nested", "if (m[i] < 5) { if (m[i] == 3) while (1) flag[0]++; out[i] = i; }", some, 0),
        ("no_exit_at_all", "if (m[i]) for (;;) atomic_inc(flag); else out[i] = 5;", none, 0),
    ]);
}

/// The condition is the same for all lanes, so that the branch stays a branch.
#[test]
fn endless_by_a_uniform_condition() {
    end(&[
        ("argument", "if (m[i]) { while (n) out[i]++; } out[i] = i;", none, 1),
        ("memory", "if (m[i]) { while (flag[0] != 5) out[i]++; } out[i] = i;", none, 0),
        ("plain_memory", "if (m[i]) { while (((global int *)flag)[0] != 5) out[i] += 3; } out[i] = i;", none, 0),
        ("step", "if (m[i]) { for (int k = 0; k != 7; k += n) out[i] += k; } out[i] = i;", none, 0),
        ("in_a_loop", "for (int k = 0; k < 3; k++) { if (m[i] == 77) { while (n) flag[0]++; } out[i] += k; }", some, 1),
        ("both_ways", "if (m[i]) { while (n) out[i]++; } else { for (int k = n; k; k--) out[i] += k; }", none, 1),
    ]);
}

#[test]
fn loops_that_run_not_once() {
    end(&[
        ("zero_trips", "for (int k = 0; k < m[i]; k++) out[i] += k;", none, 0),
        ("uniform_zero_trips", "if (m[i]) for (int k = 0; k < n; k++) out[i] += k;", some, 0),
        ("step_zero", "int last = m[i] ? 10 : 0; for (int k = 0; k < last; k += m[i]) out[i] += k;", some, 0),
        ("until_equal", "if (m[i]) { for (int k = 0; k != m[i]; k++) out[i] += k; }", some, 0),
        ("until_zero", "if (m[i] > 0) { int k = m[i]; do { out[i] += k; } while (--k); }", some, 0),
    ]);
}

/// After a lane has left, others stay that go no further.
#[test]
fn lanes_leave_one_by_one() {
    end(&[
        (
            "inner_endless",
            "for (int k = 0;; k++) { if (i + k > 20) break; if (m[i] == 77) while (1) flag[0]++; out[i] += k; }",
            some,
            0,
        ),
        ("returns", "for (int k = 0;; k++) { if (k > m[i]) { out[i] = k; return; } }", some, 0),
        (
            "two_exits",
            "int k = 0; while (1) { if (k == m[i]) break; k++; if (k == 2) { out[i] = 50; return; } } out[i] = k;",
            some,
            0,
        ),
        (
            "inner_uniform",
            "for (int k = 0; k < m[i]; k++) { int j = 0; while (j != n) { j++; out[i] += j; } }",
            some,
            4,
        ),
        (
            "bound_of_lanes_that_left",
            "int k = m[i]; while (k) { for (int j = k; j != 0; j--) out[i] += j; k--; if (i & 1) k = 0; }",
            some,
            0,
        ),
        (
            "out_of_two_loops",
            "uint x = m[i] * 0x9e3779b9u; int steps = 0, found = -1;
             for (int k = 0; k < 8; k++) {
                 for (int j = 0; j < 8; j++) {
                     steps++;
                     if (((x >> ((k * 8 + j) & 31)) & 7) == 5) { found = k * 8 + j; goto done; }
                     if (((x >> j) & 31) == 30) break;
                 }
                 if (x & (1u << k)) continue;
                 steps += 100;
             }
             done: out[i] = found * 10000 + steps;",
            some,
            0,
        ),
        (
            "switch_in_loop",
            "int k = m[i]; while (1) { switch (k) { case 0: out[i] = 9; return; case 3: k -= 2; \
         break; default: k--; } if (k == 77) while (n) flag[0]++; }",
            some,
            1,
        ),
    ]);
}

#[test]
fn goto_into_endless() {
    end(&[(
        "goto_endless",
        "int k = 0; again: if (m[i] == 77) { forever: flag[0]++; goto forever; } if (k++ < m[i]) goto again; out[i] = k;",
        some,
        0,
    )]);
}

/// Rows of memory that end where the first lane leaves, and stores that must not be done twice.
#[test]
fn as_long_as_no_lane_has_left() {
    end(&[
        ("walk", "int size = get_global_size(0); for (int k = i; k < size; k++) out[i] += m[k] * 3;", some, 0),
        ("walk_until", "int size = get_global_size(0), k = i; do { out[i] += m[k] - k; } while (++k < size);", some, 0),
        (
            "store_before_an_exit",
            "int size = get_global_size(0); for (int k = i;; k++) { out[i]++; if (k + 1 >= size) break; out[i] += m[k + 1]; }",
            some,
            0,
        ),
        (
            "atomic_before_an_exit",
            "for (int k = 0; k < 9; k++) { atomic_add(out + i, k); if (m[i] < k) break; out[i] ^= m[i]; }",
            some,
            0,
        ),
        (
            "endless_behind_all_lanes",
            "if (m[i] >= 0) { int k = 0; while (k <= m[i]) k++; out[i] = k; } else while (1) flag[0]++;",
            some,
            0,
        ),
        (
            "arms_of_all_lanes",
            "if (m[i] < 77) { for (int k = 0; k <= m[i]; k++) out[i] += m[i]; } else out[i + 1000000] = 1;",
            some,
            0,
        ),
        ("nested_while", "for (int k = 0; k < m[i]; k++) for (int j = 0; j <= k; j++) out[i] += m[i] + j;", some, 0),
    ]);
}
