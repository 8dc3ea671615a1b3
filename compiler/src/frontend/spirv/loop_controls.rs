//! What a module wants of a loop: LLVM's metadata for it, which clang writes for `#pragma unroll` as well. The clean-up writes loops out by it.
//!
//! Structured loops have it with their header (`OpLoopMerge`), others with the jump back to it (`OpLoopControlINTEL`). LLVM looks
//! for it at jumps back to a header.

use spirv::{LoopControl, Op};

use super::error::{Attempt, refuse};
use super::operands::Operands;
use super::translator::Translator;

/// `OpLoopMerge`: notes what is wanted of the loop whose header is the current block.
pub(super) fn translate_loop_merge(translator: &mut Translator<'_>, _: Op, words: &[u32]) -> Attempt<()> {
    let mut operands = translator.operands(words);
    let (_merge, _continue) = (operands.take_id()?, operands.take_id()?);
    let node = read_controls(translator, operands)?;
    if let (Some(node), Some(state)) = (node, translator.function.as_mut()) {
        state.wanted_of_loops.insert(state.block.unwrap_or_default(), node);
    }
    Ok(())
}

/// `OpLoopControlINTEL`: notes what is wanted of the loop that the next jump goes back to the header of.
pub(super) fn translate_loop_control(translator: &mut Translator<'_>, _: Op, words: &[u32]) -> Attempt<()> {
    let node = read_controls(translator, translator.operands(words))?;
    if let Some(state) = translator.function.as_mut() {
        state.wanted_of_jump = node;
    }
    Ok(())
}

/// A node for the loop, if something of what is wanted is known to LLVM. How often a loop runs and how far apart its iterations depend on
/// each other is known to none of the passes that run.
fn read_controls(translator: &mut Translator<'_>, mut operands: Operands<'_>) -> Attempt<Option<usize>> {
    let controls = LoopControl::from_bits_retain(operands.take_literal()?);
    let mut wishes = Vec::new();
    if controls.contains(LoopControl::UNROLL) {
        wishes.push("!{!\"llvm.loop.unroll.enable\"}".to_owned());
    }
    if controls.contains(LoopControl::DONT_UNROLL) {
        wishes.push("!{!\"llvm.loop.unroll.disable\"}".to_owned());
    }
    // Each of these has a number, in the order of the bits.
    for control in [
        LoopControl::DEPENDENCY_LENGTH,
        LoopControl::MIN_ITERATIONS,
        LoopControl::MAX_ITERATIONS,
        LoopControl::ITERATION_MULTIPLE,
        LoopControl::PEEL_COUNT,
        LoopControl::PARTIAL_COUNT,
    ] {
        if controls.contains(control) {
            let number = operands.take_literal()?;
            if control == LoopControl::PARTIAL_COUNT && number > 0 {
                wishes.push(format!("!{{!\"llvm.loop.unroll.count\", i32 {}}}", number.min(i32::MAX as u32)));
            }
        }
    }
    if controls.contains(LoopControl::UNROLL | LoopControl::DONT_UNROLL) {
        refuse!("the loop is to be unrolled and not to be unrolled");
    }
    if wishes.is_empty() {
        return Ok(None);
    }
    let wishes: Vec<String> = wishes.into_iter().map(|wish| translator.add_metadata(wish)).collect();
    // Each loop has a node of its own, which names itself.
    let node = translator.metadata.len();
    translator.metadata.push(format!("distinct !{{!{node}, {}}}", wishes.join(", ")));
    translator.check_growth_by(translator.metadata.len() * 64)?;
    Ok(Some(node))
}
