//! Integer division in vectors. Processors have none, so quotients come from floating point.
//!
//! The quotient of two integers of at most 32 bits, divided in double precision and cut, is exact: it differs from the
//! next integer by more than the rounding error. Half as many bits fit single precision.

use super::VectorEmitter;
use crate::codegen::emit::{Emitted, vector_of};
use inkwell::types::BasicTypeEnum;
use inkwell::values::{BasicValueEnum, InstructionOpcode, VectorValue};
use lockstep_ir::ir::{BinaryOp, Value};
use lockstep_protocol::types::Type;

/// The widest integers that are divided this way.
pub const MOST_BITS: u32 = 32;

impl<'ctx> VectorEmitter<'_, 'ctx, '_> {
    /// Whether a division of vectors goes through floating point. LLVM has a way of its own for constant divisors.
    pub(super) fn divides_as_floats(&self, opcode: BinaryOp, scalar_type: Type, divisor: Value) -> bool {
        use BinaryOp::{Sdiv, Srem, Udiv, Urem};
        let is_nonzero = self.body.const_bits(divisor).is_some();
        matches!(opcode, Udiv | Sdiv | Urem | Srem) && (8..=MOST_BITS).contains(&scalar_type.bits()) && !is_nonzero
    }

    /// Quotients or remainders. Where a division has no result, that of a lane is some number.
    pub(super) fn divide_as_floats(
        &self,
        opcode: BinaryOp,
        scalar_type: Type,
        [left, right]: [VectorValue<'ctx>; 2],
    ) -> Emitted<BasicValueEnum<'ctx>> {
        use BinaryOp::{Sdiv, Srem, Urem};
        let emitter = self.around.emitter;
        let builder = &emitter.builder;
        let is_signed = matches!(opcode, Sdiv | Srem);
        let (to_float, to_int) = match is_signed {
            true => (InstructionOpcode::SIToFP, InstructionOpcode::FPToSI),
            false => (InstructionOpcode::UIToFP, InstructionOpcode::FPToUI),
        };
        let float_type: BasicTypeEnum<'ctx> = match scalar_type.bits() {
            0..=16 => emitter.context.f32_type().into(),
            _ => emitter.context.f64_type().into(),
        };
        let float_vectors = vector_of(float_type, self.around.width());
        let [dividends, divisors] = [left, right].map(|vector| builder.build_cast(to_float, vector, float_vectors, ""));
        let quotient = builder.build_float_div(dividends?.into_vector_value(), divisors?.into_vector_value(), "")?;
        let quotient = builder.build_cast(to_int, quotient, left.get_type(), "")?;
        // What a division by zero, or that of the least number by -1, gives does not fit.
        let quotient = self.freeze_value(quotient)?;
        if !matches!(opcode, Srem | Urem) {
            return Ok(quotient);
        }
        let product = builder.build_int_mul(quotient.into_vector_value(), right, "")?;
        Ok(builder.build_int_sub(left, product, "")?.into())
    }
}
