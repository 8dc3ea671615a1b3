//! Coutinho et al.'s analysis: what is chosen where a branch's lanes come together depends on the branch's condition.
//!
//! Requires: a kernel cut into regions, each in normal form.
//! Ensures: a value varies if it can be reached in the graph of dependences from an id along the lanes or an atomic operation. Beside
//! its operands a value depends on the condition of a branch if it is a parameter of the branch's immediate post-dominator for
//! which edges bring different values, or one that was computed in the branch's influence region; and so does what uses a
//! value of that region where the post-dominator dominates. A branch is divergent if its condition varies.
//! Phases: the graph of all regions, with the gates of each branch; what can be reached in it.
//! Source: Coutinho, Sampaio, Pereira & Meira 2011, section 3, algorithm of Figure 7.
//!
//! The paper splits live ranges where a value of the region is used past the post-dominator. Here only such uses depend on the
//! condition, which comes to the same. It has lanes meet at the post-dominator and nowhere before: where ours meet earlier, what
//! they are seen to do may differ from what it says.

use super::disjoint_paths::{incoming_edges, kept_values};
use super::operations::{Origin, find_origin};
use super::{ControlFlow, KernelDivergence, RegionDivergence};
use crate::analysis::dominators::{Dominators, compute_dominators};
use crate::analysis::post_dominators::{PostDominators, post_dominators};
use crate::ir::{Block, Function, Kernel, LiveSlot, Region, Value, ValueDef};
use cranelift_entity::{EntitySet, SecondaryMap};
use lockstep_protocol::layout::Layout;
use std::collections::{HashMap, HashSet};

/// What may vary.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum Node {
    /// A value of a region.
    Value(Region, Value),
    /// What regions keep for each other.
    Kept(LiveSlot),
    /// Which way lanes go at the end of a block.
    Choice(Region, Block),
}

/// Which nodes depend on each, and which vary by themselves.
#[derive(Default)]
struct DependenceGraph {
    dependents: HashMap<Node, Vec<Node>>,
    sources: Vec<Node>,
}

impl DependenceGraph {
    fn add_edge(&mut self, from: Node, to: Node) {
        self.dependents.entry(from).or_default().push(to);
    }

    /// Everything that can be reached from what varies by itself.
    fn find_varying(&self) -> HashSet<Node> {
        let mut varying: HashSet<Node> = self.sources.iter().copied().collect();
        let mut pending = self.sources.clone();
        while let Some(node) = pending.pop() {
            for &dependent in self.dependents.get(&node).into_iter().flatten() {
                if varying.insert(dependent) {
                    pending.push(dependent);
                }
            }
        }
        varying
    }
}

/// What the analysis says of a kernel's values and branches.
pub(super) fn analyze_gated_phis(kernel: &Kernel, layout: Layout) -> KernelDivergence {
    let mut graph = DependenceGraph::default();
    for (region, function) in &kernel.regions {
        let flow = ControlFlow::of_function(function);
        let mut builder = RegionBuilder {
            region,
            function,
            dominators: compute_dominators(&flow.graph),
            post: post_dominators(&flow.graph),
            home: find_homes(function, &flow),
            flow,
            layout,
            graph: &mut graph,
        };
        builder.add_data_dependences();
        builder.add_gates();
    }
    let mut found: KernelDivergence = kernel.regions.keys().map(|_| RegionDivergence::default()).collect();
    for node in graph.find_varying() {
        match node {
            Node::Value(region, value) => _ = found[region].varying.insert(value),
            Node::Choice(region, block) => _ = found[region].divergent_branches.insert(block),
            Node::Kept(_) => {}
        }
    }
    found
}

/// The blocks that define values; constants have none.
fn find_homes(function: &Function, flow: &ControlFlow) -> SecondaryMap<Value, Option<Block>> {
    let mut home = SecondaryMap::new();
    for &block in flow.graph.reverse_post_order() {
        super::values_of_block(function, block).for_each(|value| home[value] = Some(block));
    }
    home
}

/// Adds the dependences of one region.
struct RegionBuilder<'a> {
    region: Region,
    function: &'a Function,
    flow: ControlFlow,
    dominators: Dominators,
    post: PostDominators,
    home: SecondaryMap<Value, Option<Block>>,
    layout: Layout,
    graph: &'a mut DependenceGraph,
}

impl RegionBuilder<'_> {
    fn node_of(&self, value: Value) -> Node {
        Node::Value(self.region, value)
    }

    fn add_data_dependences(&mut self) {
        let (function, layout) = (self.function, self.layout);
        let blocks = self.flow.graph.reverse_post_order().to_vec();
        for &block in &blocks {
            for &inst in &function.blocks[block].insts {
                let inst_node = &function.insts[inst];
                for &result in &inst_node.results {
                    let node = self.node_of(result);
                    match find_origin(&inst_node.data, layout) {
                        Origin::Uniform => {}
                        Origin::Varying => self.graph.sources.push(node),
                        Origin::Kept(live_slot) => self.graph.add_edge(Node::Kept(live_slot), node),
                        Origin::Operands => inst_node.data.for_each_arg(|argument| {
                            self.graph.add_edge(Node::Value(self.region, argument), node);
                        }),
                    }
                }
            }
            for target in function.blocks[block].terminator.targets() {
                for (&argument, &parameter) in target.arguments.iter().zip(&function.blocks[target.block].params) {
                    self.graph.add_edge(Node::Value(self.region, argument), Node::Value(self.region, parameter));
                }
            }
        }
        for block in self.flow.branching_blocks().collect::<Vec<_>>() {
            let selector = function.blocks[block].terminator.selector();
            let node = selector.map(|selector| self.node_of(selector));
            node.into_iter().for_each(|node| self.graph.add_edge(node, Node::Choice(self.region, block)));
        }
        for (live_slot, argument) in kept_values(function, &self.flow) {
            self.graph.add_edge(Node::Value(self.region, argument), Node::Kept(live_slot));
        }
    }

    /// The gates of every branch that has a post-dominator.
    fn add_gates(&mut self) {
        for branch in self.flow.branching_blocks().collect::<Vec<_>>() {
            let Some(selector) = self.function.blocks[branch].terminator.selector() else { continue };
            let Some(end_block) = self.post.immediate_post_dominator(branch) else { continue };
            let influenced = self.find_influence(branch, end_block);
            self.gate_parameters(branch, end_block, self.node_of(selector), &influenced);
            // What dominates the end and comes after the branch as well comes before it in a loop.
            if influenced.contains(branch) {
                self.gate_later_uses(end_block, self.node_of(selector), &influenced);
            }
        }
    }

    /// The blocks on paths from a branch to where its lanes meet; the branch's own if a path comes there again.
    fn find_influence(&self, branch: Block, end_block: Block) -> EntitySet<Block> {
        let mut influenced = EntitySet::new();
        let mut pending = vec![branch];
        while let Some(block) = pending.pop() {
            for &successor in self.flow.graph.successors(block) {
                if successor != end_block && influenced.insert(successor) {
                    pending.push(successor);
                }
            }
        }
        influenced
    }

    /// Gates the parameters of the block where the ways of a branch meet: what they are depends on the predicate (step 1.a).
    fn gate_parameters(&mut self, branch: Block, end_block: Block, predicate: Node, influenced: &EntitySet<Block>) {
        let function = self.function;
        let edges: Vec<(Block, &[Value])> = incoming_edges(function, &self.flow, end_block)
            .filter(|&(source, _)| source == branch || influenced.contains(source))
            .collect();
        for (index, &parameter) in function.blocks[end_block].params.iter().enumerate() {
            let mut arguments = edges.iter().map(|(_, arguments)| arguments[index]);
            let is_choice = edges.windows(2).any(|pair| pair[0].1[index] != pair[1].1[index]);
            if is_choice || arguments.any(|argument| self.is_of_region(argument, influenced)) {
                self.graph.add_edge(predicate, self.node_of(parameter));
            }
        }
    }

    /// Gates what is computed between a branch and the block where its ways meet and is used behind that (step 1.b).
    fn gate_later_uses(&mut self, end_block: Block, predicate: Node, influenced: &EntitySet<Block>) {
        let function = self.function;
        for &block in &self.dominators.dominated_blocks(end_block).to_vec() {
            let block_data = &function.blocks[block];
            for &inst in &block_data.insts {
                let inst_node = &function.insts[inst];
                let mut is_later_use = false;
                inst_node.data.for_each_arg(|argument| is_later_use |= self.is_of_region(argument, influenced));
                if is_later_use {
                    inst_node.results.iter().for_each(|&result| self.graph.add_edge(predicate, self.node_of(result)));
                }
            }
            if block_data.terminator.selector().is_some_and(|selector| self.is_of_region(selector, influenced)) {
                self.graph.add_edge(predicate, Node::Choice(self.region, block));
            }
            for target in block_data.terminator.targets() {
                for (&argument, &parameter) in target.arguments.iter().zip(&function.blocks[target.block].params) {
                    if self.is_of_region(argument, influenced) {
                        self.graph.add_edge(predicate, self.node_of(parameter));
                    }
                }
            }
        }
    }

    /// Whether a value is defined in an influence region.
    fn is_of_region(&self, value: Value, influenced: &EntitySet<Block>) -> bool {
        debug_assert!(
            self.home[value].is_some() || matches!(self.function.values[value].definition, ValueDef::Const(_))
        );
        self.home[value].is_some_and(|block| influenced.contains(block))
    }
}
