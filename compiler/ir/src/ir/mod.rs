//! The intermediate representation: scalar SSA with block parameters over typed entities.
//!
//! A [`Module`] holds kernels; a [`Kernel`] one [`Function`] until barriers cut it into regions.
//! There are no calls but those of host library functions and, where inlining them would make too much code, of the program's own
//! functions, which a module holds beside the kernels. OpenCL vectors are
//! scalarised; a vector load or store stays one instruction with several results or operands.
//! Addresses are a base and a byte offset. Constants belong to no block. There is no undef: import
//! puts zero for it.

mod builder;
mod collective;
mod entities;
mod function;
mod inst;
mod lex;
mod module;
mod opcodes;
mod parse;
mod print;
pub mod replacements;
mod returned_values;

pub use builder::Builder;
pub use collective::{Cluster, Combine};
pub use entities::{Block, Callee, Format, Inst, LiveSlot, LocalVar, Region, Slot, Value};
pub use function::{BlockData, Function, InstNode, SourceLoc, ValueData, ValueDef};
pub use inst::{Access, BlockCall, InstData, Targets, TargetsIter, Terminator};
pub use lex::ParseError;
pub use module::{Counters, Definition, Kernel, LiveData, LocalData, Module, SlotData, SlotLayout};
pub use opcodes::{
    AtomicOp, BinaryOp, COUNTS_SIXTEENTHS, Collect, FastMath, FloatCc, IntCc, IntFlags, Ordering, Query, ROOTS,
    TernaryOp, UnaryOp,
};
pub use parse::parse_module;
pub use print::{block_text, inst_text, param_text, term_text};
pub use returned_values::{ReturnedValue, ReturnedValues};
