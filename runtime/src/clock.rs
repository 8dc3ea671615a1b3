//! Device and host time: one clock, so that the two have one time base.

use std::sync::OnceLock;
use std::time::Instant;

/// Nanoseconds of the system's monotonic clock since the driver first looked at it, as `CL_PROFILING_COMMAND_*` and the
/// timers report them.
pub fn now() -> u64 {
    static START: OnceLock<Instant> = OnceLock::new();
    let start = *START.get_or_init(Instant::now);
    // A time of 0 says "not yet" in an event.
    start.elapsed().as_nanos() as u64 + 1
}

/// Nanoseconds between two ticks of that clock, `CL_DEVICE_PROFILING_TIMER_RESOLUTION`.
pub const RESOLUTION: usize = 1;
