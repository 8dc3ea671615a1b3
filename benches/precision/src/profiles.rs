//! What the lanes of all kernels of the suite were seen to do.

use lockstep_ir::interp::{Fault, InterpError, Memory, run_observed};
use lockstep_ir::testing::precision::{KernelDivergence, LaneProfile};

use crate::inputs::Input;
use crate::subjects::{CaseLaunches, Launch, Suite};

/// Steps of a launch, of all its work-items together: the first of them show what lanes do.
const STEPS: u64 = 20_000_000;

/// Steps of a launch with another input, whose loops may have no end.
const STEPS_OF_OTHERS: u64 = 300_000;

/// What was seen of each kernel, in the order of the suite.
pub struct Profiles {
    /// With the inputs of its cases and an odd range.
    pub own: Vec<KernelDivergence>,
    /// With other inputs as well.
    pub all: Vec<KernelDivergence>,
}

impl Profiles {
    /// Runs all launches of a suite.
    ///
    /// # Errors
    /// When a case's own launch is faulty.
    pub fn of_suite(suite: &Suite) -> Result<Profiles, String> {
        let mut lanes: Vec<LaneProfile<'_>> =
            suite.subjects.iter().map(|subject| LaneProfile::of_kernel(subject.sole_kernel(), subject.gang)).collect();
        for case in &suite.cases {
            for input in Input::BOTH {
                let ran = run_case(suite, case, input, &mut lanes);
                ran.map_err(|error| format!("{}, {input:?}: {error}", case.name))?;
            }
        }
        let own = lanes.iter().map(|profile| profile.seen_divergence().clone()).collect();
        for case in &suite.cases {
            // What lanes did before a fault, they did: the input was wrong from then on only.
            let others = Input::list_others(case.buffers.len(), case.count_arguments());
            others.for_each(|input| _ = run_case(suite, case, input, &mut lanes));
        }
        let all = lanes.iter().map(|profile| profile.seen_divergence().clone()).collect();
        Ok(Profiles { own, all })
    }
}

/// Runs the launches of a case one after the other, up to the first that is faulty.
fn run_case(
    suite: &Suite,
    case: &CaseLaunches,
    input: Input,
    lanes: &mut [LaneProfile<'_>],
) -> Result<(), InterpError> {
    let mut buffers = input.vary_buffers(&case.buffers);
    // Each kernel has its program's variables.
    let mut memories: Vec<Memory> = suite.subjects.iter().map(|_| Memory::default()).collect();
    for number in input.choose_launches(case.launches.len()) {
        let launch = &case.launches[number];
        let memory = &mut memories[launch.subject];
        memory.buffers = std::mem::take(&mut buffers);
        let ran = run_launch(suite, launch, case.buffers.len(), input, memory, &mut lanes[launch.subject]);
        buffers = std::mem::take(&mut memory.buffers);
        ran?;
    }
    Ok(())
}

fn run_launch(
    suite: &Suite,
    launch: &Launch,
    buffer_count: usize,
    input: Input,
    memory: &mut Memory,
    profile: &mut LaneProfile<'_>,
) -> Result<(), InterpError> {
    let subject = &suite.subjects[launch.subject];
    let range = input.shrink_range(&launch.global, &launch.local);
    let arguments = input.vary_arguments(subject.sole_kernel(), &launch.arguments, buffer_count);
    let steps = if Input::BOTH.contains(&input) { STEPS } else { STEPS_OF_OTHERS };
    profile.begin_launch(range.local_size);
    match run_observed(&subject.module, &subject.sole_kernel().name, &range, &arguments, memory, steps, profile) {
        Err(InterpError { fault: Fault::StepLimit, .. }) => Ok(()),
        ran => ran.map(|_| ()),
    }
}
