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
    printer.statements(&program.body);
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
    fn line(&mut self, line: &str) {
        let _ = writeln!(self.text, "{:1$}{line}", "", 2 * self.depth);
    }

    /// Statements one level further in.
    fn nested(&mut self, statements: &[Statement]) {
        self.depth += 1;
        self.statements(statements);
        self.depth -= 1;
    }

    fn statements(&mut self, statements: &[Statement]) {
        for statement in statements {
            self.statement(statement);
        }
    }

    fn take_fuel(&self) -> String {
        format!("if (++fuel > {}) goto end;", self.fuel)
    }

    fn statement(&mut self, statement: &Statement) {
        match statement {
            Statement::Assign(variable, value) => self.line(&format!("v{variable} = {};", expression(value))),
            Statement::Accumulate(value, bin) => {
                let (value, bin) = (expression(value), expression(bin));
                self.line(&format!("out[i * {OUTPUTS} + {VARIABLES} + ({bin} & {})] += {value};", BINS - 1));
            }
            Statement::AssignIf(when, variable, value) => {
                self.line(&format!("if ({}) v{variable} = {};", condition(when), expression(value)));
            }
            Statement::If(when, then, otherwise) => {
                self.line(&format!("if ({}) {{", condition(when)));
                self.nested(then);
                if !otherwise.is_empty() {
                    self.line("} else {");
                    self.nested(otherwise);
                }
                self.line("}");
            }
            Statement::Switch(value, modulus, arms) => {
                self.line(&format!("switch ({} % {modulus}u) {{", expression(value)));
                arms.iter().for_each(|arm| self.arm(arm));
                self.line("}");
            }
            Statement::Loop(kind, when, body) => {
                match kind {
                    LoopKind::While => self.line(&format!("while ({}) {{", condition(when))),
                    LoopKind::DoWhile => self.line("do {"),
                    LoopKind::Endless => self.line("for (;;) {"),
                }
                let fuel = self.take_fuel();
                self.depth += 1;
                self.line(&fuel);
                self.depth -= 1;
                self.nested(body);
                match kind {
                    LoopKind::DoWhile => self.line(&format!("}} while ({});", condition(when))),
                    _ => self.line("}"),
                }
            }
            Statement::Label(label) => {
                let fuel = self.take_fuel();
                self.line(&format!("L{label}: {fuel}"));
            }
            Statement::Goto(None, label) => self.line(&format!("goto L{label};")),
            Statement::Goto(Some(when), label) => self.line(&format!("if ({}) goto L{label};", condition(when))),
            Statement::Break(when) => self.line(&format!("if ({}) break;", condition(when))),
            Statement::Continue(when) => self.line(&format!("if ({}) continue;", condition(when))),
            Statement::Return(when) => self.line(&format!("if ({}) return;", condition(when))),
            Statement::Exchange(variable) => {
                self.line(&format!("shared[l] = v{variable};"));
                self.line("barrier(CLK_LOCAL_MEM_FENCE);");
                self.line(&format!("v{variable} += shared[l + 1 < n ? l + 1 : 0];"));
                self.line("barrier(CLK_LOCAL_MEM_FENCE);");
            }
        }
    }

    fn arm(&mut self, arm: &Arm) {
        for case in &arm.cases {
            self.line(&format!("case {case}:"));
        }
        if arm.default {
            self.line("default:");
        }
        self.nested(&arm.body);
        self.line(if arm.breaks { "  break;" } else { "  ;" });
    }
}

fn expression(value: &Expression) -> String {
    match value {
        Expression::Variable(variable) => format!("v{variable}"),
        Expression::Constant(bits) => format!("{bits}u"),
        Expression::Binary(operator, a, b) => {
            let (a, b) = (expression(a), expression(b));
            match operator {
                Operator::Add => format!("({a} + {b})"),
                Operator::Subtract => format!("({a} - {b})"),
                Operator::Multiply => format!("({a} * {b})"),
                Operator::Xor => format!("({a} ^ {b})"),
                Operator::And => format!("({a} & {b})"),
                Operator::ShiftRight => format!("({a} >> ({b} & 31))"),
            }
        }
    }
}

fn condition(when: &Condition) -> String {
    let Condition { value, shift, modulus, limit } = when;
    format!("({} >> {shift}) % {modulus}u < {limit}u", expression(value))
}
