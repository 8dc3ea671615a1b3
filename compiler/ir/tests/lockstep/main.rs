//! Random kernels mean the same for single work-items and, linearized, for gangs of every width.

use cranelift_entity::EntitySet;
use lockstep_ir::analysis::cfg::build_cfg;
use lockstep_ir::analysis::divergence::{Facts, analyze_divergence};
use lockstep_ir::analysis::dominators::compute_dominators;
use lockstep_ir::analysis::loops::find_loops;
use lockstep_ir::analysis::points_to::find_pointees;
use lockstep_ir::interp::{Memory, PlannedGangs, STEP_LIMIT, run_gangs, run_kernel, run_planned};
use lockstep_ir::ir::{Block, Function, InstData, Kernel, Module, SlotLayout};
use lockstep_ir::report::Notes;
use lockstep_ir::target::TargetInfo;
use lockstep_ir::testing::{Generated, Shape, random_kernel};
use lockstep_ir::testing::{plan_calls, plan_gangs};
use lockstep_ir::transform::barriers::cut_at_barriers;
use lockstep_ir::transform::divergent_loops::{EmptyEntries, UniformLoops, divergent_loops};
use lockstep_ir::transform::linearize::linearize_function;
use lockstep_ir::transform::normalize::normalize_function;
use lockstep_ir::verify::{Stage, verify_module};
use lockstep_protocol::configuration::{Configuration, Gangs, Versions};
use lockstep_protocol::launch_facts::LaunchFacts;
use lockstep_protocol::layout::Layout;
use std::ops::Range;

mod uniform;

/// The seeds a test takes: `0..count`, or those in `LOCKSTEP_TEST_SEEDS` (`from..to`).
fn seeds(count: u64) -> Range<u64> {
    let given = std::env::var("LOCKSTEP_TEST_SEEDS").ok();
    let range = given.and_then(|text| {
        let (from, to) = text.split_once("..")?;
        Some(from.parse().ok()?..to.parse().ok()?)
    });
    range.unwrap_or(0..count)
}

fn every_branch(function: &Function) -> EntitySet<Block> {
    let mut found = EntitySet::new();
    function.layout.iter().filter(|&&block| function.blocks[block].terminator.selector().is_some()).for_each(
        |&block| {
            found.insert(block);
        },
    );
    found
}

/// All regions in normal form, then linearized with the divergent branches that `find` tells.
fn linearized(module: &Module, stage: &mut Module, find: impl Fn(&Module, &Function) -> EntitySet<Block>) -> Module {
    let mut module = module.clone();
    cut_at_barriers(&mut module.kernels[0]);
    module.kernels[0].regions.values_mut().for_each(normalize_function);
    let regions = module.clone();
    for region in module.kernels[0].regions.keys().collect::<Vec<_>>() {
        let function = &mut module.kernels[0].regions[region];
        let mut divergent = find(&regions, function);
        let UniformLoops { control_flow, tracked, .. } = divergent_loops(function, &mut divergent, EmptyEntries::Gates);
        stage.kernels.clone_from(&module.kernels);
        let function = &mut module.kernels[0].regions[region];
        linearize_function(function, &control_flow, &divergent, &tracked);
    }
    module
}

fn result(module: &Module, g: &Generated, width: Option<usize>, what: &str) -> Vec<Vec<u8>> {
    let mut memory = Memory::new(g.buffers.clone());
    let outcome = match width {
        None => run_kernel(module, "random", &g.range, &g.args, &mut memory),
        Some(width) => run_gangs(module, "random", &g.range, &g.args, &mut memory, STEP_LIMIT, (width, Layout::X)),
    };
    match outcome {
        Ok(_) => memory.buffers,
        Err(error) => panic!("{what}: {error}\n{:?}\n{module}\nfrom\n{}", g.range, g.module),
    }
}

/// Checks one kernel.
fn check(seed: u64, shape: Shape, find: impl Fn(&Module, &Function) -> EntitySet<Block>) {
    let g = random_kernel(seed, shape);
    let expected = result(&g.module, &g, None, &format!("seed {seed}"));
    let mut looped = g.module.clone();
    let module = linearized(&g.module, &mut looped, find);
    if let Err(errors) = verify_module(&module, Stage::Linearized) {
        panic!("seed {seed}: {}\nfrom\n{looped}\nto\n{module}", errors[0]);
    }
    for width in [1, 2, 4, 8, 16] {
        let found = result(&module, &g, Some(width), &format!("seed {seed}, width {width}"));
        assert!(found == expected, "seed {seed}, width {width}: other results\nfrom\n{looped}\nto\n{module}");
    }
}

/// What the analysis finds.
fn analysed(module: &Module, function: &Function) -> EntitySet<Block> {
    let flow_graph = build_cfg(function);
    let loop_forest = find_loops(&flow_graph, &compute_dominators(&flow_graph));
    let gang_facts = Facts::new(module, &module.kernels[0], 16);
    analyze_divergence(function, &gang_facts, &flow_graph, &loop_forest).divergent_branches
}

#[test]
fn everything_divergent() {
    let shape = Shape { statements: 20, ..Shape::default() };
    seeds(300).for_each(|seed| check(seed, shape, |_, function| every_branch(function)));
}

#[test]
fn what_the_analysis_finds_divergent() {
    seeds(300).for_each(|seed| check(seed, Shape::default(), analysed));
}

#[test]
fn calls_of_functions() {
    let shape = Shape { calls: true, ..Shape::default() };
    seeds(300).for_each(|seed| check(seed, shape, analysed));
}

#[test]
fn without_barriers() {
    let shape = Shape { barriers: false, ..Shape::default() };
    seeds(300).for_each(|seed| check(seed, shape, analysed));
}

/// Irreducible ones become reducible first.
#[test]
fn any_graph() {
    let shape = Shape { unstructured: true, depth: 3, ..Shape::default() };
    seeds(200).for_each(|seed| check(seed, shape, analysed));
    seeds(100).for_each(|seed| check(seed, shape, |_, function| every_branch(function)));
}

/// Uniform branches stay branches in kernels that have them.
#[test]
fn uniform_branches_stay() {
    let find = |_: &Module, function: &Function| uniform::divergent_branches(function);
    seeds(500).for_each(|seed| check(seed, Shape::default(), find));
}

/// Private slots as gangs have them: shared by all lanes, where the analysis says that no lane sees what
/// others wrote, or with the lanes' elements side by side. How many slots are shared that some lanes write
/// while others do not.
fn check_slots(seed: u64, shape: Shape) -> usize {
    let g = random_kernel(seed, shape);
    let expected = result(&g.module, &g, None, &format!("seed {seed}"));
    let mut shared = 0;
    for gang_width in [2, 4, 16] {
        let gangs = Gangs::of_width(gang_width);
        let versioned = gangs.with_versions(Versions::Always);
        for gangs in [gangs, versioned, Gangs { configuration: Configuration::UniVal, ..gangs }] {
            let mut module = g.module.clone();
            cut_at_barriers(&mut module.kernels[0]);
            let planned = plan_gangs(
                &g.module,
                &mut module.kernels[0],
                gangs,
                TargetInfo::of_bits(256),
                &LaunchFacts::default(),
                &Notes::default(),
            );
            planned.unwrap_or_else(|reason| panic!("seed {seed}: {reason}"));
            if let Err(errors) = verify_module(&module, Stage::Linearized) {
                panic!("seed {seed}: {}\nfrom\n{}\nto\n{module}", errors[0], g.module);
            }
            let found = result(&module, &g, Some(gang_width as usize), &format!("seed {seed}, width {gang_width}"));
            assert!(
                found == expected,
                "seed {seed}, width {gang_width}: other results\nfrom\n{}\nto\n{module}",
                g.module
            );
            shared += shared_and_masked(&module.kernels[0]);
        }
    }
    shared
}

/// Functions in the forms that gangs call, and their slots. How many forms there are.
fn check_forms(seed: u64, shape: Shape) -> usize {
    let g = random_kernel(seed, shape);
    let expected = result(&g.module, &g, None, &format!("seed {seed}"));
    let (target, launch, notes) = (TargetInfo::of_bits(256), LaunchFacts::default(), Notes::default());
    let mut form_count = 0;
    for gang_width in [2, 4, 16] {
        let gangs = Gangs::of_width(gang_width);
        for gangs in [gangs, gangs.with_versions(Versions::Always)] {
            let mut module = g.module.clone();
            let kernel = &mut module.kernels[0];
            cut_at_barriers(kernel);
            let planned = plan_gangs(&g.module, kernel, gangs, target, &launch, &notes);
            let widening = planned.unwrap_or_else(|reason| panic!("seed {seed}: {reason}"));
            let forms = plan_calls((&g.module, kernel, &widening), gangs, target, &launch, &notes);
            form_count += forms.forms.len();
            let mut memory = Memory::new(g.buffers.clone());
            let planned = PlannedGangs { gang_width: gang_width as usize, widening: &widening, forms: &forms };
            let outcome = run_planned(&module, "random", &g.range, &g.args, &mut memory, STEP_LIMIT, planned);
            let printed = || forms.forms.iter().map(ToString::to_string).collect::<String>();
            if let Err(error) = outcome {
                panic!("seed {seed}, width {gang_width}: {error}\n{module}\nwith\n{}", printed());
            }
            assert!(
                memory.buffers == expected,
                "seed {seed}, width {gang_width}: other results\nfrom\n{}\nto\n{module}\nwith\n{}",
                g.module,
                printed()
            );
        }
    }
    form_count
}

/// How many shared slots are written in blocks with a mask.
fn shared_and_masked(kernel: &Kernel) -> usize {
    let mut written = EntitySet::new();
    for function in kernel.regions.values() {
        let pointees = find_pointees(function);
        for &block in function.layout.iter().filter(|&&block| function.masks[block].is_some()) {
            for &instruction in &function.blocks[block].insts {
                let InstData::Store { pointer, .. } = function.insts[instruction].data else { continue };
                pointees[pointer].slots.iter().for_each(|&slot| {
                    written.insert(slot);
                });
            }
        }
    }
    kernel
        .slots
        .iter()
        .filter(|(slot, slot_data)| slot_data.layout == SlotLayout::Shared && written.contains(*slot))
        .count()
}

#[test]
fn private_slots_of_gangs() {
    let seeds = seeds(200);
    let count = seeds.end - seeds.start;
    let shared: usize = seeds.map(|seed| check_slots(seed, Shape::default())).sum();
    assert!(
        count < 100 || shared as u64 > count / 2,
        "{shared} slots in {count} kernels are shared and written by some"
    );
}

#[test]
fn private_slots_of_gangs_in_any_graph() {
    let shape = Shape { unstructured: true, depth: 3, ..Shape::default() };
    seeds(60).for_each(|seed| {
        check_slots(seed, shape);
    });
}

#[test]
fn functions_in_forms() {
    let shape = Shape { calls: true, ..Shape::default() };
    let seeds = seeds(100);
    let count = seeds.end - seeds.start;
    let form_count: usize = seeds.map(|seed| check_forms(seed, shape)).sum();
    assert!(count < 50 || form_count as u64 > count, "{count} kernels have {form_count} forms");
}
