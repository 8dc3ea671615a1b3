//! What a successful build leaves: the kernels in our IR, the program's variables, and machine code for
//! what has been launched.

use std::sync::{Arc, OnceLock};

use lockstep_compiler::frontend::LinkedProgram;
use lockstep_compiler::ir::{self, Module};
use lockstep_compiler::pipeline::{self, CompileOptions, Variant};
use opencl_sys::{CL_INVALID_KERNEL_NAME, CL_OUT_OF_HOST_MEMORY, CL_OUT_OF_RESOURCES};

use crate::launch::globals::Globals;
use crate::options::options;
use crate::{Error, Result};

/// A built program.
pub struct Executable {
    linked: LinkedProgram,
    module: Module,
    globals: Globals,
    /// Machine code by kernel, made when the kernel is first launched.
    variants: Vec<OnceLock<Result<Arc<Variant>>>>,
}

impl Executable {
    /// Takes over an imported program and sets up its variables.
    pub fn new(linked: LinkedProgram, module: Module) -> Result<Executable> {
        let globals = Globals::new(module.globals.iter())
            .ok_or_else(|| Error::new(CL_OUT_OF_HOST_MEMORY).because("no memory for the program's variables"))?;
        let variants = module.kernels.iter().map(|_| OnceLock::new()).collect();
        Ok(Executable { linked, module, globals, variants })
    }

    /// The program in portable form.
    pub fn linked(&self) -> &LinkedProgram {
        &self.linked
    }

    /// The kernels and formats.
    pub fn module(&self) -> &Module {
        &self.module
    }

    /// The program-scope variables.
    pub fn globals(&self) -> &Globals {
        &self.globals
    }

    /// The number of the kernel with this name.
    pub fn find(&self, name: &str) -> Result<usize> {
        let found = self.module.kernels.iter().position(|kernel| kernel.name == name);
        found.ok_or(Error::new(CL_INVALID_KERNEL_NAME))
    }

    /// A kernel's IR.
    pub fn kernel(&self, index: usize) -> &ir::Kernel {
        &self.module.kernels[index]
    }

    /// A kernel's machine code, compiled by the first caller.
    pub fn variant(&self, index: usize) -> Result<Arc<Variant>> {
        let compiled = self.variants[index].get_or_init(|| {
            let options = CompileOptions {
                opt_disable: self.linked.options.opt_disable,
                vectorize: options().vectorize,
                simd: options().simd,
                dump: options().dump.clone(),
                report: options().report.clone(),
            };
            match pipeline::compile_kernel(&self.module, index, &options) {
                Ok(variant) => Ok(Arc::new(variant)),
                Err(error) => Err(Error::new(CL_OUT_OF_RESOURCES)
                    .because(format!("kernel {}: {error}", self.module.kernels[index].name))),
            }
        });
        compiled.clone()
    }
}
