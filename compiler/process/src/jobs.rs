//! The jobs of `lockstep_protocol::job`, done.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use lockstep_compiler::frontend::{self, FrontendConfig, RecordedCompilation};
use lockstep_compiler::machine_code::llvm_version;
use lockstep_compiler::pipeline::{self, Compiled};
use lockstep_compiler::stage_times::describe_times;
use lockstep_ir::program_metadata::describe_program;
use lockstep_ir::report::Report;
use lockstep_protocol::build_failure::FrontendError;
use lockstep_protocol::job::{
    Answer, BuiltCode, BuiltObject, BuiltProgram, CompilerFacts, Job, KernelJob, Objects, Product, ReportTexts,
    Request, SourceFiles,
};
use lockstep_protocol::portable_program::{CompiledObject, LinkedProgram};

use crate::sandbox::Confinement;

/// What holds for all of a job.
struct Context {
    /// Whether times go to standard error.
    time: bool,
    /// The folder for what passes leave.
    dump: Option<PathBuf>,
}

/// Does what is asked.
pub fn do_job(request: Request, confinement: Confinement) -> Answer {
    let context = Context { time: request.time, dump: request.dump };
    let product = match request.job {
        Job::CompileSource(files) => context.compile_source(&files).map(Product::Object),
        Job::BuildProgram(files) => context.build_program(&files).map(Box::new).map(Product::Program),
        Job::LinkProgram(objects) => context.link_program(&objects).map(Box::new).map(Product::Program),
        Job::LinkLibrary(objects) => link_library(&objects).map(Product::Object),
        Job::DescribeProgram(program) => context.describe_program(program).map(Box::new).map(Product::Program),
        Job::DescribeCompiler => Ok(Product::Compiler(describe_compiler(confinement))),
        Job::CompileKernel(kernel_job) => return compile_kernel(*kernel_job),
    };
    product.map_or_else(Answer::NoProgram, Answer::Done)
}

impl Context {
    fn compile_source(&self, files: &SourceFiles) -> Result<BuiltObject, FrontendError> {
        let config = frontend_config(files);
        let compiled = match &files.specialization {
            Some(values) => frontend::compile_spirv(&config, &files.source, values, &files.options),
            None => frontend::compile_recorded(&config, &files.source, &files.headers, &files.options),
        };
        let RecordedCompilation { object, read_files, times } = compiled?;
        self.tell_program_times(&times);
        let log = object.log.clone();
        Ok(BuiltObject { object, log, read_files })
    }

    fn build_program(&self, files: &SourceFiles) -> Result<BuiltProgram, FrontendError> {
        if let Some(values) = &files.specialization {
            let linked = frontend::build_spirv(&frontend_config(files), &files.source, values, &files.options);
            return self.describe_program(linked.map_err(|error| self.locate_link_failure(files, error))?);
        }
        let BuiltObject { object, log, read_files } = self.compile_source(files)?;
        let linked = frontend::link_program(&[&object], &files.options);
        let linked = linked.map_err(|error| with_compiler_log(&log, self.locate_link_failure(files, error)))?;
        let program = self.describe_with_log(linked, log)?;
        Ok(BuiltProgram { read_files, ..program })
    }

    /// The error of linking a source's object with the place in the source that it speaks of: of a program whose object has no
    /// lines by compiling it again.
    fn locate_link_failure(&self, files: &SourceFiles, error: FrontendError) -> FrontendError {
        if files.source_lines || !matches!(error, FrontendError::LinkFailure { .. }) {
            return error;
        }
        let with_lines = SourceFiles { source_lines: true, ..files.clone() };
        let Ok(BuiltObject { object, .. }) = self.compile_source(&with_lines) else { return error };
        match frontend::link_program(&[&object], &files.options) {
            Err(located @ FrontendError::LinkFailure { .. }) => located,
            _ => error,
        }
    }

    fn link_program(&self, objects: &Objects) -> Result<BuiltProgram, FrontendError> {
        let listed: Vec<&CompiledObject> = objects.objects.iter().collect();
        self.describe_program(frontend::link_program(&listed, &objects.options)?)
    }

    fn describe_program(&self, linked: LinkedProgram) -> Result<BuiltProgram, FrontendError> {
        self.describe_with_log(linked, String::new())
    }

    /// Reads a linked program into our IR to tell what is in it. What the linker said comes behind `log`.
    fn describe_with_log(&self, linked: LinkedProgram, mut log: String) -> Result<BuiltProgram, FrontendError> {
        log.push_str(&linked.log);
        self.tell_program_times(&linked.times);
        let loaded = pipeline::load_recorded(&linked, self.dump_folder());
        let (module, times) =
            loaded.map_err(|error| FrontendError::LinkFailure { log: format!("{log}error: {error}\n") })?;
        self.tell_program_times(&times);
        Ok(BuiltProgram { outline: describe_program(&module), linked, log, read_files: Vec::new() })
    }

    fn dump_folder(&self) -> Option<&Path> {
        self.dump.as_deref()
    }

    /// Writes the times of a program's stages to standard error, if somebody asked.
    fn tell_program_times(&self, stage_times: &[(&'static str, Duration)]) {
        if self.time {
            eprint!("{}", describe_times("program", stage_times));
        }
    }
}

fn frontend_config(&SourceFiles { source_lines, reads_files, .. }: &SourceFiles) -> FrontendConfig {
    FrontendConfig { source_lines, reads_files, ..FrontendConfig::default() }
}

fn compile_kernel(kernel_job: KernelJob) -> Answer {
    let KernelJob { program, kernel, variables, formats, options, mistake } = kernel_job;
    let started = Instant::now();
    let module = match pipeline::load_kernel(&program, kernel as usize, &variables, &formats, options.dump.as_deref()) {
        Ok(module) => module,
        Err(error) => return Answer::NoCode(format!("the program could not be read: {error}")),
    };
    if let Some(kernel) = module.kernels.first().filter(|_| options.time) {
        eprint!("{}", describe_times(&kernel.name, &[("import", started.elapsed())]));
    }
    let compiled = match mistake {
        None => pipeline::compile_kernel(&module, 0, &options),
        Some(mistake) => pipeline::compile_simplest(&module, 0, &options, mistake),
    };
    match compiled {
        Ok(Compiled { object, tier, mistake, report, .. }) => {
            let report = report.as_ref().map(report_texts);
            Answer::Done(Product::Code(BuiltCode { object, tier, mistake, report }))
        }
        Err(error) => Answer::NoCode(error.to_string()),
    }
}

fn describe_compiler(confinement: Confinement) -> CompilerFacts {
    CompilerFacts { llvm: llvm_version(), files_are_confined: confinement.files, calls_are_confined: confinement.calls }
}

fn link_library(objects: &Objects) -> Result<BuiltObject, FrontendError> {
    let listed: Vec<&CompiledObject> = objects.objects.iter().collect();
    let object = frontend::link_library(&listed, &objects.options)?;
    let log = object.log.clone();
    Ok(BuiltObject { object, log, read_files: Vec::new() })
}

/// The compiler's messages before the linker's.
fn with_compiler_log(log: &str, error: FrontendError) -> FrontendError {
    match error {
        FrontendError::LinkFailure { log: linker } => FrontendError::LinkFailure { log: format!("{log}{linker}") },
        other => other,
    }
}

fn report_texts(report: &Report) -> ReportTexts {
    ReportTexts { text: report.to_string(), json: report.to_json() }
}
