//! Memory: loads, stores, copies, fences, address spaces.

use super::alias::Part;
use super::emit::{Emitted, Emitter, llvm_ordering, load_ordering, store_ordering};
use super::frame::Frame;
use inkwell::values::{BasicValueEnum, IntValue, PointerValue, ValueKind};
use lockstep_ir::ir::{Access, Ordering};
use lockstep_protocol::types::{Space, Type};

impl<'ctx> Emitter<'ctx, '_> {
    /// Reads `count` consecutive elements. They stay separate loads: a work-item alone computes on
    /// scalars, and LLVM joins what is only copied.
    pub fn load_elements(
        &self,
        base: PointerValue<'ctx>,
        space: Space,
        offset: i64,
        ty: Type,
        count: usize,
        access: Access,
    ) -> Emitted<Vec<BasicValueEnum<'ctx>>> {
        let mut values = Vec::with_capacity(count);
        for index in 0..count as u64 {
            let step = index * u64::from(ty.bytes());
            let align = element_align(access, ty, step);
            let place = offset.wrapping_add_unsigned(step);
            let (value, load) = self.load(ty, self.at_offset(base, place)?, align)?;
            if let Some(load) = load {
                self.scopes.mark_parts(load, &[Part::Space(space)]);
                load.set_volatile(access.volatile)?;
                if let Some(order) = access.atomic.filter(|_| space != Space::Local) {
                    load.set_atomic_ordering(load_ordering(order))?;
                }
            }
            // OpenCL C, 6.7.3: constant memory is read only while the kernel runs.
            let invariant = space == Space::Constant || self.scopes.is_invariant();
            if invariant && !access.volatile && access.atomic.is_none() {
                self.mark_invariant(load);
            }
            values.push(value);
        }
        Ok(values)
    }

    /// Writes consecutive elements.
    pub fn store_elements(
        &self,
        base: PointerValue<'ctx>,
        space: Space,
        offset: i64,
        ty: Type,
        values: &[BasicValueEnum<'ctx>],
        access: Access,
    ) -> Emitted<()> {
        for (index, &value) in values.iter().enumerate() {
            let step = index as u64 * u64::from(ty.bytes());
            let align = element_align(access, ty, step);
            let place = offset.wrapping_add_unsigned(step);
            let store = self.store(ty, value, self.at_offset(base, place)?, align)?;
            self.scopes.mark_parts(store, &[Part::Space(space)]);
            store.set_volatile(access.volatile)?;
            if let Some(order) = access.atomic.filter(|_| space != Space::Local) {
                store.set_atomic_ordering(store_ordering(order))?;
            }
        }
        Ok(())
    }

    fn at_offset(&self, base: PointerValue<'ctx>, offset: i64) -> Emitted<PointerValue<'ctx>> {
        if offset == 0 {
            return Ok(base);
        }
        self.offset_address(base, self.const64(offset as u64), false)
    }

    /// Copies a run of bytes between two addresses.
    pub fn copy_bytes(
        &self,
        destination: BasicValueEnum<'ctx>,
        source: BasicValueEnum<'ctx>,
        length: BasicValueEnum<'ctx>,
        [to, from]: [Space; 2],
        overlap: bool,
        volatile: bool,
    ) -> Emitted<()> {
        let name = if overlap { "llvm.memmove" } else { "llvm.memcpy" };
        let types = [self.pointer_type().into(), self.pointer_type().into(), self.i64_type().into()];
        let volatile = self.context.bool_type().const_int(volatile.into(), false);
        let call_site = self.intrinsic_call(name, &types, &[destination, source, length, volatile.into()])?;
        if let ValueKind::Instruction(call_inst) = call_site.try_as_basic_value() {
            self.scopes.mark_parts(call_inst, &[Part::Space(to), Part::Space(from)]);
        }
        Ok(())
    }

    /// Sets a run of bytes to one value.
    pub fn set_bytes(
        &self,
        destination: BasicValueEnum<'ctx>,
        byte: BasicValueEnum<'ctx>,
        length: BasicValueEnum<'ctx>,
        space: Space,
        volatile: bool,
    ) -> Emitted<()> {
        let types = [self.pointer_type().into(), self.i64_type().into()];
        let volatile = self.context.bool_type().const_int(volatile.into(), false);
        let call_site = self.intrinsic_call("llvm.memset", &types, &[destination, byte, length, volatile.into()])?;
        if let ValueKind::Instruction(call_inst) = call_site.try_as_basic_value() {
            self.scopes.mark_parts(call_inst, &[Part::Space(space)]);
        }
        Ok(())
    }

    /// A fence; a relaxed one orders nothing.
    pub fn fence(&self, order: Ordering) -> Emitted<()> {
        if order != Ordering::Relaxed {
            self.builder.build_fence(llvm_ordering(order), false, "")?;
        }
        Ok(())
    }

    /// The address space a generic address is in, as SPIR's number.
    pub fn space_of(&self, frame: &Frame<'ctx>, pointer: PointerValue<'ctx>) -> Emitted<IntValue<'ctx>> {
        let number = |space: Space| self.context.i32_type().const_int(space.spir_number().into(), false);
        let choose = |if_true, space, if_false| -> Emitted<IntValue<'ctx>> {
            let chosen = self.builder.build_select(if_true, number(space), if_false, "")?;
            Ok(chosen.into_int_value())
        };
        let mut space = number(Space::Global);
        for &(start, length) in &frame.private {
            let inside = self.in_range(pointer, start, length)?;
            space = choose(inside, Space::Private, space)?;
        }
        let inside = self.in_range(pointer, frame.local.0, frame.local.1)?;
        choose(inside, Space::Local, space)
    }
}

/// The alignment of an element `step` bytes behind the access's address.
fn element_align(access: Access, ty: Type, step: u64) -> u32 {
    if access.atomic.is_some() {
        return ty.bytes();
    }
    let of_step = 1 << step.trailing_zeros().min(31);
    access.align.max(1).min(of_step)
}
