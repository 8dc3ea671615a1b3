//! Instructions: arithmetic, comparisons, casts, and the way to everything else.

use super::emit::{Body, Lanes, map_lanes, map_typed_lanes, operand_of};
use super::error::{Attempt, refuse};
use super::llvm::{Block as LlvmBlock, Value as LlvmValue};
use super::{calls, memory, vectors};
use llvm_sys::{LLVMIntPredicate, LLVMOpcode, LLVMRealPredicate};
use lockstep_ir::ir::{BinaryOp, FastMath, FloatCc, InstData, IntCc, IntFlags, TernaryOp, UnaryOp, Value};
use lockstep_protocol::types::Type;

/// Imports the instructions of a block, but its phis and its terminator. Returns whether the block
/// ends in a trap, where the work-item stops.
pub(super) fn import_block<'m>(kernel_body: &mut Body<'_, 'm>, llvm_block: LlvmBlock<'m>) -> Attempt<bool> {
    let mut instructions = llvm_block.instructions().peekable();
    while let Some(instruction) = instructions.next() {
        kernel_body.location = instruction.debug_location();
        let Some(opcode) = instruction.opcode() else {
            refuse!("{}", instruction.text());
        };
        match (opcode, instructions.peek()) {
            (LLVMOpcode::LLVMPHI, _) => continue,
            (_, None) => break,
            (LLVMOpcode::LLVMCall, Some(next)) if calls::is_trap(instruction) => {
                if llvm_block.terminator() == Some(*next) {
                    return Ok(true);
                }
                refuse!("a trap that execution goes on behind");
            }
            _ => {}
        }
        let lanes = import_instruction(kernel_body, instruction, opcode)?;
        kernel_body.values.insert(instruction, lanes);
    }
    Ok(false)
}

fn import_instruction<'m>(
    kernel_body: &mut Body<'_, 'm>,
    instruction: LlvmValue<'m>,
    opcode: LLVMOpcode,
) -> Attempt<Lanes> {
    if let Some(binary_opcode) = binary_op(opcode) {
        return import_binary(kernel_body, instruction, binary_opcode);
    }
    if let Some(unary_opcode) = cast_op(opcode) {
        return import_cast(kernel_body, instruction, unary_opcode);
    }
    match opcode {
        LLVMOpcode::LLVMFNeg => {
            let fast_math = FastMath(instruction.fast_math());
            let arguments = kernel_body.operand_lanes(instruction, 0)?;
            Ok(map_lanes(&arguments, |value| {
                kernel_body.unary_fast(UnaryOp::Fneg, kernel_body.type_of(value), fast_math, value)
            }))
        }
        LLVMOpcode::LLVMICmp => compare_ints(kernel_body, instruction),
        LLVMOpcode::LLVMFCmp => compare_floats(kernel_body, instruction),
        LLVMOpcode::LLVMSelect => import_select(kernel_body, instruction),
        LLVMOpcode::LLVMFreeze => {
            let arguments = kernel_body.operand_lanes(instruction, 0)?;
            Ok(map_lanes(&arguments, |value| kernel_body.unary(UnaryOp::Freeze, kernel_body.type_of(value), value)))
        }
        LLVMOpcode::LLVMBitCast => {
            let arguments = kernel_body.operand_lanes(instruction, 0)?;
            let types = kernel_body.leaf_types(instruction.ty())?;
            Ok(vectors::bitcast_lanes(kernel_body, &arguments, &types)?.into())
        }
        LLVMOpcode::LLVMPtrToInt | LLVMOpcode::LLVMPtrToAddr => {
            let arguments = kernel_body.operand_lanes(instruction, 0)?;
            let types = kernel_body.leaf_types(instruction.ty())?;
            Ok(map_typed_lanes(&arguments, &types, |value, scalar_type| {
                let address = kernel_body.unary(UnaryOp::PtrToInt, Type::I64, value);
                kernel_body.zext_or_trunc(scalar_type, address)
            }))
        }
        LLVMOpcode::LLVMIntToPtr => {
            let arguments = kernel_body.operand_lanes(instruction, 0)?;
            let types = kernel_body.leaf_types(instruction.ty())?;
            Ok(map_typed_lanes(&arguments, &types, |value, scalar_type| {
                let address = kernel_body.zext_or_trunc(Type::I64, value);
                kernel_body.unary(UnaryOp::IntToPtr, scalar_type, address)
            }))
        }
        LLVMOpcode::LLVMAddrSpaceCast => {
            let arguments = kernel_body.operand_lanes(instruction, 0)?;
            let types = kernel_body.leaf_types(instruction.ty())?;
            Ok(map_typed_lanes(&arguments, &types, |value, scalar_type| kernel_body.space_cast(scalar_type, value)))
        }
        LLVMOpcode::LLVMExtractElement => vectors::extract_element(kernel_body, instruction),
        LLVMOpcode::LLVMInsertElement => vectors::insert_element(kernel_body, instruction),
        LLVMOpcode::LLVMShuffleVector => vectors::import_shuffle(kernel_body, instruction),
        LLVMOpcode::LLVMExtractValue => vectors::extract_value(kernel_body, instruction),
        LLVMOpcode::LLVMInsertValue => vectors::insert_value(kernel_body, instruction),
        LLVMOpcode::LLVMAlloca => memory::import_alloca(kernel_body, instruction),
        LLVMOpcode::LLVMLoad => memory::import_load(kernel_body, instruction),
        LLVMOpcode::LLVMStore => memory::import_store(kernel_body, instruction),
        LLVMOpcode::LLVMGetElementPtr => memory::import_gep(kernel_body, instruction),
        LLVMOpcode::LLVMFence => memory::import_fence(kernel_body, instruction),
        LLVMOpcode::LLVMAtomicRMW => memory::atomic_rmw(kernel_body, instruction),
        LLVMOpcode::LLVMAtomicCmpXchg => memory::atomic_cas(kernel_body, instruction),
        LLVMOpcode::LLVMCall => calls::import_call(kernel_body, instruction),
        _ => refuse!("the instruction `{}`", instruction.text()),
    }
}

fn binary_op(opcode: LLVMOpcode) -> Option<BinaryOp> {
    Some(match opcode {
        LLVMOpcode::LLVMAdd => BinaryOp::Add,
        LLVMOpcode::LLVMSub => BinaryOp::Sub,
        LLVMOpcode::LLVMMul => BinaryOp::Mul,
        LLVMOpcode::LLVMUDiv => BinaryOp::Udiv,
        LLVMOpcode::LLVMSDiv => BinaryOp::Sdiv,
        LLVMOpcode::LLVMURem => BinaryOp::Urem,
        LLVMOpcode::LLVMSRem => BinaryOp::Srem,
        LLVMOpcode::LLVMAnd => BinaryOp::And,
        LLVMOpcode::LLVMOr => BinaryOp::Or,
        LLVMOpcode::LLVMXor => BinaryOp::Xor,
        LLVMOpcode::LLVMShl => BinaryOp::Shl,
        LLVMOpcode::LLVMLShr => BinaryOp::Lshr,
        LLVMOpcode::LLVMAShr => BinaryOp::Ashr,
        LLVMOpcode::LLVMFAdd => BinaryOp::Fadd,
        LLVMOpcode::LLVMFSub => BinaryOp::Fsub,
        LLVMOpcode::LLVMFMul => BinaryOp::Fmul,
        LLVMOpcode::LLVMFDiv => BinaryOp::Fdiv,
        LLVMOpcode::LLVMFRem => BinaryOp::Frem,
        _ => return None,
    })
}

/// Casts that are one operation on each lane.
fn cast_op(opcode: LLVMOpcode) -> Option<UnaryOp> {
    Some(match opcode {
        LLVMOpcode::LLVMTrunc => UnaryOp::Trunc,
        LLVMOpcode::LLVMZExt => UnaryOp::Zext,
        LLVMOpcode::LLVMSExt => UnaryOp::Sext,
        LLVMOpcode::LLVMFPToUI => UnaryOp::FpToUi,
        LLVMOpcode::LLVMFPToSI => UnaryOp::FpToSi,
        LLVMOpcode::LLVMUIToFP => UnaryOp::UiToFp,
        LLVMOpcode::LLVMSIToFP => UnaryOp::SiToFp,
        LLVMOpcode::LLVMFPTrunc => UnaryOp::FpTrunc,
        LLVMOpcode::LLVMFPExt => UnaryOp::FpExt,
        _ => return None,
    })
}

fn import_binary<'m>(kernel_body: &mut Body<'_, 'm>, instruction: LlvmValue<'m>, opcode: BinaryOp) -> Attempt<Lanes> {
    let (no_signed_wrap, no_unsigned_wrap) = instruction.wrap_flags();
    let wrap_flags = IntFlags { nsw: no_signed_wrap, nuw: no_unsigned_wrap };
    let fast_math = FastMath(instruction.fast_math());
    let left_lanes = kernel_body.operand_lanes(instruction, 0)?;
    let right_lanes = kernel_body.operand_lanes(instruction, 1)?;
    let may_be_rough = opcode == BinaryOp::Fdiv && instruction.allowed_error() >= Some(ROUGH);
    let mut output = Vec::new();
    for (&left, &right) in left_lanes.iter().zip(right_lanes.iter()) {
        output.push(match kernel_body.reciprocal_of_root(left, right).filter(|_| may_be_rough) {
            Some(square) => kernel_body.unary_fast(UnaryOp::Rsqrt, Type::F32, fast_math, square),
            None if opcode == BinaryOp::Fmul => {
                let [left, right] = kernel_body.without_negation(left, right).unwrap_or([left, right]);
                kernel_body.binary_with(opcode, wrap_flags, fast_math, left, right)
            }
            None => kernel_body.binary_with(opcode, wrap_flags, fast_math, left, right),
        });
    }
    Ok(output.into())
}

/// The units in the last place by which OpenCL lets a quotient be off. With as many a root and a quotient may become one
/// operation.
const ROUGH: f64 = 2.5;

fn import_cast<'m>(kernel_body: &mut Body<'_, 'm>, instruction: LlvmValue<'m>, opcode: UnaryOp) -> Attempt<Lanes> {
    let fast_math = FastMath(instruction.fast_math());
    let arguments = kernel_body.operand_lanes(instruction, 0)?;
    let types = kernel_body.leaf_types(instruction.ty())?;
    Ok(map_typed_lanes(&arguments, &types, |value, to_type| cast_lane(kernel_body, opcode, to_type, fast_math, value)))
}

fn cast_lane(
    kernel_body: &mut Body<'_, '_>,
    opcode: UnaryOp,
    to_type: Type,
    fast_math: FastMath,
    value: Value,
) -> Value {
    match opcode {
        // Applications count on bytes and words out of range as processors cut them, not on whatever packs vectors best.
        UnaryOp::FpToSi | UnaryOp::FpToUi if matches!(to_type, Type::I8 | Type::I16) => {
            let whole_number = kernel_body.unary(UnaryOp::FpToSi, Type::I32, value);
            kernel_body.unary(UnaryOp::Trunc, to_type, whole_number)
        }
        _ if fast_math == FastMath::default() => kernel_body.unary(opcode, to_type, value),
        _ => kernel_body.unary_fast(opcode, to_type, fast_math, value),
    }
}

fn compare_ints<'m>(kernel_body: &mut Body<'_, 'm>, instruction: LlvmValue<'m>) -> Attempt<Lanes> {
    let comparison = match instruction.int_predicate() {
        Some(LLVMIntPredicate::LLVMIntEQ) => IntCc::Eq,
        Some(LLVMIntPredicate::LLVMIntNE) => IntCc::Ne,
        Some(LLVMIntPredicate::LLVMIntUGT) => IntCc::Ugt,
        Some(LLVMIntPredicate::LLVMIntUGE) => IntCc::Uge,
        Some(LLVMIntPredicate::LLVMIntULT) => IntCc::Ult,
        Some(LLVMIntPredicate::LLVMIntULE) => IntCc::Ule,
        Some(LLVMIntPredicate::LLVMIntSGT) => IntCc::Sgt,
        Some(LLVMIntPredicate::LLVMIntSGE) => IntCc::Sge,
        Some(LLVMIntPredicate::LLVMIntSLT) => IntCc::Slt,
        Some(LLVMIntPredicate::LLVMIntSLE) => IntCc::Sle,
        None => refuse!("the comparison `{}`", instruction.text()),
    };
    let left_lanes = kernel_body.operand_lanes(instruction, 0)?;
    let right_lanes = kernel_body.operand_lanes(instruction, 1)?;
    let lanes = left_lanes.iter().zip(right_lanes.iter());
    Ok(lanes.map(|(&left, &right)| kernel_body.icmp(comparison, left, right)).collect())
}

fn compare_floats<'m>(kernel_body: &mut Body<'_, 'm>, instruction: LlvmValue<'m>) -> Attempt<Lanes> {
    let left_lanes = kernel_body.operand_lanes(instruction, 0)?;
    let right_lanes = kernel_body.operand_lanes(instruction, 1)?;
    let comparison = match instruction.real_predicate() {
        Some(LLVMRealPredicate::LLVMRealPredicateFalse) => {
            return Ok(map_lanes(&left_lanes, |_| kernel_body.int_constant(Type::BOOL, 0)));
        }
        Some(LLVMRealPredicate::LLVMRealPredicateTrue) => {
            return Ok(map_lanes(&left_lanes, |_| kernel_body.int_constant(Type::BOOL, 1)));
        }
        Some(LLVMRealPredicate::LLVMRealOEQ) => FloatCc::Oeq,
        Some(LLVMRealPredicate::LLVMRealOGT) => FloatCc::Ogt,
        Some(LLVMRealPredicate::LLVMRealOGE) => FloatCc::Oge,
        Some(LLVMRealPredicate::LLVMRealOLT) => FloatCc::Olt,
        Some(LLVMRealPredicate::LLVMRealOLE) => FloatCc::Ole,
        Some(LLVMRealPredicate::LLVMRealONE) => FloatCc::One,
        Some(LLVMRealPredicate::LLVMRealORD) => FloatCc::Ord,
        Some(LLVMRealPredicate::LLVMRealUNO) => FloatCc::Uno,
        Some(LLVMRealPredicate::LLVMRealUEQ) => FloatCc::Ueq,
        Some(LLVMRealPredicate::LLVMRealUGT) => FloatCc::Ugt,
        Some(LLVMRealPredicate::LLVMRealUGE) => FloatCc::Uge,
        Some(LLVMRealPredicate::LLVMRealULT) => FloatCc::Ult,
        Some(LLVMRealPredicate::LLVMRealULE) => FloatCc::Ule,
        Some(LLVMRealPredicate::LLVMRealUNE) => FloatCc::Une,
        None => refuse!("the comparison `{}`", instruction.text()),
    };
    let fast_math = FastMath(instruction.fast_math());
    let lanes = left_lanes.iter().zip(right_lanes.iter());
    Ok(lanes
        .map(|(&left, &right)| {
            let arguments = [left, right];
            kernel_body.append_single(InstData::Fcmp { comparison, fast_math, arguments }, Type::BOOL)
        })
        .collect())
}

fn import_select<'m>(kernel_body: &mut Body<'_, 'm>, instruction: LlvmValue<'m>) -> Attempt<Lanes> {
    let fast_math = FastMath(instruction.fast_math());
    let condition = operand_of(instruction, 0)?;
    let conditions = kernel_body.lanes_of(condition)?;
    let if_true = kernel_body.operand_lanes(instruction, 1)?;
    let if_false = kernel_body.operand_lanes(instruction, 2)?;
    // One condition for the whole value, or one for each element.
    let cond_of = |index: usize| {
        if conditions.len() == 1 { conditions.first() } else { conditions.get(index) }
    };
    let mut output = Vec::with_capacity(if_true.len());
    for (index, (&left, &right)) in if_true.iter().zip(if_false.iter()).enumerate() {
        let Some(&condition) = cond_of(index) else {
            refuse!("a select with too few conditions");
        };
        output.push(match kernel_body.function.const_bits(condition) {
            Some(0) => right,
            Some(_) => left,
            None if left == right => left,
            None => kernel_body.ternary(TernaryOp::Select, fast_math, [condition, left, right]),
        });
    }
    Ok(output.into())
}
