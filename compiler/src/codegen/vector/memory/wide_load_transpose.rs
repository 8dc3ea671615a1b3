//! Neighbouring elements of each lane, lanes anywhere: sixteen bytes of a lane at once.
//!
//! A gather takes an element per lane, and so many of them touch each lane's bytes again and again. Here every lane's bytes
//! are one load, and registers of them are transposed in parts of sixteen bytes, which costs a shuffle of two operands for
//! an element and a register, and on the way another one or none.

use super::super::VectorEmitter;
use super::super::lane_value::LaneValue;
use super::super::masks::Mask;
use super::wide::WideCode;
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
        scalar_type: Type,
        (pointer, lane_value): (Value, &LaneValue<'ctx>),
        (byte_offset, alignment): (i64, u32),
        mask: Option<Mask<'ctx>>,
        mark_access: impl Fn(InstructionValue<'ctx>),
    ) -> Emitted<Vec<VectorValue<'ctx>>> {
        let emitter = self.around.emitter;
        let chunk_type = self.chunk_type(scalar_type);
        let addresses = self.places_of_chunks(pointer, lane_value, byte_offset, mask)?;
        let load_chunk = |&address| {
            Ok(emitter.load_marked(chunk_type.into(), address, alignment, &mark_access)?.into_vector_value())
        };
        self.transpose_chunks(scalar_type, &addresses.iter().map(load_chunk).collect::<Emitted<Vec<_>>>()?)
    }

    /// Loads the elements of each lane's row in chunks: all lanes' first elements, all their second ones, and so on.
    pub(super) fn load_row_chunks(
        &self,
        wide_code: WideCode<'ctx>,
        mark_access: impl Fn(InstructionValue<'ctx>),
    ) -> Emitted<Vec<VectorValue<'ctx>>> {
        let emitter = self.around.emitter;
        let WideCode { ty, wide, start, .. } = wide_code;
        let (chunk_type, row_bytes) = (self.chunk_type(ty), wide.row * ty.bytes());
        let alignment = wide.align.min(1 << (row_bytes | CHUNK_BYTES).trailing_zeros());
        let load_chunks = |chunk_index: u32| {
            let load_chunk = |lane: u32| {
                let byte_offset = lane * row_bytes + chunk_index * CHUNK_BYTES;
                let address = emitter.offset_constant(start, byte_offset.into())?;
                Ok(emitter.load_marked(chunk_type.into(), address, alignment, &mark_access)?.into_vector_value())
            };
            self.transpose_chunks(ty, &(0..wide.lanes).map(load_chunk).collect::<Emitted<Vec<_>>>()?)
        };
        Ok((0..wide.count * ty.bytes() / CHUNK_BYTES).map(load_chunks).collect::<Emitted<Vec<_>>>()?.concat())
    }

    /// The type of a chunk: elements narrower than what is shuffled are several in a number.
    fn chunk_type(&self, scalar_type: Type) -> VectorType<'ctx> {
        let emitter = self.around.emitter;
        match scalar_type.bytes() {
            element_bytes if element_bytes < NARROWEST_SHUFFLED => {
                vector_of(emitter.int_type(8 * NARROWEST_SHUFFLED).into(), CHUNK_BYTES / NARROWEST_SHUFFLED)
            }
            element_bytes => vector_of(emitter.memory_ty(scalar_type), CHUNK_BYTES / element_bytes),
        }
    }

    /// All lanes' first elements, all their second ones, and so on, of a chunk of each lane.
    fn transpose_chunks(
        &self,
        scalar_type: Type,
        loaded_chunks: &[VectorValue<'ctx>],
    ) -> Emitted<Vec<VectorValue<'ctx>>> {
        let emitter = self.around.emitter;
        let number_count = self.chunk_type(scalar_type).get_size();
        let elements_each = (NARROWEST_SHUFFLED / scalar_type.bytes()).max(1);
        // Of each part of a register, the first row has the first lane's chunk, the second row the second one's.
        let make_row = |first_lane: u32| {
            let own_chunks: Vec<_> =
                loaded_chunks.iter().skip(first_lane as usize).step_by(number_count as usize).copied().collect();
            emitter.concat_vectors(&own_chunks, self.wide.get())
        };
        let row_vectors = (0..number_count).map(make_row).collect::<Emitted<Vec<_>>>()?;
        let elements = emitter
            .transpose_rows(row_vectors, number_count)?
            .into_iter()
            .map(|numbers| self.elements_of(scalar_type, elements_each, numbers));
        Ok(elements.collect::<Emitted<Vec<_>>>()?.concat())
    }

    /// The address of each lane's chunk; of lanes that are off, that of sixteen bytes that nobody writes.
    fn places_of_chunks(
        &self,
        pointer: Value,
        lane_value: &LaneValue<'ctx>,
        byte_offset: i64,
        mask: Option<Mask<'ctx>>,
    ) -> Emitted<Vec<PointerValue<'ctx>>> {
        let emitter = self.around.emitter;
        let lane_indices = || (0..u64::from(self.wide.get())).map(|lane| emitter.const64(lane));
        let extract_all = |vector: VectorValue<'ctx>| {
            let extract_one = |lane| Ok(emitter.builder.build_extract_element(vector, lane, "")?.into_pointer_value());
            lane_indices().map(extract_one).collect::<Emitted<Vec<_>>>()
        };
        match (mask, lane_value) {
            (Some(mask), _) => {
                let addresses = self.places_of_elements(lane_value, byte_offset)?;
                extract_all(emitter.redirect(Direction::Load, addresses, mask.lanes)?.0)
            }
            (None, LaneValue::Affine(..)) => {
                let lane_address =
                    |lane| emitter.offset_constant(self.read_lane(pointer, lane)?.into_pointer_value(), byte_offset);
                lane_indices().map(lane_address).collect()
            }
            (None, _) => self.split_addresses(pointer, byte_offset),
        }
    }

    /// The lanes' addresses so many bytes on, as sums of what differs between lanes and of what does not. In a loop the
    /// former is often what does not change: addresses that registers keep.
    fn split_addresses(&self, pointer: Value, byte_offset: i64) -> Emitted<Vec<PointerValue<'ctx>>> {
        let emitter = self.around.emitter;
        let (address, constant) = affine_address::decompose_address(self.body, pointer);
        let (uniform, varying): (Vec<_>, Vec<_>) =
            address.terms.iter().partition(|(operand, ..)| self.is_uniform(*operand));
        let extend_term = |&(operand, extended, factor): &(Value, Extended, i64), held: BasicValueEnum<'ctx>| {
            self.extended_multiple(held, self.type_of(operand), extended, factor)
        };
        let mut uniform_sum: Option<IntValue<'ctx>> = None;
        for term in uniform {
            let term_value = extend_term(&term, self.lane_zero(term.0)?)?.into_int_value();
            uniform_sum = Some(match uniform_sum {
                Some(uniform_sum) => emitter.builder.build_int_add(uniform_sum, term_value, "")?,
                None => term_value,
            });
        }
        let mut varying_sum: Option<VectorValue<'ctx>> = None;
        for term in varying {
            let term_value = extend_term(&term, self.as_vector(term.0)?.into())?.into_vector_value();
            varying_sum = Some(match varying_sum {
                Some(varying_sum) => emitter.builder.build_int_add(varying_sum, term_value, "")?,
                None => term_value,
            });
        }
        let split_address = SplitAddress {
            base: address.base,
            varying: varying_sum,
            uniform: uniform_sum,
            bytes: constant.wrapping_add(byte_offset),
        };
        (0..u64::from(self.wide.get())).map(|lane| self.join_address(&split_address, emitter.const64(lane))).collect()
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
        held_value: BasicValueEnum<'ctx>,
        scalar_type: Type,
        extended: Extended,
        factor: i64,
    ) -> Emitted<BasicValueEnum<'ctx>> {
        let emitter = self.around.emitter;
        let to_type = emitter.ty_like(Type::I64, held_value);
        let wide_value = match (extended, scalar_type.bits()) {
            (_, 64..) => held_value,
            (Extended::Unsigned, _) => emitter.builder.build_cast(InstructionOpcode::ZExt, held_value, to_type, "")?,
            _ => emitter.builder.build_cast(InstructionOpcode::SExt, held_value, to_type, "")?,
        };
        let factor = emitter.const64(factor as u64);
        Ok(match wide_value {
            BasicValueEnum::VectorValue(wide_value) => {
                let factor = VectorType::const_vector(&vec![factor; wide_value.get_type().get_size() as usize]);
                emitter.builder.build_int_mul(wide_value, factor, "")?.into()
            }
            wide_value => emitter.builder.build_int_mul(wide_value.into_int_value(), factor, "")?.into(),
        })
    }
}
