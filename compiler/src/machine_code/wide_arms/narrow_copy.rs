//! Values and instructions for fewer lanes.

use std::ffi::{c_int, c_uint};

use inkwell::types::{AnyTypeEnum, VectorType};
use inkwell::values::{AsValueRef, InstructionOpcode, InstructionValue, VectorValue};
use llvm_sys::prelude::LLVMValueRef;

use crate::codegen::vector_of;
use crate::frontend::llvm::find_splat_element;
use crate::frontend::llvm::require_plain_access;

// They are in `narrow_copy.cpp`.
unsafe extern "C" {
    fn lockstep_works_by_lane(call: LLVMValueRef) -> c_int;
    fn lockstep_copy_narrowed(instruction: LLVMValueRef, lanes: c_uint, narrow_lanes: c_uint) -> LLVMValueRef;
}

/// Whether each lane of an instruction's result depends on the same lane of its operands alone, and on memory that nothing in between
/// writes; or it has no lanes.
pub(super) fn works_by_lane(instruction: InstructionValue<'_>) -> bool {
    use InstructionOpcode::{
        AShr, Add, And, BitCast, Call, FAdd, FCmp, FDiv, FMul, FNeg, FPExt, FPToSI, FPToUI, FPTrunc, FRem, FSub,
        Freeze, GetElementPtr, ICmp, IntToPtr, LShr, Load, Mul, Or, Phi, PtrToInt, SDiv, SExt, SIToFP, SRem, Select,
        Shl, Sub, Trunc, UDiv, UIToFP, URem, Xor, ZExt,
    };
    match instruction.get_opcode() {
        Add | FAdd | Sub | FSub | Mul | FMul | UDiv | SDiv | FDiv | URem | SRem | FRem | Shl | LShr | AShr | And
        | Or | Xor | FNeg | Trunc | ZExt | SExt | FPToUI | FPToSI | UIToFP | SIToFP | FPTrunc | FPExt | PtrToInt
        | IntToPtr | BitCast | ICmp | FCmp | Select | Freeze | GetElementPtr | Phi => true,
        // What lies side by side lies elsewhere for other lanes.
        Load => {
            !matches!(instruction.get_type(), AnyTypeEnum::VectorType(_)) && require_plain_access(instruction).is_some()
        }
        // SAFETY: the instruction is a call and alive.
        Call => unsafe { lockstep_works_by_lane(instruction.as_value_ref()) != 0 },
        _ => false,
    }
}

/// A copy of an instruction that makes `narrow_lanes` where the original makes `lanes`, with the original's operands, in no block.
pub(super) fn copy_narrowed<'ctx>(
    instruction: InstructionValue<'ctx>,
    lanes: u32,
    narrow_lanes: u32,
) -> Option<InstructionValue<'ctx>> {
    // SAFETY: the instruction is alive, and works lane by lane; the copy is an instruction of the same context.
    unsafe {
        let copy = lockstep_copy_narrowed(instruction.as_value_ref(), lanes, narrow_lanes);
        (!copy.is_null()).then(|| InstructionValue::new(copy))
    }
}

/// A vector type of other lanes.
pub(super) fn with_lanes<'ctx>(vector_type: VectorType<'ctx>, lanes: u32) -> VectorType<'ctx> {
    vector_of(vector_type.get_element_type(), lanes)
}

/// A constant whose lanes are all the same, with other lanes; none for other constants.
pub(super) fn narrow_constant<'ctx>(vector: VectorValue<'ctx>, narrow_lanes: u32) -> Option<VectorValue<'ctx>> {
    let element = find_splat_element(vector)?;
    Some(VectorType::const_vector(&vec![element; narrow_lanes as usize]))
}
