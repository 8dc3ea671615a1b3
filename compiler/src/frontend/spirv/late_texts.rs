//! What is written into a function only when it ends: phis, as LLVM wants a predecessor's value once for each edge from it and the
//! edges are known then; vectors that tell the work-item of itself, which are left out where nobody uses them as a whole, as
//! producers read such a vector for each component that they want of it; arrays of variable length, as only some of them share memory;
//! and at the function's entry that memory, and the memory for what tells the work-item of itself where its address is used.

use spirv::Op;

use super::built_ins::spell_addresses;
use super::dominance::Use;
use super::error::{Attempt, Fault, refuse};
use super::function_state::{FunctionState, LateContent, LateText, Phi};
use super::ids::IdSet;
use super::translator::Translator;
use super::values::Value;

/// Writes what belongs to earlier places of the function that ends.
pub(super) fn write_late_texts(translator: &mut Translator<'_>) -> Attempt<()> {
    // Phis are spelt first: they may use vectors that stand before them.
    let mut phis = spell_phis(translator)?.into_iter();
    let mut entry = spell_addresses(translator)?;
    if let Some(state) = translator.function.as_mut() {
        entry.push_str(&state.entry_lines);
    }
    let late_texts =
        translator.function.as_mut().map(|state| std::mem::take(&mut state.late_texts)).unwrap_or_default();
    let mut written = 0;
    for LateText { position, content } in late_texts {
        translator.functions.push_str(&translator.body[written..position]);
        written = position;
        match content {
            LateContent::Phi(_) => translator.functions.extend(phis.next()),
            LateContent::Entry => translator.functions.push_str(&entry),
            LateContent::Lines { lines, is_used } if is_used.get() => translator.functions.push_str(&lines),
            LateContent::Lines { .. } => {}
        }
    }
    translator.body.drain(..written);
    translator.check_growth()
}

/// The phis of the function in their order.
fn spell_phis(translator: &Translator<'_>) -> Attempt<Vec<String>> {
    let Some(state) = translator.function.as_ref() else { return Ok(Vec::new()) };
    let mut spelt = Vec::new();
    let mut text_bytes = 0;
    for late_text in &state.late_texts {
        let LateContent::Phi(phi) = &late_text.content else { continue };
        let text = spell_phi(translator, state, phi)
            .map_err(|Fault { sentence, .. }| Fault { sentence, place: Some(phi.place) })?;
        text_bytes += text.len();
        translator.check_growth_by(text_bytes)?;
        spelt.push(text);
    }
    Ok(spelt)
}

fn spell_phi(translator: &Translator<'_>, state: &FunctionState, phi: &Phi) -> Attempt<String> {
    let mut spelt = Vec::new();
    for &[value, block] in &phi.incoming {
        let edge_count = state.edges.get(&(block, phi.block)).copied().unwrap_or(0);
        if edge_count == 0 {
            refuse!("the phi %{} takes a value from the block %{block}, which does not lead to it", phi.id);
        }
        translator.check_type(value, phi.value_type)?;
        let text = translator.find_operand(value)?.text;
        let local = match translator.values.find_value(value) {
            Some(Value::Local(local) | Value::BuiltInVector { local, .. }) => Some(local),
            _ => None,
        };
        if let Some(definition) = local.and_then(|local| local.block) {
            state.note_use(Use { value, definition, block, place: phi.place });
        }
        spelt.extend(std::iter::repeat_n(format!("[ {text}, %b{block} ]"), edge_count as usize));
    }
    let arrivals = state.arrivals.get(&phi.block).copied().unwrap_or(0);
    if spelt.len() != arrivals {
        refuse!("the phi %{} has values for {} of {arrivals} jumps to its block", phi.id, spelt.len());
    }
    let text = translator.types.type_text(phi.value_type)?;
    Ok(format!("  {} = phi {text} {}\n", phi.value, spelt.join(", ")))
}

/// `OpPhi`, completed when the predecessors of its block are known.
pub(super) fn translate_phi(translator: &mut Translator<'_>, _: Op, words: &[u32]) -> Attempt<()> {
    let mut operands = translator.operands(words);
    let (value_type, id) = operands.take_result()?;
    let incoming = operands.take_ids()?;
    let (pairs, rest) = incoming.as_chunks::<2>();
    if !rest.is_empty() {
        refuse!("a value without the block that it comes from");
    }
    let mut blocks = IdSet::default();
    if let Some([_, block]) = pairs.iter().find(|[_, block]| !blocks.insert(*block)) {
        refuse!("the block %{block} stands twice");
    }
    translator.types.find_type(value_type)?;
    let position = translator.body.len();
    let value = translator.define_number(value_type, id)?;
    let Some(state) = translator.function.as_mut() else { refuse!("it is not in a function") };
    let (place, block) = (translator.place, state.block.unwrap_or_default());
    let phi = Phi { place, id, value, value_type, block, incoming: pairs.to_vec() };
    state.late_texts.push(LateText { position, content: LateContent::Phi(phi) });
    Ok(())
}
