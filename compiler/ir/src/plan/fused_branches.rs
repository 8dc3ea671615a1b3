//! Divergent branches whose sides are merged, one after the other.
//!
//! Requires: a function in normal form and what diverges in it.
//! Ensures: normal form; what diverges in what came out. What came out costs a gang less than before by `analysis::cost`, with the
//! shapes that its values have then.
//! Phases: of the divergent branches, outer ones first, one that pays; what diverges then; until none is left, or as many were tried as the
//! function's length allows.
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
use crate::transform::branch_fusion::{LaneFacts, Plan, Refusal, plan_fusion};
use crate::transform::unmasked_loops::Known;
use cranelift_entity::EntitySet;
use lockstep_protocol::configuration::Versions;
use lockstep_protocol::pass_switches::PassSwitch;

/// The branches of a function that are merged to see what comes out.
const MOST_FUSIONS: usize = 16;

/// Instructions that are analysed again for them altogether: each fusion takes time by the function's length.
const MOST_ANALYSED: usize = 1 << 14;

/// Merges the sides of divergent branches where that pays.
pub fn fuse_branches(function: &mut Function, region_state: &mut RegionState, context: &GangContext<'_>) {
    let instructions: usize = function.layout.iter().map(|&block| function.blocks[block].insts.len()).sum();
    let always = context.gangs.pass_versions(PassSwitch::BranchFusion) == Versions::Always;
    let fusions_left = if always { MOST_FUSIONS } else { MOST_FUSIONS.min(MOST_ANALYSED / instructions.max(1)) };
    let mut search = Search { done: EntitySet::new(), fusions_left, always };
    while search.fusions_left > 0 && search.fuse_one_branch(function, region_state, context) {}
}

/// The branches of a function on the way.
struct Search {
    /// The blocks whose branches were looked at.
    done: EntitySet<Block>,
    /// How many may still be merged to see what comes out.
    fusions_left: usize,
    /// Whatever can be fused is.
    always: bool,
}

impl Search {
    /// Fuses one branch that was not looked at before; false if there is none for that.
    fn fuse_one_branch(
        &mut self,
        function: &mut Function,
        region_state: &mut RegionState,
        context: &GangContext<'_>,
    ) -> bool {
        let is_candidate = |block: &Block| {
            let is_branch = matches!(function.blocks[*block].terminator, Terminator::Branch { .. });
            is_branch && region_state.found.divergent_branches.contains(*block) && !self.done.contains(*block)
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
        let rows = region_state.rows.clone();
        let mut lane_facts = LaneFacts::new(&found, rows.as_ref(), &context.facts.uniform_slots);
        for block in candidates {
            if self.fusions_left == 0 {
                break;
            }
            self.done.insert(block);
            let location = branch_place(function, block);
            let planned = plan_fusion(function, known, &mut lane_facts, block, self.always);
            let Some(planned) = planned else { continue };
            let fused = planned.and_then(|plan| self.try_plan(&plan, function, region_state, context));
            let is_fused = fused.is_ok();
            note_fusion(context, location, fused);
            if is_fused {
                // Its block may end in another branch now.
                self.done.remove(block);
                return true;
            }
        }
        false
    }

    /// Merges the sides of a branch, and takes that back if what comes out costs more.
    fn try_plan(
        &mut self,
        plan: &Plan,
        function: &mut Function,
        region_state: &mut RegionState,
        context: &GangContext<'_>,
    ) -> Result<String, Refusal> {
        self.fusions_left -= 1;
        let before = function.clone();
        let cost_before = (!self.always).then(|| gang_cost(function, region_state, context));
        let (found_before, rows_before) = (region_state.found.clone(), region_state.rows.clone());
        plan.fuse_sides(function);
        region_state.analyze_region(function, context);
        if cost_before.is_none_or(|cost_before| gang_cost(function, region_state, context) < cost_before) {
            return Ok(plan.to_string());
        }
        *function = before;
        (region_state.found, region_state.rows) = (found_before, rows_before);
        Err(Refusal::Outcome)
    }
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
