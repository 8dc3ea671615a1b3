//! Constants that are known only when the code runs: what is computed with the addresses of variables beyond a sum, such as
//! a local variable's address as a 32-bit integer. They become instructions at the start of the function.

use super::constants::gep_offset;
use super::emit::{Body, Lanes, operand_of};
use super::error::{Attempt, refuse};
use super::llvm::{TypeKind, Value as LlvmValue};
use super::types::scalar_type;
use llvm_sys::LLVMOpcode;
use lockstep_ir::ir::{BinaryOp, UnaryOp, Value};
use lockstep_protocol::types::Type;

/// Such constants nested deeper than this are refused.
const MAX_DEPTH: u32 = 64;

/// The scalars of a constant, of which `depth` others are made. Each is made once: constants share their parts, and would
/// otherwise take exponentially long.
pub(super) fn expression_lanes<'m>(body: &mut Body<'_, 'm>, value: LlvmValue<'m>, depth: u32) -> Attempt<Lanes> {
    if let Some(lanes) = body.values.get(&value) {
        return Ok(lanes.clone());
    }
    let lanes = make_lanes(body, value, depth)?;
    body.values.insert(value, lanes.clone());
    Ok(lanes)
}

fn make_lanes<'m>(body: &mut Body<'_, 'm>, value: LlvmValue<'m>, depth: u32) -> Attempt<Lanes> {
    let reason = match body.known_lanes(value) {
        Ok(lanes) => return Ok(lanes),
        Err(reason) => reason,
    };
    if depth > MAX_DEPTH {
        return Err(reason);
    }
    let count = match value.ty().kind() {
        TypeKind::Vector(count, _) => count,
        TypeKind::Struct(count) => count,
        TypeKind::Array(count, _) => count as u32,
        _ => {
            let Some(opcode) = value.constant_opcode() else { return Err(reason) };
            return Ok([import_expression(body, value, opcode, depth)?].into());
        }
    };
    // Checks the number of scalars before they are walked.
    body.leaf_types(value.ty())?;
    let mut output = Vec::new();
    for index in 0..count {
        let Some(element) = value.element_at(index) else { return Err(reason) };
        output.extend_from_slice(&expression_lanes(body, element, depth + 1)?);
    }
    Ok(output.into())
}

fn import_expression<'m>(
    body: &mut Body<'_, 'm>,
    value: LlvmValue<'m>,
    opcode: LLVMOpcode,
    depth: u32,
) -> Attempt<Value> {
    let Some(ty) = scalar_type(value.ty()) else {
        refuse!("the constant {}", value.text());
    };
    let first = scalar_argument(body, value, 0, depth)?;
    Ok(match opcode {
        LLVMOpcode::LLVMPtrToInt | LLVMOpcode::LLVMPtrToAddr => {
            let address = body.unary(UnaryOp::PtrToInt, Type::I64, first);
            body.zext_or_trunc(ty, address)
        }
        LLVMOpcode::LLVMIntToPtr => {
            let address = body.zext_or_trunc(Type::I64, first);
            body.unary(UnaryOp::IntToPtr, ty, address)
        }
        LLVMOpcode::LLVMTrunc => body.zext_or_trunc(ty, first),
        LLVMOpcode::LLVMAddrSpaceCast => body.space_cast(ty, first),
        LLVMOpcode::LLVMGetElementPtr => {
            let offset = gep_offset(body.module.llvm, value)?;
            let offset = body.int_constant(Type::I64, u128::from(offset as u64));
            body.ptr_add(first, offset, false)
        }
        LLVMOpcode::LLVMAdd | LLVMOpcode::LLVMSub | LLVMOpcode::LLVMXor => {
            let second = scalar_argument(body, value, 1, depth)?;
            let op = match opcode {
                LLVMOpcode::LLVMAdd => BinaryOp::Add,
                LLVMOpcode::LLVMSub => BinaryOp::Sub,
                _ => BinaryOp::Xor,
            };
            body.binary(op, first, second)
        }
        _ => refuse!("the constant {}", value.text()),
    })
}

fn scalar_argument<'m>(body: &mut Body<'_, 'm>, value: LlvmValue<'m>, index: u32, depth: u32) -> Attempt<Value> {
    match expression_lanes(body, operand_of(value, index)?, depth + 1)?[..] {
        [lane] => Ok(lane),
        _ => refuse!("the constant {}", value.text()),
    }
}
