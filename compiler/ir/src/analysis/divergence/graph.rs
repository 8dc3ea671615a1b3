//! What the analysis of divergence asks of a function over and over.
//!
//! Requires: a function in normal form, as it is until the analysis ends.
//! Ensures: its blocks, loops and post-dominators, and what follows of each branch, each computed once.
//! Phases: all but what follows of branches when it is made; that when it is first asked for.
//! Source: as [`super`].

use crate::analysis::cfg::{Cfg, build_cfg};
use crate::analysis::dominators::compute_dominators;
use crate::analysis::loops::{Loops, find_loops};
use crate::analysis::post_dominators::{PostDominators, post_dominators};
use crate::analysis::sync_dependence::Walks;
use crate::ir::Function;
use std::cell::RefCell;

/// A function and its control flow.
pub(super) struct Graph<'a> {
    pub function: &'a Function,
    pub cfg: Cfg,
    pub loops: Loops,
    pub post: PostDominators,
    /// What follows of each branch, found when it is first asked for.
    pub walks: RefCell<Walks>,
}

impl Graph<'_> {
    /// A function with what is computed of its blocks.
    pub fn of_function(function: &Function) -> Graph<'_> {
        let flow_graph = build_cfg(function);
        let loop_forest = find_loops(&flow_graph, &compute_dominators(&flow_graph));
        Graph::with_loops(function, flow_graph, loop_forest)
    }

    /// The same where its blocks and loops are known.
    pub fn with_loops(function: &Function, flow_graph: Cfg, loop_forest: Loops) -> Graph<'_> {
        Graph {
            function,
            post: post_dominators(&flow_graph),
            cfg: flow_graph,
            loops: loop_forest,
            walks: RefCell::default(),
        }
    }
}
