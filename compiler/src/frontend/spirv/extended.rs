//! The instructions of `OpenCL.std`: each is a function of OpenCL C.

use spirv::{FPRoundingMode, Op, OpenclStd100Op};

use super::convert::resize_integer;
use super::declarations::InstructionSet;
use super::error::{Attempt, Fault, refuse};
use super::functions::{check_in_block, define_result};
use super::ids::Id;
use super::mangle::Parameter;
use super::operands::Operands;
use super::translator::{Translator, join_typed};
use super::types::TypeKind;
use super::values::Typed;

/// How the name of a function and the types in it follow from an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// The function is called so, its operands are numbers; integers are signed or not.
    Numbers(&'static str, Signs),
    /// The last operand is an address of a value like the first.
    ResultAtAddress(&'static str),
    /// The last operand is an address of an `int`, or of as many as the result has elements.
    IntAtAddress(&'static str),
    /// A vector is read from an array of its elements.
    VectorLoad,
    /// A vector is written to an array of its elements.
    VectorStore,
    /// One or more `half`s are read.
    HalfLoad(&'static str),
    /// One or more `half`s are written.
    HalfStore(&'static str),
    /// Elements are chosen by a mask.
    Shuffle(&'static str),
    Printf,
    Prefetch,
}

/// Which integers of an instruction have signs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Signs {
    All,
    None,
    /// All but the last: the low half of `upsample`.
    AllButLast,
}

/// The function of an instruction.
pub(super) fn form_of(operation: OpenclStd100Op) -> Form {
    use OpenclStd100Op as Cl;
    match operation {
        Cl::fract | Cl::modf | Cl::sincos => Form::ResultAtAddress(plain_name(operation)),
        Cl::frexp | Cl::lgamma_r | Cl::remquo => Form::IntAtAddress(plain_name(operation)),
        Cl::vloadn => Form::VectorLoad,
        Cl::vstoren => Form::VectorStore,
        Cl::vload_half | Cl::vload_halfn => Form::HalfLoad("vload_half"),
        Cl::vloada_halfn => Form::HalfLoad("vloada_half"),
        Cl::vstore_half | Cl::vstore_half_r | Cl::vstore_halfn | Cl::vstore_halfn_r => Form::HalfStore("vstore_half"),
        Cl::vstorea_halfn | Cl::vstorea_halfn_r => Form::HalfStore("vstorea_half"),
        Cl::shuffle => Form::Shuffle("shuffle"),
        Cl::shuffle2 => Form::Shuffle("shuffle2"),
        Cl::printf => Form::Printf,
        Cl::prefetch => Form::Prefetch,
        Cl::nan => Form::Numbers("nan", Signs::None),
        Cl::s_upsample => Form::Numbers("upsample", Signs::AllButLast),
        Cl::fclamp => Form::Numbers("clamp", Signs::All),
        Cl::fmax_common => Form::Numbers("max", Signs::All),
        Cl::fmin_common => Form::Numbers("min", Signs::All),
        other => {
            let name = plain_name(other);
            match (name.strip_prefix("s_"), name.strip_prefix("u_")) {
                (Some(name), _) => Form::Numbers(name, Signs::All),
                (_, Some(name)) => Form::Numbers(name, Signs::None),
                _ => Form::Numbers(name, Signs::All),
            }
        }
    }
}

/// `OpExtInst`: an instruction of a set that the module imports. One with references to what follows (`SPV_KHR_relaxed_extended_instruction`)
/// is for sets without meaning.
pub(super) fn translate_instruction(translator: &mut Translator<'_>, opcode: Op, words: &[u32]) -> Attempt<()> {
    let mut operands = translator.operands(words);
    let result = operands.take_result()?;
    let set = operands.take_id()?;
    match translator.declarations.sets.get(&set) {
        Some(InstructionSet::OpenCl) if opcode == Op::ExtInst => {}
        Some(InstructionSet::OpenCl) => refuse!("a function is called with what is computed later"),
        Some(InstructionSet::Debug(_) | InstructionSet::WithoutMeaning) => return Ok(()),
        None => refuse!("%{set} is not a set of instructions"),
    }
    check_in_block(translator)?;
    let number = operands.take_literal()?;
    let Some(operation) = OpenclStd100Op::from_u32(number) else {
        refuse!("OpenCL.std has no instruction {number}");
    };
    let translated = translate_operation(translator, result, operation, operands);
    translated.map_err(|fault| Fault::new(format!("{}: {}", plain_name(operation), fault.sentence)))
}

fn translate_operation(
    translator: &mut Translator<'_>,
    result: (Id, Id),
    operation: OpenclStd100Op,
    operands: Operands<'_>,
) -> Attempt<()> {
    match form_of(operation) {
        Form::Numbers(name, signs) => call_with_numbers(translator, result, name, signs, operands),
        Form::ResultAtAddress(name) => call_with_address(translator, result, name, false, operands),
        Form::IntAtAddress(name) => call_with_address(translator, result, name, true, operands),
        Form::VectorLoad => load_vector(translator, result, operands),
        Form::VectorStore => store_vector(translator, operands),
        Form::HalfLoad(name) => load_half(translator, result, name, operands),
        Form::HalfStore(name) => store_half(translator, name, operation, operands),
        Form::Shuffle(name) => shuffle_elements(translator, result, name, operands),
        Form::Printf => print_formatted(translator, result, operands),
        Form::Prefetch => prefetch_elements(translator, operands),
    }
}

fn call_with_numbers(
    translator: &mut Translator<'_>,
    result: (Id, Id),
    name: &str,
    signs: Signs,
    mut operands: Operands<'_>,
) -> Attempt<()> {
    let values = operands.take_ids()?;
    let mut parameters = Vec::with_capacity(values.len());
    let mut arguments = Vec::with_capacity(values.len());
    for (index, &value) in values.iter().enumerate() {
        let is_signed = match signs {
            Signs::All => true,
            Signs::None => false,
            Signs::AllButLast => index + 1 < values.len(),
        };
        parameters.push(translator.types.parameter_of(translator.type_of(value)?, is_signed)?);
        arguments.push(translator.typed(value)?);
    }
    let text = translator.types.type_text(result.0)?;
    check_result(translator, result.0, name, &arguments)?;
    let call = translator.call_built_in(name, &parameters, &text, &arguments)?;
    translator.define_result(result, format_args!("{call}"))
}

/// Refuses a result that is not what the function gives: for most one of the first operand's type.
fn check_result(translator: &Translator<'_>, result: Id, name: &str, arguments: &[Typed]) -> Attempt<()> {
    let Some(first) = arguments.first() else { refuse!("it has too few operands") };
    let types = &translator.types;
    let text = types.type_text(result)?;
    let is_right = match name {
        "ilogb" => types.int_width(result)? == 32,
        "nan" => types.is_float(result)?,
        "upsample" => types.int_width(result).is_ok(),
        "distance" | "length" | "fast_distance" | "fast_length" => first.type_text.contains(&*text),
        // The step's edges may be single numbers.
        "step" | "smoothstep" => arguments.last().is_some_and(|last| last.type_text == text),
        _ => first.type_text == text,
    };
    if !is_right {
        refuse!("its result is of type {text}");
    }
    Ok(())
}

/// The name of an instruction in `OpenCL.std`.
fn plain_name(operation: OpenclStd100Op) -> &'static str {
    NAMES.iter().find(|(known, _)| *known == operation).map_or("?", |(_, name)| name)
}

macro_rules! name_operations {
    ($($name:ident)*) => {
        /// Every instruction of `OpenCL.std` with its name.
        pub(super) const NAMES: &[(OpenclStd100Op, &str)] = &[$((OpenclStd100Op::$name, stringify!($name))),*];
    };
}

name_operations! {
    acos acosh acospi asin asinh asinpi atan atan2 atanh atanpi atan2pi cbrt ceil copysign cos cosh cospi erfc erf exp exp2 exp10
    expm1 fabs fdim floor fma fmax fmin fmod fract frexp hypot ilogb ldexp lgamma lgamma_r log log2 log10 log1p logb mad maxmag minmag
    modf nan nextafter pow pown powr remainder remquo rint rootn round rsqrt sin sincos sinh sinpi sqrt tan tanh tanpi tgamma trunc
    half_cos half_divide half_exp half_exp2 half_exp10 half_log half_log2 half_log10 half_powr half_recip half_rsqrt half_sin
    half_sqrt half_tan native_cos native_divide native_exp native_exp2 native_exp10 native_log native_log2 native_log10
    native_powr native_recip native_rsqrt native_sin native_sqrt native_tan fclamp degrees fmax_common fmin_common mix radians step
    smoothstep sign cross distance length normalize fast_distance fast_length fast_normalize s_abs s_abs_diff s_add_sat u_add_sat
    s_hadd u_hadd s_rhadd u_rhadd s_clamp u_clamp clz ctz s_mad_hi u_mad_sat s_mad_sat s_max u_max s_min u_min s_mul_hi rotate
    s_sub_sat u_sub_sat u_upsample s_upsample popcount s_mad24 u_mad24 s_mul24 u_mul24 vloadn vstoren vload_half vload_halfn
    vstore_half vstore_half_r vstore_halfn vstore_halfn_r vloada_halfn vstorea_halfn vstorea_halfn_r shuffle shuffle2 printf
    prefetch bitselect select u_abs u_abs_diff u_mul_hi u_mad_hi
}

/// `fract` and the like, whose last operand is where a second result goes.
fn call_with_address(
    translator: &mut Translator<'_>,
    result: (Id, Id),
    name: &str,
    is_int: bool,
    mut operands: Operands<'_>,
) -> Attempt<()> {
    let values = operands.take_ids()?;
    let Some((&address, numbers)) = values.split_last() else { refuse!("it has too few operands") };
    let value = translator.types.parameter_of(result.0, true)?;
    let mut parameters = Vec::with_capacity(values.len());
    let mut arguments = Vec::with_capacity(values.len());
    for &number in numbers {
        translator.check_type(number, result.0)?;
        parameters.push(value.clone());
        arguments.push(translator.typed(number)?);
    }
    let space = translator.types.pointer_space(translator.type_of(address)?)?;
    let pointee = match (&value, is_int) {
        (_, false) => value,
        (Parameter::Vector(count, _), true) => Parameter::Vector(*count, "i"),
        (_, true) => Parameter::Scalar("i"),
    };
    parameters.push(Parameter::pointer_to(space, pointee));
    arguments.push(translator.typed(address)?);
    let text = translator.types.type_text(result.0)?;
    let call = translator.call_built_in(name, &parameters, &text, &arguments)?;
    translator.define_result(result, format_args!("{call}"))
}

/// An offset in elements, as a `size_t`.
fn offset_argument(translator: &mut Translator<'_>, offset: Id) -> Attempt<Typed> {
    translator.types.int_width(translator.type_of(offset)?)?;
    resize_integer(translator, offset, 64)
}

fn load_vector(translator: &mut Translator<'_>, result: (Id, Id), mut operands: Operands<'_>) -> Attempt<()> {
    let (offset, address) = (operands.take_id()?, operands.take_id()?);
    let (element, count) = translator.types.elements_of(result.0)?;
    let space = translator.types.pointer_space(translator.type_of(address)?)?;
    let element = translator.types.parameter_of(element, true)?;
    let parameters = [Parameter::Scalar("m"), Parameter::pointer_to_const(space, element)];
    let arguments = [offset_argument(translator, offset)?, translator.typed(address)?];
    let text = translator.types.type_text(result.0)?;
    let call = translator.call_built_in(&format!("vload{count}"), &parameters, &text, &arguments)?;
    translator.define_result(result, format_args!("{call}"))
}

fn store_vector(translator: &mut Translator<'_>, mut operands: Operands<'_>) -> Attempt<()> {
    let (value, offset, address) = (operands.take_id()?, operands.take_id()?, operands.take_id()?);
    let value_type = translator.type_of(value)?;
    let (element, count) = translator.types.elements_of(value_type)?;
    let space = translator.types.pointer_space(translator.type_of(address)?)?;
    let parameters = [
        translator.types.parameter_of(value_type, true)?,
        Parameter::Scalar("m"),
        Parameter::pointer_to(space, translator.types.parameter_of(element, true)?),
    ];
    let arguments = [translator.typed(value)?, offset_argument(translator, offset)?, translator.typed(address)?];
    let call = translator.call_built_in(&format!("vstore{count}"), &parameters, "void", &arguments)?;
    translator.emit_line(format_args!("{call}"));
    Ok(())
}

/// What the names of functions on `half`s in memory have for a count.
fn spell_count(count: u32) -> String {
    if count == 1 { String::new() } else { count.to_string() }
}

fn load_half(translator: &mut Translator<'_>, result: (Id, Id), name: &str, mut operands: Operands<'_>) -> Attempt<()> {
    let (offset, address) = (operands.take_id()?, operands.take_id()?);
    let (_, count) = translator.types.elements_of(result.0)?;
    if translator.types.float_width(result.0)? != 32 {
        refuse!("halfs in memory are read as floats");
    }
    let space = translator.types.pointer_space(translator.type_of(address)?)?;
    let parameters = [Parameter::Scalar("m"), Parameter::pointer_to_const(space, Parameter::Scalar("Dh"))];
    let arguments = [offset_argument(translator, offset)?, translator.typed(address)?];
    let text = translator.types.type_text(result.0)?;
    let call = translator.call_built_in(&format!("{name}{}", spell_count(count)), &parameters, &text, &arguments)?;
    translator.define_result(result, format_args!("{call}"))
}

fn store_half(
    translator: &mut Translator<'_>,
    name: &str,
    operation: OpenclStd100Op,
    mut operands: Operands<'_>,
) -> Attempt<()> {
    use OpenclStd100Op as Cl;
    let (value, offset, address) = (operands.take_id()?, operands.take_id()?, operands.take_id()?);
    let rounding = match operation {
        Cl::vstore_half_r | Cl::vstore_halfn_r | Cl::vstorea_halfn_r => {
            match FPRoundingMode::from_u32(operands.take_literal()?) {
                Some(FPRoundingMode::RTE) => "_rte",
                Some(FPRoundingMode::RTZ) => "_rtz",
                Some(FPRoundingMode::RTP) => "_rtp",
                Some(FPRoundingMode::RTN) => "_rtn",
                None => refuse!("there is no such rounding"),
            }
        }
        _ => "",
    };
    let value_type = translator.type_of(value)?;
    let (_, count) = translator.types.elements_of(value_type)?;
    let space = translator.types.pointer_space(translator.type_of(address)?)?;
    let parameters = [
        translator.types.parameter_of(value_type, true)?,
        Parameter::Scalar("m"),
        Parameter::pointer_to(space, Parameter::Scalar("Dh")),
    ];
    let arguments = [translator.typed(value)?, offset_argument(translator, offset)?, translator.typed(address)?];
    let name = format!("{name}{}{rounding}", spell_count(count));
    let call = translator.call_built_in(&name, &parameters, "void", &arguments)?;
    translator.emit_line(format_args!("{call}"));
    Ok(())
}

fn shuffle_elements(
    translator: &mut Translator<'_>,
    result: (Id, Id),
    name: &str,
    mut operands: Operands<'_>,
) -> Attempt<()> {
    let values = operands.take_ids()?;
    let mut parameters = Vec::with_capacity(values.len());
    let mut arguments = Vec::with_capacity(values.len());
    for (index, &value) in values.iter().enumerate() {
        // The mask's elements have no signs.
        let is_signed = index + 1 < values.len();
        parameters.push(translator.types.parameter_of(translator.type_of(value)?, is_signed)?);
        arguments.push(translator.typed(value)?);
    }
    let text = translator.types.type_text(result.0)?;
    let call = translator.call_built_in(name, &parameters, &text, &arguments)?;
    translator.define_result(result, format_args!("{call}"))
}

/// `printf`: floats become doubles, as where a function takes any arguments; the format is in constant memory.
fn print_formatted(translator: &mut Translator<'_>, result: (Id, Id), mut operands: Operands<'_>) -> Attempt<()> {
    let format = operands.take_id()?;
    translator.types.pointer_space(translator.type_of(format)?)?;
    let format = translator.typed(format)?;
    let mut arguments = vec![format.clone()];
    for value in operands.take_ids()? {
        let typed = translator.typed(value)?;
        arguments.push(match translator.types.find_type(translator.type_of(value)?)?.kind {
            TypeKind::Float(16 | 32) => {
                Typed::of_texts("double", translator.define_extra(format_args!("fpext {typed} to double")))
            }
            _ => typed,
        });
    }
    let signature = format!("i32 ({}, ...)", format.type_text);
    translator.declare_called("printf", signature.clone())?;
    if &*translator.types.type_text(result.0)? != "i32" {
        refuse!("its result is not an integer of 32 bits");
    }
    let arguments = join_typed(&arguments);
    define_result(translator, result, &format!("call spir_func {signature} @printf({arguments})"))
}

fn prefetch_elements(translator: &mut Translator<'_>, mut operands: Operands<'_>) -> Attempt<()> {
    let (address, count) = (operands.take_id()?, operands.take_id()?);
    let (space, pointee) = translator.types.pointer_parts(translator.type_of(address)?)?;
    let element = translator.types.parameter_of(pointee, true)?;
    let parameters = [Parameter::pointer_to_const(space, element), Parameter::Scalar("m")];
    let arguments = [translator.typed(address)?, offset_argument(translator, count)?];
    let call = translator.call_built_in("prefetch", &parameters, "void", &arguments)?;
    translator.emit_line(format_args!("{call}"));
    Ok(())
}
