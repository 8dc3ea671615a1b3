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

    /// Whether every path from `other` to the end goes through `block` (`block` may be `other`). False where one of them
    /// cannot be reached from the entry.
    pub fn post_dominates(&self, block: Block, other: Block) -> bool {
        let (left, right) = (self.number[block], self.number[other]);
        if left == 0 || right == 0 {
            return false;
        }
        let (first, last) = self.span[left as usize];
        (first..=last).contains(&self.span[right as usize].0)
    }
}

/// Computes the post-dominators of a function's blocks.
pub fn post_dominators(graph: &Cfg) -> PostDominators {
    let ends = find_path_ends(graph);
    // Depth-first from the end against the edges; block numbers here count from 1.
    let mut number: SecondaryMap<Block, u32> = SecondaryMap::new();
    let mut order = Vec::new();
    let mut stack: Vec<(Block, usize)> = Vec::new();
    for &end in &ends {
        if number[end] == 0 {
            number[end] = 1;
            stack.push((end, 0));
        }
        while let Some((block, next)) = stack.last_mut() {
            match graph.predecessors(*block).get(*next) {
                Some(&predecessor) => {
                    *next += 1;
                    if number[predecessor] == 0 && graph.is_reachable(predecessor) {
                        number[predecessor] = 1;
                        stack.push((predecessor, 0));
                    }
                }
                None => {
                    order.push(*block);
                    stack.pop();
                }
            }
        }
    }
    order.reverse();
    for (index, &block) in order.iter().enumerate() {
        number[block] = index as u32 + 1;
    }
    let mut is_end: SecondaryMap<Block, bool> = SecondaryMap::new();
    ends.iter().for_each(|&end| is_end[end] = true);
    let ipdom = immediate_dominators(order.len() as u32 + 1, |node, each| {
        let block = order[node as usize - 1];
        if is_end[block] {
            each(0);
        }
        graph.successors(block).iter().for_each(|&successor| each(number[successor]));
    });
    PostDominators { order, span: compute_preorder_spans(&ipdom), ipdom, number }
}

/// The blocks at which paths end.
fn find_path_ends(graph: &Cfg) -> Vec<Block> {
    let mut reaches: SecondaryMap<Block, bool> = SecondaryMap::new();
    let mut ends = Vec::new();
    for &block in graph.reverse_post_order() {
        if graph.successors(block).is_empty() {
            ends.push(block);
            mark_sources(graph, block, &mut reaches);
        }
    }
    for &block in graph.reverse_post_order().iter().rev() {
        if !reaches[block] {
            ends.push(block);
            mark_sources(graph, block, &mut reaches);
        }
    }
    ends
}

/// Marks the blocks from which one can be reached, if they are not yet.
fn mark_sources(graph: &Cfg, end: Block, reaches: &mut SecondaryMap<Block, bool>) {
    let mut worklist = vec![end];
    while let Some(block) = worklist.pop() {
        if graph.is_reachable(block) && !std::mem::replace(&mut reaches[block], true) {
            worklist.extend(graph.predecessors(block));
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
            let graph = build_cfg(&function);
            let tree = post_dominators(&graph);
            let ends = find_path_ends(&graph);
            // Whether a path leads from `other` to an end without `first`.
            let escapes = |other: Block, first: Block| {
                let mut seen = vec![first];
                let mut worklist = vec![other];
                while let Some(block) = worklist.pop() {
                    if seen.contains(&block) {
                        continue;
                    }
                    seen.push(block);
                    if ends.contains(&block) {
                        return true;
                    }
                    worklist.extend(graph.successors(block));
                }
                false
            };
            for &first in graph.reverse_post_order() {
                for &other in graph.reverse_post_order() {
                    assert_eq!(
                        tree.post_dominates(first, other),
                        !escapes(other, first),
                        "seed {seed}: {first} under {other}\n{function}"
                    );
                }
                if let Some(next) = tree.immediate_post_dominator(first) {
                    assert!(next != first && tree.post_dominates(next, first));
                    for &c in graph.reverse_post_order() {
                        let between = c != first && tree.post_dominates(c, first);
                        assert!(!between || tree.post_dominates(c, next), "seed {seed}: {next} is not next to {first}");
                    }
                } else {
                    let others =
                        graph.reverse_post_order().iter().filter(|&&c| c != first && tree.post_dominates(c, first));
                    assert_eq!(others.count(), 0, "seed {seed}: {first}");
                }
            }
        }
    }
}
