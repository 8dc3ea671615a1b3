//! Random kernels mean the same before and after each pass, as the interpreter says.

use cranelift_entity::EntitySet;
use lockstep_ir::analysis::cfg::build_cfg;
use lockstep_ir::analysis::dominators::compute_dominators;
use lockstep_ir::analysis::loops::find_loops;
use lockstep_ir::analysis::sccp::find_constants;
use lockstep_ir::interp::{Arg, Memory, NdRange, run_kernel};
use lockstep_ir::ir::replacements::Replacements;
use lockstep_ir::ir::{Function, InstData, Module, Query, SlotLayout, Terminator, parse_module};
use lockstep_ir::testing::{Generated, Shape, random_kernel};
use lockstep_ir::transform::barriers::{barriers_within, cut_at_barriers};
use lockstep_ir::transform::dce::remove_dead_code;
use lockstep_ir::transform::join_blocks::join_blocks;
use lockstep_ir::transform::normalize::normalize_function;
use lockstep_ir::transform::private_array_soa::interleave_slots;
use lockstep_ir::transform::reducible::make_reducible;
use lockstep_ir::transform::sccp_apply::sccp_apply;
use lockstep_ir::transform::simplify::simplify_function;
use lockstep_ir::transform::uniform_live_values::uniform_live_values;
use lockstep_ir::verify::{Stage, verify_module};
use lockstep_protocol::compile_options::Bounds;
use std::ops::Range;

/// The seeds a test of random kernels takes: `0..count`, or those in `LOCKSTEP_TEST_SEEDS` (`from..to`),
/// for long runs and to see one failure again.
fn seeds(count: u64) -> Range<u64> {
    let given = std::env::var("LOCKSTEP_TEST_SEEDS").ok();
    let range = given.and_then(|text| {
        let (from, to) = text.split_once("..")?;
        Some(from.parse().ok()?..to.parse().ok()?)
    });
    range.unwrap_or(0..count)
}

/// The buffers after a run.
fn result(module: &Module, g: &Generated, what: &str) -> Vec<Vec<u8>> {
    let mut memory = Memory::new(g.buffers.clone());
    match run_kernel(module, "random", &g.range, &g.args, &mut memory) {
        Ok(_) => memory.buffers,
        Err(error) => panic!("{what}: {error}\n{:?}\n{module}", g.range),
    }
}

/// Checks the kernels of some seeds; how many of them have barriers.
fn check_barriers(seeds: Range<u64>, shape: Shape, bounds: Bounds) -> u64 {
    let mut cut = 0;
    for seed in seeds {
        let g = random_kernel(seed, shape);
        if let Err(errors) = verify_module(&g.module, Stage::Imported) {
            panic!("seed {seed}: {}\n{}", errors[0], g.module);
        }
        let expected = result(&g.module, &g, &format!("seed {seed}"));
        let mut module = g.module.clone();
        barriers_within(&mut module.kernels[0], bounds);
        uniform_live_values(&g.module, &mut module.kernels[0]);
        if let Err(errors) = verify_module(&module, Stage::Regions) {
            panic!("seed {seed}: {}\nfrom\n{}\nto\n{module}", errors[0], g.module);
        }
        let found = result(&module, &g, &format!("seed {seed}, regions"));
        assert!(found == expected, "seed {seed}: other results\nfrom\n{}\nto\n{module}", g.module);
        cut += u64::from(module.kernels[0].regions.len() > 1);
    }
    cut
}

#[test]
fn barriers_keep_the_meaning() {
    let seeds = seeds(1500);
    let count = seeds.end - seeds.start;
    let cut = check_barriers(seeds, Shape::default(), Bounds::default());
    assert!(count < 100 || cut > count / 2, "only {cut} of {count} kernels have barriers");
}

#[test]
fn barriers_in_any_graph_keep_the_meaning() {
    let seeds = seeds(700);
    let count = seeds.end - seeds.start;
    let cut = check_barriers(seeds, Shape { unstructured: true, depth: 3, ..Shape::default() }, Bounds::default());
    assert!(count < 100 || cut > count / 2, "only {cut} of {count} kernels have barriers");
    let irreducible = |seed: &u64| {
        let g = random_kernel(*seed, Shape { unstructured: true, ..Shape::default() });
        let flow_graph = build_cfg(g.module.kernels[0].body());
        !find_loops(&flow_graph, &compute_dominators(&flow_graph)).irreducible_edges().is_empty()
    };
    let found = (0..100).filter(irreducible).count();
    assert!(found > 20, "{found} of 100 are irreducible");
}

/// Also where barriers share regions as soon as a block would stand in one of them, in two or in three.
#[test]
fn shared_regions_keep_the_meaning() {
    let mut shared = 0;
    for seed in seeds(1500) {
        let bounds = Bounds { few_insts: 0, most_copies: seed as usize % 3 };
        let shape = Shape { unstructured: seed % 2 == 0, depth: 3, ..Shape::default() };
        check_barriers(seed..seed + 1, shape, bounds);
        let mut kernels = [0; 2].map(|_| random_kernel(seed, shape).module.kernels.swap_remove(0));
        cut_at_barriers(&mut kernels[0]);
        barriers_within(&mut kernels[1], bounds);
        shared += u64::from(kernels[1].regions.len() < kernels[0].regions.len());
    }
    assert!(std::env::var_os("LOCKSTEP_TEST_SEEDS").is_some() || shared > 200, "only {shared} kernels share regions");
}

/// Interleaved, private slots hold the same, and every lane touches its own elements only.
#[test]
fn interleaving_keeps_the_meaning() {
    let seeds = seeds(400);
    let (count, mut laid_out) = (seeds.end - seeds.start, 0);
    for seed in seeds {
        let g = random_kernel(seed, Shape::default());
        let expected = result(&g.module, &g, &format!("seed {seed}"));
        let mut module = g.module.clone();
        cut_at_barriers(&mut module.kernels[0]);
        let lanes = [2, 4, 8, 16][seed as usize % 4];
        interleave_slots(&mut module.kernels[0], lanes, &EntitySet::new());
        if let Err(errors) = verify_module(&module, Stage::Regions) {
            panic!("seed {seed}: {}\nfrom\n{}\nto\n{module}", errors[0], g.module);
        }
        let found = result(&module, &g, &format!("seed {seed}, interleaved"));
        assert!(found == expected, "seed {seed}: other results\nfrom\n{}\nto\n{module}", g.module);
        laid_out += u64::from(module.kernels[0].slots.values().any(|slot_data| slot_data.layout != SlotLayout::Apart));
    }
    assert!(count < 100 || laid_out > count / 2, "only {laid_out} of {count} kernels have interleaved slots");
}

#[test]
fn reducible_graphs_keep_the_meaning() {
    let seeds = seeds(500);
    let (count, mut changed) = (seeds.end - seeds.start, 0);
    for seed in seeds {
        let g = random_kernel(seed, Shape { unstructured: true, depth: 3, ..Shape::default() });
        let expected = result(&g.module, &g, &format!("seed {seed}"));
        let mut module = g.module.clone();
        // The kernel as a whole, or what barriers leave of it.
        let stage = if seed % 2 == 0 { Stage::Imported } else { Stage::Regions };
        if stage == Stage::Regions {
            cut_at_barriers(&mut module.kernels[0]);
        }
        for function in module.kernels[0].regions.values_mut() {
            changed += make_reducible(function);
            let flow_graph = build_cfg(function);
            let left = find_loops(&flow_graph, &compute_dominators(&flow_graph)).irreducible_edges().to_vec();
            assert!(left.is_empty(), "seed {seed}: {left:?}\nfrom\n{}", g.module);
        }
        if let Err(errors) = verify_module(&module, stage) {
            panic!("seed {seed}: {}\nfrom\n{}\nto\n{module}", errors[0], g.module);
        }
        let found = result(&module, &g, &format!("seed {seed}, reducible"));
        assert!(found == expected, "seed {seed}: other results\nfrom\n{}\nto\n{module}", g.module);
    }
    assert!(count < 100 || changed as u64 > count / 4, "only {changed} cycles of {count} kernels had several entries");
}

/// With the number that is its argument in its place, and for one work-item with its ids, a kernel does the same.
#[test]
fn constants_keep_the_meaning() {
    let seeds = seeds(1000);
    let (count, mut ways, mut gone) = (seeds.end - seeds.start, 0, 0);
    for seed in seeds {
        let mut g = random_kernel(seed, Shape { unstructured: seed % 3 == 0, ..Shape::default() });
        let alone = seed % 2 == 0;
        if alone {
            g.range = NdRange::new(&[1], &[1]);
        }
        let expected = result(&g.module, &g, &format!("seed {seed}"));
        let mut module = g.module.clone();
        let parameters = module.kernels[0].body().blocks[module.kernels[0].body().entry_block()].params.clone();
        let body = module.kernels[0].body_mut();
        let mut numbers = Replacements::default();
        for (&parameter, argument) in parameters.iter().zip(&g.args) {
            let Arg::Value(bytes) = argument else { continue };
            let bits = bytes.iter().rev().fold(0, |bits, &byte| bits << 8 | u128::from(byte));
            let number = body.constant(body.ty(parameter), bits);
            numbers.record_replacement(parameter, number);
        }
        numbers.apply_to(body);
        let choices = |function: &Function| {
            function.layout.iter().filter(|&&block| function.blocks[block].terminator.selector().is_some()).count()
        };
        let before = (choices(body), body.layout.len());
        let constants = find_constants(body, |inst_data| match inst_data {
            InstData::Query { query: Query::GlobalId | Query::LocalId | Query::GroupId, .. } if alone => Some(0),
            _ => None,
        });
        sccp_apply(body, &constants);
        join_blocks(body);
        simplify_function(body);
        remove_dead_code(body);
        (ways, gone) = (ways + before.0 - choices(body), gone + before.1 - body.layout.len());
        if let Err(errors) = verify_module(&module, Stage::Imported) {
            panic!("seed {seed}: {}\nfrom\n{}\nto\n{module}", errors[0], g.module);
        }
        let now = result(&module, &g, &format!("seed {seed}, folded"));
        assert!(now == expected, "seed {seed}: other results\nfrom\n{}\nto\n{module}", g.module);
    }
    assert!(count < 100 || ways as u64 > count, "of {count} kernels only {ways} choices were constants");
    assert!(count < 100 || gone as u64 > 2 * count, "{gone} blocks of {count} kernels are gone");
}

/// Whole, or cut at barriers and in normal form, which stays one.
#[test]
fn simpler_kernels_keep_the_meaning() {
    let seeds = seeds(1000);
    let (count, mut gone) = (seeds.end - seeds.start, 0);
    for seed in seeds {
        let g = random_kernel(seed, Shape { unstructured: seed % 3 == 0, ..Shape::default() });
        let expected = result(&g.module, &g, &format!("seed {seed}"));
        let mut module = g.module.clone();
        let stage = if seed % 2 == 0 { Stage::Imported } else { Stage::Normalized };
        if stage == Stage::Normalized {
            module.kernels[0].regions.values_mut().for_each(|function| _ = make_reducible(function));
            cut_at_barriers(&mut module.kernels[0]);
            module.kernels[0].regions.values_mut().for_each(normalize_function);
        }
        for function in module.kernels[0].regions.values_mut() {
            let insts = |function: &Function| {
                function.layout.iter().map(|&block| function.blocks[block].insts.len()).sum::<usize>()
            };
            let before = insts(function);
            simplify_function(function);
            gone += before - insts(function);
        }
        if let Err(errors) = verify_module(&module, stage) {
            panic!("seed {seed}: {}\nfrom\n{}\nto\n{module}", errors[0], g.module);
        }
        let now = result(&module, &g, &format!("seed {seed}, simpler"));
        assert!(now == expected, "seed {seed}: other results\nfrom\n{}\nto\n{module}", g.module);
    }
    assert!(count < 100 || gone as u64 > count, "of {count} kernels only {gone} operations are gone");
}

#[test]
fn text_keeps_the_meaning() {
    for seed in 0..200 {
        let g = random_kernel(seed, Shape::default());
        let printed = g.module.to_string();
        let again = parse_module(&printed).unwrap_or_else(|error| panic!("seed {seed}: {error}\n{printed}"));
        assert_eq!(again.to_string(), printed, "seed {seed}");
        assert_eq!(result(&again, &g, "parsed"), result(&g.module, &g, "original"), "seed {seed}");
    }
}

/// The generator makes what it promises.
#[test]
fn kernels_have_every_shape() {
    let (mut exits, mut nested, mut in_loops, mut returns, mut switches) = (0, 0, 0, 0, 0);
    for seed in 0..300 {
        let g = random_kernel(seed, Shape::default());
        let function = g.module.kernels[0].body();
        let flow_graph = build_cfg(function);
        let loop_forest = find_loops(&flow_graph, &compute_dominators(&flow_graph));
        assert!(loop_forest.irreducible_edges().is_empty());
        exits += usize::from(loop_forest.iter().any(|(_, loop_data)| loop_data.exits.len() > 1));
        nested += usize::from(loop_forest.iter().any(|(_, loop_data)| loop_data.depth > 1));
        let has_barrier =
            |block| function.blocks[block].insts.iter().any(|&i: &_| function.insts[i].data == InstData::Barrier);
        in_loops +=
            usize::from(function.layout.iter().any(|&block| loop_forest.loop_depth(block) > 0 && has_barrier(block)));
        returns += usize::from(
            function.layout.iter().filter(|&&block| function.blocks[block].terminator == Terminator::Return).count()
                > 1,
        );
        switches += usize::from(
            function.layout.iter().any(|&block| matches!(function.blocks[block].terminator, Terminator::Switch { .. })),
        );
    }
    let counts = [exits, nested, in_loops, returns, switches];
    assert!(counts.iter().all(|&n| n > 30), "{counts:?}");
}

/// Without their barriers many kernels mean something else, so a lost one is noticed.
#[test]
fn barriers_matter() {
    let mut differ = 0;
    for seed in 0..300 {
        let g = random_kernel(seed, Shape::default());
        let mut module = g.module.clone();
        let function = module.kernels[0].body_mut();
        for block in function.layout.clone() {
            let instructions = std::mem::take(&mut function.blocks[block].insts);
            function.blocks[block].insts =
                instructions.into_iter().filter(|&i| function.insts[i].data != InstData::Barrier).collect();
        }
        differ += usize::from(result(&module, &g, "without barriers") != result(&g.module, &g, "original"));
    }
    assert!(differ > 40, "only {differ} of 300");
}

/// What one seed gives never changes within a version: failures can be run again.
#[test]
fn seeds_are_reproducible() {
    let text = |seed| random_kernel(seed, Shape::default()).module.to_string();
    assert_eq!(text(5), text(5));
    assert_ne!(text(5), text(6));
}
