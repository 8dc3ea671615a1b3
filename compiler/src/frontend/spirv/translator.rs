//! What is known while a module is translated, and the text that it becomes.
//!
//! An id's value is written `%v` and its number, a function's block `b` and its label's. Each instruction is judged against the types
//! of its operands before it is written, so that LLVM's parser has little left to refuse.

use std::collections::{BTreeMap, HashMap};
use std::fmt::{self, Write as _};
use std::rc::Rc;

use lockstep_protocol::spirv_module::SpecializationValue;
use spirv::BuiltIn;

use super::constants::Constants;
use super::declarations::Declarations;
use super::dominance::Use;
use super::error::{Attempt, Place, refuse};
use super::functions::FunctionState;
use super::lines::Lines;
use super::mangle::{Parameter, mangle_name};
use super::operands::{Id, Operands};
use super::types::Types;

/// Most bytes of text for each byte of the module, beside a few for all.
const MAX_GROWTH: usize = 256;
/// Bytes of text that every module may become.
const FREE_BYTES: usize = 1 << 24;

/// What an id stands for.
#[derive(Clone, Debug)]
pub(super) enum Value {
    /// What an instruction of a function computed, in the block of that label; the function by its id. A parameter has no block.
    Local { value_type: Id, function: Id, block: Option<Id> },
    /// A constant or an address, in LLVM's text.
    Constant { value_type: Id, text: Rc<str> },
    /// A variable that tells the work-item of itself, or one component of it.
    BuiltIn { value_type: Id, built_in: BuiltIn, component: Option<u32> },
    /// An image with how it is sampled.
    SampledImage { value_type: Id, image: Id, sampler: Id },
}

/// A value as an operand.
#[derive(Clone, Debug)]
pub(super) struct Operand {
    /// Its type's id.
    pub value_type: Id,
    /// The value in LLVM's text, without its type.
    pub text: Rc<str>,
}

/// A value with its type, as most of LLVM's operands are written.
#[derive(Clone, Debug)]
pub(super) struct Typed {
    /// The type in LLVM's text.
    pub type_text: Rc<str>,
    /// The value in LLVM's text.
    pub text: Rc<str>,
}

impl Typed {
    /// A value of a type, both in LLVM's text.
    pub fn new(type_text: impl Into<Rc<str>>, text: impl Into<Rc<str>>) -> Typed {
        Typed { type_text: type_text.into(), text: text.into() }
    }
}

impl fmt::Display for Typed {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} {}", self.type_text, self.text)
    }
}

/// The translation of one module.
pub(super) struct Translator<'a> {
    pub declarations: Declarations,
    pub types: Types,
    pub constants: Constants,
    pub values: HashMap<Id, Value>,
    /// The values that the application gave.
    pub specialization: &'a [SpecializationValue],
    /// The function whose instructions are read.
    pub function: Option<FunctionState>,
    /// The instruction that is being read.
    pub place: Place,
    pub lines: Lines,
    /// All ids are less than this.
    pub bound: u32,
    /// Variables and constants in LLVM's text.
    pub globals: String,
    /// Functions in LLVM's text.
    pub body: String,
    /// Nodes of metadata; each is called by its index.
    pub metadata: Vec<String>,
    /// Functions that are called and not defined here: their result and parameters, by name.
    pub called: BTreeMap<String, String>,
    /// Functions of the module that others can call: their result and parameters, by name.
    pub defined: HashMap<String, String>,
    /// Numbers for values that no id stands for.
    next_extra: u32,
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
            values: HashMap::new(),
            specialization,
            function: None,
            place: Place::default(),
            lines: Lines::default(),
            bound,
            globals: String::new(),
            body: String::new(),
            metadata: Vec::new(),
            called: BTreeMap::new(),
            defined: HashMap::new(),
            next_extra: 0,
            limit: module_bytes.saturating_mul(MAX_GROWTH).saturating_add(FREE_BYTES),
        }
    }

    /// Refuses a module whose text grows out of proportion.
    pub fn check_growth(&self) -> Attempt<()> {
        let bytes = self.types.definitions.len() + self.globals.len() + self.body.len() + self.constants.text_bytes();
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
        match self.values.get(&id) {
            Some(Value::Constant { value_type, text }) => Ok(Operand { value_type: *value_type, text: text.clone() }),
            Some(Value::Local { value_type, function, block }) => {
                let Some(state) = self.function.as_ref().filter(|current| current.id == *function) else {
                    refuse!("%{id} is a value of another function");
                };
                if let (Some(definition), Some(current)) = (*block, state.block) {
                    state.note_use(Use { value: id, definition, block: current, place: self.place });
                }
                Ok(Operand { value_type: *value_type, text: format!("%v{id}").into() })
            }
            Some(Value::BuiltIn { built_in, .. }) => {
                refuse!("the variable {built_in:?} can only be read, as a whole or by component")
            }
            Some(Value::SampledImage { .. }) => refuse!("%{id} is an image with a sampler, which can only be sampled"),
            None => refuse!("%{id} is not a value that was computed before"),
        }
    }

    /// A value with its type.
    pub fn typed(&self, id: Id) -> Attempt<Typed> {
        let operand = self.find_operand(id)?;
        Ok(Typed { type_text: self.types.type_text(operand.value_type)?, text: operand.text })
    }

    /// The type of a value, whatever it is.
    pub fn type_of(&self, id: Id) -> Attempt<Id> {
        match self.values.get(&id) {
            Some(
                Value::Local { value_type, .. }
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
        if self.types.contains(id) || self.values.insert(id, value).is_some() {
            refuse!("%{id} is defined twice");
        }
        Ok(())
    }

    /// Adds a line to the function.
    pub fn emit_line(&mut self, line: fmt::Arguments<'_>) {
        // Writing to a string does not fail.
        let location = self.lines.spell_location(&mut self.metadata);
        _ = writeln!(self.body, "  {line}{location}");
    }

    /// Adds the instruction that computes a value.
    pub fn define_result(&mut self, (value_type, id): (Id, Id), instruction: fmt::Arguments<'_>) -> Attempt<()> {
        self.types.find_type(value_type)?;
        let Some(state) = self.function.as_ref() else {
            refuse!("it computes a value outside of functions");
        };
        let (function, block) = (state.id, state.block);
        self.set_value(id, Value::Local { value_type, function, block })?;
        let location = self.lines.spell_location(&mut self.metadata);
        _ = writeln!(self.body, "  %v{id} = {instruction}{location}");
        Ok(())
    }

    /// Adds an instruction whose value no id stands for; gives that value's name.
    pub fn define_extra(&mut self, instruction: fmt::Arguments<'_>) -> String {
        let number = self.next_extra;
        self.next_extra += 1;
        let location = self.lines.spell_location(&mut self.metadata);
        _ = writeln!(self.body, "  %x{number} = {instruction}{location}");
        format!("%x{number}")
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
        if lockstep_kernels::chapter_of(&mangled).is_none() {
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

    /// Adds a node of metadata; gives its name.
    pub fn add_metadata(&mut self, node: String) -> String {
        self.metadata.push(node);
        format!("!{}", self.metadata.len() - 1)
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
