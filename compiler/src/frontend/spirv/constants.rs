//! Constants, and variables of the module.
//!
//! A constant is kept as its bits as well as in LLVM's text: lengths of arrays, scopes and the operations of other constants need
//! its value. Values that the application gives take the place of the module's own.

use std::rc::Rc;

use spirv::{BuiltIn, Decoration, LinkageType, Op, StorageClass};

use super::error::{Attempt, refuse};
use super::evaluate::evaluate_operation;
use super::ids::Id;
use super::known_constants::{Constant, ConstantKind, mask_of};
use super::memory::{Variable, read_variable};
use super::operands::Operands;
use super::translator::{Translator, quote_name};
use super::types::TypeKind;
use super::values::Value;

/// Declares what an `OpConstant…`, `OpSpecConstant…`, `OpUndef` or `OpVariable` of the module is.
pub(super) fn declare_constant(translator: &mut Translator<'_>, opcode: Op, words: &[u32]) -> Attempt<()> {
    let mut operands = translator.operands(words);
    let (value_type, id) = operands.take_result()?;
    let kind = match opcode {
        Op::ConstantTrue | Op::SpecConstantTrue => {
            ConstantKind::Bits(read_bool(translator, opcode, value_type, id, true)?)
        }
        Op::ConstantFalse | Op::SpecConstantFalse => {
            ConstantKind::Bits(read_bool(translator, opcode, value_type, id, false)?)
        }
        Op::Constant | Op::SpecConstant => {
            ConstantKind::Bits(read_number(translator, opcode, value_type, id, operands)?)
        }
        Op::ConstantNull => ConstantKind::Null,
        Op::Undef => ConstantKind::Undefined,
        Op::ConstantSampler => return declare_sampler(translator, (value_type, id), operands),
        Op::ConstantComposite | Op::SpecConstantComposite => {
            let members: Attempt<Vec<Constant>> = operands
                .take_ids()?
                .into_iter()
                .enumerate()
                .map(|(index, member)| find_member(translator, value_type, index, member))
                .collect();
            ConstantKind::Composite(members?.into())
        }
        Op::SpecConstantOp => {
            let constant = evaluate_operation(translator, value_type, operands)?;
            return add_constant(translator, id, constant);
        }
        _ => refuse!("it is not a constant that kernels have here"),
    };
    let constant = make_constant(translator, value_type, kind)?;
    add_constant(translator, id, constant)
}

/// The constant that is a member of a value of this type.
fn find_member(translator: &Translator<'_>, value_type: Id, index: usize, member: Id) -> Attempt<Constant> {
    let wanted = member_type(&translator.types.find_type(value_type)?.kind, index);
    match wanted {
        Some(wanted) if is_null_address(translator, member, wanted)? => {
            make_constant(translator, wanted, ConstantKind::Null)
        }
        _ => translator.constants.find_constant(member).cloned(),
    }
}

/// The type of a member of a value.
fn member_type(kind: &TypeKind, index: usize) -> Option<Id> {
    match kind {
        TypeKind::Vector { element, .. } | TypeKind::Array { element, .. } => Some(*element),
        TypeKind::Struct { members } => members.get(index).copied(),
        _ => None,
    }
}

/// Whether a constant stands for no address in memory that begins with it. LLVM's back end writes the null of an integer there.
fn is_null_address(translator: &Translator<'_>, id: Id, wanted: Id) -> Attempt<bool> {
    let constant = translator.constants.find_constant(id)?;
    let is_number = translator.types.find_type(constant.value_type)?.kind == TypeKind::Int(64);
    let is_address = matches!(translator.types.find_type(wanted)?.kind, TypeKind::Pointer { .. });
    Ok(is_number && is_address && matches!(constant.kind, ConstantKind::Null))
}

/// Makes a constant known under its id.
pub(super) fn add_constant(translator: &mut Translator<'_>, id: Id, constant: Constant) -> Attempt<()> {
    translator.constants.text_bytes += constant.text.len();
    let value = Value::Constant { value_type: constant.value_type, text: constant.text.clone() };
    translator.set_value(id, value)?;
    translator.constants.known.insert(id, constant);
    translator.check_growth()
}

/// A constant with its text.
pub(super) fn make_constant(translator: &Translator<'_>, value_type: Id, kind: ConstantKind) -> Attempt<Constant> {
    let text = match &kind {
        ConstantKind::Bits(bits) => spell_number(&translator.types.find_type(value_type)?.kind, *bits)?,
        ConstantKind::Null => spell_null(&translator.types.find_type(value_type)?.kind)?.into(),
        ConstantKind::Undefined => spell_undefined(&translator.types.find_type(value_type)?.kind)?.into(),
        ConstantKind::Composite(members) => spell_composite(translator, value_type, members)?,
        ConstantKind::Address => refuse!("an address has a text of its own"),
    };
    Ok(Constant { value_type, kind, text: text.into() })
}

fn spell_number(kind: &TypeKind, bits: u64) -> Attempt<String> {
    Ok(match kind {
        TypeKind::Bool => if bits == 0 { "false" } else { "true" }.to_owned(),
        TypeKind::Int(64) => format!("{}", bits as i64),
        TypeKind::Int(32) => format!("{}", bits as i32),
        TypeKind::Int(16) => format!("{}", bits as i16),
        TypeKind::Int(_) => format!("{}", bits as i8),
        TypeKind::Float(16) => format!("0xH{:04X}", bits as u16),
        TypeKind::Float(32) => format!("0x{:016X}", widen_float(bits as u32)),
        TypeKind::Float(_) => format!("0x{bits:016X}"),
        _ => refuse!("a number of a type that is none"),
    })
}

/// The bits of a `double` of the same value, which is how LLVM writes a `float`. A NaN keeps what it carries.
fn widen_float(bits: u32) -> u64 {
    let value = f32::from_bits(bits);
    if value.is_nan() {
        let sign = u64::from(bits >> 31) << 63;
        return sign | 0x7ff << 52 | u64::from(bits & 0x007f_ffff) << 29;
    }
    f64::from(value).to_bits()
}

fn spell_null(kind: &TypeKind) -> Attempt<&'static str> {
    Ok(match kind {
        TypeKind::Bool => "false",
        TypeKind::Int(_) | TypeKind::Sampler | TypeKind::ReserveId | TypeKind::Event => "0",
        TypeKind::Float(16) => "0xH0000",
        TypeKind::Float(_) => "0.0",
        TypeKind::Pointer { .. } => "null",
        TypeKind::Vector { .. } | TypeKind::Array { .. } | TypeKind::Struct { .. } => "zeroinitializer",
        _ => refuse!("there is no null of its type"),
    })
}

fn spell_undefined(kind: &TypeKind) -> Attempt<&'static str> {
    match kind {
        TypeKind::Void | TypeKind::Function { .. } => refuse!("there are no values of its type"),
        _ => Ok("undef"),
    }
}

fn spell_composite(translator: &Translator<'_>, value_type: Id, members: &[Constant]) -> Attempt<String> {
    let types = &translator.types;
    let known = types.find_type(value_type)?;
    let (open, close) = match &known.kind {
        TypeKind::Vector { count, .. } if members.len() == *count as usize => ("<", ">"),
        TypeKind::Array { count, .. } if members.len() as u64 == *count => ("[", "]"),
        TypeKind::Struct { members: wanted } if members.len() == wanted.len() => {
            match is_packed(translator, value_type) {
                true => ("<{", "}>"),
                false => ("{", "}"),
            }
        }
        _ => refuse!("{} members do not make a value of type {}", members.len(), known.text),
    };
    let mut text = open.to_owned();
    for (index, member) in members.iter().enumerate() {
        let wanted = member_type(&known.kind, index).unwrap_or(value_type);
        let (actual, wanted) = (types.type_text(member.value_type)?, types.type_text(wanted)?);
        if actual != wanted {
            refuse!("member {index} is of type {actual}, where {wanted} is needed");
        }
        if index > 0 {
            text.push_str(", ");
        }
        text.push_str(&actual);
        text.push(' ');
        text.push_str(&member.text);
        if translator.constants.text_bytes + text.len() > MAX_CONSTANT_TEXT {
            refuse!("the constants take more than {MAX_CONSTANT_TEXT} bytes as text");
        }
    }
    text.push_str(close);
    Ok(text)
}

/// Most bytes of text of all constants of a module.
const MAX_CONSTANT_TEXT: usize = 1 << 28;

/// Whether a structure is without gaps.
pub(super) fn is_packed(translator: &Translator<'_>, structure: Id) -> bool {
    translator.declarations.is_decorated(structure, Decoration::CPacked)
}

/// What the application gave for a constant, if it did.
fn given_bits(translator: &Translator<'_>, opcode: Op, id: Id) -> Option<u64> {
    if !matches!(opcode, Op::SpecConstant | Op::SpecConstantTrue | Op::SpecConstantFalse) {
        return None;
    }
    let spec_id = translator.declarations.decoration_number(id, Decoration::SpecId)?;
    let given = translator.specialization.iter().rev().find(|value| value.id == spec_id)?;
    let mut bytes = [0; 8];
    let length = given.bytes.len().min(8);
    bytes[..length].copy_from_slice(&given.bytes[..length]);
    Some(u64::from_le_bytes(bytes))
}

fn read_bool(translator: &Translator<'_>, opcode: Op, value_type: Id, id: Id, own: bool) -> Attempt<u64> {
    if translator.types.find_type(value_type)?.kind != TypeKind::Bool {
        refuse!("it is true or false, but not of type bool");
    }
    Ok(given_bits(translator, opcode, id).map_or(u64::from(own), |bits| u64::from(bits & 0xff != 0)))
}

fn read_number(
    translator: &Translator<'_>,
    opcode: Op,
    value_type: Id,
    id: Id,
    mut operands: Operands<'_>,
) -> Attempt<u64> {
    let width = match translator.types.find_type(value_type)?.kind {
        TypeKind::Int(width) | TypeKind::Float(width) => width,
        _ => refuse!("a number of a type that is none"),
    };
    let mut own = u64::from(operands.take_literal()?);
    if width == 64 {
        own |= u64::from(operands.take_literal()?) << 32;
    }
    let bits = given_bits(translator, opcode, id).unwrap_or(own);
    Ok(bits & mask_of(width))
}

/// A sampler is a number whose bits OpenCL C gives names to: `CLK_ADDRESS_…`, `CLK_NORMALIZED_COORDS_TRUE`, `CLK_FILTER_…`.
fn declare_sampler(
    translator: &mut Translator<'_>,
    (value_type, id): (Id, Id),
    mut operands: Operands<'_>,
) -> Attempt<()> {
    if translator.types.find_type(value_type)?.kind != TypeKind::Sampler {
        refuse!("it is not of a sampler's type");
    }
    let [addressing, is_normalized, filter] =
        [operands.take_literal()?, operands.take_literal()?, operands.take_literal()?];
    if addressing > 4 || is_normalized > 1 || filter > 1 {
        refuse!(
            "there is no sampler of addressing {addressing}, normalized coordinates {is_normalized}, filter {filter}"
        );
    }
    let bits = (addressing * 2) | is_normalized | (0x10 << filter);
    let constant = Constant { value_type, kind: ConstantKind::Bits(bits.into()), text: bits.to_string().into() };
    add_constant(translator, id, constant)
}

/// Declares a variable of the module.
pub(super) fn declare_variable(translator: &mut Translator<'_>, opcode: Op, words: &[u32]) -> Attempt<()> {
    let Variable { value_type, id, class, content: held, initializer } = read_variable(translator, opcode, words)?;
    if class == StorageClass::Input {
        return declare_built_in(translator, (value_type, id), held);
    }
    let memory_type = translator.types.find_type(held)?;
    if memory_type.size == 0 {
        refuse!("a variable of type {}", memory_type.text);
    }
    let (memory, size) = (memory_type.text.clone(), memory_type.size);
    let is_imported = linkage_kind(translator, id) == Some(LinkageType::Import);
    let content = match initializer {
        _ if is_imported => String::new(),
        Some(initializer) if is_null_address(translator, initializer, held)? => " null".to_owned(),
        Some(initializer) => {
            translator.check_type(initializer, held)?;
            format!(" {}", translator.find_operand(initializer)?.text)
        }
        None if class == StorageClass::Workgroup => " undef".to_owned(),
        None => " zeroinitializer".to_owned(),
    };
    let is_constant =
        class == StorageClass::UniformConstant || translator.declarations.is_decorated(id, Decoration::Constant);
    let (space, kind) = match class {
        StorageClass::UniformConstant => (2, "constant"),
        StorageClass::CrossWorkgroup if is_constant => (1, "constant"),
        StorageClass::CrossWorkgroup => (1, "global"),
        StorageClass::Workgroup if initializer.is_none() => (3, "global"),
        StorageClass::Workgroup => refuse!("a variable in local memory cannot begin with a value"),
        _ => refuse!("a module has no variables of storage class {class:?}"),
    };
    let alignment = match translator.declarations.decoration_number(id, Decoration::Alignment) {
        Some(align) if align.is_power_of_two() => format!(", align {align}"),
        Some(align) => refuse!("an alignment of {align} bytes, which is no power of two"),
        None => String::new(),
    };
    let name = global_name(translator, id);
    let linkage = match linkage_kind(translator, id) {
        None => "internal ",
        Some(LinkageType::Import) => "external ",
        Some(LinkageType::Export) => "",
        Some(_) => "linkonce_odr ",
    };
    translator.globals.push_str(&format!("{name} = {linkage}addrspace({space}) {kind} {memory}{content}{alignment}\n"));
    let name: Rc<str> = name.into();
    let is_own = matches!(linkage_kind(translator, id), None | Some(LinkageType::Export));
    if kind == "constant" && is_own && content == " zeroinitializer" {
        translator.constants.zero_variables.insert(name.clone(), size);
    }
    add_constant(translator, id, Constant { value_type, kind: ConstantKind::Address, text: name })
}

fn linkage_kind(translator: &Translator<'_>, id: Id) -> Option<LinkageType> {
    translator.declarations.find_linkage(id).map(|linkage| linkage.kind)
}

/// The name of a variable or a function in LLVM's text: that of its linkage, or one that nobody else has. A kernel's name is that of
/// what the host calls, so what the module exports under such a name is not called so.
pub(super) fn global_name(translator: &Translator<'_>, id: Id) -> String {
    let declarations = &translator.declarations;
    match declarations.find_linkage(id).filter(|linkage| !declarations.kernel_names.contains(&linkage.name)) {
        Some(linkage) => format!("@{}", quote_name(&linkage.name)),
        None => format!("@spirv.{id}"),
    }
}

fn declare_built_in(translator: &mut Translator<'_>, (value_type, id): (Id, Id), content: Id) -> Attempt<()> {
    let Some(number) = translator.declarations.decoration_number(id, Decoration::BuiltIn) else {
        refuse!("a variable of storage class Input that is not decorated with BuiltIn");
    };
    let Some(built_in) = BuiltIn::from_u32(number) else { refuse!("there is no built-in variable {number}") };
    translator.set_value(id, Value::BuiltIn { value_type, content, built_in, component: None })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_spelt_by_their_bits() {
        for (kind, bits, expected) in [
            (TypeKind::Bool, 1, "true"),
            (TypeKind::Int(8), 0xff, "-1"),
            (TypeKind::Int(16), 0x7fff, "32767"),
            (TypeKind::Int(32), 0x8000_0000, "-2147483648"),
            (TypeKind::Int(64), u64::MAX, "-1"),
            (TypeKind::Float(16), 0x3c00, "0xH3C00"),
            (TypeKind::Float(32), 0x3fc0_0000, "0x3FF8000000000000"),
            (TypeKind::Float(32), 0x7f80_0001, "0x7FF0000020000000"),
            (TypeKind::Float(32), 0x0000_0001, "0x36A0000000000000"),
            (TypeKind::Float(64), 0x8000_0000_0000_0000, "0x8000000000000000"),
        ] {
            assert_eq!(spell_number(&kind, bits), Ok(expected.to_owned()), "{kind:?}");
        }
    }
}
