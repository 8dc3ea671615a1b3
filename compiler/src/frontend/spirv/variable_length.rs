//! Private arrays whose length a value tells (`SPV_INTEL_variable_length_array`).
//!
//! An array whose length is known when the program is built, and that is made once in a call of the function, is a variable of the
//! function. Others take parts of one piece of private memory of the function, one behind the other, until it ends or
//! `OpRestoreMemoryINTEL` gives them back. The piece has [`ROOM`] bytes, and as many more as those arrays of known length come to if each is
//! made once; a work-item that wants more makes the launch fail (`kernels/cl/private_array.cl`).

use std::collections::HashMap;
use std::rc::Rc;

use spirv::{Decoration, Op};

use super::error::{Attempt, refuse};
use super::function_state::{FunctionState, LateArray, LateText, VariableLengthArrays};
use super::ids::{Id, IdSet};
use super::mangle::Parameter;
use super::memory::{MAX_VARIABLE, restore_alignment, spell_alignment};
use super::translator::Translator;
use super::values::{Typed, ValueText};

/// Bytes of private memory for the arrays of a function whose length only a run tells.
const ROOM: u64 = 64 << 10;

/// Bytes behind these. Without them the same bytes of the work-items of a gang would lie in one set of the processor's cache where all
/// lengths are those of a run.
const BYTES_APART: u64 = 256;

/// Arrays of known length behind the first block for which a way back to their block is looked for; further ones share memory.
const MOST_LATE_ARRAYS: usize = 64;

/// What an array is to be like.
struct ArrayRequest {
    result: (Id, Id),
    length: Id,
    /// Its element, in LLVM's words and in bytes.
    element: Rc<str>,
    element_bytes: u64,
    alignment: u64,
    /// The alignment that the module asks for, in LLVM's words.
    declared_alignment: String,
}

impl ArrayRequest {
    /// How LLVM's text calls the array's address.
    fn spell_name(&self) -> String {
        format!("%array.{}", self.result.1)
    }
}

/// `OpVariableLengthArrayINTEL` and `OpUntypedVariableLengthArrayINTEL`: the address of the array's first element.
pub(super) fn translate_array(translator: &mut Translator<'_>, opcode: Op, words: &[u32]) -> Attempt<()> {
    let request = read_request(translator, opcode, words)?;
    match translator.constants.known_bits(request.length) {
        Some(length) => make_known_array(translator, &request, length)?,
        None => {
            let line = take_shared_part(translator, &request)?;
            translator.emit_line(format_args!("{line}"));
            if let Some(state) = translator.function.as_mut() {
                state.arrays.share_memory(request.alignment);
            }
        }
    }
    translator.define_result(request.result, format_args!("bitcast ptr {} to ptr", request.spell_name()))
}

fn read_request(translator: &Translator<'_>, opcode: Op, words: &[u32]) -> Attempt<ArrayRequest> {
    let mut operands = translator.operands(words);
    let result = operands.take_result()?;
    if translator.types.pointer_space(result.0)? != 0 {
        refuse!("its result is not an address of private memory");
    }
    let element = match opcode {
        Op::UntypedVariableLengthArrayINTEL => operands.take_id()?,
        _ => translator.types.pointer_parts(result.0)?.1,
    };
    let length = operands.take_id()?;
    let length_type = translator.type_of(length)?;
    if translator.types.elements_of(length_type)?.1 != 1 {
        refuse!("its length is not an integer");
    }
    translator.types.int_width(length_type)?;
    let element = translator.types.find_type(element)?;
    let element_bytes = element.size.next_multiple_of(element.align.max(1));
    if element_bytes == 0 || element_bytes > MAX_VARIABLE {
        refuse!("an array in private memory of elements of {element_bytes} bytes; 1 to {MAX_VARIABLE} are allowed");
    }
    let declared = translator.declarations.decoration_number(result.1, Decoration::Alignment).map(restore_alignment);
    Ok(ArrayRequest {
        result,
        length,
        element: element.text.clone(),
        element_bytes,
        alignment: declared.map_or(1, u64::from).max(element.align).max(1),
        declared_alignment: spell_alignment(declared)?,
    })
}

/// Makes an array whose length is known: a variable of the function if its block is the first, or turns out to run once.
fn make_known_array(translator: &mut Translator<'_>, request: &ArrayRequest, length: u64) -> Attempt<()> {
    let bytes = request.element_bytes.saturating_mul(length);
    if bytes > MAX_VARIABLE {
        refuse!("an array of {bytes} bytes in private memory; {MAX_VARIABLE} are allowed");
    }
    // No variable is empty.
    let length = length.max(1);
    let location = translator.lines.spell_location(&mut translator.metadata);
    let ArrayRequest { element, alignment, declared_alignment, .. } = request;
    let variable =
        format!("  {} = alloca {element}, i64 {length}{declared_alignment}{location}\n", request.spell_name());
    let is_first_block = translator.function.as_ref().is_some_and(|state| state.is_first_block);
    if is_first_block {
        if let Some(state) = translator.function.as_mut() {
            state.entry_lines.push_str(&variable);
        }
        return Ok(());
    }
    let position = translator.body.len();
    let line = take_shared_part(translator, request)?;
    translator.emit_line(format_args!("{line}"));
    let lines = LateText::of_lines(position, translator.body.split_off(position));
    if let Some(state) = translator.function.as_mut() {
        let late_index = state.late_texts.len();
        state.late_texts.push(lines);
        let block = state.block.unwrap_or_default();
        state.arrays.late.push(LateArray { block, late_index, variable, bytes, alignment: *alignment });
    }
    Ok(())
}

/// The instruction that takes a part of the memory which the arrays of the function share.
fn take_shared_part(translator: &mut Translator<'_>, request: &ArrayRequest) -> Attempt<String> {
    let length = translator.typed(request.length)?;
    let count = match translator.types.int_width(translator.type_of(request.length)?)? {
        64 => length,
        _ => Typed::of_texts("i64", translator.define_extra(format_args!("zext {length} to i64"))),
    };
    let number = |number: u64| Typed::of_texts("i64", ValueText::from(number.to_string().as_str()));
    let named = |type_text: &str, name: &str| Typed::of_texts(type_text, ValueText::from(name));
    let arguments = [
        named("ptr", "%arrays"),
        named("ptr", "%arrays.used"),
        named("i64", "%arrays.room"),
        count,
        number(request.element_bytes),
        number(request.alignment),
    ];
    let [bytes, words] = ["h", "m"].map(|letter| Parameter::pointer_to(0, Parameter::Scalar(letter)));
    let [room, count, size, alignment] = ["m"; 4].map(Parameter::Scalar);
    let parameters = [bytes, words, room, count, size, alignment];
    let call = translator.call_built_in("__lockstep_take_private_array", &parameters, "ptr", &arguments)?;
    Ok(format!("{} = {call}", request.spell_name()))
}

/// `OpSaveMemoryINTEL`: how much of the shared memory is taken, as an address that only `OpRestoreMemoryINTEL` uses.
pub(super) fn translate_save(translator: &mut Translator<'_>, _: Op, words: &[u32]) -> Attempt<()> {
    let result = translator.operands(words).take_result()?;
    translator.types.pointer_space(result.0)?;
    if let Some(state) = translator.function.as_mut() {
        state.arrays.share_memory(1);
    }
    let type_text = translator.types.type_text(result.0)?;
    let used = translator.define_extra(format_args!("load i64, ptr %arrays.used"));
    translator.define_result(result, format_args!("inttoptr i64 {used} to {type_text}"))
}

/// `OpRestoreMemoryINTEL`: gives back what arrays have taken since the memory was saved.
pub(super) fn translate_restore(translator: &mut Translator<'_>, _: Op, words: &[u32]) -> Attempt<()> {
    let saved = translator.operands(words).take_id()?;
    translator.types.pointer_space(translator.type_of(saved)?)?;
    if let Some(state) = translator.function.as_mut() {
        state.arrays.share_memory(1);
    }
    let saved = translator.typed(saved)?;
    let used = translator.define_extra(format_args!("ptrtoint {saved} to i64"));
    translator.emit_line(format_args!("store i64 {used}, ptr %arrays.used"));
    Ok(())
}

/// Decides, when all jumps are known, which arrays are variables of the function, and makes the memory that the others share.
pub(super) fn place_arrays(translator: &mut Translator<'_>) -> Attempt<()> {
    let Some(state) = translator.function.as_mut() else { return Ok(()) };
    let late_arrays = std::mem::take(&mut state.arrays.late);
    let mut targets: HashMap<Id, Vec<Id>> = HashMap::new();
    if !late_arrays.is_empty() {
        state.edges.keys().for_each(|&(block, target)| targets.entry(block).or_default().push(target));
    }
    for (index, array) in late_arrays.iter().enumerate() {
        if index >= MOST_LATE_ARRAYS || leads_back(&targets, array.block) {
            state.late_texts[array.late_index].note_use();
            state.arrays.share_memory(array.alignment);
            state.arrays.add_known_bytes(array.bytes.saturating_add(array.alignment));
        } else {
            state.entry_lines.push_str(&array.variable);
        }
    }
    make_shared_memory(state)
}

/// Adds the memory that arrays share to the function's entry.
fn make_shared_memory(state: &mut FunctionState) -> Attempt<()> {
    let VariableLengthArrays { is_shared, alignment, known_bytes, .. } = state.arrays;
    if !is_shared {
        return Ok(());
    }
    let room = ROOM.saturating_add(known_bytes);
    let bytes = room.saturating_add(BYTES_APART);
    if bytes > MAX_VARIABLE {
        refuse!("arrays of {known_bytes} bytes in private memory that are made in loops; {MAX_VARIABLE} are allowed");
    }
    state.entry_lines.push_str(&format!(
        "  %arrays = alloca [{bytes} x i8], align {alignment}\n  %arrays.used = alloca i64, align 8\n  store i64 0, ptr %arrays.used\n  \
         %arrays.room = add i64 {room}, 0\n"
    ));
    Ok(())
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
