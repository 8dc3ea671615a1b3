//! Images, samplers, pipes and events of a program, in the types that the built-in library has them in.
//!
//! clang gives them opaque types, which LLVM cannot turn into others. Modules that have such types go through their text,
//! where a type is a word; others stay as they are.

use inkwell::context::Context;
use inkwell::memory_buffer::MemoryBuffer;
use inkwell::module::Module;
use inkwell::values::FunctionValue;
use llvm_sys::LLVMTypeKind;
use llvm_sys::core::{LLVMGetParam, LLVMGetReturnType, LLVMGetTypeKind, LLVMGlobalGetValueType, LLVMTypeOf};
use llvm_sys::ir_reader::LLVMParseIRInContext2;

use super::FrontendError;
use super::llvm::{raw_context, take_message};

/// The module with images as addresses of records, samplers and events as numbers, and pipes as addresses of what the library works on.
pub(super) fn lower_opaque_types<'ctx>(
    context: &'ctx Context,
    module: Module<'ctx>,
) -> Result<Module<'ctx>, FrontendError> {
    if !has_opaque_types(&module) {
        return Ok(module);
    }
    let module_text = lockstep_kernels::without_opaque_types(&module.print_to_string().to_string_lossy());
    drop(module);
    let buffer = MemoryBuffer::create_from_memory_range_copy(module_text.as_bytes(), "program");
    let (mut module, mut message) = (std::ptr::null_mut(), std::ptr::null_mut());
    // SAFETY: context and buffer are alive, and LLVM leaves the buffer to us. inkwell's function takes it to be consumed,
    // as older ones do, and so never frees it. What comes of it is a module of this context, or a message.
    unsafe {
        match LLVMParseIRInContext2(raw_context(context), buffer.as_mut_ptr(), &mut module, &mut message) {
            0 => Ok(Module::new(module)),
            _ => Err(FrontendError::link_failure(format!("error: images: {}\n", take_message(message)))),
        }
    }
}

/// Whether some function takes or gives an image, a sampler or the like. Without, nothing can be done with one.
fn has_opaque_types(module: &Module<'_>) -> bool {
    module.get_functions().any(passes_opaque_types)
}

fn passes_opaque_types(function: FunctionValue<'_>) -> bool {
    use inkwell::values::AsValueRef;
    let (raw_function, parameter_count) = (function.as_value_ref(), function.count_params());
    // SAFETY: a function of a live module, its type and its parameters.
    unsafe {
        let is_opaque = |llvm_type| LLVMGetTypeKind(llvm_type) == LLVMTypeKind::LLVMTargetExtTypeKind;
        is_opaque(LLVMGetReturnType(LLVMGlobalGetValueType(raw_function)))
            || (0..parameter_count).any(|index| is_opaque(LLVMTypeOf(LLVMGetParam(raw_function, index))))
    }
}
