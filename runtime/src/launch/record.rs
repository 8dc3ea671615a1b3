//! A launch: everything generated code needs, held until the last group has run, and its execution.

use std::ffi::{CStr, c_char, c_void};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::ops::Range;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use lockstep_protocol::kernel_abi::{LaunchFrame, ScratchNeeds};
use opencl_sys::CL_OUT_OF_RESOURCES;
use parking_lot::Mutex;
use tracing::{Level, debug};

use super::block::ArgBlock;
use super::ndrange::NdRange;
use super::pool::Pool;
use super::{float_mode, printf};
use crate::arena;
use crate::clock::milliseconds_since;
use crate::command::Run;
use crate::device::Device;
use crate::execute::coroutines::give_up;
use crate::execute::own_stack::OutOfStack;
use crate::memory::Memory;
use crate::program::executable::Executable;
use crate::program::form_trials::{Chunk, LaunchTurn, UsableForms};
use crate::program::loaded_variant::LoadedVariant;
use crate::program::variant_log::name_tier;
use crate::schedule::GroupWork;
use crate::{Error, Result, ensure, error};

/// One launch of a kernel. Records are reused, so that a launch allocates nothing in steady state.
pub struct Launch {
    /// Owns code, formats and program-scope variables.
    pub(super) executable: Arc<Executable>,
    /// The kernel's index in its program.
    index: usize,
    /// The code that runs its groups.
    pub(super) variant: Arc<LoadedVariant>,
    /// The forms of the code that its scratch memory suffices for.
    pub(super) usable_forms: UsableForms,
    /// Its turn where whole launches are measured by one form of the code or another.
    turn: LaunchTurn,
    /// The range of its work-items.
    pub(super) range: NdRange,
    /// The arguments as the code reads them.
    pub(super) args: ArgBlock,
    /// Where per-work-item storage starts in the scratch memory.
    pub(super) items_offset: u64,
    /// Scratch memory of one worker in bytes.
    pub(super) scratch: u64,
    /// Whether denormals may be flushed to zero.
    pub(super) flush_denormals: bool,
    /// Memory objects the arguments point to, held until the launch has ended.
    pub(super) held: Vec<Arc<Memory>>,
    /// Where it goes when the launch has ended; none while it is there.
    pub(super) pool: Option<Arc<Pool>>,
    failed: AtomicBool,
    /// Why a work-item made it fail, the first one that did.
    reason: Mutex<Option<String>>,
    printed: AtomicBool,
}

impl Launch {
    pub(super) fn new(executable: Arc<Executable>, index: usize, variant: Arc<LoadedVariant>) -> Launch {
        Launch {
            executable,
            index,
            variant,
            usable_forms: UsableForms::OWN,
            turn: LaunchTurn::default(),
            range: NdRange::default(),
            args: ArgBlock::default(),
            items_offset: 0,
            scratch: 0,
            flush_denormals: false,
            held: Vec::new(),
            pool: None,
            failed: AtomicBool::new(false),
            reason: Mutex::new(None),
            printed: AtomicBool::new(false),
        }
    }

    /// Logs which kernel has run, over how many work-items, by which code and for how long.
    fn log_end(&self, begun: Instant) {
        let NdRange { dimensions, global, local, .. } = self.range;
        let (variant, milliseconds) = (&self.variant, milliseconds_since(begun));
        debug!(
            target: "launch",
            "kernel {}: global {}, local {}, variant {}, {}, {milliseconds:.3} ms",
            self.executable.kernel_outline(self.index).name,
            describe_sizes(dimensions, global),
            describe_sizes(dimensions, local),
            variant.log_number(),
            name_tier(variant.current_tier()),
        );
    }

    /// A hash of the arguments and the range: launches with the same ones are likely to take alike.
    fn hash_arguments(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        (&self.args, self.range).hash(&mut hasher);
        hasher.finish()
    }

    fn launch_frame(&self) -> LaunchFrame {
        LaunchFrame {
            global_offset: self.range.offset,
            global_size: self.range.global,
            local_size: self.range.local,
            num_groups: self.range.groups,
            args: self.args.as_ptr(),
            globals: self.executable.globals().address_table(),
            items_offset: self.items_offset,
            printf: print_from_kernel,
            printf_context: std::ptr::from_ref(self).cast(),
            loop_counters: self.variant.loop_counters(),
            work_dim: self.range.dimensions,
        }
    }
}

impl Run for Launch {
    fn run(self: Arc<Launch>, device: &Device) -> Result<()> {
        let group_count = self.range.group_count();
        self.turn.note_turn(self.variant.form_trials(), || self.hash_arguments());
        let group_work: Arc<dyn GroupWork> = self.clone();
        let begun = tracing::enabled!(target: "launch", Level::DEBUG).then(Instant::now);
        let outcome = self.variant.run_launch(|| device.team().run_groups(&group_work, group_count));
        drop(group_work);
        if let Some(begun) = begun {
            self.log_end(begun);
        }
        if self.printed.swap(false, Ordering::Relaxed) {
            printf::flush_output();
        }
        let failed = self.failed.swap(false, Ordering::Relaxed);
        if failed && let Some(reason) = self.reason.lock().take() {
            return Err(error!(CL_OUT_OF_RESOURCES, "a work-item ended the kernel: {reason}"));
        }
        ensure!(
            outcome.is_ok() && !failed,
            CL_OUT_OF_RESOURCES,
            "there are no {} bytes of scratch memory for a work-group, or no stack for its code",
            self.scratch
        );
        Ok(())
    }

    fn recycle(mut self: Arc<Launch>) {
        // Helpers have let go of it when the launch ends.
        if let Some(launch) = Arc::get_mut(&mut self) {
            launch.held.clear();
            if let Some(record_pool) = launch.pool.take() {
                record_pool.put_back(self);
            }
        }
    }
}

impl Launch {
    /// Runs groups by the launch's code.
    ///
    /// # Safety
    /// `scratch` is the start of as much memory as the launch needs, which nobody else uses.
    unsafe fn call_code(
        &self,
        launch_frame: &LaunchFrame,
        scratch: *mut u8,
        group_range: Range<u64>,
    ) -> std::result::Result<(), OutOfStack> {
        let _mode = float_mode::FloatMode::enter_mode(self.flush_denormals);
        let has_failed = self.executable.may_give_up().then_some(&self.failed);
        let chunk = Chunk { usable: self.usable_forms, launch_turn: &self.turn, group_range, has_failed };
        let ended_trial = self.variant.run_chunk(chunk, |entry, group_range| {
            // SAFETY: `entry` is code made for this frame's layout and owned by `variant`, which lives as
            // long as `self`. The frame's pointers lead to memory that `self` holds, and `scratch` suffices for
            // each of the usable forms. What the kernel does to buffers is the application's business, as with any device.
            unsafe { entry(&raw const *launch_frame, scratch, group_range.start, group_range.end) };
        })?;
        if let Some(ended_trial) = ended_trial {
            self.executable.end_trial(&self.variant, &ended_trial);
        }
        Ok(())
    }

    /// Does what a format of the program says, given by its index, with the text: prints it, or notes why the launch fails. Nothing if there is
    /// no such format.
    ///
    /// # Safety
    /// `arguments` has a word for each element of the format's arguments.
    unsafe fn handle_text(&self, format: u32, arguments: *const u64) -> Option<TextOutcome> {
        let format = self.executable.outline().formats.get(format as usize)?;
        let word_count = format.args.iter().map(|(_, lane_count)| usize::from(*lane_count)).sum();
        let words = match word_count {
            // There is no pointer to read where there are no arguments.
            0 => &[][..],
            // SAFETY: as the caller promises.
            _ => unsafe { std::slice::from_raw_parts(arguments, word_count) },
        };
        // SAFETY: the argument of `%s` is a string constant of the program: not null (the caller looks), and it ends in a null.
        let string_at = |address| unsafe { CStr::from_ptr(address as *const c_char) }.to_bytes().to_vec();
        if format.is_failure {
            self.failed.store(true, Ordering::Relaxed);
            let text = printf::render_call(format, words, string_at).unwrap_or_else(|| format.text.clone());
            self.reason.lock().get_or_insert_with(|| String::from_utf8_lossy(&text).into_owned());
            return Some(TextOutcome::Failed);
        }
        self.printed.store(true, Ordering::Relaxed);
        Some(TextOutcome::Printed(printf::print_call(format, words, string_at)))
    }
}

/// What became of a text that code has formatted.
enum TextOutcome {
    /// It was printed; the result of printf.
    Printed(i32),
    /// The launch fails with it.
    Failed,
}

impl GroupWork for Launch {
    fn run(&self, group_range: Range<u64>) {
        if self.failed.load(Ordering::Relaxed) {
            return;
        }
        let launch_frame = self.launch_frame();
        // SAFETY: the scratch memory has the size computed from the code's own needs.
        let call_with = |scratch| unsafe { self.call_code(&launch_frame, scratch, group_range) };
        if !arena::with_scratch(self.scratch, call_with).is_ok_and(|ran| ran.is_ok()) {
            self.failed.store(true, Ordering::Relaxed);
        }
        self.executable.improve_if_due(&self.variant);
    }

    fn took_long(&self) -> bool {
        self.pool.as_ref().is_some_and(|kernel| kernel.long.load(Ordering::Relaxed))
    }

    fn note_long(&self, long: bool) {
        if let Some(kernel) = &self.pool {
            kernel.long.store(long, Ordering::Relaxed);
        }
    }
}

/// Sizes by dimension, for the log.
fn describe_sizes(dimensions: u32, sizes: [u64; 3]) -> String {
    sizes.iter().take(dimensions as usize).map(u64::to_string).collect::<Vec<_>>().join(" x ")
}

/// What code calls for printf and to make the launch fail: a `kernel_abi::PrintfFn`. It does not return where the launch fails.
unsafe extern "C" fn print_from_kernel(context: *const c_void, format: u32, arguments: *const u64) -> i32 {
    // SAFETY: the frame was made by `Launch::launch_frame`, whose launch lives while its code runs.
    let launch = unsafe { &*context.cast::<Launch>() };
    // SAFETY: the code packs one word per element of each argument of the format.
    let handle = || unsafe { launch.handle_text(format, arguments) };
    // What a panic says is dropped here, as nothing may be left to drop below.
    let outcome = std::panic::catch_unwind(AssertUnwindSafe(handle)).ok().flatten();
    if let Some(TextOutcome::Printed(result)) = outcome {
        return result;
    }
    if launch.failed.load(Ordering::Relaxed) {
        // SAFETY: code has called this function, which owns nothing here.
        unsafe { give_up() };
    }
    -1
}

/// The scratch memory a launch needs: (offset of the code's own storage, size of all), `local_end` being the end
/// of local memory and `local_size` the work-items of a full group. `CL_OUT_OF_RESOURCES` beyond the limit.
pub(super) fn scratch_layout(
    local_end: u64,
    scratch_needs: &ScratchNeeds,
    local_size: [u64; 3],
    byte_limit: u64,
) -> Result<(u64, u64)> {
    let items_offset = local_end.checked_next_multiple_of(arena::ALIGN as u64);
    let layout = items_offset.and_then(|offset| Some((offset, scratch_needs.total_bytes(offset, local_size)?)));
    layout.filter(|&(_, byte_size)| byte_size <= byte_limit).ok_or_else(|| scratch_error(local_size, byte_limit))
}

fn scratch_error(local_size: [u64; 3], byte_limit: u64) -> Error {
    error!(
        CL_OUT_OF_RESOURCES,
        "a work-group of {local_size:?} needs more scratch memory than the {byte_limit} bytes that are allowed"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scratch_memory_holds_local_memory_and_every_work_item_or_is_refused() {
        let scratch_needs = ScratchNeeds { worker_bytes: 64, item_bytes: 1000, row: 16, ..Default::default() };
        // Rows are filled up.
        assert_eq!(scratch_layout(100, &scratch_needs, [10, 2, 1], u64::MAX).unwrap(), (128, 128 + 64 + 1000 * 32));
        let code = |local_end, size, byte_limit| {
            scratch_layout(local_end, &scratch_needs, size, byte_limit).unwrap_err().code()
        };
        assert_eq!(code(100, [10, 2, 1], 32_000), CL_OUT_OF_RESOURCES);
        assert_eq!(code(u64::MAX, [1, 1, 1], u64::MAX), CL_OUT_OF_RESOURCES);
        assert_eq!(code(0, [u64::MAX / 2, 3, 1], u64::MAX), CL_OUT_OF_RESOURCES);
    }
}
