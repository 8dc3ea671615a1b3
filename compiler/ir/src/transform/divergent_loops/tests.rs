//! That every loop is uniform afterwards, and how often control flow is analysed.

use super::{EmptyEntries, divergent_loops, is_divergent};
use crate::analysis::predicates::ANALYSED;
use crate::analysis::testing::{graph, random_reducible};
use crate::ir::{Block, Function};
use crate::testing::Random;
use crate::transform::normalize::normalize_function;
use cranelift_entity::{EntitySet, SecondaryMap};

/// How often the pass analyses a function's control flow if all branches are divergent.
fn analyses(text: &str) -> usize {
    let (mut function, _): (Function, _) = graph(text);
    normalize_function(&mut function);
    let mut divergent = EntitySet::new();
    function.layout.iter().filter(|&&block| function.blocks[block].terminator.selector().is_some()).for_each(
        |&block| {
            divergent.insert(block);
        },
    );
    ANALYSED.set(0);
    divergent_loops(&mut function, &mut divergent, EmptyEntries::Gates);
    ANALYSED.get()
}

/// So many loops, one behind the other.
fn chain(count: usize) -> String {
    let loops: String = (0..count).map(|n| format!("h{n} b{n} h{};b{n} h{n};", n + 1)).collect();
    format!("{loops}h{count}")
}

/// So many loops, one in the other.
fn nest(depth: usize) -> String {
    let heads: String = (0..depth).map(|n| format!("h{n} h{} l{n};", n + 1)).collect();
    let ends: String = (1..depth).map(|n| format!("l{n} h{};", n - 1)).collect();
    format!("e h0;{heads}h{depth} h{};{ends}l0", depth - 1)
}

#[test]
fn not_once_per_loop() {
    assert_eq!(analyses(&chain(50)), analyses(&chain(1)));
    // Once per depth, and at most as often again for loops that are entered with no lane.
    let (two, twenty) = (analyses(&nest(2)), analyses(&nest(20)));
    assert!(two < twenty && twenty <= 2 * 20 + 2, "{two} {twenty}");
}

/// Makes the loops of a function uniform and says which of those that there are then are not.
fn loops_left_divergent(function: &mut Function, mut divergent: EntitySet<Block>) -> Vec<Block> {
    let control_flow = divergent_loops(function, &mut divergent, EmptyEntries::Gates).control_flow;
    let graph = control_flow.with_divergent(&divergent);
    let mut block_lanes = SecondaryMap::new();
    let left = control_flow.loops.iter().filter(|&(loop_id, _)| is_divergent(&graph, loop_id, &mut block_lanes));
    left.map(|(_, loop_data)| loop_data.header).collect()
}

#[test]
fn no_divergent_branch_leaves_a_loop_of_random_graphs() {
    for seed in 0..20_000 {
        let mut random = Random::new(seed);
        let mut function = random_reducible(random.next_bits(), 8 + random.below(40));
        let before = function.clone();
        let mut divergent = EntitySet::new();
        for &block in &function.layout {
            if function.blocks[block].terminator.selector().is_some() && random.percent(6) {
                divergent.insert(block);
            }
        }
        let left = loops_left_divergent(&mut function, divergent.clone());
        assert_eq!(left, [], "seed {seed}, of {divergent:?} in\n{before}\ncame\n{function}");
    }
}
