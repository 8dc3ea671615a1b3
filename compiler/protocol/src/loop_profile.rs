//! What gangs did in loops that their lanes leave one by one: code of the first tier counts it, and code of the last tier is made by it.

use serde::{Deserialize, Serialize};
use std::sync::atomic::{AtomicU64, Ordering};

/// As many loops of a kernel are counted.
pub const MOST_COUNTED_LOOPS: usize = 16;

/// Ways through a loop after which its counters stay as they are: threads that add to one counter wait for each other.
const ENOUGH: u64 = 1 << 14;

/// Iterations in one way through a loop from which on they are not counted: counters of 32 bits may have begun again.
const TOO_MANY: u32 = 1 << 31;

/// The counters of a loop, to which gangs add.
#[derive(Debug, Default)]
pub struct LoopCounters {
    entries: AtomicU64,
    lane_entries: AtomicU64,
    gang_iterations: AtomicU64,
    lane_iterations: AtomicU64,
}

impl LoopCounters {
    /// Adds one way of a gang through the loop, by the iterations of each lane.
    pub fn add_entry(&self, lane_iterations: &[u32]) {
        let gang_iterations = lane_iterations.iter().copied().max().unwrap_or(0);
        let lane_entries = lane_iterations.iter().filter(|&&iterations| iterations > 0).count() as u64;
        let lane_iterations: u64 = lane_iterations.iter().copied().map(u64::from).sum();
        let is_counted = (1..TOO_MANY).contains(&gang_iterations) && self.entries.load(Ordering::Relaxed) < ENOUGH;
        if is_counted {
            self.entries.fetch_add(1, Ordering::Relaxed);
            self.lane_entries.fetch_add(lane_entries, Ordering::Relaxed);
            self.gang_iterations.fetch_add(gang_iterations.into(), Ordering::Relaxed);
            self.lane_iterations.fetch_add(lane_iterations, Ordering::Relaxed);
        }
    }

    /// What was counted until now. Gangs may add meanwhile.
    pub fn read_counts(&self) -> LoopCounts {
        LoopCounts {
            entries: self.entries.load(Ordering::Relaxed),
            lane_entries: self.lane_entries.load(Ordering::Relaxed),
            gang_iterations: self.gang_iterations.load(Ordering::Relaxed),
            lane_iterations: self.lane_iterations.load(Ordering::Relaxed),
        }
    }
}

/// What the counters of a loop came to.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct LoopCounts {
    /// How often gangs went through the loop.
    pub entries: u64,
    /// How many lanes came to it then, all together.
    pub lane_entries: u64,
    /// The iterations that gangs ran until their last lane had left.
    pub gang_iterations: u64,
    /// The iterations that lanes ran until they left, all together.
    pub lane_iterations: u64,
}

/// What is known of the loops that are counted, or whether they are to be counted.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[expect(clippy::large_enum_variant, reason = "there is one for a kernel that is compiled")]
pub enum LoopProfile {
    /// Nothing is known, and nothing is counted.
    #[default]
    Unknown,
    /// The code is to count.
    Count,
    /// What was counted.
    Counted([LoopCounts; MOST_COUNTED_LOOPS]),
}

impl LoopProfile {
    /// What was counted, a line for each loop that gangs came to.
    pub fn describe(&self) -> String {
        let LoopProfile::Counted(all_counts) = self else { return String::new() };
        let mut lines = String::new();
        for (loop_number, counts) in all_counts.iter().enumerate().filter(|(_, counts)| counts.entries > 0) {
            let lanes_came = counts.lane_entries as f64 / counts.entries as f64;
            let lanes_at_work = counts.lane_iterations as f64 / counts.gang_iterations as f64;
            lines += &format!("loop {loop_number}: {lanes_at_work:.1} lanes at work of {lanes_came:.1} that came\n");
        }
        lines
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counters_stop_when_it_is_enough() {
        let counters = LoopCounters::default();
        counters.add_entry(&[0, 0]);
        counters.add_entry(&[1, TOO_MANY]);
        assert_eq!(counters.read_counts(), LoopCounts::default());
        (0..2 * ENOUGH).for_each(|_| counters.add_entry(&[2, 0, 3]));
        let counts = LoopCounts {
            entries: ENOUGH,
            lane_entries: 2 * ENOUGH,
            gang_iterations: 3 * ENOUGH,
            lane_iterations: 5 * ENOUGH,
        };
        assert_eq!(counters.read_counts(), counts);
    }
}
