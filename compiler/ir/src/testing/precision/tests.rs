//! The three analyses and the profile on small kernels.

use super::*;
use crate::interp::{Arg, Memory, NdRange, STEP_LIMIT, run_observed};
use crate::ir::parse_module;
use lockstep_protocol::layout::Layout;

const GANG: GangShape = GangShape { width: 16, layout: Layout::X };

/// A kernel of these regions with one argument, `v0`, an `int`.
fn kernel_of(regions: &str) -> Module {
    let text = format!(
        "kernel \"k\" {{\n args 4\n param \"n\" value \"int\" size 4 align 4 offset 0\n input value(0, 0): i32\n{regions}\n}}\n"
    );
    parse_module(&text).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

/// The same of one region, in which `v2` is the local id.
fn kernel_of_blocks(first_block: &str, others: &str) -> Module {
    kernel_of(&format!(
        " region r0 {{\n b0(v0: i32):\n v1: i64 = query.local_id 0\n v2: i32 = trunc v1\n {first_block}\n{others}\n }}"
    ))
}

/// What lanes do in launches of so many work-items in one group, each with its argument.
fn profile_launches(module: &Module, launches: &[(u64, i32)]) -> KernelDivergence {
    let mut profile = LaneProfile::of_kernel(&module.kernels[0], GANG);
    for &(item_count, argument) in launches {
        profile.begin_launch([item_count, 1, 1]);
        let range = NdRange::new(&[item_count], &[item_count]);
        let mut memory = Memory::new(Vec::new());
        run_observed(module, "k", &range, &[Arg::i32(argument)], &mut memory, STEP_LIMIT, &mut profile)
            .unwrap_or_else(|error| panic!("{error}\n{module}"));
    }
    profile.seen_divergence().clone()
}

/// True and false positives, false negatives, and uniform branches of each analysis.
fn agree(module: &Module, launches: &[(u64, i32)]) -> [[usize; 4]; 3] {
    let seen = profile_launches(module, launches);
    Analysis::ALL.map(|analysis| {
        let kernel = &module.kernels[0];
        let found = analysis.analyze_kernel(module, kernel, GANG);
        let agreement = Agreement::of_kernel(kernel, &found, &seen);
        let mistakes = describe_mistakes(kernel, &found, &seen);
        assert_eq!(mistakes.len(), agreement.false_negatives + agreement.false_uniform_values, "{mistakes:?}");
        assert_eq!(false_positives(kernel, &found, &seen).len(), agreement.false_positives);
        let Agreement { true_positives, false_positives, false_negatives, .. } = agreement;
        [true_positives, false_positives, false_negatives, agreement.uniform_branches()]
    })
}

/// A branch on `v3` to two blocks that meet.
fn branch_on(condition: &str) -> Module {
    kernel_of_blocks(&format!("{condition}\n br v3, b1, b2"), "b1:\n jump b3\n b2:\n jump b3\n b3:\n return")
}

#[test]
fn a_branch_on_ids_diverges_with_the_right_input() {
    let module = branch_on("v3: i1 = icmp.slt v2, v0");
    assert_eq!(agree(&module, &[(16, 5)]), [[1, 0, 0, 0]; 3]);
    assert_eq!(agree(&module, &[(16, 16)]), [[0, 1, 0, 0]; 3]);
    // What one launch shows stays seen in the next one.
    assert_eq!(agree(&module, &[(16, 5), (16, 16)]), [[1, 0, 0, 0]; 3]);
}

#[test]
fn lanes_of_different_gangs_are_not_compared() {
    let module = branch_on("v3: i1 = icmp.slt v2, v0");
    assert_eq!(agree(&module, &[(48, 16)]), [[0, 1, 0, 0]; 3]);
    assert_eq!(agree(&module, &[(48, 17)]), [[1, 0, 0, 0]; 3]);
}

#[test]
fn a_branch_on_arguments_is_uniform() {
    let module = branch_on("v3: i1 = icmp.slt v0, 5:i32");
    assert_eq!(agree(&module, &[(16, 3), (11, 7)]), [[0, 0, 0, 1]; 3]);
}

#[test]
fn only_shapes_know_of_aligned_ids() {
    let module = branch_on("v4: i32 = lshr v2, 4\n v3: i1 = icmp.eq v4, v0");
    assert_eq!(agree(&module, &[(48, 1)]), [[0, 0, 0, 1], [0, 1, 0, 0], [0, 1, 0, 0]]);
}

#[test]
fn what_is_chosen_by_a_divergent_branch_varies() {
    let others = |left: u32, right: u32| {
        format!(
            "b1:\n jump b3({left})\n b2:\n jump b3({right})\n b3(v4: i32):\n v5: i1 = icmp.eq v4, 7:i32\n br v5, b4, b5\n \
             b4:\n jump b6\n b5:\n jump b6\n b6:\n return"
        )
    };
    let first = "v3: i1 = icmp.slt v2, v0\n br v3, b1, b2";
    assert_eq!(agree(&kernel_of_blocks(first, &others(7, 8)), &[(16, 3)]), [[2, 0, 0, 0]; 3]);
    assert_eq!(agree(&kernel_of_blocks(first, &others(8, 8)), &[(16, 3)]), [[1, 0, 0, 1]; 3]);
}

/// Coutinho et al., Figure 6: what counts the iterations of a loop is the same in it, and differs after it.
#[test]
fn a_counter_differs_after_a_loop_that_is_left_lane_by_lane() {
    let module = kernel_of_blocks(
        "jump b1(0)",
        "b1(v5: i32):\n v6: i1 = icmp.slt v5, 2:i32\n br v6, b2, b3\n b2:\n jump b4\n b3:\n jump b4\n \
         b4:\n v7: i32 = add v5, 1\n v8: i1 = icmp.slt v7, v2\n br v8, b5, b6(v7)\n b5:\n jump b1(v7)\n \
         b6(v9: i32):\n v10: i1 = icmp.slt v9, v0\n br v10, b7, b8\n b7:\n jump b9\n b8:\n jump b9\n b9:\n return",
    );
    assert_eq!(agree(&module, &[(16, 4)]), [[2, 0, 0, 1]; 3]);
}

/// Definition 1, part 3, and the algorithm's step 1.b: the only exit of the loop asks what is uniform.
#[test]
fn lanes_arrive_at_a_uniform_exit_in_different_iterations() {
    let module = kernel_of_blocks(
        "jump b1(0)",
        "b1(v5: i32):\n v6: i32 = add v2, v5\n v7: i32 = and v6, 1\n v8: i1 = icmp.eq v7, 0:i32\n br v8, b2, b3\n \
         b2:\n v9: i1 = icmp.sgt v0, 0:i32\n br v9, b5(v5), b6\n b3:\n jump b4\n b6:\n jump b4\n \
         b4:\n v10: i32 = add v5, 1\n jump b1(v10)\n \
         b5(v11: i32):\n v12: i1 = icmp.eq v11, 0:i32\n br v12, b7, b8\n b7:\n jump b9\n b8:\n jump b9\n b9:\n return",
    );
    assert_eq!(agree(&module, &[(16, 1)]), [[2, 0, 0, 1]; 3]);
}

/// Lanes meet where two ways cross, before the branch's post-dominator, where alone the gates are.
#[test]
fn gated_parameters_miss_lanes_that_meet_earlier() {
    let module = kernel_of_blocks(
        "v3: i1 = icmp.slt v2, 4:i32\n br v3, b1, b2",
        "b1:\n jump b4(1)\n b2:\n v5: i1 = icmp.slt v2, v0\n br v5, b3, b6\n b3:\n jump b4(2)\n \
         b4(v6: i32):\n v7: i1 = icmp.eq v6, 1:i32\n br v7, b5, b7\n b5:\n jump b8\n b7:\n jump b8\n b6:\n jump b8\n b8:\n return",
    );
    assert_eq!(agree(&module, &[(16, 8)]), [[3, 0, 0, 0], [3, 0, 0, 0], [2, 0, 1, 1]]);
}

#[test]
fn a_switch_whose_cases_lead_to_one_place_does_not_part_lanes() {
    let module = kernel_of_blocks(
        "v3: i32 = and v2, 1\n switch v3 [0: b1, 1: b1] default b2",
        "b1:\n jump b3\n b2:\n jump b3\n b3:\n return",
    );
    assert_eq!(agree(&module, &[(16, 0)]), [[0, 1, 0, 0]; 3]);
}

#[test]
fn kept_values_differ_as_what_was_stored() {
    let branch = |condition: &str| format!("br {condition}, b1, b2\n b1:\n jump b3\n b2:\n jump b3\n b3:\n");
    let module = kernel_of(&format!(
        " live ls0: i32\n live ls1: i32\n region r0 {{\n b0(v0: i32):\n v1: i64 = query.local_id 0\n v2: i32 = trunc v1\n \
         live_store ls0, v2\n live_store ls1, v0\n exit r1\n }}\n \
         region r1 {{\n b0(v0: i32):\n v3: i32 = live_load ls0\n v4: i1 = icmp.slt v3, 4:i32\n {}exit r2\n }}\n \
         region r2 {{\n b0(v0: i32):\n v3: i32 = live_load ls1\n v4: i1 = icmp.slt v3, 4:i32\n {}return\n }}",
        branch("v4"),
        branch("v4"),
    ));
    assert_eq!(agree(&module, &[(16, 0)]), [[1, 0, 0, 1]; 3]);
}

#[test]
fn values_are_counted_where_they_are_defined() {
    let module = branch_on("v4: i32 = add v0, 1\n v3: i1 = icmp.slt v2, v4");
    let seen = profile_launches(&module, &[(16, 3)]);
    let found = Analysis::Shapes.analyze_kernel(&module, &module.kernels[0], GANG);
    let agreement = Agreement::of_kernel(&module.kernels[0], &found, &seen);
    // The argument and the sum; not the id, what it is cut to, and the comparison.
    assert_eq!((agreement.values, agreement.uniform_values, agreement.false_uniform_values), (5, 2, 0));
    let wrong: KernelDivergence = module.kernels[0].regions.keys().map(|_| RegionDivergence::default()).collect();
    let agreement = Agreement::of_kernel(&module.kernels[0], &wrong, &seen);
    assert_eq!((agreement.uniform_values, agreement.false_uniform_values, agreement.false_negatives), (5, 3, 1));
}
