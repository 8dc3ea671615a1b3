//! Gangs that are tiles: several rows of work-items, in runs of lanes.
//!
//! What differs between rows and between lanes may still follow from one lane in each row. Such a value is a few scalars,
//! one per row, and an access at such an address one wide access per row, or a scalar one.

use super::VectorEmitter;
use super::lane_value::LaneValue;
use super::masks::Mask;
use crate::codegen::emit::Emitted;
use crate::codegen::error::CodegenError;
use inkwell::types::BasicTypeEnum;
use inkwell::values::{BasicValueEnum, VectorValue};
use lockstep_ir::ir::{Query, Value};

/// One scalar per row.
type Bases<'a, 'ctx> = &'a [BasicValueEnum<'ctx>];

/// Bits of half of the widest vector registers that there are.
const HALF_REGISTER_BITS: u32 = 256;

/// Bits of a scalar; 64 of an address.
fn bits_of(value: BasicValueEnum<'_>) -> u32 {
    match value.get_type() {
        BasicTypeEnum::IntType(int_type) => int_type.get_bit_width(),
        BasicTypeEnum::FloatType(float_type) => float_type.get_bit_width(),
        _ => 64,
    }
}

impl<'ctx> VectorEmitter<'_, 'ctx, '_> {
    /// A value by the first lane of each row, of which the last given one is that of all rows behind it as well.
    pub(super) fn value_by_row(
        &self,
        mut row_bases: Vec<BasicValueEnum<'ctx>>,
        stride: i64,
    ) -> Emitted<LaneValue<'ctx>> {
        let &last_base = row_bases.last().ok_or(CodegenError::Missing("row of the gang"))?;
        row_bases.resize(self.around.row_count() as usize, last_base);
        Ok(LaneValue::Runs(row_bases.into(), stride))
    }

    /// Lanes of a row.
    pub(super) fn row_length(&self) -> u32 {
        self.around.width() / self.around.row_count()
    }

    /// A value in the first lane of a row.
    pub(super) fn in_run(&self, operand: Value, run_index: u32) -> Emitted<BasicValueEnum<'ctx>> {
        let emitter = self.around.emitter;
        let first_lane = u64::from(run_index * self.row_length());
        match self.held_value(operand)? {
            LaneValue::Affine(base_value, 0) => Ok(base_value),
            LaneValue::Affine(base_value, stride) => {
                emitter.add_bytes(base_value, emitter.const64(first_lane.wrapping_mul(stride as u64)))
            }
            LaneValue::Runs(bases, _) => Ok(bases[run_index as usize]),
            LaneValue::Vector(vector) => {
                Ok(emitter.builder.build_extract_element(vector, emitter.const64(first_lane), "")?)
            }
        }
    }

    /// A value of one scalar per row as a vector.
    pub(super) fn spread_runs(&self, row_bases: Bases<'_, 'ctx>, stride: i64) -> Emitted<VectorValue<'ctx>> {
        let emitter = self.around.emitter;
        let row_length = self.row_length();
        if let (0, true) = (stride, row_length * bits_of(row_bases[0]) == HALF_REGISTER_BITS) {
            let pairs = row_bases.chunks(2).map(|bases| self.spread_two_rows(bases[0], bases[bases.len() - 1]));
            return emitter.concat_vectors(&pairs.collect::<Emitted<Vec<_>>>()?, self.around.width());
        }
        let spread_row =
            |base_value: &BasicValueEnum<'ctx>| emitter.materialize_affine(*base_value, stride, row_length);
        let row_vectors = row_bases.iter().map(spread_row).collect::<Emitted<Vec<_>>>()?;
        emitter.concat_vectors(&row_vectors, self.around.width())
    }

    /// The values of two rows in all their lanes. Both are spread to the lanes of both rows first: of two vectors of half as many lanes, one behind
    /// the other, LLVM makes three shuffles of registers of 512 bits, and one of this.
    fn spread_two_rows(
        &self,
        first_row: BasicValueEnum<'ctx>,
        second_row: BasicValueEnum<'ctx>,
    ) -> Emitted<VectorValue<'ctx>> {
        let emitter = self.around.emitter;
        let row_length = self.row_length();
        let [first_vector, second_vector] = [first_row, second_row].map(|row| emitter.splat(row, 2 * row_length));
        let lane_sources: Vec<Option<u32>> = (0..row_length).chain(3 * row_length..4 * row_length).map(Some).collect();
        emitter.shuffle_vectors(first_vector?, second_vector?, &lane_sources)
    }

    /// Whether a query tells the place of a work-item in its tile.
    pub(super) fn is_in_tile(&self, query: Query, dimension: u8) -> bool {
        self.around.widening.run.is_some() && dimension < 2 && matches!(query, Query::GlobalId | Query::LocalId)
    }

    /// The answers to such a query.
    pub(super) fn place_in_tile(&self, query: Query, dimension: u8) -> Emitted<LaneValue<'ctx>> {
        let emitter = self.around.emitter;
        let first_item = if query == Query::LocalId { self.gang.first.local } else { self.gang.first.global };
        if dimension == 0 {
            return self.value_by_row(vec![first_item[0].into()], 1);
        }
        // Ids may wrap: the offset is any number.
        let row_place = |run_index: u32| {
            Ok(emitter.builder.build_int_add(first_item[1], emitter.const64(run_index.into()), "")?.into())
        };
        self.value_by_row((0..self.around.row_count()).map(row_place).collect::<Emitted<_>>()?, 0)
    }

    /// One scalar load per row, or one for all; its values.
    pub(super) fn load_of_runs(
        &self,
        row_bases: Bases<'_, 'ctx>,
        mask: Option<Mask<'ctx>>,
        is_once: bool,
        element_count: usize,
        load_one: impl Fn(BasicValueEnum<'ctx>) -> Emitted<Vec<BasicValueEnum<'ctx>>>,
    ) -> Emitted<Vec<LaneValue<'ctx>>> {
        let mut loaded_rows = Vec::new();
        for run in 0..if is_once { 1 } else { self.around.row_count() } {
            loaded_rows.push(self.emit_guarded(self.run_mask(mask, run)?, || load_one(row_bases[run as usize]))?);
        }
        let element =
            |index: usize| self.value_by_row(loaded_rows.iter().map(|loaded_row| loaded_row[index]).collect(), 0);
        (0..element_count).map(element).collect()
    }

    /// Loads the vectors of each row, or of one for all, and puts them together.
    pub(super) fn load_runs(
        &self,
        row_bases: Bases<'_, 'ctx>,
        mask: Option<Mask<'ctx>>,
        is_once: bool,
        load_row: impl Fn(BasicValueEnum<'ctx>, Option<Mask<'ctx>>) -> Emitted<Vec<VectorValue<'ctx>>>,
    ) -> Emitted<Vec<VectorValue<'ctx>>> {
        let mut loaded_rows: Vec<Vec<VectorValue<'ctx>>> = Vec::new();
        for run in 0..self.around.row_count() {
            let base_value = row_bases[run as usize];
            match loaded_rows.last() {
                Some(last) if is_once => loaded_rows.push(last.clone()),
                _ => {
                    let mask = self.run_mask(mask, run)?;
                    loaded_rows.push(self.of_lanes(self.row_length(), || load_row(base_value, mask))?);
                }
            }
        }
        let element_count = loaded_rows.first().map_or(0, Vec::len);
        let element = |index: usize| {
            let part_vectors: Vec<VectorValue> = loaded_rows.iter().map(|loaded_row| loaded_row[index]).collect();
            self.around.emitter.concat_vectors(&part_vectors, self.around.width())
        };
        (0..element_count).map(element).collect()
    }

    /// Stores the lanes of each row.
    pub(super) fn store_runs(
        &self,
        row_bases: Bases<'_, 'ctx>,
        values: &[VectorValue<'ctx>],
        mask: Option<Mask<'ctx>>,
        store_row: impl Fn(
            BasicValueEnum<'ctx>,
            &[VectorValue<'ctx>],
            Option<Mask<'ctx>>,
        ) -> Emitted<Vec<VectorValue<'ctx>>>,
    ) -> Emitted<Vec<VectorValue<'ctx>>> {
        for run in 0..self.around.row_count() {
            let mask = self.run_mask(mask, run)?;
            let row_values = values.iter().map(|&value| self.lanes_of(value, run)).collect::<Emitted<Vec<_>>>()?;
            self.of_lanes(self.row_length(), || store_row(row_bases[run as usize], &row_values, mask))?;
        }
        Ok(Vec::new())
    }

    /// What is emitted for vectors of so many lanes: those of a row or column.
    pub(super) fn of_lanes<T>(&self, lane_count: u32, emit_lanes: impl FnOnce() -> T) -> T {
        self.wide.set(lane_count);
        let result = emit_lanes();
        self.wide.set(self.around.width());
        result
    }

    /// The lanes of one row.
    pub(super) fn lanes_of(&self, all_lanes: VectorValue<'ctx>, run_index: u32) -> Emitted<VectorValue<'ctx>> {
        let lane_indices: Vec<Option<u32>> =
            (run_index * self.row_length()..(run_index + 1) * self.row_length()).map(Some).collect();
        self.around.emitter.shuffle_vectors(all_lanes, all_lanes, &lane_indices)
    }

    fn run_mask(&self, mask: Option<Mask<'ctx>>, run_index: u32) -> Emitted<Option<Mask<'ctx>>> {
        let mask_of_run =
            |mask: Mask<'ctx>| Ok(Mask { lanes: self.lanes_of(mask.lanes, run_index)?, may_be_empty: true });
        mask.map(mask_of_run).transpose()
    }
}
