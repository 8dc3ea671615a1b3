//! What a work-item has read already, in the iteration before or on another path (Fukuhara & Takimoto 2021).

use crate::args;
use crate::case::{Data, Problem, floats, step};

/// OpenCL C of the kernels.
pub const SOURCE: &str = include_str!("reuse.cl");

const ITEMS: usize = 1 << 11;
const COUNT: usize = 64;

/// Figure 6 of the paper with neighbours' values side by side.
pub fn figure_6() -> Problem {
    figure_6_of("figure_6", 1, ITEMS)
}

/// Figure 6 of the paper with a row of 65 values for each work-item.
pub fn figure_6_rows() -> Problem {
    figure_6_of("figure_6_rows", COUNT + 1, 1)
}

/// One arm of a divergent branch reads what follows it reads.
pub fn read_in_arm() -> Problem {
    columns_of("read_in_arm", |sum, limit, here, _| {
        let scale = if sum < limit { 2.0 - here.sqrt() } else { 1.0 };
        0.75 * sum + scale * here
    })
}

/// Both arms of a divergent branch read the same.
pub fn read_in_arms() -> Problem {
    columns_of("read_in_arms", |sum, limit, here, _| {
        if sum < limit { sum + halved((sum + 1.0).sqrt()) * here } else { halved(1.0 / (sum + 1.0)) - 0.5 * here }
    })
}

/// Both arms of a branch that all work-items take alike read the same.
pub fn read_in_uniform_arms() -> Problem {
    columns_of("read_in_uniform_arms", |sum, limit, here, i| {
        if i.is_multiple_of(3) {
            sum + halved((sum.abs() + 1.0).sqrt()) * here
        } else {
            halved(limit / (sum.abs() + 1.0)) - 0.5 * here
        }
    })
}

fn halved(mut value: f32) -> f32 {
    while value > 2.0 {
        value *= 0.5;
    }
    value
}

/// The values of all work-items, and their limits.
fn inputs() -> [Vec<f32>; 2] {
    [floats(1, ITEMS * (COUNT + 1), 0.0, 1.0), floats(2, ITEMS, 0.5, 4.0)]
}

fn figure_6_of(name: &'static str, first: usize, next: usize) -> Problem {
    let [values, limits] = inputs();
    let result_of = |id: usize| {
        let (limit, mut sum) = (limits[id], 0.0_f32);
        let value = |i: usize| values[id * first + i * next];
        for i in 0..COUNT {
            if sum < limit {
                sum += 1.5;
            } else if sum < 4.0 * limit {
                sum -= value(i + 1);
            } else {
                sum *= 0.25;
            }
            sum += 0.5 * value(i);
        }
        sum
    };
    let want: Vec<f32> = (0..ITEMS).map(result_of).collect();
    problem(name, [values, limits], want)
}

/// A kernel of which each iteration makes a new sum of the old one, the work-item's limit, a value and the iteration's number.
fn columns_of(name: &'static str, next_sum: fn(f32, f32, f32, usize) -> f32) -> Problem {
    let [values, limits] = inputs();
    let result_of = |id: usize| (0..COUNT).fold(0.0, |sum, i| next_sum(sum, limits[id], values[i * ITEMS + id], i));
    let want: Vec<f32> = (0..ITEMS).map(result_of).collect();
    problem(name, [values, limits], want)
}

fn problem(name: &'static str, [values, limits]: [Vec<f32>; 2], want: Vec<f32>) -> Problem {
    let arguments = args![b 0, b 1, b 2, v (COUNT as i32)];
    Problem {
        buffers: vec![Data::of(&values), Data::of(&limits), Data::room::<f32>(ITEMS)],
        steps: vec![step(name, &[ITEMS], &[], arguments); 10],
        // Where a sum is near a limit, another rounding takes the other arm.
        check: Box::new(move |outcome| {
            let is_close = |(got, want): &(&f32, &f32)| (*got - *want).abs() <= 1e-3 * want.abs().max(1.0);
            let wrong = outcome.values::<f32>(2).iter().zip(&want).filter(|pair| !is_close(pair)).count();
            if wrong <= ITEMS / 100 { Ok(()) } else { Err(format!("{wrong} sums are wrong")) }
        }),
    }
}
