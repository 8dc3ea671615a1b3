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
    /// Where the elements of so many bytes go that lie side by side from `start` on, of which these are on; and a mask for all
    /// of them.
    pub(super) fn redirect_row(
        &self,
        direction: Direction,
        bytes: u32,
        start: PointerValue<'ctx>,
        lanes: VectorValue<'ctx>,
    ) -> Emitted<(VectorValue<'ctx>, VectorValue<'ctx>)> {
        let emitter = self.around.emitter;
        let count = lanes.get_type().get_size();
        let offset = |lane| emitter.const64(u64::from(lane * bytes));
        let offsets = VectorType::const_vector(&(0..count).map(offset).collect::<Vec<_>>());
        let starts = emitter.splat(start.into(), count)?;
        let places = emitter.offset_addresses(starts.into(), offsets.into(), false)?.into_vector_value();
        emitter.redirect(direction, places, lanes)
    }
}

impl<'ctx> Emitter<'ctx, '_> {
    /// The lanes' places, and of those that are off one that belongs to nobody; and a mask for all of them.
    pub(super) fn redirect(
        &self,
        direction: Direction,
        places: VectorValue<'ctx>,
        lanes: VectorValue<'ctx>,
    ) -> Emitted<(VectorValue<'ctx>, VectorValue<'ctx>)> {
        let other = match direction {
            Direction::Load => self.zero_bytes(),
            Direction::Store => self.dummy_slot()?,
        };
        let count = lanes.get_type().get_size();
        let places = self.builder.build_select(lanes, places, self.splat(other.into(), count)?, "")?;
        let all = vec![self.context.bool_type().const_all_ones(); count as usize];
        Ok((places.into_vector_value(), VectorType::const_vector(&all)))
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
        let entry = self.function.get_first_basic_block().ok_or(CodegenError::Missing("entry block"))?;
        let builder = self.context.create_builder();
        match entry.get_first_instruction() {
            Some(first) => builder.position_before(&first),
            None => builder.position_at_end(entry),
        }
        let address = builder.build_alloca(self.context.i128_type(), "nowhere")?;
        let instruction = address.as_instruction().ok_or(CodegenError::Missing("instruction of a stack variable"))?;
        instruction.set_alignment(WIDEST)?;
        Ok(*self.nowhere.get_or_init(|| address))
    }
}
