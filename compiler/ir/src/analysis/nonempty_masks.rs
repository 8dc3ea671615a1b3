//! Blocks with a mask that run for a lane at least.
//!
//! Requires: linearized code.
//! Ensures: whenever a block of the set runs, its mask holds in a lane. The set need not have all such blocks.
//! Phases: what branches on `any` tell on their ways to true; then, block by block, whether a block that dominates it
//! came by such a way that says it of this mask.
//! Source: Moll 2021, sections 9.1 and 9.2: the headers of uniform loops and gates ask before they let lanes in.
//!
//! ```text
//! a: …                            mask v1
//!    v3: i1 = any v2
//!    br v3, b, c
//! b: v4: i1 = and v1, v2          mask v1: some lane
//!    …
//! d: …                            mask v4, behind b: some lane
//! ```

use super::cfg::build_cfg;
use super::dominators::compute_dominators;
use crate::ir::*;
use cranelift_entity::{EntitySet, SecondaryMap};

/// What is known behind a branch: in a lane both hold, the mask (none: every lane's does) and the condition.
type Told = (Option<Value>, Value);

/// The blocks with a mask that run for a lane at least.
pub fn run_by_some(function: &Function) -> EntitySet<Block> {
    let mut nonempty = EntitySet::new();
    if function.layout.iter().all(|&block| function.masks[block].is_none()) {
        return nonempty;
    }
    let flow_graph = build_cfg(function);
    let dominators = compute_dominators(&flow_graph);
    let mut home_blocks: SecondaryMap<Inst, Option<Block>> = SecondaryMap::new();
    for &block in &function.layout {
        function.blocks[block].insts.iter().for_each(|&instruction| home_blocks[instruction] = Some(block));
    }
    // For each block the nearest one that dominates it, itself included, and of which a branch tells something.
    let mut told: SecondaryMap<Block, Option<(Block, Told)>> = SecondaryMap::new();
    let mut nearest: SecondaryMap<Block, Option<Block>> = SecondaryMap::new();
    for &block in flow_graph.reverse_post_order() {
        told[block] =
            way_in(function, &home_blocks, flow_graph.predecessors(block), block).map(|condition| (block, condition));
        nearest[block] = match told[block] {
            Some(_) => Some(block),
            None => dominators.immediate_dominator(block).and_then(|before| nearest[before]),
        };
        let Some(mask) = function.masks[block].expand() else { continue };
        let mut next = nearest[block];
        while let Some((at_block, condition)) = next.and_then(|at_block| told[at_block]) {
            if implies_mask(function, condition, mask) {
                nonempty.insert(block);
                break;
            }
            next = dominators.immediate_dominator(at_block).and_then(|before| nearest[before]);
        }
    }
    nonempty
}

/// What the only way into a block says.
fn way_in(
    function: &Function,
    home_blocks: &SecondaryMap<Inst, Option<Block>>,
    predecessors: &[Block],
    block: Block,
) -> Option<Told> {
    let &[source] = predecessors else { return None };
    let Terminator::Branch { condition, then_to, else_to } = &function.blocks[source].terminator else { return None };
    if then_to.block != block || else_to.block == block {
        return None;
    }
    let ValueDef::Result(instruction, _) = function.values[*condition].definition else { return None };
    let InstData::Any { condition } = function.insts[instruction].data else { return None };
    Some((function.masks[home_blocks[instruction]?].expand(), condition))
}

/// Whether a mask holds where this does.
fn implies_mask(function: &Function, (told_mask, condition): Told, mask: Value) -> bool {
    let always = |value: Value| function.const_bits(value) == Some(1);
    if mask == condition || Some(mask) == told_mask || always(mask) {
        return true;
    }
    let ValueDef::Result(instruction, _) = function.values[mask].definition else { return false };
    let InstData::Binary { opcode: BinaryOp::And, arguments: [left, right], .. } = function.insts[instruction].data
    else {
        return false;
    };
    let holds = |value: Value| value == condition || Some(value) == told_mask || always(value);
    holds(left) && holds(right)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ir::parse_module;

    #[test]
    fn gates_and_loop_headers_tell_and_others_do_not() {
        let text = "kernel \"k\" {
  args 8
  param \"a\" pointer.global \"int*\" size 8 align 8 offset 0 access \"none\"
  input value(0, 0): ptr.global
  region r0 {
  b0(v0: ptr.global):
    v1: i64 = query.global_id 0
    v2: i1 = icmp.ult v1, 5:i64
    v3: i1 = any v2
    br v3, b1, b4
  b1 mask v2:
    v4: i1 = icmp.ult v1, 3:i64
    v5: i1 = and v2, v4
    v6: i1 = any v4
    br v6, b2, b3
  b2 mask v5:
    jump b3
  b3 mask v5:
    jump b4
  b4 mask v2:
    return
  }
}
";
        let module = parse_module(text).unwrap_or_else(|error| panic!("{error}"));
        let function = &module.kernels[0].regions[Region::from_u32(0)];
        let found = run_by_some(function);
        let blocks: Vec<String> =
            function.layout.iter().filter(|&&block| found.contains(block)).map(ToString::to_string).collect();
        assert_eq!(blocks, ["b1", "b2"], "b3 and b4 may be passed by: their masks hold in no lane then");
    }
}
