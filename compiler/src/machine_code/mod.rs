//! From an LLVM module for the host to an image of its code.
//!
//! [`optimize`] runs LLVM's O2 or O3 without its vectorizers, [`emit_object`] makes an object file of the result, and
//! [`link_image`] an image that runs wherever it lies. The image is all that is needed to run the code, so it can be cached.
//!
//! Code may call [`IMPORTED_FUNCTIONS`](lockstep_protocol::code_image::IMPORTED_FUNCTIONS) and nothing else; another name is
//! an error.

pub(crate) mod codegen_flags;
mod constants_in_memory;
mod deinterleave3;
mod error;
mod fatal_errors;
mod hidden_freezes;
mod host;
mod link;
mod long_blocks;
mod long_switches;
mod mask_extensions;
mod opt_level;
mod optimize;
mod single_lane_stores;
mod stack_alignment;
mod store_to_load_forwarding;
mod wide_arms;

use inkwell::module::Module;
use inkwell::values::FunctionValue;
use lockstep_protocol::code_image::{CodeImage, IMPORTED_FUNCTIONS};

use crate::frontend::llvm::list_calls;
pub use error::MachineCodeError;
pub use fatal_errors::end_process_on_fatal_errors;
pub use host::{HostMachine, choose_level, fuses_multiply_add, host_target, llvm_version};
pub use link::{LinkedImage, link_image};
pub use opt_level::OptLevel;
pub use optimize::{ObjectFile, StackFrames, assembly_text, emit_object, ir_text, is_large, optimize, worthwhile};
pub use stack_alignment::{ALIGNS_STACK, align_stack};

/// Gives the kernel's function the name for debuggers, if it is no other function's.
pub fn name_for_debuggers(function: FunctionValue<'_>, debug_name: &str) {
    if !IMPORTED_FUNCTIONS.contains(&debug_name) {
        function.as_global_value().set_name(debug_name);
    }
}

/// Takes out the calls of a function without result.
pub fn remove_calls(module: &Module<'_>, function_name: &str) {
    let Some(function) = module.get_function(function_name) else { return };
    list_calls(function).into_iter().for_each(|call| call.erase_from_basic_block());
}

/// Optimises the module, makes code of it and finds `entry_name` in that.
///
/// # Errors
///
/// When the module is broken, or its code cannot be an image.
pub fn compile_module(
    module: &Module<'_>,
    entry_name: &str,
    opt_level: OptLevel,
) -> Result<CodeImage, MachineCodeError> {
    let machine = HostMachine::new(opt_level, None)?;
    optimize(module, &machine)?;
    link_image(&emit_object(module, &machine)?.bytes, entry_name).map(|linked| linked.image)
}
