//! Device and host time: one clock, which kernels read too.

pub use lockstep_compiler::clock::now;

/// Nanoseconds between two ticks of that clock, `CL_DEVICE_PROFILING_TIMER_RESOLUTION`.
pub const RESOLUTION: usize = 1;
