//! Neighbouring elements of each lane, lanes anywhere: sixteen bytes of a lane at once.
//!
//! A gather takes an element per lane, and so many of them touch each lane's bytes again and again. Here every lane's bytes
//! are one load, and registers of them are transposed in parts of sixteen bytes, which costs a shuffle of two operands for
//! an element and a register, and on the way another one or none.

use super::super::VectorEmitter;
use super::super::lane_value::LaneValue;
use super::super::masks::Mask;
use crate::codegen::emit::{Emitted, vector_of};
use inkwell::types::VectorType;
use inkwell::values::{BasicValueEnum, InstructionOpcode, InstructionValue, IntValue, PointerValue, VectorValue};
use lockstep_ir::analysis::affine_address::{self, Extended};
use lockstep_ir::ir::Value;
use lockstep_ir::plan::access_lowering::{CHUNK_BYTES, Direction, NARROWEST_SHUFFLED};
use lockstep_protocol::types::Type;

/// The lanes' addresses as sums.
struct SplitAddress<'ctx> {
    base: Value,
    /// What differs between lanes, in bytes.
    varying: Option<VectorValue<'ctx>>,
    /// What does not, in bytes.
    uniform: Option<IntValue<'ctx>>,
    /// What is known, in bytes.
    bytes: i64,
}

impl<'ctx> VectorEmitter<'_, 'ctx, '_> {
    /// Each lane's chunk at the places that are so many bytes on and so aligned; the answer are all lanes' first elements, all their
    /// second ones, and so on.
    pub(super) fn load_chunks(
        &self,
        ty: Type,
        (pointer, lane_value): (Value, &LaneValue<'ctx>),
        (bytes, align): (i64, u32),
        mask: Option<Mask<'ctx>>,
        mark: impl Fn(InstructionValue<'ctx>),
    ) -> Emitted<Vec<VectorValue<'ctx>>> {
        let emitter = self.around.emitter;
        let width = self.wide.get();
        let number = match ty.bytes() {
            bytes if bytes < NARROWEST_SHUFFLED => emitter.int_type(8 * NARROWEST_SHUFFLED).into(),
            _ => emitter.memory_ty(ty),
        };
        let together = (NARROWEST_SHUFFLED / ty.bytes()).max(1);
        let numbers = CHUNK_BYTES / (together * ty.bytes());
        let chunk = vector_of(number, numbers);
        let places = self.places_of_chunks(pointer, lane_value, bytes, mask)?;
        let load = |&address| Ok(emitter.load_marked(chunk.into(), address, align, &mark)?.into_vector_value());
        let loaded = places.iter().map(load).collect::<Emitted<Vec<_>>>()?;
        // Of each part of a register, the first row has the first lane's chunk, the second row the second one's.
        let row = |first: u32| {
            let own: Vec<_> = loaded.iter().skip(first as usize).step_by(numbers as usize).copied().collect();
            emitter.concat_vectors(&own, width)
        };
        let rows = (0..numbers).map(row).collect::<Emitted<Vec<_>>>()?;
        let elements =
            emitter.transpose_rows(rows, numbers)?.into_iter().map(|numbers| self.elements_of(ty, together, numbers));
        Ok(elements.collect::<Emitted<Vec<_>>>()?.concat())
    }

    /// The address of each lane's chunk; of lanes that are off, that of sixteen bytes that nobody writes.
    fn places_of_chunks(
        &self,
        pointer: Value,
        lane_value: &LaneValue<'ctx>,
        bytes: i64,
        mask: Option<Mask<'ctx>>,
    ) -> Emitted<Vec<PointerValue<'ctx>>> {
        let emitter = self.around.emitter;
        let lanes = || (0..u64::from(self.wide.get())).map(|lane| emitter.const64(lane));
        let each = |vector: VectorValue<'ctx>| {
            let one = |lane| Ok(emitter.builder.build_extract_element(vector, lane, "")?.into_pointer_value());
            lanes().map(one).collect::<Emitted<Vec<_>>>()
        };
        match (mask, lane_value) {
            (Some(mask), _) => {
                let places = self.places_of_elements(lane_value, bytes)?;
                each(emitter.redirect(Direction::Load, places, mask.lanes)?.0)
            }
            (None, LaneValue::Affine(..)) => {
                let place = |lane| emitter.offset_constant(self.read_lane(pointer, lane)?.into_pointer_value(), bytes);
                lanes().map(place).collect()
            }
            (None, _) => self.split_addresses(pointer, bytes),
        }
    }

    /// The lanes' addresses so many bytes on, as sums of what differs between lanes and of what does not. In a loop the
    /// former is often what does not change: addresses that registers keep.
    fn split_addresses(&self, pointer: Value, bytes: i64) -> Emitted<Vec<PointerValue<'ctx>>> {
        let emitter = self.around.emitter;
        let (address, constant) = affine_address::decompose_address(self.body, pointer);
        let (uniform, varying): (Vec<_>, Vec<_>) =
            address.terms.iter().partition(|(value, ..)| self.is_uniform(*value));
        let wide = |&(value, extended, factor): &(Value, Extended, i64), held: BasicValueEnum<'ctx>| {
            self.extended_multiple(held, self.type_of(value), extended, factor)
        };
        let mut same: Option<IntValue<'ctx>> = None;
        for term in uniform {
            let one = wide(&term, self.lane_zero(term.0)?)?.into_int_value();
            same = Some(match same {
                Some(same) => emitter.builder.build_int_add(same, one, "")?,
                None => one,
            });
        }
        let mut own: Option<VectorValue<'ctx>> = None;
        for term in varying {
            let one = wide(&term, self.as_vector(term.0)?.into())?.into_vector_value();
            own = Some(match own {
                Some(own) => emitter.builder.build_int_add(own, one, "")?,
                None => one,
            });
        }
        let split =
            SplitAddress { base: address.base, varying: own, uniform: same, bytes: constant.wrapping_add(bytes) };
        (0..u64::from(self.wide.get())).map(|lane| self.join_address(&split, emitter.const64(lane))).collect()
    }

    /// The address in one lane.
    fn join_address(&self, split: &SplitAddress<'ctx>, lane: IntValue<'ctx>) -> Emitted<PointerValue<'ctx>> {
        let emitter = self.around.emitter;
        let mut address = self.read_lane(split.base, lane)?.into_pointer_value();
        if let Some(varying) = split.varying {
            let offset = emitter.builder.build_extract_element(varying, lane, "")?.into_int_value();
            address = emitter.offset_address(address, offset, false)?;
        }
        if let Some(uniform) = split.uniform {
            address = emitter.offset_address(address, uniform, false)?;
        }
        emitter.offset_constant(address, split.bytes)
    }

    /// A number or a vector of numbers, extended to 64 bits and multiplied.
    fn extended_multiple(
        &self,
        held: BasicValueEnum<'ctx>,
        ty: Type,
        extended: Extended,
        factor: i64,
    ) -> Emitted<BasicValueEnum<'ctx>> {
        let emitter = self.around.emitter;
        let to = emitter.ty_like(Type::I64, held);
        let wide = match (extended, ty.bits()) {
            (_, 64..) => held,
            (Extended::Unsigned, _) => emitter.builder.build_cast(InstructionOpcode::ZExt, held, to, "")?,
            _ => emitter.builder.build_cast(InstructionOpcode::SExt, held, to, "")?,
        };
        let factor = emitter.const64(factor as u64);
        Ok(match wide {
            BasicValueEnum::VectorValue(wide) => {
                let factor = VectorType::const_vector(&vec![factor; wide.get_type().get_size() as usize]);
                emitter.builder.build_int_mul(wide, factor, "")?.into()
            }
            wide => emitter.builder.build_int_mul(wide.into_int_value(), factor, "")?.into(),
        })
    }
}
