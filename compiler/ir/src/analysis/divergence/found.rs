//! What the analysis of divergence finds.
//!
//! Requires: the function that was analysed, as it was.
//! Ensures: what [`super`] says of shapes, branches and loops, and what each field says.
//! Phases: none; it is a result.
//! Source: as [`super`].

use crate::analysis::loops::Loop;
use crate::analysis::shape::Shape;
use crate::ir::{Block, Value};
use cranelift_entity::{EntitySet, SecondaryMap};
use std::collections::BTreeSet;

/// What differs between the lanes of a gang.
#[derive(Clone, Debug, Default)]
pub struct Divergence {
    /// The shape of each value.
    pub shapes: SecondaryMap<Value, Shape>,
    /// Values that follow from lane 0's as signed numbers too: none of them wraps.
    pub signed_lines: EntitySet<Value>,
    /// The same as unsigned numbers.
    pub unsigned_lines: EntitySet<Value>,
    /// Blocks that end in a branch or switch which may send lanes different ways.
    pub divergent_branches: EntitySet<Block>,
    /// Loops that lanes which entered them together may leave at different times or through different
    /// exits.
    pub divergent_loops: EntitySet<Loop>,
    /// Blocks where lanes that went different ways meet: their parameters differ with the way.
    pub joins: EntitySet<Block>,
    /// Exits of divergent loops where lanes arrive that left in different iterations. Other exits of such
    /// a loop are uniform: lanes that are still in the loop leave through them all at once.
    pub temporal: BTreeSet<(Loop, Block)>,
    /// Blocks that may run for some of the lanes which entered the function and not for others. All
    /// others run for all those lanes together.
    pub divergent_blocks: EntitySet<Block>,
}

impl Divergence {
    /// Whether a value is the same in all lanes.
    pub fn is_uniform(&self, value: Value) -> bool {
        self.shapes[value].is_uniform()
    }
}
