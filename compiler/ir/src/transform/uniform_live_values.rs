//! Values that all work-items of a group keep alike over a barrier.
//!
//! The bounds and counters of loops around barriers are such. A group keeps them once, in what becomes a register, and
//! no work-item writes and reads a copy of its own.
//!
//! Requires: a kernel cut into regions.
//! Ensures: a live slot is marked as shared only if all work-items of a group that arrive at a barrier have stored the
//! same there; the interpreter checks that. Marks that are there already stay. Nothing else changes.
//! Phases: a copy in normal form; its divergence with the whole group in place of a gang; the marks.
//! Source: DESIGN decision 6; Moll 2021, chapters 6 and 7, for the analysis.

use crate::analysis::divergence::Facts;
use crate::ir::{Kernel, LiveSlot, Module};
use crate::transform::normalize::normalize_function;

/// Marks the live slots that a group keeps once.
pub fn uniform_live_values(module: &Module, kernel: &mut Kernel) {
    if kernel.live.is_empty() {
        return;
    }
    let mut normal = kernel.clone();
    normal.regions.values_mut().for_each(normalize_function);
    let gang_facts = Facts::of_groups(module, &normal).of_kernel(&normal);
    // What work-items put together is taken from a place of each.
    let together: Vec<LiveSlot> = kernel.combines.values().flatten().map(|combine| combine.live_slot).collect();
    for (slot, live_data) in kernel.live.iter_mut() {
        live_data.shared |= gang_facts.live[slot].is_uniform() && !together.contains(&slot);
    }
}
