//! The framing of a SPIR-V module: its header, and where each instruction begins and ends.
//!
//! Who hands a module to the driver learns at once whether it is framed well, and which constants can be specialised
//! ([`find_specialization_constants`]); what instructions mean is the compiler's to say. Modules are read in either byte order.
//! Source: the SPIR-V specification, 2.3 (physical layout).

use std::collections::HashMap;

use serde::{Deserialize, Serialize};

/// The first word of a module.
const MAGIC: u32 = 0x0723_0203;
/// Words of the header.
const HEADER_WORDS: usize = 5;
/// Ids are less than this; the specification lets a consumer ask for no more (2.17).
pub const MAX_BOUND: u32 = 4_194_304;
/// The versions of SPIR-V that are read, as major and minor number.
pub const VERSIONS: [(u32, u32); 7] = [(1, 0), (1, 1), (1, 2), (1, 3), (1, 4), (1, 5), (1, 6)];

const OP_TYPE_BOOL: u16 = 20;
const OP_TYPE_INT: u16 = 21;
const OP_TYPE_FLOAT: u16 = 22;
const OP_SPEC_CONSTANT_TRUE: u16 = 48;
const OP_SPEC_CONSTANT_FALSE: u16 = 49;
const OP_SPEC_CONSTANT: u16 = 50;
const OP_DECORATE: u16 = 71;
const DECORATION_SPEC_ID: u32 = 1;

/// Why bytes are no SPIR-V module.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FramingError {
    /// They are not words, or the first one is another.
    #[error("it does not begin with SPIR-V's magic number")]
    OtherFormat,
    /// The header is cut off, or the module ends within a word.
    #[error("a module of {0} bytes is cut off")]
    CutOff(usize),
    /// The version is none that is read.
    #[error("SPIR-V version {0}.{1} is not supported; 1.0 to 1.6 are")]
    OtherVersion(u32, u32),
    /// Ids may be larger than is allowed.
    #[error("its bound of ids is {0}; 1 to {MAX_BOUND} are allowed")]
    WrongBound(u32),
    /// An instruction has no words, or more than are left.
    #[error("the instruction at word {offset} is {length} words long; {left} are left")]
    WrongLength {
        /// The instruction's first word, counted from the module's first.
        offset: usize,
        /// How many words the instruction says it has.
        length: usize,
        /// How many words of the module are left.
        left: usize,
    },
}

/// A module as words in this machine's byte order; all its instructions lie within it.
#[derive(Clone, Debug)]
pub struct SpirvModule {
    words: Vec<u32>,
}

/// One instruction of a module, of which only the length is known to be right.
#[derive(Clone, Copy, Debug)]
pub struct RawInstruction<'a> {
    /// Its number in the specification.
    pub opcode: u16,
    /// The words after the first.
    pub operands: &'a [u32],
    /// Its first word, counted from the module's first.
    pub offset: usize,
}

/// Whether these bytes begin as a SPIR-V module does, in either byte order.
pub fn is_spirv(bytes: &[u8]) -> bool {
    bytes.starts_with(&MAGIC.to_le_bytes()) || bytes.starts_with(&MAGIC.to_be_bytes())
}

impl SpirvModule {
    /// Reads a module's framing.
    ///
    /// # Errors
    /// When the header is wrong, or an instruction does not fit.
    pub fn from_bytes(bytes: &[u8]) -> Result<SpirvModule, FramingError> {
        if !is_spirv(bytes) {
            return Err(FramingError::OtherFormat);
        }
        let (chunks, rest) = bytes.as_chunks::<4>();
        if !rest.is_empty() || chunks.len() < HEADER_WORDS {
            return Err(FramingError::CutOff(bytes.len()));
        }
        let is_little_endian = bytes.starts_with(&MAGIC.to_le_bytes());
        let read_word = |&chunk: &[u8; 4]| match is_little_endian {
            true => u32::from_le_bytes(chunk),
            false => u32::from_be_bytes(chunk),
        };
        let module = SpirvModule { words: chunks.iter().map(read_word).collect() };
        let (major, minor) = module.version();
        if !VERSIONS.contains(&(major, minor)) {
            return Err(FramingError::OtherVersion(major, minor));
        }
        if !(1..=MAX_BOUND).contains(&module.id_bound()) {
            return Err(FramingError::WrongBound(module.id_bound()));
        }
        module.check_lengths()?;
        Ok(module)
    }

    /// The version that the header names, as major and minor number.
    pub fn version(&self) -> (u32, u32) {
        (self.words[1] >> 16, self.words[1] >> 8 & 0xff)
    }

    /// All ids are less than this.
    pub fn id_bound(&self) -> u32 {
        self.words[3]
    }

    /// The instructions in their order.
    pub fn instructions(&self) -> impl Iterator<Item = RawInstruction<'_>> {
        let mut offset = HEADER_WORDS;
        std::iter::from_fn(move || {
            let first = *self.words.get(offset)?;
            let length = (first >> 16) as usize;
            let operands = self.words.get(offset + 1..offset + length)?;
            let instruction = RawInstruction { opcode: first as u16, operands, offset };
            offset += length;
            Some(instruction)
        })
    }

    fn check_lengths(&self) -> Result<(), FramingError> {
        let mut offset = HEADER_WORDS;
        while let Some(first) = self.words.get(offset) {
            let (length, left) = ((first >> 16) as usize, self.words.len() - offset);
            if length == 0 || length > left {
                return Err(FramingError::WrongLength { offset, length, left });
            }
            offset += length;
        }
        Ok(())
    }
}

/// The text at the beginning of some words, and how many words it takes; none where it does not end among them.
pub fn read_string(words: &[u32]) -> Option<(String, usize)> {
    let mut bytes = Vec::new();
    for (index, word) in words.iter().enumerate() {
        let word_bytes = word.to_le_bytes();
        match word_bytes.iter().position(|&byte| byte == 0) {
            None => bytes.extend_from_slice(&word_bytes),
            Some(length) => {
                bytes.extend_from_slice(&word_bytes[..length]);
                return Some((String::from_utf8_lossy(&bytes).into_owned(), index + 1));
            }
        }
    }
    None
}

/// A value for a constant, in the place of the module's own.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SpecializationValue {
    /// The constant's `SpecId`.
    pub id: u32,
    /// The bytes of the value, the least first; one for a `bool`.
    pub bytes: Vec<u8>,
}

/// The constants that can be specialised: for each `SpecId` the bytes of its value. A `bool` has one.
pub fn find_specialization_constants(module: &SpirvModule) -> HashMap<u32, usize> {
    let (mut sizes_of_types, mut sizes_of_constants) = (HashMap::new(), HashMap::new());
    let mut decorated = Vec::new();
    for RawInstruction { opcode, operands, .. } in module.instructions() {
        match (opcode, operands) {
            (OP_DECORATE, &[target, DECORATION_SPEC_ID, id, ..]) => decorated.push((target, id)),
            (OP_TYPE_BOOL, &[id, ..]) => _ = sizes_of_types.insert(id, 1),
            (OP_TYPE_INT | OP_TYPE_FLOAT, &[id, width, ..]) => {
                sizes_of_types.insert(id, width.div_ceil(8) as usize);
            }
            (OP_SPEC_CONSTANT_TRUE | OP_SPEC_CONSTANT_FALSE | OP_SPEC_CONSTANT, &[value_type, id, ..]) => {
                sizes_of_constants.insert(id, value_type);
            }
            _ => {}
        }
    }
    let size_of = |target| sizes_of_constants.get(target).and_then(|value_type| sizes_of_types.get(value_type));
    decorated.iter().filter_map(|(target, id)| Some((*id, *size_of(target)?))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes_of(words: &[u32]) -> Vec<u8> {
        words.iter().flat_map(|word| word.to_le_bytes()).collect()
    }

    /// A header of version 1.2 with room for 100 ids, and these words after it.
    fn with_header(words: &[u32]) -> Vec<u8> {
        bytes_of(&[&[MAGIC, 0x0001_0200, 0, 100, 0], words].concat())
    }

    fn error_of(bytes: &[u8]) -> String {
        SpirvModule::from_bytes(bytes).expect_err("it is wrong").to_string()
    }

    #[test]
    fn both_byte_orders_are_read() {
        let little = with_header(&[3 << 16 | 5, 7, 0x0061_6261]);
        let big: Vec<u8> = little.chunks(4).flat_map(|word| word.iter().rev().copied()).collect();
        for bytes in [little, big] {
            let module = SpirvModule::from_bytes(&bytes).expect("it is framed well");
            assert_eq!((module.version(), module.id_bound()), ((1, 2), 100));
            let [instruction] = module.instructions().collect::<Vec<_>>()[..] else { panic!("one instruction") };
            assert_eq!((instruction.opcode, instruction.offset, instruction.operands[0]), (5, 5, 7));
            assert_eq!(read_string(&instruction.operands[1..]), Some(("aba".to_owned(), 1)));
        }
    }

    #[test]
    fn wrong_framing_is_told_apart() {
        assert_eq!(error_of(b"kernel void f() {}"), "it does not begin with SPIR-V's magic number");
        assert_eq!(error_of(&with_header(&[])[..19]), "a module of 19 bytes is cut off");
        assert_eq!(
            error_of(&bytes_of(&[MAGIC, 0x0001_0700, 0, 9, 0])),
            "SPIR-V version 1.7 is not supported; 1.0 to 1.6 are"
        );
        for bound in [0, MAX_BOUND + 1] {
            let words = [MAGIC, 0x0001_0000, 0, bound, 0];
            assert_eq!(error_of(&bytes_of(&words)), format!("its bound of ids is {bound}; 1 to 4194304 are allowed"));
        }
        let words = [1 << 16, 0, 1 << 16];
        assert_eq!(error_of(&with_header(&words)), "the instruction at word 6 is 0 words long; 2 are left");
        assert_eq!(error_of(&with_header(&[3 << 16, 0])), "the instruction at word 5 is 3 words long; 2 are left");
    }

    #[test]
    fn strings_end_within_their_words() {
        assert_eq!(read_string(&[0x6463_6261, 0]), Some(("abcd".to_owned(), 2)));
        assert_eq!(read_string(&[0x6463_6261]), None);
        assert_eq!(read_string(&[]), None);
    }

    #[test]
    fn constants_to_specialise_have_sizes() {
        let words = [
            [4 << 16 | 71, 10, 1, 3],
            [4 << 16 | 71, 11, 1, 4],
            [4 << 16 | 71, 12, 1, 5],
            [4 << 16 | 21, 1, 64, 0],
            [4 << 16 | 50, 1, 10, 0],
        ];
        let bools = [2 << 16 | 20, 2, 3 << 16 | 49, 2, 11];
        let module =
            SpirvModule::from_bytes(&with_header(&[&words.concat()[..], &bools].concat())).expect("framed well");
        assert_eq!(find_specialization_constants(&module), HashMap::from([(3, 8), (4, 1)]));
    }
}
