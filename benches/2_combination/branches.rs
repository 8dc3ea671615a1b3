//! Branches whose two sides do nearly the same (Coutinho et al. 2011).

use lockstep_conformance::Random;

use crate::args;
use crate::case::{Data, Problem, floats, step};

/// The kernels.
pub const SOURCE: &str = include_str!("branches.cl");

/// Two chains of products and quotients, of which each work-item takes one.
pub fn fused_paths() -> Problem {
    const COUNT: usize = 1 << 16;
    let (a, b) = (floats(1, COUNT, 0.0, 1.0), floats(2, COUNT, 0.0, 1.0));
    let path = |(&a, &b): (&f32, &f32)| {
        let (a, b) = (f64::from(a), f64::from(b));
        let result = if a < b {
            a.powi(3) * b / (b + 2.0) / 3.0 * a + a * a
        } else {
            a * a * b * b / (b + 2.0) / 2.0 * a - 1.0 + a * a
        };
        result as f32
    };
    let want: Vec<f32> = a.iter().zip(&b).map(path).collect();
    Problem {
        buffers: vec![Data::of(&a), Data::of(&b), Data::room::<f32>(COUNT)],
        steps: vec![step("fused_paths", &[COUNT], &[], args![b 0, b 1, b 2]); 10],
        check: Box::new(move |outcome| outcome.close(2, &want, 1e-5)),
    }
}

/// 64 groups of 128 work-items with 16 values each.
pub fn partition() -> Problem {
    const GROUP: usize = 128;
    const EACH: usize = 16;
    const PIVOT: i32 = 1 << 19;
    let mut random = Random::new(3);
    let values: Vec<i32> = (0..64 * GROUP * EACH).map(|_| random.below(1 << 20) as i32).collect();
    let mut want: Vec<i32> = Vec::with_capacity(values.len());
    for part in values.chunks_exact(GROUP * EACH) {
        let column = |l: usize| part[l..].iter().step_by(GROUP);
        want.extend((0..GROUP).flat_map(column).filter(|&&value| value < PIVOT));
        want.extend((0..GROUP).flat_map(column).filter(|&&value| value >= PIVOT));
    }
    let arguments = args![b 0, b 1, l (4 * GROUP), v (PIVOT), v (EACH as i32)];
    Problem {
        buffers: vec![Data::of(&values), Data::room::<i32>(values.len())],
        steps: vec![step("partition_groups", &[64 * GROUP], &[GROUP], arguments); 4],
        check: Box::new(move |outcome| outcome.same(1, &want)),
    }
}
