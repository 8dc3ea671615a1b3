//! What the report says about the accesses and effects of a gang.

use super::GangCode;
use crate::ir::{Space, Type};
use crate::report::Note;
use crate::widen::memory::{AccessClass, Direction};
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

    /// Notes how a load or store is done, given the bytes from one lane's address to the next one's.
    pub(super) fn note_access(
        &self,
        direction: Direction,
        class: AccessClass,
        ty: Type,
        count: usize,
        space: Space,
        stride: Option<i64>,
    ) {
        if !self.around.notes.wanted() {
            return;
        }
        let (kind, scattered, way) = match direction {
            Direction::Load => ("load", "gather", "from"),
            Direction::Store => ("store", "scatter", "to"),
        };
        let elements = if count == 1 { ty.to_string() } else { format!("{count} {ty}") };
        let mut detail = format!("{elements} {way} {} memory", space.name());
        let class = match class {
            AccessClass::Uniform => "uniform".into(),
            AccessClass::Rows { row: 1, reversed: false } => "contiguous".into(),
            AccessClass::Rows { row: 1, reversed: true } => "reversed".into(),
            AccessClass::Rows { row, reversed } => {
                format!("interleaved stride {}{row}", if reversed { "-" } else { "" }).into()
            }
            AccessClass::Scattered => {
                match stride {
                    Some(stride) => detail += &format!(", lanes {stride} bytes apart"),
                    None => detail += ", lanes anywhere",
                }
                Cow::from(scattered)
            }
        };
        self.note(kind, class, &detail);
    }
}
