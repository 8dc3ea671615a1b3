//! Whether an operation has the form of a rule's left side, and what the right side is then.

use super::Found;
use super::pattern::{NAMES, Op, Pattern, Rule};
use crate::ir::{Function, InstData, Value, ValueDef};
use lockstep_protocol::types::Type;

/// An operation and its operands; the last ones are missing where it has fewer.
pub(super) type Operation = (Op, [Option<Value>; 3]);

/// The operation of an instruction, if rules may tell of it.
pub(super) fn operation_of(inst_data: &InstData) -> Option<Operation> {
    Some(match *inst_data {
        InstData::Unary { opcode, argument, .. } => (Op::Unary(opcode), [Some(argument), None, None]),
        InstData::Binary { opcode, arguments: [left, right], .. } => {
            (Op::Binary(opcode), [Some(left), Some(right), None])
        }
        InstData::Ternary { opcode, arguments, .. } => (Op::Ternary(opcode), arguments.map(Some)),
        InstData::Icmp { comparison, arguments: [left, right] } => {
            (Op::Icmp(comparison), [Some(left), Some(right), None])
        }
        InstData::PtrAdd { base, offset, .. } => (Op::PtrAdd, [Some(base), Some(offset), None]),
        _ => return None,
    })
}

/// An operand of what a rule puts for an operation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Operand {
    /// A value that is there already.
    Value(Value),
    /// A constant of the type of the result.
    Constant(u128),
    /// There is none.
    Missing,
}

/// Most operations below the first that a left side may have.
pub(super) const MOST_PARTS: usize = 2;

/// What the parts of a left side stand for.
#[derive(Clone, Copy, Default)]
struct Bindings {
    names: [Option<Value>; NAMES],
    parts: [Option<(Pattern, Value)>; MOST_PARTS],
}

impl Bindings {
    /// Lets a name stand for a value, if it does not stand for another one.
    fn bind_name(mut self, name: usize, value: Value) -> Option<Bindings> {
        let bound = self.names[name].get_or_insert(value);
        (*bound == value).then_some(self)
    }

    /// Keeps which value is the result of a part.
    fn keep_result(mut self, part: Pattern, value: Value) -> Bindings {
        if let Some(free) = self.parts.iter_mut().find(|part| part.is_none()) {
            *free = Some((part, value));
        }
        self
    }

    /// The value of a name, or of an operation that stands on the left side.
    fn bound_value(&self, pattern: Pattern) -> Option<Value> {
        match pattern {
            Pattern::Any(name) => self.names[name],
            Pattern::Number(_) => None,
            Pattern::Op(..) => self.parts.iter().flatten().find(|(part, _)| *part == pattern).map(|&(_, value)| value),
        }
    }
}

/// What is still to be compared: a list from here on.
struct Rest<'a> {
    pattern: Pattern,
    value: Value,
    then: Option<&'a Rest<'a>>,
}

/// Compares patterns with the operations of a function, given which values are constants.
pub(super) struct Matcher<'f, C> {
    pub function: &'f Function,
    pub constant: C,
}

impl<C: Fn(Value) -> Option<u128>> Matcher<'_, C> {
    /// What a rule puts for an operation with a result of a type, if the operation has its form.
    pub fn apply_rule(&self, rule: &Rule, operation: Operation, result_type: Type) -> Option<Found> {
        let Pattern::Op(opcode, patterns) = rule.from else { return None };
        let bindings = self.compare_operation(opcode, patterns, operation, None, Bindings::default())?;
        if let Some(value) = bindings.bound_value(rule.to).filter(|&value| self.function.ty(value) == result_type) {
            return Some(Found::Value(value));
        }
        match rule.to {
            Pattern::Any(_) => None,
            Pattern::Number(number) => number.bits_as(result_type).map(Found::Constant),
            Pattern::Op(opcode, patterns) => {
                let mut operands = [Operand::Missing; 3];
                for (operand, &pattern) in operands.iter_mut().zip(patterns) {
                    *operand = match pattern {
                        Pattern::Number(number) => Operand::Constant(number.bits_as(result_type)?),
                        _ => Operand::Value(bindings.bound_value(pattern)?),
                    };
                }
                self.has_type(opcode, &operands, result_type).then_some(Found::Operation(opcode, operands))
            }
        }
    }

    /// Whether the operands of what a rule would put fit a result of a type.
    fn has_type(&self, opcode: Op, operands: &[Operand], result_type: Type) -> bool {
        let fits = |operand: &Operand| match operand {
            Operand::Value(value) => self.function.ty(*value) == result_type,
            Operand::Constant(_) | Operand::Missing => true,
        };
        !matches!(opcode, Op::Binary(_)) || operands.iter().all(fits)
    }

    /// Compares an operation, and the rest, in each order in which its operands may stand.
    fn compare_operation(
        &self,
        opcode: Op,
        patterns: &[Pattern],
        (found_opcode, [first_operand, second_operand, third_operand]): Operation,
        then: Option<&Rest<'_>>,
        bindings: Bindings,
    ) -> Option<Bindings> {
        let as_written =
            || self.compare_operands(patterns, &[first_operand, second_operand, third_operand], then, bindings);
        let exchanged =
            || self.compare_operands(patterns, &[second_operand, first_operand, third_operand], then, bindings);
        let in_order = if opcode == found_opcode { as_written() } else { None };
        in_order.or_else(|| if opcode.with_exchanged_operands() == Some(found_opcode) { exchanged() } else { None })
    }

    fn compare_operands(
        &self,
        patterns: &[Pattern],
        operands: &[Option<Value>],
        then: Option<&Rest<'_>>,
        bindings: Bindings,
    ) -> Option<Bindings> {
        let Some((&pattern, before)) = patterns.split_last() else { return self.compare_rest(then, bindings) };
        let rest = Rest { pattern, value: operands[before.len()]?, then };
        self.compare_operands(before, operands, Some(&rest), bindings)
    }

    /// Compares what is left.
    fn compare_rest(&self, rest: Option<&Rest<'_>>, bindings: Bindings) -> Option<Bindings> {
        let Some(&Rest { pattern, value, then }) = rest else { return Some(bindings) };
        match pattern {
            Pattern::Any(name) => self.compare_rest(then, bindings.bind_name(name, value)?),
            Pattern::Number(number) => {
                let bits = (self.constant)(value)?;
                if number.bits_as(self.function.ty(value)) == Some(bits) {
                    self.compare_rest(then, bindings)
                } else {
                    None
                }
            }
            Pattern::Op(opcode, patterns) => {
                let ValueDef::Result(instruction, _) = self.function.values[value].definition else { return None };
                let operation = operation_of(&self.function.insts[instruction].data)?;
                self.compare_operation(opcode, patterns, operation, then, bindings.keep_result(pattern, value))
            }
        }
    }
}
