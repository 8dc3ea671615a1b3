//! What flattening is worth, by what was counted of both loops.
//!
//! Requires: a function in normal form and what diverges in it.
//! Ensures: nothing changes.
//! Phases: what lanes have of their own in the new loop; what an iteration of it costs, and one of the inner loop as it is; the lanes that
//! the new loop can keep at work.
//! Source: Bulavintsev 2019, equation (1): n idle of N lanes pay where n/N > Ta / (Ta + Tb), the outer and the inner loop's parts of an
//! iteration. That lanes could run the inner loop one after the other instead, that lanes are in different iterations of the outer loop, so that what was the same for all of them is not, that an outer
//! loop of few iterations has little work for idle lanes, and that it has none for lanes that have left it, is ours.

use super::NestedLoops;
use crate::analysis::cost;
use crate::analysis::divergence::Divergence;
use crate::analysis::loops::LoopData;
use crate::analysis::no_wrap_stride::NoWrapStride;
use crate::analysis::shape::Shape;
use crate::ir::*;
use crate::transform::unmasked_loops::Known;
use cranelift_entity::{EntitySet, SecondaryMap};
use lockstep_protocol::loop_profile::LoopCounts;
use lockstep_protocol::types::Type;

/// What the question who is in the inner loop costs a gang in each iteration: a test, two masks and a merge.
const QUESTION: u64 = 4;

/// Ways through the inner loop that have to be counted before it is changed for them.
const FEWEST_ENTRIES: u64 = 8;

/// How many of 16 lanes have to be idle at least where the outer loop has another loop, of which nobody has counted the iterations: it may
/// take ten times as long as the inner one's iteration.
const IDLE_BESIDE_LOOPS: u128 = 14;

/// How many times its cost a lane takes that runs a loop alone: nothing is done while one instruction waits for another.
const WAITS_ALONE: u64 = 4;

impl NestedLoops<'_> {
    /// Iterations of the outer loop in which lanes could come to the inner one. Counted is how often its header ran, which is once
    /// more for each way through a loop that asks there whether it is left.
    pub fn count_outer_iterations(&self, counts: LoopCounts) -> u64 {
        let LoopData { header, latches, exits, .. } = self.known.forest.get(self.outer);
        let asks_first = exits.iter().any(|(block, _)| block == header) && !latches.contains(header);
        counts.gang_iterations.saturating_sub(if asks_first { counts.entries } else { 0 })
    }

    /// Whether the idle lanes' part of the gang is greater than what an iteration of the new loop costs more than one of the inner loop. Of n
    /// iterations of the outer loop no more than n - 1 can be saved, so no more lanes count as idle than all but one of n. Of those that have left
    /// the outer loop too none does: the others' work has as many iterations as if the gang had only as many lanes.
    pub fn are_enough_idle(&self, counts: LoopCounts, outer_counts: LoopCounts, carried: usize) -> bool {
        let Known { forest, registers, .. } = self.known;
        let (outer_data, inner_data) = (forest.get(self.outer), forest.get(self.inner));
        let own_blocks: Vec<Block> =
            outer_data.blocks.iter().copied().filter(|&block| !forest.contains(self.inner, block)).collect();
        // Loops in it may run once.
        let inner_cost = |known: Known<'_>| -> u128 {
            inner_data.blocks.iter().map(|&block| self.measure_cost(known, block, &[block])).sum()
        };
        let overhead = (QUESTION + carried as u64) * registers.registers_for(Type::I32);
        let (new_found, new_lines) = self.find_own_values();
        let new_loop = Known { found: &new_found, lines: &new_lines, ..self.known };
        let outer_cost = self.measure_cost(new_loop, self.outer_ends.header, &own_blocks) + u128::from(overhead);
        let lanes = u128::from(counts.gang_iterations) * u128::from(registers.width);
        let outer_iterations = u128::from(self.count_outer_iterations(outer_counts));
        let saved_iterations = outer_iterations.saturating_sub(u128::from(outer_counts.entries));
        let most_idle = lanes * saved_iterations / outer_iterations.max(1);
        // Lanes that have left the outer loop as well wait for the others in any case.
        let lanes_with_work =
            u128::from(counts.lane_iterations) * u128::from(registers.width) * u128::from(outer_counts.gang_iterations)
                / u128::from(outer_counts.lane_iterations.max(1));
        let idle_lanes = lanes.saturating_sub(lanes_with_work).min(most_idle);
        let has_loops = own_blocks.iter().any(|&block| forest.innermost_loop(block) != Some(self.outer));
        let flattened = (lanes - idle_lanes) * (outer_cost + inner_cost(new_loop));
        // Where few lanes come, or each accesses memory elsewhere, they run the inner loop one after the other.
        let in_turn = u128::from(counts.lane_iterations) * u128::from(self.measure_cost_alone() * WAITS_ALONE);
        let nested = (lanes * inner_cost(self.known)).min(in_turn * u128::from(registers.width));
        counts.entries >= FEWEST_ENTRIES
            && flattened < nested
            && (!has_loops || 16 * idle_lanes >= IDLE_BESIDE_LOOPS * lanes)
    }

    /// What blocks cost a gang under masks for each time that one of them, `once_block`, is run.
    fn measure_cost(&self, known: Known<'_>, once_block: Block, blocks: &[Block]) -> u128 {
        let masks = known.masks_of(self.function, once_block, blocks);
        u128::from(known.cost_of(self.function, once_block, blocks).saturating_add(masks))
    }

    /// What an iteration of the inner loop costs a lane that runs it alone.
    fn measure_cost_alone(&self) -> u64 {
        let Known { forest, found, .. } = self.known;
        let blocks = &forest.get(self.inner).blocks;
        let instructions = blocks.iter().flat_map(|&block| &self.function.blocks[block].insts);
        instructions.map(|&instruction| cost::scalar_cost(self.function, instruction, &found.shapes)).sum()
    }

    /// What is known in the new loop, where each lane is in an iteration of its own: what the outer loop carries, and what follows from
    /// it, differs between lanes.
    fn find_own_values(&self) -> (Divergence, SecondaryMap<Value, Option<NoWrapStride>>) {
        let NestedLoops { function, known, .. } = *self;
        let outer_data = known.forest.get(self.outer);
        let mut own: EntitySet<Value> = EntitySet::new();
        own.extend(function.blocks[outer_data.header].params.iter().copied());
        let mut is_changed = true;
        while std::mem::take(&mut is_changed) {
            for &block in &outer_data.blocks {
                let block_data = &function.blocks[block];
                for inst_node in block_data.insts.iter().map(|&instruction| &function.insts[instruction]) {
                    let mut depends = false;
                    inst_node.data.for_each_arg(|argument| depends |= own.contains(argument));
                    if depends {
                        inst_node.results.iter().for_each(|&result| is_changed |= own.insert(result));
                    }
                }
                for target in block_data.terminator.targets() {
                    for (&parameter, &argument) in function.blocks[target.block].params.iter().zip(&target.arguments) {
                        is_changed |= own.contains(argument) && own.insert(parameter);
                    }
                }
            }
        }
        let (mut found, mut lines) = (known.found.clone(), known.lines.clone());
        for value in own.iter() {
            found.shapes[value] = Shape::Varying;
            lines[value] = None;
        }
        (found, lines)
    }
}
