//! Branches whose two sides do nearly the same (Coutinho et al. 2011).

use lockstep_conformance::Random;

use crate::args;
use crate::case::{Arg, Data, Problem, floats, step};

/// The kernels.
pub const SOURCE: &str = include_str!("branches.cl");

/// The work-items of kernels whose sides are to be fused.
const COUNT: usize = 1 << 16;

/// Two chains of products and quotients, of which each work-item takes one.
pub fn fused_paths() -> Problem {
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

/// A kernel that makes one number of one of each of two or three lists.
fn of_lists<const LISTS: usize>(kernel: &'static str, want: fn([f64; LISTS]) -> f64) -> Problem {
    let lists: [Vec<f32>; LISTS] = std::array::from_fn(|list| floats(list as u64 + 1, COUNT, 0.01, 1.0));
    let want: Vec<f32> = (0..COUNT).map(|i| want(lists.each_ref().map(|list| f64::from(list[i]))) as f32).collect();
    let mut buffers: Vec<Data> = lists.iter().map(|list| Data::of(list)).collect();
    buffers.push(Data::room::<f32>(COUNT));
    let arguments = (0..=LISTS).map(Arg::Buffer).collect();
    Problem {
        buffers,
        steps: vec![step(kernel, &[COUNT], &[], arguments); 10],
        check: Box::new(move |outcome| outcome.close(LISTS, &want, 1e-5)),
    }
}

fn figure_10([a, b, d]: [f64; 3]) -> f64 {
    if d < 0.5 { a.powi(3) * b / (b + 2.0) / 3.0 * a + 1.0 } else { b * b * a * a / (b + 2.0) / 2.0 * a - 1.0 + b }
}

/// Figure 10 of the paper: each side loads its values itself.
pub fn fused_loads() -> Problem {
    of_lists("fused_loads", figure_10)
}

/// The same with loads from selected addresses.
pub fn fused_addresses() -> Problem {
    of_lists("fused_addresses", figure_10)
}

/// Both sides compute an exponential.
pub fn fused_exp() -> Problem {
    of_lists("fused_exp", |[a, b]| if a < b { a.exp() * 2.0 } else { b.exp() + 1.0 })
}

/// Both sides compute a logarithm.
pub fn fused_log() -> Problem {
    of_lists("fused_log", |[a, b]| if a < b { a.ln() * 2.0 } else { b.ln() + 1.0 })
}

/// Both sides compute a sine.
pub fn fused_sin() -> Problem {
    of_lists("fused_sin", |[a, b]| if a < b { a.sin() * 2.0 } else { b.sin() + 1.0 })
}

/// Both sides have a loop of as many rounds.
pub fn fused_loops() -> Problem {
    const ROUNDS: i32 = 64;
    let [a, b] = [1, 2].map(|seed| floats(seed, COUNT, 0.0, 0.9));
    let path = |(&a, &b): (&f32, &f32)| {
        let round = |value: f32| if a < b { value.mul_add(b, 0.5) } else { value.mul_add(0.25, b) };
        (0..ROUNDS).fold(a, |value, _| round(value))
    };
    let want: Vec<f32> = a.iter().zip(&b).map(path).collect();
    Problem {
        buffers: vec![Data::of(&a), Data::of(&b), Data::room::<f32>(COUNT)],
        steps: vec![step("fused_loops", &[COUNT], &[], args![b 0, b 1, b 2, v (ROUNDS)]); 4],
        check: Box::new(move |outcome| outcome.close(2, &want, 1e-5)),
    }
}

/// A bitonic sort, whose steps exchange keys upwards on one side and downwards on the other.
pub fn fused_exchange() -> Problem {
    let mut random = Random::new(5);
    let keys: Vec<i32> = (0..COUNT).map(|_| random.below(1 << 20) as i32).collect();
    let mut want = keys.clone();
    want.sort_unstable();
    let steps = (1..=COUNT.trailing_zeros()).flat_map(|stage| {
        let distances = (0..stage).rev().map(|pass| 1i32 << pass);
        distances
            .map(move |distance| step("fused_exchange", &[COUNT], &[], args![b 0, v (distance), v (1i32 << stage)]))
    });
    Problem {
        buffers: vec![Data::in_place(&keys)],
        steps: steps.collect(),
        check: Box::new(move |outcome| outcome.same(0, &want)),
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
