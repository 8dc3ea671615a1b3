//! Programs in portable form: what the compiler makes of sources and objects, and binaries hold.

use std::time::Duration;

use crate::build_options::BuildOptions;
use serde::{Deserialize, Serialize};

/// A compiled program, not yet linked; or a library, which is the same made of several.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct CompiledObject {
    /// LLVM bitcode in SPIR form.
    #[serde(with = "serde_bytes")]
    pub bitcode: Vec<u8>,
    /// The options it was compiled with.
    pub options: BuildOptions,
    /// Whether it was made by linking with `-create-library`.
    pub is_library: bool,
    /// What the compiler said.
    #[serde(skip)]
    pub log: String,
}

/// A program with everything in it that its kernels need, inlined and cleaned up.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct LinkedProgram {
    /// LLVM bitcode in SPIR form: kernels, program-scope variables, nothing else.
    #[serde(with = "serde_bytes")]
    pub bitcode: Vec<u8>,
    /// The options that hold for all of it.
    pub options: BuildOptions,
    /// What the linker said.
    #[serde(skip)]
    pub log: String,
    /// How long linking and clean-up took, where it was linked just now.
    #[serde(skip)]
    pub times: Vec<(&'static str, Duration)>,
}
