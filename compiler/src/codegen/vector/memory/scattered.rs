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

impl<'ctx> VectorEmitter<'_, 'ctx, '_> {
    /// Loads elements of lanes whose addresses are held like this.
    pub(super) fn emit_gather(
        &self,
        code: AccessCode<'_>,
        pieces: &[ScatteredPiece],
        lane_value: &LaneValue<'ctx>,
        mask: Option<Mask<'ctx>>,
    ) -> Emitted<Vectors<'ctx>> {
        let loaded = pieces.iter().map(|piece| self.gather_piece(code, piece, lane_value, mask));
        Ok(loaded.collect::<Emitted<Vec<_>>>()?.concat())
    }

    fn gather_piece(
        &self,
        code: AccessCode<'_>,
        piece: &ScatteredPiece,
        lane_value: &LaneValue<'ctx>,
        mask: Option<Mask<'ctx>>,
    ) -> Emitted<Vectors<'ctx>> {
        let emitter = self.around.emitter;
        let access = code.access;
        let (bytes, align) = access.element_place(piece.first);
        let mark = |instruction| {
            emitter.scopes.mark_parts(instruction, &[Part::Space(access.space)]);
            emitter.mark_invariant(code.invariant.then_some(instruction));
        };
        // Neighbouring elements come as one number, or as several in a register.
        let number = number_of(access.ty, piece.count);
        let result = self.memory_vector(number, self.wide.get());
        let loaded = match &piece.form {
            PieceForm::Chunk { .. } => {
                return self.load_chunks(access.ty, (access.ptr, lane_value), (bytes, align), mask, mark);
            }
            PieceForm::CommonBase(base) => self.load_near(&self.near_addresses(base, bytes)?, number, |address| {
                emitter.load_marked(result.get_element_type(), address, align, &mark)
            })?,
            &PieceForm::Anywhere { redirected } => {
                let places = self.places_of_elements(lane_value, bytes)?;
                let (places, lanes) = self.places_and_lanes(Direction::Load, redirected, places, mask)?;
                let (loaded, insts) = self.gather_elements(result, places, lanes, align)?;
                insts.into_iter().for_each(mark);
                loaded
            }
        };
        self.elements_of(access.ty, piece.count, loaded)
    }

    /// Stores elements of lanes whose addresses are held like this.
    pub(super) fn emit_scatter(
        &self,
        code: AccessCode<'_>,
        pieces: &[ScatteredPiece],
        lane_value: &LaneValue<'ctx>,
        values: &[VectorValue<'ctx>],
        mask: Option<Mask<'ctx>>,
    ) -> Emitted<Vec<BasicValueEnum<'ctx>>> {
        for piece in pieces {
            self.scatter_piece(code, piece, lane_value, values, mask)?;
        }
        Ok(Vec::new())
    }

    fn scatter_piece(
        &self,
        code: AccessCode<'_>,
        piece: &ScatteredPiece,
        lane_value: &LaneValue<'ctx>,
        values: &[VectorValue<'ctx>],
        mask: Option<Mask<'ctx>>,
    ) -> Emitted<()> {
        let emitter = self.around.emitter;
        let access = code.access;
        let part = Part::Space(access.space);
        let own = &values[piece.first as usize..(piece.first + piece.count) as usize];
        let value = self.as_numbers(access.ty, own)?;
        let (bytes, align) = access.element_place(piece.first);
        match &piece.form {
            PieceForm::CommonBase(base) => self.each_near(&self.near_addresses(base, bytes)?, |lane, address| {
                let element = emitter.builder.build_extract_element(value, emitter.const64(lane.into()), "")?;
                emitter.store_marked(address, element, align, part)
            }),
            &PieceForm::Anywhere { redirected } => {
                let places = self.places_of_elements(lane_value, bytes)?;
                let (places, lanes) = self.places_and_lanes(Direction::Store, redirected, places, mask)?;
                self.scatter_elements(value, places, lanes, align, part)
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
        places: VectorValue<'ctx>,
        mask: Option<Mask<'ctx>>,
    ) -> Emitted<(VectorValue<'ctx>, VectorValue<'ctx>)> {
        match mask {
            Some(Mask { lanes, .. }) if redirected => self.around.emitter.redirect(direction, places, lanes),
            mask => Ok((places, self.all_or(mask))),
        }
    }

    /// What lies at the places of lanes that are on, zeros elsewhere; and the instruction that loads it.
    pub(super) fn gather_elements(
        &self,
        ty: VectorType<'ctx>,
        places: VectorValue<'ctx>,
        lanes: VectorValue<'ctx>,
        align: u32,
    ) -> Emitted<(VectorValue<'ctx>, Vec<InstructionValue<'ctx>>)> {
        let arguments = [places.into(), lanes.into(), ty.const_zero().into()];
        let types = [ty.into(), places.get_type().into()];
        let call_site = self.around.emitter.intrinsic_call("llvm.masked.gather", &types, &arguments)?;
        self.set_align(call_site, 0, align);
        let loaded = call_site.try_as_basic_value().basic().ok_or_else(|| CodegenError::NoResult("a gather".into()))?;
        Ok((loaded.into_vector_value(), loaded.as_instruction_value().into_iter().collect()))
    }

    /// Stores what lanes that are on have at their places.
    pub(super) fn scatter_elements(
        &self,
        value: VectorValue<'ctx>,
        places: VectorValue<'ctx>,
        lanes: VectorValue<'ctx>,
        align: u32,
        part: Part,
    ) -> Emitted<()> {
        let arguments = [value.into(), places.into(), lanes.into()];
        let types = [value.get_type().into(), places.get_type().into()];
        let call_site = self.around.emitter.intrinsic_call("llvm.masked.scatter", &types, &arguments)?;
        self.set_align(call_site, 1, align);
        self.mark_call(call_site, part);
        Ok(())
    }

    /// The elements of each lane that it holds as one number.
    pub(super) fn elements_of(&self, ty: Type, together: u32, numbers: VectorValue<'ctx>) -> Emitted<Vectors<'ctx>> {
        let emitter = self.around.emitter;
        let width = self.wide.get();
        let flat = self.memory_vector(ty, together * width);
        let flat = emitter.builder.build_bit_cast(numbers, flat, "")?.into_vector_value();
        let element = |index: u32| {
            let own: Vec<Option<u32>> = (0..width).map(|lane| Some(lane * together + index)).collect();
            self.narrow_from_memory(ty, if together == 1 { flat } else { emitter.shuffle_vectors(flat, flat, &own)? })
        };
        (0..together).map(element).collect()
    }

    /// The reverse of `elements_of`.
    fn as_numbers(&self, ty: Type, elements: &[VectorValue<'ctx>]) -> Emitted<VectorValue<'ctx>> {
        let emitter = self.around.emitter;
        let (flat, width) = (self.one_behind_the_other(ty, elements)?, self.wide.get());
        let together = elements.len() as u32;
        if together == 1 {
            return Ok(flat);
        }
        let lane_by_lane = (0..together * width).map(|place| Some(place % together * width + place / together));
        let flat = emitter.shuffle_vectors(flat, flat, &lane_by_lane.collect::<Vec<_>>())?;
        let numbers = self.memory_vector(number_of(ty, together), width);
        Ok(emitter.builder.build_bit_cast(flat, numbers, "")?.into_vector_value())
    }

    /// The addresses of all lanes' elements, so many bytes on.
    pub(super) fn places_of_elements(&self, lane_value: &LaneValue<'ctx>, bytes: i64) -> Emitted<VectorValue<'ctx>> {
        let emitter = self.around.emitter;
        let places = self.materialize(lane_value)?;
        if bytes == 0 {
            return Ok(places);
        }
        Ok(emitter.offset_addresses(places.into(), emitter.const64(bytes as u64).into(), false)?.into_vector_value())
    }
}

/// The type of a number that holds some elements of a type; of one, its own.
fn number_of(ty: Type, elements: u32) -> Type {
    if elements == 1 { ty } else { Type::Int((8 * ty.bytes() * elements) as u16) }
}
