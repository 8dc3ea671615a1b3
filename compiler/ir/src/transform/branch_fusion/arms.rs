//! The two sides of a branch, block by block.
//!
//! Definition 4.1 of the paper asks that neither side leads to the other. Here each side is what its first block dominates,
//! so that holds, and both have to lead to one block. The paper merges sides of one block; here they may have several if
//! their edges correspond: chains, branches within, and loops.
//!
//! Requires: a function in normal form.
//! Ensures: the first blocks have no predecessor but the branch, all edges that leave a side lead to the join, and corresponding edges lead to
//! corresponding blocks.
//! Phases: what the first blocks dominate; where that leads; a walk over both sides at once.
//! Source: Coutinho et al. 2011, Definition 4.1.

use super::refusal::Refusal;
use crate::analysis::cfg::Cfg;
use crate::analysis::dominators::Dominators;
use crate::ir::*;
use cranelift_entity::EntitySet;
use std::collections::HashMap;

/// A block of each side, which correspond.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct BlockPair {
    /// Where lanes come whose condition is true.
    pub then_block: Block,
    /// Where the others come.
    pub else_block: Block,
}

/// A branch whose sides have the same shape.
pub struct Arms {
    /// The block that ends in the branch.
    pub branch_block: Block,
    /// What the branch asks.
    pub condition: Value,
    /// The blocks of both sides, each pair after those that dominate it; the first is where the branch leads.
    pub pairs: Vec<BlockPair>,
    /// Where both sides lead.
    pub join: Block,
}

impl Arms {
    /// The values that the sides compute. What the branch hands over to them is none.
    pub fn find_own_values(&self, function: &Function) -> EntitySet<Value> {
        let mut own_values = EntitySet::new();
        for (number, pair) in self.pairs.iter().enumerate() {
            for block in [pair.then_block, pair.else_block] {
                let BlockData { params, insts, .. } = &function.blocks[block];
                if number > 0 {
                    own_values.extend(params.iter().copied());
                }
                own_values.extend(insts.iter().flat_map(|&inst| function.insts[inst].results.iter().copied()));
            }
        }
        own_values
    }
}

/// The sides of the branch at a block's end; nothing if it has no two sides with instructions of their own.
pub fn find_arms(
    function: &Function,
    flow_graph: &Cfg,
    dominators: &Dominators,
    branch_block: Block,
) -> Option<Result<Arms, Refusal>> {
    let Terminator::Branch { condition, then_to, else_to } = &function.blocks[branch_block].terminator else {
        return None;
    };
    let first_blocks = [then_to.block, else_to.block];
    let is_side = |&block: &Block| flow_graph.predecessors(block) == [branch_block];
    if first_blocks[0] == first_blocks[1] || !first_blocks.iter().all(is_side) {
        return None;
    }
    let [then_side, else_side] = first_blocks.map(|block| dominators.dominated_blocks(block));
    let has_instructions = |side: &[Block]| side.iter().any(|&block| !function.blocks[block].insts.is_empty());
    if !has_instructions(then_side) || !has_instructions(else_side) {
        return None;
    }
    if then_side.len() != else_side.len() {
        return Some(Err(Refusal::Shape));
    }
    let join = match (only_exit(flow_graph, then_side), only_exit(flow_graph, else_side)) {
        (Some(then_exit), Some(else_exit)) if then_exit == else_exit && then_exit != branch_block => then_exit,
        _ => return Some(Err(Refusal::Exits)),
    };
    let partners = match pair_blocks(function, first_blocks, join) {
        Some(partners) if partners.len() == then_side.len() => partners,
        _ => return Some(Err(Refusal::Shape)),
    };
    let in_order = flow_graph.reverse_post_order().iter();
    let pairs = in_order
        .filter_map(|&then_block| Some(BlockPair { then_block, else_block: *partners.get(&then_block)? }))
        .collect();
    Some(Ok(Arms { branch_block, condition: *condition, pairs, join }))
}

/// The only block outside of a side to which its blocks lead.
fn only_exit(flow_graph: &Cfg, side: &[Block]) -> Option<Block> {
    let mut inside = EntitySet::new();
    side.iter().for_each(|&block| _ = inside.insert(block));
    let mut exit = None;
    for &block in side {
        let successors = flow_graph.successors(block);
        if successors.is_empty() {
            return None;
        }
        for &target in successors.iter().filter(|&&target| !inside.contains(target)) {
            if *exit.get_or_insert(target) != target {
                return None;
            }
        }
    }
    exit
}

/// What corresponds to each block of the first side if all edges do, and none corresponds to two.
fn pair_blocks(function: &Function, first_blocks: [Block; 2], join: Block) -> Option<HashMap<Block, Block>> {
    let [mut partners, mut of_else] = [HashMap::new(), HashMap::new()];
    let mut open = vec![(first_blocks[0], first_blocks[1])];
    while let Some((then_block, else_block)) = open.pop() {
        match (partners.get(&then_block), of_else.get(&else_block)) {
            (None, None) => {}
            (Some(&known_else), Some(&known_then)) if known_else == else_block && known_then == then_block => continue,
            _ => return None,
        }
        partners.insert(then_block, else_block);
        of_else.insert(else_block, then_block);
        let terminators = [then_block, else_block].map(|block| &function.blocks[block].terminator);
        if !matches!(
            terminators,
            [Terminator::Jump(_), Terminator::Jump(_)] | [Terminator::Branch { .. }, Terminator::Branch { .. }]
        ) {
            return None;
        }
        for (then_target, else_target) in terminators[0].targets().iter().zip(terminators[1].targets().iter()) {
            match (then_target.block == join, else_target.block == join) {
                (true, true) => {}
                (false, false) => open.push((then_target.block, else_target.block)),
                _ => return None,
            }
        }
    }
    Some(partners)
}
