//! Values that follow from sums which may wrap in lanes that do not use them, lane 0 among them: other lanes follow from what
//! lane 0's value is without any wrap. `sext(a + b)` is computed as `sext a + sext b`.

use super::VectorEmitter;
use super::instructions::Lanes;
use crate::codegen::emit::Emitted;
use crate::codegen::error::CodegenError;
use inkwell::types::IntType;
use inkwell::values::{BasicValueEnum, IntValue};
use lockstep_ir::ir::{BinaryOp, InstData, InstNode, UnaryOp, Value, ValueDef};

impl<'ctx> VectorEmitter<'_, 'ctx, '_> {
    /// The value of a lane, where the plan says that it follows from endless sums.
    pub(super) fn compute_of_endless_sums(
        &self,
        inst_node: &InstNode,
        lanes: Lanes<'ctx>,
    ) -> Emitted<BasicValueEnum<'ctx>> {
        let emitter = self.around.emitter;
        let result_bits = self.type_of(inst_node.results[0]).bits();
        let twice_as_wide = |operand: Value| emitter.int_type(2 * self.type_of(operand).bits());
        match inst_node.data {
            InstData::Unary { opcode: opcode @ (UnaryOp::Sext | UnaryOp::Zext), argument, .. } => {
                let wide_type = emitter.int_type(result_bits);
                Ok(self.compute_endless_sum(argument, opcode == UnaryOp::Sext, wide_type, lanes)?.into())
            }
            InstData::Binary { opcode: BinaryOp::Ashr, arguments: [left, right], .. } => {
                let wide_type = twice_as_wide(left);
                let sum = self.compute_endless_sum(left, true, wide_type, lanes)?;
                let amount = self.operand_of(right, lanes)?.into_int_value();
                let amount = emitter.builder.build_int_z_extend(amount, wide_type, "")?;
                let quotient = emitter.builder.build_right_shift(sum, amount, true, "")?;
                Ok(emitter.builder.build_int_truncate(quotient, emitter.int_type(result_bits), "")?.into())
            }
            InstData::Icmp { comparison, arguments } => {
                let wide_type = twice_as_wide(arguments[0]);
                let [left, right] = arguments.map(|operand| self.compute_endless_sum(operand, true, wide_type, lanes));
                emitter.icmp(comparison, [left?.into(), right?.into()])
            }
            _ => Err(CodegenError::Unexpected(format!("{} follows from no sums", inst_node.results[0]))),
        }
    }

    /// A lane's value of a line as a number of a wider type, by what it is the sum of.
    fn compute_endless_sum(
        &self,
        operand: Value,
        is_signed: bool,
        wide_type: IntType<'ctx>,
        lanes: Lanes<'ctx>,
    ) -> Emitted<IntValue<'ctx>> {
        let builder = &self.around.emitter.builder;
        if let ValueDef::Result(instruction, _) = self.body.values[operand].definition
            && let InstData::Binary { opcode, arguments, .. } = self.body.insts[instruction].data
            && self.plan.sums_that_wrap.contains(operand)
        {
            let [left, right] =
                arguments.map(|argument| self.compute_endless_sum(argument, is_signed, wide_type, lanes));
            let (left, right) = (left?, right?);
            return Ok(match opcode {
                BinaryOp::Add => builder.build_int_add(left, right, "")?,
                BinaryOp::Sub => builder.build_int_sub(left, right, "")?,
                BinaryOp::Mul => builder.build_int_mul(left, right, "")?,
                BinaryOp::Shl => builder.build_left_shift(left, right, "")?,
                _ => return Err(CodegenError::Unexpected(format!("{operand} is no sum"))),
            });
        }
        let value = self.operand_of(operand, lanes)?.into_int_value();
        Ok(match is_signed {
            true => builder.build_int_s_extend(value, wide_type, "")?,
            false => builder.build_int_z_extend(value, wide_type, "")?,
        })
    }
}
