//! What functions are: references of 120 bits by MPFR, exact ones in double, and for many a quick one in double that is
//! off by a few units of its last place, far below what shows in a float.
//!
//! MPFR has the special values of C99 and IEEE 754, which section 7.5 takes over; where OpenCL's functions are others,
//! they are written down here.

use std::f64::consts::PI;

use rug::Float;
use rug::ops::Pow;

use crate::format::{PRECISION, Type};

/// The reference of a function.
#[derive(Clone, Copy)]
pub enum Exact {
    /// By MPFR.
    Long(fn(&[f64]) -> Float),
    /// In double, where it is exact; rounded once to the type.
    Double(fn(Type, &[f64]) -> f64),
}

impl Exact {
    /// The value.
    pub fn at(self, ty: Type, arguments: &[f64]) -> Float {
        match self {
            Self::Long(function) => function(arguments),
            Self::Double(function) => long(function(ty, arguments)),
        }
    }
}

/// The same value with more bits.
pub fn long(value: f64) -> Float {
    Float::with_val(PRECISION, value)
}

fn nan() -> Float {
    long(f64::NAN)
}

fn is_integer(x: f64) -> bool {
    x.trunc() == x
}

fn is_odd(x: f64) -> bool {
    is_integer(x) && !is_integer(x / 2.0)
}

/// `powr` at the edges of its domain, where it is not `pow`.
fn powr_undefined(x: f64, y: f64) -> bool {
    x < 0.0 || x.is_nan() || y.is_nan() || (y == 0.0 && (x == 0.0 || x.is_infinite())) || (x == 1.0 && y.is_infinite())
}

pub fn power(a: &[f64]) -> Float {
    long(a[0]).pow(&long(a[1]))
}

pub fn powr(a: &[f64]) -> Float {
    if powr_undefined(a[0], a[1]) { nan() } else { long(a[0].abs()).pow(&long(a[1])) }
}

pub fn powr_quick(a: &[f64]) -> f64 {
    if powr_undefined(a[0], a[1]) { f64::NAN } else { a[0].abs().powf(a[1]) }
}

/// The root of a magnitude gets its sign, or there is none.
fn root_sign(x: f64, n: f64) -> Option<f64> {
    let odd = is_odd(n);
    if n == 0.0 || x.is_nan() || (x < 0.0 && !odd) {
        return None;
    }
    Some(if odd { 1f64.copysign(x) } else { 1.0 })
}

pub fn root(a: &[f64]) -> Float {
    let Some(sign) = root_sign(a[0], a[1]) else { return nan() };
    let root = long(a[0].abs()).root(a[1].abs() as u32);
    let root = if a[1] < 0.0 { root.recip() } else { root };
    root * sign
}

pub fn root_quick(a: &[f64]) -> f64 {
    root_sign(a[0], a[1]).map_or(f64::NAN, |sign| sign * a[0].abs().powf(1.0 / a[1]))
}

pub fn log_gamma(a: &[f64]) -> Float {
    long(a[0]).ln_abs_gamma().0
}

/// The sign of the gamma function; 0 at its poles, as the specification says.
pub fn gamma_sign(_: Type, a: &[f64]) -> f64 {
    let x = a[0];
    match x {
        _ if x <= 0.0 && is_integer(x) && x.is_finite() => 0.0,
        _ if x < 0.0 && is_odd(x.floor()) => -1.0,
        _ => 1.0,
    }
}

fn turn(x: f64) -> f64 {
    x - 2.0 * (x / 2.0).round()
}

pub fn sinpi_quick(a: &[f64]) -> f64 {
    let t = turn(a[0]);
    if t == t.trunc() {
        return 0f64.copysign(a[0]);
    }
    (if t.abs() > 0.5 { (1.0 - t.abs()).copysign(t) } else { t } * PI).sin()
}

pub fn cospi_quick(a: &[f64]) -> f64 {
    let t = turn(a[0]).abs();
    if t == 0.5 {
        0.0
    } else if t < 0.25 {
        (t * PI).cos()
    } else {
        ((0.5 - t) * PI).sin()
    }
}

pub fn tanpi_quick(a: &[f64]) -> f64 {
    let t = turn(a[0]);
    if t == 0.0 {
        0f64.copysign(a[0])
    } else if t.abs() == 1.0 {
        0f64.copysign(-a[0])
    } else if t.abs() == 0.5 {
        f64::INFINITY.copysign(t)
    } else {
        sinpi_quick(a) / cospi_quick(a)
    }
}

/// With the sign of a zero, as IEEE 754 has it.
pub fn reciprocal_root(a: &[f64]) -> Float {
    if a[0] == 0.0 { long(1.0 / a[0]) } else { long(a[0]).recip_sqrt() }
}

pub fn hypot(a: &[f64]) -> Float {
    long(a[0]).hypot(&long(a[1]))
}

pub fn fma(a: &[f64]) -> Float {
    long(a[0]).mul_add(&long(a[1]), &long(a[2]))
}

/// `fdim`, with a NaN where either is.
pub fn positive_difference(a: &[f64]) -> Float {
    if a[0].is_nan() || a[1].is_nan() {
        nan()
    } else if a[0] > a[1] {
        // Enough for the largest less the smallest not to matter, and exact where they are close.
        long(a[0]) - long(a[1])
    } else {
        long(0.0)
    }
}

pub fn scaled(a: &[f64]) -> Float {
    long(a[0]) << (a[1].clamp(-5000.0, 5000.0) as i32)
}

fn pi() -> Float {
    Float::with_val(PRECISION, rug::float::Constant::Pi)
}

pub fn degrees(a: &[f64]) -> Float {
    long(a[0]) * 180 / pi()
}

pub fn radians(a: &[f64]) -> Float {
    long(a[0]) * pi() / 180
}

/// The low seven bits of the quotient that `remquo` rounds to an integer, with its sign.
pub fn quotient(_: Type, a: &[f64]) -> f64 {
    let (x, y) = (a[0].abs(), a[1].abs());
    if y.is_infinite() {
        return 0.0;
    }
    // Exact, every step of it: a remainder of 128 y, less that of y.
    let short = Float::with_val(PRECISION, long(x) % (long(y) * 128));
    let q = ((short - long(x).remainder(&long(y))) / long(y)).to_f64();
    let low = q.rem_euclid(128.0);
    // Not -0: this is an int.
    if low == 0.0 || a[0].is_sign_negative() == a[1].is_sign_negative() { low } else { -low }
}

pub fn remainder(a: &[f64]) -> Float {
    let rest = long(a[0]).remainder(&long(a[1]));
    // A zero has the sign of the first, which MPFR gives as well.
    if rest.is_zero() { long(0f64.copysign(a[0])) } else { rest }
}

pub fn fraction(ty: Type, a: &[f64]) -> f64 {
    let below_one = 1.0 - 2f64.powi(-ty.mantissa() - 1);
    if a[0].is_infinite() {
        return 0f64.copysign(a[0]);
    }
    let part = ty.rounded(a[0] - a[0].floor());
    if part.is_nan() || part == 0.0 { part.abs() + a[0] * 0.0 } else { part.min(below_one) }
}

/// The exponent of a finite number other than zero, as of its normalized form.
pub fn exponent(x: f64) -> f64 {
    let scaled = if x.abs() < f64::MIN_POSITIVE { x * 2f64.powi(64) } else { x };
    let exponent = (scaled.to_bits() >> 52 & 0x7ff) as f64 - 1023.0;
    if scaled == x { exponent } else { exponent - 64.0 }
}

pub fn significand(_: Type, a: &[f64]) -> f64 {
    let x = a[0];
    if x == 0.0 || !x.is_finite() {
        return x;
    }
    let normal = if x.abs() < f64::MIN_POSITIVE { x * 2f64.powi(64) } else { x };
    // The same bits with the exponent of one half.
    f64::from_bits(normal.to_bits() & !(0x7ff << 52) | 1022 << 52)
}

pub fn exponent_above(_: Type, a: &[f64]) -> f64 {
    if a[0] == 0.0 { 0.0 } else { exponent(a[0]) + 1.0 }
}

pub fn binary_exponent(_: Type, a: &[f64]) -> f64 {
    let x = a[0];
    match x {
        0.0 => f64::NEG_INFINITY,
        x if x.is_nan() => x,
        x if x.is_infinite() => f64::INFINITY,
        x => exponent(x),
    }
}

/// What `ilogb` says, with the values of the macros for 0 and infinity.
pub fn binary_exponent_int(_: Type, a: &[f64]) -> f64 {
    match a[0] {
        0.0 => f64::from(i32::MIN),
        x if x.is_infinite() => f64::from(i32::MAX),
        x => exponent(x),
    }
}

pub fn whole(_: Type, a: &[f64]) -> f64 {
    a[0].trunc()
}

pub fn behind_the_point(_: Type, a: &[f64]) -> f64 {
    if a[0].is_infinite() { 0f64.copysign(a[0]) } else { (a[0] - a[0].trunc()).copysign(a[0]) }
}

/// The other one where one is NaN, as IEEE 754-2008 has it.
pub fn larger(_: Type, a: &[f64]) -> f64 {
    a[0].max(a[1])
}

pub fn smaller(_: Type, a: &[f64]) -> f64 {
    a[0].min(a[1])
}

pub fn larger_magnitude(ty: Type, a: &[f64]) -> f64 {
    match a[0].abs().partial_cmp(&a[1].abs()) {
        Some(std::cmp::Ordering::Greater) => a[0],
        Some(std::cmp::Ordering::Less) => a[1],
        _ => larger(ty, a),
    }
}

pub fn smaller_magnitude(ty: Type, a: &[f64]) -> f64 {
    match a[0].abs().partial_cmp(&a[1].abs()) {
        Some(std::cmp::Ordering::Less) => a[0],
        Some(std::cmp::Ordering::Greater) => a[1],
        _ => smaller(ty, a),
    }
}

/// The neighbour of the first in the direction of the second.
pub fn neighbour(ty: Type, a: &[f64]) -> f64 {
    let (x, y) = (a[0], a[1]);
    if x.is_nan() || y.is_nan() {
        return f64::NAN;
    }
    if x == y {
        return y;
    }
    if x == 0.0 {
        return ty.value(1).copysign(y);
    }
    let bits = ty.bits(x);
    ty.value(if (x < y) == (x > 0.0) { bits + 1 } else { bits - 1 })
}

#[test]
fn references_agree_where_both_are_known() {
    for (quick, exact) in [
        (sinpi_quick as fn(&[f64]) -> f64, (|a| long(a[0]).sin_pi()) as fn(&[f64]) -> Float),
        (cospi_quick, |a| long(a[0]).cos_pi()),
        (tanpi_quick, |a| long(a[0]).tan_pi()),
    ] {
        for x in [0.0, -0.0, 0.1, -0.3, 0.5, -0.5, 0.75, 1.0, -1.0, 1.5, 2.0, -2.5, 1e6 + 0.125, 1e20] {
            let (got, want) = (quick(&[x]), exact(&[x]));
            assert!(Type::Float.error(got, &want) < 1e-6, "{x}: {got} and {want}");
        }
    }
    assert_eq!(root(&[-27.0, 3.0]), -3.0);
    assert_eq!(root(&[0.0, -3.0]), f64::INFINITY);
    assert!(root(&[-1.0, 2.0]).is_nan() && root(&[1.0, 0.0]).is_nan());
    assert_eq!(quotient(Type::Float, &[-7.0, 2.0]), -4.0);
    for x in [1.0, -0.75, 3e-300, f64::from_bits(5), -f64::MAX] {
        assert_eq!(long(significand(Type::Double, &[x])) << (exponent(x) as i32 + 1), x);
    }
    // Found with whole numbers: the third of 1e30 is beyond what a double counts.
    let nearest = (1e30_f64 as u128 + 1) / 3;
    assert_eq!(quotient(Type::Float, &[1e30, 3.0]), (nearest % 128) as f64);
}
