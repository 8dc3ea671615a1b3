//! Branches that skip what no lane wants to run ("branch on superword condition code").
//!
//! Requires: uniform loops (what `divergent_loops` leaves); the divergent branches; shapes of values as
//! they were before.
//! Ensures: an arm, which is a block that only some lanes run and all that it dominates, stands behind a gate if it costs
//! enough: a uniform branch that goes past it where no lane comes. Each work-item does what it did; it never goes past.
//! Phases: per arm the blocks that it is, where they lead, what they cost; then the gates; then all ways into arms
//! lead to their gates.
//! Source: Moll 2021, section 9.2. There the gadget stands before the divergent branch; here it stands in
//! the target, behind the fold, so that both targets can have one, and an arm with several ways in has one for all of them.
//! Where an arm leads to several blocks, a divergent branch that no lane reaches leads past it to all of them:
//! linearization has them run in turn.
//!
//! ```text
//! a: br c, b(x…), d          a:    br c, gate, d
//! b: …                  =>   gate: br any(true), b(x…), past
//!    br e, j(v…), k(w…)      past: br false, j(0…), k(0…)
//!                            b:    … br e, j(v…), k(w…)
//! ```

use crate::analysis::cfg::Cfg;
use crate::analysis::cost::{self, Lanes};
use crate::analysis::dominators::Dominators;
use crate::analysis::loops::Loops;
use crate::analysis::no_wrap_stride::find_no_wrap_strides;
use crate::analysis::predicates::{self, ControlFlow};
use crate::analysis::shape::Shape;
use crate::ir::*;
use crate::target::Registers;
use crate::transform::divergent_loops::UniformLoops;
use crate::transform::linearize::long_switches::long_switches;
use cranelift_entity::packed_option::PackedOption;
use cranelift_entity::{EntitySet, SecondaryMap};
use lockstep_protocol::configuration::Versions;
use lockstep_protocol::types::Type;
use std::fmt;

/// What an arm has to cost a gang for a gate to pay: a test and a branch that is hard to predict.
const LEAST: u64 = 40;

/// Instructions of a kernel from which on a gate has to save more, as many times as the kernel is longer: what a gate
/// leads past is merged a second time behind it, and registers are found for that in code that is long already.
const LONG: usize = 500;

/// Blocks to which an arm may lead: each has its values merged behind a gate.
const MOST_EXITS: usize = 8;

/// Why an arm that costs enough has no gate.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Refusal {
    /// It ends the kernel, or never ends.
    NoExit,
    /// It leads to more blocks than [`MOST_EXITS`].
    ManyExits,
    /// It leads out of the loop that it is in, or ends its iteration.
    LeavesLoop,
    /// Of a long switch it has comparisons, but not the cases, which are asked for where they stand.
    PartOfSwitch,
    /// What it computes is used where only lanes in an endless loop come that did not run it.
    Used,
}

impl fmt::Display for Refusal {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Refusal::NoExit => "the arm leads nowhere",
            Refusal::ManyExits => "the arm leads to too many places",
            Refusal::LeavesLoop => "the arm leads out of a loop or back to its begin",
            Refusal::PartOfSwitch => "the arm is a part of a long switch",
            Refusal::Used => "its values are used behind an endless loop",
        })
    }
}

/// A block and all that it dominates.
pub(super) struct Arm<'a> {
    pub inside: &'a [Block],
    /// Where these lead.
    pub exits: Vec<Block>,
}

/// Puts gates in front of costly arms. The control flow is as it is then, and divergent branches that lead past arms are
/// in the set. The answer: each costly arm's first block, and why it has no gate if it has none.
pub fn insert_gates(
    function: &mut Function,
    uniform: &mut UniformLoops,
    divergent: &mut EntitySet<Block>,
    shapes: &SecondaryMap<Value, Shape>,
    registers: Registers,
    gates: Versions,
) -> Vec<(Block, Result<(), Refusal>)> {
    let instructions: usize = function.layout.iter().map(|&block| function.blocks[block].insts.len()).sum();
    let least_cost = match gates {
        Versions::Never => return Vec::new(),
        Versions::WherePays => LEAST * (instructions / LONG).max(1) as u64,
        Versions::Always => 0,
    };
    let control_flow = &uniform.control_flow;
    let no_wrap_strides =
        find_no_wrap_strides(function, control_flow.cfg.reverse_post_order(), shapes, registers.width);
    let lane_facts = Lanes { shapes, lines: &no_wrap_strides, rows: None, rewritten: None };
    let block_lanes = control_flow.with_divergent(divergent).lanes_of_blocks();
    let switches = long_switches(function, &control_flow.with_divergent(divergent));
    let used_blocks = used_elsewhere(function, control_flow);
    let is_part_of_switch = |first_block: Block, arm: &Arm<'_>| {
        let ways = arm.inside.iter().copied().filter(|&block| switches.ways[block].is_some());
        let is_plain = arm.exits.len() == 1 && control_flow.cfg.predecessors(first_block).len() == 1;
        !is_plain && has_edge_out(function, &control_flow.dominators, first_block, ways)
    };
    let refusal = |first_block: Block, arm: &Arm<'_>| match arm.inside.iter().any(|&block| used_blocks.contains(block))
    {
        true => Some(Refusal::Used),
        false => is_part_of_switch(first_block, arm).then_some(Refusal::PartOfSwitch),
    };
    let mut costs: SecondaryMap<Block, u64> = SecondaryMap::new();
    for &block in control_flow.cfg.reverse_post_order() {
        costs[block] = function.blocks[block]
            .insts
            .iter()
            .map(|&instruction| cost::gang_cost(function, instruction, lane_facts, registers))
            .sum();
    }
    let mut candidates = Vec::new();
    for &first_block in control_flow.cfg.reverse_post_order() {
        let is_header = control_flow.loops.with_header(first_block).is_some();
        if block_lanes[first_block] != predicates::Lanes::Of(first_block)
            || is_header
            || uniform.guarded.contains(first_block)
        {
            continue;
        }
        if function.blocks[first_block].params.iter().any(|parameter| uniform.tracked.contains_key(parameter)) {
            continue;
        }
        let inside = control_flow.dominators.dominated_blocks(first_block);
        if cost_of(&control_flow.loops, inside, &costs) < least_cost {
            continue;
        }
        let arm = find_arm(&control_flow.cfg, &control_flow.dominators, &control_flow.loops, first_block);
        candidates.push((first_block, arm.and_then(|arm| refusal(first_block, &arm).map_or(Ok(arm.exits), Err))));
    }
    let mut gates = Gates::default();
    let mut arms = Vec::new();
    for (first_block, exits) in candidates {
        arms.push((
            first_block,
            exits.map(|exits| gates.add_gate(function, &control_flow.cfg, first_block, exits, divergent)),
        ));
    }
    if gates.redirect_to_gates(function) {
        uniform.guarded.extend(arms.iter().filter(|(_, outcome)| outcome.is_ok()).map(|&(first_block, _)| first_block));
        uniform.control_flow = ControlFlow::analyze_function(function);
    }
    arms
}

/// Whether an edge leads from one of some blocks to one that another block does not dominate.
fn has_edge_out(
    function: &Function,
    dominators: &Dominators,
    first_block: Block,
    mut blocks: impl Iterator<Item = Block>,
) -> bool {
    let leaves = |target: &BlockCall| !dominators.dominates(first_block, target.block);
    blocks.any(|block| function.blocks[block].terminator.targets().into_iter().any(leaves))
}

/// The blocks whose values are used where they need not have run: behind an endless loop, which nobody leaves.
fn used_elsewhere(function: &Function, control_flow: &ControlFlow) -> EntitySet<Block> {
    let mut home_blocks: SecondaryMap<Inst, PackedOption<Block>> = SecondaryMap::new();
    for &block in control_flow.cfg.reverse_post_order() {
        function.blocks[block].insts.iter().for_each(|&instruction| home_blocks[instruction] = block.into());
    }
    let home_of = |value: Value| match function.values[value].definition {
        ValueDef::Result(instruction, _) => home_blocks[instruction].expand(),
        ValueDef::Param(source, _) => Some(source),
        ValueDef::Const(_) => None,
    };
    let mut used_blocks = EntitySet::new();
    for &block in control_flow.cfg.reverse_post_order() {
        let runs_before = |source: Block| control_flow.dominators.dominates(source, block);
        let note_use = |value: Value| used_blocks.extend(home_of(value).filter(|&source| !runs_before(source)));
        function.for_each_use_in(block, note_use);
    }
    used_blocks
}

/// The blocks that one block dominates, and those where they lead.
pub(super) fn find_arm<'a>(
    flow_graph: &Cfg,
    dominators: &'a Dominators,
    loop_forest: &Loops,
    first_block: Block,
) -> Result<Arm<'a>, Refusal> {
    let inside = dominators.dominated_blocks(first_block);
    let mut exits = Vec::new();
    for &block in inside {
        let successors = flow_graph.successors(block);
        if successors.is_empty() {
            return Err(Refusal::NoExit);
        }
        for &target in successors.iter().filter(|&&target| !dominators.dominates(first_block, target)) {
            if loop_forest.innermost_loop(first_block) != loop_forest.innermost_loop(target)
                || loop_forest.with_header(target).is_some()
            {
                return Err(Refusal::LeavesLoop);
            }
            if !exits.contains(&target) {
                exits.push(target);
            }
        }
        if exits.len() > MOST_EXITS {
            return Err(Refusal::ManyExits);
        }
    }
    if exits.is_empty() { Err(Refusal::NoExit) } else { Ok(Arm { inside, exits }) }
}

/// What blocks cost each time the first of them runs, by what each costs when it runs.
fn cost_of(loop_forest: &Loops, inside: &[Block], costs: &SecondaryMap<Block, u64>) -> u64 {
    let entry_frequency = inside.first().map_or(1, |&first_block| cost::estimate_frequency(loop_forest, first_block));
    let cost_per_entry = |&block: &Block| {
        costs[block].saturating_mul(cost::estimate_frequency(loop_forest, block) / entry_frequency.max(1))
    };
    inside.iter().map(cost_per_entry).fold(0, u64::saturating_add)
}

/// The gates of a function, while ways into arms do not lead to them yet.
#[derive(Default)]
struct Gates {
    /// The gate of the arm that begins with a block.
    of: SecondaryMap<Block, PackedOption<Block>>,
    all: Vec<Block>,
}

impl Gates {
    fn add_gate(
        &mut self,
        function: &mut Function,
        flow_graph: &Cfg,
        first_block: Block,
        exits: Vec<Block>,
        divergent: &mut EntitySet<Block>,
    ) {
        let gate = function.add_block();
        // The values of the only way in need not go through the gate.
        let arguments = match only_way_in(function, flow_graph, first_block) {
            Some(arguments) => arguments,
            None => {
                let types: Vec<Type> =
                    function.blocks[first_block].params.iter().map(|&parameter| function.ty(parameter)).collect();
                types.into_iter().map(|parameter_type| function.add_param(gate, parameter_type)).collect()
            }
        };
        let if_true = function.constant(Type::BOOL, 1);
        let mut past_block = function.add_block();
        let mut builder = Builder::at_end_of(function, gate);
        let any_lane = builder.any(if_true);
        builder.branch(any_lane, (first_block, &arguments), (past_block, &[]));
        let Some((&last_block, others)) = exits.split_last() else { return };
        for &exit_block in others {
            // No edge is critical.
            let [way_block, next_block] = [function.add_block(), function.add_block()];
            let if_false = function.constant(Type::BOOL, 0);
            Builder::at_end_of(function, past_block).branch(if_false, (way_block, &[]), (next_block, &[]));
            divergent.insert(past_block);
            let zeros = zeros_for(function, exit_block);
            Builder::at_end_of(function, way_block).jump(exit_block, &zeros);
            past_block = next_block;
        }
        let zeros = zeros_for(function, last_block);
        Builder::at_end_of(function, past_block).jump(last_block, &zeros);
        self.of[first_block] = gate.into();
        self.all.push(gate);
    }

    /// Has all ways into arms lead to their gates; whether there are any.
    fn redirect_to_gates(self, function: &mut Function) -> bool {
        for block in function.layout.clone() {
            let mut terminator = function.blocks[block].terminator.clone();
            let mut changed = false;
            for target in terminator.targets_mut() {
                let Some(gate) = self.of[target.block].expand().filter(|&gate| gate != block) else { continue };
                target.block = gate;
                if function.blocks[gate].params.is_empty() {
                    target.arguments.clear();
                }
                changed = true;
            }
            if changed {
                function.blocks[block].terminator = terminator;
            }
        }
        !self.all.is_empty()
    }
}

/// What the only edge to a block brings; none: there are several.
fn only_way_in(function: &Function, flow_graph: &Cfg, block: Block) -> Option<Vec<Value>> {
    let &[before] = flow_graph.predecessors(block) else { return None };
    let mut edges = function.blocks[before].terminator.targets().into_iter().filter(|target| target.block == block);
    let edge = edges.next()?;
    edges.next().is_none().then(|| edge.arguments.clone())
}

fn zeros_for(function: &mut Function, block: Block) -> Vec<Value> {
    let types: Vec<Type> = function.blocks[block].params.iter().map(|&parameter| function.ty(parameter)).collect();
    types.into_iter().map(|value_type| function.constant(value_type, 0)).collect()
}
