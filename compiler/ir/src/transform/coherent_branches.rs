//! Copies of costly code behind divergent branches, for gangs all of whose lanes go there.
//!
//! Requires: a function in normal form, what diverges in it, and a divergent branch that all lanes run together.
//! Ensures: normal form, with questions to all lanes (`Stage::Versioned`). A uniform branch leads to the copy where all
//! lanes want to go to a target of the divergent branch, and to that branch otherwise. Each work-item does what it did.
//! Phases: the blocks that the target dominates, where they lead, what their masks cost; the copy; normal form.
//! Source: Sun et al. 2019, as told in Moll 2021, section 9.2: the BOSCC gadget's counterpart, whose code needs no
//! predicates.
//!
//! ```text
//! a: br c, b(x…), d          a:    br any(!c), some, b'(x…)
//! b: …                  =>   some: br c, b(x…), d
//!    jump j(v…)              b:    … jump j(v…)
//!                            b':   … jump j(v'…)
//! ```

use super::boscc;
use super::unmasked_loops::{self, Known};
use crate::analysis::cost;
use crate::analysis::loops::Loop;
use crate::ir::*;
use crate::transform::copy::{Copies, copy_blocks};
use crate::transform::normalize::normalize_function;
use lockstep_protocol::types::Type;
use std::fmt;

/// The instructions that a copy may have.
const MOST: usize = 300;

/// What masks have to cost for a copy to pay: a test and a branch.
const LEAST: u64 = 8;

/// The same where lanes part at a place only, as in `if (i < n)`, so that nearly all gangs agree: with masks of AVX, of which
/// a store takes 3.6 ns more than without (AMD Zen 3). Those of AVX-512 take hardly longer.
const LEAST_AT_PLACE: u64 = 1;

/// What masks have to cost of it all, in percent: lanes may not agree, and the code grows.
const SHARE: u64 = 15;

/// A target of a divergent branch that gets a copy.
pub struct Plan {
    from: Block,
    target: usize,
    inside: Vec<Block>,
    /// What masks cost there.
    gain: u64,
    /// What it all costs with that.
    cost: u64,
    /// What masks have to cost at least.
    least: u64,
}

/// How the target of a divergent branch gets a copy, if it can. Loops in the copy get versions if `allows_loops`.
pub fn plan_copy(
    function: &Function,
    function_facts: Known<'_>,
    source: Block,
    target: usize,
    allows_loops: bool,
) -> Option<Plan> {
    let Known { cfg, dominators, forest, found, registers, .. } = function_facts;
    if found.divergent_blocks.contains(source) || !found.divergent_branches.contains(source) {
        return None;
    }
    let Terminator::Branch { then_to, else_to, .. } = &function.blocks[source].terminator else { return None };
    let arm_block = [then_to, else_to][target].block;
    if forest.with_header(arm_block).is_some() || then_to.block == else_to.block {
        return None;
    }
    let boscc::Arm { inside, exits } = boscc::find_arm(cfg, dominators, forest, arm_block).ok()?;
    // Where both ways of the branch meet there is no arm.
    if inside.contains(&source) || exits.contains(&source) {
        return None;
    }
    let instruction_count: usize = inside.iter().map(|&block| function.blocks[block].insts.len()).sum();
    if !(1..=MOST).contains(&instruction_count) {
        return None;
    }
    let inside: Vec<Block> = cfg.reverse_post_order().iter().copied().filter(|block| inside.contains(block)).collect();
    // What is in a loop that lanes leave one by one has masks all the same, unless the loop has a version.
    let divergent =
        |&loop_id: &Loop| inside.contains(&forest.get(loop_id).header) && found.divergent_loops.contains(loop_id);
    let around = |block: Block| forest.loops_around(block).filter(divergent).last();
    let others: Vec<Block> = inside.iter().copied().filter(|&block| around(block).is_none()).collect();
    let parameters = exits.iter().flat_map(|&exit_block| &function.blocks[exit_block].params);
    let selects: u64 = parameters.map(|&parameter| registers.registers_for(function.ty(parameter))).sum();
    let mut gain = selects.saturating_add(function_facts.masks_of(function, arm_block, &others));
    for &header in inside.iter().filter(|&&block| allows_loops && around(block) == forest.with_header(block)) {
        let Some(loop_id) = forest.with_header(header) else { continue };
        if let Ok(version) = unmasked_loops::plan_version(function, function_facts, loop_id)
            && version.check_profitable().is_ok()
        {
            let rounds = cost::estimate_frequency(forest, header) / cost::estimate_frequency(forest, arm_block).max(1);
            gain = gain.saturating_add(version.saved_per_iteration().saturating_mul(rounds));
        }
    }
    let cost = gain.saturating_add(function_facts.cost_of(function, arm_block, &inside));
    let at_place = cost::follows_from_place(function, &function.blocks[source].terminator, &found.shapes)
        && registers.bits() < 512;
    let least_gain = if at_place { LEAST_AT_PLACE } else { LEAST };
    Some(Plan { from: source, target, inside, gain, cost, least: least_gain })
}

impl fmt::Display for Plan {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "saves {} of {}", self.gain, self.cost)
    }
}

impl Plan {
    /// Whether the copy is expected to pay.
    pub fn is_profitable(&self) -> bool {
        self.gain >= self.least && self.gain.saturating_mul(100) >= self.cost.saturating_mul(SHARE)
    }

    /// Makes the copy; the answer is the block that ends in the divergent branch now, and the first one of the copy.
    pub fn make_copy(&self, function: &mut Function) -> (Block, Block) {
        let copies = copy_blocks(function, &self.inside, &Copies::default());
        let some_block = function.add_block();
        function.end_locs[some_block] = function.end_locs[self.from];
        let terminator = std::mem::replace(&mut function.blocks[self.from].terminator, Terminator::Unreachable);
        function.blocks[some_block].terminator = terminator.clone();
        let first_block = copies.block_copy(self.inside[0]);
        let Terminator::Branch { condition, then_to, else_to } = terminator else { return (some_block, first_block) };
        let if_true = function.constant(Type::BOOL, 1);
        let target = if self.target == 0 { then_to } else { else_to };
        let mut builder = Builder::at_end_of(function, self.from);
        let goes_elsewhere =
            if self.target == 0 { builder.binary(BinaryOp::Xor, condition, if_true) } else { condition };
        let any_lane = builder.any(goes_elsewhere);
        builder.branch(any_lane, (some_block, &[]), (first_block, &target.arguments));
        normalize_function(function);
        (some_block, first_block)
    }
}
