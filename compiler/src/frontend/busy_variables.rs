//! Variables in memory that thousands of instructions use, kept out of `instcombine`'s sight.
//!
//! LLVM's `instcombine` looks at an `alloca` again whenever it has removed one of its users, and each time at all of them: of a
//! kernel with 15,000 accesses to two private arrays it took 3.9 s of the 4.9 s of clean-up. What it could find out, that
//! nothing is read or that all comes from a constant, is not to be expected of such a variable.
//!
//! Requires: functions in which nothing is hidden.
//! Ensures: while they are hidden, an `alloca` with more than [`MANY_USERS`] users stands behind the call of a function that is only
//! declared and returns its argument; its result aliases nothing else. Once revealed, the module is as it was but for what passes did.
//! Phases: hiding and revealing, function by function.
//! Source: our own.
//!
//! ```text
//! %a = alloca [32 x i32]                  %a = alloca [32 x i32]
//! %p = getelementptr i32, ptr %a, …  =>   %h = call noalias ptr @lockstep.hide(ptr %a)
//!                                         %p = getelementptr i32, ptr %h, …
//! ```

use inkwell::AddressSpace;
use inkwell::attributes::{Attribute, AttributeLoc};
use inkwell::builder::{Builder, BuilderError};
use inkwell::module::{Linkage, Module};
use inkwell::values::{BasicValue, CallSiteValue, FunctionValue, InstructionValue, PointerValue};

use super::llvm::list_users;
use super::variables::{is_lifetime_marker, list_variables};

/// The name of a function behind which variables hide. LLVM gives it another one where a program has one of that name.
const HIDE: &str = "lockstep.hide";

/// Users from which on looking at all of them costs more than it finds.
const MANY_USERS: usize = 500;

/// Whether a function has such a variable.
pub(super) fn has_busy_variables(function: FunctionValue<'_>) -> bool {
    list_variables(function).any(is_busy)
}

/// What a function's busy variables are hidden by.
pub(super) struct Hiding<'ctx> {
    function: FunctionValue<'ctx>,
    hide: FunctionValue<'ctx>,
}

/// Hides a function's busy variables.
pub(super) fn hide_busy_variables<'ctx>(
    module: &Module<'ctx>,
    function: FunctionValue<'ctx>,
) -> Result<Hiding<'ctx>, BuilderError> {
    let busy_variables: Vec<_> = list_variables(function).filter(|&variable| is_busy(variable)).collect();
    let hide = declare_hide(module);
    let builder = module.get_context().create_builder();
    for variable in busy_variables {
        hide_variable(&builder, hide, variable)?;
    }
    Ok(Hiding { function, hide })
}

fn is_busy(variable: InstructionValue<'_>) -> bool {
    std::iter::successors(variable.get_first_use(), |value_use| value_use.get_next_use()).nth(MANY_USERS).is_some()
}

fn hide_variable<'ctx>(
    builder: &Builder<'ctx>,
    hide: FunctionValue<'ctx>,
    variable: InstructionValue<'ctx>,
) -> Result<(), BuilderError> {
    let (Ok(address), Some(next_instruction)) = (PointerValue::try_from(variable), variable.get_next_instruction())
    else {
        return Ok(());
    };
    let markers: Vec<_> = list_users(variable).into_iter().filter(|&user| is_lifetime_marker(user)).collect();
    builder.position_before(&next_instruction);
    let call = builder.build_call(hide, &[address.into()], "")?;
    let Some(hidden) = call.try_as_basic_value().basic() else { return Ok(()) };
    let alignment = variable.get_alignment().map_or(1, u64::from);
    let align =
        hide.get_type().get_context().create_enum_attribute(Attribute::get_named_enum_kind_id("align"), alignment);
    call.add_attribute(AttributeLoc::Return, align);
    address.replace_all_uses_with(hidden.into_pointer_value());
    // LLVM wants variables themselves there; so does the call.
    for user in markers.into_iter().chain(hidden.as_instruction_value()) {
        user.set_operand(0, address);
    }
    Ok(())
}

/// A function that hides: passes know no more of it than that it computes an address that is none of theirs.
fn declare_hide<'ctx>(module: &Module<'ctx>) -> FunctionValue<'ctx> {
    let context = module.get_context();
    let pointer_type = context.ptr_type(AddressSpace::default());
    let hide = module.add_function(HIDE, pointer_type.fn_type(&[pointer_type.into()], false), Some(Linkage::External));
    let attribute = |name| context.create_enum_attribute(Attribute::get_named_enum_kind_id(name), 0);
    hide.add_attribute(AttributeLoc::Return, attribute("noalias"));
    for name in ["memory", "nounwind", "willreturn"] {
        hide.add_attribute(AttributeLoc::Function, attribute(name));
    }
    hide
}

impl<'ctx> Hiding<'ctx> {
    /// Puts the variables back in their places.
    pub(super) fn reveal_variables(self) {
        let instructions = self.function.get_first_basic_block().into_iter().flat_map(|block| block.get_instructions());
        let calls_hide = |instruction: &InstructionValue<'ctx>| {
            CallSiteValue::try_from(*instruction).is_ok_and(|call| call.get_called_fn_value() == Some(self.hide))
        };
        let calls: Vec<_> = instructions.filter(calls_hide).collect();
        for call in calls {
            let address = call.get_operand(0).and_then(|operand| operand.value());
            if let (Some(address), Ok(hidden)) = (address, PointerValue::try_from(call)) {
                hidden.replace_all_uses_with(address.into_pointer_value());
            }
            call.erase_from_basic_block();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use inkwell::values::AnyValue;
    use std::fmt::Write;

    /// A function with a variable of so many accesses.
    fn source(accesses: usize) -> String {
        let mut text = String::from(
            "declare void @llvm.lifetime.start.p0(ptr)
declare i32 @lockstep.hide(i32)
define void @f(ptr %out, i64 %n) {
  %a = alloca [32 x i32], align 16
  call void @llvm.lifetime.start.p0(ptr %a)
",
        );
        for k in 0..accesses {
            writeln!(text, "  %p{k} = getelementptr i32, ptr %a, i64 {k}\n  store i32 {k}, ptr %p{k}").expect("grows");
        }
        text + "  ret void\n}\n"
    }

    #[test]
    fn what_is_hidden_is_revealed_again() {
        for (accesses, is_hidden) in [(MANY_USERS - 1, false), (MANY_USERS, true)] {
            let context = inkwell::context::Context::create();
            let text = source(accesses);
            let buffer = inkwell::memory_buffer::MemoryBuffer::create_from_memory_range_copy(text.as_bytes(), "f");
            let module = context.create_module_from_ir(buffer).expect("the text is a module");
            let before = module.get_function("f").expect("it is there").print_to_string();
            let function = module.get_function("f").expect("it is there");
            assert_eq!(has_busy_variables(function), is_hidden);
            let hiding = hide_busy_variables(&module, function).expect("it can be hidden");
            module.verify().expect("hidden variables are valid");
            let hidden = function.print_to_string().to_string();
            assert_eq!(hidden.matches("@lockstep.hide.1(ptr %a)").count(), usize::from(is_hidden));
            assert_eq!(hidden.matches("getelementptr i32, ptr %a,").count(), if is_hidden { 0 } else { accesses });
            hiding.reveal_variables();
            assert_eq!(function.print_to_string(), before);
        }
    }
}
