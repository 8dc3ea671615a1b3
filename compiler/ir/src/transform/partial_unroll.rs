//! Several iterations of a loop at once: where lanes walk along memory each in its own place, and where an iteration is one long
//! chain.
//!
//! A work-item that sums up a row of a matrix reads neighbours one iteration after the other, while the lanes of a gang are a
//! row apart: each iteration gathers. With several iterations written out one behind the other, what a lane reads in all of
//! them is one wide load (`interleaved_access_groups`), and lanes' loads are transposed in registers. It also takes fewer visits
//! to each line of the cache, of which lanes that are a power of two apart want more than the first cache keeps. A loop that
//! walks and runs a known number of times, not too often, is written out whole: the loops around it then have its loads to
//! move out, where these are the same each time.
//!
//! Iterations that need nothing of one another and are chains of dozens of operations are written out in turn, operation by
//! operation, so that several chains advance at once.
//!
//! Requires: a function in normal form; what diverges in it.
//! Ensures: normal form. A loop of one block (and its latch) that all its lanes run equally often, by a number that counts up to
//! another one, stands behind a copy whose iterations are several of its own; or the copy stands for it, where these are
//! all. Every iteration does what it did, one after the other, or in turn where none can tell; the loop itself runs
//! those that are left.
//! Phases: what counts the iterations, and to where; which loads walk, or how long the chain is and what iterations have to do
//! with one another; the copy, entered and repeated as long as so many iterations are sure; normal form.
//! Source: none; unrolling as in textbooks (Muchnick 1997, 17.4.3), for accesses as in Nuzman, Rosen & Zaks 2006.
//!
//! ```text
//!                                    br n - 1 >= 3, several(0), head(0)
//!                                    several(i):  … of i … of i + 1 … of i + 2 … of i + 3
//! head(i):  … of i              =>                br n - (i + 4) >= 4, several(i + 4), rest
//!           br i + 1 < n, head(i + 1), exit       rest: br i + 4 < n, head(i + 4), exit
//!                                    head(i):     …
//! ```

mod counter;
mod independent_iterations;
mod unrolled_loop;

use crate::analysis::affine_address::{Address, Extended, Roots, decompose_address};
use crate::analysis::cfg::{Cfg, build_cfg};
use crate::analysis::divergence::Divergence;
use crate::analysis::dominators::compute_dominators;
use crate::analysis::loops::find_loops;
use crate::analysis::no_wrap_stride::{NoWrapStride, find_no_wrap_strides};
use crate::ir::*;
use crate::plan::access_lowering::{AccessClass, CHUNK_BYTES, Direction, classify_access};
use crate::target::Registers;
use crate::transform::normalize::normalize_function;
use counter::{LoopCounter, is_invariant, parameter_step};
use cranelift_entity::SecondaryMap;
use independent_iterations::LoopBody;
use lockstep_protocol::types::{Space, Type};
use unrolled_loop::{IterationOrder, UnrolledLoop};

/// The least and the most iterations at once.
const LEAST: u64 = 4;
const MOST: u64 = 16;

/// The instructions that several iterations may have, and those that all iterations may have.
const MOST_INSTS: usize = 320;
const MOST_WHOLE_INSTS: usize = 512;

/// The instructions of an iteration of which two are no more than that. What is asked of longer ones would take the square of their
/// length.
const MOST_OF_ONE: usize = MOST_WHOLE_INSTS / 2;

/// Loops that are to run several iterations at once.
pub struct Plan {
    loops: Vec<UnrolledLoop>,
}

/// Finds the loops for which that pays, or all for which it is possible.
pub fn plan_unrolling(
    function: &Function,
    divergence: &Divergence,
    roots: &Roots,
    registers: Registers,
    always: bool,
) -> Option<Plan> {
    let flow_graph = build_cfg(function);
    let loop_forest = find_loops(&flow_graph, &compute_dominators(&flow_graph));
    let candidates: Vec<[Block; 2]> =
        loop_forest.iter().filter_map(|(_, loop_data)| single_block_loop(function, &loop_data.blocks)).collect();
    if candidates.is_empty() {
        return None;
    }
    let no_wrap_strides =
        find_no_wrap_strides(function, flow_graph.reverse_post_order(), &divergence.shapes, registers.width);
    let planner =
        Planner { function, flow_graph: &flow_graph, divergence, no_wrap_strides: &no_wrap_strides, roots, registers };
    let loops: Vec<UnrolledLoop> =
        candidates.into_iter().filter_map(|[block, latch]| planner.plan_loop(block, latch, always)).collect();
    (!loops.is_empty()).then_some(Plan { loops })
}

/// The block that a loop consists of, and the empty one that leads back to it.
fn single_block_loop(function: &Function, blocks: &[Block]) -> Option<[Block; 2]> {
    let &[block, latch] = blocks else { return None };
    let jumps = matches!(function.blocks[latch].terminator, Terminator::Jump(_));
    (jumps && function.blocks[latch].insts.is_empty() && function.blocks[latch].params.is_empty())
        .then_some([block, latch])
}

struct Planner<'a> {
    function: &'a Function,
    flow_graph: &'a Cfg,
    divergence: &'a Divergence,
    no_wrap_strides: &'a SecondaryMap<Value, Option<NoWrapStride>>,
    roots: &'a Roots,
    registers: Registers,
}

impl Planner<'_> {
    fn plan_loop(&self, block: Block, latch: Block, always: bool) -> Option<UnrolledLoop> {
        let Planner { function, divergence, .. } = *self;
        let Terminator::Branch { condition, then_to, .. } = &function.blocks[block].terminator else { return None };
        let Terminator::Jump(back_edge) = &function.blocks[latch].terminator else { return None };
        if divergence.divergent_branches.contains(block) {
            return None;
        }
        let instructions = &function.blocks[block].insts;
        if !always && instructions.len() > MOST_OF_ONE {
            return None;
        }
        let fits = |iterations: u64, most: usize| always || iterations as usize * instructions.len() <= most;
        if instructions.iter().any(|&instruction| {
            function.insts[instruction].data.asks_lanes() || function.insts[instruction].data.needs_lanes()
        }) {
            return None;
        }
        let exit_if_true = then_to.block != latch;
        let counter = LoopCounter::find_counter(function, block, *condition, back_edge, exit_if_true)?;
        let is_uniform = |value: Value| divergence.shapes[value].is_uniform();
        if !is_uniform(counter.compared) || !is_uniform(counter.bound) {
            return None;
        }
        let preheader =
            self.flow_graph.predecessors(block).iter().copied().find(|&predecessor| predecessor != latch)?;
        let Terminator::Jump(entry_edge) = &function.blocks[preheader].terminator else { return None };
        let known_count = counter.count_iterations(function, block, entry_edge.arguments[counter.param], MOST);
        let plan = |iterations: u64, order: IterationOrder| UnrolledLoop {
            block,
            latch,
            preheader,
            iterations,
            is_whole: known_count == Some(iterations),
            order,
            counter,
        };

        let body = LoopBody {
            function,
            block,
            back_edge,
            shapes: &divergence.shapes,
            roots: self.roots,
            registers: self.registers,
        };
        let bytes =
            instructions.iter().filter_map(|&instruction| self.bytes_of_walk(block, instruction, back_edge)).min();
        if let Some(bytes) = bytes {
            let all = known_count.filter(|&count| count > 1 && fits(count, MOST_WHOLE_INSTS));
            let of_chunk = (u64::from(CHUNK_BYTES) / bytes).clamp(LEAST, MOST);
            let several = [of_chunk, LEAST].into_iter().find(|&iterations| fits(iterations, MOST_INSTS));
            return Some(plan(all.or(several)?, IterationOrder::OneByOne));
        }
        let run_often_enough = |&iterations: &u64| known_count.is_none_or(|count| count >= iterations);
        let in_turn = body.count_interleaved().filter(run_often_enough).filter(|&count| fits(count, MOST_INSTS));
        if let Some(iterations) = in_turn {
            return Some(plan(iterations, IterationOrder::Interleaved));
        }
        if !always {
            return None;
        }
        let order = if body.are_independent() { IterationOrder::Interleaved } else { IterationOrder::OneByOne };
        Some(plan(LEAST, order))
    }

    /// The bytes that lanes read in an iteration, each in a place of its own, if the next one's lie behind them.
    fn bytes_of_walk(&self, block: Block, instruction: Inst, back_edge: &BlockCall) -> Option<u64> {
        let inst_node = &self.function.insts[instruction];
        let InstData::Load { pointer, access, .. } = inst_node.data else { return None };
        let element_type = self.function.ty(*inst_node.results.first()?);
        let value_count = inst_node.results.len() as u32;
        let bytes = u64::from(element_type.bytes()) * u64::from(value_count);
        let stride = self.no_wrap_strides[pointer]
            .as_ref()
            .map(|no_wrap_stride| no_wrap_stride.stride)
            .or(self.divergence.shapes[pointer].stride());
        let form = classify_access(stride, element_type.bytes(), value_count, self.registers.width, Direction::Load);
        let is_plain =
            !access.volatile && access.atomic.is_none() && bytes.is_power_of_two() && bytes < u64::from(CHUNK_BYTES);
        let private = self.function.ty(pointer) == Type::Ptr(Space::Private);
        let (address, _) = decompose_address(self.function, pointer);
        let walks = || address_advance(self.function, block, &address, back_edge) == Some(bytes as i64);
        (form == AccessClass::Scattered && is_plain && !private && walks()).then_some(bytes)
    }
}

/// How many bytes an address in an iteration of a block that is a loop is behind that of the one before, if that is known.
fn address_advance(function: &Function, block: Block, address: &Address, back_edge: &BlockCall) -> Option<i64> {
    let mut advance = match is_invariant(function, block, address.base) {
        true => 0,
        false => parameter_step(function, block, address.base, back_edge)?.by,
    };
    for &(value, extended, factor) in &address.terms {
        if is_invariant(function, block, value) {
            continue;
        }
        let step = parameter_step(function, block, value, back_edge)?;
        let is_exact = match extended {
            Extended::Not => true,
            Extended::Signed => step.flags.nsw,
            Extended::Unsigned => step.flags.nuw,
        };
        if !is_exact {
            return None;
        }
        advance = advance.wrapping_add(step.by.wrapping_mul(factor));
    }
    Some(advance)
}

impl Plan {
    /// What is done with each loop, in words, and where it is in the source.
    pub fn describe_loops<'a>(&'a self, function: &'a Function) -> impl Iterator<Item = (String, SourceLoc)> + 'a {
        self.loops.iter().map(|unrolled| {
            let iterations = unrolled.iterations;
            let how_many = if unrolled.is_whole { format!("all {iterations}") } else { iterations.to_string() };
            let why = match unrolled.order {
                IterationOrder::OneByOne => "at once, as lanes walk along memory in places of their own",
                IterationOrder::Interleaved => "in turn, as each is a long chain of its own",
            };
            (format!("{how_many} {why}"), function.end_locs[unrolled.block])
        })
    }

    /// Writes the iterations out.
    pub fn write_out_iterations(&self, function: &mut Function) {
        self.loops.iter().for_each(|unrolled| unrolled.write_out_iterations(function));
        normalize_function(function);
    }
}
