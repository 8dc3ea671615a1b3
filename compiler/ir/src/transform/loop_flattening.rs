//! A loop in a loop becomes one loop, in which lanes that have left the inner one begin the next iteration of the outer one while others
//! go on.
//!
//! Requires: a function in normal form, what diverges in it, and in another loop a loop that lanes leave one by one, or that some of them do not enter.
//! Ensures: normal form. A lane that has work runs an iteration of the inner loop in each iteration of the new one, and a lane that has
//! none goes round the outer one for it. Each work-item does what it did, in the same order; lanes of a gang are no more in step than
//! work-items are.
//! Phases: whether the order in which lanes come counts; which blocks follow the inner loop and what is carried through the new one;
//! whether that pays by what was counted ([`gain`]); then the new loop ([`rewriting`]).
//! Source: Bulavintsev 2019, sections II and III; Kennedy 1992 as told there. The form that refills is ours: there lanes that find no
//! work in one iteration of the outer loop wait for an iteration of the inner one.
//!
//! ```text
//! pre:     jump a(v0…)                      pre:     jump head(v0…, 0…, false)
//! a(v…):   …  br c, exit(x…), begin         head(…): br in, b(w…, u…), a(v…)
//! begin:   br d, b(w0…), end          =>    a(v…):   …  br c, exit(x…), begin
//! b(w…):   …  br e, end, b(w…)              begin:   br d, b(w0…, u…), end
//! end:     …  jump a(v…)                    b(w…):   …  br e, end', next(w…, u…, true)
//!                                           end':    …  jump next(v…, false)
//!                                           end:     …  jump a(v…), or, in the paper's form, next(v…, false)
//!                                           next(…): jump head(…)
//! ```
//!
//! What comes behind the inner loop stands there twice, for lanes that were in it and for those that were not: so what lanes carry (u) has
//! one definition in each. What the outer loop carries and the inner one does not need has its place where the inner one keeps its own.

use crate::analysis::divergence::Divergence;
use crate::analysis::loops::{Loop, LoopData};
use crate::analysis::predicates::ControlFlow;
use crate::ir::*;
use crate::transform::branch_fusion::{LaneFacts, is_ordered};
use crate::transform::unmasked_loops::Known;
use cranelift_entity::{EntitySet, SecondaryMap};
use lockstep_protocol::loop_profile::LoopCounts;
use std::fmt;

mod gain;
mod rewriting;

/// The instructions that both loops may have.
const MOST_INSTRUCTIONS: usize = 200;

/// The values that the new loop may carry: each takes registers in all of it.
const MOST_CARRIED: usize = 12;

/// Instructions behind the inner loop that lanes without work run again and again.
const MOST_REPEATED: usize = 16;

/// When loops are flattened.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Flattening {
    /// Wherever it is possible.
    Always,
    /// Where it pays by what was counted of both loops.
    Counted {
        /// The loop in the other one.
        inner: LoopCounts,
        /// The loop around it.
        outer: LoopCounts,
    },
}

/// What lanes do that have left the inner loop, or did not enter it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Form {
    /// They go round the outer loop until each has work or has left it; the others wait.
    Refill,
    /// They go round the outer loop once for each iteration of the inner one.
    InTurn,
}

/// Why a loop in a loop stays there.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Refusal {
    /// The loops have so many instructions.
    Size(usize),
    /// So many values would be carried.
    Carried(usize),
    /// It counts in which order lanes come, or which come together.
    Ordered,
    /// They write a private variable of which all lanes share one.
    SharedSlot,
    /// The outer loop ran less than two iterations on average, so lanes without work found none in the next one.
    Once,
    /// So many lanes of so many were at work in an iteration of the inner loop, on average, and idle ones have to be more for a gain.
    AtWork(u64, u32),
}

impl fmt::Display for Refusal {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Refusal::Size(instructions) => write!(formatter, "the loops have {instructions} instructions"),
            Refusal::Carried(values) => write!(formatter, "{values} values would be carried"),
            Refusal::Ordered => formatter.write_str("the loops have an operation of which the order counts"),
            Refusal::SharedSlot => formatter.write_str("the loops write a private variable that all lanes share"),
            Refusal::Once => formatter.write_str("the outer loop has less than two iterations"),
            Refusal::AtWork(lanes, of) => write!(formatter, "{lanes} of {of} lanes were at work"),
        }
    }
}

/// How a loop in a loop is flattened.
#[derive(Debug)]
pub struct Plan {
    form: Form,
    outer: Ends,
    inner: Ends,
    /// The inner loop's blocks.
    inner_blocks: Vec<Block>,
    /// The blocks of the outer loop that follow the inner one, each behind those that dominate it.
    following: Vec<Block>,
    /// What is defined in the outer loop before the inner one and used in that or behind it.
    kept: Vec<Value>,
}

/// The blocks where a loop begins.
#[derive(Clone, Copy, Debug)]
struct Ends {
    preheader: Block,
    header: Block,
    latch: Block,
}

impl fmt::Display for Plan {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self.form {
            Form::Refill => "idle lanes go on until all have work",
            Form::InTurn => "idle lanes go on once in each iteration",
        })
    }
}

/// Plans the flattening of a loop in which lanes may be idle into the one around it. Nothing: it is in none.
pub fn plan_flattening(
    function: &Function,
    known: Known<'_>,
    lane_facts: &LaneFacts<'_>,
    inner: Loop,
    flattening: Flattening,
) -> Option<Result<Plan, Refusal>> {
    let outer = known.forest.get(inner).parent?;
    let [outer_ends, inner_ends] = [find_ends(known, outer)?, find_ends(known, inner)?];
    let nest = NestedLoops { function, known, outer, inner, outer_ends, inner_ends };
    Some(nest.plan_nest(lane_facts, flattening))
}

/// Whether lanes that run an iteration of the loop around a loop may have nothing to do in this one while others run it: they leave it before
/// these, or do not enter it.
pub fn are_lanes_idle(control_flow: &ControlFlow, divergence: &Divergence, inner: Loop) -> bool {
    let ControlFlow { dominators, loops, iterations, .. } = control_flow;
    let LoopData { header, parent, .. } = loops.get(inner);
    let Some(outer) = *parent else { return false };
    let mut before = dominators.immediate_dominator(*header);
    while let Some(block) = before.filter(|&block| loops.contains(outer, block)) {
        if divergence.divergent_branches.contains(block) && !iterations.post_dominates(*header, block) {
            return true;
        }
        before = dominators.immediate_dominator(block);
    }
    divergence.divergent_loops.contains(inner)
}

/// The ends of a loop in normal form.
fn find_ends(known: Known<'_>, loop_id: Loop) -> Option<Ends> {
    let loop_data = known.forest.get(loop_id);
    let is_outside = |block: &&Block| !known.forest.contains(loop_id, **block);
    let &preheader = known.cfg.predecessors(loop_data.header).iter().find(is_outside)?;
    let &[latch] = &loop_data.latches[..] else { return None };
    Some(Ends { preheader, header: loop_data.header, latch })
}

/// A loop and the one around it.
struct NestedLoops<'a> {
    function: &'a Function,
    known: Known<'a>,
    outer: Loop,
    inner: Loop,
    outer_ends: Ends,
    inner_ends: Ends,
}

impl NestedLoops<'_> {
    fn plan_nest(&self, lane_facts: &LaneFacts<'_>, flattening: Flattening) -> Result<Plan, Refusal> {
        let NestedLoops { function, known, outer, inner, outer_ends, inner_ends } = *self;
        let outer_blocks = &known.forest.get(outer).blocks;
        let size = outer_blocks.iter().map(|&block| function.blocks[block].insts.len() + 1).sum();
        if size > MOST_INSTRUCTIONS {
            return Err(Refusal::Size(size));
        }
        let instructions: Vec<Inst> =
            outer_blocks.iter().flat_map(|&block| function.blocks[block].insts.iter().copied()).collect();
        if instructions.iter().any(|&instruction| is_ordered(&function.insts[instruction].data)) {
            return Err(Refusal::Ordered);
        }
        if lane_facts.write_shared_slot(function, &instructions) {
            return Err(Refusal::SharedSlot);
        }
        let following = self.find_following_blocks();
        let kept = self.find_kept_values(&following);
        let form = if self.is_soon_repeated(&following) { Form::Refill } else { Form::InTurn };
        let inner_blocks = known.forest.get(inner).blocks.clone();
        let plan = Plan { form, outer: outer_ends, inner: inner_ends, inner_blocks, following, kept };
        let carried = plan.assign_places(function).count_values();
        if carried > MOST_CARRIED {
            return Err(Refusal::Carried(carried));
        }
        match flattening {
            Flattening::Counted { outer, .. } if self.count_outer_iterations(outer) < 2 * outer.entries => {
                Err(Refusal::Once)
            }
            Flattening::Counted { inner, outer } if !self.are_enough_idle(inner, outer, carried) => {
                let lanes_at_work = inner.lane_iterations / inner.gang_iterations.max(1);
                Err(Refusal::AtWork(lanes_at_work, known.registers.width))
            }
            _ => Ok(plan),
        }
    }

    /// The blocks of the outer loop to which the inner one leads before the outer one's next iteration.
    fn find_following_blocks(&self) -> Vec<Block> {
        let Known { cfg, forest, .. } = self.known;
        let is_next = |block: Block| block != self.outer_ends.header && forest.contains(self.outer, block);
        let mut found = EntitySet::new();
        let mut worklist: Vec<Block> = forest.get(self.inner).exits.iter().map(|&(_, target)| target).collect();
        while let Some(block) = worklist.pop() {
            if is_next(block) && found.insert(block) {
                worklist.extend(cfg.successors(block));
            }
        }
        forest.get(self.outer).blocks.iter().copied().filter(|&block| found.contains(block)).collect()
    }

    /// What is defined in an iteration of the outer loop before the inner one and used in that or in the blocks that follow it.
    fn find_kept_values(&self, following: &[Block]) -> Vec<Value> {
        let Known { forest, .. } = self.known;
        let is_before = |&&block: &&Block| !forest.contains(self.inner, block) && !following.contains(&block);
        let before: Vec<Block> = forest.get(self.outer).blocks.iter().filter(is_before).copied().collect();
        let mut is_defined_before: SecondaryMap<Value, bool> = SecondaryMap::new();
        for block in before {
            let block_data = &self.function.blocks[block];
            let results = block_data.insts.iter().flat_map(|&inst| &self.function.insts[inst].results);
            block_data.params.iter().chain(results).for_each(|&value| is_defined_before[value] = true);
        }
        let mut kept = Vec::new();
        for &block in forest.get(self.inner).blocks.iter().chain(following) {
            self.function.for_each_use_in(block, |value| {
                if std::mem::take(&mut is_defined_before[value]) {
                    kept.push(value);
                }
            });
        }
        kept
    }

    /// Whether lanes that find no work may run what follows the inner loop again and again: it is short and changes nothing.
    fn is_soon_repeated(&self, following: &[Block]) -> bool {
        let mut instructions = following.iter().flat_map(|&block| &self.function.blocks[block].insts);
        instructions.clone().count() <= MOST_REPEATED
            && instructions.all(|&instruction| !self.function.insts[instruction].data.has_effect())
    }
}

#[cfg(test)]
mod tests;
