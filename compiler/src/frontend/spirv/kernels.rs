//! Kernels: for each entry point a function that the host calls, with what the host has to know of its arguments. It is the
//! function of the entry point, if nobody else needs that; otherwise it calls it.

use spirv::{Decoration, ExecutionMode, FunctionParameterAttribute};

use super::constants::global_name;
use super::declarations::{EntryPoint, Mode};
use super::error::{Attempt, refuse};
use super::functions::spell_parameter;
use super::ids::Id;
use super::scopes::begin_scope;
use super::translator::{Translator, quote_name};
use super::types::{Type, TypeKind};

/// Writes the kernel of an entry point, which calls the function's body, where the function is not the kernel itself.
pub(super) fn define_kernel(translator: &mut Translator<'_>, entry_point: &EntryPoint) -> Attempt<()> {
    let EntryPoint { function, name } = entry_point;
    let Some(signature) = translator.declarations.signatures.get(function) else {
        refuse!("the entry point {name} is not a function");
    };
    let (function_type, parameters, has_body) =
        (signature.function_type, signature.parameters.clone(), signature.has_body);
    let TypeKind::Function { result, parameters: types } = translator.types.find_type(function_type)?.kind.clone()
    else {
        refuse!("the entry point {name} is not a function");
    };
    if translator.types.find_type(result)?.kind != TypeKind::Void || !has_body {
        refuse!("the kernel {name} gives a value or has no body");
    }
    if translator.declarations.find_sole_kernel(*function).is_some() {
        return Ok(());
    }
    let arguments = spell_arguments(translator, &parameters, &types)?;
    let body = global_name(translator, *function);
    translator.lines.current = translator.declarations.first_line(*function);
    let head = spell_kernel_head(translator, *function, name, &parameters, &types)?;
    translator.functions.push_str(&head);
    translator.emit_line(format_args!("call spir_func void {body}({arguments})"));
    translator.emit_line(format_args!("ret void"));
    translator.functions.push_str(&translator.body);
    translator.body.clear();
    translator.functions.push_str("}\n\n");
    translator.lines.end_scope();
    Ok(())
}

/// The first line of a kernel's definition; begins the function's lines.
pub(super) fn spell_kernel_head(
    translator: &mut Translator<'_>,
    function: Id,
    name: &str,
    parameters: &[Id],
    types: &[Id],
) -> Attempt<String> {
    let arguments = spell_arguments(translator, parameters, types)?;
    let metadata = kernel_metadata(translator, function, name, parameters, types)?;
    let scope = begin_scope(translator, function, name);
    let quoted = quote_name(name);
    Ok(format!("define spir_kernel void @{quoted}({arguments}) convergent nounwind{metadata}{scope} {{\n"))
}

/// The parameters of a kernel, without names of their own: the host would take these for those of the source.
fn spell_arguments(translator: &Translator<'_>, parameters: &[Id], types: &[Id]) -> Attempt<String> {
    let mut spelt = Vec::with_capacity(parameters.len());
    for (index, (&parameter, &parameter_type)) in parameters.iter().zip(types).enumerate() {
        // The host sets every argument, so that none of their bits is undefined.
        spelt.push(format!("{} noundef %{index}", spell_parameter(translator, parameter, parameter_type)?));
    }
    Ok(spelt.join(", "))
}

/// What the host knows of a kernel, as references to nodes.
fn kernel_metadata(
    translator: &mut Translator<'_>,
    function: Id,
    name: &str,
    parameters: &[Id],
    types: &[Id],
) -> Attempt<String> {
    let written_types = written_type_names(translator, name, parameters.len());
    let mut lists: [(&str, Vec<String>); 6] = [
        ("kernel_arg_addr_space", Vec::new()),
        ("kernel_arg_access_qual", Vec::new()),
        ("kernel_arg_type", Vec::new()),
        ("kernel_arg_base_type", Vec::new()),
        ("kernel_arg_type_qual", Vec::new()),
        ("kernel_arg_name", Vec::new()),
    ];
    for (index, (&parameter, &parameter_type)) in parameters.iter().zip(types).enumerate() {
        let argument = describe_argument(translator, parameter, parameter_type)?;
        let written = written_types.as_ref().map_or(&argument.type_name, |names| &names[index]);
        let text = |text: &str| format!("!{}", quote_name(text));
        let values = [
            format!("i32 {}", argument.space),
            text(argument.access),
            text(written),
            text(&argument.type_name),
            text(&argument.qualifiers),
            text(translator.declarations.names.get(&parameter).map_or("", String::as_str)),
        ];
        for ((_, list), value) in lists.iter_mut().zip(values) {
            list.push(value);
        }
    }
    let mut references = String::new();
    for (kind, list) in lists {
        let node = translator.add_metadata(format!("!{{{}}}", list.join(", ")));
        references.push_str(&format!(" !{kind} {node}"));
    }
    for Mode { mode, operands } in translator.declarations.modes.get(&function).cloned().unwrap_or_default() {
        if let Some((kind, content)) = describe_mode(translator, mode, &operands)? {
            let node = translator.add_metadata(format!("!{{{content}}}"));
            references.push_str(&format!(" !{kind} {node}"));
        }
    }
    Ok(references)
}

/// The types of a kernel's arguments as its source has them, where the module tells: a text that begins with the kernel's name.
fn written_type_names(translator: &Translator<'_>, name: &str, count: usize) -> Option<Vec<String>> {
    let list = translator.declarations.argument_types.get(name)?;
    let names: Vec<String> = list.split_terminator(',').map(str::to_owned).collect();
    (names.len() == count).then_some(names)
}

/// What the host knows of an argument.
struct Argument {
    space: u32,
    access: &'static str,
    type_name: String,
    qualifiers: String,
}

fn describe_argument(translator: &Translator<'_>, parameter: Id, parameter_type: Id) -> Attempt<Argument> {
    let declarations = &translator.declarations;
    let known = translator.types.find_type(parameter_type)?;
    let has_attribute = |attribute| declarations.has_attribute(parameter, attribute);
    let mut argument =
        Argument { space: 0, access: "none", type_name: type_name(translator, known)?, qualifiers: String::new() };
    match &known.kind {
        TypeKind::Image(image) => {
            argument.space = 1;
            argument.access = match image.access {
                "ro" => "read_only",
                "wo" => "write_only",
                _ => "read_write",
            };
        }
        TypeKind::Pipe { is_written } => {
            argument.space = 1;
            argument.access = if *is_written { "write_only" } else { "read_only" };
            argument.qualifiers = "pipe".to_owned();
        }
        TypeKind::Pointer { space, .. } if !has_attribute(FunctionParameterAttribute::ByVal) => {
            argument.space = *space;
            let words = [
                ("const", *space == 2 || has_attribute(FunctionParameterAttribute::NoWrite)),
                ("restrict", has_attribute(FunctionParameterAttribute::NoAlias)),
                ("volatile", declarations.is_decorated(parameter, Decoration::Volatile)),
            ];
            let words: Vec<&str> = words.iter().filter(|(_, is_there)| *is_there).map(|(word, _)| *word).collect();
            argument.qualifiers = words.join(" ");
        }
        TypeKind::Pointer { pointee: Some(pointee), .. } => {
            argument.type_name = type_name(translator, translator.types.find_type(*pointee)?)?;
        }
        TypeKind::Event | TypeKind::ReserveId => refuse!("%{parameter} is of a type that no parameter of a kernel has"),
        _ => {}
    }
    Ok(argument)
}

/// OpenCL C's name of a type, as far as a module tells: integers have no signs in SPIR-V.
fn type_name(translator: &Translator<'_>, known: &Type) -> Attempt<String> {
    Ok(match &known.kind {
        TypeKind::Image(image) => format!("{}_t", image.name),
        TypeKind::Sampler => "sampler_t".to_owned(),
        TypeKind::Int(8) => "char".to_owned(),
        TypeKind::Int(16) => "short".to_owned(),
        TypeKind::Int(32) => "int".to_owned(),
        TypeKind::Int(64) => "long".to_owned(),
        TypeKind::Float(16) => "half".to_owned(),
        TypeKind::Float(32) => "float".to_owned(),
        TypeKind::Float(_) => "double".to_owned(),
        TypeKind::Vector { element, count } => {
            let element = translator.types.source_name(*element, true)?;
            format!("{element}{count}")
        }
        TypeKind::Pointer { pointee: None, .. } => "void*".to_owned(),
        TypeKind::Pointer { pointee: Some(pointee), .. } => {
            let pointee = translator.types.find_type(*pointee)?;
            match pointee.kind {
                TypeKind::Pointer { .. } | TypeKind::Array { .. } | TypeKind::Function { .. } => "void*".to_owned(),
                _ => format!("{}*", type_name(translator, pointee)?),
            }
        }
        TypeKind::Struct { .. } => "struct".to_owned(),
        _ => "void".to_owned(),
    })
}

/// An execution mode as metadata: its kind and its content.
fn describe_mode(
    translator: &Translator<'_>,
    mode: ExecutionMode,
    operands: &[u32],
) -> Attempt<Option<(&'static str, String)>> {
    let numbers = || -> Attempt<Vec<u32>> {
        match mode {
            ExecutionMode::LocalSizeId | ExecutionMode::LocalSizeHintId => {
                operands.iter().map(|&id| Ok(translator.constants.integer_bits(id)? as u32)).collect()
            }
            _ => Ok(operands.to_vec()),
        }
    };
    let sizes = || -> Attempt<String> {
        match numbers()?[..] {
            [x, y, z] => Ok(format!("i32 {x}, i32 {y}, i32 {z}")),
            _ => refuse!("the execution mode {mode:?} has three sizes"),
        }
    };
    Ok(match mode {
        ExecutionMode::LocalSize | ExecutionMode::LocalSizeId => Some(("reqd_work_group_size", sizes()?)),
        ExecutionMode::LocalSizeHint | ExecutionMode::LocalSizeHintId => Some(("work_group_size_hint", sizes()?)),
        ExecutionMode::SubgroupSize => match numbers()?[..] {
            [size] => Some(("intel_reqd_sub_group_size", format!("i32 {size}"))),
            _ => refuse!("the execution mode SubgroupSize has one size"),
        },
        ExecutionMode::VecTypeHint => operands.first().and_then(|&hint| describe_vector_type(hint)),
        _ => None,
    })
}

/// The type that a kernel's author took for its vectors: the count in the upper half, then the kind of number.
fn describe_vector_type(hint: u32) -> Option<(&'static str, String)> {
    let (count, kind) = (hint >> 16, hint & 0xffff);
    let element = ["i8", "i16", "i32", "i64", "half", "float", "double"].get(kind as usize)?;
    let text = match count {
        0 | 1 => (*element).to_owned(),
        2 | 3 | 4 | 8 | 16 => format!("<{count} x {element}>"),
        _ => return None,
    };
    Some(("vec_type_hint", format!("{text} undef, i32 1")))
}
