//! The rules of linearized code, which `linearize` establishes: a gang goes one way.
//!
//! That a branch in a block without a mask is uniform no rule can say: it needs the analysis, and the
//! interpreter's gangs check it where code runs.

use super::{Code, Verifier};
use crate::analysis::cfg::build_cfg;
use crate::analysis::dominators::compute_dominators;
use crate::analysis::loops::find_loops;
use crate::ir::*;

impl Verifier<'_> {
    pub(super) fn check_linearized(&mut self, region: Region, code: &Code<'_>) {
        let f = code.function;
        let graph = build_cfg(f);
        let forest = find_loops(&graph, &compute_dominators(&graph));
        let some_lanes = |block: Block| f.masks[block].expand().is_some_and(|mask| f.const_bits(mask) != Some(1));
        let same_for_all = |value: Value| match f.values[value].definition {
            ValueDef::Const(_) => true,
            ValueDef::Result(inst, _) => f.insts[inst].data.asks_lanes(),
            ValueDef::Param(..) => false,
        };
        for &(from, to) in forest.irreducible_edges() {
            self.place = format!("{region}, {from}");
            self.add_error(&term_text(f, from), format!("the edge to {to} makes the control flow irreducible"));
        }
        let mut ends: Vec<&Terminator> = Vec::new();
        for &block in &f.layout {
            self.place = format!("{region}, {block}");
            let term = &f.blocks[block].terminator;
            let line = || term_text(f, block);
            match term {
                Terminator::Switch { .. } => self.add_error(&line(), "a switch is left after `linearize`"),
                Terminator::Unreachable => self.add_error(&line(), "lanes that are not active come here as well"),
                Terminator::Branch { condition: cond, .. } if some_lanes(block) && !same_for_all(*cond) => {
                    self.add_error(&line(), "lanes that are not active may decide: `any` is missing");
                }
                Terminator::Return | Terminator::Exit(_) => {
                    if some_lanes(block) {
                        self.add_error(&line(), "the region ends for some lanes only");
                    }
                    if ends.contains(&term) {
                        self.add_error(&line(), "another block ends the same way");
                    }
                    ends.push(term);
                }
                Terminator::Jump(_) | Terminator::Branch { .. } => {}
            }
            let Some(l) = forest.with_header(block) else { continue };
            let exits = &forest.get(l).exits;
            if exits.is_empty() {
                self.add_error(&block_text(f, block), "the loop has no exit for a gang without active lanes");
            }
            for &(from, _) in exits {
                if some_lanes(from) && !some_lanes(block) {
                    self.place = format!("{region}, {from}");
                    self.add_error(&term_text(f, from), "some lanes leave the loop before the others");
                }
            }
        }
    }
}
