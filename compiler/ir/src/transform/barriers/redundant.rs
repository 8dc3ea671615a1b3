//! Drops barriers that separate nothing.
//!
//! Requires: a verified kernel's code, of any control flow.
//! Ensures: work-items see of each other's memory what they saw before, with fewer barriers.
//! Phases: each barrier, by the straight paths from it and to it.
//! Source: what a barrier orders, OpenCL C 3.0, section 6.15.8.

use super::cuts::is_barrier;
use crate::analysis::cfg::{Cfg, build_cfg};
use crate::ir::{Block, Function, InstData, Terminator, Value};
use lockstep_protocol::types::{Space, Type};

/// Drops barriers that separate nothing: no work-item touches shared memory between the barrier and the
/// kernel's begin, its end, or the next barrier or collective operation, which then does its work. Only straight paths are
/// followed.
pub(super) fn drop_redundant_barriers(function: &mut Function) {
    let flow_graph = build_cfg(function);
    for block in flow_graph.reverse_post_order().to_vec() {
        let mut position = 0;
        while let Some(&instruction) = function.blocks[block].insts.get(position) {
            let redundant = function.insts[instruction].data == InstData::Barrier
                && (idle_behind(function, block, position + 1) || idle_before(function, &flow_graph, block, position));
            if redundant {
                function.blocks[block].insts.remove(position);
            } else {
                position += 1;
            }
        }
    }
}

/// Whether the way from here leads to the end or a barrier without touching shared memory.
fn idle_behind(function: &Function, block: Block, position: usize) -> bool {
    let (mut block, mut position) = (block, position);
    // A chain of jumps that is longer than the layout goes in circles.
    for _ in 0..function.layout.len() {
        for &instruction in &function.blocks[block].insts[position..] {
            match &function.insts[instruction].data {
                inst_data if is_barrier(inst_data) => return true,
                inst_data if touches_shared(function, inst_data) => return false,
                _ => {}
            }
        }
        match &function.blocks[block].terminator {
            Terminator::Return => return true,
            Terminator::Jump(target) => (block, position) = (target.block, 0),
            _ => return false,
        }
    }
    false
}

/// Whether nothing between the kernel's begin and here touches shared memory.
fn idle_before(function: &Function, flow_graph: &Cfg, block: Block, position: usize) -> bool {
    let (mut block, mut end_position) = (block, position);
    for _ in 0..function.layout.len() {
        let instructions = &function.blocks[block].insts[..end_position];
        // An earlier barrier does not help: it was kept for what comes before it.
        if instructions.iter().any(|&instruction| touches_shared(function, &function.insts[instruction].data)) {
            return false;
        }
        match flow_graph.predecessors(block) {
            [] => return block == function.entry_block(),
            &[before] => (block, end_position) = (before, function.blocks[before].insts.len()),
            _ => return false,
        }
    }
    false
}

/// Whether other work-items could tell when this instruction happens.
fn touches_shared(function: &Function, inst_data: &InstData) -> bool {
    let is_private = |pointer: Value| matches!(function.ty(pointer), Type::Ptr(Space::Private));
    let is_constant = |pointer: Value| matches!(function.ty(pointer), Type::Ptr(Space::Constant));
    match inst_data {
        InstData::Load { pointer, access, .. } => access.volatile || !(is_private(*pointer) || is_constant(*pointer)),
        InstData::Store { pointer, access, .. } => access.volatile || !is_private(*pointer),
        InstData::MemCopy { destination, source, volatile, .. } => {
            *volatile || !is_private(*destination) || !(is_private(*source) || is_constant(*source))
        }
        InstData::MemSet { destination, volatile, .. } => *volatile || !is_private(*destination),
        inst_data => inst_data.has_effect(),
    }
}
