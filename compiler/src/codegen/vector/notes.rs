//! What the report says about the accesses and effects of a gang.

use super::GangCode;
use lockstep_ir::plan::access_lowering::AccessLowering;
use lockstep_ir::report::Note;
use std::borrow::Cow;

impl GangCode<'_, '_, '_> {
    /// Notes what becomes of the instruction that is emitted. The gang at the end of a row does the same.
    pub(super) fn note(&self, kind: &'static str, class: impl Into<Cow<'static, str>>, detail: &str) {
        if self.gang.entry.is_none() {
            let (loc, class, masked) = (self.loc, class.into(), self.speculates());
            self.around.notes.add(|| Note { loc, kind, class, masked, detail: detail.to_owned() });
        }
    }

    /// Notes that each active lane does something by itself, and why.
    pub(super) fn note_lanes(&self, kind: &'static str, why: &str) {
        self.note(kind, "per lane", why);
    }

    /// Notes how a load or store is done. The gang at the end of a row does the same.
    pub(super) fn note_access(&self, lowering: &AccessLowering) {
        if self.gang.entry.is_none() {
            self.around.notes.add(|| lowering.note());
        }
    }
}
