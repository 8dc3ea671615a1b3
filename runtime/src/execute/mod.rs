//! Running machine code: what generated code calls, and who puts it into memory.

mod soft;
pub mod symbols;
mod turns;

use lockstep_compiler::jit::Loader;

/// Links machine code into this process.
pub static LOADER: Loader = Loader::new(symbols::list_symbols);
