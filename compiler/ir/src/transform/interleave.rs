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

use crate::analysis::pointees::{Pointees, pointees};
use crate::ir::*;
use crate::simplify::{Operands, Simpler, simplest};
use cranelift_entity::{EntitySet, SecondaryMap};
use lockstep_protocol::types::Type;

mod uses;

/// The most elements of a copy or fill that is written as loads and stores.
const LONGEST_COPY: u64 = 32;

/// Lays out the private slots of a kernel for gangs of `lanes` work-items, which share some of them.
pub fn interleave(kernel: &mut Kernel, lanes: u32, shared: &EntitySet<Slot>) {
    let pointees: Vec<SecondaryMap<Value, Pointees>> = kernel.regions.values().map(pointees).collect();
    let elements = uses::elements(kernel, &pointees, shared);
    for (slot, data) in kernel.slots.iter_mut() {
        if shared.contains(slot) {
            data.layout = SlotLayout::Shared;
        }
        if let Some(element) = elements[slot] {
            data.layout = SlotLayout::Interleaved { element, lanes };
        }
    }
    for (f, pointees) in kernel.regions.values_mut().zip(&pointees) {
        let (block, loc) = (f.entry(), SourceLoc::default());
        Rewriter { f, pointees, elements: &elements, lanes, block, insts: Vec::new(), loc }.run();
    }
}

struct Rewriter<'a> {
    f: &'a mut Function,
    pointees: &'a SecondaryMap<Value, Pointees>,
    elements: &'a SecondaryMap<Slot, Option<u32>>,
    lanes: u32,
    /// The block that is being made, and its new instructions.
    block: Block,
    insts: Vec<Inst>,
    loc: SourceLoc,
}

impl Rewriter<'_> {
    fn run(&mut self) {
        for block in self.f.layout.clone() {
            self.block = block;
            for inst in std::mem::take(&mut self.f.blocks[block].insts) {
                self.loc = self.f.insts[inst].loc;
                self.inst(inst);
            }
            self.f.blocks[self.block].insts = std::mem::take(&mut self.insts);
        }
    }

    /// The element size of the interleaved slots that an address points into.
    fn element(&self, ptr: Value) -> Option<u32> {
        let slot = *self.pointees.get(ptr)?.slots.first()?;
        self.elements[slot]
    }

    fn inst(&mut self, inst: Inst) {
        let data = self.f.insts[inst].data.clone();
        match data {
            InstData::PtrAdd { base, offset, .. } if self.element(base).is_some() => {
                let offset = self.scaled(offset);
                // The end of a lane's part lies behind the object in all lanes but the first.
                self.f.insts[inst].data = InstData::PtrAdd { base, offset, inbounds: false };
                self.insts.push(inst);
            }
            InstData::Load { ptr, offset, .. } => match self.element(ptr) {
                Some(element) => self.loads(inst, ptr, offset, element),
                None => self.insts.push(inst),
            },
            InstData::Store { ptr, offset, ref args, .. } => match self.element(ptr) {
                Some(element) => {
                    let mut place = offset;
                    for &arg in args {
                        for part in self.parts(arg, element) {
                            self.store(ptr, place, part);
                            place += i64::from(element);
                        }
                    }
                }
                None => self.insts.push(inst),
            },
            InstData::MemSet { dst, byte, len, .. } => match self.element(dst) {
                Some(element) => self.fill(dst, byte, len, element),
                None => self.insts.push(inst),
            },
            InstData::MemCopy { dst, src, len, .. } => match self.element(dst).or(self.element(src)) {
                Some(element) => self.copy(dst, src, len, element),
                None => self.insts.push(inst),
            },
            _ => self.insts.push(inst),
        }
    }

    /// A new instruction of this block with one result, or what stands for it.
    fn one(&mut self, data: InstData, ty: Type) -> Value {
        let data = match simplest(self.f, data, ty, Operands::Any) {
            Simpler::Value(value) => return value,
            Simpler::Operation(data) => data,
        };
        let inst = self.f.make_inst(data, &[ty], self.loc);
        self.insts.push(inst);
        self.f.result(inst)
    }

    fn unary(&mut self, op: UnaryOp, ty: Type, arg: Value) -> Value {
        if self.f.ty(arg) == ty {
            return arg;
        }
        self.one(InstData::Unary { op, fmf: FastMath::default(), arg }, ty)
    }

    fn binary(&mut self, op: BinaryOp, a: Value, b: Value) -> Value {
        let ty = self.f.ty(a);
        let data = InstData::Binary { op, flags: IntFlags::default(), fmf: FastMath::default(), args: [a, b] };
        self.one(data, ty)
    }

    /// A byte offset, as many times as there are lanes.
    fn scaled(&mut self, offset: Value) -> Value {
        let ty = self.f.ty(offset);
        let shift = self.f.constant(ty, self.lanes.trailing_zeros().into());
        self.binary(BinaryOp::Shl, offset, shift)
    }

    /// Reads an element of one lane, or of other memory.
    fn load(&mut self, ptr: Value, offset: i64, ty: Type) -> Value {
        let (offset, access) = self.access(ptr, offset, ty.bytes());
        self.one(InstData::Load { ptr, offset, access }, ty)
    }

    /// Writes an element of one lane, or to other memory.
    fn store(&mut self, ptr: Value, offset: i64, arg: Value) {
        let (offset, access) = self.access(ptr, offset, self.f.ty(arg).bytes());
        let inst = self.f.make_inst(InstData::Store { ptr, offset, access, args: vec![arg] }, &[], self.loc);
        self.insts.push(inst);
    }

    /// Where bytes are that lie at an offset of a work-item's own copy. Of other memory nothing is known.
    fn access(&self, ptr: Value, offset: i64, bytes: u32) -> (i64, Access) {
        match self.element(ptr) {
            Some(_) => (offset.wrapping_mul(self.lanes.into()), Access::plain(bytes)),
            None => (offset, Access::plain(1)),
        }
    }

    fn loads(&mut self, inst: Inst, ptr: Value, offset: i64, element: u32) {
        let results = self.f.insts[inst].results.clone();
        let mut place = offset;
        for result in results {
            let ty = self.f.ty(result);
            if ty.bytes() == element {
                let (offset, access) = self.access(ptr, place, element);
                let load = self.f.make_inst(InstData::Load { ptr, offset, access }, &[], self.loc);
                self.define(load, result);
                place += i64::from(element);
                continue;
            }
            let whole = Type::Int(8 * ty.bytes() as u16);
            let mut bits = None;
            for part in 0..ty.bytes() / element {
                let low = self.load(ptr, place, Type::Int(8 * element as u16));
                let low = self.unary(UnaryOp::Zext, whole, low);
                let shift = self.f.constant(whole, (8 * part * element).into());
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
                let data = InstData::Unary { op, fmf: FastMath::default(), arg };
                let cast = self.f.make_inst(data, &[], self.loc);
                self.define(cast, result);
            }
        }
    }

    /// Makes an existing value the result of a new instruction.
    fn define(&mut self, inst: Inst, result: Value) {
        self.f.insts[inst].results.push(result);
        self.f.values[result].def = ValueDef::Result(inst, 0);
        self.insts.push(inst);
    }

    /// A value as elements in the order of memory.
    fn parts(&mut self, value: Value, element: u32) -> Vec<Value> {
        let ty = self.f.ty(value);
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
            let shift = self.f.constant(whole, (8 * part * element).into());
            let low = self.binary(BinaryOp::Lshr, bits, shift);
            self.unary(UnaryOp::Trunc, Type::Int(8 * element as u16), low)
        };
        (0..ty.bytes() / element).map(part).collect()
    }

    fn fill(&mut self, dst: Value, byte: Value, len: Value, element: u32) {
        let (byte, len) = (self.f.const_bits(byte).unwrap_or(0), self.f.const_bits(len).unwrap_or(0));
        let bits = (0..element).fold(0, |bits, _| bits << 8 | byte);
        let value = self.f.constant(Type::Int(8 * element as u16), bits);
        if len > u128::from(LONGEST_COPY) * u128::from(element) {
            self.fill_in_loop(dst, value, len, element);
            return;
        }
        for place in (0..len as i64).step_by(element as usize) {
            self.store(dst, place, value);
        }
    }

    /// Stores a value into all elements of so many bytes, one after the other. What follows in the block gets a block of
    /// its own.
    fn fill_in_loop(&mut self, dst: Value, value: Value, len: u128, element: u32) {
        let [round, again, behind] = [(); 3].map(|()| self.f.add_block());
        let lanes = u128::from(self.lanes);
        let [first, step, end] =
            [0, u128::from(element) * lanes, len * lanes].map(|bits| self.f.constant(Type::I64, bits));
        let jump = |block, args: &[Value]| Terminator::Jump(BlockCall { block, args: args.to_vec() });
        let before = self.block;
        self.f.blocks[behind].term = std::mem::replace(&mut self.f.blocks[before].term, jump(round, &[first]));
        self.f.blocks[before].insts = std::mem::take(&mut self.insts);

        let place = self.f.add_param(round, Type::I64);
        let ptr_ty = self.f.ty(dst);
        let ptr = self.one(InstData::PtrAdd { base: dst, offset: place, inbounds: false }, ptr_ty);
        let store = InstData::Store { ptr, offset: 0, access: Access::plain(element), args: vec![value] };
        let store = self.f.make_inst(store, &[], self.loc);
        self.insts.push(store);
        let next = self.binary(BinaryOp::Add, place, step);
        let more = self.one(InstData::Icmp { cc: IntCc::Ult, args: [next, end] }, Type::BOOL);
        self.f.blocks[round].insts = std::mem::take(&mut self.insts);
        let [then_to, else_to] = [again, behind].map(|block| BlockCall { block, args: Vec::new() });
        self.f.blocks[round].term = Terminator::Branch { cond: more, then_to, else_to };
        self.f.blocks[again].term = jump(round, &[next]);
        self.block = behind;
    }

    fn copy(&mut self, dst: Value, src: Value, len: Value, element: u32) {
        let len = self.f.const_bits(len).unwrap_or(0) as i64;
        let places = || (0..len).step_by(element as usize);
        // All is read first, as the ranges may overlap.
        let ty = Type::Int(8 * element as u16);
        let values: Vec<Value> = places().map(|place| self.load(src, place, ty)).collect();
        for (place, value) in places().zip(values) {
            self.store(dst, place, value);
        }
    }
}
