//! Masks of blocks, and selects for the parameters of blocks whose edges were folded.
//!
//! Requires: the skeleton of the linearized function.
//! Ensures: a block's mask holds for the lanes that executed it before; a parameter has, in these lanes, the
//! value of the edge on which they came. What is added executes in all lanes and cannot fail.
//! Phases: in the order of the block index: a block's mask, then its parameters; then terminators.
//! Source: Moll 2021, section 8.4 (edge predicates, shadow inputs) and chapter 4 (total instructions);
//! Karrenberg & Hack 2012, section 3.1 (masks).
//!
//! An edge predicate is the source's mask and the branch's condition. A mask is a variable: false where the
//! block's dominator ends, then each source adds its edge's predicate. A parameter is a variable as well:
//! each source whose argument is not the variable's first value selects it where its edge's predicate
//! holds. So a value is chosen where it is defined, lanes keep it on the way, and blocks between that a
//! uniform branch passes by have no part. The first value may be any argument that is defined early enough:
//! a lane comes on one edge only. Parameters of blocks that keep their edges stay parameters.

use super::long_switches::{Key, LongSwitches};
use super::skeleton::Skeleton;
use super::variable::{Flow, Variable};
use crate::analysis::cfg::build_cfg;
use crate::analysis::dominators::compute_dominators;
use crate::analysis::predicates::{Graph, Lanes};
use crate::ir::*;
use crate::simplify::FoldingBuilder;
use crate::transform::divergent_loops::Tracked;
use cranelift_entity::{EntitySet, SecondaryMap};
use lockstep_protocol::types::Type;
use std::collections::HashMap;

/// An edge of the function before linearization.
struct Edge {
    from: Block,
    /// Index of the target in the terminator.
    target: usize,
    args: Vec<Value>,
}

struct Masks<'a> {
    flow: Flow<'a>,
    graph: &'a Graph<'a>,
    tracked: &'a Tracked,
    switches: &'a LongSwitches,
    /// The mask of each block done; none: all lanes.
    masks: SecondaryMap<Block, Option<Value>>,
    /// What stands for a parameter that is gone.
    instead: SecondaryMap<Value, Option<Value>>,
    /// The blocks that keep their edges and parameters.
    kept: SecondaryMap<Block, bool>,
}

/// Gives the function its new terminators, masks and selects.
pub(super) fn apply_masks(
    function: &mut Function,
    graph: &Graph<'_>,
    tracked: &Tracked,
    switches: &LongSwitches,
    block_order: &[Block],
    skeleton: &Skeleton,
) {
    let mut shape = Function::new();
    for _ in 0..function.blocks.len() {
        let block_data = BlockData { params: Vec::new(), insts: Vec::new(), terminator: Terminator::Unreachable };
        shape.blocks.push(block_data);
    }
    shape.layout = block_order.to_vec();
    let condition = function.constant(Type::BOOL, 0);
    for &block in block_order {
        let call = |index: usize| BlockCall { block: skeleton.next[block][index], arguments: Vec::new() };
        shape.blocks[block].terminator = match skeleton.next[block].len() {
            0 => Terminator::Return,
            1 => Terminator::Jump(call(0)),
            _ => Terminator::Branch { condition, then_to: call(0), else_to: call(1) },
        };
    }
    let dominators = compute_dominators(&build_cfg(&shape));
    let mut home_blocks: SecondaryMap<Inst, Option<Block>> = SecondaryMap::new();
    for &block in block_order {
        function.blocks[block].insts.iter().for_each(|&instruction| home_blocks[instruction] = Some(block));
    }
    let mut pass = Masks {
        flow: Flow {
            function,
            skeleton,
            dominators,
            home: home_blocks,
            added: EntitySet::new(),
            extra: Default::default(),
        },
        graph,
        tracked,
        switches,
        masks: SecondaryMap::new(),
        instead: SecondaryMap::new(),
        kept: SecondaryMap::new(),
    };
    let block_lanes = graph.lanes_of_blocks();
    for &block in block_order {
        pass.compute_mask(block, block_lanes[block]);
        pass.replace_params(block);
    }
    pass.finish_function(block_order);
}

impl Masks<'_> {
    /// The edges to a block that are not edges back to a loop header, by their sources' places.
    fn forward_edges(&self, block: Block) -> Vec<Edge> {
        let index = &self.flow.skeleton.index;
        let mut sources: Vec<Block> = self.graph.cfg.predecessors(block).to_vec();
        sources.retain(|&source| index[source] < index[block]);
        sources.sort_by_key(|&source| index[source]);
        sources.dedup();
        let mut edges = Vec::new();
        for source in sources {
            for (target, to) in self.flow.function.blocks[source].terminator.targets().into_iter().enumerate() {
                if to.block == block {
                    edges.push(Edge { from: source, target, args: to.arguments.clone() });
                }
            }
        }
        edges
    }

    fn current_value(&self, value: Value) -> Value {
        self.instead[value].unwrap_or(value)
    }

    fn compute_mask(&mut self, block: Block, lanes: Lanes) {
        let mask = match lanes {
            Lanes::All => None,
            Lanes::Of(other_block) if other_block != block => self.masks[other_block],
            Lanes::Of(_) => self.own_mask(block),
        };
        self.masks[block] = mask;
        self.flow.function.masks[block] = mask.into();
    }

    fn own_mask(&mut self, block: Block) -> Option<Value> {
        if let Some(mask) = self.mask_before_case(block) {
            return Some(mask);
        }
        let if_false = self.flow.function.constant(Type::BOOL, 0);
        let dominator = self.graph.dominators.immediate_dominator(block)?;
        let mut mask = Variable::new(Type::BOOL, dominator, Some(if_false));
        for edge in self.forward_edges(block) {
            let predicate = self.edge_mask(&edge);
            let before = mask.at_end(&mut self.flow, edge.from).unwrap_or(if_false);
            let value = self.build_in(edge.from, |builder| builder.or(before, predicate));
            mask.assign_at_end(&self.flow, edge.from, value);
        }
        mask.at_begin(&mut self.flow, block)
    }

    /// The mask of an empty block in front of a case of a long switch: the lanes with its key, asked right there.
    fn mask_before_case(&mut self, block: Block) -> Option<Value> {
        let Key { first, value, key } = self.switches.keys[self.switches.ways[block]?]?;
        let &[before] = &self.flow.skeleton.preds[block][..] else { return None };
        let innermost = |block: Block| self.graph.loops.innermost_loop(block);
        if innermost(before) != innermost(block) {
            return None;
        }
        let value = self.current_value(value);
        let if_true = self.flow.function.constant(Type::BOOL, 1);
        let mask = self.masks[first].unwrap_or(if_true);
        let condition = self.build_in(before, |builder| builder.icmp(IntCc::Eq, value, key));
        Some(self.build_in(before, |builder| builder.and(mask, condition)))
    }

    /// The lanes that take an edge.
    fn edge_mask(&mut self, edge: &Edge) -> Value {
        let if_true = self.flow.function.constant(Type::BOOL, 1);
        let mask = self.masks[edge.from].unwrap_or(if_true);
        let Terminator::Branch { condition, .. } = self.flow.function.blocks[edge.from].terminator else {
            return mask;
        };
        if self.is_gate(condition) {
            // Past a gate goes only who was not there.
            return if edge.target == 0 { mask } else { self.flow.function.constant(Type::BOOL, 0) };
        }
        let condition = self.current_value(condition);
        // Keys differ: who has one of a long switch did not go another way before.
        let mask = match self.switches.keys[edge.from] {
            Some(Key { first, .. }) if edge.target == 0 => self.masks[first].unwrap_or(if_true),
            _ => mask,
        };
        let condition =
            if edge.target == 0 { condition } else { self.build_in(edge.from, |builder| builder.not(condition)) };
        self.build_in(edge.from, |builder| builder.and(mask, condition))
    }

    /// Whether no lane ever runs a block.
    fn is_idle(&self, block: Block) -> bool {
        self.masks[block].is_some_and(|mask| self.flow.function.const_bits(mask) == Some(0))
    }

    /// Whether a condition asks for nothing but an active lane.
    fn is_gate(&self, condition: Value) -> bool {
        match self.flow.function.values[condition].definition {
            ValueDef::Result(instruction, _) => match self.flow.function.insts[instruction].data {
                InstData::Any { condition } => self.flow.function.const_bits(condition) == Some(1),
                _ => false,
            },
            _ => false,
        }
    }

    /// What a builder gives at the end of a block: an instruction that is added there, or what stands for it.
    fn build_in(&mut self, block: Block, build: impl FnOnce(&mut FoldingBuilder<'_>) -> Value) -> Value {
        let Flow { function, home, added, .. } = &mut self.flow;
        let value = build(&mut FoldingBuilder::of_masks(function, block, added));
        if let ValueDef::Result(instruction, _) = function.values[value].definition {
            home[instruction].get_or_insert(block);
        }
        self.current_value(value)
    }

    /// Whether exactly the edges that led to a block before still do.
    fn keeps_edges(&self, block: Block, edges: &[Edge]) -> bool {
        let skeleton = self.flow.skeleton;
        let predecessors = &skeleton.preds[block];
        let is_kept = |edge: &Edge| match &skeleton.next[edge.from][..] {
            [only] => *only == block,
            next => next[edge.target] == block && next.iter().filter(|&&target| target == block).count() == 1,
        };
        predecessors.len() == edges.len() && edges.iter().all(|edge| predecessors.contains(&edge.from) && is_kept(edge))
    }

    fn replace_params(&mut self, block: Block) {
        let edges = self.forward_edges(block);
        let is_header = self.graph.loops.with_header(block).is_some();
        let dominator = self.graph.dominators.immediate_dominator(block);
        self.kept[block] = is_header || self.keeps_edges(block, &edges);
        let (Some(dominator), false) = (dominator, self.kept[block]) else { return };
        // Parameters for masks may have been added behind these.
        let param_count = edges.first().map_or(0, |edge| edge.args.len());
        for index in 0..param_count {
            let parameter = self.flow.function.blocks[block].params[index];
            let value = self.blend_param(block, dominator, parameter, index, &edges);
            self.instead[parameter] = Some(value);
        }
    }

    /// The value of a block's parameter.
    fn blend_param(&mut self, block: Block, dominator: Block, parameter: Value, index: usize, edges: &[Edge]) -> Value {
        let parameter_type = self.flow.function.ty(parameter);
        let keeper = self.tracked.get(&parameter);
        let edges: Vec<(&Edge, Value)> = edges
            .iter()
            .filter(|edge| keeper.is_none_or(|&source| edge.from == source) && !self.is_idle(edge.from))
            .map(|edge| (edge, self.current_value(edge.args[index])))
            .collect();
        let default = self.first_value(dominator, parameter_type, &edges);
        let mut variable = Variable::new(parameter_type, dominator, default);
        for (edge, value) in edges {
            if Some(value) == default {
                continue;
            }
            let before = variable.at_end(&mut self.flow, edge.from);
            let value = match before {
                None => value,
                Some(before) if before == value => value,
                Some(before) => {
                    let predicate = self.edge_mask(edge);
                    self.build_in(edge.from, |builder| builder.select(predicate, value, before))
                }
            };
            variable.assign_at_end(&self.flow, edge.from, value);
        }
        let value = variable.at_begin(&mut self.flow, block);
        value.unwrap_or_else(|| self.flow.function.constant(parameter_type, 0))
    }

    /// The argument that most edges have among those that are there at the end of `dominator`. Conditions begin
    /// false where an edge has that: then the others are added as to a mask.
    fn first_value(&self, dominator: Block, value_type: Type, edges: &[(&Edge, Value)]) -> Option<Value> {
        let falsehood = |value: Value| value_type == Type::BOOL && self.flow.function.const_bits(value) == Some(0);
        let available = edges.iter().map(|&(_, value)| value).filter(|&value| self.flow.is_available(value, dominator));
        let mut counts: HashMap<Value, usize> = HashMap::new();
        edges.iter().for_each(|&(_, value)| *counts.entry(value).or_default() += 1);
        available.rev().max_by_key(|value| (falsehood(*value), counts[value]))
    }

    /// Terminators, operands and parameters.
    fn finish_function(mut self, block_order: &[Block]) {
        let terminators: Vec<Terminator> = block_order.iter().map(|&block| self.new_terminator(block)).collect();
        let Masks { flow: Flow { function, .. }, instead, kept, .. } = self;
        let current_value = |value: Value| instead[value].unwrap_or(value);
        for (&block, terminator) in block_order.iter().zip(terminators) {
            let block_data = &mut function.blocks[block];
            block_data.terminator = terminator;
            if !kept[block] {
                block_data.params.retain(|&parameter| instead[parameter].is_none());
            }
            for (index, &parameter) in block_data.params.iter().enumerate() {
                function.values[parameter].definition = ValueDef::Param(block, index as u32);
            }
            for &instruction in &block_data.insts {
                function.insts[instruction].data.map_args(current_value);
            }
            block_data.terminator.map_args(current_value);
        }
    }

    fn new_terminator(&mut self, block: Block) -> Terminator {
        let skeleton = self.flow.skeleton;
        let terminator = self.flow.function.blocks[block].terminator.clone();
        match (&terminator, &skeleton.next[block][..]) {
            // A folded branch keeps the edge that led there, whichever it was.
            (_, &[next_block]) => {
                let edge = terminator.targets().into_iter().find(|edge| edge.block == next_block);
                Terminator::Jump(self.new_edge(block, next_block, edge))
            }
            (_, &[next_block, other_block]) if next_block == other_block => {
                Terminator::Jump(self.new_edge(block, next_block, terminator.targets().first().copied()))
            }
            (Terminator::Branch { condition, then_to, else_to }, &[next_block, other_block]) => {
                let then_to = self.new_edge(block, next_block, Some(then_to));
                let else_to = self.new_edge(block, other_block, Some(else_to));
                let mut condition = self.current_value(*condition);
                if self.masks[block].is_some() && !self.is_same_for_all(condition) {
                    // Lanes that are not active may hold another value.
                    condition =
                        self.build_in(block, |builder| builder.fold_operation(InstData::Any { condition }, Type::BOOL));
                }
                Terminator::Branch { condition, then_to, else_to }
            }
            _ => terminator.clone(),
        }
    }

    /// The edge to a block, with the arguments of the one that led there before, where the block keeps its parameters.
    fn new_edge(&self, source: Block, target: Block, previous: Option<&BlockCall>) -> BlockCall {
        let mut arguments = Vec::new();
        if self.kept[target] {
            arguments.extend(previous.into_iter().flat_map(|previous| previous.arguments.iter().copied()));
        }
        arguments.extend(self.flow.extra.get(&(source, target)).into_iter().flatten());
        BlockCall { block: target, arguments }
    }

    fn is_same_for_all(&self, value: Value) -> bool {
        match self.flow.function.values[value].definition {
            ValueDef::Result(instruction, _) => self.flow.function.insts[instruction].data.asks_lanes(),
            ValueDef::Const(_) => true,
            ValueDef::Param(..) => false,
        }
    }
}

#[cfg(test)]
mod tests;
