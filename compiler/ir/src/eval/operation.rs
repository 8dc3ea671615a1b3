//! What instructions compute of their operands alone.

use super::{Undefined, float, integer, unary};
use crate::ir::{BinaryOp, InstData, TernaryOp, UnaryOp, Value};
use lockstep_protocol::types::Type;

/// The bits of an operation of two operands of a type.
pub fn evaluate_binary(op: BinaryOp, ty: Type, a: u128, b: u128) -> Result<u128, Undefined> {
    match float::evaluate_binary(op, ty, a, b) {
        Some(bits) => Ok(bits),
        None => integer::evaluate_binary(op, ty.bits(), a, b).unwrap_or(Ok(0)),
    }
}

/// The bits of an operation of three operands with a result of a type.
fn evaluate_ternary(op: TernaryOp, ty: Type, [a, b, c]: [u128; 3]) -> u128 {
    match op {
        TernaryOp::Select if a != 0 => b,
        TernaryOp::Select => c,
        TernaryOp::Fma | TernaryOp::FmulAdd => float::evaluate_fma(ty, a, b, c),
        TernaryOp::Scaled => float::evaluate_scaled(ty, a, b, c),
        TernaryOp::Fshl => integer::funnel_left(ty.bits(), a, b, c),
        TernaryOp::Fshr => integer::funnel_right(ty.bits(), a, b, c),
    }
}

/// The bits of an instruction with a result of type `ty`, given the types and the bits of its operands; nothing for those
/// that need more than these.
pub fn evaluate_instruction(
    data: &InstData,
    ty: Type,
    type_of: impl Fn(Value) -> Type,
    bits_of: impl Fn(Value) -> u128,
) -> Option<Result<u128, Undefined>> {
    Some(Ok(match *data {
        InstData::Unary { opcode: UnaryOp::SpaceOf, .. } => return None,
        InstData::Unary { opcode: op, argument: arg, .. } => unary::evaluate_unary(op, type_of(arg), ty, bits_of(arg)),
        InstData::Binary { opcode: op, arguments: [a, b], .. } => {
            return Some(evaluate_binary(op, ty, bits_of(a), bits_of(b)));
        }
        InstData::Ternary { opcode: op, arguments: args, .. } => evaluate_ternary(op, ty, args.map(bits_of)),
        InstData::Icmp { comparison: cc, arguments: [a, b] } => {
            integer::evaluate_compare(cc, type_of(a), bits_of(a), bits_of(b)).into()
        }
        InstData::Fcmp { comparison: cc, arguments: [a, b], .. } => {
            float::evaluate_compare(cc, type_of(a), bits_of(a), bits_of(b)).into()
        }
        InstData::PtrAdd { base, offset, .. } => {
            let address = bits_of(base) as u64;
            address.wrapping_add(bits_of(offset) as u64).into()
        }
        _ => return None,
    }))
}
