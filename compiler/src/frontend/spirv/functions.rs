//! Functions: their heads, blocks, jumps and calls.
//!
//! What can only be written when all jumps are known is of [`late_texts`](super::late_texts).

use std::cell::RefCell;
use std::collections::{HashMap, HashSet};

use spirv::{Decoration, FunctionControl, FunctionParameterAttribute, LinkageType, Op};

use super::alias_scopes::spell_decorated_scopes;
use super::constants::global_name;
use super::dominance::check_uses;
use super::error::{Attempt, refuse};
use super::expectations::read_weights;
use super::function_state::{FunctionState, LateText, VariableLengthArrays};
use super::ids::{Id, IdMap, IdSet};
use super::kernels::spell_kernel_head;
use super::known_constants::mask_of;
use super::late_texts::write_late_texts;
use super::scopes::begin_scope;
use super::translator::{Translator, join_typed};
use super::types::TypeKind;
use super::values::{Typed, Value};
use super::variable_length::place_arrays;

/// `OpFunction`: begins a function, by its type.
pub(super) fn begin_function(translator: &mut Translator<'_>, words: &[u32]) -> Attempt<()> {
    let mut operands = translator.operands(words);
    let (result, id) = operands.take_result()?;
    let (_control, function_type) = (operands.take_literal()?, operands.take_id()?);
    if translator.function.is_some() {
        refuse!("the function before has no end");
    }
    let signature = signature_of(translator, id)?;
    let TypeKind::Function { result: declared, parameters } = translator.types.find_type(function_type)?.kind.clone()
    else {
        refuse!("%{function_type} is not a type of functions");
    };
    if declared != result || parameters.len() != signature.len() {
        refuse!("its result or its parameters are not those of its type");
    }
    let has_body = translator.declarations.signatures.get(&id).is_some_and(|signature| signature.has_body);
    translator
        .set_value(id, Value::Constant { value_type: function_type, text: global_name(translator, id).into() })?;
    translator.function = Some(FunctionState {
        id,
        is_first_block: true,
        next_number: 0,
        result,
        parameters: parameters.iter().rev().copied().collect(),
        block: None,
        first_label: None,
        has_body,
        labels: IdSet::default(),
        edges: HashMap::default(),
        arrivals: IdMap::default(),
        late_texts: Vec::new(),
        built_in_addresses: RefCell::default(),
        entry_lines: String::new(),
        arrays: VariableLengthArrays::default(),
        wanted_of_loops: IdMap::default(),
        wanted_of_jump: None,
        uses: RefCell::default(),
    });
    if has_body {
        define_head(translator, id, result, &signature, &parameters)
    } else {
        import_function(translator, id, result, &parameters)
    }
}

fn signature_of(translator: &Translator<'_>, function: Id) -> Attempt<Vec<Id>> {
    match translator.declarations.signatures.get(&function) {
        Some(signature) => Ok(signature.parameters.clone()),
        None => refuse!("%{function} is not a function"),
    }
}

/// What a module says of the memory that a parameter is the address of, in LLVM's words.
const POINTER_FACTS: [(FunctionParameterAttribute, &str); 2] =
    [(FunctionParameterAttribute::NoAlias, " noalias"), (FunctionParameterAttribute::NoCapture, " captures(none)")];

/// The type and the attributes of a parameter in LLVM's text.
pub(super) fn spell_parameter(translator: &Translator<'_>, parameter: Id, parameter_type: Id) -> Attempt<String> {
    let declarations = &translator.declarations;
    let mut text = translator.types.type_text(parameter_type)?.to_string();
    if declarations.has_attribute(parameter, FunctionParameterAttribute::ByVal) {
        let (_, pointee) = translator.types.pointer_parts(parameter_type)?;
        let pointee = translator.types.find_type(pointee)?;
        let declared = declarations.decoration_number(parameter, Decoration::Alignment).map(u64::from);
        let align = declared.filter(|align| align.is_power_of_two()).unwrap_or(pointee.align);
        text.push_str(&format!(" byval({}) align {align}", pointee.text));
    }
    if translator.types.pointer_space(parameter_type).is_ok() {
        let has = |attribute| declarations.has_attribute(parameter, attribute);
        let words = POINTER_FACTS.iter().filter(|(attribute, _)| has(*attribute));
        words.for_each(|(_, word)| text.push_str(word));
        // LLVM wants one of the two.
        match (has(FunctionParameterAttribute::NoReadWrite), has(FunctionParameterAttribute::NoWrite)) {
            (true, _) => text.push_str(" readnone"),
            (false, true) => text.push_str(" readonly"),
            (false, false) => {}
        }
        let align = declarations.decoration_number(parameter, Decoration::Alignment);
        if let Some(align) = align.filter(|align| align.is_power_of_two() && !text.contains(" align ")) {
            text.push_str(&format!(" align {align}"));
        }
    }
    Ok(text)
}

fn define_head(
    translator: &mut Translator<'_>,
    id: Id,
    result: Id,
    parameters: &[Id],
    parameter_types: &[Id],
) -> Attempt<()> {
    let is_void = translator.types.find_type(result)?.kind == TypeKind::Void;
    if let Some(kernel) = translator.declarations.find_sole_kernel(id).filter(|_| is_void).map(str::to_owned) {
        let head = spell_kernel_head(translator, id, &kernel, parameters, parameter_types)?;
        translator.body.push_str(&head);
        return Ok(());
    }
    let mut spelt = Vec::with_capacity(parameters.len());
    // Parameters take the first numbers, in their order.
    for (number, (&parameter, &parameter_type)) in parameters.iter().zip(parameter_types).enumerate() {
        spelt.push(format!("{} %{number}", spell_parameter(translator, parameter, parameter_type)?));
    }
    let linkage = match translator.declarations.find_linkage(id) {
        Some(linkage) if translator.declarations.kernel_names.contains(&linkage.name) => "internal ",
        Some(linkage) if linkage.kind == LinkageType::Export => "",
        Some(linkage) if linkage.kind == LinkageType::LinkOnceODR => "linkonce_odr ",
        Some(linkage) => refuse!("{} is imported and has a body", linkage.name),
        None => "internal ",
    };
    if let Some(linkage) = translator.declarations.find_linkage(id) {
        let signature = spell_signature(translator, result, parameter_types)?;
        if translator.defined.insert(linkage.name.clone(), signature).is_some() {
            refuse!("{} is defined twice", linkage.name);
        }
    }
    let (name, result) = (global_name(translator, id), translator.types.type_text(result)?);
    let scope = begin_scope(translator, id, name.trim_start_matches('@').trim_matches('"'));
    let memory = spell_memory_use(translator, id);
    let parameters = spelt.join(", ");
    let head =
        format!("define {linkage}spir_func {result} {name}({parameters}) convergent nounwind{memory}{scope} {{\n");
    translator.body.push_str(&head);
    Ok(())
}

/// What a module says of the memory that a function uses beside its own, in LLVM's words (`Pure` and `Const`).
fn spell_memory_use(translator: &Translator<'_>, function: Id) -> &'static str {
    let control = translator.declarations.signatures.get(&function).map(|signature| signature.control);
    let control = FunctionControl::from_bits_retain(control.unwrap_or_default());
    if control.contains(FunctionControl::CONST) {
        " memory(none)"
    } else if control.contains(FunctionControl::PURE) {
        " memory(read)"
    } else {
        ""
    }
}

fn spell_signature(translator: &Translator<'_>, result: Id, parameters: &[Id]) -> Attempt<String> {
    let mut types = Vec::with_capacity(parameters.len());
    for &parameter in parameters {
        types.push(translator.types.type_text(parameter)?);
    }
    Ok(format!("{} ({})", translator.types.type_text(result)?, types.join(", ")))
}

fn import_function(translator: &mut Translator<'_>, id: Id, result: Id, parameters: &[Id]) -> Attempt<()> {
    let Some(linkage) = translator.declarations.find_linkage(id) else {
        refuse!("a function without a body that is not imported");
    };
    if linkage.kind != LinkageType::Import {
        refuse!("{} has no body and is not imported", linkage.name);
    }
    let name = linkage.name.clone();
    let signature = spell_signature(translator, result, parameters)?;
    translator.declare_called(&name, signature)
}

/// `OpFunctionParameter`: the next parameter of the function that has begun.
pub(super) fn translate_parameter(translator: &mut Translator<'_>, _: Op, words: &[u32]) -> Attempt<()> {
    let mut operands = translator.operands(words);
    let (value_type, id) = operands.take_result()?;
    let Some(state) = translator.function.as_mut() else { refuse!("it is not in a function") };
    if state.parameters.pop() != Some(value_type) {
        refuse!("the parameter is not of the type that the function's type says");
    }
    translator.define_number(value_type, id)?;
    Ok(())
}

/// `OpFunctionEnd`: writes the function that has been read.
pub(super) fn end_function(translator: &mut Translator<'_>) -> Attempt<()> {
    let Some(state) = translator.function.as_mut() else { refuse!("there is no function to end") };
    if state.block.is_some() {
        refuse!("the last block of the function does not end");
    }
    if let Some((_, target)) = state.edges.keys().find(|(_, target)| !state.labels.contains(target)) {
        refuse!("a jump leads to %{target}, which is not a block of the function");
    }
    let has_body = state.has_body;
    place_arrays(translator)?;
    write_late_texts(translator)?;
    check_dominance(translator)?;
    if has_body {
        translator.body.push_str("}\n\n");
    }
    translator.functions.push_str(&translator.body);
    translator.body.clear();
    translator.function = None;
    translator.lines.end_scope();
    Ok(())
}

/// Refuses values that are used where they may not have been computed.
fn check_dominance(translator: &Translator<'_>) -> Attempt<()> {
    let Some(FunctionState { first_label: Some(entry), labels, edges, uses, .. }) = &translator.function else {
        return Ok(());
    };
    check_uses(*entry, labels.iter().copied(), edges.keys().copied(), &uses.borrow())
}

/// `OpLabel`: begins a block.
pub(super) fn begin_block(translator: &mut Translator<'_>, _: Op, words: &[u32]) -> Attempt<()> {
    let label = translator.operands(words).take_id()?;
    let Some(state) = translator.function.as_mut() else { refuse!("a block outside of functions") };
    if state.block.is_some() {
        refuse!("the block before does not end");
    }
    if !state.parameters.is_empty() {
        refuse!("the function has {} parameters too few", state.parameters.len());
    }
    state.is_first_block = state.first_label.is_none();
    state.first_label.get_or_insert(label);
    state.block = Some(label);
    if !state.labels.insert(label) {
        refuse!("the label %{label} stands twice in the function");
    }
    translator.body.push_str(&format!("b{label}:\n"));
    let position = translator.body.len();
    if state.is_first_block {
        state.late_texts.push(LateText::of_entry(position));
    }
    Ok(())
}

/// Refuses an instruction that stands outside of a block.
pub(super) fn check_in_block(translator: &Translator<'_>) -> Attempt<()> {
    match translator.function.as_ref() {
        Some(state) if state.block.is_some() => Ok(()),
        _ => refuse!("it stands outside of a block"),
    }
}

/// Notes that the block jumps to another; gives that as LLVM's operand.
fn add_edge(translator: &mut Translator<'_>, label: Id) -> Attempt<String> {
    let Some(state) = translator.function.as_mut() else { refuse!("it is not in a function") };
    if state.first_label == Some(label) {
        refuse!("it jumps to the function's first block");
    }
    let block = state.block.unwrap_or_default();
    *state.edges.entry((block, label)).or_default() += 1;
    *state.arrivals.entry(label).or_default() += 1;
    Ok(format!("label %b{label}"))
}

/// The node for a loop, as it stands behind a jump back to its header. Headers stand before such jumps, and behind those that enter
/// the loop.
fn spell_wanted(translator: &mut Translator<'_>, targets: &[Id]) -> String {
    let Some(state) = translator.function.as_mut() else { return String::new() };
    let of_header = targets.iter().find_map(|target| state.wanted_of_loops.get(target));
    match state.wanted_of_jump.take().or(of_header.copied()) {
        Some(node) => format!(", !llvm.loop !{node}"),
        None => String::new(),
    }
}

fn end_block(translator: &mut Translator<'_>, line: std::fmt::Arguments<'_>) {
    translator.emit_line(line);
    if let Some(state) = translator.function.as_mut() {
        state.block = None;
    }
}

/// `OpBranch`, `OpBranchConditional`, `OpReturn`, `OpReturnValue`, `OpUnreachable`.
pub(super) fn translate_end(translator: &mut Translator<'_>, opcode: Op, words: &[u32]) -> Attempt<()> {
    let mut operands = translator.operands(words);
    match opcode {
        Op::Branch => {
            let label = operands.take_id()?;
            let (target, wanted) = (add_edge(translator, label)?, spell_wanted(translator, &[label]));
            end_block(translator, format_args!("br {target}{wanted}"));
        }
        Op::BranchConditional => {
            let condition = operands.take_id()?;
            let (first, second) = (operands.take_id()?, operands.take_id()?);
            let condition_type = translator.types.find_type(translator.type_of(condition)?)?;
            if condition_type.kind != TypeKind::Bool {
                refuse!("its condition is of type {}", condition_type.text);
            }
            let wanted = spell_wanted(translator, &[first, second]);
            let (first, second) = (add_edge(translator, first)?, add_edge(translator, second)?);
            let condition = translator.typed(condition)?;
            let weights = read_weights(translator, operands)?;
            end_block(translator, format_args!("br {condition}, {first}, {second}{weights}{wanted}"));
        }
        Op::Return => {
            check_result(translator, None)?;
            end_block(translator, format_args!("ret void"));
        }
        Op::ReturnValue => {
            let value = operands.take_id()?;
            check_result(translator, Some(value))?;
            let value = translator.typed(value)?;
            end_block(translator, format_args!("ret {value}"));
        }
        _ => end_block(translator, format_args!("unreachable")),
    }
    Ok(())
}

/// Refuses to give back what is not of the function's result.
fn check_result(translator: &Translator<'_>, value: Option<Id>) -> Attempt<()> {
    let Some(state) = translator.function.as_ref() else { refuse!("it is not in a function") };
    let result = translator.types.find_type(state.result)?;
    match value {
        Some(value) => translator.check_type(value, state.result),
        None if result.kind == TypeKind::Void => Ok(()),
        None => refuse!("the function gives a value of type {}", result.text),
    }
}

/// The operands of `OpSwitch`.
struct Switch {
    selector: Id,
    default: Id,
    /// Values of the selector and where they lead.
    cases: Vec<(u64, Id)>,
}

/// Reads `OpSwitch`, whose literals are as wide as its selector.
fn read_switch(translator: &Translator<'_>, words: &[u32]) -> Attempt<Switch> {
    let mut operands = translator.operands(words);
    let (selector, default) = (operands.take_id()?, operands.take_id()?);
    let mut literals = operands.take_literals();
    let width = translator.types.int_width(translator.type_of(selector)?)?;
    let literal_words = if width == 64 { 2 } else { 1 };
    let mut cases = Vec::new();
    while let Some((case, rest)) = literals.split_at_checked(literal_words + 1) {
        let low = u64::from(case[0]);
        let value = if width == 64 { low | u64::from(case[1]) << 32 } else { low & mask_of(width) };
        cases.push((value, translator.operands(&case[literal_words..]).take_id()?));
        literals = rest;
    }
    if !literals.is_empty() {
        refuse!("its literals are not as wide as its selector of {width} bits");
    }
    Ok(Switch { selector, default, cases })
}

/// `OpSwitch`, with cases as wide as the selector.
pub(super) fn translate_switch(translator: &mut Translator<'_>, _: Op, words: &[u32]) -> Attempt<()> {
    let Switch { selector, default, cases } = read_switch(translator, words)?;
    let width = translator.types.int_width(translator.type_of(selector)?)?;
    let mut known = HashSet::new();
    let mut text = format!("switch {}, {} [", translator.typed(selector)?, add_edge(translator, default)?);
    for (value, target) in cases {
        if !known.insert(value) {
            refuse!("the literal {value} stands twice");
        }
        text.push_str(&format!(" i{width} {}, {}", spell_signed(value, width), add_edge(translator, target)?));
    }
    end_block(translator, format_args!("{text} ]"));
    Ok(())
}

/// A number of a width as LLVM's text has it.
fn spell_signed(bits: u64, width: u32) -> i64 {
    let unused = 64 - width;
    (bits << unused) as i64 >> unused
}

/// `OpFunctionCall` of a function of the module.
pub(super) fn translate_call(translator: &mut Translator<'_>, _: Op, words: &[u32]) -> Attempt<()> {
    let mut operands = translator.operands(words);
    let (value_type, id) = operands.take_result()?;
    let callee = operands.take_id()?;
    let arguments = operands.take_ids()?;
    let Some(signature) = translator.declarations.signatures.get(&callee) else {
        refuse!("%{callee} is not a function");
    };
    let (function_type, parameters) = (signature.function_type, signature.parameters.clone());
    let TypeKind::Function { result, parameters: types } = translator.types.find_type(function_type)?.kind.clone()
    else {
        refuse!("%{function_type} is not a type of functions");
    };
    if result != value_type || arguments.len() != types.len() || parameters.len() != types.len() {
        refuse!("it calls a function with {} parameters and another result, or with other arguments", types.len());
    }
    let mut spelt = Vec::with_capacity(arguments.len());
    for ((&argument, &parameter), &parameter_type) in arguments.iter().zip(&parameters).zip(types.iter()) {
        translator.check_type(argument, parameter_type)?;
        let text = translator.find_operand(argument)?.text;
        spelt.push(Typed::of_texts(spell_parameter(translator, parameter, parameter_type)?, text));
    }
    let name = global_name(translator, callee);
    let result_text = translator.types.type_text(result)?;
    let convention = if name.starts_with("@\"llvm.") { "" } else { "spir_func " };
    let scopes = spell_decorated_scopes(translator, id)?;
    let call = format!("call {convention}{result_text} {name}({}){scopes}", join_typed(&spelt));
    define_result(translator, (value_type, id), &call)
}

/// Adds a call, whose value may be none.
pub(super) fn define_result(translator: &mut Translator<'_>, (value_type, id): (Id, Id), call: &str) -> Attempt<()> {
    if translator.types.find_type(value_type)?.kind != TypeKind::Void {
        return translator.define_result((value_type, id), format_args!("{call}"));
    }
    translator.emit_line(format_args!("{call}"));
    Ok(())
}
