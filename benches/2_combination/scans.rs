//! Running sums, made by the work-items of a group together.

use lockstep_conformance::Random;

use crate::args;
use crate::case::{Data, Problem, step};

/// The kernel.
pub const SOURCE: &str = include_str!("scans.cl");

/// 128 Ki values in groups of 256.
pub fn scan() -> Problem {
    scan_of(1 << 17, 10)
}

/// 8 Mi values: 32 MiB each of values and sums.
pub fn scan_large() -> Problem {
    scan_of(1 << 23, 1)
}

fn scan_of(count: usize, launches: usize) -> Problem {
    const GROUP: usize = 256;
    let mut random = Random::new(1);
    let values: Vec<u32> = (0..count).map(|_| random.bits() as u32).collect();
    let mut want = values.clone();
    for group in want.chunks_exact_mut(GROUP) {
        (1..GROUP).for_each(|at| group[at] = group[at].wrapping_add(group[at - 1]));
    }
    Problem {
        buffers: vec![Data::of(&values), Data::room::<u32>(count)],
        steps: vec![step("scan_groups", &[count], &[GROUP], args![b 0, b 1, l (4 * GROUP)]); launches],
        check: Box::new(move |outcome| outcome.same(1, &want)),
    }
}
