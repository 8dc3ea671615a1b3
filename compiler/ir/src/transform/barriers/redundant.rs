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
pub(super) fn drop_redundant_barriers(body: &mut Function) {
    let graph = build_cfg(body);
    for block in graph.reverse_post_order().to_vec() {
        let mut position = 0;
        while let Some(&inst) = body.blocks[block].insts.get(position) {
            let redundant = body.insts[inst].data == InstData::Barrier
                && (idle_behind(body, block, position + 1) || idle_before(body, &graph, block, position));
            if redundant {
                body.blocks[block].insts.remove(position);
            } else {
                position += 1;
            }
        }
    }
}

/// Whether the way from here leads to the end or a barrier without touching shared memory.
fn idle_behind(body: &Function, block: Block, position: usize) -> bool {
    let (mut block, mut position) = (block, position);
    // A chain of jumps that is longer than the layout goes in circles.
    for _ in 0..body.layout.len() {
        for &inst in &body.blocks[block].insts[position..] {
            match &body.insts[inst].data {
                inst_data if is_barrier(inst_data) => return true,
                inst_data if touches_shared(body, inst_data) => return false,
                _ => {}
            }
        }
        match &body.blocks[block].terminator {
            Terminator::Return => return true,
            Terminator::Jump(target) => (block, position) = (target.block, 0),
            _ => return false,
        }
    }
    false
}

/// Whether nothing between the kernel's begin and here touches shared memory.
fn idle_before(body: &Function, graph: &Cfg, block: Block, position: usize) -> bool {
    let (mut block, mut end) = (block, position);
    for _ in 0..body.layout.len() {
        let insts = &body.blocks[block].insts[..end];
        // An earlier barrier does not help: it was kept for what comes before it.
        if insts.iter().any(|&inst| touches_shared(body, &body.insts[inst].data)) {
            return false;
        }
        match graph.predecessors(block) {
            [] => return block == body.entry_block(),
            &[before] => (block, end) = (before, body.blocks[before].insts.len()),
            _ => return false,
        }
    }
    false
}

/// Whether other work-items could tell when this instruction happens.
fn touches_shared(body: &Function, inst_data: &InstData) -> bool {
    let own = |pointer: Value| matches!(body.ty(pointer), Type::Ptr(Space::Private));
    let fixed = |pointer: Value| matches!(body.ty(pointer), Type::Ptr(Space::Constant));
    match inst_data {
        InstData::Load { pointer, access, .. } => access.volatile || !(own(*pointer) || fixed(*pointer)),
        InstData::Store { pointer, access, .. } => access.volatile || !own(*pointer),
        InstData::MemCopy { destination, source, volatile, .. } => {
            *volatile || !own(*destination) || !(own(*source) || fixed(*source))
        }
        InstData::MemSet { destination, volatile, .. } => *volatile || !own(*destination),
        inst_data => inst_data.has_effect(),
    }
}
