//! What a module says that is true, or likely: LLVM's passes have the same words for it.

use spirv::Op;

use super::error::{Attempt, refuse};
use super::operands::Operands;
use super::translator::Translator;
use super::types::TypeKind;

/// `OpAssumeTrueKHR`: the condition is true.
pub(super) fn translate_assumption(translator: &mut Translator<'_>, _: Op, words: &[u32]) -> Attempt<()> {
    let condition = translator.operands(words).take_id()?;
    let condition_type = translator.types.find_type(translator.type_of(condition)?)?;
    if condition_type.kind != TypeKind::Bool {
        refuse!("its condition is of type {}", condition_type.text);
    }
    let typed = translator.typed(condition)?;
    translator.declare_called("llvm.assume", "void (i1)".to_owned())?;
    translator.emit_line(format_args!("call void @llvm.assume({typed})"));
    Ok(())
}

/// `OpExpectKHR`: the value, which is probably another one. LLVM knows of numbers that are expected, and of no vectors.
pub(super) fn translate_expectation(translator: &mut Translator<'_>, _: Op, words: &[u32]) -> Attempt<()> {
    let mut operands = translator.operands(words);
    let result = operands.take_result()?;
    let (value, expected) = (operands.take_id()?, operands.take_id()?);
    translator.check_type(value, result.0)?;
    translator.check_type(expected, result.0)?;
    let (value, expected) = (translator.typed(value)?, translator.typed(expected)?);
    match translator.types.find_type(result.0)?.kind {
        TypeKind::Bool | TypeKind::Int(_) => {
            let text = value.type_text.clone();
            let name = format!("llvm.expect.{text}");
            translator.declare_called(&name, format!("{text} ({text}, {text})"))?;
            translator.define_result(result, format_args!("call {text} @{name}({value}, {expected})"))
        }
        _ => translator.define_alias(result, value.text),
    }
}

/// The weights of a conditional jump, if it has any: metadata behind LLVM's instruction.
pub(super) fn read_weights(translator: &mut Translator<'_>, operands: Operands<'_>) -> Attempt<String> {
    match *{ operands }.take_literals() {
        [] => Ok(String::new()),
        // Both must not be zero (3.3.17); LLVM would divide by their sum.
        [first, second] if first != 0 || second != 0 => {
            let node = translator.add_metadata(format!("!{{!\"branch_weights\", i32 {first}, i32 {second}}}"));
            Ok(format!(", !prof {node}"))
        }
        _ => refuse!("a conditional jump has two weights, of which one is not zero, or none"),
    }
}
