//! Which regions get versions for a condition that the launch decides, and which loops run several rounds at once.

use super::analyse;
use crate::analysis::divergence::{Divergence, Facts};
use crate::ir::{Function, InstData, SourceLoc, Value, ValueDef};
use crate::report::{Note, Notes};
use crate::transform::rounds_at_once;
use crate::transform::uniform_choices::{condition, split};
use crate::transform::whole_pieces::{Pieces, pieces};
use lockstep_protocol::configuration::{Configuration, Gangs, Versions};
use lockstep_protocol::pass_switches::PassSwitch;

/// Regions with more instructions get no versions unless always.
const MOST: usize = 400;

/// Conditions of a region that may have versions: each doubles the code.
const MOST_CONDITIONS: usize = 2;

/// Whether a region may have versions of a kind.
fn may_split(f: &Function, gangs: Gangs, versions: Versions) -> bool {
    let size: usize = f.layout.iter().map(|&block| f.blocks[block].insts.len()).sum();
    let most = match versions {
        Versions::Never => return false,
        Versions::WherePays => MOST,
        Versions::Always => usize::MAX,
    };
    gangs.configuration == Configuration::UniCf && size <= most
}

/// Whether a region may have versions for what the launch decides.
pub fn may_have_versions(f: &Function, gangs: Gangs) -> bool {
    [gangs.pass(PassSwitch::UniformChoices), gangs.pass(PassSwitch::WholePieces)]
        .into_iter()
        .any(|versions| may_split(f, gangs, versions))
}

/// What holds of the lanes that access memory together: those of a gang, or of a tile's row.
#[derive(Clone, Copy)]
pub struct Together<'a> {
    /// What holds of them.
    pub lanes: &'a Facts,
    /// What holds of the whole gang, if it is a tile. Its rows go one way together.
    pub tile: Option<&'a Facts>,
}

impl Together<'_> {
    /// Whether all lanes of the gang have the same of a value that is the same in those that access memory together.
    fn share(self, f: &Function, values: &[Value]) -> bool {
        self.tile.is_none_or(|facts| {
            let shapes = analyse(f, facts).shapes;
            values.iter().all(|&value| shapes[value].is_uniform())
        })
    }
}

/// The condition that chooses between two lines for which a region gets versions.
pub fn uniform_choice(f: &Function, together: Together, found: &Divergence, gangs: Gangs) -> Option<Value> {
    let condition =
        may_split(f, gangs, gangs.pass(PassSwitch::UniformChoices)).then(|| condition(f, &found.shapes)).flatten();
    condition.filter(|&condition| together.share(f, &[condition]))
}

/// The pieces of indices for which a region gets a version: where they hold whole gangs, addresses that were varying are
/// lines, or branches uniform.
pub fn whole_pieces(f: &Function, together: Together, found: &Divergence, gangs: Gangs) -> Option<Pieces> {
    if !may_split(f, gangs, gangs.pass(PassSwitch::WholePieces)) {
        return None;
    }
    let facts = together.lanes;
    let asked = pieces(f, &found.shapes, facts.width).filter(|asked| together.share(f, &asked.asked()))?;
    let mut whole = f.clone();
    asked.suppose(&mut whole, &found.shapes, facts.width);
    let after = analyse(&whole, facts);
    let pays = differing(&whole, &after) < differing(f, found);
    (pays || gangs.pass(PassSwitch::WholePieces) == Versions::Always).then_some(asked)
}

/// The loops of a region that are to run several rounds at once.
pub fn walks(f: &Function, found: &Divergence, width: u32, gangs: Gangs) -> Option<rounds_at_once::Plan> {
    if gangs.configuration != Configuration::UniCf || gangs.pass(PassSwitch::RoundsAtOnce) == Versions::Never {
        return None;
    }
    rounds_at_once::plan(f, found, width, gangs.pass(PassSwitch::RoundsAtOnce) == Versions::Always)
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

/// Makes the versions; the answer is what diverges then, if there are any.
pub fn split_choices(
    f: &mut Function,
    together: Together,
    found: &Divergence,
    gangs: Gangs,
    notes: &Notes,
) -> Option<Divergence> {
    let facts = together.lanes;
    let note = |loc: SourceLoc, class: &str, detail: &str| {
        let (class, detail) = (class.to_owned().into(), detail.to_owned());
        notes.add(|| Note { loc, kind: "version", class, masked: false, detail });
    };
    let mut changed: Option<Divergence> = None;
    if let Some(asked) = whole_pieces(f, together, found, gangs) {
        note(asked.place(f), "whole pieces", "where no piece of an index ends within a gang, as the launch decides");
        asked.split(f, &found.shapes, facts.width);
        changed = Some(analyse(f, facts));
    }
    for _ in 0..MOST_CONDITIONS {
        let Some(condition) = uniform_choice(f, together, changed.as_ref().unwrap_or(found), gangs) else { break };
        let loc = match f.values[condition].def {
            ValueDef::Result(inst, _) => f.insts[inst].loc,
            _ => SourceLoc::default(),
        };
        note(loc, "uniform choice", "for each value of the condition, as the launch decides");
        split(f, condition);
        changed = Some(analyse(f, facts));
    }
    changed
}
