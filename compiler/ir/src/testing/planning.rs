//! Plans of kernels that tests have cut into regions themselves.

use crate::ir::{Kernel, Module};
use crate::plan::function_forms::FunctionForms;
use crate::plan::kernel_state::{KernelState, Request};
use crate::plan::pass_runner::run_passes;
use crate::plan::passes::{PASSES, find_pass};
use crate::plan::{Reason, Widening};
use crate::report::Notes;
use crate::target::TargetInfo;
use lockstep_protocol::compile_options::{Bounds, Vectorize};
use lockstep_protocol::configuration::Gangs;
use lockstep_protocol::launch_facts::LaunchFacts;
use lockstep_protocol::loop_profile::LoopProfile;
use lockstep_protocol::scalar_replacement::ScalarReplacement;

/// The first pass of those that plan.
const FIRST: &str = "gang_limits";

/// Brings the regions of a kernel into the form that gangs of work-items need, and plans how they run in launches
/// of which the facts hold, on a machine.
///
/// # Errors
///
/// When its work-items are to run one after the other.
///
/// # Panics
///
/// When a pass makes a mistake.
pub fn plan_gangs(
    module: &Module,
    kernel: &mut Kernel,
    gangs: Gangs,
    target: TargetInfo,
    launch_facts: &LaunchFacts,
    notes: &Notes,
) -> Result<Widening, Reason> {
    plan_profiled_gangs(module, kernel, gangs, LoopProfile::Unknown, target, launch_facts, notes)
}

/// As [`plan_gangs`], with what is known of the kernel's loops.
///
/// # Panics
///
/// When a pass makes a mistake.
pub fn plan_profiled_gangs(
    module: &Module,
    kernel: &mut Kernel,
    gangs: Gangs,
    loops: LoopProfile,
    target: TargetInfo,
    launch_facts: &LaunchFacts,
    notes: &Notes,
) -> Result<Widening, Reason> {
    let request = request_gangs(gangs, loops, target);
    let (number, _) = find_pass(PASSES, FIRST).expect("it is in the table");
    let whole = kernel.clone();
    let mut kernel_state = KernelState::new(module, whole, launch_facts, request, notes, &PASSES[number - 1..]);
    run_passes(&mut kernel_state, &mut ()).unwrap_or_else(|error| panic!("{error}"));
    let reason = kernel_state.reason;
    let (planned, widening) = kernel_state.finish();
    *kernel = planned;
    widening.ok_or_else(|| reason.expect("there is one where there are no gangs"))
}

/// Plans how the gangs of a kernel call functions, which are planned themselves.
///
/// # Panics
///
/// When a pass makes a mistake.
pub fn plan_calls(
    (module, kernel, widening): (&Module, &Kernel, &Widening),
    gangs: Gangs,
    target: TargetInfo,
    launch_facts: &LaunchFacts,
    notes: &Notes,
) -> FunctionForms {
    let request = request_gangs(gangs, LoopProfile::Unknown, target);
    FunctionForms::plan_forms((module, kernel, widening, launch_facts), request, notes, PASSES, &mut ())
        .unwrap_or_else(|error| panic!("{error}"))
}

fn request_gangs(gangs: Gangs, loops: LoopProfile, target: TargetInfo) -> Request {
    Request {
        vectorize: Vectorize::Gangs(gangs),
        target,
        bounds: Bounds::default(),
        loops,
        scalar_replacement: ScalarReplacement::default(),
        only_needed: false,
        against: None,
    }
}
