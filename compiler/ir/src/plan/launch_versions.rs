//! Which regions get versions for a condition that the launch decides, and which loops run several rounds at once.

use super::passes::Weighted;
use super::region_state::{GangContext, RegionState, analyse};
use crate::analysis::divergence::Divergence;
use crate::ir::{Function, InstData, SourceLoc, Value, ValueDef};
use crate::report::{Note, Notes};
use crate::transform::rounds_at_once;
use crate::transform::uniform_choices::{condition, split, suppose};
use crate::transform::whole_pieces::{Pieces, pieces};
use lockstep_protocol::configuration::{Gangs, Versions};
use lockstep_protocol::pass_switches::PassSwitch;

/// Regions with more instructions get no versions unless always.
const MOST: usize = 400;

/// Conditions of a region that may have versions: each doubles the code.
const MOST_CONDITIONS: usize = 2;

/// How much more often pieces of indices hold whole gangs than they do not: most powers of two are large.
const WHOLE_PIECES: u64 = 3;

/// Whether a region is small enough for versions.
fn may_split(f: &Function, gangs: Gangs, switch: PassSwitch) -> bool {
    let size: usize = f.layout.iter().map(|&block| f.blocks[block].insts.len()).sum();
    size <= MOST || gangs.pass(switch) == Versions::Always
}

/// The pieces of indices for which a region gets a version: where they hold whole gangs, addresses that were varying are
/// lines, or branches uniform.
fn whole_pieces(f: &Function, state: &RegionState, context: &GangContext<'_>) -> Option<Pieces> {
    if !may_split(f, context.gangs, PassSwitch::WholePieces) {
        return None;
    }
    let (facts, found) = (context.together(), state.together());
    let asked = pieces(f, &found.shapes, facts.width).filter(|asked| state.share(&asked.asked()))?;
    let mut whole = f.clone();
    asked.suppose(&mut whole, &found.shapes, facts.width);
    let after = analyse(&whole, facts);
    let pays = differing(&whole, &after) < differing(f, found);
    (pays || context.gangs.pass(PassSwitch::WholePieces) == Versions::Always).then_some(asked)
}

/// Gives a region a version for launches in which pieces of indices hold whole gangs.
pub(super) fn split_whole_pieces(f: &mut Function, state: &mut RegionState, context: &GangContext<'_>) {
    if let Some(asked) = whole_pieces(f, state, context) {
        let detail = "where no piece of an index ends within a gang, as the launch decides";
        note_version(context.notes, asked.place(f), "whole pieces", detail.to_owned());
        asked.split(f, &state.together().shapes, context.together().width);
        state.analyse(f, context);
    }
}

/// The region as it is, and for such launches.
pub(super) fn suppose_whole_pieces(
    f: &Function,
    state: &RegionState,
    context: &GangContext<'_>,
) -> Option<Vec<Weighted>> {
    let asked = whole_pieces(f, state, context)?;
    let mut whole = f.clone();
    asked.suppose(&mut whole, &state.together().shapes, context.together().width);
    Some(vec![(f.clone(), 1), (whole, WHOLE_PIECES)])
}

/// The condition that chooses between two lines for which a region gets versions.
fn uniform_choice(f: &Function, state: &RegionState, context: &GangContext<'_>) -> Option<Value> {
    let may_split = may_split(f, context.gangs, PassSwitch::UniformChoices);
    let condition = may_split.then(|| condition(f, &state.together().shapes)).flatten();
    condition.filter(|&condition| state.share(&[condition]))
}

/// Gives a region versions for conditions that choose between two lines.
pub(super) fn split_uniform_choices(f: &mut Function, state: &mut RegionState, context: &GangContext<'_>) {
    for _ in 0..MOST_CONDITIONS {
        let Some(condition) = uniform_choice(f, state, context) else { break };
        let loc = match f.values[condition].def {
            ValueDef::Result(inst, _) => f.insts[inst].loc,
            _ => SourceLoc::default(),
        };
        let detail = "for each value of the condition, as the launch decides";
        note_version(context.notes, loc, "uniform choice", detail.to_owned());
        split(f, condition);
        state.analyse(f, context);
    }
}

/// The region for each value of such a condition.
pub(super) fn suppose_uniform_choice(
    f: &Function,
    state: &RegionState,
    context: &GangContext<'_>,
) -> Option<Vec<Weighted>> {
    let condition = uniform_choice(f, state, context)?;
    let supposed = |holds: bool| {
        let mut version = f.clone();
        suppose(&mut version, condition, holds);
        (version, 1)
    };
    Some([true, false].map(supposed).into())
}

/// Has loops run several rounds at once. In tiles, whose rows and columns have accesses of their own, they stay as they are.
pub(super) fn run_rounds_at_once(f: &mut Function, state: &mut RegionState, context: &GangContext<'_>) {
    if context.tile.is_some() {
        return;
    }
    let always = context.gangs.pass(PassSwitch::RoundsAtOnce) == Versions::Always;
    let Some(plan) = rounds_at_once::plan(f, &state.found, context.facts.width, always) else { return };
    for (rounds, loc) in plan.rounds(f) {
        let detail = format!("{rounds} at once, as lanes walk along memory in places of their own");
        note_version(context.notes, loc, "rounds", detail);
    }
    plan.apply(f);
    state.analyse(f, context);
}

fn note_version(notes: &Notes, loc: SourceLoc, class: &'static str, detail: String) {
    notes.add(|| Note { loc, kind: "version", class: class.into(), masked: false, detail });
}

/// The accesses and branches of which lanes have each their own.
fn differing(f: &Function, found: &Divergence) -> usize {
    let insts = f.layout.iter().flat_map(|&block| &f.blocks[block].insts);
    let accesses = insts.filter(|&&inst| match f.insts[inst].data {
        InstData::Load { ptr, .. } | InstData::Store { ptr, .. } => found.shapes[ptr].is_varying(),
        _ => false,
    });
    accesses.count() + f.layout.iter().filter(|&&block| found.divergent_branches.contains(block)).count()
}
