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

use super::cfg::{Cfg, build_cfg};
use super::dominators::{Dominators, compute_dominators};
use super::loops::{Loop, LoopData, Loops, find_loops};
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
    let graph = build_cfg(f);
    let tree = compute_dominators(&graph);
    let forest = find_loops(&graph, &tree);
    let mut found: Vec<Block> = Vec::new();
    for (l, data) in forest.iter().rev() {
        // What an inner loop waits for it waits for there.
        let inner = |block: Block| forest.loops_around(block).any(|m| found.contains(&forest.get(m).header));
        let own: Vec<Block> = data.blocks.iter().copied().filter(|&block| !inner(block)).collect();
        let mut inside = EntitySet::new();
        data.blocks.iter().flat_map(|&block| &f.blocks[block].insts).for_each(|&inst| {
            inside.insert(inst);
        });
        let (graph, tree, forest) = (&graph, &tree, &forest);
        let [known, moving] = [EntitySet::new(), EntitySet::new()];
        let waiting = Waiting {
            function: f,
            graph,
            dominators: tree,
            forest,
            loop_id: l,
            data,
            inside,
            moving,
            known,
            learnt: false,
        };
        if waiting.leaves_by(&own) {
            found.push(data.header);
        }
    }
    found
}

/// Whether a work-item may wait for others outside barriers, in a kernel whose loops of this kind are marked.
pub fn may_wait(kernel: &Kernel) -> bool {
    kernel.regions.values().any(region_may_wait)
}

/// The same of a region.
pub fn region_may_wait(body: &Function) -> bool {
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
    function: &'a Function,
    graph: &'a Cfg,
    dominators: &'a Dominators,
    forest: &'a Loops,
    loop_id: Loop,
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
        let f = self.function;
        let insts = || own.iter().flat_map(|&block| &f.blocks[block].insts).map(|&inst| &f.insts[inst]);
        // Where fences order plain accesses, these are how one waits.
        let fenced = insts().any(|node| matches!(node.data, InstData::Fence { .. } | InstData::GangBarrier));
        for node in insts() {
            if self.begins_dependence(&node.data, fenced) {
                self.mark_dependent(&node.results);
            }
        }
        while std::mem::take(&mut self.learnt) {
            self.spread_once();
        }
        let decisive = |&block: &Block| self.is_dependent_branch(block) && self.leads_out_or_not(block);
        self.data.blocks.iter().any(decisive)
    }

    /// Whether all work-items of the group come to one place in every round: nobody waits for others in between.
    fn meets_in_every_round(&self) -> bool {
        let meets =
            |&inst: &Inst| matches!(self.function.insts[inst].data, InstData::Barrier | InstData::Collective { .. });
        let always = |block: Block| self.data.latches.iter().all(|&latch| self.dominators.dominates(block, latch));
        self.data.blocks.iter().any(|&block| always(block) && self.function.blocks[block].insts.iter().any(meets))
    }

    /// Whether the next round begins only because an exchange failed that expected what had been read.
    fn is_behind_failure(&self, latch: Block) -> bool {
        let header = self.data.header;
        let (mut block, mut came) = (latch, header);
        loop {
            let is_only_way = came == header || self.graph.predecessors(came).len() == 1;
            if is_only_way && self.fails_into(block, came) {
                return true;
            }
            match self.dominators.immediate_dominator(block) {
                Some(before) if block != header => (block, came) = (before, block),
                _ => return false,
            }
        }
    }

    /// Whether a branch goes on in `to` if such an exchange failed, and elsewhere otherwise.
    fn fails_into(&self, block: Block, to: Block) -> bool {
        let Terminator::Branch { condition: cond, then_to, else_to } = &self.function.blocks[block].terminator else {
            return false;
        };
        self.failure_value(*cond).is_some_and(|failed| {
            let (side, other) = if failed { (then_to, else_to) } else { (else_to, then_to) };
            side.block == to && other.block != to
        })
    }

    /// Which value of a condition says that such an exchange failed.
    fn failure_value(&self, cond: Value) -> Option<bool> {
        let ValueDef::Result(inst, result) = self.function.values[cond].definition else { return None };
        match &self.function.insts[inst].data {
            data @ InstData::AtomicCas { .. } if result == 1 && self.is_retry(data) => Some(false),
            InstData::Icmp { comparison: cc @ (IntCc::Eq | IntCc::Ne), arguments: [a, b] } => {
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
                if !self.forest.contains(self.loop_id, at) {
                    return true;
                }
                if at != self.data.header && seen.insert(at) {
                    work.extend_from_slice(self.graph.successors(at));
                }
            }
            false
        };
        let succs = self.graph.successors(block);
        let out = succs.iter().filter(|&&succ| leads_out(succ)).count();
        succs.iter().any(|&succ| !self.forest.contains(self.loop_id, succ)) || out > 0 && out < succs.len()
    }

    /// The loop's instructions.
    fn loop_instructions(&self) -> impl Iterator<Item = &InstData> {
        let insts = self.data.blocks.iter().flat_map(|&block| &self.function.blocks[block].insts);
        insts.map(|&inst| &self.function.insts[inst].data)
    }

    fn mark_dependent(&mut self, values: &[Value]) {
        for &value in values {
            self.learnt |= self.known.insert(value);
        }
    }

    /// Whether a loop may wait for what this instruction reads.
    fn begins_dependence(&self, data: &InstData, fenced: bool) -> bool {
        match data {
            InstData::Load { pointer: ptr, access, .. } => {
                self.is_shared(*ptr) && (fenced || is_said_to_change(*access)) && !self.moves_on(*ptr)
            }
            // Whoever adds something has changed it, unless that is undone.
            InstData::AtomicRmw { opcode: AtomicOp::Add | AtomicOp::Sub, argument: arg, pointer: ptr, .. } => {
                self.function.const_bits(*arg) == Some(0) || self.counts_both_ways(*ptr)
            }
            InstData::AtomicRmw { pointer: ptr, .. } => !self.moves_on(*ptr),
            InstData::AtomicCas { pointer: ptr, .. } => !self.is_retry(data) && !self.moves_on(*ptr),
            _ => false,
        }
    }

    /// Whether something is added at a place in two ways.
    fn counts_both_ways(&self, place: Value) -> bool {
        let counts = |data: &InstData| match data {
            InstData::AtomicRmw { opcode: AtomicOp::Add | AtomicOp::Sub, pointer: ptr, .. } => *ptr == place,
            _ => false,
        };
        self.loop_instructions().filter(|data| counts(data)).count() > 1
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
            if let ValueDef::Result(inst, _) = self.function.values[value].definition
                && self.inside.contains(inst)
            {
                match &self.function.insts[inst].data {
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
        for (place, &param) in (0..).zip(&self.function.blocks[header].params) {
            let back =
                self.incoming_values(header, place).filter(|&(from, _)| self.forest.contains(self.loop_id, from));
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
        let constant = |value: Value| self.function.const_bits(value);
        match self.function.values[value].definition {
            ValueDef::Param(block, place) if block != self.data.header && self.forest.contains(self.loop_id, block) => {
                self.incoming_values(block, place).all(|(_, arg)| self.is_step(param, arg, seen))
            }
            ValueDef::Result(inst, 0) => match &self.function.insts[inst].data {
                InstData::Binary { opcode: Add, arguments: [a, b], .. } if self.is_found_and_done(*a, *b, param) => {
                    true
                }
                InstData::Binary { opcode: Add | Sub, arguments: [a, b], .. } => {
                    let is_param = |value: Value| value == param;
                    is_param(*a) && constant(*b).is_some_and(|by| by != 0)
                        || is_param(*b) && constant(*a).is_some_and(|by| by != 0)
                }
                InstData::PtrAdd { base, offset, .. } => *base == param && constant(*offset).is_some_and(|by| by != 0),
                InstData::Binary { opcode: And | Urem, arguments: [a, _], .. } => self.is_step(param, *a, seen),
                InstData::Unary {
                    opcode: UnaryOp::Trunc | UnaryOp::Zext | UnaryOp::Sext | UnaryOp::Freeze,
                    argument: arg,
                    ..
                } => self.is_step(param, *arg, seen),
                InstData::Ternary { opcode: TernaryOp::Select, arguments: [_, a, b], .. } => {
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
        let ValueDef::Result(exchange, 0) = self.function.values[found].definition else { return false };
        let InstData::AtomicCas { expected: own, .. } = self.function.insts[exchange].data else { return false };
        let ValueDef::Result(widened, 0) = self.function.values[done].definition else { return false };
        let InstData::Unary { opcode: UnaryOp::Zext, argument: arg, .. } = self.function.insts[widened].data else {
            return false;
        };
        own == expected && self.function.values[arg].definition == ValueDef::Result(exchange, 1)
    }

    /// What edges give a block's parameter, with the blocks that they come from.
    fn incoming_values(&self, block: Block, place: u32) -> impl Iterator<Item = (Block, Value)> {
        self.graph.predecessors(block).iter().flat_map(move |&pred| {
            let targets = self.function.blocks[pred].terminator.targets();
            let args = targets.iter().filter(|to| to.block == block).map(|to| to.arguments[place as usize]);
            args.map(|arg| (pred, arg)).collect::<Vec<_>>()
        })
    }

    /// Whether a compare-and-exchange that fails shows that others got on: it expects what was read in the loop.
    fn is_retry(&self, data: &InstData) -> bool {
        let InstData::AtomicCas { expected, .. } = data else { return false };
        self.is_computed_here(*expected) && self.is_as_read(*expected, *expected, &mut Vec::new())
    }

    /// Whether a value is what some access read, or one that this work-item has put there itself: `of` and more.
    fn is_as_read(&self, of: Value, value: Value, seen: &mut Vec<Value>) -> bool {
        if seen.contains(&value) {
            return true;
        }
        seen.push(value);
        match self.function.values[value].definition {
            ValueDef::Const(_) => false,
            ValueDef::Param(block, place) => self.incoming_values(block, place).all(|(from, arg)| {
                // What the first round expects is a guess.
                block == self.data.header && !self.forest.contains(self.loop_id, from) || self.is_as_read(of, arg, seen)
            }),
            ValueDef::Result(inst, result) => match &self.function.insts[inst].data {
                InstData::Load { .. } => true,
                InstData::AtomicRmw { .. } | InstData::AtomicCas { .. } => result == 0,
                InstData::Unary { opcode: UnaryOp::Bitcast | UnaryOp::Freeze, argument: arg, .. } => {
                    self.is_as_read(of, *arg, seen)
                }
                InstData::Ternary { opcode: TernaryOp::Select, arguments: [_, a, b], .. } => {
                    self.is_as_read(of, *a, seen) && self.is_as_read(of, *b, seen)
                }
                InstData::Binary { opcode: BinaryOp::Add, arguments: [a, b], .. }
                    if self.is_found_and_done(*a, *b, of) =>
                {
                    true
                }
                InstData::Binary { opcode: BinaryOp::Add, arguments: [a, b], .. } => {
                    *a == of && self.function.const_bits(*b).is_some_and(|by| by != 0)
                }
                _ => false,
            },
        }
    }

    fn is_shared(&self, ptr: Value) -> bool {
        !matches!(self.function.ty(ptr), Type::Ptr(Space::Private | Space::Constant))
    }

    /// Whether a value is computed in the loop.
    fn is_computed_here(&self, value: Value) -> bool {
        match self.function.values[value].definition {
            ValueDef::Const(_) => false,
            ValueDef::Param(block, _) => self.forest.contains(self.loop_id, block),
            ValueDef::Result(inst, _) => self.inside.contains(inst),
        }
    }

    /// Whether a compare-and-exchange whose result this is was such a one.
    fn is_tried_again(&self, old: Value, with: Value) -> bool {
        let ValueDef::Result(inst, 0) = self.function.values[old].definition else { return false };
        let data = &self.function.insts[inst].data;
        matches!(data, InstData::AtomicCas { expected, .. } if *expected == with) && self.is_retry(data)
    }

    /// Whether what is known to depend on others decides where a block goes on.
    fn is_dependent_branch(&self, block: Block) -> bool {
        self.function.blocks[block].terminator.selector().is_some_and(|selector| self.known.contains(selector))
    }

    /// One walk over the loop.
    fn spread_once(&mut self) {
        let f = self.function;
        let in_private = self.keeps_known_in_private();
        for &block in &self.data.blocks {
            for node in f.blocks[block].insts.iter().map(|&inst| &f.insts[inst]) {
                if self.result_depends(&node.data, in_private) {
                    self.mark_dependent(&node.results);
                }
            }
            for to in f.blocks[block].terminator.targets() {
                for (&param, &arg) in f.blocks[to.block].params.iter().zip(&to.arguments) {
                    if self.known.contains(arg) {
                        self.mark_dependent(&[param]);
                    }
                }
            }
            if self.is_dependent_branch(block) {
                self.meet_behind(block);
            }
        }
    }

    /// Whether a result depends on what is known to; `in_private`: what is read from private memory does.
    fn result_depends(&self, data: &InstData, in_private: bool) -> bool {
        match data {
            InstData::Icmp { arguments: [a, b], .. } if self.is_tried_again(*a, *b) || self.is_tried_again(*b, *a) => {
                false
            }
            // Of an exchange that is tried again, only a new try depends on what was found before.
            InstData::AtomicCas { .. } if self.is_retry(data) => false,
            // What was put into private memory may be read again from there.
            InstData::Load { pointer: ptr, .. } if !self.is_shared(*ptr) => in_private,
            data => {
                let mut any = false;
                data.for_each_arg(|arg| any |= self.known.contains(arg));
                any
            }
        }
    }

    fn keeps_known_in_private(&self) -> bool {
        self.loop_instructions().any(|data| match data {
            InstData::Store { pointer: ptr, arguments: args, .. } => {
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
            for &to in self.graph.successors(block) {
                if to == self.data.header || !self.forest.contains(self.loop_id, to) || !seen.insert(to) {
                    continue;
                }
                work.push(to);
                // What an inner loop counts changes from round to round all by itself.
                if self.graph.predecessors(to).len() > 1 && self.forest.with_header(to).is_none() {
                    self.mark_dependent(&self.function.blocks[to].params);
                }
            }
        }
        // Several ways back: that is where they meet.
        if self.data.latches.len() > 1 {
            self.mark_dependent(&self.function.blocks[self.data.header].params);
        }
    }
}
