//! The way of a kernel: what `lockstep_ir::plan::passes` lists, of a program when it is built and of a kernel when it is first
//! launched, then code generation and LLVM. After each pass its result can be dumped, and in debug builds it is verified.

use crate::codegen::{self, CodeOptions, Context, PlannedKernel};
use crate::import::{self, ImportError};
use crate::machine_code::{self, HostMachine, LinkedImage, MachineCodeError, OptLevel};
use crate::pass_record::PassRecord;
use crate::progress::begin_stage;
use crate::stage_times::describe_times;
use crate::variant_name::name_variant;
use lockstep_ir::analysis::work_group_dependence::needs_sub_groups;
use lockstep_ir::ir::{Module, SourceLoc};
use lockstep_ir::plan::function_forms::FunctionForms;
use lockstep_ir::plan::kernel_state::{KernelState, ProgramFacts, Request};
use lockstep_ir::plan::pass_runner::{InternalError, describe_panic, run_passes, run_program_passes};
use lockstep_ir::plan::passes::{PASSES, Pass};
use lockstep_ir::plan::{Reason, Widening};
use lockstep_ir::report::{Notes, Report};
use lockstep_ir::verify::{Stage, VerifyError, verify_module};
use lockstep_protocol::compile_options::{CompileOptions, Tier, Vectorize};
use lockstep_protocol::configuration::{Configuration, Gangs};
use lockstep_protocol::debug_object::DebugObject;
use lockstep_protocol::item_form::{Alternatives, ItemForm, flattens_loops};
use lockstep_protocol::kernel_abi::COUNT_ITERATIONS;
use lockstep_protocol::kernel_object::KernelObject;
use lockstep_protocol::layout::GangShape;
use lockstep_protocol::loop_profile::LoopProfile;
use lockstep_protocol::portable_program::LinkedProgram;
use lockstep_protocol::variables::{FormatData, GlobalData};
use std::cell::Cell;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::time::{Duration, Instant};

/// A compiled kernel that is not loaded yet.
#[derive(Debug)]
pub struct Compiled {
    /// The machine code itself.
    pub object: KernelObject,
    /// The tier of the code. It may be a later one than was asked for: where LLVM may reassociate, what it makes of a kernel depends
    /// on its passes, and of long code both tiers are the same.
    pub tier: Tier,
    /// The mistake of the driver, in words, for which this is the kernel's simplest form.
    pub mistake: Option<String>,
    /// What became of the kernel, if that was wanted.
    pub report: Option<Report>,
    times: Vec<(&'static str, Duration)>,
    reason: Option<Reason>,
}

impl Compiled {
    /// How long each pass took.
    pub fn times(&self) -> &[(&'static str, Duration)] {
        &self.times
    }

    /// Why work-items run one after the other that were to run in gangs.
    pub fn reason(&self) -> Option<Reason> {
        self.reason
    }
}

/// Why a program or kernel could not be compiled.
#[derive(Debug)]
pub enum CompileError {
    /// The program uses what is not supported.
    Import(ImportError),
    /// There is no kernel with this number.
    NoKernel(usize),
    /// A mistake of the driver.
    Internal(InternalError),
    /// LLVM could not make code.
    MachineCode(MachineCodeError),
}

impl fmt::Display for CompileError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoKernel(index) => write!(formatter, "the program has no kernel {index}"),
            Self::Import(error) => error.fmt(formatter),
            Self::Internal(error) => error.fmt(formatter),
            Self::MachineCode(error) => error.fmt(formatter),
        }
    }
}

impl std::error::Error for CompileError {}

impl From<InternalError> for CompileError {
    fn from(error: InternalError) -> Self {
        Self::Internal(error)
    }
}

impl From<MachineCodeError> for CompileError {
    fn from(error: MachineCodeError) -> Self {
        Self::MachineCode(error)
    }
}

/// Reads a linked program into our IR and runs the passes of programs.
///
/// # Errors
///
/// When the program uses what is not supported, or the driver makes a mistake.
pub fn load(program: &LinkedProgram) -> Result<Module, CompileError> {
    load_recorded(program, None).map(|(module, _)| module)
}

/// A loaded program, and how long each pass took of all its kernels.
pub type Loaded = (Module, Vec<(&'static str, Duration)>);

/// As [`load`]; the folder, if there is one, receives each kernel after every pass.
///
/// # Errors
///
/// As [`load`].
pub fn load_recorded(program: &LinkedProgram, dump_folder: Option<&Path>) -> Result<Loaded, CompileError> {
    let started = Instant::now();
    begin_stage(IMPORT, "");
    let module = import::import_linked(program).map_err(CompileError::Import)?;
    let mut record = PassRecord::new(dump_folder);
    record.add_time(IMPORT, started.elapsed());
    let module = prepare_kernels(module, program, &mut record)?;
    Ok((module, record.into_times()))
}

/// Reads one kernel of a program that was loaded before, with what was found of its variables and formats then. It is the only one of
/// the module. The folder, if there is one, receives it after every pass.
///
/// # Errors
///
/// As [`load`], and when there is no kernel with this index.
pub fn load_kernel(
    program: &LinkedProgram,
    kernel_index: usize,
    variables: &[GlobalData],
    formats: &[FormatData],
    dump_folder: Option<&Path>,
) -> Result<Module, CompileError> {
    begin_stage(IMPORT, "");
    if let Some(module) =
        import::import_linked_kernel(program, kernel_index, variables, formats).map_err(CompileError::Import)?
    {
        return prepare_kernels(module, program, &mut PassRecord::new(dump_folder));
    }
    let (mut module, _) = load_recorded(program, dump_folder)?;
    if kernel_index >= module.kernels.len() {
        return Err(CompileError::NoKernel(kernel_index));
    }
    module.kernels = vec![module.kernels.swap_remove(kernel_index)];
    Ok(module)
}

/// Runs the passes of programs over all kernels of a module that was just imported.
fn prepare_kernels(
    mut module: Module,
    program: &LinkedProgram,
    record: &mut PassRecord<'_>,
) -> Result<Module, CompileError> {
    let facts = ProgramFacts { sub_groups_never_wait: program.options.no_subgroup_ifp };
    let mut kernels = std::mem::take(&mut module.kernels);
    for function in module.functions.values() {
        record.dump_text(&function.name, 0, IMPORT, "pir", || function.to_string());
    }
    for kernel in &mut kernels {
        record.dump_text(&kernel.name, 0, IMPORT, "pir", || kernel.to_string());
        run_program_passes(PASSES, &module, kernel, facts, record)?;
    }
    module.kernels = kernels;
    if cfg!(debug_assertions) {
        verify_module(&module, Stage::Imported).map_err(|errors| broken_tables(&errors))?;
    }
    Ok(module)
}

/// The stage before the first pass.
const IMPORT: &str = "import";

/// What verification says of a whole program.
fn broken_tables(errors: &[VerifyError]) -> InternalError {
    let first_error = errors.first();
    InternalError {
        pass: IMPORT,
        kernel: first_error.map(|error| error.kernel.clone()).unwrap_or_default(),
        location: first_error.and_then(VerifyError::source_loc).unwrap_or_default(),
        what: first_error.map(ToString::to_string).unwrap_or_default(),
    }
}

/// Compiles one kernel of a program for this machine.
///
/// # Errors
///
/// When there is no such kernel, LLVM cannot make code of it, or the driver makes a mistake that the options do not let it
/// survive.
pub fn compile_kernel(
    module: &Module,
    kernel_index: usize,
    options: &CompileOptions,
) -> Result<Compiled, CompileError> {
    compile_kernel_by(PASSES, module, kernel_index, options)
}

/// As [`compile_kernel`], with the passes of a table.
///
/// # Errors
///
/// As [`compile_kernel`].
pub fn compile_kernel_by(
    pass_table: &[Pass],
    module: &Module,
    kernel_index: usize,
    options: &CompileOptions,
) -> Result<Compiled, CompileError> {
    compile_form(pass_table, module, kernel_index, options, None).or_else(|compile_error| {
        let mistake = mistake_to_survive(compile_error, options)?;
        compile_form(pass_table, module, kernel_index, options, Some(mistake))
    })
}

/// The mistake of the driver that an error is, if the kernel's simplest form is to be compiled for it; else the error.
fn mistake_to_survive(compile_error: CompileError, options: &CompileOptions) -> Result<String, CompileError> {
    match compile_error {
        CompileError::Internal(mistake) if !options.strict => Ok(mistake.to_string()),
        compile_error => Err(compile_error),
    }
}

/// Compiles one kernel in its simplest form, for a mistake of the driver, in words, that could not be caught: the process died
/// that compiled it.
///
/// # Errors
///
/// As [`compile_kernel`].
pub fn compile_simplest(
    module: &Module,
    kernel_index: usize,
    options: &CompileOptions,
    mistake: String,
) -> Result<Compiled, CompileError> {
    compile_form(PASSES, module, kernel_index, options, Some(mistake))
}

/// Compiles a kernel, in its simplest form for a mistake of the driver: one work-item after the other, or gangs that are the
/// kernel's sub-groups, by those passes alone that code has to have.
fn compile_form(
    pass_table: &[Pass],
    module: &Module,
    kernel_index: usize,
    options: &CompileOptions,
    mistake: Option<String>,
) -> Result<Compiled, CompileError> {
    let mut request = Request {
        vectorize: options.vectorize,
        target: machine_code::host_target(options.simd),
        bounds: options.regions,
        loops: options.loops,
        scalar_replacement: options.scalar_replacement,
        only_needed: false,
        against: None,
    };
    if mistake.is_some() {
        let naive_gangs = Gangs { configuration: Configuration::Naive, ..Gangs::default() };
        let in_gangs = module.kernels.get(kernel_index).is_some_and(needs_sub_groups);
        request.vectorize = if in_gangs { Vectorize::Gangs(naive_gangs) } else { Vectorize::Scalar };
        request.only_needed = true;
    }
    let compilation = Compilation { table: pass_table, module, options, mistake };
    match compilation.compile(kernel_index, request) {
        // What lies on the stack then may fit in registers after all, and both tiers are to have the same plan.
        Err(CompileError::MachineCode(MachineCodeError::StackFrame(_))) if options.tier == Tier::Baseline => {
            let options = CompileOptions { tier: Tier::Optimized, ..options.clone() };
            compile_form(pass_table, module, kernel_index, &options, compilation.mistake)
        }
        // Sub-groups are gangs, whatever they cost.
        Err(CompileError::MachineCode(MachineCodeError::StackFrame(_)))
            if !module.kernels.get(kernel_index).is_some_and(needs_sub_groups) =>
        {
            compilation.compile(kernel_index, Request { against: Some(Reason::StackFrame), ..request })
        }
        result => result,
    }
}

/// What the forms of a kernel have in common.
struct Compilation<'a> {
    table: &'a [Pass],
    module: &'a Module,
    options: &'a CompileOptions,
    mistake: Option<String>,
}

impl Compilation<'_> {
    fn compile(&self, kernel_index: usize, mut request: Request) -> Result<Compiled, CompileError> {
        let &Compilation { table, module, options, .. } = self;
        let kernel = module.kernels.get(kernel_index).ok_or(CompileError::NoKernel(kernel_index))?.clone();
        let (has_fast_math, has_roots) = (module.has_fast_math(&kernel), module.has_reciprocal_roots(&kernel));
        // Only code counts that is replaced.
        if request.loops == LoopProfile::Count && (options.tier != Tier::Baseline || has_fast_math) {
            request.loops = LoopProfile::Unknown;
        }
        let name = kernel.name.clone();
        let instruction_count = module.count_instructions(&kernel);
        let mut record = PassRecord::new(options.dump.as_deref());
        let notes = Notes::new(options.report);

        let mut kernel_state = KernelState::new(module, kernel, &options.launch, request, &notes, table);
        run_passes(&mut kernel_state, &mut record)?;
        let (launch_facts, reason) = (kernel_state.launch, kernel_state.reason);
        let (kernel, widening) = kernel_state.finish();
        let forms = match &widening {
            Some(widening) => {
                let planned = (module, &kernel, widening, &launch_facts);
                FunctionForms::plan_forms(planned, request, &notes, table, &mut record)?
            }
            None => FunctionForms::of_scalar_code(module, &kernel),
        };

        let context = Context::create();
        let code_options = CodeOptions {
            launch: &launch_facts,
            target: machine_code::host_target(options.simd),
            region_functions: options.region_functions,
            place: Cell::default(),
            debug: options.debug,
        };
        let mut steps = Steps { record, kernel: &name, place: &code_options.place };
        let planned = PlannedKernel { kernel: &kernel, widening: widening.as_ref(), forms: &forms };
        let generate = || codegen::generate_kernel(&context, module, planned, &code_options, &notes);
        let generated =
            steps.run(CODEGEN, generate)?.map_err(|step_error| steps.mistake_in(CODEGEN, step_error.to_string()))?;
        code_options.place.take();
        let number = table.len() + 1;
        steps.record.dump_text(&name, number, CODEGEN, "ll", || machine_code::ir_text(&generated.module));
        let report = self.make_report(&name, widening.as_ref(), reason, notes);

        let tier = if has_fast_math { Tier::Optimized } else { options.tier };
        let opt_level = match options.opt_disable {
            true => OptLevel::None,
            false => machine_code::worthwhile(&generated.module, tier, widening.is_some()),
        };
        let is_large = machine_code::is_large(&generated.module);
        if opt_level != OptLevel::Less {
            machine_code::remove_calls(&generated.module, COUNT_ITERATIONS);
        }
        let machine = HostMachine::of_this_thread(opt_level, options.simd)?;
        let optimized = steps.run(OPTIMIZE, || machine_code::optimize(&generated.module, &machine))?;
        optimized.map_err(|step_error| steps.of_llvm(step_error))?;
        let entry = match &widening {
            Some(_) => machine_code::align_stack(&generated.module, generated.entry, code_options.target.register_bits)
                .map_err(|step_error| steps.of_llvm(step_error))?,
            None => generated.entry,
        };
        steps.record.dump_text(&name, number + 1, OPTIMIZE, "ll", || machine_code::ir_text(&generated.module));
        let assembly = || machine_code::assembly_text(&generated.module, &machine).unwrap_or_default();
        steps.record.dump_text(&name, number + 1, OPTIMIZE, "s", assembly);
        if options.debug {
            machine_code::name_for_debuggers(generated.entry, &name);
        }
        let entry_name = entry.get_name().to_string_lossy().into_owned();
        let object_file = steps.run(EMIT, || machine_code::emit_object(&generated.module, &machine))?;
        let object_file = object_file.map_err(|step_error| steps.of_llvm(step_error))?;
        let frames = object_file.frames;
        if widening.as_ref().is_some_and(|widening| frames.largest > widening.stack) {
            return Err(CompileError::MachineCode(MachineCodeError::StackFrame(frames.largest)));
        }
        let linked = steps.run(LINK, || machine_code::link_image(&object_file.bytes, &entry_name))?;
        let LinkedImage { image, section_addresses, code_bytes } =
            linked.map_err(|step_error| steps.of_llvm(step_error))?;

        let times = steps.record.into_times();
        if options.time {
            let counted_loops = request.loops.describe();
            eprint!("{name}: {instruction_count} instructions\n{counted_loops}{}", describe_times(&name, &times));
        }
        let tier = if opt_level == OptLevel::Less { Tier::Baseline } else { Tier::Optimized };
        let debug_object = options.debug.then(|| DebugObject {
            variant_name: name_variant(&name, widening.as_ref(), &options.launch, tier),
            bytes: object_file.bytes,
            sections: section_addresses,
            code_bytes,
        });
        let debug_object = debug_object.map(Box::new);
        // Other forms of code that LLVM may reassociate, or that estimates roots of vectors, give other results.
        let depends_on_form = has_fast_math || code_options.target.estimates && has_roots;
        let is_best_code = matches!(opt_level, OptLevel::Default | OptLevel::Aggressive) && self.mistake.is_none();
        let has_alternatives = is_best_code && !depends_on_form && !is_large;
        let object = KernelObject {
            image,
            needs: generated.needs,
            stack_bytes: frames.total,
            form: item_form(widening.as_ref(), request.vectorize),
            alternatives: find_alternatives(reason, widening.as_ref()).filter(|_| has_alternatives),
            debug_object,
        };
        Ok(Compiled { object, tier, times, reason, report, mistake: self.mistake.clone() })
    }

    /// What became of a kernel, if notes were kept.
    fn make_report(
        &self,
        kernel: &str,
        widening: Option<&Widening>,
        reason: Option<Reason>,
        notes: Notes,
    ) -> Option<Report> {
        let width_reason = match (&self.mistake, reason, widening.and_then(|widening| widening.choice)) {
            (Some(mistake), ..) => format!("its simplest form: {mistake}"),
            (_, Some(reason), _) => reason.to_string(),
            (.., Some(choice)) => choice.to_string(),
            _ => "as asked".to_owned(),
        };
        let (configuration, width) = widening
            .map_or(("scalar", 1), |chosen_widening| (chosen_widening.configuration.name(), chosen_widening.width));
        let layout = widening.map_or("", |widening| widening.layout.describe());
        Report::new(kernel, configuration, (width, layout), width_reason, notes)
    }
}

/// How the work-items of a kernel run, of what was asked for.
fn item_form(widening: Option<&Widening>, asked: Vectorize) -> ItemForm {
    let Some(Widening { width, layout, .. }) = widening else { return ItemForm::OneByOne };
    let shape = GangShape { width: *width, layout: *layout };
    if flattens_loops(asked) { ItemForm::Flattened(shape) } else { ItemForm::InGangs(shape) }
}

/// The forms that the estimate chose between; none where there was no choice.
fn find_alternatives(reason: Option<Reason>, widening: Option<&Widening>) -> Option<Alternatives> {
    let choice = match reason {
        Some(Reason::Cost(choice)) => Some(choice),
        Some(_) => None,
        None => widening.and_then(|widening| widening.choice),
    };
    let may_flatten = widening.is_some_and(Widening::leaves_idle_lanes);
    choice.map(|choice| choice.alternatives(may_flatten))
}

/// The steps that come after the table's passes, of one kernel.
struct Steps<'a> {
    record: PassRecord<'a>,
    kernel: &'a str,
    /// Where in the source the code is from that is being generated.
    place: &'a Cell<SourceLoc>,
}

impl Steps<'_> {
    /// Does a step and takes its time. A panic is a mistake of the driver.
    fn run<T>(&mut self, step_name: &'static str, perform: impl FnOnce() -> T) -> Result<T, InternalError> {
        begin_stage(step_name, self.kernel);
        let started = Instant::now();
        let outcome = catch_unwind(AssertUnwindSafe(perform));
        self.record.add_time(step_name, started.elapsed());
        outcome.map_err(|panic| self.mistake_in(step_name, describe_panic(panic.as_ref())))
    }

    fn mistake_in(&self, step_name: &'static str, message: String) -> InternalError {
        InternalError { pass: step_name, kernel: self.kernel.to_owned(), location: self.place.get(), what: message }
    }

    /// What it means that LLVM refuses to go on.
    fn of_llvm(&self, error: MachineCodeError) -> CompileError {
        match error {
            MachineCodeError::Optimize(what) => self.mistake_in(OPTIMIZE, what).into(),
            MachineCodeError::Emit(what) => self.mistake_in(EMIT, what).into(),
            MachineCodeError::Link(what) => self.mistake_in(LINK, what).into(),
            other => other.into(),
        }
    }
}

/// What comes after the table's passes, and needs LLVM.
const CODEGEN: &str = "codegen";
const OPTIMIZE: &str = "optimize";
const EMIT: &str = "emit";
const LINK: &str = "link";
