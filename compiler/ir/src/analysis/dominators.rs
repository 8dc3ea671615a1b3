//! Dominators: which blocks every path from the entry to a block goes through.
//!
//! Requires: a control-flow graph of the function as it is.
//! Ensures: `idom` of each reachable block but the entry; constant-time `dominates`.
//! Phases: immediate dominators to a fixed point over the reverse post-order; then an interval of
//! tree preorder numbers per block.
//! Source: Cooper, Harvey & Kennedy, "A Simple, Fast Dominance Algorithm", 2001, section 3.

use super::cfg::Cfg;
use crate::ir::Block;
use cranelift_entity::SecondaryMap;

const NONE: u32 = u32::MAX;

/// The tree of immediate dominators, over the blocks that can be reached from its root.
#[derive(Clone, Debug)]
pub struct Dominators {
    reverse_post_order: Vec<Block>,
    /// By place in `rpo`: place of the immediate dominator.
    idom: Vec<u32>,
    /// By place in `rpo`: preorder number and the greatest one in the subtree.
    span: Vec<(u32, u32)>,
    /// The blocks by their preorder number.
    preorder: Vec<Block>,
    number: SecondaryMap<Block, u32>,
}

impl Dominators {
    /// The immediate dominator; `None` for the entry and for blocks that cannot be reached.
    pub fn immediate_dominator(&self, block: Block) -> Option<Block> {
        let number = self.number[block].checked_sub(1)? as usize;
        (number != 0).then(|| self.reverse_post_order[self.idom[number] as usize])
    }

    /// Whether every path from the entry to `block` goes through `dominator` (`dominator` may be `block`). False where one of
    /// them cannot be reached.
    pub fn dominates(&self, dominator: Block, block: Block) -> bool {
        let (Some(dominator), Some(block)) = (self.number[dominator].checked_sub(1), self.number[block].checked_sub(1))
        else {
            return false;
        };
        let (first_node, last_node) = self.span[dominator as usize];
        (first_node..=last_node).contains(&self.span[block as usize].0)
    }

    /// Whether `left` dominates `right` and is not `right`.
    pub fn strictly_dominates(&self, left: Block, right: Block) -> bool {
        left != right && self.dominates(left, right)
    }

    /// The blocks that a block dominates: itself, then the others. None for blocks that cannot be reached.
    pub fn dominated_blocks(&self, block: Block) -> &[Block] {
        match self.number[block].checked_sub(1) {
            Some(number) => {
                let (first_node, last_node) = self.span[number as usize];
                &self.preorder[first_node as usize..=last_node as usize]
            }
            None => &[],
        }
    }

    /// The last block that dominates both; `None` where one of them cannot be reached.
    pub fn common_dominator(&self, left: Block, right: Block) -> Option<Block> {
        let left = self.number[left].checked_sub(1)?;
        let right = self.number[right].checked_sub(1)?;
        Some(self.reverse_post_order[intersect(&self.idom, left, right) as usize])
    }

    /// The blocks of the tree, each after its immediate dominator.
    pub fn blocks(&self) -> &[Block] {
        &self.reverse_post_order
    }
}

/// Computes the dominators of a function's blocks.
pub fn compute_dominators(flow_graph: &Cfg) -> Dominators {
    let reverse_post_order = flow_graph.reverse_post_order();
    let predecessors = |node: u32, each: &mut dyn FnMut(u32)| {
        let predecessors = flow_graph.predecessors(reverse_post_order[node as usize]).iter();
        predecessors.filter_map(|&predecessor| flow_graph.rpo_number(predecessor)).for_each(each);
    };
    let immediate_dominator = immediate_dominators(reverse_post_order.len() as u32, predecessors);
    let mut number: SecondaryMap<Block, u32> = SecondaryMap::with_capacity(flow_graph.block_count());
    for (index, &block) in reverse_post_order.iter().enumerate() {
        number[block] = index as u32 + 1;
    }
    let span = compute_preorder_spans(&immediate_dominator);
    let mut preorder = reverse_post_order.to_vec();
    for (&block, &(first, _)) in reverse_post_order.iter().zip(&span) {
        preorder[first as usize] = block;
    }
    Dominators { reverse_post_order: reverse_post_order.to_vec(), span, preorder, idom: immediate_dominator, number }
}

/// The algorithm on nodes numbered in reverse post-order; node 0 is the root. The root is its own
/// immediate dominator in the result.
pub(super) fn immediate_dominators(node_count: u32, predecessors: impl Fn(u32, &mut dyn FnMut(u32))) -> Vec<u32> {
    let mut immediate_dominator = vec![NONE; node_count as usize];
    if node_count == 0 {
        return immediate_dominator;
    }
    immediate_dominator[0] = 0;
    let mut changed = true;
    while changed {
        changed = false;
        for node in 1..node_count {
            let mut new_dominator = NONE;
            predecessors(node, &mut |predecessor| match immediate_dominator[predecessor as usize] {
                NONE => {}
                _ if new_dominator == NONE => new_dominator = predecessor,
                _ => new_dominator = intersect(&immediate_dominator, new_dominator, predecessor),
            });
            if immediate_dominator[node as usize] != new_dominator {
                immediate_dominator[node as usize] = new_dominator;
                changed = true;
            }
        }
    }
    immediate_dominator
}

fn intersect(immediate_dominator: &[u32], mut left: u32, mut right: u32) -> u32 {
    while left != right {
        while left > right {
            left = immediate_dominator[left as usize];
        }
        while right > left {
            right = immediate_dominator[right as usize];
        }
    }
    left
}

/// Preorder interval of each node's subtree. A node's number in reverse post-order is greater than its
/// immediate dominator's, so two sweeps suffice.
pub(super) fn compute_preorder_spans(immediate_dominator: &[u32]) -> Vec<(u32, u32)> {
    let node_count = immediate_dominator.len();
    let mut tree_sizes = vec![1u32; node_count];
    for node in (1..node_count).rev() {
        tree_sizes[immediate_dominator[node] as usize] += tree_sizes[node];
    }
    // `next_free` is the preorder number of a node's next child.
    let mut next_free = vec![0u32; node_count];
    let mut spans = vec![(0, 0); node_count];
    for node in 0..node_count {
        let first = if node == 0 {
            0
        } else {
            let parent = immediate_dominator[node] as usize;
            let first = next_free[parent];
            next_free[parent] += tree_sizes[node];
            first
        };
        next_free[node] = first + 1;
        spans[node] = (first, first + tree_sizes[node] - 1);
    }
    spans
}

#[cfg(test)]
mod tests {
    use super::super::cfg::build_cfg;
    use super::super::testing::{random_graph, reaches_without};
    use super::*;

    #[test]
    fn agree_with_removal_of_each_block() {
        for seed in 0..400 {
            let function = random_graph(seed, 2 + (seed as usize % 23));
            let flow_graph = build_cfg(&function);
            let dominators = compute_dominators(&flow_graph);
            for &left in &function.layout {
                for &right in &function.layout {
                    let expected = flow_graph.is_reachable(left)
                        && flow_graph.is_reachable(right)
                        && !reaches_without(&function, function.entry_block(), right, Some(left));
                    assert_eq!(
                        dominators.dominates(left, right),
                        expected,
                        "seed {seed}: {left} over {right}\n{function}"
                    );
                    assert_eq!(
                        dominators.dominated_blocks(left).contains(&right),
                        expected,
                        "seed {seed}: {left} over {right}\n{function}"
                    );
                }
                if let Some(parent) = dominators.immediate_dominator(left) {
                    assert!(dominators.strictly_dominates(parent, left));
                    for &c in &function.layout {
                        assert!(
                            !dominators.strictly_dominates(c, left) || dominators.dominates(c, parent),
                            "seed {seed}: {parent} is not immediate for {left}"
                        );
                    }
                } else {
                    assert!(left == function.entry_block() || !flow_graph.is_reachable(left));
                }
            }
        }
    }

    #[test]
    fn common_dominator_is_the_last_one() {
        for seed in 0..100 {
            let function = random_graph(seed, 15);
            let flow_graph = build_cfg(&function);
            let dominators = compute_dominators(&flow_graph);
            for &left in flow_graph.reverse_post_order() {
                for &right in flow_graph.reverse_post_order() {
                    let both = flow_graph
                        .reverse_post_order()
                        .iter()
                        .copied()
                        .filter(|&c| dominators.dominates(c, left) && dominators.dominates(c, right));
                    let last = both.max_by_key(|&c| {
                        flow_graph.reverse_post_order().iter().filter(|&&d| dominators.dominates(d, c)).count()
                    });
                    assert_eq!(dominators.common_dominator(left, right), last);
                }
            }
        }
    }
}
