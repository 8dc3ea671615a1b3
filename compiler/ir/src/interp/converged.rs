//! Gangs in code that is not linearized: lanes part at branches and meet again where ways join.
//!
//! Requires: a kernel whose sub-groups do something together, as imported or cut into regions.
//! Ensures: as for single work-items. Those lanes of a gang run an instruction together that control flow brings there
//! together: of several blocks where lanes are, the first one goes on, in an order in which a block stands behind all
//! that lead to it, and a loop before what is behind it. That is what linearized code does.
//! Phases: a block's instructions for all lanes that are there, then each lane's own way out of it.
//! Source: Moll 2021, chapters 3 and 4; section 2.5 for the order.

use super::fault::{Fault, InterpError};
use super::gang::Gang;
use super::item::{Arrival, Group};
use super::launch::LaunchState;
use super::memory::Memory;
use crate::analysis::block_index::block_index;
use crate::analysis::cfg::build_cfg;
use crate::analysis::dominators::compute_dominators;
use crate::analysis::loops::find_loops;
use crate::ir::{Block, Function, InstData};
use cranelift_entity::SecondaryMap;

/// The places of a region's blocks in the order in which lanes go on.
pub(super) fn compute_order(function: &Function) -> SecondaryMap<Block, usize> {
    let graph = build_cfg(function);
    let dominators = compute_dominators(&graph);
    let forest = find_loops(&graph, &dominators);
    let blocks = match forest.irreducible_edges() {
        [] => block_index(&graph, &dominators, &forest),
        _ => graph.reverse_post_order().to_vec(),
    };
    let mut places = SecondaryMap::new();
    blocks.into_iter().enumerate().for_each(|(place, block)| places[block] = place);
    places
}

impl Gang {
    /// Runs until all lanes have arrived at a barrier or finished.
    pub fn run_converged(
        &mut self,
        run: &mut LaunchState<'_>,
        group: &Group,
        memory: &mut Memory,
    ) -> Result<Arrival, InterpError> {
        let kernel = run.kernel;
        let mut arrivals: Vec<Option<Arrival>> = vec![None; self.lanes.len()];
        loop {
            let waiting = self.lanes.iter().zip(&arrivals).filter(|(_, arrival)| arrival.is_none());
            let next = waiting.map(|(lane, _)| (run.orders[lane.region][lane.block], lane.block, lane.position)).min();
            let Some((_, block, position)) = next else { break };
            let function = &kernel.regions[self.lanes[0].region];
            let here = |arrival: &Option<Arrival>, lane: &super::Item| {
                arrival.is_none() && lane.block == block && lane.position == position
            };
            let active: Vec<bool> = self.lanes.iter().zip(&arrivals).map(|(lane, at)| here(at, lane)).collect();
            let inst = function.blocks[block].insts.get(position).copied();
            let answers = match inst {
                Some(inst) => self.answer_lanes(run, function, &function.insts[inst].data, &active)?,
                None => None,
            };
            self.step_lanes(run)?;
            for (n, lane) in self.lanes.iter_mut().enumerate().filter(|(n, _)| active[*n]) {
                match (inst, &answers) {
                    (Some(inst), Some(answers)) => {
                        let result = function.insts[inst].results[0];
                        lane.values[result.as_u32() as usize] = answers[n] & function.ty(result).value_mask();
                        lane.position += 1;
                    }
                    (Some(inst), None) => {
                        if matches!(function.insts[inst].data, InstData::Barrier | InstData::Collective { .. }) {
                            arrivals[n] = Some(Arrival::Barrier(lane.region, inst));
                        } else {
                            lane.execute_inst(run, group, memory, function, inst)
                                .map_err(|fault| lane.error_at(run, fault))?;
                        }
                        lane.position += 1;
                    }
                    (None, _) => {
                        let left = lane.leave_block(run, group, memory);
                        arrivals[n] = left.map_err(|fault| lane.error_at(run, fault))?;
                    }
                }
            }
        }
        let first = arrivals[0].unwrap_or(Arrival::End);
        for (lane, arrival) in self.lanes.iter().zip(arrivals) {
            if let Some(other) = arrival.filter(|other| *other != first) {
                let what = format!("this one {other}, another one of its sub-group {first}");
                return Err(lane.error_at(run, Fault::DivergentBarrier(what)));
            }
        }
        Ok(first)
    }
}
