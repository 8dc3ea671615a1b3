//! The walk as it was first written: maps in the place of tables, nothing remembered. The oracle for [`super::super::Walks`].

use super::super::{ControlDivergence, Label};
use crate::analysis::cfg::Cfg;
use crate::analysis::loops::{Loop, Loops};
use crate::ir::Block;
use std::collections::{BTreeMap, BTreeSet};

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
