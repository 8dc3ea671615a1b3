//! Memory: loads, stores, copies, fences, address spaces.

use super::alias::Part;
use super::emit::{Emitted, Emitter, llvm_ordering, load_ordering, store_ordering};
use super::frame::Frame;
use inkwell::values::{BasicValueEnum, IntValue, PointerValue, ValueKind};
use lockstep_ir::ir::{Access, Ordering};
use lockstep_protocol::types::{Space, Type};

impl<'ctx> Emitter<'ctx, '_> {
    /// Reads `element_count` consecutive elements. They stay separate loads: a work-item alone computes on
    /// scalars, and LLVM joins what is only copied.
    pub fn load_elements(
        &self,
        base_address: PointerValue<'ctx>,
        address_space: Space,
        offset: i64,
        scalar_type: Type,
        element_count: usize,
        access: Access,
    ) -> Emitted<Vec<BasicValueEnum<'ctx>>> {
        let mut values = Vec::with_capacity(element_count);
        for index in 0..element_count as u64 {
            let element_offset = index * u64::from(scalar_type.bytes());
            let alignment = element_align(access, scalar_type, element_offset);
            let byte_offset = offset.wrapping_add_unsigned(element_offset);
            let (value, load_instruction) =
                self.load(scalar_type, self.at_offset(base_address, byte_offset)?, alignment)?;
            if let Some(load_instruction) = load_instruction {
                self.scopes.mark_parts(load_instruction, &[Part::Space(address_space)]);
                load_instruction.set_volatile(access.volatile)?;
                if let Some(ordering) = access.atomic.filter(|_| address_space != Space::Local) {
                    load_instruction.set_atomic_ordering(load_ordering(ordering))?;
                }
            }
            // OpenCL C, 6.7.3: constant memory is read only while the kernel runs.
            let invariant = address_space == Space::Constant || self.scopes.is_invariant();
            if invariant && !access.volatile && access.atomic.is_none() {
                self.mark_invariant(load_instruction);
            }
            values.push(value);
        }
        Ok(values)
    }

    /// Writes consecutive elements.
    pub fn store_elements(
        &self,
        base_address: PointerValue<'ctx>,
        address_space: Space,
        offset: i64,
        scalar_type: Type,
        values: &[BasicValueEnum<'ctx>],
        access: Access,
    ) -> Emitted<()> {
        for (index, &value) in values.iter().enumerate() {
            let element_offset = index as u64 * u64::from(scalar_type.bytes());
            let alignment = element_align(access, scalar_type, element_offset);
            let byte_offset = offset.wrapping_add_unsigned(element_offset);
            let store_instruction =
                self.store(scalar_type, value, self.at_offset(base_address, byte_offset)?, alignment)?;
            self.scopes.mark_parts(store_instruction, &[Part::Space(address_space)]);
            store_instruction.set_volatile(access.volatile)?;
            if let Some(ordering) = access.atomic.filter(|_| address_space != Space::Local) {
                store_instruction.set_atomic_ordering(store_ordering(ordering))?;
            }
        }
        Ok(())
    }

    fn at_offset(&self, base_address: PointerValue<'ctx>, offset: i64) -> Emitted<PointerValue<'ctx>> {
        if offset == 0 {
            return Ok(base_address);
        }
        self.offset_address(base_address, self.const64(offset as u64), false)
    }

    /// Copies a run of bytes between two addresses.
    pub fn copy_bytes(
        &self,
        destination: BasicValueEnum<'ctx>,
        source: BasicValueEnum<'ctx>,
        length: BasicValueEnum<'ctx>,
        [destination_space, source_space]: [Space; 2],
        overlap: bool,
        volatile: bool,
    ) -> Emitted<()> {
        let name = if overlap { "llvm.memmove" } else { "llvm.memcpy" };
        let overloads = [self.pointer_type().into(), self.pointer_type().into(), self.i64_type().into()];
        let volatile = self.context.bool_type().const_int(volatile.into(), false);
        let call_site = self.intrinsic_call(name, &overloads, &[destination, source, length, volatile.into()])?;
        if let ValueKind::Instruction(call_instruction) = call_site.try_as_basic_value() {
            self.scopes.mark_parts(call_instruction, &[Part::Space(destination_space), Part::Space(source_space)]);
        }
        Ok(())
    }

    /// Sets a run of bytes to one value.
    pub fn set_bytes(
        &self,
        destination: BasicValueEnum<'ctx>,
        byte_value: BasicValueEnum<'ctx>,
        length: BasicValueEnum<'ctx>,
        address_space: Space,
        volatile: bool,
    ) -> Emitted<()> {
        let overloads = [self.pointer_type().into(), self.i64_type().into()];
        let volatile = self.context.bool_type().const_int(volatile.into(), false);
        let call_site =
            self.intrinsic_call("llvm.memset", &overloads, &[destination, byte_value, length, volatile.into()])?;
        if let ValueKind::Instruction(call_instruction) = call_site.try_as_basic_value() {
            self.scopes.mark_parts(call_instruction, &[Part::Space(address_space)]);
        }
        Ok(())
    }

    /// A fence; a relaxed one orders nothing.
    pub fn fence(&self, ordering: Ordering) -> Emitted<()> {
        if ordering != Ordering::Relaxed {
            self.builder.build_fence(llvm_ordering(ordering), false, "")?;
        }
        Ok(())
    }

    /// The address space a generic address is in, as SPIR's number.
    pub fn space_of(&self, frame: &Frame<'ctx>, pointer: PointerValue<'ctx>) -> Emitted<IntValue<'ctx>> {
        let space_number =
            |address_space: Space| self.context.i32_type().const_int(address_space.spir_number().into(), false);
        let choose_space = |if_true, address_space, if_false| -> Emitted<IntValue<'ctx>> {
            let chosen = self.builder.build_select(if_true, space_number(address_space), if_false, "")?;
            Ok(chosen.into_int_value())
        };
        let mut space = space_number(Space::Global);
        for &(start, length) in &frame.private {
            let is_inside = self.in_range(pointer, start, length)?;
            space = choose_space(is_inside, Space::Private, space)?;
        }
        let is_inside = self.in_range(pointer, frame.local.0, frame.local.1)?;
        choose_space(is_inside, Space::Local, space)
    }
}

/// The alignment of an element `element_offset` bytes behind the access's address.
fn element_align(memory_access: Access, scalar_type: Type, element_offset: u64) -> u32 {
    if memory_access.atomic.is_some() {
        return scalar_type.bytes();
    }
    let of_step = 1 << element_offset.trailing_zeros().min(31);
    memory_access.align.max(1).min(of_step)
}
