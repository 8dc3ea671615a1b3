//! Filters of images in two patterns of access (Fukuhara & Takimoto 2021).

use lockstep_conformance::Random;

use crate::args;
use crate::case::{Arg, Data, Problem, floats, step};

/// The kernels.
pub const SOURCE: &str = include_str!("filters.cl");

const WIDTH: usize = 256;
const HEIGHT: usize = 192;
/// Points of a work-item.
const EACH: usize = 8;

/// How far neighbours' points are from each other, and those of one work-item.
type Pattern = (usize, usize);
const NEIGHBOURS: Pattern = (1, WIDTH / EACH);
const ROWS: Pattern = (EACH, 1);

/// Neighbouring work-items at neighbouring points.
pub fn sobel() -> Problem {
    sobel_of(NEIGHBOURS)
}

/// Each work-item with a row of points.
pub fn sobel_rows() -> Problem {
    sobel_of(ROWS)
}

/// Neighbouring work-items at neighbouring points.
pub fn bilateral() -> Problem {
    bilateral_of(NEIGHBOURS)
}

/// Each work-item with a row of points.
pub fn bilateral_rows() -> Problem {
    bilateral_of(ROWS)
}

fn pattern((first, next): Pattern) -> [Arg; 4] {
    [WIDTH, EACH, first, next].map(|number| Arg::from(number as i32))
}

fn sobel_of(points: Pattern) -> Problem {
    const PITCH: usize = WIDTH + 2;
    let image = Random::new(1).bytes(PITCH * (HEIGHT + 2));
    let at = |x: usize, y: usize| {
        let point = |dx: usize, dy: usize| i32::from(image[(y + dy) * PITCH + x + dx]);
        let across = point(2, 0) + 2 * point(2, 1) + point(2, 2) - point(0, 0) - 2 * point(0, 1) - point(0, 2);
        let down = point(0, 2) + 2 * point(1, 2) + point(2, 2) - point(0, 0) - 2 * point(1, 0) - point(2, 0);
        f64::from(across * across + down * down).sqrt().min(255.0)
    };
    let want: Vec<f64> = (0..WIDTH * HEIGHT).map(|i| at(i % WIDTH, i / WIDTH)).collect();
    let arguments = [args![b 0, b 1], pattern(points).to_vec()].concat();
    Problem {
        buffers: vec![Data::of(&image), Data::room::<u8>(WIDTH * HEIGHT)],
        steps: vec![step("sobel", &[WIDTH / EACH, HEIGHT], &[], arguments); 10],
        check: Box::new(move |outcome| {
            // A root may be rounded to the whole number above.
            let right = |(got, want): (&u8, &f64)| f64::from(*got) <= want + 1e-3 && f64::from(*got) > want - 1.001;
            let wrong = outcome.values::<u8>(1).iter().zip(&want).filter(|pair| !right(*pair)).count();
            if wrong == 0 { Ok(()) } else { Err(format!("{wrong} points are wrong")) }
        }),
    }
}

fn bilateral_of(points: Pattern) -> Problem {
    const PITCH: usize = WIDTH + 4;
    let image = floats(2, PITCH * (HEIGHT + 4), 0.0, 1.0);
    let near: Vec<f32> =
        (0..25).map(|i| (-0.25 * ((i / 5 - 2_i32).pow(2) + (i % 5 - 2).pow(2)) as f32).exp()).collect();
    let at = |x: usize, y: usize| {
        let here = f64::from(image[(y + 2) * PITCH + x + 2]);
        let (mut sum, mut weights) = (0.0, 0.0);
        for (k, near) in near.iter().enumerate() {
            let there = f64::from(image[(y + k / 5) * PITCH + x + k % 5]);
            let weight = f64::from(*near) * (-8.0 * (there - here).powi(2)).exp();
            sum += weight * there;
            weights += weight;
        }
        (sum / weights) as f32
    };
    let want: Vec<f32> = (0..WIDTH * HEIGHT).map(|i| at(i % WIDTH, i / WIDTH)).collect();
    let arguments = [args![b 0, b 1, b 2], pattern(points).to_vec()].concat();
    Problem {
        buffers: vec![Data::of(&image), Data::room::<f32>(WIDTH * HEIGHT), Data::of(&near)],
        steps: vec![step("bilateral", &[WIDTH / EACH, HEIGHT], &[], arguments)],
        check: Box::new(move |outcome| outcome.close(1, &want, 1e-4)),
    }
}
