//! Makes one block of blocks in a row.
//!
//! Requires: a verified function, of any control flow, before masks.
//! Ensures: the function does what it did. Each block is reached, and none stands alone behind another that only jumps there.
//! Phases: in reverse post-order, the blocks that a block leads to alone.
//! Source: Muchnick 1997, section 18.1.

use crate::analysis::cfg::build_cfg;
use crate::ir::{Function, Terminator};
use crate::transform::replacements::Replacements;
use cranelift_entity::EntitySet;

/// Puts a block that is reached from one place, by a jump, at the end of the one it is reached from.
pub fn join_blocks(f: &mut Function) {
    let graph = build_cfg(f);
    let mut args = Replacements::default();
    let mut joined = EntitySet::new();
    for &block in graph.reverse_post_order() {
        if joined.contains(block) {
            continue;
        }
        while let Terminator::Jump(to) = &f.blocks[block].terminator {
            let next = to.block;
            if graph.predecessors(next).len() != 1 || next == block {
                break;
            }
            for (&param, &arg) in f.blocks[next].params.iter().zip(&to.arguments) {
                args.record_replacement(param, arg);
            }
            let insts = std::mem::take(&mut f.blocks[next].insts);
            f.blocks[block].insts.extend(insts);
            f.blocks[block].terminator = std::mem::replace(&mut f.blocks[next].terminator, Terminator::Unreachable);
            f.end_locs[block] = f.end_locs[next];
            joined.insert(next);
        }
    }
    f.layout.retain(|&block| graph.is_reachable(block) && !joined.contains(block));
    args.apply_to(f);
}
