//! Mandelbrot of Karrenberg & Hack 2012, Table 1.

use crate::args;
use crate::case::{Data, Problem, step};

/// The kernel.
pub const SOURCE: &str = include_str!("mandelbrot.cl");

/// The whole set and what is around it.
pub fn mandelbrot() -> Problem {
    const WIDTH: usize = 384;
    const HEIGHT: usize = 256;
    const MOST: u32 = 256;
    let (left, top, pixel) = (-2.25_f32, -1.0_f32, 1.0 / 128.0);
    let want: Vec<u32> = (0..WIDTH * HEIGHT)
        .map(|i| {
            let (x0, y0) = (left + pixel * (i % WIDTH) as f32, top + pixel * (i / WIDTH) as f32);
            let (mut x, mut y) = (x0, y0);
            let mut iteration = 0;
            while x * x + y * y <= 4.0 && iteration < MOST {
                (x, y) = (x * x - y * y + x0, 2.0 * x * y + y0);
                iteration += 1;
            }
            255 * iteration / MOST
        })
        .collect();
    Problem {
        buffers: vec![Data::room::<u32>(WIDTH * HEIGHT)],
        steps: vec![step("mandelbrot", &[WIDTH, HEIGHT], &[], args![b 0, v (left), v (top), v (pixel), v (MOST)])],
        check: Box::new(move |outcome| {
            // Points near the border of the set amplify rounding, and the driver may contract products and sums.
            let differ = outcome.values::<u32>(0).iter().zip(&want).filter(|(a, b)| a != b).count();
            let few = WIDTH * HEIGHT / 100;
            if differ <= few { Ok(()) } else { Err(format!("{differ} points differ, more than {few}")) }
        }),
    }
}
