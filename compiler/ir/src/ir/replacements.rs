//! Values that stand for others.

use crate::ir::{Block, Function, Value};
use cranelift_entity::SecondaryMap;

/// What stands for values, which may have something that stands for them in turn.
#[derive(Default)]
pub struct Replacements {
    by: SecondaryMap<Value, Option<Value>>,
    any: bool,
}

impl Replacements {
    /// Lets one value stand for another.
    pub fn record_replacement(&mut self, value: Value, replacement: Value) {
        self.by[value] = Some(replacement);
        self.any = true;
    }

    /// What stands for a value, or the value itself.
    pub fn value_for(&self, mut value: Value) -> Value {
        while let Some(replacement) = self.by[value] {
            value = replacement;
        }
        value
    }

    /// Puts them in their places: in the operands of the function's blocks.
    pub fn apply_to(&self, function: &mut Function) {
        if self.any {
            function.layout.clone().into_iter().for_each(|block| self.apply_in(function, block));
        }
    }

    /// Puts them in their places in one block.
    pub fn apply_in(&self, function: &mut Function, block: Block) {
        for &instruction in &function.blocks[block].insts {
            function.insts[instruction].data.map_args(|value| self.value_for(value));
        }
        function.blocks[block].terminator.map_args(|value| self.value_for(value));
    }
}
