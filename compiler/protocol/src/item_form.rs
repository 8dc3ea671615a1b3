//! The form of a kernel's code, how its work-items run, and the forms that might have been taken in its place.

use crate::compile_options::Vectorize;
use crate::configuration::{Gangs, Versions, WIDTHS};
use crate::layout::{GangShape, Layout};
use crate::pass_switches::PassSwitch;
use serde::{Deserialize, Serialize};
use std::fmt;

/// How the work-items of a kernel run.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum ItemForm {
    /// One after the other.
    OneByOne,
    /// As the lanes of gangs.
    InGangs(GangShape),
    /// As the lanes of gangs, and loops in loops are one loop wherever that is possible.
    Flattened(GangShape),
}

impl ItemForm {
    /// How code of this form is asked for. What else holds of gangs is as it was asked for before.
    pub fn as_request(self, asked: Vectorize) -> Vectorize {
        let asked_gangs = match asked {
            Vectorize::Gangs(gangs) => gangs,
            Vectorize::Scalar => Gangs::default(),
        };
        let of_shape = |GangShape { width, layout }| Gangs { width: Some(width), layout: Some(layout), ..asked_gangs };
        match self {
            ItemForm::OneByOne => Vectorize::Scalar,
            ItemForm::InGangs(shape) => Vectorize::Gangs(of_shape(shape)),
            ItemForm::Flattened(shape) => {
                Vectorize::Gangs(of_shape(shape).with_pass(PassSwitch::LoopFlattening, Versions::Always))
            }
        }
    }
}

/// Whether loops in loops are asked to be one loop wherever that is possible.
pub fn flattens_loops(asked: Vectorize) -> bool {
    matches!(asked, Vectorize::Gangs(gangs) if gangs.pass_versions(PassSwitch::LoopFlattening) == Versions::Always)
}

impl fmt::Display for ItemForm {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ItemForm::OneByOne => formatter.write_str("one work-item after the other"),
            ItemForm::InGangs(shape) => write!(formatter, "gangs of {} {}", shape.width, shape.layout),
            ItemForm::Flattened(shape) => {
                write!(formatter, "gangs of {} {} with flattened loops", shape.width, shape.layout)
            }
        }
    }
}

/// What an estimate took and left: other forms of the same code give the same results.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Alternatives {
    /// The best gangs, whether they were taken or not.
    pub gangs: GangShape,
    /// The best gangs of another layout, if there was a choice.
    pub other_layout: Option<GangShape>,
    /// Whether loops in loops stayed so by what was counted of them, although lanes were idle there.
    pub may_flatten: bool,
}

impl GangShape {
    /// Gangs of the same layout with twice as many lanes, if there are such. The rows of a tile decide how many lanes it has.
    pub fn double_width(self) -> Option<GangShape> {
        self.with_width(self.width.checked_mul(2)?)
    }

    /// Gangs of the same layout with half as many lanes, if there are such.
    pub fn halve_width(self) -> Option<GangShape> {
        self.with_width(self.width / 2)
    }

    fn with_width(self, width: u32) -> Option<GangShape> {
        let may_change = WIDTHS.contains(&width) && self.layout != Layout::Tile;
        may_change.then_some(GangShape { width, ..self })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shape(width: u32, layout: Layout) -> GangShape {
        GangShape { width, layout }
    }

    #[test]
    fn forms_are_asked_for_with_what_was_asked_for_before() {
        let asked = Gangs { configuration: crate::configuration::Configuration::Boscc, ..Gangs::default() };
        let request = ItemForm::InGangs(shape(8, Layout::Y)).as_request(Vectorize::Gangs(asked));
        assert_eq!(request, Vectorize::Gangs(Gangs { width: Some(8), layout: Some(Layout::Y), ..asked }));
        let request = ItemForm::Flattened(shape(8, Layout::Y)).as_request(Vectorize::Gangs(asked));
        assert!(flattens_loops(request) && !flattens_loops(Vectorize::Gangs(asked)));
        assert_eq!(ItemForm::OneByOne.as_request(Vectorize::Gangs(asked)), Vectorize::Scalar);
    }

    #[test]
    fn widths_have_ends_and_tiles_keep_theirs() {
        assert_eq!(shape(32, Layout::X).double_width(), Some(shape(64, Layout::X)));
        assert_eq!(shape(64, Layout::X).double_width(), None);
        assert_eq!(shape(4, Layout::Y).halve_width(), Some(shape(2, Layout::Y)));
        assert_eq!(shape(2, Layout::X).halve_width(), None);
        assert_eq!((shape(16, Layout::Tile).double_width(), shape(16, Layout::Tile).halve_width()), (None, None));
    }
}
