//! Which values of the two sides are the same, because they are computed of the same.
//!
//! Such values are merged without selects and keep their shapes: counters of two loops over one range stay the same in all
//! lanes, and equal addresses stay side by side.
//!
//! Requires: corresponding blocks, and what their instructions do.
//! Ensures: two values of a pair are equal whenever lanes of both sides come as far in the same iteration of each loop.
//! Phases: from all parameters taken to be the same, instructions in the order of the blocks; parameters whose arguments differ are taken
//! back until none does.
//! Source: Muchnick 1997, section 12.4, for numbering values.

use super::arms::{Arms, BlockPair};
use super::merging::Operations;
use crate::ir::*;
use std::collections::HashSet;

/// How often parameters of loops that turned out to differ are taken back one by one; then all are.
const MOST_ROUNDS: usize = 4;

/// Pairs of a value of each side that are the same.
pub struct SameValues(HashSet<(Value, Value)>);

impl SameValues {
    /// Whether two values are the same.
    pub fn contains(&self, then_value: Value, else_value: Value) -> bool {
        then_value == else_value || self.0.contains(&(then_value, else_value))
    }

    /// Finds the pairs: parameters are taken to be the same until arguments show otherwise.
    pub fn find_pairs(function: &Function, arms: &Arms, operations: &Operations) -> SameValues {
        let mut params: HashSet<(Value, Value)> = HashSet::new();
        for pair in arms.pairs.iter().skip(1) {
            let [then_params, else_params] = [pair.then_block, pair.else_block].map(|b| &function.blocks[b].params);
            let all = then_params.iter().flat_map(|&left| else_params.iter().map(move |&right| (left, right)));
            params.extend(all.filter(|&(left, right)| function.ty(left) == function.ty(right)));
        }
        for _ in 0..MOST_ROUNDS {
            let same = SameValues::follow_params(function, arms, operations, &params);
            let different = same.different_params(function, arms, &params);
            if different.is_empty() {
                return same;
            }
            params.retain(|pair| !different.contains(pair));
        }
        SameValues::follow_params(function, arms, operations, &HashSet::new())
    }

    /// The pairs if these parameters are the same.
    fn follow_params(
        function: &Function,
        arms: &Arms,
        operations: &Operations,
        params: &HashSet<(Value, Value)>,
    ) -> SameValues {
        let mut same = SameValues(params.clone());
        for &BlockPair { then_block, else_block } in &arms.pairs {
            for &then_inst in &function.blocks[then_block].insts {
                for &else_inst in &function.blocks[else_block].insts {
                    if same.are_same_insts(function, operations, then_inst, else_inst) {
                        let results = [then_inst, else_inst].map(|inst| function.insts[inst].results.clone());
                        let [then_results, else_results] = results;
                        same.0.extend(then_results.into_iter().zip(else_results));
                    }
                }
            }
        }
        same
    }

    fn are_same_insts(&self, function: &Function, operations: &Operations, then_inst: Inst, else_inst: Inst) -> bool {
        let inst_data = &function.insts[then_inst].data;
        // What is read may have been written in between.
        if matches!(inst_data, InstData::Load { .. } | InstData::LiveLoad { .. }) || inst_data.has_effect() {
            return false;
        }
        let ways = operations.ways_to_merge(function, then_inst, else_inst);
        ways.iter().any(|merge| merge.operands.iter().all(|&(left, right)| self.contains(left, right)))
    }

    /// The parameters, of those that were taken to be the same, that get other arguments.
    fn different_params(
        &self,
        function: &Function,
        arms: &Arms,
        params: &HashSet<(Value, Value)>,
    ) -> HashSet<(Value, Value)> {
        let mut different = HashSet::new();
        for pair in &arms.pairs {
            let terminators = [pair.then_block, pair.else_block].map(|block| &function.blocks[block].terminator);
            for (then_target, else_target) in terminators[0].targets().iter().zip(terminators[1].targets().iter()) {
                if then_target.block == arms.join {
                    continue;
                }
                let [then_params, else_params] =
                    [then_target.block, else_target.block].map(|block| &function.blocks[block].params);
                for (&then_param, &then_value) in then_params.iter().zip(&then_target.arguments) {
                    for (&else_param, &else_value) in else_params.iter().zip(&else_target.arguments) {
                        if params.contains(&(then_param, else_param)) && !self.contains(then_value, else_value) {
                            different.insert((then_param, else_param));
                        }
                    }
                }
            }
        }
        different
    }
}
