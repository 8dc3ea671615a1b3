//! Facts that the analyses find.

use lockstep_ir::analysis::cfg::build_cfg;
use lockstep_ir::analysis::divergence::{Facts, analyze_divergence};
use lockstep_ir::analysis::dominators::compute_dominators;
use lockstep_ir::analysis::liveness::compute_liveness;
use lockstep_ir::analysis::loops::find_loops;
use lockstep_ir::analysis::no_wrap_stride::find_no_wrap_strides;
use lockstep_ir::analysis::post_dominators::post_dominators;
use lockstep_ir::analysis::spin_loops::{find_reads_of_others, insert_yields};
use lockstep_ir::analysis::sync_dependence::Walks;
use lockstep_ir::ir::{Block, Function, Module, Value, block_text, inst_text, term_text};
use lockstep_ir::target::{Registers, TargetInfo};
use lockstep_ir::testing::script::{Fact, Script};
use lockstep_ir::transform::branch_fusion::{LaneFacts, plan_fusion};
use lockstep_ir::transform::coherent_branches;
use lockstep_ir::transform::unmasked_loops::{self, Known, Refusal};
use lockstep_ir::verify::VerifyError;
use lockstep_protocol::launch_facts::{LaunchFacts, LocalSize};
use std::collections::BTreeSet;

fn each_function(module: &Module, mut facts: impl FnMut(&Function, &mut Vec<Fact>)) -> Vec<Fact> {
    let mut found = Vec::new();
    for kernel in &module.kernels {
        for function in kernel.regions.values() {
            facts(function, &mut found);
        }
    }
    found
}

pub fn errors(errors: &[VerifyError]) -> Vec<Fact> {
    errors.iter().map(|error| (error.line.clone(), "error".to_string(), error.message.clone())).collect()
}

/// `idom: b2` for every block but the entry.
pub fn idoms(module: &Module) -> Vec<Fact> {
    each_function(module, |function, found| {
        let dominators = compute_dominators(&build_cfg(function));
        for &block in &function.layout {
            if let Some(immediate_dominator) = dominators.immediate_dominator(block) {
                found.push((block_text(function, block), "idom".to_string(), immediate_dominator.to_string()));
            }
        }
    })
}

/// `ipdom: b2`, or `ipdom: end`, for every reachable block.
pub fn ipdoms(module: &Module) -> Vec<Fact> {
    each_function(module, |function, found| {
        let flow_graph = build_cfg(function);
        let tree = post_dominators(&flow_graph);
        for &block in flow_graph.reverse_post_order() {
            let next =
                tree.immediate_post_dominator(block).map_or("end".to_string(), |other_block| other_block.to_string());
            found.push((block_text(function, block), "ipdom".to_string(), next));
        }
    })
}

/// `in: b1` (the header of the innermost loop) for every block in a loop; for headers also
/// `loop: depth 1, latches b3, exits b2-b4`; at the jump of an irreducible edge `irreducible: b5`.
pub fn loop_facts(module: &Module) -> Vec<Fact> {
    each_function(module, |function, found| {
        let flow_graph = build_cfg(function);
        let loop_forest = find_loops(&flow_graph, &compute_dominators(&flow_graph));
        for &block in &function.layout {
            if let Some(loop_id) = loop_forest.innermost_loop(block) {
                let header = loop_forest.get(loop_id).header.to_string();
                found.push((block_text(function, block), "in".to_string(), header));
            }
            if let Some(loop_id) = loop_forest.with_header(block) {
                let loop_data = loop_forest.get(loop_id);
                let latches: Vec<String> =
                    loop_data.latches.iter().map(|other_block| other_block.to_string()).collect();
                let exits: Vec<String> = loop_data
                    .exits
                    .iter()
                    .map(|(first_block, other_block)| format!("{first_block}-{other_block}"))
                    .collect();
                let exits = if exits.is_empty() { "none".to_string() } else { exits.join(" ") };
                let text = format!("depth {}, latches {}, exits {exits}", loop_data.depth, latches.join(" "));
                found.push((block_text(function, block), "loop".to_string(), text));
            }
        }
        for (source, target) in loop_forest.irreducible_edges() {
            found.push((term_text(function, *source), "irreducible".to_string(), target.to_string()));
        }
    })
}

/// `waits: yes` or `waits: no` for every loop's header.
pub fn waiting(module: &Module) -> Vec<Fact> {
    let reads_of_others = find_reads_of_others(module);
    each_function(module, |function, found| {
        let flow_graph = build_cfg(function);
        let waiting = insert_yields(function, &reads_of_others);
        for (_, loop_data) in find_loops(&flow_graph, &compute_dominators(&flow_graph)).iter() {
            let waits = if waiting.contains(&loop_data.header) { "yes" } else { "no" };
            found.push((block_text(function, loop_data.header), "waits".to_string(), waits.to_string()));
        }
    })
}

/// `live_in: v1, v2` and `live_out: v1` for every block where something is live.
pub fn live_sets(module: &Module) -> Vec<Fact> {
    each_function(module, |function, found| {
        let live = compute_liveness(function, &build_cfg(function));
        for &block in &function.layout {
            let mut fact = |key: &str, values: Vec<Value>| {
                if !values.is_empty() {
                    let values: Vec<String> = values.iter().map(|value| value.to_string()).collect();
                    found.push((block_text(function, block), key.to_string(), values.join(", ")));
                }
            };
            fact("live_in", live.live_in(block).collect());
            fact("live_out", live.live_out(block).collect());
        }
    })
}

/// For each branch or switch, what follows if it is divergent: `joins: b3 b4` where lanes meet, `exits: b5`
/// where they arrive that left a loop at different times; `joins: none` where neither is.
pub fn control_divergences(module: &Module) -> Vec<Fact> {
    each_function(module, |function, found| {
        let flow_graph = build_cfg(function);
        let loop_forest = find_loops(&flow_graph, &compute_dominators(&flow_graph));
        let mut walks = Walks::default();
        for &block in function.layout.iter().filter(|&&block| flow_graph.successors(block).len() > 1) {
            let effects = walks.control_divergence(&flow_graph, &loop_forest, block);
            let list = |blocks: &BTreeSet<Block>| blocks.iter().map(Block::to_string).collect::<Vec<_>>().join(" ");
            let joins = list(&effects.joins);
            let exits = list(&effects.temporal.iter().map(|&(_, exit_block)| exit_block).collect());
            let none = joins.is_empty() && exits.is_empty();
            let joins = if none { "none".to_string() } else { joins };
            for (key, text) in [("joins", joins), ("exits", exits)] {
                if !text.is_empty() {
                    found.push((term_text(function, block), key.to_string(), text));
                }
            }
        }
    })
}

/// Shows each region of each kernel with what is known of it, and what holds of gangs of 16 on registers of 512 bits.
fn see_regions(module: &Module, mut see: impl FnMut(&Function, Known<'_>, &Facts)) {
    for kernel in &module.kernels {
        let gang_facts = Facts::new(module, kernel, 16).of_kernel(kernel);
        for function in kernel.regions.values() {
            let flow_graph = build_cfg(function);
            let dominators = compute_dominators(&flow_graph);
            let loop_forest = find_loops(&flow_graph, &dominators);
            let divergent = analyze_divergence(function, &gang_facts, &flow_graph, &loop_forest);
            let registers = Registers { target: TargetInfo::of_bits(512), width: 16 };
            let no_wrap_strides =
                find_no_wrap_strides(function, flow_graph.reverse_post_order(), &divergent.shapes, registers.width);
            let known = Known {
                cfg: &flow_graph,
                dominators: &dominators,
                forest: &loop_forest,
                found: &divergent,
                lines: &no_wrap_strides,
                registers,
            };
            see(function, known, &gang_facts);
        }
    }
}

/// At the header of each divergent loop how it gets a version without masks, or
/// why not (`version: b1 again, saves 9 of 60`); at each branch where lanes part what copies of its targets would save
/// (`copies: then saves 9 of 60, else none`).
pub fn versions(module: &Module) -> Vec<Fact> {
    let mut found = Vec::new();
    see_regions(module, |function, known, _| {
        let divergent_loops = &known.found.divergent_loops;
        for (loop_id, loop_data) in known.forest.iter().filter(|&(loop_id, _)| divergent_loops.contains(loop_id)) {
            let plan = unmasked_loops::plan_version(function, known, loop_id).map_err(|refusal| refusal.to_string());
            let version = match plan {
                _ if !known.is_entered_by_all(loop_id) => Refusal::SomeLanes.to_string(),
                Ok(plan) => plan.to_string(),
                Err(refusal) => refusal,
            };
            found.push((block_text(function, loop_data.header), "version".to_string(), version));
        }
        for &block in function.layout.iter().filter(|&&block| known.found.divergent_branches.contains(block)) {
            let copy = |target| {
                let plan = coherent_branches::plan_copy(function, known, block, target, true);
                plan.map_or("none".to_string(), |plan| plan.to_string())
            };
            found.push((
                term_text(function, block),
                "copies".to_string(),
                format!("then {}, else {}", copy(0), copy(1)),
            ));
        }
    });
    found
}

/// At each divergent branch with instructions on both sides how they are fused, or why not
/// (`fusion: 4 of 5 and 6 instructions, profit 12`).
pub fn find_fusions(module: &Module) -> Vec<Fact> {
    let mut found = Vec::new();
    see_regions(module, |function, known, gang_facts| {
        let mut lane_facts = LaneFacts::new(known.found, None, &gang_facts.uniform_slots);
        for &block in function.layout.iter().filter(|&&block| known.found.divergent_branches.contains(block)) {
            let planned = plan_fusion(&mut function.clone(), known, &mut lane_facts, block, false);
            let text = planned.map(|plan| plan.map_or_else(|refusal| refusal.to_string(), |plan| plan.to_string()));
            found.extend(text.map(|text| (term_text(function, block), "fusion".to_string(), text)));
        }
    });
    found
}

/// `regions: 3` and `live: i32 i64` for every kernel.
pub fn regions(module: &Module) -> Vec<Fact> {
    let mut found = Vec::new();
    for kernel in &module.kernels {
        let line = format!("kernel {:?} {{", kernel.name);
        let live: Vec<String> = kernel.live.values().map(ToString::to_string).collect();
        found.push((line.clone(), "regions".to_string(), kernel.regions.len().to_string()));
        found.push((line, "live".to_string(), live.join(" ")));
    }
    found
}

/// The words of a directive, `name` or `name(argument)`.
pub fn words<'a>(script: &'a Script, key: &str) -> Vec<(&'a str, &'a str)> {
    let lines = script.directives.iter().filter(|(_, known, _)| known == key);
    let words = lines.flat_map(|(_, _, line)| line.split(' '));
    let parts = |word: &'a str| word.strip_suffix(')').and_then(|word| word.split_once('(')).unwrap_or((word, ""));
    words.map(parts).collect()
}

/// What `; launch:` says of launches: words such as `ids_fit_int`, `zero_offset`, `full_groups`, `rows`,
/// `local(64,1,1)`, `apart` (all pointers among the arguments are) and `multiple(2)`, an input's number.
pub fn launch_facts(script: &Script) -> LaunchFacts {
    let mut launch_facts = LaunchFacts::default();
    for (name, argument) in words(script, "launch") {
        let numbers: Vec<u32> = argument.split(',').filter_map(|number| number.parse().ok()).collect();
        match (name, &numbers[..]) {
            ("ids_fit_int", []) => launch_facts.ids_fit_int = true,
            ("zero_offset", []) => launch_facts.zero_offset = true,
            ("full_groups", []) => launch_facts.full_groups = true,
            ("rows", []) => launch_facts.local = LocalSize::Rows,
            ("apart", []) => launch_facts.apart = u32::MAX,
            ("local", &[x, y, z]) => launch_facts.local = LocalSize::Exactly([x, y, z]),
            ("multiple", &[input_index]) => launch_facts.multiples |= 1 << input_index,
            _ => panic!("no launch is {name:?} {numbers:?}"),
        }
    }
    launch_facts
}

/// For gangs of eight, `shape: contiguous(8)` for every parameter and result, separated by commas; on a
/// block `divergent: block` where it may run for some lanes only, `join` where lanes of different ways
/// meet, `exit_block` where they left a loop at different times, `loop` at a divergent loop's header; and
/// `divergent: branch` on a terminator.
pub fn divergences(module: &Module, script: &Script) -> Vec<Fact> {
    let launch = launch_facts(script);
    let mut facts = Vec::new();
    for kernel in &module.kernels {
        let known = Facts::new(module, kernel, 8).of_launch(kernel, &launch).of_kernel(kernel);
        for function in kernel.regions.values() {
            let flow_graph = build_cfg(function);
            let loop_forest = find_loops(&flow_graph, &compute_dominators(&flow_graph));
            let divergence = analyze_divergence(function, &known, &flow_graph, &loop_forest);
            let no_wrap_strides =
                find_no_wrap_strides(function, flow_graph.reverse_post_order(), &divergence.shapes, 8);
            let mut fact = |line: String, key: &str, value: String| facts.push((line, key.to_string(), value));
            let shapes = |values: &[Value]| {
                values.iter().map(|&operand| divergence.shapes[operand].to_string()).collect::<Vec<_>>().join(", ")
            };
            for &block in &function.layout {
                let block_data = &function.blocks[block];
                if !block_data.params.is_empty() {
                    fact(block_text(function, block), "shape", shapes(&block_data.params));
                }
                let late = divergence.temporal.iter().any(|&(_, exit_block)| exit_block == block);
                let header =
                    loop_forest.with_header(block).is_some_and(|loop_id| divergence.divergent_loops.contains(loop_id));
                let kinds = [
                    (divergence.divergent_blocks.contains(block), "block"),
                    (divergence.joins.contains(block), "join"),
                    (late, "exit"),
                    (header, "loop"),
                ];
                let kinds: Vec<&str> = kinds.iter().filter(|(is, _)| *is).map(|(_, kind)| *kind).collect();
                if !kinds.is_empty() {
                    fact(block_text(function, block), "divergent", kinds.join(" "));
                }
                for &instruction in &block_data.insts {
                    if !function.insts[instruction].results.is_empty() {
                        fact(inst_text(function, instruction), "shape", shapes(&function.insts[instruction].results));
                    }
                    if let Some(no_wrap_stride) = function.insts[instruction]
                        .results
                        .first()
                        .and_then(|&operand| no_wrap_strides[operand].as_ref())
                    {
                        let extensions: Vec<String> =
                            no_wrap_stride.extensions.iter().map(|operand| operand.to_string()).collect();
                        fact(
                            inst_text(function, instruction),
                            "line",
                            format!("{} by {}", no_wrap_stride.stride, extensions.join(", ")),
                        );
                    }
                }
                if divergence.divergent_branches.contains(block) {
                    fact(term_text(function, block), "divergent", "branch".to_string());
                }
            }
        }
    }
    facts
}
