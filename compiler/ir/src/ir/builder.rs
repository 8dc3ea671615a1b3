//! Builds functions instruction by instruction, for passes and tests.

use super::*;
use lockstep_protocol::types::{Space, Type};
use std::sync::Arc;

/// Appends to one block of a function after the other.
pub struct Builder<'a> {
    /// The function that grows.
    pub function: &'a mut Function,
    block: Block,
    location: SourceLoc,
}

impl<'a> Builder<'a> {
    /// A builder that appends to a block.
    pub fn at_end_of(function: &'a mut Function, block: Block) -> Builder<'a> {
        Builder { function, block, location: SourceLoc::default() }
    }

    /// A builder for a new, empty function: makes its entry block with these parameters.
    pub fn with_entry(function: &'a mut Function, params: &[Type]) -> (Builder<'a>, Vec<Value>) {
        let block = function.add_block();
        let parameters = params.iter().map(|&parameter_type| function.add_param(block, parameter_type)).collect();
        (Builder::at_end_of(function, block), parameters)
    }

    /// The block that grows.
    pub fn current_block(&self) -> Block {
        self.block
    }

    /// Goes on in another block.
    pub fn switch_to(&mut self, block: Block) {
        self.block = block;
    }

    /// Gives this place to the instructions from here on.
    pub fn set_loc(&mut self, location: SourceLoc) {
        self.location = location;
    }

    /// A new block at the end of the layout with parameters of these types.
    pub fn new_block(&mut self, params: &[Type]) -> (Block, Vec<Value>) {
        let block = self.function.add_block();
        let parameters = params.iter().map(|&parameter_type| self.function.add_param(block, parameter_type)).collect();
        (block, parameters)
    }

    /// Appends any instruction, with results of these types.
    pub fn inst(&mut self, inst_data: InstData, results: &[Type]) -> Inst {
        self.function.append_inst(self.block, inst_data, results, self.location)
    }

    fn append_single(&mut self, inst_data: InstData, result_type: Type) -> Value {
        let instruction = self.inst(inst_data, &[result_type]);
        self.function.single_result(instruction)
    }

    /// An integer constant; negative numbers in two's complement.
    pub fn int(&mut self, int_type: Type, number: i128) -> Value {
        self.function.constant(int_type, number as u128)
    }

    /// An `f32` constant.
    pub fn f32(&mut self, number: f32) -> Value {
        self.function.constant(Type::F32, u128::from(number.to_bits()))
    }

    /// An `f64` constant.
    pub fn f64(&mut self, number: f64) -> Value {
        self.function.constant(Type::F64, u128::from(number.to_bits()))
    }

    /// An operation of one operand; `result_type` is the result's type.
    pub fn unary(&mut self, opcode: UnaryOp, result_type: Type, argument: Value) -> Value {
        self.append_single(InstData::Unary { opcode, fast_math: FastMath::default(), argument }, result_type)
    }

    /// An operation of two operands.
    pub fn binary(&mut self, opcode: BinaryOp, left: Value, right: Value) -> Value {
        let operand_type = self.function.ty(left);
        let inst_data = InstData::Binary {
            opcode,
            flags: IntFlags::default(),
            fast_math: FastMath::default(),
            arguments: [left, right],
        };
        self.append_single(inst_data, operand_type)
    }

    /// An operation of three operands; the result has the type of the last.
    pub fn ternary(&mut self, opcode: TernaryOp, first: Value, second: Value, third: Value) -> Value {
        let operand_type = self.function.ty(third);
        self.append_single(
            InstData::Ternary { opcode, fast_math: FastMath::default(), arguments: [first, second, third] },
            operand_type,
        )
    }

    /// Integer or pointer comparison.
    pub fn icmp(&mut self, comparison: IntCc, left: Value, right: Value) -> Value {
        self.append_single(InstData::Icmp { comparison, arguments: [left, right] }, Type::BOOL)
    }

    /// A comparison of two floats.
    pub fn fcmp(&mut self, comparison: FloatCc, left: Value, right: Value) -> Value {
        self.append_single(
            InstData::Fcmp { comparison, fast_math: FastMath::default(), arguments: [left, right] },
            Type::BOOL,
        )
    }

    /// Address plus bytes, within one object.
    pub fn ptr_add(&mut self, base_address: Value, offset: Value) -> Value {
        let pointer_type = self.function.ty(base_address);
        self.append_single(InstData::PtrAdd { base: base_address, offset, inbounds: true }, pointer_type)
    }

    /// A load of one element, naturally aligned.
    pub fn load(&mut self, element_type: Type, pointer: Value) -> Value {
        self.append_single(
            InstData::Load { pointer, offset: 0, access: Access::plain(element_type.bytes()) },
            element_type,
        )
    }

    /// A store of one element, naturally aligned.
    pub fn store(&mut self, pointer: Value, argument: Value) {
        let access = Access::plain(self.function.ty(argument).bytes());
        self.inst(InstData::Store { pointer, offset: 0, access, arguments: vec![argument] }, &[]);
    }

    /// A work-item's place in the NDRange.
    pub fn query(&mut self, query: Query, dimension: u8) -> Value {
        let result_type = if query == Query::WorkDim { Type::I32 } else { Type::I64 };
        self.append_single(InstData::Query { query, dimension }, result_type)
    }

    /// Address of a private slot.
    pub fn slot_addr(&mut self, slot: Slot) -> Value {
        self.append_single(InstData::SlotAddr { slot }, Type::Ptr(Space::Private))
    }

    /// Address of a `__local` variable.
    pub fn local_addr(&mut self, local_variable: LocalVar) -> Value {
        self.append_single(InstData::LocalAddr { local: local_variable }, Type::Ptr(Space::Local))
    }

    /// A barrier for all of the group.
    pub fn barrier(&mut self) {
        self.inst(InstData::Barrier, &[]);
    }

    /// Whether a condition holds in an active lane.
    pub fn any(&mut self, condition: Value) -> Value {
        self.append_single(InstData::Any { condition }, Type::BOOL)
    }

    /// The active lanes in which a condition holds.
    pub fn ballot(&mut self, condition: Value) -> Value {
        self.append_single(InstData::Ballot { condition }, Type::I64)
    }

    /// What one lane holds, for all.
    pub fn lane_of(&mut self, argument: Value, lane: Value) -> Value {
        let result_type = self.function.ty(argument);
        self.append_single(InstData::LaneOf { argument, lane }, result_type)
    }

    /// A value in one lane of another.
    pub fn insert_lane(&mut self, vector: Value, lane: Value, value: Value) -> Value {
        let result_type = self.function.ty(vector);
        self.append_single(InstData::Put { into: vector, lane, value }, result_type)
    }

    /// A function of the host's C library.
    pub fn call_host(&mut self, name: &str, result_type: Type, arguments: &[Value]) -> Value {
        self.append_single(InstData::CallHost { name: Arc::from(name), arguments: arguments.to_vec() }, result_type)
    }

    /// Ends the block.
    pub fn terminate(&mut self, terminator: Terminator) {
        self.function.blocks[self.block].terminator = terminator;
    }

    /// Ends the block with a jump.
    pub fn jump(&mut self, block: Block, arguments: &[Value]) {
        self.terminate(Terminator::Jump(BlockCall { block, arguments: arguments.to_vec() }));
    }

    /// Ends the block with a choice between two blocks.
    pub fn branch(&mut self, condition: Value, then_to: (Block, &[Value]), else_to: (Block, &[Value])) {
        let call = |(block, arguments): (Block, &[Value])| BlockCall { block, arguments: arguments.to_vec() };
        self.terminate(Terminator::Branch { condition, then_to: call(then_to), else_to: call(else_to) });
    }

    /// Ends the block and the work-item.
    pub fn ret(&mut self) {
        self.terminate(Terminator::Return);
    }
}
