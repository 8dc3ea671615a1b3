//! Post-dominators: which blocks every path from a block to the function's end goes through.
//!
//! Requires: a control-flow graph of the function as it is.
//! Ensures: `ipdom` of each reachable block, `None` standing for the end itself; constant-time
//! `post_dominates`. Where no path leads from a block to an end (endless loops), paths end at the last
//! such block in reverse post-order, as if it could also return; repeated until every block has an end.
//! Phases: blocks that reach an end; reverse post-order of the reversed graph; dominators there.
//! Source: Cooper, Harvey & Kennedy 2001, as for dominators.

use super::cfg::Cfg;
use super::dominators::{compute_preorder_spans, immediate_dominators};
use crate::ir::Block;
use cranelift_entity::SecondaryMap;

/// The tree of immediate post-dominators of the reachable blocks.
#[derive(Clone, Debug)]
pub struct PostDominators {
    /// The tree's blocks; node 0 is the end, node `n` the block `order[n - 1]`.
    order: Vec<Block>,
    ipdom: Vec<u32>,
    span: Vec<(u32, u32)>,
    number: SecondaryMap<Block, u32>,
}

impl PostDominators {
    /// The immediate post-dominator; `None` where it is the function's end.
    pub fn immediate_post_dominator(&self, block: Block) -> Option<Block> {
        match self.number[block] {
            0 => None,
            n => self.block_of_node(self.ipdom[n as usize]),
        }
    }

    fn block_of_node(&self, node: u32) -> Option<Block> {
        Some(self.order[node.checked_sub(1)? as usize])
    }

    /// Whether every path from `other_block` to the end goes through `block` (`block` may be `other_block`). False where one of them
    /// cannot be reached from the entry.
    pub fn post_dominates(&self, block: Block, other_block: Block) -> bool {
        let (left, right) = (self.number[block], self.number[other_block]);
        if left == 0 || right == 0 {
            return false;
        }
        let (first_node, last_node) = self.span[left as usize];
        (first_node..=last_node).contains(&self.span[right as usize].0)
    }
}

/// Computes the post-dominators of a function's blocks.
pub fn post_dominators(flow_graph: &Cfg) -> PostDominators {
    let path_ends = find_path_ends(flow_graph);
    // Depth-first from the end against the edges; block numbers here count from 1.
    let mut number: SecondaryMap<Block, u32> = SecondaryMap::new();
    let mut block_order = Vec::new();
    let mut pending: Vec<(Block, usize)> = Vec::new();
    for &end_block in &path_ends {
        if number[end_block] == 0 {
            number[end_block] = 1;
            pending.push((end_block, 0));
        }
        while let Some((block, next)) = pending.last_mut() {
            match flow_graph.predecessors(*block).get(*next) {
                Some(&predecessor) => {
                    *next += 1;
                    if number[predecessor] == 0 && flow_graph.is_reachable(predecessor) {
                        number[predecessor] = 1;
                        pending.push((predecessor, 0));
                    }
                }
                None => {
                    block_order.push(*block);
                    pending.pop();
                }
            }
        }
    }
    block_order.reverse();
    for (index, &block) in block_order.iter().enumerate() {
        number[block] = index as u32 + 1;
    }
    let mut is_end: SecondaryMap<Block, bool> = SecondaryMap::new();
    path_ends.iter().for_each(|&end_block| is_end[end_block] = true);
    let ipdom = immediate_dominators(block_order.len() as u32 + 1, |node, each| {
        let block = block_order[node as usize - 1];
        if is_end[block] {
            each(0);
        }
        flow_graph.successors(block).iter().for_each(|&successor| each(number[successor]));
    });
    PostDominators { order: block_order, span: compute_preorder_spans(&ipdom), ipdom, number }
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
