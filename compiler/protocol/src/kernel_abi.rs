//! How the runtime calls a compiled kernel: one call runs a chunk of consecutive work-groups.
//!
//! Groups are linearised with dimension 0 fastest: `g = x + num_groups[0] * (y + num_groups[1] * z)`.
//! The group at index `i` of dimension `d` has `min(local_size[d], global_size[d] - i * local_size[d])`
//! work-items there, so the last group may be smaller.
//!
//! Scratch memory belongs to one worker for the length of the call. Its layout, in bytes:
//!
//! ```text
//! 0                        the kernel's own __local variables (ScratchNeeds::local_bytes)
//! given by the runtime     memory of __local arguments, each aligned to 128; the argument block holds
//!                          the byte offset of each from the start of the scratch memory
//! items_offset             private memory that one work-item uses after the other
//!                          (ScratchNeeds::worker_bytes, a multiple of 128)
//! items_offset + worker_bytes
//!                          per-work-item storage: ScratchNeeds::item_bytes for each of the
//!                          local_size[0] * local_size[1] * local_size[2] work-items, laid out by the code,
//!                          where local_size[ScratchNeeds::dim] counts as a multiple of
//!                          ScratchNeeds::row
//! ```

use crate::loop_profile::LoopCounters;
use serde::{Deserialize, Serialize};
use std::ffi::c_void;

/// What a launch tells the code. All pointers stay valid until the last chunk has run.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct LaunchFrame {
    /// What `get_global_offset` gives, by dimension.
    pub global_offset: [u64; 3],
    /// get_global_size; 1 for dimensions beyond `work_dim`.
    pub global_size: [u64; 3],
    /// get_enqueued_local_size; 1 for dimensions beyond `work_dim`.
    pub local_size: [u64; 3],
    /// What `get_num_groups` gives, by dimension.
    pub num_groups: [u64; 3],
    /// The argument block, laid out by `Param::offset`, `KernelOutline::args_size` bytes.
    /// Pointers are host addresses; a `__local` argument is an offset into the scratch memory.
    pub args: *const u8,
    /// The address of each program-scope variable by [`Global`](crate::variables::Global) index; entries of variables that
    /// stand in code (`GlobalData::constant` without relocations) are not read.
    pub globals: *const *mut u8,
    /// Where private storage starts in the scratch memory; a multiple of 128.
    pub items_offset: u64,
    /// Prints one formatted call, or makes the launch fail and does not return.
    pub printf: PrintfFn,
    /// First argument of `printf`.
    pub printf_context: *const c_void,
    /// What `get_work_dim` gives.
    pub work_dim: u32,
    /// The counters of [`MOST_COUNTED_LOOPS`](crate::loop_profile::MOST_COUNTED_LOOPS) loops; null where nobody wants to know.
    pub loop_counters: *const LoopCounters,
}

/// Called by printf: context, the format's index, packed arguments (each element of each argument in
/// 8 bytes, in order: integers zero-extended by their bits, floats as binary64, pointers as addresses).
/// Returns what printf returns.
pub type PrintfFn = unsafe extern "C" fn(*const c_void, u32, *const u64) -> i32;

/// By this name code reads the clock of device and host: `fn() -> u64`, in nanoseconds.
pub const READ_CLOCK: &str = "__lockstep_clock";

/// By this name code has a region's work done whose work-items may wait for each other: `fn(work: fn(context), context)`.
pub const TAKE_TURNS: &str = "__lockstep_take_turns";

/// By this name work of such a region lets other work go on: `fn()`.
pub const YIELD: &str = "__lockstep_yield";

/// By this name a gang that has left a loop adds to its counters: `fn(frame, the loop's number, the iterations of each lane, lanes)`. Lanes
/// that were not there have none.
pub const COUNT_ITERATIONS: &str = "__lockstep_count_iterations";

/// Bytes of a stack frame of generated code that need not be told: any thread has as many.
pub const LITTLE_FRAME: u64 = 4 << 10;

/// A compiled kernel: frame, scratch memory (aligned to 128), first group, one past the last group.
pub type KernelEntry = unsafe extern "C" fn(*const LaunchFrame, *mut u8, u64, u64);

/// The scratch memory a compiled kernel needs beside `__local` arguments.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct ScratchNeeds {
    /// Bytes of the kernel's own `__local` variables, from offset 0.
    pub local_bytes: u64,
    /// Bytes of private memory that work-items use one after the other, a multiple of 128.
    pub worker_bytes: u64,
    /// Bytes per work-item of the enqueued local size.
    pub item_bytes: u64,
    /// Rows of work-items along a dimension have storage for a multiple of this, a power of two.
    pub row: u64,
    /// The dimension along which it is.
    pub dim: usize,
}

impl Default for ScratchNeeds {
    fn default() -> ScratchNeeds {
        ScratchNeeds { local_bytes: 0, worker_bytes: 0, item_bytes: 0, row: 1, dim: 0 }
    }
}

impl ScratchNeeds {
    /// Bytes of scratch memory for groups of this local size whose private storage starts at
    /// `items_offset`; `None` if that is more than an address can tell.
    pub fn total_bytes(&self, items_offset: u64, local_size: [u64; 3]) -> Option<u64> {
        let mut range_size = local_size;
        let extent = range_size.get_mut(self.dim)?;
        *extent = extent.checked_next_multiple_of(self.row)?;
        let item_count = range_size.into_iter().try_fold(1, u64::checked_mul)?;
        let item_count = self.item_bytes.checked_mul(item_count)?;
        items_offset.checked_add(self.worker_bytes)?.checked_add(item_count)
    }
}
