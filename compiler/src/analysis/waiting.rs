//! Loops in which a work-item may wait for what another one does.
//!
//! Requires: a function of reducible control flow, its loops.
//! Ensures: of the loops that are left, or not, by what they read anew of memory that others write, the innermost ones.
//! What a loop that is none of these reads decides in no round whether there is another one, but for rounds in which
//! others got on: an exchange is tried again with what the failed one has found (the loop around a compare-and-exchange),
//! or tasks are taken from a counter.
//! Phases: loop by loop, inner ones first: the reads that count; what depends on them, by operands, by block
//! parameters, and by the ways that lead to a join; then the branches that leave the loop.
//! Source: none; the progress that sub-groups are promised is OpenCL API 3.0, 4.2,
//! `CL_DEVICE_SUB_GROUP_INDEPENDENT_FORWARD_PROGRESS`.
//!
//! ```text
//! b1: v1: i32 = load.acquire v0 align 4      waits
//!     v2: i1 = icmp.eq v1, 0
//!     br v2, b1, b2
//! ```

use super::cfg::{Cfg, cfg};
use super::dominators::dominators;
use super::loops::{Loop, LoopData, Loops, loops};
use crate::ir::*;
use cranelift_entity::EntitySet;

/// The headers of these loops, inner loops before those around them.
pub fn waiting_loops(f: &Function) -> Vec<Block> {
    if !f.insts.values().any(|node| is_read_of_others(&node.data) || matches!(node.data, InstData::Fence { .. })) {
        return Vec::new();
    }
    let graph = cfg(f);
    let forest = loops(&graph, &dominators(&graph));
    let mut found: Vec<Block> = Vec::new();
    for (l, data) in forest.iter().rev() {
        // What an inner loop waits for it waits for there.
        let inner = |block: Block| forest.around(block).any(|m| found.contains(&forest.get(m).header));
        let own: Vec<Block> = data.blocks.iter().copied().filter(|&block| !inner(block)).collect();
        if (Waiting { f, graph: &graph, forest: &forest, l, data, known: EntitySet::new(), learnt: false })
            .leaves_by(&own)
        {
            found.push(data.header);
        }
    }
    found
}

/// Whether an instruction reads what others may write meanwhile, as far as the program says so.
fn is_read_of_others(data: &InstData) -> bool {
    match data {
        InstData::Load { access, .. } => is_said_to_change(*access),
        InstData::AtomicRmw { .. } | InstData::AtomicCas { .. } => true,
        _ => false,
    }
}

fn is_said_to_change(access: Access) -> bool {
    access.volatile || access.atomic.is_some()
}

/// One loop.
struct Waiting<'a> {
    f: &'a Function,
    graph: &'a Cfg,
    forest: &'a Loops,
    l: Loop,
    data: &'a LoopData,
    /// Values that depend on what others write.
    known: EntitySet<Value>,
    /// Whether there is a new one among them.
    learnt: bool,
}

impl Waiting<'_> {
    /// Whether what the blocks `own` read decides if the loop is left.
    fn leaves_by(mut self, own: &[Block]) -> bool {
        let f = self.f;
        let insts = || own.iter().flat_map(|&block| &f.blocks[block].insts).map(|&inst| &f.insts[inst]);
        // Where fences order plain accesses, these are how one waits.
        let fenced = insts().any(|node| matches!(node.data, InstData::Fence { .. } | InstData::GangBarrier));
        for node in insts() {
            if self.begins(&node.data, fenced) {
                self.learn(&node.results);
            }
        }
        while std::mem::take(&mut self.learnt) {
            self.spread();
        }
        self.data.exits.iter().any(|&(from, _)| self.decides(from))
    }

    fn learn(&mut self, values: &[Value]) {
        for &value in values {
            self.learnt |= self.known.insert(value);
        }
    }

    /// Whether a loop may wait for what this instruction reads.
    fn begins(&self, data: &InstData, fenced: bool) -> bool {
        match data {
            InstData::Load { ptr, access, .. } => self.is_shared(*ptr) && (fenced || is_said_to_change(*access)),
            // Whoever adds something has changed it.
            InstData::AtomicRmw { op: AtomicOp::Add | AtomicOp::Sub, arg, .. } => self.f.const_bits(*arg) == Some(0),
            InstData::AtomicRmw { .. } => true,
            InstData::AtomicCas { expected, .. } => !self.changes(*expected),
            _ => false,
        }
    }

    fn is_shared(&self, ptr: Value) -> bool {
        !matches!(self.f.ty(ptr), Type::Ptr(Space::Private | Space::Constant))
    }

    /// Whether a value is computed in the loop.
    fn changes(&self, value: Value) -> bool {
        match self.f.values[value].def {
            ValueDef::Const(_) => false,
            ValueDef::Param(block, _) => self.forest.contains(self.l, block),
            ValueDef::Result(inst, _) => {
                self.data.blocks.iter().any(|&block| self.f.blocks[block].insts.contains(&inst))
            }
        }
    }

    /// Whether the compare-and-exchange whose result this is failed because others got on.
    fn is_tried_again(&self, old: Value, with: Value) -> bool {
        let ValueDef::Result(inst, 0) = self.f.values[old].def else { return false };
        matches!(self.f.insts[inst].data, InstData::AtomicCas { expected, .. } if expected == with && self.changes(with))
    }

    /// Whether what is known to depend on others decides where a block goes on.
    fn decides(&self, block: Block) -> bool {
        self.f.blocks[block].term.selector().is_some_and(|selector| self.known.contains(selector))
    }

    /// One walk over the loop.
    fn spread(&mut self) {
        let f = self.f;
        for &block in &self.data.blocks {
            for node in f.blocks[block].insts.iter().map(|&inst| &f.insts[inst]) {
                if self.depends(&node.data) {
                    self.learn(&node.results);
                }
            }
            for to in f.blocks[block].term.targets() {
                for (&param, &arg) in f.blocks[to.block].params.iter().zip(&to.args) {
                    if self.known.contains(arg) {
                        self.learn(&[param]);
                    }
                }
            }
            if self.decides(block) {
                self.meet_behind(block);
            }
        }
    }

    fn depends(&self, data: &InstData) -> bool {
        match data {
            InstData::Icmp { args: [a, b], .. } if self.is_tried_again(*a, *b) || self.is_tried_again(*b, *a) => false,
            // Of an exchange that is tried again, only a new try depends on what was found before.
            InstData::AtomicCas { expected, .. } if self.changes(*expected) => false,
            // What was put into private memory may be read again from there.
            InstData::Load { ptr, .. } if !self.is_shared(*ptr) => self.keeps_known_in_private(),
            data => {
                let mut any = false;
                data.for_each_arg(|arg| any |= self.known.contains(arg));
                any
            }
        }
    }

    fn keeps_known_in_private(&self) -> bool {
        let insts = self.data.blocks.iter().flat_map(|&block| &self.f.blocks[block].insts);
        let mut stores = insts.map(|&inst| &self.f.insts[inst].data);
        stores.any(|data| match data {
            InstData::Store { ptr, args, .. } => {
                !self.is_shared(*ptr) && args.iter().any(|&arg| self.known.contains(arg))
            }
            _ => false,
        })
    }

    /// The way that a branch took shows in the parameters of blocks behind it that are reached in different ways.
    fn meet_behind(&mut self, branch: Block) {
        let mut seen = EntitySet::new();
        let mut work = vec![branch];
        while let Some(block) = work.pop() {
            for &to in self.graph.succs(block) {
                if to == self.data.header || !self.forest.contains(self.l, to) || !seen.insert(to) {
                    continue;
                }
                work.push(to);
                // What an inner loop counts changes from round to round all by itself.
                if self.graph.preds(to).len() > 1 && self.forest.with_header(to).is_none() {
                    self.learn(&self.f.blocks[to].params);
                }
            }
        }
        // Several ways back: that is where they meet.
        if self.data.latches.len() > 1 {
            self.learn(&self.f.blocks[self.data.header].params);
        }
    }
}
