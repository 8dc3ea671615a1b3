//! Liveness: which values a block still needs when it begins and when it ends.
//!
//! Requires: valid SSA and a control-flow graph of the function as it is.
//! Ensures: `live_in` and `live_out` of each reachable block. A block's parameters are not in its own
//! `live_in`; arguments of a jump are used by the jumping block, so they are in no `live_out` for that.
//! Constants are never live.
//! Phases: values that cross blocks get dense numbers (the others are live nowhere at block borders);
//! upward-exposed uses and definitions per block; fixed point over the post-order with bit sets.
//! Source: textbook (Aho, Lam, Sethi & Ullman 2006, 9.2.5), on block parameters.

use super::cfg::Cfg;
use crate::ir::{Block, Function, Value, ValueDef};
use cranelift_entity::SecondaryMap;

/// Live values at the borders of blocks.
#[derive(Clone, Debug)]
pub struct Liveness {
    /// The values that are used outside of their block.
    crossing: Vec<Value>,
    number: SecondaryMap<Value, u32>,
    live_in: SecondaryMap<Block, Bits>,
    live_out: SecondaryMap<Block, Bits>,
}

/// A set of numbers.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
struct Bits(Vec<u64>);

impl Bits {
    fn new(bit_count: usize) -> Bits {
        Bits(vec![0; bit_count.div_ceil(64)])
    }

    fn insert(&mut self, number: u32) {
        self.0[number as usize / 64] |= 1 << (number % 64);
    }

    fn contains(&self, number: u32) -> bool {
        self.0.get(number as usize / 64).is_some_and(|word| word >> (number % 64) & 1 != 0)
    }

    fn iter(&self) -> impl Iterator<Item = u32> {
        let words = (0..).step_by(64).zip(&self.0);
        words.flat_map(|(first, &word)| set_bits(word).map(move |bit| first + bit))
    }

    fn union(&mut self, other: &Bits) {
        self.0.iter_mut().zip(&other.0).for_each(|(left, right)| *left |= right);
    }
}

impl Liveness {
    /// The values needed when a block begins, without its parameters, in the order of their numbers.
    pub fn live_in(&self, block: Block) -> impl Iterator<Item = Value> {
        self.live_in[block].iter().map(|number| self.crossing[number as usize])
    }

    /// The values needed behind a block's end, in the order of their numbers.
    pub fn live_out(&self, block: Block) -> impl Iterator<Item = Value> {
        self.live_out[block].iter().map(|number| self.crossing[number as usize])
    }

    /// Whether a value is needed when a block begins.
    pub fn is_live_in(&self, value: Value, block: Block) -> bool {
        self.number[value].checked_sub(1).is_some_and(|number| self.live_in[block].contains(number))
    }

    /// Whether a value is needed behind a block's end.
    pub fn is_live_out(&self, value: Value, block: Block) -> bool {
        self.number[value].checked_sub(1).is_some_and(|number| self.live_out[block].contains(number))
    }

    /// The values needed just before the instruction at `position` of a block, in the order of their
    /// numbers. The block's parameters and earlier results count.
    pub fn live_before(&self, function: &Function, block: Block, position: usize) -> Vec<Value> {
        let mut live_values: std::collections::BTreeSet<Value> = self.live_out(block).collect();
        let block_data = &function.blocks[block];
        block_data.terminator.for_each_arg(|value| {
            live_values.insert(value);
        });
        for &instruction in block_data.insts[position..].iter().rev() {
            for result in &function.insts[instruction].results {
                live_values.remove(result);
            }
            function.insts[instruction].data.for_each_arg(|value| {
                live_values.insert(value);
            });
        }
        live_values.into_iter().filter(|&value| function.const_bits(value).is_none()).collect()
    }
}

/// The positions of the ones in a word.
fn set_bits(word: u64) -> impl Iterator<Item = u32> {
    let remaining = std::iter::successors(Some(word), |&remainder| Some(remainder & remainder.wrapping_sub(1)));
    remaining.take_while(|&remainder| remainder != 0).map(u64::trailing_zeros)
}

/// Calls for every operand of a block's instructions and terminator.
fn for_each_use(function: &Function, block: Block, mut visit: impl FnMut(Value)) {
    let block_data = &function.blocks[block];
    for &instruction in &block_data.insts {
        function.insts[instruction].data.for_each_arg(&mut visit);
    }
    block_data.terminator.for_each_arg(&mut visit);
}

/// Computes which values are live where blocks begin and end.
pub fn compute_liveness(function: &Function, flow_graph: &Cfg) -> Liveness {
    let mut home_blocks: SecondaryMap<Value, Option<Block>> = SecondaryMap::new();
    for &block in flow_graph.reverse_post_order() {
        let block_data = &function.blocks[block];
        let results = block_data.insts.iter().flat_map(|&instruction| &function.insts[instruction].results);
        block_data.params.iter().chain(results).for_each(|&value| home_blocks[value] = Some(block));
    }
    let is_const = |value: Value| matches!(function.values[value].definition, ValueDef::Const(_));
    let mut crosses: SecondaryMap<Value, bool> = SecondaryMap::new();
    for &block in flow_graph.reverse_post_order() {
        for_each_use(function, block, |value| crosses[value] |= home_blocks[value] != Some(block) && !is_const(value));
    }
    let crossing: Vec<Value> = function.values.keys().filter(|&value| crosses[value]).collect();
    let mut number: SecondaryMap<Value, u32> = SecondaryMap::new();
    for (index, &value) in crossing.iter().enumerate() {
        number[value] = index as u32 + 1;
    }
    // `live_in` starts with the uses from outside; `kept` is what passes through a block.
    let mut live_in: SecondaryMap<Block, Bits> = SecondaryMap::new();
    let mut live_out: SecondaryMap<Block, Bits> = SecondaryMap::new();
    let mut definitions: SecondaryMap<Block, Vec<u32>> = SecondaryMap::new();
    for (index, &value) in crossing.iter().enumerate() {
        if let Some(block) = home_blocks[value] {
            definitions[block].push(index as u32);
        }
    }
    for &block in flow_graph.reverse_post_order() {
        let mut used_outside = Bits::new(crossing.len());
        for_each_use(function, block, |value| {
            if crosses[value] && home_blocks[value] != Some(block) {
                used_outside.insert(number[value] - 1);
            }
        });
        live_in[block] = used_outside;
        live_out[block] = Bits::new(crossing.len());
    }
    let mut queued: SecondaryMap<Block, bool> = SecondaryMap::new();
    let mut worklist: std::collections::VecDeque<Block> =
        flow_graph.reverse_post_order().iter().rev().copied().collect();
    worklist.iter().for_each(|&other_block| queued[other_block] = true);
    while let Some(block) = worklist.pop_front() {
        queued[block] = false;
        let mut output = std::mem::take(&mut live_out[block]);
        for &successor in flow_graph.successors(block) {
            output.union(&live_in[successor]);
        }
        let mut into = output.clone();
        for &definition in &definitions[block] {
            into.0[definition as usize / 64] &= !(1 << (definition % 64));
        }
        into.union(&live_in[block]);
        live_out[block] = output;
        if into != live_in[block] {
            live_in[block] = into;
            for &predecessor in flow_graph.predecessors(block) {
                if flow_graph.is_reachable(predecessor) && !std::mem::replace(&mut queued[predecessor], true) {
                    worklist.push_back(predecessor);
                }
            }
        }
    }
    Liveness { crossing, number, live_in, live_out }
}

#[cfg(test)]
mod tests {
    use super::super::cfg::build_cfg;
    use super::super::testing::random_code;
    use super::*;
    use std::collections::BTreeSet;

    /// Whether a use of `value` can be reached from the beginning of `block` without passing its definition.
    fn needed(function: &Function, value: Value, block: Block) -> bool {
        let mut seen = BTreeSet::new();
        let mut worklist = vec![block];
        while let Some(block) = worklist.pop() {
            if !seen.insert(block) || function.blocks[block].params.contains(&value) {
                continue;
            }
            let mut defined = false;
            let mut used = false;
            for &instruction in &function.blocks[block].insts {
                function.insts[instruction].data.for_each_arg(|argument| used |= argument == value && !defined);
                defined |= function.insts[instruction].results.contains(&value);
            }
            function.blocks[block].terminator.for_each_arg(|argument| used |= argument == value && !defined);
            if used {
                return true;
            }
            if !defined {
                worklist.extend(function.blocks[block].terminator.targets().iter().map(|target| target.block));
            }
        }
        false
    }

    #[test]
    fn agrees_with_a_search_for_each_value() {
        for seed in 0..200 {
            let function = random_code(seed, 2 + seed as usize % 13);
            let flow_graph = build_cfg(&function);
            let live = compute_liveness(&function, &flow_graph);
            let variables: Vec<Value> =
                function.values.keys().filter(|&value| function.const_bits(value).is_none()).collect();
            for &block in &function.layout {
                let expected: Vec<Value> =
                    variables.iter().copied().filter(|&value| needed(&function, value, block)).collect();
                assert_eq!(live.live_in(block).collect::<Vec<_>>(), expected, "seed {seed}, {block}\n{function}");
                let behind = |value: Value| flow_graph.successors(block).iter().any(|&s| needed(&function, value, s));
                let expected: Vec<Value> = variables.iter().copied().filter(|&value| behind(value)).collect();
                assert_eq!(live.live_out(block).collect::<Vec<_>>(), expected, "seed {seed}, {block}\n{function}");
                for &value in &variables {
                    assert_eq!(live.is_live_in(value, block), needed(&function, value, block));
                    assert_eq!(live.is_live_out(value, block), behind(value));
                }
                let first: BTreeSet<Value> = live.live_before(&function, block, 0).into_iter().collect();
                assert!(live.live_in(block).all(|v| first.contains(&v)));
                assert!(first.iter().all(|v| live.is_live_in(*v, block) || function.blocks[block].params.contains(v)));
            }
        }
    }

    #[test]
    fn hundred_thousand_values_are_quick() {
        let function = random_code(7, 18_000);
        assert!(function.values.len() > 100_000, "{}", function.values.len());
        let flow_graph = build_cfg(&function);
        let live = compute_liveness(&function, &flow_graph);
        assert_eq!(live.live_in(function.entry_block()).count(), 0);
    }
}
