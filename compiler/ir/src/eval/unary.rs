//! Operations of one operand, casts among them.

use super::float::{self, from_binary64, to_binary64};
use super::integer::sign_extend;
use crate::ir::UnaryOp;
use lockstep_protocol::types::Type;

/// The bits of `opcode` on `operand` of type `from_type` with a result of type `to_type`. Not for `space_of`, which needs
/// memory: it gives 0 here.
pub fn evaluate_unary(opcode: UnaryOp, from_type: Type, to_type: Type, operand: u128) -> u128 {
    if let Some(bits) = float::evaluate_unary(opcode, from_type, operand) {
        return bits;
    }
    let bit_width = from_type.bits();
    let result = match opcode {
        UnaryOp::Freeze
        | UnaryOp::Trunc
        | UnaryOp::Zext
        | UnaryOp::Bitcast
        | UnaryOp::PtrToInt
        | UnaryOp::IntToPtr
        | UnaryOp::SpaceCast => operand,
        UnaryOp::Sext => sign_extend(operand, bit_width) as u128,
        UnaryOp::FpTrunc | UnaryOp::FpExt => from_binary64(to_type, to_binary64(from_type, operand)),
        UnaryOp::FpToSi | UnaryOp::FpToSiSat => {
            // Out of range is poison for the plain form: saturation will do for both.
            let maximum = (to_type.value_mask() >> 1) as i128;
            (to_binary64(from_type, operand) as i128).clamp(-maximum - 1, maximum) as u128
        }
        UnaryOp::FpToUi | UnaryOp::FpToUiSat => (to_binary64(from_type, operand) as u128).min(to_type.value_mask()),
        UnaryOp::SiToFp => from_signed(to_type, sign_extend(operand, bit_width)),
        UnaryOp::UiToFp => match i128::try_from(operand) {
            Ok(operand) => from_signed(to_type, operand),
            Err(_) if to_type == Type::F32 => (operand as f32).to_bits().into(),
            Err(_) => from_binary64(to_type, operand as f64),
        },
        UnaryOp::Popcount => operand.count_ones().into(),
        UnaryOp::Clz => (operand.leading_zeros() - (128 - bit_width)).into(),
        UnaryOp::Ctz => operand.trailing_zeros().min(bit_width).into(),
        UnaryOp::Bswap => operand.swap_bytes() >> (128 - bit_width),
        UnaryOp::Bitreverse => operand.reverse_bits() >> (128 - bit_width),
        UnaryOp::Iabs => sign_extend(operand, bit_width).unsigned_abs(),
        UnaryOp::SpaceOf
        | UnaryOp::Fneg
        | UnaryOp::Fabs
        | UnaryOp::Sqrt
        | UnaryOp::Rsqrt
        | UnaryOp::RecipEstimate
        | UnaryOp::RsqrtEstimate
        | UnaryOp::RsqrtNative
        | UnaryOp::Logb
        | UnaryOp::Significand
        | UnaryOp::Floor
        | UnaryOp::Ceil
        | UnaryOp::Ftrunc
        | UnaryOp::Rint
        | UnaryOp::Round
        | UnaryOp::Canonicalize
        | UnaryOp::ArithmeticFence => 0,
    };
    result & to_type.value_mask()
}

/// An integer rounded once to a float type.
fn from_signed(to_type: Type, number: i128) -> u128 {
    match to_type {
        Type::F32 => (number as f32).to_bits().into(),
        // Integers that binary64 rounds are far beyond binary16's range.
        _ => from_binary64(to_type, number as f64),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn casts_agree_with_rusts() {
        let numbers =
            [0.0f64, -0.0, 0.5, -0.5, 1.5, -1.5, 127.9, -128.9, 255.9, 1e10, -1e10, 1e30, f64::NAN, f64::INFINITY];
        for x in numbers {
            let bits = u128::from(x.to_bits());
            let cast = |opcode, to_type| evaluate_unary(opcode, Type::F64, to_type, bits);
            assert_eq!(cast(UnaryOp::FpToSiSat, Type::I8), u128::from(x as i8 as u8), "{x}");
            assert_eq!(cast(UnaryOp::FpToUiSat, Type::I8), u128::from(x as u8), "{x}");
            assert_eq!(cast(UnaryOp::FpToSiSat, Type::I64), u128::from(x as i64 as u64), "{x}");
            assert_eq!(cast(UnaryOp::FpToUiSat, Type::I64), u128::from(x as u64), "{x}");
        }
        for n in [0i64, 1, -1, 16_777_217, -16_777_219, i64::MIN, i64::MAX, 0x7fff_ff40_0000_0001] {
            let bits = u128::from(n as u64);
            assert_eq!(evaluate_unary(UnaryOp::SiToFp, Type::I64, Type::F32, bits), u128::from((n as f32).to_bits()));
            assert_eq!(
                evaluate_unary(UnaryOp::UiToFp, Type::I64, Type::F32, bits),
                u128::from((n as u64 as f32).to_bits())
            );
            assert_eq!(evaluate_unary(UnaryOp::SiToFp, Type::I64, Type::F64, bits), u128::from((n as f64).to_bits()));
        }
    }

    #[test]
    fn bit_operations_count_in_their_width() {
        for n in 0..=u8::MAX {
            let of = |opcode| evaluate_unary(opcode, Type::I8, Type::I8, n.into()) as u8;
            assert_eq!(u32::from(of(UnaryOp::Clz)), n.leading_zeros());
            assert_eq!(u32::from(of(UnaryOp::Ctz)), n.trailing_zeros());
            assert_eq!(u32::from(of(UnaryOp::Popcount)), n.count_ones());
            assert_eq!(of(UnaryOp::Bitreverse), n.reverse_bits());
            assert_eq!(of(UnaryOp::Iabs), (n as i8).wrapping_abs() as u8);
        }
        assert_eq!(evaluate_unary(UnaryOp::Bswap, Type::I32, Type::I32, 0x1122_3344), 0x4433_2211);
    }

    #[test]
    fn every_binary16_survives_binary32_and_fma_is_rounded_once() {
        for bits in 0..=u16::MAX {
            let wide = evaluate_unary(UnaryOp::FpExt, Type::F16, Type::F32, bits.into());
            if !to_binary64(Type::F32, wide).is_nan() {
                assert_eq!(evaluate_unary(UnaryOp::FpTrunc, Type::F32, Type::F16, wide), bits.into());
            }
        }
        // 1 + 2^-10 squared is 1 + 2^-9 + 2^-20: its sticky bit decides a tie once -2^-11... are added.
        let one = 0x3c01;
        let tie = 0x1000; // 2^-11
        let exact = to_binary64(Type::F16, one) * to_binary64(Type::F16, one) + to_binary64(Type::F16, tie);
        assert_eq!(float::evaluate_fma(Type::F16, one, one, tie), from_binary64(Type::F16, exact));
    }
}
