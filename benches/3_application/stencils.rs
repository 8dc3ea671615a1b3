//! Sweeps over grids (Moll 2021, 13.4): Jacobi's method with nine points, Seidel's with nine and 25.

use crate::args;
use crate::case::{Data, Problem, Step, floats, step};

/// The kernels.
pub const SOURCE: &str = include_str!("stencils.cl");

/// The mean of all points that are at most `far` away in either direction.
fn mean(grid: &[f32], width: usize, at: usize, far: usize) -> f32 {
    let side = 2 * far + 1;
    let row = |k: usize| &grid[at + k * width - far * width - far..][..side];
    let sum: f32 = (0..side).flat_map(row).sum();
    sum / (side * side) as f32
}

/// Ten sweeps back and forth between two grids.
pub fn jacobi9() -> Problem {
    const SIDE: usize = 258;
    let first = floats(1, SIDE * SIDE, 0.0, 1.0);
    let mut want = first.clone();
    for _ in 0..10 {
        let old = want.clone();
        for y in 1..SIDE - 1 {
            for at in (1..SIDE - 1).map(|x| y * SIDE + x) {
                want[at] = mean(&old, SIDE, at, 1);
            }
        }
    }
    let sweep = |arguments| step("jacobi9", &[SIDE - 2, SIDE - 2], &[], arguments);
    let (there, back) = (sweep(args![b 0, b 1, v (SIDE as i32)]), sweep(args![b 1, b 0, v (SIDE as i32)]));
    Problem {
        // The border is the same in both.
        buffers: vec![Data::in_place(&first), Data::in_place(&first)],
        steps: vec![[there, back]; 5].concat(),
        check: Box::new(move |outcome| outcome.close(0, &want, 1e-5)),
    }
}

/// Five sweeps in place, in four colours.
pub fn seidel9() -> Problem {
    seidel("seidel9", 258, 1, 5)
}

/// Five sweeps in place, in nine colours.
pub fn seidel25() -> Problem {
    seidel("seidel25", 244, 2, 5)
}

fn seidel(kernel: &'static str, side: usize, far: usize, sweeps: usize) -> Problem {
    let first = floats(2, side * side, 0.0, 1.0);
    // Points of one colour are so far from each other that none is another's neighbour.
    let apart = far + 1;
    let inner = side - 2 * far;
    let colours: Vec<(usize, usize)> = (0..apart * apart).map(|colour| (colour % apart, colour / apart)).collect();
    let mut want = first.clone();
    for (first_x, first_y) in colours.repeat(sweeps) {
        for y in (first_y..inner).step_by(apart) {
            for x in (first_x..inner).step_by(apart) {
                let at = (y + far) * side + x + far;
                want[at] = mean(&want, side, at, far);
            }
        }
    }
    let count = inner / apart;
    assert_eq!(count * apart, inner, "every colour has as many points");
    let sweep = |&(x, y): &(usize, usize)| {
        step(kernel, &[count, count], &[], args![b 0, v (side as i32), v (x as i32), v (y as i32)])
    };
    let steps: Vec<Step> = colours.iter().map(sweep).collect();
    Problem {
        buffers: vec![Data::in_place(&first)],
        steps: vec![steps; sweeps].concat(),
        check: Box::new(move |outcome| outcome.close(0, &want, 1e-5)),
    }
}
