//! Regions that are functions of their own.
//!
//! Requires: a kernel cut into regions.
//! Ensures: such a region's function does the group's work from the region's begin to the next barrier, and its record tells
//! where the group goes on.
//! Phases: a record of what the functions have to know, made once for a call of the kernel; per region the function, and what
//! has it called in its place.
//! Source: our own.
//!
//! ```text
//! group:   record.group = …                            function(record):
//! region:  call function(record)             and       the region's gangs or work-items
//!          go on where record.next says                record.next = …;  return
//! ```

use super::emit::{Emitted, Emitter};
use super::frame::{Call, Frame, Kept, nth_parameter};
use super::groups;
use super::work_item::Group;
use cranelift_entity::{EntityRef, SecondaryMap};
use inkwell::values::{BasicValueEnum, FunctionValue, IntValue, PointerValue};
use lockstep_ir::ir::{Block, Function, Kernel, LiveSlot, Region, Terminator};
use lockstep_protocol::types::{Space, Type};
use std::collections::BTreeSet;

/// Regions, each further way between them counted [`WAY`] times, up to which they are one function.
const MOST: usize = 640;
const WAY: usize = 4;

/// Whether a kernel has so many regions that LLVM makes code for them sooner when they are functions. What is the same for all
/// regions is computed again in each then. Where many ways lead on from regions, values that many regions use soon have the
/// register allocator split them at every loop.
pub fn has_many_regions(kernel: &Kernel) -> bool {
    let regions = kernel.regions.len();
    regions > MOST / 8 && regions + WAY * kernel.regions.values().map(count_further_ways).sum::<usize>() > MOST
}

/// How many regions besides one may follow a region.
fn count_further_ways(region: &Function) -> usize {
    let exit_region = |&block: &Block| match region.blocks[block].terminator {
        Terminator::Exit(next_region) => Some(next_region),
        _ => None,
    };
    let next_regions: BTreeSet<Region> = region.layout.iter().filter_map(exit_region).collect();
    next_regions.len().saturating_sub(1)
}

// The record's fields, eight bytes each.
const FRAME: u64 = 0;
const SCRATCH: u64 = 8;
const GROUP: u64 = 16;
/// How many pieces of the group's work were taken ([`super::turns`]).
pub(super) const TAKEN: u64 = 40;
pub(super) const NEXT: u64 = 48;
const COMBINED: u64 = 56;
/// Of each value that the group may keep once, where it is kept, and in the second half what it was when the region began:
/// those that get done keep what the next region is to find.
const ONCE: u64 = 64;
const ONCE_BYTES: u64 = 32;
const VALUE: u64 = 16;

fn once_offset(slot: LiveSlot) -> u64 {
    ONCE + ONCE_BYTES * slot.index() as u64
}

/// Makes the record, in the entry block, and fills in what is the same for all groups.
pub fn open_record<'ctx>(
    emitter: &Emitter<'ctx, '_>,
    kernel: &Kernel,
    frame: &Frame<'ctx>,
    kernel_call: &Call<'ctx>,
) -> Emitted<PointerValue<'ctx>> {
    let word_count = (ONCE + ONCE_BYTES * kernel.live.len() as u64) / 8;
    let region_record = emitter.builder.build_alloca(emitter.i64_type().array_type(word_count as u32), "regions")?;
    if let Some(instruction) = region_record.as_instruction() {
        instruction.set_alignment(16)?;
    }
    emitter.builder.build_store(emitter.offset_inside(region_record, FRAME)?, kernel_call.frame)?;
    emitter.builder.build_store(emitter.offset_inside(region_record, SCRATCH)?, kernel_call.scratch)?;
    for slot in kernel.live.keys() {
        if let Some(Kept::Once(address)) = frame.live[slot] {
            emitter.builder.build_store(emitter.offset_inside(region_record, once_offset(slot))?, address)?;
        }
    }
    Ok(region_record)
}

/// Tells the functions of all regions which group begins.
pub fn pass_group_id<'ctx>(
    emitter: &Emitter<'ctx, '_>,
    region_record: PointerValue<'ctx>,
    work_group: &Group<'ctx>,
) -> Emitted<()> {
    for (d, &id) in (0..).zip(&work_group.id) {
        emitter.builder.build_store(emitter.offset_inside(region_record, GROUP + 8 * d)?, id)?;
    }
    Ok(())
}

/// Tells a region's function what the group kept once, and what the work-group function combined with which it begins.
pub fn pass_kept_values<'ctx>(
    emitter: &Emitter<'ctx, '_>,
    region_record: PointerValue<'ctx>,
    kernel: &Kernel,
    frame: &Frame<'ctx>,
    combined: Option<BasicValueEnum<'ctx>>,
) -> Emitted<()> {
    for (slot, field_value) in frame.shared.iter() {
        if let Some(field_value) = *field_value {
            let address = emitter.offset_inside(region_record, once_offset(slot) + VALUE)?;
            emitter.store(kernel.live[slot].ty, field_value, address, 16)?;
        }
    }
    if let Some(combined) = combined {
        emitter.builder.build_store(emitter.offset_inside(region_record, COMBINED)?, combined)?;
    }
    Ok(())
}

/// Calls a region's function.
pub fn call_region<'ctx>(
    emitter: &Emitter<'ctx, '_>,
    function: FunctionValue<'ctx>,
    region_record: PointerValue<'ctx>,
) -> Emitted<()> {
    Ok(emitter.builder.build_call(function, &[region_record.into()], "").map(drop)?)
}

/// The number of the region where the group goes on, as a region's function left it.
pub fn next_region<'ctx>(emitter: &Emitter<'ctx, '_>, region_record: PointerValue<'ctx>) -> Emitted<IntValue<'ctx>> {
    Ok(emitter
        .builder
        .build_load(emitter.context.i32_type(), emitter.offset_inside(region_record, NEXT)?, "next")?
        .into_int_value())
}

/// Where a region's function leaves the number of the region in which the group goes on.
pub fn next_place<'ctx>(emitter: &Emitter<'ctx, '_>) -> Emitted<PointerValue<'ctx>> {
    emitter.offset_inside(record_argument(emitter)?, NEXT)
}

/// Ends a region's function in which all work-items ran, given where the group may go on and the number that was chosen.
pub fn close_function<'ctx>(
    emitter: &Emitter<'ctx, '_>,
    next_regions: &[Option<Region>],
    next_number: Option<IntValue<'ctx>>,
) -> Emitted<()> {
    let Some(&usual_region) = next_regions.first() else {
        // No work-item ever leaves the region.
        return Ok(emitter.builder.build_unreachable().map(drop)?);
    };
    let next_number = next_number.unwrap_or_else(|| region_number(emitter, usual_region));
    emitter.builder.build_store(next_place(emitter)?, next_number)?;
    Ok(emitter.builder.build_return(None).map(drop)?)
}

/// The name of a region's function.
pub fn name_function(region: Region) -> String {
    format!("region_{}", region.index())
}

/// Declares a region's function.
pub fn declare_function<'ctx>(emitter: &Emitter<'ctx, '_>, region: Region) -> FunctionValue<'ctx> {
    let function_type = emitter.context.void_type().fn_type(&[emitter.pointer_type().into()], false);
    emitter.declare_part(&name_function(region), function_type)
}

/// The function's only argument.
pub fn record_argument<'ctx>(emitter: &Emitter<'ctx, '_>) -> Emitted<PointerValue<'ctx>> {
    Ok(nth_parameter(emitter, 0)?.into_pointer_value())
}

fn load_field<'ctx>(emitter: &Emitter<'ctx, '_>, offset: u64, field_type: Type) -> Emitted<BasicValueEnum<'ctx>> {
    Ok(emitter.load(field_type, emitter.offset_inside(record_argument(emitter)?, offset)?, 8)?.0)
}

/// Reads in a region's function what the kernel was called with.
pub fn called_with<'ctx>(emitter: &Emitter<'ctx, '_>, kernel: &Kernel) -> Emitted<Call<'ctx>> {
    let pointer = |offset| -> Emitted<PointerValue<'ctx>> {
        Ok(load_field(emitter, offset, Type::Ptr(Space::Global))?.into_pointer_value())
    };
    let mut kept_addresses = SecondaryMap::new();
    for (slot, live_data) in &kernel.live {
        if live_data.shared {
            kept_addresses[slot] = Some(pointer(once_offset(slot))?);
        }
    }
    Ok(Call { frame: pointer(FRAME)?, scratch: pointer(SCRATCH)?, once: kept_addresses })
}

/// Reads in a region's function what the group kept once when the region began, as far as `began_with` has it.
pub fn kept_once<'ctx>(
    emitter: &Emitter<'ctx, '_>,
    kernel: &Kernel,
    began_with: &SecondaryMap<LiveSlot, Option<BasicValueEnum<'ctx>>>,
) -> Emitted<SecondaryMap<LiveSlot, Option<BasicValueEnum<'ctx>>>> {
    let mut shared = SecondaryMap::new();
    for slot in kernel.live.keys().filter(|&slot| began_with[slot].is_some()) {
        let address = emitter.offset_inside(record_argument(emitter)?, once_offset(slot) + VALUE)?;
        shared[slot] = Some(emitter.load(kernel.live[slot].ty, address, 16)?.0);
    }
    Ok(shared)
}

/// Reads in a region's function which group runs; `combined` is the type of what the region begins with.
pub fn running_group<'ctx>(
    emitter: &Emitter<'ctx, '_>,
    frame: &Frame<'ctx>,
    combined: Option<Type>,
) -> Emitted<Group<'ctx>> {
    let mut group_id = frame.local_size;
    for (d, id) in (0..).zip(&mut group_id) {
        *id = load_field(emitter, GROUP + 8 * d, Type::I64)?.into_int_value();
    }
    let combined = combined.map(|scalar_type| load_field(emitter, COMBINED, scalar_type)).transpose()?;
    Ok(Group { combined, ..groups::group_at(emitter, frame, group_id)? })
}

/// A region's number where the group goes on; 0 is the end.
pub(super) fn region_number<'ctx>(emitter: &Emitter<'ctx, '_>, next_region: Option<Region>) -> IntValue<'ctx> {
    let number = next_region.map_or(0, |region| region.index() as u64 + 1);
    emitter.context.i32_type().const_int(number, false)
}

#[cfg(test)]
mod tests {
    use lockstep_ir::ir::parse_module;

    use super::*;

    /// A kernel whose regions go on where their numbers say.
    fn kernel_with_exits(exits: &[&[usize]]) -> Kernel {
        let mut text =
            "kernel \"k\" {\n  args 8\n  param \"n\" value \"int\" size 4 align 4 offset 0\n  input value(0, 0): i32\n"
                .to_owned();
        for (region, next_regions) in exits.iter().enumerate() {
            text += &format!("  region r{region} {{\n  b0(v0: i32):\n");
            for (block, next_region) in next_regions.iter().enumerate() {
                let (condition, way, other) = (2 * block + 1, 2 * block + 1, 2 * block + 2);
                text +=
                    &format!("    v{condition}: i1 = icmp.eq v0, {block}:i32\n    br v{condition}, b{way}, b{other}\n");
                text += &format!("  b{way}:\n    exit r{next_region}\n  b{other}:\n");
            }
            text += "    return\n  }\n";
        }
        let module = parse_module(&(text + "}\n")).expect("a module");
        module.kernels.into_iter().next().expect("its kernel")
    }

    #[test]
    fn regions_are_functions_where_there_are_many_or_many_ways_between_them() {
        // One behind the other, each of them has one way.
        let chain =
            |length: usize| -> Vec<Vec<usize>> { (0..length).map(|region| vec![(region + 1) % length]).collect() };
        let is_split = |exits: &[Vec<usize>]| {
            let exits: Vec<&[usize]> = exits.iter().map(Vec::as_slice).collect();
            has_many_regions(&kernel_with_exits(&exits))
        };
        assert!(!is_split(&chain(MOST)));
        assert!(is_split(&chain(MOST + 1)));
        // Three further ways of each count as twelve regions more, but two blocks with one exit are one way.
        let length = MOST / 8 + 1;
        let ways = |next: [usize; 4]| -> Vec<Vec<usize>> { (0..length).map(|_| next.to_vec()).collect() };
        assert!(is_split(&ways([0, 1, 2, 3])));
        assert!(!is_split(&ways([0, 0, 0, 0])));
        // Few regions are one function, whatever leads on from them.
        assert!(!is_split(&ways([0, 1, 2, 3])[..MOST / 8]));
    }
}
