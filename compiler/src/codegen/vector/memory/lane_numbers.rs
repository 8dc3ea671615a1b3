//! Addresses of operations that lanes do one after the other, of numbers that are read from memory one by one.
//!
//! Numbers that come out of a vector's register make 16 changes of memory in a row several times as slow: counting in local memory took
//! 5.5 ns a lane, and takes 0.6 to 1.0 (Zen 4; docs/experiments/memory-accesses.md).

use std::cell::RefCell;
use std::collections::BTreeMap;

use super::super::VectorEmitter;
use super::super::lane_value::LaneValue;
use crate::codegen::alias::Part;
use crate::codegen::emit::Emitted;
use crate::codegen::error::CodegenError;
use inkwell::values::{BasicValue, BasicValueEnum, IntValue, PointerValue, VectorValue};
use lockstep_ir::ir::{Inst, InstData, InstNode, Value, ValueDef};
use lockstep_protocol::types::{Space, Type};

impl<'ctx> VectorEmitter<'_, 'ctx, '_> {
    /// The address in one lane of an atomic operation that all lanes do one after the other. What it is computed of comes from memory: from
    /// where it was loaded, or from `places` on the stack. Numbers that were loaded, but may have changed there or lie anywhere, are taken out
    /// of the register.
    pub(in crate::codegen::vector) fn lane_address_through_memory(
        &self,
        atomic: &InstNode,
        pointer: Value,
        lane: IntValue<'ctx>,
        places: &RefCell<BTreeMap<Value, PointerValue<'ctx>>>,
    ) -> Emitted<PointerValue<'ctx>> {
        let is_loaded = |operand| matches!(self.computing_inst(operand), Some(InstData::Load { .. }));
        let number_of = |operand| match self.held_value(operand)? {
            LaneValue::Vector(_) if is_loaded(operand) => match self.load_element_again(operand, atomic, lane)? {
                Some(number) => Ok(number),
                None => self.read_lane(operand, lane),
            },
            LaneValue::Vector(numbers) => {
                let known_place = places.borrow().get(&operand).copied();
                let place = match known_place {
                    Some(place) => place,
                    None => self.keep_numbers(numbers)?,
                };
                places.borrow_mut().insert(operand, place);
                self.read_kept_number(operand, place, lane)
            }
            _ => self.read_lane(operand, lane),
        };
        Ok(self.recompute(pointer, &|operand| self.makes_addresses(operand), &number_of)?.into_pointer_value())
    }

    /// Writes a vector to the stack. That is volatile, or LLVM would take the elements out of the register all the same.
    fn keep_numbers(&self, numbers: VectorValue<'ctx>) -> Emitted<PointerValue<'ctx>> {
        let emitter = self.around.emitter;
        let place = emitter.allocate_in_entry(numbers.get_type())?;
        emitter.intrinsic_call("llvm.lifetime.start", &[emitter.pointer_type().into()], &[place.into()])?;
        emitter.builder.build_store(place, numbers)?.set_volatile(true)?;
        Ok(place)
    }

    /// Ends the use of what [`Self::lane_address_through_memory`] keeps: the next operation has the same bytes of the stack.
    pub(in crate::codegen::vector) fn release_numbers(
        &self,
        places: &RefCell<BTreeMap<Value, PointerValue<'ctx>>>,
    ) -> Emitted<()> {
        let emitter = self.around.emitter;
        for place in places.borrow().values() {
            emitter.intrinsic_call("llvm.lifetime.end", &[emitter.pointer_type().into()], &[(*place).into()])?;
        }
        Ok(())
    }

    /// Reads a lane's element of a vector that lies on the stack.
    fn read_kept_number(
        &self,
        operand: Value,
        place: PointerValue<'ctx>,
        lane: IntValue<'ctx>,
    ) -> Emitted<BasicValueEnum<'ctx>> {
        let emitter = self.around.emitter;
        let number_type = self.type_of(operand);
        let offset = emitter.mul(lane, emitter.const64(number_type.bytes().into()))?;
        let address = emitter.offset_address(place, offset, true)?;
        let number = emitter.builder.build_load(emitter.value_type(number_type), address, "")?;
        let instruction = number.as_instruction_value().ok_or(CodegenError::Missing("instruction of a load"))?;
        instruction.set_volatile(true)?;
        Ok(number)
    }

    /// A lane's element of what was loaded for neighbouring lanes, loaded once more: next to its use it need not be spilled, as most of the 64
    /// numbers of a row are otherwise. None where memory may have changed since, or lanes are not neighbours.
    fn load_element_again(
        &self,
        loaded: Value,
        atomic: &InstNode,
        lane: IntValue<'ctx>,
    ) -> Emitted<Option<BasicValueEnum<'ctx>>> {
        let ValueDef::Result(load, 0) = self.body.values[loaded].definition else { return Ok(None) };
        let (InstData::Load { pointer, offset, access }, [_]) =
            (&self.body.insts[load].data, &self.body.insts[load].results[..])
        else {
            return Ok(None);
        };
        let (space, element_type) = (self.space_of(*pointer), self.type_of(loaded));
        let LaneValue::Affine(_, stride) = self.held_value(*pointer)? else { return Ok(None) };
        let is_plain =
            !access.volatile && access.atomic.is_none() && matches!(element_type, Type::Int(8 | 16 | 32 | 64));
        let are_neighbours = stride == i64::from(element_type.bytes());
        if !is_plain || !are_neighbours || !self.is_unchanged_since(load, space, atomic) {
            return Ok(None);
        }
        let emitter = self.around.emitter;
        let address = self.read_lane(*pointer, lane)?.into_pointer_value();
        let address = emitter.offset_address(address, emitter.const64(*offset as u64), false)?;
        let scopes = &emitter.scopes;
        scopes
            .emit_from(self.origins.of_access(&self.body.insts[load].data), || {
                emitter.load_marked(emitter.value_type(element_type), address, access.align, |instruction| {
                    scopes.mark_parts(instruction, &[Part::Space(space)]);
                })
            })
            .map(Some)
    }

    /// Whether what an earlier load of the block read in global or constant memory is there until an operation: between them are only
    /// atomic operations on local memory.
    fn is_unchanged_since(&self, load: Inst, space: Space, atomic: &InstNode) -> bool {
        let instructions = &self.body.blocks[self.block].insts;
        let after_load = instructions.iter().skip_while(|&&instruction| instruction != load);
        let nodes = || after_load.clone().map(|&instruction| &self.body.insts[instruction]);
        let is_local = |node: &InstNode| match node.data {
            InstData::AtomicRmw { pointer, .. } => self.space_of(pointer) == Space::Local,
            _ => false,
        };
        let mut between = nodes().take_while(|&node| !std::ptr::eq(node, atomic));
        matches!(space, Space::Global | Space::Constant)
            && nodes().any(|node| std::ptr::eq(node, atomic))
            && between.all(|node| !node.data.has_effect() || is_local(node))
    }
}
