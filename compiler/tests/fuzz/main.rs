//! Random kernels, structured and not, do in every configuration and in gangs of every size what the interpreter does
//! one work-item after the other; and random OpenCL C with jumps what its own abstract program says ([`jumps`]).

#[path = "../machine/code/mod.rs"]
mod code;
mod jumps;
mod long_switches;
mod seeds;
mod ways;

use lockstep_ir::interp::Arg;
use lockstep_ir::testing::{Generated, Shape, random_kernel, reduce_kernel};
use lockstep_protocol::launch_facts::LaunchFacts;
use lockstep_protocol::layout::Layout;
use lockstep_protocol::parameters::Input;
use lockstep_protocol::types::Type;
use seeds::Seeds;
use std::sync::atomic::{AtomicU64, Ordering};
use ways::{Effort, Planned, Way, expected, planned};

/// The kernels of a test run.
const KERNELS: u64 = 1000;

/// Those of which all call functions.
const CALLING_KERNELS: u64 = 100;

/// Of so many kernels of a test run, one becomes machine code.
const MACHINE_CODE_EVERY: u64 = 10;

/// What was compared.
#[derive(Debug, Default)]
struct Count {
    kernels: AtomicU64,
    lockstep: AtomicU64,
    machine: AtomicU64,
}

/// The kernel of a seed: small and larger, flat and deep, every third an arbitrary graph at its top, every seventh with calls of functions, every fifth
/// with branches whose sides do nearly the same, and every fifth with loops that can be flattened.
fn kernel(seed: u64) -> Generated {
    kernel_with(seed, seed % 7 == 6)
}

/// The kernel of a seed, with or without calls of functions.
fn kernel_with(seed: u64, calls: bool) -> Generated {
    let shape = Shape {
        statements: [8, 14, 20, 30][seed as usize % 4],
        depth: 1 + seed as usize / 4 % 5,
        barriers: !seed.is_multiple_of(5),
        unstructured: seed.is_multiple_of(3),
        calls,
        twins: seed.is_multiple_of(5),
        nests: seed % 5 == 3,
    };
    let mut generated = random_kernel(seed, shape);
    // What the machine stops is known by its name.
    generated.module.kernels[0].name = format!("random_{seed}");
    generated
}

/// What the code of a seed relies on.
fn facts(seed: u64, g: &Generated) -> LaunchFacts {
    let known = LaunchFacts::of_range(g.range.global_offset, g.range.global_size, g.range.local_size);
    let known = match seed / 5 % 3 {
        0 => LaunchFacts::default(),
        1 => known.of_any_size(),
        _ => known,
    };
    LaunchFacts { apart: if seed % 4 < 2 { buffers_of_their_own(g) } else { 0 }, ..known }
}

/// The inputs that are buffers which no other argument is, one bit each.
fn buffers_of_their_own(g: &Generated) -> u32 {
    let buffer = |input: &(Input, Type)| match input.0 {
        Input::Value { param, offset: 0 } => match g.args[param as usize] {
            Arg::Buffer(index) => Some(index),
            _ => None,
        },
        _ => None,
    };
    let count =
        |index| g.args.iter().filter(|argument| matches!(argument, Arg::Buffer(other) if *other == index)).count();
    let inputs = (0..32).zip(&g.module.kernels[0].inputs);
    let own = inputs.filter(|(_, input)| buffer(input).is_some_and(|index| count(index) == 1));
    own.map(|(bit, _)| 1 << bit).sum()
}

/// Compares one kernel, that of a seed; the text of a failure.
fn check(seed: u64, g: &Generated, machine_code: bool, count: &Count) -> Result<(), String> {
    let launch = facts(seed, g);
    let right = expected(g).map_err(|e| format!("seed {seed}: {e}\n{}", g.module))?;
    let layout = Layout::ALL[seed as usize / 3 % Layout::ALL.len()];
    let lockstep = Way::lockstep(layout);
    let machine = match machine_code {
        true => {
            let simd = [None, Some(256), Some(128)][seed as usize / 11 % 3];
            Way::machine([2, 4, 8, 16, 32][seed as usize / 7 % 5], layout, Effort::of_seed(seed), simd)
        }
        false => Vec::new(),
    };
    for (ways, counter) in [(lockstep, &count.lockstep), (machine, &count.machine)] {
        for way in ways {
            if let Some(fault) = way.fault(g, launch, &right) {
                return Err(failure(seed, g, launch, way, &fault));
            }
            counter.fetch_add(1, Ordering::Relaxed);
        }
    }
    count.kernels.fetch_add(1, Ordering::Relaxed);
    Ok(())
}

/// Says what went wrong, with the smallest kernel that shows it.
fn failure(seed: u64, g: &Generated, launch: LaunchFacts, way: Way, fault: &str) -> String {
    let report = std::panic::take_hook();
    std::panic::set_hook(Box::new(|_| {}));
    let kind = fault.split(':').next();
    let small = reduce_kernel(g, |g| {
        let right = expected(g).ok();
        let fault = right.and_then(|right| way.fault(g, launch, &right));
        fault.is_some_and(|fault| fault.split(':').next() == kind)
    });
    std::panic::set_hook(report);
    let Generated { module, range, .. } = &small;
    format!("seed {seed}, {way:?}, {launch:?}: {fault}\nreduced, {range:?}\n{module}")
}

/// The seeds of kernels that gave other results once.
const MENDED: [u64; 1] = [
    // LLVM did not turn off the lanes behind a group of 8 in a gang of 16.
    720_357,
];

#[test]
fn kernels_whose_results_differed_once() {
    let count = Count::default();
    let check_one = |seed| check(seed, &kernel(seed), true, &count);
    MENDED.into_iter().try_for_each(check_one).unwrap_or_else(|failure| panic!("{failure}"));
}

/// Compares the kernels of the environment's seeds, or of so many.
fn compare_kernels(kernels: u64, make_kernel: fn(u64) -> Generated) {
    let seeds = Seeds::of_environment(0..kernels, MACHINE_CODE_EVERY);
    let count = Count::default();
    let check_one = |seed: u64| check(seed, &make_kernel(seed), seed.is_multiple_of(seeds.machine_code_every), &count);
    seeds.check_all(1, |mut one| one.try_for_each(check_one));
    eprintln!("{count:?}");
    assert_eq!(count.kernels.into_inner(), seeds.count());
    assert_eq!(count.lockstep.into_inner(), 16 * seeds.count());
    if !seeds.asked {
        assert_eq!(count.machine.into_inner(), 6 * kernels / MACHINE_CODE_EVERY);
    }
}

#[test]
fn random_kernels() {
    compare_kernels(KERNELS, kernel);
}

#[test]
fn kernels_that_call_functions() {
    compare_kernels(CALLING_KERNELS, |seed| kernel_with(seed, true));
}

/// What is compared has versions for lanes that agree: many kernels have divergent loops and branches that all lanes
/// enter. And it has accesses to neighbours, and addresses of which an index may wrap.
#[test]
fn many_kernels_get_versions_groups_and_lines() {
    let plans: Vec<Planned> = (0..360).map(|seed| planned(&kernel(seed))).collect();
    let with = |what: &str| plans.iter().filter(|plan| plan.report.contains(what)).count();
    let [of_loops, of_branches] = ["loop divergent", "branch divergent"].map(with);
    let (loops, branches) = (with("version unmasked loop"), with("version all-true copy"));
    let found =
        format!("{loops} of {of_loops} with divergent loops, {branches} of {of_branches} with divergent branches");
    assert!(loops > 30 && 2 * loops > of_loops && branches > 40 && 2 * branches > of_branches, "{found}");
    let choices = with("version uniform choice");
    let groups = plans.iter().filter(|plan| plan.groups > 0).count();
    let on_lines = plans.iter().filter(|plan| plan.on_lines > 0).count();
    let found = format!("{groups} with groups, {on_lines} with lines, {choices} with choices");
    assert!(groups > 80 && on_lines > 60 && choices > 60, "{found}");
}

/// Some loops can be flattened into those around them.
#[test]
fn some_kernels_have_loops_to_flatten() {
    let reports: Vec<String> = (0..500).map(|seed| planned(&kernel(seed)).report_of_fusion).collect();
    let with = |what: &str| reports.iter().filter(|report| report.contains(what)).count();
    let [refilled, in_turn] = ["until all have work", "once in each iteration"].map(with);
    assert!(refilled > 5 && in_turn > 5, "{refilled} and {in_turn} of 500 kernels have a loop that is flattened");
}

/// Many branches have sides that can be fused, some of several blocks.
#[test]
fn many_kernels_have_branches_to_fuse() {
    let reports: Vec<String> = (0..500).map(|seed| planned(&kernel(seed)).report_of_fusion).collect();
    let with = |what: &str| reports.iter().filter(|report| report.contains(what)).count();
    let [fused, of_other_shape] = ["branch fused", "do not correspond"].map(with);
    assert!(fused > 10, "{fused} of 500 kernels have a branch that is fused, {of_other_shape} one of another shape");
}
