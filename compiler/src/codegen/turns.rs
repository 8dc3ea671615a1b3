//! Regions in which work-items, or gangs, may wait for others of their group.
//!
//! Requires: a kernel cut into regions, some with `yield` instructions (`transform::waiting_loops`); gangs, if there are
//! any, are sub-groups.
//! Ensures: such a region is a function of its own, that takes one piece of the group's work after the other from a counter
//! in memory, so that another call can go on with what is left while one waits. A piece is a work-item or a gang.
//! Phases: a record of what the function has to know, made once for a call of the kernel; per region the function, and the
//! call of [`turns::RUN`] in its place.
//! Source: OpenCL API 3.0, 4.2, `CL_DEVICE_SUB_GROUP_INDEPENDENT_FORWARD_PROGRESS`.
//!
//! ```text
//! region:  taken = 0                                   function(record):
//!          call RUN(function, record)        and       head:  n = taken;  taken = n + 1
//!          go on where `next` says                            n < pieces ? piece n, next = …, head : return
//! ```

use super::emit::{Emit, Emitted};
use super::frame::{Call, Frame, Kept};
use super::groups::{self, Group, Item};
use super::region::{Exits, RegionCode};
use super::storage::Storage;
use crate::ir::{Function, Kernel, LiveSlot, Region, Space, Type};
use crate::jit::turns;
use cranelift_entity::{EntityRef, SecondaryMap};
use inkwell::IntPredicate;
use inkwell::basic_block::BasicBlock;
use inkwell::builder::BuilderError;
use inkwell::module::Linkage;
use inkwell::values::{BasicValueEnum, FunctionValue, IntValue, PointerValue};

// The record's fields, eight bytes each.
const FRAME: u64 = 0;
const SCRATCH: u64 = 8;
const GROUP: u64 = 16;
const TAKEN: u64 = 40;
const NEXT: u64 = 48;
const COMBINED: u64 = 56;
/// Of each value that the group may keep once, where it is kept, and in the second half what it was when the region began:
/// those that get done keep what the next region is to find.
const ONCE: u64 = 64;
const ONCE_BYTES: u64 = 32;
const VALUE: u64 = 16;

fn once(slot: LiveSlot) -> u64 {
    ONCE + ONCE_BYTES * slot.index() as u64
}

/// Makes the record, in the entry block, and fills in what is the same for all groups.
pub fn open<'ctx>(
    emit: &Emit<'ctx, '_>,
    kernel: &Kernel,
    frame: &Frame<'ctx>,
    call: &Call<'ctx>,
) -> Emitted<PointerValue<'ctx>> {
    let words = (ONCE + ONCE_BYTES * kernel.live.len() as u64) / 8;
    let record = emit.builder.build_alloca(emit.i64().array_type(words as u32), "turns")?;
    if let Some(inst) = record.as_instruction() {
        inst.set_alignment(16).map_err(|_| BuilderError::BitwidthError)?;
    }
    emit.builder.build_store(emit.within(record, FRAME)?, call.frame)?;
    emit.builder.build_store(emit.within(record, SCRATCH)?, call.scratch)?;
    for slot in kernel.live.keys() {
        if let Some(Kept::Once(place)) = frame.live[slot] {
            emit.builder.build_store(emit.within(record, once(slot))?, place)?;
        }
    }
    Ok(record)
}

/// Has a region's function do the group's work; the answer is the number of the region where the group goes on.
pub fn take_turns<'ctx>(
    emit: &Emit<'ctx, '_>,
    record: PointerValue<'ctx>,
    kernel: &Kernel,
    frame: &Frame<'ctx>,
    group: &Group<'ctx>,
    function: FunctionValue<'ctx>,
) -> Emitted<IntValue<'ctx>> {
    let b = &emit.builder;
    for (slot, value) in frame.shared.iter() {
        if let Some(value) = *value {
            emit.store(kernel.live[slot].ty, value, emit.within(record, once(slot) + VALUE)?, 16)?;
        }
    }
    for (d, &id) in (0..).zip(&group.id) {
        b.build_store(emit.within(record, GROUP + 8 * d)?, id)?;
    }
    b.build_store(emit.within(record, TAKEN)?, emit.const64(0))?;
    if let Some(combined) = group.combined {
        b.build_store(emit.within(record, COMBINED)?, combined)?;
    }
    let run = emit.module.get_function(turns::RUN).unwrap_or_else(|| {
        let ty = emit.ctx.void_type().fn_type(&[emit.ptr().into(), emit.ptr().into()], false);
        emit.module.add_function(turns::RUN, ty, None)
    });
    b.build_call(run, &[function.as_global_value().as_pointer_value().into(), record.into()], "")?;
    Ok(b.build_load(emit.ctx.i32_type(), emit.within(record, NEXT)?, "next")?.into_int_value())
}

/// Declares a region's function.
pub fn declare<'ctx>(emit: &Emit<'ctx, '_>, region: Region) -> FunctionValue<'ctx> {
    let ty = emit.ctx.void_type().fn_type(&[emit.ptr().into()], false);
    emit.module.add_function(&format!("turns_{}", region.index()), ty, Some(Linkage::Internal))
}

/// The function's only argument.
fn record<'ctx>(emit: &Emit<'ctx, '_>) -> Emitted<PointerValue<'ctx>> {
    Ok(emit.function.get_nth_param(0).ok_or(BuilderError::UnsetPosition)?.into_pointer_value())
}

fn field<'ctx>(emit: &Emit<'ctx, '_>, offset: u64, ty: Type) -> Emitted<BasicValueEnum<'ctx>> {
    Ok(emit.load(ty, emit.within(record(emit)?, offset)?, 8)?.0)
}

/// Reads in a region's function what the kernel was called with.
pub fn called_with<'ctx>(emit: &Emit<'ctx, '_>, kernel: &Kernel) -> Emitted<Call<'ctx>> {
    let pointer = |offset| -> Emitted<PointerValue<'ctx>> {
        Ok(field(emit, offset, Type::Ptr(Space::Global))?.into_pointer_value())
    };
    let mut places = SecondaryMap::new();
    for (slot, data) in &kernel.live {
        if data.shared {
            places[slot] = Some(pointer(once(slot))?);
        }
    }
    Ok(Call { frame: pointer(FRAME)?, scratch: pointer(SCRATCH)?, once: places })
}

/// Reads in a region's function what the group kept once when the region began, as far as `began` has it.
pub fn kept_once<'ctx>(
    emit: &Emit<'ctx, '_>,
    kernel: &Kernel,
    began: &SecondaryMap<LiveSlot, Option<BasicValueEnum<'ctx>>>,
) -> Emitted<SecondaryMap<LiveSlot, Option<BasicValueEnum<'ctx>>>> {
    let mut shared = SecondaryMap::new();
    for slot in kernel.live.keys().filter(|&slot| began[slot].is_some()) {
        let place = emit.within(record(emit)?, once(slot) + VALUE)?;
        shared[slot] = Some(emit.load(kernel.live[slot].ty, place, 16)?.0);
    }
    Ok(shared)
}

/// Reads in a region's function which group runs; `combined` is the type of what the region begins with.
pub fn running_group<'ctx>(emit: &Emit<'ctx, '_>, frame: &Frame<'ctx>, combined: Option<Type>) -> Emitted<Group<'ctx>> {
    let mut id = frame.local_size;
    for (d, id) in (0..).zip(&mut id) {
        *id = field(emit, GROUP + 8 * d, Type::I64)?.into_int_value();
    }
    let combined = combined.map(|ty| field(emit, COMBINED, ty)).transpose()?;
    Ok(Group { combined, ..groups::group_at(emit, frame, id)? })
}

/// The loop over the pieces of work that nobody took, between [`open_pieces`] and [`Pieces::close`].
pub struct Pieces<'ctx> {
    /// Which piece this round is.
    pub number: IntValue<'ctx>,
    /// Where the number of the region goes in which the group goes on.
    next: PointerValue<'ctx>,
    head: BasicBlock<'ctx>,
    done: BasicBlock<'ctx>,
}

/// Starts the loop; emission goes on in its body.
pub fn open_pieces<'ctx>(emit: &Emit<'ctx, '_>, pieces: IntValue<'ctx>) -> Emitted<Pieces<'ctx>> {
    let b = &emit.builder;
    let [head, body, done] = ["piece", "work", "done"].map(|name| emit.block(name));
    let [taken, next] = [emit.within(record(emit)?, TAKEN)?, emit.within(record(emit)?, NEXT)?];
    b.build_unconditional_branch(head)?;
    emit.at(head);
    let number = b.build_load(emit.i64(), taken, "piece")?.into_int_value();
    b.build_store(taken, emit.add(number, emit.const64(1))?)?;
    let more = b.build_int_compare(IntPredicate::ULT, number, pieces, "")?;
    b.build_conditional_branch(more, body, done)?;
    emit.at(body);
    Ok(Pieces { number, next, head, done })
}

impl<'ctx> Pieces<'ctx> {
    /// Ends a way through the piece that leads to a region.
    pub fn leave(&self, emit: &Emit<'ctx, '_>, exits: &Exits<'ctx>) -> Emitted<Vec<Option<Region>>> {
        let mut nexts = Vec::new();
        for &(region, from) in exits {
            emit.at(from);
            emit.builder.build_store(self.next, super::number(emit, region))?;
            emit.builder.build_unconditional_branch(self.head)?;
            nexts.push(region);
        }
        Ok(nexts)
    }

    /// Ends the function.
    pub fn close(self, emit: &Emit<'ctx, '_>) -> Emitted<()> {
        emit.at(self.done);
        emit.builder.build_return(None)?;
        Ok(())
    }
}

/// The code of a region whose work-items run one after the other; the answer: where the group may go on.
pub fn run_items<'ctx>(
    emit: &Emit<'ctx, '_>,
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
    let exits = RegionCode::emit(emit, kernel, storage, frame, group, &item, body)?;
    let nexts = pieces.leave(emit, &exits)?;
    pieces.close(emit)?;
    Ok(nexts)
}
