//! Builds operations of which something simpler may be there already.

use super::{Operands, Simpler, simplest_form};
use crate::ir::{
    BinaryOp, Block, FastMath, Function, Inst, InstData, IntCc, IntFlags, SourceLoc, TernaryOp, UnaryOp, Value,
};
use cranelift_entity::EntitySet;
use lockstep_protocol::types::Type;

/// Appends operations to a block as [`Builder`](crate::ir::Builder) does, but only what has nothing simpler to stand for it.
/// Their places in the source are not known.
pub struct FoldingBuilder<'a> {
    /// The function that grows.
    pub function: &'a mut Function,
    block: Block,
    operands: Operands,
    own: Option<&'a mut EntitySet<Inst>>,
}

impl<'a> FoldingBuilder<'a> {
    /// A builder that appends to a block.
    pub fn at_end_of(function: &'a mut Function, block: Block) -> FoldingBuilder<'a> {
        FoldingBuilder { function, block, operands: Operands::Any, own: None }
    }

    /// A builder of masks: no operand may be poison where code asks it. An instruction at the end of the block is used again
    /// if it is one of those that such builders have appended, which `own` keeps.
    pub fn of_masks(function: &'a mut Function, block: Block, own: &'a mut EntitySet<Inst>) -> FoldingBuilder<'a> {
        FoldingBuilder { function, block, operands: Operands::OfMasks, own: Some(own) }
    }

    /// Any instruction with one result of a type.
    pub fn fold_operation(&mut self, inst_data: InstData, result_type: Type) -> Value {
        match simplest_form(self.function, inst_data, result_type, self.operands) {
            Simpler::Value(value) => value,
            Simpler::Operation(inst_data) => self.append_new(inst_data, result_type),
        }
    }

    fn append_new(&mut self, inst_data: InstData, result_type: Type) -> Value {
        let instruction = self
            .find_own(&inst_data)
            .unwrap_or_else(|| self.function.append_inst(self.block, inst_data, &[result_type], SourceLoc::default()));
        if let Some(own_insts) = &mut self.own {
            own_insts.insert(instruction);
        }
        self.function.single_result(instruction)
    }

    /// The same instruction, among those at the block's end that builders like this one have appended.
    fn find_own(&self, inst_data: &InstData) -> Option<Inst> {
        let own_insts = self.own.as_deref()?;
        let mut last = self.function.blocks[self.block]
            .insts
            .iter()
            .rev()
            .take_while(|&&instruction| own_insts.contains(instruction));
        last.find(|&&instruction| self.function.insts[instruction].data == *inst_data).copied()
    }

    /// An operation of one operand; `result_type` is the result's type.
    pub fn unary(&mut self, opcode: UnaryOp, result_type: Type, argument: Value) -> Value {
        self.fold_operation(InstData::Unary { opcode, fast_math: FastMath::default(), argument }, result_type)
    }

    /// An operation of two operands.
    pub fn binary(&mut self, opcode: BinaryOp, left: Value, right: Value) -> Value {
        let inst_data = InstData::Binary {
            opcode,
            flags: IntFlags::default(),
            fast_math: FastMath::default(),
            arguments: [left, right],
        };
        self.fold_operation(inst_data, self.function.ty(left))
    }

    /// Both of two conditions.
    pub fn and(&mut self, left: Value, right: Value) -> Value {
        self.binary(BinaryOp::And, left, right)
    }

    /// One of two conditions, or both.
    pub fn or(&mut self, left: Value, right: Value) -> Value {
        self.binary(BinaryOp::Or, left, right)
    }

    /// The opposite of a condition.
    pub fn not(&mut self, condition: Value) -> Value {
        let if_true = self.function.constant(Type::BOOL, 1);
        self.binary(BinaryOp::Xor, condition, if_true)
    }

    /// One of two values by a condition.
    pub fn select(&mut self, condition: Value, if_true: Value, if_false: Value) -> Value {
        let arguments = [condition, if_true, if_false];
        let operand_type = self.function.ty(if_true);
        self.fold_operation(
            InstData::Ternary { opcode: TernaryOp::Select, fast_math: FastMath::default(), arguments },
            operand_type,
        )
    }

    /// Integer or pointer comparison.
    pub fn icmp(&mut self, comparison: IntCc, left: Value, right: Value) -> Value {
        self.fold_operation(InstData::Icmp { comparison, arguments: [left, right] }, Type::BOOL)
    }
}
