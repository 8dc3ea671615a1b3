//! What OpenCL means, in Rust terms: platform, devices, contexts, memory, programs, queues, events.
//!
//! Nothing here knows a C handle or an LLVM type. The C side (`icd`) turns handles into `Arc`s of these objects, checks
//! what the specification wants checked, and calls in; code is made in a process of its own.

pub mod api_handle;
pub mod arena;
pub mod cache;
pub mod clock;
pub mod command;
pub mod command_buffer;
pub mod compiler_process;
pub mod context;
mod control_groups;
pub mod device;
mod error;
pub mod event;
pub mod execute;
pub mod executor;
pub mod extensions;
pub mod image;
pub mod kernel;
pub mod launch;
mod little_memory;
pub mod log;
pub mod machine;
pub mod memory;
mod memory_allocation;
mod memory_cleared_on_fork;
pub mod memory_contents;
mod memory_headroom;
pub mod memory_layout;
mod memory_mappings;
pub mod memory_transfer;
pub mod names;
pub mod options;
mod own_file;
pub mod partition;
mod per_process;
pub mod pipe;
pub mod platform;
pub mod processor;
pub mod program;
pub mod queue;
pub mod report;
pub mod sampler;
pub mod schedule;
pub mod semaphore;
mod standard_error;
pub mod svm;
pub mod topology;

pub use api_handle::ApiHandle;
pub use error::{Error, Result};
pub use lockstep_protocol::image_format;
