//! Addresses of lanes that are near a common one: that and, lane by lane, an offset that fits 32 bits.
//!
//! Of such offsets a register holds twice as many as of addresses, two leave it together, and the machine adds the common
//! address to them.

use crate::ir::{BinaryOp, Function, InstData, UnaryOp, Value, ValueDef};
use lockstep_protocol::types::{Space, Type};

/// The parts of an offset that is a sum. An offset of more parts is taken as a whole.
const MOST_PARTS: usize = 8;

/// The widest element that an address mode multiplies an offset with, in bytes, as the power of two.
const MOST_SHIFT: u128 = 3;

/// An address as a common one and what each lane has more.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CommonBase {
    /// The common address, less the uniform offsets.
    pub base: Value,
    /// Bytes that all lanes have more.
    pub uniform: Vec<Value>,
    /// What each lane adds to that, in bytes.
    pub offsets: LaneOffsets,
}

/// What differs between lanes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum LaneOffsets {
    /// 32 bits that are all there is to an offset.
    Narrow {
        /// The value of 32 bits.
        offset: Value,
        /// Whether they are a signed number.
        signed: bool,
        /// It counts `1 << shift` bytes.
        shift: u32,
    },
    /// The lowest 32 bits of the sum of these, in bytes: objects of local memory are small, and their places no farther
    /// from each other.
    Sum(Vec<Value>),
}

/// The common base of an address's lanes, if they are known to be near one.
pub fn find_common_base(
    function: &Function,
    is_uniform: &impl Fn(Value) -> bool,
    pointer: Value,
) -> Option<CommonBase> {
    let (mut base_address, mut inbounds) = (pointer, true);
    let (mut uniform, mut whole) = (Vec::new(), Vec::new());
    while !is_uniform(base_address) {
        let InstData::PtrAdd { base: before, offset, inbounds: stays_inside } = *defining_inst(function, base_address)?
        else {
            return None;
        };
        if is_uniform(offset) {
            uniform.push(offset);
        } else {
            whole.push(offset);
            inbounds &= stays_inside;
        }
        base_address = before;
    }
    let (same, differing): (Vec<_>, Vec<_>) =
        whole.iter().flat_map(|&offset| split_sum(function, is_uniform, offset)).partition(|&part| is_uniform(part));
    let narrow = match differing[..] {
        [one] => find_narrow_offset(function, one),
        _ => None,
    };
    let offsets = match narrow {
        Some((offset, signed, shift)) => {
            uniform.extend(same);
            LaneOffsets::Narrow { offset, signed, shift }
        }
        // Of whole offsets alone is known that they stay within the object.
        None if inbounds && !whole.is_empty() && function.ty(pointer) == Type::Ptr(Space::Local) => {
            LaneOffsets::Sum(whole)
        }
        None => return None,
    };
    Some(CommonBase { base: base_address, uniform, offsets })
}

/// The parts of which an offset is the sum; the offset itself where there are too many. Addresses wrap as the sum does, so that the parts
/// may be added to them one by one.
fn split_sum(function: &Function, is_uniform: &impl Fn(Value) -> bool, offset: Value) -> Vec<Value> {
    let mut parts = vec![offset];
    let mut next = 0;
    while let Some(&part) = parts.get(next) {
        match defining_inst(function, part) {
            Some(&InstData::Binary { opcode: BinaryOp::Add, arguments: [left, right], .. }) if !is_uniform(part) => {
                if parts.len() == MOST_PARTS {
                    return vec![offset];
                }
                parts[next] = left;
                parts.push(right);
            }
            _ => next += 1,
        }
    }
    parts
}

/// The 32 bits that are all there is to an offset, whether they are a signed number, and how far they are shifted.
fn find_narrow_offset(function: &Function, offset: Value) -> Option<(Value, bool, u32)> {
    match *defining_inst(function, offset)? {
        InstData::Unary { opcode: opcode @ (UnaryOp::Sext | UnaryOp::Zext), argument, .. }
            if function.ty(argument) == Type::I32 =>
        {
            Some((argument, opcode == UnaryOp::Sext, 0))
        }
        InstData::Binary { opcode: BinaryOp::Shl, arguments: [offset, amount], .. } => {
            let amount = function.const_bits(amount).filter(|&amount| amount <= MOST_SHIFT)?;
            let (narrow, signed, shift) = find_narrow_offset(function, offset).filter(|&(.., shift)| shift == 0)?;
            Some((narrow, signed, shift + amount as u32))
        }
        _ => None,
    }
}

fn defining_inst(function: &Function, value: Value) -> Option<&InstData> {
    match function.values[value].definition {
        ValueDef::Result(instruction, _) => Some(&function.insts[instruction].data),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ir::Builder;

    /// The common base of what `build` makes of a uniform pointer and a number of 32 bits that is not.
    fn of(address_space: Space, build: impl Fn(&mut Builder<'_>, Value, Value) -> Value) -> Option<LaneOffsets> {
        base_of(address_space, build).map(|found| found.offsets)
    }

    /// The same, whole.
    fn base_of(address_space: Space, build: impl Fn(&mut Builder<'_>, Value, Value) -> Value) -> Option<CommonBase> {
        let mut function = Function::new();
        let (mut builder, inputs) = Builder::with_entry(&mut function, &[Type::Ptr(address_space), Type::I32]);
        let pointer = build(&mut builder, inputs[0], inputs[1]);
        builder.ret();
        let found =
            find_common_base(&function, &|value| value == inputs[0] || function.const_bits(value).is_some(), pointer)?;
        assert_eq!(found.base, inputs[0]);
        Some(found)
    }

    #[test]
    fn offsets_of_32_bits_are_near() {
        let scaled = |builder: &mut Builder<'_>, base_address, index, amount| {
            let wide = builder.unary(UnaryOp::Sext, Type::I64, index);
            let amount = builder.int(Type::I64, amount);
            let bytes = builder.binary(BinaryOp::Shl, wide, amount);
            builder.ptr_add(base_address, bytes)
        };
        let narrow = of(Space::Global, |builder, base_address, index| scaled(builder, base_address, index, 3));
        assert!(matches!(narrow, Some(LaneOffsets::Narrow { signed: true, shift: 3, .. })), "{narrow:?}");
        assert_eq!(of(Space::Global, |b, base, index| scaled(b, base, index, 4)), None, "no address mode has that");
    }

    #[test]
    fn what_all_lanes_have_is_taken_out_of_sums() {
        let sum = |builder: &mut Builder<'_>, base_address, indices: &[Value]| {
            let constant = builder.int(Type::I64, 40);
            let bytes = indices.iter().fold(constant, |bytes, &index| {
                let wide = builder.unary(UnaryOp::Sext, Type::I64, index);
                builder.binary(BinaryOp::Add, bytes, wide)
            });
            builder.ptr_add(base_address, bytes)
        };
        let narrow = of(Space::Global, |builder, base_address, index| sum(builder, base_address, &[index]));
        assert!(matches!(narrow, Some(LaneOffsets::Narrow { signed: true, shift: 0, .. })), "{narrow:?}");
        let two = of(Space::Global, |builder, base_address, index| sum(builder, base_address, &[index, index]));
        assert_eq!(two, None, "two numbers that differ may be more than 32 bits together");
        let many = |builder: &mut Builder<'_>, base_address, index| {
            let wide = builder.unary(UnaryOp::Sext, Type::I64, index);
            let doubled = (0..40).fold(wide, |sum, _| builder.binary(BinaryOp::Add, sum, sum));
            builder.ptr_add(base_address, doubled)
        };
        assert_eq!(of(Space::Global, many), None);
    }

    /// That an address stays within its object says something of the whole offset, and nothing of its parts.
    #[test]
    fn offsets_in_local_memory_are_not_taken_apart() {
        let found = base_of(Space::Local, |builder, base_address, index| {
            let wide = builder.unary(UnaryOp::Sext, Type::I64, index);
            let product = builder.binary(BinaryOp::Mul, wide, wide);
            let far = builder.int(Type::I64, 1 << 40);
            let bytes = builder.binary(BinaryOp::Add, product, far);
            builder.ptr_add(base_address, bytes)
        });
        let found = found.expect("lanes are within an object");
        assert!(matches!(&found.offsets, LaneOffsets::Sum(parts) if parts.len() == 1), "{found:?}");
        assert!(found.uniform.is_empty(), "{found:?}");
    }
}
