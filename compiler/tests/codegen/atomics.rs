//! Atomic operations of gangs: one for all lanes at one address, and what each lane finds there.

use crate::gangs::{compare, compare_at, head, noise, stages};
use crate::machine;
use lockstep_ir::interp::{Arg, Memory, NdRange, run_kernel};
use lockstep_ir::ir::parse_module;
use lockstep_protocol::compile_options::{CompileOptions, Vectorize};
use lockstep_protocol::configuration::{Gangs, WIDTHS};
use lockstep_protocol::launch_facts::LaunchFacts;

const OPS: [&str; 10] = ["add", "sub", "and", "or", "xor", "smax", "smin", "umax", "umin", "xchg"];

/// Operands of every form at addresses of their own; old values that are used, and such that are not. With
/// `masked`, only in work-items whose input is odd.
fn text(op: &str, ty: &str, bytes: usize, masked: bool) -> String {
    let mut text = head(3) + " region r0 {\n b0(v0: ptr.global, v1: ptr.global, v2: ptr.global):\n";
    text += " v3: i64 = query.global_id 0\n v4: i64 = query.global_size 0\n";
    text +=
        &format!(" v5: i64 = mul v3, {bytes}\n v6: ptr.global = ptradd v1, v5\n v7: {ty} = load v6 align {bytes}\n");
    // The same for all, one more in each lane, anything.
    let (same, counted) = if ty == "i64" {
        (" v8: i64 = or v4, 0\n", " v9: i64 = or v3, 0\n")
    } else {
        (" v8: i32 = trunc v4\n", " v9: i32 = trunc v3\n")
    };
    text += &format!("{same}{counted} v10: i64 = mul v3, {}\n v11: ptr.global = ptradd v2, v10\n", 4 * bytes);
    text += &format!(" v12: {ty} = and v7, 1\n v13: i1 = icmp.ne v12, 0:{ty}\n");
    text += if masked { " br v13, b1, b2\n" } else { " jump b1\n" };
    text += " b1:\n";
    let mut next = 14;
    for (place, operand) in ["v8", "v9", "v7", &format!("5:{ty}")].into_iter().enumerate() {
        let (unused, used) = (next, next + 1);
        let position = 2 * place * bytes;
        text += &format!(" v{}: ptr.global = ptradd v0, {position}:i64\n", next + 2);
        text += &format!(" v{}: ptr.global = ptradd v0, {}:i64\n", next + 3, position + bytes);
        text += &format!(" v{unused}: {ty} = atomic_rmw.{op}.relaxed v{}, {operand} align {bytes}\n", next + 2);
        text += &format!(" v{used}: {ty} = atomic_rmw.{op}.seq_cst v{}, {operand} align {bytes}\n", next + 3);
        text += &format!(" store v{used} to v11 + {} align {bytes}\n", place * bytes);
        next += 4;
    }
    text + " jump b2\n b2:\n return\n }\n}\n"
}

#[test]
fn every_operation_and_operand() {
    for (n, op) in OPS.into_iter().enumerate() {
        // Every width has its turn with some operations.
        let widths = [WIDTHS[n % WIDTHS.len()], WIDTHS[(n + 3) % WIDTHS.len()]];
        for (ty, bytes, masked) in [("i32", 4, true), ("i32", 4, false), ("i64", 8, true)] {
            let items = 43;
            let buffers = [noise(8 * bytes), noise(items * bytes), vec![0; 4 * bytes * items]];
            let text = text(op, ty, bytes, masked);
            compare_at(&widths, &text, NdRange::new(&[items as u64], &[21]), &buffers);
        }
    }
}

/// No work-item, or a few: nothing happens where no lane is active.
#[test]
fn few_lanes() {
    for input in [0, 1] {
        let mut source = vec![0; 40 * 4];
        source[17 * 4] = input;
        let buffers = [noise(32), source, vec![0; 16 * 40]];
        for op in ["add", "umin", "xor"] {
            compare_at(&[2, 8, 16], &text(op, "i32", 4, true), NdRange::new(&[40], &[20]), &buffers);
        }
    }
}

/// Work-items that use places of their own, or one of a few, come one after the other.
#[test]
fn addresses_that_differ() {
    let text = head(3)
        + " region r0 {
 b0(v0: ptr.global, v1: ptr.global, v2: ptr.global):
   v3: i64 = query.global_id 0
   v4: i64 = shl v3, 2
   v5: ptr.global = ptradd v1, v4
   v6: i32 = load v5 align 4
   v7: i32 = and v6, 3
   v8: i64 = zext v7
   v9: i64 = shl v8, 2
   v10: ptr.global = ptradd v0, v9
   v11: i32 = atomic_rmw.add.relaxed v10, v6 align 4
   v12: ptr.global = ptradd v2, v4
   v13: i32 = atomic_rmw.sub.relaxed v12, v11 align 4
   return
 }
}
";
    compare(&text, NdRange::new(&[43], &[21]), &[noise(16), noise(43 * 4), noise(43 * 4)]);
}

/// A kernel that loads v9 from its first buffer, does `between`, and counts in local memory at `place`.
fn counting_text(between: &str, place: &str) -> String {
    head(2).replace(" args 16\n", " args 16\n local lv0 size 64 align 4\n")
        + &format!(
            " region r0 {{
 b0(v0: ptr.global, v1: ptr.global):
   v2: ptr.local = local_addr lv0
   v3: i64 = query.local_id 0
   v4: i64 = shl v3, 2
   v5: ptr.local = ptradd v2, v4
   store 0:i32 to v5 align 4
   barrier
   v6: i64 = query.global_id 0
   v7: i64 = shl v6, 2
   v8: ptr.global = ptradd v0, v7
   v9: i32 = load v8 align 4
   {between}
   v11: i64 = zext {place}
   v12: i64 = shl v11, 2
   v13: ptr.local = ptradd v2, v12
   v14: i32 = atomic_rmw.add.relaxed v13, 1:i32 align 4
   barrier
   v15: i32 = load v5 align 4
   v16: ptr.global = ptradd v1, v7
   store v15 to v16 align 4
   return
 }}
}}
"
        )
}

/// Places in local memory that are computed in vectors come from the stack, and not from a register one by one.
#[test]
fn places_in_local_memory_come_from_the_stack() {
    let text = counting_text("v10: i32 = and v9, 15", "v10");
    compare(&text, NdRange::new(&[48], &[16]), &[noise(48 * 4), vec![0; 48 * 4]]);
    let [llvm] = stages(&parse_module(&text).unwrap(), 16, ["optimize.ll"]);
    assert_eq!(llvm.matches("load volatile i32").count(), 16, "{llvm}");
    assert_eq!(llvm.matches("call void @llvm.lifetime.end").count(), 1, "{llvm}");
}

/// Places in local memory that were loaded for neighbouring lanes are loaded next to their counts, one by one, if no memory but local
/// memory may have changed since.
#[test]
fn loaded_places_are_loaded_next_to_their_counts() {
    let places: Vec<u8> = (0..48_u32).flat_map(|item| (item * item % 13).to_le_bytes()).collect();
    let unchanged = "v10: i32 = atomic_rmw.or.relaxed v5, 0:i32 align 4";
    let changed = "store 15:i32 to v8 align 4";
    for (between, is_loaded_again) in [("", true), (unchanged, true), (changed, false), ("fence.seq_cst", false)] {
        let text = counting_text(between, "v9");
        compare(&text, NdRange::new(&[48], &[16]), &[places.clone(), vec![0; 48 * 4]]);
        let [llvm] = stages(&parse_module(&text).unwrap(), 16, ["optimize.ll"]);
        // Gangs with fewer work-items than lanes take them out of the register by a number that changes.
        let takes_out = |line: &str| line.contains("extractelement <16 x i32>") && line.ends_with(", i64 7");
        assert_eq!(!llvm.lines().any(takes_out), is_loaded_again, "{between}: {llvm}");
    }
}

/// Sums of floats depend on their order.
#[test]
fn floats_are_added_in_order() {
    let text = head(2)
        + " region r0 {
 b0(v0: ptr.global, v1: ptr.global):
   v3: i64 = query.global_id 0
   v4: i64 = shl v3, 2
   v5: ptr.global = ptradd v1, v4
   v6: f32 = load v5 align 4
   v7: f32 = atomic_rmw.fadd.relaxed v0, v6 align 4
   return
 }
}
";
    let values: Vec<u8> = (0..43).flat_map(|i| (1.0f32 / (i + 1) as f32).to_le_bytes()).collect();
    compare(&text, NdRange::new(&[43], &[21]), &[vec![0; 4], values]);
}

/// A counter takes one operation per gang, and the lanes are told by the bits of the mask.
#[test]
fn a_counter_is_one_operation() {
    let text = head(2)
        + " region r0 {
 b0(v0: ptr.global, v1: ptr.global):
   v3: i64 = query.global_id 0
   v4: i64 = shl v3, 2
   v5: ptr.global = ptradd v1, v4
   v6: i32 = load v5 align 4
   v7: i1 = icmp.slt v6, 0:i32
   br v7, b1, b2
 b1:
   v8: i32 = atomic_rmw.add.relaxed v0, 1 align 4
   store v8 to v5 align 4
   jump b2
 b2:
   return
 }
}
";
    compare(&text, NdRange::new(&[100], &[50]), &[vec![0; 4], noise(400)]);
    let module = parse_module(&text).unwrap();
    // Before LLVM unrolls the loop over gangs, as it does for some machines.
    let [llvm] = stages(&module, 16, ["codegen.ll"]);
    // One in gangs, one in the gang at the end of a row.
    assert_eq!(llvm.matches("atomicrmw add").count(), 2, "{llvm}");
    assert!(llvm.contains("@llvm.ctpop.v16i16"), "{llvm}");
}

/// A thread's copies give what the places themselves give, in full gangs and others, where addresses are the same for all
/// lanes and where they are not.
#[test]
fn copies_of_counters() {
    for (n, op) in OPS.into_iter().filter(|&op| op != "xchg").enumerate() {
        for (ty, bytes) in [("i32", 4), ("i64", 8)] {
            let text = head(2)
                + &format!(
                    " region r0 {{
 b0(v0: ptr.global, v1: ptr.global):
   v3: i64 = query.global_id 0
   v4: i64 = mul v3, {bytes}
   v5: ptr.global = ptradd v1, v4
   v6: {ty} = load v5 align {bytes}
   v7: i64 = and v3, 7
   v8: i64 = mul v7, {bytes}
   v9: ptr.global = ptradd v0, v8
   v10: i1 = icmp.ne v6, 0:{ty}
   br v10, b1, b2
 b1:
   v11: {ty} = atomic_rmw.{op}.relaxed v9, v6 align {bytes}
   v12: {ty} = atomic_rmw.{op}.relaxed v0, v6 align {bytes}
   jump b2
 b2:
   return
 }}
}}
"
                );
            let module = parse_module(&text).unwrap_or_else(|error| panic!("{error}\n{text}"));
            let range = NdRange::new(&[101], &[25]);
            let buffers = [noise(8 * bytes), noise(101 * bytes)];
            let arguments = [Arg::Buffer(0), Arg::Buffer(1)];
            let mut expected = Memory::new(buffers.to_vec());
            run_kernel(&module, "k", &range, &arguments, &mut expected).unwrap();
            let launch = LaunchFacts { counters: 1, counters_bytes: 256, ..LaunchFacts::default() };
            let gangs = Vectorize::Gangs(Gangs::of_width(WIDTHS[n % WIDTHS.len()]));
            for vectorize in [Vectorize::Scalar, gangs] {
                let options = CompileOptions { vectorize, launch, ..CompileOptions::default() };
                let mut found = Memory::new(buffers.to_vec());
                let (_, reason) = machine::run_with(options, &module, "k", &range, &arguments, &mut found).unwrap();
                assert_eq!(reason, None, "{text}");
                assert!(found.buffers == expected.buffers, "other results\n{text}");
            }
        }
    }
}
