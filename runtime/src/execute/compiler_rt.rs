//! Arithmetic that LLVM leaves to a run-time library: half precision and 128-bit integers.
//!
//! The x86-64 calling convention passes a half in the low 16 bits of a vector register. An `f32` travels in the same
//! register, so the functions take and return halves as the bits of an `f32`.

/// A half in the low bits of a register.
type HalfRegister = f32;

fn half_bits(register: HalfRegister) -> u16 {
    register.to_bits() as u16
}

fn half_register(bit_pattern: u16) -> HalfRegister {
    f32::from_bits(u32::from(bit_pattern))
}

/// The exact value of a half.
pub(super) fn half_to_f32(half_bits: u16) -> f32 {
    let sign_bit = u32::from(half_bits >> 15) << 31;
    let exponent = u32::from(half_bits >> 10) & 0x1f;
    let fraction = u32::from(half_bits) & 0x3ff;
    let magnitude = match (exponent, fraction) {
        (0, _) => return f32::from_bits(sign_bit | (fraction as f32 * (1.0 / 16_777_216.0)).to_bits()),
        (0x1f, 0) => 0x7f80_0000,
        // The quiet bit is set, as the hardware does.
        (0x1f, _) => 0x7fc0_0000 | (fraction << 13),
        _ => ((exponent + 112) << 23) | (fraction << 13),
    };
    f32::from_bits(sign_bit | magnitude)
}

/// The nearest half, ties to even, in one rounding.
pub(super) fn f64_to_half(value: f64) -> u16 {
    let bit_pattern = value.to_bits();
    let sign_bit = (bit_pattern >> 48) as u16 & 0x8000;
    let exponent = ((bit_pattern >> 52) & 0x7ff) as i32 - 1023;
    let fraction = bit_pattern & ((1 << 52) - 1);
    if exponent == 1024 {
        let payload = if fraction == 0 { 0 } else { 0x200 | (fraction >> 42) as u16 };
        return sign_bit | 0x7c00 | payload;
    }
    if exponent >= 16 {
        return sign_bit | 0x7c00;
    }
    if exponent < -25 {
        return sign_bit;
    }
    // The significand with its hidden bit; halves below 2^-14 have fewer bits.
    let significand = fraction | (1 << 52);
    let distance = if exponent >= -14 { 42 } else { 42 + (-14 - exponent) };
    let kept_bits = significand >> distance;
    let lost_bits = significand & ((1 << distance) - 1);
    let half_way = 1 << (distance - 1);
    let rounded = kept_bits + u64::from(lost_bits > half_way || (lost_bits == half_way && kept_bits & 1 == 1));
    // Where the hidden bit is kept it adds one to the exponent, and so does a carry out of the fraction: from the
    // largest denormal to the smallest normal half, and from the largest half to infinity.
    let exponent_bits = if exponent >= -14 { ((exponent + 14) as u64) << 10 } else { 0 };
    sign_bit | (exponent_bits + rounded) as u16
}

/// The nearest bfloat16, ties to even.
fn f32_to_bfloat(value: f32) -> u16 {
    let bit_pattern = value.to_bits();
    if value.is_nan() {
        return (bit_pattern >> 16) as u16 | 0x40;
    }
    ((bit_pattern + 0x7fff + ((bit_pattern >> 16) & 1)) >> 16) as u16
}

pub(super) extern "C" fn extend_half_to_float(operand: HalfRegister) -> f32 {
    half_to_f32(half_bits(operand))
}

pub(super) extern "C" fn extend_half_to_double(operand: HalfRegister) -> f64 {
    f64::from(half_to_f32(half_bits(operand)))
}

pub(super) extern "C" fn truncate_float_to_half(value: f32) -> HalfRegister {
    half_register(f64_to_half(f64::from(value)))
}

pub(super) extern "C" fn truncate_double_to_half(value: f64) -> HalfRegister {
    half_register(f64_to_half(value))
}

pub(super) extern "C" fn half_bits_to_float(half_bits: u16) -> f32 {
    half_to_f32(half_bits)
}

pub(super) extern "C" fn float_to_half_bits(value: f32) -> u16 {
    f64_to_half(f64::from(value))
}

pub(super) extern "C" fn truncate_float_to_bfloat(value: f32) -> HalfRegister {
    half_register(f32_to_bfloat(value))
}

pub(super) extern "C" fn truncate_double_to_bfloat(value: f64) -> HalfRegister {
    // Rounding to odd first keeps the second rounding from seeing a tie that was none.
    let nearest = value as f32;
    let exact = f64::from(nearest) == value || value.is_nan();
    let odd_neighbour = if exact || nearest.to_bits() & 1 == 1 {
        nearest
    } else if f64::from(nearest.abs()) < value.abs() {
        f32::from_bits(nearest.to_bits() + 1)
    } else {
        f32::from_bits(nearest.to_bits() - 1)
    };
    half_register(f32_to_bfloat(odd_neighbour))
}

pub(super) extern "C" fn divide_unsigned(left: u128, right: u128) -> u128 {
    left.checked_div(right).unwrap_or(0)
}

pub(super) extern "C" fn remainder_unsigned(left: u128, right: u128) -> u128 {
    left.checked_rem(right).unwrap_or(0)
}

pub(super) extern "C" fn divide_signed(left: i128, right: i128) -> i128 {
    if right == 0 { 0 } else { left.wrapping_div(right) }
}

pub(super) extern "C" fn remainder_signed(left: i128, right: i128) -> i128 {
    if right == 0 { 0 } else { left.wrapping_rem(right) }
}

pub(super) extern "C" fn multiply_wide(left: i128, right: i128) -> i128 {
    left.wrapping_mul(right)
}

pub(super) extern "C" fn shift_left(operand: i128, distance: i32) -> i128 {
    operand.wrapping_shl(distance as u32)
}

pub(super) extern "C" fn shift_right(operand: i128, distance: i32) -> i128 {
    operand.wrapping_shr(distance as u32)
}

pub(super) extern "C" fn shift_right_unsigned(operand: u128, distance: i32) -> u128 {
    operand.wrapping_shr(distance as u32)
}

/// # Safety
/// `overflow` must be valid for a write; generated code passes the address of a variable of its own.
pub(super) unsafe extern "C" fn multiply_with_overflow(left: i128, right: i128, overflow: *mut i32) -> i128 {
    let (product, overflowed) = left.overflowing_mul(right);
    // SAFETY: the caller vouches for the pointer.
    unsafe { overflow.write(i32::from(overflowed)) };
    product
}

macro_rules! conversions {
    ($($name:ident: $from:ty => $to:ty;)*) => {
        $(pub(super) extern "C" fn $name(value: $from) -> $to { value as $to })*
    };
}

conversions! {
    float_to_signed: f32 => i128;
    double_to_signed: f64 => i128;
    float_to_unsigned: f32 => u128;
    double_to_unsigned: f64 => u128;
    signed_to_float: i128 => f32;
    signed_to_double: i128 => f64;
    unsigned_to_float: u128 => f32;
    unsigned_to_double: u128 => f64;
}

pub(super) extern "C" fn float_power(base: f32, exponent: i32) -> f32 {
    base.powi(exponent)
}

pub(super) extern "C" fn double_power(base: f64, exponent: i32) -> f64 {
    base.powi(exponent)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_half_survives_the_way_there_and_back() {
        for half_bits in 0..=u16::MAX {
            let value = half_to_f32(half_bits);
            let back = f64_to_half(f64::from(value));
            if value.is_nan() {
                assert_eq!(back, half_bits | 0x200, "a NaN becomes quiet and keeps its payload");
            } else {
                assert_eq!(back, half_bits);
            }
        }
    }

    #[test]
    fn halves_have_the_values_of_the_standard() {
        assert_eq!(half_to_f32(0x3c00), 1.0);
        assert_eq!(half_to_f32(0xc000), -2.0);
        assert_eq!(half_to_f32(0x7bff), 65504.0);
        assert_eq!(half_to_f32(0x0001), 2.0_f32.powi(-24));
        assert_eq!(half_to_f32(0x0400), 2.0_f32.powi(-14));
        assert_eq!(half_to_f32(0xfc00), f32::NEG_INFINITY);
        assert_eq!(half_to_f32(0x8000).to_bits(), (-0.0_f32).to_bits());
    }

    /// Between two neighbours the halfway point goes to the even one, and anything beyond it to the nearer one.
    #[test]
    fn rounding_is_to_nearest_even() {
        for half_bits in 0..0x7bff_u16 {
            let (low, high) = (f64::from(half_to_f32(half_bits)), f64::from(half_to_f32(half_bits + 1)));
            let middle = (low + high) / 2.0;
            let even = if half_bits & 1 == 0 { half_bits } else { half_bits + 1 };
            assert_eq!(f64_to_half(middle), even, "{half_bits:#x}");
            assert_eq!(f64_to_half(middle.next_down()), half_bits, "{half_bits:#x}");
            assert_eq!(f64_to_half(middle.next_up()), half_bits + 1, "{half_bits:#x}");
            assert_eq!(f64_to_half(-middle), even | 0x8000);
        }
    }

    #[test]
    fn what_is_too_large_becomes_infinite() {
        assert_eq!(f64_to_half(65519.999), 0x7bff);
        assert_eq!(f64_to_half(65520.0), 0x7c00);
        assert_eq!(f64_to_half(f64::MAX), 0x7c00);
        assert_eq!(f64_to_half(2.0_f64.powi(-25)), 0);
        assert_eq!(f64_to_half(2.0_f64.powi(-25).next_up()), 1);
        assert_eq!(f64_to_half(f64::MIN_POSITIVE), 0);
    }

    #[test]
    fn bfloat_rounds_once() {
        let one_and_a_bit = f64::from(f32::from_bits(0x3f80_8000));
        assert_eq!(half_bits(truncate_double_to_bfloat(one_and_a_bit)), 0x3f80, "a tie goes to even");
        assert_eq!(half_bits(truncate_double_to_bfloat(one_and_a_bit.next_up())), 0x3f81);
        assert_eq!(half_bits(truncate_double_to_bfloat(one_and_a_bit.next_down())), 0x3f80);
        assert_eq!(half_bits(truncate_float_to_bfloat(f32::MAX)), 0x7f80);
    }

    #[test]
    fn wide_division_never_traps() {
        assert_eq!(divide_signed(i128::MIN, -1), i128::MIN);
        assert_eq!(remainder_signed(i128::MIN, -1), 0);
        assert_eq!((divide_unsigned(7, 0), remainder_unsigned(7, 0)), (0, 0));
        assert_eq!(divide_signed(-7, 2), -3);
        assert_eq!(remainder_signed(-7, 2), -1);
    }
}
