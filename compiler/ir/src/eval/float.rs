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
pub(super) fn from_binary64(float_type: Type, x: f64) -> u128 {
    match float_type {
        Type::F16 => f16::from_f32(to_odd(x)).to_bits().into(),
        Type::F32 => (x as f32).to_bits().into(),
        _ => x.to_bits().into(),
    }
}

/// A binary64 in binary32, rounded to odd where it does not fit, so that rounding once more to binary16
/// gives what rounding once would (the `half` crate drops the lowest bits).
fn to_odd(x: f64) -> f32 {
    let near = x as f32;
    let back = f64::from(near);
    if back == x || x.is_nan() {
        return near;
    }
    let down = near.to_bits() - u32::from(back.abs() > x.abs());
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
    let sign = 1u128 << (operand_type.bits() - 1);
    Some(match opcode {
        BinaryOp::Fadd => in_type!(operand_type, [left, right], left + right),
        BinaryOp::Fsub => in_type!(operand_type, [left, right], left - right),
        BinaryOp::Fmul => in_type!(operand_type, [left, right], left * right),
        BinaryOp::Fdiv | BinaryOp::QuotientEstimate => in_type!(operand_type, [left, right], left / right),
        BinaryOp::Frem => in_type!(operand_type, [left, right], left % right),
        BinaryOp::Fmin => in_type!(operand_type, [left, right], left.min(right)),
        BinaryOp::Fmax => in_type!(operand_type, [left, right], left.max(right)),
        BinaryOp::Copysign => (left & !sign) | (right & sign),
        BinaryOp::Powered => scale_powered(f64::from_bits(left as u64), f64::from_bits(right as u64)).to_bits().into(),
        _ => return None,
    })
}

/// The result's bits for operations from a float type to itself; `None` for all others.
pub fn evaluate_unary(opcode: UnaryOp, operand_type: Type, a: u128) -> Option<u128> {
    let sign = 1u128 << (operand_type.bits() - 1);
    Some(match opcode {
        UnaryOp::Fneg => a ^ sign,
        UnaryOp::Fabs => a & !sign,
        UnaryOp::Sqrt => in_type!(operand_type, [a], a.sqrt()),
        UnaryOp::Rsqrt | UnaryOp::RsqrtEstimate | UnaryOp::RsqrtNative => in_type!(operand_type, [a], a.sqrt().recip()),
        UnaryOp::RecipEstimate => in_type!(operand_type, [a], a.recip()),
        UnaryOp::Logb => split_exponent(f64::from_bits(a as u64)).1.to_bits().into(),
        UnaryOp::Significand => split_exponent(f64::from_bits(a as u64)).0.to_bits().into(),
        UnaryOp::Floor => in_type!(operand_type, [a], a.floor()),
        UnaryOp::Ceil => in_type!(operand_type, [a], a.ceil()),
        UnaryOp::Ftrunc => in_type!(operand_type, [a], a.trunc()),
        UnaryOp::Rint => in_type!(operand_type, [a], a.round_ties_even()),
        UnaryOp::Round => in_type!(operand_type, [a], a.round()),
        UnaryOp::Canonicalize if to_binary64(operand_type, a).is_nan() => a | quiet_bit(operand_type),
        UnaryOp::Canonicalize => a,
        _ => return None,
    })
}

/// The m and n of x as m 2^n, as `UnaryOp::Significand` and `UnaryOp::Logb` have them.
fn split_exponent(x: f64) -> (f64, f64) {
    match x {
        x if x < 0.0 => (f64::NAN, f64::NAN),
        0.0 => (1.0, f64::NEG_INFINITY),
        x if x.is_infinite() => (1.0, x),
        x => {
            let (m, n) = libm::frexp(x);
            if m < 0.75 { (2.0 * m, f64::from(n - 1)) } else { (m, f64::from(n)) }
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
    let n = counted - if operand_type == Type::F32 { 12_583_166.0 } else { 6_755_399_441_057_790.0 };
    let half = (n / 2.0).floor();
    let power = |n: f64| from_binary64(operand_type, n.exp2());
    let [one, other] = [power(half), power(n - half)];
    in_type!(operand_type, [left, right, one, other], (left + right) * one * other)
}

/// (1 + excess) 2^n for the sixteenths n that `counts` counts, as `BinaryOp::Powered` has it.
fn scale_powered(excess: f64, counts: f64) -> f64 {
    let n = counts - COUNTS_SIXTEENTHS;
    if n.is_nan() {
        return n;
    }
    let root = f64::from_bits(ROOTS[(counts.to_bits() % 16) as usize]);
    libm::ldexp(root.mul_add(excess, root), n.floor() as i32)
}

/// left * right + addend, rounded once.
pub fn evaluate_fma(operand_type: Type, left: u128, right: u128, addend: u128) -> u128 {
    if operand_type == Type::F16 {
        // The product is exact in binary64; the sum is made odd where it is not.
        let product = to_binary64(operand_type, left) * to_binary64(operand_type, right);
        let addend = to_binary64(operand_type, addend);
        let sum = product + addend;
        let back = sum - product;
        let error = (product - (sum - back)) + (addend - back);
        let odd = if sum.is_finite() && error != 0.0 && sum.to_bits() & 1 == 0 {
            let up = (error > 0.0) == (sum > 0.0);
            f64::from_bits(if up { sum.to_bits() + 1 } else { sum.to_bits() - 1 })
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
