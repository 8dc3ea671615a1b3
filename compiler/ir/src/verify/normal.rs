//! The rules of normal form, which `normalize` establishes.

use super::{Code, Verifier};
use crate::analysis::cfg::build_cfg;
use crate::analysis::dominators::compute_dominators;
use crate::analysis::loops::find_loops;
use crate::ir::*;
use cranelift_entity::SecondaryMap;

impl Verifier<'_> {
    pub(super) fn normal_form(&mut self, region: Region, code: &Code<'_>) {
        let function = code.function;
        let flow_graph = build_cfg(function);
        let loop_forest = find_loops(&flow_graph, &compute_dominators(&flow_graph));
        for &(source, target) in loop_forest.irreducible_edges() {
            self.place = format!("{region}, {source}");
            self.add_error(
                &term_text(function, source),
                format!("the edge to {target} makes the control flow irreducible"),
            );
        }
        let mut home_blocks: SecondaryMap<Value, Option<Block>> = SecondaryMap::new();
        let mut ends: Vec<&Terminator> = Vec::new();
        for &block in &function.layout {
            self.place = format!("{region}, {block}");
            let block_data = &function.blocks[block];
            let results = block_data.insts.iter().flat_map(|&instruction| &function.insts[instruction].results);
            block_data.params.iter().chain(results).for_each(|&value| home_blocks[value] = Some(block));
            if matches!(block_data.terminator, Terminator::Return | Terminator::Exit(_)) {
                if ends.contains(&&block_data.terminator) {
                    self.add_error(&term_text(function, block), "another block ends the same way");
                }
                ends.push(&block_data.terminator);
            }
            let successors = flow_graph.successors(block);
            for &target in if successors.len() > 1 { successors } else { &[] } {
                if flow_graph.predecessors(target).len() > 1 {
                    self.add_error(&term_text(function, block), format!("the edge to {target} is critical"));
                }
            }
            if let Some(loop_id) = loop_forest.with_header(block) {
                let latches = &loop_forest.get(loop_id).latches;
                if latches.len() > 1 {
                    self.add_error(&block_text(function, block), "the loop has several latches");
                }
                if flow_graph.predecessors(block).iter().filter(|predecessor| !latches.contains(predecessor)).count()
                    > 1
                {
                    self.add_error(&block_text(function, block), "the loop has no preheader");
                }
            }
        }
        for &block in &function.layout {
            self.place = format!("{region}, {block}");
            let stays = |value: Value| {
                let Some(home_block) = home_blocks[value] else { return true };
                loop_forest.innermost_loop(home_block).is_none_or(|loop_id| loop_forest.contains(loop_id, block))
            };
            let block_data = &function.blocks[block];
            for &instruction in &block_data.insts {
                function.insts[instruction].data.for_each_arg(|operand| {
                    if !stays(operand) {
                        self.add_error(&inst_text(function, instruction), leaves_loop(operand));
                    }
                });
            }
            block_data.terminator.for_each_arg(|operand| {
                if !stays(operand) {
                    self.add_error(&term_text(function, block), leaves_loop(operand));
                }
            });
        }
    }
}

fn leaves_loop(value: Value) -> String {
    format!("{value} leaves its loop without an exit's parameter")
}
