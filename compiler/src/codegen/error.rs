//! Why code could not be generated. All of these are mistakes of the driver: [`Emit::place`](super::emit::Emit) says at
//! which place of the source, and the pipeline gives the kernel its simplest form.

use inkwell::builder::BuilderError;
use inkwell::values::InstructionValueError;
use lockstep_ir::ir::{Block, Value};
use lockstep_protocol::types::Type;

/// A mistake that code generation has met.
#[derive(Debug, thiserror::Error)]
pub enum CodegenError {
    /// LLVM's builder refuses an instruction.
    #[error("LLVM refuses an instruction: {0}")]
    Instruction(#[from] BuilderError),
    /// LLVM refuses an alignment, an ordering or metadata of an instruction.
    #[error("LLVM refuses a property of an instruction: {0}")]
    Property(#[from] InstructionValueError),
    /// A value is used where no code has computed it yet.
    #[error("{0} is used before it is computed")]
    NotComputed(Value),
    /// A branch leads to a block of the IR that LLVM's function does not have.
    #[error("{0} is branched to, and has no code")]
    NoSuchBlock(Block),
    /// A call or a load that has to have a result has none.
    #[error("{0} has no result")]
    NoResult(String),
    /// Values are combined by an operation that has no operand that changes nothing.
    #[error("{op} has no neutral operand of type {ty}")]
    NoNeutralOperand {
        /// The operation's name in the IR's text form.
        op: &'static str,
        /// The type of the operands.
        ty: Type,
    },
    /// Something that an earlier step makes is not there.
    #[error("there is no {0}")]
    Missing(&'static str),
    /// An instruction has reached a place that earlier passes keep it from.
    #[error("{0}")]
    Unexpected(String),
}
