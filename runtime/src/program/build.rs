//! Build, compile and link: from sources and binaries to objects and executables.
//!
//! Each action marks the program as in progress, runs, and leaves its result, log and status in one
//! step. With a callback it runs on another thread and the call returns at once.

use std::borrow::Cow;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Instant;

use lockstep_protocol::build_failure::FrontendError;
use lockstep_protocol::build_options::{BuildOptions, Stage};
pub use lockstep_protocol::job::Header;
use lockstep_protocol::job::SourceFiles;
use lockstep_protocol::portable_program::CompiledObject;
use opencl_sys::{
    CL_BUILD_PROGRAM_FAILURE, CL_COMPILE_PROGRAM_FAILURE, CL_COMPILER_NOT_AVAILABLE, CL_INVALID_BUILD_OPTIONS,
    CL_INVALID_COMPILER_OPTIONS, CL_INVALID_LINKER_OPTIONS, CL_INVALID_OPERATION, CL_LINK_PROGRAM_FAILURE,
    CL_LINKER_NOT_AVAILABLE, CL_OUT_OF_HOST_MEMORY, cl_int,
};
use tracing::{Level, info};

use super::binary::{Binary, Image, KernelCode};
use super::cached::{self, Linked};
use super::executable::Executable;
use super::{BuildState, BuildStatus, Code, Program, Source};
use crate::cache::key;
use crate::clock::milliseconds_since;
use crate::context::Context;
use crate::device::Device;
use crate::executor::{self, NoThread, Service};
use crate::{Error, Result, ensure, error, report};

/// Called when an action that was started with it has ended.
pub type Done = Box<dyn FnOnce() + Send>;

/// What an action makes: the program's code and its log.
type Outcome = std::result::Result<(Code, String), FrontendError>;

/// `clBuildProgram`: compiles and links a program for its devices.
///
/// "CL_INVALID_OPERATION if program was not created with clCreateProgramWithSource, clCreateProgramWithIL or
/// clCreateProgramWithBinary."
///
/// # Errors
/// Besides: `CL_INVALID_BUILD_OPTIONS`; `CL_INVALID_OPERATION` while kernels of the program exist or a build is under way;
/// `CL_BUILD_PROGRAM_FAILURE`, `CL_COMPILER_NOT_AVAILABLE` or `CL_OUT_OF_HOST_MEMORY`, if it is not done in the background.
pub fn build_program(program: &Arc<Program>, text: &str, on_done: Option<Done>) -> Result<()> {
    let options = parse_options(&complete_options(program, text), Stage::Build);
    let options = options.inspect_err(|error| keep_refusal(program, error))?;
    let has_input = program.source.is_some() || program.binary.is_some();
    ensure!(has_input, CL_INVALID_OPERATION, "the program is the result of a link, which is built already");
    start_action(program, text, CL_BUILD_PROGRAM_FAILURE, on_done, move |program| build_given(program, &options))
}

/// Compiles and links what the program was created with.
fn build_given(program: &Program, options: &BuildOptions) -> Outcome {
    match (&program.source, &program.binary) {
        (Some(source), _) => {
            make_executable(cached::compile_program(source_files(source, Vec::new(), options))?, Vec::new())
        }
        (None, Some(Binary::Program(Image { linked, outline: Some(outline), code }))) => {
            let (linked_program, outline) = (linked.clone(), outline.clone());
            make_executable(Linked { linked: linked_program, outline, log: String::new() }, code.clone())
        }
        (None, Some(Binary::Program(Image { linked, .. }))) => {
            make_executable(cached::describe_linked(linked.clone())?, Vec::new())
        }
        (None, Some(Binary::Object(object))) => make_executable(cached::link_objects(&[object], options)?, Vec::new()),
        (None, None) => Err(no_source()),
    }
}

/// The error of a program that was created without anything to build; the entry points find it before.
fn no_source() -> FrontendError {
    FrontendError::link_failure("error: the program has no source\n")
}

/// `clCompileProgram`: compiles a program's source, with headers, without linking it.
///
/// # Errors
/// `CL_INVALID_COMPILER_OPTIONS`; `CL_INVALID_OPERATION` for a program without source, while kernels of the program exist
/// or a build is under way; `CL_COMPILE_PROGRAM_FAILURE`, if it is not done in the background.
pub fn compile_program(program: &Arc<Program>, text: &str, headers: Vec<Header>, on_done: Option<Done>) -> Result<()> {
    let options = parse_options(&complete_options(program, text), Stage::Compile);
    let options = options.inspect_err(|error| keep_refusal(program, error))?;
    ensure!(program.source.is_some(), CL_INVALID_OPERATION, "the program has no source");
    let compile = move |program: &Program| compile_source(program, &headers, &options);
    start_action(program, text, CL_COMPILE_PROGRAM_FAILURE, on_done, compile)
}

/// Compiles a program's source to an object.
fn compile_source(program: &Program, headers: &[Header], options: &BuildOptions) -> Outcome {
    let Some(source) = &program.source else { return Err(no_source()) };
    let (object, build_log) = cached::compile_object(source_files(source, headers.to_vec(), options))?;
    Ok((Code::Object(Arc::new(object)), build_log))
}

/// `clLinkProgram`: the new program, and the error of its link if that failed at once.
///
/// # Errors
/// `CL_INVALID_LINKER_OPTIONS`; `CL_INVALID_OPERATION` for inputs that are no objects or libraries yet.
pub fn link_program(
    context: &Arc<Context>,
    devices: Vec<Arc<Device>>,
    text: &str,
    inputs: &[Arc<Program>],
    done: impl FnOnce(&Arc<Program>) -> Option<Done>,
) -> Result<(Arc<Program>, Result<()>)> {
    let options = parse_options(text, Stage::Link)?;
    let mut objects = Vec::with_capacity(inputs.len());
    for (index, input) in inputs.iter().enumerate() {
        // "CL_INVALID_OPERATION if the compilation or build [...] has not completed", or "if the rules
        // for devices containing compiled binaries or libraries [...] are not followed".
        let build_state = input.state();
        ensure!(
            build_state.status != BuildStatus::InProgress,
            CL_INVALID_OPERATION,
            "input program {index} is still being compiled"
        );
        let Code::Object(object) = build_state.code else {
            return Err(error!(CL_INVALID_OPERATION, "input program {index} is no compiled object or library"));
        };
        objects.push(object);
    }
    let program = Program::new(context.clone(), devices, None, None, BuildState::before_build());
    let on_done = done(&program);
    let result =
        start_action(&program, text, CL_LINK_PROGRAM_FAILURE, on_done, move |_| link_objects(&objects, &options));
    Ok((program, result))
}

/// Links objects to an executable or, if the options ask for it, to a library.
fn link_objects(objects: &[Arc<CompiledObject>], options: &BuildOptions) -> Outcome {
    let objects: Vec<&CompiledObject> = objects.iter().map(|object| &**object).collect();
    if options.create_library {
        let (library, build_log) = cached::link_library(&objects, options)?;
        Ok((Code::Object(Arc::new(library)), build_log))
    } else {
        make_executable(cached::link_objects(&objects, options)?, Vec::new())
    }
}

/// Runs `action`, here or on a thread of its own, and leaves its outcome in the program.
fn start_action(
    program: &Arc<Program>,
    options: &str,
    failure: cl_int,
    on_done: Option<Done>,
    action: impl FnOnce(&Program) -> Outcome + Send + 'static,
) -> Result<()> {
    {
        // "CL_INVALID_OPERATION if there are kernel objects attached to program" or "if the build [...]
        // by a previous call [...] has not completed".
        let mut build_state = program.state.lock();
        let kernels = program.kernel_count();
        ensure!(kernels == 0, CL_INVALID_OPERATION, "{kernels} kernel objects of the program still exist");
        ensure!(
            build_state.status != BuildStatus::InProgress,
            CL_INVALID_OPERATION,
            "the program is still being built"
        );
        build_state.status = BuildStatus::InProgress;
        program.builder.store(std::process::id(), Ordering::Relaxed);
        build_state.options = options.to_string();
        build_state.log.clear();
    }
    let Some(on_done) = on_done else {
        return run_action(program, action, failure).map_err(|code| build_error(program, code));
    };
    let owner = program.clone();
    let run_and_tell = move || run_action_and_tell(&owner, action, failure, on_done);
    // Without a thread nothing has run: say so and leave the program as it was.
    executor::try_spawn(Service::Builds, Box::new(run_and_tell)).map_err(|NoThread| {
        program.state.lock().status = BuildStatus::None;
        program.action_ended.notify_all();
        error!(CL_OUT_OF_HOST_MEMORY, "there is no thread to build the program")
    })
}

/// Runs an action and leaves its outcome in the program. Where it fails, the error's code is given; `failure` is that of programs
/// that are wrong.
fn run_action(
    program: &Program,
    action: impl FnOnce(&Program) -> Outcome,
    failure: cl_int,
) -> std::result::Result<(), cl_int> {
    let begun = Instant::now();
    let outcome = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| action(program)));
    let outcome = outcome.unwrap_or_else(|_| {
        Err(FrontendError::LinkFailure { log: "error: the compiler failed; this is an error of the driver\n".into() })
    });
    log_outcome(program, failure, &outcome, begun);
    let mut build_state = program.state.lock();
    let ended = outcome.as_ref().map_or_else(|error| Err(failure_code(error, failure)), |_| Ok(()));
    match outcome {
        Ok((code, build_log)) => {
            build_state.status = BuildStatus::Success;
            build_state.code = code;
            build_state.log = build_log;
        }
        Err(error) => {
            build_state.status = BuildStatus::Error;
            build_state.code = program.code_given();
            build_state.log = error.build_log();
        }
    }
    program.action_ended.notify_all();
    ended
}

/// Logs what an action has made, of what, with which options and in which time.
fn log_outcome(program: &Program, failure: cl_int, outcome: &Outcome, begun: Instant) {
    if !tracing::enabled!(target: "build", Level::INFO) {
        return;
    }
    let made = match outcome {
        Ok((code, _)) => describe_code(code),
        Err(error) => format!("fails: {}", first_error(&error.build_log())),
    };
    let (input, options) = (describe_input(program), program.state.lock().options.clone());
    let (action, milliseconds) = (action_of(failure), milliseconds_since(begun));
    info!(target: "build", "{action} of {input} with options {options:?}: {made}, {milliseconds:.1} ms");
}

/// What a program is built of, for the log.
fn describe_input(program: &Program) -> String {
    match (&program.source, &program.binary) {
        (Some(Source::Text(text)), _) => format!("a source of {} bytes", text.len()),
        (Some(Source::LlvmIr(ir)), _) => format!("LLVM IR of {} bytes", ir.len()),
        (Some(Source::Spirv(module)), _) => format!("SPIR-V of {} bytes", module.bytes.len()),
        (None, Some(_)) => "a binary".to_owned(),
        (None, None) => "objects".to_owned(),
    }
}

/// What a build has made, for the log.
fn describe_code(code: &Code) -> String {
    match code {
        Code::None => "nothing".to_owned(),
        Code::Object(object) => format!("object {}", key::short_hash(&object.bitcode)),
        Code::Executable(executable) => {
            let kernel_count = executable.outline().kernels.len();
            let plural = if kernel_count == 1 { "" } else { "s" };
            format!("program {} of {kernel_count} kernel{plural}", key::short_hash(&executable.linked().bitcode))
        }
    }
}

/// The code of an action's error, where `failure` is that of programs that are wrong.
fn failure_code(error: &FrontendError, failure: cl_int) -> cl_int {
    match error {
        // "if a linker is not available" is an error of its own.
        FrontendError::FrontendMissing { .. } if failure == CL_LINK_PROGRAM_FAILURE => CL_LINKER_NOT_AVAILABLE,
        FrontendError::FrontendMissing { .. } => CL_COMPILER_NOT_AVAILABLE,
        FrontendError::OutOfMemory { .. } => CL_OUT_OF_HOST_MEMORY,
        _ => failure,
    }
}

/// Runs an action in the background: reports its failure, and calls the application back while the program lives, as its
/// handle is an argument of the callback.
fn run_action_and_tell(program: &Program, action: impl FnOnce(&Program) -> Outcome, failure: cl_int, on_done: Done) {
    if let Err(code) = run_action(program, action, failure) {
        report::report_error(Some(program.context()), action_of(failure), &build_error(program, code));
    }
    on_done();
}

/// The error of a build that failed. The log has all there is to say, so the first thing that is wrong will do.
fn build_error(program: &Program, failure: cl_int) -> Error {
    error!(failure, "{}", first_error(&program.state.lock().log))
}

/// The entry point that starts what ends with this error.
fn action_of(failure: cl_int) -> &'static str {
    match failure {
        CL_COMPILE_PROGRAM_FAILURE => "clCompileProgram",
        CL_LINK_PROGRAM_FAILURE => "clLinkProgram",
        _ => "clBuildProgram",
    }
}

/// The first line of a log that tells of an error.
pub(super) fn first_error(build_log: &str) -> &str {
    let log_lines = || build_log.lines().map(str::trim).filter(|error_line| !error_line.is_empty());
    let first_line = log_lines().find(|error_line| error_line.contains("error:")).or_else(|| log_lines().next());
    first_line.map_or("it failed without a word", |error_line| error_line.trim_start_matches("error: "))
}

/// Makes a linked program ready to run, with the machine code that came with it.
fn make_executable(linked_program: Linked, kernel_code: Vec<KernelCode>) -> Outcome {
    let Linked { linked, outline, log } = linked_program;
    let executable = Executable::new(linked, outline, kernel_code)
        .map_err(|error| FrontendError::LinkFailure { log: format!("{log}error: {}\n", error.sentence()) })?;
    Ok((Code::Executable(Arc::new(executable)), log))
}

/// The options that a program is built with. They say what is LLVM IR: the compiler looks there.
fn complete_options<'a>(program: &Program, text: &'a str) -> Cow<'a, str> {
    match program.source {
        Some(Source::LlvmIr(_)) => format!("-x spir {text}").into(),
        _ => text.into(),
    }
}

/// Reads build options; each entry point has its own error for wrong ones.
fn parse_options(text: &str, build_stage: Stage) -> Result<BuildOptions> {
    let error_code = match build_stage {
        Stage::Build => CL_INVALID_BUILD_OPTIONS,
        Stage::Compile => CL_INVALID_COMPILER_OPTIONS,
        Stage::Link => CL_INVALID_LINKER_OPTIONS,
    };
    BuildOptions::parse(text, build_stage).map_err(|error| error!(error_code, "{error}"))
}

/// Leaves what is wrong with the options in the build log, where applications look for why there is no program. Nothing was
/// built, so what the program holds stays.
fn keep_refusal(program: &Program, error: &Error) {
    let mut build_state = program.state.lock();
    if build_state.status != BuildStatus::InProgress {
        build_state.status = BuildStatus::Error;
        build_state.log = format!("error: {}\n", error.sentence());
    }
}

/// A source with headers, for the compiler.
fn source_files(source: &Source, headers: Vec<Header>, options: &BuildOptions) -> SourceFiles {
    let (bytes, specialization) = match source {
        Source::Text(text) => (text.as_bytes(), None),
        Source::LlvmIr(ir) => (&**ir, None),
        Source::Spirv(module) => (&*module.bytes, Some(module.values())),
    };
    SourceFiles {
        source: bytes.to_vec(),
        specialization,
        headers,
        options: options.clone(),
        // Source lines take time, and only the report and debuggers show them.
        source_lines: crate::options::options().report.is_some() || crate::options::options().debug,
        reads_files: crate::options::options().includes,
    }
}
