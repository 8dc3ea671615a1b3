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
        let (emitter, width, ty) = (self.around.emitter, self.around.width(), self.type_of(argument));
        let identity = opcode.identity(ty).ok_or(CodegenError::NoNeutralOperand { op: opcode.name(), ty })?;
        let identities = emitter.splat(emitter.constant(ty, identity), width)?;
        let mut values = self.as_vector(argument)?;
        if let Some(mask) = self.block_mask()? {
            values = emitter.builder.build_select(mask.lanes, values, identities, "")?.into_vector_value();
        }
        let both = |left: VectorValue<'ctx>, right: VectorValue<'ctx>| -> Emitted<VectorValue<'ctx>> {
            Ok(emitter
                .binary(opcode, IntFlags::default(), FastMath(0), [left.into(), right.into()])?
                .into_vector_value())
        };
        let shuffled = |left, right, place: &dyn Fn(u32) -> u32| {
            emitter.shuffle_vectors(left, right, &(0..width).map(|lane| Some(place(lane))).collect::<Vec<_>>())
        };
        // Lane `i` gets lane `i - by`'s value.
        let moved = |values, by: u32| {
            shuffled(identities, values, &|lane| lane.checked_sub(by).map_or(lane, |from| width + from))
        };
        match collective {
            Collect::Reduce => {
                let mut half = cluster.lane_count(width) / 2;
                while half > 0 {
                    values = both(values, shuffled(values, values, &|lane| lane ^ half)?)?;
                    half /= 2;
                }
                if cluster.is_gang() {
                    let one = emitter.builder.build_extract_element(values, emitter.const64(0), "")?;
                    return Ok(LaneValue::Affine(one, 0));
                }
            }
            Collect::Inclusive | Collect::Exclusive => {
                let mut by = 1;
                while by < width {
                    values = both(moved(values, by)?, values)?;
                    by *= 2;
                }
                if collective == Collect::Exclusive {
                    values = moved(values, 1)?;
                }
            }
        }
        Ok(LaneValue::Vector(values))
    }

    /// What other lanes hold.
    pub(super) fn lanes_at(&self, argument: Value, lane: Value) -> Emitted<LaneValue<'ctx>> {
        let (emitter, width) = (self.around.emitter, self.around.width());
        let builder = &emitter.builder;
        if self.is_uniform(argument) {
            return Ok(LaneValue::Affine(self.lane_zero(argument)?, 0));
        }
        let last = emitter.const64(u64::from(width) - 1);
        if self.is_uniform(lane) {
            let lane = builder.build_and(self.lane_zero(lane)?.into_int_value(), last, "")?;
            return Ok(LaneValue::Affine(self.read_lane(argument, lane)?, 0));
        }
        let values = self.as_vector(argument)?;
        let numbers = builder.build_and(self.as_vector(lane)?, emitter.splat(last.into(), width)?, "")?;
        let ty = self.type_of(argument);
        let is_number = !matches!(ty, Type::Ptr(_)) && ty.bits() <= 64;
        let moved = match self.around.emitter.target.permutes && width == PERMUTED && is_number {
            true => self.permute_elements(ty, values, numbers)?,
            false => self.through_memory(ty, values, numbers)?,
        };
        Ok(LaneValue::Vector(moved))
    }

    /// Elements of a permutation as integers of so many bits.
    fn cast_permuted(
        &self,
        opcode: InstructionOpcode,
        vector: VectorValue<'ctx>,
        bits: u32,
    ) -> Emitted<VectorValue<'ctx>> {
        let emitter = self.around.emitter;
        let to_type = vector_of(emitter.int_type(bits).into(), PERMUTED);
        if vector.get_type() == to_type {
            return Ok(vector);
        }
        Ok(emitter.builder.build_cast(opcode, vector, to_type, "")?.into_vector_value())
    }

    /// Elements by their numbers, which are less than [`PERMUTED`]. Small ones travel in wider ones.
    fn permute_elements(
        &self,
        ty: Type,
        values: VectorValue<'ctx>,
        numbers: VectorValue<'ctx>,
    ) -> Emitted<VectorValue<'ctx>> {
        let emitter = self.around.emitter;
        let builder = &emitter.builder;
        let cast = |opcode, vector, bits| self.cast_permuted(opcode, vector, bits);
        let ints = cast(InstructionOpcode::BitCast, values, ty.bits())?;
        let moved = if ty.bits() <= 32 {
            let wide = cast(InstructionOpcode::ZExt, ints, 32)?;
            let numbers = cast(InstructionOpcode::Trunc, numbers, 32)?;
            let moved =
                emitter.call_intrinsic("llvm.x86.avx512.permvar.si.512", &[], &[wide.into(), numbers.into()])?;
            cast(InstructionOpcode::Trunc, moved.into_vector_value(), ty.bits())?
        } else {
            // Either half of the result from both halves of the values.
            let half = |vector, position: u32| {
                emitter.shuffle_vectors(vector, vector, &(position..position + 8).map(Some).collect::<Vec<_>>())
            };
            let [low, high] = [half(ints, 0)?, half(ints, 8)?];
            let part = |position| -> Emitted<VectorValue<'ctx>> {
                let arguments = [low.into(), half(numbers, position)?.into(), high.into()];
                Ok(emitter.call_intrinsic("llvm.x86.avx512.vpermi2var.q.512", &[], &arguments)?.into_vector_value())
            };
            emitter.concat_vectors(&[part(0)?, part(8)?], PERMUTED)?
        };
        Ok(builder.build_bit_cast(moved, values.get_type(), "")?.into_vector_value())
    }

    /// Elements by their numbers, which are those of elements.
    fn through_memory(
        &self,
        ty: Type,
        values: VectorValue<'ctx>,
        numbers: VectorValue<'ctx>,
    ) -> Emitted<VectorValue<'ctx>> {
        let emitter = self.around.emitter;
        let builder = &emitter.builder;
        let whole = values.get_type();
        // In the entry block, so that loops around do not make the stack grow.
        let current_block = emitter.current_block()?;
        let entry = emitter.function.get_first_basic_block().ok_or(CodegenError::Missing("entry block"))?;
        match entry.get_first_instruction() {
            Some(first) => builder.position_before(&first),
            None => builder.position_at_end(entry),
        }
        let address = builder.build_alloca(whole, "lanes")?;
        emitter.position_at(current_block);
        emitter.intrinsic_call("llvm.lifetime.start", &[emitter.pointer_type().into()], &[address.into()])?;
        builder.build_store(address, values)?;
        let mut result = whole.get_poison();
        for lane in 0..u64::from(whole.get_size()) {
            let from = builder.build_extract_element(numbers, emitter.const64(lane), "")?.into_int_value();
            let at = emitter.offset_address(address, emitter.mul(from, emitter.const64(ty.bytes().into()))?, true)?;
            let value = builder.build_load(emitter.value_type(ty), at, "")?;
            result = builder.build_insert_element(result, value, emitter.const64(lane), "")?;
        }
        emitter.intrinsic_call("llvm.lifetime.end", &[emitter.pointer_type().into()], &[address.into()])?;
        Ok(result)
    }
}
