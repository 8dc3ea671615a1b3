//! Divergence: which values, branches and loops are the same for all work-items of a gang.
//!
//! Requires: a function in normal form (`Stage::Normalized`).
//! Ensures: a value's shape holds in all lanes that execute its definition together; a branch that is not
//! in `divergent_branches` sends all lanes that arrive there the same way; all lanes that are together in
//! a loop that is not in `divergent_loops` leave it together, through one exit.
//! Phases: everything that can differ is said to differ.
//! Source: Moll 2021, chapter 6.

use super::cfg::Cfg;
use super::dominators::Dominators;
use super::loops::{Loop, Loops};
use super::shape::Shape;
use crate::ir::{Block, Function, Kernel, LiveSlot, Module, Value, ValueDef};
use cranelift_entity::{EntitySet, SecondaryMap};

/// What is known of how a kernel's gangs run, beside its code.
#[derive(Clone, Debug)]
pub struct Facts {
    /// Lanes of a gang: work-items consecutive along x, the first at a multiple of this in its group. A
    /// power of two.
    pub width: u32,
    /// The shapes of values kept between regions.
    pub live: SecondaryMap<LiveSlot, Shape>,
}

impl Facts {
    /// The facts that hold of every launch of a kernel with gangs of `width` work-items.
    pub fn new(_module: &Module, _kernel: &Kernel, width: u32) -> Facts {
        Facts { width, live: SecondaryMap::new() }
    }
}

/// What differs between the lanes of a gang.
#[derive(Clone, Debug, Default)]
pub struct Divergence {
    /// The shape of each value.
    pub shapes: SecondaryMap<Value, Shape>,
    /// Blocks that end in a branch or switch which may send lanes different ways.
    pub divergent_branches: EntitySet<Block>,
    /// Loops that lanes which entered them together may leave at different times or through different
    /// exits.
    pub divergent_loops: EntitySet<Loop>,
    /// Blocks where lanes that went different ways meet: their parameters differ with the way.
    pub joins: EntitySet<Block>,
    /// Blocks that may run for some of the lanes which entered the function and not for others. All
    /// others run for all those lanes together.
    pub divergent_blocks: EntitySet<Block>,
}

impl Divergence {
    /// A value's shape.
    pub fn shape(&self, value: Value) -> Shape {
        self.shapes[value]
    }

    /// Whether a value is the same in all lanes.
    pub fn is_uniform(&self, value: Value) -> bool {
        self.shapes[value].is_uniform()
    }
}

/// Computes the divergence of a function.
pub fn divergence(f: &Function, _facts: &Facts, cfg: &Cfg, _dominators: &Dominators, loops: &Loops) -> Divergence {
    let mut found = Divergence::default();
    for (value, data) in &f.values {
        if matches!(data.def, ValueDef::Const(_)) {
            found.shapes[value] = Shape::uniform(1);
        }
    }
    for &block in cfg.rpo() {
        if f.blocks[block].term.selector().is_some() {
            found.divergent_branches.insert(block);
        }
        if cfg.preds(block).len() > 1 {
            found.joins.insert(block);
        }
        if block != f.entry() {
            found.divergent_blocks.insert(block);
        }
    }
    for (l, _) in loops.iter() {
        found.divergent_loops.insert(l);
    }
    found
}
