//! What the work-items of a group or a sub-group do together: functions of OpenCL C.

use spirv::{GroupOperation, MemorySemantics, Op, Scope};

use super::convert::resize_integer;
use super::error::{Attempt, refuse};
use super::functions::define_result;
use super::ids::Id;
use super::mangle::Parameter;
use super::operands::Operands;
use super::translator::Translator;
use super::types::TypeKind;
use super::values::{Typed, ValueText};

/// The work-items that an instruction is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Group {
    WorkGroup,
    SubGroup,
}

impl Group {
    fn prefix(self) -> &'static str {
        match self {
            Group::WorkGroup => "work_group",
            Group::SubGroup => "sub_group",
        }
    }
}

fn read_scope(translator: &Translator<'_>, id: Id) -> Attempt<Scope> {
    let number = translator.constants.integer_bits(id)?;
    match u32::try_from(number).ok().and_then(Scope::from_u32) {
        Some(scope) => Ok(scope),
        None => refuse!("there is no scope {number}"),
    }
}

fn read_group(translator: &Translator<'_>, id: Id) -> Attempt<Group> {
    match read_scope(translator, id)? {
        Scope::Workgroup => Ok(Group::WorkGroup),
        Scope::Subgroup => Ok(Group::SubGroup),
        scope => refuse!("the work-items of scope {scope:?} do nothing together"),
    }
}

/// What the names of functions of a group begin with.
pub(super) fn read_group_prefix(translator: &Translator<'_>, scope: Id) -> Attempt<&'static str> {
    Ok(read_group(translator, scope)?.prefix())
}

/// `OpControlBarrier`: of a work-group or a sub-group, by its scope. `OpControlBarrierArriveINTEL` and `OpControlBarrierWaitINTEL`
/// are the halves of one; those of a sub-group meet where they wait.
pub(super) fn translate_barrier(translator: &mut Translator<'_>, opcode: Op, words: &[u32]) -> Attempt<()> {
    let mut operands = translator.operands(words);
    let (scope, _memory, semantics) = (operands.take_id()?, operands.take_id()?, operands.take_id()?);
    let name = match (read_scope(translator, scope)?, opcode) {
        (Scope::Workgroup, Op::ControlBarrierArriveINTEL) => "intel_work_group_barrier_arrive",
        (Scope::Workgroup, Op::ControlBarrierWaitINTEL) => "intel_work_group_barrier_wait",
        (Scope::Workgroup, _) => "barrier",
        (Scope::Subgroup, Op::ControlBarrierArriveINTEL) | (Scope::Invocation, _) => return Ok(()),
        (Scope::Subgroup, _) => "sub_group_barrier",
        (scope, _) => refuse!("no barrier is for the work-items of scope {scope:?}"),
    };
    let bits = translator.constants.known_bits(semantics).unwrap_or(u64::MAX) as u32;
    let semantics = MemorySemantics::from_bits_retain(bits);
    // The flags of OpenCL C: local memory, global memory, images.
    let flags = u32::from(semantics.contains(MemorySemantics::WORKGROUP_MEMORY))
        | u32::from(semantics.contains(MemorySemantics::CROSS_WORKGROUP_MEMORY)) << 1
        | u32::from(semantics.contains(MemorySemantics::IMAGE_MEMORY)) << 2;
    let flags = [Typed::of_texts("i32", &*flags.to_string())];
    let call = translator.call_built_in(name, &[Parameter::Scalar("j")], "void", &flags)?;
    translator.emit_line(format_args!("{call}"));
    Ok(())
}

/// A `bool` as the `int` that functions of OpenCL C take.
fn widen_bool(translator: &mut Translator<'_>, id: Id) -> Attempt<Typed> {
    if translator.types.find_type(translator.type_of(id)?)?.kind != TypeKind::Bool {
        refuse!("%{id} is not of type bool");
    }
    let typed = translator.typed(id)?;
    Ok(Typed::of_texts("i32", translator.define_extra(format_args!("zext {typed} to i32"))))
}

/// Defines a `bool` as whether the `int` that a function gives is not zero.
fn define_truth(translator: &mut Translator<'_>, result: (Id, Id), call: &str) -> Attempt<()> {
    let answer = translator.define_extra(format_args!("{call}"));
    define_truth_of(translator, result, &answer)
}

/// Defines a `bool` as whether an `int` is not zero.
fn define_truth_of(translator: &mut Translator<'_>, result: (Id, Id), answer: &ValueText) -> Attempt<()> {
    if !translator.types.is_bool(result.0)? || translator.types.elements_of(result.0)?.1 != 1 {
        refuse!("its result is not of type bool");
    }
    translator.define_result(result, format_args!("icmp ne i32 {answer}, 0"))
}

/// `OpGroupAll` and `OpGroupAny`, and those for the active work-items of a sub-group.
pub(super) fn translate_vote(translator: &mut Translator<'_>, opcode: Op, words: &[u32]) -> Attempt<()> {
    let mut operands = translator.operands(words);
    let result = operands.take_result()?;
    let group = read_group(translator, operands.take_id()?)?;
    let predicate = widen_bool(translator, operands.take_id()?)?;
    let infix = if is_non_uniform(opcode) { "_non_uniform" } else { "" };
    let name = match opcode {
        Op::GroupAll | Op::GroupNonUniformAll => format!("{}{infix}_all", group.prefix()),
        _ => format!("{}{infix}_any", group.prefix()),
    };
    let call = translator.call_built_in(&name, &[Parameter::Scalar("i")], "i32", &[predicate])?;
    define_truth(translator, result, &call)
}

/// Whether an instruction is one for the active work-items of a sub-group.
fn is_non_uniform(opcode: Op) -> bool {
    (Op::GroupNonUniformElect as u32..=Op::GroupNonUniformLogicalXor as u32).contains(&(opcode as u32))
}

/// One number of a value that the work-items of a group hand to a function; truths are handed as `int`s.
struct Element {
    parameter: Parameter,
    argument: Typed,
}

/// Defines a value whose numbers a function gives for those of another value of its type, one by one: groups exchange and combine numbers.
fn define_by_element(
    translator: &mut Translator<'_>,
    result: (Id, Id),
    value: Id,
    is_signed: bool,
    mut spell_call: impl FnMut(&mut Translator<'_>, Element, &str) -> Attempt<String>,
) -> Attempt<()> {
    translator.check_type(value, result.0)?;
    let (element_type, count) = translator.types.elements_of(result.0)?;
    if count == 1 {
        let element = read_element(translator, translator.typed(value)?, element_type, is_signed)?;
        let given = element.argument.type_text.clone();
        let call = spell_call(translator, element, &given)?;
        return match translator.types.is_bool(element_type)? {
            true => define_truth(translator, result, &call),
            false => translator.define_result(result, format_args!("{call}")),
        };
    }
    let (source, text) = (translator.typed(value)?, translator.types.type_text(result.0)?);
    let element_text = translator.types.type_text(element_type)?;
    let mut vector = ValueText::from("undef");
    for index in 0..count {
        let number = translator.define_extra(format_args!("extractelement {source}, i32 {index}"));
        let number = Typed::of_texts(element_text.clone(), number);
        let element = read_element(translator, number, element_type, is_signed)?;
        let given = element.argument.type_text.clone();
        let call = spell_call(translator, element, &given)?;
        let mut answer = translator.define_extra(format_args!("{call}"));
        if translator.types.is_bool(element_type)? {
            answer = translator.define_extra(format_args!("icmp ne i32 {answer}, 0"));
        }
        let insertion = format!("insertelement {text} {vector}, {element_text} {answer}, i32 {index}");
        if index + 1 == count {
            return translator.define_result(result, format_args!("{insertion}"));
        }
        vector = translator.define_extra(format_args!("{insertion}"));
    }
    refuse!("a vector without elements")
}

fn read_element(translator: &mut Translator<'_>, number: Typed, number_type: Id, is_signed: bool) -> Attempt<Element> {
    if translator.types.is_bool(number_type)? {
        let widened = translator.define_extra(format_args!("zext {number} to i32"));
        return Ok(Element { parameter: Parameter::Scalar("i"), argument: Typed::of_texts("i32", widened) });
    }
    Ok(Element { parameter: translator.types.parameter_of(number_type, is_signed)?, argument: number })
}

/// `OpGroupBroadcast`: the value of one work-item.
pub(super) fn translate_broadcast(translator: &mut Translator<'_>, _: Op, words: &[u32]) -> Attempt<()> {
    let mut operands = translator.operands(words);
    let (value_type, id) = operands.take_result()?;
    let group = read_group(translator, operands.take_id()?)?;
    let (value, local_id) = (operands.take_id()?, operands.take_id()?);
    let mut parameters = Vec::new();
    let mut arguments = Vec::new();
    match group {
        Group::SubGroup => {
            parameters.push(Parameter::Scalar("j"));
            arguments.push(resize_integer(translator, local_id, 32)?);
        }
        Group::WorkGroup => {
            let (_, count) = translator.types.elements_of(translator.type_of(local_id)?)?;
            let ids = resize_integer(translator, local_id, 64)?;
            for dimension in 0..count {
                parameters.push(Parameter::Scalar("m"));
                arguments.push(match count {
                    1 => ids.clone(),
                    _ => Typed::of_texts(
                        "i64",
                        translator.define_extra(format_args!("extractelement {ids}, i32 {dimension}")),
                    ),
                });
            }
        }
    }
    let name = format!("{}_broadcast", group.prefix());
    call_by_element(translator, (value_type, id), value, true, (&name, &parameters, &arguments))
}

/// Defines what a function gives for each number of a value, with the same arguments behind it each time.
fn call_by_element(
    translator: &mut Translator<'_>,
    result: (Id, Id),
    value: Id,
    is_signed: bool,
    (name, parameters, arguments): (&str, &[Parameter], &[Typed]),
) -> Attempt<()> {
    define_by_element(translator, result, value, is_signed, |translator, Element { parameter, argument }, given| {
        let parameters = [&[parameter], parameters].concat();
        let arguments = [&[argument], arguments].concat();
        translator.call_built_in(name, &parameters, given, &arguments)
    })
}

/// What an instruction combines values by: the word in names, and whether integers have signs. Logical ones are for `bool`.
fn combination(opcode: Op) -> Option<(&'static str, bool)> {
    Some(match opcode {
        Op::GroupIAdd | Op::GroupFAdd | Op::GroupNonUniformIAdd | Op::GroupNonUniformFAdd => ("add", true),
        Op::GroupFMin | Op::GroupSMin | Op::GroupNonUniformFMin | Op::GroupNonUniformSMin => ("min", true),
        Op::GroupUMin | Op::GroupNonUniformUMin => ("min", false),
        Op::GroupFMax | Op::GroupSMax | Op::GroupNonUniformFMax | Op::GroupNonUniformSMax => ("max", true),
        Op::GroupUMax | Op::GroupNonUniformUMax => ("max", false),
        Op::GroupIMulKHR | Op::GroupFMulKHR | Op::GroupNonUniformIMul | Op::GroupNonUniformFMul => ("mul", true),
        Op::GroupBitwiseAndKHR | Op::GroupNonUniformBitwiseAnd => ("and", true),
        Op::GroupBitwiseOrKHR | Op::GroupNonUniformBitwiseOr => ("or", true),
        Op::GroupBitwiseXorKHR | Op::GroupNonUniformBitwiseXor => ("xor", true),
        Op::GroupLogicalAndKHR | Op::GroupNonUniformLogicalAnd => ("logical_and", true),
        Op::GroupLogicalOrKHR | Op::GroupNonUniformLogicalOr => ("logical_or", true),
        Op::GroupLogicalXorKHR | Op::GroupNonUniformLogicalXor => ("logical_xor", true),
        _ => return None,
    })
}

/// Whether an instruction combines all values of a group by what only the functions for active work-items have in OpenCL C where
/// the group is a sub-group (SPV_KHR_uniform_group_instructions). All of its work-items are active.
fn is_uniform_arithmetic(opcode: Op) -> bool {
    (Op::GroupIMulKHR as u32..=Op::GroupLogicalXorKHR as u32).contains(&(opcode as u32))
}

/// Reductions and scans: `OpGroupIAdd`, `OpGroupIMulKHR` and the like, `OpGroupNonUniformIAdd` and the like.
pub(super) fn translate_combination(translator: &mut Translator<'_>, opcode: Op, words: &[u32]) -> Attempt<()> {
    let mut operands = translator.operands(words);
    let result = operands.take_result()?;
    let group = read_group(translator, operands.take_id()?)?;
    let number = operands.take_literal()?;
    let value = operands.take_id()?;
    let Some((operation, is_signed)) = combination(opcode) else { refuse!("it combines nothing") };
    let has_infix = is_non_uniform(opcode) || (is_uniform_arithmetic(opcode) && group == Group::SubGroup);
    let infix = if has_infix { "_non_uniform" } else { "" };
    if is_non_uniform(opcode) && group == Group::WorkGroup {
        refuse!("the active work-items of a work-group do nothing together");
    }
    let prefix = group.prefix();
    let name = match GroupOperation::from_u32(number) {
        Some(GroupOperation::Reduce) => format!("{prefix}{infix}_reduce_{operation}"),
        Some(GroupOperation::InclusiveScan) => format!("{prefix}{infix}_scan_inclusive_{operation}"),
        Some(GroupOperation::ExclusiveScan) => format!("{prefix}{infix}_scan_exclusive_{operation}"),
        Some(GroupOperation::ClusteredReduce) if is_non_uniform(opcode) => {
            format!("{prefix}_clustered_reduce_{operation}")
        }
        _ => refuse!("there is no such group operation {number}"),
    };
    if translator.types.is_bool(result.0)? != operation.starts_with("logical") {
        refuse!("it does not combine values of type {}", translator.types.type_text(result.0)?);
    }
    let mut parameters = Vec::new();
    let mut arguments = Vec::new();
    if number == GroupOperation::ClusteredReduce as u32 {
        parameters.push(Parameter::Scalar("j"));
        arguments.push(resize_integer(translator, operands.take_id()?, 32)?);
    }
    call_by_element(translator, result, value, is_signed, (&name, &parameters, &arguments))
}

/// Refuses a scope other than that of sub-groups.
fn take_sub_group(translator: &Translator<'_>, operands: &mut Operands<'_>) -> Attempt<()> {
    match read_group(translator, operands.take_id()?)? {
        Group::SubGroup => Ok(()),
        Group::WorkGroup => refuse!("the active work-items of a work-group do nothing together"),
    }
}

/// `OpGroupNonUniformElect`: whether this is the first active work-item.
pub(super) fn translate_election(translator: &mut Translator<'_>, _: Op, words: &[u32]) -> Attempt<()> {
    let mut operands = translator.operands(words);
    let result = operands.take_result()?;
    take_sub_group(translator, &mut operands)?;
    let call = translator.call_built_in("sub_group_elect", &[], "i32", &[])?;
    define_truth(translator, result, &call)
}

/// `OpGroupNonUniformAllEqual`: whether all active work-items have the same value.
pub(super) fn translate_all_equal(translator: &mut Translator<'_>, _: Op, words: &[u32]) -> Attempt<()> {
    let mut operands = translator.operands(words);
    let result = operands.take_result()?;
    take_sub_group(translator, &mut operands)?;
    let value = operands.take_id()?;
    let (element_type, count) = translator.types.elements_of(translator.type_of(value)?)?;
    let source = translator.typed(value)?;
    let name = "sub_group_non_uniform_all_equal";
    if count == 1 {
        let Element { parameter, argument } = read_element(translator, source, element_type, true)?;
        let call = translator.call_built_in(name, &[parameter], "i32", &[argument])?;
        return define_truth(translator, result, &call);
    }
    let element_text = translator.types.type_text(element_type)?;
    let mut all = ValueText::from("1");
    for index in 0..count {
        let number = translator.define_extra(format_args!("extractelement {source}, i32 {index}"));
        let number = Typed::of_texts(element_text.clone(), number);
        let Element { parameter, argument } = read_element(translator, number, element_type, true)?;
        let call = translator.call_built_in(name, &[parameter], "i32", &[argument])?;
        let equal = translator.define_extra(format_args!("{call}"));
        all = translator.define_extra(format_args!("and i32 {all}, {equal}"));
    }
    define_truth_of(translator, result, &all)
}

/// The values of other work-items of a sub-group: broadcasts, shuffles, rotations.
pub(super) fn translate_exchange(translator: &mut Translator<'_>, opcode: Op, words: &[u32]) -> Attempt<()> {
    let mut operands = translator.operands(words);
    let (value_type, id) = operands.take_result()?;
    take_sub_group(translator, &mut operands)?;
    let value = operands.take_id()?;
    let (name, index) = match opcode {
        Op::GroupNonUniformBroadcast => ("sub_group_non_uniform_broadcast", Some("j")),
        Op::GroupNonUniformBroadcastFirst => ("sub_group_broadcast_first", None),
        Op::GroupNonUniformShuffle => ("sub_group_shuffle", Some("j")),
        Op::GroupNonUniformShuffleXor => ("sub_group_shuffle_xor", Some("j")),
        Op::GroupNonUniformShuffleUp => ("sub_group_shuffle_up", Some("j")),
        Op::GroupNonUniformShuffleDown => ("sub_group_shuffle_down", Some("j")),
        _ => ("sub_group_rotate", Some("i")),
    };
    let mut parameters = Vec::new();
    let mut arguments = Vec::new();
    if let Some(letter) = index {
        parameters.push(Parameter::Scalar(letter));
        arguments.push(resize_integer(translator, operands.take_id()?, 32)?);
    }
    let mut name = name.to_owned();
    if let (Op::GroupNonUniformRotateKHR, Some(cluster)) = (opcode, operands.take_optional_id()?) {
        name = "sub_group_clustered_rotate".to_owned();
        parameters.push(Parameter::Scalar("j"));
        arguments.push(resize_integer(translator, cluster, 32)?);
    }
    call_by_element(translator, (value_type, id), value, true, (&name, &parameters, &arguments))
}

/// Ballots: which work-items of a sub-group say yes, as four words of bits.
pub(super) fn translate_ballot(translator: &mut Translator<'_>, opcode: Op, words: &[u32]) -> Attempt<()> {
    let mut operands = translator.operands(words);
    let result = operands.take_result()?;
    take_sub_group(translator, &mut operands)?;
    if opcode == Op::GroupNonUniformBallot {
        let predicate = widen_bool(translator, operands.take_id()?)?;
        let text = translator.types.type_text(result.0)?;
        let call = translator.call_built_in("sub_group_ballot", &[Parameter::Scalar("i")], &text, &[predicate])?;
        return translator.define_result(result, format_args!("{call}"));
    }
    let name = match opcode {
        Op::GroupNonUniformInverseBallot => "sub_group_inverse_ballot",
        Op::GroupNonUniformBallotBitExtract => "sub_group_ballot_bit_extract",
        Op::GroupNonUniformBallotFindLSB => "sub_group_ballot_find_lsb",
        Op::GroupNonUniformBallotFindMSB => "sub_group_ballot_find_msb",
        _ => match GroupOperation::from_u32(operands.take_literal()?) {
            Some(GroupOperation::Reduce) => "sub_group_ballot_bit_count",
            Some(GroupOperation::InclusiveScan) => "sub_group_ballot_inclusive_scan",
            Some(GroupOperation::ExclusiveScan) => "sub_group_ballot_exclusive_scan",
            _ => refuse!("there is no such count of bits"),
        },
    };
    let ballot = operands.take_id()?;
    let mut parameters = vec![Parameter::Vector(4, "j")];
    let mut arguments = vec![translator.typed(ballot)?];
    if &*arguments[0].type_text != "<4 x i32>" {
        refuse!("a ballot is a vector of four integers of 32 bits");
    }
    if opcode == Op::GroupNonUniformBallotBitExtract {
        parameters.push(Parameter::Scalar("j"));
        arguments.push(resize_integer(translator, operands.take_id()?, 32)?);
    }
    let call = translator.call_built_in(name, &parameters, "i32", &arguments)?;
    match opcode {
        Op::GroupNonUniformInverseBallot | Op::GroupNonUniformBallotBitExtract => {
            define_truth(translator, result, &call)
        }
        _ if &*translator.types.type_text(result.0)? == "i32" => {
            translator.define_result(result, format_args!("{call}"))
        }
        _ => refuse!("its result is not an integer of 32 bits"),
    }
}

/// `OpGroupAsyncCopy`: elements from global to local memory or back, by all work-items of a group.
pub(super) fn translate_async_copy(translator: &mut Translator<'_>, _: Op, words: &[u32]) -> Attempt<()> {
    let mut operands = translator.operands(words);
    let result = operands.take_result()?;
    let _scope = operands.take_id()?;
    let (target, source) = (operands.take_id()?, operands.take_id()?);
    let (count, stride, event) = (operands.take_id()?, operands.take_id()?, operands.take_id()?);
    let (target_space, pointee) = translator.types.pointer_parts(translator.type_of(target)?)?;
    let (source_space, source_pointee) = translator.types.pointer_parts(translator.type_of(source)?)?;
    if translator.types.type_text(pointee)? != translator.types.type_text(source_pointee)? {
        refuse!("it copies between addresses of different types");
    }
    let element = translator.types.parameter_of(pointee, true)?;
    let event_type = Parameter::Named("ocl_event".to_owned());
    let parameters = [
        Parameter::pointer_to(target_space, element.clone()),
        Parameter::pointer_to_const(source_space, element),
        Parameter::Scalar("m"),
        Parameter::Scalar("m"),
        event_type,
    ];
    let arguments = [
        translator.typed(target)?,
        translator.typed(source)?,
        resize_integer(translator, count, 64)?,
        resize_integer(translator, stride, 64)?,
        translator.typed(event)?,
    ];
    let text = translator.types.type_text(result.0)?;
    let call = translator.call_built_in("async_work_group_strided_copy", &parameters, &text, &arguments)?;
    define_result(translator, result, &call)
}

/// `OpGroupWaitEvents`: waits for copies of the group.
pub(super) fn translate_wait(translator: &mut Translator<'_>, _: Op, words: &[u32]) -> Attempt<()> {
    let mut operands = translator.operands(words);
    let (_scope, count, events) = (operands.take_id()?, operands.take_id()?, operands.take_id()?);
    let space = translator.types.pointer_space(translator.type_of(events)?)?;
    let event = Parameter::Named("ocl_event".to_owned());
    let parameters = [Parameter::Scalar("i"), Parameter::pointer_to(space, event)];
    let arguments = [resize_integer(translator, count, 32)?, translator.typed(events)?];
    let call = translator.call_built_in("wait_group_events", &parameters, "void", &arguments)?;
    translator.emit_line(format_args!("{call}"));
    Ok(())
}
