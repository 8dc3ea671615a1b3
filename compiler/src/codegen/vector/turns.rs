//! The gangs of a region that may wait for each other: one after the other as they are taken ([`crate::codegen::turns`]).

use super::gangs::{Rows, first_lanes};
use super::{EmitContext, Gang, VectorEmitter};
use crate::codegen::coroutines::open_pieces;
use crate::codegen::emit::Emitted;
use crate::codegen::error::CodegenError;
use crate::codegen::groups::Item;
use inkwell::IntPredicate;
use lockstep_ir::ir::{Function, Region};
use lockstep_ir::plan::RegionPlan;
use lockstep_protocol::layout::Layout;

/// Emits the code of the region's function; the answer: where the group may go on.
pub fn take_gangs<'ctx>(
    around: EmitContext<'_, 'ctx, '_>,
    body: &Function,
    plan: &RegionPlan,
) -> Emitted<Vec<Option<Region>>> {
    let EmitContext { emitter, group, .. } = around;
    let (builder, layout, width) = (&emitter.builder, around.widening.layout, u64::from(around.width()));
    // Sub-groups are rows, or have consecutive linear ids.
    if around.widening.run.is_some() {
        return Err(CodegenError::Unexpected("work-items that wait for each other run in rows".into()));
    }
    let [along, middle, outer] = layout.loop_order();
    let (mut size, mut rows) = (group.size[along], [group.size[middle], group.size[outer]]);
    if layout == Layout::Linear {
        size = emitter.mul(emitter.mul(size, rows[0])?, rows[1])?;
        rows = [emitter.const64(1); 2];
    }
    let up = emitter.add(size, emitter.const64(width - 1))?;
    let of_row = builder.build_int_unsigned_div(up, emitter.const64(width), "gangs")?;
    let pieces = open_pieces(emitter, emitter.mul(emitter.mul(of_row, rows[0])?, rows[1])?)?;
    let row = builder.build_int_unsigned_div(pieces.number, of_row, "row")?;
    let place = builder.build_int_unsigned_rem(pieces.number, of_row, "")?;
    let operand = emitter.mul(place, emitter.const64(width))?;
    let first = || -> Emitted<Item<'ctx>> {
        let mut local = [operand; 3];
        local[middle] = builder.build_int_unsigned_rem(row, rows[0], "")?;
        local[outer] = builder.build_int_unsigned_div(row, rows[0], "")?;
        let mut global = local;
        for (dimension, global) in global.iter_mut().enumerate() {
            *global = builder.build_int_add(group.first[dimension], local[dimension], "")?;
        }
        Ok(Item { local, global, number: emitter.add(emitter.mul(row, size)?, operand)? })
    };

    let kinds = Rows::of_launches(&around.frame.launch, around.width(), layout);
    let left = builder.build_int_sub(size, operand, "left")?;
    let [full, partial] = ["gang", "tail"].map(|name| emitter.append_block(name));
    let is_full = builder.build_int_compare(IntPredicate::UGE, left, emitter.const64(width), "")?;
    match kinds {
        Rows { has_full: true, has_partial: true } => builder.build_conditional_branch(is_full, full, partial)?,
        Rows { has_full: true, has_partial: false } => builder.build_unconditional_branch(full)?,
        Rows { has_full: false, .. } => builder.build_unconditional_branch(partial)?,
    };
    let mut nexts = Vec::new();
    for (target, is_there, is_partial) in [(full, kinds.has_full, false), (partial, kinds.has_partial, true)] {
        emitter.position_at(target);
        if !is_there {
            builder.build_unreachable()?;
            continue;
        }
        let entry = is_partial.then(|| first_lanes(around, left)).transpose()?;
        let exits = VectorEmitter::emit_region(around, &Gang { first: first()?, entry }, body, plan)?;
        nexts.extend(pieces.leave_piece(emitter, &exits)?);
    }
    pieces.close_function(emitter)?;
    Ok(nexts)
}
