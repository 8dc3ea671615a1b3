//! A module: its kernels in the order of the source, and the variables they use.

use super::error::{Attempt, ImportError, Reason, refuse};
use super::globals::Globals;
use super::llvm::{Module, TypeKind, Value};
use super::module_builder::ModuleBuilder;
use super::{blocks, functions, signature};
use lockstep_ir::ir;
use lockstep_protocol::types::Space;
use lockstep_protocol::variables::{FormatData, GlobalData};

/// LLVM's number of the calling convention of kernels.
const SPIR_KERNEL: u32 = 76;

/// Imports a module.
pub(super) fn import_module(llvm_module: Module<'_>) -> Result<ir::Module, ImportError> {
    let at_module = |Reason(reason): Reason| ImportError { reason, function: String::new(), line: 0 };
    llvm_module.verify_module().map_err(|text| at_module(Reason(format!("the module is broken: {}", text.trim()))))?;
    let mut builder = ModuleBuilder::new(llvm_module, Globals::new(llvm_module), ir::Module::default());
    builder.import_variables().map_err(at_module)?;
    for function in kernel_functions(llvm_module) {
        let kernel = builder.import_kernel(function)?;
        builder.out.kernels.push(kernel);
    }
    let ModuleBuilder { globals, out: output, .. } = &mut builder;
    globals.fill_contents(output).map_err(at_module)?;
    Ok(builder.out)
}

/// Imports one kernel of a module whose variables and formats are known from when all of it was imported. Of the module that
/// kernel's body alone needs to have been read, and it is not verified again.
pub(super) fn import_one_kernel(
    llvm_module: Module<'_>,
    kernel_index: usize,
    variables: &[GlobalData],
    formats: &[FormatData],
) -> Result<Option<ir::Module>, ImportError> {
    let mut out = ir::Module::default();
    formats.iter().for_each(|format| _ = out.formats.push(format.clone()));
    let Some(globals) = Globals::with_variables(llvm_module, &mut out, variables) else { return Ok(None) };
    let mut builder = ModuleBuilder::new(llvm_module, globals, out);
    let Some(function) = kernel_functions(llvm_module).nth(kernel_index) else { return Ok(None) };
    if !function.read_body() {
        return Ok(None);
    }
    let kernel = builder.import_kernel(function)?;
    let ir::Module { globals, formats: all_formats, .. } = &builder.out;
    if (globals.len(), all_formats.len()) != (variables.len(), formats.len()) {
        return Ok(None);
    }
    builder.out.kernels.push(kernel);
    Ok(Some(builder.out))
}

fn kernel_functions(llvm_module: Module<'_>) -> impl Iterator<Item = Value<'_>> {
    llvm_module.functions().into_iter().filter(|&function| is_kernel(function))
}

fn is_kernel(function: Value<'_>) -> bool {
    function.calling_convention() == Some(SPIR_KERNEL) && !function.is_declaration()
}

impl<'m> ModuleBuilder<'m> {
    /// Variables in global memory live as long as the program, used or not. Constants come along only
    /// where something names them.
    fn import_variables(&mut self) -> Attempt<()> {
        for variable in self.llvm.globals() {
            let TypeKind::Ptr(space_number) = variable.ty().kind() else {
                refuse!("the variable {} has no address", variable.name());
            };
            let defined = variable.initial_value().is_some();
            if space_number == Space::Global.spir_number() && defined && !variable.name().starts_with("llvm.") {
                self.globals.global_of(&mut self.out, variable)?;
            }
        }
        Ok(())
    }

    fn import_kernel(&mut self, function: Value<'m>) -> Result<ir::Kernel, ImportError> {
        functions::import_called(self, function)?;
        let name = function.name();
        let signature = signature::read_signature(self.llvm, function).map_err(|Reason(reason)| ImportError {
            reason,
            function: name.clone(),
            line: function.function_line(),
        })?;
        blocks::import_kernel(self, function, signature)
    }
}
