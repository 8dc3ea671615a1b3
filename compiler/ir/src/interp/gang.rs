//! Work-items in lock-step, as the lanes of a gang.
//!
//! Requires: linearized code.
//! Ensures: as for single work-items; lanes where a block's mask does not hold touch nothing, and what they
//! compute is some number.

use super::collective::compute_answers;
use super::item::{Arrival, Group, Item};
use super::{Fault, InterpError, Memory, Run};
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
        run: &mut Run<'_>,
        group: &Group,
        memory: &mut Memory,
    ) -> Result<Arrival, InterpError> {
        let kernel = run.kernel;
        loop {
            let (region, block) = (self.lanes[0].region, self.lanes[0].block);
            let f = &kernel.regions[region];
            let mask = f.masks[block].expand();
            let active: Vec<bool> =
                self.lanes.iter().map(|lane| mask.is_none_or(|m| lane.value_bits(m) != 0)).collect();
            for &inst in &f.blocks[block].insts {
                self.step_lanes(run)?;
                let data = &f.insts[inst].data;
                let answers = self.answer_lanes(run, f, data, &active)?;
                for (n, (lane, &active)) in self.lanes.iter_mut().zip(&active).enumerate() {
                    let results = &f.insts[inst].results;
                    if let Some(answers) = &answers {
                        lane.values[results[0].as_u32() as usize] = answers[n] & f.ty(results[0]).value_mask();
                    } else if active || is_total(data) {
                        let done = lane.execute_inst(run, group, memory, f, inst);
                        done.map_err(|fault| lane.error_at(run, fault))?;
                    } else {
                        for &result in results {
                            lane.values[result.as_u32() as usize] = GARBAGE & f.ty(result).value_mask();
                        }
                    }
                    lane.position += 1;
                }
            }
            self.step_lanes(run)?;
            let term = &f.blocks[block].terminator;
            match term {
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
            let to = self.branch_target(run, term, &active)?;
            for lane in &mut self.lanes {
                let args: Vec<u128> = to.arguments.iter().map(|&v| lane.value_bits(v)).collect();
                for (&param, bits) in f.blocks[to.block].params.iter().zip(args) {
                    lane.values[param.as_u32() as usize] = bits;
                }
                lane.block = to.block;
                lane.position = 0;
            }
        }
    }

    /// What each lane gets from an instruction that asks others, or that lanes do together.
    pub(super) fn answer_lanes(
        &self,
        run: &mut Run<'_>,
        f: &Function,
        data: &InstData,
        active: &[bool],
    ) -> Result<Option<Vec<u128>>, Fault> {
        match *data {
            InstData::Clock => Ok(Some(vec![run.read_clock().into(); self.lanes.len()])),
            InstData::Shuffle { argument: arg, lane } => {
                let held = |from: &Item| {
                    let number = from.value_bits(lane) as usize % self.width;
                    let there = active.get(number).is_some_and(|&active| active);
                    if there { self.lanes[number].value_bits(arg) } else { GARBAGE }
                };
                Ok(Some(self.lanes.iter().map(held).collect()))
            }
            InstData::Put { into, lane, value } => {
                let held = |(n, own): (usize, &Item)| {
                    own.value_bits(if own.value_bits(lane) == n as u128 { value } else { into })
                };
                Ok(Some(self.lanes.iter().enumerate().map(held).collect()))
            }
            InstData::Across { collective: how, opcode: op, cluster, argument: arg } => {
                let ty = f.ty(arg);
                let identity = op.identity(ty).unwrap_or(0);
                let value = |(lane, &active): (&Item, &bool)| if active { lane.value_bits(arg) } else { identity };
                let values: Vec<u128> = self.lanes.iter().zip(active).map(value).collect();
                let size = cluster.lane_count(self.width as u32) as usize;
                let parts = values.chunks(size).map(|values| compute_answers(how, op, ty, values));
                Ok(Some(parts.collect::<Result<Vec<_>, Fault>>()?.concat()))
            }
            _ => Ok(self.common_answer(data, active).map(|answer| vec![answer; self.lanes.len()])),
        }
    }

    /// What all lanes get together from an instruction that asks all of them.
    fn common_answer(&self, data: &InstData, active: &[bool]) -> Option<u128> {
        let holds = |cond| {
            self.lanes.iter().zip(active).map(move |(lane, &active): (&Item, _)| active && lane.value_bits(cond) != 0)
        };
        match *data {
            InstData::Any { condition: cond } => Some(holds(cond).any(|holds| holds).into()),
            InstData::Ballot { condition: cond } => {
                Some(holds(cond).enumerate().map(|(n, holds)| u128::from(holds) << n).sum())
            }
            InstData::LaneOf { argument: arg, lane } => {
                // The active lanes agree on the number.
                let asks = self.lanes.iter().zip(active).find(|(_, active)| **active)?.0;
                let number = usize::try_from(asks.value_bits(lane)).ok()?;
                Some(self.lanes.get(number).map_or(GARBAGE, |lane| lane.value_bits(arg)))
            }
            _ => None,
        }
    }

    pub(super) fn step_lanes(&mut self, run: &mut Run<'_>) -> Result<(), InterpError> {
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
        run: &mut Run<'_>,
        term: &'t Terminator,
        active: &[bool],
    ) -> Result<&'t BlockCall, InterpError> {
        let targets = term.targets();
        let chosen = |lane: &Item| match term {
            Terminator::Branch { condition: cond, .. } => usize::from(lane.value_bits(*cond) == 0),
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
                let (here, there) = (targets[way].block, targets[other].block);
                let what = format!("work-item {:?} goes to {here}, this one to {there}", leader.global_id);
                return Err(lane.error_at(run, Fault::DivergentBranch(what)));
            }
        }
        *run.report.branches.entry((first.region, first.block, way as u32)).or_default() += 1;
        Ok(targets[way])
    }
}

/// Whether all lanes may execute an instruction, whatever its operands are: it has no effect and cannot fail.
fn is_total(data: &InstData) -> bool {
    match data {
        InstData::Binary { opcode: op, .. } => {
            !matches!(op, BinaryOp::Udiv | BinaryOp::Sdiv | BinaryOp::Urem | BinaryOp::Srem)
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
