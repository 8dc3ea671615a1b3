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
const GARBAGE: u128 = 0xa5a5_a5a5_a5a5_a5a5_a5a5_a5a5_a5a5_a5a5;

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
        run: &mut LaunchState<'_>,
        group: &Group,
        memory: &mut Memory,
    ) -> Result<Arrival, InterpError> {
        let kernel = run.kernel;
        loop {
            let (region, block) = (self.lanes[0].region, self.lanes[0].block);
            let function = &kernel.regions[region];
            let mask = function.masks[block].expand();
            let active: Vec<bool> =
                self.lanes.iter().map(|lane| mask.is_none_or(|m| lane.value_bits(m) != 0)).collect();
            for &inst in &function.blocks[block].insts {
                self.step_lanes(run)?;
                let inst_data = &function.insts[inst].data;
                let answers = self.answer_lanes(run, function, inst_data, &active)?;
                for (n, (lane, &active)) in self.lanes.iter_mut().zip(&active).enumerate() {
                    let results = &function.insts[inst].results;
                    if let Some(answers) = &answers {
                        lane.values[results[0].as_u32() as usize] = answers[n] & function.ty(results[0]).value_mask();
                    } else if active || is_total(inst_data) {
                        let done = lane.execute_inst(run, group, memory, function, inst);
                        done.map_err(|fault| lane.error_at(run, fault))?;
                    } else {
                        for &result in results {
                            lane.values[result.as_u32() as usize] = GARBAGE & function.ty(result).value_mask();
                        }
                    }
                    lane.position += 1;
                }
            }
            self.step_lanes(run)?;
            let terminator = &function.blocks[block].terminator;
            match terminator {
                Terminator::Return => return Ok(Arrival::End),
                Terminator::Exit(region) => {
                    for lane in &mut self.lanes {
                        let entered = lane.enter_region(run, group, *region, memory);
                        entered.map_err(|fault| lane.error_at(run, fault))?;
                    }
                    return Ok(Arrival::Region(*region));
                }
                Terminator::Unreachable => {
                    let fault = Fault::Undefined("reached `unreachable`".to_string());
                    return Err(self.lanes[0].error_at(run, fault));
                }
                Terminator::Jump(_) | Terminator::Branch { .. } | Terminator::Switch { .. } => {}
            }
            let target = self.branch_target(run, terminator, &active)?;
            for lane in &mut self.lanes {
                let arguments: Vec<u128> = target.arguments.iter().map(|&value| lane.value_bits(value)).collect();
                for (&param, bits) in function.blocks[target.block].params.iter().zip(arguments) {
                    lane.values[param.as_u32() as usize] = bits;
                }
                lane.block = target.block;
                lane.position = 0;
            }
        }
    }

    /// What each lane gets from an instruction that asks others, or that lanes do together.
    pub(super) fn answer_lanes(
        &self,
        run: &mut LaunchState<'_>,
        function: &Function,
        inst_data: &InstData,
        active: &[bool],
    ) -> Result<Option<Vec<u128>>, Fault> {
        match *inst_data {
            InstData::Clock => Ok(Some(vec![run.read_clock().into(); self.lanes.len()])),
            InstData::Shuffle { argument, lane } => {
                let held = |from: &Item| {
                    let number = from.value_bits(lane) as usize % self.width;
                    let there = active.get(number).is_some_and(|&active| active);
                    if there { self.lanes[number].value_bits(argument) } else { GARBAGE }
                };
                Ok(Some(self.lanes.iter().map(held).collect()))
            }
            InstData::Put { into, lane, value } => {
                let held = |(n, own): (usize, &Item)| {
                    own.value_bits(if own.value_bits(lane) == n as u128 { value } else { into })
                };
                Ok(Some(self.lanes.iter().enumerate().map(held).collect()))
            }
            InstData::Across { collective, opcode, cluster, argument } => {
                let ty = function.ty(argument);
                let identity = opcode.identity(ty).unwrap_or(0);
                let value = |(lane, &active): (&Item, &bool)| if active { lane.value_bits(argument) } else { identity };
                let values: Vec<u128> = self.lanes.iter().zip(active).map(value).collect();
                let size = cluster.lane_count(self.width as u32) as usize;
                let parts = values.chunks(size).map(|values| compute_answers(collective, opcode, ty, values));
                Ok(Some(parts.collect::<Result<Vec<_>, Fault>>()?.concat()))
            }
            _ => Ok(self.common_answer(inst_data, active).map(|answer| vec![answer; self.lanes.len()])),
        }
    }

    /// What all lanes get together from an instruction that asks all of them.
    fn common_answer(&self, inst_data: &InstData, active: &[bool]) -> Option<u128> {
        let holds = |condition| {
            self.lanes
                .iter()
                .zip(active)
                .map(move |(lane, &active): (&Item, _)| active && lane.value_bits(condition) != 0)
        };
        match *inst_data {
            InstData::Any { condition } => Some(holds(condition).any(|holds| holds).into()),
            InstData::Ballot { condition } => {
                Some(holds(condition).enumerate().map(|(n, holds)| u128::from(holds) << n).sum())
            }
            InstData::LaneOf { argument, lane } => {
                // The active lanes agree on the number.
                let asks = self.lanes.iter().zip(active).find(|(_, active)| **active)?.0;
                let number = usize::try_from(asks.value_bits(lane)).ok()?;
                Some(self.lanes.get(number).map_or(GARBAGE, |lane| lane.value_bits(argument)))
            }
            _ => None,
        }
    }

    pub(super) fn step_lanes(&mut self, run: &mut LaunchState<'_>) -> Result<(), InterpError> {
        self.lanes.iter_mut().for_each(|lane| lane.steps += 1);
        match run.step_limit.checked_sub(1) {
            Some(left) => run.step_limit = left,
            None => return Err(self.lanes[0].error_at(run, Fault::StepLimit)),
        }
        Ok(())
    }

    /// Where the active lanes go. With no lane active any way is right, so what the first lane holds decides.
    fn branch_target<'t>(
        &self,
        run: &mut LaunchState<'_>,
        terminator: &'t Terminator,
        active: &[bool],
    ) -> Result<&'t BlockCall, InterpError> {
        let targets = terminator.targets();
        let chosen = |lane: &Item| match terminator {
            Terminator::Branch { condition, .. } => usize::from(lane.value_bits(*condition) == 0),
            Terminator::Switch { value, cases, .. } => {
                let value = lane.value_bits(*value);
                cases.iter().position(|(key, _)| *key == value).unwrap_or(cases.len())
            }
            _ => 0,
        };
        let mut ways =
            self.lanes.iter().zip(active).filter(|(_, active)| **active).map(|(lane, _)| (lane, chosen(lane)));
        let first = &self.lanes[0];
        let (leader, way) = ways.next().unwrap_or((first, chosen(first)));
        for (lane, other) in ways {
            if other != way {
                let (current_block, there) = (targets[way].block, targets[other].block);
                let what = format!("work-item {:?} goes to {current_block}, this one to {there}", leader.global_id);
                return Err(lane.error_at(run, Fault::DivergentBranch(what)));
            }
        }
        *run.report.branches.entry((first.region, first.block, way as u32)).or_default() += 1;
        Ok(targets[way])
    }
}

/// Whether all lanes may execute an instruction, whatever its operands are: it has no effect and cannot fail.
fn is_total(inst_data: &InstData) -> bool {
    match inst_data {
        InstData::Binary { opcode, .. } => {
            !matches!(opcode, BinaryOp::Udiv | BinaryOp::Sdiv | BinaryOp::Urem | BinaryOp::Srem)
        }
        InstData::Unary { .. }
        | InstData::Ternary { .. }
        | InstData::Icmp { .. }
        | InstData::Fcmp { .. }
        | InstData::PtrAdd { .. }
        | InstData::Query { .. }
        | InstData::SlotAddr { .. }
        | InstData::LocalAddr { .. }
        | InstData::GlobalAddr { .. }
        | InstData::Combined => true,
        _ => false,
    }
}
