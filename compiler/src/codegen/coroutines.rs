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
use super::groups::{Group, Item};
use super::region::{Exits, ScalarEmitter};
use super::region_functions::{NEXT, TAKEN, record_argument, region_number};
use inkwell::IntPredicate;
use inkwell::basic_block::BasicBlock;
use inkwell::values::{FunctionValue, IntValue, PointerValue};
use lockstep_ir::ir::{Function, Kernel, Region};
use lockstep_ir::plan::storage::Storage;
use lockstep_protocol::kernel_abi::TAKE_TURNS;

/// Has a region's function called, as often as it takes.
pub fn take_turns<'ctx>(
    emitter: &Emitter<'ctx, '_>,
    function: FunctionValue<'ctx>,
    record: PointerValue<'ctx>,
) -> Emitted<()> {
    let builder = &emitter.builder;
    builder.build_store(emitter.offset_inside(record, TAKEN)?, emitter.const64(0))?;
    let run = emitter.module.get_function(TAKE_TURNS).unwrap_or_else(|| {
        let ty =
            emitter.context.void_type().fn_type(&[emitter.pointer_type().into(), emitter.pointer_type().into()], false);
        emitter.module.add_function(TAKE_TURNS, ty, None)
    });
    Ok(builder.build_call(run, &[function.as_global_value().as_pointer_value().into(), record.into()], "").map(drop)?)
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
    let [head, body, done] = ["piece", "work", "done"].map(|name| emitter.append_block(name));
    let [taken, next] = [
        emitter.offset_inside(record_argument(emitter)?, TAKEN)?,
        emitter.offset_inside(record_argument(emitter)?, NEXT)?,
    ];
    builder.build_unconditional_branch(head)?;
    emitter.position_at(head);
    let number = builder.build_load(emitter.i64_type(), taken, "piece")?.into_int_value();
    builder.build_store(taken, emitter.add(number, emitter.const64(1))?)?;
    let more = builder.build_int_compare(IntPredicate::ULT, number, pieces, "")?;
    builder.build_conditional_branch(more, body, done)?;
    emitter.position_at(body);
    Ok(Pieces { number, next, head, done })
}

impl<'ctx> Pieces<'ctx> {
    /// Ends a way through the piece that leads to a region.
    pub fn leave_piece(&self, emitter: &Emitter<'ctx, '_>, exits: &Exits<'ctx>) -> Emitted<Vec<Option<Region>>> {
        let mut nexts = Vec::new();
        for &(region, source) in exits {
            emitter.position_at(source);
            emitter.builder.build_store(self.next, region_number(emitter, region))?;
            emitter.builder.build_unconditional_branch(self.head)?;
            nexts.push(region);
        }
        Ok(nexts)
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
    group: &Group<'ctx>,
    body: &Function,
) -> Emitted<Vec<Option<Region>>> {
    let builder = &emitter.builder;
    let [left, right, z] = group.size;
    let plane = emitter.mul(left, right)?;
    let pieces = open_pieces(emitter, emitter.mul(plane, z)?)?;
    let number = pieces.number;
    let row = builder.build_int_unsigned_div(number, left, "")?;
    let local = [
        builder.build_int_unsigned_rem(number, left, "")?,
        builder.build_int_unsigned_rem(row, right, "")?,
        builder.build_int_unsigned_div(row, right, "")?,
    ];
    let mut global = local;
    for (dimension, global) in global.iter_mut().enumerate() {
        *global = builder.build_int_add(group.first[dimension], local[dimension], "")?;
    }
    let item = Item { local, global, number };
    let exits = ScalarEmitter::emit_region(emitter, kernel, storage, frame, group, &item, body)?;
    let nexts = pieces.leave_piece(emitter, &exits)?;
    pieces.close_function(emitter)?;
    Ok(nexts)
}
