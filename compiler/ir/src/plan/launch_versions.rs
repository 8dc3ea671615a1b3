//! Which regions get versions for a condition that the launch decides, and which loops run several rounds at once.

use super::pass::WeightedForm;
use super::region_state::{GangContext, RegionState, analyze_region};
use crate::analysis::divergence::Divergence;
use crate::ir::{Function, InstData, SourceLoc, Value, ValueDef};
use crate::report::{Note, Notes};
use crate::target::Registers;
use crate::transform::divisibility::{Pieces, find_pieces};
use crate::transform::partial_unroll;
use crate::transform::unswitch_selects::{find_condition, split_region, suppose_condition};
use lockstep_protocol::configuration::{Gangs, Versions};
use lockstep_protocol::pass_switches::PassSwitch;

/// Regions with more instructions get no versions unless always.
const MOST: usize = 400;

/// Conditions of a region that may have versions: each doubles the code.
const MOST_CONDITIONS: usize = 2;

/// How much more often pieces of indices hold whole gangs than they do not: most powers of two are large.
const WHOLE_PIECES: u64 = 3;

/// Whether a region is small enough for versions.
fn may_split(function: &Function, gangs: Gangs, switch: PassSwitch) -> bool {
    let instruction_count: usize = function.layout.iter().map(|&block| function.blocks[block].insts.len()).sum();
    instruction_count <= MOST || gangs.pass_versions(switch) == Versions::Always
}

/// The pieces of indices for which a region gets a version: where they hold whole gangs, addresses that were varying are
/// lines, or branches uniform.
fn divisibility(function: &Function, region_state: &RegionState, context: &GangContext<'_>) -> Option<Pieces> {
    if !may_split(function, context.gangs, PassSwitch::Divisibility) {
        return None;
    }
    let (gang_facts, divergence) = (context.facts_together(), region_state.divergence_together());
    let pieces = find_pieces(function, &divergence.shapes, gang_facts.width)
        .filter(|pieces| region_state.all_lanes_share(&pieces.asked_values()))?;
    let mut supposed = function.clone();
    pieces.suppose_whole(&mut supposed, &divergence.shapes, gang_facts.width);
    let supposed_divergence = analyze_region(&supposed, gang_facts);
    let is_profitable = count_differing(&supposed, &supposed_divergence) < count_differing(function, divergence);
    (is_profitable || context.gangs.pass_versions(PassSwitch::Divisibility) == Versions::Always).then_some(pieces)
}

/// Gives a region a version for launches in which pieces of indices hold whole gangs.
pub(super) fn split_whole_pieces(function: &mut Function, region_state: &mut RegionState, context: &GangContext<'_>) {
    if let Some(pieces) = divisibility(function, region_state, context) {
        let detail = "where no piece of an index ends within a gang, as the launch decides";
        note_version(context.notes, pieces.source_place(function), "whole pieces", detail.to_owned());
        pieces.split_region(function, &region_state.divergence_together().shapes, context.facts_together().width);
        region_state.analyze_region(function, context);
    }
}

/// The region as it is, and for such launches.
pub(super) fn suppose_whole_pieces(
    function: &Function,
    region_state: &RegionState,
    context: &GangContext<'_>,
) -> Option<Vec<WeightedForm>> {
    let pieces = divisibility(function, region_state, context)?;
    let mut supposed = function.clone();
    pieces.suppose_whole(&mut supposed, &region_state.divergence_together().shapes, context.facts_together().width);
    Some(vec![(function.clone(), 1), (supposed, WHOLE_PIECES)])
}

/// The condition that chooses between two lines for which a region gets versions.
fn uniform_choice(function: &Function, region_state: &RegionState, context: &GangContext<'_>) -> Option<Value> {
    let may_split = may_split(function, context.gangs, PassSwitch::UnswitchSelects);
    let condition = may_split.then(|| find_condition(function, &region_state.divergence_together().shapes)).flatten();
    condition.filter(|&condition| region_state.all_lanes_share(&[condition]))
}

/// Gives a region versions for conditions that choose between two lines.
pub(super) fn split_uniform_choices(
    function: &mut Function,
    region_state: &mut RegionState,
    context: &GangContext<'_>,
) {
    for _ in 0..MOST_CONDITIONS {
        let Some(condition) = uniform_choice(function, region_state, context) else { break };
        let location = match function.values[condition].definition {
            ValueDef::Result(instruction, _) => function.insts[instruction].location,
            _ => SourceLoc::default(),
        };
        let detail = "for each value of the condition, as the launch decides";
        note_version(context.notes, location, "uniform choice", detail.to_owned());
        split_region(function, condition);
        region_state.analyze_region(function, context);
    }
}

/// The region for each value of such a condition.
pub(super) fn suppose_uniform_choice(
    function: &Function,
    region_state: &RegionState,
    context: &GangContext<'_>,
) -> Option<Vec<WeightedForm>> {
    let condition = uniform_choice(function, region_state, context)?;
    let supposed = |holds: bool| {
        let mut version = function.clone();
        suppose_condition(&mut version, condition, holds);
        (version, 1)
    };
    Some([true, false].map(supposed).into())
}

/// Has loops run several iterations at once. In tiles, whose rows and columns have accesses of their own, they stay as they are.
pub(super) fn unroll_partially(function: &mut Function, region_state: &mut RegionState, context: &GangContext<'_>) {
    if context.tile.is_some() {
        return;
    }
    let always = context.gangs.pass_versions(PassSwitch::PartialUnroll) == Versions::Always;
    let registers = Registers { width: context.facts.width, ..context.registers };
    let roots = context.facts.root_facts(function);
    let Some(plan) = partial_unroll::plan_unrolling(function, &region_state.found, &roots, registers, always) else {
        return;
    };
    for (detail, location) in plan.describe_loops(function) {
        note_version(context.notes, location, "rounds", detail);
    }
    plan.write_out_iterations(function);
    region_state.analyze_region(function, context);
}

fn note_version(notes: &Notes, location: SourceLoc, class: &'static str, detail: String) {
    notes.add_note(|| Note { location, kind: "version", class: class.into(), masked: false, detail });
}

/// The accesses and branches of which lanes have each their own.
fn count_differing(function: &Function, divergence: &Divergence) -> usize {
    let instructions = function.layout.iter().flat_map(|&block| &function.blocks[block].insts);
    let accesses = instructions.filter(|&&instruction| match function.insts[instruction].data {
        InstData::Load { pointer, .. } | InstData::Store { pointer, .. } => divergence.shapes[pointer].is_varying(),
        _ => false,
    });
    accesses.count() + function.layout.iter().filter(|&&block| divergence.divergent_branches.contains(block)).count()
}
