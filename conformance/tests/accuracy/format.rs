//! The three floating-point types, all of whose values an `f64` holds, and errors in units of their last place.

use half::f16;
use lockstep_conformance::Plain;
use rug::Float;

/// Bits of a reference value: twice those of a double, so that its own rounding does not show.
pub const PRECISION: u32 = 120;

/// A type of the built-in functions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Type {
    Half,
    Float,
    Double,
}

impl Type {
    /// Its name in OpenCL C.
    pub fn name(self) -> &'static str {
        match self {
            Self::Half => "half",
            Self::Float => "float",
            Self::Double => "double",
        }
    }

    /// The unsigned integer of its size.
    pub fn bits_name(self) -> &'static str {
        match self {
            Self::Half => "ushort",
            Self::Float => "uint",
            Self::Double => "ulong",
        }
    }

    /// Bits behind the point.
    pub fn mantissa(self) -> i32 {
        match self {
            Self::Half => 10,
            Self::Float => 23,
            Self::Double => 52,
        }
    }

    /// The exponent of the largest values.
    pub fn largest(self) -> i32 {
        match self {
            Self::Half => 15,
            Self::Float => 127,
            Self::Double => 1023,
        }
    }

    /// The exponent of the smallest normal values.
    pub fn smallest(self) -> i32 {
        1 - self.largest()
    }

    /// The smallest normal value.
    pub fn least_normal(self) -> f64 {
        2f64.powi(self.smallest())
    }

    /// The largest finite value.
    pub fn most(self) -> f64 {
        (2.0 - 2f64.powi(-self.mantissa())) * 2f64.powi(self.largest())
    }

    /// The value of these bits.
    pub fn value(self, bits: u64) -> f64 {
        match self {
            Self::Half => f16::from_bits(bits as u16).to_f64(),
            Self::Float => f64::from(f32::from_bits(bits as u32)),
            Self::Double => f64::from_bits(bits),
        }
    }

    /// The bits of the value nearest to this one.
    pub fn bits(self, value: f64) -> u64 {
        match self {
            Self::Half => u64::from(f16::from_f64(value).to_bits()),
            Self::Float => u64::from((value as f32).to_bits()),
            Self::Double => value.to_bits(),
        }
    }

    /// The value nearest to this one.
    pub fn rounded(self, value: f64) -> f64 {
        self.value(self.bits(value))
    }

    /// Values as a kernel takes them.
    pub fn encode(self, values: &[f64]) -> Vec<u8> {
        fn bytes<T: Plain>(values: impl Iterator<Item = T>) -> Vec<u8> {
            T::to_bytes(&values.collect::<Vec<T>>()).to_vec()
        }
        match self {
            Self::Half => bytes(values.iter().map(|&value| f16::from_f64(value).to_bits())),
            Self::Float => bytes(values.iter().map(|&value| value as f32)),
            Self::Double => bytes(values.iter().copied()),
        }
    }

    /// What [`Type::encode`] was given.
    pub fn decode(self, bytes: &[u8]) -> Vec<f64> {
        match self {
            Self::Half => u16::from_bytes(bytes).into_iter().map(|bits| f16::from_bits(bits).to_f64()).collect(),
            Self::Float => f32::from_bytes(bytes).into_iter().map(f64::from).collect(),
            Self::Double => f64::from_bytes(bytes),
        }
    }

    /// The exponent of the unit in the last place of a value with this exponent.
    fn unit(self, exponent: i32) -> i32 {
        exponent.clamp(self.smallest(), self.largest()) - self.mantissa()
    }

    /// How far `got` is from what is nearly `want`, in ulp; infinite where it is of another kind. Not for doubles.
    pub fn error_nearly(self, got: f64, want: f64) -> f64 {
        let beyond = power_of_two(self.largest() + 1);
        if got.is_nan() || want.is_nan() {
            return if got.is_nan() && want.is_nan() { 0.0 } else { f64::INFINITY };
        }
        if (got == 0.0 || want == 0.0)
            && (got.is_sign_negative() != want.is_sign_negative() || got != 0.0 && want == 0.0)
        {
            return f64::INFINITY;
        }
        let exponent = (want.to_bits() >> 52 & 0x7ff) as i32 - 1023;
        let scale = power_of_two(-self.unit(exponent));
        (got.clamp(-beyond, beyond) - want.clamp(-beyond, beyond)).abs() * scale
    }

    /// How far `got` is from `want`, in ulp; infinite where it is of another kind.
    pub fn error(self, got: f64, want: &Float) -> f64 {
        if got.is_nan() || want.is_nan() {
            return if got.is_nan() && want.is_nan() { 0.0 } else { f64::INFINITY };
        }
        if want.is_infinite() {
            return if got.is_infinite() && got.is_sign_negative() == want.is_sign_negative() {
                0.0
            } else {
                f64::INFINITY
            };
        }
        if (got == 0.0 || want.is_zero())
            && (got.is_sign_negative() != want.is_sign_negative() || got != 0.0 && want.is_zero())
        {
            return f64::INFINITY;
        }
        if want.is_zero() {
            return 0.0;
        }
        let beyond = Float::with_val(PRECISION, 1) << (self.largest() + 1);
        let within = |value: Float| match value {
            value if value > beyond => beyond.clone(),
            value if value < Float::with_val(PRECISION, -&beyond) => Float::with_val(PRECISION, -&beyond),
            value => value,
        };
        // MPFR's significands are below one.
        let exponent = want.get_exp().map_or(self.smallest(), |exponent| exponent.saturating_sub(1));
        let got = within(Float::with_val(PRECISION, got));
        let distance = Float::with_val(2 * PRECISION, &got - &within(want.clone()));
        (distance.abs() >> self.unit(exponent)).to_f64()
    }
}

/// A power that is a normal double.
fn power_of_two(exponent: i32) -> f64 {
    f64::from_bits(((1023 + exponent) as u64) << 52)
}

#[test]
fn errors_are_counted_in_units_of_the_last_place() {
    let number = |value: f64| Float::with_val(PRECISION, value);
    let next = f64::from(1.0_f32.next_up());
    for (got, want, error) in [
        (next, 1.0, 1.0),
        (1.0, 1.0, 0.0),
        (f64::from(f32::from_bits(3)), f64::from(f32::from_bits(1)), 2.0),
        (0.0, f64::from(f32::from_bits(1)), 1.0),
        (f64::INFINITY, f64::from(f32::MAX), 1.0),
        (f64::INFINITY, 1e300, 0.0),
        (f64::from(f32::MAX), 1e300, 1.0),
        (0.0, -0.0, f64::INFINITY),
        (0.0, -1e-300, f64::INFINITY),
        (f64::NAN, 1.0, f64::INFINITY),
        (1.0, f64::NAN, f64::INFINITY),
        (f64::NAN, f64::NAN, 0.0),
    ] {
        assert_eq!(Type::Float.error(got, &number(want)), error, "{got} for {want}");
        let nearly = Type::Float.error_nearly(got, want);
        assert!(nearly == error || (nearly - error).abs() < 1e-9, "{got} for {want}: nearly {nearly}");
    }
    assert_eq!(Type::Half.error(1.0, &number(1.0 + 1.0 / 2048.0)), 0.5);
    assert_eq!(Type::Double.error(f64::from_bits(1), &(number(1.5) * number(f64::from_bits(1)))), 0.5);
    assert_eq!(Type::Float.error(f64::from(f32::MAX), &number(f64::INFINITY)), f64::INFINITY);
}
