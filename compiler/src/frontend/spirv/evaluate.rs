//! `OpSpecConstantOp`: operations on constants, done before anything is written.
//!
//! Numbers are computed here, by element where they are vectors; addresses become LLVM's constant expressions.

use std::rc::Rc;

use spirv::Op;

use super::constants::make_constant;
use super::error::{Attempt, refuse};
use super::ids::Id;
use super::known_constants::{Constant, ConstantKind, mask_of};
use super::memory::{ChainKind, chain_form, spell_chain};
use super::operands::Operands;
use super::translator::Translator;
use super::types::TypeKind;

/// The constant that an operation gives. The operands begin with the operation's number.
pub(super) fn evaluate_operation(
    translator: &Translator<'_>,
    value_type: Id,
    mut operands: Operands<'_>,
) -> Attempt<Constant> {
    let number = operands.take_literal()?;
    let Some(operation) = Op::from_u32(number) else { refuse!("there is no operation {number}") };
    if let Some((has_type, chain)) = chain_form(operation) {
        return address_element(translator, value_type, operands, has_type, chain);
    }
    match operation {
        Op::PtrCastToGeneric | Op::GenericCastToPtr => cast_address(translator, value_type, operands, "addrspacecast"),
        Op::ConvertPtrToU => cast_address(translator, value_type, operands, "ptrtoint"),
        Op::ConvertUToPtr => cast_address(translator, value_type, operands, "inttoptr"),
        Op::Bitcast if is_address(translator, value_type) => cast_address(translator, value_type, operands, "bitcast"),
        Op::CompositeExtract => extract_member(translator, operands),
        Op::CompositeInsert => insert_member(translator, value_type, operands),
        Op::VectorShuffle => shuffle_elements(translator, value_type, operands),
        Op::Bitcast => reinterpret_bits(translator, value_type, operands),
        _ => evaluate_elements(translator, value_type, operation, operands),
    }
}

fn is_address(translator: &Translator<'_>, value_type: Id) -> bool {
    translator.types.pointer_space(value_type).is_ok()
}

fn address_element(
    translator: &Translator<'_>,
    value_type: Id,
    mut operands: Operands<'_>,
    has_type: bool,
    chain: ChainKind,
) -> Attempt<Constant> {
    let counted = if has_type { Some(operands.take_id()?) } else { None };
    let base = operands.take_id()?;
    let indices = operands.take_ids()?;
    if chain == ChainKind::FromElement
        && let Some(index) = find_byte_index(translator, value_type, base, &indices)?
    {
        let (base, index) = (translator.typed(base)?, translator.typed(index)?);
        return make_address(value_type, format!("getelementptr (i8, {base}, {index})"));
    }
    let spelt = spell_chain(translator, base, counted, &indices, chain)?;
    make_address(value_type, format!("getelementptr ({spelt})"))
}

/// The index of the byte that is addressed, where it is one. LLVM's back end writes the byte of a variable that another variable begins with
/// as the index of a part; the part is then no byte, or is not there.
fn find_byte_index(translator: &Translator<'_>, value_type: Id, base: Id, indices: &[Id]) -> Attempt<Option<Id>> {
    let &[element, index] = indices else { return Ok(None) };
    let types = &translator.types;
    let (_, wanted) = types.pointer_parts(value_type)?;
    if &*types.type_text(wanted)? != "i8" || translator.constants.known_bits(element) != Some(0) {
        return Ok(None);
    }
    let (_, pointee) = types.pointer_parts(translator.type_of(base)?)?;
    let part = match &types.find_type(pointee)?.kind {
        TypeKind::Struct { members } => {
            let number = translator.constants.integer_bits(index)?;
            usize::try_from(number).ok().and_then(|number| members.get(number).copied())
        }
        TypeKind::Array { element, .. } | TypeKind::Vector { element, .. } => Some(*element),
        _ => None,
    };
    let is_byte = match part {
        Some(part) => &*types.type_text(part)? == "i8",
        None => false,
    };
    Ok((!is_byte).then_some(index))
}

/// Most bytes of an expression for an address: LLVM's parser calls itself for each operation within another.
const MAX_EXPRESSION: usize = 4096;

fn make_address(value_type: Id, text: String) -> Attempt<Constant> {
    if text.len() > MAX_EXPRESSION {
        refuse!("the address is computed in too many steps");
    }
    Ok(Constant { value_type, kind: ConstantKind::Address, text: text.into() })
}

fn cast_address(
    translator: &Translator<'_>,
    value_type: Id,
    mut operands: Operands<'_>,
    cast: &str,
) -> Attempt<Constant> {
    let source = translator.constants.find_constant(operands.take_id()?)?;
    let (source_type, target) =
        (translator.types.type_text(source.value_type)?, translator.types.type_text(value_type)?);
    if cast == "bitcast" && source_type == target {
        return Ok(Constant { value_type, kind: ConstantKind::Address, text: source.text.clone() });
    }
    make_address(value_type, format!("{cast} ({source_type} {} to {target})", source.text))
}

/// The members of a constant, each by itself.
fn members_of(translator: &Translator<'_>, constant: &Constant) -> Attempt<Vec<Constant>> {
    if let ConstantKind::Composite(members) = &constant.kind {
        return Ok(members.to_vec());
    }
    let types: Vec<Id> = match &translator.types.find_type(constant.value_type)?.kind {
        TypeKind::Vector { element, count } => vec![*element; *count as usize],
        TypeKind::Array { element, count } if *count <= MAX_EXPANDED => vec![*element; *count as usize],
        TypeKind::Struct { members } => members.to_vec(),
        _ => refuse!("a constant without members, or with too many"),
    };
    let kind = match constant.kind {
        ConstantKind::Null => ConstantKind::Null,
        ConstantKind::Undefined => ConstantKind::Undefined,
        _ => refuse!("a constant without members"),
    };
    types.into_iter().map(|member| make_constant(translator, member, kind.clone())).collect()
}

/// Most elements of an array of zeros of which one is taken or changed.
const MAX_EXPANDED: u64 = 1 << 16;

fn member_at(members: &[Constant], index: u32) -> Attempt<&Constant> {
    match members.get(index as usize) {
        Some(member) => Ok(member),
        None => refuse!("there is no member {index} of {}", members.len()),
    }
}

fn extract_member(translator: &Translator<'_>, mut operands: Operands<'_>) -> Attempt<Constant> {
    let mut constant = translator.constants.find_constant(operands.take_id()?)?.clone();
    for &index in operands.take_literals() {
        constant = member_at(&members_of(translator, &constant)?, index)?.clone();
    }
    Ok(constant)
}

fn insert_member(translator: &Translator<'_>, value_type: Id, mut operands: Operands<'_>) -> Attempt<Constant> {
    let object = translator.constants.find_constant(operands.take_id()?)?.clone();
    let constant = translator.constants.find_constant(operands.take_id()?)?.clone();
    if constant.value_type != value_type {
        refuse!("the result is of another type than what is changed");
    }
    // From the outside in, then the changed ones from the inside out.
    let mut outer: Vec<(Vec<Constant>, u32, Id)> = Vec::new();
    let mut current = constant;
    for &index in operands.take_literals() {
        let members = members_of(translator, &current)?;
        let member = member_at(&members, index)?.clone();
        outer.push((members, index, current.value_type));
        current = member;
    }
    let mut changed = object;
    while let Some((mut members, index, outer_type)) = outer.pop() {
        members[index as usize] = changed;
        changed = make_constant(translator, outer_type, ConstantKind::Composite(members.into()))?;
    }
    Ok(changed)
}

fn shuffle_elements(translator: &Translator<'_>, value_type: Id, mut operands: Operands<'_>) -> Attempt<Constant> {
    let mut elements = members_of(translator, translator.constants.find_constant(operands.take_id()?)?)?;
    elements.extend(members_of(translator, translator.constants.find_constant(operands.take_id()?)?)?);
    let (element_type, _) = translator.types.elements_of(value_type)?;
    let mut chosen = Vec::new();
    for &index in operands.take_literals() {
        chosen.push(match index {
            u32::MAX => make_constant(translator, element_type, ConstantKind::Undefined)?,
            index => member_at(&elements, index)?.clone(),
        });
    }
    make_constant(translator, value_type, ConstantKind::Composite(chosen.into()))
}

fn reinterpret_bits(translator: &Translator<'_>, value_type: Id, mut operands: Operands<'_>) -> Attempt<Constant> {
    let constant = translator.constants.find_constant(operands.take_id()?)?;
    let size_of = |id: Id| translator.types.find_type(id).map(|known| known.size);
    match constant.kind {
        ConstantKind::Bits(bits) if size_of(constant.value_type)? == size_of(value_type)? => {
            make_constant(translator, value_type, ConstantKind::Bits(bits))
        }
        ConstantKind::Null => make_constant(translator, value_type, ConstantKind::Null),
        _ => refuse!("only single numbers of one size are reinterpreted as constants"),
    }
}

/// An operation on numbers, by element.
fn evaluate_elements(
    translator: &Translator<'_>,
    value_type: Id,
    operation: Op,
    mut operands: Operands<'_>,
) -> Attempt<Constant> {
    let (element_type, count) = translator.types.elements_of(value_type)?;
    let inputs: Attempt<Vec<Input>> =
        operands.take_ids()?.into_iter().map(|id| read_input(translator, id, count)).collect();
    let inputs = inputs?;
    let target = number_type(translator, element_type)?;
    let mut elements = Vec::with_capacity(count as usize);
    for lane in 0..count as usize {
        let lanes: Vec<(NumberType, u64)> = inputs.iter().map(|input| (input.number, input.bits[lane])).collect();
        let Some(bits) = compute(operation, target, &lanes) else {
            refuse!("Op{operation:?} of {} constants is not supported, or has no result", lanes.len());
        };
        elements.push(make_constant(translator, element_type, ConstantKind::Bits(bits & mask_of(target.width())))?);
    }
    match <[Constant; 1]>::try_from(elements) {
        Ok([single]) => Ok(single),
        Err(elements) => make_constant(translator, value_type, ConstantKind::Composite(Rc::from(elements))),
    }
}

/// An operand of an operation on numbers.
struct Input {
    number: NumberType,
    /// As many as the result has elements.
    bits: Vec<u64>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum NumberType {
    Bool,
    Int(u32),
    Float(u32),
}

impl NumberType {
    fn width(self) -> u32 {
        match self {
            NumberType::Bool => 1,
            NumberType::Int(width) | NumberType::Float(width) => width,
        }
    }
}

fn number_type(translator: &Translator<'_>, id: Id) -> Attempt<NumberType> {
    match translator.types.find_type(id)?.kind {
        TypeKind::Bool => Ok(NumberType::Bool),
        TypeKind::Int(width) => Ok(NumberType::Int(width)),
        TypeKind::Float(width) => Ok(NumberType::Float(width)),
        _ => refuse!("an operation on constants that are not numbers"),
    }
}

fn read_input(translator: &Translator<'_>, id: Id, count: u32) -> Attempt<Input> {
    let constant = translator.constants.find_constant(id)?;
    let (element, element_count) = translator.types.elements_of(constant.value_type)?;
    let number = number_type(translator, element)?;
    // The condition of a choice may be one for all elements.
    let bits = match &constant.kind {
        ConstantKind::Bits(bits) => vec![*bits; count as usize],
        ConstantKind::Null | ConstantKind::Undefined => vec![0; count as usize],
        ConstantKind::Composite(members) if element_count == count => {
            let bits_of = |member: &Constant| match member.kind {
                ConstantKind::Bits(bits) => bits,
                _ => 0,
            };
            members.iter().map(bits_of).collect()
        }
        _ => refuse!("%{id} is not a constant number, or has another count of elements"),
    };
    Ok(Input { number, bits })
}

/// The bits of a result; none where there is no such operation or no result.
fn compute(operation: Op, target: NumberType, operands: &[(NumberType, u64)]) -> Option<u64> {
    match *operands {
        [(number, bits)] => compute_unary(operation, target, number, bits),
        [(number, first), (_, second)] => match number {
            NumberType::Bool => compute_logical(operation, first != 0, second != 0),
            NumberType::Int(width) => compute_integer(operation, width, first, second),
            NumberType::Float(width) => compute_float(operation, width, first, second),
        },
        [(NumberType::Bool, condition), (_, first), (_, second)] if operation == Op::Select => {
            Some(if condition != 0 { first } else { second })
        }
        _ => None,
    }
}

/// The number that the bits are in two's complement.
fn sign_extend(bits: u64, width: u32) -> i64 {
    let unused = 64 - width;
    (bits << unused) as i64 >> unused
}

fn compute_unary(operation: Op, target: NumberType, number: NumberType, bits: u64) -> Option<u64> {
    let float = |bits: u64| read_float(number.width(), bits);
    let signed = sign_extend(bits, number.width());
    Some(match (operation, number) {
        (Op::LogicalNot, NumberType::Bool) => u64::from(bits == 0),
        (Op::SNegate, NumberType::Int(_)) => signed.wrapping_neg() as u64,
        (Op::Not, NumberType::Int(_)) => !bits,
        (Op::UConvert, NumberType::Int(_)) => bits,
        (Op::SConvert, NumberType::Int(_)) => signed as u64,
        (Op::ConvertSToF, NumberType::Int(_)) if target.width() == 32 => u64::from((signed as f32).to_bits()),
        (Op::ConvertUToF, NumberType::Int(_)) if target.width() == 32 => u64::from((bits as f32).to_bits()),
        (Op::ConvertSToF, NumberType::Int(_)) => write_float(target.width(), signed as f64)?,
        (Op::ConvertUToF, NumberType::Int(_)) => write_float(target.width(), bits as f64)?,
        (Op::FConvert, NumberType::Float(_)) => write_float(target.width(), float(bits)?)?,
        (Op::ConvertFToS, NumberType::Float(_)) => float(bits)? as i64 as u64,
        (Op::ConvertFToU, NumberType::Float(_)) => float(bits)? as u64,
        (Op::FNegate, NumberType::Float(width)) => bits ^ 1 << (width - 1),
        _ => return None,
    })
}

fn compute_logical(operation: Op, first: bool, second: bool) -> Option<u64> {
    Some(u64::from(match operation {
        Op::LogicalAnd => first && second,
        Op::LogicalOr => first || second,
        Op::LogicalEqual => first == second,
        Op::LogicalNotEqual => first != second,
        _ => return None,
    }))
}

fn compute_integer(operation: Op, width: u32, first: u64, second: u64) -> Option<u64> {
    let (signed_first, signed_second) = (sign_extend(first, width), sign_extend(second, width));
    let shift = u32::try_from(second).ok().filter(|&shift| shift < width);
    Some(match operation {
        Op::IAdd => first.wrapping_add(second),
        Op::ISub => first.wrapping_sub(second),
        Op::IMul => first.wrapping_mul(second),
        Op::UDiv => first.checked_div(second)?,
        Op::UMod => first.checked_rem(second)?,
        Op::SDiv => signed_first.checked_div(signed_second)? as u64,
        Op::SRem => signed_first.checked_rem(signed_second)? as u64,
        Op::SMod => {
            let remainder = signed_first.checked_rem(signed_second)?;
            let is_other_sign = remainder != 0 && (remainder < 0) != (signed_second < 0);
            if is_other_sign { remainder.wrapping_add(signed_second) as u64 } else { remainder as u64 }
        }
        Op::ShiftLeftLogical => first << shift?,
        Op::ShiftRightLogical => first >> shift?,
        Op::ShiftRightArithmetic => (signed_first >> shift?) as u64,
        Op::BitwiseAnd => first & second,
        Op::BitwiseOr => first | second,
        Op::BitwiseXor => first ^ second,
        Op::IEqual => u64::from(first == second),
        Op::INotEqual => u64::from(first != second),
        Op::ULessThan => u64::from(first < second),
        Op::ULessThanEqual => u64::from(first <= second),
        Op::UGreaterThan => u64::from(first > second),
        Op::UGreaterThanEqual => u64::from(first >= second),
        Op::SLessThan => u64::from(signed_first < signed_second),
        Op::SLessThanEqual => u64::from(signed_first <= signed_second),
        Op::SGreaterThan => u64::from(signed_first > signed_second),
        Op::SGreaterThanEqual => u64::from(signed_first >= signed_second),
        _ => return None,
    })
}

fn compute_float(operation: Op, width: u32, first: u64, second: u64) -> Option<u64> {
    let (first, second) = (read_float(width, first)?, read_float(width, second)?);
    // A `double` has more than twice the digits of a `float`, so rounding twice gives what rounding once does.
    let value = match operation {
        Op::FAdd => first + second,
        Op::FSub => first - second,
        Op::FMul => first * second,
        Op::FDiv => first / second,
        Op::FRem => first % second,
        _ => return None,
    };
    write_float(width, value)
}

fn read_float(width: u32, bits: u64) -> Option<f64> {
    match width {
        32 => Some(f64::from(f32::from_bits(bits as u32))),
        64 => Some(f64::from_bits(bits)),
        _ => None,
    }
}

fn write_float(width: u32, value: f64) -> Option<u64> {
    match width {
        32 => Some(u64::from((value as f32).to_bits())),
        64 => Some(value.to_bits()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_are_computed_in_their_width() {
        let of_bytes = |operation, first, second| compute_integer(operation, 8, first, second).map(|bits| bits & 0xff);
        for (operation, first, second, expected) in [
            (Op::IAdd, 0xff, 2, Some(1)),
            (Op::SDiv, 0xf8, 3, Some(0xfe)),
            (Op::SDiv, 1, 0, None),
            (Op::UDiv, 0xf8, 3, Some(0x52)),
            (Op::SRem, 0xf9, 3, Some(0xff)),
            (Op::SMod, 0xf9, 3, Some(2)),
            (Op::SMod, 7, 0xfd, Some(0xfe)),
            (Op::ShiftRightArithmetic, 0x80, 3, Some(0xf0)),
            (Op::ShiftRightLogical, 0x80, 3, Some(0x10)),
            (Op::ShiftLeftLogical, 1, 8, None),
            (Op::SLessThan, 0xff, 0, Some(1)),
            (Op::ULessThan, 0xff, 0, Some(0)),
        ] {
            assert_eq!(of_bytes(operation, first, second), expected, "{operation:?} {first} {second}");
        }
    }

    #[test]
    fn numbers_are_converted() {
        let (byte, long) = (NumberType::Int(8), NumberType::Int(64));
        let (float, double) = (NumberType::Float(32), NumberType::Float(64));
        let bits = |value: f32| u64::from(value.to_bits());
        assert_eq!(compute_unary(Op::SConvert, long, byte, 0xff), Some(u64::MAX));
        assert_eq!(compute_unary(Op::UConvert, long, byte, 0xff), Some(0xff));
        assert_eq!(compute_unary(Op::ConvertSToF, float, byte, 0xff), Some(bits(-1.0)));
        assert_eq!(compute_unary(Op::ConvertFToS, long, float, bits(-2.5)), Some(-2_i64 as u64));
        assert_eq!(compute_unary(Op::FConvert, double, float, bits(0.5)), Some(0.5_f64.to_bits()));
        assert_eq!(compute_unary(Op::FNegate, float, float, bits(0.5)), Some(bits(-0.5)));
        assert_eq!(compute_float(Op::FDiv, 32, bits(1.0), bits(3.0)), Some(bits(1.0 / 3.0)));
    }
}
