//! What it costs a gang that not all of its lanes run code: masks of memory accesses, guards, loops over the active
//! lanes.
//!
//! Requires: shapes of the values; the registers of the machine.
//! Ensures: numbers to compare with those of `cost`. They decide what is done, never what comes out.
//! Phases: none; a table.
//! Source: measured. AVX-512 and SVE have masks for accesses of every kind. Registers of 256 bits have them for
//! elements of four and eight bytes that lie side by side or are read, those of 128 bits for none: then lanes go one by
//! one.

use super::cost::Lanes;
use crate::ir::{Function, Inst, InstData, Value};
use crate::plan::access_lowering::{AccessClass, Direction, classify};
use crate::target::Registers;
use lockstep_protocol::types::Type;

/// Whether any lane is active, and a branch.
const GUARD: u64 = 3;

/// What keeps one lane apart.
const LANE: u64 = 3;

/// What an instruction costs a gang more in a block that has a mask.
pub fn extra(f: &Function, inst: Inst, Lanes { shapes, lines, .. }: Lanes<'_>, registers: Registers) -> u64 {
    let node = &f.insts[inst];
    let lanes = u64::from(registers.width);
    let access = |ptr: Value, ty: Type, count: usize, direction: Direction| {
        let stride = lines[ptr].as_ref().map(|line| line.stride).or(shapes[ptr].stride());
        let count = count as u64;
        let has_masks = registers.bits() >= 512 || registers.bits() >= 256 && ty.bytes() >= 4;
        match classify(stride, ty.bytes(), count as u32, registers.width, direction) {
            AccessClass::Uniform => GUARD,
            _ if !has_masks => LANE * lanes * count,
            AccessClass::Rows { row, .. } => u64::from(row) * registers.of(ty),
            // Lanes store one by one with and without a mask.
            AccessClass::Scattered if direction == Direction::Store && registers.bits() < 512 => {
                GUARD + count * registers.of(ty)
            }
            AccessClass::Scattered => count * registers.of(ty),
        }
    };
    match &node.data {
        InstData::Load { ptr, .. } => {
            node.results.first().map_or(0, |&v| access(*ptr, f.ty(v), node.results.len(), Direction::Load))
        }
        InstData::Store { ptr, args, .. } => {
            args.first().map_or(0, |&v| access(*ptr, f.ty(v), args.len(), Direction::Store))
        }
        // One operation for all active lanes.
        InstData::AtomicRmw { ptr, .. } if shapes[*ptr].is_uniform() => GUARD,
        InstData::MemCopy { .. }
        | InstData::MemSet { .. }
        | InstData::AtomicRmw { .. }
        | InstData::AtomicCas { .. }
        | InstData::CallHost { .. }
        | InstData::Printf { .. } => LANE * lanes,
        _ => 0,
    }
}
