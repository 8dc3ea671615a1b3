//! Addresses that only inactive lanes have: null, far away, or wrongly aligned.

use crate::build::{Launch, agree, build, ints};
use lockstep_ir::interp::{Arg, NdRange};

/// Which lanes are to do something.
const PATTERNS: [fn(i32) -> bool; 5] = [|_| false, |i| i == 0, |i| i % 2 == 1, |i| i % 7 > 4, |i| i % 16 == 15];

/// A kernel's name and body.
type Case = (&'static str, &'static str);

/// Runs bodies for which work-item `i` has `m[i]`, true in some lanes, and `w[i]`, a number below 4 in these and
/// a wild one in the others. `a` and `b` have an element per work-item, `p` is null and `far` a great distance.
fn compare(patterns: &[fn(i32) -> bool], cases: &[Case]) {
    compare_at(&[(1, 1), (7, 7), (16, 16), (37, 21)], patterns, cases);
}

/// As [`compare`], with these numbers of work-items and sizes of groups.
fn compare_at(sizes: &[(i32, u64)], patterns: &[fn(i32) -> bool], cases: &[Case]) {
    let kernel = |&(name, body): &Case| {
        format!(
            "kernel void {name}(global const int *m, global const int *w, global const int *a, global int *b,
                                global int *p, long far) {{
                 local int l[64];
                 long i = get_global_id(0);
                 {body}
             }}\n"
        )
    };
    let common = "typedef struct { int v[24]; } S; typedef struct { int x; } __attribute__((aligned(16))) A; constant int table[4] = { 5, 6, 7, 8 };\n".to_string();
    let module = build(&(common + &cases.iter().map(kernel).collect::<String>()));
    let launch = |is: fn(i32) -> bool, (size, local): (i32, u64), far: i64| {
        let wild = |i: i32| if is(i) { i % 4 } else { [i32::MAX, i32::MIN, -1, 0x4000_0000][i as usize % 4] };
        let mut arguments: Vec<Arg> = (0..4).map(Arg::Buffer).collect();
        arguments.extend([Arg::Null, Arg::Value(far.to_le_bytes().to_vec())]);
        let buffers = vec![
            ints((0..size).map(|i| is(i).into())),
            ints((0..size).map(wild)),
            ints((0..size).map(|i| 3 * i + 1)),
            ints((0..size).map(|_| 9)),
        ];
        Launch { range: NdRange::new(&[size as u64], &[local]), args: arguments, buffers }
    };
    let mut launches = Vec::new();
    for (n, &is) in patterns.iter().enumerate() {
        for &size in sizes {
            launches.push(launch(is, size, [0x7fff_ff00, 1 << 40, -(1 << 40), 1 << 61][n % 4]));
        }
    }
    for (name, _) in cases {
        agree(&module, name, &launches);
    }
}

#[test]
fn null() {
    compare(
        &PATTERNS[..1],
        &[
            ("null_load", "if (m[i]) b[i] = p[i];"),
            ("null_store", "if (m[i]) p[i] = a[i];"),
            ("null_uniform_load", "if (m[i]) b[i] = *p;"),
            ("null_uniform_store", "if (m[i]) *p = 5;"),
            ("null_uniform_store_of_lanes", "if (m[i]) *p = i;"),
            ("null_volatile", "if (m[i]) *(volatile global int *)(p + i) = 5;"),
            ("null_volatile_uniform", "if (m[i]) b[i] = *(volatile global int *)p;"),
            ("null_rows", "if (m[i]) vstore4(vload4(i, p), i, p);"),
            ("null_struct", "if (m[i]) ((global S *)p)[i] = ((global S *)p)[i + 1];"),
            ("null_uniform_struct", "if (m[i]) ((global S *)p)[0] = ((global S *)p)[1];"),
            ("null_atomic", "if (m[i]) atomic_inc(p);"),
            ("null_atomics", "if (m[i]) b[i] = atomic_add(p + i, a[i]);"),
            ("null_exchange", "if (m[i]) b[i] = atomic_cmpxchg(p, 0, i);"),
            ("null_in_a_loop", "for (int k = 0; k < 3; k++) if (m[i]) b[i] += p[k];"),
            ("null_in_a_uniform_loop", "if (m[i]) for (int k = 0; k < 3; k++) b[i] += p[k];"),
        ],
    );
}

#[test]
fn null_in_some_lanes() {
    compare(
        &PATTERNS,
        &[
            ("chosen_load", "global const int *q = m[i] ? a + i : 0; if (q) b[i] = *q;"),
            ("chosen_store", "global int *q = m[i] ? b + i : p; if (m[i]) *q = i;"),
            ("chosen_atomic", "global int *q = m[i] ? b : p; if (m[i]) b[i] = a[i]; if (q) atomic_inc(q);"),
            ("chosen_uniform", "global const int *q = m[i] ? a : 0; if (q) b[i] = *q;"),
        ],
    );
}

#[test]
fn far_away() {
    compare(
        &[PATTERNS[0]; 4],
        &[
            ("far_load", "if (m[i]) b[i] = a[i + far];"),
            ("far_store", "if (m[i]) b[i + far] = a[i];"),
            ("far_reversed", "if (m[i]) b[far - i] = a[far - i];"),
            ("far_pairs", "if (m[i]) b[i] = a[2 * i + far] + a[2 * i + 1 + far];"),
            ("far_uniform", "if (m[i]) b[far] = a[far];"),
            ("far_gather", "if (m[i]) b[i] = a[w[i] + far];"),
        ],
    );
    compare(
        &PATTERNS,
        &[
            ("wild_load", "if (m[i]) b[i] = a[i & ~3L & w[i]];"),
            ("wild_store", "if (m[i]) b[i - w[i] + (i & 3)] = 4;"),
            ("wild_bytes", "if (m[i]) ((global char *)b)[4 * i + w[i]] = ((global const char *)a)[w[i]];"),
        ],
    );
}

#[test]
fn tables_of_other_memories() {
    compare(
        &PATTERNS,
        &[
            ("private_store", "int t[4] = { 1, 2, 3, 4 }; if (m[i]) t[w[i]] = 50; b[i] = t[0] + 3 * t[i & 3];"),
            ("private_load", "int t[4] = { 1, 2, 3, i }; if (m[i]) b[i] = t[w[i]];"),
            ("private_large", "int t[900]; t[i] = i; t[w[i] & 7] = 3; if (m[i]) b[i] = t[i] + t[w[i] & 7];"),
            ("constant_load", "if (m[i]) b[i] = table[w[i]];"),
            (
                "local_memory",
                "l[get_local_id(0)] = i; barrier(CLK_LOCAL_MEM_FENCE);
             if (m[i]) b[i] = l[w[i] * (int)get_local_id(0) / 4];",
            ),
            (
                "kept_pointer",
                "global const int *q = m[i] ? a + i : p; l[get_local_id(0)] = i; barrier(CLK_LOCAL_MEM_FENCE);
             if (m[i]) b[i] = *q + l[get_local_id(0)];",
            ),
        ],
    );
}

/// A lane's alignment says nothing about the lanes beside it.
#[test]
fn alignment_of_one_lane() {
    compare_at(
        &[(16, 16), (32, 32), (64, 20)],
        &PATTERNS[..1],
        &[
            ("aligned_load", "if (i % 4 == 1) b[i] = ((global const A *)(a - 1 + i))->x;"),
            ("aligned_store", "if (i % 4 == 3) ((global A *)(b - 3 + i))->x = a[i];"),
            ("aligned_pair", "if (i % 2 == 1) ((global int2 *)(b - 1 + i))[0] = (int2)(i, a[i]);"),
        ],
    );
}
