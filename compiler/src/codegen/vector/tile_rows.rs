//! Gangs that are tiles: several rows of work-items, in runs of lanes.
//!
//! What differs between rows and between lanes may still follow from one lane in each row. Such a value is a few scalars,
//! one per row, and an access at such an address one wide access per row, or a scalar one.

use super::VectorEmitter;
use super::lane_value::LaneValue;
use super::masks::Mask;
use crate::codegen::emit::Emitted;
use crate::codegen::error::CodegenError;
use inkwell::values::{BasicValueEnum, VectorValue};
use lockstep_ir::ir::{Query, Value};

/// One scalar per row.
type Bases<'a, 'ctx> = &'a [BasicValueEnum<'ctx>];

impl<'ctx> VectorEmitter<'_, 'ctx, '_> {
    /// A value by the first lane of each row, of which the last given one is that of all rows behind it as well.
    pub(super) fn value_by_row(&self, mut bases: Vec<BasicValueEnum<'ctx>>, stride: i64) -> Emitted<LaneValue<'ctx>> {
        let &last = bases.last().ok_or(CodegenError::Missing("row of the gang"))?;
        bases.resize(self.around.row_count() as usize, last);
        Ok(LaneValue::Runs(bases.into(), stride))
    }

    /// Lanes of a row.
    pub(super) fn row_length(&self) -> u32 {
        self.around.width() / self.around.row_count()
    }

    /// A value in the first lane of a row.
    pub(super) fn in_run(&self, value: Value, run: u32) -> Emitted<BasicValueEnum<'ctx>> {
        let emitter = self.around.emitter;
        let lane = u64::from(run * self.row_length());
        match self.held_value(value)? {
            LaneValue::Affine(base, 0) => Ok(base),
            LaneValue::Affine(base, stride) => {
                emitter.add_bytes(base, emitter.const64(lane.wrapping_mul(stride as u64)))
            }
            LaneValue::Runs(bases, _) => Ok(bases[run as usize]),
            LaneValue::Vector(vector) => {
                Ok(emitter.builder.build_extract_element(vector, emitter.const64(lane), "")?)
            }
        }
    }

    /// A value of one scalar per row as a vector.
    pub(super) fn spread_runs(&self, bases: Bases<'_, 'ctx>, stride: i64) -> Emitted<VectorValue<'ctx>> {
        let emitter = self.around.emitter;
        let row = |run: u32| emitter.materialize_affine(bases[run as usize], stride, self.row_length());
        let rows = (0..self.around.row_count()).map(row).collect::<Emitted<Vec<_>>>()?;
        emitter.concat_vectors(&rows, self.around.width())
    }

    /// Whether a query tells the place of a work-item in its tile.
    pub(super) fn is_in_tile(&self, query: Query, dimension: u8) -> bool {
        self.around.widening.run.is_some() && dimension < 2 && matches!(query, Query::GlobalId | Query::LocalId)
    }

    /// The answers to such a query.
    pub(super) fn place_in_tile(&self, query: Query, dimension: u8) -> Emitted<LaneValue<'ctx>> {
        let emitter = self.around.emitter;
        let first = if query == Query::LocalId { self.gang.first.local } else { self.gang.first.global };
        if dimension == 0 {
            return self.value_by_row(vec![first[0].into()], 1);
        }
        // Ids may wrap: the offset is any number.
        let row = |run: u32| Ok(emitter.builder.build_int_add(first[1], emitter.const64(run.into()), "")?.into());
        self.value_by_row((0..self.around.row_count()).map(row).collect::<Emitted<_>>()?, 0)
    }

    /// One scalar load per row, or one for all; its values.
    pub(super) fn load_of_runs(
        &self,
        bases: Bases<'_, 'ctx>,
        mask: Option<Mask<'ctx>>,
        once: bool,
        count: usize,
        one: impl Fn(BasicValueEnum<'ctx>) -> Emitted<Vec<BasicValueEnum<'ctx>>>,
    ) -> Emitted<Vec<LaneValue<'ctx>>> {
        let mut rows = Vec::new();
        for run in 0..if once { 1 } else { self.around.row_count() } {
            rows.push(self.emit_guarded(self.run_mask(mask, run)?, || one(bases[run as usize]))?);
        }
        let element = |index: usize| self.value_by_row(rows.iter().map(|row| row[index]).collect(), 0);
        (0..count).map(element).collect()
    }

    /// Loads the vectors of each row, or of one for all, and puts them together.
    pub(super) fn load_runs(
        &self,
        bases: Bases<'_, 'ctx>,
        mask: Option<Mask<'ctx>>,
        once: bool,
        load: impl Fn(BasicValueEnum<'ctx>, Option<Mask<'ctx>>) -> Emitted<Vec<VectorValue<'ctx>>>,
    ) -> Emitted<Vec<VectorValue<'ctx>>> {
        let mut rows: Vec<Vec<VectorValue<'ctx>>> = Vec::new();
        for run in 0..self.around.row_count() {
            let base = bases[run as usize];
            match rows.last() {
                Some(last) if once => rows.push(last.clone()),
                _ => {
                    let mask = self.run_mask(mask, run)?;
                    rows.push(self.of_lanes(self.row_length(), || load(base, mask))?);
                }
            }
        }
        let count = rows.first().map_or(0, Vec::len);
        let element = |index: usize| {
            let parts: Vec<VectorValue> = rows.iter().map(|row| row[index]).collect();
            self.around.emitter.concat_vectors(&parts, self.around.width())
        };
        (0..count).map(element).collect()
    }

    /// Stores the lanes of each row.
    pub(super) fn store_runs(
        &self,
        bases: Bases<'_, 'ctx>,
        values: &[VectorValue<'ctx>],
        mask: Option<Mask<'ctx>>,
        store: impl Fn(BasicValueEnum<'ctx>, &[VectorValue<'ctx>], Option<Mask<'ctx>>) -> Emitted<Vec<VectorValue<'ctx>>>,
    ) -> Emitted<Vec<VectorValue<'ctx>>> {
        for run in 0..self.around.row_count() {
            let mask = self.run_mask(mask, run)?;
            let own = values.iter().map(|&value| self.lanes_of(value, run)).collect::<Emitted<Vec<_>>>()?;
            self.of_lanes(self.row_length(), || store(bases[run as usize], &own, mask))?;
        }
        Ok(Vec::new())
    }

    /// What is emitted for vectors of so many lanes: those of a row or column.
    pub(super) fn of_lanes<T>(&self, lanes: u32, work: impl FnOnce() -> T) -> T {
        self.wide.set(lanes);
        let done = work();
        self.wide.set(self.around.width());
        done
    }

    /// The lanes of one row.
    pub(super) fn lanes_of(&self, vector: VectorValue<'ctx>, run: u32) -> Emitted<VectorValue<'ctx>> {
        let lanes: Vec<Option<u32>> = (run * self.row_length()..(run + 1) * self.row_length()).map(Some).collect();
        self.around.emitter.shuffle_vectors(vector, vector, &lanes)
    }

    fn run_mask(&self, mask: Option<Mask<'ctx>>, run: u32) -> Emitted<Option<Mask<'ctx>>> {
        let own = |mask: Mask<'ctx>| Ok(Mask { lanes: self.lanes_of(mask.lanes, run)?, may_be_empty: true });
        mask.map(own).transpose()
    }
}
