//! Private slots that hold the same in all lanes.
//!
//! Requires: the divergence of a region under the assumption that the slots in question are uniform.
//! Ensures: what stays in the set is written only with uniform values at uniform addresses, no lane sees what
//! others wrote, and its address goes nowhere but to loads and such writes.
//! Phases: slots whose address is kept, passed on or made a number go at once; then, each time the
//! divergence was computed, those that are written otherwise, and those whose states join (`alloca_ssa`).
//! Source: Moll 2021, 6.5.2 and 6.6.

use super::alloca_ssa::States;
use super::found::Divergence;
use super::graph::Graph;
use crate::analysis::points_to::find_pointees;
use crate::ir::*;
use cranelift_entity::{EntitySet, SecondaryMap};

/// Adds the slots whose addresses are only used to read and write.
pub fn private_only(kernel: &Kernel, slots: &mut EntitySet<Slot>) {
    let is_apart = |slot_data: &SlotData| slot_data.layout == SlotLayout::Apart;
    kernel.slots.iter().filter(|(_, slot_data)| is_apart(slot_data)).for_each(|(slot, _)| {
        slots.insert(slot);
    });
    for function in kernel.regions.values() {
        let pointees = find_pointees(function);
        for &block in &function.layout {
            for &instruction in &function.blocks[block].insts {
                let inst_data = &function.insts[instruction].data;
                let mut escapes = |argument: Value| {
                    for &slot in &pointees[argument].slots {
                        slots.remove(slot);
                    }
                };
                match inst_data {
                    InstData::PtrAdd { .. }
                    | InstData::Icmp { .. }
                    | InstData::Load { .. }
                    | InstData::MemCopy { .. }
                    | InstData::MemSet { .. }
                    | InstData::Unary { opcode: UnaryOp::SpaceCast | UnaryOp::Freeze | UnaryOp::SpaceOf, .. }
                    | InstData::Ternary { opcode: TernaryOp::Select, .. } => {}
                    InstData::Store { arguments, .. } => arguments.iter().for_each(|&argument| escapes(argument)),
                    _ => inst_data.for_each_arg(escapes),
                }
            }
        }
    }
}

/// Drops the slots that are written in a way that may differ between lanes; whether there were any.
pub(super) fn drop_varying(
    graph: &Graph<'_>,
    divergence: &Divergence,
    states: &SecondaryMap<Slot, States>,
    slots: &mut EntitySet<Slot>,
) -> bool {
    let function = graph.function;
    let pointees = find_pointees(function);
    let mut changed = false;
    for &block in &function.layout {
        for &instruction in &function.blocks[block].insts {
            let is_same = |value: &Value| divergence.is_uniform(*value);
            let (address, uniform) = match &function.insts[instruction].data {
                InstData::Store { pointer, arguments, access, .. } => (
                    pointer,
                    is_same(pointer) && arguments.iter().all(is_same) && !access.volatile && access.atomic.is_none(),
                ),
                InstData::MemCopy { destination, source, length, overlap, volatile } => {
                    // What moves within a slot must not do so once per lane.
                    let moves = *overlap
                        && pointees[*destination].slots.iter().any(|slot| pointees[*source].slots.contains(slot));
                    (destination, is_same(destination) && is_same(source) && is_same(length) && !volatile && !moves)
                }
                InstData::MemSet { destination, byte, length, volatile } => {
                    (destination, is_same(destination) && is_same(byte) && is_same(length) && !volatile)
                }
                _ => continue,
            };
            if !uniform {
                for &slot in &pointees[*address].slots {
                    changed |= slots.remove(slot);
                }
            }
        }
    }
    let differing: Vec<Slot> = slots.iter().filter(|&slot| states[slot].may_differ(graph, divergence)).collect();
    for slot in differing {
        changed |= slots.remove(slot);
    }
    changed
}
