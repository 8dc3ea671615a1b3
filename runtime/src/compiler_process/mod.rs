//! The compiler's process: jobs that it does for this one (`lockstep_protocol::job`).
//!
//! Nothing is compiled in the application's process. A program has processes of its own, whose crash, hang or hunger ends one job
//! alone. The executable lies beside the driver and is opened when the application first asks for the platform ([`executable`]),
//! started without a path ([`start`]), bounded ([`child`]), and kept for a while for more jobs of the program ([`lingering`]). There are no
//! more jobs at a time than the machine has processors and memory for ([`job_slots`]). What comes back is checked before it is used
//! ([`job_end`]).

mod child;
mod executable;
mod job_end;
mod job_log;
mod job_slots;
mod lingering;
mod start;
mod streams;

use std::os::fd::AsFd;
use std::path::Path;
use std::time::Duration;

use lockstep_protocol::build_failure::FrontendError;
use lockstep_protocol::job::{
    Answer, BuiltCode, BuiltObject, BuiltProgram, CompilerFacts, Job, KernelJob, Objects, Product, Request,
    SourceFiles, write_message,
};
use lockstep_protocol::portable_program::LinkedProgram;
use once_cell::sync::Lazy;

use crate::cache::key::{self, BUILD};
use crate::little_memory::has_room;
use crate::memory_headroom::bytes_left;
use crate::options::options;
use crate::processor::chosen_level;
use crate::standard_error::write_to_standard_error;
use child::{Child, Ending, Limits, Outcome};
use executable::Executable;
pub use executable::FILE_NAME;
use job_end::JobFailure;
use job_log::JobLog;
use job_slots::{Urgency, take_slot};
use start::StartError;

/// Most bytes that a job may answer.
const MOST_OUTPUT: u64 = 1 << 30;

/// Most bytes that are kept of what a job says on its standard error.
const MOST_ERRORS: usize = 1 << 20;

/// Bytes that a job takes in this process, beside its answer.
const JOB_ROOM: usize = 4 << 20;

/// How long the compiler may take to say what it is, which it does in some milliseconds.
const INTRODUCTION: Duration = Duration::from_secs(10);

/// Why there is no code of a kernel, in words.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CodeFailure {
    /// The job could not be begun. Another time it may.
    #[error("{0}")]
    NotBegun(String),
    /// There was not enough memory. Another time there may be.
    #[error("{0}")]
    OutOfMemory(String),
    /// The job failed, and would fail again.
    #[error("{0}")]
    Failed(String),
}

static EXECUTABLE: Lazy<Executable> = Lazy::new(Executable::find_executable);

/// Finds the compiler's executable and opens it, so that it can be run whatever the application does later.
pub fn open_executable() {
    Lazy::force(&EXECUTABLE);
}

/// Has the executable looked for in a folder, unless a switch names it: programs that are no driver lie elsewhere. This comes before
/// anything is asked of it.
pub fn look_in_folder(folder: &Path) {
    executable::look_in_folder(folder);
}

/// Bytes of the stack that a job asks for, and those that it gets, which are less where this process's hard limit is lower.
pub fn asked_and_granted_stack() -> (u64, u64) {
    (child::STACK, child::stack_limits().0)
}

/// Whether there is a compiler (`CL_DEVICE_COMPILER_AVAILABLE`). The first time it is asked what it is, unless it has done a job.
pub fn is_available() -> bool {
    EXECUTABLE.is_trusted() || !matches!(introduce_compiler(), Err(JobFailure::Missing(_)))
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
        Err(failure @ (JobFailure::Died(_) | JobFailure::OutOfMemory(_) | JobFailure::TimedOut(_)))
            if !kernel_job.options.strict =>
        {
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
    expect_code(ask_new_process(&request, &job_limits()))
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
            JobFailure::OutOfMemory(words) => CodeFailure::OutOfMemory(words),
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
        Err(JobFailure::OutOfMemory(words)) => Err(FrontendError::OutOfMemory { log: log(words) }),
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
    Request { build: BUILD.to_owned(), time, dump, in_background: false, level: chosen_level(), job }
}

/// Does a job for which somebody waits. A compiler that dies of it, and of the question what it is as well, is none.
fn run_job(job: Job) -> Result<Answer, JobFailure> {
    let ended = attempt_job(job);
    match &ended {
        Ok(_) => EXECUTABLE.mark_trusted(),
        Err(JobFailure::Died(words)) if matches!(introduce_compiler(), Err(JobFailure::Missing(_))) => {
            return Err(job_end::missing_compiler(EXECUTABLE.file_path(), words));
        }
        Err(_) => {}
    }
    ended
}

/// Has the compiler say what it is. Whoever cannot is not the driver's.
fn introduce_compiler() -> Result<(), JobFailure> {
    let missing = |words: &str| Err(job_end::missing_compiler(EXECUTABLE.file_path(), words));
    let limits = Limits { wall: INTRODUCTION.min(options().build_timeout), ..job_limits() };
    match ask_new_process(&request(Job::DescribeCompiler), &limits) {
        Ok(Answer::Done(Product::Compiler(_))) => {
            EXECUTABLE.mark_trusted();
            Ok(())
        }
        Ok(_) => missing(&unexpected_answer()),
        Err(JobFailure::Died(words) | JobFailure::TimedOut(words)) => missing(&words),
        Err(failure) => Err(failure),
    }
}

/// Does a job in a process that has seen nothing but the job's program.
fn attempt_job(job: Job) -> Result<Answer, JobFailure> {
    let job_log = JobLog::begin_job(&job);
    let ended = ask_knowing_process(job);
    job_log.end_job(&ended);
    ended
}

fn ask_knowing_process(job: Job) -> Result<Answer, JobFailure> {
    let known_program = match &job {
        Job::CompileKernel(kernel_job) => Some(key::hash_bytes(&kernel_job.program.bitcode)),
        _ => None,
    };
    let (request, limits) = (write_message(&request(job)), job_limits());
    let _slot = take_slot(Urgency::Awaited);
    let waiting = known_program.and_then(lingering::take_process);
    let (child, outcome) = match waiting.map(|child| ask_process(child, request.clone(), &limits)) {
        Some(Ok(asked)) if matches!(asked.1.ending, Ending::Answered | Ending::TimedOut) => asked,
        // One that waited may have ended of that, and dies again of the job if not.
        _ => ask_process(start_process(&limits)?, request, &limits)?,
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

/// Does a job in a process that ends afterwards.
fn ask_new_process(request: &Request, limits: &Limits) -> Result<Answer, JobFailure> {
    let job_log = JobLog::begin_job(&request.job);
    let ended = ask_ending_process(request, limits);
    job_log.end_job(&ended);
    ended
}

fn ask_ending_process(request: &Request, limits: &Limits) -> Result<Answer, JobFailure> {
    let _slot = take_slot(if request.in_background { Urgency::Background } else { Urgency::Awaited });
    let (child, outcome) = ask_process(start_process(limits)?, write_message(request), limits)?;
    lingering::leave_process(child, None);
    judge_outcome(&outcome)
}

/// Asks a process for a job; what comes of it.
fn ask_process(mut child: Child, request: Vec<u8>, limits: &Limits) -> Result<(Child, Outcome), JobFailure> {
    let outcome =
        child.do_job(request, limits).map_err(|error| job_end::judge_start(EXECUTABLE.file_path(), &error))?;
    if options().time {
        write_to_standard_error(&String::from_utf8_lossy(&outcome.stderr));
    }
    Ok((child, outcome))
}

fn judge_outcome(outcome: &Outcome) -> Result<Answer, JobFailure> {
    // An answer is some pieces of what was received, each a copy.
    expect_room(JOB_ROOM + 2 * outcome.answer.len())?;
    job_end::judge_outcome(outcome, EXECUTABLE.file_path())
}

fn expect_room(bytes: usize) -> Result<(), JobFailure> {
    match has_room(bytes) {
        true => Ok(()),
        false => Err(job_end::judge_start(EXECUTABLE.file_path(), &StartError::no_memory())),
    }
}

fn job_limits() -> Limits {
    let (wall, address_space) = (options().build_timeout, child::ADDRESS_SPACE);
    Limits { wall, address_space, output: MOST_OUTPUT, log: MOST_ERRORS }
}

/// Bytes of address space that a process gets: no more than there is memory, by the machine and by control groups, whose end would
/// otherwise be the application's.
fn grantable_address_space(memory_left: Option<u64>) -> u64 {
    let left = memory_left.unwrap_or(u64::MAX);
    left.saturating_add(child::PROGRAM_SIZE).clamp(child::LEAST_ADDRESS_SPACE, child::ADDRESS_SPACE)
}

/// Starts a process. What it wants may be what processes have that wait for further jobs; these go first.
fn start_process(limits: &Limits) -> Result<Child, JobFailure> {
    match try_start_process(limits) {
        Err(JobFailure::NotStarted(_) | JobFailure::OutOfMemory(_)) if lingering::end_all_waiting() => {
            try_start_process(limits)
        }
        started => started,
    }
}

fn try_start_process(limits: &Limits) -> Result<Child, JobFailure> {
    expect_room(JOB_ROOM)?;
    let limits = Limits { address_space: grantable_address_space(bytes_left()), ..*limits };
    let start = || Child::start_program(EXECUTABLE.open_file()?.as_fd(), &EXECUTABLE.c_path(), &limits);
    start().map_err(|error| job_end::judge_start(EXECUTABLE.file_path(), &error))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_gets_no_more_address_space_than_there_is_memory() {
        const MIB: u64 = 1 << 20;
        assert_eq!(grantable_address_space(None), child::ADDRESS_SPACE);
        assert_eq!(grantable_address_space(Some(64 << 30)), child::ADDRESS_SPACE);
        assert_eq!(grantable_address_space(Some(2000 * MIB)), 2128 * MIB);
        assert_eq!(grantable_address_space(Some(10 * MIB)), child::LEAST_ADDRESS_SPACE);
    }
}
