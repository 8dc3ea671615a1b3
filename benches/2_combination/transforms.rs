//! DCT, FastWalshTransform and MatrixTranspose of Karrenberg & Hack 2012, Table 1.

use std::f64::consts::PI;

use lockstep_conformance::Random;

use crate::args;
use crate::case::{Data, Problem, floats, step};

/// The kernels.
pub const SOURCE: &str = include_str!("transforms.cl");

/// An image of 8 x 8 blocks, transformed.
pub fn dct() -> Problem {
    const WIDTH: usize = 256;
    let image = floats(1, WIDTH * WIDTH, -1.0, 1.0);
    let basis: Vec<f32> = (0..64)
        .map(|i| {
            let (row, column) = ((i / 8) as f64, (i % 8) as f64);
            let scale = if i < 8 { 0.125_f64.sqrt() } else { 0.5 };
            (scale * ((2.0 * column + 1.0) * row * PI / 16.0).cos()) as f32
        })
        .collect();
    let mut want = vec![0.0; image.len()];
    for block in (0..WIDTH / 8 * (WIDTH / 8)).map(|b| b / (WIDTH / 8) * 8 * WIDTH + b % (WIDTH / 8) * 8) {
        for (row, column) in (0..64).map(|i| (i / 8, i % 8)) {
            let half = |k: usize| -> f32 { (0..8).map(|j| basis[row * 8 + j] * image[block + j * WIDTH + k]).sum() };
            want[block + row * WIDTH + column] = (0..8).map(|k| half(k) * basis[column * 8 + k]).sum();
        }
    }
    let arguments = args![b 0, b 1, b 2, l (4 * 64), v (WIDTH as i32), v (0_i32)];
    Problem {
        buffers: vec![Data::of(&image), Data::room::<f32>(image.len()), Data::of(&basis)],
        steps: vec![step("dct", &[WIDTH, WIDTH], &[8, 8], arguments); 8],
        check: Box::new(move |outcome| outcome.close(1, &want, 1e-4)),
    }
}

/// Two Walsh transforms, one after the other: what they leave is the data times their number.
pub fn fast_walsh_transform() -> Problem {
    const LOG: u32 = 16;
    let mut random = Random::new(2);
    let data: Vec<f32> = (0..1 << LOG).map(|_| random.between(0, 16) as f32 - 8.0).collect();
    let want: Vec<f32> = data.iter().map(|x| x * (1 << LOG) as f32).collect();
    let passes: Vec<_> =
        (0..LOG).map(|pass| step("walsh_pass", &[1 << (LOG - 1)], &[256], args![b 0, v (1_u32 << pass)])).collect();
    Problem {
        buffers: vec![Data::in_place(&data)],
        steps: [passes.clone(), passes].concat(),
        check: Box::new(move |outcome| outcome.same(0, &want)),
    }
}

/// A matrix whose two copies fit into the second cache.
pub fn matrix_transpose() -> Problem {
    const WIDTH: usize = 384;
    const HEIGHT: usize = 256;
    let matrix = floats(3, WIDTH * HEIGHT, -1.0, 1.0);
    let want: Vec<f32> = (0..WIDTH * HEIGHT).map(|i| matrix[i % HEIGHT * WIDTH + i / HEIGHT]).collect();
    let arguments = args![b 0, b 1, l (4 * 256), v (WIDTH as u32), v (HEIGHT as u32)];
    Problem {
        buffers: vec![Data::of(&matrix), Data::room::<f32>(WIDTH * HEIGHT)],
        steps: vec![step("transpose", &[WIDTH, HEIGHT], &[16, 16], arguments); 30],
        check: Box::new(move |outcome| outcome.same(1, &want)),
    }
}
