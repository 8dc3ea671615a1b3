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
        /// The comparison.
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
pub fn find_bounds(body: &Function, shapes: &SecondaryMap<Value, Shape>, cond: Value) -> Option<Bounds> {
    find_bounds_behind(body, shapes, cond, false, DEPTH)
}

/// The same where a condition holds, or its opposite.
fn find_bounds_behind(
    body: &Function,
    shapes: &SecondaryMap<Value, Shape>,
    cond: Value,
    opposite: bool,
    depth: u32,
) -> Option<Bounds> {
    let ValueDef::Result(inst, _) = body.values[cond].definition else { return None };
    if depth == 0 {
        return None;
    }
    let is = |value: Value, bits: u128| body.const_bits(value) == Some(bits);
    let (operands, all_hold) = match body.insts[inst].data {
        InstData::Icmp { arguments: args, .. } if args.iter().all(|&arg| !shapes[arg].is_varying()) => {
            return Some(Bounds::Side { cond, opposite });
        }
        InstData::Binary { opcode: BinaryOp::Xor, arguments: [arg, one], .. } if is(one, 1) => {
            return find_bounds_behind(body, shapes, arg, !opposite, depth - 1);
        }
        InstData::Binary { opcode: BinaryOp::And, arguments: args, .. } => (args, !opposite),
        InstData::Binary { opcode: BinaryOp::Or, arguments: args, .. } => (args, opposite),
        InstData::Ternary { arguments: [a, b, c], .. } if is(c, 0) => ([a, b], !opposite),
        InstData::Ternary { arguments: [a, b, c], .. } if is(b, 1) => ([a, c], opposite),
        _ => return None,
    };
    match operands.map(|operand| find_bounds_behind(body, shapes, operand, opposite, depth - 1)) {
        [Some(a), Some(b)] if all_hold => Some(Bounds::Both(Box::new([a, b]))),
        [Some(a), Some(b)] => Some(Bounds::Either(Box::new([a, b]))),
        [one, other] => one.or(other).filter(|_| all_hold),
    }
}
