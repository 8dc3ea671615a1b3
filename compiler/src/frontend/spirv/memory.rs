//! Memory: variables of functions, loads, stores, copies and addresses of parts.

use spirv::{Decoration, MemoryAccess, Op, StorageClass};

use super::alias_scopes::find_scope_list;
use super::built_ins::read_built_in;
use super::error::{Attempt, refuse};
use super::ids::Id;
use super::operands::Operands;
use super::translator::Translator;
use super::types::{TypeKind, read_class};
use super::values::{Typed, Value, ValueText};

/// Where the first index of an access chain counts from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ChainKind {
    /// It counts parts of what the base points to (`OpAccessChain`).
    Within,
    /// It counts values of the type that the base points to (`OpPtrAccessChain`).
    FromElement,
}

/// A variable, as its instruction says.
pub(super) struct Variable {
    /// The variable's type, a pointer.
    pub value_type: Id,
    pub id: Id,
    pub class: StorageClass,
    /// The type of what it holds.
    pub content: Id,
    pub initializer: Option<Id>,
}

/// Reads `OpVariable` or `OpUntypedVariableKHR`.
pub(super) fn read_variable(translator: &Translator<'_>, opcode: Op, words: &[u32]) -> Attempt<Variable> {
    let mut operands = translator.operands(words);
    let (value_type, id) = operands.take_result()?;
    let class = read_class(operands.take_literal()?)?;
    let content = match opcode {
        Op::Variable => translator.types.pointer_parts(value_type)?.1,
        _ => match (translator.types.pointee_of(value_type), operands.take_optional_id()?) {
            (None, Some(content)) => content,
            _ => refuse!("its type is no untyped pointer, or it does not say what it holds"),
        },
    };
    let TypeKind::Pointer { class: pointer_class, .. } = translator.types.find_type(value_type)?.kind else {
        refuse!("a variable's type is a pointer");
    };
    if class != pointer_class {
        refuse!("a variable of storage class {class:?} with a pointer to {pointer_class:?}");
    }
    Ok(Variable { value_type, id, class, content, initializer: operands.take_optional_id()? })
}

/// `OpVariable` and `OpUntypedVariableKHR` in a function.
pub(super) fn translate_variable(translator: &mut Translator<'_>, opcode: Op, words: &[u32]) -> Attempt<()> {
    let Variable { value_type, id, class, content, initializer } = read_variable(translator, opcode, words)?;
    let Some(function) = translator.function.as_ref() else { refuse!("it is not in a function") };
    if class != StorageClass::Function || !function.is_first_block {
        refuse!("a variable of storage class {class:?} within a function, or not in its first block");
    }
    let memory = translator.types.find_type(content)?;
    if memory.size == 0 || memory.size > MAX_VARIABLE {
        refuse!("a variable of {} bytes in private memory; 1 to {MAX_VARIABLE} are allowed", memory.size);
    }
    let text = memory.text.clone();
    let declared = translator.declarations.decoration_number(id, Decoration::Alignment);
    let alignment = spell_alignment(declared.map(restore_alignment))?;
    let variable = translator.define_number(value_type, id)?;
    translator.emit_line(format_args!("{variable} = alloca {text}{alignment}"));
    if let Some(initializer) = initializer {
        translator.check_type(initializer, content)?;
        let initial = translator.typed(initializer)?;
        translator.emit_line(format_args!("store {initial}, ptr {variable}{alignment}"));
    }
    Ok(())
}

/// Most bytes of one variable in private memory, as where modules are imported.
pub(super) const MAX_VARIABLE: u64 = 1 << 28;

/// The widest alignment that accesses are believed to have. Nothing gets faster by more.
const WIDEST_ALIGNMENT: u32 = 256;

/// What LLVM's back end makes of 128, since it keeps the alignment of variables and of some accesses in a byte with a sign.
/// It makes 0 of more.
const NEGATIVE_128: u32 = i8::MIN as u32;

/// How a variable of a function is aligned.
pub(super) fn restore_alignment(declared: u32) -> u32 {
    match declared {
        0 => WIDEST_ALIGNMENT,
        NEGATIVE_128 => 128,
        _ => declared,
    }
}

/// How an access is aligned, as far as it is known. One that is aligned wider may be to a variable whose alignment was lost.
fn believe_alignment(said: u32) -> Option<u32> {
    match said {
        0 => None,
        NEGATIVE_128 => Some(128),
        _ if said.is_power_of_two() => Some(said.min(WIDEST_ALIGNMENT)),
        _ => Some(said),
    }
}

pub(super) fn spell_alignment(bytes: Option<u32>) -> Attempt<String> {
    match bytes {
        None => Ok(String::new()),
        Some(bytes) if bytes.is_power_of_two() => Ok(format!(", align {bytes}")),
        Some(bytes) => refuse!("an alignment of {bytes} bytes, which is no power of two"),
    }
}

/// How memory is accessed: what stands before the type, and what after the address.
#[derive(Debug, Default)]
struct AccessWords {
    volatile: &'static str,
    /// `, align N` if it is given, and nodes of metadata: whether it is nontemporal, and what it shares memory with.
    trailing: String,
    alignment: Option<u32>,
}

fn read_access(translator: &mut Translator<'_>, operands: &mut Operands<'_>) -> Attempt<AccessWords> {
    let mut access = AccessWords::default();
    let Some(mask) = operands.take_optional_literal() else { return Ok(access) };
    let mask = MemoryAccess::from_bits_retain(mask);
    if mask.contains(MemoryAccess::VOLATILE) {
        access.volatile = "volatile ";
    }
    if mask.contains(MemoryAccess::ALIGNED) {
        access.alignment = believe_alignment(operands.take_literal()?);
        access.trailing = spell_alignment(access.alignment)?;
    }
    if mask.contains(MemoryAccess::NONTEMPORAL) {
        let node = translator.add_metadata("!{i32 1}".to_owned());
        access.trailing.push_str(&format!(", !nontemporal {node}"));
    }
    for (aliasing, kind) in
        [(MemoryAccess::ALIAS_SCOPE_INTEL_MASK, "alias.scope"), (MemoryAccess::NO_ALIAS_INTEL_MASK, "noalias")]
    {
        if mask.contains(aliasing) {
            let list = find_scope_list(translator, operands.take_id()?)?;
            access.trailing.push_str(&format!(", !{kind} !{list}"));
        }
    }
    Ok(access)
}

/// `OpLoad`, aligned and volatile as its memory operands say.
pub(super) fn translate_load(translator: &mut Translator<'_>, _: Op, words: &[u32]) -> Attempt<()> {
    let mut operands = translator.operands(words);
    let (value_type, id) = operands.take_result()?;
    let pointer = operands.take_id()?;
    if let Some(&Value::BuiltIn { built_in, component, .. }) = translator.values.find_value(pointer) {
        return read_built_in(translator, (value_type, id), built_in, component);
    }
    let access = read_access(translator, &mut operands)?;
    translator.types.check_pointee(translator.type_of(pointer)?, value_type)?;
    let loaded = translator.types.type_text(value_type)?;
    let pointer = translator.typed(pointer)?;
    let AccessWords { volatile, trailing, .. } = access;
    translator.define_result((value_type, id), format_args!("load {volatile}{loaded}, {pointer}{trailing}"))
}

/// `OpStore`, aligned and volatile as its memory operands say.
pub(super) fn translate_store(translator: &mut Translator<'_>, _: Op, words: &[u32]) -> Attempt<()> {
    let mut operands = translator.operands(words);
    let (pointer, object) = (operands.take_id()?, operands.take_id()?);
    let AccessWords { volatile, trailing, .. } = read_access(translator, &mut operands)?;
    translator.types.check_pointee(translator.type_of(pointer)?, translator.type_of(object)?)?;
    let (object, pointer) = (translator.typed(object)?, translator.typed(pointer)?);
    translator.emit_line(format_args!("store {volatile}{object}, {pointer}{trailing}"));
    Ok(())
}

/// `OpCopyMemory`: a value from one address to another.
pub(super) fn translate_copy(translator: &mut Translator<'_>, _: Op, words: &[u32]) -> Attempt<()> {
    let mut operands = translator.operands(words);
    let (target, source) = (operands.take_id()?, operands.take_id()?);
    let AccessWords { volatile, trailing, .. } = read_access(translator, &mut operands)?;
    let (target_type, source_type) = (translator.type_of(target)?, translator.type_of(source)?);
    // One of the two may be untyped.
    let copied = translator.types.pointee_of(target_type).or(translator.types.pointee_of(source_type));
    let Some(copied) = copied else { refuse!("neither address says what it is of") };
    if [target_type, source_type].iter().any(|&pointer| translator.types.check_pointee(pointer, copied).is_err()) {
        refuse!("it copies between addresses of different types");
    }
    let text = translator.types.type_text(copied)?;
    let (target, source) = (translator.typed(target)?, translator.typed(source)?);
    let copied = translator.define_extra(format_args!("load {volatile}{text}, {source}{trailing}"));
    translator.emit_line(format_args!("store {volatile}{text} {copied}, {target}{trailing}"));
    Ok(())
}

/// `OpCopyMemorySized`: so many bytes from one address to another.
pub(super) fn translate_copy_sized(translator: &mut Translator<'_>, _: Op, words: &[u32]) -> Attempt<()> {
    let mut operands = translator.operands(words);
    let (target, source, size) = (operands.take_id()?, operands.take_id()?, operands.take_id()?);
    let AccessWords { volatile, alignment, .. } = read_access(translator, &mut operands)?;
    let spaces = [target, source].map(|pointer| {
        let pointer_type = translator.type_of(pointer)?;
        translator.types.pointer_space(pointer_type)
    });
    let [target_space, source_space] = spaces;
    let (target_space, source_space) = (target_space?, source_space?);
    let size_type = translator.type_of(size)?;
    let width = translator.types.int_width(size_type)?;
    let align =
        alignment.filter(|bytes| bytes.is_power_of_two()).map(|bytes| format!("align {bytes} ")).unwrap_or_default();
    let is_volatile = !volatile.is_empty();
    if let (ValueText::Constant(address), Some(bytes)) =
        (translator.find_operand(source)?.text, translator.constants.known_bits(size))
        && translator.constants.is_zero_at(&address, bytes)
    {
        return fill_with_zeros(translator, target, size, &align, is_volatile);
    }
    let name = format!("llvm.memcpy.p{target_space}.p{source_space}.i{width}");
    let (target, source, size) = (translator.typed(target)?, translator.typed(source)?, translator.typed(size)?);
    translator
        .declare_called(&name, format!("void ({}, {}, {}, i1)", target.type_text, source.type_text, size.type_text))?;
    let (target_text, source_text) = (&target.text, &source.text);
    translator.emit_line(format_args!(
        "call void @{name}({} {align}{target_text}, {} {align}{source_text}, {size}, i1 {is_volatile})",
        target.type_text, source.type_text
    ));
    Ok(())
}

/// Writes zeros. LLVM's back end for SPIR-V makes copies of constants of them, as there is no such instruction; its passes know more of
/// what is filled than of what is copied.
fn fill_with_zeros(
    translator: &mut Translator<'_>,
    target: Id,
    size: Id,
    align: &str,
    is_volatile: bool,
) -> Attempt<()> {
    let space = translator.types.pointer_space(translator.type_of(target)?)?;
    let width = translator.types.int_width(translator.type_of(size)?)?;
    let (target, size) = (translator.typed(target)?, translator.typed(size)?);
    let Typed { type_text, text } = &target;
    let name = format!("llvm.memset.p{space}.i{width}");
    translator.declare_called(&name, format!("void ({type_text}, i8, {}, i1)", size.type_text))?;
    translator.emit_line(format_args!("call void @{name}({type_text} {align}{text}, i8 0, {size}, i1 {is_volatile})"));
    Ok(())
}

/// Whether an access chain is one of those that begin with the type that they count by (`SPV_KHR_untyped_pointers`), and where it counts
/// from. None of other instructions.
pub(super) fn chain_form(opcode: Op) -> Option<(bool, ChainKind)> {
    Some(match opcode {
        Op::AccessChain | Op::InBoundsAccessChain => (false, ChainKind::Within),
        Op::PtrAccessChain | Op::InBoundsPtrAccessChain => (false, ChainKind::FromElement),
        Op::UntypedAccessChainKHR | Op::UntypedInBoundsAccessChainKHR => (true, ChainKind::Within),
        Op::UntypedPtrAccessChainKHR | Op::UntypedInBoundsPtrAccessChainKHR => (true, ChainKind::FromElement),
        _ => return None,
    })
}

/// `OpAccessChain` and the like: the address of a part.
pub(super) fn translate_chain(translator: &mut Translator<'_>, opcode: Op, words: &[u32]) -> Attempt<()> {
    let mut operands = translator.operands(words);
    let result = operands.take_result()?;
    let Some((has_type, kind)) = chain_form(opcode) else { refuse!("it is the address of no part") };
    let counted = if has_type { Some(operands.take_id()?) } else { None };
    let base = operands.take_id()?;
    let indices = operands.take_ids()?;
    if let Some(&Value::BuiltIn { built_in, content, component: None, .. }) = translator.values.find_value(base)
        && let Some(component) = find_component(translator, content, &indices, kind)
    {
        let value = Value::BuiltIn { value_type: result.0, content, built_in, component: Some(component) };
        return translator.set_value(result.1, value);
    }
    let inbounds = match opcode {
        Op::InBoundsAccessChain
        | Op::InBoundsPtrAccessChain
        | Op::UntypedInBoundsAccessChainKHR
        | Op::UntypedInBoundsPtrAccessChainKHR => "inbounds ",
        _ => "",
    };
    let chain = spell_chain(translator, base, counted, &indices, kind)?;
    translator.define_result(result, format_args!("getelementptr {inbounds}{chain}"))
}

/// The one component of a vector that an access chain is about, if it is a constant one. Producers that count whole values first begin
/// with a zero.
fn find_component(translator: &Translator<'_>, vector: Id, indices: &[Id], kind: ChainKind) -> Option<u32> {
    let index = match (indices, kind) {
        (&[index], ChainKind::Within) => index,
        (&[first, index], _) if translator.constants.known_bits(first) == Some(0) => index,
        _ => return None,
    };
    let (_, count) = translator.types.elements_of(vector).ok()?;
    let component = u32::try_from(translator.constants.known_bits(index)?).ok()?;
    (count > 1 && component < count).then_some(component)
}

/// The operands of LLVM's `getelementptr` for the address of a part. Where no type to count by is given, it is that of what the base
/// points to.
pub(super) fn spell_chain(
    translator: &Translator<'_>,
    base: Id,
    counted: Option<Id>,
    indices: &[Id],
    kind: ChainKind,
) -> Attempt<String> {
    let base_type = translator.type_of(base)?;
    translator.types.pointer_space(base_type)?;
    let pointee = match counted {
        Some(counted) => counted,
        None => translator.types.pointer_parts(base_type)?.1,
    };
    let pointee_type = translator.types.find_type(pointee)?;
    if matches!(pointee_type.kind, TypeKind::Void | TypeKind::Function { .. } | TypeKind::Opaque) {
        refuse!("values of type {} have no size to count them by", pointee_type.text);
    }
    let mut text = format!("{}, {}", pointee_type.text, translator.typed(base)?);
    let mut indices = indices.iter();
    match (kind, indices.as_slice().first()) {
        (ChainKind::Within, _) => text.push_str(", i32 0"),
        (ChainKind::FromElement, Some(&element)) => {
            text.push_str(&format!(", {}", typed_index(translator, element)?));
            indices.next();
        }
        (ChainKind::FromElement, None) => refuse!("it has no index"),
    }
    let mut current = pointee;
    for &index in indices {
        match &translator.types.find_type(current)?.kind {
            TypeKind::Struct { members } => {
                let number = translator.constants.integer_bits(index)?;
                let Some(&member) = usize::try_from(number).ok().and_then(|number| members.get(number)) else {
                    refuse!("there is no member {number} of {}", members.len());
                };
                text.push_str(&format!(", i32 {number}"));
                current = member;
            }
            TypeKind::Array { element, .. } | TypeKind::Vector { element, .. } => {
                text.push_str(&format!(", {}", typed_index(translator, index)?));
                current = *element;
            }
            _ => refuse!("an index into a value of type {}, which has no parts", translator.types.type_text(current)?),
        }
    }
    Ok(text)
}

fn typed_index(translator: &Translator<'_>, index: Id) -> Attempt<Typed> {
    match translator.types.find_type(translator.type_of(index)?)?.kind {
        TypeKind::Int(_) => translator.typed(index),
        _ => refuse!("the index %{index} is not an integer"),
    }
}

/// `OpPtrEqual` and `OpPtrNotEqual`.
pub(super) fn translate_pointer_comparison(translator: &mut Translator<'_>, opcode: Op, words: &[u32]) -> Attempt<()> {
    let mut operands = translator.operands(words);
    let result = operands.take_result()?;
    let (first, second) = (operands.take_id()?, operands.take_id()?);
    translator.types.pointer_space(translator.type_of(first)?)?;
    translator.check_type(second, translator.type_of(first)?)?;
    let (first, second) = (translator.typed(first)?, translator.find_operand(second)?.text);
    let condition = if opcode == Op::PtrEqual { "eq" } else { "ne" };
    translator.define_result(result, format_args!("icmp {condition} {first}, {second}"))
}

/// `OpPtrDiff`: how many values lie between two addresses.
pub(super) fn translate_pointer_difference(translator: &mut Translator<'_>, _: Op, words: &[u32]) -> Attempt<()> {
    let mut operands = translator.operands(words);
    let (value_type, id) = operands.take_result()?;
    let (first, second) = (operands.take_id()?, operands.take_id()?);
    let (_, pointee) = translator.types.pointer_parts(translator.type_of(first)?)?;
    translator.check_type(second, translator.type_of(first)?)?;
    let memory = translator.types.find_type(pointee)?;
    let size = memory.size.next_multiple_of(memory.align).max(1);
    let (first, second) = (translator.typed(first)?, translator.typed(second)?);
    let first = translator.define_extra(format_args!("ptrtoint {first} to i64"));
    let second = translator.define_extra(format_args!("ptrtoint {second} to i64"));
    let bytes = translator.define_extra(format_args!("sub i64 {first}, {second}"));
    if translator.types.int_width(value_type)? == 64 {
        return translator.define_result((value_type, id), format_args!("sdiv exact i64 {bytes}, {size}"));
    }
    let count = translator.define_extra(format_args!("sdiv exact i64 {bytes}, {size}"));
    let target = translator.types.type_text(value_type)?;
    translator.define_result((value_type, id), format_args!("trunc i64 {count} to {target}"))
}

/// `OpLifetimeStart` and `OpLifetimeStop`: LLVM finds out by itself how long a variable is used.
pub(super) fn skip_lifetime(_: &mut Translator<'_>, _: Op, _: &[u32]) -> Attempt<()> {
    Ok(())
}
