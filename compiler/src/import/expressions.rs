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
pub(super) fn expression_lanes<'m>(
    kernel_body: &mut Body<'_, 'm>,
    llvm_value: LlvmValue<'m>,
    depth: u32,
) -> Attempt<Lanes> {
    if let Some(lanes) = kernel_body.values.get(&llvm_value) {
        return Ok(lanes.clone());
    }
    let lanes = make_lanes(kernel_body, llvm_value, depth)?;
    kernel_body.values.insert(llvm_value, lanes.clone());
    Ok(lanes)
}

fn make_lanes<'m>(kernel_body: &mut Body<'_, 'm>, llvm_value: LlvmValue<'m>, depth: u32) -> Attempt<Lanes> {
    let reason = match kernel_body.known_lanes(llvm_value) {
        Ok(lanes) => return Ok(lanes),
        Err(reason) => reason,
    };
    if depth > MAX_DEPTH {
        return Err(reason);
    }
    let element_count = match llvm_value.ty().kind() {
        TypeKind::Vector(element_count, _) => element_count,
        TypeKind::Struct(element_count) => element_count,
        TypeKind::Array(element_count, _) => element_count as u32,
        _ => {
            let Some(opcode) = llvm_value.constant_opcode() else { return Err(reason) };
            return Ok([import_expression(kernel_body, llvm_value, opcode, depth)?].into());
        }
    };
    // Checks the number of scalars before they are walked.
    kernel_body.leaf_types(llvm_value.ty())?;
    let mut output = Vec::new();
    for index in 0..element_count {
        let Some(element) = llvm_value.element_at(index) else { return Err(reason) };
        output.extend_from_slice(&expression_lanes(kernel_body, element, depth + 1)?);
    }
    Ok(output.into())
}

fn import_expression<'m>(
    kernel_body: &mut Body<'_, 'm>,
    llvm_value: LlvmValue<'m>,
    opcode: LLVMOpcode,
    depth: u32,
) -> Attempt<Value> {
    let Some(scalar_type) = scalar_type(llvm_value.ty()) else {
        refuse!("the constant {}", llvm_value.text());
    };
    let first_lane = scalar_argument(kernel_body, llvm_value, 0, depth)?;
    Ok(match opcode {
        LLVMOpcode::LLVMPtrToInt | LLVMOpcode::LLVMPtrToAddr => {
            let address = kernel_body.unary(UnaryOp::PtrToInt, Type::I64, first_lane);
            kernel_body.zext_or_trunc(scalar_type, address)
        }
        LLVMOpcode::LLVMIntToPtr => {
            let address = kernel_body.zext_or_trunc(Type::I64, first_lane);
            kernel_body.unary(UnaryOp::IntToPtr, scalar_type, address)
        }
        LLVMOpcode::LLVMTrunc => kernel_body.zext_or_trunc(scalar_type, first_lane),
        LLVMOpcode::LLVMAddrSpaceCast => kernel_body.space_cast(scalar_type, first_lane),
        LLVMOpcode::LLVMGetElementPtr => {
            let offset = gep_offset(kernel_body.module.llvm, llvm_value)?;
            let offset = kernel_body.int_constant(Type::I64, u128::from(offset as u64));
            kernel_body.ptr_add(first_lane, offset, false)
        }
        LLVMOpcode::LLVMAdd | LLVMOpcode::LLVMSub | LLVMOpcode::LLVMXor => {
            let second_lane = scalar_argument(kernel_body, llvm_value, 1, depth)?;
            let binary_opcode = match opcode {
                LLVMOpcode::LLVMAdd => BinaryOp::Add,
                LLVMOpcode::LLVMSub => BinaryOp::Sub,
                _ => BinaryOp::Xor,
            };
            kernel_body.binary(binary_opcode, first_lane, second_lane)
        }
        _ => refuse!("the constant {}", llvm_value.text()),
    })
}

fn scalar_argument<'m>(
    kernel_body: &mut Body<'_, 'm>,
    llvm_value: LlvmValue<'m>,
    index: u32,
    depth: u32,
) -> Attempt<Value> {
    match expression_lanes(kernel_body, operand_of(llvm_value, index)?, depth + 1)?[..] {
        [lane] => Ok(lane),
        _ => refuse!("the constant {}", llvm_value.text()),
    }
}
