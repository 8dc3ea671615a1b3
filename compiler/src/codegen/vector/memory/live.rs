//! Values that work-items keep from one region for the next: one a work-item, side by side, or one for all.

use super::super::VectorEmitter;
use super::super::lane_value::LaneValue;
use super::super::masks::Mask;
use super::WideCode;
use crate::codegen::alias::Part;
use crate::codegen::emit::Emitted;
use crate::codegen::error::CodegenError;
use inkwell::values::PointerValue;
use lockstep_ir::ir::{LiveSlot, Value};
use lockstep_ir::plan::access_lowering::{Direction, WideAccess, WideElements, choose_row_guard, mask_elements};
use lockstep_protocol::types::Type;

impl<'ctx> VectorEmitter<'_, 'ctx, '_> {
    /// Loads a kept value.
    pub(in crate::codegen::vector) fn live_load(
        &self,
        live_slot: LiveSlot,
        scalar_type: Type,
    ) -> Emitted<LaneValue<'ctx>> {
        if let Some(value) = self.around.frame.shared[live_slot] {
            return Ok(LaneValue::Affine(value, 0));
        }
        let first_address = self.kept_address(live_slot, scalar_type)?;
        let mask = self.block_mask()?;
        let wide_code = self.live_row(first_address, scalar_type, mask, Direction::Load);
        let vectors = self.load_rows(wide_code, mask, false)?;
        vectors.into_iter().next().map(LaneValue::Vector).ok_or(CodegenError::Missing("vector of a spilled value"))
    }

    /// Stores a value that is kept.
    pub(in crate::codegen::vector) fn live_store(&self, live_slot: LiveSlot, argument: Value) -> Emitted<()> {
        let scalar_type = self.type_of(argument);
        if self.around.kernel.live[live_slot].shared {
            let address = self.kept_address(live_slot, scalar_type)?;
            let store_row = || {
                let store_instruction =
                    self.around.emitter.store(scalar_type, self.lane_zero(argument)?, address, scalar_type.bytes())?;
                self.around.emitter.scopes.mark_parts(store_instruction, &[Part::Kept]);
                Ok(Vec::new())
            };
            return self.emit_guarded(self.block_mask()?, store_row).map(drop);
        }
        let first_address = self.kept_address(live_slot, scalar_type)?;
        let mask = self.block_mask()?;
        let wide_code = self.live_row(first_address, scalar_type, mask, Direction::Store);
        self.store_rows(wide_code, mask, &[self.as_vector(argument)?], None)
    }

    /// The place of a kept value, of lane 0 if each work-item has one.
    fn kept_address(&self, live_slot: LiveSlot, scalar_type: Type) -> Emitted<PointerValue<'ctx>> {
        self.around.frame.live_address(self.around.emitter, live_slot, scalar_type, self.gang.first.number)
    }

    /// The access to a value that each work-item keeps: no pointer of the kernel reaches it.
    fn live_row(
        &self,
        first_address: PointerValue<'ctx>,
        scalar_type: Type,
        mask: Option<Mask<'ctx>>,
        direction: Direction,
    ) -> WideCode<'ctx> {
        let target = &self.around.emitter.target;
        let elements = match mask {
            None => WideElements::All,
            Some(Mask { may_be_empty, .. }) => {
                mask_elements(target, scalar_type, choose_row_guard(target, direction, None, may_be_empty, false))
            }
        };
        let wide_access = WideAccess {
            lanes: self.around.width(),
            stride: scalar_type.bytes().into(),
            row: 1,
            count: 1,
            align: scalar_type.bytes(),
            elements,
            volatile: false,
            past_caches: false,
            transposed: false,
        };
        WideCode { start: first_address, ty: scalar_type, part: Part::Kept, wide: wide_access }
    }
}
