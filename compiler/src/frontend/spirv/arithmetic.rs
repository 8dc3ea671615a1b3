//! Arithmetic, logic and comparisons, on numbers and vectors of them.

use spirv::{Decoration, FPFastMathMode, Op};

use super::convert::resize_integer;
use super::error::{Attempt, refuse};
use super::ids::Id;
use super::mangle::Parameter;
use super::translator::Translator;
use super::values::Typed;

/// What the operands of an instruction have to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Class {
    Integer,
    Float,
    Bool,
}

/// LLVM's instruction of an operation on two values of the result's type.
fn binary_instruction(opcode: Op) -> Option<(&'static str, Class)> {
    Some(match opcode {
        Op::IAdd => ("add", Class::Integer),
        Op::ISub => ("sub", Class::Integer),
        Op::IMul => ("mul", Class::Integer),
        Op::UDiv => ("udiv", Class::Integer),
        Op::SDiv => ("sdiv", Class::Integer),
        Op::UMod => ("urem", Class::Integer),
        Op::SRem => ("srem", Class::Integer),
        Op::BitwiseOr => ("or", Class::Integer),
        Op::BitwiseXor => ("xor", Class::Integer),
        Op::BitwiseAnd => ("and", Class::Integer),
        Op::FAdd => ("fadd", Class::Float),
        Op::FSub => ("fsub", Class::Float),
        Op::FMul => ("fmul", Class::Float),
        Op::FDiv => ("fdiv", Class::Float),
        Op::LogicalOr => ("or", Class::Bool),
        Op::LogicalAnd => ("and", Class::Bool),
        Op::LogicalEqual => ("icmp eq", Class::Bool),
        Op::LogicalNotEqual => ("icmp ne", Class::Bool),
        _ => return None,
    })
}

/// LLVM's name for the comparison that an instruction makes, and of what.
fn comparison(opcode: Op) -> Option<(&'static str, Class)> {
    Some(match opcode {
        Op::IEqual => ("icmp eq", Class::Integer),
        Op::INotEqual => ("icmp ne", Class::Integer),
        Op::UGreaterThan => ("icmp ugt", Class::Integer),
        Op::SGreaterThan => ("icmp sgt", Class::Integer),
        Op::UGreaterThanEqual => ("icmp uge", Class::Integer),
        Op::SGreaterThanEqual => ("icmp sge", Class::Integer),
        Op::ULessThan => ("icmp ult", Class::Integer),
        Op::SLessThan => ("icmp slt", Class::Integer),
        Op::ULessThanEqual => ("icmp ule", Class::Integer),
        Op::SLessThanEqual => ("icmp sle", Class::Integer),
        Op::FOrdEqual => ("fcmp oeq", Class::Float),
        Op::FUnordEqual => ("fcmp ueq", Class::Float),
        Op::FOrdNotEqual | Op::LessOrGreater => ("fcmp one", Class::Float),
        Op::FUnordNotEqual => ("fcmp une", Class::Float),
        Op::FOrdLessThan => ("fcmp olt", Class::Float),
        Op::FUnordLessThan => ("fcmp ult", Class::Float),
        Op::FOrdGreaterThan => ("fcmp ogt", Class::Float),
        Op::FUnordGreaterThan => ("fcmp ugt", Class::Float),
        Op::FOrdLessThanEqual => ("fcmp ole", Class::Float),
        Op::FUnordLessThanEqual => ("fcmp ule", Class::Float),
        Op::FOrdGreaterThanEqual => ("fcmp oge", Class::Float),
        Op::FUnordGreaterThanEqual => ("fcmp uge", Class::Float),
        Op::Ordered => ("fcmp ord", Class::Float),
        Op::Unordered => ("fcmp uno", Class::Float),
        _ => return None,
    })
}

fn check_class(translator: &Translator<'_>, value_type: Id, class: Class) -> Attempt<()> {
    let types = &translator.types;
    match class {
        Class::Integer => types.int_width(value_type).map(drop),
        Class::Float => types.float_width(value_type).map(drop),
        Class::Bool if types.is_bool(value_type)? => Ok(()),
        Class::Bool => refuse!("its operands are not of type bool"),
    }
}

/// An operation on two values of the result's type.
pub(super) fn translate_binary(translator: &mut Translator<'_>, opcode: Op, words: &[u32]) -> Attempt<()> {
    let mut operands = translator.operands(words);
    let (value_type, id) = operands.take_result()?;
    let (first, second) = (operands.take_id()?, operands.take_id()?);
    let Some((instruction, class)) = binary_instruction(opcode) else { refuse!("it is no operation on two values") };
    check_class(translator, value_type, class)?;
    translator.check_type(first, value_type)?;
    translator.check_type(second, value_type)?;
    let flags = match class {
        Class::Integer if matches!(opcode, Op::IAdd | Op::ISub | Op::IMul) => wrap_flags(translator, id),
        Class::Float => fast_flags(translator, id),
        _ => String::new(),
    };
    let accuracy = if opcode == Op::FDiv { spell_accuracy(translator, value_type)? } else { String::new() };
    let (first, second) = (translator.typed(first)?, translator.find_operand(second)?.text);
    translator.define_result((value_type, id), format_args!("{instruction} {flags}{first}, {second}{accuracy}"))
}

/// How far from the correct result a quotient may be, as metadata: 2.5 units in the last place of a `float`, unless the
/// application wants it exact. Source: the OpenCL SPIR-V environment specification, 8.4 (relative error as ULPs).
fn spell_accuracy(translator: &mut Translator<'_>, value_type: Id) -> Attempt<String> {
    if translator.divides_exactly || translator.types.float_width(value_type)? != 32 {
        return Ok(String::new());
    }
    let node = translator.add_metadata("!{float 2.5}".to_owned());
    Ok(format!(", !fpmath {node}"))
}

/// LLVM's words for `NoSignedWrap` and `NoUnsignedWrap`.
fn wrap_flags(translator: &Translator<'_>, id: Id) -> String {
    let decorated = |decoration| translator.declarations.is_decorated(id, decoration);
    let unsigned = if decorated(Decoration::NoUnsignedWrap) { "nuw " } else { "" };
    let signed = if decorated(Decoration::NoSignedWrap) { "nsw " } else { "" };
    format!("{unsigned}{signed}")
}

/// LLVM's words for what a floating-point operation may leave out.
pub(super) fn fast_flags(translator: &Translator<'_>, id: Id) -> String {
    let number = translator.declarations.decoration_number(id, Decoration::FPFastMathMode).unwrap_or(0);
    let mode = FPFastMathMode::from_bits_retain(number);
    let mut words = String::new();
    for (flag, word) in [
        (FPFastMathMode::NOT_NAN, "nnan "),
        (FPFastMathMode::NOT_INF, "ninf "),
        (FPFastMathMode::NSZ, "nsz "),
        (FPFastMathMode::ALLOW_RECIP, "arcp "),
    ] {
        if mode.contains(flag) {
            words.push_str(word);
        }
    }
    if mode.contains(FPFastMathMode::FAST) {
        return "fast ".to_owned();
    }
    if mode.contains(FPFastMathMode::ALLOW_REASSOC) {
        words.push_str("reassoc ");
    }
    if translator.declarations.may_contract() || mode.contains(FPFastMathMode::ALLOW_CONTRACT) {
        words.push_str("contract ");
    }
    words
}

/// A comparison of two values of one type.
pub(super) fn translate_comparison(translator: &mut Translator<'_>, opcode: Op, words: &[u32]) -> Attempt<()> {
    let mut operands = translator.operands(words);
    let result = operands.take_result()?;
    let (first, second) = (operands.take_id()?, operands.take_id()?);
    let Some((instruction, class)) = comparison(opcode) else { refuse!("it is no comparison") };
    let value_type = translator.type_of(first)?;
    check_class(translator, value_type, class)?;
    translator.check_type(second, value_type)?;
    check_truth(translator, result.0, value_type)?;
    let (first, second) = (translator.typed(first)?, translator.find_operand(second)?.text);
    translator.define_result(result, format_args!("{instruction} {first}, {second}"))
}

/// Refuses a result that is not one `bool` for each element of the operands.
fn check_truth(translator: &Translator<'_>, result: Id, operand: Id) -> Attempt<()> {
    let (_, count) = translator.types.elements_of(operand)?;
    if !translator.types.is_bool(result)? || translator.types.elements_of(result)?.1 != count {
        refuse!("its result is not of type bool, one for each of {count} elements");
    }
    Ok(())
}

/// A shift, by as many bits as a number of any width says.
pub(super) fn translate_shift(translator: &mut Translator<'_>, opcode: Op, words: &[u32]) -> Attempt<()> {
    let mut operands = translator.operands(words);
    let (value_type, id) = operands.take_result()?;
    let (base, shift) = (operands.take_id()?, operands.take_id()?);
    translator.check_type(base, value_type)?;
    let width = translator.types.int_width(value_type)?;
    let shift_type = translator.type_of(shift)?;
    let shift_width = translator.types.int_width(shift_type)?;
    if translator.types.elements_of(shift_type)?.1 != translator.types.elements_of(value_type)?.1 {
        refuse!("as many shifts as elements are needed");
    }
    let text = translator.types.type_text(value_type)?;
    let shift = match shift_width.cmp(&width) {
        std::cmp::Ordering::Equal => translator.find_operand(shift)?.text,
        order => {
            let conversion = if order.is_lt() { "zext" } else { "trunc" };
            let shift = translator.typed(shift)?;
            translator.define_extra(format_args!("{conversion} {shift} to {text}"))
        }
    };
    let instruction = match opcode {
        Op::ShiftLeftLogical => format!("shl {}", wrap_flags(translator, id)),
        Op::ShiftRightLogical => "lshr ".to_owned(),
        _ => "ashr ".to_owned(),
    };
    let base = translator.typed(base)?;
    translator.define_result((value_type, id), format_args!("{instruction}{base}, {shift}"))
}

/// An operation on one value of the result's type.
pub(super) fn translate_unary(translator: &mut Translator<'_>, opcode: Op, words: &[u32]) -> Attempt<()> {
    let mut operands = translator.operands(words);
    let (value_type, id) = operands.take_result()?;
    let operand = operands.take_id()?;
    translator.check_type(operand, value_type)?;
    let class = match opcode {
        Op::FNegate => Class::Float,
        Op::LogicalNot => Class::Bool,
        _ => Class::Integer,
    };
    check_class(translator, value_type, class)?;
    let typed = translator.typed(operand)?;
    let Typed { type_text, text } = &typed;
    match opcode {
        Op::SNegate => {
            let flags = wrap_flags(translator, id);
            translator.define_result((value_type, id), format_args!("sub {flags}{type_text} zeroinitializer, {text}"))
        }
        Op::FNegate => {
            let flags = fast_flags(translator, id);
            translator.define_result((value_type, id), format_args!("fneg {flags}{typed}"))
        }
        _ => {
            let ones = spell_ones(translator, value_type)?;
            translator.define_result((value_type, id), format_args!("xor {typed}, {ones}"))
        }
    }
}

/// All bits set, of integers or `bool`s.
fn spell_ones(translator: &Translator<'_>, value_type: Id) -> Attempt<String> {
    let (element, count) = translator.types.elements_of(value_type)?;
    let ones = if translator.types.is_bool(element)? { "true" } else { "-1" };
    let typed_ones = format!("{} {ones}", translator.types.type_text(element)?);
    Ok(match count {
        1 => ones.to_owned(),
        count => format!("<{}>", vec![typed_ones; count as usize].join(", ")),
    })
}

/// `OpSMod`: the remainder of the divisor's sign.
pub(super) fn translate_modulo(translator: &mut Translator<'_>, _: Op, words: &[u32]) -> Attempt<()> {
    let mut operands = translator.operands(words);
    let (value_type, id) = operands.take_result()?;
    let (first, second) = (operands.take_id()?, operands.take_id()?);
    check_class(translator, value_type, Class::Integer)?;
    translator.check_type(first, value_type)?;
    translator.check_type(second, value_type)?;
    let (first, divisor) = (translator.typed(first)?, translator.typed(second)?);
    let Typed { type_text, text: divisor } = &divisor;
    let (_, count) = translator.types.elements_of(value_type)?;
    let truth = if count == 1 { "i1".to_owned() } else { format!("<{count} x i1>") };
    let remainder = translator.define_extra(format_args!("srem {first}, {divisor}"));
    let signs = translator.define_extra(format_args!("xor {type_text} {remainder}, {divisor}"));
    let differs = translator.define_extra(format_args!("icmp slt {type_text} {signs}, zeroinitializer"));
    let is_some = translator.define_extra(format_args!("icmp ne {type_text} {remainder}, zeroinitializer"));
    let corrects = translator.define_extra(format_args!("and {truth} {differs}, {is_some}"));
    let corrected = translator.define_extra(format_args!("add {type_text} {remainder}, {divisor}"));
    translator.define_result(
        (value_type, id),
        format_args!("select {truth} {corrects}, {type_text} {corrected}, {type_text} {remainder}"),
    )
}

/// `OpFRem` and `OpFMod`: the remainder of the dividend's or of the divisor's sign.
pub(super) fn translate_float_remainder(translator: &mut Translator<'_>, opcode: Op, words: &[u32]) -> Attempt<()> {
    let mut operands = translator.operands(words);
    let (value_type, id) = operands.take_result()?;
    let (first, second) = (operands.take_id()?, operands.take_id()?);
    check_class(translator, value_type, Class::Float)?;
    translator.check_type(first, value_type)?;
    translator.check_type(second, value_type)?;
    let parameter = translator.types.parameter_of(value_type, true)?;
    let arguments = [translator.typed(first)?, translator.typed(second)?];
    let Typed { type_text, text: divisor } = arguments[1].clone();
    let parameters = [parameter.clone(), parameter.clone()];
    let call = translator.call_built_in("fmod", &parameters, &type_text, &arguments)?;
    if opcode == Op::FRem {
        return translator.define_result((value_type, id), format_args!("{call}"));
    }
    let (_, count) = translator.types.elements_of(value_type)?;
    let truth = if count == 1 { "i1".to_owned() } else { format!("<{count} x i1>") };
    let remainder = translator.define_extra(format_args!("{call}"));
    let is_below = translator.define_extra(format_args!("fcmp olt {type_text} {remainder}, zeroinitializer"));
    let divides_below = translator.define_extra(format_args!("fcmp olt {type_text} {divisor}, zeroinitializer"));
    let differs = translator.define_extra(format_args!("xor {truth} {is_below}, {divides_below}"));
    let is_some = translator.define_extra(format_args!("fcmp une {type_text} {remainder}, zeroinitializer"));
    let corrects = translator.define_extra(format_args!("and {truth} {differs}, {is_some}"));
    let corrected = translator.define_extra(format_args!("fadd {type_text} {remainder}, {divisor}"));
    translator.define_result(
        (value_type, id),
        format_args!("select {truth} {corrects}, {type_text} {corrected}, {type_text} {remainder}"),
    )
}

/// `OpVectorTimesScalar`: each element times the same number.
pub(super) fn translate_scaling(translator: &mut Translator<'_>, _: Op, words: &[u32]) -> Attempt<()> {
    let mut operands = translator.operands(words);
    let (value_type, id) = operands.take_result()?;
    let (vector, scalar) = (operands.take_id()?, operands.take_id()?);
    let (element, count) = translator.types.elements_of(value_type)?;
    check_class(translator, value_type, Class::Float)?;
    translator.check_type(vector, value_type)?;
    translator.check_type(scalar, element)?;
    let text = translator.types.type_text(value_type)?;
    let scalar = translator.typed(scalar)?;
    let first = translator.define_extra(format_args!("insertelement {text} undef, {scalar}, i32 0"));
    let splat = translator
        .define_extra(format_args!("shufflevector {text} {first}, {text} undef, <{count} x i32> zeroinitializer"));
    let (flags, vector) = (fast_flags(translator, id), translator.typed(vector)?);
    translator.define_result((value_type, id), format_args!("fmul {flags}{vector}, {splat}"))
}

/// `OpArithmeticFenceEXT`: the value as it is rounded here, which LLVM does not make one operation with what computes or uses it.
pub(super) fn translate_fence(translator: &mut Translator<'_>, _: Op, words: &[u32]) -> Attempt<()> {
    let mut operands = translator.operands(words);
    let (value_type, id) = operands.take_result()?;
    let value = operands.take_id()?;
    check_class(translator, value_type, Class::Float)?;
    translator.check_type(value, value_type)?;
    let width = translator.types.float_width(value_type)?;
    let name = match translator.types.elements_of(value_type)?.1 {
        1 => format!("llvm.arithmetic.fence.f{width}"),
        count => format!("llvm.arithmetic.fence.v{count}f{width}"),
    };
    let value = translator.typed(value)?;
    let text = value.type_text.clone();
    translator.declare_called(&name, format!("{text} ({text})"))?;
    translator.define_result((value_type, id), format_args!("call {text} @{name}({value})"))
}

/// `OpDot`: the sum of products of elements.
pub(super) fn translate_dot(translator: &mut Translator<'_>, _: Op, words: &[u32]) -> Attempt<()> {
    let mut operands = translator.operands(words);
    let (value_type, id) = operands.take_result()?;
    let (first, second) = (operands.take_id()?, operands.take_id()?);
    let vector_type = translator.type_of(first)?;
    translator.check_type(second, vector_type)?;
    check_class(translator, vector_type, Class::Float)?;
    let (element, count) = translator.types.elements_of(vector_type)?;
    if translator.types.type_text(element)? != translator.types.type_text(value_type)? {
        refuse!("its result is not of the elements' type");
    }
    if matches!(count, 2..=4) {
        let parameter = translator.types.parameter_of(vector_type, true)?;
        let arguments = [translator.typed(first)?, translator.typed(second)?];
        let result = translator.types.type_text(value_type)?;
        let call = translator.call_built_in("dot", &[parameter.clone(), parameter], &result, &arguments)?;
        return translator.define_result((value_type, id), format_args!("{call}"));
    }
    sum_products(translator, (value_type, id), [first, second], count)
}

fn sum_products(translator: &mut Translator<'_>, result: (Id, Id), vectors: [Id; 2], count: u32) -> Attempt<()> {
    let text = translator.types.type_text(result.0)?;
    let (first, second) = (translator.typed(vectors[0])?, translator.find_operand(vectors[1])?.text);
    let vector_text = first.type_text.clone();
    let products = translator.define_extra(format_args!("fmul contract {first}, {second}"));
    let mut sum = translator.define_extra(format_args!("extractelement {vector_text} {products}, i32 0"));
    for lane in 1..count {
        let product = translator.define_extra(format_args!("extractelement {vector_text} {products}, i32 {lane}"));
        let addition = format!("fadd {text} {sum}, {product}");
        if lane + 1 == count {
            return translator.define_result(result, format_args!("{addition}"));
        }
        sum = translator.define_extra(format_args!("{addition}"));
    }
    refuse!("vectors of one element have no such product")
}

/// `OpUMulExtended` and the like: a structure of the low and the high half of a product, or of a sum and its carry.
pub(super) fn translate_extended(translator: &mut Translator<'_>, opcode: Op, words: &[u32]) -> Attempt<()> {
    let mut operands = translator.operands(words);
    let (value_type, id) = operands.take_result()?;
    let (first, second) = (operands.take_id()?, operands.take_id()?);
    let operand_type = translator.type_of(first)?;
    check_class(translator, operand_type, Class::Integer)?;
    translator.check_type(second, operand_type)?;
    let text = translator.types.type_text(operand_type)?;
    let arguments = [translator.typed(first)?, translator.typed(second)?];
    let second = arguments[1].text.clone();
    let (low, high) = match opcode {
        Op::UMulExtended | Op::SMulExtended => {
            let low = translator.define_extra(format_args!("mul {}, {second}", arguments[0]));
            let parameter = translator.types.parameter_of(operand_type, opcode == Op::SMulExtended)?;
            let call = translator.call_built_in("mul_hi", &[parameter.clone(), parameter], &text, &arguments)?;
            (low, translator.define_extra(format_args!("{call}")))
        }
        _ => {
            let is_sum = opcode == Op::IAddCarry;
            let instruction = if is_sum { "add" } else { "sub" };
            let low = translator.define_extra(format_args!("{instruction} {}, {second}", arguments[0]));
            let carries = match is_sum {
                true => translator.define_extra(format_args!("icmp ult {text} {low}, {second}")),
                false => translator.define_extra(format_args!("icmp ult {}, {second}", arguments[0])),
            };
            let (_, count) = translator.types.elements_of(operand_type)?;
            let truth = if count == 1 { "i1".to_owned() } else { format!("<{count} x i1>") };
            (low, translator.define_extra(format_args!("zext {truth} {carries} to {text}")))
        }
    };
    let pair = translator.types.type_text(value_type)?;
    let half = translator.define_extra(format_args!("insertvalue {pair} undef, {text} {low}, 0"));
    translator.define_result((value_type, id), format_args!("insertvalue {pair} {half}, {text} {high}, 1"))
}

/// `OpIsNan` and the like: what kind of number each element is.
pub(super) fn translate_classification(translator: &mut Translator<'_>, opcode: Op, words: &[u32]) -> Attempt<()> {
    let mut operands = translator.operands(words);
    let result = operands.take_result()?;
    let operand = operands.take_id()?;
    let value_type = translator.type_of(operand)?;
    check_class(translator, value_type, Class::Float)?;
    check_truth(translator, result.0, value_type)?;
    // The bits of LLVM's test: signalling and quiet NaN, then from minus infinity up to infinity.
    let mask = match opcode {
        Op::IsNan => 0x003,
        Op::IsInf => 0x204,
        Op::IsFinite => 0x1f8,
        Op::IsNormal => 0x108,
        _ => return translate_sign_bit(translator, result, operand, value_type),
    };
    let name = format!("llvm.is.fpclass.{}", intrinsic_suffix(translator, value_type)?);
    let (typed, truth) = (translator.typed(operand)?, translator.types.type_text(result.0)?);
    translator.declare_called(&name, format!("{truth} ({}, i32)", typed.type_text))?;
    translator.define_result(result, format_args!("call {truth} @{name}({typed}, i32 {mask})"))
}

/// What the names of LLVM's own functions end with for a type: `v4f32`.
fn intrinsic_suffix(translator: &Translator<'_>, value_type: Id) -> Attempt<String> {
    let (_, count) = translator.types.elements_of(value_type)?;
    let width = translator.types.float_width(value_type)?;
    Ok(if count == 1 { format!("f{width}") } else { format!("v{count}f{width}") })
}

fn translate_sign_bit(translator: &mut Translator<'_>, result: (Id, Id), operand: Id, value_type: Id) -> Attempt<()> {
    let (_, count) = translator.types.elements_of(value_type)?;
    let width = translator.types.float_width(value_type)?;
    let integer = if count == 1 { format!("i{width}") } else { format!("<{count} x i{width}>") };
    let typed = translator.typed(operand)?;
    let bits = translator.define_extra(format_args!("bitcast {typed} to {integer}"));
    translator.define_result(result, format_args!("icmp slt {integer} {bits}, zeroinitializer"))
}

/// `OpAny` and `OpAll`: whether one of the elements is true, or all are. LLVM's back end writes them of integers as well.
pub(super) fn translate_any_all(translator: &mut Translator<'_>, opcode: Op, words: &[u32]) -> Attempt<()> {
    let mut operands = translator.operands(words);
    let result = operands.take_result()?;
    let vector = operands.take_id()?;
    let vector_type = translator.type_of(vector)?;
    let (_, count) = translator.types.elements_of(vector_type)?;
    let typed = translator.typed(vector)?;
    let bools = match translator.types.is_bool(vector_type)? {
        true => typed.text.clone(),
        false => {
            check_class(translator, vector_type, Class::Integer)?;
            translator.define_extra(format_args!("icmp slt {typed}, zeroinitializer"))
        }
    };
    if count == 1 {
        return translator.define_result(result, format_args!("bitcast i1 {bools} to i1"));
    }
    let instruction = if opcode == Op::Any { "or" } else { "and" };
    let vector_text = format!("<{count} x i1>");
    let name = format!("llvm.vector.reduce.{instruction}.v{count}i1");
    translator.declare_called(&name, format!("i1 ({vector_text})"))?;
    translator.define_result(result, format_args!("call i1 @{name}({vector_text} {bools})"))
}

/// `OpSelect`: one of two values, by element where the condition is a vector.
pub(super) fn translate_select(translator: &mut Translator<'_>, _: Op, words: &[u32]) -> Attempt<()> {
    let mut operands = translator.operands(words);
    let (value_type, id) = operands.take_result()?;
    let (condition, first, second) = (operands.take_id()?, operands.take_id()?, operands.take_id()?);
    check_class(translator, translator.type_of(condition)?, Class::Bool)?;
    translator.check_type(first, value_type)?;
    translator.check_type(second, value_type)?;
    let (_, count) = translator.types.elements_of(translator.type_of(condition)?)?;
    if count != 1 && translator.types.elements_of(value_type)?.1 != count {
        refuse!("as many conditions as elements are needed");
    }
    let (condition, first, second) =
        (translator.typed(condition)?, translator.typed(first)?, translator.typed(second)?);
    translator.define_result((value_type, id), format_args!("select {condition}, {first}, {second}"))
}

/// `OpBitCount`, `OpBitReverse`, `OpBitFieldInsert` and the two that extract: functions of OpenCL C.
pub(super) fn translate_bits(translator: &mut Translator<'_>, opcode: Op, words: &[u32]) -> Attempt<()> {
    let mut operands = translator.operands(words);
    let (value_type, id) = operands.take_result()?;
    let values = operands.take_ids()?;
    let (name, value_count, number_count) = match opcode {
        Op::BitCount => ("popcount", 1, 0),
        Op::BitReverse => ("bit_reverse", 1, 0),
        Op::BitFieldInsert => ("bitfield_insert", 2, 2),
        Op::BitFieldSExtract => ("bitfield_extract_signed", 1, 2),
        _ => ("bitfield_extract_unsigned", 1, 2),
    };
    if values.len() != value_count + number_count {
        refuse!("it has {} operands, not {}", values.len(), value_count + number_count);
    }
    check_class(translator, value_type, Class::Integer)?;
    let parameter = translator.types.parameter_of(value_type, true)?;
    let mut parameters = Vec::new();
    let mut arguments = Vec::new();
    for (index, &value) in values.iter().enumerate() {
        if index < value_count {
            translator.check_type(value, value_type)?;
            parameters.push(parameter.clone());
            arguments.push(translator.typed(value)?);
        } else {
            parameters.push(Parameter::Scalar("j"));
            arguments.push(resize_integer(translator, value, 32)?);
        }
    }
    let result = translator.types.type_text(value_type)?;
    let call = translator.call_built_in(name, &parameters, &result, &arguments)?;
    translator.define_result((value_type, id), format_args!("{call}"))
}
