//! Work-items in lock-step, as the lanes of a gang.
//!
//! Requires: linearized code.
//! Ensures: as for single work-items; lanes where a block's mask does not hold touch nothing, and what they
//! compute is some number.

use super::collective::compute_answers;
use super::fault::{Fault, InterpError};
use super::item::{Arrival, Group, Item};
use super::launch::LaunchState;
use super::memory::Memory;
use crate::ir::{BinaryOp, BlockCall, Function, InstData, Terminator};

/// What inactive lanes find in the results of operations they take no part in.
pub(super) const GARBAGE: u128 = 0xa5a5_a5a5_a5a5_a5a5_a5a5_a5a5_a5a5_a5a5;

/// Work-items that run together.
pub(super) struct Gang {
    pub lanes: Vec<Item>,
    /// So many they are in full gangs.
    pub width: usize,
}

impl Gang {
    /// Runs until the gang arrives at a barrier or has finished.
    pub fn run_until_barrier(
        &mut self,
        launch_state: &mut LaunchState<'_>,
        group: &Group,
        memory: &mut Memory,
    ) -> Result<Arrival, InterpError> {
        let kernel = launch_state.kernel;
        loop {
            let (region, block) = (self.lanes[0].region, self.lanes[0].block);
            let function = &kernel.regions[region];
            let mask = function.masks[block].expand();
            let active: Vec<bool> =
                self.lanes.iter().map(|lane| mask.is_none_or(|mask_value| lane.value_bits(mask_value) != 0)).collect();
            for &instruction in &function.blocks[block].insts {
                self.step_lanes(launch_state)?;
                let inst_node = &function.insts[instruction];
                let inst_data = &inst_node.data;
                if self.call_together(launch_state, group, memory, inst_node, &active)? {
                    self.lanes.iter_mut().for_each(|lane| lane.position += 1);
                    continue;
                }
                let answers = self.answer_lanes(launch_state, function, inst_data, &active)?;
                for (lane_number, (lane, &active)) in self.lanes.iter_mut().zip(&active).enumerate() {
                    let results = &function.insts[instruction].results;
                    if let Some(answers) = &answers {
                        lane.values[results[0].as_u32() as usize] =
                            answers[lane_number] & function.ty(results[0]).value_mask();
                    } else if active || is_total(inst_data) {
                        let outcome = lane.execute_inst(launch_state, group, memory, function, instruction);
                        outcome.map_err(|fault| lane.error_at(launch_state, fault))?;
                    } else {
                        for &result in results {
                            lane.values[result.as_u32() as usize] = GARBAGE & function.ty(result).value_mask();
                        }
                    }
                    lane.position += 1;
                }
            }
            self.step_lanes(launch_state)?;
            let terminator = &function.blocks[block].terminator;
            match terminator {
                Terminator::Return => return Ok(Arrival::End),
                Terminator::Exit(region) => {
                    for lane in &mut self.lanes {
                        let entered = lane.enter_region(launch_state, group, *region, memory);
                        entered.map_err(|fault| lane.error_at(launch_state, fault))?;
                    }
                    return Ok(Arrival::Region(*region));
                }
                Terminator::Unreachable => {
                    let fault = Fault::Undefined("reached `unreachable`".to_string());
                    return Err(self.lanes[0].error_at(launch_state, fault));
                }
                Terminator::Jump(_) | Terminator::Branch { .. } | Terminator::Switch { .. } => {}
            }
            let target = self.branch_target(launch_state, terminator, &active)?;
            for lane in &mut self.lanes {
                let arguments: Vec<u128> = target.arguments.iter().map(|&value| lane.value_bits(value)).collect();
                for (&parameter, bits) in function.blocks[target.block].params.iter().zip(arguments) {
                    lane.values[parameter.as_u32() as usize] = bits;
                }
                lane.block = target.block;
                lane.position = 0;
            }
        }
    }

    /// What each lane gets from an instruction that asks others, or that lanes do together.
    pub(super) fn answer_lanes(
        &self,
        launch_state: &mut LaunchState<'_>,
        function: &Function,
        inst_data: &InstData,
        active: &[bool],
    ) -> Result<Option<Vec<u128>>, Fault> {
        match *inst_data {
            InstData::Clock => Ok(Some(vec![launch_state.read_clock().into(); self.lanes.len()])),
            InstData::Shuffle { argument, lane } => {
                let held = |index_item: &Item| {
                    let number = index_item.value_bits(lane) as usize % self.width;
                    let is_active = active.get(number).is_some_and(|&active| active);
                    if is_active { self.lanes[number].value_bits(argument) } else { GARBAGE }
                };
                Ok(Some(self.lanes.iter().map(held).collect()))
            }
            InstData::Put { into, lane, value } => {
                let held = |(lane_number, work_item): (usize, &Item)| {
                    work_item.value_bits(if work_item.value_bits(lane) == lane_number as u128 { value } else { into })
                };
                Ok(Some(self.lanes.iter().enumerate().map(held).collect()))
            }
            InstData::Across { collective, opcode, cluster, argument } => {
                let operand_type = function.ty(argument);
                let identity = opcode.identity(operand_type).unwrap_or(0);
                let value = |(lane, &active): (&Item, &bool)| if active { lane.value_bits(argument) } else { identity };
                let values: Vec<u128> = self.lanes.iter().zip(active).map(value).collect();
                let cluster_size = cluster.lane_count(self.width as u32) as usize;
                let parts =
                    values.chunks(cluster_size).map(|values| compute_answers(collective, opcode, operand_type, values));
                Ok(Some(parts.collect::<Result<Vec<_>, Fault>>()?.concat()))
            }
            _ => Ok(self.common_answer(inst_data, active).map(|answer| vec![answer; self.lanes.len()])),
        }
    }

    /// What all lanes get together from an instruction that asks all of them.
    fn common_answer(&self, inst_data: &InstData, active: &[bool]) -> Option<u128> {
        let holds = |condition| {
            let lanes = self.lanes.iter().zip(active);
            lanes.map(move |(lane, &active)| active && lane.value_bits(condition) != 0)
        };
        match *inst_data {
            InstData::Any { condition } => Some(holds(condition).any(|holds| holds).into()),
            InstData::Ballot { condition } => {
                Some(holds(condition).enumerate().map(|(lane_number, holds)| u128::from(holds) << lane_number).sum())
            }
            InstData::LaneOf { argument, lane } => {
                // The active lanes agree on the number.
                let asking_lane = self.lanes.iter().zip(active).find(|(_, active)| **active)?.0;
                let number = usize::try_from(asking_lane.value_bits(lane)).ok()?;
                Some(self.lanes.get(number).map_or(GARBAGE, |lane| lane.value_bits(argument)))
            }
            _ => None,
        }
    }

    pub(super) fn step_lanes(&mut self, launch_state: &mut LaunchState<'_>) -> Result<(), InterpError> {
        self.lanes.iter_mut().for_each(|lane| lane.steps += 1);
        match launch_state.step_limit.checked_sub(1) {
            Some(left) => launch_state.step_limit = left,
            None => return Err(self.lanes[0].error_at(launch_state, Fault::StepLimit)),
        }
        Ok(())
    }

    /// Where the active lanes go. With no lane active any way is right, so what the first lane holds decides.
    fn branch_target<'t>(
        &self,
        launch_state: &mut LaunchState<'_>,
        terminator: &'t Terminator,
        active: &[bool],
    ) -> Result<&'t BlockCall, InterpError> {
        let targets = terminator.targets();
        let active_lanes = self.lanes.iter().zip(active).filter(|(_, active)| **active);
        let mut ways = active_lanes.map(|(lane, _)| (lane, chosen_target(lane, terminator)));
        let first_item = &self.lanes[0];
        let (leader, way) = ways.next().unwrap_or((first_item, chosen_target(first_item, terminator)));
        for (lane, other) in ways {
            if other != way {
                let (current_block, other_block) = (targets[way].block, targets[other].block);
                let message =
                    format!("work-item {:?} goes to {current_block}, this one to {other_block}", leader.global_id);
                return Err(lane.error_at(launch_state, Fault::DivergentBranch(message)));
            }
        }
        *launch_state.report.branches.entry((first_item.region, first_item.block, way as u32)).or_default() += 1;
        Ok(targets[way])
    }
}

/// Which of a terminator's targets a lane goes to.
fn chosen_target(lane: &Item, terminator: &Terminator) -> usize {
    match terminator {
        Terminator::Branch { condition, .. } => usize::from(lane.value_bits(*condition) == 0),
        Terminator::Switch { value, cases, .. } => {
            let value = lane.value_bits(*value);
            cases.iter().position(|(key, _)| *key == value).unwrap_or(cases.len())
        }
        _ => 0,
    }
}

/// Whether all lanes may execute an instruction, whatever its operands are: it has no effect and cannot fail.
fn is_total(inst_data: &InstData) -> bool {
    match inst_data {
        InstData::Binary { opcode, .. } => {
            !matches!(opcode, BinaryOp::Udiv | BinaryOp::Sdiv | BinaryOp::Urem | BinaryOp::Srem)
        }
        InstData::Combined => true,
        other => other.is_computation(),
    }
}
