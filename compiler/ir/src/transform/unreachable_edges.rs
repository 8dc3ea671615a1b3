//! Takes out edges to code that the program says is never reached.
//!
//! Requires: a function that verifies, of any control flow, before masks; it may be a region.
//! Ensures: no branch or switch has a target from which every way comes to `unreachable` with no effect before; where all
//! targets are such, the block ends in `unreachable` itself. What the function does where it does not come there is what
//! it did.
//! Phases: blocks that lead only there, backwards from the ends; the edges to them from blocks that lead elsewhere too.
//! Source: ours.
//!
//! A `switch` over `x & 3` with four cases has no other value, so LLVM lets its default be unreachable. Folded, every
//! switch of the kernel would have a mask for that edge, and carry it to the end of the kernel, where all of them meet:
//!
//! ```text
//! b1: switch v1 [0: b2, 1: b3] default b9      b1: switch v1 [0: b2] default b3
//! …                                        =>  …
//! b9: unreachable
//! ```

use crate::analysis::cfg::build_cfg;
use crate::ir::{Block, BlockCall, Function, Terminator};
use cranelift_entity::EntitySet;

/// Takes the edges to unreachable code out of a function.
pub fn remove_unreachable_edges(function: &mut Function) {
    let unreachable = find_unreachable_blocks(function);
    if unreachable.is_empty() {
        return;
    }
    let is_reached = |target: &BlockCall| !unreachable.contains(target.block);
    for block in function.layout.clone() {
        let terminator = &mut function.blocks[block].terminator;
        if unreachable.contains(block) {
            *terminator = Terminator::Unreachable;
            continue;
        }
        match terminator {
            Terminator::Branch { then_to, else_to, .. } => match (is_reached(then_to), is_reached(else_to)) {
                (true, false) => *terminator = Terminator::Jump(then_to.clone()),
                (false, true) => *terminator = Terminator::Jump(else_to.clone()),
                // A block with effects may have no way on.
                (false, false) => *terminator = Terminator::Unreachable,
                (true, true) => {}
            },
            Terminator::Switch { cases, default, .. } => {
                cases.retain(|(_, target)| is_reached(target));
                if !is_reached(default) {
                    match cases.pop() {
                        Some((_, last)) => *default = last,
                        None => *terminator = Terminator::Unreachable,
                    }
                }
            }
            Terminator::Jump(target) if !is_reached(target) => *terminator = Terminator::Unreachable,
            _ => {}
        }
    }
    let flow_graph = build_cfg(function);
    function.layout.retain(|&block| flow_graph.is_reachable(block));
}

/// The blocks without effects from which every way comes to `unreachable`, through blocks without effects.
fn find_unreachable_blocks(function: &Function) -> EntitySet<Block> {
    let flow_graph = build_cfg(function);
    let is_pure = |block: Block| {
        !function.blocks[block].insts.iter().any(|&instruction| function.insts[instruction].data.has_effect())
    };
    let mut unreachable = EntitySet::new();
    let ends = flow_graph
        .reverse_post_order()
        .iter()
        .copied()
        .filter(|&block| function.blocks[block].terminator == Terminator::Unreachable);
    let mut worklist: Vec<Block> = ends.collect();
    while let Some(block) = worklist.pop() {
        if is_pure(block)
            && flow_graph.successors(block).iter().all(|&target| unreachable.contains(target))
            && unreachable.insert(block)
        {
            worklist.extend(
                flow_graph
                    .predecessors(block)
                    .iter()
                    .copied()
                    .filter(|&predecessor| flow_graph.is_reachable(predecessor)),
            );
        }
    }
    unreachable
}
