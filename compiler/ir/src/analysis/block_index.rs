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
pub fn block_index(graph: &Cfg, dominators: &Dominators, loops: &Loops) -> Vec<Block> {
    let mut children: SecondaryMap<Block, Vec<Block>> = SecondaryMap::new();
    for &block in graph.reverse_post_order() {
        if let Some(parent) = dominators.immediate_dominator(block) {
            children[parent].push(block);
        }
    }
    let mut waiting: SecondaryMap<Loop, Vec<Block>> = SecondaryMap::new();
    let mut order = Vec::new();
    let mut stack: Vec<Step> =
        graph.reverse_post_order().first().map(|&entry| Step::Block(entry)).into_iter().collect();
    while let Some(step) = stack.pop() {
        // Blocks to come next, and the loop in which they must lie to come now.
        let (mut next, here) = match step {
            Step::Block(block) => {
                if let Some(loop_id) = loops.with_header(block) {
                    stack.push(Step::End(loop_id));
                }
                order.push(block);
                (std::mem::take(&mut children[block]), loops.innermost_loop(block))
            }
            Step::End(loop_id) => (std::mem::take(&mut waiting[loop_id]), loops.get(loop_id).parent),
        };
        next.sort_by_key(|&block| graph.rpo_number(block));
        // The first one must be on top of the stack.
        for block in next.into_iter().rev() {
            match here {
                Some(loop_id) if !loops.contains(loop_id, block) => waiting[loop_id].push(block),
                _ => stack.push(Step::Block(block)),
            }
        }
    }
    order
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
            let graph = build_cfg(&function);
            let dominators = compute_dominators(&graph);
            let forest = find_loops(&graph, &dominators);
            if !forest.irreducible_edges().is_empty() {
                continue;
            }
            checked += 1;
            let order = block_index(&graph, &dominators, &forest);
            let at = |block: Block| order.iter().position(|&o| o == block).expect("every block");
            assert_eq!(order.len(), graph.reverse_post_order().len(), "seed {seed}\n{function}");
            for &source in &order {
                for &target in graph.successors(source) {
                    assert!(
                        at(source) < at(target) || dominators.dominates(target, source),
                        "seed {seed}: {source} -> {target}\n{function}"
                    );
                }
            }
            for (_, loop_data) in forest.iter() {
                let places: Vec<usize> = loop_data.blocks.iter().map(|&block| at(block)).collect();
                let (first, last) = (places.iter().min(), places.iter().max());
                assert_eq!(
                    last.unwrap() - first.unwrap() + 1,
                    places.len(),
                    "seed {seed}: {}\n{function}",
                    loop_data.header
                );
            }
            if forest.iter().next().is_none() {
                for &d in &order {
                    let count = order.iter().filter(|&&block| dominators.dominates(d, block)).count();
                    let behind = order[at(d)..].iter().take_while(|&&block| dominators.dominates(d, block)).count();
                    assert_eq!(count, behind, "seed {seed}: {d}\n{function}");
                }
            }
        }
        assert!(checked > 100, "{checked}");
    }
}
