//! Forms of the program's functions, each for the lanes of a gang at once.
//!
//! Requires: planned forms, and their private variables laid out.
//! Ensures: a function of the kernel's module for each form. What is the same in all lanes, or follows from lane 0's, is passed and
//! returned as a scalar, everything else as a vector.
//! Phases: declarations; bodies.
//! Source: Karrenberg & Hack 2012, section 3.1.
//!
//! ```text
//! call fn1(v3, v4)        =>     %r = call <16 x float> @form_2(ptr %frame, ptr %scratch, i32 %v3, <16 x ptr> %v4, <16 x i1> %mask)
//! ```

use super::called_functions::{declare_called, enter_function, return_results, take_returned};
use super::emit::{Emitted, Emitter, vector_of};
use super::frame::{Frame, OWN_PARAMETERS, ResultPlace};
use super::kernel_code::KernelCode;
use super::vector::{EmitContext, emit_called};
use super::work_item::{Group, Item};
use crate::codegen::error::CodegenError;
use inkwell::types::BasicTypeEnum;
use inkwell::values::{BasicMetadataValueEnum, BasicValueEnum, FunctionValue};
use lockstep_ir::ir::Module;
use lockstep_ir::plan::function_forms::{FunctionForm, FunctionForms};
use lockstep_ir::plan::storage::Storage;
use lockstep_ir::plan::value_form::Form;
use lockstep_ir::report::Notes;
use lockstep_protocol::types::Type;

/// Declares the function of each form.
pub(super) fn declare_forms(emitter: &Emitter<'_, '_>, forms: &FunctionForms) {
    for (form_index, form) in forms.forms.iter().enumerate() {
        let width = form.widening.width;
        let parameter_forms =
            form.signature.arguments.iter().copied().chain(form.signature.is_masked.then_some(Form::Vector));
        let parameter_types = form.code.inputs.iter().zip(parameter_forms).map(|(&(_, input_type), parameter_form)| {
            held_type(emitter, input_type, !matches!(parameter_form, Form::Affine(_)), width)
        });
        let results = form.code.results.iter().zip(&form.uniform_results);
        let result_types =
            results.map(|(&result_type, &is_uniform)| held_type(emitter, result_type, !is_uniform, width));
        declare_called(emitter, &name_form(form_index), parameter_types.collect(), result_types.collect());
    }
}

/// Writes the code of a form into its function.
pub(super) fn emit_form(
    kernel_code: &KernelCode<'_, '_>,
    module: &Module,
    forms: &FunctionForms,
    (form_index, storage): (usize, &Storage),
    notes: &Notes,
) -> Emitted<()> {
    let form = &forms.forms[form_index];
    let name = name_form(form_index);
    let form_code = KernelCode { kernel: &form.code, widening: Some(&form.widening), ..*kernel_code };
    let function = kernel_code.llvm_module.get_function(&name).ok_or(CodegenError::Missing("form of a function"))?;
    let emitter = &form_code.begin_function(function, Some(&name));
    let mut frame = enter_function(emitter, module, &form.code, storage)?;
    keep_results(emitter, form, &mut frame)?;
    // A function asks for neither of them.
    let (group, item) = (Group::without_place(emitter), Item::without_place(emitter));
    let (frame, group) = (&frame, &group);
    let around =
        EmitContext { emitter, kernel: &form.code, storage, frame, group, widening: &form.widening, forms, notes };
    for (_, source) in emit_called(around, item)? {
        emitter.position_at(source);
        return_results(emitter, frame)?;
    }
    Ok(())
}

/// Makes places for what the form returns. Lanes that do not call find zeros.
fn keep_results<'ctx>(emitter: &Emitter<'ctx, '_>, form: &FunctionForm, frame: &mut Frame<'ctx>) -> Emitted<()> {
    for (&result_type, &is_uniform) in form.code.results.iter().zip(&form.uniform_results) {
        let kept_type = held_type(emitter, result_type, !is_uniform, form.widening.width);
        frame.results.push(ResultPlace::open_place(emitter, kept_type, is_uniform)?);
    }
    Ok(())
}

/// The type of a scalar, or of a vector of one for each lane.
fn held_type<'ctx>(
    emitter: &Emitter<'ctx, '_>,
    scalar_type: Type,
    is_vector: bool,
    gang_width: u32,
) -> BasicTypeEnum<'ctx> {
    let held_type = emitter.value_type(scalar_type);
    if is_vector { vector_of(held_type, gang_width).into() } else { held_type }
}

/// Calls a form; what it returns.
pub(super) fn call_form<'ctx>(
    emitter: &Emitter<'ctx, '_>,
    frame: &Frame<'ctx>,
    form_index: usize,
    passed: &[BasicMetadataValueEnum<'ctx>],
) -> Emitted<Vec<BasicValueEnum<'ctx>>> {
    let function: FunctionValue =
        emitter.module.get_function(&name_form(form_index)).ok_or(CodegenError::Missing("form of a function"))?;
    let mut all_passed: Vec<BasicMetadataValueEnum> = vec![frame.address.into(), frame.local.0.into()];
    debug_assert_eq!(all_passed.len(), OWN_PARAMETERS as usize);
    all_passed.extend_from_slice(passed);
    take_returned(emitter, emitter.builder.build_call(function, &all_passed, "")?)
}

/// The name that a form has in a kernel's module.
fn name_form(form_index: usize) -> String {
    format!("form_{form_index}")
}
