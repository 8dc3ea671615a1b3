//! Code of the first tier on its way to the last one. It runs until it has run for so long that better code pays. That is made in the
//! background, by what the first tier counted of its loops, and takes its place, also in a launch that is under way: both give the same
//! results to the bit.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use lockstep_protocol::loop_profile::{LoopCounters, LoopProfile, MOST_COUNTED_LOOPS};

use super::loaded_variant::CallableCode;

/// How long all threads together run the first tier before the last one is made, which takes some 0.1 s of a processor: kernels of
/// programs that do little never get there.
const WORTHWHILE: Duration = Duration::from_millis(2);

/// What replaces code of the first tier, and when.
#[derive(Debug, Default)]
pub struct Promotion {
    /// How long threads have run the first tier, all together.
    busy_nanoseconds: AtomicU64,
    /// What gangs did in the kernel's loops.
    loop_counters: [LoopCounters; MOST_COUNTED_LOOPS],
    /// Whether the last tier was asked for.
    is_begun: AtomicBool,
    optimized: OnceLock<CallableCode>,
}

impl Promotion {
    /// The code of the last tier, from when it is there.
    pub fn optimized(&self) -> Option<&CallableCode> {
        self.optimized.get()
    }

    /// The counters to which the first tier adds.
    pub fn loop_counters(&self) -> &[LoopCounters; MOST_COUNTED_LOOPS] {
        &self.loop_counters
    }

    /// What the first tier has counted of the kernel's loops.
    pub fn loop_profile(&self) -> LoopProfile {
        LoopProfile::Counted(self.loop_counters.each_ref().map(LoopCounters::read_counts))
    }

    /// Counts time in which a thread ran the first tier.
    pub fn add_time(&self, duration: Duration) {
        let nanoseconds = u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX);
        self.busy_nanoseconds.fetch_add(nanoseconds, Ordering::Relaxed);
    }

    /// Whether it is time to make the last tier. Only one caller hears so.
    pub fn begin_if_due(&self) -> bool {
        Duration::from_nanos(self.busy_nanoseconds.load(Ordering::Relaxed)) >= WORTHWHILE
            && !self.is_begun.load(Ordering::Relaxed)
            && !self.is_begun.swap(true, Ordering::Relaxed)
    }

    /// Has the code of the last tier run from now on.
    pub fn install_code(&self, code: CallableCode) {
        // It is made once.
        let _ = self.optimized.set(code);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_caller_hears_that_it_is_time() {
        let promotion = Promotion::default();
        promotion.add_time(WORTHWHILE / 2);
        assert!(!promotion.begin_if_due());
        promotion.add_time(WORTHWHILE / 2);
        assert!(promotion.begin_if_due());
        promotion.add_time(WORTHWHILE);
        assert!(!promotion.begin_if_due());
    }
}
