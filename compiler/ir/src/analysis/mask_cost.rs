//! What it costs a gang that not all of its lanes run code: masks of memory accesses, guards, loops over the active
//! lanes.
//!
//! Requires: shapes of the values; the registers of the machine.
//! Ensures: numbers to compare with those of `cost`. They decide what is done, never what comes out.
//! Phases: none; a table, for accesses that of their lowering.
//! Source: measured. What masks of accesses there are the machine tells (`target`): where there is none, lanes go one by one.

use super::cost::{Lanes, estimate_lowering};
use crate::ir::{Function, Inst, InstData};
use crate::plan::access_lowering::LaneMask;
use crate::plan::access_lowering::price::{GUARD, LANE};
use crate::target::Registers;

/// What an instruction costs a gang more in a block that has a mask.
pub fn masking_cost(function: &Function, instruction: Inst, lane_facts: Lanes<'_>, registers: Registers) -> u64 {
    let inst_node = &function.insts[instruction];
    let lane_count = u64::from(registers.width);
    // Lanes that go on together are those of a gang, tiles or not.
    let lane_facts = Lanes { rows: None, ..lane_facts };
    let some_lanes = LaneMask::Some { may_be_empty: true, has_bounds: false };
    match &inst_node.data {
        InstData::Load { .. } | InstData::Store { .. } => {
            let lowering = estimate_lowering(function, instruction, lane_facts, registers, some_lanes);
            lowering.map_or(0, |lowering| lowering.cost_of_mask(registers))
        }
        InstData::Call { .. } => GUARD,
        // One operation for all active lanes.
        InstData::AtomicRmw { pointer, .. } if lane_facts.shapes[*pointer].is_uniform() => GUARD,
        InstData::MemCopy { .. }
        | InstData::MemSet { .. }
        | InstData::AtomicRmw { .. }
        | InstData::AtomicCas { .. }
        | InstData::CallHost { .. }
        | InstData::Printf { .. } => LANE * lane_count,
        _ => 0,
    }
}

#[cfg(test)]
mod tests;
