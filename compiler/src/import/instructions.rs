//! Instructions: arithmetic, comparisons, casts, and the way to everything else.

use super::emit::{Body, Lanes, map_lanes, map_typed_lanes, operand_of};
use super::error::{Attempt, refuse};
use super::llvm::{Block as LlvmBlock, Value as LlvmValue};
use super::{blocks, calls, memory, vectors};
use llvm_sys::{LLVMIntPredicate, LLVMOpcode, LLVMRealPredicate};
use lockstep_ir::ir::{BinaryOp, FastMath, FloatCc, InstData, IntCc, IntFlags, TernaryOp, UnaryOp, Value};
use lockstep_protocol::types::Type;

/// Imports the instructions of a block, but its phis and its terminator. Returns whether the block
/// ends in a trap, where the work-item stops.
pub(super) fn import_block<'m>(body: &mut Body<'_, 'm>, block: LlvmBlock<'m>) -> Attempt<bool> {
    let mut instructions = block.instructions().peekable();
    while let Some(inst) = instructions.next() {
        body.location = blocks::source_location(inst);
        let Some(opcode) = inst.opcode() else {
            refuse!("{}", inst.text());
        };
        match (opcode, instructions.peek()) {
            (LLVMOpcode::LLVMPHI, _) => continue,
            (_, None) => break,
            (LLVMOpcode::LLVMCall, Some(next)) if calls::is_trap(inst) => {
                if next.opcode() == Some(LLVMOpcode::LLVMUnreachable) {
                    return Ok(true);
                }
                refuse!("a trap that execution goes on behind");
            }
            _ => {}
        }
        let lanes = import_instruction(body, inst, opcode)?;
        body.values.insert(inst, lanes);
    }
    Ok(false)
}

fn import_instruction<'m>(body: &mut Body<'_, 'm>, instruction: LlvmValue<'m>, opcode: LLVMOpcode) -> Attempt<Lanes> {
    if let Some(op) = binary_op(opcode) {
        return import_binary(body, instruction, op);
    }
    if let Some(op) = cast_op(opcode) {
        return import_cast(body, instruction, op);
    }
    match opcode {
        LLVMOpcode::LLVMFNeg => {
            let fast_math = FastMath(instruction.fast_math());
            let arguments = body.operand_lanes(instruction, 0)?;
            Ok(map_lanes(&arguments, |value| body.unary_fast(UnaryOp::Fneg, body.type_of(value), fast_math, value)))
        }
        LLVMOpcode::LLVMICmp => compare_ints(body, instruction),
        LLVMOpcode::LLVMFCmp => compare_floats(body, instruction),
        LLVMOpcode::LLVMSelect => import_select(body, instruction),
        LLVMOpcode::LLVMFreeze => {
            let arguments = body.operand_lanes(instruction, 0)?;
            Ok(map_lanes(&arguments, |value| body.unary(UnaryOp::Freeze, body.type_of(value), value)))
        }
        LLVMOpcode::LLVMBitCast => {
            let arguments = body.operand_lanes(instruction, 0)?;
            let types = body.leaf_types(instruction.ty())?;
            Ok(vectors::bitcast_lanes(body, &arguments, &types)?.into())
        }
        LLVMOpcode::LLVMPtrToInt | LLVMOpcode::LLVMPtrToAddr => {
            let arguments = body.operand_lanes(instruction, 0)?;
            let types = body.leaf_types(instruction.ty())?;
            Ok(map_typed_lanes(&arguments, &types, |value, ty| {
                let address = body.unary(UnaryOp::PtrToInt, Type::I64, value);
                body.zext_or_trunc(ty, address)
            }))
        }
        LLVMOpcode::LLVMIntToPtr => {
            let arguments = body.operand_lanes(instruction, 0)?;
            let types = body.leaf_types(instruction.ty())?;
            Ok(map_typed_lanes(&arguments, &types, |value, ty| {
                let address = body.zext_or_trunc(Type::I64, value);
                body.unary(UnaryOp::IntToPtr, ty, address)
            }))
        }
        LLVMOpcode::LLVMAddrSpaceCast => {
            let arguments = body.operand_lanes(instruction, 0)?;
            let types = body.leaf_types(instruction.ty())?;
            Ok(map_typed_lanes(&arguments, &types, |value, ty| body.space_cast(ty, value)))
        }
        LLVMOpcode::LLVMExtractElement => vectors::extract_element(body, instruction),
        LLVMOpcode::LLVMInsertElement => vectors::insert_element(body, instruction),
        LLVMOpcode::LLVMShuffleVector => vectors::import_shuffle(body, instruction),
        LLVMOpcode::LLVMExtractValue => vectors::extract_value(body, instruction),
        LLVMOpcode::LLVMInsertValue => vectors::insert_value(body, instruction),
        LLVMOpcode::LLVMAlloca => memory::import_alloca(body, instruction),
        LLVMOpcode::LLVMLoad => memory::import_load(body, instruction),
        LLVMOpcode::LLVMStore => memory::import_store(body, instruction),
        LLVMOpcode::LLVMGetElementPtr => memory::import_gep(body, instruction),
        LLVMOpcode::LLVMFence => memory::import_fence(body, instruction),
        LLVMOpcode::LLVMAtomicRMW => memory::atomic_rmw(body, instruction),
        LLVMOpcode::LLVMAtomicCmpXchg => memory::atomic_cas(body, instruction),
        LLVMOpcode::LLVMCall => calls::import_call(body, instruction),
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

fn import_binary<'m>(body: &mut Body<'_, 'm>, instruction: LlvmValue<'m>, opcode: BinaryOp) -> Attempt<Lanes> {
    let (nsw, nuw) = instruction.wrap_flags();
    let flags = IntFlags { nsw, nuw };
    let fast_math = FastMath(instruction.fast_math());
    let a = body.operand_lanes(instruction, 0)?;
    let b = body.operand_lanes(instruction, 1)?;
    let may_be_rough = opcode == BinaryOp::Fdiv && instruction.allowed_error() >= Some(ROUGH);
    let mut output = Vec::new();
    for (&left, &right) in a.iter().zip(b.iter()) {
        output.push(match body.reciprocal_of_root(left, right).filter(|_| may_be_rough) {
            Some(square) => body.unary_fast(UnaryOp::Rsqrt, Type::F32, fast_math, square),
            None if opcode == BinaryOp::Fmul => {
                let [left, right] = body.without_negation(left, right).unwrap_or([left, right]);
                body.binary_with(opcode, flags, fast_math, left, right)
            }
            None => body.binary_with(opcode, flags, fast_math, left, right),
        });
    }
    Ok(output.into())
}

/// The units in the last place by which OpenCL lets a quotient be off. With as many a root and a quotient may become one
/// operation.
const ROUGH: f64 = 2.5;

fn import_cast<'m>(body: &mut Body<'_, 'm>, instruction: LlvmValue<'m>, opcode: UnaryOp) -> Attempt<Lanes> {
    let fast_math = FastMath(instruction.fast_math());
    let arguments = body.operand_lanes(instruction, 0)?;
    let types = body.leaf_types(instruction.ty())?;
    Ok(map_typed_lanes(&arguments, &types, |value, to_type| cast_lane(body, opcode, to_type, fast_math, value)))
}

fn cast_lane(body: &mut Body<'_, '_>, opcode: UnaryOp, to_type: Type, fast_math: FastMath, value: Value) -> Value {
    match opcode {
        // Applications count on bytes and words out of range as processors cut them, not on whatever packs vectors best.
        UnaryOp::FpToSi | UnaryOp::FpToUi if matches!(to_type, Type::I8 | Type::I16) => {
            let whole = body.unary(UnaryOp::FpToSi, Type::I32, value);
            body.unary(UnaryOp::Trunc, to_type, whole)
        }
        _ if fast_math == FastMath::default() => body.unary(opcode, to_type, value),
        _ => body.unary_fast(opcode, to_type, fast_math, value),
    }
}

fn compare_ints<'m>(body: &mut Body<'_, 'm>, instruction: LlvmValue<'m>) -> Attempt<Lanes> {
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
    let a = body.operand_lanes(instruction, 0)?;
    let b = body.operand_lanes(instruction, 1)?;
    let lanes = a.iter().zip(b.iter());
    Ok(lanes.map(|(&left, &right)| body.icmp(comparison, left, right)).collect())
}

fn compare_floats<'m>(body: &mut Body<'_, 'm>, instruction: LlvmValue<'m>) -> Attempt<Lanes> {
    let a = body.operand_lanes(instruction, 0)?;
    let b = body.operand_lanes(instruction, 1)?;
    let comparison = match instruction.real_predicate() {
        Some(LLVMRealPredicate::LLVMRealPredicateFalse) => {
            return Ok(map_lanes(&a, |_| body.int_constant(Type::BOOL, 0)));
        }
        Some(LLVMRealPredicate::LLVMRealPredicateTrue) => {
            return Ok(map_lanes(&a, |_| body.int_constant(Type::BOOL, 1)));
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
    let lanes = a.iter().zip(b.iter());
    Ok(lanes
        .map(|(&left, &right)| {
            let arguments = [left, right];
            body.append_single(InstData::Fcmp { comparison, fast_math, arguments }, Type::BOOL)
        })
        .collect())
}

fn import_select<'m>(body: &mut Body<'_, 'm>, instruction: LlvmValue<'m>) -> Attempt<Lanes> {
    let fast_math = FastMath(instruction.fast_math());
    let condition = operand_of(instruction, 0)?;
    let conditions = body.lanes_of(condition)?;
    let a = body.operand_lanes(instruction, 1)?;
    let b = body.operand_lanes(instruction, 2)?;
    // One condition for the whole value, or one for each element.
    let cond_of = |index: usize| {
        if conditions.len() == 1 { conditions.first() } else { conditions.get(index) }
    };
    let mut output = Vec::with_capacity(a.len());
    for (index, (&left, &right)) in a.iter().zip(b.iter()).enumerate() {
        let Some(&condition) = cond_of(index) else {
            refuse!("a select with too few conditions");
        };
        output.push(match body.function.const_bits(condition) {
            Some(0) => right,
            Some(_) => left,
            None if left == right => left,
            None => body.ternary(TernaryOp::Select, fast_math, [condition, left, right]),
        });
    }
    Ok(output.into())
}
