//! What the lanes of a gang make of their values together, and what they read of each other.
//!
//! Lanes that do not run the block stand for the operation's identity, so reductions and scans take as many steps as the
//! width has bits, whichever lanes there are. Values that lanes read from any other one are permuted in registers where
//! the machine does that, and else go through memory.

use super::VectorEmitter;
use super::lane_value::LaneValue;
use crate::codegen::emit::{Emitted, vector_of};
use crate::codegen::error::CodegenError;
use inkwell::values::{InstructionOpcode, VectorValue};
use lockstep_ir::ir::{BinaryOp, Cluster, Collect, FastMath, IntFlags, Value};
use lockstep_protocol::types::Type;

/// The lanes of vectors that are permuted in registers.
const PERMUTED: u32 = 16;

impl<'ctx> VectorEmitter<'_, 'ctx, '_> {
    /// What the operands of the active lanes are together.
    pub(super) fn combine_active(
        &self,
        collective: Collect,
        opcode: BinaryOp,
        cluster: Cluster,
        argument: Value,
    ) -> Emitted<LaneValue<'ctx>> {
        let (emitter, width, scalar_type) = (self.around.emitter, self.around.width(), self.type_of(argument));
        let identity = opcode
            .identity(scalar_type)
            .ok_or(CodegenError::NoNeutralOperand { op: opcode.name(), ty: scalar_type })?;
        let identities = emitter.splat(emitter.constant(scalar_type, identity), width)?;
        let mut values = self.as_vector(argument)?;
        if let Some(mask) = self.block_mask()? {
            values = emitter.builder.build_select(mask.lanes, values, identities, "")?.into_vector_value();
        }
        let combine = |left: VectorValue<'ctx>, right: VectorValue<'ctx>| -> Emitted<VectorValue<'ctx>> {
            Ok(emitter
                .binary(opcode, IntFlags::default(), FastMath(0), [left.into(), right.into()])?
                .into_vector_value())
        };
        let shuffled = |left, right, lane_to: &dyn Fn(u32) -> u32| {
            emitter.shuffle_vectors(left, right, &(0..width).map(|lane| Some(lane_to(lane))).collect::<Vec<_>>())
        };
        // Lane `i` gets lane `i - distance`'s value.
        let move_lanes = |values, distance: u32| {
            shuffled(identities, values, &|lane| {
                lane.checked_sub(distance).map_or(lane, |source_lane| width + source_lane)
            })
        };
        match collective {
            Collect::Reduce => {
                let mut half_width = cluster.lane_count(width) / 2;
                while half_width > 0 {
                    values = combine(values, shuffled(values, values, &|lane| lane ^ half_width)?)?;
                    half_width /= 2;
                }
                if cluster.is_gang() {
                    let combined_lane = emitter.builder.build_extract_element(values, emitter.const64(0), "")?;
                    return Ok(LaneValue::Affine(combined_lane, 0));
                }
            }
            Collect::Inclusive | Collect::Exclusive => {
                let mut distance = 1;
                while distance < width {
                    values = combine(move_lanes(values, distance)?, values)?;
                    distance *= 2;
                }
                if collective == Collect::Exclusive {
                    values = move_lanes(values, 1)?;
                }
            }
        }
        Ok(LaneValue::Vector(values))
    }

    /// What other lanes hold.
    pub(super) fn lanes_at(&self, argument: Value, lane_value: Value) -> Emitted<LaneValue<'ctx>> {
        let (emitter, width) = (self.around.emitter, self.around.width());
        let builder = &emitter.builder;
        if self.is_uniform(argument) {
            return Ok(LaneValue::Affine(self.lane_zero(argument)?, 0));
        }
        let last_lane = emitter.const64(u64::from(width) - 1);
        if self.is_uniform(lane_value) {
            let lane_index = builder.build_and(self.lane_zero(lane_value)?.into_int_value(), last_lane, "")?;
            return Ok(LaneValue::Affine(self.read_lane(argument, lane_index)?, 0));
        }
        let values = self.as_vector(argument)?;
        let numbers = builder.build_and(self.as_vector(lane_value)?, emitter.splat(last_lane.into(), width)?, "")?;
        let scalar_type = self.type_of(argument);
        let is_number = !matches!(scalar_type, Type::Ptr(_)) && scalar_type.bits() <= 64;
        let moved_values = match self.around.emitter.target.permutes && width == PERMUTED && is_number {
            true => self.permute_elements(scalar_type, values, numbers)?,
            false => self.through_memory(scalar_type, values, numbers)?,
        };
        Ok(LaneValue::Vector(moved_values))
    }

    /// Elements of a permutation as integers of so many bits.
    fn cast_permuted(
        &self,
        opcode: InstructionOpcode,
        vector: VectorValue<'ctx>,
        bit_width: u32,
    ) -> Emitted<VectorValue<'ctx>> {
        let emitter = self.around.emitter;
        let to_type = vector_of(emitter.int_type(bit_width).into(), PERMUTED);
        if vector.get_type() == to_type {
            return Ok(vector);
        }
        Ok(emitter.builder.build_cast(opcode, vector, to_type, "")?.into_vector_value())
    }

    /// Elements by their numbers, which are less than [`PERMUTED`]. Small ones travel in wider ones.
    fn permute_elements(
        &self,
        scalar_type: Type,
        values: VectorValue<'ctx>,
        numbers: VectorValue<'ctx>,
    ) -> Emitted<VectorValue<'ctx>> {
        let emitter = self.around.emitter;
        let builder = &emitter.builder;
        let cast_elements = |opcode, vector, bit_width| self.cast_permuted(opcode, vector, bit_width);
        let integers = cast_elements(InstructionOpcode::BitCast, values, scalar_type.bits())?;
        let moved_elements = if scalar_type.bits() <= 32 {
            let wide_elements = cast_elements(InstructionOpcode::ZExt, integers, 32)?;
            let numbers = cast_elements(InstructionOpcode::Trunc, numbers, 32)?;
            let moved_elements = emitter.call_intrinsic(
                "llvm.x86.avx512.permvar.si.512",
                &[],
                &[wide_elements.into(), numbers.into()],
            )?;
            cast_elements(InstructionOpcode::Trunc, moved_elements.into_vector_value(), scalar_type.bits())?
        } else {
            // Either half of the result from both halves of the values.
            let take_half = |vector, position: u32| {
                emitter.shuffle_vectors(vector, vector, &(position..position + 8).map(Some).collect::<Vec<_>>())
            };
            let [low_half, high_half] = [take_half(integers, 0)?, take_half(integers, 8)?];
            let permute_part = |position| -> Emitted<VectorValue<'ctx>> {
                let arguments = [low_half.into(), take_half(numbers, position)?.into(), high_half.into()];
                Ok(emitter.call_intrinsic("llvm.x86.avx512.vpermi2var.q.512", &[], &arguments)?.into_vector_value())
            };
            emitter.concat_vectors(&[permute_part(0)?, permute_part(8)?], PERMUTED)?
        };
        Ok(builder.build_bit_cast(moved_elements, values.get_type(), "")?.into_vector_value())
    }

    /// Elements by their numbers, which are those of elements.
    fn through_memory(
        &self,
        scalar_type: Type,
        values: VectorValue<'ctx>,
        numbers: VectorValue<'ctx>,
    ) -> Emitted<VectorValue<'ctx>> {
        let emitter = self.around.emitter;
        let builder = &emitter.builder;
        let whole_vector = values.get_type();
        let address = emitter.allocate_in_entry(whole_vector)?;
        emitter.intrinsic_call("llvm.lifetime.start", &[emitter.pointer_type().into()], &[address.into()])?;
        builder.build_store(address, values)?;
        let mut result = whole_vector.get_poison();
        for lane in 0..u64::from(whole_vector.get_size()) {
            let lane_index = builder.build_extract_element(numbers, emitter.const64(lane), "")?.into_int_value();
            let element_address = emitter.offset_address(
                address,
                emitter.mul(lane_index, emitter.const64(scalar_type.bytes().into()))?,
                true,
            )?;
            let value = builder.build_load(emitter.value_type(scalar_type), element_address, "")?;
            result = builder.build_insert_element(result, value, emitter.const64(lane), "")?;
        }
        emitter.intrinsic_call("llvm.lifetime.end", &[emitter.pointer_type().into()], &[address.into()])?;
        Ok(result)
    }
}
