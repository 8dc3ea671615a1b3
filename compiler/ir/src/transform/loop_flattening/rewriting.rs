//! The flattened loop, made of the two that there were.
//!
//! Requires: a function in normal form and the plan for two of its loops.
//! Ensures: normal form; one loop in the place of both, and what the plan's form has lanes do that have no work.
//! Phases: places for what is carried; parameters for what is kept beside the inner loop; the copy of what follows it; the edges that end
//! iterations; the new header and latch.
//! Source: Bulavintsev 2019, section II.

use super::{Form, Plan};
use crate::ir::*;
use crate::transform::copy::{Copies, copy_blocks};
use crate::transform::normalize::normalize_function;
use lockstep_protocol::types::Type;

/// Where the new loop carries what the two loops did: indices of its header's parameters.
pub(super) struct Places {
    types: Vec<Type>,
    /// Of the outer loop's parameters.
    outer: Vec<usize>,
    /// Of the inner loop's parameters.
    inner: Vec<usize>,
    /// Of what is kept beside the inner loop.
    kept: Vec<usize>,
}

impl Places {
    /// How many values are carried.
    pub fn count_values(&self) -> usize {
        self.types.len()
    }

    /// Each place's value: of those given for some places, and zero for the others.
    fn fill(&self, function: &mut Function, given: impl IntoIterator<Item = (usize, Value)>) -> Vec<Value> {
        let mut values: Vec<Value> = self.types.iter().map(|&value_type| function.constant(value_type, 0)).collect();
        given.into_iter().for_each(|(place, value)| values[place] = value);
        values
    }
}

impl Plan {
    /// Gives all that is carried a place. A parameter of the outer loop that is kept has one; the inner loop's parameters take those of
    /// the others, which nobody needs meanwhile.
    pub(super) fn assign_places(&self, function: &Function) -> Places {
        let outer_params = &function.blocks[self.outer.header].params;
        let types: Vec<Type> = outer_params.iter().map(|&parameter| function.ty(parameter)).collect();
        let outer = (0..types.len()).collect();
        let mut free: Vec<usize> =
            (0..types.len()).filter(|&place| !self.kept.contains(&outer_params[place])).collect();
        let mut places = Places { types, outer, inner: Vec::new(), kept: Vec::new() };
        let mut take_place =
            |types: &mut Vec<Type>, value_type: Type| match free.iter().position(|&place| types[place] == value_type) {
                Some(index) => free.remove(index),
                None => {
                    types.push(value_type);
                    types.len() - 1
                }
            };
        for &parameter in &function.blocks[self.inner.header].params {
            places.inner.push(take_place(&mut places.types, function.ty(parameter)));
        }
        for &value in &self.kept {
            let own_place = outer_params.iter().position(|&parameter| parameter == value);
            places.kept.push(own_place.unwrap_or_else(|| take_place(&mut places.types, function.ty(value))));
        }
        places
    }

    /// Makes one loop of the two; the answer is its header.
    pub fn flatten_loops(&self, function: &mut Function) -> Block {
        let places = self.assign_places(function);
        let [header, latch] = [(); 2].map(|()| function.add_block());
        let [if_true, if_false] = [1, 0].map(|bit| function.constant(Type::BOOL, bit));
        let mut behind_inner = Copies::default();
        let kept_in_inner: Vec<Value> =
            self.kept.iter().map(|&value| function.add_param(self.inner.header, function.ty(value))).collect();
        for (&value, &parameter) in self.kept.iter().zip(&kept_in_inner) {
            behind_inner.map_value(value, parameter);
        }
        for &block in &self.inner_blocks {
            for instruction in function.blocks[block].insts.clone() {
                function.insts[instruction].data.map_args(|value| behind_inner.value_copy(value));
            }
            function.blocks[block].terminator.map_args(|value| behind_inner.value_copy(value));
        }
        let copies = copy_blocks(function, &self.following, &behind_inner);
        for &block in &self.inner_blocks {
            let targets = function.blocks[block].terminator.targets_mut();
            targets.into_iter().for_each(|target| target.block = copies.block_copy(target.block));
        }
        for target in function.blocks[self.inner.preheader].terminator.targets_mut() {
            if target.block == self.inner.header {
                target.arguments.extend(&self.kept);
            }
        }

        // The ends of iterations of either loop lead to the new one's.
        let inner_places = places.inner.iter().chain(&places.kept).copied();
        let inner_end = [(self.inner.latch, self.inner.header, if_true)];
        let outer_end = [(copies.block_copy(self.outer.latch), self.outer.header, if_false)];
        let idle_end = [(self.outer.latch, self.outer.header, if_false)];
        let idle_end = if self.form == Form::InTurn { &idle_end[..] } else { &[] };
        let begin = [(self.outer.preheader, self.outer.header, if_false)];
        for &(block, target, is_in_inner) in inner_end.iter().chain(&outer_end).chain(idle_end).chain(&begin) {
            let mut terminator = std::mem::replace(&mut function.blocks[block].terminator, Terminator::Unreachable);
            for edge in terminator.targets_mut().into_iter().filter(|edge| edge.block == target) {
                let given: Vec<(usize, Value)> = if is_in_inner == if_true {
                    edge.arguments.extend(&kept_in_inner);
                    inner_places.clone().zip(edge.arguments.iter().copied()).collect()
                } else {
                    places.outer.iter().copied().zip(edge.arguments.iter().copied()).collect()
                };
                edge.arguments = places.fill(function, given);
                edge.arguments.push(is_in_inner);
                edge.block = if block == self.outer.preheader { header } else { latch };
            }
            function.blocks[block].terminator = terminator;
        }
        let [head_params, latch_params] = [header, latch].map(|block| -> Vec<Value> {
            let types = places.types.iter().copied().chain([Type::BOOL]);
            types.map(|value_type| function.add_param(block, value_type)).collect()
        });
        let in_inner = head_params[places.count_values()];
        let of_inner: Vec<Value> = inner_places.map(|place| head_params[place]).collect();
        let of_outer: Vec<Value> = places.outer.iter().map(|&place| head_params[place]).collect();
        let mut builder = Builder::at_end_of(function, header);
        builder.branch(in_inner, (self.inner.header, &of_inner), (self.outer.header, &of_outer));
        builder.switch_to(latch);
        builder.jump(header, &latch_params);
        normalize_function(function);
        header
    }
}
