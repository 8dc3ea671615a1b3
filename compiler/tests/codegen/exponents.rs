//! Significands, exponents, and sums times powers of two, whole ones and those of sixteenths: the machine's instructions, and what stands for them where there
//! are none, give the same for every kind of number.

use crate::gangs::head;
use crate::machine;
use lockstep_ir::interp::{Arg, Memory, NdRange, run_kernel};
use lockstep_ir::ir::{COUNTS_SIXTEENTHS, Module, parse_module};
use lockstep_protocol::compile_options::{CompileOptions, Vectorize};
use lockstep_protocol::configuration::Gangs;

/// What a kernel of two buffers makes of the first one: interpreted, and as machine code of every width with and without
/// AVX-512.
fn everywhere(text: &str, input: &[u8], items: usize, output: usize) -> Vec<(String, Vec<u8>)> {
    let module: Module = parse_module(text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    let range = NdRange::new(&[items as u64], &[items.min(100) as u64]);
    let arguments = [Arg::Buffer(0), Arg::Buffer(1)];
    let memory = || Memory::new(vec![input.to_vec(), vec![0; output]]);
    let mut interpreted = memory();
    run_kernel(&module, "k", &range, &arguments, &mut interpreted).unwrap();
    let mut found = vec![("interpreted".to_owned(), interpreted.buffers[1].clone())];
    let gangs = [2, 4, 8, 16, 32].map(|width| Vectorize::Gangs(Gangs::of_width(width)));
    for vectorize in [Vectorize::Scalar].into_iter().chain(gangs) {
        for simd in [None, Some(256), Some(128)] {
            let options = CompileOptions { vectorize, simd, ..CompileOptions::default() };
            let mut compiled = memory();
            machine::run_with(options, &module, "k", &range, &arguments, &mut compiled).unwrap();
            found.push((format!("{vectorize:?}, {simd:?}"), compiled.buffers[1].clone()));
        }
    }
    found
}

/// Doubles of all exponents and both signs, and of significands next to where they begin.
fn doubles() -> Vec<f64> {
    let mut found =
        vec![0.0, -0.0, f64::INFINITY, f64::NEG_INFINITY, f64::NAN, f64::MAX, 5e-324, 1e-310, -1e-310, -3.0];
    for exponent in (-1074..1024).step_by(3).chain([-1023, -1022, -1021, 1022, 1023]) {
        for significand in [1.0, 1.25, 1.5_f64.next_down(), 1.5, 1.5_f64.next_up(), 2.0_f64.next_down()] {
            found.push(libm::ldexp(significand, exponent));
        }
    }
    found
}

#[test]
fn every_double_is_taken_apart() {
    let text = head(2)
        + " region r0 {
 b0(v0: ptr.global, v1: ptr.global):
   v2: i64 = query.global_id 0
   v3: i64 = shl v2, 3
   v4: i64 = shl v2, 4
   v5: ptr.global = ptradd v0, v3
   v6: f64 = load v5 align 8
   v7: f64 = significand v6
   v8: f64 = logb v6
   v9: ptr.global = ptradd v1, v4
   store v7, v8 to v9 align 8
   return
 }
}
";
    let input = doubles();
    let bytes: Vec<u8> = input.iter().flat_map(|x| x.to_le_bytes()).collect();
    for (how, found) in everywhere(&text, &bytes, input.len(), 2 * bytes.len()) {
        let found: Vec<f64> = found.chunks_exact(8).map(|word| f64::from_le_bytes(word.try_into().unwrap())).collect();
        for (&x, pair) in input.iter().zip(found.chunks_exact(2)) {
            let (m, n) = (pair[0], pair[1]);
            let what = format!("{how}: {x:e} is {m} and {n}");
            match x {
                x if x.is_nan() => assert!(m.is_nan(), "{what}"),
                x if x < 0.0 => assert!(m.is_nan(), "{what}"),
                0.0 => assert!(m.is_finite() && n == f64::NEG_INFINITY, "{what}"),
                x if x.is_infinite() => assert!(m == 1.0 && n == f64::INFINITY, "{what}"),
                x => {
                    assert!((0.75..1.5).contains(&m) && n == n.floor(), "{what}");
                    // A denormal one has fewer bits than its significand could.
                    assert_eq!(libm::ldexp(m, n as i32), x, "{what}");
                }
            }
        }
    }
}

/// A kernel that stores `(a + b) 2^n` of elements of a type in rows of three; without b if it is zero.
fn scaled(ty: &str, bytes: u32, with_zero: bool) -> String {
    let (row, second) = (3 * bytes, if with_zero { "0.0" } else { "v7" });
    head(2)
        + &format!(
            " region r0 {{
 b0(v0: ptr.global, v1: ptr.global):
   v2: i64 = query.global_id 0
   v3: i64 = mul v2, {row}
   v4: i64 = mul v2, {bytes}
   v5: ptr.global = ptradd v0, v3
   v6: {ty}, v7: {ty}, v8: {ty} = load v5 align {bytes}
   v9: {ty} = scaled v6, {second}, v8
   v10: ptr.global = ptradd v1, v4
   store v9 to v10 align {bytes}
   return
 }}
}}
"
        )
}

#[test]
fn sums_of_doubles_times_powers_are_rounded_once() {
    let count = 6_755_399_441_057_790.0;
    let mut rows: Vec<[f64; 3]> = Vec::new();
    for n in (-1200..1100).chain([-2000, 2000]) {
        for (left, right) in
            [(0.25, 1.0), (1.0 / 3.0, 0.0), (-0.6180339887498949, 0.0), (1.0_f64.next_up(), 0.0), (0.0, 1.5)]
        {
            rows.push([left, right, count + f64::from(n)]);
        }
    }
    rows.extend([[f64::NAN, 0.0, f64::NAN], [f64::NAN, 1.0, count]]);
    let bytes: Vec<u8> = rows.iter().flatten().flat_map(|x| x.to_le_bytes()).collect();
    for with_zero in [false, true] {
        for (how, found) in everywhere(&scaled("f64", 8, with_zero), &bytes, rows.len(), 8 * rows.len()) {
            for (&[left, right, c], found) in rows.iter().zip(found.chunks_exact(8)) {
                let found = f64::from_le_bytes(found.try_into().unwrap());
                let sum = if with_zero { left } else { left + right };
                let exact = libm::ldexp(sum, (c - count) as i32);
                let same = found == exact || found.is_nan() && exact.is_nan();
                assert!(same, "{how}: {sum} by 2^{} is {found:e}, not {exact:e}", c - count);
            }
        }
    }
}

#[test]
fn sums_of_floats_times_powers_are_rounded_once() {
    let count = 12_583_166.0_f32;
    let mut rows: Vec<[f32; 3]> = Vec::new();
    for n in -250..=250_i16 {
        for (left, right) in [(0.25, 1.0), (1.0 / 3.0, 0.0), (-0.618_034, 0.0), (1.0_f32.next_up(), 0.0), (0.0, 1.5)] {
            rows.push([left, right, count + f32::from(n)]);
        }
    }
    rows.extend([[f32::NAN, 0.0, f32::NAN], [f32::NAN, 1.0, count]]);
    let bytes: Vec<u8> = rows.iter().flatten().flat_map(|x| x.to_le_bytes()).collect();
    for with_zero in [false, true] {
        for (how, found) in everywhere(&scaled("f32", 4, with_zero), &bytes, rows.len(), 4 * rows.len()) {
            for (&[left, right, c], found) in rows.iter().zip(found.chunks_exact(4)) {
                let found = f32::from_le_bytes(found.try_into().unwrap());
                let sum = if with_zero { left } else { left + right };
                // A double has the product exactly.
                let exact = (f64::from(sum) * f64::from(c - count).exp2()) as f32;
                let same = found == exact || found.is_nan() && exact.is_nan();
                assert!(same, "{how}: {sum} by 2^{} is {found:e}, not {exact:e}", c - count);
            }
        }
    }
}

/// A kernel that stores `(1 + a) 2^n` of pairs of a and what counts the sixteenths n.
const POWERED: &str = " region r0 {
 b0(v0: ptr.global, v1: ptr.global):
   v2: i64 = query.global_id 0
   v3: i64 = shl v2, 4
   v4: i64 = shl v2, 3
   v5: ptr.global = ptradd v0, v3
   v6: f64, v7: f64 = load v5 align 8
   v8: f64 = powered v6, v7
   v9: ptr.global = ptradd v1, v4
   store v8 to v9 align 8
   return
 }
}
";

#[test]
fn powers_of_sixteenths_are_off_by_two_roundings_at_most() {
    let mut rows: Vec<[f64; 2]> = Vec::new();
    for sixteenths in (-20_000..=17_000).step_by(7).chain([-32_000, 32_000]) {
        for a in [0.0, 0.02, -0.02, 1e-17] {
            rows.push([a, COUNTS_SIXTEENTHS + f64::from(sixteenths) / 16.0]);
        }
    }
    rows.extend([[f64::NAN, f64::NAN], [f64::NAN, COUNTS_SIXTEENTHS]]);
    let bytes: Vec<u8> = rows.iter().flatten().flat_map(|x| x.to_le_bytes()).collect();
    for (how, found) in everywhere(&(head(2) + POWERED), &bytes, rows.len(), 8 * rows.len()) {
        for (&[a, counted], found) in rows.iter().zip(found.chunks_exact(8)) {
            let found = f64::from_le_bytes(found.try_into().unwrap());
            let n = counted - COUNTS_SIXTEENTHS;
            let exact = libm::ldexp((1.0 + a) * (n - n.floor()).exp2(), n.floor() as i32);
            // A whole power is not rounded at all.
            let allowed = if a == 0.0 && n == n.floor() { 0.0 } else { (3.0 * f64::EPSILON * exact).max(5e-324) };
            let same = found == exact || (found - exact).abs() <= allowed || found.is_nan() && exact.is_nan();
            assert!(same, "{how}: {} by 2^{n} is {found:e}, not {exact:e}", 1.0 + a);
        }
    }
}
