//! Costly code under conditions that hardly any work-item meets, reached and left in every way that OpenCL C has.

use crate::args;
use crate::case::{Data, Problem, floats, step};

/// OpenCL C of kernels that enter and leave a costly arm by `continue`, `break`, `return`, `||`, `switch` and `goto`.
pub const SOURCE: &str = include_str!("arms.cl");

/// Numbers below go there: about one of 2,048 work-items.
const LEAST: f64 = 1.0 / 2048.0;

/// What work-items that return early leave.
const UNWRITTEN: f64 = 0.0;

fn costly(x: f64) -> f64 {
    (x + 1.5).powf(0.7).exp() + (x + 3.0).ln() * (x + 1.1).powf(0.3)
}

/// A kernel over numbers from 0 to 1, of which `want` is what becomes of the one at an index.
fn problem(kernel: &'static str, rounds: i32, launches: usize, want: fn(&[f64], usize) -> f64) -> Problem {
    const COUNT: usize = 1 << 16;
    let x: Vec<f64> = floats(7, COUNT, 0.0, 1.0).into_iter().map(f64::from).collect();
    let want: Vec<f64> = (0..COUNT).map(|i| want(&x, i)).collect();
    let arguments = args![b 0, b 1, v (LEAST), v (rounds)];
    Problem {
        buffers: vec![Data::of(&x), Data::of(&vec![UNWRITTEN; COUNT])],
        steps: vec![step(kernel, &[COUNT], &[], arguments); launches],
        check: Box::new(move |outcome| outcome.close_doubles(1, &want, 1e-12)),
    }
}

const ROUNDS: i32 = 16;

/// The sum of a number's rounds; whether a great sum ends the loop.
fn rounds(mut w: f64, ends: bool) -> f64 {
    let mut sum = 0.0;
    for _ in 0..ROUNDS {
        w += 0.001;
        if w < LEAST {
            sum += costly(w);
            if sum > 12.0 {
                if ends {
                    break;
                }
                continue;
            }
            sum *= 0.5;
        }
        sum += w;
    }
    sum
}

/// An arm that goes on with the next iteration.
pub fn arm_continue() -> Problem {
    problem("arm_continue", ROUNDS, 1, |x, i| rounds(x[i], false))
}

/// An arm that leaves its loop.
pub fn arm_break() -> Problem {
    problem("arm_break", ROUNDS, 1, |x, i| rounds(x[i], true))
}

/// An arm that ends the work-item.
pub fn arm_return() -> Problem {
    problem("arm_return", 1, 10, |x, i| match x[i] {
        w if w < 0.5 * LEAST => UNWRITTEN,
        w if w < LEAST => 0.5 * (w + costly(w)) + 1.0,
        w => w + 1.0,
    })
}

/// An arm with two ways in, by `||`.
pub fn arm_or() -> Problem {
    problem("arm_or", 1, 10, |x, i| {
        let goes = x[i] < LEAST || x[i ^ 1] > 1.0 - LEAST;
        x[i] + if goes { costly(x[i]) } else { 0.0 } + 1.0
    })
}

/// A case that another one falls into.
pub fn arm_switch() -> Problem {
    problem("arm_switch", 1, 10, |x, i| {
        let w = x[i];
        1.0 + match (w / LEAST) as i32 {
            0 => w + w + costly(w),
            1 => costly(w),
            2 => 3.0,
            _ => w,
        }
    })
}

/// An arm that another one jumps into.
pub fn arm_goto() -> Problem {
    problem("arm_goto", 1, 10, |x, i| {
        let w = x[i];
        1.0 + match w {
            _ if w < LEAST => 3.0 * w + costly(w),
            _ if w < 0.25 => 3.0 * w + 1.0,
            _ if w > 1.0 - LEAST => 2.0 + costly(w),
            _ => 2.0,
        }
    })
}

/// A loop in an arm that half of the work-items take, of which `round` is what an iteration makes of a sum by the work-item's number and
/// one of a table.
fn loop_in_arm(kernel: &'static str, round: fn(f64, f64, f64) -> f64) -> Problem {
    const COUNT: usize = 1 << 14;
    const ROUNDS: usize = 200;
    let (x, table) = (floats(7, COUNT, 0.0, 1.0), floats(8, ROUNDS, 0.0, 1.0));
    let sum_of = |&x: &f32| match f64::from(x) {
        x if x < 0.5 => table.iter().fold(x, |sum, &entry| round(sum, x, f64::from(entry))),
        x => x,
    };
    let want: Vec<f32> = x.iter().map(|x| sum_of(x) as f32).collect();
    Problem {
        buffers: vec![Data::of(&x), Data::of(&table), Data::room::<f32>(COUNT)],
        steps: vec![step(kernel, &[COUNT], &[], args![b 0, b 1, b 2, v (ROUNDS as i32)]); 10],
        check: Box::new(move |outcome| outcome.close(2, &want, 1e-5)),
    }
}

/// A loop that lanes leave together, in an arm that some of them take.
pub fn arm_loop() -> Problem {
    loop_in_arm("arm_loop", |sum, x, _| sum * 0.5 + x)
}

/// The same with two exits.
pub fn arm_search() -> Problem {
    loop_in_arm("arm_search", |sum, x, entry| sum * 0.5 + entry * x)
}
