//! Addresses as sums: which differ by a constant?
//!
//! Requires: code that verifies.
//! Ensures: two pointers whose [`Address`]es are equal are as many bytes apart as their constants, or nobody may access
//! one of them.
//! Phases: from the pointer down through additions of offsets; each offset into its parts, where what is promised of
//! the arithmetic allows it, there or in another part of the address; equal parts together.
//! Source: none; the usual linear form of addresses.

use crate::ir::{BinaryOp, BlockCall, Function, InstData, UnaryOp, Value, ValueDef};

/// The instructions that are looked into for one address.
const STEPS: u32 = 48;

/// How a part of an offset got its 64 bits.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Extended {
    /// It has them.
    Not,
    /// By its sign.
    Signed,
    /// Extended by zeros, as unsigned numbers are.
    Unsigned,
}

/// All of an address but a constant: a base and multiples of values. Where the program promises that a narrow sum
/// does not wrap, it may be taken apart: what is accessed at an address that wraps is not defined.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Address {
    /// The pointer that all is added to.
    pub base: Value,
    /// Values of at most 64 bits, how they are extended to these, and what they are multiplied with then.
    pub terms: Vec<(Value, Extended, i64)>,
}

/// Pointers that a region gets of which something is known.
#[derive(Clone, Debug, Default)]
pub struct Roots {
    /// Those that the application passes.
    pub pointers: Vec<Value>,
    /// Of these, those to memory that no other argument reaches.
    pub apart: Vec<Value>,
}

impl Roots {
    /// Whether addresses with these bases are never of the same memory.
    pub fn are_apart(&self, left: Value, right: Value) -> bool {
        let is_known = |value: Value| self.pointers.contains(&value);
        left != right
            && is_known(left)
            && is_known(right)
            && [left, right].iter().any(|value| self.apart.contains(value))
    }
}

/// An address and the constant that is added to it.
pub fn decompose_address(function: &Function, pointer: Value) -> (Address, i64) {
    let mut sum = Sum::of_parts(function, Some(pointer));
    let base = sum.add_pointer(pointer);
    sum.into_address(base)
}

/// What an address in a block is on an edge to it, and the constant that is added then: the arguments of the edge stand for the
/// block's parameters.
pub fn address_on_edge(function: &Function, address: &Address, edge: &BlockCall) -> (Address, i64) {
    let argument_of = |value: Value| match function.values[value].definition {
        ValueDef::Param(block, index) if block == edge.block => edge.arguments.get(index as usize).copied(),
        _ => None,
    };
    let mut sum = Sum::of_parts(function, None);
    for &(value, extended, factor) in &address.terms {
        match argument_of(value) {
            Some(argument) => sum.add(argument, extended, factor),
            None => sum.terms.push((value, extended, factor)),
        }
    }
    let base = argument_of(address.base).map_or(address.base, |argument| sum.add_pointer(argument));
    sum.into_address(base)
}

/// A value of at most 64 bits as another one and a constant, if it is that: where it is extended so, both are as far apart.
pub fn split_constant(function: &Function, value: Value, extended: Extended) -> Option<(Value, i64)> {
    let mut sum = Sum::of_parts(function, None);
    sum.add(value, extended, 1);
    match sum.terms[..] {
        [(other, other_extended, 1)] if other_extended == extended => Some((other, sum.constant)),
        _ => None,
    }
}

/// A value, how its bits are extended, and what it is multiplied with.
type Term = (Value, Extended, i64);

/// Adds a term to another one of the same extended value, if it is that.
fn add_like_term(other_term: &mut Term, kept_term: &mut Term) -> bool {
    let is_alike = (other_term.0, other_term.1) == (kept_term.0, kept_term.1);
    if is_alike {
        kept_term.2 = kept_term.2.wrapping_add(other_term.2);
    }
    is_alike
}

struct Sum<'a> {
    function: &'a Function,
    terms: Vec<Term>,
    constant: i64,
    steps: u32,
    /// The address that all is of, whose parts say something of each other; none: there is no such address.
    whole: Option<Value>,
    /// What they say, from when it was asked for.
    bounds: Option<Vec<Bound>>,
}

/// Numbers that a value lies between, read as signed.
struct Bound {
    value: Value,
    least: i128,
    greatest: i128,
}

impl<'a> Sum<'a> {
    /// A sum of nothing yet; of parts of this address, if there is one.
    fn of_parts(function: &'a Function, whole: Option<Value>) -> Sum<'a> {
        Sum { function, terms: Vec::new(), constant: 0, steps: STEPS, whole, bounds: None }
    }

    /// Adds the offsets of an address; the answer is the pointer that they are added to.
    fn add_pointer(&mut self, pointer: Value) -> Value {
        let mut base_address = pointer;
        while let ValueDef::Result(instruction, _) = self.function.values[base_address].definition
            && let InstData::PtrAdd { base: inner_address, offset, .. } = self.function.insts[instruction].data
            && self.expand_term()
        {
            self.add(offset, Extended::Not, 1);
            base_address = inner_address;
        }
        base_address
    }

    /// The address of this sum, equal terms together, and its constant.
    fn into_address(self, base: Value) -> (Address, i64) {
        let Sum { mut terms, constant, .. } = self;
        terms.sort_unstable();
        terms.dedup_by(add_like_term);
        terms.retain(|&(_, _, factor)| factor != 0);
        (Address { base, terms }, constant)
    }

    fn expand_term(&mut self) -> bool {
        self.steps = self.steps.saturating_sub(1);
        self.steps > 0
    }

    fn constant_of(&self, value: Value, extended: Extended) -> Option<i64> {
        let bits = self.function.const_bits(value)?;
        let unused_bits = 128 - self.function.ty(value).bits();
        Some(match extended {
            Extended::Unsigned => bits as i64,
            _ => (((bits << unused_bits) as i128) >> unused_bits) as i64,
        })
    }

    /// Adds a multiple of a value.
    fn add(&mut self, value: Value, extended: Extended, factor: i64) {
        if let Some(bits) = self.constant_of(value, extended) {
            self.constant = self.constant.wrapping_add(bits.wrapping_mul(factor));
        } else if !self.expand_term() || !self.take_apart(value, extended, factor) {
            self.terms.push((value, extended, factor));
        }
    }

    /// Adds the parts of a value's multiple, if it is known to be their sum.
    fn take_apart(&mut self, value: Value, extended: Extended, factor: i64) -> bool {
        let ValueDef::Result(instruction, _) = self.function.values[value].definition else { return false };
        match self.function.insts[instruction].data {
            InstData::Unary { opcode: UnaryOp::Sext, argument, .. } if extended != Extended::Unsigned => {
                self.add(argument, Extended::Signed, factor);
            }
            InstData::Unary { opcode: UnaryOp::Zext, argument, .. } => self.add(argument, Extended::Unsigned, factor),
            InstData::Binary { opcode, flags, arguments: [left, right], .. } => {
                let is_exact = match extended {
                    Extended::Not => true,
                    Extended::Signed => flags.nsw || self.stays_in_bounds(opcode, left, right),
                    Extended::Unsigned => flags.nuw,
                };
                let right_constant = self.constant_of(right, extended);
                match (opcode, right_constant) {
                    (BinaryOp::Add, _) if is_exact => {
                        self.add(left, extended, factor);
                        self.add(right, extended, factor);
                    }
                    (BinaryOp::Sub, _) if is_exact => {
                        self.add(left, extended, factor);
                        self.add(right, extended, factor.wrapping_neg());
                    }
                    (BinaryOp::Mul, Some(right_constant)) if is_exact => {
                        self.add(left, extended, factor.wrapping_mul(right_constant))
                    }
                    (BinaryOp::Shl, Some(right_constant @ 0..=62)) if is_exact => {
                        self.add(left, extended, factor.wrapping_mul(1 << right_constant));
                    }
                    // All bits the other way are one less than the negative number, which has no overflow.
                    (BinaryOp::Xor, Some(-1)) if extended != Extended::Unsigned => {
                        self.add(left, extended, factor.wrapping_neg());
                        self.constant = self.constant.wrapping_sub(factor);
                    }
                    // No bit is in both.
                    (BinaryOp::Or, Some(right_constant))
                        if right_constant >= 0 && right_constant < 1 << self.low_zeros(left) =>
                    {
                        self.add(left, extended, factor);
                        self.constant = self.constant.wrapping_add(right_constant.wrapping_mul(factor));
                    }
                    _ => return false,
                }
            }
            _ => return false,
        }
        true
    }

    /// Whether a value and a constant have a sum, or a constant and a value a difference, without signed overflow, as other parts of
    /// the same address would have one as well: LLVM makes `-3 - x` of `-(x + 2) - 1` and forgets that it does not wrap.
    fn stays_in_bounds(&mut self, opcode: BinaryOp, left: Value, right: Value) -> bool {
        let (value, constant, is_negated) = match (opcode, self.signed(left), self.signed(right)) {
            (BinaryOp::Add, None, Some(constant)) => (left, constant, false),
            (BinaryOp::Sub, Some(constant), None) => (right, constant, true),
            _ => return false,
        };
        let Some(whole) = self.whole else { return false };
        let function = self.function;
        let bounds = self.bounds.get_or_insert_with(|| find_bounds(function, whole));
        let [smallest, largest] = signed_range(function, value);
        let of_value = || bounds.iter().filter(|bound| bound.value == value);
        let least = of_value().map(|bound| bound.least).fold(smallest, i128::max);
        let greatest = of_value().map(|bound| bound.greatest).fold(largest, i128::min);
        let (first, last) =
            if is_negated { (constant - greatest, constant - least) } else { (constant + least, constant + greatest) };
        smallest <= first && last <= largest
    }

    fn signed(&self, value: Value) -> Option<i128> {
        self.function.signed_constant(value).map(i128::from)
    }

    /// How many of the low bits of a product or shifted value are zero; not more than a few.
    fn low_zeros(&self, value: Value) -> u32 {
        let ValueDef::Result(instruction, _) = self.function.values[value].definition else { return 0 };
        let InstData::Binary { opcode, arguments: [_, amount], .. } = self.function.insts[instruction].data else {
            return 0;
        };
        let zeros = match (opcode, self.function.const_bits(amount)) {
            (BinaryOp::Shl, Some(amount)) => amount.min(8) as u32,
            (BinaryOp::Mul, Some(amount)) => amount.trailing_zeros(),
            _ => 0,
        };
        zeros.min(self.function.ty(value).bits() - 1).min(8)
    }
}

/// The least and the greatest number of a value's type, read as signed.
fn signed_range(function: &Function, value: Value) -> [i128; 2] {
    let half = 1_i128 << (function.ty(value).bits() - 1).min(126);
    [-half, half - 1]
}

/// What sums with constants that do not wrap say of their operands, of all that an address is computed of: where one of them wraps, nobody
/// may access the address.
fn find_bounds(function: &Function, address: Value) -> Vec<Bound> {
    let mut bounds = Vec::new();
    let mut parts = vec![address];
    let mut next = 0;
    while let Some(&part) = parts.get(next).filter(|_| next < STEPS as usize) {
        next += 1;
        let ValueDef::Result(instruction, _) = function.values[part].definition else { continue };
        let inst_data = &function.insts[instruction].data;
        let is_passed_on = match inst_data {
            InstData::PtrAdd { .. } | InstData::Binary { .. } => true,
            InstData::Unary { opcode, .. } => matches!(opcode, UnaryOp::Sext | UnaryOp::Zext | UnaryOp::Trunc),
            _ => false,
        };
        if is_passed_on {
            bounds.extend(bound_of_operand(function, inst_data));
            inst_data.for_each_arg(|argument| {
                if !parts.contains(&argument) {
                    parts.push(argument);
                }
            });
        }
    }
    bounds
}

/// What a sum or difference with a constant that does not wrap says of its operand.
fn bound_of_operand(function: &Function, inst_data: &InstData) -> Option<Bound> {
    let &InstData::Binary { opcode, flags, arguments: [left, right], .. } = inst_data else { return None };
    let signed = |value: Value| function.signed_constant(value).map(i128::from);
    let [smallest, largest] = signed_range(function, left);
    match (opcode, signed(left), signed(right)) {
        (BinaryOp::Add, None, Some(constant)) if flags.nsw => {
            Some(Bound { value: left, least: smallest - constant, greatest: largest - constant })
        }
        (BinaryOp::Sub, Some(constant), None) if flags.nsw => {
            Some(Bound { value: right, least: constant - largest, greatest: constant - smallest })
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ir::{Builder, IntFlags};
    use lockstep_protocol::types::{Space, Type};

    const NSW: IntFlags = IntFlags { nsw: true, nuw: false };

    /// How many bytes are between the addresses `p + f(x) * 4` of an unknown `x` of 32 bits and `p`, if the rest is the
    /// same.
    fn away(extend: UnaryOp, f: impl Fn(&mut Builder<'_>, Value) -> [Value; 2]) -> Option<i64> {
        let mut function = Function::new();
        let (mut builder, inputs) = Builder::with_entry(&mut function, &[Type::Ptr(Space::Global), Type::I32]);
        let indices = f(&mut builder, inputs[1]);
        let [first, second] = indices.map(|index| {
            let wide = builder.unary(extend, Type::I64, index);
            let four = builder.int(Type::I64, 4);
            let bytes = builder.binary(BinaryOp::Mul, wide, four);
            builder.ptr_add(inputs[0], bytes)
        });
        let (first, second) = (decompose_address(&function, first), decompose_address(&function, second));
        (first.0 == second.0).then(|| second.1 - first.1)
    }

    fn binary(builder: &mut Builder<'_>, opcode: BinaryOp, flags: IntFlags, operand: Value, by: i128) -> Value {
        let by = builder.int(Type::I32, by);
        let inst_data = InstData::Binary { opcode, flags, fast_math: Default::default(), arguments: [operand, by] };
        let instruction = builder.inst(inst_data, &[Type::I32]);
        builder.function.single_result(instruction)
    }

    #[test]
    fn sums_that_do_not_wrap_are_taken_apart() {
        let next = |flags: IntFlags| {
            move |builder: &mut Builder<'_>, operand: Value| {
                let three = binary(builder, BinaryOp::Mul, flags, operand, 3);
                [three, binary(builder, BinaryOp::Add, flags, three, 2)]
            }
        };
        assert_eq!(away(UnaryOp::Sext, next(NSW)), Some(8));
        assert_eq!(away(UnaryOp::Sext, next(IntFlags::default())), None, "2^31 - 1 and what follows are far apart");
        assert_eq!(away(UnaryOp::Zext, next(NSW)), None, "-1 and 1 are far apart");
        assert_eq!(away(UnaryOp::Zext, next(IntFlags { nsw: false, nuw: true })), Some(8));
    }

    #[test]
    fn negative_constants_have_a_sign_where_the_sum_has() {
        let before =
            |builder: &mut Builder<'_>, operand: Value| [operand, binary(builder, BinaryOp::Add, NSW, operand, -1)];
        assert_eq!(away(UnaryOp::Sext, before), Some(-4));
    }

    #[test]
    fn bits_that_are_free_are_added() {
        let or = |times: i128, bits: i128| {
            move |builder: &mut Builder<'_>, operand: Value| {
                let product = binary(builder, BinaryOp::Mul, IntFlags::default(), operand, times);
                [product, binary(builder, BinaryOp::Or, IntFlags::default(), product, bits)]
            }
        };
        assert_eq!(away(UnaryOp::Zext, or(4, 3)), Some(12));
        assert_eq!(away(UnaryOp::Zext, or(4, 4)), None, "the bit may be there");
        assert_eq!(away(UnaryOp::Sext, or(6, 1)), Some(4));
        assert_eq!(away(UnaryOp::Sext, or(6, 2)), None);
    }

    #[test]
    fn other_parts_of_the_address_say_what_does_not_wrap() {
        // p + (x + 2) + (-3 - x), and what is one byte further on.
        let distance = |flags: IntFlags| {
            let mut function = Function::new();
            let (mut builder, inputs) = Builder::with_entry(&mut function, &[Type::Ptr(Space::Global), Type::I32]);
            let next = binary(&mut builder, BinaryOp::Add, flags, inputs[1], 2);
            let minus_three = builder.int(Type::I32, -3);
            let opposite = builder.binary(BinaryOp::Sub, minus_three, inputs[1]);
            let mut address = inputs[0];
            for offset in [next, opposite] {
                let wide = builder.unary(UnaryOp::Sext, Type::I64, offset);
                address = builder.ptr_add(address, wide);
            }
            let (address, constant) = decompose_address(&function, address);
            address.terms.is_empty().then_some(constant)
        };
        assert_eq!(distance(NSW), Some(-1));
        assert_eq!(distance(IntFlags::default()), None, "x may be 2^31 - 1");
    }

    #[test]
    fn all_bits_the_other_way_are_a_difference() {
        let opposite = |builder: &mut Builder<'_>, operand: Value| {
            let minus_one = builder.int(Type::I32, -1);
            let less_one = InstData::Binary {
                opcode: BinaryOp::Sub,
                flags: NSW,
                fast_math: Default::default(),
                arguments: [minus_one, operand],
            };
            let less_one = builder.inst(less_one, &[Type::I32]);
            let less_one = builder.function.single_result(less_one);
            [binary(builder, BinaryOp::Xor, IntFlags::default(), operand, -1), less_one]
        };
        assert_eq!(away(UnaryOp::Sext, opposite), Some(0));
        assert_eq!(away(UnaryOp::Zext, opposite), None);
    }

    #[test]
    fn parts_meet_again() {
        // 2 * x + x and 3 * x + 1.
        let twice = |builder: &mut Builder<'_>, operand: Value| {
            let two = binary(builder, BinaryOp::Shl, NSW, operand, 1);
            let sum = InstData::Binary {
                opcode: BinaryOp::Add,
                flags: NSW,
                fast_math: Default::default(),
                arguments: [two, operand],
            };
            let sum = builder.inst(sum, &[Type::I32]);
            let three = binary(builder, BinaryOp::Mul, NSW, operand, 3);
            [builder.function.single_result(sum), binary(builder, BinaryOp::Add, NSW, three, 1)]
        };
        assert_eq!(away(UnaryOp::Sext, twice), Some(4));
    }
}
