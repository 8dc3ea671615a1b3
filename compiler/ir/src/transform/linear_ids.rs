//! Local and global ids by the number of a work-item in its group.
//!
//! Requires: a kernel as imported, of any control flow.
//! Ensures: no instruction asks for a local or global id: they follow from `linear_id` and what is the same for the
//! whole group. So gangs may go on behind the end of a row.
//! Phases: which ids are asked for; their computation at the kernel's beginning; every use takes it from there.
//! Source: DESIGN decision 8, for the linearised group as a layout of lanes; OpenCL C 3.0, 6.15.1, for the order.
//!
//! ```text
//! v1: i64 = query.local_id 0       v1: i64 = query.linear_id 0
//! v2: i64 = query.global_id 1  =>  v2 = local_size 0;  v3 = v1 urem v2;  v4 = v1 udiv v2 urem local_size 1
//!                                  v5 = group_id 1 * enqueued_local_size 1 + global_offset 1 + v4
//! ```

use crate::ir::{BinaryOp, Builder, Function, Inst, InstData, Kernel, Query, UnaryOp, Value};
use lockstep_protocol::launch_facts::LaunchFacts;
use lockstep_protocol::types::Type;
use std::collections::HashMap;

/// Rewrites a kernel's ids, for launches of which the facts hold.
pub fn linear_ids(kernel: &mut Kernel, launch_facts: &LaunchFacts) {
    kernel.regions.values_mut().for_each(|function| rewrite_ids(function, launch_facts));
}

fn rewrite_ids(function: &mut Function, launch_facts: &LaunchFacts) {
    let asked_query = |function: &Function, instruction: Inst| match function.insts[instruction].data {
        InstData::Query { query: query @ (Query::LocalId | Query::GlobalId), dimension } => Some((query, dimension)),
        _ => None,
    };
    let instructions: Vec<Inst> =
        function.layout.iter().flat_map(|&block| &function.blocks[block].insts).copied().collect();
    let wanted_result =
        |instruction: Inst| asked_query(function, instruction).map(|id| (function.insts[instruction].results[0], id));
    let wanted: Vec<(Value, (Query, u8))> = instructions.into_iter().filter_map(wanted_result).collect();
    if wanted.is_empty() {
        return;
    }
    let entry_block = function.entry_block();
    let behind = std::mem::take(&mut function.blocks[entry_block].insts);
    let mut id_values: HashMap<(Query, u8), Value> = HashMap::new();
    for dimension in 0..3 {
        if !wanted.iter().any(|&(_, (_, other))| other == dimension) {
            continue;
        }
        let mut builder = Builder::at_end_of(function, entry_block);
        let local = local_id(&mut builder, dimension, launch_facts);
        id_values.insert((Query::LocalId, dimension), local);
        if wanted.iter().any(|&(_, id)| id == (Query::GlobalId, dimension)) {
            let [group, group_size, offset] = [Query::GroupId, Query::EnqueuedLocalSize, Query::GlobalOffset]
                .map(|query| builder.query(query, dimension));
            let before = builder.binary(BinaryOp::Mul, group, group_size);
            let first_id = builder.binary(BinaryOp::Add, before, offset);
            let global = builder.binary(BinaryOp::Add, first_id, local);
            id_values.insert((Query::GlobalId, dimension), global);
        }
    }
    function.blocks[entry_block].insts.extend(behind);
    let replacements: HashMap<Value, Value> = wanted.iter().map(|&(value, id)| (value, id_values[&id])).collect();
    let replacement_of = |value: Value| replacements.get(&value).copied().unwrap_or(value);
    for block in function.layout.clone() {
        let kept: Vec<Inst> = function.blocks[block]
            .insts
            .iter()
            .copied()
            .filter(|&instruction| asked_query(function, instruction).is_none())
            .collect();
        kept.iter().for_each(|&instruction| function.insts[instruction].data.map_args(replacement_of));
        function.blocks[block].insts = kept;
        function.blocks[block].terminator.map_args(replacement_of);
    }
}

/// A local id. Numbers in a group are small, and quotients of 32 bits come cheap in lanes.
fn local_id(builder: &mut Builder<'_>, dimension: u8, launch_facts: &LaunchFacts) -> Value {
    let number = builder.query(Query::LinearId, 0);
    if launch_facts.is_one_row() {
        return if dimension == 0 { number } else { builder.int(Type::I64, 0) };
    }
    let mut rest = builder.unary(UnaryOp::Trunc, Type::I32, number);
    for before in 0..dimension {
        let group_size = local_size(builder, before, launch_facts);
        rest = builder.binary(BinaryOp::Udiv, rest, group_size);
    }
    if dimension < 2 && !(dimension == 1 && launch_facts.local_size(2) == Some(1)) {
        let group_size = local_size(builder, dimension, launch_facts);
        rest = builder.binary(BinaryOp::Urem, rest, group_size);
    }
    builder.unary(UnaryOp::Zext, Type::I64, rest)
}

/// The group's size in a dimension, a constant where all groups of the launch have it.
fn local_size(builder: &mut Builder<'_>, dimension: u8, launch_facts: &LaunchFacts) -> Value {
    if let Some(size) = launch_facts.local_size(dimension.into()).filter(|_| launch_facts.full_groups) {
        return builder.int(Type::I32, size.into());
    }
    let size = builder.query(Query::LocalSize, dimension);
    builder.unary(UnaryOp::Trunc, Type::I32, size)
}
