//! Intrinsics that become several instructions.

use super::emit::{Body, Lanes, map_lanes, map_typed_lanes, operand_of};
use super::error::{Attempt, refuse};
use super::intrinsics::import_binary;
use super::llvm::Value as LlvmValue;
use super::vectors::fold_lanes;
use lockstep_ir::ir::{BinaryOp, FastMath, FloatCc, IntCc, IntFlags, UnaryOp, Value};
use lockstep_protocol::types::Type;

/// llvm.vector.reduce.*: all elements combined, in order.
pub(super) fn expand_reduction<'m>(
    kernel_body: &mut Body<'_, 'm>,
    instruction: LlvmValue<'m>,
    reduction: &str,
) -> Attempt<Lanes> {
    let fast_math = FastMath(instruction.fast_math());
    let wrap_flags = IntFlags::default();
    let has_start = matches!(reduction, "fadd" | "fmul");
    let start_value = if has_start { Some(kernel_body.scalar_operand(instruction, 0)?) } else { None };
    let lanes = kernel_body.operand_lanes(instruction, u32::from(has_start))?;
    let opcode = match reduction {
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
            let is_maximum = reduction == "fmaximum";
            let so_far = fold_lanes(kernel_body, start_value, &lanes, |kernel_body, left, right| {
                minimum_or_maximum(kernel_body, left, right, is_maximum, true)
            })?;
            return Ok(Lanes::from([so_far]));
        }
        _ => refuse!("the reduction {reduction} is not supported"),
    };
    let so_far = fold_lanes(kernel_body, start_value, &lanes, |kernel_body, left, right| {
        kernel_body.binary_with(opcode, wrap_flags, fast_math, left, right)
    })?;
    Ok(Lanes::from([so_far]))
}

/// llvm.minimum and its relatives: -0 is less than +0; a NaN wins, or loses.
pub(super) fn minimum_maximum<'m>(
    kernel_body: &mut Body<'_, 'm>,
    instruction: LlvmValue<'m>,
    is_maximum: bool,
    nan_wins: bool,
) -> Attempt<Lanes> {
    import_binary(kernel_body, instruction, |kernel_body, left, right| {
        minimum_or_maximum(kernel_body, left, right, is_maximum, nan_wins)
    })
}

fn minimum_or_maximum(
    kernel_body: &mut Body<'_, '_>,
    left: Value,
    right: Value,
    is_maximum: bool,
    nan_wins: bool,
) -> Value {
    let scalar_type = kernel_body.type_of(left);
    // Equal numbers differ at most in the sign of zero: the minimum has it if one has, the maximum if
    // both have.
    let opcode = if is_maximum { BinaryOp::And } else { BinaryOp::Or };
    let (left_bits, right_bits) = (kernel_body.bits_of(left), kernel_body.bits_of(right));
    let combined_bits = kernel_body.binary(opcode, left_bits, right_bits);
    let combined = kernel_body.with_bits(scalar_type, combined_bits);
    let comparison = if is_maximum { FloatCc::Ogt } else { FloatCc::Olt };
    let left_wins = kernel_body.fcmp(comparison, left, right);
    let are_equal = kernel_body.fcmp(FloatCc::Oeq, left, right);
    let right_or_combined = kernel_body.select(are_equal, combined, right);
    let ordered = kernel_body.select(left_wins, left, right_or_combined);
    if nan_wins {
        let unordered = kernel_body.fcmp(FloatCc::Uno, left, right);
        let nan_sum = kernel_body.binary(BinaryOp::Fadd, left, right);
        kernel_body.select(unordered, nan_sum, ordered)
    } else {
        // `ordered` is b where one is NaN: right if a is.
        let right_is_nan = kernel_body.fcmp(FloatCc::Uno, right, right);
        kernel_body.select(right_is_nan, left, ordered)
    }
}

/// Arithmetic with a flag that says whether it overflowed: all results, then all flags.
pub(super) fn with_overflow<'m>(
    kernel_body: &mut Body<'_, 'm>,
    instruction: LlvmValue<'m>,
    name: &str,
) -> Attempt<Lanes> {
    let left_lanes = kernel_body.operand_lanes(instruction, 0)?;
    let right_lanes = kernel_body.operand_lanes(instruction, 1)?;
    let is_signed = name.starts_with('s');
    let mut results = Vec::with_capacity(2 * left_lanes.len());
    let mut overflow_flags = Vec::with_capacity(left_lanes.len());
    for (&left, &right) in left_lanes.iter().zip(right_lanes.iter()) {
        let scalar_type = kernel_body.type_of(left);
        let (result, overflow) = match &name[1..4] {
            "add" => {
                let wide_sum = kernel_body.binary(BinaryOp::Add, left, right);
                let overflow = if is_signed {
                    // Both operands have the sign that the sum does not have.
                    signs_differ_twice(kernel_body, (left, wide_sum), (right, wide_sum))
                } else {
                    kernel_body.icmp(IntCc::Ult, wide_sum, left)
                };
                (wide_sum, overflow)
            }
            "sub" => {
                let difference = kernel_body.binary(BinaryOp::Sub, left, right);
                let overflow = if is_signed {
                    // The operands' signs differ, and the difference does not have the first's.
                    signs_differ_twice(kernel_body, (left, right), (left, difference))
                } else {
                    kernel_body.icmp(IntCc::Ult, left, right)
                };
                (difference, overflow)
            }
            _ => {
                if scalar_type.bits() > 64 {
                    refuse!("a checked product of {} bits", scalar_type.bits());
                }
                let wide_type = Type::Int(2 * scalar_type.bits() as u16);
                let extension = if is_signed { UnaryOp::Sext } else { UnaryOp::Zext };
                let (wide_left, wide_right) =
                    (kernel_body.unary(extension, wide_type, left), kernel_body.unary(extension, wide_type, right));
                let product = kernel_body.binary(BinaryOp::Mul, wide_left, wide_right);
                let low_half = kernel_body.unary(UnaryOp::Trunc, scalar_type, product);
                let extended_again = kernel_body.unary(extension, wide_type, low_half);
                (low_half, kernel_body.icmp(IntCc::Ne, extended_again, product))
            }
        };
        results.push(result);
        overflow_flags.push(overflow);
    }
    results.extend(overflow_flags);
    Ok(results.into())
}

/// Whether the signs of both pairs differ.
fn signs_differ_twice(kernel_body: &mut Body<'_, '_>, first: (Value, Value), second: (Value, Value)) -> Value {
    let [first_signs, second_signs] =
        [first, second].map(|(left, right)| kernel_body.binary(BinaryOp::Xor, left, right));
    let both_signs = kernel_body.binary(BinaryOp::And, first_signs, second_signs);
    kernel_body.icmp_int(IntCc::Slt, both_signs, 0)
}

/// Shift left, saturating.
pub(super) fn shl_sat<'m>(
    kernel_body: &mut Body<'_, 'm>,
    instruction: LlvmValue<'m>,
    is_signed: bool,
) -> Attempt<Lanes> {
    import_binary(kernel_body, instruction, |kernel_body, value, distance| {
        saturate_shift(kernel_body, value, distance, is_signed)
    })
}

/// A value shifted left, or the end of its type's range where that does not hold the result.
fn saturate_shift(kernel_body: &mut Body<'_, '_>, value: Value, distance: Value, signed: bool) -> Value {
    let scalar_type = kernel_body.type_of(value);
    let shifted = kernel_body.binary(BinaryOp::Shl, value, distance);
    let shift_back = if signed { BinaryOp::Ashr } else { BinaryOp::Lshr };
    let shifted_back = kernel_body.binary(shift_back, shifted, distance);
    let fits = kernel_body.icmp(IntCc::Eq, shifted_back, value);
    let limit = if signed {
        let largest = kernel_body.int_constant(scalar_type, scalar_type.value_mask() >> 1);
        let smallest = kernel_body.int_constant(scalar_type, (scalar_type.value_mask() >> 1) + 1);
        let is_negative = kernel_body.icmp_int(IntCc::Slt, value, 0);
        kernel_body.select(is_negative, smallest, largest)
    } else {
        kernel_body.int_constant(scalar_type, scalar_type.value_mask())
    };
    kernel_body.select(fits, shifted, limit)
}

/// -1, 0 or 1 as the first is less than, equal to or greater than the second.
pub(super) fn three_way<'m>(
    kernel_body: &mut Body<'_, 'm>,
    instruction: LlvmValue<'m>,
    is_signed: bool,
) -> Attempt<Lanes> {
    let (less_comparison, greater) = if is_signed { (IntCc::Slt, IntCc::Sgt) } else { (IntCc::Ult, IntCc::Ugt) };
    let pairs = import_binary(kernel_body, instruction, |kernel_body, left, right| {
        kernel_body.icmp(less_comparison, left, right)
    })?;
    let greater =
        import_binary(kernel_body, instruction, |kernel_body, left, right| kernel_body.icmp(greater, left, right))?;
    let types = kernel_body.leaf_types(instruction.ty())?;
    let is_less =
        map_typed_lanes(&pairs, &types, |value, scalar_type| kernel_body.unary(UnaryOp::Zext, scalar_type, value));
    let greater =
        map_typed_lanes(&greater, &types, |value, scalar_type| kernel_body.unary(UnaryOp::Zext, scalar_type, value));
    let lanes = greater.iter().zip(is_less.iter());
    Ok(lanes.map(|(&greater, &less)| kernel_body.binary(BinaryOp::Sub, greater, less)).collect())
}

/// llvm.is.fpclass: tests on the bits, which raise no exception and flush nothing.
pub(super) fn is_fpclass<'m>(kernel_body: &mut Body<'_, 'm>, instruction: LlvmValue<'m>) -> Attempt<Lanes> {
    let arguments = kernel_body.operand_lanes(instruction, 0)?;
    let Some(classes) = operand_of(instruction, 1)?.int_bits() else {
        refuse!("the instruction `{}`", instruction.text());
    };
    Ok(map_lanes(&arguments, |value| is_of_classes(kernel_body, value, classes as u32)))
}

fn is_of_classes(kernel_body: &mut Body<'_, '_>, value: Value, classes: u32) -> Value {
    const SIGNALING: u32 = 1;
    const QUIET: u32 = 2;
    let float_type = kernel_body.type_of(value);
    let mantissa = match float_type {
        Type::F16 => 10,
        Type::F32 => 23,
        _ => 52,
    };
    let value_bits = kernel_body.bits_of(value);
    let scalar_type = kernel_body.type_of(value_bits);
    let infinity = (scalar_type.value_mask() >> 1) >> mantissa << mantissa;
    let quiet_bit = infinity | 1 << (mantissa - 1);
    let magnitude = kernel_body.binary_int(BinaryOp::And, value_bits, scalar_type.value_mask() >> 1);
    let negative = kernel_body.icmp_int(IntCc::Slt, value_bits, 0);
    let mut class_tests = Vec::new();
    match classes & (SIGNALING | QUIET) {
        0 => {}
        QUIET => class_tests.push(kernel_body.icmp_int(IntCc::Uge, magnitude, quiet_bit)),
        both => {
            let is_nan = kernel_body.icmp_int(IntCc::Ugt, magnitude, infinity);
            class_tests.push(if both == SIGNALING {
                let not_quiet = kernel_body.icmp_int(IntCc::Ult, magnitude, quiet_bit);
                kernel_body.binary(BinaryOp::And, is_nan, not_quiet)
            } else {
                is_nan
            });
        }
    }
    // Magnitudes from the first to the last bit pattern, with their classes' bits: negative, positive.
    let smallest_normal = 1u128 << mantissa;
    let magnitudes = [
        (infinity, infinity, 1 << 2, 1 << 9),
        (smallest_normal, infinity - 1, 1 << 3, 1 << 8),
        (1, smallest_normal - 1, 1 << 4, 1 << 7),
        (0, 0, 1 << 5, 1 << 6),
    ];
    for (first, last, negative_class, positive_class) in magnitudes {
        let (takes_negative, takes_positive) = (classes & negative_class != 0, classes & positive_class != 0);
        if !takes_negative && !takes_positive {
            continue;
        }
        let mut class_test = if first == last {
            kernel_body.icmp_int(IntCc::Eq, magnitude, first)
        } else {
            let from_first = kernel_body.binary_int(BinaryOp::Sub, magnitude, first);
            kernel_body.icmp_int(IntCc::Ule, from_first, last - first)
        };
        if !takes_positive {
            class_test = kernel_body.binary(BinaryOp::And, class_test, negative);
        } else if !takes_negative {
            let positive = kernel_body.binary_int(BinaryOp::Xor, negative, 1);
            class_test = kernel_body.binary(BinaryOp::And, class_test, positive);
        }
        class_tests.push(class_test);
    }
    let mut class_tests = class_tests.into_iter();
    let Some(mut any_class) = class_tests.next() else {
        return kernel_body.int_constant(Type::BOOL, 0);
    };
    for class_test in class_tests {
        any_class = kernel_body.binary(BinaryOp::Or, any_class, class_test);
    }
    any_class
}
