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
        let n = self.number[block].checked_sub(1)? as usize;
        (n != 0).then(|| self.reverse_post_order[self.idom[n] as usize])
    }

    /// Whether every path from the entry to `b` goes through `a` (`a` may be `b`). False where one of
    /// them cannot be reached.
    pub fn dominates(&self, a: Block, b: Block) -> bool {
        let (Some(a), Some(b)) = (self.number[a].checked_sub(1), self.number[b].checked_sub(1)) else {
            return false;
        };
        let (first, last) = self.span[a as usize];
        (first..=last).contains(&self.span[b as usize].0)
    }

    /// Whether `a` dominates `b` and is not `b`.
    pub fn strictly_dominates(&self, a: Block, b: Block) -> bool {
        a != b && self.dominates(a, b)
    }

    /// The blocks that a block dominates: itself, then the others. None for blocks that cannot be reached.
    pub fn dominated_blocks(&self, block: Block) -> &[Block] {
        match self.number[block].checked_sub(1) {
            Some(n) => {
                let (first, last) = self.span[n as usize];
                &self.preorder[first as usize..=last as usize]
            }
            None => &[],
        }
    }

    /// The last block that dominates both; `None` where one of them cannot be reached.
    pub fn common_dominator(&self, a: Block, b: Block) -> Option<Block> {
        let a = self.number[a].checked_sub(1)?;
        let b = self.number[b].checked_sub(1)?;
        Some(self.reverse_post_order[intersect(&self.idom, a, b) as usize])
    }

    /// The blocks of the tree, each after its immediate dominator.
    pub fn blocks(&self) -> &[Block] {
        &self.reverse_post_order
    }
}

/// Computes the dominators of a function's blocks.
pub fn compute_dominators(cfg: &Cfg) -> Dominators {
    let rpo = cfg.reverse_post_order();
    let preds = |n: u32, each: &mut dyn FnMut(u32)| {
        let preds = cfg.predecessors(rpo[n as usize]).iter();
        preds.filter_map(|&p| cfg.rpo_number(p)).for_each(each);
    };
    let idom = immediate_dominators(rpo.len() as u32, preds);
    let mut number: SecondaryMap<Block, u32> = SecondaryMap::with_capacity(cfg.block_count());
    for (i, &block) in rpo.iter().enumerate() {
        number[block] = i as u32 + 1;
    }
    let span = compute_preorder_spans(&idom);
    let mut preorder = rpo.to_vec();
    for (&block, &(first, _)) in rpo.iter().zip(&span) {
        preorder[first as usize] = block;
    }
    Dominators { reverse_post_order: rpo.to_vec(), span, preorder, idom, number }
}

/// The algorithm on nodes numbered in reverse post-order; node 0 is the root. The root is its own
/// immediate dominator in the result.
pub(super) fn immediate_dominators(count: u32, preds: impl Fn(u32, &mut dyn FnMut(u32))) -> Vec<u32> {
    let mut idom = vec![NONE; count as usize];
    if count == 0 {
        return idom;
    }
    idom[0] = 0;
    let mut changed = true;
    while changed {
        changed = false;
        for node in 1..count {
            let mut new = NONE;
            preds(node, &mut |p| {
                if idom[p as usize] != NONE {
                    new = if new == NONE { p } else { intersect(&idom, new, p) };
                }
            });
            if idom[node as usize] != new {
                idom[node as usize] = new;
                changed = true;
            }
        }
    }
    idom
}

fn intersect(idom: &[u32], mut a: u32, mut b: u32) -> u32 {
    while a != b {
        while a > b {
            a = idom[a as usize];
        }
        while b > a {
            b = idom[b as usize];
        }
    }
    a
}

/// Preorder interval of each node's subtree. A node's number in reverse post-order is greater than its
/// immediate dominator's, so two sweeps suffice.
pub(super) fn compute_preorder_spans(idom: &[u32]) -> Vec<(u32, u32)> {
    let count = idom.len();
    let mut size = vec![1u32; count];
    for node in (1..count).rev() {
        size[idom[node] as usize] += size[node];
    }
    // `next` is the preorder number of a node's next child.
    let mut next = vec![0u32; count];
    let mut spans = vec![(0, 0); count];
    for node in 0..count {
        let first = if node == 0 {
            0
        } else {
            let parent = idom[node] as usize;
            let first = next[parent];
            next[parent] += size[node];
            first
        };
        next[node] = first + 1;
        spans[node] = (first, first + size[node] - 1);
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
            let f = random_graph(seed, 2 + (seed as usize % 23));
            let cfg = build_cfg(&f);
            let tree = compute_dominators(&cfg);
            for &a in &f.layout {
                for &b in &f.layout {
                    let expected =
                        cfg.is_reachable(a) && cfg.is_reachable(b) && !reaches_without(&f, f.entry_block(), b, Some(a));
                    assert_eq!(tree.dominates(a, b), expected, "seed {seed}: {a} over {b}\n{f}");
                    assert_eq!(tree.dominated_blocks(a).contains(&b), expected, "seed {seed}: {a} over {b}\n{f}");
                }
                if let Some(parent) = tree.immediate_dominator(a) {
                    assert!(tree.strictly_dominates(parent, a));
                    for &c in &f.layout {
                        assert!(
                            !tree.strictly_dominates(c, a) || tree.dominates(c, parent),
                            "seed {seed}: {parent} is not immediate for {a}"
                        );
                    }
                } else {
                    assert!(a == f.entry_block() || !cfg.is_reachable(a));
                }
            }
        }
    }

    #[test]
    fn common_dominator_is_the_last_one() {
        for seed in 0..100 {
            let f = random_graph(seed, 15);
            let cfg = build_cfg(&f);
            let tree = compute_dominators(&cfg);
            for &a in cfg.reverse_post_order() {
                for &b in cfg.reverse_post_order() {
                    let both = cfg
                        .reverse_post_order()
                        .iter()
                        .copied()
                        .filter(|&c| tree.dominates(c, a) && tree.dominates(c, b));
                    let last = both
                        .max_by_key(|&c| cfg.reverse_post_order().iter().filter(|&&d| tree.dominates(d, c)).count());
                    assert_eq!(tree.common_dominator(a, b), last);
                }
            }
        }
    }
}
