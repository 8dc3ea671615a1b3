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
        let function = code.function;
        let flow_graph = build_cfg(function);
        let loop_forest = find_loops(&flow_graph, &compute_dominators(&flow_graph));
        let some_lanes =
            |block: Block| function.masks[block].expand().is_some_and(|mask| function.const_bits(mask) != Some(1));
        let same_for_all = |value: Value| match function.values[value].definition {
            ValueDef::Const(_) => true,
            ValueDef::Result(instruction, _) => function.insts[instruction].data.asks_lanes(),
            ValueDef::Param(..) => false,
        };
        for &(source, target) in loop_forest.irreducible_edges() {
            self.place = format!("{region}, {source}");
            self.add_error(
                &term_text(function, source),
                format!("the edge to {target} makes the control flow irreducible"),
            );
        }
        let mut ends: Vec<&Terminator> = Vec::new();
        for &block in &function.layout {
            self.place = format!("{region}, {block}");
            let terminator = &function.blocks[block].terminator;
            let line = || term_text(function, block);
            match terminator {
                Terminator::Switch { .. } => self.add_error(&line(), "a switch is left after `linearize`"),
                Terminator::Unreachable => self.add_error(&line(), "lanes that are not active come here as well"),
                Terminator::Branch { condition, .. } if some_lanes(block) && !same_for_all(*condition) => {
                    self.add_error(&line(), "lanes that are not active may decide: `any` is missing");
                }
                Terminator::Return | Terminator::Exit(_) => {
                    if some_lanes(block) {
                        self.add_error(&line(), "the region ends for some lanes only");
                    }
                    if ends.contains(&terminator) {
                        self.add_error(&line(), "another block ends the same way");
                    }
                    ends.push(terminator);
                }
                Terminator::Jump(_) | Terminator::Branch { .. } => {}
            }
            let Some(loop_id) = loop_forest.with_header(block) else { continue };
            let exits = &loop_forest.get(loop_id).exits;
            if exits.is_empty() {
                self.add_error(&block_text(function, block), "the loop has no exit for a gang without active lanes");
            }
            for &(source, _) in exits {
                if some_lanes(source) && !some_lanes(block) {
                    self.place = format!("{region}, {source}");
                    self.add_error(&term_text(function, source), "some lanes leave the loop before the others");
                }
            }
        }
    }
}
