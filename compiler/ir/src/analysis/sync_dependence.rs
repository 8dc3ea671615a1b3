//! Control divergence: where lanes that a branch sends different ways meet again.
//!
//! Requires: a control-flow graph in normal form and its loops; a block that ends in a branch or switch.
//! Ensures: if lanes which execute the branch together may go different ways there, then every block that
//! they may reach together on different edges is in `joins` (sync dependence); every exit of a loop where
//! lanes may arrive that left in different iterations is in `temporal`; loops that lanes may leave at
//! different times or through different exits are in `loops`. Two lanes execute a block together if they
//! are in the same iteration of every loop around it.
//! Phases: labels walk from the branch's targets along forward edges, inside the innermost loop around
//! the branch; where two labels meet is a join with a label of its own. Exits whose label is not that of
//! the latch are divergent. Then the loop becomes a node with its exits as targets, the divergent ones
//! with labels of their own and the others with one label for all, and so on outwards. Where all lanes with
//! a label go on in one block, the walk goes on there. At most
//! O(depth * edges) for a branch; the walk ends as soon as one block with one label is left. What was found of a branch
//! is remembered for as long as the graph is.
//! Source: Moll 2021, chapter 7 (partially divergent nodes, listings 4 to 7) and appendix A. Other than
//! there, an exit is temporally divergent for a loop, so that what is invariant in that loop stays uniform.

mod single_exits;

use self::single_exits::{SingleExit, SingleExits, find_single_exits};
use super::cfg::Cfg;
use super::loops::{Loop, Loops};
use crate::ir::Block;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, BinaryHeap, HashMap};
use std::rc::Rc;

/// What follows when a branch is divergent.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct ControlDivergence {
    /// Blocks that lanes may reach together from different predecessors.
    pub joins: BTreeSet<Block>,
    /// Exit blocks of loops which lanes may reach together having left the loop in different iterations.
    pub temporal: BTreeSet<(Loop, Block)>,
    /// Loops that lanes may leave in different iterations or through different exits.
    pub loops: BTreeSet<Loop>,
}

/// Which way a lane came: through which of several blocks.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Label {
    /// Through this target of the branch, or this join.
    Through(Block),
    /// Through one of the exits that lanes only take together.
    Together,
}

/// The walks over one graph. The graph does not change with what is asked of it, so each branch is walked from once.
#[derive(Debug, Default)]
pub struct Walks {
    found: HashMap<Block, Rc<ControlDivergence>>,
    /// Labels by place in the order of the blocks; between walks all are `None`.
    labels: Vec<Option<Label>>,
    /// Found when a branch is asked for.
    single_exits: Option<SingleExits>,
}

impl Walks {
    /// What follows when the lanes at the end of `branch` go different ways. All questions are of one graph.
    pub fn control_divergence(
        &mut self,
        flow_graph: &Cfg,
        loop_forest: &Loops,
        branch: Block,
    ) -> Rc<ControlDivergence> {
        if let Some(divergence) = self.found.get(&branch) {
            return divergence.clone();
        }
        self.labels.resize(flow_graph.reverse_post_order().len(), None);
        let single_exits = self.single_exits.get_or_insert_with(|| find_single_exits(flow_graph, loop_forest));
        let graph = WalkedGraph { cfg: flow_graph, loops: loop_forest, single_exits };
        let divergence = Rc::new(control_divergence(graph, branch, &mut self.labels));
        self.found.insert(branch, divergence.clone());
        divergence
    }
}

/// What is walked over.
#[derive(Clone, Copy)]
struct WalkedGraph<'a> {
    cfg: &'a Cfg,
    loops: &'a Loops,
    single_exits: &'a SingleExits,
}

/// One walk, inside one loop.
struct Walk<'a> {
    graph: WalkedGraph<'a>,
    around: Option<Loop>,
    /// By place in the order of the blocks.
    labels: &'a mut [Option<Label>],
    /// The places that have a label.
    reached: Vec<u32>,
    /// Places in the order of the blocks to go on from, the first one on top.
    pending: BinaryHeap<Reverse<u32>>,
    /// Where the walk left the loop around.
    exits: BTreeMap<Block, Label>,
    /// What came back to the header of the loop around.
    latch: Option<Label>,
    joins: &'a mut BTreeSet<Block>,
}

/// Finds what follows when the lanes at the end of `branch` go different ways.
fn control_divergence(graph: WalkedGraph<'_>, branch: Block, labels: &mut [Option<Label>]) -> ControlDivergence {
    let mut divergence = ControlDivergence::default();
    let successors = graph.cfg.successors(branch);
    // Two edges to one block: which of them was taken shows in its parameters.
    let mut targets = BTreeSet::new();
    divergence.joins.extend(successors.iter().filter(|&&target| !targets.insert(target)));
    let mut around = graph.loops.innermost_loop(branch);
    let mut starts: Vec<(Block, Block, Label)> =
        successors.iter().map(|&target| (branch, target, Label::Through(target))).collect();
    loop {
        let mut walk = Walk {
            graph,
            around,
            labels: &mut *labels,
            reached: Vec::new(),
            pending: BinaryHeap::new(),
            exits: BTreeMap::new(),
            latch: None,
            joins: &mut divergence.joins,
        };
        starts.drain(..).for_each(|(source, target, label)| walk.push_label(source, target, label));
        walk.run();
        walk.clear_labels();
        let Some(loop_id) = around else { break };
        let (exits, latch) = (walk.exits, walk.latch);
        let divergent: BTreeSet<Block> =
            exits.iter().filter(|&(_, &label)| Some(label) != latch).map(|(&exit_block, _)| exit_block).collect();
        if divergent.is_empty() {
            break;
        }
        divergence.loops.insert(loop_id);
        divergence.temporal.extend(divergent.iter().map(|&exit_block| (loop_id, exit_block)));
        for &(source, target) in &graph.loops.get(loop_id).exits {
            let label = if divergent.contains(&target) { Label::Through(target) } else { Label::Together };
            starts.push((source, target, label));
        }
        around = graph.loops.get(loop_id).parent;
    }
    divergence
}

impl Walk<'_> {
    fn run(&mut self) {
        while let Some(Reverse(number)) = self.pending.pop() {
            let block = self.graph.cfg.reverse_post_order()[number as usize];
            let Some(label) = self.labels[number as usize] else { continue };
            // Whatever is reached from here on carries this label.
            if self.pending.is_empty() && self.exits.is_empty() && self.latch.is_none() {
                if let Some(loop_id) = self.around {
                    self.reach_latch(self.graph.loops.get(loop_id).header, label);
                }
                return;
            }
            match self.graph.single_exits.exit_of(block).filter(|exit| self.stays_around(exit)) {
                Some(exit) => exit.block.into_iter().for_each(|target| self.push_label(block, target, label)),
                None => {
                    for &target in self.graph.cfg.successors(block) {
                        self.push_label(block, target, label);
                    }
                }
            }
        }
    }

    /// Whether lanes that go to an exit do not leave the loop around before.
    fn stays_around(&self, exit: &SingleExit) -> bool {
        let loops = self.graph.loops;
        let contains = |around: Loop, inner: Loop| loops.contains(around, loops.get(inner).header);
        self.around.is_none_or(|around| exit.around.is_some_and(|inner| contains(around, inner)))
    }

    fn push_label(&mut self, source: Block, target: Block, label: Label) {
        if let Some(loop_id) = self.around {
            if target == self.graph.loops.get(loop_id).header {
                return self.reach_latch(target, label);
            }
            if !self.graph.loops.contains(loop_id, target) {
                let merged = merge_labels(self.exits.get(&target).copied(), label, target, self.joins);
                self.exits.insert(target, merged);
                return;
            }
        }
        // Lanes in an inner loop carry what they carried at its header.
        let number = self.graph.cfg.rpo_number(target);
        if number <= self.graph.cfg.rpo_number(source) {
            return;
        }
        let Some(number) = number else { return };
        let previous = self.labels[number as usize];
        self.labels[number as usize] = Some(merge_labels(previous, label, target, self.joins));
        if previous.is_none() {
            self.reached.push(number);
            self.pending.push(Reverse(number));
        }
    }

    fn reach_latch(&mut self, header: Block, label: Label) {
        self.latch = Some(merge_labels(self.latch, label, header, self.joins));
    }

    /// Takes the labels away for the next walk.
    fn clear_labels(&mut self) {
        self.reached.drain(..).for_each(|number| self.labels[number as usize] = None);
    }
}

/// The label of a block that lanes with both labels reach.
fn merge_labels(previous: Option<Label>, new_label: Label, block: Block, joins: &mut BTreeSet<Block>) -> Label {
    match previous {
        Some(previous) if previous != new_label => {
            joins.insert(block);
            Label::Through(block)
        }
        _ => new_label,
    }
}

#[cfg(test)]
mod tests;
