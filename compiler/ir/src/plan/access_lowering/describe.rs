//! The words of the report for how an access is made.

use super::decide::{AccessLowering, LaneMask};
use super::form::{AccessForm, Along, LanesForm, Ordered, PieceForm, ScatteredPiece, WideAccess, WideElements};
use super::rejection::{Candidate, Reason};
use super::stride_class::Direction;
use crate::report::Note;
use std::borrow::Cow;

/// Said of an access of some lanes for which the machine has no instruction.
const REDIRECTED: &str = ", lanes that are off redirected";

/// What the report says of an access: its class, and what else there is to know.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Description {
    /// The class, which tools go by.
    pub class: Cow<'static, str>,
    /// What people want to know.
    pub detail: String,
}

impl AccessLowering {
    /// What the report says of it.
    pub fn describe(&self) -> Description {
        let AccessLowering { access, form, .. } = self;
        let elements =
            if access.count == 1 { access.ty.to_string() } else { format!("{} {}", access.count, access.ty) };
        let direction_text = match access.direction {
            Direction::Load => "from",
            Direction::Store => "to",
        };
        let mut detail = format!("{elements} {direction_text} {} memory", access.space.name());
        let class = match form {
            AccessForm::Uniform(_) => "uniform".into(),
            AccessForm::UniformRows { .. } => {
                detail += ", row by row";
                "uniform".into()
            }
            AccessForm::PerLane(ordered) => {
                let detail = match ordered {
                    Ordered::Volatile => "volatile",
                    Ordered::Atomic => "atomic",
                };
                return Description { class: "per lane".into(), detail: detail.to_owned() };
            }
            AccessForm::Gang(lanes) => self.describe_lanes(lanes, &mut detail),
            AccessForm::Rows { row, .. } => {
                detail += ", row by row";
                self.describe_lanes(row, &mut detail)
            }
            AccessForm::Columns(wide_access) => {
                detail += ", column by column";
                describe_wide(wide_access, &mut detail)
            }
            AccessForm::UnlessWraps { along, on_line, .. } => {
                detail += match along {
                    Along::Gang => ", unless an index wraps",
                    Along::Rows => ", row by row, unless an index wraps",
                    Along::Columns => ", column by column, unless an index wraps",
                };
                describe_wide(on_line, &mut detail)
            }
        };
        Description { class, detail }
    }

    /// The note of the report.
    pub fn report_note(&self) -> Note {
        let Description { class, detail } = self.describe();
        let kind = match self.access.direction {
            Direction::Load => "load",
            Direction::Store => "store",
        };
        Note { location: self.access.location, kind, class, masked: self.mask != LaneMask::All, detail }
    }

    fn describe_lanes(&self, lanes: &LanesForm, detail: &mut String) -> Cow<'static, str> {
        match lanes {
            LanesForm::Wide(wide_access) => describe_wide(wide_access, detail),
            LanesForm::Scattered { pieces, .. } => self.describe_scattered(pieces, detail),
        }
    }

    fn describe_scattered(&self, pieces: &[ScatteredPiece], detail: &mut String) -> Cow<'static, str> {
        if let Some(reason) = self.why_not(Candidate::Wide) {
            *detail += &format!(", {reason}");
        }
        let is_chunk = |piece: &&ScatteredPiece| matches!(piece.form, PieceForm::Chunk { .. });
        let is_redirected = |piece: &ScatteredPiece| match piece.form {
            PieceForm::Chunk { redirected } | PieceForm::Anywhere { redirected } => redirected,
            PieceForm::CommonBase(_) => false,
        };
        let chunked: u32 = pieces.iter().filter(is_chunk).map(|piece| piece.count).sum();
        let is_alone = pieces.iter().any(|piece| matches!(piece.form, PieceForm::CommonBase(_)));
        if 0 < chunked && chunked < self.access.count {
            *detail += &format!(", {chunked} of {} in chunks", self.access.count);
        }
        if pieces.iter().any(is_redirected) {
            *detail += REDIRECTED;
        }
        if is_alone {
            *detail += ", near a common address";
        }
        match self.access.direction {
            _ if chunked > 0 => "chunks".into(),
            _ if is_alone => "per lane".into(),
            Direction::Load => "gather".into(),
            Direction::Store => "scatter".into(),
        }
    }

    /// Why an access has not a form that it might have had.
    pub fn why_not(&self, form: Candidate) -> Option<Reason> {
        self.rejected.iter().find(|rejection| rejection.form == form).map(|rejection| rejection.reason)
    }
}

fn describe_wide(wide_access: &WideAccess, detail: &mut String) -> Cow<'static, str> {
    if let WideElements::Redirected(_) = wide_access.elements {
        *detail += REDIRECTED;
    }
    if wide_access.past_caches {
        *detail += ", past the caches";
    }
    if wide_access.transposed {
        *detail += ", transposed";
    }
    match (wide_access.row, wide_access.is_reversed()) {
        (1, false) => "contiguous".into(),
        (1, true) => "reversed".into(),
        (row, reversed) => format!("interleaved stride {}{row}", if reversed { "-" } else { "" }).into(),
    }
}
