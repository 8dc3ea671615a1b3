//! The front end: from sources to one linked, cleaned-up LLVM module per program.
//!
//! [`compile`] turns a source into an object by running clang as a child process; [`link_failure`] joins objects, adds the
//! built-in library, inlines and cleans up; [`prepare`] hands the result to the importer as an LLVM module. What each
//! step leaves behind is LLVM bitcode, so that the host API can hand it out as a program binary
//! ([`crate::container`]) and take it back at any step.
//!
//! Every text that reaches this module is hostile until proved otherwise: it is only ever parsed by the child process or
//! by checks that return errors.

mod clang;
mod dependencies;
mod hoist_common_stores;
mod images;
mod link;
pub(crate) mod llvm;
mod process;
mod response_file;
mod simplify_llvm;
mod source;
mod sub_group_size;
mod tempdir;

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

pub use clang::{compile_and_list, compile_source, compiler_identity};
pub use link::{LibraryLookup, built_in_library, link_library, link_program, link_with, prepare_module};

use lockstep_protocol::build_failure::FrontendError;
use lockstep_protocol::portable_program::{CompiledObject, LinkedProgram};

/// Where the compiler is and what it may use.
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

/// What a run of the compiler made, and of what.
#[derive(Clone, Debug)]
pub struct Compilation {
    /// The object that came out.
    pub object: CompiledObject,
    /// Every file that was read beside what the caller gave: headers, the compiler's own ones among them. None: they
    /// are not known, so nobody can tell whether another run would make the same.
    pub files: Option<Vec<PathBuf>>,
}
