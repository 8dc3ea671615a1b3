//! From LLVM's IR to ours.
//!
//! Requires: a valid module for `spir64`, linked, with every call of a defined function inlined into
//! the kernels (calling convention `spir_kernel`).
//!
//! Ensures: scalar SSA with block parameters. Vectors and aggregates are lists of scalars kept while
//! importing ("lanes"), so that inserting, extracting and shuffling leave no instruction; a vector load
//! or store is one instruction with several results or operands. Undef and poison are zero. Nothing
//! that is not understood is passed over: it is an [`ImportError`] with its place in the source.
//!
//! Phases: for each kernel its signature; its blocks in reverse postorder, phis first as block
//! parameters; each instruction; the terminators, when every value is known; last the addresses of
//! variables, which go to the start of the entry block.

mod blocks;
mod calls;
mod constants;
mod emit;
mod expand;
mod expressions;
mod globals;
mod instructions;
mod intrinsics;
mod llvm;
mod memory;
mod module;
mod printf;
mod signature;
mod types;
mod vectors;

use crate::frontend::{self, LinkedProgram};
use lockstep_ir::ir;

/// Why a module cannot be imported, and where.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{}{reason}", error_place(function, *line))]
pub struct ImportError {
    /// What is not understood or not supported.
    pub reason: String,
    /// The function it is in; empty if in none.
    pub function: String,
    /// The line in the user's source; 0 if unknown.
    pub line: u32,
}

/// Where an error is, as far as that is known.
fn error_place(function: &str, line: u32) -> String {
    let line = if line == 0 { String::new() } else { format!("line {line}: ") };
    if function.is_empty() { line } else { format!("{line}in {function}: ") }
}

/// Imports every kernel of a module with the variables they use.
pub fn import_module(module: &inkwell::module::Module<'_>) -> Result<ir::Module, ImportError> {
    module::import_module(llvm::Module::new(module))
}

/// Imports a linked program.
pub fn import_linked(program: &LinkedProgram) -> Result<ir::Module, ImportError> {
    let context = inkwell::context::Context::create();
    let module = frontend::prepare_module(&context, program).map_err(|error| ImportError {
        reason: error.build_log(),
        function: String::new(),
        line: 0,
    })?;
    import_module(&module)
}

/// A reason without its place, which is added where the place is known.
#[derive(Debug)]
struct Reason(String);

/// A result or the reason why there is none.
type Attempt<T> = Result<T, Reason>;

/// Returns from the function with a reason.
macro_rules! refuse {
    ($($arg:tt)*) => { return Err($crate::import::Reason(format!($($arg)*))) };
}
use refuse;
