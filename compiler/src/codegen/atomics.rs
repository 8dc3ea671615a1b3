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
fn aligned_access(scalar_type: Type) -> Access {
    Access { align: scalar_type.bytes(), volatile: false, atomic: None }
}

impl<'ctx> Emitter<'ctx, '_> {
    /// Atomic read-modify-write of a place of a work-group's own or of any; yields the old value.
    pub fn atomic_rmw(
        &self,
        opcode: AtomicOp,
        ordering: Ordering,
        scalar_type: Type,
        pointer: PointerValue<'ctx>,
        address_space: Space,
        argument: BasicValueEnum<'ctx>,
    ) -> Emitted<BasicValueEnum<'ctx>> {
        if address_space != Space::Local {
            return Ok(self.shared_rmw(opcode, ordering, scalar_type, pointer, address_space, argument));
        }
        let old_value = self.load_elements(pointer, address_space, 0, scalar_type, 1, aligned_access(scalar_type))?[0];
        let new_value = match opcode.binary() {
            Some(opcode) => self.binary(opcode, IntFlags::default(), FastMath::default(), [old_value, argument])?,
            None => argument,
        };
        self.store_elements(pointer, address_space, 0, scalar_type, &[new_value], aligned_access(scalar_type))?;
        Ok(old_value)
    }

    fn shared_rmw(
        &self,
        opcode: AtomicOp,
        ordering: Ordering,
        scalar_type: Type,
        pointer: PointerValue<'ctx>,
        address_space: Space,
        argument: BasicValueEnum<'ctx>,
    ) -> BasicValueEnum<'ctx> {
        let llvm_opcode = match opcode {
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
                llvm_opcode,
                pointer.as_value_ref(),
                argument.as_value_ref(),
                raw_ordering(llvm_ordering(ordering)),
                0,
            );
            llvm_sys::core::LLVMSetAlignment(instruction, scalar_type.bytes());
            self.scopes.mark_parts(InstructionValue::new(instruction), &[Part::Space(address_space)]);
            BasicValueEnum::new(instruction)
        }
    }

    /// Atomic compare and exchange; yields the old value and whether it was the expected one.
    pub fn atomic_cas(
        &self,
        orders: [Ordering; 2],
        scalar_type: Type,
        pointer: PointerValue<'ctx>,
        address_space: Space,
        [expected, new_value]: [BasicValueEnum<'ctx>; 2],
    ) -> Emitted<[BasicValueEnum<'ctx>; 2]> {
        if address_space != Space::Local {
            return self.shared_cas(orders, scalar_type, pointer, address_space, [expected, new_value]);
        }
        let old_value = self.load_elements(pointer, address_space, 0, scalar_type, 1, aligned_access(scalar_type))?[0];
        let is_equal = match self.bits_of(old_value, scalar_type)? {
            BasicValueEnum::PointerValue(previous) => {
                let expected = expected.into_pointer_value();
                self.builder.build_int_compare(IntPredicate::EQ, previous, expected, "")?
            }
            old_value => {
                let expected = self.bits_of(expected, scalar_type)?.into_int_value();
                self.builder.build_int_compare(IntPredicate::EQ, old_value.into_int_value(), expected, "")?
            }
        };
        let stored = self.builder.build_select(is_equal, new_value, old_value, "")?;
        self.store_elements(pointer, address_space, 0, scalar_type, &[stored], aligned_access(scalar_type))?;
        Ok([old_value, is_equal.into()])
    }

    /// A float's bits; of other values nothing changes.
    fn bits_of(&self, value: BasicValueEnum<'ctx>, scalar_type: Type) -> Emitted<BasicValueEnum<'ctx>> {
        match value {
            BasicValueEnum::FloatValue(value) => {
                Ok(self.builder.build_bit_cast(value, self.int_type(scalar_type.bits()), "")?)
            }
            other => Ok(other),
        }
    }

    fn shared_cas(
        &self,
        [success, failure]: [Ordering; 2],
        scalar_type: Type,
        pointer: PointerValue<'ctx>,
        address_space: Space,
        [expected, new_value]: [BasicValueEnum<'ctx>; 2],
    ) -> Emitted<[BasicValueEnum<'ctx>; 2]> {
        let builder = &self.builder;
        // LLVM compares the bits of integers and addresses only.
        let (expected, new_value) = (self.bits_of(expected, scalar_type)?, self.bits_of(new_value, scalar_type)?);
        // SAFETY: the builder has a position; both values have one type, an integer or address. The
        // result is a pair of that type and i1.
        let old_and_success = unsafe {
            let instruction = llvm_sys::core::LLVMBuildAtomicCmpXchg(
                builder.as_mut_ptr(),
                pointer.as_value_ref(),
                expected.as_value_ref(),
                new_value.as_value_ref(),
                raw_ordering(llvm_ordering(success)),
                raw_ordering(load_ordering(failure)),
                0,
            );
            llvm_sys::core::LLVMSetAlignment(instruction, scalar_type.bytes());
            self.scopes.mark_parts(InstructionValue::new(instruction), &[Part::Space(address_space)]);
            inkwell::values::StructValue::new(instruction)
        };
        let mut old_value = builder.build_extract_value(old_and_success, 0, "")?;
        if scalar_type.is_float() {
            old_value = builder.build_bit_cast(old_value, self.value_type(scalar_type), "")?;
        }
        Ok([old_value, builder.build_extract_value(old_and_success, 1, "")?])
    }
}

fn raw_ordering(ordering: AtomicOrdering) -> LLVMAtomicOrdering {
    match ordering {
        AtomicOrdering::NotAtomic => LLVMAtomicOrdering::LLVMAtomicOrderingNotAtomic,
        AtomicOrdering::Unordered => LLVMAtomicOrdering::LLVMAtomicOrderingUnordered,
        AtomicOrdering::Monotonic => LLVMAtomicOrdering::LLVMAtomicOrderingMonotonic,
        AtomicOrdering::Acquire => LLVMAtomicOrdering::LLVMAtomicOrderingAcquire,
        AtomicOrdering::Release => LLVMAtomicOrdering::LLVMAtomicOrderingRelease,
        AtomicOrdering::AcquireRelease => LLVMAtomicOrdering::LLVMAtomicOrderingAcquireRelease,
        AtomicOrdering::SequentiallyConsistent => LLVMAtomicOrdering::LLVMAtomicOrderingSequentiallyConsistent,
    }
}
