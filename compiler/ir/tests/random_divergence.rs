//! What the divergence analysis says of random kernels holds when the interpreter runs them; and normal
//! form keeps their meaning.

use lockstep_ir::analysis::cfg::build_cfg;
use lockstep_ir::analysis::divergence::{Divergence, Facts, analyze_divergence};
use lockstep_ir::analysis::dominators::compute_dominators;
use lockstep_ir::analysis::loops::{Loop, Loops, find_loops};
use lockstep_ir::analysis::shape::Shape;
use lockstep_ir::interp::{Memory, Observer, STEP_LIMIT, run_kernel, run_observed};
use lockstep_ir::ir::*;
use lockstep_ir::testing::{self, Generated, random_kernel};
use lockstep_ir::transform::barriers::cut_at_barriers;
use lockstep_ir::transform::normalize::normalize_function;
use lockstep_ir::verify::{Stage, verify_module};
use lockstep_protocol::launch_facts::LaunchFacts;
use lockstep_protocol::types::{Space, Type};
use std::collections::HashMap;

/// A gang in one visit of a region: group, row of the group, gang in the row, how many regions came before.
type Gang = ([u64; 3], [u64; 3], u64);

/// A block and the iterations of the loops around it: what lanes execute together.
type Instance = (Gang, Block, Vec<u32>);

/// Where one work-item is.
#[derive(Default)]
struct Way {
    visits: u64,
    at: Option<Block>,
    iterations: Vec<u32>,
}

struct Check<'a> {
    kernel: &'a Kernel,
    width: u64,
    found: Vec<(Divergence, Loops)>,
    ways: HashMap<([u64; 3], [u64; 3]), Way>,
    /// Per instance the first lane that was seen with its values, and how many lanes there were.
    instances: HashMap<Instance, (u64, Vec<u128>, u64)>,
    /// Per gang how many lanes run its region, and which region that is.
    lanes: HashMap<Gang, (u64, Region)>,
    /// How lanes left a loop that they are said to leave together.
    left: HashMap<(Gang, Loop, Vec<u32>), (u32, Block)>,
    errors: Vec<String>,
    uniform: u64,
}

impl Check<'_> {
    fn value(&mut self, function: &Function, value: Value, shape: Shape, first: (u64, u128), this: (u64, u128)) {
        let Shape::Strided { stride, align } = shape else { return };
        // Each work-item has its own copy of a private object: only offsets compare.
        let private = matches!(function.ty(value), Type::Ptr(Space::Private | Space::Generic));
        let mask = if private { u128::from(u32::MAX) } else { function.ty(value).value_mask() };
        let zero =
            |(lane, bits): (u64, u128)| bits.wrapping_sub((i128::from(stride) * i128::from(lane)) as u128) & mask;
        let aligned = private || zero(this).is_multiple_of(u128::from(align));
        if zero(first) != zero(this) || !aligned {
            self.errors.push(format!("{value} is {first:x?} and {this:x?}, not {shape}"));
        }
        self.uniform += u64::from(first.0 != this.0);
    }
}

impl Observer for Check<'_> {
    fn after_block(&mut self, group: [u64; 3], local: [u64; 3], region: Region, block: Block, values: &[u128]) {
        let kernel = self.kernel;
        let function = &kernel.regions[region];
        let (divergence, loop_forest) = &self.found[region.as_u32() as usize];
        let (divergence, loop_forest) = (divergence.clone(), loop_forest.clone());
        let mut way = self.ways.remove(&(group, local)).unwrap_or_default();
        let lane = local[0] % self.width;
        if block == function.entry_block() {
            way.visits += 1;
            way.at = None;
            way.iterations.clear();
        }
        let gang = (group, [local[0] / self.width, local[1], local[2]], way.visits);
        if block == function.entry_block() {
            self.lanes.entry(gang).or_insert((0, region)).0 += 1;
        }
        let around = |block: Block| {
            let mut loops: Vec<Loop> = loop_forest.loops_around(block).collect();
            loops.reverse();
            loops
        };
        if let Some(source) = way.at {
            let (before, after) = (around(source), around(block));
            for (index, &loop_id) in before.iter().enumerate().filter(|(_, loop_id)| !after.contains(loop_id)) {
                if !divergence.divergent_loops.contains(loop_id) {
                    let how = (way.iterations[index], block);
                    let first = *self.left.entry((gang, loop_id, way.iterations[..index].to_vec())).or_insert(how);
                    if first != how {
                        self.errors.push(format!("{loop_id} is left by {first:?} and {how:?}"));
                    }
                }
            }
            way.iterations.truncate(before.iter().filter(|loop_id| after.contains(loop_id)).count());
            match loop_forest.with_header(block) {
                Some(loop_id) if before.contains(&loop_id) => *way.iterations.last_mut().unwrap() += 1,
                Some(_) => way.iterations.push(0),
                None => {}
            }
        }
        way.at = Some(block);
        let instance = (gang, block, way.iterations.clone());
        self.ways.insert((group, local), way);

        let block_data = &function.blocks[block];
        let mut defined = block_data.params.clone();
        block_data.insts.iter().for_each(|&instruction| defined.extend(&function.insts[instruction].results));
        let selector = block_data.terminator.selector();
        let mut here: Vec<u128> = defined.iter().map(|value| values[value.as_u32() as usize]).collect();
        here.extend(selector.map(|value| values[value.as_u32() as usize]));
        let (first, others, count) = self.instances.entry(instance).or_insert((lane, here.clone(), 0));
        *count += 1;
        let (first, others) = (*first, others.clone());
        if selector.is_some() && !divergence.divergent_branches.contains(block) && others.last() != here.last() {
            self.errors.push(format!("the branch of {region}, {block} is divergent"));
        }
        for (index, &value) in defined.iter().enumerate() {
            self.value(function, value, divergence.shapes[value], (first, others[index]), (lane, here[index]));
        }
    }
}

/// The kernel of a seed, cut and in normal form.
fn normal(g: &Generated, seed: u64) -> Module {
    let mut module = g.module.clone();
    cut_at_barriers(&mut module.kernels[0]);
    module.kernels[0].regions.values_mut().for_each(normalize_function);
    if let Err(errors) = verify_module(&module, Stage::Normalized) {
        panic!("seed {seed}: {}\nfrom\n{}\nto\n{module}", errors[0], g.module);
    }
    module
}

/// Checks one kernel with gangs of `gang_width`; how many values were compared between lanes.
fn check(g: &Generated, module: &Module, gang_width: u32, seed: u64) -> u64 {
    let kernel = &module.kernels[0];
    let range = LaunchFacts::of_range(g.range.global_offset, g.range.global_size, g.range.local_size);
    let mut gang_facts = Facts::new(module, kernel, gang_width).of_launch(kernel, &range);
    let w = u64::from(gang_width);
    let one_group = g.range.num_groups()[0] == 1;
    if g.range.global_offset[0].is_multiple_of(w) && (one_group || g.range.local_size[0].is_multiple_of(w)) {
        gang_facts.group_align = w;
    }
    let last = |dimension: usize| g.range.global_offset[dimension] + g.range.global_size[dimension] - 1;
    gang_facts.max_global_id = last(0).max(last(1)).max(last(2));
    let gang_facts = gang_facts.of_kernel(kernel);
    let found = kernel.regions.values().map(|function| {
        let flow_graph = build_cfg(function);
        let loop_forest = find_loops(&flow_graph, &compute_dominators(&flow_graph));
        (analyze_divergence(function, &gang_facts, &flow_graph, &loop_forest), loop_forest)
    });
    let mut check = Check {
        kernel,
        width: w,
        found: found.collect(),
        ways: HashMap::new(),
        instances: HashMap::new(),
        lanes: HashMap::new(),
        left: HashMap::new(),
        errors: Vec::new(),
        uniform: 0,
    };
    let mut memory = Memory::new(g.buffers.clone());
    run_observed(module, "random", &g.range, &g.args, &mut memory, STEP_LIMIT, &mut check).unwrap();
    for ((gang, block, iterations), (.., count)) in &check.instances {
        let (lanes, region) = check.lanes[gang];
        let some = check.found[region.as_u32() as usize].0.divergent_blocks.contains(*block);
        if !some && *count != lanes {
            check.errors.push(format!("{region}, {block} {iterations:?} runs for {count} of {lanes} lanes"));
        }
    }
    assert!(check.errors.is_empty(), "seed {seed}, width {gang_width}: {}\n{module}", check.errors[0]);
    check.uniform
}

fn seeds(count: u64) -> std::ops::Range<u64> {
    let given = std::env::var("LOCKSTEP_TEST_SEEDS").ok();
    let range = given.and_then(|text| {
        let (from, to) = text.split_once("..")?;
        Some(from.parse().ok()?..to.parse().ok()?)
    });
    range.unwrap_or(0..count)
}

fn check_all(seeds: std::ops::Range<u64>, shape: testing::Shape) {
    let (mut compared, count) = (0, seeds.end - seeds.start);
    for seed in seeds {
        let g = random_kernel(seed, shape);
        let module = normal(&g, seed);
        let result = |module: &Module| {
            let mut memory = Memory::new(g.buffers.clone());
            run_kernel(module, "random", &g.range, &g.args, &mut memory).unwrap();
            memory.buffers
        };
        assert!(result(&module) == result(&g.module), "seed {seed}: other results\nfrom\n{}\nto\n{module}", g.module);
        for gang_width in [2, 4, 8] {
            compared += check(&g, &module, gang_width, seed);
        }
    }
    assert!(compared > 200 * count, "only {compared} values compared");
}

#[test]
fn shapes_hold_in_structured_kernels() {
    check_all(seeds(400), testing::Shape::default());
}

#[test]
fn shapes_hold_in_any_graph() {
    check_all(seeds(200), testing::Shape { unstructured: true, depth: 3, ..testing::Shape::default() });
}
