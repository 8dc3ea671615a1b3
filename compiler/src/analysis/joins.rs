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
//! with labels of their own and the others with one label for all, and so on outwards. At most
//! O(depth * edges) for a branch; the walk ends as soon as one block with one label is left.
//! Source: Moll 2021, chapter 7 (partially divergent nodes, listings 4 to 7) and appendix A. Other than
//! there, an exit is temporally divergent for a loop, so that what is invariant in that loop stays uniform.

use super::cfg::Cfg;
use super::loops::{Loop, Loops};
use crate::ir::Block;
use std::collections::{BTreeMap, BTreeSet};

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

/// One walk, inside one loop.
struct Walk<'a> {
    cfg: &'a Cfg,
    loops: &'a Loops,
    around: Option<Loop>,
    labels: BTreeMap<Block, Label>,
    /// Places in the order of the blocks to go on from.
    pending: BTreeSet<u32>,
    /// Where the walk left the loop around.
    exits: BTreeMap<Block, Label>,
    /// What came back to the header of the loop around.
    latch: Option<Label>,
    joins: &'a mut BTreeSet<Block>,
}

/// Finds what follows when the lanes at the end of `branch` go different ways.
pub fn control_divergence(cfg: &Cfg, loops: &Loops, branch: Block) -> ControlDivergence {
    let mut found = ControlDivergence::default();
    let succs = cfg.succs(branch);
    // Two edges to one block: which of them was taken shows in its parameters.
    for (i, &to) in succs.iter().enumerate() {
        if succs[..i].contains(&to) {
            found.joins.insert(to);
        }
    }
    let mut around = loops.innermost(branch);
    let mut starts: Vec<(Block, Block, Label)> = succs.iter().map(|&to| (branch, to, Label::Through(to))).collect();
    loop {
        let mut walk = Walk {
            cfg,
            loops,
            around,
            labels: BTreeMap::new(),
            pending: BTreeSet::new(),
            exits: BTreeMap::new(),
            latch: None,
            joins: &mut found.joins,
        };
        starts.drain(..).for_each(|(from, to, label)| walk.push(from, to, label));
        walk.run();
        let Some(l) = around else { break };
        let (exits, latch) = (walk.exits, walk.latch);
        let divergent: BTreeSet<Block> =
            exits.iter().filter(|&(_, &label)| Some(label) != latch).map(|(&exit, _)| exit).collect();
        if divergent.is_empty() {
            break;
        }
        found.loops.insert(l);
        found.temporal.extend(divergent.iter().map(|&exit| (l, exit)));
        for &(from, to) in &loops.get(l).exits {
            let label = if divergent.contains(&to) { Label::Through(to) } else { Label::Together };
            starts.push((from, to, label));
        }
        around = loops.get(l).parent;
    }
    found
}

impl Walk<'_> {
    fn run(&mut self) {
        while let Some(number) = self.pending.pop_first() {
            let block = self.cfg.rpo()[number as usize];
            let label = self.labels[&block];
            // Whatever is reached from here on carries this label.
            if self.pending.is_empty() && self.exits.is_empty() && self.latch.is_none() {
                if let Some(l) = self.around {
                    self.reach_latch(self.loops.get(l).header, label);
                }
                return;
            }
            for &to in self.cfg.succs(block) {
                self.push(block, to, label);
            }
        }
    }

    fn push(&mut self, from: Block, to: Block, label: Label) {
        if let Some(l) = self.around {
            if to == self.loops.get(l).header {
                return self.reach_latch(to, label);
            }
            if !self.loops.contains(l, to) {
                let merged = merge(self.exits.get(&to).copied(), label, to, self.joins);
                self.exits.insert(to, merged);
                return;
            }
        }
        // Lanes in an inner loop carry what they carried at its header.
        let number = self.cfg.rpo_number(to);
        if number <= self.cfg.rpo_number(from) {
            return;
        }
        let merged = merge(self.labels.get(&to).copied(), label, to, self.joins);
        self.labels.insert(to, merged);
        self.pending.extend(number);
    }

    fn reach_latch(&mut self, header: Block, label: Label) {
        self.latch = Some(merge(self.latch, label, header, self.joins));
    }
}

/// The label of a block that lanes with both labels reach.
fn merge(old: Option<Label>, new: Label, block: Block, joins: &mut BTreeSet<Block>) -> Label {
    match old {
        Some(old) if old != new => {
            joins.insert(block);
            Label::Through(block)
        }
        _ => new,
    }
}

#[cfg(test)]
mod tests;
