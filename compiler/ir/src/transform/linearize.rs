//! Partial linearization: divergent branches are folded, so that a gang goes one way; uniform ones stay.
//!
//! Requires: what `divergent_loops` leaves.
//! Ensures: `Stage::Linearized`. Every block that a lane executed before, the gang executes, in an order that
//! keeps each lane's, with a mask that holds for exactly those lanes; blocks that all lanes execute or none
//! have no mask. No branch is added. Uniform branches in blocks without a mask stay, and so do those that
//! are uniform in relation to a block that dominates the edge.
//! Phases: the block index, in which ways to cases of long switches move ([`long_switches`]); new successors for each block
//! in this order ([`skeleton`]); then masks and
//! block parameters, as assignments to variables, block after block ([`masks`]); terminators.
//! Source: Moll 2021, chapter 8 (Listing 8) and appendix B.

pub(super) mod long_switches;
pub mod masks;
mod skeleton;
mod variable;

use super::divergent_loops::Tracked;
use crate::analysis::block_index::block_index;
use crate::analysis::predicates::ControlFlow;
use crate::ir::{Block, Function};
use cranelift_entity::EntitySet;

/// Folds the divergent branches and gives blocks their masks.
pub fn linearize_function(
    function: &mut Function,
    control_flow: &ControlFlow,
    divergent: &EntitySet<Block>,
    tracked: &Tracked,
) {
    function.layout.retain(|&block| control_flow.cfg.is_reachable(block));
    let graph = control_flow.with_divergent(divergent);
    let switches = long_switches::long_switches(function, &graph);
    let block_order = switches
        .move_ways_to_cases(function, block_index(&control_flow.cfg, &control_flow.dominators, &control_flow.loops));
    let skeleton = skeleton::draw_skeleton(function, &graph, &block_order);
    masks::apply_masks(function, &graph, tracked, &switches, &block_order, &skeleton);
    function.layout = block_order;
}
