//! What the report says about the accesses and effects of a gang.

use super::GangCode;
use super::lines::Straight;
use super::values::Held;
use crate::ir::{Space, Type};
use crate::report::Note;
use crate::widen::memory::{AccessClass, Direction, classify};
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

    /// Notes how a load or store is done at addresses of which one does not tell all others, or only as long as no
    /// index wraps.
    pub(super) fn note_stride(
        &self,
        direction: Direction,
        line: Option<Straight<'_>>,
        held: Held<'_>,
        ty: Type,
        count: usize,
        space: Space,
    ) {
        let (stride, width) = match (line, held) {
            (Some(Straight { line, by_row: true }), _) => (Some(line.stride), self.row()),
            (Some(Straight { line, by_row: false }), _) => (Some(line.stride), self.around.width()),
            (None, Held::Runs(_, stride)) => (Some(stride), self.row()),
            (None, held) => (held.stride(), self.around.width()),
        };
        let class = classify(stride, ty.bytes(), count as u32, width, direction);
        self.note_way(
            direction,
            class,
            ty,
            count,
            space,
            stride,
            match (line, held) {
                (Some(Straight { by_row: true, .. }), _) => ", row by row, unless an index wraps",
                (Some(_), _) => ", unless an index wraps",
                (None, Held::Runs(..)) => ", row by row",
                (None, _) => "",
            },
        );
    }

    /// Notes that one load or store does for all lanes.
    pub(super) fn note_uniform(&self, direction: Direction, ty: Type, count: usize, space: Space) {
        self.note_way(direction, AccessClass::Uniform, ty, count, space, None, "");
    }

    #[expect(clippy::too_many_arguments, reason = "they are the parts of an access")]
    fn note_way(
        &self,
        direction: Direction,
        class: AccessClass,
        ty: Type,
        count: usize,
        space: Space,
        stride: Option<i64>,
        unless: &str,
    ) {
        if !self.around.notes.wanted() {
            return;
        }
        let (kind, scattered, way) = match direction {
            Direction::Load => ("load", "gather", "from"),
            Direction::Store => ("store", "scatter", "to"),
        };
        let elements = if count == 1 { ty.to_string() } else { format!("{count} {ty}") };
        let mut detail = format!("{elements} {way} {} memory{unless}", space.name());
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
