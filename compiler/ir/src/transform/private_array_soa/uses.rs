//! Which private slots can be interleaved, and the size of their elements.
//!
//! Requires: as `interleave`, and where the addresses of each region point.
//! Ensures: what is said of a slot holds in all regions.
//! Phases: note the uses of every slot; then drop slots until no address may point both into a slot that can
//! be interleaved and elsewhere.
//! Source: as `interleave`.

use super::{LONGEST_COPY, MOST_SLOT_ALIGN};
use crate::analysis::points_to::{Pointees, passed_on};
use crate::ir::*;
use cranelift_entity::{EntitySet, SecondaryMap};
use lockstep_protocol::types::Type;

/// The size that the widest accesses may have, in elements.
const WIDEST_ACCESS: u32 = 2;

/// How a slot is used.
#[derive(Clone, Copy, Debug)]
struct Uses {
    /// Not as it must be.
    unfit: bool,
    /// The sizes of the smallest and the largest accesses in bytes.
    smallest: u32,
    largest: u32,
    /// A power of two that divides the offsets of all accesses and the lengths of all copies.
    align: u32,
    /// Bytes of the longest copy.
    longest: u64,
}

impl Default for Uses {
    fn default() -> Uses {
        Uses { unfit: false, smallest: u32::MAX, largest: 0, align: 1 << 31, longest: 0 }
    }
}

impl Uses {
    fn element_size(self) -> Option<u32> {
        let element = self.smallest;
        let fits = !self.unfit
            && element <= 8
            && self.largest <= WIDEST_ACCESS * element
            && self.align >= element
            && self.longest <= LONGEST_COPY * u64::from(element);
        fits.then_some(element)
    }
}

/// The element size of each slot that can be interleaved and is not shared.
pub fn element_sizes(
    kernel: &Kernel,
    pointees: &[SecondaryMap<Value, Pointees>],
    shared: &EntitySet<Slot>,
) -> SecondaryMap<Slot, Option<u32>> {
    let mut uses: SecondaryMap<Slot, Uses> = SecondaryMap::new();
    for (slot, slot_data) in &kernel.slots {
        uses[slot].align = slot_data.align;
        uses[slot].unfit =
            shared.contains(slot) || slot_data.layout != SlotLayout::Apart || slot_data.align > MOST_SLOT_ALIGN;
    }
    for (function, pointees) in kernel.regions.values().zip(pointees) {
        for &block in &function.layout {
            for &inst in &function.blocks[block].insts {
                note_uses(kernel, function, pointees, &function.insts[inst], &mut uses);
            }
        }
    }
    let mut elements: SecondaryMap<Slot, Option<u32>> = SecondaryMap::new();
    kernel.slots.keys().for_each(|slot| elements[slot] = uses[slot].element_size());
    let mut changed = true;
    while changed {
        changed = false;
        for found in pointees.iter().flat_map(|pointees| pointees.values()) {
            // One address is computed in one way, and one access made of as many elements.
            let element = found.slots.first().and_then(|&slot| elements[slot]);
            if found.other || found.slots.iter().any(|&slot| elements[slot] != element) {
                found.slots.iter().for_each(|&slot| changed |= elements[slot].take().is_some());
            }
        }
        // The same of the two sides of a copy.
        for (function, pointees) in kernel.regions.values().zip(pointees) {
            for (_, node) in function.insts.iter() {
                let InstData::MemCopy { destination, source, .. } = node.data else { continue };
                let of = |pointer: Value| pointees[pointer].slots.first().copied();
                if let (Some(a), Some(b)) = (of(destination), of(source))
                    && elements[a] != elements[b]
                    && elements[a].is_some()
                    && elements[b].is_some()
                {
                    elements[a] = None;
                    elements[b] = None;
                    changed = true;
                }
            }
        }
    }
    elements
}

/// Notes what one instruction does with the addresses of slots.
fn note_uses(
    kernel: &Kernel,
    function: &Function,
    pointees: &SecondaryMap<Value, Pointees>,
    node: &InstNode,
    uses: &mut SecondaryMap<Slot, Uses>,
) {
    let mut at = |pointer: Value, change: &dyn Fn(&mut Uses)| {
        pointees[pointer].slots.iter().for_each(|&slot| change(&mut uses[slot]));
    };
    let mut access = |pointer: Value, ty: Type, access: &Access| {
        at(pointer, &|slot_uses| {
            slot_uses.unfit |= access.volatile || access.atomic.is_some();
            slot_uses.smallest = slot_uses.smallest.min(ty.bytes());
            slot_uses.largest = slot_uses.largest.max(ty.bytes());
            slot_uses.align = slot_uses.align.min(access.align);
        });
    };
    let unfit = |slot_uses: &mut Uses| slot_uses.unfit = true;
    match &node.data {
        InstData::Load { pointer, access: how, .. } => {
            node.results.iter().for_each(|&result| access(*pointer, function.ty(result), how));
        }
        InstData::Store { pointer, access: how, arguments, .. } => {
            arguments.iter().for_each(|&argument| access(*pointer, function.ty(argument), how));
            arguments.iter().for_each(|&argument| at(argument, &unfit));
        }
        InstData::MemSet { destination, byte, length, volatile } => {
            let known = function.const_bits(*byte).is_some() && !volatile;
            let noted = note_block_copy(kernel, function, *destination, *length, known);
            // As long as it likes: long ones are loops.
            at(*destination, &|slot_uses| {
                let longest = slot_uses.longest;
                noted(slot_uses);
                slot_uses.longest = longest;
            });
        }
        InstData::MemCopy { destination, source, length, volatile, .. } => {
            at(*destination, &note_block_copy(kernel, function, *destination, *length, !volatile));
            at(*source, &note_block_copy(kernel, function, *source, *length, !volatile));
        }
        InstData::Icmp { .. } | InstData::Unary { opcode: UnaryOp::SpaceOf, .. } => {}
        inst_data if !passed_on(inst_data).is_empty() => {}
        inst_data => inst_data.for_each_arg(|argument| at(argument, &unfit)),
    }
}

/// What to note of one side of a copy.
fn note_block_copy(
    kernel: &Kernel,
    function: &Function,
    pointer: Value,
    length: Value,
    fits: bool,
) -> impl Fn(&mut Uses) + use<> {
    let length = function.const_bits(length).and_then(|length| u64::try_from(length).ok());
    let aligned = address_alignment(kernel, function, pointer).min(1 << length.unwrap_or(0).trailing_zeros().min(31));
    move |slot_uses| {
        slot_uses.unfit |= !fits || length.is_none();
        slot_uses.align = slot_uses.align.min(aligned);
        slot_uses.longest = slot_uses.longest.max(length.unwrap_or(0));
    }
}

/// A power of two that divides an address in a slot, as far as can be seen.
fn address_alignment(kernel: &Kernel, function: &Function, pointer: Value) -> u32 {
    let ValueDef::Result(inst, _) = function.values[pointer].definition else { return 1 };
    match function.insts[inst].data {
        InstData::SlotAddr { slot } => kernel.slots[slot].align,
        InstData::PtrAdd { base, offset, .. } => {
            address_alignment(kernel, function, base).min(known_divisor(function, offset))
        }
        InstData::Unary { opcode: UnaryOp::SpaceCast | UnaryOp::Freeze, argument, .. } => {
            address_alignment(kernel, function, argument)
        }
        _ => 1,
    }
}

/// A power of two that divides a number, as far as can be seen.
fn known_divisor(function: &Function, value: Value) -> u32 {
    let power = |bits: u128| 1 << bits.trailing_zeros().min(31);
    match function.values[value].definition {
        ValueDef::Const(bits) => power(bits),
        ValueDef::Param(..) => 1,
        ValueDef::Result(inst, _) => match function.insts[inst].data {
            InstData::Binary { opcode: BinaryOp::Shl, arguments: [_, k], .. } => {
                function.const_bits(k).map_or(1, |k| 1 << k.min(31) as u32)
            }
            InstData::Binary { opcode: BinaryOp::Mul, arguments: [_, c], .. } => {
                function.const_bits(c).map_or(1, power)
            }
            _ => 1,
        },
    }
}
