//! Makes every loop uniform: lanes that have left it wait until all have.
//!
//! Requires: a function in normal form; the blocks whose branches are divergent.
//! Ensures: no divergent branch leaves a loop; a uniform loop that no lane may come to has a gate in front of it, or ends at once. There is
//! no switch, and one block in which all ways through the function end. The new divergent branches are
//! in the set, and what only some lanes' edges decide is in [`UniformLoops`].
//! Phases: switches become branches and ends meet in one block; loops with divergent exits, innermost first;
//! then loops that linearization might enter with no lane, outermost first: they get gates ([`loop_gates`]), or, without these, are made
//! uniform as well, and so again are loops with divergent exits where these had several exits. Control flow is analysed once per depth.
//! Source: Moll 2021, section 9.1. Values that are uniform in an iteration stay so, as in Karrenberg & Hack
//! 2012, section 3.3: lanes that wait take part in the loop's induction variables.
//!
//! ```text
//! preheader:  jump head(v…)              preheader:  jump head(v…, true, false…, 0…)
//! head(v…):   …                          head(v…, live, track…, out…):  br any(live), guard, leave
//! exiting:    br c, exit1(x), …    =>    guard:      br live, body, latch(v…, false, track…, out…)
//!                                        body:       …
//!                                        exiting:    br c, latch(v…, false, true…, x…), …
//! latch:      jump head(w…)              old latch:  jump latch(w…, true, track…, out…)
//!                                        latch(p…):  jump head(p…)
//!                                        leave:      br track, exit1(out), …
//! ```
//!
//! A loop with one exit block needs no track, and what is the same on all edges to an exit block and
//! defined before the loop needs no out.

use crate::analysis::block_index::block_index;
use crate::analysis::cfg::build_cfg;
use crate::analysis::loops::{Loop, LoopData};
use crate::analysis::predicates::{ControlFlow, Graph, Lanes};
use crate::ir::*;
use cranelift_entity::packed_option::PackedOption;
use cranelift_entity::{EntitySet, SecondaryMap};
use lockstep_protocol::types::Type;
use std::collections::HashMap;

/// Parameters of new latches whose value counts on one edge only: on the others come lanes that have left
/// the loop, and do not look at it any more.
pub type Tracked = HashMap<Value, Block>;

pub mod loop_gates;

use loop_gates::{LoopGate, add_loop_gate, comes_with_lanes};

/// What keeps a gang out of a uniform loop that it may come to with no lane.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum EmptyEntries {
    /// A question in front of the loop.
    Gates,
    /// A mask in the loop, for which its header asks in each iteration.
    Masks,
}

/// What later passes have to know.
pub struct UniformLoops {
    /// The control flow as it is now.
    pub control_flow: ControlFlow,
    /// Which values count on one edge only.
    pub tracked: Tracked,
    /// Blocks that run for a lane at least, as a branch before them asks.
    pub guarded: EntitySet<Block>,
    /// The questions in front of loops.
    loop_gates: Vec<LoopGate>,
}

/// Makes every loop uniform.
pub fn divergent_loops(
    function: &mut Function,
    divergent: &mut EntitySet<Block>,
    empty_entries: EmptyEntries,
) -> UniformLoops {
    expand_switches(function, divergent);
    let end_block = join_ends(function);
    let mut home_blocks: SecondaryMap<Inst, PackedOption<Block>> = SecondaryMap::with_capacity(function.insts.len());
    for &block in &function.layout {
        function.blocks[block].insts.iter().for_each(|&instruction| home_blocks[instruction] = block.into());
    }
    let control_flow = ControlFlow::analyze_function(function);
    let headers: Vec<(Block, u32)> =
        control_flow.loops.iter().map(|(_, loop_data)| (loop_data.header, loop_data.depth)).collect();
    let guarded = find_gated_blocks(function, &control_flow);
    let mut pass = Pass {
        function,
        divergent,
        end: end_block,
        home: home_blocks,
        tracked: HashMap::new(),
        guarded,
        loop_gates: Vec::new(),
    };
    let control_flow = pass.divergent_exits(control_flow, &headers);
    let control_flow = pass.empty_entries(control_flow, &headers, empty_entries);
    let Pass { tracked, guarded, loop_gates, .. } = pass;
    UniformLoops { control_flow, tracked, guarded, loop_gates }
}

/// The blocks to which a question for an active lane is the only way.
fn find_gated_blocks(function: &Function, control_flow: &ControlFlow) -> EntitySet<Block> {
    let mut gated_blocks = EntitySet::new();
    for &block in control_flow.cfg.reverse_post_order() {
        let Terminator::Branch { condition, then_to, .. } = &function.blocks[block].terminator else { continue };
        let ValueDef::Result(instruction, _) = function.values[*condition].definition else { continue };
        let InstData::Any { condition } = function.insts[instruction].data else { continue };
        if function.const_bits(condition) == Some(1) && control_flow.cfg.predecessors(then_to.block).len() == 1 {
            gated_blocks.insert(then_to.block);
        }
    }
    gated_blocks
}

/// Whether lanes may leave a loop at different times or through different exits, or never. Loops inside are uniform.
fn is_divergent(graph: &Graph<'_>, loop_id: Loop, block_lanes: &mut SecondaryMap<Block, Lanes>) -> bool {
    let exits = &graph.loops.get(loop_id).exits;
    if exits.is_empty() {
        return true;
    }
    graph.lanes_in(loop_id, block_lanes);
    exits.iter().any(|&(source, _)| graph.divergent.contains(source) || block_lanes[source] != Lanes::All)
}

/// Those of the headers, with the depths of their loops, that belong to loops around one of these which has several exits.
fn headers_around(control_flow: &ControlFlow, loops: &[Loop], headers: &[(Block, u32)]) -> Vec<(Block, u32)> {
    let mut outer_loops = EntitySet::new();
    for &loop_id in loops {
        let LoopData { header, exits, .. } = control_flow.loops.get(loop_id);
        if exits.iter().any(|&(_, target)| target != exits[0].1) {
            outer_loops.extend(control_flow.loops.loops_around(*header).filter(|&outer| outer != loop_id));
        }
    }
    let is_around = |&&(header, _): &&(Block, u32)| {
        control_flow.loops.with_header(header).is_some_and(|outer| outer_loops.contains(outer))
    };
    headers.iter().filter(is_around).copied().collect()
}

/// Turns switches into chains of branches. A block of the chain may lie outside of a loop that the switch
/// is in, so values go there as arguments.
fn expand_switches(function: &mut Function, divergent: &mut EntitySet<Block>) {
    for block in function.layout.clone() {
        let Terminator::Switch { mut value, mut cases, mut default } = function.blocks[block].terminator.clone() else {
            continue;
        };
        let is_divergent = divergent.contains(block);
        let mut current_block = block;
        cases.reverse();
        if cases.is_empty() {
            divergent.remove(block);
        }
        while let Some((key, then_to)) = cases.pop() {
            let key = function.constant(function.ty(value), key);
            let condition = Builder::at_end_of(function, current_block).icmp(IntCc::Eq, value, key);
            if is_divergent {
                divergent.insert(current_block);
            }
            if cases.is_empty() {
                function.blocks[current_block].terminator =
                    Terminator::Branch { condition, then_to, else_to: default.clone() };
                break;
            }
            let next_block = function.add_block();
            let mut given = Vec::new();
            let in_cases = cases.iter_mut().flat_map(|(_, target)| &mut target.arguments);
            for operand in [&mut value].into_iter().chain(in_cases).chain(&mut default.arguments) {
                *operand = pass_to_block(function, next_block, &mut given, *operand);
            }
            let else_to = BlockCall { block: next_block, arguments: given };
            function.blocks[current_block].terminator = Terminator::Branch { condition, then_to, else_to };
            current_block = next_block;
        }
        if current_block == block && matches!(function.blocks[block].terminator, Terminator::Switch { .. }) {
            function.blocks[block].terminator = Terminator::Jump(default);
        }
    }
}

/// What a block has a value as that its only edge gives it: a parameter, for which the value is among those given.
fn pass_to_block(function: &mut Function, block: Block, given: &mut Vec<Value>, value: Value) -> Value {
    if function.const_bits(value).is_some() {
        return value;
    }
    let index = given.iter().position(|&other| other == value).unwrap_or(given.len());
    if index == given.len() {
        given.push(value);
        function.add_param(block, function.ty(value));
    }
    function.blocks[block].params[index]
}

/// Lets all ways end in one block. All lanes arrive at the same barrier or none does, so asking one lane
/// which it was is enough.
fn join_ends(function: &mut Function) -> Option<Block> {
    let reachable = build_cfg(function);
    function.layout.retain(|&block| reachable.is_reachable(block));
    let is_end = |function: &Function, other_block: Block| function.blocks[other_block].terminator.targets().is_empty();
    let ends: Vec<Block> =
        function.layout.iter().copied().filter(|&other_block| is_end(function, other_block)).collect();
    let mut kinds: Vec<Terminator> = Vec::new();
    for &end_block in &ends {
        let terminator = &function.blocks[end_block].terminator;
        if *terminator != Terminator::Unreachable && !kinds.contains(terminator) {
            kinds.push(terminator.clone());
        }
    }
    if kinds.is_empty() {
        kinds.push(Terminator::Return);
    }
    match ends[..] {
        [] => return None,
        [end_block] if function.blocks[end_block].terminator == kinds[0] => return Some(end_block),
        _ => {}
    }
    let join_block = function.add_block();
    let end_number = (kinds.len() > 1).then(|| function.add_param(join_block, Type::I32));
    for end_block in ends {
        let kind = kinds.iter().position(|kind| *kind == function.blocks[end_block].terminator).unwrap_or(0);
        let kind = function.constant(Type::I32, kind as u128);
        let arguments = end_number.iter().map(|_| kind).collect();
        function.blocks[end_block].terminator = Terminator::Jump(BlockCall { block: join_block, arguments });
    }
    let mut current_block = join_block;
    for (index, kind) in kinds.iter().enumerate().skip(1) {
        let Some(end_number) = end_number else { break };
        let number = function.constant(Type::I32, index as u128);
        let (end_block, next_block) = (function.add_block(), function.add_block());
        function.blocks[end_block].terminator = kind.clone();
        let mut builder = Builder::at_end_of(function, current_block);
        let is_this_end = builder.icmp(IntCc::Eq, end_number, number);
        let condition = builder.any(is_this_end);
        builder.branch(condition, (end_block, &[]), (next_block, &[]));
        current_block = next_block;
    }
    function.blocks[current_block].terminator = kinds.swap_remove(0);
    Some(join_block)
}

struct Pass<'a> {
    function: &'a mut Function,
    divergent: &'a mut EntitySet<Block>,
    /// Where all ways end, if one does.
    end: Option<Block>,
    /// The blocks of the instructions that values come from.
    home: SecondaryMap<Inst, PackedOption<Block>>,
    tracked: Tracked,
    /// Blocks that run for a lane at least, as a branch before them asks.
    guarded: EntitySet<Block>,
    loop_gates: Vec<LoopGate>,
}

/// A block behind the loop, and what it is given.
struct Exit {
    block: Block,
    /// The header's parameter that is true for the lanes that left to here; none for the last exit.
    track: Option<usize>,
    /// Per parameter: the same value on all edges, or the index of the header's parameter that keeps it.
    args: Vec<Result<Value, usize>>,
}

impl Pass<'_> {
    /// Makes loops with divergent exits uniform, inner ones first. Loops of one depth do not lie in each other, so what is
    /// known of the others stays true while one of them is changed.
    fn divergent_exits(&mut self, mut control_flow: ControlFlow, headers: &[(Block, u32)]) -> ControlFlow {
        let mut block_lanes = SecondaryMap::new();
        let deepest = headers.iter().map(|&(_, depth)| depth).max().unwrap_or(0);
        for depth in (1..=deepest).rev() {
            let graph = control_flow.with_divergent(self.divergent);
            let at_depth = headers.iter().rev().filter(|&&(_, loop_depth)| loop_depth == depth);
            let divergent_loops = at_depth.filter_map(|&(header, _)| control_flow.loops.with_header(header));
            let divergent_loops: Vec<Loop> =
                divergent_loops.filter(|&loop_id| is_divergent(&graph, loop_id, &mut block_lanes)).collect();
            control_flow = self.make_all_uniform(control_flow, &divergent_loops);
        }
        control_flow
    }

    /// Keeps gangs with no lane out of the loops that linearized code might enter so, outer ones first: they guard what is in them.
    fn empty_entries(
        &mut self,
        mut control_flow: ControlFlow,
        headers: &[(Block, u32)],
        empty_entries: EmptyEntries,
    ) -> ControlFlow {
        loop {
            let entered_empty = self.find_empty_entries(&control_flow, headers);
            if entered_empty.is_empty() {
                return control_flow;
            }
            if empty_entries == EmptyEntries::Gates && self.gate_all(&control_flow, &entered_empty) {
                control_flow = ControlFlow::analyze_function(self.function);
                continue;
            }
            // Which exit a lane took is asked after the loop: that may be a divergent exit of a loop around it.
            let around = headers_around(&control_flow, &entered_empty, headers);
            control_flow = self.make_all_uniform(control_flow, &entered_empty);
            control_flow = self.divergent_exits(control_flow, &around);
        }
    }

    /// The outermost loops that linearized code might enter with no lane.
    fn find_empty_entries(&self, control_flow: &ControlFlow, headers: &[(Block, u32)]) -> Vec<Loop> {
        let graph = control_flow.with_divergent(self.divergent);
        let block_lanes = graph.lanes_of_blocks();
        let (mut entered_empty, mut chosen) = (Vec::new(), EntitySet::new());
        for loop_id in headers.iter().filter_map(|&(header, _)| control_flow.loops.with_header(header)) {
            let header = control_flow.loops.get(loop_id).header;
            let inside = control_flow.loops.loops_around(header).any(|outer| chosen.contains(outer));
            if !inside && !comes_with_lanes(&graph, &block_lanes, &self.guarded, header) {
                chosen.insert(loop_id);
                entered_empty.push(loop_id);
            }
        }
        entered_empty
    }

    /// Puts gates in front of loops none of which lies in another one; whether they got any.
    fn gate_all(&mut self, control_flow: &ControlFlow, loops: &[Loop]) -> bool {
        let gates: Vec<LoopGate> =
            loops.iter().filter_map(|&loop_id| add_loop_gate(self.function, control_flow, loop_id)).collect();
        let has_gates = !gates.is_empty();
        self.guarded.extend(gates.iter().map(|gate| gate.entry));
        self.loop_gates.extend(gates);
        has_gates
    }

    /// Makes loops uniform none of which lies in another one.
    fn make_all_uniform(&mut self, control_flow: ControlFlow, loops: &[Loop]) -> ControlFlow {
        if loops.is_empty() {
            return control_flow;
        }
        let mut block_positions: SecondaryMap<Block, u32> = SecondaryMap::with_capacity(control_flow.cfg.block_count());
        let block_order = block_index(&control_flow.cfg, &control_flow.dominators, &control_flow.loops);
        block_order.into_iter().enumerate().for_each(|(index, block)| block_positions[block] = index as u32);
        loops.iter().for_each(|&loop_id| self.make_uniform(&control_flow, &block_positions, loop_id));
        ControlFlow::analyze_function(self.function)
    }

    fn make_uniform(&mut self, control_flow: &ControlFlow, block_positions: &SecondaryMap<Block, u32>, loop_id: Loop) {
        let loop_data = control_flow.loops.get(loop_id);
        let old_header = loop_data.header;
        let inside = |block: Block| control_flow.loops.contains(loop_id, block);
        let function = &mut *self.function;
        let [header, guard, latch, leave_block] = [(); 4].map(|()| function.add_block());

        // The header takes the old one's parameters, which keep their names, and new ones.
        let parameters = std::mem::take(&mut function.blocks[old_header].params);
        for (index, &parameter) in parameters.iter().enumerate() {
            function.values[parameter].definition = ValueDef::Param(header, index as u32);
        }
        let carried = parameters.len();
        function.blocks[header].params = parameters;
        let live_mask = function.add_param(header, Type::BOOL);
        let invariant = |function: &Function, operand: Value| match function.values[operand].definition {
            ValueDef::Const(_) => true,
            ValueDef::Param(home_block, _) => home_block != header && !inside(home_block),
            ValueDef::Result(instruction, _) => {
                self.home[instruction].expand().is_none_or(|home_block| !inside(home_block))
            }
        };
        let exits = collect_exits(function, loop_data, block_positions, header, &invariant);
        let header_params: Vec<Value> = function.blocks[header].params.clone();
        let latch_params: Vec<Value> =
            header_params.iter().map(|&operand| function.add_param(latch, function.ty(operand))).collect();
        let [if_true, if_false] = [1, 0].map(|bit| function.constant(Type::BOOL, bit));

        // Lanes that leave, and those that wait, go to the new latch.
        let mut ends: Vec<Block> =
            loop_data.exits.iter().map(|&(source, _)| source).chain(loop_data.latches.iter().copied()).collect();
        ends.dedup();
        for block in ends {
            let mut terminator = std::mem::replace(&mut function.blocks[block].terminator, Terminator::Unreachable);
            for target in terminator.targets_mut() {
                let mut arguments = header_params.clone();
                if target.block == old_header {
                    arguments[..carried].clone_from_slice(&target.arguments);
                    arguments[carried] = if_true;
                    latch_params[..carried].iter().for_each(|&operand| {
                        self.tracked.insert(operand, block);
                    });
                } else if let Some(exit) = exits.iter().find(|exit| exit.block == target.block) {
                    arguments[carried] = if_false;
                    exit.track.iter().for_each(|&index| arguments[index] = if_true);
                    for (kept, &value) in exit.args.iter().zip(&target.arguments) {
                        if let Err(index) = *kept {
                            arguments[index] = value;
                        }
                    }
                } else {
                    continue;
                }
                *target = BlockCall { block: latch, arguments };
            }
            function.blocks[block].terminator = terminator;
        }
        let mut waiting = header_params.clone();
        waiting[carried] = if_false;
        function.blocks[latch].terminator = Terminator::Jump(BlockCall { block: header, arguments: latch_params });

        // The ways in.
        let outside: Vec<Block> = control_flow
            .cfg
            .predecessors(old_header)
            .iter()
            .copied()
            .filter(|&predecessor| !inside(predecessor))
            .collect();
        let zeros: Vec<Value> = header_params[carried + 1..]
            .iter()
            .map(|&operand| function.ty(operand))
            .collect::<Vec<_>>()
            .into_iter()
            .map(|value_type| function.constant(value_type, 0))
            .collect();
        for block in outside {
            for target in function.blocks[block].terminator.targets_mut() {
                if target.block == old_header {
                    target.block = header;
                    target.arguments.push(if_true);
                    target.arguments.extend(&zeros);
                }
            }
        }
        let mut builder = Builder::at_end_of(function, header);
        let any_lane = builder.any(live_mask);
        builder.branch(any_lane, (guard, &[]), (leave_block, &[]));
        builder.switch_to(guard);
        builder.branch(live_mask, (old_header, &[]), (latch, &waiting));
        self.divergent.insert(guard);
        self.guarded.insert(old_header);
        self.dispatch_exits(leave_block, &header_params, &exits);
    }

    /// Sends each lane on to the exit through which it left.
    fn dispatch_exits(&mut self, leave_block: Block, header_params: &[Value], exits: &[Exit]) {
        let mut current_block = leave_block;
        if exits.is_empty() {
            // No lane comes here that wants to go on, but linearized code has to.
            self.function.blocks[current_block].terminator = self.jump_to_end();
            self.end.get_or_insert(current_block);
        }
        // A block behind a question may lie outside of a loop around this one, so values go there as
        // arguments.
        let mut current_values: HashMap<Value, Value> = HashMap::new();
        let values_of = |exit: &Exit| -> Vec<Value> {
            exit.args.iter().map(|&argument| argument.unwrap_or_else(|index| header_params[index])).collect()
        };
        for (n, exit) in exits.iter().enumerate() {
            let current_value = |operand: Value| current_values.get(&operand).copied().unwrap_or(operand);
            let arguments: Vec<Value> = values_of(exit).into_iter().map(current_value).collect();
            let Some(track) = exit.track else {
                Builder::at_end_of(self.function, current_block).jump(exit.block, &arguments);
                continue;
            };
            let next_block = self.function.add_block();
            let mut later = Vec::new();
            for exit in &exits[n + 1..] {
                for value in exit.track.map(|index| header_params[index]).into_iter().chain(values_of(exit)) {
                    if self.function.const_bits(value).is_none() && !later.contains(&value) {
                        later.push(value);
                    }
                }
            }
            let given: Vec<Value> = later.iter().map(|&operand| current_value(operand)).collect();
            Builder::at_end_of(self.function, current_block).branch(
                current_value(header_params[track]),
                (exit.block, &arguments),
                (next_block, &given),
            );
            self.divergent.insert(current_block);
            current_values = later
                .into_iter()
                .map(|operand| (operand, self.function.add_param(next_block, self.function.ty(operand))))
                .collect();
            current_block = next_block;
        }
    }

    /// A jump to the block where all ways end; a new end where no way ended.
    fn jump_to_end(&mut self) -> Terminator {
        let Some(end_block) = self.end else { return Terminator::Return };
        let parameters = self.function.blocks[end_block].params.clone();
        let arguments =
            parameters.into_iter().map(|value| self.function.constant(self.function.ty(value), 0)).collect();
        Terminator::Jump(BlockCall { block: end_block, arguments })
    }
}

/// The exit blocks of a loop in the order of the function, with new parameters of the header.
fn collect_exits(
    function: &mut Function,
    loop_data: &LoopData,
    block_positions: &SecondaryMap<Block, u32>,
    header: Block,
    invariant: &dyn Fn(&Function, Value) -> bool,
) -> Vec<Exit> {
    // Each edge with what it gives the exit block.
    let mut edges: Vec<(u32, Block, Vec<Value>)> = Vec::new();
    let mut before = None;
    for &(source, target) in &loop_data.exits {
        if before.replace((source, target)) != Some((source, target)) {
            let calls = function.blocks[source].terminator.targets().into_iter().filter(|call| call.block == target);
            edges.extend(calls.map(|call| (block_positions[target], target, call.arguments.clone())));
        }
    }
    edges.sort_by_key(|&(position, ..)| position);
    let add_param = |function: &mut Function, parameter_type: Type| {
        function.add_param(header, parameter_type);
        function.blocks[header].params.len() - 1
    };
    let mut blocks = edges.chunk_by(|(_, exit_block, _), (_, other_block, _)| exit_block == other_block).peekable();
    let mut exits = Vec::new();
    while let Some(given) = blocks.next() {
        let (_, block, ref first) = given[0];
        let track = blocks.peek().is_some().then(|| add_param(function, Type::BOOL));
        let mut arguments = Vec::new();
        for (index, &value) in first.iter().enumerate() {
            let is_same = given.iter().all(|(.., arguments)| arguments[index] == value) && invariant(function, value);
            arguments.push(if is_same { Ok(value) } else { Err(add_param(function, function.ty(value))) });
        }
        exits.push(Exit { block, track, args: arguments });
    }
    exits
}

#[cfg(test)]
mod tests;
