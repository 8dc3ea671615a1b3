//! What the report says about the accesses and effects of a gang.

use super::VectorEmitter;
use lockstep_ir::plan::access_lowering::AccessLowering;
use lockstep_ir::report::Note;
use std::borrow::Cow;

impl VectorEmitter<'_, '_, '_> {
    /// Notes what becomes of the instruction that is emitted. The gang at the end of a row does the same.
    pub(super) fn note_class(
        &self,
        note_kind: &'static str,
        class_name: impl Into<Cow<'static, str>>,
        class_detail: &str,
    ) {
        if self.gang.entry.is_none() {
            let (location, class_name, is_masked) = (self.location, class_name.into(), self.speculates());
            self.around.notes.add_note(|| Note {
                location,
                kind: note_kind,
                class: class_name,
                masked: is_masked,
                detail: class_detail.to_owned(),
            });
        }
    }

    /// Notes that each active lane does something by itself, and why.
    pub(super) fn note_lanes(&self, note_kind: &'static str, reason: &str) {
        self.note_class(note_kind, "per lane", reason);
    }

    /// Notes how a load or store is done. The gang at the end of a row does the same.
    pub(super) fn note_access(&self, lowering: &AccessLowering) {
        if self.gang.entry.is_none() {
            self.around.notes.add_note(|| lowering.report_note());
        }
    }
}
