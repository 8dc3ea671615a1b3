//! Which regions get versions for a condition that the launch decides.

use super::{Configuration, Gangs, Versions, analyse};
use crate::analysis::divergence::{Divergence, Facts};
use crate::ir::{Function, SourceLoc, ValueDef};
use crate::report::{Note, Notes};
use crate::transform::uniform_choices::{condition, split};

/// Regions with more instructions get no versions unless always.
const MOST: usize = 400;

/// Conditions of a region that may have versions: each doubles the code.
const MOST_CONDITIONS: usize = 2;

/// Whether a region may have versions.
pub fn may_split(f: &Function, gangs: Gangs) -> bool {
    let size: usize = f.layout.iter().map(|&block| f.blocks[block].insts.len()).sum();
    let most = match gangs.uniform_choices {
        Versions::Never => return false,
        Versions::WherePays => MOST,
        Versions::Always => usize::MAX,
    };
    gangs.configuration == Configuration::UniCf && size <= most
}

/// Makes the versions; the answer is what diverges then, if there are any.
pub fn split_choices(
    f: &mut Function,
    facts: &Facts,
    found: &Divergence,
    gangs: Gangs,
    notes: &Notes,
) -> Option<Divergence> {
    let mut changed: Option<Divergence> = None;
    for _ in 0..MOST_CONDITIONS {
        let shapes = &changed.as_ref().unwrap_or(found).shapes;
        let Some(condition) = may_split(f, gangs).then(|| condition(f, shapes)).flatten() else { break };
        let loc = match f.values[condition].def {
            ValueDef::Result(inst, _) => f.insts[inst].loc,
            _ => SourceLoc::default(),
        };
        let detail = "for each value of the condition, as the launch decides";
        notes.add(|| Note {
            loc,
            kind: "version",
            class: "uniform choice".into(),
            masked: false,
            detail: detail.to_owned(),
        });
        split(f, condition);
        changed = Some(analyse(f, facts));
    }
    changed
}
