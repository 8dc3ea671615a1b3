//! Functions of the program that the kernel calls.
//!
//! Requires: a verified module, and storage of a kernel that is laid out.
//! Ensures: a function of the kernel's module for each function, and for each form of one, that the kernel calls, also through others. It
//! does for one work-item, or for the lanes of a gang, what the IR says, and finds program-scope variables by the launch's frame, as the
//! kernel does.
//! Phases: where their private variables lie, small ones on the stack, large ones in the worker's part of the scratch memory, each in a
//! place of its own: none of the functions runs twice at once, as there is no recursion and none waits; declarations; bodies.
//! Source: our own.
//!
//! ```text
//! v5: f32 = call fn1(v3, v4)        =>     %v5 = call float @function_1(ptr %frame, ptr %scratch, i32 %v3, ptr %v4)
//! ```

use super::emit::{Emitted, Emitter};
use super::frame::{self, Call, Frame, OWN_PARAMETERS, ResultPlace};
use super::function_forms::{declare_forms, emit_form};
use super::kernel_code::KernelCode;
use super::region::ScalarEmitter;
use super::work_item::{Group, Item};
use crate::codegen::error::CodegenError;
use cranelift_entity::{EntityRef, SecondaryMap};
use inkwell::attributes::AttributeLoc;
use inkwell::types::{BasicMetadataTypeEnum, BasicType, BasicTypeEnum};
use inkwell::values::{BasicMetadataValueEnum, BasicValueEnum, CallSiteValue, FunctionValue};
use lockstep_ir::ir::{Callee, Kernel, Module};
use lockstep_ir::plan::function_forms::FunctionForms;
use lockstep_ir::plan::storage::Storage;
use lockstep_ir::report::Notes;
use lockstep_protocol::launch_facts::LaunchFacts;
use lockstep_protocol::layout::Layout;
use lockstep_protocol::types::Type;

/// The functions that a kernel calls, each with where its private variables lie.
pub(super) struct CalledFunctions<'a> {
    /// What is called for one work-item, each with where its private variables lie.
    scalar: Vec<(Callee, Storage)>,
    /// What code of gangs calls.
    forms: &'a FunctionForms,
    form_storages: Vec<Storage>,
}

impl<'a> CalledFunctions<'a> {
    /// Adds what the functions of a kernel need to the worker's part of its scratch memory.
    pub fn lay_out(module: &Module, forms: &'a FunctionForms, storage: &mut Storage) -> CalledFunctions<'a> {
        let needs = &mut storage.needs;
        let scalar = forms.scalar.iter().map(|&callee| {
            let called_storage = Storage::lay_out_called(&module.functions[callee], 1, needs);
            (callee, called_storage)
        });
        let scalar = scalar.collect();
        let form_storages =
            forms.forms.iter().map(|form| Storage::lay_out_called(&form.code, form.widening.width, needs)).collect();
        CalledFunctions { scalar, forms, form_storages }
    }

    /// Writes all of them into the kernel's module, of whose function an emitter is given.
    pub fn emit_all<'ctx>(
        &self,
        emitter: &Emitter<'ctx, '_>,
        module: &'a Module,
        kernel_code: &KernelCode<'a, 'ctx>,
        notes: &Notes,
    ) -> Emitted<()> {
        self.scalar.iter().for_each(|(callee, _)| declare_function(emitter, *callee, &module.functions[*callee]));
        declare_forms(emitter, self.forms);
        for (callee, storage) in &self.scalar {
            let code = &module.functions[*callee];
            let function_code = KernelCode { kernel: code, widening: None, ..*kernel_code };
            let emitter = function_code.begin_function(find_function(emitter, *callee)?, Some(&name_function(*callee)));
            emit_body(&emitter, module, code, storage)?;
        }
        for form in self.form_storages.iter().enumerate() {
            emit_form(kernel_code, module, self.forms, form, notes)?;
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

fn declare_function(emitter: &Emitter<'_, '_>, callee: Callee, code: &Kernel) {
    let parameter_types = code.inputs.iter().map(|&(_, input_type)| emitter.value_type(input_type)).collect();
    let result_types = code.results.iter().map(|&result_type| emitter.value_type(result_type)).collect();
    declare_called(emitter, &name_function(callee), parameter_types, result_types);
}

/// Declares a function by what it is passed behind its own parameters, and by what it returns.
pub(super) fn declare_called<'ctx>(
    emitter: &Emitter<'ctx, '_>,
    name: &str,
    passed_types: Vec<BasicTypeEnum<'ctx>>,
    result_types: Vec<BasicTypeEnum<'ctx>>,
) {
    let mut parameter_types: Vec<BasicMetadataTypeEnum> = vec![emitter.pointer_type().into(); OWN_PARAMETERS as usize];
    parameter_types.extend(passed_types.into_iter().map(BasicMetadataTypeEnum::from));
    let function_type = match result_types[..] {
        [] => emitter.context.void_type().fn_type(&parameter_types, false),
        [result_type] => result_type.fn_type(&parameter_types, false),
        _ => emitter.context.struct_type(&result_types, false).fn_type(&parameter_types, false),
    };
    let function = emitter.declare_part(name, function_type);
    // However deep functions call each other, the stack has room: every frame is told, be it little.
    let told_frames = emitter.context.create_string_attribute("warn-stack-size", "0");
    function.add_attribute(AttributeLoc::Function, told_frames);
}

/// What a function's code finds when it begins.
pub(super) fn enter_function<'ctx>(
    emitter: &Emitter<'ctx, '_>,
    module: &Module,
    code: &Kernel,
    storage: &Storage,
) -> Emitted<Frame<'ctx>> {
    let kernel_call = Call {
        frame: frame::nth_parameter(emitter, 0)?.into_pointer_value(),
        scratch: frame::nth_parameter(emitter, 1)?.into_pointer_value(),
        once: SecondaryMap::new(),
    };
    let launch = &LaunchFacts::default();
    let entered = frame::Entered { module, kernel: code, region: None, storage, launch, layout: Layout::X };
    frame::enter_kernel(emitter, &entered, &kernel_call)
}

fn emit_body(emitter: &Emitter<'_, '_>, module: &Module, code: &Kernel, storage: &Storage) -> Emitted<()> {
    let mut frame = enter_function(emitter, module, code, storage)?;
    for &result_type in &code.results {
        frame.results.push(ResultPlace::open_place(emitter, emitter.value_type(result_type), true)?);
    }
    // The function asks for neither of them.
    let (group, item) = (Group::without_place(emitter), Item::without_place(emitter));
    let exits = ScalarEmitter::emit_region(emitter, code, storage, &frame, &group, &item, code.body())?;
    for (_, source) in exits {
        emitter.position_at(source);
        return_results(emitter, &frame)?;
    }
    Ok(())
}

/// Returns from a function with what it has set.
pub(super) fn return_results<'ctx>(emitter: &Emitter<'ctx, '_>, frame: &Frame<'ctx>) -> Emitted<()> {
    let builder = &emitter.builder;
    let mut values = Vec::new();
    for result in &frame.results {
        values.push(builder.build_load(result.kept_type, result.place, "")?);
    }
    match &values[..] {
        [] => builder.build_return(None)?,
        [value] => builder.build_return(Some(value))?,
        _ => builder.build_aggregate_return(&values)?,
    };
    Ok(())
}

/// What a call returned, one by one.
pub(super) fn take_returned<'ctx>(
    emitter: &Emitter<'ctx, '_>,
    call_site: CallSiteValue<'ctx>,
) -> Emitted<Vec<BasicValueEnum<'ctx>>> {
    match call_site.try_as_basic_value().basic() {
        None => Ok(Vec::new()),
        Some(BasicValueEnum::StructValue(returned)) => (0..returned.get_type().count_fields())
            .map(|index| Ok(emitter.builder.build_extract_value(returned, index, "")?))
            .collect(),
        Some(returned) => Ok(vec![returned]),
    }
}

impl<'ctx> Emitter<'ctx, '_> {
    /// Calls a function of the program for one work-item; what it returns.
    pub fn call_function(
        &self,
        frame: &Frame<'ctx>,
        callee: Callee,
        arguments: &[(Type, BasicValueEnum<'ctx>)],
    ) -> Emitted<Vec<BasicValueEnum<'ctx>>> {
        let mut argument_values: Vec<BasicMetadataValueEnum> = vec![frame.address.into(), frame.local.0.into()];
        argument_values.extend(arguments.iter().map(|&(_, value)| BasicMetadataValueEnum::from(value)));
        take_returned(self, self.builder.build_call(find_function(self, callee)?, &argument_values, "")?)
    }
}
