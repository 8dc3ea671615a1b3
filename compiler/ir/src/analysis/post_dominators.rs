//! Post-dominators: which blocks every path from a block to the function's end goes through.
//!
//! Requires: a control-flow graph of the function as it is.
//! Ensures: `ipdom` of each reachable block, `None` standing for the end itself; constant-time
//! `post_dominates`. Where no path leads from a block to an end (endless loops), paths end at the last
//! such block in reverse post-order, as if it could also return; repeated until every block has an end.
//! Phases: blocks at which paths end; the dominator tree of the reversed graph.
//! Source: as the dominator tree.

use super::cfg::Cfg;
use super::dominator_tree::{DominatorTree, build_dominator_tree};
use crate::ir::Block;
use cranelift_entity::SecondaryMap;

/// The tree of immediate post-dominators of the reachable blocks.
#[derive(Clone, Debug)]
pub struct PostDominators {
    /// The reachable blocks in reverse post-order.
    blocks: Vec<Block>,
    /// Node 0 is the end, node `n` the block `blocks[n - 1]`.
    tree: DominatorTree,
    /// A block's node; 0 where no path reaches it.
    number: SecondaryMap<Block, u32>,
}

impl PostDominators {
    /// The immediate post-dominator; `None` where it is the function's end.
    pub fn immediate_post_dominator(&self, block: Block) -> Option<Block> {
        let node = self.tree.immediate_dominator(self.number[block])?;
        Some(self.blocks[node.checked_sub(1)? as usize])
    }

    /// Whether every path from `other_block` to the end goes through `block` (`block` may be `other_block`). False where one of them
    /// cannot be reached from the entry.
    pub fn post_dominates(&self, block: Block, other_block: Block) -> bool {
        let (node, other_node) = (self.number[block], self.number[other_block]);
        node != 0 && other_node != 0 && self.tree.dominates(node, other_node)
    }
}

/// Computes the post-dominators of a function's blocks.
pub fn post_dominators(flow_graph: &Cfg) -> PostDominators {
    let blocks = flow_graph.reverse_post_order().to_vec();
    let mut number: SecondaryMap<Block, u32> = SecondaryMap::with_capacity(flow_graph.block_count());
    for (node, &block) in (1..).zip(&blocks) {
        number[block] = node;
    }
    let mut edges: Vec<(u32, u32)> =
        find_path_ends(flow_graph).iter().map(|&end_block| (0, number[end_block])).collect();
    for &block in &blocks {
        edges.extend(flow_graph.successors(block).iter().map(|&successor| (number[successor], number[block])));
    }
    let tree = build_dominator_tree(blocks.len() + 1, &edges);
    PostDominators { blocks, tree, number }
}

/// The blocks at which paths end.
fn find_path_ends(flow_graph: &Cfg) -> Vec<Block> {
    let mut reaches: SecondaryMap<Block, bool> = SecondaryMap::new();
    let mut path_ends = Vec::new();
    for &block in flow_graph.reverse_post_order() {
        if flow_graph.successors(block).is_empty() {
            path_ends.push(block);
            mark_sources(flow_graph, block, &mut reaches);
        }
    }
    for &block in flow_graph.reverse_post_order().iter().rev() {
        if !reaches[block] {
            path_ends.push(block);
            mark_sources(flow_graph, block, &mut reaches);
        }
    }
    path_ends
}

/// Marks the blocks from which one can be reached, if they are not yet.
fn mark_sources(flow_graph: &Cfg, end_block: Block, reaches: &mut SecondaryMap<Block, bool>) {
    let mut worklist = vec![end_block];
    while let Some(block) = worklist.pop() {
        if flow_graph.is_reachable(block) && !std::mem::replace(&mut reaches[block], true) {
            worklist.extend(flow_graph.predecessors(block));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::cfg::build_cfg;
    use super::super::testing::random_graph;
    use super::*;

    #[test]
    fn agree_with_removal_of_each_block() {
        for seed in 0..400 {
            let function = random_graph(seed, 2 + (seed as usize % 23));
            let flow_graph = build_cfg(&function);
            let tree = post_dominators(&flow_graph);
            let ends = find_path_ends(&flow_graph);
            // Whether a path leads from `other_block` to an end without `first_block`.
            let escapes = |other_block: Block, first_block: Block| {
                let mut seen = vec![first_block];
                let mut worklist = vec![other_block];
                while let Some(block) = worklist.pop() {
                    if seen.contains(&block) {
                        continue;
                    }
                    seen.push(block);
                    if ends.contains(&block) {
                        return true;
                    }
                    worklist.extend(flow_graph.successors(block));
                }
                false
            };
            for &first_block in flow_graph.reverse_post_order() {
                for &other_block in flow_graph.reverse_post_order() {
                    assert_eq!(
                        tree.post_dominates(first_block, other_block),
                        !escapes(other_block, first_block),
                        "seed {seed}: {first_block} under {other_block}\n{function}"
                    );
                }
                if let Some(next_block) = tree.immediate_post_dominator(first_block) {
                    assert!(next_block != first_block && tree.post_dominates(next_block, first_block));
                    for &c in flow_graph.reverse_post_order() {
                        let between = c != first_block && tree.post_dominates(c, first_block);
                        assert!(
                            !between || tree.post_dominates(c, next_block),
                            "seed {seed}: {next_block} is not next to {first_block}"
                        );
                    }
                } else {
                    let others = flow_graph
                        .reverse_post_order()
                        .iter()
                        .filter(|&&c| c != first_block && tree.post_dominates(c, first_block));
                    assert_eq!(others.count(), 0, "seed {seed}: {first_block}");
                }
            }
        }
    }
}
