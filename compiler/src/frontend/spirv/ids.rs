//! The ids of a module, and tables of what is known of them.

use rustc_hash::{FxHashMap, FxHashSet};

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
