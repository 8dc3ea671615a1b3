//! The gangs of a region that may wait for each other: one after the other as they are taken ([`crate::codegen::turns`]).

use super::gangs::first_lanes;
use super::{EmitContext, Gang, VectorEmitter};
use crate::codegen::coroutines::open_pieces;
use crate::codegen::emit::Emitted;
use crate::codegen::error::CodegenError;
use crate::codegen::work_item::Item;
use inkwell::IntPredicate;
use lockstep_ir::ir::{Function, Region};
use lockstep_ir::plan::RegionPlan;
use lockstep_ir::plan::gang_kinds::GangKinds;
use lockstep_protocol::layout::Layout;

/// Emits the code of the region's function; the answer: where the group may go on.
pub fn take_gangs<'ctx>(
    around: EmitContext<'_, 'ctx, '_>,
    function: &Function,
    region_plan: &RegionPlan,
) -> Emitted<Vec<Option<Region>>> {
    let EmitContext { emitter, group, .. } = around;
    let (builder, layout, gang_width) = (&emitter.builder, around.widening.layout, u64::from(around.width()));
    // Sub-groups are rows, or have consecutive linear ids.
    if around.widening.run.is_some() {
        return Err(CodegenError::Unexpected("work-items that wait for each other run in rows".into()));
    }
    let [along_dimension, middle_dimension, outer_dimension] = layout.loop_order();
    let (mut row_size, mut outer_sizes) =
        (group.size[along_dimension], [group.size[middle_dimension], group.size[outer_dimension]]);
    if layout == Layout::Linear {
        row_size = emitter.mul(emitter.mul(row_size, outer_sizes[0])?, outer_sizes[1])?;
        outer_sizes = [emitter.const64(1); 2];
    }
    let rounded_up = emitter.add(row_size, emitter.const64(gang_width - 1))?;
    let gangs_per_row = builder.build_int_unsigned_div(rounded_up, emitter.const64(gang_width), "gangs")?;
    let gang_pieces = open_pieces(emitter, emitter.mul(emitter.mul(gangs_per_row, outer_sizes[0])?, outer_sizes[1])?)?;
    let row_index = builder.build_int_unsigned_div(gang_pieces.number, gangs_per_row, "row")?;
    let gang_position = builder.build_int_unsigned_rem(gang_pieces.number, gangs_per_row, "")?;
    let along_index = emitter.mul(gang_position, emitter.const64(gang_width))?;
    let first_item = || -> Emitted<Item<'ctx>> {
        let mut local_id = [along_index; 3];
        local_id[middle_dimension] = builder.build_int_unsigned_rem(row_index, outer_sizes[0], "")?;
        local_id[outer_dimension] = builder.build_int_unsigned_div(row_index, outer_sizes[0], "")?;
        let mut global = local_id;
        for (dimension, global) in global.iter_mut().enumerate() {
            *global = builder.build_int_add(group.first[dimension], local_id[dimension], "")?;
        }
        Ok(Item { local: local_id, global, number: emitter.add(emitter.mul(row_index, row_size)?, along_index)? })
    };

    let row_kinds = GangKinds::of_launches(&around.frame.launch, around.width(), layout);
    let items_left = builder.build_int_sub(row_size, along_index, "left")?;
    let [full_block, partial_block] = ["gang", "tail"].map(|name| emitter.append_block(name));
    let is_full = builder.build_int_compare(IntPredicate::UGE, items_left, emitter.const64(gang_width), "")?;
    match row_kinds {
        GangKinds { has_full: true, has_partial: true } => {
            builder.build_conditional_branch(is_full, full_block, partial_block)?
        }
        GangKinds { has_full: true, has_partial: false } => builder.build_unconditional_branch(full_block)?,
        GangKinds { has_full: false, .. } => builder.build_unconditional_branch(partial_block)?,
    };
    let mut next_regions = Vec::new();
    for (target, is_there, is_partial) in
        [(full_block, row_kinds.has_full, false), (partial_block, row_kinds.has_partial, true)]
    {
        emitter.position_at(target);
        if !is_there {
            builder.build_unreachable()?;
            continue;
        }
        let entry_mask = is_partial.then(|| first_lanes(around, items_left)).transpose()?;
        let exits = VectorEmitter::emit_region(
            around,
            &Gang { first: first_item()?, entry: entry_mask },
            function,
            region_plan,
        )?;
        next_regions.extend(gang_pieces.leave_piece(emitter, &exits)?);
    }
    gang_pieces.close_function(emitter)?;
    Ok(next_regions)
}
