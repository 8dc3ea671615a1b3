//! Which blocks run for the same lanes.
//!
//! Requires: graph, dominators and loops of a function in normal form; the blocks whose branches are
//! divergent; no branch that leaves a loop is divergent in relation to the loop's header.
//! Ensures: two blocks with the same [`Lanes`] run for the same lanes whenever both run. Blocks with
//! `Lanes::All` run for all lanes or not at all.
//! Phases: post-dominators of the graph of one iteration, in which only latches leave a loop, as the lanes
//! of a uniform loop leave it together; then block after block.
//! Source: Moll 2021, sections 8.6 (uniform predicates) and 9.1; masks are reset where a block
//! post-dominates its immediate dominator, as in Karrenberg & Hack 2012, section 3.1.

use super::cfg::{Cfg, cfg};
use super::dominators::Dominators;
use super::loops::{Loop, Loops};
use super::post_dominators::{PostDominators, post_dominators};
use crate::ir::{Block, BlockCall, BlockData, Function, Terminator};
use cranelift_entity::{EntitySet, SecondaryMap};

/// The lanes for which a block runs.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Lanes {
    /// All of them.
    #[default]
    All,
    /// Those of this block, which depend on divergent branches.
    Of(Block),
}

/// A function's loops and post-dominators within an iteration.
pub struct Iterations {
    ends: PostDominators,
}

impl Iterations {
    /// Computes post-dominators within an iteration.
    pub fn new(f: &Function, edges: &Cfg, loops: &Loops) -> Iterations {
        let mut graph = Function::new();
        for _ in 0..f.blocks.len() {
            graph.blocks.push(BlockData { params: Vec::new(), insts: Vec::new(), term: Terminator::Unreachable });
        }
        graph.layout.clone_from(&f.layout);
        for &block in edges.rpo() {
            let around = loops.innermost(block);
            let mut to: Vec<Block> = edges.succs(block).to_vec();
            if let Some(l) = around {
                let header = loops.get(l).header;
                let latch = to.contains(&header);
                to.retain(|&b| b != header && loops.contains(l, b));
                if latch {
                    let parent = loops.get(l).parent;
                    let next = |&exit: &Block| parent.is_none_or(|p| loops.contains(p, exit));
                    to.extend(loops.get(l).exits.iter().map(|&(_, exit)| exit).filter(next));
                }
            }
            graph.blocks[block].term = any_of(&to);
        }
        Iterations { ends: post_dominators(&cfg(&graph)) }
    }
}

/// A terminator with these targets.
fn any_of(to: &[Block]) -> Terminator {
    let call = |&block: &Block| BlockCall { block, args: Vec::new() };
    match to.split_first() {
        None => Terminator::Return,
        Some((first, rest)) => Terminator::Switch {
            value: cranelift_entity::EntityRef::new(0),
            cases: rest.iter().enumerate().map(|(i, b)| (i as u128, call(b))).collect(),
            default: call(first),
        },
    }
}

/// What the analysis looks at.
pub struct Graph<'a> {
    /// Edges.
    pub cfg: &'a Cfg,
    /// Dominators.
    pub dominators: &'a Dominators,
    /// Loops.
    pub loops: &'a Loops,
    /// Post-dominators within an iteration.
    pub iterations: &'a Iterations,
    /// The blocks whose branches may send lanes different ways.
    pub divergent: &'a EntitySet<Block>,
}

impl Graph<'_> {
    /// The lanes of each block of the function.
    pub fn lanes(&self) -> SecondaryMap<Block, Lanes> {
        self.lanes_of(self.cfg.rpo())
    }

    /// The lanes of each block of a loop, among those that are in its header.
    pub fn lanes_in(&self, l: Loop) -> SecondaryMap<Block, Lanes> {
        self.lanes_of(&self.loops.get(l).blocks)
    }

    /// The block before `block` that runs for the same lanes, if the graph tells of one.
    pub fn same_as(&self, block: Block) -> Option<Block> {
        let before = self.dominators.idom(block)?;
        if let Some(l) = self.loops.with_header(block) {
            let outside = |p: &Block| !self.loops.contains(l, *p);
            return self.cfg.preds(block).iter().copied().find(outside);
        }
        let left = self.loops.around(before).take_while(|&l| !self.loops.contains(l, block)).last();
        if let Some(l) = left {
            // All lanes in the loop leave it together, so whoever was in its header comes here.
            let header = self.loops.get(l).header;
            let inside = self.cfg.preds(block).iter().all(|&p| self.loops.contains(l, p));
            return (inside || self.iterations.ends.post_dominates(block, header)).then_some(header);
        }
        self.iterations.ends.post_dominates(block, before).then_some(before)
    }

    fn lanes_of(&self, blocks: &[Block]) -> SecondaryMap<Block, Lanes> {
        let mut lanes: SecondaryMap<Block, Lanes> = SecondaryMap::new();
        for &block in &blocks[1..] {
            lanes[block] = match self.same_as(block) {
                Some(before) => lanes[before],
                None => {
                    let uniform = |&p: &Block| lanes[p] == Lanes::All && !self.divergent.contains(p);
                    let all = self.cfg.preds(block).iter().all(uniform);
                    if all { Lanes::All } else { Lanes::Of(block) }
                }
            };
        }
        lanes
    }
}
