//! Makes one block of blocks in a row.
//!
//! Requires: a verified function, of any control flow, before masks.
//! Ensures: the function does what it did. Each block is reached, and none stands alone behind another that only jumps there.
//! Phases: in reverse post-order, the blocks that a block leads to alone.
//! Source: Muchnick 1997, section 18.1.

use crate::analysis::cfg::build_cfg;
use crate::ir::replacements::Replacements;
use crate::ir::{Function, Terminator};
use cranelift_entity::EntitySet;

/// Puts a block that is reached from one place, by a jump, at the end of the one it is reached from.
pub fn join_blocks(function: &mut Function) {
    let flow_graph = build_cfg(function);
    let mut arguments = Replacements::default();
    let mut joined = EntitySet::new();
    for &block in flow_graph.reverse_post_order() {
        if joined.contains(block) {
            continue;
        }
        while let Terminator::Jump(target) = &function.blocks[block].terminator {
            let next_block = target.block;
            if flow_graph.predecessors(next_block).len() != 1 || next_block == block {
                break;
            }
            for (&parameter, &argument) in function.blocks[next_block].params.iter().zip(&target.arguments) {
                arguments.record_replacement(parameter, argument);
            }
            let instructions = std::mem::take(&mut function.blocks[next_block].insts);
            function.blocks[block].insts.extend(instructions);
            function.blocks[block].terminator =
                std::mem::replace(&mut function.blocks[next_block].terminator, Terminator::Unreachable);
            function.end_locs[block] = function.end_locs[next_block];
            joined.insert(next_block);
        }
    }
    function.layout.retain(|&block| flow_graph.is_reachable(block) && !joined.contains(block));
    arguments.apply_to(function);
}
