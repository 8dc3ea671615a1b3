//! Dominators: which blocks every path from the entry to a block goes through.
//!
//! Requires: a control-flow graph of the function as it is.
//! Ensures: `immediate_dominator` of each reachable block but the entry; constant-time `dominates`.
//! Phases: the dominator tree over numbers in reverse post-order; the blocks by their place in its preorder.
//! Source: as the dominator tree.

use super::cfg::Cfg;
use super::dominator_tree::{DominatorTree, build_dominator_tree};
use crate::ir::Block;
use cranelift_entity::SecondaryMap;

/// The tree of immediate dominators, over the blocks that can be reached from its root.
#[derive(Clone, Debug)]
pub struct Dominators {
    reverse_post_order: Vec<Block>,
    /// Its nodes are places in `reverse_post_order`.
    tree: DominatorTree,
    /// The blocks by their preorder number.
    preorder: Vec<Block>,
    number: SecondaryMap<Block, u32>,
}

impl Dominators {
    /// The immediate dominator; `None` for the entry and for blocks that cannot be reached.
    pub fn immediate_dominator(&self, block: Block) -> Option<Block> {
        let dominator = self.tree.immediate_dominator(self.node_of(block)?)?;
        Some(self.reverse_post_order[dominator as usize])
    }

    /// Whether every path from the entry to `block` goes through `dominator` (`dominator` may be `block`). False where one of
    /// them cannot be reached.
    pub fn dominates(&self, dominator: Block, block: Block) -> bool {
        let nodes = self.node_of(dominator).zip(self.node_of(block));
        nodes.is_some_and(|(dominator, node)| self.tree.dominates(dominator, node))
    }

    fn node_of(&self, block: Block) -> Option<u32> {
        self.number[block].checked_sub(1)
    }

    /// Whether `left` dominates `right` and is not `right`.
    pub fn strictly_dominates(&self, left: Block, right: Block) -> bool {
        left != right && self.dominates(left, right)
    }

    /// The blocks that a block dominates: itself, then the others. None for blocks that cannot be reached.
    pub fn dominated_blocks(&self, block: Block) -> &[Block] {
        match self.node_of(block).and_then(|node| self.tree.preorder_span(node)) {
            Some((first, last)) => &self.preorder[first as usize..=last as usize],
            None => &[],
        }
    }

    /// The last block that dominates both; `None` where one of them cannot be reached.
    pub fn common_dominator(&self, left: Block, right: Block) -> Option<Block> {
        let (mut dominator, right) = (self.node_of(left)?, self.node_of(right)?);
        while !self.tree.dominates(dominator, right) {
            dominator = self.tree.immediate_dominator(dominator)?;
        }
        Some(self.reverse_post_order[dominator as usize])
    }

    /// The blocks of the tree, each after its immediate dominator.
    pub fn blocks(&self) -> &[Block] {
        &self.reverse_post_order
    }
}

/// Computes the dominators of a function's blocks.
pub fn compute_dominators(flow_graph: &Cfg) -> Dominators {
    let reverse_post_order = flow_graph.reverse_post_order().to_vec();
    let mut number: SecondaryMap<Block, u32> = SecondaryMap::with_capacity(flow_graph.block_count());
    for (node, &block) in (1..).zip(&reverse_post_order) {
        number[block] = node;
    }
    let mut edges = Vec::with_capacity(2 * reverse_post_order.len());
    for (node, &block) in (0..).zip(&reverse_post_order) {
        edges.extend(flow_graph.successors(block).iter().map(|&successor| (node, number[successor] - 1)));
    }
    let tree = build_dominator_tree(reverse_post_order.len(), &edges);
    let mut preorder = reverse_post_order.clone();
    for (node, &block) in (0..).zip(&reverse_post_order) {
        if let Some((first, _)) = tree.preorder_span(node) {
            preorder[first as usize] = block;
        }
    }
    Dominators { reverse_post_order, tree, preorder, number }
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
