//! Radix sort, pass by pass.

use lockstep_conformance::Random;

use crate::args;
use crate::case::{Data, Problem, step};

/// The kernels.
pub const SOURCE: &str = include_str!("radix.cl");

/// Two passes over 64 Ki keys: sorted by their lowest eight bits.
pub fn radix_passes() -> Problem {
    const ITEMS: usize = 1 << 10;
    const EACH: usize = 64;
    const GROUP: usize = 256;
    let mut random = Random::new(1);
    let keys: Vec<u32> = (0..ITEMS * EACH).map(|_| random.bits() as u32).collect();
    let mut want = keys.clone();
    want.sort_by_key(|key| key & 255);
    let (each, part) = (EACH as i32, (16 * ITEMS / GROUP) as i32);
    let places = step("radix_places", &[GROUP], &[GROUP], args![b 2, l (4 * GROUP), v (part)]);
    Problem {
        buffers: vec![Data::in_place(&keys), Data::room::<u32>(keys.len()), Data::room::<u32>(16 * ITEMS)],
        steps: vec![
            step("radix_count", &[ITEMS], &[64], args![b 0, b 2, v (each), v (0_i32)]),
            places.clone(),
            step("radix_move", &[ITEMS], &[64], args![b 0, b 1, b 2, v (each), v (0_i32)]),
            step("radix_count", &[ITEMS], &[64], args![b 1, b 2, v (each), v (4_i32)]),
            places,
            step("radix_move", &[ITEMS], &[64], args![b 1, b 0, b 2, v (each), v (4_i32)]),
        ],
        check: Box::new(move |outcome| outcome.same(0, &want)),
    }
}
