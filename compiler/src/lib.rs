//! From OpenCL C and SPIR to machine code, W work-items at a time.

pub mod analysis;
pub mod codegen;
pub mod frontend;
pub mod import;
pub mod interp;
pub mod ir;
pub mod jit;
pub mod launch_facts;
pub mod layout;
pub mod pipeline;
pub mod report;
pub mod testing;
pub mod transform;
pub mod verify;
pub mod widen;
