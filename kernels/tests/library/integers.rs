//! Integer functions of every type against Rust's 128-bit arithmetic.

use std::fmt::Write;
use std::sync::OnceLock;

use crate::host::{Host, Random};

const TYPES: &[(&str, u32, bool)] = &[
    ("char", 8, true),
    ("uchar", 8, false),
    ("short", 16, true),
    ("ushort", 16, false),
    ("int", 32, true),
    ("uint", 32, false),
    ("long", 64, true),
    ("ulong", 64, false),
];

/// A type as the oracle sees it.
#[derive(Clone, Copy)]
struct Type {
    bits: u32,
    signed: bool,
}

impl Type {
    fn least(self) -> i128 {
        if self.signed { -(1 << (self.bits - 1)) } else { 0 }
    }
    fn most(self) -> i128 {
        (1 << (self.bits - u32::from(self.signed))) - 1
    }
    fn saturate(self, x: i128) -> i128 {
        x.clamp(self.least(), self.most())
    }
    fn unsigned(self, x: i128) -> u128 {
        x as u128 & ((1 << self.bits) - 1)
    }
}

/// Name and meaning with up to three arguments; a result beyond the type wraps.
type Function = (&'static str, usize, fn(Type, i128, i128, i128) -> i128);

const FUNCTIONS: &[Function] = &[
    ("abs", 1, |_, x, _, _| x.abs()),
    ("abs_diff", 2, |_, x, y, _| (x - y).abs()),
    ("add_sat", 2, |t, x, y, _| t.saturate(x + y)),
    ("sub_sat", 2, |t, x, y, _| t.saturate(x - y)),
    ("hadd", 2, |_, x, y, _| (x + y) >> 1),
    ("rhadd", 2, |_, x, y, _| (x + y + 1) >> 1),
    ("clz", 1, |t, x, _, _| i128::from(t.unsigned(x).leading_zeros() - (128 - t.bits))),
    ("ctz", 1, |t, x, _, _| i128::from(t.unsigned(x).trailing_zeros().min(t.bits))),
    ("popcount", 1, |t, x, _, _| i128::from(t.unsigned(x).count_ones())),
    ("mul_hi", 2, |t, x, y, _| x.wrapping_mul(y) >> t.bits),
    ("mad_hi", 3, |t, x, y, z| (x.wrapping_mul(y) >> t.bits) + z),
    ("mad_sat", 3, |t, x, y, z| t.saturate(x.checked_mul(y).map_or(i128::MAX, |p| p.saturating_add(z)))),
    ("max", 2, |_, x, y, _| x.max(y)),
    ("min", 2, |_, x, y, _| x.min(y)),
    ("rotate", 2, |t, x, n, _| {
        let n = n.rem_euclid(i128::from(t.bits)) as u32;
        let x = t.unsigned(x);
        (x << n | x >> (t.bits - n)) as i128
    }),
    ("bit_reverse", 1, |t, x, _, _| (t.unsigned(x).reverse_bits() >> (128 - t.bits)) as i128),
];

fn host() -> &'static Host {
    static HOST: OnceLock<Host> = OnceLock::new();
    HOST.get_or_init(|| {
        let mut source = String::new();
        for &(ty, ..) in TYPES {
            for &(name, arguments, _) in FUNCTIONS {
                let result =
                    if name.starts_with("abs") && !ty.starts_with('u') { format!("u{ty}") } else { ty.to_string() };
                let list = |prefix: &str, suffix: &str| {
                    (0..arguments).map(|a| format!("{prefix}{a}{suffix}")).collect::<Vec<_>>().join(", ")
                };
                writeln!(
                    source,
                    "void {ty}_{name}(global const {ty} *x, global {result} *r, ulong n)\n{{\n\
                     for (ulong i = 0; i < n; i++) r[i] = {name}({});\n}}\n\
                     void {ty}_{name}_3(global const {ty} *x, global {result} *r, ulong n)\n{{\n\
                     for (ulong i = 0; i < n / 3; i++) vstore3({name}({}), i, r);\n}}\n\
                     void {ty}_{name}_16(global const {ty} *x, global {result} *r, ulong n)\n{{\n\
                     for (ulong i = 0; i < n / 16; i++) vstore16({name}({}), i, r);\n}}",
                    list("x[i + n * ", "]"),
                    list("vload3(i, x + n * ", ")"),
                    list("vload16(i, x + n * ", ")"),
                )
                .expect("writing to a string");
            }
        }
        source.push_str(SPECIAL);
        Host::build("integers", &source)
    })
}

/// Functions that exist for some types only.
const SPECIAL: &str = r"
void mul24_int(global const int *x, global int *r, ulong n) { for (ulong i = 0; i < n; i++) r[i] = mul24(x[i] << 8 >> 8, x[n + i] << 8 >> 8); }
void mad24_uint(global const uint *x, global uint *r, ulong n)
{ for (ulong i = 0; i < n; i++) r[i] = mad24(x[i], x[n + i], x[2 * n + i]); }
void upsample_short(global const int *x, global int *r, ulong n)
{ for (ulong i = 0; i < n; i++) r[i] = upsample((short)x[i], (ushort)x[n + i]); }
void upsample_uint(global const uint *x, global ulong *r, ulong n)
{ for (ulong i = 0; i < n; i++) r[i] = upsample(x[i], x[n + i]); }
void clamp_char(global const char *x, global char *r, ulong n)
{ for (ulong i = 0; i < n / 8; i++) vstore8(clamp(vload8(i, x), (char)-5, (char)77), i, r); }
void insert_uint(global const uint *x, global uint *r, ulong n)
{ for (ulong i = 0; i < n; i++) r[i] = bitfield_insert(x[i], x[n + i], (uint)(i & 15), (uint)(i % 17)); }
void extract_int(global const int *x, global int *r, ulong n)
{ for (ulong i = 0; i < n; i++) r[i] = bitfield_extract_signed(x[i], (uint)(i & 15), (uint)(i % 17)); }
void extract_short4(global const ushort *x, global ushort *r, ulong n)
{ for (ulong i = 0; i < n / 4; i++) vstore4(bitfield_extract_unsigned(vload4(i, x), 3u, 7u), i, r); }
void dot_char(global const uint *x, global int *r, ulong n)
{ for (ulong i = 0; i < n; i++) r[i] = dot(as_char4(x[i]), as_char4(x[n + i])); }
void dot_sat(global const uint *x, global int *r, ulong n)
{ for (ulong i = 0; i < n; i++) r[i] = dot_acc_sat_4x8packed_us_int(x[i], x[n + i], (int)x[2 * n + i]); }
";

fn wrap(bits: u32, x: i128) -> u64 {
    (x as u128 & ((1u128 << bits) - 1)) as u64
}

fn samples(seed: u64, bits: u32, signed: bool, count: usize) -> Vec<i128> {
    let mut random = Random(seed);
    (0..count)
        .map(|i| {
            let word = match random.next() % 4 {
                0 => random.next(),
                1 => random.next() >> (random.next() % 64),
                2 => (1u64 << (i as u32 % bits)).wrapping_add_signed(random.next() as i64 % 3),
                _ => (random.next() % 5).wrapping_sub(2),
            };
            let shift = 64 - bits;
            if signed { i128::from(((word << shift) as i64) >> shift) } else { i128::from((word << shift) >> shift) }
        })
        .collect()
}

fn pack(values: &[i128], bits: u32) -> Vec<u8> {
    values.iter().flat_map(|x| (*x as u64).to_le_bytes()[..bits as usize / 8].to_vec()).collect()
}

fn unpack(bytes: &[u8], bits: u32) -> Vec<u64> {
    let size = bits as usize / 8;
    bytes
        .chunks_exact(size)
        .map(|chunk| chunk.iter().rev().fold(0, |word, &byte| word << 8 | u64::from(byte)))
        .collect()
}

#[test]
fn functions_of_every_type() {
    const N: usize = 48 * 60;
    for &(name, bits, signed) in TYPES {
        let ty = Type { bits, signed };
        let x: Vec<Vec<i128>> = (0..3).map(|k| samples(u64::from(bits) * 10 + k, bits, signed, N)).collect();
        let input: Vec<u8> = x.iter().flat_map(|x| pack(x, bits)).collect();
        for (function, _, meaning) in FUNCTIONS {
            for form in ["", "_3", "_16"] {
                let output = host().run(&format!("{name}_{function}{form}"), N, &input, N * bits as usize / 8);
                for (i, got) in unpack(&output, bits).into_iter().enumerate() {
                    let (a, b, c) = (x[0][i], x[1][i], x[2][i]);
                    let mut want = wrap(bits, meaning(ty, a, b, c));
                    if *function == "mul_hi" || *function == "mad_hi" {
                        // The unsigned 128-bit product does not fit the oracle's signed type.
                        let high = if signed { (a * b) >> bits } else { ((a as u128 * b as u128) >> bits) as i128 };
                        want = wrap(bits, high + if *function == "mad_hi" { c } else { 0 });
                    }
                    assert_eq!(got, want, "{function}{form} of {name}s {a}, {b}, {c}");
                }
            }
        }
    }
}

#[test]
fn functions_of_some_types() {
    const N: usize = 4800;
    let x: Vec<u32> = samples(7, 32, false, 3 * N).iter().map(|&x| x as u32).collect();
    let arguments = [&x[..N], &x[N..2 * N], &x[2 * N..]];
    let check = |name: &str, meaning: &dyn Fn(usize, u32, u32, u32) -> u32| {
        let got: Vec<u32> = host().map(name, &arguments);
        for i in 0..N {
            let (a, b, c) = (x[i], x[N + i], x[2 * N + i]);
            assert_eq!(got[i], meaning(i, a, b, c), "{name}({a:#x}, {b:#x}, {c:#x})");
        }
    };
    let low24 = |x: u32| ((x << 8) as i32 >> 8) as u32;
    check("mul24_int", &|_, a, b, _| low24(a).wrapping_mul(low24(b)));
    check("mad24_uint", &|_, a, b, c| (a & 0xff_ffff).wrapping_mul(b & 0xff_ffff).wrapping_add(c));
    check("upsample_short", &|_, a, b, _| a << 16 | (b & 0xffff));
    let field = |i: usize| ((i & 15) as u32, (i % 17) as u32);
    check("insert_uint", &|i, a, b, _| {
        let (offset, count) = field(i);
        let mask = ((1u32 << count) - 1) << offset;
        a & !mask | b << offset & mask
    });
    check("extract_int", &|i, a, _, _| {
        let (offset, count) = field(i);
        (0..32).fold(0, |r, bit| r | (a >> (offset + bit.min(count.max(1) - 1)) & 1) << bit) * u32::from(count != 0)
    });
    let dot = |a: u32, b: u32, first_signed: bool| -> i64 {
        (0..4)
            .map(|k| {
                let (p, q) = ((a >> (8 * k)) as u8, (b >> (8 * k)) as u8);
                (if first_signed { i64::from(p as i8) } else { i64::from(p) }) * i64::from(q as i8)
            })
            .sum()
    };
    check("dot_char", &|_, a, b, _| dot(a, b, true) as u32);
    check("dot_sat", &|_, a, b, c| {
        (dot(a, b, false) + i64::from(c as i32)).clamp(i64::from(i32::MIN), i64::from(i32::MAX)) as u32
    });

    let wide: Vec<u64> = host().map("upsample_uint", &arguments[..2]);
    for i in 0..N {
        assert_eq!(wide[i], u64::from(x[i]) << 32 | u64::from(x[N + i]));
    }
    let small: Vec<i8> = (i8::MIN..=i8::MAX).collect();
    let clamped: Vec<i8> = host().map("clamp_char", &[&small]);
    for (x, got) in small.iter().zip(clamped) {
        assert_eq!(got, (*x).clamp(-5, 77));
    }
    let shorts: Vec<u16> = x[..400].iter().map(|&x| x as u16).collect();
    let extracted: Vec<u16> = host().map("extract_short4", &[&shorts]);
    for (x, got) in shorts.iter().zip(extracted) {
        assert_eq!(got, x >> 3 & 0x7f);
    }
}
