//! Integer operations of any width from 1 to 128 on bits held in `u128`.

use super::Undefined;
use crate::ir::{BinaryOp, IntCc};
use lockstep_protocol::types::Type;

/// The number that `bits` mean as a signed integer of `bit_width` bits.
pub fn sign_extend(bits: u128, bit_width: u32) -> i128 {
    let unused_bits = 128 - bit_width;
    ((bits << unused_bits) as i128) >> unused_bits
}

fn signed_limits(bit_width: u32) -> (i128, i128) {
    let maximum = (u128::MAX >> (129 - bit_width).min(127)) as i128;
    let maximum = if bit_width == 1 { 0 } else { maximum };
    (-maximum - 1, maximum)
}

/// Whether a comparison of two integers (or addresses) of a type holds.
pub fn evaluate_compare(comparison: IntCc, operand_type: Type, left: u128, right: u128) -> bool {
    let (left_signed, right_signed) = (sign_extend(left, operand_type.bits()), sign_extend(right, operand_type.bits()));
    match comparison {
        IntCc::Eq => left == right,
        IntCc::Ne => left != right,
        IntCc::Slt => left_signed < right_signed,
        IntCc::Sle => left_signed <= right_signed,
        IntCc::Sgt => left_signed > right_signed,
        IntCc::Sge => left_signed >= right_signed,
        IntCc::Ult => left < right,
        IntCc::Ule => left <= right,
        IntCc::Ugt => left > right,
        IntCc::Uge => left >= right,
    }
}

/// The result's bits; `None` for operations on floats.
pub fn evaluate_binary(opcode: BinaryOp, bit_width: u32, left: u128, right: u128) -> Option<Result<u128, Undefined>> {
    let mask = u128::MAX >> (128 - bit_width);
    let (left_signed, right_signed) = (sign_extend(left, bit_width), sign_extend(right, bit_width));
    let (minimum, maximum) = signed_limits(bit_width);
    let clamp = |number: i128| number.clamp(minimum, maximum) as u128;
    // Counts not below the width give poison: some count is as good as another.
    let shift_amount = (right % u128::from(bit_width)) as u32;
    let undefined = |message| Some(Err(Undefined(message)));
    let result = match opcode {
        BinaryOp::Add => left.wrapping_add(right),
        BinaryOp::Sub => left.wrapping_sub(right),
        BinaryOp::Mul => left.wrapping_mul(right),
        BinaryOp::Udiv | BinaryOp::Sdiv | BinaryOp::Urem | BinaryOp::Srem if right == 0 => {
            return undefined("division by zero");
        }
        BinaryOp::Sdiv | BinaryOp::Srem if left_signed == minimum && right_signed == -1 => {
            return undefined("the least integer divided by -1");
        }
        BinaryOp::Udiv => left / right,
        BinaryOp::Urem => left % right,
        BinaryOp::Sdiv => (left_signed / right_signed) as u128,
        BinaryOp::Srem => (left_signed % right_signed) as u128,
        BinaryOp::And => left & right,
        BinaryOp::Or => left | right,
        BinaryOp::Xor => left ^ right,
        BinaryOp::Shl => left << shift_amount,
        BinaryOp::Lshr => left >> shift_amount,
        BinaryOp::Ashr => (left_signed >> shift_amount) as u128,
        BinaryOp::Smin => left_signed.min(right_signed) as u128,
        BinaryOp::Smax => left_signed.max(right_signed) as u128,
        BinaryOp::Umin => left.min(right),
        BinaryOp::Umax => left.max(right),
        BinaryOp::SaddSat => clamp(left_signed.saturating_add(right_signed)),
        BinaryOp::SsubSat => clamp(left_signed.saturating_sub(right_signed)),
        BinaryOp::UaddSat => left.saturating_add(right).min(mask),
        BinaryOp::UsubSat => left.saturating_sub(right),
        BinaryOp::Fadd
        | BinaryOp::Fsub
        | BinaryOp::Fmul
        | BinaryOp::Fdiv
        | BinaryOp::QuotientEstimate
        | BinaryOp::Frem
        | BinaryOp::Fmin
        | BinaryOp::Fmax
        | BinaryOp::Copysign
        | BinaryOp::Powered => return None,
    };
    Some(Ok(result & mask))
}

/// (left:right) shifted left by `shift_amount` modulo the width, the high half.
pub fn funnel_left(bit_width: u32, left: u128, right: u128, shift_amount: u128) -> u128 {
    let shift_amount = (shift_amount % u128::from(bit_width)) as u32;
    if shift_amount == 0 {
        left
    } else {
        (left << shift_amount | right >> (bit_width - shift_amount)) & (u128::MAX >> (128 - bit_width))
    }
}

/// (left:right) shifted right by `shift_amount` modulo the width, the low half.
pub fn funnel_right(bit_width: u32, left: u128, right: u128, shift_amount: u128) -> u128 {
    let shift_amount = (shift_amount % u128::from(bit_width)) as u32;
    if shift_amount == 0 {
        right
    } else {
        (left << (bit_width - shift_amount) | right >> shift_amount) & (u128::MAX >> (128 - bit_width))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(opcode: BinaryOp, bit_width: u32, left: i128, right: i128) -> i128 {
        let mask = u128::MAX >> (128 - bit_width);
        sign_extend(
            evaluate_binary(opcode, bit_width, left as u128 & mask, right as u128 & mask).unwrap().unwrap(),
            bit_width,
        )
    }

    #[test]
    fn narrow_integers_behave_as_rusts_bytes() {
        for a in i8::MIN..=i8::MAX {
            for b in i8::MIN..=i8::MAX {
                let (ua, ub) = (a as u8, b as u8);
                let cases = [
                    (BinaryOp::Add, a.wrapping_add(b)),
                    (BinaryOp::Sub, a.wrapping_sub(b)),
                    (BinaryOp::Mul, a.wrapping_mul(b)),
                    (BinaryOp::Smin, a.min(b)),
                    (BinaryOp::Smax, a.max(b)),
                    (BinaryOp::Umin, ua.min(ub) as i8),
                    (BinaryOp::Umax, ua.max(ub) as i8),
                    (BinaryOp::SaddSat, a.saturating_add(b)),
                    (BinaryOp::SsubSat, a.saturating_sub(b)),
                    (BinaryOp::UaddSat, ua.saturating_add(ub) as i8),
                    (BinaryOp::UsubSat, ua.saturating_sub(ub) as i8),
                    (BinaryOp::Shl, a.wrapping_shl(u32::from(ub & 7))),
                ];
                for (opcode, expected) in cases {
                    let right = if opcode == BinaryOp::Shl { i128::from(b & 7) } else { i128::from(b) };
                    assert_eq!(value(opcode, 8, a.into(), right), expected.into(), "{a} {opcode:?} {right}");
                }
                if b != 0 && !(a == i8::MIN && b == -1) {
                    assert_eq!(value(BinaryOp::Sdiv, 8, a.into(), b.into()), (a / b).into());
                    assert_eq!(value(BinaryOp::Srem, 8, a.into(), b.into()), (a % b).into());
                    assert_eq!(value(BinaryOp::Udiv, 8, a.into(), b.into()), ((ua / ub) as i8).into());
                    assert_eq!(value(BinaryOp::Urem, 8, a.into(), b.into()), ((ua % ub) as i8).into());
                } else {
                    let bits = |n: i8| u128::from(n as u8);
                    assert!(evaluate_binary(BinaryOp::Sdiv, 8, bits(a), bits(b)).unwrap().is_err());
                }
                let shift_amount = u128::from(ub);
                let rotated = funnel_left(8, ua.into(), ua.into(), shift_amount);
                assert_eq!(rotated, ua.rotate_left(u32::from(ub)).into());
                let rotated = funnel_right(8, ua.into(), ua.into(), shift_amount);
                assert_eq!(rotated, ua.rotate_right(u32::from(ub)).into());
            }
        }
    }

    #[test]
    fn limits_of_the_least_and_the_greatest_width() {
        assert_eq!(signed_limits(1), (-1, 0));
        assert_eq!(signed_limits(2), (-2, 1));
        assert_eq!(signed_limits(64), (i64::MIN.into(), i64::MAX.into()));
        assert_eq!(signed_limits(128), (i128::MIN, i128::MAX));
        assert_eq!(value(BinaryOp::SaddSat, 128, i128::MAX, 1), i128::MAX);
        assert_eq!(value(BinaryOp::Mul, 128, i128::MIN, -1), i128::MIN);
    }
}
