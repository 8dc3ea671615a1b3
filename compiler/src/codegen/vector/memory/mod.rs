//! Loads and stores of a gang, in the forms that the plan has decided on ([`AccessLowering`]): one scalar access, wide
//! accesses with shuffles, gathers and scatters. Nothing is decided here.

mod common_base;
mod in_bounds;
mod lane_numbers;
mod lines;
mod live;
mod masked_loads;
mod past_caches;
mod redirect;
mod scattered;
mod tile_column_access;
mod wide;
mod wide_load_transpose;

pub(super) use wide::WideCode;

use super::VectorEmitter;
use super::lane_value::LaneValue;
use super::masks::Mask;
use crate::codegen::emit::Emitted;
use crate::codegen::error::CodegenError;
use inkwell::values::{BasicValueEnum, IntValue, VectorValue};
use lines::{Straight, Whereabouts};
use lockstep_ir::ir::{Inst, Value};
use lockstep_ir::plan::access_lowering::{
    AccessForm, AccessLowering, Along, LaneMask, LanesForm, MemoryAccess, StoredLane, WideAccess,
};
use lockstep_protocol::types::Space;

/// The vectors of all lanes' elements; of a store, none.
type Vectors<'ctx> = Vec<VectorValue<'ctx>>;

/// An access that is being emitted.
#[derive(Clone, Copy)]
struct AccessCode<'a> {
    access: &'a MemoryAccess,
    /// Whether what it reads does not change.
    invariant: bool,
}

/// [`AccessForm::UnlessWraps`].
#[derive(Clone, Copy)]
struct UnlessWraps<'a> {
    along: Along,
    on_line: &'a WideAccess,
    wrapped: &'a LanesForm,
}

impl<'ctx> VectorEmitter<'_, 'ctx, '_> {
    /// How the gang that is emitted makes an access; none for one of no elements.
    fn lowering(&self, instruction: Inst) -> Option<&AccessLowering> {
        self.plan.accesses.lowering_of(instruction, self.gang.kind())
    }

    /// The mask of the lanes that make an access; none: all lanes.
    fn mask_of(&self, lowering: &AccessLowering) -> Emitted<Option<Mask<'ctx>>> {
        if lowering.mask == LaneMask::All { Ok(None) } else { self.block_mask() }
    }

    /// Emits a load. The values are in the forms that the plan says.
    pub(super) fn emit_load(&self, instruction: Inst) -> Emitted<Vec<LaneValue<'ctx>>> {
        let emitter = self.around.emitter;
        let Some(lowering) = self.lowering(instruction) else { return Ok(Vec::new()) };
        self.note_access(lowering);
        let access = &lowering.access;
        let (pointer, element_count) = (access.ptr, access.count as usize);
        let mask = self.mask_of(lowering)?;
        let lane_value = self.held_value(pointer)?;
        let load_one = |address: BasicValueEnum<'ctx>| {
            let address = address.into_pointer_value();
            emitter.load_elements(address, access.space, access.offset, access.ty, element_count, access.access)
        };
        let invariant = access.space == Space::Constant || emitter.scopes.is_invariant();
        let access_code = AccessCode { access, invariant };
        let vectors = match (&lowering.form, lane_value) {
            (AccessForm::Uniform(_), LaneValue::Affine(address, _)) => {
                let values = self.emit_guarded(mask, || load_one(address))?;
                return Ok(values.into_iter().map(|value| LaneValue::Affine(value, 0)).collect());
            }
            (&AccessForm::UniformRows { once }, LaneValue::Runs(bases, _)) => {
                return self.load_of_runs(&bases, mask, once, element_count, load_one);
            }
            (AccessForm::PerLane(_), _) => {
                self.each_lane(mask, &vec![access.ty; element_count], |lane| load_one(self.read_lane(pointer, lane)?))?
            }
            (AccessForm::Gang(form), lane_value) => {
                if let (LanesForm::Wide(wide_access), &LaneValue::Affine(first, _)) = (form, &lane_value)
                    && wide_access.transposed
                    && wide_access.is_dense()
                {
                    let row = self.load_in_memory_order(access_code, wide_access, first)?;
                    self.loaded_rows.borrow_mut()[instruction] = Some(row);
                }
                self.load_lanes(access_code, form, &lane_value, mask)?
            }
            (AccessForm::Rows { once, row }, LaneValue::Runs(bases, stride)) => {
                self.load_runs(&bases, mask, *once, |base_value, mask| {
                    self.load_lanes(access_code, row, &LaneValue::Affine(base_value, stride), mask)
                })?
            }
            (AccessForm::Columns(wide_access), _) => self.load_columns(&self.column_bases(pointer)?, |base_value| {
                self.load_wide(access_code, wide_access, base_value, None)
            })?,
            (&AccessForm::UnlessWraps { along, ref on_line, ref wrapped, .. }, _) => {
                let straight = self.straight(pointer, along)?;
                let form = UnlessWraps { along, on_line, wrapped };
                self.on_line_or_not(pointer, straight, |whereabouts| {
                    self.load_there(access_code, &form, whereabouts, mask)
                })?
            }
            _ => return Err(CodegenError::Unexpected("a load whose address is not held as it was planned".into())),
        };
        Ok(vectors.into_iter().map(LaneValue::Vector).collect())
    }

    /// Loads the elements of lanes whose addresses are held like this.
    fn load_lanes(
        &self,
        access_code: AccessCode<'_>,
        lanes_form: &LanesForm,
        lane_value: &LaneValue<'ctx>,
        mask: Option<Mask<'ctx>>,
    ) -> Emitted<Vectors<'ctx>> {
        match (lanes_form, lane_value) {
            (LanesForm::Wide(wide_access), &LaneValue::Affine(first, _)) => {
                self.load_wide(access_code, wide_access, first, mask)
            }
            (LanesForm::Wide(_), _) => Err(CodegenError::Missing("address of the first lane for a wide access")),
            (LanesForm::Scattered { pieces, .. }, lane_value) => {
                self.emit_gather(access_code, pieces, lane_value, mask)
            }
        }
    }

    /// Loads the elements of lanes that turned out to be on a line, or not to be.
    fn load_there(
        &self,
        access_code: AccessCode<'_>,
        unless_wraps: &UnlessWraps<'_>,
        whereabouts: Whereabouts<'ctx>,
        mask: Option<Mask<'ctx>>,
    ) -> Emitted<Vectors<'ctx>> {
        let line_starts = match whereabouts {
            Whereabouts::Wrapped(places) => {
                return self.load_lanes(access_code, unless_wraps.wrapped, &LaneValue::Vector(places), mask);
            }
            Whereabouts::OnLine(line_starts) => line_starts,
        };
        let load_line = |base_value, mask| self.load_wide(access_code, unless_wraps.on_line, base_value, mask);
        match unless_wraps.along {
            Along::Gang => load_line(line_starts[0], mask),
            Along::Rows => self.load_runs(&line_starts, mask, false, load_line),
            Along::Columns => self.load_columns(&line_starts, |base_value| load_line(base_value, None)),
        }
    }

    /// Emits a store of values.
    pub(super) fn emit_store(&self, instruction: Inst, arguments: &[Value]) -> Emitted<()> {
        let Some(lowering) = self.lowering(instruction) else { return Ok(()) };
        self.note_access(lowering);
        let pointer = lowering.access.ptr;
        let mask = self.mask_of(lowering)?;
        let lane_value = self.held_value(pointer)?;
        match lowering.form {
            AccessForm::Uniform(lane) => {
                let stored_lane = || match lane {
                    StoredLane::Any => Ok(self.around.emitter.const64(0)),
                    StoredLane::LastActive => self.last_lane(mask),
                };
                return self
                    .emit_guarded(mask, || self.store_one(&lowering.access, arguments, stored_lane()?))
                    .map(drop);
            }
            AccessForm::PerLane(_) => {
                return self.each_lane(mask, &[], |lane| self.store_one(&lowering.access, arguments, lane)).map(drop);
            }
            _ => {}
        }
        let values = arguments.iter().map(|&argument| self.as_vector(argument)).collect::<Emitted<Vec<_>>>()?;
        let store_code =
            StoreCode { access: AccessCode { access: &lowering.access, invariant: false }, args: arguments };
        match (&lowering.form, lane_value) {
            (AccessForm::Gang(form), lane_value) => {
                self.store_lanes(store_code, form, &lane_value, &values, mask).map(drop)
            }
            (AccessForm::Rows { row, .. }, LaneValue::Runs(bases, stride)) => self
                .store_runs(&bases, &values, mask, |base_value, values, mask| {
                    self.store_lanes(store_code, row, &LaneValue::Affine(base_value, stride), values, mask)
                })
                .map(drop),
            (AccessForm::Columns(wide_access), _) => self
                .store_columns(&self.column_bases(pointer)?, values[0], |base_value, column_values| {
                    self.store_wide(store_code, wide_access, base_value, &[column_values], None)
                })
                .map(drop),
            (&AccessForm::UnlessWraps { along, ref on_line, ref wrapped, .. }, _) => {
                let straight = self.straight(pointer, along)?;
                let form = UnlessWraps { along, on_line, wrapped };
                let store = |whereabouts| self.store_there(store_code, &form, whereabouts, &values, mask);
                self.on_line_or_not(pointer, straight, store).map(drop)
            }
            _ => Err(CodegenError::Unexpected("a store whose address is not held as it was planned".into())),
        }
    }

    /// Stores the elements of lanes that turned out to be on a line, or not to be.
    fn store_there(
        &self,
        store_code: StoreCode<'_>,
        unless_wraps: &UnlessWraps<'_>,
        whereabouts: Whereabouts<'ctx>,
        values: &[VectorValue<'ctx>],
        mask: Option<Mask<'ctx>>,
    ) -> Emitted<Vectors<'ctx>> {
        let line_starts = match whereabouts {
            Whereabouts::Wrapped(places) => {
                return self.store_lanes(store_code, unless_wraps.wrapped, &LaneValue::Vector(places), values, mask);
            }
            Whereabouts::OnLine(line_starts) => line_starts,
        };
        let store_line = |base_value, values: &[VectorValue<'ctx>], mask| {
            self.store_wide(store_code, unless_wraps.on_line, base_value, values, mask)
        };
        match unless_wraps.along {
            Along::Gang => store_line(line_starts[0], values, mask),
            Along::Rows => self.store_runs(&line_starts, values, mask, store_line),
            Along::Columns => self
                .store_columns(&line_starts, values[0], |base_value, column| store_line(base_value, &[column], None)),
        }
    }

    /// Stores the elements of one lane.
    fn store_one(
        &self,
        access: &MemoryAccess,
        arguments: &[Value],
        lane: IntValue<'ctx>,
    ) -> Emitted<Vec<BasicValueEnum<'ctx>>> {
        let values = arguments.iter().map(|&argument| self.read_lane(argument, lane)).collect::<Emitted<Vec<_>>>()?;
        let address = self.read_lane(access.ptr, lane)?.into_pointer_value();
        let emitter = self.around.emitter;
        emitter.store_elements(address, access.space, access.offset, access.ty, &values, access.access)?;
        Ok(Vec::new())
    }

    /// Stores the elements of lanes whose addresses are held like this.
    fn store_lanes(
        &self,
        store_code: StoreCode<'_>,
        lanes_form: &LanesForm,
        lane_value: &LaneValue<'ctx>,
        values: &[VectorValue<'ctx>],
        mask: Option<Mask<'ctx>>,
    ) -> Emitted<Vectors<'ctx>> {
        match (lanes_form, lane_value) {
            (LanesForm::Wide(wide_access), &LaneValue::Affine(first, _)) => {
                self.store_wide(store_code, wide_access, first, values, mask)
            }
            (LanesForm::Wide(_), _) => Err(CodegenError::Missing("address of the first lane for a wide access")),
            (LanesForm::Scattered { pieces, asks_any }, lane_value) => {
                let lane_mask = mask.filter(|_| *asks_any);
                self.emit_guarded(lane_mask, || {
                    self.emit_scatter(store_code.access, pieces, lane_value, values, mask)
                })?;
                Ok(Vec::new())
            }
        }
    }

    /// The line on which an address's lanes lie unless an index wraps.
    fn straight(&self, pointer: Value, along: Along) -> Emitted<Straight<'_>> {
        let no_wrap_strides = match along {
            Along::Gang => &self.plan.accesses.lines,
            Along::Rows => &self.plan.accesses.row_lines,
            Along::Columns => &self.plan.accesses.column_lines,
        };
        let no_wrap_stride = no_wrap_strides[pointer].as_ref().ok_or(CodegenError::Missing("line of addresses"))?;
        Ok(Straight { line: no_wrap_stride, along })
    }
}

/// A store that is being emitted, and the values that it stores.
#[derive(Clone, Copy)]
struct StoreCode<'a> {
    access: AccessCode<'a>,
    args: &'a [Value],
}
