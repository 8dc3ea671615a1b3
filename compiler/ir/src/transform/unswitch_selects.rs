//! Addresses that are one of two lines, by a condition that the launch decides.
//!
//! `inverse ? k * 8 + i : i * 8 + k` with a kernel's argument `inverse` is a line for all lanes of a gang, but which one
//! is known at run time only: as one value it is varying, and an access through it a gather. So the region gets two
//! versions behind a branch on the condition. In each, the address is the line that was chosen.
//!
//! Requires: `Stage::Normalized`; the shapes of the region's values.
//! Ensures: `Stage::Normalized`. Where an address depends on such a choice, the entry branches to one of two copies of
//! what comes behind the condition; in both the condition is a constant, and its choices are gone. Each work-item does
//! what it did.
//! Phases: walk from varying addresses back to choices; take the condition that most of them have; cut the entry behind
//! it; copy; put the constant and what was chosen for the condition and its choices; join the ends.
//! Source: Karrenberg & Hack 2012, section 3.3 (uniform control flow stays control flow), for choices that never were
//! control flow or are none any more.
//!
//! ```text
//! e: c = icmp.eq n, 0        e: c = icmp.eq n, 0
//!    …                          br freeze c, t, f
//!    i = select c, a, b  =>  t: … load p + a
//!    load p + i              f: … load p + b
//! ```

use crate::analysis::cfg::build_cfg;
use crate::analysis::shape::Shape;
use crate::ir::replacements::Replacements;
use crate::ir::*;
use crate::transform::copy::{Copies, copy_blocks};
use crate::transform::simplify::simplify_blocks;
use cranelift_entity::SecondaryMap;
use lockstep_protocol::types::Type;

/// Steps from an address back to what it depends on.
const DEPTH: usize = 8;

/// The condition behind which versions pay, if there is one.
pub fn find_condition(function: &Function, shapes: &SecondaryMap<Value, Shape>) -> Option<Value> {
    let mut conditions: Vec<(Value, usize)> = Vec::new();
    for inst_node in function
        .layout
        .iter()
        .flat_map(|&block| &function.blocks[block].insts)
        .map(|&instruction| &function.insts[instruction])
    {
        let (InstData::Load { pointer, .. } | InstData::Store { pointer, .. }) = inst_node.data else { continue };
        if let Some(condition) = chosen_by(function, shapes, pointer, DEPTH) {
            match conditions.iter_mut().find(|(other, _)| *other == condition) {
                Some((_, count)) => *count += 1,
                None => conditions.push((condition, 1)),
            }
        }
    }
    // Of several the first with the most accesses.
    conditions.into_iter().rev().max_by_key(|&(_, count)| count).map(|(condition, _)| condition)
}

/// The condition that decides between two lines on which an address depends.
fn chosen_by(function: &Function, shapes: &SecondaryMap<Value, Shape>, value: Value, depth: usize) -> Option<Value> {
    let ValueDef::Result(instruction, _) = function.values[value].definition else { return None };
    if depth == 0 || !shapes[value].is_varying() {
        return None;
    }
    match function.insts[instruction].data {
        InstData::Ternary { opcode: TernaryOp::Select, arguments: [condition, left, right], .. }
            if shapes[condition].is_uniform() && !shapes[left].is_varying() && !shapes[right].is_varying() =>
        {
            is_known_at_entry(function, condition).then_some(condition)
        }
        InstData::Binary {
            opcode: BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul | BinaryOp::Shl, arguments, ..
        } => arguments.into_iter().find_map(|argument| chosen_by(function, shapes, argument, depth - 1)),
        InstData::PtrAdd { base, offset, .. } => {
            [base, offset].into_iter().find_map(|argument| chosen_by(function, shapes, argument, depth - 1))
        }
        InstData::Unary { opcode: UnaryOp::Sext | UnaryOp::Zext | UnaryOp::Trunc, argument, .. } => {
            chosen_by(function, shapes, argument, depth - 1)
        }
        _ => None,
    }
}

/// Whether a value is there, when a region's entry ends.
pub fn is_known_at_entry(function: &Function, value: Value) -> bool {
    match function.values[value].definition {
        ValueDef::Param(block, _) => block == function.entry_block(),
        ValueDef::Result(instruction, _) => function.blocks[function.entry_block()].insts.contains(&instruction),
        ValueDef::Const(_) => false,
    }
}

/// Gives the region a version for each value of a condition that is known at its entry. The answer is the blocks of the
/// version in which it holds.
pub fn split_region(function: &mut Function, condition: Value) -> Vec<Block> {
    let entry_block = function.entry_block();
    let cut_position = match function.values[condition].definition {
        ValueDef::Result(instruction, _) => function.blocks[entry_block]
            .insts
            .iter()
            .position(|&other| other == instruction)
            .map_or(0, |position| position + 1),
        _ => 0,
    };
    let rest_block = function.add_block();
    function.end_locs[rest_block] = function.end_locs[entry_block];
    function.blocks[rest_block].insts = function.blocks[entry_block].insts.split_off(cut_position);
    function.blocks[rest_block].terminator = function.blocks[entry_block].terminator.clone();
    function.blocks[entry_block].terminator = Terminator::Jump(BlockCall { block: rest_block, arguments: Vec::new() });

    let blocks: Vec<Block> =
        build_cfg(function).reverse_post_order().iter().copied().filter(|&block| block != entry_block).collect();
    let copies = copy_blocks(function, &blocks, &Copies::default());
    let copied: Vec<Block> = blocks.iter().map(|&block| copies.block_copy(block)).collect();
    assume_condition(function, &blocks, condition, true);
    assume_condition(function, &copied, condition, false);
    join_ends(function, &blocks, &copies);
    // A choice by poison is poison, which may never be used; a branch would be undefined.
    let freeze = InstData::Unary { opcode: UnaryOp::Freeze, fast_math: FastMath::default(), argument: condition };
    let frozen = function.append_inst(entry_block, freeze, &[Type::BOOL], function.end_locs[entry_block]);
    let condition = function.single_result(frozen);
    let edge_to = |block| BlockCall { block, arguments: Vec::new() };
    function.blocks[entry_block].terminator =
        Terminator::Branch { condition, then_to: edge_to(rest_block), else_to: edge_to(copies.block_copy(rest_block)) };
    blocks
}

/// What the region would be if the condition had this value; the other version is not made.
pub fn suppose_condition(function: &mut Function, condition: Value, holds: bool) {
    let blocks = build_cfg(function).reverse_post_order().to_vec();
    assume_condition(function, &blocks, condition, holds);
}

/// Puts a constant for a condition in blocks, and what it chooses for its choices there.
fn assume_condition(function: &mut Function, blocks: &[Block], condition: Value, holds: bool) {
    let mut replacements = Replacements::default();
    let constant = function.constant(Type::BOOL, holds.into());
    replacements.record_replacement(condition, constant);
    blocks.iter().for_each(|&block| replacements.apply_in(function, block));
    simplify_blocks(function, blocks);
}

/// Leads each block that ends the region, and its copy, to one that ends it for both.
fn join_ends(function: &mut Function, blocks: &[Block], copies: &Copies) {
    for &block in blocks {
        let terminator = function.blocks[block].terminator.clone();
        if !matches!(terminator, Terminator::Return | Terminator::Exit(_)) {
            continue;
        }
        let end_block = function.add_block();
        function.end_locs[end_block] = function.end_locs[block];
        function.blocks[end_block].terminator = terminator;
        for source in [block, copies.block_copy(block)] {
            function.blocks[source].terminator =
                Terminator::Jump(BlockCall { block: end_block, arguments: Vec::new() });
        }
    }
}
