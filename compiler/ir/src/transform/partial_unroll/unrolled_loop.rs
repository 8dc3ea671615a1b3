//! Writes several iterations of a loop of one block out.
//!
//! Requires: what [`UnrolledLoop`] says of a function in normal form.
//! Ensures: the loop's copy, with as many iterations, before it or for it; normal form is up to the caller.
//! Phases: the iterations, in their order or in turn; where the copy is entered, repeated and left.
//! Source: textbook (Muchnick 1997, 17.4.3).

use super::counter::{LoopCounter, Step, parameter_step};
use crate::analysis::cfg::build_cfg;
use crate::ir::*;
use crate::transform::copy::Copies;
use lockstep_protocol::types::Type;

/// In which order the instructions of several iterations stand.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum IterationOrder {
    /// An iteration behind the other.
    OneByOne,
    /// Each instruction of all of them, then the next one: iterations that need nothing of one another.
    Interleaved,
}

/// A loop that is to run several iterations at once.
pub(super) struct UnrolledLoop {
    pub block: Block,
    /// The empty block that leads back to it.
    pub latch: Block,
    /// The block that leads to it from outside.
    pub preheader: Block,
    pub iterations: u64,
    /// Whether these are all that the loop ever runs, so that no loop is left.
    pub is_whole: bool,
    pub order: IterationOrder,
    pub counter: LoopCounter,
}

impl UnrolledLoop {
    /// Writes the iterations out.
    pub fn write_out_iterations(&self, function: &mut Function) {
        let UnrolledLoop { block, latch, preheader, iterations, counter, .. } = *self;
        let Terminator::Jump(entry_edge) = function.blocks[preheader].terminator.clone() else { return };
        let Terminator::Jump(back_edge) = function.blocks[latch].terminator.clone() else { return };
        let mut terminator = function.blocks[block].terminator.clone();
        terminator
            .targets_mut()
            .into_iter()
            .filter(|target| target.block == latch)
            .for_each(|target| *target = back_edge.clone());

        let several = function.add_block();
        function.end_locs[several] = function.end_locs[block];
        let last_iteration = match self.order {
            IterationOrder::OneByOne => self.append_one_by_one(function, several, &back_edge),
            IterationOrder::Interleaved => self.append_interleaved(function, several, &back_edge),
        };
        if self.is_whole {
            let end = last_iteration.terminator_copy(&terminator);
            let exit = end.targets().iter().find(|target| target.block != block).map(|&target| target.clone());
            let Some(exit) = exit else { return };
            function.blocks[several].terminator = Terminator::Jump(exit);
            function.blocks[preheader].terminator =
                Terminator::Jump(BlockCall { block: several, arguments: entry_edge.arguments });
            let flow_graph = build_cfg(function);
            function.layout.retain(|&block| flow_graph.is_reachable(block));
            return;
        }
        let next_arguments: Vec<Value> =
            back_edge.arguments.iter().map(|&argument| last_iteration.value_copy(argument)).collect();
        let rest = function.add_block();
        function.end_locs[rest] = function.end_locs[block];
        function.blocks[rest].terminator = last_iteration.terminator_copy(&terminator);
        let mut builder = Builder::at_end_of(function, several);
        let all_are_run = counter.goes_on(&mut builder, last_iteration.value_copy(counter.compared), iterations);
        builder.branch(all_are_run, (several, &next_arguments), (rest, &[]));

        // What is compared first: what comes in, or as much more as it grows by.
        let mut first = entry_edge.arguments[counter.param];
        let is_compared_itself = function.blocks[block].params[counter.param] == counter.compared;
        let mut builder = Builder::at_end_of(function, preheader);
        if !is_compared_itself {
            let increment = builder.int(builder.function.ty(first), counter.step.into());
            first = builder.binary(BinaryOp::Add, first, increment);
        }
        let all_are_run = counter.goes_on(&mut builder, first, iterations - 1);
        builder.branch(all_are_run, (several, &entry_edge.arguments), (block, &entry_edge.arguments));
    }

    /// Appends the iterations to a block, which gets the loop's parameters; the answer is what values are in the last one.
    fn append_one_by_one(&self, function: &mut Function, several: Block, back_edge: &BlockCall) -> Copies {
        let mut arguments = self.add_parameters(function, several);
        let mut iteration = Copies::default();
        for _ in 0..self.iterations {
            iteration = self.map_parameters(function, &arguments);
            for instruction in function.blocks[self.block].insts.clone() {
                append_copy(function, several, instruction, &mut iteration);
            }
            arguments = back_edge.arguments.iter().map(|&argument| iteration.value_copy(argument)).collect();
        }
        iteration
    }

    /// The same in turn: what the loop's parameters are in each iteration is computed first. One by one, should one not grow by a constant.
    fn append_interleaved(&self, function: &mut Function, several: Block, back_edge: &BlockCall) -> Copies {
        let parameters = function.blocks[self.block].params.clone();
        let step_of = |&parameter: &Value| parameter_step(function, self.block, parameter, back_edge);
        let Some(steps) = parameters.iter().map(step_of).collect::<Option<Vec<Step>>>() else {
            return self.append_one_by_one(function, several, back_edge);
        };
        let first_arguments = self.add_parameters(function, several);
        let mut iterations: Vec<Copies> = Vec::new();
        for number in 0..self.iterations as i64 {
            let mut builder = Builder::at_end_of(function, several);
            let arguments: Vec<Value> = first_arguments
                .iter()
                .zip(&steps)
                .map(|(&first, step)| advance_counter(&mut builder, first, number * step.by, step.flags))
                .collect();
            iterations.push(self.map_parameters(function, &arguments));
        }
        for instruction in function.blocks[self.block].insts.clone() {
            for iteration in &mut iterations {
                append_copy(function, several, instruction, iteration);
            }
        }
        iterations.pop().unwrap_or_default()
    }

    fn add_parameters(&self, function: &mut Function, several: Block) -> Vec<Value> {
        let types: Vec<Type> =
            function.blocks[self.block].params.iter().map(|&parameter| function.ty(parameter)).collect();
        types.iter().map(|&parameter_type| function.add_param(several, parameter_type)).collect()
    }

    fn map_parameters(&self, function: &Function, arguments: &[Value]) -> Copies {
        let mut iteration = Copies::default();
        for (&parameter, &argument) in function.blocks[self.block].params.iter().zip(arguments) {
            iteration.map_value(parameter, argument);
        }
        iteration
    }
}

/// Appends a copy of an instruction to a block, with operands as in an iteration, and adds its results to it.
fn append_copy(function: &mut Function, several: Block, instruction: Inst, iteration: &mut Copies) {
    let mut inst_node = function.insts[instruction].clone();
    inst_node.data.map_args(|value| iteration.value_copy(value));
    let types: Vec<Type> = inst_node.results.iter().map(|&result| function.ty(result)).collect();
    let new_inst = function.append_inst(several, inst_node.data, &types, inst_node.location);
    for (&old_value, &new_value) in inst_node.results.iter().zip(&function.insts[new_inst].results) {
        iteration.map_value(old_value, new_value);
    }
}

/// A counter so much later: additions that wrap nowhere one by one do not wrap together.
fn advance_counter(builder: &mut Builder<'_>, first: Value, by: i64, flags: IntFlags) -> Value {
    if by == 0 {
        return first;
    }
    let value_type = builder.function.ty(first);
    if !value_type.is_int() {
        let offset = builder.int(Type::I64, by.into());
        return builder.ptr_add(first, offset);
    }
    let by = builder.int(value_type, by.into());
    let addition =
        InstData::Binary { opcode: BinaryOp::Add, flags, fast_math: FastMath::default(), arguments: [first, by] };
    let instruction = builder.inst(addition, &[value_type]);
    builder.function.single_result(instruction)
}
