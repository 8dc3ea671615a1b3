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
    /// The lanes' addresses, `byte_offset` bytes on.
    pub(super) fn near_addresses(&self, common_base: &CommonBase, byte_offset: i64) -> Emitted<Near<'ctx>> {
        let (offsets, is_signed, shift_amount) = match &common_base.offsets {
            &LaneOffsets::Narrow { offset, signed: is_signed, shift: shift_amount } => {
                (self.as_vector(offset)?, is_signed, shift_amount)
            }
            LaneOffsets::Sum(parts) => (self.sum_of(parts)?, true, 0),
        };
        let emitter = self.around.emitter;
        let mut base_address = self.lane_zero(common_base.base)?.into_pointer_value();
        for &uniform in &common_base.uniform {
            base_address = emitter.offset_address(base_address, self.lane_zero(uniform)?.into_int_value(), false)?;
        }
        Ok(Near {
            base: emitter.offset_constant(base_address, byte_offset)?,
            offsets,
            signed: is_signed,
            shift: shift_amount,
        })
    }

    /// The lowest 32 bits of the lanes' sums.
    fn sum_of(&self, sum_parts: &[Value]) -> Emitted<VectorValue<'ctx>> {
        let builder = &self.around.emitter.builder;
        let to_type = self.vector_ty(Type::I32);
        let mut so_far: Option<VectorValue<'ctx>> = None;
        for &narrow_part in sum_parts {
            let narrow_part = builder
                .build_cast(InstructionOpcode::Trunc, self.as_vector(narrow_part)?, to_type, "")?
                .into_vector_value();
            so_far = Some(match so_far {
                Some(so_far) => builder.build_int_add(so_far, narrow_part, "")?,
                None => narrow_part,
            });
        }
        so_far.ok_or(CodegenError::Missing("lane to load for"))
    }

    /// Calls `access_lane` with the address of each lane's element, lane by lane.
    pub(super) fn each_near(
        &self,
        near_addresses: &Near<'ctx>,
        mut access_lane: impl FnMut(u32, PointerValue<'ctx>) -> Emitted<()>,
    ) -> Emitted<()> {
        let emitter = self.around.emitter;
        let (i32_type, i64_type) = (emitter.context.i32_type(), emitter.i64_type());
        let width = self.wide.get();
        let lane_pairs = emitter
            .builder
            .build_bit_cast(near_addresses.offsets, i64_type.vec_type(width / 2), "")?
            .into_vector_value();
        let pair_half = i64_type.const_int(32, false);
        for pair in 0..width / 2 {
            let pair_value =
                emitter.builder.build_extract_element(lane_pairs, emitter.const64(pair.into()), "")?.into_int_value();
            let low_offset = emitter.builder.build_int_truncate(pair_value, i32_type, "")?;
            let low_offset = match near_addresses.signed {
                true => emitter.builder.build_int_s_extend(low_offset, i64_type, "")?,
                false => emitter.builder.build_int_z_extend(low_offset, i64_type, "")?,
            };
            let high_offset = emitter.builder.build_right_shift(pair_value, pair_half, near_addresses.signed, "")?;
            access_lane(2 * pair, self.place_near(near_addresses, low_offset)?)?;
            access_lane(2 * pair + 1, self.place_near(near_addresses, high_offset)?)?;
        }
        Ok(())
    }

    fn place_near(&self, near_addresses: &Near<'ctx>, offset: IntValue<'ctx>) -> Emitted<PointerValue<'ctx>> {
        let emitter = self.around.emitter;
        let element: BasicTypeEnum<'ctx> = emitter.value_type(Type::Int(8 << near_addresses.shift));
        // SAFETY: a number has no inner indices, and nothing is promised of where the place is.
        unsafe { Ok(emitter.builder.build_gep(element, near_addresses.base, &[offset], "")?) }
    }

    /// The elements of a type, as memory has it, that lie there.
    pub(super) fn load_near(
        &self,
        near_addresses: &Near<'ctx>,
        scalar_type: Type,
        mut load_lane: impl FnMut(PointerValue<'ctx>) -> Emitted<BasicValueEnum<'ctx>>,
    ) -> Emitted<VectorValue<'ctx>> {
        let emitter = self.around.emitter;
        let mut all_elements = self.memory_vector(scalar_type, self.wide.get()).get_poison();
        self.each_near(near_addresses, |lane, address| {
            let (element, lane_index) = (load_lane(address)?, emitter.const64(lane.into()));
            all_elements = emitter.builder.build_insert_element(all_elements, element, lane_index, "")?;
            Ok(())
        })?;
        Ok(all_elements)
    }
}
