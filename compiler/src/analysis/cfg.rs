//! The control-flow graph: edges and a reverse post-order.
//!
//! Requires: every jump target is a block of the function.
//! Ensures: one entry per edge in the lists, so a block may stand in a list twice; `rpo` holds exactly
//! the blocks reachable from the entry.
//! Phases: predecessors from the terminators; depth-first search with a stack of its own.
//! Source: textbook.

use crate::ir::{Block, Function};
use cranelift_entity::SecondaryMap;

/// Edges and order of a function's blocks.
#[derive(Clone, Debug)]
pub struct Cfg {
    succs: SecondaryMap<Block, Vec<Block>>,
    preds: SecondaryMap<Block, Vec<Block>>,
    rpo: Vec<Block>,
    number: SecondaryMap<Block, u32>,
}

impl Cfg {
    /// The targets of a block's terminator, in its order, once per edge.
    pub fn succs(&self, block: Block) -> &[Block] {
        &self.succs[block]
    }

    /// The blocks of the layout that jump here, in layout order, once per edge.
    pub fn preds(&self, block: Block) -> &[Block] {
        &self.preds[block]
    }

    /// The reachable blocks in reverse post-order, the entry first.
    pub fn rpo(&self) -> &[Block] {
        &self.rpo
    }

    /// A block's place in `rpo`; `None` if it is not reachable.
    pub fn rpo_number(&self, block: Block) -> Option<u32> {
        self.number[block].checked_sub(1)
    }

    /// Whether a path leads from the entry to this block.
    pub fn is_reachable(&self, block: Block) -> bool {
        self.number[block] != 0
    }
}

/// Computes the control-flow graph.
pub fn cfg(f: &Function) -> Cfg {
    let mut succs: SecondaryMap<Block, Vec<Block>> = SecondaryMap::new();
    let mut preds: SecondaryMap<Block, Vec<Block>> = SecondaryMap::new();
    for &block in &f.layout {
        for to in f.blocks[block].term.targets() {
            succs[block].push(to.block);
            preds[to.block].push(block);
        }
    }
    let mut number: SecondaryMap<Block, u32> = SecondaryMap::new();
    let mut rpo = Vec::new();
    if let Some(&entry) = f.layout.first() {
        // Successors are visited last to first, so that the first comes first in the reverse.
        let mut stack = vec![(entry, succs[entry].len())];
        number[entry] = 1;
        while let Some((block, left)) = stack.last_mut() {
            if *left == 0 {
                rpo.push(*block);
                stack.pop();
                continue;
            }
            *left -= 1;
            let next = succs[*block][*left];
            if number[next] == 0 {
                number[next] = 1;
                stack.push((next, succs[next].len()));
            }
        }
        rpo.reverse();
        for (i, &block) in rpo.iter().enumerate() {
            number[block] = i as u32 + 1;
        }
    }
    Cfg { succs, preds, rpo, number }
}
