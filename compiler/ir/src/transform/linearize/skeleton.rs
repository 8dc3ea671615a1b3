//! The control flow of the linearized function.
//!
//! Requires: uniform loops; the block index.
//! Ensures: every path of the function is part of a path here, where blocks stand in the order of the index;
//! a block that dominated another one still does.
//! Phases: block after block, each passes on which blocks must still come behind it (the deferral
//! relation); then lines of blocks.
//! Source: Moll 2021, Listing 8; edges back to loop headers are left out and put back, section 8.3.

use crate::analysis::predicates::Graph;
use crate::ir::{Block, Function};
use cranelift_entity::SecondaryMap;
use cranelift_entity::packed_option::ReservedValue;
use std::collections::BTreeSet;

/// New successors of every block.
pub struct Skeleton {
    /// A block's place in the block index.
    pub index: SecondaryMap<Block, u32>,
    /// The successor for each target of the terminator; one for all where the branch is folded.
    pub next: SecondaryMap<Block, Vec<Block>>,
    /// The predecessors without edges back to loop headers, each once.
    pub preds: SecondaryMap<Block, Vec<Block>>,
    /// The first block of the line that a block is in: from block to block there is only one way, which none joins.
    pub line: SecondaryMap<Block, Block>,
}

/// Draws new successors.
pub fn draw_skeleton(function: &Function, graph: &Graph<'_>, block_order: &[Block]) -> Skeleton {
    let mut index = SecondaryMap::new();
    for (position, &block) in block_order.iter().enumerate() {
        index[block] = position as u32;
    }
    let mut next: SecondaryMap<Block, Vec<Block>> = SecondaryMap::new();
    let mut predecessors: SecondaryMap<Block, Vec<Block>> = SecondaryMap::new();
    // By place in the index: the blocks that must come behind this one.
    let mut deferred: Vec<BTreeSet<u32>> = vec![BTreeSet::new(); block_order.len()];
    for (place, &block) in block_order.iter().enumerate() {
        let wanted = std::mem::take(&mut deferred[place]);
        let targets: Vec<u32> =
            function.blocks[block].terminator.targets().iter().map(|edge| index[edge.block]).collect();
        if let &[header] = &targets[..]
            && header <= place as u32
        {
            // What was deferred when the loop was entered is also deferred behind its exits.
            next[block] = vec![block_order[header as usize]];
            continue;
        }
        let groups: Vec<Vec<u32>> = if graph.divergent.contains(block) {
            vec![targets]
        } else {
            targets.into_iter().map(|target| vec![target]).collect()
        };
        let mut wanted = Some(wanted);
        let last = groups.len().saturating_sub(1);
        for (position, group) in groups.into_iter().enumerate() {
            // Long folded switches defer many blocks: the set moves on where it can.
            let mut targets_left = if position == last { wanted.take() } else { wanted.clone() }.unwrap_or_default();
            targets_left.extend(group);
            if let Some(first) = targets_left.pop_first() {
                let next_block = block_order[first as usize];
                next[block].push(next_block);
                if predecessors[next_block].last() != Some(&block) {
                    predecessors[next_block].push(block);
                }
                let behind = &mut deferred[first as usize];
                if behind.len() < targets_left.len() {
                    std::mem::swap(behind, &mut targets_left);
                }
                behind.extend(targets_left);
            }
        }
    }
    let line = first_blocks_of_lines(block_order, &next, &predecessors);
    Skeleton { index, next, preds: predecessors, line }
}

/// The first block of each block's line.
fn first_blocks_of_lines(
    block_order: &[Block],
    next: &SecondaryMap<Block, Vec<Block>>,
    predecessors: &SecondaryMap<Block, Vec<Block>>,
) -> SecondaryMap<Block, Block> {
    let mut line = SecondaryMap::with_default(Block::reserved_value());
    for &block in block_order {
        line[block] = match predecessors[block][..] {
            [before] if next[before].len() == 1 => line[before],
            _ => block,
        };
    }
    line
}

#[cfg(test)]
mod tests;
