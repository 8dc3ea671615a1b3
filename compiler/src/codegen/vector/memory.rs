//! Loads and stores of a gang: one scalar access, wide accesses with shuffles, gathers and scatters.

use super::GangCode;
use super::chunks::CHUNK;
use super::columns::Places;
use super::masks::Mask;
use super::one_by_one::Near;
use super::values::Held;
use crate::codegen::alias::Part;
use crate::codegen::emit::{Emitted, vector_of};
use inkwell::builder::BuilderError;
use inkwell::types::VectorType;
use inkwell::values::{
    BasicValue, BasicValueEnum, CallSiteValue, InstructionOpcode, InstructionValue, PointerValue, ValueKind,
    VectorValue,
};
use lockstep_ir::analysis::waiting::may_wait;
use lockstep_ir::ir::{Access, InstNode, LiveSlot, Value};
use lockstep_ir::plan::access_lowering::{AccessClass, Direction, classify, elements};
use lockstep_protocol::types::{Space, Type};

/// Bytes of the numbers that gathers and scatters move.
const WIDEST_NUMBER: u32 = 8;

/// Whether an access is atomic for the machine too: one thread runs all that local memory belongs to.
fn is_shared(access: Access, space: Space) -> bool {
    access.atomic.is_some() && space != Space::Local
}

/// How the accesses of a gang's lanes may be made.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Together {
    /// In any way that has the same effect.
    Free,
    /// By one instruction only where it accesses each lane's element once and no other; it stays volatile.
    Volatile,
    /// One after the other.
    No,
}

/// One access of all lanes to rows of elements that lie side by side.
#[derive(Clone, Copy)]
pub(super) struct Rows<'ctx> {
    /// The lowest address.
    pub start: PointerValue<'ctx>,
    pub ty: Type,
    /// Elements from one lane to the next.
    pub row: u32,
    pub reversed: bool,
    /// Elements of a lane.
    pub count: u32,
    pub align: u32,
    pub part: Part,
}

impl<'ctx> GangCode<'_, 'ctx, '_> {
    pub(super) fn load(&self, node: &InstNode, ptr: Value, offset: i64, access: Access) -> Emitted<Vec<Held<'ctx>>> {
        let emit = self.around.emit;
        let Some(&first) = node.results.first() else {
            return Ok(Vec::new());
        };
        let (ty, count, space) = (self.ty(first), node.results.len(), self.space(ptr));
        let mask = self.access_mask(ptr)?;
        let held = self.held(ptr)?;
        let one = |address: BasicValueEnum<'ctx>| {
            emit.load_elements(address.into_pointer_value(), space, offset, ty, count, access)
        };
        if let Held::Affine(address, 0) = held {
            self.note_uniform(Direction::Load, ty, count, space);
            let values = self.guarded(mask, || one(address))?;
            return Ok(values.into_iter().map(|value| Held::Affine(value, 0)).collect());
        }
        let together = self.together(access, space);
        if let Held::Runs(bases, 0) = &held
            && together == Together::Free
        {
            self.note_uniform(Direction::Load, ty, count, space);
            return self.load_of_runs(bases, mask, count, one);
        }
        let vectors = if together == Together::Volatile
            && let Some(rows) = self.volatile_row(&held, mask, space, offset, (ty, count), access, Direction::Load)?
        {
            self.note_places(Direction::Load, &Places::Of(held), ty, count, space);
            let (wide, load) = self.load_row(rows)?;
            load.set_volatile(true).map_err(|_| BuilderError::UnsetPosition)?;
            emit.scopes.mark(load, &[rows.part]);
            vec![self.narrow(ty, wide)?]
        } else if together != Together::Free {
            self.note_lanes("load", if access.volatile { "volatile" } else { "atomic" });
            self.each_lane(mask, &vec![ty; count], |lane| one(self.lane(ptr, lane)?))?
        } else {
            let invariant = space == Space::Constant || emit.scopes.is_invariant();
            let load = |held, mask| match self.rows(&held, space, offset, ty, count, access, Direction::Load)? {
                Some(rows) => self.load_rows(rows, mask, invariant),
                None => self.gather((ptr, held), space, offset, ty, count, access, mask, invariant),
            };
            let access = |places| match places {
                Places::Of(Held::Runs(bases, stride))
                    if self.are_rows(stride, ty, count, Direction::Load)
                        || mask.is_none() && self.are_alike(&bases) =>
                {
                    self.load_runs(&bases, mask, |base, mask| load(Held::Affine(base, stride), mask))
                }
                Places::Of(held) => load(held, mask),
                Places::Columns(bases) => {
                    self.load_columns(&bases, |base| load(Held::Affine(base, ty.bytes().into()), None))
                }
            };
            self.at_places(Direction::Load, ptr, held, (ty, count), space, access)?
        };
        Ok(vectors.into_iter().map(Held::Vector).collect())
    }

    pub(super) fn store(&self, ptr: Value, offset: i64, access: Access, args: &[Value]) -> Emitted<()> {
        let emit = self.around.emit;
        let Some(&first) = args.first() else {
            return Ok(());
        };
        let (ty, count, space) = (self.ty(first), args.len(), self.space(ptr));
        let mask = self.access_mask(ptr)?;
        let held = self.held(ptr)?;
        let one = |lane| {
            let values = args.iter().map(|&arg| self.lane(arg, lane)).collect::<Emitted<Vec<_>>>()?;
            let address = self.lane(ptr, lane)?.into_pointer_value();
            emit.store_elements(address, space, offset, ty, &values, access)?;
            Ok(Vec::new())
        };
        let together = self.together(access, space);
        if together == Together::Volatile
            && let Some(rows) = self.volatile_row(&held, mask, space, offset, (ty, count), access, Direction::Store)?
        {
            self.note_places(Direction::Store, &Places::Of(held), ty, count, space);
            let store = self.store_row(rows, self.extend(ty, self.vector(first)?)?)?;
            return store.set_volatile(true).map_err(|_| BuilderError::UnsetPosition);
        }
        if together != Together::Free {
            self.note_lanes("store", if access.volatile { "volatile" } else { "atomic" });
            self.each_lane(mask, &[], one)?;
            return Ok(());
        }
        if let Held::Affine(_, 0) = held {
            self.note_uniform(Direction::Store, ty, count, space);
            // Of several work-items that write to one place, any one may be the last.
            let uniform = args.iter().all(|&arg| self.is_uniform(arg));
            self.guarded(mask, || one(if uniform { emit.const64(0) } else { self.last_lane(mask)? }))?;
            return Ok(());
        }
        let values = args.iter().map(|&arg| self.vector(arg)).collect::<Emitted<Vec<_>>>()?;
        let store = |held, values: &[VectorValue<'ctx>], mask| {
            match self.rows(&held, space, offset, ty, count, access, Direction::Store)? {
                Some(rows) => {
                    let all_lanes = self.wide.get() == self.around.width();
                    let wide = if all_lanes { self.in_memory_order(rows, args)? } else { None };
                    self.store_rows(rows, mask, values, wide)?;
                }
                None => self.scatter((ptr, held), space, offset, ty, values, access, mask)?,
            }
            Ok(Vec::new())
        };
        let access = |places| match places {
            Places::Of(Held::Runs(bases, stride)) if self.are_rows(stride, ty, count, Direction::Store) => self
                .store_runs(&bases, &values, mask, |base, values, mask| {
                    store(Held::Affine(base, stride), values, mask)
                }),
            Places::Of(held) => store(held, &values, mask),
            Places::Columns(bases) => self.store_columns(&bases, values[0], |base, column| {
                store(Held::Affine(base, ty.bytes().into()), &[column], None)
            }),
        };
        self.at_places(Direction::Store, ptr, held, (ty, args.len()), space, access).map(drop)
    }

    /// How lanes may make an access. Local memory is seen by the work-items of one group only, which one thread runs,
    /// so nothing tells a volatile access to it from another, unless work-items wait for each other.
    fn together(&self, access: Access, space: Space) -> Together {
        if is_shared(access, space) {
            return Together::No;
        }
        match access.volatile {
            true if may_wait(self.around.kernel) => Together::No,
            true if space != Space::Local => Together::Volatile,
            _ => Together::Free,
        }
    }

    /// Where all lanes' elements lie side by side, one a lane and nothing between them.
    #[expect(clippy::too_many_arguments, reason = "they are the parts of an access")]
    fn volatile_row(
        &self,
        held: &Held<'ctx>,
        mask: Option<Mask<'ctx>>,
        space: Space,
        offset: i64,
        (ty, count): (Type, usize),
        access: Access,
        direction: Direction,
    ) -> Emitted<Option<Rows<'ctx>>> {
        if mask.is_some() || count != 1 || held.stride() != Some(ty.bytes().into()) {
            return Ok(None);
        }
        self.rows(held, space, offset, ty, count, access, direction)
    }

    /// Does what `access` emits for the places of some elements, which it asks about where that needs asking.
    fn at_places(
        &self,
        direction: Direction,
        ptr: Value,
        held: Held<'ctx>,
        (ty, count): (Type, usize),
        space: Space,
        access: impl Fn(Places<'ctx>) -> Emitted<Vec<VectorValue<'ctx>>>,
    ) -> Emitted<Vec<VectorValue<'ctx>>> {
        match self.line(ptr, ty, count, direction) {
            Some(line) => {
                self.note_line(direction, line, ty, count, space);
                self.on_line_or_not(ptr, line, access)
            }
            None => {
                let places = self.places(ptr, held, ty, count, direction)?;
                self.note_places(direction, &places, ty, count, space);
                access(places)
            }
        }
    }

    pub(super) fn live_load(&self, live: LiveSlot, ty: Type) -> Emitted<Held<'ctx>> {
        if let Some(value) = self.around.frame.shared[live] {
            return Ok(Held::Affine(value, 0));
        }
        let rows = self.live_rows(live, ty)?;
        let vectors = self.load_rows(rows, self.mask()?, false)?;
        vectors.into_iter().next().map(Held::Vector).ok_or(BuilderError::UnsetPosition)
    }

    pub(super) fn live_store(&self, live: LiveSlot, arg: Value) -> Emitted<()> {
        if self.around.kernel.live[live].shared {
            let ty = self.ty(arg);
            let place = self.kept(live, ty)?;
            let keep = || {
                let store = self.around.emit.store(ty, self.first(arg)?, place, ty.bytes())?;
                self.around.emit.scopes.mark(store, &[Part::Kept]);
                Ok(Vec::new())
            };
            return self.guarded(self.mask()?, keep).map(drop);
        }
        let rows = self.live_rows(live, self.ty(arg))?;
        self.store_rows(rows, self.mask()?, &[self.vector(arg)?], None)
    }

    /// The place of a kept value, of lane 0 if each work-item has one.
    fn kept(&self, live: LiveSlot, ty: Type) -> Emitted<PointerValue<'ctx>> {
        self.around.frame.live(self.around.emit, live, ty, self.gang.first.number)
    }

    /// The places of a kept value: one per work-item, side by side.
    fn live_rows(&self, live: LiveSlot, ty: Type) -> Emitted<Rows<'ctx>> {
        let start = self.kept(live, ty)?;
        Ok(Rows { start, ty, row: 1, reversed: false, count: 1, align: ty.bytes(), part: Part::Kept })
    }

    #[expect(clippy::too_many_arguments, reason = "they are the parts of an access")]
    fn rows(
        &self,
        held: &Held<'ctx>,
        space: Space,
        offset: i64,
        ty: Type,
        count: usize,
        access: Access,
        direction: Direction,
    ) -> Emitted<Option<Rows<'ctx>>> {
        let emit = self.around.emit;
        let width = self.wide.get();
        let class = classify(held.stride(), ty.bytes(), count as u32, width, direction);
        let (&Held::Affine(first, stride), AccessClass::Rows { row, reversed }) = (held, class) else {
            return Ok(None);
        };
        let count = count as u32;
        let back = if reversed { stride.wrapping_mul(i64::from(width) - 1) } else { 0 };
        let start = emit.away(first.into_pointer_value(), offset.wrapping_add(back))?;
        // The first lane may be one that does not come here; then its address has only the alignment that it shares
        // with those of the others.
        let align = access.align.clamp(1, 1 << stride.trailing_zeros().min(31));
        let part = Part::Space(space);
        Ok(Some(Rows { start, ty, row, reversed, count, align, part }))
    }

    /// The type of elements in memory, `count` of them.
    pub(super) fn memory_vector(&self, ty: Type, count: u32) -> VectorType<'ctx> {
        vector_of(self.around.emit.memory_ty(ty), count)
    }

    /// From memory's form to that in registers.
    fn narrow(&self, ty: Type, value: VectorValue<'ctx>) -> Emitted<VectorValue<'ctx>> {
        let to = vector_of(self.around.emit.ty(ty), value.get_type().get_size());
        if to == value.get_type() {
            return Ok(value);
        }
        let cast = self.around.emit.builder.build_cast(InstructionOpcode::Trunc, value, to, "")?;
        Ok(cast.into_vector_value())
    }

    /// From the form in registers to memory's.
    fn extend(&self, ty: Type, value: VectorValue<'ctx>) -> Emitted<VectorValue<'ctx>> {
        let to = self.memory_vector(ty, value.get_type().get_size());
        if to == value.get_type() {
            return Ok(value);
        }
        let cast = self.around.emit.builder.build_cast(InstructionOpcode::ZExt, value, to, "")?;
        Ok(cast.into_vector_value())
    }

    fn constant_lanes(&self, lanes: impl Iterator<Item = bool>) -> VectorValue<'ctx> {
        let bool = self.around.emit.ctx.bool_type();
        VectorType::const_vector(&lanes.map(|on| bool.const_int(on.into(), false)).collect::<Vec<_>>())
    }

    /// The mask of a wide access; none: all its elements. Between two lanes' elements a load may read along
    /// where both lanes are active.
    fn row_mask(
        &self,
        rows: Rows<'ctx>,
        mask: Option<Mask<'ctx>>,
        direction: Direction,
    ) -> Emitted<Option<VectorValue<'ctx>>> {
        let width = self.wide.get();
        let places = elements(rows.row, rows.reversed, rows.count, width);
        match mask {
            None if rows.row == rows.count => Ok(None),
            None => {
                let end = places.iter().rposition(Option::is_some).unwrap_or(0);
                let on = |(place, element): (usize, &Option<_>)| {
                    element.is_some() || direction == Direction::Load && place < end
                };
                Ok(Some(self.constant_lanes(places.iter().enumerate().map(on))))
            }
            Some(mask) if rows.row == 1 && !rows.reversed => Ok(Some(mask.lanes)),
            Some(mask) => {
                let off = mask.lanes.get_type().const_zero();
                let places: Vec<Option<u32>> =
                    places.iter().map(|place| Some(place.map_or(width, |(lane, _)| lane))).collect();
                Ok(Some(self.around.emit.shuffle(mask.lanes, off, &places)?))
            }
        }
    }

    fn load_rows(
        &self,
        rows: Rows<'ctx>,
        mask: Option<Mask<'ctx>>,
        invariant: bool,
    ) -> Emitted<Vec<VectorValue<'ctx>>> {
        let emit = self.around.emit;
        let width = self.wide.get();
        let ty = self.memory_vector(rows.ty, rows.row * width);
        let mark = |inst| {
            emit.scopes.mark(inst, &[rows.part]);
            emit.mark_invariant(invariant.then_some(inst));
        };
        let wide = match self.row_mask(rows, mask, Direction::Load)? {
            None => {
                let (wide, inst) = self.load_row(rows)?;
                mark(inst);
                wide
            }
            Some(lanes) => {
                let load = || {
                    let (wide, insts) = self.load_row_masked(ty, rows, lanes)?;
                    insts.into_iter().for_each(mark);
                    Ok(vec![wide.into()])
                };
                let loaded = self.unless_absent(rows.part, mask, load)?;
                loaded[0].into_vector_value()
            }
        };
        let element = |index: u32| {
            let place = |lane: u32| Some(if rows.reversed { width - 1 - lane } else { lane } * rows.row + index);
            let own = if rows.row == 1 && !rows.reversed {
                wide
            } else {
                emit.shuffle(wide, wide, &(0..width).map(place).collect::<Vec<_>>())?
            };
            self.narrow(rows.ty, own)
        };
        (0..rows.count).map(element).collect()
    }

    /// Loads the elements of a row that are on; and the instructions that do.
    fn load_row_masked(
        &self,
        ty: VectorType<'ctx>,
        rows: Rows<'ctx>,
        lanes: VectorValue<'ctx>,
    ) -> Emitted<(VectorValue<'ctx>, Vec<InstructionValue<'ctx>>)> {
        match self.where_to_in_row(Direction::Load, rows.ty.bytes() * 8, rows.start, lanes)? {
            Some((places, all)) => self.gathered(ty, places, all, rows.ty.bytes().min(rows.align)),
            None => self.masked_load(ty, rows.start, lanes, rows.align),
        }
    }

    /// Stores rows by their elements' vectors, or by one vector that has all of them in memory's order.
    fn store_rows(
        &self,
        rows: Rows<'ctx>,
        mask: Option<Mask<'ctx>>,
        values: &[VectorValue<'ctx>],
        in_order: Option<VectorValue<'ctx>>,
    ) -> Emitted<()> {
        let emit = self.around.emit;
        let wide = match in_order {
            Some(wide) => wide,
            None => {
                let flat = self.one_behind_the_other(rows.ty, values)?;
                let width = self.wide.get();
                let places = elements(rows.row, rows.reversed, rows.count, width);
                let place = |place: Option<(u32, u32)>| place.map(|(lane, element)| element * width + lane);
                let places: Vec<Option<u32>> = places.into_iter().map(place).collect();
                if rows.row == 1 && !rows.reversed { flat } else { emit.shuffle(flat, flat, &places)? }
            }
        };
        match self.row_mask(rows, mask, Direction::Store)? {
            None if self.goes_past_caches(rows) => self.store_past_caches(rows, wide)?,
            None => {
                self.store_row(rows, wide)?;
            }
            Some(lanes) => {
                let bits = rows.ty.bytes() * 8;
                let store = || {
                    if let Some((places, all)) = self.where_to_in_row(Direction::Store, bits, rows.start, lanes)? {
                        self.scattered(wide, places, all, rows.ty.bytes().min(rows.align), rows.part)?;
                        return Ok(Vec::new());
                    }
                    let args = [wide.into(), rows.start.into(), lanes.into()];
                    let types = [wide.get_type().into(), emit.ptr().into()];
                    let call = emit.intrinsic_call("llvm.masked.store", &types, &args)?;
                    self.align(call, 1, rows.align);
                    self.mark(call, rows.part);
                    Ok(Vec::new())
                };
                match emit.target.slow_masked_stores {
                    true => self.guarded(mask, store)?,
                    false => self.unless_absent(rows.part, mask, store)?,
                };
            }
        }
        Ok(())
    }

    /// Loads whole rows of elements in memory's order.
    fn load_row(&self, rows: Rows<'ctx>) -> Emitted<(VectorValue<'ctx>, InstructionValue<'ctx>)> {
        let ty = self.memory_vector(rows.ty, rows.row * self.wide.get());
        let loaded = self.around.emit.builder.build_load(ty, rows.start, "")?;
        let inst = loaded.as_instruction_value().ok_or(BuilderError::NotSameType)?;
        inst.set_alignment(rows.align).map_err(|_| BuilderError::BitwidthError)?;
        Ok((loaded.into_vector_value(), inst))
    }

    /// Stores whole rows of elements in memory's order.
    pub(super) fn store_row(&self, rows: Rows<'ctx>, wide: VectorValue<'ctx>) -> Emitted<InstructionValue<'ctx>> {
        let emit = self.around.emit;
        let store = emit.builder.build_store(rows.start, wide)?;
        store.set_alignment(rows.align).map_err(|_| BuilderError::BitwidthError)?;
        emit.scopes.mark(store, &[rows.part]);
        Ok(store)
    }

    /// All lanes' first elements, then all their second ones, …, in memory's form.
    pub(super) fn one_behind_the_other(&self, ty: Type, values: &[VectorValue<'ctx>]) -> Emitted<VectorValue<'ctx>> {
        let emit = self.around.emit;
        let mut parts = values.iter().map(|&value| self.extend(ty, value)).collect::<Emitted<Vec<_>>>()?;
        let mut length = self.wide.get();
        while parts.len() > 1 {
            let all: Vec<Option<u32>> = (0..2 * length).map(Some).collect();
            let poison = parts[0].get_type().get_poison();
            let join = |pair: &[VectorValue<'ctx>]| emit.shuffle(pair[0], pair.get(1).copied().unwrap_or(poison), &all);
            parts = parts.chunks(2).map(join).collect::<Emitted<Vec<_>>>()?;
            length *= 2;
        }
        parts.into_iter().next().ok_or(BuilderError::UnsetPosition)
    }

    pub(super) fn all_or(&self, mask: Option<Mask<'ctx>>) -> VectorValue<'ctx> {
        mask.map_or_else(|| self.constant_lanes((0..self.wide.get()).map(|_| true)), |mask| mask.lanes)
    }

    #[expect(clippy::too_many_arguments, reason = "they are the parts of an access")]
    fn gather(
        &self,
        (ptr, held): (Value, Held<'ctx>),
        space: Space,
        offset: i64,
        ty: Type,
        count: usize,
        access: Access,
        mask: Option<Mask<'ctx>>,
        invariant: bool,
    ) -> Emitted<Vec<VectorValue<'ctx>>> {
        let emit = self.around.emit;
        let load = |(index, together): (u32, u32)| {
            // Neighbouring elements come as one number, or as several in a register.
            let (bytes, align) = element_place(offset, ty, index, access);
            let mark = |inst| {
                emit.scopes.mark(inst, &[Part::Space(space)]);
                emit.mark_invariant(invariant.then_some(inst));
            };
            if together * ty.bytes() == CHUNK && together > 1 {
                return self.load_chunks(ty, (ptr, &held), bytes, align, mask, mark);
            }
            let number = number(ty, together);
            let result = self.memory_vector(number, self.wide.get());
            if let Some(near) = self.near_without(Direction::Load, number, (ptr, &held), bytes, mask)? {
                let loaded = self.load_near(&near, number, |place| {
                    let loaded = emit.builder.build_load(result.get_element_type(), place, "")?;
                    if let Some(inst) = loaded.as_instruction_value() {
                        inst.set_alignment(align).map_err(|_| BuilderError::BitwidthError)?;
                        mark(inst);
                    }
                    Ok(loaded)
                })?;
                return self.elements_of(ty, together, loaded);
            }
            let places = self.places_of_elements(&held, bytes)?;
            let (places, lanes) = self.where_to(Direction::Load, number.bytes() * 8, places, mask)?;
            let (loaded, insts) = self.gathered(result, places, lanes, align)?;
            insts.into_iter().for_each(mark);
            self.elements_of(ty, together, loaded)
        };
        let most = if self.has_chunks(ty) { CHUNK } else { WIDEST_NUMBER };
        let parts = together(ty, count, most).into_iter().map(load).collect::<Emitted<Vec<_>>>()?;
        Ok(parts.into_iter().flatten().collect())
    }

    /// What lies at the places of lanes that are on, zeros elsewhere; and the instruction that loads it.
    fn gathered(
        &self,
        ty: VectorType<'ctx>,
        places: VectorValue<'ctx>,
        lanes: VectorValue<'ctx>,
        align: u32,
    ) -> Emitted<(VectorValue<'ctx>, Vec<InstructionValue<'ctx>>)> {
        let args = [places.into(), lanes.into(), ty.const_zero().into()];
        let types = [ty.into(), places.get_type().into()];
        let call = self.around.emit.intrinsic_call("llvm.masked.gather", &types, &args)?;
        self.align(call, 0, align);
        let loaded = call.try_as_basic_value().basic().ok_or(BuilderError::NotSameType)?;
        Ok((loaded.into_vector_value(), loaded.as_instruction_value().into_iter().collect()))
    }

    /// Stores what lanes that are on have at their places.
    fn scattered(
        &self,
        value: VectorValue<'ctx>,
        places: VectorValue<'ctx>,
        lanes: VectorValue<'ctx>,
        align: u32,
        part: Part,
    ) -> Emitted<()> {
        let args = [value.into(), places.into(), lanes.into()];
        let types = [value.get_type().into(), places.get_type().into()];
        let call = self.around.emit.intrinsic_call("llvm.masked.scatter", &types, &args)?;
        self.align(call, 1, align);
        self.mark(call, part);
        Ok(())
    }

    /// The elements of each lane that it holds as one number.
    pub(super) fn elements_of(
        &self,
        ty: Type,
        together: u32,
        numbers: VectorValue<'ctx>,
    ) -> Emitted<Vec<VectorValue<'ctx>>> {
        let emit = self.around.emit;
        let width = self.wide.get();
        let flat = self.memory_vector(ty, together * width);
        let flat = emit.builder.build_bit_cast(numbers, flat, "")?.into_vector_value();
        let element = |index: u32| {
            let own: Vec<Option<u32>> = (0..width).map(|lane| Some(lane * together + index)).collect();
            self.narrow(ty, if together == 1 { flat } else { emit.shuffle(flat, flat, &own)? })
        };
        (0..together).map(element).collect()
    }

    #[expect(clippy::too_many_arguments, reason = "they are the parts of an access")]
    fn scatter(
        &self,
        (ptr, held): (Value, Held<'ctx>),
        space: Space,
        offset: i64,
        ty: Type,
        values: &[VectorValue<'ctx>],
        access: Access,
        mask: Option<Mask<'ctx>>,
    ) -> Emitted<()> {
        let emit = self.around.emit;
        let store = || {
            for (index, together) in together(ty, values.len(), WIDEST_NUMBER) {
                let number = number(ty, together);
                let value = self.as_numbers(ty, &values[index as usize..(index + together) as usize])?;
                let (bytes, align) = element_place(offset, ty, index, access);
                if let Some(near) = self.near_without(Direction::Store, number, (ptr, &held), bytes, mask)? {
                    self.each_near(&near, |lane, place| {
                        let value = emit.builder.build_extract_element(value, emit.const64(lane.into()), "")?;
                        let store = emit.builder.build_store(place, value)?;
                        store.set_alignment(align).map_err(|_| BuilderError::BitwidthError)?;
                        emit.scopes.mark(store, &[Part::Space(space)]);
                        Ok(())
                    })?;
                    continue;
                }
                let places = self.places_of_elements(&held, bytes)?;
                let (places, lanes) = self.where_to(Direction::Store, number.bytes() * 8, places, mask)?;
                self.scattered(value, places, lanes, align, Part::Space(space))?;
            }
            Ok(Vec::new())
        };
        self.guarded(mask.filter(|_| emit.target.slow_masked_stores), store)?;
        Ok(())
    }

    /// The reverse of `elements_of`.
    fn as_numbers(&self, ty: Type, elements: &[VectorValue<'ctx>]) -> Emitted<VectorValue<'ctx>> {
        let emit = self.around.emit;
        let (flat, width) = (self.one_behind_the_other(ty, elements)?, self.wide.get());
        let together = elements.len() as u32;
        if together == 1 {
            return Ok(flat);
        }
        let lane_by_lane = (0..together * width).map(|place| Some(place % together * width + place / together));
        let flat = emit.shuffle(flat, flat, &lane_by_lane.collect::<Vec<_>>())?;
        let numbers = self.memory_vector(number(ty, together), width);
        Ok(emit.builder.build_bit_cast(flat, numbers, "")?.into_vector_value())
    }

    /// The addresses of all lanes' elements, so many bytes on.
    pub(super) fn places_of_elements(&self, held: &Held<'ctx>, bytes: i64) -> Emitted<VectorValue<'ctx>> {
        let emit = self.around.emit;
        let places = self.spread(held)?;
        if bytes == 0 {
            return Ok(places);
        }
        Ok(emit.offsets(places.into(), emit.const64(bytes as u64).into(), false)?.into_vector_value())
    }

    /// Where all lanes' elements are, if all lanes access them one by one because the machine has no instruction, and they
    /// are near each other.
    fn near_without(
        &self,
        direction: Direction,
        number: Type,
        (ptr, held): (Value, &Held<'ctx>),
        bytes: i64,
        mask: Option<Mask<'ctx>>,
    ) -> Emitted<Option<Near<'ctx>>> {
        let extensions = &self.around.emit.target;
        let has_instruction = match direction {
            Direction::Load => extensions.gathers,
            Direction::Store => extensions.scatters,
        };
        let alone = mask.is_none() && matches!(held, Held::Vector(_)) && !(has_instruction && number.bytes() >= 4);
        if alone { self.near(ptr, bytes) } else { Ok(None) }
    }

    fn mark(&self, call: CallSiteValue<'ctx>, part: Part) {
        if let ValueKind::Instruction(call) = call.try_as_basic_value() {
            let call: InstructionValue = call;
            self.around.emit.scopes.mark(call, &[part]);
        }
    }
}

/// How many bytes on from the first element of a lane the n-th is, and its alignment.
fn element_place(offset: i64, ty: Type, index: u32, access: Access) -> (i64, u32) {
    let step = u64::from(index) * u64::from(ty.bytes());
    let align = access.align.max(1).min(1 << step.trailing_zeros().min(31));
    (offset.wrapping_add_unsigned(step), align)
}

/// The type of a number that holds some elements of a type; of one, its own.
fn number(ty: Type, elements: u32) -> Type {
    if elements == 1 { ty } else { Type::Int((8 * ty.bytes() * elements) as u16) }
}

/// The elements that a gather or scatter of `count` elements takes at once, up to so many bytes: the first, and how many.
fn together(ty: Type, count: usize, bytes: u32) -> Vec<(u32, u32)> {
    let (mut parts, mut index, count) = (Vec::new(), 0, count as u32);
    while index < count {
        let mut most = 1;
        while 2 * most <= count - index && 2 * most * ty.bytes() <= bytes {
            most *= 2;
        }
        parts.push((index, most));
        index += most;
    }
    parts
}
