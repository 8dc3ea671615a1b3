//! Branches whose sides do nearly the same: what both sides do is merged.
//!
//! Requires: a function in normal form, what diverges in it, and a divergent branch.
//! Ensures: normal form. Where it pays, the branch is gone: one instruction stands for two of one operation, with a select for
//! each operand that the sides have not in common, and what only one side does stands between. Each work-item does what it did, in
//! the same order. Lanes never access memory in another way than before: no addresses are selected that lay side by side.
//! Phases: the sides, block by block ([`arms`]); what may be merged ([`merging`]) and what is the same on both sides
//! ([`same_values`]); what it saves, and the best alignment of both sides' instructions ([`scoring`], [`alignment`]);
//! the merged code ([`rewriting`]).
//! Source: Coutinho, Sampaio, Pereira & Meira 2011, section 4.1, whose sides are single blocks.
//!
//! ```text
//! a: br c, b, d               a: x = select c, x1, x2
//! b: t1 = op x1               =>  t = op x
//!    u1 = op' t1, y               u = op' t, y
//!    jump j(u1)                   jump j(u)
//! d: t2 = op x2
//!    u2 = op' t2, y
//!    jump j(u2)
//! ```

use crate::analysis::cost;
use crate::analysis::divergence::Divergence;
use crate::analysis::points_to::{Pointees, find_pointees};
use crate::analysis::shape::Shape;
use crate::ir::*;
use crate::transform::normalize::normalize_function;
use crate::transform::unmasked_loops::Known;
use arms::{Arms, find_arms};
use cranelift_entity::{EntitySet, SecondaryMap};
use merging::Operations;
pub use refusal::Refusal;
use rewriting::merge_sides;
use same_values::SameValues;
use scoring::{Alignment, SideCosts, Sides, find_alignment};
use std::cell::OnceCell;
use std::fmt;

mod alignment;
mod arms;
mod merging;
mod refusal;
mod rewriting;
mod same_values;
mod scoring;

/// Pairs of instructions and parameters that are looked at of one branch: time and memory grow with them.
const MOST_PAIRS: usize = 1 << 16;

/// The instructions and parameters of both sides.
const MOST_INSTRUCTIONS: usize = 1024;

/// What a fusion has to save a gang at least.
const LEAST: u64 = 8;

/// What it has to save, in percent of what both sides cost, where one costs so much that gangs skip it if no lane comes
/// there ([`COSTLY`]): a gang all of whose lanes go one way pays for the other one's selects.
const SHARE: u64 = 20;

/// What a side costs from which on gangs skip it (`boscc`).
const COSTLY: u64 = 40;

/// What is known of the lanes beside what differs between them, for all branches of a function.
pub struct LaneFacts<'a> {
    /// What differs between the lanes of a tile's row, if gangs are tiles.
    rows: Option<&'a Divergence>,
    /// The private slots of which all lanes share one.
    shared_slots: &'a EntitySet<Slot>,
    /// Where addresses lead, found when that is first asked for.
    pointees: OnceCell<SecondaryMap<Value, Pointees>>,
    /// The shapes of all values, which some have others for a while.
    shapes: SecondaryMap<Value, Shape>,
}

impl<'a> LaneFacts<'a> {
    /// What is known of lanes between which this differs, and, if gangs are tiles, that in a row; and which share these slots.
    pub fn new(found: &Divergence, rows: Option<&'a Divergence>, shared_slots: &'a EntitySet<Slot>) -> LaneFacts<'a> {
        LaneFacts { rows, shared_slots, pointees: OnceCell::new(), shapes: found.shapes.clone() }
    }

    /// Whether some instructions may write to a slot that lanes share.
    pub(super) fn write_shared_slot(&self, function: &Function, instructions: &[Inst]) -> bool {
        let mut written_addresses = instructions.iter().filter_map(|&inst| match function.insts[inst].data {
            InstData::Store { pointer: address, .. }
            | InstData::MemCopy { destination: address, .. }
            | InstData::MemSet { destination: address, .. } => Some(address),
            _ => None,
        });
        !self.shared_slots.is_empty()
            && written_addresses.any(|address| {
                let pointees = self.pointees.get_or_init(|| find_pointees(function));
                pointees[address].slots.iter().any(|&slot| self.shared_slots.contains(slot))
            })
    }
}

/// How a branch is fused.
pub struct Plan {
    arms: Arms,
    alignment: Alignment,
    costs: SideCosts,
    counts: [usize; 2],
}

impl fmt::Display for Plan {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Plan { alignment, counts: [then_count, else_count], .. } = self;
        let merged = alignment.merges.len();
        write!(formatter, "{merged} of {then_count} and {else_count} instructions, profit {}", alignment.profit)
    }
}

/// Plans the fusion of the branch at a block's end. Nothing: no branch whose two sides have instructions of their own.
/// With `always`, wherever it is possible.
///
/// The function gets no more than constants.
pub fn plan_fusion(
    function: &mut Function,
    known: Known<'_>,
    lane_facts: &mut LaneFacts<'_>,
    branch_block: Block,
    always: bool,
) -> Option<Result<Plan, Refusal>> {
    let arms = match find_arms(function, known.cfg, known.dominators, branch_block)? {
        Ok(arms) => arms,
        Err(refusal) => return Some(Err(refusal)),
    };
    Some(plan_arms(function, known, lane_facts, arms, always))
}

fn plan_arms(
    function: &mut Function,
    known: Known<'_>,
    lane_facts: &mut LaneFacts<'_>,
    arms: Arms,
    always: bool,
) -> Result<Plan, Refusal> {
    let mut instructions = Vec::new();
    let (mut counts, mut pair_count, mut size) = ([0, 0], 0usize, 0usize);
    for pair in &arms.pairs {
        let blocks = [pair.then_block, pair.else_block].map(|block| &function.blocks[block]);
        let lengths = blocks.map(|block| block.insts.len() + block.params.len());
        pair_count = pair_count.saturating_add(lengths[0].saturating_mul(lengths[1]));
        size += lengths[0] + lengths[1];
        counts = [counts[0] + blocks[0].insts.len(), counts[1] + blocks[1].insts.len()];
        instructions.extend(blocks.into_iter().flat_map(|block| block.insts.iter().copied()));
    }
    if instructions.iter().any(|&inst| is_ordered(&function.insts[inst].data)) {
        return Err(Refusal::Ordered);
    }
    if lane_facts.write_shared_slot(function, &instructions) {
        return Err(Refusal::SharedSlot);
    }
    if pair_count > MOST_PAIRS || size > MOST_INSTRUCTIONS {
        return Err(Refusal::Size(size));
    }
    let terminator = &function.blocks[arms.branch_block].terminator;
    if !always && cost::follows_from_place(function, terminator, &known.found.shapes) {
        return Err(Refusal::ByPlace);
    }
    let operations = Operations::of_instructions(function, &instructions);
    let own_values = arms.find_own_values(function);
    let sides = Sides {
        function,
        known,
        rows: lane_facts.rows,
        arms: &arms,
        own_values: &own_values,
        operations: &operations,
        always,
    };
    let costs = SideCosts::price_sides(&sides, &mut lane_facts.shapes);
    let same_values = SameValues::find_pairs(function, &arms, &operations);
    let alignment = find_alignment(&sides, &costs, &same_values);
    let plan = Plan { arms, alignment, costs, counts };
    if plan.alignment.merges.is_empty() || !always && !plan.is_profitable() {
        return Err(Refusal::Cost(plan.alignment.profit, plan.cost()));
    }
    Ok(plan)
}

/// Whether others must not pass an instruction, or what it does depends on which lanes come with it.
pub(super) fn is_ordered(inst_data: &InstData) -> bool {
    match inst_data {
        InstData::Load { access, .. } | InstData::Store { access, .. } => access.volatile || access.atomic.is_some(),
        InstData::MemCopy { volatile, .. } | InstData::MemSet { volatile, .. } => *volatile,
        _ => inst_data.has_effect() || inst_data.needs_lanes(),
    }
}

impl Plan {
    /// What both sides cost.
    fn cost(&self) -> u64 {
        self.costs.then_cost.saturating_add(self.costs.else_cost)
    }

    /// Whether the fusion is expected to pay.
    fn is_profitable(&self) -> bool {
        let profit = u64::try_from(self.alignment.profit).unwrap_or(0);
        let is_skipped = self.costs.then_cost.max(self.costs.else_cost) >= COSTLY;
        profit >= LEAST && (!is_skipped || profit.saturating_mul(100) >= self.cost().saturating_mul(SHARE))
    }

    /// Merges the sides.
    pub fn fuse_sides(&self, function: &mut Function) {
        merge_sides(function, &self.arms, &self.alignment, &self.costs);
        normalize_function(function);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::cfg::build_cfg;
    use crate::analysis::divergence::{Facts, analyze_divergence};
    use crate::analysis::dominators::compute_dominators;
    use crate::analysis::loops::find_loops;
    use crate::analysis::no_wrap_stride::find_no_wrap_strides;
    use crate::target::{Registers, TargetInfo};

    /// What becomes of a branch whose sides have so many quotients each.
    fn fusion_of_quotients(count: usize) -> String {
        let side = |first: usize, divisor: &str| -> String {
            let line = |number: usize| {
                let dividend = if number == 0 { 1 } else { first + number - 1 };
                format!("v{}: f32 = fdiv v{dividend}, {divisor}:f32\n", first + number)
            };
            (0..count).map(line).collect()
        };
        let last = |first: usize| if count == 0 { 1 } else { first + count - 1 };
        let text = format!(
            "kernel \"k\" {{\n args 0\n region r0 {{\n b0:\n v0: i64 = query.global_id 0\n v1: f32 = uitofp v0\n \
             v2: i1 = fcmp.olt v1, 0.5:f32\n br v2, b1, b2\n b1:\n {}jump b3(v{})\n b2:\n {}jump b3(v{})\n b3(v3: f32):\n \
             return\n }}\n}}\n",
            side(10, "0.5"),
            last(10),
            side(2000, "3.0"),
            last(2000),
        );
        let module = parse_module(&text).expect("the text parses");
        let kernel = &module.kernels[0];
        let mut function = kernel.body().clone();
        let gang_facts = Facts::new(&module, kernel, 16);
        let flow_graph = build_cfg(&function);
        let dominators = compute_dominators(&flow_graph);
        let loop_forest = find_loops(&flow_graph, &dominators);
        let divergence = analyze_divergence(&function, &gang_facts, &flow_graph, &loop_forest);
        let registers = Registers { target: TargetInfo::of_bits(512), width: 16 };
        let no_wrap_strides =
            find_no_wrap_strides(&function, flow_graph.reverse_post_order(), &divergence.shapes, registers.width);
        let known = Known {
            cfg: &flow_graph,
            dominators: &dominators,
            forest: &loop_forest,
            found: &divergence,
            lines: &no_wrap_strides,
            registers,
        };
        let shared_slots = EntitySet::new();
        let mut lane_facts = LaneFacts::new(&divergence, None, &shared_slots);
        let branch_block = function.entry_block();
        match plan_fusion(&mut function, known, &mut lane_facts, branch_block, false) {
            None => "no sides".to_owned(),
            Some(Ok(plan)) => plan.to_string(),
            Some(Err(refusal)) => refusal.to_string(),
        }
    }

    #[test]
    fn sides_are_compared_up_to_a_size() {
        assert_eq!(fusion_of_quotients(0), "no sides");
        assert!(
            fusion_of_quotients(250).starts_with("250 of 250 and 250 instructions"),
            "{}",
            fusion_of_quotients(250)
        );
        assert_eq!(fusion_of_quotients(300), "there are 600 instructions to compare");
        assert_eq!(fusion_of_quotients(600), "there are 1200 instructions to compare");
    }
}
