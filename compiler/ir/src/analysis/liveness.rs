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
    fn new(count: usize) -> Bits {
        Bits(vec![0; count.div_ceil(64)])
    }

    fn insert(&mut self, n: u32) {
        self.0[n as usize / 64] |= 1 << (n % 64);
    }

    fn contains(&self, n: u32) -> bool {
        self.0.get(n as usize / 64).is_some_and(|w| w >> (n % 64) & 1 != 0)
    }

    fn iter(&self) -> impl Iterator<Item = u32> {
        self.0.iter().enumerate().flat_map(|(i, &word)| {
            let words = std::iter::successors(Some(word), |&w| Some(w & w.wrapping_sub(1)));
            words.take_while(|&w| w != 0).map(move |w| i as u32 * 64 + w.trailing_zeros())
        })
    }

    fn union(&mut self, other: &Bits) {
        self.0.iter_mut().zip(&other.0).for_each(|(a, b)| *a |= b);
    }
}

impl Liveness {
    /// The values needed when a block begins, without its parameters, in the order of their numbers.
    pub fn live_in(&self, block: Block) -> impl Iterator<Item = Value> {
        self.live_in[block].iter().map(|n| self.crossing[n as usize])
    }

    /// The values needed behind a block's end, in the order of their numbers.
    pub fn live_out(&self, block: Block) -> impl Iterator<Item = Value> {
        self.live_out[block].iter().map(|n| self.crossing[n as usize])
    }

    /// Whether a value is needed when a block begins.
    pub fn is_live_in(&self, value: Value, block: Block) -> bool {
        self.number[value].checked_sub(1).is_some_and(|n| self.live_in[block].contains(n))
    }

    /// Whether a value is needed behind a block's end.
    pub fn is_live_out(&self, value: Value, block: Block) -> bool {
        self.number[value].checked_sub(1).is_some_and(|n| self.live_out[block].contains(n))
    }

    /// The values needed just before the instruction at `position` of a block, in the order of their
    /// numbers. The block's parameters and earlier results count.
    pub fn live_before(&self, f: &Function, block: Block, position: usize) -> Vec<Value> {
        let mut live: std::collections::BTreeSet<Value> = self.live_out(block).collect();
        let data = &f.blocks[block];
        data.terminator.for_each_arg(|v| {
            live.insert(v);
        });
        for &inst in data.insts[position..].iter().rev() {
            for result in &f.insts[inst].results {
                live.remove(result);
            }
            f.insts[inst].data.for_each_arg(|v| {
                live.insert(v);
            });
        }
        live.into_iter().filter(|&v| f.const_bits(v).is_none()).collect()
    }
}

/// Computes which values are live where blocks begin and end.
pub fn compute_liveness(f: &Function, cfg: &Cfg) -> Liveness {
    let mut home: SecondaryMap<Value, Option<Block>> = SecondaryMap::new();
    for &block in cfg.reverse_post_order() {
        let data = &f.blocks[block];
        let results = data.insts.iter().flat_map(|&inst| &f.insts[inst].results);
        data.params.iter().chain(results).for_each(|&v| home[v] = Some(block));
    }
    let is_const = |v: Value| matches!(f.values[v].definition, ValueDef::Const(_));
    let each_use = |block: Block, use_of: &mut dyn FnMut(Value)| {
        let data = &f.blocks[block];
        for &inst in &data.insts {
            f.insts[inst].data.for_each_arg(&mut *use_of);
        }
        data.terminator.for_each_arg(&mut *use_of);
    };
    let mut crosses: SecondaryMap<Value, bool> = SecondaryMap::new();
    for &block in cfg.reverse_post_order() {
        each_use(block, &mut |v| crosses[v] |= home[v] != Some(block) && !is_const(v));
    }
    let crossing: Vec<Value> = f.values.keys().filter(|&v| crosses[v]).collect();
    let mut number: SecondaryMap<Value, u32> = SecondaryMap::new();
    for (i, &v) in crossing.iter().enumerate() {
        number[v] = i as u32 + 1;
    }
    // `live_in` starts with the uses from outside; `kept` is what passes through a block.
    let mut live_in: SecondaryMap<Block, Bits> = SecondaryMap::new();
    let mut live_out: SecondaryMap<Block, Bits> = SecondaryMap::new();
    let mut defs: SecondaryMap<Block, Vec<u32>> = SecondaryMap::new();
    for (i, &v) in crossing.iter().enumerate() {
        if let Some(block) = home[v] {
            defs[block].push(i as u32);
        }
    }
    for &block in cfg.reverse_post_order() {
        let mut bits = Bits::new(crossing.len());
        each_use(block, &mut |v| {
            if crosses[v] && home[v] != Some(block) {
                bits.insert(number[v] - 1);
            }
        });
        live_in[block] = bits;
        live_out[block] = Bits::new(crossing.len());
    }
    let mut queued: SecondaryMap<Block, bool> = SecondaryMap::new();
    let mut work: std::collections::VecDeque<Block> = cfg.reverse_post_order().iter().rev().copied().collect();
    work.iter().for_each(|&b| queued[b] = true);
    while let Some(block) = work.pop_front() {
        queued[block] = false;
        let mut out = std::mem::take(&mut live_out[block]);
        for &succ in cfg.successors(block) {
            out.union(&live_in[succ]);
        }
        let mut into = out.clone();
        for &n in &defs[block] {
            into.0[n as usize / 64] &= !(1 << (n % 64));
        }
        into.union(&live_in[block]);
        live_out[block] = out;
        if into != live_in[block] {
            live_in[block] = into;
            for &pred in cfg.predecessors(block) {
                if cfg.is_reachable(pred) && !std::mem::replace(&mut queued[pred], true) {
                    work.push_back(pred);
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

    /// Whether a use of `v` can be reached from the beginning of `block` without passing its definition.
    fn needed(f: &Function, v: Value, block: Block) -> bool {
        let mut seen = BTreeSet::new();
        let mut stack = vec![block];
        while let Some(block) = stack.pop() {
            if !seen.insert(block) || f.blocks[block].params.contains(&v) {
                continue;
            }
            let mut defined = false;
            let mut used = false;
            for &inst in &f.blocks[block].insts {
                f.insts[inst].data.for_each_arg(|arg| used |= arg == v && !defined);
                defined |= f.insts[inst].results.contains(&v);
            }
            f.blocks[block].terminator.for_each_arg(|arg| used |= arg == v && !defined);
            if used {
                return true;
            }
            if !defined {
                stack.extend(f.blocks[block].terminator.targets().iter().map(|to| to.block));
            }
        }
        false
    }

    #[test]
    fn agrees_with_a_search_for_each_value() {
        for seed in 0..200 {
            let f = random_code(seed, 2 + seed as usize % 13);
            let cfg = build_cfg(&f);
            let live = compute_liveness(&f, &cfg);
            let variables: Vec<Value> = f.values.keys().filter(|&v| f.const_bits(v).is_none()).collect();
            for &block in &f.layout {
                let expected: Vec<Value> = variables.iter().copied().filter(|&v| needed(&f, v, block)).collect();
                assert_eq!(live.live_in(block).collect::<Vec<_>>(), expected, "seed {seed}, {block}\n{f}");
                let behind = |v: Value| cfg.successors(block).iter().any(|&s| needed(&f, v, s));
                let expected: Vec<Value> = variables.iter().copied().filter(|&v| behind(v)).collect();
                assert_eq!(live.live_out(block).collect::<Vec<_>>(), expected, "seed {seed}, {block}\n{f}");
                for &v in &variables {
                    assert_eq!(live.is_live_in(v, block), needed(&f, v, block));
                    assert_eq!(live.is_live_out(v, block), behind(v));
                }
                let first: BTreeSet<Value> = live.live_before(&f, block, 0).into_iter().collect();
                assert!(live.live_in(block).all(|v| first.contains(&v)));
                assert!(first.iter().all(|v| live.is_live_in(*v, block) || f.blocks[block].params.contains(v)));
            }
        }
    }

    #[test]
    fn hundred_thousand_values_are_quick() {
        let f = random_code(7, 18_000);
        assert!(f.values.len() > 100_000, "{}", f.values.len());
        let cfg = build_cfg(&f);
        let live = compute_liveness(&f, &cfg);
        assert_eq!(live.live_in(f.entry_block()).count(), 0);
    }
}
