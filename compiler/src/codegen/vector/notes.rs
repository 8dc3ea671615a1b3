//! What the report says about the accesses and effects of a gang.

use super::VectorEmitter;
use lockstep_ir::plan::access_lowering::AccessLowering;
use lockstep_ir::report::Note;
use std::borrow::Cow;

impl VectorEmitter<'_, '_, '_> {
    /// Notes what becomes of the instruction that is emitted. The gang at the end of a row does the same.
    pub(super) fn note_class(&self, kind: &'static str, class: impl Into<Cow<'static, str>>, detail: &str) {
        if self.gang.entry.is_none() {
            let (location, class, masked) = (self.location, class.into(), self.speculates());
            self.around.notes.add_note(|| Note { location, kind, class, masked, detail: detail.to_owned() });
        }
    }

    /// Notes that each active lane does something by itself, and why.
    pub(super) fn note_lanes(&self, kind: &'static str, reason: &str) {
        self.note_class(kind, "per lane", reason);
    }

    /// Notes how a load or store is done. The gang at the end of a row does the same.
    pub(super) fn note_access(&self, lowering: &AccessLowering) {
        if self.gang.entry.is_none() {
            self.around.notes.add_note(|| lowering.report_note());
        }
    }
}
