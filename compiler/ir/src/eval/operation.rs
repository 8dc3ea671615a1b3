//! What instructions compute of their operands alone.

use super::{Undefined, float, integer, unary};
use crate::ir::{BinaryOp, InstData, TernaryOp, UnaryOp, Value};
use lockstep_protocol::types::Type;

/// The bits of an operation of two operands of a type.
pub fn evaluate_binary(opcode: BinaryOp, operand_type: Type, left: u128, right: u128) -> Result<u128, Undefined> {
    match float::evaluate_binary(opcode, operand_type, left, right) {
        Some(bits) => Ok(bits),
        None => integer::evaluate_binary(opcode, operand_type.bits(), left, right).unwrap_or(Ok(0)),
    }
}

/// The bits of an operation of three operands with a result of a type.
fn evaluate_ternary(opcode: TernaryOp, operand_type: Type, [left, right, third]: [u128; 3]) -> u128 {
    match opcode {
        TernaryOp::Select if left != 0 => right,
        TernaryOp::Select => third,
        TernaryOp::Fma | TernaryOp::FmulAdd => float::evaluate_fma(operand_type, left, right, third),
        TernaryOp::Scaled => float::evaluate_scaled(operand_type, left, right, third),
        TernaryOp::Fshl => integer::funnel_left(operand_type.bits(), left, right, third),
        TernaryOp::Fshr => integer::funnel_right(operand_type.bits(), left, right, third),
    }
}

/// The bits of an instruction with a result of type `operand_type`, given the types and the bits of its operands; nothing for those
/// that need more than these.
pub fn evaluate_instruction(
    inst_data: &InstData,
    operand_type: Type,
    type_of: impl Fn(Value) -> Type,
    bits_of: impl Fn(Value) -> u128,
) -> Option<Result<u128, Undefined>> {
    Some(Ok(match *inst_data {
        InstData::Unary { opcode: UnaryOp::SpaceOf, .. } => return None,
        InstData::Unary { opcode, argument, .. } => {
            unary::evaluate_unary(opcode, type_of(argument), operand_type, bits_of(argument))
        }
        InstData::Binary { opcode, arguments: [left, right], .. } => {
            return Some(evaluate_binary(opcode, operand_type, bits_of(left), bits_of(right)));
        }
        InstData::Ternary { opcode, arguments, .. } => evaluate_ternary(opcode, operand_type, arguments.map(bits_of)),
        InstData::Icmp { comparison, arguments: [left, right] } => {
            integer::evaluate_compare(comparison, type_of(left), bits_of(left), bits_of(right)).into()
        }
        InstData::Fcmp { comparison, arguments: [left, right], .. } => {
            float::evaluate_compare(comparison, type_of(left), bits_of(left), bits_of(right)).into()
        }
        InstData::PtrAdd { base, offset, .. } => {
            let address = bits_of(base) as u64;
            address.wrapping_add(bits_of(offset) as u64).into()
        }
        _ => return None,
    }))
}
