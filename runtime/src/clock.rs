//! The one clock of device, host and kernels, so that all times have one time base.

use std::sync::OnceLock;
use std::time::Instant;

/// Nanoseconds between two ticks of the clock, `CL_DEVICE_PROFILING_TIMER_RESOLUTION`.
pub const RESOLUTION: usize = 1;

/// Nanoseconds of the system's monotonic clock since the driver first looked at it, as `CL_PROFILING_COMMAND_*`, the
/// timers and the kernel clock report them. All processors agree on it, which they need not on their cycle counters.
pub fn now_nanoseconds() -> u64 {
    static START: OnceLock<Instant> = OnceLock::new();
    let start = *START.get_or_init(Instant::now);
    // A time of 0 says "not yet" in an event.
    start.elapsed().as_nanos() as u64 + 1
}

/// Milliseconds since `begun`, as the log gives times.
pub fn milliseconds_since(begun: Instant) -> f64 {
    begun.elapsed().as_secs_f64() * 1e3
}
