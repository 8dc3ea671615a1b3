//! Integer operations of any width from 1 to 128 on bits held in `u128`.

use super::Undefined;
use crate::ir::{BinaryOp, IntCc};
use lockstep_protocol::types::Type;

/// The number that `bits` mean as a signed integer of `bit_width` bits.
pub fn sign_extend(bits: u128, bit_width: u32) -> i128 {
    let up = 128 - bit_width;
    ((bits << up) as i128) >> up
}

fn signed_limits(bit_width: u32) -> (i128, i128) {
    let maximum = (u128::MAX >> (129 - bit_width).min(127)) as i128;
    let maximum = if bit_width == 1 { 0 } else { maximum };
    (-maximum - 1, maximum)
}

/// Whether a comparison of two integers (or addresses) of a type holds.
pub fn evaluate_compare(comparison: IntCc, operand_type: Type, left: u128, right: u128) -> bool {
    let (sa, sb) = (sign_extend(left, operand_type.bits()), sign_extend(right, operand_type.bits()));
    match comparison {
        IntCc::Eq => left == right,
        IntCc::Ne => left != right,
        IntCc::Slt => sa < sb,
        IntCc::Sle => sa <= sb,
        IntCc::Sgt => sa > sb,
        IntCc::Sge => sa >= sb,
        IntCc::Ult => left < right,
        IntCc::Ule => left <= right,
        IntCc::Ugt => left > right,
        IntCc::Uge => left >= right,
    }
}

/// The result's bits; `None` for operations on floats.
pub fn evaluate_binary(opcode: BinaryOp, bit_width: u32, left: u128, right: u128) -> Option<Result<u128, Undefined>> {
    let mask = u128::MAX >> (128 - bit_width);
    let (sa, sb) = (sign_extend(left, bit_width), sign_extend(right, bit_width));
    let (min, maximum) = signed_limits(bit_width);
    let clamp = |n: i128| n.clamp(min, maximum) as u128;
    // Counts not below the width give poison: some count is as good as another.
    let count = (right % u128::from(bit_width)) as u32;
    let undefined = |what| Some(Err(Undefined(what)));
    let result = match opcode {
        BinaryOp::Add => left.wrapping_add(right),
        BinaryOp::Sub => left.wrapping_sub(right),
        BinaryOp::Mul => left.wrapping_mul(right),
        BinaryOp::Udiv | BinaryOp::Sdiv | BinaryOp::Urem | BinaryOp::Srem if right == 0 => {
            return undefined("division by zero");
        }
        BinaryOp::Sdiv | BinaryOp::Srem if sa == min && sb == -1 => {
            return undefined("the least integer divided by -1");
        }
        BinaryOp::Udiv => left / right,
        BinaryOp::Urem => left % right,
        BinaryOp::Sdiv => (sa / sb) as u128,
        BinaryOp::Srem => (sa % sb) as u128,
        BinaryOp::And => left & right,
        BinaryOp::Or => left | right,
        BinaryOp::Xor => left ^ right,
        BinaryOp::Shl => left << count,
        BinaryOp::Lshr => left >> count,
        BinaryOp::Ashr => (sa >> count) as u128,
        BinaryOp::Smin => sa.min(sb) as u128,
        BinaryOp::Smax => sa.max(sb) as u128,
        BinaryOp::Umin => left.min(right),
        BinaryOp::Umax => left.max(right),
        BinaryOp::SaddSat => clamp(sa.saturating_add(sb)),
        BinaryOp::SsubSat => clamp(sa.saturating_sub(sb)),
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

/// (left:right) shifted left by `count` modulo the width, the high half.
pub fn funnel_left(bit_width: u32, left: u128, right: u128, count: u128) -> u128 {
    let count = (count % u128::from(bit_width)) as u32;
    if count == 0 { left } else { (left << count | right >> (bit_width - count)) & (u128::MAX >> (128 - bit_width)) }
}

/// (left:right) shifted right by `count` modulo the width, the low half.
pub fn funnel_right(bit_width: u32, left: u128, right: u128, count: u128) -> u128 {
    let count = (count % u128::from(bit_width)) as u32;
    if count == 0 { right } else { (left << (bit_width - count) | right >> count) & (u128::MAX >> (128 - bit_width)) }
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
                let count = u128::from(ub);
                let rotated = funnel_left(8, ua.into(), ua.into(), count);
                assert_eq!(rotated, ua.rotate_left(u32::from(ub)).into());
                let rotated = funnel_right(8, ua.into(), ua.into(), count);
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
