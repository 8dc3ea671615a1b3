//! Relational, common and geometric functions.

use std::sync::OnceLock;

use crate::host::{Host, Random, bytes, values};

const SOURCE: &str = r"
#define EACH for (ulong i = 0; i < n; i++)
void relations(global const float *x, global int *r, ulong n)
{ EACH { float a = x[i], b = x[n + i]; global int *o = r + 16 * i;
  o[0] = isequal(a, b); o[1] = isnotequal(a, b); o[2] = isgreater(a, b); o[3] = isgreaterequal(a, b);
  o[4] = isless(a, b); o[5] = islessequal(a, b); o[6] = islessgreater(a, b); o[7] = isordered(a, b);
  o[8] = isunordered(a, b); o[9] = isnan(a); o[10] = isinf(a); o[11] = isfinite(a); o[12] = isnormal(a);
  o[13] = signbit(a); o[14] = any(as_int(a)); o[15] = all((int2)(as_int(a), as_int(b))); } }
void relations_2(global const double *x, global long *r, ulong n)
{ for (ulong i = 0; i < n / 2; i++) { double2 a = vload2(i, x), b = vload2(i, x + n); global long *o = r + 28 * i;
  vstore2(isequal(a, b), 0, o); vstore2(isnotequal(a, b), 1, o); vstore2(isgreater(a, b), 2, o);
  vstore2(isgreaterequal(a, b), 3, o); vstore2(isless(a, b), 4, o); vstore2(islessequal(a, b), 5, o);
  vstore2(islessgreater(a, b), 6, o); vstore2(isordered(a, b), 7, o); vstore2(isunordered(a, b), 8, o);
  vstore2(isnan(a), 9, o); vstore2(isinf(a), 10, o); vstore2(isfinite(a), 11, o); vstore2(isnormal(a), 12, o);
  vstore2(signbit(a), 13, o); } }
void selects(global const int *x, global int *r, ulong n)
{ EACH { int a = x[i], b = x[n + i], c = x[2 * n + i]; r[3 * i] = select(a, b, c);
  r[3 * i + 1] = select((int2)(a, 0), (int2)(b, 0), (uint2)(c, 0)).x; r[3 * i + 2] = as_int(bitselect(as_float(a), as_float(b), as_float(c))); } }
void commons(global const float *x, global float *r, ulong n)
{ EACH { float a = x[i], b = x[n + i], c = x[2 * n + i]; global float *o = r + 10 * i;
  o[0] = clamp(a, -1.0f, 2.0f); o[1] = degrees(a); o[2] = radians(a); o[3] = max(a, b); o[4] = min(a, b);
  o[5] = mix(a, b, c); o[6] = step(a, b); o[7] = smoothstep(-1.0f, 3.0f, (float2)(a, b)).y; o[8] = sign(a); o[9] = mix((float4)(a), (float4)(b), 0.25f).w; } }
void geometry(global const float *x, global float *r, ulong n)
{ for (ulong i = 0; i < n / 4; i++) { float4 a = vload4(i, x), b = vload4(i, x + n); global float *o = r + 20 * i;
  o[0] = dot(a, b); o[1] = length(a); o[2] = distance(a, b); vstore4(normalize(a), 1, o); vstore4(cross(a, b), 2, o);
  o[12] = length(a.xy); o[13] = fast_length(a.xyz); o[14] = distance(a.x, b.x); o[15] = normalize(a.xyz).y; o[16] = fast_normalize(a).x; o[17] = dot(a.xyz, b.xyz); } }
void geometry_double(global const double *x, global double *r, ulong n)
{ for (ulong i = 0; i < n / 3; i++) { double3 a = vload3(i, x), b = vload3(i, x + n); global double *o = r + 6 * i;
  o[0] = length(a); o[1] = distance(a, b); o[2] = dot(a, b); vstore3(normalize(a), 1, o); } }
";

fn host() -> &'static Host {
    static HOST: OnceLock<Host> = OnceLock::new();
    HOST.get_or_init(|| Host::build("vectors", SOURCE))
}

const EDGES: [f64; 12] = [
    0.0,
    -0.0,
    1.0,
    -1.0,
    5e-324,
    1e-310,
    f64::MIN_POSITIVE,
    f64::MAX,
    f64::INFINITY,
    f64::NEG_INFINITY,
    f64::NAN,
    2.5,
];

fn relations(a: f64, b: f64) -> [bool; 14] {
    [
        a == b,
        a != b,
        a > b,
        a >= b,
        a < b,
        a <= b,
        a.partial_cmp(&b).is_some_and(std::cmp::Ordering::is_ne),
        !(a.is_nan() || b.is_nan()),
        a.is_nan() || b.is_nan(),
        a.is_nan(),
        a.is_infinite(),
        a.is_finite(),
        a.is_normal(),
        a.is_sign_negative(),
    ]
}

#[test]
fn relations_of_numbers_and_others() {
    let (mut x, mut y) = (Vec::new(), Vec::new());
    for a in EDGES {
        x.extend([a; 12]);
        y.extend(EDGES);
    }
    let got: Vec<i64> = values(&host().run("relations_2", 144, &bytes(&[&x[..], &y].concat()), 72 * 28 * 8));
    for i in 0..144 {
        for (k, want) in relations(x[i], y[i]).into_iter().enumerate() {
            // True in a vector is all ones.
            assert_eq!(got[i / 2 * 28 + 2 * k + i % 2], -i64::from(want), "relation {k} of {:e}, {:e}", x[i], y[i]);
        }
    }
    let narrow: Vec<f32> = x.iter().chain(&y).map(|&v| if v == 1e-310 { 1e-40 } else { v as f32 }).collect();
    let got: Vec<i32> = values(&host().run("relations", 144, &bytes(&narrow), 144 * 64));
    for i in 0..144 {
        let (a, b) = (narrow[i], narrow[144 + i]);
        let mut want = relations(f64::from(a), f64::from(b)).map(i32::from);
        want[12] = i32::from(a.is_normal());
        assert_eq!(got[16 * i..16 * i + 14], want, "{a:e}, {b:e}");
        let signs = (i32::from(a.is_sign_negative()), i32::from(a.is_sign_negative() && b.is_sign_negative()));
        assert_eq!((got[16 * i + 14], got[16 * i + 15]), signs);
    }
}

#[test]
fn selection() {
    let mut random = Random(1);
    let x: Vec<i32> = (0..300).map(|i| if i % 7 == 0 { 0 } else { random.next() as i32 }).collect();
    let got: Vec<i32> = values(&host().run("selects", 100, &bytes(&x), 1200));
    for i in 0..100 {
        let (a, b, c) = (x[i], x[100 + i], x[200 + i]);
        // A scalar condition counts as a whole, one in a vector by its top bit.
        let want = [if c != 0 { b } else { a }, if c < 0 { b } else { a }, a & !c | b & c];
        assert_eq!(got[3 * i..3 * i + 3], want);
    }
}

fn near(got: f64, want: f64, ulps: f64, ulp: f64) {
    let close =
        (got - want).abs() <= ulps * ulp * want.abs().max(1e-30) || got == want || (got.is_nan() && want.is_nan());
    assert!(close, "{got:e}, expected {want:e}");
}

const FLOAT: f64 = f32::EPSILON as f64;

#[test]
fn common_functions() {
    let mut random = Random(2);
    let x: Vec<f32> = (0..300).map(|_| (random.next() as i32 as f32) * 2f32.powi(-29)).collect();
    let got: Vec<f32> = values(&host().run("commons", 100, &bytes(&x), 4000));
    for i in 0..100 {
        let [a, b, c] = [x[i], x[100 + i], x[200 + i]].map(f64::from);
        let t = ((b + 1.0) / 4.0).clamp(0.0, 1.0);
        let want = [
            a.clamp(-1.0, 2.0),
            a.to_degrees(),
            a.to_radians(),
            a.max(b),
            a.min(b),
            a + (b - a) * c,
            if b < a { 0.0 } else { 1.0 },
            t * t * (3.0 - 2.0 * t),
            a.signum(),
            a + (b - a) * 0.25,
        ];
        for (k, want) in want.into_iter().enumerate() {
            // A sum of products may cancel: the bound is of its terms.
            let slack = if k == 5 || k == 9 { (a.abs() + (b - a).abs() * (1.0 + c.abs())) / want.abs() } else { 1.0 };
            near(f64::from(got[10 * i + k]), want, 4.0 * slack, FLOAT);
        }
    }
    let special = [0.0, -0.0, f32::NAN, f32::NEG_INFINITY];
    let mut input = special.to_vec();
    input.extend([0.0; 8]);
    let got: Vec<f32> = values(&host().run("commons", 4, &bytes(&input), 160));
    let signs = [8, 18, 28, 38].map(|k| got[k].to_bits());
    assert_eq!(signs, [0f32, -0.0, 0.0, -1.0].map(f32::to_bits));
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

#[test]
fn geometry() {
    let mut random = Random(3);
    let n = 400;
    let x: Vec<f32> = (0..2 * n)
        .map(|i| {
            // Some vectors whose squares leave float's range.
            let scale = [0, 0, 90, -100][i / 4 % 4];
            (random.next() as i32 as f32) * 2f32.powi(-29) * 2f32.powi(scale)
        })
        .collect();
    let got: Vec<f32> = values(&host().run("geometry", n, &bytes(&x), n / 4 * 80));
    for i in 0..n / 4 {
        let a: Vec<f64> = x[4 * i..4 * i + 4].iter().map(|&v| f64::from(v)).collect();
        let b: Vec<f64> = x[n + 4 * i..n + 4 * i + 4].iter().map(|&v| f64::from(v)).collect();
        let o: Vec<f64> = got[20 * i..20 * i + 20].iter().map(|&v| f64::from(v)).collect();
        let length = dot(&a, &a).sqrt();
        let difference: Vec<f64> = a.iter().zip(&b).map(|(a, b)| a - b).collect();
        let size = length * dot(&b, &b).sqrt();
        let ordinary = [0, 0, 90, -100][i % 4] == 0;
        if ordinary {
            assert!((o[0] - dot(&a, &b)).abs() <= 4.0 * FLOAT * size);
            assert!((o[17] - dot(&a[..3], &b[..3])).abs() <= 4.0 * FLOAT * size);
            let cross = [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0], 0.0];
            for k in 0..4 {
                assert!((o[8 + k] - cross[k]).abs() <= 3.0 * FLOAT * size);
            }
            near(o[13], dot(&a[..3], &a[..3]).sqrt(), 8192.0, FLOAT);
            near(o[16], a[0] / length, 8192.0, FLOAT);
        }
        near(o[1], length, 4.75, FLOAT);
        near(o[2], dot(&difference, &difference).sqrt(), 4.75, FLOAT);
        near(o[12], dot(&a[..2], &a[..2]).sqrt(), 3.75, FLOAT);
        near(o[14], (a[0] - b[0]).abs(), 3.0, FLOAT);
        near(o[15], a[1] / dot(&a[..3], &a[..3]).sqrt(), 3.5, FLOAT);
        for k in 0..4 {
            near(o[4 + k], a[k] / length, 4.0, FLOAT);
        }
    }
    // No direction, an infinite one, none known.
    let special: Vec<f32> = [[0.0; 4], [f32::INFINITY, 1.0, -f32::INFINITY, 0.0], [1.0, f32::NAN, 0.0, 0.0]].concat();
    let got: Vec<f32> = values(&host().run("geometry", 12, &bytes(&[&special[..], &special].concat()), 240));
    assert_eq!(got[4..8], [0.0; 4]);
    let half = std::f32::consts::FRAC_1_SQRT_2;
    assert_eq!(got[24..28], [half, 0.0, -half, 0.0]);
    assert!(got[44..48].iter().all(|v| v.is_nan()));
}

#[test]
fn geometry_of_doubles_keeps_to_the_range() {
    let mut random = Random(4);
    let n = 300;
    let scales = [0, 700, -800, -1040];
    let x: Vec<f64> = (0..2 * n)
        .map(|i| {
            (random.next() as i64 as f64) * 2f64.powi(-60 + scales[i / 3 % 4] / 2) * 2f64.powi(scales[i / 3 % 4] / 2)
        })
        .collect();
    let got: Vec<f64> = values(&host().run("geometry_double", n, &bytes(&x), n / 3 * 48));
    for i in 0..n / 3 {
        let scale = scales[i % 4];
        let back = |v: f64| v * 2f64.powi(-scale / 2) * 2f64.powi(-scale + scale / 2);
        let a: Vec<f64> = x[3 * i..3 * i + 3].iter().map(|&v| back(v)).collect();
        let b: Vec<f64> = x[n + 3 * i..n + 3 * i + 3].iter().map(|&v| back(v)).collect();
        let o = &got[6 * i..6 * i + 6];
        let length = dot(&a, &a).sqrt();
        // Where the numbers are subnormal their last place is large.
        let ulps = if scale == -1040 { 2f64.powi(24) } else { 6.0 };
        near(back(o[0]), length, ulps, f64::EPSILON);
        let difference: Vec<f64> = a.iter().zip(&b).map(|(a, b)| a - b).collect();
        near(back(o[1]), dot(&difference, &difference).sqrt(), ulps, f64::EPSILON);
        for k in 0..3 {
            near(o[3 + k], a[k] / length, 6.0, f64::EPSILON);
        }
    }
}

/// Elements far smaller than the largest: what is exact in the result, subnormal or not, is not lost on the way.
#[test]
fn normalized_doubles_far_apart() {
    let power = |exponent: i32| f64::powi(2.0, exponent / 2) * f64::powi(2.0, exponent - exponent / 2);
    let table = [
        ([502, -536, 340], [0, -1038, -162]),
        ([1023, -51, -500], [0, -1074, -1523]),
        ([-1074, 40, -1000], [-1114, 0, -1040]),
        ([-460, -1074, -500], [0, -614, -40]),
        ([-1074, -2000, -2000], [0, -1000, -1000]),
    ];
    let x: Vec<f64> = table.iter().flat_map(|(exponents, _)| exponents.map(power)).collect();
    let n = x.len();
    let got: Vec<f64> = values(&host().run("geometry_double", n, &bytes(&[&x[..], &x].concat()), n * 16));
    for (i, (exponents, results)) in table.iter().enumerate() {
        let wanted = results.map(|exponent| if exponent == -1000 { 0.0 } else { power(exponent) });
        assert_eq!(got[6 * i + 3..6 * i + 6], wanted, "{exponents:?}");
    }
}
