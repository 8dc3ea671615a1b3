//! Float functions against f64 references, in ulp, over edge values and random bit patterns.

use std::fmt::Write;
use std::sync::OnceLock;

use crate::host::{Host, Random};

/// One function: name, bound of the full profile in ulp, reference in f64 for arguments that are floats.
type Unary = (&'static str, f64, fn(f64) -> f64);
type Binary = (&'static str, f64, fn(f64, f64) -> f64);

use std::f64::consts::PI;

/// sin(pi x) and the like without losing the integer part.
fn turn(x: f64) -> f64 {
    x - 2.0 * (x / 2.0).round()
}
fn sinpi(x: f64) -> f64 {
    let t = turn(x);
    if t.fract() == 0.0 && t.is_finite() { 0.0f64.copysign(x) } else { (t * PI).sin() }
}
fn cospi(x: f64) -> f64 {
    let t = turn(x).abs();
    if t == 0.5 { 0.0 } else { ((0.5 - t) * PI).sin() }
}
fn tanpi(x: f64) -> f64 {
    let t = turn(x);
    if t == 0.0 {
        0.0f64.copysign(x)
    } else if t.abs() == 1.0 {
        0.0f64.copysign(-x)
    } else if t.abs() == 0.5 {
        f64::INFINITY.copysign(t)
    } else {
        sinpi(x) / cospi(x)
    }
}

const UNARY: &[Unary] = &[
    ("acos", 4.0, f64::acos),
    ("acosh", 4.0, f64::acosh),
    ("acospi", 5.0, |x| x.acos() / PI),
    ("asin", 4.0, f64::asin),
    ("asinpi", 5.0, |x| x.asin() / PI),
    ("atan", 5.0, f64::atan),
    ("atanpi", 5.0, |x| x.atan() / PI),
    ("cbrt", 2.0, f64::cbrt),
    ("ceil", 0.0, f64::ceil),
    ("cos", 4.0, f64::cos),
    ("cosh", 4.0, f64::cosh),
    ("cospi", 4.0, cospi),
    ("exp", 3.0, f64::exp),
    ("exp2", 3.0, f64::exp2),
    ("exp10", 3.0, |x| 10f64.powf(x)),
    ("expm1", 3.0, f64::exp_m1),
    ("fabs", 0.0, f64::abs),
    ("floor", 0.0, f64::floor),
    ("log", 3.0, f64::ln),
    ("log2", 3.0, f64::log2),
    ("log10", 3.0, f64::log10),
    ("log1p", 2.0, f64::ln_1p),
    ("rint", 0.0, f64::round_ties_even),
    ("round", 0.0, f64::round),
    ("rsqrt", 2.0, |x| 1.0 / x.sqrt()),
    ("sin", 4.0, f64::sin),
    ("sinh", 4.0, f64::sinh),
    ("sinpi", 4.0, sinpi),
    ("sqrt", 0.5, f64::sqrt),
    ("tan", 5.0, f64::tan),
    ("tanh", 5.0, f64::tanh),
    ("tanpi", 6.0, tanpi),
    ("trunc", 0.0, f64::trunc),
];

/// std's own asinh and atanh lose accuracy near zero.
const UNARY_COMPENSATED: &[Unary] = &[("asinh", 4.0, asinh), ("atanh", 5.0, atanh)];

fn asinh(x: f64) -> f64 {
    if x.is_infinite() {
        return x;
    }
    let a = x.abs();
    (a + a * a / (1.0 + (a * a + 1.0).sqrt())).ln_1p().copysign(x)
}
fn atanh(x: f64) -> f64 {
    let a = x.abs();
    (0.5 * (2.0 * a / (1.0 - a)).ln_1p()).copysign(x)
}

const BINARY: &[Binary] = &[
    ("atan2", 6.0, f64::atan2),
    ("atan2pi", 6.0, |y, x| y.atan2(x) / PI),
    ("copysign", 0.0, f64::copysign),
    ("fdim", 0.5, |x, y| {
        if x.is_nan() || y.is_nan() {
            f64::NAN
        } else if x > y {
            x - y
        } else {
            0.0
        }
    }),
    ("fmax", 0.0, |x, y| if x == y { y } else { x.max(y) }),
    ("fmin", 0.0, |x, y| if x == y { y } else { x.min(y) }),
    ("fmod", 0.0, |x, y| x % y),
    ("hypot", 4.0, f64::hypot),
    ("pow", 16.0, f64::powf),
];

/// Native and half functions where they promise something: 8192 ulp.
const HALF_PRECISION: &[Unary] = &[
    ("half_exp", 8192.0, f64::exp),
    ("half_exp2", 8192.0, f64::exp2),
    ("half_exp10", 8192.0, |x| 10f64.powf(x)),
    ("half_log", 8192.0, f64::ln),
    ("half_log2", 8192.0, f64::log2),
    ("half_log10", 8192.0, f64::log10),
    ("half_recip", 8192.0, |x| 1.0 / x),
    ("half_rsqrt", 8192.0, |x| 1.0 / x.sqrt()),
    ("half_sqrt", 8192.0, f64::sqrt),
];
/// These promise it for arguments up to 2^16.
const HALF_TRIGONOMETRIC: &[Unary] =
    &[("half_cos", 8192.0, f64::cos), ("half_sin", 8192.0, f64::sin), ("half_tan", 8192.0, f64::tan)];

fn host() -> &'static Host {
    static HOST: OnceLock<Host> = OnceLock::new();
    HOST.get_or_init(|| {
        let mut source = String::new();
        let unary = [UNARY, UNARY_COMPENSATED, HALF_PRECISION, HALF_TRIGONOMETRIC].concat();
        for (name, _, _) in unary {
            writeln!(
                source,
                "void {name}_1(global const float *x, global float *r, ulong n) {{ for (ulong i = 0; i < n; i++) r[i] = {name}(x[i]); }}\n\
                 void {name}_4(global const float *x, global float *r, ulong n) \
                 {{ for (ulong i = 0; i < n / 4; i++) vstore4({name}(vload4(i, x)), i, r); }}\n\
                 void {name}_16(global const float *x, global float *r, ulong n) \
                 {{ for (ulong i = 0; i < n / 16; i++) vstore16({name}(vload16(i, x)), i, r); }}"
            )
            .expect("writing to a string");
        }
        for (name, _, _) in BINARY {
            writeln!(
                source,
                "void {name}_1(global const float *x, global float *r, ulong n) \
                 {{ for (ulong i = 0; i < n; i++) r[i] = {name}(x[i], x[n + i]); }}\n\
                 void {name}_8(global const float *x, global float *r, ulong n) \
                 {{ for (ulong i = 0; i < n / 8; i++) vstore8({name}(vload8(i, x), vload8(i, x + n)), i, r); }}"
            )
            .expect("writing to a string");
        }
        Host::build("float_math", &source)
    })
}

const EDGES: &[f32] = &[
    0.0,
    -0.0,
    1.0,
    -1.0,
    0.5,
    -0.5,
    1.5,
    -1.5,
    2.0,
    -2.0,
    2.5,
    3.0,
    -3.0,
    8.0,
    27.0,
    64.0,
    100.0,
    -100.0,
    1000.0,
    f32::MIN_POSITIVE,
    -f32::MIN_POSITIVE,
    1e-45,
    -1e-45,
    1.1e-38,
    f32::MAX,
    f32::MIN,
    f32::INFINITY,
    f32::NEG_INFINITY,
    f32::NAN,
    f32::EPSILON,
    -f32::EPSILON,
    0.999_999_94,
    1.000_000_1,
    -0.999_999_94,
    std::f32::consts::PI,
    std::f32::consts::FRAC_PI_2,
    88.72284,
    88.722_84,
    -103.972_08,
    128.0,
    127.999_99,
    -149.0,
    -150.0,
    -126.0,
    8388608.0,
    8388607.5,
    16777216.0,
    4503599627370496.0,
    1048576.0,
    1048575.9,
    1e10,
    1e20,
    1e30,
    -1e38,
    38.53184,
    -45.0,
    std::f32::consts::FRAC_1_SQRT_2,
    std::f32::consts::SQRT_2,
    13176795.0,
];

fn samples(seed: u64, count: usize) -> Vec<f32> {
    let mut random = Random(seed);
    let mut all = EDGES.to_vec();
    while all.len() < count {
        let bits = random.next();
        all.push(f32::from_bits(bits as u32));
        // Most kernels compute with numbers of moderate size.
        all.push(f32::from_bits((bits >> 32) as u32 & 0x80ff_ffff | 0x3e00_0000 | ((bits >> 20) as u32 & 0x0180_0000)));
    }
    all.truncate(count / 16 * 16);
    all
}

/// The distance of a float from the exact result in units of the float's last place there.
pub fn ulp(got: f32, exact: f64) -> f64 {
    if exact.is_nan() || got.is_nan() {
        return if exact.is_nan() && got.is_nan() { 0.0 } else { f64::INFINITY };
    }
    if f64::from(got) == exact {
        return if exact != 0.0 || got.is_sign_negative() == exact.is_sign_negative() { 0.0 } else { f64::INFINITY };
    }
    // Beyond the largest float the next one would be 2^128: infinity stands for it, and for everything above.
    let beyond = 2f64.powi(128);
    let exact = exact.clamp(-beyond, beyond);
    let got = f64::from(got).clamp(-beyond, beyond);
    let exponent = if exact == 0.0 { -126 } else { (((exact.to_bits() >> 52) & 0x7ff) as i32 - 1023).clamp(-126, 127) };
    (got - exact).abs() / 2f64.powi(exponent - 23)
}

/// Fails with the worst argument of each function that is out of bounds.
fn check(name: &str, bound: f64, shown: impl Fn(usize) -> String, got: &[f32], exact: impl Fn(usize) -> f64) -> f64 {
    let (worst, at) =
        (0..got.len()).map(|i| (ulp(got[i], exact(i)), i)).fold((0.0, 0), |a, b| if b.0 > a.0 { b } else { a });
    assert!(
        worst <= bound,
        "{name}({}) = {:e}, exactly {:e}: {worst} ulp, allowed {bound}",
        shown(at),
        got[at],
        exact(at)
    );
    worst
}

fn check_unary(functions: &[Unary], x: &[f32]) {
    for (name, bound, reference) in functions {
        let got: Vec<f32> = host().map(&format!("{name}_1"), &[x]);
        let worst = check(name, *bound, |i| format!("{:e}", x[i]), &got, |i| reference(f64::from(x[i])));
        println!("{name}: {worst:.3} ulp");
        // Vectors are made of scalars, bit for bit.
        for n in [4, 16] {
            let x = &x[..1024];
            let vector: Vec<f32> = host().map(&format!("{name}_{n}"), &[x]);
            for i in 0..x.len() {
                let same = vector[i].to_bits() == got[i].to_bits() || (vector[i].is_nan() && got[i].is_nan());
                assert!(same, "{name} of a float{n}: element {i}, {:e}", x[i]);
            }
        }
    }
}

#[test]
fn functions_of_one_argument() {
    check_unary(UNARY, &samples(1, 200_000));
    check_unary(UNARY_COMPENSATED, &samples(2, 200_000));
}

#[test]
fn half_precision_functions() {
    // A result that is subnormal may be flushed.
    let x: Vec<f32> = samples(3, 100_000)
        .into_iter()
        .map(|x| if (1e-30..1e30).contains(&x.abs()) || x == 0.0 || !x.is_finite() { x } else { 1.0 })
        .map(|x| if x < -80.0 || (-36.0..-35.0).contains(&x) { -x } else { x })
        .collect();
    let no_subnormal: Vec<f32> = x.iter().map(|&x| if (-1e9..-30.0).contains(&x) { -x } else { x }).collect();
    check_unary(HALF_PRECISION, &no_subnormal);
    let small: Vec<f32> = x.iter().map(|&x| if x.abs() < 65536.0 { x } else { 0.25 }).collect();
    check_unary(HALF_TRIGONOMETRIC, &small);
}

/// Beyond the arguments for which they promise something, the sine and cosine of a number lie in [-1, 1] and its tangent is
/// a number.
#[test]
fn half_trigonometric_functions_of_large_numbers() {
    let x: Vec<f32> = samples(6, 100_000).into_iter().map(|x| if x.is_finite() { x } else { 3e38 }).collect();
    for (name, _, _) in HALF_TRIGONOMETRIC {
        let most = if *name == "half_tan" { f32::INFINITY } else { 1.0 };
        for (x, found) in x.iter().zip(host().map(&format!("{name}_1"), &[&x])) {
            assert!(f32::abs(found) <= most, "{name} of {x:e} gives {found:e}");
        }
    }
}

#[test]
fn functions_of_two_arguments() {
    let (mut x, mut y) = (samples(4, 100_000), samples(5, 100_000));
    for &a in EDGES {
        for &b in EDGES {
            x.push(a);
            y.push(b);
        }
    }
    let n = x.len() / 8 * 8;
    x.truncate(n);
    y.truncate(n);
    // Powers that stay in range.
    let mut random = Random(6);
    for i in (1000..n - EDGES.len() * EDGES.len()).step_by(2) {
        x[i] = f32::from_bits(0x3f00_0000 + (random.next() as u32 & 0x00ff_ffff));
        y[i] = (random.next() as i32 >> 10) as f32 * 1e-4;
    }
    for (name, bound, reference) in BINARY {
        let got: Vec<f32> = host().map(&format!("{name}_1"), &[&x, &y]);
        let worst = check(
            name,
            *bound,
            |i| format!("{:e}, {:e}", x[i], y[i]),
            &got,
            |i| reference(f64::from(x[i]), f64::from(y[i])),
        );
        println!("{name}: {worst:.3} ulp");
        let vector: Vec<f32> = host().map(&format!("{name}_8"), &[&x, &y]);
        for i in 0..n {
            let same = vector[i].to_bits() == got[i].to_bits() || (vector[i].is_nan() && got[i].is_nan());
            assert!(same, "{name} of a float8: element {i}, {:e}, {:e}", x[i], y[i]);
        }
    }
}
