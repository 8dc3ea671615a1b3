//! A function body: the data-flow graph and the layout of its blocks.

use super::entities::{Block, Callee, Inst, Value};
use super::inst::{InstData, Terminator};
use cranelift_entity::packed_option::PackedOption;
use cranelift_entity::{PrimaryMap, SecondaryMap};
use lockstep_protocol::types::Type;
use std::collections::HashMap;

/// Where a value comes from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ValueDef {
    /// The n-th result of an instruction.
    Result(Inst, u32),
    /// The n-th parameter of a block.
    Param(Block, u32),
    /// A constant: the bits of its type (a float's are its IEEE encoding). Belongs to no block.
    Const(u128),
}

/// A value's type and origin.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ValueData {
    /// The type of its values.
    pub ty: Type,
    /// Where the value comes from.
    pub definition: ValueDef,
}

/// A place in the user's source; line 0 when unknown.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default, serde::Serialize)]
pub struct SourceLoc {
    /// Line, from 1.
    pub line: u32,
    /// Column, from 1.
    pub column: u32,
}

/// An instruction with its results.
#[derive(Clone, PartialEq, Debug)]
pub struct InstNode {
    /// What it does, with its operands.
    pub data: InstData,
    /// Its results, each of which knows its type.
    pub results: Vec<Value>,
    /// Where the user wrote it.
    pub location: SourceLoc,
}

/// A basic block.
#[derive(Clone, PartialEq, Debug)]
pub struct BlockData {
    /// Parameters: what other IRs write as phi instructions.
    pub params: Vec<Value>,
    /// Instructions in order.
    pub insts: Vec<Inst>,
    /// The block's end.
    pub terminator: Terminator,
}

/// A function body. Its entry block's parameters are the kernel's inputs.
#[derive(Clone, Debug)]
pub struct Function {
    /// All values of the function.
    pub values: PrimaryMap<Value, ValueData>,
    /// All instructions, including those no block holds any more.
    pub insts: PrimaryMap<Inst, InstNode>,
    /// All blocks, including those not in the layout any more.
    pub blocks: PrimaryMap<Block, BlockData>,
    /// The blocks of the function in order, the entry first. The entry has no predecessor.
    pub layout: Vec<Block>,
    /// After `linearize`: which lanes a block works for. Its loads, stores, calls and other effects happen
    /// in the lanes that entered the region and where the mask holds; without a mask, in all that entered.
    /// The mask is defined before the block's instructions.
    pub masks: SecondaryMap<Block, PackedOption<Value>>,
    /// Where the user wrote the choice at a block's end.
    pub end_locs: SecondaryMap<Block, SourceLoc>,
    consts: HashMap<(Type, u128), Value>,
}

impl Default for Function {
    fn default() -> Self {
        Function::new()
    }
}

impl Function {
    /// An empty function without blocks.
    pub fn new() -> Function {
        Function {
            values: PrimaryMap::new(),
            insts: PrimaryMap::new(),
            blocks: PrimaryMap::new(),
            layout: Vec::new(),
            masks: SecondaryMap::new(),
            end_locs: SecondaryMap::new(),
            consts: HashMap::new(),
        }
    }

    /// The entry block.
    pub fn entry_block(&self) -> Block {
        self.layout[0]
    }

    /// The type of a value.
    pub fn ty(&self, value: Value) -> Type {
        self.values[value].ty
    }

    /// The bits of a constant; `None` for other values.
    pub fn const_bits(&self, value: Value) -> Option<u128> {
        match self.values[value].definition {
            ValueDef::Const(bits) => Some(bits),
            _ => None,
        }
    }

    /// A constant read as a signed number; `None` for other values and for those that take more than 64 bits.
    pub fn signed_constant(&self, value: Value) -> Option<i64> {
        let unused_bits = 128 - self.ty(value).bits();
        i64::try_from((self.const_bits(value)? << unused_bits).cast_signed() >> unused_bits).ok()
    }

    /// The constant of this type with these bits (bits above the type's width are dropped).
    pub fn constant(&mut self, value_type: Type, bits: u128) -> Value {
        let bits = bits & value_type.value_mask();
        let values = &mut self.values;
        *self
            .consts
            .entry((value_type, bits))
            .or_insert_with(|| values.push(ValueData { ty: value_type, definition: ValueDef::Const(bits) }))
    }

    /// A new block at the end of the layout, `Unreachable` until its terminator is set.
    pub fn add_block(&mut self) -> Block {
        let block =
            self.blocks.push(BlockData { params: Vec::new(), insts: Vec::new(), terminator: Terminator::Unreachable });
        self.layout.push(block);
        block
    }

    /// A new parameter at the end of a block's list.
    pub fn add_param(&mut self, block: Block, parameter_type: Type) -> Value {
        let index = self.blocks[block].params.len() as u32;
        let value = self.values.push(ValueData { ty: parameter_type, definition: ValueDef::Param(block, index) });
        self.blocks[block].params.push(value);
        value
    }

    /// A new instruction that no block holds yet, with one result per type.
    pub fn make_inst(&mut self, inst_data: InstData, types: &[Type], location: SourceLoc) -> Inst {
        let instruction = self.insts.push(InstNode { data: inst_data, results: Vec::new(), location });
        for (index, &result_type) in types.iter().enumerate() {
            let value = self
                .values
                .push(ValueData { ty: result_type, definition: ValueDef::Result(instruction, index as u32) });
            self.insts[instruction].results.push(value);
        }
        instruction
    }

    /// A new instruction at the end of a block.
    pub fn append_inst(&mut self, block: Block, inst_data: InstData, types: &[Type], location: SourceLoc) -> Inst {
        let instruction = self.make_inst(inst_data, types, location);
        self.blocks[block].insts.push(instruction);
        instruction
    }

    /// The only result of an instruction.
    pub fn single_result(&self, instruction: Inst) -> Value {
        debug_assert_eq!(self.insts[instruction].results.len(), 1);
        self.insts[instruction].results[0]
    }

    /// Shows each operand of a block's instructions, in their order, and of its terminator.
    pub fn for_each_use_in(&self, block: Block, mut see: impl FnMut(Value)) {
        let block_data = &self.blocks[block];
        block_data.insts.iter().for_each(|&instruction| self.insts[instruction].data.for_each_arg(&mut see));
        block_data.terminator.for_each_arg(&mut see);
    }

    /// The functions that it calls, as often as it does.
    pub fn called_functions(&self) -> impl Iterator<Item = Callee> {
        self.insts.values().filter_map(|inst_node| match inst_node.data {
            InstData::Call { callee, .. } => Some(callee),
            _ => None,
        })
    }

    /// Instructions of all blocks.
    pub fn count_placed_insts(&self) -> u64 {
        self.layout.iter().map(|&block| self.blocks[block].insts.len() as u64).sum()
    }

    /// How often operands and targets name each value.
    pub fn count_uses(&self) -> SecondaryMap<Value, u32> {
        let mut uses = SecondaryMap::new();
        self.layout.iter().for_each(|&block| self.for_each_use_in(block, |value| uses[value] += 1));
        uses
    }
}
