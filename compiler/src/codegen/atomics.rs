//! Atomic operations.
//!
//! Local memory belongs to a work-group, and one thread runs a group: what is atomic there for OpenCL is plain loads and
//! stores for the machine.

use super::alias::Part;
use super::emit::{Emitted, Emitter, llvm_ordering, load_ordering};
use inkwell::values::{AsValueRef, BasicValueEnum, InstructionValue, PointerValue};
use inkwell::{AtomicOrdering, IntPredicate};
use llvm_sys::{LLVMAtomicOrdering, LLVMAtomicRMWBinOp as Rmw};
use lockstep_ir::ir::{Access, AtomicOp, FastMath, IntFlags, Ordering};
use lockstep_protocol::types::{Space, Type};

/// A plain access to an atomic object, which is aligned to its size.
fn aligned_access(ty: Type) -> Access {
    Access { align: ty.bytes(), volatile: false, atomic: None }
}

impl<'ctx> Emitter<'ctx, '_> {
    /// Atomic read-modify-write of a place of a work-group's own or of any; yields the old value.
    pub fn atomic_rmw(
        &self,
        opcode: AtomicOp,
        order: Ordering,
        ty: Type,
        pointer: PointerValue<'ctx>,
        space: Space,
        argument: BasicValueEnum<'ctx>,
    ) -> Emitted<BasicValueEnum<'ctx>> {
        if space != Space::Local {
            return Ok(self.shared_rmw(opcode, order, ty, pointer, space, argument));
        }
        let old_value = self.load_elements(pointer, space, 0, ty, 1, aligned_access(ty))?[0];
        let new_value = match opcode.binary() {
            Some(opcode) => self.binary(opcode, IntFlags::default(), FastMath::default(), [old_value, argument])?,
            None => argument,
        };
        self.store_elements(pointer, space, 0, ty, &[new_value], aligned_access(ty))?;
        Ok(old_value)
    }

    fn shared_rmw(
        &self,
        opcode: AtomicOp,
        order: Ordering,
        ty: Type,
        pointer: PointerValue<'ctx>,
        space: Space,
        argument: BasicValueEnum<'ctx>,
    ) -> BasicValueEnum<'ctx> {
        let op = match opcode {
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
        // SAFETY: the builder has a position; the verifier has checked that `argument` suits `opcode`. The
        // result has the operand's type. OpenCL's atomic objects are aligned to their size.
        unsafe {
            let instruction = llvm_sys::core::LLVMBuildAtomicRMW(
                self.builder.as_mut_ptr(),
                op,
                pointer.as_value_ref(),
                argument.as_value_ref(),
                raw_ordering(llvm_ordering(order)),
                0,
            );
            llvm_sys::core::LLVMSetAlignment(instruction, ty.bytes());
            self.scopes.mark_parts(InstructionValue::new(instruction), &[Part::Space(space)]);
            BasicValueEnum::new(instruction)
        }
    }

    /// Atomic compare and exchange; yields the old value and whether it was the expected one.
    pub fn atomic_cas(
        &self,
        orders: [Ordering; 2],
        ty: Type,
        pointer: PointerValue<'ctx>,
        space: Space,
        [expected, new_value]: [BasicValueEnum<'ctx>; 2],
    ) -> Emitted<[BasicValueEnum<'ctx>; 2]> {
        if space != Space::Local {
            return self.shared_cas(orders, ty, pointer, space, [expected, new_value]);
        }
        let old_value = self.load_elements(pointer, space, 0, ty, 1, aligned_access(ty))?[0];
        let equal = match self.bits_of(old_value, ty)? {
            BasicValueEnum::PointerValue(previous) => {
                let expected = expected.into_pointer_value();
                self.builder.build_int_compare(IntPredicate::EQ, previous, expected, "")?
            }
            old_value => {
                let expected = self.bits_of(expected, ty)?.into_int_value();
                self.builder.build_int_compare(IntPredicate::EQ, old_value.into_int_value(), expected, "")?
            }
        };
        let stored = self.builder.build_select(equal, new_value, old_value, "")?;
        self.store_elements(pointer, space, 0, ty, &[stored], aligned_access(ty))?;
        Ok([old_value, equal.into()])
    }

    /// A float's bits; of other values nothing changes.
    fn bits_of(&self, value: BasicValueEnum<'ctx>, ty: Type) -> Emitted<BasicValueEnum<'ctx>> {
        match value {
            BasicValueEnum::FloatValue(value) => {
                Ok(self.builder.build_bit_cast(value, self.int_type(ty.bits()), "")?)
            }
            other => Ok(other),
        }
    }

    fn shared_cas(
        &self,
        [success, failure]: [Ordering; 2],
        ty: Type,
        pointer: PointerValue<'ctx>,
        space: Space,
        [expected, new_value]: [BasicValueEnum<'ctx>; 2],
    ) -> Emitted<[BasicValueEnum<'ctx>; 2]> {
        let builder = &self.builder;
        // LLVM compares the bits of integers and addresses only.
        let (expected, new_value) = (self.bits_of(expected, ty)?, self.bits_of(new_value, ty)?);
        // SAFETY: the builder has a position; both values have one type, an integer or address. The
        // result is a pair of that type and i1.
        let pair = unsafe {
            let instruction = llvm_sys::core::LLVMBuildAtomicCmpXchg(
                builder.as_mut_ptr(),
                pointer.as_value_ref(),
                expected.as_value_ref(),
                new_value.as_value_ref(),
                raw_ordering(llvm_ordering(success)),
                raw_ordering(load_ordering(failure)),
                0,
            );
            llvm_sys::core::LLVMSetAlignment(instruction, ty.bytes());
            self.scopes.mark_parts(InstructionValue::new(instruction), &[Part::Space(space)]);
            inkwell::values::StructValue::new(instruction)
        };
        let mut old_value = builder.build_extract_value(pair, 0, "")?;
        if ty.is_float() {
            old_value = builder.build_bit_cast(old_value, self.value_type(ty), "")?;
        }
        Ok([old_value, builder.build_extract_value(pair, 1, "")?])
    }
}

fn raw_ordering(order: AtomicOrdering) -> LLVMAtomicOrdering {
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
