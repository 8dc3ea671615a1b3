//! Regions in which work-items, or gangs, may wait for others of their group.
//!
//! Requires: a kernel cut into regions, some with `yield` instructions (`transform::insert_yields`); gangs, if there are
//! any, are sub-groups.
//! Ensures: such a region's function ([`super::region_functions`]) takes one piece of the group's work after the other from a
//! counter in memory, so that another call can go on with what is left while one waits. A piece is a work-item or a gang.
//! Phases: per region the loop over the pieces, and the call of [`TAKE_TURNS`] in its place.
//! Source: OpenCL API 3.0, 4.2, `CL_DEVICE_SUB_GROUP_INDEPENDENT_FORWARD_PROGRESS`.
//!
//! ```text
//! region:  taken = 0                                   function(record):
//!          call RUN(function, record)        and       head:  n = taken;  taken = n + 1
//!          go on where `next` says                            n < pieces ? piece n, next = …, head : return
//! ```

use super::emit::{Emitted, Emitter};
use super::frame::Frame;
use super::region::{Exits, ScalarEmitter};
use super::region_functions::{NEXT, TAKEN, record_argument, region_number};
use super::work_item::{Group, Item};
use crate::machine_code::ALIGNS_STACK;
use inkwell::IntPredicate;
use inkwell::attributes::AttributeLoc;
use inkwell::basic_block::BasicBlock;
use inkwell::values::{FunctionValue, IntValue, PointerValue};
use lockstep_ir::ir::{Function, Kernel, Region};
use lockstep_ir::plan::storage::Storage;
use lockstep_protocol::kernel_abi::TAKE_TURNS;

/// Has a region's function called, as often as it takes.
pub fn take_turns<'ctx>(
    emitter: &Emitter<'ctx, '_>,
    function: FunctionValue<'ctx>,
    region_record: PointerValue<'ctx>,
) -> Emitted<()> {
    let builder = &emitter.builder;
    // The runtime calls it, on stacks of its own.
    let aligns_stack = emitter.context.create_string_attribute(ALIGNS_STACK, "");
    function.add_attribute(AttributeLoc::Function, aligns_stack);
    builder.build_store(emitter.offset_inside(region_record, TAKEN)?, emitter.const64(0))?;
    let run_region = emitter.module.get_function(TAKE_TURNS).unwrap_or_else(|| {
        let function_type =
            emitter.context.void_type().fn_type(&[emitter.pointer_type().into(), emitter.pointer_type().into()], false);
        emitter.module.add_function(TAKE_TURNS, function_type, None)
    });
    Ok(builder
        .build_call(run_region, &[function.as_global_value().as_pointer_value().into(), region_record.into()], "")
        .map(drop)?)
}

/// The loop over the pieces of work that nobody took, between [`open_pieces`] and [`Pieces::close_function`].
pub struct Pieces<'ctx> {
    /// Which piece this round is.
    pub number: IntValue<'ctx>,
    /// Where the number of the region goes in which the group goes on.
    next: PointerValue<'ctx>,
    head: BasicBlock<'ctx>,
    done: BasicBlock<'ctx>,
}

/// Starts the loop; emission goes on in its body.
pub fn open_pieces<'ctx>(emitter: &Emitter<'ctx, '_>, pieces: IntValue<'ctx>) -> Emitted<Pieces<'ctx>> {
    let builder = &emitter.builder;
    let [head_block, body_block, done_block] = ["piece", "work", "done"].map(|name| emitter.append_block(name));
    let [taken_counter, next_pointer] = [
        emitter.offset_inside(record_argument(emitter)?, TAKEN)?,
        emitter.offset_inside(record_argument(emitter)?, NEXT)?,
    ];
    builder.build_unconditional_branch(head_block)?;
    emitter.position_at(head_block);
    let piece_number = builder.build_load(emitter.i64_type(), taken_counter, "piece")?.into_int_value();
    builder.build_store(taken_counter, emitter.add(piece_number, emitter.const64(1))?)?;
    let has_more = builder.build_int_compare(IntPredicate::ULT, piece_number, pieces, "")?;
    builder.build_conditional_branch(has_more, body_block, done_block)?;
    emitter.position_at(body_block);
    Ok(Pieces { number: piece_number, next: next_pointer, head: head_block, done: done_block })
}

impl<'ctx> Pieces<'ctx> {
    /// Ends a way through the piece that leads to a region.
    pub fn leave_piece(&self, emitter: &Emitter<'ctx, '_>, exits: &Exits<'ctx>) -> Emitted<Vec<Option<Region>>> {
        let mut next_regions = Vec::new();
        for &(region, source) in exits {
            emitter.position_at(source);
            emitter.builder.build_store(self.next, region_number(emitter, region))?;
            emitter.builder.build_unconditional_branch(self.head)?;
            next_regions.push(region);
        }
        Ok(next_regions)
    }

    /// Ends the function.
    pub fn close_function(self, emitter: &Emitter<'ctx, '_>) -> Emitted<()> {
        emitter.position_at(self.done);
        emitter.builder.build_return(None)?;
        Ok(())
    }
}

/// The code of a region whose work-items run one after the other; the answer: where the group may go on.
pub fn run_items<'ctx>(
    emitter: &Emitter<'ctx, '_>,
    kernel: &Kernel,
    storage: &Storage,
    frame: &Frame<'ctx>,
    work_group: &Group<'ctx>,
    function: &Function,
) -> Emitted<Vec<Option<Region>>> {
    let builder = &emitter.builder;
    let [size_x, size_y, size_z] = work_group.size;
    let plane_items = emitter.mul(size_x, size_y)?;
    let pieces = open_pieces(emitter, emitter.mul(plane_items, size_z)?)?;
    let piece_number = pieces.number;
    let row_index = builder.build_int_unsigned_div(piece_number, size_x, "")?;
    let local_id = [
        builder.build_int_unsigned_rem(piece_number, size_x, "")?,
        builder.build_int_unsigned_rem(row_index, size_y, "")?,
        builder.build_int_unsigned_div(row_index, size_y, "")?,
    ];
    let mut global = local_id;
    for (dimension, global) in global.iter_mut().enumerate() {
        *global = builder.build_int_add(work_group.first[dimension], local_id[dimension], "")?;
    }
    let work_item = Item { local: local_id, global, number: piece_number };
    let exits = ScalarEmitter::emit_region(emitter, kernel, storage, frame, work_group, &work_item, function)?;
    let next_regions = pieces.leave_piece(emitter, &exits)?;
    pieces.close_function(emitter)?;
    Ok(next_regions)
}
