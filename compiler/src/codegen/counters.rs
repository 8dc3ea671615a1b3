//! Copies of counters: what they begin with, and how they are combined with the buffer.

use super::emit::{Emitted, Emitter, vector_of};
use super::frame::Frame;
use inkwell::IntPredicate;
use inkwell::builder::BuilderError;
use inkwell::values::{IntValue, PointerValue, VectorValue};
use lockstep_ir::analysis::counters::find_neutral_operand;
use lockstep_ir::ir::{AtomicOp, Counters, Kernel, Ordering};
use lockstep_protocol::types::Space;

/// Bytes that are filled or looked at together; copies have a multiple of them.
const PIECE: u64 = 64;

/// Fills the copies with what changes nothing, before the first group of a call.
pub fn fill_copies<'ctx>(emit: &Emitter<'ctx, '_>, frame: &Frame<'ctx>, kernel: &Kernel) -> Emitted<()> {
    each_piece(emit, frame, kernel, |_, piece, unchanged, _| {
        let store = emit.builder.build_store(piece, unchanged)?;
        store.set_alignment(PIECE as u32).map_err(|_| BuilderError::BitwidthError)
    })
}

/// Does to the buffers what was done to the copies, behind the last group. Only elements that were changed are accessed:
/// a copy may be longer than the buffer.
pub fn merge_copies<'ctx>(emit: &Emitter<'ctx, '_>, frame: &Frame<'ctx>, kernel: &Kernel) -> Emitted<()> {
    each_piece(emit, frame, kernel, |counters, piece, unchanged, offset| {
        let b = &emit.builder;
        let ty = unchanged.get_type();
        let found = b.build_load(ty, piece, "")?.into_vector_value();
        let changed = b.build_int_compare(IntPredicate::NE, found, unchanged, "")?;
        let bits = b.build_bit_cast(changed, emit.int_type(ty.get_size()), "")?.into_int_value();
        let bits = b.build_int_z_extend(bits, emit.i64_type(), "")?;
        let (here, head, behind) =
            (emit.current_block()?, emit.append_block("counter"), emit.append_block("counters.next"));
        let zero = emit.const64(0);
        let any = b.build_int_compare(IntPredicate::NE, bits, zero, "")?;
        b.build_conditional_branch(any, head, behind)?;
        emit.position_at(head);
        let left = emit.phi(emit.i64_type(), &[(&bits, here)], "changed")?;
        let now = left.as_basic_value().into_int_value();
        let not_none = emit.context.bool_type().const_int(1, false);
        let number = emit.call_intrinsic("llvm.cttz", &[emit.i64_type().into()], &[now.into(), not_none.into()])?;
        let number = number.into_int_value();
        let bytes = emit.mul(number, emit.const64(counters.ty.bytes().into()))?;
        let (value, _) = emit.load(counters.ty, emit.offset_address(piece, bytes, false)?, counters.ty.bytes())?;
        let buffer = frame.inputs[counters.input as usize].into_pointer_value();
        let place = emit.offset_address(buffer, emit.add(offset, bytes)?, false)?;
        // What was taken from nothing is added.
        let op = if counters.opcode == AtomicOp::Sub { AtomicOp::Add } else { counters.opcode };
        emit.atomic_rmw(op, Ordering::Relaxed, counters.ty, place, Space::Global, value)?;
        let rest = b.build_and(now, b.build_int_sub(now, emit.const64(1), "")?, "")?;
        left.add_incoming(&[(&rest, emit.current_block()?)]);
        let more = b.build_int_compare(IntPredicate::NE, rest, zero, "")?;
        b.build_conditional_branch(more, head, behind)?;
        emit.position_at(behind);
        Ok(())
    })
}

/// Emits loops over the pieces of all copies, whose bodies get what a piece is of, its address, a piece in which nothing is
/// changed, and its offset in the copy.
fn each_piece<'ctx>(
    emit: &Emitter<'ctx, '_>,
    frame: &Frame<'ctx>,
    kernel: &Kernel,
    body: impl Fn(Counters, PointerValue<'ctx>, VectorValue<'ctx>, IntValue<'ctx>) -> Emitted<()>,
) -> Emitted<()> {
    let b = &emit.builder;
    for (copy, data) in frame.locals.iter().zip(kernel.locals.values()) {
        let Some(counters) = data.counters else { continue };
        let count = (PIECE / u64::from(counters.ty.bytes())) as u32;
        let bits = find_neutral_operand(counters.opcode, counters.ty).ok_or(BuilderError::UnsetPosition)?;
        let unchanged = emit.splat(emit.constant(counters.ty, bits), count)?;
        debug_assert_eq!(unchanged.get_type(), vector_of(emit.value_type(counters.ty), count));
        let (here, head, behind) =
            (emit.current_block()?, emit.append_block("counters"), emit.append_block("counters.done"));
        b.build_unconditional_branch(head)?;
        emit.position_at(head);
        let offset = emit.phi(emit.i64_type(), &[(&emit.const64(0), here)], "offset")?;
        let at = offset.as_basic_value().into_int_value();
        body(counters, emit.offset_address(*copy, at, false)?, unchanged, at)?;
        let next = emit.add(at, emit.const64(PIECE))?;
        offset.add_incoming(&[(&next, emit.current_block()?)]);
        let more = b.build_int_compare(IntPredicate::ULT, next, emit.const64(data.size), "")?;
        b.build_conditional_branch(more, head, behind)?;
        emit.position_at(behind);
    }
    Ok(())
}
