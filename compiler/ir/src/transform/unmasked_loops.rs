//! A version of a divergent loop that runs as long as no lane has left it.
//!
//! Requires: a function in normal form, what diverges in it, and a divergent loop that all lanes enter together.
//! Ensures: normal form, with questions to all lanes (`Stage::Versioned`). Before the loop stands a copy of it, all of
//! whose iterations are run by all lanes: no mask changes in it, nothing is kept for lanes that wait. Where lanes want to
//! leave it, all go over into the loop itself. Each work-item does what it did, but may begin an iteration twice up
//! to the exit, if that has no effect.
//! Phases: where lanes leave, and how to go over from there; whether it pays; the copy; normal form.
//! Source: Moll 2021, section 9.1, makes loops uniform at the price that this avoids; Sun et al. 2019, as told there in
//! section 9.2, for code that is run where all lanes are active.
//!
//! ```text
//! head(i):  …                        head'(i'): …
//!           br c, exit(x), body                 br any(c'), over, body'
//! body:     … jump head(j)     =>    body':     … jump head'(j')
//!                                    over:      jump head(i')                       the iteration begins again
//!                                           or: br c', exit(x'), rest'(…)           its rest is run for those who stay
//!                                    head(i):   …
//! ```
//!
//! An iteration can begin again if it has done nothing that can be seen. Otherwise a copy of its rest is run, which
//! leads on into the loop. For a loop that is left at its end there is no rest.

use crate::analysis::cfg::Cfg;
use crate::analysis::cost::{self, Lanes};
use crate::analysis::divergence::Divergence;
use crate::analysis::dominators::Dominators;
use crate::analysis::loops::{Loop, Loops};
use crate::analysis::mask_cost::masking_cost;
use crate::analysis::no_wrap_stride::NoWrapStride;
use crate::ir::*;
use crate::target::Registers;
use crate::transform::copy::{Copies, copy_blocks};
use crate::transform::normalize::normalize_function;
use cranelift_entity::{EntitySet, SecondaryMap};
use lockstep_protocol::types::Type;
use std::fmt;

/// The instructions that a version of a loop may have.
const MOST: usize = 400;

/// What has to be saved of an iteration, in percent, for a version to pay: lanes leave one by one in the end, and the
/// code grows.
const LEAST: u64 = 15;

/// What it costs to find out which lanes leave through an exit, and which run what is behind it.
const EXIT: u64 = 4;

/// A rest of so few instructions is run rather than the iteration begun again.
const SHORT: usize = 6;

/// Why a divergent loop has no version without masks.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Refusal {
    /// Lanes come into the loop at different times or not all.
    SomeLanes,
    /// Lanes leave from code that only some of them run, or from an inner loop.
    Exit(Block),
    /// Lanes leave at a switch.
    Switch(Block),
    /// The version would have so many instructions.
    Size(usize),
    /// Per iteration so much would be saved of so much.
    Cost(u64, u64),
}

impl fmt::Display for Refusal {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Refusal::SomeLanes => formatter.write_str("not all lanes enter it together"),
            Refusal::Exit(_) => formatter.write_str("lanes leave it from code that some of them run"),
            Refusal::Switch(_) => formatter.write_str("lanes leave it at a switch"),
            Refusal::Size(insts) => write!(formatter, "it would take {insts} instructions"),
            Refusal::Cost(saved, of) => write!(formatter, "it would save {saved} of {of}"),
        }
    }
}

/// What is known of the function as it is.
#[derive(Clone, Copy)]
pub struct Known<'a> {
    /// The edges between its blocks.
    pub cfg: &'a Cfg,
    /// The dominators of its blocks.
    pub dominators: &'a Dominators,
    /// The loops that its blocks form.
    pub forest: &'a Loops,
    /// What differs between lanes.
    pub found: &'a Divergence,
    /// The lines on which values lie unless an index wraps.
    pub lines: &'a SecondaryMap<Value, Option<NoWrapStride>>,
    /// What gangs are made of.
    pub registers: Registers,
}

/// How a loop gets a version.
pub struct Plan {
    header: Block,
    preheader: Block,
    /// The loop's blocks, each behind those that dominate it.
    blocks: Vec<Block>,
    exits: Vec<Exit>,
    /// What an iteration is saved, and what it costs.
    gain: (u64, u64),
}

/// A block whose branch lanes leave by, and how to go over from its copy.
struct Exit {
    from: Block,
    over: Over,
}

enum Over {
    /// The iteration begins again.
    Again,
    /// These blocks are run, the rest of the iteration.
    Rest(Vec<Block>),
}

impl<'a> Known<'a> {
    fn lane_facts(self) -> Lanes<'a> {
        Lanes { shapes: &self.found.shapes, lines: self.lines, rows: None, rewritten: None }
    }

    /// Whether all lanes that entered the function enter a loop, and together.
    pub fn is_entered_by_all(self, loop_id: Loop) -> bool {
        let outside = |predecessor: &&Block| !self.forest.contains(loop_id, **predecessor);
        let mut predecessors = self.cfg.predecessors(self.forest.get(loop_id).header).iter().filter(outside);
        predecessors.all(|&predecessor| !self.found.divergent_blocks.contains(predecessor))
    }

    /// What blocks cost a gang for each time that one of them, `once_block`, is run, if they need no masks.
    pub fn cost_of(self, function: &Function, once_block: Block, blocks: &[Block]) -> u64 {
        let cost_of_inst = |instruction| cost::gang_cost(function, instruction, self.lane_facts(), self.registers);
        self.sum_of(once_block, blocks, |block| function.blocks[block].insts.iter().copied().map(cost_of_inst).sum())
    }

    /// What masks cost in blocks for each time that one of them, `once_block`, is run.
    pub fn masks_of(self, function: &Function, once_block: Block, blocks: &[Block]) -> u64 {
        let mask_cost = |instruction| masking_cost(function, instruction, self.lane_facts(), self.registers);
        self.sum_of(once_block, blocks, |block| function.blocks[block].insts.iter().copied().map(mask_cost).sum())
    }

    /// The sum over blocks for each time that one of them, `once_block`, is run.
    pub fn sum_of(self, once_block: Block, blocks: &[Block], cost_of_block: impl Fn(Block) -> u64) -> u64 {
        let frequency_of = |block: Block| {
            cost::estimate_frequency(self.forest, block) / cost::estimate_frequency(self.forest, once_block).max(1)
        };
        blocks
            .iter()
            .map(|&block| cost_of_block(block).saturating_mul(frequency_of(block)))
            .fold(0, u64::saturating_add)
    }
}

/// Finds out how a divergent loop gets a version, if all lanes enter it together.
pub fn plan_version(function: &Function, function_facts: Known<'_>, loop_id: Loop) -> Result<Plan, Refusal> {
    let Known { cfg, dominators, forest, found, .. } = function_facts;
    let loop_data = forest.get(loop_id);
    let header = loop_data.header;
    let inside = |block: Block| forest.contains(loop_id, block);
    let preheader =
        cfg.predecessors(header).iter().copied().find(|&predecessor| !inside(predecessor)).ok_or(Refusal::SomeLanes)?;
    let size_of = |blocks: &[Block]| blocks.iter().map(|&block| function.blocks[block].insts.len() + 1).sum::<usize>();
    let mut copied = size_of(&loop_data.blocks);
    let mut exits: Vec<Exit> = Vec::new();
    for &(source, _) in &loop_data.exits {
        if !found.divergent_branches.contains(source) || exits.iter().any(|exit| exit.from == source) {
            continue;
        }
        if !matches!(function.blocks[source].terminator, Terminator::Branch { .. }) {
            return Err(Refusal::Switch(source));
        }
        // Whoever begins an iteration and has not left comes here.
        let in_every_iteration = loop_data.latches.iter().all(|&latch| dominators.dominates(source, latch));
        if !in_every_iteration || forest.innermost_loop(source) != Some(loop_id) {
            return Err(Refusal::Exit(source));
        }
        let rest = blocks_after(cfg, forest, loop_id, source);
        let before: Vec<Block> = loop_data.blocks.iter().copied().filter(|block| !rest.contains(*block)).collect();
        let rest: Vec<Block> = loop_data.blocks.iter().copied().filter(|&block| rest.contains(block)).collect();
        let instructions = before.iter().flat_map(|&block| &function.blocks[block].insts);
        let is_repeatable = instructions.into_iter().all(|&instruction| !function.insts[instruction].data.has_effect());
        let is_cheap = 4 * function_facts.cost_of(function, header, &before)
            <= function_facts.cost_of(function, header, &loop_data.blocks);
        let over = if is_repeatable && is_cheap && size_of(&rest) > SHORT { Over::Again } else { Over::Rest(rest) };
        if let Over::Rest(rest) = &over {
            copied += size_of(rest);
        }
        exits.push(Exit { from: source, over });
    }
    if copied > MOST {
        return Err(Refusal::Size(copied));
    }
    // Uniform branches leave at once, but not where some lanes have left already.
    if exits.is_empty() {
        return Err(Refusal::Exit(header));
    }
    Ok(Plan {
        header,
        preheader,
        blocks: loop_data.blocks.clone(),
        exits,
        gain: mask_and_wait_cost(function, function_facts, loop_id),
    })
}

/// The blocks of an iteration that come behind a block.
fn blocks_after(flow_graph: &Cfg, loop_forest: &Loops, loop_id: Loop, source: Block) -> EntitySet<Block> {
    let header = loop_forest.get(loop_id).header;
    let mut blocks = EntitySet::new();
    let mut worklist = vec![source];
    while let Some(block) = worklist.pop() {
        for &target in flow_graph.successors(block) {
            if target != header && loop_forest.contains(loop_id, target) && blocks.insert(target) {
                worklist.push(target);
            }
        }
    }
    blocks
}

/// What an iteration of a loop costs more for masks and waiting lanes, and what it costs with that.
fn mask_and_wait_cost(function: &Function, function_facts: Known<'_>, loop_id: Loop) -> (u64, u64) {
    let Known { forest, found, registers, .. } = function_facts;
    let loop_data = forest.get(loop_id);
    // The mask of those in the loop.
    let mut saved = 2 * registers.registers_for(Type::BOOL);
    let mut visited: Vec<Block> = Vec::new();
    for &(source, exit_block) in &loop_data.exits {
        if found.divergent_branches.contains(source) {
            saved += EXIT;
        }
        if !visited.contains(&exit_block) {
            visited.push(exit_block);
            saved += function.blocks[exit_block]
                .params
                .iter()
                .map(|&parameter| 2 * registers.registers_for(function.ty(parameter)))
                .sum::<u64>();
        }
    }
    saved = saved.saturating_add(function_facts.masks_of(function, loop_data.header, &loop_data.blocks));
    (saved, saved.saturating_add(function_facts.cost_of(function, loop_data.header, &loop_data.blocks)))
}

impl fmt::Display for Plan {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        for Exit { from, over } in &self.exits {
            match over {
                Over::Again => write!(formatter, "{from} again, ")?,
                Over::Rest(rest) => {
                    write!(formatter, "{from} rest")?;
                    rest.iter().try_for_each(|block| write!(formatter, " {block}"))?;
                    formatter.write_str(", ")?;
                }
            }
        }
        let (saved, cost) = self.gain;
        write!(formatter, "saves {saved} of {cost}")
    }
}

impl Plan {
    /// What a version saves of an iteration.
    pub fn saved_per_iteration(&self) -> u64 {
        self.gain.0
    }

    /// Whether the version is expected to pay.
    pub fn check_profitable(&self) -> Result<(), Refusal> {
        let (saved, cost) = self.gain;
        if saved.saturating_mul(100) >= cost.saturating_mul(LEAST) { Ok(()) } else { Err(Refusal::Cost(saved, cost)) }
    }

    /// Makes the version; the answer is its header, and the blocks where lanes go over.
    pub fn make_version(&self, function: &mut Function) -> (Block, Vec<Block>) {
        let copies = copy_blocks(function, &self.blocks, &Copies::default());
        let mut terminator = function.blocks[self.preheader].terminator.clone();
        for target in terminator.targets_mut() {
            target.block = copies.block_copy(target.block);
        }
        function.blocks[self.preheader].terminator = terminator;
        let exits = self.exits.iter();
        let over = exits.map(|Exit { from: source, over }| self.go_over(function, &copies, *source, over)).collect();
        normalize_function(function);
        (copies.block_copy(self.header), over)
    }

    /// Leads lanes from the version's copy of an exit into the loop.
    fn go_over(&self, function: &mut Function, copies: &Copies, source: Block, over: &Over) -> Block {
        let current_block = copies.block_copy(source);
        let target = function.add_block();
        let Terminator::Branch { condition, then_to, else_to } = function.blocks[current_block].terminator.clone()
        else {
            return target;
        };
        let leaves_if_true = !self.blocks.iter().any(|&block| copies.block_copy(block) == then_to.block);
        function.blocks[target].terminator = match over {
            Over::Again => {
                let arguments = function.blocks[copies.block_copy(self.header)].params.clone();
                Terminator::Jump(BlockCall { block: self.header, arguments })
            }
            Over::Rest(rest) => {
                copy_blocks(function, rest, copies).terminator_copy(&function.blocks[source].terminator)
            }
        };
        function.end_locs[target] = function.end_locs[source];
        let if_true = function.constant(Type::BOOL, 1);
        let mut builder = Builder::at_end_of(function, current_block);
        let leaves = if leaves_if_true { condition } else { builder.binary(BinaryOp::Xor, condition, if_true) };
        let any_lane = builder.any(leaves);
        let inside_edge = if leaves_if_true { else_to } else { then_to };
        builder.branch(any_lane, (target, &[]), (inside_edge.block, &inside_edge.arguments));
        target
    }
}
