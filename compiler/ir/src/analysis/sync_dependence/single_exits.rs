//! Blocks behind which lanes stay together until one other block.
//!
//! Requires: a control-flow graph in normal form and its loops.
//! Ensures: for a block the one that all paths from it enter first of those it does not dominate, and the innermost loop around
//! all that it dominates; nothing where paths lead to several such blocks. Not each such block is found.
//! Phases: bottom-up in the dominator tree, the dominance frontier of each block up to [`MOST`] blocks.
//! Source: our own; the frontier as Cytron et al. 1991, section 4.2.

use crate::analysis::cfg::Cfg;
use crate::analysis::dominators::compute_dominators;
use crate::analysis::loops::{Loop, Loops};
use crate::ir::Block;
use cranelift_entity::SecondaryMap;

/// Blocks of a frontier that are kept. Of a longer one nothing is known.
const MOST: usize = 4;

/// Where lanes go that are together in a block, by block.
#[derive(Clone, Debug, Default)]
pub(super) struct SingleExits {
    exits: SecondaryMap<Block, Option<SingleExit>>,
}

/// Where all lanes go that are together in a block.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct SingleExit {
    /// The first block that the other one does not dominate; none if they return before.
    pub block: Option<Block>,
    /// The innermost loop around all blocks that they run until then.
    pub around: Option<Loop>,
}

impl SingleExits {
    /// Where lanes go that are together in this block, if it is one place.
    pub fn exit_of(&self, block: Block) -> Option<SingleExit> {
        self.exits[block]
    }
}

/// Finds the exits of all blocks that are reachable.
pub(super) fn find_single_exits(flow_graph: &Cfg, loop_forest: &Loops) -> SingleExits {
    let dominators = compute_dominators(flow_graph);
    let mut frontiers: SecondaryMap<Block, Frontier> = SecondaryMap::with_capacity(flow_graph.block_count());
    let mut around: SecondaryMap<Block, Option<Loop>> = SecondaryMap::with_capacity(flow_graph.block_count());
    for &block in flow_graph.reverse_post_order() {
        around[block] = loop_forest.innermost_loop(block);
    }
    let mut single_exits = SingleExits::default();
    // In this order all that a block dominates comes before it.
    for &block in flow_graph.reverse_post_order().iter().rev() {
        let mut frontier = std::mem::take(&mut frontiers[block]);
        for &target in flow_graph.successors(block) {
            if dominators.immediate_dominator(target) != Some(block) {
                frontier.add_exit(target);
            }
        }
        // Back to a block is not away from it.
        frontier.blocks.retain(|&exit| exit != block);
        if !frontier.is_cut && frontier.blocks.len() < 2 {
            let exit = SingleExit { block: frontier.blocks.first().copied(), around: around[block] };
            single_exits.exits[block] = Some(exit);
        }
        let Some(parent) = dominators.immediate_dominator(block) else { continue };
        around[parent] = common_loop(loop_forest, around[parent], around[block]);
        frontiers[parent].is_cut |= frontier.is_cut;
        for exit in frontier.blocks {
            if dominators.immediate_dominator(exit) != Some(parent) {
                frontiers[parent].add_exit(exit);
            }
        }
    }
    single_exits
}

/// The blocks that a block does not dominate to which those lead that it does.
#[derive(Clone, Debug, Default)]
struct Frontier {
    blocks: Vec<Block>,
    /// Whether there are more than are listed.
    is_cut: bool,
}

impl Frontier {
    fn add_exit(&mut self, exit: Block) {
        if !self.blocks.contains(&exit) {
            match self.blocks.len() < MOST {
                true => self.blocks.push(exit),
                false => self.is_cut = true,
            }
        }
    }
}

/// The innermost loop around two.
fn common_loop(loop_forest: &Loops, mut left: Option<Loop>, mut right: Option<Loop>) -> Option<Loop> {
    while left != right {
        let depth = |loop_id: Option<Loop>| loop_id.map_or(0, |loop_id| loop_forest.get(loop_id).depth);
        let deeper = if depth(left) > depth(right) { &mut left } else { &mut right };
        *deeper = deeper.and_then(|loop_id| loop_forest.get(loop_id).parent);
    }
    left
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::cfg::build_cfg;
    use crate::analysis::loops::find_loops;
    use crate::analysis::testing::{random_dag, random_reducible};

    #[test]
    fn exits_are_what_following_all_edges_finds() {
        let (mut found, mut returning) = (0, 0);
        for seed in 0..600 {
            let size = 3 + seed as usize % 40;
            let function = if seed % 3 == 0 { random_dag(seed, size) } else { random_reducible(seed, size) };
            let flow_graph = build_cfg(&function);
            let dominators = compute_dominators(&flow_graph);
            let loop_forest = find_loops(&flow_graph, &dominators);
            let single_exits = find_single_exits(&flow_graph, &loop_forest);
            for &block in flow_graph.reverse_post_order() {
                let Some(SingleExit { block: exit, around }) = single_exits.exit_of(block) else { continue };
                let inside = dominators.dominated_blocks(block);
                let targets = inside.iter().flat_map(|&block| flow_graph.successors(block));
                let mut outside: Vec<Block> =
                    targets.copied().filter(|&target| !dominators.dominates(block, target)).collect();
                outside.dedup();
                assert!(outside.iter().all(|&target| Some(target) == exit), "seed {seed}, {block}\n{function}");
                assert_eq!(outside.is_empty(), exit.is_none(), "seed {seed}, {block}\n{function}");
                let loops_around = loop_forest.loops_around(block);
                let mut holds_all =
                    loops_around.filter(|&around| inside.iter().all(|&block| loop_forest.contains(around, block)));
                assert_eq!(around, holds_all.next(), "seed {seed}, {block}\n{function}");
                found += usize::from(exit.is_some());
                returning += usize::from(exit.is_none());
            }
        }
        assert!(found > 1000 && returning > 500, "{found} {returning}");
    }
}
