//! Loops that few lanes of a gang enter, or in which few are left, are run for one lane after the other.
//!
//! Requires: a function in normal form, what diverges in it, and a divergent loop: one that not all lanes enter, or one in which few lanes
//! were at work when it was counted (`transform/count_iterations.rs`).
//! Ensures: normal form, with questions to all lanes (`Stage::Versioned`). Where at most so many lanes come to the loop
//! as cost less alone than the gang does, a copy of it is run once for each: all that it computes is uniform. Where even
//! all lanes would, the loop itself is gone. Where lanes were counted, it is asked before each iteration how many are left, and
//! the last ones run the rest of the loop alone. Each work-item does what it did, in an order that lanes of a gang have among
//! each other no more than work-items do.
//! Phases: whether the copy does what a lane may do for itself; what it costs; gate, count and copy; normal form.
//! Source: none; the inverse of the all-true copies of Moll 2021, section 9.2, for what Bulavintsev 2019 measures: inner
//! loops for which few work-items have work.
//!
//! ```text
//! pre:  jump head(v…)         pre:   br any(true), ask, past
//! head(i…): …           =>    ask:   bits = ballot true;  br popcount(bits) <= most, turn(bits, 0…), own
//!       … exit(x…)            own:   jump head(v…)                 as before, and on to exit
//!                             turn(bits, out…):  lane = ctz bits;  jump head'(v… of lane)
//!                             head'(i…): …                         on to done(x…)
//!                             done(x…):  put x… into out… at lane;  the next bit, or on to exit(out…)
//!                             past:  jump exit(0…)                 nobody comes here
//! ```
//!
//! Where the last ones are to run alone, the question takes the header's place:
//!
//! ```text
//! pre:  jump head(v…)         pre:   jump ask(v…)
//! head(i…): …           =>    ask(a…):  br popcount(ballot true) <= most, few, head(a…)
//! latch:  jump head(w…)       head(i…): …                          as before;  latch:  jump ask(w…)
//!                             few:   br any(true), first, past
//!                             first:  bits = ballot true;  jump turn(bits, 0…)
//!                             turn(bits, out…):  lane = ctz bits;  jump head'(a… of lane)
//! ```

use crate::analysis::cfg::Cfg;
use crate::analysis::cost;
use crate::analysis::critical_path;
use crate::analysis::divergence::Divergence;
use crate::analysis::loops::{Loop, Loops};
use crate::analysis::recurrence;
use crate::analysis::shape::Shape;
use crate::ir::*;
use crate::transform::copy::{Copies, copy_blocks};
use crate::transform::normalize::normalize_function;
use crate::transform::unmasked_loops::Known;
use cranelift_entity::SecondaryMap;
use lockstep_protocol::loop_profile::LoopCounts;
use lockstep_protocol::types::{Space, Type};
use std::fmt;

/// The instructions that a loop may have, inner loops included.
const MOST: usize = 200;

/// What it costs to take a value out of its lane.
const VALUE: u64 = 3;

/// When lanes are to run a loop alone.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Turns {
    /// Where as few enter it as cost less alone than the gang does.
    Expected,
    /// Where one enters it alone, whatever that costs.
    Always,
    /// Where few are left in it, if few were at work when it was counted.
    Counted(LoopCounts),
}

/// Ways through a loop that have to be counted before it is changed for them.
const FEWEST_ENTRIES: u64 = 8;

/// In a loop in which this part of a gang's lanes is at work, or less, it is asked how many are left: that takes a tenth of a short
/// iteration.
const FEW_AT_WORK: u128 = 4;

/// The same of the lanes that come to a loop: where most of them stay to the end, it is enough to ask when they come.
const FEW_OF_ENTERED: u128 = 2;

/// Why no lane runs a loop alone.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Refusal {
    /// All lanes enter it.
    AllLanes,
    /// It is left to more than one block, or to none, or entered by a branch.
    Exits,
    /// It has so many instructions.
    Size(usize),
    /// It has an instruction that is not for one lane.
    Instruction(Inst),
    /// The gang is cheaper than a single lane.
    Cost,
    /// Many lanes were at work when it was counted.
    AtWork,
}

impl fmt::Display for Refusal {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Refusal::AllLanes => formatter.write_str("all lanes enter it together"),
            Refusal::Exits => formatter.write_str("it is left to several blocks"),
            Refusal::Size(insts) => write!(formatter, "it has {insts} instructions"),
            Refusal::Instruction(_) => formatter.write_str("it does what is not for one lane"),
            Refusal::Cost => formatter.write_str("the gang costs no more than one lane"),
            Refusal::AtWork => formatter.write_str("many lanes were at work in it"),
        }
    }
}

/// How lanes get their turns.
pub struct Plan {
    preheader: Block,
    /// The loop's blocks, each behind those that dominate it.
    blocks: Vec<Block>,
    exit: Block,
    /// What lanes hold of their own and the loop uses.
    varying: Vec<Value>,
    /// Up to so many lanes run alone.
    most: u64,
    /// Whether that may be all of the gang.
    all: bool,
    /// Whether lanes are asked before each iteration, and not before the first one alone.
    asks_each_time: bool,
}

impl fmt::Display for Plan {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Plan { all: true, .. } => formatter.write_str("every lane of those who enter it"),
            Plan { asks_each_time: true, most: 1, .. } => formatter.write_str("the last one in it"),
            Plan { asks_each_time: true, most, .. } => write!(formatter, "the last {most} in it"),
            Plan { most, .. } => write!(formatter, "up to {most} of those who enter it"),
        }
    }
}

/// The blocks around a loop.
pub struct Ends {
    /// The block before it.
    pub preheader: Block,
    /// The only block behind it.
    pub exit: Block,
}

/// Whether a lane can run a loop alone: what it does is for one lane, and it leads to one block.
pub fn check_for_one_lane(
    function: &Function,
    flow_graph: &Cfg,
    loop_forest: &Loops,
    divergence: &Divergence,
    loop_id: Loop,
) -> Result<Ends, Refusal> {
    let loop_data = loop_forest.get(loop_id);
    let outside = |predecessor: &&Block| !loop_forest.contains(loop_id, **predecessor);
    let &preheader = flow_graph.predecessors(loop_data.header).iter().find(outside).ok_or(Refusal::AllLanes)?;
    let &(_, exit) = loop_data.exits.first().ok_or(Refusal::Exits)?;
    if loop_data.exits.iter().any(|&(_, target)| target != exit)
        || !matches!(function.blocks[preheader].terminator, Terminator::Jump(_))
    {
        return Err(Refusal::Exits);
    }
    let loop_size = loop_data.blocks.iter().map(|&block| function.blocks[block].insts.len() + 1).sum();
    if loop_size > MOST {
        return Err(Refusal::Size(loop_size));
    }
    let mut instructions = loop_data.blocks.iter().flat_map(|&block| &function.blocks[block].insts).copied();
    match instructions.find(|&instruction| !is_for_one_lane(function, divergence, instruction)) {
        Some(instruction) => Err(Refusal::Instruction(instruction)),
        None => Ok(Ends { preheader, exit }),
    }
}

/// Finds out whether lanes run a divergent loop alone, and how many may.
pub fn plan_turns(
    function: &Function,
    function_facts: Known<'_>,
    loop_id: Loop,
    turns: Turns,
) -> Result<Plan, Refusal> {
    match turns {
        Turns::Counted(counts) if !are_few_left(counts, function_facts.registers.width) => {
            return Err(Refusal::AtWork);
        }
        Turns::Expected | Turns::Always if function_facts.is_entered_by_all(loop_id) => return Err(Refusal::AllLanes),
        _ => {}
    }
    let Known { cfg, forest, found, registers, .. } = function_facts;
    let Ends { preheader, exit: exit_block } = check_for_one_lane(function, cfg, forest, found, loop_id)?;
    let loop_data = forest.get(loop_id);
    let shapes = &found.shapes;
    let instructions = || loop_data.blocks.iter().flat_map(|&block| &function.blocks[block].insts).copied();
    let is_inside = |value: Value| match function.values[value].definition {
        ValueDef::Const(_) => None,
        ValueDef::Param(block, _) => Some(forest.contains(loop_id, block)),
        ValueDef::Result(instruction, _) => Some(instructions().any(|inside| inside == instruction)),
    };
    let mut varying: Vec<Value> = Vec::new();
    let mut note_use = |value: Value| {
        if !shapes[value].is_uniform() && !varying.contains(&value) && is_inside(value) == Some(false) {
            varying.push(value);
        }
    };
    instructions().for_each(|instruction| function.insts[instruction].data.for_each_arg(&mut note_use));
    loop_data.blocks.iter().for_each(|&block| function.blocks[block].terminator.for_each_arg(&mut note_use));
    function.blocks[preheader].terminator.for_each_arg(&mut note_use);

    let header = loop_data.header;
    let gang_cost = |once: Block, blocks: &[Block]| {
        let cost = function_facts
            .cost_of(function, once, blocks)
            .saturating_add(function_facts.masks_of(function, once, blocks));
        cost::waiting_in(function, forest, loop_id, found, cost)
    };
    let lane_cost = |once: Block, blocks: &[Block]| {
        function_facts.sum_of(once, blocks, |block| scalar_block_cost(function, block, shapes))
    };
    // Rounds that wait for the one before take as long for a lane as for some registers, and so do the long chains of one
    // round, of which a processor sees only a part at once.
    let (mut alone, mut together) = (lane_cost(header, &loop_data.blocks), gang_cost(header, &loop_data.blocks));
    let inner = forest.iter().filter(|(other_loop, inner)| {
        forest.contains(loop_id, inner.header) && recurrence::is_innermost(forest, *other_loop)
    });
    for (other_loop, inner) in inner {
        let rounds = cost::estimate_frequency(forest, inner.header) / cost::estimate_frequency(forest, header).max(1);
        let always: Vec<Block> = match inner.latches.last() {
            Some(&latch) => inner
                .blocks
                .iter()
                .copied()
                .filter(|&block| function_facts.dominators.dominates(block, latch))
                .collect(),
            None => Vec::new(),
        };
        let waits = |shapes, cost: u64, operations: u64| {
            let chain = recurrence::CYCLE * recurrence::recurrence_cycles(function, forest, other_loop, shapes);
            let round = chain.max(critical_path::least_chain_cost(function, &always, shapes, operations));
            rounds.saturating_mul(round.saturating_sub(cost))
        };
        let (inner_alone, inner_together) =
            (lane_cost(inner.header, &inner.blocks), gang_cost(inner.header, &inner.blocks));
        alone = alone.saturating_add(waits(None, inner_alone, lane_cost(inner.header, &always)));
        let operations = function_facts.cost_of(function, inner.header, &always) / cost::VECTOR;
        together = together.saturating_add(waits(Some(shapes), inner_together, operations));
    }
    let values = varying.len() + function.blocks[exit_block].params.len();
    let turn = cost::ROUNDS.saturating_mul(alone).saturating_add(cost::TURN + VALUE * values as u64);
    let maximum = cost::ROUNDS.saturating_mul(together) / turn.max(1);
    let takes_all = maximum >= u64::from(registers.width);
    let asks_each_time = matches!(turns, Turns::Counted(_)) && !takes_all;
    let maximum = match turns {
        Turns::Expected => maximum,
        Turns::Always => maximum.max(1),
        // The gang of long iterations is cheaper than expected, but no cheaper than one lane.
        Turns::Counted(_) => (maximum / 2).max(1),
    };
    if maximum == 0 {
        return Err(Refusal::Cost);
    }
    Ok(Plan {
        preheader,
        blocks: loop_data.blocks.clone(),
        exit: exit_block,
        varying,
        most: maximum,
        all: takes_all,
        asks_each_time,
    })
}

/// Whether the lanes that were at work in an iteration of a gang, on average, are a small part of it, and of those that came to the loop.
fn are_few_left(counts: LoopCounts, gang_width: u32) -> bool {
    let LoopCounts { entries, .. } = counts;
    let [lane_entries, gang_iterations, lane_iterations] =
        [counts.lane_entries, counts.gang_iterations, counts.lane_iterations].map(u128::from);
    entries >= FEWEST_ENTRIES
        && FEW_AT_WORK * lane_iterations <= u128::from(gang_width) * gang_iterations
        && FEW_OF_ENTERED * lane_iterations * u128::from(entries) <= lane_entries * gang_iterations
}

/// Whether an instruction does for all lanes, given one lane's operands, what that lane alone would do. Stores store the
/// same more than once at most. What a lane has of its own, its place and its private memory, is not the others'.
fn is_for_one_lane(function: &Function, divergence: &Divergence, instruction: Inst) -> bool {
    let shared =
        |pointer: Value| matches!(function.ty(pointer), Type::Ptr(Space::Global | Space::Constant | Space::Local));
    match &function.insts[instruction].data {
        InstData::Load { pointer, access, .. } | InstData::Store { pointer, access, .. } => {
            shared(*pointer) && !access.volatile && access.atomic.is_none()
        }
        InstData::Query { .. } => divergence.shapes[function.insts[instruction].results[0]].is_uniform(),
        InstData::SlotAddr { .. } | InstData::LiveLoad { .. } => false,
        // A lane's turn leaves it out.
        InstData::CountIterations { .. } => true,
        inst_data => !inst_data.has_effect() && !inst_data.needs_lanes(),
    }
}

impl Plan {
    /// Whether lanes run the loop alone however many come.
    pub fn is_for_all(&self) -> bool {
        self.all
    }

    /// Makes the copy; the answer is the header of the loop over the lanes.
    pub fn make_turns(&self, function: &mut Function) -> Block {
        let Terminator::Jump(entry_edge) = function.blocks[self.preheader].terminator.clone() else {
            return self.preheader;
        };
        let types: Vec<Type> =
            function.blocks[self.exit].params.iter().map(|&parameter| function.ty(parameter)).collect();
        let zeros: Vec<Value> = types.iter().map(|&value_type| function.constant(value_type, 0)).collect();
        let no_lanes = function.constant(Type::I64, 0);
        let [turn_block, done_block, next_block, leave_block, join_block] = [(); 5].map(|()| function.add_block());

        // Behind the loop, the gang and the turns meet.
        let results: Vec<Value> = types.iter().map(|&value_type| function.add_param(join_block, value_type)).collect();
        function.blocks[join_block].terminator = Terminator::Jump(BlockCall { block: self.exit, arguments: results });
        redirect_edges(function, &self.blocks, self.exit, join_block);

        // What the lanes hold as they come to the header.
        let (entered, header) = if self.asks_each_time {
            self.ask_each_time(function, turn_block, &zeros)
        } else {
            self.ask_once(function, &entry_edge, turn_block, &zeros);
            (entry_edge.arguments, entry_edge.block)
        };

        let lane_bits = function.add_param(turn_block, Type::I64);
        let outputs: Vec<Value> = types.iter().map(|&value_type| function.add_param(turn_block, value_type)).collect();
        let mut builder = Builder::at_end_of(function, turn_block);
        let lane = builder.unary(UnaryOp::Ctz, Type::I64, lane_bits);
        let mut of_lane = Copies::default();
        let held_by_header = if self.asks_each_time { &entered[..] } else { &[] };
        for &value in self.varying.iter().chain(held_by_header) {
            let lane_value = builder.lane_of(value, lane);
            of_lane.map_value(value, lane_value);
        }
        let copies = copy_blocks(function, &self.blocks, &of_lane);
        for &block in &self.blocks {
            let Function { blocks, insts, .. } = &mut *function;
            let counts = |instruction: Inst| matches!(insts[instruction].data, InstData::CountIterations { .. });
            blocks[copies.block_copy(block)].insts.retain(|&instruction| !counts(instruction));
        }
        let copied_blocks: Vec<Block> = self.blocks.iter().map(|&block| copies.block_copy(block)).collect();
        let header_copy = copies.block_copy(self.blocks[0]);
        let arguments: Vec<Value> = entered.iter().map(|&value| of_lane.value_copy(value)).collect();
        Builder::at_end_of(function, turn_block).jump(header_copy, &arguments);
        redirect_edges(function, &copied_blocks, join_block, done_block);
        redirect_edges(function, &copied_blocks, header, header_copy);

        let results: Vec<Value> = types.iter().map(|&value_type| function.add_param(done_block, value_type)).collect();
        let mut builder = Builder::at_end_of(function, done_block);
        let outputs: Vec<Value> =
            outputs.iter().zip(results).map(|(&output, result)| builder.insert_lane(output, lane, result)).collect();
        let minus_one = builder.int(Type::I64, -1);
        let but_one = builder.binary(BinaryOp::Add, lane_bits, minus_one);
        let others = builder.binary(BinaryOp::And, lane_bits, but_one);
        let has_more = builder.icmp(IntCc::Ne, others, no_lanes);
        builder.branch(has_more, (next_block, &[]), (leave_block, &[]));
        builder.switch_to(next_block);
        let next_turn: Vec<Value> = [others].into_iter().chain(outputs.iter().copied()).collect();
        builder.jump(turn_block, &next_turn);
        builder.switch_to(leave_block);
        builder.jump(self.exit, &outputs);
        normalize_function(function);
        turn_block
    }

    /// Asks before the loop how many lanes enter it.
    fn ask_once(&self, function: &mut Function, entry_edge: &BlockCall, turn_block: Block, zeros: &[Value]) {
        let gang_block = function.add_block();
        let if_any = self.ask_for_lanes(function, self.preheader, zeros);
        let mut builder = Builder::at_end_of(function, if_any.block);
        if self.all {
            builder.jump(turn_block, &if_any.arguments);
        } else {
            let lane_count = builder.unary(UnaryOp::Popcount, Type::I64, if_any.arguments[0]);
            let most = builder.int(Type::I64, self.most.into());
            let are_few = builder.icmp(IntCc::Ule, lane_count, most);
            builder.branch(are_few, (turn_block, &if_any.arguments), (gang_block, &[]));
        }
        builder.switch_to(gang_block);
        builder.jump(entry_edge.block, &entry_edge.arguments);
    }

    /// Asks before each iteration how many lanes are left; the answer is what they hold for the header, and the block of the question,
    /// which is the loop's header from now on.
    fn ask_each_time(&self, function: &mut Function, turn_block: Block, zeros: &[Value]) -> (Vec<Value>, Block) {
        let header = self.blocks[0];
        let [question, few_block] = [(); 2].map(|()| function.add_block());
        let types: Vec<Type> = function.blocks[header].params.iter().map(|&parameter| function.ty(parameter)).collect();
        let held: Vec<Value> = types.iter().map(|&value_type| function.add_param(question, value_type)).collect();
        redirect_edges(function, &self.blocks, header, question);
        redirect_edges(function, &[self.preheader], header, question);
        let if_true = function.constant(Type::BOOL, 1);
        let mut builder = Builder::at_end_of(function, question);
        let lane_bits = builder.ballot(if_true);
        let lane_count = builder.unary(UnaryOp::Popcount, Type::I64, lane_bits);
        let most = builder.int(Type::I64, self.most.into());
        let are_few = builder.icmp(IntCc::Ule, lane_count, most);
        builder.branch(are_few, (few_block, &[]), (header, &held));
        // Lanes that left before are not among those that come here.
        let if_any = self.ask_for_lanes(function, few_block, zeros);
        Builder::at_end_of(function, if_any.block).jump(turn_block, &if_any.arguments);
        (held, question)
    }

    /// Goes past the turns from a block's end where no lane comes; the answer is the block where one does, and what the first turn is
    /// given: the lanes' bits and no results.
    fn ask_for_lanes(&self, function: &mut Function, block: Block, zeros: &[Value]) -> BlockCall {
        let [some_block, past_block] = [(); 2].map(|()| function.add_block());
        let if_true = function.constant(Type::BOOL, 1);
        let mut builder = Builder::at_end_of(function, block);
        let any_lane = builder.any(if_true);
        builder.branch(any_lane, (some_block, &[]), (past_block, &[]));
        builder.switch_to(past_block);
        builder.jump(self.exit, zeros);
        builder.switch_to(some_block);
        let lane_bits = builder.ballot(if_true);
        BlockCall { block: some_block, arguments: [lane_bits].into_iter().chain(zeros.iter().copied()).collect() }
    }
}

/// Has edges from blocks to one target lead to another one.
fn redirect_edges(function: &mut Function, blocks: &[Block], from_target: Block, to_target: Block) {
    for &block in blocks {
        let targets = function.blocks[block].terminator.targets_mut();
        targets.into_iter().filter(|target| target.block == from_target).for_each(|target| target.block = to_target);
    }
}

/// What a block costs one lane, once.
fn scalar_block_cost(function: &Function, block: Block, shapes: &SecondaryMap<Value, Shape>) -> u64 {
    let branch = u64::from(function.blocks[block].terminator.selector().is_some());
    let instructions = function.blocks[block].insts.iter();
    instructions.map(|&instruction| cost::scalar_cost(function, instruction, shapes)).sum::<u64>() + branch
}
