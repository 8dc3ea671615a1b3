//! Images and samplers: functions of OpenCL C.
//!
//! An image that is to be sampled and its sampler make one value in SPIR-V, which exists only until it is used.

use spirv::{ImageOperands, Op};

use super::error::{Attempt, refuse};
use super::ids::Id;
use super::mangle::Parameter;
use super::operands::Operands;
use super::translator::Translator;
use super::types::{ImageDim, ImageType, TypeKind};
use super::values::{Typed, Value};

/// `OpSampledImage`: an image and the sampler to read it by.
pub(super) fn translate_pairing(translator: &mut Translator<'_>, _: Op, words: &[u32]) -> Attempt<()> {
    let mut operands = translator.operands(words);
    let (value_type, id) = operands.take_result()?;
    let (image, sampler) = (operands.take_id()?, operands.take_id()?);
    translator.types.image_of(translator.type_of(image)?)?;
    if translator.types.find_type(translator.type_of(sampler)?)?.kind != TypeKind::Sampler {
        refuse!("%{sampler} is not a sampler");
    }
    translator.set_value(id, Value::SampledImage { value_type, image, sampler })
}

/// `OpImage`: the image of a pair.
pub(super) fn translate_unpairing(translator: &mut Translator<'_>, _: Op, words: &[u32]) -> Attempt<()> {
    let mut operands = translator.operands(words);
    let result = operands.take_result()?;
    let pair = operands.take_id()?;
    let Some(&Value::SampledImage { image, .. }) = translator.values.find_value(pair) else {
        refuse!("%{pair} is not an image with a sampler");
    };
    translator.check_type(image, result.0)?;
    let typed = translator.typed(image)?;
    translator.define_alias(result, typed.text)
}

pub(super) fn image_parameter(image: ImageType) -> Parameter {
    Parameter::Named(format!("ocl_{}_{}", image.name, image.access))
}

/// What is read or written, by the ending of the functions' names. Unless the operands say that integers have no sign, the image
/// tells: the functions of signed ones go by it.
fn texel_ending(translator: &Translator<'_>, texel: Id, image_operands: ImageOperands) -> Attempt<&'static str> {
    let (element, count) = translator.types.elements_of(texel)?;
    Ok(match translator.types.find_type(element)?.kind {
        TypeKind::Float(32) => "f",
        TypeKind::Float(16) => "h",
        TypeKind::Int(32) if image_operands.contains(ImageOperands::ZERO_EXTEND) => "ui",
        TypeKind::Int(32) => "i",
        _ => refuse!("no image has elements of {count} times {}", translator.types.type_text(element)?),
    })
}

fn read_image_operands(operands: &mut Operands<'_>) -> Attempt<ImageOperands> {
    let mask = ImageOperands::from_bits_retain(operands.take_optional_literal().unwrap_or(0));
    let known =
        ImageOperands::LOD | ImageOperands::SIGN_EXTEND | ImageOperands::ZERO_EXTEND | ImageOperands::NONTEMPORAL;
    if !known.contains(mask) {
        refuse!("image operands {:#x} are not supported", mask.bits());
    }
    Ok(mask)
}

/// `OpImageSampleExplicitLod` and `OpImageRead`: an element, or what a sampler makes of those around.
pub(super) fn translate_read(translator: &mut Translator<'_>, opcode: Op, words: &[u32]) -> Attempt<()> {
    let mut operands = translator.operands(words);
    let result = operands.take_result()?;
    let (source, coordinate) = (operands.take_id()?, operands.take_id()?);
    // An image has one level, so which one is asked for does not matter.
    let image_operands = read_image_operands(&mut operands)?;
    let (image, sampler) = match translator.values.find_value(source) {
        Some(&Value::SampledImage { image, sampler, .. }) if opcode == Op::ImageSampleExplicitLod => {
            (image, Some(sampler))
        }
        _ if opcode == Op::ImageRead => (source, None),
        _ => refuse!("%{source} is not an image with a sampler"),
    };
    let image_type = translator.types.image_of(translator.type_of(image)?)?;
    let name = format!("read_image{}", texel_ending(translator, result.0, image_operands)?);
    let mut parameters = vec![image_parameter(image_type)];
    let mut arguments = vec![translator.typed(image)?];
    if let Some(sampler) = sampler {
        parameters.push(Parameter::Named("ocl_sampler".to_owned()));
        arguments.push(translator.typed(sampler)?);
    }
    let (coordinate, parameter) = spell_coordinate(translator, coordinate, image_type)?;
    parameters.push(parameter);
    arguments.push(coordinate);
    read_texel(translator, result, image_type, &name, &parameters, &arguments)
}

/// Defines what a read gives: four components. Of a depth image the function gives only the first; the others are those of a format
/// with one component.
fn read_texel(
    translator: &mut Translator<'_>,
    result: (Id, Id),
    image: ImageType,
    name: &str,
    parameters: &[Parameter],
    arguments: &[Typed],
) -> Attempt<()> {
    let text = translator.types.type_text(result.0)?;
    let (element, count) = translator.types.elements_of(result.0)?;
    let element_text = translator.types.type_text(element)?;
    match (image.name.ends_with("depth"), count) {
        (false, 4) => {
            let call = translator.call_built_in(name, parameters, &text, arguments)?;
            translator.define_result(result, format_args!("{call}"))
        }
        (true, 1) => {
            let call = translator.call_built_in(name, parameters, &text, arguments)?;
            translator.define_result(result, format_args!("{call}"))
        }
        (true, 4) => {
            let call = translator.call_built_in(name, parameters, &element_text, arguments)?;
            let depth = translator.define_extra(format_args!("{call}"));
            let rest = format!("{text} <float 0.0, float 0.0, float 0.0, float 1.0>");
            translator.define_result(result, format_args!("insertelement {rest}, {element_text} {depth}, i32 0"))
        }
        _ => refuse!("an element of an image has four components, not {count}"),
    }
}

/// The coordinates that an image's elements have, with that of the layer.
fn coordinate_count(image: ImageType) -> u32 {
    match (image.dim, image.is_array) {
        (ImageDim::One, false) => 1,
        (ImageDim::One, true) | (ImageDim::Two, false) => 2,
        // Functions of OpenCL C take four where three are needed.
        (ImageDim::Two, true) | (ImageDim::Three, _) => 4,
    }
}

/// Coordinates as the functions of OpenCL C take them.
fn spell_coordinate(translator: &mut Translator<'_>, coordinate: Id, image: ImageType) -> Attempt<(Typed, Parameter)> {
    let value_type = translator.type_of(coordinate)?;
    let (element, count) = translator.types.elements_of(value_type)?;
    let letter = match translator.types.find_type(element)?.kind {
        TypeKind::Float(32) => "f",
        TypeKind::Int(32) => "i",
        _ => refuse!("coordinates are of type int or float"),
    };
    let wanted = coordinate_count(image);
    let typed = translator.typed(coordinate)?;
    let parameter = if wanted == 1 { Parameter::Scalar(letter) } else { Parameter::Vector(wanted, letter) };
    if count == wanted {
        return Ok((typed, parameter));
    }
    if count < wanted && !(count == 3 && wanted == 4) {
        refuse!("{count} coordinates are too few for {}", image.name);
    }
    let element_text = translator.types.type_text(element)?;
    if wanted == 1 {
        let first = translator.define_extra(format_args!("extractelement {typed}, i32 0"));
        return Ok((Typed::of_texts(element_text, first), parameter));
    }
    let lanes: Vec<String> = (0..wanted).map(|lane| format!("i32 {}", lane.min(count - 1))).collect();
    let mask = format!("<{wanted} x i32> <{}>", lanes.join(", "));
    let chosen = translator.define_extra(format_args!("shufflevector {typed}, {} undef, {mask}", typed.type_text));
    Ok((Typed::of_texts(format!("<{wanted} x {element_text}>"), chosen), parameter))
}

/// `OpImageWrite`: writes one texel.
pub(super) fn translate_write(translator: &mut Translator<'_>, _: Op, words: &[u32]) -> Attempt<()> {
    let mut operands = translator.operands(words);
    let (image, coordinate, texel) = (operands.take_id()?, operands.take_id()?, operands.take_id()?);
    let image_operands = read_image_operands(&mut operands)?;
    let image_type = translator.types.image_of(translator.type_of(image)?)?;
    let texel_type = translator.type_of(texel)?;
    let name = format!("write_image{}", texel_ending(translator, texel_type, image_operands)?);
    let (coordinate, coordinate_parameter) = spell_coordinate(translator, coordinate, image_type)?;
    let (mut texel, mut texel_parameter) = (translator.typed(texel)?, translator.types.parameter_of(texel_type, true)?);
    if name.ends_with("ui") {
        texel_parameter = translator.types.parameter_of(texel_type, false)?;
    }
    if image_type.name.ends_with("depth") && translator.types.elements_of(texel_type)?.1 > 1 {
        let first = translator.define_extra(format_args!("extractelement {texel}, i32 0"));
        (texel, texel_parameter) = (Typed::of_texts("float", first), Parameter::Scalar("f"));
    }
    let parameters = [image_parameter(image_type), coordinate_parameter, texel_parameter];
    let arguments = [translator.typed(image)?, coordinate, texel];
    let call = translator.call_built_in(&name, &parameters, "void", &arguments)?;
    translator.emit_line(format_args!("{call}"));
    Ok(())
}

/// `OpImageQuerySize` and `OpImageQuerySizeLod`: width, height, depth and layers, as many as the image has.
pub(super) fn translate_size(translator: &mut Translator<'_>, _: Op, words: &[u32]) -> Attempt<()> {
    let mut operands = translator.operands(words);
    let result = operands.take_result()?;
    let image = operands.take_id()?;
    let image_type = translator.types.image_of(translator.type_of(image)?)?;
    let mut names = match image_type.dim {
        ImageDim::One => vec!["get_image_width"],
        ImageDim::Two => vec!["get_image_width", "get_image_height"],
        ImageDim::Three => vec!["get_image_width", "get_image_height", "get_image_depth"],
    };
    if image_type.is_array {
        names.push("get_image_array_size");
    }
    let (element, count) = translator.types.elements_of(result.0)?;
    let width = translator.types.int_width(result.0)?;
    // LLVM's back end asks for four where there are three.
    if count as usize != names.len() && !(count == 4 && names.len() == 3) {
        refuse!("{} has {} sizes, not {count}", image_type.name, names.len());
    }
    let text = translator.types.type_text(result.0)?;
    let element_text = translator.types.type_text(element)?;
    let mut vector = format!("{text} zeroinitializer");
    for (lane, name) in names.iter().enumerate() {
        let (own_width, own) = if *name == "get_image_array_size" { (64, "i64") } else { (32, "i32") };
        let argument = translator.typed(image)?;
        let call = translator.call_built_in(name, &[image_parameter(image_type)], own, &[argument])?;
        let mut size = translator.define_extra(format_args!("{call}"));
        if own_width != width {
            let conversion = if own_width < width { "zext" } else { "trunc" };
            size = translator.define_extra(format_args!("{conversion} {own} {size} to {element_text}"));
        }
        if count == 1 {
            return translator.define_result(result, format_args!("add {element_text} {size}, 0"));
        }
        let insertion = format!("insertelement {vector}, {element_text} {size}, i32 {lane}");
        if lane + 1 == names.len() {
            return translator.define_result(result, format_args!("{insertion}"));
        }
        vector = format!("{text} {}", translator.define_extra(format_args!("{insertion}")));
    }
    Ok(())
}

/// `OpImageQueryFormat` and `OpImageQueryOrder`: SPIR-V numbers types and orders from zero, OpenCL from where its enums begin.
pub(super) fn translate_format(translator: &mut Translator<'_>, opcode: Op, words: &[u32]) -> Attempt<()> {
    let mut operands = translator.operands(words);
    let result = operands.take_result()?;
    let image = operands.take_id()?;
    let image_type = translator.types.image_of(translator.type_of(image)?)?;
    let (name, first) = match opcode {
        Op::ImageQueryFormat => ("get_image_channel_data_type", 0x10d0),
        _ => ("get_image_channel_order", 0x10b0),
    };
    if translator.types.int_width(result.0)? != 32 {
        refuse!("its result is not an integer of 32 bits");
    }
    let argument = translator.typed(image)?;
    let call = translator.call_built_in(name, &[image_parameter(image_type)], "i32", &[argument])?;
    let number = translator.define_extra(format_args!("{call}"));
    translator.define_result(result, format_args!("sub i32 {number}, {first}"))
}
