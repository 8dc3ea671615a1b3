//! DCT, FastWalshTransform and MatrixTranspose of Karrenberg & Hack 2012, Table 1.

use std::f64::consts::PI;

use lockstep_conformance::Random;

use crate::args;
use crate::case::{Data, Problem, floats, step};

/// The kernels.
pub const SOURCE: &str = include_str!("transforms.cl");

/// An image of 8 x 8 blocks, transformed.
pub fn dct() -> Problem {
    dct_of(256, 8)
}

/// The same with 16 MiB each of image and result.
pub fn dct_large() -> Problem {
    dct_of(2048, 1)
}

fn dct_of(width: usize, launches: usize) -> Problem {
    let image = floats(1, width * width, -1.0, 1.0);
    let basis: Vec<f32> = (0..64)
        .map(|i| {
            let (row, column) = ((i / 8) as f64, (i % 8) as f64);
            let scale = if i < 8 { 0.125_f64.sqrt() } else { 0.5 };
            (scale * ((2.0 * column + 1.0) * row * PI / 16.0).cos()) as f32
        })
        .collect();
    let mut want = vec![0.0; image.len()];
    for block in (0..width / 8 * (width / 8)).map(|b| b / (width / 8) * 8 * width + b % (width / 8) * 8) {
        for (row, column) in (0..64).map(|i| (i / 8, i % 8)) {
            let half = |k: usize| -> f32 { (0..8).map(|j| basis[row * 8 + j] * image[block + j * width + k]).sum() };
            want[block + row * width + column] = (0..8).map(|k| half(k) * basis[column * 8 + k]).sum();
        }
    }
    let arguments = args![b 0, b 1, b 2, l (4 * 64), v (width as i32), v (0_i32)];
    Problem {
        buffers: vec![Data::of(&image), Data::room::<f32>(image.len()), Data::of(&basis)],
        steps: vec![step("dct", &[width, width], &[8, 8], arguments); launches],
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

/// One Walsh transform of 32 MiB.
pub fn fast_walsh_transform_large() -> Problem {
    const LOG: u32 = 23;
    let mut random = Random::new(2);
    let data: Vec<f32> = (0..1 << LOG).map(|_| random.between(0, 16) as f32 - 8.0).collect();
    let mut want = data.clone();
    for pass in 0..LOG {
        for pair in want.chunks_exact_mut(2 << pass) {
            let (first, second) = pair.split_at_mut(1 << pass);
            first.iter_mut().zip(second).for_each(|(a, b)| (*a, *b) = (*a + *b, *a - *b));
        }
    }
    let pass = |pass| step("walsh_pass", &[1 << (LOG - 1)], &[256], args![b 0, v (1_u32 << pass)]);
    Problem {
        buffers: vec![Data::in_place(&data)],
        steps: (0..LOG).map(pass).collect(),
        check: Box::new(move |outcome| outcome.same(0, &want)),
    }
}

/// A matrix whose two copies fit into the second cache.
pub fn matrix_transpose() -> Problem {
    transposed([384, 256], 30, true)
}

/// A matrix of 64 MiB.
pub fn matrix_transpose_large() -> Problem {
    transposed([4096, 4096], 1, true)
}

/// The small matrix without local memory.
pub fn naive_transpose() -> Problem {
    transposed([384, 256], 30, false)
}

/// The large matrix without local memory.
pub fn naive_transpose_large() -> Problem {
    transposed([4096, 4096], 1, false)
}

fn transposed([width, height]: [usize; 2], launches: usize, tiled: bool) -> Problem {
    let matrix = floats(3, width * height, -1.0, 1.0);
    let want: Vec<f32> = (0..width * height).map(|i| matrix[i % height * width + i / height]).collect();
    let sizes = (width as u32, height as u32);
    let one = if tiled {
        step("transpose", &[width, height], &[16, 16], args![b 0, b 1, l (4 * 256), v (sizes.0), v (sizes.1)])
    } else {
        step("naive_transpose", &[width, height], &[16, 16], args![b 0, b 1, v (sizes.0), v (sizes.1)])
    };
    Problem {
        buffers: vec![Data::of(&matrix), Data::room::<f32>(width * height)],
        steps: vec![one; launches],
        check: Box::new(move |outcome| outcome.same(1, &want)),
    }
}
