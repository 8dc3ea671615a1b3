//! Karrenberg & Hack's analysis: blocks diverge that two disjoint paths reach from a varying branch.
//!
//! Requires: a kernel cut into regions, each in normal form.
//! Ensures: by Definition 1, a block is divergent that a varying branch leads to, that two paths reach from it which share no
//! block between, or that is an exit of a loop around it of which that holds for the exit and the latch. A parameter of a
//! divergent block varies, unless all lanes that come there bring the same value through the only edge.
//! Phases: values and divergent blocks together, region by region, to a fixed point; kept values over all regions.
//! Source: Karrenberg & Hack 2012, sections 3.1 and 3.2.
//!
//! Of paths from one block, two that share none lead exactly to those blocks that it dominates immediately in the graph that begins
//! with it; and to an exit and a latch if it is their nearest common dominator there.

use super::operations::{Origin, find_origin};
use super::{ControlFlow, KernelDivergence, RegionDivergence};
use crate::analysis::cfg::build_graph;
use crate::analysis::dominators::{Dominators, compute_dominators};
use crate::ir::{Block, Function, InstData, Kernel, LiveSlot, Value};
use cranelift_entity::EntitySet;
use lockstep_protocol::layout::Layout;

/// What the analysis says of a kernel's values and branches.
pub(super) fn analyze_disjoint_paths(kernel: &Kernel, layout: Layout) -> KernelDivergence {
    let flows: Vec<ControlFlow> = kernel.regions.values().map(ControlFlow::of_function).collect();
    let mut varying_slots = EntitySet::new();
    loop {
        let mut found = KernelDivergence::new();
        let mut changed = false;
        for (function, flow) in kernel.regions.values().zip(&flows) {
            let mut solver = Solver::new(function, flow, layout, &varying_slots);
            solver.solve_region();
            let found_region = solver.found;
            for (live_slot, argument) in kept_values(function, flow) {
                changed |= found_region.varying.contains(argument) && varying_slots.insert(live_slot);
            }
            found.push(found_region);
        }
        if !changed {
            return found;
        }
    }
}

/// What a region keeps for others.
pub(super) fn kept_values<'a>(
    function: &'a Function,
    flow: &'a ControlFlow,
) -> impl Iterator<Item = (LiveSlot, Value)> + 'a {
    let insts = flow.graph.reverse_post_order().iter().flat_map(|&block| &function.blocks[block].insts);
    insts.filter_map(|&inst| match function.insts[inst].data {
        InstData::LiveStore { live_slot, argument } => Some((live_slot, argument)),
        _ => None,
    })
}

struct Solver<'a> {
    function: &'a Function,
    flow: &'a ControlFlow,
    layout: Layout,
    varying_slots: EntitySet<LiveSlot>,
    divergent_blocks: EntitySet<Block>,
    found: RegionDivergence,
}

impl<'a> Solver<'a> {
    fn new(
        function: &'a Function,
        flow: &'a ControlFlow,
        layout: Layout,
        varying_slots: &EntitySet<LiveSlot>,
    ) -> Solver<'a> {
        Solver {
            function,
            flow,
            layout,
            varying_slots: varying_slots.clone(),
            divergent_blocks: EntitySet::new(),
            found: RegionDivergence::default(),
        }
    }

    fn solve_region(&mut self) {
        let mut changed = true;
        while changed {
            changed = false;
            for &block in self.flow.graph.reverse_post_order() {
                changed |= self.visit_block(block);
            }
        }
    }

    /// Looks at a block again; whether more is known to vary.
    fn visit_block(&mut self, block: Block) -> bool {
        let function = self.function;
        let block_data = &function.blocks[block];
        let mut changed = false;
        for (index, &parameter) in block_data.params.iter().enumerate() {
            changed |= self.parameter_varies(block, index) && self.found.varying.insert(parameter);
        }
        for &inst in &block_data.insts {
            if self.results_vary(&function.insts[inst].data) {
                for &result in &function.insts[inst].results {
                    changed |= self.found.varying.insert(result);
                }
            }
        }
        let selector = block_data.terminator.selector();
        if selector.is_some_and(|selector| self.found.varying.contains(selector))
            && self.found.divergent_branches.insert(block)
        {
            self.mark_divergent_blocks(block);
            changed = true;
        }
        changed
    }

    /// Whether an edge brings a parameter what varies, or it depends on the way by which lanes came, or on when they left a loop.
    fn parameter_varies(&self, block: Block, index: usize) -> bool {
        let arguments = incoming_arguments(self.function, self.flow, block, index);
        let is_choice = arguments.windows(2).any(|pair| pair[0] != pair[1]);
        arguments.iter().any(|&argument| self.found.varying.contains(argument))
            || self.divergent_blocks.contains(block) && (is_choice || self.is_loop_exit(block))
    }

    fn is_loop_exit(&self, block: Block) -> bool {
        let flow = self.flow;
        let predecessors = flow.graph.predecessors(block).iter();
        predecessors
            .copied()
            .any(|source| flow.loops.loops_around(source).any(|each| !flow.loops.contains(each, block)))
    }

    fn results_vary(&self, inst_data: &InstData) -> bool {
        match find_origin(inst_data, self.layout) {
            Origin::Uniform => false,
            Origin::Varying => true,
            Origin::Kept(live_slot) => self.varying_slots.contains(live_slot),
            Origin::Operands => {
                let mut vary = false;
                inst_data.for_each_arg(|argument| vary |= self.found.varying.contains(argument));
                vary
            }
        }
    }

    /// Definition 1, of one varying branch.
    fn mark_divergent_blocks(&mut self, branch: Block) {
        let flow = self.flow;
        let dominators = dominators_from(flow, branch);
        self.divergent_blocks.extend(flow.graph.successors(branch).iter().copied());
        let blocks = flow.graph.reverse_post_order();
        let reached = blocks.iter().copied().filter(|&block| dominators.immediate_dominator(block) == Some(branch));
        self.divergent_blocks.extend(reached);
        for loop_id in flow.loops.loops_around(branch) {
            let around = flow.loops.get(loop_id);
            for &(_, exit_block) in &around.exits {
                let mut latches = around.latches.iter();
                let leaves_others = latches
                    .any(|&latch| dominators.common_dominator(exit_block, latch) == Some(branch) && latch != branch);
                if leaves_others {
                    self.divergent_blocks.insert(exit_block);
                }
            }
        }
    }
}

/// What edges bring a parameter.
pub(super) fn incoming_arguments(
    function: &Function,
    flow: &ControlFlow,
    block: Block,
    parameter_index: usize,
) -> Vec<Value> {
    incoming_edges(function, flow, block).map(|(_, arguments)| arguments[parameter_index]).collect()
}

/// The edges that lead to a block, each with where it comes from and what it brings.
pub(super) fn incoming_edges<'a>(
    function: &'a Function,
    flow: &'a ControlFlow,
    block: Block,
) -> impl Iterator<Item = (Block, &'a [Value])> + 'a {
    let mut sources = flow.graph.predecessors(block).to_vec();
    sources.sort_unstable();
    sources.dedup();
    sources.retain(|&source| flow.graph.is_reachable(source));
    sources.into_iter().flat_map(move |source| {
        let targets = function.blocks[source].terminator.targets().into_iter();
        targets.filter(move |target| target.block == block).map(move |target| (source, &target.arguments[..]))
    })
}

/// The dominators of the blocks that can be reached from a block, in the graph that begins with it.
fn dominators_from(flow: &ControlFlow, start: Block) -> Dominators {
    let blocks = flow.graph.reverse_post_order();
    let edges: Vec<(Block, Block)> = blocks
        .iter()
        .flat_map(|&source| flow.graph.successors(source).iter().map(move |&target| (source, target)))
        .filter(|&(_, target)| target != start)
        .collect();
    let block_count = blocks.iter().map(|block| block.as_u32() as usize + 1).max().unwrap_or(0);
    compute_dominators(&build_graph(block_count, Some(start), &edges))
}

#[cfg(test)]
mod tests;
