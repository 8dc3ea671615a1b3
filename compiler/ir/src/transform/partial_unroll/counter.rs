//! What counts the iterations of a loop of one block: parameters that grow by constants, and how long the loop goes on.
//!
//! Requires: a block that is a loop with its empty latch, and the edge back to it.
//! Ensures: how a parameter grows, which comparison ends the loop, and how often it runs, where that is known; nothing changes.
//! Phases: the comparison; the parameter that it is of; as many steps as a caller asks for.
//! Source: textbook (induction variables; Muchnick 1997, 14.1).

use crate::ir::*;

/// The greatest growth of a parameter from iteration to iteration.
const MOST_STEP: i64 = 64;

/// A parameter of a loop that grows by a constant.
#[derive(Clone, Copy)]
pub(super) struct Step {
    /// What it is in the next iteration.
    pub next: Value,
    /// By how much it grows; not negative.
    pub by: i64,
    /// What is promised of the addition.
    pub flags: IntFlags,
}

/// How a parameter of a block that is a loop grows from iteration to iteration, if that is by a constant.
pub(super) fn parameter_step(
    function: &Function,
    block: Block,
    parameter: Value,
    back_edge: &BlockCall,
) -> Option<Step> {
    let position = function.blocks[block].params.iter().position(|&other| other == parameter)?;
    let next = back_edge.arguments[position];
    let ValueDef::Result(instruction, _) = function.values[next].definition else { return None };
    let (increment, flags) = match function.insts[instruction].data {
        InstData::Binary { opcode: BinaryOp::Add, arguments: [argument, increment], flags, .. }
            if argument == parameter =>
        {
            (increment, flags)
        }
        InstData::PtrAdd { base, offset, .. } if base == parameter => (offset, IntFlags::default()),
        _ => return None,
    };
    let by = function.signed_constant(increment)?;
    (0..=MOST_STEP).contains(&by).then_some(Step { next, by, flags })
}

/// Whether a value is the same in all iterations of a block that is a loop.
pub(super) fn is_invariant(function: &Function, block: Block, value: Value) -> bool {
    match function.values[value].definition {
        ValueDef::Param(of, _) => of != block,
        ValueDef::Result(instruction, _) => !function.blocks[block].insts.contains(&instruction),
        _ => true,
    }
}

/// What tells whether a loop goes on: `compared` is below `bound`, or another number.
#[derive(Clone, Copy)]
pub(super) struct LoopCounter {
    /// The place among the loop's parameters of the one that counts.
    pub param: usize,
    /// It, or what it is in the next iteration.
    pub compared: Value,
    pub comparison: IntCc,
    pub bound: Value,
    pub step: i64,
}

impl LoopCounter {
    /// What ends a loop of one block that goes on by this condition, or ends by it, if such a counter does.
    pub fn find_counter(
        function: &Function,
        block: Block,
        condition: Value,
        back_edge: &BlockCall,
        exit_if_true: bool,
    ) -> Option<LoopCounter> {
        let ValueDef::Result(instruction, _) = function.values[condition].definition else { return None };
        let InstData::Icmp { comparison, arguments: [left, right] } = function.insts[instruction].data else {
            return None;
        };
        let (compared, bound, comparison) = if is_invariant(function, block, right) {
            (left, right, comparison)
        } else {
            (right, left, comparison.swapped())
        };
        let comparison = if exit_if_true { opposite_comparison(comparison) } else { comparison };
        if !is_invariant(function, block, bound) || !function.ty(bound).is_int() {
            return None;
        }
        let counts = |(position, &parameter): (usize, &Value)| {
            let step = parameter_step(function, block, parameter, back_edge)?;
            [parameter, step.next].contains(&compared).then_some((position, step.by))
        };
        let (param, step) = function.blocks[block].params.iter().enumerate().find_map(counts)?;
        match comparison {
            IntCc::Ne if step == 1 => {}
            IntCc::Slt | IntCc::Sle | IntCc::Ult | IntCc::Ule if step > 0 => {}
            _ => return None,
        }
        // Numbers of iterations are to fit.
        (function.ty(bound).bits() >= 16).then_some(LoopCounter { param, compared, comparison, bound, step })
    }

    /// How often a block runs that this is the counter of and that is entered with this number, if that is known and not
    /// more than so many times.
    pub fn count_iterations(&self, function: &Function, block: Block, entered_with: Value, most: u64) -> Option<u64> {
        let bound = function.signed_constant(self.bound)?;
        let greatest = (function.ty(self.bound).value_mask() >> 1) as i64;
        let mut compared = function.signed_constant(entered_with)?;
        if function.blocks[block].params[self.param] != self.compared {
            compared = compared.checked_add(self.step)?;
        }
        let mut iterations = 1;
        // Of numbers that are not below zero and do not wrap, the comparisons mean the same.
        while bound >= 0 && (0..=greatest).contains(&compared) {
            let goes_on = match self.comparison {
                IntCc::Ne => compared != bound,
                IntCc::Sle | IntCc::Ule => compared <= bound,
                _ => compared < bound,
            };
            if !goes_on {
                return Some(iterations);
            }
            iterations += 1;
            compared = compared.checked_add(self.step)?;
            if iterations > most {
                break;
            }
        }
        None
    }

    /// Whether a loop goes on for so many iterations more, where this is compared after the first of them.
    pub fn goes_on(self, builder: &mut Builder<'_>, compared: Value, iterations: u64) -> Value {
        let bound_type = builder.function.ty(self.bound);
        // As far as it is compared in the last one.
        let last_step = (iterations as i64 - 1) * self.step;
        let left = builder.binary(BinaryOp::Sub, self.bound, compared);
        if self.comparison == IntCc::Ne {
            let wanted = builder.int(bound_type, i128::from(iterations));
            return builder.icmp(IntCc::Uge, left, wanted);
        }
        let goes_on = builder.icmp(self.comparison, compared, self.bound);
        let beyond = if matches!(self.comparison, IntCc::Slt | IntCc::Ult) { IntCc::Ugt } else { IntCc::Uge };
        let last_step = builder.int(bound_type, last_step.into());
        let is_far = builder.icmp(beyond, left, last_step);
        builder.binary(BinaryOp::And, goes_on, is_far)
    }
}

fn opposite_comparison(comparison: IntCc) -> IntCc {
    match comparison {
        IntCc::Eq => IntCc::Ne,
        IntCc::Ne => IntCc::Eq,
        IntCc::Slt => IntCc::Sge,
        IntCc::Sle => IntCc::Sgt,
        IntCc::Sgt => IntCc::Sle,
        IntCc::Sge => IntCc::Slt,
        IntCc::Ult => IntCc::Uge,
        IntCc::Ule => IntCc::Ugt,
        IntCc::Ugt => IntCc::Ule,
        IntCc::Uge => IntCc::Ult,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ir::parse_module;

    /// How often a loop runs, up to 16 times, that starts at a number, grows by a step and goes on while what is compared is so.
    fn count(ty: &str, first: i64, step: i64, compared: &str, condition: &str) -> Option<u64> {
        let text = format!(
            "kernel \"k\" {{\n args 8\n param \"a\" pointer.global \"int*\" size 8 align 8 offset 0\n input value(0, 0): ptr.global\n \
             region r0 {{\n b0(v0: ptr.global):\n jump b1({first})\n b1(v1: {ty}):\n v2: {ty} = add v1, {step}\n \
             v3: i1 = icmp.{condition}\n br v3, b2, b3\n b2:\n jump b1(v2)\n b3:\n return\n }}\n}}\n"
        )
        .replace("compared", compared);
        let module = parse_module(&text).unwrap_or_else(|error| panic!("{error}\n{text}"));
        let function = module.kernels[0].regions.values().next().unwrap();
        let [entry, block, latch] = [0, 1, 2].map(|index: usize| function.layout[index]);
        let Terminator::Jump(entry_edge) = &function.blocks[entry].terminator else { panic!("the entry jumps") };
        let Terminator::Jump(back_edge) = &function.blocks[latch].terminator else { panic!("the latch jumps") };
        let Terminator::Branch { condition, .. } = function.blocks[block].terminator else { panic!("a loop branches") };
        let counter = LoopCounter::find_counter(function, block, condition, back_edge, false)?;
        counter.count_iterations(function, block, entry_edge.arguments[counter.param], 16)
    }

    #[test]
    fn iterations_are_counted_by_each_comparison() {
        assert_eq!(count("i32", 0, 1, "v2", "slt compared, 5:i32"), Some(5));
        assert_eq!(count("i32", 0, 1, "v1", "slt compared, 5:i32"), Some(6), "what comes in is compared");
        assert_eq!(count("i32", 0, 1, "v2", "sle compared, 5:i32"), Some(6));
        assert_eq!(count("i32", 0, 3, "v2", "ult compared, 10:i32"), Some(4));
        assert_eq!(count("i64", 2, 1, "v2", "ne compared, 9:i64"), Some(7));
        assert_eq!(count("i32", 7, 1, "v2", "slt compared, 5:i32"), Some(1), "a loop runs once at least");
    }

    #[test]
    fn what_runs_too_often_or_wraps_is_not_counted() {
        assert_eq!(count("i32", 0, 1, "v2", "slt compared, 16:i32"), Some(16));
        assert_eq!(count("i32", 0, 1, "v2", "slt compared, 17:i32"), None);
        assert_eq!(count("i16", 32760, 1, "v2", "sle compared, 32767:i16"), None, "it goes on below zero");
        assert_eq!(count("i32", -3, 1, "v2", "slt compared, 2:i32"), None, "below zero");
        assert_eq!(count("i64", 9, 1, "v2", "ne compared, 2:i64"), None, "all numbers come");
    }
}
