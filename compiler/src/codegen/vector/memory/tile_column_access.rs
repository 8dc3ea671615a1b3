//! Accesses of a tile whose columns lie side by side in memory, although its rows' lanes are far apart: what a kernel
//! does that transposes.
//!
//! The lanes of each column are one wide access, and the tile is transposed in registers: where scatters write one
//! element of as many cache lines as a gang has lanes, each column is a piece of one line.

use super::super::VectorEmitter;
use crate::codegen::emit::{Emitted, Emitter};
use inkwell::values::{BasicValueEnum, VectorValue};
use lockstep_ir::ir::Value;

impl<'ctx> VectorEmitter<'_, 'ctx, '_> {
    /// The addresses of the first lane of each column.
    pub(super) fn column_bases(&self, pointer: Value) -> Emitted<Vec<BasicValueEnum<'ctx>>> {
        let row_start =
            |column_index| Ok(self.lane_address(pointer, self.around.emitter.const64(column_index))?.into());
        (0..u64::from(self.row_length())).map(row_start).collect()
    }

    /// Loads the vector of each column and puts their lanes where they belong.
    pub(super) fn load_columns(
        &self,
        row_bases: &[BasicValueEnum<'ctx>],
        load_row: impl Fn(BasicValueEnum<'ctx>) -> Emitted<Vec<VectorValue<'ctx>>>,
    ) -> Emitted<Vec<VectorValue<'ctx>>> {
        let columns = row_bases.iter().map(|&row_base| self.of_lanes(self.around.row_count(), || load_row(row_base)));
        let columns = columns.collect::<Emitted<Vec<_>>>()?.concat();
        let emitter = self.around.emitter;
        Ok(vec![
            emitter.concat_vectors(&emitter.transpose_rows(columns, self.around.row_count())?, self.around.width())?,
        ])
    }

    /// Stores the lanes of each column.
    pub(super) fn store_columns(
        &self,
        row_bases: &[BasicValueEnum<'ctx>],
        value: VectorValue<'ctx>,
        store_row: impl Fn(BasicValueEnum<'ctx>, VectorValue<'ctx>) -> Emitted<Vec<VectorValue<'ctx>>>,
    ) -> Emitted<Vec<VectorValue<'ctx>>> {
        let emitter = self.around.emitter;
        let row_vectors = (0..self.around.row_count())
            .map(|run_index| self.lanes_of(value, run_index))
            .collect::<Emitted<Vec<_>>>()?;
        let all_rows =
            emitter.concat_vectors(&emitter.transpose_rows(row_vectors, self.row_length())?, self.around.width())?;
        for (&base_value, column) in row_bases.iter().zip(0..) {
            let lane_indices: Vec<Option<u32>> =
                (0..self.around.row_count()).map(|lane| Some(column * self.around.row_count() + lane)).collect();
            let own_row = emitter.shuffle_vectors(all_rows, all_rows, &lane_indices)?;
            self.of_lanes(self.around.row_count(), || store_row(base_value, own_row))?;
        }
        Ok(Vec::new())
    }
}

impl<'ctx> Emitter<'ctx, '_> {
    /// The elements of the rows of a matrix, those of a column one behind the other, in as many vectors of the same
    /// length: in each part of `part_lanes` elements by itself. Each step interleaves the first half of all elements with the
    /// second, so that the last digit of a row's number becomes the first of a place in the column; every vector of it
    /// is made of two.
    pub(super) fn transpose_rows(
        &self,
        mut rows: Vec<VectorValue<'ctx>>,
        part_lanes: u32,
    ) -> Emitted<Vec<VectorValue<'ctx>>> {
        let (element_count, lane_count) = (rows.len(), rows[0].get_type().get_size());
        for _ in 0..element_count.ilog2() {
            let mut next_rows = Vec::new();
            for (&left, &right) in rows.iter().zip(&rows[element_count / 2..]) {
                for half in [0, part_lanes / 2] {
                    let source_lane = |lane: u32| {
                        Some(lane / part_lanes * part_lanes + half + lane % part_lanes / 2 + lane % 2 * lane_count)
                    };
                    next_rows.push(self.shuffle_vectors(
                        left,
                        right,
                        &(0..lane_count).map(source_lane).collect::<Vec<_>>(),
                    )?);
                }
            }
            rows = next_rows;
        }
        Ok(rows)
    }
}
