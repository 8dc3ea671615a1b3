//! What the lanes of a gang make of their values together, and what they read of each other.
//!
//! Lanes that do not run the block stand for the operation's identity, so reductions and scans take as many steps as the
//! width has bits, whichever lanes there are. Values that lanes read from any other one are permuted in registers where
//! the machine does that, and else go through memory.

use super::VectorEmitter;
use super::values::LaneValue;
use crate::codegen::emit::{Emitted, vector_of};
use inkwell::builder::BuilderError;
use inkwell::values::{InstructionOpcode, VectorValue};
use lockstep_ir::ir::{BinaryOp, Cluster, Collect, FastMath, IntFlags, Value};
use lockstep_protocol::types::Type;

/// The lanes of vectors that are permuted in registers.
const PERMUTED: u32 = 16;

impl<'ctx> VectorEmitter<'_, 'ctx, '_> {
    /// What the operands of the active lanes are together.
    pub(super) fn combine_active(
        &self,
        how: Collect,
        op: BinaryOp,
        cluster: Cluster,
        arg: Value,
    ) -> Emitted<LaneValue<'ctx>> {
        let (emit, width, ty) = (self.around.emitter, self.around.width(), self.type_of(arg));
        let identity = op.identity(ty).ok_or(BuilderError::NotSameType)?;
        let identities = emit.splat(emit.constant(ty, identity), width)?;
        let mut values = self.as_vector(arg)?;
        if let Some(mask) = self.block_mask()? {
            values = emit.builder.build_select(mask.lanes, values, identities, "")?.into_vector_value();
        }
        let both = |a: VectorValue<'ctx>, b: VectorValue<'ctx>| -> Emitted<VectorValue<'ctx>> {
            Ok(emit.binary(op, IntFlags::default(), FastMath(0), [a.into(), b.into()])?.into_vector_value())
        };
        let shuffled = |a, b, place: &dyn Fn(u32) -> u32| {
            emit.shuffle_vectors(a, b, &(0..width).map(|lane| Some(place(lane))).collect::<Vec<_>>())
        };
        // Lane `i` gets lane `i - by`'s value.
        let moved = |values, by: u32| {
            shuffled(identities, values, &|lane| lane.checked_sub(by).map_or(lane, |from| width + from))
        };
        match how {
            Collect::Reduce => {
                let mut half = cluster.lane_count(width) / 2;
                while half > 0 {
                    values = both(values, shuffled(values, values, &|lane| lane ^ half)?)?;
                    half /= 2;
                }
                if cluster.is_gang() {
                    let one = emit.builder.build_extract_element(values, emit.const64(0), "")?;
                    return Ok(LaneValue::Affine(one, 0));
                }
            }
            Collect::Inclusive | Collect::Exclusive => {
                let mut by = 1;
                while by < width {
                    values = both(moved(values, by)?, values)?;
                    by *= 2;
                }
                if how == Collect::Exclusive {
                    values = moved(values, 1)?;
                }
            }
        }
        Ok(LaneValue::Vector(values))
    }

    /// What other lanes hold.
    pub(super) fn lanes_at(&self, arg: Value, lane: Value) -> Emitted<LaneValue<'ctx>> {
        let (emit, width) = (self.around.emitter, self.around.width());
        let b = &emit.builder;
        if self.is_uniform(arg) {
            return Ok(LaneValue::Affine(self.lane_zero(arg)?, 0));
        }
        let last = emit.const64(u64::from(width) - 1);
        if self.is_uniform(lane) {
            let lane = b.build_and(self.lane_zero(lane)?.into_int_value(), last, "")?;
            return Ok(LaneValue::Affine(self.read_lane(arg, lane)?, 0));
        }
        let values = self.as_vector(arg)?;
        let numbers = b.build_and(self.as_vector(lane)?, emit.splat(last.into(), width)?, "")?;
        let ty = self.type_of(arg);
        let is_number = !matches!(ty, Type::Ptr(_)) && ty.bits() <= 64;
        let moved = match self.around.emitter.target.permutes && width == PERMUTED && is_number {
            true => self.permute_elements(ty, values, numbers)?,
            false => self.through_memory(ty, values, numbers)?,
        };
        Ok(LaneValue::Vector(moved))
    }

    /// Elements by their numbers, which are less than [`PERMUTED`]. Small ones travel in wider ones.
    fn permute_elements(
        &self,
        ty: Type,
        values: VectorValue<'ctx>,
        numbers: VectorValue<'ctx>,
    ) -> Emitted<VectorValue<'ctx>> {
        let emit = self.around.emitter;
        let b = &emit.builder;
        let cast = |opcode, vector: VectorValue<'ctx>, bits| -> Emitted<VectorValue<'ctx>> {
            let to = vector_of(emit.int_type(bits).into(), PERMUTED);
            if vector.get_type() == to {
                return Ok(vector);
            }
            Ok(b.build_cast(opcode, vector, to, "")?.into_vector_value())
        };
        let ints = cast(InstructionOpcode::BitCast, values, ty.bits())?;
        let moved = if ty.bits() <= 32 {
            let wide = cast(InstructionOpcode::ZExt, ints, 32)?;
            let numbers = cast(InstructionOpcode::Trunc, numbers, 32)?;
            let moved = emit.call_intrinsic("llvm.x86.avx512.permvar.si.512", &[], &[wide.into(), numbers.into()])?;
            cast(InstructionOpcode::Trunc, moved.into_vector_value(), ty.bits())?
        } else {
            // Either half of the result from both halves of the values.
            let half =
                |vector, at: u32| emit.shuffle_vectors(vector, vector, &(at..at + 8).map(Some).collect::<Vec<_>>());
            let [low, high] = [half(ints, 0)?, half(ints, 8)?];
            let part = |at| -> Emitted<VectorValue<'ctx>> {
                let args = [low.into(), half(numbers, at)?.into(), high.into()];
                Ok(emit.call_intrinsic("llvm.x86.avx512.vpermi2var.q.512", &[], &args)?.into_vector_value())
            };
            emit.concat_vectors(&[part(0)?, part(8)?], PERMUTED)?
        };
        Ok(b.build_bit_cast(moved, values.get_type(), "")?.into_vector_value())
    }

    /// Elements by their numbers, which are those of elements.
    fn through_memory(
        &self,
        ty: Type,
        values: VectorValue<'ctx>,
        numbers: VectorValue<'ctx>,
    ) -> Emitted<VectorValue<'ctx>> {
        let emit = self.around.emitter;
        let b = &emit.builder;
        let whole = values.get_type();
        // In the entry block, so that loops around do not make the stack grow.
        let here = emit.current_block()?;
        let entry = emit.function.get_first_basic_block().ok_or(BuilderError::UnsetPosition)?;
        match entry.get_first_instruction() {
            Some(first) => b.position_before(&first),
            None => b.position_at_end(entry),
        }
        let place = b.build_alloca(whole, "lanes")?;
        emit.position_at(here);
        emit.intrinsic_call("llvm.lifetime.start", &[emit.pointer_type().into()], &[place.into()])?;
        b.build_store(place, values)?;
        let mut result = whole.get_poison();
        for lane in 0..u64::from(whole.get_size()) {
            let from = b.build_extract_element(numbers, emit.const64(lane), "")?.into_int_value();
            let at = emit.offset_address(place, emit.mul(from, emit.const64(ty.bytes().into()))?, true)?;
            let value = b.build_load(emit.value_type(ty), at, "")?;
            result = b.build_insert_element(result, value, emit.const64(lane), "")?;
        }
        emit.intrinsic_call("llvm.lifetime.end", &[emit.pointer_type().into()], &[place.into()])?;
        Ok(result)
    }
}
