//! Conversions between all types with every rounding and saturation mode, against an exact oracle.
//!
//! Every source value is a 128-bit integer over a power of two or not finite; the oracle rounds that exactly.

use std::fmt::Write;
use std::sync::OnceLock;

use crate::host::{Host, Random};

const INTEGERS: &[(&str, u32, bool)] = &[
    ("char", 8, true),
    ("uchar", 8, false),
    ("short", 16, true),
    ("ushort", 16, false),
    ("int", 32, true),
    ("uint", 32, false),
    ("long", 64, true),
    ("ulong", 64, false),
];
/// Name, significand bits with the hidden one, least exponent of the last place, largest exponent, storage bits.
const FLOATS: &[(&str, i32, i32, i32, u32)] =
    &[("half", 11, -24, 15, 16), ("float", 24, -149, 127, 32), ("double", 53, -1074, 1023, 64)];
const MODES: &[&str] = &["", "_rte", "_rtz", "_rtp", "_rtn"];

#[derive(Clone, Copy, Debug, PartialEq)]
enum Value {
    NaN,
    Infinity(bool),
    /// (negative, significand, exponent): significand * 2^exponent.
    Finite(bool, u128, i32),
}

fn width(ty: &str) -> u32 {
    INTEGERS
        .iter()
        .map(|&(name, bits, _)| (name, bits))
        .chain(FLOATS.iter().map(|&(name, .., bits)| (name, bits)))
        .find(|&(name, _)| name == ty)
        .expect("a type")
        .1
}

fn decode(ty: &str, bits: u64) -> Value {
    if let Some(&(_, width, signed)) = INTEGERS.iter().find(|(name, ..)| *name == ty) {
        let shift = 64 - width;
        let value =
            if signed { i128::from(((bits << shift) as i64) >> shift) } else { i128::from((bits << shift) >> shift) };
        return Value::Finite(value < 0, value.unsigned_abs(), 0);
    }
    let &(_, digits, least, largest, width) = FLOATS.iter().find(|(name, ..)| *name == ty).expect("a type");
    let negative = bits >> (width - 1) & 1 == 1;
    let fraction = bits & ((1 << (digits - 1)) - 1);
    let exponent = (bits >> (digits - 1)) as i32 & (2 * largest + 1);
    if exponent == 2 * largest + 1 {
        return if fraction == 0 { Value::Infinity(negative) } else { Value::NaN };
    }
    if exponent == 0 {
        Value::Finite(negative, u128::from(fraction), least)
    } else {
        Value::Finite(negative, u128::from(fraction | 1 << (digits - 1)), exponent - 1 + least)
    }
}

/// significand * 2^exponent to an integer multiple of 2^place.
fn round(negative: bool, significand: u128, exponent: i32, place: i32, mode: &str) -> u128 {
    if exponent >= place {
        return significand.checked_shl((exponent - place) as u32).unwrap_or(u128::MAX);
    }
    let drop = (place - exponent) as u32;
    let (kept, rest, half) = if drop > 120 {
        (0, u128::from(significand != 0), 2)
    } else {
        (significand >> drop, significand & ((1 << drop) - 1), 1 << (drop - 1))
    };
    let up = match mode {
        "_rtz" => false,
        "_rtp" => !negative && rest != 0,
        "_rtn" => negative && rest != 0,
        _ => rest > half || (rest == half && kept & 1 == 1),
    };
    kept + u128::from(up)
}

/// The destination's bits, or nothing where the conversion is undefined; an integer source wraps instead.
fn oracle(to: &str, saturate: bool, mode: &str, value: Value, wraps: bool) -> Option<u64> {
    if let Some(&(_, width, signed)) = INTEGERS.iter().find(|(name, ..)| *name == to) {
        let most = (1i128 << (width - u32::from(signed))) - 1;
        let least = if signed { -most - 1 } else { 0 };
        let mask = if width == 64 { u64::MAX } else { (1 << width) - 1 };
        let result = match value {
            Value::NaN => saturate.then_some(0)?,
            Value::Infinity(negative) => saturate.then_some(if negative { least } else { most })?,
            Value::Finite(negative, significand, exponent) => {
                if exponent > 64 && significand != 0 {
                    saturate.then_some(if negative { least } else { most })?
                } else {
                    let mode = if mode.is_empty() { "_rtz" } else { mode };
                    let magnitude = round(negative, significand, exponent, 0, mode) as i128;
                    let rounded = if negative { -magnitude } else { magnitude };
                    if saturate {
                        rounded.clamp(least, most)
                    } else if wraps {
                        rounded
                    } else {
                        (least..=most).contains(&rounded).then_some(rounded)?
                    }
                }
            }
        };
        return Some(result as u64 & mask);
    }
    let &(_, digits, least, largest, width) = FLOATS.iter().find(|(name, ..)| *name == to).expect("a type");
    let infinity = ((2 * largest + 1) as u64) << (digits - 1);
    let sign = |negative: bool| u64::from(negative) << (width - 1);
    match value {
        Value::NaN => Some(infinity | 1 << (digits - 2)),
        Value::Infinity(negative) => Some(sign(negative) | infinity),
        Value::Finite(negative, significand, exponent) => {
            if significand == 0 {
                return Some(sign(negative));
            }
            let top = exponent + (127 - significand.leading_zeros() as i32);
            let place = (top - digits + 1).max(least);
            let kept = round(negative, significand, exponent, place, mode);
            // Adding the significand to the exponent field carries where rounding reached the next power of two.
            let bits = if kept < 1 << (digits - 1) {
                kept as u64
            } else {
                (((place - least) as u64) << (digits - 1)) + kept as u64
            };
            let overflow = place > largest || bits >= infinity;
            let toward_zero = mode == "_rtz" || (mode == "_rtp" && negative) || (mode == "_rtn" && !negative);
            Some(sign(negative) | if overflow { infinity - u64::from(toward_zero) } else { bits })
        }
    }
}

fn types() -> impl Iterator<Item = &'static str> {
    INTEGERS.iter().map(|i| i.0).chain(FLOATS.iter().map(|f| f.0))
}

/// (function without type prefix, saturating, mode) of each conversion to a type.
fn forms(to: &str) -> Vec<(String, bool, &'static str)> {
    let mut all = Vec::new();
    for mode in MODES {
        all.push((mode.to_string(), false, *mode));
        if INTEGERS.iter().any(|(name, ..)| *name == to) {
            all.push((format!("_sat{mode}"), true, *mode));
        }
    }
    all
}

fn host() -> &'static Host {
    static HOST: OnceLock<Host> = OnceLock::new();
    HOST.get_or_init(|| {
        let mut source = String::new();
        for to in types() {
            for from in types() {
                for (suffix, ..) in forms(to) {
                    writeln!(
                        source,
                        "void {from}_{to}{suffix}(global const {from} *x, global {to} *r, ulong n)\n\
                         {{ for (ulong i = 0; i < n; i++) r[i] = convert_{to}{suffix}(x[i]); }}"
                    )
                    .expect("writing to a string");
                }
                writeln!(
                    source,
                    "void {from}_{to}_16(global const {from} *x, global {to} *r, ulong n)\n\
                     {{ for (ulong i = 0; i < n / 16; i++) vstore16(convert_{to}16(vload16(i, x)), i, r); }}\n\
                     void {from}_{to}_3(global const {from} *x, global {to} *r, ulong n)\n\
                     {{ for (ulong i = 0; i < n / 3; i++) vstore3(convert_{to}3_rtn(vload3(i, x)), i, r); }}"
                )
                .expect("writing to a string");
            }
        }
        Host::build("conversions", &source)
    })
}

/// Numbers around every boundary of any type, as bits of `ty`.
fn samples(ty: &str) -> Vec<u64> {
    let mut all = Vec::new();
    let mut random = Random(u64::from(width(ty)) + ty.len() as u64);
    if let Some(&(_, digits, _, largest, bits)) = FLOATS.iter().find(|(name, ..)| *name == ty) {
        let bias = largest;
        for exponent in -26..=70 {
            if exponent > largest || exponent + bias < 0 {
                continue;
            }
            for sign in [0, 1u64 << (bits - 1)] {
                let one = ((exponent + bias) as u64) << (digits - 1);
                for step in -3i64..=3 {
                    all.push(sign | one.wrapping_add_signed(step) & !(1 << (bits - 1)));
                }
                all.push(sign | one | 1 << (digits - 2));
                all.push(sign | one | 1 << (digits - 3));
                all.push(sign | one | random.next() & ((1 << (digits - 1)) - 1));
            }
        }
        let infinity = ((2 * largest + 1) as u64) << (digits - 1);
        let sign = 1u64 << (bits - 1);
        for edge in [0, 1, 2, infinity - 1, infinity, infinity | 1 << (digits - 2)] {
            all.extend([edge, edge | sign]);
        }
    } else {
        for bit in 0..64 {
            for step in -2i64..=2 {
                all.push((1u64 << bit).wrapping_add_signed(step));
                all.push((1u64 << bit).wrapping_neg().wrapping_add_signed(step));
            }
        }
        for near in [65504u64, 65519, 65520, 65521, 65536] {
            all.extend([near, near.wrapping_neg()]);
        }
    }
    for _ in 0..400 {
        all.push(random.next() >> (random.next() % 64));
    }
    let mask = if width(ty) == 64 { u64::MAX } else { (1 << width(ty)) - 1 };
    all.iter_mut().for_each(|bits| *bits &= mask);
    all.truncate(all.len() / 48 * 48);
    all
}

fn pack(bits: &[u64], width: u32) -> Vec<u8> {
    bits.iter().flat_map(|b| b.to_le_bytes()[..width as usize / 8].to_vec()).collect()
}

fn unpack(bytes: &[u8], width: u32) -> Vec<u64> {
    let size = width as usize / 8;
    bytes
        .chunks_exact(size)
        .map(|chunk| {
            let mut word = [0; 8];
            word[..size].copy_from_slice(chunk);
            u64::from_le_bytes(word)
        })
        .collect()
}

fn is_nan(ty: &str, bits: u64) -> bool {
    decode(ty, bits) == Value::NaN
}

#[test]
fn every_pair_and_mode() {
    for from in types() {
        let x = samples(from);
        let input = pack(&x, width(from));
        let wraps = INTEGERS.iter().any(|(name, ..)| *name == from);
        for to in types() {
            let size = x.len() * width(to) as usize / 8;
            let check = |name: &str, saturate: bool, mode: &str| {
                let got = unpack(&host().run(name, x.len(), &input, size), width(to));
                for (&x, &got) in x.iter().zip(&got) {
                    let value = decode(from, x);
                    let Some(want) = oracle(to, saturate, mode, value, wraps) else { continue };
                    let same = got == want || (is_nan(to, got) && is_nan(to, want));
                    assert!(same, "{name}({x:#x} = {value:?}) = {got:#x}, expected {want:#x}");
                }
            };
            for (suffix, saturate, mode) in forms(to) {
                check(&format!("{from}_{to}{suffix}"), saturate, mode);
            }
            check(&format!("{from}_{to}_16"), false, "");
            check(&format!("{from}_{to}_3"), false, "_rtn");
        }
    }
}
