//! Comparisons of a work-item's id with a bound that is the same for all lanes.
//!
//! Ids are 64 bits wide, so that a comparison would take a register for every eight lanes of a 512-bit machine. How many
//! lanes are within the bound is a number of the gang's, though, and which they are a comparison of narrow constants
//! with it. Ids do not wrap within a gang, except in lanes without a work-item, which nobody asks.

use super::VectorEmitter;
use super::lane_value::LaneValue;
use crate::codegen::emit::Emitted;
use inkwell::IntPredicate;
use inkwell::types::VectorType;
use inkwell::values::{BasicValueEnum, IntValue, VectorValue};
use lockstep_ir::ir::{InstData, IntCc, Value, ValueDef};
use lockstep_protocol::types::Type;

impl<'ctx> VectorEmitter<'_, 'ctx, '_> {
    /// The lanes for which the comparison holds, if it is one of an id with a bound.
    pub(super) fn compare_with_bound(
        &self,
        comparison: IntCc,
        [left, right]: [Value; 2],
    ) -> Emitted<Option<VectorValue<'ctx>>> {
        let (comparison, id_value, bound_value) =
            if self.is_id(left) { (comparison, left, right) } else { (comparison.swapped(), right, left) };
        let (LaneValue::Affine(first_lane, 1), LaneValue::Affine(bound, 0)) =
            (self.held_value(id_value)?, self.held_value(bound_value)?)
        else {
            return Ok(None);
        };
        if !self.is_id(id_value) {
            return Ok(None);
        }
        let (first_id, bound) = (first_lane.into_int_value(), bound.into_int_value());
        // `id_value < bound_value` or its opposite; no id is the greatest number.
        let (end_id, is_below) = match comparison {
            IntCc::Ult => (bound, true),
            IntCc::Uge => (bound, false),
            IntCc::Ule => (self.call_saturating("llvm.uadd.sat", bound, 1)?, true),
            IntCc::Ugt => (self.call_saturating("llvm.uadd.sat", bound, 1)?, false),
            _ => return Ok(None),
        };
        self.lanes_below(first_id, end_id, is_below).map(Some)
    }

    /// Whether a value is an id of which each lane's is one more.
    fn is_id(&self, operand: Value) -> bool {
        let ValueDef::Result(instruction, _) = self.body.values[operand].definition else { return false };
        let InstData::Query { query, dimension } = self.body.insts[instruction].data else { return false };
        self.is_lanes(query, dimension) && self.type_of(operand) == Type::I64
    }

    fn call_saturating(&self, name: &str, value: IntValue<'ctx>, amount: u64) -> Emitted<IntValue<'ctx>> {
        let emitter = self.around.emitter;
        let result = emitter.call_intrinsic(
            name,
            &[value.get_type().into()],
            &[value.into(), emitter.const64(amount).into()],
        )?;
        Ok(result.into_int_value())
    }

    /// The lanes `i` with `first_id + i < end_id`, or the others.
    fn lanes_below(
        &self,
        first_id: IntValue<'ctx>,
        end_id: IntValue<'ctx>,
        is_below: bool,
    ) -> Emitted<VectorValue<'ctx>> {
        let (emitter, width) = (self.around.emitter, self.around.width());
        let i64_type = emitter.i64_type().into();
        let left = emitter.call_intrinsic("llvm.usub.sat", &[i64_type], &[end_id.into(), first_id.into()])?;
        let lanes_left =
            emitter.call_intrinsic("llvm.umin", &[i64_type], &[left, emitter.const64(width.into()).into()])?;
        let i32_type = emitter.context.i32_type();
        let lanes_left: BasicValueEnum =
            emitter.builder.build_int_truncate(lanes_left.into_int_value(), i32_type, "")?.into();
        let numbers: Vec<IntValue> = (0..width).map(|lane| i32_type.const_int(lane.into(), false)).collect();
        let predicate = if is_below { IntPredicate::ULT } else { IntPredicate::UGE };
        Ok(emitter.builder.build_int_compare(
            predicate,
            VectorType::const_vector(&numbers),
            emitter.splat(lanes_left, width)?,
            "",
        )?)
    }
}
