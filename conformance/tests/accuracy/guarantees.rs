//! What functions promise beyond a bound in ulp: a range that no result leaves, and arguments whose result is exact.

use std::f64::consts::{FRAC_PI_2, PI};

use crate::exact;
use crate::format::Type;

/// The least and the largest result.
pub type Limits = [f64; 2];

/// What no result leaves, in words and for each type.
#[derive(Clone, Copy)]
pub struct Range {
    pub shown: &'static str,
    pub limits: fn(Type) -> Limits,
}

/// Arguments whose result is the exact one, bit for bit.
#[derive(Clone, Copy, Debug)]
pub struct Point {
    pub arguments: [f64; 2],
    pub want: f64,
}

/// The promises of one function.
pub struct Guarantee {
    /// As in the tables of errors.
    pub name: &'static str,
    /// Of all results that are not NaN.
    pub range: Option<Range>,
    /// Where results are exact, in words.
    pub exact: &'static str,
    /// These arguments, or a sample of them.
    pub points: fn(Type) -> Vec<Point>,
}

/// The promises of the function of this name.
pub fn of(name: &str) -> Option<&'static Guarantee> {
    ALL.iter().find(|guarantee| guarantee.name == name)
}

/// The range of the function of this name in this type.
pub fn limits(name: &str, ty: Type) -> Option<Limits> {
    of(name)?.range.map(|range| (range.limits)(ty))
}

const fn promise(
    name: &'static str,
    range: Option<Range>,
    exact: &'static str,
    points: fn(Type) -> Vec<Point>,
) -> Guarantee {
    Guarantee { name, range, exact, points }
}

const fn range(shown: &'static str, limits: fn(Type) -> Limits) -> Option<Range> {
    Some(Range { shown, limits })
}

const UNIT: Option<Range> = range("[-1, 1]", |_| [-1.0, 1.0]);
const HALF_UNIT: Option<Range> = range("[-1/2, 1/2]", |_| [-0.5, 0.5]);
const QUARTER_TURN: Option<Range> = range("[-π/2, π/2]", |ty| [-ty.rounded(FRAC_PI_2), ty.rounded(FRAC_PI_2)]);
const HALF_TURN: Option<Range> = range("[-π, π]", |ty| [-ty.rounded(PI), ty.rounded(PI)]);
const ZERO_TO_PI: Option<Range> = range("[0, π]", |ty| [0.0, ty.rounded(PI)]);
const ZERO_TO_ONE: Option<Range> = range("[0, 1]", |_| [0.0, 1.0]);
const ZERO_TO_TWO: Option<Range> = range("[0, 2]", |_| [0.0, 2.0]);
const FRACTION: Option<Range> = range("[0, 1)", |ty| [0.0, one_less(ty)]);
const SIGNED_FRACTION: Option<Range> = range("(-1, 1)", |ty| [-one_less(ty), one_less(ty)]);
const NOT_NEGATIVE: Option<Range> = range("[0, ∞]", |_| [0.0, f64::INFINITY]);
const ONE_AND_MORE: Option<Range> = range("[1, ∞]", |_| [1.0, f64::INFINITY]);
const MINUS_ONE_AND_MORE: Option<Range> = range("[-1, ∞]", |_| [-1.0, f64::INFINITY]);

/// All promises, in the order of the page.
pub const ALL: &[Guarantee] = &[
    promise("sin", UNIT, "±0", signed_zeros),
    promise("cos", UNIT, "±0", one_at_zero),
    promise("sincos, sine", UNIT, "±0", signed_zeros),
    promise("sincos, cosine", UNIT, "±0", one_at_zero),
    promise("tan", None, "±0", signed_zeros),
    promise("asin", QUARTER_TURN, "±0", signed_zeros),
    promise("acos", ZERO_TO_PI, "1", |_| given(&[(1.0, 0.0)])),
    promise("atan", QUARTER_TURN, "±0", signed_zeros),
    promise("atan2", HALF_TURN, "±0 and x > 0", |_| {
        vec![point(0.0, 2.5, 0.0), point(-0.0, 2.5, -0.0), point(0.0, f64::INFINITY, 0.0)]
    }),
    promise("sinpi", UNIT, "multiples of 1/2", |ty| turns(ty, 0.5, exact::sinpi_quick)),
    promise("cospi", UNIT, "multiples of 1/2", |ty| turns(ty, 0.5, exact::cospi_quick)),
    promise("tanpi", None, "multiples of 1/4", |ty| turns(ty, 0.25, tangent_of_turns)),
    promise("asinpi", HALF_UNIT, "±0, ±1", |_| odd(&[(0.0, 0.0), (1.0, 0.5)])),
    promise("acospi", ZERO_TO_ONE, "±0, ±1", |_| given(&[(0.0, 0.5), (-0.0, 0.5), (1.0, 0.0), (-1.0, 1.0)])),
    promise("atanpi", HALF_UNIT, "±0, ±1, ±∞", |_| odd(&[(0.0, 0.0), (1.0, 0.25), (f64::INFINITY, 0.5)])),
    promise("atan2pi", UNIT, "multiples of an eighth of a turn", directions),
    promise("sinh", None, "±0", signed_zeros),
    promise("cosh", ONE_AND_MORE, "±0", one_at_zero),
    promise("tanh", UNIT, "±0, ±∞", |_| odd(&[(0.0, 0.0), (f64::INFINITY, 1.0)])),
    promise("asinh", None, "±0", signed_zeros),
    promise("acosh", NOT_NEGATIVE, "1", |_| given(&[(1.0, 0.0)])),
    promise("atanh", None, "±0", signed_zeros),
    promise("exp", NOT_NEGATIVE, "±0", one_at_zero),
    promise("exp2", NOT_NEGATIVE, "integers", |ty| powers_of_two(ty).map(|(k, power)| point(k, 0.0, power)).collect()),
    promise("exp10", NOT_NEGATIVE, "integers whose power the type has", |ty| {
        powers_of_ten(ty).map(|(k, power)| point(k, 0.0, power)).collect()
    }),
    promise("expm1", MINUS_ONE_AND_MORE, "±0, -∞", |_| {
        [signed_zeros(Type::Float), given(&[(f64::NEG_INFINITY, -1.0)])].concat()
    }),
    promise("log", None, "1", |_| given(&[(1.0, 0.0)])),
    promise("log2", None, "powers of two", |ty| powers_of_two(ty).map(|(k, power)| point(power, 0.0, k)).collect()),
    promise("log10", None, "powers of ten that the type has", |ty| {
        powers_of_ten(ty).map(|(k, power)| point(power, 0.0, k)).collect()
    }),
    promise("log1p", None, "±0", signed_zeros),
    promise("pow", None, POWERS, |ty| [powers(ty), first_powers(ty), negative_powers(ty)].concat()),
    promise("pown", None, POWERS, |ty| [powers(ty), first_powers(ty), negative_powers(ty)].concat()),
    promise("powr", NOT_NEGATIVE, POWERS, |ty| {
        let all = [powers(ty), first_powers(ty)].concat().into_iter();
        all.filter(|point| point.arguments[0] > 0.0 && point.arguments[0] < f64::INFINITY).collect()
    }),
    promise("rootn", None, "n = 1; powers of integers to the same n", roots),
    promise("cbrt", None, "cubes", |ty| root_of_powers(ty, 3)),
    promise("sqrt", NOT_NEGATIVE, "squares", |ty| root_of_powers(ty, 2)),
    promise("rsqrt", None, "powers of four", |ty| {
        let normal = powers_of_two(ty).filter(|(k, _)| k % 2.0 == 0.0 && *k >= f64::from(ty.smallest()));
        normal.map(|(k, power)| point(power, 0.0, (-k / 2.0).exp2())).collect()
    }),
    promise("hypot", NOT_NEGATIVE, "one argument ±0; whole triangles", hypotenuses),
    promise("erf", UNIT, "±0, ±∞", |_| odd(&[(0.0, 0.0), (f64::INFINITY, 1.0)])),
    promise("erfc", ZERO_TO_TWO, "±0, ±∞", |_| {
        given(&[(0.0, 1.0), (-0.0, 1.0), (f64::INFINITY, 0.0), (f64::NEG_INFINITY, 2.0)])
    }),
    promise("lgamma", None, "1, 2", |_| given(&[(1.0, 0.0), (2.0, 0.0)])),
    promise("lgamma_r", None, "1, 2", |_| given(&[(1.0, 0.0), (2.0, 0.0)])),
    promise("fract", FRACTION, "all", nothing),
    promise("modf", SIGNED_FRACTION, "all", nothing),
];

const POWERS: &str =
    "y = 0, y = 1, x = 1; x^n of integers n and integers x (or those times powers of two) that the type has";

/// The largest value below one.
fn one_less(ty: Type) -> f64 {
    1.0 - 2f64.powi(-ty.mantissa() - 1)
}

fn point(a: f64, b: f64, want: f64) -> Point {
    Point { arguments: [a, b], want }
}

fn nothing(_: Type) -> Vec<Point> {
    Vec::new()
}

fn given(pairs: &[(f64, f64)]) -> Vec<Point> {
    pairs.iter().map(|&(argument, want)| point(argument, 0.0, want)).collect()
}

/// Of an odd function, whose results at the negative arguments are the negative ones.
fn odd(pairs: &[(f64, f64)]) -> Vec<Point> {
    pairs.iter().flat_map(|&(argument, want)| [point(argument, 0.0, want), point(-argument, 0.0, -want)]).collect()
}

fn signed_zeros(_: Type) -> Vec<Point> {
    odd(&[(0.0, 0.0)])
}

fn one_at_zero(_: Type) -> Vec<Point> {
    given(&[(0.0, 1.0), (-0.0, 1.0)])
}

fn tangent_of_turns(a: &[f64]) -> f64 {
    let eighths = a[0] * 4.0 % 4.0;
    match eighths.abs() {
        1.0 => 1f64.copysign(eighths),
        3.0 => -1f64.copysign(eighths),
        _ => exact::tanpi_quick(a),
    }
}

/// Multiples of a fraction of pi, as long as the type has them.
fn turns(ty: Type, step: f64, function: fn(&[f64]) -> f64) -> Vec<Point> {
    let few = (0..1000).map(|n| f64::from(n) * step);
    let large = (8..ty.mantissa() + 4).flat_map(|power| [-step, 0.0, step].map(|more| 2f64.powi(power) + more));
    let all = few.chain(large).filter(|&x| ty.rounded(x) == x && x <= ty.most());
    // With their quick reference, whose turns are taken off exactly; what is left is near to -1, 0, 1 or is infinite.
    let near = |x: f64| if x.abs() > 2.0 { x } else { x.round().copysign(x) };
    all.flat_map(|x| [x, -x]).map(|x| point(x, 0.0, near(function(&[x])))).collect()
}

/// Along both axes and halfway between.
fn directions(ty: Type) -> Vec<Point> {
    let mut all = Vec::new();
    for size in [1.0, 3.0, 0.375, ty.least_normal(), ty.most(), f64::INFINITY] {
        for (y, x, want) in
            [(0.0, size, 0.0), (size, size, 0.25), (size, 0.0, 0.5), (size, -size, 0.75), (0.0, -size, 1.0)]
        {
            all.extend([point(y, x, want), point(-y, x, -want)]);
        }
    }
    all
}

/// Exponents and powers that the type has, denormal ones among them.
fn powers_of_two(ty: Type) -> impl Iterator<Item = (f64, f64)> {
    let least = ty.smallest() - ty.mantissa();
    // In two steps, as the smallest is no normal number of double either.
    (least..=ty.largest()).map(|k| (f64::from(k), 2f64.powi(k / 2) * 2f64.powi(k - k / 2)))
}

/// Exponents and powers that the type has without rounding.
fn powers_of_ten(ty: Type) -> impl Iterator<Item = (f64, f64)> {
    let largest = match ty {
        Type::Half => 4,
        Type::Float => 10,
        Type::Double => 22,
    };
    (0..=largest).map(|k| (f64::from(k), 10f64.powi(k)))
}

/// Powers of integers, and of those times powers of two, as far as the type has them.
fn powers(ty: Type) -> Vec<Point> {
    let limit = 2f64.powi(ty.mantissa() + 1);
    let mut all = Vec::new();
    for n in 2_i32..=ty.mantissa() + 1 {
        let largest = limit.powf(1.0 / f64::from(n)).ceil();
        let step = if largest > 1e5 { largest / 1e5 } else { 1.0 };
        let mut base = 2.0;
        while base <= largest {
            let whole = f64::floor(base);
            let scales = [-8, -1, 0, 1, 5, 8].map(|scale| whole * 2f64.powi(scale));
            all.extend(scales.into_iter().filter_map(|base| power_of(ty, whole, base, n)));
            base += step;
        }
    }
    all
}

/// The power of a base that is this integer or one scaled by a power of two, if the type has it.
fn power_of(ty: Type, whole: f64, base: f64, n: i32) -> Option<Point> {
    let limit = 1_u64 << (ty.mantissa() + 1);
    let product = (0..n).try_fold(1_u64, |product, _| product.checked_mul(whole as u64))?;
    let power = base.powi(n);
    let fits = product <= limit && power <= ty.most() && power >= ty.least_normal();
    (fits && ty.rounded(base) == base).then(|| point(base, f64::from(n), product as f64 * (base / whole).powi(n)))
}

/// The exponents 0 and 1, and the base 1.
fn first_powers(ty: Type) -> Vec<Point> {
    let mut all = Vec::new();
    for x in crate::samples::edges(ty) {
        all.push(point(x, 0.0, 1.0));
        if !x.is_nan() {
            all.push(point(x, 1.0, x));
        }
    }
    let mut random = lockstep_conformance::Random::new(7);
    for _ in 0..100_000 {
        let bits = random.bits();
        let x = ty.value(if ty == Type::Double { bits } else { bits >> 16 & 0xffff_ffff });
        if !x.is_nan() {
            all.push(point(x, 1.0, x));
        }
    }
    all.extend((-20..=20).map(|y| point(1.0, f64::from(y), 1.0)));
    all
}

/// Of powers of two, and of negative numbers.
fn negative_powers(ty: Type) -> Vec<Point> {
    let mut all = Vec::new();
    for n in 1..=ty.largest() {
        all.push(point(2.0, -f64::from(n.min(-ty.smallest())), 2f64.powi(-n.min(-ty.smallest()))));
        all.push(point(2.0, f64::from(n), 2f64.powi(n)));
        all.push(point(-2.0, f64::from(n), (-2f64).powi(n)));
    }
    for (base, n) in [(-3.0, 2), (-3.0, 3), (-3.0, 4), (-5.0, 3), (-1.0, 7), (-1.0, -8), (-1.5, 3)] {
        all.push(point(base, f64::from(n), f64::powi(base, n)));
    }
    all
}

fn roots(ty: Type) -> Vec<Point> {
    let first = first_powers(ty).into_iter().filter(|point| point.arguments[1] == 1.0 && point.arguments[0] != 1.0);
    let powers = powers(ty).into_iter().map(|Point { arguments: [base, n], want }| point(want, n, base));
    first.chain(powers).collect()
}

/// The roots of squares or cubes of integers, also where they are scaled.
fn root_of_powers(ty: Type, n: i32) -> Vec<Point> {
    let largest = 2f64.powi(ty.mantissa() + 1).powf(1.0 / f64::from(n)).floor();
    let step = (largest / 1e5).max(1.0);
    let count = (largest / step) as u32;
    let bases = (1..=count).map(|k| (f64::from(k) * step).floor());
    let all: Vec<i32> = (-ty.largest() / n..=ty.largest() / n).collect();
    let scales = if count < 1000 { all } else { vec![-ty.largest() / n, -7, -1, 0, 1, 5, ty.largest() / n / 2] };
    let scaled = bases.flat_map(|base| scales.iter().map(move |&scale| base * 2f64.powi(scale)));
    let kept = scaled.filter(|root| (ty.least_normal()..=ty.most()).contains(&root.powi(n)));
    kept.map(|root| point(root.powi(n), 0.0, root)).collect()
}

/// Triangles with whole sides, and those that are but a line.
fn hypotenuses(ty: Type) -> Vec<Point> {
    let mut all = Vec::new();
    for point_of in first_powers(ty) {
        let x = point_of.arguments[0];
        if !x.is_nan() {
            all.extend([point(x, 0.0, x.abs()), point(-0.0, x, x.abs())]);
        }
    }
    for m in 2..40 {
        for n in 1..m {
            let (m, n) = (f64::from(m), f64::from(n));
            let sides = [m * m - n * n, 2.0 * m * n, m * m + n * n];
            if ty.rounded(sides[2]) == sides[2] {
                all.push(point(sides[0], -sides[1], sides[2]));
                all.push(point(sides[1] * 0.25, sides[0] * 0.25, sides[2] * 0.25));
            }
        }
    }
    all
}
