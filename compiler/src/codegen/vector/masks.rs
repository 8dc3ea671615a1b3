//! Masks: which lanes run a block.

use super::VectorEmitter;
use crate::codegen::emit::Emitted;
use inkwell::IntPredicate;
use inkwell::values::{BasicValueEnum, IntValue, VectorValue};
use lockstep_ir::ir::Value;

/// The lanes that run a block, where these are not all.
#[derive(Clone, Copy)]
pub struct Mask<'ctx> {
    /// An i1 per lane.
    pub lanes: VectorValue<'ctx>,
    /// Whether there may be none.
    pub may_be_empty: bool,
}

impl<'ctx> VectorEmitter<'_, 'ctx, '_> {
    /// The lanes that run the current block; none: all lanes.
    pub(super) fn block_mask(&self) -> Emitted<Option<Mask<'ctx>>> {
        match self.plan.masks[self.block].expand() {
            Some(mask) => {
                let may_be_empty = !self.plan.run_by_some.contains(self.block);
                Ok(Some(Mask { lanes: self.active_lanes(mask)?, may_be_empty }))
            }
            None => Ok(self.gang.entry.map(|lane_mask| Mask { lanes: lane_mask, may_be_empty: false })),
        }
    }

    /// Whether lanes compute here for which the program does not come here.
    pub(super) fn speculates(&self) -> bool {
        self.gang.entry.is_some() || self.plan.masks[self.block].is_some()
    }

    /// The lanes with a work-item in which an i1 is true. Lanes without one may hold anything, poison
    /// included.
    pub(super) fn active_lanes(&self, mask: Value) -> Emitted<VectorValue<'ctx>> {
        let lane_mask = self.as_vector(mask)?;
        let Some(entry_mask) = self.gang.entry else {
            return Ok(lane_mask);
        };
        self.choose_lanes(entry_mask, lane_mask)
    }

    /// The lanes as the bits of a number, lane 0 lowest.
    pub(super) fn lanes_as_bits(&self, lane_mask: VectorValue<'ctx>) -> Emitted<IntValue<'ctx>> {
        let emitter = self.around.emitter;
        let lane_bits =
            emitter.builder.build_bit_cast(lane_mask, emitter.int_type(lane_mask.get_type().get_size()), "")?;
        Ok(emitter.builder.build_int_z_extend(lane_bits.into_int_value(), emitter.i64_type(), "")?)
    }

    /// Whether any lane is on.
    pub(super) fn any_lane(&self, lane_mask: VectorValue<'ctx>) -> Emitted<IntValue<'ctx>> {
        let emitter = self.around.emitter;
        let lane_bits = emitter
            .builder
            .build_bit_cast(lane_mask, emitter.int_type(lane_mask.get_type().get_size()), "")?
            .into_int_value();
        let any_lane =
            emitter.builder.build_int_compare(IntPredicate::NE, lane_bits, lane_bits.get_type().const_zero(), "")?;
        self.defined.borrow_mut().note_consequence(any_lane.into(), lane_mask.into());
        Ok(any_lane)
    }

    /// Whether an i1 is true in a lane that runs the current block.
    pub(super) fn any_active(&self, condition: Value) -> Emitted<IntValue<'ctx>> {
        let mask = self.block_mask()?;
        match (self.is_uniform(condition), mask) {
            (true, Some(Mask { lanes, may_be_empty: true })) => {
                // In a block that no lane runs, the condition may be poison. Which lanes run it, often stays as it is.
                let any_lane = self.any_lane(lanes)?;
                if self.body.const_bits(condition) == Some(1) {
                    return Ok(any_lane);
                }
                let holds = self.lane_zero(condition)?.into_int_value();
                let if_false = self.around.emitter.context.bool_type().const_zero();
                Ok(self.around.emitter.builder.build_select(any_lane, holds, if_false, "")?.into_int_value())
            }
            (true, _) => Ok(self.lane_zero(condition)?.into_int_value()),
            (false, _) => self.any_lane(self.lanes_where(condition)?),
        }
    }

    /// The lanes that run the current block and in which an i1 is true.
    pub(super) fn lanes_where(&self, condition: Value) -> Emitted<VectorValue<'ctx>> {
        let lane_mask = self.as_vector(condition)?;
        match self.block_mask()? {
            // Not a logical and: in other lanes the condition may be poison.
            Some(mask) => self.choose_lanes(mask.lanes, lane_mask),
            None => Ok(lane_mask),
        }
    }

    /// The lanes of one vector that are on in the other, which may be poison elsewhere.
    fn choose_lanes(
        &self,
        chosen_lanes: VectorValue<'ctx>,
        lane_mask: VectorValue<'ctx>,
    ) -> Emitted<VectorValue<'ctx>> {
        let if_inactive = lane_mask.get_type().const_zero();
        Ok(self.around.emitter.builder.build_select(chosen_lanes, lane_mask, if_inactive, "")?.into_vector_value())
    }

    /// The number (an i64) of the last lane that is on; some lane must be.
    pub(super) fn last_lane(&self, mask: Option<Mask<'ctx>>) -> Emitted<IntValue<'ctx>> {
        let emitter = self.around.emitter;
        let Some(mask) = mask else {
            return Ok(emitter.const64(u64::from(self.around.width()) - 1));
        };
        let lane_bits = self.lanes_as_bits(mask.lanes)?;
        let poison_for_none = emitter.context.bool_type().const_int(1, false);
        let leading_zeros = emitter.call_intrinsic(
            "llvm.ctlz",
            &[emitter.i64_type().into()],
            &[lane_bits.into(), poison_for_none.into()],
        )?;
        Ok(emitter.builder.build_int_sub(emitter.const64(63), leading_zeros.into_int_value(), "")?)
    }

    /// The number (an i64) of a lane that runs the current block; 0 if none does.
    pub(super) fn active_lane(&self) -> Emitted<IntValue<'ctx>> {
        let emitter = self.around.emitter;
        // Without a mask of its own, a block is run by lane 0.
        let lane_mask = match (self.plan.masks[self.block].expand(), self.block_mask()?) {
            (Some(_), Some(Mask { lanes, .. })) => lanes,
            _ => return Ok(emitter.const64(0)),
        };
        let lane_bits = emitter.builder.build_or(self.lanes_as_bits(lane_mask)?, emitter.const64(1), "")?;
        let zero_is_poison = emitter.context.bool_type().const_int(1, false);
        let leading_zeros = emitter.call_intrinsic(
            "llvm.ctlz",
            &[emitter.i64_type().into()],
            &[lane_bits.into(), zero_is_poison.into()],
        )?;
        Ok(emitter.builder.build_int_sub(emitter.const64(63), leading_zeros.into_int_value(), "")?)
    }

    /// Does what `emit_values` emits only if a lane is on. Its values are zeros otherwise.
    pub(super) fn emit_guarded(
        &self,
        mask: Option<Mask<'ctx>>,
        emit_values: impl FnOnce() -> Emitted<Vec<BasicValueEnum<'ctx>>>,
    ) -> Emitted<Vec<BasicValueEnum<'ctx>>> {
        let Some(Mask { lanes, may_be_empty: true }) = mask else {
            return emit_values();
        };
        let emitter = self.around.emitter;
        let any_lane = self.any_lane(lanes)?;
        let source_block = emitter.current_block()?;
        let (some_block, after_block) = (emitter.append_block("some"), emitter.append_block("behind"));
        emitter.builder.build_conditional_branch(any_lane, some_block, after_block)?;
        emitter.position_at(some_block);
        let values = emit_values()?;
        let end_block = emitter.current_block()?;
        emitter.builder.build_unconditional_branch(after_block)?;
        emitter.position_at(after_block);
        let merged_values = values.into_iter().map(|value| {
            let zero_value = value.get_type().const_zero();
            Ok(emitter.phi(value.get_type(), &[(&value, end_block), (&zero_value, source_block)], "")?.as_basic_value())
        });
        merged_values.collect()
    }
}
