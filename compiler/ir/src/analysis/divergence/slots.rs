//! Private slots that hold the same in all lanes.
//!
//! Requires: the divergence of a region under the assumption that the slots in question are uniform.
//! Ensures: what stays in the set is written only with uniform values at uniform addresses, no lane sees what
//! others wrote, and its address goes nowhere but to loads and such writes.
//! Phases: slots whose address is kept, passed on or made a number go at once; then, each time the
//! divergence was computed, those that are written otherwise, and those whose states join (`alloca_ssa`).
//! Source: Moll 2021, 6.5.2 and 6.6.

use super::alloca_ssa::States;
use super::{Divergence, Graph};
use crate::analysis::pointees::find_pointees;
use crate::ir::*;
use cranelift_entity::{EntitySet, SecondaryMap};

/// Adds the slots whose addresses are only used to read and write.
pub fn private_only(kernel: &Kernel, slots: &mut EntitySet<Slot>) {
    let apart = |data: &SlotData| data.layout == SlotLayout::Apart;
    kernel.slots.iter().filter(|(_, data)| apart(data)).for_each(|(slot, _)| {
        slots.insert(slot);
    });
    for f in kernel.regions.values() {
        let pointees = find_pointees(f);
        for &block in &f.layout {
            for &inst in &f.blocks[block].insts {
                let data = &f.insts[inst].data;
                let mut escapes = |arg: Value| {
                    for &slot in &pointees[arg].slots {
                        slots.remove(slot);
                    }
                };
                match data {
                    InstData::PtrAdd { .. }
                    | InstData::Icmp { .. }
                    | InstData::Load { .. }
                    | InstData::MemCopy { .. }
                    | InstData::MemSet { .. }
                    | InstData::Unary { opcode: UnaryOp::SpaceCast | UnaryOp::Freeze | UnaryOp::SpaceOf, .. }
                    | InstData::Ternary { opcode: TernaryOp::Select, .. } => {}
                    InstData::Store { arguments: args, .. } => args.iter().for_each(|&arg| escapes(arg)),
                    _ => data.for_each_arg(escapes),
                }
            }
        }
    }
}

/// Drops the slots that are written in a way that may differ between lanes; whether there were any.
pub(super) fn drop_varying(
    graph: &Graph<'_>,
    found: &Divergence,
    states: &SecondaryMap<Slot, States>,
    slots: &mut EntitySet<Slot>,
) -> bool {
    let f = graph.function;
    let pointees = find_pointees(f);
    let mut changed = false;
    for &block in &f.layout {
        for &inst in &f.blocks[block].insts {
            let same = |v: &Value| found.is_uniform(*v);
            let (to, uniform) = match &f.insts[inst].data {
                InstData::Store { pointer: ptr, arguments: args, access, .. } => {
                    (ptr, same(ptr) && args.iter().all(same) && !access.volatile && access.atomic.is_none())
                }
                InstData::MemCopy { destination: dst, source: src, length: len, overlap, volatile } => {
                    // What moves within a slot must not do so once per lane.
                    let moves = *overlap && pointees[*dst].slots.iter().any(|slot| pointees[*src].slots.contains(slot));
                    (dst, same(dst) && same(src) && same(len) && !volatile && !moves)
                }
                InstData::MemSet { destination: dst, byte, length: len, volatile } => {
                    (dst, same(dst) && same(byte) && same(len) && !volatile)
                }
                _ => continue,
            };
            if !uniform {
                for &slot in &pointees[*to].slots {
                    changed |= slots.remove(slot);
                }
            }
        }
    }
    let differing: Vec<Slot> = slots.iter().filter(|&slot| states[slot].may_differ(graph, found)).collect();
    for slot in differing {
        changed |= slots.remove(slot);
    }
    changed
}
