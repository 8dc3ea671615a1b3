//! The size of sub-groups, which kernels may ask for, as a constant in each of them.
//!
//! In programs with such kernels the built-in library computes with what `__lockstep_sub_group_size` returns, because a
//! function of it can be called by kernels of different sizes. Once all of it is inlined into kernels the call is the
//! kernel's own number, so that LLVM folds what is computed of it, and nothing after the clean-up knows that the call was
//! there. Other programs get chapters of the library that have the number in them.
//!
//! Requires: everything is inlined into the kernels.
//! Ensures: no call of `__lockstep_sub_group_size` is left.
//! Phases: the calls of each function; all of them become its size.
//! Source: cl_intel_required_subgroup_size.

use inkwell::values::FunctionValue;
use llvm_sys::core::*;
use llvm_sys::prelude::LLVMValueRef;

use lockstep_protocol::layout::DEFAULT_SUB_GROUP;

/// The primitive of the built-in library.
const PRIMITIVE: &[u8] = b"__lockstep_sub_group_size";
/// The name of the metadata in which clang leaves the attribute.
const ATTRIBUTE: &str = "intel_reqd_sub_group_size";

/// Replaces the function's calls of the primitive by the number that holds for it.
pub(crate) fn fix_sub_group_size(function: FunctionValue<'_>, size_calls: &[LLVMValueRef]) {
    if size_calls.is_empty() {
        return;
    }
    let sub_group_size = required_size(function).unwrap_or(DEFAULT_SUB_GROUP.into());
    for &call in size_calls {
        // SAFETY: the call is an instruction of a live function that nobody else holds; its result is an integer.
        unsafe {
            LLVMReplaceAllUsesWith(call, LLVMConstInt(LLVMTypeOf(call), sub_group_size, 0));
            LLVMInstructionEraseFromParent(call);
        }
    }
}

/// Whether a function is the primitive.
pub(crate) fn is_sub_group_size(function: FunctionValue<'_>) -> bool {
    function.get_name().to_bytes() == PRIMITIVE
}

/// What `intel_reqd_sub_group_size` says; the importer judges it.
pub(crate) fn required_size(function: FunctionValue<'_>) -> Option<u64> {
    use inkwell::values::AsValueRef;
    let function = function.as_value_ref();
    // SAFETY: the function is alive; the entries are read within their count and freed once; the kind's name is given with
    // its length; the node's operands are read into a list of their number.
    unsafe {
        let context = LLVMGetTypeContext(LLVMTypeOf(function));
        let kind = LLVMGetMDKindIDInContext(context, ATTRIBUTE.as_ptr().cast(), ATTRIBUTE.len() as u32);
        let mut node_count = 0;
        let entries = LLVMGlobalCopyAllMetadata(function, &mut node_count);
        let metadata_node = (0..node_count as u32)
            .find(|&index| LLVMValueMetadataEntriesGetKind(entries, index) == kind)
            .map(|index| LLVMMetadataAsValue(context, LLVMValueMetadataEntriesGetMetadata(entries, index)));
        LLVMDisposeValueMetadataEntries(entries);
        let metadata_node = metadata_node?;
        let mut operands = vec![std::ptr::null_mut(); LLVMGetMDNodeNumOperands(metadata_node) as usize];
        LLVMGetMDNodeOperands(metadata_node, operands.as_mut_ptr());
        let size_operand = operands.first().copied().filter(|size_operand| !size_operand.is_null())?;
        (!LLVMIsAConstantInt(size_operand).is_null()).then(|| LLVMConstIntGetZExtValue(size_operand))
    }
}
