//! Vectors and aggregates: bookkeeping over their scalars, and changes of shape.

use super::emit::{Body, Lanes, operand_of};
use super::error::{Attempt, refuse};
use super::llvm::{Type as LlvmType, TypeKind, Value as LlvmValue};
use super::types::leaf_types;
use lockstep_ir::ir::{BinaryOp, IntCc, UnaryOp, Value};
use lockstep_protocol::types::Type;
use std::ops::Range;

/// A dynamic index into more elements than this is refused.
const MAX_DYNAMIC: usize = 64;

/// The scalars of one element of a vector (or an aggregate) whose index is not known.
pub(super) fn extract_element<'m>(body: &mut Body<'_, 'm>, instruction: LlvmValue<'m>) -> Attempt<Lanes> {
    let vector = body.operand_lanes(instruction, 0)?;
    let index = body.scalar_operand(instruction, 1)?;
    let lane = match body.function.const_bits(index) {
        Some(i) => match usize::try_from(i).ok().and_then(|position| vector.get(position)) {
            Some(&lane) => lane,
            // An element outside the vector is poison.
            None => match body.leaf_types(instruction.ty())?[..] {
                [ty] => body.int_constant(ty, 0),
                _ => refuse!("the instruction `{}`", instruction.text()),
            },
        },
        None if vector.is_empty() || vector.len() > MAX_DYNAMIC => {
            refuse!("a dynamic index into a vector of {} elements", vector.len())
        }
        None => select_element(body, &vector, index),
    };
    Ok(Lanes::from([lane]))
}

/// A tree of selects: one level per bit of the index, so that its depth is the logarithm.
fn select_element(body: &mut Body<'_, '_>, vector: &[Value], index: Value) -> Value {
    let mut level = vector.to_vec();
    let mut bit = 0;
    while level.len() > 1 {
        let shifted = body.binary_int(BinaryOp::Lshr, index, bit);
        let condition = body.zext_or_trunc(Type::BOOL, shifted);
        level = level
            .chunks(2)
            .map(|pair| match *pair {
                [even, odd] => body.select(condition, odd, even),
                _ => pair[0],
            })
            .collect();
        bit += 1;
    }
    level[0]
}

/// A vector with one element replaced.
pub(super) fn insert_element<'m>(body: &mut Body<'_, 'm>, instruction: LlvmValue<'m>) -> Attempt<Lanes> {
    let mut vector = body.operand_lanes(instruction, 0)?.to_vec();
    let element = body.scalar_operand(instruction, 1)?;
    let index = body.scalar_operand(instruction, 2)?;
    if let Some(i) = body.function.const_bits(index) {
        if let Some(lane) = usize::try_from(i).ok().and_then(|position| vector.get_mut(position)) {
            *lane = element;
        }
        return Ok(vector.into());
    }
    if vector.len() > MAX_DYNAMIC {
        refuse!("a dynamic index into a vector of {} elements", vector.len());
    }
    for (position, lane) in vector.iter_mut().enumerate() {
        let here = body.icmp_int(IntCc::Eq, index, position as u128);
        *lane = body.select(here, element, *lane);
    }
    Ok(vector.into())
}

/// Elements of two vectors in a new order.
pub(super) fn import_shuffle<'m>(body: &mut Body<'_, 'm>, instruction: LlvmValue<'m>) -> Attempt<Lanes> {
    let mut both = body.operand_lanes(instruction, 0)?.to_vec();
    both.extend_from_slice(&body.operand_lanes(instruction, 1)?);
    let types = body.leaf_types(instruction.ty())?;
    let mask = instruction.shuffle_mask();
    if mask.len() != types.len() {
        refuse!("the instruction `{}`", instruction.text());
    }
    let lanes = mask.into_iter().zip(types);
    Ok(lanes
        .map(|(from, ty)| match from.and_then(|index| both.get(index as usize)) {
            Some(&lane) => lane,
            None => body.int_constant(ty, 0),
        })
        .collect())
}

/// Which scalars of an aggregate the indices name.
fn field_range<'m>(body: &Body<'_, 'm>, mut ty: LlvmType<'m>, indices: &[u32]) -> Attempt<Range<usize>> {
    let llvm = body.module.llvm;
    let mut start = 0;
    for &index in indices {
        match ty.kind() {
            TypeKind::Struct(_) => {
                for position in 0..index {
                    if let Some(field) = ty.field_type(position) {
                        start += leaf_types(llvm, field)?.len();
                    }
                }
                match ty.field_type(index) {
                    Some(field) => ty = field,
                    None => refuse!("field {index} of {}", ty.spelling()),
                }
            }
            TypeKind::Array(n, element) if u64::from(index) < n => {
                start += leaf_types(llvm, element)?.len() * index as usize;
                ty = element;
            }
            _ => refuse!("an element of {}", ty.spelling()),
        }
    }
    Ok(start..start + leaf_types(llvm, ty)?.len())
}

/// A part of an aggregate.
pub(super) fn extract_value<'m>(body: &mut Body<'_, 'm>, instruction: LlvmValue<'m>) -> Attempt<Lanes> {
    let aggregate = operand_of(instruction, 0)?;
    let range = field_range(body, aggregate.ty(), &instruction.indices())?;
    match body.lanes_of(aggregate)?.get(range) {
        Some(part) => Ok(part.into()),
        None => refuse!("the instruction `{}`", instruction.text()),
    }
}

/// An aggregate with a part replaced.
pub(super) fn insert_value<'m>(body: &mut Body<'_, 'm>, instruction: LlvmValue<'m>) -> Attempt<Lanes> {
    let range = field_range(body, instruction.ty(), &instruction.indices())?;
    let mut lanes = body.operand_lanes(instruction, 0)?.to_vec();
    let part = body.operand_lanes(instruction, 1)?;
    match lanes.get_mut(range) {
        Some(place) if place.len() == part.len() => place.copy_from_slice(&part),
        _ => refuse!("the instruction `{}`", instruction.text()),
    }
    Ok(lanes.into())
}

/// The same bits as scalars of other types, the first element in the lowest bits. Bits beyond those of
/// the new types are dropped; missing ones are zero.
pub(super) fn bitcast_lanes(body: &mut Body<'_, '_>, arguments: &[Value], types: &[Type]) -> Attempt<Vec<Value>> {
    let (Some(&first), Some(&to_type)) = (arguments.first(), types.first()) else {
        return Ok(Vec::new());
    };
    let from_type = body.type_of(first);
    let uniform = arguments.iter().all(|&value| body.type_of(value).bits() == from_type.bits())
        && types.iter().all(|ty| ty.bits() == to_type.bits());
    if !uniform {
        refuse!("a reinterpretation of a mixed aggregate");
    }
    if from_type == to_type && arguments.len() == types.len() {
        return Ok(arguments.to_vec());
    }
    let ints: Vec<Value> = arguments.iter().map(|&value| body.bits_of(value)).collect();
    let (have, want) = (from_type.bits(), to_type.bits());
    let ints = if let ([one], [_]) = (&ints[..], types) {
        vec![body.zext_or_trunc(Type::Int(want as u16), *one)]
    } else {
        let piece = gcd(have, want);
        let mut pieces = Vec::new();
        for integer in ints {
            split_integer(body, integer, piece, &mut pieces);
        }
        let zero = body.int_constant(Type::Int(piece as u16), 0);
        let per = (want / piece) as usize;
        pieces.resize(per * types.len(), zero);
        pieces.chunks(per).map(|chunk| join_integers(body, chunk)).collect()
    };
    let lanes = ints.into_iter().zip(types);
    Ok(lanes.map(|(integer, &ty)| body.with_bits(ty, integer)).collect())
}

fn gcd(left: u32, right: u32) -> u32 {
    if right == 0 { left } else { gcd(right, left % right) }
}

/// Cuts an integer into pieces, the lowest first.
fn split_integer(body: &mut Body<'_, '_>, integer: Value, piece: u32, output: &mut Vec<Value>) {
    let bits = body.type_of(integer).bits();
    if bits == piece {
        output.push(integer);
        return;
    }
    for index in 0..bits / piece {
        let shifted = body.binary_int(BinaryOp::Lshr, integer, u128::from(index * piece));
        output.push(body.unary(UnaryOp::Trunc, Type::Int(piece as u16), shifted));
    }
}

/// Puts integers of one type together, the lowest first.
fn join_integers(body: &mut Body<'_, '_>, pieces: &[Value]) -> Value {
    let piece = body.type_of(pieces[0]).bits();
    if pieces.len() == 1 {
        return pieces[0];
    }
    let ty = Type::Int((piece * pieces.len() as u32) as u16);
    let mut joined = body.unary(UnaryOp::Zext, ty, pieces[0]);
    for (index, &high) in pieces.iter().enumerate().skip(1) {
        let high = body.unary(UnaryOp::Zext, ty, high);
        let high = body.binary_int(BinaryOp::Shl, high, u128::from(piece) * index as u128);
        joined = body.binary(BinaryOp::Or, joined, high);
    }
    joined
}

/// Combines all elements from first to last.
pub(super) fn fold_lanes(
    body: &mut Body<'_, '_>,
    start: Option<Value>,
    lanes: &[Value],
    mut f: impl FnMut(&mut Body<'_, '_>, Value, Value) -> Value,
) -> Attempt<Value> {
    let mut rest = lanes.iter().copied();
    let Some(mut total) = start.or_else(|| rest.next()) else {
        refuse!("a reduction of no elements");
    };
    for lane in rest {
        total = f(body, total, lane);
    }
    Ok(total)
}
