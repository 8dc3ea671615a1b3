//! Random accesses to a few neighbouring words of the item's own, in any order and of several types.

use super::kernels::Generator;
use crate::ir::*;
use lockstep_protocol::types::Type;

impl Generator {
    /// Reads or writes some words of the item's row, perhaps a word twice, perhaps another memory between.
    pub(super) fn access_neighbours(&mut self) {
        let word_count = self.row_words as usize;
        let turn = self.random.below(word_count);
        let read_count = 2 + self.random.below(word_count);
        let step = if word_count == 3 { self.random.pick(&[1, 2]) } else { self.random.pick(&[1, 3]) };
        let places: Vec<usize> = (0..read_count).map(|index| (turn + step * index) % word_count).collect();
        if self.random.percent(50) {
            let values: Vec<Value> = places.iter().map(|_| self.word_of_any_type()).collect();
            for (position, value) in places.into_iter().zip(values) {
                if self.random.percent(10) {
                    self.read_neighbour(turn);
                }
                let (pointer, offset) = self.neighbour_address(position);
                let inst_data = InstData::Store { pointer, offset, access: Access::plain(4), arguments: vec![value] };
                self.builder_here().inst(inst_data, &[]);
            }
        } else {
            for position in places {
                self.read_neighbour(position);
                if self.random.percent(10) {
                    self.random_store();
                }
            }
        }
    }

    fn read_neighbour(&mut self, position: usize) {
        let element_type = self.random.pick(&[Type::I32, Type::I32, Type::F32]);
        let (pointer, offset) = self.neighbour_address(position);
        let inst_data = InstData::Load { pointer, offset, access: Access::plain(4) };
        let load = self.builder_here().inst(inst_data, &[element_type]);
        let value = self.function.single_result(load);
        self.note_value(value, false);
        if element_type == Type::I32 {
            self.keep_value(value);
        }
    }

    fn word_of_any_type(&mut self) -> Value {
        let value = self.pick_value(Type::I32, false);
        let real = self.random.percent(30);
        if real { self.builder_here().unary(UnaryOp::Bitcast, Type::F32, value) } else { value }
    }

    /// The address of a word of the row and what is added to it, one or the other.
    fn neighbour_address(&mut self, position: usize) -> (Value, i64) {
        let (row, bytes) = (self.row, 4 * position as i64);
        if self.random.percent(50) {
            return (row, bytes);
        }
        let mut builder = self.builder_here();
        let offset = builder.int(Type::I64, bytes.into());
        (builder.ptr_add(row, offset), 0)
    }
}
