//! What Moll 2021 proves of partial linearization (chapter 8, appendix B), as properties of random graphs with
//! random divergent branches; and the graphs of the figures.
//!
//! Blocks are numbered by their places in the block index here, so that every edge of a graph without back
//! edges leads to a greater number. `PD` is the post-dominance relation, `cdep(k)` the edges that `k` is
//! control-dependent on, and `uni(k)` says that all of them, and those that they depend on in turn, leave
//! blocks with uniform branches. An index l marks relations of the linearized graph.

use super::{Skeleton, draw_skeleton};
use crate::analysis::block_index::block_index;
use crate::analysis::cfg::{Cfg, build_cfg};
use crate::analysis::dominators::{Dominators, compute_dominators};
use crate::analysis::loops::{Loops, find_loops};
use crate::analysis::predicates::{Graph, Iterations};
use crate::analysis::testing::{graph, random_dag, random_reducible};
use crate::ir::{Block, BlockCall, BlockData, Function, Terminator};
use crate::testing::Random;
use crate::transform::divergent_loops::{EmptyEntries, divergent_loops};
use cranelift_entity::EntitySet;
use lockstep_protocol::types::Type;
use std::collections::BTreeSet;

/// A function with what linearization wants to know.
struct Case {
    function: Function,
    cfg: Cfg,
    dominators: Dominators,
    forest: Loops,
    divergent: EntitySet<Block>,
    order: Vec<Block>,
}

impl Case {
    fn new(function: Function, divergent: EntitySet<Block>) -> Case {
        let flow_graph = build_cfg(&function);
        let dominators = compute_dominators(&flow_graph);
        let loop_forest = find_loops(&flow_graph, &dominators);
        let block_order = block_index(&flow_graph, &dominators, &loop_forest);
        Case { function, cfg: flow_graph, dominators, forest: loop_forest, divergent, order: block_order }
    }

    /// A random graph without cycles; every other branch is divergent.
    fn random(seed: u64) -> Case {
        let function = random_dag(seed, 4 + seed as usize % 11);
        let mut random = Random::new(!seed);
        let divergent = some_branches(&function, &mut random);
        Case::new(function, divergent)
    }

    /// A random reducible graph whose loops are uniform.
    fn with_loops(seed: u64) -> Case {
        let mut function = random_reducible(seed, 4 + seed as usize % 9);
        let mut divergent = some_branches(&function, &mut Random::new(!seed));
        divergent_loops(&mut function, &mut divergent, EmptyEntries::Gates);
        let reachable = build_cfg(&function);
        function.layout.retain(|&block| reachable.is_reachable(block));
        Case::new(function, divergent)
    }

    fn skeleton(&self) -> Skeleton {
        let iterations = Iterations::new(&self.cfg, &self.forest);
        let Case { function, cfg, dominators, forest, divergent, order } = self;
        let graph = Graph { cfg, dominators, loops: forest, iterations: &iterations, divergent };
        draw_skeleton(function, &graph, order)
    }

    fn place(&self, block: Block) -> usize {
        self.order.iter().position(|&other_block| other_block == block).expect("it is reachable")
    }

    /// The graph in numbers, without edges back to loop headers.
    fn numbers(&self) -> Numbers {
        let mut successors = Vec::new();
        for (place, &block) in self.order.iter().enumerate() {
            let to: Vec<usize> = self.cfg.successors(block).iter().map(|&target| self.place(target)).collect();
            successors.push(if to.iter().any(|&to| to <= place) { Vec::new() } else { to });
        }
        let divergent = self.order.iter().map(|&block| self.divergent.contains(block)).collect();
        Numbers { succs: successors, divergent }
    }

    /// The new successors by number, with the edges back.
    fn next(&self) -> Vec<Vec<usize>> {
        let skeleton = self.skeleton();
        self.order
            .iter()
            .map(|&block| skeleton.next[block].iter().map(|&target| self.place(target)).collect())
            .collect()
    }

    /// A function with the new edges.
    fn linearized(&self) -> Function {
        let skeleton = self.skeleton();
        let mut new = Function::new();
        for _ in 0..self.function.blocks.len() {
            new.blocks.push(BlockData { params: vec![], insts: vec![], terminator: Terminator::Return });
        }
        new.layout.clone_from(&self.order);
        let condition = new.constant(Type::BOOL, 0);
        for &block in &self.order {
            let mut to = skeleton.next[block].iter().map(|&block| BlockCall { block, arguments: vec![] });
            new.blocks[block].terminator = match (to.next(), to.next()) {
                (Some(then_to), Some(else_to)) => Terminator::Branch { condition, then_to, else_to },
                (Some(only), None) => Terminator::Jump(only),
                (None, _) => Terminator::Return,
            };
        }
        new
    }
}

fn some_branches(function: &Function, random: &mut Random) -> EntitySet<Block> {
    let mut block_set = EntitySet::new();
    for &block in &function.layout {
        if function.blocks[block].terminator.selector().is_some() && random.percent(50) {
            block_set.insert(block);
        }
    }
    block_set
}

/// A graph without cycles: the numbers of the targets for each target of a terminator.
#[derive(Clone)]
struct Numbers {
    succs: Vec<Vec<usize>>,
    divergent: Vec<bool>,
}

/// What Listing 8 leaves: new edges by target, and the deferral targets of each block before it is visited.
struct Listing8 {
    next: Vec<Vec<usize>>,
    deferred: Vec<BTreeSet<usize>>,
    /// The deferral relation behind each block's visit.
    after: Vec<BTreeSet<(usize, usize)>>,
}

/// Listing 8 word by word, with the relation D as a set of pairs.
fn listing_8(graph: &Numbers) -> Listing8 {
    let mut relation: BTreeSet<(usize, usize)> = BTreeSet::new();
    let mut result = Listing8 { next: Vec::new(), deferred: Vec::new(), after: Vec::new() };
    for (b, successors) in graph.succs.iter().enumerate() {
        let targets: BTreeSet<usize> = relation.iter().filter(|&&(from, _)| from == b).map(|&(_, to)| to).collect();
        let groups: Vec<Vec<usize>> = match graph.divergent[b] {
            true => vec![successors.clone()],
            false => successors.iter().map(|&s| vec![s]).collect(),
        };
        let mut next = Vec::new();
        for group in groups {
            let mut all = targets.clone();
            all.extend(group);
            let Some(first) = all.pop_first() else { continue };
            next.push(first);
            relation.extend(all.into_iter().map(|t| (first, t)));
        }
        result.after.push(relation.clone());
        relation.retain(|&(from, _)| from != b);
        result.next.push(next);
        result.deferred.push(targets);
    }
    result
}

/// Per block the blocks that post-dominate it, as bits.
fn post_dominators(successors: &[Vec<usize>]) -> Vec<u64> {
    let mut pd = vec![0; successors.len()];
    for b in (0..successors.len()).rev() {
        let all = successors[b].iter().map(|&s| pd[s]).reduce(|x, y| x & y).unwrap_or(0);
        pd[b] = all | 1 << b;
    }
    pd
}

fn has(bits: u64, b: usize) -> bool {
    bits >> b & 1 != 0
}

/// Per block the edges that it is control-dependent on.
fn control_dependences(successors: &[Vec<usize>]) -> Vec<BTreeSet<(usize, usize)>> {
    let pd = post_dominators(successors);
    let depends = |k: usize, left: usize, right: usize| has(pd[right], k) && (k == left || !has(pd[left], k));
    let edges = || successors.iter().enumerate().flat_map(|(left, to)| to.iter().map(move |&right| (left, right)));
    (0..successors.len()).map(|k| edges().filter(|&(left, right)| depends(k, left, right)).collect()).collect()
}

/// Per block whether its predicate is uniform.
fn uniform(graph: &Numbers) -> Vec<bool> {
    let mut uni: Vec<bool> = Vec::new();
    for edges in control_dependences(&graph.succs) {
        let all = edges.iter().all(|&(a, _)| !graph.divergent[a] && uni[a]);
        uni.push(all);
    }
    uni
}

fn dags() -> impl Iterator<Item = (u64, Case)> {
    (0..800).map(|seed| (seed, Case::random(seed)))
}

/// All paths from the first block to the end, as blocks with the targets taken.
fn all_paths(successors: &[Vec<usize>], from: usize) -> Vec<Vec<(usize, usize)>> {
    if successors[from].is_empty() {
        return vec![vec![(from, 0)]];
    }
    let mut all = Vec::new();
    for (index, &to) in successors[from].iter().enumerate() {
        for mut path in all_paths(successors, to) {
            path.insert(0, (from, index));
            all.push(path);
        }
    }
    all
}

/// Whether linearized code can come by the blocks of a path in their order. Where the path is it goes the
/// path's way if it still can; elsewhere its lanes are not active, and any way is right.
fn embeds(path: &[(usize, usize)], next: &[Vec<usize>]) -> bool {
    let mut seen = BTreeSet::new();
    let mut stack = vec![(path[0].0, 0)];
    while let Some((block, done)) = stack.pop() {
        if !seen.insert((block, done)) {
            continue;
        }
        match path[done] {
            (here, _) if here == block && done + 1 == path.len() => return true,
            (here, target) if here == block => {
                let to = if next[block].len() == 1 { 0 } else { target };
                stack.push((next[block][to], done + 1));
            }
            _ => stack.extend(next[block].iter().map(|&to| (to, done))),
        }
    }
    false
}

/// Listing 8: the pass is the listing, where there are no loops.
#[test]
fn listing_8_word_by_word() {
    for (seed, case) in dags() {
        assert_eq!(case.next(), listing_8(&case.numbers()).next, "seed {seed}\n{}", case.function);
    }
}

/// Section 8.1: a divergent branch keeps one successor, a uniform one as many as it had; nothing is lost.
#[test]
fn no_branch_is_added() {
    for (seed, case) in dags() {
        let (graph, next) = (case.numbers(), case.next());
        for (b, to) in next.iter().enumerate() {
            let count = if graph.divergent[b] { 1 } else { graph.succs[b].len() };
            assert_eq!(to.len(), count, "seed {seed}: {}\n{}", case.order[b], case.function);
        }
        let new = build_cfg(&case.linearized());
        assert_eq!(new.reverse_post_order().len(), case.order.len(), "seed {seed}\n{}", case.function);
    }
}

/// Lemma 1: after each block's visit, ways lead from the blocks visited to all their successors, along new
/// edges and what is deferred.
#[test]
fn lemma_1_successors_stay_in_reach() {
    for (seed, case) in dags() {
        let graph = case.numbers();
        let found = listing_8(&graph);
        for (b, after) in found.after.iter().enumerate() {
            // From the last one visited backwards: what is in reach.
            let mut reach = vec![0u64; graph.succs.len()];
            for p in (0..graph.succs.len()).rev() {
                let new = found.next[p].iter().filter(|_| p <= b).copied();
                let deferred = after.iter().filter(|&&(from, _)| from == p && p != b).map(|&(_, to)| to);
                reach[p] = new.chain(deferred).fold(0, |all, to| all | 1 << to | reach[to]);
                let all = p > b || graph.succs[p].iter().all(|&s| has(reach[p], s));
                assert!(all, "seed {seed}: {p} behind {b}\n{}", case.function);
            }
        }
    }
}

/// Theorem 3: every path is part of a path of the linearized graph.
#[test]
fn theorem_3_every_path_is_part_of_one() {
    let mut folded = 0;
    for (seed, case) in dags() {
        let (graph, next) = (case.numbers(), case.next());
        for path in all_paths(&graph.succs, 0) {
            assert!(embeds(&path, &next), "seed {seed}: {path:?} in {next:?}\n{}", case.function);
        }
        folded += graph.divergent.iter().filter(|&&d| d).count();
    }
    assert!(folded > 500, "{folded}");
}

/// Lemma 7: what is deferred at a block comes next or is deferred further. Lemma 8: it post-dominates the
/// block in the linearized graph.
#[test]
fn lemmas_7_and_8_what_is_deferred_comes() {
    let mut count = 0;
    for (seed, case) in dags() {
        let found = listing_8(&case.numbers());
        let pd = post_dominators(&found.next);
        for (b, targets) in found.deferred.iter().enumerate() {
            for &c in targets {
                let further = |&s: &usize| s == c || found.after[b].contains(&(s, c));
                assert!(found.next[b].iter().all(further), "Lemma 7, seed {seed}: {b} {c}\n{}", case.function);
                assert!(c != b && has(pd[b], c), "Lemma 8, seed {seed}: {b} {c}\n{}", case.function);
                count += 1;
            }
        }
    }
    assert!(count > 500, "{count}");
}

/// Lemma 9: `a PD x` implies `a PDl x`. Lemma 14: for a block with a uniform predicate also the other way.
#[test]
fn lemmas_9_and_14_post_dominance_is_kept() {
    let (mut kept, mut new) = (0, 0);
    for (seed, case) in dags() {
        let graph = case.numbers();
        let (pd, pdl) = (post_dominators(&graph.succs), post_dominators(&case.next()));
        let uni = uniform(&graph);
        for x in 0..pd.len() {
            for (a, &uni) in uni.iter().enumerate() {
                let (before, after) = (has(pd[x], a), has(pdl[x], a));
                assert!(!before || after, "Lemma 9, seed {seed}: {a} {x}\n{}", case.function);
                assert!(!uni || before == after, "Lemma 14, seed {seed}: {a} {x}\n{}", case.function);
                kept += usize::from(before);
                new += usize::from(after && !before);
            }
        }
    }
    assert!(kept > 500 && new > 500, "{kept} {new}");
}

/// With `uni(k)`: nothing is deferred at `k` (Lemma 10); what is deferred at a block that `k` post-dominates
/// is post-dominated by `k` as well (Lemma 11); and where such a block is deferred, `k` post-dominates
/// (Lemma 12).
#[test]
fn lemmas_10_to_12_nothing_is_deferred_around_uniform_blocks() {
    let mut count = 0;
    for (seed, case) in dags() {
        let graph = case.numbers();
        let (pd, uni) = (post_dominators(&graph.succs), uniform(&graph));
        let deferred = listing_8(&graph).deferred;
        for k in (0..pd.len()).filter(|&k| uni[k]) {
            assert!(deferred[k].is_empty(), "Lemma 10, seed {seed}: {k}\n{}", case.function);
            for (b, targets) in deferred.iter().enumerate() {
                let mut behind = targets.iter().map(|&t| has(pd[t], k));
                if has(pd[b], k) {
                    assert!(behind.all(|is| is), "Lemma 11, seed {seed}: {k} {b}\n{}", case.function);
                    count += targets.len();
                } else {
                    assert!(!behind.any(|is| is), "Lemma 12, seed {seed}: {k} {b}\n{}", case.function);
                }
            }
        }
    }
    assert!(count > 500, "{count}");
}

/// Lemma 13: a uniform branch in a block with a uniform predicate keeps its edges. Lemma 2: blocks with
/// uniform predicates keep their control dependences.
#[test]
fn lemmas_2_and_13_uniform_control_dependences_are_kept() {
    let (mut edges, mut dependent) = (0, 0);
    for (seed, case) in dags() {
        let (graph, next) = (case.numbers(), case.next());
        let uni = uniform(&graph);
        let (before, after) = (control_dependences(&graph.succs), control_dependences(&next));
        for k in (0..uni.len()).filter(|&k| uni[k]) {
            if !graph.divergent[k] {
                assert_eq!(graph.succs[k], next[k], "Lemma 13, seed {seed}: {k}\n{}", case.function);
                edges += usize::from(next[k].len() > 1);
            }
            assert_eq!(before[k], after[k], "Lemma 2, seed {seed}: {k}\n{}", case.function);
            dependent += before[k].len();
        }
    }
    assert!(edges > 500 && dependent > 200, "{edges} {dependent}");
}

/// Theorem 4: linearized code comes to a block with a uniform predicate exactly if lanes do. Beside, every
/// lane's way is part of the gang's (8.5).
#[test]
fn theorem_4_uniform_blocks_run_only_for_lanes() {
    let (mut passed_by, mut run) = (0, 0);
    for (seed, case) in dags() {
        let (graph, next) = (case.numbers(), case.next());
        let uni = uniform(&graph);
        for trial in 0..8 {
            let mut random = Random::new(seed * 8 + trial);
            let shared: Vec<usize> = graph.succs.iter().map(|to| random.below(to.len())).collect();
            let mut lanes = Vec::new();
            for _ in 0..3 {
                let mut way = vec![0];
                while let Some(&position) = way.last().filter(|&&position| !graph.succs[position].is_empty()) {
                    let to = &graph.succs[position];
                    way.push(to[if graph.divergent[position] { random.below(to.len()) } else { shared[position] }]);
                }
                lanes.push(way);
            }
            let mut gang = vec![0];
            while let Some(&position) = gang.last().filter(|&&position| !next[position].is_empty()) {
                let to = &next[position];
                let active = lanes.iter().any(|way| way.contains(&position));
                gang.push(
                    to[match to.len() {
                        1 => 0,
                        _ if active => shared[position],
                        count => random.below(count),
                    }],
                );
            }
            for way in &lanes {
                let mut rest = gang.iter();
                assert!(
                    way.iter().all(|b| rest.any(|g| g == b)),
                    "seed {seed}: {way:?} in {gang:?}\n{}",
                    case.function
                );
            }
            for k in (0..uni.len()).filter(|&k| uni[k]) {
                let here = gang.contains(&k);
                let same = lanes.iter().all(|way| way.contains(&k) == here);
                assert!(same, "seed {seed}: {k}, {lanes:?}, {gang:?}\n{}", case.function);
                run += usize::from(here);
                passed_by += usize::from(!here);
            }
        }
    }
    assert!(passed_by > 500 && run > 500, "{passed_by} {run}");
}

/// Definition 22: the edges from blocks that `dimension` dominates.
fn dominance_region(case: &Case, graph: &Numbers, dimension: usize) -> Numbers {
    let mut region = graph.clone();
    for (b, successors) in region.succs.iter_mut().enumerate() {
        if !case.dominators.dominates(case.order[dimension], case.order[b]) {
            successors.clear();
        }
    }
    region
}

/// Theorem 5: an edge stays if some block dominates it in relation to which it is uniform. Theorem 8: the
/// listing does on the dominance region of a block what it does on the whole graph.
#[test]
fn theorems_5_and_8_branches_uniform_in_relation_to_a_dominator_stay() {
    let (mut stay, mut more, mut deferred) = (0, 0, 0);
    for (seed, case) in dags() {
        let graph = case.numbers();
        let whole = listing_8(&graph);
        let next = case.next();
        let absolute = uniform(&graph);
        for dimension in 0..next.len() {
            let region = dominance_region(&case, &graph, dimension);
            let part = listing_8(&region);
            let uni = uniform(&region);
            let dominates = |b: usize| case.dominators.dominates(case.order[dimension], case.order[b]);
            let strictly = |b: usize| b != dimension && dominates(b);
            for b in (0..next.len()).filter(|&b| dominates(b)) {
                let own = |to: &BTreeSet<usize>| to.iter().copied().filter(|&t| strictly(t)).collect::<Vec<_>>();
                let (here, there) = (own(&whole.deferred[b]), own(&part.deferred[b]));
                assert_eq!(here, there, "Theorem 8, seed {seed}: {dimension} {b}\n{}", case.function);
                deferred += here.len();
                for (index, &y) in graph.succs[b].iter().enumerate() {
                    let new = next[b].get(index).copied();
                    if strictly(y) || new.is_some_and(strictly) {
                        assert_eq!(
                            new,
                            part.next[b].get(index).copied(),
                            "Theorem 8, seed {seed}: {dimension} {b}\n{}",
                            case.function
                        );
                    }
                    if uni[b] && !graph.divergent[b] && strictly(y) {
                        assert_eq!(new, Some(y), "Theorem 5, seed {seed}: {dimension} {b} {y}\n{}", case.function);
                        stay += 1;
                        more += usize::from(!absolute[b] && graph.succs[b].len() > 1);
                    }
                }
            }
        }
    }
    assert!(stay > 500 && more > 200 && deferred > 200, "{stay} {more} {deferred}");
}

/// Blocks keep their dominators, with loops as well: definitions still reach their uses.
#[test]
fn dominance_is_kept() {
    let cases = dags().chain((0..400).map(|seed| (seed, Case::with_loops(seed))));
    for (seed, case) in cases {
        let new = compute_dominators(&build_cfg(&case.linearized()));
        for &block in &case.order {
            for &other_block in &case.order {
                let kept = !case.dominators.dominates(block, other_block) || new.dominates(block, other_block);
                assert!(kept, "seed {seed}: {block} {other_block}\n{}", case.function);
            }
        }
    }
}

/// Section 8.3: with edges back to headers, the loops of the linearized graph are those of the function;
/// their blocks stand together, the latch last; at a latch only that is deferred what was at the header.
#[test]
fn loops_stay_loops() {
    let mut count = 0;
    for seed in 0..400 {
        let case = Case::with_loops(seed);
        let new = build_cfg(&case.linearized());
        let loop_forest = find_loops(&new, &compute_dominators(&new));
        assert!(loop_forest.irreducible_edges().is_empty(), "seed {seed}\n{}", case.function);
        assert_eq!(loop_forest.iter().count(), case.forest.iter().count(), "seed {seed}\n{}", case.function);
        let deferred = listing_8(&case.numbers()).deferred;
        for (_, loop_data) in case.forest.iter() {
            let same = loop_forest
                .with_header(loop_data.header)
                .map(|loop_id| loop_forest.get(loop_id).blocks.iter().collect::<BTreeSet<_>>());
            assert_eq!(
                same,
                Some(loop_data.blocks.iter().collect()),
                "seed {seed}: {}\n{}",
                loop_data.header,
                case.function
            );
            let header = case.place(loop_data.header);
            let mut places: Vec<usize> = loop_data.blocks.iter().map(|&block| case.place(block)).collect();
            places.sort_unstable();
            assert_eq!(places, (header..header + places.len()).collect::<Vec<_>>(), "seed {seed}\n{}", case.function);
            let latch = case.place(loop_data.latches[0]);
            assert_eq!(places.last(), Some(&latch), "seed {seed}\n{}", case.function);
            assert!(
                deferred[latch].is_subset(&deferred[header]),
                "seed {seed}: {}\n{}",
                loop_data.header,
                case.function
            );
            count += 1;
        }
    }
    assert!(count > 120, "{count}");
}

/// Theorem 3 for graphs with uniform loops: random walks around the loops.
#[test]
fn walks_around_loops_are_part_of_walks() {
    let mut around = 0;
    for seed in 0..400 {
        let case = Case::with_loops(seed);
        let next = case.next();
        for trial in 0..20 {
            let mut random = Random::new(seed * 20 + trial);
            let mut block = case.order[0];
            let mut path = Vec::new();
            for _ in 0..40 {
                let successors = case.cfg.successors(block);
                let target = random.below(successors.len());
                path.push((case.place(block), target));
                let Some(&to) = successors.get(target) else { break };
                around += usize::from(
                    case.forest.with_header(to).is_some_and(|loop_id| case.forest.contains(loop_id, block)),
                );
                block = to;
            }
            assert!(embeds(&path, &next), "seed {seed}: {path:?} in {next:?}\n{}", case.function);
        }
    }
    assert!(around > 500, "{around}");
}

/// The new edges of a graph by name.
fn edges(text: &str, divergent: &str, order: Option<&str>) -> String {
    let (function, names) = graph(text);
    let block = |name: &str| Block::from_u32(names.iter().position(|n| *n == name).unwrap() as u32);
    let mut block_set = EntitySet::new();
    divergent.split_whitespace().for_each(|name| {
        block_set.insert(block(name));
    });
    let mut case = Case::new(function, block_set);
    if let Some(order) = order {
        case.order = order.split_whitespace().map(block).collect();
    }
    let skeleton = case.skeleton();
    let name = |other_block: Block| names[other_block.as_u32() as usize];
    let one = |&other_block: &Block| {
        let to: Vec<&str> = skeleton.next[other_block].iter().map(|&target| name(target)).collect();
        [&[name(other_block)], &to[..]].concat().join(" ")
    };
    case.order.iter().map(one).collect::<Vec<_>>().join("; ")
}

/// Figure 8.1: the uniform branch in A stays, so the calls in C and D are passed by.
#[test]
fn figure_8_1_a_divergent_branch_in_a_uniform_one() {
    let text = "A B E; B C D; C E; D E; E";
    assert_eq!(edges(text, "B", None), "A B E; B C; C D; D E; E");
    assert_eq!(edges(text, "A B", None), "A B; B C; C D; D E; E");
}

/// Figure 8.2, as its text tells: `b` goes on to `d` and defers `e`; `d` goes on to `e` and defers `h`; the
/// branch in `a` stays, and so does that in `c`, which is uniform as well.
#[test]
fn figure_8_2_deferred_blocks_move_on() {
    let text = "a b c; b d e; c e f; d h; e h; f h k; h k; k";
    assert_eq!(edges(text, "b f", None), "a b c; b d; d e; c e f; f h; e h; h k; k");
}

/// Figure 8.3: edges back to the header are left out, and put back.
#[test]
fn figure_8_3_a_loop_with_a_divergent_branch() {
    assert_eq!(edges("a h; h b x; b c d; c l; d l; l h; x", "b", None), "a h; h b x; b c; c d; d l; l h; x");
}

/// Figure 8.5: the branch in `b` is uniform in relation to `b`, though only some lanes come there.
#[test]
fn figure_8_5_a_uniform_branch_in_a_divergent_arm() {
    let text = "a b e; b c d; c d; d e; e";
    assert_eq!(edges(text, "a", None), "a b; b c d; c d; d e; e");
}

/// Figure 8.6: in an order where another block stands between those that `b` dominates, its branch is lost.
#[test]
fn figure_8_6_orders_that_are_not_compact_lose_branches() {
    let text = "a b c; b d e; c f; d f; e f; f";
    assert_eq!(edges(text, "a", Some("a b c d e f")), "a b; b c c; c d; d e; e f; f");
    let compact = edges(text, "a", None);
    assert!(compact.contains("b d e"), "{compact}");
}
