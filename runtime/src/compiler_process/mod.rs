//! The compiler's process: jobs that it does for this one (`lockstep_protocol::job`).
//!
//! Nothing is compiled in the application's process. A program has processes of its own, whose crash, hang or hunger ends one job
//! alone. The executable lies beside the driver and is opened when the application first asks for the platform ([`executable`]),
//! started without a path ([`start`]), bounded ([`child`]), and kept for a while for more jobs of the program ([`lingering`]). What comes
//! back is checked before it is used.

mod child;
mod executable;
mod lingering;
mod start;
mod streams;

use std::os::fd::AsFd;
use std::path::Path;

use lockstep_protocol::build_failure::FrontendError;
use lockstep_protocol::job::{
    Answer, BuiltCode, BuiltObject, BuiltProgram, CompilerFacts, Job, KernelJob, Objects, Product, Request,
    SourceFiles, read_message, write_message,
};
use lockstep_protocol::portable_program::LinkedProgram;
use once_cell::sync::Lazy;

use crate::cache::key::{self, BUILD};
use crate::options::options;
use child::{Child, Ending, Limits, Outcome};
use executable::Executable;
use start::StartError;

/// Most bytes that a job may answer.
const MOST_OUTPUT: u64 = 1 << 30;

/// Most bytes that are kept of what a job says on its standard error.
const MOST_ERRORS: usize = 1 << 20;

/// Bytes of address space that a job may take.
const ADDRESS_SPACE: u64 = 8 << 30;

/// Why a job has no answer.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
enum JobFailure {
    /// The compiler is not there, or is no part of this driver.
    #[error("{0}")]
    Missing(String),
    /// The process could not be started or served, for want of something or because it is forbidden.
    #[error("{0}")]
    NotStarted(String),
    /// The process died.
    #[error("{0}")]
    Died(String),
    /// It did not end in its time.
    #[error("{0}")]
    TimedOut(String),
}

/// Why there is no code of a kernel, in words.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CodeFailure {
    /// The job could not be begun. Another time it may.
    #[error("{0}")]
    NotBegun(String),
    /// The job failed, and would fail again.
    #[error("{0}")]
    Failed(String),
}

static EXECUTABLE: Lazy<Executable> = Lazy::new(Executable::find_executable);

/// Finds the compiler's executable and opens it, so that it can be run whatever the application does later.
pub fn open_executable() {
    Lazy::force(&EXECUTABLE);
}

/// Whether there is a compiler (`CL_DEVICE_COMPILER_AVAILABLE`).
pub fn is_available() -> bool {
    EXECUTABLE.is_there()
}

/// Compiles a source to an object.
///
/// # Errors
/// When the source is wrong, or the job fails.
pub fn compile_source(files: SourceFiles) -> Result<BuiltObject, FrontendError> {
    expect_object(run_program_job(Job::CompileSource(files))?)
}

/// Makes a program of a source.
///
/// # Errors
/// When the source is wrong, or the job fails.
pub fn build_program(files: SourceFiles) -> Result<BuiltProgram, FrontendError> {
    expect_program(run_program_job(Job::BuildProgram(files))?)
}

/// Makes a program of objects.
///
/// # Errors
/// When they do not make one, or the job fails.
pub fn link_program(objects: Objects) -> Result<BuiltProgram, FrontendError> {
    expect_program(run_program_job(Job::LinkProgram(objects))?)
}

/// Joins objects to a library.
///
/// # Errors
/// When the objects do not fit together, or the job fails.
pub fn link_library(objects: Objects) -> Result<BuiltObject, FrontendError> {
    expect_object(run_program_job(Job::LinkLibrary(objects))?)
}

/// Finds out what there is to know of a program.
///
/// # Errors
/// When it uses what is not supported, or the job fails.
pub fn describe_program(program: LinkedProgram) -> Result<BuiltProgram, FrontendError> {
    expect_program(run_program_job(Job::DescribeProgram(program))?)
}

/// Asks the compiler what it is.
///
/// # Errors
/// In words: why there is no answer.
pub fn describe_compiler() -> Result<CompilerFacts, String> {
    match run_job(Job::DescribeCompiler) {
        Ok(Answer::Done(Product::Compiler(facts))) => Ok(facts),
        Ok(_) => Err(unexpected_answer()),
        Err(failure) => Err(failure.to_string()),
    }
}

/// Where the compiler's executable is, or would be.
pub fn executable_path() -> &'static Path {
    EXECUTABLE.file_path()
}

/// Makes code of a kernel. Should the process die of it, another one makes the kernel's simplest form, unless mistakes are errors
/// (`LOCKSTEP_STRICT`).
///
/// # Errors
/// What went wrong, and whether it is worth another try.
pub fn compile_kernel(kernel_job: KernelJob) -> Result<BuiltCode, CodeFailure> {
    let mut kernel_job = Box::new(kernel_job);
    match run_job(Job::CompileKernel(kernel_job.clone())) {
        Err(failure @ (JobFailure::Died(_) | JobFailure::TimedOut(_))) if !kernel_job.options.strict => {
            kernel_job.mistake = Some(failure.to_string());
            expect_code(run_job(Job::CompileKernel(kernel_job)))
        }
        answer => expect_code(answer),
    }
}

/// Makes better code of a kernel that has code already. Others go first.
///
/// # Errors
/// What went wrong, and whether it is worth another try.
pub fn recompile_kernel(kernel_job: KernelJob) -> Result<BuiltCode, CodeFailure> {
    let request = Request { in_background: true, ..request(Job::CompileKernel(Box::new(kernel_job))) };
    // A process that gives way to others is none for jobs that somebody waits for.
    let (child, outcome) = ask_process(start_process()?, write_message(&request))?;
    lingering::leave_process(child, None);
    expect_code(judge_outcome(&outcome))
}

fn expect_code(answer: Result<Answer, JobFailure>) -> Result<BuiltCode, CodeFailure> {
    match answer? {
        Answer::Done(Product::Code(code)) => Ok(code),
        Answer::NoCode(reason) => Err(CodeFailure::Failed(reason)),
        Answer::NoProgram(error) => Err(CodeFailure::Failed(error.to_string())),
        _ => Err(CodeFailure::Failed(unexpected_answer())),
    }
}

impl From<JobFailure> for CodeFailure {
    fn from(failure: JobFailure) -> CodeFailure {
        match failure {
            JobFailure::Missing(words) | JobFailure::NotStarted(words) => CodeFailure::NotBegun(words),
            JobFailure::Died(words) | JobFailure::TimedOut(words) => CodeFailure::Failed(words),
        }
    }
}

fn expect_object(product: Product) -> Result<BuiltObject, FrontendError> {
    match product {
        Product::Object(object) => Ok(object),
        _ => Err(FrontendError::FrontendCrashed { log: error_line(&unexpected_answer()) }),
    }
}

fn expect_program(product: Product) -> Result<BuiltProgram, FrontendError> {
    match product {
        Product::Program(program) => Ok(*program),
        _ => Err(FrontendError::FrontendCrashed { log: error_line(&unexpected_answer()) }),
    }
}

/// Does a job that makes a program or an object.
fn run_program_job(job: Job) -> Result<Product, FrontendError> {
    let log = |words: String| error_line(&words);
    match run_job(job) {
        Ok(Answer::Done(product)) => Ok(product),
        Ok(Answer::NoProgram(error)) => Err(error),
        Ok(Answer::NoCode(reason)) => Err(FrontendError::LinkFailure { log: log(reason) }),
        Ok(Answer::OtherBuild(_)) => Err(FrontendError::FrontendCrashed { log: log(unexpected_answer()) }),
        Err(JobFailure::Missing(words)) => Err(FrontendError::FrontendMissing { log: log(words) }),
        Err(JobFailure::NotStarted(words) | JobFailure::Died(words)) => {
            Err(FrontendError::FrontendCrashed { log: log(words) })
        }
        Err(JobFailure::TimedOut(words)) => Err(FrontendError::Timeout { log: log(words) }),
    }
}

/// A line of a build log.
fn error_line(words: &str) -> String {
    format!("error: {words}\n")
}

fn unexpected_answer() -> String {
    format!("the compiler ({}) answered what it was not asked", EXECUTABLE.file_path().display())
}

fn request(job: Job) -> Request {
    let (time, dump) = (options().time, options().dump.clone());
    Request { build: BUILD.to_owned(), time, dump, in_background: false, job }
}

/// Does a job for which somebody waits, in a process that has seen nothing but the job's program.
fn run_job(job: Job) -> Result<Answer, JobFailure> {
    let known_program = match &job {
        Job::CompileKernel(kernel_job) => Some(key::hash_bytes(&kernel_job.program.bitcode)),
        _ => None,
    };
    let request = write_message(&request(job));
    let waiting = known_program.and_then(lingering::take_process);
    let (child, outcome) = match waiting.map(|child| ask_process(child, request.clone())) {
        Some(Ok(asked)) if matches!(asked.1.ending, Ending::Answered | Ending::TimedOut) => asked,
        // One that waited may have ended of that, and dies again of the job if not.
        _ => ask_process(start_process()?, request)?,
    };
    let answer = judge_outcome(&outcome);
    if outcome.ending == Ending::Answered {
        let built_program = match &answer {
            Ok(Answer::Done(Product::Program(built))) => Some(key::hash_bytes(&built.linked.bitcode)),
            _ => known_program,
        };
        let may_stay = child.busy < options().build_timeout;
        lingering::leave_process(child, built_program.filter(|_| may_stay));
    }
    answer
}

/// Asks a process for a job; what comes of it.
fn ask_process(mut child: Child, request: Vec<u8>) -> Result<(Child, Outcome), JobFailure> {
    let outcome = child.do_job(request, &job_limits()).map_err(start_failure)?;
    if options().time {
        eprint!("{}", String::from_utf8_lossy(&outcome.stderr));
    }
    Ok((child, outcome))
}

fn job_limits() -> Limits {
    Limits { wall: options().build_timeout, address_space: ADDRESS_SPACE, output: MOST_OUTPUT, log: MOST_ERRORS }
}

fn start_process() -> Result<Child, JobFailure> {
    let file = EXECUTABLE.open_file().map_err(start_failure)?;
    Child::start(file.as_fd(), &EXECUTABLE.c_path(), &job_limits()).map_err(start_failure)
}

fn judge_outcome(outcome: &Outcome) -> Result<Answer, JobFailure> {
    let path = EXECUTABLE.file_path().display();
    let died = |how: String| Err(JobFailure::Died(describe_death(outcome, &how)));
    match outcome.ending {
        Ending::Answered => match read_message(&outcome.answer) {
            Some(Answer::OtherBuild(build)) => {
                Err(missing_compiler(&format!("it is of the build {build}, the driver of {BUILD}")))
            }
            Some(answer) => Ok(answer),
            None => died(format!("gave no answer ({path})")),
        },
        Ending::Exited(0) | Ending::Unknown => died(format!("gave no answer ({path})")),
        Ending::Exited(status) => died(format!("ended with status {status}")),
        Ending::TooMuchOutput | Ending::Signalled(libc::SIGXFSZ) => died("wrote too much".to_owned()),
        Ending::Signalled(libc::SIGXCPU) | Ending::TimedOut => {
            let seconds = options().build_timeout.as_secs_f64();
            let how = format!("did not end within {seconds} s and was stopped");
            Err(JobFailure::TimedOut(describe_death(outcome, &how)))
        }
        Ending::Signalled(signal) => died(format!("was ended by signal {signal}{}", describe_small_stack())),
    }
}

/// How a job ended badly, what it was doing and what it said last.
fn describe_death(outcome: &Outcome, how: &str) -> String {
    let stage = if outcome.stage.is_empty() { String::new() } else { format!(" in {}", outcome.stage) };
    let errors = String::from_utf8_lossy(&outcome.stderr);
    let last_line = errors.trim_end().lines().next_back().unwrap_or_default();
    // LLVM numbers what it is at.
    let last_line = last_line.trim_start_matches(|letter: char| letter.is_ascii_digit() || letter == '.').trim_start();
    let last_words = if last_line.is_empty() { String::new() } else { format!(": {last_line}") };
    format!("the compiler {how}{stage}{last_words}")
}

/// What is to be said of the stack that a job had, if it was smaller than usual.
fn describe_small_stack() -> String {
    let (soft, _) = child::stack_limits();
    match soft < child::STACK {
        true => format!(", with a stack of at most {} KiB, the hard limit of this process (ulimit -Hs)", soft >> 10),
        false => String::new(),
    }
}

fn start_failure(error: StartError) -> JobFailure {
    match (error.call, error.error.raw_os_error()) {
        ("open", Some(libc::ENOENT | libc::ENOTDIR | libc::EACCES))
        | ("execve" | "execveat", Some(libc::EACCES | libc::ENOEXEC)) => missing_compiler(&error.to_string()),
        _ => JobFailure::NotStarted(format!(
            "the compiler ({}) could not be started: {error}",
            EXECUTABLE.file_path().display()
        )),
    }
}

fn missing_compiler(reason: &str) -> JobFailure {
    JobFailure::Missing(format!(
        "nothing can be compiled: {} is not the compiler of this driver ({reason}); it belongs beside the driver, or is named by LOCKSTEP_COMPILER",
        EXECUTABLE.file_path().display()
    ))
}
