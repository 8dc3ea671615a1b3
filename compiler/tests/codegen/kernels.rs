//! Kernels as text, compiled and compared with what they mean, written out here.

use crate::machine;
use lockstep_ir::interp::{Arg, Memory, NdRange};
use lockstep_ir::ir::parse_module;
use lockstep_ir::verify::{Stage, verify_module};

/// Runs a kernel whose parameters are buffers of `u32`, then `__local` memory of the given sizes.
fn run_on(text: &str, range: NdRange, buffers: &mut [&mut [u32]], locals: &[u64]) {
    let module = parse_module(text).unwrap_or_else(|error| panic!("{error}"));
    verify_module(&module, Stage::Imported).unwrap_or_else(|errors| panic!("{}", errors[0]));
    let bytes = |words: &[u32]| words.iter().flat_map(|w| w.to_ne_bytes()).collect();
    let mut memory = Memory::new(buffers.iter().map(|words| bytes(words)).collect());
    let arguments = (0..buffers.len()).map(Arg::Buffer).chain(locals.iter().map(|&size| Arg::Local(size)));
    let arguments: Vec<Arg> = arguments.collect();
    machine::run(&module, &module.kernels[0].name, &range, &arguments, &mut memory, false).unwrap();
    for (buffer, bytes) in buffers.iter_mut().zip(&memory.buffers) {
        for (word, bytes) in buffer.iter_mut().zip(bytes.chunks_exact(4)) {
            *word = u32::from_ne_bytes(bytes.try_into().unwrap());
        }
    }
}

/// The beginning of a kernel with pointer parameters of these kinds.
fn head(name: &str, kinds: &[&str]) -> String {
    let mut text = format!("kernel \"{name}\" {{\n args {}\n", 8 * kinds.len());
    for (index, kind) in kinds.iter().enumerate() {
        let kind = if *kind == "local" { "local".to_string() } else { format!("pointer.{kind}") };
        text += &format!(" param \"p{index}\" {kind} \"uint*\" size 8 align 8 offset {}\n", 8 * index);
    }
    for (index, kind) in kinds.iter().enumerate() {
        text += &format!(" input value({index}, 0): ptr.{kind}\n");
    }
    text
}

#[test]
fn every_query_in_three_dimensions_with_partial_groups() {
    let mut text = head("queries", &["global"]);
    text += " region r0 {\n b0(v0: ptr.global):\n";
    let mut next = 1;
    let mut rows = Vec::new();
    for query in [
        "global_id",
        "local_id",
        "group_id",
        "global_size",
        "local_size",
        "enqueued_local_size",
        "num_groups",
        "global_offset",
    ] {
        for d in 0..3 {
            text += &format!(" v{next}: i64 = query.{query} {d}\n");
            rows.push(next);
            next += 1;
        }
    }
    // The work-item's number in the whole range picks its row of 25 results.
    let value = |name: usize, dimension: usize| format!("v{}", rows[3 * name + dimension]);
    let mut emit = |text: &mut String, op: &str| {
        *text += &format!(" v{next}: i64 = {op}\n");
        next += 1;
        format!("v{}", next - 1)
    };
    let z = emit(&mut text, &format!("sub {}, {}", value(0, 2), value(7, 2)));
    let y = emit(&mut text, &format!("sub {}, {}", value(0, 1), value(7, 1)));
    let x = emit(&mut text, &format!("sub {}, {}", value(0, 0), value(7, 0)));
    let zy = emit(&mut text, &format!("mul {z}, {}", value(3, 1)));
    let zy = emit(&mut text, &format!("add {zy}, {y}"));
    let zyx = emit(&mut text, &format!("mul {zy}, {}", value(3, 0)));
    let zyx = emit(&mut text, &format!("add {zyx}, {x}"));
    let place = emit(&mut text, &format!("mul {zyx}, 100"));
    text += &format!(" v{next}: ptr.global = ptradd v0, {place}\n v{}: i32 = query.work_dim 0\n", next + 1);
    let row = next;
    next += 2;
    text += &format!(" store v{} to v{row} + 96 align 4\n", row + 1);
    for (index, value) in rows.iter().enumerate() {
        text += &format!(" v{next}: i32 = trunc v{value}\n store v{next} to v{row} + {} align 4\n", 4 * index);
        next += 1;
    }
    text += " return\n }\n}\n";

    let range = NdRange { global_offset: [100, 7, 3], ..NdRange::new(&[10, 5, 3], &[4, 2, 2]) };
    let mut output = vec![u32::MAX; 25 * 150];
    run_on(&text, range, &mut [&mut output], &[]);
    for (n, row) in output.chunks_exact(25).enumerate() {
        let item = [n as u64 % 10, n as u64 / 10 % 5, n as u64 / 50];
        let mut expected = [[0; 3]; 8];
        for dimension in 0..3 {
            let group = item[dimension] / range.local_size[dimension];
            expected[0][dimension] = item[dimension] + range.global_offset[dimension];
            expected[1][dimension] = item[dimension] % range.local_size[dimension];
            expected[2][dimension] = group;
            expected[3][dimension] = range.global_size[dimension];
            expected[4][dimension] =
                range.local_size[dimension].min(range.global_size[dimension] - group * range.local_size[dimension]);
            expected[5][dimension] = range.local_size[dimension];
            expected[6][dimension] = range.global_size[dimension].div_ceil(range.local_size[dimension]);
            expected[7][dimension] = range.global_offset[dimension];
        }
        let expected: Vec<u32> = expected.as_flattened().iter().map(|&v| v as u32).chain([3]).collect();
        assert_eq!(row, expected, "work-item {item:?}");
    }
}

#[test]
fn tree_reduction_in_local_memory() {
    // s = local_size / 2; while (s > 0) { barrier; if (lid < s) tmp[lid] += tmp[lid + s]; s >>= 1 }
    let text = head("reduce", &["global", "global", "local"])
        + " region r0 {
 b0(v0: ptr.global, v1: ptr.global, v2: ptr.local):
   v3: i64 = query.local_id 0
   v4: i64 = query.global_id 0
   v5: i64 = shl v4, 2
   v6: ptr.global = ptradd v0, v5
   v7: i32 = load v6 align 4
   v8: i64 = shl v3, 2
   v9: ptr.local = ptradd v2, v8
   store v7 to v9 align 4
   v10: i64 = query.local_size 0
   v11: i64 = lshr v10, 1
   jump b1(v11)
 b1(v12: i64):
   v13: i1 = icmp.ne v12, 0:i64
   br v13, b2, b5
 b2:
   barrier
   v14: i1 = icmp.ult v3, v12
   br v14, b3, b4
 b3:
   v15: i64 = shl v12, 2
   v16: ptr.local = ptradd v9, v15
   v17: i32 = load v16 align 4
   v18: i32 = load v9 align 4
   v19: i32 = add v17, v18
   store v19 to v9 align 4
   jump b4
 b4:
   v20: i64 = lshr v12, 1
   jump b1(v20)
 b5:
   v21: i1 = icmp.eq v3, 0:i64
   br v21, b6, b7
 b6:
   v22: i32 = load v2 align 4
   v23: i64 = query.group_id 0
   v24: i64 = shl v23, 2
   v25: ptr.global = ptradd v1, v24
   store v22 to v25 align 4
   jump b7
 b7:
   return
 }
}
";
    let mut input: Vec<u32> = (0..64 * 7).map(|n| n * n + 3).collect();
    let mut output = vec![0; 7];
    let sums: Vec<u32> = input.chunks(64).map(|c| c.iter().sum()).collect();
    run_on(&text, NdRange::new(&[64 * 7], &[64]), &mut [&mut input, &mut output], &[256]);
    assert_eq!(output, sums);
}
