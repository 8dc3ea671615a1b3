//! Histogram of Karrenberg & Hack 2012, Table 1.

use lockstep_conformance::Random;

use crate::args;
use crate::case::{Data, Problem, step};

/// The kernel.
pub const SOURCE: &str = include_str!("histogram.cl");

/// Counts 256 Ki values in groups of 128 work-items.
pub fn histogram() -> Problem {
    const GROUP: usize = 128;
    const GROUPS: usize = 16;
    const EACH: usize = 128;
    let mut random = Random::new(1);
    let values: Vec<u32> = (0..GROUPS * GROUP * EACH).map(|_| random.below(256) as u32).collect();
    let mut want = vec![0_u32; GROUPS * 256];
    for (at, value) in values.iter().enumerate() {
        want[at / (GROUP * EACH) * 256 + *value as usize] += 1;
    }
    let arguments = args![b 0, l (256 * GROUP), b 1, v (EACH as u32)];
    Problem {
        buffers: vec![Data::of(&values), Data::room::<u32>(GROUPS * 256)],
        steps: vec![step("histogram", &[GROUPS * GROUP], &[GROUP], arguments); 6],
        check: Box::new(move |outcome| outcome.same(1, &want)),
    }
}
