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

/// Lays out the private slots of a kernel for gangs of `lanes` work-items, which share some of them.
pub fn interleave_slots(kernel: &mut Kernel, lanes: u32, shared: &EntitySet<Slot>) {
    let pointees: Vec<SecondaryMap<Value, Pointees>> = kernel.regions.values().map(find_pointees).collect();
    let elements = uses::element_sizes(kernel, &pointees, shared);
    for (slot, slot_data) in kernel.slots.iter_mut() {
        if shared.contains(slot) {
            slot_data.layout = SlotLayout::Shared;
        }
        if let Some(element) = elements[slot] {
            slot_data.layout = SlotLayout::Interleaved { element, lanes };
        }
    }
    for (function, pointees) in kernel.regions.values_mut().zip(&pointees) {
        let (block, location) = (function.entry_block(), SourceLoc::default());
        Rewriter { function, pointees, elements: &elements, lanes, block, insts: Vec::new(), location }
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
            for inst in std::mem::take(&mut self.function.blocks[block].insts) {
                self.location = self.function.insts[inst].location;
                self.rewrite_inst(inst);
            }
            self.function.blocks[self.block].insts = std::mem::take(&mut self.insts);
        }
    }

    /// The element size of the interleaved slots that an address points into.
    fn element_size(&self, pointer: Value) -> Option<u32> {
        let slot = *self.pointees.get(pointer)?.slots.first()?;
        self.elements[slot]
    }

    fn rewrite_inst(&mut self, inst: Inst) {
        let inst_data = self.function.insts[inst].data.clone();
        match inst_data {
            InstData::PtrAdd { base, offset, .. } if self.element_size(base).is_some() => {
                let offset = self.scale_offset(offset);
                // The end of a lane's part lies behind the object in all lanes but the first.
                self.function.insts[inst].data = InstData::PtrAdd { base, offset, inbounds: false };
                self.insts.push(inst);
            }
            InstData::Load { pointer, offset, .. } => match self.element_size(pointer) {
                Some(element) => self.load_results(inst, pointer, offset, element),
                None => self.insts.push(inst),
            },
            InstData::Store { pointer, offset, ref arguments, .. } => match self.element_size(pointer) {
                Some(element) => {
                    let mut place = offset;
                    for &argument in arguments {
                        for part in self.split_into_elements(argument, element) {
                            self.store_element(pointer, place, part);
                            place += i64::from(element);
                        }
                    }
                }
                None => self.insts.push(inst),
            },
            InstData::MemSet { destination, byte, length, .. } => match self.element_size(destination) {
                Some(element) => self.fill_elements(destination, byte, length, element),
                None => self.insts.push(inst),
            },
            InstData::MemCopy { destination, source, length, .. } => {
                match self.element_size(destination).or(self.element_size(source)) {
                    Some(element) => self.copy_elements(destination, source, length, element),
                    None => self.insts.push(inst),
                }
            }
            _ => self.insts.push(inst),
        }
    }

    /// A new instruction of this block with one result, or what stands for it.
    fn append_single(&mut self, inst_data: InstData, ty: Type) -> Value {
        let inst_data = match simplest_form(self.function, inst_data, ty, Operands::Any) {
            Simpler::Value(value) => return value,
            Simpler::Operation(inst_data) => inst_data,
        };
        let inst = self.function.make_inst(inst_data, &[ty], self.location);
        self.insts.push(inst);
        self.function.single_result(inst)
    }

    fn unary(&mut self, opcode: UnaryOp, ty: Type, argument: Value) -> Value {
        if self.function.ty(argument) == ty {
            return argument;
        }
        self.append_single(InstData::Unary { opcode, fast_math: FastMath::default(), argument }, ty)
    }

    fn binary(&mut self, opcode: BinaryOp, left: Value, right: Value) -> Value {
        let ty = self.function.ty(left);
        let inst_data = InstData::Binary {
            opcode,
            flags: IntFlags::default(),
            fast_math: FastMath::default(),
            arguments: [left, right],
        };
        self.append_single(inst_data, ty)
    }

    /// A byte offset, as many times as there are lanes.
    fn scale_offset(&mut self, offset: Value) -> Value {
        let ty = self.function.ty(offset);
        let shift = self.function.constant(ty, self.lanes.trailing_zeros().into());
        self.binary(BinaryOp::Shl, offset, shift)
    }

    /// Reads an element of one lane, or of other memory.
    fn load_element(&mut self, pointer: Value, offset: i64, ty: Type) -> Value {
        let (offset, access) = self.place_and_access(pointer, offset, ty.bytes());
        self.append_single(InstData::Load { pointer, offset, access }, ty)
    }

    /// Writes an element of one lane, or to other memory.
    fn store_element(&mut self, pointer: Value, offset: i64, argument: Value) {
        let (offset, access) = self.place_and_access(pointer, offset, self.function.ty(argument).bytes());
        let inst = self.function.make_inst(
            InstData::Store { pointer, offset, access, arguments: vec![argument] },
            &[],
            self.location,
        );
        self.insts.push(inst);
    }

    /// Where bytes are that lie at an offset of a work-item's own copy. Of other memory nothing is known.
    fn place_and_access(&self, pointer: Value, offset: i64, bytes: u32) -> (i64, Access) {
        match self.element_size(pointer) {
            Some(_) => (offset.wrapping_mul(self.lanes.into()), Access::plain(bytes)),
            None => (offset, Access::plain(1)),
        }
    }

    fn load_results(&mut self, inst: Inst, pointer: Value, offset: i64, element: u32) {
        let results = self.function.insts[inst].results.clone();
        let mut place = offset;
        for result in results {
            let ty = self.function.ty(result);
            if ty.bytes() == element {
                let (offset, access) = self.place_and_access(pointer, place, element);
                let load = self.function.make_inst(InstData::Load { pointer, offset, access }, &[], self.location);
                self.define_result(load, result);
                place += i64::from(element);
                continue;
            }
            let whole = Type::Int(8 * ty.bytes() as u16);
            let mut bits = None;
            for part in 0..ty.bytes() / element {
                let low = self.load_element(pointer, place, Type::Int(8 * element as u16));
                let low = self.unary(UnaryOp::Zext, whole, low);
                let shift = self.function.constant(whole, (8 * part * element).into());
                bits = Some(match bits {
                    None => low,
                    Some(bits) => {
                        let high = self.binary(BinaryOp::Shl, low, shift);
                        self.binary(BinaryOp::Or, bits, high)
                    }
                });
                place += i64::from(element);
            }
            let opcode = match ty {
                Type::Int(_) => UnaryOp::Trunc,
                Type::Ptr(_) => UnaryOp::IntToPtr,
                _ => UnaryOp::Bitcast,
            };
            if let Some(argument) = bits {
                let opcode = if ty == whole { UnaryOp::Freeze } else { opcode };
                let inst_data = InstData::Unary { opcode, fast_math: FastMath::default(), argument };
                let cast = self.function.make_inst(inst_data, &[], self.location);
                self.define_result(cast, result);
            }
        }
    }

    /// Makes an existing value the result of a new instruction.
    fn define_result(&mut self, inst: Inst, result: Value) {
        self.function.insts[inst].results.push(result);
        self.function.values[result].definition = ValueDef::Result(inst, 0);
        self.insts.push(inst);
    }

    /// A value as elements in the order of memory.
    fn split_into_elements(&mut self, value: Value, element: u32) -> Vec<Value> {
        let ty = self.function.ty(value);
        if ty.bytes() == element {
            return vec![value];
        }
        let whole = Type::Int(8 * ty.bytes() as u16);
        let bits = match ty {
            Type::Int(_) => self.unary(UnaryOp::Zext, whole, value),
            Type::Ptr(_) => self.unary(UnaryOp::PtrToInt, whole, value),
            _ => self.unary(UnaryOp::Bitcast, whole, value),
        };
        let part = |part: u32| {
            let shift = self.function.constant(whole, (8 * part * element).into());
            let low = self.binary(BinaryOp::Lshr, bits, shift);
            self.unary(UnaryOp::Trunc, Type::Int(8 * element as u16), low)
        };
        (0..ty.bytes() / element).map(part).collect()
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
        for place in (0..length as i64).step_by(element as usize) {
            self.store_element(destination, place, value);
        }
    }

    /// Stores a value into all elements of so many bytes, one after the other. What follows in the block gets a block of
    /// its own.
    fn fill_in_loop(&mut self, destination: Value, value: Value, length: u128, element: u32) {
        let [round, again, behind] = [(); 3].map(|()| self.function.add_block());
        let lanes = u128::from(self.lanes);
        let [first, step, end] =
            [0, u128::from(element) * lanes, length * lanes].map(|bits| self.function.constant(Type::I64, bits));
        let jump = |block, arguments: &[Value]| Terminator::Jump(BlockCall { block, arguments: arguments.to_vec() });
        let before = self.block;
        self.function.blocks[behind].terminator =
            std::mem::replace(&mut self.function.blocks[before].terminator, jump(round, &[first]));
        self.function.blocks[before].insts = std::mem::take(&mut self.insts);

        let place = self.function.add_param(round, Type::I64);
        let ptr_ty = self.function.ty(destination);
        let pointer =
            self.append_single(InstData::PtrAdd { base: destination, offset: place, inbounds: false }, ptr_ty);
        let store = InstData::Store { pointer, offset: 0, access: Access::plain(element), arguments: vec![value] };
        let store = self.function.make_inst(store, &[], self.location);
        self.insts.push(store);
        let next = self.binary(BinaryOp::Add, place, step);
        let more = self.append_single(InstData::Icmp { comparison: IntCc::Ult, arguments: [next, end] }, Type::BOOL);
        self.function.blocks[round].insts = std::mem::take(&mut self.insts);
        let [then_to, else_to] = [again, behind].map(|block| BlockCall { block, arguments: Vec::new() });
        self.function.blocks[round].terminator = Terminator::Branch { condition: more, then_to, else_to };
        self.function.blocks[again].terminator = jump(round, &[next]);
        self.block = behind;
    }

    fn copy_elements(&mut self, destination: Value, source: Value, length: Value, element: u32) {
        let length = self.function.const_bits(length).unwrap_or(0) as i64;
        let places = || (0..length).step_by(element as usize);
        // All is read first, as the ranges may overlap.
        let ty = Type::Int(8 * element as u16);
        let values: Vec<Value> = places().map(|place| self.load_element(source, place, ty)).collect();
        for (place, value) in places().zip(values) {
            self.store_element(destination, place, value);
        }
    }
}
