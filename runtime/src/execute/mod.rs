//! Running machine code: what generated code calls, and who puts it into memory.

mod compiler_rt;
mod coroutines;
pub mod loaded_code;
pub(crate) mod own_stack;
pub mod process_exit;
pub mod symbols;
