//! How precise the divergence analysis is, beside those of two papers and beside what lanes do.
//!
//! Requires: a kernel cut into regions, each in normal form.
//! Ensures: what each analysis says of a kernel's values and branches ([`Analysis`]); what lanes were seen to do in the
//! interpreter ([`LaneProfile`]); how often the two agree ([`Agreement`]).
//! Phases: one analysis; any number of launches under observation; the comparison.
//! Source: Coutinho, Sampaio, Pereira & Meira 2011, section 5, Figures 13 to 15; Karrenberg & Hack 2012, Definition 1.
//!
//! The two other analyses are measuring devices: the driver is built without them. Of operations they know whether a result follows from
//! the operands ([`operations`]), as the papers do, and nothing of strides and alignments.

mod agreement;
mod disjoint_paths;
mod gated_phi;
mod lane_profile;
mod operations;

pub use agreement::{Agreement, describe_mistakes, false_positives};
pub use lane_profile::LaneProfile;

use crate::analysis::cfg::{Cfg, build_cfg};
use crate::analysis::divergence::{Facts, analyze_divergence};
use crate::analysis::dominators::compute_dominators;
use crate::analysis::loops::{Loops, find_loops};
use crate::ir::{Block, Function, Kernel, Module, Region, Value};
use cranelift_entity::{EntitySet, PrimaryMap};
use disjoint_paths::analyze_disjoint_paths;
use gated_phi::analyze_gated_phis;
use lockstep_protocol::launch_facts::LaunchFacts;
use lockstep_protocol::layout::GangShape;

/// What differs between lanes in one region, or may differ.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct RegionDivergence {
    /// The values that differ.
    pub varying: EntitySet<Value>,
    /// The blocks at whose end lanes go different ways.
    pub divergent_branches: EntitySet<Block>,
}

/// The same of a whole kernel.
pub type KernelDivergence = PrimaryMap<Region, RegionDivergence>;

/// An analysis of what may differ between lanes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Analysis {
    /// The driver's own.
    Shapes,
    /// Karrenberg & Hack 2012, Definition 1.
    DisjointPaths,
    /// Coutinho et al. 2011, algorithm of Figure 7.
    GatedPhi,
}

impl Analysis {
    /// All of them, the driver's own first.
    pub const ALL: [Analysis; 3] = [Analysis::Shapes, Analysis::DisjointPaths, Analysis::GatedPhi];

    /// What tables call it.
    pub fn describe_analysis(self) -> &'static str {
        match self {
            Analysis::Shapes => "ours",
            Analysis::DisjointPaths => "Karrenberg & Hack, Definition 1",
            Analysis::GatedPhi => "Coutinho et al., gated phi",
        }
    }

    /// Analyses a kernel for launches of which nothing is known.
    pub fn analyze_kernel(self, module: &Module, kernel: &Kernel, gang: GangShape) -> KernelDivergence {
        match self {
            Analysis::Shapes => analyze_shapes(module, kernel, gang),
            Analysis::DisjointPaths => analyze_disjoint_paths(kernel, gang.layout),
            Analysis::GatedPhi => analyze_gated_phis(kernel, gang.layout),
        }
    }
}

/// What the driver's own analysis says, of kernels that any launch may run.
fn analyze_shapes(module: &Module, kernel: &Kernel, gang: GangShape) -> KernelDivergence {
    let gang_facts = Facts::new(module, kernel, gang.width).laid_out(gang.layout);
    let gang_facts = gang_facts.of_launch(kernel, &LaunchFacts::default()).of_kernel(kernel);
    kernel.regions.values().map(|function| analyze_region_shapes(function, &gang_facts)).collect()
}

fn analyze_region_shapes(function: &Function, gang_facts: &Facts) -> RegionDivergence {
    let flow = ControlFlow::of_function(function);
    let found = analyze_divergence(function, gang_facts, &flow.graph, &flow.loops);
    let mut divergence =
        RegionDivergence { varying: EntitySet::new(), divergent_branches: found.divergent_branches.clone() };
    divergence.varying.extend(flow.defined_values(function).filter(|&value| !found.is_uniform(value)));
    divergence
}

/// A function's control flow.
struct ControlFlow {
    graph: Cfg,
    loops: Loops,
}

impl ControlFlow {
    fn of_function(function: &Function) -> ControlFlow {
        let graph = build_cfg(function);
        let loops = find_loops(&graph, &compute_dominators(&graph));
        ControlFlow { graph, loops }
    }

    /// The parameters and results of all blocks that can be reached.
    fn defined_values<'a>(&'a self, function: &'a Function) -> impl Iterator<Item = Value> + 'a {
        self.graph.reverse_post_order().iter().flat_map(|&block| values_of_block(function, block))
    }

    /// The blocks that can be reached and lead to different blocks.
    fn branching_blocks(&self) -> impl Iterator<Item = Block> + '_ {
        self.graph.reverse_post_order().iter().copied().filter(|&block| self.graph.successors(block).len() > 1)
    }
}

/// The parameters and results of a block.
fn values_of_block(function: &Function, block: Block) -> impl Iterator<Item = Value> + '_ {
    let block_data = &function.blocks[block];
    let results = block_data.insts.iter().flat_map(|&inst| &function.insts[inst].results);
    block_data.params.iter().chain(results).copied()
}

#[cfg(test)]
mod tests;
