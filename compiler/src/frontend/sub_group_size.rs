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
pub(crate) fn fix_sub_group_size(function: FunctionValue<'_>, calls: &[LLVMValueRef]) {
    if calls.is_empty() {
        return;
    }
    let size = required_size(function).unwrap_or(DEFAULT_SUB_GROUP.into());
    for &call in calls {
        // SAFETY: the call is an instruction of a live function that nobody else holds; its result is an integer.
        unsafe {
            LLVMReplaceAllUsesWith(call, LLVMConstInt(LLVMTypeOf(call), size, 0));
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
        let mut count = 0;
        let entries = LLVMGlobalCopyAllMetadata(function, &mut count);
        let node = (0..count as u32)
            .find(|&index| LLVMValueMetadataEntriesGetKind(entries, index) == kind)
            .map(|index| LLVMMetadataAsValue(context, LLVMValueMetadataEntriesGetMetadata(entries, index)));
        LLVMDisposeValueMetadataEntries(entries);
        let node = node?;
        let mut operands = vec![std::ptr::null_mut(); LLVMGetMDNodeNumOperands(node) as usize];
        LLVMGetMDNodeOperands(node, operands.as_mut_ptr());
        let size = operands.first().copied().filter(|size| !size.is_null())?;
        (!LLVMIsAConstantInt(size).is_null()).then(|| LLVMConstIntGetZExtValue(size))
    }
}
