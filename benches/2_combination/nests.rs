//! Nested loops whose inner one some work-items leave at once (Bulavintsev 2019): by the ratio of the work in the outer
//! loop to that in the inner one, and by how many of 16 leave.

use lockstep_conformance::Random;

use crate::args;
use crate::case::{Data, Problem, step};

/// The kernel.
pub const SOURCE: &str = include_str!("nests.cl");

/// `OUTER` steps of work in the outer loop, `INNER` in the inner one, `WITHOUT` of 16 work-items leave.
pub fn nest<const OUTER: i32, const INNER: i32, const WITHOUT: u32>() -> Problem {
    const ITEMS: usize = 1 << 12;
    const TRIES: i32 = 8;
    // About the same time for all ratios.
    let rounds = 2000 / (OUTER + TRIES * INNER);
    let mut random = Random::new(1);
    let values: Vec<u32> = (0..ITEMS).map(|_| random.bits() as u32).collect();
    let worked = |value: u32, steps: i32| {
        (0..steps).fold(value, |v, _| (v ^ v >> 15).wrapping_mul(2_246_822_519).wrapping_add(3_266_489_917))
    };
    let after = |(i, &value): (usize, &u32)| {
        (0..rounds).fold(value, |value, a| {
            let value = worked(value, OUTER);
            let leaves = (i as u32 + a as u32 * 7) % 16 < WITHOUT;
            if leaves { value } else { worked(value, TRIES * INNER) }
        })
    };
    let want: Vec<u32> = values.iter().enumerate().map(after).collect();
    let arguments = args![b 0, v (rounds), v (TRIES), v (OUTER), v (INNER), v (WITHOUT)];
    Problem {
        buffers: vec![Data::in_place(&values)],
        steps: vec![step("nested", &[ITEMS], &[], arguments)],
        check: Box::new(move |outcome| outcome.same(0, &want)),
    }
}
