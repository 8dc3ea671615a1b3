//! In code that is wanted at once, arms behind gates whose values take several registers run in pieces of as many lanes as fill one.
//!
//! Code generation writes an operation on a vector of four registers four times. Arms that hardly a lane enters, as those of `sin` for
//! large arguments, which compute in double what all else computes in float, are the greater part of a kernel's code so, and of the time
//! that it takes to make it. In a loop over pieces each operation is written once. Where all lanes enter the arm it takes twice the time,
//! so code that stays has its arms whole.
//!
//! Requires: a module behind all passes that join or copy blocks. Branches of which one side is for any lane have metadata
//! ([`ANY_LANE`](crate::codegen::ANY_LANE)): what they decide is passed over where no lane wants it, and may be where one does.
//! Ensures: an arm behind such a gate without loops, stores and other effects, whose lanes know nothing of each other and whose widest
//! values take at least [`LEAST_PIECES`] registers, is a loop. Its lanes compute what they did.
//! Phases: the arms of a function, each with what enters and leaves it ([`arm`]); then each becomes a loop ([`pieces`]), with what
//! enters and leaves in memory, by instructions for fewer lanes ([`narrow_copy`]).
//! Source: our own; strip-mining (Allen & Kennedy, Optimizing Compilers for Modern Architectures, 2001, section 5.8).
//!
//! ```text
//! gate:                                  gate:
//!   br any(%m), %arm, %join                br any(%m), %before, %join
//! arm:                                   before:
//!   %y = fpext <16 x float> %x …           store <16 x float> %x, ptr %xs
//!   …                                      br %piece
//!   br %join                       =>    piece:
//! join:                                    %lane = phi [0, %before], [%next, %last]
//!   %z = phi [%y2, %arm], …                %x8 = load <8 x float>, ptr %xs[%lane]
//!                                          %y = fpext <8 x float> %x8 …
//!                                          …
//!                                        last:
//!                                          store <8 x float> %y2, ptr %ys[%lane]
//!                                          %next = add %lane, 8
//!                                          br %next == 16, %behind, %piece
//!                                        behind:
//!                                          %y3 = load <16 x float>, ptr %ys
//!                                          br %join
//! ```

mod arm;
mod narrow_copy;
mod pieces;

use std::collections::HashMap;

use inkwell::basic_block::BasicBlock;
use inkwell::builder::BuilderError;
use inkwell::module::Module;
use inkwell::values::FunctionValue;

use crate::frontend::llvm::successors;
use arm::Arm;

/// Registers that an arm's widest values take from which on it is worth a loop.
const LEAST_PIECES: u32 = 2;

/// Operations on such values from which on an arm is worth a loop.
const LEAST_OPERATIONS: usize = 12;

/// Bytes of the stack that all arms of a function may take for what enters and leaves them.
const MOST_STACK: u32 = 4096;

/// Makes loops of such arms in all functions, for registers of so many bits.
///
/// # Errors
/// When LLVM refuses an instruction.
pub fn run_arms_in_pieces(module: &Module<'_>, register_bits: u32) -> Result<(), BuilderError> {
    module.get_functions().try_for_each(|function| run_arms_of_function(function, register_bits))
}

fn run_arms_of_function(function: FunctionValue<'_>, register_bits: u32) -> Result<(), BuilderError> {
    let mut stack_left = MOST_STACK;
    // An outer arm comes before those in it, and takes them along.
    let mut gates = function.get_basic_blocks();
    while !gates.is_empty() {
        let predecessors = list_predecessors(function);
        let found = gates.iter().enumerate().find_map(|(position, &gate)| {
            let arm = Arm::find_behind(gate, &predecessors, register_bits)?;
            (arm.stack_bytes() <= stack_left).then_some((position, arm))
        });
        let Some((position, arm)) = found else { break };
        stack_left -= arm.stack_bytes();
        gates.drain(..=position);
        gates.retain(|block| !arm.blocks.contains(block));
        pieces::run_in_pieces(function, &arm)?;
    }
    Ok(())
}

/// The blocks that lead to each block, once for every edge.
fn list_predecessors<'ctx>(function: FunctionValue<'ctx>) -> HashMap<BasicBlock<'ctx>, Vec<BasicBlock<'ctx>>> {
    let mut predecessors: HashMap<_, Vec<_>> = HashMap::new();
    for block in function.get_basic_blocks() {
        successors(block).for_each(|successor| predecessors.entry(successor).or_default().push(block));
    }
    predecessors
}

#[cfg(test)]
mod tests {
    use super::*;
    use inkwell::context::Context;
    use inkwell::memory_buffer::MemoryBuffer;

    /// A function with an arm of these lines, which has `%wide`, and gives `%result` to the φ behind it.
    fn with_arm(arm: &str, condition: &str) -> String {
        format!(
            "@table = private constant [64 x double] zeroinitializer
define void @f(ptr %in, ptr %out, i1 %flag) {{
gate:
  %x = load <16 x float>, ptr %in
  %mask = fcmp ogt <16 x float> %x, splat (float 3.0)
  %bits = bitcast <16 x i1> %mask to i16
  %words = load <16 x i16>, ptr %in
  %fives = trunc <16 x i16> %words to <16 x i5>
  {condition}
arm:
  %wide = fpext <16 x float> %x to <16 x double>
{arm}
  br label %join
join:
  %merged = phi <16 x double> [ zeroinitializer, %gate ], [ %result, %{} ]
  store <16 x double> %merged, ptr %out
  ret void
}}
declare <16 x double> @llvm.fma.v16f64(<16 x double>, <16 x double>, <16 x double>)
declare <16 x double> @llvm.masked.gather.v16f64.v16p0(<16 x ptr>, <16 x i1>, <16 x double>)
!0 = !{{}}
",
            if arm.contains("inner_join:") { "inner_join" } else { "arm" }
        )
    }

    const ASKS_ANY: &str =
        "%none = icmp eq i16 %bits, 0\n  br i1 %none, label %join, label %arm, !lockstep.any_lane !0";

    /// So many additions to `%wide`, and the last one as `%result`.
    fn additions(count: usize) -> String {
        let name = |number| if number == 0 { "wide".to_owned() } else { format!("sum{number}") };
        let additions = (1..count).map(|number| {
            format!("  %{} = fadd <16 x double> %{}, splat (double 1.0)\n", name(number), name(number - 1))
        });
        additions.collect::<String>() + &format!("  %result = fadd <16 x double> %{}, %wide", name(count - 1))
    }

    /// The function after the pass, for registers of so many bits, as text; the module is still right.
    fn rewrite(text: &str, register_bits: u32) -> String {
        let context = Context::create();
        let buffer = MemoryBuffer::create_from_memory_range_copy(text.as_bytes(), "test");
        let module = context.create_module_from_ir(buffer).unwrap_or_else(|error| panic!("{error}\n{text}"));
        run_arms_in_pieces(&module, register_bits).unwrap();
        module.verify().unwrap_or_else(|error| panic!("{error}\n{}", module.print_to_string()));
        module.print_to_string().to_string()
    }

    #[test]
    fn an_arm_becomes_a_loop_over_registers() {
        let text = with_arm(&additions(LEAST_OPERATIONS), ASKS_ANY);
        for (register_bits, lanes) in [(512, 8), (256, 4), (128, 2)] {
            let rewritten = rewrite(&text, register_bits);
            assert!(rewritten.contains(&format!("fadd <{lanes} x double>")), "{rewritten}");
            assert!(!rewritten.contains("fadd <16 x double>"), "{rewritten}");
            let next_lane = rewritten.lines().find(|line| line.contains(" = add i64 ")).unwrap();
            assert!(next_lane.ends_with(&format!(", {lanes}")), "{rewritten}");
        }
        assert!(rewrite(&text, 1024).contains("fadd <16 x double>"), "it fills one register");
    }

    #[test]
    fn inner_gates_ask_the_lanes_of_a_piece() {
        let arm = format!(
            "{}
  %far = fcmp ogt <16 x double> %wide, splat (double 9.0)
  %far_bits = bitcast <16 x i1> %far to i16
  %none_far = icmp eq i16 %far_bits, 0
  br i1 %none_far, label %inner_join, label %inner, !lockstep.any_lane !0
inner:
  %places = getelementptr double, ptr @table, <16 x i64> <i64 0, i64 1, i64 2, i64 3, i64 4, i64 5, i64 6, i64 7, i64 8, i64 9, i64 10, i64 11, i64 12, i64 13, i64 14, i64 15>
  %loaded = call <16 x double> @llvm.masked.gather.v16f64.v16p0(<16 x ptr> align 8 %places, <16 x i1> %mask, <16 x double> zeroinitializer)
  %fused = call <16 x double> @llvm.fma.v16f64(<16 x double> %loaded, <16 x double> %first, <16 x double> %wide)
  br label %inner_join
inner_join:
  %result = phi <16 x double> [ %first, %arm ], [ %fused, %inner ]",
            additions(LEAST_OPERATIONS).replace("%result", "%first")
        );
        let rewritten = rewrite(&with_arm(&arm, ASKS_ANY), 512);
        assert!(
            rewritten.contains("bitcast <8 x i1>")
                && rewritten.contains("llvm.masked.gather.v8f64.v8p0(<8 x ptr> align 8")
        );
        assert!(rewritten.contains("llvm.fma.v8f64") && !rewritten.contains("call <16 x double>"), "{rewritten}");
    }

    /// The mask was made an integer in front of the arm, so what asks for it there is the same for all pieces.
    #[test]
    fn masks_of_all_lanes_may_be_asked_for_in_the_arm() {
        let arm = format!(
            "{}
  %some = icmp ne i16 %bits, 0
  br i1 %some, label %inner, label %inner_join, !lockstep.any_lane !0
inner:
  %more = fadd <16 x double> %first, %wide
  br label %inner_join
inner_join:
  %result = phi <16 x double> [ %first, %arm ], [ %more, %inner ]",
            additions(LEAST_OPERATIONS).replace("%result", "%first")
        );
        let rewritten = rewrite(&with_arm(&arm, ASKS_ANY), 512);
        assert!(rewritten.contains("fadd <8 x double>") && !rewritten.contains("fadd <16 x double>"), "{rewritten}");
        assert!(rewritten.contains("icmp ne i16 %bits, 0"), "{rewritten}");
    }

    #[test]
    fn other_arms_stay_as_they_are() {
        let long = additions(LEAST_OPERATIONS);
        let with_line = |line: &str| format!("  {line}\n{long}");
        let refused = [
            (additions(LEAST_OPERATIONS - 2), ASKS_ANY, "short"),
            (
                long.clone(),
                "%none = icmp eq i16 %bits, 0\n  br i1 %none, label %join, label %arm",
                "nobody says it is a gate",
            ),
            (long.clone(), "br i1 %flag, label %join, label %arm, !lockstep.any_lane !0", "no lanes are asked"),
            (with_line("%word = load atomic i32, ptr %out monotonic, align 4"), ASKS_ANY, "it reads what others write"),
            (with_line("%odd = xor <16 x i5> %fives, splat (i5 1)"), ASKS_ANY, "five bits are no bytes"),
            (with_line("store i32 1, ptr %out"), ASKS_ANY, "it stores"),
            (with_line("%row = load <16 x double>, ptr %in"), ASKS_ANY, "it loads what lies side by side"),
            (with_line("%lane = extractelement <16 x double> %wide, i32 3"), ASKS_ANY, "one lane is picked"),
            (
                with_line("%turned = shufflevector <16 x double> %wide, <16 x double> %wide, <16 x i32> splat (i32 1)"),
                ASKS_ANY,
                "lanes change places",
            ),
            (
                with_line("%vote = bitcast <16 x i1> %mask to i16\n  store i16 %vote, ptr %out"),
                ASKS_ANY,
                "a mask is kept",
            ),
        ];
        for (arm, condition, reason) in refused {
            let text = with_arm(&arm, condition);
            assert!(rewrite(&text, 512).contains("fadd <16 x double>"), "{reason}");
        }
        let vote = "%vote = bitcast <16 x i1> %mask to i16
  %is_any = icmp ne i16 %vote, 0
  br i1 %is_any, label %inner, label %inner_join
inner:
  br label %inner_join
inner_join:
  %result = phi <16 x double> [ %first, %arm ], [ zeroinitializer, %inner ]";
        let arm = format!("{}\n{vote}", long.replace("%result", "%first"));
        assert!(rewrite(&with_arm(&arm, ASKS_ANY), 512).contains("fadd <16 x double>"), "a vote is none of a piece");
    }
}
