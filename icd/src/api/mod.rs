//! The entry points, one file per OpenCL object: they check what the specification says is checked, in its words, and
//! call the runtime.

pub mod context;
pub mod device;
pub mod device_info;
pub mod platform;
pub mod svm;
