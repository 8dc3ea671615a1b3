//! Dot products of integers: functions of OpenCL C for four bytes each, as vectors or packed into an integer; sums of products for
//! all others.

use spirv::Op;

use super::error::{Attempt, refuse};
use super::ids::Id;
use super::mangle::Parameter;
use super::translator::Translator;
use super::types::TypeKind;
use super::values::Typed;

/// Which of the two vectors have signs, and whether a third operand is added with saturation.
#[derive(Clone, Copy)]
struct DotKind {
    signs: [bool; 2],
    accumulates: bool,
}

fn kind_of(opcode: Op) -> DotKind {
    let signs = match opcode {
        Op::SDot | Op::SDotAccSat => [true, true],
        Op::SUDot | Op::SUDotAccSat => [true, false],
        _ => [false, false],
    };
    DotKind { signs, accumulates: matches!(opcode, Op::SDotAccSat | Op::UDotAccSat | Op::SUDotAccSat) }
}

/// `OpSDot` and the like.
pub(super) fn translate_integer_dot(translator: &mut Translator<'_>, opcode: Op, words: &[u32]) -> Attempt<()> {
    let mut operands = translator.operands(words);
    let result = operands.take_result()?;
    let vectors = [operands.take_id()?, operands.take_id()?];
    let kind = kind_of(opcode);
    let accumulator = if kind.accumulates { Some(operands.take_id()?) } else { None };
    let vector_type = translator.type_of(vectors[0])?;
    translator.check_type(vectors[1], vector_type)?;
    if let Some(accumulator) = accumulator {
        translator.check_type(accumulator, result.0)?;
    }
    let products = match translator.types.find_type(vector_type)?.kind {
        TypeKind::Int(32) => extend_packed(translator, vectors, kind, result.0)?,
        TypeKind::Vector { .. } => extend_vectors(translator, vectors, kind, result.0)?,
        _ => refuse!("it is a product of vectors, or of bytes in an integer of 32 bits"),
    };
    sum_products(translator, result, products, kind, accumulator)
}

/// The elements of both vectors in the result's width, multiplied.
struct Products {
    text: String,
    count: u32,
}

fn extend_vectors(
    translator: &mut Translator<'_>,
    vectors: [Id; 2],
    kind: DotKind,
    result_type: Id,
) -> Attempt<Products> {
    let (_, count) = translator.types.elements_of(translator.type_of(vectors[0])?)?;
    let values = [translator.typed(vectors[0])?, translator.typed(vectors[1])?];
    multiply_extended(
        translator,
        values,
        count,
        translator.types.int_width(translator.type_of(vectors[0])?)?,
        kind,
        result_type,
    )
}

fn extend_packed(
    translator: &mut Translator<'_>,
    vectors: [Id; 2],
    kind: DotKind,
    result_type: Id,
) -> Attempt<Products> {
    let mut bytes = Vec::with_capacity(2);
    for vector in vectors {
        let packed = translator.typed(vector)?;
        let unpacked = translator.define_extra(format_args!("bitcast {packed} to <4 x i8>"));
        bytes.push(Typed::of_texts("<4 x i8>", unpacked));
    }
    let [Some(second), Some(first)] = [bytes.pop(), bytes.pop()] else { refuse!("it has two vectors") };
    multiply_extended(translator, [first, second], 4, 8, kind, result_type)
}

fn multiply_extended(
    translator: &mut Translator<'_>,
    values: [Typed; 2],
    count: u32,
    element_width: u32,
    kind: DotKind,
    result_type: Id,
) -> Attempt<Products> {
    let width = translator.types.int_width(result_type)?;
    if translator.types.elements_of(result_type)?.1 != 1 || width < element_width {
        refuse!("its result is not one integer that is as wide as the elements");
    }
    let wide = format!("<{count} x i{width}>");
    let mut extended = Vec::with_capacity(2);
    for (value, is_signed) in values.iter().zip(kind.signs) {
        let instruction = match (width == element_width, is_signed) {
            (true, _) => "bitcast",
            (false, true) => "sext",
            (false, false) => "zext",
        };
        extended.push(translator.define_extra(format_args!("{instruction} {value} to {wide}")));
    }
    let text = translator.define_extra(format_args!("mul {wide} {}, {}", extended[0], extended[1]));
    Ok(Products { text: format!("{wide} {text}"), count })
}

/// The sum of the products, which wraps, and of the accumulator, which saturates.
fn sum_products(
    translator: &mut Translator<'_>,
    result: (Id, Id),
    products: Products,
    kind: DotKind,
    accumulator: Option<Id>,
) -> Attempt<()> {
    let text = translator.types.type_text(result.0)?;
    let mut sum = translator.define_extra(format_args!("extractelement {}, i32 0", products.text));
    for lane in 1..products.count {
        let product = translator.define_extra(format_args!("extractelement {}, i32 {lane}", products.text));
        sum = translator.define_extra(format_args!("add {text} {sum}, {product}"));
    }
    match accumulator {
        None => translator.define_result(result, format_args!("add {text} {sum}, 0")),
        Some(accumulator) => {
            let is_signed = kind.signs[0];
            let parameter = translator.types.parameter_of(result.0, is_signed)?;
            let parameters: [Parameter; 2] = [parameter.clone(), parameter];
            let arguments = [Typed::of_texts(text.clone(), sum), translator.typed(accumulator)?];
            let call = translator.call_built_in("add_sat", &parameters, &text, &arguments)?;
            translator.define_result(result, format_args!("{call}"))
        }
    }
}
