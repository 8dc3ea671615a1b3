//! Definition 1 by dominators beside Definition 1 by enumeration of all paths.

use super::*;
use crate::analysis::testing::random_reducible;
use cranelift_entity::SecondaryMap;
use std::collections::BTreeSet;

/// The blocks of a path without its first one, by the bits of their numbers.
type PathBlocks = u128;

/// All paths from a block that come to no block twice, to every block.
fn find_paths(flow: &ControlFlow, start: Block) -> SecondaryMap<Block, Vec<PathBlocks>> {
    let mut paths: SecondaryMap<Block, Vec<PathBlocks>> = SecondaryMap::new();
    let mut pending = vec![(start, 0)];
    while let Some((block, path)) = pending.pop() {
        for &successor in flow.graph.successors(block) {
            let bit = 1 << successor.as_u32();
            if successor != start && path & bit == 0 {
                paths[successor].push(path | bit);
                pending.push((successor, path | bit));
            }
        }
    }
    paths
}

/// Whether some path of one list shares nothing with some path of another, but for these blocks.
fn are_disjoint(left: &[PathBlocks], right: &[PathBlocks], but_for: PathBlocks) -> bool {
    left.iter().enumerate().any(|(left_index, first)| {
        right.iter().enumerate().any(|(right_index, second)| {
            let is_one_path = std::ptr::eq(left, right) && left_index == right_index;
            !is_one_path && first & second & !but_for == 0
        })
    })
}

/// The blocks that Definition 1 marks, word by word.
fn mark_naively(flow: &ControlFlow, branch: Block) -> BTreeSet<Block> {
    let paths = find_paths(flow, branch);
    let blocks = flow.graph.reverse_post_order().iter().copied();
    let is_met = |block: &Block| are_disjoint(&paths[*block], &paths[*block], 1 << block.as_u32());
    let mut marked: BTreeSet<Block> = blocks.filter(is_met).collect();
    marked.extend(flow.graph.successors(branch).iter().filter(|&&successor| successor != branch));
    for loop_id in flow.loops.loops_around(branch) {
        let around = flow.loops.get(loop_id);
        for &(_, exit_block) in &around.exits {
            if around.latches.iter().any(|&latch| are_disjoint(&paths[exit_block], &paths[latch], 0)) {
                marked.insert(exit_block);
            }
        }
    }
    marked
}

#[test]
fn dominators_find_what_disjoint_paths_reach() {
    let (mut branch_count, mut exit_count) = (0, 0);
    for seed in 0..2000 {
        let function = random_reducible(seed, 9);
        let flow = ControlFlow::of_function(&function);
        assert!(function.blocks.len() <= 128, "a path is a set of at most 128 blocks");
        for branch in flow.branching_blocks() {
            let mut solver = Solver::new(&function, &flow, Layout::X, &EntitySet::new());
            solver.mark_divergent_blocks(branch);
            let blocks = flow.graph.reverse_post_order().iter().copied();
            let found: BTreeSet<Block> = blocks.filter(|&block| solver.divergent_blocks.contains(block)).collect();
            let expected = mark_naively(&flow, branch);
            assert_eq!(found, expected, "seed {seed}, {branch}");
            branch_count += 1;
            let leaves =
                |block: &&Block| !flow.graph.successors(branch).contains(block) && solver.is_loop_exit(**block);
            exit_count += expected.iter().filter(leaves).count();
        }
    }
    assert!(branch_count > 5000 && exit_count > 50, "{branch_count} branches, {exit_count} exits further on");
}
