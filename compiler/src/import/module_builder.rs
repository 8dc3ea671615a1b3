//! What the kernels of one module share while they are imported.

use super::globals::Globals;
use super::llvm::Module;
use lockstep_ir::ir;

/// A module in the making, and the one that it is made from.
pub(super) struct ModuleBuilder<'m> {
    /// The module that is read.
    pub llvm: Module<'m>,
    /// Its program-scope variables.
    pub globals: Globals<'m>,
    /// What has been imported.
    pub out: ir::Module,
}
