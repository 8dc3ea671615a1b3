//! Builds functions instruction by instruction, for passes and tests.

use super::*;
use lockstep_protocol::types::{Space, Type};
use std::sync::Arc;

/// Appends to one block of a function after the other.
pub struct Builder<'a> {
    /// The function that grows.
    pub func: &'a mut Function,
    block: Block,
    loc: SourceLoc,
}

impl<'a> Builder<'a> {
    /// A builder that appends to a block.
    pub fn at(func: &'a mut Function, block: Block) -> Builder<'a> {
        Builder { func, block, loc: SourceLoc::default() }
    }

    /// A builder for a new, empty function: makes its entry block with these parameters.
    pub fn entry(func: &'a mut Function, params: &[Type]) -> (Builder<'a>, Vec<Value>) {
        let block = func.add_block();
        let params = params.iter().map(|&ty| func.add_param(block, ty)).collect();
        (Builder::at(func, block), params)
    }

    /// The block that grows.
    pub fn block(&self) -> Block {
        self.block
    }

    /// Goes on in another block.
    pub fn switch_to(&mut self, block: Block) {
        self.block = block;
    }

    /// Gives this place to the instructions from here on.
    pub fn set_loc(&mut self, loc: SourceLoc) {
        self.loc = loc;
    }

    /// A new block at the end of the layout with parameters of these types.
    pub fn new_block(&mut self, params: &[Type]) -> (Block, Vec<Value>) {
        let block = self.func.add_block();
        let params = params.iter().map(|&ty| self.func.add_param(block, ty)).collect();
        (block, params)
    }

    /// Appends any instruction, with results of these types.
    pub fn inst(&mut self, data: InstData, results: &[Type]) -> Inst {
        self.func.append(self.block, data, results, self.loc)
    }

    fn one(&mut self, data: InstData, ty: Type) -> Value {
        let inst = self.inst(data, &[ty]);
        self.func.result(inst)
    }

    /// An integer constant; negative numbers in two's complement.
    pub fn int(&mut self, ty: Type, n: i128) -> Value {
        self.func.constant(ty, n as u128)
    }

    /// An `f32` constant.
    pub fn f32(&mut self, x: f32) -> Value {
        self.func.constant(Type::F32, u128::from(x.to_bits()))
    }

    /// An `f64` constant.
    pub fn f64(&mut self, x: f64) -> Value {
        self.func.constant(Type::F64, u128::from(x.to_bits()))
    }

    /// An operation of one operand; `ty` is the result's type.
    pub fn unary(&mut self, op: UnaryOp, ty: Type, arg: Value) -> Value {
        self.one(InstData::Unary { op, fmf: FastMath::default(), arg }, ty)
    }

    /// An operation of two operands.
    pub fn binary(&mut self, op: BinaryOp, a: Value, b: Value) -> Value {
        let ty = self.func.ty(a);
        let data = InstData::Binary { op, flags: IntFlags::default(), fmf: FastMath::default(), args: [a, b] };
        self.one(data, ty)
    }

    /// An operation of three operands.
    pub fn ternary(&mut self, op: TernaryOp, a: Value, b: Value, c: Value) -> Value {
        let ty = self.func.ty(c);
        self.one(InstData::Ternary { op, fmf: FastMath::default(), args: [a, b, c] }, ty)
    }

    /// Integer or pointer comparison.
    pub fn icmp(&mut self, cc: IntCc, a: Value, b: Value) -> Value {
        self.one(InstData::Icmp { cc, args: [a, b] }, Type::BOOL)
    }

    /// A comparison of two floats.
    pub fn fcmp(&mut self, cc: FloatCc, a: Value, b: Value) -> Value {
        self.one(InstData::Fcmp { cc, fmf: FastMath::default(), args: [a, b] }, Type::BOOL)
    }

    /// Address plus bytes, within one object.
    pub fn ptr_add(&mut self, base: Value, offset: Value) -> Value {
        let ty = self.func.ty(base);
        self.one(InstData::PtrAdd { base, offset, inbounds: true }, ty)
    }

    /// A load of one element, naturally aligned.
    pub fn load(&mut self, ty: Type, ptr: Value) -> Value {
        self.one(InstData::Load { ptr, offset: 0, access: Access::plain(ty.bytes()) }, ty)
    }

    /// A store of one element, naturally aligned.
    pub fn store(&mut self, ptr: Value, arg: Value) {
        let access = Access::plain(self.func.ty(arg).bytes());
        self.inst(InstData::Store { ptr, offset: 0, access, args: vec![arg] }, &[]);
    }

    /// A work-item's place in the NDRange.
    pub fn query(&mut self, query: Query, dim: u8) -> Value {
        let ty = if query == Query::WorkDim { Type::I32 } else { Type::I64 };
        self.one(InstData::Query { query, dim }, ty)
    }

    /// Address of a private slot.
    pub fn slot_addr(&mut self, slot: Slot) -> Value {
        self.one(InstData::SlotAddr { slot }, Type::Ptr(Space::Private))
    }

    /// Address of a `__local` variable.
    pub fn local_addr(&mut self, local: LocalVar) -> Value {
        self.one(InstData::LocalAddr { local }, Type::Ptr(Space::Local))
    }

    /// A barrier for all of the group.
    pub fn barrier(&mut self) {
        self.inst(InstData::Barrier, &[]);
    }

    /// Whether a condition holds in an active lane.
    pub fn any(&mut self, cond: Value) -> Value {
        self.one(InstData::Any { cond }, Type::BOOL)
    }

    /// The active lanes in which a condition holds.
    pub fn ballot(&mut self, cond: Value) -> Value {
        self.one(InstData::Ballot { cond }, Type::I64)
    }

    /// What one lane holds, for all.
    pub fn lane_of(&mut self, arg: Value, lane: Value) -> Value {
        let ty = self.func.ty(arg);
        self.one(InstData::LaneOf { arg, lane }, ty)
    }

    /// A value in one lane of another.
    pub fn put(&mut self, into: Value, lane: Value, value: Value) -> Value {
        let ty = self.func.ty(into);
        self.one(InstData::Put { into, lane, value }, ty)
    }

    /// A function of the host's C library.
    pub fn call_host(&mut self, name: &str, ty: Type, args: &[Value]) -> Value {
        self.one(InstData::CallHost { name: Arc::from(name), args: args.to_vec() }, ty)
    }

    /// Ends the block.
    pub fn terminate(&mut self, term: Terminator) {
        self.func.blocks[self.block].term = term;
    }

    /// Ends the block with a jump.
    pub fn jump(&mut self, block: Block, args: &[Value]) {
        self.terminate(Terminator::Jump(BlockCall { block, args: args.to_vec() }));
    }

    /// Ends the block with a choice between two blocks.
    pub fn branch(&mut self, cond: Value, then_to: (Block, &[Value]), else_to: (Block, &[Value])) {
        let call = |(block, args): (Block, &[Value])| BlockCall { block, args: args.to_vec() };
        self.terminate(Terminator::Branch { cond, then_to: call(then_to), else_to: call(else_to) });
    }

    /// Ends the block and the work-item.
    pub fn ret(&mut self) {
        self.terminate(Terminator::Return);
    }
}
