//! What part of the work-items run a block, where a switch spreads them over many.
//!
//! The same for all divergent branches says how likely a gang is to come to an arm: of arms in arms, gangs of few lanes leave
//! more out.
//!
//! Requires: graph, dominators and loops of a function in normal form; the blocks whose branches are divergent.
//! Ensures: for each block a share of [`WHOLE`], if some divergent branch has so many targets as are asked for (of a switch,
//! so many that most of them are run by few); nothing otherwise. A block has at most the share of the one that dominates it.
//! Phases: in reverse post-order, each block hands its share on along its edges, but not back to loop headers.
//! Source: Wu & Larus 1994, "Static Branch Frequency and Program Profile Analysis", with one heuristic: keys are spread
//! evenly. Other branches are taken to go both ways, as the rest of the estimate does. Over the rounds of a loop its exits
//! are run by all that entered it, however few leave in one round.
//!
//! ```text
//! s:  switch v, 0: b0, 1: b1, … 99: b99, default end     s: 1
//! b0: … jump b1                                          b0: 1/101
//! b1: … jump end                                         b1: 2/101, as those of b0 come as well
//! ```

use super::cfg::Cfg;
use super::dominators::dominators;
use super::loops::Loops;
use crate::ir::{Block, Function};
use cranelift_entity::{EntitySet, SecondaryMap};

/// The share of all work-items.
pub const WHOLE: u64 = 1 << 20;

/// Targets from which on a switch spreads work-items. Measured with cases of two or three operations: gangs break even
/// with work-items that run one case each at 16 to 32 targets, and take twice to four times as long at 64 to 128.
const MANY_TARGETS: usize = 64;

/// What spreads work-items, and how.
pub struct Spread {
    /// The blocks whose branches do.
    pub branches: EntitySet<Block>,
    /// The part of the work-items that run each block in a round of the loops around it.
    pub shares: SecondaryMap<Block, u64>,
}

/// How long switches spread work-items; none: there are no long ones.
pub fn find_shares(f: &Function, graph: &Cfg, loops: &Loops, divergent: &EntitySet<Block>) -> Option<Spread> {
    spread_work_items(f, graph, loops, divergent, MANY_TARGETS)
}

/// How all divergent branches spread work-items, if each target of a branch is as likely as the others; none: there are
/// no such branches.
pub fn find_shares_of_arms(f: &Function, graph: &Cfg, loops: &Loops, divergent: &EntitySet<Block>) -> Option<Spread> {
    spread_work_items(f, graph, loops, divergent, 2)
}

/// Of so many work-items, each of which runs a block with a probability of `share` in [`WHOLE`], the probability in
/// [`WHOLE`] that one of them does. Their number is a power of two.
pub fn probability_of_any(share: u64, work_items: u32) -> u64 {
    let none = (0..work_items.ilog2()).fold(WHOLE - share.min(WHOLE), |none, _| none * none / WHOLE);
    WHOLE - none
}

/// How divergent branches with so many targets or more spread work-items; none: there are no such branches.
fn spread_work_items(
    f: &Function,
    graph: &Cfg,
    loops: &Loops,
    divergent: &EntitySet<Block>,
    least_targets: usize,
) -> Option<Spread> {
    let mut branches = EntitySet::new();
    for &block in graph.rpo().iter().filter(|&&block| divergent.contains(block)) {
        let term = &f.blocks[block].term;
        if term.targets().len() >= least_targets {
            branches.insert(block);
        }
    }
    if branches.is_empty() {
        return None;
    }
    let tree = dominators(graph);
    let mut shares: SecondaryMap<Block, u64> = SecondaryMap::new();
    for &block in graph.rpo() {
        // Until here, what came along the edges.
        let here = tree.idom(block).map_or(WHOLE, |above| shares[block].min(shares[above]));
        shares[block] = here;
        if branches.contains(block) {
            let targets = f.blocks[block].term.targets();
            let each = here.div_ceil(targets.len() as u64);
            for to in targets {
                shares[to.block] += leaving(loops, &shares, block, to.block).unwrap_or(each);
            }
            continue;
        }
        for &to in
            graph.succs(block).iter().filter(|&&to| loops.with_header(to).is_none_or(|l| !loops.contains(l, block)))
        {
            shares[to] += leaving(loops, &shares, block, to).unwrap_or(here);
        }
    }
    Some(Spread { branches, shares })
}

/// The share of those that entered the outermost loop that an edge leaves, if it leaves one.
fn leaving(loops: &Loops, shares: &SecondaryMap<Block, u64>, from: Block, to: Block) -> Option<u64> {
    let left = loops.around(from).take_while(|&l| !loops.contains(l, to)).last()?;
    Some(shares[loops.get(left).header])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::cfg::cfg;
    use crate::analysis::loops::loops;
    use crate::ir::{Terminator, parse_module};

    /// The shares of a switch over the id with so many cases in a loop, of which every `runs`-th ends with a break: of the
    /// cases in their order, and of what is behind the loop. Case n is block 10 + n.
    fn of_switch(cases: usize, runs: usize, divergent: bool) -> Option<(Vec<u64>, u64)> {
        let mut text = String::from(
            "kernel \"k\" {\n args 4\n param \"n\" value \"int\" size 4 align 4 offset 0\n input value(0, 0): i32\n \
             region r0 {\n b0(v0: i32):\n jump b1(0:i32)\n b1(v1: i32):\n",
        );
        let targets: Vec<String> = (0..cases).map(|i| format!("{i}: b{}", 10 + i)).collect();
        text += &format!(" switch v1 [{}] default b2\n", targets.join(", "));
        for i in 0..cases {
            let ends = i % runs == runs - 1 || i == cases - 1;
            text += &format!(" b{}:\n jump b{}\n", 10 + i, if ends { 2 } else { 11 + i });
        }
        text += " b2:\n v2: i32 = add v1, 1\n v3: i1 = icmp.slt v2, v0\n br v3, b1(v2), b3\n b3:\n return\n }\n}\n";
        let module = parse_module(&text).unwrap_or_else(|error| panic!("{error}\n{text}"));
        let f = &module.kernels[0].regions[crate::ir::Region::from_u32(0)];
        let graph = cfg(f);
        let forest = loops(&graph, &dominators(&graph));
        let mut branches = EntitySet::new();
        let switch = f.layout.iter().find(|&&block| matches!(f.blocks[block].term, Terminator::Switch { .. }));
        if divergent {
            branches.insert(*switch.expect("the kernel has one"));
        }
        let Spread { shares, .. } = find_shares(f, &graph, &forest, &branches)?;
        let Terminator::Switch { cases, .. } = &f.blocks[*switch?].term else { return None };
        let last = f.layout.iter().find(|&&block| matches!(f.blocks[block].term, Terminator::Return));
        Some((cases.iter().map(|(_, to)| shares[to.block]).collect(), shares[*last?]))
    }

    #[test]
    fn cases_with_breaks_are_run_by_as_many_each() {
        let (cases, behind) = of_switch(99, 1, true).expect("many targets");
        assert!(cases.iter().all(|&share| share == WHOLE.div_ceil(100)), "{cases:?}");
        assert_eq!(behind, WHOLE, "whoever entered a loop leaves it");
    }

    #[test]
    fn cases_that_fall_through_bring_their_work_items_along() {
        let each = WHOLE.div_ceil(100);
        let (cases, _) = of_switch(99, 3, true).expect("many targets");
        assert_eq!(cases[..6], [each, 2 * each, 3 * each, each, 2 * each, 3 * each]);
        let (cases, _) = of_switch(99, 99, true).expect("many targets");
        assert_eq!(cases[98], 99 * each);
    }

    #[test]
    fn short_switches_and_uniform_ones_spread_nothing() {
        assert_eq!(of_switch(MANY_TARGETS - 2, 1, true), None);
        assert_eq!(of_switch(99, 1, false), None);
    }

    #[test]
    fn more_work_items_leave_less_out() {
        assert_eq!(probability_of_any(WHOLE, 4), WHOLE);
        assert_eq!(probability_of_any(WHOLE / 2, 1), WHOLE / 2);
        assert_eq!(probability_of_any(WHOLE / 2, 2), WHOLE * 3 / 4);
        let of_a_sixteenth = [8, 16, 32].map(|lanes| probability_of_any(WHOLE / 16, lanes) * 100 / WHOLE);
        assert_eq!(of_a_sixteenth, [40, 64, 87]);
    }
}
