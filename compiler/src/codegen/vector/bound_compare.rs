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
        let (comparison, id, bound) =
            if self.is_id(left) { (comparison, left, right) } else { (comparison.swapped(), right, left) };
        let (LaneValue::Affine(first, 1), LaneValue::Affine(bound, 0)) =
            (self.held_value(id)?, self.held_value(bound)?)
        else {
            return Ok(None);
        };
        if !self.is_id(id) {
            return Ok(None);
        }
        let (first, bound) = (first.into_int_value(), bound.into_int_value());
        // `id < bound` or its opposite; no id is the greatest number.
        let (end, below) = match comparison {
            IntCc::Ult => (bound, true),
            IntCc::Uge => (bound, false),
            IntCc::Ule => (self.call_saturating("llvm.uadd.sat", bound, 1)?, true),
            IntCc::Ugt => (self.call_saturating("llvm.uadd.sat", bound, 1)?, false),
            _ => return Ok(None),
        };
        self.lanes_below(first, end, below).map(Some)
    }

    /// Whether a value is an id of which each lane's is one more.
    fn is_id(&self, value: Value) -> bool {
        let ValueDef::Result(inst, _) = self.body.values[value].definition else { return false };
        let InstData::Query { query, dimension } = self.body.insts[inst].data else { return false };
        self.is_lanes(query, dimension) && self.type_of(value) == Type::I64
    }

    fn call_saturating(&self, name: &str, value: IntValue<'ctx>, by: u64) -> Emitted<IntValue<'ctx>> {
        let emitter = self.around.emitter;
        let result =
            emitter.call_intrinsic(name, &[value.get_type().into()], &[value.into(), emitter.const64(by).into()])?;
        Ok(result.into_int_value())
    }

    /// The lanes `i` with `first + i < end`, or the others.
    fn lanes_below(&self, first: IntValue<'ctx>, end: IntValue<'ctx>, below: bool) -> Emitted<VectorValue<'ctx>> {
        let (emitter, width) = (self.around.emitter, self.around.width());
        let i64 = emitter.i64_type().into();
        let left = emitter.call_intrinsic("llvm.usub.sat", &[i64], &[end.into(), first.into()])?;
        let count = emitter.call_intrinsic("llvm.umin", &[i64], &[left, emitter.const64(width.into()).into()])?;
        let i32 = emitter.context.i32_type();
        let count: BasicValueEnum = emitter.builder.build_int_truncate(count.into_int_value(), i32, "")?.into();
        let numbers: Vec<IntValue> = (0..width).map(|lane| i32.const_int(lane.into(), false)).collect();
        let predicate = if below { IntPredicate::ULT } else { IntPredicate::UGE };
        Ok(emitter.builder.build_int_compare(
            predicate,
            VectorType::const_vector(&numbers),
            emitter.splat(count, width)?,
            "",
        )?)
    }
}
