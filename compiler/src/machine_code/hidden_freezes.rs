//! `freeze` instructions, kept out of the sight of LLVM's passes over large modules.
//!
//! Whenever LLVM simplifies a `freeze`, it asks whether the operand can be poison at all, and for that looks at the branch of each block
//! that dominates this one: three quarters of the time of these passes for a kernel with 2,000 loops, one after the other. A gang's masks
//! and conditions are frozen in each block, so that is the square of a kernel's length.
//!
//! Requires: a module in which nothing is hidden.
//! Ensures: while they are hidden, each `freeze` is the call of a function that is only declared and computes its result, never
//! undefined, from its argument alone. Once revealed, the module is as it was but for what passes did, and the functions' declarations,
//! which nothing calls.
//! Phases: hiding and revealing, type by type.
//! Source: our own.
//!
//! ```text
//! %m = freeze <16 x i1> %c   =>   %m = call noundef <16 x i1> @lockstep.freeze(<16 x i1> %c)
//! ```

use std::collections::HashMap;

use inkwell::attributes::{Attribute, AttributeLoc};
use inkwell::builder::BuilderError;
use inkwell::module::{Linkage, Module};
use inkwell::types::{AsTypeRef, BasicType, BasicTypeEnum};
use inkwell::values::{BasicValue, FunctionValue, InstructionOpcode, InstructionValue};
use llvm_sys::prelude::LLVMTypeRef;

use crate::frontend::llvm::{build_freeze, list_calls, value_operand};

/// The name of the functions that stand for `freeze`. LLVM gives all but the first another one.
const FREEZE: &str = "lockstep.freeze";

/// The functions that stand for a module's `freeze` instructions, one for each type.
pub(super) struct HiddenFreezes<'ctx>(Vec<FunctionValue<'ctx>>);

/// Hides all of a module's `freeze` instructions.
pub(super) fn hide_freezes<'ctx>(module: &Module<'ctx>) -> Result<HiddenFreezes<'ctx>, BuilderError> {
    let builder = module.get_context().create_builder();
    let mut functions: HashMap<LLVMTypeRef, FunctionValue<'ctx>> = HashMap::new();
    for block in module.get_functions().flat_map(|function| function.get_basic_blocks()) {
        let is_freeze = |instruction: &InstructionValue| instruction.get_opcode() == InstructionOpcode::Freeze;
        for freeze in block.get_instructions().filter(is_freeze).collect::<Vec<_>>() {
            let Some(operand) = value_operand(freeze, 0) else { continue };
            let ty = operand.get_type();
            let function = *functions.entry(ty.as_type_ref()).or_insert_with(|| declare_freeze(module, ty));
            builder.position_before(&freeze);
            let result = builder.build_call(function, &[operand.into()], "")?.try_as_basic_value().basic();
            replace_instruction(freeze, result.and_then(|result| result.as_instruction_value()));
        }
    }
    Ok(HiddenFreezes(functions.into_values().collect()))
}

/// A function of which passes know that it has no effect, always returns, and gives the same for the same.
fn declare_freeze<'ctx>(module: &Module<'ctx>, ty: BasicTypeEnum<'ctx>) -> FunctionValue<'ctx> {
    let context = module.get_context();
    let function = module.add_function(FREEZE, ty.fn_type(&[ty.into()], false), Some(Linkage::External));
    let attribute = |name| context.create_enum_attribute(Attribute::get_named_enum_kind_id(name), 0);
    function.add_attribute(AttributeLoc::Return, attribute("noundef"));
    for name in ["memory", "nounwind", "willreturn", "speculatable"] {
        function.add_attribute(AttributeLoc::Function, attribute(name));
    }
    function
}

impl<'ctx> HiddenFreezes<'ctx> {
    /// Makes `freeze` instructions of the calls again.
    pub(super) fn reveal_freezes(self, module: &Module<'ctx>) {
        let builder = module.get_context().create_builder();
        for function in self.0 {
            for call in list_calls(function) {
                let Some(operand) = value_operand(call, 0) else { continue };
                builder.position_before(&call);
                replace_instruction(call, build_freeze(&builder, operand).as_instruction_value());
            }
        }
    }
}

fn replace_instruction<'ctx>(instruction: InstructionValue<'ctx>, replacement: Option<InstructionValue<'ctx>>) {
    if let Some(replacement) = replacement {
        instruction.replace_all_uses_with(&replacement);
        instruction.erase_from_basic_block();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use inkwell::context::Context;
    use inkwell::memory_buffer::MemoryBuffer;

    #[test]
    fn what_is_hidden_is_revealed_again() {
        let text = "declare i32 @lockstep.freeze(i32)
define i32 @f(i1 %c, i1 %d, <4 x i1> %m, i32 %n) {
  %a = freeze i1 %c
  %b = freeze i1 %d
  %e = and i1 %a, %b
  %f = freeze <4 x i1> %m
  %g = extractelement <4 x i1> %f, i32 %n
  %h = and i1 %e, %g
  %i = freeze i32 poison
  %k = select i1 %h, i32 %i, i32 %n
  %l = call i32 @lockstep.freeze(i32 %k)
  ret i32 %l
}
";
        let context = Context::create();
        let buffer = MemoryBuffer::create_from_memory_range_copy(text.as_bytes(), "f");
        let module = context.create_module_from_ir(buffer).expect("the text is a module");
        // Without names, which do not come back.
        let list_operations = |module: &Module<'_>| -> Vec<(InstructionOpcode, u32)> {
            let blocks = module.get_functions().flat_map(|function| function.get_basic_blocks());
            let instructions = blocks.flat_map(|block| block.get_instructions());
            instructions.map(|instruction| (instruction.get_opcode(), instruction.get_num_operands())).collect()
        };
        let before = list_operations(&module);
        let hidden_freezes = hide_freezes(&module).expect("they can be hidden");
        module.verify().expect("hidden freezes are valid");
        let hidden = module.print_to_string().to_string();
        assert_eq!((hidden.matches(" freeze ").count(), hidden.matches("call i1 @lockstep.freeze").count()), (0, 2));
        assert_eq!(hidden.matches("declare noundef").count(), 3, "one for each type");
        hidden_freezes.reveal_freezes(&module);
        module.verify().expect("freezes are valid");
        assert_eq!(list_operations(&module), before);
    }
}
