//! From LLVM's IR to ours.
//!
//! Requires: a valid module for `spir64`, linked, with calls of defined functions inlined into the kernels (calling convention
//! `spir_kernel`), but those of functions that are to stay (`frontend/inlining.rs`).
//!
//! Ensures: scalar SSA with block parameters. Vectors and aggregates are lists of scalars kept while
//! importing ("lanes"), so that inserting, extracting and shuffling leave no instruction; a vector load
//! or store is one instruction with several results or operands. Undef and poison are zero. Nothing
//! that is not understood is passed over: it is an [`ImportError`] with its place in the source.
//!
//! Phases: for each kernel the functions that it calls (`functions.rs`); its signature; its blocks in reverse postorder, phis first as block
//! parameters; each instruction; the terminators, when every value is known; last the addresses of
//! variables, which go to the start of the entry block.

mod blocks;
mod calls;
mod constants;
mod emit;
mod error;
mod expand;
mod expressions;
mod functions;
mod globals;
mod instructions;
mod intrinsics;
mod llvm;
mod memory;
mod module;
mod module_builder;
mod printf;
mod signature;
mod types;
mod vectors;

pub use error::ImportError;

use crate::frontend;
use lockstep_ir::ir;
use lockstep_protocol::build_failure::FrontendError;
use lockstep_protocol::portable_program::LinkedProgram;
use lockstep_protocol::variables::{FormatData, GlobalData};

/// Imports every kernel of a module with the variables they use.
pub fn import_module(module: &inkwell::module::Module<'_>) -> Result<ir::Module, ImportError> {
    module::import_module(llvm::Module::new(module))
}

/// Imports a linked program.
pub fn import_linked(program: &LinkedProgram) -> Result<ir::Module, ImportError> {
    let context = inkwell::context::Context::create();
    import_module(&frontend::prepare_module(&context, program).map_err(at_program)?)
}

/// Imports one kernel of a linked program that was imported before, with the variables and formats that were found then, by whose
/// numbers its code refers to them. None if the program is not the one that they are of.
pub fn import_linked_kernel(
    program: &LinkedProgram,
    kernel_index: usize,
    variables: &[GlobalData],
    formats: &[FormatData],
) -> Result<Option<ir::Module>, ImportError> {
    let context = inkwell::context::Context::create();
    let llvm_module = frontend::read_module_lazily(&context, program).map_err(at_program)?;
    module::import_one_kernel(llvm::Module::new(&llvm_module), kernel_index, variables, formats)
}

fn at_program(error: FrontendError) -> ImportError {
    ImportError { reason: error.build_log(), function: String::new(), line: 0 }
}
