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
        code: AccessCode<'_>,
        wide: &WideAccess,
        first: BasicValueEnum<'ctx>,
        mask: Option<Mask<'ctx>>,
    ) -> Emitted<Vectors<'ctx>> {
        self.load_rows(self.wide_code(code, wide, first)?, mask, code.invariant && !wide.volatile)
    }

    /// Stores the elements of lanes of which the first one's address is known.
    pub(super) fn store_wide(
        &self,
        code: StoreCode<'_>,
        wide: &WideAccess,
        first: BasicValueEnum<'ctx>,
        values: &[VectorValue<'ctx>],
        mask: Option<Mask<'ctx>>,
    ) -> Emitted<Vectors<'ctx>> {
        let rows = self.wide_code(code.access, wide, first)?;
        let all_lanes = wide.lanes == self.around.width();
        let in_order = if all_lanes { self.in_memory_order(rows, code.args)? } else { None };
        self.store_rows(rows, mask, values, in_order)?;
        Ok(Vec::new())
    }

    fn wide_code(
        &self,
        code: AccessCode<'_>,
        wide: &WideAccess,
        first: BasicValueEnum<'ctx>,
    ) -> Emitted<WideCode<'ctx>> {
        let access = code.access;
        let bytes = access.offset.wrapping_add(wide.bytes_to_lowest());
        let start = self.around.emitter.offset_constant(first.into_pointer_value(), bytes)?;
        Ok(WideCode { start, ty: access.ty, part: Part::Space(access.space), wide: *wide })
    }

    /// The type of elements in memory, `count` of them.
    pub(super) fn memory_vector(&self, ty: Type, count: u32) -> VectorType<'ctx> {
        vector_of(self.around.emitter.memory_ty(ty), count)
    }

    /// From memory's form to that in registers.
    pub(super) fn narrow_from_memory(&self, ty: Type, value: VectorValue<'ctx>) -> Emitted<VectorValue<'ctx>> {
        let to_type = vector_of(self.around.emitter.value_type(ty), value.get_type().get_size());
        if to_type == value.get_type() {
            return Ok(value);
        }
        let cast = self.around.emitter.builder.build_cast(InstructionOpcode::Trunc, value, to_type, "")?;
        Ok(cast.into_vector_value())
    }

    /// From the form in registers to memory's.
    fn extend_to_memory(&self, ty: Type, value: VectorValue<'ctx>) -> Emitted<VectorValue<'ctx>> {
        let to_type = self.memory_vector(ty, value.get_type().get_size());
        if to_type == value.get_type() {
            return Ok(value);
        }
        let cast = self.around.emitter.builder.build_cast(InstructionOpcode::ZExt, value, to_type, "")?;
        Ok(cast.into_vector_value())
    }

    fn constant_lanes(&self, lanes: impl Iterator<Item = bool>) -> VectorValue<'ctx> {
        let bool = self.around.emitter.context.bool_type();
        VectorType::const_vector(&lanes.map(|on| bool.const_int(on.into(), false)).collect::<Vec<_>>())
    }

    /// The lanes that are on, one by one.
    pub(super) fn all_or(&self, mask: Option<Mask<'ctx>>) -> VectorValue<'ctx> {
        mask.map_or_else(|| self.constant_lanes((0..self.wide.get()).map(|_| true)), |mask| mask.lanes)
    }

    /// The mask of a wide access, and what is asked before it; none: all its elements. Between two lanes' elements a load
    /// may read along where both lanes are active.
    fn element_mask(
        &self,
        wide: &WideAccess,
        mask: Option<Mask<'ctx>>,
        direction: Direction,
    ) -> Emitted<Option<(VectorValue<'ctx>, RowGuard)>> {
        let places = elements_in_order(wide.row, wide.is_reversed(), wide.count, wide.lanes);
        let guard = match wide.elements {
            WideElements::All => return Ok(None),
            WideElements::AllLanes => {
                let end = places.iter().rposition(Option::is_some).unwrap_or(0);
                let is_on = |(place, element): (usize, &Option<_>)| {
                    element.is_some() || direction == Direction::Load && place < end
                };
                return Ok(Some((self.constant_lanes(places.iter().enumerate().map(is_on)), RowGuard::None)));
            }
            WideElements::Masked(guard) | WideElements::Redirected(guard) => guard,
        };
        let lanes = mask.ok_or(CodegenError::Missing("mask of a masked access"))?.lanes;
        if wide.row == 1 && !wide.is_reversed() {
            return Ok(Some((lanes, guard)));
        }
        let off = lanes.get_type().const_zero();
        let places: Vec<Option<u32>> =
            places.iter().map(|place| Some(place.map_or(wide.lanes, |(lane, _)| lane))).collect();
        Ok(Some((self.around.emitter.shuffle_vectors(lanes, off, &places)?, guard)))
    }

    /// Does what `access` emits, an access of some lanes, behind what is asked before it. Its values are zeros where it is
    /// not made.
    fn behind_guard(
        &self,
        guard: RowGuard,
        mask: Option<Mask<'ctx>>,
        access: impl FnOnce() -> Emitted<Vec<BasicValueEnum<'ctx>>>,
    ) -> Emitted<Vec<BasicValueEnum<'ctx>>> {
        match guard {
            RowGuard::None => access(),
            RowGuard::AnyLane => self.emit_guarded(mask, access),
            RowGuard::InBounds => self.if_in_bounds(mask, access),
        }
    }

    /// Loads the elements of each lane.
    pub(super) fn load_rows(
        &self,
        rows: WideCode<'ctx>,
        mask: Option<Mask<'ctx>>,
        invariant: bool,
    ) -> Emitted<Vectors<'ctx>> {
        let emitter = self.around.emitter;
        let WideCode { wide, .. } = rows;
        let mark = |instruction| {
            emitter.scopes.mark_parts(instruction, &[rows.part]);
            emitter.mark_invariant(invariant.then_some(instruction));
        };
        let loaded = match self.element_mask(&wide, mask, Direction::Load)? {
            None => {
                let (loaded, instruction) = self.load_row(rows)?;
                mark(instruction);
                loaded
            }
            Some((lanes, guard)) => {
                let load = || {
                    let (loaded, insts) = self.load_row_masked(rows, lanes)?;
                    insts.into_iter().for_each(mark);
                    Ok(vec![loaded.into()])
                };
                self.behind_guard(guard, mask, load)?[0].into_vector_value()
            }
        };
        (0..wide.count).map(|index| self.element_of_rows(rows, loaded, index)).collect()
    }

    /// The element with this index of each lane's row, out of all rows.
    fn element_of_rows(
        &self,
        rows: WideCode<'ctx>,
        loaded: VectorValue<'ctx>,
        index: u32,
    ) -> Emitted<VectorValue<'ctx>> {
        let WideCode { ty, wide, .. } = rows;
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
        rows: WideCode<'ctx>,
        lanes: VectorValue<'ctx>,
    ) -> Emitted<(VectorValue<'ctx>, Vec<InstructionValue<'ctx>>)> {
        let WideCode { ty, wide, start, .. } = rows;
        let vector = self.memory_vector(ty, wide.row * wide.lanes);
        if self.is_redirected(&wide, lanes) {
            let (places, all) = self.redirect_row(Direction::Load, ty.bytes(), start, lanes)?;
            return self.gather_elements(vector, places, all, ty.bytes().min(wide.align));
        }
        self.masked_load(vector, start, lanes, wide.align)
    }

    /// Stores rows by their elements' vectors, or by one vector that has all of them in memory's order.
    pub(super) fn store_rows(
        &self,
        rows: WideCode<'ctx>,
        mask: Option<Mask<'ctx>>,
        values: &[VectorValue<'ctx>],
        in_order: Option<VectorValue<'ctx>>,
    ) -> Emitted<()> {
        let wide = rows.wide;
        let value = match in_order {
            Some(value) => value,
            None => self.in_order_of_rows(rows, values)?,
        };
        match self.element_mask(&wide, mask, Direction::Store)? {
            None if wide.past_caches => self.store_past_caches(rows, value),
            None => self.store_row(rows, value).map(drop),
            Some((lanes, guard)) => {
                let store = || {
                    self.store_row_masked(rows, value, lanes)?;
                    Ok(Vec::new())
                };
                self.behind_guard(guard, mask, store).map(drop)
            }
        }
    }

    /// Elements' vectors as one in memory's order; what lies between lanes' elements is anything.
    fn in_order_of_rows(&self, rows: WideCode<'ctx>, values: &[VectorValue<'ctx>]) -> Emitted<VectorValue<'ctx>> {
        let wide = rows.wide;
        let flat = self.one_behind_the_other(rows.ty, values)?;
        if wide.row == 1 && !wide.is_reversed() {
            return Ok(flat);
        }
        let place = |place: Option<(u32, u32)>| place.map(|(lane, element)| element * wide.lanes + lane);
        let places = elements_in_order(wide.row, wide.is_reversed(), wide.count, wide.lanes).into_iter().map(place);
        self.around.emitter.shuffle_vectors(flat, flat, &places.collect::<Vec<_>>())
    }

    /// Stores the elements of a row that are on.
    fn store_row_masked(
        &self,
        rows: WideCode<'ctx>,
        value: VectorValue<'ctx>,
        lanes: VectorValue<'ctx>,
    ) -> Emitted<()> {
        let WideCode { ty, wide, start, part } = rows;
        if self.is_redirected(&wide, lanes) {
            let (places, all) = self.redirect_row(Direction::Store, ty.bytes(), start, lanes)?;
            return self.scatter_elements(value, places, all, ty.bytes().min(wide.align), part);
        }
        let emitter = self.around.emitter;
        let arguments = [value.into(), start.into(), lanes.into()];
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
    fn is_redirected(&self, wide: &WideAccess, lanes: VectorValue<'ctx>) -> bool {
        matches!(wide.elements, WideElements::Redirected(_)) && !lanes.is_const()
    }

    /// Loads whole rows of elements in memory's order.
    fn load_row(&self, rows: WideCode<'ctx>) -> Emitted<(VectorValue<'ctx>, InstructionValue<'ctx>)> {
        let WideCode { ty, wide, start, .. } = rows;
        let ty = self.memory_vector(ty, wide.row * wide.lanes);
        let loaded = self.around.emitter.builder.build_load(ty, start, "")?;
        let instruction = loaded.as_instruction_value().ok_or(CodegenError::Missing("instruction of a load"))?;
        instruction.set_alignment(wide.align)?;
        if wide.volatile {
            instruction.set_volatile(true)?;
        }
        Ok((loaded.into_vector_value(), instruction))
    }

    /// Stores whole rows of elements in memory's order.
    pub(super) fn store_row(&self, rows: WideCode<'ctx>, value: VectorValue<'ctx>) -> Emitted<InstructionValue<'ctx>> {
        let emitter = self.around.emitter;
        let store = emitter.builder.build_store(rows.start, value)?;
        store.set_alignment(rows.wide.align)?;
        if rows.wide.volatile {
            store.set_volatile(true)?;
        }
        emitter.scopes.mark_parts(store, &[rows.part]);
        Ok(store)
    }

    /// All lanes' first elements, then all their second ones, …, in memory's form.
    pub(in crate::codegen::vector) fn one_behind_the_other(
        &self,
        ty: Type,
        values: &[VectorValue<'ctx>],
    ) -> Emitted<VectorValue<'ctx>> {
        let emitter = self.around.emitter;
        let mut parts = values.iter().map(|&value| self.extend_to_memory(ty, value)).collect::<Emitted<Vec<_>>>()?;
        let mut length = self.wide.get();
        while parts.len() > 1 {
            let all: Vec<Option<u32>> = (0..2 * length).map(Some).collect();
            let poison = parts[0].get_type().get_poison();
            let join = |pair: &[VectorValue<'ctx>]| {
                emitter.shuffle_vectors(pair[0], pair.get(1).copied().unwrap_or(poison), &all)
            };
            parts = parts.chunks(2).map(join).collect::<Emitted<Vec<_>>>()?;
            length *= 2;
        }
        parts.into_iter().next().ok_or(CodegenError::Missing("part of a row"))
    }

    pub(super) fn mark_call(&self, call_site: CallSiteValue<'ctx>, part: Part) {
        if let ValueKind::Instruction(call_inst) = call_site.try_as_basic_value() {
            let call: InstructionValue = call_inst;
            self.around.emitter.scopes.mark_parts(call, &[part]);
        }
    }
}
