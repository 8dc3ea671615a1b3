//! Functions of the program that the kernel calls.
//!
//! Requires: a verified module, and storage of a kernel that is laid out.
//! Ensures: a function of the module for each function that the kernel calls, also through others. It does for one work-item what
//! the IR says, and finds program-scope variables by the launch's frame, as the kernel does.
//! Phases: where their private variables lie, small ones on the stack, large ones in the worker's part of the scratch memory, each in a
//! place of its own: none of the functions runs twice at once, as there is no recursion and none waits; declarations; bodies.
//! Source: our own.
//!
//! ```text
//! call fn1(v3, v4)        =>     call void @function_1(ptr %frame, ptr %scratch, i32 %v3, ptr %v4)
//! ```

use super::emit::{Emitted, Emitter};
use super::frame::{self, Call, Frame};
use super::groups::{Group, Item};
use super::region::ScalarEmitter;
use super::{CodeOptions, KernelCode};
use crate::codegen::error::CodegenError;
use cranelift_entity::{EntityRef, SecondaryMap};
use inkwell::attributes::AttributeLoc;
use inkwell::types::BasicMetadataTypeEnum;
use inkwell::values::{BasicMetadataValueEnum, BasicValueEnum, FunctionValue};
use lockstep_ir::ir::{Callee, Kernel, Module};
use lockstep_ir::plan::storage::Storage;
use lockstep_protocol::layout::Layout;
use lockstep_protocol::types::Type;

/// Parameters of such a function in front of those that the program gives it: the launch's frame and the scratch memory.
pub(super) const OWN_PARAMETERS: u32 = 2;

/// The functions that a kernel calls, each with where its private variables lie.
pub(super) struct CalledFunctions(Vec<(Callee, Storage)>);

impl CalledFunctions {
    /// Finds the functions of a kernel and adds what they need to the worker's part of its scratch memory.
    pub fn lay_out(module: &Module, kernel: &Kernel, storage: &mut Storage) -> CalledFunctions {
        let lay_out_function =
            |callee| (callee, Storage::lay_out_called(&module.functions[callee], &mut storage.needs));
        CalledFunctions(module.functions_called_by(kernel).into_iter().map(lay_out_function).collect())
    }

    /// Writes all of them into the kernel's module, of whose function an emitter is given.
    pub fn emit_all<'a, 'ctx>(
        &self,
        emitter: &Emitter<'ctx, '_>,
        module: &'a Module,
        kernel_code: &KernelCode<'a, 'ctx>,
    ) -> Emitted<()> {
        self.0.iter().for_each(|(callee, _)| declare_function(emitter, *callee, &module.functions[*callee]));
        for (callee, storage) in &self.0 {
            let code = &module.functions[*callee];
            let function_code = KernelCode { kernel: code, widening: None, ..*kernel_code };
            let emitter = function_code.begin_function(find_function(emitter, *callee)?, Some(&name_function(*callee)));
            emit_body(&emitter, module, code, storage, kernel_code.options)?;
        }
        Ok(())
    }
}

fn find_function<'ctx>(emitter: &Emitter<'ctx, '_>, callee: Callee) -> Emitted<FunctionValue<'ctx>> {
    let function = emitter.module.get_function(&name_function(callee));
    function.ok_or(CodegenError::Missing("function that is called"))
}

/// The name that a function has in a kernel's module.
fn name_function(callee: Callee) -> String {
    format!("function_{}", callee.index())
}

fn declare_function<'ctx>(emitter: &Emitter<'ctx, '_>, callee: Callee, code: &Kernel) {
    let mut parameter_types: Vec<BasicMetadataTypeEnum> = vec![emitter.pointer_type().into(); OWN_PARAMETERS as usize];
    parameter_types.extend(code.inputs.iter().map(|&(_, input_type)| {
        let parameter_type: BasicMetadataTypeEnum = emitter.value_type(input_type).into();
        parameter_type
    }));
    let function_type = emitter.context.void_type().fn_type(&parameter_types, false);
    let function = emitter.declare_part(&name_function(callee), function_type);
    // However deep functions call each other, the stack has room: every frame is told, be it little.
    let told_frames = emitter.context.create_string_attribute("warn-stack-size", "0");
    function.add_attribute(AttributeLoc::Function, told_frames);
}

fn emit_body(
    emitter: &Emitter<'_, '_>,
    module: &Module,
    code: &Kernel,
    storage: &Storage,
    options: &CodeOptions<'_>,
) -> Emitted<()> {
    let kernel_call = Call {
        frame: frame::nth_parameter(emitter, 0)?.into_pointer_value(),
        scratch: frame::nth_parameter(emitter, 1)?.into_pointer_value(),
        once: SecondaryMap::new(),
    };
    let frame = frame::enter_kernel(emitter, module, code, storage, options.launch, Layout::X, &kernel_call)?;
    // The function asks for neither of them.
    let nowhere = [emitter.const64(0); 3];
    let group = Group { id: nowhere, size: nowhere, first: nowhere, combined: None };
    let item = Item { local: nowhere, global: nowhere, number: emitter.const64(0) };
    let exits = ScalarEmitter::emit_region(emitter, code, storage, &frame, &group, &item, code.body())?;
    for (_, source) in exits {
        emitter.position_at(source);
        emitter.builder.build_return(None)?;
    }
    Ok(())
}

impl<'ctx> Emitter<'ctx, '_> {
    /// Calls a function of the program for one work-item.
    pub fn call_function(
        &self,
        frame: &Frame<'ctx>,
        callee: Callee,
        arguments: &[(Type, BasicValueEnum<'ctx>)],
    ) -> Emitted<()> {
        let mut argument_values: Vec<BasicMetadataValueEnum> = vec![frame.address.into(), frame.local.0.into()];
        argument_values.extend(arguments.iter().map(|&(_, value)| BasicMetadataValueEnum::from(value)));
        Ok(self.builder.build_call(find_function(self, callee)?, &argument_values, "").map(drop)?)
    }
}
