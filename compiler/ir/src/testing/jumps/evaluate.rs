//! What a program with jumps means, by its own list of operations.

use super::{BINS, CONTROL, Condition, Expression, JumpProgram, LoopKind, OUTPUTS, Operator, Statement, VARIABLES};
use std::collections::HashMap;

/// One step of the lowered program. Targets are positions in its list.
enum Operation<'a> {
    Assign(usize, &'a Expression),
    Accumulate(&'a Expression, &'a Expression),
    AssignIf(&'a Condition, usize, &'a Expression),
    Exchange(usize),
    Jump(usize),
    JumpIf(&'a Condition, usize),
    JumpUnless(&'a Condition, usize),
    /// One target for each remainder of the value.
    Dispatch(&'a Expression, Vec<usize>),
    /// Goes to the end once the fuel is used up.
    TakeFuel,
    /// Leaves without the variables being stored.
    ReturnIf(&'a Condition),
}

/// A work-item's state.
struct Item {
    variables: [u32; VARIABLES],
    bins: [u32; BINS],
}

/// What `output` holds, zero before, after a launch over `in` in groups of `group_size` work-items, the last of which may be smaller.
pub fn evaluate_program(program: &JumpProgram, input: &[u32], group_size: usize) -> Vec<u32> {
    let operations = lower_program(program);
    let mut output = Vec::new();
    for inputs in input.chunks(group_size * VARIABLES) {
        let mut work_items: Vec<Item> = inputs.chunks(VARIABLES).map(start_item).collect();
        if program.uniform {
            let [first, ..] = &work_items[..] else { continue };
            let control: [u32; CONTROL] = first.variables[..CONTROL].try_into().expect("a prefix of the variables");
            work_items.iter_mut().for_each(|work_item| work_item.variables[..CONTROL].copy_from_slice(&control));
            let returned = run_items(&operations, program.fuel, &mut work_items);
            work_items.iter().for_each(|work_item| store_item(work_item, returned, &mut output));
        } else {
            for item in work_items.chunks_mut(1) {
                let returned = run_items(&operations, program.fuel, item);
                store_item(&item[0], returned, &mut output);
            }
        }
    }
    output
}

fn start_item(input: &[u32]) -> Item {
    Item { variables: input.try_into().expect("an element for each variable"), bins: [0; BINS] }
}

/// Appends a work-item's [`OUTPUTS`] elements.
fn store_item(work_item: &Item, returned: bool, output: &mut Vec<u32>) {
    let begin_position = output.len();
    let variables = if returned { [0; VARIABLES] } else { work_item.variables };
    output.extend(variables.iter().chain(&work_item.bins));
    debug_assert_eq!(output.len() - begin_position, OUTPUTS);
}

/// Runs work-items that take the same way; whether they left by a return.
fn run_items(operations: &[Operation<'_>], fuel: u32, work_items: &mut [Item]) -> bool {
    let (mut position, mut used_fuel) = (0, 0);
    while let Some(operation) = operations.get(position) {
        position += 1;
        match operation {
            Operation::Assign(variable, value) => {
                work_items
                    .iter_mut()
                    .for_each(|work_item| work_item.variables[*variable] = value.value_with(&work_item.variables));
            }
            Operation::Accumulate(value, bin) => {
                for work_item in work_items.iter_mut() {
                    let bin = bin.value_with(&work_item.variables) as usize % BINS;
                    work_item.bins[bin] = work_item.bins[bin].wrapping_add(value.value_with(&work_item.variables));
                }
            }
            Operation::AssignIf(condition, variable, value) => {
                for work_item in work_items.iter_mut().filter(|work_item| condition.holds_with(&work_item.variables)) {
                    work_item.variables[*variable] = value.value_with(&work_item.variables);
                }
            }
            Operation::Exchange(variable) => {
                let sent: Vec<u32> = work_items.iter().map(|work_item| work_item.variables[*variable]).collect();
                for (l, work_item) in work_items.iter_mut().enumerate() {
                    let received = sent[(l + 1) % sent.len()];
                    work_item.variables[*variable] = work_item.variables[*variable].wrapping_add(received);
                }
            }
            Operation::Jump(to) => position = *to,
            Operation::JumpIf(condition, to) if decide_together(condition, work_items) => position = *to,
            Operation::JumpUnless(condition, to) if !decide_together(condition, work_items) => position = *to,
            Operation::JumpIf(..) | Operation::JumpUnless(..) => {}
            Operation::Dispatch(value, targets) => {
                let selected = |work_item: &Item| value.value_with(&work_item.variables) as usize % targets.len();
                let first = selected(&work_items[0]);
                assert!(work_items.iter().all(|item| selected(item) == first), "work-items of a uniform kernel part");
                position = targets[first];
            }
            Operation::TakeFuel => {
                used_fuel += 1;
                if used_fuel > fuel {
                    return false;
                }
            }
            Operation::ReturnIf(condition) if decide_together(condition, work_items) => return true,
            Operation::ReturnIf(_) => {}
        }
    }
    false
}

/// Whether a condition holds for all work-items, or for none.
fn decide_together(condition: &Condition, work_items: &[Item]) -> bool {
    let first = condition.holds_with(&work_items[0].variables);
    assert!(
        work_items.iter().all(|work_item| condition.holds_with(&work_item.variables) == first),
        "work-items of a uniform kernel part"
    );
    first
}

impl Expression {
    fn value_with(&self, variables: &[u32; VARIABLES]) -> u32 {
        match self {
            Expression::Variable(variable) => variables[*variable],
            Expression::Constant(bits) => *bits,
            Expression::Binary(operator, left, right) => {
                let (left, right) = (left.value_with(variables), right.value_with(variables));
                match operator {
                    Operator::Add => left.wrapping_add(right),
                    Operator::Subtract => left.wrapping_sub(right),
                    Operator::Multiply => left.wrapping_mul(right),
                    Operator::Xor => left ^ right,
                    Operator::And => left & right,
                    Operator::ShiftRight => left >> (right & 31),
                }
            }
        }
    }
}

impl Condition {
    fn holds_with(&self, variables: &[u32; VARIABLES]) -> bool {
        (self.value.value_with(variables) >> self.shift) % self.modulus < self.limit
    }
}

/// The program as a list of operations. Its end is the end of the list.
fn lower_program(program: &JumpProgram) -> Vec<Operation<'_>> {
    let mut lowering = Lowering::default();
    lowering.lower_statements(&program.body);
    let Lowering { mut operations, labels, gotos, .. } = lowering;
    for (position, label) in gotos {
        match &mut operations[position] {
            Operation::Jump(destination) | Operation::JumpIf(_, destination) => *destination = labels[&label],
            _ => unreachable!("only jumps wait for labels"),
        }
    }
    operations
}

/// Jumps out of a loop or switch whose targets are not known yet.
struct Breakable {
    /// Whether `continue` means this one.
    is_loop: bool,
    continues: Vec<usize>,
    breaks: Vec<usize>,
}

#[derive(Default)]
struct Lowering<'a> {
    operations: Vec<Operation<'a>>,
    labels: HashMap<u32, usize>,
    /// Jumps to labels: the jump's position, and the label.
    gotos: Vec<(usize, u32)>,
    around: Vec<Breakable>,
}

/// A target that is put in later.
const LATER: usize = usize::MAX;

impl<'a> Lowering<'a> {
    fn push_operation(&mut self, operation: Operation<'a>) -> usize {
        self.operations.push(operation);
        self.operations.len() - 1
    }

    /// Lets the jumps at some positions lead to the next operation.
    fn land_jumps(&mut self, jumps: Vec<usize>) {
        let target = self.operations.len();
        for position in jumps {
            match &mut self.operations[position] {
                Operation::Jump(destination)
                | Operation::JumpIf(_, destination)
                | Operation::JumpUnless(_, destination) => *destination = target,
                _ => unreachable!("only jumps land"),
            }
        }
    }

    fn lower_statements(&mut self, statements: &'a [Statement]) {
        statements.iter().for_each(|statement| self.lower_statement(statement));
    }

    fn lower_statement(&mut self, statement: &'a Statement) {
        match statement {
            Statement::Assign(variable, value) => drop(self.push_operation(Operation::Assign(*variable, value))),
            Statement::Accumulate(value, bin) => drop(self.push_operation(Operation::Accumulate(value, bin))),
            Statement::AssignIf(condition, variable, value) => {
                self.push_operation(Operation::AssignIf(condition, *variable, value));
            }
            Statement::Exchange(variable) => drop(self.push_operation(Operation::Exchange(*variable))),
            Statement::If(condition, then, otherwise) => {
                let past_then = self.push_operation(Operation::JumpUnless(condition, LATER));
                self.lower_statements(then);
                let past_else = self.push_operation(Operation::Jump(LATER));
                self.land_jumps(vec![past_then]);
                self.lower_statements(otherwise);
                self.land_jumps(vec![past_else]);
            }
            Statement::Switch(value, modulus, arms) => self.lower_switch(value, *modulus, arms),
            Statement::Loop(kind, condition, body) => self.lower_loop(*kind, condition, body),
            Statement::Label(label) => {
                self.labels.insert(*label, self.operations.len());
                self.push_operation(Operation::TakeFuel);
            }
            Statement::Goto(when, label) => {
                let position = match when {
                    Some(condition) => self.push_operation(Operation::JumpIf(condition, LATER)),
                    None => self.push_operation(Operation::Jump(LATER)),
                };
                self.gotos.push((position, *label));
            }
            Statement::Break(condition) => {
                let position = self.push_operation(Operation::JumpIf(condition, LATER));
                self.around.last_mut().expect("a break is in a loop or switch").breaks.push(position);
            }
            Statement::Continue(condition) => {
                let position = self.push_operation(Operation::JumpIf(condition, LATER));
                let around = self.around.iter_mut().rev().find(|around| around.is_loop);
                around.expect("a continue is in a loop").continues.push(position);
            }
            Statement::Return(condition) => drop(self.push_operation(Operation::ReturnIf(condition))),
        }
    }

    fn lower_switch(&mut self, value: &'a Expression, modulus: u32, arms: &'a [super::Arm]) {
        let dispatch = self.push_operation(Operation::Dispatch(value, Vec::new()));
        self.around.push(Breakable { is_loop: false, continues: Vec::new(), breaks: Vec::new() });
        let (mut targets, mut default) = (vec![None; modulus as usize], None);
        for arm in arms {
            let arm_position = self.operations.len();
            arm.cases.iter().for_each(|&case| targets[case as usize] = Some(arm_position));
            if arm.default {
                default = Some(arm_position);
            }
            self.lower_statements(&arm.body);
            if arm.breaks {
                let position = self.push_operation(Operation::Jump(LATER));
                self.around.last_mut().expect("the switch is around").breaks.push(position);
            }
        }
        let end_position = self.operations.len();
        let targets = targets.into_iter().map(|target| target.or(default).unwrap_or(end_position)).collect();
        self.operations[dispatch] = Operation::Dispatch(value, targets);
        let Breakable { breaks, .. } = self.around.pop().expect("the switch is around");
        self.land_jumps(breaks);
    }

    fn lower_loop(&mut self, kind: LoopKind, condition: &'a Condition, body: &'a [Statement]) {
        let begin_position = self.operations.len();
        self.around.push(Breakable { is_loop: true, continues: Vec::new(), breaks: Vec::new() });
        let exit_jump = (kind == LoopKind::While).then(|| self.push_operation(Operation::JumpUnless(condition, LATER)));
        self.push_operation(Operation::TakeFuel);
        self.lower_statements(body);
        let Breakable { continues, mut breaks, .. } = self.around.pop().expect("the loop is around");
        // Each iteration begins with the question of a `while`, or ends with that of a `do`.
        self.land_jumps(continues);
        match kind {
            LoopKind::DoWhile => drop(self.push_operation(Operation::JumpIf(condition, begin_position))),
            LoopKind::While | LoopKind::Endless => drop(self.push_operation(Operation::Jump(begin_position))),
        }
        breaks.extend(exit_jump);
        self.land_jumps(breaks);
    }
}
