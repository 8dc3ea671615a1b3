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
pub fn normalize_function(function: &mut Function) {
    let flow_graph = build_cfg(function);
    function.layout.retain(|&block| flow_graph.is_reachable(block));
    make_reducible(function);
    merge_ends(function);
    split_critical_edges(function);
    merge_loop_edges(function);
    close_loops(function);
}

fn jump_to(block: Block, arguments: Vec<Value>) -> Terminator {
    Terminator::Jump(BlockCall { block, arguments })
}

/// Gives all blocks that end alike one block that does.
fn merge_ends(function: &mut Function) {
    let mut ends: Vec<(Terminator, Vec<Block>)> = Vec::new();
    for &block in &function.layout {
        let terminator = &function.blocks[block].terminator;
        if matches!(terminator, Terminator::Return | Terminator::Exit(_)) {
            match ends.iter_mut().find(|(known_end, _)| known_end == terminator) {
                Some((_, blocks)) => blocks.push(block),
                None => ends.push((terminator.clone(), vec![block])),
            }
        }
    }
    for (known_end, blocks) in ends.into_iter().filter(|(_, blocks)| blocks.len() > 1) {
        let last_block = function.add_block();
        function.blocks[last_block].terminator = known_end;
        for block in blocks {
            function.blocks[block].terminator = jump_to(last_block, Vec::new());
        }
    }
}

/// Puts a block on every edge from a block with several targets to one with several predecessors.
fn split_critical_edges(function: &mut Function) {
    let flow_graph = build_cfg(function);
    for block in function.layout.clone() {
        if flow_graph.successors(block).len() < 2 {
            continue;
        }
        let mut terminator = function.blocks[block].terminator.clone();
        for target in terminator.targets_mut() {
            if flow_graph.predecessors(target.block).len() > 1 {
                let between = function.add_block();
                function.blocks[between].terminator = Terminator::Jump(target.clone());
                *target = BlockCall { block: between, arguments: Vec::new() };
            }
        }
        function.blocks[block].terminator = terminator;
    }
}

/// Gives each loop one latch and one preheader. Without critical edges all predecessors of a header jump.
fn merge_loop_edges(function: &mut Function) {
    let flow_graph = build_cfg(function);
    let loop_forest = find_loops(&flow_graph, &compute_dominators(&flow_graph));
    for (_, loop_data) in loop_forest.iter() {
        let header = loop_data.header;
        let outside: Vec<Block> = flow_graph
            .predecessors(header)
            .iter()
            .copied()
            .filter(|predecessor| !loop_data.latches.contains(predecessor))
            .collect();
        merge_jumps(function, header, &outside);
        merge_jumps(function, header, &loop_data.latches);
    }
}

/// Lets several blocks that jump to a block do so through a new one.
fn merge_jumps(function: &mut Function, target_block: Block, sources: &[Block]) {
    if sources.len() < 2 {
        return;
    }
    let types: Vec<Type> =
        function.blocks[target_block].params.iter().map(|&parameter| function.ty(parameter)).collect();
    let between = function.add_block();
    let parameters = types.into_iter().map(|parameter_type| function.add_param(between, parameter_type)).collect();
    function.blocks[between].terminator = jump_to(target_block, parameters);
    for &block in sources {
        for target in function.blocks[block].terminator.targets_mut() {
            target.block = between;
        }
    }
}

/// Leads values that are used outside of their loop through parameters of the loop's exits.
fn close_loops(function: &mut Function) {
    let flow_graph = build_cfg(function);
    let dominators = compute_dominators(&flow_graph);
    let loop_forest = find_loops(&flow_graph, &dominators);
    let mut home_blocks: SecondaryMap<Value, Option<Block>> = SecondaryMap::new();
    for &block in &function.layout {
        let block_data = &function.blocks[block];
        let results = block_data.insts.iter().flat_map(|&instruction| &function.insts[instruction].results);
        block_data.params.iter().chain(results).for_each(|&value| home_blocks[value] = Some(block));
    }
    let mut block_positions: SecondaryMap<Block, u32> = SecondaryMap::with_capacity(function.blocks.len());
    function.layout.iter().enumerate().for_each(|(index, &block)| block_positions[block] = index as u32);
    let mut users: SecondaryMap<Loop, BTreeSet<(u32, Block)>> = SecondaryMap::new();
    for &block in &function.layout {
        let note_use = |value: Value| {
            for loop_id in loops_left(&loop_forest, home_blocks[value], block) {
                users[loop_id].insert((block_positions[block], block));
            }
        };
        function.for_each_use_in(block, note_use);
    }
    let inner_first: Vec<Loop> = loop_forest.iter().map(|(loop_id, _)| loop_id).rev().collect();
    let mut closing = Closing {
        function,
        graph: flow_graph,
        dominators,
        forest: &loop_forest,
        home: home_blocks,
        place: block_positions,
        users,
        loop_id: Loop::from_u32(0),
        seen: HashMap::new(),
    };
    for loop_id in inner_first {
        closing.loop_id = loop_id;
        closing.seen.clear();
        closing.close_loops();
    }
}

/// The loops that a value leaves on its way from `value_home` to `block`, innermost first.
fn loops_left(loop_forest: &Loops, value_home: Option<Block>, block: Block) -> impl Iterator<Item = Loop> {
    let around = value_home.into_iter().flat_map(|home_block| loop_forest.loops_around(home_block));
    around.take_while(move |&loop_id| !loop_forest.contains(loop_id, block))
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
        let mut worklist = VecDeque::new();
        for (_, block) in std::mem::take(&mut self.users[self.loop_id]) {
            for index in 0..self.function.blocks[block].insts.len() {
                let instruction = self.function.blocks[block].insts[index];
                let mut inst_data = self.function.insts[instruction].data.clone();
                inst_data.map_args(|value| self.outside_value(value, block, &mut worklist));
                self.function.insts[instruction].data = inst_data;
            }
            let mut terminator = self.function.blocks[block].terminator.clone();
            terminator.map_args(|value| self.outside_value(value, block, &mut worklist));
            self.function.blocks[block].terminator = terminator;
        }
        // Merges between the exits and the uses.
        while let Some((value, block)) = worklist.pop_front() {
            for index in 0..self.graph.predecessors(block).len() {
                let predecessor = self.graph.predecessors(block)[index];
                let argument = self.outside_value(value, predecessor, &mut worklist);
                self.pass_argument(predecessor, block, argument);
            }
        }
    }

    /// What stands for a value at the end of a block outside of the loop.
    fn outside_value(&mut self, value: Value, block: Block, worklist: &mut VecDeque<(Value, Block)>) -> Value {
        let Some(home_block) = self.home[value].filter(|&home_block| self.forest.contains(self.loop_id, home_block))
        else {
            return value;
        };
        let mut at_block = block;
        let outside = loop {
            if let Some(&known_value) = self.seen.get(&(value, at_block)) {
                break known_value;
            }
            match self.dominators.immediate_dominator(at_block) {
                // Between a block and its immediate dominator no other definition comes in.
                Some(immediate_dominator)
                    if !self.forest.contains(self.loop_id, immediate_dominator)
                        && self.dominators.dominates(home_block, immediate_dominator) =>
                {
                    at_block = immediate_dominator
                }
                _ => break self.lead_out(value, at_block, worklist),
            }
        };
        // The next question from here shall not go all the way.
        let mut on_the_way = Some(block).filter(|&block| block != at_block);
        while let Some(current_block) = on_the_way {
            self.seen.insert((value, current_block), outside);
            on_the_way = self
                .dominators
                .immediate_dominator(current_block)
                .filter(|&immediate_dominator| immediate_dominator != at_block);
        }
        outside
    }

    /// A block's parameter that brings a value of the loop there.
    fn lead_out(&mut self, value: Value, block: Block, worklist: &mut VecDeque<(Value, Block)>) -> Value {
        let parameter = self.function.add_param(block, self.function.ty(value));
        self.home[parameter] = Some(block);
        self.seen.insert((value, block), parameter);
        match self.graph.predecessors(block) {
            // An exit.
            &[predecessor] => self.pass_argument(predecessor, block, value),
            _ => worklist.push_back((value, block)),
        }
        parameter
    }

    fn pass_argument(&mut self, source: Block, target_block: Block, argument: Value) {
        for loop_id in loops_left(self.forest, self.home[argument], source) {
            self.users[loop_id].insert((self.place[source], source));
        }
        let targets = self.function.blocks[source].terminator.targets_mut();
        targets
            .into_iter()
            .filter(|target| target.block == target_block)
            .for_each(|target| target.arguments.push(argument));
    }
}
