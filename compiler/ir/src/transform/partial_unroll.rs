//! Several rounds of a loop at once, where lanes walk along memory each in its own place.
//!
//! A work-item that sums up a row of a matrix reads neighbours one round after the other, while the lanes of a gang are a
//! row apart: each round gathers. With several rounds written out one behind the other, what a lane reads in all of them
//! is one wide load (`interleaved_access_groups`), and lanes' loads are transposed in registers. It also takes fewer visits to
//! each line of the cache, of which lanes that are a power of two apart want more than the first cache keeps.
//!
//! Requires: a function in normal form; what diverges in it.
//! Ensures: normal form. A loop of one block (and its latch) that all its lanes run equally often, by a number that counts up to
//! another one, stands behind a copy whose rounds are several of its own. Every round does what it did, in the same
//! order; the loop itself runs those that are left.
//! Phases: what counts the rounds, and to where; which loads walk; the copy, entered and repeated as long as so many
//! rounds are sure; normal form.
//! Source: none; unrolling as in textbooks (Muchnick 1997, 17.4.3), for accesses as in Nuzman, Rosen & Zaks 2006.
//!
//! ```text
//!                                    br n - 1 >= 3, several(0), head(0)
//!                                    several(i):  … of i … of i + 1 … of i + 2 … of i + 3
//! head(i):  … of i              =>                br n - (i + 4) >= 4, several(i + 4), rest
//!           br i + 1 < n, head(i + 1), exit       rest: br i + 4 < n, head(i + 4), exit
//!                                    head(i):     …
//! ```

use crate::analysis::affine_address;
use crate::analysis::cfg::{Cfg, build_cfg};
use crate::analysis::divergence::Divergence;
use crate::analysis::dominators::compute_dominators;
use crate::analysis::loops::find_loops;
use crate::analysis::no_wrap_stride::{NoWrapStride, find_no_wrap_strides};
use crate::ir::*;
use crate::plan::access_lowering::{AccessClass, CHUNK_BYTES, Direction, classify_access};
use crate::transform::copy::Copies;
use crate::transform::normalize::normalize_function;
use cranelift_entity::SecondaryMap;
use lockstep_protocol::types::{Space, Type};

/// The least and the most rounds at once.
const LEAST: u64 = 4;
const MOST: u64 = 16;

/// The instructions that several rounds may have.
const MOST_INSTS: usize = 320;

/// The greatest distance from round to round.
const MOST_STEP: i64 = 64;

/// Loops that are to run several rounds at once.
pub struct Plan {
    loops: Vec<Walk>,
}

/// Such a loop.
struct Walk {
    block: Block,
    latch: Block,
    preheader: Block,
    rounds: u64,
    count: Count,
}

/// What tells whether a loop goes on: `compared` is below `bound`, or another number.
#[derive(Clone, Copy)]
struct Count {
    /// The place among the loop's parameters of the one that counts.
    param: usize,
    /// It, or what it is in the next round.
    compared: Value,
    comparison: IntCc,
    bound: Value,
    step: i64,
}

/// A parameter of a loop that grows by a constant.
#[derive(Clone, Copy)]
struct Step {
    next: Value,
    by: i64,
    flags: IntFlags,
}

/// Finds the loops for which that pays, or all for which it is possible.
pub fn plan_rounds(function: &Function, divergence: &Divergence, gang_width: u32, always: bool) -> Option<Plan> {
    let flow_graph = build_cfg(function);
    let loop_forest = find_loops(&flow_graph, &compute_dominators(&flow_graph));
    let candidates: Vec<[Block; 2]> =
        loop_forest.iter().filter_map(|(_, loop_data)| single_block_loop(function, &loop_data.blocks)).collect();
    if candidates.is_empty() {
        return None;
    }
    let no_wrap_strides =
        find_no_wrap_strides(function, flow_graph.reverse_post_order(), &divergence.shapes, gang_width);
    let function_facts =
        Known { function, graph: &flow_graph, found: divergence, lines: &no_wrap_strides, width: gang_width };
    let loops: Vec<Walk> =
        candidates.into_iter().filter_map(|[block, latch]| function_facts.plan_walk(block, latch, always)).collect();
    (!loops.is_empty()).then_some(Plan { loops })
}

/// The block that a loop consists of, and the empty one that leads back to it.
fn single_block_loop(function: &Function, blocks: &[Block]) -> Option<[Block; 2]> {
    let &[block, latch] = blocks else { return None };
    let jumps = matches!(function.blocks[latch].terminator, Terminator::Jump(_));
    (jumps && function.blocks[latch].insts.is_empty() && function.blocks[latch].params.is_empty())
        .then_some([block, latch])
}

struct Known<'a> {
    function: &'a Function,
    graph: &'a Cfg,
    found: &'a Divergence,
    lines: &'a SecondaryMap<Value, Option<NoWrapStride>>,
    width: u32,
}

impl Known<'_> {
    fn plan_walk(&self, block: Block, latch: Block, always: bool) -> Option<Walk> {
        let Known { function, found, .. } = *self;
        let Terminator::Branch { condition, then_to, .. } = &function.blocks[block].terminator else { return None };
        let Terminator::Jump(again) = &function.blocks[latch].terminator else { return None };
        if found.divergent_branches.contains(block) {
            return None;
        }
        let instructions = &function.blocks[block].insts;
        let is_short = |&rounds: &u64| always || rounds as usize * instructions.len() <= MOST_INSTS;
        if !is_short(&LEAST)
            || instructions.iter().any(|&instruction| {
                function.insts[instruction].data.asks_lanes() || function.insts[instruction].data.needs_lanes()
            })
        {
            return None;
        }
        let exit_if_true = then_to.block != latch;
        let count = self.round_counter(block, *condition, again, exit_if_true)?;
        let bytes = instructions.iter().filter_map(|&instruction| self.bytes_of_walk(block, instruction, again)).min();
        let rounds = match bytes {
            Some(bytes) => (u64::from(CHUNK_BYTES) / bytes).clamp(LEAST, MOST),
            None if always => LEAST,
            None => return None,
        };
        let rounds = [rounds, LEAST].into_iter().find(is_short)?;
        let preheader = self.graph.predecessors(block).iter().copied().find(|&predecessor| predecessor != latch)?;
        Some(Walk { block, latch, preheader, rounds, count })
    }

    /// How a loop's parameter grows from round to round.
    fn parameter_step(&self, block: Block, parameter: Value, again: &BlockCall) -> Option<Step> {
        let function = self.function;
        let position = function.blocks[block].params.iter().position(|&other| other == parameter)?;
        let next_value = again.arguments[position];
        let ValueDef::Result(instruction, _) = function.values[next_value].definition else { return None };
        let (increment, flags) = match function.insts[instruction].data {
            InstData::Binary { opcode: BinaryOp::Add, arguments: [argument, increment], flags, .. }
                if argument == parameter =>
            {
                (increment, flags)
            }
            InstData::PtrAdd { base, offset, .. } if base == parameter => (offset, IntFlags::default()),
            _ => return None,
        };
        let increment = function.signed_constant(increment)?;
        (0..=MOST_STEP).contains(&increment).then_some(Step { next: next_value, by: increment, flags })
    }

    fn is_invariant(&self, block: Block, value: Value) -> bool {
        let function = self.function;
        match function.values[value].definition {
            ValueDef::Param(of, _) => of != block,
            ValueDef::Result(instruction, _) => !function.blocks[block].insts.contains(&instruction),
            _ => true,
        }
    }

    /// What counts the rounds, if that is the same for all lanes.
    fn round_counter(&self, block: Block, condition: Value, again: &BlockCall, exit_if_true: bool) -> Option<Count> {
        let function = self.function;
        let ValueDef::Result(instruction, _) = function.values[condition].definition else { return None };
        let InstData::Icmp { comparison, arguments: [left, right] } = function.insts[instruction].data else {
            return None;
        };
        let (compared, bound, comparison) = if self.is_invariant(block, right) {
            (left, right, comparison)
        } else {
            (right, left, comparison.swapped())
        };
        let comparison = if exit_if_true { opposite_comparison(comparison) } else { comparison };
        let uniform = |value: Value| self.found.shapes[value].is_uniform();
        if !self.is_invariant(block, bound) || !uniform(compared) || !uniform(bound) || !function.ty(bound).is_int() {
            return None;
        }
        let counts = |(position, &parameter): (usize, &Value)| {
            let step = self.parameter_step(block, parameter, again)?;
            [parameter, step.next].contains(&compared).then_some((position, step.by))
        };
        let (param, step) = function.blocks[block].params.iter().enumerate().find_map(counts)?;
        match comparison {
            IntCc::Ne if step == 1 => {}
            IntCc::Slt | IntCc::Sle | IntCc::Ult | IntCc::Ule if step > 0 => {}
            _ => return None,
        }
        // Numbers of rounds are to fit.
        (function.ty(bound).bits() >= 16).then_some(Count { param, compared, comparison, bound, step })
    }

    /// The bytes that lanes read in a round, each in a place of its own, if the next round's lie behind them.
    fn bytes_of_walk(&self, block: Block, instruction: Inst, again: &BlockCall) -> Option<u64> {
        let inst_node = &self.function.insts[instruction];
        let InstData::Load { pointer, access, .. } = inst_node.data else { return None };
        let element_type = self.function.ty(*inst_node.results.first()?);
        let value_count = inst_node.results.len() as u32;
        let bytes = u64::from(element_type.bytes()) * u64::from(value_count);
        let stride = self.lines[pointer]
            .as_ref()
            .map(|no_wrap_stride| no_wrap_stride.stride)
            .or(self.found.shapes[pointer].stride());
        let anywhere = classify_access(stride, element_type.bytes(), value_count, self.width, Direction::Load)
            == AccessClass::Scattered;
        let is_plain =
            !access.volatile && access.atomic.is_none() && bytes.is_power_of_two() && bytes < u64::from(CHUNK_BYTES);
        let private = self.function.ty(pointer) == Type::Ptr(Space::Private);
        (anywhere && is_plain && !private && self.address_advance(block, pointer, again)? == bytes as i64)
            .then_some(bytes)
    }

    /// How many bytes a round's address is behind that of the one before.
    fn address_advance(&self, block: Block, pointer: Value, again: &BlockCall) -> Option<i64> {
        use affine_address::Extended;
        let (address, _) = affine_address::decompose_address(self.function, pointer);
        let mut advance = match self.is_invariant(block, address.base) {
            true => 0,
            false => self.parameter_step(block, address.base, again)?.by,
        };
        for &(value, extended, factor) in &address.terms {
            if self.is_invariant(block, value) {
                continue;
            }
            let step = self.parameter_step(block, value, again)?;
            let is_exact = match extended {
                Extended::Not => true,
                Extended::Signed => step.flags.nsw,
                Extended::Unsigned => step.flags.nuw,
            };
            advance = advance.wrapping_add(step.by.wrapping_mul(factor)).wrapping_mul(i64::from(is_exact));
        }
        Some(advance)
    }
}

fn opposite_comparison(comparison: IntCc) -> IntCc {
    match comparison {
        IntCc::Eq => IntCc::Ne,
        IntCc::Ne => IntCc::Eq,
        IntCc::Slt => IntCc::Sge,
        IntCc::Sle => IntCc::Sgt,
        IntCc::Sgt => IntCc::Sle,
        IntCc::Sge => IntCc::Slt,
        IntCc::Ult => IntCc::Uge,
        IntCc::Ule => IntCc::Ugt,
        IntCc::Ugt => IntCc::Ule,
        IntCc::Uge => IntCc::Ult,
    }
}

impl Plan {
    /// How many rounds the loops run at once, and where they are in the source.
    pub fn rounds_per_loop<'a>(&'a self, function: &'a Function) -> impl Iterator<Item = (u64, SourceLoc)> + 'a {
        self.loops.iter().map(|walk| (walk.rounds, function.end_locs[walk.block]))
    }

    /// Writes the rounds out.
    pub fn write_out_rounds(&self, function: &mut Function) {
        self.loops.iter().for_each(|walk| walk.write_out_rounds(function));
        normalize_function(function);
    }
}

impl Walk {
    fn write_out_rounds(&self, function: &mut Function) {
        let Walk { block, latch, preheader, rounds, count } = *self;
        let Terminator::Jump(entry_edge) = function.blocks[preheader].terminator.clone() else { return };
        let Terminator::Jump(back_edge) = function.blocks[latch].terminator.clone() else { return };
        let mut terminator = function.blocks[block].terminator.clone();
        terminator
            .targets_mut()
            .into_iter()
            .filter(|target| target.block == latch)
            .for_each(|target| *target = back_edge.clone());
        let parameters = function.blocks[block].params.clone();
        let types: Vec<Type> = parameters.iter().map(|&parameter| function.ty(parameter)).collect();

        let several = function.add_block();
        function.end_locs[several] = function.end_locs[block];
        let mut arguments: Vec<Value> =
            types.iter().map(|&parameter_type| function.add_param(several, parameter_type)).collect();
        let mut round = Copies::default();
        for _ in 0..rounds {
            round = Copies::default();
            for (&parameter, &argument) in parameters.iter().zip(&arguments) {
                round.map_value(parameter, argument);
            }
            for instruction in function.blocks[block].insts.clone() {
                let mut inst_node = function.insts[instruction].clone();
                inst_node.data.map_args(|value| round.value_copy(value));
                let types: Vec<Type> = inst_node.results.iter().map(|&result| function.ty(result)).collect();
                let new_inst = function.append_inst(several, inst_node.data, &types, inst_node.location);
                for (&old_value, &new_value) in inst_node.results.iter().zip(&function.insts[new_inst].results) {
                    round.map_value(old_value, new_value);
                }
            }
            arguments = back_edge.arguments.iter().map(|&argument| round.value_copy(argument)).collect();
        }
        let rest = function.add_block();
        function.end_locs[rest] = function.end_locs[block];
        function.blocks[rest].terminator = round.terminator_copy(&terminator);
        let mut builder = Builder::at_end_of(function, several);
        let all_rounds_run = count.goes_on(&mut builder, round.value_copy(count.compared), rounds);
        builder.branch(all_rounds_run, (several, &arguments), (rest, &[]));

        // What is compared first: what comes in, or as much more as it grows by.
        let mut first = entry_edge.arguments[count.param];
        let mut builder = Builder::at_end_of(function, preheader);
        if parameters[count.param] != count.compared {
            let increment = builder.int(builder.function.ty(first), count.step.into());
            first = builder.binary(BinaryOp::Add, first, increment);
        }
        let all_rounds_run = count.goes_on(&mut builder, first, rounds - 1);
        builder.branch(all_rounds_run, (several, &entry_edge.arguments), (block, &entry_edge.arguments));
    }
}

impl Count {
    /// Whether a loop goes on for so many rounds more, where this is compared after the first of them.
    fn goes_on(self, builder: &mut Builder<'_>, compared: Value, rounds: u64) -> Value {
        let bound_type = builder.function.ty(self.bound);
        // As far as it is compared in the last one.
        let last_step = (rounds as i64 - 1) * self.step;
        let left = builder.binary(BinaryOp::Sub, self.bound, compared);
        if self.comparison == IntCc::Ne {
            let wanted = builder.int(bound_type, i128::from(rounds));
            return builder.icmp(IntCc::Uge, left, wanted);
        }
        let goes_on = builder.icmp(self.comparison, compared, self.bound);
        let beyond = if matches!(self.comparison, IntCc::Slt | IntCc::Ult) { IntCc::Ugt } else { IntCc::Uge };
        let last_step = builder.int(bound_type, last_step.into());
        let is_far = builder.icmp(beyond, left, last_step);
        builder.binary(BinaryOp::And, goes_on, is_far)
    }
}
