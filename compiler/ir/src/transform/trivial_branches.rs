//! Uniform branches that are not worth a branch.
//!
//! Requires: uniform loops (what `divergent_loops` leaves); the divergent branches.
//! Ensures: of the branches that only some lanes run, those between whose ways there is nothing to skip are
//! in the set of those to fold. A gang would ask its active lanes which way to go, only to meet again.
//! Phases: which blocks run for some lanes only; per branch there, whether both ways lead to one block with
//! no instruction between.
//! Source: none; what Moll 2021, chapter 8, keeps because it is uniform is kept for the work it skips.

use crate::analysis::cfg::Cfg;
use crate::analysis::predicates::{ControlFlow, Lanes};
use crate::ir::{Block, Function, Terminator};
use cranelift_entity::EntitySet;

/// Adds the branches that are not worth keeping to those that are folded.
pub fn trivial_branches(function: &Function, control_flow: &ControlFlow, divergent: &mut EntitySet<Block>) {
    let block_lanes = control_flow.with_divergent(divergent).lanes_of_blocks();
    let (flow_graph, loop_forest) = (&control_flow.cfg, &control_flow.loops);
    let end_of = |block: Block| way_end(function, flow_graph, block);
    for &block in flow_graph.reverse_post_order() {
        let Terminator::Branch { then_to, else_to, .. } = &function.blocks[block].terminator else { continue };
        let ways_meet = end_of(then_to.block) == end_of(else_to.block);
        if ways_meet && block_lanes[block] != Lanes::All && loop_forest.with_header(end_of(then_to.block)).is_none() {
            divergent.insert(block);
        }
    }
}

/// Where a way that begins with a block leads: past the block, if it does nothing and no other way comes there.
fn way_end(function: &Function, flow_graph: &Cfg, block: Block) -> Block {
    let block_data = &function.blocks[block];
    match &block_data.terminator {
        Terminator::Jump(target) if block_data.insts.is_empty() && flow_graph.predecessors(block).len() == 1 => {
            target.block
        }
        _ => block,
    }
}
