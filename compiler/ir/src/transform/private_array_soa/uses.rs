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
    /// Notes an access of some values, one after the other.
    fn note_access(&mut self, function: &Function, values: &[Value], access: &Access) {
        for &value in values {
            let bytes = function.ty(value).bytes();
            self.unfit |= access.volatile || access.atomic.is_some();
            self.smallest = self.smallest.min(bytes);
            self.largest = self.largest.max(bytes);
            self.align = self.align.min(access.align);
        }
    }

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
            for &instruction in &function.blocks[block].insts {
                note_uses(kernel, function, pointees, &function.insts[instruction], &mut uses);
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
            for (_, inst_node) in function.insts.iter() {
                let InstData::MemCopy { destination, source, .. } = inst_node.data else { continue };
                let slot_of = |pointer: Value| pointees[pointer].slots.first().copied();
                if let (Some(target_slot), Some(source_slot)) = (slot_of(destination), slot_of(source))
                    && elements[target_slot] != elements[source_slot]
                    && elements[target_slot].is_some()
                    && elements[source_slot].is_some()
                {
                    elements[target_slot] = None;
                    elements[source_slot] = None;
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
    inst_node: &InstNode,
    uses: &mut SecondaryMap<Slot, Uses>,
) {
    let mut change_slots = |pointer: Value, change: &dyn Fn(&mut Uses)| {
        pointees[pointer].slots.iter().for_each(|&slot| change(&mut uses[slot]));
    };
    let set_unfit = |slot_uses: &mut Uses| slot_uses.unfit = true;
    match &inst_node.data {
        InstData::Load { pointer, access, .. } => {
            change_slots(*pointer, &|slot_uses| slot_uses.note_access(function, &inst_node.results, access));
        }
        InstData::Store { pointer, access, arguments, .. } => {
            change_slots(*pointer, &|slot_uses| slot_uses.note_access(function, arguments, access));
            arguments.iter().for_each(|&argument| change_slots(argument, &set_unfit));
        }
        InstData::MemSet { destination, byte, length, volatile } => {
            let is_known = function.const_bits(*byte).is_some() && !volatile;
            let note_fill = note_block_copy(kernel, function, *destination, *length, is_known);
            // As long as it likes: long ones are loops.
            change_slots(*destination, &|slot_uses| {
                let longest = slot_uses.longest;
                note_fill(slot_uses);
                slot_uses.longest = longest;
            });
        }
        InstData::MemCopy { destination, source, length, volatile, .. } => {
            change_slots(*destination, &note_block_copy(kernel, function, *destination, *length, !volatile));
            change_slots(*source, &note_block_copy(kernel, function, *source, *length, !volatile));
        }
        InstData::Icmp { .. } | InstData::Unary { opcode: UnaryOp::SpaceOf, .. } => {}
        inst_data if !passed_on(inst_data).is_empty() => {}
        inst_data => inst_data.for_each_arg(|argument| change_slots(argument, &set_unfit)),
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
    let ValueDef::Result(instruction, _) = function.values[pointer].definition else { return 1 };
    match function.insts[instruction].data {
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
    let power_of = |bits: u128| 1 << bits.trailing_zeros().min(31);
    match function.values[value].definition {
        ValueDef::Const(bits) => power_of(bits),
        ValueDef::Param(..) => 1,
        ValueDef::Result(instruction, _) => match function.insts[instruction].data {
            InstData::Binary { opcode: BinaryOp::Shl, arguments: [_, amount], .. } => {
                function.const_bits(amount).map_or(1, |amount| 1 << amount.min(31) as u32)
            }
            InstData::Binary { opcode: BinaryOp::Mul, arguments: [_, factor], .. } => {
                function.const_bits(factor).map_or(1, power_of)
            }
            _ => 1,
        },
    }
}
