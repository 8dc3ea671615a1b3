//! Kernels whose work-items read several neighbouring elements each, in places of their own.

use lockstep_conformance::Random;

use crate::args;
use crate::case::{Data, Problem, floats, step};

/// The kernels.
pub const SOURCE: &str = include_str!("rows.cl");

/// Products of rows that are no power of two long.
pub fn row_products() -> Problem {
    const ROWS: usize = 128;
    const LENGTH: usize = 328;
    // Small whole numbers, so that sums are exact.
    let mut random = Random::new(31);
    let a: Vec<f32> = (0..ROWS * LENGTH).map(|_| random.below(8) as f32).collect();
    let row = |i: usize| &a[i * LENGTH..][..LENGTH];
    let product = |i: usize, j: usize| row(i).iter().zip(row(j)).map(|(x, y)| x * y).sum::<f32>();
    let want: Vec<f32> = (0..ROWS * ROWS).map(|at| product(at / ROWS, at % ROWS)).collect();
    let arguments = args![b 0, b 1, v (ROWS as i32), v (LENGTH as i32)];
    Problem {
        buffers: vec![Data::of(&a), Data::room::<f32>(ROWS * ROWS)],
        steps: vec![step("row_products", &[ROWS, ROWS], &[], arguments)],
        check: Box::new(move |outcome| outcome.same(1, &want)),
    }
}

/// A step of bodies that are structures of sixteen floats, in the second cache.
pub fn body_steps() -> Problem {
    const COUNT: usize = 1 << 12;
    const TIME: f32 = 0.25;
    let bodies = floats(33, 16 * COUNT, 0.5, 1.5);
    let mut want = bodies.clone();
    for body in want.chunks_exact_mut(16) {
        let drag = body[4..8].iter().map(|velocity| velocity * velocity).sum::<f32>() * body[12];
        let mass = body[3] + body[13] * body[11];
        for axis in 0..4 {
            body[8 + axis] -= body[4 + axis] * drag;
            body[4 + axis] += body[8 + axis] * (TIME / mass);
            body[axis] += body[4 + axis] * TIME;
        }
        body[14] += drag * TIME;
    }
    Problem {
        buffers: vec![Data::of(&bodies), Data::room::<f32>(16 * COUNT)],
        steps: vec![step("body_steps", &[COUNT], &[], args![b 0, b 1, v (TIME)]); 20],
        check: Box::new(move |outcome| outcome.close(1, &want, 1e-5)),
    }
}

/// Four points for each work-item, of a table in the second cache.
pub fn points() -> Problem {
    const COUNT: usize = 1 << 14;
    const TABLE: usize = 1 << 12;
    let mut random = Random::new(32);
    let table = random.whole_floats(4 * TABLE);
    let indices: Vec<u32> = (0..4 * COUNT).map(|_| random.below(TABLE) as u32).collect();
    let component = |i: usize, c: usize| (0..4).map(|k| table[4 * indices[i + k * COUNT] as usize + c]).sum::<f32>();
    let want: Vec<f32> = (0..4 * COUNT).map(|at| component(at / 4, at % 4)).collect();
    Problem {
        buffers: vec![Data::of(&table), Data::of(&indices), Data::room::<f32>(4 * COUNT)],
        steps: vec![step("points", &[COUNT], &[], args![b 0, b 1, b 2]); 20],
        check: Box::new(move |outcome| outcome.same(2, &want)),
    }
}
