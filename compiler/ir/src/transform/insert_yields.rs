//! Loops that may wait for other work-items let these go on.
//!
//! The work-items of a group run one after the other, or gang by gang, from barrier to barrier. Whoever waits in between
//! for one that has not begun yet would wait for ever. An instruction at the head of such a loop hands over to the others
//! (`codegen/coroutines.rs`, `runtime/src/execute/coroutines.rs`), so that sub-groups make progress independently of each other; so do
//! work-items of kernels that know nothing of sub-groups, which run one by one if they may wait.
//!
//! Requires: a kernel as imported.
//! Ensures: every loop of [`insert_yields`] begins with a `yield`; a kernel without such loops is as it was.
//! Phases: the loops; an instruction at the head of each.
//! Source: OpenCL API 3.0, 4.2, `CL_DEVICE_SUB_GROUP_INDEPENDENT_FORWARD_PROGRESS`.
//!
//! ```text
//! b1: v1: i32 = load.acquire v0 align 4         b1: yield
//!     v2: i1 = icmp.eq v1, 0               =>       v1: i32 = load.acquire v0 align 4
//!     br v2, b1, b2                                 …
//! ```

use crate::analysis::spin_loops::{find_reads_of_others, insert_yields};
use crate::ir::{InstData, Kernel, Module, SourceLoc};

/// Marks such loops.
pub fn mark_waiting_loops(module: &Module, kernel: &mut Kernel) {
    let reads_of_others = find_reads_of_others(module);
    for function in kernel.regions.values_mut() {
        for header in insert_yields(function, &reads_of_others) {
            let hand_over = function.make_inst(InstData::Yield, &[], SourceLoc::default());
            function.blocks[header].insts.insert(0, hand_over);
        }
    }
}
