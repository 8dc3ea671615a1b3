//! Nested loops whose inner one some work-items leave at once (Bulavintsev 2019): by the ratio of the work in the outer
//! loop to that in the inner one, and by how many of 16 leave.

use lockstep_conformance::Random;

use crate::args;
use crate::case::{Case, Data, NO_LOSS, Problem, step};

/// The ratios of the work in the outer loop to that in the inner one, as they stand in names.
pub const RATIOS: [&str; 4] = ["10_1", "1_1", "1_10", "1_100"];
/// How many work-items may leave: from none to all but one of 16.
pub const LEAVING: usize = 16;
/// Those that stand beside the other kernels; a table of their own has all.
const AMONG_OTHERS: [usize; 3] = [0, 8, 15];

macro_rules! nests {
    ($($outer:literal $inner:literal: $($without:literal)*;)*) => {
        &[$($(Case {
            name: concat!("nest_", $outer, "_", $inner, "_k", $without),
            source: SOURCE,
            wanted: NO_LOSS,
            problem: nest::<$outer, $inner, $without>,
        }),*),*]
    };
}

/// Every ratio with every number of work-items that leave.
pub const NESTS: &[Case] = nests! {
    10 1: 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15;
    1 1: 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15;
    1 10: 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15;
    1 100: 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15;
};

macro_rules! long_nests {
    ($($outer:literal $inner:literal: $($without:literal)*;)*) => {
        &[$($(Case {
            name: concat!("long_nest_", $outer, "_", $inner, "_k", $without),
            source: SOURCE,
            wanted: NO_LOSS,
            problem: long_nest::<$outer, $inner, $without>,
        }),*),*]
    };
}

/// Nests of which work-items run many rounds, as in the paper's experiment, so that flattening can pay.
pub const LONG_NESTS: &[Case] = long_nests! {
    10 1: 0 8 15;
    1 1: 0 8 15;
    1 10: 0 8 15;
    1 100: 0 8 15;
};

/// The name of one of them.
pub fn name(ratio: &str, leaving: usize) -> String {
    format!("nest_{ratio}_k{leaving}")
}

/// Whether this is one that stands in [`NESTS`] alone, and not among the other kernels.
pub fn is_between(kernel: &str) -> bool {
    let number = kernel.strip_prefix("nest_").and_then(|rest| rest.split_once("_k"));
    number.and_then(|(_, number)| number.parse().ok()).is_some_and(|number| !AMONG_OTHERS.contains(&number))
}

/// OpenCL C of `nested`, two loops, and `nested_in_three`.
pub const SOURCE: &str = include_str!("nests.cl");

/// Rounds of the inner loop, where a work-item has some.
const TRIES: i32 = 8;

/// Rounds of the outer loop: about the same time for all ratios.
fn rounds(outer: i32, inner: i32) -> i32 {
    2000 / (outer + TRIES * inner)
}

/// Operations on integers of each work-item of the case of this name, if it is one of [`NESTS`] or [`LONG_NESTS`].
pub fn operations(kernel: &str) -> Option<f64> {
    const OF_STEP: f64 = 4.0;
    let (short_name, is_long) = kernel.strip_prefix("long_").map_or((kernel, false), |name| (name, true));
    let (ratio, leaving) = short_name.strip_prefix("nest_")?.split_once("_k")?;
    let (outer, inner) = ratio.split_once('_')?;
    let (outer, inner) = (outer.parse::<i32>().ok()?, inner.parse::<i32>().ok()?);
    let staying = 1.0 - leaving.parse::<f64>().ok()? / LEAVING as f64;
    let rounds = if is_long { LONG_ROUNDS } else { rounds(outer, inner) };
    Some(OF_STEP * f64::from(rounds) * (f64::from(outer) + staying * f64::from(TRIES * inner)))
}

/// `OUTER` steps of work in the outer loop, `INNER` in the inner one, `WITHOUT` of 16 work-items leave.
fn nest<const OUTER: i32, const INNER: i32, const WITHOUT: u32>() -> Problem {
    nest_of(1 << 12, rounds(OUTER, INNER), OUTER, INNER, WITHOUT)
}

/// Rounds of the outer loop in the paper's experiment.
const LONG_ROUNDS: i32 = 256;

/// The same of few work-items with the paper's rounds of the outer loop.
fn long_nest<const OUTER: i32, const INNER: i32, const WITHOUT: u32>() -> Problem {
    nest_of(512, LONG_ROUNDS, OUTER, INNER, WITHOUT)
}

/// What the kernels' function of this name gives.
fn worked(value: u32, steps: i32) -> u32 {
    (0..steps).fold(value, |v, _| (v ^ v >> 15).wrapping_mul(2_246_822_519).wrapping_add(3_266_489_917))
}

/// Loops of so many work-items and rounds; `without` of 16 work-items leave.
fn nest_of(items: usize, rounds: i32, outer: i32, inner: i32, without: u32) -> Problem {
    let mut random = Random::new(1);
    let values: Vec<u32> = (0..items).map(|_| random.bits() as u32).collect();
    let after = |(i, &value): (usize, &u32)| {
        (0..rounds).fold(value, |value, a| {
            let value = worked(value, outer);
            let leaves = (i as u32 + a as u32 * 7) % 16 < without;
            if leaves { value } else { worked(value, TRIES * inner) }
        })
    };
    let want: Vec<u32> = values.iter().enumerate().map(after).collect();
    let arguments = args![b 0, v (rounds), v (TRIES), v (outer), v (inner), v (without)];
    Problem {
        buffers: vec![Data::in_place(&values)],
        steps: vec![step("nested", &[items], &[], arguments)],
        check: Box::new(move |outcome| outcome.same(0, &want)),
    }
}

/// Three loops, the middle one of which one of 16 work-items goes round 16 times, and the others once; 20 rounds of the inner one.
pub fn nest_of_three_middle() -> Problem {
    nest_of_three(|random| [rare(random, 16), 20])
}

/// The same where one of 16 has 100 rounds of the inner loop, and the others one.
pub fn nest_of_three_both() -> Problem {
    nest_of_three(|random| [rare(random, 16), rare(random, 100)])
}

/// So many rounds of a loop for one of 16, and one for the others.
fn rare(random: &mut Random, rounds: u8) -> u8 {
    if random.below(16) == 0 { rounds } else { 1 }
}

/// Three loops, with the rounds of the middle and of the inner one.
fn nest_of_three(mut draw_rounds: impl FnMut(&mut Random) -> [u8; 2]) -> Problem {
    const ITEMS: usize = 1 << 12;
    const ROUNDS: usize = 16;
    let mut random = Random::new(1);
    let values: Vec<u32> = (0..ITEMS).map(|_| random.bits() as u32).collect();
    let (middle, inner): (Vec<u8>, Vec<u8>) =
        (0..ITEMS * ROUNDS + 16).map(|_| draw_rounds(&mut random)).map(|[middle, inner]| (middle, inner)).unzip();
    let mut want = values.clone();
    for (place, after) in (0..ITEMS * ROUNDS).map(|place| (place, place % ITEMS)) {
        for b in 0..usize::from(middle[place]) {
            want[after] = (0..u32::from(inner[place + b])).fold(want[after], |value, c| worked(value, 4) ^ c);
        }
    }
    Problem {
        buffers: vec![Data::in_place(&values), Data::of(&middle), Data::of(&inner)],
        steps: vec![step("nested_in_three", &[ITEMS], &[], args![b 0, b 1, b 2, v (ROUNDS as i32)])],
        check: Box::new(move |outcome| outcome.same(0, &want)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_ratio_has_every_number_of_leaving_work_items() {
        let names = RATIOS.iter().flat_map(|ratio| (0..LEAVING).map(|leaving| name(ratio, leaving)));
        assert!(names.eq(NESTS.iter().map(|case| case.name.to_owned())));
        assert!(is_between("nest_1_100_k7") && !is_between("nest_1_100_k8") && !is_between("nbody"));
    }
}
