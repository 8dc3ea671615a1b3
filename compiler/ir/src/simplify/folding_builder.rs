//! Builds operations of which something simpler may be there already.

use super::{Operands, Simpler, simplest};
use crate::ir::{
    BinaryOp, Block, FastMath, Function, Inst, InstData, IntCc, IntFlags, SourceLoc, TernaryOp, UnaryOp, Value,
};
use cranelift_entity::EntitySet;
use lockstep_protocol::types::Type;

/// Appends operations to a block as [`Builder`](crate::ir::Builder) does, but only what has nothing simpler to stand for it.
/// Their places in the source are not known.
pub struct FoldingBuilder<'a> {
    /// The function that grows.
    pub func: &'a mut Function,
    block: Block,
    operands: Operands,
    own: Option<&'a mut EntitySet<Inst>>,
}

impl<'a> FoldingBuilder<'a> {
    /// A builder that appends to a block.
    pub fn at(func: &'a mut Function, block: Block) -> FoldingBuilder<'a> {
        FoldingBuilder { func, block, operands: Operands::Any, own: None }
    }

    /// A builder of masks: no operand may be poison where code asks it. An instruction at the end of the block is used again
    /// if it is one of those that such builders have appended, which `own` keeps.
    pub fn of_masks(func: &'a mut Function, block: Block, own: &'a mut EntitySet<Inst>) -> FoldingBuilder<'a> {
        FoldingBuilder { func, block, operands: Operands::OfMasks, own: Some(own) }
    }

    /// Any instruction with one result of a type.
    pub fn operation(&mut self, data: InstData, ty: Type) -> Value {
        match simplest(self.func, data, ty, self.operands) {
            Simpler::Value(value) => value,
            Simpler::Operation(data) => self.append(data, ty),
        }
    }

    fn append(&mut self, data: InstData, ty: Type) -> Value {
        let inst =
            self.find_own(&data).unwrap_or_else(|| self.func.append(self.block, data, &[ty], SourceLoc::default()));
        if let Some(own) = &mut self.own {
            own.insert(inst);
        }
        self.func.result(inst)
    }

    /// The same instruction, among those at the block's end that builders like this one have appended.
    fn find_own(&self, data: &InstData) -> Option<Inst> {
        let own = self.own.as_deref()?;
        let mut last = self.func.blocks[self.block].insts.iter().rev().take_while(|&&inst| own.contains(inst));
        last.find(|&&inst| self.func.insts[inst].data == *data).copied()
    }

    /// An operation of one operand; `ty` is the result's type.
    pub fn unary(&mut self, op: UnaryOp, ty: Type, arg: Value) -> Value {
        self.operation(InstData::Unary { op, fmf: FastMath::default(), arg }, ty)
    }

    /// An operation of two operands.
    pub fn binary(&mut self, op: BinaryOp, a: Value, b: Value) -> Value {
        let data = InstData::Binary { op, flags: IntFlags::default(), fmf: FastMath::default(), args: [a, b] };
        self.operation(data, self.func.ty(a))
    }

    /// Both of two conditions.
    pub fn and(&mut self, a: Value, b: Value) -> Value {
        self.binary(BinaryOp::And, a, b)
    }

    /// One of two conditions, or both.
    pub fn or(&mut self, a: Value, b: Value) -> Value {
        self.binary(BinaryOp::Or, a, b)
    }

    /// The opposite of a condition.
    pub fn not(&mut self, condition: Value) -> Value {
        let yes = self.func.constant(Type::BOOL, 1);
        self.binary(BinaryOp::Xor, condition, yes)
    }

    /// One of two values by a condition.
    pub fn select(&mut self, condition: Value, yes: Value, no: Value) -> Value {
        let args = [condition, yes, no];
        let ty = self.func.ty(yes);
        self.operation(InstData::Ternary { op: TernaryOp::Select, fmf: FastMath::default(), args }, ty)
    }

    /// Integer or pointer comparison.
    pub fn icmp(&mut self, cc: IntCc, a: Value, b: Value) -> Value {
        self.operation(InstData::Icmp { cc, args: [a, b] }, Type::BOOL)
    }
}
