//! The front end: from sources to one linked, cleaned-up LLVM module per program.
//!
//! [`compile_source`] turns a source into an object by clang's libraries, [`compile_spirv`] a SPIR-V module, through LLVM's text;
//! [`link_program`] joins objects, adds the built-in library, inlines and cleans up; [`prepare_module`] hands the result to the importer as
//! an LLVM module. What each step leaves behind is LLVM bitcode, so that the host API can hand it out as a program binary and take it back
//! at any step. [`build_spirv`] does both steps at once for a program that is one SPIR-V module.
//!
//! Every text that reaches this module is hostile until proved otherwise: it is only ever parsed by clang or by checks that
//! return errors.

mod busy_variables;
mod clang;
mod clang_library;
mod extension_functions;
mod function_pointers;
mod header_files;
mod hoist_common_stores;
mod images;
mod inlining;
mod intermediate_language;
mod link;
pub(crate) mod llvm;
pub(crate) mod loop_extent;
mod outside_names;
pub(crate) mod simplify_llvm;
mod source;
pub mod spirv;
mod sub_group_size;
mod variable_promotion;
mod variables;

pub use clang::{RecordedCompilation, compile_recorded, compile_source};
pub use intermediate_language::{build_spirv, compile_spirv};
pub use link::{
    LibraryLookup, built_in_library, link_library, link_program, link_with, prepare_module, read_module_lazily,
};

use crate::machine_code::fuses_multiply_add;
use lockstep_protocol::build_failure::FrontendError;
use lockstep_protocol::portable_program::{CompiledObject, LinkedProgram};

/// What holds of every compilation for a machine.
#[derive(Clone, Copy, Debug)]
pub struct FrontendConfig {
    /// Whether the code shall know its source lines even when the program does not ask for `-g`.
    pub source_lines: bool,
    /// Whether sources may include and embed files of the system.
    pub reads_files: bool,
    /// Whether the device has a fused multiply-add (the `FP_FAST_FMA` macros).
    pub fast_fma: bool,
}

impl Default for FrontendConfig {
    fn default() -> Self {
        Self { source_lines: false, reads_files: true, fast_fma: fuses_multiply_add() }
    }
}
