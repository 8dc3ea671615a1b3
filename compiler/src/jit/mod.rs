//! From an LLVM module for the host to code that can be called.
//!
//! [`optimize`] runs LLVM's O2 or O3 without its vectorizers, [`emit_object`] makes an object file of the result,
//! a [`Loader`] links that into memory. [`JitCode`] owns the memory and gives it back when dropped. The object file is all
//! that loading needs, so it can be cached.
//!
//! Code may call the functions that the loader knows ([`Symbols`]) and nothing else; another name is an error.

mod contained;
mod deinterleave3;
mod error;
mod host;
mod loader;
mod opt_level;
mod optimize;
mod process_end;
mod single_lane_stores;
mod store_to_load_forwarding;

use inkwell::module::Module;

pub use contained::run_contained;
pub use error::JitError;
pub use host::{HostMachine, host_description, host_target, llvm_version};
pub use loader::{JitCode, Loader, Symbols};
pub use opt_level::OptLevel;
pub use optimize::{assembly_text, emit_object, ir_text, optimize, worthwhile};

/// Optimises the module, makes code of it and finds `entry_name` in that.
pub fn compile(
    loader: &'static Loader,
    module: &Module<'_>,
    entry_name: &str,
    opt_level: OptLevel,
) -> Result<JitCode, JitError> {
    let machine = HostMachine::new(opt_level, None)?;
    optimize(module, &machine)?;
    loader.load_object(&emit_object(module, &machine)?, entry_name)
}
