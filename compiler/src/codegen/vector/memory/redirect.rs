//! Accesses of some lanes for which the machine has no instruction.
//!
//! LLVM makes a branch for each lane of them, and branches on what data decide are mispredicted. Here every lane accesses
//! something: those that are off a place that belongs to nobody else.

use super::super::VectorEmitter;
use crate::codegen::emit::{Emitted, Emitter};
use crate::codegen::error::CodegenError;
use inkwell::module::Linkage;
use inkwell::types::VectorType;
use inkwell::values::{PointerValue, VectorValue};
use lockstep_ir::plan::access_lowering::Direction;

/// Bytes of the widest element.
const WIDEST: u32 = 16;

impl<'ctx> VectorEmitter<'_, 'ctx, '_> {
    /// Where the elements of so many bytes go that lie side by side from `first_address` on, of which these are on; and a mask for all
    /// of them.
    pub(super) fn redirect_row(
        &self,
        direction: Direction,
        element_bytes: u32,
        first_address: PointerValue<'ctx>,
        lane_mask: VectorValue<'ctx>,
    ) -> Emitted<(VectorValue<'ctx>, VectorValue<'ctx>)> {
        let emitter = self.around.emitter;
        let lane_count = lane_mask.get_type().get_size();
        let row_offset = |lane| emitter.const64(u64::from(lane * element_bytes));
        let offsets = VectorType::const_vector(&(0..lane_count).map(row_offset).collect::<Vec<_>>());
        let row_starts = emitter.splat(first_address.into(), lane_count)?;
        let addresses = emitter.offset_addresses(row_starts.into(), offsets.into(), false)?.into_vector_value();
        emitter.redirect(direction, addresses, lane_mask)
    }
}

impl<'ctx> Emitter<'ctx, '_> {
    /// The lanes' places, and of those that are off one that belongs to nobody; and a mask for all of them.
    pub(super) fn redirect(
        &self,
        direction: Direction,
        addresses: VectorValue<'ctx>,
        lane_mask: VectorValue<'ctx>,
    ) -> Emitted<(VectorValue<'ctx>, VectorValue<'ctx>)> {
        let other_address = match direction {
            Direction::Load => self.zero_bytes(),
            Direction::Store => self.dummy_slot()?,
        };
        let lane_count = lane_mask.get_type().get_size();
        let addresses =
            self.builder.build_select(lane_mask, addresses, self.splat(other_address.into(), lane_count)?, "")?;
        let all_active = vec![self.context.bool_type().const_all_ones(); lane_count as usize];
        Ok((addresses.into_vector_value(), VectorType::const_vector(&all_active)))
    }

    /// As many bytes as the widest element has, all zero.
    fn zero_bytes(&self) -> PointerValue<'ctx> {
        const NAME: &str = "zeros";
        if let Some(zeros) = self.module.get_global(NAME) {
            return zeros.as_pointer_value();
        }
        let zeros = self.module.add_global(self.context.i128_type(), None, NAME);
        zeros.set_initializer(&self.context.i128_type().const_zero());
        zeros.set_constant(true);
        zeros.set_linkage(Linkage::Private);
        zeros.set_alignment(WIDEST);
        zeros.as_pointer_value()
    }

    /// As many bytes that nobody reads.
    fn dummy_slot(&self) -> Emitted<PointerValue<'ctx>> {
        if let Some(&address) = self.nowhere.get() {
            return Ok(address);
        }
        let entry_block = self.function.get_first_basic_block().ok_or(CodegenError::Missing("entry block"))?;
        let builder = self.context.create_builder();
        match entry_block.get_first_instruction() {
            Some(first) => builder.position_before(&first),
            None => builder.position_at_end(entry_block),
        }
        let address = builder.build_alloca(self.context.i128_type(), "nowhere")?;
        let instruction = address.as_instruction().ok_or(CodegenError::Missing("instruction of a stack variable"))?;
        instruction.set_alignment(WIDEST)?;
        Ok(*self.nowhere.get_or_init(|| address))
    }
}
