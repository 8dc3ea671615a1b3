//! How far addresses move from one iteration of a loop to the next.
//!
//! Requires: loops in normal form (one latch).
//! Ensures: a value's [`Step`] holds in every iteration but the last.
//! Phases: parameters of the header by what the latch passes for them; then the loop's instructions in their order.
//! Source: textbook (induction variables, Muchnick 1997, 14.1).

use super::loops::{Loop, Loops};
use crate::ir::{BinaryOp, Function, Inst, InstData, UnaryOp, Value};
use std::collections::HashMap;

/// Bytes of a line of the cache.
const LINE: u64 = 64;

/// What a value has more in the next iteration.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Step {
    /// This number, in bytes where the value is an address.
    By(i64),
    /// A multiple, known to the launch only, of a number that is not zero: of a width or a pitch, usually.
    Pitch,
    /// Something that may differ each time.
    Unknown,
}

impl Step {
    fn plus(self, other_step: Step) -> Step {
        match (self, other_step) {
            (Step::Unknown, _) | (_, Step::Unknown) => Step::Unknown,
            (Step::Pitch, _) | (_, Step::Pitch) => Step::Pitch,
            (Step::By(left), Step::By(right)) => Step::By(left.wrapping_add(right)),
        }
    }

    fn times(self, factor: i64) -> Step {
        match self {
            Step::By(a) => Step::By(a.wrapping_mul(factor)),
            other => other,
        }
    }

    /// Whether an address is in another line of the cache each time.
    pub fn leaves_line(self) -> bool {
        match self {
            Step::By(bytes) => bytes.unsigned_abs() >= LINE,
            Step::Pitch => true,
            Step::Unknown => false,
        }
    }
}

/// The steps of the values that an innermost loop computes.
pub struct LoopSteps(HashMap<Value, Step>);

impl LoopSteps {
    /// Follows the values of an innermost loop.
    pub fn follow_values(function: &Function, loop_forest: &Loops, loop_id: Loop) -> LoopSteps {
        let loop_data = loop_forest.get(loop_id);
        let mut steps = LoopSteps(HashMap::new());
        for &block in &loop_data.blocks {
            steps.0.extend(function.blocks[block].params.iter().map(|&parameter| (parameter, Step::Unknown)));
            let results =
                function.blocks[block].insts.iter().flat_map(|&instruction| &function.insts[instruction].results);
            steps.0.extend(results.map(|&result| (result, Step::Unknown)));
        }
        let latches = loop_data.blocks.iter().flat_map(|&block| function.blocks[block].terminator.targets());
        let mut latches = latches.filter(|target| target.block == loop_data.header);
        if let (Some(again), None) = (latches.next(), latches.next()) {
            for (&parameter, &passed) in function.blocks[loop_data.header].params.iter().zip(&again.arguments) {
                let step = steps.of_param(function, parameter, passed);
                steps.0.insert(parameter, step);
            }
        }
        for &instruction in loop_data.blocks.iter().flat_map(|&block| &function.blocks[block].insts) {
            if let [result] = function.insts[instruction].results[..] {
                let step = steps.of_result(function, instruction);
                steps.0.insert(result, step);
            }
        }
        steps
    }

    /// The step of a value that is used in the loop.
    pub fn step_of(&self, value: Value) -> Step {
        self.0.get(&value).copied().unwrap_or(Step::By(0))
    }

    fn of_param(&self, function: &Function, parameter: Value, passed: Value) -> Step {
        use crate::ir::ValueDef::Result;
        let Result(instruction, _) = function.values[passed].definition else {
            return if passed == parameter { Step::By(0) } else { Step::Unknown };
        };
        let (left, right) = match function.insts[instruction].data {
            InstData::Binary { opcode: BinaryOp::Add, arguments: [left, right], .. } => (left, right),
            InstData::PtrAdd { base, offset, .. } => (base, offset),
            _ => return Step::Unknown,
        };
        let increment = match (left == parameter, right == parameter) {
            (true, false) => right,
            (false, true) => left,
            _ => return Step::Unknown,
        };
        match (function.signed_constant(increment), self.step_of(increment)) {
            (Some(increment), _) => Step::By(increment),
            (None, Step::By(0)) => Step::Pitch,
            _ => Step::Unknown,
        }
    }

    fn of_result(&self, function: &Function, instruction: Inst) -> Step {
        let inst_data = &function.insts[instruction].data;
        match *inst_data {
            InstData::Binary { opcode: BinaryOp::Add, arguments: [left, right], .. } => {
                self.step_of(left).plus(self.step_of(right))
            }
            InstData::PtrAdd { base, offset, .. } => self.step_of(base).plus(self.step_of(offset)),
            InstData::Binary { opcode: BinaryOp::Sub, arguments: [left, right], .. } => {
                self.step_of(left).plus(self.step_of(right).times(-1))
            }
            InstData::Binary { opcode: BinaryOp::Mul, arguments: [left, right], .. } => {
                match (self.step_of(left), self.step_of(right)) {
                    (Step::By(0), step) => self.scale_step(function, step, left),
                    (step, Step::By(0)) => self.scale_step(function, step, right),
                    _ => Step::Unknown,
                }
            }
            InstData::Binary { opcode: BinaryOp::Shl, arguments: [left, right], .. } => {
                match (function.signed_constant(right), self.step_of(right)) {
                    (Some(bits @ 0..=62), _) => self.step_of(left).times(1 << bits),
                    (None, Step::By(0)) => self.scale_step(function, self.step_of(left), right),
                    _ => Step::Unknown,
                }
            }
            InstData::Unary {
                opcode: UnaryOp::Sext | UnaryOp::Zext | UnaryOp::Trunc | UnaryOp::Freeze,
                argument,
                ..
            } => self.step_of(argument),
            _ => {
                let mut is_invariant = !matches!(inst_data, InstData::Load { .. });
                inst_data.for_each_arg(|argument| is_invariant &= self.step_of(argument) == Step::By(0));
                if is_invariant { Step::By(0) } else { Step::Unknown }
            }
        }
    }

    /// The step of a product with what stays the same.
    fn scale_step(&self, function: &Function, step: Step, factor: Value) -> Step {
        match (step, function.signed_constant(factor)) {
            (Step::By(0), _) => Step::By(0),
            (step, Some(factor)) => step.times(factor),
            (Step::Unknown, None) => Step::Unknown,
            (_, None) => Step::Pitch,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::cfg::build_cfg;
    use crate::analysis::dominators::compute_dominators;
    use crate::analysis::loops::find_loops;
    use crate::ir::parse_module;

    /// The step of `v20` in a loop that counts `v6` up by one, and of which `v5` is an argument and `v9` is loaded.
    fn step_in_loop(computed: &str) -> Step {
        let text = format!(
            "kernel \"k\" {{\n args 16\n param \"a\" pointer.global \"int*\" size 8 align 8 offset 0\n \
             param \"n\" value \"int\" size 4 align 4 offset 8\n input value(0, 0): ptr.global\n input value(1, 0): i32\n \
             region r0 {{\n b0(v0: ptr.global, v5: i32):\n jump b1(0:i32)\n b1(v6: i32):\n v9: i32 = load v0 align 4\n \
             {computed}\n v7: i32 = add v6, 1\n v8: i1 = icmp.slt v7, v5\n br v8, b1(v7), b2\n b2:\n return\n }}\n}}\n"
        );
        let module = parse_module(&text).unwrap_or_else(|error| panic!("{error}\n{text}"));
        let function = module.kernels[0].regions.values().next().unwrap();
        let flow_graph = build_cfg(function);
        let loop_forest = find_loops(&flow_graph, &compute_dominators(&flow_graph));
        let (loop_id, _) = loop_forest.iter().next().unwrap();
        let steps = LoopSteps::follow_values(function, &loop_forest, loop_id);
        let last = function.layout.iter().flat_map(|&block| &function.blocks[block].insts).nth_back(2).unwrap();
        steps.step_of(function.insts[*last].results[0])
    }

    #[test]
    fn steps_of_sums_products_and_what_is_loaded() {
        assert_eq!(step_in_loop("v20: i32 = mul v6, 12"), Step::By(12));
        assert_eq!(step_in_loop("v19: i32 = shl v6, 3\n v20: i32 = add v19, v5"), Step::By(8));
        assert_eq!(step_in_loop("v20: i32 = sub v5, v6"), Step::By(-1));
        assert_eq!(step_in_loop("v20: i32 = mul v5, v5"), Step::By(0));
        assert_eq!(step_in_loop("v19: i32 = mul v6, v5\n v20: i32 = add v19, v5"), Step::Pitch);
        assert_eq!(step_in_loop("v20: i32 = mul v6, v6"), Step::Unknown);
        assert_eq!(step_in_loop("v20: i32 = add v9, v6"), Step::Unknown);
        let address = |by: &str| {
            step_in_loop(&format!("v18: i64 = sext v6\n v19: i64 = mul v18, {by}\n v20: ptr.global = ptradd v0, v19"))
        };
        assert_eq!(address("64"), Step::By(64));
        assert!(address("64").leaves_line() && !address("32").leaves_line());
        assert!(Step::Pitch.leaves_line() && !Step::Unknown.leaves_line());
    }
}
