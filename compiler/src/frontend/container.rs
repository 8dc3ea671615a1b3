//! The form in which programs leave the process: `CL_PROGRAM_BINARIES`.
//!
//! A header names this driver, its version and LLVM's, then come the options and the bitcode, then a checksum. Bitcode
//! is read in the application's process, so what is not exactly what this driver wrote is turned away here.

use super::options::{BuildOptions, Stage};
use super::{CompiledObject, FrontendError, LinkedProgram};

const MAGIC: &[u8; 8] = b"LOCKSTEP";
/// Raise when the bytes or the meaning of the bitcode change.
const FORMAT: u32 = 2;
const OBJECT: u32 = 1;
const LIBRARY: u32 = 2;
const PROGRAM: u32 = 3;

/// What a program binary holds.
#[derive(Clone, Debug)]
pub enum Binary {
    /// `CL_PROGRAM_BINARY_TYPE_COMPILED_OBJECT` or `CL_PROGRAM_BINARY_TYPE_LIBRARY`.
    Object(CompiledObject),
    /// `CL_PROGRAM_BINARY_TYPE_EXECUTABLE`.
    Program(LinkedProgram),
}

impl CompiledObject {
    /// The object as a program binary.
    pub fn to_bytes(&self) -> Vec<u8> {
        write(if self.library { LIBRARY } else { OBJECT }, &self.options, &self.bitcode)
    }
}

impl LinkedProgram {
    /// The program as a program binary.
    pub fn to_bytes(&self) -> Vec<u8> {
        write(PROGRAM, &self.options, &self.bitcode)
    }
}

impl Binary {
    /// Reads a program binary.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, FrontendError> {
        read(bytes).map_err(|reason| FrontendError::InvalidBinary { reason: reason.to_owned() })
    }
}

fn producer() -> String {
    let (major, minor, patch) = inkwell::support::get_llvm_version();
    format!("{} LLVM {major}.{minor}.{patch}", env!("CARGO_PKG_VERSION"))
}

fn write(kind: u32, options: &BuildOptions, bitcode: &[u8]) -> Vec<u8> {
    let stage = match options.stage {
        Stage::Build => 0u32,
        Stage::Compile => 1,
        Stage::Link => 2,
    };
    let mut bytes = Vec::with_capacity(bitcode.len() + options.text.len() + 96);
    bytes.extend_from_slice(MAGIC);
    for number in [FORMAT, kind, stage] {
        bytes.extend_from_slice(&number.to_le_bytes());
    }
    let running = options.running();
    for part in [producer().as_bytes(), options.text.as_bytes(), running.as_bytes(), bitcode] {
        bytes.extend_from_slice(&(part.len() as u64).to_le_bytes());
        bytes.extend_from_slice(part);
    }
    bytes.extend_from_slice(&checksum(&bytes).to_le_bytes());
    bytes
}

fn read(bytes: &[u8]) -> Result<Binary, &'static str> {
    const SHORT: &str = "the program binary is cut off";
    if !bytes.starts_with(MAGIC) {
        return Err("not a program binary of this driver");
    }
    let (body, sum) = bytes.split_last_chunk::<8>().ok_or(SHORT)?;
    let mut rest = Reader(body.get(MAGIC.len()..).ok_or(SHORT)?);
    let format = rest.number().ok_or(SHORT)?;
    if format != FORMAT {
        return Err("the program binary was made by another version of the driver");
    }
    if checksum(body) != u64::from_le_bytes(*sum) {
        return Err("the program binary is damaged");
    }
    let kind = rest.number().ok_or(SHORT)?;
    let stage = match rest.number().ok_or(SHORT)? {
        0 => Stage::Build,
        1 => Stage::Compile,
        2 => Stage::Link,
        _ => return Err("the program binary is damaged"),
    };
    if rest.part().ok_or(SHORT)? != producer().as_bytes() {
        return Err("the program binary was made by another version of the driver");
    }
    let text = std::str::from_utf8(rest.part().ok_or(SHORT)?).map_err(|_| "the program binary is damaged")?;
    let mut options = BuildOptions::parse(text, stage).map_err(|_| "the program binary is damaged")?;
    let running = std::str::from_utf8(rest.part().ok_or(SHORT)?).map_err(|_| "the program binary is damaged")?;
    options.adopt_running(running).map_err(|_| "the program binary is damaged")?;
    let bitcode = rest.part().ok_or(SHORT)?.to_vec();
    if !rest.0.is_empty() {
        return Err("the program binary is damaged");
    }
    let log = String::new();
    match kind {
        OBJECT | LIBRARY => Ok(Binary::Object(CompiledObject { bitcode, options, library: kind == LIBRARY, log })),
        PROGRAM => Ok(Binary::Program(LinkedProgram { bitcode, options, log })),
        _ => Err("the program binary is damaged"),
    }
}

struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    fn number(&mut self) -> Option<u32> {
        let (bytes, rest) = self.0.split_first_chunk::<4>()?;
        self.0 = rest;
        Some(u32::from_le_bytes(*bytes))
    }

    fn part(&mut self) -> Option<&'a [u8]> {
        let (bytes, rest) = self.0.split_first_chunk::<8>()?;
        let length = usize::try_from(u64::from_le_bytes(*bytes)).ok()?;
        let (part, rest) = rest.split_at_checked(length)?;
        self.0 = rest;
        Some(part)
    }
}

/// FNV-1a over 64-bit words. It finds accidents; who forges a binary could as well run a program of his own.
fn checksum(bytes: &[u8]) -> u64 {
    const PRIME: u64 = 0x0000_0100_0000_01b3;
    let mut sum = 0xcbf2_9ce4_8422_2325 ^ bytes.len() as u64;
    for chunk in bytes.chunks(8) {
        let mut word = [0; 8];
        word[..chunk.len()].copy_from_slice(chunk);
        sum = (sum ^ u64::from_le_bytes(word)).wrapping_mul(PRIME).rotate_left(23);
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample() -> CompiledObject {
        let options = BuildOptions::parse("-DX=1 -cl-std=CL2.0", Stage::Compile).unwrap();
        CompiledObject { bitcode: b"BC\xc0\xde and so on".to_vec(), options, library: false, log: String::new() }
    }

    #[test]
    fn objects_come_back_as_they_were() {
        let object = sample();
        let Binary::Object(back) = Binary::from_bytes(&object.to_bytes()).unwrap() else { panic!("not an object") };
        assert_eq!(back.bitcode, object.bitcode);
        assert_eq!(back.options, object.options);
        assert!(!back.library);
    }

    #[test]
    fn programs_and_libraries_keep_their_kind() {
        let mut object = sample();
        object.library = true;
        assert!(matches!(Binary::from_bytes(&object.to_bytes()), Ok(Binary::Object(o)) if o.library));
        let program = LinkedProgram { bitcode: vec![1], options: object.options, log: String::new() };
        assert!(matches!(Binary::from_bytes(&program.to_bytes()), Ok(Binary::Program(p)) if p.bitcode == [1]));
    }

    #[test]
    fn what_counts_at_run_time_comes_back_though_no_option_string_says_it() {
        let mut options = BuildOptions::parse("", Stage::Link).unwrap();
        options.adopt_running("-cl-std=CL3.0 -cl-denorms-are-zero -cl-opt-disable").unwrap();
        let program = LinkedProgram { bitcode: vec![1], options, log: String::new() };
        let Ok(Binary::Program(back)) = Binary::from_bytes(&program.to_bytes()) else { panic!("not a program") };
        assert_eq!(back.options, program.options);
        assert!(back.options.allows_non_uniform_groups());
        assert!(back.options.math.denorms_are_zero && back.options.opt_disable && !back.options.debug);
    }

    #[test]
    fn every_damaged_byte_and_every_cut_is_found() {
        let bytes = sample().to_bytes();
        for i in 0..bytes.len() {
            let mut damaged = bytes.clone();
            damaged[i] ^= 0x10;
            assert!(Binary::from_bytes(&damaged).is_err(), "byte {i}");
            assert!(Binary::from_bytes(&bytes[..i]).is_err(), "cut at {i}");
        }
        let mut longer = bytes;
        longer.push(0);
        assert!(Binary::from_bytes(&longer).is_err());
    }
}
