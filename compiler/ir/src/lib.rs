//! What the compiler does to kernels in its own intermediate representation: analyses, passes, the plan of how work-items run
//! in the lanes of vectors. Nothing here needs LLVM: all of it is tested on text, on a machine with Rust alone.

#![forbid(unsafe_code)]

pub mod analysis;
pub mod eval;
#[cfg(feature = "interp")]
pub mod interp;
pub mod ir;
pub mod plan;
pub mod program_metadata;
pub mod report;
pub mod simplify;
pub mod target;
#[cfg(feature = "testing")]
pub mod testing;
pub mod transform;
pub mod verify;
