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
pub(super) fn extract_element<'m>(kernel_body: &mut Body<'_, 'm>, instruction: LlvmValue<'m>) -> Attempt<Lanes> {
    let vector = kernel_body.operand_lanes(instruction, 0)?;
    let index = kernel_body.scalar_operand(instruction, 1)?;
    let lane = match kernel_body.function.const_bits(index) {
        Some(i) => match usize::try_from(i).ok().and_then(|position| vector.get(position)) {
            Some(&lane) => lane,
            // An element outside the vector is poison.
            None => match kernel_body.leaf_types(instruction.ty())?[..] {
                [scalar_type] => kernel_body.int_constant(scalar_type, 0),
                _ => refuse!("the instruction `{}`", instruction.text()),
            },
        },
        None if vector.is_empty() || vector.len() > MAX_DYNAMIC => {
            refuse!("a dynamic index into a vector of {} elements", vector.len())
        }
        None => select_element(kernel_body, &vector, index),
    };
    Ok(Lanes::from([lane]))
}

/// A tree of selects: one level per bit of the index, so that its depth is the logarithm.
fn select_element(kernel_body: &mut Body<'_, '_>, vector: &[Value], index: Value) -> Value {
    let mut level_values = vector.to_vec();
    let mut index_bit = 0;
    while level_values.len() > 1 {
        let shifted = kernel_body.binary_int(BinaryOp::Lshr, index, index_bit);
        let condition = kernel_body.zext_or_trunc(Type::BOOL, shifted);
        level_values = level_values
            .chunks(2)
            .map(|value_pair| match *value_pair {
                [even, odd] => kernel_body.select(condition, odd, even),
                _ => value_pair[0],
            })
            .collect();
        index_bit += 1;
    }
    level_values[0]
}

/// A vector with one element replaced.
pub(super) fn insert_element<'m>(kernel_body: &mut Body<'_, 'm>, instruction: LlvmValue<'m>) -> Attempt<Lanes> {
    let mut vector = kernel_body.operand_lanes(instruction, 0)?.to_vec();
    let element = kernel_body.scalar_operand(instruction, 1)?;
    let index = kernel_body.scalar_operand(instruction, 2)?;
    if let Some(constant_index) = kernel_body.function.const_bits(index) {
        if let Some(lane) = usize::try_from(constant_index).ok().and_then(|position| vector.get_mut(position)) {
            *lane = element;
        }
        return Ok(vector.into());
    }
    if vector.len() > MAX_DYNAMIC {
        refuse!("a dynamic index into a vector of {} elements", vector.len());
    }
    for (position, lane) in vector.iter_mut().enumerate() {
        let is_here = kernel_body.icmp_int(IntCc::Eq, index, position as u128);
        *lane = kernel_body.select(is_here, element, *lane);
    }
    Ok(vector.into())
}

/// Elements of two vectors in a new order.
pub(super) fn import_shuffle<'m>(kernel_body: &mut Body<'_, 'm>, instruction: LlvmValue<'m>) -> Attempt<Lanes> {
    let mut both_lanes = kernel_body.operand_lanes(instruction, 0)?.to_vec();
    both_lanes.extend_from_slice(&kernel_body.operand_lanes(instruction, 1)?);
    let types = kernel_body.leaf_types(instruction.ty())?;
    let mask = instruction.shuffle_mask();
    if mask.len() != types.len() {
        refuse!("the instruction `{}`", instruction.text());
    }
    let lanes = mask.into_iter().zip(types);
    Ok(lanes
        .map(|(source_lane, scalar_type)| match source_lane.and_then(|index| both_lanes.get(index as usize)) {
            Some(&lane) => lane,
            None => kernel_body.int_constant(scalar_type, 0),
        })
        .collect())
}

/// Which scalars of an aggregate the indices name.
fn field_range<'m>(kernel_body: &Body<'_, 'm>, mut llvm_type: LlvmType<'m>, indices: &[u32]) -> Attempt<Range<usize>> {
    let llvm_module = kernel_body.module.llvm;
    let mut first_leaf = 0;
    for &index in indices {
        match llvm_type.kind() {
            TypeKind::Struct(_) => {
                for position in 0..index {
                    if let Some(field_type) = llvm_type.field_type(position) {
                        first_leaf += leaf_types(llvm_module, field_type)?.len();
                    }
                }
                match llvm_type.field_type(index) {
                    Some(field_type) => llvm_type = field_type,
                    None => refuse!("field {index} of {}", llvm_type.spelling()),
                }
            }
            TypeKind::Array(n, element) if u64::from(index) < n => {
                first_leaf += leaf_types(llvm_module, element)?.len() * index as usize;
                llvm_type = element;
            }
            _ => refuse!("an element of {}", llvm_type.spelling()),
        }
    }
    Ok(first_leaf..first_leaf + leaf_types(llvm_module, llvm_type)?.len())
}

/// A part of an aggregate.
pub(super) fn extract_value<'m>(kernel_body: &mut Body<'_, 'm>, instruction: LlvmValue<'m>) -> Attempt<Lanes> {
    let aggregate = operand_of(instruction, 0)?;
    let range = field_range(kernel_body, aggregate.ty(), &instruction.indices())?;
    match kernel_body.lanes_of(aggregate)?.get(range) {
        Some(part) => Ok(part.into()),
        None => refuse!("the instruction `{}`", instruction.text()),
    }
}

/// An aggregate with a part replaced.
pub(super) fn insert_value<'m>(kernel_body: &mut Body<'_, 'm>, instruction: LlvmValue<'m>) -> Attempt<Lanes> {
    let range = field_range(kernel_body, instruction.ty(), &instruction.indices())?;
    let mut lanes = kernel_body.operand_lanes(instruction, 0)?.to_vec();
    let inserted = kernel_body.operand_lanes(instruction, 1)?;
    match lanes.get_mut(range) {
        Some(place) if place.len() == inserted.len() => place.copy_from_slice(&inserted),
        _ => refuse!("the instruction `{}`", instruction.text()),
    }
    Ok(lanes.into())
}

/// The same bits as scalars of other types, the first element in the lowest bits. Bits beyond those of
/// the new types are dropped; missing ones are zero.
pub(super) fn bitcast_lanes(
    kernel_body: &mut Body<'_, '_>,
    arguments: &[Value],
    types: &[Type],
) -> Attempt<Vec<Value>> {
    let (Some(&first), Some(&to_type)) = (arguments.first(), types.first()) else {
        return Ok(Vec::new());
    };
    let from_type = kernel_body.type_of(first);
    let uniform = arguments.iter().all(|&value| kernel_body.type_of(value).bits() == from_type.bits())
        && types.iter().all(|scalar_type| scalar_type.bits() == to_type.bits());
    if !uniform {
        refuse!("a reinterpretation of a mixed aggregate");
    }
    if from_type == to_type && arguments.len() == types.len() {
        return Ok(arguments.to_vec());
    }
    let integer_lanes: Vec<Value> = arguments.iter().map(|&value| kernel_body.bits_of(value)).collect();
    let (source_width, target_width) = (from_type.bits(), to_type.bits());
    let integer_lanes = if let ([single_lane], [_]) = (&integer_lanes[..], types) {
        vec![kernel_body.zext_or_trunc(Type::Int(target_width as u16), *single_lane)]
    } else {
        let piece_width = gcd(source_width, target_width);
        let mut pieces = Vec::new();
        for integer in integer_lanes {
            split_integer(kernel_body, integer, piece_width, &mut pieces);
        }
        let zero_value = kernel_body.int_constant(Type::Int(piece_width as u16), 0);
        let pieces_each = (target_width / piece_width) as usize;
        pieces.resize(pieces_each * types.len(), zero_value);
        pieces.chunks(pieces_each).map(|lane_chunk| join_integers(kernel_body, lane_chunk)).collect()
    };
    let lanes = integer_lanes.into_iter().zip(types);
    Ok(lanes.map(|(integer, &scalar_type)| kernel_body.with_bits(scalar_type, integer)).collect())
}

fn gcd(left: u32, right: u32) -> u32 {
    if right == 0 { left } else { gcd(right, left % right) }
}

/// Cuts an integer into pieces, the lowest first.
fn split_integer(kernel_body: &mut Body<'_, '_>, integer: Value, piece_width: u32, output: &mut Vec<Value>) {
    let bit_width = kernel_body.type_of(integer).bits();
    if bit_width == piece_width {
        output.push(integer);
        return;
    }
    for index in 0..bit_width / piece_width {
        let shifted = kernel_body.binary_int(BinaryOp::Lshr, integer, u128::from(index * piece_width));
        output.push(kernel_body.unary(UnaryOp::Trunc, Type::Int(piece_width as u16), shifted));
    }
}

/// Puts integers of one type together, the lowest first.
fn join_integers(kernel_body: &mut Body<'_, '_>, pieces: &[Value]) -> Value {
    let piece_width = kernel_body.type_of(pieces[0]).bits();
    if pieces.len() == 1 {
        return pieces[0];
    }
    let scalar_type = Type::Int((piece_width * pieces.len() as u32) as u16);
    let mut joined = kernel_body.unary(UnaryOp::Zext, scalar_type, pieces[0]);
    for (index, &high_part) in pieces.iter().enumerate().skip(1) {
        let high_part = kernel_body.unary(UnaryOp::Zext, scalar_type, high_part);
        let high_part = kernel_body.binary_int(BinaryOp::Shl, high_part, u128::from(piece_width) * index as u128);
        joined = kernel_body.binary(BinaryOp::Or, joined, high_part);
    }
    joined
}

/// Combines all elements from first to last.
pub(super) fn fold_lanes(
    kernel_body: &mut Body<'_, '_>,
    start_value: Option<Value>,
    lanes: &[Value],
    mut combine: impl FnMut(&mut Body<'_, '_>, Value, Value) -> Value,
) -> Attempt<Value> {
    let mut lanes_left = lanes.iter().copied();
    let Some(mut so_far) = start_value.or_else(|| lanes_left.next()) else {
        refuse!("a reduction of no elements");
    };
    for lane in lanes_left {
        so_far = combine(kernel_body, so_far, lane);
    }
    Ok(so_far)
}
