//! Which loops in loops are flattened, and in which form.

use super::{Flattening, are_lanes_idle, plan_flattening};
use crate::analysis::divergence::{Facts, analyze_divergence};
use crate::analysis::loops::{Loop, LoopData};
use crate::analysis::no_wrap_stride::find_no_wrap_strides;
use crate::analysis::predicates::ControlFlow;
use crate::ir::parse_module;
use crate::target::{Registers, TargetInfo};
use crate::transform::branch_fusion::LaneFacts;
use crate::transform::normalize::normalize_function;
use crate::transform::unmasked_loops::Known;
use cranelift_entity::EntitySet;
use lockstep_protocol::loop_profile::LoopCounts;

/// A loop in a loop that lanes leave one by one.
#[derive(Clone, Copy, Default)]
struct Nest {
    /// Instructions of the outer loop before the inner one.
    before: usize,
    /// Values that the inner loop needs of them.
    kept: usize,
    /// Instructions of the inner loop.
    inside: usize,
    /// Instructions of the outer loop behind the inner one.
    behind: usize,
    /// Whether the outer loop begins with another loop.
    has_other_loop: bool,
}

/// As many instructions of which each needs the one before and what differs between lanes, with numbers from `first` on; the last value.
fn chain(text: &mut String, first: usize, count: usize, start: &str) -> String {
    let mut last = start.to_owned();
    for number in first..first + count {
        *text += &format!("v{number}: i32 = xor {last}, v11\n");
        last = format!("v{number}");
    }
    last
}

/// What becomes of a nest in gangs of 16.
fn plan_of(nest: Nest, flattening: Flattening) -> String {
    let mut text = String::from(
        "kernel \"k\" {\nargs 0\nregion r0 {\nb0:\nv0: i64 = query.global_id 0\nv1: i32 = trunc v0\nv11: i32 = mul v1, v1\njump b1(0)\n\
         b1(v2: i32):\n",
    );
    if nest.has_other_loop {
        text +=
            "jump b7(0)\nb7(v8: i32):\nv9: i32 = add v8, 1\nv10: i1 = icmp.slt v9, 5:i32\nbr v10, b7(v9), b2\nb2:\n";
    }
    chain(&mut text, 1000, nest.before, "v1");
    text += "jump b3(0)\nb3(v3: i32):\n";
    let mut sum = chain(&mut text, 2000, nest.inside, "v3");
    for number in 0..nest.kept {
        text += &format!("v{}: i32 = add {sum}, v{}\n", 3000 + number, 1000 + number);
        sum = format!("v{}", 3000 + number);
    }
    text += &format!("v4: i32 = add {sum}, 1\nv5: i1 = icmp.slt v4, v1\nbr v5, b3(v4), b4\nb4:\n");
    chain(&mut text, 4000, nest.behind, "v2");
    text += "v6: i32 = add v2, 1\nv7: i1 = icmp.slt v6, 9:i32\nbr v7, b1(v6), b5\nb5:\nreturn\n}\n}\n";
    let module = parse_module(&text).expect("the text parses");
    let kernel = &module.kernels[0];
    let mut function = kernel.body().clone();
    normalize_function(&mut function);
    let control_flow = ControlFlow::analyze_function(&function);
    let ControlFlow { cfg, dominators, loops, .. } = &control_flow;
    let found = analyze_divergence(&function, &Facts::new(&module, kernel, 16), cfg, loops);
    let registers = Registers { target: TargetInfo::of_bits(512), width: 16 };
    let lines = &find_no_wrap_strides(&function, cfg.reverse_post_order(), &found.shapes, registers.width);
    let known = Known { cfg, dominators, forest: loops, found: &found, lines, registers };
    let is_inner = |&(loop_id, loop_data): &(Loop, &LoopData)| {
        loop_data.parent.is_some() && found.divergent_loops.contains(loop_id)
    };
    let (inner, _) = loops.iter().find(is_inner).expect("the inner loop");
    assert!(are_lanes_idle(&control_flow, &found, inner));
    let shared_slots = EntitySet::new();
    let lane_facts = LaneFacts::new(&found, None, &shared_slots);
    match plan_flattening(&function, known, &lane_facts, inner, flattening).expect("it is in a loop") {
        Ok(plan) => plan.to_string(),
        Err(refusal) => refusal.to_string(),
    }
}

/// Counts of as many lanes at work, of 16, in an iteration of the inner loop, and of so many iterations of the outer one.
fn at_work_in(lanes: u64, outer_iterations: u64) -> Flattening {
    let inner = LoopCounts { entries: 100, lane_entries: 1600, gang_iterations: 1000, lane_iterations: 1000 * lanes };
    let iterations = 100 * outer_iterations;
    let outer = LoopCounts { gang_iterations: iterations, lane_iterations: 16 * iterations, ..inner };
    Flattening::Counted { inner, outer }
}

/// The same where the outer loop has many iterations.
fn at_work(lanes: u64) -> Flattening {
    at_work_in(lanes, 1000)
}

const REFILL: &str = "idle lanes go on until all have work";

#[test]
fn what_follows_is_repeated_where_it_is_short() {
    assert_eq!(plan_of(Nest { behind: 14, ..Nest::default() }, Flattening::Always), REFILL);
    let longer = plan_of(Nest { behind: 15, ..Nest::default() }, Flattening::Always);
    assert_eq!(longer, "idle lanes go on once in each iteration");
}

#[test]
fn large_loops_and_many_values_stay() {
    let large = plan_of(Nest { before: 200, ..Nest::default() }, Flattening::Always);
    assert!(large.starts_with("the loops have 2"), "{large}");
    let most = Nest { before: 20, kept: 10, ..Nest::default() };
    assert_eq!(plan_of(most, Flattening::Always), REFILL);
    assert_eq!(plan_of(Nest { kept: 11, ..most }, Flattening::Always), "13 values would be carried");
}

#[test]
fn idle_lanes_weigh_as_the_outer_loop() {
    let even = Nest { before: 20, inside: 20, ..Nest::default() };
    assert_eq!(plan_of(even, at_work(4)), REFILL);
    assert_eq!(plan_of(even, at_work(8)), "8 of 16 lanes were at work");
    assert_eq!(plan_of(Nest { inside: 100, ..even }, at_work(8)), REFILL);
    assert_eq!(plan_of(Nest { before: 100, ..even }, at_work(4)), "4 of 16 lanes were at work");
}

/// Lanes that have left the outer loop as well find no work there: they wait for the others either way.
#[test]
fn lanes_that_left_both_loops_are_not_idle() {
    let nest = Nest { before: 20, inside: 100, ..Nest::default() };
    let Flattening::Counted { inner, outer } = at_work(4) else { unreachable!("that is counted") };
    let with_lanes = |lanes: u64| {
        let outer = LoopCounts { lane_iterations: lanes * outer.gang_iterations, ..outer };
        plan_of(nest, Flattening::Counted { inner, outer })
    };
    assert_eq!(with_lanes(16), REFILL);
    assert_eq!(with_lanes(8), REFILL);
    assert_eq!(with_lanes(4), "4 of 16 lanes were at work");
}

/// Lanes that find no work in the outer loop's only iteration find none at all.
#[test]
fn few_iterations_of_the_outer_loop_save_little() {
    let nest = Nest { before: 20, inside: 100, ..Nest::default() };
    assert_eq!(plan_of(nest, at_work_in(1, 1)), "the outer loop has less than two iterations");
    assert_eq!(plan_of(nest, at_work_in(1, 2)), REFILL);
    let short = Nest { before: 20, inside: 20, ..Nest::default() };
    assert_eq!(plan_of(short, at_work_in(1, 2)), "1 of 16 lanes were at work");
    assert_eq!(plan_of(short, at_work_in(1, 16)), REFILL);
}

#[test]
fn loops_that_nobody_counted_weigh_more() {
    let nest = Nest { inside: 100, has_other_loop: true, ..Nest::default() };
    assert_eq!(plan_of(nest, at_work(3)), "3 of 16 lanes were at work");
    assert_eq!(plan_of(nest, at_work(2)), REFILL);
}
