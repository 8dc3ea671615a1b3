//! Pipes: the functions that clang calls for OpenCL C's.

use spirv::Op;

use super::convert::resize_integer;
use super::error::{Attempt, refuse};
use super::groups::read_group_prefix;
use super::ids::Id;
use super::mangle::Parameter;
use super::operands::Operands;
use super::translator::Translator;
use super::types::TypeKind;
use super::values::Typed;

/// Whether a pipe is written by an instruction, and not read.
fn is_write(opcode: Op) -> bool {
    matches!(
        opcode,
        Op::WritePipe
            | Op::ReservedWritePipe
            | Op::ReserveWritePipePackets
            | Op::CommitWritePipe
            | Op::GroupReserveWritePipePackets
            | Op::GroupCommitWritePipe
    )
}

fn verb_of(opcode: Op) -> &'static str {
    if is_write(opcode) { "write" } else { "read" }
}

/// A pipe that may be read, or one that may be written; gives whether it is the latter.
fn take_pipe(translator: &Translator<'_>, operands: &mut Operands<'_>) -> Attempt<(Typed, bool)> {
    let pipe = operands.take_id()?;
    match translator.types.find_type(translator.type_of(pipe)?)?.kind {
        TypeKind::Pipe { is_written } => Ok((translator.typed(pipe)?, is_written)),
        _ => refuse!("%{pipe} is not a pipe"),
    }
}

fn take_reservation(translator: &Translator<'_>, operands: &mut Operands<'_>) -> Attempt<Typed> {
    let reservation = operands.take_id()?;
    match translator.types.find_type(translator.type_of(reservation)?)?.kind {
        TypeKind::ReserveId => translator.typed(reservation),
        _ => refuse!("%{reservation} is not a reservation"),
    }
}

/// The address of a packet, as a generic one.
fn take_packet(translator: &mut Translator<'_>, operands: &mut Operands<'_>) -> Attempt<Typed> {
    let pointer = operands.take_id()?;
    let space = translator.types.pointer_space(translator.type_of(pointer)?)?;
    let typed = translator.typed(pointer)?;
    if space == GENERIC {
        return Ok(typed);
    }
    let generic = format!("ptr addrspace({GENERIC})");
    let cast = translator.define_extra(format_args!("addrspacecast {typed} to {generic}"));
    Ok(Typed::of_texts(generic, cast))
}

/// The number of the generic address space.
const GENERIC: u32 = 4;

/// What is left: numbers of 32 bits, of which the last two are a packet's bytes and what its address is a multiple of.
fn take_numbers(translator: &mut Translator<'_>, operands: &mut Operands<'_>, count: usize) -> Attempt<Vec<Typed>> {
    let ids = operands.take_ids()?;
    if ids.len() != count {
        refuse!("{} numbers where {count} are needed", ids.len());
    }
    ids.into_iter().map(|id| resize_integer(translator, id, 32)).collect()
}

/// Refuses an instruction for the other end of a pipe.
fn check_end(opcode: Op, is_written: bool) -> Attempt<()> {
    if is_write(opcode) != is_written {
        refuse!("the pipe is at its other end");
    }
    Ok(())
}

/// `OpReadPipe`, `OpWritePipe`, and the two for packets that are reserved.
pub(super) fn translate_transfer(translator: &mut Translator<'_>, opcode: Op, words: &[u32]) -> Attempt<()> {
    let mut operands = translator.operands(words);
    let result = operands.take_result()?;
    let (pipe, is_written) = take_pipe(translator, &mut operands)?;
    check_end(opcode, is_written)?;
    let mut arguments = vec![pipe];
    let is_reserved = matches!(opcode, Op::ReservedReadPipe | Op::ReservedWritePipe);
    if is_reserved {
        arguments.push(take_reservation(translator, &mut operands)?);
        let index = operands.take_id()?;
        arguments.push(resize_integer(translator, index, 32)?);
    }
    arguments.push(take_packet(translator, &mut operands)?);
    arguments.extend(take_numbers(translator, &mut operands, 2)?);
    let name = format!("__{}_pipe_{}", verb_of(opcode), if is_reserved { 4 } else { 2 });
    define_number(translator, result, &name, &arguments)
}

/// Defines an integer of 32 bits as what a function gives.
fn define_number(translator: &mut Translator<'_>, result: (Id, Id), name: &str, arguments: &[Typed]) -> Attempt<()> {
    if &*translator.types.type_text(result.0)? != "i32" {
        refuse!("its result is not an integer of 32 bits");
    }
    let call = translator.call_function(name, "i32", arguments)?;
    translator.define_result(result, format_args!("{call}"))
}

/// What a group's functions begin with; those of a work-item begin with nothing.
fn take_prefix(translator: &Translator<'_>, opcode: Op, operands: &mut Operands<'_>) -> Attempt<String> {
    let is_group = matches!(
        opcode,
        Op::GroupReserveReadPipePackets
            | Op::GroupReserveWritePipePackets
            | Op::GroupCommitReadPipe
            | Op::GroupCommitWritePipe
    );
    match is_group {
        true => Ok(format!("{}_", read_group_prefix(translator, operands.take_id()?)?)),
        false => Ok(String::new()),
    }
}

/// `OpReserveReadPipePackets` and the like.
pub(super) fn translate_reservation(translator: &mut Translator<'_>, opcode: Op, words: &[u32]) -> Attempt<()> {
    let mut operands = translator.operands(words);
    let result = operands.take_result()?;
    let prefix = take_prefix(translator, opcode, &mut operands)?;
    let (pipe, is_written) = take_pipe(translator, &mut operands)?;
    check_end(opcode, is_written)?;
    if translator.types.find_type(result.0)?.kind != TypeKind::ReserveId {
        refuse!("its result is not a reservation");
    }
    let mut arguments = vec![pipe];
    arguments.extend(take_numbers(translator, &mut operands, 3)?);
    let call = translator.call_function(&format!("__{prefix}reserve_{}_pipe", verb_of(opcode)), "i64", &arguments)?;
    translator.define_result(result, format_args!("{call}"))
}

/// `OpCommitReadPipe` and the like.
pub(super) fn translate_commit(translator: &mut Translator<'_>, opcode: Op, words: &[u32]) -> Attempt<()> {
    let mut operands = translator.operands(words);
    let prefix = take_prefix(translator, opcode, &mut operands)?;
    let (pipe, is_written) = take_pipe(translator, &mut operands)?;
    check_end(opcode, is_written)?;
    let mut arguments = vec![pipe, take_reservation(translator, &mut operands)?];
    arguments.extend(take_numbers(translator, &mut operands, 2)?);
    let call = translator.call_function(&format!("__{prefix}commit_{}_pipe", verb_of(opcode)), "void", &arguments)?;
    translator.emit_line(format_args!("{call}"));
    Ok(())
}

/// `OpIsValidReserveId`: whether a reservation was made.
pub(super) fn translate_validity(translator: &mut Translator<'_>, _: Op, words: &[u32]) -> Attempt<()> {
    let mut operands = translator.operands(words);
    let result = operands.take_result()?;
    let reservation = take_reservation(translator, &mut operands)?;
    if !translator.types.is_bool(result.0)? {
        refuse!("its result is not of type bool");
    }
    let parameter = Parameter::Named("ocl_reserveid".to_owned());
    let call = translator.call_built_in("is_valid_reserve_id", &[parameter], "i1", &[reservation])?;
    translator.define_result(result, format_args!("{call}"))
}

/// `OpGetNumPipePackets` and `OpGetMaxPipePackets`.
pub(super) fn translate_count(translator: &mut Translator<'_>, opcode: Op, words: &[u32]) -> Attempt<()> {
    let mut operands = translator.operands(words);
    let result = operands.take_result()?;
    let (pipe, is_written) = take_pipe(translator, &mut operands)?;
    let mut arguments = vec![pipe];
    arguments.extend(take_numbers(translator, &mut operands, 2)?);
    let quantity = if opcode == Op::GetNumPipePackets { "num" } else { "max" };
    let ending = if is_written { "wo" } else { "ro" };
    define_number(translator, result, &format!("__get_pipe_{quantity}_packets_{ending}"), &arguments)
}
