//! Conversions of numbers and addresses.
//!
//! What rounds or saturates otherwise than LLVM's instructions is a function of OpenCL C, `convert_T_sat_rtX`.

use spirv::{Decoration, FPRoundingMode, Op, StorageClass};

use super::error::{Attempt, refuse};
use super::ids::Id;
use super::mangle::Parameter;
use super::translator::Translator;
use super::types::{TypeKind, read_class, space_of_class};
use super::values::Typed;

/// A conversion of numbers: LLVM's instruction, whether the integers before and after have signs, and the rounding that the
/// instruction does itself.
struct Conversion {
    instruction: &'static str,
    is_from_signed: bool,
    is_to_signed: bool,
    rounds: Option<FPRoundingMode>,
}

fn conversion_of(opcode: Op) -> Option<Conversion> {
    let make = |instruction, is_from_signed, is_to_signed, rounds| {
        Some(Conversion { instruction, is_from_signed, is_to_signed, rounds })
    };
    match opcode {
        Op::ConvertFToU => make("fptoui", true, false, Some(FPRoundingMode::RTZ)),
        Op::ConvertFToS => make("fptosi", true, true, Some(FPRoundingMode::RTZ)),
        Op::ConvertSToF => make("sitofp", true, true, Some(FPRoundingMode::RTE)),
        Op::ConvertUToF => make("uitofp", false, true, Some(FPRoundingMode::RTE)),
        Op::FConvert => make("fptrunc", true, true, Some(FPRoundingMode::RTE)),
        Op::UConvert => make("zext", false, false, None),
        Op::SConvert => make("sext", true, true, None),
        Op::SatConvertSToU => make("", true, false, None),
        Op::SatConvertUToS => make("", false, true, None),
        _ => None,
    }
}

/// A conversion of numbers.
pub(super) fn translate_conversion(translator: &mut Translator<'_>, opcode: Op, words: &[u32]) -> Attempt<()> {
    let mut operands = translator.operands(words);
    let (value_type, id) = operands.take_result()?;
    let operand = operands.take_id()?;
    let source = translator.type_of(operand)?;
    let Some(conversion) = conversion_of(opcode) else { refuse!("it is no conversion") };
    check_kinds(translator, opcode, source, value_type)?;
    let saturates = translator.declarations.is_decorated(id, Decoration::SaturatedConversion)
        || matches!(opcode, Op::SatConvertSToU | Op::SatConvertUToS);
    let rounding = translator.declarations.decoration_number(id, Decoration::FPRoundingMode);
    let rounding = rounding.and_then(FPRoundingMode::from_u32);
    let is_plain = rounding.is_none() || rounding == conversion.rounds;
    if saturates || !is_plain {
        let name = conversion_name(translator, value_type, &conversion, saturates, rounding.filter(|_| !is_plain))?;
        let parameter = translator.types.parameter_of(source, conversion.is_from_signed)?;
        let (text, argument) = (translator.types.type_text(value_type)?, translator.typed(operand)?);
        let call = translator.call_built_in(&name, &[parameter], &text, &[argument])?;
        return translator.define_result((value_type, id), format_args!("{call}"));
    }
    convert_plainly(translator, (value_type, id), operand, source, conversion.instruction)
}

/// Refuses values that are not of the kinds that a conversion is between.
fn check_kinds(translator: &Translator<'_>, opcode: Op, source: Id, target: Id) -> Attempt<()> {
    let types = &translator.types;
    match opcode {
        Op::ConvertFToU | Op::ConvertFToS => types.float_width(source).and(types.int_width(target))?,
        Op::ConvertSToF | Op::ConvertUToF => types.int_width(source).and(types.float_width(target))?,
        Op::FConvert => types.float_width(source).and(types.float_width(target))?,
        _ => types.int_width(source).and(types.int_width(target))?,
    };
    let (from, to) = (types.elements_of(source)?.1, types.elements_of(target)?.1);
    if from != to {
        refuse!("{from} elements cannot become {to}");
    }
    Ok(())
}

fn conversion_name(
    translator: &Translator<'_>,
    target: Id,
    conversion: &Conversion,
    saturates: bool,
    rounding: Option<FPRoundingMode>,
) -> Attempt<String> {
    let mut name = format!("convert_{}", translator.types.source_name(target, conversion.is_to_signed)?);
    if saturates {
        name.push_str("_sat");
    }
    name.push_str(match rounding {
        None => "",
        Some(FPRoundingMode::RTE) => "_rte",
        Some(FPRoundingMode::RTZ) => "_rtz",
        Some(FPRoundingMode::RTP) => "_rtp",
        Some(FPRoundingMode::RTN) => "_rtn",
    });
    Ok(name)
}

fn convert_plainly(
    translator: &mut Translator<'_>,
    result: (Id, Id),
    operand: Id,
    source: Id,
    instruction: &str,
) -> Attempt<()> {
    let types = &translator.types;
    let width = |id| types.float_width(id).or_else(|_| types.int_width(id));
    let (from, to) = (width(source)?, width(result.0)?);
    let (typed, target) = (translator.typed(operand)?, types.type_text(result.0)?);
    let instruction = match instruction {
        "zext" | "sext" | "fptrunc" if from == to => "bitcast",
        "zext" | "sext" if from > to => "trunc",
        "fptrunc" if from < to => "fpext",
        other => other,
    };
    translator.define_result(result, format_args!("{instruction} {typed} to {target}"))
}

/// An integer in another width, as a function's argument; what is too wide loses its high bits.
pub(super) fn resize_integer(translator: &mut Translator<'_>, id: Id, width: u32) -> Attempt<Typed> {
    let value_type = translator.type_of(id)?;
    let (_, count) = translator.types.elements_of(value_type)?;
    let from = translator.types.int_width(value_type)?;
    let typed = translator.typed(id)?;
    if from == width {
        return Ok(typed);
    }
    let target = if count == 1 { format!("i{width}") } else { format!("<{count} x i{width}>") };
    let instruction = if from < width { "zext" } else { "trunc" };
    let resized = translator.define_extra(format_args!("{instruction} {typed} to {target}"));
    Ok(Typed::of_texts(target, resized))
}

/// `OpConvertFToBF16INTEL` and `OpConvertBF16ToFINTEL`: the upper half of a float's bits is an integer.
pub(super) fn translate_bfloat16(translator: &mut Translator<'_>, opcode: Op, words: &[u32]) -> Attempt<()> {
    let mut operands = translator.operands(words);
    let result = operands.take_result()?;
    let value = operands.take_id()?;
    let value_type = translator.type_of(value)?;
    let (_, count) = translator.types.elements_of(value_type)?;
    if translator.types.elements_of(result.0)?.1 != count {
        refuse!("its result has not as many elements as its operand");
    }
    let suffix = if count == 1 { String::new() } else { count.to_string() };
    let (name, wanted) = match opcode {
        Op::ConvertFToBF16INTEL => (format!("intel_convert_bfloat16{suffix}_as_ushort{suffix}"), "i16"),
        _ => (format!("intel_convert_as_bfloat16{suffix}_float{suffix}"), "float"),
    };
    let wanted = if count == 1 { wanted.to_owned() } else { format!("<{count} x {wanted}>") };
    let text = translator.types.type_text(result.0)?;
    if *text != *wanted {
        refuse!("its result is of type {text}, where {wanted} is needed");
    }
    let parameter = translator.types.parameter_of(value_type, false)?;
    let argument = translator.typed(value)?;
    let call = translator.call_built_in(&name, &[parameter], &text, &[argument])?;
    translator.define_result(result, format_args!("{call}"))
}

/// `OpBitcast`: the bits of a value as one of another type.
pub(super) fn translate_bitcast(translator: &mut Translator<'_>, _: Op, words: &[u32]) -> Attempt<()> {
    let mut operands = translator.operands(words);
    let (value_type, id) = operands.take_result()?;
    let operand = operands.take_id()?;
    let source = translator.types.find_type(translator.type_of(operand)?)?;
    let target = translator.types.find_type(value_type)?;
    if source.size != target.size && !is_three_of_four(translator, operand, value_type)? {
        refuse!("a value of {} bytes has not the bits of one of {}", source.size, target.size);
    }
    let is_pointer = |kind: &TypeKind| matches!(kind, TypeKind::Pointer { .. });
    let pointers = (is_pointer(&source.kind), is_pointer(&target.kind));
    if pointers == (true, true) && source.text != target.text {
        refuse!("a cast from {} to {}", source.text, target.text);
    }
    check_bits(&source.kind)?;
    check_bits(&target.kind)?;
    let target = target.text.clone();
    let typed = translator.typed(operand)?;
    if typed.type_text == target {
        return translator.define_alias((value_type, id), typed.text);
    }
    // Between addresses and other values of 64 bits lies an integer.
    match pointers {
        (true, false) => {
            let integer = translator.define_extra(format_args!("ptrtoint {typed} to i64"));
            translator.define_result((value_type, id), format_args!("bitcast i64 {integer} to {target}"))
        }
        (false, true) => {
            let integer = translator.define_extra(format_args!("bitcast {typed} to i64"));
            translator.define_result((value_type, id), format_args!("inttoptr i64 {integer} to {target}"))
        }
        _ => translator.define_result((value_type, id), format_args!("bitcast {typed} to {target}")),
    }
}

/// Refuses types whose bits nobody knows.
fn check_bits(kind: &TypeKind) -> Attempt<()> {
    match kind {
        TypeKind::Int(_) | TypeKind::Float(_) | TypeKind::Vector { .. } | TypeKind::Pointer { .. } => Ok(()),
        _ => refuse!("only numbers, vectors and addresses have bits to reinterpret"),
    }
}

/// Whether one of two vectors has three elements, so that their bits differ though their sizes are the same, or the other way round.
fn is_three_of_four(translator: &Translator<'_>, operand: Id, target: Id) -> Attempt<bool> {
    let types = &translator.types;
    let bits = |id: Id| -> Attempt<u64> {
        let (element, count) = types.elements_of(id)?;
        Ok(types.find_type(element)?.size * u64::from(count))
    };
    Ok(bits(translator.type_of(operand)?)? == bits(target)?)
}

/// `OpConvertPtrToU`, `OpConvertUToPtr`, `OpPtrCastToGeneric`, `OpGenericCastToPtr`.
pub(super) fn translate_pointer_cast(translator: &mut Translator<'_>, opcode: Op, words: &[u32]) -> Attempt<()> {
    let mut operands = translator.operands(words);
    let result = operands.take_result()?;
    let operand = operands.take_id()?;
    let (source, types) = (translator.type_of(operand)?, &translator.types);
    let instruction = match opcode {
        Op::ConvertPtrToU => {
            types.pointer_space(source)?;
            types.int_width(result.0)?;
            "ptrtoint"
        }
        Op::ConvertUToPtr => {
            types.int_width(source)?;
            types.pointer_space(result.0)?;
            "inttoptr"
        }
        _ => match (types.pointer_space(source)?, types.pointer_space(result.0)?) {
            (from, to) if from == to => "bitcast",
            _ => "addrspacecast",
        },
    };
    let (typed, target) = (translator.typed(operand)?, types.type_text(result.0)?);
    translator.define_result(result, format_args!("{instruction} {typed} to {target}"))
}

/// `OpGenericCastToPtrExplicit`: the address if it is of that storage class, else null.
pub(super) fn translate_explicit_cast(translator: &mut Translator<'_>, _: Op, words: &[u32]) -> Attempt<()> {
    let mut operands = translator.operands(words);
    let result = operands.take_result()?;
    let operand = operands.take_id()?;
    let class = read_class(operands.take_literal()?)?;
    let name = match class {
        StorageClass::CrossWorkgroup => "__to_global",
        StorageClass::Workgroup => "__to_local",
        StorageClass::Function => "__to_private",
        _ => refuse!("no address is cast to storage class {class:?}"),
    };
    let source_space = translator.types.pointer_space(translator.type_of(operand)?)?;
    if source_space != 4 || space_of_class(class) != Some(translator.types.pointer_space(result.0)?) {
        refuse!("it casts a generic address to one of its storage class");
    }
    let (text, argument) = (translator.types.type_text(result.0)?, translator.typed(operand)?);
    let call = translator.call_function(name, &text, &[argument])?;
    translator.define_result(result, format_args!("{call}"))
}

/// `OpGenericPtrMemSemantics`: the memory that an address is of, as bits of memory semantics.
pub(super) fn translate_pointer_semantics(translator: &mut Translator<'_>, _: Op, words: &[u32]) -> Attempt<()> {
    let mut operands = translator.operands(words);
    let result = operands.take_result()?;
    let argument = translator.typed(operands.take_id()?)?;
    let parameter = Parameter::pointer_to_const(4, Parameter::Scalar("v"));
    let call = translator.call_built_in("get_fence", &[parameter], "i32", &[argument])?;
    // Local memory is bit 0 of a fence and bit 8 of semantics, global memory bit 1 and bit 9.
    let fence = translator.define_extra(format_args!("{call}"));
    translator.define_result(result, format_args!("shl i32 {fence}, 8"))
}
