//! The OpenCL C text of a program with jumps.

use super::{
    Arm, BINS, CONTROL, Condition, Expression, JumpProgram, LoopKind, OUTPUTS, Operator, Statement, VARIABLES,
};
use std::fmt::Write;

/// The kernel's text.
pub fn print_source(program: &JumpProgram) -> String {
    let mut printer = Printer { text: String::new(), depth: 1, fuel: program.fuel };
    let text = &mut printer.text;
    let _ =
        writeln!(text, "kernel void {}(global const uint *in, global uint *out, local uint *shared) {{", program.name);
    let _ = writeln!(text, "  uint i = get_global_id(0), l = get_local_id(0), n = get_local_size(0), fuel = 0;");
    for variable in 0..VARIABLES {
        let item = if program.uniform && variable < CONTROL { "(i - l)" } else { "i" };
        let _ = writeln!(text, "  uint v{variable} = in[{item} * {VARIABLES} + {variable}];");
    }
    printer.print_statements(&program.body);
    let text = &mut printer.text;
    let _ = writeln!(text, "end:");
    for variable in 0..VARIABLES {
        let _ = writeln!(text, "  out[i * {OUTPUTS} + {variable}] = v{variable};");
    }
    text.push_str("}\n");
    printer.text
}

struct Printer {
    text: String,
    depth: usize,
    fuel: u32,
}

impl Printer {
    fn print_line(&mut self, line: &str) {
        let _ = writeln!(self.text, "{:1$}{line}", "", 2 * self.depth);
    }

    /// Statements one level further in.
    fn print_nested(&mut self, statements: &[Statement]) {
        self.depth += 1;
        self.print_statements(statements);
        self.depth -= 1;
    }

    fn print_statements(&mut self, statements: &[Statement]) {
        for statement in statements {
            self.print_statement(statement);
        }
    }

    fn take_fuel(&self) -> String {
        format!("if (++fuel > {}) goto end;", self.fuel)
    }

    fn print_statement(&mut self, statement: &Statement) {
        match statement {
            Statement::Assign(variable, value) => {
                self.print_line(&format!("v{variable} = {};", expression_text(value)))
            }
            Statement::Accumulate(value, bin) => {
                let (value, bin) = (expression_text(value), expression_text(bin));
                self.print_line(&format!("out[i * {OUTPUTS} + {VARIABLES} + ({bin} & {})] += {value};", BINS - 1));
            }
            Statement::AssignIf(condition, variable, value) => {
                self.print_line(&format!(
                    "if ({}) v{variable} = {};",
                    condition_text(condition),
                    expression_text(value)
                ));
            }
            Statement::If(condition, then, otherwise) => {
                self.print_line(&format!("if ({}) {{", condition_text(condition)));
                self.print_nested(then);
                if !otherwise.is_empty() {
                    self.print_line("} else {");
                    self.print_nested(otherwise);
                }
                self.print_line("}");
            }
            Statement::Switch(value, modulus, arms) => {
                self.print_line(&format!("switch ({} % {modulus}u) {{", expression_text(value)));
                arms.iter().for_each(|arm| self.print_arm(arm));
                self.print_line("}");
            }
            Statement::Loop(kind, condition, body) => {
                match kind {
                    LoopKind::While => self.print_line(&format!("while ({}) {{", condition_text(condition))),
                    LoopKind::DoWhile => self.print_line("do {"),
                    LoopKind::Endless => self.print_line("for (;;) {"),
                }
                let fuel_check = self.take_fuel();
                self.depth += 1;
                self.print_line(&fuel_check);
                self.depth -= 1;
                self.print_nested(body);
                match kind {
                    LoopKind::DoWhile => self.print_line(&format!("}} while ({});", condition_text(condition))),
                    _ => self.print_line("}"),
                }
            }
            Statement::Label(label) => {
                let fuel_check = self.take_fuel();
                self.print_line(&format!("L{label}: {fuel_check}"));
            }
            Statement::Goto(None, label) => self.print_line(&format!("goto L{label};")),
            Statement::Goto(Some(condition), label) => {
                self.print_line(&format!("if ({}) goto L{label};", condition_text(condition)))
            }
            Statement::Break(condition) => self.print_line(&format!("if ({}) break;", condition_text(condition))),
            Statement::Continue(condition) => self.print_line(&format!("if ({}) continue;", condition_text(condition))),
            Statement::Return(condition) => self.print_line(&format!("if ({}) return;", condition_text(condition))),
            Statement::Exchange(variable) => {
                self.print_line(&format!("shared[l] = v{variable};"));
                self.print_line("barrier(CLK_LOCAL_MEM_FENCE);");
                self.print_line(&format!("v{variable} += shared[l + 1 < n ? l + 1 : 0];"));
                self.print_line("barrier(CLK_LOCAL_MEM_FENCE);");
            }
        }
    }

    fn print_arm(&mut self, arm: &Arm) {
        for case in &arm.cases {
            self.print_line(&format!("case {case}:"));
        }
        if arm.default {
            self.print_line("default:");
        }
        self.print_nested(&arm.body);
        self.print_line(if arm.breaks { "  break;" } else { "  ;" });
    }
}

fn expression_text(value: &Expression) -> String {
    match value {
        Expression::Variable(variable) => format!("v{variable}"),
        Expression::Constant(bits) => format!("{bits}u"),
        Expression::Binary(operator, left, right) => {
            let (left_text, right_text) = (expression_text(left), expression_text(right));
            match operator {
                Operator::Add => format!("({left_text} + {right_text})"),
                Operator::Subtract => format!("({left_text} - {right_text})"),
                Operator::Multiply => format!("({left_text} * {right_text})"),
                Operator::Xor => format!("({left_text} ^ {right_text})"),
                Operator::And => format!("({left_text} & {right_text})"),
                Operator::ShiftRight => format!("({left_text} >> ({right_text} & 31))"),
            }
        }
    }
}

fn condition_text(condition: &Condition) -> String {
    let Condition { value, shift, modulus, limit } = condition;
    format!("({} >> {shift}) % {modulus}u < {limit}u", expression_text(value))
}
