//! From OpenCL C and SPIR to machine code, W work-items at a time.

pub mod codegen;
pub mod frontend;
pub mod import;
pub mod machine_code;
pub mod pass_record;
pub mod pipeline;
pub mod progress;
pub mod stage_times;
mod variant_name;
