//! Images, samplers and pipes of a program, in the types that the built-in library has them in.
//!
//! clang gives them opaque types, which LLVM cannot turn into others. Modules that have such types go through their text,
//! where a type is a word; others stay as they are.

use inkwell::context::Context;
use inkwell::memory_buffer::MemoryBuffer;
use inkwell::module::Module;
use llvm_sys::LLVMTypeKind;
use llvm_sys::core::{LLVMGetParam, LLVMGetReturnType, LLVMGetTypeKind, LLVMGlobalGetValueType, LLVMTypeOf};

use super::FrontendError;

/// The module with images as addresses of records, samplers as numbers, and pipes as addresses of what the library works on.
pub(super) fn lower<'ctx>(context: &'ctx Context, module: Module<'ctx>) -> Result<Module<'ctx>, FrontendError> {
    if !has_opaque_types(&module) {
        return Ok(module);
    }
    let text = lockstep_kernels::without_opaque_types(&module.print_to_string().to_string_lossy());
    drop(module);
    let buffer = MemoryBuffer::create_from_memory_range_copy(text.as_bytes(), "program");
    context.create_module_from_ir(buffer).map_err(|error| FrontendError::link(format!("error: images: {error}\n")))
}

/// Whether some function takes or gives an image, a sampler or the like. Without, nothing can be done with one.
fn has_opaque_types(module: &Module<'_>) -> bool {
    use inkwell::values::AsValueRef;
    module.get_functions().any(|function| {
        let (raw, count) = (function.as_value_ref(), function.count_params());
        // SAFETY: a function of a live module, its type and its parameters.
        unsafe {
            let is_opaque = |ty| LLVMGetTypeKind(ty) == LLVMTypeKind::LLVMTargetExtTypeKind;
            is_opaque(LLVMGetReturnType(LLVMGlobalGetValueType(raw)))
                || (0..count).any(|index| is_opaque(LLVMTypeOf(LLVMGetParam(raw, index))))
        }
    })
}
