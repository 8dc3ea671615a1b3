//! Private arrays whose length a value tells (`SPV_INTEL_variable_length_array`). It has to be a constant, or one that the application
//! gives: private memory is laid out when the program is built.
//!
//! The memory is there from the function's beginning to its end, so that saving and restoring the stack does nothing.

use std::collections::HashMap;

use spirv::{Decoration, Op};

use super::error::{Attempt, refuse};
use super::ids::{Id, IdSet};
use super::memory::{MAX_VARIABLE, spell_alignment};
use super::translator::Translator;
use super::values::ValueText;

/// Most arrays of a function behind its first block: for each a way back to it is looked for.
const MOST_LATE_ARRAYS: usize = 64;

/// `OpVariableLengthArrayINTEL`: the address of the array's first element.
pub(super) fn translate_array(translator: &mut Translator<'_>, _: Op, words: &[u32]) -> Attempt<()> {
    let mut operands = translator.operands(words);
    let result = operands.take_result()?;
    let length = operands.take_id()?;
    let (space, element) = translator.types.pointer_parts(result.0)?;
    if space != 0 {
        refuse!("its result is not an address of private memory");
    }
    let Some(length) = translator.constants.known_bits(length) else {
        refuse!("the length %{length} is not a constant, as lengths of private arrays have to be on this device");
    };
    let element = translator.types.find_type(element)?;
    let bytes = element.size.next_multiple_of(element.align.max(1)).saturating_mul(length);
    if bytes == 0 || bytes > MAX_VARIABLE {
        refuse!("an array of {bytes} bytes in private memory; 1 to {MAX_VARIABLE} are allowed");
    }
    let text = element.text.clone();
    let alignment = spell_alignment(translator.declarations.decoration_number(result.1, Decoration::Alignment))?;
    let location = translator.lines.spell_location(&mut translator.metadata);
    let name = format!("%array.{}", result.1);
    let Some(state) = translator.function.as_mut() else { refuse!("it is not in a function") };
    state.entry_lines.push_str(&format!("  {name} = alloca {text}, i64 {length}{alignment}{location}\n"));
    if !state.is_first_block {
        state.late_arrays.extend(state.block);
    }
    translator.define_result(result, format_args!("bitcast ptr {name} to ptr"))
}

/// `OpSaveMemoryINTEL`: a value that only `OpRestoreMemoryINTEL` uses.
pub(super) fn translate_save(translator: &mut Translator<'_>, _: Op, words: &[u32]) -> Attempt<()> {
    let result = translator.operands(words).take_result()?;
    translator.types.pointer_space(result.0)?;
    translator.define_alias(result, ValueText::from("null"))
}

/// `OpRestoreMemoryINTEL`: arrays made since the stack was saved are no more.
pub(super) fn translate_restore(translator: &mut Translator<'_>, _: Op, words: &[u32]) -> Attempt<()> {
    let saved = translator.operands(words).take_id()?;
    translator.types.pointer_space(translator.type_of(saved)?)?;
    if let Some(state) = translator.function.as_mut() {
        state.restores_memory = true;
    }
    Ok(())
}

/// Refuses an array that is made several times in a call of the function and never ends: each would need memory of its own.
pub(super) fn check_arrays(translator: &Translator<'_>) -> Attempt<()> {
    let Some(state) = translator.function.as_ref().filter(|state| !state.restores_memory) else { return Ok(()) };
    if state.late_arrays.len() > MOST_LATE_ARRAYS {
        refuse!("{} arrays of variable length in a function; {MOST_LATE_ARRAYS} are allowed", state.late_arrays.len());
    }
    if state.late_arrays.is_empty() {
        return Ok(());
    }
    let mut targets: HashMap<Id, Vec<Id>> = HashMap::new();
    state.edges.keys().for_each(|&(block, target)| targets.entry(block).or_default().push(target));
    match state.late_arrays.iter().find(|&&block| leads_back(&targets, block)) {
        Some(block) => refuse!("an array of variable length is made in the loop of %{block} and does not end there"),
        None => Ok(()),
    }
}

/// Whether a way leads from a block to itself.
fn leads_back(targets: &HashMap<Id, Vec<Id>>, block: Id) -> bool {
    let mut reached = IdSet::default();
    let mut waiting = vec![block];
    while let Some(next) = waiting.pop() {
        for &target in targets.get(&next).map(Vec::as_slice).unwrap_or_default() {
            if target == block {
                return true;
            }
            if reached.insert(target) {
                waiting.push(target);
            }
        }
    }
    false
}
