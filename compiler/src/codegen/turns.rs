//! Regions in which work-items, or gangs, may wait for others of their group.
//!
//! Requires: a kernel cut into regions, some with `yield` instructions (`transform::waiting_loops`); gangs, if there are
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
use super::region_functions::{NEXT, TAKEN, record_argument};
use inkwell::IntPredicate;
use inkwell::basic_block::BasicBlock;
use inkwell::values::{FunctionValue, IntValue, PointerValue};
use lockstep_ir::ir::{Function, Kernel, Region};
use lockstep_ir::plan::storage::Storage;
use lockstep_protocol::kernel_abi::TAKE_TURNS;

/// Has a region's function called, as often as it takes.
pub fn take_turns<'ctx>(
    emit: &Emitter<'ctx, '_>,
    function: FunctionValue<'ctx>,
    record: PointerValue<'ctx>,
) -> Emitted<()> {
    let b = &emit.builder;
    b.build_store(emit.offset_inside(record, TAKEN)?, emit.const64(0))?;
    let run = emit.module.get_function(TAKE_TURNS).unwrap_or_else(|| {
        let ty = emit.context.void_type().fn_type(&[emit.pointer_type().into(), emit.pointer_type().into()], false);
        emit.module.add_function(TAKE_TURNS, ty, None)
    });
    b.build_call(run, &[function.as_global_value().as_pointer_value().into(), record.into()], "").map(drop)
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
pub fn open_pieces<'ctx>(emit: &Emitter<'ctx, '_>, pieces: IntValue<'ctx>) -> Emitted<Pieces<'ctx>> {
    let b = &emit.builder;
    let [head, body, done] = ["piece", "work", "done"].map(|name| emit.append_block(name));
    let [taken, next] =
        [emit.offset_inside(record_argument(emit)?, TAKEN)?, emit.offset_inside(record_argument(emit)?, NEXT)?];
    b.build_unconditional_branch(head)?;
    emit.position_at(head);
    let number = b.build_load(emit.i64_type(), taken, "piece")?.into_int_value();
    b.build_store(taken, emit.add(number, emit.const64(1))?)?;
    let more = b.build_int_compare(IntPredicate::ULT, number, pieces, "")?;
    b.build_conditional_branch(more, body, done)?;
    emit.position_at(body);
    Ok(Pieces { number, next, head, done })
}

impl<'ctx> Pieces<'ctx> {
    /// Ends a way through the piece that leads to a region.
    pub fn leave_piece(&self, emit: &Emitter<'ctx, '_>, exits: &Exits<'ctx>) -> Emitted<Vec<Option<Region>>> {
        let mut nexts = Vec::new();
        for &(region, from) in exits {
            emit.position_at(from);
            emit.builder.build_store(self.next, super::region_number(emit, region))?;
            emit.builder.build_unconditional_branch(self.head)?;
            nexts.push(region);
        }
        Ok(nexts)
    }

    /// Ends the function.
    pub fn close_function(self, emit: &Emitter<'ctx, '_>) -> Emitted<()> {
        emit.position_at(self.done);
        emit.builder.build_return(None)?;
        Ok(())
    }
}

/// The code of a region whose work-items run one after the other; the answer: where the group may go on.
pub fn run_items<'ctx>(
    emit: &Emitter<'ctx, '_>,
    kernel: &Kernel,
    storage: &Storage,
    frame: &Frame<'ctx>,
    group: &Group<'ctx>,
    body: &Function,
) -> Emitted<Vec<Option<Region>>> {
    let b = &emit.builder;
    let [x, y, z] = group.size;
    let plane = emit.mul(x, y)?;
    let pieces = open_pieces(emit, emit.mul(plane, z)?)?;
    let number = pieces.number;
    let row = b.build_int_unsigned_div(number, x, "")?;
    let local = [
        b.build_int_unsigned_rem(number, x, "")?,
        b.build_int_unsigned_rem(row, y, "")?,
        b.build_int_unsigned_div(row, y, "")?,
    ];
    let mut global = local;
    for (d, global) in global.iter_mut().enumerate() {
        *global = b.build_int_add(group.first[d], local[d], "")?;
    }
    let item = Item { local, global, number };
    let exits = ScalarEmitter::emit_region(emit, kernel, storage, frame, group, &item, body)?;
    let nexts = pieces.leave_piece(emit, &exits)?;
    pieces.close_function(emit)?;
    Ok(nexts)
}
