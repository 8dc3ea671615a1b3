//! Double and half functions: double against std, half for every argument.

use std::f64::consts::PI;
use std::fmt::Write;
use std::sync::OnceLock;

use crate::host::{Host, Random, bytes, values};

type Unary = (&'static str, f64, fn(f64) -> f64);
type Binary = (&'static str, f64, fn(f64, f64) -> f64);

const UNARY: &[Unary] = &[
    ("acos", 4.0, f64::acos),
    ("acospi", 5.0, |x| x.acos() / PI),
    ("asin", 4.0, f64::asin),
    ("asinpi", 5.0, |x| x.asin() / PI),
    ("atan", 5.0, f64::atan),
    ("atanpi", 5.0, |x| x.atan() / PI),
    // std's may be off by more than one itself.
    ("cbrt", 5.0, f64::cbrt),
    ("ceil", 0.0, f64::ceil),
    ("cos", 4.0, f64::cos),
    ("cosh", 4.0, f64::cosh),
    ("cospi", 5.0, |x| if turn(x).abs() == 0.5 { 0.0 } else { ((0.5 - turn(x).abs()) * PI).sin() }),
    ("exp", 3.0, f64::exp),
    ("exp2", 3.0, f64::exp2),
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
    ("sinpi", 5.0, sinpi),
    ("sqrt", 0.5, f64::sqrt),
    ("tan", 5.0, f64::tan),
    ("tanh", 5.0, f64::tanh),
    ("trunc", 0.0, f64::trunc),
];

const BINARY: &[Binary] = &[
    ("atan2", 6.0, f64::atan2),
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
    ("fmod", 0.0, |x, y| x % y),
    ("hypot", 4.0, f64::hypot),
    ("pow", 16.0, f64::powf),
];

fn turn(x: f64) -> f64 {
    x - 2.0 * (x / 2.0).round()
}

fn sinpi(x: f64) -> f64 {
    let t = turn(x);
    if t.fract() == 0.0 {
        return 0f64.copysign(x);
    }
    let folded = if t.abs() > 0.5 { 1f64.copysign(t) - t } else { t };
    (folded * PI).sin()
}

/// Functions whose result shows only together with their arguments.
const SPECIAL: &str = r"
void ldexp_double(global const double *x, global double *r, ulong n) { EACH r[i] = ldexp(x[i], (int)x[n + i]); }
void ldexp_float(global const float *x, global float *r, ulong n)
{ for (ulong i = 0; i < n / 4; i++) vstore4(ldexp(vload4(i, x), convert_int4_sat(vload4(i, x + n))), i, r); }
void rootn_double(global const double *x, global double *r, ulong n) { EACH r[i] = rootn(x[i], (int)x[n + i]); }
void pown_double(global const double *x, global double *r, ulong n) { EACH r[i] = pown(x[i], (int)x[n + i]); }
void remquo_double(global const double *x, global double *r, ulong n)
{ EACH { int q; r[2 * i] = remquo(x[i], x[n + i], &q); r[2 * i + 1] = q; } }
void remquo_float(global const float *x, global float *r, ulong n)
{ EACH { int q; r[2 * i] = remquo(x[i], x[n + i], &q); r[2 * i + 1] = q; } }
void frexp_double(global const double *x, global double *r, ulong n)
{ EACH { int e; r[3 * i] = frexp(x[i], &e); r[3 * i + 1] = e; r[3 * i + 2] = logb(x[i]); } }
void ilogb_double(global const double *x, global int *r, ulong n) { EACH r[i] = ilogb(x[i]); }
void nextafter_double(global const double *x, global double *r, ulong n) { EACH r[i] = nextafter(x[i], x[n + i]); }
void nextafter_half(global const half *x, global half *r, ulong n) { EACH r[i] = nextafter(x[i], x[n + i]); }
void fma_half(global const half *x, global half *r, ulong n) { EACH r[i] = fma(x[i], x[n + i], x[2 * n + i]); }
void powr_float(global const float *x, global float *r, ulong n) { EACH r[i] = powr(x[i], x[n + i]); }
";

fn host() -> &'static Host {
    static HOST: OnceLock<Host> = OnceLock::new();
    HOST.get_or_init(|| {
        let mut source = String::from("#define EACH for (ulong i = 0; i < n; i++)\n");
        for (name, ..) in UNARY {
            writeln!(
                source,
                "void {name}_1(global const double *x, global double *r, ulong n) {{ EACH r[i] = {name}(x[i]); }}\n\
                 void {name}_h(global const half *x, global half *r, ulong n)\n\
                 {{ for (ulong i = 0; i < n / 16; i++) vstore16({name}(vload16(i, x)), i, r); }}"
            )
            .expect("writing to a string");
        }
        for (name, ..) in BINARY {
            writeln!(
                source,
                "void {name}_2(global const double *x, global double *r, ulong n)\n\
                 {{ for (ulong i = 0; i < n / 3; i++) vstore3({name}(vload3(i, x), vload3(i, x + n)), i, r); }}"
            )
            .expect("writing to a string");
        }
        Host::build("double_half_math", &(source + SPECIAL))
    })
}

const EDGES: &[f64] = &[
    0.0,
    -0.0,
    0.5,
    -0.5,
    1.0,
    -1.0,
    1.5,
    -2.5,
    3.0,
    7.0,
    -8.0,
    100.25,
    5e-324,
    -5e-324,
    1e-310,
    f64::MIN_POSITIVE,
    f64::MAX,
    f64::MIN,
    f64::INFINITY,
    f64::NEG_INFINITY,
    f64::NAN,
    9007199254740992.0,
    9007199254740993.0,
    4503599627370496.5,
    1e300,
    -1e-300,
    709.0,
    -745.0,
];

fn samples(seed: u64, count: usize) -> Vec<f64> {
    let mut random = Random(seed);
    let mut all = EDGES.to_vec();
    while all.len() < count {
        let bits = random.next();
        all.push(f64::from_bits(bits));
        all.push((bits as i64 >> (random.next() % 60)) as f64 * 2f64.powi(-20));
        all.push(f64::from_bits(bits & 0x800f_ffff_ffff_ffff | (0x3f0 + (bits >> 52 & 15)) << 52));
    }
    all.truncate(count / 48 * 48);
    all
}

pub fn ulp(got: f64, exact: f64) -> f64 {
    if got == exact && (exact != 0.0 || got.is_sign_negative() == exact.is_sign_negative()) {
        return 0.0;
    }
    if got.is_nan() || exact.is_nan() {
        return if got.is_nan() && exact.is_nan() { 0.0 } else { f64::INFINITY };
    }
    // Neighbouring numbers have neighbouring patterns.
    let order = |x: f64| {
        let bits = x.to_bits() as i64;
        i128::from(if bits < 0 { i64::MIN - bits } else { bits })
    };
    (order(got) - order(exact)).abs() as f64 + f64::from(u8::from(got == exact))
}

fn check(name: &str, bound: f64, got: f64, exact: f64, arguments: &[f64]) {
    assert!(ulp(got, exact) <= bound, "{name}{arguments:?} = {got:e}, expected {exact:e}: {} ulp", ulp(got, exact));
}

#[test]
fn double_functions() {
    let x = samples(1, 30_000);
    for (name, bound, reference) in UNARY {
        let got: Vec<f64> = host().map(&format!("{name}_1"), &[&x]);
        for (&x, &got) in x.iter().zip(&got) {
            check(name, *bound, got, reference(x), &[x]);
        }
    }
    let (mut x, mut y) = (samples(2, 9600), samples(3, 9600));
    for &a in EDGES {
        x.extend(EDGES);
        y.extend([a; EDGES.len()]);
    }
    let n = x.len() / 3 * 3;
    for (name, bound, reference) in BINARY {
        let got: Vec<f64> = host().map(&format!("{name}_2"), &[&x[..n], &y[..n]]);
        for i in 0..n {
            check(name, *bound, got[i], reference(x[i], y[i]), &[x[i], y[i]]);
        }
    }
}

/// A half's value, and the distance of one from an exact result in its last place.
fn half(bits: u16) -> f64 {
    let sign = if bits >> 15 == 1 { -1.0 } else { 1.0 };
    let (exponent, fraction) = (i32::from(bits >> 10 & 31), f64::from(bits & 0x3ff));
    sign * match exponent {
        0 => fraction * 2f64.powi(-24),
        31 if fraction == 0.0 => f64::INFINITY,
        31 => f64::NAN,
        _ => (fraction + 1024.0) * 2f64.powi(exponent - 25),
    }
}

fn half_ulp(got: f64, exact: f64) -> f64 {
    if got.is_nan() || exact.is_nan() {
        return if got.is_nan() && exact.is_nan() { 0.0 } else { f64::INFINITY };
    }
    if got == exact {
        return if exact != 0.0 || got.is_sign_negative() == exact.is_sign_negative() { 0.0 } else { f64::INFINITY };
    }
    let (got, exact) = (got.clamp(-65536.0, 65536.0), exact.clamp(-65536.0, 65536.0));
    let exponent = exact.abs().log2().floor().clamp(-14.0, 15.0);
    (got - exact).abs() / 2f64.powf(exponent - 10.0)
}

#[test]
fn half_functions_of_every_argument() {
    let x: Vec<u16> = (0..=u16::MAX).collect();
    for (name, _, reference) in UNARY {
        let got: Vec<u16> = host().map(&format!("{name}_h"), &[&x]);
        for (&x, &got) in x.iter().zip(&got) {
            let (x, got) = (half(x), half(got));
            let exact = reference(x);
            let error = half_ulp(got, exact);
            // Float's own half ulp is 2^-14 of half's; a result between two halves may fall to either side of a tie.
            assert!(error <= 0.502, "{name}({x:e}) = {got:e}, exactly {exact:e}: {error} ulp");
        }
    }
}

#[test]
fn half_fma_rounds_once() {
    let mut random = Random(5);
    let x: Vec<u16> = (0..90_000).map(|_| random.next() as u16).collect();
    let n = x.len() / 3;
    let got: Vec<u16> = host().map("fma_half", &[&x[..n], &x[n..2 * n], &x[2 * n..]]);
    for i in 0..n {
        let (a, b, c) = (half(x[i]), half(x[n + i]), half(x[2 * n + i]));
        // Exact in integers of 2^-48.
        let exact = if a.is_finite() && b.is_finite() && c.is_finite() {
            let scaled =
                (a * 2f64.powi(24)) as i128 * (b * 2f64.powi(24)) as i128 + (((c * 2f64.powi(24)) as i128) << 24);
            Some(scaled)
        } else {
            None
        };
        let r = half(got[i]);
        match exact {
            None => assert!(r.is_nan() || r.is_infinite() || (a * b + c).is_nan(), "fma({a}, {b}, {c}) = {r}"),
            Some(exact) if r.is_infinite() => assert!(exact.abs() >= 65520 << 48, "fma({a}, {b}, {c}) = {r}"),
            Some(exact) => {
                let off = ((r * 2f64.powi(24)) as i128 * (1 << 24) - exact).abs();
                let exponent = (127 - exact.unsigned_abs().leading_zeros() as i32).max(48 - 14) - 10;
                assert!(2 * off <= 1 << exponent, "fma({a}, {b}, {c}) = {r}");
            }
        }
    }
}

#[test]
fn exponents() {
    let x = samples(6, 4800);
    let n = x.len();
    let got: Vec<f64> = values(&host().run("frexp_double", n, &bytes(&x), 24 * n));
    let exponents: Vec<i32> = host().map("ilogb_double", &[&x]);
    for i in 0..n {
        let (m, e, logb) = (got[3 * i], got[3 * i + 1], got[3 * i + 2]);
        if x[i] == 0.0 || !x[i].is_finite() {
            check("frexp", 0.0, m, x[i], &[x[i]]);
            assert_eq!(e, 0.0);
            let want = if x[i] == 0.0 { f64::NEG_INFINITY } else { x[i].abs() };
            check("logb", 0.0, logb, want, &[x[i]]);
            assert_eq!(exponents[i], if x[i] == 0.0 { i32::MIN } else { i32::MAX });
        } else {
            assert!((0.5..1.0).contains(&m.abs()), "{:e}", x[i]);
            // Two exact steps, since the power alone may be out of range.
            assert_eq!(m * 2f64.powi(e as i32 / 2) * 2f64.powi(e as i32 - e as i32 / 2), x[i]);
            assert_eq!((logb, f64::from(exponents[i])), (e - 1.0, e - 1.0));
        }
    }

    let mut random = Random(7);
    let k: Vec<f64> = (0..n)
        .map(|i| if i % 2 == 0 { f64::from(random.next() as i32 >> 19) } else { f64::from(random.next() as i32 >> 22) })
        .collect();
    let scaled: Vec<f64> = host().map("ldexp_double", &[&x, &k]);
    for i in 0..n {
        check("ldexp", 0.0, scaled[i], scale(x[i], k[i] as i32), &[x[i], k[i]]);
    }
    let x: Vec<f32> = (0..n).map(|_| f32::from_bits(random.next() as u32)).collect();
    let k: Vec<f32> = (0..n).map(|_| (random.next() as i32 >> 23) as f32).collect();
    let scaled: Vec<f32> = host().map("ldexp_float", &[&x, &k]);
    for i in 0..n {
        let want = (f64::from(x[i]) * 2f64.powi(k[i] as i32)) as f32;
        assert!(scaled[i].to_bits() == want.to_bits() || (want.is_nan() && scaled[i].is_nan()), "{:e} {}", x[i], k[i]);
    }
}

/// x * 2^k rounded once: the last step down goes through a sticky bit.
fn scale(x: f64, k: i32) -> f64 {
    if x == 0.0 || !x.is_finite() {
        return x;
    }
    let k = k.clamp(-2300, 2300);
    let mut value = x;
    let mut left = k;
    while left > 0 && value.is_finite() {
        let step = left.min(900);
        value *= 2f64.powi(step);
        left -= step;
    }
    if left < 0 {
        // Normalized significand and exponent, in integers.
        let normal = if value.abs() < f64::MIN_POSITIVE { (value * 2f64.powi(60), -60) } else { (value, 0) };
        let bits = normal.0.to_bits();
        let exponent = (bits >> 52 & 0x7ff) as i32 - 1075 + normal.1 + left;
        let significand = u128::from(bits & 0xf_ffff_ffff_ffff | 1 << 52);
        let drop = (-1074 - exponent).max(0);
        if drop > 60 {
            return 0f64.copysign(x);
        }
        let (kept, rest) = (significand >> drop, significand & ((1 << drop) - 1));
        let tie = if drop > 0 { 1 << (drop - 1) } else { 1 };
        let kept = kept + u128::from(rest > tie || (drop > 0 && rest == tie && kept & 1 == 1));
        let at = exponent + drop;
        return (kept as f64 * 2f64.powi(at / 2) * 2f64.powi(at - at / 2)).copysign(x);
    }
    value
}

#[test]
fn neighbours() {
    let (x, y) = (samples(8, 2400), samples(9, 2400));
    let got: Vec<f64> = host().map("nextafter_double", &[&x, &y]);
    for i in 0..x.len() {
        let (x, y) = (x[i], y[i]);
        let want = if x.is_nan() || y.is_nan() {
            f64::NAN
        } else if x == y {
            y
        } else if x < y {
            x.next_up()
        } else {
            x.next_down()
        };
        check("nextafter", 0.0, got[i], want, &[x, y]);
    }
    let x: Vec<u16> = (0..=u16::MAX).collect();
    let up = vec![0x7c00u16; x.len()];
    let got: Vec<u16> = host().map("nextafter_half", &[&x, &up]);
    for (&x, &got) in x.iter().zip(&got) {
        let want = match x {
            0x8000 => 1,
            0x7c00 => 0x7c00,
            _ if half(x).is_nan() => x,
            _ if x >> 15 == 1 => x - 1,
            _ => x + 1,
        };
        assert!(got == want || (half(x).is_nan() && half(got).is_nan()), "{x:#x}: {got:#x}");
    }
}

/// A product of double-doubles, good to about 2^-100.
fn product(a: (f64, f64), b: (f64, f64)) -> (f64, f64) {
    let p = a.0 * b.0;
    let e = a.0.mul_add(b.0, -p) + (a.0 * b.1 + a.1 * b.0);
    (p + e, e - ((p + e) - p))
}

#[test]
fn roots_and_powers_invert_each_other() {
    let mut random = Random(10);
    let mut x = Vec::new();
    let mut n = Vec::new();
    for i in 0..20_000u64 {
        let exponent = 1023 + (random.next() % 1800) as i64 - 900;
        x.push(f64::from_bits((exponent as u64) << 52 | random.next() >> 12));
        n.push([2.0, 3.0, 5.0, 7.0, 11.0, 17.0, 64.0, 100.0][i as usize % 8]);
    }
    let roots: Vec<f64> = host().map("rootn_double", &[&x, &n]);
    for i in 0..x.len() {
        let mut power = (1.0, 0.0);
        for _ in 0..n[i] as u32 {
            power = product(power, (roots[i], 0.0));
        }
        // d(r^n)/r^n = n dr/r
        let relative = ((power.0 - x[i]) + power.1) / x[i] / n[i];
        assert!(relative.abs() <= 16.0 * 2f64.powi(-53), "rootn({:e}, {}) = {:e}", x[i], n[i], roots[i]);
    }
    // Cube roots by themselves, since std's are no better.
    let roots: Vec<f64> = host().map("cbrt_1", &[&x]);
    for (&x, &root) in x.iter().zip(&roots) {
        let cube = product(product((root, 0.0), (root, 0.0)), (root, 0.0));
        let error = ((cube.0 - x) + cube.1) / x / 3.0 * 2f64.powi(53);
        assert!(error.abs() <= 1.1, "cbrt({x:e}) = {root:e}: {error} of 2^-53");
    }
    let cases: [(f64, f64, f64); 9] = [
        (-27.0, 3.0, -3.0),
        (-4.0, 2.0, f64::NAN),
        (0.0, -2.0, f64::INFINITY),
        (-0.0, -3.0, f64::NEG_INFINITY),
        (-0.0, 2.0, 0.0),
        (5.0, 0.0, f64::NAN),
        (f64::INFINITY, 2.0, f64::INFINITY),
        (f64::NEG_INFINITY, 3.0, f64::NEG_INFINITY),
        (f64::INFINITY, -2.0, 0.0),
    ];
    let got: Vec<f64> = host().map("rootn_double", &[&cases.map(|c| c.0), &cases.map(|c| c.1)]);
    for (case, got) in cases.iter().zip(got) {
        check("rootn", 1.0, got, case.2, &[case.0, case.1]);
    }
    let base: Vec<f64> = (0..200).map(|i| f64::from(i - 100) * 0.25).collect();
    let power: Vec<f64> = (0..200).map(|i| f64::from(i % 23 - 11)).collect();
    let got: Vec<f64> = host().map("pown_double", &[&base, &power]);
    for i in 0..200 {
        check("pown", 16.0, got[i], base[i].powf(power[i]), &[base[i], power[i]]);
    }
}

#[test]
fn powr_has_its_own_special_cases() {
    const NAN: f32 = f32::NAN;
    const INF: f32 = f32::INFINITY;
    let cases: [(f32, f32, f32); 13] = [
        (2.0, 3.0, 8.0),
        (-1.0, 2.0, NAN),
        (0.0, 0.0, NAN),
        (INF, 0.0, NAN),
        (1.0, INF, NAN),
        (1.0, NAN, NAN),
        (NAN, 0.0, NAN),
        (-0.0, -1.0, INF),
        (-0.0, 3.0, 0.0),
        (5.0, -0.0, 1.0),
        (0.5, INF, 0.0),
        (INF, -2.0, 0.0),
        (0.0, -INF, INF),
    ];
    let got: Vec<f32> = host().map("powr_float", &[&cases.map(|c| c.0), &cases.map(|c| c.1)]);
    for (case, got) in cases.iter().zip(got) {
        assert!(got.to_bits() == case.2.to_bits() || (got.is_nan() && case.2.is_nan()), "powr{case:?}: {got}");
    }
}

/// The quotient's low seven bits with its sign, from exact integers.
fn quotient(x: f64, y: f64) -> (f64, f64) {
    let (m, n) = ((x * 1024.0) as i128, (y * 1024.0) as i128);
    let (mut q, r) = (m / n, m % n);
    if 2 * r.abs() > n.abs() || (2 * r.abs() == n.abs() && q & 1 != 0) {
        q += if (m < 0) == (n < 0) { 1 } else { -1 };
    }
    let r = m - q * n;
    let bits = (q.abs() & 0x7f) as f64;
    let remainder = if r == 0 { 0f64.copysign(x) } else { r as f64 / 1024.0 };
    (remainder, if (m < 0) == (n < 0) { bits } else { -bits })
}

#[test]
fn remainders_and_quotients() {
    let mut random = Random(12);
    let number = |random: &mut Random, bits: u32| {
        let size = random.next() % u64::from(bits - 1);
        ((random.next() >> (64 - bits)) >> size) as f64 / 1024.0 * if random.next() & 1 == 0 { 1.0 } else { -1.0 }
    };
    let (mut x, mut y) = (Vec::new(), Vec::new());
    for _ in 0..20_000 {
        x.push(number(&mut random, 24));
        let divisor = number(&mut random, 20);
        y.push(if divisor == 0.0 { 1.5 } else { divisor });
    }
    let got: Vec<f64> = values(&host().run("remquo_double", x.len(), &bytes(&[&x[..], &y[..]].concat()), 16 * x.len()));
    let floats: Vec<f32> = x.iter().chain(&y).map(|&v| v as f32).collect();
    let narrow: Vec<f32> = values(&host().run("remquo_float", x.len(), &bytes(&floats), 8 * x.len()));
    for i in 0..x.len() {
        let (r, q) = quotient(x[i], y[i]);
        check("remquo", 0.0, got[2 * i], r, &[x[i], y[i]]);
        check("remquo", 0.0, f64::from(narrow[2 * i]), r, &[x[i], y[i]]);
        assert_eq!(got[2 * i + 1], q, "remquo({}, {})", x[i], y[i]);
        assert_eq!(f64::from(narrow[2 * i + 1]), q, "remquo({}, {}) of floats", x[i], y[i]);
    }
}
