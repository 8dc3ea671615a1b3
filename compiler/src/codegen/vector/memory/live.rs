//! Values that work-items keep from one region for the next: one a work-item, side by side, or one for all.

use super::super::GangCode;
use super::super::masks::Mask;
use super::super::values::Held;
use super::WideCode;
use crate::codegen::alias::Part;
use crate::codegen::emit::Emitted;
use crate::codegen::error::CodegenError;
use inkwell::values::PointerValue;
use lockstep_ir::ir::{LiveSlot, Value};
use lockstep_ir::plan::access_lowering::{Direction, WideAccess, WideElements, choose_row_guard, mask_elements};
use lockstep_protocol::types::Type;

impl<'ctx> GangCode<'_, 'ctx, '_> {
    /// Loads a kept value.
    pub(in crate::codegen::vector) fn live_load(&self, live: LiveSlot, ty: Type) -> Emitted<Held<'ctx>> {
        if let Some(value) = self.around.frame.shared[live] {
            return Ok(Held::Affine(value, 0));
        }
        let start = self.kept(live, ty)?;
        let mask = self.mask()?;
        let code = self.live_row(start, ty, mask, Direction::Load);
        let vectors = self.load_rows(code, mask, false)?;
        vectors.into_iter().next().map(Held::Vector).ok_or(CodegenError::Missing("vector of a spilled value"))
    }

    /// Stores a value that is kept.
    pub(in crate::codegen::vector) fn live_store(&self, live: LiveSlot, arg: Value) -> Emitted<()> {
        let ty = self.ty(arg);
        if self.around.kernel.live[live].shared {
            let place = self.kept(live, ty)?;
            let keep = || {
                let store = self.around.emit.store(ty, self.first(arg)?, place, ty.bytes())?;
                self.around.emit.scopes.mark(store, &[Part::Kept]);
                Ok(Vec::new())
            };
            return self.guarded(self.mask()?, keep).map(drop);
        }
        let start = self.kept(live, ty)?;
        let mask = self.mask()?;
        let code = self.live_row(start, ty, mask, Direction::Store);
        self.store_rows(code, mask, &[self.vector(arg)?], None)
    }

    /// The place of a kept value, of lane 0 if each work-item has one.
    fn kept(&self, live: LiveSlot, ty: Type) -> Emitted<PointerValue<'ctx>> {
        self.around.frame.live(self.around.emit, live, ty, self.gang.first.number)
    }

    /// The access to a value that each work-item keeps: no pointer of the kernel reaches it.
    fn live_row(
        &self,
        start: PointerValue<'ctx>,
        ty: Type,
        mask: Option<Mask<'ctx>>,
        direction: Direction,
    ) -> WideCode<'ctx> {
        let target = &self.around.emit.target;
        let elements = match mask {
            None => WideElements::All,
            Some(Mask { may_be_empty, .. }) => {
                mask_elements(target, ty, choose_row_guard(target, direction, None, may_be_empty, false))
            }
        };
        let wide = WideAccess {
            lanes: self.around.width(),
            stride: ty.bytes().into(),
            row: 1,
            count: 1,
            align: ty.bytes(),
            elements,
            volatile: false,
            past_caches: false,
        };
        WideCode { start, ty, part: Part::Kept, wide }
    }
}
