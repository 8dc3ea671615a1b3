//! Shapes: how a value differs between the work-items of a gang.
//!
//! A gang is W work-items in the lanes of SIMD registers, most often consecutive along one dimension; the lanes of a
//! tile's row are, too, and have shapes of their own. Of a strided value, lane `i` holds `base + i * stride` for some `base` that is a multiple of `align`, in the
//! wrapping arithmetic of the value's type (addresses count bytes in 64 bits, floats are their bits).
//!
//! Requires: nothing.
//! Ensures: `join` holds of every value of which one of its operands holds.
//! Phases: none; a lattice.
//! Source: Moll 2021, chapter 10; alignments are powers of two, so that they survive wrapping. Odd factors are kept beside ([`transfer`]).

pub mod transfer;

use std::fmt;

/// How a value differs between lanes.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Shape {
    /// In any way.
    #[default]
    Varying,
    /// By a constant from each lane to the next.
    Strided {
        /// The difference, reduced to the type's width and sign-extended; 0 for uniform values.
        stride: i64,
        /// A power of two that divides the value of lane 0.
        align: u64,
    },
}

impl Shape {
    /// The same in all lanes and a multiple of `alignment`, a power of two.
    pub const fn uniform(alignment: u64) -> Shape {
        Shape::Strided { stride: 0, align: alignment }
    }

    /// One more in each lane, and a multiple of `alignment` in lane 0.
    pub const fn contiguous(alignment: u64) -> Shape {
        Shape::Strided { stride: 1, align: alignment }
    }

    /// Whether all lanes hold the same.
    pub fn is_uniform(self) -> bool {
        matches!(self, Shape::Strided { stride: 0, .. })
    }

    /// Whether nothing is known.
    pub fn is_varying(self) -> bool {
        self == Shape::Varying
    }

    /// The difference from lane to lane, if it is constant.
    pub fn stride(self) -> Option<i64> {
        match self {
            Shape::Strided { stride, .. } => Some(stride),
            Shape::Varying => None,
        }
    }

    /// A power of two that divides the value of lane 0; 1 if nothing is known.
    pub fn align(self) -> u64 {
        match self {
            Shape::Strided { align, .. } => align,
            Shape::Varying => 1,
        }
    }

    /// What is known of a value that has either shape.
    pub fn join(self, other: Shape) -> Shape {
        match (self, other) {
            (Shape::Strided { stride: left, align: m }, Shape::Strided { stride: right, align: n })
                if left == right =>
            {
                Shape::Strided { stride: left, align: m.min(n) }
            }
            _ => Shape::Varying,
        }
    }
}

impl fmt::Display for Shape {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Shape::Varying => formatter.write_str("varying"),
            Shape::Strided { stride: 0, align } => write!(formatter, "uniform({align})"),
            Shape::Strided { stride: 1, align } => write!(formatter, "contiguous({align})"),
            Shape::Strided { stride, align } => write!(formatter, "strided({stride}, {align})"),
        }
    }
}
