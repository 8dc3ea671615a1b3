//! The entry points, one file per OpenCL object: they check what the specification says is checked, in its words, and
//! call the runtime.

pub mod context;
pub mod device;
pub mod device_info;
pub mod kernel;
pub mod platform;
pub mod program;
pub mod program_info;
pub mod svm;
