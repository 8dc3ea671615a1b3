//! Where a kernel's private slots and kept values live: on the worker's stack, once per worker, or
//! once per work-item.
//!
//! A slot whose contents end with the region that uses it needs memory for one work-item only, as
//! work-items run one after the other: small ones become stack variables, which LLVM can keep in
//! registers, large ones the worker's part of the scratch memory; in gangs, each lane has a copy there. A
//! slot whose contents a later region may read exists once per work-item. Per-item storage is a structure of
//! arrays: all work-items' copies of one slot lie together. The copies that a gang has of an interleaved slot
//! are one block, wherever that is; so that every gang has room for all lanes, rows of work-items then have
//! storage for whole gangs.

use crate::analysis::spin_loops::region_may_wait;
use crate::ir::{Function, InstData, Kernel, LiveSlot, Slot, SlotLayout, Terminator, UnaryOp, Value};
use cranelift_entity::{EntityRef, SecondaryMap};
use lockstep_protocol::kernel_abi::ScratchNeeds;
use lockstep_protocol::layout::Layout;
use lockstep_protocol::types::Type;

/// Stack bytes that one kernel's slots may take; worker threads' stacks hold much more, so that
/// this leaves room for the application's frames below.
const STACK_BYTES: u64 = 16 << 10;

/// The same of a function that is called: many may be on the stack at once.
const CALLED_STACK_BYTES: u64 = 2 << 10;

/// The alignment that a gang's rows of elements get, as far as they are so long: that of a cache line.
const ROW_ALIGN: u32 = 64;

/// The alignment of the scratch memory and of its parts.
pub const SCRATCH_ALIGN: u64 = 128;

/// The home of a private slot.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum SlotHome {
    /// No instruction uses it.
    #[default]
    Unused,
    /// A variable in the machine's stack frame.
    Stack,
    /// Bytes at this offset of the worker's part, used by one work-item after the other.
    Worker(u64),
    /// An array with one element per work-item, after `offset * items` bytes of the items' part.
    Item {
        /// Bytes per work-item of the arrays before this one.
        offset: u64,
        /// Bytes of one element. In an interleaved slot, a gang's block is as many elements.
        stride: u64,
    },
}

/// The layout of a kernel's scratch memory.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Storage {
    /// Byte offset of each `__local` variable.
    pub locals: Vec<u64>,
    /// The home of each slot.
    pub slots: SecondaryMap<Slot, SlotHome>,
    /// Bytes from one lane's address of a slot to the next one's.
    pub strides: SecondaryMap<Slot, u64>,
    /// Bytes of all copies of each slot that are not per work-item, and their alignment.
    pub blocks: SecondaryMap<Slot, (u64, u32)>,
    /// Per value that each work-item keeps: bytes per work-item of the arrays before its own.
    pub live: Vec<u64>,
    /// What the runtime has to provide.
    pub needs: ScratchNeeds,
    /// Whether some instruction asks for the address space of a generic address.
    pub asks_space: bool,
}

impl Storage {
    /// Lays out the scratch memory of a kernel whose gangs have at most `lane_count` work-items.
    pub fn lay_out(kernel: &Kernel, lane_count: u32, layout: Layout) -> Storage {
        Storage::lay_out_within(STACK_BYTES, kernel, lane_count, layout)
    }

    /// Lays out what a function that is called has for itself, in the worker's part behind what a kernel needs there; the kernel then
    /// needs both. The function runs for so many work-items at once.
    pub fn lay_out_called(function: &Kernel, lane_count: u32, needs: &mut ScratchNeeds) -> Storage {
        let mut storage = Storage::lay_out_within(CALLED_STACK_BYTES, function, lane_count, Layout::X);
        for home in storage.slots.values_mut() {
            if let SlotHome::Worker(offset) = home {
                *offset += needs.worker_bytes;
            }
        }
        needs.worker_bytes += storage.needs.worker_bytes;
        storage
    }

    fn lay_out_within(most_stack_bytes: u64, kernel: &Kernel, lane_count: u32, layout: Layout) -> Storage {
        let mut needs = ScratchNeeds { dim: layout.lane_dimension(), ..ScratchNeeds::default() };
        let locals =
            kernel.locals.values().map(|local| place_next(&mut needs.local_bytes, local.size, local.align)).collect();
        let asks_space = kernel.regions.values().any(asks_space);
        let slot_uses = kept_slots(kernel);
        let in_turns = used_in_turns(kernel);
        let mut slots = SecondaryMap::new();
        let mut strides: SecondaryMap<Slot, u64> = SecondaryMap::new();
        let mut blocks = SecondaryMap::new();
        let mut live_offsets = vec![0; kernel.live.len()];
        // Arrays of elements with falling alignment need no gaps between them, however many
        // work-items there are.
        let mut arrays: Vec<(u64, Array)> = apart_values(kernel)
            .map(|(slot, value_type)| (u64::from(value_type.bytes()), Array::Live(slot, value_type)))
            .collect();
        let mut stack_bytes = most_stack_bytes;
        let mut by_size: Vec<Slot> = kernel.slots.keys().collect();
        by_size.sort_by_key(|&slot| kernel.slots[slot].size);
        for slot in by_size {
            let slot_data = kernel.slots[slot];
            strides[slot] = match slot_data.layout {
                SlotLayout::Apart => slot_data.size.next_multiple_of(slot_data.align.max(1).into()),
                SlotLayout::Shared => 0,
                SlotLayout::Interleaved { element, .. } => element.into(),
            };
            let (byte_size, alignment) = match slot_data.layout {
                SlotLayout::Interleaved { element, lanes: lane_count } => {
                    let byte_size = slot_data.size.next_multiple_of(element.into()) * u64::from(lane_count);
                    (byte_size, slot_data.align.max(ROW_ALIGN.min(element * lane_count)))
                }
                SlotLayout::Apart if lane_count > 1 => (strides[slot] * u64::from(lane_count), slot_data.align),
                SlotLayout::Apart | SlotLayout::Shared => (slot_data.size, slot_data.align),
            };
            blocks[slot] = (byte_size, alignment);
            // The address of a stack variable tells nothing about its address space.
            let frame_bytes = byte_size.next_multiple_of(u64::from(alignment).max(1));
            let on_stack = frame_bytes <= stack_bytes && alignment <= PAGE_ALIGNMENT && !asks_space;
            let slot_use = match slot_uses[slot] {
                Use::Passing if in_turns[slot] && !on_stack => Use::Kept,
                slot_use => slot_use,
            };
            slots[slot] = match slot_use {
                Use::None => SlotHome::Unused,
                Use::Kept => {
                    arrays.push((u64::from(slot_data.align).min(SCRATCH_ALIGN), Array::Slot(slot)));
                    SlotHome::Unused
                }
                Use::Passing if on_stack => {
                    stack_bytes -= frame_bytes;
                    SlotHome::Stack
                }
                Use::Passing => SlotHome::Worker(place_next(&mut needs.worker_bytes, byte_size, alignment)),
            };
        }
        arrays.sort_by_key(|&(alignment, _)| std::cmp::Reverse(alignment));
        for (alignment, array) in arrays {
            let offset = needs.item_bytes;
            let stride = match array {
                Array::Live(slot, value_type) => {
                    live_offsets[slot.index()] = offset;
                    u64::from(value_type.bytes())
                }
                Array::Slot(slot) => {
                    let slot_data = kernel.slots[slot];
                    let stride = match slot_data.layout {
                        SlotLayout::Apart | SlotLayout::Shared => padded_size(slot_data.size, slot_data.align)
                            .next_multiple_of(alignment.max(slot_data.align.into())),
                        SlotLayout::Interleaved { element, lanes: lane_count } => {
                            // Groups are whole tiles.
                            if layout != Layout::Tile {
                                needs.row = needs.row.max(lane_count.into());
                            }
                            slot_data.size.next_multiple_of(element.into()).next_multiple_of(alignment)
                        }
                    };
                    if slot_data.layout == SlotLayout::Apart {
                        strides[slot] = stride;
                    }
                    slots[slot] = SlotHome::Item { offset, stride };
                    stride
                }
            };
            needs.item_bytes += stride;
        }
        needs.local_bytes = needs.local_bytes.next_multiple_of(SCRATCH_ALIGN);
        needs.worker_bytes = needs.worker_bytes.next_multiple_of(SCRATCH_ALIGN);
        Storage { locals, slots, strides, blocks, live: live_offsets, needs, asks_space }
    }
}

/// What each work-item keeps for itself; what a group shares is on the worker's stack.
fn apart_values(kernel: &Kernel) -> impl Iterator<Item = (LiveSlot, Type)> {
    kernel.live.iter().filter(|(_, live_data)| !live_data.shared).map(|(slot, live_data)| (slot, live_data.ty))
}

enum Array {
    Live(LiveSlot, Type),
    Slot(Slot),
}

/// That of a page: the widest of variables on the stack, and of those of which each lane of a gang has a copy. Each takes as many bytes at
/// least.
pub(super) const PAGE_ALIGNMENT: u32 = 4096;

/// The next place for `byte_size` bytes in an area that now has `end_offset` bytes.
fn place_next(end_offset: &mut u64, byte_size: u64, alignment: u32) -> u64 {
    let offset = end_offset.next_multiple_of(u64::from(alignment).clamp(1, SCRATCH_ALIGN));
    *end_offset = offset + padded_size(byte_size, alignment);
    offset
}

/// A variable's bytes and, where its alignment exceeds that of the scratch memory, what rounding its
/// address up may take.
fn padded_size(byte_size: u64, alignment: u32) -> u64 {
    if u64::from(alignment) > SCRATCH_ALIGN { byte_size + u64::from(alignment) } else { byte_size }
}

/// The slots of regions in which work-items wait for others: while one waits others run, so what each uses is its own.
fn used_in_turns(kernel: &Kernel) -> SecondaryMap<Slot, bool> {
    let mut used_slots = SecondaryMap::new();
    for function in kernel.regions.values().filter(|function| region_may_wait(function)) {
        for &instruction in function.layout.iter().flat_map(|&block| &function.blocks[block].insts) {
            if let InstData::SlotAddr { slot } = function.insts[instruction].data {
                used_slots[slot] = true;
            }
        }
    }
    used_slots
}

fn asks_space(function: &Function) -> bool {
    let instructions = function.layout.iter().flat_map(|&block| &function.blocks[block].insts);
    instructions.into_iter().any(|&instruction| {
        matches!(function.insts[instruction].data, InstData::Unary { opcode: UnaryOp::SpaceOf, .. })
    })
}

#[derive(Clone, Copy, PartialEq, Eq, Default)]
enum Use {
    #[default]
    None,
    /// Within one run of one region by one work-item.
    Passing,
    /// Possibly read by a later region.
    Kept,
}

/// What becomes of each slot's contents at barriers. A slot is `Passing` if only one region uses it,
/// that region never runs again for the same work-item, and its address goes nowhere but into the
/// addresses of memory accesses.
fn kept_slots(kernel: &Kernel) -> SecondaryMap<Slot, Use> {
    let mut uses: SecondaryMap<Slot, Use> = SecondaryMap::new();
    for (region, function) in &kernel.regions {
        let mut is_run_again = None;
        let mut used_here: SecondaryMap<Slot, bool> = SecondaryMap::new();
        for &block in &function.layout {
            for &instruction in &function.blocks[block].insts {
                if let InstData::SlotAddr { slot } = function.insts[instruction].data {
                    used_here[slot] = true;
                }
            }
        }
        let escaped = if kernel.regions.len() > 1 { escaping_slots(function) } else { Vec::new() };
        for slot in kernel.slots.keys().filter(|&slot| used_here[slot]) {
            // Asked where nothing else decides, as it takes a walk over all regions.
            let mut is_run_again = || *is_run_again.get_or_insert_with(|| runs_again(kernel, region));
            uses[slot] = if uses[slot] != Use::None || escaped.contains(&slot) || is_run_again() {
                Use::Kept
            } else {
                Use::Passing
            };
        }
    }
    uses
}

/// Whether a work-item that leaves this region can come back to it.
fn runs_again(kernel: &Kernel, region: crate::ir::Region) -> bool {
    let mut visited = vec![false; kernel.regions.len()];
    let mut worklist = vec![region];
    while let Some(source) = worklist.pop() {
        let function = &kernel.regions[source];
        for &block in &function.layout {
            if let Terminator::Exit(target) = function.blocks[block].terminator {
                if target == region {
                    return true;
                }
                if !std::mem::replace(&mut visited[target.index()], true) {
                    worklist.push(target);
                }
            }
        }
    }
    false
}

/// Adds the slots that one value may point to, to those of another; whether that is something new.
fn add_slots(points: &mut SecondaryMap<Value, Vec<Slot>>, target: Value, source: Value) -> bool {
    let slots = points[source].clone();
    let known_slots = &mut points[target];
    let before = known_slots.len();
    for slot in slots {
        if !known_slots.contains(&slot) {
            known_slots.push(slot);
        }
    }
    known_slots.len() != before
}

/// The slots of which an address may be used for more than accessing memory in this region.
fn escaping_slots(function: &Function) -> Vec<Slot> {
    // Which slots' addresses a value may be: a fixed point over everything that passes addresses on.
    let mut points: SecondaryMap<Value, Vec<Slot>> = SecondaryMap::new();
    let mut changed = true;
    while changed {
        changed = false;
        for &block in &function.layout {
            for &instruction in &function.blocks[block].insts {
                let inst_node = &function.insts[instruction];
                match &inst_node.data {
                    InstData::SlotAddr { slot } => {
                        let result_slots = &mut points[inst_node.results[0]];
                        if result_slots.is_empty() {
                            result_slots.push(*slot);
                            changed = true;
                        }
                    }
                    inst_data if passes_on(inst_data) => inst_data.for_each_arg(|argument| {
                        changed |= add_slots(&mut points, inst_node.results[0], argument);
                    }),
                    _ => {}
                }
            }
            for target in function.blocks[block].terminator.targets() {
                for (&parameter, &argument) in function.blocks[target.block].params.iter().zip(&target.arguments) {
                    changed |= add_slots(&mut points, parameter, argument);
                }
            }
        }
    }
    let mut escaped = Vec::new();
    for &block in &function.layout {
        for &instruction in &function.blocks[block].insts {
            let inst_data = &function.insts[instruction].data;
            let mut escape = |value| escaped.extend_from_slice(&points[value]);
            match inst_data {
                InstData::Load { .. } | InstData::MemCopy { .. } | InstData::MemSet { .. } | InstData::Icmp { .. } => {}
                InstData::Store { arguments, .. } => arguments.iter().copied().for_each(escape),
                InstData::AtomicRmw { argument, .. } => escape(*argument),
                InstData::AtomicCas { expected, new, .. } => {
                    escape(*expected);
                    escape(*new);
                }
                inst_data if passes_on(inst_data) => {}
                inst_data => inst_data.for_each_arg(escape),
            }
        }
    }
    escaped
}

/// Whether the result may be an address that one of the operands is.
fn passes_on(inst_data: &InstData) -> bool {
    matches!(
        inst_data,
        InstData::PtrAdd { .. }
            | InstData::Ternary { .. }
            | InstData::Unary { opcode: UnaryOp::SpaceCast | UnaryOp::Freeze, .. }
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ir::parse_module;
    use crate::transform::barriers::cut_at_barriers;

    /// The layout of a kernel with these slots (size and alignment) and this code behind its entry.
    fn layout(slots: &[(u64, u32)], code: &str) -> Storage {
        let mut text =
            "kernel \"k\" {\n args 8\n param \"x\" pointer.global \"int*\" size 8 align 8 offset 0\n".to_string();
        text += " input value(0, 0): ptr.global\n local lv0 size 5 align 1\n local lv1 size 16 align 16\n";
        for (index, (size, alignment)) in slots.iter().enumerate() {
            text += &format!(" slot ss{index} size {size} align {alignment}\n");
        }
        text += &format!(" region r0 {{\n b0(v0: ptr.global):\n{code}\n return\n }}\n}}\n");
        let mut module = parse_module(&text).unwrap_or_else(|error| panic!("{error}\n{text}"));
        cut_at_barriers(&mut module.kernels[0]);
        Storage::lay_out(&module.kernels[0], 1, Layout::X)
    }

    fn homes(storage: &Storage, count: u32) -> Vec<SlotHome> {
        (0..count).map(|index| storage.slots[Slot::from_u32(index)]).collect()
    }

    const USE: &str = " v1: ptr.private = slot_addr ss0\n store 1:i32 to v1 align 4\n";
    /// A barrier that stays.
    const BARRIER: &str = " v9: i32 = load v0 align 4\n barrier\n store v9 to v0 align 4\n";

    #[test]
    fn locals_come_first() {
        let storage = layout(&[], "");
        assert_eq!(storage.locals, [0, 16]);
        assert_eq!(storage.needs.local_bytes, 128);
        assert_eq!(storage.needs.item_bytes, 0);
    }

    #[test]
    fn small_slots_stand_on_the_stack_large_ones_do_not() {
        let code = format!("{USE} v2: ptr.private = slot_addr ss1\n store 1:i32 to v2 align 4");
        let storage = layout(&[(64, 4), (STACK_BYTES, 4), (8, 4)], &code);
        assert_eq!(homes(&storage, 3), [SlotHome::Stack, SlotHome::Worker(0), SlotHome::Unused]);
        assert_eq!(storage.needs.worker_bytes, STACK_BYTES);
    }

    #[test]
    fn a_slot_is_kept_if_a_later_region_uses_it() {
        let before = layout(&[(12, 4)], &format!("{USE}{BARRIER}"));
        assert_eq!(homes(&before, 1), [SlotHome::Stack]);
        assert_eq!(before.needs.item_bytes, 4, "the loaded value");
        let both = layout(&[(12, 4)], &format!("{USE}{BARRIER} store 2:i32 to v1 align 4"));
        assert!(matches!(homes(&both, 1)[0], SlotHome::Item { stride: 12, .. }));
        assert_eq!(both.needs.item_bytes, 16);
    }

    #[test]
    fn a_slot_is_kept_if_its_address_is_stored() {
        let code = format!("{USE} v2: ptr.generic = spacecast v1\n store v2 to v0 align 8\n{BARRIER}");
        assert!(matches!(homes(&layout(&[(12, 4)], &code), 1)[0], SlotHome::Item { .. }));
    }

    #[test]
    fn a_slot_is_kept_if_its_region_runs_again() {
        let code = format!(" jump b1\n b1:\n{BARRIER}{USE} v2: i1 = icmp.eq v9, 0:i32\n br v2, b1, b2\n b2:");
        assert!(matches!(homes(&layout(&[(12, 4)], &code), 1)[0], SlotHome::Item { .. }));
    }

    #[test]
    fn arrays_of_all_items_lie_by_falling_alignment() {
        let code = format!(
            "{USE} v2: ptr.private = slot_addr ss1\n store 1:i32 to v2 align 4\n{BARRIER} \
             store 2:i32 to v1 align 4\n store 2:i32 to v2 align 4"
        );
        let storage = layout(&[(12, 4), (32, 16)], &code);
        let expected = [SlotHome::Item { offset: 36, stride: 12 }, SlotHome::Item { offset: 0, stride: 32 }];
        assert_eq!(homes(&storage, 2), expected);
        assert_eq!(storage.live, [32]);
        assert_eq!(storage.needs.item_bytes, 48);
    }

    #[test]
    fn totals_do_not_wrap() {
        let needs = ScratchNeeds { worker_bytes: 128, item_bytes: 48, ..ScratchNeeds::default() };
        assert_eq!(needs.total_bytes(256, [5, 2, 1]), Some(256 + 128 + 480));
        assert_eq!(needs.total_bytes(256, [u64::MAX / 2, 1, 1]), None);
        let rows = ScratchNeeds { row: 8, ..needs };
        assert_eq!(rows.total_bytes(256, [5, 2, 1]), Some(256 + 128 + 48 * 16));
        assert_eq!(rows.total_bytes(256, [u64::MAX, 1, 1]), None);
        let columns = ScratchNeeds { dim: 1, ..rows };
        assert_eq!(columns.total_bytes(256, [5, 2, 1]), Some(256 + 128 + 48 * 40));
    }
}
