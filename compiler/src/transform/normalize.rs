//! Normal form: one shape of control flow for all passes up to code generation.
//!
//! Requires: a verified function of any stage.
//! Ensures: `Stage::Normalized`, or the edges that make the control flow irreducible.
//! Phases: none yet but the check.
//! Source: Moll 2021, chapter 3.

use crate::analysis::cfg::cfg;
use crate::analysis::dominators::dominators;
use crate::analysis::loops::loops;
use crate::ir::{Block, Function};
use std::fmt;

/// Why a function has no normal form: an edge into the middle of a cycle.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Irreducible {
    /// Where the edge begins.
    pub from: Block,
    /// Where it leads.
    pub to: Block,
}

impl fmt::Display for Irreducible {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "irreducible control flow: the cycle around {} -> {} has two entries", self.from, self.to)
    }
}

impl std::error::Error for Irreducible {}

/// Brings a function into normal form; where that is not possible the function stays as it is.
pub fn normalize(f: &mut Function) -> Result<(), Irreducible> {
    let graph = cfg(f);
    match loops(&graph, &dominators(&graph)).irreducible_edges().first() {
        Some(&(from, to)) => Err(Irreducible { from, to }),
        None => Ok(()),
    }
}
