//! What operations compute, on the bits of their operands: one truth for the interpreter and for passes that compute what is
//! known beforehand.

pub mod float;
pub mod integer;
pub mod operation;
pub mod unary;

/// An operation has no result; this says why.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Undefined(pub &'static str);
