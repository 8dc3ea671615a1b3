//! What OpenCL means, in Rust terms: no C pointers to objects, no LLVM.

pub mod arena;
pub mod launch;
pub mod options;
pub mod program;
pub mod schedule;
