//! The front end: from sources to one linked, cleaned-up LLVM module per program.
//!
//! [`compile_source`] turns a source into an object by clang's libraries; [`link_program`] joins objects, adds the
//! built-in library, inlines and cleans up; [`prepare_module`] hands the result to the importer as an LLVM module. What each
//! step leaves behind is LLVM bitcode, so that the host API can hand it out as a program binary
//! ([`crate::container`]) and take it back at any step.
//!
//! Every text that reaches this module is hostile until proved otherwise: it is only ever parsed by clang or by checks that
//! return errors.

mod clang;
mod clang_library;
mod header_files;
mod hoist_common_stores;
mod images;
mod link;
pub(crate) mod llvm;
#[expect(dead_code, reason = "nothing is run as a child process until all of the compiler is")]
mod process;
mod simplify_llvm;
mod source;
mod sub_group_size;

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

pub use clang::{RecordedCompilation, compile_and_list, compile_recorded, compile_source, compiler_identity};
pub use clang_library::ReadFile;
pub use link::{LibraryLookup, built_in_library, link_library, link_program, link_with, prepare_module};

use lockstep_protocol::build_options::BuildOptions;
use lockstep_protocol::option_error::OptionError;
use serde::{Deserialize, Serialize};

/// Where the compiler is, what it may use, and what it shall do. While clang runs in this process, `source_lines` and `fast_fma` are
/// all that it heeds.
#[derive(Clone, Debug)]
pub struct FrontendConfig {
    /// The clang program. When absent, `clang-22` is looked for in `search_path` and where distributions put it.
    pub clang: Option<PathBuf>,
    /// Directories to look for clang in, in the form of `PATH`.
    pub search_path: Option<OsString>,
    /// Where private directories may be made.
    pub temp_dir: PathBuf,
    /// How long one run of clang may take.
    pub timeout: Duration,
    /// How much address space one run of clang may take, in bytes.
    pub memory: u64,
    /// Whether the code shall know its source lines even when the program does not ask for `-g`.
    pub source_lines: bool,
    /// Whether the device has a fused multiply-add (the `FP_FAST_FMA` macros).
    pub fast_fma: bool,
}

impl Default for FrontendConfig {
    fn default() -> Self {
        Self {
            clang: None,
            search_path: None,
            temp_dir: PathBuf::from("/tmp"),
            timeout: Duration::from_secs(60),
            memory: 8 << 30,
            source_lines: false,
            fast_fma: std::arch::is_x86_feature_detected!("fma"),
        }
    }
}

/// A header that `clCompileProgram` embeds.
#[derive(Clone, Copy, Debug)]
pub struct Header<'a> {
    /// The name by which the source includes it.
    pub name: &'a str,
    /// The bytes of its text.
    pub source: &'a [u8],
}

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

/// What a run of the compiler made, and of what.
#[derive(Clone, Debug)]
pub struct Compilation {
    /// The object that came out.
    pub object: CompiledObject,
    /// Every file on disk that was read beside what the caller gave. None: they are not known, so nobody can tell whether
    /// another run would make the same.
    pub files: Option<Vec<PathBuf>>,
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

/// Why there is no program.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}", self.build_log())]
pub enum FrontendError {
    /// The option string is wrong.
    InvalidOptions(#[from] OptionError),
    /// The source is wrong; the log says where.
    CompileFailure {
        /// The build log.
        log: String,
    },
    /// There is no compiler on this machine; the log says what to install.
    FrontendMissing {
        /// The build log.
        log: String,
    },
    /// The compiler died; the log says how.
    FrontendCrashed {
        /// The build log.
        log: String,
    },
    /// The compiler did not end in its time.
    Timeout {
        /// The build log.
        log: String,
    },
    /// The objects do not make a program; the log says why.
    LinkFailure {
        /// The build log.
        log: String,
    },
    /// A binary that is none of ours, or damaged.
    InvalidBinary {
        /// What is wrong with it.
        reason: String,
    },
}

impl FrontendError {
    /// What to put into the build log.
    pub fn build_log(&self) -> String {
        match self {
            Self::InvalidOptions(error) => format!("error: {error}\n"),
            Self::CompileFailure { log }
            | Self::FrontendMissing { log }
            | Self::FrontendCrashed { log }
            | Self::Timeout { log }
            | Self::LinkFailure { log } => log.clone(),
            Self::InvalidBinary { reason } => reason.clone(),
        }
    }

    fn link_failure(message: impl Into<String>) -> Self {
        Self::LinkFailure { log: message.into() }
    }
}
