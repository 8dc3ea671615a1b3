//! Loops over matrices and grids: a product of matrices, Jacobi's five-point sweep.

use crate::args;
use crate::case::{Data, Problem, floats, step};

/// The kernels.
pub const SOURCE: &str = include_str!("matrices.cl");

/// A product of matrices of 192 x 192.
pub fn sgemm() -> Problem {
    const SIZE: usize = 192;
    let (a, b) = (floats(1, SIZE * SIZE, -1.0, 1.0), floats(2, SIZE * SIZE, -1.0, 1.0));
    let element = |i: usize| -> f32 {
        let product = |k: usize| f64::from(a[i / SIZE * SIZE + k]) * f64::from(b[k * SIZE + i % SIZE]);
        (0..SIZE).map(product).sum::<f64>() as f32
    };
    let want: Vec<f32> = (0..SIZE * SIZE).map(element).collect();
    let arguments = args![b 0, b 1, b 2, v (SIZE as i32), v (SIZE as i32)];
    Problem {
        buffers: vec![Data::of(&a), Data::of(&b), Data::room::<f32>(SIZE * SIZE)],
        steps: vec![step("sgemm", &[SIZE, SIZE], &[64, 4], arguments)],
        check: Box::new(move |outcome| outcome.close(2, &want, 1e-4)),
    }
}

/// The product by tiles of 16 x 16, of matrices of 256 x 256.
pub fn sgemm_tiled() -> Problem {
    tiled_of(256, 2)
}

/// The same of 1,024 x 1,024.
pub fn sgemm_tiled_large() -> Problem {
    tiled_of(1024, 1)
}

fn tiled_of(size: usize, launches: usize) -> Problem {
    let (a, b) = (floats(1, size * size, -1.0, 1.0), floats(2, size * size, -1.0, 1.0));
    let mut want = vec![0.0_f64; size * size];
    for (row, a) in want.chunks_exact_mut(size).zip(a.chunks_exact(size)) {
        for (a, b) in a.iter().zip(b.chunks_exact(size)) {
            row.iter_mut().zip(b).for_each(|(sum, b)| *sum += f64::from(*a) * f64::from(*b));
        }
    }
    let want: Vec<f32> = want.into_iter().map(|sum| sum as f32).collect();
    Problem {
        buffers: vec![Data::of(&a), Data::of(&b), Data::room::<f32>(size * size)],
        steps: vec![step("sgemm_tiled", &[size, size], &[16, 16], args![b 0, b 1, b 2, v (size as i32)]); launches],
        check: Box::new(move |outcome| outcome.close(2, &want, 1e-4)),
    }
}

/// The product of doubles by a tile of 16 x 16 a work-item, of matrices of 512 x 512.
pub fn private_tiles() -> Problem {
    by_work_items("private_tiles")
}

/// The same with tiles of the factors.
pub fn private_factors() -> Problem {
    by_work_items("private_factors")
}

fn by_work_items(kernel: &'static str) -> Problem {
    const SIZE: usize = 512;
    let [a, b] =
        [1, 2].map(|seed| -> Vec<f64> { floats(seed, SIZE * SIZE, -1.0, 1.0).into_iter().map(f64::from).collect() });
    let mut want = vec![0.0_f64; SIZE * SIZE];
    for (row, a) in want.chunks_exact_mut(SIZE).zip(a.chunks_exact(SIZE)) {
        for (a, b) in a.iter().zip(b.chunks_exact(SIZE)) {
            row.iter_mut().zip(b).for_each(|(sum, b)| *sum += a * b);
        }
    }
    Problem {
        buffers: vec![Data::of(&a), Data::of(&b), Data::room::<f64>(SIZE * SIZE)],
        steps: vec![step(kernel, &[SIZE / 16, SIZE / 16], &[], args![b 0, b 1, b 2, v (SIZE as i32)])],
        check: Box::new(move |outcome| outcome.close_doubles(2, &want, 1e-12)),
    }
}

/// The covariances of 256 columns of 256 numbers.
pub fn covariance() -> Problem {
    const SIZE: usize = 256;
    let table = floats(11, SIZE * SIZE, -1.0, 1.0);
    let sum =
        |a: usize, b: usize| -> f64 { table.chunks_exact(SIZE).map(|row| f64::from(row[a]) * f64::from(row[b])).sum() };
    let want: Vec<f32> = (0..SIZE * SIZE).map(|i| sum(i / SIZE, i % SIZE) as f32).collect();
    let arguments = args![b 0, b 1, v (SIZE as i32), v (SIZE as i32)];
    Problem {
        buffers: vec![Data::room::<f32>(SIZE * SIZE), Data::of(&table)],
        steps: vec![step("covariance", &[SIZE], &[], arguments)],
        check: Box::new(move |outcome| outcome.close(0, &want, 1e-4)),
    }
}

/// Eight subtractions from rows of 512 numbers, which work-items along x go through column by column.
pub fn subtract_columns() -> Problem {
    const SIZE: usize = 512;
    const TIMES: usize = 8;
    let (table, part) = (floats(12, SIZE * SIZE, 0.0, 1.0), floats(13, SIZE, 0.0, 1.0));
    let mut want = table.clone();
    for row in want.chunks_exact_mut(SIZE).take(SIZE - 1) {
        for _ in 0..TIMES {
            row.iter_mut().zip(&part).for_each(|(number, part)| *number -= part);
        }
    }
    Problem {
        buffers: vec![Data::in_place(&table), Data::of(&part)],
        steps: vec![step("subtract_columns", &[SIZE, SIZE], &[], args![b 0, b 1, v (SIZE as i32)]); TIMES],
        check: Box::new(move |outcome| outcome.close(0, &want, 1e-4)),
    }
}

/// Forty sweeps back and forth between two grids.
pub fn jacobi() -> Problem {
    const WIDTH: usize = 320;
    const HEIGHT: usize = 256;
    const SWEEPS: usize = 40;
    let first = floats(3, WIDTH * HEIGHT, 0.0, 1.0);
    let mut want = first.clone();
    for _ in 0..SWEEPS {
        let old = want.clone();
        for y in 1..HEIGHT - 1 {
            for at in (1..WIDTH - 1).map(|x| y * WIDTH + x) {
                want[at] = 0.25 * (old[at - 1] + old[at + 1] + old[at - WIDTH] + old[at + WIDTH]);
            }
        }
    }
    let sizes = (WIDTH as i32, HEIGHT as i32);
    let there = step("jacobi", &[WIDTH, HEIGHT], &[], args![b 0, b 1, v (sizes.0), v (sizes.1)]);
    let back = step("jacobi", &[WIDTH, HEIGHT], &[], args![b 1, b 0, v (sizes.0), v (sizes.1)]);
    Problem {
        buffers: vec![Data::in_place(&first), Data::room::<f32>(WIDTH * HEIGHT)],
        steps: [there, back].iter().cycle().take(SWEEPS).cloned().collect(),
        check: Box::new(move |outcome| outcome.close(0, &want, 1e-5)),
    }
}
