//! Divergent branches whose sides are merged, one after the other.
//!
//! Requires: a function in normal form and what diverges in it.
//! Ensures: normal form; what diverges in what came out. What came out costs a gang less than before by `analysis::cost`, with the
//! shapes that its values have then.
//! Phases: of the divergent branches, outer ones first, one that pays; what diverges then; until none is left.
//! Source: as `transform::branch_fusion`.

use super::notes::branch_place;
use super::region_state::{GangContext, RegionState};
use crate::analysis::cfg::build_cfg;
use crate::analysis::cost::function_costs;
use crate::analysis::dominators::compute_dominators;
use crate::analysis::loops::find_loops;
use crate::analysis::no_wrap_stride::find_no_wrap_strides;
use crate::ir::{Block, Function, SourceLoc, Terminator};
use crate::report::Note;
use crate::transform::branch_fusion::{LaneFacts, Refusal, plan_fusion};
use crate::transform::unmasked_loops::Known;
use cranelift_entity::EntitySet;
use lockstep_protocol::configuration::Versions;
use lockstep_protocol::pass_switches::PassSwitch;

/// The branches of a function that are fused.
const MOST_FUSIONS: usize = 16;

/// Merges the sides of divergent branches where that pays.
pub fn fuse_branches(function: &mut Function, region_state: &mut RegionState, context: &GangContext<'_>) {
    let always = context.gangs.pass_versions(PassSwitch::BranchFusion) == Versions::Always;
    let mut done = EntitySet::new();
    for _ in 0..MOST_FUSIONS {
        if !fuse_one_branch(function, region_state, context, always, &mut done) {
            break;
        }
    }
}

/// Fuses one branch that was not looked at before; false if there is none for that.
fn fuse_one_branch(
    function: &mut Function,
    region_state: &mut RegionState,
    context: &GangContext<'_>,
    always: bool,
    done: &mut EntitySet<Block>,
) -> bool {
    let is_candidate = |block: &Block| {
        let is_branch = matches!(function.blocks[*block].terminator, Terminator::Branch { .. });
        is_branch && region_state.found.divergent_branches.contains(*block) && !done.contains(*block)
    };
    if !function.layout.iter().any(is_candidate) {
        return false;
    }
    let flow_graph = build_cfg(function);
    let candidates: Vec<Block> = flow_graph.reverse_post_order().iter().copied().filter(is_candidate).collect();
    let dominators = compute_dominators(&flow_graph);
    let loop_forest = find_loops(&flow_graph, &dominators);
    let registers = context.registers;
    let found = region_state.found.clone();
    let no_wrap_strides =
        find_no_wrap_strides(function, flow_graph.reverse_post_order(), &found.shapes, registers.width);
    let known = Known {
        cfg: &flow_graph,
        dominators: &dominators,
        forest: &loop_forest,
        found: &found,
        lines: &no_wrap_strides,
        registers,
    };
    for block in candidates {
        done.insert(block);
        let location = branch_place(function, block);
        let lane_facts = LaneFacts { rows: region_state.rows.as_ref(), shared_slots: &context.facts.uniform_slots };
        let planned = plan_fusion(function, known, lane_facts, block, always);
        let Some(planned) = planned else { continue };
        let fused = planned.and_then(|plan| {
            let before = function.clone();
            plan.fuse_sides(function);
            let cost_before = (!always).then(|| gang_cost(&before, region_state, context));
            let rows_before = region_state.rows.clone();
            region_state.analyze_region(function, context);
            if cost_before.is_none_or(|cost_before| gang_cost(function, region_state, context) < cost_before) {
                return Ok(plan.to_string());
            }
            *function = before;
            (region_state.found, region_state.rows) = (found.clone(), rows_before);
            Err(Refusal::Outcome)
        });
        let is_fused = fused.is_ok();
        note_fusion(context, location, fused);
        if is_fused {
            // Its block may end in another branch now.
            done.remove(block);
            return true;
        }
    }
    false
}

/// What a function costs a gang.
fn gang_cost(function: &Function, region_state: &RegionState, context: &GangContext<'_>) -> u64 {
    let flow_graph = build_cfg(function);
    let loop_forest = find_loops(&flow_graph, &compute_dominators(&flow_graph));
    function_costs(function, &flow_graph, &loop_forest, &region_state.found, None, context.registers, &[]).vector
}

fn note_fusion(context: &GangContext<'_>, location: SourceLoc, fused: Result<String, Refusal>) {
    let (kind, class, detail) = match fused {
        Ok(plan) => ("branch", "fused", plan),
        Err(refusal) => ("fusion", "none", refusal.to_string()),
    };
    context.notes.add_note(|| Note { location, kind, class: class.into(), masked: false, detail });
}
