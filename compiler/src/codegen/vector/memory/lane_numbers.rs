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

/// Where one operation's lanes find the numbers of which their addresses are computed: once they are asked for, the same place for all lanes.
pub(in crate::codegen::vector) type Places<'ctx> = BTreeMap<Value, Place<'ctx>>;

/// Where the lanes' elements of a number are.
#[derive(Clone, Copy)]
pub(in crate::codegen::vector) enum Place<'ctx> {
    /// Where they were loaded from.
    Source(Inst),
    /// On the stack.
    Stack(PointerValue<'ctx>),
    /// In a register.
    Register,
}

impl<'ctx> VectorEmitter<'_, 'ctx, '_> {
    /// The address in one lane of an atomic operation that all lanes do one after the other. What it is computed of comes from memory: from
    /// where it was loaded, or from `places` on the stack. Numbers that were loaded, but may have changed there or lie anywhere, are taken out
    /// of the register.
    pub(in crate::codegen::vector) fn lane_address_through_memory(
        &self,
        atomic: &InstNode,
        pointer: Value,
        lane: IntValue<'ctx>,
        places: &RefCell<Places<'ctx>>,
    ) -> Emitted<PointerValue<'ctx>> {
        let number_of = |operand| {
            let known_place = places.borrow().get(&operand).copied();
            let place = match known_place {
                Some(place) => place,
                None => self.choose_place(operand, atomic)?,
            };
            places.borrow_mut().insert(operand, place);
            match place {
                Place::Source(load) => self.load_element_again(load, lane),
                Place::Stack(stack) => self.read_kept_number(operand, stack, lane),
                Place::Register => self.read_lane(operand, lane),
            }
        };
        Ok(self.recompute(pointer, &|operand| self.makes_addresses(operand), &number_of)?.into_pointer_value())
    }

    /// Where an operation's lanes find a number; what is not there yet is written to the stack.
    fn choose_place(&self, operand: Value, atomic: &InstNode) -> Emitted<Place<'ctx>> {
        let LaneValue::Vector(numbers) = self.held_value(operand)? else { return Ok(Place::Register) };
        match self.body.values[operand].definition {
            ValueDef::Result(load, _) if matches!(self.body.insts[load].data, InstData::Load { .. }) => {
                let is_there = self.loads_neighbours(load)? && self.is_unchanged_since(load, atomic);
                Ok(if is_there { Place::Source(load) } else { Place::Register })
            }
            _ => Ok(Place::Stack(self.keep_numbers(numbers)?)),
        }
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
    pub(in crate::codegen::vector) fn release_numbers(&self, places: &RefCell<Places<'ctx>>) -> Emitted<()> {
        let emitter = self.around.emitter;
        for place in places.borrow().values() {
            if let &Place::Stack(stack) = place {
                emitter.intrinsic_call("llvm.lifetime.end", &[emitter.pointer_type().into()], &[stack.into()])?;
            }
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

    /// Whether a load gives one number to each of neighbouring lanes.
    fn loads_neighbours(&self, load: Inst) -> Emitted<bool> {
        let (InstData::Load { pointer, access, .. }, &[loaded]) =
            (&self.body.insts[load].data, &self.body.insts[load].results[..])
        else {
            return Ok(false);
        };
        let element_type = self.type_of(loaded);
        let is_plain =
            !access.volatile && access.atomic.is_none() && matches!(element_type, Type::Int(8 | 16 | 32 | 64));
        let stride = match self.held_value(*pointer)? {
            LaneValue::Affine(_, stride) => stride,
            _ => return Ok(false),
        };
        Ok(is_plain && stride == i64::from(element_type.bytes()))
    }

    /// A lane's element of what was loaded for neighbouring lanes, loaded once more: next to its use it need not be spilled, as most of the 64
    /// numbers of a row are otherwise.
    fn load_element_again(&self, load: Inst, lane: IntValue<'ctx>) -> Emitted<BasicValueEnum<'ctx>> {
        let InstNode { data, results, .. } = &self.body.insts[load];
        let (&InstData::Load { pointer, offset, access }, &[loaded]) = (data, &results[..]) else {
            return Err(CodegenError::Unexpected(format!("{load} is no load of one number")));
        };
        let emitter = self.around.emitter;
        let address = self.read_lane(pointer, lane)?.into_pointer_value();
        let address = emitter.offset_address(address, emitter.const64(offset as u64), false)?;
        let scopes = &emitter.scopes;
        scopes.emit_from(self.origins.of_access(data), || {
            let number_type = emitter.value_type(self.type_of(loaded));
            emitter.load_marked(number_type, address, access.align, |instruction| {
                scopes.mark_parts(instruction, &[Part::Space(self.space_of(pointer))]);
            })
        })
    }

    /// Whether what an earlier load of the block read in global or constant memory is there until an operation: between them are only
    /// atomic operations on local memory.
    fn is_unchanged_since(&self, load: Inst, atomic: &InstNode) -> bool {
        let InstData::Load { pointer, .. } = self.body.insts[load].data else { return false };
        let instructions = &self.body.blocks[self.block].insts;
        let after_load = instructions.iter().skip_while(|&&instruction| instruction != load);
        let nodes = || after_load.clone().map(|&instruction| &self.body.insts[instruction]);
        let is_local = |node: &InstNode| match node.data {
            InstData::AtomicRmw { pointer, .. } => self.space_of(pointer) == Space::Local,
            _ => false,
        };
        let mut between = nodes().take_while(|&node| !std::ptr::eq(node, atomic));
        matches!(self.space_of(pointer), Space::Global | Space::Constant)
            && nodes().any(|node| std::ptr::eq(node, atomic))
            && between.all(|node| !node.data.has_effect() || is_local(node))
    }
}
