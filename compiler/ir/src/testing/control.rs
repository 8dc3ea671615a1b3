//! Random statements: assignments, choices, loops, barriers, ways out.

use super::kernels::{Around, Generator};
use super::memory_sizes::FREE_WORDS;
use crate::ir::*;
use lockstep_protocol::types::Type;

impl Generator {
    /// The whole program behind the prologue.
    pub(super) fn emit_program(&mut self) {
        let last_part = self.budget / 4;
        let mut reaches_end = true;
        while reaches_end && self.budget > 0 {
            if self.budget <= last_part {
                self.barriers_over = true;
            }
            reaches_end = self.emit_statement(0);
        }
        if reaches_end {
            self.finish_item();
        }
        self.fold_jumps();
    }

    /// Leads some edges past blocks that only jump: critical edges come of it, and several edges between
    /// the same two blocks with different arguments.
    fn fold_jumps(&mut self) {
        let blocks = self.function.layout.clone();
        for &block in &blocks[1..] {
            let block_data = &self.function.blocks[block];
            let Terminator::Jump(target) = block_data.terminator.clone() else { continue };
            if !block_data.insts.is_empty()
                || !block_data.params.is_empty()
                || target.block == block
                || self.random.percent(40)
            {
                continue;
            }
            for &source in &self.function.layout {
                for edge in self.function.blocks[source].terminator.targets_mut() {
                    if edge.block == block {
                        edge.clone_from(&target);
                    }
                }
            }
            self.function.layout.retain(|&other_block| other_block != block);
        }
    }

    /// Stores all variables and ends the item.
    pub(super) fn finish_item(&mut self) {
        let output = self.output;
        for index in 0..self.variables.len() {
            let value = self.variables[index].value;
            let word = self.value_as_word(value);
            let mut builder = self.builder_here();
            let offset = builder.int(Type::I64, i128::from((FREE_WORDS + index as u64) * 4));
            let address = builder.ptr_add(output, offset);
            builder.store(address, word);
        }
        self.builder_here().ret();
    }

    /// Some statements; false if nothing comes behind them.
    pub(super) fn emit_statements(&mut self, depth: usize) -> bool {
        let visible_count = self.visible.len();
        let mut reaches_end = true;
        for _ in 0..1 + self.random.below(4) {
            reaches_end = reaches_end && self.emit_statement(depth);
        }
        self.visible.truncate(visible_count);
        reaches_end
    }

    /// One statement; false if nothing comes behind it.
    fn emit_statement(&mut self, depth: usize) -> bool {
        self.budget = self.budget.saturating_sub(1);
        let nest = depth < self.shape.depth && self.budget > 0;
        if self.is_unordered {
            return self.emit_unordered_statement(depth, nest);
        }
        let barrier = self.uniform_here && !self.barriers_over;
        if self.shape.calls && self.random.percent(10) {
            self.emit_call();
            return true;
        }
        match self.random.below(29) {
            0..=5 => self.assign_variable(),
            6 | 7 => self.random_store(),
            8 => {
                let uniform = self.random.percent(30);
                self.random_load(uniform);
            }
            9..=11 if nest => return self.emit_choice(depth),
            12 if nest => return self.emit_switch(depth),
            13..=15 if nest => return self.emit_loop(depth),
            16..=18 if barrier => return self.emit_exchange(depth),
            19 if barrier => self.builder_here().barrier(),
            20 | 21 if depth > 0 => return self.emit_exit(),
            22..=24 => self.access_private_array(),
            25 | 26 if nest => return self.with_scratch(depth),
            27 => self.access_neighbours(),
            28 => self.emit_walk(),
            _ => self.assign_variable(),
        }
        true
    }

    /// One statement of which the order does not count between items; false if nothing comes behind it.
    fn emit_unordered_statement(&mut self, depth: usize, nest: bool) -> bool {
        match self.random.below(15) {
            0 | 1 => self.random_store(),
            2 => {
                self.random_load(false);
            }
            3..=6 if nest => return self.emit_choice(depth),
            7..=11 if nest => return self.emit_loop(depth),
            12 => return self.emit_exit(),
            _ => self.assign_variable(),
        }
        true
    }

    /// A variable takes a new value. Where not all items are here, uniform ones stay as they are.
    fn assign_variable(&mut self) {
        let index = self.random.below(self.variables.len());
        let variable = self.variables[index];
        let around = self.loops.last();
        let fixed = around.is_some_and(|innermost| !innermost.variables.contains(&index));
        if fixed || (variable.uniform && !self.uniform_here) {
            return self.random_store();
        }
        let loaded = self.random.percent(30).then(|| self.random_load(variable.uniform));
        let value = match loaded {
            Some(value) if self.function.ty(value) == variable.ty => value,
            _ => self.random_expression(variable.ty, variable.uniform),
        };
        self.variables[index].value = value;
    }

    /// Mixes an `i32` into a variable or, where none may change, into a word of the item's own.
    pub(super) fn keep_value(&mut self, value: Value) {
        let may_assign = |position: &usize| {
            let variable = &self.variables[*position];
            let free = self.loops.last().is_none_or(|innermost| innermost.variables.contains(position));
            variable.ty == Type::I32 && !variable.uniform && free
        };
        let free: Vec<usize> = (0..self.variables.len()).filter(may_assign).collect();
        if self.function.ty(value) != Type::I32 {
            return;
        }
        if free.is_empty() || self.random.percent(20) {
            let index = self.pick_value(Type::I64, false);
            self.atomic_to_output(index, value);
        } else {
            let position = self.random.pick(&free);
            let old_value = self.variables[position].value;
            self.variables[position].value = self.builder_here().binary(BinaryOp::Add, old_value, value);
        }
    }

    /// Whether all items shall choose alike at the next choice.
    fn uniform_choice(&mut self) -> bool {
        self.random.percent(if self.uniform_here { 60 } else { 20 })
    }

    fn variable_values(&self, variables: &[usize]) -> Vec<Value> {
        variables.iter().map(|&index| self.variables[index].value).collect()
    }

    /// Gives every variable on which the ends of arms differ a parameter of a new block where they meet.
    fn join_arms(&mut self, ends: Vec<(Block, Vec<Value>)>) -> bool {
        if ends.is_empty() {
            return false;
        }
        let join_block = self.function.add_block();
        let mut changed = Vec::new();
        for index in 0..self.variables.len() {
            if ends.iter().any(|(_, values)| values[index] != ends[0].1[index]) {
                let parameter = self.function.add_param(join_block, self.variables[index].ty);
                self.uniform_values[parameter] = self.variables[index].uniform;
                self.variables[index].value = parameter;
                changed.push(index);
            } else {
                self.variables[index].value = ends[0].1[index];
            }
        }
        for (block, values) in ends {
            let arguments = changed.iter().map(|&index| values[index]).collect();
            self.function.blocks[block].terminator = Terminator::Jump(BlockCall { block: join_block, arguments });
        }
        self.block = join_block;
        true
    }

    /// Runs each arm from the same state; the arms' blocks must exist and have no parameters.
    fn emit_arms(&mut self, depth: usize, blocks: &[Block], uniform: bool) -> Vec<(Block, Vec<Value>)> {
        let before = self.variables.clone();
        let was_uniform = self.uniform_here;
        self.uniform_here &= uniform;
        let mut ends = Vec::new();
        for &block in blocks {
            self.block = block;
            self.variables.clone_from(&before);
            if self.emit_statements(depth + 1) {
                ends.push((self.block, self.variables.iter().map(|variable| variable.value).collect()));
            }
        }
        self.variables = before;
        self.uniform_here = was_uniform;
        ends
    }

    fn emit_choice(&mut self, depth: usize) -> bool {
        let uniform = self.uniform_choice();
        let condition = self.random_condition(uniform);
        let then_block = self.function.add_block();
        let other_block = self.function.add_block();
        self.builder_here().branch(condition, (then_block, &[]), (other_block, &[]));
        if self.shape.twins && self.random.percent(70) {
            let ends = self.emit_twins(depth, then_block, other_block, uniform);
            return self.join_arms(ends);
        }
        if self.random.percent(50) {
            let ends = self.emit_arms(depth, &[then_block, other_block], uniform);
            return self.join_arms(ends);
        }
        // Without an else: the edge goes to where the arm ends.
        let unchanged = self.variables.iter().map(|variable| variable.value).collect();
        let mut ends = self.emit_arms(depth, &[then_block], uniform);
        ends.push((other_block, unchanged));
        self.join_arms(ends)
    }

    /// Two arms that do the same, of which the second one may find two variables exchanged or do something before.
    fn emit_twins(
        &mut self,
        depth: usize,
        then_block: Block,
        other_block: Block,
        uniform: bool,
    ) -> Vec<(Block, Vec<Value>)> {
        let (random, budget, before) = (self.random.clone(), self.budget, self.variables.clone());
        let mut ends = self.emit_arms(depth, &[then_block], uniform);
        let [exchanges, does_more] = [70, 30].map(|chance| self.random.percent(chance));
        if exchanges {
            self.exchange_variables();
        }
        if does_more {
            self.block = other_block;
            let visible_count = self.visible.len();
            self.random_store();
            self.visible.truncate(visible_count);
        }
        let after = std::mem::replace(&mut self.random, random);
        let left = std::mem::replace(&mut self.budget, budget);
        ends.extend(self.emit_arms(depth, &[other_block], uniform));
        (self.random, self.budget, self.variables) = (after, left, before);
        ends
    }

    /// Two variables of one type, which may both change here, exchange their values.
    fn exchange_variables(&mut self) {
        let may_change = |position: &usize| {
            !self.variables[*position].uniform
                && self.loops.last().is_none_or(|innermost| innermost.variables.contains(position))
        };
        let changing: Vec<usize> = (0..self.variables.len()).filter(may_change).collect();
        for (number, &left) in changing.iter().enumerate() {
            let other =
                changing[number + 1..].iter().find(|&&right| self.variables[right].ty == self.variables[left].ty);
            if let Some(&right) = other {
                let value = self.variables[left].value;
                self.variables[left].value = self.variables[right].value;
                self.variables[right].value = value;
                return;
            }
        }
    }

    fn emit_switch(&mut self, depth: usize) -> bool {
        let uniform = self.uniform_choice();
        let value = self.pick_value(Type::I32, uniform);
        let case_count = 2 + self.random.below(3);
        let mut builder = self.builder_here();
        let mask = builder.int(Type::I32, 3);
        let value = builder.binary(BinaryOp::And, value, mask);
        let blocks: Vec<Block> = (0..case_count).map(|_| self.function.add_block()).collect();
        let edge_to = |block: Block| BlockCall { block, arguments: Vec::new() };
        let cases = blocks[1..].iter().enumerate().map(|(index, &block)| (index as u128, edge_to(block))).collect();
        self.builder_here().terminate(Terminator::Switch { value, cases, default: edge_to(blocks[0]) });
        let ends = self.emit_arms(depth, &blocks, uniform);
        self.join_arms(ends)
    }

    /// A loop of a few iterations, tested at its top or its bottom, with whatever other exits its body has.
    fn emit_loop(&mut self, depth: usize) -> bool {
        let was_unordered = self.is_unordered;
        self.is_unordered |= self.shape.nests;
        let reaches_end = self.emit_any_loop(depth);
        self.is_unordered = was_unordered;
        reaches_end
    }

    fn emit_any_loop(&mut self, depth: usize) -> bool {
        let uniform = self.uniform_here && self.random.percent(60);
        let was_uniform = self.uniform_here;
        let outer = self.loops.last().map(|innermost| innermost.variables.clone());
        let mut variables = Vec::new();
        for index in 0..self.variables.len() {
            let may_assign = outer.as_ref().is_none_or(|allowed| allowed.contains(&index))
                && (uniform || !self.variables[index].uniform);
            if may_assign && self.random.percent(70) {
                variables.push(index);
            }
        }
        // At most five times: the bound's low bits.
        let bound = self.pick_value(Type::I32, uniform);
        let mut builder = self.builder_here();
        let (mask, one) = (builder.int(Type::I32, 3), builder.int(Type::I32, 1));
        let bound = builder.binary(BinaryOp::And, bound, mask);
        let bound = builder.binary(BinaryOp::Add, bound, one);

        let [header, latch, exit_block] = [(); 3].map(|()| self.function.add_block());
        let zero = self.function.constant(Type::I32, 0);
        let counter = self.function.add_param(header, Type::I32);
        let latch_counter = self.function.add_param(latch, Type::I32);
        let mut arguments = vec![zero];
        arguments.extend(self.variable_values(&variables));
        self.builder_here().jump(header, &arguments);
        self.uniform_here = uniform;
        self.block = header;
        let visible_count = self.visible.len();
        self.note_value(counter, uniform);
        self.take_params(header, &variables);
        let latch_params: Vec<Value> =
            variables.iter().map(|&index| self.function.add_param(latch, self.variables[index].ty)).collect();
        for &index in &variables {
            self.function.add_param(exit_block, self.variables[index].ty);
        }
        self.loops.push(Around {
            uniform,
            variables: variables.clone(),
            counter,
            latch,
            exit: exit_block,
            latch_used: false,
            exit_used: false,
        });
        let bottom_tested = self.random.percent(40);
        if !bottom_tested {
            if self.random.percent(30) {
                self.assign_variable();
            }
            let condition = self.builder_here().icmp(IntCc::Slt, counter, bound);
            let body_block = self.function.add_block();
            let arguments = self.variable_values(&variables);
            self.builder_here().branch(condition, (body_block, &[]), (exit_block, &arguments));
            self.loops.last_mut().expect("just pushed").exit_used = true;
            self.block = body_block;
        }
        // What the header defines can be used behind the loop too.
        let in_header = self.visible.len();
        if self.emit_statements(depth + 1) {
            self.jump_to_latch(self.loops.len() - 1);
        }
        let around = self.loops.pop().expect("pushed above");
        if around.latch_used {
            self.block = latch;
            for (&index, &parameter) in variables.iter().zip(&latch_params) {
                self.uniform_values[parameter] = self.variables[index].uniform;
            }
            let mut builder = self.builder_here();
            let next = builder.binary(BinaryOp::Add, latch_counter, one);
            let mut again = vec![next];
            again.extend(&latch_params);
            if bottom_tested {
                let condition = builder.icmp(IntCc::Slt, next, bound);
                builder.branch(condition, (header, &again), (exit_block, &latch_params));
            } else {
                builder.jump(header, &again);
            }
        } else {
            self.function.layout.retain(|&block| block != latch);
        }
        self.uniform_here = was_uniform;
        self.visible.truncate(if bottom_tested { visible_count } else { in_header });
        if !uniform {
            // Items leave at different times: what was the same in an iteration is not behind the loop.
            for &value in &self.visible[visible_count..] {
                self.uniform_values[value] = false;
            }
        }
        let leaves_at_bottom = bottom_tested && around.latch_used;
        if !(around.exit_used || leaves_at_bottom) {
            self.function.layout.retain(|&block| block != exit_block);
            return false;
        }
        self.block = exit_block;
        let parameters = self.function.blocks[exit_block].params.clone();
        for (&index, parameter) in variables.iter().zip(parameters) {
            self.uniform_values[parameter] = self.variables[index].uniform;
            self.variables[index].value = parameter;
        }
        true
    }

    /// New parameters of a block for variables, which are their values from here on.
    fn take_params(&mut self, block: Block, variables: &[usize]) {
        for &index in variables {
            let parameter = self.function.add_param(block, self.variables[index].ty);
            self.uniform_values[parameter] = self.variables[index].uniform;
            self.variables[index].value = parameter;
        }
    }

    /// Jumps to a loop's latch with the variables' values.
    fn jump_to_latch(&mut self, loop_index: usize) {
        let around = self.loops[loop_index].clone();
        let mut arguments = vec![around.counter];
        arguments.extend(self.variable_values(&around.variables));
        self.builder_here().jump(around.latch, &arguments);
        self.loops[loop_index].latch_used = true;
    }

    /// Leaves a loop, goes on with its next iteration, or ends the item, where that is allowed here.
    fn emit_exit(&mut self) -> bool {
        let can_leave = |around: &Around, is_uniform: bool| is_uniform || !around.uniform;
        let is_uniform = self.uniform_here;
        let loops: Vec<usize> = (self.loops_floor..self.loops.len())
            .filter(|&loop_index| self.loops[loop_index..].iter().all(|around| can_leave(around, is_uniform)))
            .collect();
        // All items of the group end here, or no barrier comes any more.
        let may_end = self.open_exchanges == 0 && (self.barriers_over || self.uniform_here);
        if may_end && self.random.percent(30) {
            self.finish_item();
            return false;
        }
        if loops.is_empty() {
            self.assign_variable();
            return true;
        }
        let loop_index = self.random.pick(&loops);
        if self.random.percent(40) {
            self.jump_to_latch(loop_index);
        } else {
            let around = self.loops[loop_index].clone();
            let arguments = self.variable_values(&around.variables);
            self.builder_here().jump(around.exit, &arguments);
            self.loops[loop_index].exit_used = true;
        }
        false
    }

    /// Each item writes its word of some shared memory; behind a barrier, all read; then a barrier again.
    fn emit_exchange(&mut self, depth: usize) -> bool {
        let free: Vec<usize> = (0..self.shared.len()).filter(|&index| !self.shared[index].readable).collect();
        if free.is_empty() {
            self.assign_variable();
            return true;
        }
        let shared_index = self.random.pick(&free);
        let value = self.pick_value(Type::I32, false);
        let (base_address, offset) = (self.shared[shared_index].base, self.own_word);
        let mut builder = self.builder_here();
        let address = builder.ptr_add(base_address, offset);
        builder.store(address, value);
        builder.barrier();
        self.shared[shared_index].readable = true;
        // Whoever left from here would miss the second barrier.
        let floor = std::mem::replace(&mut self.loops_floor, self.loops.len());
        self.open_exchanges += 1;
        let uniform = self.random.percent(40);
        let loaded = self.random_load(uniform);
        self.keep_value(loaded);
        let reaches_end = depth >= self.shape.depth || self.emit_statements(depth + 1);
        debug_assert!(reaches_end);
        self.loops_floor = floor;
        self.open_exchanges -= 1;
        self.shared[shared_index].readable = false;
        self.builder_here().barrier();
        true
    }
}
