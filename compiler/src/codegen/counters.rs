//! Copies of counters: what they begin with, and how they are combined with the buffer.

use super::emit::{Emitted, Emitter, vector_of};
use super::frame::Frame;
use crate::codegen::error::CodegenError;
use inkwell::IntPredicate;
use inkwell::values::{IntValue, PointerValue, VectorValue};
use lockstep_ir::analysis::counters::find_neutral_operand;
use lockstep_ir::ir::{AtomicOp, Counters, Kernel, Ordering};
use lockstep_protocol::types::Space;

/// Bytes that are filled or looked at together; copies have a multiple of them.
const PIECE: u64 = 64;

/// Fills the copies with what changes nothing, before the first group of a call.
pub fn fill_copies<'ctx>(emitter: &Emitter<'ctx, '_>, frame: &Frame<'ctx>, kernel: &Kernel) -> Emitted<()> {
    each_piece(emitter, frame, kernel, |piece| {
        let store_instruction = emitter.builder.build_store(piece.address, piece.unchanged)?;
        Ok(store_instruction.set_alignment(PIECE as u32)?)
    })
}

/// Does to the buffers what was done to the copies, behind the last group. Only elements that were changed are accessed:
/// a copy may be longer than the buffer.
pub fn merge_copies<'ctx>(emitter: &Emitter<'ctx, '_>, frame: &Frame<'ctx>, kernel: &Kernel) -> Emitted<()> {
    each_piece(emitter, frame, kernel, |piece| merge_piece(emitter, frame, piece))
}

/// Does to the buffer what was done to a piece of its copy, element by element that was changed.
fn merge_piece<'ctx>(emitter: &Emitter<'ctx, '_>, frame: &Frame<'ctx>, piece: &Piece<'ctx>) -> Emitted<()> {
    let Piece { counters, address, unchanged, offset } = *piece;
    let builder = &emitter.builder;
    let piece_type = unchanged.get_type();
    let elements = builder.build_load(piece_type, address, "")?.into_vector_value();
    let changed = builder.build_int_compare(IntPredicate::NE, elements, unchanged, "")?;
    let lane_bits = builder.build_bit_cast(changed, emitter.int_type(piece_type.get_size()), "")?.into_int_value();
    let lane_bits = builder.build_int_z_extend(lane_bits, emitter.i64_type(), "")?;
    let (current_block, head_block, after_block) =
        (emitter.current_block()?, emitter.append_block("counter"), emitter.append_block("counters.next"));
    let zero = emitter.const64(0);
    let any_lane = builder.build_int_compare(IntPredicate::NE, lane_bits, zero, "")?;
    builder.build_conditional_branch(any_lane, head_block, after_block)?;
    emitter.position_at(head_block);
    let elements_left = emitter.phi(emitter.i64_type(), &[(&lane_bits, current_block)], "changed")?;
    let bits_left = elements_left.as_basic_value().into_int_value();
    let not_none = emitter.context.bool_type().const_int(1, false);
    let index =
        emitter.call_intrinsic("llvm.cttz", &[emitter.i64_type().into()], &[bits_left.into(), not_none.into()])?;
    let index = index.into_int_value();
    let byte_offset = emitter.mul(index, emitter.const64(counters.ty.bytes().into()))?;
    let (element, _) =
        emitter.load(counters.ty, emitter.offset_address(address, byte_offset, false)?, counters.ty.bytes())?;
    let buffer = frame.inputs[counters.input as usize].into_pointer_value();
    let element_address = emitter.offset_address(buffer, emitter.add(offset, byte_offset)?, false)?;
    // What was taken from nothing is added.
    let opcode = if counters.opcode == AtomicOp::Sub { AtomicOp::Add } else { counters.opcode };
    emitter.atomic_rmw(opcode, Ordering::Relaxed, counters.ty, element_address, Space::Global, element)?;
    let bits_after = builder.build_and(bits_left, builder.build_int_sub(bits_left, emitter.const64(1), "")?, "")?;
    elements_left.add_incoming(&[(&bits_after, emitter.current_block()?)]);
    let is_more = builder.build_int_compare(IntPredicate::NE, bits_after, zero, "")?;
    builder.build_conditional_branch(is_more, head_block, after_block)?;
    emitter.position_at(after_block);
    Ok(())
}

/// A piece of a copy.
struct Piece<'ctx> {
    /// What the copy is of.
    counters: Counters,
    /// Where the piece is.
    address: PointerValue<'ctx>,
    /// A piece in which nothing is changed.
    unchanged: VectorValue<'ctx>,
    /// The piece's offset in the copy, in bytes.
    offset: IntValue<'ctx>,
}

/// Emits loops over the pieces of all copies.
fn each_piece<'ctx>(
    emitter: &Emitter<'ctx, '_>,
    frame: &Frame<'ctx>,
    kernel: &Kernel,
    emit_body: impl Fn(&Piece<'ctx>) -> Emitted<()>,
) -> Emitted<()> {
    let builder = &emitter.builder;
    for (copy, local_data) in frame.locals.iter().zip(kernel.locals.values()) {
        let Some(counters) = local_data.counters else { continue };
        let element_count = (PIECE / u64::from(counters.ty.bytes())) as u32;
        let bit_pattern = find_neutral_operand(counters.opcode, counters.ty)
            .ok_or(CodegenError::NoNeutralOperand { op: counters.opcode.name(), ty: counters.ty })?;
        let unchanged = emitter.splat(emitter.constant(counters.ty, bit_pattern), element_count)?;
        debug_assert_eq!(unchanged.get_type(), vector_of(emitter.value_type(counters.ty), element_count));
        let (current_block, head_block, after_block) =
            (emitter.current_block()?, emitter.append_block("counters"), emitter.append_block("counters.done"));
        builder.build_unconditional_branch(head_block)?;
        emitter.position_at(head_block);
        let each_offset = emitter.phi(emitter.i64_type(), &[(&emitter.const64(0), current_block)], "offset")?;
        let offset = each_offset.as_basic_value().into_int_value();
        let address = emitter.offset_address(*copy, offset, false)?;
        emit_body(&Piece { counters, address, unchanged, offset })?;
        let next_offset = emitter.add(offset, emitter.const64(PIECE))?;
        each_offset.add_incoming(&[(&next_offset, emitter.current_block()?)]);
        let copy_size = emitter.const64(local_data.size);
        let is_more = builder.build_int_compare(IntPredicate::ULT, next_offset, copy_size, "")?;
        builder.build_conditional_branch(is_more, head_block, after_block)?;
        emitter.position_at(after_block);
    }
    Ok(())
}
