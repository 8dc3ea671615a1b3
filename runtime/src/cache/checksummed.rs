//! Data that leaves the process and comes back. It is sealed with a hash of itself, so that what was cut off, damaged or
//! never ours is found before any of it is believed. Nobody's forgery is kept out: who can forge such data could as well
//! run a program of his own.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

const SEAL: usize = blake3::OUT_LEN;

/// The bytes of a value behind `format_mark`, which says what they are.
pub fn seal<T: Serialize>(format_mark: &[u8; 8], contents: &T) -> Vec<u8> {
    // Nothing that we store has a form that cannot be written; an empty seal would be found when it is opened.
    let mut bytes = postcard::to_extend(contents, format_mark.to_vec()).unwrap_or_default();
    bytes.extend_from_slice(blake3::hash(&bytes).as_bytes());
    bytes
}

/// The value, if all of the bytes are as [`seal`] left them.
pub fn open<T: DeserializeOwned>(format_mark: &[u8; 8], bytes: &[u8]) -> Option<T> {
    let (value, after_value) = open_first(format_mark, bytes)?;
    after_value.is_empty().then_some(value)
}

/// The first field of a value whose type need not be known, and the bytes of the others, if all of the bytes are as [`seal`] left
/// them.
pub fn open_first<'a, T: Deserialize<'a>>(format_mark: &[u8; 8], bytes: &'a [u8]) -> Option<(T, &'a [u8])> {
    let (sealed_body, checksum) = bytes.split_last_chunk::<SEAL>()?;
    let content = sealed_body.strip_prefix(format_mark)?;
    if blake3::hash(sealed_body) != *checksum {
        return None;
    }
    postcard::take_from_bytes(content).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    const MARK: &[u8; 8] = b"a mark, ";

    #[test]
    fn every_damaged_byte_and_every_cut_is_found() {
        let value = (7_u32, "text".to_owned(), vec![1_u8, 2, 3]);
        let bytes = seal(MARK, &value);
        assert_eq!(open(MARK, &bytes), Some(value));
        let read = |bytes: &[u8]| open::<(u32, String, Vec<u8>)>(MARK, bytes);
        for index in 0..bytes.len() {
            let mut damaged = bytes.clone();
            damaged[index] ^= 0x10;
            assert_eq!(read(&damaged), None, "byte {index}");
            assert_eq!(read(&bytes[..index]), None, "cut at {index}");
        }
        assert_eq!(read(&[&bytes[..], &[0]].concat()), None);
        assert_eq!(open::<(u32, String, Vec<u8>)>(b"another ", &bytes), None);
        assert_eq!(open::<(u32, String)>(MARK, &bytes), None, "a part is left over");
        assert_eq!(open_first::<u32>(MARK, &bytes).map(|(number, _)| number), Some(7));
        assert_eq!(open_first::<u32>(MARK, &bytes[..bytes.len() - 1]), None);
    }
}
