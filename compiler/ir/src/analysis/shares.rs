//! What part of the work-items run a block, where a switch spreads them over many.
//!
//! The same for all divergent branches says how likely a gang is to come to an arm: of arms in arms, gangs of few lanes leave
//! more out.
//!
//! Requires: graph, dominators and loops of a function in normal form; the blocks whose branches are divergent.
//! Ensures: for each block a share of [`WHOLE`], if some divergent branch has so many targets as are asked for (of a switch,
//! so many that most of them are run by few); nothing otherwise. A block has at most the share of the one that dominates it.
//! Phases: in reverse post-order, each block hands its share on along its edges, but not back to loop headers.
//! Source: Wu & Larus 1994, "Static Branch Frequency and Program Profile Analysis", with two heuristics: keys are spread
//! evenly, and what was loaded seldom equals a value that is looked for. Other branches are taken to go both ways, as the
//! rest of the estimate does. Over the rounds of a loop its exits
//! are run by all that entered it, however few leave in one round.
//!
//! ```text
//! s:  switch v, 0: b0, 1: b1, … 99: b99, default end     s: 1
//! b0: … jump b1                                          b0: 1/101
//! b1: … jump end                                         b1: 2/101, as those of b0 come as well
//! ```

use super::cfg::Cfg;
use super::dominators::compute_dominators;
use super::loops::Loops;
use crate::ir::{Block, Function, InstData, IntCc, Terminator, UnaryOp, Value, ValueDef};
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

/// The part of the work-items that find a value in memory to be the one they look for, one of so many: most do not. Wu &
/// Larus count five of six.
const MATCHES: u64 = 8;

/// How long switches spread work-items; none: there are no long ones.
pub fn find_shares(
    function: &Function,
    flow_graph: &Cfg,
    loop_forest: &Loops,
    divergent: &EntitySet<Block>,
) -> Option<Spread> {
    let is_long = |&block: &Block| function.blocks[block].terminator.targets().len() >= MANY_TARGETS;
    spread_work_items(function, flow_graph, loop_forest, select_branches(flow_graph, divergent, is_long), split_evenly)
}

/// How all divergent branches spread work-items, if each target of a branch is as likely as the others; none: there are
/// no such branches.
pub fn find_shares_of_arms(
    function: &Function,
    flow_graph: &Cfg,
    loop_forest: &Loops,
    divergent: &EntitySet<Block>,
) -> Option<Spread> {
    spread_work_items(function, flow_graph, loop_forest, select_branches(flow_graph, divergent, |_| true), split_evenly)
}

/// How divergent branches spread work-items that ask whether what was loaded equals a value which is not a constant; none:
/// there are no such branches.
pub fn find_shares_of_matches(
    function: &Function,
    flow_graph: &Cfg,
    loop_forest: &Loops,
    divergent: &EntitySet<Block>,
) -> Option<Spread> {
    let asks = |&block: &Block| find_match(function, block).is_some();
    spread_work_items(function, flow_graph, loop_forest, select_branches(flow_graph, divergent, asks), split_by_match)
}

/// Of so many work-items, each of which runs a block with a probability of `share` in [`WHOLE`], the probability in
/// [`WHOLE`] that one of them does. Their number is a power of two.
pub fn probability_of_any(share: u64, work_items: u32) -> u64 {
    let none = (0..work_items.ilog2()).fold(WHOLE - share.min(WHOLE), |none, _| none * none / WHOLE);
    WHOLE - none
}

/// The divergent branches that are wanted, by their blocks.
fn select_branches(
    flow_graph: &Cfg,
    divergent: &EntitySet<Block>,
    is_wanted: impl Fn(&Block) -> bool,
) -> EntitySet<Block> {
    let mut branches = EntitySet::new();
    for &block in flow_graph
        .reverse_post_order()
        .iter()
        .filter(|&&block| divergent.contains(block))
        .filter(|block| is_wanted(block))
    {
        branches.insert(block);
    }
    branches
}

/// Each target of a branch gets as much of a share as the others.
fn split_evenly(function: &Function, block: Block, share: u64) -> Vec<u64> {
    let targets = function.blocks[block].terminator.targets().len();
    vec![share.div_ceil(targets as u64); targets]
}

/// The target where a value was found gets the part of a share that finds it.
fn split_by_match(function: &Function, block: Block, share: u64) -> Vec<u64> {
    let matching = share.div_ceil(MATCHES);
    match find_match(function, block) {
        Some(IntCc::Eq) => vec![matching, share - matching],
        _ => vec![share - matching, matching],
    }
}

/// How a branch compares an integer that was loaded with a value which is not a constant: for equality or inequality, if
/// it does.
fn find_match(function: &Function, block: Block) -> Option<IntCc> {
    let Terminator::Branch { condition, .. } = function.blocks[block].terminator else { return None };
    let ValueDef::Result(instruction, _) = function.values[condition].definition else { return None };
    let InstData::Icmp { comparison: comparison @ (IntCc::Eq | IntCc::Ne), arguments } =
        function.insts[instruction].data
    else {
        return None;
    };
    let is_constant = |&argument: &Value| matches!(function.values[argument].definition, ValueDef::Const(_));
    (arguments.iter().any(|&argument| is_loaded(function, argument)) && !arguments.iter().any(is_constant))
        .then_some(comparison)
}

/// Whether a value is what was loaded, extended or not.
fn is_loaded(function: &Function, mut value: Value) -> bool {
    while let ValueDef::Result(instruction, _) = function.values[value].definition {
        match function.insts[instruction].data {
            InstData::Unary { opcode: UnaryOp::Zext | UnaryOp::Sext | UnaryOp::Freeze, argument, .. } => {
                value = argument
            }
            InstData::Load { .. } => return true,
            _ => return false,
        }
    }
    false
}

/// How these branches spread work-items, of which each splits its share among its targets; none: there are no branches.
fn spread_work_items(
    function: &Function,
    flow_graph: &Cfg,
    loop_forest: &Loops,
    branches: EntitySet<Block>,
    split: fn(&Function, Block, u64) -> Vec<u64>,
) -> Option<Spread> {
    if branches.is_empty() {
        return None;
    }
    let dominators = compute_dominators(flow_graph);
    let mut shares: SecondaryMap<Block, u64> = SecondaryMap::new();
    for &block in flow_graph.reverse_post_order() {
        // Until here, what came along the edges.
        let block_share = dominators.immediate_dominator(block).map_or(WHOLE, |above| shares[block].min(shares[above]));
        shares[block] = block_share;
        if branches.contains(block) {
            for (target, each) in
                function.blocks[block].terminator.targets().into_iter().zip(split(function, block, block_share))
            {
                shares[target.block] += share_leaving(loop_forest, &shares, block, target.block).unwrap_or(each);
            }
            continue;
        }
        for &successor in flow_graph.successors(block).iter().filter(|&&successor| {
            loop_forest.with_header(successor).is_none_or(|loop_id| !loop_forest.contains(loop_id, block))
        }) {
            shares[successor] += share_leaving(loop_forest, &shares, block, successor).unwrap_or(block_share);
        }
    }
    Some(Spread { branches, shares })
}

/// The share of those that entered the outermost loop that an edge leaves, if it leaves one.
fn share_leaving(loop_forest: &Loops, shares: &SecondaryMap<Block, u64>, source: Block, target: Block) -> Option<u64> {
    let left = loop_forest.loops_around(source).take_while(|&loop_id| !loop_forest.contains(loop_id, target)).last()?;
    Some(shares[loop_forest.get(left).header])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::cfg::build_cfg;
    use crate::analysis::loops::find_loops;
    use crate::ir::parse_module;

    /// The shares of a switch over the id with so many cases in a loop, of which every `runs`-th ends with a break: of the
    /// cases in their order, and of what is behind the loop. Case n is block 10 + n.
    fn of_switch(cases: usize, runs: usize, divergent: bool) -> Option<(Vec<u64>, u64)> {
        let mut text = String::from(
            "kernel \"k\" {\n args 4\n param \"n\" value \"int\" size 4 align 4 offset 0\n input value(0, 0): i32\n \
             region r0 {\n b0(v0: i32):\n jump b1(0:i32)\n b1(v1: i32):\n",
        );
        let targets: Vec<String> = (0..cases).map(|index| format!("{index}: b{}", 10 + index)).collect();
        text += &format!(" switch v1 [{}] default b2\n", targets.join(", "));
        for index in 0..cases {
            let ends = index % runs == runs - 1 || index == cases - 1;
            text += &format!(" b{}:\n jump b{}\n", 10 + index, if ends { 2 } else { 11 + index });
        }
        text += " b2:\n v2: i32 = add v1, 1\n v3: i1 = icmp.slt v2, v0\n br v3, b1(v2), b3\n b3:\n return\n }\n}\n";
        let module = parse_module(&text).unwrap_or_else(|error| panic!("{error}\n{text}"));
        let function = &module.kernels[0].regions[crate::ir::Region::from_u32(0)];
        let flow_graph = build_cfg(function);
        let loop_forest = find_loops(&flow_graph, &compute_dominators(&flow_graph));
        let mut branches = EntitySet::new();
        let switch = function
            .layout
            .iter()
            .find(|&&block| matches!(function.blocks[block].terminator, Terminator::Switch { .. }));
        if divergent {
            branches.insert(*switch.expect("the kernel has one"));
        }
        let Spread { shares, .. } = find_shares(function, &flow_graph, &loop_forest, &branches)?;
        let Terminator::Switch { cases, .. } = &function.blocks[*switch?].terminator else { return None };
        let last =
            function.layout.iter().find(|&&block| matches!(function.blocks[block].terminator, Terminator::Return));
        Some((cases.iter().map(|(_, target)| shares[target.block]).collect(), shares[*last?]))
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

    /// The shares of both targets of a divergent branch that compares what was loaded with a value.
    fn of_comparison(comparison: &str, with: &str) -> Option<[u64; 2]> {
        let text = format!(
            "kernel \"k\" {{\n args 12\n param \"p\" pointer.global \"int*\" size 8 align 8 offset 0\n \
             param \"n\" value \"int\" size 4 align 4 offset 8\n input value(0, 0): ptr.global\n input value(1, 0): i32\n \
             region r0 {{\n b0(v0: ptr.global, v1: i32):\n v2: i32 = load v0 align 4\n \
             v3: i1 = icmp.{comparison} v2, {with}\n br v3, b1, b2\n b1:\n return\n b2:\n return\n }}\n}}\n"
        );
        let module = parse_module(&text).unwrap_or_else(|error| panic!("{error}\n{text}"));
        let function = &module.kernels[0].regions[crate::ir::Region::from_u32(0)];
        let flow_graph = build_cfg(function);
        let loop_forest = find_loops(&flow_graph, &compute_dominators(&flow_graph));
        let mut branches = EntitySet::new();
        branches.insert(function.entry_block());
        let Spread { shares, .. } = find_shares_of_matches(function, &flow_graph, &loop_forest, &branches)?;
        let targets = function.blocks[function.entry_block()].terminator.targets();
        Some([shares[targets[0].block], shares[targets[1].block]])
    }

    #[test]
    fn few_work_items_find_the_value_that_they_look_for() {
        let (found, missed) = (WHOLE / MATCHES, WHOLE - WHOLE / MATCHES);
        assert_eq!(of_comparison("eq", "v1"), Some([found, missed]));
        assert_eq!(of_comparison("ne", "v1"), Some([missed, found]));
        assert_eq!(of_comparison("eq", "1:i32"), None, "a flag may be set as often as not");
        assert_eq!(of_comparison("slt", "v1"), None);
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
