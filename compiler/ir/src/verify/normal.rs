//! The rules of normal form, which `normalize` establishes.

use super::{Code, Verifier};
use crate::analysis::cfg::build_cfg;
use crate::analysis::dominators::compute_dominators;
use crate::analysis::loops::find_loops;
use crate::ir::*;
use cranelift_entity::SecondaryMap;

impl Verifier<'_> {
    pub(super) fn normal_form(&mut self, region: Region, code: &Code<'_>) {
        let f = code.function;
        let graph = build_cfg(f);
        let forest = find_loops(&graph, &compute_dominators(&graph));
        for &(from, to) in forest.irreducible_edges() {
            self.place = format!("{region}, {from}");
            self.add_error(&term_text(f, from), format!("the edge to {to} makes the control flow irreducible"));
        }
        let mut home: SecondaryMap<Value, Option<Block>> = SecondaryMap::new();
        let mut ends: Vec<&Terminator> = Vec::new();
        for &block in &f.layout {
            self.place = format!("{region}, {block}");
            let data = &f.blocks[block];
            let results = data.insts.iter().flat_map(|&inst| &f.insts[inst].results);
            data.params.iter().chain(results).for_each(|&value| home[value] = Some(block));
            if matches!(data.terminator, Terminator::Return | Terminator::Exit(_)) {
                if ends.contains(&&data.terminator) {
                    self.add_error(&term_text(f, block), "another block ends the same way");
                }
                ends.push(&data.terminator);
            }
            let succs = graph.successors(block);
            for &to in if succs.len() > 1 { succs } else { &[] } {
                if graph.predecessors(to).len() > 1 {
                    self.add_error(&term_text(f, block), format!("the edge to {to} is critical"));
                }
            }
            if let Some(l) = forest.with_header(block) {
                let latches = &forest.get(l).latches;
                if latches.len() > 1 {
                    self.add_error(&block_text(f, block), "the loop has several latches");
                }
                if graph.predecessors(block).iter().filter(|pred| !latches.contains(pred)).count() > 1 {
                    self.add_error(&block_text(f, block), "the loop has no preheader");
                }
            }
        }
        for &block in &f.layout {
            self.place = format!("{region}, {block}");
            let stays = |value: Value| {
                let Some(home) = home[value] else { return true };
                forest.innermost_loop(home).is_none_or(|l| forest.contains(l, block))
            };
            let data = &f.blocks[block];
            for &inst in &data.insts {
                f.insts[inst].data.for_each_arg(|v| {
                    if !stays(v) {
                        self.add_error(&inst_text(f, inst), format!("{v} leaves its loop without an exit's parameter"));
                    }
                });
            }
            data.terminator.for_each_arg(|v| {
                if !stays(v) {
                    self.add_error(&term_text(f, block), format!("{v} leaves its loop without an exit's parameter"));
                }
            });
        }
    }
}
