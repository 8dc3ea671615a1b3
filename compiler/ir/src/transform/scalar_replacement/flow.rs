//! The control flow of a region that questions go along, and how far they may go.
//!
//! Requires: a region in normal form, and the branches at which lanes part.
//! Ensures: blocks outside of `dependent_blocks` are the paper's CDRND; all questions together look at a constant times as many accesses as
//! the region has.
//! Phases: graph, loops, post-dominators and accesses; what depends on divergent branches, and on branches there.
//! Source: Fukuhara & Takimoto 2021, section 5.1; Ferrante, Ottenstein & Warren 1987, for control dependence.

use super::memory_events::{Memory, Place};
use crate::analysis::cfg::{Cfg, build_cfg};
use crate::analysis::dominators::{Dominators, compute_dominators};
use crate::analysis::loops::{Loops, find_loops};
use crate::analysis::post_dominators::{PostDominators, post_dominators};
use crate::analysis::underlying_objects::Origins;
use crate::ir::{Block, Function};
use cranelift_entity::EntitySet;
use std::cell::Cell;

/// Events that all questions together look at for each of the region, and for the region itself.
const VISITS_OF_EVENT: usize = 96;
const VISITS_OF_REGION: usize = 4096;

/// A region's edges, loops and accesses. Its blocks stay as they are while questions are asked.
pub(super) struct Flow<'a> {
    pub(super) edges: Cfg,
    pub(super) dominators: Dominators,
    pub(super) loops: Loops,
    pub(super) memory: Memory,
    /// The blocks with a branch that may send lanes different ways.
    pub(super) divergent_branches: &'a EntitySet<Block>,
    /// The blocks that depend on such a branch, also by way of others: all but the paper's CDRND.
    pub(super) dependent_blocks: EntitySet<Block>,
    /// Where paths meet again.
    ends: PostDominators,
    visits_left: Cell<usize>,
}

impl<'a> Flow<'a> {
    pub(super) fn of_region(
        function: &Function,
        origins: &Origins,
        divergent_branches: &'a EntitySet<Block>,
    ) -> Flow<'a> {
        let edges = build_cfg(function);
        let dominators = compute_dominators(&edges);
        let loops = find_loops(&edges, &dominators);
        let memory = Memory::of_region(function, origins);
        let event_count: usize = function.layout.iter().map(|&block| memory.events[block].len()).sum();
        let ends = post_dominators(&edges);
        Flow {
            dependent_blocks: find_dependent_blocks(function, &edges, &ends, divergent_branches),
            ends,
            visits_left: Cell::new(VISITS_OF_REGION + VISITS_OF_EVENT * event_count),
            edges,
            dominators,
            loops,
            memory,
            divergent_branches,
        }
    }

    /// Takes the events of a block from what questions may look at; false if there is not so much left.
    pub(super) fn spend_visit(&self, block: Block) -> bool {
        let cost = 1 + self.memory.events[block].len();
        let left = self.visits_left.get().checked_sub(cost);
        self.visits_left.set(left.unwrap_or(0));
        left.is_some()
    }

    /// Whether all that tells a place is there at the end of a block.
    pub(super) fn is_known_at_end(&self, function: &Function, block: Block, place: &Place) -> bool {
        place.leaves().all(|leaf| {
            self.memory.home_of(function, leaf).is_none_or(|(home, _)| {
                self.dominators.dominates(home, block)
                    && self.loops.loops_around(home).all(|around| self.loops.contains(around, block))
            })
        })
    }

    /// Whether a block is control-dependent on another one: a choice there decides whether it runs.
    pub(super) fn is_control_dependent(&self, block: Block, branch_block: Block) -> bool {
        let follows = |&successor: &Block| self.ends.post_dominates(block, successor);
        self.edges.successors(branch_block).iter().any(follows)
            && (block == branch_block || !self.ends.post_dominates(block, branch_block))
    }

    /// Whether an edge leaves a loop, so that what is computed in the loop goes through a parameter.
    pub(super) fn leaves_loop(&self, source: Block, target: Block) -> bool {
        self.loops.innermost_loop(source).is_some_and(|around| !self.loops.contains(around, target))
    }
}

/// The blocks that are control-dependent on divergent branches, or on branches in such blocks.
fn find_dependent_blocks(
    function: &Function,
    edges: &Cfg,
    ends: &PostDominators,
    divergent_branches: &EntitySet<Block>,
) -> EntitySet<Block> {
    let mut dependent_blocks = EntitySet::new();
    let mut worklist: Vec<Block> =
        function.layout.iter().copied().filter(|&block| divergent_branches.contains(block)).collect();
    while let Some(branch_block) = worklist.pop() {
        let join_block = ends.immediate_post_dominator(branch_block);
        for &successor in edges.successors(branch_block) {
            let mut block = Some(successor);
            while block != join_block
                && let Some(dependent) = block
                && dependent_blocks.insert(dependent)
            {
                if function.blocks[dependent].terminator.selector().is_some() {
                    worklist.push(dependent);
                }
                block = ends.immediate_post_dominator(dependent);
            }
        }
    }
    dependent_blocks
}
