//! Histogram of Karrenberg & Hack 2012, Table 1.

use lockstep_conformance::Random;

use crate::args;
use crate::case::{Data, Problem, step};

/// The kernel.
pub const SOURCE: &str = include_str!("histogram.cl");

const GROUP: usize = 128;
const EACH: usize = 128;

/// Counts 256 Ki values in groups of 128 work-items.
pub fn histogram() -> Problem {
    counted("histogram", 256 * GROUP, 16, 6)
}

/// The same of 16 Mi values.
pub fn histogram_large() -> Problem {
    counted("histogram", 256 * GROUP, 1024, 1)
}

/// 256 Ki values, with atomic additions.
pub fn histogram_atomic() -> Problem {
    counted("histogram_atomic", 256 * 4, 16, 6)
}

/// 16 Mi values, with atomic additions.
pub fn histogram_atomic_large() -> Problem {
    counted("histogram_atomic", 256 * 4, 1024, 1)
}

fn counted(kernel: &'static str, local: usize, groups: usize, launches: usize) -> Problem {
    let mut random = Random::new(1);
    let values: Vec<u32> = (0..groups * GROUP * EACH).map(|_| random.below(256) as u32).collect();
    let mut want = vec![0_u32; groups * 256];
    for (at, value) in values.iter().enumerate() {
        want[at / (GROUP * EACH) * 256 + *value as usize] += 1;
    }
    let arguments = args![b 0, l (local), b 1, v (EACH as u32)];
    Problem {
        buffers: vec![Data::of(&values), Data::room::<u32>(groups * 256)],
        steps: vec![step(kernel, &[groups * GROUP], &[GROUP], arguments); launches],
        check: Box::new(move |outcome| outcome.same(1, &want)),
    }
}
