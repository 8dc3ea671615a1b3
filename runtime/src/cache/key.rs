//! The name of an entry: a hash of everything that decides what it holds.

use std::fmt;

use once_cell::sync::Lazy;
use serde::{Deserialize, Serialize};

use crate::processor::processor_identity;

/// This build of the driver: other sources may compile differently and call differently what they compile.
pub const BUILD: &str = concat!(env!("CARGO_PKG_VERSION"), " ", env!("LOCKSTEP_BUILD"));

/// An entry's name.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub struct Key([u8; blake3::OUT_LEN]);

impl fmt::Display for Key {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&blake3::Hash::from(self.0).to_hex())
    }
}

impl Key {
    /// The key whose entry has this name.
    pub(super) fn from_name(name: &str) -> Option<Key> {
        // The library takes capital letters as well, which no name has.
        let key = Key(*blake3::Hash::from_hex(name).ok()?.as_bytes());
        (key.to_string() == name).then_some(key)
    }
}

/// Puts a key together, part by part.
pub struct KeyBuilder(blake3::Hasher);

impl KeyBuilder {
    /// A key for entries of a kind. This build of the driver and the processor belong to every key.
    pub fn new(entry_kind: &str) -> KeyBuilder {
        static MACHINE: Lazy<String> = Lazy::new(processor_identity);
        KeyBuilder(blake3::Hasher::new()).add_text(BUILD).add_text(&MACHINE).add_text(entry_kind)
    }

    /// Adds a part. Its length is added as well, so that no two lists of parts are the same bytes.
    pub fn add_bytes(mut self, part: &[u8]) -> KeyBuilder {
        self.0.update(&(part.len() as u64).to_le_bytes());
        self.0.update(part);
        self
    }

    /// Adds a text.
    pub fn add_text(self, part: &str) -> KeyBuilder {
        self.add_bytes(part.as_bytes())
    }

    /// The key of all parts so far.
    pub fn into_key(self) -> Key {
        Key(*self.0.finalize().as_bytes())
    }
}

/// A hash of these bytes alone.
pub fn hash_bytes(bytes: &[u8]) -> [u8; blake3::OUT_LEN] {
    *blake3::hash(bytes).as_bytes()
}

/// The first digits of that hash, by which the log names programs.
pub fn short_hash(bytes: &[u8]) -> String {
    let [a, b, c, d, ..] = hash_bytes(bytes);
    format!("{a:02x}{b:02x}{c:02x}{d:02x}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_cannot_run_into_each_other() {
        let key = |parts: &[&str]| {
            parts.iter().fold(KeyBuilder::new("test"), |key_builder, part| key_builder.add_text(part)).into_key()
        };
        assert_eq!(key(&["a", "b"]), key(&["a", "b"]));
        for other in [&["ab"][..], &["a", "b", ""], &["", "a", "b"], &["b", "a"], &[]] {
            assert_ne!(key(&["a", "b"]), key(other), "{other:?}");
        }
        assert_ne!(key(&[]), KeyBuilder::new("other").into_key());
    }

    #[test]
    fn a_key_is_a_files_name() {
        let name = KeyBuilder::new("test").into_key().to_string();
        assert!(name.len() == 64 && name.bytes().all(|byte| byte.is_ascii_hexdigit()));
        assert_eq!(Key::from_name(&name), Some(KeyBuilder::new("test").into_key()));
        for other in [&name[1..], &format!("{name}0"), &format!("../{name}"), &"A".repeat(64), &"g".repeat(64), ""] {
            assert_eq!(Key::from_name(other), None, "{other}");
        }
    }
}
