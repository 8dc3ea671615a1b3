//! Wide accesses: the lanes' elements lie side by side, or in rows of elements of which each lane's are the first.

use super::super::VectorEmitter;
use super::super::masks::Mask;
use super::{AccessCode, StoreCode, Vectors};
use crate::codegen::alias::Part;
use crate::codegen::emit::{Emitted, vector_of};
use crate::codegen::error::CodegenError;
use inkwell::types::VectorType;
use inkwell::values::{
    BasicValue, BasicValueEnum, CallSiteValue, InstructionOpcode, InstructionValue, PointerValue, ValueKind,
    VectorValue,
};
use lockstep_ir::plan::access_lowering::{Direction, RowGuard, WideAccess, WideElements, elements_in_order};
use lockstep_protocol::types::Type;

/// One access of lanes to rows of elements that lie side by side.
#[derive(Clone, Copy)]
pub(in crate::codegen::vector) struct WideCode<'ctx> {
    /// The lowest address.
    pub start: PointerValue<'ctx>,
    /// An element's type.
    pub ty: Type,
    /// The part of memory.
    pub part: Part,
    /// Which elements are accessed, and how those between are left out.
    pub wide: WideAccess,
}

impl<'ctx> VectorEmitter<'_, 'ctx, '_> {
    /// Loads the elements of lanes of which the first one's address is known.
    pub(super) fn load_wide(
        &self,
        access_code: AccessCode<'_>,
        wide_access: &WideAccess,
        first_address: BasicValueEnum<'ctx>,
        mask: Option<Mask<'ctx>>,
    ) -> Emitted<Vectors<'ctx>> {
        self.load_rows(
            self.wide_code(access_code, wide_access, first_address)?,
            mask,
            access_code.invariant && !wide_access.volatile,
        )
    }

    /// Loads the elements of all lanes as they lie in memory.
    pub(super) fn load_in_memory_order(
        &self,
        access_code: AccessCode<'_>,
        wide_access: &WideAccess,
        first_address: BasicValueEnum<'ctx>,
    ) -> Emitted<VectorValue<'ctx>> {
        let wide_code = self.wide_code(access_code, wide_access, first_address)?;
        let (loaded_row, instruction) = self.load_row(wide_code)?;
        self.mark_load(wide_code, access_code.invariant, instruction);
        Ok(loaded_row)
    }

    /// Tells LLVM which part of memory a load reads, and whether nobody writes there.
    fn mark_load(&self, wide_code: WideCode<'ctx>, invariant: bool, instruction: InstructionValue<'ctx>) {
        self.around.emitter.scopes.mark_parts(instruction, &[wide_code.part]);
        self.around.emitter.mark_invariant(invariant.then_some(instruction));
    }

    /// Stores the elements of lanes of which the first one's address is known.
    pub(super) fn store_wide(
        &self,
        store_code: StoreCode<'_>,
        wide_access: &WideAccess,
        first_address: BasicValueEnum<'ctx>,
        values: &[VectorValue<'ctx>],
        mask: Option<Mask<'ctx>>,
    ) -> Emitted<Vectors<'ctx>> {
        let wide_code = self.wide_code(store_code.access, wide_access, first_address)?;
        let all_lanes = wide_access.lanes == self.around.width();
        let in_order = if all_lanes { self.in_memory_order(wide_code, store_code.args)? } else { None };
        self.store_rows(wide_code, mask, values, in_order)?;
        Ok(Vec::new())
    }

    fn wide_code(
        &self,
        access_code: AccessCode<'_>,
        wide_access: &WideAccess,
        first_address: BasicValueEnum<'ctx>,
    ) -> Emitted<WideCode<'ctx>> {
        let access = access_code.access;
        let byte_offset = access.offset.wrapping_add(wide_access.bytes_to_lowest());
        let lowest_address = self.around.emitter.offset_constant(first_address.into_pointer_value(), byte_offset)?;
        Ok(WideCode { start: lowest_address, ty: access.ty, part: Part::Space(access.space), wide: *wide_access })
    }

    /// The type of elements in memory, `element_count` of them.
    pub(super) fn memory_vector(&self, scalar_type: Type, element_count: u32) -> VectorType<'ctx> {
        vector_of(self.around.emitter.memory_ty(scalar_type), element_count)
    }

    /// From memory's form to that in registers.
    pub(super) fn narrow_from_memory(&self, scalar_type: Type, value: VectorValue<'ctx>) -> Emitted<VectorValue<'ctx>> {
        let to_type = vector_of(self.around.emitter.value_type(scalar_type), value.get_type().get_size());
        if to_type == value.get_type() {
            return Ok(value);
        }
        let narrowed = self.around.emitter.builder.build_cast(InstructionOpcode::Trunc, value, to_type, "")?;
        Ok(narrowed.into_vector_value())
    }

    /// From the form in registers to memory's.
    fn extend_to_memory(&self, scalar_type: Type, value: VectorValue<'ctx>) -> Emitted<VectorValue<'ctx>> {
        let to_type = self.memory_vector(scalar_type, value.get_type().get_size());
        if to_type == value.get_type() {
            return Ok(value);
        }
        let extended = self.around.emitter.builder.build_cast(InstructionOpcode::ZExt, value, to_type, "")?;
        Ok(extended.into_vector_value())
    }

    fn constant_lanes(&self, active_lanes: impl Iterator<Item = bool>) -> VectorValue<'ctx> {
        let bool_type = self.around.emitter.context.bool_type();
        VectorType::const_vector(
            &active_lanes.map(|is_active| bool_type.const_int(is_active.into(), false)).collect::<Vec<_>>(),
        )
    }

    /// The lanes that are on, one by one.
    pub(super) fn all_or(&self, mask: Option<Mask<'ctx>>) -> VectorValue<'ctx> {
        mask.map_or_else(|| self.constant_lanes((0..self.wide.get()).map(|_| true)), |mask| mask.lanes)
    }

    /// The mask of a wide access, and what is asked before it; none: all its elements. Between two lanes' elements a load
    /// may read along where both lanes are active.
    fn element_mask(
        &self,
        wide_access: &WideAccess,
        mask: Option<Mask<'ctx>>,
        direction: Direction,
    ) -> Emitted<Option<(VectorValue<'ctx>, RowGuard)>> {
        let element_places =
            elements_in_order(wide_access.row, wide_access.is_reversed(), wide_access.count, wide_access.lanes);
        let row_guard = match wide_access.elements {
            WideElements::All => return Ok(None),
            WideElements::AllLanes => {
                let row_end = element_places.iter().rposition(Option::is_some).unwrap_or(0);
                let is_active = |(position, element): (usize, &Option<_>)| {
                    element.is_some() || direction == Direction::Load && position < row_end
                };
                return Ok(Some((
                    self.constant_lanes(element_places.iter().enumerate().map(is_active)),
                    RowGuard::None,
                )));
            }
            WideElements::Masked(row_guard) | WideElements::Redirected(row_guard) => row_guard,
        };
        let lane_mask = mask.ok_or(CodegenError::Missing("mask of a masked access"))?.lanes;
        if wide_access.row == 1 && !wide_access.is_reversed() {
            return Ok(Some((lane_mask, row_guard)));
        }
        let inactive = lane_mask.get_type().const_zero();
        let element_places: Vec<Option<u32>> = element_places
            .iter()
            .map(|element_place| Some(element_place.map_or(wide_access.lanes, |(lane, _)| lane)))
            .collect();
        Ok(Some((self.around.emitter.shuffle_vectors(lane_mask, inactive, &element_places)?, row_guard)))
    }

    /// Does what `emit_access` emits, an access of some lanes, behind what is asked before it. Its values are zeros where it is
    /// not made.
    fn behind_guard(
        &self,
        row_guard: RowGuard,
        mask: Option<Mask<'ctx>>,
        emit_access: impl FnOnce() -> Emitted<Vec<BasicValueEnum<'ctx>>>,
    ) -> Emitted<Vec<BasicValueEnum<'ctx>>> {
        match row_guard {
            RowGuard::None => emit_access(),
            RowGuard::AnyLane => self.emit_guarded(mask, emit_access),
            RowGuard::InBounds => self.if_in_bounds(mask, emit_access),
        }
    }

    /// Loads the elements of each lane.
    pub(super) fn load_rows(
        &self,
        wide_code: WideCode<'ctx>,
        mask: Option<Mask<'ctx>>,
        invariant: bool,
    ) -> Emitted<Vectors<'ctx>> {
        let WideCode { wide, .. } = wide_code;
        let mark_access = |instruction| self.mark_load(wide_code, invariant, instruction);
        if wide.transposed {
            return self.load_row_chunks(wide_code, mark_access);
        }
        let loaded_row = match self.element_mask(&wide, mask, Direction::Load)? {
            None => {
                let (loaded_row, instruction) = self.load_row(wide_code)?;
                mark_access(instruction);
                loaded_row
            }
            Some((element_lanes, guard)) => {
                let load_masked = || {
                    let (loaded_row, instructions) = self.load_row_masked(wide_code, element_lanes)?;
                    instructions.into_iter().for_each(mark_access);
                    Ok(vec![loaded_row.into()])
                };
                self.behind_guard(guard, mask, load_masked)?[0].into_vector_value()
            }
        };
        (0..wide.count).map(|index| self.element_of_rows(wide_code, loaded_row, index)).collect()
    }

    /// The element with this index of each lane's row, out of all rows.
    fn element_of_rows(
        &self,
        wide_code: WideCode<'ctx>,
        loaded: VectorValue<'ctx>,
        index: u32,
    ) -> Emitted<VectorValue<'ctx>> {
        let WideCode { ty, wide, .. } = wide_code;
        let source_lane = |lane: u32| {
            let position = if wide.is_reversed() { wide.lanes - 1 - lane } else { lane };
            Some(position * wide.row + index)
        };
        let elements = if wide.row == 1 && !wide.is_reversed() {
            loaded
        } else {
            let source_lanes: Vec<_> = (0..wide.lanes).map(source_lane).collect();
            self.around.emitter.shuffle_vectors(loaded, loaded, &source_lanes)?
        };
        self.narrow_from_memory(ty, elements)
    }

    /// Loads the elements of a row that are on; and the instructions that do.
    fn load_row_masked(
        &self,
        wide_code: WideCode<'ctx>,
        lane_mask: VectorValue<'ctx>,
    ) -> Emitted<(VectorValue<'ctx>, Vec<InstructionValue<'ctx>>)> {
        let WideCode { ty, wide, start, .. } = wide_code;
        let row_type = self.memory_vector(ty, wide.row * wide.lanes);
        if self.is_redirected(&wide, lane_mask) {
            let (addresses, all_active) = self.redirect_row(Direction::Load, ty.bytes(), start, lane_mask)?;
            return self.gather_elements(row_type, addresses, all_active, ty.bytes().min(wide.align));
        }
        self.masked_load(row_type, start, lane_mask, wide.align)
    }

    /// Stores rows by their elements' vectors, or by one vector that has all of them in memory's order.
    pub(super) fn store_rows(
        &self,
        wide_code: WideCode<'ctx>,
        mask: Option<Mask<'ctx>>,
        values: &[VectorValue<'ctx>],
        in_order: Option<VectorValue<'ctx>>,
    ) -> Emitted<()> {
        let wide_access = wide_code.wide;
        let value = match in_order {
            Some(value) => value,
            None => self.in_order_of_rows(wide_code, values)?,
        };
        match self.element_mask(&wide_access, mask, Direction::Store)? {
            None if wide_access.past_caches => self.store_past_caches(wide_code, value),
            None => self.store_row(wide_code, value).map(drop),
            Some((lane_mask, guard)) => {
                let store_masked = || {
                    self.store_row_masked(wide_code, value, lane_mask)?;
                    Ok(Vec::new())
                };
                self.behind_guard(guard, mask, store_masked).map(drop)
            }
        }
    }

    /// Elements' vectors as one in memory's order; what lies between lanes' elements is anything.
    fn in_order_of_rows(&self, wide_code: WideCode<'ctx>, values: &[VectorValue<'ctx>]) -> Emitted<VectorValue<'ctx>> {
        let wide_access = wide_code.wide;
        if wide_access.transposed {
            let emitter = self.around.emitter;
            let in_memory = |&value| self.extend_to_memory(wide_code.ty, value);
            let rows = values.iter().map(in_memory).collect::<Emitted<Vec<_>>>()?;
            let rows = emitter.transpose_rows(rows, wide_access.lanes)?;
            return emitter.concat_vectors(&rows, wide_access.lanes * wide_access.count);
        }
        let flat_vector = self.one_behind_the_other(wide_code.ty, values)?;
        if wide_access.row == 1 && !wide_access.is_reversed() {
            return Ok(flat_vector);
        }
        let lane_of_place =
            |element_place: Option<(u32, u32)>| element_place.map(|(lane, element)| element * wide_access.lanes + lane);
        let element_places =
            elements_in_order(wide_access.row, wide_access.is_reversed(), wide_access.count, wide_access.lanes)
                .into_iter()
                .map(lane_of_place);
        self.around.emitter.shuffle_vectors(flat_vector, flat_vector, &element_places.collect::<Vec<_>>())
    }

    /// Stores the elements of a row that are on.
    fn store_row_masked(
        &self,
        wide_code: WideCode<'ctx>,
        value: VectorValue<'ctx>,
        lane_mask: VectorValue<'ctx>,
    ) -> Emitted<()> {
        let WideCode { ty, wide, start, part } = wide_code;
        if self.is_redirected(&wide, lane_mask) {
            let (addresses, all_active) = self.redirect_row(Direction::Store, ty.bytes(), start, lane_mask)?;
            return self.scatter_elements(value, addresses, all_active, ty.bytes().min(wide.align), part);
        }
        let emitter = self.around.emitter;
        let arguments = [value.into(), start.into(), lane_mask.into()];
        let call_site = emitter.intrinsic_call(
            "llvm.masked.store",
            &[value.get_type().into(), emitter.pointer_type().into()],
            &arguments,
        )?;
        self.set_align(call_site, 1, wide.align);
        self.mark_call(call_site, part);
        Ok(())
    }

    /// Whether lanes that are off are sent elsewhere. Of a mask that is a constant, as that of the last gang of a row of known
    /// length is, LLVM makes accesses of the lanes that are on.
    fn is_redirected(&self, wide_access: &WideAccess, lane_mask: VectorValue<'ctx>) -> bool {
        matches!(wide_access.elements, WideElements::Redirected(_)) && !lane_mask.is_const()
    }

    /// Loads whole rows of elements in memory's order.
    fn load_row(&self, wide_code: WideCode<'ctx>) -> Emitted<(VectorValue<'ctx>, InstructionValue<'ctx>)> {
        let WideCode { ty, wide, start, .. } = wide_code;
        let vector_type = self.memory_vector(ty, wide.row * wide.lanes);
        let loaded_row = self.around.emitter.builder.build_load(vector_type, start, "")?;
        let instruction = loaded_row.as_instruction_value().ok_or(CodegenError::Missing("instruction of a load"))?;
        instruction.set_alignment(wide.align)?;
        if wide.volatile {
            instruction.set_volatile(true)?;
        }
        Ok((loaded_row.into_vector_value(), instruction))
    }

    /// Stores whole rows of elements in memory's order.
    pub(super) fn store_row(
        &self,
        wide_code: WideCode<'ctx>,
        value: VectorValue<'ctx>,
    ) -> Emitted<InstructionValue<'ctx>> {
        let emitter = self.around.emitter;
        let store_instruction = emitter.builder.build_store(wide_code.start, value)?;
        store_instruction.set_alignment(wide_code.wide.align)?;
        if wide_code.wide.volatile {
            store_instruction.set_volatile(true)?;
        }
        emitter.scopes.mark_parts(store_instruction, &[wide_code.part]);
        Ok(store_instruction)
    }

    /// All lanes' first elements, then all their second ones, …, in memory's form.
    pub(in crate::codegen::vector) fn one_behind_the_other(
        &self,
        scalar_type: Type,
        values: &[VectorValue<'ctx>],
    ) -> Emitted<VectorValue<'ctx>> {
        let emitter = self.around.emitter;
        let mut part_vectors =
            values.iter().map(|&value| self.extend_to_memory(scalar_type, value)).collect::<Emitted<Vec<_>>>()?;
        let mut length = self.wide.get();
        while part_vectors.len() > 1 {
            let lane_indices: Vec<Option<u32>> = (0..2 * length).map(Some).collect();
            let poison = part_vectors[0].get_type().get_poison();
            let join_parts = |vector_pair: &[VectorValue<'ctx>]| {
                emitter.shuffle_vectors(vector_pair[0], vector_pair.get(1).copied().unwrap_or(poison), &lane_indices)
            };
            part_vectors = part_vectors.chunks(2).map(join_parts).collect::<Emitted<Vec<_>>>()?;
            length *= 2;
        }
        part_vectors.into_iter().next().ok_or(CodegenError::Missing("part of a row"))
    }

    pub(super) fn mark_call(&self, call_site: CallSiteValue<'ctx>, memory_part: Part) {
        if let ValueKind::Instruction(call_inst) = call_site.try_as_basic_value() {
            let call_instruction: InstructionValue = call_inst;
            self.around.emitter.scopes.mark_parts(call_instruction, &[memory_part]);
        }
    }
}
