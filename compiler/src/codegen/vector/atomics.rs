//! Atomic read-modify-write operations of a gang.
//!
//! Work-items whose operations on one place follow each other do nothing that a single operation cannot: the
//! place gets what all of them together make of it, and what each one finds there is what it was before with
//! the operands of those before it. So one operation per gang is enough where all lanes use one address; that
//! no other work-item comes between is one of the orders that the program allows. An exchange is none of
//! these, and sums of floats would round otherwise.

use std::cell::RefCell;

use super::VectorEmitter;
use super::lane_value::LaneValue;
use super::masks::Mask;
use crate::codegen::emit::{Emitted, vector_of};
use inkwell::types::VectorType;
use inkwell::values::{BasicValueEnum, InstructionOpcode, VectorValue};
use lockstep_ir::ir::{AtomicOp, BinaryOp, FastMath, InstNode, IntFlags, Ordering, Value};
use lockstep_protocol::types::{Space, Type};

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
    fn of_atomic(opcode: AtomicOp, scalar_type: Type) -> Option<Combine> {
        let Type::Int(bit_width @ ..=64) = scalar_type else { return None };
        let sign_bit = 1 << (bit_width - 1);
        let (opcode, reduce_name, neutral) = match opcode {
            AtomicOp::Add | AtomicOp::Sub => (BinaryOp::Add, "llvm.vector.reduce.add", 0),
            AtomicOp::And => (BinaryOp::And, "llvm.vector.reduce.and", scalar_type.value_mask()),
            AtomicOp::Or => (BinaryOp::Or, "llvm.vector.reduce.or", 0),
            AtomicOp::Xor => (BinaryOp::Xor, "llvm.vector.reduce.xor", 0),
            AtomicOp::Smax => (BinaryOp::Smax, "llvm.vector.reduce.smax", sign_bit),
            AtomicOp::Smin => (BinaryOp::Smin, "llvm.vector.reduce.smin", sign_bit - 1),
            AtomicOp::Umax => (BinaryOp::Umax, "llvm.vector.reduce.umax", 0),
            AtomicOp::Umin => (BinaryOp::Umin, "llvm.vector.reduce.umin", scalar_type.value_mask()),
            AtomicOp::Xchg | AtomicOp::Fadd | AtomicOp::Fsub | AtomicOp::Fmax | AtomicOp::Fmin => return None,
        };
        Some(Combine { opcode, reduce: reduce_name, neutral })
    }
}

impl<'ctx> VectorEmitter<'_, 'ctx, '_> {
    pub(super) fn atomic_rmw(
        &self,
        inst_node: &InstNode,
        opcode: AtomicOp,
        ordering: Ordering,
        pointer: Value,
        argument: Value,
    ) -> Emitted<Vec<LaneValue<'ctx>>> {
        let (emitter, scalar_type, address_space) =
            (self.around.emitter, self.type_of(argument), self.space_of(pointer));
        let combine = match Combine::of_atomic(opcode, scalar_type) {
            Some(combine) if self.is_uniform(pointer) => combine,
            combine => {
                self.note_lanes("atomic", if combine.is_none() { "no reduction" } else { "addresses differ" });
                // Elsewhere the bus is locked for each, which takes longer than to find out where.
                let through_memory = address_space == Space::Local && self.block_mask()?.is_none();
                let places = RefCell::default();
                let change_lane = |lane| {
                    let target = match through_memory {
                        true => self.lane_address_through_memory(inst_node, pointer, lane, &places)?,
                        false => self.lane_address(pointer, lane)?,
                    };
                    let operand = self.read_lane(argument, lane)?;
                    Ok(vec![emitter.atomic_rmw(opcode, ordering, scalar_type, target, address_space, operand)?])
                };
                let previous = self.emit_by_lane(inst_node, change_lane)?;
                self.release_numbers(&places)?;
                return Ok(previous);
            }
        };
        let is_used = inst_node.results.iter().any(|&result| self.uses[result] > 0);
        let mask = self.block_mask()?;
        let change_memory = |operand| -> Emitted<BasicValueEnum<'ctx>> {
            let target = self.lane_zero(pointer)?.into_pointer_value();
            emitter.atomic_rmw(opcode, ordering, scalar_type, target, address_space, operand)
        };
        if !is_used {
            self.note_class("atomic", "uniform", "reduced");
            let previous = self.emit_guarded(mask, || {
                Ok(vec![change_memory(self.reduce_operands(&combine, scalar_type, argument, mask)?)?])
            })?;
            return Ok(previous.into_iter().map(|old_value| LaneValue::Affine(old_value, 0)).collect());
        }
        self.note_class("atomic", "uniform", "reduced, lanes' old values by a scan");
        let scan_opcode = if opcode == AtomicOp::Sub { BinaryOp::Sub } else { combine.opcode };
        let previous = self.emit_guarded(mask, || {
            let lanes_before = self.scan_operands(&combine, scalar_type, argument, mask)?;
            let old_value = change_memory(self.reduce_operands(&combine, scalar_type, argument, mask)?)?;
            let old_values = emitter.splat(old_value, self.around.width())?;
            Ok(vec![self.combine_vectors(scan_opcode, old_values, lanes_before)?.into()])
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
        scalar_type: Type,
        argument: Value,
        mask: Option<Mask<'ctx>>,
    ) -> Emitted<BasicValueEnum<'ctx>> {
        let emitter = self.around.emitter;
        match combine.opcode {
            // So many times the same.
            BinaryOp::Add if self.is_uniform(argument) => {
                let active_count = match mask {
                    None => emitter.const64(self.around.width().into()),
                    Some(mask) => {
                        let bit_pattern = self.lanes_as_bits(mask.lanes)?.into();
                        emitter
                            .call_intrinsic("llvm.ctpop", &[emitter.i64_type().into()], &[bit_pattern])?
                            .into_int_value()
                    }
                };
                let active_count = emitter.builder.build_int_cast(
                    active_count,
                    emitter.value_type(scalar_type).into_int_type(),
                    "",
                )?;
                Ok(emitter.builder.build_int_mul(self.lane_zero(argument)?.into_int_value(), active_count, "")?.into())
            }
            // The same once more changes nothing.
            opcode if opcode != BinaryOp::Add && opcode != BinaryOp::Xor && self.is_uniform(argument) => {
                self.lane_zero(argument)
            }
            _ => {
                let operands = self.masked_operands(combine, scalar_type, argument, mask)?;
                emitter.call_intrinsic(combine.reduce, &[operands.get_type().into()], &[operands.into()])
            }
        }
    }

    /// The lanes' operands; what changes nothing in those that are not active.
    fn masked_operands(
        &self,
        combine: &Combine,
        scalar_type: Type,
        argument: Value,
        mask: Option<Mask<'ctx>>,
    ) -> Emitted<VectorValue<'ctx>> {
        let operands = self.as_vector(argument)?;
        let Some(mask) = mask else { return Ok(operands) };
        let neutral = self.neutral_vector(combine, scalar_type)?;
        Ok(self.around.emitter.builder.build_select(mask.lanes, operands, neutral, "")?.into_vector_value())
    }

    fn neutral_vector(&self, combine: &Combine, scalar_type: Type) -> Emitted<VectorValue<'ctx>> {
        self.around.emitter.splat(self.around.emitter.constant(scalar_type, combine.neutral), self.around.width())
    }

    /// What the operands of the active lanes before each lane are together.
    fn scan_operands(
        &self,
        combine: &Combine,
        scalar_type: Type,
        argument: Value,
        mask: Option<Mask<'ctx>>,
    ) -> Emitted<VectorValue<'ctx>> {
        let (emitter, width) = (self.around.emitter, self.around.width());
        if combine.opcode == BinaryOp::Add && self.is_uniform(argument) {
            let lane_counts = self.lanes_before(scalar_type, mask)?;
            return Ok(emitter.builder.build_int_mul(lane_counts, self.as_vector(argument)?, "")?);
        }
        let neutral = self.neutral_vector(combine, scalar_type)?;
        // Lane `i` gets lane `i - distance`'s element.
        let move_lanes = |vector: VectorValue<'ctx>, distance: u32| {
            let source_lane = |lane: u32| Some(if lane < distance { width } else { lane - distance });
            emitter.shuffle_vectors(vector, neutral, &(0..width).map(source_lane).collect::<Vec<_>>())
        };
        let mut prefix_sums = move_lanes(self.masked_operands(combine, scalar_type, argument, mask)?, 1)?;
        let mut distance = 1;
        while distance < width {
            prefix_sums = self.combine_vectors(combine.opcode, prefix_sums, move_lanes(prefix_sums, distance)?)?;
            distance *= 2;
        }
        Ok(prefix_sums)
    }

    /// How many active lanes are before each lane.
    fn lanes_before(&self, scalar_type: Type, mask: Option<Mask<'ctx>>) -> Emitted<VectorValue<'ctx>> {
        let (emitter, width) = (self.around.emitter, self.around.width());
        let lane_type = emitter.value_type(scalar_type).into_int_type();
        let Some(mask) = mask else {
            let numbers: Vec<_> = (0..width).map(|lane| lane_type.const_int(lane.into(), false)).collect();
            return Ok(VectorType::const_vector(&numbers));
        };
        // Counts in the narrowest elements that have a bit for each lane.
        let small_type = emitter.int_type(width.max(16));
        let lane_bits = emitter.builder.build_int_cast(self.lanes_as_bits(mask.lanes)?, small_type, "")?;
        let masks_before: Vec<_> = (0..width).map(|lane| small_type.const_int((1 << lane) - 1, false)).collect();
        let lower_lanes = emitter.splat(lane_bits.into(), width)?;
        let lower_lanes = emitter.builder.build_and(lower_lanes, VectorType::const_vector(&masks_before), "")?;
        let lane_counts =
            emitter.call_intrinsic("llvm.ctpop", &[lower_lanes.get_type().into()], &[lower_lanes.into()])?;
        let opcode = match lane_type.get_bit_width().cmp(&small_type.get_bit_width()) {
            std::cmp::Ordering::Equal => return Ok(lane_counts.into_vector_value()),
            std::cmp::Ordering::Less => InstructionOpcode::Trunc,
            std::cmp::Ordering::Greater => InstructionOpcode::ZExt,
        };
        let lane_counts = emitter.builder.build_cast(opcode, lane_counts, vector_of(lane_type.into(), width), "")?;
        Ok(lane_counts.into_vector_value())
    }
}
