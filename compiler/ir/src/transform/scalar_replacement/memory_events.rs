//! What the blocks of a region do to memory, in their order.
//!
//! Requires: verified code, and where addresses come from.
//! Ensures: an instruction that is no event neither changes nor orders memory. Two places that are equal where both are known are the same bytes,
//! or nobody may access one of them.
//! Phases: one walk over the blocks, each address as a linear sum.
//! Source: none; `analysis/affine_address.rs` and `analysis/disjoint_memory.rs` decide.

use crate::analysis::affine_address::{Address, decompose_address};
use crate::analysis::disjoint_memory::AccessedMemory;
use crate::analysis::underlying_objects::Origins;
use crate::ir::{Block, Function, Inst, InstData, SourceLoc, Value, ValueDef};
use cranelift_entity::SecondaryMap;
use lockstep_protocol::types::Type;

/// Elements at an address, which is told by values that are there where somebody asks for the place.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) struct Place {
    pub(super) address: Address,
    /// Bytes from the address on to the first element.
    pub(super) start: i64,
    pub(super) element: Type,
    pub(super) count: u32,
}

impl Place {
    /// The first byte behind it, from the address on.
    pub(super) fn end(&self) -> i64 {
        self.start.wrapping_add(i64::from(self.count) * i64::from(self.element.bytes()))
    }

    /// The values that tell where it is.
    pub(super) fn leaves(&self) -> impl Iterator<Item = Value> {
        self.address.terms.iter().map(|&(value, ..)| value).chain([self.address.base])
    }

    fn overlaps(&self, other: &Place) -> bool {
        self.start < other.end() && other.start < self.end()
    }
}

/// A plain load or store.
#[derive(Clone, Debug)]
pub(super) struct MemoryAccess {
    pub(super) place: Place,
    pub(super) memory: AccessedMemory,
    pub(super) align: u32,
    /// What was there, or what is there then.
    pub(super) values: Vec<Value>,
    pub(super) is_store: bool,
    pub(super) location: SourceLoc,
}

/// An instruction that matters to who asks what is in memory.
#[derive(Clone, Debug)]
pub(super) struct Event {
    pub(super) inst: Inst,
    /// The position in its block.
    pub(super) position: usize,
    /// The access; none: nobody may look past this instruction.
    pub(super) access: Option<MemoryAccess>,
}

/// What an event is to a place.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Effect {
    /// It tells what is there.
    Tells,
    /// It may change what is there, or orders memory.
    Ends,
    /// It is about something else.
    Passes,
}

/// A region's accesses, and where its values are computed.
pub(super) struct Memory {
    pub(super) events: SecondaryMap<Block, Vec<Event>>,
    homes: SecondaryMap<Inst, Option<(Block, u32)>>,
}

impl Memory {
    pub(super) fn of_region(function: &Function, origins: &Origins) -> Memory {
        let mut memory = Memory { events: SecondaryMap::new(), homes: SecondaryMap::new() };
        for &block in &function.layout {
            for (position, &inst) in function.blocks[block].insts.iter().enumerate() {
                memory.homes[inst] = Some((block, position as u32));
                if is_event(&function.insts[inst].data) {
                    let access = describe_access(function, origins, inst);
                    memory.events[block].push(Event { inst, position, access });
                }
            }
        }
        memory
    }

    /// The block that computes a value, and the instruction's position in it; no position for parameters, nothing for constants.
    pub(super) fn home_of(&self, function: &Function, value: Value) -> Option<(Block, Option<usize>)> {
        match function.values[value].definition {
            ValueDef::Result(inst, _) => self.homes[inst].map(|(block, position)| (block, Some(position as usize))),
            ValueDef::Param(block, _) => Some((block, None)),
            ValueDef::Const(_) => None,
        }
    }

    /// The positions in a block of the instructions that compute what tells a place.
    pub(super) fn definitions_in<'a>(
        &'a self,
        function: &'a Function,
        block: Block,
        place: &'a Place,
    ) -> impl Iterator<Item = usize> + 'a {
        place.leaves().filter_map(move |leaf| match self.home_of(function, leaf) {
            Some((home_block, Some(position))) if home_block == block => Some(position),
            _ => None,
        })
    }
}

/// What an event is to a place in some memory.
pub(super) fn effect_of(function: &Function, event: &Event, place: &Place, memory: &AccessedMemory) -> Effect {
    let Some(access) = &event.access else { return Effect::Ends };
    if access.place == *place {
        return Effect::Tells;
    }
    let may_change = access.is_store
        && match access.place.address == place.address {
            true => access.place.overlaps(place),
            false => !access.memory.is_disjoint(memory, function),
        };
    if may_change { Effect::Ends } else { Effect::Passes }
}

/// Whether an instruction accesses memory or orders it, or lanes speak to each other by it.
fn is_event(inst_data: &InstData) -> bool {
    matches!(inst_data, InstData::Load { .. }) || inst_data.has_effect() || inst_data.needs_lanes()
}

/// The plain load or store that an instruction is.
fn describe_access(function: &Function, origins: &Origins, inst: Inst) -> Option<MemoryAccess> {
    let inst_node = &function.insts[inst];
    let (pointer, offset, access, values) = match &inst_node.data {
        InstData::Load { pointer, offset, access } => (*pointer, *offset, access, &inst_node.results),
        InstData::Store { pointer, offset, access, arguments } => (*pointer, *offset, access, arguments),
        _ => return None,
    };
    let (Type::Ptr(space), Some(&first_value)) = (function.ty(pointer), values.first()) else { return None };
    if access.volatile || access.atomic.is_some() {
        return None;
    }
    let (address, constant) = decompose_address(function, pointer);
    let (base, start) = (address.base, constant.wrapping_add(offset));
    Some(MemoryAccess {
        place: Place { address, start, element: function.ty(first_value), count: values.len() as u32 },
        memory: AccessedMemory { base, space, origin: origins.of_access(&inst_node.data) },
        align: access.align,
        values: values.clone(),
        is_store: matches!(inst_node.data, InstData::Store { .. }),
        location: inst_node.location,
    })
}
