//! The form in which a program leaves and enters through CL_PROGRAM_BINARIES.
//!
//! A header, the build options and LLVM bitcode. The header carries a checksum of everything behind it
//! and the version of the driver, so that a damaged file or another driver's is recognised before
//! anything reads it.
//!
//! ```text
//! 0   8   "LOCKSTEP"
//! 8   4   FORMAT
//! 12  4   kind: 1 compiled object, 2 library, 4 executable (the cl_program_binary_type values)
//! 16  8   checksum (FNV-1a, 64 bits) of all bytes from 24 on
//! 24  4   bytes of the driver's version, then the version
//! …   4   bytes of the options, then the options
//! …       LLVM bitcode to the end
//! ```

const MAGIC: &[u8; 8] = b"LOCKSTEP";
const FORMAT: u32 = 1;
const VERSION: &str = env!("CARGO_PKG_VERSION");
const HEADER: usize = 24;

/// What a binary is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// Output of clCompileProgram.
    Object = 1,
    /// Output of clLinkProgram with `-create-library`.
    Library = 2,
    /// Kernels can be created from it.
    Executable = 4,
}

/// A program in portable form.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Binary {
    /// What it is.
    pub kind: Kind,
    /// The build options it was made with.
    pub options: String,
    /// The program.
    pub bitcode: Vec<u8>,
}

impl Binary {
    /// The bytes for the application.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut body = Vec::with_capacity(self.bitcode.len() + self.options.len() + 32);
        for text in [VERSION, &self.options] {
            body.extend_from_slice(&(text.len() as u32).to_le_bytes());
            body.extend_from_slice(text.as_bytes());
        }
        body.extend_from_slice(&self.bitcode);
        let mut bytes = Vec::with_capacity(HEADER + body.len());
        bytes.extend_from_slice(MAGIC);
        bytes.extend_from_slice(&FORMAT.to_le_bytes());
        bytes.extend_from_slice(&(self.kind as u32).to_le_bytes());
        bytes.extend_from_slice(&checksum(&body).to_le_bytes());
        bytes.extend_from_slice(&body);
        bytes
    }

    /// Reads what [`Binary::to_bytes`] wrote; `None` for anything else.
    pub fn from_bytes(bytes: &[u8]) -> Option<Binary> {
        let rest = bytes.strip_prefix(MAGIC)?;
        let (format, rest) = read_u32(rest)?;
        let (kind, rest) = read_u32(rest)?;
        let (sum, body) = rest.split_first_chunk::<8>()?;
        if format != FORMAT || u64::from_le_bytes(*sum) != checksum(body) {
            return None;
        }
        let kind = [Kind::Object, Kind::Library, Kind::Executable]
            .into_iter()
            .find(|k| *k as u32 == kind)?;
        let (version, rest) = read_text(body)?;
        let (options, bitcode) = read_text(rest)?;
        (version == VERSION).then(|| Binary {
            kind,
            options: options.to_string(),
            bitcode: bitcode.to_vec(),
        })
    }
}

fn read_u32(bytes: &[u8]) -> Option<(u32, &[u8])> {
    let (first, rest) = bytes.split_first_chunk::<4>()?;
    Some((u32::from_le_bytes(*first), rest))
}

fn read_text(bytes: &[u8]) -> Option<(&str, &[u8])> {
    let (length, rest) = read_u32(bytes)?;
    let (text, rest) = rest.split_at_checked(length as usize)?;
    Some((std::str::from_utf8(text).ok()?, rest))
}

/// FNV-1a over 64 bits: finds accidents, not attackers, who may as well write kernels.
fn checksum(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample() -> Binary {
        Binary {
            kind: Kind::Library,
            options: "-D N=4 -cl-std=CL3.0".into(),
            bitcode: (0..=255).collect(),
        }
    }

    #[test]
    fn reads_what_it_wrote() {
        assert_eq!(Binary::from_bytes(&sample().to_bytes()), Some(sample()));
    }

    #[test]
    fn every_damaged_byte_and_every_cut_is_noticed() {
        let bytes = sample().to_bytes();
        for at in 0..bytes.len() {
            let mut damaged = bytes.clone();
            damaged[at] ^= 0x10;
            // The kind is not under the checksum, but no two kinds differ in one bit alone.
            assert_eq!(Binary::from_bytes(&damaged), None, "byte {at}");
            assert_eq!(Binary::from_bytes(&bytes[..at]), None, "cut at {at}");
        }
    }
}
