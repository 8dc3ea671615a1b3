//! Pairs of atoms and a cascade of unlikely conditions, as in 644.nab_s (Moll 2021, section 9.2).

use crate::args;
use crate::case::{Data, Problem, floats, step};

/// The kernel.
pub const SOURCE: &str = include_str!("molecules.cl");

/// 1,536 atoms along a chain.
pub fn born_sums() -> Problem {
    const ATOMS: usize = 1536;
    const CUTOFF: f32 = 12.0;
    const SCALE: f32 = 0.8;
    let numbers = floats(1, 4 * ATOMS, 0.0, 1.0);
    // Neighbours in the list are neighbours in space.
    let atom = |(i, n): (usize, &[f32])| {
        let turn = i as f32 * 0.05;
        [20.0 * turn.cos() + 6.0 * n[0], 20.0 * turn.sin() + 6.0 * n[1], 0.1 * i as f32 + 6.0 * n[2], 1.1 + 0.6 * n[3]]
    };
    let atoms: Vec<[f32; 4]> = numbers.chunks_exact(4).enumerate().map(atom).collect();
    let sum = |i: usize| -> f32 {
        let others = (0..ATOMS).filter(|&j| j != i);
        others.map(|j| pair(atoms[i], atoms[j], f64::from(CUTOFF), f64::from(SCALE))).sum::<f64>() as f32
    };
    let want: Vec<f32> = (0..ATOMS).map(sum).collect();
    Problem {
        buffers: vec![Data::of(&atoms), Data::room::<f32>(ATOMS)],
        steps: vec![step("born_sums", &[ATOMS], &[], args![b 0, b 1, v (ATOMS as i32), v (CUTOFF), v (SCALE)])],
        check: Box::new(move |outcome| outcome.close(1, &want, 2e-3)),
    }
}

fn pair(mine: [f32; 4], other: [f32; 4], cutoff: f64, scale: f64) -> f64 {
    let way = [0, 1, 2].map(|k| f64::from(mine[k]) - f64::from(other[k]));
    let (ri, sj) = (f64::from(mine[3]), scale * f64::from(other[3]));
    let square = way.iter().map(|d| d * d).sum::<f64>();
    let d = square.sqrt();
    if d > cutoff + sj {
        0.0
    } else if d > cutoff - sj {
        let ends = (square - 4.0 * cutoff * d - sj * sj) / (cutoff * cutoff);
        -0.125 / d * (1.0 + 2.0 * d / (d - sj) + ends + 2.0 * ((d - sj) / cutoff).ln())
    } else if d > 4.0 * sj {
        let t = sj * sj / square;
        let series = [0.454_545, 0.444_444, 0.428_571, 0.4, 0.333_333].iter().fold(0.0, |sum, c| sum * t + c);
        -t * sj / square * series
    } else if d > ri + sj {
        -0.5 * (sj / (square - sj * sj) + 0.5 * ((d - sj) / (d + sj)).ln() / d)
    } else if d > (ri - sj).abs() {
        let theta = 0.5 / (ri * d) * (square + ri * ri - sj * sj);
        let up = 1.0 / (d + sj);
        -0.25 * (1.0 / ri * (2.0 - theta) - up + (ri * up).ln() / d)
    } else if ri < sj {
        -0.5 * (sj / (square - sj * sj) + 2.0 / ri + 0.5 * ((sj - d) / (d + sj)).ln() / d)
    } else {
        0.0
    }
}
