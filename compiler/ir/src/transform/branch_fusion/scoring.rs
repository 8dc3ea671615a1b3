//! What merging saves a gang, and the alignment of two sides that saves most.
//!
//! A pair of instructions saves what both cost less what the merged one costs, and less a select for each operand that
//! differs between the sides. Which operands differ depends on what else is merged: first all pairs are taken to be merged that
//! may be, then those that the last alignment has, until it stays the same.
//!
//! Requires: shapes of the values; for a gang, the registers of the machine.
//! Ensures: what an alignment is said to save is what it saves by `analysis::cost`, as far as shapes of merged values are known before: where
//! they are not, they are taken to vary. Accesses are merged only where lanes access memory as before.
//! Phases: what each instruction costs, with its own operands and with varying ones; the parameters that become one; alignments, each by the
//! operands of the last one; what each saves with each select counted once.
//! Source: Coutinho et al. 2011, section 4.1, paragraph a.

use super::alignment::{Sequences, Step, align_sequences};
use super::arms::{Arms, BlockPair};
use super::merging::{Merge, Operations};
use super::same_values::SameValues;
use crate::analysis::cost::{self, Lanes, VECTOR};
use crate::analysis::divergence::Divergence;
use crate::analysis::mask_cost::masking_cost;
use crate::analysis::shape::Shape;
use crate::ir::*;
use crate::transform::unmasked_loops::Known;
use cranelift_entity::{EntitySet, SecondaryMap};
use std::collections::{HashMap, HashSet};

/// Alignments that are tried, each with the operands of the one before.
const MOST_ALIGNMENTS: usize = 3;

/// What it costs to have instructions in blocks with masks once more: the masks and what is merged after them.
const GAP: u64 = 4 * VECTOR;

/// Scores count cost in parts, so that of two alignments that save the same that one is better which merges more.
const PARTS: i64 = 64;

/// What is known of the sides.
pub struct Sides<'a> {
    /// The function as it is.
    pub function: &'a Function,
    /// Its blocks, and what gangs are made of.
    pub known: Known<'a>,
    /// What differs between the lanes of a tile's row.
    pub rows: Option<&'a Divergence>,
    /// The two sides of the branch.
    pub arms: &'a Arms,
    /// The values that they compute.
    pub own_values: &'a EntitySet<Value>,
    /// What their instructions do.
    pub operations: &'a Operations,
    /// Whatever may be merged is, whether that saves something or not.
    pub always: bool,
}

/// Which instructions are merged.
#[derive(Clone, Default)]
pub struct Alignment {
    /// Of each pair of blocks the order of what comes out, by the instructions' numbers in their blocks.
    pub steps: Vec<Vec<Step>>,
    /// How pairs are merged, by the instruction of the first side.
    pub merges: HashMap<Inst, MergedPair>,
    /// For values of the first side (results and parameters) those of the other that they become one with.
    pub partners: HashMap<Value, Value>,
    /// What it saves a gang, in the units of `analysis::cost`.
    pub profit: i64,
}

/// An instruction of the second side with what it is merged to.
#[derive(Clone)]
pub struct MergedPair {
    /// The instruction of the second side.
    pub else_inst: Inst,
    /// What it becomes.
    pub data: InstData,
    /// The operands of both.
    pub operands: Vec<(Value, Value)>,
}

impl Alignment {
    /// Whether two values are one in the merged code.
    pub fn is_one(&self, then_value: Value, else_value: Value) -> bool {
        then_value == else_value || self.partners.get(&then_value) == Some(&else_value)
    }
}

/// Whether an instruction that stays may only be run by the lanes whose side it is of.
pub fn needs_mask(inst_data: &InstData) -> bool {
    inst_data.has_effect() || matches!(inst_data, InstData::Load { .. }) || cost::per_lane(inst_data)
}

/// What the instructions of both sides cost a gang each time the branch is come to.
pub struct SideCosts {
    /// What the first side costs.
    pub then_cost: u64,
    /// What the other costs.
    pub else_cost: u64,
    of_insts: HashMap<Inst, InstCosts>,
    /// How often each pair of blocks runs.
    frequencies: Vec<u64>,
}

/// What one instruction costs a gang.
#[derive(Clone, Copy, Default)]
struct InstCosts {
    /// As it is.
    own: u64,
    /// With operands that are different in all lanes.
    varying: u64,
    /// What its mask costs beyond that.
    masking: u64,
    /// How often it runs each time the branch is come to.
    times: u64,
}

impl SideCosts {
    /// Prices the instructions of both sides, as they are and with operands that are different in all lanes. `varying_shapes` are the
    /// shapes of all values, and are again afterwards.
    pub fn price_sides(sides: &Sides<'_>, varying_shapes: &mut SecondaryMap<Value, Shape>) -> SideCosts {
        let &Sides { function, known, arms, own_values, .. } = sides;
        own_values.iter().for_each(|value| varying_shapes[value] = Shape::Varying);
        let no_lines = SecondaryMap::new();
        let own_facts = Lanes { shapes: &known.found.shapes, lines: known.lines, rows: None, rewritten: None };
        let varying_facts = Lanes { shapes: varying_shapes, lines: &no_lines, ..own_facts };
        let mut costs = SideCosts { then_cost: 0, else_cost: 0, of_insts: HashMap::new(), frequencies: Vec::new() };
        let once = cost::estimate_frequency(known.forest, arms.branch_block).max(1);
        for &BlockPair { then_block, else_block } in &arms.pairs {
            let frequency = cost::estimate_frequency(known.forest, then_block) / once;
            costs.frequencies.push(frequency);
            for (block, sum) in [(then_block, &mut costs.then_cost), (else_block, &mut costs.else_cost)] {
                for &inst in &function.blocks[block].insts {
                    let inst_costs = InstCosts {
                        own: cost::gang_cost(function, inst, own_facts, known.registers),
                        varying: cost::gang_cost(function, inst, varying_facts, known.registers),
                        masking: masking_cost(function, inst, own_facts, known.registers),
                        times: frequency,
                    };
                    *sum = sum.saturating_add(frequency.saturating_mul(inst_costs.own));
                    costs.of_insts.insert(inst, inst_costs);
                }
            }
        }
        own_values.iter().for_each(|value| varying_shapes[value] = known.found.shapes[value]);
        costs
    }

    fn costs_of(&self, inst: Inst) -> InstCosts {
        self.of_insts.get(&inst).copied().unwrap_or_default()
    }

    /// What an instruction costs as it is.
    pub fn cost_of(&self, inst: Inst) -> u64 {
        self.costs_of(inst).own
    }
}

/// Finds which instructions of the sides are merged so that it saves most.
pub fn find_alignment(sides: &Sides<'_>, costs: &SideCosts, same_values: &SameValues) -> Alignment {
    let scorer = Scorer { sides, costs, same_values };
    let parameters = scorer.pair_parameters();
    let mut assumed = scorer.pairs_that_may_be(&parameters);
    let mut best = Alignment::default();
    for _ in 0..MOST_ALIGNMENTS {
        let alignment = scorer.align(&parameters, &|then_value, else_value| assumed.contains(then_value, else_value));
        let is_same = matches!(&assumed, Assumed::Partners(partners) if *partners == alignment.partners);
        if best.steps.is_empty() || alignment.profit > best.profit {
            best = alignment.clone();
        }
        if is_same {
            break;
        }
        assumed = Assumed::Partners(alignment.partners);
    }
    best
}

/// Which values are taken to be one.
enum Assumed {
    /// All that may be.
    Possible(HashSet<(Value, Value)>),
    /// Those of an alignment.
    Partners(HashMap<Value, Value>),
}

impl Assumed {
    fn contains(&self, then_value: Value, else_value: Value) -> bool {
        match self {
            Assumed::Possible(pairs) => pairs.contains(&(then_value, else_value)),
            Assumed::Partners(partners) => partners.get(&then_value) == Some(&else_value),
        }
    }
}

struct Scorer<'a> {
    sides: &'a Sides<'a>,
    costs: &'a SideCosts,
    same_values: &'a SameValues,
}

impl Scorer<'_> {
    /// The parameters that become one: those of the same type, in their order. What is the same in all lanes on either side,
    /// but not on both, stays apart.
    fn pair_parameters(&self) -> HashMap<Value, Value> {
        let Sides { function, known, arms, always, .. } = self.sides;
        let mut partners: HashMap<Value, Value> = HashMap::new();
        // What the branch hands over is no parameter any more.
        for &BlockPair { then_block, else_block } in arms.pairs.iter().skip(1) {
            let mut taken = EntitySet::new();
            for &then_param in &function.blocks[then_block].params {
                let fits = |&&else_param: &&Value| {
                    let is_uniform = |value: Value| known.found.shapes[value].is_uniform();
                    function.ty(then_param) == function.ty(else_param)
                        && !taken.contains(else_param)
                        && (*always
                            || self.same_values.contains(then_param, else_param)
                            || !is_uniform(then_param)
                            || !is_uniform(else_param))
                };
                if let Some(&else_param) = function.blocks[else_block].params.iter().find(fits) {
                    taken.insert(else_param);
                    partners.insert(then_param, else_param);
                }
            }
        }
        partners
    }

    /// All pairs of values that may become one, whatever that costs.
    fn pairs_that_may_be(&self, parameters: &HashMap<Value, Value>) -> Assumed {
        let Sides { function, arms, .. } = self.sides;
        let mut pairs: HashSet<(Value, Value)> = parameters.iter().map(|(&left, &right)| (left, right)).collect();
        for &BlockPair { then_block, else_block } in &arms.pairs {
            for &then_inst in &function.blocks[then_block].insts {
                for &else_inst in &function.blocks[else_block].insts {
                    let is_one = |then_value: Value, else_value: Value| pairs.contains(&(then_value, else_value));
                    if self.best_way(then_inst, else_inst, &is_one).is_some() {
                        let results = [then_inst, else_inst].map(|inst| function.insts[inst].results.iter().copied());
                        let [then_results, else_results] = results;
                        pairs.extend(then_results.zip(else_results));
                    }
                }
            }
        }
        Assumed::Possible(pairs)
    }

    /// How two instructions are best merged, and what that saves in units of cost; nothing: they cannot be.
    fn best_way(
        &self,
        then_inst: Inst,
        else_inst: Inst,
        is_one: &dyn Fn(Value, Value) -> bool,
    ) -> Option<(i64, Merge)> {
        let ways = self.sides.operations.ways_to_merge(self.sides.function, then_inst, else_inst);
        let scored =
            ways.into_iter().filter_map(|merge| Some((self.saving_of(then_inst, else_inst, &merge, is_one)?, merge)));
        scored.reduce(|best, other| if other.0 > best.0 { other } else { best })
    }

    /// What one way to merge two instructions saves.
    fn saving_of(
        &self,
        then_inst: Inst,
        else_inst: Inst,
        merge: &Merge,
        is_one: &dyn Fn(Value, Value) -> bool,
    ) -> Option<i64> {
        let Sides { known, arms, .. } = self.sides;
        let [then_costs, else_costs] = [then_inst, else_inst].map(|inst| self.costs.costs_of(inst));
        let apart = |&&(then_value, else_value): &&(Value, Value)| {
            !is_one(then_value, else_value) && !self.same_values.contains(then_value, else_value)
        };
        let select_cost = |&(then_value, else_value): &(Value, Value)| match self.is_before(then_value, else_value) {
            // It is selected once.
            true => self.select_cost(then_value).div_ceil(then_costs.times.max(1)),
            false => self.select_cost(then_value),
        };
        let selects: u64 = merge.operands.iter().filter(apart).map(select_cost).sum();
        let own = then_costs.own.max(else_costs.own);
        let merged = if self.are_all_same(merge) {
            then_costs.own
        } else if let InstData::Load { .. } | InstData::Store { .. } = merge.data {
            if !self.may_access_together(merge) {
                return None;
            }
            own
        } else {
            own.max(then_costs.varying).max(else_costs.varying)
        };
        let stays_masked = known.found.divergent_blocks.contains(arms.branch_block);
        let merged_mask = if stays_masked { then_costs.masking.max(else_costs.masking) } else { 0 };
        let before = then_costs.own + else_costs.own + then_costs.masking + else_costs.masking;
        Some(before.cast_signed() - (merged + selects + merged_mask).cast_signed())
    }

    fn are_all_same(&self, merge: &Merge) -> bool {
        merge.operands.iter().all(|&(then_value, else_value)| self.same_values.contains(then_value, else_value))
    }

    /// Whether a merged access is no other kind of access than the two are: to the same address, or to one anywhere in each lane
    /// on both sides already.
    fn may_access_together(&self, merge: &Merge) -> bool {
        let Some(&(then_pointer, else_pointer)) = merge.operands.first() else { return false };
        let is_scattered = |pointer: Value| {
            let Sides { known, rows, .. } = self.sides;
            known.found.shapes[pointer].is_varying()
                && known.lines[pointer].is_none()
                && rows.is_none_or(|rows| rows.shapes[pointer].is_varying())
        };
        self.same_values.contains(then_pointer, else_pointer)
            || is_scattered(then_pointer) && is_scattered(else_pointer)
    }

    /// Whether the sides compute neither of two values.
    fn is_before(&self, then_value: Value, else_value: Value) -> bool {
        ![then_value, else_value].iter().any(|&value| self.sides.own_values.contains(value))
    }

    fn select_cost(&self, value: Value) -> u64 {
        VECTOR * self.sides.known.registers.registers_for(self.sides.function.ty(value))
    }

    /// The best alignment if these values are one; what it saves is counted with those that it makes one.
    fn align(&self, parameters: &HashMap<Value, Value>, is_one: &dyn Fn(Value, Value) -> bool) -> Alignment {
        let Sides { function, arms, always, .. } = self.sides;
        let mut alignment = Alignment { partners: parameters.clone(), ..Alignment::default() };
        for &BlockPair { then_block, else_block } in &arms.pairs {
            let [then_insts, else_insts] = [then_block, else_block].map(|block| &function.blocks[block].insts);
            let [then_masked, else_masked] = [then_insts, else_insts]
                .map(|insts| insts.iter().map(|&inst| needs_mask(&function.insts[inst].data)).collect::<Vec<_>>());
            let sequences = Sequences {
                then_masked: &then_masked,
                else_masked: &else_masked,
                gap_cost: if *always { 0 } else { PARTS * GAP.cast_signed() },
            };
            let (_, steps) = align_sequences(&sequences, |i, j| {
                let (saving, _) = self.best_way(then_insts[i], else_insts[j], is_one)?;
                Some(if *always { 1 } else { saving.saturating_mul(PARTS).saturating_add(1) })
            });
            for &step in &steps {
                if let Step::Both(i, j) = step {
                    let [then_results, else_results] =
                        [then_insts[i], else_insts[j]].map(|inst| &function.insts[inst].results);
                    for (&then_result, &else_result) in then_results.iter().zip(else_results) {
                        alignment.partners.insert(then_result, else_result);
                    }
                }
            }
            alignment.steps.push(steps);
        }
        self.choose_operands(&mut alignment);
        alignment.profit = self.profit_of(&alignment);
        alignment
    }

    /// Which way round operands are, now that it is known what is merged.
    fn choose_operands(&self, alignment: &mut Alignment) {
        let Sides { function, arms, .. } = self.sides;
        for (&BlockPair { then_block, else_block }, steps) in arms.pairs.iter().zip(&alignment.steps) {
            for &step in steps {
                let Step::Both(i, j) = step else { continue };
                let (then_inst, else_inst) =
                    (function.blocks[then_block].insts[i], function.blocks[else_block].insts[j]);
                let partners = &alignment.partners;
                let is_one = |then_value: Value, else_value: Value| partners.get(&then_value) == Some(&else_value);
                if let Some((_, Merge { data, operands })) = self.best_way(then_inst, else_inst, &is_one) {
                    alignment.merges.insert(then_inst, MergedPair { else_inst, data, operands });
                }
            }
        }
    }

    /// What an alignment saves: each select once, masked blocks after the first, and what is merged where the sides meet.
    fn profit_of(&self, alignment: &Alignment) -> i64 {
        let Sides { function, arms, .. } = self.sides;
        let mut profit = 0i64;
        let mut selected_before: HashSet<(Value, Value)> = HashSet::new();
        let everything = |_: Value, _: Value| true;
        for ((pair, steps), &frequency) in arms.pairs.iter().zip(&alignment.steps).zip(&self.costs.frequencies) {
            let insts = [pair.then_block, pair.else_block].map(|block| &function.blocks[block].insts);
            let mut selected: HashSet<(Value, Value)> = HashSet::new();
            let (mut saved, mut is_open) = (0i64, true);
            for &step in steps {
                let staying = match step {
                    Step::Both(i, j) => {
                        is_open = false;
                        let Some(merged) = alignment.merges.get(&insts[0][i]) else { continue };
                        let merge = Merge { data: merged.data.clone(), operands: merged.operands.clone() };
                        saved += self.saving_of(insts[0][i], insts[1][j], &merge, &everything).unwrap_or(0);
                        selected.extend(merge.operands);
                        continue;
                    }
                    Step::Then(i) => insts[0][i],
                    Step::Else(j) => insts[1][j],
                };
                if needs_mask(&function.insts[staying].data) && !is_open {
                    saved -= GAP.cast_signed();
                    is_open = true;
                }
            }
            let terminators = [pair.then_block, pair.else_block].map(|block| &function.blocks[block].terminator);
            selected.extend(terminators[0].selector().zip(terminators[1].selector()));
            for (then_target, else_target) in terminators[0].targets().iter().zip(terminators[1].targets().iter()) {
                let arguments = then_target.arguments.iter().copied().zip(else_target.arguments.iter().copied());
                if then_target.block == arms.join {
                    // Where the sides meet there was a select for each.
                    let one = arguments.filter(|&(then_value, else_value)| alignment.is_one(then_value, else_value));
                    saved += one.map(|(value, _)| self.select_cost(value).cast_signed()).sum::<i64>();
                } else {
                    let params = function.blocks[then_target.block].params.iter();
                    let become_one =
                        params.zip(arguments).filter(|&(&param, _)| alignment.partners.contains_key(&param));
                    selected.extend(become_one.map(|(_, pair)| pair));
                }
            }
            selected.retain(|&(then_value, else_value)| !alignment.is_one(then_value, else_value));
            let (before, within): (Vec<_>, Vec<_>) =
                selected.into_iter().partition(|&(then_value, else_value)| self.is_before(then_value, else_value));
            selected_before.extend(before);
            saved -= self.cost_of_selects(within);
            profit = profit.saturating_add(saved.saturating_mul(frequency.cast_signed()));
        }
        profit.saturating_sub(self.cost_of_selects(selected_before))
    }

    fn cost_of_selects(&self, pairs: impl IntoIterator<Item = (Value, Value)>) -> i64 {
        pairs.into_iter().map(|(value, _)| self.select_cost(value).cast_signed()).sum()
    }
}
