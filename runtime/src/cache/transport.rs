//! Entries as whole files, for who carries them from one folder to another.
//!
//! What comes from elsewhere is believed no more than what lies in the folder: an entry's bytes have the checksum that they end with, and
//! begin with the key that is its name. Their value is looked at where it is used.

use std::io;
use std::path::Path;

use super::folder::{Folder, on_disk};
use super::key::Key;
use super::{MARK, checksummed, list_entries};

/// A folder that entries are taken from or added to.
pub struct EntryStore {
    folder: Folder,
    /// Bytes that new entries may take.
    bytes_left: u64,
}

/// What became of an entry that was to be added.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Added {
    /// It is in the folder now.
    Stored,
    /// The folder had a whole entry of this name before.
    WasThere,
    /// The folder's limit leaves no room for it.
    NoRoom,
}

/// Whether these are the bytes of the entry of this name.
pub fn is_whole_entry(name: &str, bytes: &[u8]) -> bool {
    Key::from_name(name).is_some_and(|key| has_entry(&key, bytes))
}

/// Whether an entry could have this name.
pub fn is_entry_name(name: &str) -> bool {
    Key::from_name(name).is_some()
}

/// Whether these are the bytes of the entry of this key.
fn has_entry(key: &Key, bytes: &[u8]) -> bool {
    checksummed::open_first::<Key>(MARK, bytes).is_some_and(|(own_key, _)| own_key == *key)
}

impl EntryStore {
    /// The folder, made if it is not there, whose entries are not to take more than `byte_limit` bytes.
    ///
    /// # Errors
    /// When it cannot be made or read, or is not this user's alone.
    pub fn open_folder(path: &Path, byte_limit: u64) -> io::Result<EntryStore> {
        let folder = Folder::open(path, byte_limit)?;
        let bytes_taken: u64 = list_entries(path)?.iter().map(|entry| on_disk(entry.bytes)).sum();
        Ok(EntryStore { folder, bytes_left: byte_limit.saturating_sub(bytes_taken) })
    }

    /// The bytes of the entry of this name, if it is whole. It does not count as used.
    pub fn read_entry(&self, name: &str) -> Option<Vec<u8>> {
        let key = Key::from_name(name)?;
        self.folder.peek_entry(&key).filter(|bytes| has_entry(&key, bytes))
    }

    /// Bytes of the largest entry that the folder keeps.
    pub fn largest_entry(&self) -> u64 {
        self.folder.largest_entry()
    }

    /// Stores an entry where there is none that is whole. No other one has to go for it.
    ///
    /// # Errors
    /// When these are not the bytes of the entry of this name, or the folder takes none.
    pub fn add_entry(&mut self, name: &str, bytes: &[u8]) -> io::Result<Added> {
        let key = Key::from_name(name).filter(|key| has_entry(key, bytes));
        let key = key.ok_or_else(|| io::Error::new(io::ErrorKind::InvalidData, "it is not a whole entry"))?;
        if self.read_entry(name).is_some() {
            return Ok(Added::WasThere);
        }
        let byte_size = on_disk(bytes.len() as u64);
        if byte_size > self.bytes_left || bytes.len() as u64 > self.largest_entry() {
            return Ok(Added::NoRoom);
        }
        if !self.folder.store_entry(&key, bytes) {
            return Err(io::Error::other("it cannot be written"));
        }
        self.bytes_left -= byte_size;
        Ok(Added::Stored)
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::super::Cache;
    use super::super::key::KeyBuilder;
    use super::*;

    /// A folder with an entry, and the entry's name and bytes.
    fn folder_with_entry() -> (tempfile::TempDir, String, Vec<u8>) {
        let folder = tempfile::tempdir().expect("a folder");
        let key = KeyBuilder::new("test").into_key();
        Cache::new(Folder::open(folder.path(), 1 << 20).ok()).put(&key, &"text".to_owned());
        let bytes = fs::read(folder.path().join(key.to_string())).expect("it was stored");
        (folder, key.to_string(), bytes)
    }

    #[test]
    fn an_entry_that_was_carried_is_used() {
        let (_source, name, bytes) = folder_with_entry();
        let target = tempfile::tempdir().expect("a folder");
        let mut entry_store = EntryStore::open_folder(target.path(), 1 << 20).expect("it can be opened");
        assert_eq!(entry_store.add_entry(&name, &bytes).expect("it is whole"), Added::Stored);
        assert_eq!(entry_store.add_entry(&name, &bytes).expect("it is whole"), Added::WasThere);
        let cache = Cache::new(Folder::open(target.path(), 1 << 20).ok());
        assert_eq!(cache.get::<String>(&KeyBuilder::new("test").into_key()), Some("text".to_owned()));
    }

    #[test]
    fn a_bad_entry_is_replaced_and_replaces_none() {
        let (folder, name, bytes) = folder_with_entry();
        let mut damaged = bytes.clone();
        damaged[20] ^= 1;
        let mut entry_store = EntryStore::open_folder(folder.path(), 1 << 20).expect("it can be opened");
        entry_store.add_entry(&name, &damaged).expect_err("it is damaged");
        entry_store.add_entry(&"0".repeat(64), &bytes).expect_err("it has another's name");
        assert_eq!(entry_store.read_entry(&name), Some(bytes.clone()));
        fs::write(folder.path().join(&name), &damaged).expect("it can be written");
        assert_eq!(entry_store.read_entry(&name), None);
        assert_eq!(entry_store.add_entry(&name, &bytes).expect("it is whole"), Added::Stored);
        assert_eq!(entry_store.read_entry(&name), Some(bytes));
    }

    #[test]
    fn no_entry_has_to_go_for_one_that_is_added() {
        let (folder, name, bytes) = folder_with_entry();
        fs::rename(folder.path().join(&name), folder.path().join("0".repeat(64))).expect("it can be renamed");
        let mut entry_store = EntryStore::open_folder(folder.path(), 4096).expect("it can be opened");
        assert_eq!(entry_store.add_entry(&name, &bytes).expect("it is whole"), Added::NoRoom);
        let mut entry_store = EntryStore::open_folder(folder.path(), 4 * 4096).expect("it can be opened");
        assert_eq!(entry_store.add_entry(&name, &bytes).expect("it is whole"), Added::Stored);
    }
}
