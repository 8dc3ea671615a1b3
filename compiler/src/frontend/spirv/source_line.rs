//! Where in a source an instruction is from.

use super::ids::Id;

/// A line of a source.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct SourceLine {
    /// The id of the file's name.
    pub file: Id,
    pub line: u32,
    pub column: u32,
}
