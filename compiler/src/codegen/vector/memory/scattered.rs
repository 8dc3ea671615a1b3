//! Accesses of lanes that may be anywhere: gathers and scatters, in pieces of some neighbouring elements of each lane.

use super::super::VectorEmitter;
use super::super::lane_value::LaneValue;
use super::super::masks::Mask;
use super::{AccessCode, Vectors};
use crate::codegen::alias::Part;
use crate::codegen::emit::Emitted;
use crate::codegen::error::CodegenError;
use inkwell::types::VectorType;
use inkwell::values::{BasicValue, BasicValueEnum, InstructionValue, VectorValue};
use lockstep_ir::plan::access_lowering::{Direction, PieceForm, ScatteredPiece};
use lockstep_protocol::types::Type;

/// Numbers of so many bits or fewer no instruction gathers: each lane's is loaded by itself.
const LANE_BY_LANE_BITS: u32 = 16;

impl<'ctx> VectorEmitter<'_, 'ctx, '_> {
    /// Loads elements of lanes whose addresses are held like this.
    pub(super) fn emit_gather(
        &self,
        access_code: AccessCode<'_>,
        pieces: &[ScatteredPiece],
        lane_value: &LaneValue<'ctx>,
        mask: Option<Mask<'ctx>>,
    ) -> Emitted<Vectors<'ctx>> {
        let loaded =
            pieces.iter().map(|scattered_piece| self.gather_piece(access_code, scattered_piece, lane_value, mask));
        Ok(loaded.collect::<Emitted<Vec<_>>>()?.concat())
    }

    fn gather_piece(
        &self,
        access_code: AccessCode<'_>,
        scattered_piece: &ScatteredPiece,
        lane_value: &LaneValue<'ctx>,
        mask: Option<Mask<'ctx>>,
    ) -> Emitted<Vectors<'ctx>> {
        let emitter = self.around.emitter;
        let access = access_code.access;
        let (byte_offset, alignment) = access.element_place(scattered_piece.first);
        let mark_access = |instruction| {
            emitter.scopes.mark_parts(instruction, &[Part::Space(access.space)]);
            emitter.mark_invariant(access_code.invariant.then_some(instruction));
        };
        // Neighbouring elements come as one number, or as several in a register.
        let integer_type = number_of(access.ty, scattered_piece.count);
        let result_type = self.memory_vector(integer_type, self.wide.get());
        let loaded_values = match &scattered_piece.form {
            PieceForm::Chunk { .. } => {
                return self.load_chunks(
                    access.ty,
                    (access.ptr, lane_value),
                    (byte_offset, alignment),
                    mask,
                    mark_access,
                );
            }
            PieceForm::CommonBase(base) => {
                self.load_near(&self.near_addresses(base, byte_offset)?, integer_type, |address| {
                    emitter.load_marked(result_type.get_element_type(), address, alignment, mark_access)
                })?
            }
            &PieceForm::Anywhere { redirected } => {
                let addresses = self.places_of_elements(lane_value, byte_offset)?;
                let (addresses, lane_mask) = self.places_and_lanes(Direction::Load, redirected, addresses, mask)?;
                let (loaded_values, instructions) =
                    self.gather_elements(result_type, addresses, lane_mask, alignment)?;
                instructions.into_iter().for_each(mark_access);
                loaded_values
            }
        };
        self.elements_of(access.ty, scattered_piece.count, loaded_values)
    }

    /// Stores elements of lanes whose addresses are held like this.
    pub(super) fn emit_scatter(
        &self,
        access_code: AccessCode<'_>,
        pieces: &[ScatteredPiece],
        lane_value: &LaneValue<'ctx>,
        values: &[VectorValue<'ctx>],
        mask: Option<Mask<'ctx>>,
    ) -> Emitted<Vec<BasicValueEnum<'ctx>>> {
        for scattered_piece in pieces {
            self.scatter_piece(access_code, scattered_piece, lane_value, values, mask)?;
        }
        Ok(Vec::new())
    }

    fn scatter_piece(
        &self,
        access_code: AccessCode<'_>,
        scattered_piece: &ScatteredPiece,
        lane_value: &LaneValue<'ctx>,
        values: &[VectorValue<'ctx>],
        mask: Option<Mask<'ctx>>,
    ) -> Emitted<()> {
        let emitter = self.around.emitter;
        let access = access_code.access;
        let memory_part = Part::Space(access.space);
        let piece_values =
            &values[scattered_piece.first as usize..(scattered_piece.first + scattered_piece.count) as usize];
        let value = self.as_numbers(access.ty, piece_values)?;
        let (byte_offset, alignment) = access.element_place(scattered_piece.first);
        match &scattered_piece.form {
            PieceForm::CommonBase(base) => {
                self.each_near(&self.near_addresses(base, byte_offset)?, |lane_index, address| {
                    let element =
                        emitter.builder.build_extract_element(value, emitter.const64(lane_index.into()), "")?;
                    emitter.store_marked(address, element, alignment, memory_part)
                })
            }
            &PieceForm::Anywhere { redirected } => {
                let addresses = self.places_of_elements(lane_value, byte_offset)?;
                let (addresses, lane_mask) = self.places_and_lanes(Direction::Store, redirected, addresses, mask)?;
                self.scatter_elements(value, addresses, lane_mask, alignment, memory_part)
            }
            // There is no such store.
            PieceForm::Chunk { .. } => Err(CodegenError::Unexpected("a scatter by chunks".into())),
        }
    }

    /// Where lanes go, and which of them do.
    fn places_and_lanes(
        &self,
        direction: Direction,
        redirected: bool,
        addresses: VectorValue<'ctx>,
        mask: Option<Mask<'ctx>>,
    ) -> Emitted<(VectorValue<'ctx>, VectorValue<'ctx>)> {
        match mask {
            Some(Mask { lanes, .. }) if redirected => self.around.emitter.redirect(direction, addresses, lanes),
            mask => Ok((addresses, self.all_or(mask))),
        }
    }

    /// What lies at the places of lanes that are on, zeros elsewhere; and the instruction that loads it.
    pub(super) fn gather_elements(
        &self,
        vector_type: VectorType<'ctx>,
        addresses: VectorValue<'ctx>,
        lane_mask: VectorValue<'ctx>,
        alignment: u32,
    ) -> Emitted<(VectorValue<'ctx>, Vec<InstructionValue<'ctx>>)> {
        let arguments = [addresses.into(), lane_mask.into(), vector_type.const_zero().into()];
        let overloads = [vector_type.into(), addresses.get_type().into()];
        let call_site = self.around.emitter.intrinsic_call("llvm.masked.gather", &overloads, &arguments)?;
        self.set_align(call_site, 0, alignment);
        let loaded_elements =
            call_site.try_as_basic_value().basic().ok_or_else(|| CodegenError::NoResult("a gather".into()))?;
        Ok((loaded_elements.into_vector_value(), loaded_elements.as_instruction_value().into_iter().collect()))
    }

    /// Stores what lanes that are on have at their places.
    pub(super) fn scatter_elements(
        &self,
        value: VectorValue<'ctx>,
        addresses: VectorValue<'ctx>,
        lane_mask: VectorValue<'ctx>,
        alignment: u32,
        memory_part: Part,
    ) -> Emitted<()> {
        let arguments = [value.into(), addresses.into(), lane_mask.into()];
        let overloads = [value.get_type().into(), addresses.get_type().into()];
        let call_site = self.around.emitter.intrinsic_call("llvm.masked.scatter", &overloads, &arguments)?;
        self.set_align(call_site, 1, alignment);
        self.mark_call(call_site, memory_part);
        Ok(())
    }

    /// The elements of each lane that it holds as one number.
    pub(super) fn elements_of(
        &self,
        scalar_type: Type,
        together: u32,
        numbers: VectorValue<'ctx>,
    ) -> Emitted<Vectors<'ctx>> {
        let emitter = self.around.emitter;
        let gang_width = self.wide.get();
        let bits = 8 * scalar_type.bytes();
        if together > 1 && together * bits <= LANE_BY_LANE_BITS {
            return self.shift_elements_out(scalar_type, together, numbers);
        }
        let flat_type = self.memory_vector(scalar_type, together * gang_width);
        let flat_vector = emitter.builder.build_bit_cast(numbers, flat_type, "")?.into_vector_value();
        if together == 1 {
            return Ok(vec![self.narrow_from_memory(scalar_type, flat_vector)?]);
        }
        let element = |index: u32| {
            let lane_indices: Vec<Option<u32>> = (0..gang_width).map(|lane| Some(lane * together + index)).collect();
            self.narrow_from_memory(scalar_type, emitter.shuffle_vectors(flat_vector, flat_vector, &lane_indices)?)
        };
        (0..together).map(element).collect()
    }

    /// The elements of each lane by shifts. Lanes' numbers that are loaded one by one are put into a register once; by shuffles of bytes LLVM
    /// would put them into one for each element.
    fn shift_elements_out(
        &self,
        scalar_type: Type,
        together: u32,
        numbers: VectorValue<'ctx>,
    ) -> Emitted<Vectors<'ctx>> {
        let builder = &self.around.emitter.builder;
        let number_type = numbers.get_type().get_element_type().into_int_type();
        let element_type = self.memory_vector(scalar_type, self.wide.get());
        let element = |index: u32| {
            let distance = number_type.const_int(u64::from(8 * scalar_type.bytes() * index), false);
            let distance = self.around.emitter.splat(distance.into(), self.wide.get())?;
            let shifted = builder.build_right_shift(numbers, distance, false, "")?;
            let narrow = builder.build_int_truncate(shifted, element_type, "")?;
            self.narrow_from_memory(scalar_type, narrow)
        };
        (0..together).map(element).collect()
    }

    /// The reverse of `elements_of`.
    fn as_numbers(&self, scalar_type: Type, elements: &[VectorValue<'ctx>]) -> Emitted<VectorValue<'ctx>> {
        let emitter = self.around.emitter;
        let (flat_vector, gang_width) = (self.one_behind_the_other(scalar_type, elements)?, self.wide.get());
        let together = elements.len() as u32;
        if together == 1 {
            return Ok(flat_vector);
        }
        let lane_by_lane =
            (0..together * gang_width).map(|position| Some(position % together * gang_width + position / together));
        let flat_vector = emitter.shuffle_vectors(flat_vector, flat_vector, &lane_by_lane.collect::<Vec<_>>())?;
        let numbers = self.memory_vector(number_of(scalar_type, together), gang_width);
        Ok(emitter.builder.build_bit_cast(flat_vector, numbers, "")?.into_vector_value())
    }

    /// The addresses of all lanes' elements, so many bytes on.
    pub(super) fn places_of_elements(
        &self,
        lane_value: &LaneValue<'ctx>,
        byte_offset: i64,
    ) -> Emitted<VectorValue<'ctx>> {
        let emitter = self.around.emitter;
        let addresses = self.materialize(lane_value)?;
        if byte_offset == 0 {
            return Ok(addresses);
        }
        Ok(emitter
            .offset_addresses(addresses.into(), emitter.const64(byte_offset as u64).into(), false)?
            .into_vector_value())
    }
}

/// The type of a number that holds some elements of a type; of one, its own.
fn number_of(scalar_type: Type, elements: u32) -> Type {
    if elements == 1 { scalar_type } else { Type::Int((8 * scalar_type.bytes() * elements) as u16) }
}
