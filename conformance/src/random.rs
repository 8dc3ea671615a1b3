//! A deterministic source of random numbers (SplitMix64), so that failures repeat, and what tests make of them.

use rand_xoshiro::SplitMix64;
use rand_xoshiro::rand_core::{Rng, SeedableRng};

/// A generator that gives the same numbers for the same seed on every machine.
pub struct Random(SplitMix64);

impl Random {
    /// A generator whose numbers depend on `seed` alone.
    pub fn new(seed: u64) -> Self {
        Random(SplitMix64::seed_from_u64(seed))
    }

    /// Any 64 bits.
    pub fn bits(&mut self) -> u64 {
        self.0.next_u64()
    }

    /// A number from 0 up to but not including `limit`.
    pub fn below(&mut self, limit: usize) -> usize {
        ((self.bits() >> 32) as usize * limit) >> 32
    }

    /// A number from `low` to `high`, both included.
    pub fn between(&mut self, low: usize, high: usize) -> usize {
        low + self.below(high - low + 1)
    }

    /// Any int.
    pub fn int(&mut self) -> i32 {
        (self.bits() >> 32) as i32
    }

    /// Many ints from 0 up to but not including `limit`.
    pub fn ints(&mut self, count: usize, limit: i32) -> Vec<i32> {
        (0..count).map(|_| self.below(limit as usize) as i32).collect()
    }

    /// Many bytes.
    pub fn bytes(&mut self, count: usize) -> Vec<u8> {
        (0..count).map(|_| (self.bits() >> 56) as u8).collect()
    }

    /// Many floats that are whole numbers from -1000 to 1000, so that sums in any order are exact.
    pub fn whole_floats(&mut self, count: usize) -> Vec<f32> {
        (0..count).map(|_| self.between(0, 2000) as f32 - 1000.0).collect()
    }
}
