//! Loads and stores of a gang, in the forms that the plan has decided on ([`AccessLowering`]): one scalar access, wide
//! accesses with shuffles, gathers and scatters. Nothing is decided here.

mod common_base;
mod in_bounds;
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
    fn lowering(&self, inst: Inst) -> Option<&AccessLowering> {
        self.plan.accesses.lowering_of(inst, self.gang.kind())
    }

    /// The mask of the lanes that make an access; none: all lanes.
    fn mask_of(&self, lowering: &AccessLowering) -> Emitted<Option<Mask<'ctx>>> {
        if lowering.mask == LaneMask::All { Ok(None) } else { self.block_mask() }
    }

    /// Emits a load. The values are in the forms that the plan says.
    pub(super) fn emit_load(&self, inst: Inst) -> Emitted<Vec<LaneValue<'ctx>>> {
        let emitter = self.around.emitter;
        let Some(lowering) = self.lowering(inst) else { return Ok(Vec::new()) };
        self.note_access(lowering);
        let access = &lowering.access;
        let (pointer, count) = (access.ptr, access.count as usize);
        let mask = self.mask_of(lowering)?;
        let lane_value = self.held_value(pointer)?;
        let one = |address: BasicValueEnum<'ctx>| {
            let address = address.into_pointer_value();
            emitter.load_elements(address, access.space, access.offset, access.ty, count, access.access)
        };
        let invariant = access.space == Space::Constant || emitter.scopes.is_invariant();
        let code = AccessCode { access, invariant };
        let vectors = match (&lowering.form, lane_value) {
            (AccessForm::Uniform(_), LaneValue::Affine(address, _)) => {
                let values = self.emit_guarded(mask, || one(address))?;
                return Ok(values.into_iter().map(|value| LaneValue::Affine(value, 0)).collect());
            }
            (&AccessForm::UniformRows { once }, LaneValue::Runs(bases, _)) => {
                return self.load_of_runs(&bases, mask, once, count, one);
            }
            (AccessForm::PerLane(_), _) => {
                self.each_lane(mask, &vec![access.ty; count], |lane| one(self.read_lane(pointer, lane)?))?
            }
            (AccessForm::Gang(form), lane_value) => self.load_lanes(code, form, &lane_value, mask)?,
            (AccessForm::Rows { once, row }, LaneValue::Runs(bases, stride)) => {
                self.load_runs(&bases, mask, *once, |base, mask| {
                    self.load_lanes(code, row, &LaneValue::Affine(base, stride), mask)
                })?
            }
            (AccessForm::Columns(wide), _) => {
                self.load_columns(&self.column_bases(pointer)?, |base| self.load_wide(code, wide, base, None))?
            }
            (&AccessForm::UnlessWraps { along, ref on_line, ref wrapped, .. }, _) => {
                let straight = self.straight(pointer, along)?;
                let form = UnlessWraps { along, on_line, wrapped };
                self.on_line_or_not(pointer, straight, |whereabouts| self.load_there(code, &form, whereabouts, mask))?
            }
            _ => return Err(CodegenError::Unexpected("a load whose address is not held as it was planned".into())),
        };
        Ok(vectors.into_iter().map(LaneValue::Vector).collect())
    }

    /// Loads the elements of lanes whose addresses are held like this.
    fn load_lanes(
        &self,
        code: AccessCode<'_>,
        form: &LanesForm,
        lane_value: &LaneValue<'ctx>,
        mask: Option<Mask<'ctx>>,
    ) -> Emitted<Vectors<'ctx>> {
        match (form, lane_value) {
            (LanesForm::Wide(wide), &LaneValue::Affine(first, _)) => self.load_wide(code, wide, first, mask),
            (LanesForm::Wide(_), _) => Err(CodegenError::Missing("address of the first lane for a wide access")),
            (LanesForm::Scattered { pieces, .. }, lane_value) => self.emit_gather(code, pieces, lane_value, mask),
        }
    }

    /// Loads the elements of lanes that turned out to be on a line, or not to be.
    fn load_there(
        &self,
        code: AccessCode<'_>,
        form: &UnlessWraps<'_>,
        whereabouts: Whereabouts<'ctx>,
        mask: Option<Mask<'ctx>>,
    ) -> Emitted<Vectors<'ctx>> {
        let firsts = match whereabouts {
            Whereabouts::Wrapped(places) => {
                return self.load_lanes(code, form.wrapped, &LaneValue::Vector(places), mask);
            }
            Whereabouts::OnLine(firsts) => firsts,
        };
        let load = |base, mask| self.load_wide(code, form.on_line, base, mask);
        match form.along {
            Along::Gang => load(firsts[0], mask),
            Along::Rows => self.load_runs(&firsts, mask, false, load),
            Along::Columns => self.load_columns(&firsts, |base| load(base, None)),
        }
    }

    /// Emits a store of values.
    pub(super) fn emit_store(&self, inst: Inst, arguments: &[Value]) -> Emitted<()> {
        let Some(lowering) = self.lowering(inst) else { return Ok(()) };
        self.note_access(lowering);
        let pointer = lowering.access.ptr;
        let mask = self.mask_of(lowering)?;
        let lane_value = self.held_value(pointer)?;
        match lowering.form {
            AccessForm::Uniform(lane) => {
                let stored = || match lane {
                    StoredLane::Any => Ok(self.around.emitter.const64(0)),
                    StoredLane::LastActive => self.last_lane(mask),
                };
                return self.emit_guarded(mask, || self.store_one(&lowering.access, arguments, stored()?)).map(drop);
            }
            AccessForm::PerLane(_) => {
                return self.each_lane(mask, &[], |lane| self.store_one(&lowering.access, arguments, lane)).map(drop);
            }
            _ => {}
        }
        let values = arguments.iter().map(|&argument| self.as_vector(argument)).collect::<Emitted<Vec<_>>>()?;
        let code = StoreCode { access: AccessCode { access: &lowering.access, invariant: false }, args: arguments };
        match (&lowering.form, lane_value) {
            (AccessForm::Gang(form), lane_value) => self.store_lanes(code, form, &lane_value, &values, mask).map(drop),
            (AccessForm::Rows { row, .. }, LaneValue::Runs(bases, stride)) => self
                .store_runs(&bases, &values, mask, |base, values, mask| {
                    self.store_lanes(code, row, &LaneValue::Affine(base, stride), values, mask)
                })
                .map(drop),
            (AccessForm::Columns(wide), _) => self
                .store_columns(&self.column_bases(pointer)?, values[0], |base, column| {
                    self.store_wide(code, wide, base, &[column], None)
                })
                .map(drop),
            (&AccessForm::UnlessWraps { along, ref on_line, ref wrapped, .. }, _) => {
                let straight = self.straight(pointer, along)?;
                let form = UnlessWraps { along, on_line, wrapped };
                let store = |whereabouts| self.store_there(code, &form, whereabouts, &values, mask);
                self.on_line_or_not(pointer, straight, store).map(drop)
            }
            _ => Err(CodegenError::Unexpected("a store whose address is not held as it was planned".into())),
        }
    }

    /// Stores the elements of lanes that turned out to be on a line, or not to be.
    fn store_there(
        &self,
        code: StoreCode<'_>,
        form: &UnlessWraps<'_>,
        whereabouts: Whereabouts<'ctx>,
        values: &[VectorValue<'ctx>],
        mask: Option<Mask<'ctx>>,
    ) -> Emitted<Vectors<'ctx>> {
        let firsts = match whereabouts {
            Whereabouts::Wrapped(places) => {
                return self.store_lanes(code, form.wrapped, &LaneValue::Vector(places), values, mask);
            }
            Whereabouts::OnLine(firsts) => firsts,
        };
        let store = |base, values: &[VectorValue<'ctx>], mask| self.store_wide(code, form.on_line, base, values, mask);
        match form.along {
            Along::Gang => store(firsts[0], values, mask),
            Along::Rows => self.store_runs(&firsts, values, mask, store),
            Along::Columns => self.store_columns(&firsts, values[0], |base, column| store(base, &[column], None)),
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
        code: StoreCode<'_>,
        form: &LanesForm,
        lane_value: &LaneValue<'ctx>,
        values: &[VectorValue<'ctx>],
        mask: Option<Mask<'ctx>>,
    ) -> Emitted<Vectors<'ctx>> {
        match (form, lane_value) {
            (LanesForm::Wide(wide), &LaneValue::Affine(first, _)) => self.store_wide(code, wide, first, values, mask),
            (LanesForm::Wide(_), _) => Err(CodegenError::Missing("address of the first lane for a wide access")),
            (LanesForm::Scattered { pieces, asks_any }, lane_value) => {
                let asked = mask.filter(|_| *asks_any);
                self.emit_guarded(asked, || self.emit_scatter(code.access, pieces, lane_value, values, mask))?;
                Ok(Vec::new())
            }
        }
    }

    /// The line on which an address's lanes lie unless an index wraps.
    fn straight(&self, pointer: Value, along: Along) -> Emitted<Straight<'_>> {
        let lines = match along {
            Along::Gang => &self.plan.accesses.lines,
            Along::Rows => &self.plan.accesses.row_lines,
            Along::Columns => &self.plan.accesses.column_lines,
        };
        let no_wrap_stride = lines[pointer].as_ref().ok_or(CodegenError::Missing("line of addresses"))?;
        Ok(Straight { line: no_wrap_stride, along })
    }
}

/// A store that is being emitted, and the values that it stores.
#[derive(Clone, Copy)]
struct StoreCode<'a> {
    access: AccessCode<'a>,
    args: &'a [Value],
}
