//! What a mask says of ids and arguments: where memory ends.
//!
//! `if (i < n) x[i] = …` in a range that is longer than `x` leaves gangs of which no lane has an element, and the row may lie
//! where there is no memory. So where a mask has conditions on ids and arguments, a branch asks first whether they hold for a
//! lane. What data decide is not asked for: it would be mispredicted, and says nothing of where memory ends.

use crate::analysis::shape::Shape;
use crate::ir::{BinaryOp, Function, InstData, Value, ValueDef};
use cranelift_entity::SecondaryMap;

/// Steps from a mask back to its conditions.
const DEPTH: u32 = 12;

/// What follows for ids and arguments where a mask is on.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Bounds {
    /// A comparison of them, or its opposite.
    Side {
        /// The comparison, a value of the region.
        cond: Value,
        /// Whether it does not hold.
        opposite: bool,
    },
    /// Two that hold both.
    Both(Box<[Bounds; 2]>),
    /// Two of which one holds.
    Either(Box<[Bounds; 2]>),
}

/// What follows for ids and arguments where a condition holds, if anything does.
pub fn find_bounds(function: &Function, shapes: &SecondaryMap<Value, Shape>, condition: Value) -> Option<Bounds> {
    find_bounds_behind(function, shapes, condition, false, DEPTH)
}

/// The same where a condition holds, or its opposite.
fn find_bounds_behind(
    function: &Function,
    shapes: &SecondaryMap<Value, Shape>,
    condition: Value,
    opposite: bool,
    depth: u32,
) -> Option<Bounds> {
    let ValueDef::Result(instruction, _) = function.values[condition].definition else { return None };
    if depth == 0 {
        return None;
    }
    let is_constant = |value: Value, bits: u128| function.const_bits(value) == Some(bits);
    let (operands, all_hold) = match function.insts[instruction].data {
        InstData::Icmp { arguments, .. } if arguments.iter().all(|&argument| !shapes[argument].is_varying()) => {
            return Some(Bounds::Side { cond: condition, opposite });
        }
        InstData::Binary { opcode: BinaryOp::Xor, arguments: [argument, one], .. } if is_constant(one, 1) => {
            return find_bounds_behind(function, shapes, argument, !opposite, depth - 1);
        }
        InstData::Binary { opcode: BinaryOp::And, arguments, .. } => (arguments, !opposite),
        InstData::Binary { opcode: BinaryOp::Or, arguments, .. } => (arguments, opposite),
        InstData::Ternary { arguments: [left, right, c], .. } if is_constant(c, 0) => ([left, right], !opposite),
        InstData::Ternary { arguments: [left, right, c], .. } if is_constant(right, 1) => ([left, c], opposite),
        _ => return None,
    };
    match operands.map(|operand| find_bounds_behind(function, shapes, operand, opposite, depth - 1)) {
        [Some(a), Some(b)] if all_hold => Some(Bounds::Both(Box::new([a, b]))),
        [Some(a), Some(b)] => Some(Bounds::Either(Box::new([a, b]))),
        [one, other] => one.or(other).filter(|_| all_hold),
    }
}
