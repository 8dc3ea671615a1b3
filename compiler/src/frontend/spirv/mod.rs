//! SPIR-V: from a module to LLVM assembly with OpenCL C's mangled names, which the rest of the front end takes as it takes
//! LLVM IR.
//!
//! A module is read twice. [`declarations`] gathers what is said of ids: names, decorations, entry points. Then types, constants, variables and
//! functions are written in their order, an instruction at a time; [`opcodes`] is the table of what each becomes. A kernel is a
//! function that calls the body of its entry point, as functions of a module may call that, too.
//!
//! The text is for LLVM's parser: forward references are its business, and what it refuses is an error where the C interface
//! would do anything. Modules are hostile until proved otherwise: each id is defined once and before it is used, on every path
//! ([`dominance`]), by a value of the right type; nothing here calls itself but for types and constants within others, which have a bounded depth; and text
//! that grows out of proportion is refused.
//!
//! Source: the SPIR-V specification 1.6, the OpenCL SPIR-V environment specification 3.0, OpenCL.std.

mod alias_scopes;
mod arithmetic;
mod atomics;
mod built_ins;
mod capabilities;
mod composites;
mod constants;
mod convert;
mod debug_info;
mod declarations;
mod dominance;
mod dot_products;
mod error;
mod evaluate;
mod expectations;
mod extended;
mod function_pointers;
mod function_state;
mod functions;
mod groups;
mod ids;
mod images;
mod kernels;
mod known_constants;
mod late_texts;
mod lines;
mod loop_controls;
mod mangle;
mod memory;
mod opcodes;
mod operands;
mod pipes;
mod scopes;
mod source_line;
mod sub_group_blocks;
mod translator;
mod types;
mod untyped;
mod values;
mod variable_length;

use std::fmt::Write as _;

use lockstep_protocol::spirv_module::{SpecializationValue, SpirvModule};
use spirv::Op;

pub use error::SpirvError;
pub use opcodes::supported_instructions;

use debug_info::LineChange;
use declarations::EntryPoint;
use error::{Attempt, Fault, Place, refuse};
use ids::IdMap;
use source_line::SourceLine;
use translator::{Translator, quote_name};
use types::TypeContext;

/// The beginning of every module: what clang says of `spir64`.
const HEADER: &str = "\
target datalayout = \"e-i64:64-v16:16-v24:32-v32:32-v48:64-v96:128-v192:256-v256:256-v512:512-v1024:1024-G1\"
target triple = \"spir64-unknown-unknown\"
";

/// What the text of a module depends on beside the module.
#[derive(Clone, Copy, Debug, Default)]
pub struct TextOptions {
    /// Whether instructions have the lines that the module tells.
    pub source_lines: bool,
    /// Whether quotients of floats are rounded correctly (`-cl-fp32-correctly-rounded-divide-sqrt`), and not only nearly so.
    pub divides_exactly: bool,
}

/// A module as LLVM assembly. Constants that `values` name have these in the place of their own.
///
/// # Errors
/// When the module is damaged, or needs what is not there.
pub fn translate_module(
    bytes: &[u8],
    values: &[SpecializationValue],
    options: TextOptions,
) -> Result<String, SpirvError> {
    let module = SpirvModule::from_bytes(bytes)?;
    let mut translator = Translator::new(module.id_bound(), bytes.len(), values);
    translator.lines.are_wanted = options.source_lines;
    translator.divides_exactly = options.divides_exactly;
    for_each_instruction(&module, &mut translator, |translator, opcode, words| {
        let operands = translator.operands(words);
        translator.declarations.read_declaration(opcode, operands)
    })?;
    for_each_instruction(&module, &mut translator, translate_instruction)?;
    finish_module(&mut translator)
}

fn for_each_instruction<'a>(
    module: &SpirvModule,
    translator: &mut Translator<'a>,
    translate: impl Fn(&mut Translator<'a>, Op, &[u32]) -> Attempt<()>,
) -> Result<(), SpirvError> {
    translator.lines.current = None;
    for instruction in module.instructions() {
        let opcode = Op::from_u32(instruction.opcode.into());
        if let Some(opcode) = opcode {
            follow_line(translator, opcode, instruction.operands);
        }
        let line = translator.lines.current;
        translator.place = Place { opcode: instruction.opcode, offset: instruction.offset, line };
        let translated = match opcode {
            Some(opcode) => translate(translator, opcode, instruction.operands),
            None => Err(Fault::new("there is no such instruction".to_owned())),
        };
        translated.map_err(|fault| locate_fault(fault, translator.place, &translator.declarations.strings))?;
    }
    Ok(())
}

fn finish_module(translator: &mut Translator<'_>) -> Result<String, SpirvError> {
    let at_end = |fault: Fault| SpirvError::Instruction {
        name: "OpEntryPoint".to_owned(),
        offset: 0,
        line: None,
        sentence: fault.sentence,
    };
    let entry_points: Vec<EntryPoint> = translator.declarations.entry_points.clone();
    for entry_point in &entry_points {
        kernels::define_kernel(translator, entry_point).map_err(at_end)?;
    }
    if translator.function.is_some() {
        return Err(at_end(Fault::new("the last function of the module has no end".to_owned())));
    }
    let declared = declare_functions(translator).map_err(at_end)?;
    let lists = translator.lines.spell_lists(&mut translator.metadata);
    let mut text = std::mem::take(&mut translator.functions);
    // Functions can use types only that stand before them.
    text.insert_str(0, &[HEADER, &translator.types.definitions].concat());
    [&translator.globals, &declared, &lists].into_iter().for_each(|part| text.push_str(part));
    for (index, node) in translator.metadata.iter().enumerate() {
        // Writing to a string does not fail.
        _ = writeln!(text, "!{index} = {node}");
    }
    Ok(text)
}

/// Declarations of the functions that are called and not defined.
fn declare_functions(translator: &Translator<'_>) -> Attempt<String> {
    let mut declared = String::new();
    let mut called: Vec<(&String, &String)> = translator.called.iter().collect();
    // The same text each time.
    called.sort_unstable();
    for (name, signature) in called {
        if let Some(own) = translator.defined.get(name) {
            if own != signature {
                refuse!("the module defines {name} as {own}, but it is called as {signature}");
            }
            continue;
        }
        let Some((result, parameters)) = signature.split_once(" (") else { continue };
        let convention = if name.starts_with("llvm.") { "" } else { "spir_func " };
        let attributes = if name.starts_with("llvm.") { "" } else { " convergent nounwind" };
        declared.push_str(&format!("declare {convention}{result} @{}({parameters}{attributes}\n", quote_name(name)));
    }
    Ok(declared)
}

fn translate_instruction(translator: &mut Translator<'_>, opcode: Op, words: &[u32]) -> Attempt<()> {
    match opcode {
        Op::Capability
        | Op::Extension
        | Op::ExtInstImport
        | Op::MemoryModel
        | Op::EntryPoint
        | Op::ExecutionMode
        | Op::ExecutionModeId
        | Op::String
        | Op::Source
        | Op::SourceExtension
        | Op::SourceContinued
        | Op::Name
        | Op::MemberName
        | Op::ModuleProcessed
        | Op::Decorate
        | Op::DecorateId
        | Op::DecorateString
        | Op::MemberDecorate
        | Op::MemberDecorateString
        | Op::DecorationGroup
        | Op::GroupDecorate
        | Op::GroupMemberDecorate
        | Op::Line
        | Op::NoLine => Ok(()),
        Op::Function => functions::begin_function(translator, words),
        Op::FunctionEnd => functions::end_function(translator),
        Op::AliasDomainDeclINTEL | Op::AliasScopeDeclINTEL | Op::AliasScopeListDeclINTEL => {
            alias_scopes::declare_scopes(translator, opcode, words)?;
            translator.check_growth()
        }
        Op::ExtInst | Op::ExtInstWithForwardRefsKHR => extended::translate_instruction(translator, opcode, words),
        Op::ConstantFunctionPointerINTEL => function_pointers::declare_address(translator, words),
        Op::Variable | Op::UntypedVariableKHR if translator.function.is_none() => {
            constants::declare_variable(translator, opcode, words)
        }
        Op::Undef if translator.function.is_none() => constants::declare_constant(translator, opcode, words),
        _ if is_constant(opcode) => constants::declare_constant(translator, opcode, words),
        _ if is_type(opcode) => declare_type(translator, opcode, words),
        _ => {
            let Some(translate) = opcodes::find_translation(opcode) else { refuse!("it is not supported") };
            if !matches!(opcode, Op::Label | Op::FunctionParameter) {
                functions::check_in_block(translator)?;
            }
            translate(translator, opcode, words)?;
            translator.check_growth()
        }
    }
}

fn is_constant(opcode: Op) -> bool {
    (Op::ConstantTrue as u32..=Op::SpecConstantOp as u32).contains(&(opcode as u32))
}

fn is_type(opcode: Op) -> bool {
    let is_in_row = (Op::TypeVoid as u32..=Op::TypeForwardPointer as u32).contains(&(opcode as u32));
    is_in_row || opcode == Op::TypeUntypedPointerKHR
}

fn declare_type(translator: &mut Translator<'_>, opcode: Op, words: &[u32]) -> Attempt<()> {
    let operands = translator.operands(words);
    let (constants, declarations) = (&translator.constants, &translator.declarations);
    let context = TypeContext {
        length_of: &|id| constants.integer_bits(id),
        is_packed: &|id| declarations.is_decorated(id, spirv::Decoration::CPacked),
    };
    translator.types.declare_type(opcode, operands, &context)?;
    translator.check_growth()
}

/// The line of the source that an instruction belongs to, from then on.
fn follow_line(translator: &mut Translator<'_>, opcode: Op, words: &[u32]) {
    let function = translator.function.as_ref().map(|function| function.id);
    let line = &mut translator.lines.current;
    match (opcode, words) {
        (Op::Line, &[file, number, column, ..]) => *line = Some(SourceLine { file, line: number, column }),
        (Op::NoLine | Op::FunctionEnd, _) => *line = None,
        (Op::Function, &[_, function, ..]) => {
            *line = line.or(translator.declarations.find_scope_line(function));
        }
        (Op::ExtInst | Op::ExtInstWithForwardRefsKHR, words) => {
            match translator.declarations.find_line_change(words, function) {
                Some(LineChange::Line(other)) => *line = Some(other),
                Some(LineChange::NoLine) => *line = None,
                Some(LineChange::Scope(begin)) => *line = begin,
                None => {}
            }
        }
        _ => {}
    }
}

/// An error with its place: that of the fault, or of the instruction that is being read.
fn locate_fault(fault: Fault, current: Place, strings: &IdMap<String>) -> SpirvError {
    let Place { opcode, offset, line } = fault.place.unwrap_or(current);
    let name = match Op::from_u32(opcode.into()) {
        Some(opcode) => format!("Op{opcode:?}"),
        None => format!("instruction {opcode}"),
    };
    let file = |file: &u32| strings.get(file).map_or("?", String::as_str);
    let line = line.map(|SourceLine { file: id, line, .. }| format!("{}:{line}", file(&id)));
    SpirvError::Instruction { name, offset, line, sentence: fault.sentence }
}
