//! Random kernels, both sides of whose branches do nearly the same, mean the same after these were fused.

use lockstep_ir::interp::{Memory, STEP_LIMIT, run_gangs, run_kernel};
use lockstep_ir::ir::Module;
use lockstep_ir::report::{Notes, Report};
use lockstep_ir::target::TargetInfo;
use lockstep_ir::testing::{Shape, plan_gangs, random_kernel};
use lockstep_ir::transform::barriers::cut_at_barriers;
use lockstep_ir::verify::{Stage, verify_module};
use lockstep_protocol::configuration::{Gangs, Versions};
use lockstep_protocol::launch_facts::LaunchFacts;
use lockstep_protocol::layout::Layout;
use lockstep_protocol::pass_switches::PassSwitch;

/// What became of the branches of a kernel.
#[derive(Default)]
struct Count {
    fused: usize,
    refused: usize,
}

/// Fuses what can be fused of one kernel, and compares what it leaves in memory.
fn check_kernel(seed: u64, shape: Shape, fusion: Versions, count: &mut Count) {
    let g = random_kernel(seed, shape);
    let mut memory = Memory::new(g.buffers.clone());
    run_kernel(&g.module, "random", &g.range, &g.args, &mut memory).expect("the kernel runs");
    let expected = memory.buffers;
    for gang_width in [2u32, 8, 16] {
        let gangs = Gangs::of_width(gang_width).with_pass(PassSwitch::BranchFusion, fusion);
        let mut module = g.module.clone();
        cut_at_barriers(&mut module.kernels[0]);
        let notes = Notes::new(true);
        let (target, launch) = (TargetInfo::of_bits(256), LaunchFacts::default());
        let planned = plan_gangs(&g.module, &mut module.kernels[0], gangs, target, &launch, &notes);
        planned.unwrap_or_else(|reason| panic!("seed {seed}: {reason}"));
        let report = Report::new("", "", (gang_width, ""), String::new(), notes).expect("notes are kept");
        count.fused += report.notes.iter().filter(|note| note.class == "fused").count();
        count.refused += report.notes.iter().filter(|note| note.kind == "fusion").count();
        if let Err(errors) = verify_module(&module, Stage::Linearized) {
            panic!("seed {seed}: {}\nfrom\n{}\nto\n{module}", errors[0], g.module);
        }
        let found = run_lanes(&module, seed, gang_width, g.buffers.clone(), &g);
        assert!(found == expected, "seed {seed}, width {gang_width}: other results\nfrom\n{}\nto\n{module}", g.module);
    }
}

fn run_lanes(
    module: &Module,
    seed: u64,
    gang_width: u32,
    buffers: Vec<Vec<u8>>,
    g: &lockstep_ir::testing::Generated,
) -> Vec<Vec<u8>> {
    let mut memory = Memory::new(buffers);
    let lanes = (gang_width as usize, Layout::X);
    run_gangs(module, "random", &g.range, &g.args, &mut memory, STEP_LIMIT, lanes)
        .unwrap_or_else(|error| panic!("seed {seed}: {error}\n{module}"));
    memory.buffers
}

/// Kernels whose branches have such sides.
fn twins(seed: u64) -> Shape {
    Shape {
        statements: [8, 14, 24][seed as usize % 3],
        depth: 2 + seed as usize % 3,
        twins: true,
        barriers: seed.is_multiple_of(4),
        unstructured: seed.is_multiple_of(5),
        ..Shape::default()
    }
}

#[test]
fn branches_fused_wherever_possible() {
    let mut count = Count::default();
    (0..800).for_each(|seed| check_kernel(seed, twins(seed), Versions::Always, &mut count));
    let Count { fused, refused } = count;
    assert!(fused > 300 && refused > 100, "{fused} are fused, {refused} are not");
}

#[test]
fn branches_fused_where_it_pays() {
    let mut count = Count::default();
    (0..600).for_each(|seed| check_kernel(seed, twins(seed), Versions::WherePays, &mut count));
    let Count { fused, refused } = count;
    assert!(fused > 30 && refused > 300, "{fused} are fused, {refused} are not");
}
