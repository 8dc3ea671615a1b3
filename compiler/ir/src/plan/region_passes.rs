//! The passes over single regions, as the table calls them.

use super::coherence_versions::make_versions;
use super::notes::{Control, note_gates};
use super::region_shapes::plan_region;
use super::region_state::{GangContext, RegionState};
use crate::ir::{Block, Function};
use crate::transform;
use crate::transform::boscc::insert_gates;
use cranelift_entity::EntitySet;
use lockstep_protocol::configuration::Configuration;
use lockstep_protocol::pass_switches::PassSwitch;

/// Accesses of tiles are those of a row.
pub(super) fn interleaved_access_groups(body: &mut Function, state: &mut RegionState, context: &GangContext<'_>) {
    let (roots, width, is_tile) =
        (context.facts.root_facts(body), context.facts_together().width, context.tile.is_some());
    transform::interleaved_access_groups::interleaved_access_groups(
        body,
        &state.divergence_together().shapes,
        &roots,
        width,
        is_tile,
    );
}

pub(super) fn control_notes(body: &mut Function, state: &mut RegionState, context: &GangContext<'_>) {
    if context.notes.are_wanted() {
        let found = (context.gangs.configuration == Configuration::UniCf).then_some(&state.found);
        state.control = Some(Control::of_function(body, found));
    }
}

pub(super) fn coherence_versions(body: &mut Function, state: &mut RegionState, context: &GangContext<'_>) {
    let divergence = std::mem::take(&mut state.found);
    state.found = make_versions(body, &context.facts, divergence, context.gangs, context.registers, context.notes);
}

pub(super) fn divergent_loops(body: &mut Function, state: &mut RegionState, context: &GangContext<'_>) {
    state.divergent = match context.gangs.configuration {
        Configuration::UniCf => std::mem::take(&mut state.found.divergent_branches),
        _ => every_branch(body),
    };
    state.loops = Some(transform::divergent_loops::divergent_loops(body, &mut state.divergent));
}

fn every_branch(body: &Function) -> EntitySet<Block> {
    let mut found = EntitySet::new();
    for &block in &body.layout {
        if body.blocks[block].terminator.selector().is_some() {
            found.insert(block);
        }
    }
    found
}

pub(super) fn trivial_branches(body: &mut Function, state: &mut RegionState, _: &GangContext<'_>) {
    if let Some(loops) = &state.loops {
        transform::trivial_branches::trivial_branches(body, &loops.control_flow, &mut state.divergent);
    }
}

pub(super) fn gates(body: &mut Function, state: &mut RegionState, context: &GangContext<'_>) {
    let Some(loops) = &mut state.loops else { return };
    let gates = context.gangs.pass_versions(PassSwitch::Gates);
    let arms = insert_gates(body, loops, &mut state.divergent, &state.found.shapes, context.registers, gates);
    note_gates(body, &arms, context.notes);
}

pub(super) fn linearize(body: &mut Function, state: &mut RegionState, _: &GangContext<'_>) {
    if let Some(loops) = state.loops.take() {
        transform::linearize::linearize_function(body, &loops.control_flow, &state.divergent, &loops.tracked);
    }
}

pub(super) fn region_plan(body: &mut Function, state: &mut RegionState, context: &GangContext<'_>) {
    // Nothing but the plan is needed from here on.
    let RegionState { control, .. } = std::mem::take(state);
    state.plan = plan_region(body, context);
    if let Some(control) = control {
        control.note_outcome(body, &state.plan, context.notes);
    }
}
