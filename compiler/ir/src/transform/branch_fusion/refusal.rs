//! Why branches are not fused, in the words of the report.
//!
//! Requires: a divergent branch that [`super::plan_fusion`] has looked at.
//! Ensures: one sentence for each condition that a branch may break.
//! Phases: none; it is a result.
//! Source: as [`super`].

use std::fmt;

/// Why a divergent branch is not fused.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Refusal {
    /// Its sides do not meet in one block.
    Exits,
    /// Blocks and edges of one side do not correspond to those of the other.
    Shape,
    /// There are so many instructions to compare with each other, or too many.
    Size(usize),
    /// An atomic or volatile access, a fence, a call, or a question to other lanes would be crossed.
    Ordered,
    /// A side writes a private variable of which all lanes share one: what the other side's lanes left there would be read.
    SharedSlot,
    /// Neighbouring work-items go the same way, so few gangs run both sides.
    ByPlace,
    /// So much would be saved of so much.
    Cost(i64, u64),
    /// What comes out would cost more than the branch, by its accesses or loops.
    Outcome,
}

impl fmt::Display for Refusal {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Refusal::Exits => formatter.write_str("the sides do not meet in one place"),
            Refusal::Shape => formatter.write_str("the sides have branches or loops that do not correspond"),
            Refusal::Size(instructions) => write!(formatter, "there are {instructions} instructions to compare"),
            Refusal::Ordered => formatter.write_str("a side has an operation that others must not pass"),
            Refusal::SharedSlot => formatter.write_str("a side writes a private variable that all lanes share"),
            Refusal::ByPlace => formatter.write_str("neighbouring work-items go the same way"),
            Refusal::Cost(saved, of) => write!(formatter, "it would save {saved} of {of}"),
            Refusal::Outcome => formatter.write_str("accesses or loops of what comes out would cost more"),
        }
    }
}
