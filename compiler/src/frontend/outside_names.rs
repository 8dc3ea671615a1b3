//! Takes away what a module says of its names for others: a linked program is all there is.
//!
//! Requires: a linked module.
//! Ensures: no list of names that have to stay (`llvm.used`, `llvm.compiler.used`), no annotations, and no alias of a function: who
//! names an alias names the function.
//! Phases: lists; aliases; both are removed.
//! Source: our own.
//!
//! ```text
//! @llvm.used = appending global [1 x ptr] [ptr @f]    =>
//! @g = alias i32 (i32), ptr @f
//! call i32 @g(i32 %x)                                 =>    call i32 @f(i32 %x)
//! ```

use inkwell::module::Module;
use llvm_sys::LLVMLinkage;
use llvm_sys::core::{
    LLVMAliasGetAliasee, LLVMGetFirstGlobalAlias, LLVMGetNextGlobalAlias, LLVMIsAFunction, LLVMReplaceAllUsesWith,
    LLVMSetLinkage,
};

/// The lists that LLVM keeps of a module's names.
const LISTS: [&str; 3] = ["llvm.used", "llvm.compiler.used", "llvm.global.annotations"];

/// Removes the lists. Aliases of functions are left unused and private, for LLVM's `globaldce`; whether there are any.
pub(super) fn remove_outside_names(module: &Module<'_>) -> bool {
    for list in LISTS.iter().filter_map(|list| module.get_global(list)) {
        // SAFETY: nothing uses a list, and nobody asks for it afterwards.
        unsafe { list.delete() };
    }
    let mut has_aliases = false;
    // SAFETY: the aliases are the module's, which is alive. An alias has the type of what it stands for.
    unsafe {
        let mut next_alias = LLVMGetFirstGlobalAlias(module.as_mut_ptr());
        while !next_alias.is_null() {
            let alias = next_alias;
            next_alias = LLVMGetNextGlobalAlias(alias);
            let aliased = LLVMAliasGetAliasee(alias);
            if !LLVMIsAFunction(aliased).is_null() {
                LLVMReplaceAllUsesWith(alias, aliased);
                LLVMSetLinkage(alias, LLVMLinkage::LLVMInternalLinkage);
                has_aliases = true;
            }
        }
    }
    has_aliases
}
