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
    let flow_graph = build_cfg(function);
    let dominators = compute_dominators(&flow_graph);
    let loop_forest = find_loops(&flow_graph, &dominators);
    let blocks = match loop_forest.irreducible_edges() {
        [] => block_index(&flow_graph, &dominators, &loop_forest),
        _ => flow_graph.reverse_post_order().to_vec(),
    };
    let mut places = SecondaryMap::new();
    blocks.into_iter().enumerate().for_each(|(position, block)| places[block] = position);
    places
}

impl Gang {
    /// Runs until all lanes have arrived at a barrier or finished.
    pub fn run_converged(
        &mut self,
        launch_state: &mut LaunchState<'_>,
        group: &Group,
        memory: &mut Memory,
    ) -> Result<Arrival, InterpError> {
        let kernel = launch_state.kernel;
        let mut arrivals: Vec<Option<Arrival>> = vec![None; self.lanes.len()];
        loop {
            let waiting = self.lanes.iter().zip(&arrivals).filter(|(_, arrival)| arrival.is_none());
            let next_position = waiting
                .map(|(lane, _)| (launch_state.orders[lane.region][lane.block], lane.block, lane.position))
                .min();
            let Some((_, block, position)) = next_position else { break };
            let function = &kernel.regions[self.lanes[0].region];
            let is_here = |arrival: &Option<Arrival>, lane: &super::Item| {
                arrival.is_none() && lane.block == block && lane.position == position
            };
            let active: Vec<bool> = self.lanes.iter().zip(&arrivals).map(|(lane, stop)| is_here(stop, lane)).collect();
            let next_inst = function.blocks[block].insts.get(position).copied();
            let answers = match next_inst {
                Some(instruction) => {
                    self.answer_lanes(launch_state, function, &function.insts[instruction].data, &active)?
                }
                None => None,
            };
            self.step_lanes(launch_state)?;
            for (number, lane) in self.lanes.iter_mut().enumerate().filter(|(number, _)| active[*number]) {
                match (next_inst, &answers) {
                    (Some(instruction), Some(answers)) => {
                        let result = function.insts[instruction].results[0];
                        lane.values[result.as_u32() as usize] = answers[number] & function.ty(result).value_mask();
                        lane.position += 1;
                    }
                    (Some(instruction), None) => {
                        if matches!(function.insts[instruction].data, InstData::Barrier | InstData::Collective { .. }) {
                            arrivals[number] = Some(Arrival::Barrier(lane.region, instruction));
                        } else {
                            lane.execute_inst(launch_state, group, memory, function, instruction)
                                .map_err(|fault| lane.error_at(launch_state, fault))?;
                        }
                        lane.position += 1;
                    }
                    (None, _) => {
                        let left = lane.leave_block(launch_state, group, memory);
                        arrivals[number] = left.map_err(|fault| lane.error_at(launch_state, fault))?;
                    }
                }
            }
        }
        let first = arrivals[0].unwrap_or(Arrival::End);
        for (lane, arrival) in self.lanes.iter().zip(arrivals) {
            if let Some(other) = arrival.filter(|other| *other != first) {
                let message = format!("this one {other}, another one of its sub-group {first}");
                return Err(lane.error_at(launch_state, Fault::DivergentBarrier(message)));
            }
        }
        Ok(first)
    }
}
