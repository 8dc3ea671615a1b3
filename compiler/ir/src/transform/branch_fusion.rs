//! Branches whose sides do nearly the same: what both sides do is merged.
//!
//! Requires: a function in normal form, what diverges in it, and a divergent branch.
//! Ensures: normal form. Where it pays, the branch is gone: one instruction stands for two of one operation, with a select for
//! each operand that the sides have not in common, and what only one side does stands between. Each work-item does what it did, in
//! the same order. Lanes never access memory in another way than before: no addresses are selected that lay side by side.
//! Phases: the sides, block by block ([`arms`]); what may be merged ([`merging`]) and what is the same on both sides
//! ([`same_values`]); what it saves, and the best alignment of both sides' instructions ([`scoring`], [`alignment`]);
//! the merged code ([`rewriting`]).
//! Source: Coutinho, Sampaio, Pereira & Meira 2011, section 4.1, whose sides are single blocks.
//!
//! ```text
//! a: br c, b, d               a: x = select c, x1, x2
//! b: t1 = op x1               =>  t = op x
//!    u1 = op' t1, y               u = op' t, y
//!    jump j(u1)                   jump j(u)
//! d: t2 = op x2
//!    u2 = op' t2, y
//!    jump j(u2)
//! ```

use crate::analysis::cost;
use crate::analysis::divergence::Divergence;
use crate::analysis::points_to::find_pointees;
use crate::ir::*;
use crate::transform::normalize::normalize_function;
use crate::transform::unmasked_loops::Known;
use arms::{Arms, find_arms};
use cranelift_entity::EntitySet;
use merging::Operations;
use rewriting::merge_sides;
use same_values::SameValues;
use scoring::{Alignment, SideCosts, Sides, find_alignment};
use std::fmt;

mod alignment;
mod arms;
mod merging;
mod rewriting;
mod same_values;
mod scoring;

/// Pairs of instructions and parameters that are looked at of one branch: time and memory grow with them.
const MOST_PAIRS: usize = 1 << 16;

/// The instructions and parameters of both sides.
const MOST_INSTRUCTIONS: usize = 1024;

/// What a fusion has to save a gang at least.
const LEAST: u64 = 8;

/// What it has to save, in percent of what both sides cost, where one costs so much that gangs skip it if no lane comes
/// there ([`COSTLY`]): a gang all of whose lanes go one way pays for the other one's selects.
const SHARE: u64 = 20;

/// What a side costs from which on gangs skip it (`boscc`).
const COSTLY: u64 = 40;

/// Why a divergent branch is not fused.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Refusal {
    /// Its sides do not meet in one block.
    Exits,
    /// Blocks and edges of one side do not correspond to those of the other.
    Shape,
    /// There are so many instructions to compare with each other, or more than [`MOST_INSTRUCTIONS`].
    Size(usize),
    /// An atomic or volatile access, a fence, a call, or a question to other lanes would be crossed.
    Ordered,
    /// A side writes a private variable of which all lanes share one: what the other side's lanes left there would be read.
    SharedSlot,
    /// Neighbouring work-items go the same way, so few gangs run both sides.
    ByPlace,
    /// So much would be saved of so much.
    Cost(i64, u64),
    /// What comes out would cost more than the branch, by its accesses or loops.
    Outcome,
}

impl fmt::Display for Refusal {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Refusal::Exits => formatter.write_str("the sides do not meet in one place"),
            Refusal::Shape => formatter.write_str("the sides have branches or loops that do not correspond"),
            Refusal::Size(instructions) => write!(formatter, "there are {instructions} instructions to compare"),
            Refusal::Ordered => formatter.write_str("a side has an operation that others must not pass"),
            Refusal::SharedSlot => formatter.write_str("a side writes a private variable that all lanes share"),
            Refusal::ByPlace => formatter.write_str("neighbouring work-items go the same way"),
            Refusal::Cost(saved, of) => write!(formatter, "it would save {saved} of {of}"),
            Refusal::Outcome => formatter.write_str("accesses or loops of what comes out would cost more"),
        }
    }
}

/// What is known of the lanes beside what differs between them.
#[derive(Clone, Copy)]
pub struct LaneFacts<'a> {
    /// What differs between the lanes of a tile's row, if gangs are tiles.
    pub rows: Option<&'a Divergence>,
    /// The private slots of which all lanes share one.
    pub shared_slots: &'a EntitySet<Slot>,
}

/// How a branch is fused.
pub struct Plan {
    arms: Arms,
    alignment: Alignment,
    costs: SideCosts,
    counts: [usize; 2],
}

impl fmt::Display for Plan {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Plan { alignment, counts: [then_count, else_count], .. } = self;
        let merged = alignment.merges.len();
        write!(formatter, "{merged} of {then_count} and {else_count} instructions, profit {}", alignment.profit)
    }
}

/// Plans the fusion of the branch at a block's end. Nothing: no branch whose two sides have instructions of their own.
/// With `always`, wherever it is possible.
///
/// The function gets no more than constants.
pub fn plan_fusion(
    function: &mut Function,
    known: Known<'_>,
    lane_facts: LaneFacts<'_>,
    branch_block: Block,
    always: bool,
) -> Option<Result<Plan, Refusal>> {
    let arms = match find_arms(function, known.cfg, known.dominators, branch_block)? {
        Ok(arms) => arms,
        Err(refusal) => return Some(Err(refusal)),
    };
    Some(plan_arms(function, known, lane_facts, arms, always))
}

fn plan_arms(
    function: &mut Function,
    known: Known<'_>,
    lane_facts: LaneFacts<'_>,
    arms: Arms,
    always: bool,
) -> Result<Plan, Refusal> {
    let mut instructions = Vec::new();
    let (mut counts, mut pair_count, mut size) = ([0, 0], 0usize, 0usize);
    for pair in &arms.pairs {
        let blocks = [pair.then_block, pair.else_block].map(|block| &function.blocks[block]);
        let lengths = blocks.map(|block| block.insts.len() + block.params.len());
        pair_count = pair_count.saturating_add(lengths[0].saturating_mul(lengths[1]));
        size += lengths[0] + lengths[1];
        counts = [counts[0] + blocks[0].insts.len(), counts[1] + blocks[1].insts.len()];
        instructions.extend(blocks.into_iter().flat_map(|block| block.insts.iter().copied()));
    }
    if instructions.iter().any(|&inst| is_ordered(&function.insts[inst].data)) {
        return Err(Refusal::Ordered);
    }
    if writes_shared_slot(function, &instructions, lane_facts.shared_slots) {
        return Err(Refusal::SharedSlot);
    }
    if pair_count > MOST_PAIRS || size > MOST_INSTRUCTIONS {
        return Err(Refusal::Size(size));
    }
    let terminator = &function.blocks[arms.branch_block].terminator;
    if !always && cost::follows_from_place(function, terminator, &known.found.shapes) {
        return Err(Refusal::ByPlace);
    }
    let operations = Operations::of_instructions(function, &instructions);
    let own_values = arms.find_own_values(function);
    let sides = Sides {
        function,
        known,
        rows: lane_facts.rows,
        arms: &arms,
        own_values: &own_values,
        operations: &operations,
        always,
    };
    let costs = SideCosts::price_sides(&sides);
    let same_values = SameValues::find_pairs(function, &arms, &operations);
    let alignment = find_alignment(&sides, &costs, &same_values);
    let plan = Plan { arms, alignment, costs, counts };
    if plan.alignment.merges.is_empty() || !always && !plan.is_profitable() {
        return Err(Refusal::Cost(plan.alignment.profit, plan.cost()));
    }
    Ok(plan)
}

/// Whether others must not pass an instruction, or what it does depends on which lanes come with it.
fn is_ordered(inst_data: &InstData) -> bool {
    match inst_data {
        InstData::Load { access, .. } | InstData::Store { access, .. } => access.volatile || access.atomic.is_some(),
        InstData::MemCopy { volatile, .. } | InstData::MemSet { volatile, .. } => *volatile,
        _ => inst_data.has_effect() || inst_data.needs_lanes(),
    }
}

/// Whether some instructions may write to one of these slots.
fn writes_shared_slot(function: &Function, instructions: &[Inst], shared_slots: &EntitySet<Slot>) -> bool {
    let written_addresses = instructions.iter().filter_map(|&inst| match function.insts[inst].data {
        InstData::Store { pointer: address, .. }
        | InstData::MemCopy { destination: address, .. }
        | InstData::MemSet { destination: address, .. } => Some(address),
        _ => None,
    });
    let written_addresses: Vec<Value> = written_addresses.collect();
    if shared_slots.is_empty() || written_addresses.is_empty() {
        return false;
    }
    let pointees = find_pointees(function);
    written_addresses.iter().any(|&address| pointees[address].slots.iter().any(|&slot| shared_slots.contains(slot)))
}

impl Plan {
    /// What both sides cost.
    fn cost(&self) -> u64 {
        self.costs.then_cost.saturating_add(self.costs.else_cost)
    }

    /// Whether the fusion is expected to pay.
    fn is_profitable(&self) -> bool {
        let profit = u64::try_from(self.alignment.profit).unwrap_or(0);
        let is_skipped = self.costs.then_cost.max(self.costs.else_cost) >= COSTLY;
        profit >= LEAST && (!is_skipped || profit.saturating_mul(100) >= self.cost().saturating_mul(SHARE))
    }

    /// Merges the sides.
    pub fn fuse_sides(&self, function: &mut Function) {
        merge_sides(function, &self.arms, &self.alignment, &self.costs);
        normalize_function(function);
    }
}
