//! Intrinsics that become several instructions.

use super::emit::{Body, Lanes, map_lanes, map_typed_lanes, operand_of};
use super::error::{Attempt, refuse};
use super::intrinsics::import_binary;
use super::llvm::Value as LlvmValue;
use super::vectors::fold_lanes;
use lockstep_ir::ir::{BinaryOp, FastMath, FloatCc, IntCc, IntFlags, UnaryOp, Value};
use lockstep_protocol::types::Type;

/// llvm.vector.reduce.*: all elements combined, in order.
pub(super) fn expand_reduction<'m>(body: &mut Body<'_, 'm>, instruction: LlvmValue<'m>, which: &str) -> Attempt<Lanes> {
    let fast_math = FastMath(instruction.fast_math());
    let flags = IntFlags::default();
    let starts = matches!(which, "fadd" | "fmul");
    let start = if starts { Some(body.scalar_operand(instruction, 0)?) } else { None };
    let lanes = body.operand_lanes(instruction, u32::from(starts))?;
    let opcode = match which {
        "add" => BinaryOp::Add,
        "mul" => BinaryOp::Mul,
        "and" => BinaryOp::And,
        "or" => BinaryOp::Or,
        "xor" => BinaryOp::Xor,
        "smin" => BinaryOp::Smin,
        "smax" => BinaryOp::Smax,
        "umin" => BinaryOp::Umin,
        "umax" => BinaryOp::Umax,
        "fadd" => BinaryOp::Fadd,
        "fmul" => BinaryOp::Fmul,
        "fmin" => BinaryOp::Fmin,
        "fmax" => BinaryOp::Fmax,
        "fminimum" | "fmaximum" => {
            let max = which == "fmaximum";
            let total =
                fold_lanes(body, start, &lanes, |body, left, right| minimum_or_maximum(body, left, right, max, true))?;
            return Ok(Lanes::from([total]));
        }
        _ => refuse!("the reduction {which} is not supported"),
    };
    let total =
        fold_lanes(body, start, &lanes, |body, left, right| body.binary_with(opcode, flags, fast_math, left, right))?;
    Ok(Lanes::from([total]))
}

/// llvm.minimum and its relatives: -0 is less than +0; a NaN wins, or loses.
pub(super) fn minimum_maximum<'m>(
    body: &mut Body<'_, 'm>,
    instruction: LlvmValue<'m>,
    max: bool,
    nan_wins: bool,
) -> Attempt<Lanes> {
    import_binary(body, instruction, |body, left, right| minimum_or_maximum(body, left, right, max, nan_wins))
}

fn minimum_or_maximum(body: &mut Body<'_, '_>, left: Value, right: Value, max: bool, nan_wins: bool) -> Value {
    let ty = body.type_of(left);
    // Equal numbers differ at most in the sign of zero: the minimum has it if one has, the maximum if
    // both have.
    let opcode = if max { BinaryOp::And } else { BinaryOp::Or };
    let (operand, y) = (body.bits_of(left), body.bits_of(right));
    let bits = body.binary(opcode, operand, y);
    let same = body.with_bits(ty, bits);
    let comparison = if max { FloatCc::Ogt } else { FloatCc::Olt };
    let first = body.fcmp(comparison, left, right);
    let equal = body.fcmp(FloatCc::Oeq, left, right);
    let other = body.select(equal, same, right);
    let ordered = body.select(first, left, other);
    if nan_wins {
        let unordered = body.fcmp(FloatCc::Uno, left, right);
        let nan = body.binary(BinaryOp::Fadd, left, right);
        body.select(unordered, nan, ordered)
    } else {
        // `ordered` is b where one is NaN: right if a is.
        let b_is_nan = body.fcmp(FloatCc::Uno, right, right);
        body.select(b_is_nan, left, ordered)
    }
}

/// Arithmetic with a flag that says whether it overflowed: all results, then all flags.
pub(super) fn with_overflow<'m>(body: &mut Body<'_, 'm>, instruction: LlvmValue<'m>, name: &str) -> Attempt<Lanes> {
    let a = body.operand_lanes(instruction, 0)?;
    let b = body.operand_lanes(instruction, 1)?;
    let signed = name.starts_with('s');
    let mut results = Vec::with_capacity(2 * a.len());
    let mut flags = Vec::with_capacity(a.len());
    for (&left, &right) in a.iter().zip(b.iter()) {
        let ty = body.type_of(left);
        let (result, overflow) = match &name[1..4] {
            "add" => {
                let sum = body.binary(BinaryOp::Add, left, right);
                let overflow = if signed {
                    // Both operands have the sign that the sum does not have.
                    let operand = body.binary(BinaryOp::Xor, left, sum);
                    let y = body.binary(BinaryOp::Xor, right, sum);
                    let both = body.binary(BinaryOp::And, operand, y);
                    body.icmp_int(IntCc::Slt, both, 0)
                } else {
                    body.icmp(IntCc::Ult, sum, left)
                };
                (sum, overflow)
            }
            "sub" => {
                let difference = body.binary(BinaryOp::Sub, left, right);
                let overflow = if signed {
                    // The operands' signs differ, and the difference does not have the first's.
                    let operand = body.binary(BinaryOp::Xor, left, right);
                    let y = body.binary(BinaryOp::Xor, left, difference);
                    let both = body.binary(BinaryOp::And, operand, y);
                    body.icmp_int(IntCc::Slt, both, 0)
                } else {
                    body.icmp(IntCc::Ult, left, right)
                };
                (difference, overflow)
            }
            _ => {
                if ty.bits() > 64 {
                    refuse!("a checked product of {} bits", ty.bits());
                }
                let wide = Type::Int(2 * ty.bits() as u16);
                let extend = if signed { UnaryOp::Sext } else { UnaryOp::Zext };
                let (operand, y) = (body.unary(extend, wide, left), body.unary(extend, wide, right));
                let product = body.binary(BinaryOp::Mul, operand, y);
                let low = body.unary(UnaryOp::Trunc, ty, product);
                let again = body.unary(extend, wide, low);
                (low, body.icmp(IntCc::Ne, again, product))
            }
        };
        results.push(result);
        flags.push(overflow);
    }
    results.extend(flags);
    Ok(results.into())
}

/// Shift left, saturating.
pub(super) fn shl_sat<'m>(body: &mut Body<'_, 'm>, instruction: LlvmValue<'m>, signed: bool) -> Attempt<Lanes> {
    import_binary(body, instruction, |body, value, distance| saturate_shift(body, value, distance, signed))
}

/// A value shifted left, or the end of its type's range where that does not hold the result.
fn saturate_shift(body: &mut Body<'_, '_>, value: Value, distance: Value, signed: bool) -> Value {
    let scalar_type = body.type_of(value);
    let shifted = body.binary(BinaryOp::Shl, value, distance);
    let shift_back = if signed { BinaryOp::Ashr } else { BinaryOp::Lshr };
    let shifted_back = body.binary(shift_back, shifted, distance);
    let fits = body.icmp(IntCc::Eq, shifted_back, value);
    let limit = if signed {
        let largest = body.int_constant(scalar_type, scalar_type.value_mask() >> 1);
        let smallest = body.int_constant(scalar_type, (scalar_type.value_mask() >> 1) + 1);
        let is_negative = body.icmp_int(IntCc::Slt, value, 0);
        body.select(is_negative, smallest, largest)
    } else {
        body.int_constant(scalar_type, scalar_type.value_mask())
    };
    body.select(fits, shifted, limit)
}

/// -1, 0 or 1 as the first is less than, equal to or greater than the second.
pub(super) fn three_way<'m>(body: &mut Body<'_, 'm>, instruction: LlvmValue<'m>, signed: bool) -> Attempt<Lanes> {
    let (less, greater) = if signed { (IntCc::Slt, IntCc::Sgt) } else { (IntCc::Ult, IntCc::Ugt) };
    let pairs = import_binary(body, instruction, |body, left, right| body.icmp(less, left, right))?;
    let greater = import_binary(body, instruction, |body, left, right| body.icmp(greater, left, right))?;
    let types = body.leaf_types(instruction.ty())?;
    let less = map_typed_lanes(&pairs, &types, |value, ty| body.unary(UnaryOp::Zext, ty, value));
    let greater = map_typed_lanes(&greater, &types, |value, ty| body.unary(UnaryOp::Zext, ty, value));
    let lanes = greater.iter().zip(less.iter());
    Ok(lanes.map(|(&greater, &less)| body.binary(BinaryOp::Sub, greater, less)).collect())
}

/// llvm.is.fpclass: tests on the bits, which raise no exception and flush nothing.
pub(super) fn is_fpclass<'m>(body: &mut Body<'_, 'm>, instruction: LlvmValue<'m>) -> Attempt<Lanes> {
    let arguments = body.operand_lanes(instruction, 0)?;
    let Some(classes) = operand_of(instruction, 1)?.int_bits() else {
        refuse!("the instruction `{}`", instruction.text());
    };
    Ok(map_lanes(&arguments, |value| is_of_classes(body, value, classes as u32)))
}

fn is_of_classes(body: &mut Body<'_, '_>, value: Value, classes: u32) -> Value {
    const SIGNALING: u32 = 1;
    const QUIET: u32 = 2;
    let float = body.type_of(value);
    let mantissa = match float {
        Type::F16 => 10,
        Type::F32 => 23,
        _ => 52,
    };
    let bits = body.bits_of(value);
    let ty = body.type_of(bits);
    let infinity = (ty.value_mask() >> 1) >> mantissa << mantissa;
    let quiet = infinity | 1 << (mantissa - 1);
    let abs = body.binary_int(BinaryOp::And, bits, ty.value_mask() >> 1);
    let negative = body.icmp_int(IntCc::Slt, bits, 0);
    let mut tests = Vec::new();
    match classes & (SIGNALING | QUIET) {
        0 => {}
        QUIET => tests.push(body.icmp_int(IntCc::Uge, abs, quiet)),
        both => {
            let nan = body.icmp_int(IntCc::Ugt, abs, infinity);
            tests.push(if both == SIGNALING {
                let not_quiet = body.icmp_int(IntCc::Ult, abs, quiet);
                body.binary(BinaryOp::And, nan, not_quiet)
            } else {
                nan
            });
        }
    }
    // Magnitudes from the first to the last bit pattern, with their classes' bits: negative, positive.
    let normal = 1u128 << mantissa;
    let magnitudes = [
        (infinity, infinity, 1 << 2, 1 << 9),
        (normal, infinity - 1, 1 << 3, 1 << 8),
        (1, normal - 1, 1 << 4, 1 << 7),
        (0, 0, 1 << 5, 1 << 6),
    ];
    for (first, last, minus, plus) in magnitudes {
        let (minus, plus) = (classes & minus != 0, classes & plus != 0);
        if !minus && !plus {
            continue;
        }
        let mut test = if first == last {
            body.icmp_int(IntCc::Eq, abs, first)
        } else {
            let from_first = body.binary_int(BinaryOp::Sub, abs, first);
            body.icmp_int(IntCc::Ule, from_first, last - first)
        };
        if !plus {
            test = body.binary(BinaryOp::And, test, negative);
        } else if !minus {
            let positive = body.binary_int(BinaryOp::Xor, negative, 1);
            test = body.binary(BinaryOp::And, test, positive);
        }
        tests.push(test);
    }
    let mut tests = tests.into_iter();
    let Some(mut any_lane) = tests.next() else {
        return body.int_constant(Type::BOOL, 0);
    };
    for test in tests {
        any_lane = body.binary(BinaryOp::Or, any_lane, test);
    }
    any_lane
}
