//! Math functions, each in a kernel that computes little else: a work-item adds up the function's values at sixteen
//! places, and its arguments stay in the caches.

use std::ops::Range;

use lockstep_conformance::{Plain, Random};

use crate::args;
use crate::case::{Case, Data, Problem, step};

/// No function may be slower than other drivers' times this.
pub const WANTED: f64 = 0.6;

const COUNT: usize = 1 << 16;
/// Values of each work-item.
const PLACES: usize = 16;

/// A type's case: name, call, ranges of both arguments, the host's computation.
macro_rules! function {
    ($ty:ident, $name:literal, $call:literal, $a:expr, $b:expr, $host:expr) => {
        Case {
            name: concat!($name, "_", stringify!($ty)),
            source: concat!(
                "typedef ", stringify!($ty), " T;\n",
                "kernel void f(global const T *x, global const T *y, global T *out, T by_a, T by_b) {\n",
                "    size_t i = get_global_id(0);\n",
                "    T a = x[i], b = y[i], sum = 0;\n",
                "    for (int k = 0; k < 16; ++k, a += by_a, b += by_b) sum += ", $call, ";\n",
                "    out[i] = sum;\n}\n"
            ),
            wanted: 1.0,
            problem: || problem::<function!(@host $ty)>($a, $b, $host, <function!(@host $ty)>::TOLERANCE),
        }
    };
    (@host float) => { f32 };
    (@host double) => { f64 };
}

/// All of them, in the order of the table.
pub const FUNCTIONS: &[Case] = &[
    function!(float, "sin", "sin(a)", -32.0..32.0, 0.0..1.0, |a, _| a.sin()),
    function!(float, "cos", "cos(a)", -32.0..32.0, 0.0..1.0, |a, _| a.cos()),
    function!(float, "tan", "tan(a)", -32.0..32.0, 0.0..1.0, |a, _| a.tan()),
    function!(float, "exp", "exp(a)", -16.0..16.0, 0.0..1.0, |a, _| a.exp()),
    function!(float, "exp2", "exp2(a)", -16.0..16.0, 0.0..1.0, |a, _| a.exp2()),
    function!(float, "log", "log(a)", 0.0..64.0, 0.0..1.0, |a, _| a.ln()),
    function!(float, "log2", "log2(a)", 0.0..64.0, 0.0..1.0, |a, _| a.log2()),
    function!(float, "pow", "pow(a, b)", 0.0..16.0, -4.0..4.0, |a, b| a.powf(b)),
    function!(float, "sqrt", "sqrt(a)", 0.0..64.0, 0.0..1.0, |a, _| a.sqrt()),
    function!(float, "rsqrt", "rsqrt(a)", 0.0..64.0, 0.0..1.0, |a, _| 1.0 / a.sqrt()),
    function!(float, "divide", "a / b", -16.0..16.0, 0.0..16.0, |a, b| a / b),
    function!(float, "atan2", "atan2(a, b)", -8.0..8.0, -8.0..8.0, |a, b| a.atan2(b)),
    function!(float, "erf", "erf(a)", -4.0..4.0, 0.0..1.0, |a, _| libm::erf(a)),
    function!(float, "tanh", "tanh(a)", -4.0..4.0, 0.0..1.0, |a, _| a.tanh()),
    function!(float, "sinh", "sinh(a)", -8.0..8.0, 0.0..1.0, |a, _| a.sinh()),
    function!(float, "cbrt", "cbrt(a)", -32.0..32.0, 0.0..1.0, |a, _| a.cbrt()),
    function!(float, "fmod", "fmod(a, b)", -64.0..64.0, 0.0..8.0, |a, b| a % b),
    function!(float, "hypot", "hypot(a, b)", -8.0..8.0, -8.0..8.0, |a, b| a.hypot(b)),
    function!(double, "sin", "sin(a)", -32.0..32.0, 0.0..1.0, |a, _| a.sin()),
    function!(double, "cos", "cos(a)", -32.0..32.0, 0.0..1.0, |a, _| a.cos()),
    function!(double, "tan", "tan(a)", -32.0..32.0, 0.0..1.0, |a, _| a.tan()),
    function!(double, "exp", "exp(a)", -16.0..16.0, 0.0..1.0, |a, _| a.exp()),
    function!(double, "exp2", "exp2(a)", -16.0..16.0, 0.0..1.0, |a, _| a.exp2()),
    function!(double, "log", "log(a)", 0.0..64.0, 0.0..1.0, |a, _| a.ln()),
    function!(double, "log2", "log2(a)", 0.0..64.0, 0.0..1.0, |a, _| a.log2()),
    function!(double, "pow", "pow(a, b)", 0.0..16.0, -4.0..4.0, |a, b| a.powf(b)),
    function!(double, "sqrt", "sqrt(a)", 0.0..64.0, 0.0..1.0, |a, _| a.sqrt()),
    function!(double, "rsqrt", "rsqrt(a)", 0.0..64.0, 0.0..1.0, |a, _| 1.0 / a.sqrt()),
    function!(double, "divide", "a / b", -16.0..16.0, 0.0..16.0, |a, b| a / b),
    function!(double, "atan2", "atan2(a, b)", -8.0..8.0, -8.0..8.0, |a, b| a.atan2(b)),
    function!(double, "erf", "erf(a)", -4.0..4.0, 0.0..1.0, |a, _| libm::erf(a)),
    function!(double, "tanh", "tanh(a)", -4.0..4.0, 0.0..1.0, |a, _| a.tanh()),
    function!(double, "sinh", "sinh(a)", -8.0..8.0, 0.0..1.0, |a, _| a.sinh()),
    function!(double, "cbrt", "cbrt(a)", -32.0..32.0, 0.0..1.0, |a, _| a.cbrt()),
    function!(double, "fmod", "fmod(a, b)", -64.0..64.0, 0.0..8.0, |a, b| a % b),
    function!(double, "hypot", "hypot(a, b)", -8.0..8.0, -8.0..8.0, |a, b| a.hypot(b)),
];

/// The `native_` and `half_` form of a function, in a kernel with a sum for every other place: all values in one sum would wait
/// for each other longer than some take. Built with [`PLAIN_OPTION`], the kernel has the function itself.
macro_rules! forms {
    ($($name:literal, $arguments:literal, $plain:literal, $a:expr, $b:expr, $host:expr;)*) => {
        &[$(
            forms!(@one "native_", $name, $arguments, $plain, $a, $b, $host),
            forms!(@one "half_", $name, $arguments, $plain, $a, $b, $host),
        )*]
    };
    (@one $form:literal, $name:literal, $arguments:literal, $plain:literal, $a:expr, $b:expr, $host:expr) => {
        Case {
            name: concat!($form, $name),
            source: concat!(
                "#ifdef PLAIN\n#define CALL(a, b) ",
                $plain,
                "\n#else\n#define CALL(a, b) ",
                $form,
                $name,
                $arguments,
                "\n#endif\n",
                include_str!("forms.cl")
            ),
            wanted: 1.0,
            problem: || problem::<f32>($a, $b, $host, FORMS_TOLERANCE),
        }
    };
}

/// What builds the plain functions in the place of their forms.
pub const PLAIN_OPTION: &str = "-DPLAIN";

/// 8192 ulp, which OpenCL allows the `half_` forms.
const FORMS_TOLERANCE: f64 = 1e-3;

/// All of them, in the order of the table.
pub const FORMS: &[Case] = forms![
    "cos", "(a)", "cos(a)", -32.0..32.0, 0.0..1.0, |a, _| a.cos();
    "divide", "(a, b)", "a / b", -16.0..16.0, 0.0..16.0, |a, b| a / b;
    "exp", "(a)", "exp(a)", -16.0..16.0, 0.0..1.0, |a, _| a.exp();
    "exp2", "(a)", "exp2(a)", -16.0..16.0, 0.0..1.0, |a, _| a.exp2();
    "exp10", "(a)", "exp10(a)", -8.0..8.0, 0.0..1.0, |a, _| 10_f64.powf(a);
    "log", "(a)", "log(a)", 0.0..64.0, 0.0..1.0, |a, _| a.ln();
    "log2", "(a)", "log2(a)", 0.0..64.0, 0.0..1.0, |a, _| a.log2();
    "log10", "(a)", "log10(a)", 0.0..64.0, 0.0..1.0, |a, _| a.log10();
    "powr", "(a, b)", "powr(a, b)", 0.0..16.0, -4.0..4.0, |a, b| a.powf(b);
    "recip", "(a)", "1 / a", 0.0..64.0, 0.0..1.0, |a, _| 1.0 / a;
    "rsqrt", "(a)", "rsqrt(a)", 0.0..64.0, 0.0..1.0, |a, _| 1.0 / a.sqrt();
    "sin", "(a)", "sin(a)", -32.0..32.0, 0.0..1.0, |a, _| a.sin();
    "sqrt", "(a)", "sqrt(a)", 0.0..64.0, 0.0..1.0, |a, _| a.sqrt();
    "tan", "(a)", "tan(a)", -32.0..32.0, 0.0..1.0, |a, _| a.tan();
];

/// The case of this name.
pub fn find(name: &str) -> Option<&'static Case> {
    FUNCTIONS.iter().chain(FORMS).find(|case| case.name == name)
}

/// A type of OpenCL C that functions are computed in.
trait Number: Plain + PartialEq + std::fmt::Debug {
    fn from_double(value: f64) -> Self;
    fn to_double(self) -> f64;
    /// What sums may be off by, for each unit of the values' magnitudes that were added.
    const TOLERANCE: f64;
}

impl Number for f32 {
    fn from_double(value: f64) -> Self {
        value as Self
    }
    fn to_double(self) -> f64 {
        f64::from(self)
    }
    const TOLERANCE: f64 = 2e-6;
}

impl Number for f64 {
    fn from_double(value: f64) -> Self {
        value
    }
    fn to_double(self) -> f64 {
        self
    }
    const TOLERANCE: f64 = 4e-15;
}

/// Arguments from the ranges. They are whole numbers of a unit that the type holds exactly, and so are the steps from one
/// place to the next, so that the host has the same arguments.
fn problem<T: Number>(a: Range<f64>, b: Range<f64>, host: fn(f64, f64) -> f64, tolerance: f64) -> Problem {
    let mut random = Random::new(1);
    let mut arguments = |range: &Range<f64>| -> (Vec<T>, f64) {
        let unit = (range.end - range.start) / 65536.0;
        let by = unit * 4001.0;
        // Not the beginning itself, which may be zero.
        let room = 65536 - 4001 * PLACES - 1;
        let first = |_| T::from_double(range.start + unit * (1 + random.below(room)) as f64);
        ((0..COUNT).map(first).collect(), by)
    };
    let ((x, by_a), (y, by_b)) = (arguments(&a), arguments(&b));
    let sums = |(x, y): (&T, &T)| {
        let at = |place: usize| host(x.to_double() + by_a * place as f64, y.to_double() + by_b * place as f64);
        let values = (0..PLACES).map(at);
        values.fold((0.0, 0.0), |(sum, magnitude), value| (sum + value, magnitude + value.abs()))
    };
    let want: Vec<(f64, f64)> = x.iter().zip(&y).map(sums).collect();
    Problem {
        buffers: vec![Data::of(&x), Data::of(&y), Data::room::<T>(COUNT)],
        // One launch: several of shorter ones would be a third of the time of the fastest functions.
        steps: vec![step("f", &[COUNT], &[], args![b 0, b 1, b 2, v (T::from_double(by_a)), v (T::from_double(by_b))])],
        check: Box::new(move |outcome| {
            let got = outcome.values::<T>(2);
            let wrong = got.iter().zip(&want).position(|(got, (sum, magnitude))| {
                let off = (got.to_double() - sum).abs();
                off.is_nan() || off > tolerance * magnitude
            });
            wrong.map_or(Ok(()), |at| Err(format!("sum {at} is {:?} and not {:e}", got[at], want[at].0)))
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::case::Outcome;

    #[test]
    fn wrong_sums_are_found_and_rounded_ones_are_not() {
        let mut problem = problem::<f32>(0.0..64.0, 0.0..1.0, |a, _| a.sqrt(), f32::TOLERANCE);
        let [x, _, _] = &problem.buffers[..] else { panic!("three buffers") };
        let by = 64.0 / 65536.0 * 4001.0;
        let sum = |x: &f32| (0..PLACES).map(|place| (x + by * place as f32).sqrt()).sum::<f32>();
        let mut sums: Vec<f32> = f32::from_bytes(&x.bytes).iter().map(sum).collect();
        let outcome = |sums: &[f32]| Outcome(vec![Vec::new(), Vec::new(), f32::to_bytes(sums).to_vec()]);
        assert_eq!((problem.check)(&outcome(&sums)), Ok(()));
        sums[77] *= 1.0001;
        assert!((problem.check)(&outcome(&sums)).is_err());
        problem.steps.truncate(1);
        assert_eq!(problem.steps[0].arguments.len(), 5);
    }

    #[test]
    fn each_function_is_there_in_both_types() {
        assert_eq!((FUNCTIONS.len(), FORMS.len()), (36, 28));
        for name in ["sin", "pow", "fmod", "hypot"] {
            assert!(find(&format!("{name}_float")).is_some() && find(&format!("{name}_double")).is_some());
        }
    }
}
