//! What has no vector form: one active lane after the other, in their order.

use super::VectorEmitter;
use super::masks::Mask;
use crate::codegen::emit::Emitted;
use inkwell::IntPredicate;
use inkwell::values::{BasicValueEnum, IntValue, PhiValue, VectorValue};
use lockstep_protocol::types::Type;

impl<'ctx> VectorEmitter<'_, 'ctx, '_> {
    /// Does `emit_lane` for each active lane, given its number (an i64); its values become elements of vectors,
    /// with zeros in the other lanes.
    pub(super) fn each_lane(
        &self,
        mask: Option<Mask<'ctx>>,
        results: &[Type],
        emit_lane: impl Fn(IntValue<'ctx>) -> Emitted<Vec<BasicValueEnum<'ctx>>>,
    ) -> Emitted<Vec<VectorValue<'ctx>>> {
        let emitter = self.around.emitter;
        let builder = &emitter.builder;
        let empty_vectors: Vec<VectorValue> =
            results.iter().map(|&scalar_type| self.vector_ty(scalar_type).const_zero()).collect();
        let insert = |vectors: Vec<VectorValue<'ctx>>, values: Vec<BasicValueEnum<'ctx>>, lane| {
            let insert = |(vector, value)| Ok(builder.build_insert_element(vector, value, lane, "")?);
            vectors.into_iter().zip(values).map(insert).collect::<Emitted<Vec<_>>>()
        };
        let Some(mask) = mask else {
            let mut vectors = empty_vectors;
            for lane in 0..self.around.width() {
                let lane = emitter.const64(lane.into());
                vectors = insert(vectors, emit_lane(lane)?, lane)?;
            }
            return Ok(vectors);
        };

        let lane_bits = self.lanes_as_bits(mask.lanes)?;
        let zero = emitter.const64(0);
        let source_block = emitter.current_block()?;
        let (head_block, after_block) = (emitter.append_block("lane"), emitter.append_block("lanes.done"));
        if mask.may_be_empty {
            let any_lane = builder.build_int_compare(IntPredicate::NE, lane_bits, zero, "")?;
            builder.build_conditional_branch(any_lane, head_block, after_block)?;
        } else {
            builder.build_unconditional_branch(head_block)?;
        }
        emitter.position_at(head_block);
        let lanes_phi = emitter.phi(emitter.i64_type(), &[(&lane_bits, source_block)], "lanes")?;
        let make_phi = |empty_vector: &VectorValue<'ctx>| {
            emitter.phi(empty_vector.get_type(), &[(empty_vector, source_block)], "")
        };
        let vector_phis: Vec<PhiValue> = empty_vectors.iter().map(make_phi).collect::<Emitted<_>>()?;
        let vectors = vector_phis.iter().map(|phi_node| phi_node.as_basic_value().into_vector_value()).collect();
        let lanes_left = lanes_phi.as_basic_value().into_int_value();
        let poison_for_none = emitter.context.bool_type().const_int(1, false);
        let lane = emitter.call_intrinsic(
            "llvm.cttz",
            &[emitter.i64_type().into()],
            &[lanes_left.into(), poison_for_none.into()],
        )?;
        let lane = lane.into_int_value();
        let vectors = insert(vectors, emit_lane(lane)?, lane)?;
        let end_block = emitter.current_block()?;
        let lower_bits = builder.build_int_sub(lanes_left, emitter.const64(1), "")?;
        let bits_after = builder.build_and(lanes_left, lower_bits, "")?;
        lanes_phi.add_incoming(&[(&bits_after, end_block)]);
        for (phi_node, vector) in vector_phis.iter().zip(&vectors) {
            phi_node.add_incoming(&[(vector, end_block)]);
        }
        let has_more = builder.build_int_compare(IntPredicate::NE, bits_after, zero, "")?;
        builder.build_conditional_branch(has_more, head_block, after_block)?;
        emitter.position_at(after_block);
        let mut merged = Vec::new();
        for (vector, empty_vector) in vectors.iter().zip(&empty_vectors) {
            let phi_node = emitter.phi(empty_vector.get_type(), &[(vector, end_block)], "")?;
            if mask.may_be_empty {
                phi_node.add_incoming(&[(empty_vector, source_block)]);
            }
            merged.push(phi_node.as_basic_value().into_vector_value());
        }
        Ok(merged)
    }
}
