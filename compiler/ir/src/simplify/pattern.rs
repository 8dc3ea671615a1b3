//! What the two sides of a rule are made of, and their notation.

use crate::ir::{BinaryOp, IntCc, TernaryOp, UnaryOp};
use lockstep_protocol::types::Type;

/// An operation that rules tell of.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Op {
    /// Of one operand.
    Unary(UnaryOp),
    /// Of two operands of one type.
    Binary(BinaryOp),
    /// Of three operands.
    Ternary(TernaryOp),
    /// A comparison of integers or addresses.
    Icmp(IntCc),
    /// An address plus bytes.
    PtrAdd,
}

impl Op {
    /// The operation with this name in text; a name that is none does not compile.
    pub const fn op_named(name: &str) -> Op {
        if is_same(name, "ptradd") {
            return Op::PtrAdd;
        }
        let mut index = 0;
        while index < UnaryOp::ALL.len() {
            if is_same(name, UnaryOp::ALL[index].name()) {
                return Op::Unary(UnaryOp::ALL[index]);
            }
            index += 1;
        }
        let mut index = 0;
        while index < BinaryOp::ALL.len() {
            if is_same(name, BinaryOp::ALL[index].name()) {
                return Op::Binary(BinaryOp::ALL[index]);
            }
            index += 1;
        }
        let mut index = 0;
        while index < TernaryOp::ALL.len() {
            if is_same(name, TernaryOp::ALL[index].name()) {
                return Op::Ternary(TernaryOp::ALL[index]);
            }
            index += 1;
        }
        panic!("no operation has this name")
    }

    /// The comparison with this name in text; a name that is none does not compile.
    pub const fn comparison_named(name: &str) -> Op {
        let mut index = 0;
        while index < IntCc::ALL.len() {
            if is_same(name, IntCc::ALL[index].name()) {
                return Op::Icmp(IntCc::ALL[index]);
            }
            index += 1;
        }
        panic!("no comparison has this name")
    }

    /// The operation that computes the same of exchanged operands, if there is one.
    pub fn with_exchanged_operands(self) -> Option<Op> {
        use BinaryOp::{Add, And, Mul, Or, SaddSat, Smax, Smin, UaddSat, Umax, Umin, Xor};
        match self {
            Op::Binary(Add | Mul | And | Or | Xor | Smin | Smax | Umin | Umax | SaddSat | UaddSat) => Some(self),
            Op::Icmp(comparison) => Some(Op::Icmp(comparison.swapped())),
            _ => None,
        }
    }
}

/// Whether two names are one, which `==` does not tell yet where constants are computed.
const fn is_same(left: &str, right: &str) -> bool {
    let (left, right) = (left.as_bytes(), right.as_bytes());
    let mut index = 0;
    while index < left.len() && index < right.len() && left[index] == right[index] {
        index += 1;
    }
    index == left.len() && index == right.len()
}

/// A number of whatever integer type stands there.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Number {
    /// The number `0` of every type.
    Zero,
    /// The number `1` of every type.
    One,
    /// `ones`: all bits set.
    Ones,
    /// `least`: the least signed number.
    Least,
    /// `greatest`: the greatest signed number.
    Greatest,
    /// `true`, of conditions only.
    True,
    /// `false`, of conditions only.
    False,
}

impl Number {
    /// Its bits as a value of a type, which may have no such number.
    pub fn bits_as(self, value_type: Type) -> Option<u128> {
        let bits = match self {
            Number::True if value_type == Type::BOOL => 1,
            Number::False if value_type == Type::BOOL => 0,
            Number::Zero if value_type.is_int() => 0,
            Number::One if value_type.is_int() => 1,
            Number::Ones if value_type.is_int() => value_type.value_mask(),
            Number::Least if value_type.is_int() => value_type.value_mask() ^ value_type.value_mask() >> 1,
            Number::Greatest if value_type.is_int() => value_type.value_mask() >> 1,
            _ => return None,
        };
        Some(bits)
    }
}

/// How many different values a rule may name.
pub const NAMES: usize = 5;

/// A side of a rule, or a part of it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Pattern {
    /// Any value: `x`, `y`, `z`, `c` for a condition, `p` for an address. The same letter is the same value.
    Any(usize),
    /// A constant of the operation's type.
    Number(Number),
    /// The result of an operation, whatever its flags are.
    Op(Op, &'static [Pattern]),
}

/// An identity: what computes `from` may as well compute `to`.
#[derive(Clone, Copy, Debug)]
pub struct Rule {
    /// Its line in the table, for tests to name.
    #[cfg(test)]
    pub text: &'static str,
    /// What stands there.
    pub from: Pattern,
    /// What is put for it: a value, a number, or an operation of those. An operation that is a part of `from` as well is
    /// the value that was there.
    pub to: Pattern,
}

impl Rule {
    /// Whether the rule's left side is such an operation, with operands in some order. Most rules are about others.
    pub fn begins_with(&self, opcode: Op) -> bool {
        matches!(self.from, Pattern::Op(first, _) if first == opcode || first.with_exchanged_operands() == Some(opcode))
    }
}

/// A side of a rule in its notation.
macro_rules! pattern {
    (x) => {
        Pattern::Any(0)
    };
    (y) => {
        Pattern::Any(1)
    };
    (z) => {
        Pattern::Any(2)
    };
    (c) => {
        Pattern::Any(3)
    };
    (p) => {
        Pattern::Any(4)
    };
    (0) => {
        Pattern::Number(Number::Zero)
    };
    (1) => {
        Pattern::Number(Number::One)
    };
    (ones) => {
        Pattern::Number(Number::Ones)
    };
    (least) => {
        Pattern::Number(Number::Least)
    };
    (greatest) => {
        Pattern::Number(Number::Greatest)
    };
    (true) => {
        Pattern::Number(Number::True)
    };
    (false) => {
        Pattern::Number(Number::False)
    };
    ((icmp.$cc:ident $a:tt $b:tt)) => {
        Pattern::Op(const { Op::comparison_named(stringify!($cc)) }, &[pattern!($a), pattern!($b)])
    };
    (($op:ident $($operand:tt)+)) => {
        Pattern::Op(const { Op::op_named(stringify!($op)) }, &[$(pattern!($operand)),+])
    };
}

/// A table of rules, `from => to;` each.
macro_rules! rules {
    ($($from:tt => $to:tt;)*) => {
        &[$(Rule {
            #[cfg(test)]
            text: stringify!($from => $to),
            from: pattern!($from),
            to: pattern!($to),
        }),*]
    };
}

pub(super) use {pattern, rules};
