//! Pointers through which a kernel streams: each work-item writes there once, and nobody reads.
//!
//! What such a kernel writes, the caches need not keep, where it is more than they can: stores that go past them save
//! reading the lines that are written over. A launch can tell how much it touches and whether another argument leads to
//! the same memory (`LaunchFacts::streams`).
//!
//! Requires: a verified kernel as it was imported.
//! Ensures: no work-item waits for what another one writes, and none reads through a pointer in the answer, or writes
//! through it in a loop. What a work-item touches is counted once where loops are, and all of it where branches are.
//! Phases: which blocks are in loops; all accesses, each with the input that its address is computed of.
//! Source: none; `docs/experiments/memory-accesses.md` has what it gains.

use crate::analysis::cfg::build_cfg;
use crate::analysis::dominators::compute_dominators;
use crate::analysis::loops::find_loops;
use crate::ir::{Access, Block, Function, InstData, Kernel, UnaryOp, Value, ValueDef};
use lockstep_protocol::program_metadata::Streams;
use lockstep_protocol::types::{Space, Type};

/// What a kernel streams through; nothing where its work-items speak to each other, or where an address is computed of
/// something else than one input.
pub fn find_streams(kernel: &Kernel) -> Streams {
    let mut bodies = kernel.regions.values();
    match (bodies.next(), bodies.next()) {
        (Some(function), None) => {
            of_body(function, super::specialization_candidates::find_global_pointers(kernel)).unwrap_or_default()
        }
        _ => Streams::default(),
    }
}

fn of_body(function: &Function, pointers: u32) -> Option<Streams> {
    let flow_graph = build_cfg(function);
    let loop_forest = find_loops(&flow_graph, &compute_dominators(&flow_graph));
    let is_in_loop = |block: Block| loop_forest.iter().any(|(_, loop_data)| loop_data.blocks.contains(&block));
    let (mut once, mut otherwise, mut bytes) = (0, 0, 0_u32);
    for &block in flow_graph.reverse_post_order() {
        for &instruction in &function.blocks[block].insts {
            let inst_node = &function.insts[instruction];
            let (pointer, access, elements, writes) = match &inst_node.data {
                InstData::Load { pointer, access, .. } => (*pointer, *access, &inst_node.results, false),
                InstData::Store { pointer, access, arguments, .. } => (*pointer, *access, arguments, true),
                InstData::MemCopy { .. }
                | InstData::MemSet { .. }
                | InstData::AtomicRmw { .. }
                | InstData::AtomicCas { .. }
                | InstData::Fence { .. }
                | InstData::Barrier
                | InstData::GangBarrier
                | InstData::Yield
                | InstData::Collective { .. }
                | InstData::CallHost { .. }
                | InstData::Call { .. }
                | InstData::Printf { .. } => return None,
                _ => continue,
            };
            if !matches!(function.ty(pointer), Type::Ptr(Space::Global | Space::Generic)) {
                continue;
            }
            let Access { atomic: None, volatile: false, .. } = access else { return None };
            let input_index = 1_u32.checked_shl(input_of_address(function, pointer)?)?;
            let touched = elements.iter().map(|&element| function.ty(element).bytes()).sum();
            bytes = bytes.saturating_add(touched);
            let bytes_so_far = if writes && !is_in_loop(block) { &mut once } else { &mut otherwise };
            *bytes_so_far |= input_index;
        }
    }
    Some(Streams { written: once & !otherwise & pointers, bytes })
}

/// The number of the input that an address is computed of.
fn input_of_address(function: &Function, mut pointer: Value) -> Option<u32> {
    loop {
        match function.values[pointer].definition {
            ValueDef::Param(block, number) if block == function.entry_block() => return Some(number),
            ValueDef::Result(instruction, _) => match function.insts[instruction].data {
                InstData::PtrAdd { base, .. } => pointer = base,
                InstData::Unary { opcode: UnaryOp::SpaceCast | UnaryOp::Freeze, argument, .. } => pointer = argument,
                _ => return None,
            },
            _ => return None,
        }
    }
}
