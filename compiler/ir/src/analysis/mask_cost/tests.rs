//! What a mask costs each kind of instruction, on machines with and without masked accesses.

use super::*;
use crate::analysis::cfg::build_cfg;
use crate::analysis::divergence::{Facts, analyze_divergence};
use crate::analysis::dominators::compute_dominators;
use crate::analysis::loops::find_loops;
use crate::ir::{Module, parse_module};
use crate::target::TargetInfo;
use cranelift_entity::SecondaryMap;

const WIDTH: u32 = 8;

/// What a mask costs the last instruction before the return, in gangs of 8 on a machine with registers of so many bits. The
/// code finds a buffer of integers in v0, its element of the work-item in v6 and the global id in v3.
fn cost_of_last(code: &str, register_bits: u32) -> u64 {
    let text = format!(
        "kernel \"k\" {{\n args 8\n param \"p\" pointer.global \"int*\" size 8 align 8 offset 0\n \
         input value(0, 0): ptr.global\n region r0 {{\n b0(v0: ptr.global):\n v3: i64 = query.global_id 0\n \
         v4: i32 = trunc v3\n v5: i64 = shl v3, 2\n v6: ptr.global = ptradd v0, v5\n {code}\n return\n }}\n}}\n"
    );
    let module = parse_module(&text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    let kernel = &module.kernels[0];
    let function = kernel.regions.values().next().expect("there is a region");
    let facts = Facts::new(&Module::default(), kernel, WIDTH).of_kernel(kernel);
    let graph = build_cfg(function);
    let forest = find_loops(&graph, &compute_dominators(&graph));
    let shapes = analyze_divergence(function, &facts, &graph, &forest).shapes;
    let no_lines = SecondaryMap::new();
    let known = Lanes { shapes: &shapes, lines: &no_lines, rows: None, rewritten: None };
    let last = *function.blocks[function.entry_block()].insts.last().expect("there is an instruction");
    masking_cost(function, last, known, Registers { target: TargetInfo::of_bits(register_bits), width: WIDTH })
}

#[test]
fn what_all_lanes_may_compute_costs_nothing_more() {
    assert_eq!(cost_of_last("v7: i32 = add v4, 3", 256), 0);
}

#[test]
fn a_contiguous_access_costs_one_mask_a_register() {
    let store = "store v4 to v6 align 4";
    assert_eq!(cost_of_last(store, 256), 1, "eight lanes of four bytes are one register");
    assert_eq!(cost_of_last("v7: i32 = load v6 align 4", 256), 1);
    assert_eq!(
        cost_of_last("v7: i64 = shl v3, 3\n v8: ptr.global = ptradd v0, v7\n store v3 to v8 align 8", 256),
        2,
        "eight lanes of eight bytes are two"
    );
}

#[test]
fn where_the_machine_has_no_mask_of_a_size_lanes_go_one_by_one() {
    let store = "v7: i8 = trunc v4\n v8: ptr.global = ptradd v0, v3\n store v7 to v8 align 1";
    assert_eq!(cost_of_last(store, 256), LANE * u64::from(WIDTH), "AVX2 masks four and eight bytes");
    assert_eq!(cost_of_last(store, 512), 1, "AVX-512 masks bytes");
}

#[test]
fn what_lanes_do_once_together_asks_only_whether_any_comes() {
    assert_eq!(cost_of_last("v7: i32 = load v0 align 4", 256), GUARD);
    assert_eq!(cost_of_last("v7: i32 = atomic_rmw.add.relaxed v0, v4 align 4", 256), GUARD);
    assert_eq!(cost_of_last("v7: i32 = atomic_rmw.add.relaxed v6, v4 align 4", 256), LANE * u64::from(WIDTH));
}
