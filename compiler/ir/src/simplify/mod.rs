//! What an operation comes to: a constant, a value that is there, or a simpler operation.
//!
//! Operations on constants are evaluated as the interpreter does it (`eval`); the rest is the table [`applicable_rules`]. Who makes
//! instructions asks with a [`FoldingBuilder`]; [`simplify`](crate::transform::simplify::simplify) asks for those that are
//! there, and [`sccp`](crate::analysis::sccp::sccp) with what it knows of values that are no constants yet.
//!
//! Source: the rule files of Cranelift's mid-end; Muchnick 1997, sections 12.1 and 12.3.

mod folding_builder;
mod matching;
mod pattern;
mod rules;
#[cfg(test)]
mod tests;

pub use folding_builder::FoldingBuilder;

use crate::eval::operation::evaluate_instruction;
use crate::ir::{FastMath, Function, InstData, IntFlags, TernaryOp, UnaryOp, Value};
use lockstep_protocol::types::Type;
use matching::{Matcher, Operand};
use pattern::{Op, Rule};
use rules::{RULES, RULES_OF_MASKS};

/// What stands for an operation.
#[derive(Clone, PartialEq, Debug)]
pub enum Simpler {
    /// A value, which may be a constant.
    Value(Value),
    /// Another operation with a result of the same type.
    Operation(InstData),
}

/// What operands may be.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Operands {
    /// Operands of any kind.
    Any,
    /// Masks and what they choose among; none is poison where code asks it.
    OfMasks,
}

impl Operands {
    fn applicable_rules(self) -> impl Iterator<Item = &'static Rule> {
        let further_rules = if self == Operands::OfMasks { RULES_OF_MASKS } else { &[] };
        RULES.iter().chain(further_rules)
    }
}

/// The simplest that stands for an operation with a result of a type, which may be itself.
pub fn simplest_form(function: &mut Function, inst_data: InstData, result_type: Type, operands: Operands) -> Simpler {
    simplify_operation(function, &inst_data, result_type, operands).unwrap_or(Simpler::Operation(inst_data))
}

/// The simplest that stands for an operation with a result of a type, if there is something simpler than it.
pub fn simplify_operation(
    function: &mut Function,
    inst_data: &InstData,
    result_type: Type,
    operands: Operands,
) -> Option<Simpler> {
    let mut simpler = simplify_once(function, inst_data, result_type, operands)?;
    while let Simpler::Operation(inst_data) = &simpler
        && let Some(next) = simplify_once(function, inst_data, result_type, operands)
    {
        simpler = next;
    }
    Some(simpler)
}

fn simplify_once(
    function: &mut Function,
    inst_data: &InstData,
    result_type: Type,
    operands: Operands,
) -> Option<Simpler> {
    let constant = |value| function.const_bits(value);
    let simpler = match evaluate_constants(function, inst_data, result_type, constant) {
        Some(bits) => Found::Constant(bits),
        None => find_simpler(function, inst_data, result_type, operands, constant).next()?,
    };
    Some(match simpler {
        Found::Constant(bits) => Simpler::Value(function.constant(result_type, bits)),
        Found::Value(value) => Simpler::Value(value),
        Found::Operation(opcode, arguments) => Simpler::Operation(instruction_of(
            opcode,
            arguments.map(|argument| value_of(function, result_type, argument)),
        )?),
    })
}

/// What a rule puts for an operation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Found {
    /// The constant with these bits.
    Constant(u128),
    /// A value that is there already.
    Value(Value),
    /// An operation; the last operands are missing where it has fewer.
    Operation(Op, [Operand; 3]),
}

/// What the rules put for an operation, given which values are constants.
pub fn find_simpler<C: Fn(Value) -> Option<u128>>(
    function: &Function,
    inst_data: &InstData,
    result_type: Type,
    operands: Operands,
    constant: C,
) -> impl Iterator<Item = Found> {
    let matcher = Matcher { function, constant };
    let operation = matching::operation_of(inst_data);
    operands.applicable_rules().filter_map(move |rule| {
        let operation = operation.filter(|&(opcode, _)| rule.begins_with(opcode))?;
        matcher.apply_rule(rule, operation, result_type)
    })
}

/// The bits of an operation, if those of all its operands are known. Floating-point arithmetic is left to LLVM, which
/// knows its modes.
pub fn evaluate_constants(
    function: &Function,
    inst_data: &InstData,
    result_type: Type,
    constant: impl Fn(Value) -> Option<u128>,
) -> Option<u128> {
    if !is_exact(function, inst_data, result_type) {
        return None;
    }
    let mut all_constant = true;
    inst_data.for_each_arg(|value| all_constant &= constant(value).is_some());
    let bits_of = |value| constant(value).unwrap_or_default();
    if all_constant {
        evaluate_instruction(inst_data, result_type, |value| function.ty(value), bits_of)?.ok()
    } else {
        None
    }
}

/// Whether an operation works on integers, or on bits whatever they mean.
fn is_exact(function: &Function, inst_data: &InstData, result_type: Type) -> bool {
    use UnaryOp::{Bitcast, Fabs, Fneg, Freeze};
    let on_bits = match inst_data {
        InstData::Unary { opcode, .. } => matches!(opcode, Bitcast | Fabs | Fneg | Freeze),
        InstData::Ternary { opcode, .. } => *opcode == TernaryOp::Select,
        InstData::Binary { .. } | InstData::Icmp { .. } => false,
        _ => return false,
    };
    let mut of_integers = result_type.is_int();
    inst_data.for_each_arg(|value| of_integers &= function.ty(value).is_int());
    on_bits || of_integers
}

/// The value of an operand of an operation with a result of type `value_type`.
fn value_of(function: &mut Function, value_type: Type, operand: Operand) -> Option<Value> {
    match operand {
        Operand::Value(value) => Some(value),
        Operand::Constant(bits) => Some(function.constant(value_type, bits)),
        Operand::Missing => None,
    }
}

/// The instruction for an operation on these, without promises or freedoms.
fn instruction_of(opcode: Op, [first, second, third]: [Option<Value>; 3]) -> Option<InstData> {
    let (flags, fast_math) = (IntFlags::default(), FastMath::default());
    Some(match opcode {
        Op::Unary(opcode) => InstData::Unary { opcode, fast_math, argument: first? },
        Op::Binary(opcode) => InstData::Binary { opcode, flags, fast_math, arguments: [first?, second?] },
        Op::Ternary(opcode) => InstData::Ternary { opcode, fast_math, arguments: [first?, second?, third?] },
        Op::Icmp(comparison) => InstData::Icmp { comparison, arguments: [first?, second?] },
        Op::PtrAdd => InstData::PtrAdd { base: first?, offset: second?, inbounds: false },
    })
}
