//! What was compiled, kept from process to process.
//!
//! An entry lies under the hash of everything that decides what it holds ([`key`]), in a file of its own ([`folder`]).
//! Files are only ever made whole and put in their place by a rename, so there is nothing to lock: processes and
//! machines may share a folder. Whatever is not as it was written is as good as not there. Where no folder can be
//! written, entries are kept in memory ([`memory`]) for this process alone. [`transport`] carries entries to other folders.

pub mod checksummed;
mod folder;
pub mod key;
mod memory;
pub mod transport;

use std::io;
use std::path::Path;
use std::time::SystemTime;

use once_cell::sync::Lazy;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use tracing::{debug, warn};

use crate::options::{CachePlace, options};
use folder::Folder;
use key::Key;
use memory::Memory;

/// What entries begin with; to be changed with their form.
const MARK: &[u8; 8] = b"LSCACHE1";

/// Most bytes of entries in memory.
const IN_MEMORY: u64 = 64 << 20;

/// A place for entries.
pub struct Cache {
    folder: Option<Folder>,
    memory: Memory,
}

#[derive(Serialize, Deserialize)]
struct Entry<T> {
    /// The key it was stored under: a file may have got another's name.
    key: Key,
    value: T,
}

/// The cache of this process, unless it is off.
pub fn process_cache() -> Option<&'static Cache> {
    static CACHE: Lazy<Option<Cache>> = Lazy::new(|| match &options().cache {
        CachePlace::Off => None,
        CachePlace::Memory => Some(Cache::new(None)),
        CachePlace::Folder(path) => Some(Cache::new(open_folder(path))),
    });
    CACHE.as_ref()
}

/// A folder for entries, if it can be used.
fn open_folder(path: &Path) -> Option<Folder> {
    let opened = Folder::open(path, options().cache_bytes);
    let log_failure = |error: &io::Error| {
        warn!(target: "cache", "{} cannot be used: {error}; what is compiled is kept in memory", path.display());
    };
    opened.inspect_err(log_failure).ok()
}

/// A file of the folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CacheEntry {
    /// Its name, which is its key.
    pub name: String,
    /// Its size in bytes.
    pub bytes: u64,
    /// When it was used last, to ten minutes.
    pub used: SystemTime,
}

/// The entries of a folder; none where there is no such folder.
///
/// # Errors
/// When the folder is not this user's alone, or cannot be read.
pub fn list_entries(folder: &Path) -> io::Result<Vec<CacheEntry>> {
    if !folder.exists() {
        return Ok(Vec::new());
    }
    folder::list_entries(folder)
}

/// Whether entries can be stored in a folder, which is made if it is not there.
///
/// # Errors
/// When it cannot be made, is not this user's alone, or has no room.
pub fn try_writing(folder: &Path) -> io::Result<()> {
    folder::try_writing(folder)
}

/// Removes the entries of a folder, and tells which they were.
///
/// # Errors
/// When the folder is not this user's alone, or cannot be read.
pub fn clear_entries(folder: &Path) -> io::Result<Vec<CacheEntry>> {
    if !folder.exists() {
        return Ok(Vec::new());
    }
    folder::remove_entries(folder)
}

impl Cache {
    fn new(folder: Option<Folder>) -> Cache {
        Cache { folder, memory: Memory::new(IN_MEMORY.min(options().cache_bytes)) }
    }

    /// Whether other processes find what this one stores.
    pub fn outlives_the_process(&self) -> bool {
        self.folder.is_some()
    }

    /// What is stored under this key, if it is whole.
    pub fn get<T: DeserializeOwned>(&self, cache_key: &Key) -> Option<T> {
        let parse_entry = |bytes: &[u8]| {
            let cache_entry: Entry<T> = checksummed::open(MARK, bytes)?;
            (cache_entry.key == *cache_key).then_some(cache_entry.value)
        };
        let in_folder = self.folder.as_ref().and_then(|folder| parse_entry(&folder.read_entry(cache_key)?));
        if in_folder.is_some() {
            debug!(target: "cache", "{cache_key} was in the folder");
            return in_folder;
        }
        let in_memory = self.memory.entry_bytes(cache_key).and_then(|bytes| parse_entry(&bytes));
        let place = if in_memory.is_some() { "in memory" } else { "not there" };
        debug!(target: "cache", "{cache_key} was {place}");
        in_memory
    }

    /// Stores a value under a key, if that is possible.
    pub fn put<T: Serialize>(&self, cache_key: &Key, value: &T) {
        let bytes = checksummed::seal(MARK, &Entry { key: *cache_key, value });
        let byte_count = bytes.len();
        let in_folder = self.folder.as_ref().is_some_and(|folder| folder.store_entry(cache_key, &bytes));
        if !in_folder {
            self.memory.keep_entry(cache_key, bytes);
        }
        let place = if in_folder { "folder" } else { "memory" };
        debug!(target: "cache", "{cache_key} is stored in the {place}, {byte_count} bytes");
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use key::KeyBuilder;

    fn key(name: &str) -> Key {
        KeyBuilder::new("test").add_text(name).into_key()
    }

    fn in_folder(path: &Path) -> Cache {
        Cache::new(Folder::open(path, 1 << 20).ok())
    }

    #[test]
    fn values_come_back_in_another_process() {
        let folder = tempfile::tempdir().unwrap();
        in_folder(folder.path()).put(&key("a"), &"text".to_owned());
        let program_cache = in_folder(folder.path());
        assert_eq!(program_cache.get::<String>(&key("a")), Some("text".to_owned()));
        assert_eq!(program_cache.get::<String>(&key("b")), None);
    }

    #[test]
    fn a_file_that_is_damaged_or_anothers_is_not_there() {
        let folder = tempfile::tempdir().unwrap();
        let program_cache = in_folder(folder.path());
        program_cache.put(&key("a"), &"text".to_owned());
        let path = std::fs::read_dir(folder.path()).unwrap().next().unwrap().unwrap().path();
        let whole = std::fs::read(&path).unwrap();
        for position in 0..whole.len() {
            let mut damaged = whole.clone();
            damaged[position] ^= 1;
            std::fs::write(&path, &damaged).unwrap();
            assert_eq!(program_cache.get::<String>(&key("a")), None, "byte {position}");
            std::fs::write(&path, &whole[..position]).unwrap();
            assert_eq!(program_cache.get::<String>(&key("a")), None, "cut at {position}");
        }
        std::fs::write(folder.path().join(key("b").to_string()), &whole).unwrap();
        assert_eq!(program_cache.get::<String>(&key("b")), None);
        std::fs::write(&path, &whole).unwrap();
        assert!(program_cache.get::<String>(&key("a")).is_some());
    }

    #[test]
    fn without_a_folder_memory_keeps_the_entries() {
        let program_cache = Cache::new(None);
        program_cache.put(&key("a"), &7_u32);
        assert_eq!(program_cache.get::<u32>(&key("a")), Some(7));
    }

    #[test]
    fn a_folder_that_goes_away_is_made_again_or_memory_takes_over() {
        let parent = tempfile::tempdir().unwrap();
        let path = parent.path().join("cache");
        let program_cache = in_folder(&path);
        std::fs::remove_dir_all(&path).unwrap();
        program_cache.put(&key("a"), &7_u32);
        assert!(path.join(key("a").to_string()).is_file());
        std::fs::remove_dir_all(&path).unwrap();
        std::fs::write(&path, "a file in its place").unwrap();
        program_cache.put(&key("b"), &8_u32);
        assert_eq!((program_cache.get::<u32>(&key("a")), program_cache.get::<u32>(&key("b"))), (None, Some(8)));
    }
}
