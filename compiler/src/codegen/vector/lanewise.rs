//! What has no vector form: one active lane after the other, in their order.

use super::VectorEmitter;
use super::masks::Mask;
use crate::codegen::emit::Emitted;
use inkwell::IntPredicate;
use inkwell::values::{BasicValueEnum, IntValue, PhiValue, VectorValue};
use lockstep_protocol::types::Type;

impl<'ctx> VectorEmitter<'_, 'ctx, '_> {
    /// Does `work` for each active lane, given its number (an i64); its values become elements of vectors,
    /// with zeros in the other lanes.
    pub(super) fn each_lane(
        &self,
        mask: Option<Mask<'ctx>>,
        results: &[Type],
        work: impl Fn(IntValue<'ctx>) -> Emitted<Vec<BasicValueEnum<'ctx>>>,
    ) -> Emitted<Vec<VectorValue<'ctx>>> {
        let emitter = self.around.emitter;
        let builder = &emitter.builder;
        let none: Vec<VectorValue> = results.iter().map(|&ty| self.vector_ty(ty).const_zero()).collect();
        let insert = |vectors: Vec<VectorValue<'ctx>>, values: Vec<BasicValueEnum<'ctx>>, lane| {
            let insert = |(vector, value)| Ok(builder.build_insert_element(vector, value, lane, "")?);
            vectors.into_iter().zip(values).map(insert).collect::<Emitted<Vec<_>>>()
        };
        let Some(mask) = mask else {
            let mut vectors = none;
            for lane in 0..self.around.width() {
                let lane = emitter.const64(lane.into());
                vectors = insert(vectors, work(lane)?, lane)?;
            }
            return Ok(vectors);
        };

        let bits = self.lanes_as_bits(mask.lanes)?;
        let zero = emitter.const64(0);
        let source = emitter.current_block()?;
        let (head, behind) = (emitter.append_block("lane"), emitter.append_block("lanes.done"));
        if mask.may_be_empty {
            let any_lane = builder.build_int_compare(IntPredicate::NE, bits, zero, "")?;
            builder.build_conditional_branch(any_lane, head, behind)?;
        } else {
            builder.build_unconditional_branch(head)?;
        }
        emitter.position_at(head);
        let left = emitter.phi(emitter.i64_type(), &[(&bits, source)], "lanes")?;
        let phi = |none: &VectorValue<'ctx>| emitter.phi(none.get_type(), &[(none, source)], "");
        let before: Vec<PhiValue> = none.iter().map(phi).collect::<Emitted<_>>()?;
        let vectors = before.iter().map(|phi| phi.as_basic_value().into_vector_value()).collect();
        let here = left.as_basic_value().into_int_value();
        let poison_for_none = emitter.context.bool_type().const_int(1, false);
        let lane = emitter.call_intrinsic(
            "llvm.cttz",
            &[emitter.i64_type().into()],
            &[here.into(), poison_for_none.into()],
        )?;
        let lane = lane.into_int_value();
        let vectors = insert(vectors, work(lane)?, lane)?;
        let end = emitter.current_block()?;
        let lower = builder.build_int_sub(here, emitter.const64(1), "")?;
        let rest = builder.build_and(here, lower, "")?;
        left.add_incoming(&[(&rest, end)]);
        for (phi, vector) in before.iter().zip(&vectors) {
            phi.add_incoming(&[(vector, end)]);
        }
        let more = builder.build_int_compare(IntPredicate::NE, rest, zero, "")?;
        builder.build_conditional_branch(more, head, behind)?;
        emitter.position_at(behind);
        let mut merged = Vec::new();
        for (vector, none) in vectors.iter().zip(&none) {
            let phi = emitter.phi(none.get_type(), &[(vector, end)], "")?;
            if mask.may_be_empty {
                phi.add_incoming(&[(none, source)]);
            }
            merged.push(phi.as_basic_value().into_vector_value());
        }
        Ok(merged)
    }
}
