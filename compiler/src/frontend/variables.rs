//! The private variables of a function, and where their lives begin and end.

use inkwell::AddressSpace;
use inkwell::values::{CallSiteValue, FunctionValue, InstructionOpcode, InstructionValue};

/// The private variables of a function.
pub(super) fn list_variables(function: FunctionValue<'_>) -> impl Iterator<Item = InstructionValue<'_>> {
    let instructions = function.get_first_basic_block().into_iter().flat_map(|block| block.get_instructions());
    let is_variable = |instruction: &InstructionValue<'_>| {
        instruction.get_opcode() == InstructionOpcode::Alloca
            && instruction.get_type().into_pointer_type().get_address_space() == AddressSpace::default()
    };
    instructions.filter(is_variable)
}

/// Whether an instruction says where a variable's life begins or ends.
pub(super) fn is_lifetime_marker(instruction: InstructionValue<'_>) -> bool {
    calls_function_of(instruction, b"llvm.lifetime.")
}

/// Whether an instruction says where a variable's life begins.
pub(super) fn begins_lifetime(instruction: InstructionValue<'_>) -> bool {
    calls_function_of(instruction, b"llvm.lifetime.start")
}

fn calls_function_of(instruction: InstructionValue<'_>, name_start: &[u8]) -> bool {
    let called = CallSiteValue::try_from(instruction).ok().and_then(|call| call.get_called_fn_value());
    called.is_some_and(|function| function.get_name().to_bytes().starts_with(name_start))
}
