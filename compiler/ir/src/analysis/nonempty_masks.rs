//! Blocks with a mask that run for a lane at least.
//!
//! Requires: linearized code.
//! Ensures: whenever a block of the set runs, its mask holds in a lane. The set need not have all such blocks.
//! Phases: what branches on `any` tell on their ways to true; then, down the dominator tree, whether what was told on the
//! way says it of a block's mask.
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
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::hash::Hash;

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
    let mut known_lanes = KnownLanes::default();
    // The blocks that dominate the current one and of which a branch tells something.
    let mut telling: Vec<(Block, Told)> = Vec::new();
    for &block in function.layout.first().map_or(&[][..], |&entry| dominators.dominated_blocks(entry)) {
        while let Some(&(at_block, told)) = telling.last()
            && !dominators.dominates(at_block, block)
        {
            known_lanes.remove_told(told);
            telling.pop();
        }
        if let Some(told) = way_in(function, &home_blocks, flow_graph.predecessors(block), block) {
            known_lanes.add_told(told);
            telling.push((block, told));
        }
        if function.masks[block].expand().is_some_and(|mask| known_lanes.some_lane_has(function, mask)) {
            nonempty.insert(block);
        }
    }
    nonempty
}

/// What branches have told, counted.
#[derive(Default)]
struct KnownLanes {
    /// Values that hold in a lane.
    single: HashMap<Value, u32>,
    /// Values that hold in one lane together, the lesser first.
    pairs: HashMap<[Value; 2], u32>,
}

impl KnownLanes {
    fn add_told(&mut self, (mask, condition): Told) {
        *self.single.entry(condition).or_default() += 1;
        if let Some(mask) = mask {
            *self.single.entry(mask).or_default() += 1;
            *self.pairs.entry(in_order(mask, condition)).or_default() += 1;
        }
    }

    /// Takes back what was learnt last.
    fn remove_told(&mut self, (mask, condition): Told) {
        decrease(&mut self.single, condition);
        if let Some(mask) = mask {
            decrease(&mut self.single, mask);
            decrease(&mut self.pairs, in_order(mask, condition));
        }
    }

    /// Whether a lane has this mask, as far as is known.
    fn some_lane_has(&self, function: &Function, mask: Value) -> bool {
        let always = |value: Value| function.const_bits(value) == Some(1);
        let holds = |value: Value| self.single.contains_key(&value) || always(value) && !self.single.is_empty();
        if holds(mask) {
            return true;
        }
        let ValueDef::Result(instruction, _) = function.values[mask].definition else { return false };
        let InstData::Binary { opcode: BinaryOp::And, arguments: [left, right], .. } = function.insts[instruction].data
        else {
            return false;
        };
        match (always(left), always(right)) {
            (true, _) => holds(right),
            (_, true) => holds(left),
            _ => left == right && holds(left) || self.pairs.contains_key(&in_order(left, right)),
        }
    }
}

fn in_order(left: Value, right: Value) -> [Value; 2] {
    [left.min(right), left.max(right)]
}

/// Counts one less; what is counted no more goes.
fn decrease<K: Hash + Eq>(counts: &mut HashMap<K, u32>, key: K) {
    if let Entry::Occupied(mut count) = counts.entry(key) {
        *count.get_mut() -= 1;
        if *count.get() == 0 {
            count.remove();
        }
    }
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
