//! Loads that make way for values: parameters of the blocks where paths meet, and loads where a value is missing.
//!
//! Requires: nodes of which the first is available, and that blocks and edges stay as they are until the end.
//! Ensures: valid SSA in normal form. What makes way is gone at the end, with all that nothing uses.
//! Phases: parameters of the nodes where paths meet or a loop is left; values or loads on their edges; at the end what stands for results,
//! and for parameters that are one value.
//! Source: Braun et al. 2013, for parameters that are one value.

use super::availability::{Answer, Node, QuestionEdge, is_answered};
use super::flow::Flow;
use super::memory_events::{MemoryAccess, Place};
use crate::analysis::affine_address::Extended;
use crate::ir::replacements::Replacements;
use crate::ir::{Access, BinaryOp, Block, Builder, Function, Inst, InstData, UnaryOp, Value, ValueDef};
use crate::transform::dce::remove_dead_code;
use cranelift_entity::EntitySet;
use lockstep_protocol::types::Type;
use std::collections::HashMap;

/// How often parameters are looked at for what became of others.
const MOST_MERGES: usize = 16;

/// Places of blocks, and what is there.
type KnownPlaces = HashMap<Block, HashMap<Place, Vec<Value>>>;

/// What was decided so far. The loads that make way stand where they stood until the end, so that questions find them.
#[derive(Default)]
pub(super) struct Rewriting {
    /// What parameters hold at the beginnings of blocks.
    at_start: KnownPlaces,
    /// What inserted loads give at the ends of blocks.
    at_end: KnownPlaces,
    /// The loads that go, and what stands for their results.
    replaced: Vec<(Inst, Vec<Value>)>,
    /// The parameters that were added.
    parameters: Vec<(Block, Value)>,
    /// How many values loops carry more than before, by their headers.
    carried: HashMap<Block, u32>,
    /// Loads that were inserted.
    pub(super) inserted: u32,
}

impl Rewriting {
    /// What an inserted load gives of a place at the end of a block.
    pub(super) fn loaded_at_end(&self, block: Block, place: &Place) -> Option<Vec<Value>> {
        find_known(&self.at_end, block, place)
    }

    /// What a parameter says of a place at the beginning of a block.
    pub(super) fn known_at_start(&self, block: Block, place: &Place) -> Option<Vec<Value>> {
        find_known(&self.at_start, block, place)
    }

    /// Lets values stand for what a load gives.
    pub(super) fn replace_load(&mut self, inst: Inst, values: Vec<Value>) {
        self.replaced.push((inst, values));
    }

    /// Takes note of what loops carry for these nodes, unless one would carry more than `most` more values.
    pub(super) fn carry_values(&mut self, flow: &Flow<'_>, nodes: &[Node], most: u32) -> bool {
        let mut more: HashMap<Block, u32> = HashMap::new();
        for &index in &find_needed(nodes) {
            let node = &nodes[index];
            let Some(inside) = flow.loops.with_header(node.block) else { continue };
            // What is the same in every iteration stays where it is.
            let is_carried = |edge: &QuestionEdge| flow.loops.contains(inside, edge.source) && edge.place != node.place;
            if node.edges.iter().any(is_carried) {
                *more.entry(node.block).or_default() += node.place.count;
            }
        }
        let carried = |header: &Block| self.carried.get(header).copied().unwrap_or(0);
        if more.iter().any(|(header, count)| carried(header) + count > most) {
            return false;
        }
        more.into_iter().for_each(|(header, count)| *self.carried.entry(header).or_default() += count);
        true
    }

    /// Adds the parameters and loads that the first of these nodes, which is available, needs. The answer is what is in its place.
    pub(super) fn build_values(
        &mut self,
        flow: &Flow<'_>,
        function: &mut Function,
        nodes: &[Node],
        access: &MemoryAccess,
    ) -> Vec<Value> {
        let needed = find_needed(nodes);
        let mut values: HashMap<usize, Vec<Value>> = HashMap::new();
        for &index in &needed {
            let Node { block, place, edges, .. } = &nodes[index];
            let only_passes = matches!(&edges[..], [edge] if !flow.leaves_loop(edge.source, *block));
            if !only_passes {
                let parameters: Vec<Value> =
                    (0..place.count).map(|_| function.add_param(*block, place.element)).collect();
                self.parameters.extend(parameters.iter().map(|&parameter| (*block, parameter)));
                self.at_start.entry(*block).or_default().insert(place.clone(), parameters.clone());
                values.insert(index, parameters);
            }
        }
        for &index in needed.iter().filter(|index| values.contains_key(index)) {
            for edge in &nodes[index].edges {
                let arguments = match is_answered(nodes, &edge.answer) {
                    true => resolve_answer(nodes, &values, &edge.answer),
                    false => self.insert_load(function, edge.source, &edge.place, access),
                };
                let targets = function.blocks[edge.source].terminator.targets_mut();
                for target in targets.into_iter().filter(|target| target.block == nodes[index].block) {
                    target.arguments.extend(&arguments);
                }
            }
        }
        resolve_answer(nodes, &values, &Answer::Node(0))
    }

    /// Loads a place at the end of a block, where all that tells it is known.
    pub(super) fn insert_load(
        &mut self,
        function: &mut Function,
        block: Block,
        place: &Place,
        access: &MemoryAccess,
    ) -> Vec<Value> {
        if let Some(values) = self.loaded_at_end(block, place) {
            return values;
        }
        let mut builder = Builder::at_end_of(function, block);
        builder.set_loc(access.location);
        let mut offset = None;
        for &(value, extended, factor) in &place.address.terms {
            let wide = match extended {
                Extended::Not => value,
                Extended::Signed => builder.unary(UnaryOp::Sext, Type::I64, value),
                Extended::Unsigned => builder.unary(UnaryOp::Zext, Type::I64, value),
            };
            let term = match factor {
                1 => wide,
                _ => {
                    let factor = builder.int(Type::I64, factor.into());
                    builder.binary(BinaryOp::Mul, wide, factor)
                }
            };
            offset = Some(offset.map_or(term, |sum| builder.binary(BinaryOp::Add, sum, term)));
        }
        let base = place.address.base;
        let pointer = offset.map_or(base, |offset| {
            let pointer_type = builder.function.ty(base);
            // Not each part of the sum lies in the object.
            let inst = builder.inst(InstData::PtrAdd { base, offset, inbounds: false }, &[pointer_type]);
            builder.function.single_result(inst)
        });
        let inst_data = InstData::Load { pointer, offset: place.start, access: Access::plain(access.align) };
        let load = builder.inst(inst_data, &vec![place.element; place.count as usize]);
        let values = function.insts[load].results.clone();
        self.inserted += 1;
        self.at_end.entry(block).or_default().insert(place.clone(), values.clone());
        values
    }

    /// Takes the loads out that made way, with what nobody needs any more; whether there were any.
    pub(super) fn finish(self, flow: &Flow<'_>, function: &mut Function) -> bool {
        if self.replaced.is_empty() && self.inserted == 0 {
            return false;
        }
        let mut replacements = Replacements::default();
        let mut gone: EntitySet<Inst> = EntitySet::new();
        for (inst, values) in &self.replaced {
            gone.insert(*inst);
            let results = function.insts[*inst].results.iter();
            results.zip(values).for_each(|(&result, &value)| replacements.record_replacement(result, value));
        }
        merge_trivial_parameters(flow, function, &self.parameters, &mut replacements);
        replacements.apply_to(function);
        for block in function.layout.clone() {
            function.blocks[block].insts.retain(|&inst| !gone.contains(inst));
        }
        remove_dead_code(function);
        true
    }
}

fn find_known(known: &KnownPlaces, block: Block, place: &Place) -> Option<Vec<Value>> {
    known.get(&block)?.get(place).cloned()
}

/// The nodes whose values the first one is made of.
fn find_needed(nodes: &[Node]) -> Vec<usize> {
    let mut needed = vec![0];
    let mut next = 0;
    while let Some(&index) = needed.get(next) {
        next += 1;
        for edge in &nodes[index].edges {
            if let Answer::Node(source) = edge.answer
                && is_answered(nodes, &edge.answer)
                && !needed.contains(&source)
            {
                needed.push(source);
            }
        }
    }
    needed
}

/// The values of an answer that is known: those of the node, or of the one from which they are passed to it.
fn resolve_answer(nodes: &[Node], values: &HashMap<usize, Vec<Value>>, answer: &Answer) -> Vec<Value> {
    let mut answer = answer;
    loop {
        match answer {
            Answer::Values(known) => return known.clone(),
            Answer::Node(index) => match values.get(index) {
                Some(known) => return known.clone(),
                // Each cycle goes through a block where paths meet, which has parameters.
                None => answer = &nodes[*index].edges[0].answer,
            },
            Answer::Unknown => return Vec::new(),
        }
    }
}

/// Lets a value stand for parameters that are that value or themselves on each edge.
fn merge_trivial_parameters(
    flow: &Flow<'_>,
    function: &Function,
    parameters: &[(Block, Value)],
    replacements: &mut Replacements,
) {
    let mut left: Vec<(Block, Value)> = parameters.to_vec();
    for _ in 0..MOST_MERGES {
        let before = left.len();
        left.retain(|&(block, parameter)| match find_only_value(flow, function, replacements, block, parameter) {
            Some(value) => {
                replacements.record_replacement(parameter, value);
                false
            }
            None => true,
        });
        if left.len() == before {
            break;
        }
    }
}

/// The one value that a parameter has beside itself, if it can be used in the block.
fn find_only_value(
    flow: &Flow<'_>,
    function: &Function,
    replacements: &Replacements,
    block: Block,
    parameter: Value,
) -> Option<Value> {
    let ValueDef::Param(_, index) = function.values[parameter].definition else { return None };
    let mut only_value = None;
    for &source in flow.edges.predecessors(block) {
        for edge in function.blocks[source].terminator.targets().into_iter().filter(|edge| edge.block == block) {
            let value = replacements.value_for(*edge.arguments.get(index as usize)?);
            if value != parameter && only_value.replace(value).is_some_and(|other| other != value) {
                return None;
            }
        }
        // Whatever leaves a loop goes through a parameter.
        if flow.leaves_loop(source, block) {
            return None;
        }
    }
    only_value
}
