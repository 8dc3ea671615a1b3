//! What instructions, loops and long switches cost beside each other.

use super::*;
use crate::analysis::cfg::build_cfg;
use crate::analysis::divergence::{Facts, analyze_divergence};
use crate::analysis::dominators::compute_dominators;
use crate::analysis::loops::find_loops;
use crate::ir::{Module, parse_module};
use crate::plan::access_lowering::price::{GATHER, REWRITTEN, SCATTER};
use crate::target::TargetInfo;

/// What a kernel of two buffers and a number costs a work-item and a gang of 16.
fn of(code: &str) -> (u64, u64) {
    let costs = of_loops(code, |_| Vec::new());
    (costs.scalar, costs.vector)
}

/// What such a kernel costs if lanes run some of its loops one after the other.
fn of_loops(code: &str, per_lane_loops: fn(&Loops) -> Vec<Loop>) -> Costs {
    let mut text = "kernel \"k\" {\n args 24\n".to_string();
    for i in 0..2 {
        text += &format!(" param \"p{i}\" pointer.global \"int*\" size 8 align 8 offset {}\n", 8 * i);
    }
    text += " param \"n\" value \"int\" size 4 align 4 offset 16\n";
    (0..3).for_each(|i| text += &format!(" input value({i}, 0): {}\n", if i < 2 { "ptr.global" } else { "i32" }));
    text += " region r0 {\n b0(v0: ptr.global, v1: ptr.global, v2: i32):\n";
    text += &format!(" v3: i64 = query.global_id 0\n v4: i32 = trunc v3\n{code}\n }}\n}}\n");
    let module = parse_module(&text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    let (kernel, function) = (&module.kernels[0], module.kernels[0].regions.values().next().unwrap());
    let gang_facts = Facts::new(&Module::default(), kernel, 16).of_kernel(kernel);
    let flow_graph = build_cfg(function);
    let loop_forest = find_loops(&flow_graph, &compute_dominators(&flow_graph));
    let divergence = analyze_divergence(function, &gang_facts, &flow_graph, &loop_forest);
    let registers = Registers { target: TargetInfo::of_bits(512), width: 16 };
    function_costs(function, &flow_graph, &loop_forest, &divergence, None, registers, &per_lane_loops(&loop_forest))
}

#[test]
fn a_loop_in_turn_costs_a_gang_what_it_costs_the_work_items_that_enter_it() {
    let load = " v5: i64 = shl v3, 2\n v6: ptr.global = ptradd v0, v5\n v7: i32 = load v6 align 4\n";
    let code = format!(
        "{load} v8: i1 = icmp.eq v7, v2\n br v8, b1, b4\n b1:\n jump b2(0:i32)\n b2(v9: i32):\n v10: i32 = mul v9, v7\n \
         v11: i64 = sext v10\n v12: i64 = mul v11, 4\n v13: ptr.global = ptradd v1, v12\n v14: i32 = load v13 align 4\n \
         v15: i32 = mul v14, v14\n v16: ptr.global = ptradd v13, 64\n store v15 to v16 align 4\n v17: i32 = add v9, 1\n \
         v18: i1 = icmp.slt v17, v14\n br v18, b2(v17), b3\n b3:\n jump b4\n b4:\n return"
    );
    let [masked, per_lane_loops] =
        [|_: &Loops| Vec::new(), |loop_forest: &Loops| loop_forest.iter().map(|(loop_id, _)| loop_id).collect()]
            .map(|l| of_loops(&code, l));
    assert_eq!(masked.scalar, per_lane_loops.scalar);
    assert!(masked.vector > 2 * per_lane_loops.vector, "{} {}", masked.vector, per_lane_loops.vector);
    assert!(per_lane_loops.vector < 16 * per_lane_loops.scalar + 16 * TURN, "{per_lane_loops:?}");
    assert!(per_lane_loops.per_lane_loops && !masked.per_lane_loops);
}

#[test]
fn branches_on_a_place_are_predicted_and_those_on_data_are_not() {
    let branch = |condition: &str| {
        let load = " v5: i64 = shl v3, 2\n v6: ptr.global = ptradd v0, v5\n v7: i32 = load v6 align 4\n";
        of(&format!("{load} v8: i1 = icmp.slt {condition}, v2\n br v8, b1, b2\n b1:\n jump b2\n b2:\n return")).0
    };
    assert_eq!(branch("v7") - branch("v4"), MISPREDICTED);
}

#[test]
fn what_a_loop_scatters_and_gathers_again_is_dear() {
    let gang = |to: &str| {
        of(&format!(
            " v5: i32 = mul v4, v2\n jump b1(0:i32)\n b1(v6: i32):\n v7: i32 = add v5, v6\n v8: i64 = sext v7\n \
             v9: i64 = mul v8, 4\n v10: ptr.global = ptradd v0, v9\n v11: i32 = load v10 align 4\n \
             v12: ptr.global = ptradd {to}, v9\n store v11 to v12 align 4\n v13: i32 = add v6, 1\n \
             v14: i1 = icmp.slt v13, v2\n br v14, b1(v13), b2\n b2:\n return"
        ))
        .1
    };
    assert_eq!(gang("v0") - gang("v1"), ROUNDS * 16 * (2 * REWRITTEN - GATHER - SCATTER));
}

/// A switch of 100 cases over what is loaded, of which each changes a number, in front of a store.
fn of_long_switch(falls_through: bool) -> (u64, u64) {
    let load = " v5: i64 = shl v3, 2\n v6: ptr.global = ptradd v0, v5\n v7: i32 = load v6 align 4\n";
    let targets: Vec<String> = (0..100).map(|i| format!("{i}: b{}(v7)", 10 + i)).collect();
    let mut code = format!("{load} switch v7 [{}] default b1(v7)\n", targets.join(", "));
    for i in 0..100 {
        let [param, result] = [1000 + i, 2000 + i];
        let to = if falls_through && i < 99 { 11 + i } else { 1 };
        code += &format!(
            " b{}(v{param}: i32):\n v{result}: i32 = mul v{param}, {}\n jump b{to}(v{result})\n",
            10 + i,
            2 * i + 3
        );
    }
    of(&format!("{code} b1(v8: i32):\n store v8 to v6 align 4\n return"))
}

#[test]
fn of_a_long_switch_work_items_run_few_cases_and_gangs_all() {
    let (one, all) = of_long_switch(false);
    assert!(one < 100, "{one}: each runs one case");
    assert!(all > SPREAD * 16 * one, "{all} is not much more than 16 times {one}");
}

#[test]
fn gangs_are_kept_where_work_items_run_much_of_a_long_switch() {
    let (one, all) = of_long_switch(true);
    assert!(all < 16 * one, "{all} is less than 16 times {one}");
}
