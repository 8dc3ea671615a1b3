//! Random statements with private arrays that are often the same for all items: one that is only written where
//! all items are, and some that are in use for a few statements, in which some items write to them.

use super::kernels::Generator;
use super::memory_sizes::{SCRATCH_WORDS, UNIFORM_WORDS};
use crate::ir::*;
use lockstep_protocol::types::Type;

impl Generator {
    /// Reads or writes a private array.
    pub(super) fn access_private_array(&mut self) {
        if self.scratch_used > 0 && self.random.percent(75) {
            let position = self.random.below(self.scratch_used);
            let base_address = self.scratch[position];
            self.scratch_access(base_address);
        } else if self.uniform_here && self.random.percent(50) {
            let (value, index) = (self.pick_value(Type::I32, true), self.pick_value(Type::I64, true));
            let address = self.cell_address(self.uniform_slot, index, UNIFORM_WORDS);
            self.builder_here().store(address, value);
        } else {
            let uniform = self.random.percent(70);
            let index = self.pick_value(Type::I64, uniform);
            let address = self.cell_address(self.uniform_slot, index, UNIFORM_WORDS);
            let value = self.builder_here().load(Type::I32, address);
            self.note_value(value, uniform);
            self.keep_value(value);
        }
    }

    fn scratch_access(&mut self, base_address: Value) {
        let uniform = self.random.percent(85);
        let index = self.pick_value(Type::I64, uniform);
        if self.random.percent(50) {
            let uniform = self.random.percent(85);
            let value = self.pick_value(Type::I32, uniform);
            if self.random.percent(20) {
                self.fill_scratch(base_address, uniform);
            }
            let address = self.cell_address(base_address, index, SCRATCH_WORDS);
            self.builder_here().store(address, value);
        } else {
            let address = self.cell_address(base_address, index, SCRATCH_WORDS);
            let value = self.builder_here().load(Type::I32, address);
            self.note_value(value, false);
            self.keep_value(value);
        }
    }

    /// Overwrites an array as a whole.
    fn fill_scratch(&mut self, base_address: Value, uniform: bool) {
        let arguments = (0..SCRATCH_WORDS).map(|_| self.pick_value(Type::I32, uniform)).collect();
        self.builder_here()
            .inst(InstData::Store { pointer: base_address, offset: 0, access: Access::plain(4), arguments }, &[]);
    }

    /// Statements with an array of their own.
    pub(super) fn with_scratch(&mut self, depth: usize) -> bool {
        if self.scratch_used == self.scratch.len() {
            self.access_private_array();
            return true;
        }
        let uniform = self.random.percent(80);
        let base_address = self.scratch[self.scratch_used];
        self.fill_scratch(base_address, uniform);
        self.scratch_used += 1;
        let reaches_end = self.emit_statements(depth + 1);
        self.scratch_used -= 1;
        reaches_end
    }
}
