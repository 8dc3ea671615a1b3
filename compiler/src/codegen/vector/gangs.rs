//! The loops of a group's gangs around a region's code.
//!
//! Rows along the lanes' dimension are cut into gangs of W work-items; what is left at the end of a row is a gang too,
//! of which only the first lanes have a work-item. That one has code of its own, in which everything is
//! masked, so that the code of full gangs carries no masks for it. Where launches have no gangs of one kind,
//! there is no code for them. A region whose code takes long to make gets it once: full gangs run the masked code then.

use super::{EmitContext, Gang, VectorEmitter};
use crate::codegen::emit::{Emitted, Emitter};
use crate::codegen::groups::{Item, Level};
use crate::codegen::region::Exits;
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
use lockstep_protocol::configuration::Versions;
use lockstep_protocol::launch_facts::LaunchFacts;
use lockstep_protocol::layout::Layout;

/// Emits a region's code for all work-items of the group, in gangs; emission goes on behind it. The answer:
/// the regions in which the group may go on, of which the one is stored to `next` by its number.
pub fn run_gangs<'ctx>(
    around: EmitContext<'_, 'ctx, '_>,
    body: &Function,
    plan: &RegionPlan,
    next: PointerValue<'ctx>,
    number: impl Fn(Option<Region>) -> IntValue<'ctx>,
) -> Emitted<Vec<Option<Region>>> {
    if let Some(run) = around.widening.run {
        return run_tiles(around, body, plan, run, |emitter, region| {
            Ok(emitter.builder.build_store(next, number(region)).map(drop)?)
        });
    }
    let EmitContext { emitter, group, .. } = around;
    let builder = &emitter.builder;
    let width = emitter.const64(around.width().into());
    let zero = emitter.const64(0);
    let [along, middle, outer] = around.widening.layout.loop_order();
    let z = Level::open_loop(emitter, "outer", group.first[outer], zero)?;
    let y = Level::open_loop(emitter, "rows", group.first[middle], z.item_number())?;
    // All work-items are one row, or each of the group's is.
    let rows_of = |dimension: usize| match around.widening.layout {
        Layout::Linear => emitter.const64(1),
        _ => group.size[dimension],
    };
    let mut size = group.size[along];
    if around.widening.layout == Layout::Linear {
        size = emitter.mul(emitter.mul(size, group.size[middle])?, group.size[outer])?;
    }
    let left = builder.build_and(size, emitter.const64(u64::from(around.width()) - 1), "left")?;
    let full = builder.build_int_sub(size, left, "full")?;
    let item = |operand: IntValue<'ctx>| -> Emitted<Item<'ctx>> {
        let (mut local, mut global) = ([operand; 3], [operand; 3]);
        global[along] = builder.build_int_add(group.first[along], operand, "")?;
        for (dimension, level) in [(middle, &y), (outer, &z)] {
            (local[dimension], global[dimension]) = (level.local_id(), level.global);
        }
        Ok(Item { local, global, number: emitter.add(y.item_number(), operand)? })
    };
    let mut nexts = Vec::new();
    let mut leave = |exits: &Exits<'ctx>, target: BasicBlock<'ctx>| -> Emitted<()> {
        for &(region, source) in exits {
            emitter.position_at(source);
            builder.build_store(next, number(region))?;
            builder.build_unconditional_branch(target)?;
            nexts.push(region);
        }
        Ok(())
    };

    let rows = Rows::of_launches(&around.frame.launch, around.width(), around.widening.layout);
    let share_code = rows.has_full && rows.has_partial && !have_own_code(around.widening.full_gangs, body);
    let rest = emitter.append_block("rest");
    if rows.has_full {
        let before = emitter.current_block()?;
        let [head, latch] = ["gang", "gang.next"].map(|name| emitter.append_block(name));
        if rows.has_partial && !share_code {
            let some = builder.build_int_compare(IntPredicate::NE, full, zero, "")?;
            builder.build_conditional_branch(some, head, rest)?;
        } else {
            builder.build_unconditional_branch(head)?;
        }
        emitter.position_at(head);
        let x = emitter.phi(emitter.i64_type(), &[(&zero, before)], "x")?;
        let first = x.as_basic_value().into_int_value();
        let entry = match share_code {
            true => Some(first_lanes(around, at_most(emitter, builder.build_int_sub(size, first, "items")?, width)?)?),
            false => None,
        };
        let exits = VectorEmitter::emit_region(around, &Gang { first: item(first)?, entry }, body, plan)?;
        leave(&exits, latch)?;
        emitter.position_at(latch);
        let following = emitter.add(first, width)?;
        x.add_incoming(&[(&following, latch)]);
        let more = match share_code {
            true => builder.build_int_compare(IntPredicate::ULT, following, size, "")?,
            false => builder.build_int_compare(IntPredicate::NE, following, full, "")?,
        };
        let again = builder.build_conditional_branch(more, head, rest)?;
        if is_written_out(around, body) {
            emitter.write_out(again);
        }
    } else {
        builder.build_unconditional_branch(rest)?;
    }

    emitter.position_at(rest);
    if rows.has_partial && !share_code {
        let [tail, row_done] = ["tail", "row.done"].map(|name| emitter.append_block(name));
        let some = builder.build_int_compare(IntPredicate::NE, left, zero, "")?;
        builder.build_conditional_branch(some, tail, row_done)?;
        emitter.position_at(tail);
        let entry = Some(first_lanes(around, left)?);
        let exits = VectorEmitter::emit_region(around, &Gang { first: item(full)?, entry }, body, plan)?;
        leave(&exits, row_done)?;
        emitter.position_at(row_done);
    }

    let done = emitter.add(y.item_number(), size)?;
    y.close_outer(emitter, rows_of(middle), done)?;
    z.close_outer(emitter, rows_of(outer), done)?;
    nexts.sort();
    nexts.dedup();
    debug_assert!(nexts.iter().flatten().all(|region| region.index() < around.kernel.regions.len()));
    Ok(nexts)
}

/// As [`run_gangs`], for gangs that are several rows of `run` work-items. Groups are whole gangs.
fn run_tiles<'ctx>(
    around: EmitContext<'_, 'ctx, '_>,
    body: &Function,
    plan: &RegionPlan,
    run: u32,
    choose: impl Fn(&Emitter<'ctx, '_>, Option<Region>) -> Emitted<()>,
) -> Emitted<Vec<Option<Region>>> {
    let EmitContext { emitter, group, .. } = around;
    let (zero, rows) = (emitter.const64(0), u64::from(around.width() / run));
    let z = Level::open_loop(emitter, "z", group.first[2], zero)?;
    let tile = Level::open_loop(emitter, "tile", zero, z.item_number())?;
    let y = emitter.mul(tile.local_id(), emitter.const64(rows))?;
    // Ids may wrap: the offset is any number.
    let global = [group.first[0], emitter.builder.build_int_add(group.first[1], y, "")?, z.global];
    let first = Item { local: [zero, y, z.local_id()], global, number: tile.item_number() };
    let exits = VectorEmitter::emit_region(around, &Gang { first, entry: None }, body, plan)?;
    let latch = emitter.append_block("tile.next");
    let mut nexts = Vec::new();
    for &(region, source) in &exits {
        emitter.position_at(source);
        choose(emitter, region)?;
        emitter.builder.build_unconditional_branch(latch)?;
        nexts.push(region);
    }
    emitter.position_at(latch);
    let following = emitter.add(tile.item_number(), emitter.const64(around.width().into()))?;
    let tiles = emitter.builder.build_int_unsigned_div(group.size[1], emitter.const64(rows), "")?;
    tile.close_loop(emitter, tiles, following)?;
    z.close_outer(emitter, group.size[2], following)?;
    nexts.sort();
    nexts.dedup();
    Ok(nexts)
}

/// Instructions of a region up to which full gangs and others get code of their own: a second piece of code for more of
/// them takes more than half a second to make.
const MOST_INSTS_MADE_TWICE: u64 = 4000;

/// Whether gangs with a work-item in every lane get code of their own where there are others.
fn have_own_code(full_gangs: Versions, body: &Function) -> bool {
    match full_gangs {
        Versions::Never => false,
        Versions::WherePays => count_insts(body) <= MOST_INSTS_MADE_TWICE,
        Versions::Always => true,
    }
}

fn count_insts(body: &Function) -> u64 {
    body.layout.iter().map(|&block| body.blocks[block].insts.len() as u64).sum()
}

/// Instructions of all gangs of a group in all regions up to which each gang gets code of its own.
const MOST_INSTS: u64 = 6000;

/// Gangs of a group that get code of their own: more leave little in registers.
const MOST_GANGS: u64 = 32;

/// Whether the gangs of a group are so few that each gets code of its own: with barriers between them, so that what one
/// region leaves for the next may stay in registers.
fn is_written_out(around: EmitContext<'_, '_, '_>, body: &Function) -> bool {
    let launch = &around.frame.launch;
    let [along, middle, outer] = around.widening.layout.loop_order();
    let one_row = [middle, outer].map(|dimension| launch.local_size(dimension)) == [Some(1); 2];
    let items = launch.local_size(along).filter(|_| one_row && around.kernel.regions.len() > 1);
    let Some(items) = items else { return false };
    let all: u64 = around.kernel.regions.values().map(count_insts).sum();
    let graph = build_cfg(body);
    let is_straight = find_loops(&graph, &compute_dominators(&graph)).iter().next().is_none();
    let gangs = u64::from(items / around.width());
    is_straight && gangs <= MOST_GANGS && all * gangs <= MOST_INSTS
}

/// The kinds of gangs that the rows of a launch's groups are cut into.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Rows {
    /// Some may have a work-item in every lane.
    pub has_full: bool,
    /// Some may have not.
    pub has_partial: bool,
}

impl Rows {
    /// Those of launches of which the facts hold.
    pub fn of_launches(launch: &LaunchFacts, width: u32, layout: Layout) -> Rows {
        let along = layout.lane_dimension();
        if layout == Layout::Linear {
            let items = [0, 1, 2].map(|dimension| launch.local_size(dimension)).into_iter().product::<Option<u32>>();
            let whole = items.is_some_and(|items| items.is_multiple_of(width));
            return Rows {
                has_full: items.is_none_or(|items| items >= width),
                has_partial: !launch.full_groups || !whole,
            };
        }
        Rows {
            has_full: launch.local_size(along).is_none_or(|size| size >= width),
            has_partial: !launch.full_groups || launch.align_along(along) < width.into(),
        }
    }
}

fn at_most<'ctx>(emitter: &Emitter<'ctx, '_>, count: IntValue<'ctx>, most: IntValue<'ctx>) -> Emitted<IntValue<'ctx>> {
    let least = emitter.call_intrinsic("llvm.umin", &[emitter.i64_type().into()], &[count.into(), most.into()])?;
    Ok(least.into_int_value())
}

/// The mask of the first `count` lanes.
pub fn first_lanes<'ctx>(around: EmitContext<'_, 'ctx, '_>, count: IntValue<'ctx>) -> Emitted<VectorValue<'ctx>> {
    let (emitter, width) = (around.emitter, around.width());
    let i32 = emitter.context.i32_type();
    let lanes: Vec<IntValue> = (0..width).map(|lane| i32.const_int(lane.into(), false)).collect();
    let count = emitter.builder.build_int_truncate(count, i32, "")?;
    let count = emitter.splat(count.into(), width)?;
    Ok(emitter.builder.build_int_compare(IntPredicate::ULT, VectorType::const_vector(&lanes), count, "entry")?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_for_the_gangs_there_are() {
        let rows = |global, x, width| {
            let rows = Rows::of_launches(&LaunchFacts::of_range([0; 3], [global, 4, 1], [x, 2, 1]), width, Layout::X);
            (rows.has_full, rows.has_partial)
        };
        assert_eq!(rows(96, 32, 16), (true, false));
        assert_eq!(rows(96, 8, 16), (false, true));
        assert_eq!(rows(96, 8, 8), (true, false));
        assert_eq!(rows(96, 24, 16), (true, true));
        assert_eq!(rows(100, 32, 16), (true, true));
        let any = Rows::of_launches(&LaunchFacts::default(), 2, Layout::X);
        assert_eq!((any.has_full, any.has_partial), (true, true));
        let multiples = LaunchFacts::of_range([0; 3], [96, 4, 1], [32, 2, 1]).of_any_size();
        assert!(!Rows::of_launches(&multiples, 16, Layout::X).has_partial);
    }
}
