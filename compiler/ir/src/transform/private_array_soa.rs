//! Private arrays as structures of arrays.
//!
//! A private slot of which each lane of a gang has a copy of its own is laid out element by element: the
//! lanes' first elements side by side, then their second ones. What all lanes access at the same index is
//! then one row, a plain vector in memory, and what they access at their own indices is close together.
//!
//! Requires: regions that verify; the gang's lanes, a power of two; the slots that the gang shares.
//! Ensures: slots that the gang shares are [`SlotLayout::Shared`]. Each other slot whose addresses only serve
//! to load and store, and whose accesses fall into aligned elements of one size, is
//! [`SlotLayout::Interleaved`], and code that uses it accesses single elements; all regions agree. The kernel
//! means the same, and normal form is kept.
//! Phases: find the slots and their elements ([`uses`]); in each region multiply what is added to their
//! addresses by the number of lanes, cut wider accesses into elements and write short copies as loads and
//! stores, and fills as stores, long ones in a loop.
//! Source: Moll 2021, section 6.6, for which objects are not shared; Karrenberg & Hack 2012, section 3.3,
//! for consecutive accesses.

use crate::analysis::points_to::{Pointees, find_pointees};
use crate::ir::*;
use crate::simplify::{Operands, Simpler, simplest_form};
use cranelift_entity::{EntitySet, SecondaryMap};
use lockstep_protocol::types::Type;

mod uses;

/// The greatest alignment of a private slot of which each lane has its own.
pub const MOST_SLOT_ALIGN: u32 = 128;

/// The most elements of a copy or fill that is written as loads and stores.
const LONGEST_COPY: u64 = 32;

/// Lays out the private slots of a kernel for gangs of `lane_count` work-items, which share some of them.
pub fn interleave_slots(kernel: &mut Kernel, lane_count: u32, shared: &EntitySet<Slot>) {
    let pointees: Vec<SecondaryMap<Value, Pointees>> = kernel.regions.values().map(find_pointees).collect();
    let elements = uses::element_sizes(kernel, &pointees, shared);
    for (slot, slot_data) in kernel.slots.iter_mut() {
        if shared.contains(slot) {
            slot_data.layout = SlotLayout::Shared;
        }
        if let Some(element) = elements[slot] {
            slot_data.layout = SlotLayout::Interleaved { element, lanes: lane_count };
        }
    }
    for (function, pointees) in kernel.regions.values_mut().zip(&pointees) {
        let (block, location) = (function.entry_block(), SourceLoc::default());
        Rewriter { function, pointees, elements: &elements, lanes: lane_count, block, insts: Vec::new(), location }
            .rewrite_function();
    }
}

struct Rewriter<'a> {
    function: &'a mut Function,
    pointees: &'a SecondaryMap<Value, Pointees>,
    elements: &'a SecondaryMap<Slot, Option<u32>>,
    lanes: u32,
    /// The block that is being made, and its new instructions.
    block: Block,
    insts: Vec<Inst>,
    location: SourceLoc,
}

impl Rewriter<'_> {
    fn rewrite_function(&mut self) {
        for block in self.function.layout.clone() {
            self.block = block;
            for instruction in std::mem::take(&mut self.function.blocks[block].insts) {
                self.location = self.function.insts[instruction].location;
                self.rewrite_inst(instruction);
            }
            self.function.blocks[self.block].insts = std::mem::take(&mut self.insts);
        }
    }

    /// The element size of the interleaved slots that an address points into.
    fn element_size(&self, pointer: Value) -> Option<u32> {
        let slot = *self.pointees.get(pointer)?.slots.first()?;
        self.elements[slot]
    }

    fn rewrite_inst(&mut self, instruction: Inst) {
        let inst_data = self.function.insts[instruction].data.clone();
        match inst_data {
            InstData::PtrAdd { base, offset, .. } if self.element_size(base).is_some() => {
                let offset = self.scale_offset(offset);
                // The end of a lane's part lies behind the object in all lanes but the first.
                self.function.insts[instruction].data = InstData::PtrAdd { base, offset, inbounds: false };
                self.insts.push(instruction);
            }
            InstData::Load { pointer, offset, .. } => match self.element_size(pointer) {
                Some(element) => self.load_results(instruction, pointer, offset, element),
                None => self.insts.push(instruction),
            },
            InstData::Store { pointer, offset, ref arguments, .. } => match self.element_size(pointer) {
                Some(element) => {
                    let mut element_offset = offset;
                    for &argument in arguments {
                        for part in self.split_into_elements(argument, element) {
                            self.store_element(pointer, element_offset, part);
                            element_offset += i64::from(element);
                        }
                    }
                }
                None => self.insts.push(instruction),
            },
            InstData::MemSet { destination, byte, length, .. } => match self.element_size(destination) {
                Some(element) => self.fill_elements(destination, byte, length, element),
                None => self.insts.push(instruction),
            },
            InstData::MemCopy { destination, source, length, .. } => {
                match self.element_size(destination).or(self.element_size(source)) {
                    Some(element) => self.copy_elements(destination, source, length, element),
                    None => self.insts.push(instruction),
                }
            }
            _ => self.insts.push(instruction),
        }
    }

    /// A new instruction of this block with one result, or what stands for it.
    fn append_single(&mut self, inst_data: InstData, result_type: Type) -> Value {
        let inst_data = match simplest_form(self.function, inst_data, result_type, Operands::Any) {
            Simpler::Value(value) => return value,
            Simpler::Operation(inst_data) => inst_data,
        };
        let instruction = self.function.make_inst(inst_data, &[result_type], self.location);
        self.insts.push(instruction);
        self.function.single_result(instruction)
    }

    fn unary(&mut self, opcode: UnaryOp, result_type: Type, argument: Value) -> Value {
        if self.function.ty(argument) == result_type {
            return argument;
        }
        self.append_single(InstData::Unary { opcode, fast_math: FastMath::default(), argument }, result_type)
    }

    fn binary(&mut self, opcode: BinaryOp, left: Value, right: Value) -> Value {
        let operand_type = self.function.ty(left);
        let inst_data = InstData::Binary {
            opcode,
            flags: IntFlags::default(),
            fast_math: FastMath::default(),
            arguments: [left, right],
        };
        self.append_single(inst_data, operand_type)
    }

    /// A byte offset, as many times as there are lanes.
    fn scale_offset(&mut self, offset: Value) -> Value {
        let offset_type = self.function.ty(offset);
        let shift = self.function.constant(offset_type, self.lanes.trailing_zeros().into());
        self.binary(BinaryOp::Shl, offset, shift)
    }

    /// Reads an element of one lane, or of other memory.
    fn load_element(&mut self, pointer: Value, offset: i64, element_type: Type) -> Value {
        let (offset, access) = self.place_and_access(pointer, offset, element_type.bytes());
        self.append_single(InstData::Load { pointer, offset, access }, element_type)
    }

    /// Writes an element of one lane, or to other memory.
    fn store_element(&mut self, pointer: Value, offset: i64, argument: Value) {
        let (offset, access) = self.place_and_access(pointer, offset, self.function.ty(argument).bytes());
        let instruction = self.function.make_inst(
            InstData::Store { pointer, offset, access, arguments: vec![argument] },
            &[],
            self.location,
        );
        self.insts.push(instruction);
    }

    /// Where bytes are that lie at an offset of a work-item's own copy. Of other memory nothing is known.
    fn place_and_access(&self, pointer: Value, offset: i64, bytes: u32) -> (i64, Access) {
        match self.element_size(pointer) {
            Some(_) => (offset.wrapping_mul(self.lanes.into()), Access::plain(bytes)),
            None => (offset, Access::plain(1)),
        }
    }

    fn load_results(&mut self, instruction: Inst, pointer: Value, offset: i64, element: u32) {
        let results = self.function.insts[instruction].results.clone();
        let mut element_offset = offset;
        for result in results {
            let result_type = self.function.ty(result);
            if result_type.bytes() == element {
                let (offset, access) = self.place_and_access(pointer, element_offset, element);
                let load = self.function.make_inst(InstData::Load { pointer, offset, access }, &[], self.location);
                self.define_result(load, result);
                element_offset += i64::from(element);
                continue;
            }
            let whole_type = Type::Int(8 * result_type.bytes() as u16);
            let mut bits = None;
            for part in 0..result_type.bytes() / element {
                let low_part = self.load_element(pointer, element_offset, Type::Int(8 * element as u16));
                let low_part = self.unary(UnaryOp::Zext, whole_type, low_part);
                let shift = self.function.constant(whole_type, (8 * part * element).into());
                bits = Some(match bits {
                    None => low_part,
                    Some(bits) => {
                        let high_part = self.binary(BinaryOp::Shl, low_part, shift);
                        self.binary(BinaryOp::Or, bits, high_part)
                    }
                });
                element_offset += i64::from(element);
            }
            let opcode = match result_type {
                Type::Int(_) => UnaryOp::Trunc,
                Type::Ptr(_) => UnaryOp::IntToPtr,
                _ => UnaryOp::Bitcast,
            };
            if let Some(argument) = bits {
                let opcode = if result_type == whole_type { UnaryOp::Freeze } else { opcode };
                let inst_data = InstData::Unary { opcode, fast_math: FastMath::default(), argument };
                let cast = self.function.make_inst(inst_data, &[], self.location);
                self.define_result(cast, result);
            }
        }
    }

    /// Makes an existing value the result of a new instruction.
    fn define_result(&mut self, instruction: Inst, result: Value) {
        self.function.insts[instruction].results.push(result);
        self.function.values[result].definition = ValueDef::Result(instruction, 0);
        self.insts.push(instruction);
    }

    /// A value as elements in the order of memory.
    fn split_into_elements(&mut self, value: Value, element: u32) -> Vec<Value> {
        let value_type = self.function.ty(value);
        if value_type.bytes() == element {
            return vec![value];
        }
        let whole_type = Type::Int(8 * value_type.bytes() as u16);
        let bits = match value_type {
            Type::Int(_) => self.unary(UnaryOp::Zext, whole_type, value),
            Type::Ptr(_) => self.unary(UnaryOp::PtrToInt, whole_type, value),
            _ => self.unary(UnaryOp::Bitcast, whole_type, value),
        };
        let part = |part: u32| {
            let shift = self.function.constant(whole_type, (8 * part * element).into());
            let low_part = self.binary(BinaryOp::Lshr, bits, shift);
            self.unary(UnaryOp::Trunc, Type::Int(8 * element as u16), low_part)
        };
        (0..value_type.bytes() / element).map(part).collect()
    }

    fn fill_elements(&mut self, destination: Value, byte: Value, length: Value, element: u32) {
        let (byte, length) =
            (self.function.const_bits(byte).unwrap_or(0), self.function.const_bits(length).unwrap_or(0));
        let bits = (0..element).fold(0, |bits, _| bits << 8 | byte);
        let value = self.function.constant(Type::Int(8 * element as u16), bits);
        if length > u128::from(LONGEST_COPY) * u128::from(element) {
            self.fill_in_loop(destination, value, length, element);
            return;
        }
        for element_offset in (0..length as i64).step_by(element as usize) {
            self.store_element(destination, element_offset, value);
        }
    }

    /// Stores a value into all elements of so many bytes, one after the other. What follows in the block gets a block of
    /// its own.
    fn fill_in_loop(&mut self, destination: Value, value: Value, length: u128, element: u32) {
        let [loop_block, latch_block, exit_block] = [(); 3].map(|()| self.function.add_block());
        let lane_count = u128::from(self.lanes);
        let [first_offset, step, end_offset] = [0, u128::from(element) * lane_count, length * lane_count]
            .map(|bits| self.function.constant(Type::I64, bits));
        let jump_to = |block, arguments: &[Value]| Terminator::Jump(BlockCall { block, arguments: arguments.to_vec() });
        let before = self.block;
        self.function.blocks[exit_block].terminator =
            std::mem::replace(&mut self.function.blocks[before].terminator, jump_to(loop_block, &[first_offset]));
        self.function.blocks[before].insts = std::mem::take(&mut self.insts);

        let element_offset = self.function.add_param(loop_block, Type::I64);
        let ptr_ty = self.function.ty(destination);
        let pointer =
            self.append_single(InstData::PtrAdd { base: destination, offset: element_offset, inbounds: false }, ptr_ty);
        let store = InstData::Store { pointer, offset: 0, access: Access::plain(element), arguments: vec![value] };
        let store = self.function.make_inst(store, &[], self.location);
        self.insts.push(store);
        let next_offset = self.binary(BinaryOp::Add, element_offset, step);
        let has_more = self
            .append_single(InstData::Icmp { comparison: IntCc::Ult, arguments: [next_offset, end_offset] }, Type::BOOL);
        self.function.blocks[loop_block].insts = std::mem::take(&mut self.insts);
        let [then_to, else_to] = [latch_block, exit_block].map(|block| BlockCall { block, arguments: Vec::new() });
        self.function.blocks[loop_block].terminator = Terminator::Branch { condition: has_more, then_to, else_to };
        self.function.blocks[latch_block].terminator = jump_to(loop_block, &[next_offset]);
        self.block = exit_block;
    }

    fn copy_elements(&mut self, destination: Value, source: Value, length: Value, element: u32) {
        let length = self.function.const_bits(length).unwrap_or(0) as i64;
        let places = || (0..length).step_by(element as usize);
        // All is read first, as the ranges may overlap.
        let element_type = Type::Int(8 * element as u16);
        let values: Vec<Value> =
            places().map(|element_offset| self.load_element(source, element_offset, element_type)).collect();
        for (element_offset, value) in places().zip(values) {
            self.store_element(destination, element_offset, value);
        }
    }
}
