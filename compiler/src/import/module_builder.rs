//! What the kernels of one module share while they are imported.

use super::globals::Globals;
use super::llvm::{Module, Value};
use lockstep_ir::ir;
use std::collections::HashMap;

/// A module in the making, and the one that it is made from.
pub(super) struct ModuleBuilder<'m> {
    /// The module that is read.
    pub llvm: Module<'m>,
    /// Its program-scope variables.
    pub globals: Globals<'m>,
    /// What has been imported.
    pub out: ir::Module,
    /// The functions among it, and what they ask of their callers.
    pub functions: HashMap<Value<'m>, ImportedFunction>,
}

/// A function that calls may name.
#[derive(Clone)]
pub(super) struct ImportedFunction {
    /// The function in the module of our IR.
    pub callee: ir::Callee,
    /// What it asks of its work-item: the arguments that come last.
    pub asked: Vec<(ir::Query, u8)>,
}

impl<'m> ModuleBuilder<'m> {
    /// Nothing has been imported but these variables and formats.
    pub fn new(llvm: Module<'m>, globals: Globals<'m>, out: ir::Module) -> ModuleBuilder<'m> {
        ModuleBuilder { llvm, globals, out, functions: HashMap::new() }
    }
}
