//! Long switches among the branches that linearization folds.
//!
//! Requires: what `divergent_loops` makes of switches: chains of blocks that compare one value with a key each.
//! Ensures: of chains with many keys, which empty blocks lie on the way to a case, and where their chain begins; an order in
//! which these lie right in front of their cases.
//! Phases: chains from their first blocks on; their empty blocks; the order.
//! Source: none. The block index lays a whole chain out before the cases, as its blocks dominate each other. A thousand
//! conditions computed there wait for their cases in memory, and each is cut from all that came before. But keys differ:
//! the lanes with one are those of the chain's first block that have it, which can be asked where the case begins.
//!
//! ```text
//! s0: c0 = v == 0    s1: c1 = v == 1  …  e0: e1: …  case0: …  case1: …     the block index
//! s0: …  s1: …  …  e0: case0: …  (v == 1) e1: case1: …                     the order here
//! ```

use crate::analysis::predicates::Graph;
use crate::ir::{Block, BlockCall, Function, Inst, InstData, IntCc, Terminator, Value, ValueDef};
use cranelift_entity::SecondaryMap;
use std::collections::HashSet;

/// Keys from which on a chain is long.
const LONG: usize = 64;

/// A comparison of a long chain.
#[derive(Clone, Copy)]
pub(in crate::transform) struct Key {
    /// The chain's first block.
    pub first: Block,
    /// The value that the chain compares, as it is called in its first block.
    pub value: Value,
    /// The constant that it is compared with here.
    pub key: Value,
}

/// The keys of long chains.
#[derive(Default)]
pub(in crate::transform) struct LongSwitches {
    /// By the block that compares.
    pub keys: SecondaryMap<Block, Option<Key>>,
    /// By an empty block that only one comparison leads to: that comparison's block.
    pub ways: SecondaryMap<Block, Option<Block>>,
}

/// Finds long chains of divergent comparisons.
pub(in crate::transform) fn long_switches(function: &Function, graph: &Graph<'_>) -> LongSwitches {
    let mut switches = LongSwitches::default();
    for &first_block in graph.cfg.reverse_post_order() {
        if switches.keys[first_block].is_some() {
            continue;
        }
        let chain = follow_chain(function, graph, first_block);
        if chain.len() < LONG {
            continue;
        }
        for (block, cache_key) in chain {
            switches.keys[block] = Some(cache_key);
            let target = function.blocks[block].terminator.targets()[0].block;
            if is_way(function, graph, target) {
                switches.ways[target] = Some(block);
            }
        }
    }
    switches
}

/// The blocks of the chain that begins with a block, and what each asks.
fn follow_chain(function: &Function, graph: &Graph<'_>, first_block: Block) -> Vec<(Block, Key)> {
    let mut chain = Vec::new();
    let mut keys = HashSet::new();
    let Some((mut compared, ..)) = chain_comparison(function, graph, first_block) else { return chain };
    let value = compared;
    let mut block = first_block;
    while let Some((selector, key, instruction, next)) = chain_comparison(function, graph, block) {
        let is_alone = block == first_block || function.blocks[block].insts == [instruction];
        if selector != compared || !is_alone || !function.const_bits(key).is_some_and(|bits| keys.insert(bits)) {
            break;
        }
        chain.push((block, Key { first: first_block, value, key }));
        if graph.cfg.predecessors(next.block).len() != 1
            || graph.loops.innermost_loop(next.block) != graph.loops.innermost_loop(first_block)
        {
            break;
        }
        // Values may go along as arguments.
        if let Some(index) = next.arguments.iter().position(|&argument| argument == compared) {
            compared = function.blocks[next.block].params[index];
        }
        block = next.block;
    }
    chain
}

/// What a divergent branch compares with which constant, where, and where it goes if they differ.
fn chain_comparison<'a>(
    function: &'a Function,
    graph: &Graph<'_>,
    block: Block,
) -> Option<(Value, Value, Inst, &'a BlockCall)> {
    let Terminator::Branch { condition, else_to, .. } = &function.blocks[block].terminator else { return None };
    let ValueDef::Result(instruction, _) = function.values[*condition].definition else { return None };
    match function.insts[instruction].data {
        InstData::Icmp { comparison: IntCc::Eq, arguments: [value, key] } if graph.divergent.contains(block) => {
            Some((value, key, instruction, else_to))
        }
        _ => None,
    }
}

/// Whether a block does nothing but lead from one block to another one of the same loop.
fn is_way(function: &Function, graph: &Graph<'_>, block: Block) -> bool {
    let Terminator::Jump(target) = &function.blocks[block].terminator else { return false };
    let block_data = &function.blocks[block];
    let &[source] = graph.cfg.predecessors(block) else { return false };
    let innermost = |block: Block| graph.loops.innermost_loop(block);
    let same_loop = innermost(source) == innermost(block) && innermost(target.block) == innermost(block);
    block_data.insts.is_empty()
        && block_data.params.is_empty()
        && same_loop
        && graph.loops.with_header(target.block).is_none()
}

impl LongSwitches {
    /// Moves the blocks on the way to cases right in front of these.
    pub fn move_ways_to_cases(&self, function: &Function, index: Vec<Block>) -> Vec<Block> {
        let mut ways: SecondaryMap<Block, Vec<Block>> = SecondaryMap::new();
        for &block in index.iter().filter(|&&block| self.ways[block].is_some()) {
            function.blocks[block].terminator.targets().into_iter().for_each(|target| ways[target.block].push(block));
        }
        let mut block_order = Vec::with_capacity(index.len());
        for block in index.into_iter().filter(|&block| self.ways[block].is_none()) {
            block_order.append(&mut ways[block]);
            block_order.push(block);
        }
        block_order
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::block_index::block_index;
    use crate::analysis::testing::fall_through_switch;
    use crate::ir::SourceLoc;
    use crate::transform::divergent_loops::{EmptyEntries, divergent_loops};
    use crate::transform::normalize::normalize_function;
    use cranelift_entity::EntitySet;
    use lockstep_protocol::types::Type;

    /// A divergent switch of so many cases that fall through, its long chains, and the order of its blocks.
    fn of_switch(cases: usize) -> (Function, LongSwitches, Vec<Block>) {
        let (mut function, over) = fall_through_switch(cases);
        let entry_block = function.entry_block();
        for block in function.layout.clone().into_iter().filter(|&block| block != entry_block) {
            let asks = InstData::Icmp { comparison: IntCc::Ne, arguments: [over, over] };
            function.append_inst(block, asks, &[Type::BOOL], SourceLoc::default());
        }
        normalize_function(&mut function);
        let mut divergent = EntitySet::new();
        divergent.insert(entry_block);
        let loops = divergent_loops(&mut function, &mut divergent, EmptyEntries::Gates);
        let found = long_switches(&function, &loops.control_flow.with_divergent(&divergent));
        let index = block_index(&loops.control_flow.cfg, &loops.control_flow.dominators, &loops.control_flow.loops);
        let block_order = found.move_ways_to_cases(&function, index);
        (function, found, block_order)
    }

    #[test]
    fn the_ways_to_cases_lie_right_in_front_of_them() {
        let (function, found, block_order) = of_switch(LONG);
        let ways: Vec<usize> =
            (0..block_order.len()).filter(|&index| found.ways[block_order[index]].is_some()).collect();
        assert_eq!(ways.len(), LONG - 1, "nothing else leads to the first case");
        for index in ways {
            assert_eq!(function.blocks[block_order[index]].terminator.targets()[0].block, block_order[index + 1]);
        }
        let compares = |block: &&Block| found.keys[**block].is_some();
        let keys: Vec<Key> = block_order.iter().filter(compares).filter_map(|&block| found.keys[block]).collect();
        assert_eq!(keys.len(), LONG);
        let entry_block = function.entry_block();
        let of_the_first = |cache_key: &Key| {
            cache_key.first == entry_block && cache_key.value == function.blocks[entry_block].params[0]
        };
        assert!(keys.iter().all(of_the_first), "a chain has one first block and one value");
        let bits: Vec<Option<u128>> = keys.iter().map(|cache_key| function.const_bits(cache_key.key)).collect();
        assert_eq!(bits, (0..LONG as u128).map(Some).collect::<Vec<_>>());
    }

    #[test]
    fn short_chains_stay_in_the_order_of_the_block_index() {
        let (_, found, block_order) = of_switch(LONG - 1);
        assert!(block_order.iter().all(|&block| found.keys[block].is_none() && found.ways[block].is_none()));
    }
}
