//! Makes random programs with jumps.

use super::{Arm, CONTROL, Condition, Expression, JumpProgram, LoopKind, Operator, Statement, VARIABLES};
use crate::testing::Random;

/// Statements of the smallest and of the largest program, more or less.
const STATEMENTS: [usize; 2] = [4, 18];

/// Labels of the smallest and of the largest program.
const LABELS: [usize; 2] = [2, 6];

/// Loops, switches and ifs inside each other.
const MAX_DEPTH: usize = 3;

/// A program of the seed's own.
pub fn random_program(seed: u64) -> JumpProgram {
    let mut random = Random::new(seed);
    let [labels, statements] =
        [LABELS, STATEMENTS].map(|[minimum, maximum]| minimum + random.below(maximum - minimum + 1));
    let uniform = random.percent(25);
    let mut generator = Generator { random, uniform, labels: labels as u32, budget: statements };
    let mut body = generator.random_block(Context::default());
    while generator.budget > 0 {
        body.extend(generator.random_block(Context::default()));
    }
    generator.place_labels(&mut body);
    if generator.random.percent(60) {
        body.insert(0, generator.random_dispatch());
    }
    let fuel = generator.random.pick(&[9, 30, 90]);
    JumpProgram { name: format!("jumps_{seed}"), uniform, fuel, body }
}

/// What is around a statement.
#[derive(Clone, Copy, Default)]
struct Context {
    depth: usize,
    in_loop: bool,
    in_breakable: bool,
}

impl Context {
    /// Inside a loop, or else inside a switch or an arm of an `if`.
    fn nested_context(self, is_loop: bool, is_breakable: bool) -> Context {
        Context {
            depth: self.depth + 1,
            in_loop: self.in_loop || is_loop,
            in_breakable: self.in_breakable || is_breakable,
        }
    }
}

struct Generator {
    random: Random,
    uniform: bool,
    labels: u32,
    /// Statements that are still to be made.
    budget: usize,
}

impl Generator {
    fn random_block(&mut self, context: Context) -> Vec<Statement> {
        let statement_count = 1 + self.random.below(4);
        (0..statement_count).map(|_| self.random_statement(context)).collect()
    }

    fn random_statement(&mut self, context: Context) -> Statement {
        self.budget = self.budget.saturating_sub(1);
        let may_nest = context.depth < MAX_DEPTH && self.budget > 0;
        match self.random.below(20) {
            0..=2 if may_nest => self.if_statement(context),
            3..=5 if may_nest => self.loop_statement(context),
            6..=7 if may_nest => self.switch_statement(context),
            8..=11 => {
                let condition = self.random.percent(95).then(|| self.random_condition());
                Statement::Goto(condition, self.random.below(self.labels as usize) as u32)
            }
            12..=13 if context.in_breakable => Statement::Break(self.random_condition()),
            14 if context.in_loop => Statement::Continue(self.random_condition()),
            15 if self.random.percent(30) => Statement::Return(self.random_condition()),
            16 if self.uniform => Statement::Exchange(self.random.pick(&[CONTROL, VARIABLES - 1])),
            17 => Statement::Accumulate(self.random_expression(VARIABLES, 1), self.random_expression(VARIABLES, 1)),
            18 => Statement::AssignIf(
                self.condition_of(VARIABLES),
                self.data_variable(),
                self.random_expression(VARIABLES, 1),
            ),
            _ => self.random_assignment(),
        }
    }

    fn if_statement(&mut self, context: Context) -> Statement {
        let inside = context.nested_context(false, false);
        let (condition, then) = (self.random_condition(), self.random_block(inside));
        let otherwise = if self.random.percent(50) { self.random_block(inside) } else { Vec::new() };
        Statement::If(condition, then, otherwise)
    }

    fn loop_statement(&mut self, context: Context) -> Statement {
        let kind = self.random.pick(&[LoopKind::While, LoopKind::DoWhile, LoopKind::Endless]);
        let condition = self.random_condition();
        Statement::Loop(kind, condition, self.random_block(context.nested_context(true, true)))
    }

    fn switch_statement(&mut self, context: Context) -> Statement {
        let modulus = 2 + self.random.below(5) as u32;
        let value = self.random_expression(self.deciding_variables(), 1);
        let mut arms: Vec<Arm> = Vec::new();
        for case in 0..modulus {
            // Some values share an arm, and some have none.
            match (self.random.below(5), arms.last_mut()) {
                (0, _) => {}
                (1, Some(arm)) => arm.cases.push(case),
                _ => {
                    let body = self.random_block(context.nested_context(false, true));
                    arms.push(Arm { cases: vec![case], default: false, body, breaks: self.random.percent(50) });
                }
            }
        }
        if self.random.percent(60) && !arms.is_empty() {
            let position = self.random.below(arms.len());
            arms[position].default = true;
        }
        Statement::Switch(value, modulus, arms)
    }

    /// Leads to any of the labels, or on, so that cycles are entered anywhere.
    fn random_dispatch(&mut self) -> Statement {
        let jump_to = |label: u32| vec![Statement::Goto(None, label)];
        let arm_to = |label: u32| Arm { cases: vec![label], default: false, body: jump_to(label), breaks: true };
        let value = self.random_expression(self.deciding_variables(), 1);
        Statement::Switch(value, self.labels + 1, (0..self.labels).map(arm_to).collect())
    }

    /// Gives every label a place, anywhere.
    fn place_labels(&mut self, body: &mut Vec<Statement>) {
        for label in 0..self.labels {
            let mut block = &mut *body;
            // A random way inwards, and there a random position.
            loop {
                let position = self.random.below(block.len() + 1);
                let inwards = position < block.len() && self.random.percent(75) && is_nest(&block[position]);
                if !inwards {
                    block.insert(position, Statement::Label(label));
                    break;
                }
                block = self.inner_block(&mut block[position]);
            }
        }
    }

    /// One of the blocks of a statement that has some.
    fn inner_block<'a>(&mut self, statement: &'a mut Statement) -> &'a mut Vec<Statement> {
        match statement {
            Statement::If(_, then, otherwise) => {
                if self.random.percent(50) {
                    then
                } else {
                    otherwise
                }
            }
            Statement::Loop(_, _, body) => body,
            Statement::Switch(_, _, arms) => {
                let position = self.random.below(arms.len());
                &mut arms[position].body
            }
            _ => unreachable!("only these have blocks"),
        }
    }

    /// How many of the variables, the first ones, conditions may depend on.
    fn deciding_variables(&self) -> usize {
        if self.uniform { CONTROL } else { VARIABLES }
    }

    fn random_condition(&mut self) -> Condition {
        self.condition_of(self.deciding_variables())
    }

    fn condition_of(&mut self, variables: usize) -> Condition {
        let modulus = 2 + self.random.below(6) as u32;
        let limit = 1 + self.random.below(modulus as usize - 1) as u32;
        let value = self.random_expression(variables, 1);
        Condition { value, shift: self.random.below(9) as u32, modulus, limit }
    }

    fn random_assignment(&mut self) -> Statement {
        let variable = self.random.below(VARIABLES);
        let variable_count = if variable < CONTROL { self.deciding_variables() } else { VARIABLES };
        Statement::Assign(variable, self.random_expression(variable_count, 2))
    }

    /// A variable that no condition of a uniform kernel depends on.
    fn data_variable(&mut self) -> usize {
        CONTROL + self.random.below(VARIABLES - CONTROL)
    }

    /// An expression of the first so many variables.
    fn random_expression(&mut self, variables: usize, depth: usize) -> Expression {
        let leaf = |random: &mut Random| match random.below(4) {
            0 => Expression::Constant(random.next_bits() as u32 & random.pick(&[7, 0xff, u32::MAX])),
            _ => Expression::Variable(random.below(variables)),
        };
        if depth == 0 || self.random.percent(30) {
            return leaf(&mut self.random);
        }
        let operator = self.random.pick(&[
            Operator::Add,
            Operator::Add,
            Operator::Subtract,
            Operator::Multiply,
            Operator::Xor,
            Operator::And,
            Operator::ShiftRight,
        ]);
        let [left, right] = [(); 2].map(|()| Box::new(self.random_expression(variables, depth - 1)));
        Expression::Binary(operator, left, right)
    }
}

/// Whether a statement has blocks.
fn is_nest(statement: &Statement) -> bool {
    match statement {
        Statement::If(..) | Statement::Loop(..) => true,
        Statement::Switch(_, _, arms) => !arms.is_empty(),
        _ => false,
    }
}
