//! Atomic operations and fences: LLVM's own.

use spirv::{MemorySemantics, Op};

use super::alias_scopes::spell_decorated_scopes;
use super::error::{Attempt, refuse};
use super::ids::Id;
use super::translator::Translator;

/// LLVM's operation of a read-modify-write.
fn operation_of(opcode: Op) -> Option<(&'static str, bool)> {
    Some(match opcode {
        Op::AtomicExchange => ("xchg", false),
        Op::AtomicIAdd | Op::AtomicIIncrement => ("add", false),
        Op::AtomicISub | Op::AtomicIDecrement => ("sub", false),
        Op::AtomicSMin => ("min", false),
        Op::AtomicUMin => ("umin", false),
        Op::AtomicSMax => ("max", false),
        Op::AtomicUMax => ("umax", false),
        Op::AtomicAnd => ("and", false),
        Op::AtomicOr => ("or", false),
        Op::AtomicXor => ("xor", false),
        Op::AtomicFAddEXT => ("fadd", true),
        Op::AtomicFMinEXT => ("fmin", true),
        Op::AtomicFMaxEXT => ("fmax", true),
        _ => return None,
    })
}

/// What an order is needed for: not every order is one of loads or stores.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum OrderedAccess {
    Load,
    Store,
    Update,
    Fence,
}

/// LLVM's order for memory semantics; the strongest where they are not known. None for a fence that orders nothing.
fn order_of(translator: &Translator<'_>, semantics: Id, access: OrderedAccess) -> Attempt<Option<&'static str>> {
    translator.types.int_width(translator.type_of(semantics)?)?;
    let Some(bits) = translator.constants.known_bits(semantics) else { return Ok(Some("seq_cst")) };
    let semantics = MemorySemantics::from_bits_retain(bits as u32);
    let order = if semantics.contains(MemorySemantics::SEQUENTIALLY_CONSISTENT) {
        "seq_cst"
    } else if semantics.contains(MemorySemantics::ACQUIRE_RELEASE)
        || semantics.contains(MemorySemantics::ACQUIRE | MemorySemantics::RELEASE)
    {
        "acq_rel"
    } else if semantics.contains(MemorySemantics::ACQUIRE) {
        "acquire"
    } else if semantics.contains(MemorySemantics::RELEASE) {
        "release"
    } else {
        "monotonic"
    };
    Ok(match (access, order) {
        (OrderedAccess::Load, "acq_rel") => Some("acquire"),
        (OrderedAccess::Load, "release") => Some("monotonic"),
        (OrderedAccess::Store, "acq_rel") => Some("release"),
        (OrderedAccess::Store, "acquire") => Some("monotonic"),
        (OrderedAccess::Fence, "monotonic") => None,
        (_, order) => Some(order),
    })
}

/// An order that is not a fence's.
fn access_order(translator: &Translator<'_>, semantics: Id, access: OrderedAccess) -> Attempt<&'static str> {
    Ok(order_of(translator, semantics, access)?.unwrap_or("monotonic"))
}

/// Refuses an address of something else than a number of the result's type; gives the bytes of one.
fn check_target(translator: &Translator<'_>, pointer: Id, value_type: Id) -> Attempt<u64> {
    translator.types.check_pointee(translator.type_of(pointer)?, value_type)?;
    let value = translator.types.find_type(value_type)?;
    if !value.text.starts_with(['i', 'f', 'd', 'h', 'p']) || &*value.text == "i1" {
        refuse!("no value of type {} is atomic", value.text);
    }
    Ok(value.size)
}

/// `OpAtomicLoad`, as LLVM's atomic load of that order.
pub(super) fn translate_load(translator: &mut Translator<'_>, _: Op, words: &[u32]) -> Attempt<()> {
    let mut operands = translator.operands(words);
    let (value_type, id) = operands.take_result()?;
    let (pointer, _scope, semantics) = (operands.take_id()?, operands.take_id()?, operands.take_id()?);
    let size = check_target(translator, pointer, value_type)?;
    let order = access_order(translator, semantics, OrderedAccess::Load)?;
    let (text, pointer) = (translator.types.type_text(value_type)?, translator.typed(pointer)?);
    let scopes = spell_decorated_scopes(translator, id)?;
    translator
        .define_result((value_type, id), format_args!("load atomic {text}, {pointer} {order}, align {size}{scopes}"))
}

/// `OpAtomicStore`, as LLVM's atomic store of that order.
pub(super) fn translate_store(translator: &mut Translator<'_>, _: Op, words: &[u32]) -> Attempt<()> {
    let mut operands = translator.operands(words);
    let (pointer, _scope, semantics) = (operands.take_id()?, operands.take_id()?, operands.take_id()?);
    let value = operands.take_id()?;
    let size = check_target(translator, pointer, translator.type_of(value)?)?;
    let order = access_order(translator, semantics, OrderedAccess::Store)?;
    let (value, pointer) = (translator.typed(value)?, translator.typed(pointer)?);
    translator.emit_line(format_args!("store atomic {value}, {pointer} {order}, align {size}"));
    Ok(())
}

/// A read-modify-write, with a value or by one.
pub(super) fn translate_update(translator: &mut Translator<'_>, opcode: Op, words: &[u32]) -> Attempt<()> {
    let mut operands = translator.operands(words);
    let (value_type, id) = operands.take_result()?;
    let (pointer, _scope, semantics) = (operands.take_id()?, operands.take_id()?, operands.take_id()?);
    let Some((operation, is_float)) = operation_of(opcode) else { refuse!("it is no atomic operation") };
    check_target(translator, pointer, value_type)?;
    match (operation, is_float) {
        ("xchg", _) => {}
        (_, true) => _ = translator.types.float_width(value_type)?,
        (_, false) => _ = translator.types.int_width(value_type)?,
    }
    let value = match opcode {
        Op::AtomicIIncrement | Op::AtomicIDecrement => "1".into(),
        _ => {
            let value = operands.take_id()?;
            translator.check_type(value, value_type)?;
            translator.find_operand(value)?.text
        }
    };
    let order = access_order(translator, semantics, OrderedAccess::Update)?;
    let (text, pointer) = (translator.types.type_text(value_type)?, translator.typed(pointer)?);
    let scopes = spell_decorated_scopes(translator, id)?;
    translator.define_result(
        (value_type, id),
        format_args!("atomicrmw {operation} {pointer}, {text} {value} {order}{scopes}"),
    )
}

/// `OpAtomicCompareExchange` and its weak form: the value that was there.
pub(super) fn translate_exchange(translator: &mut Translator<'_>, _: Op, words: &[u32]) -> Attempt<()> {
    let mut operands = translator.operands(words);
    let (value_type, id) = operands.take_result()?;
    let (pointer, _scope) = (operands.take_id()?, operands.take_id()?);
    let (equal, unequal) = (operands.take_id()?, operands.take_id()?);
    let (value, comparator) = (operands.take_id()?, operands.take_id()?);
    check_target(translator, pointer, value_type)?;
    translator.types.int_width(value_type)?;
    translator.check_type(value, value_type)?;
    translator.check_type(comparator, value_type)?;
    let success = access_order(translator, equal, OrderedAccess::Update)?;
    let failure = access_order(translator, unequal, OrderedAccess::Load)?;
    let (pointer, value, comparator) =
        (translator.typed(pointer)?, translator.typed(value)?, translator.typed(comparator)?);
    let text = value.type_text.clone();
    let scopes = spell_decorated_scopes(translator, id)?;
    let pair =
        translator.define_extra(format_args!("cmpxchg {pointer}, {comparator}, {value} {success} {failure}{scopes}"));
    translator.define_result((value_type, id), format_args!("extractvalue {{ {text}, i1 }} {pair}, 0"))
}

/// `OpAtomicFlagTestAndSet` and `OpAtomicFlagClear`: a flag is an integer of 32 bits.
pub(super) fn translate_flag(translator: &mut Translator<'_>, opcode: Op, words: &[u32]) -> Attempt<()> {
    let mut operands = translator.operands(words);
    let result = match opcode {
        Op::AtomicFlagTestAndSet => Some(operands.take_result()?),
        _ => None,
    };
    let (pointer, _scope, semantics) = (operands.take_id()?, operands.take_id()?, operands.take_id()?);
    let pointer_type = translator.type_of(pointer)?;
    translator.types.pointer_space(pointer_type)?;
    let pointee = translator.types.pointee_of(pointer_type);
    if pointee.is_some_and(|pointee| translator.types.int_width(pointee) != Ok(32)) {
        refuse!("a flag is an integer of 32 bits");
    }
    match result {
        Some(result) => {
            if !translator.types.is_bool(result.0)? {
                refuse!("its result is not of type bool");
            }
            let order = access_order(translator, semantics, OrderedAccess::Update)?;
            let pointer = translator.typed(pointer)?;
            let old = translator.define_extra(format_args!("atomicrmw xchg {pointer}, i32 1 {order}"));
            translator.define_result(result, format_args!("icmp ne i32 {old}, 0"))
        }
        None => {
            let order = access_order(translator, semantics, OrderedAccess::Store)?;
            let pointer = translator.typed(pointer)?;
            translator.emit_line(format_args!("store atomic i32 0, {pointer} {order}, align 4"));
            Ok(())
        }
    }
}

/// `OpMemoryBarrier`, as a fence that waits for nobody.
pub(super) fn translate_fence(translator: &mut Translator<'_>, _: Op, words: &[u32]) -> Attempt<()> {
    let mut operands = translator.operands(words);
    let (_scope, semantics) = (operands.take_id()?, operands.take_id()?);
    if let Some(order) = order_of(translator, semantics, OrderedAccess::Fence)? {
        translator.emit_line(format_args!("fence {order}"));
    }
    Ok(())
}
