//! The nesting forest of natural loops.
//!
//! Requires: control-flow graph and dominators of the function as it is.
//! Ensures: each back edge (an edge to a dominator of its source) belongs to one loop, loops with one
//! header are one loop, loops nest or are disjoint; retreating edges that are no back edges, the sign of
//! irreducible control flow, are reported and make no loop.
//! Phases: a tree: headers, innermost first, and bodies by walking back from the latches, stepping over
//! finished inner loops; numbers, by which loops in a loop are told; then latches, exits and blocks per loop.
//! Source: textbook (Aho, Lam, Sethi & Ullman 2006, 9.6); inner loops are stepped over as in LLVM.

use super::cfg::{Cfg, build_cfg};
use super::dominators::{Dominators, compute_dominators};
use crate::ir::{Block, Function};
use cranelift_entity::{PrimaryMap, SecondaryMap, entity_impl};
use std::ops::Range;

/// A loop of a function.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Loop(u32);
entity_impl!(Loop, "loop");

/// What is known of a loop.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LoopData {
    /// The only block through which the loop is entered.
    pub header: Block,
    /// The innermost loop around this one.
    pub parent: Option<Loop>,
    /// How many loops this block is in: 1 for outermost loops.
    pub depth: u32,
    /// The loop's blocks with those of inner loops, in reverse post-order; the header comes first.
    pub blocks: Vec<Block>,
    /// The sources of the back edges, in reverse post-order, each once.
    pub latches: Vec<Block>,
    /// The edges that leave the loop: from a block inside to one outside, in reverse post-order of the
    /// first and in the order of its targets.
    pub exits: Vec<(Block, Block)>,
}

/// A function's loops.
#[derive(Clone, Debug)]
pub struct Loops {
    loops: PrimaryMap<Loop, LoopData>,
    /// The numbers of a loop and of those in it, counted from outermost loops inwards, one after the other.
    numbers: SecondaryMap<Loop, Range<u32>>,
    innermost: SecondaryMap<Block, Option<Loop>>,
    irreducible: Vec<(Block, Block)>,
}

impl Loops {
    /// All loops; an outer loop comes before its inner ones.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = (Loop, &LoopData)> {
        self.loops.iter()
    }

    /// A loop's data.
    pub fn get(&self, loop_id: Loop) -> &LoopData {
        &self.loops[loop_id]
    }

    /// The innermost loop a block is in.
    pub fn innermost_loop(&self, block: Block) -> Option<Loop> {
        self.innermost[block]
    }

    /// How many loops a block is in.
    pub fn loop_depth(&self, block: Block) -> u32 {
        self.innermost[block].map_or(0, |loop_id| self.loops[loop_id].depth)
    }

    /// Whether a block is in this loop or one inside it.
    pub fn contains(&self, loop_id: Loop, block: Block) -> bool {
        let is_inside = |innermost: Loop| self.numbers[loop_id].contains(&self.numbers[innermost].start);
        self.innermost[block].is_some_and(is_inside)
    }

    /// The loops a block is in, innermost first.
    pub fn loops_around(&self, block: Block) -> impl Iterator<Item = Loop> {
        std::iter::successors(self.innermost[block], |&loop_id| self.loops[loop_id].parent)
    }

    /// The loop with this header.
    pub fn with_header(&self, block: Block) -> Option<Loop> {
        self.innermost[block].filter(|&loop_id| self.loops[loop_id].header == block)
    }

    /// Edges back in the order that do not lead to a dominator; none in reducible functions.
    pub fn irreducible_edges(&self) -> &[(Block, Block)] {
        &self.irreducible
    }
}

/// Edges back in the order that do not lead to a dominator; none in reducible functions.
pub fn find_irreducible_edges(flow_graph: &Cfg, dominators: &Dominators) -> Vec<(Block, Block)> {
    let goes_back = |block: Block, target: Block| flow_graph.rpo_number(target) <= flow_graph.rpo_number(block);
    let is_irreducible =
        |&(block, target): &(Block, Block)| goes_back(block, target) && !dominators.dominates(target, block);
    let blocks = flow_graph.reverse_post_order().iter();
    let edges = blocks.flat_map(|&block| flow_graph.successors(block).iter().map(move |&target| (block, target)));
    edges.filter(is_irreducible).collect()
}

/// Which loop lies in which, without lists of their blocks, which are long where many loops lie in each other.
struct LoopTree {
    /// The loops' headers, inner loops before outer ones.
    headers: Vec<Block>,
    /// The place in `headers` of the innermost loop around each one.
    parents: Vec<Option<u32>>,
    /// The same of the innermost loop that each block is in.
    innermost: SecondaryMap<Block, Option<u32>>,
    /// The sources of the back edges to each header, in reverse post-order, each once.
    latches: SecondaryMap<Block, Vec<Block>>,
}

/// Finds headers, innermost first, and which loops and blocks are in a loop by walking back from its latches.
fn build_loop_tree(flow_graph: &Cfg, dominators: &Dominators) -> LoopTree {
    let mut latches: SecondaryMap<Block, Vec<Block>> = SecondaryMap::new();
    for &block in flow_graph.reverse_post_order() {
        for &target in flow_graph.successors(block) {
            if dominators.dominates(target, block) && latches[target].last() != Some(&block) {
                latches[target].push(block);
            }
        }
    }
    let mut headers: Vec<Block> = Vec::new();
    let mut parents: Vec<Option<u32>> = Vec::new();
    let mut innermost: SecondaryMap<Block, Option<u32>> = SecondaryMap::new();
    for &header in flow_graph.reverse_post_order().iter().rev() {
        if latches[header].is_empty() {
            continue;
        }
        let loop_number = headers.len() as u32;
        headers.push(header);
        parents.push(None);
        let mut worklist = latches[header].clone();
        while let Some(block) = worklist.pop() {
            let Some(inner) = innermost[block] else {
                innermost[block] = Some(loop_number);
                if block != header {
                    worklist.extend(
                        flow_graph
                            .predecessors(block)
                            .iter()
                            .filter(|&&predecessor| flow_graph.is_reachable(predecessor)),
                    );
                }
                continue;
            };
            let mut outermost = inner;
            while let Some(parent) = parents[outermost as usize] {
                outermost = parent;
            }
            if outermost != loop_number {
                parents[outermost as usize] = Some(loop_number);
                let inner_header = headers[outermost as usize];
                worklist.extend(
                    flow_graph
                        .predecessors(inner_header)
                        .iter()
                        .filter(|&&predecessor| flow_graph.is_reachable(predecessor)),
                );
            }
        }
        innermost[header] = Some(loop_number);
    }
    LoopTree { headers, parents, innermost, latches }
}

/// Computes the loop forest.
pub fn find_loops(flow_graph: &Cfg, dominators: &Dominators) -> Loops {
    let LoopTree { headers, parents, innermost, mut latches } = build_loop_tree(flow_graph, dominators);
    // They are numbered innermost first there, and outermost first here.
    let loop_count = headers.len() as u32;
    let turned = |number: u32| Loop::from_u32(loop_count - 1 - number);
    let mut loop_forest = Loops {
        loops: PrimaryMap::new(),
        numbers: SecondaryMap::new(),
        innermost: SecondaryMap::new(),
        irreducible: find_irreducible_edges(flow_graph, dominators),
    };
    for number in (0..loop_count).rev() {
        let parent = parents[number as usize].map(turned);
        let header = headers[number as usize];
        loop_forest.loops.push(LoopData {
            header,
            parent,
            depth: parent.map_or(1, |outer| loop_forest.loops[outer].depth + 1),
            blocks: Vec::new(),
            latches: std::mem::take(&mut latches[header]),
            exits: Vec::new(),
        });
    }
    loop_forest.numbers = number_loops(&loop_forest.loops);
    for &block in flow_graph.reverse_post_order() {
        loop_forest.innermost[block] = innermost[block].map(turned);
    }
    for &block in flow_graph.reverse_post_order() {
        let around: Vec<Loop> = loop_forest.loops_around(block).collect();
        for loop_id in around {
            loop_forest.loops[loop_id].blocks.push(block);
            for &target in flow_graph.successors(block) {
                if !loop_forest.contains(loop_id, target)
                    && loop_forest.loops[loop_id].exits.last() != Some(&(block, target))
                {
                    loop_forest.loops[loop_id].exits.push((block, target));
                }
            }
        }
    }
    loop_forest
}

/// Numbers loops so that those in a loop have the numbers behind its own. Outer loops come before inner ones.
fn number_loops(loops: &PrimaryMap<Loop, LoopData>) -> SecondaryMap<Loop, Range<u32>> {
    let mut loop_counts: SecondaryMap<Loop, u32> = SecondaryMap::with_default(1);
    for (loop_id, loop_data) in loops.iter().rev() {
        let count = loop_counts[loop_id];
        loop_data.parent.iter().for_each(|&parent| loop_counts[parent] += count);
    }
    // The next number that is free, in each loop, and outside of all.
    let mut next_inside: SecondaryMap<Loop, u32> = SecondaryMap::new();
    let mut next_outside = 0;
    let mut numbers = SecondaryMap::new();
    for (loop_id, loop_data) in loops {
        let next_number = loop_data.parent.map_or(&mut next_outside, |parent| &mut next_inside[parent]);
        let start = *next_number;
        *next_number += loop_counts[loop_id];
        next_inside[loop_id] = start + 1;
        numbers[loop_id] = start..start + loop_counts[loop_id];
    }
    numbers
}

/// How many loops of a function lie in each other, the deepest ones.
pub fn find_loop_depth(function: &Function) -> u32 {
    let flow_graph = build_cfg(function);
    let LoopTree { parents, .. } = build_loop_tree(&flow_graph, &compute_dominators(&flow_graph));
    let mut depths = vec![1; parents.len()];
    // Outer loops come first this way.
    for (number, parent) in parents.iter().enumerate().rev() {
        if let Some(parent) = *parent {
            depths[number] = depths[parent as usize] + 1;
        }
    }
    depths.into_iter().max().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::super::testing::{random_graph, reaches_without};
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn agree_with_the_definition_of_natural_loops() {
        let mut irreducible_seen = 0;
        for seed in 0..400 {
            let function = random_graph(seed, 2 + (seed as usize % 19));
            let flow_graph = build_cfg(&function);
            let dominators = compute_dominators(&flow_graph);
            let loop_forest = find_loops(&flow_graph, &dominators);
            let mut expected = Vec::new();
            for &header in flow_graph.reverse_post_order() {
                let latches: BTreeSet<Block> = flow_graph
                    .predecessors(header)
                    .iter()
                    .copied()
                    .filter(|&predecessor| dominators.dominates(header, predecessor))
                    .collect();
                if latches.is_empty() {
                    continue;
                }
                let reaches_latch = |other_block: Block| {
                    latches.iter().any(|&latch| reaches_without(&function, other_block, latch, Some(header)))
                };
                let body: BTreeSet<Block> = flow_graph
                    .reverse_post_order()
                    .iter()
                    .copied()
                    .filter(|&other_block| other_block == header || reaches_latch(other_block))
                    .collect();
                expected.push((header, latches, body));
            }
            assert_eq!(loop_forest.iter().count(), expected.len(), "seed {seed}\n{function}");
            let depth_of = |block: &Block| expected.iter().filter(|(.., body)| body.contains(block)).count();
            let deepest = flow_graph.reverse_post_order().iter().map(depth_of).max();
            assert_eq!(Some(find_loop_depth(&function) as usize), deepest, "seed {seed}\n{function}");
            for (header, latches, body) in &expected {
                let loop_id = loop_forest.with_header(*header).unwrap();
                let loop_data = loop_forest.get(loop_id);
                assert_eq!(loop_data.header, *header);
                assert_eq!(loop_data.blocks[0], *header);
                assert_eq!(loop_data.blocks.iter().copied().collect::<BTreeSet<_>>(), *body, "seed {seed}\n{function}");
                assert_eq!(loop_data.latches.iter().copied().collect::<BTreeSet<_>>(), *latches);
                let outer = expected.iter().filter(|(h, _, b)| h != header && b.contains(header));
                assert_eq!(loop_data.depth as usize, outer.clone().count() + 1);
                let parent = outer.min_by_key(|(_, _, b)| b.len());
                assert_eq!(loop_data.parent.map(|p| loop_forest.get(p).header), parent.map(|(h, _, _)| *h));
                for &other_block in flow_graph.reverse_post_order() {
                    assert_eq!(loop_forest.contains(loop_id, other_block), body.contains(&other_block));
                }
                for &other_block in body {
                    for &to in flow_graph.successors(other_block) {
                        assert_eq!(loop_data.exits.contains(&(other_block, to)), !body.contains(&to));
                    }
                }
                assert!(loop_data.exits.iter().all(|(from, to)| body.contains(from) && !body.contains(to)));
            }
            // Reducible: without back edges nothing is cyclic.
            let mut forward = function.clone();
            for &block in &function.layout {
                let mut terminator = function.blocks[block].terminator.clone();
                if terminator.targets().iter().any(|target| dominators.dominates(target.block, block)) {
                    let keep: Vec<_> = terminator
                        .targets()
                        .into_iter()
                        .filter(|target| !dominators.dominates(target.block, block))
                        .cloned()
                        .collect();
                    let mut keep = keep.into_iter();
                    terminator = match (keep.next(), keep.next()) {
                        (None, _) => crate::ir::Terminator::Return,
                        (Some(target), None) => crate::ir::Terminator::Jump(target),
                        (Some(a), Some(b)) => crate::ir::Terminator::Branch {
                            condition: function.values.keys().next().unwrap(),
                            then_to: a,
                            else_to: b,
                        },
                    };
                }
                forward.blocks[block].terminator = terminator;
            }
            let cyclic = flow_graph.reverse_post_order().iter().any(|&other_block| {
                forward.blocks[other_block]
                    .terminator
                    .targets()
                    .iter()
                    .any(|target| reaches_without(&forward, target.block, other_block, None))
            });
            assert_eq!(!loop_forest.irreducible_edges().is_empty(), cyclic, "seed {seed}\n{function}");
            irreducible_seen += usize::from(cyclic);
        }
        assert!((20..380).contains(&irreducible_seen));
    }
}
