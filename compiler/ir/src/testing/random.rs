//! A deterministic stream of numbers (SplitMix64), and what tests make of them.

use rand_xoshiro::SplitMix64;
use rand_xoshiro::rand_core::{Rng, SeedableRng};

/// A generator that gives the same numbers for the same seed on every machine.
#[derive(Clone, Debug)]
pub struct Random(SplitMix64);

impl Random {
    /// A generator for a seed.
    pub fn new(seed: u64) -> Random {
        // Seeds that follow each other are to have nothing in common.
        Random(SplitMix64::seed_from_u64(seed.wrapping_mul(0xd134_2543_de82_ef95) ^ 0x5bf0_3635))
    }

    /// The next number, of 64 random bits.
    pub fn next_bits(&mut self) -> u64 {
        self.0.next_u64()
    }

    /// A number below `bound`; 0 if `bound` is 0.
    pub fn below(&mut self, bound: usize) -> usize {
        (self.next_bits() % (bound as u64).max(1)) as usize
    }

    /// True in so many of a hundred cases.
    pub fn percent(&mut self, chance: usize) -> bool {
        self.below(100) < chance
    }

    /// One of several.
    pub fn pick<T: Copy>(&mut self, choices: &[T]) -> T {
        choices[self.below(choices.len())]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What fuzzers report is a seed: the numbers that come from it are never to change.
    #[test]
    fn seeds_keep_their_numbers() {
        let mut random = Random::new(7);
        let numbers = [random.next_bits(), random.next_bits(), random.next_bits()];
        assert_eq!(numbers, [0xd76a_7eb5_64f8_1432, 0xf3f0_d425_3f35_7f95, 0xcbf7_4b3e_d5da_f50c]);
    }
}
