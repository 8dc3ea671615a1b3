//! The passes over single regions, as the table calls them.

use super::coherence_versions::make_versions;
use super::notes::{Control, note_gates};
use super::region_plan::RegionPlan;
use super::region_shapes::plan_region;
use super::region_state::{GangContext, RegionState};
use crate::ir::{Block, Function};
use crate::transform;
use crate::transform::boscc::insert_gates;
use crate::transform::divergent_loops::EmptyEntries;
use crate::transform::divergent_loops::loop_gates::remove_answered_questions;
use cranelift_entity::EntitySet;
use lockstep_protocol::configuration::{Configuration, Versions};
use lockstep_protocol::pass_switches::PassSwitch;

/// Accesses of tiles are those of a row.
pub(super) fn interleaved_access_groups(
    function: &mut Function,
    region_state: &mut RegionState,
    context: &GangContext<'_>,
) {
    let (roots, gang_width, is_tile) =
        (context.facts.root_facts(function), context.facts_together().width, context.tile.is_some());
    transform::interleaved_access_groups::interleaved_access_groups(
        function,
        &region_state.divergence_together().shapes,
        &roots,
        gang_width,
        is_tile,
    );
}

pub(super) fn control_notes(function: &mut Function, region_state: &mut RegionState, context: &GangContext<'_>) {
    if context.notes.are_wanted() {
        let divergence = (context.gangs.configuration == Configuration::UniCf).then_some(&region_state.found);
        region_state.control = Some(Control::of_function(function, divergence));
    }
}

pub(super) fn coherence_versions(function: &mut Function, region_state: &mut RegionState, context: &GangContext<'_>) {
    let divergence = std::mem::take(&mut region_state.found);
    let counts = std::mem::take(&mut region_state.counts);
    region_state.found =
        make_versions(function, &context.facts, divergence, &counts, context.gangs, context.registers, context.notes);
}

pub(super) fn divergent_loops(function: &mut Function, region_state: &mut RegionState, context: &GangContext<'_>) {
    region_state.divergent = match context.gangs.configuration {
        Configuration::UniCf => std::mem::take(&mut region_state.found.divergent_branches),
        _ => every_branch(function),
    };
    let empty_entries = match context.gangs.pass_versions(PassSwitch::LoopGates) {
        Versions::Never => EmptyEntries::Masks,
        Versions::WherePays | Versions::Always => EmptyEntries::Gates,
    };
    let divergent = &mut region_state.divergent;
    region_state.loops = Some(transform::divergent_loops::divergent_loops(function, divergent, empty_entries));
}

fn every_branch(function: &Function) -> EntitySet<Block> {
    let mut branches = EntitySet::new();
    for &block in &function.layout {
        if function.blocks[block].terminator.selector().is_some() {
            branches.insert(block);
        }
    }
    branches
}

pub(super) fn trivial_branches(function: &mut Function, region_state: &mut RegionState, _: &GangContext<'_>) {
    if let Some(uniform_loops) = &region_state.loops {
        transform::trivial_branches::trivial_branches(
            function,
            &uniform_loops.control_flow,
            &mut region_state.divergent,
        );
    }
}

pub(super) fn gates(function: &mut Function, region_state: &mut RegionState, context: &GangContext<'_>) {
    let Some(uniform_loops) = &mut region_state.loops else { return };
    let gate_versions = context.gangs.pass_versions(PassSwitch::Gates);
    let arms = insert_gates(
        function,
        uniform_loops,
        &mut region_state.divergent,
        &region_state.found.shapes,
        context.registers,
        gate_versions,
    );
    remove_answered_questions(function, uniform_loops, &region_state.divergent);
    note_gates(function, &arms, context.notes);
}

pub(super) fn linearize(function: &mut Function, region_state: &mut RegionState, _: &GangContext<'_>) {
    if let Some(uniform_loops) = region_state.loops.take() {
        transform::linearize::linearize_function(
            function,
            &uniform_loops.control_flow,
            &region_state.divergent,
            &uniform_loops.tracked,
        );
    }
}

pub(super) fn region_plan(function: &mut Function, region_state: &mut RegionState, context: &GangContext<'_>) {
    // Nothing but the plan is needed from here on.
    let RegionState { control, leaves_idle_lanes, .. } = std::mem::take(region_state);
    region_state.plan = RegionPlan { leaves_idle_lanes, ..plan_region(function, context) };
    if let Some(control) = control {
        control.note_outcome(function, &region_state.plan, context.notes);
    }
}
