//! Gates in front of uniform loops that a gang may enter with no lane.
//!
//! Requires: a loop that its lanes leave together, in loop-closed SSA, with a preheader; no loop around it that has no gate and may be
//! entered with no lane.
//! Ensures: a gang in which no lane wants the loop goes past it, with zeros for what the loop gives. The loop is as it was: no lane waits
//! in it, and its branches are uniform. Each work-item does what it did; it never goes past.
//! Phases: where the way past leads; the question at the preheader's end. Later, when other gates are there: which of these
//! questions they have answered.
//! Source: Moll 2021, sections 8.3 and 9.2; Karrenberg & Hack 2012, section 3.3.
//!
//! ```text
//! pre:  jump head(v…)          pre:    br any(true), enter, past
//! head: …               =>     enter:  jump head(v…)
//!       br c, exit(x…), …      head:   …  br c, exit(x…), …
//! exit: …                      past:   jump exit(0…)
//!                              exit:   …
//! ```
//!
//! Where a loop has several exits the way past leads to the block where they meet, so that each of them is still for all lanes of the
//! loop.

use super::UniformLoops;
use crate::analysis::loops::Loop;
use crate::analysis::predicates::{ControlFlow, Graph, Lanes};
use crate::ir::*;
use cranelift_entity::{EntitySet, SecondaryMap};
use lockstep_protocol::types::Type;

/// A question for a lane in front of a loop.
pub(super) struct LoopGate {
    /// The block that asks, once the loop's preheader.
    question: Block,
    /// Its last instruction, the question.
    asked: Inst,
    /// The block through which gangs enter the loop that have a lane for it.
    pub entry: Block,
}

/// Puts a gate in front of a uniform loop; none where the loop's exits do not meet.
pub(super) fn add_loop_gate(function: &mut Function, control_flow: &ControlFlow, loop_id: Loop) -> Option<LoopGate> {
    let header = control_flow.loops.get(loop_id).header;
    let is_outside = |block: &&Block| !control_flow.loops.contains(loop_id, **block);
    let &question = control_flow.cfg.predecessors(header).iter().find(is_outside)?;
    let past_target = find_target_past(control_flow, loop_id)?;
    let [entry, past] = [(); 2].map(|()| function.add_block());
    let if_true = function.constant(Type::BOOL, 1);
    let types: Vec<Type> =
        function.blocks[past_target].params.iter().map(|&parameter| function.ty(parameter)).collect();
    let zeros: Vec<Value> = types.into_iter().map(|value_type| function.constant(value_type, 0)).collect();
    let way_in = std::mem::replace(&mut function.blocks[question].terminator, Terminator::Unreachable);
    function.blocks[entry].terminator = way_in;
    let mut builder = Builder::at_end_of(function, question);
    let any_lane = builder.any(if_true);
    builder.branch(any_lane, (entry, &[]), (past, &[]));
    builder.switch_to(past);
    builder.jump(past_target, &zeros);
    let &asked = function.blocks[question].insts.last()?;
    Some(LoopGate { question, asked, entry })
}

/// Where to go past a loop: the first block behind it through which all its lanes come, if that lies in the same iteration of the
/// loop around it. What dominates that block and is not in the loop dominates the loop as well, so only its parameters need values.
fn find_target_past(control_flow: &ControlFlow, loop_id: Loop) -> Option<Block> {
    let ControlFlow { loops, iterations, .. } = control_flow;
    let loop_data = loops.get(loop_id);
    let mut target = iterations.immediate_post_dominator(loop_data.header)?;
    while loops.contains(loop_id, target) {
        target = iterations.immediate_post_dominator(target)?;
    }
    let is_in_iteration = loops.innermost_loop(target) == loop_data.parent && loops.with_header(target).is_none();
    is_in_iteration.then_some(target)
}

/// Whether a lane is active whenever linearized code comes to a block; to a loop's header, from outside of it.
pub(super) fn comes_with_lanes(
    graph: &Graph<'_>,
    block_lanes: &SecondaryMap<Block, Lanes>,
    guarded: &EntitySet<Block>,
    block: Block,
) -> bool {
    let mut block = block;
    while block_lanes[block] != Lanes::All && !guarded.contains(block) {
        match graph.same_as(block).or_else(|| graph.only_way_in(block)) {
            Some(before) => block = before,
            None => return false,
        }
    }
    true
}

/// Takes out the gates of loops to which other gates let no gang without a lane.
pub fn remove_answered_questions(function: &mut Function, uniform: &mut UniformLoops, divergent: &EntitySet<Block>) {
    let graph = uniform.control_flow.with_divergent(divergent);
    let block_lanes = graph.lanes_of_blocks();
    let mut is_changed = false;
    for &LoopGate { question, asked, entry } in &uniform.loop_gates {
        if comes_with_lanes(&graph, &block_lanes, &uniform.guarded, question) {
            function.blocks[question].terminator = function.blocks[entry].terminator.clone();
            function.blocks[question].insts.retain(|&instruction| instruction != asked);
            is_changed = true;
        }
    }
    if is_changed {
        uniform.control_flow = ControlFlow::analyze_function(function);
    }
}
