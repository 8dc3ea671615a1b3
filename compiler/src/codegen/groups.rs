//! The loops around a kernel's code: over the groups of a call and over the work-items of a group.

use super::emit::{Emitted, Emitter};
use super::frame::Frame;
use super::work_item::{Group, Item, Triple};
use inkwell::IntPredicate;
use inkwell::basic_block::BasicBlock;
use inkwell::values::{IntValue, PhiValue};
use lockstep_ir::ir::Query;

/// The open loop over groups, between [`open_groups`] and [`GroupLoop::close_loop`].
pub struct GroupLoop<'ctx> {
    /// The group of this round.
    pub group: Group<'ctx>,
    /// Where a finished group goes.
    pub latch: BasicBlock<'ctx>,
    head: BasicBlock<'ctx>,
    done: BasicBlock<'ctx>,
    number: PhiValue<'ctx>,
    id: [PhiValue<'ctx>; 3],
    last: IntValue<'ctx>,
}

/// Starts the loop over the groups `first_group..last_group`; emission goes on in its body.
pub fn open_groups<'ctx>(
    emitter: &Emitter<'ctx, '_>,
    frame: &Frame<'ctx>,
    first_group: IntValue<'ctx>,
    last_group: IntValue<'ctx>,
) -> Emitted<GroupLoop<'ctx>> {
    let builder = &emitter.builder;
    let [groups_x, groups_y, _] = frame.num_groups;
    let start_block = emitter.append_block("groups");
    let head_block = emitter.append_block("group");
    let latch_block = emitter.append_block("group.next");
    let done_block = emitter.append_block("done");
    let any_lane = builder.build_int_compare(IntPredicate::ULT, first_group, last_group, "")?;
    builder.build_conditional_branch(any_lane, start_block, done_block)?;

    emitter.position_at(start_block);
    let group_x = builder.build_int_unsigned_rem(first_group, groups_x, "")?;
    let group_row = builder.build_int_unsigned_div(first_group, groups_x, "")?;
    let group_y = builder.build_int_unsigned_rem(group_row, groups_y, "")?;
    let group_z = builder.build_int_unsigned_div(group_row, groups_y, "")?;
    builder.build_unconditional_branch(head_block)?;

    emitter.position_at(head_block);
    let group_number = emitter.phi(emitter.i64_type(), &[(&first_group, start_block)], "group")?;
    let group_id = [
        emitter.phi(emitter.i64_type(), &[(&group_x, start_block)], "group.x")?,
        emitter.phi(emitter.i64_type(), &[(&group_y, start_block)], "group.y")?,
        emitter.phi(emitter.i64_type(), &[(&group_z, start_block)], "group.z")?,
    ];
    let work_group = group_at(emitter, frame, group_id.map(|phi_node| phi_node.as_basic_value().into_int_value()))?;
    Ok(GroupLoop {
        group: work_group,
        latch: latch_block,
        head: head_block,
        done: done_block,
        number: group_number,
        id: group_id,
        last: last_group,
    })
}

/// The group with these ids.
pub fn group_at<'ctx>(
    emitter: &Emitter<'ctx, '_>,
    frame: &Frame<'ctx>,
    group_id: Triple<'ctx>,
) -> Emitted<Group<'ctx>> {
    let builder = &emitter.builder;
    let mut work_group = Group { id: group_id, size: frame.local_size, first: frame.global_offset, combined: None };
    for dimension in 0..3 {
        let items_before = emitter.mul(work_group.id[dimension], frame.local_size[dimension])?;
        if !frame.launch.full_groups {
            let items_left = builder.build_int_sub(frame.global_size[dimension], items_before, "")?;
            let full_size = emitter.call_intrinsic(
                "llvm.umin",
                &[emitter.i64_type().into()],
                &[items_left.into(), frame.local_size[dimension].into()],
            )?;
            work_group.size[dimension] = full_size.into_int_value();
        }
        work_group.first[dimension] = match frame.launch.zero_offset {
            true => items_before,
            false => builder.build_int_add(items_before, frame.global_offset[dimension], "")?,
        };
    }
    Ok(work_group)
}

impl<'ctx> GroupLoop<'ctx> {
    /// Ends the loop; emission goes on behind it.
    pub fn close_loop(self, emitter: &Emitter<'ctx, '_>, frame: &Frame<'ctx>) -> Emitted<()> {
        let builder = &emitter.builder;
        let (zero, one) = (emitter.const64(0), emitter.const64(1));
        emitter.position_at(self.latch);
        let number = emitter.add(self.number.as_basic_value().into_int_value(), one)?;
        self.number.add_incoming(&[(&number, self.latch)]);
        // Dimension 0 counts; a dimension that is through starts anew and moves the next one.
        let next_x = emitter.add(self.group.id[0], one)?;
        let row_done = builder.build_int_compare(IntPredicate::EQ, next_x, frame.num_groups[0], "")?;
        let next_x = builder.build_select(row_done, zero, next_x, "")?;
        let carry = builder.build_int_z_extend(row_done, emitter.i64_type(), "")?;
        let next_y = emitter.add(self.group.id[1], carry)?;
        let plane_done = builder.build_int_compare(IntPredicate::EQ, next_y, frame.num_groups[1], "")?;
        let next_y = builder.build_select(plane_done, zero, next_y, "")?;
        let carry = builder.build_int_z_extend(plane_done, emitter.i64_type(), "")?;
        let next_z = emitter.add(self.group.id[2], carry)?;
        self.id[0].add_incoming(&[(&next_x, self.latch)]);
        self.id[1].add_incoming(&[(&next_y, self.latch)]);
        self.id[2].add_incoming(&[(&next_z, self.latch)]);
        let has_more = builder.build_int_compare(IntPredicate::NE, number, self.last, "")?;
        builder.build_conditional_branch(has_more, self.head, self.done)?;
        emitter.position_at(self.done);
        if frame.launch.streams != 0 {
            // Whoever learns that the launch is over sees what went past the caches.
            emitter.intrinsic_call("llvm.x86.sse.sfence", &[], &[])?;
        }
        Ok(())
    }
}

/// What a work-item learns when it asks for its place. Dimensions beyond the third are like those beyond
/// `work_dim`.
pub fn answer_query<'ctx>(
    emitter: &Emitter<'ctx, '_>,
    frame: &Frame<'ctx>,
    work_group: &Group<'ctx>,
    work_item: &Item<'ctx>,
    query: Query,
    dimension: u8,
) -> IntValue<'ctx> {
    let choose_dimension = |id_triple: &Triple<'ctx>, default_value| {
        id_triple.get(usize::from(dimension)).copied().unwrap_or_else(|| emitter.const64(default_value))
    };
    match query {
        Query::GlobalId => choose_dimension(&work_item.global, 0),
        Query::LocalId => choose_dimension(&work_item.local, 0),
        Query::LinearId => work_item.number,
        Query::GroupId => choose_dimension(&work_group.id, 0),
        Query::GlobalSize => choose_dimension(&frame.global_size, 1),
        Query::LocalSize => choose_dimension(&work_group.size, 1),
        Query::EnqueuedLocalSize => choose_dimension(&frame.local_size, 1),
        Query::NumGroups => choose_dimension(&frame.num_groups, 1),
        Query::GlobalOffset => choose_dimension(&frame.global_offset, 0),
        Query::WorkDim => frame.work_dim,
    }
}

/// An open loop over one dimension of a group, between [`Level::open_loop`] and [`Level::close_loop`]. No dimension
/// of a group is empty, so each loop tests behind its body.
#[derive(Clone, Copy)]
pub struct Level<'ctx> {
    /// get_global_id in this dimension.
    pub global: IntValue<'ctx>,
    head: BasicBlock<'ctx>,
    counter: PhiValue<'ctx>,
    number: PhiValue<'ctx>,
}

impl<'ctx> Level<'ctx> {
    /// Starts the loop, given the first global id and the number of the first work-item; emission goes on
    /// in its body.
    pub fn open_loop(
        emitter: &Emitter<'ctx, '_>,
        name: &str,
        first: IntValue<'ctx>,
        number: IntValue<'ctx>,
    ) -> Emitted<Level<'ctx>> {
        let before = emitter.current_block()?;
        let head_block = emitter.append_block(name);
        emitter.builder.build_unconditional_branch(head_block)?;
        emitter.position_at(head_block);
        let counter = emitter.phi(emitter.i64_type(), &[(&emitter.const64(0), before)], name)?;
        let number = emitter.phi(emitter.i64_type(), &[(&number, before)], "number")?;
        let global = emitter.builder.build_int_add(first, counter.as_basic_value().into_int_value(), "")?;
        Ok(Level { global, head: head_block, counter, number })
    }

    /// get_local_id in this dimension.
    pub fn local_id(&self) -> IntValue<'ctx> {
        self.counter.as_basic_value().into_int_value()
    }

    /// The number in the group of the first work-item of this round.
    pub fn item_number(&self) -> IntValue<'ctx> {
        self.number.as_basic_value().into_int_value()
    }

    /// Ends a loop around others, as [`Level::close_loop`] does. LLVM does not unroll it nor make a copy for each
    /// way that rows can be: that is much code and saves nothing.
    pub fn close_outer(
        self,
        emitter: &Emitter<'ctx, '_>,
        item_count: IntValue<'ctx>,
        next_index: IntValue<'ctx>,
    ) -> Emitted<()> {
        // One round is no loop, and loops around it may be unrolled.
        if item_count.get_zero_extended_constant() != Some(1) {
            emitter.only_once()?;
        }
        self.close_loop(emitter, item_count, next_index)
    }

    /// Ends the loop of `item_count` rounds, given the number of the work-item that comes next; emission goes on
    /// behind it.
    pub fn close_loop(
        self,
        emitter: &Emitter<'ctx, '_>,
        item_count: IntValue<'ctx>,
        next_index: IntValue<'ctx>,
    ) -> Emitted<()> {
        let current_block = emitter.current_block()?;
        let counter = emitter.add(self.local_id(), emitter.const64(1))?;
        self.counter.add_incoming(&[(&counter, current_block)]);
        self.number.add_incoming(&[(&next_index, current_block)]);
        let has_more = emitter.builder.build_int_compare(IntPredicate::NE, counter, item_count, "")?;
        let behind = emitter.append_block("behind");
        emitter.builder.build_conditional_branch(has_more, self.head, behind)?;
        emitter.position_at(behind);
        Ok(())
    }
}

/// The open loops over a group's work-items, between [`open_items`] and [`ItemLoops::close_loops`].
pub struct ItemLoops<'ctx> {
    /// The work-item of this round.
    pub item: Item<'ctx>,
    /// Where a work-item goes that is through with the region.
    pub latch: BasicBlock<'ctx>,
    levels: [Level<'ctx>; 3],
}

/// Starts the loops over a group's work-items, dimension 0 innermost; emission goes on in the
/// innermost body.
pub fn open_items<'ctx>(emitter: &Emitter<'ctx, '_>, work_group: &Group<'ctx>) -> Emitted<ItemLoops<'ctx>> {
    let z_level = Level::open_loop(emitter, "z", work_group.first[2], emitter.const64(0))?;
    let y_level = Level::open_loop(emitter, "y", work_group.first[1], z_level.item_number())?;
    let x_level = Level::open_loop(emitter, "x", work_group.first[0], y_level.item_number())?;
    let levels = [x_level, y_level, z_level];
    let work_item = Item {
        local: levels.map(|level| level.local_id()),
        global: levels.map(|level| level.global),
        number: x_level.item_number(),
    };
    Ok(ItemLoops { item: work_item, latch: emitter.append_block("item.next"), levels })
}

impl<'ctx> ItemLoops<'ctx> {
    /// Ends the loops, from the current position behind the innermost body; emission goes on behind
    /// them.
    pub fn close_loops(self, emitter: &Emitter<'ctx, '_>, work_group: &Group<'ctx>) -> Emitted<()> {
        let number = emitter.add(self.item.number, emitter.const64(1))?;
        let [x_level, y_level, z_level] = self.levels;
        x_level.close_loop(emitter, work_group.size[0], number)?;
        y_level.close_outer(emitter, work_group.size[1], number)?;
        z_level.close_outer(emitter, work_group.size[2], number)
    }
}
