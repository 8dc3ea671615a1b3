//! Variables that tell a work-item of itself: reading one is a call of the work-item function of OpenCL C. Where somebody wants the address
//! of one, it is copied to private memory when the function begins.

use spirv::{BuiltIn, Op};

use super::error::{Attempt, refuse};
use super::function_state::{BuiltInAddress, FunctionState, LateText};
use super::ids::Id;
use super::mangle::Parameter;
use super::translator::Translator;
use super::types::TypeKind;
use super::values::{Typed, ValueText};

/// The function that gives what a variable holds.
enum Query {
    /// It is asked for each dimension and answers with a `size_t`.
    ByDimension(&'static str),
    /// It answers with this type.
    Whole(&'static str, &'static str),
}

fn query_of(built_in: BuiltIn) -> Option<Query> {
    use Query::{ByDimension, Whole};
    Some(match built_in {
        BuiltIn::WorkDim => Whole("get_work_dim", "i32"),
        BuiltIn::GlobalSize => ByDimension("get_global_size"),
        BuiltIn::GlobalInvocationId => ByDimension("get_global_id"),
        BuiltIn::WorkgroupSize => ByDimension("get_local_size"),
        BuiltIn::EnqueuedWorkgroupSize => ByDimension("get_enqueued_local_size"),
        BuiltIn::LocalInvocationId => ByDimension("get_local_id"),
        BuiltIn::NumWorkgroups => ByDimension("get_num_groups"),
        BuiltIn::WorkgroupId => ByDimension("get_group_id"),
        BuiltIn::GlobalOffset => ByDimension("get_global_offset"),
        BuiltIn::GlobalLinearId => Whole("get_global_linear_id", "i64"),
        BuiltIn::LocalInvocationIndex => Whole("get_local_linear_id", "i64"),
        BuiltIn::SubgroupSize => Whole("get_sub_group_size", "i32"),
        BuiltIn::SubgroupMaxSize => Whole("get_max_sub_group_size", "i32"),
        BuiltIn::NumSubgroups => Whole("get_num_sub_groups", "i32"),
        BuiltIn::NumEnqueuedSubgroups => Whole("get_enqueued_num_sub_groups", "i32"),
        BuiltIn::SubgroupId => Whole("get_sub_group_id", "i32"),
        BuiltIn::SubgroupLocalInvocationId => Whole("get_sub_group_local_id", "i32"),
        BuiltIn::SubgroupEqMask => Whole("get_sub_group_eq_mask", "<4 x i32>"),
        BuiltIn::SubgroupGeMask => Whole("get_sub_group_ge_mask", "<4 x i32>"),
        BuiltIn::SubgroupGtMask => Whole("get_sub_group_gt_mask", "<4 x i32>"),
        BuiltIn::SubgroupLeMask => Whole("get_sub_group_le_mask", "<4 x i32>"),
        BuiltIn::SubgroupLtMask => Whole("get_sub_group_lt_mask", "<4 x i32>"),
        _ => return None,
    })
}

/// Reads a variable or one of its components.
pub(super) fn read_built_in(
    translator: &mut Translator<'_>,
    (value_type, id): (Id, Id),
    built_in: BuiltIn,
    component: Option<u32>,
) -> Attempt<()> {
    let Some(query) = query_of(built_in) else { refuse!("the built-in variable {built_in:?} is not supported") };
    let text = translator.types.type_text(value_type)?;
    let (_, count) = translator.types.elements_of(value_type)?;
    match (query, component, count) {
        (Query::ByDimension(name), Some(dimension @ 0..3), 1) => {
            let call = query_dimension(translator, name, dimension)?;
            define_converted(translator, (value_type, id), &call, "i64")
        }
        (Query::ByDimension(name), None, 3) => read_vector(translator, (value_type, id), built_in, name),
        (Query::Whole(name, result), None, _) => {
            let call = translator.call_built_in(name, &[], result, &[])?;
            define_converted(translator, (value_type, id), &call, result)
        }
        (Query::Whole(name, result @ "<4 x i32>"), Some(index), 1) => {
            let call = translator.call_built_in(name, &[], result, &[])?;
            let vector = translator.define_extra(format_args!("{call}"));
            translator.define_result((value_type, id), format_args!("extractelement {result} {vector}, i32 {index}"))
        }
        _ => refuse!("the built-in variable {built_in:?} has no value of type {text}"),
    }
}

/// Reads all components, as lines that are kept only if the vector is used as a whole.
fn read_vector(
    translator: &mut Translator<'_>,
    (value_type, id): (Id, Id),
    built_in: BuiltIn,
    name: &str,
) -> Attempt<()> {
    let position = translator.body.len();
    let text = translator.types.type_text(value_type)?;
    let (element, _) = translator.types.elements_of(value_type)?;
    let element_text = translator.types.type_text(element)?;
    let mut vector = ValueText::from("undef");
    for dimension in 0..3 {
        let call = query_dimension(translator, name, dimension)?;
        let component = convert_size(translator, element, &call)?;
        let insertion = format!("insertelement {text} {vector}, {element_text} {component}, i32 {dimension}");
        vector = translator.define_extra(format_args!("{insertion}"));
    }
    let lines = LateText::of_lines(position, translator.body.split_off(position));
    translator.define_built_in_vector((value_type, id), built_in, vector, lines)
}

/// The lines at a function's entry that make the addresses which it uses.
pub(super) fn spell_addresses(translator: &mut Translator<'_>) -> Attempt<String> {
    let addresses = translator.function.as_ref().map(FunctionState::take_built_in_addresses).unwrap_or_default();
    let mut lines = String::new();
    let mut filled = None;
    // The whole and the components of a variable stand together.
    for address in addresses {
        let whole = BuiltInAddress { component: None, ..address };
        if filled != Some(whole) {
            lines.push_str(&fill_variable(translator, whole)?);
            filled = Some(whole);
        }
        if let Some(component) = address.component {
            let text = translator.types.type_text(address.content)?;
            let location = translator.lines.spell_location(&mut translator.metadata);
            lines.push_str(&format!(
                "  {address} = getelementptr inbounds {text}, ptr {whole}, i32 0, i32 {component}{location}\n"
            ));
        }
    }
    Ok(lines)
}

/// The lines that copy a variable to memory of its name.
fn fill_variable(translator: &mut Translator<'_>, variable: BuiltInAddress) -> Attempt<String> {
    let text = translator.types.type_text(variable.content)?;
    let (element, count) = translator.types.elements_of(variable.content)?;
    let element_text = translator.types.type_text(element)?;
    let mut lines = vec![format!("{variable} = alloca {text}")];
    let value = match (BuiltIn::from_u32(variable.built_in).and_then(query_of), count, &*element_text) {
        (Some(Query::ByDimension(name)), 3, "i64" | "i32") => {
            let mut vector = "undef".to_owned();
            for dimension in 0..3 {
                let call = query_dimension(translator, name, dimension)?;
                lines.push(format!("{variable}.{dimension} = {call}"));
                let component = spell_resized(&mut lines, format!("{variable}.{dimension}"), "i64", &element_text);
                let next = format!("{variable}.vector{dimension}");
                lines.push(format!(
                    "{next} = insertelement {text} {vector}, {element_text} {component}, i32 {dimension}"
                ));
                vector = next;
            }
            vector
        }
        (Some(Query::Whole(name, result)), _, _) if *result == *text || (count == 1 && result.starts_with('i')) => {
            if !matches!(&*text, "i32" | "i64" | "<4 x i32>") {
                refuse!("a variable of type {text} tells nothing of the work-item");
            }
            let call = translator.call_built_in(name, &[], result, &[])?;
            lines.push(format!("{variable}.whole = {call}"));
            spell_resized(&mut lines, format!("{variable}.whole"), result, &text)
        }
        _ => refuse!("there is no built-in variable {} of type {text}", variable.built_in),
    };
    lines.push(format!("store {text} {value}, ptr {variable}"));
    let location = translator.lines.spell_location(&mut translator.metadata);
    Ok(lines.into_iter().map(|line| format!("  {line}{location}\n")).collect())
}

/// An integer of 32 or 64 bits in another of these types, for which a line may be needed.
fn spell_resized(lines: &mut Vec<String>, value: String, given: &str, wanted: &str) -> String {
    if given == wanted {
        return value;
    }
    let conversion = if given == "i64" { "trunc" } else { "zext" };
    let resized = format!("{value}.resized");
    lines.push(format!("{resized} = {conversion} {given} {value} to {wanted}"));
    resized
}

fn query_dimension(translator: &mut Translator<'_>, name: &str, dimension: u32) -> Attempt<String> {
    let dimension = ["0", "1", "2"][dimension.min(2) as usize];
    translator.call_built_in(name, &[Parameter::Scalar("j")], "i64", &[Typed::of_texts("i32", dimension)])
}

/// The result of a call that gives 64 bits, in the type of a component.
fn convert_size(translator: &mut Translator<'_>, element: Id, call: &str) -> Attempt<ValueText> {
    let value = translator.define_extra(format_args!("{call}"));
    match translator.types.find_type(element)?.kind {
        TypeKind::Int(64) => Ok(value),
        TypeKind::Int(32) => Ok(translator.define_extra(format_args!("trunc i64 {value} to i32"))),
        _ => refuse!("built-in variables are of 32 or 64 bits"),
    }
}

/// Defines the result of a call, in the type that the variable has.
fn define_converted(translator: &mut Translator<'_>, result: (Id, Id), call: &str, given: &str) -> Attempt<()> {
    let wanted = translator.types.type_text(result.0)?;
    match (given, &*wanted) {
        _ if given == &*wanted => translator.define_result(result, format_args!("{call}")),
        ("i64", "i32") | ("i32", "i64") => {
            let value = translator.define_extra(format_args!("{call}"));
            let conversion = if given == "i64" { "trunc" } else { "zext" };
            translator.define_result(result, format_args!("{conversion} {given} {value} to {wanted}"))
        }
        _ => refuse!("the built-in variable is of type {given}, not {wanted}"),
    }
}

/// `OpReadClockKHR`: a count of 64 bits, or its two halves.
pub(super) fn translate_clock(translator: &mut Translator<'_>, _: Op, words: &[u32]) -> Attempt<()> {
    let mut operands = translator.operands(words);
    let result = operands.take_result()?;
    let name = match translator.constants.integer_bits(operands.take_id()?)? {
        1 => "device",
        2 => "work_group",
        3 => "sub_group",
        scope => refuse!("there is no clock of scope {scope}"),
    };
    let text = translator.types.type_text(result.0)?;
    let infix = match &*text {
        "i64" => "",
        "<2 x i32>" => "_hilo",
        _ => refuse!("a clock gives 64 bits, or two times 32"),
    };
    let call = translator.call_built_in(&format!("clock_read{infix}_{name}"), &[], &text, &[])?;
    translator.define_result(result, format_args!("{call}"))
}
