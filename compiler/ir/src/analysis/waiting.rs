//! Loops in which a work-item may wait for what another one does.
//!
//! Requires: a function of reducible control flow, before it is cut at its barriers.
//! Ensures: of the loops that go on, or not, by what they read anew of memory that others write, the innermost ones. Not
//! meant are loops of which every round finds that somebody got on: that an exchange failed which expected what was read
//! just before, that the place that is read moves on, that a task was taken from a counter, or that all have come to a
//! barrier.
//! Phases: loop by loop, inner ones first: the reads that count; what depends on them, by operands, by block
//! parameters, and by the ways that lead to a join; then the branches that decide whether the loop is left.
//! Source: none; the progress that sub-groups are promised is OpenCL API 3.0, 4.2,
//! `CL_DEVICE_SUB_GROUP_INDEPENDENT_FORWARD_PROGRESS`.
//!
//! ```text
//! b1: v1: i32 = load.acquire v0 align 4      waits
//!     v2: i1 = icmp.eq v1, 0
//!     br v2, b1, b2
//! ```

use super::cfg::{Cfg, cfg};
use super::dominators::{Dominators, dominators};
use super::loops::{Loop, LoopData, Loops, loops};
use crate::ir::*;
use cranelift_entity::EntitySet;
use lockstep_protocol::types::{Space, Type};

/// The headers of these loops, inner loops before those around them.
pub fn waiting_loops(f: &Function) -> Vec<Block> {
    let is_way_to_wait =
        |data: &InstData| is_read_of_others(data) || matches!(data, InstData::Fence { .. } | InstData::GangBarrier);
    if !f.insts.values().any(|node| is_way_to_wait(&node.data)) {
        return Vec::new();
    }
    let graph = cfg(f);
    let tree = dominators(&graph);
    let forest = loops(&graph, &tree);
    let mut found: Vec<Block> = Vec::new();
    for (l, data) in forest.iter().rev() {
        // What an inner loop waits for it waits for there.
        let inner = |block: Block| forest.around(block).any(|m| found.contains(&forest.get(m).header));
        let own: Vec<Block> = data.blocks.iter().copied().filter(|&block| !inner(block)).collect();
        let mut inside = EntitySet::new();
        data.blocks.iter().flat_map(|&block| &f.blocks[block].insts).for_each(|&inst| {
            inside.insert(inst);
        });
        let (graph, tree, forest) = (&graph, &tree, &forest);
        let [known, moving] = [EntitySet::new(), EntitySet::new()];
        let waiting = Waiting { f, graph, tree, forest, l, data, inside, moving, known, learnt: false };
        if waiting.leaves_by(&own) {
            found.push(data.header);
        }
    }
    found
}

/// Whether a work-item may wait for others outside barriers, in a kernel whose loops of this kind are marked.
pub fn may_wait(kernel: &Kernel) -> bool {
    kernel.regions.values().any(waits)
}

/// The same of a region.
pub fn waits(body: &Function) -> bool {
    let mut insts = body.layout.iter().flat_map(|&block| &body.blocks[block].insts);
    insts.any(|&inst| body.insts[inst].data == InstData::Yield)
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

/// What is found out about one loop.
struct Waiting<'a> {
    f: &'a Function,
    graph: &'a Cfg,
    tree: &'a Dominators,
    forest: &'a Loops,
    l: Loop,
    data: &'a LoopData,
    /// Which instructions are the loop's.
    inside: EntitySet<Inst>,
    /// Values that are others in every round, by which addresses move on.
    moving: EntitySet<Value>,
    /// Values that depend on what others write.
    known: EntitySet<Value>,
    /// Whether there is a new one among them.
    learnt: bool,
}

impl Waiting<'_> {
    /// Whether what the blocks `own` read decides if the loop is left.
    fn leaves_by(mut self, own: &[Block]) -> bool {
        if self.meets_in_every_round() || self.data.latches.iter().all(|&latch| self.is_behind_failure(latch)) {
            return false;
        }
        self.find_moving();
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
        let decisive = |&block: &Block| self.decides(block) && self.leads_out_or_not(block);
        self.data.blocks.iter().any(decisive)
    }

    /// Whether all work-items of the group come to one place in every round: nobody waits for others in between.
    fn meets_in_every_round(&self) -> bool {
        let meets = |&inst: &Inst| matches!(self.f.insts[inst].data, InstData::Barrier | InstData::Collective { .. });
        let always = |block: Block| self.data.latches.iter().all(|&latch| self.tree.dominates(block, latch));
        self.data.blocks.iter().any(|&block| always(block) && self.f.blocks[block].insts.iter().any(meets))
    }

    /// Whether the next round begins only because an exchange failed that expected what had been read.
    fn is_behind_failure(&self, latch: Block) -> bool {
        let header = self.data.header;
        let (mut block, mut came) = (latch, header);
        loop {
            let is_only_way = came == header || self.graph.preds(came).len() == 1;
            if is_only_way && self.fails_into(block, came) {
                return true;
            }
            match self.tree.idom(block) {
                Some(before) if block != header => (block, came) = (before, block),
                _ => return false,
            }
        }
    }

    /// Whether a branch goes on in `to` if such an exchange failed, and elsewhere otherwise.
    fn fails_into(&self, block: Block, to: Block) -> bool {
        let Terminator::Branch { cond, then_to, else_to } = &self.f.blocks[block].term else { return false };
        self.failure(*cond).is_some_and(|failed| {
            let (side, other) = if failed { (then_to, else_to) } else { (else_to, then_to) };
            side.block == to && other.block != to
        })
    }

    /// Which value of a condition says that such an exchange failed.
    fn failure(&self, cond: Value) -> Option<bool> {
        let ValueDef::Result(inst, result) = self.f.values[cond].def else { return None };
        match &self.f.insts[inst].data {
            data @ InstData::AtomicCas { .. } if result == 1 && self.is_retry(data) => Some(false),
            InstData::Icmp { cc: cc @ (IntCc::Eq | IntCc::Ne), args: [a, b] } => {
                let retry = self.is_tried_again(*a, *b) || self.is_tried_again(*b, *a);
                retry.then_some(*cc == IntCc::Ne)
            }
            _ => None,
        }
    }

    /// Whether the loop is left from a block, or one way on from there may leave it in this round and another one may not.
    fn leads_out_or_not(&self, block: Block) -> bool {
        let leads_out = |first: Block| {
            let mut seen = EntitySet::new();
            let mut work = vec![first];
            while let Some(at) = work.pop() {
                if !self.forest.contains(self.l, at) {
                    return true;
                }
                if at != self.data.header && seen.insert(at) {
                    work.extend_from_slice(self.graph.succs(at));
                }
            }
            false
        };
        let succs = self.graph.succs(block);
        let out = succs.iter().filter(|&&succ| leads_out(succ)).count();
        succs.iter().any(|&succ| !self.forest.contains(self.l, succ)) || out > 0 && out < succs.len()
    }

    /// The loop's instructions.
    fn all(&self) -> impl Iterator<Item = &InstData> {
        let insts = self.data.blocks.iter().flat_map(|&block| &self.f.blocks[block].insts);
        insts.map(|&inst| &self.f.insts[inst].data)
    }

    fn learn(&mut self, values: &[Value]) {
        for &value in values {
            self.learnt |= self.known.insert(value);
        }
    }

    /// Whether a loop may wait for what this instruction reads.
    fn begins(&self, data: &InstData, fenced: bool) -> bool {
        match data {
            InstData::Load { ptr, access, .. } => {
                self.is_shared(*ptr) && (fenced || is_said_to_change(*access)) && !self.moves_on(*ptr)
            }
            // Whoever adds something has changed it, unless that is undone.
            InstData::AtomicRmw { op: AtomicOp::Add | AtomicOp::Sub, arg, ptr, .. } => {
                self.f.const_bits(*arg) == Some(0) || self.counts_both_ways(*ptr)
            }
            InstData::AtomicRmw { ptr, .. } => !self.moves_on(*ptr),
            InstData::AtomicCas { ptr, .. } => !self.is_retry(data) && !self.moves_on(*ptr),
            _ => false,
        }
    }

    /// Whether something is added at a place in two ways.
    fn counts_both_ways(&self, place: Value) -> bool {
        let counts = |data: &InstData| match data {
            InstData::AtomicRmw { op: AtomicOp::Add | AtomicOp::Sub, ptr, .. } => *ptr == place,
            _ => false,
        };
        self.all().filter(|data| counts(data)).count() > 1
    }

    /// Whether an address is another one in every round, as far as that shows: that of this round or of the next.
    fn moves_on(&self, ptr: Value) -> bool {
        let mut seen = EntitySet::new();
        let mut work = vec![ptr];
        while let Some(value) = work.pop() {
            if !seen.insert(value) {
                continue;
            }
            if self.moving.contains(value) {
                return true;
            }
            if let ValueDef::Result(inst, _) = self.f.values[value].def
                && self.inside.contains(inst)
            {
                match &self.f.insts[inst].data {
                    InstData::Load { .. } | InstData::AtomicRmw { .. } | InstData::AtomicCas { .. } => {}
                    data => data.for_each_arg(|arg| work.push(arg)),
                }
            }
        }
        false
    }

    /// The parameters of the header to which each way back gives another value, and these values.
    fn find_moving(&mut self) {
        let header = self.data.header;
        for (place, &param) in (0..).zip(&self.f.blocks[header].params) {
            let back = self.incoming(header, place).filter(|&(from, _)| self.forest.contains(self.l, from));
            let back: Vec<Value> = back.map(|(_, arg)| arg).collect();
            if back.iter().all(|&arg| self.is_step(param, arg, &mut Vec::new())) {
                self.moving.insert(param);
                self.moving.extend(back);
            }
        }
    }

    /// Whether a value is another one than `param`: some more or less, also in a ring, or what an exchange found instead.
    fn is_step(&self, param: Value, value: Value, seen: &mut Vec<Value>) -> bool {
        use BinaryOp::{Add, And, Sub, Urem};
        if seen.contains(&value) {
            return true;
        }
        seen.push(value);
        let constant = |value: Value| self.f.const_bits(value);
        match self.f.values[value].def {
            ValueDef::Param(block, place) if block != self.data.header && self.forest.contains(self.l, block) => {
                self.incoming(block, place).all(|(_, arg)| self.is_step(param, arg, seen))
            }
            ValueDef::Result(inst, 0) => match &self.f.insts[inst].data {
                InstData::Binary { op: Add, args: [a, b], .. } if self.is_found_and_done(*a, *b, param) => true,
                InstData::Binary { op: Add | Sub, args: [a, b], .. } => {
                    let is_param = |value: Value| value == param;
                    is_param(*a) && constant(*b).is_some_and(|by| by != 0)
                        || is_param(*b) && constant(*a).is_some_and(|by| by != 0)
                }
                InstData::PtrAdd { base, offset, .. } => *base == param && constant(*offset).is_some_and(|by| by != 0),
                InstData::Binary { op: And | Urem, args: [a, _], .. } => self.is_step(param, *a, seen),
                InstData::Unary {
                    op: UnaryOp::Trunc | UnaryOp::Zext | UnaryOp::Sext | UnaryOp::Freeze, arg, ..
                } => self.is_step(param, *arg, seen),
                InstData::Ternary { op: TernaryOp::Select, args: [_, a, b], .. } => {
                    self.is_step(param, *a, seen) && self.is_step(param, *b, seen)
                }
                InstData::AtomicCas { expected, .. } => *expected == param,
                _ => false,
            },
            _ => false,
        }
    }

    /// Whether two values are what an exchange found that expected `expected`, and 1 if it was done.
    fn is_found_and_done(&self, found: Value, done: Value, expected: Value) -> bool {
        let ValueDef::Result(exchange, 0) = self.f.values[found].def else { return false };
        let InstData::AtomicCas { expected: own, .. } = self.f.insts[exchange].data else { return false };
        let ValueDef::Result(widened, 0) = self.f.values[done].def else { return false };
        let InstData::Unary { op: UnaryOp::Zext, arg, .. } = self.f.insts[widened].data else { return false };
        own == expected && self.f.values[arg].def == ValueDef::Result(exchange, 1)
    }

    /// What edges give a block's parameter, with the blocks that they come from.
    fn incoming(&self, block: Block, place: u32) -> impl Iterator<Item = (Block, Value)> {
        self.graph.preds(block).iter().flat_map(move |&pred| {
            let targets = self.f.blocks[pred].term.targets();
            let args = targets.iter().filter(|to| to.block == block).map(|to| to.args[place as usize]);
            args.map(|arg| (pred, arg)).collect::<Vec<_>>()
        })
    }

    /// Whether a compare-and-exchange that fails shows that others got on: it expects what was read in the loop.
    fn is_retry(&self, data: &InstData) -> bool {
        let InstData::AtomicCas { expected, .. } = data else { return false };
        self.changes(*expected) && self.is_as_read(*expected, *expected, &mut Vec::new())
    }

    /// Whether a value is what some access read, or one that this work-item has put there itself: `of` and more.
    fn is_as_read(&self, of: Value, value: Value, seen: &mut Vec<Value>) -> bool {
        if seen.contains(&value) {
            return true;
        }
        seen.push(value);
        match self.f.values[value].def {
            ValueDef::Const(_) => false,
            ValueDef::Param(block, place) => self.incoming(block, place).all(|(from, arg)| {
                // What the first round expects is a guess.
                block == self.data.header && !self.forest.contains(self.l, from) || self.is_as_read(of, arg, seen)
            }),
            ValueDef::Result(inst, result) => match &self.f.insts[inst].data {
                InstData::Load { .. } => true,
                InstData::AtomicRmw { .. } | InstData::AtomicCas { .. } => result == 0,
                InstData::Unary { op: UnaryOp::Bitcast | UnaryOp::Freeze, arg, .. } => self.is_as_read(of, *arg, seen),
                InstData::Ternary { op: TernaryOp::Select, args: [_, a, b], .. } => {
                    self.is_as_read(of, *a, seen) && self.is_as_read(of, *b, seen)
                }
                InstData::Binary { op: BinaryOp::Add, args: [a, b], .. } if self.is_found_and_done(*a, *b, of) => true,
                InstData::Binary { op: BinaryOp::Add, args: [a, b], .. } => {
                    *a == of && self.f.const_bits(*b).is_some_and(|by| by != 0)
                }
                _ => false,
            },
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
            ValueDef::Result(inst, _) => self.inside.contains(inst),
        }
    }

    /// Whether a compare-and-exchange whose result this is was such a one.
    fn is_tried_again(&self, old: Value, with: Value) -> bool {
        let ValueDef::Result(inst, 0) = self.f.values[old].def else { return false };
        let data = &self.f.insts[inst].data;
        matches!(data, InstData::AtomicCas { expected, .. } if *expected == with) && self.is_retry(data)
    }

    /// Whether what is known to depend on others decides where a block goes on.
    fn decides(&self, block: Block) -> bool {
        self.f.blocks[block].term.selector().is_some_and(|selector| self.known.contains(selector))
    }

    /// One walk over the loop.
    fn spread(&mut self) {
        let f = self.f;
        let in_private = self.keeps_known_in_private();
        for &block in &self.data.blocks {
            for node in f.blocks[block].insts.iter().map(|&inst| &f.insts[inst]) {
                if self.depends(&node.data, in_private) {
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

    /// Whether a result depends on what is known to; `in_private`: what is read from private memory does.
    fn depends(&self, data: &InstData, in_private: bool) -> bool {
        match data {
            InstData::Icmp { args: [a, b], .. } if self.is_tried_again(*a, *b) || self.is_tried_again(*b, *a) => false,
            // Of an exchange that is tried again, only a new try depends on what was found before.
            InstData::AtomicCas { .. } if self.is_retry(data) => false,
            // What was put into private memory may be read again from there.
            InstData::Load { ptr, .. } if !self.is_shared(*ptr) => in_private,
            data => {
                let mut any = false;
                data.for_each_arg(|arg| any |= self.known.contains(arg));
                any
            }
        }
    }

    fn keeps_known_in_private(&self) -> bool {
        self.all().any(|data| match data {
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
