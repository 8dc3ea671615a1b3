//! What a successful build leaves: the kernels in our IR, the program's variables, and machine code for
//! what has been launched.

use std::sync::{Arc, OnceLock};

use lockstep_compiler::analysis::{arguments, group_queries};
use lockstep_compiler::frontend::LinkedProgram;
use lockstep_compiler::ir::{self, Module};
use lockstep_compiler::launch_facts::LaunchFacts;
use lockstep_compiler::pipeline::{self, CompileOptions, Variant};
use opencl_sys::{CL_INVALID_KERNEL_NAME, CL_OUT_OF_HOST_MEMORY, CL_OUT_OF_RESOURCES};

use crate::launch::globals::Globals;
use crate::options::options;
use crate::program::variants::Variants;
use crate::{Error, Result};

/// A built program.
pub struct Executable {
    linked: LinkedProgram,
    module: Module,
    globals: Globals,
    code: Vec<Code>,
}

/// What was made of a kernel since it was first launched.
#[derive(Default)]
struct Code {
    /// The inputs of which a launch's facts should tell that they are multiples of a gang's width.
    divisors: OnceLock<u32>,
    /// Whether it matters how a range is cut into groups.
    needs_groups: OnceLock<bool>,
    variants: Variants<Result<Arc<Variant>>>,
}

impl Executable {
    /// Takes over an imported program and sets up its variables.
    pub fn new(linked: LinkedProgram, module: Module) -> Result<Executable> {
        let globals = Globals::new(module.globals.iter())
            .ok_or_else(|| Error::new(CL_OUT_OF_HOST_MEMORY).because("no memory for the program's variables"))?;
        let code = module.kernels.iter().map(|_| Code::default()).collect();
        Ok(Executable { linked, module, globals, code })
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

    /// Whether launches should tell their facts: code may rely on them.
    pub fn specializes(&self) -> bool {
        options().specialize && !self.linked.options.opt_disable
    }

    /// The inputs of a kernel, one bit each, of which a launch's facts should tell that they are multiples.
    pub fn divisors(&self, index: usize) -> u32 {
        *self.code[index].divisors.get_or_init(|| arguments::divisors(&self.module.kernels[index]))
    }

    /// Whether the driver is to choose the groups of a kernel's launches, as the kernel cannot tell.
    pub fn flattens(&self, index: usize) -> bool {
        let needs_groups = || group_queries::needs_groups(&self.module.kernels[index]);
        options().flatten
            && !self.linked.options.opt_disable
            && !*self.code[index].needs_groups.get_or_init(needs_groups)
    }

    /// A kernel's machine code for launches of which these facts hold, or that run no work-item; compiled by the
    /// first caller.
    pub fn variant(&self, index: usize, facts: Option<LaunchFacts>) -> Result<Arc<Variant>> {
        let variants = &self.code[index].variants;
        let compile = |launch: &LaunchFacts| {
            let options = CompileOptions {
                opt_disable: self.linked.options.opt_disable,
                vectorize: options().vectorize,
                simd: options().simd,
                launch: *launch,
                dump: options().dump.clone(),
                report: options().report.clone(),
            };
            match pipeline::compile_kernel(&self.module, index, &options) {
                Ok(variant) => Ok(Arc::new(variant)),
                Err(error) => Err(Error::new(CL_OUT_OF_RESOURCES)
                    .because(format!("kernel {}: {error}", self.module.kernels[index].name))),
            }
        };
        match facts {
            Some(facts) => variants.get(facts, compile).clone(),
            None => variants.any(compile).clone(),
        }
    }
}
