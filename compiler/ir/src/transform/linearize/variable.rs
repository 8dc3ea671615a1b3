//! Values that several blocks assign, on the linearized control flow.
//!
//! Requires: assignments are made in the order of the block index, and only in blocks that `top` dominates.
//! Ensures: reading gives the value of the last assignment on the way; where ways with different ones meet,
//! blocks get parameters.
//! Phases: per question, the last assignment in the reader's line of blocks; if there is none, the lines between the reader
//! and the assignments, then their values in order. So a question costs no more than the lines and assignments that it
//! meets: folded code is one long line.
//! Source: Braun et al. 2013, "Simple and Efficient Construction of Static Single Assignment Form", on
//! graphs without cycles: a variable that is assigned in a loop lives in one iteration.

use super::skeleton::Skeleton;
use crate::analysis::dominators::Dominators;
use crate::ir::{Block, Function, Inst, Value, ValueDef};
use cranelift_entity::{EntitySet, SecondaryMap};
use lockstep_protocol::types::Type;
use std::collections::{HashMap, HashSet};

/// The linearized function while it is made.
pub(super) struct Flow<'a> {
    pub function: &'a mut Function,
    pub skeleton: &'a Skeleton,
    /// Dominators of the skeleton.
    pub dominators: Dominators,
    /// The block of each instruction.
    pub home: SecondaryMap<Inst, Option<Block>>,
    /// The instructions that linearization added.
    pub added: EntitySet<Inst>,
    /// Arguments for new parameters, by edge.
    pub extra: HashMap<(Block, Block), Vec<Value>>,
}

impl Flow<'_> {
    /// Whether a value is defined at the end of a block.
    pub fn is_available(&self, value: Value, block: Block) -> bool {
        match self.function.values[value].definition {
            ValueDef::Const(_) => true,
            ValueDef::Param(home_block, _) => self.dominators.dominates(home_block, block),
            ValueDef::Result(instruction, _) => {
                self.home[instruction].is_some_and(|home_block| self.dominators.dominates(home_block, block))
            }
        }
    }
}

#[cfg(test)]
thread_local! {
    /// How many lines questions have gone back through.
    static WALKED: std::cell::Cell<usize> = const { std::cell::Cell::new(0) };
}

/// A variable of the construction of SSA form.
pub(super) struct Variable {
    ty: Type,
    /// The block at whose end it has its first value.
    top: Block,
    default: Option<Value>,
    /// By the first block of a line, the values assigned there and the places of the blocks that do, in their order.
    assigned: HashMap<Block, Vec<(u32, Value)>>,
    /// The values at the beginnings of lines.
    at_begin: HashMap<Block, Option<Value>>,
}

impl Variable {
    /// A variable that has `default` at the end of `top`; none: any value.
    pub fn new(value_type: Type, top: Block, default: Option<Value>) -> Variable {
        Variable { ty: value_type, top, default, assigned: HashMap::new(), at_begin: HashMap::new() }
    }

    /// Assigns at the end of a block.
    pub fn assign_at_end(&mut self, flow: &Flow<'_>, block: Block, value: Value) {
        let Skeleton { index, line, .. } = flow.skeleton;
        self.assigned.entry(line[block]).or_default().push((index[block], value));
    }

    /// The value at the end of a block.
    pub fn at_end(&mut self, flow: &mut Flow<'_>, block: Block) -> Option<Value> {
        self.value_before(flow, block, flow.skeleton.index[block] + 1)
    }

    /// The value at the beginning of a block.
    pub fn at_begin(&mut self, flow: &mut Flow<'_>, block: Block) -> Option<Value> {
        self.value_before(flow, block, flow.skeleton.index[block])
    }

    /// The value in the line of a block, in front of a place in the block index.
    fn value_before(&mut self, flow: &mut Flow<'_>, block: Block, position: u32) -> Option<Value> {
        let line_start = flow.skeleton.line[block];
        match self.known_before(flow.skeleton, line_start, position) {
            Some(value) => value,
            None => self.at_begin_of_line(flow, line_start),
        }
    }

    /// The value in front of a place of a line as far as the line itself or an earlier question tells.
    fn known_before(&self, skeleton: &Skeleton, line_start: Block, end_position: u32) -> Option<Option<Value>> {
        let assigned = self.assigned.get(&line_start).and_then(|values| {
            let behind = values.partition_point(|&(position, _)| position < end_position);
            values[..behind].last()
        });
        match assigned {
            Some(&(_, value)) => Some(Some(value)),
            None if skeleton.line[self.top] == line_start && skeleton.index[self.top] < end_position => {
                Some(self.default)
            }
            None => self.at_begin.get(&line_start).copied(),
        }
    }

    fn known_at_end(&self, skeleton: &Skeleton, block: Block) -> Option<Option<Value>> {
        self.known_before(skeleton, skeleton.line[block], skeleton.index[block] + 1)
    }

    fn at_begin_of_line(&mut self, flow: &mut Flow<'_>, line_start: Block) -> Option<Value> {
        let mut between = Vec::new();
        let mut visited = HashSet::new();
        let mut worklist = vec![line_start];
        while let Some(first_block) = worklist.pop() {
            if self.at_begin.contains_key(&first_block) || !visited.insert(first_block) {
                continue;
            }
            between.push(first_block);
            let unknown = |predecessor: &&Block| self.known_at_end(flow.skeleton, **predecessor).is_none();
            worklist.extend(
                flow.skeleton.preds[first_block]
                    .iter()
                    .filter(unknown)
                    .map(|&predecessor| flow.skeleton.line[predecessor]),
            );
        }
        #[cfg(test)]
        WALKED.set(WALKED.get() + between.len());
        between.sort_by_key(|&first_block| flow.skeleton.index[first_block]);
        for first_block in between {
            let value = self.meet_predecessors(flow, first_block);
            self.at_begin.insert(first_block, value);
        }
        self.at_begin.get(&line_start).copied().flatten()
    }

    fn meet_predecessors(&self, flow: &mut Flow<'_>, block: Block) -> Option<Value> {
        let predecessors = &flow.skeleton.preds[block];
        let values: Vec<Option<Value>> =
            predecessors.iter().map(|&source| self.known_at_end(flow.skeleton, source).flatten()).collect();
        let mut given = values.iter().flatten();
        let first = *given.next()?;
        let all_same = given.all(|&operand| operand == first);
        if all_same && (values.iter().all(Option::is_some) || flow.is_available(first, block)) {
            return Some(first);
        }
        let zero = flow.function.constant(self.ty, 0);
        for (&predecessor, value) in predecessors.iter().zip(&values) {
            flow.extra.entry((predecessor, block)).or_default().push(value.unwrap_or(zero));
        }
        Some(flow.function.add_param(block, self.ty))
    }
}

#[cfg(test)]
mod tests {
    use super::WALKED;
    use crate::analysis::testing::fall_through_switch;
    use crate::ir::{BinaryOp, InstData};
    use crate::transform::divergent_loops::{EmptyEntries, divergent_loops};
    use crate::transform::linearize::linearize_function;
    use crate::transform::normalize::normalize_function;
    use cranelift_entity::EntitySet;

    /// How many lines questions walk, and how many masks are joined, where a switch of so many cases that fall through is
    /// folded.
    fn folded(cases: usize) -> (usize, usize) {
        let (mut function, _) = fall_through_switch(cases);
        normalize_function(&mut function);
        let mut divergent = EntitySet::new();
        divergent.insert(function.entry_block());
        let loops = divergent_loops(&mut function, &mut divergent, EmptyEntries::Gates);
        let before = WALKED.get();
        linearize_function(&mut function, &loops.control_flow, &divergent, &loops.tracked);
        let instructions = function.layout.iter().flat_map(|&block| &function.blocks[block].insts);
        let joined = instructions
            .filter(|&&instruction| {
                matches!(function.insts[instruction].data, InstData::Binary { opcode: BinaryOp::Or, .. })
            })
            .count();
        (WALKED.get() - before, joined)
    }

    #[test]
    fn a_folded_switch_of_twice_the_cases_takes_twice_the_questions() {
        let ((few, _), (many, joined)) = (folded(200), folded(400));
        assert_eq!(joined, 399, "each case but the first is run by those that fall into it as well");
        assert!(many <= 2 * few + 2, "{few} lines for 200 cases, {many} for 400");
    }
}
