//! Instructions: arithmetic, comparisons, casts, and the way to everything else.

use super::emit::{Body, Lanes, operand_of};
use super::llvm::{Block as LlvmBlock, Value as LlvmValue};
use super::{Attempt, blocks, calls, memory, refuse, vectors};
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

fn import_instruction<'m>(body: &mut Body<'_, 'm>, inst: LlvmValue<'m>, opcode: LLVMOpcode) -> Attempt<Lanes> {
    if let Some(op) = binary_op(opcode) {
        return import_binary(body, inst, op);
    }
    if let Some(op) = cast_op(opcode) {
        return import_cast(body, inst, op);
    }
    match opcode {
        LLVMOpcode::LLVMFNeg => {
            let fmf = FastMath(inst.fast_math());
            let args = body.operand_lanes(inst, 0)?;
            Ok(map_lanes(&args, |v| body.unary_fast(UnaryOp::Fneg, body.type_of(v), fmf, v)))
        }
        LLVMOpcode::LLVMICmp => compare_ints(body, inst),
        LLVMOpcode::LLVMFCmp => compare_floats(body, inst),
        LLVMOpcode::LLVMSelect => import_select(body, inst),
        LLVMOpcode::LLVMFreeze => {
            let args = body.operand_lanes(inst, 0)?;
            Ok(map_lanes(&args, |v| body.unary(UnaryOp::Freeze, body.type_of(v), v)))
        }
        LLVMOpcode::LLVMBitCast => {
            let args = body.operand_lanes(inst, 0)?;
            let types = body.leaf_types(inst.ty())?;
            Ok(vectors::bitcast_lanes(body, &args, &types)?.into())
        }
        LLVMOpcode::LLVMPtrToInt | LLVMOpcode::LLVMPtrToAddr => {
            let args = body.operand_lanes(inst, 0)?;
            let types = body.leaf_types(inst.ty())?;
            Ok(map_typed_lanes(&args, &types, |v, ty| {
                let address = body.unary(UnaryOp::PtrToInt, Type::I64, v);
                body.zext_or_trunc(ty, address)
            }))
        }
        LLVMOpcode::LLVMIntToPtr => {
            let args = body.operand_lanes(inst, 0)?;
            let types = body.leaf_types(inst.ty())?;
            Ok(map_typed_lanes(&args, &types, |v, ty| {
                let address = body.zext_or_trunc(Type::I64, v);
                body.unary(UnaryOp::IntToPtr, ty, address)
            }))
        }
        LLVMOpcode::LLVMAddrSpaceCast => {
            let args = body.operand_lanes(inst, 0)?;
            let types = body.leaf_types(inst.ty())?;
            Ok(map_typed_lanes(&args, &types, |v, ty| body.space_cast(ty, v)))
        }
        LLVMOpcode::LLVMExtractElement => vectors::extract_element(body, inst),
        LLVMOpcode::LLVMInsertElement => vectors::insert_element(body, inst),
        LLVMOpcode::LLVMShuffleVector => vectors::import_shuffle(body, inst),
        LLVMOpcode::LLVMExtractValue => vectors::extract_value(body, inst),
        LLVMOpcode::LLVMInsertValue => vectors::insert_value(body, inst),
        LLVMOpcode::LLVMAlloca => memory::import_alloca(body, inst),
        LLVMOpcode::LLVMLoad => memory::import_load(body, inst),
        LLVMOpcode::LLVMStore => memory::import_store(body, inst),
        LLVMOpcode::LLVMGetElementPtr => memory::import_gep(body, inst),
        LLVMOpcode::LLVMFence => memory::import_fence(body, inst),
        LLVMOpcode::LLVMAtomicRMW => memory::atomic_rmw(body, inst),
        LLVMOpcode::LLVMAtomicCmpXchg => memory::atomic_cas(body, inst),
        LLVMOpcode::LLVMCall => calls::import_call(body, inst),
        _ => refuse!("the instruction `{}`", inst.text()),
    }
}

/// Applies `f` to each lane.
pub(super) fn map_lanes(args: &[Value], mut f: impl FnMut(Value) -> Value) -> Lanes {
    args.iter().map(|&v| f(v)).collect()
}

/// Applies `f` to each lane with its result type.
pub(super) fn map_typed_lanes(args: &[Value], types: &[Type], mut f: impl FnMut(Value, Type) -> Value) -> Lanes {
    args.iter().zip(types).map(|(&v, &ty)| f(v, ty)).collect()
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

fn import_binary<'m>(body: &mut Body<'_, 'm>, inst: LlvmValue<'m>, op: BinaryOp) -> Attempt<Lanes> {
    let (nsw, nuw) = inst.wrap_flags();
    let flags = IntFlags { nsw, nuw };
    let fmf = FastMath(inst.fast_math());
    let a = body.operand_lanes(inst, 0)?;
    let b = body.operand_lanes(inst, 1)?;
    let rough = op == BinaryOp::Fdiv && inst.allowed_error() >= Some(ROUGH);
    let lanes = a.iter().zip(b.iter());
    let value = |(&a, &b)| match body.reciprocal_of_root(a, b).filter(|_| rough) {
        Some(square) => body.unary_fast(UnaryOp::Rsqrt, Type::F32, fmf, square),
        None if op == BinaryOp::Fmul => {
            let [a, b] = body.without_negation(a, b).unwrap_or([a, b]);
            body.binary_with(op, flags, fmf, a, b)
        }
        None => body.binary_with(op, flags, fmf, a, b),
    };
    Ok(lanes.map(value).collect())
}

/// The units in the last place by which OpenCL lets a quotient be off. With as many a root and a quotient may become one
/// operation.
const ROUGH: f64 = 2.5;

fn import_cast<'m>(body: &mut Body<'_, 'm>, inst: LlvmValue<'m>, op: UnaryOp) -> Attempt<Lanes> {
    let fmf = FastMath(inst.fast_math());
    let args = body.operand_lanes(inst, 0)?;
    let types = body.leaf_types(inst.ty())?;
    Ok(map_typed_lanes(&args, &types, |v, ty| match op {
        // Applications count on bytes and words out of range as processors cut them, not on whatever packs vectors best.
        UnaryOp::FpToSi | UnaryOp::FpToUi if matches!(ty, Type::I8 | Type::I16) => {
            let whole = body.unary(UnaryOp::FpToSi, Type::I32, v);
            body.unary(UnaryOp::Trunc, ty, whole)
        }
        _ if fmf == FastMath::default() => body.unary(op, ty, v),
        _ => body.unary_fast(op, ty, fmf, v),
    }))
}

fn compare_ints<'m>(body: &mut Body<'_, 'm>, inst: LlvmValue<'m>) -> Attempt<Lanes> {
    let cc = match inst.int_predicate() {
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
        None => refuse!("the comparison `{}`", inst.text()),
    };
    let a = body.operand_lanes(inst, 0)?;
    let b = body.operand_lanes(inst, 1)?;
    let lanes = a.iter().zip(b.iter());
    Ok(lanes.map(|(&a, &b)| body.icmp(cc, a, b)).collect())
}

fn compare_floats<'m>(body: &mut Body<'_, 'm>, inst: LlvmValue<'m>) -> Attempt<Lanes> {
    let a = body.operand_lanes(inst, 0)?;
    let b = body.operand_lanes(inst, 1)?;
    let cc = match inst.real_predicate() {
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
        None => refuse!("the comparison `{}`", inst.text()),
    };
    let fmf = FastMath(inst.fast_math());
    let lanes = a.iter().zip(b.iter());
    Ok(lanes
        .map(|(&a, &b)| {
            let args = [a, b];
            body.append_single(InstData::Fcmp { comparison: cc, fast_math: fmf, arguments: args }, Type::BOOL)
        })
        .collect())
}

fn import_select<'m>(body: &mut Body<'_, 'm>, inst: LlvmValue<'m>) -> Attempt<Lanes> {
    let fmf = FastMath(inst.fast_math());
    let cond = operand_of(inst, 0)?;
    let conds = body.lanes_of(cond)?;
    let a = body.operand_lanes(inst, 1)?;
    let b = body.operand_lanes(inst, 2)?;
    // One condition for the whole value, or one for each element.
    let cond_of = |i: usize| {
        if conds.len() == 1 { conds.first() } else { conds.get(i) }
    };
    let mut out = Vec::with_capacity(a.len());
    for (i, (&a, &b)) in a.iter().zip(b.iter()).enumerate() {
        let Some(&cond) = cond_of(i) else {
            refuse!("a select with too few conditions");
        };
        out.push(match body.function.const_bits(cond) {
            Some(0) => b,
            Some(_) => a,
            None if a == b => a,
            None => body.ternary(TernaryOp::Select, fmf, [cond, a, b]),
        });
    }
    Ok(out.into())
}
