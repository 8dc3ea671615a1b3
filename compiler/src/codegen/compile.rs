//! From a kernel cut into regions to code in memory: generation, LLVM's optimiser, the JIT.

use std::fmt;

use inkwell::builder::BuilderError;
use inkwell::context::Context;

use super::abi::{KernelEntry, ScratchNeeds};
use super::{ENTRY_NAME, generate};
use crate::ir::{Kernel, Module};
use crate::jit::{self, HostMachine, JitCode, JitError, OptLevel};

/// A kernel's machine code.
pub struct MachineCode {
    entry: KernelEntry,
    needs: ScratchNeeds,
    /// Owns the memory that `entry` lies in.
    _code: JitCode,
}

/// Why there is no machine code.
#[derive(Debug)]
pub enum CodegenError {
    /// The IR could not be put into LLVM's terms.
    Build(BuilderError),
    /// LLVM's part failed.
    Jit(JitError),
}

impl fmt::Display for CodegenError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CodegenError::Build(error) => write!(f, "code generation failed: {error}"),
            CodegenError::Jit(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for CodegenError {}

impl From<BuilderError> for CodegenError {
    fn from(error: BuilderError) -> Self {
        CodegenError::Build(error)
    }
}

impl From<JitError> for CodegenError {
    fn from(error: JitError) -> Self {
        CodegenError::Jit(error)
    }
}

/// Takes a stage's file ending and its text.
pub type DumpText<'a> = &'a dyn Fn(&str, &str);

/// Compiles a kernel. `dump` is offered the text of each stage by its file ending; the text is made only
/// if it is asked for.
pub fn compile(
    module: &Module,
    kernel: &Kernel,
    level: OptLevel,
    dump: Option<DumpText<'_>>,
) -> Result<MachineCode, CodegenError> {
    let context = Context::create();
    let generated = generate(&context, module, kernel)?;
    let machine = HostMachine::new(level)?;
    if let Some(dump) = dump {
        dump("ll", &jit::ir_text(&generated.module));
    }
    jit::optimize(&generated.module, &machine)?;
    if let Some(dump) = dump {
        dump("opt.ll", &jit::ir_text(&generated.module));
        dump("s", &jit::assembly_text(&generated.module, &machine)?);
    }
    let code = jit::load(&jit::emit_object(&generated.module, &machine)?, ENTRY_NAME)?;
    // SAFETY: `generate` gives the function of this name the signature of `KernelEntry`, and the address
    // stays valid as long as `code`, which goes with it.
    let entry = unsafe { std::mem::transmute::<*const std::ffi::c_void, KernelEntry>(code.address()) };
    Ok(MachineCode { entry, needs: generated.needs, _code: code })
}

impl MachineCode {
    /// The function to call; valid while `self` lives.
    pub fn entry(&self) -> KernelEntry {
        self.entry
    }

    /// The scratch memory it needs.
    pub fn needs(&self) -> ScratchNeeds {
        self.needs
    }
}
