//! Loops that few lanes of a gang enter are run for one lane after the other.
//!
//! Requires: a function in normal form, what diverges in it, and a divergent loop that not all lanes enter.
//! Ensures: normal form, with questions to all lanes (`Stage::Versioned`). Where at most so many lanes come to the loop
//! as cost less alone than the gang does, a copy of it is run once for each: all that it computes is uniform. Where even
//! all lanes would, the loop itself is gone. Each work-item does what it did, in an order that lanes of a gang have among
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

use crate::analysis::cost;
use crate::analysis::critical_path;
use crate::analysis::loops::Loop;
use crate::analysis::recurrence;
use crate::analysis::shape::Shape;
use crate::ir::*;
use crate::transform::copy::{Copies, copy_blocks};
use crate::transform::normalize::normalize_function;
use crate::transform::unmasked_loops::Known;
use cranelift_entity::SecondaryMap;
use lockstep_protocol::types::{Space, Type};
use std::fmt;

/// The instructions that a loop may have, inner loops included.
const MOST: usize = 200;

/// What it costs to take a value out of its lane.
const VALUE: u64 = 3;

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
}

impl fmt::Display for Refusal {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Refusal::AllLanes => formatter.write_str("all lanes enter it together"),
            Refusal::Exits => formatter.write_str("it is left to several blocks"),
            Refusal::Size(insts) => write!(formatter, "it has {insts} instructions"),
            Refusal::Instruction(_) => formatter.write_str("it does what is not for one lane"),
            Refusal::Cost => formatter.write_str("the gang costs no more than one lane"),
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
}

impl fmt::Display for Plan {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.all { formatter.write_str("every lane") } else { write!(formatter, "up to {}", self.most) }
    }
}

/// Finds out whether lanes run a divergent loop alone, and how many may; at least one if `always`.
pub fn plan_turns(
    function: &Function,
    function_facts: Known<'_>,
    loop_id: Loop,
    always: bool,
) -> Result<Plan, Refusal> {
    if function_facts.is_entered_by_all(loop_id) {
        return Err(Refusal::AllLanes);
    }
    let Known { cfg, forest, found, registers, .. } = function_facts;
    let loop_data = forest.get(loop_id);
    let outside = |predecessor: &&Block| !forest.contains(loop_id, **predecessor);
    let preheader = cfg.predecessors(loop_data.header).iter().find(outside).ok_or(Refusal::AllLanes)?;
    let &(_, exit_block) = loop_data.exits.first().ok_or(Refusal::Exits)?;
    if loop_data.exits.iter().any(|&(_, target)| target != exit_block)
        || !matches!(function.blocks[*preheader].terminator, Terminator::Jump(_))
    {
        return Err(Refusal::Exits);
    }
    let loop_size = loop_data.blocks.iter().map(|&block| function.blocks[block].insts.len() + 1).sum();
    if loop_size > MOST {
        return Err(Refusal::Size(loop_size));
    }
    let shapes = &found.shapes;
    let instructions = || loop_data.blocks.iter().flat_map(|&block| &function.blocks[block].insts).copied();
    if let Some(instruction) =
        instructions().find(|&instruction| !is_for_one_lane(function, function_facts, instruction))
    {
        return Err(Refusal::Instruction(instruction));
    }
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
    function.blocks[*preheader].terminator.for_each_arg(&mut note_use);

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
    let maximum = if always { maximum.max(1) } else { maximum };
    if maximum == 0 {
        return Err(Refusal::Cost);
    }
    let takes_all = maximum >= u64::from(registers.width);
    Ok(Plan {
        preheader: *preheader,
        blocks: loop_data.blocks.clone(),
        exit: exit_block,
        varying,
        most: maximum,
        all: takes_all,
    })
}

/// Whether an instruction does for all lanes, given one lane's operands, what that lane alone would do. Stores store the
/// same more than once at most. What a lane has of its own, its place and its private memory, is not the others'.
fn is_for_one_lane(function: &Function, function_facts: Known<'_>, instruction: Inst) -> bool {
    let shared =
        |pointer: Value| matches!(function.ty(pointer), Type::Ptr(Space::Global | Space::Constant | Space::Local));
    match &function.insts[instruction].data {
        InstData::Load { pointer, access, .. } | InstData::Store { pointer, access, .. } => {
            shared(*pointer) && !access.volatile && access.atomic.is_none()
        }
        InstData::Query { .. } => function_facts.found.shapes[function.insts[instruction].results[0]].is_uniform(),
        InstData::SlotAddr { .. } | InstData::LiveLoad { .. } => false,
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
        let [if_true, no_lanes] =
            [(Type::BOOL, 1), (Type::I64, 0)].map(|(value_type, bits)| function.constant(value_type, bits));
        let [ask_block, gang_block, past_block, turn_block, done_block, next_block, leave_block, join_block] =
            [(); 8].map(|()| function.add_block());

        // Behind the loop, the gang and the turns meet.
        let results: Vec<Value> = types.iter().map(|&value_type| function.add_param(join_block, value_type)).collect();
        function.blocks[join_block].terminator = Terminator::Jump(BlockCall { block: self.exit, arguments: results });
        for &block in &self.blocks {
            let mut terminator = function.blocks[block].terminator.clone();
            terminator
                .targets_mut()
                .into_iter()
                .filter(|target| target.block == self.exit)
                .for_each(|target| target.block = join_block);
            function.blocks[block].terminator = terminator;
        }

        let mut builder = Builder::at_end_of(function, self.preheader);
        let any_lane = builder.any(if_true);
        builder.branch(any_lane, (ask_block, &[]), (past_block, &[]));
        builder.switch_to(past_block);
        builder.jump(self.exit, &zeros);
        builder.switch_to(ask_block);
        let lane_bits = builder.ballot(if_true);
        let first: Vec<Value> = [lane_bits].into_iter().chain(zeros).collect();
        if self.all {
            builder.jump(turn_block, &first);
        } else {
            let lane_count = builder.unary(UnaryOp::Popcount, Type::I64, lane_bits);
            let most = builder.int(Type::I64, self.most.into());
            let are_few = builder.icmp(IntCc::Ule, lane_count, most);
            builder.branch(are_few, (turn_block, &first), (gang_block, &[]));
        }
        builder.switch_to(gang_block);
        builder.jump(entry_edge.block, &entry_edge.arguments);

        let lane_bits = function.add_param(turn_block, Type::I64);
        let outputs: Vec<Value> = types.iter().map(|&value_type| function.add_param(turn_block, value_type)).collect();
        let mut builder = Builder::at_end_of(function, turn_block);
        let lane = builder.unary(UnaryOp::Ctz, Type::I64, lane_bits);
        let mut of_lane = Copies::default();
        for &value in &self.varying {
            let lane_value = builder.lane_of(value, lane);
            of_lane.map_value(value, lane_value);
        }
        let copies = copy_blocks(function, &self.blocks, &of_lane);
        let arguments: Vec<Value> = entry_edge.arguments.iter().map(|&value| of_lane.value_copy(value)).collect();
        Builder::at_end_of(function, turn_block).jump(copies.block_copy(entry_edge.block), &arguments);
        for &block in &self.blocks {
            let mut terminator = function.blocks[copies.block_copy(block)].terminator.clone();
            terminator
                .targets_mut()
                .into_iter()
                .filter(|target| target.block == join_block)
                .for_each(|target| target.block = done_block);
            function.blocks[copies.block_copy(block)].terminator = terminator;
        }

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
}

/// What a block costs one lane, once.
fn scalar_block_cost(function: &Function, block: Block, shapes: &SecondaryMap<Value, Shape>) -> u64 {
    let branch = u64::from(function.blocks[block].terminator.selector().is_some());
    let instructions = function.blocks[block].insts.iter();
    instructions.map(|&instruction| cost::scalar_cost(function, instruction, shapes)).sum::<u64>() + branch
}
