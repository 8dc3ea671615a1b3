//! Vectors, arrays and structures: making them, taking parts, changing parts.

use spirv::Op;

use super::built_ins::read_built_in;
use super::error::{Attempt, refuse};
use super::ids::Id;
use super::translator::Translator;
use super::types::TypeKind;
use super::values::{Typed, Value, ValueText};

/// `OpCompositeConstruct`: a value of all its parts; vectors are made of numbers and smaller vectors.
pub(super) fn translate_construct(translator: &mut Translator<'_>, _: Op, words: &[u32]) -> Attempt<()> {
    let mut operands = translator.operands(words);
    let (value_type, id) = operands.take_result()?;
    let parts = operands.take_ids()?;
    if let TypeKind::Vector { element, count } = translator.types.find_type(value_type)?.kind {
        return construct_vector(translator, (value_type, id), (element, count), &parts);
    }
    let part_types: Vec<Id> = match &translator.types.find_type(value_type)?.kind {
        TypeKind::Struct { members } => members.to_vec(),
        TypeKind::Array { element, count } if *count == parts.len() as u64 => vec![*element; parts.len()],
        _ => refuse!("{} parts do not make a value of type {}", parts.len(), translator.types.type_text(value_type)?),
    };
    if part_types.len() != parts.len() {
        refuse!("{} parts do not make a value of {} members", parts.len(), part_types.len());
    }
    let text = translator.types.type_text(value_type)?;
    let mut value = ValueText::from("undef");
    for (index, (&part, &part_type)) in parts.iter().zip(&part_types).enumerate() {
        translator.check_type(part, part_type)?;
        let part = translator.typed(part)?;
        let insertion = format!("insertvalue {text} {value}, {part}, {index}");
        if index + 1 == parts.len() {
            return translator.define_result((value_type, id), format_args!("{insertion}"));
        }
        value = translator.define_extra(format_args!("{insertion}"));
    }
    translator.define_alias((value_type, id), "zeroinitializer".into())
}

fn construct_vector(
    translator: &mut Translator<'_>,
    result: (Id, Id),
    (element, count): (Id, u32),
    parts: &[Id],
) -> Attempt<()> {
    let mut elements: Vec<Typed> = Vec::with_capacity(count as usize);
    for &part in parts {
        let part_type = translator.type_of(part)?;
        let (part_element, part_count) = translator.types.elements_of(part_type)?;
        if translator.types.type_text(part_element)? != translator.types.type_text(element)? {
            refuse!("a part is of type {}", translator.types.type_text(part_type)?);
        }
        let typed = translator.typed(part)?;
        if part_count == 1 {
            elements.push(typed);
            continue;
        }
        for lane in 0..part_count {
            let value = translator.define_extra(format_args!("extractelement {typed}, i32 {lane}"));
            elements.push(Typed::of_texts(translator.types.type_text(element)?, value));
        }
    }
    if elements.len() != count as usize {
        refuse!("{} elements do not make a vector of {count}", elements.len());
    }
    let text = translator.types.type_text(result.0)?;
    insert_elements(translator, result, &text, &elements)
}

/// Defines a vector by its elements, of which there is at least one.
fn insert_elements(translator: &mut Translator<'_>, result: (Id, Id), text: &str, elements: &[Typed]) -> Attempt<()> {
    let mut vector = ValueText::from("undef");
    for (lane, element) in elements.iter().enumerate() {
        let insertion = format!("insertelement {text} {vector}, {element}, i32 {lane}");
        if lane + 1 == elements.len() {
            return translator.define_result(result, format_args!("{insertion}"));
        }
        vector = translator.define_extra(format_args!("{insertion}"));
    }
    refuse!("a vector without elements")
}

/// The way to a part of a value: the indices of structures and arrays, that of a vector's element, the part's type.
struct Path {
    outer: Vec<u32>,
    /// The type of the vector that the last index is into.
    vector: Option<Id>,
    lane: u32,
    part_type: Id,
}

fn find_part(translator: &Translator<'_>, value_type: Id, indices: &[u32]) -> Attempt<Path> {
    let mut path = Path { outer: Vec::new(), vector: None, lane: 0, part_type: value_type };
    for &index in indices {
        let known = translator.types.find_type(path.part_type)?;
        let part = match &known.kind {
            TypeKind::Struct { members } => members.get(index as usize).copied(),
            TypeKind::Array { element, count } => (u64::from(index) < *count).then_some(*element),
            TypeKind::Vector { element, count } => (index < *count).then_some(*element),
            _ => None,
        };
        let Some(part) = part else { refuse!("a value of type {} has no part {index}", known.text) };
        if matches!(known.kind, TypeKind::Vector { .. }) {
            (path.vector, path.lane) = (Some(path.part_type), index);
        } else {
            path.outer.push(index);
        }
        path.part_type = part;
    }
    Ok(path)
}

fn spell_indices(indices: &[u32]) -> String {
    indices.iter().map(|index| format!(", {index}")).collect()
}

/// `OpCompositeExtract`: a part by literal indices.
pub(super) fn translate_extract(translator: &mut Translator<'_>, _: Op, words: &[u32]) -> Attempt<()> {
    let mut operands = translator.operands(words);
    let result = operands.take_result()?;
    let composite = operands.take_id()?;
    let indices = operands.take_literals();
    let path = find_part(translator, translator.type_of(composite)?, indices)?;
    if translator.types.type_text(path.part_type)? != translator.types.type_text(result.0)? {
        refuse!("the part is of type {}", translator.types.type_text(path.part_type)?);
    }
    if let Some(&Value::BuiltInVector { local, built_in, .. }) = translator.values.find_value(composite)
        && path.vector.is_some()
    {
        translator.note_use(composite, &local)?;
        return read_built_in(translator, result, built_in, Some(path.lane));
    }
    let typed = translator.typed(composite)?;
    let outer = spell_indices(&path.outer);
    match (path.vector, path.outer.is_empty()) {
        (None, true) => translator.define_alias(result, typed.text),
        (None, false) => translator.define_result(result, format_args!("extractvalue {typed}{outer}")),
        (Some(_), true) => translator.define_result(result, format_args!("extractelement {typed}, i32 {}", path.lane)),
        (Some(vector), false) => {
            let text = translator.types.type_text(vector)?;
            let value = translator.define_extra(format_args!("extractvalue {typed}{outer}"));
            translator.define_result(result, format_args!("extractelement {text} {value}, i32 {}", path.lane))
        }
    }
}

/// `OpCompositeInsert`: a copy with another part, by literal indices.
pub(super) fn translate_insert(translator: &mut Translator<'_>, _: Op, words: &[u32]) -> Attempt<()> {
    let mut operands = translator.operands(words);
    let (value_type, id) = operands.take_result()?;
    let (object, composite) = (operands.take_id()?, operands.take_id()?);
    let indices = operands.take_literals();
    translator.check_type(composite, value_type)?;
    let path = find_part(translator, value_type, indices)?;
    translator.check_type(object, path.part_type)?;
    let (typed, object) = (translator.typed(composite)?, translator.typed(object)?);
    let outer = spell_indices(&path.outer);
    match (path.vector, path.outer.is_empty()) {
        (None, true) => translator.define_alias((value_type, id), object.text),
        (None, false) => {
            translator.define_result((value_type, id), format_args!("insertvalue {typed}, {object}{outer}"))
        }
        (Some(_), true) => translator
            .define_result((value_type, id), format_args!("insertelement {typed}, {object}, i32 {}", path.lane)),
        (Some(vector), false) => {
            let text = translator.types.type_text(vector)?;
            let old = translator.define_extra(format_args!("extractvalue {typed}{outer}"));
            let new = translator.define_extra(format_args!("insertelement {text} {old}, {object}, i32 {}", path.lane));
            translator.define_result((value_type, id), format_args!("insertvalue {typed}, {text} {new}{outer}"))
        }
    }
}

/// Most parts of a value that is copied to another type part by part.
const MAX_COPIED: usize = 4096;

/// `OpCopyLogical`: the same parts as a value of another type.
pub(super) fn translate_copy_logical(translator: &mut Translator<'_>, _: Op, words: &[u32]) -> Attempt<()> {
    let mut operands = translator.operands(words);
    let (value_type, id) = operands.take_result()?;
    let operand = operands.take_id()?;
    let (source_type, typed) = (translator.type_of(operand)?, translator.typed(operand)?);
    let mut parts_left = MAX_COPIED;
    let copied = copy_parts(translator, typed, source_type, value_type, &mut parts_left)?;
    translator.define_alias((value_type, id), copied.text)
}

/// A value with the parts of another one. Calls itself for parts of parts: types have a bounded depth.
fn copy_parts(
    translator: &mut Translator<'_>,
    value: Typed,
    source_type: Id,
    target_type: Id,
    parts_left: &mut usize,
) -> Attempt<Typed> {
    let target_text = translator.types.type_text(target_type)?;
    if value.type_text == target_text {
        return Ok(value);
    }
    let kinds = (&translator.types.find_type(source_type)?.kind, &translator.types.find_type(target_type)?.kind);
    let pairs: Vec<(Id, Id)> = match kinds {
        (TypeKind::Struct { members: from }, TypeKind::Struct { members: to }) if from.len() == to.len() => {
            from.iter().copied().zip(to.iter().copied()).collect()
        }
        (TypeKind::Array { element: from, count }, TypeKind::Array { element: to, count: wanted })
            if count == wanted && *count <= MAX_COPIED as u64 =>
        {
            vec![(*from, *to); *count as usize]
        }
        _ => refuse!("a value of type {} has not the parts of one of type {target_text}", value.type_text),
    };
    *parts_left = match parts_left.checked_sub(pairs.len()) {
        Some(left) => left,
        None => refuse!("it copies more than {MAX_COPIED} parts"),
    };
    let mut copied = Typed::of_texts(target_text.clone(), "undef");
    for (index, (from, to)) in pairs.into_iter().enumerate() {
        let text = translator.define_extra(format_args!("extractvalue {value}, {index}"));
        let part = Typed::of_texts(translator.types.type_text(from)?, text);
        let part = copy_parts(translator, part, from, to, parts_left)?;
        let text = translator.define_extra(format_args!("insertvalue {copied}, {part}, {index}"));
        copied = Typed::of_texts(target_text.clone(), text);
    }
    Ok(copied)
}

/// `OpCopyObject`: the same value under another id.
pub(super) fn translate_copy_object(translator: &mut Translator<'_>, _: Op, words: &[u32]) -> Attempt<()> {
    let mut operands = translator.operands(words);
    let (value_type, id) = operands.take_result()?;
    let operand = operands.take_id()?;
    translator.check_type(operand, value_type)?;
    let typed = translator.typed(operand)?;
    translator.define_alias((value_type, id), typed.text)
}

/// `OpVectorExtractDynamic`: an element by a computed index.
pub(super) fn translate_extract_dynamic(translator: &mut Translator<'_>, _: Op, words: &[u32]) -> Attempt<()> {
    let mut operands = translator.operands(words);
    let result = operands.take_result()?;
    let (vector, index) = (operands.take_id()?, operands.take_id()?);
    translator.types.int_width(translator.type_of(index)?)?;
    check_element(translator, vector, result.0)?;
    let (vector, index) = (translator.typed(vector)?, translator.typed(index)?);
    translator.define_result(result, format_args!("extractelement {vector}, {index}"))
}

/// Refuses what is no vector of elements of a type.
fn check_element(translator: &Translator<'_>, vector: Id, wanted: Id) -> Attempt<()> {
    let TypeKind::Vector { element, .. } = translator.types.find_type(translator.type_of(vector)?)?.kind else {
        refuse!("%{vector} is not a vector");
    };
    if translator.types.type_text(element)? != translator.types.type_text(wanted)? {
        refuse!("the vector's elements are of type {}", translator.types.type_text(element)?);
    }
    Ok(())
}

/// `OpVectorInsertDynamic`: a copy with another element, by a computed index.
pub(super) fn translate_insert_dynamic(translator: &mut Translator<'_>, _: Op, words: &[u32]) -> Attempt<()> {
    let mut operands = translator.operands(words);
    let (value_type, id) = operands.take_result()?;
    let (vector, element, index) = (operands.take_id()?, operands.take_id()?, operands.take_id()?);
    translator.check_type(vector, value_type)?;
    translator.types.int_width(translator.type_of(index)?)?;
    check_element(translator, vector, translator.type_of(element)?)?;
    let (vector, element, index) = (translator.typed(vector)?, translator.typed(element)?, translator.typed(index)?);
    translator.define_result((value_type, id), format_args!("insertelement {vector}, {element}, {index}"))
}

/// `OpVectorShuffle`: elements of two vectors, which may have different counts.
pub(super) fn translate_shuffle(translator: &mut Translator<'_>, _: Op, words: &[u32]) -> Attempt<()> {
    let mut operands = translator.operands(words);
    let (value_type, id) = operands.take_result()?;
    let (first, second) = (operands.take_id()?, operands.take_id()?);
    let indices = operands.take_literals();
    let TypeKind::Vector { element, count } = translator.types.find_type(value_type)?.kind else {
        refuse!("its result is not a vector");
    };
    check_element(translator, first, element)?;
    check_element(translator, second, element)?;
    let first_count = translator.types.elements_of(translator.type_of(first)?)?.1;
    let second_count = translator.types.elements_of(translator.type_of(second)?)?.1;
    if indices.len() != count as usize {
        refuse!("{} indices do not make a vector of {count}", indices.len());
    }
    let out_of_range = |index: &&u32| **index != u32::MAX && **index >= first_count + second_count;
    if let Some(index) = indices.iter().find(out_of_range) {
        refuse!("there is no element {index} of {}", first_count + second_count);
    }
    let (first, second) = (translator.typed(first)?, translator.typed(second)?);
    if first_count == second_count {
        let lanes: Vec<String> = indices.iter().map(|&index| spell_lane(index)).collect();
        let mask = format!("<{count} x i32> <{}>", lanes.join(", "));
        return translator.define_result((value_type, id), format_args!("shufflevector {first}, {second}, {mask}"));
    }
    let element_text = translator.types.type_text(element)?;
    let mut elements = Vec::with_capacity(indices.len());
    for &index in indices {
        let value = match index {
            u32::MAX => "undef".into(),
            index if index < first_count => {
                translator.define_extra(format_args!("extractelement {first}, i32 {index}"))
            }
            index => translator.define_extra(format_args!("extractelement {second}, i32 {}", index - first_count)),
        };
        elements.push(Typed::of_texts(element_text.clone(), value));
    }
    let text = translator.types.type_text(value_type)?;
    insert_elements(translator, (value_type, id), &text, &elements)
}

fn spell_lane(index: u32) -> String {
    if index == u32::MAX { "i32 undef".to_owned() } else { format!("i32 {index}") }
}
