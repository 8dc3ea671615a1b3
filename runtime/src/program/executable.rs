//! What a successful build leaves: the kernels' outlines, the program's variables, and machine code for what has been
//! launched.

use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Once, OnceLock};

use lockstep_protocol::compile_options::CompileOptions;
use lockstep_protocol::job::{BuiltCode, KernelJob, ReportTexts};
use lockstep_protocol::kernel_object::KernelObject;
use lockstep_protocol::launch_facts::{LaunchFacts, object_params};
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
use crate::options::options;
use crate::program::binary::{Binary, Image, KernelCode};
use crate::program::kernel_report::KernelReport;
use crate::program::loaded_variant::LoadedVariant;
use crate::program::precompiled::{Ready, likely_facts};
use crate::program::variants::Variants;
use crate::{Error, Result, error};

/// As many instructions of kernels that were never launched are compiled for a binary.
const MOST_FOR_BINARY: usize = 20_000;

/// Instructions from which on making a kernel's code takes so long, about a second, that launches take what there is.
const TAKES_LONG: usize = 4_000;

/// A built program.
pub struct Executable {
    linked: LinkedProgram,
    outline: Outline,
    /// A hash of the portable form.
    identity: OnceLock<[u8; 32]>,
    globals: Globals,
    code: Vec<Code>,
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
    /// What launches wait for, in the order in which it is made, with the events that tell them.
    wanted: Mutex<VecDeque<(LaunchFacts, Arc<Event>)>>,
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
        self.told.call_once(|| eprintln!("lockstep: {mistake}; the kernel runs in its simplest form"));
    }
}

#[derive(Clone)]
struct Made {
    variant: Arc<LoadedVariant>,
    object: Arc<KernelObject>,
}

/// Code as it was kept or compiled, in memory, and what became of the kernel if that is to be reported.
struct KeptOrCompiled {
    object: KernelObject,
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
        let settings = compile_settings(&linked_program, &LaunchFacts::default()).settings_text();
        for code in kernel_code {
            if let Some(precompiled) = ready.get_mut(code.kernel as usize).filter(|_| code.settings == settings) {
                precompiled.push(Ready::new(code.facts, Arc::new(code.object)));
            }
        }
        let kernels = outline.kernels.iter().zip(ready);
        let kernel_code = kernels.map(|(kernel, precompiled)| Code::new(takes_long(kernel), precompiled)).collect();
        Ok(Executable {
            linked: linked_program,
            outline,
            identity: OnceLock::new(),
            globals,
            code: kernel_code,
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
        launch_facts: LaunchFacts,
        context: &Arc<Context>,
    ) -> Option<Result<Arc<LoadedVariant>>> {
        let Code { variants, ready, .. } = &self.code[index];
        if let Some((made_code, is_frequent)) = variants.serve_launch(launch_facts) {
            if is_frequent {
                self.make_later(index, launch_facts, context);
            }
            return Some(made_code.clone().map(|made_code| made_code.variant));
        }
        let ready = ready.get().filter(|_| options().report.is_none()).into_iter().flatten();
        let (variant, is_small) = ready.into_iter().find_map(|precompiled| precompiled.variant_for(&launch_facts))?;
        if is_small {
            self.make_later(index, launch_facts, context);
        }
        Some(Ok(variant))
    }

    /// A kernel's machine code for launches of which these facts hold, or that run no work-item; made by the first
    /// caller.
    pub fn get_or_compile(&self, index: usize, launch_facts: Option<LaunchFacts>) -> Result<Arc<LoadedVariant>> {
        let variants = &self.code[index].variants;
        let make_code = |launch: &LaunchFacts| keep_failure(self.make_code(index, launch));
        let made_code = launch_facts.map_or_else(
            || variants.any_or_make(make_code),
            |launch_facts| variants.get_or_make(launch_facts, make_code),
        );
        made_code?.clone().map(|made_code| made_code.variant)
    }

    /// Has another thread make code; the event ends when it is there. A kernel's code is made in the order in which
    /// it is wanted, that of several kernels side by side.
    pub fn make_later(self: &Arc<Self>, index: usize, launch_facts: LaunchFacts, context: &Arc<Context>) -> Arc<Event> {
        let mut wanted_variants = self.code[index].wanted.lock();
        if let Some((_, event)) = wanted_variants.iter().find(|(known_facts, _)| *known_facts == launch_facts) {
            return event.clone();
        }
        let event = Event::new_user_event(context.clone());
        wanted_variants.push_back((launch_facts, event.clone()));
        if wanted_variants.len() == 1 {
            let executable = self.clone();
            executor::spawn_job(Service::Compilation, Box::new(move || executable.make_wanted(index)));
        }
        event
    }

    /// Makes what is wanted of a kernel.
    fn make_wanted(&self, index: usize) {
        let wanted_variants = &self.code[index].wanted;
        let next_facts = || wanted_variants.lock().front().map(|(launch_facts, _)| *launch_facts);
        while let Some(launch_facts) = next_facts() {
            // The launch asks again and learns what went wrong.
            let _ = catch_unwind(AssertUnwindSafe(|| {
                let Ok(_) = self.get_or_compile(index, Some(launch_facts)) else { return };
                // What there is will do if this fails.
                self.code[index].variants.make_own(launch_facts, |launch| self.make_code(index, launch).ok().map(Ok));
            }));
            let ended_wish = wanted_variants.lock().pop_front();
            if let Some((_, event)) = ended_wish {
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
        let settings = compile_settings(&self.linked, &LaunchFacts::default()).settings_text();
        let mut kernel_code = Vec::new();
        for (index, Code { variants, ready, .. }) in self.code.iter().enumerate() {
            let mut add = |launch_facts: LaunchFacts, object: &KernelObject| {
                let (settings, object) = (settings.clone(), object.clone());
                kernel_code.push(KernelCode { kernel: index as u32, settings, facts: launch_facts, object });
            };
            for (launch_facts, variant) in variants.all_variants() {
                let Ok(variant) = variant else { continue };
                add(launch_facts, &variant.object);
            }
            for precompiled in ready.get().into_iter().flatten() {
                add(precompiled.facts, &precompiled.object);
            }
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
        let outlives_process = process_cache().is_some_and(Cache::outlives_the_process);
        let outline = &self.outline.kernels[index];
        let of_objects = object_params(&outline.params).next().is_some();
        let all_facts = match self.uses_facts() {
            true => likely_facts(outlives_process, takes_long(outline), of_objects, outline.to_be_apart),
            false => vec![LaunchFacts::default()],
        };
        let make_code = |launch_facts: &LaunchFacts| {
            Some(Ready::new(*launch_facts, Arc::new(self.find_or_compile(index, launch_facts).ok()?.object)))
        };
        all_facts.iter().filter_map(make_code).collect()
    }

    /// A kernel's code for launches of which these facts hold: what came with the program, what is in the cache, or
    /// what is compiled now.
    fn make_code(&self, index: usize, launch_facts: &LaunchFacts) -> std::result::Result<Made, NoCode> {
        if options().report.is_none() {
            let precompiled = self.code[index]
                .ready
                .get()
                .into_iter()
                .flatten()
                .find(|precompiled| precompiled.facts == *launch_facts);
            if let Some((precompiled, variant)) =
                precompiled.and_then(|precompiled| Some((precompiled, precompiled.load_code()?)))
            {
                return Ok(Made { variant, object: precompiled.object.clone() });
            }
        }
        let KeptOrCompiled { object, loaded, report } = self.find_or_compile(index, launch_facts)?;
        let variant_usage = self.open_report(index).map(|kernel| {
            let fact_texts = describe_facts(launch_facts, &self.outline.kernels[index]);
            kernel.add_variant(fact_texts, report)
        });
        Ok(Made { variant: Arc::new(loaded.with_usage(variant_usage)), object: Arc::new(object) })
    }

    /// A kernel's code that is in the cache, or else is compiled now.
    fn find_or_compile(&self, index: usize, launch_facts: &LaunchFacts) -> std::result::Result<KeptOrCompiled, NoCode> {
        let settings = compile_settings(&self.linked, launch_facts);
        let program_cache = process_cache().filter(|_| !options().inspects_code());
        let cache_place = program_cache.map(|program_cache| (program_cache, self.code_key(index, &settings)));
        let kept_object =
            cache_place.as_ref().and_then(|(program_cache, cache_key)| program_cache.get::<KernelObject>(cache_key));
        let load_object = |object: KernelObject| Some((LoadedVariant::load(&object).ok()?, object));
        if let Some((loaded_variant, object)) = kept_object.and_then(load_object) {
            return Ok(KeptOrCompiled { object, loaded: loaded_variant, report: None });
        }
        let kernel_job = KernelJob {
            program: self.linked.clone(),
            kernel: index as u32,
            variables: self.outline.globals.clone(),
            formats: self.outline.formats.clone(),
            options: settings,
            mistake: None,
        };
        let BuiltCode { object, mistake, report } = compiler_process::compile_kernel(kernel_job)?;
        match (&mistake, cache_place) {
            // The next process is to hear of it as well.
            (Some(mistake), _) => self.code[index].tell_mistake(mistake),
            (None, Some((program_cache, cache_key))) => program_cache.put(&cache_key, &object),
            (None, None) => {}
        }
        let load_error = |error: LoadError| NoCode::Ever(error!(CL_OUT_OF_RESOURCES, "its code cannot run: {error}"));
        let loaded = LoadedVariant::load(&object).map_err(load_error)?;
        Ok(KeptOrCompiled { object, loaded, report })
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

    fn code_key(&self, index: usize, settings: &CompileOptions) -> Key {
        let key_builder =
            KeyBuilder::new("code").add_bytes(&self.program_hash()).add_text(&self.linked.options.running_options());
        let key_builder = key_builder.add_bytes(&(index as u64).to_le_bytes()).add_text(&settings.settings_text());
        key_builder.add_text(&format!("{:?}", settings.launch)).into_key()
    }
}

/// Whether a kernel's code takes long to make.
fn takes_long(kernel: &KernelOutline) -> bool {
    kernel.insts > TAKES_LONG
}

/// How kernels of a program are compiled.
fn compile_settings(linked_program: &LinkedProgram, launch_facts: &LaunchFacts) -> CompileOptions {
    CompileOptions {
        opt_disable: linked_program.options.opt_disable,
        vectorize: options().vectorize,
        simd: options().simd,
        launch: *launch_facts,
        dump: options().dump.clone(),
        report: options().report.is_some(),
        time: options().time,
        strict: options().strict,
        ..CompileOptions::default()
    }
}
