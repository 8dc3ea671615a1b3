//! What a successful build leaves: the kernels' outlines, the program's variables, and machine code for what has been
//! launched.

use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Once, OnceLock};
use std::time::Instant;

use lockstep_protocol::compile_options::{CompileOptions, Tier};
use lockstep_protocol::configuration::Versions;
use lockstep_protocol::job::{BuiltCode, KernelJob, ReportTexts};
use lockstep_protocol::kernel_object::KernelObject;
use lockstep_protocol::launch_facts::{LaunchFacts, object_params};
use lockstep_protocol::loop_profile::LoopProfile;
use lockstep_protocol::portable_program::LinkedProgram;
use lockstep_protocol::program_metadata::{KernelOutline, Outline};
use opencl_sys::{CL_COMPLETE, CL_INVALID_KERNEL_NAME, CL_OUT_OF_HOST_MEMORY, CL_OUT_OF_RESOURCES};
use parking_lot::Mutex;

use crate::cache::key::{self, BUILD, Key, KeyBuilder};
use crate::cache::{Cache, process_cache};
use crate::compiler_process::{self, CodeFailure};
use crate::context::Context;
use crate::event::Event;
use crate::execute::loaded_code::LoadError;
use crate::executor::{self, Service};
use crate::launch::facts_text::describe_facts;
use crate::launch::globals::Globals;
use crate::launch::ndrange::NdRange;
use crate::log::tell_user;
use crate::options::options;
use crate::processor::chosen_level;
use crate::program::binary::{Binary, Image, KernelCode};
use crate::program::kernel_report::KernelReport;
use crate::program::loaded_variant::{LoadedVariant, VariantCode};
use crate::program::lookahead::{Lookahead, PredictLaunch};
use crate::program::precompiled::{Ready, likely_facts};
use crate::program::variant_log::{Origin, log_variant};
use crate::program::variants::Variants;
use crate::{Error, Result, error, schedule};

/// As many instructions of kernels that were never launched are compiled for a binary.
const MOST_FOR_BINARY: usize = 20_000;

/// Instructions from which on making a kernel's code takes so long, about a second, that launches take what there is.
const TAKES_LONG: usize = 4_000;

/// A built program.
pub struct Executable {
    linked: LinkedProgram,
    outline: Outline,
    /// Whether work-items of its kernels may make their launch fail: what its formats tell, of which there may be many, for each chunk of
    /// groups.
    may_give_up: bool,
    /// A hash of the portable form.
    identity: OnceLock<[u8; 32]>,
    globals: Globals,
    code: Vec<Code>,
    /// Whose code is made before it is asked for.
    lookahead: Lookahead<dyn PredictLaunch>,
    /// What `CL_PROGRAM_BINARIES` gives, from when it was first asked for: it must not grow between the question for
    /// its size and that for its bytes.
    binary: OnceLock<Vec<u8>>,
}

/// Why a launch gets no code.
enum NoCode {
    /// For want of something that the next launch may have.
    Now(Error),
    /// For a reason that stays.
    Ever(Error),
}

impl From<CodeFailure> for NoCode {
    fn from(failure: CodeFailure) -> NoCode {
        let code = match failure {
            CodeFailure::OutOfMemory(_) => CL_OUT_OF_HOST_MEMORY,
            CodeFailure::NotBegun(_) | CodeFailure::Failed(_) => CL_OUT_OF_RESOURCES,
        };
        let error = error!(code, "no code could be made for it: {failure}");
        match failure {
            CodeFailure::NotBegun(_) | CodeFailure::OutOfMemory(_) => NoCode::Now(error),
            CodeFailure::Failed(_) => NoCode::Ever(error),
        }
    }
}

/// What chose the form of code that is kept for settings that leave it open.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum ChosenBy {
    /// The compiler's estimate.
    Estimate,
    /// Trials of several forms, by this process or an earlier one.
    Trials,
}

/// What is kept for further launches: code, or a reason that stays.
fn keep_failure(made_code: std::result::Result<Made, NoCode>) -> Result<Result<Made>> {
    match made_code {
        Ok(made_code) => Ok(Ok(made_code)),
        Err(NoCode::Ever(error)) => Ok(Err(error)),
        Err(NoCode::Now(error)) => Err(error),
    }
}

/// A kernel's machine code.
struct Code {
    variants: Variants<Result<Made>>,
    /// What came with the program, or was made for its binary.
    ready: OnceLock<Vec<Ready>>,
    /// What launches wait for, in the order in which it is made.
    wanted: Mutex<VecDeque<Wanted>>,
    /// From when standard error was told of a mistake of the driver.
    told: Once,
    /// Where what becomes of it is reported, from when there is something to report.
    report: OnceLock<Arc<KernelReport>>,
}

impl Code {
    /// None yet, of a kernel whose code takes long to make or not, but what came with the program.
    fn new(takes_long: bool, precompiled: Vec<Ready>) -> Code {
        Code {
            variants: Variants::new(takes_long),
            ready: if precompiled.is_empty() { OnceLock::new() } else { OnceLock::from(precompiled) },
            wanted: Mutex::default(),
            told: Once::new(),
            report: OnceLock::new(),
        }
    }

    /// Says, once of a kernel, for which mistake of the driver it runs in its simplest form.
    fn tell_mistake(&self, mistake: &str) {
        self.told.call_once(|| tell_user(&format!("{mistake}; the kernel runs in its simplest form")));
    }
}

/// Code that is to be made.
struct Wanted {
    facts: LaunchFacts,
    tier: Tier,
    /// It ends when the code is there; none while no launch waits for it.
    event: Option<Arc<Event>>,
}

#[derive(Clone)]
struct Made {
    variant: Arc<LoadedVariant>,
    code: VariantCode,
}

/// Code as it was kept or compiled, in memory, and what became of the kernel if that is to be reported.
struct KeptOrCompiled {
    code: VariantCode,
    loaded: LoadedVariant,
    report: Option<ReportTexts>,
}

impl Executable {
    /// Takes over a linked program and machine code that came with it.
    ///
    /// # Errors
    /// `CL_OUT_OF_HOST_MEMORY` where there is no memory for its variables.
    pub fn new(linked_program: LinkedProgram, outline: Outline, kernel_code: Vec<KernelCode>) -> Result<Executable> {
        let globals = Globals::new(&outline.globals)
            .ok_or_else(|| error!(CL_OUT_OF_HOST_MEMORY, "there is no memory for the program's variables"))?;
        let mut ready: Vec<Vec<Ready>> = outline.kernels.iter().map(|_| Vec::new()).collect();
        let settings = settings_text(&linked_program);
        for code in kernel_code {
            let KernelCode { kernel, facts, tier, object, of_level, .. } = code;
            if let Some(precompiled) = ready.get_mut(kernel as usize).filter(|_| code.settings == settings) {
                let kernel_index = kernel as usize;
                precompiled.push(Ready::new(VariantCode {
                    kernel_index,
                    facts,
                    tier,
                    object: Arc::new(object),
                    of_level,
                }));
            }
        }
        let kernels = outline.kernels.iter().zip(ready);
        let lookahead = Lookahead::new(outline.kernels.len());
        let kernel_code = kernels.map(|(kernel, precompiled)| Code::new(takes_long(kernel), precompiled)).collect();
        Ok(Executable {
            linked: linked_program,
            may_give_up: outline.formats.iter().any(|format| format.is_failure),
            outline,
            identity: OnceLock::new(),
            globals,
            code: kernel_code,
            lookahead,
            binary: OnceLock::new(),
        })
    }

    /// The program in portable form.
    pub fn linked(&self) -> &LinkedProgram {
        &self.linked
    }

    /// The kernels and formats.
    pub fn outline(&self) -> &Outline {
        &self.outline
    }

    /// Whether work-items of its kernels may make their launch fail.
    pub fn may_give_up(&self) -> bool {
        self.may_give_up
    }

    /// The program-scope variables.
    pub fn globals(&self) -> &Globals {
        &self.globals
    }

    /// The number of the kernel with this name.
    ///
    /// # Errors
    /// `CL_INVALID_KERNEL_NAME` where there is none.
    pub fn find_kernel(&self, name: &str) -> Result<usize> {
        let kernel_index = self.outline.kernels.iter().position(|kernel| kernel.name == name);
        kernel_index.ok_or_else(|| {
            let known_names: Vec<_> = self.outline.kernels.iter().map(|kernel| format!("'{}'", kernel.name)).collect();
            error!(
                CL_INVALID_KERNEL_NAME,
                "the program has no kernel '{name}'; its kernels are {}",
                known_names.join(", ")
            )
        })
    }

    /// What there is to know of a kernel beside its code.
    pub fn kernel_outline(&self, index: usize) -> &KernelOutline {
        &self.outline.kernels[index]
    }

    /// Whether launches should tell their facts: code may rely on them.
    pub fn uses_facts(&self) -> bool {
        options().specialize && !self.linked.options.opt_disable
    }

    /// Whether the driver is to choose the groups of a kernel's launches, as the kernel cannot tell.
    pub fn may_flatten(&self, index: usize) -> bool {
        options().flatten && !self.linked.options.opt_disable && !self.kernel_outline(index).needs_groups
    }

    /// A kernel's machine code for launches of which these facts hold, if it is there, or what came with the program and
    /// will do. After many launches of that, code for them is made while further ones go on with it.
    pub fn lookup(
        self: &Arc<Self>,
        index: usize,
        launch_facts: &LaunchFacts,
        context: &Arc<Context>,
    ) -> Option<Result<Arc<LoadedVariant>>> {
        let Code { variants, ready, .. } = &self.code[index];
        if let Some((made_code, is_frequent)) = variants.serve_launch(launch_facts) {
            if is_frequent {
                self.make_later(index, *launch_facts, Tier::Optimized, context);
            }
            return Some(made_code.clone().map(|made_code| made_code.variant));
        }
        let ready = ready.get().filter(|_| options().report.is_none()).into_iter().flatten();
        let (variant, is_small) = ready
            .into_iter()
            .find_map(|precompiled| precompiled.variant_for(launch_facts, self.kernel_outline(index)))?;
        if is_small {
            self.make_later(index, *launch_facts, Tier::Optimized, context);
        }
        Some(Ok(variant))
    }

    /// A kernel's machine code for launches of which these facts hold, or that run no work-item; made by the first
    /// caller.
    pub fn get_or_compile(&self, index: usize, launch_facts: Option<LaunchFacts>) -> Result<Arc<LoadedVariant>> {
        self.get_or_compile_tier(index, launch_facts, options().first_tier())
    }

    /// As [`Executable::get_or_compile`]; what is made is of this tier, or a later one.
    fn get_or_compile_tier(
        &self,
        index: usize,
        launch_facts: Option<LaunchFacts>,
        tier: Tier,
    ) -> Result<Arc<LoadedVariant>> {
        let variants = &self.code[index].variants;
        let make_code = |launch: &LaunchFacts| keep_failure(self.make_code(index, launch, tier));
        let made_code = launch_facts.map_or_else(
            || variants.any_or_make(make_code),
            |launch_facts| variants.get_or_make(launch_facts, make_code),
        );
        made_code?.clone().map(|made_code| made_code.variant)
    }

    /// Has another thread make code for a launch that waits; the event ends when it is there. A kernel's code is made in the
    /// order in which it is wanted, that of several kernels side by side.
    pub fn make_soon(self: &Arc<Self>, index: usize, launch_facts: LaunchFacts, context: &Arc<Context>) -> Arc<Event> {
        self.make_later(index, launch_facts, options().first_tier(), context)
    }

    /// Notes that a kernel of the program has a kernel object: it may be launched.
    pub fn note_kernel(&self, index: usize, kernel: &Arc<dyn PredictLaunch>) {
        self.lookahead.note_kernel(index, kernel);
    }

    /// Has code made of the kernels that may be launched after the first launch of this one, over the range that was `asked` for and of
    /// which `launch_facts` hold.
    pub fn look_ahead(self: &Arc<Self>, index: usize, launch_facts: &LaunchFacts, asked: &NdRange) {
        let is_first_launch = self.lookahead.note_launch(index, launch_facts);
        if !is_first_launch || !options().looks_ahead() {
            return;
        }
        let predict_facts = |next_index: usize, kernel: &Arc<dyn PredictLaunch>| {
            let is_worth_it = !takes_long(self.kernel_outline(next_index));
            is_worth_it.then(|| kernel.predict_facts(asked)).flatten().filter(|facts| !self.has_code(next_index, facts))
        };
        while let Some((next_index, next_facts)) =
            self.lookahead.choose_next(index, schedule::available_cpus(), predict_facts)
        {
            self.make_ahead(next_index, next_facts);
        }
    }

    /// Whether a kernel has code for launches of which these facts hold.
    fn has_code(&self, index: usize, launch_facts: &LaunchFacts) -> bool {
        let Code { variants, ready, .. } = &self.code[index];
        let mut ready = ready.get().into_iter().flatten();
        variants.find_variant(launch_facts).is_some()
            || ready.any(|precompiled| launch_facts.implies(&precompiled.code.facts))
    }

    /// As [`Executable::make_soon`], of this tier.
    fn make_later(
        self: &Arc<Self>,
        index: usize,
        launch_facts: LaunchFacts,
        tier: Tier,
        context: &Arc<Context>,
    ) -> Arc<Event> {
        let mut wanted_variants = self.code[index].wanted.lock();
        let new_event = || Event::new_user_event(context.clone());
        if let Some(wanted) = wanted_variants.iter_mut().find(|wanted| wanted.facts == launch_facts) {
            return wanted.event.get_or_insert_with(new_event).clone();
        }
        let event = new_event();
        wanted_variants.push_back(Wanted { facts: launch_facts, tier, event: Some(event.clone()) });
        if wanted_variants.len() == 1 {
            executor::spawn_job(Service::Compilation, self.making_job(index));
        }
        event
    }

    /// Has another thread make code for a launch that is likely to come, of a kernel of which no code is being made.
    fn make_ahead(self: &Arc<Self>, index: usize, launch_facts: LaunchFacts) {
        let mut wanted_variants = self.code[index].wanted.lock();
        if !wanted_variants.is_empty() {
            return;
        }
        wanted_variants.push_back(Wanted { facts: launch_facts, tier: options().first_tier(), event: None });
        // Without a thread for it the application would do it, which did not ask for it.
        if executor::try_spawn(Service::Compilation, self.making_job(index)).is_err() {
            wanted_variants.clear();
            self.lookahead.note_made(index);
        }
    }

    /// Makes what is wanted of a kernel.
    fn making_job(self: &Arc<Self>, index: usize) -> executor::Job {
        let executable = self.clone();
        Box::new(move || executable.make_wanted(index))
    }

    /// Makes what is wanted of a kernel.
    fn make_wanted(&self, index: usize) {
        let wanted_variants = &self.code[index].wanted;
        let next_wish = || wanted_variants.lock().front().map(|wanted| (wanted.facts, wanted.tier));
        while let Some((launch_facts, tier)) = next_wish() {
            // The launch asks again and learns what went wrong.
            let _ = catch_unwind(AssertUnwindSafe(|| {
                let Ok(_) = self.get_or_compile_tier(index, Some(launch_facts), tier) else { return };
                // What there is will do if this fails.
                let make_code = |launch: &LaunchFacts| self.make_code(index, launch, tier).ok().map(Ok);
                self.code[index].variants.make_own(launch_facts, make_code);
            }));
            self.lookahead.note_made(index);
            let ended_wish = wanted_variants.lock().pop_front();
            if let Some(event) = ended_wish.and_then(|wanted| wanted.event) {
                event.end_with(CL_COMPLETE).notify_all();
            }
        }
    }

    /// The bytes of `CL_PROGRAM_BINARIES`: the portable form and the machine code that there is. Kernels that were never
    /// launched get code for likely launches, so that whoever loads the binary need not wait for the first ones.
    pub fn binary(self: &Arc<Self>) -> &[u8] {
        self.binary.get_or_init(|| self.make_binary())
    }

    fn make_binary(self: &Arc<Self>) -> Vec<u8> {
        self.make_likely_code();
        let settings = settings_text(&self.linked);
        let mut kernel_code = Vec::new();
        for Code { variants, ready, .. } in &self.code {
            let made_code = variants.all_variants().filter_map(|(_, made)| Some(&made.as_ref().ok()?.code));
            let ready_code = ready.get().into_iter().flatten().map(|precompiled| &precompiled.code);
            kernel_code.extend(made_code.chain(ready_code).map(|code| KernelCode {
                kernel: code.kernel_index as u32,
                settings: settings.clone(),
                facts: code.facts,
                tier: code.tier,
                object: (*code.object).clone(),
                of_level: code.of_level,
            }));
        }
        let image = Image { linked: self.linked.clone(), outline: Some(self.outline.clone()), code: kernel_code };
        Binary::Program(image).to_bytes(BUILD)
    }

    /// Makes code for likely launches of the kernels that a binary is to have it of, side by side.
    fn make_likely_code(self: &Arc<Self>) {
        let (executable, wanted) = (self.clone(), self.wanted_in_binary());
        executor::share_numbers(wanted.len(), move |number| {
            let kernel_index = wanted[number];
            executable.code[kernel_index].ready.get_or_init(|| executable.likely_code(kernel_index));
        });
    }

    /// The kernels that were never launched and have no code, as far as that is not too much work.
    fn wanted_in_binary(&self) -> Vec<usize> {
        let without = |kernel_code: &Code| {
            kernel_code.ready.get().is_none() && kernel_code.variants.all_variants().next().is_none()
        };
        let without: Vec<usize> = (0..self.code.len()).filter(|&index| without(&self.code[index])).collect();
        if without.is_empty() {
            return without;
        }
        let mut instructions_left = MOST_FOR_BINARY;
        let mut wanted = Vec::new();
        for index in without {
            if let Some(rest) = instructions_left.checked_sub(self.outline.kernels[index].insts) {
                instructions_left = rest;
                wanted.push(index);
            }
        }
        wanted
    }

    /// Code for the launches that are likely.
    fn likely_code(&self, index: usize) -> Vec<Ready> {
        // The machine that code of a level is for has another cache.
        let is_kept = chosen_level().is_none() && process_cache().is_some_and(Cache::outlives_the_process);
        let outline = &self.outline.kernels[index];
        let of_objects = object_params(&outline.params).next().is_some();
        let all_facts = match self.uses_facts() {
            true => likely_facts(is_kept, takes_long(outline), of_objects, outline.to_be_apart),
            false => vec![LaunchFacts::default()],
        };
        let make_code = |launch_facts: &LaunchFacts| {
            Some(Ready::new(self.find_or_compile(index, launch_facts, options().first_tier()).ok()?.code))
        };
        all_facts.iter().filter_map(make_code).collect()
    }

    /// A kernel's code for launches of which these facts hold: what came with the program, what is in the cache, or
    /// what is compiled now, of this tier or a later one.
    fn make_code(&self, index: usize, launch_facts: &LaunchFacts, tier: Tier) -> std::result::Result<Made, NoCode> {
        if options().report.is_none() {
            let mut ready = self.code[index].ready.get().into_iter().flatten();
            let precompiled = ready.find(|Ready { code, .. }| {
                let is_late_enough = code.tier == tier || tier == Tier::Baseline;
                code.facts == *launch_facts && is_late_enough && !code.of_level
            });
            if let Some((precompiled, variant)) = precompiled
                .and_then(|precompiled| Some((precompiled, precompiled.load_code(self.kernel_outline(index))?)))
            {
                return Ok(Made { variant, code: precompiled.code.clone() });
            }
        }
        let KeptOrCompiled { code, loaded, report } = self.find_or_compile(index, launch_facts, tier)?;
        let variant_usage = self.open_report(index).map(|kernel| {
            let fact_texts = describe_facts(launch_facts, &self.outline.kernels[index]);
            kernel.add_variant(fact_texts, report)
        });
        Ok(Made { variant: Arc::new(loaded.with_usage(variant_usage)), code })
    }

    /// A kernel's code that is in the cache, or else is compiled now.
    fn find_or_compile(
        &self,
        kernel_index: usize,
        launch_facts: &LaunchFacts,
        tier: Tier,
    ) -> std::result::Result<KeptOrCompiled, NoCode> {
        let begun = Instant::now();
        let (facts, kernel) = (*launch_facts, self.kernel_outline(kernel_index));
        let variant_code =
            |tier, object| VariantCode { kernel_index, facts, tier, object: Arc::new(object), of_level: false };
        let by_estimate = [(ChosenBy::Estimate, Tier::Optimized), (ChosenBy::Estimate, tier)];
        let by_trials = (options().form_trials() != Versions::Never).then_some((ChosenBy::Trials, Tier::Optimized));
        for (chosen_by, kept_tier) in by_trials.into_iter().chain(by_estimate) {
            let settings = self.compile_settings(launch_facts, kept_tier);
            let kept_object = self.find_kept(kernel_index, &settings, chosen_by);
            let Some(code) = kept_object.map(|object| variant_code(kept_tier, object)) else { continue };
            if let Ok(loaded) = LoadedVariant::load(&code) {
                log_variant(kernel, &loaded, &code, Origin::Cache, begun);
                return Ok(KeptOrCompiled { code, loaded, report: None });
            }
        }
        let settings = self.compile_settings(launch_facts, tier);
        let kernel_job = self.kernel_job(kernel_index, settings.clone());
        let BuiltCode { object, tier, mistake, report } = compiler_process::compile_kernel(kernel_job)?;
        match &mistake {
            // The next process is to hear of it as well.
            Some(mistake) => self.code[kernel_index].tell_mistake(mistake),
            None => {
                let settings = CompileOptions { tier, ..settings };
                self.keep_object(kernel_index, &settings, ChosenBy::Estimate, &object);
            }
        }
        let load_error = |error: LoadError| NoCode::Ever(error!(CL_OUT_OF_RESOURCES, "its code cannot run: {error}"));
        let code = variant_code(tier, object);
        let loaded = LoadedVariant::load(&code).map_err(load_error)?;
        log_variant(kernel, &loaded, &code, Origin::Compiler, begun);
        Ok(KeptOrCompiled { code, loaded, report })
    }

    /// What the compiler is to do.
    pub(super) fn kernel_job(&self, kernel_index: usize, settings: CompileOptions) -> KernelJob {
        KernelJob {
            program: self.linked.clone(),
            kernel: kernel_index as u32,
            variables: self.outline.globals.clone(),
            formats: self.outline.formats.clone(),
            options: settings,
            mistake: None,
        }
    }

    /// A kernel's code that is in the cache.
    pub(super) fn find_kept(
        &self,
        kernel_index: usize,
        settings: &CompileOptions,
        chosen_by: ChosenBy,
    ) -> Option<KernelObject> {
        code_cache()?.get::<KernelObject>(&self.code_key(kernel_index, settings, chosen_by))
    }

    /// Leaves a kernel's code in the cache.
    pub(super) fn keep_object(
        &self,
        kernel_index: usize,
        settings: &CompileOptions,
        chosen_by: ChosenBy,
        object: &KernelObject,
    ) {
        if let Some(code_cache) = code_cache() {
            code_cache.put(&self.code_key(kernel_index, settings, chosen_by), object);
        }
    }

    /// How a kernel of the program is compiled.
    pub(super) fn compile_settings(&self, launch_facts: &LaunchFacts, tier: Tier) -> CompileOptions {
        let loops = if tier == Tier::Baseline { LoopProfile::Count } else { LoopProfile::Unknown };
        CompileOptions { launch: *launch_facts, tier, loops, ..compile_settings(&self.linked) }
    }

    /// The report on a kernel, if one is wanted.
    fn open_report(&self, index: usize) -> Option<&Arc<KernelReport>> {
        let folder = options().report.as_ref()?;
        let name = &self.outline.kernels[index].name;
        Some(self.code[index].report.get_or_init(|| KernelReport::open(folder, name, self.program_hash())))
    }

    /// A hash of the portable form.
    fn program_hash(&self) -> [u8; 32] {
        *self.identity.get_or_init(|| key::hash_bytes(&self.linked.bitcode))
    }

    fn code_key(&self, index: usize, settings: &CompileOptions, chosen_by: ChosenBy) -> Key {
        let kind = match chosen_by {
            ChosenBy::Estimate => "code",
            ChosenBy::Trials => "code found by trials",
        };
        let key_builder =
            KeyBuilder::new(kind).add_bytes(&self.program_hash()).add_text(&self.linked.options.running_options());
        let key_builder = key_builder.add_bytes(&(index as u64).to_le_bytes()).add_text(&settings.settings_text());
        key_builder.add_text(&format!("{:?} {:?}", settings.launch, settings.tier)).into_key()
    }
}

/// Whether a kernel's code takes long to make.
fn takes_long(kernel: &KernelOutline) -> bool {
    kernel.insts > TAKES_LONG
}

/// The cache that code may come from.
fn code_cache() -> Option<&'static Cache> {
    process_cache().filter(|_| !options().inspects_code())
}

/// How kernels of a program are compiled, for launches of which nothing is known.
fn compile_settings(linked_program: &LinkedProgram) -> CompileOptions {
    CompileOptions {
        opt_disable: linked_program.options.opt_disable,
        vectorize: options().vectorize,
        simd: options().simd,
        scalar_replacement: options().scalar_replacement,
        dump: options().dump.clone(),
        debug: options().debug || linked_program.options.debug,
        report: options().report.is_some(),
        time: options().time,
        strict: options().strict,
        ..CompileOptions::default()
    }
}

/// What code that comes with a program has to be made with.
fn settings_text(linked_program: &LinkedProgram) -> String {
    compile_settings(linked_program).settings_text()
}
