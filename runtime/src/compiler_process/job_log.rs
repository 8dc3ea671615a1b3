//! What the log says of jobs.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use lockstep_protocol::compile_options::Tier;
use lockstep_protocol::job::{Answer, Job, KernelJob, Product};
use tracing::{debug, warn};

use super::job_end::JobFailure;
use crate::clock::milliseconds_since;

/// The number of the next job of this process.
static NEXT_NUMBER: AtomicU64 = AtomicU64::new(1);

/// A job whose beginning was logged.
pub(super) struct JobLog {
    number: u64,
    kind: &'static str,
    begun: Instant,
}

impl JobLog {
    /// Logs that a job begins.
    pub(super) fn begin_job(job: &Job) -> JobLog {
        let number = NEXT_NUMBER.fetch_add(1, Ordering::Relaxed);
        let kind = describe_job(job);
        debug!(target: "job", "{number}, {kind}: begins");
        JobLog { number, kind, begun: Instant::now() }
    }

    /// Logs how the job has ended, and after which time. It may have waited for its turn.
    pub(super) fn end_job(self, ended: &Result<Answer, JobFailure>) {
        let JobLog { number, kind, begun } = self;
        let milliseconds = milliseconds_since(begun);
        match ended {
            Ok(answer) => {
                debug!(target: "job", "{number}, {kind}: ends after {milliseconds:.1} ms with {}", describe_answer(answer));
            }
            Err(failure) => warn!(target: "job", "{number}, {kind}: fails after {milliseconds:.1} ms: {failure}"),
        }
    }
}

fn describe_job(job: &Job) -> &'static str {
    match job {
        Job::CompileSource(_) => "compile a source",
        Job::BuildProgram(_) => "build a program",
        Job::LinkProgram(_) => "link a program",
        Job::LinkLibrary(_) => "link a library",
        Job::DescribeProgram(_) => "describe a program",
        Job::CompileKernel(kernel_job) => describe_kernel_job(kernel_job),
        Job::DescribeCompiler => "describe the compiler",
    }
}

fn describe_kernel_job(kernel_job: &KernelJob) -> &'static str {
    match (&kernel_job.mistake, kernel_job.options.tier) {
        (Some(_), _) => "compile a kernel in its simplest form",
        (None, Tier::Baseline) => "compile a kernel for the first tier",
        (None, Tier::Optimized) => "compile a kernel for the last tier",
    }
}

fn describe_answer(answer: &Answer) -> &'static str {
    match answer {
        Answer::Done(Product::Object(_)) => "an object",
        Answer::Done(Product::Program(_)) => "a program",
        Answer::Done(Product::Code(_)) => "code",
        Answer::Done(Product::Compiler(_)) => "a description",
        Answer::NoProgram(_) => "errors in the program",
        Answer::NoCode(_) => "no code",
        Answer::OtherBuild(_) => "a refusal, as it is of another build",
    }
}
