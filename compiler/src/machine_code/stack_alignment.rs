//! Vectors that find no register lie on cache lines of their own.
//!
//! What is called keeps the stack aligned to 16 bytes, and LLVM learns too late that it has too few registers to ask for more. Of
//! four places for a register of 64 bytes three lie on two lines of the cache, and which one it is depends on how long the
//! environment of the process is: a transposition of tiles took 0.41 or 0.50 ms, each process always the same.
//!
//! Requires: an optimised module, in which nothing is inlined any more.
//! Ensures: every function of the module is called with a stack that is aligned to a vector register.
//! Phases: a function that aligns the stack and calls the kernel's takes its place; the module promises the alignment to code generation.
//! Source: our own.

use inkwell::attributes::{Attribute, AttributeLoc};
use inkwell::module::{FlagBehavior, Linkage, Module};
use inkwell::values::{BasicMetadataValueEnum, FunctionValue};

use super::error::MachineCodeError;

/// The attribute of functions that align the stack themselves: those that others than the module call.
pub const ALIGNS_STACK: &str = "stackrealign";

/// The alignment in bytes that each call keeps by the System V ABI.
const USUAL_ALIGNMENT: u32 = 16;

/// Has `entry` called by a function that aligns the stack to `register_bits`; the function that is to be called from outside.
///
/// # Errors
/// What LLVM says where it cannot build that.
pub fn align_stack<'ctx>(
    module: &Module<'ctx>,
    entry: FunctionValue<'ctx>,
    register_bits: u32,
) -> Result<FunctionValue<'ctx>, MachineCodeError> {
    let alignment = register_bits / 8;
    if alignment <= USUAL_ALIGNMENT {
        return Ok(entry);
    }
    let context = module.get_context();
    let entry_name = entry.get_name().to_string_lossy().into_owned();
    entry.as_global_value().set_name(&format!("{entry_name}.aligned"));
    entry.set_linkage(Linkage::Internal);
    let caller = module.add_function(&entry_name, entry.get_type(), None);
    let does_not_unwind = context.create_enum_attribute(Attribute::get_named_enum_kind_id("nounwind"), 0);
    let aligns_stack = context.create_string_attribute(ALIGNS_STACK, "");
    // A message tells the size of its frame, be it little.
    let told_frame = context.create_string_attribute("warn-stack-size", "0");
    for attribute in [does_not_unwind, aligns_stack, told_frame] {
        caller.add_attribute(AttributeLoc::Function, attribute);
    }
    let builder = context.create_builder();
    builder.position_at_end(context.append_basic_block(caller, "entry"));
    let arguments: Vec<BasicMetadataValueEnum> = caller.get_param_iter().map(Into::into).collect();
    let built = builder.build_call(entry, &arguments, "").and_then(|_| builder.build_return(None));
    built.map_err(|error| MachineCodeError::Emit(error.to_string()))?;
    let flag_value = context.i32_type().const_int(alignment.into(), false);
    module.add_basic_value_flag("override-stack-alignment", FlagBehavior::Error, flag_value);
    Ok(caller)
}
