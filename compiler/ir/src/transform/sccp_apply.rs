//! Puts constants in the place of what is computed.
//!
//! Requires: a verified function, of any control flow, before masks; constants that were found in it.
//! Ensures: the function does what it did. No choice is a constant, and no block stands that is not reached.
//! Phases: constants; jumps for choices that are.
//! Source: Wegman & Zadeck 1991.

use crate::analysis::sccp::Constants;
use crate::ir::replacements::Replacements;
use crate::ir::{Function, InstNode, Terminator, Value, ValueDef};
use cranelift_entity::EntitySet;

/// Puts constants in their places, and takes out what is not reached with them.
pub fn sccp_apply(function: &mut Function, constants: &Constants) {
    function.layout.retain(|&block| constants.reached.contains(block));
    let known_constants: Vec<(Value, u128)> = function
        .values
        .iter()
        .filter_map(|(value, value_data)| known_bits(constants, value, value_data.definition))
        .collect();
    let mut places = Replacements::default();
    let mut replaced: EntitySet<Value> = EntitySet::new();
    for (value, bits) in known_constants {
        let constant = function.constant(function.ty(value), bits);
        places.record_replacement(value, constant);
        replaced.insert(value);
    }
    for block in function.layout.clone() {
        let is_constant = |inst_node: &InstNode| inst_node.results.iter().any(|&result| replaced.contains(result));
        function.blocks[block].insts.retain(|&instruction| !is_constant(&function.insts[instruction]));
        if let Some(only_target) = constants.only_target(function, block) {
            function.blocks[block].terminator = Terminator::Jump(only_target.clone());
        }
    }
    places.apply_to(function);
}

/// The bits of a value that is to be put in its place.
fn known_bits(constants: &Constants, value: Value, definition: ValueDef) -> Option<(Value, u128)> {
    match definition {
        ValueDef::Result(..) | ValueDef::Param(..) => Some((value, constants.values[value].bits()?)),
        ValueDef::Const(_) => None,
    }
}
