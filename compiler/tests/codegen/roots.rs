//! Reciprocal square roots: within their bound for every float, and only where a quotient need not be exact.

use crate::gangs::head;
use crate::host_code::build;
use crate::machine;
use lockstep_compiler::interp::{Arg, Memory, NdRange};
use lockstep_compiler::ir::{InstData, Module, UnaryOp, parse_module};
use lockstep_compiler::pipeline::{CompileOptions, Vectorize};
use lockstep_compiler::widen::Gangs;

/// The units in the last place by which `rsqrt` may be off.
const BOUND: f64 = 2.0;

/// Floats of all exponents and signs, the special ones among them.
fn floats() -> Vec<f32> {
    let special = [0.0, -0.0, f32::INFINITY, f32::NEG_INFINITY, f32::NAN, f32::MAX, f32::MIN_POSITIVE, 1e-45, -1.0];
    let spread = (0..40_000_u32).map(|i| f32::from_bits(i.wrapping_mul(107_377)));
    special.into_iter().chain(spread).collect()
}

fn check(x: f32, found: f32, what: &str) {
    let exact = 1.0 / f64::from(x).sqrt();
    if exact.is_nan() || exact.is_infinite() || exact == 0.0 {
        let same = found.is_nan() && exact.is_nan() || f64::from(found) == exact;
        assert!(same, "{what}: {x:e} gives {found}, not {exact}");
        return;
    }
    let near = exact as f32;
    let ulp = f64::from(near.next_up()) - f64::from(near);
    let error = (f64::from(found) - exact).abs() / ulp;
    assert!(error <= BOUND, "{what}: {x:e} gives {found:e}, off by {error}");
}

#[test]
fn of_every_kind_of_float() {
    let text = head(2)
        + " region r0 {
 b0(v0: ptr.global, v1: ptr.global):
   v2: i64 = query.global_id 0
   v3: i64 = shl v2, 2
   v4: ptr.global = ptradd v0, v3
   v5: f32 = load v4 align 4
   v6: f32 = rsqrt v5
   v7: ptr.global = ptradd v1, v3
   store v6 to v7 align 4
   return
 }
}
";
    let module = parse_module(&text).unwrap();
    let input = floats();
    let bytes: Vec<u8> = input.iter().flat_map(|x| x.to_le_bytes()).collect();
    let range = NdRange::new(&[input.len() as u64], &[100]);
    for (width, simd) in [2, 4, 8, 16, 32, 64].into_iter().flat_map(|width| [None, Some(256)].map(|simd| (width, simd)))
    {
        let options =
            CompileOptions { vectorize: Vectorize::Gangs(Gangs::of_width(width)), simd, ..CompileOptions::default() };
        let mut memory = Memory::new(vec![bytes.clone(), vec![0; bytes.len()]]);
        machine::run_with(options, &module, "k", &range, &[Arg::Buffer(0), Arg::Buffer(1)], &mut memory).unwrap();
        let found = memory.buffers[1].chunks_exact(4).map(|word| f32::from_le_bytes(word.try_into().unwrap()));
        for (&x, found) in input.iter().zip(found) {
            check(x, found, &format!("width {width}, {simd:?}"));
        }
    }
}

fn reciprocal_roots(module: &Module) -> usize {
    let insts = module.kernels[0].regions.values().flat_map(|f| f.insts.values());
    insts.filter(|node| matches!(node.data, InstData::Unary { op: UnaryOp::Rsqrt, .. })).count()
}

#[test]
fn only_where_quotients_need_not_be_exact() {
    let kernel = |expression: &str| {
        format!("kernel void k(global float *a) {{ size_t i = get_global_id(0); a[i] = {expression}; }}")
    };
    for (expression, options, expected) in [
        ("1.0f / sqrt(a[i])", "", 1),
        ("1.0f / sqrt(a[i])", "-cl-fp32-correctly-rounded-divide-sqrt", 0),
        ("2.0f / sqrt(a[i])", "", 0),
        ("1.0 / sqrt((double)a[i])", "", 0),
        ("rsqrt(a[i])", "", 1),
    ] {
        let module = build(&kernel(expression), options);
        assert_eq!(reciprocal_roots(&module), expected, "{expression} {options}");
    }
}
