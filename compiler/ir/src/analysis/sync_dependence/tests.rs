//! Figures of the papers, an exact oracle for graphs without cycles, two simulated lanes for those with
//! loops; and in `earlier` the analyses of the earlier papers for comparison.

use super::*;
use crate::analysis::cfg::build_cfg;
use crate::analysis::dominators::compute_dominators;
use crate::analysis::loops::find_loops;
use crate::analysis::testing::{graph, random_dag, random_reducible};
use crate::ir::{BlockCall, Function, Terminator};
use crate::testing::Random;
use lockstep_protocol::types::Type;
use std::collections::HashMap;

mod earlier;

/// What follows when a branch is divergent, asked of a graph once.
fn control_divergence(flow_graph: &Cfg, loop_forest: &Loops, branch: Block) -> ControlDivergence {
    ControlDivergence::clone(&Walks::default().control_divergence(flow_graph, loop_forest, branch))
}

/// Tables that are used again and again, and what is remembered, say the same as tables made anew for each question.
#[test]
fn shared_walks_find_what_single_ones_find() {
    let mut branches = 0;
    for seed in 0..600 {
        let size = 3 + seed as usize % 40;
        let function = if seed % 3 == 0 { random_dag(seed, size) } else { random_reducible(seed, size) };
        let flow_graph = build_cfg(&function);
        let loop_forest = find_loops(&flow_graph, &compute_dominators(&flow_graph));
        let mut walks = Walks::default();
        for _ in 0..2 {
            for &branch in
                flow_graph.reverse_post_order().iter().filter(|&&block| flow_graph.successors(block).len() > 1)
            {
                let found = walks.control_divergence(&flow_graph, &loop_forest, branch);
                assert_eq!(
                    *found,
                    control_divergence(&flow_graph, &loop_forest, branch),
                    "seed {seed}, {branch}\n{function}"
                );
                branches += 1;
            }
        }
    }
    assert!(branches > 2000, "{branches}");
}

/// Walks that go on where all lanes go that are together find what those find that follow each edge.
#[test]
fn going_on_at_single_exits_changes_nothing() {
    for seed in 0..1500 {
        let size = 3 + seed as usize % 40;
        let function = if seed % 3 == 0 { random_dag(seed, size) } else { random_reducible(seed, size) };
        let flow_graph = build_cfg(&function);
        let loop_forest = find_loops(&flow_graph, &compute_dominators(&flow_graph));
        let graph = WalkedGraph { cfg: &flow_graph, loops: &loop_forest, single_exits: &SingleExits::default() };
        let mut labels = vec![None; flow_graph.reverse_post_order().len()];
        for &branch in flow_graph.reverse_post_order().iter().filter(|&&block| flow_graph.successors(block).len() > 1) {
            let edge_by_edge = super::control_divergence(graph, branch, &mut labels);
            let found = control_divergence(&flow_graph, &loop_forest, branch);
            assert_eq!(found, edge_by_edge, "seed {seed}, {branch}\n{function}");
        }
    }
}

/// `joins` and temporally divergent exits of a branch, by name.
fn effects(text: &str, branch: &str) -> (String, String) {
    let (function, names) = graph(text);
    let flow_graph = build_cfg(&function);
    let loop_forest = find_loops(&flow_graph, &compute_dominators(&flow_graph));
    let position = names.iter().position(|n| *n == branch).unwrap();
    let divergence = control_divergence(&flow_graph, &loop_forest, Block::from_u32(position as u32));
    let name = |block: Block| names[block.as_u32() as usize];
    let joins: BTreeSet<&str> = divergence.joins.iter().map(|&other_block| name(other_block)).collect();
    let exits: BTreeSet<&str> = divergence.temporal.iter().map(|&(_, other_block)| name(other_block)).collect();
    (joins.into_iter().collect::<Vec<_>>().join(" "), exits.into_iter().collect::<Vec<_>>().join(" "))
}

fn expect(text: &str, branch: &str, joins: &str, exits: &str) {
    assert_eq!(effects(text, branch), (joins.to_string(), exits.to_string()), "{branch} in {text}");
}

/// Moll 2021, 7.1: a diamond, and a loop that lanes leave one by one.
#[test]
fn a_diamond_and_a_loop() {
    expect("A B C; B D; C D; D", "A", "D", "");
    expect("A B; B B2 X; B2 B; X", "B", "", "X");
}

/// Moll 2021, 7.3: no disjoint paths lead from A to both exits, for all lanes that leave went through B. But
/// some leave through E, others in a later iteration through F, and meet behind the loop.
#[test]
fn exits_of_a_divergent_loop_meet() {
    expect("P A; A B D; B C E; C D F; D A; E X; F X; X", "A", "D X", "E F");
}

/// As 7.3, but lanes that are still there at D leave through F all at once.
#[test]
fn an_exit_of_a_divergent_loop_for_the_rest() {
    let text = "P A; A B D; B C E; C D; D A2 F; A2 A; E X; F X; X";
    expect(text, "A", "D X", "E");
    expect(text, "B", "X", "E");
    expect(text, "D", "X", "F");
}

/// Moll 2021, 7.6: two exits that all lanes take together, and two that they take one by one.
#[test]
fn uniform_exits_of_a_divergent_loop_do_not_meet() {
    let text = "P H; H W B; B X D; D Y C; C Z L; L H; W J; X J; J K; Y M; Z M; M K; K";
    expect(text, "D", "K M", "Y");
    expect(text, "C", "K M", "Z");
    expect("P H; H W B; B X D; D D1 D2; D1 Y L1; D2 Z L1; L1 H; W J; X J; J K; Y M; Z M; M K; K", "D", "K L1 M", "Y Z");
}

/// Moll 2021, 7.7a: lanes that block 2 sends different ways meet in the latch, 5, or leave one by one; the
/// exits before it, 6 and 7, are uniform.
#[test]
fn divergent_exits_behind_uniform_ones() {
    let text = "P 0; 0 6 1; 1 7 2; 2 3 5; 3 8 4; 4 9 5; 5 0; 6 U; 7 U; U R; 8 V; 9 V; V R; R";
    expect(text, "2", "5 R V", "8 9");
}

/// A join inside the loop, then an exit that the join decides alike for all; and Moll 2021, 7.7b.
#[test]
fn lanes_that_met_leave_together() {
    expect("P H; H A B; A C; B C; C X L; L H; X", "H", "C", "");
    // 7.7b: the inner loop's uniform exits stay together in the outer loop.
    let text = "P O; O H; H A U1; A B U2; B L D; L H; U1 J; U2 J; J O2; D R; O2 O; R";
    expect(text, "B", "", "D");
}

/// Moll 2021, 7.9a: D is left late when H decides, E when B or C does, and neither when another one does.
#[test]
fn each_exit_has_branches_of_its_own() {
    let text = "P H; H D B; B C Q; C E Q; Q H; D R; E R; R";
    expect(text, "H", "R", "D");
    expect(text, "B", "Q R", "E");
    expect(text, "C", "R", "E");
}

/// Moll 2021, 7.9b: lanes meet in D, before the post-dominator F; B has no part in it.
#[test]
fn a_jump_into_an_arm() {
    let text = "A B C; B D E; C D; D F; E F; F";
    expect(text, "A", "D F", "");
    expect(text, "B", "F", "");
}

/// Moll 2021, 7.9c: the middle branch decides nothing at the join; 7.9d: a switch.
#[test]
fn paths_that_do_not_part_before_the_join() {
    let text = "A B D; B C E; C D1 E1; D1 D; E1 D; D; E";
    assert_eq!(effects(text, "B").0, "");
    assert_eq!(effects(text, "A").0, "D");
    expect("S A B C; A D; B D; C E; D E; E", "S", "D E", "");
}

/// Nested loops: leaving both at once, and meeting in the outer one.
#[test]
fn an_exit_of_two_loops() {
    let text = "P O; O H; H I X; I L E; L H; E O1; O1 O; X R; R";
    // I leaves the inner loop lane by lane; X then is reached in different iterations of the outer one.
    expect(text, "I", "", "E X");
    expect(text, "H", "", "X");
}

// ---- exact oracle for graphs without cycles ----

/// All paths between two blocks.
fn paths(flow_graph: &Cfg, source: Block, target: Block) -> Vec<Vec<Block>> {
    if source == target {
        return vec![vec![target]];
    }
    let mut all = Vec::new();
    for &next_block in flow_graph.successors(source) {
        for mut path in paths(flow_graph, next_block, target) {
            path.insert(0, source);
            all.push(path);
        }
    }
    all
}

/// Whether paths from the branch lead to both blocks that have nothing in common but their ends: two
/// units of flow through blocks that take one. One unit at most goes to the successors that lanes take together.
fn two_paths(flow_graph: &Cfg, branch: Block, together: &BTreeSet<Block>, target: Block, other: Block) -> bool {
    let number = |block: Block| 2 * block.as_u32() as usize;
    let sink = 2 * flow_graph
        .reverse_post_order()
        .iter()
        .map(|other_block| other_block.as_u32() as usize + 1)
        .max()
        .unwrap_or(0);
    let way_together = sink + 1;
    // From, to, how much more may flow.
    let mut arcs: Vec<(usize, usize, usize)> = Vec::new();
    let mut arc = |from: usize, to: usize, room: usize| arcs.extend([(from, to, room), (to, from, 0)]);
    for &block in flow_graph.reverse_post_order() {
        // A block's beginning has an even number, its end the next one.
        if block == target || block == other {
            arc(number(block), sink, if target == other { 2 } else { 1 });
        } else if block != branch {
            arc(number(block), number(block) + 1, 1);
        }
        for &successor in flow_graph.successors(block) {
            let is_together = block == branch && together.contains(&successor);
            arc(if is_together { way_together } else { number(block) + 1 }, number(successor), 1);
        }
    }
    arc(number(branch) + 1, way_together, 1);
    (0..2).all(|_| {
        let mut came: HashMap<usize, usize> = HashMap::new();
        let mut stack = vec![number(branch) + 1];
        while let Some(position) = stack.pop() {
            for (index, &(from, to, room)) in arcs.iter().enumerate() {
                if from == position && room > 0 && to != number(branch) + 1 && !came.contains_key(&to) {
                    came.insert(to, index);
                    stack.push(to);
                }
            }
        }
        let mut position = sink;
        while let Some(&index) = came.get(&position) {
            arcs[index].2 -= 1;
            arcs[index ^ 1].2 += 1;
            position = arcs[index].0;
        }
        position != sink
    })
}

/// How many pairs of blocks have different labels, and how many the same, where a walk from a branch gives its successors labels of
/// their own, but for those that lanes take together. Labels have to differ exactly if there are paths to the blocks that have nothing but
/// the branch in common, and do not both begin with a successor that lanes take together.
fn compare_labels(function: &Function, branch: Block, together: &BTreeSet<Block>) -> [usize; 2] {
    let flow_graph = build_cfg(function);
    let loop_forest = find_loops(&flow_graph, &compute_dominators(&flow_graph));
    let mut joins = BTreeSet::new();
    let mut labels = vec![None; flow_graph.reverse_post_order().len()];
    let mut walk = Walk {
        graph: WalkedGraph { cfg: &flow_graph, loops: &loop_forest, single_exits: &SingleExits::default() },
        around: None,
        labels: &mut labels,
        reached: Vec::new(),
        pending: BinaryHeap::new(),
        exits: BTreeMap::new(),
        latch: None,
        joins: &mut joins,
    };
    for &target in flow_graph.successors(branch) {
        let label = if together.contains(&target) { Label::Together } else { Label::Through(target) };
        walk.push_label(branch, target, label);
    }
    walk.run();
    let labelled = flow_graph.reverse_post_order().iter().zip(&labels);
    let labels: Vec<(Block, Label)> = labelled.filter_map(|(&block, &label)| Some((block, label?))).collect();
    let (mut differ, mut agree) = (0, 0);
    for (index, &(block, here)) in labels.iter().enumerate() {
        for &(other, there) in &labels[..index] {
            let disjoint = two_paths(&flow_graph, branch, together, block, other);
            assert_eq!(here != there, disjoint, "{branch}, {together:?} together, to {block} and {other}\n{function}");
            differ += usize::from(disjoint);
            agree += usize::from(!disjoint);
        }
    }
    [differ, agree]
}

/// Theorem 2 of Moll 2021, of branches whose lanes go any way.
#[test]
fn labels_differ_where_disjoint_paths_lead() {
    let mut pairs = [0, 0];
    for seed in 0..300 {
        let function = random_dag(seed, 4 + seed as usize % 11);
        let flow_graph = build_cfg(&function);
        for &branch in flow_graph.reverse_post_order().iter().filter(|&&block| flow_graph.successors(block).len() > 1) {
            let found = compare_labels(&function, branch, &BTreeSet::new());
            pairs = [pairs[0] + found[0], pairs[1] + found[1]];
        }
    }
    assert!(pairs.iter().all(|&count| count > 300), "{pairs:?}");
}

/// A random graph without cycles in which a block has three to five successors; the block, and those of them that are to be taken together:
/// two at least, and not all.
fn random_partial_node(seed: u64) -> (Function, Block, BTreeSet<Block>) {
    let mut random = Random::new(seed);
    let count = 6 + seed as usize % 11;
    let mut function = random_dag(seed, count);
    let reached: Vec<Block> = build_cfg(&function).reverse_post_order().to_vec();
    let early: Vec<Block> = reached.into_iter().filter(|block| (block.as_u32() as usize) < count - 5).collect();
    let block = random.pick(&early);
    let mut successors = BTreeSet::new();
    let successor_count = 3 + random.below(3);
    while successors.len() < successor_count {
        successors.insert(Block::from_u32(block.as_u32() + 1 + random.below(5) as u32));
    }
    let target = |&block: &Block| BlockCall { block, arguments: vec![] };
    let cases = successors.iter().skip(1).zip(1..).map(|(block, value)| (value, target(block))).collect();
    let default = successors.first().map(target).expect("three at least");
    function.blocks[block].terminator = Terminator::Switch { value: function.constant(Type::I32, 0), cases, default };
    let apart = random.below(successors.len());
    let mut together =
        successors.iter().copied().enumerate().filter(|&(index, _)| index != apart).map(|(_, block)| block);
    let first_two: Vec<Block> = together.by_ref().take(2).collect();
    let others: Vec<Block> = together.filter(|_| random.percent(60)).collect();
    (function, block, first_two.into_iter().chain(others).collect())
}

/// Theorem 2 of Moll 2021, of partially divergent nodes: lanes that take one of some successors all take the same one, as it is with the exits
/// of a loop that lanes leave together.
#[test]
fn labels_differ_where_disjoint_paths_lead_from_nodes_that_diverge_in_part() {
    let mut pairs = [0, 0];
    for seed in 0..1500 {
        let (function, block, together) = random_partial_node(seed);
        let found = compare_labels(&function, block, &together);
        pairs = [pairs[0] + found[0], pairs[1] + found[1]];
    }
    assert!(pairs.iter().all(|&count| count > 300), "{pairs:?}");
}

/// Theorem 7 of Moll 2021: a block is a join exactly if two disjoint paths from the branch end there.
#[test]
fn joins_are_the_ends_of_disjoint_paths() {
    let (mut joins, mut none) = (0, 0);
    for seed in 0..500 {
        let function = random_dag(seed, 4 + seed as usize % 9);
        let flow_graph = build_cfg(&function);
        let loop_forest = find_loops(&flow_graph, &compute_dominators(&flow_graph));
        for &branch in
            flow_graph.reverse_post_order().iter().filter(|&&other_block| flow_graph.successors(other_block).len() > 1)
        {
            let divergence = control_divergence(&flow_graph, &loop_forest, branch);
            for &block in flow_graph.reverse_post_order() {
                let all = paths(&flow_graph, branch, block);
                let inner = |p: &[Block]| p[1..p.len().max(2) - 1].iter().copied().collect::<BTreeSet<_>>();
                // Two edges to one block are two paths.
                let disjoint = branch != block
                    && (0..all.len()).any(|index| (0..index).any(|j| inner(&all[index]).is_disjoint(&inner(&all[j]))));
                assert_eq!(divergence.joins.contains(&block), disjoint, "seed {seed}: {branch} at {block}\n{function}");
                joins += usize::from(disjoint);
                none += usize::from(!disjoint);
            }
        }
    }
    assert!(joins > 500 && none > 500);
}

// ---- two lanes ----

/// A block and the iterations of the loops around it: what lanes execute together.
type Instance = (Block, Vec<u32>);

struct World<'a> {
    function: &'a Function,
    loops: &'a Loops,
    branch: Block,
    /// What all lanes choose at an instance of any other branch.
    choices: HashMap<Instance, usize>,
}

/// One lane's way: per instance, the block it came from; and where it left loops, in which iteration.
struct Way {
    from: HashMap<Instance, Block>,
    left: HashMap<(Loop, Instance), u32>,
}

impl World<'_> {
    fn walk(&mut self, lane: &mut Random, shared: &mut Random) -> Option<Way> {
        let mut way = Way { from: HashMap::new(), left: HashMap::new() };
        let mut at: Instance = (self.function.entry_block(), Vec::new());
        for _ in 0..60 {
            let targets: Vec<Block> =
                self.function.blocks[at.0].terminator.targets().iter().map(|target| target.block).collect();
            if targets.is_empty() {
                return Some(way);
            }
            let taken = if at.0 == self.branch {
                lane.below(targets.len())
            } else {
                *self.choices.entry(at.clone()).or_insert_with(|| shared.below(targets.len()))
            };
            let to = targets[taken];
            let before: Vec<Loop> = self.loops.loops_around(at.0).collect::<Vec<_>>().into_iter().rev().collect();
            let after: Vec<Loop> = self.loops.loops_around(to).collect::<Vec<_>>().into_iter().rev().collect();
            let mut iterations: Vec<u32> =
                before.iter().zip(&at.1).filter(|(loop_id, _)| after.contains(loop_id)).map(|(_, &n)| n).collect();
            match self.loops.with_header(to) {
                Some(loop_id) if before.contains(&loop_id) => *iterations.last_mut().unwrap() += 1,
                Some(_) => iterations.push(0),
                None => {}
            }
            let next = (to, iterations);
            for (&loop_id, &n) in before.iter().zip(&at.1).filter(|(loop_id, _)| !after.contains(loop_id)) {
                way.left.insert((loop_id, next.clone()), n);
            }
            way.from.insert(next.clone(), at.0);
            at = next;
        }
        None
    }
}

/// Joins, and exits of loops where lanes arrive that left in different iterations.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
struct Marks {
    joins: BTreeSet<Block>,
    exits: BTreeSet<(Loop, Block)>,
}

/// Where two lanes that `branch` sends different ways are seen to meet, in so many random runs.
fn seen(function: &Function, loop_forest: &Loops, branch: Block, seed: u64, trials: u64) -> Marks {
    let mut marks = Marks::default();
    for trial in 0..trials {
        let mut random = Random::new(seed * 1000 + trial);
        let mut world = World { function, loops: loop_forest, branch, choices: HashMap::new() };
        let lanes: Vec<Way> =
            (0..2).filter_map(|lane| world.walk(&mut Random::new(trial * 2 + lane), &mut random)).collect();
        let [a, b] = &lanes[..] else { continue };
        let other = |(instance, source): &(&Instance, &Block)| {
            b.from.get(*instance).is_some_and(|other_block| other_block != *source)
        };
        marks.joins.extend(a.from.iter().filter(other).map(|(instance, _)| instance.0));
        let later = |(at, n): &(&(Loop, Instance), &u32)| b.left.get(*at).is_some_and(|other| other != *n);
        marks.exits.extend(a.left.iter().filter(later).map(|((loop_id, instance), _)| (*loop_id, instance.0)));
    }
    marks
}

#[test]
fn lanes_meet_only_where_it_is_said() {
    let (mut said, mut met) = (0, 0);
    let (mut said_late, mut met_late) = (0, 0);
    for seed in 0..150 {
        let function = random_reducible(seed, 5 + seed as usize % 9);
        let flow_graph = build_cfg(&function);
        let loop_forest = find_loops(&flow_graph, &compute_dominators(&flow_graph));
        for &branch in flow_graph.reverse_post_order().iter().filter(|&&block| flow_graph.successors(block).len() > 1) {
            let divergence = control_divergence(&flow_graph, &loop_forest, branch);
            let seen = seen(&function, &loop_forest, branch, seed, 300);
            assert!(seen.joins.is_subset(&divergence.joins), "seed {seed}: {branch} joins at {seen:?}\n{function}");
            assert!(seen.exits.is_subset(&divergence.temporal), "seed {seed}: {branch} leaves at {seen:?}\n{function}");
            said += divergence.joins.len();
            met += seen.joins.len();
            said_late += divergence.temporal.len();
            met_late += seen.exits.len();
        }
    }
    // Most of what is said is seen; two edges to one block cannot be.
    assert!(met * 10 > said * 7, "{met} of {said} joins");
    assert!(met_late * 10 > said_late * 9, "{met_late} of {said_late} exits");
    assert!(met_late > 50 && met > 200);
}
