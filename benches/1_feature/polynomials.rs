//! Branch-free arithmetic on values that stay in registers: polynomials, an iterated map, bit mixing.

use lockstep_conformance::Random;

use crate::args;
use crate::case::{Data, Problem, floats, step};

/// The kernels.
pub const SOURCE: &str = include_str!("polynomials.cl");
const COUNT: usize = 1 << 16;

/// A polynomial of degree 31 per work-item.
pub fn horner() -> Problem {
    let x = floats(1, COUNT, -1.0, 1.0);
    let coefficients = floats(2, 32, -1.0, 1.0);
    let want: Vec<f32> = x
        .iter()
        .map(|&x| coefficients.iter().rev().fold(0.0, |sum, &c| f64::from(x) * sum + f64::from(c)) as f32)
        .collect();
    Problem {
        buffers: vec![Data::of(&x), Data::room::<f32>(x.len()), Data::of(&coefficients)],
        steps: vec![step("horner", &[x.len()], &[], args![b 0, b 1, b 2]); 8],
        check: Box::new(move |outcome| outcome.close(1, &want, 1e-5)),
    }
}

/// The same in double precision.
pub fn horner_double() -> Problem {
    let doubles = |values: Vec<f32>| values.into_iter().map(f64::from).collect::<Vec<_>>();
    let x = doubles(floats(1, COUNT, -1.0, 1.0));
    let coefficients = doubles(floats(2, 32, -1.0, 1.0));
    let want: Vec<f64> = x.iter().map(|x| coefficients.iter().rev().fold(0.0, |sum, c| x * sum + c)).collect();
    Problem {
        buffers: vec![Data::of(&x), Data::room::<f64>(COUNT), Data::of(&coefficients)],
        steps: vec![step("horner_double", &[COUNT], &[], args![b 0, b 1, b 2]); 6],
        check: Box::new(move |outcome| outcome.close_doubles(1, &want, 1e-13)),
    }
}

/// An iteration that every step of waits for the one before.
pub fn logistic() -> Problem {
    // With this rate all orbits end in one point, so rounding does not grow.
    const RATE: f32 = 2.75;
    const STEPS: i32 = 128;
    let x = floats(3, COUNT / 4, 0.05, 0.95);
    let orbit = |x: &f32| (0..STEPS).fold(f64::from(*x), |x, _| f64::from(RATE) * x * (1.0 - x)) as f32;
    let want: Vec<f32> = x.iter().map(orbit).collect();
    Problem {
        buffers: vec![Data::of(&x), Data::room::<f32>(x.len())],
        steps: vec![step("logistic", &[x.len()], &[], args![b 0, b 1, v (RATE), v (STEPS)])],
        check: Box::new(move |outcome| outcome.close(1, &want, 1e-5)),
    }
}

/// Integer arithmetic.
pub fn mix() -> Problem {
    const ROUNDS: u32 = 32;
    let mut random = Random::new(4);
    let words: Vec<u32> = (0..COUNT).map(|_| random.int() as u32).collect();
    let mixed = |&word: &u32| {
        (0..ROUNDS).fold(word, |mut x, k| {
            x ^= x >> 15;
            x = x.wrapping_mul(0x2c1b_3c6d);
            x ^= x << 7;
            x.wrapping_add(k)
        })
    };
    let want: Vec<u32> = words.iter().map(mixed).collect();
    Problem {
        buffers: vec![Data::of(&words), Data::room::<u32>(COUNT)],
        steps: vec![step("mix", &[COUNT], &[], args![b 0, b 1, v (ROUNDS as i32)])],
        check: Box::new(move |outcome| outcome.same(1, &want)),
    }
}
