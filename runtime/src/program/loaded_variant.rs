//! A kernel's code in memory, as launches run it.

use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Instant;

use lockstep_protocol::compile_options::Tier;
use lockstep_protocol::configuration::Versions;
use lockstep_protocol::kernel_abi::{KernelEntry, ScratchNeeds};
use lockstep_protocol::kernel_object::KernelObject;
use lockstep_protocol::launch_facts::LaunchFacts;
use lockstep_protocol::loop_profile::{LoopCounters, LoopProfile};

use super::form_trials::{Chunk, EndedTrial, FormTrials, UsableForms};
use super::kernel_report::VariantUsage;
use super::promotion::Promotion;
use crate::execute::giving_up::run_until_given_up;
use crate::execute::loaded_code::{LoadError, LoadedCode};
use crate::execute::own_stack::{OutOfStack, run_with_stack};
use crate::options::options;

/// Code, and how it is used where somebody wants to know.
#[derive(Debug)]
pub struct LoadedVariant {
    /// The kernel's index in its program.
    pub kernel_index: usize,
    /// What holds of its launches.
    pub facts: LaunchFacts,
    /// What the log calls it.
    number: u64,
    code: CallableCode,
    needs: ScratchNeeds,
    usage: Option<Arc<VariantUsage>>,
    /// What takes the code's place in time; nothing where it is of the last tier.
    promotion: Option<Promotion>,
    /// What is measured beside its code of the last tier; nothing where there is no choice, or before that code is there.
    trials: OnceLock<FormTrials>,
}

/// A kernel's code, and for which launches it is.
#[derive(Clone, Debug)]
pub struct VariantCode {
    /// The kernel's index in its program.
    pub kernel_index: usize,
    /// What holds of its launches.
    pub facts: LaunchFacts,
    /// The tier of the code.
    pub tier: Tier,
    /// The machine code itself.
    pub object: Arc<KernelObject>,
    /// Whether it is for any processor of a level. It is not planned as this one's is, whose last tier cannot take its place.
    pub of_level: bool,
}

/// Code in memory, and what its frames take of the stack.
#[derive(Debug)]
pub struct CallableCode {
    code: LoadedCode,
    stack_bytes: u64,
}

impl CallableCode {
    /// Puts code into memory.
    ///
    /// # Errors
    /// When the code is damaged or the system gives no memory for it.
    pub fn load_object(object: &KernelObject) -> Result<CallableCode, LoadError> {
        Ok(CallableCode { code: LoadedCode::map_object(object)?, stack_bytes: object.stack_bytes })
    }

    /// Calls `run` with the function that runs work-groups, where there is room for its frames. Where it is given whether the launch has
    /// failed, the code may give up.
    ///
    /// # Errors
    /// [`OutOfStack`] where it was not called for want of memory.
    pub fn call_with_stack(
        &self,
        has_failed: Option<&AtomicBool>,
        run: impl FnOnce(KernelEntry),
    ) -> Result<(), OutOfStack> {
        let call = || run(self.code.kernel_entry());
        match has_failed {
            None => run_with_stack(self.stack_bytes, call),
            Some(has_failed) => run_until_given_up(self.stack_bytes, has_failed, call),
        }
    }
}

impl LoadedVariant {
    /// Puts code into memory.
    ///
    /// # Errors
    /// When the code is damaged or the system gives no memory for it.
    pub fn load(variant_code: &VariantCode) -> Result<LoadedVariant, LoadError> {
        static NEXT_NUMBER: AtomicU64 = AtomicU64::new(1);
        let VariantCode { kernel_index, facts, tier, object, of_level } = variant_code;
        // Code for any processor of a level stays as it is.
        let is_last = *tier == Tier::Optimized && !of_level;
        Ok(LoadedVariant {
            kernel_index: *kernel_index,
            facts: *facts,
            number: NEXT_NUMBER.fetch_add(1, Ordering::Relaxed),
            code: CallableCode::load_object(object)?,
            needs: object.needs,
            usage: None,
            promotion: (*tier == Tier::Baseline && !of_level).then(Promotion::default),
            trials: is_last.then(|| plan_trials(object)).flatten().map_or_else(OnceLock::new, OnceLock::from),
        })
    }

    /// Its number among the variants of the process.
    pub fn log_number(&self) -> u64 {
        self.number
    }

    /// The tier of the code that runs its launches now.
    pub fn current_tier(&self) -> Tier {
        match &self.promotion {
            Some(promotion) if promotion.optimized().is_none() => Tier::Baseline,
            _ => Tier::Optimized,
        }
    }

    /// The same code, whose launches are counted if there is where.
    pub fn with_usage(self, variant_usage: Option<Arc<VariantUsage>>) -> LoadedVariant {
        LoadedVariant { usage: variant_usage, ..self }
    }

    /// Calls `run` with the function that is to run work-groups of a chunk, the best of the usable ones or one that is measured, and these groups,
    /// on a stack with room for it: once, or once for each part of the chunk. The function may be called as long as the variant lives. The
    /// answer is the trial that ended by it, if one did.
    ///
    /// # Errors
    /// [`OutOfStack`] where groups were not run for want of memory.
    pub fn run_chunk(
        &self,
        chunk: Chunk<'_>,
        run: impl Fn(KernelEntry, Range<u64>),
    ) -> Result<Option<EndedTrial>, OutOfStack> {
        let last_code = match &self.promotion {
            None => &self.code,
            Some(promotion) => match promotion.optimized() {
                Some(optimized_code) => optimized_code,
                None => {
                    let started = Instant::now();
                    let result = self.code.call_with_stack(chunk.has_failed, |entry| run(entry, chunk.group_range));
                    promotion.add_time(started.elapsed());
                    return result.map(|()| None);
                }
            },
        };
        match self.trials.get() {
            Some(trials) => trials.run_chunk(last_code, chunk, run),
            None => last_code.call_with_stack(chunk.has_failed, |entry| run(entry, chunk.group_range)).map(|()| None),
        }
    }

    /// The codes that are there whose scratch memory a launch has: what `fits` says of their needs.
    pub fn find_usable_forms(&self, fits: impl FnMut(&ScratchNeeds) -> bool) -> UsableForms {
        self.trials.get().map_or(UsableForms::OWN, |trials| trials.find_usable(fits))
    }

    /// What is measured beside its code of the last tier, where there is a choice.
    pub fn form_trials(&self) -> Option<&FormTrials> {
        self.trials.get()
    }

    /// What its first tier has counted of the kernel's loops.
    pub fn loop_profile(&self) -> LoopProfile {
        self.promotion.as_ref().map_or(LoopProfile::Unknown, Promotion::loop_profile)
    }

    /// What its frames have for [`LaunchFrame::loop_counters`](lockstep_protocol::kernel_abi::LaunchFrame::loop_counters). It leads to
    /// counters that live as long as the variant.
    pub fn loop_counters(&self) -> *const LoopCounters {
        self.promotion.as_ref().map_or(std::ptr::null(), |promotion| promotion.loop_counters().as_ptr())
    }

    /// The promotion of its code to the last tier, if it is time for that. Only one caller gets it.
    pub fn begin_promotion(&self) -> Option<&Promotion> {
        self.promotion.as_ref().filter(|promotion| promotion.begin_if_due())
    }

    /// Runs code of the last tier from now on, in launches under way too, if it fits in with what was made before. Whether it does.
    ///
    /// # Errors
    /// When the code is damaged or the system gives no memory for it.
    pub fn adopt_code(&self, object: &KernelObject) -> Result<bool, LoadError> {
        let promotion = self.promotion.as_ref().filter(|_| self.needs == object.needs);
        if let Some(promotion) = promotion {
            promotion.install_code(CallableCode::load_object(object)?);
            if let Some(trials) = plan_trials(object) {
                // Code of the last tier is adopted once.
                let _ = self.trials.set(trials);
            }
        }
        Ok(promotion.is_some())
    }

    /// The scratch memory that a call needs.
    pub fn needs(&self) -> ScratchNeeds {
        self.needs
    }

    /// Runs a launch, and counts it where somebody wants to know.
    pub fn run_launch<T>(&self, launch: impl FnOnce() -> T) -> T {
        let Some(trials) = self.trials.get().filter(|trials| trials.times_launches()) else {
            return self.count_launch(launch);
        };
        let started = Instant::now();
        let result = self.count_launch(launch);
        trials.note_launch(started.elapsed());
        result
    }

    fn count_launch<T>(&self, launch: impl FnOnce() -> T) -> T {
        match &self.usage {
            Some(variant_usage) => variant_usage.time_launch(launch),
            None => launch(),
        }
    }
}

/// The trials of code of the last tier, where there is a choice and nobody wants the one that the estimate took.
fn plan_trials(object: &KernelObject) -> Option<FormTrials> {
    match options().form_trials() {
        Versions::Never => None,
        versions => Some(FormTrials::new(object.form, object.alternatives?, versions == Versions::Always)),
    }
}
