//! Values of a gang: scalars that stand for all lanes, vectors, and the ways between them.

use super::VectorEmitter;
use super::lane_value::LaneValue;
use crate::codegen::emit::{Emitted, Emitter, vector_of};
use crate::codegen::error::CodegenError;
use inkwell::basic_block::BasicBlock;
use inkwell::types::VectorType;
use inkwell::values::{AsValueRef, BasicValueEnum, IntValue, PointerValue, VectorValue};
use llvm_sys::prelude::LLVMValueRef;
use lockstep_ir::ir::{FastMath, UnaryOp, Value, ValueDef};
use lockstep_protocol::types::Type;
use std::collections::{HashMap, HashSet};

impl<'ctx> VectorEmitter<'_, 'ctx, '_> {
    pub(super) fn held_value(&self, operand: Value) -> Emitted<LaneValue<'ctx>> {
        let value_data = self.body.values[operand];
        match value_data.definition {
            ValueDef::Const(bit_pattern) => {
                Ok(LaneValue::Affine(self.around.emitter.constant(value_data.ty, bit_pattern), 0))
            }
            _ => self.values[operand].clone().ok_or(CodegenError::NotComputed(operand)),
        }
    }

    /// A value in lane 0.
    pub(super) fn lane_zero(&self, operand: Value) -> Emitted<BasicValueEnum<'ctx>> {
        match self.held_value(operand)? {
            LaneValue::Affine(base_value, _) => Ok(base_value),
            LaneValue::Runs(bases, _) => Ok(bases[0]),
            LaneValue::Vector(vector) => {
                Ok(self.around.emitter.builder.build_extract_element(vector, self.around.emitter.const64(0), "")?)
            }
        }
    }

    /// A value as a vector.
    pub(super) fn as_vector(&self, operand: Value) -> Emitted<VectorValue<'ctx>> {
        self.materialize(&self.held_value(operand)?)
    }

    pub(super) fn materialize(&self, lane_value: &LaneValue<'ctx>) -> Emitted<VectorValue<'ctx>> {
        match *lane_value {
            LaneValue::Affine(base_value, stride) => {
                self.around.emitter.materialize_affine(base_value, stride, self.wide.get())
            }
            LaneValue::Runs(ref bases, stride) => self.spread_runs(bases, stride),
            LaneValue::Vector(vector) => Ok(vector),
        }
    }

    /// A value in one lane, of which the number is known at run time (an i64).
    pub(super) fn read_lane(&self, operand: Value, lane: IntValue<'ctx>) -> Emitted<BasicValueEnum<'ctx>> {
        let emitter = self.around.emitter;
        match self.held_value(operand)? {
            LaneValue::Affine(base_value, 0) => Ok(base_value),
            LaneValue::Affine(base_value, stride) => {
                emitter.add_bytes(base_value, emitter.builder.build_int_mul(lane, emitter.const64(stride as u64), "")?)
            }
            lane_value @ LaneValue::Runs(..) => match lane.get_zero_extended_constant() {
                Some(lane) => {
                    let row_length = u64::from(self.around.width() / self.around.row_count());
                    let base_value = self.in_run(operand, (lane / row_length) as u32)?;
                    let LaneValue::Runs(_, stride) = lane_value else { return Ok(base_value) };
                    emitter.add_bytes(base_value, emitter.const64((lane % row_length).wrapping_mul(stride as u64)))
                }
                None => Ok(emitter.builder.build_extract_element(self.materialize(&lane_value)?, lane, "")?),
            },
            LaneValue::Vector(vector) => Ok(emitter.builder.build_extract_element(vector, lane, "")?),
        }
    }

    /// Lane 0's value, given that of another lane of a value that is affine.
    pub(super) fn base_of(
        &self,
        value: BasicValueEnum<'ctx>,
        lane: IntValue<'ctx>,
        stride: i64,
    ) -> Emitted<BasicValueEnum<'ctx>> {
        let emitter = self.around.emitter;
        let bytes_back = emitter.const64(stride.wrapping_neg() as u64);
        if stride == 0 {
            Ok(value)
        } else {
            emitter.add_bytes(value, emitter.builder.build_int_mul(lane, bytes_back, "")?)
        }
    }

    /// The value, or any one where it is poison. In a block it is the same each time.
    pub(super) fn freeze_value(&self, value: BasicValueEnum<'ctx>) -> Emitted<BasicValueEnum<'ctx>> {
        use inkwell::values::BasicValue;
        if value.is_const() {
            return Ok(value);
        }
        let emitter = self.around.emitter;
        let block = emitter.current_block()?;
        if let Some(known) = self.defined.borrow().find_known(block, value) {
            return Ok(known);
        }
        // The types do not matter to it.
        let frozen = emitter.unary(UnaryOp::Freeze, FastMath(0), Type::BOOL, Type::BOOL, value)?;
        self.defined.borrow_mut().note_frozen(block, value, frozen);
        Ok(frozen)
    }

    /// The vector type of a gang's values of a type.
    pub(super) fn vector_ty(&self, scalar_type: Type) -> VectorType<'ctx> {
        vector_of(self.around.emitter.value_type(scalar_type), self.wide.get())
    }
}

impl<'ctx> Emitter<'ctx, '_> {
    /// The same in `lane_count` lanes.
    pub(in crate::codegen) fn splat(&self, value: BasicValueEnum<'ctx>, lane_count: u32) -> Emitted<VectorValue<'ctx>> {
        use inkwell::values::BasicValue;
        if value.is_const() {
            return Ok(VectorType::const_vector(&vec![value; lane_count as usize]));
        }
        let poison = vector_of(value.get_type(), lane_count).get_poison();
        let one_lane = self.builder.build_insert_element(poison, value, self.const64(0), "")?;
        self.shuffle_vectors(one_lane, poison, &vec![Some(0); lane_count as usize])
    }

    /// `base_value + i * stride` in lane `i`.
    pub(super) fn materialize_affine(
        &self,
        base_value: BasicValueEnum<'ctx>,
        stride: i64,
        lane_count: u32,
    ) -> Emitted<VectorValue<'ctx>> {
        if stride == 0 {
            return self.splat(base_value, lane_count);
        }
        let step_vector = |int_type: inkwell::types::IntType<'ctx>| {
            let step_constant = |lane: u32| int_type.const_int(stride.wrapping_mul(lane.into()) as u64, true);
            VectorType::const_vector(&(0..lane_count).map(step_constant).collect::<Vec<_>>())
        };
        match base_value {
            BasicValueEnum::PointerValue(base_address) => Ok(self
                .offset_addresses(base_address.into(), step_vector(self.i64_type()).into(), false)?
                .into_vector_value()),
            base_value => {
                let step_values = step_vector(base_value.get_type().into_int_type());
                Ok(self.builder.build_int_add(self.splat(base_value, lane_count)?, step_values, "")?)
            }
        }
    }

    /// An integer or address plus an i64, in the arithmetic of its type.
    pub(super) fn add_bytes(
        &self,
        base_value: BasicValueEnum<'ctx>,
        byte_count: IntValue<'ctx>,
    ) -> Emitted<BasicValueEnum<'ctx>> {
        match base_value {
            BasicValueEnum::PointerValue(base_address) => {
                Ok(self.offset_address(base_address, byte_count, false)?.into())
            }
            base_value => {
                let integer = base_value.into_int_value();
                let byte_count = self.builder.build_int_cast(byte_count, integer.get_type(), "")?;
                Ok(self.builder.build_int_add(integer, byte_count, "")?.into())
            }
        }
    }

    /// Addresses plus bytes, where at least one of both is a vector.
    pub(super) fn offset_addresses(
        &self,
        base_value: BasicValueEnum<'ctx>,
        offset: BasicValueEnum<'ctx>,
        inbounds: bool,
    ) -> Emitted<BasicValueEnum<'ctx>> {
        use inkwell::types::AsTypeRef;
        use llvm_sys::core::{LLVMBuildGEP2, LLVMBuildInBoundsGEP2};
        let build_gep = if inbounds { LLVMBuildInBoundsGEP2 } else { LLVMBuildGEP2 };
        let byte_type = self.context.i8_type().as_type_ref();
        let mut index = [offset.as_value_ref()];
        // SAFETY: the builder has a position; base and offset are addresses and i64s, scalars or vectors of
        // one length, and so is the result.
        Ok(unsafe {
            BasicValueEnum::new(build_gep(
                self.builder.as_mut_ptr(),
                byte_type,
                base_value.as_value_ref(),
                index.as_mut_ptr(),
                1,
                c"".as_ptr(),
            ))
        })
    }

    /// Elements of two vectors by their place in both together; any value where there is none.
    pub(in crate::codegen) fn shuffle_vectors(
        &self,
        left: VectorValue<'ctx>,
        right: VectorValue<'ctx>,
        source_lanes: &[Option<u32>],
    ) -> Emitted<VectorValue<'ctx>> {
        let i32_type = self.context.i32_type();
        let lane_constant = |source_lane: &Option<u32>| {
            source_lane.map_or(i32_type.get_poison(), |lane_number| i32_type.const_int(lane_number.into(), false))
        };
        let source_lanes: Vec<IntValue> = source_lanes.iter().map(lane_constant).collect();
        Ok(self.builder.build_shuffle_vector(left, right, VectorType::const_vector(&source_lanes), "")?)
    }

    /// Vectors one behind the other, cut to `lane_count` lanes.
    pub(in crate::codegen) fn concat_vectors(
        &self,
        part_vectors: &[VectorValue<'ctx>],
        lane_count: u32,
    ) -> Emitted<VectorValue<'ctx>> {
        let Some((&first_part, other_parts)) = part_vectors.split_first() else {
            return Err(CodegenError::Missing("vector to join"));
        };
        let lanes = first_part.get_type().get_size();
        if part_vectors.len().is_power_of_two() && lanes * part_vectors.len() as u32 == lane_count {
            let (mut joined_parts, mut all_lanes) = (part_vectors.to_vec(), (0..lanes).map(Some).collect::<Vec<_>>());
            while joined_parts.len() > 1 {
                all_lanes.extend((all_lanes.len() as u32..2 * all_lanes.len() as u32).map(Some));
                joined_parts = joined_parts
                    .chunks(2)
                    .map(|vector_pair| self.shuffle_vectors(vector_pair[0], vector_pair[1], &all_lanes))
                    .collect::<Emitted<_>>()?;
            }
            return Ok(joined_parts[0]);
        }
        // Both operands of a shuffle have one length.
        let place_part = |part_vector: VectorValue<'ctx>, position: u32| {
            let own_lane = |result_lane: u32| {
                result_lane.checked_sub(position).filter(|&lane| lane < part_vector.get_type().get_size())
            };
            self.shuffle_vectors(part_vector, part_vector, &(0..lane_count).map(own_lane).collect::<Vec<_>>())
        };
        let mut lanes_done = first_part.get_type().get_size();
        let mut joined_vector = if lanes_done == lane_count { first_part } else { place_part(first_part, 0)? };
        for &part_vector in other_parts {
            let source_lane =
                |result_lane: u32| Some(if result_lane < lanes_done { result_lane } else { lane_count + result_lane });
            joined_vector = self.shuffle_vectors(
                joined_vector,
                place_part(part_vector, lanes_done)?,
                &(0..lane_count).map(source_lane).collect::<Vec<_>>(),
            )?;
            lanes_done += part_vector.get_type().get_size();
        }
        Ok(joined_vector)
    }

    /// An address plus a constant.
    pub(super) fn offset_constant(
        &self,
        base_address: PointerValue<'ctx>,
        byte_count: i64,
    ) -> Emitted<PointerValue<'ctx>> {
        if byte_count == 0 {
            Ok(base_address)
        } else {
            self.offset_address(base_address, self.const64(byte_count as u64), false)
        }
    }
}

/// Values that are not poison. LLVM finds out that a value need not be frozen by a walk over all blocks that dominate it.
#[derive(Default)]
pub(super) struct DefinedValues<'ctx> {
    /// Those that are known to be.
    values: HashSet<LLVMValueRef>,
    /// What values became when they were frozen in a block.
    frozen: HashMap<(BasicBlock<'ctx>, LLVMValueRef), BasicValueEnum<'ctx>>,
}

impl<'ctx> DefinedValues<'ctx> {
    /// Notes that a value is computed of values that are not poison by an operation that makes none.
    pub(super) fn note_defined(&mut self, value: BasicValueEnum<'ctx>) {
        self.values.insert(value.as_value_ref());
    }

    /// Notes that a value is poison only if another one is.
    pub(super) fn note_consequence(&mut self, value: BasicValueEnum<'ctx>, cause: BasicValueEnum<'ctx>) {
        if self.values.contains(&cause.as_value_ref()) {
            self.note_defined(value);
        }
    }

    fn note_frozen(&mut self, block: BasicBlock<'ctx>, value: BasicValueEnum<'ctx>, frozen: BasicValueEnum<'ctx>) {
        self.note_defined(frozen);
        self.frozen.insert((block, value.as_value_ref()), frozen);
    }

    /// What freezing a value in a block comes to, if that needs no instruction.
    fn find_known(&self, block: BasicBlock<'ctx>, value: BasicValueEnum<'ctx>) -> Option<BasicValueEnum<'ctx>> {
        match self.values.contains(&value.as_value_ref()) {
            true => Some(value),
            false => self.frozen.get(&(block, value.as_value_ref())).copied(),
        }
    }
}
