//! Accesses of all lanes, wherever, for which the machine has no instruction.
//!
//! LLVM takes a 64-bit address of each lane from a vector. Mostly these are one address and, lane by lane, an offset that
//! fits 32 bits: of those a register holds twice as many, two leave it together, and the machine adds the address to them.

use super::super::VectorEmitter;
use crate::codegen::emit::Emitted;
use crate::codegen::error::CodegenError;
use inkwell::types::BasicTypeEnum;
use inkwell::values::{BasicValueEnum, InstructionOpcode, IntValue, PointerValue, VectorValue};
use lockstep_ir::ir::Value;
use lockstep_ir::plan::access_lowering::common_base::{CommonBase, LaneOffsets};
use lockstep_protocol::types::Type;

/// Where the lanes' elements are.
pub(super) struct Near<'ctx> {
    base: PointerValue<'ctx>,
    /// From there, 32 bits for each lane, in `1 << shift` bytes.
    offsets: VectorValue<'ctx>,
    signed: bool,
    shift: u32,
}

impl<'ctx> VectorEmitter<'_, 'ctx, '_> {
    /// The lanes' addresses, `bytes` bytes on.
    pub(super) fn near_addresses(&self, common: &CommonBase, bytes: i64) -> Emitted<Near<'ctx>> {
        let (offsets, signed, shift) = match &common.offsets {
            &LaneOffsets::Narrow { offset, signed, shift } => (self.as_vector(offset)?, signed, shift),
            LaneOffsets::Sum(parts) => (self.sum_of(parts)?, true, 0),
        };
        let emitter = self.around.emitter;
        let mut base = self.lane_zero(common.base)?.into_pointer_value();
        for &uniform in &common.uniform {
            base = emitter.offset_address(base, self.lane_zero(uniform)?.into_int_value(), false)?;
        }
        Ok(Near { base: emitter.offset_constant(base, bytes)?, offsets, signed, shift })
    }

    /// The lowest 32 bits of the lanes' sums.
    fn sum_of(&self, parts: &[Value]) -> Emitted<VectorValue<'ctx>> {
        let builder = &self.around.emitter.builder;
        let to_type = self.vector_ty(Type::I32);
        let mut sum: Option<VectorValue<'ctx>> = None;
        for &part in parts {
            let part =
                builder.build_cast(InstructionOpcode::Trunc, self.as_vector(part)?, to_type, "")?.into_vector_value();
            sum = Some(match sum {
                Some(sum) => builder.build_int_add(sum, part, "")?,
                None => part,
            });
        }
        sum.ok_or(CodegenError::Missing("lane to load for"))
    }

    /// Calls `access` with the address of each lane's element, lane by lane.
    pub(super) fn each_near(
        &self,
        near: &Near<'ctx>,
        mut access: impl FnMut(u32, PointerValue<'ctx>) -> Emitted<()>,
    ) -> Emitted<()> {
        let emitter = self.around.emitter;
        let (i32, i64) = (emitter.context.i32_type(), emitter.i64_type());
        let width = self.wide.get();
        let pairs = emitter.builder.build_bit_cast(near.offsets, i64.vec_type(width / 2), "")?.into_vector_value();
        let half = i64.const_int(32, false);
        for pair in 0..width / 2 {
            let both = emitter.builder.build_extract_element(pairs, emitter.const64(pair.into()), "")?.into_int_value();
            let low = emitter.builder.build_int_truncate(both, i32, "")?;
            let low = match near.signed {
                true => emitter.builder.build_int_s_extend(low, i64, "")?,
                false => emitter.builder.build_int_z_extend(low, i64, "")?,
            };
            let high = emitter.builder.build_right_shift(both, half, near.signed, "")?;
            access(2 * pair, self.place_near(near, low)?)?;
            access(2 * pair + 1, self.place_near(near, high)?)?;
        }
        Ok(())
    }

    fn place_near(&self, near: &Near<'ctx>, offset: IntValue<'ctx>) -> Emitted<PointerValue<'ctx>> {
        let emitter = self.around.emitter;
        let element: BasicTypeEnum<'ctx> = emitter.value_type(Type::Int(8 << near.shift));
        // SAFETY: a number has no inner indices, and nothing is promised of where the place is.
        unsafe { Ok(emitter.builder.build_gep(element, near.base, &[offset], "")?) }
    }

    /// The elements of a type, as memory has it, that lie there.
    pub(super) fn load_near(
        &self,
        near: &Near<'ctx>,
        ty: Type,
        mut load: impl FnMut(PointerValue<'ctx>) -> Emitted<BasicValueEnum<'ctx>>,
    ) -> Emitted<VectorValue<'ctx>> {
        let emitter = self.around.emitter;
        let mut all = self.memory_vector(ty, self.wide.get()).get_poison();
        self.each_near(near, |lane, address| {
            all = emitter.builder.build_insert_element(all, load(address)?, emitter.const64(lane.into()), "")?;
            Ok(())
        })?;
        Ok(all)
    }
}
