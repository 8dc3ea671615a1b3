//! From OpenCL C and SPIR to machine code, W work-items at a time.

pub mod analysis;
pub mod clock;
pub mod codegen;
pub mod container;
pub mod frontend;
pub mod import;
pub mod interp;
pub mod ir;
pub mod jit;
pub mod outline;
pub mod pipeline;
pub mod report;
pub mod sealed;
pub mod stage_times;
pub mod testing;
pub mod transform;
pub mod verify;
pub mod widen;
