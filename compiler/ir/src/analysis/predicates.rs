//! Which blocks run for the same lanes.
//!
//! Requires: graph, dominators and loops of a function in normal form; the blocks whose branches are
//! divergent; no branch that leaves a loop is divergent in relation to the loop's header.
//! Ensures: two blocks with the same [`Lanes`] run for the same lanes whenever both run. Blocks with
//! `Lanes::All` run for all lanes or not at all.
//! Phases: post-dominators of the graph of one iteration, in which only latches leave a loop, as the lanes
//! of a uniform loop leave it together; then block after block.
//! Source: Moll 2021, sections 8.6 (uniform predicates) and 9.1; masks are reset where a block
//! post-dominates its immediate dominator, as in Karrenberg & Hack 2012, section 3.1.

use super::cfg::{Cfg, build_cfg, build_graph};
use super::dominators::{Dominators, compute_dominators};
use super::loops::{Loop, LoopData, Loops, find_loops};
use super::post_dominators::{PostDominators, post_dominators};
use crate::ir::{Block, Function};
use cranelift_entity::{EntitySet, SecondaryMap};

/// The lanes for which a block runs.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Lanes {
    /// All of them.
    #[default]
    All,
    /// Those of this block, which depend on divergent branches.
    Of(Block),
}

/// A function's loops and post-dominators within an iteration.
pub struct Iterations {
    ends: PostDominators,
}

impl Iterations {
    /// Computes post-dominators within an iteration.
    pub fn new(edges: &Cfg, loop_forest: &Loops) -> Iterations {
        let mut inner: Vec<(Block, Block)> = Vec::with_capacity(2 * edges.reverse_post_order().len());
        for &block in edges.reverse_post_order() {
            let successors = edges.successors(block).iter().copied();
            let Some(loop_id) = loop_forest.innermost_loop(block) else {
                inner.extend(successors.map(|target| (block, target)));
                continue;
            };
            let LoopData { header, parent, exits, .. } = loop_forest.get(loop_id);
            let stays = |&target: &Block| target != *header && loop_forest.contains(loop_id, target);
            inner.extend(successors.filter(stays).map(|target| (block, target)));
            if edges.successors(block).contains(header) {
                let leads_on =
                    |&exit_block: &Block| parent.is_none_or(|outer_loop| loop_forest.contains(outer_loop, exit_block));
                inner.extend(
                    exits
                        .iter()
                        .map(|&(_, exit_block)| exit_block)
                        .filter(leads_on)
                        .map(|exit_block| (block, exit_block)),
                );
            }
        }
        Iterations {
            ends: post_dominators(&build_graph(
                edges.block_count(),
                edges.reverse_post_order().first().copied(),
                &inner,
            )),
        }
    }

    /// The next block through which all come that come through this one, in the same iteration.
    pub fn immediate_post_dominator(&self, block: Block) -> Option<Block> {
        self.ends.immediate_post_dominator(block)
    }

    /// Whether all come through a block that come through another one, in the same iteration.
    pub fn post_dominates(&self, block: Block, other_block: Block) -> bool {
        self.ends.post_dominates(block, other_block)
    }
}

#[cfg(test)]
thread_local! {
    /// How often control flow was analysed.
    pub(crate) static ANALYSED: std::cell::Cell<usize> = const { std::cell::Cell::new(0) };
}

/// A function's control flow as it is.
pub struct ControlFlow {
    /// The edges between its blocks.
    pub cfg: Cfg,
    /// The dominators of its blocks.
    pub dominators: Dominators,
    /// The loops that its blocks form.
    pub loops: Loops,
    /// Post-dominators within an iteration.
    pub iterations: Iterations,
}

impl ControlFlow {
    /// Analyses the control flow of a function.
    pub fn analyze_function(function: &Function) -> ControlFlow {
        #[cfg(test)]
        ANALYSED.set(ANALYSED.get() + 1);
        let flow_graph = build_cfg(function);
        let dominators = compute_dominators(&flow_graph);
        let loop_forest = find_loops(&flow_graph, &dominators);
        let iterations = Iterations::new(&flow_graph, &loop_forest);
        ControlFlow { cfg: flow_graph, dominators, loops: loop_forest, iterations }
    }

    /// What [`Graph`] is asked where these branches are divergent.
    pub fn with_divergent<'a>(&'a self, divergent: &'a EntitySet<Block>) -> Graph<'a> {
        let ControlFlow { cfg, dominators, loops, iterations } = self;
        Graph { cfg, dominators, loops, iterations, divergent }
    }
}

/// What the analysis looks at.
pub struct Graph<'a> {
    /// The edges between its blocks.
    pub cfg: &'a Cfg,
    /// The dominators of its blocks.
    pub dominators: &'a Dominators,
    /// The loops that its blocks form.
    pub loops: &'a Loops,
    /// Post-dominators within an iteration.
    pub iterations: &'a Iterations,
    /// The blocks whose branches may send lanes different ways.
    pub divergent: &'a EntitySet<Block>,
}

impl Graph<'_> {
    /// The lanes of each block of the function.
    pub fn lanes_of_blocks(&self) -> SecondaryMap<Block, Lanes> {
        let mut block_lanes = SecondaryMap::with_capacity(self.cfg.block_count());
        self.lanes_of(self.cfg.reverse_post_order(), &mut block_lanes);
        block_lanes
    }

    /// Writes the lanes of each block of a loop, among those that are in its header.
    pub fn lanes_in(&self, loop_id: Loop, block_lanes: &mut SecondaryMap<Block, Lanes>) {
        self.lanes_of(&self.loops.get(loop_id).blocks, block_lanes);
    }

    /// The block before `block` that runs for the same lanes, if the graph tells of one.
    pub fn same_as(&self, block: Block) -> Option<Block> {
        let before = self.dominators.immediate_dominator(block)?;
        if let Some(loop_id) = self.loops.with_header(block) {
            let outside = |predecessor: &Block| !self.loops.contains(loop_id, *predecessor);
            return self.cfg.predecessors(block).iter().copied().find(outside);
        }
        let left = self.loops.loops_around(before).take_while(|&loop_id| !self.loops.contains(loop_id, block)).last();
        if let Some(loop_id) = left {
            // All lanes in the loop leave it together, so whoever was in its header comes here.
            let header = self.loops.get(loop_id).header;
            let inside =
                self.cfg.predecessors(block).iter().all(|&predecessor| self.loops.contains(loop_id, predecessor));
            return (inside || self.iterations.ends.post_dominates(block, header)).then_some(header);
        }
        self.iterations.ends.post_dominates(block, before).then_some(before)
    }

    /// The block from which all lanes come that run a block, if a uniform branch of the same loop is the only way there:
    /// who runs both runs both together. Such a branch stays one: what it leads to lies right behind it.
    pub fn only_way_in(&self, block: Block) -> Option<Block> {
        let &[before] = self.cfg.predecessors(block) else { return None };
        let same_loop = self.loops.innermost_loop(before) == self.loops.innermost_loop(block);
        (same_loop && !self.divergent.contains(before)).then_some(before)
    }

    fn lanes_of(&self, blocks: &[Block], block_lanes: &mut SecondaryMap<Block, Lanes>) {
        let Some((&first_block, others)) = blocks.split_first() else { return };
        block_lanes[first_block] = Lanes::All;
        for &block in others {
            block_lanes[block] = match self.same_as(block) {
                Some(before) => block_lanes[before],
                None if let Some(before) = self.only_way_in(block) => block_lanes[before],
                None => {
                    let uniform = |&predecessor: &Block| {
                        block_lanes[predecessor] == Lanes::All && !self.divergent.contains(predecessor)
                    };
                    let all_uniform = self.cfg.predecessors(block).iter().all(uniform);
                    if all_uniform { Lanes::All } else { Lanes::Of(block) }
                }
            };
        }
    }
}
