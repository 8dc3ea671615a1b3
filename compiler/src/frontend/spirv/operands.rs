//! The operands of one instruction, taken one after the other.

use lockstep_protocol::spirv_module::read_string;
use rustc_hash::{FxHashMap, FxHashSet};

use super::error::{Attempt, refuse};

/// An id of a module: a type, a value, a label or a set of instructions.
pub(super) type Id = u32;

/// What is known of ids. The hash is one that can be foreseen: ids are below 4,194,304, so that of the ids of a hostile module no more
/// fall into one place of a table than 4,194,304 by the number of its places.
pub(super) type IdMap<V> = FxHashMap<Id, V>;

/// What is known of most ids of a module.
#[derive(Debug)]
pub(super) enum IdTable<V> {
    /// By the number of the id.
    Dense(Vec<Option<V>>),
    /// Of a module that uses few of the ids that it may.
    Sparse(IdMap<V>),
}

impl<V> IdTable<V> {
    /// An empty table for ids less than `bound`, in a module of so many bytes.
    pub fn with_bound(bound: u32, module_bytes: usize) -> IdTable<V> {
        // An instruction with a result has at least three words.
        let most_ids = module_bytes / (3 * size_of::<u32>());
        match bound as usize <= most_ids {
            true => IdTable::Dense(std::iter::repeat_with(|| None).take(bound as usize).collect()),
            false => IdTable::Sparse(IdMap::default()),
        }
    }

    /// What is known of an id.
    pub fn find_value(&self, id: Id) -> Option<&V> {
        match self {
            IdTable::Dense(table) => table.get(id as usize)?.as_ref(),
            IdTable::Sparse(table) => table.get(&id),
        }
    }

    /// Makes something known of an id, which is less than the bound; gives what was known before.
    pub fn define_value(&mut self, id: Id, value: V) -> Option<V> {
        match self {
            IdTable::Dense(table) => table.get_mut(id as usize)?.replace(value),
            IdTable::Sparse(table) => table.insert(id, value),
        }
    }
}

/// Ids of one kind.
pub(super) type IdSet = FxHashSet<Id>;

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_of_both_kinds_keep_what_is_told() {
        let (mut dense, mut sparse) = (IdTable::with_bound(10, 120), IdTable::with_bound(11, 120));
        assert!(matches!((&dense, &sparse), (IdTable::Dense(_), IdTable::Sparse(_))));
        for table in [&mut dense, &mut sparse] {
            assert_eq!(table.find_value(9), None);
            assert_eq!([table.define_value(9, 'a'), table.define_value(9, 'b')], [None, Some('a')]);
            assert_eq!(table.find_value(9), Some(&'b'));
            assert_eq!(table.find_value(1_000_000), None);
        }
    }
}
