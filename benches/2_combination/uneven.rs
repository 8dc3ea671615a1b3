//! Loops in which few of a gang's work-items are at work most of the time: what some do takes long, and the others wait.

use lockstep_conformance::Random;

use crate::args;
use crate::case::{Data, Problem, floats, step};

/// OpenCL C of `uneven_walks`.
pub const SOURCE: &str = include_str!("uneven.cl");

const ITEMS: usize = 1 << 14;

/// One work-item of 64 walks 3,000 steps, the others two.
pub fn one_of_many() -> Problem {
    walk(&(0..ITEMS).map(|item| if item % 64 == 0 { 3000 } else { 2 }).collect::<Vec<i32>>())
}

/// Numbers of steps as those of neighbours in networks, 8 to 6,000: half as many work-items walk twice as far.
pub fn long_tail() -> Problem {
    let mut random = Random::new(1);
    let steps: Vec<i32> = (0..ITEMS).map(|_| 6000 / (1 + random.below(750)) as i32).collect();
    walk(&steps)
}

fn walk(steps: &[i32]) -> Problem {
    let from = floats(1, ITEMS, 0.0, 1.0);
    let walked = |(&start, &count): (&f32, &i32)| {
        (0..count).fold(f64::from(start), |x, _| x * 0.7 + x.abs().sqrt() * 0.3 + 0.01 / (1.0 + x * x)) as f32
    };
    let want: Vec<f32> = from.iter().zip(steps).map(walked).collect();
    Problem {
        buffers: vec![Data::of(steps), Data::of(&from), Data::room::<f32>(ITEMS)],
        steps: vec![step("uneven_walks", &[ITEMS], &[], args![b 0, b 1, b 2])],
        check: Box::new(move |outcome| outcome.close(2, &want, 1e-4)),
    }
}
