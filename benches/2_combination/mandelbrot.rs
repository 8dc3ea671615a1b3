//! Mandelbrot of Karrenberg & Hack 2012, Table 1.

use crate::args;
use crate::case::{Data, Problem, step};

/// The kernel.
pub const SOURCE: &str = include_str!("mandelbrot.cl");

/// The whole set and what is around it.
pub fn mandelbrot() -> Problem {
    picture(384, 256, 1.0 / 128.0)
}

/// The same in 4 Mi points: the picture has 16 MiB.
pub fn mandelbrot_large() -> Problem {
    picture(2048, 2048, 1.0 / 1024.0)
}

const MOST: u32 = 256;
const LEFT: f32 = -2.25;
const TOP: f32 = -1.0;

/// How long each point stays.
fn iterations(width: usize, height: usize, pixel: f32) -> impl Iterator<Item = u32> {
    (0..width * height).map(move |i| {
        let (x0, y0) = (LEFT + pixel * (i % width) as f32, TOP + pixel * (i / width) as f32);
        let (mut x, mut y) = (x0, y0);
        let mut iteration = 0;
        while x * x + y * y <= 4.0 && iteration < MOST {
            (x, y) = (x * x - y * y + x0, 2.0 * x * y + y0);
            iteration += 1;
        }
        iteration
    })
}

fn picture(width: usize, height: usize, pixel: f32) -> Problem {
    let want: Vec<u32> = iterations(width, height, pixel).map(|iteration| 255 * iteration / MOST).collect();
    Problem {
        buffers: vec![Data::room::<u32>(width * height)],
        steps: vec![step("mandelbrot", &[width, height], &[], args![b 0, v (LEFT), v (TOP), v (pixel), v (MOST)])],
        check: Box::new(move |outcome| {
            // Points near the border of the set amplify rounding, and the driver may contract products and sums.
            let differ = outcome.values::<u32>(0).iter().zip(&want).filter(|(a, b)| a != b).count();
            let few = width * height / 100;
            if differ <= few { Ok(()) } else { Err(format!("{differ} points differ, more than {few}")) }
        }),
    }
}
