//! Roots and quotients from estimates: within their bounds for every float, and only where they need not be exact.

use crate::gangs::{head, stages};
use crate::host_code::build;
use crate::machine;
use lockstep_ir::interp::{Arg, Memory, NdRange};
use lockstep_ir::ir::{InstData, Module, UnaryOp, parse_module};
use lockstep_protocol::compile_options::{CompileOptions, Vectorize};
use lockstep_protocol::configuration::Gangs;

/// The units in the last place by which `rsqrt` may be off.
const BOUND: f64 = 2.0;

/// Floats of all exponents and signs, the special ones among them.
fn floats() -> Vec<f32> {
    let special = [0.0, -0.0, f32::INFINITY, f32::NEG_INFINITY, f32::NAN, f32::MAX, f32::MIN_POSITIVE, 1e-45, -1.0];
    let spread = (0..40_000_u32).map(|index| f32::from_bits(index.wrapping_mul(107_377)));
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
    let insts = module.kernels[0].regions.values().flat_map(|function| function.insts.values());
    insts.filter(|node| matches!(node.data, InstData::Unary { opcode: UnaryOp::Rsqrt, .. })).count()
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

/// How a kernel is compiled: in gangs of so many work-items, or one after the other, in registers of at most so many bits.
type Way = (Option<u32>, Option<u32>);

const WAYS: [Way; 5] = [(Some(16), None), (Some(16), Some(256)), (Some(16), Some(128)), (Some(2), None), (None, None)];

/// Runs a kernel of three buffers `a`, `b` and `c` over the first two and returns what it leaves in the third.
fn run_over(source: &str, a: &[f32], b: &[f32], (width, simd): Way) -> Vec<f32> {
    let module = build(source, "");
    let bytes = |values: &[f32]| values.iter().flat_map(|x| x.to_le_bytes()).collect::<Vec<u8>>();
    let mut memory = Memory::new(vec![bytes(a), bytes(b), vec![0; 4 * a.len()]]);
    let vectorize = width.map_or(Vectorize::Scalar, |width| Vectorize::Gangs(Gangs::of_width(width)));
    let options = CompileOptions { vectorize, simd, ..CompileOptions::default() };
    let range = NdRange::new(&[a.len() as u64], &[100]);
    let arguments = [Arg::Buffer(0), Arg::Buffer(1), Arg::Buffer(2)];
    machine::run_with(options, &module, "k", &range, &arguments, &mut memory).unwrap();
    memory.buffers[2].chunks_exact(4).map(|word| f32::from_le_bytes(word.try_into().unwrap())).collect()
}

fn kernel_of(expression: &str) -> String {
    format!(
        "kernel void k(global const float *a, global const float *b, global float *c) {{
            size_t i = get_global_id(0);
            c[i] = {expression};
        }}"
    )
}

/// Whether a result is that of a special case, or off by so many units in the last place at most.
fn is_near(found: f32, exact: f64, bound: f64) -> bool {
    if exact.is_nan() || exact.is_infinite() || exact == 0.0 {
        return found.is_nan() && exact.is_nan() || f64::from(found) == exact;
    }
    let near = exact as f32;
    if near.is_infinite() {
        return found == near;
    }
    let ulp = f64::from(near.abs().next_up()) - f64::from(near.abs());
    (f64::from(found) - exact).abs() <= bound * ulp
}

/// Whether a result is near that of an operand or, where the operand is denormal, near that of a zero of its sign.
fn is_near_or_flushed(x: f32, found: f32, exact: impl Fn(f64) -> f64, bound: f64) -> bool {
    let flushed = x.is_subnormal() && is_near(found, exact(0.0_f64.copysign(x.into())), bound);
    let tiny = |exact: f64| exact.abs() < f64::from(f32::MIN_POSITIVE) && f64::from(found).abs() <= exact.abs() * 1.01;
    flushed || is_near(found, exact(x.into()), bound) || tiny(exact(x.into()))
}

type Exact = fn(f64) -> f64;

#[test]
fn native_and_half_forms_of_every_kind_of_float() {
    let x = floats();
    let forms: [(&str, Exact, f64); 3] =
        [("sqrt", f64::sqrt, 2.0), ("rsqrt", |x| 1.0 / x.sqrt(), 1024.0), ("recip", f64::recip, 5.0)];
    for (name, exact, native) in forms {
        for (form, bound) in [("native_", native), ("half_", 8192.0)] {
            for way in WAYS {
                for (&x, found) in x.iter().zip(run_over(&kernel_of(&format!("{form}{name}(a[i])")), &x, &x, way)) {
                    // The native root of a denormal number may be that number: next to zero as well.
                    let own = form == "native_" && name == "sqrt" && x.is_subnormal() && found == x;
                    let right = own || is_near_or_flushed(x, found, exact, bound);
                    assert!(right, "{way:?}: {form}{name} of {x:e} gives {found:e}");
                }
            }
        }
    }
}

#[test]
fn native_and_half_quotients_of_every_kind_of_float() {
    let mut y = floats();
    let mut x: Vec<f32> = (0..y.len()).map(|index| y[index * 7919 % y.len()]).collect();
    // Quotients a little below the largest float, by divisors near one as well.
    let by: Vec<f32> = (0..2000_u32).map(|index| 2_f32.powf((index as f32 - 1800.0) / 100.0)).collect();
    x.extend(by.iter().map(|&y| if y < 1.0 { f32::MAX * 0.99 * y } else { f32::MAX }));
    y.extend(by);
    for (call, beyond, bound) in [("native_divide", 2_f32.powi(126), 6.0), ("half_divide", f32::MAX, 8192.0)] {
        for way in WAYS {
            for ((&x, &y), found) in
                x.iter().zip(&y).zip(run_over(&kernel_of(&format!("{call}(a[i], b[i])")), &x, &y, way))
            {
                let by = |y: f64| move |x: f64| x / y;
                // A denormal divisor may count as zero: to half_divide only if the dividend is not denormal as well. The
                // quotient of two denormal numbers may be that of zeros, but not infinity.
                let zero = (call == "native_divide" || !x.is_subnormal())
                    && y.is_subnormal()
                    && is_near_or_flushed(x, found, by(0.0_f64.copysign(y.into())), bound);
                let both_zeros = x.is_subnormal() && y.is_subnormal() && found.is_nan();
                // The reciprocal of a divisor beyond may be zero.
                let no_reciprocal =
                    y.is_finite() && y.abs() > beyond && is_near_or_flushed(x, found, |x| x * 0.0, bound);
                let right = is_near_or_flushed(x, found, by(y.into()), bound) || zero || both_zeros || no_reciprocal;
                assert!(right, "{way:?}: {call} of {x:e} and {y:e} gives {found:e}");
            }
        }
    }
}

/// Doubles of all exponents, the special ones among them.
fn doubles() -> Vec<f64> {
    let special = [0.0, -0.0, f64::INFINITY, f64::NEG_INFINITY, f64::NAN, f64::MAX, f64::MIN_POSITIVE, 5e-324, -1.0];
    let spread = (0..20_000_u64).map(|i| f64::from_bits(i.wrapping_mul(0x1_9e37_79b9_7f4b)));
    special.into_iter().chain(spread).collect()
}

/// With the machine's estimates and, on registers of at most 256 bits, without.
#[test]
fn roots_of_every_kind_of_double() {
    let x = doubles();
    let bytes: Vec<u8> = x.iter().flat_map(|x| x.to_le_bytes()).collect();
    let source = |call: &str| {
        format!(
            "kernel void k(global const double *a, global double *c) {{ size_t i = get_global_id(0); c[i] = {call}; }}"
        )
    };
    let calls: [(&str, Exact); 2] =
        [("rsqrt(a[i])", |x| 1.0 / x.sqrt()), ("hypot(a[i], a[i] * 0.75)", |x| x.abs() * 1.25)];
    for ((call, exact), (width, simd)) in calls.into_iter().flat_map(|call| WAYS.map(|way| (call, way))) {
        let module = build(&source(call), "");
        let mut memory = Memory::new(vec![bytes.clone(), vec![0; bytes.len()]]);
        let vectorize = width.map_or(Vectorize::Scalar, |width| Vectorize::Gangs(Gangs::of_width(width)));
        let options = CompileOptions { vectorize, simd, ..CompileOptions::default() };
        let (range, arguments) = (NdRange::new(&[x.len() as u64], &[100]), [Arg::Buffer(0), Arg::Buffer(1)]);
        machine::run_with(options, &module, "k", &range, &arguments, &mut memory).unwrap();
        let found = memory.buffers[1].chunks_exact(8).map(|word| f64::from_le_bytes(word.try_into().unwrap()));
        for (&x, found) in x.iter().zip(found) {
            let exact = exact(x);
            let ulp = exact.abs().next_up() - exact.abs();
            let near = (found - exact).abs() <= BOUND * ulp || found == exact || found.is_nan() && exact.is_nan();
            // Three quarters of the smallest numbers are not what is multiplied.
            let tiny = exact != 0.0 && exact.abs() < 1e-307;
            assert!(near || tiny, "{width:?}, {simd:?}: {call} with {x:e} gives {found:e}, not {exact:e}");
        }
    }
}

/// Leave to take reciprocals for one expression.
fn with_reciprocals(expression: &str) -> String {
    format!(
        "kernel void k(global const float *a, global const float *b, global float *c) {{
            #pragma clang fp reciprocal(on)
            size_t i = get_global_id(0);
            c[i] = {expression};
        }}"
    )
}

#[test]
fn roots_and_quotients_with_leave_to_take_reciprocals() {
    let y = floats();
    let x: Vec<f32> = (0..y.len()).map(|index| y[index * 7919 % y.len()]).collect();
    for way in WAYS {
        let roots = run_over(&with_reciprocals("__builtin_elementwise_sqrt(b[i])"), &x, &y, way);
        for (&y, found) in y.iter().zip(roots) {
            // The step does not see what is left of a denormal number.
            let bound = if y.abs() < 1e-30 { 8192.0 } else { 2.0 };
            assert!(is_near(found, f64::from(y).sqrt(), bound), "{way:?}: the root of {y:e} is {found:e}");
        }
        let quotients = run_over(&with_reciprocals("a[i] / b[i]"), &x, &y, way);
        for ((&x, &y), found) in x.iter().zip(&y).zip(quotients) {
            let exact = f64::from(x) / f64::from(y);
            let beyond = y.is_finite() && y != 0.0 && !(f32::MIN_POSITIVE..=2_f32.powi(126)).contains(&y.abs());
            let right = beyond || is_near_or_flushed(x, found, |x| x / f64::from(y), 3.0);
            assert!(right, "{way:?}: {x:e} by {y:e} gives {found:e}, not {exact:e}");
        }
    }
}

/// Whether code has quotients or roots of whole gangs.
fn divides(source: &str) -> bool {
    let [llvm] = stages(&build(source, ""), 16, ["optimize.ll"]);
    let wide = |operation: &str| llvm.lines().any(|line| line.contains("<16 x float>") && line.contains(operation));
    wide("fdiv") || wide("@llvm.sqrt")
}

#[test]
fn native_and_half_forms_are_made_of_estimates() {
    for call in ["sqrt(a[i])", "rsqrt(a[i])", "recip(a[i])", "divide(a[i], b[i])", "tan(a[i])"] {
        for form in ["native_", "half_"] {
            assert!(!divides(&kernel_of(&format!("{form}{call}"))), "{form}{call}");
        }
    }
    for plain in ["sqrt(a[i])", "a[i] / b[i]"] {
        assert!(divides(&kernel_of(plain)), "{plain}");
    }
}

#[test]
fn with_leave_to_take_reciprocals_they_come_from_good_estimates() {
    let host = lockstep_compiler::machine_code::host_target(None);
    for expression in ["__builtin_elementwise_sqrt(a[i])", "a[i] / b[i]"] {
        assert_ne!(divides(&with_reciprocals(expression)), host.estimates, "{expression}");
    }
}
