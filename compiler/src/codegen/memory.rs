//! Memory: loads, stores, copies, atomics, address spaces.

use super::alias::Part;
use super::emit::{Emit, Emitted, load_ordering, ordering, store_ordering};
use super::frame::Frame;
use crate::ir::{Access, AtomicOp, Ordering, Space, Type};
use inkwell::AtomicOrdering;
use inkwell::builder::BuilderError;
use inkwell::values::{AsValueRef, BasicValueEnum, InstructionValue, IntValue, PointerValue, ValueKind};
use llvm_sys::{LLVMAtomicOrdering, LLVMAtomicRMWBinOp as Rmw};

impl<'ctx> Emit<'ctx, '_> {
    /// Reads `count` consecutive elements. They stay separate loads: a work-item alone computes on
    /// scalars, and LLVM joins what is only copied.
    pub fn load_elements(
        &self,
        base: PointerValue<'ctx>,
        space: Space,
        offset: i64,
        ty: Type,
        count: usize,
        access: Access,
    ) -> Emitted<Vec<BasicValueEnum<'ctx>>> {
        let mut values = Vec::with_capacity(count);
        for index in 0..count as u64 {
            let step = index * u64::from(ty.bytes());
            let align = element_align(access, ty, step);
            let place = offset.wrapping_add_unsigned(step);
            let (value, load) = self.load(ty, self.at_offset(base, place)?, align)?;
            if let Some(load) = load {
                self.scopes.mark(load, &[Part::Space(space)]);
                load.set_volatile(access.volatile).map_err(|_| BuilderError::UnsetPosition)?;
                if let Some(order) = access.atomic {
                    load.set_atomic_ordering(load_ordering(order)).map_err(|_| BuilderError::UnsetPosition)?;
                }
            }
            // OpenCL C, 6.7.3: constant memory is read only while the kernel runs.
            let invariant = space == Space::Constant || self.scopes.is_invariant();
            if invariant && !access.volatile && access.atomic.is_none() {
                self.mark_invariant(load);
            }
            values.push(value);
        }
        Ok(values)
    }

    /// Writes consecutive elements.
    pub fn store_elements(
        &self,
        base: PointerValue<'ctx>,
        space: Space,
        offset: i64,
        ty: Type,
        values: &[BasicValueEnum<'ctx>],
        access: Access,
    ) -> Emitted<()> {
        for (index, &value) in values.iter().enumerate() {
            let step = index as u64 * u64::from(ty.bytes());
            let align = element_align(access, ty, step);
            let place = offset.wrapping_add_unsigned(step);
            let store = self.store(ty, value, self.at_offset(base, place)?, align)?;
            self.scopes.mark(store, &[Part::Space(space)]);
            store.set_volatile(access.volatile).map_err(|_| BuilderError::UnsetPosition)?;
            if let Some(order) = access.atomic {
                store.set_atomic_ordering(store_ordering(order)).map_err(|_| BuilderError::UnsetPosition)?;
            }
        }
        Ok(())
    }

    fn at_offset(&self, base: PointerValue<'ctx>, offset: i64) -> Emitted<PointerValue<'ctx>> {
        if offset == 0 {
            return Ok(base);
        }
        self.offset(base, self.const64(offset as u64), false)
    }

    /// Copies bytes.
    pub fn copy(
        &self,
        dst: BasicValueEnum<'ctx>,
        src: BasicValueEnum<'ctx>,
        len: BasicValueEnum<'ctx>,
        [to, from]: [Space; 2],
        overlap: bool,
        volatile: bool,
    ) -> Emitted<()> {
        let name = if overlap { "llvm.memmove" } else { "llvm.memcpy" };
        let types = [self.ptr().into(), self.ptr().into(), self.i64().into()];
        let volatile = self.ctx.bool_type().const_int(volatile.into(), false);
        let call = self.intrinsic_call(name, &types, &[dst, src, len, volatile.into()])?;
        if let ValueKind::Instruction(call) = call.try_as_basic_value() {
            self.scopes.mark(call, &[Part::Space(to), Part::Space(from)]);
        }
        Ok(())
    }

    /// Sets bytes.
    pub fn set(
        &self,
        dst: BasicValueEnum<'ctx>,
        byte: BasicValueEnum<'ctx>,
        len: BasicValueEnum<'ctx>,
        space: Space,
        volatile: bool,
    ) -> Emitted<()> {
        let types = [self.ptr().into(), self.i64().into()];
        let volatile = self.ctx.bool_type().const_int(volatile.into(), false);
        let call = self.intrinsic_call("llvm.memset", &types, &[dst, byte, len, volatile.into()])?;
        if let ValueKind::Instruction(call) = call.try_as_basic_value() {
            self.scopes.mark(call, &[Part::Space(space)]);
        }
        Ok(())
    }

    /// Atomic read-modify-write; yields the old value.
    pub fn atomic_rmw(
        &self,
        op: AtomicOp,
        order: Ordering,
        ty: Type,
        ptr: PointerValue<'ctx>,
        space: Space,
        arg: BasicValueEnum<'ctx>,
    ) -> BasicValueEnum<'ctx> {
        let op = match op {
            AtomicOp::Xchg => Rmw::LLVMAtomicRMWBinOpXchg,
            AtomicOp::Add => Rmw::LLVMAtomicRMWBinOpAdd,
            AtomicOp::Sub => Rmw::LLVMAtomicRMWBinOpSub,
            AtomicOp::And => Rmw::LLVMAtomicRMWBinOpAnd,
            AtomicOp::Or => Rmw::LLVMAtomicRMWBinOpOr,
            AtomicOp::Xor => Rmw::LLVMAtomicRMWBinOpXor,
            AtomicOp::Smax => Rmw::LLVMAtomicRMWBinOpMax,
            AtomicOp::Smin => Rmw::LLVMAtomicRMWBinOpMin,
            AtomicOp::Umax => Rmw::LLVMAtomicRMWBinOpUMax,
            AtomicOp::Umin => Rmw::LLVMAtomicRMWBinOpUMin,
            AtomicOp::Fadd => Rmw::LLVMAtomicRMWBinOpFAdd,
            AtomicOp::Fsub => Rmw::LLVMAtomicRMWBinOpFSub,
            AtomicOp::Fmax => Rmw::LLVMAtomicRMWBinOpFMax,
            AtomicOp::Fmin => Rmw::LLVMAtomicRMWBinOpFMin,
        };
        // SAFETY: the builder has a position; the verifier has checked that `arg` suits `op`. The
        // result has the operand's type. OpenCL's atomic objects are aligned to their size.
        unsafe {
            let inst = llvm_sys::core::LLVMBuildAtomicRMW(
                self.builder.as_mut_ptr(),
                op,
                ptr.as_value_ref(),
                arg.as_value_ref(),
                raw(ordering(order)),
                0,
            );
            llvm_sys::core::LLVMSetAlignment(inst, ty.bytes());
            self.scopes.mark(InstructionValue::new(inst), &[Part::Space(space)]);
            BasicValueEnum::new(inst)
        }
    }

    /// Atomic compare and exchange; yields the old value and whether it was the expected one.
    pub fn atomic_cas(
        &self,
        [success, failure]: [Ordering; 2],
        ty: Type,
        ptr: PointerValue<'ctx>,
        space: Space,
        [expected, new]: [BasicValueEnum<'ctx>; 2],
    ) -> Emitted<[BasicValueEnum<'ctx>; 2]> {
        let b = &self.builder;
        let bits = self.int(ty.bits());
        // LLVM compares the bits of integers and addresses only.
        let as_bits = |value: BasicValueEnum<'ctx>| match value {
            BasicValueEnum::FloatValue(value) => b.build_bit_cast(value, bits, ""),
            other => Ok(other),
        };
        let (expected, new) = (as_bits(expected)?, as_bits(new)?);
        // SAFETY: the builder has a position; both values have one type, an integer or address. The
        // result is a pair of that type and i1.
        let pair = unsafe {
            let inst = llvm_sys::core::LLVMBuildAtomicCmpXchg(
                b.as_mut_ptr(),
                ptr.as_value_ref(),
                expected.as_value_ref(),
                new.as_value_ref(),
                raw(ordering(success)),
                raw(load_ordering(failure)),
                0,
            );
            llvm_sys::core::LLVMSetAlignment(inst, ty.bytes());
            self.scopes.mark(InstructionValue::new(inst), &[Part::Space(space)]);
            inkwell::values::StructValue::new(inst)
        };
        let mut old = b.build_extract_value(pair, 0, "")?;
        if ty.is_float() {
            old = b.build_bit_cast(old, self.ty(ty), "")?;
        }
        Ok([old, b.build_extract_value(pair, 1, "")?])
    }

    /// A fence; a relaxed one orders nothing.
    pub fn fence(&self, order: Ordering) -> Emitted<()> {
        if order != Ordering::Relaxed {
            self.builder.build_fence(ordering(order), false, "")?;
        }
        Ok(())
    }

    /// The address space a generic address is in, as SPIR's number.
    pub fn space_of(&self, frame: &Frame<'ctx>, ptr: PointerValue<'ctx>) -> Emitted<IntValue<'ctx>> {
        let number = |space: Space| self.ctx.i32_type().const_int(space.number().into(), false);
        let choose = |yes, space, no| -> Emitted<IntValue<'ctx>> {
            let chosen = self.builder.build_select(yes, number(space), no, "")?;
            Ok(chosen.into_int_value())
        };
        let mut space = number(Space::Global);
        for &(start, len) in &frame.private {
            let inside = self.in_range(ptr, start, len)?;
            space = choose(inside, Space::Private, space)?;
        }
        let inside = self.in_range(ptr, frame.local.0, frame.local.1)?;
        choose(inside, Space::Local, space)
    }
}

/// The alignment of an element `step` bytes behind the access's address.
fn element_align(access: Access, ty: Type, step: u64) -> u32 {
    if access.atomic.is_some() {
        return ty.bytes();
    }
    let of_step = 1 << step.trailing_zeros().min(31);
    access.align.max(1).min(of_step)
}

fn raw(order: AtomicOrdering) -> LLVMAtomicOrdering {
    match order {
        AtomicOrdering::NotAtomic => LLVMAtomicOrdering::LLVMAtomicOrderingNotAtomic,
        AtomicOrdering::Unordered => LLVMAtomicOrdering::LLVMAtomicOrderingUnordered,
        AtomicOrdering::Monotonic => LLVMAtomicOrdering::LLVMAtomicOrderingMonotonic,
        AtomicOrdering::Acquire => LLVMAtomicOrdering::LLVMAtomicOrderingAcquire,
        AtomicOrdering::Release => LLVMAtomicOrdering::LLVMAtomicOrderingRelease,
        AtomicOrdering::AcquireRelease => LLVMAtomicOrdering::LLVMAtomicOrderingAcquireRelease,
        AtomicOrdering::SequentiallyConsistent => LLVMAtomicOrdering::LLVMAtomicOrderingSequentiallyConsistent,
    }
}
