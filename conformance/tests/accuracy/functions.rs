//! The functions, their bounds, and what they are compared with.

use std::f64::consts::PI;

use crate::exact::{self, Exact, long};
use crate::format::Type;
use crate::samples::Takes;

/// A reference in double, for arguments that are floats or halves.
pub type Quick = fn(&[f64]) -> f64;

/// What a kernel writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Gives {
    /// A number of the type.
    Number,
    /// A number whose zeros may have either sign.
    AnyZero,
    /// An int.
    Int,
}

/// What is wanted with `-cl-fast-relaxed-math`, of finite floats with finite results.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Relaxed {
    /// What is wanted without it: the table has nothing else.
    Same,
    /// So many ulp.
    Ulp(f64),
    /// 3 ulp and the magnitude of the argument's double.
    Exponential,
    /// An absolute error of 2^-21 from 1/2 to 2, and 3 ulp elsewhere.
    Logarithm,
    /// An absolute error of 2^-11 between minus and plus this.
    Wave(f64),
}

/// One built-in function, or one of its results.
#[derive(Clone, Copy)]
pub struct Function {
    /// Its name in the tables.
    pub name: &'static str,
    /// The call, of the arguments `a`, `b` and `c`; `T` is the type and `U` the unsigned integer of its size.
    pub call: &'static str,
    pub takes: Takes,
    pub gives: Gives,
    /// What is computed, and quickly.
    pub exact: Exact,
    pub quick: Option<Quick>,
    /// Ulp of float, double and half; infinite where the specification has no bound.
    pub bounds: [f64; 3],
    pub relaxed: Relaxed,
    /// Arguments that there is a result for.
    pub domain: fn(&[f64]) -> bool,
    /// Those that the relaxed bound is for.
    pub relaxed_domain: fn(&[f64]) -> bool,
    /// Those for which the `native_` form is defined here.
    pub native_domain: fn(&[f64]) -> bool,
}

impl Function {
    /// The bound for a type.
    pub fn bound(&self, ty: Type) -> f64 {
        match ty {
            Type::Float => self.bounds[0],
            Type::Double => self.bounds[1],
            Type::Half => self.bounds[2],
        }
    }

    fn gives(self, gives: Gives) -> Self {
        Self { gives, ..self }
    }

    fn relaxed(self, relaxed: Relaxed) -> Self {
        Self { relaxed, ..self }
    }

    fn within(self, domain: fn(&[f64]) -> bool) -> Self {
        Self { domain, ..self }
    }

    fn when_native(self, native_domain: fn(&[f64]) -> bool) -> Self {
        Self { native_domain, ..self }
    }

    fn when_relaxed(self, relaxed_domain: fn(&[f64]) -> bool) -> Self {
        Self { relaxed_domain, ..self }
    }
}

const NONE: f64 = f64::INFINITY;
const EXACT: [f64; 3] = [0.0; 3];
/// Correctly rounded.
const ROUNDED: [f64; 3] = [0.5; 3];

fn everything(_: &[f64]) -> bool {
    true
}

fn function(
    name: &'static str,
    call: &'static str,
    takes: Takes,
    bounds: [f64; 3],
    exact: Exact,
    quick: Option<Quick>,
) -> Function {
    let (gives, relaxed) = (Gives::Number, Relaxed::Same);
    let everything: fn(&[f64]) -> bool = everything;
    let [domain, relaxed_domain, native_domain] = [everything; 3];
    Function { name, call, takes, gives, exact, quick, bounds, relaxed, domain, relaxed_domain, native_domain }
}

/// Functions of one number: name, call, bounds, MPFR's method, quick reference.
macro_rules! one {
    ($name:literal, $call:literal, $bounds:expr, $method:ident, $quick:expr) => {
        function($name, $call, Takes::One, $bounds, Exact::Long(|a| long(a[0]).$method()), Some($quick))
    };
}

/// Functions of two numbers: name, call, bounds, references.
macro_rules! two {
    ($name:literal, $call:literal, $bounds:expr, $exact:expr, $quick:expr) => {
        function($name, $call, Takes::Two, $bounds, Exact::Long($exact), $quick)
    };
}

/// Functions whose value is exact in double, or rounded there once.
macro_rules! plain {
    ($name:literal, $call:literal, $takes:ident, $exact:expr) => {
        function($name, $call, Takes::$takes, EXACT, Exact::Double($exact), None)
    };
}

/// All functions of the table.
pub fn all() -> Vec<Function> {
    [powers_and_logarithms(), trigonometric(), hyperbolic_and_special(), arithmetic(), exact_functions()].concat()
}

/// What the relaxed `pow` is defined for.
fn integer_power(a: &[f64]) -> bool {
    (a[0] != 0.0 || a[1] != 0.0) && (a[0] >= 0.0 || a[1].trunc() == a[1] && a[1].abs() < 16_777_216.0)
}

fn powers_and_logarithms() -> Vec<Function> {
    use Relaxed::{Exponential, Logarithm, Ulp};
    vec![
        one!("exp", "exp(a)", [3.0, 3.0, 2.0], exp, |a| a[0].exp()).relaxed(Exponential),
        one!("exp2", "exp2(a)", [3.0, 3.0, 2.0], exp2, |a| a[0].exp2()).relaxed(Exponential),
        one!("exp10", "exp10(a)", [3.0, 3.0, 2.0], exp10, |a| 10f64.powf(a[0])).relaxed(Ulp(8192.0)),
        one!("expm1", "expm1(a)", [3.0, 3.0, 2.0], exp_m1, |a| a[0].exp_m1()).relaxed(Ulp(8192.0)),
        one!("log", "log(a)", [3.0, 3.0, 2.0], ln, |a| a[0].ln()).relaxed(Logarithm),
        one!("log2", "log2(a)", [3.0, 3.0, 2.0], log2, |a| a[0].log2()).relaxed(Logarithm),
        one!("log10", "log10(a)", [3.0, 3.0, 2.0], log10, |a| a[0].log10()).relaxed(Logarithm),
        one!("log1p", "log1p(a)", [2.0, 2.0, 2.0], ln_1p, |a| a[0].ln_1p()).relaxed(Ulp(8192.0)),
        two!("pow", "pow(a, b)", [16.0, 16.0, 4.0], exact::power, Some(|a| a[0].powf(a[1])))
            .relaxed(Ulp(8192.0))
            .when_relaxed(integer_power),
        function(
            "pown",
            "pown(a, b)",
            Takes::WithInt,
            [16.0, 16.0, 4.0],
            Exact::Long(exact::power),
            Some(|a| a[0].powf(a[1])),
        )
        .relaxed(Ulp(8192.0)),
        two!("powr", "powr(a, b)", [16.0, 16.0, 4.0], exact::powr, Some(exact::powr_quick)).relaxed(Ulp(8192.0)),
        function(
            "rootn",
            "rootn(a, b)",
            Takes::WithInt,
            [16.0, 16.0, 4.0],
            Exact::Long(exact::root),
            Some(exact::root_quick),
        )
        .relaxed(Ulp(8192.0)),
        one!("cbrt", "cbrt(a)", [2.0, 2.0, 2.0], cbrt, |a| a[0].cbrt()).relaxed(Ulp(8192.0)),
        one!("sqrt", "sqrt(a)", [3.0, 0.5, 1.5], sqrt, |a| a[0].sqrt()),
        function(
            "rsqrt",
            "rsqrt(a)",
            Takes::One,
            [2.0, 2.0, 1.0],
            Exact::Long(exact::reciprocal_root),
            Some(|a| 1.0 / a[0].sqrt()),
        ),
        two!("hypot", "hypot(a, b)", [4.0, 4.0, 2.0], exact::hypot, Some(|a| a[0].hypot(a[1]))),
    ]
}

fn trigonometric() -> Vec<Function> {
    use Relaxed::{Ulp, Wave};
    vec![
        one!("sin", "sin(a)", [4.0, 4.0, 2.0], sin, |a| a[0].sin()).relaxed(Wave(PI)),
        one!("cos", "cos(a)", [4.0, 4.0, 2.0], cos, |a| a[0].cos()).relaxed(Wave(PI)),
        one!("sincos, sine", "sincos(a, &other)", [4.0, 4.0, 2.0], sin, |a| a[0].sin()).relaxed(Wave(PI)),
        one!("sincos, cosine", "(sincos(a, &other), other)", [4.0, 4.0, 2.0], cos, |a| a[0].cos()).relaxed(Wave(PI)),
        one!("tan", "tan(a)", [5.0, 5.0, 2.5], tan, |a| a[0].tan())
            .relaxed(Ulp(8192.0))
            .when_relaxed(|a| a[0].abs() <= PI),
        one!("asin", "asin(a)", [4.0, 4.0, 2.0], asin, |a| a[0].asin()).relaxed(Ulp(4096.0)),
        one!("acos", "acos(a)", [4.0, 4.0, 2.0], acos, |a| a[0].acos()).relaxed(Ulp(4096.0)),
        one!("atan", "atan(a)", [5.0, 5.0, 2.0], atan, |a| a[0].atan()).relaxed(Ulp(4096.0)),
        two!("atan2", "atan2(a, b)", [6.0, 6.0, 2.0], |a| long(a[0]).atan2(&long(a[1])), Some(|a| a[0].atan2(a[1])))
            .relaxed(Ulp(8192.0)),
        one!("sinpi", "sinpi(a)", [4.0, 4.0, 2.0], sin_pi, exact::sinpi_quick).relaxed(Wave(1.0)),
        one!("cospi", "cospi(a)", [4.0, 4.0, 2.0], cos_pi, exact::cospi_quick).relaxed(Wave(1.0)),
        one!("tanpi", "tanpi(a)", [6.0, 6.0, 2.0], tan_pi, exact::tanpi_quick)
            .relaxed(Ulp(8192.0))
            .when_relaxed(|a| a[0].abs() <= 1.0),
        one!("asinpi", "asinpi(a)", [5.0, 5.0, 2.0], asin_pi, |a| a[0].asin() / PI).relaxed(Ulp(8192.0)),
        one!("acospi", "acospi(a)", [5.0, 5.0, 2.0], acos_pi, |a| a[0].acos() / PI).relaxed(Ulp(8192.0)),
        one!("atanpi", "atanpi(a)", [5.0, 5.0, 2.0], atan_pi, |a| a[0].atan() / PI).relaxed(Ulp(8192.0)),
        two!(
            "atan2pi",
            "atan2pi(a, b)",
            [6.0, 6.0, 2.0],
            |a| long(a[0]).atan2_pi(&long(a[1])),
            Some(|a| a[0].atan2(a[1]) / PI)
        )
        .relaxed(Ulp(8192.0)),
    ]
}

fn hyperbolic_and_special() -> Vec<Function> {
    use Relaxed::Ulp;
    vec![
        one!("sinh", "sinh(a)", [4.0, 4.0, 2.0], sinh, |a| a[0].sinh())
            .relaxed(Ulp(8192.0))
            .when_relaxed(|a| a[0].abs() <= 88.0),
        one!("cosh", "cosh(a)", [4.0, 4.0, 2.0], cosh, |a| a[0].cosh())
            .relaxed(Ulp(8192.0))
            .when_relaxed(|a| a[0].abs() <= 88.0),
        one!("tanh", "tanh(a)", [5.0, 5.0, 2.0], tanh, |a| a[0].tanh()),
        one!("asinh", "asinh(a)", [4.0, 4.0, 2.0], asinh, |a| libm::asinh(a[0])).relaxed(Ulp(8192.0)),
        one!("acosh", "acosh(a)", [4.0, 4.0, 2.0], acosh, |a| libm::acosh(a[0])).relaxed(Ulp(8192.0)),
        one!("atanh", "atanh(a)", [5.0, 5.0, 2.0], atanh, |a| libm::atanh(a[0]))
            .relaxed(Ulp(8192.0))
            .when_relaxed(|a| a[0].abs() < 1.0),
        one!("erf", "erf(a)", [16.0, 16.0, 4.0], erf, |a| libm::erf(a[0])),
        one!("erfc", "erfc(a)", [16.0, 16.0, 4.0], erfc, |a| libm::erfc(a[0])),
        one!("tgamma", "tgamma(a)", [16.0, 16.0, 4.0], gamma, |a| libm::tgamma(a[0])),
        function(
            "lgamma",
            "lgamma(a)",
            Takes::One,
            [NONE; 3],
            Exact::Long(exact::log_gamma),
            Some(|a| libm::lgamma(a[0])),
        ),
        function(
            "lgamma_r",
            "lgamma_r(a, &number)",
            Takes::One,
            [NONE; 3],
            Exact::Long(exact::log_gamma),
            Some(|a| libm::lgamma(a[0])),
        ),
        plain!("lgamma_r, sign", "(lgamma_r(a, &number), number)", One, exact::gamma_sign)
            .gives(Gives::Int)
            .within(|a| a[0].is_finite() && (a[0] >= 0.0 || a[0].trunc() != a[0])),
    ]
}

fn arithmetic() -> Vec<Function> {
    vec![
        two!("x + y", "a + b", ROUNDED, |a| long(a[0]) + long(a[1]), None),
        two!("x - y", "a - b", ROUNDED, |a| long(a[0]) - long(a[1]), None),
        two!("x * y", "a * b", ROUNDED, |a| long(a[0]) * long(a[1]), None),
        two!("x / y", "a / b", [2.5, 0.5, 0.5], |a| long(a[0]) / long(a[1]), Some(|a| a[0] / a[1]))
            .relaxed(Relaxed::Ulp(2.5))
            .when_relaxed(|a| a.iter().all(|x| (2f64.powi(-62)..=2f64.powi(62)).contains(&x.abs()))),
        one!("1 / x", "(T)1 / a", [2.5, 0.5, 0.5], recip, |a| 1.0 / a[0])
            .relaxed(Relaxed::Ulp(2.5))
            .when_relaxed(|a| (2f64.powi(-126)..=2f64.powi(126)).contains(&a[0].abs())),
        function("fma", "fma(a, b, c)", Takes::Three, ROUNDED, Exact::Long(exact::fma), None),
        function("mad", "mad(a, b, c)", Takes::Three, [NONE; 3], Exact::Long(exact::fma), None),
        two!("fdim", "fdim(a, b)", ROUNDED, exact::positive_difference, None),
        function("ldexp", "ldexp(a, b)", Takes::WithInt, ROUNDED, Exact::Long(exact::scaled), None),
        function(
            "degrees",
            "degrees(a)",
            Takes::One,
            [2.0; 3],
            Exact::Long(exact::degrees),
            Some(|a| a[0].to_degrees()),
        ),
        function(
            "radians",
            "radians(a)",
            Takes::One,
            [2.0; 3],
            Exact::Long(exact::radians),
            Some(|a| a[0].to_radians()),
        ),
    ]
}

fn exact_functions() -> Vec<Function> {
    vec![
        plain!("ceil", "ceil(a)", One, |_, a| a[0].ceil()),
        plain!("floor", "floor(a)", One, |_, a| a[0].floor()),
        plain!("rint", "rint(a)", One, |_, a| a[0].round_ties_even()),
        plain!("round", "round(a)", One, |_, a| a[0].round()),
        plain!("trunc", "trunc(a)", One, exact::whole),
        plain!("fabs", "fabs(a)", One, |_, a| a[0].abs()),
        plain!("copysign", "copysign(a, b)", Two, |_, a| a[0].copysign(a[1])),
        plain!("fmax", "fmax(a, b)", Two, exact::larger).gives(Gives::AnyZero),
        plain!("fmin", "fmin(a, b)", Two, exact::smaller).gives(Gives::AnyZero),
        plain!("maxmag", "maxmag(a, b)", Two, exact::larger_magnitude).gives(Gives::AnyZero),
        plain!("minmag", "minmag(a, b)", Two, exact::smaller_magnitude).gives(Gives::AnyZero),
        plain!("fmod", "fmod(a, b)", Two, |_, a| a[0] % a[1]),
        two!("remainder", "remainder(a, b)", EXACT, exact::remainder, None),
        two!("remquo", "remquo(a, b, &number)", EXACT, exact::remainder, None),
        plain!(
            "remquo, quotient",
            "(remquo(a, b, &number), number < 0 ? -(-number & 127) : number & 127)",
            Two,
            exact::quotient
        )
        .gives(Gives::Int)
        .within(|a| a[0].is_finite() && !a[1].is_nan() && a[1] != 0.0),
        plain!("fract", "fract(a, &other)", One, exact::fraction).gives(Gives::AnyZero),
        plain!("fract, floor", "(fract(a, &other), other)", One, |_, a| a[0].floor()),
        plain!("frexp", "frexp(a, &number)", One, exact::significand),
        plain!("frexp, exponent", "(frexp(a, &number), number)", One, exact::exponent_above)
            .gives(Gives::Int)
            .within(|a| a[0].is_finite()),
        plain!("modf", "modf(a, &other)", One, exact::behind_the_point),
        plain!("modf, integer", "(modf(a, &other), other)", One, exact::whole),
        plain!("ilogb", "ilogb(a)", One, exact::binary_exponent_int).gives(Gives::Int).within(|a| !a[0].is_nan()),
        plain!("logb", "logb(a)", One, exact::binary_exponent),
        plain!("nan", "nan(as_U(a))", One, |_, _| f64::NAN),
        plain!("nextafter", "nextafter(a, b)", Two, exact::neighbour),
    ]
}

/// The `half_` and `native_` functions of floats: without their prefixes.
pub fn forms() -> Vec<Function> {
    let small = |a: &[f64]| a[0].abs() <= 65536.0;
    let form =
        |name, call, exact, quick| function(name, call, Takes::One, [8192.0; 3], Exact::Long(exact), Some(quick));
    let binary =
        |name, call, exact, quick| function(name, call, Takes::Two, [8192.0; 3], Exact::Long(exact), Some(quick));
    let all: Vec<Function> = vec![
        form("cos", "cos(a)", |a| long(a[0]).cos(), |a| a[0].cos()).within(small),
        binary("divide", "divide(a, b)", |a| long(a[0]) / long(a[1]), |a| a[0] / a[1])
            .when_native(|a| !(a[1].is_finite() && a[1].abs() > 2f64.powi(126))),
        form("exp", "exp(a)", |a| long(a[0]).exp(), |a| a[0].exp()),
        form("exp2", "exp2(a)", |a| long(a[0]).exp2(), |a| a[0].exp2()),
        form("exp10", "exp10(a)", |a| long(a[0]).exp10(), |a| 10f64.powf(a[0])),
        form("log", "log(a)", |a| long(a[0]).ln(), |a| a[0].ln()),
        form("log2", "log2(a)", |a| long(a[0]).log2(), |a| a[0].log2()),
        form("log10", "log10(a)", |a| long(a[0]).log10(), |a| a[0].log10()),
        binary("powr", "powr(a, b)", exact::powr, exact::powr_quick),
        form("recip", "recip(a)", |a| long(a[0]).recip(), |a| 1.0 / a[0]),
        form("rsqrt", "rsqrt(a)", exact::reciprocal_root, |a| 1.0 / a[0].sqrt()),
        form("sin", "sin(a)", |a| long(a[0]).sin(), |a| a[0].sin()).within(small),
        form("sqrt", "sqrt(a)", |a| long(a[0]).sqrt(), |a| a[0].sqrt()),
        form("tan", "tan(a)", |a| long(a[0]).tan(), |a| a[0].tan()).within(small),
    ];
    all
}

/// Those that `-cl-fp32-correctly-rounded-divide-sqrt` is for.
pub fn correctly_rounded() -> Vec<Function> {
    let wanted = ["sqrt", "x / y", "1 / x"];
    let of_floats = |function: Function| Function { bounds: ROUNDED, ..function };
    all().into_iter().filter(|function| wanted.contains(&function.name)).map(of_floats).collect()
}
