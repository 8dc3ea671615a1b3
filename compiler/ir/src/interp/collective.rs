//! What happens when all work-items of a group have arrived: collective operations.
//!
//! Requires: all work-items wait at one place.
//! Ensures: they go on with their answers. Values are put together in the order of the work-items' numbers.

use super::fault::{Fault, InterpError};
use super::gang::Gang;
use super::item::{Arrival, Item};
use crate::eval::operation::evaluate_binary;
use crate::ir::{BinaryOp, Collect, Combine, InstData, Kernel};
use lockstep_protocol::types::Type;

/// Gives the waiting work-items the answer of the collective operation that they wait at, if they do.
pub(super) fn answer_collective(kernel: &Kernel, arrival: Arrival, gangs: &mut [Gang]) -> Result<(), InterpError> {
    let items = || gangs.iter().flat_map(|gang| &gang.lanes);
    match arrival {
        Arrival::Barrier(region, instruction) => {
            let inst_node = &kernel.regions[region].insts[instruction];
            let InstData::Collective { collective, opcode, argument } = inst_node.data else { return Ok(()) };
            let values: Vec<u128> = items().map(|work_item| work_item.value_bits(argument)).collect();
            let answers = compute_answers(collective, opcode, kernel.regions[region].ty(argument), &values)?;
            for (work_item, answer) in all_items(gangs).zip(answers) {
                work_item.values[inst_node.results[0].as_u32() as usize] = answer;
            }
        }
        Arrival::Region(region) => {
            let Some(Combine { collective, opcode, live_slot }) = kernel.combines[region] else {
                return Ok(());
            };
            let slot = live_slot.as_u32() as usize;
            let values: Option<Vec<u128>> = items().map(|work_item| work_item.live[slot]).collect();
            let Some(values) = values else {
                return Err(Fault::Undefined(format!("{live_slot} was never stored")).into());
            };
            let answers = compute_answers(collective, opcode, kernel.live[live_slot].ty, &values)?;
            for (work_item, answer) in all_items(gangs).zip(answers) {
                match collective {
                    Collect::Reduce => work_item.combined = answer,
                    Collect::Inclusive | Collect::Exclusive => work_item.live[slot] = Some(answer),
                }
            }
        }
        Arrival::End => {}
    }
    Ok(())
}

fn all_items(gangs: &mut [Gang]) -> impl Iterator<Item = &mut Item> {
    gangs.iter_mut().flat_map(|gang| &mut gang.lanes)
}

/// What each work-item is told, given their values.
pub(super) fn compute_answers(
    collective: Collect,
    opcode: BinaryOp,
    result_type: Type,
    values: &[u128],
) -> Result<Vec<u128>, Fault> {
    let mut accumulated = opcode.identity(result_type).unwrap_or(0);
    let mut answers = Vec::with_capacity(values.len());
    for &value in values {
        let before = accumulated;
        accumulated = evaluate_binary(opcode, result_type, accumulated, value)?;
        answers.push(if collective == Collect::Exclusive { before } else { accumulated });
    }
    if collective == Collect::Reduce {
        answers.fill(accumulated);
    }
    Ok(answers)
}
