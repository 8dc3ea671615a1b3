//! What is known while a module is translated, and the text that it becomes.
//!
//! The values of a function have numbers in the order of its text, which LLVM reads and keeps with less work than names; a function's
//! block is written `b` and its label's id. Each instruction is judged against the types of its operands before it is written, so
//! that LLVM's parser has little left to refuse.

use std::collections::HashMap;
use std::fmt::{self, Write as _};

use lockstep_protocol::spirv_module::SpecializationValue;
use spirv::{BuiltIn, Op};

use super::declarations::Declarations;
use super::dominance::Use;
use super::error::{Attempt, Place, refuse};
use super::function_state::{BuiltInAddress, FunctionState, LateText};
use super::ids::{Id, IdMap, IdTable};
use super::known_constants::Constants;
use super::lines::Lines;
use super::mangle::{Parameter, mangle_name};
use super::operands::Operands;
use super::types::Types;
use super::values::{Local, Operand, Typed, Value, ValueNumber, ValueText};

/// Most bytes of text for each byte of the module, beside a few for all.
const MAX_GROWTH: usize = 256;
/// Bytes of text that every module may become.
const FREE_BYTES: usize = 1 << 24;

/// The translation of one module.
pub(super) struct Translator<'a> {
    pub declarations: Declarations,
    pub types: Types,
    pub constants: Constants,
    pub values: IdTable<Value>,
    /// The values that the application gave.
    pub specialization: &'a [SpecializationValue],
    /// The function whose instructions are read.
    pub function: Option<FunctionState>,
    /// The instruction that is being read.
    pub place: Place,
    pub lines: Lines,
    /// Whether quotients of floats are rounded correctly.
    pub divides_exactly: bool,
    /// All ids are less than this.
    pub bound: u32,
    /// Variables and constants in LLVM's text.
    pub globals: String,
    /// Functions in LLVM's text.
    pub functions: String,
    /// The text of the function whose instructions are read.
    pub body: String,
    /// Nodes of metadata; each is called by its index.
    pub metadata: Vec<String>,
    /// Which of the nodes are for all who want one that says the same.
    shared_metadata: HashMap<String, usize>,
    /// The nodes of alias scopes, of their domains and their lists, with what declared them.
    pub alias_scopes: IdMap<(Op, usize)>,
    /// Functions that are called and not defined here: their result and parameters, by name.
    pub called: HashMap<String, String>,
    /// Functions of the module that others can call: their result and parameters, by name.
    pub defined: HashMap<String, String>,
    /// Most bytes of text.
    limit: usize,
}

impl<'a> Translator<'a> {
    /// A translation that has not begun, of a module of so many bytes.
    pub fn new(bound: u32, module_bytes: usize, specialization: &'a [SpecializationValue]) -> Translator<'a> {
        Translator {
            declarations: Declarations::default(),
            types: Types::default(),
            constants: Constants::default(),
            values: IdTable::with_bound(bound, module_bytes),
            specialization,
            function: None,
            place: Place::default(),
            lines: Lines::default(),
            divides_exactly: false,
            bound,
            globals: String::new(),
            // Most modules become two to three times as long as text.
            body: String::new(),
            functions: String::with_capacity(module_bytes.saturating_mul(3)),
            metadata: Vec::new(),
            shared_metadata: HashMap::new(),
            alias_scopes: IdMap::default(),
            called: HashMap::new(),
            defined: HashMap::new(),
            limit: module_bytes.saturating_mul(MAX_GROWTH).saturating_add(FREE_BYTES),
        }
    }

    /// Refuses a module whose text grows out of proportion.
    pub fn check_growth(&self) -> Attempt<()> {
        self.check_growth_by(0)
    }

    /// The same where so many bytes are still to be added.
    pub fn check_growth_by(&self, more_bytes: usize) -> Attempt<()> {
        let texts = self.types.definitions.len() + self.globals.len() + self.functions.len() + self.body.len();
        let bytes = texts + self.constants.text_bytes() + more_bytes;
        if bytes > self.limit {
            refuse!("the module takes more than {} bytes as text: its constants are used too often", self.limit);
        }
        Ok(())
    }

    /// The operands of an instruction.
    pub fn operands<'w>(&self, words: &'w [u32]) -> Operands<'w> {
        Operands::new(words, self.bound)
    }

    /// A value as an operand.
    pub fn find_operand(&self, id: Id) -> Attempt<Operand> {
        match self.values.find_value(id) {
            Some(Value::Constant { value_type, text }) => {
                Ok(Operand { value_type: *value_type, text: ValueText::Constant(text.clone()) })
            }
            Some(Value::Local(local)) => {
                self.note_use(id, local)?;
                Ok(Operand { value_type: local.value_type, text: ValueText::Local(local.number) })
            }
            Some(Value::BuiltInVector { local, late_index, .. }) => {
                self.note_use(id, local)?.late_texts[*late_index as usize].note_use();
                Ok(Operand { value_type: local.value_type, text: ValueText::Local(local.number) })
            }
            Some(&Value::BuiltIn { value_type, content, built_in, component }) => {
                let Some(state) = self.function.as_ref() else {
                    refuse!("the address of the variable {built_in:?} is known within functions only")
                };
                let address = BuiltInAddress { built_in: built_in as u32, content, component };
                let text = ValueText::Constant(address.to_string().into());
                state.note_built_in_address(address);
                Ok(Operand { value_type, text })
            }
            Some(Value::SampledImage { .. }) => refuse!("%{id} is an image with a sampler, which can only be sampled"),
            None => refuse!("%{id} is not a value that was computed before"),
        }
    }

    /// Notes that the current block uses a value of the function; gives what is known of the function.
    pub fn note_use(&self, id: Id, local: &Local) -> Attempt<&FunctionState> {
        let Some(state) = self.function.as_ref().filter(|current| current.id == local.function) else {
            refuse!("%{id} is a value of another function");
        };
        if let (Some(definition), Some(current)) = (local.block, state.block) {
            state.note_use(Use { value: id, definition, block: current, place: self.place });
        }
        Ok(state)
    }

    /// A value with its type.
    pub fn typed(&self, id: Id) -> Attempt<Typed> {
        let operand = self.find_operand(id)?;
        Ok(Typed { type_text: self.types.type_text(operand.value_type)?, text: operand.text })
    }

    /// The type of a value, whatever it is.
    pub fn type_of(&self, id: Id) -> Attempt<Id> {
        match self.values.find_value(id) {
            Some(
                Value::Local(Local { value_type, .. })
                | Value::BuiltInVector { local: Local { value_type, .. }, .. }
                | Value::Constant { value_type, .. }
                | Value::BuiltIn { value_type, .. }
                | Value::SampledImage { value_type, .. },
            ) => Ok(*value_type),
            None => refuse!("%{id} is not a value that was computed before"),
        }
    }

    /// Refuses a value of another type.
    pub fn check_type(&self, id: Id, expected: Id) -> Attempt<()> {
        let actual = self.type_of(id)?;
        if actual != expected && self.types.type_text(actual)? != self.types.type_text(expected)? {
            let (actual, expected) = (self.types.type_text(actual)?, self.types.type_text(expected)?);
            refuse!("%{id} is of type {actual}, where {expected} is needed");
        }
        Ok(())
    }

    /// Says what an id stands for.
    pub fn set_value(&mut self, id: Id, value: Value) -> Attempt<()> {
        if self.types.contains(id) || self.values.define_value(id, value).is_some() {
            refuse!("%{id} is defined twice");
        }
        Ok(())
    }

    /// Adds a line to the function.
    pub fn emit_line(&mut self, line: fmt::Arguments<'_>) {
        self.body.push_str("  ");
        self.end_line(line);
    }

    /// Adds the line that computes a value.
    fn emit_value(&mut self, value: ValueNumber, instruction: fmt::Arguments<'_>) {
        self.begin_value(value);
        self.end_line(instruction);
    }

    fn begin_value(&mut self, value: ValueNumber) {
        self.body.push_str("  ");
        value.spell(|text| self.body.push_str(text));
        self.body.push_str(" = ");
    }

    fn end_line(&mut self, rest: fmt::Arguments<'_>) {
        // Writing to a string does not fail.
        _ = self.body.write_fmt(rest);
        self.body.push_str(&self.lines.spell_location(&mut self.metadata));
        self.body.push('\n');
    }

    /// Adds the instruction that computes a value.
    pub fn define_result(&mut self, (value_type, id): (Id, Id), instruction: fmt::Arguments<'_>) -> Attempt<()> {
        self.types.find_type(value_type)?;
        let number = self.take_number(value_type, id)?;
        self.emit_value(number, instruction);
        Ok(())
    }

    /// Gives a value of the current block the next number of the function.
    pub fn define_number(&mut self, value_type: Id, id: Id) -> Attempt<ValueText> {
        Ok(ValueText::Local(self.take_number(value_type, id)?))
    }

    fn take_number(&mut self, value_type: Id, id: Id) -> Attempt<ValueNumber> {
        let Some(state) = self.function.as_mut() else {
            refuse!("it computes a value outside of functions");
        };
        let number = state.take_number();
        let local = Local { value_type, function: state.id, block: state.block, number };
        self.set_value(id, Value::Local(local))?;
        Ok(number)
    }

    /// Has an id stand for a vector that tells the work-item of itself, which some late text computes.
    pub fn define_built_in_vector(
        &mut self,
        (value_type, id): (Id, Id),
        built_in: BuiltIn,
        vector: ValueText,
        lines: LateText,
    ) -> Attempt<()> {
        let (Some(state), ValueText::Local(number)) = (self.function.as_mut(), vector) else {
            refuse!("it computes a value outside of functions");
        };
        let local = Local { value_type, function: state.id, block: state.block, number };
        let late_index = state.late_texts.len() as u32;
        state.late_texts.push(lines);
        self.set_value(id, Value::BuiltInVector { local, built_in, late_index })
    }

    /// Has an id stand for a value that is there, of the same type in LLVM's text.
    pub fn define_alias(&mut self, (value_type, id): (Id, Id), text: ValueText) -> Attempt<()> {
        let value = match (text, self.function.as_ref()) {
            (ValueText::Local(number), Some(state)) => {
                Value::Local(Local { value_type, function: state.id, block: state.block, number })
            }
            (ValueText::Constant(text), Some(_)) => Value::Constant { value_type, text },
            _ => refuse!("it computes a value outside of functions"),
        };
        self.set_value(id, value)
    }

    /// Adds an instruction whose value no id stands for; gives that value.
    pub fn define_extra(&mut self, instruction: fmt::Arguments<'_>) -> ValueText {
        // Instructions are translated within functions only.
        let number = self.function.as_mut().map_or(ValueNumber(0), FunctionState::take_number);
        self.emit_value(number, instruction);
        ValueText::Local(number)
    }

    /// The call of a function of OpenCL C's, as an instruction.
    ///
    /// Refused where the built-in library has none for these types.
    pub fn call_built_in(
        &mut self,
        name: &str,
        parameters: &[Parameter],
        result: &str,
        arguments: &[Typed],
    ) -> Attempt<String> {
        let mangled = mangle_name(name, parameters);
        if !self.called.contains_key(&mangled) && lockstep_kernels::chapter_of(&mangled).is_none() {
            refuse!("there is no function {name} for these types ({mangled})");
        }
        self.call_function(&mangled, result, arguments)
    }

    /// The call of a function by its name in the library.
    pub fn call_function(&mut self, name: &str, result: &str, arguments: &[Typed]) -> Attempt<String> {
        let types: Vec<&str> = arguments.iter().map(|argument| &*argument.type_text).collect();
        self.declare_called(name, format!("{result} ({})", types.join(", ")))?;
        Ok(format!("call spir_func {result} @{name}({})", join_typed(arguments)))
    }

    /// Notes that a function is called with these types.
    pub fn declare_called(&mut self, name: &str, signature: String) -> Attempt<()> {
        match self.called.get(name) {
            Some(known) if *known != signature => {
                refuse!("the function {name} is called as {signature}, and before as {known}")
            }
            Some(_) => {}
            None => _ = self.called.insert(name.to_owned(), signature),
        }
        Ok(())
    }

    /// Adds a node of metadata, or finds one that says the same; gives its name.
    pub fn add_metadata(&mut self, node: String) -> String {
        let index = match self.shared_metadata.get(&node) {
            Some(&index) => index,
            None => {
                self.metadata.push(node.clone());
                let index = self.metadata.len() - 1;
                self.shared_metadata.insert(node, index);
                index
            }
        };
        format!("!{index}")
    }
}

/// Values with their types, with commas between them.
pub(super) fn join_typed(arguments: &[Typed]) -> String {
    arguments.iter().map(Typed::to_string).collect::<Vec<_>>().join(", ")
}

/// A name as LLVM's text has it after `@`.
pub(super) fn quote_name(name: &str) -> String {
    let mut quoted = String::from("\"");
    for byte in name.bytes() {
        match byte {
            b'"' | b'\\' | 0..=31 | 127.. => quoted.push_str(&format!("\\{byte:02X}")),
            _ => quoted.push(char::from(byte)),
        }
    }
    quoted.push('"');
    quoted
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_any_bytes_are_quoted() {
        assert_eq!(quote_name("f"), "\"f\"");
        assert_eq!(quote_name("a\"b\\é\n"), "\"a\\22b\\5C\\C3\\A9\\0A\"");
    }
}
