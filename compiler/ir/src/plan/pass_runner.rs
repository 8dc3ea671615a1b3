//! Runs passes: one after the other, each over all regions, with time, dumps and verification after each.

use super::kernel_state::{KernelState, ProgramFacts};
use super::pass::{Pass, Run};
use crate::ir::{Kernel, Module, SourceLoc};
use crate::verify::{Stage, VerifyError, verify_kernel};
use std::any::Any;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant};

/// Who is told of each pass.
pub trait Observer {
    /// A pass begins on this kernel.
    fn begin_pass(&mut self, _pass: &Pass, _kernel: &Kernel) {}

    /// A pass, its number in the table from 1 on, has run and left this kernel.
    fn see_pass(&mut self, number: usize, pass: &Pass, duration: Duration, kernel: &Kernel);
}

/// An observer that looks at nothing.
impl Observer for () {
    fn see_pass(&mut self, _: usize, _: &Pass, _: Duration, _: &Kernel) {}
}

/// A mistake of the driver, in a pass or in code generation.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct InternalError {
    /// The name of the pass.
    pub pass: &'static str,
    /// The name of the kernel.
    pub kernel: String,
    /// Where in the source; line 0 where that is not known.
    pub location: SourceLoc,
    /// What went wrong.
    pub what: String,
}

impl fmt::Display for InternalError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let InternalError { pass, kernel, location, what } = self;
        write!(formatter, "internal error in {pass} of kernel {kernel:?}")?;
        if location.line != 0 {
            write!(formatter, ", line {}", location.line)?;
        }
        write!(formatter, ": {what}")
    }
}

impl std::error::Error for InternalError {}

/// Runs the passes of a program over one of its kernels.
///
/// # Errors
///
/// When a pass panics, or breaks rules of its stage in builds with debug assertions.
pub fn run_program_passes(
    table: &[Pass],
    module: &Module,
    kernel: &mut Kernel,
    facts: ProgramFacts,
    observer: &mut impl Observer,
) -> Result<(), InternalError> {
    for (number, pass) in (1..).zip(table) {
        let Run::Program(run) = pass.run else { continue };
        observer.begin_pass(pass, kernel);
        let start_time = Instant::now();
        let outcome = catch_unwind(AssertUnwindSafe(|| run(module, kernel, facts)));
        outcome.map_err(|panic| panic_error(pass, kernel, panic.as_ref()))?;
        observer.see_pass(number, pass, start_time.elapsed(), kernel);
        check_after(pass, pass.after, module, kernel)?;
    }
    Ok(())
}

/// Runs the passes of a launch over a kernel.
///
/// # Errors
///
/// As [`run_program_passes`].
pub fn run_passes(kernel_state: &mut KernelState<'_>, observer: &mut impl Observer) -> Result<(), InternalError> {
    for (number, pass) in (1..).zip(kernel_state.table) {
        if !kernel_state.wants(pass) {
            continue;
        }
        observer.begin_pass(pass, &kernel_state.kernel);
        let start_time = Instant::now();
        let outcome = catch_unwind(AssertUnwindSafe(|| run_pass(pass, kernel_state)));
        outcome.map_err(|panic| panic_error(pass, &kernel_state.kernel, panic.as_ref()))?;
        observer.see_pass(number, pass, start_time.elapsed(), &kernel_state.kernel);
        // Only regions that gangs run are brought into normal form.
        let is_of_gangs = kernel_state.gangs.is_some();
        let stage = if is_of_gangs { pass.after } else { pass.after.min(Stage::Regions) };
        check_after(pass, stage, kernel_state.module, &kernel_state.kernel)?;
    }
    Ok(())
}

/// Runs one pass, whether it is wanted or not.
pub fn run_pass(pass: &Pass, kernel_state: &mut KernelState<'_>) {
    match pass.run {
        Run::Program(run) => run(kernel_state.module, &mut kernel_state.kernel, ProgramFacts::default()),
        Run::Kernel(run) => run(kernel_state),
        Run::Functions(run) => {
            kernel_state.kernel.regions.values_mut().for_each(|function| run(function, kernel_state.notes));
        }
        Run::Region(run) => {
            let KernelState { kernel, regions, context: Some(context), .. } = kernel_state else { return };
            for (function, region) in kernel.regions.values_mut().zip(regions.values_mut()) {
                if !region.plan.alone {
                    run(function, region, context);
                }
            }
        }
    }
}

/// In builds with debug assertions, checks the rules of the stage that holds after a pass.
fn check_after(pass: &Pass, stage: Stage, module: &Module, kernel: &Kernel) -> Result<(), InternalError> {
    if !cfg!(debug_assertions) || !pass.is_checked {
        return Ok(());
    }
    verify_kernel(module, kernel, stage).map_err(|errors| broken_rules(pass, kernel, &errors))
}

fn broken_rules(pass: &Pass, kernel: &Kernel, errors: &[VerifyError]) -> InternalError {
    let location = errors.first().and_then(|error| error.source_loc()).unwrap_or_default();
    let first_error = errors.first().map(ToString::to_string).unwrap_or_default();
    let what = format!("{} rules are broken, the first: {first_error}", errors.len());
    InternalError { pass: pass.name, kernel: kernel.name.clone(), location, what }
}

fn panic_error(pass: &Pass, kernel: &Kernel, panic: &(dyn Any + Send)) -> InternalError {
    // Of a panic it is known no more exactly.
    let locations =
        kernel.regions.values().flat_map(|function| function.insts.values().map(|inst_node| inst_node.location));
    let location = locations
        .filter(|location| location.line != 0)
        .min_by_key(|location| (location.line, location.column))
        .unwrap_or_default();
    InternalError { pass: pass.name, kernel: kernel.name.clone(), location, what: describe_panic(panic) }
}

/// A panic's message.
pub fn describe_panic(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_else(|| "a panic".to_owned())
}
