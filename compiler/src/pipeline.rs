//! The way of a kernel, pass by pass: import when a program is built, the rest when a kernel is first
//! launched.

use std::fmt;
use std::path::PathBuf;

use crate::codegen::compile::{CodegenError, DumpText, MachineCode};
use crate::codegen::{self, abi};
use crate::frontend::LinkedProgram;
use crate::import::{self, ImportError};
use crate::ir::Module;
use crate::jit::OptLevel;
use crate::verify::{Stage, VerifyError, verify};

/// How a kernel is to be compiled.
#[derive(Clone, Debug, Default)]
pub struct CompileOptions {
    /// `-cl-opt-disable`.
    pub opt_disable: bool,
    /// Folder for the text of every stage.
    pub dump: Option<PathBuf>,
}

/// A kernel's machine code, ready to be called.
pub struct Variant(MachineCode);

impl Variant {
    /// The function to call; valid while `self` lives.
    pub fn entry(&self) -> abi::KernelEntry {
        self.0.entry()
    }

    /// The scratch memory it needs beside `__local` arguments.
    pub fn needs(&self) -> abi::ScratchNeeds {
        self.0.needs()
    }
}

/// Why a program or kernel could not be compiled.
#[derive(Debug)]
pub enum CompileError {
    /// The program uses what is not supported.
    Import(ImportError),
    /// A pass broke a rule: an error of the driver.
    Verify(Vec<VerifyError>),
    /// No machine code.
    Codegen(CodegenError),
}

impl fmt::Display for CompileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CompileError::Import(error) => error.fmt(f),
            CompileError::Verify(errors) => {
                let first = errors.first().map(ToString::to_string).unwrap_or_default();
                write!(f, "internal error, {} broken rules, the first: {first}", errors.len())
            }
            CompileError::Codegen(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for CompileError {}

/// Reads a linked program into our IR.
pub fn load(program: &LinkedProgram) -> Result<Module, CompileError> {
    let module = import::load(program).map_err(CompileError::Import)?;
    check(&module, Stage::Imported)?;
    Ok(module)
}

/// Compiles one kernel of a program for this machine.
pub fn compile_kernel(module: &Module, kernel: usize, options: &CompileOptions) -> Result<Variant, CompileError> {
    let kernel = &module.kernels[kernel];
    let dump = |ending: &str, text: &str| {
        if let Some(folder) = &options.dump {
            let file = folder.join(format!("{}.{ending}", kernel.name));
            // A dump is for people; a folder that cannot be written is told about, not fatal.
            if let Err(error) = std::fs::create_dir_all(folder).and_then(|()| std::fs::write(&file, text)) {
                eprintln!("lockstep: {}: {error}", file.display());
            }
        }
    };
    let level = if options.opt_disable { OptLevel::None } else { OptLevel::Default };
    let wanted: Option<DumpText<'_>> = if options.dump.is_some() { Some(&dump) } else { None };
    codegen::compile::compile(module, kernel, level, wanted).map(Variant).map_err(CompileError::Codegen)
}

/// Verifies between passes in tests and debug builds.
fn check(module: &Module, stage: Stage) -> Result<(), CompileError> {
    if cfg!(debug_assertions) { verify(module, stage).map_err(CompileError::Verify) } else { Ok(()) }
}
