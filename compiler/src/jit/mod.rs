//! From an LLVM module for the host to code that can be called.
//!
//! [`optimize`] runs LLVM's O2 or O3 without its vectorizers, [`emit_object`] makes an object file of the result,
//! a [`Loader`] links that into memory. [`JitCode`] owns the memory and gives it back when dropped. The object file is all
//! that loading needs, so it can be cached.
//!
//! Code may call the functions that the loader knows ([`Symbols`]) and nothing else; another name is an error.

mod contained;
mod deinterleave3;
mod host;
mod loader;
mod optimize;
mod process_end;
mod single_lane_stores;
mod store_to_load_forwarding;

use inkwell::module::Module;

pub use contained::run_contained;
pub use host::{HostMachine, host_description, host_target, llvm_version};
pub use loader::{JitCode, Loader, Symbols};
pub use optimize::{assembly_text, emit_object, ir_text, optimize, worthwhile};

/// How much time LLVM may spend.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum OptLevel {
    /// As little as possible (`-cl-opt-disable`).
    None,
    /// The O2 pipeline.
    #[default]
    Default,
    /// The O3 pipeline.
    Aggressive,
}

/// Why there is no code.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum JitError {
    /// LLVM cannot make code for this machine.
    #[error("no code generator for this machine: {0}")]
    Host(String),
    /// The module is broken or the pipeline failed.
    #[error("optimising failed: {0}")]
    Optimize(String),
    /// A function's frame exceeds the limit that its attribute `warn-stack-size` sets.
    #[error("too large a stack frame: {0}")]
    StackFrame(String),
    /// No object file came out.
    #[error("code generation failed: {0}")]
    Emit(String),
    /// The object does not link; the text names the missing symbols.
    #[error("the code does not link: {0}")]
    Link(String),
}

/// Optimises the module, makes code of it and finds `entry` in that.
pub fn compile(
    loader: &'static Loader,
    module: &Module<'_>,
    entry: &str,
    level: OptLevel,
) -> Result<JitCode, JitError> {
    let machine = HostMachine::new(level, None)?;
    optimize(module, &machine)?;
    loader.load_object(&emit_object(module, &machine)?, entry)
}
