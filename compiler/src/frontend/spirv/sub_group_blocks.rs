//! Shuffles of sub-groups and the blocks that they read and write (SPV_INTEL_subgroups): functions of cl_intel_subgroups.

use spirv::Op;

use super::convert::resize_integer;
use super::error::{Attempt, refuse};
use super::ids::Id;
use super::images::image_parameter;
use super::mangle::Parameter;
use super::operands::Operands;
use super::translator::Translator;
use super::values::Typed;

/// `OpSubgroupShuffleINTEL` and the like: values of other work-items, of one operand or of two that follow each other.
pub(super) fn translate_shuffle(translator: &mut Translator<'_>, opcode: Op, words: &[u32]) -> Attempt<()> {
    let mut operands = translator.operands(words);
    let (value_type, id) = operands.take_result()?;
    let (name, value_count) = match opcode {
        Op::SubgroupShuffleINTEL => ("intel_sub_group_shuffle", 1),
        Op::SubgroupShuffleXorINTEL => ("intel_sub_group_shuffle_xor", 1),
        Op::SubgroupShuffleDownINTEL => ("intel_sub_group_shuffle_down", 2),
        _ => ("intel_sub_group_shuffle_up", 2),
    };
    let mut parameters = Vec::new();
    let mut arguments = Vec::new();
    for _ in 0..value_count {
        let value = operands.take_id()?;
        translator.check_type(value, value_type)?;
        parameters.push(translator.types.parameter_of(value_type, true)?);
        arguments.push(translator.typed(value)?);
    }
    parameters.push(Parameter::Scalar("j"));
    arguments.push(resize_integer(translator, operands.take_id()?, 32)?);
    let text = translator.types.type_text(value_type)?;
    let call = translator.call_built_in(name, &parameters, &text, &arguments)?;
    translator.define_result((value_type, id), format_args!("{call}"))
}

/// What the name of a function for blocks ends with, and the element's type.
fn block_ending(translator: &Translator<'_>, block_type: Id) -> Attempt<(String, Parameter)> {
    let (element, count) = translator.types.elements_of(block_type)?;
    let ending = match translator.types.int_width(element)? {
        8 => "_uc",
        16 => "_us",
        32 => "",
        64 => "_ul",
        width => refuse!("no block has elements of {width} bits"),
    };
    let count = if count == 1 { String::new() } else { count.to_string() };
    Ok((format!("{ending}{count}"), translator.types.parameter_of(element, false)?))
}

/// Where a block is: an address, or an image with the coordinates of the first byte.
fn read_block_place(
    translator: &Translator<'_>,
    opcode: Op,
    operands: &mut Operands<'_>,
    element: Parameter,
) -> Attempt<(Vec<Parameter>, Vec<Typed>)> {
    let place = operands.take_id()?;
    let place_type = translator.type_of(place)?;
    let argument = translator.typed(place)?;
    match opcode {
        Op::SubgroupBlockReadINTEL => {
            let space = translator.types.pointer_space(place_type)?;
            Ok((vec![Parameter::pointer_to_const(space, element)], vec![argument]))
        }
        Op::SubgroupBlockWriteINTEL => {
            let space = translator.types.pointer_space(place_type)?;
            Ok((vec![Parameter::pointer_to(space, element)], vec![argument]))
        }
        _ => {
            let image = image_parameter(translator.types.image_of(place_type)?);
            let coordinate = translator.typed(operands.take_id()?)?;
            if &*coordinate.type_text != "<2 x i32>" {
                refuse!("the coordinates of a block are of type {}, not <2 x i32>", coordinate.type_text);
            }
            Ok((vec![image, Parameter::Vector(2, "i")], vec![argument, coordinate]))
        }
    }
}

/// `OpSubgroupBlockReadINTEL` and `OpSubgroupImageBlockReadINTEL`.
pub(super) fn translate_block_read(translator: &mut Translator<'_>, opcode: Op, words: &[u32]) -> Attempt<()> {
    let mut operands = translator.operands(words);
    let result = operands.take_result()?;
    let (ending, element) = block_ending(translator, result.0)?;
    let (parameters, arguments) = read_block_place(translator, opcode, &mut operands, element)?;
    let text = translator.types.type_text(result.0)?;
    let name = format!("intel_sub_group_block_read{ending}");
    let call = translator.call_built_in(&name, &parameters, &text, &arguments)?;
    translator.define_result(result, format_args!("{call}"))
}

/// `OpSubgroupBlockWriteINTEL` and `OpSubgroupImageBlockWriteINTEL`. The value comes last, and tells which function it is.
pub(super) fn translate_block_write(translator: &mut Translator<'_>, opcode: Op, words: &[u32]) -> Attempt<()> {
    let mut operands = translator.operands(words);
    let Some((_, last)) = words.split_last_chunk::<1>() else { refuse!("it has too few operands") };
    let value = translator.operands(last).take_id()?;
    let value_type = translator.type_of(value)?;
    let (ending, element) = block_ending(translator, value_type)?;
    let (mut parameters, mut arguments) = read_block_place(translator, opcode, &mut operands, element)?;
    if operands.take_ids()? != [value] {
        refuse!("it has not as many operands as it needs");
    }
    parameters.push(translator.types.parameter_of(value_type, false)?);
    arguments.push(translator.typed(value)?);
    let name = format!("intel_sub_group_block_write{ending}");
    let call = translator.call_built_in(&name, &parameters, "void", &arguments)?;
    translator.emit_line(format_args!("{call}"));
    Ok(())
}
