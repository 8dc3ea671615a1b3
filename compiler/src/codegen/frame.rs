//! What holds for a whole call of a kernel: launch sizes, arguments, addresses of memory. All of it
//! is read in the entry block, so that no loop reads it again.

use super::alias::Part;
use super::emit::{Emitted, Emitter};
use super::work_item::{Item, Triple};
use crate::codegen::error::CodegenError;
use cranelift_entity::{EntityRef, SecondaryMap};
use inkwell::module::Linkage;
use inkwell::types::BasicTypeEnum;
use inkwell::values::{BasicValueEnum, IntValue, PointerValue};
use lockstep_ir::ir::{Function, InstData, InstNode, Kernel, LiveSlot, LocalVar, Module, Region, Slot, SlotLayout};
use lockstep_ir::plan::storage::{SCRATCH_ALIGN, SlotHome, Storage};
use lockstep_protocol::kernel_abi::LaunchFrame;
use lockstep_protocol::launch_facts::{LaunchFacts, LocalSize};
use lockstep_protocol::layout::Layout;
use lockstep_protocol::parameters::{Input, ParamKind};
use lockstep_protocol::types::{Space, Type};
use lockstep_protocol::variables::{Global, GlobalData};
use std::mem::offset_of;

/// Parameters of a called function in front of those that the program gives it: the launch's frame and the scratch memory.
pub(super) const OWN_PARAMETERS: u32 = 2;

/// Where a kept value is.
#[derive(Clone, Copy)]
pub enum Kept<'ctx> {
    /// In one place for the group.
    Once(PointerValue<'ctx>),
    /// In an array with an element per work-item.
    PerItem(PointerValue<'ctx>),
}

/// Where a function keeps a result until it returns.
#[derive(Clone, Copy)]
pub struct ResultPlace<'ctx> {
    /// Its address on the stack.
    pub place: PointerValue<'ctx>,
    /// What lies there.
    pub kept_type: BasicTypeEnum<'ctx>,
    /// Whether that is a scalar.
    pub is_uniform: bool,
}

impl<'ctx> ResultPlace<'ctx> {
    /// A new place, with zeros in it.
    pub fn open_place(
        emitter: &Emitter<'ctx, '_>,
        kept_type: BasicTypeEnum<'ctx>,
        is_uniform: bool,
    ) -> Emitted<ResultPlace<'ctx>> {
        let place = emitter.builder.build_alloca(kept_type, "result")?;
        emitter.builder.build_store(place, kept_type.const_zero())?;
        Ok(ResultPlace { place, kept_type, is_uniform })
    }
}

/// The values of a call.
pub struct Frame<'ctx> {
    /// What `get_global_offset` gives, by dimension.
    pub global_offset: Triple<'ctx>,
    /// What `get_global_size` gives, by dimension.
    pub global_size: Triple<'ctx>,
    /// What `get_enqueued_local_size` gives, by dimension.
    pub local_size: Triple<'ctx>,
    /// What `get_num_groups` gives, by dimension.
    pub num_groups: Triple<'ctx>,
    /// What holds of the launch.
    pub launch: LaunchFacts,
    /// What `get_work_dim` gives.
    pub work_dim: IntValue<'ctx>,
    /// printf's function and its context.
    pub printf: (PointerValue<'ctx>, PointerValue<'ctx>),
    /// Where printf's arguments are packed.
    pub printf_args: Option<PointerValue<'ctx>>,
    /// The address of the launch's [`LaunchFrame`].
    pub address: PointerValue<'ctx>,
    /// The kernel's inputs, in order.
    pub inputs: Vec<BasicValueEnum<'ctx>>,
    /// Where a function keeps what it returns until it does, in order; kernels return nothing.
    pub results: Vec<ResultPlace<'ctx>>,
    /// Addresses of the `__local` variables.
    pub locals: Vec<PointerValue<'ctx>>,
    /// Addresses of the program-scope variables that the kernel uses.
    pub globals: SecondaryMap<Global, Option<PointerValue<'ctx>>>,
    /// Addresses of the slots: of the variable, or of the array with an element per work-item.
    pub slots: SecondaryMap<Slot, Option<PointerValue<'ctx>>>,
    /// Work-items of a row along the lanes' dimension for which there is storage.
    pub row: IntValue<'ctx>,
    /// How work-items lie in gangs.
    pub layout: Layout,
    /// What the group kept for all its work-items when the region that is emitted began: each of them stores what the
    /// next region finds.
    pub shared: SecondaryMap<LiveSlot, Option<BasicValueEnum<'ctx>>>,
    /// Where kept values are.
    pub live: SecondaryMap<LiveSlot, Option<Kept<'ctx>>>,
    /// The address ranges that are private memory: start and length.
    pub private: Vec<(PointerValue<'ctx>, IntValue<'ctx>)>,
    /// The address range that is local memory.
    pub local: (PointerValue<'ctx>, IntValue<'ctx>),
}

/// What a function is called with that runs the kernel or a part of it.
pub struct Call<'ctx> {
    /// The address of the launch's [`LaunchFrame`].
    pub frame: PointerValue<'ctx>,
    /// The scratch memory.
    pub scratch: PointerValue<'ctx>,
    /// Where values are that a group keeps once, as far as the function does not have them for itself.
    pub once: SecondaryMap<LiveSlot, Option<PointerValue<'ctx>>>,
}

/// What the code of an entry block is for.
pub struct Entered<'a> {
    /// What the kernel is of.
    pub module: &'a Module,
    /// The kernel, or the function that is called.
    pub kernel: &'a Kernel,
    /// The only region that follows; none: all of them.
    pub region: Option<Region>,
    /// Where its variables live.
    pub storage: &'a Storage,
    /// What holds of the launch.
    pub launch: &'a LaunchFacts,
    /// How work-items lie in gangs.
    pub layout: Layout,
}

impl Entered<'_> {
    /// The instructions of the regions that follow.
    fn instructions(&self) -> impl Iterator<Item = &InstNode> {
        let (regions, only_region) = (&self.kernel.regions, self.region);
        let region_numbers = regions.keys().skip(only_region.map_or(0, EntityRef::index));
        let region_numbers = region_numbers.take(only_region.map_or(regions.len(), |_| 1));
        region_numbers.flat_map(|region| regions[region].insts.values())
    }
}

/// Emits the entry block's part: everything that the regions will need.
pub fn enter_kernel<'ctx>(
    emitter: &Emitter<'ctx, '_>,
    entered: &Entered<'_>,
    kernel_call: &Call<'ctx>,
) -> Emitted<Frame<'ctx>> {
    let &Entered { module, kernel, storage, launch, layout, .. } = entered;
    let Call { frame, scratch, .. } = *kernel_call;
    let load_field = |offset: usize, scalar_type: Type| -> Emitted<BasicValueEnum<'ctx>> {
        let (value, load_instruction) = emitter.load(scalar_type, emitter.offset_inside(frame, offset as u64)?, 8)?;
        emitter.mark_invariant(load_instruction);
        Ok(value)
    };
    let pointer = |offset| -> Emitted<PointerValue<'ctx>> {
        Ok(load_field(offset, Type::Ptr(Space::Global))?.into_pointer_value())
    };
    let load_triple = |offset: usize| -> Emitted<Triple<'ctx>> {
        let load_dimension =
            |dimension: usize| -> Emitted<_> { Ok(load_field(offset + 8 * dimension, Type::I64)?.into_int_value()) };
        Ok([load_dimension(0)?, load_dimension(1)?, load_dimension(2)?])
    };

    let global_size = load_triple(offset_of!(LaunchFrame, global_size))?;
    let local_size = match launch.local {
        LocalSize::Exactly(sizes) => sizes.map(|dimension_size| emitter.const64(dimension_size.into())),
        LocalSize::Any | LocalSize::Rows => load_triple(offset_of!(LaunchFrame, local_size))?,
    };
    let global_offset = match launch.zero_offset {
        true => [emitter.const64(0); 3],
        false => load_triple(offset_of!(LaunchFrame, global_offset))?,
    };
    let arguments = pointer(offset_of!(LaunchFrame, args))?;
    let global_table = pointer(offset_of!(LaunchFrame, globals))?;
    let items_offset = load_field(offset_of!(LaunchFrame, items_offset), Type::I64)?.into_int_value();
    let worker_start = emitter.offset_address(scratch, items_offset, true)?;
    let item_arrays = emitter.offset_inside(worker_start, storage.needs.worker_bytes)?;
    let [along_dimension, middle_dimension, outer_dimension] = layout.loop_order();
    let padded_row = match storage.needs.row {
        0 | 1 => local_size[along_dimension],
        padded_row => {
            let rounded_up = emitter.add(local_size[along_dimension], emitter.const64(padded_row - 1))?;
            emitter.builder.build_and(rounded_up, emitter.const64(padded_row.wrapping_neg()), "row")?
        }
    };
    let item_count =
        emitter.mul(emitter.mul(padded_row, local_size[middle_dimension])?, local_size[outer_dimension])?;
    let array_address = |offset: u64| match offset {
        0 => Ok(item_arrays),
        _ => emitter.offset_address(item_arrays, emitter.mul(item_count, emitter.const64(offset))?, true),
    };

    let mut inputs = Vec::new();
    for &(input, scalar_type) in &kernel.inputs {
        inputs.push(match input {
            Input::Passed { position } => nth_parameter(emitter, OWN_PARAMETERS + position)?,
            Input::Address { param } => {
                let offset = kernel.params[param as usize].offset;
                emitter.offset_inside(arguments, offset.into())?.into()
            }
            Input::Value { param, offset } => {
                let parameter = &kernel.params[param as usize];
                let value_pointer =
                    emitter.offset_inside(arguments, u64::from(parameter.offset) + u64::from(offset))?;
                let is_local = parameter.kind == ParamKind::Local;
                let stored = if is_local { Type::I64 } else { scalar_type };
                let (value, load_instruction) =
                    emitter.load(stored, value_pointer, natural_align(scalar_type, parameter.offset + offset))?;
                emitter.mark_invariant(load_instruction);
                if is_local { emitter.offset_address(scratch, value.into_int_value(), true)?.into() } else { value }
            }
        });
    }

    let mut locals = Vec::new();
    for (local, &offset) in storage.locals.iter().enumerate() {
        let alignment = kernel.locals[LocalVar::new(local)].align;
        locals.push(over_aligned(emitter, emitter.offset_inside(scratch, offset)?, alignment)?);
    }

    let mut globals: SecondaryMap<Global, Option<PointerValue<'ctx>>> = SecondaryMap::new();
    let mut most_args = None;
    for inst_node in entered.instructions() {
        match &inst_node.data {
            InstData::GlobalAddr { global } if globals[*global].is_none() => {
                let global_data = &module.globals[*global];
                globals[*global] = Some(if global_data.constant && global_data.relocs.is_empty() {
                    table_in_code(emitter, global_data)
                } else {
                    let entry = emitter.offset_inside(global_table, 8 * global.index() as u64)?;
                    let (value, load_instruction) = emitter.load(Type::Ptr(global_data.space), entry, 8)?;
                    emitter.mark_invariant(load_instruction);
                    value.into_pointer_value()
                });
            }
            InstData::Printf { arguments, .. } => most_args = most_args.max(Some(arguments.len())),
            _ => {}
        }
    }
    let printf_args = match most_args {
        Some(element_count) => {
            let area = emitter.i64_type().array_type(element_count.max(1) as u32);
            Some(emitter.builder.build_alloca(area, "printf")?)
        }
        None => None,
    };

    let mut slot_offsets = SecondaryMap::new();
    for (slot, slot_data) in &kernel.slots {
        slot_offsets[slot] = match storage.slots[slot] {
            SlotHome::Unused => None,
            SlotHome::Stack => {
                let (byte_size, alignment) = storage.blocks[slot];
                Some(stack_variable(emitter, byte_size, alignment)?)
            }
            SlotHome::Worker(offset) => {
                let slot_address = emitter.offset_inside(worker_start, offset)?;
                Some(over_aligned(emitter, slot_address, slot_data.align)?)
            }
            SlotHome::Item { offset, .. } => Some(array_address(offset)?),
        };
    }
    let mut live = SecondaryMap::new();
    for (slot, live_data) in &kernel.live {
        live[slot] = Some(match live_data.shared {
            true => Kept::Once(match kernel_call.once[slot] {
                Some(address) => address,
                None => stack_variable(emitter, live_data.ty.bytes().into(), live_data.ty.bytes())?,
            }),
            false => Kept::PerItem(array_address(storage.live[slot.index()])?),
        });
    }

    let item_bytes = emitter.mul(item_count, emitter.const64(storage.needs.item_bytes))?;
    let private_bytes = emitter.add(item_bytes, emitter.const64(storage.needs.worker_bytes))?;
    Ok(Frame {
        global_offset,
        global_size,
        local_size,
        num_groups: load_triple(offset_of!(LaunchFrame, num_groups))?,
        launch: *launch,
        work_dim: load_field(offset_of!(LaunchFrame, work_dim), Type::I32)?.into_int_value(),
        printf: (pointer(offset_of!(LaunchFrame, printf))?, pointer(offset_of!(LaunchFrame, printf_context))?),
        printf_args,
        address: frame,
        inputs,
        results: Vec::new(),
        locals,
        globals,
        slots: slot_offsets,
        row: padded_row,
        layout,
        shared: SecondaryMap::new(),
        live,
        private: vec![(worker_start, private_bytes), (arguments, emitter.const64(kernel.args_size.into()))],
        local: (scratch, items_offset),
    })
}

/// What the emitter's function was called with at this position.
pub fn nth_parameter<'ctx>(emitter: &Emitter<'ctx, '_>, index: u32) -> Emitted<BasicValueEnum<'ctx>> {
    emitter.function.get_nth_param(index).ok_or(CodegenError::Missing("such parameter of the function"))
}

impl<'ctx> Frame<'ctx> {
    /// The address of a slot for a work-item.
    pub fn slot_address(
        &self,
        emitter: &Emitter<'ctx, '_>,
        kernel: &Kernel,
        storage: &Storage,
        slot: Slot,
        work_item: &Item<'ctx>,
    ) -> Emitted<PointerValue<'ctx>> {
        let Some(base_address) = self.slots[slot] else {
            return Ok(emitter.pointer_type().const_null());
        };
        let SlotHome::Item { stride, .. } = storage.slots[slot] else {
            return Ok(base_address);
        };
        let slot_data = kernel.slots[slot];
        let SlotLayout::Interleaved { element, lanes } = slot_data.layout else {
            let position = emitter.mul(work_item.number, emitter.const64(stride))?;
            let pointer = emitter.offset_address(base_address, position, true)?;
            return over_aligned(emitter, pointer, slot_data.align);
        };
        // The gang's block, and the lane in it.
        let builder = &emitter.builder;
        if self.layout.crosses_rows() {
            return emitter.offset_address(base_address, emitter.mul(work_item.number, emitter.const64(stride))?, true);
        }
        let [along_dimension, middle_dimension, outer_dimension] = self.layout.loop_order();
        let position = work_item.local[along_dimension];
        let lane_index = builder.build_and(position, emitter.const64(u64::from(lanes) - 1), "")?;
        let row_index = emitter.add(
            emitter.mul(work_item.local[outer_dimension], self.local_size[middle_dimension])?,
            work_item.local[middle_dimension],
        )?;
        let first_item =
            emitter.add(emitter.mul(row_index, self.row)?, builder.build_int_sub(position, lane_index, "")?)?;
        let block_address =
            emitter.offset_address(base_address, emitter.mul(first_item, emitter.const64(stride))?, true)?;
        emitter.offset_address(block_address, emitter.mul(lane_index, emitter.const64(element.into()))?, true)
    }

    /// Reads what a region finds kept for all work-items, before any of them runs it.
    pub fn enter_region(&mut self, emitter: &Emitter<'ctx, '_>, kernel: &Kernel, function: &Function) -> Emitted<()> {
        self.shared.clear();
        let instructions = function.layout.iter().flat_map(|&block| &function.blocks[block].insts);
        for &instruction in instructions {
            let InstData::LiveLoad { live_slot } = function.insts[instruction].data else { continue };
            if let (Some(Kept::Once(address)), None) = (self.live[live_slot], self.shared[live_slot]) {
                let scalar_type = kernel.live[live_slot].ty;
                let (value, load_instruction) = emitter.load(scalar_type, address, scalar_type.bytes())?;
                if let Some(load_instruction) = load_instruction {
                    emitter.scopes.mark_parts(load_instruction, &[Part::Kept]);
                }
                self.shared[live_slot] = Some(value);
            }
        }
        Ok(())
    }

    /// The address of a kept value for the work-item with this number in its group.
    pub fn live_address(
        &self,
        emitter: &Emitter<'ctx, '_>,
        slot: LiveSlot,
        scalar_type: Type,
        item_index: IntValue<'ctx>,
    ) -> Emitted<PointerValue<'ctx>> {
        match self.live[slot] {
            Some(Kept::Once(address)) => Ok(address),
            Some(Kept::PerItem(array)) => emitter.offset_address(
                array,
                emitter.mul(item_index, emitter.const64(scalar_type.bytes().into()))?,
                true,
            ),
            None => Ok(emitter.pointer_type().const_null()),
        }
    }
}

/// What is known of the alignment of a value `offset` bytes behind an aligned address.
fn natural_align(scalar_type: Type, offset: u32) -> u32 {
    let of_offset = 1 << offset.trailing_zeros().min(4);
    scalar_type.bytes().min(of_offset)
}

/// Rounds an address up for a variable that wants more than the scratch memory's alignment.
fn over_aligned<'ctx>(
    emitter: &Emitter<'ctx, '_>,
    pointer: PointerValue<'ctx>,
    alignment: u32,
) -> Emitted<PointerValue<'ctx>> {
    if u64::from(alignment) <= SCRATCH_ALIGN {
        return Ok(pointer);
    }
    emitter.align_up(pointer, alignment.into())
}

fn stack_variable<'ctx>(emitter: &Emitter<'ctx, '_>, byte_size: u64, alignment: u32) -> Emitted<PointerValue<'ctx>> {
    let array_type = emitter.context.i8_type().array_type(byte_size.max(1) as u32);
    let variable = emitter.builder.build_alloca(array_type, "slot")?;
    if let Some(instruction) = variable.as_instruction() {
        instruction.set_alignment(alignment.max(1))?;
    }
    Ok(variable)
}

/// A constant table that is part of the code.
fn table_in_code<'ctx>(emitter: &Emitter<'ctx, '_>, global_data: &GlobalData) -> PointerValue<'ctx> {
    let initial = emitter.context.const_string(&global_data.init, false);
    let constant_table = emitter.module.add_global(initial.get_type(), None, "table");
    constant_table.set_initializer(&initial);
    constant_table.set_constant(true);
    constant_table.set_linkage(Linkage::Private);
    constant_table.set_alignment(global_data.align.max(1));
    constant_table.as_pointer_value()
}
