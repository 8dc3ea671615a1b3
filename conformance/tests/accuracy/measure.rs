//! Runs functions on the device and finds where each is farthest from its reference.

use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

use lockstep_conformance::{Kernel, Queue, Setup, arguments, read, run};

use crate::exact::{Exact, long};
use crate::format::Type;
use crate::functions::{Function, Gives, Relaxed};
use crate::guarantees::{self, Guarantee, Limits, Point};
use crate::samples::{self, Columns, Takes};

/// How functions are built and judged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// By the tables of the full profile.
    Full,
    /// With `-cl-fp32-correctly-rounded-divide-sqrt`.
    Rounded,
    /// With `-cl-fast-relaxed-math`.
    Relaxed,
    /// The forms with this prefix, which may treat denormals as zeros.
    Half,
    Native,
}

/// How much is compared.
#[derive(Clone, Copy, Debug)]
pub struct Effort {
    /// Floats of functions of one number are taken in such steps; 1 is all of them.
    pub step: u64,
    /// Arguments at random where there is a reference in double.
    pub many: usize,
    /// And where there is none but MPFR's.
    pub few: usize,
}

/// Arguments whose result is farther from the reference than any other's.
#[derive(Clone, Debug, Default)]
pub struct Worst {
    /// Infinite for a result of another kind: a number for a NaN, a zero of the other sign.
    pub error: f64,
    /// Of the bound, where that depends on the argument.
    pub share: f64,
    pub arguments: Vec<f64>,
    pub got: f64,
    pub want: f64,
    /// Results compared.
    pub compared: u64,
}

impl Worst {
    /// A result outside of the range of its function, which nothing is worse than.
    fn outside([least, most]: Limits, arguments: &[f64], got: f64, compared: u64) -> Self {
        let (error, share) = (f64::INFINITY, f64::INFINITY);
        Self { error, share, arguments: arguments.to_vec(), got, want: got.clamp(least, most), compared }
    }
}

/// Chunks of arguments at random are so large.
const CHUNK: usize = 1 << 20;
/// And those of a thread that takes floats in steps: they stay in its cache.
const SMALL_CHUNK: usize = 1 << 15;

/// One program with a kernel for each function.
pub struct Measure {
    setup: Setup,
    ty: Type,
    mode: Mode,
    functions: Vec<Function>,
    program: lockstep_conformance::Program,
}

impl Measure {
    /// Builds the program.
    pub fn new(ty: Type, mode: Mode, functions: Vec<Function>) -> Self {
        let setup = Setup::new();
        let options = match mode {
            Mode::Relaxed => "-cl-std=CL3.0 -cl-fast-relaxed-math",
            Mode::Rounded => "-cl-std=CL3.0 -cl-fp32-correctly-rounded-divide-sqrt",
            _ => "-cl-std=CL3.0",
        };
        let kernels = functions.iter().enumerate().map(|(number, function)| source(ty, mode, number, function));
        let head = "#pragma OPENCL EXTENSION cl_khr_fp16 : enable\n#pragma OPENCL FP_CONTRACT OFF\n".to_owned();
        let text = kernels.fold(head, |text, kernel| text + &kernel);
        let program = setup.context.build(&text, options);
        Self { setup, ty, mode, functions, program }
    }

    /// Measures every function, in order.
    pub fn all(&self, effort: Effort, mut each: impl FnMut(&Function, &Worst)) {
        for (number, function) in self.functions.iter().enumerate() {
            let kernel = self.program.kernel(&format!("f{number}"));
            let mut worst = Worst::default();
            // The edges by MPFR alone.
            let edges = samples::of_edges(self.ty, function.takes);
            self.compare(function, &kernel, edges, false, &mut worst);
            self.sample(number, function, &kernel, effort, &mut worst);
            each(function, &worst);
        }
    }

    /// Results that a function promises to be exact, and are others.
    pub fn inexact(&self, function: &Function, guarantee: &Guarantee) -> Vec<(Point, f64)> {
        let points = (guarantee.points)(self.ty);
        if points.is_empty() {
            return Vec::new();
        }
        let column = |place: usize| points.iter().map(|point| point.arguments[place]).collect();
        let got =
            self.results(function, &self.setup.queue, &self.kernel(function), &[column(0), column(1), Vec::new()]);
        points.into_iter().zip(got).filter(|(point, got)| !same(*got, point.want)).collect()
    }

    /// A result outside of a function's range, for arguments whose results are next to its ends.
    pub fn beyond_range(&self, function: &Function, effort: Effort) -> Option<Worst> {
        let limits = self.limits(function).filter(|_| function.takes == Takes::One)?;
        let columns = samples::near_limits(self.ty, effort.many);
        let got = self.results(function, &self.setup.queue, &self.kernel(function), &columns);
        let outside = columns[0].iter().zip(got).find(|(_, got)| is_outside(limits, *got));
        outside.map(|(&argument, got)| Worst::outside(limits, &[argument], got, effort.many as u64))
    }

    fn kernel(&self, function: &Function) -> Kernel {
        let number = self.functions.iter().position(|other| other.name == function.name).expect("it was built");
        self.program.kernel(&format!("f{number}"))
    }

    /// The range that results stay in, where one is promised in this mode.
    fn limits(&self, function: &Function) -> Option<Limits> {
        match self.mode {
            Mode::Half | Mode::Native => None,
            Mode::Full | Mode::Rounded | Mode::Relaxed => guarantees::limits(function.name, self.ty),
        }
    }

    fn sample(&self, number: usize, function: &Function, kernel: &Kernel, effort: Effort, worst: &mut Worst) {
        let quick = self.ty != Type::Double && function.quick.is_some() || cheap(function);
        if function.takes == Takes::One && self.ty != Type::Double {
            let step = if self.ty == Type::Half { 1 } else { effort.step };
            self.in_steps(number, function, step, quick, worst);
            if step == 1 {
                return;
            }
        }
        let count = if quick { effort.many } else { effort.few / dear(function) };
        let mut done = 0;
        while done < count && worst.error.is_finite() {
            let now = CHUNK.min(count - done);
            let seed = 1 + (done / CHUNK) as u64;
            let columns = samples::at_random(self.ty, function.takes, seed, now);
            self.compare(function, kernel, columns, quick, worst);
            done += now;
        }
    }

    /// Compares every `step`-th value. Each thread has a queue of its own, so that none waits for another.
    fn in_steps(&self, number: usize, function: &Function, step: u64, quick: bool, worst: &mut Worst) {
        let all = if self.ty == Type::Half { 1 << 16 } else { 1_u64 << 32 };
        let next = AtomicU64::new(step / 2);
        let work = || {
            let queue = self.setup.context.queue(0);
            let kernel = self.program.kernel(&format!("f{number}"));
            let mut found = Worst { compared: 0, ..worst.clone() };
            loop {
                let first = next.fetch_add(step * SMALL_CHUNK as u64, Ordering::Relaxed);
                if first >= all || !found.error.is_finite() {
                    return found;
                }
                let columns = samples::in_steps(self.ty, first, step, SMALL_CHUNK);
                let got = self.results(function, &queue, &kernel, &columns);
                found = self.compare_part(function, &columns, 0, &got, quick, found);
            }
        };
        let found = thread::scope(|scope| {
            let threads: Vec<_> = (0..threads()).map(|_| scope.spawn(work)).collect();
            threads.into_iter().map(|thread| thread.join().expect("a comparison ends")).collect()
        });
        self.take_over(function, worst, found);
    }

    /// Runs the kernel over these arguments.
    fn results(&self, function: &Function, queue: &Queue, kernel: &Kernel, columns: &Columns) -> Vec<f64> {
        let context = &self.setup.context;
        let numbers =
            |values: &[f64]| context.with_values(&self.ty.encode(if values.is_empty() { &[0.0] } else { values }));
        let count = columns[0].len();
        let a = numbers(&columns[0]);
        let b = if function.takes == Takes::WithInt {
            context.with_values(&columns[1].iter().map(|&value| value as i32).collect::<Vec<_>>())
        } else {
            numbers(&columns[1])
        };
        let c = numbers(&columns[2]);
        let size = if function.gives == Gives::Int { 4 } else { self.ty.encode(&[0.0]).len() };
        let out = context.zeros::<u8>(count * size);
        kernel.set_all(arguments![&a, &b, &c, &out]);
        run(queue, kernel, &[count], &[]);
        if function.gives == Gives::Int {
            read::<i32>(queue, &out).into_iter().map(f64::from).collect()
        } else {
            self.ty.decode(&read::<u8>(queue, &out))
        }
    }

    fn compare(&self, function: &Function, kernel: &Kernel, columns: Columns, quick: bool, worst: &mut Worst) {
        let got = self.results(function, &self.setup.queue, kernel, &columns);
        let part = got.len().div_ceil(threads()).max(1);
        let found = thread::scope(|scope| {
            let parts = got.chunks(part).enumerate().map(|(number, got)| {
                let (columns, known) = (&columns, Worst { compared: 0, ..worst.clone() });
                scope.spawn(move || self.compare_part(function, columns, number * part, got, quick, known))
            });
            let parts: Vec<_> = parts.collect();
            parts.into_iter().map(|part| part.join().expect("a comparison ends")).collect()
        });
        self.take_over(function, worst, found);
    }

    /// Adds what threads found, each with a count of its own.
    fn take_over(&self, function: &Function, worst: &mut Worst, found: Vec<Worst>) {
        let compared = worst.compared + found.iter().map(|part| part.compared).sum::<u64>();
        let greatest = |a: Worst, b: Worst| if self.key(function, &b) > self.key(function, &a) { b } else { a };
        *worst = found.into_iter().fold(worst.clone(), greatest);
        worst.compared = compared;
    }

    /// What makes one result worse than another.
    fn key(&self, function: &Function, worst: &Worst) -> f64 {
        if self.by_share(function) { worst.share } else { worst.error }
    }

    fn by_share(&self, function: &Function) -> bool {
        self.mode == Mode::Relaxed && !matches!(function.relaxed, Relaxed::Ulp(_) | Relaxed::Same)
    }

    fn compare_part(
        &self,
        function: &Function,
        columns: &Columns,
        first: usize,
        got: &[f64],
        quick: bool,
        mut worst: Worst,
    ) -> Worst {
        let quick = function.quick.filter(|_| quick && self.ty != Type::Double);
        let by_share = self.by_share(function);
        let limits = self.limits(function);
        for (index, &got) in got.iter().enumerate() {
            let at = first + index;
            let argument = |column: usize| columns[column][at];
            let arguments: &[f64] = match function.takes {
                Takes::One => &[argument(0)],
                Takes::Two | Takes::WithInt => &[argument(0), argument(1)],
                Takes::Three => &[argument(0), argument(1), argument(2)],
            };
            if let Some(limits) = limits.filter(|&limits| is_outside(limits, got)) {
                worst = Worst::outside(limits, arguments, got, worst.compared);
                continue;
            }
            let out = match self.mode {
                Mode::Relaxed => !relaxed_domain(function, arguments),
                Mode::Native => !(function.native_domain)(arguments),
                _ => false,
            };
            if out || !(function.domain)(arguments) {
                continue;
            }
            worst.compared += 1;
            if let Some(quick) = quick {
                let want = quick(arguments);
                let nearly = self.ty.error_nearly(got, want);
                let is_less = if by_share {
                    share(function, arguments, got, want, nearly) <= worst.share
                } else {
                    nearly <= worst.error
                };
                if is_less {
                    continue;
                }
            }
            // Exact ones are mostly equal, which needs no MPFR.
            if let Exact::Double(exact) = function.exact
                && same(got, self.ty.rounded(exact(self.ty, arguments)))
            {
                continue;
            }
            let judged = self.readings(arguments).into_iter().map(|arguments| {
                let want = function.exact.at(self.ty, &arguments);
                let any_zero = function.gives == Gives::AnyZero && want.is_zero() && got == 0.0;
                let want = if any_zero { long(got) } else { want };
                (!self.excused(got, want.to_f64())).then(|| (self.ty.error(got, &want), want))
            });
            // None if one excuses the result.
            let judged: Option<Vec<_>> = judged.collect();
            let nearest = judged.into_iter().flatten().min_by(|(a, _), (b, _)| a.total_cmp(b));
            let Some((error, want)) = nearest else { continue };
            let share = if by_share { share(function, arguments, got, want.to_f64(), error) } else { 0.0 };
            if if by_share { share > worst.share } else { error > worst.error } {
                let compared = worst.compared;
                worst = Worst { error, share, arguments: arguments.to_vec(), got, want: want.to_f64(), compared };
            }
        }
        worst
    }

    /// The arguments as they may be read: where the mode leaves it open, any denormal ones may be zeros.
    fn readings(&self, arguments: &[f64]) -> Vec<Vec<f64>> {
        let mut all = vec![arguments.to_vec()];
        if matches!(self.mode, Mode::Half | Mode::Native) {
            let denormal = |x: &f64| *x != 0.0 && x.abs() < self.ty.least_normal();
            for (place, argument) in arguments.iter().enumerate().filter(|(_, argument)| denormal(argument)) {
                for mut reading in all.clone() {
                    reading[place] = 0_f64.copysign(*argument);
                    all.push(reading);
                }
            }
        }
        all
    }

    /// Whether a result is none that this mode makes a statement about.
    fn excused(&self, got: f64, want: f64) -> bool {
        let tiny = |x: f64| x.abs() < self.ty.least_normal() * 1.001;
        match self.mode {
            Mode::Full | Mode::Rounded => false,
            Mode::Relaxed => !want.is_finite() || want.abs() > self.ty.most() || tiny(want) && tiny(got),
            Mode::Half | Mode::Native => tiny(want) && tiny(got),
        }
    }
}

/// Whether two values cannot be told apart.
fn same(a: f64, b: f64) -> bool {
    a.to_bits() == b.to_bits() || a.is_nan() && b.is_nan()
}

/// Whether a number is not in the range.
fn is_outside([least, most]: Limits, value: f64) -> bool {
    value < least || value > most
}

fn threads() -> usize {
    thread::available_parallelism().map_or(1, NonZeroUsize::get)
}

/// Finite numbers that are normal or zero, and what the function itself asks for.
fn relaxed_domain(function: &Function, arguments: &[f64]) -> bool {
    let usual = |x: &f64| x.is_finite() && (*x == 0.0 || x.abs() >= Type::Float.least_normal());
    let wave = match function.relaxed {
        Relaxed::Wave(limit) => arguments[0].abs() <= limit,
        _ => true,
    };
    wave && arguments.iter().all(usual) && (function.relaxed_domain)(arguments)
}

/// How much of what the relaxed table allows a result is off.
fn share(function: &Function, arguments: &[f64], got: f64, want: f64, error: f64) -> f64 {
    let absolute = (got - want).abs();
    match function.relaxed {
        Relaxed::Exponential => error / (3.0 + (2.0 * arguments[0]).abs().floor()),
        Relaxed::Logarithm if (0.5..=2.0).contains(&arguments[0]) => absolute * 2f64.powi(21),
        Relaxed::Logarithm => error / 3.0,
        Relaxed::Wave(_) => absolute * 2f64.powi(11),
        Relaxed::Ulp(_) | Relaxed::Same => 0.0,
    }
}

/// Whether the reference costs little, though it is no quick one: then it is no matter that it is exact.
fn cheap(function: &Function) -> bool {
    matches!(function.exact, Exact::Double(_)) && function.gives != Gives::Int
}

/// How many times as long as usual MPFR takes.
fn dear(function: &Function) -> usize {
    if ["erf", "erfc", "tgamma", "lgamma", "lgamma_r"].contains(&function.name) { 16 } else { 1 }
}

fn source(ty: Type, mode: Mode, number: usize, function: &Function) -> String {
    let (name, bits) = (ty.name(), ty.bits_name());
    let second = if function.takes == Takes::WithInt { "int" } else { name };
    let result = if function.gives == Gives::Int { "int" } else { name };
    let prefix = match mode {
        Mode::Half => "half_",
        Mode::Native => "native_",
        _ => "",
    };
    let call = function.call.replace("as_U", &format!("as_{bits}")).replace("(T)", &format!("({name})"));
    format!(
        "kernel void f{number}(global const {name} *as, global const {second} *bs, global const {name} *cs, \
         global {result} *out) {{\n    \
         size_t i = get_global_id(0);\n    {name} a = as[i], other; int number;\n    \
         {}{}out[i] = {prefix}{call};\n}}\n",
        if function.takes == Takes::One { String::new() } else { format!("{second} b = bs[i]; ") },
        if function.takes == Takes::Three { format!("{name} c = cs[i]; ") } else { String::new() },
    )
}
