//! An order of the blocks in which partial linearization lays them out.
//!
//! Requires: graph, dominators and loops of a reducible function as it is.
//! Ensures: every reachable block once. Without the edges back to loop headers the order is topological. The
//! blocks of a loop are consecutive, and a loop's latch is the last of them. Apart from the blocks behind
//! a loop, which come after it, the blocks that one block dominates are consecutive as well.
//! Phases: a walk over the dominator tree; children that lie outside of the loop wait for its end.
//! Source: Moll 2021, section 2.5 and Figure 8.6.

use super::cfg::Cfg;
use super::dominators::Dominators;
use super::loops::{Loop, Loops};
use crate::ir::Block;
use cranelift_entity::SecondaryMap;

enum Step {
    Block(Block),
    /// The loop's blocks are all laid out.
    End(Loop),
}

/// Computes the order.
pub fn block_index(flow_graph: &Cfg, dominators: &Dominators, loop_forest: &Loops) -> Vec<Block> {
    let mut children: SecondaryMap<Block, Vec<Block>> = SecondaryMap::new();
    for &block in flow_graph.reverse_post_order() {
        if let Some(parent) = dominators.immediate_dominator(block) {
            children[parent].push(block);
        }
    }
    let mut waiting: SecondaryMap<Loop, Vec<Block>> = SecondaryMap::new();
    let mut block_order = Vec::new();
    let mut pending_steps: Vec<Step> =
        flow_graph.reverse_post_order().first().map(|&entry_block| Step::Block(entry_block)).into_iter().collect();
    while let Some(step) = pending_steps.pop() {
        // Blocks to come next, and the loop in which they must lie to come now.
        let (mut next, current_loop) = match step {
            Step::Block(block) => {
                if let Some(loop_id) = loop_forest.with_header(block) {
                    pending_steps.push(Step::End(loop_id));
                }
                block_order.push(block);
                (std::mem::take(&mut children[block]), loop_forest.innermost_loop(block))
            }
            Step::End(loop_id) => (std::mem::take(&mut waiting[loop_id]), loop_forest.get(loop_id).parent),
        };
        next.sort_by_key(|&block| flow_graph.rpo_number(block));
        // The first one must be on top of the stack.
        for block in next.into_iter().rev() {
            match current_loop {
                Some(loop_id) if !loop_forest.contains(loop_id, block) => waiting[loop_id].push(block),
                _ => pending_steps.push(Step::Block(block)),
            }
        }
    }
    block_order
}

#[cfg(test)]
mod tests {
    use super::super::cfg::build_cfg;
    use super::super::dominators::compute_dominators;
    use super::super::loops::find_loops;
    use super::super::testing::random_graph;
    use super::*;

    #[test]
    fn topological_and_compact() {
        let mut checked = 0;
        for seed in 0..600 {
            let function = random_graph(seed, 2 + (seed as usize % 17));
            let flow_graph = build_cfg(&function);
            let dominators = compute_dominators(&flow_graph);
            let loop_forest = find_loops(&flow_graph, &dominators);
            if !loop_forest.irreducible_edges().is_empty() {
                continue;
            }
            checked += 1;
            let block_order = block_index(&flow_graph, &dominators, &loop_forest);
            let at = |block: Block| block_order.iter().position(|&o| o == block).expect("every block");
            assert_eq!(block_order.len(), flow_graph.reverse_post_order().len(), "seed {seed}\n{function}");
            for &source in &block_order {
                for &target in flow_graph.successors(source) {
                    assert!(
                        at(source) < at(target) || dominators.dominates(target, source),
                        "seed {seed}: {source} -> {target}\n{function}"
                    );
                }
            }
            for (_, loop_data) in loop_forest.iter() {
                let places: Vec<usize> = loop_data.blocks.iter().map(|&block| at(block)).collect();
                let (first, last) = (places.iter().min(), places.iter().max());
                assert_eq!(
                    last.unwrap() - first.unwrap() + 1,
                    places.len(),
                    "seed {seed}: {}\n{function}",
                    loop_data.header
                );
            }
            if loop_forest.iter().next().is_none() {
                for &d in &block_order {
                    let count = block_order.iter().filter(|&&block| dominators.dominates(d, block)).count();
                    let behind =
                        block_order[at(d)..].iter().take_while(|&&block| dominators.dominates(d, block)).count();
                    assert_eq!(count, behind, "seed {seed}: {d}\n{function}");
                }
            }
        }
        assert!(checked > 100, "{checked}");
    }
}
