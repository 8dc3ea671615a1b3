//! Program-scope variables and printf formats: what a program has beside kernels.

use crate::types::{Space, Type};
use cranelift_entity::entity_impl;
use serde::{Deserialize, Serialize};

/// A program-scope variable.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Global(u32);
entity_impl!(Global, "g");

/// What is known of a program-scope variable.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct GlobalData {
    /// Its name in the source (for people).
    pub name: String,
    /// `Global` or `Constant`.
    pub space: Space,
    /// Alignment in bytes.
    pub align: u32,
    /// Initial contents; their length is the variable's size.
    #[serde(with = "serde_bytes")]
    pub init: Vec<u8>,
    /// Addresses of other variables inside `init`: byte offset, target, addend.
    pub relocs: Vec<(u64, Global, i64)>,
    /// Whether nothing ever writes to it, so that it may stand in code.
    pub constant: bool,
}

/// The format of a call of printf, or of a failure.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct FormatData {
    /// The format string without its terminating zero.
    pub text: Vec<u8>,
    /// Per argument: element type and vector length (1 for scalars). A vector takes as many operands as
    /// it has elements. `%s` arguments are `Ptr(Constant)`.
    pub args: Vec<(Type, u8)>,
    /// Whether the launch fails, with the text as its reason; otherwise the text is printed.
    pub is_failure: bool,
}
