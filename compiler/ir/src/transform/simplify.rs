//! Puts what is simpler in the place of what computes it.
//!
//! Requires: a verified function, of any control flow, before masks.
//! Ensures: the function does what it did, and values that leave loops by parameters still do. No rule of
//! [`crate::simplify`] applies to an operation, but where a value that comes around a loop would have to be known first. What a
//! rule has left without a use stays until [`dce`](super::dce).
//! Phases: in reverse post-order, each operation with the operands that are simple by then; operands that come around loops.
//! Source: see [`crate::simplify`].

use crate::analysis::cfg::build_cfg;
use crate::ir::replacements::Replacements;
use crate::ir::{Block, Function, Inst};
use crate::simplify::{Operands, Simpler, simplify_operation};

/// Simplifies all operations of a function.
pub fn simplify_function(function: &mut Function) {
    let blocks = build_cfg(function).reverse_post_order().to_vec();
    simplify_blocks(function, &blocks);
}

/// Simplifies the operations of some blocks, which no others use; the blocks come in an order in which those that dominate
/// others come before them.
pub fn simplify_blocks(function: &mut Function, blocks: &[Block]) {
    let mut simpler = Replacements::default();
    for &block in blocks {
        for instruction in std::mem::take(&mut function.blocks[block].insts) {
            function.insts[instruction].data.map_args(|value| simpler.value_for(value));
            if !simplify_inst(function, instruction, &mut simpler) {
                function.blocks[block].insts.push(instruction);
            }
        }
    }
    blocks.iter().for_each(|&block| simpler.apply_in(function, block));
}

/// Simplifies an instruction; whether a value stands for its result from now on.
fn simplify_inst(function: &mut Function, instruction: Inst, simpler: &mut Replacements) -> bool {
    let [result] = function.insts[instruction].results[..] else { return false };
    let (inst_data, result_type) = (function.insts[instruction].data.clone(), function.ty(result));
    match simplify_operation(function, &inst_data, result_type, Operands::Any) {
        Some(Simpler::Value(value)) => {
            simpler.record_replacement(result, value);
            return true;
        }
        Some(Simpler::Operation(inst_data)) => function.insts[instruction].data = inst_data,
        None => {}
    }
    false
}
