//! The loops of a group's gangs around a region's code.
//!
//! Rows along the lanes' dimension are cut into gangs of W work-items; what is left at the end of a row is a gang too,
//! of which only the first lanes have a work-item. That one has code of its own, in which everything is
//! masked, so that the code of full gangs carries no masks for it. Where launches have no gangs of one kind,
//! there is no code for them. A region whose code takes long to make gets it once: full gangs run the masked code then.

use super::{EmitContext, Gang, VectorEmitter};
use crate::codegen::emit::{Emitted, Emitter};
use crate::codegen::groups::Level;
use crate::codegen::region::Exits;
use crate::codegen::work_item::Item;
use cranelift_entity::EntityRef;
use inkwell::IntPredicate;
use inkwell::basic_block::BasicBlock;
use inkwell::types::VectorType;
use inkwell::values::{IntValue, PointerValue, VectorValue};
use lockstep_ir::analysis::cfg::build_cfg;
use lockstep_ir::analysis::dominators::compute_dominators;
use lockstep_ir::analysis::loops::find_loops;
use lockstep_ir::ir::{Function, Region};
use lockstep_ir::plan::RegionPlan;
use lockstep_ir::plan::gang_kinds::GangKinds;
use lockstep_protocol::layout::Layout;

/// Emits a region's code for all work-items of the group, in gangs; emission goes on behind it. The answer:
/// the regions in which the group may go on, of which the one is stored to `next_pointer` by its number.
pub fn run_gangs<'ctx>(
    around: EmitContext<'_, 'ctx, '_>,
    function: &Function,
    region_plan: &RegionPlan,
    next_pointer: PointerValue<'ctx>,
    region_number: impl Fn(Option<Region>) -> IntValue<'ctx>,
) -> Emitted<Vec<Option<Region>>> {
    if let Some(run_length) = around.widening.run {
        return run_tiles(around, function, region_plan, run_length, |emitter, region| {
            Ok(emitter.builder.build_store(next_pointer, region_number(region)).map(drop)?)
        });
    }
    let EmitContext { emitter, group, .. } = around;
    let builder = &emitter.builder;
    let gang_width = emitter.const64(around.width().into());
    let zero = emitter.const64(0);
    let [along_dimension, middle_dimension, outer_dimension] = around.widening.layout.loop_order();
    let outer_level = Level::open_loop(emitter, "outer", group.first[outer_dimension], zero)?;
    let row_level = Level::open_loop(emitter, "rows", group.first[middle_dimension], outer_level.item_number())?;
    // All work-items are one row, or each of the group's is.
    let rows_of = |dimension: usize| match around.widening.layout {
        Layout::Linear => emitter.const64(1),
        _ => group.size[dimension],
    };
    let mut row_size = group.size[along_dimension];
    if around.widening.layout == Layout::Linear {
        row_size = emitter.mul(emitter.mul(row_size, group.size[middle_dimension])?, group.size[outer_dimension])?;
    }
    let items_left = builder.build_and(row_size, emitter.const64(u64::from(around.width()) - 1), "left")?;
    let full_items = builder.build_int_sub(row_size, items_left, "full")?;
    // A row that is one gang has no loop: LLVM would take the loop over rows for one around another, and move what
    // does not change in it out of the inner one alone.
    let is_one_gang = row_size.get_zero_extended_constant() == Some(around.width().into());
    let make_item = |along_index: IntValue<'ctx>| -> Emitted<Item<'ctx>> {
        let (mut local_id, mut global) = ([along_index; 3], [along_index; 3]);
        global[along_dimension] = builder.build_int_add(group.first[along_dimension], along_index, "")?;
        for (dimension, level) in [(middle_dimension, &row_level), (outer_dimension, &outer_level)] {
            (local_id[dimension], global[dimension]) = (level.local_id(), level.global);
        }
        Ok(Item { local: local_id, global, number: emitter.add(row_level.item_number(), along_index)? })
    };
    let mut next_regions = Vec::new();
    let mut leave_gangs = |exits: &Exits<'ctx>, target: BasicBlock<'ctx>| -> Emitted<()> {
        for &(region, source) in exits {
            emitter.position_at(source);
            builder.build_store(next_pointer, region_number(region))?;
            builder.build_unconditional_branch(target)?;
            next_regions.push(region);
        }
        Ok(())
    };

    let row_kinds = GangKinds::of_launches(&around.frame.launch, around.width(), around.widening.layout);
    let share_code = row_kinds.share_code(around.widening.full_gangs, function);
    let rest_block = emitter.append_block("rest");
    if row_kinds.has_full {
        let before_block = emitter.current_block()?;
        let [head_block, latch_block] = ["gang", "gang.next"].map(|name| emitter.append_block(name));
        if row_kinds.has_partial && !share_code {
            let has_gangs = builder.build_int_compare(IntPredicate::NE, full_items, zero, "")?;
            builder.build_conditional_branch(has_gangs, head_block, rest_block)?;
        } else {
            builder.build_unconditional_branch(head_block)?;
        }
        emitter.position_at(head_block);
        let gang_start = match is_one_gang {
            true => None,
            false => Some(emitter.phi(emitter.i64_type(), &[(&zero, before_block)], "x")?),
        };
        let first_item = gang_start.map_or(zero, |phi_node| phi_node.as_basic_value().into_int_value());
        let entry_mask = match share_code {
            true => Some(first_lanes(
                around,
                at_most(emitter, builder.build_int_sub(row_size, first_item, "items")?, gang_width)?,
            )?),
            false => None,
        };
        let exits = VectorEmitter::emit_region(
            around,
            &Gang { first: make_item(first_item)?, entry: entry_mask },
            function,
            region_plan,
        )?;
        leave_gangs(&exits, latch_block)?;
        emitter.position_at(latch_block);
        if let Some(gang_start) = gang_start {
            let next_start = emitter.add(first_item, gang_width)?;
            gang_start.add_incoming(&[(&next_start, latch_block)]);
            let has_more = match share_code {
                true => builder.build_int_compare(IntPredicate::ULT, next_start, row_size, "")?,
                false => builder.build_int_compare(IntPredicate::NE, next_start, full_items, "")?,
            };
            let back_branch = builder.build_conditional_branch(has_more, head_block, rest_block)?;
            if is_written_out(around, function) {
                emitter.write_out(back_branch);
            }
        } else {
            builder.build_unconditional_branch(rest_block)?;
        }
    } else {
        builder.build_unconditional_branch(rest_block)?;
    }

    emitter.position_at(rest_block);
    if row_kinds.has_partial && !share_code {
        let [tail, row_done] = ["tail", "row.done"].map(|name| emitter.append_block(name));
        let has_tail = builder.build_int_compare(IntPredicate::NE, items_left, zero, "")?;
        builder.build_conditional_branch(has_tail, tail, row_done)?;
        emitter.position_at(tail);
        let entry_mask = Some(first_lanes(around, items_left)?);
        let exits = VectorEmitter::emit_region(
            around,
            &Gang { first: make_item(full_items)?, entry: entry_mask },
            function,
            region_plan,
        )?;
        leave_gangs(&exits, row_done)?;
        emitter.position_at(row_done);
    }

    let items_done = emitter.add(row_level.item_number(), row_size)?;
    match is_one_gang {
        true => row_level.close_loop(emitter, rows_of(middle_dimension), items_done)?,
        false => row_level.close_outer(emitter, rows_of(middle_dimension), items_done)?,
    }
    outer_level.close_outer(emitter, rows_of(outer_dimension), items_done)?;
    next_regions.sort();
    next_regions.dedup();
    debug_assert!(next_regions.iter().flatten().all(|region| region.index() < around.kernel.regions.len()));
    Ok(next_regions)
}

/// As [`run_gangs`], for gangs that are several rows of `run_length` work-items. Groups are whole gangs.
fn run_tiles<'ctx>(
    around: EmitContext<'_, 'ctx, '_>,
    function: &Function,
    region_plan: &RegionPlan,
    run_length: u32,
    choose_region: impl Fn(&Emitter<'ctx, '_>, Option<Region>) -> Emitted<()>,
) -> Emitted<Vec<Option<Region>>> {
    let EmitContext { emitter, group, .. } = around;
    let (zero, row_count) = (emitter.const64(0), u64::from(around.width() / run_length));
    let outer_level = Level::open_loop(emitter, "z", group.first[2], zero)?;
    let tile_level = Level::open_loop(emitter, "tile", zero, outer_level.item_number())?;
    let tile_row = emitter.mul(tile_level.local_id(), emitter.const64(row_count))?;
    // Ids may wrap: the offset is any number.
    let global = [group.first[0], emitter.builder.build_int_add(group.first[1], tile_row, "")?, outer_level.global];
    let first_item = Item { local: [zero, tile_row, outer_level.local_id()], global, number: tile_level.item_number() };
    let exits = VectorEmitter::emit_region(around, &Gang { first: first_item, entry: None }, function, region_plan)?;
    let latch_block = emitter.append_block("tile.next");
    let mut next_regions = Vec::new();
    for &(region, source) in &exits {
        emitter.position_at(source);
        choose_region(emitter, region)?;
        emitter.builder.build_unconditional_branch(latch_block)?;
        next_regions.push(region);
    }
    emitter.position_at(latch_block);
    let following = emitter.add(tile_level.item_number(), emitter.const64(around.width().into()))?;
    let tile_count = emitter.builder.build_int_unsigned_div(group.size[1], emitter.const64(row_count), "")?;
    tile_level.close_loop(emitter, tile_count, following)?;
    outer_level.close_outer(emitter, group.size[2], following)?;
    next_regions.sort();
    next_regions.dedup();
    Ok(next_regions)
}

/// Instructions of all gangs of a group in all regions up to which each gang gets code of its own.
const MOST_INSTS: u64 = 6000;

/// Gangs of a group that get code of their own: more leave little in registers.
const MOST_GANGS: u64 = 32;

/// Whether the gangs of a group are so few that each gets code of its own: with barriers between them, so that what one
/// region leaves for the next may stay in registers.
fn is_written_out(around: EmitContext<'_, '_, '_>, function: &Function) -> bool {
    let launch = &around.frame.launch;
    let [along_dimension, middle_dimension, outer_dimension] = around.widening.layout.loop_order();
    let one_row = [middle_dimension, outer_dimension].map(|dimension| launch.local_size(dimension)) == [Some(1); 2];
    let row_items = launch.local_size(along_dimension).filter(|_| one_row && around.kernel.regions.len() > 1);
    let Some(row_items) = row_items else { return false };
    let all_instructions: u64 = around.kernel.regions.values().map(Function::count_placed_insts).sum();
    let graph = build_cfg(function);
    let is_straight = find_loops(&graph, &compute_dominators(&graph)).iter().next().is_none();
    let gang_count = u64::from(row_items / around.width());
    is_straight && gang_count <= MOST_GANGS && all_instructions * gang_count <= MOST_INSTS
}

fn at_most<'ctx>(
    emitter: &Emitter<'ctx, '_>,
    item_count: IntValue<'ctx>,
    maximum: IntValue<'ctx>,
) -> Emitted<IntValue<'ctx>> {
    let minimum =
        emitter.call_intrinsic("llvm.umin", &[emitter.i64_type().into()], &[item_count.into(), maximum.into()])?;
    Ok(minimum.into_int_value())
}

/// The mask of the first `item_count` lanes.
pub fn first_lanes<'ctx>(around: EmitContext<'_, 'ctx, '_>, item_count: IntValue<'ctx>) -> Emitted<VectorValue<'ctx>> {
    let (emitter, gang_width) = (around.emitter, around.width());
    let i32_type = emitter.context.i32_type();
    let lane_numbers: Vec<IntValue> = (0..gang_width).map(|lane| i32_type.const_int(lane.into(), false)).collect();
    let item_count = emitter.builder.build_int_truncate(item_count, i32_type, "")?;
    let item_count = emitter.splat(item_count.into(), gang_width)?;
    Ok(emitter.builder.build_int_compare(
        IntPredicate::ULT,
        VectorType::const_vector(&lane_numbers),
        item_count,
        "entry",
    )?)
}
