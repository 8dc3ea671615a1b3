//! Pointers to functions (`SPV_INTEL_function_pointers`): addresses of functions as constants, and calls through them.

use spirv::Op;

use super::alias_scopes::spell_decorated_scopes;
use super::constants::{add_constant, global_name};
use super::error::{Attempt, refuse};
use super::functions::define_result;
use super::ids::Id;
use super::known_constants::{Constant, ConstantKind};
use super::translator::{Translator, join_typed};
use super::types::TypeKind;
use super::values::Typed;

/// `OpConstantFunctionPointerINTEL`: the address of a function, which may be defined later.
pub(super) fn declare_address(translator: &mut Translator<'_>, words: &[u32]) -> Attempt<()> {
    let mut operands = translator.operands(words);
    let (value_type, id) = operands.take_result()?;
    let function = operands.take_id()?;
    let (_, pointee) = pointer_space(translator, value_type)?;
    match translator.declarations.signatures.get(&function) {
        Some(signature) if signature.function_type == pointee => {}
        Some(_) => refuse!("%{function} is a function of another type than %{value_type} points to"),
        None => refuse!("%{function} is not a function"),
    }
    let name = global_name(translator, function);
    let type_text = translator.types.type_text(value_type)?;
    let text = if &*type_text == "ptr" { name } else { format!("addrspacecast (ptr {name} to {type_text})") };
    add_constant(translator, id, Constant { value_type, kind: ConstantKind::Address, text: text.into() })
}

/// `OpFunctionPointerCallINTEL`: calls the function that a pointer means, with arguments of its type's parameters.
pub(super) fn translate_pointer_call(translator: &mut Translator<'_>, _: Op, words: &[u32]) -> Attempt<()> {
    let mut operands = translator.operands(words);
    let (value_type, id) = operands.take_result()?;
    let pointer = operands.take_id()?;
    let arguments = operands.take_ids()?;
    let pointer = translator.find_operand(pointer)?;
    let (space, function_type) = pointer_space(translator, pointer.value_type)?;
    let TypeKind::Function { result, parameters } = translator.types.find_type(function_type)?.kind.clone() else {
        refuse!("%{function_type} is not a type of functions");
    };
    if result != value_type || arguments.len() != parameters.len() {
        refuse!("it calls a function with {} parameters and another result, or with other arguments", parameters.len());
    }
    let mut spelt = Vec::with_capacity(arguments.len());
    for (&argument, &parameter_type) in arguments.iter().zip(parameters.iter()) {
        translator.check_type(argument, parameter_type)?;
        let text = translator.find_operand(argument)?.text;
        spelt.push(Typed::of_texts(translator.types.type_text(parameter_type)?, text));
    }
    let result_text = translator.types.type_text(result)?;
    let (arguments, scopes) = (join_typed(&spelt), spell_decorated_scopes(translator, id)?);
    let call = format!("call spir_func addrspace({space}) {result_text} {}({arguments}){scopes}", pointer.text);
    define_result(translator, (value_type, id), &call)
}

/// The address space of a pointer to a function, and the function's type.
fn pointer_space(translator: &Translator<'_>, pointer_type: Id) -> Attempt<(u32, Id)> {
    let (space, pointee) = translator.types.pointer_parts(pointer_type)?;
    if !matches!(translator.types.find_type(pointee)?.kind, TypeKind::Function { .. }) {
        refuse!("%{pointer_type} is not a type of pointers to functions");
    }
    Ok((space, pointee))
}
