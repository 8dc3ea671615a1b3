//! Untyped pointers (`SPV_KHR_untyped_pointers`): instructions that say themselves how large what they work on is. Loads, stores, variables
//! and addresses of parts are those of [`memory`](super::memory).

use spirv::{MemoryAccess, Op};

use super::convert::resize_integer;
use super::error::{Attempt, refuse};
use super::functions::define_result;
use super::mangle::Parameter;
use super::operands::Operands;
use super::translator::Translator;
use super::values::Typed;

/// `OpUntypedPrefetchKHR`: the memory is about to be read. The machine's own prefetching is left to it.
pub(super) fn translate_prefetch(translator: &mut Translator<'_>, _: Op, words: &[u32]) -> Attempt<()> {
    let mut operands = translator.operands(words);
    let (address, bytes) = (operands.take_id()?, operands.take_id()?);
    translator.types.pointer_space(translator.type_of(address)?)?;
    translator.types.int_width(translator.type_of(bytes)?)?;
    Ok(())
}

/// `OpUntypedGroupAsyncCopyKHR`: elements of so many bytes from global to local memory or back, by all work-items of a group.
pub(super) fn translate_async_copy(translator: &mut Translator<'_>, _: Op, words: &[u32]) -> Attempt<()> {
    let mut operands = translator.operands(words);
    let result = operands.take_result()?;
    let _scope = operands.take_id()?;
    let (target, source, size) = (operands.take_id()?, operands.take_id()?, operands.take_id()?);
    let (count, stride, event) = (operands.take_id()?, operands.take_id()?, operands.take_id()?);
    let (target_align, source_align) = (take_alignment(&mut operands)?, take_alignment(&mut operands)?);
    let size = translator.constants.integer_bits(size)?;
    let is_dense = translator.constants.known_bits(stride) == Some(1);
    let (unit, units) = choose_unit(size, target_align.unwrap_or(1).min(source_align.unwrap_or(1)), is_dense)?;
    let [target_space, source_space] = [translator.type_of(target)?, translator.type_of(source)?]
        .map(|pointer_type| translator.types.pointer_space(pointer_type));
    let parameters = [
        Parameter::pointer_to(target_space?, unit.clone()),
        Parameter::pointer_to_const(source_space?, unit),
        Parameter::Scalar("m"),
        Parameter::Scalar("m"),
        Parameter::Named("ocl_event".to_owned()),
    ];
    let mut count = resize_integer(translator, count, 64)?;
    if units > 1 {
        count = Typed::of_texts("i64", translator.define_extra(format_args!("mul {count}, {units}")));
    }
    let stride = resize_integer(translator, stride, 64)?;
    let arguments = [translator.typed(target)?, translator.typed(source)?, count, stride, translator.typed(event)?];
    let text = translator.types.type_text(result.0)?;
    let call = translator.call_built_in("async_work_group_strided_copy", &parameters, &text, &arguments)?;
    define_result(translator, result, &call)
}

/// The alignment that memory operands tell, if there are any.
fn take_alignment(operands: &mut Operands<'_>) -> Attempt<Option<u64>> {
    let Some(mask) = operands.take_optional_literal() else { return Ok(None) };
    match MemoryAccess::from_bits_retain(mask).contains(MemoryAccess::ALIGNED) {
        true => Ok(Some(u64::from(operands.take_literal()?))),
        false => Ok(None),
    }
}

/// What is copied at a time, and how many of these are an element. Elements that lie one after the other are copied in pieces of their
/// alignment; others have to be one piece, whose alignment is its size.
fn choose_unit(size: u64, align: u64, is_dense: bool) -> Attempt<(Parameter, u64)> {
    if size == 0 {
        refuse!("elements of no bytes");
    }
    let bytes = if is_dense { 1_u64 << size.trailing_zeros().min(align.trailing_zeros()).min(3) } else { size };
    let letters = match bytes {
        1 => "c",
        2 => "s",
        4 => "i",
        8 => "l",
        _ => refuse!("elements of {size} bytes that do not lie one after the other; those of 1, 2, 4 and 8 are copied"),
    };
    Ok((Parameter::Scalar(letters), size / bytes))
}
