//! Accuracy of the math functions: results of the driver against references of 120 bits by MPFR, in ulp.
//!
//! A test run compares every function at the edges that section 7.5 speaks of, in all combinations, and at some hundred
//! thousand arguments; functions of one half at all of them. `cargo xtask accuracy` compares functions of one float at
//! all of them and writes the worst errors to `docs/accuracy.md`: `LOCKSTEP_TEST_STEP` says at every how many-th float,
//! `LOCKSTEP_TEST_WRITE` into which page, `LOCKSTEP_TEST_ONLY` for which functions.
//!
//! For floats and halves a reference in double by the host's library, off by 2^-50 or so, tells which results may be
//! worse than the worst so far; MPFR has the word about those. At edges and for doubles it always has.

mod exact;
mod format;
mod functions;
mod guarantees;
mod measure;
mod page;
mod samples;

use format::Type;
use functions::{Function, Relaxed};
use lockstep_conformance::opencl_sys::*;
use lockstep_conformance::{Plain, Setup, info};
use measure::{Effort, Measure, Mode, Worst};
use page::{Row, Section};

/// The functions asked for.
fn chosen(functions: Vec<Function>) -> Vec<Function> {
    let only = std::env::var("LOCKSTEP_TEST_ONLY").ok();
    let wanted = |function: &Function| {
        let name = function.name.split(',').next().unwrap_or_default();
        only.as_ref().is_none_or(|only| only.split(',').any(|part| part == name))
    };
    functions.into_iter().filter(wanted).collect()
}

fn effort() -> Effort {
    match std::env::var("LOCKSTEP_TEST_STEP") {
        Ok(step) => {
            let step = step.parse().expect("LOCKSTEP_TEST_STEP is a number");
            Effort { step, many: 1 << 24, few: 1 << 17 }
        }
        Err(_) => Effort { step: 8191, many: 1 << 18, few: 1 << 13 },
    }
}

/// Whether a result is within what is wanted in this mode.
fn within(ty: Type, mode: Mode, function: &Function, worst: &Worst) -> bool {
    match (mode, function.relaxed) {
        (Mode::Native, _) => true,
        (Mode::Relaxed, Relaxed::Ulp(bound)) => worst.error <= bound,
        (Mode::Relaxed, Relaxed::Exponential | Relaxed::Logarithm | Relaxed::Wave(_)) => worst.share <= 1.0,
        _ => worst.error <= function.bound(ty) || function.bound(ty).is_infinite(),
    }
}

/// What is wanted, in words.
fn wanted(ty: Type, mode: Mode, function: &Function) -> String {
    let ulp = |bound: f64| match bound {
        0.0 => "exact".to_owned(),
        bound if bound.is_infinite() => "none".to_owned(),
        bound => format!("{bound}"),
    };
    match (mode, function.relaxed) {
        (Mode::Native, _) => "none".to_owned(),
        (Mode::Relaxed, Relaxed::Ulp(bound)) => ulp(bound),
        (Mode::Relaxed, Relaxed::Exponential) => "3 + floor(abs(2x))".to_owned(),
        (Mode::Relaxed, Relaxed::Logarithm) => "2^-21 absolute in [0.5, 2], else 3".to_owned(),
        (Mode::Relaxed, Relaxed::Wave(limit)) => {
            format!("2^-11 absolute in ±{}", if limit == 1.0 { "1" } else { "π" })
        }
        _ => ulp(function.bound(ty)),
    }
}

/// Measures functions, writes their rows where that is wanted, and fails with all that miss their bounds.
fn check(section: Section, ty: Type, mode: Mode, functions: Vec<Function>) {
    let functions = chosen(functions);
    if functions.is_empty() {
        return;
    }
    let mut rows = Vec::new();
    let mut missed = Vec::new();
    Measure::new(ty, mode, functions).all(effort(), |function, worst| {
        let shown = format!(
            "{}: {:.4} ulp at {:?}: {:e} and not {:e} ({} compared)",
            function.name, worst.error, worst.arguments, worst.got, worst.want, worst.compared
        );
        println!("{} {shown}", section.title());
        if !within(ty, mode, function, worst) {
            missed.push(shown);
        }
        rows.push(Row::new(ty, function, wanted(ty, mode, function), worst));
    });
    page::update(section, rows);
    assert!(missed.is_empty(), "beyond the bounds of {}:\n{}", section.title(), missed.join("\n"));
}

#[test]
fn floats() {
    check(Section::Float, Type::Float, Mode::Full, functions::all());
}

#[test]
fn doubles() {
    check(Section::Double, Type::Double, Mode::Full, functions::all());
}

#[test]
fn halves() {
    check(Section::Half, Type::Half, Mode::Full, functions::all());
}

#[test]
fn correctly_rounded_floats() {
    check(Section::Rounded, Type::Float, Mode::Rounded, functions::correctly_rounded());
}

#[test]
fn relaxed_floats() {
    // Roots keep their bounds, but machines have estimates of them.
    let estimated = |function: &Function| ["sqrt", "rsqrt"].contains(&function.name);
    let wanted = |function: &Function| function.relaxed != Relaxed::Same || estimated(function);
    let functions = functions::all().into_iter().filter(wanted).collect();
    check(Section::Relaxed, Type::Float, Mode::Relaxed, functions);
}

#[test]
fn half_forms() {
    check(Section::HalfForms, Type::Float, Mode::Half, functions::forms());
}

#[test]
fn native_forms() {
    check(Section::NativeForms, Type::Float, Mode::Native, functions::forms());
}

/// Fails with the promised ranges that a result leaves, and the promised exact results that are others.
fn check_promises(ty: Type, mode: Mode) {
    let promised = |function: &Function| guarantees::of(function.name).is_some();
    let functions: Vec<Function> = chosen(functions::all()).into_iter().filter(promised).collect();
    if functions.is_empty() {
        return;
    }
    let measure = Measure::new(ty, mode, functions.clone());
    let mut missed = Vec::new();
    for function in &functions {
        let guarantee = guarantees::of(function.name).expect("only those are left");
        if let Some(Worst { arguments, got, want, .. }) = measure.beyond_range(function, effort()) {
            missed.push(format!("{} at {arguments:?}: {got:e} is beyond {want:e}", function.name));
        }
        let inexact = measure.inexact(function, guarantee);
        if let Some((point, got)) = inexact.first() {
            let (arguments, want, count) = (point.arguments, point.want, inexact.len());
            missed.push(format!("{} at {arguments:?}: {got:e} and not {want:e}, one of {count}", function.name));
        }
    }
    assert!(missed.is_empty(), "missed by {} in {mode:?}:\n{}", ty.name(), missed.join("\n"));
}

#[test]
fn promises_of_floats() {
    check_promises(Type::Float, Mode::Full);
}

#[test]
fn promises_of_doubles() {
    check_promises(Type::Double, Mode::Full);
}

#[test]
fn promises_of_halves() {
    check_promises(Type::Half, Mode::Full);
}

#[test]
fn promises_of_relaxed_floats() {
    check_promises(Type::Float, Mode::Relaxed);
}

#[test]
fn promises_of_relaxed_doubles() {
    check_promises(Type::Double, Mode::Relaxed);
}

/// What the comparisons take for granted.
#[test]
fn the_device_reports_denormals_and_rounding_to_nearest() {
    let setup = Setup::new();
    for name in [CL_DEVICE_SINGLE_FP_CONFIG, CL_DEVICE_DOUBLE_FP_CONFIG, CL_DEVICE_HALF_FP_CONFIG] {
        let config: u64 = device_info(&setup, name);
        let wanted = CL_FP_DENORM | CL_FP_INF_NAN | CL_FP_ROUND_TO_NEAREST;
        assert_eq!(config & wanted, wanted, "{name:#x}");
    }
}

fn device_info<T: Plain>(setup: &Setup, name: cl_device_info) -> T {
    let cl = lockstep_conformance::cl();
    info::value(|size, value, returned| (cl.clGetDeviceInfo)(setup.device(), name, size, value, returned))
}
