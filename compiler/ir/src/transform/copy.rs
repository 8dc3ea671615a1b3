//! Copies blocks within a function.
//!
//! Requires: valid SSA; blocks in an order where those that dominate others come before them.
//! Ensures: the copies do what the blocks do and go where they go, to copies of copied blocks; nothing leads to them
//! yet. What the blocks do not define is what the caller says stands for it, or the same value.
//! Phases: blocks with their parameters and instructions, then operands and terminators.
//! Source: none.

use crate::ir::{Block, Function, Terminator, Value};
use cranelift_entity::SecondaryMap;

/// What stands for blocks and values in copied code.
#[derive(Clone, Debug, Default)]
pub struct Copies {
    blocks: SecondaryMap<Block, Option<Block>>,
    values: SecondaryMap<Value, Option<Value>>,
}

impl Copies {
    /// Says what stands for a value in the copy.
    pub fn map_value(&mut self, value: Value, value_copy: Value) {
        self.values[value] = Some(value_copy);
    }

    /// The copy of a block, or the block itself.
    pub fn block_copy(&self, block: Block) -> Block {
        self.blocks[block].unwrap_or(block)
    }

    /// The copy of a value, or the value itself.
    pub fn value_copy(&self, value: Value) -> Value {
        self.values[value].unwrap_or(value)
    }

    /// A block's end as a copy of the block has it.
    pub fn terminator_copy(&self, terminator: &Terminator) -> Terminator {
        let mut terminator = terminator.clone();
        terminator.map_args(|value| self.value_copy(value));
        terminator.targets_mut().into_iter().for_each(|target| target.block = self.block_copy(target.block));
        terminator
    }
}

/// Copies blocks; `values` are those that are used in them under another name.
pub fn copy_blocks(function: &mut Function, blocks: &[Block], values: &Copies) -> Copies {
    let mut copies = Copies { blocks: SecondaryMap::new(), values: values.values.clone() };
    for &block in blocks {
        let new_block = function.add_block();
        copies.blocks[block] = Some(new_block);
        function.end_locs[new_block] = function.end_locs[block];
        for parameter in function.blocks[block].params.clone() {
            copies.values[parameter] = Some(function.add_param(new_block, function.ty(parameter)));
        }
        for instruction in function.blocks[block].insts.clone() {
            let inst_node = function.insts[instruction].clone();
            let types: Vec<_> = inst_node.results.iter().map(|&result| function.ty(result)).collect();
            let new_inst = function.append_inst(new_block, inst_node.data, &types, inst_node.location);
            for (&old_value, &new_value) in inst_node.results.iter().zip(&function.insts[new_inst].results) {
                copies.values[old_value] = Some(new_value);
            }
        }
    }
    for &block in blocks {
        let new_block = copies.block_copy(block);
        for instruction in function.blocks[new_block].insts.clone() {
            function.insts[instruction].data.map_args(|value| copies.value_copy(value));
        }
        function.blocks[new_block].terminator = copies.terminator_copy(&function.blocks[block].terminator);
    }
    copies
}
