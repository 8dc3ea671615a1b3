//! The control-flow graph: edges and a reverse post-order.
//!
//! Requires: every jump target is a block of the function.
//! Ensures: one entry per edge in the lists, so a block may stand in a list twice; `rpo` holds exactly
//! the blocks reachable from the entry.
//! Phases: edges from the terminators, sorted by their ends; depth-first search with a stack of its own.
//! Source: textbook.

use super::adjacency::AdjacencyLists;
use crate::ir::{Block, Function};
use cranelift_entity::{EntityRef, SecondaryMap};

/// Edges and order of a function's blocks.
#[derive(Clone, Debug)]
pub struct Cfg {
    succs: AdjacencyLists<Block>,
    preds: AdjacencyLists<Block>,
    reverse_post_order: Vec<Block>,
    number: SecondaryMap<Block, u32>,
}

impl Cfg {
    /// The targets of a block's terminator, in its order, once per edge.
    pub fn successors(&self, block: Block) -> &[Block] {
        self.succs.items_of(block.index())
    }

    /// The blocks of the layout that jump here, in layout order, once per edge.
    pub fn predecessors(&self, block: Block) -> &[Block] {
        self.preds.items_of(block.index())
    }

    /// The reachable blocks in reverse post-order, the entry first.
    pub fn reverse_post_order(&self) -> &[Block] {
        &self.reverse_post_order
    }

    /// A block's place in `rpo`; `None` if it is not reachable.
    pub fn rpo_number(&self, block: Block) -> Option<u32> {
        self.number[block].checked_sub(1)
    }

    /// How many blocks the function has had: their numbers are less.
    pub fn block_count(&self) -> usize {
        self.succs.list_count()
    }

    /// Whether a path leads from the entry to this block.
    pub fn is_reachable(&self, block: Block) -> bool {
        self.number[block] != 0
    }
}

/// Computes the control-flow graph.
pub fn build_cfg(function: &Function) -> Cfg {
    let mut edges = Vec::with_capacity(2 * function.layout.len());
    for &block in &function.layout {
        edges.extend(function.blocks[block].terminator.targets().iter().map(|target| (block, target.block)));
    }
    build_graph(function.blocks.len(), function.layout.first().copied(), &edges)
}

/// The graph of these edges between blocks with numbers less than `blocks`, seen from `entry_block`. A block's edges stand
/// in the order of its targets, and blocks in that of the layout.
pub(crate) fn build_graph(blocks: usize, entry: Option<Block>, edges: &[(Block, Block)]) -> Cfg {
    let successors = AdjacencyLists::from_pairs(blocks, edges.iter().map(|&(source, target)| (source.index(), target)));
    let predecessors =
        AdjacencyLists::from_pairs(blocks, edges.iter().map(|&(source, target)| (target.index(), source)));
    let mut number: SecondaryMap<Block, u32> = SecondaryMap::with_capacity(blocks);
    let mut reverse_post_order = Vec::new();
    if let Some(entry_block) = entry {
        // Successors are visited last to first, so that the first comes first in the reverse.
        let mut pending = vec![(entry_block, successors.items_of(entry_block.index()).len())];
        number[entry_block] = 1;
        while let Some((block, left)) = pending.last_mut() {
            if *left == 0 {
                reverse_post_order.push(*block);
                pending.pop();
                continue;
            }
            *left -= 1;
            let next_block = successors.items_of(block.index())[*left];
            if number[next_block] == 0 {
                number[next_block] = 1;
                pending.push((next_block, successors.items_of(next_block.index()).len()));
            }
        }
        reverse_post_order.reverse();
        for (index, &block) in reverse_post_order.iter().enumerate() {
            number[block] = index as u32 + 1;
        }
    }
    Cfg { succs: successors, preds: predecessors, reverse_post_order, number }
}
