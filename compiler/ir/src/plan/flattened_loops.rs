//! Loops in loops that become one, one after the other.
//!
//! Requires: a function in normal form, what diverges in it, and what was counted of its loops.
//! Ensures: normal form; what diverges in what came out, and what was counted of loops that are as they were.
//! Phases: of the loops in others that lanes leave one by one or not all enter, inner ones first, one that pays; what diverges then; until none is left, or as many
//! were flattened as are allowed. A loop that was made of two may become one with the loop around it.
//! Source: as `transform::loop_flattening`.

use super::notes::loop_place;
use super::region_state::{GangContext, RegionState};
use crate::analysis::loops::{Loop, LoopData};
use crate::analysis::no_wrap_stride::find_no_wrap_strides;
use crate::analysis::predicates::ControlFlow;
use crate::ir::{Block, Function};
use crate::report::Note;
use crate::transform::branch_fusion::LaneFacts;
use crate::transform::loop_flattening::{Flattening, Refusal, are_lanes_idle, plan_flattening};
use crate::transform::unmasked_loops::Known;
use cranelift_entity::EntitySet;
use lockstep_protocol::configuration::Versions;
use lockstep_protocol::loop_profile::LoopCounts;
use lockstep_protocol::pass_switches::PassSwitch;
use std::collections::HashMap;

/// The loops of a function that are flattened.
const MOST_FLATTENED: usize = 4;

/// Flattens loops in loops where that pays by what was counted, or wherever it is possible.
pub fn flatten_loops(function: &mut Function, region_state: &mut RegionState, context: &GangContext<'_>) {
    let always = context.gangs.pass_versions(PassSwitch::LoopFlattening) == Versions::Always;
    if !always && region_state.counts.is_empty() {
        return;
    }
    let mut progress = Progress::default();
    let mut flattened = 0;
    while flattened < MOST_FLATTENED && flatten_one_loop(function, region_state, context, always, &mut progress) {
        flattened += 1;
    }
}

/// How far a function's loops are.
#[derive(Default)]
struct Progress {
    /// The headers of loops that were planned, and of those that were changed.
    done: EntitySet<Block>,
    /// What loops that were made of two are taken to do, by their headers.
    estimates: HashMap<Block, LoopCounts>,
}

/// What a loop does that was made of two. It has the inner one's iterations, and lanes are idle as they were in iterations of the outer one:
/// those that have left that wait, unless the new loop becomes one with a loop around it.
fn estimate_counts(inner: LoopCounts, outer: LoopCounts) -> LoopCounts {
    let gang_iterations = u128::from(inner.lane_iterations) * u128::from(outer.gang_iterations)
        / u128::from(outer.lane_iterations.max(1));
    LoopCounts { gang_iterations: gang_iterations as u64, lane_iterations: inner.lane_iterations, ..outer }
}

/// Flattens one loop whose header is not among those done; false if there is none for that.
fn flatten_one_loop(
    function: &mut Function,
    region_state: &mut RegionState,
    context: &GangContext<'_>,
    always: bool,
    progress: &mut Progress,
) -> bool {
    let control_flow = ControlFlow::analyze_function(function);
    let (flow_graph, loop_forest) = (&control_flow.cfg, &control_flow.loops);
    let found = region_state.found.clone();
    let no_wrap_strides =
        find_no_wrap_strides(function, flow_graph.reverse_post_order(), &found.shapes, context.registers.width);
    let known = Known {
        cfg: flow_graph,
        dominators: &control_flow.dominators,
        forest: loop_forest,
        found: &found,
        lines: &no_wrap_strides,
        registers: context.registers,
    };
    let rows = region_state.rows.clone();
    let lane_facts = LaneFacts::new(&found, rows.as_ref(), &context.facts.uniform_slots);
    let mut inner_first: Vec<(Loop, &LoopData)> = loop_forest.iter().collect();
    inner_first.reverse();
    for (loop_id, loop_data) in inner_first {
        let Some(outer) = loop_data.parent else { continue };
        let counts_of = |counted: Loop| {
            let header = &loop_forest.get(counted).header;
            region_state.counts.get(header).or_else(|| progress.estimates.get(header)).copied()
        };
        let counted = || Some(Flattening::Counted { inner: counts_of(loop_id)?, outer: counts_of(outer)? });
        let flattening = if always { Some(Flattening::Always) } else { counted() };
        let Some(flattening) = flattening.filter(|_| progress.done.insert(loop_data.header)) else { continue };
        if !are_lanes_idle(&control_flow, &found, loop_id) {
            continue;
        }
        let Some(planned) = plan_flattening(function, known, &lane_facts, loop_id, flattening) else { continue };
        let location = loop_place(function, loop_data);
        let (kind, class, detail) = match &planned {
            Ok(plan) => ("loop", "flattened", plan.to_string()),
            Err(refusal) => ("flattening", "none", refusal.to_string()),
        };
        context.notes.add_note(|| Note { location, kind, class: class.into(), masked: false, detail });
        if let Err(Refusal::AtWork(lanes, of)) = planned {
            region_state.leaves_idle_lanes |= lanes < u64::from(of);
        }
        let Ok(plan) = planned else { continue };
        // What was counted of them is not true of the new one, nor of the loop in which lanes look for work.
        for changed in [loop_id, outer] {
            let header = loop_forest.get(changed).header;
            region_state.counts.remove(&header);
            progress.done.insert(header);
        }
        let new_header = plan.flatten_loops(function);
        if let Flattening::Counted { inner, outer } = flattening {
            progress.estimates.insert(new_header, estimate_counts(inner, outer));
        }
        region_state.analyze_region(function, context);
        return true;
    }
    false
}
