//! Running machine code: what generated code calls, and who puts it into memory.

mod compiler_rt;
mod coroutines;
pub mod process_exit;
pub mod symbols;

use lockstep_compiler::jit::Loader;

/// Links machine code into this process.
pub static LOADER: Loader = Loader::new(symbols::list_symbols);
