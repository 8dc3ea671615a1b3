//! Entries that could not be written to a folder.

use std::collections::VecDeque;
use std::sync::Arc;

use parking_lot::{Mutex, MutexGuard};

use super::key::Key;
use crate::per_process::PerProcess;

/// Entries in the order in which they came; the oldest go first.
pub(super) struct Memory {
    limit: u64,
    /// A forked child begins without any.
    entries: PerProcess<Mutex<Entries>>,
}

type Entries = VecDeque<(Key, Arc<[u8]>)>;

impl Memory {
    pub(super) fn new(byte_limit: u64) -> Memory {
        Memory { limit: byte_limit, entries: PerProcess::new() }
    }

    fn lock_entries(&self) -> MutexGuard<'_, Entries> {
        self.entries.get_or_make(Mutex::default).lock()
    }

    pub(super) fn entry_bytes(&self, cache_key: &Key) -> Option<Arc<[u8]>> {
        let entries = self.lock_entries();
        entries.iter().rev().find(|(known_key, _)| known_key == cache_key).map(|(_, bytes)| bytes.clone())
    }

    pub(super) fn keep_entry(&self, cache_key: &Key, bytes: Vec<u8>) {
        let mut entries = self.lock_entries();
        entries.retain(|(known_key, _)| known_key != cache_key);
        entries.push_back((*cache_key, bytes.into()));
        let mut byte_size: u64 = entries.iter().map(|(_, bytes)| bytes.len() as u64).sum();
        while byte_size > self.limit
            && let Some((_, oldest)) = entries.pop_front()
        {
            byte_size -= oldest.len() as u64;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::key::KeyBuilder;
    use super::*;

    #[test]
    fn the_oldest_go_first() {
        let memory = Memory::new(100);
        let keys: Vec<_> =
            ["a", "b", "c", "d"].iter().map(|name| KeyBuilder::new("test").add_text(name).into_key()).collect();
        for cache_key in &keys[..3] {
            memory.keep_entry(cache_key, vec![0; 30]);
        }
        memory.keep_entry(&keys[0], vec![1; 30]);
        memory.keep_entry(&keys[3], vec![0; 30]);
        let kept: Vec<_> = keys.iter().map(|cache_key| memory.entry_bytes(cache_key).is_some()).collect();
        assert_eq!(kept, [true, false, true, true]);
        assert_eq!(memory.entry_bytes(&keys[0]).unwrap()[..], [1; 30]);
        memory.keep_entry(&keys[1], vec![0; 101]);
        assert!(keys.iter().all(|key| memory.entry_bytes(key).is_none()), "what is larger than the limit is not kept");
    }
}
