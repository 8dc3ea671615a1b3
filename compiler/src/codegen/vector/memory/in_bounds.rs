//! Rows that may lie where there is no memory.
//!
//! A processor that finds an address of a masked access absent looks at each lane anew whether it matters, which takes it
//! hundreds of times as long as the access. So where a mask has conditions on ids and arguments
//! ([`bounds`](lockstep_ir::plan::access_lowering::bounds)), a branch asks first whether they hold for a lane. Such a branch goes
//! one way up to a place and the other way from there on. What data decide is not asked for: it would be mispredicted (1.8 times
//! the time of `if (new < old) old = new;`).
//!
//! Requires: the masks and accesses of a region's plan.
//! Ensures: accesses of the lanes that are on, as before.
//! Phases: the conditions of a mask; a branch.
//! Source: measured (AMD Zen 4, registers of 512 bits).

use super::super::VectorEmitter;
use super::super::masks::Mask;
use crate::codegen::emit::Emitted;
use crate::codegen::error::CodegenError;
use inkwell::values::{BasicValueEnum, VectorValue};
use lockstep_ir::plan::access_lowering::bounds::Bounds;

impl<'ctx> VectorEmitter<'_, 'ctx, '_> {
    /// Does what `emit_access` emits, an access to a row. Where no lane is in bounds, nothing is done, and its values are zeros.
    pub(super) fn if_in_bounds(
        &self,
        mask: Option<Mask<'ctx>>,
        emit_access: impl FnOnce() -> Emitted<Vec<BasicValueEnum<'ctx>>>,
    ) -> Emitted<Vec<BasicValueEnum<'ctx>>> {
        let (Some(mask), Some(bounds)) = (mask, &self.plan.accesses.bounds[self.block]) else {
            return Err(CodegenError::Missing("bounds of the lanes that are on"));
        };
        // The conditions' lanes are those of the gang, the mask's may be those of a tile's row.
        let is_row_of_tile = self.wide.get() != self.around.width();
        let lane_mask = if is_row_of_tile { mask.lanes } else { self.lanes_in_bounds(bounds)? };
        self.emit_guarded(Some(Mask { lanes: lane_mask, may_be_empty: true }), emit_access)
    }

    /// The lanes of the gang that are in bounds: those that come here, and perhaps others.
    fn lanes_in_bounds(&self, bounds: &Bounds) -> Emitted<VectorValue<'ctx>> {
        let builder = &self.around.emitter.builder;
        match bounds {
            &Bounds::Side { cond, opposite } => {
                // Lanes that do not come here may have poison.
                let lane_mask = self.freeze_value(self.as_vector(cond)?.into())?.into_vector_value();
                if opposite { Ok(builder.build_not(lane_mask, "")?) } else { Ok(lane_mask) }
            }
            Bounds::Both(parts) => {
                Ok(builder.build_and(self.lanes_in_bounds(&parts[0])?, self.lanes_in_bounds(&parts[1])?, "")?)
            }
            Bounds::Either(parts) => {
                Ok(builder.build_or(self.lanes_in_bounds(&parts[0])?, self.lanes_in_bounds(&parts[1])?, "")?)
            }
        }
    }
}
