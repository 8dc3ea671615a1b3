//! Loops whose iterations are chains that need nothing of one another.
//!
//! A processor has only so many operations under way. Where an iteration is a chain of dozens, each of the one before it, these
//! are operations that wait, and few iterations are among them, although all of them could run at once. Where the operations
//! of several iterations stand in turn, as many chains advance.
//!
//! Requires: a block that is a loop; the shapes of its values; which arguments are apart.
//! Ensures: how many iterations are to advance at once. Where these are several, or `are_independent` says so, no iteration
//! accesses what another one writes, and they are plain accesses.
//! Phases: how long the chain is beside what is under way at once; whether the values have registers; each store and each access
//! of other iterations.
//! Source: ours; the window as in `analysis/critical_path.rs`.

use super::counter::{is_invariant, parameter_step};
use crate::analysis::affine_address::{Address, Roots, decompose_address};
use crate::analysis::critical_path::{WINDOW, longest_chain};
use crate::analysis::disjoint_memory::AccessedMemory;
use crate::analysis::recurrence::operation_latency;
use crate::analysis::shape::Shape;
use crate::analysis::underlying_objects::Origin;
use crate::ir::*;
use crate::target::Registers;
use cranelift_entity::SecondaryMap;
use lockstep_protocol::types::{Space, Type};
use std::collections::HashSet;

/// Vector registers whose chains advance at once. Two operations of four cycles begin in each, which takes eight chains; the other half
/// are those of the next iterations, which are in the window then.
const CHAINS: u64 = 4;

/// The cycles of a chain that are worth it: those in which a processor, at two operations a cycle, could do half as many again as it has
/// under way.
const LONG_CHAIN: u64 = WINDOW * 3 / 4;

/// Vector registers that are left to what an operation needs beside its values.
const SPARE_REGISTERS: u64 = 2;

/// The cycles up to which an operation may take in such a chain: of longer ones a processor does not begin two in a cycle.
const MOST_LATENCY: u64 = 5;

/// What is known of a block that is a loop.
pub(super) struct LoopBody<'a> {
    pub function: &'a Function,
    pub block: Block,
    pub back_edge: &'a BlockCall,
    pub shapes: &'a SecondaryMap<Value, Shape>,
    pub roots: &'a Roots,
    pub registers: Registers,
}

impl LoopBody<'_> {
    /// How many iterations are to advance at once, if that pays and their order does not matter.
    pub fn count_interleaved(&self) -> Option<u64> {
        let iterations = CHAINS / self.registers_of_a_value()?;
        let pays = iterations > 1 && self.is_long_chain() && self.have_room(iterations);
        (pays && self.are_independent()).then_some(iterations)
    }

    /// The registers that the widest of the lanes' values takes.
    fn registers_of_a_value(&self) -> Option<u64> {
        let results = self.instructions().flat_map(|inst_node| &inst_node.results);
        let varying = results.filter(|&&result| self.is_held_in_vectors(result));
        varying.map(|&result| self.registers.registers_for(self.function.ty(result))).max()
    }

    fn instructions(&self) -> impl DoubleEndedIterator<Item = &InstNode> {
        self.function.blocks[self.block].insts.iter().map(|&instruction| &self.function.insts[instruction])
    }

    fn is_held_in_vectors(&self, value: Value) -> bool {
        self.shapes[value].is_varying() && !matches!(self.function.ty(value), Type::Ptr(_))
    }

    /// Whether an iteration is a chain of short operations that keeps more of them waiting than a processor has under way.
    fn is_long_chain(&self) -> bool {
        let LoopBody { function, block, shapes, .. } = *self;
        let is_short = |&instruction: &Inst| match function.insts[instruction].data {
            InstData::Load { .. } | InstData::Store { .. } => true,
            _ => operation_latency(function, instruction, Some(shapes)) <= MOST_LATENCY,
        };
        function.blocks[block].insts.iter().all(is_short)
            && longest_chain(function, &[block], Some(shapes)) > LONG_CHAIN
    }

    /// Whether so many iterations' values have registers, beside those that are used in all of them.
    fn have_room(&self, iterations: u64) -> bool {
        let mut outside: HashSet<Value> = HashSet::new();
        let mut live: HashSet<Value> = HashSet::new();
        let mut most_live = 0;
        for inst_node in self.instructions().rev() {
            inst_node.results.iter().for_each(|result| {
                live.remove(result);
            });
            let computes = inst_node.results.iter().any(|&result| self.is_held_in_vectors(result));
            let stores = matches!(inst_node.data, InstData::Store { .. });
            inst_node.data.for_each_arg(|argument| {
                let is_number = !matches!(self.function.ty(argument), Type::Ptr(_));
                let is_constant = matches!(self.function.values[argument].definition, ValueDef::Const(_));
                if is_invariant(self.function, self.block, argument) {
                    if computes && is_number && !is_constant {
                        outside.insert(argument);
                    }
                } else if (computes || stores) && self.is_held_in_vectors(argument) && !self.is_load(argument) {
                    live.insert(argument);
                }
            });
            most_live = most_live.max(live.len() as u64);
        }
        let registers = if self.registers.bits() >= 512 { 32 } else { 16 };
        let of_iterations = iterations * most_live * self.registers_of_a_value().unwrap_or(1);
        of_iterations + outside.len() as u64 + SPARE_REGISTERS <= registers
    }

    /// Whether a value comes from memory, from where the operation takes it that uses it.
    fn is_load(&self, value: Value) -> bool {
        let ValueDef::Result(instruction, _) = self.function.values[value].definition else { return false };
        matches!(self.function.insts[instruction].data, InstData::Load { .. })
    }

    /// Whether the iterations may run in any order, and in turn: all that leads from one to the next is what counts them,
    /// and none accesses what another one writes.
    pub fn are_independent(&self) -> bool {
        let parameters = &self.function.blocks[self.block].params;
        let all_count = parameters
            .iter()
            .all(|&parameter| parameter_step(self.function, self.block, parameter, self.back_edge).is_some());
        let mut accesses: Vec<LoopAccess> = Vec::new();
        let all_known = self.instructions().all(|inst_node| match self.access_of(inst_node) {
            Accesses::None => true,
            Accesses::Known(access) => {
                accesses.push(access);
                true
            }
            Accesses::Unknown => false,
        });
        let conflict = |store: &LoopAccess| accesses.iter().any(|other| self.may_conflict(store, other));
        all_count && all_known && !accesses.iter().filter(|access| access.writes).any(conflict)
    }

    fn access_of(&self, inst_node: &InstNode) -> Accesses {
        let (pointer, offset, access, ty, count, writes) = match &inst_node.data {
            computation if computation.is_computation() => return Accesses::None,
            InstData::Load { pointer, offset, access } => {
                let ty = self.function.ty(inst_node.results[0]);
                (*pointer, *offset, access, ty, inst_node.results.len(), false)
            }
            InstData::Store { pointer, offset, access, arguments } => {
                (*pointer, *offset, access, self.function.ty(arguments[0]), arguments.len(), true)
            }
            _ => return Accesses::Unknown,
        };
        if access.volatile || access.atomic.is_some() {
            return Accesses::Unknown;
        }
        let (address, start) = decompose_address(self.function, pointer);
        let Type::Ptr(space) = self.function.ty(pointer) else { return Accesses::Unknown };
        let bytes = i64::from(ty.bytes()) * count as i64;
        let advance = super::address_advance(self.function, self.block, &address, self.back_edge);
        Accesses::Known(LoopAccess { space, address, start: start.wrapping_add(offset), bytes, advance, writes })
    }

    /// Whether a store of an iteration may be to bytes that an access of another iteration touches.
    fn may_conflict(&self, store: &LoopAccess, other: &LoopAccess) -> bool {
        if self.roots.are_apart(store.address.base, other.address.base)
            || store.memory().is_disjoint(&other.memory(), self.function)
        {
            return false;
        }
        let Some(advance) = store.advance.filter(|_| store.address == other.address) else { return true };
        let first = store.start.min(other.start);
        let end = store.start.saturating_add(store.bytes).max(other.start.saturating_add(other.bytes));
        // All bytes of an iteration lie before those of the next one.
        end.saturating_sub(first) > advance.saturating_abs()
    }
}

/// What an instruction accesses.
enum Accesses {
    None,
    Known(LoopAccess),
    /// It may be any memory, or something else that has an order.
    Unknown,
}

/// An access in a loop.
struct LoopAccess {
    space: Space,
    address: Address,
    /// Bytes from the address to what is accessed.
    start: i64,
    bytes: i64,
    /// Bytes from an iteration's address to the next one's, if known.
    advance: Option<i64>,
    writes: bool,
}

impl LoopAccess {
    fn memory(&self) -> AccessedMemory {
        AccessedMemory { base: self.address.base, space: self.space, origin: Origin::Unknown }
    }
}
