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

use crate::analysis::pointees::{Pointees, find_pointees};
use crate::ir::*;
use crate::simplify::{Operands, Simpler, simplest_form};
use cranelift_entity::{EntitySet, SecondaryMap};
use lockstep_protocol::types::Type;

mod uses;

/// The most elements of a copy or fill that is written as loads and stores.
const LONGEST_COPY: u64 = 32;

/// Lays out the private slots of a kernel for gangs of `lanes` work-items, which share some of them.
pub fn interleave_slots(kernel: &mut Kernel, lanes: u32, shared: &EntitySet<Slot>) {
    let pointees: Vec<SecondaryMap<Value, Pointees>> = kernel.regions.values().map(find_pointees).collect();
    let elements = uses::element_sizes(kernel, &pointees, shared);
    for (slot, data) in kernel.slots.iter_mut() {
        if shared.contains(slot) {
            data.layout = SlotLayout::Shared;
        }
        if let Some(element) = elements[slot] {
            data.layout = SlotLayout::Interleaved { element, lanes };
        }
    }
    for (f, pointees) in kernel.regions.values_mut().zip(&pointees) {
        let (block, loc) = (f.entry_block(), SourceLoc::default());
        Rewriter { function: f, pointees, elements: &elements, lanes, block, insts: Vec::new(), location: loc }
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
    fn element_size(&self, ptr: Value) -> Option<u32> {
        let slot = *self.pointees.get(ptr)?.slots.first()?;
        self.elements[slot]
    }

    fn rewrite_inst(&mut self, inst: Inst) {
        let data = self.function.insts[inst].data.clone();
        match data {
            InstData::PtrAdd { base, offset, .. } if self.element_size(base).is_some() => {
                let offset = self.scale_offset(offset);
                // The end of a lane's part lies behind the object in all lanes but the first.
                self.function.insts[inst].data = InstData::PtrAdd { base, offset, inbounds: false };
                self.insts.push(inst);
            }
            InstData::Load { pointer: ptr, offset, .. } => match self.element_size(ptr) {
                Some(element) => self.load_results(inst, ptr, offset, element),
                None => self.insts.push(inst),
            },
            InstData::Store { pointer: ptr, offset, arguments: ref args, .. } => match self.element_size(ptr) {
                Some(element) => {
                    let mut place = offset;
                    for &arg in args {
                        for part in self.split_into_elements(arg, element) {
                            self.store_element(ptr, place, part);
                            place += i64::from(element);
                        }
                    }
                }
                None => self.insts.push(inst),
            },
            InstData::MemSet { destination: dst, byte, length: len, .. } => match self.element_size(dst) {
                Some(element) => self.fill_elements(dst, byte, len, element),
                None => self.insts.push(inst),
            },
            InstData::MemCopy { destination: dst, source: src, length: len, .. } => {
                match self.element_size(dst).or(self.element_size(src)) {
                    Some(element) => self.copy_elements(dst, src, len, element),
                    None => self.insts.push(inst),
                }
            }
            _ => self.insts.push(inst),
        }
    }

    /// A new instruction of this block with one result, or what stands for it.
    fn append_single(&mut self, data: InstData, ty: Type) -> Value {
        let data = match simplest_form(self.function, data, ty, Operands::Any) {
            Simpler::Value(value) => return value,
            Simpler::Operation(data) => data,
        };
        let inst = self.function.make_inst(data, &[ty], self.location);
        self.insts.push(inst);
        self.function.single_result(inst)
    }

    fn unary(&mut self, op: UnaryOp, ty: Type, arg: Value) -> Value {
        if self.function.ty(arg) == ty {
            return arg;
        }
        self.append_single(InstData::Unary { opcode: op, fast_math: FastMath::default(), argument: arg }, ty)
    }

    fn binary(&mut self, op: BinaryOp, a: Value, b: Value) -> Value {
        let ty = self.function.ty(a);
        let data = InstData::Binary {
            opcode: op,
            flags: IntFlags::default(),
            fast_math: FastMath::default(),
            arguments: [a, b],
        };
        self.append_single(data, ty)
    }

    /// A byte offset, as many times as there are lanes.
    fn scale_offset(&mut self, offset: Value) -> Value {
        let ty = self.function.ty(offset);
        let shift = self.function.constant(ty, self.lanes.trailing_zeros().into());
        self.binary(BinaryOp::Shl, offset, shift)
    }

    /// Reads an element of one lane, or of other memory.
    fn load_element(&mut self, ptr: Value, offset: i64, ty: Type) -> Value {
        let (offset, access) = self.place_and_access(ptr, offset, ty.bytes());
        self.append_single(InstData::Load { pointer: ptr, offset, access }, ty)
    }

    /// Writes an element of one lane, or to other memory.
    fn store_element(&mut self, ptr: Value, offset: i64, arg: Value) {
        let (offset, access) = self.place_and_access(ptr, offset, self.function.ty(arg).bytes());
        let inst = self.function.make_inst(
            InstData::Store { pointer: ptr, offset, access, arguments: vec![arg] },
            &[],
            self.location,
        );
        self.insts.push(inst);
    }

    /// Where bytes are that lie at an offset of a work-item's own copy. Of other memory nothing is known.
    fn place_and_access(&self, ptr: Value, offset: i64, bytes: u32) -> (i64, Access) {
        match self.element_size(ptr) {
            Some(_) => (offset.wrapping_mul(self.lanes.into()), Access::plain(bytes)),
            None => (offset, Access::plain(1)),
        }
    }

    fn load_results(&mut self, inst: Inst, ptr: Value, offset: i64, element: u32) {
        let results = self.function.insts[inst].results.clone();
        let mut place = offset;
        for result in results {
            let ty = self.function.ty(result);
            if ty.bytes() == element {
                let (offset, access) = self.place_and_access(ptr, place, element);
                let load = self.function.make_inst(InstData::Load { pointer: ptr, offset, access }, &[], self.location);
                self.define_result(load, result);
                place += i64::from(element);
                continue;
            }
            let whole = Type::Int(8 * ty.bytes() as u16);
            let mut bits = None;
            for part in 0..ty.bytes() / element {
                let low = self.load_element(ptr, place, Type::Int(8 * element as u16));
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
            let op = match ty {
                Type::Int(_) => UnaryOp::Trunc,
                Type::Ptr(_) => UnaryOp::IntToPtr,
                _ => UnaryOp::Bitcast,
            };
            if let Some(arg) = bits {
                let op = if ty == whole { UnaryOp::Freeze } else { op };
                let data = InstData::Unary { opcode: op, fast_math: FastMath::default(), argument: arg };
                let cast = self.function.make_inst(data, &[], self.location);
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

    fn fill_elements(&mut self, dst: Value, byte: Value, len: Value, element: u32) {
        let (byte, len) = (self.function.const_bits(byte).unwrap_or(0), self.function.const_bits(len).unwrap_or(0));
        let bits = (0..element).fold(0, |bits, _| bits << 8 | byte);
        let value = self.function.constant(Type::Int(8 * element as u16), bits);
        if len > u128::from(LONGEST_COPY) * u128::from(element) {
            self.fill_in_loop(dst, value, len, element);
            return;
        }
        for place in (0..len as i64).step_by(element as usize) {
            self.store_element(dst, place, value);
        }
    }

    /// Stores a value into all elements of so many bytes, one after the other. What follows in the block gets a block of
    /// its own.
    fn fill_in_loop(&mut self, dst: Value, value: Value, len: u128, element: u32) {
        let [round, again, behind] = [(); 3].map(|()| self.function.add_block());
        let lanes = u128::from(self.lanes);
        let [first, step, end] =
            [0, u128::from(element) * lanes, len * lanes].map(|bits| self.function.constant(Type::I64, bits));
        let jump = |block, args: &[Value]| Terminator::Jump(BlockCall { block, arguments: args.to_vec() });
        let before = self.block;
        self.function.blocks[behind].terminator =
            std::mem::replace(&mut self.function.blocks[before].terminator, jump(round, &[first]));
        self.function.blocks[before].insts = std::mem::take(&mut self.insts);

        let place = self.function.add_param(round, Type::I64);
        let ptr_ty = self.function.ty(dst);
        let ptr = self.append_single(InstData::PtrAdd { base: dst, offset: place, inbounds: false }, ptr_ty);
        let store = InstData::Store { pointer: ptr, offset: 0, access: Access::plain(element), arguments: vec![value] };
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

    fn copy_elements(&mut self, dst: Value, src: Value, len: Value, element: u32) {
        let len = self.function.const_bits(len).unwrap_or(0) as i64;
        let places = || (0..len).step_by(element as usize);
        // All is read first, as the ranges may overlap.
        let ty = Type::Int(8 * element as u16);
        let values: Vec<Value> = places().map(|place| self.load_element(src, place, ty)).collect();
        for (place, value) in places().zip(values) {
            self.store_element(dst, place, value);
        }
    }
}
