//! Floating-point operations on bits held in `u128`.
//!
//! binary16 is computed in binary32 and rounded, which is exact for sums, products, quotients and square
//! roots (24 >= 2 * 11 + 2 bits); its fused multiply-add is computed in binary64 rounded to odd.

use crate::ir::{BinaryOp, COUNTS_SIXTEENTHS, FloatCc, ROOTS, UnaryOp};
use half::f16;
use lockstep_protocol::types::Type;

/// A float as binary64, exactly.
pub(super) fn to_binary64(float_type: Type, bits: u128) -> f64 {
    match float_type {
        Type::F16 => f16::from_bits(bits as u16).to_f64(),
        Type::F32 => f64::from(f32::from_bits(bits as u32)),
        _ => f64::from_bits(bits as u64),
    }
}

/// A binary64 rounded to a type.
pub(super) fn from_binary64(float_type: Type, number: f64) -> u128 {
    match float_type {
        Type::F16 => f16::from_f32(to_odd(number)).to_bits().into(),
        Type::F32 => (number as f32).to_bits().into(),
        _ => number.to_bits().into(),
    }
}

/// A binary64 in binary32, rounded to odd where it does not fit, so that rounding once more to binary16
/// gives what rounding once would (the `half` crate drops the lowest bits).
fn to_odd(number: f64) -> f32 {
    let nearest = number as f32;
    let nearest_exact = f64::from(nearest);
    if nearest_exact == number || number.is_nan() {
        return nearest;
    }
    let down = nearest.to_bits() - u32::from(nearest_exact.abs() > number.abs());
    f32::from_bits(down | 1)
}

/// Applies an operation in the type itself (binary16 in binary32).
macro_rules! in_type {
    ($ty:expr, [$($x:ident),+], $result:expr) => {
        match $ty {
            Type::F16 => {
                $(let $x = f16::from_bits($x as u16).to_f32();)+
                f16::from_f32($result).to_bits().into()
            }
            Type::F32 => {
                $(let $x = f32::from_bits($x as u32);)+
                ($result).to_bits().into()
            }
            _ => {
                $(let $x = f64::from_bits($x as u64);)+
                ($result).to_bits().into()
            }
        }
    };
}

/// The result's bits; `None` for operations on integers.
pub fn evaluate_binary(opcode: BinaryOp, operand_type: Type, left: u128, right: u128) -> Option<u128> {
    let sign_bit = 1u128 << (operand_type.bits() - 1);
    Some(match opcode {
        BinaryOp::Fadd => in_type!(operand_type, [left, right], left + right),
        BinaryOp::Fsub => in_type!(operand_type, [left, right], left - right),
        BinaryOp::Fmul => in_type!(operand_type, [left, right], left * right),
        BinaryOp::Fdiv | BinaryOp::QuotientEstimate => in_type!(operand_type, [left, right], left / right),
        BinaryOp::Frem => in_type!(operand_type, [left, right], left % right),
        BinaryOp::Fmin => in_type!(operand_type, [left, right], left.min(right)),
        BinaryOp::Fmax => in_type!(operand_type, [left, right], left.max(right)),
        BinaryOp::Copysign => (left & !sign_bit) | (right & sign_bit),
        BinaryOp::Powered => scale_powered(f64::from_bits(left as u64), f64::from_bits(right as u64)).to_bits().into(),
        _ => return None,
    })
}

/// The result's bits for operations from a float type to itself; `None` for all others.
pub fn evaluate_unary(opcode: UnaryOp, operand_type: Type, operand: u128) -> Option<u128> {
    let sign_bit = 1u128 << (operand_type.bits() - 1);
    Some(match opcode {
        UnaryOp::Fneg => operand ^ sign_bit,
        UnaryOp::Fabs => operand & !sign_bit,
        UnaryOp::Sqrt => in_type!(operand_type, [operand], operand.sqrt()),
        UnaryOp::Rsqrt | UnaryOp::RsqrtEstimate | UnaryOp::RsqrtNative => {
            in_type!(operand_type, [operand], operand.sqrt().recip())
        }
        UnaryOp::RecipEstimate => in_type!(operand_type, [operand], operand.recip()),
        UnaryOp::Logb => split_exponent(f64::from_bits(operand as u64)).1.to_bits().into(),
        UnaryOp::Significand => split_exponent(f64::from_bits(operand as u64)).0.to_bits().into(),
        UnaryOp::Floor => in_type!(operand_type, [operand], operand.floor()),
        UnaryOp::Ceil => in_type!(operand_type, [operand], operand.ceil()),
        UnaryOp::Ftrunc => in_type!(operand_type, [operand], operand.trunc()),
        UnaryOp::Rint => in_type!(operand_type, [operand], operand.round_ties_even()),
        UnaryOp::Round => in_type!(operand_type, [operand], operand.round()),
        UnaryOp::Canonicalize if to_binary64(operand_type, operand).is_nan() => operand | quiet_bit(operand_type),
        UnaryOp::Canonicalize | UnaryOp::ArithmeticFence => operand,
        _ => return None,
    })
}

/// The m and n of x as m 2^n, as `UnaryOp::Significand` and `UnaryOp::Logb` have them.
fn split_exponent(number: f64) -> (f64, f64) {
    match number {
        number if number < 0.0 => (f64::NAN, f64::NAN),
        0.0 => (1.0, f64::NEG_INFINITY),
        number if number.is_infinite() => (1.0, number),
        number => {
            let (fraction, exponent) = libm::frexp(number);
            if fraction < 0.75 { (2.0 * fraction, f64::from(exponent - 1)) } else { (fraction, f64::from(exponent)) }
        }
    }
}

fn quiet_bit(float_type: Type) -> u128 {
    match float_type {
        Type::F16 => 1 << 9,
        Type::F32 => 1 << 22,
        _ => 1 << 51,
    }
}

/// (left + right) 2^n for the n that `counts` counts, as `TernaryOp::Scaled` has it.
pub fn evaluate_scaled(operand_type: Type, left: u128, right: u128, counts: u128) -> u128 {
    let counted = to_binary64(operand_type, counts);
    let exponent = counted - if operand_type == Type::F32 { 12_583_166.0 } else { 6_755_399_441_057_790.0 };
    let half = (exponent / 2.0).floor();
    let power_bits = |exponent: f64| from_binary64(operand_type, exponent.exp2());
    let [first_power, second_power] = [power_bits(half), power_bits(exponent - half)];
    in_type!(operand_type, [left, right, first_power, second_power], (left + right) * first_power * second_power)
}

/// (1 + excess) 2^n for the sixteenths n that `counts` counts, as `BinaryOp::Powered` has it.
fn scale_powered(excess: f64, counts: f64) -> f64 {
    let exponent = counts - COUNTS_SIXTEENTHS;
    if exponent.is_nan() {
        return exponent;
    }
    let root = f64::from_bits(ROOTS[(counts.to_bits() % 16) as usize]);
    libm::ldexp(root.mul_add(excess, root), exponent.floor() as i32)
}

/// left * right + addend, rounded once.
pub fn evaluate_fma(operand_type: Type, left: u128, right: u128, addend: u128) -> u128 {
    if operand_type == Type::F16 {
        // The product is exact in binary64; the sum is made odd where it is not.
        let product = to_binary64(operand_type, left) * to_binary64(operand_type, right);
        let addend = to_binary64(operand_type, addend);
        let sum = product + addend;
        let sum_part = sum - product;
        let error = (product - (sum - sum_part)) + (addend - sum_part);
        let odd = if sum.is_finite() && error != 0.0 && sum.to_bits() & 1 == 0 {
            let rounds_up = (error > 0.0) == (sum > 0.0);
            f64::from_bits(if rounds_up { sum.to_bits() + 1 } else { sum.to_bits() - 1 })
        } else {
            sum
        };
        return from_binary64(operand_type, odd);
    }
    in_type!(operand_type, [left, right, addend], left.mul_add(right, addend))
}

/// Whether a comparison of two floats of a type holds.
pub fn evaluate_compare(comparison: FloatCc, operand_type: Type, left: u128, right: u128) -> bool {
    let (left, right) = (to_binary64(operand_type, left), to_binary64(operand_type, right));
    let unordered = left.is_nan() || right.is_nan();
    match comparison {
        FloatCc::Oeq => left == right,
        FloatCc::Ogt => left > right,
        FloatCc::Oge => left >= right,
        FloatCc::Olt => left < right,
        FloatCc::Ole => left <= right,
        FloatCc::One => !unordered && left != right,
        FloatCc::Ord => !unordered,
        FloatCc::Uno => unordered,
        FloatCc::Ueq => unordered || left == right,
        FloatCc::Ugt => unordered || left > right,
        FloatCc::Uge => unordered || left >= right,
        FloatCc::Ult => unordered || left < right,
        FloatCc::Ule => unordered || left <= right,
        FloatCc::Une => unordered || left != right,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn halves_are_rounded_once() {
        // Between 1 and the next half: exactly, and a little to either side.
        let middle = 1.0 + 1.0 / 2048.0;
        assert_eq!(from_binary64(Type::F16, middle), 0x3c00);
        assert_eq!(from_binary64(Type::F16, middle + 1e-12), 0x3c01);
        assert_eq!(from_binary64(Type::F16, middle - 1e-12), 0x3c00);
        assert_eq!(from_binary64(Type::F16, -(middle + 2.0 / 2048.0 - 1e-15)), 0xbc01);
        assert_eq!(from_binary64(Type::F16, 65520.0 - 1e-9), 0x7bff);
        assert_eq!(from_binary64(Type::F16, 1e300), 0x7c00);
        assert_eq!(from_binary64(Type::F16, -1e-300), 0x8000);
        assert_eq!(from_binary64(Type::F16, f64::INFINITY), 0x7c00);
    }
}
