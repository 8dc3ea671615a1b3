//! Runs the work-groups of a launch on the cores: the only user of rayon.
//!
//! Who runs what is decided apart from the threads that do it, by code without threads, atomics or clocks: a [`plan`] says how
//! a launch is begun, for how many helpers it has seats and how many groups a thread takes at once; the [`crew`] says which
//! helper joins which launch and who is woken. Both are driven by a simulation in virtual time in their tests, and by threads
//! in the [`team`].

mod crew;
mod plan;
#[cfg(test)]
mod simulation;
mod team;

pub use team::Team;

use std::ops::Range;
use std::sync::OnceLock;

use crate::machine;
use crate::options::options;

/// The work-groups of one launch.
pub trait GroupWork: Send + Sync {
    /// Runs these groups on the calling thread.
    fn run(&self, group_range: Range<u64>);

    /// Whether groups of such a launch took longer the last time than a thread takes to wake up.
    fn took_long(&self) -> bool {
        false
    }

    /// Keeps that in mind for the next launch.
    fn note_long(&self, _: bool) {}
}

/// Threads that run work-groups: what the device reports as compute units.
pub fn worker_count() -> usize {
    options().threads.unwrap_or_else(available_cpus)
}

/// Generated code or the runtime panicked while it ran a group.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Panicked;

/// CPUs this process may use, by files that are read once.
pub(crate) fn available_cpus() -> usize {
    static CPUS: OnceLock<usize> = OnceLock::new();
    *CPUS.get_or_init(machine::usable_processors)
}
