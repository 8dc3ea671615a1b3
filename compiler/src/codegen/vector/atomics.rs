//! Atomic read-modify-write operations of a gang.
//!
//! Work-items whose operations on one place follow each other do nothing that a single operation cannot: the
//! place gets what all of them together make of it, and what each one finds there is what it was before with
//! the operands of those before it. So one operation per gang is enough where all lanes use one address; that
//! no other work-item comes between is one of the orders that the program allows. An exchange is none of
//! these, and sums of floats would round otherwise.

use super::VectorEmitter;
use super::lane_value::LaneValue;
use super::masks::Mask;
use crate::codegen::emit::{Emitted, vector_of};
use inkwell::types::VectorType;
use inkwell::values::{BasicValueEnum, InstructionOpcode, VectorValue};
use lockstep_ir::ir::{AtomicOp, BinaryOp, FastMath, InstNode, IntFlags, Ordering, Value};
use lockstep_protocol::types::Type;

/// What one operation for all lanes is made of.
struct Combine {
    /// Makes one operand of two.
    opcode: BinaryOp,
    /// LLVM's name of the same over a vector.
    reduce: &'static str,
    /// The bits of the operand that changes nothing.
    neutral: u128,
}

impl Combine {
    fn of_atomic(opcode: AtomicOp, ty: Type) -> Option<Combine> {
        let Type::Int(bits @ ..=64) = ty else { return None };
        let top = 1 << (bits - 1);
        let (opcode, reduce, neutral) = match opcode {
            AtomicOp::Add | AtomicOp::Sub => (BinaryOp::Add, "llvm.vector.reduce.add", 0),
            AtomicOp::And => (BinaryOp::And, "llvm.vector.reduce.and", ty.value_mask()),
            AtomicOp::Or => (BinaryOp::Or, "llvm.vector.reduce.or", 0),
            AtomicOp::Xor => (BinaryOp::Xor, "llvm.vector.reduce.xor", 0),
            AtomicOp::Smax => (BinaryOp::Smax, "llvm.vector.reduce.smax", top),
            AtomicOp::Smin => (BinaryOp::Smin, "llvm.vector.reduce.smin", top - 1),
            AtomicOp::Umax => (BinaryOp::Umax, "llvm.vector.reduce.umax", 0),
            AtomicOp::Umin => (BinaryOp::Umin, "llvm.vector.reduce.umin", ty.value_mask()),
            AtomicOp::Xchg | AtomicOp::Fadd | AtomicOp::Fsub | AtomicOp::Fmax | AtomicOp::Fmin => return None,
        };
        Some(Combine { opcode, reduce, neutral })
    }
}

impl<'ctx> VectorEmitter<'_, 'ctx, '_> {
    pub(super) fn atomic_rmw(
        &self,
        node: &InstNode,
        opcode: AtomicOp,
        order: Ordering,
        pointer: Value,
        argument: Value,
    ) -> Emitted<Vec<LaneValue<'ctx>>> {
        let (emitter, ty, space) = (self.around.emitter, self.type_of(argument), self.space_of(pointer));
        let combine = match Combine::of_atomic(opcode, ty) {
            Some(combine) if self.is_uniform(pointer) => combine,
            combine => {
                self.note_lanes("atomic", if combine.is_none() { "no reduction" } else { "addresses differ" });
                let change = |lane| {
                    let target = self.lane_address(pointer, lane)?;
                    Ok(vec![emitter.atomic_rmw(opcode, order, ty, target, space, self.read_lane(argument, lane)?)?])
                };
                return self.emit_by_lane(node, change);
            }
        };
        let used = node.results.iter().any(|&result| self.uses[result] > 0);
        let mask = self.block_mask()?;
        let change = |operand| -> Emitted<BasicValueEnum<'ctx>> {
            emitter.atomic_rmw(opcode, order, ty, self.lane_zero(pointer)?.into_pointer_value(), space, operand)
        };
        if !used {
            self.note_class("atomic", "uniform", "reduced");
            let previous =
                self.emit_guarded(mask, || Ok(vec![change(self.reduce_operands(&combine, ty, argument, mask)?)?]))?;
            return Ok(previous.into_iter().map(|old_value| LaneValue::Affine(old_value, 0)).collect());
        }
        self.note_class("atomic", "uniform", "reduced, lanes' old values by a scan");
        let scan_opcode = if opcode == AtomicOp::Sub { BinaryOp::Sub } else { combine.opcode };
        let previous = self.emit_guarded(mask, || {
            let before = self.scan_operands(&combine, ty, argument, mask)?;
            let old_value = change(self.reduce_operands(&combine, ty, argument, mask)?)?;
            Ok(vec![self.combine_vectors(scan_opcode, emitter.splat(old_value, self.around.width())?, before)?.into()])
        })?;
        Ok(previous.into_iter().map(|old_value| LaneValue::Vector(old_value.into_vector_value())).collect())
    }

    fn combine_vectors(
        &self,
        opcode: BinaryOp,
        left: VectorValue<'ctx>,
        right: VectorValue<'ctx>,
    ) -> Emitted<VectorValue<'ctx>> {
        let result = self.around.emitter.binary(
            opcode,
            IntFlags::default(),
            FastMath::default(),
            [left.into(), right.into()],
        )?;
        Ok(result.into_vector_value())
    }

    /// What the active lanes' operands are together; one lane at least is active.
    fn reduce_operands(
        &self,
        combine: &Combine,
        ty: Type,
        argument: Value,
        mask: Option<Mask<'ctx>>,
    ) -> Emitted<BasicValueEnum<'ctx>> {
        let emitter = self.around.emitter;
        match combine.opcode {
            // So many times the same.
            BinaryOp::Add if self.is_uniform(argument) => {
                let count = match mask {
                    None => emitter.const64(self.around.width().into()),
                    Some(mask) => {
                        let bits = self.lanes_as_bits(mask.lanes)?.into();
                        emitter.call_intrinsic("llvm.ctpop", &[emitter.i64_type().into()], &[bits])?.into_int_value()
                    }
                };
                let count = emitter.builder.build_int_cast(count, emitter.value_type(ty).into_int_type(), "")?;
                Ok(emitter.builder.build_int_mul(self.lane_zero(argument)?.into_int_value(), count, "")?.into())
            }
            // The same once more changes nothing.
            opcode if opcode != BinaryOp::Add && opcode != BinaryOp::Xor && self.is_uniform(argument) => {
                self.lane_zero(argument)
            }
            _ => {
                let operands = self.masked_operands(combine, ty, argument, mask)?;
                emitter.call_intrinsic(combine.reduce, &[operands.get_type().into()], &[operands.into()])
            }
        }
    }

    /// The lanes' operands; what changes nothing in those that are not active.
    fn masked_operands(
        &self,
        combine: &Combine,
        ty: Type,
        argument: Value,
        mask: Option<Mask<'ctx>>,
    ) -> Emitted<VectorValue<'ctx>> {
        let operands = self.as_vector(argument)?;
        let Some(mask) = mask else { return Ok(operands) };
        let neutral = self.neutral_vector(combine, ty)?;
        Ok(self.around.emitter.builder.build_select(mask.lanes, operands, neutral, "")?.into_vector_value())
    }

    fn neutral_vector(&self, combine: &Combine, ty: Type) -> Emitted<VectorValue<'ctx>> {
        self.around.emitter.splat(self.around.emitter.constant(ty, combine.neutral), self.around.width())
    }

    /// What the operands of the active lanes before each lane are together.
    fn scan_operands(
        &self,
        combine: &Combine,
        ty: Type,
        argument: Value,
        mask: Option<Mask<'ctx>>,
    ) -> Emitted<VectorValue<'ctx>> {
        let (emitter, width) = (self.around.emitter, self.around.width());
        if combine.opcode == BinaryOp::Add && self.is_uniform(argument) {
            let counts = self.lanes_before(ty, mask)?;
            return Ok(emitter.builder.build_int_mul(counts, self.as_vector(argument)?, "")?);
        }
        let neutral = self.neutral_vector(combine, ty)?;
        // Lane `i` gets lane `i - by`'s element.
        let moved = |vector: VectorValue<'ctx>, by: u32| {
            let place = |lane: u32| Some(if lane < by { width } else { lane - by });
            emitter.shuffle_vectors(vector, neutral, &(0..width).map(place).collect::<Vec<_>>())
        };
        let mut sums = moved(self.masked_operands(combine, ty, argument, mask)?, 1)?;
        let mut by = 1;
        while by < width {
            sums = self.combine_vectors(combine.opcode, sums, moved(sums, by)?)?;
            by *= 2;
        }
        Ok(sums)
    }

    /// How many active lanes are before each lane.
    fn lanes_before(&self, ty: Type, mask: Option<Mask<'ctx>>) -> Emitted<VectorValue<'ctx>> {
        let (emitter, width) = (self.around.emitter, self.around.width());
        let to = emitter.value_type(ty).into_int_type();
        let Some(mask) = mask else {
            let numbers: Vec<_> = (0..width).map(|lane| to.const_int(lane.into(), false)).collect();
            return Ok(VectorType::const_vector(&numbers));
        };
        // Counts in the narrowest elements that have a bit for each lane.
        let small = emitter.int_type(width.max(16));
        let bits = emitter.builder.build_int_cast(self.lanes_as_bits(mask.lanes)?, small, "")?;
        let before: Vec<_> = (0..width).map(|lane| small.const_int((1 << lane) - 1, false)).collect();
        let lower = emitter.splat(bits.into(), width)?;
        let lower = emitter.builder.build_and(lower, VectorType::const_vector(&before), "")?;
        let counts = emitter.call_intrinsic("llvm.ctpop", &[lower.get_type().into()], &[lower.into()])?;
        let opcode = match to.get_bit_width().cmp(&small.get_bit_width()) {
            std::cmp::Ordering::Equal => return Ok(counts.into_vector_value()),
            std::cmp::Ordering::Less => InstructionOpcode::Trunc,
            std::cmp::Ordering::Greater => InstructionOpcode::ZExt,
        };
        let counts = emitter.builder.build_cast(opcode, counts, vector_of(to.into(), width), "")?;
        Ok(counts.into_vector_value())
    }
}
