//! What is wrong with a module, and where.

use std::fmt;

use super::source_line::SourceLine;
use lockstep_protocol::spirv_module::FramingError;

/// What is wrong with an instruction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Fault {
    /// The sentence that says it, without the instruction.
    pub sentence: String,
    /// The instruction, where it is not the one that is being read.
    pub place: Option<Place>,
}

impl Fault {
    /// What is wrong with the instruction that is being read.
    pub fn new(sentence: String) -> Fault {
        Fault { sentence, place: None }
    }
}

/// An instruction of the module.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Place {
    /// Its number in the specification.
    pub opcode: u16,
    /// Its first word, counted from the module's first.
    pub offset: usize,
    /// The line of the source that it belongs to.
    pub line: Option<SourceLine>,
}

/// What an instruction comes to.
pub(super) type Attempt<T> = Result<T, Fault>;

/// Returns from the function with a fault of this text.
macro_rules! refuse {
    ($($words:tt)*) => {
        return Err($crate::frontend::spirv::error::Fault::new(format!($($words)*)))
    };
}
pub(super) use refuse;

/// Why a module cannot be translated.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SpirvError {
    /// It is not framed as a module.
    Framing(FramingError),
    /// An instruction is wrong or not supported.
    Instruction {
        /// Its name in the specification, or its number where it has none.
        name: String,
        /// Its first word, counted from the module's first.
        offset: usize,
        /// The line of the source that it belongs to, as `file:line`, where the module tells.
        line: Option<String>,
        /// What is wrong.
        sentence: String,
    },
}

impl fmt::Display for SpirvError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SpirvError::Framing(error) => write!(formatter, "SPIR-V: {error}"),
            SpirvError::Instruction { name, offset, line, sentence } => {
                let line = line.as_ref().map(|line| format!("{line}: ")).unwrap_or_default();
                write!(formatter, "{line}SPIR-V, word {offset}, {name}: {sentence}")
            }
        }
    }
}

impl std::error::Error for SpirvError {}

impl From<FramingError> for SpirvError {
    fn from(error: FramingError) -> SpirvError {
        SpirvError::Framing(error)
    }
}
