//! What the report says about the accesses and effects of a gang.

use super::GangCode;
use super::columns::Places;
use super::lines::{Along, Straight};
use super::values::Held;
use lockstep_ir::plan::access_lowering::{AccessClass, Direction, classify};
use lockstep_ir::report::Note;
use lockstep_protocol::types::{Space, Type};
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

    /// Notes how a load or store is done at addresses of which one tells others as long as no index wraps.
    pub(super) fn note_line(&self, direction: Direction, at: Straight<'_>, ty: Type, count: usize, space: Space) {
        let (width, how) = match at.along {
            Along::Gang => (self.around.width(), ", unless an index wraps"),
            Along::Rows => (self.row(), ", row by row, unless an index wraps"),
            Along::Columns => (self.around.runs(), ", column by column, unless an index wraps"),
        };
        let class = classify(Some(at.line.stride), ty.bytes(), count as u32, width, direction);
        self.note_way(direction, class, ty, count, space, Some(at.line.stride), how);
    }

    /// Notes how a load or store is done at other addresses of which one does not tell all others.
    pub(super) fn note_places(&self, direction: Direction, at: &Places<'_>, ty: Type, count: usize, space: Space) {
        let (stride, width, how) = match at {
            Places::Columns(_) => (Some(ty.bytes().into()), self.around.runs(), ", column by column"),
            Places::Of(Held::Runs(_, stride)) => (Some(*stride), self.row(), ", row by row"),
            Places::Of(held) => (held.stride(), self.around.width(), ""),
        };
        let class = classify(stride, ty.bytes(), count as u32, width, direction);
        self.note_way(direction, class, ty, count, space, stride, how);
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
