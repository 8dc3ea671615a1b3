//! A step of k-means (Moll 2021, chapter 13).

use lockstep_conformance::Random;

use crate::args;
use crate::case::{Data, Problem, step};

/// The kernels.
pub const SOURCE: &str = include_str!("clusters.cl");

/// 16 Ki points and 32 centres.
pub fn k_means() -> Problem {
    const POINTS: usize = 1 << 14;
    const CENTRES: usize = 32;
    const PARTS: usize = 8;
    // Whole multiples of a power of two, so that no distance and no sum is rounded.
    let mut random = Random::new(1);
    let mut point = || [0, 1].map(|_| random.below(1 << 10) as f32 / (1 << 10) as f32);
    let points: Vec<[f32; 2]> = (0..POINTS).map(|_| point()).collect();
    let centres: Vec<[f32; 2]> = (0..CENTRES).map(|_| point()).collect();
    let square = |a: &[f32; 2], b: &[f32; 2]| (a[0] - b[0]).powi(2) + (a[1] - b[1]).powi(2);
    // The first of those that are equally near.
    let first = |p: &[f32; 2]| (0..CENTRES).min_by(|&a, &b| square(&centres[a], p).total_cmp(&square(&centres[b], p)));
    let nearest: Vec<i32> = points.iter().map(|p| first(p).expect("there are centres") as i32).collect();
    let mut sums = vec![[0.0_f32; 3]; PARTS * CENTRES];
    for (at, (point, &centre)) in points.iter().zip(&nearest).enumerate() {
        let sum = &mut sums[at / (POINTS / PARTS) * CENTRES + centre as usize];
        [sum[0] + point[0], sum[1] + point[1], sum[2] + 1.0].clone_into(sum);
    }
    Problem {
        buffers: vec![
            Data::of(&points),
            Data::of(&centres),
            Data::room::<i32>(POINTS),
            Data::room::<[f32; 3]>(PARTS * CENTRES),
        ],
        steps: vec![
            step("nearest_centres", &[POINTS], &[], args![b 0, b 1, b 2, v (CENTRES as i32)]),
            step("centre_sums", &[CENTRES, PARTS], &[], args![b 0, b 2, b 3, v ((POINTS / PARTS) as i32)]),
        ],
        check: Box::new(move |outcome| {
            outcome.same(2, &nearest)?;
            outcome.same(3, &sums)
        }),
    }
}
