//! Exact output of passes: what is behind the line `; output: PASS`, as comments, to the file's end.
//!
//! With `BLESS=1` in the environment the files are rewritten to what the passes give.

use cranelift_entity::EntitySet;
use lockstep_ir::analysis::addresses::Roots;
use lockstep_ir::analysis::cfg::cfg;
use lockstep_ir::analysis::cost::Registers;
use lockstep_ir::analysis::divergence::{Divergence, Facts, divergence};
use lockstep_ir::analysis::dominators::dominators;
use lockstep_ir::analysis::loops::loops;
use lockstep_ir::analysis::origins::apart;
use lockstep_ir::interp::{Arg, Memory, NdRange, STEP_LIMIT, run_gangs};
use lockstep_ir::ir::{Function, Kernel, Module};
use lockstep_ir::plan::coherence_versions::versions;
use lockstep_ir::report::Notes;
use lockstep_ir::testing::run_line;
use lockstep_ir::testing::script::Script;
use lockstep_ir::transform::barriers::{barriers, barriers_within};
use lockstep_ir::transform::boscc::boscc;
use lockstep_ir::transform::divergent_loops::{UniformLoops, divergent_loops};
use lockstep_ir::transform::fold::fold;
use lockstep_ir::transform::group_accesses::group_accesses;
use lockstep_ir::transform::interleave::interleave;
use lockstep_ir::transform::linear_ids::linear_ids;
use lockstep_ir::transform::linearize::linearize;
use lockstep_ir::transform::normalize::normalize;
use lockstep_ir::transform::promote_places::promote_places;
use lockstep_ir::transform::reducible::make_reducible;
use lockstep_ir::transform::rounds::rounds;
use lockstep_ir::transform::rounds_at_once;
use lockstep_ir::transform::shared_live::shared_live;
use lockstep_ir::transform::split_conditions::split_conditions;
use lockstep_ir::transform::trivial_branches::trivial_branches;
use lockstep_ir::transform::uniform_choices::{condition, split};
use lockstep_ir::transform::unreachable_edges::remove_unreachable_edges;
use lockstep_ir::transform::waiting_loops::mark_waiting_loops;
use lockstep_ir::transform::whole_pieces::pieces;
use lockstep_ir::verify::{Stage, verify};
use lockstep_protocol::compile_options::Bounds;
use lockstep_protocol::configuration::{Gangs, Versions};
use lockstep_protocol::launch_facts::LaunchFacts;
use lockstep_protocol::layout::Layout;
use lockstep_protocol::pass_switches::PassSwitch;
use std::path::Path;

struct Pass {
    name: &'static str,
    run: fn(&mut Kernel),
    stage: Stage,
}

/// The passes by the names filetests use, with the stage that their output belongs to.
const PASSES: &[Pass] = &[
    Pass { name: "linear_ids", run: |kernel| linear_ids(kernel, &LaunchFacts::default()), stage: Stage::Imported },
    Pass { name: "fold", run: |kernel| kernel.regions.values_mut().for_each(fold), stage: Stage::Imported },
    Pass { name: "waiting_loops", run: mark_waiting_loops, stage: Stage::Imported },
    Pass { name: "barriers", run: barriers, stage: Stage::Regions },
    Pass { name: "barriers_sharing_regions", run: share_regions, stage: Stage::Regions },
    Pass { name: "shared_live", run: |kernel| shared_live(&Module::default(), kernel), stage: Stage::Regions },
    Pass { name: "rounds", run: rounds_of_eight, stage: Stage::Regions },
    Pass { name: "reducible", run: reducible_regions, stage: Stage::Regions },
    Pass { name: "unreachable_edges", run: without_unreachable_edges, stage: Stage::Regions },
    Pass { name: "normalize", run: normalize_regions, stage: Stage::Normalized },
    Pass { name: "interleave", run: interleave_four, stage: Stage::Regions },
    Pass { name: "uniform_choices", run: uniform_choices, stage: Stage::Normalized },
    Pass { name: "split_conditions", run: split_all_conditions, stage: Stage::Normalized },
    Pass { name: "whole_pieces", run: whole_pieces, stage: Stage::Normalized },
    Pass { name: "rounds_at_once", run: several_rounds, stage: Stage::Normalized },
    Pass { name: "group_accesses", run: groups, stage: Stage::Regions },
    Pass { name: "unmasked_loops", run: unmasked_loops, stage: Stage::Versioned },
    Pass { name: "all_true", run: all_true, stage: Stage::Versioned },
    Pass { name: "in_turn", run: in_turn, stage: Stage::Versioned },
    Pass { name: "divergent_loops", run: uniform_loops, stage: Stage::Linearized },
    Pass { name: "boscc", run: gates, stage: Stage::Linearized },
    Pass { name: "promote_places", run: promote_all, stage: Stage::Normalized },
    Pass { name: "linearize", run: linearize_all, stage: Stage::Linearized },
    Pass { name: "linearize_trivial_branches", run: linearize_trivial_branches, stage: Stage::Linearized },
    Pass { name: "linearize_with_gates", run: linearize_with_gates, stage: Stage::Linearized },
    Pass { name: "linearize_versions", run: linearize_versions, stage: Stage::Linearized },
];

fn normalize_regions(kernel: &mut Kernel) {
    kernel.regions.values_mut().for_each(normalize);
}

fn without_unreachable_edges(kernel: &mut Kernel) {
    kernel.regions.values_mut().for_each(remove_unreachable_edges);
}

fn reducible_regions(kernel: &mut Kernel) {
    kernel.regions.values_mut().for_each(|f| {
        make_reducible(f);
    });
}

/// No block stands in two regions that begin behind barriers.
fn share_regions(kernel: &mut Kernel) {
    barriers_within(kernel, Bounds { few_insts: 0, most_copies: 0 });
}

/// In launches with groups of eight.
fn rounds_of_eight(kernel: &mut Kernel) {
    rounds(kernel, &LaunchFacts::of_range([0; 3], [16, 1, 1], [8, 1, 1]));
}

/// For gangs of four that share no slot.
fn interleave_four(kernel: &mut Kernel) {
    interleave(kernel, 4, &EntitySet::new());
}

/// For gangs of sixteen, where it pays.
fn several_rounds(kernel: &mut Kernel) {
    each_analysed(kernel, |f, found| {
        if let Some(plan) = rounds_at_once::plan(f, &found, 16, false) {
            plan.apply(f);
        }
    });
}

/// For gangs of sixteen.
fn groups(kernel: &mut Kernel) {
    each_analysed(kernel, |f, found| group_accesses(f, &found.shapes, &Roots::default(), 16, false));
}

/// Linearizes regions in normal form, with the branches divergent that are so for gangs of sixteen.
fn linearize_all(kernel: &mut Kernel) {
    each_analysed(kernel, |f, found| {
        let mut divergent = found.divergent_branches;
        let UniformLoops { flow, tracked, .. } = divergent_loops(f, &mut divergent);
        linearize(f, &flow, &divergent, &tracked);
    });
}

/// As `linearize_all`, with the uniform branches folded that skip nothing.
fn linearize_trivial_branches(kernel: &mut Kernel) {
    each_analysed(kernel, |f, found| {
        let mut divergent = found.divergent_branches;
        let UniformLoops { flow, tracked, .. } = divergent_loops(f, &mut divergent);
        trivial_branches(f, &flow, &mut divergent);
        linearize(f, &flow, &divergent, &tracked);
    });
}

/// Makes the loops of regions in normal form uniform.
fn uniform_loops(kernel: &mut Kernel) {
    each_analysed(kernel, |f, mut found| {
        divergent_loops(f, &mut found.divergent_branches);
    });
}

/// Gives all divergent loops versions that can have one.
fn unmasked_loops(kernel: &mut Kernel) {
    versioned(kernel, no_versions().with_pass(PassSwitch::UnmaskedLoops, Versions::Always));
}

/// Gives all targets of divergent branches copies that can have one.
fn all_true(kernel: &mut Kernel) {
    versioned(kernel, no_versions().with_pass(PassSwitch::AllTrue, Versions::Always));
}

/// Lets lanes run all divergent loops one after the other that they can, where one lane enters or few.
fn in_turn(kernel: &mut Kernel) {
    versioned(kernel, no_versions().with_pass(PassSwitch::InTurn, Versions::Always));
}

/// Keeps places in registers where all pointers among the arguments are apart.
fn promote_all(kernel: &mut Kernel) {
    let launch = LaunchFacts { apart: u32::MAX, ..LaunchFacts::default() };
    let apart = apart(kernel, &launch);
    for region in kernel.regions.keys() {
        let mut body = std::mem::take(&mut kernel.regions[region]);
        promote_places(kernel, &mut body, &apart);
        kernel.regions[region] = body;
    }
}

/// Gives regions versions for a condition that chooses between two lines.
fn uniform_choices(kernel: &mut Kernel) {
    each_analysed(kernel, |f, found| {
        if let Some(condition) = condition(f, &found.shapes) {
            split(f, condition);
        }
    });
}

/// Gives operands of conditions that are the same for a group branches of their own.
fn split_all_conditions(kernel: &mut Kernel) {
    let facts = Facts::of_groups(&Module::default(), kernel).of_kernel(kernel);
    analyse_each(kernel, &facts, |f, found| {
        split_conditions(f, &found.shapes, &found.divergent_branches, false);
    });
}

/// Gives regions versions for launches of long rows of work-items in which pieces of indices hold whole gangs of 16.
fn whole_pieces(kernel: &mut Kernel) {
    let launch = LaunchFacts::of_range([0; 3], [1024, 1, 1], [64, 1, 1]).of_any_size();
    let facts = Facts::new(&Module::default(), kernel, 16).of_launch(kernel, &launch).of_kernel(kernel);
    for f in kernel.regions.values_mut() {
        let graph = cfg(f);
        let shapes = divergence(f, &facts, &graph, &loops(&graph, &dominators(&graph))).shapes;
        if let Some(found) = pieces(f, &shapes, 16) {
            found.split(f, &shapes, 16);
        }
    }
}

/// The best configuration, without versions of code.
fn no_versions() -> Gangs {
    Gangs::default().with_versions(Versions::Never)
}

fn versioned(kernel: &mut Kernel, gangs: Gangs) {
    let facts = Facts::new(&Module::default(), kernel, 16).of_kernel(kernel);
    let registers = Registers { bits: 512, width: 16 };
    for f in kernel.regions.values_mut() {
        let graph = cfg(f);
        let found = divergence(f, &facts, &graph, &loops(&graph, &dominators(&graph)));
        versions(f, &facts, found, gangs, registers, &Notes::default());
    }
}

fn linearize_versions(kernel: &mut Kernel) {
    versioned(
        kernel,
        no_versions()
            .with_pass(PassSwitch::AllTrue, Versions::Always)
            .with_pass(PassSwitch::UnmaskedLoops, Versions::Always),
    );
    linearize_all(kernel);
}

/// Puts gates in front of costly blocks.
fn gates(kernel: &mut Kernel) {
    each_analysed(kernel, |f, mut found| {
        gated(f, &mut found);
    });
}

fn linearize_with_gates(kernel: &mut Kernel) {
    each_analysed(kernel, |f, mut found| {
        let UniformLoops { flow, tracked, .. } = gated(f, &mut found);
        linearize(f, &flow, &found.divergent_branches, &tracked);
    });
}

fn gated(f: &mut Function, found: &mut Divergence) -> UniformLoops {
    let mut loops = divergent_loops(f, &mut found.divergent_branches);
    let registers = Registers { bits: 512, width: 16 };
    boscc(f, &mut loops, &mut found.divergent_branches, &found.shapes, registers, Versions::WherePays);
    loops
}

fn each_analysed(kernel: &mut Kernel, pass: impl Fn(&mut Function, Divergence)) {
    let facts = Facts::new(&Module::default(), kernel, 16).of_kernel(kernel);
    analyse_each(kernel, &facts, pass);
}

fn analyse_each(kernel: &mut Kernel, facts: &Facts, pass: impl Fn(&mut Function, Divergence)) {
    for f in kernel.regions.values_mut() {
        let graph = cfg(f);
        let found = divergence(f, facts, &graph, &loops(&graph, &dominators(&graph)));
        pass(f, found);
    }
}

/// Runs a pass; `None` if there is none of this name.
pub fn check(name: &str, path: &Path, text: &str, module: &Module, script: &Script) -> Option<Result<(), String>> {
    let pass = PASSES.iter().find(|pass| pass.name == name)?;
    Some(check_pass(pass, path, text, module, script))
}

/// A run line must hold; for linearized code, with gangs of every width.
fn check_run(pass: &Pass, module: &Module, line: &str) -> Result<(), String> {
    if !pass.name.starts_with("linearize") {
        return run_line::check(module, line);
    }
    [1, 2, 4, 8, 16].into_iter().try_for_each(|width| {
        let gangs = |kernel: &str, range: &NdRange, args: &[Arg], memory: &mut Memory| {
            run_gangs(module, kernel, range, args, memory, STEP_LIMIT, (width, Layout::X)).map_err(|e| e.to_string())
        };
        run_line::check_with(line, gangs).map_err(|e| format!("width {width}: {e}"))
    })
}

fn check_pass(pass: &Pass, path: &Path, text: &str, module: &Module, script: &Script) -> Result<(), String> {
    let mut module = module.clone();
    module.kernels.iter_mut().for_each(pass.run);
    let printed = module.to_string();
    verify(&module, pass.stage).map_err(|e| format!("the output does not verify: {}\n{printed}", e[0]))?;
    for (number, key, line) in &script.directives {
        if key == "run" {
            check_run(pass, &module, line)
                .map_err(|e| format!("line {number}, behind {}: {e}\n{printed}", pass.name))?;
        }
    }
    let marker = format!("; output: {}", pass.name);
    let source_end = text.find(&marker).unwrap_or(text.len());
    let comments = printed.lines().map(|line| if line.is_empty() { ";".to_string() } else { format!("; {line}") });
    let output: Vec<String> = std::iter::once(marker).chain(comments).collect();
    let expected = format!("{}\n\n{}\n", text[..source_end].trim_end(), output.join("\n"));
    if expected == text {
        return Ok(());
    }
    if std::env::var_os("BLESS").is_some() {
        return std::fs::write(path, expected).map_err(|e| e.to_string());
    }
    let differs = text.lines().zip(expected.lines()).find(|(a, b)| a != b);
    let (written, found) = differs.unwrap_or(("nothing", "more"));
    Err(format!("other output (BLESS=1 accepts it):\n  written: {written}\n  found:   {found}\n{printed}"))
}
