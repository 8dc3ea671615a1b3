//! Which barriers share a region, so that regions never copy more than a constant times the kernel.
//!
//! Requires: the kernel's code split behind its barriers.
//! Ensures: each start belongs to one region. Where each can have a region of its own without copying too much, it has.
//! Otherwise no block is part of more than [`Bounds::most_copies`] regions that begin behind barriers, so all regions
//! together have at most `most_copies + 1` times the kernel's instructions. The kernel's begin and what begins with a
//! collective operation's answer have regions of their own.
//! Phases: what regions of their own would copy; the starts that lead to each block, as groups: where these are too many,
//! they become one group.
//! Source: ours; the groups are a union-find over reaching definitions (Aho, Lam, Sethi & Ullman 2006, 9.2.4).
//!
//! After `if (flag & 1) { …; barrier(); } if (flag & 2) { …; barrier(); } …` each barrier's region copies what all the
//! later conditions lead to, so the code grows with the square of their number. A region of several barriers has that code
//! once, and a switch at its begin leads to where the work-items go on:
//!
//! ```text
//! r5: b6 …                              r5: switch ls1, 0: b6, 1: b9, 2: b12
//! r6: b9 …           (a part of r5)  =>     b6 …
//! r7: b12 …          (a part of r6)         b9 …
//!                                           b12 …
//! ```
//!
//! Which case is stored where work-items arrive. All work-items of a group arrive at the same barrier, so the group
//! keeps it once, whatever conditions led there. No work-item waits where the program does not, so this holds of every
//! control flow: loops whose number of iterations differs, early returns, work-items that wait for others.

use super::cuts::{Cuts, Start};
use crate::analysis::cfg::Cfg;
use crate::ir::{Block, Function, Region};
use cranelift_entity::{EntityRef, PrimaryMap, SecondaryMap};
use lockstep_protocol::compile_options::Bounds;
use std::collections::BTreeSet;

/// The regions of starts.
pub(super) struct Regions {
    /// The region that a start belongs to.
    pub of: SecondaryMap<Start, Region>,
    /// The starts of each region, in order. Of several, a number that work-items keep tells which.
    pub starts: PrimaryMap<Region, Vec<Start>>,
}

/// Gives each start a region of its own.
pub(super) fn separate_regions(cuts: &Cuts) -> Regions {
    let mut regions = Regions { of: SecondaryMap::with_default(Region::new(0)), starts: PrimaryMap::new() };
    for start in cuts.starts.keys() {
        regions.of[start] = regions.starts.push(vec![start]);
    }
    regions
}

/// Whether regions of their own for all starts copy more than the bounds allow.
pub(super) fn copies_exceed(function: &Function, flow_graph: &Cfg, cuts: &Cuts, bounds: Bounds) -> bool {
    let block_size = |block: Block| function.blocks[block].insts.len() + 1;
    let kernel: usize = flow_graph.reverse_post_order().iter().map(|&block| block_size(block)).sum();
    let maximum = bounds.few_insts.max(kernel * (bounds.most_copies + 1));
    let mut copied = 0;
    // The last start that was seen to lead to a block.
    let mut seen: SecondaryMap<Block, Option<Start>> = SecondaryMap::new();
    for (start, &first_block) in &cuts.starts {
        let mut worklist = vec![first_block];
        seen[first_block] = Some(start);
        while let Some(block) = worklist.pop() {
            copied += block_size(block);
            if copied > maximum {
                return true;
            }
            if cuts.cut[block].is_some() {
                continue;
            }
            for &target in flow_graph.successors(block) {
                if seen[target].replace(start) != Some(start) {
                    worklist.push(target);
                }
            }
        }
    }
    false
}

/// Puts starts together until no block is part of more than `most_copies` regions that begin behind barriers.
pub(super) fn merged_regions(flow_graph: &Cfg, cuts: &Cuts, most_copies: usize) -> Regions {
    let mut groups = Groups { parent: cuts.starts.keys().collect(), leading: SecondaryMap::new() };
    // Blocks to look at, by their numbers in reverse post-order.
    let mut changed_blocks: BTreeSet<u32> = BTreeSet::new();
    for (start, &block) in cuts.starts.iter().skip(1).filter(|&(start, _)| cuts.combines[start].is_none()) {
        groups.leading[block].push(start);
        changed_blocks.extend(flow_graph.rpo_number(block));
    }
    while let Some(number) = changed_blocks.pop_first() {
        let block = flow_graph.reverse_post_order()[number as usize];
        groups.limit_regions(block, most_copies);
        if cuts.cut[block].is_some() {
            continue;
        }
        for &target in flow_graph.successors(block) {
            if groups.pass_on(block, target) {
                changed_blocks.extend(flow_graph.rpo_number(target));
            }
        }
    }
    let mut regions = Regions { of: SecondaryMap::with_default(Region::new(0)), starts: PrimaryMap::new() };
    let mut region_of: SecondaryMap<Start, Option<Region>> = SecondaryMap::new();
    for start in cuts.starts.keys() {
        let group = groups.representative(start);
        let region = *region_of[group].get_or_insert_with(|| regions.starts.push(Vec::new()));
        regions.of[start] = region;
        regions.starts[region].push(start);
    }
    regions
}

/// Groups of starts, as trees whose roots stand for them.
struct Groups {
    parent: PrimaryMap<Start, Start>,
    /// The groups of the starts that lead to a block.
    leading: SecondaryMap<Block, Vec<Start>>,
}

impl Groups {
    /// The start that stands for a start's group.
    fn representative(&mut self, start: Start) -> Start {
        let mut root = start;
        while self.parent[root] != root {
            root = self.parent[root];
        }
        let mut member = start;
        while member != root {
            member = std::mem::replace(&mut self.parent[member], root);
        }
        root
    }

    /// The groups of the starts that lead to a block, each once.
    fn leading_to(&mut self, block: Block) -> Vec<Start> {
        let mut starts: Vec<Start> =
            self.leading[block].clone().into_iter().map(|start| self.representative(start)).collect();
        starts.sort();
        starts.dedup();
        starts
    }

    /// Makes one group of those that lead to a block if they are too many.
    fn limit_regions(&mut self, block: Block, maximum: usize) {
        let mut starts = self.leading_to(block);
        if starts.len() > maximum {
            for other in starts.split_off(1) {
                self.parent[other] = starts[0];
            }
        }
        self.leading[block] = starts;
    }

    /// Adds the groups that lead to a block to those that lead to another; whether one is new there.
    fn pass_on(&mut self, source: Block, target: Block) -> bool {
        let mut starts = self.leading_to(target);
        let previous_count = starts.len();
        starts.extend(self.leading_to(source));
        starts.sort();
        starts.dedup();
        let grown = starts.len() > previous_count;
        self.leading[target] = starts;
        grown
    }
}
