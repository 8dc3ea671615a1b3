//! The entry points, one file per OpenCL object: they check what the specification says is checked, in its words, and
//! call the runtime.

pub mod buffer;
pub mod command_buffer;
pub mod command_buffer_record;
pub mod context;
pub mod device;
pub mod device_info;
pub mod enqueue;
pub mod event;
pub mod extension_info;
pub mod image;
pub mod image_create;
pub mod image_transfer;
pub mod kernel;
pub mod marker;
pub mod memory_object;
pub mod mutable_dispatch;
pub mod native;
pub mod ndrange;
pub mod pipe;
pub mod platform;
pub mod program;
pub mod program_info;
pub mod program_variables;
pub mod queue;
pub mod rect;
pub mod sampler;
pub mod semaphore;
pub mod sub_device;
pub mod svm;
pub mod svm_transfer;
pub mod transfer;
pub mod usm;
