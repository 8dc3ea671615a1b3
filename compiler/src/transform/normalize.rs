//! Normal form: one shape of control flow for all passes up to code generation.
//!
//! Requires: a function that verifies; it may be a region.
//! Ensures: `Stage::Normalized`. No block is unreachable. Cycles have one entry each. No edge leads from a
//! block with several targets to one with several predecessors. Each loop has one latch, a preheader that
//! jumps to its header, and exits of its own, which have one predecessor each. There is one return, and one
//! exit to each region. A value that is used outside of its loop reaches the use through parameters of the
//! loop's exits (loop-closed SSA).
//! Phases: unreachable blocks; irreducible cycles (`reducible`); ends; critical edges; latches and
//! preheaders; loop-closed SSA, inner loops first.
//! Source: Moll 2021, section 2.4; Cytron et al. 1991 for the SSA form, with merges placed on demand.

use crate::analysis::cfg::{Cfg, cfg};
use crate::analysis::dominators::{Dominators, dominators};
use crate::analysis::loops::{Loop, Loops, loops};
use crate::ir::{Block, BlockCall, Function, Terminator, Type, Value};
use crate::transform::reducible::make_reducible;
use cranelift_entity::SecondaryMap;
use std::collections::{HashMap, VecDeque};

/// Brings a function into normal form.
pub fn normalize(f: &mut Function) {
    let graph = cfg(f);
    f.layout.retain(|&block| graph.is_reachable(block));
    make_reducible(f);
    merge_ends(f);
    split_critical_edges(f);
    merge_loop_edges(f);
    close_loops(f);
}

fn jump(block: Block, args: Vec<Value>) -> Terminator {
    Terminator::Jump(BlockCall { block, args })
}

/// Gives all blocks that end alike one block that does.
fn merge_ends(f: &mut Function) {
    let mut ends: Vec<(Terminator, Vec<Block>)> = Vec::new();
    for &block in &f.layout {
        let term = &f.blocks[block].term;
        if matches!(term, Terminator::Return | Terminator::Exit(_)) {
            match ends.iter_mut().find(|(end, _)| end == term) {
                Some((_, blocks)) => blocks.push(block),
                None => ends.push((term.clone(), vec![block])),
            }
        }
    }
    for (end, blocks) in ends.into_iter().filter(|(_, blocks)| blocks.len() > 1) {
        let last = f.add_block();
        f.blocks[last].term = end;
        for block in blocks {
            f.blocks[block].term = jump(last, Vec::new());
        }
    }
}

/// Puts a block on every edge from a block with several targets to one with several predecessors.
fn split_critical_edges(f: &mut Function) {
    let graph = cfg(f);
    for block in f.layout.clone() {
        if graph.succs(block).len() < 2 {
            continue;
        }
        let mut term = f.blocks[block].term.clone();
        for to in term.targets_mut() {
            if graph.preds(to.block).len() > 1 {
                let between = f.add_block();
                f.blocks[between].term = Terminator::Jump(to.clone());
                *to = BlockCall { block: between, args: Vec::new() };
            }
        }
        f.blocks[block].term = term;
    }
}

/// Gives each loop one latch and one preheader. Without critical edges all predecessors of a header jump.
fn merge_loop_edges(f: &mut Function) {
    let graph = cfg(f);
    let forest = loops(&graph, &dominators(&graph));
    for (_, data) in forest.iter() {
        let header = data.header;
        let outside: Vec<Block> =
            graph.preds(header).iter().copied().filter(|pred| !data.latches.contains(pred)).collect();
        merge_jumps(f, header, &outside);
        merge_jumps(f, header, &data.latches);
    }
}

/// Lets several blocks that jump to a block do so through a new one.
fn merge_jumps(f: &mut Function, to: Block, from: &[Block]) {
    if from.len() < 2 {
        return;
    }
    let types: Vec<Type> = f.blocks[to].params.iter().map(|&param| f.ty(param)).collect();
    let between = f.add_block();
    let params = types.into_iter().map(|ty| f.add_param(between, ty)).collect();
    f.blocks[between].term = jump(to, params);
    for &block in from {
        for target in f.blocks[block].term.targets_mut() {
            target.block = between;
        }
    }
}

/// Leads values that are used outside of their loop through parameters of the loop's exits.
fn close_loops(f: &mut Function) {
    let graph = cfg(f);
    let tree = dominators(&graph);
    let forest = loops(&graph, &tree);
    let mut home: SecondaryMap<Value, Option<Block>> = SecondaryMap::new();
    for &block in &f.layout {
        let data = &f.blocks[block];
        let results = data.insts.iter().flat_map(|&inst| &f.insts[inst].results);
        data.params.iter().chain(results).for_each(|&value| home[value] = Some(block));
    }
    let inner_first: Vec<Loop> = forest.iter().map(|(l, _)| l).rev().collect();
    for l in inner_first {
        let mut closing =
            Closing { f, graph: &graph, tree: &tree, forest: &forest, home: &mut home, l, seen: HashMap::new() };
        closing.close();
    }
}

/// One loop whose values are led out.
struct Closing<'a> {
    f: &'a mut Function,
    graph: &'a Cfg,
    tree: &'a Dominators,
    forest: &'a Loops,
    home: &'a mut SecondaryMap<Value, Option<Block>>,
    l: Loop,
    /// What a value is called in a block outside.
    seen: HashMap<(Value, Block), Value>,
}

impl Closing<'_> {
    fn close(&mut self) {
        let outside: Vec<Block> =
            self.f.layout.iter().copied().filter(|&block| !self.forest.contains(self.l, block)).collect();
        // First come, first served: a block's arguments are passed in the order of its parameters.
        let mut open = VecDeque::new();
        for &block in &outside {
            for i in 0..self.f.blocks[block].insts.len() {
                let inst = self.f.blocks[block].insts[i];
                let mut data = self.f.insts[inst].data.clone();
                data.map_args(|value| self.outside_value(value, block, &mut open));
                self.f.insts[inst].data = data;
            }
            let mut term = self.f.blocks[block].term.clone();
            term.map_args(|value| self.outside_value(value, block, &mut open));
            self.f.blocks[block].term = term;
        }
        // Merges between the exits and the uses.
        while let Some((value, block)) = open.pop_front() {
            for pred in self.graph.preds(block).to_vec() {
                let arg = self.outside_value(value, pred, &mut open);
                self.pass(pred, block, arg);
            }
        }
    }

    /// What stands for a value at the end of a block outside of the loop.
    fn outside_value(&mut self, value: Value, block: Block, open: &mut VecDeque<(Value, Block)>) -> Value {
        let Some(home) = self.home[value].filter(|&home| self.forest.contains(self.l, home)) else {
            return value;
        };
        let mut at = block;
        loop {
            if let Some(&known) = self.seen.get(&(value, at)) {
                return known;
            }
            match self.tree.idom(at) {
                // Between a block and its immediate dominator no other definition comes in.
                Some(idom) if !self.forest.contains(self.l, idom) && self.tree.dominates(home, idom) => at = idom,
                _ => break,
            }
        }
        let param = self.f.add_param(at, self.f.ty(value));
        self.home[param] = Some(at);
        self.seen.insert((value, at), param);
        match self.graph.preds(at) {
            // An exit.
            &[pred] => self.pass(pred, at, value),
            _ => open.push_back((value, at)),
        }
        param
    }

    fn pass(&mut self, from: Block, to: Block, arg: Value) {
        let targets = self.f.blocks[from].term.targets_mut();
        targets.into_iter().filter(|target| target.block == to).for_each(|target| target.args.push(arg));
    }
}
