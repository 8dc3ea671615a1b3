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

use crate::analysis::cfg::{Cfg, build_cfg};
use crate::analysis::dominators::{Dominators, compute_dominators};
use crate::analysis::loops::{Loop, Loops, find_loops};
use crate::ir::{Block, BlockCall, Function, Terminator, Value};
use crate::transform::reducible::make_reducible;
use cranelift_entity::SecondaryMap;
use lockstep_protocol::types::Type;
use std::collections::{BTreeSet, HashMap, VecDeque};

/// Brings a function into normal form.
pub fn normalize_function(f: &mut Function) {
    let graph = build_cfg(f);
    f.layout.retain(|&block| graph.is_reachable(block));
    make_reducible(f);
    merge_ends(f);
    split_critical_edges(f);
    merge_loop_edges(f);
    close_loops(f);
}

fn jump_to(block: Block, args: Vec<Value>) -> Terminator {
    Terminator::Jump(BlockCall { block, arguments: args })
}

/// Gives all blocks that end alike one block that does.
fn merge_ends(f: &mut Function) {
    let mut ends: Vec<(Terminator, Vec<Block>)> = Vec::new();
    for &block in &f.layout {
        let term = &f.blocks[block].terminator;
        if matches!(term, Terminator::Return | Terminator::Exit(_)) {
            match ends.iter_mut().find(|(end, _)| end == term) {
                Some((_, blocks)) => blocks.push(block),
                None => ends.push((term.clone(), vec![block])),
            }
        }
    }
    for (end, blocks) in ends.into_iter().filter(|(_, blocks)| blocks.len() > 1) {
        let last = f.add_block();
        f.blocks[last].terminator = end;
        for block in blocks {
            f.blocks[block].terminator = jump_to(last, Vec::new());
        }
    }
}

/// Puts a block on every edge from a block with several targets to one with several predecessors.
fn split_critical_edges(f: &mut Function) {
    let graph = build_cfg(f);
    for block in f.layout.clone() {
        if graph.successors(block).len() < 2 {
            continue;
        }
        let mut term = f.blocks[block].terminator.clone();
        for to in term.targets_mut() {
            if graph.predecessors(to.block).len() > 1 {
                let between = f.add_block();
                f.blocks[between].terminator = Terminator::Jump(to.clone());
                *to = BlockCall { block: between, arguments: Vec::new() };
            }
        }
        f.blocks[block].terminator = term;
    }
}

/// Gives each loop one latch and one preheader. Without critical edges all predecessors of a header jump.
fn merge_loop_edges(f: &mut Function) {
    let graph = build_cfg(f);
    let forest = find_loops(&graph, &compute_dominators(&graph));
    for (_, data) in forest.iter() {
        let header = data.header;
        let outside: Vec<Block> =
            graph.predecessors(header).iter().copied().filter(|pred| !data.latches.contains(pred)).collect();
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
    f.blocks[between].terminator = jump_to(to, params);
    for &block in from {
        for target in f.blocks[block].terminator.targets_mut() {
            target.block = between;
        }
    }
}

/// Leads values that are used outside of their loop through parameters of the loop's exits.
fn close_loops(f: &mut Function) {
    let graph = build_cfg(f);
    let tree = compute_dominators(&graph);
    let forest = find_loops(&graph, &tree);
    let mut home: SecondaryMap<Value, Option<Block>> = SecondaryMap::new();
    for &block in &f.layout {
        let data = &f.blocks[block];
        let results = data.insts.iter().flat_map(|&inst| &f.insts[inst].results);
        data.params.iter().chain(results).for_each(|&value| home[value] = Some(block));
    }
    let mut place: SecondaryMap<Block, u32> = SecondaryMap::with_capacity(f.blocks.len());
    f.layout.iter().enumerate().for_each(|(i, &block)| place[block] = i as u32);
    let mut users: SecondaryMap<Loop, BTreeSet<(u32, Block)>> = SecondaryMap::new();
    for &block in &f.layout {
        let data = &f.blocks[block];
        let mut used = |value: Value| {
            for l in loops_left(&forest, home[value], block) {
                users[l].insert((place[block], block));
            }
        };
        data.insts.iter().for_each(|&inst| f.insts[inst].data.for_each_arg(&mut used));
        data.terminator.for_each_arg(&mut used);
    }
    let inner_first: Vec<Loop> = forest.iter().map(|(l, _)| l).rev().collect();
    let mut closing = Closing {
        function: f,
        graph,
        dominators: tree,
        forest: &forest,
        home,
        place,
        users,
        loop_id: Loop::from_u32(0),
        seen: HashMap::new(),
    };
    for l in inner_first {
        closing.loop_id = l;
        closing.seen.clear();
        closing.close_loops();
    }
}

/// The loops that a value leaves on its way from `home` to `block`, innermost first.
fn loops_left(forest: &Loops, home: Option<Block>, block: Block) -> impl Iterator<Item = Loop> {
    let around = home.into_iter().flat_map(|home| forest.loops_around(home));
    around.take_while(move |&l| !forest.contains(l, block))
}

/// Leads out the values of one loop after the other.
struct Closing<'a> {
    function: &'a mut Function,
    graph: Cfg,
    dominators: Dominators,
    forest: &'a Loops,
    home: SecondaryMap<Value, Option<Block>>,
    /// Places of the blocks in the layout.
    place: SecondaryMap<Block, u32>,
    /// The blocks outside of a loop that use values of its blocks, by their places in the layout.
    users: SecondaryMap<Loop, BTreeSet<(u32, Block)>>,
    /// The loop whose values are led out.
    loop_id: Loop,
    /// What a value is called in a block outside.
    seen: HashMap<(Value, Block), Value>,
}

impl Closing<'_> {
    fn close_loops(&mut self) {
        // First come, first served: a block's arguments are passed in the order of its parameters.
        let mut open = VecDeque::new();
        for (_, block) in std::mem::take(&mut self.users[self.loop_id]) {
            for i in 0..self.function.blocks[block].insts.len() {
                let inst = self.function.blocks[block].insts[i];
                let mut data = self.function.insts[inst].data.clone();
                data.map_args(|value| self.outside_value(value, block, &mut open));
                self.function.insts[inst].data = data;
            }
            let mut term = self.function.blocks[block].terminator.clone();
            term.map_args(|value| self.outside_value(value, block, &mut open));
            self.function.blocks[block].terminator = term;
        }
        // Merges between the exits and the uses.
        while let Some((value, block)) = open.pop_front() {
            for i in 0..self.graph.predecessors(block).len() {
                let pred = self.graph.predecessors(block)[i];
                let arg = self.outside_value(value, pred, &mut open);
                self.pass_argument(pred, block, arg);
            }
        }
    }

    /// What stands for a value at the end of a block outside of the loop.
    fn outside_value(&mut self, value: Value, block: Block, open: &mut VecDeque<(Value, Block)>) -> Value {
        let Some(home) = self.home[value].filter(|&home| self.forest.contains(self.loop_id, home)) else {
            return value;
        };
        let mut at = block;
        let found = loop {
            if let Some(&known) = self.seen.get(&(value, at)) {
                break known;
            }
            match self.dominators.immediate_dominator(at) {
                // Between a block and its immediate dominator no other definition comes in.
                Some(idom) if !self.forest.contains(self.loop_id, idom) && self.dominators.dominates(home, idom) => {
                    at = idom
                }
                _ => break self.lead_out(value, at, open),
            }
        };
        // The next question from here shall not go all the way.
        let mut on_the_way = Some(block).filter(|&block| block != at);
        while let Some(here) = on_the_way {
            self.seen.insert((value, here), found);
            on_the_way = self.dominators.immediate_dominator(here).filter(|&idom| idom != at);
        }
        found
    }

    /// A block's parameter that brings a value of the loop there.
    fn lead_out(&mut self, value: Value, at: Block, open: &mut VecDeque<(Value, Block)>) -> Value {
        let param = self.function.add_param(at, self.function.ty(value));
        self.home[param] = Some(at);
        self.seen.insert((value, at), param);
        match self.graph.predecessors(at) {
            // An exit.
            &[pred] => self.pass_argument(pred, at, value),
            _ => open.push_back((value, at)),
        }
        param
    }

    fn pass_argument(&mut self, from: Block, to: Block, arg: Value) {
        for l in loops_left(self.forest, self.home[arg], from) {
            self.users[l].insert((self.place[from], from));
        }
        let targets = self.function.blocks[from].terminator.targets_mut();
        targets.into_iter().filter(|target| target.block == to).for_each(|target| target.arguments.push(arg));
    }
}
