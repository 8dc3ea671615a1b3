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
        let first = |column| Ok(self.lane_address(pointer, self.around.emitter.const64(column))?.into());
        (0..u64::from(self.row_length())).map(first).collect()
    }

    /// Loads the vector of each column and puts their lanes where they belong.
    pub(super) fn load_columns(
        &self,
        bases: &[BasicValueEnum<'ctx>],
        load: impl Fn(BasicValueEnum<'ctx>) -> Emitted<Vec<VectorValue<'ctx>>>,
    ) -> Emitted<Vec<VectorValue<'ctx>>> {
        let columns = bases.iter().map(|&base| self.of_lanes(self.around.row_count(), || load(base)));
        let columns = columns.collect::<Emitted<Vec<_>>>()?.concat();
        let emitter = self.around.emitter;
        Ok(vec![
            emitter.concat_vectors(&emitter.transpose_rows(columns, self.around.row_count())?, self.around.width())?,
        ])
    }

    /// Stores the lanes of each column.
    pub(super) fn store_columns(
        &self,
        bases: &[BasicValueEnum<'ctx>],
        value: VectorValue<'ctx>,
        store: impl Fn(BasicValueEnum<'ctx>, VectorValue<'ctx>) -> Emitted<Vec<VectorValue<'ctx>>>,
    ) -> Emitted<Vec<VectorValue<'ctx>>> {
        let emitter = self.around.emitter;
        let rows = (0..self.around.row_count()).map(|run| self.lanes_of(value, run)).collect::<Emitted<Vec<_>>>()?;
        let all = emitter.concat_vectors(&emitter.transpose_rows(rows, self.row_length())?, self.around.width())?;
        for (&base, column) in bases.iter().zip(0..) {
            let own: Vec<Option<u32>> =
                (0..self.around.row_count()).map(|lane| Some(column * self.around.row_count() + lane)).collect();
            let own = emitter.shuffle_vectors(all, all, &own)?;
            self.of_lanes(self.around.row_count(), || store(base, own))?;
        }
        Ok(Vec::new())
    }
}

impl<'ctx> Emitter<'ctx, '_> {
    /// The elements of the rows of a matrix, those of a column one behind the other, in as many vectors of the same
    /// length: in each part of `part` elements by itself. Each step interleaves the first half of all elements with the
    /// second, so that the last digit of a row's number becomes the first of a place in the column; every vector of it
    /// is made of two.
    pub(super) fn transpose_rows(
        &self,
        mut rows: Vec<VectorValue<'ctx>>,
        part: u32,
    ) -> Emitted<Vec<VectorValue<'ctx>>> {
        let (count, lanes) = (rows.len(), rows[0].get_type().get_size());
        for _ in 0..count.ilog2() {
            let mut next = Vec::new();
            for (&left, &right) in rows.iter().zip(&rows[count / 2..]) {
                for half in [0, part / 2] {
                    let place = |lane: u32| Some(lane / part * part + half + lane % part / 2 + lane % 2 * lanes);
                    next.push(self.shuffle_vectors(left, right, &(0..lanes).map(place).collect::<Vec<_>>())?);
                }
            }
            rows = next;
        }
        Ok(rows)
    }
}
