//! The operands of one instruction, taken one after the other.

use lockstep_protocol::spirv_module::read_string;

use super::error::{Attempt, refuse};
use super::ids::Id;

/// What is left of an instruction's operands.
#[derive(Clone, Copy, Debug)]
pub(super) struct Operands<'a> {
    words: &'a [u32],
    /// All ids are less than this.
    bound: u32,
}

impl<'a> Operands<'a> {
    /// All operands of an instruction, in a module whose ids are less than `bound`.
    pub fn new(words: &'a [u32], bound: u32) -> Operands<'a> {
        Operands { words, bound }
    }

    /// The next word as a number.
    pub fn take_literal(&mut self) -> Attempt<u32> {
        let Some((&word, rest)) = self.words.split_first() else { refuse!("it has too few operands") };
        self.words = rest;
        Ok(word)
    }

    /// The next word as an id.
    pub fn take_id(&mut self) -> Attempt<Id> {
        let id = self.take_literal()?;
        if id == 0 || id >= self.bound {
            refuse!("the id %{id} is not below the module's bound of {}", self.bound);
        }
        Ok(id)
    }

    /// The next two words as ids: a result's type and the result.
    pub fn take_result(&mut self) -> Attempt<(Id, Id)> {
        Ok((self.take_id()?, self.take_id()?))
    }

    /// The next word as an id, if there is one.
    pub fn take_optional_id(&mut self) -> Attempt<Option<Id>> {
        if self.words.is_empty() { Ok(None) } else { self.take_id().map(Some) }
    }

    /// The next word as a number, if there is one.
    pub fn take_optional_literal(&mut self) -> Option<u32> {
        self.take_literal().ok()
    }

    /// A text that ends with a null.
    pub fn take_string(&mut self) -> Attempt<String> {
        let Some((text, length)) = read_string(self.words) else { refuse!("a text in it does not end") };
        self.words = &self.words[length..];
        Ok(text)
    }

    /// All that is left, as ids.
    pub fn take_ids(&mut self) -> Attempt<Vec<Id>> {
        let mut ids = Vec::with_capacity(self.words.len());
        while !self.words.is_empty() {
            ids.push(self.take_id()?);
        }
        Ok(ids)
    }

    /// All that is left, as numbers.
    pub fn take_literals(&mut self) -> &'a [u32] {
        std::mem::take(&mut self.words)
    }
}
