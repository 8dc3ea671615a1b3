//! Loops in which a work-item may wait for what another one does.
//!
//! Requires: a function of reducible control flow, before it is cut at its barriers. Functions that it calls have no such loops (the
//! front end inlines those that might), but may read what others write, or order accesses.
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
use cranelift_entity::{EntitySet, SecondaryMap};
use lockstep_protocol::types::{Space, Type};

/// The headers of these loops, inner loops before those around them.
///
/// `reads_of_others` tells of the functions that are called whether they read what others write, or order accesses.
pub fn insert_yields(function: &Function, reads_of_others: &SecondaryMap<Callee, bool>) -> Vec<Block> {
    let is_way_to_wait = |inst_data: &InstData| {
        is_read_of_others(inst_data)
            || matches!(inst_data, InstData::Fence { .. } | InstData::GangBarrier | InstData::Call { .. })
    };
    if !function.insts.values().any(|inst_node| is_way_to_wait(&inst_node.data)) {
        return Vec::new();
    }
    let flow_graph = build_cfg(function);
    let dominators = compute_dominators(&flow_graph);
    let loop_forest = find_loops(&flow_graph, &dominators);
    let mut yield_blocks: Vec<Block> = Vec::new();
    for (loop_id, loop_data) in loop_forest.iter().rev() {
        // What an inner loop waits for it waits for there.
        let is_in_inner_loop = |block: Block| {
            loop_forest.loops_around(block).any(|other_loop| yield_blocks.contains(&loop_forest.get(other_loop).header))
        };
        let own_blocks: Vec<Block> =
            loop_data.blocks.iter().copied().filter(|&block| !is_in_inner_loop(block)).collect();
        let mut inside = EntitySet::new();
        loop_data.blocks.iter().flat_map(|&block| &function.blocks[block].insts).for_each(|&instruction| {
            inside.insert(instruction);
        });
        let (flow_graph, dominators, loop_forest) = (&flow_graph, &dominators, &loop_forest);
        let [known_values, moving] = [EntitySet::new(), EntitySet::new()];
        let waiting = Waiting {
            function,
            reads_of_others,
            graph: flow_graph,
            dominators,
            forest: loop_forest,
            loop_id,
            data: loop_data,
            inside,
            moving,
            known: known_values,
            learnt: false,
        };
        if waiting.leaves_by(&own_blocks) {
            yield_blocks.push(loop_data.header);
        }
    }
    yield_blocks
}

/// Which functions read what others may write meanwhile, or order accesses, themselves or in what they call.
pub fn find_reads_of_others(module: &Module) -> SecondaryMap<Callee, bool> {
    let mut reads_of_others: SecondaryMap<Callee, bool> = SecondaryMap::new();
    // Each function stands behind those that it calls.
    for (callee, code) in &module.functions {
        let mut instructions = code.regions.values().flat_map(|function| function.insts.values());
        reads_of_others[callee] = instructions.any(|inst_node| match &inst_node.data {
            InstData::Call { callee, .. } => reads_of_others[*callee],
            InstData::Fence { .. } => true,
            inst_data => is_read_of_others(inst_data),
        });
    }
    reads_of_others
}

/// Whether a work-item may wait for others outside barriers, in a kernel whose loops of this kind are marked.
pub fn may_wait(kernel: &Kernel) -> bool {
    kernel.regions.values().any(region_may_wait)
}

/// The same of a region.
pub fn region_may_wait(function: &Function) -> bool {
    let mut instructions = function.layout.iter().flat_map(|&block| &function.blocks[block].insts);
    instructions.any(|&instruction| function.insts[instruction].data == InstData::Yield)
}

/// Whether an instruction reads what others may write meanwhile, as far as the program says so.
fn is_read_of_others(inst_data: &InstData) -> bool {
    match inst_data {
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
    reads_of_others: &'a SecondaryMap<Callee, bool>,
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
    /// Whether what the blocks `own_blocks` read decides if the loop is left.
    fn leaves_by(mut self, own_blocks: &[Block]) -> bool {
        if self.meets_in_every_round() || self.data.latches.iter().all(|&latch| self.is_behind_failure(latch)) {
            return false;
        }
        self.find_moving();
        let function = self.function;
        let instructions = || {
            own_blocks
                .iter()
                .flat_map(|&block| &function.blocks[block].insts)
                .map(|&instruction| &function.insts[instruction])
        };
        // Where fences order plain accesses, these are how one waits.
        let fenced = instructions().any(|inst_node| self.orders_accesses(&inst_node.data));
        for inst_node in instructions() {
            if self.begins_dependence(&inst_node.data, fenced) {
                self.mark_dependent(&inst_node.results);
            }
        }
        while std::mem::take(&mut self.learnt) {
            self.spread_once();
        }
        let decisive = |&block: &Block| self.is_dependent_branch(block) && self.leads_out_or_not(block);
        self.data.blocks.iter().any(decisive)
    }

    fn orders_accesses(&self, inst_data: &InstData) -> bool {
        matches!(inst_data, InstData::Fence { .. } | InstData::GangBarrier) || self.calls_reader(inst_data)
    }

    /// Whether a function is called that reads what others write, or orders accesses.
    fn calls_reader(&self, inst_data: &InstData) -> bool {
        matches!(inst_data, InstData::Call { callee, .. } if self.reads_of_others[*callee])
    }

    /// Whether all work-items of the group come to one place in every round: nobody waits for others in between.
    fn meets_in_every_round(&self) -> bool {
        let meets = |&instruction: &Inst| {
            matches!(self.function.insts[instruction].data, InstData::Barrier | InstData::Collective { .. })
        };
        let always = |block: Block| self.data.latches.iter().all(|&latch| self.dominators.dominates(block, latch));
        self.data.blocks.iter().any(|&block| always(block) && self.function.blocks[block].insts.iter().any(meets))
    }

    /// Whether the next round begins only because an exchange failed that expected what had been read.
    fn is_behind_failure(&self, latch: Block) -> bool {
        let header = self.data.header;
        let (mut block, mut previous) = (latch, header);
        loop {
            let is_only_way = previous == header || self.graph.predecessors(previous).len() == 1;
            if is_only_way && self.fails_into(block, previous) {
                return true;
            }
            match self.dominators.immediate_dominator(block) {
                Some(before) if block != header => (block, previous) = (before, block),
                _ => return false,
            }
        }
    }

    /// Whether a branch goes on in `target` if such an exchange failed, and elsewhere otherwise.
    fn fails_into(&self, block: Block, target: Block) -> bool {
        let Terminator::Branch { condition, then_to, else_to } = &self.function.blocks[block].terminator else {
            return false;
        };
        self.failure_value(*condition).is_some_and(|failed| {
            let (failure_edge, success_edge) = if failed { (then_to, else_to) } else { (else_to, then_to) };
            failure_edge.block == target && success_edge.block != target
        })
    }

    /// Which value of a condition says that such an exchange failed.
    fn failure_value(&self, condition: Value) -> Option<bool> {
        let ValueDef::Result(instruction, result) = self.function.values[condition].definition else { return None };
        match &self.function.insts[instruction].data {
            inst_data @ InstData::AtomicCas { .. } if result == 1 && self.is_retry(inst_data) => Some(false),
            InstData::Icmp { comparison: comparison @ (IntCc::Eq | IntCc::Ne), arguments: [left, right] } => {
                let is_retried = self.is_tried_again(*left, *right) || self.is_tried_again(*right, *left);
                is_retried.then_some(*comparison == IntCc::Ne)
            }
            _ => None,
        }
    }

    /// Whether the loop is left from a block, or one way on from there may leave it in this round and another one may not.
    fn leads_out_or_not(&self, block: Block) -> bool {
        let successors = self.graph.successors(block);
        let ways_out = successors.iter().filter(|&&successor| self.leads_out(successor)).count();
        successors.iter().any(|&successor| !self.forest.contains(self.loop_id, successor))
            || ways_out > 0 && ways_out < successors.len()
    }

    /// Whether the loop may be left from a block in the same round.
    fn leads_out(&self, first_block: Block) -> bool {
        let mut visited = EntitySet::new();
        let mut worklist = vec![first_block];
        while let Some(block) = worklist.pop() {
            if !self.forest.contains(self.loop_id, block) {
                return true;
            }
            if block != self.data.header && visited.insert(block) {
                worklist.extend_from_slice(self.graph.successors(block));
            }
        }
        false
    }

    /// The loop's instructions.
    fn loop_instructions(&self) -> impl Iterator<Item = &InstData> {
        let instructions = self.data.blocks.iter().flat_map(|&block| &self.function.blocks[block].insts);
        instructions.map(|&instruction| &self.function.insts[instruction].data)
    }

    fn mark_dependent(&mut self, values: &[Value]) {
        for &value in values {
            self.learnt |= self.known.insert(value);
        }
    }

    /// Whether a loop may wait for what this instruction reads.
    fn begins_dependence(&self, inst_data: &InstData, fenced: bool) -> bool {
        match inst_data {
            InstData::Load { pointer, access, .. } => {
                (self.is_shared(*pointer) || self.calls_functions())
                    && (fenced || is_said_to_change(*access))
                    && !self.moves_on(*pointer)
            }
            // Whoever adds something has changed it, unless that is undone.
            InstData::AtomicRmw { opcode: AtomicOp::Add | AtomicOp::Sub, argument, pointer, .. } => {
                self.function.const_bits(*argument) == Some(0) || self.counts_both_ways(*pointer)
            }
            InstData::AtomicRmw { pointer, .. } => !self.moves_on(*pointer),
            InstData::AtomicCas { pointer, .. } => !self.is_retry(inst_data) && !self.moves_on(*pointer),
            inst_data => self.calls_reader(inst_data),
        }
    }

    /// Whether functions are called, which may leave anywhere what they read.
    fn calls_functions(&self) -> bool {
        self.loop_instructions().any(|inst_data| matches!(inst_data, InstData::Call { .. }))
    }

    /// Whether something is added at a place in two ways.
    fn counts_both_ways(&self, address: Value) -> bool {
        let counts = |inst_data: &InstData| match inst_data {
            InstData::AtomicRmw { opcode: AtomicOp::Add | AtomicOp::Sub, pointer, .. } => *pointer == address,
            _ => false,
        };
        self.loop_instructions().filter(|inst_data| counts(inst_data)).count() > 1
    }

    /// Whether an address is another one in every round, as far as that shows: that of this round or of the next.
    fn moves_on(&self, pointer: Value) -> bool {
        let mut visited = EntitySet::new();
        let mut worklist = vec![pointer];
        while let Some(value) = worklist.pop() {
            if !visited.insert(value) {
                continue;
            }
            if self.moving.contains(value) {
                return true;
            }
            if let ValueDef::Result(instruction, _) = self.function.values[value].definition
                && self.inside.contains(instruction)
            {
                match &self.function.insts[instruction].data {
                    InstData::Load { .. } | InstData::AtomicRmw { .. } | InstData::AtomicCas { .. } => {}
                    inst_data => inst_data.for_each_arg(|argument| worklist.push(argument)),
                }
            }
        }
        false
    }

    /// The parameters of the header to which each way back gives another value, and these values.
    fn find_moving(&mut self) {
        let header = self.data.header;
        for (place, &parameter) in (0..).zip(&self.function.blocks[header].params) {
            let carried =
                self.incoming_values(header, place).filter(|&(source, _)| self.forest.contains(self.loop_id, source));
            let carried: Vec<Value> = carried.map(|(_, argument)| argument).collect();
            if carried.iter().all(|&argument| self.is_step(parameter, argument, &mut Vec::new())) {
                self.moving.insert(parameter);
                self.moving.extend(carried);
            }
        }
    }

    /// Whether a value is another one than `parameter`: some more or less, also in a ring, or what an exchange found instead.
    fn is_step(&self, parameter: Value, value: Value, visited: &mut Vec<Value>) -> bool {
        use BinaryOp::{Add, And, Sub, Urem};
        if visited.contains(&value) {
            return true;
        }
        visited.push(value);
        let constant = |value: Value| self.function.const_bits(value);
        match self.function.values[value].definition {
            ValueDef::Param(block, place) if block != self.data.header && self.forest.contains(self.loop_id, block) => {
                self.incoming_values(block, place).all(|(_, argument)| self.is_step(parameter, argument, visited))
            }
            ValueDef::Result(instruction, 0) => match &self.function.insts[instruction].data {
                InstData::Binary { opcode: Add, arguments: [left, right], .. }
                    if self.is_found_and_done(*left, *right, parameter) =>
                {
                    true
                }
                InstData::Binary { opcode: Add | Sub, arguments: [left, right], .. } => {
                    let is_param = |value: Value| value == parameter;
                    is_param(*left) && constant(*right).is_some_and(|increment| increment != 0)
                        || is_param(*right) && constant(*left).is_some_and(|increment| increment != 0)
                }
                InstData::PtrAdd { base, offset, .. } => {
                    *base == parameter && constant(*offset).is_some_and(|increment| increment != 0)
                }
                InstData::Binary { opcode: And | Urem, arguments: [left, _], .. } => {
                    self.is_step(parameter, *left, visited)
                }
                InstData::Unary {
                    opcode: UnaryOp::Trunc | UnaryOp::Zext | UnaryOp::Sext | UnaryOp::Freeze,
                    argument,
                    ..
                } => self.is_step(parameter, *argument, visited),
                InstData::Ternary { opcode: TernaryOp::Select, arguments: [_, left, right], .. } => {
                    self.is_step(parameter, *left, visited) && self.is_step(parameter, *right, visited)
                }
                InstData::AtomicCas { expected, .. } => *expected == parameter,
                _ => false,
            },
            _ => false,
        }
    }

    /// Whether two values are what an exchange found that expected `expected`, and 1 if it was done.
    fn is_found_and_done(&self, found_value: Value, done_value: Value, expected: Value) -> bool {
        let ValueDef::Result(exchange, 0) = self.function.values[found_value].definition else { return false };
        let InstData::AtomicCas { expected: expected_value, .. } = self.function.insts[exchange].data else {
            return false;
        };
        let ValueDef::Result(widened, 0) = self.function.values[done_value].definition else { return false };
        let InstData::Unary { opcode: UnaryOp::Zext, argument, .. } = self.function.insts[widened].data else {
            return false;
        };
        expected_value == expected && self.function.values[argument].definition == ValueDef::Result(exchange, 1)
    }

    /// What edges give a block's parameter, with the blocks that they come from.
    fn incoming_values(&self, block: Block, position: u32) -> impl Iterator<Item = (Block, Value)> {
        let edges = self.graph.predecessors(block).iter().flat_map(|&predecessor| {
            let targets = self.function.blocks[predecessor].terminator.targets();
            targets.into_iter().map(move |target| (predecessor, target))
        });
        let incoming = edges.filter(move |(_, target)| target.block == block);
        incoming.map(move |(predecessor, target)| (predecessor, target.arguments[position as usize]))
    }

    /// Whether a compare-and-exchange that fails shows that others got on: it expects what was read in the loop.
    fn is_retry(&self, inst_data: &InstData) -> bool {
        let InstData::AtomicCas { expected, .. } = inst_data else { return false };
        self.is_computed_here(*expected) && self.is_as_read(*expected, *expected, &mut Vec::new())
    }

    /// Whether a value is what some access read, or one that this work-item has put there itself: `read_value` and more.
    fn is_as_read(&self, read_value: Value, value: Value, visited: &mut Vec<Value>) -> bool {
        if visited.contains(&value) {
            return true;
        }
        visited.push(value);
        match self.function.values[value].definition {
            ValueDef::Const(_) => false,
            ValueDef::Param(block, place) => self.incoming_values(block, place).all(|(source, argument)| {
                // What the first round expects is a guess.
                block == self.data.header && !self.forest.contains(self.loop_id, source)
                    || self.is_as_read(read_value, argument, visited)
            }),
            ValueDef::Result(instruction, result) => match &self.function.insts[instruction].data {
                InstData::Load { .. } => true,
                InstData::AtomicRmw { .. } | InstData::AtomicCas { .. } => result == 0,
                InstData::Unary { opcode: UnaryOp::Bitcast | UnaryOp::Freeze, argument, .. } => {
                    self.is_as_read(read_value, *argument, visited)
                }
                InstData::Ternary { opcode: TernaryOp::Select, arguments: [_, left, right], .. } => {
                    self.is_as_read(read_value, *left, visited) && self.is_as_read(read_value, *right, visited)
                }
                InstData::Binary { opcode: BinaryOp::Add, arguments: [left, right], .. }
                    if self.is_found_and_done(*left, *right, read_value) =>
                {
                    true
                }
                InstData::Binary { opcode: BinaryOp::Add, arguments: [left, right], .. } => {
                    *left == read_value && self.function.const_bits(*right).is_some_and(|increment| increment != 0)
                }
                _ => false,
            },
        }
    }

    fn is_shared(&self, pointer: Value) -> bool {
        !matches!(self.function.ty(pointer), Type::Ptr(Space::Private | Space::Constant))
    }

    /// Whether a value is computed in the loop.
    fn is_computed_here(&self, value: Value) -> bool {
        match self.function.values[value].definition {
            ValueDef::Const(_) => false,
            ValueDef::Param(block, _) => self.forest.contains(self.loop_id, block),
            ValueDef::Result(instruction, _) => self.inside.contains(instruction),
        }
    }

    /// Whether a compare-and-exchange whose result this is was such a one.
    fn is_tried_again(&self, old_value: Value, new_value: Value) -> bool {
        let ValueDef::Result(instruction, 0) = self.function.values[old_value].definition else { return false };
        let inst_data = &self.function.insts[instruction].data;
        matches!(inst_data, InstData::AtomicCas { expected, .. } if *expected == new_value) && self.is_retry(inst_data)
    }

    /// Whether what is known to depend on others decides where a block goes on.
    fn is_dependent_branch(&self, block: Block) -> bool {
        self.function.blocks[block].terminator.selector().is_some_and(|selector| self.known.contains(selector))
    }

    /// One walk over the loop.
    fn spread_once(&mut self) {
        let function = self.function;
        let in_private = self.keeps_known_in_private();
        for &block in &self.data.blocks {
            for inst_node in function.blocks[block].insts.iter().map(|&instruction| &function.insts[instruction]) {
                if self.result_depends(&inst_node.data, in_private) {
                    self.mark_dependent(&inst_node.results);
                }
            }
            for target in function.blocks[block].terminator.targets() {
                for (&parameter, &argument) in function.blocks[target.block].params.iter().zip(&target.arguments) {
                    if self.known.contains(argument) {
                        self.mark_dependent(&[parameter]);
                    }
                }
            }
            if self.is_dependent_branch(block) {
                self.meet_behind(block);
            }
        }
    }

    /// Whether a result depends on what is known to; `in_private`: what is read from private memory does.
    fn result_depends(&self, inst_data: &InstData, in_private: bool) -> bool {
        match inst_data {
            InstData::Icmp { arguments: [left, right], .. }
                if self.is_tried_again(*left, *right) || self.is_tried_again(*right, *left) =>
            {
                false
            }
            // Of an exchange that is tried again, only a new try depends on what was found before.
            InstData::AtomicCas { .. } if self.is_retry(inst_data) => false,
            // What was put into private memory may be read again from there.
            InstData::Load { pointer, .. } if !self.is_shared(*pointer) => in_private,
            inst_data => {
                let mut depends = false;
                inst_data.for_each_arg(|argument| depends |= self.known.contains(argument));
                depends
            }
        }
    }

    fn keeps_known_in_private(&self) -> bool {
        let is_known = |&argument: &Value| self.known.contains(argument);
        self.loop_instructions().any(|inst_data| match inst_data {
            InstData::Call { .. } => self.calls_reader(inst_data),
            InstData::Store { pointer, arguments, .. } => !self.is_shared(*pointer) && arguments.iter().any(is_known),
            _ => false,
        })
    }

    /// The way that a branch took shows in the parameters of blocks behind it that are reached in different ways.
    fn meet_behind(&mut self, branch: Block) {
        let mut visited = EntitySet::new();
        let mut worklist = vec![branch];
        while let Some(block) = worklist.pop() {
            for &target in self.graph.successors(block) {
                if target == self.data.header || !self.forest.contains(self.loop_id, target) || !visited.insert(target)
                {
                    continue;
                }
                worklist.push(target);
                // What an inner loop counts changes from round to round all by itself.
                if self.graph.predecessors(target).len() > 1 && self.forest.with_header(target).is_none() {
                    self.mark_dependent(&self.function.blocks[target].params);
                }
            }
        }
        // Several ways back: that is where they meet.
        if self.data.latches.len() > 1 {
            self.mark_dependent(&self.function.blocks[self.data.header].params);
        }
    }
}
