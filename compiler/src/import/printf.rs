//! printf, and failures of the launch: the format's text and the types of its arguments, known when the program is built.

use super::constants::{Scalar, evaluate_constant};
use super::emit::{Body, Lanes};
use super::error::{Attempt, refuse};
use super::globals::text_at;
use super::llvm::{TypeKind, Value as LlvmValue};
use super::types::scalar_type;
use lockstep_ir::ir::InstData;
use lockstep_protocol::types::{Space, Type};
use lockstep_protocol::variables::FormatData;

/// What becomes of the text of a call.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Outcome {
    /// It is printed.
    Output,
    /// The launch fails with it (`__lockstep_fail`, which takes what printf takes and has no result).
    Failure,
}

/// Imports a call of printf, or of what makes the launch fail.
pub(super) fn import_printf<'m>(
    kernel_body: &mut Body<'_, 'm>,
    instruction: LlvmValue<'m>,
    outcome: Outcome,
) -> Attempt<Lanes> {
    if outcome == Outcome::Failure && !matches!(instruction.ty().kind(), TypeKind::Void) {
        refuse!("__lockstep_fail with a result");
    }
    let arguments = instruction.call_args();
    let Some((&format, arguments)) = arguments.split_first() else {
        refuse!("printf without a format");
    };
    let llvm_module = kernel_body.module.llvm;
    let text = if format.is_constant() {
        match evaluate_constant(llvm_module, format, 0)? {
            Scalar::Address(variable, offset) => text_at(llvm_module, variable, offset),
            Scalar::Bits(_) => None,
        }
    } else {
        None
    };
    let Some(text) = text else {
        refuse!("printf's format is not a string literal");
    };
    let conversions = conversion_letters(&text);
    let mut types = Vec::with_capacity(arguments.len());
    let mut argument_values = Vec::new();
    for (index, &argument) in arguments.iter().enumerate() {
        let argument_type = argument.ty();
        let (element, element_count) = match argument_type.kind() {
            TypeKind::Vector(n, element) => (element, n),
            _ => (argument_type, 1),
        };
        let (Some(mut element), Ok(lane_count)) = (scalar_type(element), u8::try_from(element_count)) else {
            refuse!("printf of a value of type {}", argument_type.spelling());
        };
        let lanes = kernel_body.lanes_of(argument)?;
        if element.is_ptr() && conversions.get(index) == Some(&b's') {
            element = Type::Ptr(Space::Constant);
            argument_values.extend(lanes.iter().map(|&value| kernel_body.space_cast(element, value)));
        } else {
            argument_values.extend_from_slice(&lanes);
        }
        types.push((element, lane_count));
    }
    let format_data = FormatData { text, args: types, is_failure: outcome == Outcome::Failure };
    let formats = &mut kernel_body.module.out.formats;
    let known_format = formats.iter().find(|(_, known_data)| **known_data == format_data);
    let format = match known_format.map(|(format, _)| format) {
        Some(format) => format,
        None => formats.push(format_data),
    };
    let result = kernel_body.append_single(InstData::Printf { format, arguments: argument_values }, Type::I32);
    Ok(match outcome {
        Outcome::Output => Lanes::from([result]),
        Outcome::Failure => Lanes::from([]),
    })
}

/// The conversion letter of each item that takes an argument.
fn conversion_letters(format: &[u8]) -> Vec<u8> {
    let mut output = Vec::new();
    let mut remaining = format.iter().copied();
    while let Some(byte) = remaining.next() {
        if byte != b'%' {
            continue;
        }
        // Flags, width, precision, vector and length all come before the first other letter.
        let conversion = remaining.find(|letter| !b"-+ #0123456789.vhlzt".contains(letter));
        match conversion {
            Some(b'%') | None => {}
            Some(conversion) => output.push(conversion),
        }
    }
    output
}

#[cfg(test)]
mod tests {
    use super::conversion_letters;

    #[test]
    fn conversions_skip_flags_widths_vectors_and_percent_signs() {
        assert_eq!(conversion_letters(b"%d %% %-5.3v4hlf|%s%5c"), b"dfsc");
        assert_eq!(conversion_letters(b"100%"), b"");
        assert_eq!(conversion_letters(b"%v16hhd%#x"), b"dx");
        assert_eq!(conversion_letters(b"%zu%-5td%s"), b"uds");
    }
}
