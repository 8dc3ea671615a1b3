//! The way of a kernel, pass by pass: import when a program is built, the rest when a kernel is first
//! launched. After each pass its result can be dumped, and in debug builds it is verified.

use crate::codegen::{self, CodeOptions, Context, ENTRY_NAME};
use crate::frontend::LinkedProgram;
use crate::import::{self, ImportError};
use crate::jit::{self, Extensions, HostMachine, JitCode, JitError, Loader, OptLevel, contained};
use crate::stage_times::{Stopwatch, describe_times};
use lockstep_ir::analysis::group_queries::{needs_groups, needs_sub_groups};
use lockstep_ir::analysis::waiting::may_wait;
use lockstep_ir::ir::{Kernel, Module};
use lockstep_ir::plan::{self, MOST_STACK_BYTES, Reason, Widening};
use lockstep_ir::report::{Notes, Report};
use lockstep_ir::transform::barriers::barriers_within;
use lockstep_ir::transform::known_inputs::known_inputs;
use lockstep_ir::transform::linear_ids::linear_ids;
use lockstep_ir::transform::own_counters::own_counters;
use lockstep_ir::transform::reducible::make_reducible;
use lockstep_ir::transform::rounds::rounds;
use lockstep_ir::transform::shared_live::shared_live;
use lockstep_ir::transform::waiting_loops::mark_waiting_loops;
use lockstep_ir::verify::{Stage, VerifyError, verify, verify_kernel};
use lockstep_protocol::compile_options::{CompileOptions, Vectorize};
use lockstep_protocol::configuration::Gangs;
use lockstep_protocol::kernel_abi::{KernelEntry, ScratchNeeds};
use lockstep_protocol::launch_facts::LaunchFacts;
use lockstep_protocol::layout::Layout;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// A kernel's machine code before it is loaded: all that is to be kept of its compilation.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct KernelObject {
    /// The object file.
    #[serde(with = "serde_bytes")]
    pub bytes: Vec<u8>,
    /// The scratch memory that a call needs.
    pub needs: ScratchNeeds,
}

impl KernelObject {
    /// Links the code into memory.
    pub fn load(&self, loader: &'static Loader) -> Result<Variant, CompileError> {
        let code = loader.load(&self.bytes, ENTRY_NAME)?;
        Ok(Variant { code, needs: self.needs, times: Vec::new(), reason: None, report: None })
    }
}

/// A compiled kernel that is not loaded yet.
#[derive(Debug)]
pub struct Compiled {
    /// The code.
    pub object: KernelObject,
    times: Vec<(&'static str, Duration)>,
    reason: Option<Reason>,
    report: Option<Report>,
}

/// A kernel's machine code.
#[derive(Debug)]
pub struct Variant {
    code: JitCode,
    needs: ScratchNeeds,
    times: Vec<(&'static str, Duration)>,
    reason: Option<Reason>,
    report: Option<Report>,
}

impl Variant {
    /// The function that runs work-groups. It may be called as long as the variant lives.
    pub fn entry(&self) -> KernelEntry {
        codegen::entry(&self.code)
    }

    /// The scratch memory that a call needs.
    pub fn needs(&self) -> ScratchNeeds {
        self.needs
    }

    /// How long each stage took.
    pub fn times(&self) -> &[(&'static str, Duration)] {
        &self.times
    }

    /// Why work-items run one after the other that were to run in gangs.
    pub fn reason(&self) -> Option<Reason> {
        self.reason
    }

    /// What became of the kernel, if a report was wanted.
    pub fn report(&self) -> Option<&Report> {
        self.report.as_ref()
    }

    /// About how much memory the code takes.
    pub fn code_size(&self) -> usize {
        self.code.object_size()
    }
}

/// Why a program or kernel could not be compiled.
#[derive(Debug)]
pub enum CompileError {
    /// The program uses what is not supported.
    Import(ImportError),
    /// There is no kernel with this number.
    NoKernel(usize),
    /// A stage broke rules of the IR: a mistake of the driver.
    Verify(&'static str, Vec<VerifyError>),
    /// LLVM IR could not be generated: a mistake of the driver.
    Codegen(String),
    /// LLVM could not make code.
    Jit(JitError),
    /// LLVM gave up with these words: a mistake of the driver.
    GivenUp(String),
}

impl fmt::Display for CompileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoKernel(index) => write!(f, "the program has no kernel {index}"),
            Self::Import(error) => error.fmt(f),
            Self::Verify(stage, errors) => {
                let first = errors.first().map(ToString::to_string).unwrap_or_default();
                write!(f, "internal error: {stage} broke {} rules, the first: {first}", errors.len())
            }
            Self::Codegen(reason) => write!(f, "internal error in code generation: {reason}"),
            Self::Jit(error) => error.fmt(f),
            Self::GivenUp(words) => write!(f, "internal error of LLVM: {words}"),
        }
    }
}

impl std::error::Error for CompileError {}

impl From<JitError> for CompileError {
    fn from(error: JitError) -> Self {
        Self::Jit(error)
    }
}

/// Reads a linked program into our IR, with one entry to each cycle and the loops marked that may wait for others.
pub fn load(program: &LinkedProgram) -> Result<Module, CompileError> {
    let (program, no_ifp) = (program.clone(), program.options.no_subgroup_ifp);
    let mut module =
        contained(move || import::load(&program)).map_err(CompileError::GivenUp)?.map_err(CompileError::Import)?;
    for kernel in &mut module.kernels {
        make_reducible(kernel.body_mut());
        // The program may say that none of its sub-groups waits for another.
        if !(no_ifp && needs_sub_groups(kernel)) {
            mark_waiting_loops(kernel);
        }
    }
    if cfg!(debug_assertions) {
        verify(&module, Stage::Imported).map_err(|errors| CompileError::Verify("load", errors))?;
    }
    Ok(module)
}

/// Compiles one kernel of a loaded program for this machine and loads it.
pub fn compile_kernel(
    loader: &'static Loader,
    module: &Module,
    kernel: usize,
    options: &CompileOptions,
) -> Result<Variant, CompileError> {
    let Compiled { object, mut times, reason, report } = compile_object(module, kernel, options)?;
    let since = Instant::now();
    let loaded = object.load(loader)?;
    times.push(("load", since.elapsed()));
    Ok(Variant { times, reason, report, ..loaded })
}

/// Compiles one kernel of a loaded program for this machine, on a thread of its own: what LLVM takes for the end of the
/// process is an error.
pub fn compile_contained(
    module: &Arc<Module>,
    kernel: usize,
    options: &CompileOptions,
) -> Result<Compiled, CompileError> {
    let (module, options) = (module.clone(), options.clone());
    let compiled = contained(move || compile_object(&module, kernel, &options));
    COMPILED.fetch_or(matches!(compiled, Ok(Ok(_))), Ordering::Relaxed);
    compiled.unwrap_or_else(|words| Err(CompileError::GivenUp(words)))
}

/// Whether this process has compiled a kernel: LLVM then has the variables that it makes when it first needs them, and the
/// process may end in the midst of further work. The first kernel is best compiled while the application waits.
pub fn has_compiled() -> bool {
    COMPILED.load(Ordering::Relaxed)
}

static COMPILED: AtomicBool = AtomicBool::new(false);

/// Compiles one kernel of a loaded program for this machine.
pub fn compile_object(module: &Module, kernel: usize, options: &CompileOptions) -> Result<Compiled, CompileError> {
    match compile(module, kernel, options, None) {
        // Sub-groups are gangs, whatever they cost.
        Err(CompileError::Jit(JitError::StackFrame(_)))
            if !module.kernels.get(kernel).is_some_and(needs_sub_groups) =>
        {
            compile(module, kernel, options, Some(Reason::StackFrame))
        }
        result => result,
    }
}

/// As [`compile_object`]; in gangs only if there is no reason `against` it.
fn compile(
    module: &Module,
    kernel: usize,
    options: &CompileOptions,
    against: Option<Reason>,
) -> Result<Compiled, CompileError> {
    let mut kernel = module.kernels.get(kernel).ok_or(CompileError::NoKernel(kernel))?.clone();
    let mut run = Run::new(module, &kernel.name, options);
    let notes = Notes::new(options.report.is_some());
    let size: usize = kernel.regions.values().map(|body| body.insts.len()).sum();

    // The launch says what groups there are where the kernel cannot tell.
    let required = kernel.attrs.reqd_work_group_size.filter(|_| needs_groups(&kernel));
    let launch = options.launch.with_required(required);
    run.ir("import", &kernel, Stage::Imported)?;
    known_inputs(&mut kernel, &launch);
    run.ir("known_inputs", &kernel, Stage::Imported)?;
    if launch.counters != 0 {
        own_counters(&mut kernel, &launch);
        run.ir("own_counters", &kernel, Stage::Imported)?;
    }
    let sub_groups = needs_sub_groups(&kernel);
    let vectorize = match sub_groups {
        true => in_sub_groups(options.vectorize, &launch, kernel.attrs.sub_group_size()),
        false => options.vectorize,
    };
    // Sub-groups make progress independently of each other. Other kernels do not tell who waits for whom: lanes of a gang
    // would wait for each other for ever.
    let against = against.or((may_wait(&kernel) && !sub_groups).then_some(Reason::Waits));
    if matches!(vectorize, Vectorize::Gangs(Gangs { layout: Some(Layout::Linear), .. })) && against.is_none() {
        linear_ids(&mut kernel, &launch);
        run.ir("linear_ids", &kernel, Stage::Imported)?;
    }
    barriers_within(&mut kernel, options.regions);
    run.ir("barriers", &kernel, Stage::Regions)?;
    shared_live(module, &mut kernel);
    run.ir("shared_live", &kernel, Stage::Regions)?;
    if vectorize != Vectorize::Scalar && against.is_none() {
        rounds(&mut kernel, &launch);
        run.ir("rounds", &kernel, Stage::Regions)?;
    }

    let widening = match vectorize {
        Vectorize::Scalar => Ok(None),
        Vectorize::Gangs(_) if against.is_some() => against.map_or(Ok(None), Err),
        Vectorize::Gangs(gangs) => {
            let bits = jit::register_bits(options.simd);
            plan::plan_gangs(module, &mut kernel, gangs, bits, &launch, &notes).map(Some)
        }
    };
    let (mut widening, reason) = match widening {
        Ok(widening) => (widening, None),
        Err(reason) => (None, Some(reason)),
    };
    if let Some(widening) = widening.as_mut().filter(|_| sub_groups) {
        widening.stack = MOST_STACK_BYTES;
    }
    run.ir("widen", &kernel, if widening.is_some() { Stage::Linearized } else { Stage::Regions })?;

    let ctx = Context::create();
    let code = CodeOptions {
        launch: &launch,
        extensions: Extensions::of_host(options.simd),
        region_functions: options.region_functions,
    };
    let generated = codegen::generate(&ctx, module, &kernel, widening.as_ref(), &code, &notes);
    let generated = generated.map_err(|error| CompileError::Codegen(error.to_string()))?;
    run.stage("codegen", "ll", || jit::ir_text(&generated.module));
    let report = report(&kernel.name, vectorize, widening.as_ref(), reason, notes);
    if let (Some(report), Some(folder)) = (&report, &options.report) {
        write_report(folder, report);
    }

    let level = if options.opt_disable { OptLevel::None } else { jit::worthwhile(&generated.module) };
    let machine = HostMachine::new(level, options.simd)?;
    jit::optimize(&generated.module, &machine)?;
    run.stage("optimize", "ll", || jit::ir_text(&generated.module));
    run.dump("optimize", "s", || jit::assembly_text(&generated.module, &machine).unwrap_or_default());

    let bytes = jit::emit_object(&generated.module, &machine)?;
    run.watch.end_stage("emit");
    if options.time {
        eprint!("{}: {size} instructions\n{}", kernel.name, describe_times(&kernel.name, run.watch.times()));
    }
    let object = KernelObject { bytes, needs: generated.needs };
    Ok(Compiled { object, times: run.watch.into_times(), reason, report })
}

/// How work-items run whose sub-groups of `size` work-items are the lanes of gangs, whatever else was asked for.
fn in_sub_groups(asked: Vectorize, launch: &LaunchFacts, size: u32) -> Vectorize {
    let gangs = match asked {
        Vectorize::Scalar => Gangs::default(),
        Vectorize::Gangs(gangs) => gangs,
    };
    Vectorize::Gangs(Gangs { width: Some(size), layout: Some(Layout::of_sub_groups(launch, size)), ..gangs })
}

fn report(
    kernel: &str,
    asked: Vectorize,
    widening: Option<&Widening>,
    reason: Option<Reason>,
    notes: Notes,
) -> Option<Report> {
    let why = match (asked, reason, widening.and_then(|widening| widening.choice)) {
        (_, Some(reason), _) => reason.to_string(),
        (Vectorize::Gangs(_), _, Some(choice)) => choice.to_string(),
        _ => "as asked".to_owned(),
    };
    let (configuration, width) = widening.map_or(("scalar", 1), |w| (w.configuration.name(), w.width));
    let layout = widening.map_or("", |widening| widening.layout.how());
    Report::new(kernel, configuration, (width, layout), why, notes)
}

/// A report that cannot be written must not change what the application sees.
fn write_report(folder: &Path, report: &Report) {
    let path = folder.join(file_name(&report.kernel));
    let _ = std::fs::create_dir_all(folder)
        .and_then(|()| std::fs::write(path.with_extension("txt"), report.to_string()))
        .and_then(|()| std::fs::write(path.with_extension("json"), report.json()));
}

/// What accompanies the passes: time, dumps, verification.
struct Run<'a> {
    module: &'a Module,
    dump: Option<(&'a Path, String)>,
    watch: Stopwatch,
}

impl<'a> Run<'a> {
    fn new(module: &'a Module, name: &str, options: &'a CompileOptions) -> Run<'a> {
        let dump = options.dump.as_deref().map(|folder| (folder, file_name(name)));
        Run { module, dump, watch: Stopwatch::start() }
    }

    /// Ends a stage whose result is IR.
    fn ir(&mut self, stage: &'static str, kernel: &Kernel, rules: Stage) -> Result<(), CompileError> {
        self.stage(stage, "pir", || kernel.to_string());
        if cfg!(debug_assertions) {
            verify_kernel(self.module, kernel, rules).map_err(|errors| CompileError::Verify(stage, errors))?;
            self.watch.restart_stage();
        }
        Ok(())
    }

    /// Ends a stage whose result has a text.
    fn stage(&mut self, stage: &'static str, kind: &str, text: impl FnOnce() -> String) {
        self.watch.end_stage(stage);
        self.dump(stage, kind, text);
    }

    fn dump(&mut self, stage: &str, kind: &str, text: impl FnOnce() -> String) {
        if let Some((folder, kernel)) = &self.dump {
            let number = self.watch.times().len();
            let path = folder.join(format!("{kernel}.{number}-{stage}.{kind}"));
            // A dump that cannot be written must not change what the application sees.
            let _ = std::fs::create_dir_all(folder).and_then(|()| std::fs::write(path, text()));
            self.watch.restart_stage();
        }
    }
}

/// A kernel's name as a file's name: kernels may be called anything in SPIR-V.
fn file_name(kernel: &str) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() || c == '_' { c } else { '-' };
    kernel.chars().take(80).map(plain).collect()
}
