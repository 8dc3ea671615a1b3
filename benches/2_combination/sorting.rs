//! BitonicSort of Karrenberg & Hack 2012, Table 1.

use lockstep_conformance::Random;

use crate::args;
use crate::case::{Data, Problem, step};

/// The kernel.
pub const SOURCE: &str = include_str!("sorting.cl");

/// Sorts 32 Ki keys in 120 launches.
pub fn bitonic_sort() -> Problem {
    sort_of(15)
}

/// Sorts 1 Mi keys in 210 launches.
pub fn bitonic_sort_large() -> Problem {
    sort_of(20)
}

fn sort_of(log: u32) -> Problem {
    let mut random = Random::new(1);
    let keys: Vec<u32> = (0..1 << log).map(|_| random.int() as u32).collect();
    let mut want = keys.clone();
    want.sort_unstable();
    let steps = (0..log).flat_map(|stage| (0..=stage).map(move |pass| (stage, pass)));
    let steps =
        steps.map(|(stage, pass)| step("bitonic_step", &[1 << (log - 1)], &[256], args![b 0, v (stage), v (pass)]));
    Problem {
        buffers: vec![Data::in_place(&keys)],
        steps: steps.collect(),
        check: Box::new(move |outcome| outcome.same(0, &want)),
    }
}
