//! Loops whose last iteration becomes code of its own, where that lets a load move.
//!
//! What one path of an iteration reads, each path of the next one reads: `a[i + 1]` in an arm, `a[i]` behind it (Figure 6 of the paper). In
//! front of the arm every path accesses the place, but in the last iteration, which has no next one. The paper loads there past the
//! end; here that iteration stands behind the loop, and loads nothing that it did not load.
//!
//! Requires: a region in normal form and its flow.
//! Ensures: normal form. Each work-item does what it did, iteration by iteration. Only loops change with a load that could move if they went
//! on for ever.
//! Phases: small innermost loops that one branch leaves, behind all else, by a counter; a copy of the iteration that leads to the exit; the
//! branch asks of the next iteration what it asked of this one, and so does one in front of the loop.
//! Source: none; peeling of the last iteration.
//!
//! ```text
//! b1(i): …                                       b0: br i0 + 1 < n, b1(i0), b3(i0)
//!        br i + 1 < n, b1(i + 1), b2      =>     b1(i): …
//!                                                       br i + 2 < n, b1(i + 1), b3(i + 1)
//!                                                b3(i): …; jump b2
//! ```

use super::availability::{Availability, Question};
use super::flow::Flow;
use super::rewriting::Rewriting;
use super::speculation::Speculation;
use crate::analysis::loops::{Loop, LoopData};
use crate::ir::{Block, BlockCall, Function, InstData, IntCc, SourceLoc, Terminator, Value, ValueDef};
use crate::transform::copy::{Copies, copy_blocks};
use crate::transform::normalize::normalize_function;
use lockstep_protocol::types::Type;

/// Instructions of a loop that gets a second copy of its iteration.
const MOST_INSTS: usize = 150;
/// Loops of a region that do.
const MOST_LOOPS: usize = 4;

/// A loop that one branch leaves, behind all else that an iteration does, when a counter comes to a bound.
struct CountedLoop {
    blocks: Vec<Block>,
    preheader: Block,
    header: Block,
    latch: Block,
    /// The block with the branch.
    last: Block,
    comparison: IntCc,
    bound: Value,
    /// The counter, a parameter of the header, by its index, and what is added to it for the branch to compare.
    counter: usize,
    step: InstData,
    /// Whether the loop goes on where the comparison holds.
    goes_on: bool,
    exit: BlockCall,
    location: SourceLoc,
}

/// Gives the last iterations of loops code of their own, where loads can move in front of branches then; whether there were such loops.
pub(super) fn separate_last_iterations(flow: &Flow<'_>, function: &mut Function, before_all_branches: bool) -> bool {
    let is_wanted = |&(loop_id, _): &(Loop, &LoopData)| has_loads_to_move(flow, function, loop_id, before_all_branches);
    let innermost = flow.loops.iter().filter(|&(loop_id, loop_data)| {
        loop_data.blocks.iter().all(|&block| flow.loops.innermost_loop(block) == Some(loop_id))
    });
    let counted: Vec<CountedLoop> = innermost
        .filter(|(_, loop_data)| is_small(function, loop_data))
        .filter(is_wanted)
        .filter_map(|(loop_id, loop_data)| find_counted_loop(flow, function, loop_id, loop_data))
        .take(MOST_LOOPS)
        .collect();
    for counted_loop in &counted {
        counted_loop.separate_last(function);
    }
    if !counted.is_empty() {
        normalize_function(function);
    }
    !counted.is_empty()
}

fn is_small(function: &Function, loop_data: &LoopData) -> bool {
    let counts = loop_data.blocks.iter().map(|&block| function.blocks[block].insts.len());
    counts.sum::<usize>() <= MOST_INSTS
}

/// Whether a loop has a load that could move if the loop went on for ever, and cannot as it does not.
fn has_loads_to_move(flow: &Flow<'_>, function: &Function, loop_id: Loop, before_all_branches: bool) -> bool {
    let rewriting = Rewriting::default();
    flow.loops.get(loop_id).blocks.iter().any(|&block| {
        let may_move = before_all_branches || flow.dependent_blocks.contains(block);
        let loads = flow.memory.events[block].iter().filter(|_| may_move).filter_map(|event| {
            let access = event.access.as_ref().filter(|access| !access.is_store)?;
            Some((event.position, access))
        });
        loads.into_iter().any(|(position, access)| {
            let question = |endless: Option<Loop>| Question {
                flow,
                function,
                rewriting: &rewriting,
                access,
                keeps_uniform: true,
                depth: u32::MAX,
                endless,
            };
            let destinations = |endless: Option<Loop>| {
                Speculation::new(&question(endless), before_all_branches).find_destinations(block, position)
            };
            let stays_inside = |(to, _): &(Block, _)| flow.loops.contains(loop_id, *to);
            let found = destinations(Some(loop_id));
            !found.is_empty()
                && found.iter().all(stays_inside)
                && destinations(None).is_empty()
                && matches!(question(None).ask(block, position), Availability::Unknown(_))
        })
    })
}

fn find_counted_loop(flow: &Flow<'_>, function: &Function, loop_id: Loop, loop_data: &LoopData) -> Option<CountedLoop> {
    let inside = |block: Block| flow.loops.contains(loop_id, block);
    let (&[(last, exit_block)], &[latch], header) = (&loop_data.exits[..], &loop_data.latches[..], loop_data.header)
    else {
        return None;
    };
    let mut entries = flow.edges.predecessors(header).iter().copied().filter(|&block| !inside(block));
    let (Some(preheader), None) = (entries.next(), entries.next()) else { return None };
    let Terminator::Branch { condition, then_to, else_to } = &function.blocks[last].terminator else { return None };
    let (goes_on, exit, onward) =
        if then_to.block == exit_block { (false, then_to, else_to) } else { (true, else_to, then_to) };
    let is_plain_latch =
        onward.block == latch && onward.arguments.is_empty() && function.blocks[latch].insts.is_empty();
    if !is_plain_latch || !matches!(function.blocks[preheader].terminator, Terminator::Jump(_)) {
        return None;
    }
    let ValueDef::Result(compare, _) = function.values[*condition].definition else { return None };
    let InstData::Icmp { comparison, arguments: [next, bound] } = function.insts[compare].data else { return None };
    let ValueDef::Result(add, _) = function.values[next].definition else { return None };
    let step = function.insts[add].data.clone();
    let InstData::Binary { arguments: [counter, amount], .. } = step else { return None };
    let ValueDef::Param(home, index) = function.values[counter].definition else { return None };
    let is_invariant = |value: Value| flow.memory.home_of(function, value).is_none_or(|(home, _)| !inside(home));
    if home != header || !is_invariant(amount) || !is_invariant(bound) {
        return None;
    }
    Some(CountedLoop {
        blocks: flow.edges.reverse_post_order().iter().copied().filter(|&block| inside(block)).collect(),
        preheader,
        header,
        latch,
        last,
        comparison,
        bound,
        counter: index as usize,
        step,
        goes_on,
        exit: exit.clone(),
        location: function.insts[compare].location,
    })
}

impl CountedLoop {
    fn separate_last(&self, function: &mut Function) {
        let copies = copy_blocks(function, &self.blocks, &Copies::default());
        let [last_copy, latch_copy, header_copy] =
            [self.last, self.latch, self.header].map(|block| copies.block_copy(block));
        let mut exit = self.exit.clone();
        exit.arguments.iter_mut().for_each(|argument| *argument = copies.value_copy(*argument));
        function.blocks[last_copy].terminator = Terminator::Jump(exit);
        function.layout.retain(|&block| block != latch_copy);
        for (block, onward) in [(self.preheader, self.header), (self.last, self.latch)] {
            let source = if block == self.last { self.latch } else { block };
            let Terminator::Jump(entry) = function.blocks[source].terminator.clone() else { continue };
            // The branch of the iteration that comes then.
            let condition = self.compare_next(function, block, entry.arguments[self.counter]);
            let away = function.add_block();
            function.blocks[away].terminator =
                Terminator::Jump(BlockCall { block: header_copy, arguments: entry.arguments.clone() });
            let onward = if onward == self.latch {
                self.latch
            } else {
                let enter = function.add_block();
                function.blocks[enter].terminator = Terminator::Jump(entry);
                enter
            };
            let [onward, away] = [onward, away].map(|block| BlockCall { block, arguments: Vec::new() });
            let (then_to, else_to) = if self.goes_on { (onward, away) } else { (away, onward) };
            function.blocks[block].terminator = Terminator::Branch { condition, then_to, else_to };
        }
    }

    /// What the loop's branch asks in an iteration with this counter, computed at the end of a block.
    fn compare_next(&self, function: &mut Function, block: Block, counter: Value) -> Value {
        let mut step = self.step.clone();
        if let InstData::Binary { arguments: [left, _], .. } = &mut step {
            *left = counter;
        }
        let counter_type = function.ty(counter);
        let next = function.append_inst(block, step, &[counter_type], self.location);
        let arguments = [function.single_result(next), self.bound];
        let compare = InstData::Icmp { comparison: self.comparison, arguments };
        let compare = function.append_inst(block, compare, &[Type::BOOL], self.location);
        function.single_result(compare)
    }
}
